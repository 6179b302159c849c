/*
 * How much work a second: a probe that ends and is right on bad clocks
 *
 * A probe too short for the clock says little: on a coarse clock it reads 0
 * or one tick.  So the cost grows, by at most 10 times a step, until one
 * probe lasts sample_ns, and three such samples are taken.  Their median is
 * the answer: one jump of the clock, either way, does not move it.  A clock
 * that runs backwards gives a sample of no length, which grows the cost like
 * any other short one.
 *
 * A clock that stands still would have the cost grow to its maximum, which
 * may take hours.  So the time is also watched by the system's clocks, which
 * decide nothing but when to stop; the longest of the short samples then has
 * to do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdlib.h>
#include <time.h>

#include "crypto/base/error.h"
#include "crypto/core/kdf.h"

#define SAMPLES 3
/* 10^19 is the largest cost: 20 steps of growth and the samples */
#define MAX_PROBES 32
/* no probe begins after so many samples' time; three take about 5 */
#define PATIENCE 20

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;

    if (clock_gettime(id, &t) < 0) {
        return 0;
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t monotonic(void *opaque G_GNUC_UNUSED)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Two clocks, since either may be the one that stands still. */
typedef struct Watch {
    uint64_t wall, cpu;
} Watch;

static Watch watch_start(void)
{
    return (Watch){read_clock(CLOCK_MONOTONIC),
                   read_clock(CLOCK_THREAD_CPUTIME_ID)};
}

static bool watch_passed(const Watch *start, uint64_t ns)
{
    const Watch now = watch_start();

    return now.wall - start->wall > ns || now.cpu - start->cpu > ns;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The next cost after a probe that took ns: aims at 1.25 samples. */
static uint64_t grow(uint64_t cost, uint64_t ns, const QCryptoRateProbe *p)
{
    double factor = ns ? 1.25 * (double)p->sample_ns / (double)ns : 10;

    factor = CLAMP(factor, 1.5, 10);
    const double next = (double)cost * factor + 1;
    return next >= (double)p->max ? p->max : (uint64_t)next;
}

int qcrypto_rate_once(const QCryptoRateProbe *p, uint64_t cost, uint64_t *ns,
                      GError **errp)
{
    QCryptoClock *clock = p->clock ? p->clock : monotonic;
    const uint64_t start = clock(p->clock_opaque);

    if (p->work(cost, p->opaque, errp) < 0) {
        return -1;
    }
    const uint64_t end = clock(p->clock_opaque);
    *ns = end > start ? end - start : 0;
    return 0;
}

uint64_t qcrypto_rate(const QCryptoRateProbe *p, GError **errp)
{
    const Watch start = watch_start();
    double rates[SAMPLES];
    int n = 0;
    uint64_t cost = MIN(p->first, p->max);
    uint64_t longest = 0; /* of the samples that were too short, */
    double rate = 0;      /* and what it says */

    for (int probe = 0; probe < MAX_PROBES && n < SAMPLES; probe++) {
        uint64_t ns;

        if (probe && watch_passed(&start, PATIENCE * p->sample_ns)) {
            break;
        }
        if (qcrypto_rate_once(p, cost, &ns, errp) < 0) {
            return 0;
        }
        if (ns >= p->sample_ns || (cost == p->max && ns)) {
            rates[n++] = (double)cost * 1e9 / (double)ns;
            continue;
        }
        if (ns > longest) {
            longest = ns;
            rate = (double)cost * 1e9 / (double)ns;
        }
        cost = grow(cost, ns, p);
    }
    if (!n && !longest) {
        qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                      "the clock does not move: the cost of key derivation "
                      "cannot be measured");
        return 0;
    }
    if (n) {
        qsort(rates, (size_t)n, sizeof(rates[0]), compare);
        rate = rates[n / 2];
    }
    return rate < 1 ? 1 : rate >= 0x1p63 ? UINT64_C(1) << 63 : (uint64_t)rate;
}
