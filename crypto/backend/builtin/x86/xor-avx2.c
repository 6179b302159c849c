/*
 * XOR through AVX2
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>

#define XOR_NAME avx2
#define XOR_VEC __m256i
#define XOR_UNROLL 4
#define XOR_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define XOR_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define XOR_XOR(a, b) _mm256_xor_si256(a, b)
#define XOR_END() _mm256_zeroupper()
#include "crypto/backend/builtin/xor-template.h"
