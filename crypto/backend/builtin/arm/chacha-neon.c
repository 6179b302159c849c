/*
 * ChaCha with NEON (AArch64): four blocks wide, 32 registers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define LANES  4
#define KERNEL qcrypto_chacha_neon
#include "crypto/backend/builtin/chacha-template.h"

#include <arm_neon.h>

INLINE V v_word(const uint32_t *p)
{
    return (V)vld1q_dup_u32(p);
}

INLINE V v_row(const void *p)
{
    return v_load(p);
}

INLINE V v_rotl16(V x)
{
    return (V)vrev32q_u16((uint16x8_t)x);
}

/* shift one part into place, then the other one in beside it */
INLINE V v_rotl12(V x)
{
    return (V)vsriq_n_u32(vshlq_n_u32((uint32x4_t)x, 12), (uint32x4_t)x, 20);
}

INLINE V v_rotl8(V x)
{
    static const uint8_t order[16] = {3,  0, 1, 2,  7,  4,  5,  6,
                                      11, 8, 9, 10, 15, 12, 13, 14};

    return (V)vqtbl1q_u8((uint8x16_t)x, vld1q_u8(order));
}

INLINE V v_rotl7(V x)
{
    return (V)vsriq_n_u32(vshlq_n_u32((uint32x4_t)x, 7), (uint32x4_t)x, 25);
}

INLINE V v_shuffle1(V x)
{
    return (V)vextq_u32((uint32x4_t)x, (uint32x4_t)x, 1);
}

INLINE V v_shuffle2(V x)
{
    return (V)vextq_u32((uint32x4_t)x, (uint32x4_t)x, 2);
}

INLINE V v_shuffle3(V x)
{
    return (V)vextq_u32((uint32x4_t)x, (uint32x4_t)x, 3);
}

/* y[j] is lane j of the four arguments */
INLINE void transpose_4(V y[4], V a, V b, V c, V d)
{
    const uint64x2_t ac = (uint64x2_t)vzip1q_u32((uint32x4_t)a, (uint32x4_t)b);
    const uint64x2_t AC = (uint64x2_t)vzip2q_u32((uint32x4_t)a, (uint32x4_t)b);
    const uint64x2_t bd = (uint64x2_t)vzip1q_u32((uint32x4_t)c, (uint32x4_t)d);
    const uint64x2_t BD = (uint64x2_t)vzip2q_u32((uint32x4_t)c, (uint32x4_t)d);

    y[0] = (V)vzip1q_u64(ac, bd);
    y[1] = (V)vzip2q_u64(ac, bd);
    y[2] = (V)vzip1q_u64(AC, BD);
    y[3] = (V)vzip2q_u64(AC, BD);
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

#include "crypto/backend/builtin/chacha-template.h"
