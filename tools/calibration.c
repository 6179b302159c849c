/*
 * Calibrations as the command keeps and prints them (calibration.h)
 *
 * A line is one step of one shape: the row that serves from a size on, with
 * its rate in the columns of the sizes that it serves.  What the written order
 * would have had otherwise is listed at the end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/calibration.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crypto/base/error.h"

char *qcrypto_calibration_kept_path(void)
{
    return g_build_filename(g_get_user_cache_dir(), "qcrypto", "calibration",
                            NULL);
}

static void show_progress(const char *what, size_t done, size_t total,
                          void *opaque G_GNUC_UNUSED)
{
    fprintf(stderr, "\r%3zu%% %s\033[K", done * 100 / total, what);
    fflush(stderr);
}

int qcrypto_calibration_measure(const char *kinds, unsigned budget_ms,
                                const char *path, GError **errp)
{
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const int ret = qcrypto_calibrate(
        kinds, budget_ms, terminal ? show_progress : NULL, NULL, errp);

    if (terminal) {
        fputs("\r\033[K", stderr);
    }
    if (ret < 0 || !path) {
        return ret;
    }
    return qcrypto_calibration_save(path, errp);
}

/* ---- shapes: runs of results that differ in row and size alone ---- */

typedef QCryptoCalibrationResult Result;

static bool same_shape(const Result *a, const Result *b)
{
    return !strcmp(a->kind, b->kind) && !strcmp(a->algorithm, b->algorithm) &&
           !g_strcmp0(a->mode, b->mode) && a->arity == b->arity;
}

static size_t shape_end(const QCryptoCalibration *c, size_t from)
{
    size_t end = from;

    while (end < c->nresults && same_shape(&c->results[from], &c->results[end])) {
        end++;
    }
    return end;
}

/* "aes-256-xts"; "2 sources" */
static char *shape_name(const Result *r)
{
    return r->arity ? g_strdup_printf("%u sources", r->arity)
           : r->mode
               ? g_strdup_printf("%s-%s", r->algorithm, r->mode)
               : g_strdup(r->algorithm);
}

static bool is_of(const QCryptoCalibrationStep *s, const Result *r)
{
    return !strcmp(s->kind, r->kind) && !strcmp(s->algorithm, r->algorithm) &&
           !g_strcmp0(s->mode, r->mode) && s->arity == r->arity;
}

/* The kind, and its sizes as columns. */
static void print_heading(const QCryptoCalibration *c, size_t from)
{
    const size_t end = shape_end(c, from);

    printf("\n%-45s", c->results[from].kind);
    for (size_t i = from; i < end; i++) {
        if (i == from || c->results[i].size != c->results[i - 1].size) {
            printf("%9zu", c->results[i].size);
        }
    }
    printf("\n");
}

/* The rates of a step's row, from its size to that of the next one. */
static void print_step(const QCryptoCalibration *c, size_t from, size_t end,
                       const QCryptoCalibrationStep *step, const char *name)
{
    g_autofree char *row = g_strdup_printf("%s:%s", step->provider, step->impl);
    g_autofree char *start =
        step->from ? g_strdup_printf("from %zu", step->from) : g_strdup(name);

    g_autoptr(GString) line = g_string_new(NULL);

    g_string_printf(line, step->from ? "  %16s  %-25s" : "  %-16s  %-25s", start,
                    row);
    for (size_t i = from; i < end; i++) {
        const Result *r = &c->results[i];

        if (i > from && r->size == r[-1].size) {
            continue;
        }
        const Result *mine = NULL;
        for (size_t j = i; j < end && c->results[j].size == r->size; j++) {
            const Result *other = &c->results[j];

            if (other->chosen && !strcmp(other->provider, step->provider) &&
                !strcmp(other->impl, step->impl)) {
                mine = other;
            }
        }
        if (mine) {
            g_string_append_printf(line, "%9.*f", mine->mib_per_s < 100 ? 1 : 0,
                                   mine->mib_per_s);
        } else {
            g_string_append_printf(line, "%9s", "");
        }
    }
    printf("%s\n", g_strchomp(line->str));
}

/* ---- what the written order would have had ---- */

/* The result of the same shape and size that the written order would serve. */
static const Result *written(const QCryptoCalibration *c, size_t from,
                             size_t end, const Result *chosen)
{
    for (size_t i = from; i < end; i++) {
        if (c->results[i].written && c->results[i].size == chosen->size) {
            return &c->results[i];
        }
    }
    return NULL;
}

/* Returns how many shapes are overruled at some size, each with a line. */
static size_t print_overruled(const QCryptoCalibration *c)
{
    size_t shapes = 0;

    for (size_t from = 0, end; from < c->nresults; from = end) {
        const Result *best = NULL, *before = NULL;

        end = shape_end(c, from);
        for (size_t i = from; i < end; i++) {
            const Result *r = &c->results[i];
            const Result *w = written(c, from, end, r);

            /* the size at which it gains most */
            if (r->chosen && !r->written && w &&
                (!best || r->mib_per_s / w->mib_per_s >
                              best->mib_per_s / before->mib_per_s)) {
                best = r;
                before = w;
            }
        }
        if (!best) {
            continue;
        }
        g_autofree char *name = shape_name(best);
        printf("%s  %-7s %-16s %s:%s over %s:%s, by %.0f%% at %zu\n",
               shapes++ ? "" : "\nmeasurement overrules the written order\n",
               best->kind, name, best->provider, best->impl, before->provider,
               before->impl, (best->mib_per_s / before->mib_per_s - 1) * 100,
               best->size);
    }
    return shapes;
}

void qcrypto_calibration_print(const QCryptoCalibration *c)
{
    const char *kind = "";
    size_t shapes = 0;

    printf("MiB/s of the row in use, by bytes of a request (xor: of a source, "
           "all of which count;\npbkdf2: of the key, at 64 iterations); "
           "differences of up to %d%% are none\n",
           QCRYPTO_CALIBRATE_MARGIN);
    for (size_t from = 0, end; from < c->nresults; from = end) {
        const Result *r = &c->results[from];
        g_autofree char *name = shape_name(r);
        bool measured = false;

        end = shape_end(c, from);
        for (size_t i = 0; i < c->nsteps; i++) {
            if (!is_of(&c->steps[i], r)) {
                continue;
            }
            if (strcmp(kind, r->kind)) {
                print_heading(c, from);
                kind = r->kind;
            }
            print_step(c, from, end, &c->steps[i], name);
            measured = true;
        }
        shapes += measured;
    }
    const size_t overruled = print_overruled(c);
    printf("\n%zu shapes with a choice, %zu of them other than written", shapes,
           overruled);
    if (c->unmeasured) {
        printf("; %zu keep the written order, time ran out", c->unmeasured);
    }
    if (c->seconds > 0) {
        printf("; %.3g ms of measuring, clock steps of %.3g ns",
               c->seconds * 1e3, c->clock_ns);
    }
    printf("\n");
}
