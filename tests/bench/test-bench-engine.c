/*
 * The measuring engine, measured
 *
 * Two kinds of stand-ins: operations that move a clock of their own, so that
 * every rate is known beforehand; and a peer that wraps the library's own
 * cipher, counts what it is asked to do and can turn a bit at a chosen unit.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib.h>
#include <math.h>
#include <qcrypto/qcrypto.h>
#include <sched.h>
#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/error.h"
#include "tools/bench/command.h"
#include "tools/bench/kinds.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"
#include "tools/commands.h"

/* ---- What tools/qcrypto.c gives the subcommands ---- */

int qcrypto_cmd_fail(const char *command, GError *error)
{
    g_printerr("qcrypto %s: %s\n", command, error->message);
    g_error_free(error);
    return 1;
}

int qcrypto_cmd_misuse(const char *command, const char *fmt, ...)
{
    va_list ap;
    g_autofree char *text = NULL;

    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    g_printerr("qcrypto %s: %s\n", command, text);
    return 2;
}

/* ---- Operations on a clock of their own ---- */

static struct {
    uint64_t now;
    uint64_t read_cost;    /* ns that one reading of the clock takes */
    uint64_t request_cost; /* ns of a request, */
    uint64_t quicker;      /* and of one of the second case of a pair */
    uint64_t calls;
    bool wrong_before, wrong_after;
    GString *order;
} fake;

static uint64_t fake_clock(void)
{
    return fake.now += fake.read_cost;
}

static uint64_t stuck_clock(void)
{
    return 12345;
}

static void *fake_setup(const QCryptoBenchCase *c, GError **errp)
{
    return (void *)c;
}

static void fake_identify(const void *state, const char **provider,
                          const char **impl)
{
    const QCryptoBenchCase *c = state;

    *provider = c->provider;
    *impl = fake.quicker == 1 ? "another" : c->impl;
}

static int fake_verify(void *state, GError **errp)
{
    return fake.wrong_before
               ? qcrypto_error(errp, QCRYPTO_ERROR_IO, "wrong before")
               : 0;
}

static int fake_check(void *state, GError **errp)
{
    return fake.wrong_after
               ? qcrypto_error(errp, QCRYPTO_ERROR_IO, "wrong after")
               : 0;
}

static int fake_run(void *state, uint64_t calls, GError **errp)
{
    const QCryptoBenchCase *c = state;

    fake.now += calls * (c->alg ? fake.quicker : fake.request_cost);
    fake.calls += calls;
    return 0;
}

static void fake_teardown(void *state)
{
}

static const QCryptoBenchOps fake_ops = {
    .setup = fake_setup,
    .identify = fake_identify,
    .verify = fake_verify,
    .run = fake_run,
    .check = fake_check,
    .teardown = fake_teardown,
};

static void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.now = 1000;
    fake.read_cost = 20;
    fake.request_cost = 100;
    fake.quicker = 50;
}

/* alg: 0 or 1, which of two */
static QCryptoBenchCase fake_case(int alg)
{
    return (QCryptoBenchCase){
        .ops = &fake_ops,
        .algtype = "fake",
        .algorithm = (char *)"nothing",
        .optype = "run",
        .provider = (char *)(alg ? "b" : "a"),
        .impl = (char *)"one",
        .inputsize = 512,
        .sectors = 1,
        .threadnum = 1,
        .request_bytes = 512,
        .alg = alg,
    };
}

static const QCryptoBenchPlan fake_plan = {
    .seconds = 0.01,
    .repeat = 5,
    .clock = fake_clock,
};

#define assert_near(x, y) g_assert_cmpfloat_with_epsilon(x, y, 0.02 * (y))

static void test_rate(void)
{
    const uint64_t quarter = 250000000;
    g_autofree char *text =
        qcrypto_bench_rate_text(qcrypto_bench_rate(524288000, quarter));

    g_assert_cmpfloat(qcrypto_bench_rate(524288000, quarter), ==, 2097152000);
    g_assert_cmpfloat(qcrypto_bench_rate(524288000 / 512, quarter), ==,
                      4096000);
    g_assert_cmpstr(text, ==, "2000 MiB/s (2.097 GB/s)");
    g_assert_cmpfloat(qcrypto_bench_rate(1, 0), ==, 0);
}

/* 512 bytes in 100 ns, whatever the clock itself costs. */
static void test_known_rate(void)
{
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchCase *cases[] = {&a};
    QCryptoBenchResult r;

    fake_reset();
    g_assert_cmpuint(qcrypto_bench_group(cases, 1, &fake_plan, &r), ==, 0);
    g_assert_true(r.verified);
    g_assert_cmpuint(r.nsamples, ==, 5);
    assert_near(r.bytes_per_sec.best, 5.12e9);
    assert_near(r.bytes_per_sec.median, 5.12e9);
    assert_near(r.ops_per_sec.best, 1e7);
    g_assert_cmpfloat(r.bytes_per_sec.stddev, <, 0.01 * 5.12e9);
    for (unsigned i = 0; i < r.nsamples; i++) {
        g_assert_cmpuint(r.samples[i].bytes, ==, r.samples[i].calls * 512);
        g_assert_cmpuint(r.samples[i].ns, >=, 10000000);
        /* one batch too long at most */
        g_assert_cmpuint(r.samples[i].ns, <, 11000000);
    }
    qcrypto_bench_result_clear(&r);
}

/* Three samples whose requests take 400, 100 and 200 ns. */
static void next_cost(const QCryptoBenchCase *c, void *opaque)
{
    static const uint64_t costs[] = {400, 100, 200};
    unsigned *i = opaque;

    fake.request_cost = costs[(*i)++ % G_N_ELEMENTS(costs)];
}

static void test_stats(void)
{
    unsigned i = 0;
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchCase *cases[] = {&a};
    QCryptoBenchPlan plan = {
        .repeat = 3,
        .fixed_bytes = 512 * 100000,
        .clock = fake_clock,
        .progress = next_cost,
        .opaque = &i,
    };
    QCryptoBenchResult r;

    fake_reset();
    g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
    /* 1.28, 5.12 and 2.56 GB/s */
    assert_near(r.bytes_per_sec.best, 5.12e9);
    assert_near(r.bytes_per_sec.median, 2.56e9);
    assert_near(r.bytes_per_sec.stddev, 1.955e9);
    assert_near(r.ops_per_sec.median, 5e6);
    g_assert_cmpuint(r.best.calls, ==, 100000);
    assert_near((double)r.best.ns, 1e7);
    qcrypto_bench_result_clear(&r);
}

/* Long samples are few, short ones as many as are asked for. */
static void test_enough(void)
{
    static const struct {
        double seconds;
        unsigned samples;
    } table[] = {{0.01, 20}, {0.05, 5}, {0.1, 3}, {1, 3}};

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        QCryptoBenchCase a = fake_case(0);
        QCryptoBenchCase *cases[] = {&a};
        QCryptoBenchPlan plan = {
            .seconds = table[i].seconds,
            .repeat = 20,
            .least = 3,
            .enough = 0.25,
            .clock = fake_clock,
        };
        QCryptoBenchResult r;

        fake_reset();
        g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
        g_assert_cmpuint(r.nsamples, ==, table[i].samples);
        qcrypto_bench_result_clear(&r);
    }
}

/* Samples during which the CPU is lost, by number; the last holds for all
 * that follow.  Requests take ten times as long meanwhile. */
static struct {
    const bool *table;
    size_t n;
    unsigned reads;
    uint64_t count;
} lost;

/* Read before each sample and after it. */
static uint64_t fake_losses(void)
{
    const unsigned number = lost.reads / 2;
    const bool now = lost.table[MIN(number, lost.n - 1)];

    lost.count += lost.reads % 2 && now;
    fake.request_cost = lost.reads++ % 2 || !now ? 100 : 1000;
    return lost.count;
}

static void test_retake(void)
{
    static const bool some[] = {false, true, false, true, false,
                                /* again: in vain, then well */
                                true, false, false};
    static const bool all[] = {true};
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchCase *cases[] = {&a};
    QCryptoBenchPlan plan = fake_plan;
    QCryptoBenchResult r;

    plan.losses = fake_losses;
    plan.loop = 1000;
    for (int i = 0; i < 4; i++) {
        fake_reset();
        memset(&lost, 0, sizeof lost);
        lost.table = i == 1 ? all : some;
        lost.n = i == 1 ? 1 : G_N_ELEMENTS(some);
        plan.retake = i != 2;
        /* whoever measures long loses the CPU now and then: once is enough */
        plan.seconds = i == 3 ? 0.1 : 0.005;
        g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
        g_assert_cmpuint(r.nsamples, ==, 5);
        /* the samples: eight, twice as many as are asked for, not one more */
        g_assert_cmpuint(lost.reads / 2, ==, i == 0 ? 8 : i == 1 ? 10 : 5);
        g_assert_cmpuint(r.disturbed, ==, i == 0 ? 0 : i == 1 ? 5 : 2);
        assert_near(r.ops_per_sec.median, i == 1 ? 1e6 : 1e7);
        g_assert_cmpfloat(r.ops_per_sec.stddev, <, i >= 2 ? 1e7 : 1e5);
        qcrypto_bench_result_clear(&r);
    }
}

static void assert_fails(QCryptoBenchCase *c, const QCryptoBenchPlan *plan,
                         const char *why)
{
    QCryptoBenchResult r;

    g_assert_cmpuint(qcrypto_bench_group(&c, 1, plan, &r), ==, 1);
    g_test_message("%s", r.failed);
    g_assert_nonnull(strstr(r.failed, why));
    g_assert_false(r.verified);
    qcrypto_bench_result_clear(&r);
}

static void test_stuck_clock(void)
{
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchPlan plan = fake_plan;

    fake_reset();
    plan.clock = stuck_clock;
    assert_fails(&a, &plan, "too short to measure");
    plan.fixed_bytes = 1 << 20;
    assert_fails(&a, &plan, "too short to measure");
}

/* A clock that steps by 4 ms: refused for 10 ms, right for a second. */
static uint64_t coarse_clock(void)
{
    return (fake.now += fake.read_cost) / 4000000 * 4000000;
}

static void test_coarse_clock(void)
{
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchCase *cases[] = {&a};
    QCryptoBenchPlan plan = fake_plan;
    QCryptoBenchResult r;

    fake_reset();
    fake.read_cost = 40000; /* so that its steps show when it is looked at */
    plan.clock = coarse_clock;
    assert_fails(&a, &plan, "in steps of 4000000 ns");
    plan.seconds = 4;
    plan.loop = 200000;
    g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
    assert_near(r.bytes_per_sec.best, 5.12e9);
    qcrypto_bench_result_clear(&r);
}

static void test_too_short(void)
{
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchPlan plan = fake_plan;

    fake_reset();
    plan.loop = 1;
    assert_fails(&a, &plan, "too short to measure");
    plan = fake_plan;
    plan.fixed_bytes = 512;
    assert_fails(&a, &plan, "too short to measure");
}

static void record_order(const QCryptoBenchCase *c, void *opaque)
{
    g_string_append(fake.order, c->provider);
}

static void test_interleaved(void)
{
    QCryptoBenchCase a = fake_case(0), b = fake_case(1);
    QCryptoBenchCase *cases[] = {&a, &b};
    QCryptoBenchPlan plan = fake_plan;
    QCryptoBenchResult r[2];

    fake_reset();
    fake.order = g_string_new(NULL);
    plan.progress = record_order;
    plan.repeat = 4;
    g_assert_cmpuint(qcrypto_bench_group(cases, 2, &plan, r), ==, 0);
    g_assert_cmpstr(fake.order->str, ==, "abbaabba");
    assert_near(r[1].ops_per_sec.best / r[0].ops_per_sec.best, 2.0);
    qcrypto_bench_result_clear(&r[0]);
    qcrypto_bench_result_clear(&r[1]);
    g_string_free(fake.order, TRUE);
}

/* Twice the speed of what does less: refused, the bound itself is not. */
static void test_bound(void)
{
    QCryptoBenchCase a = fake_case(0), b = fake_case(1);
    QCryptoBenchCase *cases[] = {&a, &b};
    QCryptoBenchResult r[2];

    fake_reset();
    a.flags = QCRYPTO_BENCH_BOUND;
    b.flags = QCRYPTO_BENCH_BOUNDED;
    g_assert_cmpuint(qcrypto_bench_group(cases, 2, &fake_plan, r), ==, 1);
    g_assert_null(r[0].failed);
    g_assert_nonnull(strstr(r[1].failed, "faster than a"));
    qcrypto_bench_result_clear(&r[0]);
    qcrypto_bench_result_clear(&r[1]);

    fake_reset();
    fake.quicker = 99; /* within the margin */
    g_assert_cmpuint(qcrypto_bench_group(cases, 2, &fake_plan, r), ==, 0);
    qcrypto_bench_result_clear(&r[0]);
    qcrypto_bench_result_clear(&r[1]);
}

static void test_wrong(void)
{
    QCryptoBenchCase a = fake_case(0);

    fake_reset();
    fake.wrong_before = true;
    assert_fails(&a, &fake_plan, "wrong before");
    g_assert_cmpuint(fake.calls, ==, 0);
    fake_reset();
    fake.wrong_after = true;
    assert_fails(&a, &fake_plan, "after the measurement: wrong after");
    fake_reset();
    fake.quicker = 1; /* the stand-in names another implementation */
    assert_fails(&a, &fake_plan, "another ran instead of one");
}

static void test_fixed_whole(void)
{
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchPlan plan = fake_plan;

    fake_reset();
    a.request_bytes = 1000;
    plan.fixed_bytes = 1 << 20;
    assert_fails(&a, &plan, "no whole number of requests of 1000 bytes");
}

/* ---- A device of fixed latency ---- */

enum { DEPTH = 64, LATENCY = 100000 };

/* Serves so many requests at once, each for so many ns of the clock. */
static struct {
    uint64_t ends[4096]; /* of requests, a ring */
    uint64_t submitted, ended;
    unsigned most; /* that were in flight */
} device;

static int device_submit(void *state, GError **errp)
{
    const size_t room = G_N_ELEMENTS(device.ends);
    const uint64_t n = device.submitted++;
    uint64_t start = fake.now;

    if (n >= DEPTH) {
        start = MAX(start, device.ends[(n - DEPTH) % room]);
    }
    device.ends[n % room] = start + LATENCY;
    device.most = MAX(device.most, (unsigned)(n + 1 - device.ended));
    return 0;
}

static int device_reap(void *state, GError **errp)
{
    const size_t room = G_N_ELEMENTS(device.ends);
    int n = 0;

    fake.now = MAX(fake.now, device.ends[device.ended % room]);
    while (device.ended < device.submitted &&
           device.ends[device.ended % room] <= fake.now) {
        device.ended++;
        n++;
    }
    return n;
}

static int device_run(void *state, uint64_t calls, GError **errp)
{
    fake.now += calls * LATENCY;
    return 0;
}

static const QCryptoBenchOps device_ops = {
    .setup = fake_setup,
    .identify = fake_identify,
    .verify = fake_verify,
    .run = device_run,
    .submit = device_submit,
    .reap = device_reap,
    .check = fake_check,
    .teardown = fake_teardown,
};

/* Requests in flight scale the rate until the device's depth is reached. */
static void test_reqnum(void)
{
    static const struct {
        unsigned reqnum;
        double scale;
    } table[] = {{1, 1}, {10, 10}, {64, 64}, {100, 64}, {1000, 64}};

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        QCryptoBenchCase a = fake_case(0);
        QCryptoBenchCase *cases[] = {&a};
        QCryptoBenchPlan plan = fake_plan;
        QCryptoBenchResult r;

        fake_reset();
        memset(&device, 0, sizeof device);
        plan.seconds = 1;
        a.ops = &device_ops;
        a.reqnum = table[i].reqnum;
        g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
        g_test_message("%u in flight: %.0f requests a second", table[i].reqnum,
                       r.ops_per_sec.median);
        assert_near(r.ops_per_sec.median, 1e9 / LATENCY * table[i].scale);
        g_assert_cmpuint(r.in_flight, ==, table[i].reqnum);
        g_assert_cmpuint(device.most, ==,
                         table[i].reqnum > 1 ? table[i].reqnum : 0);
        /* every one that was started was waited for and counted */
        g_assert_cmpuint(device.ended, ==, device.submitted);
        qcrypto_bench_result_clear(&r);

        /* a fixed amount is exact, in flight or not */
        plan.fixed_bytes = 1000 * a.request_bytes;
        memset(&device, 0, sizeof device);
        g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
        g_assert_cmpuint(r.best.calls, ==, 1000);
        g_assert_cmpuint(r.best.bytes, ==, plan.fixed_bytes);
        g_assert_cmpuint(device.ended, ==,
                         table[i].reqnum > 1 ? 1000 * plan.repeat : 0);
        qcrypto_bench_result_clear(&r);
    }
}

/* Without a way to submit, reqnum changes nothing. */
static void test_reqnum_synchronous(void)
{
    QCryptoBenchCase a = fake_case(0);
    QCryptoBenchCase *cases[] = {&a};
    QCryptoBenchResult r;

    fake_reset();
    a.reqnum = 100;
    g_assert_cmpuint(qcrypto_bench_group(cases, 1, &fake_plan, &r), ==, 0);
    assert_near(r.ops_per_sec.median, 1e7);
    g_assert_cmpuint(r.in_flight, ==, 1);
    qcrypto_bench_result_clear(&r);
}

/* ---- Threads on CPUs ---- */

static struct {
    gint elsewhere; /* atomic: states made or used on another CPU */
    gint runs;
} seats;

static bool is_seated(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

static void *seat_setup(const QCryptoBenchCase *c, GError **errp)
{
    g_atomic_int_add(&seats.elsewhere, !is_seated());
    return (void *)c;
}

static int seat_run(void *state, uint64_t calls, GError **errp)
{
    g_atomic_int_add(&seats.elsewhere, !is_seated());
    g_atomic_int_inc(&seats.runs);
    g_usleep(1000);
    return 0;
}

static const QCryptoBenchOps seat_ops = {
    .setup = seat_setup,
    .identify = fake_identify,
    .verify = fake_verify,
    .run = seat_run,
    .check = fake_check,
    .teardown = fake_teardown,
};

/* Memory is made and used on the CPU that the plan gives a thread, and
 * afterwards the process may use all of its CPUs again. */
static void test_seats(void)
{
    QCryptoBenchPlan plan = {.seconds = 0.005, .repeat = 2};
    cpu_set_t before, after;
    int cpu = 0;

    sched_getaffinity(0, sizeof before, &before);
    while (!CPU_ISSET((size_t)cpu, &before)) {
        cpu++;
    }
    plan.cpus = &cpu;
    plan.ncpus = 1;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        QCryptoBenchCase a = fake_case(0);
        QCryptoBenchCase *cases[] = {&a};
        QCryptoBenchResult r;

        fake_reset();
        seats.elsewhere = seats.runs = 0;
        a.ops = &seat_ops;
        a.threadnum = threads;
        g_assert_cmpuint(qcrypto_bench_group(cases, 1, &plan, &r), ==, 0);
        g_assert_cmpint(seats.elsewhere, ==, 0);
        g_assert_cmpint(seats.runs, >=, threads);
        qcrypto_bench_result_clear(&r);
        sched_getaffinity(0, sizeof after, &after);
        g_assert_true(CPU_EQUAL(&before, &after));
    }
}

/* A CPU that is not there: FAILED, not measured somewhere else. */
static void test_no_seat(void)
{
    QCryptoBenchPlan plan = fake_plan;
    QCryptoBenchCase a = fake_case(0);
    const int cpu = CPU_SETSIZE - 1;

    fake_reset();
    plan.cpus = &cpu;
    plan.ncpus = 1;
    assert_fails(&a, &plan, "cannot run on CPU");
}

/* ---- What cannot be ---- */

static void test_doubt(void)
{
    QCryptoBenchCase one = fake_case(0), two = fake_case(0),
                     four = fake_case(0), other = fake_case(1);
    QCryptoBenchResult r[] = {
        {.c = &two}, {.c = &one}, {.c = &four}, {.c = &other}};

    two.threadnum = 2;
    four.threadnum = 4;
    other.threadnum = 2;
    r[0].ops_per_sec.best = 2.0e6;
    r[1].ops_per_sec.best = 1.0e6;
    r[2].ops_per_sec.best = 13.6e6;
    r[3].ops_per_sec.best = 9.0e6; /* of somebody else */
    qcrypto_bench_doubt(r, G_N_ELEMENTS(r));
    g_assert_null(r[0].doubt);
    g_assert_null(r[1].doubt);
    g_assert_cmpstr(r[2].doubt, ==,
                    "impossible: 4 threads do 13.6 times what one does");
    g_assert_null(r[3].doubt);
    g_free(r[2].doubt);
}

/* ---- A peer that wraps the library's cipher ---- */

static struct {
    gint units;    /* atomic: data units asked for so far */
    gint flip_at;  /* turns a bit of the output from this unit on; 0: never */
    gint idle_at;  /* does nothing from this unit on; 0: never */
    guint64 bytes; /* atomic */
} spy;

static bool spy_supports(int alg, int mode)
{
    return true;
}

static void *spy_open(int alg, int mode, const uint8_t *key, size_t nkey,
                      GError **errp)
{
    return qcrypto_cipher_new((QCryptoCipherAlgo)alg, (QCryptoCipherMode)mode,
                              key, nkey, errp);
}

static void spy_close(void *ctx)
{
    qcrypto_cipher_free(ctx);
}

static int spy_piece(void *ctx, int decrypt, const uint8_t *in, uint8_t *out,
                     size_t len, GError **errp)
{
    const gint unit = g_atomic_int_add(&spy.units, 1) + 1;

    if (spy.idle_at && unit >= spy.idle_at) {
        return 0;
    }

    int ret = decrypt ? qcrypto_cipher_decrypt(ctx, in, out, len, errp)
                      : qcrypto_cipher_encrypt(ctx, in, out, len, errp);

    __atomic_fetch_add(&spy.bytes, len, __ATOMIC_RELAXED);
    if (spy.flip_at && unit >= spy.flip_at) {
        out[len / 2] ^= 0x10;
    }
    return ret;
}

static int spy_units(void *ctx, int decrypt, const uint8_t *ivs, size_t niv,
                     size_t unit, const uint8_t *in, uint8_t *out, size_t n,
                     GError **errp)
{
    for (size_t i = 0; i < n; i++) {
        if (qcrypto_cipher_setiv(ctx, ivs + i * niv, niv, errp) < 0 ||
            spy_piece(ctx, decrypt, in + i * unit, out + i * unit, unit, errp) <
                0) {
            return -1;
        }
    }
    return 0;
}

static const QCryptoBenchCipherPeer spy_cipher = {
    .supports = spy_supports,
    .open = spy_open,
    .close = spy_close,
    .units = spy_units,
    .piece = spy_piece,
};

static const QCryptoBenchPeer spy_peer = {
    .name = "spy",
    .impl = "wrapped",
    .cipher = &spy_cipher,
};

static const QCryptoBenchPeer absent_peer = {
    .name = "absent",
    .impl = "none",
    .missing = "it was never built",
};

static const QCryptoBenchPeer *const peers[] = {
    &spy_peer,
    &absent_peer,
    NULL,
};

static void spy_reset(gint flip_at)
{
    spy.units = 0;
    spy.bytes = 0;
    spy.flip_at = flip_at;
    spy.idle_at = 0;
}

/* A plan of one case, the peer's; only_case gives it. */
static GPtrArray *spy_plan(const char *algorithm, QCryptoBenchSize size,
                           unsigned threads, bool inplace, int op)
{
    char *algorithms[] = {(char *)algorithm, NULL};
    char *providers[] = {(char *)"spy", NULL};
    const QCryptoBenchRequest request = {
        .algorithms = algorithms,
        .providers = providers,
        .ops = {op == 0, op == 1},
        .sizes = &size,
        .nsizes = 1,
        .threads = &threads,
        .nthreads = 1,
        .inplace = {!inplace, inplace},
        .peers = peers,
    };
    const QCryptoBenchKind *kind = qcrypto_bench_kind("CRYPTO_CIPHER");
    GPtrArray *groups = qcrypto_bench_groups_new();
    GError *error = NULL;

    g_assert_cmpint(kind->plan(kind, &request, groups, &error), ==, 0);
    g_assert_no_error(error);
    g_assert_cmpuint(groups->len, ==, 1);
    return groups;
}

static QCryptoBenchCase *only_case(GPtrArray *groups)
{
    GPtrArray *group = g_ptr_array_index(groups, 0);

    return g_ptr_array_index(group, 0);
}

/*
 * Exactly the bytes, whatever the threads and the chunk: counted by whom they
 * were asked for, less what a plan of no repetition costs (the checks).
 */
static void test_fixed_bytes(void)
{
    static const struct {
        const char *algorithm;
        QCryptoBenchSize size;
        unsigned threads;
        bool inplace;
    } table[] = {
        {"aes-256-xts", {512, 1}, 1, false},
        {"aes-256-xts", {65536, 1}, 1, true},
        {"aes-256-xts", {512, 8}, 1, false},
        {"aes-128-cbc", {4096, 1}, 3, false},
        {"aes-128-ctr", {4096, 1}, 2, true},
        {"aes-128-ecb", {1048576, 1}, 3, false},
    };
    const uint64_t mib = QCRYPTO_BENCH_MIB;

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        uint64_t bytes[2];

        for (unsigned repeat = 1; repeat <= 2; repeat++) {
            QCryptoBenchPlan plan = {
                .repeat = repeat,
                .fixed_bytes = 4 * mib,
            };
            g_autoptr(GPtrArray) groups =
                spy_plan(table[i].algorithm, table[i].size, table[i].threads,
                         table[i].inplace, 0);
            QCryptoBenchCase *c = only_case(groups);
            QCryptoBenchResult r;

            spy_reset(0);
            g_assert_cmpuint(qcrypto_bench_group(&c, 1, &plan, &r), ==, 0);
            g_assert_cmpuint(r.best.bytes, ==, 4 * mib);
            g_assert_cmpstr(r.impl, ==, "wrapped");
            bytes[repeat - 1] = spy.bytes;
            qcrypto_bench_result_clear(&r);
        }
        g_assert_cmpuint(bytes[1] - bytes[0], ==, 4 * mib);
    }
}

static void test_threads(void)
{
    QCryptoBenchPlan plan = {.repeat = 2, .seconds = 0.02};
    g_autoptr(GPtrArray) groups =
        spy_plan("aes-256-xts", (QCryptoBenchSize){4096, 1}, 3, false, 1);
    QCryptoBenchCase *c = only_case(groups);
    QCryptoBenchResult r;

    spy_reset(0);
    g_assert_cmpuint(qcrypto_bench_group(&c, 1, &plan, &r), ==, 0);
    g_assert_cmpfloat(r.best.thread_min, >, 0);
    g_assert_cmpfloat(r.best.thread_max, >=, r.best.thread_min);
    g_assert_cmpfloat(r.bytes_per_sec.best, <=, 3 * r.best.thread_max);
    g_assert_cmpuint(r.best.bytes, ==, r.best.calls * 4096);
    qcrypto_bench_result_clear(&r);
}

/* The time stated is the time taken. */
static void test_time(void)
{
    QCryptoBenchPlan plan = {.repeat = 1, .seconds = 0.3};
    g_autoptr(GPtrArray) groups =
        spy_plan("aes-128-ecb", (QCryptoBenchSize){16, 1}, 1, false, 0);
    QCryptoBenchCase *c = only_case(groups);
    const uint64_t start = qcrypto_bench_clock();
    QCryptoBenchResult r;
    uint64_t wall;

    spy_reset(0);
    g_assert_cmpuint(qcrypto_bench_group(&c, 1, &plan, &r), ==, 0);
    wall = qcrypto_bench_clock() - start;
    g_assert_cmpuint(r.best.ns, >=, 300000000);
    g_assert_cmpuint(r.best.ns, <=, wall);
    g_assert_cmpuint(r.best.bytes, ==, r.best.calls * 16);
    qcrypto_bench_result_clear(&r);
}

/* One bit, from the first unit, from the middle of the checks, and only in
 * the timed work: in every mode, both ways, in place and not. */
static void test_flipped_bit(void)
{
    static const char *const algorithms[] = {"aes-256-xts", "aes-128-cbc",
                                             "aes-128-ctr", "aes-192-ecb"};
    /* the checks ask for one unit of the known answer and the request both
     * ways; the rest is timed */
    const gint known = 1, checks = 1 + 2 * 4;
    const gint flips[] = {1, known + 1, checks, checks + 1, checks + 100};
    QCryptoBenchPlan plan = {.repeat = 1, .fixed_bytes = QCRYPTO_BENCH_MIB};

    for (size_t i = 0; i < G_N_ELEMENTS(algorithms) * 4; i++) {
        const QCryptoBenchSize size = {512, 4};
        g_autoptr(GPtrArray) groups =
            spy_plan(algorithms[i / 4], size, 1, i % 2, i / 2 % 2);
        QCryptoBenchCase *c = only_case(groups);
        QCryptoBenchResult r;

        for (size_t j = 0; j < G_N_ELEMENTS(flips); j++) {
            spy_reset(flips[j]);
            g_assert_cmpuint(qcrypto_bench_group(&c, 1, &plan, &r), ==, 1);
            g_assert_nonnull(strstr(r.failed, "wrong"));
            g_assert_cmpint(strstr(r.failed, "after the measurement") != NULL,
                            ==, flips[j] > checks);
            g_assert_false(r.verified);
            qcrypto_bench_result_clear(&r);
        }
        /* fast, since it does nothing once it was checked */
        spy_reset(0);
        spy.idle_at = checks + 1;
        g_assert_cmpuint(qcrypto_bench_group(&c, 1, &plan, &r), ==, 1);
        g_assert_nonnull(strstr(r.failed, "after the measurement: wrong"));
        qcrypto_bench_result_clear(&r);

        spy_reset(0);
        g_assert_cmpuint(qcrypto_bench_group(&c, 1, &plan, &r), ==, 0);
        qcrypto_bench_result_clear(&r);
    }
}

/* ---- The layout ---- */

/* 500 MiB in 0.25 s, and what is said of them. */
static void test_layout(void)
{
    QCryptoBenchSample sample = {
        .bytes = 524288000,
        .calls = 1024000,
        .ns = 250000000,
    };
    QCryptoBenchCase a = {
        .algtype = "compress",
        .algorithm = (char *)"zlib-deflate",
        .optype = "compress",
        .provider = (char *)"zlib",
        .inputsize = 512,
        .sectors = 1,
        .threadnum = 1,
        .reqnum = 1,
    };
    const QCryptoBenchPlan plan = {.seconds = 1, .loop = 1};
    const QCryptoBenchResult r = {
        .c = &a,
        .plan = &plan,
        .samples = &sample,
        .nsamples = 1,
        .best = sample,
        .bytes_per_sec = {2097152000, 2097152000, 0},
        .ops_per_sec = {4096000, 4096000, 0},
    };
    g_autofree char *text = qcrypto_bench_single(&r, 1);

    g_assert_true(qcrypto_bench_is_single(&r, 1));
    g_assert_true(g_str_has_prefix(
        text,
        "run set: algorithm zlib-deflate, algtype CRYPTO_COMPRESS, inputsize "
        "512, loop 1, numamask 0x0, optype 0, reqnum 1, threadnum 1, time 1.\n"
        "Crypto benchmark result:\n"
        "        throughput      pps             time\n"
        "        2097.152 MB/s   4096 kPP/s      250 ms          zlib\n"
        "The best sample; MB are 10^6 bytes, MiB 2^20, kPP 10^3 requests.\n"
        "zlib, 2000 MiB/s\n"));
}

/* ---- The command ---- */

/* "good" stands for the wrapping peer, left alone. */
static char *peer_named(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, "good", -1);

    return g_strjoinv("spy", parts);
}

/* The exit status of a command line; output goes to the standard streams. */
static int bench(const char *text)
{
    g_autofree char *line = peer_named(text);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);

    spy_reset(strstr(text, "spy") ? 1 : 0);
    return qcrypto_bench_command((int)g_strv_length(argv), argv, peers);
}

typedef struct CommandCase {
    const char *path;
    const char *line;
    int status;
    const char *out; /* patterns; NULL: not looked at */
    const char *err;
} CommandCase;

static const CommandCase commands[] = {
    /* wrong rows */
    {"flipped", "bench --quick -a aes-256-xts -s 4096 -p spy", 1, "*FAILED*",
     "*FAILED: aes-256-xts encrypt 4096 spy wrapped: known answer*"},
#if QCRYPTO_HAVE_JANSSON
    {"flipped-json", "bench --quick -a aes-256-xts -s 4096 -p spy --json -", 1,
     "*\"bytes_per_sec\": null*\"verified\": false*", NULL},
    {"json-bare", "bench --quick -a aes-256-xts -s 4096 -p good --json", 0,
     "{*\"schema\": 1*", NULL},
#endif
    /* absent ones: a note, and a failure when named */
    {"absent", "bench --quick -a aes-256-xts -s 4096 --optype 0", 0, "*4096*",
     "*absent none is not measured: it was never built*"},
    {"absent-named", "bench --quick -a aes-256-xts -s 4096 -p absent,good", 1,
     "*good wrapped*", "*absent none is not measured: it was never built*"},
    {"absent-alone", "bench --quick -a aes-256-xts -s 4096 -p absent", 1, NULL,
     "*nothing of what is asked for can run here*"},
    /* sizes */
    {"cbc-1420", "bench -a aes-256-cbc -s 1420", 2, "",
     "*aes-256-cbc works on a multiple of 16 bytes, not 1420*"},
    {"ctr-1420", "bench --quick -a aes-256-ctr -s 1420 -p good", 0, "*1420*",
     NULL},
    {"xts-15", "bench -a aes-256-xts -s 15", 2, "", "*16*15*"},
    {"xts-17m", "bench -a aes-256-xts -s 17m", 2, "", "*17825792*"},
    {"4k", "bench --quick -a aes-256-xts -s 4k -p good", 0, "*4096*", NULL},
    {"8x512", "bench --quick -a aes-256-xts -s 8x512 -p good", 0, "*8x512*",
     NULL},
    {"sectors", "bench --quick -a aes-256-xts --sectors 1,8 -s 512,4k -p good",
     0, "*512*8x512*4096*8x4096*", NULL},
    {"sectors-odd", "bench -a aes-256-xts --sectors 2 -s 528", 2, "",
     "*multiples of 512 bytes, not 528*"},
    {"size-zero", "bench -s 0", 2, "", "*--inputsize*'0'*"},
    {"size-huge", "bench -s 99999999999999999999", 2, "", "*--inputsize*"},
    {"size-overflow", "bench -s 18014398509481984k", 2, "", "*--inputsize*"},
    {"size-text", "bench -s 4q", 2, "", "*--inputsize*'4q'*"},
    {"size-negative", "bench -s -4096", 2, "", "*"},
    {"memory", "bench -a aes-256-ctr -s 512m -t 100", 2, "", "*at most*"},
    /* numbers */
    {"time-zero", "bench --time 0", 2, "", "*--time takes seconds*'0'*"},
    {"time-long", "bench --time 1e9", 2, "", "*--time takes seconds*"},
    {"time-nan", "bench --time nan", 2, "", "*--time takes seconds*"},
    {"time-negative", "bench --time=-1", 2, "", "*--time takes seconds*"},
    {"repeat-zero", "bench --repeat 0", 2, "", "*--repeat takes*'0'*"},
    {"threads-zero", "bench --threadnum 0", 2, "", "*--threadnum takes*"},
    {"threads-many", "bench --threadnum 100000", 2, "", "*--threadnum*"},
    {"fixed-zero", "bench --fixed-mib 0", 2, "", "*--fixed-mib takes*"},
    {"fixed-long", "bench --fixed-mib 99999999", 2, "", "*--fixed-mib*"},
    {"fixed-odd", "bench --fixed-mib 1 -a aes-256-ctr -s 1000", 2, "",
     "*1048576 bytes are no whole number of requests of 1000 bytes*"},
    {"fixed-time", "bench --fixed-mib 1 --time 1", 2, "", "*--fixed-mib*"},
    {"loop-zero", "bench --loop 0", 2, "", "*--loop takes*"},
    {"loop-short", "bench --quick --loop 1 -a aes-256-ecb -s 16 -p good", 1,
     NULL, "*too short to measure*"},
    {"warmup-long", "bench --warmup 99999", 2, "", "*--warmup takes*"},
    /* names */
    {"unknown-algorithm", "bench -a aes-257-xts", 2, "", "*'aes-257-xts'*"},
    {"unknown-mode", "bench -a aes-256 --mode xtx", 2, "", "*'xtx'*"},
    {"mode-alone", "bench --mode xts", 2, "", "*--mode*"},
    {"unknown-algtype", "bench --algtype crypt", 2, "", "*'crypt'*"},
    {"unknown-optype", "bench --optype 2", 2, "", "*'2'*"},
    {"unknown-provider", "bench -p nobody", 2, "", "*'nobody'*"},
    {"unknown-impl", "bench -a aes-256-xts --impl wrapped,aes-abacus", 2, "",
     "*'aes-abacus'*"},
    {"unknown-option", "bench --nothing", 2, "", "*--nothing*"},
    {"stray-argument", "bench aes-256-xts", 2, "", "*'aes-256-xts'*"},
    {"empty-name", "bench -a aes-256-xts,", 2, "", "*empty name*"},
    {"no-xts", "bench -a 3des-xts", 1, "", "*3des-xts*16 bytes*"},
    /* spellings */
    {"optype-numbers",
     "bench --quick -a aes-128-ctr -s 512 --optype 1,0 -p "
     "good",
     0, "*encrypt*decrypt*", NULL},
    {"family-and-mode",
     "bench --quick -a aes-128 --mode ctr,cbc -s 512 -p "
     "good",
     0, "*aes-128-cbc*aes-128-ctr*", NULL},
    {"alt-algtype",
     "bench --quick --algtype CRYPTO_CIPHER -a AES-128-CTR -s "
     "512 -p good",
     0, "*aes-128-ctr*", NULL},
    {"inplace", "bench --quick --inplace -a aes-128-ctr -s 512 -p good", 0,
     "*in place*", NULL},
    {"outplace", "bench --quick -a aes-128-ctr -s 512 -p good", 0,
     "*separate buffers*", NULL},
    {"threads", "bench --quick -t 2 -a aes-128-ctr -s 4096 -p good", 0,
     "*2 threads*a thread*", NULL},
    {"object", "bench --quick --algtype object -p good", 0,
     "*aes-256-ecb*ns*new*call 16*", NULL},
    {"fixed", "bench --fixed-mib 8 -a aes-128-ctr -s 512 -p good", 0, "*8 MiB*",
     NULL},
    /* the proposed parameters, all of them, in its layout */
    {"layout",
     "bench --algorithm aes-128-ctr --algtype CRYPTO_CIPHER --inputsize 1024 "
     "--loop 1000 --numamask 0x0 --optype 0 --reqnum 1 --threadnum 1 --time "
     "0.01 -p good",
     0,
     "*\nrun set: algorithm aes-128-ctr, algtype CRYPTO_CIPHER, inputsize "
     "1024, "
     "loop 1000, numamask 0x0, optype 0, reqnum 1, threadnum 1, time 0.01.\n"
     "Crypto benchmark result:\n"
     "        throughput      pps             time\n"
     "        * MB/s * kPP/s * ms *good*",
     NULL},
    {"layout-others",
     "bench -q -a aes-128-ctr -s 2x512 --inplace --optype 1 -p "
     "good",
     0, "*inputsize 512, loop auto,*, time 0.002, sectors 2, inplace.\n*",
     NULL},
    {"layout-failed", "bench -q -a aes-128-ctr -s 512 --optype 0 -p spy", 1,
     "*Crypto benchmark result:\n*FAILED*spy wrapped\n*",
     "*FAILED: aes-128-ctr*"},
    {"skcipher", "bench -q --algtype skcipher -a aes-128-ctr -s 512 -p good", 0,
     "*aes-128-ctr*", NULL},
    /* lists and ranges */
    {"range", "bench -q -a aes-128-ctr -s 1k..4KiB,4096 --optype 0 -p good", 0,
     "* 1024 * 2048 * 4096 \n*", NULL},
    {"range-step", "bench -q -a aes-128-ctr -s 512..1k+256 --optype 0 -p good",
     0, "* 512 * 768 * 1024 \n*", NULL},
    {"range-runs", "bench -q -a aes-128-ctr -s 2x512..1k --optype 0 -p good", 0,
     "* 2x512 * 2x1024 \n*", NULL},
    {"range-threads", "bench -q -a aes-128-ctr -s 512 -t 1..3 -p good", 0,
     "*1 thread,*2 threads,*3 threads,*", NULL},
    {"range-backwards", "bench -s 4k..1k", 2, "",
     "*--inputsize*'4k..1k' is no range; 1..8 is 1, 2, 4, 8*"},
    {"range-many", "bench -s 1..1m+1", 2, "", "*more than 1024 values*"},
    {"range-open", "bench -s 1k..", 2, "", "*--inputsize*''*"},
    {"times",
     "bench -a aes-128-ctr -s 512 --time 0.001,0.002 --repeat 2 "
     "--optype 0 -p good",
     0, "*0.001 s*0.002 s*", NULL},
    {"loops", "bench -q -a aes-128-ctr -s 4k --loop 100,200 --optype 0 -p good",
     0, "*loop 100,*loop 200,*", NULL},
    {"both-places",
     "bench -q -a aes-128-ctr -s 512 --inplace --outplace "
     "--optype 0 -p good",
     0, "*separate buffers*in place*", NULL},
    {"size-kb", "bench -s 4KB", 2, "", "*KiB*'4KB'*"},
    /* algtypes by themselves */
    {"find-hash", "bench -q -a sha256 -s 64 -p builtin", 0,
     "*algtype CRYPTO_HASH*", NULL},
    {"find-hmac", "bench -q -a hmac(sha256) -s 64 -p builtin", 0,
     "*algtype CRYPTO_HMAC*", NULL},
    {"find-several", "bench -q -a sha256,xor-2,aes-128-ctr -s 4k -p builtin", 0,
     "*sha256 digest*xor-2 xor*aes-128-ctr encrypt*", NULL},
    {"absent-somewhere", "bench -q -a sha256,aes-128-ctr -s 4k -p builtin,good",
     0, "*sha256 digest*good wrapped*",
     "*spy wrapped is not measured: has no sha256*"},
    {"find-null", "bench -q -a null", 0, "*algtype CRYPTO_NULL*", NULL},
    {"kernel-name", "bench -q -a ctr(aes) --keysize 128 -s 512 -p good", 0,
     "*aes-128-ctr*", NULL},
    {"unknown-anywhere", "bench -a sha257", 2, "",
     "*unknown algorithm 'sha257'*--list*"},
    {"unknown-algtype-list", "bench --algtype aead", 2, "",
     "*unknown algtype 'aead'; there are cipher, *hash, *"},
    {"one-optype", "bench -a sha256 --optype 1", 2, "",
     "*unknown optype '1'; hash has 0 digest*"},
    {"optype-name", "bench -a aes-256-xts --optype compress", 2, "",
     "*'compress'; cipher has 0 encrypt, 1 decrypt*"},
    {"xor-elsewhere", "bench -a aes-256-xts --xor 8regs", 2, "",
     "*--xor goes with --algtype xor*"},
    {"mode-elsewhere", "bench -a sha256 --mode xts", 2, "",
     "*--mode goes with --algtype cipher*"},
    {"driver-empty", "bench -a sha256 --driver ,", 2, "",
     "*--driver: an empty name in ','*"},
    {"data-elsewhere", "bench --algtype hash --data /dev/null", 2, "",
     "*--data goes with --algtype compress*"},
    /* keys */
    {"keysize",
     "bench -q -a aes-ctr --keysize 128,256 -s 512 --optype 0 -p "
     "good",
     0, "*aes-128-ctr*aes-256-ctr*", NULL},
    {"keysize-none", "bench -a aes-xts --keysize 512", 2, "",
     "*aes-xts has keys of 128, 192, 256 bits, not 512*"},
    {"keysize-hash", "bench -a sha256 --keysize 128", 2, "",
     "*a hash has no key*"},
    {"keysize-hmac", "bench -q -a hmac-sha256 --keysize 512 -s 64 -p builtin",
     0, "*sha256*", NULL},
    /* requests in flight */
    {"reqnum", "bench -q -a aes-128-ctr -s 4k --reqnum 8 --optype 0 -p builtin",
     0, "*reqnum 8*8 requests in flight*", NULL},
    {"reqnum-inplace",
     "bench -q -a aes-128-ctr -s 2x512 --reqnum 3 --inplace "
     "--optype 1 -p builtin",
     0, "*reqnum 3*3 requests in flight*", NULL},
    {"reqnum-hash", "bench -q -a sha256 -s 4k --reqnum 5 -p builtin", 0,
     "*5 requests in flight*", NULL},
    {"reqnum-peer",
     "bench -q -a aes-128-ctr -s 4k --reqnum 8 --optype 0 -p "
     "good",
     0, "*reqnum 8*1 request in flight*",
     "*spy is synchronous*--reqnum is without effect on it*"},
    {"reqnum-hmac", "bench -q -a hmac-sha256 -s 4k --reqnum 2 -p builtin", 0,
     "*reqnum 2*", "*hmac is synchronous*without effect*"},
    {"reqnum-zero", "bench --reqnum 0", 2, "", "*--reqnum takes*'0'*"},
    {"reqnum-memory", "bench -a aes-128-ctr -s 64m --reqnum 100", 2, "",
     "*100 requests*at most*"},
#if QCRYPTO_HAVE_NUMA
    {"numa-absent", "bench -a aes-128-ctr -s 1k --numamask 0x8000000000000000",
     2, "", "*there is no NUMA node 63 here (nodes: *"},
#endif
    {"numa-none",
     "bench -q -a aes-128-ctr -s 1k --optype 0 --numamask 0x0 -p "
     "good",
     0, "*numamask 0x0*", NULL},
    {"numa-word", "bench --numamask none", 2, "", "*--numamask takes*'none'*"},
    {"fmt-and-json", "bench --benchfmt --json -", 2, "", "*--json FILE*"},
    {"no-file", "bench --file /no/such/file", 1, "", "*/no/such/file*"},
    {"list", "bench --list", 0, "*cipher *aes-256-xts*object *", NULL},
};

static void test_command(gconstpointer opaque)
{
    const CommandCase *c = opaque;

    if (g_test_subprocess()) {
        const int status = bench(c->line);

        g_printerr("status %d\n", status);
        exit(status);
    }
    g_test_trap_subprocess(NULL, 0, 0);

    g_autofree char *status_text = g_strdup_printf("*status %d\n", c->status);
    g_test_trap_assert_stderr(status_text);
    if (c->status) {
        g_test_trap_assert_failed();
    } else {
        g_test_trap_assert_passed();
    }
    if (c->out) {
        g_autofree char *out = peer_named(c->out);

        g_test_trap_assert_stdout(out);
    }
    if (c->err) {
        g_test_trap_assert_stderr(c->err);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/engine/rate", test_rate);
    g_test_add_func("/bench/engine/known-rate", test_known_rate);
    g_test_add_func("/bench/engine/stats", test_stats);
    g_test_add_func("/bench/engine/enough", test_enough);
    g_test_add_func("/bench/engine/retake", test_retake);
    g_test_add_func("/bench/engine/stuck-clock", test_stuck_clock);
    g_test_add_func("/bench/engine/coarse-clock", test_coarse_clock);
    g_test_add_func("/bench/engine/too-short", test_too_short);
    g_test_add_func("/bench/engine/interleaved", test_interleaved);
    g_test_add_func("/bench/engine/bound", test_bound);
    g_test_add_func("/bench/engine/wrong", test_wrong);
    g_test_add_func("/bench/engine/fixed-whole", test_fixed_whole);
    g_test_add_func("/bench/engine/reqnum", test_reqnum);
    g_test_add_func("/bench/engine/reqnum-synchronous",
                    test_reqnum_synchronous);
    g_test_add_func("/bench/engine/seats", test_seats);
    g_test_add_func("/bench/engine/no-seat", test_no_seat);
    g_test_add_func("/bench/engine/doubt", test_doubt);
    g_test_add_func("/bench/report/layout", test_layout);
    g_test_add_func("/bench/cipher/fixed-bytes", test_fixed_bytes);
    g_test_add_func("/bench/cipher/threads", test_threads);
    g_test_add_func("/bench/cipher/time", test_time);
    g_test_add_func("/bench/cipher/flipped-bit", test_flipped_bit);
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *path =
            g_strdup_printf("/bench/command/%s", commands[i].path);

        g_test_add_data_func(path, &commands[i], test_command);
    }
    return g_test_run();
}
