/*
 * SHA-1 and SHA-2, from kernels to rows
 *
 * The row's arg is a kernel (sha.h), its alg says which hash; sizes come from
 * the algorithm table.  Everything here is the same for all kernels: the
 * block that fills up, padding, output, and PBKDF2 around its inner loop.
 * HMAC is the generic one, whose copies of a context are plain memory here.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/builtin/sha.h"

#include <string.h>

#include "crypto/backend/builtin/builtin.h"
#include "crypto/base/bytes.h"
#include "crypto/base/secure.h"

#define MAX_BLOCK 128
#define MAX_DIGEST 64

/* FIPS 180-4, 5.3 */
static const QCryptoSHAState initial[QCRYPTO_HASH_ALGO__MAX] = {
    [QCRYPTO_HASH_ALGO_SHA1] = {.w32 = {
        0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
        0xc3d2e1f0,
    }},
    [QCRYPTO_HASH_ALGO_SHA224] = {.w32 = {
        0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
        0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4,
    }},
    [QCRYPTO_HASH_ALGO_SHA256] = {.w32 = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    }},
    [QCRYPTO_HASH_ALGO_SHA384] = {.w64 = {
        0xcbbb9d5dc1059ed8, 0x629a292a367cd507,
        0x9159015a3070dd17, 0x152fecd8f70e5939,
        0x67332667ffc00b31, 0x8eb44a8768581511,
        0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4,
    }},
    [QCRYPTO_HASH_ALGO_SHA512] = {.w64 = {
        0x6a09e667f3bcc908, 0xbb67ae8584caa73b,
        0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
        0x510e527fade682d1, 0x9b05688c2b3e6c1f,
        0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
    }},
};

typedef struct SHAContext {
    const QCryptoSHAKernel *kernel;
    /* bytes so far: 2^64 of them are beyond reach, the standard's own limit
     * (2^61 bytes for the short words) too */
    uint64_t total;
    uint16_t block_len, digest_len;
    QCryptoSHAState state;
    uint8_t block[MAX_BLOCK]; /* total % block_len bytes of it are used */
} SHAContext;

/* words of 4 or 8 bytes, as the block has 16 of them */
static size_t word_len(size_t block_len)
{
    return block_len / 16;
}

/* n bytes of a state, whole words; for eight or fewer */
static void put_words(uint8_t *out, const QCryptoSHAState *s, size_t block_len,
                      size_t n)
{
    if (word_len(block_len) == 4) {
        for (size_t i = 0; i < n / 4; i++) {
            qcrypto_put_be32(out + 4 * i, s->w32[i]);
        }
    } else {
        for (size_t i = 0; i < n / 8; i++) {
            qcrypto_put_be64(out + 8 * i, s->w64[i]);
        }
    }
}

/* the eight words at p */
static void get_words(QCryptoSHAState *s, const uint8_t *p, size_t block_len)
{
    for (size_t i = 0; i < 8; i++) {
        if (word_len(block_len) == 4) {
            s->w32[i] = qcrypto_get_be32(p + 4 * i);
        } else {
            s->w64[i] = qcrypto_get_be64(p + 8 * i);
        }
    }
}

static void start(SHAContext *c, const QCryptoRow *row)
{
    const QCryptoAlg *alg = qcrypto_alg(QCRYPTO_KIND_HASH, row->alg);

    c->kernel = row->arg;
    c->total = 0;
    c->block_len = alg->block_len;
    c->digest_len = alg->out_len;
    c->state = initial[row->alg];
}

static void absorb(SHAContext *c, const uint8_t *data, size_t len)
{
    const size_t used = c->total & (c->block_len - 1u);
    size_t n;

    c->total += len;
    if (used) {
        n = MIN(len, c->block_len - used);
        memcpy(c->block + used, data, n);
        if (used + n < c->block_len) {
            return;
        }
        c->kernel->blocks(&c->state, c->block, 1);
        data += n;
        len -= n;
    }
    if (len >= c->block_len) {
        /* a power of two */
        n = len >> __builtin_ctz(c->block_len);
        c->kernel->blocks(&c->state, data, n);
        data += n * c->block_len;
        len -= n * c->block_len;
    }
    if (len) {
        memcpy(c->block, data, len);
    }
}

/*
 * The end of the last block, from byte used on: zeros, and the length in bits
 * as a number of two words, whose upper one is 0 (see SHAContext).
 */
static void put_length(uint8_t *block, size_t used, size_t block_len,
                       uint64_t total)
{
    /* the last one may reach into the length, which comes after */
    for (size_t i = used; i < block_len - 8; i += 8) {
        qcrypto_put_be64(block + i, 0);
    }
    qcrypto_put_be64(block + block_len - 8, total << 3);
}

static void finish(SHAContext *c, uint8_t *digest)
{
    size_t used = c->total & (c->block_len - 1u);

    c->block[used++] = 0x80;
    if (used > c->block_len - 2 * word_len(c->block_len)) {
        memset(c->block + used, 0, c->block_len - used);
        c->kernel->blocks(&c->state, c->block, 1);
        used = 0;
    }
    put_length(c->block, used, c->block_len, c->total);
    c->kernel->blocks(&c->state, c->block, 1);
    put_words(digest, &c->state, c->block_len, c->digest_len);
}

/* ---- QCryptoHashOps ---- */

static size_t hash_ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(SHAContext);
}

static int hash_init(void *ctx, const QCryptoRow *row,
                     GError **errp G_GNUC_UNUSED)
{
    start(ctx, row);
    return 0;
}

static int hash_update(void *ctx, const uint8_t *data, size_t len,
                       GError **errp G_GNUC_UNUSED)
{
    absorb(ctx, data, len);
    return 0;
}

static int hash_final(void *ctx, uint8_t *digest, GError **errp G_GNUC_UNUSED)
{
    finish(ctx, digest);
    return 0;
}

static int hash_digest(const QCryptoRow *row, const uint8_t *data, size_t len,
                       uint8_t *digest, GError **errp G_GNUC_UNUSED)
{
    SHAContext c;

    start(&c, row);
    absorb(&c, data, len);
    finish(&c, digest);
    /* one after the other: for small sizes compilers do without a call */
    qcrypto_wipe(&c.state, sizeof(c.state));
    for (size_t i = 0; i < c.block_len; i += 64) {
        qcrypto_wipe(c.block + i, 64);
    }
    return 0;
}

const QCryptoHashOps qcrypto_builtin_sha_hash = {
    .ctx_size = hash_ctx_size,
    .init = hash_init,
    .update = hash_update,
    .final = hash_final,
    .digest = hash_digest,
};

/* ---- QCryptoPbkdf2Ops ---- */

/* The contexts after the key's block (RFC 2104). */
static void start_hmac(SHAContext *inner, SHAContext *outer,
                       const QCryptoRow *row, const uint8_t *key, size_t nkey)
{
    uint8_t block[MAX_BLOCK] = {0};

    start(inner, row);
    start(outer, row);
    if (nkey > inner->block_len) {
        absorb(inner, key, nkey);
        finish(inner, block);
        start(inner, row);
    } else if (nkey) {
        memcpy(block, key, nkey);
    }
    for (size_t i = 0; i < inner->block_len; i++) {
        block[i] ^= 0x36;
    }
    absorb(inner, block, inner->block_len);
    for (size_t i = 0; i < inner->block_len; i++) {
        block[i] ^= 0x36 ^ 0x5c;
    }
    absorb(outer, block, outer->block_len);
    qcrypto_wipe(block, sizeof(block));
}

/* The loop by single blocks, for kernels that have none of their own. */
static void iterate(const SHAContext *c, QCryptoSHALoop *loop, uint64_t times)
{
    uint8_t block[MAX_BLOCK];

    block[c->digest_len] = 0x80;
    put_length(block, c->digest_len + 1u, c->block_len,
               c->block_len + c->digest_len);
    for (; times; times--) {
        put_words(block, &loop->u[0], c->block_len, c->digest_len);
        loop->u[0] = loop->inner;
        c->kernel->blocks(&loop->u[0], block, 1);
        put_words(block, &loop->u[0], c->block_len, c->digest_len);
        loop->u[0] = loop->outer;
        c->kernel->blocks(&loop->u[0], block, 1);
        for (size_t i = 0; i < 8; i++) {
            loop->t[0].w64[i] ^= loop->u[0].w64[i];
        }
    }
    qcrypto_wipe(block, sizeof(block));
}

/* What kernels want to know of a message's block besides the digest. */
static void describe_block(QCryptoSHALoop *loop, const SHAContext *c)
{
    uint8_t block[MAX_BLOCK];

    memset(block, 0xff, c->digest_len);
    memset(block + c->digest_len, 0, c->block_len - c->digest_len);
    get_words(&loop->mask, block, c->block_len);
    memset(block, 0, c->digest_len);
    block[c->digest_len] = 0x80;
    put_length(block, c->digest_len + 1u, c->block_len,
               c->block_len + c->digest_len);
    get_words(&loop->pad[0], block, c->block_len);
    get_words(&loop->pad[1], block + c->block_len / 2, c->block_len);
}

/*
 * What a kernel's registers left on the stack.  The frame of the loop lay
 * where this one lies.
 */
static void __attribute__((noinline)) clear_stack(void)
{
    uint8_t frame[1024];

    qcrypto_wipe(frame, sizeof(frame));
}

/* Blocks i to i + lanes - 1 of the output into loop->t. */
static void make_blocks(QCryptoSHALoop *loop, const SHAContext *salted,
                        const SHAContext *outer, uint32_t i, size_t lanes,
                        uint64_t iterations)
{
    SHAContext c;
    uint8_t index[4], u[MAX_DIGEST];

    for (size_t l = 0; l < lanes; l++) {
        qcrypto_put_be32(index, i + (uint32_t)l);
        c = *salted;
        absorb(&c, index, sizeof(index));
        finish(&c, u);
        c = *outer;
        absorb(&c, u, c.digest_len);
        finish(&c, u);
        loop->u[l] = c.state;
        loop->t[l] = c.state;
    }
    if (c.kernel->iterate) {
        c.kernel->iterate(loop, lanes, iterations - 1);
    } else {
        iterate(&c, loop, iterations - 1);
    }
    clear_stack();
    qcrypto_wipe(&c, sizeof(c));
    qcrypto_wipe(u, sizeof(u));
}

static int pbkdf2_derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                         const uint8_t *salt, size_t nsalt, uint64_t iterations,
                         uint8_t *out, size_t nout, GError **errp G_GNUC_UNUSED)
{
    const QCryptoSHAKernel *kernel = row->arg;
    SHAContext inner, outer;
    QCryptoSHALoop loop;
    /* 2^32 - 1 blocks at most: the front end has seen to that */
    uint32_t i = 1;

    start_hmac(&inner, &outer, row, key, nkey);
    memset(&loop, 0, sizeof(loop));
    loop.inner = inner.state;
    loop.outer = outer.state;
    describe_block(&loop, &inner);
    absorb(&inner, salt, nsalt);
    while (nout) {
        const size_t blocks = (nout - 1) / inner.digest_len + 1;
        const size_t passes = (blocks - 1) / kernel->max_lanes + 1;
        /* evenly: two and two lanes cost less than three and one */
        const size_t lanes = (blocks - 1) / passes + 1;

        make_blocks(&loop, &inner, &outer, i, lanes, iterations);
        for (size_t l = 0; l < lanes; l++) {
            const size_t n = MIN(nout, inner.digest_len);
            uint8_t t[MAX_DIGEST];

            put_words(t, &loop.t[l], inner.block_len, inner.digest_len);
            memcpy(out, t, n);
            qcrypto_wipe(t, sizeof(t));
            out += n;
            nout -= n;
        }
        i += (uint32_t)lanes;
    }
    qcrypto_wipe(&inner, sizeof(inner));
    qcrypto_wipe(&outer, sizeof(outer));
    qcrypto_wipe(&loop, sizeof(loop));
    return 0;
}

const QCryptoPbkdf2Ops qcrypto_builtin_sha_pbkdf2 = {.derive = pbkdf2_derive};
