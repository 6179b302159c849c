/*
 * Benchmarks of random number generators: ours on ChaCha with 8, 12 and 20
 * rounds, the kernel's, libc's and those of other libraries
 *
 *     benchmark-crypto-random --tap -k -p /crypto/rng/random/qcrypto
 *     benchmark-crypto-random --threads 2 \
 *         -p /crypto/rng/random/qcrypto/chacha8/128/draw
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "rng");
}
