/*
 * XOR through SSE2
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <emmintrin.h>

#define XOR_NAME sse2
#define XOR_VEC __m128i
#define XOR_UNROLL 4
#define XOR_LOAD(p) _mm_loadu_si128((const __m128i *)(p))
#define XOR_STORE(p, v) _mm_storeu_si128((__m128i *)(p), v)
#define XOR_XOR(a, b) _mm_xor_si128(a, b)
#include "crypto/backend/builtin/xor-template.h"
