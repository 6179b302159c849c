/*
 * The machine that numbers were measured on
 *
 * A record of what decides how fast code runs, as a GVariant: a dictionary
 * a{sv} whose order is that of the output.  Values are
 *
 *   s, b, x, d, or a maybe of these   nothing: not to be known here
 *   as                                several lines
 *   a{ss}                             names with a text each
 *
 * so that text, JSON and Go's benchmark format print it without knowing a
 * name, and nothing is left out because it is unknown.  What the names mean:
 * docs/bench-schema.json.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_MACHINE_H
#define QCRYPTO_TOOLS_BENCH_MACHINE_H

#include "tools/bench/peer.h"

/*
 * Takes the record; some 20 ms, most of them for the frequency.  @root stands
 * before /proc and /sys, "" for this machine's own (tests have others).
 * @peers (NULL-ended, may be NULL) add their versions.  g_variant_unref.
 */
GVariant *qcrypto_bench_machine(const char *root,
                                const QCryptoBenchPeer *const *peers);

/* A text of the record, "unknown" for nothing.  It lives as long as @m. */
const char *qcrypto_bench_machine_get(GVariant *m, const char *name);

/* Its warnings, NULL-ended; g_free the list only. */
const char **qcrypto_bench_machine_warnings(GVariant *m);

/*
 * "name: value" lines: "unknown" for nothing, yes and no, a line for each
 * element ("warnings: TEXT", "libraries.nettle: 3.8.1").  g_free.
 */
char *qcrypto_bench_machine_text(GVariant *m);

/* How busy the machine has been, in ticks since it started. */
typedef struct QCryptoBenchBusy {
    uint64_t total; /* of all CPUs, idle or not; 0: not to be known */
    uint64_t busy;
    uint64_t own; /* this process's part */
} QCryptoBenchBusy;

QCryptoBenchBusy qcrypto_bench_busy(const char *root);

/*
 * The share of all CPUs' time, 0 to 1, that other work (or the hypervisor, for
 * other guests) took from @before to @after; -1 when that was too short to
 * tell or cannot be known.
 */
double qcrypto_bench_others(const QCryptoBenchBusy *before,
                            const QCryptoBenchBusy *after);

/* CPUs as Linux writes them, "0-3,8"; g_free.  @set has @n CPUs. */
char *qcrypto_bench_cpu_list(const bool *set, size_t n);

#endif
