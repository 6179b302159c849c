/*
 * XOR routines, one template for every kind of register
 *
 * The including file defines
 *
 *     XOR_NAME     suffix of the routines
 *     XOR_VEC      type of a register
 *     XOR_LOAD(p), XOR_STORE(p, v), XOR_XOR(a, b)
 *     XOR_UNROLL   registers in a turn of the loop
 *     XOR_END()    what must follow the last register (optional)
 *
 * and gets qcrypto_xor_ops_<XOR_NAME>, routines for 2 to 5 sources.  A
 * register is finished over all sources and stored before the next is begun:
 * each byte is read once and written once, dst may be any of the sources, and
 * the stores go upwards, so that neighbours can be joined on their way to the
 * cache.  (Several registers at a time, source by source, let the compiler
 * mix the order of the stores, which costs up to a tenth.)  Ordinary stores:
 * non-temporal ones lose below 1 MiB.
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

/* The first n are set; in variables of their own, not to be indexed. */
typedef struct XorSources {
    const uint8_t *a, *b, *c, *d, *e;
} XorSources;

/* n is a constant in each of the callers below */
static inline __attribute__((always_inline)) void
xor_register(uint8_t *dst, XorSources s, size_t i, const int n)
{
    XOR_VEC v = XOR_XOR(XOR_LOAD(s.a + i), XOR_LOAD(s.b + i));

    if (n > 2) {
        v = XOR_XOR(v, XOR_LOAD(s.c + i));
    }
    if (n > 3) {
        v = XOR_XOR(v, XOR_LOAD(s.d + i));
    }
    if (n > 4) {
        v = XOR_XOR(v, XOR_LOAD(s.e + i));
    }
    XOR_STORE(dst + i, v);
}

static inline __attribute__((always_inline)) void
xor_run(uint8_t *dst, const void *const *srcs, size_t len, const int n)
{
    const XorSources s = {srcs[0], srcs[1], n > 2 ? srcs[2] : NULL,
                          n > 3 ? srcs[3] : NULL, n > 4 ? srcs[4] : NULL};
    const size_t w = sizeof(XOR_VEC);
    size_t i = 0;

    /* i + w * XOR_UNROLL <= len: no register reaches past the end */
    for (; len - i >= w * XOR_UNROLL; i += w * XOR_UNROLL) {
#pragma GCC unroll 16
        for (size_t k = 0; k < XOR_UNROLL; k++) {
            xor_register(dst, s, i + k * w, n);
        }
    }
    for (; len - i >= w; i += w) {
        xor_register(dst, s, i, n);
    }
    for (; i < len; i++) {
        uint8_t v = s.a[i] ^ s.b[i];

        v ^= n > 2 ? s.c[i] : 0;
        v ^= n > 3 ? s.d[i] : 0;
        v ^= n > 4 ? s.e[i] : 0;
        dst[i] = v;
    }
    XOR_END();
}

#define XOR_ROUTINE(n)                                                     \
    static void xor_##n(uint8_t *dst, const void *const *srcs, size_t len) \
    {                                                                      \
        xor_run(dst, srcs, len, n);                                        \
    }
XOR_ROUTINE(2)
XOR_ROUTINE(3)
XOR_ROUTINE(4)
XOR_ROUTINE(5)

const QCryptoXorOps XOR_CAT(qcrypto_xor_ops_, XOR_NAME) = {
    .xor_n = {NULL, NULL, xor_2, xor_3, xor_4, xor_5},
};
