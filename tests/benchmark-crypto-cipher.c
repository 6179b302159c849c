/*
 * Benchmarks of the ciphers
 *
 *     benchmark-crypto-cipher --tap -k -p /crypto/cipher/aes-256/xts
 *     benchmark-crypto-cipher --fixed-mib 500 \
 *         -p /crypto/cipher/aes-256/xts/builtin/aes-vaes/4096/encrypt
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "cipher");
}
