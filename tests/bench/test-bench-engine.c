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
    g_test_add_func("/bench/engine/stuck-clock", test_stuck_clock);
    g_test_add_func("/bench/engine/coarse-clock", test_coarse_clock);
    g_test_add_func("/bench/engine/too-short", test_too_short);
    g_test_add_func("/bench/engine/interleaved", test_interleaved);
    g_test_add_func("/bench/engine/bound", test_bound);
    g_test_add_func("/bench/engine/wrong", test_wrong);
    g_test_add_func("/bench/engine/fixed-whole", test_fixed_whole);
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
