/*
 * The CPU's and the kernel's counters, through perf_event_open; and user and
 * system time, through getrusage
 *
 * Many hosts (virtual machines, containers) have none or part of the former.
 * What could not be opened is absent in the results, and why can be told.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_COUNTERS_H
#define QCRYPTO_TOOLS_BENCH_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QCRYPTO_BENCH_USER_NS = 8, /* the last two, which every host has */
    QCRYPTO_BENCH_SYSTEM_NS,
    QCRYPTO_BENCH_NCOUNTERS,
};

/* Names as in the results: "cycles", "instructions", ...; units in them. */
extern const char *const qcrypto_bench_counter_names[QCRYPTO_BENCH_NCOUNTERS];

/* Sums over all samples of a case. */
typedef struct QCryptoBenchCounters {
    bool have[QCRYPTO_BENCH_NCOUNTERS];
    uint64_t value[QCRYPTO_BENCH_NCOUNTERS];
    uint64_t bytes; /* that were processed meanwhile */
} QCryptoBenchCounters;

/* Of this process; -1 for what the host does not have. */
typedef struct QCryptoBenchCounterSet {
    int fd[QCRYPTO_BENCH_NCOUNTERS];
    /* at the start: what threads that have ended counted is never reset */
    uint64_t base[QCRYPTO_BENCH_NCOUNTERS];
    uint64_t times[2];
} QCryptoBenchCounterSet;

void qcrypto_bench_counters_open(QCryptoBenchCounterSet *set);
void qcrypto_bench_counters_start(QCryptoBenchCounterSet *set);
/* Stops them and adds to @sums what they counted since the start. */
void qcrypto_bench_counters_stop(const QCryptoBenchCounterSet *set,
                                 uint64_t bytes, QCryptoBenchCounters *sums);
void qcrypto_bench_counters_close(QCryptoBenchCounterSet *set);

/*
 * Which counters this host lacks and why, one line, NULL when it has all;
 * to be freed with g_free.
 */
char *qcrypto_bench_counters_missing(void);

#endif
