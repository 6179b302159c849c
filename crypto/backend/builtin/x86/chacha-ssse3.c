/*
 * ChaCha with SSSE3: four blocks wide
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define LANES 4
#define KERNEL qcrypto_chacha_ssse3
#include "crypto/backend/builtin/chacha-template.h"

#include <immintrin.h>

INLINE V v_word(const uint32_t *p)
{
    return v_splat(*p);
}

INLINE V v_row(const void *p)
{
    return (V)_mm_loadu_si128(p);
}

/*
 * The state fills the 16 registers, so the masks of the byte shuffles stay in
 * memory, and assembly sees to that.
 */
static const uint8_t mask16[16] __attribute__((aligned(16))) = {
    2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};
static const uint8_t mask8[16] __attribute__((aligned(16))) = {
    3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};

INLINE V v_rotl16(V x)
{
    __asm__("pshufb %1, %0" : "+x"(x) : "m"(mask16));
    return x;
}

INLINE V v_rotl8(V x)
{
    __asm__("pshufb %1, %0" : "+x"(x) : "m"(mask8));
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
    return (V)_mm_shuffle_epi32((__m128i)x, _MM_SHUFFLE(0, 3, 2, 1));
}

INLINE V v_shuffle2(V x)
{
    return (V)_mm_shuffle_epi32((__m128i)x, _MM_SHUFFLE(1, 0, 3, 2));
}

INLINE V v_shuffle3(V x)
{
    return (V)_mm_shuffle_epi32((__m128i)x, _MM_SHUFFLE(2, 1, 0, 3));
}

/* y[j] is lane j of the four arguments */
INLINE void transpose_4(V y[4], V a, V b, V c, V d)
{
    const __m128i ab = _mm_unpacklo_epi32((__m128i)a, (__m128i)b);
    const __m128i AB = _mm_unpackhi_epi32((__m128i)a, (__m128i)b);
    const __m128i cd = _mm_unpacklo_epi32((__m128i)c, (__m128i)d);
    const __m128i CD = _mm_unpackhi_epi32((__m128i)c, (__m128i)d);

    y[0] = (V)_mm_unpacklo_epi64(ab, cd);
    y[1] = (V)_mm_unpackhi_epi64(ab, cd);
    y[2] = (V)_mm_unpacklo_epi64(AB, CD);
    y[3] = (V)_mm_unpackhi_epi64(AB, CD);
}

INLINE void v_transpose(V x[16])
{
    V y[16];

    for (int i = 0; i < 4; i++) {
        transpose_4(y + 4 * i, x[4 * i], x[4 * i + 1], x[4 * i + 2],
                    x[4 * i + 3]);
    }
    /* y[4 * i + j]: words 4 * i .. 4 * i + 3 of block j */
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            x[4 * j + i] = y[4 * i + j];
        }
    }
}

INLINE void v_quad(V x[4])
{
    (void)x; /* the rows of one block are in order */
}

#define HAVE_V_PAIR

/* a += b, d ^= a of both quarter-rounds */
#define ADD_XOR(a, b, d, e, f, h)                       \
    "paddd %[" #b "], %[" #a "]\n\t"                    \
    "paddd %[" #f "], %[" #e "]\n\t"                    \
    "pxor %[" #a "], %[" #d "]\n\t"                     \
    "pxor %[" #e "], %[" #h "]\n\t"

#define ROTL_BYTES(d, h, mask)                          \
    "pshufb %[" #mask "], %[" #d "]\n\t"                \
    "pshufb %[" #mask "], %[" #h "]\n\t"

#define ROTL_BITS(b, f, left, right)                    \
    "movdqa %[" #b "], %[t]\n\t"                        \
    "movdqa %[" #f "], %[u]\n\t"                        \
    "pslld $" #left ", %[t]\n\t"                        \
    "pslld $" #left ", %[u]\n\t"                        \
    "psrld $" #right ", %[" #b "]\n\t"                  \
    "psrld $" #right ", %[" #f "]\n\t"                  \
    "por %[t], %[" #b "]\n\t"                           \
    "por %[u], %[" #f "]\n\t"

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
