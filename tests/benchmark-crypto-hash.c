/*
 * Benchmarks of the hashes
 *
 *     benchmark-crypto-hash --tap -k -p /crypto/hash/sha256
 *     benchmark-crypto-hash --fixed-mib 500 \
 *         -p /crypto/hash/sha256/nettle/native/65536/digest
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "hash");
}
