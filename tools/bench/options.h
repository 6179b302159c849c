/*
 * The options that all programs over the engine share, as numbers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_OPTIONS_H
#define QCRYPTO_TOOLS_BENCH_OPTIONS_H

#include <glib.h>
#include <stdint.h>

/* A whole number between min and max; @name is the option's, for errors. */
int qcrypto_bench_parse_count(const char *name, const char *text, uint64_t min,
                              uint64_t max, uint64_t *value, GError **errp);

/* The same with a suffix: "4096", "4k", "1m", "1g" (2^10, 2^20, 2^30). */
int qcrypto_bench_parse_size(const char *name, const char *text, uint64_t min,
                             uint64_t max, uint64_t *value, GError **errp);

/* Seconds, a decimal fraction allowed, between min and max. */
int qcrypto_bench_parse_seconds(const char *name, const char *text, double min,
                                double max, double *value, GError **errp);

/* What the options of that name take everywhere. */
#define QCRYPTO_BENCH_TIME_MIN      0.001
#define QCRYPTO_BENCH_TIME_MAX      3600
#define QCRYPTO_BENCH_THREADS_MAX   1024
#define QCRYPTO_BENCH_FIXED_MIB_MAX ((uint64_t)1 << 20)
#define QCRYPTO_BENCH_MIB           ((uint64_t)1 << 20)

#endif
