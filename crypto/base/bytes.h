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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Two ranges of len bytes share some but are not the same. */
static inline bool qcrypto_overlap(const void *in, const void *out, size_t len)
{
    const uintptr_t a = (uintptr_t)in;
    const uintptr_t b = (uintptr_t)out;

    return a != b && (a > b ? a - b : b - a) < len;
}

static inline uint32_t qcrypto_get_le32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline void qcrypto_put_le32(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof(v));
}

/* n of them, one after the other */
static inline void qcrypto_get_le32s(uint32_t *v, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        v[i] = qcrypto_get_le32(p + 4 * i);
    }
}

static inline void qcrypto_put_le32s(uint8_t *p, const uint32_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        qcrypto_put_le32(p + 4 * i, v[i]);
    }
}

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

static inline uint32_t qcrypto_get_be32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline void qcrypto_put_be32(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    memcpy(p, &v, sizeof(v));
}

#endif
