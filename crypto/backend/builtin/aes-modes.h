/*
 * AES, the modes over a whitened run of blocks: a template
 *
 * ECB, CBC, CTR and XTS all ask the same of the cipher:
 *
 *     dst = AES(src ^ pre) ^ post
 *
 * over a few blocks that do not depend on one another:
 *
 *     mode            src           pre             post
 *     ECB             data          -               -
 *     CBC encrypt     data          chaining block  -      (several streams)
 *     CBC decrypt     data          -               previous ciphertext
 *     CTR             counters      -               data
 *     XTS             data          tweaks          tweaks
 *
 * A kernel defines that one function and AES_WIDTH, the number of blocks it
 * takes at most, then includes this file once and has all the modes,
 * AES_MODES to put into its QCryptoAESKernel, and FIPS 197's key expansion:
 *
 *     static void aes_blocks(const void *key, int dir, uint8_t *dst,
 *                            const uint8_t *src, const uint8_t *pre,
 *                            const uint8_t *post, size_t n);
 *     static uint32_t aes_sub_word(uint32_t w);
 *
 * dir is 0 to encrypt and 1 to decrypt, n is 1 to AES_WIDTH, pre and post
 * may be NULL.  dst may be any of src, pre and post.  aes_sub_word is
 * SubBytes on the four bytes of a word.
 *
 * Kernels that weave tweaks or counters between the rounds (x86/) have no
 * use for this.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_AES_MODES_H
#define QCRYPTO_BUILTIN_AES_MODES_H

#include <string.h>

#include "crypto/backend/builtin/aes.h"
#include "crypto/base/secure.h"

#ifndef AES_WIDTH
#error "define AES_WIDTH, aes_blocks and aes_sub_word first"
#endif

#define AES_BLOCK 16

/* The bytes decide, not the host: right on any endianness and alignment. */

static inline uint32_t aes_get_le32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void aes_put_le32(uint8_t *p, uint32_t v)
{
    p[0] = v;
    p[1] = v >> 8;
    p[2] = v >> 16;
    p[3] = v >> 24;
}

static inline uint64_t aes_get_le64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void aes_put_le64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, 8);
}

static inline uint64_t aes_get_be64(const uint8_t *p)
{
    return __builtin_bswap64(aes_get_le64(p));
}

static inline void aes_put_be64(uint8_t *p, uint64_t v)
{
    aes_put_le64(p, __builtin_bswap64(v));
}

static inline size_t aes_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * Key expansion (FIPS 197, 5.2) over little-endian words, in which RotWord
 * is a rotation to the right and Rcon sits in the low byte.  Returns the
 * number of rounds.
 */
static unsigned aes_expand_key(uint8_t round_keys[15][16], const uint8_t *k,
                               size_t nkey)
{
    uint8_t *out = round_keys[0];
    size_t nk = nkey / 4; /* 4, 6 or 8 words */
    unsigned rounds = (unsigned)nk + 6;
    uint32_t rcon = 1;
    size_t i;

    memcpy(out, k, nkey);
    for (i = nk; i < 4 * (rounds + 1); i++) {
        uint32_t w = aes_get_le32(out + 4 * (i - 1));

        if (i % nk == 0) {
            w = aes_sub_word(w >> 8 | w << 24) ^ rcon;
            rcon = rcon << 1 ^ (rcon >> 7) * 0x11b;
        } else if (nk == 8 && i % nk == 4) {
            w = aes_sub_word(w);
        }
        aes_put_le32(out + 4 * i, w ^ aes_get_le32(out + 4 * (i - nk)));
    }
    return rounds;
}

/* ECB */

static inline __attribute__((always_inline)) void
aes_ecb(const void *key, int dir, uint8_t *dst, const uint8_t *src,
        size_t len)
{
    size_t n;

    for (; len; len -= AES_BLOCK * n) {
        n = aes_min(len / AES_BLOCK, AES_WIDTH);
        aes_blocks(key, dir, dst, src, NULL, NULL, n);
        src += AES_BLOCK * n;
        dst += AES_BLOCK * n;
    }
}

static void aes_ecb_encrypt(const void *key, uint8_t *dst,
                            const uint8_t *src, size_t len)
{
    aes_ecb(key, 0, dst, src, len);
}

static void aes_ecb_decrypt(const void *key, uint8_t *dst,
                            const uint8_t *src, size_t len)
{
    aes_ecb(key, 1, dst, src, len);
}

/* CBC */

static void aes_cbc_encrypt(const void *key, uint8_t *iv, uint8_t *dst,
                            const uint8_t *src, size_t len)
{
    const uint8_t *chain = iv;

    if (!len) {
        return;
    }
    for (; len; len -= AES_BLOCK) {
        aes_blocks(key, 0, dst, src, chain, NULL, 1);
        chain = dst;
        src += AES_BLOCK;
        dst += AES_BLOCK;
    }
    memcpy(iv, chain, AES_BLOCK);
}

static void aes_cbc_decrypt(const void *key, uint8_t *iv, uint8_t *dst,
                            const uint8_t *src, size_t len)
{
    /* copied, since in place each block is overwritten before its use */
    uint8_t prev[AES_BLOCK * (AES_WIDTH + 1)];
    size_t n;

    memcpy(prev, iv, AES_BLOCK);
    for (; len; len -= AES_BLOCK * n) {
        n = aes_min(len / AES_BLOCK, AES_WIDTH);
        memcpy(prev + AES_BLOCK, src, AES_BLOCK * n);
        aes_blocks(key, 1, dst, src, NULL, prev, n);
        memcpy(prev, prev + AES_BLOCK * n, AES_BLOCK);
        src += AES_BLOCK * n;
        dst += AES_BLOCK * n;
    }
    memcpy(iv, prev, AES_BLOCK);
}

/*
 * One stream of CBC encryption leaves all but one of the block slots idle;
 * AES_WIDTH units go in step, each block gathered from its unit.
 */
static void aes_cbc_units_encrypt(const void *key, const uint8_t *ivs,
                                  size_t unit_size, uint8_t *dst,
                                  const uint8_t *src, size_t n)
{
    uint8_t text[AES_BLOCK * AES_WIDTH];
    uint8_t chain[AES_BLOCK * AES_WIDTH];
    size_t streams, off, i;

    for (; n; n -= streams) {
        streams = aes_min(n, AES_WIDTH);
        memcpy(chain, ivs, AES_BLOCK * streams);
        for (off = 0; off < unit_size; off += AES_BLOCK) {
            for (i = 0; i < streams; i++) {
                memcpy(text + AES_BLOCK * i, src + unit_size * i + off,
                       AES_BLOCK);
            }
            aes_blocks(key, 0, chain, text, chain, NULL, streams);
            for (i = 0; i < streams; i++) {
                memcpy(dst + unit_size * i + off, chain + AES_BLOCK * i,
                       AES_BLOCK);
            }
        }
        ivs += AES_BLOCK * streams;
        src += unit_size * streams;
        dst += unit_size * streams;
    }
    qcrypto_wipe(text, sizeof(text));
}

static void aes_cbc_units_decrypt(const void *key, const uint8_t *ivs,
                                  size_t unit_size, uint8_t *dst,
                                  const uint8_t *src, size_t n)
{
    uint8_t iv[AES_BLOCK];

    for (; n; n--) {
        memcpy(iv, ivs, AES_BLOCK);
        aes_cbc_decrypt(key, iv, dst, src, unit_size);
        ivs += AES_BLOCK;
        src += unit_size;
        dst += unit_size;
    }
}

/* CTR */

static void aes_ctr(const void *key, uint8_t *iv, uint8_t *dst,
                    const uint8_t *src, size_t len)
{
    uint8_t counters[AES_BLOCK * AES_WIDTH];
    uint64_t hi = aes_get_be64(iv);
    uint64_t lo = aes_get_be64(iv + 8);

    while (len) {
        size_t part = aes_min(len, sizeof(counters));
        size_t n = (part + AES_BLOCK - 1) / AES_BLOCK;
        size_t i;

        for (i = 0; i < n; i++) {
            aes_put_be64(counters + AES_BLOCK * i, hi);
            aes_put_be64(counters + AES_BLOCK * i + 8, lo);
            lo++;
            hi += lo == 0;
        }
        if (part % AES_BLOCK == 0) {
            aes_blocks(key, 0, dst, counters, NULL, src, n);
        } else {
            /* the end of the data, in a buffer that may be over-read */
            uint8_t text[AES_BLOCK * AES_WIDTH] = { 0 };

            memcpy(text, src, part);
            aes_blocks(key, 0, text, counters, NULL, text, n);
            memcpy(dst, text, part);
            /* past the data lies unused key stream */
            qcrypto_wipe(text, sizeof(text));
        }
        src += part;
        dst += part;
        len -= part;
    }
    aes_put_be64(iv, hi);
    aes_put_be64(iv + 8, lo);
}

/* XTS */

/*
 * The tweaks of a run of units as one stream, so that a batch of blocks may
 * begin in one unit and end in another.  First tweaks are encrypted
 * AES_WIDTH units at once.
 */
typedef struct AESTweaks {
    const void *key;
    const uint8_t *ivs; /* of the units not in first[] */
    size_t units;       /* how many these are */
    size_t per_unit;    /* tweaks that a unit takes */
    size_t left;        /* tweaks that the current unit still takes */
    uint64_t lo, hi;    /* the next of them, a little-endian number */
    size_t next, nfirst;
    uint8_t first[AES_BLOCK * AES_WIDTH];
} AESTweaks;

static void aes_tweaks_next_unit(AESTweaks *t)
{
    if (t->next == t->nfirst) {
        t->next = 0;
        t->nfirst = aes_min(t->units, AES_WIDTH);
        aes_blocks(t->key, 0, t->first, t->ivs, NULL, NULL, t->nfirst);
        t->ivs += AES_BLOCK * t->nfirst;
        t->units -= t->nfirst;
    }
    t->lo = aes_get_le64(t->first + AES_BLOCK * t->next);
    t->hi = aes_get_le64(t->first + AES_BLOCK * t->next + 8);
    t->next++;
    t->left = t->per_unit;
}

/* Take @n tweaks; no more are ever asked for than all units have. */
static inline void aes_tweaks_take(AESTweaks *t, uint8_t *out, size_t n)
{
    while (n) {
        size_t run, i;
        uint64_t lo, hi;

        if (!t->left) {
            aes_tweaks_next_unit(t);
        }
        run = aes_min(n, t->left);
        lo = t->lo;
        hi = t->hi;
        for (i = 0; i < run; i++) {
            /* times x in GF(2^128): x^128 = x^7 + x^2 + x + 1 */
            uint64_t fold = -(hi >> 63) & 0x87;

            aes_put_le64(out, lo);
            aes_put_le64(out + 8, hi);
            out += AES_BLOCK;
            hi = hi << 1 | lo >> 63;
            lo = lo << 1 ^ fold;
        }
        t->lo = lo;
        t->hi = hi;
        t->left -= run;
        n -= run;
    }
}

/*
 * @n whole blocks.  The tweaks of a batch are made while the batch before
 * it is in the cipher: by the time they are loaded, their stores are done.
 */
static inline __attribute__((always_inline)) void
aes_xts_blocks(const void *key, int dir, AESTweaks *t, uint8_t *dst,
               const uint8_t *src, size_t n)
{
    uint8_t tweaks[2][AES_BLOCK * AES_WIDTH];
    unsigned turn = 0;
    size_t now = aes_min(n, AES_WIDTH);
    size_t then;

    aes_tweaks_take(t, tweaks[0], now);
    for (; now; now = then) {
        n -= now;
        then = aes_min(n, AES_WIDTH);
        aes_tweaks_take(t, tweaks[turn ^ 1], then);
        aes_blocks(key, dir, dst, src, tweaks[turn], tweaks[turn], now);
        turn ^= 1;
        src += AES_BLOCK * now;
        dst += AES_BLOCK * now;
    }
    qcrypto_wipe(tweaks, sizeof(tweaks));
}

/*
 * The last whole block and the @tail bytes (1 to 15) behind it, by
 * ciphertext stealing (IEEE 1619-2007, 5.3.2 and 5.4.2).  The two blocks
 * take the unit's last two tweaks, in this order to encrypt and the other
 * way round to decrypt.
 */
static void aes_xts_steal(const void *key, int dir, AESTweaks *t,
                          uint8_t *dst, const uint8_t *src, size_t tail)
{
    uint8_t tweaks[2 * AES_BLOCK];
    uint8_t whole[AES_BLOCK], stolen[AES_BLOCK];
    const uint8_t *first = tweaks + AES_BLOCK * dir;
    const uint8_t *second = tweaks + AES_BLOCK * !dir;

    aes_tweaks_take(t, tweaks, 2);
    aes_blocks(key, dir, whole, src, first, first, 1);
    memcpy(stolen, src + AES_BLOCK, tail);
    memcpy(stolen + tail, whole + tail, AES_BLOCK - tail);
    memcpy(dst + AES_BLOCK, whole, tail);
    aes_blocks(key, dir, dst, stolen, second, second, 1);
    qcrypto_wipe(tweaks, sizeof(tweaks));
    qcrypto_wipe(whole, sizeof(whole));
    qcrypto_wipe(stolen, sizeof(stolen));
}

static inline __attribute__((always_inline)) void
aes_xts(const void *key, const void *tweak_key, int dir, const uint8_t *ivs,
        size_t unit_size, uint8_t *dst, const uint8_t *src, size_t n)
{
    size_t blocks = unit_size / AES_BLOCK;
    size_t tail = unit_size % AES_BLOCK;
    AESTweaks t = {
        .key = tweak_key,
        .ivs = ivs,
        .units = n,
        .per_unit = blocks + (tail != 0),
    };

    if (!tail) {
        aes_xts_blocks(key, dir, &t, dst, src, blocks * n);
    } else {
        for (; n; n--) {
            size_t bulk = AES_BLOCK * (blocks - 1);

            aes_xts_blocks(key, dir, &t, dst, src, blocks - 1);
            aes_xts_steal(key, dir, &t, dst + bulk, src + bulk, tail);
            src += unit_size;
            dst += unit_size;
        }
    }
    qcrypto_wipe(&t, sizeof(t));
}

static void aes_xts_encrypt(const void *key, const void *tweak_key,
                            const uint8_t *ivs, size_t unit_size,
                            uint8_t *dst, const uint8_t *src, size_t n)
{
    aes_xts(key, tweak_key, 0, ivs, unit_size, dst, src, n);
}

static void aes_xts_decrypt(const void *key, const void *tweak_key,
                            const uint8_t *ivs, size_t unit_size,
                            uint8_t *dst, const uint8_t *src, size_t n)
{
    aes_xts(key, tweak_key, 1, ivs, unit_size, dst, src, n);
}

/* The modes' part of the kernel's initialiser */
#define AES_MODES                                                       \
    .ecb = { aes_ecb_encrypt, aes_ecb_decrypt },                        \
    .cbc = { aes_cbc_encrypt, aes_cbc_decrypt },                        \
    .cbc_units = { aes_cbc_units_encrypt, aes_cbc_units_decrypt },      \
    .ctr = aes_ctr,                                                     \
    .xts = { aes_xts_encrypt, aes_xts_decrypt }

#endif
