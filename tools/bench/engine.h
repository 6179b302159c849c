/*
 * The measuring engine
 *
 * One engine times everything the library has; what is measured is data:
 *
 *   case    one thing to time: an operation of one algorithm, done by one
 *           implementation, on requests of one size, by so many threads
 *   ops     how its kind is set up, checked, run and torn down
 *   kind    an algtype ("cipher", "object"): turns a request into groups of
 *           cases; one file each, one entry of the table in kinds.c
 *   group   cases that do the same work and so compete; they are measured
 *           interleaved, A B C then C B A, so that none is always the one
 *           that meets the warmer CPU
 *   peer    somebody else's library, measured and never used (peer.h)
 *
 * How a group is measured:
 *
 *   - every case is checked first (ops.verify: known answers), and its
 *     output once more after the timed work (ops.check).  A case that gives
 *     wrong bytes is FAILED and has no number;
 *   - the clock, CLOCK_MONOTONIC_RAW in 64-bit nanoseconds, is read between
 *     batches of requests, never around one; the batch is calibrated, or
 *     given (plan.loop).  Where a batch is so short that reading the clock
 *     would show in the result, the case is FAILED as too short;
 *   - a sample lasts plan.seconds, or does exactly plan.fixed_bytes, so that
 *     an outer `perf stat` compares equal work; in that mode nothing depends
 *     on the clock and nothing else is run;
 *   - a sample during which another process took the CPU away says how busy
 *     the machine is, not how fast the case; by plan.retake it is taken again
 *     where it is short.  Which are left of them is in the results;
 *   - bytes are those of requests that have ended; set-up is outside;
 *   - threads wait for each other at a barrier, and each has an object and
 *     buffers of its own, made and used on the CPU that the plan gives it.
 *     The rate is all bytes over the time from the first start to the last
 *     end;
 *   - with reqnum > 1 each thread keeps so many requests in flight, where the
 *     operation can (ops.submit); a sample ends when all of them have.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_ENGINE_H
#define QCRYPTO_TOOLS_BENCH_ENGINE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/bench/counters.h"

typedef struct QCryptoBenchCase QCryptoBenchCase;
typedef struct QCryptoBenchPeer QCryptoBenchPeer;

/* Functions of a kind; each thread of a case has a state of its own. */
typedef struct QCryptoBenchOps {
    /* Objects, keys, buffers.  NULL with an error: the case is FAILED. */
    void *(*setup)(const QCryptoBenchCase *c, GError **errp);
    /* Names of what serves the state, which need not be what was asked. */
    void (*identify)(const void *state, const char **provider,
                     const char **impl);
    /* Known answers, and every byte of the work that run will do. */
    int (*verify)(void *state, GError **errp);
    /* The timed work: so many requests. */
    int (*run)(void *state, uint64_t calls, GError **errp);
    /*
     * The same with reqnum requests in flight: starts one, and waits until at
     * least one has ended; returns how many did, or -1.  There are never more
     * than reqnum.  NULL: the operation is synchronous.
     */
    int (*submit)(void *state, GError **errp);
    int (*reap)(void *state, GError **errp);
    /* What run, or submit, left behind is right. */
    int (*check)(void *state, GError **errp);
    /* After verify: how many times smaller the output is; NULL: no matter. */
    double (*ratio)(const void *state);
    void (*teardown)(void *state);
} QCryptoBenchOps;

/* What is particular about a case. */
enum {
    /* not a competitor: a bound that the others are held against */
    QCRYPTO_BENCH_BOUND = 1 << 0,
    /* belongs to somebody else's library */
    QCRYPTO_BENCH_PEER = 1 << 1,
    /* must not be faster than the bound of its group: it does the same work
     * and more.  If it is, one of the two is not what it says. */
    QCRYPTO_BENCH_BOUNDED = 1 << 2,
    /* there is no throughput to speak of: requests, not bytes, count */
    QCRYPTO_BENCH_LATENCY = 1 << 3,
};

/* What tables write where bytes a second are not to the point. */
typedef struct QCryptoBenchMeasure {
    const char *unit;
    double scale; /* requests a second, or seconds a request, in a unit */
    bool inverse; /* seconds a request: the smaller wins */
} QCryptoBenchMeasure;

struct QCryptoBenchCase {
    const QCryptoBenchOps *ops;
    const char *algtype; /* static */
    char *algorithm;     /* "aes-256-xts" */
    const char *optype;  /* "encrypt"; static */
    int op;              /* its number, 0 or 1 */
    char *provider;      /* as results name it: "raw" and peers are some */
    char *impl;
    size_t inputsize; /* bytes of one data unit */
    size_t sectors;   /* data units in one request */
    unsigned sources; /* inputs of a data unit, each of inputsize; 0: one */
    unsigned threadnum;
    unsigned reqnum;  /* requests in flight, a thread; 0 and 1: one */
    unsigned keybits; /* of the key, 0: there is none, or it is no matter */
    bool inplace;
    uint64_t request_bytes; /* counted for one request: the units, but for a
                             * bound, which rounds up */
    unsigned flags;         /* QCRYPTO_BENCH_* */
    /* why it cannot run here, or NULL */
    char *unavailable;
    /* the kind's own */
    int alg;
    int mode;
    char *row; /* "provider:impl" for the constructor, NULL: the default */
    const QCryptoBenchPeer *peer;
    const struct QCryptoBenchData *data; /* NULL: any bytes do */
    const QCryptoBenchMeasure *measure;  /* NULL: bytes, or by the flags */
};

/* What plan.fixed_bytes are in bytes of all sources. */
static inline uint64_t qcrypto_bench_fixed(uint64_t fixed_bytes,
                                           const QCryptoBenchCase *c)
{
    return fixed_bytes * MAX(c->sources, 1);
}

QCryptoBenchCase *qcrypto_bench_case_dup(const QCryptoBenchCase *c);
void qcrypto_bench_case_free(QCryptoBenchCase *c);

/* How to measure. */
typedef struct QCryptoBenchPlan {
    double seconds;       /* one sample; not read with fixed_bytes */
    double warmup;        /* seconds before the samples of each case */
    uint64_t fixed_bytes; /* of each source; 0: by time */
    uint64_t loop;        /* requests between two clock reads, 0: calibrate */
    unsigned repeat;      /* samples, at least 1, */
    /* but no more once a case has so many and so many seconds of them (least 0:
     * however long they take) */
    unsigned least;
    double enough;
    /* Samples during which a thread lost its CPU to another one are taken
     * again, as often as there are samples, unless they are so long that
     * this is what happens to them. */
    bool retake;
    bool counters; /* open the CPU's counters */
    /* thread i runs on cpus[i % ncpus]; none: where the kernel puts it */
    uint64_t numamask; /* that they come from */
    const int *cpus;
    size_t ncpus;
    /* nanoseconds; NULL: CLOCK_MONOTONIC_RAW.  For tests. */
    uint64_t (*clock)(void);
    /* how often the calling thread has lost its CPU; NULL: as the kernel
     * counts it.  For tests. */
    uint64_t (*losses)(void);
    /* called before each sample when not NULL */
    void (*progress)(const QCryptoBenchCase *c, void *opaque);
    void *opaque;
} QCryptoBenchPlan;

typedef struct QCryptoBenchStats {
    double best;
    double median;
    double stddev; /* of the samples; 0 for one */
} QCryptoBenchStats;

typedef struct QCryptoBenchSample {
    uint64_t bytes;
    uint64_t calls;
    uint64_t ns;
    uint64_t ticks;    /* of the time-stamp counter, 0 without */
    double thread_min; /* bytes a second of the slowest thread */
    double thread_max;
    uint64_t lost; /* how often threads lost the CPU meanwhile */
} QCryptoBenchSample;

typedef struct QCryptoBenchResult {
    const QCryptoBenchCase *c;
    const QCryptoBenchPlan *plan;
    const char *runset; /* whose it is, or NULL; the caller's to set */
    char *provider;     /* that really ran */
    char *impl;
    char *failed; /* why there is no number, or NULL */
    bool verified;
    QCryptoBenchSample *samples;
    unsigned nsamples;
    QCryptoBenchStats bytes_per_sec;
    QCryptoBenchStats ops_per_sec;
    QCryptoBenchSample best; /* the sample of bytes_per_sec.best */
    double cycles_per_byte;  /* 0: unknown */
    double frequency;        /* of the core, Hz, an estimate; 0: unknown */
    uint64_t loop;           /* requests between two clock reads */
    unsigned disturbed;      /* samples during which a CPU was lost */
    unsigned in_flight;      /* most requests that a thread had under way */
    char *doubt;             /* why not to believe the number, or NULL */
    double ratio;            /* of ops.ratio; 0: none */
    QCryptoBenchCounters counters;
} QCryptoBenchResult;

/*
 * Measures a group.  results[i] belongs to cases[i] and is to be cleared
 * with qcrypto_bench_result_clear.  Returns the number of cases that FAILED.
 */
size_t qcrypto_bench_group(QCryptoBenchCase *const *cases, size_t n,
                           const QCryptoBenchPlan *plan,
                           QCryptoBenchResult *results);
void qcrypto_bench_result_clear(QCryptoBenchResult *r);

/*
 * Sets the doubt of results that are impossible beside others: N threads
 * that do more than N times what one does.
 */
void qcrypto_bench_doubt(QCryptoBenchResult *results, size_t n);

/* Units or bytes per second; 0 when no time has passed. */
double qcrypto_bench_rate(uint64_t n, uint64_t ns);

/* CLOCK_MONOTONIC_RAW, and what one reading of it costs. */
uint64_t qcrypto_bench_clock(void);
double qcrypto_bench_clock_cost(uint64_t (*clock)(void));

/* The time-stamp counter's rate, 0 where there is none (measured once). */
double qcrypto_bench_tick_rate(void);

#endif
