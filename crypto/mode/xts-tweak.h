/*
 * Arithmetic of tweaks
 *
 * The bytes of a tweak are a little-endian number (IEEE 1619-2007, 5.2); in
 * between it is two words of the host.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_MODE_XTS_TWEAK_H
#define QCRYPTO_MODE_XTS_TWEAK_H

#include <qcrypto/xts.h>

#include "crypto/mode/context.h"

#define XTS_BLOCK 16

static inline xts_uint128 xts_load(const uint8_t *p)
{
    return (xts_uint128){
        .lo = qcrypto_get_le64(p),
        .hi = qcrypto_get_le64(p + 8),
    };
}

static inline void xts_store(uint8_t *p, xts_uint128 t)
{
    qcrypto_put_le64(p, t.lo);
    qcrypto_put_le64(p + 8, t.hi);
}

/*
 * Times x in GF(2^128): a shift, and what leaves at the top comes back as
 * x^128 = x^7 + x^2 + x + 1.  By a mask, since the bit is secret.
 */
static inline xts_uint128 xts_double(xts_uint128 t)
{
    uint64_t mask = (uint64_t)((int64_t)t.hi >> 63);

    return (xts_uint128){
        .lo = t.lo << 1 ^ (mask & 0x87),
        .hi = t.hi << 1 | t.lo >> 63,
    };
}

/* *dst = *src ^ t, as bytes; dst may be src */
static inline void xts_xor(uint8_t *dst, const uint8_t *src, xts_uint128 t)
{
    qcrypto_put_le64(dst, qcrypto_get_le64(src) ^ t.lo);
    qcrypto_put_le64(dst + 8, qcrypto_get_le64(src + 8) ^ t.hi);
}

#endif
