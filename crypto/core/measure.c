/*
 * Timing routines against each other, on any clock
 *
 * An attempt runs from one edge of the clock to another: first work is done
 * until the clock moves, then pieces are counted until it has moved by min_ns
 * and has just moved again.  So a tick of 10 ms is as good a ruler as one of
 * 20 ns, only longer, and no attempt has no length.  Work itself passes the
 * time while an edge is awaited: a clock that only work moves is a clock too.
 *
 * The best of the attempts counts; but one that is far better than the next
 * is not believed (a clock that lagged or was set back) unless a further one
 * confirms it (then the others were interrupted).  Attempts of the contestants
 * take turns, so that a change of the machine's speed hits all.
 *
 * Every loop is bounded by a number of pieces, whatever the clock says.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/measure.h"

#include <time.h>

/*
 * What a dead clock may cost: calls of work() that wait for it to move.  The
 * quickest pieces take some 50 ns with a reading, so ticks of 20 ms are seen.
 */
#define MAX_WAITS 400000
/* an attempt better than the next by more than this is a lie of the clock */
#define BELIEVABLE 0.7

#define MAX_ATTEMPTS 3
/* more of them while no other confirms the best: the rest may have been
 * interrupted */
#define MORE_ATTEMPTS 4
#define ALL_ATTEMPTS  (MAX_ATTEMPTS + MORE_ATTEMPTS)

static uint64_t read_clock(QCryptoStopwatch *w)
{
    uint64_t now;

    if (w->clock) {
        now = w->clock(w->clock_opaque);
    } else {
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    }
    if (!w->running) {
        w->running = true;
        w->start = w->last = now;
    }
    if (now > w->last) {
        /* spent grows by what the clock really moved, never by a step back */
        const uint64_t step = now - w->last;

        w->spent += step;
        w->tick = w->tick ? MIN(w->tick, step) : step;
    }
    w->last = now;
    return now;
}

uint64_t qcrypto_stopwatch_left(QCryptoStopwatch *w)
{
    read_clock(w);
    return w->spent < w->budget_ns ? w->budget_ns - w->spent : 0;
}

/* ns a piece, or 0 */
static double attempt(QCryptoStopwatch *w, const QCryptoContestant *c)
{
    uint64_t before, now = read_clock(w);
    uint64_t reps = 0;
    unsigned waits = 0, batch = 1;

    if (w->dead) {
        return 0;
    }
    /* the attempt before ended on an edge: still the same one? */
    while (now != w->edge) {
        before = now;
        c->work(c->state, batch);
        now = read_clock(w);
        batch += batch / 16;
        if (now > before) {
            break;
        }
        if (++waits == MAX_WAITS) {
            w->dead = true;
            return 0;
        }
    }

    const uint64_t start = now;
    for (waits = 0; waits < MAX_WAITS; waits++) {
        /* small beside what was done: the end is off by 6 percent at most */
        batch = 1 + (unsigned)MIN(reps / 16, 1u << 20);
        before = now;
        c->work(c->state, batch);
        reps += batch;
        now = read_clock(w);
        if (now < start) {
            return 0; /* set back */
        }
        if (now > before && now - start >= w->min_ns) {
            w->edge = now;
            return (double)(now - start) / (double)reps;
        }
    }
    return 0;
}

/* The best of the attempts that another confirms, and whether one does. */
static double combine(const double *ns, unsigned n, bool *confirmed)
{
    double best = 0, second = 0;

    for (unsigned i = 0; i < n; i++) {
        if (!best || ns[i] < best) {
            second = best;
            best = ns[i];
        } else if (!second || ns[i] < second) {
            second = ns[i];
        }
    }
    *confirmed = second && best >= BELIEVABLE * second;
    return second && !*confirmed ? second : best;
}

bool qcrypto_measure(QCryptoStopwatch *w, QCryptoContestant *c, size_t n)
{
    const unsigned attempts = CLAMP(w->attempts, 1, MAX_ATTEMPTS);
    double *ns = g_new0(double, n * ALL_ATTEMPTS);
    unsigned *have = g_new0(unsigned, n);
    bool all = true;

    for (unsigned a = 0; a < attempts; a++) {
        for (size_t i = 0; i < n; i++) {
            /* there and back again: ABC CBA ABC */
            const size_t k = a % 2 ? n - 1 - i : i;

            if (!qcrypto_stopwatch_left(w)) {
                break;
            }
            const double t = attempt(w, &c[k]);
            if (t > 0) {
                ns[k * ALL_ATTEMPTS + have[k]++] = t;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        double *own = ns + i * ALL_ATTEMPTS;
        bool confirmed;

        c[i].ns = combine(own, have[i], &confirmed);
        for (unsigned a = 0; attempts > 1 && !confirmed && a < MORE_ATTEMPTS &&
                             qcrypto_stopwatch_left(w);
             a++) {
            const double t = attempt(w, &c[i]);

            if (t > 0) {
                own[have[i]++] = t;
                c[i].ns = combine(own, have[i], &confirmed);
            }
        }
        all = all && c[i].ns > 0;
    }
    g_free(have);
    g_free(ns);
    return all;
}
