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

/* The same with a suffix: k, m, g or KiB, MiB, GiB are 2^10, 2^20, 2^30. */
int qcrypto_bench_parse_size(const char *name, const char *text, uint64_t min,
                             uint64_t max, uint64_t *value, GError **errp);

/*
 * One or many (uint64_t), appended to @out: "N"; "A..B", which is A, 2A, 4A
 * and so on, and B; "A..B+S", which is A, A+S and so on, and B.  @parse says
 * what a number is.
 */
typedef int QCryptoBenchParse(const char *name, const char *text, uint64_t min,
                              uint64_t max, uint64_t *value, GError **errp);
int qcrypto_bench_parse_range(const char *name, const char *text,
                              QCryptoBenchParse *parse, uint64_t min,
                              uint64_t max, GArray *out, GError **errp);

/* A mask of NUMA nodes: 0x3, or as a decimal number. */
int qcrypto_bench_parse_mask(const char *name, const char *text,
                             uint64_t *value, GError **errp);

/* Seconds, a decimal fraction allowed, between min and max. */
int qcrypto_bench_parse_seconds(const char *name, const char *text, double min,
                                double max, double *value, GError **errp);

/* "a,b" to a list; NULL stays NULL.  An empty word is an error. */
int qcrypto_bench_split(const char *name, const char *text, char ***list,
                        GError **errp);

/* What the options of that name take everywhere. */
#define QCRYPTO_BENCH_TIME_MIN      0.001
#define QCRYPTO_BENCH_TIME_MAX      3600
#define QCRYPTO_BENCH_THREADS_MAX   1024
#define QCRYPTO_BENCH_FIXED_MIB_MAX ((uint64_t)1 << 20)
#define QCRYPTO_BENCH_MIB           ((uint64_t)1 << 20)

#endif
