/*
 * Benchmarks of HMAC
 *
 *     benchmark-crypto-hmac --tap -k -p /crypto/hmac/sha256
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "hmac");
}
