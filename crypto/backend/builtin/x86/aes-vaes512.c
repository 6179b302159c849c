/*
 * AES kernel for VAES with AVX-512: 512-bit vectors, 32 blocks at once
 *
 * XTS takes 16 blocks at once: four vectors keep the AES units busy there
 * too, and a shorter batch has its first tweaks sooner.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL qcrypto_aes_vaes512
#define KERNEL_NAME "aes-vaes512"
#define LANES 4
#define XTS_WIDTH 4

typedef __m512i V;

#define ASM_V(x) "+v"(x)
#define ASM_T(x) "=&v"(x)
#define ASM_OUT(x) "=v"(x)
#define ASM_LOAD_KEY(mem, t) "vbroadcasti32x4 " mem ", " t "\n\t"
#define ASM_LOAD_KEY_128(mem, t) "vmovdqu " mem ", " t "\n\t"
#define ASM_XOR(mem, x) "vpxorq " mem ", " x ", " x "\n\t"
#define ASM_AESENC(k, x) "vaesenc " k ", " x ", " x "\n\t"
#define ASM_AESDEC(k, x) "vaesdec " k ", " x ", " x "\n\t"
#define ASM_AESENCLAST(k, x) "vaesenclast " k ", " x ", " x "\n\t"
#define ASM_AESDECLAST(k, x) "vaesdeclast " k ", " x ", " x "\n\t"
#define ASM_BATCH_STEP ASM_STEP
/* four vectors are enough in XTS */
#define ASM_UPPER(...)
#define ASM_XTS_IN(i, x, unused)                                            \
    "vpxorq 64 * " #i "(%[tw]), %[k], " x "\n\t"                            \
    "vpxorq 64 * " #i "(%[src]), " x ", " x "\n\t"
#define ASM_XTS_OUT(i, x, LAST)                                             \
    "vpxorq 64 * " #i "(%[tw]), %[k], %[t]\n\t"                             \
    LAST("%[t]", x)                                                         \
    "vmovdqu64 " x ", 64 * " #i "(%[dst])\n\t"

/* the lanes of the first len bytes, of which no other is touched */
#define v_part(len) ((__mmask8)((1u << ((len) / 8)) - 1))
#define v_load(p) _mm512_loadu_si512(p)
#define v_store(p, v) _mm512_storeu_si512(p, v)
#define v_load_part(p, len) _mm512_maskz_loadu_epi64(v_part(len), p)
#define v_store_part(p, v, len) _mm512_mask_storeu_epi64(p, v_part(len), v)
/* the blocks at p + at[0], p + at[1], ... */
#define v_gather(p, at)                                                     \
    _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(               \
        _mm512_castsi128_si512(load_block((p) + (at)[0])),                  \
        load_block((p) + (at)[1]), 1), load_block((p) + (at)[2]), 2),       \
        load_block((p) + (at)[3]), 3)
#define v_scatter(p, at, v)                                                 \
    (store_block((p) + (at)[0], _mm512_castsi512_si128(v)),                 \
     store_block((p) + (at)[1], _mm512_extracti32x4_epi32(v, 1)),           \
     store_block((p) + (at)[2], _mm512_extracti32x4_epi32(v, 2)),           \
     store_block((p) + (at)[3], _mm512_extracti32x4_epi32(v, 3)))
#define v_broadcast(p)                                                      \
    _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)(p)))
#define v_zero() _mm512_setzero_si512()
#define v_all(x) _mm512_broadcast_i32x4(x)
#define v_xor _mm512_xor_si512
#define v_enc _mm512_aesenc_epi128
#define v_enclast _mm512_aesenclast_epi128
#define v_dec _mm512_aesdec_epi128
#define v_declast _mm512_aesdeclast_epi128
#define v_shl64(v, k) _mm512_slli_epi64(v, k)
/* vector i of tweaks: shifted by i * LANES + lane, and what leaves by that */
#define v_by_lane(n, d)                                                     \
    _mm512_set_epi64((n) + 3 * (d), (n) + 3 * (d), (n) + 2 * (d),           \
                     (n) + 2 * (d), (n) + (d), (n) + (d), n, n)
#define v_shl_lanes(v, i) _mm512_sllv_epi64(v, v_by_lane(4 * (i), 1))
#define v_shr_lanes(v, i) _mm512_srlv_epi64(v, v_by_lane(64 - 4 * (i), -1))
#define v_swap64(v) _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4e)
#define v_low64(v) _mm512_maskz_mov_epi64(0x55, v)
#define v_add64 _mm512_add_epi64
#define v_count(n) _mm512_maskz_set1_epi64(0x55, n)
#define v_last_byte(n) _mm512_maskz_set1_epi64(0xaa, (uint64_t)(n) << 56)
#define v_counters(hi, lo)                                                  \
    _mm512_add_epi64(_mm512_broadcast_i32x4(_mm_set_epi64x(hi, lo)),        \
                     _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0))
#define v_bswap(v)                                                          \
    _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(_mm_set_epi64x(           \
        0x0001020304050607, 0x08090a0b0c0d0e0f)))
/* the last block of prev, then all of v but its last */
#define v_shift_in(prev, v) _mm512_alignr_epi64(v, prev, 6)

#include "aes-template.h"
