/*
 * A progress line on a terminal (progress.h)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/progress.h"

#include <stdio.h>
#include <unistd.h>

#define MIB       (1024.0 * 1024.0)
#define BAR_CELLS 20

void qcrypto_progress_begin(QCryptoProgress *p, const char *what,
                            uint64_t total)
{
    *p = (QCryptoProgress){
        .what = what,
        .total = total,
        .started = g_get_monotonic_time(),
        .on = isatty(STDERR_FILENO) == 1,
    };
}

void qcrypto_progress_update(QCryptoProgress *p, uint64_t done)
{
    int64_t now = g_get_monotonic_time();

    /* a job shorter than a fifth of a second never shows a line */
    if (!p->on || now - p->started < G_USEC_PER_SEC / 5 ||
        now - p->drawn < G_USEC_PER_SEC / 10) {
        return;
    }
    p->drawn = now;

    double seconds = (double)(now - p->started) / G_USEC_PER_SEC;
    double rate = (double)done / seconds;

    if (p->total == 0) {
        fprintf(stderr, "\r%s  %.1f MiB  %.0f MiB/s\033[K", p->what,
                (double)done / MIB, rate / MIB);
    } else {
        double part = (double)done / (double)p->total;
        char bar[BAR_CELLS + 1];

        for (int i = 0; i < BAR_CELLS; i++) {
            bar[i] = i < (int)(part * BAR_CELLS) ? '#' : '.';
        }
        bar[BAR_CELLS] = '\0';
        fprintf(stderr, "\r%s %3.0f%% [%s]  %.1f of %.1f MiB  %.0f MiB/s",
                p->what, 100 * part, bar, (double)done / MIB,
                (double)p->total / MIB, rate / MIB);
        if (done > 0) {
            unsigned left = (unsigned)((double)(p->total - done) / rate + 0.5);
            fprintf(stderr, "  %u:%02u left", left / 60, left % 60);
        }
        fprintf(stderr, "\033[K");
    }
    fflush(stderr);
}

void qcrypto_progress_end(QCryptoProgress *p)
{
    if (p->drawn) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
        p->drawn = 0;
    }
}
