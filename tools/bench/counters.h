/*
 * The CPU's and the kernel's counters, through perf_event_open; and faults,
 * context switches, user and system time, through getrusage
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
    QCRYPTO_BENCH_CYCLES,
    QCRYPTO_BENCH_INSTRUCTIONS,
    QCRYPTO_BENCH_BRANCHES,
    QCRYPTO_BENCH_BRANCH_MISSES,
    QCRYPTO_BENCH_CACHE_MISSES,
    QCRYPTO_BENCH_TASK_CLOCK_NS,
    QCRYPTO_BENCH_PAGE_FAULTS, /* from here on every host has them */
    QCRYPTO_BENCH_CONTEXT_SWITCHES,
    QCRYPTO_BENCH_USER_NS,
    QCRYPTO_BENCH_SYSTEM_NS,
    QCRYPTO_BENCH_NCOUNTERS,
};

/* Names as in the results: "cycles", "instructions", ...; units in them. */
extern const char *const qcrypto_bench_counter_names[QCRYPTO_BENCH_NCOUNTERS];

/* Sums over all samples of a case, those included that were taken again. */
typedef struct QCryptoBenchCounters {
    bool have[QCRYPTO_BENCH_NCOUNTERS];
    uint64_t value[QCRYPTO_BENCH_NCOUNTERS];
    uint64_t calls; /* requests and */
    uint64_t bytes; /* bytes that were processed meanwhile */
    bool kernel;    /* the CPU's count what the kernel does, too */
} QCryptoBenchCounters;

/* Of this process; -1 for what the host does not have. */
typedef struct QCryptoBenchCounterSet {
    int fd[QCRYPTO_BENCH_NCOUNTERS];
    /* at the start: what threads that have ended counted is never reset */
    uint64_t base[QCRYPTO_BENCH_NCOUNTERS];
    uint64_t usage[QCRYPTO_BENCH_NCOUNTERS - QCRYPTO_BENCH_PAGE_FAULTS];
    bool kernel;
} QCryptoBenchCounterSet;

void qcrypto_bench_counters_open(QCryptoBenchCounterSet *set);
void qcrypto_bench_counters_start(QCryptoBenchCounterSet *set);
/* Stops them and adds to @sums what they counted since the start. */
void qcrypto_bench_counters_stop(const QCryptoBenchCounterSet *set,
                                 uint64_t bytes, uint64_t calls,
                                 QCryptoBenchCounters *sums);
void qcrypto_bench_counters_close(QCryptoBenchCounterSet *set);

/* Cycles are counted here, as hardware counts them. */
bool qcrypto_bench_counts_cycles(void);

/*
 * Which counters this host lacks and why, one line, NULL when it has all;
 * to be freed with g_free.
 */
char *qcrypto_bench_counters_missing(void);

/*
 * The frequency at which this thread's core runs just now, Hz; 0 where it
 * cannot be told.  An estimate: a chain of additions, each of which waits for
 * the one before and takes a cycle, against the clock.  Some 0.7 ms.
 */
double qcrypto_bench_frequency_estimate(void);

#endif
