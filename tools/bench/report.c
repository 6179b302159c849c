/*
 * Tables of results
 *
 * One table holds what can be compared: one operation of one algorithm on
 * the same buffers and threads; a line for each candidate, a column for each
 * size.  A kind that has latencies instead of rates has a column for each
 * operation.  MiB are 2^20 bytes and GB 10^9, and the heading says which.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/report.h"

#include <string.h>

#include "tools/bench/data.h"

#define MIB ((double)(1 << 20))
#define GB  1e9

char *qcrypto_bench_size_text(const QCryptoBenchCase *c)
{
    return c->sectors > 1 ? g_strdup_printf("%zux%zu", c->sectors, c->inputsize)
                          : g_strdup_printf("%zu", c->inputsize);
}

char *qcrypto_bench_name_text(const QCryptoBenchCase *c)
{
    return c->impl && strcmp(c->impl, c->provider) != 0
               ? g_strdup_printf("%s %s", c->provider, c->impl)
               : g_strdup(c->provider);
}

char *qcrypto_bench_rate_text(double bytes_per_sec)
{
    return g_strdup_printf("%.4g MiB/s (%.4g GB/s)", bytes_per_sec / MIB,
                           bytes_per_sec / GB);
}

typedef struct Table {
    const QCryptoBenchCase *form; /* of its first result */
    const QCryptoBenchPlan *plan;
    GPtrArray *columns; /* names */
    GPtrArray *lines;   /* results: the first of each candidate */
    GPtrArray *results;
} Table;

static bool is_latency(const QCryptoBenchCase *c)
{
    return c->flags & QCRYPTO_BENCH_LATENCY;
}

static bool in_table(const Table *t, const QCryptoBenchResult *r)
{
    const QCryptoBenchCase *a = t->form, *b = r->c;

    return t->plan == r->plan && a->algtype == b->algtype &&
           !strcmp(a->algorithm, b->algorithm) &&
           (is_latency(a) || a->op == b->op) && a->threadnum == b->threadnum &&
           a->reqnum == b->reqnum && a->keybits == b->keybits &&
           a->inplace == b->inplace;
}

static bool same_line(const QCryptoBenchResult *a, const QCryptoBenchResult *b)
{
    return !strcmp(a->c->provider, b->c->provider) &&
           !g_strcmp0(a->c->impl, b->c->impl);
}

static char *column_of(const QCryptoBenchCase *c)
{
    if (is_latency(c)) {
        return c->inputsize ? g_strdup_printf("%s %zu", c->optype, c->inputsize)
                            : g_strdup(c->optype);
    }
    return qcrypto_bench_size_text(c);
}

static const QCryptoBenchResult *cell_of(const Table *t,
                                         const QCryptoBenchResult *line,
                                         const char *column)
{
    for (guint i = 0; i < t->results->len; i++) {
        const QCryptoBenchResult *r = g_ptr_array_index(t->results, i);
        g_autofree char *name = column_of(r->c);

        if (same_line(line, r) && !strcmp(name, column)) {
            return r;
        }
    }
    return NULL;
}

static void add_result(GPtrArray *tables, const QCryptoBenchResult *r)
{
    char *column = column_of(r->c);
    Table *t = NULL;
    bool known = false;

    for (guint i = 0; i < tables->len && !t; i++) {
        t = g_ptr_array_index(tables, i);
        t = in_table(t, r) ? t : NULL;
    }
    if (!t) {
        t = g_new0(Table, 1);
        t->form = r->c;
        t->plan = r->plan;
        t->columns = g_ptr_array_new_with_free_func(g_free);
        t->lines = g_ptr_array_new();
        t->results = g_ptr_array_new();
        g_ptr_array_add(tables, t);
    }
    if (g_ptr_array_find_with_equal_func(t->columns, column, g_str_equal,
                                         NULL)) {
        g_free(column);
    } else {
        g_ptr_array_add(t->columns, column);
    }
    for (guint i = 0; i < t->lines->len; i++) {
        known |= same_line(g_ptr_array_index(t->lines, i), r);
    }
    if (!known) {
        g_ptr_array_add(t->lines, (gpointer)r);
    }
    g_ptr_array_add(t->results, (gpointer)r);
}

static void free_table(gpointer opaque)
{
    Table *t = opaque;

    g_ptr_array_unref(t->columns);
    g_ptr_array_unref(t->lines);
    g_ptr_array_unref(t->results);
    g_free(t);
}

/* How a table writes its numbers. */
typedef struct Style {
    const char *unit;
    double scale;
    bool requests; /* that are counted, not their bytes */
    bool inverse;  /* time, not rate: the smaller wins */
    int decimals;
} Style;

static double value_of(const Style *style, const QCryptoBenchResult *r)
{
    if (style->inverse) {
        return 1 / r->ops_per_sec.best / style->scale;
    }
    return (style->requests ? r->ops_per_sec.best : r->bytes_per_sec.best) /
           style->scale;
}

static Style style_of(const Table *t)
{
    const QCryptoBenchMeasure *m = t->form->measure;
    Style s = {.unit = "", .scale = 1};
    double min = 0, max = 0;

    if (m) {
        s = (Style){m->unit, m->scale, true, m->inverse, 0};
    } else if (is_latency(t->form)) {
        s = (Style){"ns", 1e-9, true, true, 0};
    }
    for (guint i = 0; i < t->results->len; i++) {
        const QCryptoBenchResult *r = g_ptr_array_index(t->results, i);
        double v = r->failed ? 0 : value_of(&s, r);

        max = MAX(max, v);
        min = v > 0 && (min == 0 || v < min) ? v : min;
    }
    if (!s.requests) {
        s.unit = max >= GB ? "GB/s (10^9 bytes a second)"
                           : "MiB/s (2^20 bytes a second)";
        s.scale = max >= GB ? GB : MIB;
        min /= s.scale;
    }
    /* three digits of the smallest number, and the same for all */
    s.decimals = min >= 100  ? 0
                 : min >= 10 ? 1
                 : min >= 1  ? 2
                 : min >= .1 ? 3
                             : 4;
    return s;
}

/* The best of a column among those one can choose: no bound and no peer. */
static const QCryptoBenchResult *winner_of(const Table *t, const char *column)
{
    const QCryptoBenchResult *best = NULL;

    for (guint i = 0; i < t->lines->len; i++) {
        const QCryptoBenchResult *r =
            cell_of(t, g_ptr_array_index(t->lines, i), column);

        if (r && !r->failed &&
            !(r->c->flags & (QCRYPTO_BENCH_BOUND | QCRYPTO_BENCH_PEER)) &&
            (!best || r->ops_per_sec.best > best->ops_per_sec.best)) {
            best = r;
        }
    }
    return best;
}

static void write_ratio(GString *out, const Table *t,
                        const QCryptoBenchResult *line)
{
    g_autofree char *name = g_strdup_printf("best : %s", line->c->provider);

    g_string_append_printf(out, "  %-24s", name);
    for (guint i = 0; i < t->columns->len; i++) {
        const char *column = g_ptr_array_index(t->columns, i);
        const QCryptoBenchResult *best = winner_of(t, column);
        const QCryptoBenchResult *r = cell_of(t, line, column);

        if (best && r && !r->failed) {
            g_string_append_printf(
                out, "%10.2f ",
                is_latency(t->form)
                    ? best->ops_per_sec.best / r->ops_per_sec.best
                    : best->bytes_per_sec.best / r->bytes_per_sec.best);
        } else {
            g_string_append_printf(out, "%10s ", "");
        }
    }
    g_string_append(out, "\n");
}

/* -1: of single samples nothing can be said. */
static double spread_of(const Table *t)
{
    double spread = -1;

    for (guint i = 0; i < t->results->len; i++) {
        const QCryptoBenchResult *r = g_ptr_array_index(t->results, i);

        if (!r->failed && r->nsamples > 1) {
            spread = MAX(spread, r->ops_per_sec.stddev / r->ops_per_sec.median);
        }
    }
    return spread;
}

static void write_threads(GString *out, const Table *t, const Style *style)
{
    for (guint i = 0; i < t->results->len; i++) {
        const QCryptoBenchResult *r = g_ptr_array_index(t->results, i);
        g_autofree char *column = column_of(r->c);
        g_autofree char *name = qcrypto_bench_name_text(r->c);

        if (!r->failed) {
            g_string_append_printf(out, "  %s %s: %.4g to %.4g %s a thread\n",
                                   name, column,
                                   r->best.thread_min / style->scale,
                                   r->best.thread_max / style->scale,
                                   style->scale == GB ? "GB/s" : "MiB/s");
        }
    }
}

/* How many times smaller, by line and column. */
static void write_smaller(GString *out, const Table *t,
                          const QCryptoBenchResult *line)
{
    g_autofree char *name = g_strdup_printf("ratio, %s", line->c->provider);

    g_string_append_printf(out, "  %-24s", name);
    for (guint i = 0; i < t->columns->len; i++) {
        const QCryptoBenchResult *r =
            cell_of(t, line, g_ptr_array_index(t->columns, i));

        if (r && !r->failed) {
            g_string_append_printf(out, "%10.2f ", r->ratio);
        } else {
            g_string_append_printf(out, "%10s ", "");
        }
    }
    g_string_append(out, "\n");
}

static void write_line(GString *out, const Table *t, const Style *style,
                       const QCryptoBenchResult *line)
{
    g_autofree char *name = qcrypto_bench_name_text(line->c);

    g_string_append_printf(out, "  %-24s", name);
    for (guint i = 0; i < t->columns->len; i++) {
        const char *column = g_ptr_array_index(t->columns, i);
        const QCryptoBenchResult *r = cell_of(t, line, column);

        if (!r) {
            g_string_append_printf(out, "%10s ", "");
        } else if (r->failed) {
            g_string_append_printf(out, "%10s ", "FAILED");
        } else {
            g_string_append_printf(out, "%10.*f%c", style->decimals,
                                   value_of(style, r),
                                   winner_of(t, column) == r ? '*' : ' ');
        }
    }
    g_string_append(out, "\n");
}

/* @timed: plans differ in it. */
static void write_table(GString *out, const Table *t, bool timed)
{
    const Style style = style_of(t);
    const QCryptoBenchCase *f = t->form;

    g_string_append_printf(out, "%s", f->algorithm);
    if (!style.requests) {
        g_string_append_printf(out, " %s, %s", f->optype,
                               f->inplace ? "in place" : "separate buffers");
    }
    g_string_append_printf(out, ", %u thread%s", f->threadnum,
                           f->threadnum == 1 ? "" : "s");
    if (f->reqnum > 1) {
        g_string_append_printf(out, ", %u requests in flight", f->reqnum);
    }
    if (t->plan->numamask) {
        g_string_append_printf(out, ", numamask 0x%" G_GINT64_MODIFIER "x",
                               t->plan->numamask);
    }
    if (timed) {
        g_string_append_printf(out, ", %u x %g s", t->plan->repeat,
                               t->plan->seconds);
    }
    if (t->plan->loop) {
        g_string_append_printf(out, ", loop %" G_GUINT64_FORMAT, t->plan->loop);
    }
    g_string_append_printf(out, ", %s\n", style.unit);
    g_string_append_printf(out, "  %-24s", "");
    for (guint i = 0; i < t->columns->len; i++) {
        g_string_append_printf(out, "%10s ",
                               (char *)g_ptr_array_index(t->columns, i));
    }
    g_string_append(out, "\n");
    for (guint i = 0; i < t->lines->len; i++) {
        write_line(out, t, &style, g_ptr_array_index(t->lines, i));
    }
    for (guint i = 0; i < t->lines->len; i++) {
        const QCryptoBenchResult *line = g_ptr_array_index(t->lines, i);

        if (line->c->flags & (QCRYPTO_BENCH_BOUND | QCRYPTO_BENCH_PEER)) {
            write_ratio(out, t, line);
        }
    }
    for (guint i = 0; f->data && i < t->lines->len; i++) {
        write_smaller(out, t, g_ptr_array_index(t->lines, i));
    }
    if (f->data) {
        g_string_append_printf(out, "  data: %s\n", f->data->text);
    }
    if (f->threadnum > 1 && !style.requests) {
        write_threads(out, t, &style);
    }
    const double spread = spread_of(t);

    if (spread < 0) {
        g_string_append(out, "  spread: not known of single samples\n\n");
    } else {
        g_string_append_printf(out,
                               "  spread: standard deviation up to %.1f%% of "
                               "the median\n\n",
                               spread * 100);
    }
}

/* What the numbers are; @timed: the tables say the time. */
static void write_legend(GString *out, const QCryptoBenchResult *results,
                         size_t n, bool timed)
{
    const QCryptoBenchPlan *p = results[0].plan;
    unsigned least = UINT_MAX, most = 0;

    for (size_t i = 0; i < n; i++) {
        if (!results[i].failed) {
            least = MIN(least, results[i].nsamples);
            most = MAX(most, results[i].nsamples);
        }
    }
    g_autofree char *samples =
        least < most
            ? g_strdup_printf("%u to %u samples", least, most)
            : g_strdup_printf(most == 1 ? "%u sample" : "%u samples", most);

    if (p->fixed_bytes) {
        g_string_append_printf(
            out, "each number: best of %s of %" G_GUINT64_FORMAT " MiB; ",
            samples, p->fixed_bytes / (1 << 20));
    } else if (timed) {
        g_string_append(out, "each number: the best sample; ");
    } else {
        g_string_append_printf(out, "each number: best of %s of %g ms; ",
                               samples, p->seconds * 1000);
    }
    g_string_append(out, "* the fastest backend; raw: AES rounds alone, the "
                         "bound\n\n");
}

char *qcrypto_bench_tables(const QCryptoBenchResult *results, size_t n)
{
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(free_table);
    GString *out = g_string_new(NULL);

    bool timed = false;

    for (size_t i = 0; i < n; i++) {
        add_result(tables, &results[i]);
        timed |= results[i].plan->seconds != results[0].plan->seconds;
    }
    write_legend(out, results, n, timed);
    for (guint i = 0; i < tables->len; i++) {
        write_table(out, g_ptr_array_index(tables, i), timed);
    }
    return g_string_free(out, FALSE);
}
