/*
 * XOR routines, one template for every kind of register
 *
 * The including file defines
 *
 *     XOR_NAME     suffix of the routines
 *     XOR_VEC      type of a register
 *     XOR_LOAD(p), XOR_STORE(p, v), XOR_XOR(a, b)
 *     XOR_UNROLL   registers in flight
 *     XOR_END()    what must follow the last register (optional)
 *
 * and gets qcrypto_xor_ops_<XOR_NAME>, routines for 2 to 5 sources.  A group
 * of registers is finished over all sources before the next is begun: each
 * byte is read once and written once, and dst may be any of the sources.
 * Ordinary stores: non-temporal ones lose below 1 MiB.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/backend/builtin/xor.h"

#ifndef XOR_END
#define XOR_END() ((void)0)
#endif

#define XOR_CAT_(a, b) a##b
#define XOR_CAT(a, b) XOR_CAT_(a, b)

/* n is a constant in each of the callers below */
static inline __attribute__((always_inline)) void
xor_run(uint8_t *dst, const uint8_t *const *srcs, size_t len, const int n)
{
    const size_t w = sizeof(XOR_VEC);
    const uint8_t *s[QCRYPTO_XOR_ARITY];
    size_t i = 0;

    for (int j = 0; j < n; j++) {
        s[j] = srcs[j];
    }
    /* i + w * XOR_UNROLL <= len: no register reads past the end */
    for (; len - i >= w * XOR_UNROLL; i += w * XOR_UNROLL) {
        XOR_VEC v[XOR_UNROLL];

#pragma GCC unroll 8
        for (int k = 0; k < XOR_UNROLL; k++) {
            v[k] = XOR_LOAD(s[0] + i + (size_t)k * w);
        }
#pragma GCC unroll 8
        for (int j = 1; j < n; j++) {
#pragma GCC unroll 8
            for (int k = 0; k < XOR_UNROLL; k++) {
                v[k] = XOR_XOR(v[k], XOR_LOAD(s[j] + i + (size_t)k * w));
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < XOR_UNROLL; k++) {
            XOR_STORE(dst + i + (size_t)k * w, v[k]);
        }
    }
    for (; len - i >= w; i += w) {
        XOR_VEC v = XOR_LOAD(s[0] + i);

        for (int j = 1; j < n; j++) {
            v = XOR_XOR(v, XOR_LOAD(s[j] + i));
        }
        XOR_STORE(dst + i, v);
    }
    for (; i < len; i++) {
        uint8_t b = s[0][i];

        for (int j = 1; j < n; j++) {
            b ^= s[j][i];
        }
        dst[i] = b;
    }
    XOR_END();
}

#define XOR_ROUTINE(n)                                                        \
    static void xor_##n(uint8_t *dst, const uint8_t *const *srcs, size_t len) \
    {                                                                         \
        xor_run(dst, srcs, len, n);                                           \
    }
XOR_ROUTINE(2)
XOR_ROUTINE(3)
XOR_ROUTINE(4)
XOR_ROUTINE(5)

const QCryptoXorOps XOR_CAT(qcrypto_xor_ops_, XOR_NAME) = {
    .xor_n = {NULL, NULL, xor_2, xor_3, xor_4, xor_5},
};
