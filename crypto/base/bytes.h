/*
 * Numbers in memory: the bytes decide, not the host
 *
 * Right on any endianness and at any address; compilers make one load or
 * store of each.  The compiler's own word is taken for the host's order, so
 * that a cross build can not be misled by another machine's headers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_BYTES_H
#define QCRYPTO_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint64_t qcrypto_get_le64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void qcrypto_put_le64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof(v));
}

static inline uint64_t qcrypto_get_be64(const uint8_t *p)
{
    return __builtin_bswap64(qcrypto_get_le64(p));
}

static inline void qcrypto_put_be64(uint8_t *p, uint64_t v)
{
    qcrypto_put_le64(p, __builtin_bswap64(v));
}

#endif
