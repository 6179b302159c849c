/*
 * XOR through NEON
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <arm_neon.h>

#define XOR_NAME neon
#define XOR_VEC uint8x16_t
#define XOR_UNROLL 4
#define XOR_LOAD(p) vld1q_u8(p)
#define XOR_STORE(p, v) vst1q_u8(p, v)
#define XOR_XOR(a, b) veorq_u8(a, b)
#include "crypto/backend/builtin/xor-template.h"
