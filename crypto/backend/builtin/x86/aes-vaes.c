/*
 * AES kernel for VAES with AVX2: 256-bit vectors, 16 blocks at once
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL qcrypto_aes_vaes
#define KERNEL_NAME "aes-vaes"
#define LANES 2
#define XTS_WIDTH 8

typedef __m256i V;

#define ASM_V(x) "+x"(x)
#define ASM_T(x) "=&x"(x)
#define ASM_OUT(x) "=x"(x)
#define ASM_LOAD_KEY(mem, t) "vbroadcasti128 " mem ", " t "\n\t"
#define ASM_LOAD_KEY_128(mem, t) "vmovdqu " mem ", " t "\n\t"
#define ASM_XOR(mem, x) "vpxor " mem ", " x ", " x "\n\t"
#define ASM_AESENC(k, x) "vaesenc " k ", " x ", " x "\n\t"
#define ASM_AESDEC(k, x) "vaesdec " k ", " x ", " x "\n\t"
#define ASM_AESENCLAST(k, x) "vaesenclast " k ", " x ", " x "\n\t"
#define ASM_AESDECLAST(k, x) "vaesdeclast " k ", " x ", " x "\n\t"
#define ASM_BATCH_STEP ASM_STEP
#define ASM_UPPER(...) __VA_ARGS__
#define ASM_XTS_IN(i, x, unused)                                            \
    "vpxor 32 * " #i "(%[tw]), %[k], " x "\n\t"                             \
    "vpxor 32 * " #i "(%[src]), " x ", " x "\n\t"
#define ASM_XTS_OUT(i, x, LAST)                                             \
    "vpxor 32 * " #i "(%[tw]), %[k], %[t]\n\t"                              \
    LAST("%[t]", x)                                                         \
    "vmovdqu " x ", 32 * " #i "(%[dst])\n\t"

#define v_load(p) _mm256_loadu_si256((const void *)(p))
#define v_store(p, v) _mm256_storeu_si256((void *)(p), v)
/* less than two blocks is one */
#define v_load_part(p, len)                                                 \
    _mm256_zextsi128_si256(_mm_loadu_si128((const void *)(p)))
#define v_store_part(p, v, len)                                             \
    _mm_storeu_si128((void *)(p), _mm256_castsi256_si128(v))
/* the blocks at p + at[0], p + at[1], ... */
#define v_gather(p, at)                                                     \
    _mm256_inserti128_si256(                                                \
        _mm256_castsi128_si256(load_block((p) + (at)[0])),                  \
        load_block((p) + (at)[1]), 1)
#define v_scatter(p, at, v)                                                 \
    (store_block((p) + (at)[0], _mm256_castsi256_si128(v)),                 \
     store_block((p) + (at)[1], _mm256_extracti128_si256(v, 1)))
#define v_broadcast(p)                                                      \
    _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(p)))
#define v_zero() _mm256_setzero_si256()
#define v_all(x) _mm256_broadcastsi128_si256(x)
#define v_xor _mm256_xor_si256
#define v_enc _mm256_aesenc_epi128
#define v_enclast _mm256_aesenclast_epi128
#define v_dec _mm256_aesdec_epi128
#define v_declast _mm256_aesdeclast_epi128
#define v_shl64(v, k) _mm256_slli_epi64(v, k)
/* vector i of tweaks: shifted by i * LANES + lane, and what leaves by that */
#define v_shl_lanes(v, i)                                                   \
    _mm256_sllv_epi64(v, _mm256_set_epi64x(2 * (i) + 1, 2 * (i) + 1,        \
                                           2 * (i), 2 * (i)))
#define v_shr_lanes(v, i)                                                   \
    _mm256_srlv_epi64(v, _mm256_set_epi64x(63 - 2 * (i), 63 - 2 * (i),      \
                                           64 - 2 * (i), 64 - 2 * (i)))
#define v_swap64(v) _mm256_shuffle_epi32(v, 0x4e)
#define v_low64(v)                                                          \
    _mm256_blend_epi32(_mm256_setzero_si256(), v, 0x33)
#define v_add64 _mm256_add_epi64
#define v_count(n) _mm256_set_epi64x(0, n, 0, n)
#define v_last_byte(n)                                                      \
    _mm256_set_epi64x((uint64_t)(n) << 56, 0, (uint64_t)(n) << 56, 0)
#define v_counters(hi, lo)                                                  \
    _mm256_add_epi64(_mm256_broadcastsi128_si256(_mm_set_epi64x(hi, lo)),   \
                     _mm256_set_epi64x(0, 1, 0, 0))
#define v_bswap(v)                                                          \
    _mm256_shuffle_epi8(v, _mm256_set_epi64x(                               \
        0x0001020304050607, 0x08090a0b0c0d0e0f,                             \
        0x0001020304050607, 0x08090a0b0c0d0e0f))
/* the last block of prev, then all of v but its last */
#define v_shift_in(prev, v) _mm256_permute2x128_si256(prev, v, 0x21)

#include "aes-template.h"
