/*
 * AES key schedule on AES instructions (FIPS 197, 5.2 and 5.3.5)
 *
 * SubWord comes from aesenclast: on a block of four equal words ShiftRows
 * moves nothing, so what is left of the last round is SubBytes and the xor
 * of a round key, for which the round constant serves.  That is a shorter
 * chain than aeskeygenassist and a shuffle, and its result stands in all
 * four words already.
 *
 * The decryption keys are made at the same time, from registers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_X86_AES_KEYS_H
#define QCRYPTO_BUILTIN_X86_AES_KEYS_H

#include "crypto/backend/builtin/aes.h"

#include <immintrin.h>
#include <string.h>

static inline __m128i load_block(const uint8_t *p)
{
    return _mm_loadu_si128((const void *)p);
}

static inline void store_block(uint8_t *p, __m128i x)
{
    _mm_storeu_si128((void *)p, x);
}

/* w, w ^ w0, ...: word i of the result is the xor of words 0 to i */
static inline __m128i aes_keys_prefix(__m128i w)
{
    w = _mm_xor_si128(w, _mm_slli_si128(w, 4));
    return _mm_xor_si128(w, _mm_slli_si128(w, 8));
}

/* SubWord(RotWord(last word)) ^ rcon, in all words */
static inline __m128i aes_keys_rot(__m128i w, int rcon)
{
    const __m128i rot = _mm_set1_epi32(0x0c0f0e0d);

    return _mm_aesenclast_si128(_mm_shuffle_epi8(w, rot),
                                _mm_set1_epi32(rcon));
}

/* SubWord(last word), in all words */
static inline __m128i aes_keys_sub(__m128i w)
{
    return _mm_aesenclast_si128(_mm_shuffle_epi32(w, 0xff),
                                _mm_setzero_si128());
}

static inline __attribute__((always_inline))
void aes_keys_store(QCryptoAESKey *key, const __m128i *w, const unsigned rounds)
{
    for (unsigned i = 0; i <= rounds; i++) {
        __m128i d = w[rounds - i];

        if (i > 0 && i < rounds) {
            d = _mm_aesimc_si128(d);
        }
        store_block(key->enc[i], w[i]);
        store_block(key->dec[i], d);
    }
    key->rounds = rounds;
}

static inline void aes_keys_128(QCryptoAESKey *key, const uint8_t *k)
{
    static const uint8_t rcon[10] = {
        0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
    };
    __m128i w[11];

    w[0] = load_block(k);
    for (unsigned i = 0; i < 10; i++) {
        w[i + 1] = _mm_xor_si128(aes_keys_prefix(w[i]),
                                 aes_keys_rot(w[i], rcon[i]));
    }
    aes_keys_store(key, w, 10);
}

static inline void aes_keys_256(QCryptoAESKey *key, const uint8_t *k)
{
    __m128i w[15];

    w[0] = load_block(k);
    w[1] = load_block(k + 16);
    for (unsigned i = 2; i < 15; i++) {
        __m128i t = i % 2 == 0 ? aes_keys_rot(w[i - 1], 1 << (i / 2 - 1))
                               : aes_keys_sub(w[i - 1]);

        w[i] = _mm_xor_si128(aes_keys_prefix(w[i - 2]), t);
    }
    aes_keys_store(key, w, 14);
}

static inline void aes_keys_192(QCryptoAESKey *key, const uint8_t *k)
{
    /*
     * A step makes six words, a and the low half of b; the schedule has 52:
     * the first six, seven steps and the a of an eighth.
     */
    __m128i a = load_block(k);
    __m128i b = _mm_loadl_epi64((const void *)(k + 16));
    __m128i w[13];
    __m128i half = b;

    w[0] = a;
    for (unsigned i = 0; i < 8; i++) {
        __m128i last = _mm_shuffle_epi32(b, 0x55);

        a = _mm_xor_si128(aes_keys_prefix(a), aes_keys_rot(last, 1 << i));
        b = _mm_xor_si128(b, _mm_slli_si128(b, 4));
        b = _mm_xor_si128(b, _mm_shuffle_epi32(a, 0xff));
        /* word 6(i + 1): the middle of a round key when i is even */
        if (i % 2 == 0) {
            w[i / 2 * 3 + 1] = _mm_unpacklo_epi64(half, a);
            w[i / 2 * 3 + 2] = _mm_unpacklo_epi64(_mm_srli_si128(a, 8), b);
        } else {
            w[i / 2 * 3 + 3] = a;
            half = b;
        }
    }
    aes_keys_store(key, w, 12);
}

static void aes_set_key(void *opaque, const uint8_t *k, size_t nkey)
{
    QCryptoAESKey *key = opaque;

    if (nkey == 16) {
        aes_keys_128(key, k);
    } else if (nkey == 24) {
        aes_keys_192(key, k);
    } else {
        aes_keys_256(key, k);
    }
}

#endif
