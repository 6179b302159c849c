/*
 * memcpy and the compiler's own loops as peers of the XOR templates
 *
 * The loops are what anybody would write, buffers promised to be apart, with
 * -O3 (this file is compiled so whatever the build type is), once for the base
 * instruction set and once for AVX2.  A template that loses to them would be
 * pointless.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/peer-xor.h"

#include <string.h>

#include "crypto/base/cpu.h"

static int copy(void *dst, const void *const *srcs, size_t n G_GNUC_UNUSED,
                size_t len, GError **errp G_GNUC_UNUSED)
{
    memcpy(dst, srcs[0], len);
    return 0;
}

const QCryptoBenchPeer qcrypto_bench_memcpy = {
    .name = "memcpy",
    .impl = "memcpy",
    .xor = &(const QCryptoBenchXorPeer){.max_sources = 1, .run = copy},
};

#define IN(name) const uint8_t *restrict name
/* loops over 2 to 5 sources, and which of them is meant */
#define LOOPS(suffix, attribute)                                               \
    attribute static void loop2_##suffix(uint8_t *restrict d, IN(a), IN(b),    \
                                         size_t len)                           \
    {                                                                          \
        for (size_t i = 0; i < len; i++) {                                     \
            d[i] = a[i] ^ b[i];                                                \
        }                                                                      \
    }                                                                          \
    attribute static void loop3_##suffix(uint8_t *restrict d, IN(a), IN(b),    \
                                         IN(c), size_t len)                    \
    {                                                                          \
        for (size_t i = 0; i < len; i++) {                                     \
            d[i] = a[i] ^ b[i] ^ c[i];                                         \
        }                                                                      \
    }                                                                          \
    attribute static void loop4_##suffix(uint8_t *restrict d, IN(a), IN(b),    \
                                         IN(c), IN(e), size_t len)             \
    {                                                                          \
        for (size_t i = 0; i < len; i++) {                                     \
            d[i] = a[i] ^ b[i] ^ c[i] ^ e[i];                                  \
        }                                                                      \
    }                                                                          \
    attribute static void loop5_##suffix(uint8_t *restrict d, IN(a), IN(b),    \
                                         IN(c), IN(e), IN(f), size_t len)      \
    {                                                                          \
        for (size_t i = 0; i < len; i++) {                                     \
            d[i] = a[i] ^ b[i] ^ c[i] ^ e[i] ^ f[i];                           \
        }                                                                      \
    }                                                                          \
    static int loop_##suffix(void *d, const void *const *s, size_t n,          \
                             size_t len, GError **errp G_GNUC_UNUSED)          \
    {                                                                          \
        if (n == 2) {                                                          \
            loop2_##suffix(d, s[0], s[1], len);                                \
        } else if (n == 3) {                                                   \
            loop3_##suffix(d, s[0], s[1], s[2], len);                          \
        } else if (n == 4) {                                                   \
            loop4_##suffix(d, s[0], s[1], s[2], s[3], len);                    \
        } else {                                                               \
            loop5_##suffix(d, s[0], s[1], s[2], s[3], s[4], len);              \
        }                                                                      \
        return 0;                                                              \
    }

LOOPS(base, )

const QCryptoBenchPeer qcrypto_bench_loop = {
    .name = "loop",
    .impl = "loop",
    .xor = &(const QCryptoBenchXorPeer){.max_sources = 5, .run = loop_base},
};

#if defined(__x86_64__)
LOOPS(avx2, __attribute__((target("avx2"))))

static bool has_avx2(void)
{
    return qcrypto_cpu_features() & QCRYPTO_CPU_AVX2;
}

const QCryptoBenchPeer qcrypto_bench_loop_avx2 = {
    .name = "loop-avx2",
    .impl = "loop-avx2",
    .xor = &(const QCryptoBenchXorPeer){.max_sources = 5,
                                        .usable = has_avx2,
                                        .run = loop_avx2},
};
#endif
