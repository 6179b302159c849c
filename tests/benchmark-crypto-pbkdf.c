/*
 * Benchmarks of key derivation: PBKDF2 and Argon2
 *
 *     benchmark-crypto-pbkdf --tap -k -p /crypto/kdf/pbkdf2-sha256
 *     benchmark-crypto-pbkdf --tap -k -p /crypto/kdf/argon2id-4
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "kdf");
}
