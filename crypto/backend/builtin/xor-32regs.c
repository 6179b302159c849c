/*
 * XOR through thirty-two 64-bit words at a time, any CPU
 *
 * The words stand in sixteen vectors of the compiler's own, two in each, which
 * it lowers to registers of 128 bits where the base instruction set has them
 * and to pairs of general ones elsewhere.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdint.h>
#include <string.h>

typedef uint64_t Words __attribute__((vector_size(16)));

#define XOR_NAME 32regs
#define XOR_VEC Words
#define XOR_UNROLL 16
/* no functions: not every ABI passes vectors as values */
#define XOR_LOAD(p)                        \
    __extension__({                        \
        Words loaded_;                     \
        memcpy(&loaded_, p, sizeof(Words)); \
        loaded_;                           \
    })
#define XOR_STORE(p, v) memcpy(p, &(v), sizeof(v))
#define XOR_XOR(a, b) ((a) ^ (b))
#include "crypto/backend/builtin/xor-template.h"
