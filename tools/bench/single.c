/*
 * One configuration, in the layout of the proposed kernel benchmark
 *
 *     run set: algorithm zlib-deflate, ..., threadnum 1, time 1.
 *     Crypto benchmark result:
 *             throughput      pps             time
 *             150 MB/s        150 kPP/s       1000 ms         zlib
 *
 * with a line for each who did the work.  The MB of that proposal fit
 * 1,024,000 bytes; ours are 10^6, which is said below the numbers.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/kinds.h"
#include "tools/bench/report.h"

#include <string.h>

#define MIB  ((double)(1 << 20))
#define MB   1e6
#define KILO 1e3

static bool is_same(const QCryptoBenchCase *a, const QCryptoBenchCase *b)
{
    return a->algtype == b->algtype && !strcmp(a->algorithm, b->algorithm) &&
           a->op == b->op && a->inputsize == b->inputsize &&
           a->sectors == b->sectors && a->threadnum == b->threadnum &&
           a->reqnum == b->reqnum && a->keybits == b->keybits &&
           a->inplace == b->inplace;
}

bool qcrypto_bench_is_single(const QCryptoBenchResult *results, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (results[i].plan != results[0].plan ||
            !is_same(results[i].c, results[0].c)) {
            return false;
        }
    }
    return n > 0;
}

static void write_run_set(GString *out, const QCryptoBenchResult *r)
{
    const QCryptoBenchCase *c = r->c;
    const QCryptoBenchPlan *p = r->plan;

    g_string_append_printf(
        out, "run set: algorithm %s, algtype %s, inputsize %zu, ", c->algorithm,
        qcrypto_bench_kind(c->algtype)->alt_names[0], c->inputsize);
    if (p->loop) {
        g_string_append_printf(out, "loop %" G_GUINT64_FORMAT ", ", p->loop);
    } else {
        g_string_append(out, p->fixed_bytes ? "loop all, " : "loop auto, ");
    }
    g_string_append_printf(out,
                           "numamask 0x%" G_GINT64_MODIFIER
                           "x, optype %d, reqnum %u, "
                           "threadnum %u, ",
                           p->numamask, c->op, MAX(c->reqnum, 1), c->threadnum);
    if (p->fixed_bytes) {
        g_string_append_printf(out, "fixed-mib %" G_GUINT64_FORMAT,
                               p->fixed_bytes / (1 << 20));
    } else {
        g_string_append_printf(out, "time %g", p->seconds);
    }
    if (c->sectors > 1) {
        g_string_append_printf(out, ", sectors %zu", c->sectors);
    }
    g_string_append(out, c->inplace ? ", inplace.\n" : ".\n");
}

G_GNUC_PRINTF(2, 3)
static void write_column(GString *out, const char *fmt, ...)
{
    g_autofree char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    g_string_append_printf(out, "%-15s ", text);
}

static void write_result(GString *out, const QCryptoBenchResult *r)
{
    g_autofree char *name = qcrypto_bench_name_text(r->c);

    g_string_append_printf(out, "%8s", "");
    if (r->failed) {
        write_column(out, "FAILED");
        g_string_append_printf(out, "%-32s%s\n", "", name);
        return;
    }
    if (r->bytes_per_sec.best > 0) {
        write_column(out, "%.7g MB/s", r->bytes_per_sec.best / MB);
    } else {
        write_column(out, "-");
    }
    write_column(out, "%.7g kPP/s", r->ops_per_sec.best / KILO);
    write_column(out, "%.7g ms", (double)r->best.ns / 1e6);
    g_string_append_printf(out, "%s\n", name);
}

/* What the three columns do not say. */
static void write_details(GString *out, const QCryptoBenchResult *r)
{
    const bool bytes = r->bytes_per_sec.best > 0;
    const QCryptoBenchStats *s = bytes ? &r->bytes_per_sec : &r->ops_per_sec;
    const double scale = bytes ? MB : KILO;
    const char *unit = bytes ? "MB/s" : "kPP/s";
    g_autofree char *name = qcrypto_bench_name_text(r->c);
    double least = s->best;

    for (unsigned i = 0; i < r->nsamples; i++) {
        const QCryptoBenchSample *x = &r->samples[i];

        least =
            MIN(least, qcrypto_bench_rate(bytes ? x->bytes : x->calls, x->ns));
    }
    g_string_append_printf(out, "%s", name);
    if (bytes) {
        g_string_append_printf(out, ", %.7g MiB/s",
                               r->bytes_per_sec.best / MIB);
    }
    if (r->ratio > 0) {
        g_string_append_printf(out, ", %.3g times smaller", r->ratio);
    }
    if (r->nsamples == 1) {
        g_string_append(out, "\n  1 sample: no spread is known\n");
    } else {
        g_string_append_printf(out,
                               "\n  %u samples: median %.4g, least %.4g %s, "
                               "deviation %.1f%%\n",
                               r->nsamples, s->median / scale, least / scale,
                               unit, s->stddev / s->median * 100);
    }
    if (r->disturbed) {
        g_string_append_printf(
            out, "  during %u of them other work took the CPU away\n",
            r->disturbed);
    }
    if (r->cycles_per_byte > 0) {
        g_string_append_printf(out, "  %.3g %s a byte", r->cycles_per_byte,
                               r->counters.have[QCRYPTO_BENCH_CYCLES]
                                   ? "cycles"
                                   : "ticks of the time-stamp counter");
        if (r->frequency > 0) {
            g_string_append_printf(out, "; the core at about %.2f GHz",
                                   r->frequency / 1e9);
        }
        g_string_append(out, "\n");
    }
    if (r->c->threadnum > 1) {
        g_string_append_printf(out, "  %.4g to %.4g MB/s a thread\n",
                               r->best.thread_min / MB,
                               r->best.thread_max / MB);
    }
    if (r->c->reqnum > 1) {
        g_string_append_printf(out, "  %u request%s in flight\n", r->in_flight,
                               r->in_flight == 1 ? "" : "s");
    }
}

/* Of a request, over all samples. */
static void write_counters(GString *out, const QCryptoBenchResult *r)
{
    const char *comma = " ";

    g_string_append(out, "  a request:");
    for (size_t i = 0; i < QCRYPTO_BENCH_NCOUNTERS; i++) {
        if (r->counters.have[i]) {
            g_string_append_printf(out, "%s%.4g %s", comma,
                                   (double)r->counters.value[i] /
                                       (double)r->counters.calls,
                                   qcrypto_bench_counter_names[i]);
            comma = ", ";
        }
    }
    g_string_append(out, "\n");
}

char *qcrypto_bench_single(const QCryptoBenchResult *results, size_t n)
{
    GString *out = g_string_new(NULL);

    write_run_set(out, results);
    g_string_append(out, "Crypto benchmark result:\n"
                         "        throughput      pps             time\n");
    for (size_t i = 0; i < n; i++) {
        write_result(out, &results[i]);
    }
    g_string_append(out, "The best sample; MB are 10^6 bytes, MiB 2^20, kPP "
                         "10^3 requests.\n");
    for (size_t i = 0; i < n; i++) {
        if (!results[i].failed) {
            write_details(out, &results[i]);
            write_counters(out, &results[i]);
        }
    }
    return g_string_free(out, FALSE);
}
