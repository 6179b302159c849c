/*
 * ChaCha with AVX2: eight blocks wide
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define LANES 8
#define KERNEL qcrypto_chacha_avx2
#include "crypto/backend/builtin/chacha-template.h"

#include <immintrin.h>

INLINE V v_word(const uint32_t *p)
{
    V x;

    /* not by way of a general register, as gcc would have it */
    __asm__("vpbroadcastd %1, %0" : "=x"(x) : "m"(*p));
    return x;
}

INLINE V v_row(const void *p)
{
    return (V)_mm256_broadcastsi128_si256(_mm_loadu_si128(p));
}

/*
 * The state fills the 16 registers, so the masks of the byte shuffles stay in
 * memory, and assembly sees to that.
 */
static const uint8_t mask16[32] __attribute__((aligned(32))) = {
    2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,
    2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};
static const uint8_t mask8[32] __attribute__((aligned(32))) = {
    3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14,
    3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};

INLINE V v_rotl16(V x)
{
    __asm__("vpshufb %1, %0, %0" : "+x"(x) : "m"(mask16));
    return x;
}

INLINE V v_rotl8(V x)
{
    __asm__("vpshufb %1, %0, %0" : "+x"(x) : "m"(mask8));
    return x;
}

INLINE V v_rotl12(V x)
{
    return x << 12 | x >> 20;
}

INLINE V v_rotl7(V x)
{
    return x << 7 | x >> 25;
}

INLINE V v_shuffle1(V x)
{
    return (V)_mm256_shuffle_epi32((__m256i)x, _MM_SHUFFLE(0, 3, 2, 1));
}

INLINE V v_shuffle2(V x)
{
    return (V)_mm256_shuffle_epi32((__m256i)x, _MM_SHUFFLE(1, 0, 3, 2));
}

INLINE V v_shuffle3(V x)
{
    return (V)_mm256_shuffle_epi32((__m256i)x, _MM_SHUFFLE(2, 1, 0, 3));
}

/* y[j] is lane j of the four arguments, in each half */
INLINE void transpose_4(V y[4], V a, V b, V c, V d)
{
    const __m256i ab = _mm256_unpacklo_epi32((__m256i)a, (__m256i)b);
    const __m256i AB = _mm256_unpackhi_epi32((__m256i)a, (__m256i)b);
    const __m256i cd = _mm256_unpacklo_epi32((__m256i)c, (__m256i)d);
    const __m256i CD = _mm256_unpackhi_epi32((__m256i)c, (__m256i)d);

    y[0] = (V)_mm256_unpacklo_epi64(ab, cd);
    y[1] = (V)_mm256_unpackhi_epi64(ab, cd);
    y[2] = (V)_mm256_unpacklo_epi64(AB, CD);
    y[3] = (V)_mm256_unpackhi_epi64(AB, CD);
}

INLINE V lower_halves(V a, V b)
{
    return (V)_mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x20);
}

INLINE V upper_halves(V a, V b)
{
    return (V)_mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x31);
}

INLINE void v_transpose(V x[16])
{
    V y[16];

    for (int i = 0; i < 4; i++) {
        transpose_4(y + 4 * i, x[4 * i], x[4 * i + 1], x[4 * i + 2],
                    x[4 * i + 3]);
    }
    /* y[4 * i + j]: words 4 * i .. 4 * i + 3 of the blocks j and j + 4 */
    for (int j = 0; j < 4; j++) {
        x[2 * j] = lower_halves(y[j], y[4 + j]);
        x[2 * j + 1] = lower_halves(y[8 + j], y[12 + j]);
        x[2 * j + 8] = upper_halves(y[j], y[4 + j]);
        x[2 * j + 9] = upper_halves(y[8 + j], y[12 + j]);
    }
}

INLINE void v_quad(V x[4])
{
    const V a = x[0], b = x[1], c = x[2], d = x[3];

    x[0] = lower_halves(a, b);
    x[1] = lower_halves(c, d);
    x[2] = upper_halves(a, b);
    x[3] = upper_halves(c, d);
}

#define HAVE_V_PAIR

/* a += b, d ^= a of both quarter-rounds */
#define ADD_XOR(a, b, d, e, f, h)                       \
    "vpaddd %[" #b "], %[" #a "], %[" #a "]\n\t"        \
    "vpaddd %[" #f "], %[" #e "], %[" #e "]\n\t"        \
    "vpxor %[" #a "], %[" #d "], %[" #d "]\n\t"         \
    "vpxor %[" #e "], %[" #h "], %[" #h "]\n\t"

#define ROTL_BYTES(d, h, mask)                          \
    "vpshufb %[" #mask "], %[" #d "], %[" #d "]\n\t"    \
    "vpshufb %[" #mask "], %[" #h "], %[" #h "]\n\t"

#define ROTL_BITS(b, f, left, right)                    \
    "vpslld $" #left ", %[" #b "], %[t]\n\t"            \
    "vpslld $" #left ", %[" #f "], %[u]\n\t"            \
    "vpsrld $" #right ", %[" #b "], %[" #b "]\n\t"      \
    "vpsrld $" #right ", %[" #f "], %[" #f "]\n\t"      \
    "vpor %[t], %[" #b "], %[" #b "]\n\t"               \
    "vpor %[u], %[" #f "], %[" #f "]\n\t"

INLINE void v_pair(V *a, V *b, V *c, V *d, V *e, V *f, V *g, V *h)
{
    V t, u;

    __asm__ volatile(
        ADD_XOR(a, b, d, e, f, h) ROTL_BYTES(d, h, mask16)
        ADD_XOR(c, d, b, g, h, f) ROTL_BITS(b, f, 12, 20)
        ADD_XOR(a, b, d, e, f, h) ROTL_BYTES(d, h, mask8)
        ADD_XOR(c, d, b, g, h, f) ROTL_BITS(b, f, 7, 25)
        : [a] "+x"(*a), [b] "+x"(*b), [c] "+x"(*c), [d] "+x"(*d),
          [e] "+x"(*e), [f] "+x"(*f), [g] "+x"(*g), [h] "+x"(*h),
          [t] "=&x"(t), [u] "=&x"(u)
        : [mask16] "m"(mask16), [mask8] "m"(mask8));
}

#include "crypto/backend/builtin/chacha-template.h"
