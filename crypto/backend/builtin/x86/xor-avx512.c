/*
 * XOR through AVX-512
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>

#define XOR_NAME avx512
#define XOR_VEC __m512i
#define XOR_UNROLL 4
#define XOR_LOAD(p) _mm512_loadu_si512(p)
#define XOR_STORE(p, v) _mm512_storeu_si512(p, v)
#define XOR_XOR(a, b) _mm512_xor_si512(a, b)
#define XOR_END() _mm256_zeroupper()
#include "crypto/backend/builtin/xor-template.h"
