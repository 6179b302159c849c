/*
 * Benchmarks of compression: zlib-deflate, raw deflate, zstd and lz4 at their
 * default levels, on generated data of which half can be saved
 *
 *     benchmark-crypto-compress --tap -k -p /crypto/compress/zlib-deflate
 *     benchmark-crypto-compress -p \
 *         /crypto/compress/zstd:19/zstd/frame/65536/compress
 *
 * A rate counts the bytes of blocks as they are before compression.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

int main(int argc, char **argv)
{
    return benchmark_main(argc, argv, "compress");
}
