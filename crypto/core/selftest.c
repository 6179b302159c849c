/*
 * Known-answer tests of rows, run once before a row is first used
 *
 * The message is long enough to pass through the widest kernels' main loop,
 * their shorter batches, single blocks and (CTR, XTS) a partial block; the IV
 * makes the low 32 bits of a counter overflow.  The answer is a 64-bit fold
 * (FNV-1a) of the ciphertext: it guards against miscompiled or misdispatched
 * code, not against an attacker.  The values were computed with two
 * independent libraries each that agreed (kat.c).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/selftest.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/kat.h"

/* 67 blocks of 16 bytes, and 5 bytes more where a mode takes them */
#define LEN_BLOCKS 1072
#define LEN_ODD QCRYPTO_SELFTEST_MESSAGE
/* runs of units: more than one batch of tweaks, an odd number */
#define N_UNITS 19

uint64_t qcrypto_selftest_fold(const uint8_t *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

bool qcrypto_selftest_answer(QCryptoKind kind, int alg, int mode,
                             uint64_t *answer)
{
    for (size_t i = 0; i < qcrypto_kat_len; i++) {
        const QCryptoKat *k = &qcrypto_kat[i];

        if (k->kind == kind && k->alg == alg && k->mode == mode) {
            *answer = k->fold;
            return true;
        }
    }
    return false;
}

static int differs(GError **errp, const char *what)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                         "self-test: %s", what);
}

static void pattern(uint8_t *p, size_t n, unsigned step, unsigned start)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(step * i + start);
    }
}

size_t qcrypto_selftest_message(int mode, uint8_t key[64], uint8_t iv[16],
                                uint8_t *plain)
{
    const size_t len = mode == QCRYPTO_CIPHER_MODE_ECB ||
                               mode == QCRYPTO_CIPHER_MODE_CBC
                           ? LEN_BLOCKS
                           : LEN_ODD;

    pattern(key, 64, 17, 1);
    pattern(plain, len, 7, 3);
    /* a counter of 8 or 16 bytes, either has its carry soon */
    memset(iv, 0xff, 16);
    iv[0] = 0x5a;
    iv[7] = iv[15] = 0xfd;
    return len;
}

typedef struct CipherTest {
    const QCryptoCipherOps *ops;
    const void *ctx;
    size_t block, niv;
    size_t len; /* of the whole message */
    uint8_t iv[16];
    uint8_t plain[LEN_ODD];
    uint8_t text[LEN_ODD];
    uint8_t back[LEN_ODD];
    uint8_t ivs[16 * N_UNITS];
} CipherTest;

/* CBC and CTR continue from call to call. */
static int cipher_pieces(CipherTest *t, bool chained, int dec, const uint8_t *in,
                         uint8_t *out, GError **errp)
{
    const size_t first = chained ? 33 * t->block : t->len;
    uint8_t iv[16];

    memcpy(iv, t->iv, sizeof(iv));
    uint8_t *ivp = t->niv ? iv : NULL;
    if (t->ops->crypt[dec](t->ctx, ivp, in, out, first, errp) < 0) {
        return -1;
    }
    if (first == t->len) {
        return 0;
    }
    return t->ops->crypt[dec](t->ctx, ivp, in + first, out + first,
                              t->len - first, errp);
}

/* A run of units is the same as its units one by one, in place too. */
static int cipher_units(CipherTest *t, int dec, GError **errp)
{
    const size_t unit = 3 * t->block;

    pattern(t->ivs, sizeof(t->ivs), 29, 11);
    for (size_t i = 0; i < N_UNITS; i++) {
        uint8_t iv[16];

        memcpy(iv, t->ivs + i * t->niv, t->niv);
        if (t->ops->crypt[dec](t->ctx, t->niv ? iv : NULL, t->plain + i * unit,
                               t->text + i * unit, unit, errp) < 0) {
            return -1;
        }
    }
    memcpy(t->back, t->plain, N_UNITS * unit);
    if (t->ops->units[dec](t->ctx, t->niv ? t->ivs : NULL, unit, t->back,
                           t->back, N_UNITS, errp) < 0) {
        return -1;
    }
    return memcmp(t->back, t->text, N_UNITS * unit)
               ? differs(errp, "a run of units differs from single units")
               : 0;
}

static int cipher_run(CipherTest *t, const QCryptoRow *row, uint64_t *fold,
                      GError **errp)
{
    const bool chained = row->mode == QCRYPTO_CIPHER_MODE_CBC ||
                         row->mode == QCRYPTO_CIPHER_MODE_CTR;

    if (cipher_pieces(t, chained, 0, t->plain, t->text, errp) < 0) {
        return -1;
    }
    *fold = qcrypto_selftest_fold(t->text, t->len);
    memcpy(t->back, t->text, t->len);
    if (cipher_pieces(t, chained, 1, t->back, t->back, errp) < 0) {
        return -1;
    }
    if (memcmp(t->back, t->plain, t->len)) {
        return differs(errp, "decryption does not give the plaintext back");
    }
    for (int dec = 0; dec < 2; dec++) {
        if (t->ops->units[dec] && cipher_units(t, dec, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int cipher_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoAlg *alg = qcrypto_alg(QCRYPTO_KIND_CIPHER, row->alg);
    const QCryptoCipherOps *ops = row->ops;
    const size_t nkey =
        alg->key_len * (row->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    const size_t nctx = ops->ctx_size(row);
    void *ctx = qcrypto_alloc(nctx);
    CipherTest *t = qcrypto_alloc(sizeof(*t));
    uint8_t key[64];
    int ret = -1;

    if (!ctx || !t) {
        qcrypto_error_memory(errp, "self-test", (nctx + sizeof(*t)) / 1024 + 1,
                             0);
        goto out;
    }
    t->len = qcrypto_selftest_message(row->mode, key, t->iv, t->plain);
    if (ops->init(ctx, row, key, nkey, errp) < 0) {
        goto out;
    }
    t->ops = ops;
    t->ctx = ctx;
    t->block = alg->block_len;
    t->niv = row->mode == QCRYPTO_CIPHER_MODE_ECB ? 0 : alg->block_len;
    ret = cipher_run(t, row, fold, errp);
    if (ops->fini) {
        ops->fini(ctx);
    }
out:
    qcrypto_wipe_free(t, sizeof(*t));
    qcrypto_wipe_free(ctx, nctx);
    return ret;
}

/* two wide passes of 16 blocks, one of 8 blocks, and less than a block */
#define CHACHA_LEN (40 * 64 + 37)
/* groups of 16 blocks for keystream_words */
#define CHACHA_GROUPS 2

typedef struct ChaChaTest {
    uint8_t plain[CHACHA_LEN];
    uint8_t text[CHACHA_LEN];
    uint8_t back[CHACHA_LEN];
} ChaChaTest;

/* Keystream in its two orders is what crypt xored to the message. */
static int chacha_keystream(const QCryptoChaChaOps *ops,
                            const uint32_t state[16], ChaChaTest *t,
                            GError **errp)
{
    static const size_t counts[] = {1, 2, 5, 40};

    for (size_t i = 0; i < CHACHA_LEN; i++) {
        t->plain[i] ^= t->text[i];
    }
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
        ops->keystream(state, t->back, counts[i]);
        if (memcmp(t->back, t->plain, 64 * counts[i])) {
            return differs(errp, "wrong keystream");
        }
    }
    ops->keystream_words(state, t->back, CHACHA_GROUPS);
    for (size_t i = 0; i < 256 * CHACHA_GROUPS; i++) {
        const size_t group = i / 256, word = i / 16 % 16, block = i % 16;

        if (memcmp(t->back + 4 * i,
                   t->plain + 1024 * group + 64 * block + 4 * word, 4)) {
            return differs(errp, "wrong keystream by words");
        }
    }
    return 0;
}

static int chacha_run(const QCryptoChaChaOps *ops, const void *ctx,
                      const uint32_t state[16], ChaChaTest *t, uint64_t *fold,
                      GError **errp)
{
    /* every kind of short pass, whole and in part */
    static const size_t lens[] = {1,   64,  65,  128, 129, 200,  256,
                                  257, 500, 512, 513, 1024, 1100};
    uint32_t carry[16];
    uint8_t overrun = 0;

    /* the third block, so that the carry is right behind it */
    memcpy(carry, state, sizeof(carry));
    carry[12] += 2;

    if (ops->crypt(ctx, state, t->plain, t->text, CHACHA_LEN, errp) < 0) {
        return -1;
    }
    *fold = qcrypto_selftest_fold(t->text, CHACHA_LEN);
    memcpy(t->back, t->text, CHACHA_LEN);
    if (ops->crypt(ctx, state, t->back, t->back, CHACHA_LEN, errp) < 0) {
        return -1;
    }
    if (memcmp(t->back, t->plain, CHACHA_LEN)) {
        return differs(errp, "decryption does not give the plaintext back");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        memset(t->back + lens[i], 0x5a, 64);
        if (ops->crypt(ctx, carry, t->plain + 128, t->back, lens[i], errp) < 0) {
            return -1;
        }
        for (size_t j = 0; j < 64; j++) {
            overrun |= t->back[lens[i] + j] ^ 0x5a;
        }
        if (memcmp(t->back, t->text + 128, lens[i]) || overrun) {
            return differs(errp, "a short message differs, or is not short");
        }
    }
    return ops->keystream && ops->keystream_words
               ? chacha_keystream(ops, state, t, errp)
               : 0;
}

static int chacha_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoChaChaOps *ops = row->ops;
    void *ctx = qcrypto_alloc(ops->ctx_size + 1); /* some bytes, even for 0 */
    ChaChaTest *t = qcrypto_alloc(sizeof(*t));
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    uint8_t key[32];
    int ret = -1;

    if (!ctx || !t) {
        qcrypto_error_memory(errp, "self-test",
                             (ops->ctx_size + sizeof(*t)) / 1024 + 1, 0);
        goto out;
    }
    pattern(key, sizeof(key), 17, 1);
    qcrypto_get_le32s(state + 4, key, 8);
    /* the low word of the counter has its carry soon */
    state[12] = 0xfffffffd;
    state[13] = 0x00000005;
    state[14] = 0x0badcafe;
    state[15] = 0x89abcdef;
    if (ops->init && ops->init(ctx, row, key, sizeof(key), errp) < 0) {
        goto out;
    }
    pattern(t->plain, CHACHA_LEN, 7, 3);
    ret = chacha_run(ops, ctx, state, t, fold, errp);
    if (ops->fini) {
        ops->fini(ctx);
    }
out:
    qcrypto_wipe_free(t, sizeof(*t));
    qcrypto_wipe_free(ctx, ops->ctx_size + 1);
    return ret;
}

/*
 * Hashes.  Lengths around the ends of every block length and the places
 * where the padding takes one more block, and many blocks.
 */
#define HASH_LEN 1077
#define MAX_DIGEST 64

static const uint16_t hash_lens[] = {0,   1,   55,  56,  63,  64,  65,      111,
                                     112, 127, 128, 129, 135, 136, HASH_LEN};

typedef struct HashTest {
    void *ctx, *copy;
    uint8_t data[HASH_LEN];
    uint8_t digests[G_N_ELEMENTS(hash_lens)][MAX_DIGEST];
    uint8_t again[MAX_DIGEST];
} HashTest;

/* In two pieces, and the second once more from a copy in between. */
static int hash_message(const QCryptoRow *row, HashTest *t, size_t len,
                        uint8_t *digest, GError **errp)
{
    const QCryptoHashOps *ops = row->ops;
    const size_t ndigest = qcrypto_alg(row->kind, row->alg)->out_len;
    const size_t half = len / 2;

    if (ops->init(t->ctx, row, errp) < 0) {
        return -1;
    }
    if ((half && ops->update(t->ctx, t->data, half, errp) < 0)) {
        return -1;
    }
    if (!ops->copy) {
        memcpy(t->copy, t->ctx, ops->ctx_size(row));
    } else if (ops->copy(t->copy, t->ctx, errp) < 0) {
        return -1;
    }
    if ((len && ops->update(t->ctx, t->data + half, len - half, errp) < 0) ||
        ops->final(t->ctx, digest, errp) < 0 ||
        (len && ops->update(t->copy, t->data + half, len - half, errp) < 0) ||
        ops->final(t->copy, t->again, errp) < 0) {
        return -1;
    }
    if (memcmp(digest, t->again, ndigest)) {
        return differs(errp, "a copied context goes on differently");
    }
    if (ops->digest) {
        if (ops->digest(row, t->data, len, t->again, errp) < 0) {
            return -1;
        }
        if (memcmp(digest, t->again, ndigest)) {
            return differs(errp, "a message at once differs from its pieces");
        }
    }
    return 0;
}

static int hash_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoHashOps *ops = row->ops;
    const size_t nctx = (ops->ctx_size(row) + 15) & ~(size_t)15;
    void *ctx = qcrypto_alloc(2 * nctx);
    HashTest *t = qcrypto_alloc(sizeof(*t));
    int ret = ctx && t ? 0 : -1;

    if (ret < 0) {
        qcrypto_error_memory(errp, "self-test",
                             (2 * nctx + sizeof(*t)) / 1024 + 1, 0);
        goto out;
    }
    t->ctx = ctx;
    t->copy = (uint8_t *)ctx + nctx;
    pattern(t->data, HASH_LEN, 7, 3);
    for (size_t i = 0; i < G_N_ELEMENTS(hash_lens) && ret == 0; i++) {
        ret = hash_message(row, t, hash_lens[i], t->digests[i], errp);
    }
    if (ret == 0) {
        *fold = qcrypto_selftest_fold(t->digests[0], sizeof(t->digests));
    }
    for (size_t i = 0; i < 2 && ops->fini; i++) {
        ops->fini(i ? t->copy : t->ctx);
    }
out:
    qcrypto_wipe_free(t, sizeof(*t));
    qcrypto_wipe_free(ctx, 2 * nctx);
    return ret;
}

/* Keys shorter and longer than every block, two messages under each. */
static int hmac_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    static const uint16_t key_lens[] = {0, 20, 64, 131, 300};
    const QCryptoHmacOps *ops = row->ops;
    const size_t nctx = ops->ctx_size(row);
    uint8_t key[300], data[200];
    uint8_t macs[2 * G_N_ELEMENTS(key_lens)][MAX_DIGEST] = {{0}};
    int ret = 0;

    pattern(key, sizeof(key), 17, 1);
    pattern(data, sizeof(data), 7, 3);
    for (size_t i = 0; i < G_N_ELEMENTS(key_lens) && ret == 0; i++) {
        void *ctx = qcrypto_alloc(nctx);

        if (!ctx) {
            return qcrypto_error_memory(errp, "self-test", nctx / 1024 + 1, 0);
        }
        ret = ops->init(ctx, row, key, key_lens[i], errp);
        if (ret == 0) {
            if (ops->update(ctx, data, 3, errp) < 0 ||
                ops->final(ctx, macs[2 * i], errp) < 0 ||
                ops->update(ctx, data, 150, errp) < 0 ||
                ops->update(ctx, data + 150, 50, errp) < 0 ||
                ops->final(ctx, macs[2 * i + 1], errp) < 0) {
                ret = -1;
            }
            if (ops->fini) {
                ops->fini(ctx);
            }
        }
        qcrypto_wipe_free(ctx, nctx);
    }
    *fold = qcrypto_selftest_fold(macs[0], sizeof(macs));
    return ret;
}

/* Outputs of 1 to 8 blocks, the last one not whole. */
static int pbkdf2_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoPbkdf2Ops *ops = row->ops;
    const size_t n = qcrypto_alg(row->kind, row->alg)->out_len;
    uint8_t key[131], salt[33];
    uint8_t out[36 * MAX_DIGEST];
    size_t at = 0;

    pattern(key, sizeof(key), 17, 1);
    pattern(salt, sizeof(salt), 29, 11);
    for (size_t blocks = 1; blocks <= 8; blocks++) {
        const size_t nout = blocks * n - (blocks % 2 ? 0 : 3);

        if (ops->derive(row, key, blocks == 8 ? 131 : 11, salt, 4 * blocks + 1,
                        blocks % 4 + 1, out + at, nout, errp) < 0) {
            return -1;
        }
        at += nout;
    }
    *fold = qcrypto_selftest_fold(out, at);
    return 0;
}

/* One lane, with which every library can; a tag longer than a digest. */
static int argon2_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoArgon2Ops *ops = row->ops;
    uint8_t key[33], salt[16], out[80];

    pattern(key, sizeof(key), 17, 1);
    pattern(salt, sizeof(salt), 29, 11);
    if (ops->derive(row, key, sizeof(key), salt, sizeof(salt), 3, 64, 1, out,
                    sizeof(out), errp) < 0) {
        return -1;
    }
    *fold = qcrypto_selftest_fold(out, sizeof(out));
    return 0;
}

/* ---- xor ---- */

/* odd addresses; longer than any template's group, with a tail */
#define XOR_LEN 1077
#define XOR_STRIDE 1088

/* Each arity apart, and in place over its last source. */
static int xor_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoXorOps *ops = row->ops;
    uint8_t *buf = qcrypto_alloc((QCRYPTO_XOR_ARITY + 1) * XOR_STRIDE);
    uint8_t *dst = buf + 1;
    uint64_t sum = 0;
    int ret = 0;

    if (!buf) {
        return qcrypto_error_memory(errp, "self-test", 8, 0);
    }
    for (unsigned n = 2; n <= QCRYPTO_XOR_ARITY && ret == 0; n++) {
        const void *srcs[QCRYPTO_XOR_ARITY];
        uint8_t *last = buf + n * XOR_STRIDE + n;

        for (unsigned i = 0; i < n; i++) {
            srcs[i] = buf + (i + 1) * XOR_STRIDE + i + 1;
            pattern(buf + (i + 1) * XOR_STRIDE + i + 1, XOR_LEN, 3 + 4 * i, i);
        }
        ops->xor_n[n](dst, srcs, XOR_LEN);
        ops->xor_n[n](last, srcs, XOR_LEN);
        if (memcmp(dst, last, XOR_LEN)) {
            ret = differs(errp, "in place differs");
        }
        sum = (sum ^ qcrypto_selftest_fold(dst, XOR_LEN)) * 3;
    }
    qcrypto_wipe_free(buf, (QCRYPTO_XOR_ARITY + 1) * XOR_STRIDE);
    *fold = sum;
    return ret;
}

/* ---- compression ---- */

/* some letters with repetitions near and far; also in kat.c, compressed */
#define COMP_LEN 1077
#define COMP_ROOM 2048

typedef struct CompTest {
    uint8_t plain[COMP_LEN];
    uint8_t packed[COMP_ROOM];
    uint8_t back[COMP_LEN];
    uint8_t spare[COMP_LEN];
} CompTest;

static const QCryptoKatStream *comp_stream(int alg)
{
    for (size_t i = 0; i < qcrypto_kat_streams_len; i++) {
        if (qcrypto_kat_streams[i].alg == alg) {
            return &qcrypto_kat_streams[i];
        }
    }
    return NULL;
}

/* The whole stream, the whole of it into one byte less, all but its last. */
static int comp_decompress(const QCryptoCompOps *ops, void *ctx, CompTest *t,
                           const uint8_t *in, size_t n, GError **errp)
{
    size_t used = n, len = COMP_LEN;

    memset(t->back, 0, COMP_LEN);
    if (ops->decompress(ctx, in, &used, t->back, &len) != QCRYPTO_COMP_DONE ||
        used != n || len != COMP_LEN) {
        return differs(errp, "cannot decompress");
    }
    len = COMP_LEN - 1;
    if (ops->decompress(ctx, in, &used, t->spare, &len) !=
        QCRYPTO_COMP_NO_SPACE) {
        return differs(errp, "a small output is not refused");
    }
    used = n - 1;
    len = COMP_LEN;
    if (ops->decompress(ctx, in, &used, t->spare, &len) == QCRYPTO_COMP_DONE) {
        return differs(errp, "half a stream is not refused");
    }
    return 0;
}

/* Libraries compress differently: round trip, and somebody else's stream. */
static int comp_run(const QCryptoRow *row, void *ctx, CompTest *t, uint64_t *fold,
                    GError **errp)
{
    const QCryptoCompOps *ops = row->ops;
    const QCryptoKatStream *stream = comp_stream(row->alg);
    size_t n = COMP_ROOM;

    for (unsigned i = 0; i < COMP_LEN; i++) {
        const unsigned k = i % 150;

        t->plain[i] =
            (uint8_t)(i % 97 == 96 ? 'z' : 'a' + k * k / 7 % 11);
    }
    if (ops->bound(row, COMP_LEN) > COMP_ROOM ||
        ops->compress(ctx, t->plain, COMP_LEN, t->packed, &n) !=
            QCRYPTO_COMP_DONE) {
        return differs(errp, "cannot compress");
    }
    if (comp_decompress(ops, ctx, t, t->packed, n, errp) < 0) {
        return -1;
    }
    if (memcmp(t->back, t->plain, COMP_LEN)) {
        return differs(errp, "decompression does not give the data back");
    }
    if (!stream) {
        return differs(errp, "no stream of this format");
    }
    if (comp_decompress(ops, ctx, t, stream->bytes, stream->n, errp) < 0) {
        return -1;
    }
    *fold = qcrypto_selftest_fold(t->back, COMP_LEN);
    return 0;
}

static int comp_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoCompOps *ops = row->ops;
    void *ctx = qcrypto_alloc(ops->ctx_size);
    CompTest *t = qcrypto_alloc(sizeof(*t));
    int ret = -1;

    if (!ctx || !t) {
        qcrypto_error_memory(errp, "self-test",
                             (ops->ctx_size + sizeof(*t)) / 1024 + 1, 0);
    } else if (ops->init(ctx, row, qcrypto_alg(row->kind, row->alg)->level_default,
                         errp) == 0) {
        ret = comp_run(row, ctx, t, fold, errp);
        ops->fini(ctx);
    }
    qcrypto_wipe_free(t, sizeof(*t));
    qcrypto_wipe_free(ctx, ops->ctx_size);
    return ret;
}

/*
 * Nobody knows the right bytes: two draws differ, and each of their bytes is
 * written.  A byte stays 0 in all of so many draws once in 2^128 times.
 */
static int rng_run(const QCryptoRngOps *ops, void *ctx, GError **errp)
{
    enum { N = 300, DRAWS = 16 };
    uint8_t seen[N] = {0}, last[N] = {0}, buf[N] = {0};

    for (int i = 0; i < DRAWS; i++) {
        memcpy(last, buf, N);
        memset(buf, 0, N);
        if (ops->bytes(ctx, buf, N, errp) < 0) {
            return -1;
        }
        if (!memcmp(last, buf, N)) {
            return differs(errp, "the same bytes twice");
        }
        for (size_t j = 0; j < N; j++) {
            seen[j] |= buf[j];
        }
    }
    return memchr(seen, 0, N) ? differs(errp, "a byte that is never written") : 0;
}

static int rng_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoRngOps *ops = row->ops;
    void *ctx = qcrypto_alloc(ops->ctx_size);
    int ret = -1;

    if (!ctx) {
        return qcrypto_error_memory(errp, "self-test", ops->ctx_size / 1024 + 1, 0);
    }
    if (ops->init(ctx, row, errp) == 0) {
        ret = rng_run(ops, ctx, errp);
        ops->fini(ctx);
    }
    qcrypto_wipe_free(ctx, ops->ctx_size);
    *fold = 0;
    return ret;
}

/*
 * Runs the row over its kind's message, checks what can be checked without
 * an answer (round trip, runs against single calls) and folds the output.
 */
typedef int TestFunc(const QCryptoRow *row, uint64_t *fold, GError **errp);

static TestFunc *const tests[QCRYPTO_KIND__MAX] = {
    [QCRYPTO_KIND_CIPHER] = cipher_test,
    [QCRYPTO_KIND_HASH] = hash_test,
    [QCRYPTO_KIND_HMAC] = hmac_test,
    [QCRYPTO_KIND_PBKDF2] = pbkdf2_test,
    [QCRYPTO_KIND_ARGON2] = argon2_test,
    [QCRYPTO_KIND_CHACHA] = chacha_test,
    [QCRYPTO_KIND_XOR] = xor_test,
    [QCRYPTO_KIND_COMP] = comp_test,
    [QCRYPTO_KIND_RNG] = rng_test,
};

int qcrypto_selftest_compute(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    if ((unsigned)row->kind >= QCRYPTO_KIND__MAX || !tests[row->kind]) {
        return differs(errp, "rows of this kind have none");
    }
    return tests[row->kind](row, fold, errp);
}

int qcrypto_selftest(const QCryptoRow *row, GError **errp)
{
    uint64_t answer, fold;

    if (!qcrypto_selftest_answer(row->kind, row->alg, row->mode, &answer)) {
        return differs(errp, "no known answer to test against");
    }
    if (qcrypto_selftest_compute(row, &fold, errp) < 0) {
        return -1;
    }
    return fold == answer ? 0 : differs(errp, "wrong output");
}
