/*
 * XOR through eight 64-bit registers, any CPU
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdint.h>
#include <string.h>

static inline uint64_t load(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void store(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof(v));
}

#define XOR_NAME 8regs
#define XOR_VEC uint64_t
#define XOR_UNROLL 8
#define XOR_LOAD(p) load(p)
#define XOR_STORE(p, v) store(p, v)
#define XOR_XOR(a, b) ((a) ^ (b))
#include "crypto/backend/builtin/xor-template.h"
