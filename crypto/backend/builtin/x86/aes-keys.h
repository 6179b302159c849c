/*
 * AES key schedule on AES instructions (FIPS 197, 5.2 and 5.3.5)
 *
 * SubWord comes from aesenclast: on a block of four equal words ShiftRows
 * moves nothing, so what is left of the last round is SubBytes and the xor
 * of a round key, for which the round constant serves.  That is a shorter
 * chain than aeskeygenassist and a shuffle, and its result stands in all
 * four words already.
 *
 * Every round key is stored for both directions as soon as it is made, so
 * that no copy of the schedule lies about on the stack.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_X86_AES_KEYS_H
#define QCRYPTO_BUILTIN_X86_AES_KEYS_H

#include "crypto/backend/builtin/aes.h"

#include <immintrin.h>
#include <stdbool.h>

static inline __m128i load_block(const uint8_t *p)
{
    return _mm_loadu_si128((const void *)p);
}

static inline void store_block(uint8_t *p, __m128i x)
{
    _mm_storeu_si128((void *)p, x);
}

/* w0, w0 ^ w1, ...: word i of the result is the xor of words 0 to i */
static inline __m128i aes_keys_prefix(__m128i w)
{
    w = _mm_xor_si128(w, _mm_slli_si128(w, 4));
    return _mm_xor_si128(w, _mm_slli_si128(w, 8));
}

/* SubWord(RotWord(last word)) ^ rcon, in all words */
static inline __m128i aes_keys_rot(__m128i w, __m128i rcon)
{
    const __m128i rot = _mm_set1_epi32(0x0c0f0e0d);

    return _mm_aesenclast_si128(_mm_shuffle_epi8(w, rot), rcon);
}

/* SubWord(last word), in all words */
static inline __m128i aes_keys_sub(__m128i w)
{
    return _mm_aesenclast_si128(_mm_shuffle_epi32(w, 0xff),
                                _mm_setzero_si128());
}

/* Store round key i; both is a constant in every caller */
static inline void aes_keys_put(QCryptoAESKey *key, unsigned i, __m128i w,
                                bool both)
{
    store_block(key->enc[i], w);
    if (!both) {
        return;
    }
    if (i > 0 && i < key->rounds) {
        w = _mm_aesimc_si128(w);
    }
    store_block(key->dec[key->rounds - i], w);
}

static inline __attribute__((always_inline)) void
aes_keys_128(QCryptoAESKey *key, const uint8_t *k, bool both)
{
    __m128i rcon = _mm_set1_epi32(1);
    __m128i w = load_block(k);

    key->rounds = 10;
    aes_keys_put(key, 0, w, both);
    for (unsigned i = 1; i <= 10; i++) {
        w = _mm_xor_si128(aes_keys_prefix(w), aes_keys_rot(w, rcon));
        aes_keys_put(key, i, w, both);
        /* powers of x; x^8 is 0x1b */
        rcon = i == 8 ? _mm_set1_epi32(0x1b) : _mm_add_epi32(rcon, rcon);
    }
}

static inline __attribute__((always_inline)) void
aes_keys_192(QCryptoAESKey *key, const uint8_t *k, bool both)
{
    /*
     * A step makes six words, a and the low half of b, of the 52 in all: the
     * first six, seven steps and the a of an eighth.  Every second step
     * begins in the middle of a round key.
     */
    __m128i rcon = _mm_set1_epi32(1);
    __m128i a = load_block(k);
    __m128i b = _mm_loadl_epi64((const void *)(k + 16));
    __m128i half = b;

    key->rounds = 12;
    aes_keys_put(key, 0, a, both);
    for (unsigned i = 0; i < 8; i++) {
        a = _mm_xor_si128(aes_keys_prefix(a),
                          aes_keys_rot(_mm_shuffle_epi32(b, 0x55), rcon));
        b = _mm_xor_si128(b, _mm_slli_si128(b, 4));
        b = _mm_xor_si128(b, _mm_shuffle_epi32(a, 0xff));
        rcon = _mm_add_epi32(rcon, rcon);
        if (i % 2 == 0) {
            aes_keys_put(key, i / 2 * 3 + 1, _mm_unpacklo_epi64(half, a), both);
            aes_keys_put(key, i / 2 * 3 + 2,
                         _mm_unpacklo_epi64(_mm_srli_si128(a, 8), b), both);
        } else {
            aes_keys_put(key, i / 2 * 3 + 3, a, both);
            half = b;
        }
    }
}

static inline __attribute__((always_inline)) void
aes_keys_256(QCryptoAESKey *key, const uint8_t *k, bool both)
{
    __m128i rcon = _mm_set1_epi32(1);
    __m128i a = load_block(k);
    __m128i b = load_block(k + 16);

    key->rounds = 14;
    aes_keys_put(key, 0, a, both);
    for (unsigned i = 1; i < 14; i += 2) {
        aes_keys_put(key, i, b, both);
        a = _mm_xor_si128(aes_keys_prefix(a), aes_keys_rot(b, rcon));
        aes_keys_put(key, i + 1, a, both);
        b = _mm_xor_si128(aes_keys_prefix(b), aes_keys_sub(a));
        rcon = _mm_add_epi32(rcon, rcon);
    }
}

static inline __attribute__((always_inline)) void
aes_keys_any(void *opaque, const uint8_t *k, size_t nkey, bool both)
{
    QCryptoAESKey *key = opaque;

    if (nkey == 16) {
        aes_keys_128(key, k, both);
    } else if (nkey == 24) {
        aes_keys_192(key, k, both);
    } else {
        aes_keys_256(key, k, both);
    }
}

static void aes_set_key(void *opaque, const uint8_t *k, size_t nkey)
{
    aes_keys_any(opaque, k, nkey, true);
}

static void aes_set_tweak_key(void *opaque, const uint8_t *k, size_t nkey)
{
    aes_keys_any(opaque, k, nkey, false);
}

#endif
