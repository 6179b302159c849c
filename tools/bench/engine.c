/*
 * The measuring engine: see engine.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/engine.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "crypto/base/error.h"

#define NS_PER_SEC 1000000000.0

/* Work between two clock reads lasts this many times the reading itself. */
#define CLOCK_SHARE 100
/* Below half of it a sample is refused: the clock would be 2% of it. */
#define CLOCK_SHARE_MIN 50
/* A calibration that got this far has a clock that stands still. */
#define MAX_BATCH ((uint64_t)1 << 28)
/* What a row that must stay below its bound may be above it by noise, */
#define BOUND_MARGIN 1.03
/* and how often the two are measured again before that is held against it */
#define BOUND_RETRIES 20
/* The same for N threads against N times one. */
#define THREADS_MARGIN 1.1
/* A sample longer than what a scheduler gives at once loses its CPU on a busy
 * machine every time: taking it again would only take long. */
#define RETAKE_MAX_NS 10000000

uint64_t qcrypto_bench_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

double qcrypto_bench_tick_rate(void)
{
    static double rate;
    static gsize once;

    if (g_once_init_enter(&once)) {
        uint64_t t0 = qcrypto_bench_clock(), c0 = ticks(), t1;

        do {
            t1 = qcrypto_bench_clock();
        } while (t1 - t0 < 10000000);
        rate = qcrypto_bench_rate(ticks() - c0, t1 - t0);
        g_once_init_leave(&once, 1);
    }
    return rate;
}

double qcrypto_bench_rate(uint64_t n, uint64_t ns)
{
    return ns ? (double)n * NS_PER_SEC / (double)ns : 0;
}

double qcrypto_bench_clock_cost(uint64_t (*clock)(void))
{
    enum { READS = 200, ROUNDS = 5 };
    double best = INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = clock(), end = start;

        for (int i = 0; i < READS; i++) {
            end = clock();
        }
        best = MIN(best, (double)(end - start) / READS);
    }
    return best;
}

/* The smallest step in which the clock was seen to move, at least 1 ns. */
static uint64_t clock_step(uint64_t (*clock)(void))
{
    uint64_t step = UINT64_MAX, last = clock();

    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock();

        if (now != last) {
            step = MIN(step, now - last);
        }
        last = now;
    }
    return step == UINT64_MAX ? 1 : step;
}

QCryptoBenchCase *qcrypto_bench_case_dup(const QCryptoBenchCase *c)
{
    QCryptoBenchCase *d = g_new(QCryptoBenchCase, 1);

    *d = *c;
    d->algorithm = g_strdup(c->algorithm);
    d->provider = g_strdup(c->provider);
    d->impl = g_strdup(c->impl);
    d->unavailable = g_strdup(c->unavailable);
    d->row = g_strdup(c->row);
    return d;
}

void qcrypto_bench_case_free(QCryptoBenchCase *c)
{
    if (c) {
        g_free(c->algorithm);
        g_free(c->provider);
        g_free(c->impl);
        g_free(c->unavailable);
        g_free(c->row);
        g_free(c);
    }
}

/* ---- One sample: one thread or many ---- */

/* POSIX and not GLib, so that ThreadSanitizer sees what it orders */
typedef struct Gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned waiting;
    enum { GATE_SHUT, GATE_OPEN, GATE_GONE } state;
} Gate;

typedef struct Worker {
    const QCryptoBenchCase *c;
    const QCryptoBenchPlan *plan;
    void *state;
    unsigned index;
    Gate *gate; /* NULL: alone */
    uint64_t (*clock)(void);
    uint64_t total; /* requests to do; 0: until time is up */
    uint64_t batch; /* requests between two clock reads */
    uint64_t least; /* time below which a batch is doubled; 0: never */
    uint64_t ns;    /* the time of all */
    /* what came of it */
    uint64_t start, end, calls, batches, ticks, lost;
    unsigned in_flight; /* now, */
    unsigned most;      /* and at most */
    uint64_t submitted;
    GError *error;
} Worker;

/* Puts the calling thread where thread @index belongs. */
static int place(const QCryptoBenchPlan *plan, unsigned index, GError **errp)
{
    cpu_set_t set;

    if (!plan->ncpus) {
        return 0;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)plan->cpus[index % plan->ncpus], &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set)
               ? qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "cannot run on CPU %d",
                               plan->cpus[index % plan->ncpus])
               : 0;
}

static bool is_asynchronous(const QCryptoBenchCase *c)
{
    return c->reqnum > 1 && c->ops->submit;
}

static int reap(Worker *w, GError **errp)
{
    const int n = w->c->ops->reap(w->state, errp);

    if (n > 0) {
        w->in_flight -= (unsigned)n;
        w->calls += (uint64_t)n;
    }
    return n < 0 ? -1 : 0;
}

/*
 * At least so many requests more; those in flight stay in flight.  No more
 * are submitted than there are in all.
 */
static int requests(Worker *w, uint64_t calls)
{
    const uint64_t goal = w->calls + calls;

    if (!is_asynchronous(w->c)) {
        w->most = 1;
        w->calls = goal;
        return w->c->ops->run(w->state, calls, &w->error);
    }
    while (w->calls < goal) {
        while (w->in_flight < w->c->reqnum &&
               (!w->total || w->submitted < w->total)) {
            if (w->c->ops->submit(w->state, &w->error) < 0) {
                return -1;
            }
            w->submitted++;
            w->in_flight++;
        }
        w->most = MAX(w->most, w->in_flight);
        if (reap(w, &w->error) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Waits for what is in flight, after an error too. */
static void drain(Worker *w)
{
    while (w->in_flight && reap(w, w->error ? NULL : &w->error) == 0) {
    }
}

static bool gate_pass(Gate *gate)
{
    bool open;

    pthread_mutex_lock(&gate->lock);
    gate->waiting++;
    pthread_cond_broadcast(&gate->moved);
    while (gate->state == GATE_SHUT) {
        pthread_cond_wait(&gate->moved, &gate->lock);
    }
    open = gate->state == GATE_OPEN;
    pthread_mutex_unlock(&gate->lock);
    return open;
}

/* Opens the gate when all @expected threads stand before it. */
static void gate_open(Gate *gate, unsigned expected, bool go)
{
    pthread_mutex_lock(&gate->lock);
    while (go && gate->waiting < expected) {
        pthread_cond_wait(&gate->moved, &gate->lock);
    }
    gate->state = go ? GATE_OPEN : GATE_GONE;
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}

/* How often this thread has lost its CPU against its will. */
static uint64_t losses(const QCryptoBenchPlan *plan)
{
    struct rusage u;

    if (plan->losses) {
        return plan->losses();
    }
    return getrusage(RUSAGE_THREAD, &u) == 0 ? (uint64_t)u.ru_nivcsw : 0;
}

static gpointer worker_run(gpointer opaque)
{
    Worker *w = opaque;
    uint64_t batch = w->total ? w->total : w->batch;
    uint64_t first, last;

    if (w->gate) {
        place(w->plan, w->index, &w->error);
        if (!gate_pass(w->gate) || w->error) {
            return NULL;
        }
    }
    w->lost = losses(w->plan);
    w->start = w->end = w->clock();
    first = ticks();
    do {
        if (requests(w, batch) < 0) {
            drain(w);
            return NULL;
        }
        w->batches++;
        last = w->end;
        w->end = w->clock();
        if (w->end - last < w->least && batch < MAX_BATCH) {
            batch *= 2;
        }
    } while (!w->total && w->end - w->start < w->ns);
    if (w->in_flight) {
        drain(w);
        w->end = w->clock();
    }
    w->ticks = ticks() - first;
    w->lost = losses(w->plan) - w->lost;
    return NULL;
}

/* The workers' shares of one sample, run; -1 with the first error. */
static int run_workers(Worker *workers, unsigned n, GError **errp)
{
    Gate gate = {.state = GATE_SHUT};
    g_autofree GThread **threads = NULL;
    unsigned started = 0;
    int ret = 0;

    if (n == 1) {
        worker_run(&workers[0]);
    } else {
        threads = g_new0(GThread *, n);
        pthread_mutex_init(&gate.lock, NULL);
        pthread_cond_init(&gate.moved, NULL);
        for (; started < n; started++) {
            workers[started].gate = &gate;
            threads[started] =
                g_thread_try_new("bench", worker_run, &workers[started], errp);
            if (!threads[started]) {
                ret = -1;
                break;
            }
        }
        gate_open(&gate, n, ret == 0);
        for (unsigned i = 0; i < started; i++) {
            g_thread_join(threads[i]);
        }
        pthread_cond_destroy(&gate.moved);
        pthread_mutex_destroy(&gate.lock);
    }
    for (unsigned i = 0; i < n; i++) {
        if (workers[i].error) {
            if (ret == 0) {
                g_propagate_error(errp, workers[i].error);
                ret = -1;
            } else {
                g_error_free(workers[i].error);
            }
        }
    }
    return ret;
}

/* ---- A case under way ---- */

typedef struct Runner {
    const QCryptoBenchCase *c;
    const QCryptoBenchPlan *plan;
    uint64_t (*clock)(void);
    double clock_cost;
    uint64_t clock_step;
    void **states; /* one a thread */
    uint64_t batch;
    uint64_t batch_ns; /* what a batch should take; 0: it was given */
    GArray *samples;
    QCryptoBenchCounterSet set;
    bool counting;
    QCryptoBenchResult *result;
} Runner;

G_GNUC_PRINTF(2, 3)
static void fail(Runner *r, const char *fmt, ...)
{
    va_list ap;

    if (!r->result->failed) {
        va_start(ap, fmt);
        r->result->failed = g_strdup_vprintf(fmt, ap);
        va_end(ap);
    }
}

static void fail_with(Runner *r, const char *stage, GError *error)
{
    fail(r, "%s%s", stage, error ? error->message : "failed without a reason");
    g_clear_error(&error);
}

static void set_up(Runner *r)
{
    const char *provider = NULL, *impl = NULL;
    GError *error = NULL;

    if (r->c->unavailable) {
        fail(r, "%s", r->c->unavailable);
        return;
    }
    r->states = g_new0(void *, r->c->threadnum);
    for (unsigned i = 0; i < r->c->threadnum; i++) {
        /* memory is that of the node which touches it first */
        if (place(r->plan, i, &error) < 0 ||
            !(r->states[i] = r->c->ops->setup(r->c, &error)) ||
            r->c->ops->verify(r->states[i], &error) < 0) {
            fail_with(r, "", error);
            return;
        }
    }
    if (r->c->ops->ratio) {
        r->result->ratio = r->c->ops->ratio(r->states[0]);
    }
    r->c->ops->identify(r->states[0], &provider, &impl);
    r->result->provider = g_strdup(provider);
    r->result->impl = g_strdup(impl);
    if (r->c->impl && g_strcmp0(impl, r->c->impl) != 0) {
        fail(r, "%s ran instead of %s", impl, r->c->impl);
    }
}

static void tear_down(Runner *r)
{
    if (r->states) {
        for (unsigned i = 0; i < r->c->threadnum; i++) {
            if (r->states[i]) {
                r->c->ops->teardown(r->states[i]);
            }
        }
        g_free(r->states);
    }
}

/* So many requests of the first thread, from the first to the last. */
static int run_calls(Runner *r, uint64_t calls)
{
    Worker w = {.c = r->c, .state = r->states[0], .total = calls};

    requests(&w, calls);
    drain(&w);
    if (w.error) {
        fail_with(r, "", w.error);
        return -1;
    }
    return 0;
}

/*
 * How many requests fill the time between two clock reads: a sixteenth of a
 * sample, so that the sample ends when it should, but not less than keeps
 * the clock's own cost out of it.  Whoever interrupts a calibration makes the
 * batch too small, which the samples put right as they see it.
 */
static void calibrate(Runner *r)
{
    double target = r->plan->seconds * NS_PER_SEC / 16;
    uint64_t calls = 1, ns = 0;

    if (r->plan->loop) {
        r->batch = r->plan->loop;
        return;
    }
    target = MIN(target, 5e6);
    target = MAX(target, r->clock_cost * CLOCK_SHARE);
    target = MAX(target, 1.0);
    /* The first request of an object may fault its pages in: not counted. */
    if (run_calls(r, 1) < 0) {
        return;
    }
    for (;;) {
        uint64_t start = r->clock();

        if (run_calls(r, calls) < 0) {
            return;
        }
        ns = r->clock() - start;
        if ((double)ns >= target / 2) {
            break;
        }
        if (calls >= MAX_BATCH) {
            fail(r,
                 "too short to measure: the clock moved by %" G_GUINT64_FORMAT
                 " ns during %" G_GUINT64_FORMAT " requests",
                 ns, calls);
            return;
        }
        calls *= 2;
    }
    r->batch = (uint64_t)((double)calls * target / (double)ns);
    r->batch = CLAMP(r->batch, 1, MAX_BATCH);
    r->batch_ns = (uint64_t)target;
}

/* Requests of worker i when @total are shared by @n. */
static uint64_t share(uint64_t total, unsigned n, unsigned i)
{
    return total / n + (i < total % n);
}

static void sample(Runner *r, double seconds, bool keep)
{
    const QCryptoBenchCase *c = r->c;
    const QCryptoBenchPlan *plan = r->plan;
    g_autofree Worker *workers = g_new0(Worker, c->threadnum);
    QCryptoBenchSample s = {.thread_min = INFINITY};
    uint64_t start = UINT64_MAX, end = 0, batches = 0, busy = 0;
    uint64_t total = 0;
    unsigned n = 0;
    GError *error = NULL;

    if (plan->fixed_bytes) {
        total = qcrypto_bench_fixed(plan->fixed_bytes, c) / c->request_bytes;
    }
    for (unsigned i = 0; i < c->threadnum; i++) {
        Worker *w = &workers[n];

        w->c = c;
        w->plan = plan;
        w->index = i;
        w->state = r->states[i];
        w->clock = r->clock;
        w->total = plan->fixed_bytes ? share(total, c->threadnum, i) : 0;
        w->batch = r->batch;
        w->least = r->batch_ns / 2;
        w->ns = (uint64_t)(seconds * NS_PER_SEC);
        /* more threads than requests: the last ones have nothing to do */
        n += !plan->fixed_bytes || w->total;
    }
    if (plan->progress && keep) {
        plan->progress(c, plan->opaque);
    }
    if (r->counting && keep) {
        qcrypto_bench_counters_start(&r->set);
    }
    if (run_workers(workers, n, &error) < 0) {
        fail_with(r, "", error);
    }
    for (unsigned i = 0; i < n; i++) {
        const Worker *w = &workers[i];
        double rate =
            qcrypto_bench_rate(w->calls * c->request_bytes, w->end - w->start);

        start = MIN(start, w->start);
        end = MAX(end, w->end);
        s.calls += w->calls;
        s.thread_min = MIN(s.thread_min, rate);
        s.thread_max = MAX(s.thread_max, rate);
        batches += w->batches;
        busy += w->end - w->start;
        s.lost += w->lost;
        r->result->in_flight = MAX(r->result->in_flight, w->most);
    }
    s.ns = end - start;
    s.bytes = s.calls * c->request_bytes;
    s.ticks = n == 1 ? workers[0].ticks : 0;
    if (r->counting && keep) {
        qcrypto_bench_counters_stop(&r->set, s.bytes, s.calls,
                                    &r->result->counters);
    }
    if (r->result->failed || !keep) {
        return;
    }
    if ((double)busy < (double)batches * r->clock_cost * CLOCK_SHARE_MIN ||
        s.ns < r->clock_step * CLOCK_SHARE_MIN) {
        fail(r,
             "too short to measure: %.0f ns between two readings of the "
             "clock (%" G_GUINT64_FORMAT " requests), of which a reading "
             "takes %.0f ns in steps of %" G_GUINT64_FORMAT " ns",
             (double)busy / (double)batches, s.calls / batches, r->clock_cost,
             r->clock_step);
        return;
    }
    g_array_append_val(r->samples, s);
}

/* ---- What the samples say ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static QCryptoBenchStats stats_of(const double *values, unsigned n)
{
    g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
    QCryptoBenchStats s;
    double mean = 0, squares = 0;

    qsort(sorted, n, sizeof *sorted, compare_doubles);
    for (unsigned i = 0; i < n; i++) {
        mean += sorted[i] / n;
    }
    for (unsigned i = 0; i < n; i++) {
        squares += (sorted[i] - mean) * (sorted[i] - mean);
    }
    s.best = sorted[n - 1];
    s.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    s.stddev = n > 1 ? sqrt(squares / (n - 1)) : 0;
    return s;
}

/* By the CPU's own count where there is one, else by the time-stamp's. */
static double cycles_per_byte(const QCryptoBenchResult *r)
{
    const QCryptoBenchCounters *c = &r->counters;

    if (c->have[QCRYPTO_BENCH_CYCLES] && c->bytes) {
        return (double)c->value[QCRYPTO_BENCH_CYCLES] / (double)c->bytes;
    }
    return r->best.bytes ? (double)r->best.ticks / (double)r->best.bytes : 0;
}

/* Hz: counted, where the counters saw all that the task clock saw. */
static double frequency_of(const QCryptoBenchCounters *c, double estimate)
{
    const uint64_t ns = c->value[QCRYPTO_BENCH_TASK_CLOCK_NS];

    return c->have[QCRYPTO_BENCH_CYCLES] && c->kernel && ns
               ? qcrypto_bench_rate(c->value[QCRYPTO_BENCH_CYCLES], ns)
               : estimate;
}

static void conclude(Runner *r)
{
    const QCryptoBenchSample *s = (const void *)r->samples->data;
    unsigned n = r->samples->len;
    g_autofree double *bytes = g_new(double, n);
    g_autofree double *calls = g_new(double, n);
    QCryptoBenchResult *result = r->result;

    result->best = s[0];
    for (unsigned i = 0; i < n; i++) {
        bytes[i] = qcrypto_bench_rate(s[i].bytes, s[i].ns);
        calls[i] = qcrypto_bench_rate(s[i].calls, s[i].ns);
        if (calls[i] >
            qcrypto_bench_rate(result->best.calls, result->best.ns)) {
            result->best = s[i];
        }
    }
    result->bytes_per_sec = stats_of(bytes, n);
    result->ops_per_sec = stats_of(calls, n);
    result->cycles_per_byte = cycles_per_byte(result);
    result->disturbed = 0;
    for (unsigned i = 0; i < n; i++) {
        result->disturbed += s[i].lost > 0;
    }
}

/*
 * Rows that do the bound's work and more cannot be faster than it.  A busy
 * neighbour can make it look so: the two are measured again before one of
 * them is called wrong.
 */
static void hold_bounds(Runner *runners, size_t n)
{
    Runner *bound = NULL;

    for (size_t i = 0; i < n; i++) {
        if (runners[i].c->flags & QCRYPTO_BENCH_BOUND &&
            !runners[i].result->failed) {
            bound = &runners[i];
        }
    }
    for (size_t i = 0; bound && i < n; i++) {
        Runner *r = &runners[i];
        const QCryptoBenchStats *limit = &bound->result->bytes_per_sec;
        const QCryptoBenchStats *own = &r->result->bytes_per_sec;

        for (int retry = 0;
             r->c->flags & QCRYPTO_BENCH_BOUNDED && !is_asynchronous(r->c) &&
             !r->result->failed && !bound->result->failed &&
             own->best > limit->best * BOUND_MARGIN;
             retry++) {
            if (retry == BOUND_RETRIES) {
                fail(r,
                     "%.1f%% faster than %s, which does less: one of the two "
                     "is not what it says",
                     (own->best / limit->best - 1) * 100, bound->c->provider);
                break;
            }
            sample(bound, bound->plan->seconds, true);
            sample(r, r->plan->seconds, true);
            conclude(bound);
            conclude(r);
        }
    }
}

static bool has_enough(const Runner *r)
{
    const QCryptoBenchSample *s = (const void *)r->samples->data;
    double ns = 0;

    if (!r->plan->least || r->samples->len < r->plan->least) {
        return false;
    }
    for (guint i = 0; i < r->samples->len; i++) {
        ns += (double)s[i].ns;
    }
    return ns >= r->plan->enough * NS_PER_SEC;
}

/* A sample in the place of a disturbed one; false: there is none of these. */
static bool take_again(Runner *r)
{
    const guint last = r->samples->len;

    for (guint i = 0; i < last; i++) {
        const QCryptoBenchSample *old =
            &g_array_index(r->samples, QCryptoBenchSample, i);

        if (!old->lost || old->ns > RETAKE_MAX_NS) {
            continue;
        }
        sample(r, r->plan->seconds, true);
        if (r->samples->len > last) {
            const QCryptoBenchSample s =
                g_array_index(r->samples, QCryptoBenchSample, last);

            g_array_set_size(r->samples, last);
            if (!s.lost) {
                g_array_index(r->samples, QCryptoBenchSample, i) = s;
            }
        }
        return true;
    }
    return false;
}

static void retake(Runner *runners, size_t n, const QCryptoBenchPlan *plan)
{
    bool any = plan->retake;

    for (unsigned round = 0; any && round < plan->repeat; round++) {
        any = false;
        for (size_t i = 0; i < n; i++) {
            Runner *r = &runners[round % 2 ? n - 1 - i : i];

            /* threads that take turns lose their CPUs to each other */
            if (!r->result->failed &&
                r->c->threadnum <= g_get_num_processors()) {
                any |= take_again(r);
            }
        }
    }
}

size_t qcrypto_bench_group(QCryptoBenchCase *const *cases, size_t n,
                           const QCryptoBenchPlan *plan,
                           QCryptoBenchResult *results)
{
    g_autofree Runner *runners = g_new0(Runner, n);
    uint64_t (*clock)(void) = plan->clock ? plan->clock : qcrypto_bench_clock;
    double cost = qcrypto_bench_clock_cost(clock);
    uint64_t step = clock_step(clock);
    const bool bound = plan->ncpus > 0;
    cpu_set_t before;
    double frequency = 0;
    size_t failures = 0;

    if (bound) {
        pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    }
    memset(results, 0, n * sizeof *results);
    for (size_t i = 0; i < n; i++) {
        Runner *r = &runners[i];

        r->c = results[i].c = cases[i];
        r->plan = results[i].plan = plan;
        r->clock = clock;
        r->clock_cost = cost;
        r->clock_step = step;
        r->samples = g_array_new(FALSE, FALSE, sizeof(QCryptoBenchSample));
        r->result = &results[i];
        set_up(r);
        place(plan, 0, NULL);
        if (!r->result->failed && plan->fixed_bytes &&
            (!r->c->request_bytes ||
             qcrypto_bench_fixed(plan->fixed_bytes, r->c) %
                 r->c->request_bytes)) {
            fail(r,
                 "%" G_GUINT64_FORMAT " bytes are no whole number of requests "
                 "of %" G_GUINT64_FORMAT " bytes",
                 plan->fixed_bytes, r->c->request_bytes);
        }
        if (!r->result->failed && plan->counters) {
            qcrypto_bench_counters_open(&r->set);
            r->counting = true;
        }
        if (!r->result->failed && !plan->fixed_bytes) {
            calibrate(r);
        }
        if (!r->result->failed && !plan->fixed_bytes && plan->warmup > 0) {
            sample(r, plan->warmup, false);
        }
    }
    for (unsigned round = 0; round < plan->repeat; round++) {
        for (size_t i = 0; i < n; i++) {
            Runner *r = &runners[round % 2 ? n - 1 - i : i];

            if (!r->result->failed && !has_enough(r)) {
                sample(r, plan->seconds, true);
            }
        }
    }
    retake(runners, n, plan);
    for (size_t i = 0; i < n; i++) {
        if (!runners[i].result->failed) {
            conclude(&runners[i]);
        }
    }
    hold_bounds(runners, n);
    if (!plan->fixed_bytes) {
        /* while the core is still as warm as it was */
        frequency = qcrypto_bench_frequency_estimate();
    }
    for (size_t i = 0; i < n; i++) {
        Runner *r = &runners[i];
        GError *error = NULL;

        for (unsigned t = 0; !r->result->failed && t < r->c->threadnum; t++) {
            if (r->c->ops->check(r->states[t], &error) < 0) {
                fail_with(r, "after the measurement: ", error);
            }
        }
        r->result->verified = !r->result->failed;
        r->result->loop = r->batch;
        r->result->frequency = frequency_of(&r->result->counters, frequency);
        failures += r->result->failed != NULL;
        if (r->counting) {
            qcrypto_bench_counters_close(&r->set);
        }
        r->result->nsamples = r->samples->len;
        r->result->samples =
            (void *)g_array_free(r->samples, r->samples->len == 0);
        tear_down(r);
    }
    if (bound) {
        pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    }
    return failures;
}

/* The same work, but for the number of threads. */
static bool is_alike(const QCryptoBenchResult *a, const QCryptoBenchResult *b)
{
    const QCryptoBenchCase *x = a->c, *y = b->c;

    return a->plan == b->plan && x->algtype == y->algtype && x->op == y->op &&
           x->inputsize == y->inputsize && x->sectors == y->sectors &&
           x->reqnum == y->reqnum && x->keybits == y->keybits &&
           x->inplace == y->inplace && !strcmp(x->algorithm, y->algorithm) &&
           !strcmp(x->provider, y->provider) && !g_strcmp0(x->impl, y->impl);
}

void qcrypto_bench_doubt(QCryptoBenchResult *results, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        QCryptoBenchResult *r = &results[i];

        for (size_t j = 0; j < n && r->c->threadnum > 1 && !r->failed; j++) {
            const QCryptoBenchResult *one = &results[j];
            const double limit = one->ops_per_sec.best * r->c->threadnum;

            if (one->c->threadnum != 1 || one->failed || !is_alike(r, one) ||
                r->ops_per_sec.best <= limit * THREADS_MARGIN) {
                continue;
            }
            g_free(r->doubt);
            r->doubt = g_strdup_printf(
                "impossible: %u threads do %.1f times what one does",
                r->c->threadnum, r->ops_per_sec.best / one->ops_per_sec.best);
        }
    }
}

void qcrypto_bench_result_clear(QCryptoBenchResult *r)
{
    g_free(r->provider);
    g_free(r->impl);
    g_free(r->failed);
    g_free(r->doubt);
    g_free(r->samples);
    memset(r, 0, sizeof *r);
}
