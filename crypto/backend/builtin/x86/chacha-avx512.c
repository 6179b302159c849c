/*
 * ChaCha with AVX-512: 16 blocks wide
 *
 * Rotations are one instruction, the state takes half of the registers, and
 * the end of a message is a masked load and store.
 *
 * Selected before AVX2 because it was measured on Zen 4 to be 1.5 times as
 * fast from 1 KiB on, and no slower in between but for messages of up to two
 * blocks (38 against 31 ns with 8 rounds).  Intel's server CPUs before Ice
 * Lake lower their clock for 512-bit work, other code with it; there,
 * QCRYPTO_CPU=-avx512f brings the AVX2 kernel back.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define LANES  16
#define KERNEL qcrypto_chacha_avx512
#include "crypto/backend/builtin/chacha-template.h"

#include <immintrin.h>

INLINE V v_word(const uint32_t *p)
{
    return v_splat(*p);
}

INLINE V v_row(const void *p)
{
    return (V)_mm512_broadcast_i32x4(_mm_loadu_si128(p));
}

INLINE V v_rotl16(V x)
{
    return (V)_mm512_rol_epi32((__m512i)x, 16);
}

INLINE V v_rotl12(V x)
{
    return (V)_mm512_rol_epi32((__m512i)x, 12);
}

INLINE V v_rotl8(V x)
{
    return (V)_mm512_rol_epi32((__m512i)x, 8);
}

INLINE V v_rotl7(V x)
{
    return (V)_mm512_rol_epi32((__m512i)x, 7);
}

INLINE V v_shuffle1(V x)
{
    return (V)_mm512_shuffle_epi32((__m512i)x, _MM_PERM_ADCB);
}

INLINE V v_shuffle2(V x)
{
    return (V)_mm512_shuffle_epi32((__m512i)x, _MM_PERM_BADC);
}

INLINE V v_shuffle3(V x)
{
    return (V)_mm512_shuffle_epi32((__m512i)x, _MM_PERM_CBAD);
}

/* y[j] is lane j of the four arguments, in each quarter */
INLINE void transpose_4(V y[4], V a, V b, V c, V d)
{
    const __m512i ab = _mm512_unpacklo_epi32((__m512i)a, (__m512i)b);
    const __m512i AB = _mm512_unpackhi_epi32((__m512i)a, (__m512i)b);
    const __m512i cd = _mm512_unpacklo_epi32((__m512i)c, (__m512i)d);
    const __m512i CD = _mm512_unpackhi_epi32((__m512i)c, (__m512i)d);

    y[0] = (V)_mm512_unpacklo_epi64(ab, cd);
    y[1] = (V)_mm512_unpackhi_epi64(ab, cd);
    y[2] = (V)_mm512_unpacklo_epi64(AB, CD);
    y[3] = (V)_mm512_unpackhi_epi64(AB, CD);
}

/* quarter i of y[j] is quarter j of the i-th argument */
INLINE void quarters_4(V y[4], V a, V b, V c, V d)
{
    const __m512i ab = _mm512_shuffle_i32x4((__m512i)a, (__m512i)b, 0x44);
    const __m512i AB = _mm512_shuffle_i32x4((__m512i)a, (__m512i)b, 0xee);
    const __m512i cd = _mm512_shuffle_i32x4((__m512i)c, (__m512i)d, 0x44);
    const __m512i CD = _mm512_shuffle_i32x4((__m512i)c, (__m512i)d, 0xee);

    y[0] = (V)_mm512_shuffle_i32x4(ab, cd, 0x88);
    y[1] = (V)_mm512_shuffle_i32x4(ab, cd, 0xdd);
    y[2] = (V)_mm512_shuffle_i32x4(AB, CD, 0x88);
    y[3] = (V)_mm512_shuffle_i32x4(AB, CD, 0xdd);
}

INLINE void v_transpose(V x[16])
{
    V y[16];

    for (int i = 0; i < 4; i++) {
        transpose_4(y + 4 * i, x[4 * i], x[4 * i + 1], x[4 * i + 2],
                    x[4 * i + 3]);
    }
    /* y[4 * i + j]: words 4 * i .. 4 * i + 3 of the blocks j, j + 4, ... */
    for (int j = 0; j < 4; j++) {
        V z[4];

        quarters_4(z, y[j], y[4 + j], y[8 + j], y[12 + j]);
        for (int q = 0; q < 4; q++) {
            x[4 * q + j] = z[q];
        }
    }
}

INLINE void v_quad(V x[4])
{
    quarters_4(x, x[0], x[1], x[2], x[3]);
}

#define HAVE_V_PUT_PART

INLINE void v_put_part(uint8_t *out, const uint8_t *in, V x, size_t n)
{
    const __mmask64 mask = ~UINT64_C(0) >> (64 - n); /* 0 < n < 64 */

    if (in) {
        x ^= (V)_mm512_maskz_loadu_epi8(mask, in);
    }
    _mm512_mask_storeu_epi8(out, mask, (__m512i)x);
}

#include "crypto/backend/builtin/chacha-template.h"
