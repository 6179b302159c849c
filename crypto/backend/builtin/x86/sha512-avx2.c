/*
 * SHA-512 with AVX2 and BMI2
 *
 * The rounds run in general registers (rorx rotates without a move), the
 * message schedule in vectors of four words.  The schedule stays sixteen
 * words ahead of the rounds and is woven between them; sums of word and
 * constant pass from one side to the other in memory.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>

#include "crypto/backend/builtin/sha.h"
#include "crypto/base/secure.h"

#define INLINE static inline __attribute__((always_inline))

#define ROR(x, n) ((x) >> (n) | (x) << (64 - (n)))
#define BIG_0(a) (ROR(a, 28) ^ ROR(a, 34) ^ ROR(a, 39))
#define BIG_1(e) (ROR(e, 14) ^ ROR(e, 18) ^ ROR(e, 41))

/* majority: ab of this round is bc of the next */
#define ROUND(a, b, c, d, e, f, g, h, i)                                       \
    do {                                                                       \
        uint64_t sum = ((((f) ^ (g)) & (e)) ^ (g)) + BIG_1(e);                 \
                                                                               \
        h += wk[i];                                                            \
        h += sum;                                                              \
        d += h;                                                                \
        ab = (a) ^ (b);                                                        \
        sum = BIG_0(a);                                                        \
        h += (ab & bc) ^ (b);                                                  \
        h += sum;                                                              \
        bc = ab;                                                               \
    } while (0)

/* x rotated right by n; there is no instruction for it, */
#define VROR(x, n) (_mm256_srli_epi64(x, n) ^ _mm256_slli_epi64(x, 64 - (n)))

/* but one for whole bytes */
INLINE __m256i vror_8(__m256i x)
{
    return _mm256_shuffle_epi8(
        x, _mm256_set_epi64x(0x080f0e0d0c0b0a09, 0x0007060504030201,
                             0x080f0e0d0c0b0a09, 0x0007060504030201));
}

INLINE __m256i small_0(__m256i w)
{
    return VROR(w, 1) ^ vror_8(w) ^ _mm256_srli_epi64(w, 7);
}

INLINE __m256i small_1(__m256i w)
{
    return VROR(w, 19) ^ VROR(w, 61) ^ _mm256_srli_epi64(w, 6);
}

/* words 1 to 4 of the eight in a and b */
INLINE __m256i from_1(__m256i a, __m256i b)
{
    return _mm256_alignr_epi8(_mm256_permute2x128_si256(a, b, 0x21), a, 8);
}

/*
 * Words t to t + 3 from the sixteen before them.  The last two depend on the
 * first two, so the sum's last term comes in two turns, each for a half.
 */
INLINE __m256i next_words(__m256i w16, __m256i w12, __m256i w8, __m256i w4)
{
    __m256i w = _mm256_add_epi64(
        _mm256_add_epi64(w16, small_0(from_1(w16, w12))), from_1(w8, w4));
    __m256i s = small_1(_mm256_permute2x128_si256(w4, w4, 0x81));

    w = _mm256_add_epi64(w, s);
    s = small_1(_mm256_permute2x128_si256(w, w, 0x08));
    return _mm256_add_epi64(w, s);
}

INLINE void put(uint64_t *wk, __m256i m, const uint64_t *k)
{
    _mm256_store_si256((__m256i *)wk,
                       _mm256_add_epi64(m,
                                        _mm256_load_si256((const __m256i *)k)));
}

/* words 4j to 4j + 3 of the next sixteen, after their rounds */
#define SCHEDULE(j)                                                            \
    do {                                                                       \
        m[j] = next_words(m[j], m[((j) + 1) & 3], m[((j) + 2) & 3],            \
                          m[((j) + 3) & 3]);                                   \
        put(wk + 4 * (j), m[j], k + 4 * (j));                                  \
    } while (0)
#define NOTHING(j) (void)0

#define SIXTEEN(after)                                                         \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, g, h, 0);                                      \
        ROUND(h, a, b, c, d, e, f, g, 1);                                      \
        ROUND(g, h, a, b, c, d, e, f, 2);                                      \
        ROUND(f, g, h, a, b, c, d, e, 3);                                      \
        after(0);                                                              \
        ROUND(e, f, g, h, a, b, c, d, 4);                                      \
        ROUND(d, e, f, g, h, a, b, c, 5);                                      \
        ROUND(c, d, e, f, g, h, a, b, 6);                                      \
        ROUND(b, c, d, e, f, g, h, a, 7);                                      \
        after(1);                                                              \
        ROUND(a, b, c, d, e, f, g, h, 8);                                      \
        ROUND(h, a, b, c, d, e, f, g, 9);                                      \
        ROUND(g, h, a, b, c, d, e, f, 10);                                     \
        ROUND(f, g, h, a, b, c, d, e, 11);                                     \
        after(2);                                                              \
        ROUND(e, f, g, h, a, b, c, d, 12);                                     \
        ROUND(d, e, f, g, h, a, b, c, 13);                                     \
        ROUND(c, d, e, f, g, h, a, b, 14);                                     \
        ROUND(b, c, d, e, f, g, h, a, 15);                                     \
        after(3);                                                              \
    } while (0)

static void blocks(QCryptoSHAState *state, const uint8_t *data, size_t n)
{
    const __m256i bswap =
        _mm256_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607,
                          0x08090a0b0c0d0e0f, 0x0001020304050607);
    uint64_t wk[16] __attribute__((aligned(32)));
    uint64_t *s = state->w64;

    for (; n; n--, data += 128) {
        const uint64_t *k = qcrypto_sha512_k;
        uint64_t a = s[0], b = s[1], c = s[2], d = s[3];
        uint64_t e = s[4], f = s[5], g = s[6], h = s[7];
        uint64_t ab, bc = b ^ c;
        __m256i m[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            m[j] = _mm256_shuffle_epi8(
                _mm256_loadu_si256((const __m256i *)(data + 32 * j)), bswap);
            put(wk + 4 * j, m[j], k + 4 * j);
        }
        for (k += 16; k < qcrypto_sha512_k + 80; k += 16) {
            SIXTEEN(SCHEDULE);
        }
        SIXTEEN(NOTHING);
        s[0] += a;
        s[1] += b;
        s[2] += c;
        s[3] += d;
        s[4] += e;
        s[5] += f;
        s[6] += g;
        s[7] += h;
    }
    qcrypto_wipe(wk, sizeof(wk));
}

const QCryptoSHAKernel qcrypto_sha512_avx2 = {
    .blocks = blocks,
    .max_lanes = 1,
};
