/*
 * XOR through thirty-two 64-bit words at a time, any CPU
 *
 * The words stand in vectors of the compiler's own (eight words each), which
 * it lowers to whatever registers the base instruction set has.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdint.h>
#include <string.h>

typedef uint64_t Words __attribute__((vector_size(64)));

static inline __attribute__((always_inline)) void load(Words *v, const uint8_t *p)
{
    memcpy(v, p, sizeof(*v));
}

/* by address: vectors wider than the ABI's do not travel as values */
#define XOR_NAME 32regs
#define XOR_VEC Words
#define XOR_UNROLL 4
#define XOR_LOAD(p)                                   \
    __extension__({                                   \
        Words loaded_;                                \
        load(&loaded_, p);                            \
        loaded_;                                      \
    })
#define XOR_STORE(p, v) memcpy(p, &(v), sizeof(v))
#define XOR_XOR(a, b) ((a) ^ (b))
#include "crypto/backend/builtin/xor-template.h"
