/*
 * AES kernel for AES-NI: 128-bit vectors, eight blocks at once
 *
 * Legacy SSE encodings throughout, for CPUs with AES-NI and no AVX.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL qcrypto_aes_ni
#define KERNEL_NAME "aes-ni"
#define LANES 1
#define XTS_WIDTH 8

typedef __m128i V;

#define ASM_V(x) "+x"(x)
#define ASM_T(x) "=&x"(x)
#define ASM_OUT(x) "=x"(x)
#define ASM_LOAD_KEY(mem, t) "movdqu " mem ", " t "\n\t"
#define ASM_LOAD_KEY_128 ASM_LOAD_KEY
#define ASM_XOR(mem, x) "pxor " mem ", " x "\n\t"
#define ASM_AESENC(k, x) "aesenc " k ", " x "\n\t"
#define ASM_AESDEC(k, x) "aesdec " k ", " x "\n\t"
#define ASM_AESENCLAST(k, x) "aesenclast " k ", " x "\n\t"
#define ASM_AESDECLAST(k, x) "aesdeclast " k ", " x "\n\t"
/* batches have eight tweaks, not sixteen */
#define ASM_BATCH_STEP(j)                                                   \
    ".if " #j " %% 2 == 0\n\t" ASM_STEP(j / 2) ".endif\n\t"
#define ASM_UPPER(...) __VA_ARGS__
#define ASM_XTS_IN(i, x, unused)                                            \
    "movdqu 16 * " #i "(%[src]), " x "\n\t"                                 \
    "pxor %[k], " x "\n\t"                                                  \
    "pxor 16 * " #i "(%[tw]), " x "\n\t"
#define ASM_XTS_OUT(i, x, LAST)                                             \
    LAST("%[k]", x)                                                         \
    "pxor 16 * " #i "(%[tw]), " x "\n\t"                                    \
    "movdqu " x ", 16 * " #i "(%[dst])\n\t"

#define v_load(p) _mm_loadu_si128((const void *)(p))
#define v_store(p, v) _mm_storeu_si128((void *)(p), v)
#define v_load_part(p, len) v_load(p)       /* one lane is always whole */
#define v_store_part(p, v, len) v_store(p, v)
/* the blocks at p + at[0], p + at[1], ... */
#define v_gather(p, at) v_load((p) + *(at))
#define v_scatter(p, at, v) v_store((p) + *(at), v)
#define v_broadcast(p) v_load(p)
#define v_zero() _mm_setzero_si128()
#define v_all(x) (x)
#define v_xor _mm_xor_si128
#define v_enc _mm_aesenc_si128
#define v_enclast _mm_aesenclast_si128
#define v_dec _mm_aesdec_si128
#define v_declast _mm_aesdeclast_si128
#define v_shl64(v, k) _mm_slli_epi64(v, k)
/* vector i of tweaks: shifted by i * LANES + lane, and what leaves by that */
#define v_shl_lanes(v, i) _mm_slli_epi64(v, i)
#define v_shr_lanes(v, i) _mm_srli_epi64(v, 64 - (i))
#define v_swap64(v) _mm_shuffle_epi32(v, 0x4e)
#define v_low64(v) _mm_move_epi64(v)
#define v_add64 _mm_add_epi64
#define v_count(n) _mm_set_epi64x(0, n)
#define v_last_byte(n) _mm_set_epi64x((uint64_t)(n) << 56, 0)
#define v_counters(hi, lo) _mm_set_epi64x(hi, lo)
#define v_bswap(v)                                                          \
    _mm_shuffle_epi8(v, _mm_set_epi64x(0x0001020304050607,                  \
                                       0x08090a0b0c0d0e0f))
/* the last block of prev, then all of v but its last */
#define v_shift_in(prev, v) ((void)(v), prev)

#include "aes-template.h"
