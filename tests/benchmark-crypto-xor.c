/*
 * Benchmarks of the XOR templates, beside memcpy, the compiler's own loops and
 * ISA-L's xor_gen
 *
 *     benchmark-crypto-xor --tap -k -p /crypto/xor/xor-5
 *     benchmark-crypto-xor --fixed-mib 500 \
 *         -p /crypto/xor/xor-2/builtin/avx2/4096/xor
 *
 * A rate counts the bytes of all sources; N MiB of --fixed-mib are those of
 * each source.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "xor");
}
