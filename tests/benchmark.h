/*
 * The g_test benchmarks of one kind
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_BENCHMARK_H
#define TESTS_BENCHMARK_H

/* main() for a kind of the measuring engine: "cipher", "kdf" */
int benchmark_main(int argc, char **argv, const char *kind);

#endif
