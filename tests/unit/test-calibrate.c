/*
 * Calibration on stub providers of known cost, under every kind of clock
 *
 * Time is a number that the stubs move: a piece of work costs exactly what
 * its row says.  Clocks show that number truly, in coarse ticks, late, set
 * back at times, or not at all.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib/gstdio.h>
#include <qcrypto/provider.h>
#include <qcrypto/cipher.h>
#include <qcrypto/xor.h>
#include <string.h>

#include "crypto/backend/builtin/aes.h"
#include "crypto/backend/builtin/builtin.h"
#include "crypto/core/calibrate.h"
#include "crypto/core/providers.h"
#include "crypto/core/selftest.h"

/* ---- virtual time ---- */

static uint64_t now_ns;  /* moved by the stubs */
static uint64_t reads;

static uint64_t true_clock(void *opaque G_GNUC_UNUSED)
{
    reads++;
    now_ns += 20; /* a reading costs something too */
    return now_ns;
}

static uint64_t tick_clock(void *opaque)
{
    const uint64_t tick = *(const uint64_t *)opaque;

    return true_clock(NULL) / tick * tick;
}

/* shows what was true up to 300 us ago, then catches up */
static uint64_t lagging_clock(void *opaque G_GNUC_UNUSED)
{
    static uint64_t shown;

    true_clock(NULL);
    if (now_ns - shown > 300000 || now_ns < shown) {
        shown = now_ns;
    }
    return shown;
}

/* set back by 2 ms at every 997th reading */
static uint64_t backward_clock(void *opaque G_GNUC_UNUSED)
{
    static uint64_t off;

    true_clock(NULL);
    if (reads % 997 == 0) {
        off += 2000000;
    }
    return now_ns + UINT64_C(1) * 1000000000 - off % 1000000000;
}

/* jumps forward by 5 ms at every 1009th reading */
static uint64_t jumping_clock(void *opaque G_GNUC_UNUSED)
{
    static uint64_t off;

    true_clock(NULL);
    if (reads % 1009 == 0) {
        off += 5000000;
    }
    return now_ns + off;
}

/* another program takes 500 us at one of 14 readings: most attempts are hit */
static uint64_t busy_clock(void *opaque G_GNUC_UNUSED)
{
    static uint64_t off;
    static uint32_t random = 1;

    true_clock(NULL);
    random = random * 1664525 + 1013904223;
    if (random >> 16 < 65536 / 14) {
        off += 500000;
    }
    return now_ns + off;
}

static uint64_t frozen_clock(void *opaque G_GNUC_UNUSED)
{
    reads++;
    return 12345;
}

/* ---- stub XOR templates: cost in ns per KiB, for each arity ---- */

static void xor_bytes(uint8_t *dst, const void *const *srcs, size_t n,
                      size_t len, uint64_t cost)
{
    for (size_t j = 0; j < len; j++) {
        uint8_t b = 0;

        for (size_t i = 0; i < n; i++) {
            b ^= ((const uint8_t *)srcs[i])[j];
        }
        dst[j] = b;
    }
    now_ns += cost * (len + 1023) / 1024;
}

#define STUB_N(name, n, cost)                                                 \
    static void name##_##n(uint8_t *dst, const void *const *srcs, size_t len) \
    {                                                                         \
        xor_bytes(dst, srcs, n, len, cost);                                   \
    }
#define STUB(name, c2, c3, c4, c5)                                            \
    STUB_N(name, 2, c2) STUB_N(name, 3, c3) STUB_N(name, 4, c4)               \
    STUB_N(name, 5, c5)                                                       \
    static const QCryptoXorOps name##_ops = {                                 \
        .xor_n = {NULL, NULL, name##_2, name##_3, name##_4, name##_5}}

/* the written order is from slow to fast */
STUB(x4, 4000, 4000, 4000, 4000);
STUB(x2, 2000, 2000, 2000, 2000);
STUB(x1, 1000, 1000, 1000, 1000);
STUB(two, 500, 3000, 3000, 3000);  /* wins with two sources */
STUB(five, 3000, 3000, 3000, 500); /* wins with five */
STUB(near, 1050, 1050, 1050, 1050); /* a tie with x1 */

#define XOR_ROW(name) \
    {.kind = QCRYPTO_KIND_XOR, .mode = -1, .impl = #name, .ops = &name##_ops}

static const QCryptoRow order_rows[] = {XOR_ROW(x4), XOR_ROW(x2), XOR_ROW(x1)};
static const QCryptoRow shape_rows[] = {XOR_ROW(x1), XOR_ROW(two), XOR_ROW(five)};
static const QCryptoRow tie_rows[] = {XOR_ROW(near), XOR_ROW(x1)};

static void use_rows(const QCryptoRow *rows, size_t n)
{
    QCryptoProvider *p = g_new0(QCryptoProvider, 1);
    QCryptoProviderEntry *e = g_new0(QCryptoProviderEntry, 1);

    p->name = "stub";
    p->rows = rows;
    p->nrows = n;
    e->name = "stub";
    e->provider = p;
    qcrypto_select_set_table(e, 1);
}

static void calibrate(const char *kinds, unsigned budget, QCryptoClock *clock,
                      void *opaque)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_calibrate_clock(kinds, budget, clock, opaque, NULL,
                                            NULL, &err),
                    ==, 0);
    g_assert_no_error(err);
}

/* speeds are positive and rank as the costs do: x1 > x2 > x4 */
static void assert_true_order(void)
{
    g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();

    g_assert_nonnull(c);
    g_assert_cmpuint(c->nresults, >, 0);
    for (size_t i = 0; i < c->nresults; i++) {
        g_assert_cmpfloat(c->results[i].mib_per_s, >, 0);
        for (size_t j = 0; j < c->nresults; j++) {
            if (c->results[i].size == c->results[j].size &&
                c->results[i].arity == c->results[j].arity &&
                strcmp(c->results[i].impl, c->results[j].impl) < 0) {
                g_assert_cmpfloat(c->results[i].mib_per_s, >,
                                  c->results[j].mib_per_s);
            }
        }
    }
    for (unsigned n = 2; n <= 5; n++) {
        g_assert_cmpstr(qcrypto_xor_get_impl(n, 4096), ==, "x1");
        g_assert_cmpstr(qcrypto_xor_get_impl(n, 65536), ==, "x1");
    }
}

typedef struct ClockCase {
    const char *name;
    QCryptoClock *clock;
    uint64_t tick;
} ClockCase;

static const ClockCase clocks[] = {
    {"fine", true_clock, 0},          {"1us", tick_clock, 1000},
    {"1ms", tick_clock, 1000000},     {"4ms", tick_clock, 4000000},
    {"10ms", tick_clock, 10000000},   {"lagging", lagging_clock, 0},
    {"backward", backward_clock, 0},  {"jumping", jumping_clock, 0},
    {"busy", busy_clock, 0},
};

static void test_order(const void *data)
{
    const ClockCase *k = data;
    uint64_t tick = k->tick;

    use_rows(order_rows, G_N_ELEMENTS(order_rows));
    /* before: the written order, and nothing measured */
    g_assert_cmpstr(qcrypto_xor_get_impl(2, 4096), ==, "x4");
    g_assert_null(qcrypto_calibration_get());

    const uint64_t start = now_ns;
    calibrate("xor", 0, k->clock, &tick);
    const uint64_t spent = now_ns - start;
    assert_true_order();
    /* the budget, and the attempt that was running when it ended */
    g_assert_cmpuint(spent, <, 100 * 1000000 + 3 * MAX(tick, 1000000));
    g_test_message("%s: %.1f ms of virtual time", k->name, (double)spent / 1e6);
}

/* No time passes: nothing is chosen, nothing hangs, the safe default stays. */
static void test_frozen(void)
{
    use_rows(order_rows, G_N_ELEMENTS(order_rows));
    reads = 0;
    calibrate("xor", 1, frozen_clock, NULL);
    g_assert_cmpstr(qcrypto_xor_get_impl(2, 4096), ==, "x4");
    g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();
    g_assert_nonnull(c);
    g_assert_cmpuint(c->nresults, ==, 0);
    g_assert_cmpuint(c->unmeasured, ==, 4);
}

static void test_per_shape(void)
{
    use_rows(shape_rows, G_N_ELEMENTS(shape_rows));
    calibrate("xor", 0, true_clock, NULL);
    g_assert_cmpstr(qcrypto_xor_get_impl(2, 4096), ==, "two");
    g_assert_cmpstr(qcrypto_xor_get_impl(3, 4096), ==, "x1");
    g_assert_cmpstr(qcrypto_xor_get_impl(4, 65536), ==, "x1");
    g_assert_cmpstr(qcrypto_xor_get_impl(5, 65536), ==, "five");
}

/* within the margin the written order decides, each of ten times */
static void test_tie(void)
{
    use_rows(tie_rows, G_N_ELEMENTS(tie_rows));
    for (int i = 0; i < 10; i++) {
        calibrate("xor", 0, true_clock, NULL);
        for (unsigned n = 2; n <= 5; n++) {
            g_assert_cmpstr(qcrypto_xor_get_impl(n, 4096), ==, "near");
            g_assert_cmpstr(qcrypto_xor_get_impl(n, 65536), ==, "near");
        }
    }
}

/* ---- stub ciphers: a fixed cost a call and one a byte (case B18) ---- */

typedef struct StubCost {
    uint64_t call_ns;
    double byte_ns;
} StubCost;

/* the real thing, behind a cost: it must pass its self-test */
static const QCryptoRow real_row = QCRYPTO_CIPHER_ROW(
    AES_128, CBC, "aes-portable", 0, 0, qcrypto_builtin_aes_cbc,
    &qcrypto_aes_portable);

#define HEAD 16

static size_t stub_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return HEAD + qcrypto_builtin_aes_cbc.ctx_size(&real_row);
}

static int stub_init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                     size_t nkey, GError **errp)
{
    *(const StubCost **)ctx = row->arg;
    return qcrypto_builtin_aes_cbc.init((uint8_t *)ctx + HEAD, &real_row, key,
                                        nkey, errp);
}

static void charge(const void *ctx, size_t len)
{
    const StubCost *cost = *(const StubCost *const *)ctx;

    now_ns += cost->call_ns + (uint64_t)(cost->byte_ns * (double)len);
}

static int stub_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                        uint8_t *out, size_t len, GError **errp)
{
    charge(ctx, len);
    return qcrypto_builtin_aes_cbc.crypt[0]((const uint8_t *)ctx + HEAD, iv, in,
                                            out, len, errp);
}

static int stub_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                        uint8_t *out, size_t len, GError **errp)
{
    charge(ctx, len);
    return qcrypto_builtin_aes_cbc.crypt[1]((const uint8_t *)ctx + HEAD, iv, in,
                                            out, len, errp);
}

static const QCryptoCipherOps stub_ops = {
    .ctx_size = stub_size,
    .init = stub_init,
    .crypt = {stub_encrypt, stub_decrypt},
};

static const StubCost soft_cost = {50, 1.0};      /* 1 GB/s at once */
static const StubCost offload_cost = {8000, 0.1}; /* 10 GB/s after 8 us */

#define CIPHER_STUB(name, cost)                                       \
    QCRYPTO_CIPHER_ROW(AES_128, CBC, name, 0, 0, stub_ops, &cost)

static const QCryptoRow offload_first[] = {CIPHER_STUB("offload", offload_cost),
                                           CIPHER_STUB("soft", soft_cost)};

/* ns that a request of len bytes takes */
static uint64_t cost_of(QCryptoCipher *c, size_t len)
{
    static uint8_t buf[1 << 20];
    const uint64_t start = now_ns;

    g_assert_cmpint(qcrypto_cipher_encrypt(c, buf, buf, len, NULL), ==, 0);
    return now_ns - start;
}

static void test_crossover(void)
{
    static const size_t sizes[] = {16, 64, 512, 4096, 8192, 12288, 65536, 1 << 20};
    static const uint8_t key[16], iv[16];
    g_autoptr(GError) err = NULL;
    size_t from = 0;

    use_rows(offload_first, G_N_ELEMENTS(offload_first));
    calibrate("cipher", 0, true_clock, NULL);
    g_autoptr(QCryptoCalibration) cal = qcrypto_calibration_get();
    for (size_t i = 0; i < cal->nsteps; i++) {
        from = cal->steps[i].from ? cal->steps[i].from : from;
    }
    /* the lines cross at 7950 / 0.9 = 8833 bytes */
    g_assert_cmpuint(from, >=, 8000);
    g_assert_cmpuint(from, <=, 9700);

    g_autoptr(QCryptoCipher) c = qcrypto_cipher_new(
        QCRYPTO_CIPHER_ALGO_AES_128, QCRYPTO_CIPHER_MODE_CBC, key, 16, &err);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_cipher_setiv(c, iv, 16, NULL), ==, 0);
    g_autoptr(QCryptoCipher) soft =
        qcrypto_cipher_new_from("stub:soft", QCRYPTO_CIPHER_ALGO_AES_128,
                                QCRYPTO_CIPHER_MODE_CBC, key, 16, &err);
    g_autoptr(QCryptoCipher) offload =
        qcrypto_cipher_new_from("stub:offload", QCRYPTO_CIPHER_ALGO_AES_128,
                                QCRYPTO_CIPHER_MODE_CBC, key, 16, &err);
    g_assert_no_error(err);
    QCryptoCipher *const each[2] = {soft, offload};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        uint64_t best = UINT64_MAX;

        for (int j = 0; j < 2; j++) {
            qcrypto_cipher_setiv(each[j], iv, 16, NULL);
            best = MIN(best, cost_of(each[j], sizes[i]));
        }
        /* never slower than the better of the two by more than 10 percent */
        g_assert_cmpfloat((double)cost_of(c, sizes[i]), <=, 1.11 * (double)best);
    }
}

/* ---- on real rows ---- */

static void use_real(void)
{
    qcrypto_select_set_table(qcrypto_provider_table, qcrypto_provider_table_len);
}

static void test_real_xor(void)
{

    use_real();
    for (int run = 0; run < 10; run++) {
        calibrate("xor", 0, NULL, NULL);
        g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();
        g_assert_cmpfloat(c->seconds, <, 0.2);
        for (size_t i = 0; i < c->nresults; i++) {
            g_assert_cmpfloat(c->results[i].mib_per_s, >, 0);
        }
        g_assert_cmpuint(c->nsteps, >=, 4 - c->unmeasured);
    }
    /* results do not depend on which template won */
    uint8_t a[100], b[100], out[100];
    const void *srcs[2] = {a, b};
    memset(a, 0x0f, sizeof(a));
    memset(b, 0x35, sizeof(b));
    g_assert_cmpint(qcrypto_xor(out, srcs, 2, sizeof(out)), ==, 0);
    g_assert_cmpuint(out[99], ==, 0x3a);
}

static void test_file(void)
{
    g_autofree char *dir = g_dir_make_tmp("qcrypto-cal-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "calibration", NULL);
    g_autoptr(GError) err = NULL;
    g_autofree char *text = NULL;

    use_real();
    qcrypto_calibration_clear();
    g_assert_cmpint(qcrypto_calibration_save(path, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);

    calibrate("xor", 0, NULL, NULL);
    g_autoptr(QCryptoCalibration) before = qcrypto_calibration_get();
    g_assert_cmpint(qcrypto_calibration_save(path, &err), ==, 0);
    qcrypto_calibration_clear();
    g_assert_null(qcrypto_calibration_get());
    g_assert_cmpint(qcrypto_calibration_load(path, &err), ==, 0);
    g_assert_no_error(err);
    g_autoptr(QCryptoCalibration) after = qcrypto_calibration_get();
    g_assert_cmpuint(after->nsteps, ==, before->nsteps);
    g_assert_cmpuint(after->nresults, ==, before->nresults);
    for (size_t i = 0; i < after->nsteps; i++) {
        g_assert_cmpstr(after->steps[i].impl, ==, before->steps[i].impl);
        g_assert_cmpuint(after->steps[i].from, ==, before->steps[i].from);
    }

    /* each part damaged: one error that names it, and nothing changes */
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    static const struct {
        const char *from, *to, *says;
    } damage[] = {
        {"library=", "library=9", "of another library"},
        {"features=", "features=x", "of another features"},
        {"[xor xor 2]", "[xor xor 7]", "wrong number of sources"},
        {"[xor xor 2]", "[zor xor 2]", "no such kind"},
        {"[xor xor 2]", "[xor nor 2]", "no such algorithm"},
        {"steps=0 ", "steps=8 ", "rising from 0"},
        {"steps=0 ", "steps=-1 ", "rising from 0"},
        {"steps=0 builtin:", "steps=0 nobody:", "not here"},
        {"steps=0 ", "stops=0 ", "no steps"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(damage); i++) {
        g_auto(GStrv) halves = g_strsplit(text, damage[i].from, 2);

        g_assert_cmpuint(g_strv_length(halves), ==, 2);
        g_autofree char *bad = g_strconcat(halves[0], damage[i].to, halves[1], NULL);
        g_assert_true(g_file_set_contents(path, bad, -1, NULL));
        g_assert_cmpint(qcrypto_calibration_load(path, &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
        if (!strstr(err->message, damage[i].says)) {
            g_test_message("'%s' does not say '%s'", err->message, damage[i].says);
            g_test_fail();
        }
        g_clear_error(&err);
        g_autoptr(QCryptoCalibration) still = qcrypto_calibration_get();
        g_assert_cmpuint(still->nsteps, ==, before->nsteps);
    }
    g_assert_cmpint(qcrypto_calibration_load("/nonexistent", &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_unlink(path);
    g_rmdir(dir);
}

/* The file of the environment, at the first use. */
static void test_environment(void)
{
    g_autofree char *dir = g_dir_make_tmp("qcrypto-cal-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "calibration", NULL);
    const void *srcs[2] = {"ab", "cd"};
    g_autoptr(GError) err = NULL;
    uint8_t out[2];

    use_real();
    calibrate("xor", 0, NULL, NULL);
    g_assert_cmpint(qcrypto_calibration_save(path, &err), ==, 0);
    g_setenv("QCRYPTO_CALIBRATION", path, TRUE);
    use_real(); /* reads the environment again */
    g_assert_cmpint(qcrypto_xor(out, srcs, 2, 2), ==, 0);
    g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();
    g_unsetenv("QCRYPTO_CALIBRATION");
    g_assert_nonnull(c);
    g_assert_cmpuint(c->nsteps, >=, 4 - c->unmeasured);
    g_unlink(path);
    g_rmdir(dir);
}

/* One that cannot be used is told by everybody who would choose. */
static void test_bad_environment(void)
{
    static const uint8_t key[16];
    const void *srcs[2] = {"ab", "cd"};
    g_autoptr(GError) err = NULL;
    uint8_t out[2];

    g_setenv("QCRYPTO_CALIBRATION", "/nonexistent", TRUE);
    use_real();
    g_assert_null(qcrypto_calibration_get());
    g_assert_null(qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_128,
                                     QCRYPTO_CIPHER_MODE_CTR, key, 16, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_assert_true(g_str_has_prefix(
        err->message, "QCRYPTO_CALIBRATION: calibration file /nonexistent: "));
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_xor(out, srcs, 2, 2), ==, -1);
    g_assert_cmpint(qcrypto_xor_check(out, srcs, 2, 2, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_calibrate("xor", 0, NULL, NULL, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_unsetenv("QCRYPTO_CALIBRATION");
    use_real();
    g_assert_cmpint(qcrypto_xor(out, srcs, 2, 2), ==, 0);
}

static void test_bad_kind(void)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_calibrate("xor,fruit", 0, NULL, NULL, &err), ==, -1);
    g_assert_cmpstr(err->message, ==, "unknown kind of calibration 'fruit'");
}

/* A calibration of one kind keeps that of another; an order ends both. */
static void test_keeps_others(void)
{
    g_autoptr(GError) err = NULL;

    use_real();
    calibrate("xor", 0, NULL, NULL);
    calibrate("chacha", 200, NULL, NULL);
    g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();
    bool xor = false;
    for (size_t i = 0; i < c->nsteps; i++) {
        xor |= !strcmp(c->steps[i].kind, "xor");
    }
    g_assert_true(xor);
    g_assert_cmpint(qcrypto_providers_set_order("builtin", &err), ==, 0);
    g_assert_null(qcrypto_calibration_get());
    g_assert_cmpint(qcrypto_providers_set_order(NULL, &err), ==, 0);
}

/* threads that have been round at least once */
static gint under_way;

/* Users of the choice while it is being replaced; clean under TSan. */
static gpointer user(gpointer stop)
{
    uint8_t a[256] = {1}, b[256] = {2}, out[256];
    const void *srcs[2] = {a, b};
    static const uint8_t key[32] = {1}, iv[16];
    size_t rounds = 0;

    while (!g_atomic_int_get((gint *)stop)) {
        g_autoptr(QCryptoCipher) c = qcrypto_cipher_new(
            QCRYPTO_CIPHER_ALGO_AES_128, QCRYPTO_CIPHER_MODE_CTR, key, 16, NULL);

        g_assert_cmpint(qcrypto_xor(out, srcs, 2, sizeof(out)), ==, 0);
        g_assert_cmpuint(out[0], ==, 3);
        g_assert_nonnull(c);
        g_assert_cmpint(qcrypto_cipher_setiv(c, iv, 16, NULL), ==, 0);
        g_assert_cmpint(qcrypto_cipher_encrypt(c, a, out, sizeof(out), NULL), ==,
                        0);
        if (!rounds++) {
            g_atomic_int_inc(&under_way);
        }
    }
    return GSIZE_TO_POINTER(rounds);
}

static void test_threads(void)
{
    GThread *t[3];
    gint stop = 0;

    use_real();
    g_assert_cmpuint(qcrypto_cipher_get_block_len(QCRYPTO_CIPHER_ALGO_AES_128), ==,
                     16);
    for (int i = 0; i < 3; i++) {
        t[i] = g_thread_new("user", user, &stop);
    }
    /* all of them at work before anything is replaced */
    while (g_atomic_int_get(&under_way) < 3) {
        g_usleep(100);
    }
    for (int i = 0; i < 5; i++) {
        g_autoptr(GError) err = NULL;

        /* the real clock: the stubs' time is not for threads */
        g_assert_cmpint(qcrypto_calibrate("xor", 0, NULL, NULL, &err), ==, 0);
        qcrypto_calibration_clear();
    }
    g_atomic_int_set(&stop, 1);
    for (int i = 0; i < 3; i++) {
        g_assert_cmpuint(GPOINTER_TO_SIZE(g_thread_join(t[i])), >, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(clocks); i++) {
        g_autofree char *path =
            g_strdup_printf("/cases/B22/clock-%s", clocks[i].name);

        g_test_add_data_func(path, &clocks[i], test_order);
    }
    g_test_add_func("/cases/B22/clock-frozen", test_frozen);
    g_test_add_func("/calibrate/per-shape", test_per_shape);
    g_test_add_func("/calibrate/tie", test_tie);
    g_test_add_func("/cases/B18/crossover", test_crossover);
    g_test_add_func("/calibrate/real-xor", test_real_xor);
    g_test_add_func("/calibrate/file", test_file);
    g_test_add_func("/calibrate/environment", test_environment);
    g_test_add_func("/calibrate/bad-environment", test_bad_environment);
    g_test_add_func("/calibrate/bad-kind", test_bad_kind);
    g_test_add_func("/calibrate/keeps-others", test_keeps_others);
    g_test_add_func("/calibrate/threads", test_threads);
    return g_test_run();
}
