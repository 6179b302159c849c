/*
 * Results for people and for programs
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_REPORT_H
#define QCRYPTO_TOOLS_BENCH_REPORT_H

#include "tools/bench/machine.h"

/* Tables of candidates x sizes, one after the other, as text; g_free. */
char *qcrypto_bench_tables(const QCryptoBenchResult *results, size_t n);

/* All results are of one configuration, and differ in who did the work. */
bool qcrypto_bench_is_single(const QCryptoBenchResult *results, size_t n);

/*
 * One configuration, in the layout of the proposed kernel benchmark: the run
 * set in a line, then throughput, packets a second and time; g_free.
 */
char *qcrypto_bench_single(const QCryptoBenchResult *results, size_t n);

/*
 * Go's benchmark format, a line for each sample, and the machine's record in
 * "#" lines but for what makes results incomparable, which is configuration;
 * g_free.
 */
char *qcrypto_bench_benchfmt(GVariant *machine,
                             const QCryptoBenchResult *results, size_t n);

/* The object of docs/bench-schema.json as text; NULL with an error when
 * this build has no JSON.  g_free. */
char *qcrypto_bench_json(GVariant *machine, const QCryptoBenchResult *results,
                         size_t n, char *const *notes, GError **errp);

/* The machine's record alone, as an object; the same. */
char *qcrypto_bench_machine_json(GVariant *machine, GError **errp);

/* "4096" or "8x512" */
char *qcrypto_bench_size_text(const QCryptoBenchCase *c);

/* "openssl evp", and once what is called the same twice; g_free. */
char *qcrypto_bench_name_text(const QCryptoBenchCase *c);

/* "2000 MiB/s (2.097 GB/s)": both units, each by its name; g_free. */
char *qcrypto_bench_rate_text(double bytes_per_sec);

#endif
