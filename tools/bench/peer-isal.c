/*
 * ISA-L's xor_gen as a peer of the XOR templates
 *
 * It takes the addresses of the sources and then that of the destination, all
 * aligned to 32 bytes, and chooses among its routines for the CPU by itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <isa-l.h>
#include <string.h>

#include "crypto/base/error.h"
#include "tools/bench/peer-xor.h"

#define MAX_SOURCES 64

static int isal_xor(void *dst, const void *const *srcs, size_t n, size_t len,
                    GError **errp)
{
    void *array[MAX_SOURCES + 1];

    memcpy(array, srcs, n * sizeof(array[0]));
    array[n] = dst;
    if (G_UNLIKELY(len > INT_MAX || xor_gen((int)n + 1, (int)len, array))) {
        return qcrypto_error_library(errp, "isa-l", "xor_gen", "refused");
    }
    return 0;
}

static const char *isal_version(void)
{
    return G_STRINGIFY(ISAL_MAJOR_VERSION) "." G_STRINGIFY(
        ISAL_MINOR_VERSION) "." G_STRINGIFY(ISAL_PATCH_VERSION);
}

const QCryptoBenchPeer qcrypto_bench_isal = {
    .name = "isa-l",
    .impl = "xor_gen",
    .version = isal_version,
    .xor = &(const QCryptoBenchXorPeer){.max_sources = MAX_SOURCES,
                                        .run = isal_xor},
};
