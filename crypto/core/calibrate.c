/*
 * Calibration
 *
 * A shape is (kind, algorithm, mode, number of sources); at each of its
 * kind's sizes its candidates are timed against each other.  The choice
 * walks the sizes upwards: the row that serves stays while it is within the
 * margin of the best, else the first row of the written order that is within
 * it takes over, from the size on where straight lines through the measured
 * times of the two cross.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/calibrate.h"

#include <math.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

/*
 * A row whose piece of the second last size takes longer is not run at the
 * last: the straight line through the two sizes before tells.
 */
#define SLOW_NS 12000.0

static struct {
    GMutex lock;
    Calibration *current; /* under the lock */
    GMutex busy;          /* one calibration at a time */
} state;

Calibration *qcrypto_calibration_alloc(size_t n)
{
    Calibration *c = g_new0(Calibration, 1);

    c->n = n;
    c->shapes = g_new0(Shape, n);
    c->plans = g_new0(QCryptoPlan, n);
    return c;
}

void qcrypto_calibration_drop(Calibration *c)
{
    if (c) {
        g_free(c->shapes);
        g_free(c->plans);
        g_free(c);
    }
}

/*
 * Before the lock is taken: the library's first use may load the file of
 * QCRYPTO_CALIBRATION, which takes it.
 */
static void first_use(void)
{
    qcrypto_selection_generation();
}

/* Under the lock: the one in force; an order set since has ended it. */
static Calibration *in_force(void)
{
    return state.current &&
                   state.current->generation == qcrypto_selection_generation()
               ? state.current
               : NULL;
}

Calibration *qcrypto_calibration_copy(void)
{
    Calibration *c = NULL;

    first_use();
    g_mutex_lock(&state.lock);
    const Calibration *cur = in_force();
    if (cur) {
        c = qcrypto_calibration_alloc(cur->n);
        for (size_t i = 0; i < cur->n; i++) {
            c->shapes[i] = cur->shapes[i];
            c->plans[i] = cur->plans[i];
        }
        c->seconds = cur->seconds;
        c->clock_ns = cur->clock_ns;
    }
    g_mutex_unlock(&state.lock);
    return c;
}

/* ---- shapes ---- */

/*
 * The rows that may be chosen: usable, and not leaky where the first is not
 * (selection puts the constant-time ones first).
 */
void qcrypto_shape_candidates(Shape *s)
{
    size_t n;
    QCryptoCandidate *const *list =
        qcrypto_select(s->cal->kind, s->alg, s->mode, &n, NULL);
    uint32_t leaky = 0;

    for (size_t i = 0; i < n && s->n < SHAPE_CANDIDATES; i++) {
        if (!qcrypto_candidate_usable(list[i], NULL)) {
            continue;
        }
        if (!s->n) {
            leaky = list[i]->row->flags & QCRYPTO_ROW_LEAKY;
        }
        if ((list[i]->row->flags & QCRYPTO_ROW_LEAKY) <= leaky) {
            s->candidates[s->n++] = list[i];
        }
    }
}

static void add_shape(GArray *shapes, const QCryptoCalibrator *cal, int alg,
                      int mode, unsigned arity)
{
    Shape s = {.cal = cal, .alg = alg, .mode = mode, .arity = arity};

    qcrypto_shape_candidates(&s);
    if (s.n > 1) {
        g_array_append_val(shapes, s);
    }
}

static void add_kind(GArray *shapes, const QCryptoCalibrator *cal)
{
    const bool modes = cal->kind == QCRYPTO_KIND_CIPHER;

    for (int alg = 0; qcrypto_alg(cal->kind, alg); alg++) {
        for (int mode = modes ? 0 : -1;
             mode < (modes ? QCRYPTO_CIPHER_MODE__MAX : 0); mode++) {
            for (unsigned a = cal->arity_min; a <= cal->arity_max; a++) {
                add_shape(shapes, cal, alg, mode, a);
            }
        }
    }
}

/* The calibrators that the list names; NULL and an error on a wrong name. */
static GPtrArray *parse_kinds(const char *kinds, GError **errp)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    const bool all = !kinds || !g_ascii_strcasecmp(kinds, "all");
    g_auto(GStrv) words = g_strsplit(all ? "" : kinds, ",", -1);

    if (!all && !*kinds) {
        qcrypto_error_unknown(errp, "kind of calibration", kinds);
        return NULL;
    }
    for (size_t i = 0; all && qcrypto_calibrators[i]; i++) {
        g_ptr_array_add(list, (void *)(uintptr_t)qcrypto_calibrators[i]);
    }
    for (char **w = words; *w; w++) {
        const int kind = qcrypto_kind_from_name(g_strstrip(*w));
        size_t i = 0;

        while (qcrypto_calibrators[i] &&
               (int)qcrypto_calibrators[i]->kind != kind) {
            i++;
        }
        if (!qcrypto_calibrators[i]) {
            qcrypto_error_unknown(errp, "kind of calibration", *w);
            return NULL;
        }
        g_ptr_array_add(list, (void *)(uintptr_t)qcrypto_calibrators[i]);
    }
    return g_steal_pointer(&list);
}

/* ---- measuring ---- */

/* ns at a size by the line through the two sizes before; never less */
static double extended(const Shape *s, size_t at, size_t i)
{
    const double x0 = (double)s->cal->sizes[at - 2];
    const double x1 = (double)s->cal->sizes[at - 1];
    const double y0 = s->ns[at - 2][i], y1 = s->ns[at - 1][i];

    return y1 + MAX(y1 - y0, 0) / (x1 - x0) * ((double)s->cal->sizes[at] - x1);
}

/* within the margin of the best */
static bool good(const Shape *s, size_t at, size_t i)
{
    double best = 0;

    for (size_t j = 0; j < s->n; j++) {
        if (s->ns[at][j] > 0 && (!best || s->ns[at][j] < best)) {
            best = s->ns[at][j];
        }
    }
    return s->ns[at][i] > 0 &&
           s->ns[at][i] <= best * (1 + QCRYPTO_CALIBRATE_MARGIN / 100.0);
}

/* One size of one shape. */
static bool measure_size(Shape *s, size_t at, QCryptoStopwatch *watch,
                         uint8_t *buf)
{
    QCryptoContestant c[SHAPE_CANDIDATES] = {{0}};
    QCryptoWork w[SHAPE_CANDIDATES] = {{0}};
    size_t which[SHAPE_CANDIDATES];
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (at > 1 && at + 1 == s->cal->nsizes && s->ns[at - 1][i] > SLOW_NS) {
            s->ns[at][i] = extended(s, at, i);
            continue;
        }
        w[n] = (QCryptoWork){.row = s->candidates[i]->row,
                             .size = s->cal->sizes[at],
                             .arity = s->arity,
                             .buf = buf};
        if (s->cal->open(&w[n]) == 0) {
            c[n] = (QCryptoContestant){.work = s->cal->work, .state = &w[n]};
            which[n++] = i;
        }
    }
    const bool all = qcrypto_measure(watch, c, n);
    for (size_t i = 0; i < n; i++) {
        double *ns = &s->ns[at][which[i]];

        s->cal->close(&w[i]);
        if (w[i].failed) {
            *ns = 0;
        } else if (!*ns || (c[i].ns > 0 && c[i].ns < *ns)) {
            *ns = c[i].ns;
        }
    }
    return all;
}

/*
 * The written order is overruled by two measurements, not by one: a neighbour
 * may have been at the caches.  Not on a clock whose ticks are dear.
 */
static bool measure_well(Shape *s, size_t at, QCryptoStopwatch *watch,
                         uint8_t *buf)
{
    if (!measure_size(s, at, watch, buf)) {
        return false;
    }
    if (!good(s, at, 0) && watch->tick <= watch->min_ns) {
        measure_size(s, at, watch, buf);
    }
    return true;
}

/*
 * The shapes that time allows, the rest keeps the written order.  On a clock
 * so coarse that ticks alone would use up the budget, kinds whose shapes rank
 * alike have their first shape measured at one size for all.
 */
static void measure(Shape *shapes, size_t n, QCryptoStopwatch *watch,
                    uint8_t *buf, QCryptoCalibrateProgress *progress, void *opaque)
{
    for (size_t i = 0; i < n; i++) {
        Shape *s = &shapes[i];
        const QCryptoCalibrator *k = s->cal;
        char what[64];

        if (progress) {
            progress(qcrypto_describe(what, k->kind, s->alg, s->mode), i, n,
                     opaque);
        }
        Shape *first = s;
        while (first > shapes && first[-1].cal == k) {
            first--;
        }
        /* three attempts at every shape and size would take half of it all */
        const bool coarse = watch->tick > watch->min_ns &&
                            watch->tick * k->nsizes * s->n * 3 *
                                    (k->arity_max - k->arity_min + 1) >
                                watch->budget_ns / 2;

        if (k->alike && coarse && s != first && first->measured) {
            memcpy(s->ns, first->ns, sizeof(s->ns));
            s->measured = true;
            continue;
        }
        s->measured = measure_well(s, 0, watch, buf);
        for (size_t at = 1; s->measured && at < k->nsizes; at++) {
            if (k->alike && watch->tick > watch->min_ns &&
                watch->tick * s->n * 3 * k->nsizes > watch->budget_ns / 2) {
                for (size_t j = 0; j < s->n; j++) {
                    s->ns[at][j] = s->ns[0][j] * (double)k->sizes[at] /
                                   (double)k->sizes[0];
                }
            } else {
                s->measured = measure_well(s, at, watch, buf);
            }
        }
    }
}

/* ---- choosing ---- */

/*
 * Where the lines of a and b through the sizes at - 1 and at cross, rounded
 * up to whole blocks; between the two sizes whatever the numbers say.
 */
static size_t crossover(const Shape *s, size_t at, size_t a, size_t b)
{
    const double x0 = (double)s->cal->sizes[at - 1];
    const double x1 = (double)s->cal->sizes[at];
    const double d0 = s->ns[at - 1][a] - s->ns[at - 1][b];
    const double d1 = s->ns[at][a] - s->ns[at][b];
    double x = x1;

    if (d1 > d0) {
        x = x0 + (x1 - x0) * (-d0 / (d1 - d0));
    }
    x = CLAMP(x, x0 + 1, x1);
    return ((size_t)ceil(x) + 15) & ~(size_t)15;
}

static size_t choose(const Shape *s, size_t at, size_t serving)
{
    if (serving < s->n && good(s, at, serving)) {
        return serving;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (good(s, at, i)) {
            return i;
        }
    }
    return serving;
}

static QCryptoPlan plan(const Shape *s)
{
    QCryptoPlan p = {.kind = s->cal->kind,
                     .alg = s->alg,
                     .mode = s->mode,
                     .arity = s->arity,
                     .typical = s->cal->typical};
    size_t serving = s->n;

    for (size_t at = 0; s->measured && at < s->cal->nsizes; at++) {
        const size_t next = choose(s, at, serving);

        if (next == serving || next == s->n) {
            continue;
        }
        p.steps[p.n++] = (QCryptoStep){
            .from = serving == s->n ? 0 : crossover(s, at, serving, next),
            .candidate = s->candidates[next],
        };
        serving = next;
    }
    return p;
}

/* ---- publishing ---- */

int qcrypto_calibration_publish(Calibration *cal, GError **errp)
{
    QCryptoPlan *live = g_new(QCryptoPlan, cal ? cal->n : 1);
    size_t n = 0;

    for (size_t i = 0; cal && i < cal->n; i++) {
        if (cal->plans[i].n) {
            live[n++] = cal->plans[i];
        }
    }
    first_use();
    g_mutex_lock(&state.lock);
    const int ret = qcrypto_plans_publish(live, n, errp);
    if (ret == 0) {
        qcrypto_calibration_drop(state.current);
        state.current = cal;
        if (cal) {
            cal->generation = qcrypto_selection_generation();
        }
    } else {
        qcrypto_calibration_drop(cal);
    }
    g_mutex_unlock(&state.lock);
    g_free(live);
    return ret;
}

/* What is in force for other kinds than these, room for more behind it. */
static Calibration *others(const GPtrArray *kinds, size_t more)
{
    Calibration *old = qcrypto_calibration_copy();
    Calibration *c = qcrypto_calibration_alloc((old ? old->n : 0) + more);

    c->n = 0;
    for (size_t i = 0; old && i < old->n; i++) {
        if (!g_ptr_array_find((GPtrArray *)kinds, old->shapes[i].cal, NULL)) {
            c->shapes[c->n] = old->shapes[i];
            c->plans[c->n++] = old->plans[i];
        }
    }
    qcrypto_calibration_drop(old);
    return c;
}

static int run(GPtrArray *kinds, QCryptoStopwatch *watch,
               QCryptoCalibrateProgress *progress, void *opaque, GError **errp)
{
    /* on whole pages, as large requests are */
    const size_t page = 4096;
    const size_t room = (size_t)QCRYPTO_CALIBRATE_MAX_SIZE * (QCRYPTO_XOR_ARITY + 1);
    const size_t nbuf = room + page;
    g_autoptr(GArray) shapes = g_array_new(FALSE, TRUE, sizeof(Shape));
    uint8_t *memory = qcrypto_alloc(nbuf);
    uint8_t *buf = (uint8_t *)(((uintptr_t)memory + page - 1) & ~(page - 1));

    if (!memory) {
        return qcrypto_error_memory(errp, "calibration", nbuf / 1024, 0);
    }
    /* else all pages are the one page of zeros, which no cache treats alike */
    memset(buf, 0x5a, room);
    /* candidates in the written order, not in that of an earlier result */
    if (qcrypto_calibration_publish(others(kinds, 0), errp) < 0) {
        qcrypto_wipe_free(memory, nbuf);
        return -1;
    }
    for (guint i = 0; i < kinds->len; i++) {
        add_kind(shapes, g_ptr_array_index(kinds, i));
    }
    measure((Shape *)(void *)shapes->data, shapes->len, watch, buf, progress,
            opaque);
    qcrypto_wipe_free(memory, nbuf);

    Calibration *cal = others(kinds, shapes->len);
    for (guint i = 0; i < shapes->len; i++) {
        cal->shapes[cal->n] = g_array_index(shapes, Shape, i);
        cal->plans[cal->n] = plan(&cal->shapes[cal->n]);
        cal->n++;
    }
    cal->seconds = (double)watch->spent / 1e9;
    cal->clock_ns = (double)watch->tick;
    return qcrypto_calibration_publish(cal, errp);
}

int qcrypto_calibrate_clock(const char *kinds, unsigned budget_ms,
                            QCryptoClock *clock, void *clock_opaque,
                            QCryptoCalibrateProgress *progress, void *opaque,
                            GError **errp)
{
    g_autoptr(GPtrArray) list = parse_kinds(kinds, errp);

    if (!list) {
        return -1;
    }
    if (!budget_ms) {
        const QCryptoCalibrator *only = g_ptr_array_index(list, 0);

        budget_ms = list->len == 1 && only->kind == QCRYPTO_KIND_XOR ? 100 : 2000;
    }
    if (!g_mutex_trylock(&state.busy)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                             "a calibration is running already");
    }
    QCryptoStopwatch watch = {
        .clock = clock,
        .clock_opaque = clock_opaque,
        .min_ns = 30000,
        .budget_ns = (uint64_t)budget_ms * 1000000u,
        .attempts = 3,
    };
    const int ret = run(list, &watch, progress, opaque, errp);
    g_mutex_unlock(&state.busy);
    return ret;
}

/* ---- public ---- */

int qcrypto_calibrate(const char *kinds, unsigned budget_ms,
                      QCryptoCalibrateProgress *progress, void *opaque,
                      GError **errp)
{
    return qcrypto_calibrate_clock(kinds, budget_ms, NULL, NULL, progress, opaque,
                                   errp);
}

void qcrypto_calibration_clear(void)
{
    qcrypto_calibration_publish(NULL, NULL);
}

/* bytes a piece moves: all sources; both directions of a cipher */
static double piece_bytes(const Shape *s, size_t at)
{
    const unsigned times = s->arity                             ? s->arity
                           : s->cal->kind == QCRYPTO_KIND_CIPHER ? 2
                                                                 : 1;
    return (double)s->cal->sizes[at] * times;
}

static void report_shape(QCryptoCalibration *out, const Shape *s,
                         const QCryptoPlan *p)
{
    const char *kind = qcrypto_kind_name(s->cal->kind);
    const char *alg = qcrypto_alg(s->cal->kind, s->alg)->name;
    const char *mode = qcrypto_mode_name(s->mode);

    out->unmeasured += !s->measured;
    for (size_t at = 0; at < s->cal->nsizes; at++) {
        const QCryptoCandidate *chosen =
            p->n ? qcrypto_plan_step(p, s->cal->sizes[at])->candidate
                 : s->candidates[0];

        for (size_t i = 0; i < s->n; i++) {
            if (s->ns[at][i] > 0) {
                out->results[out->nresults++] = (QCryptoCalibrationResult){
                    .kind = kind,
                    .algorithm = alg,
                    .mode = mode,
                    .arity = s->arity,
                    .size = s->cal->sizes[at],
                    .provider = s->candidates[i]->provider->name,
                    .impl = s->candidates[i]->row->impl,
                    .mib_per_s =
                        piece_bytes(s, at) / s->ns[at][i] * 1e9 / 0x1p20,
                    .chosen = s->candidates[i] == chosen,
                    .written = i == 0,
                };
            }
        }
    }
    for (unsigned i = 0; i < p->n; i++) {
        out->steps[out->nsteps++] = (QCryptoCalibrationStep){
            .kind = kind,
            .algorithm = alg,
            .mode = mode,
            .arity = s->arity,
            .from = p->steps[i].from,
            .provider = p->steps[i].candidate->provider->name,
            .impl = p->steps[i].candidate->row->impl,
        };
    }
}

QCryptoCalibration *qcrypto_calibration_get(void)
{
    Calibration *c = qcrypto_calibration_copy();

    if (!c) {
        return NULL;
    }
    QCryptoCalibration *out = g_new0(QCryptoCalibration, 1);
    out->results = g_new0(QCryptoCalibrationResult,
                          c->n * SHAPE_SIZES * SHAPE_CANDIDATES + 1);
    out->steps = g_new0(QCryptoCalibrationStep, c->n * QCRYPTO_PLAN_STEPS + 1);
    out->seconds = c->seconds;
    out->clock_ns = c->clock_ns;
    for (size_t i = 0; i < c->n; i++) {
        report_shape(out, &c->shapes[i], &c->plans[i]);
    }
    qcrypto_calibration_drop(c);
    return out;
}

void qcrypto_calibration_free(QCryptoCalibration *c)
{
    if (c) {
        g_free(c->results);
        g_free(c->steps);
        g_free(c);
    }
}
