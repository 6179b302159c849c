/*
 * Timing routines against each other, on any clock
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_MEASURE_H
#define QCRYPTO_CORE_MEASURE_H

#include "crypto/core/kdf.h"

typedef struct QCryptoContestant {
    /* reps times the same fixed piece of work */
    void (*work)(void *state, unsigned reps);
    void *state;
    double ns; /* out: best time of one piece; 0: could not be measured */
} QCryptoContestant;

typedef struct QCryptoStopwatch {
    QCryptoClock *clock; /* NULL: the monotonic clock */
    void *clock_opaque;
    uint64_t min_ns;    /* an attempt lasts at least so long (and one tick) */
    uint64_t budget_ns; /* in all, from the first call on */
    unsigned attempts;
    /* kept by the calls below; zero at first */
    bool running;
    bool dead; /* the clock did not move: nothing more is tried */
    uint64_t start;
    uint64_t last;
    uint64_t spent;
    uint64_t edge; /* reading at which an attempt ended */
    uint64_t tick; /* smallest step seen, 0: none yet */
} QCryptoStopwatch;

/* Measures them side by side; false when the budget left no attempt for some. */
bool qcrypto_measure(QCryptoStopwatch *w, QCryptoContestant *c, size_t n);

/* ns left of the budget */
uint64_t qcrypto_stopwatch_left(QCryptoStopwatch *w);

#endif
