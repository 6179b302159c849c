/*
 * XOR through AVX-512
 *
 * Not the first choice: on a CPU that stores 32 bytes a cycle (AMD Zen 4) it
 * is a sixth slower than AVX2 with two sources and no faster with more.
 * Calibration may find otherwise.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>

#define XOR_NAME avx512
#define XOR_VEC __m512i
#define XOR_UNROLL 2
#define XOR_LOAD(p) _mm512_loadu_si512(p)
#define XOR_STORE(p, v) _mm512_storeu_si512(p, v)
#define XOR_XOR(a, b) _mm512_xor_si512(a, b)
#define XOR_END() _mm256_zeroupper()
#include "crypto/backend/builtin/xor-template.h"
