/*
 * PBKDF2: its limits, and the measuring of its cost on clocks of all sorts
 *
 * Measuring is tried on a simulated machine: work of a cost takes a time that
 * is known, and the clock shows it as clocks do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crypto/core/kdf.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"

#define MS      UINT64_C(1000000)
#define HOUR    (3600 * 1000 * MS)
#define SHA256  QCRYPTO_HASH_ALGO_SHA256
#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

/* ---- a simulated machine ---- */

typedef struct Machine Machine;
struct Machine {
    double speed;  /* cost a second */
    double now_ns; /* true time */
    uint64_t (*read)(Machine *m);
    uint64_t tick;           /* coarse: resolution */
    unsigned reads;          /* of the clock so far */
    unsigned event;          /* the reading from which on it is wrong */
    uint64_t shown;          /* by the last reading */
    unsigned probes;         /* pieces of work */
    uint64_t total;          /* and all their cost */
    const uint64_t *lengths; /* of probes, for a clock that plays them back */
    size_t n_lengths;
};

static uint64_t read_machine(void *opaque)
{
    Machine *m = opaque;

    m->shown = m->read(m);
    m->reads++;
    return m->shown;
}

static int work_machine(uint64_t cost, void *opaque, GError **errp)
{
    Machine *m = opaque;

    m->probes++;
    m->total += cost;
    m->now_ns += (double)cost / m->speed * 1e9;
    return 0;
}

static uint64_t measure(Machine *m, GError **errp)
{
    const QCryptoRateProbe probe = {
        .work = work_machine,
        .opaque = m,
        .clock = read_machine,
        .clock_opaque = m,
        .first = 1000,
        .max = UINT32_MAX,
        .sample_ns = 100 * MS,
    };

    return qcrypto_rate(&probe, errp);
}

/* Right within a quarter, and not after hours. */
static void expect_speed(Machine *m)
{
    g_autoptr(GError) err = NULL;
    const uint64_t rate = measure(m, &err);

    g_assert_no_error(err);
    if ((double)rate < 0.75 * m->speed || (double)rate > 1.25 * m->speed) {
        g_test_message("%.0f a second, measured %" G_GUINT64_FORMAT
                       " (tick %" G_GUINT64_FORMAT ", event at reading %u)",
                       m->speed, rate, m->tick, m->event);
        g_test_fail();
    }
    g_assert_cmpuint(m->probes, <=, 32);
}

/* An old machine, a phone, a server, one that is not built yet. */
static const double speeds[] = {2e3, 3.1e4, 8e5, 1.23e6, 4.7e6, 9.9e7};

static uint64_t read_exact(Machine *m)
{
    return (uint64_t)m->now_ns;
}

static uint64_t read_coarse(Machine *m)
{
    return (uint64_t)m->now_ns / m->tick * m->tick;
}

static void test_exact(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++) {
        expect_speed(&(Machine){.speed = speeds[i], .read = read_exact});
    }
}

static void test_coarse(void)
{
    static const uint64_t ticks[] = {1 * MS, 4 * MS, 10 * MS};

    for (size_t t = 0; t < G_N_ELEMENTS(ticks); t++) {
        for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++) {
            /* wherever between two ticks it begins */
            for (uint64_t phase = 0; phase < ticks[t]; phase += MS / 3) {
                expect_speed(&(Machine){.speed = speeds[i],
                                        .read = read_coarse,
                                        .tick = ticks[t],
                                        .now_ns = (double)phase});
            }
        }
    }
}

/* Behind the truth by up to 5 ms, now more, now less, but never back. */
static uint64_t read_lagging(Machine *m)
{
    const uint64_t lag = m->reads * 2654435761u % 5000 * 1000;
    const uint64_t now = (uint64_t)m->now_ns + 10 * MS - lag;

    return MAX(now, m->shown);
}

static void test_lagging(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++) {
        for (unsigned start = 0; start < 50; start++) {
            expect_speed(&(Machine){
                .speed = speeds[i], .read = read_lagging, .reads = start});
        }
    }
}

/* From one reading on an hour back, or ahead. */
static uint64_t read_back(Machine *m)
{
    return (uint64_t)m->now_ns + (m->reads < m->event ? HOUR : 0);
}

static uint64_t read_ahead(Machine *m)
{
    return (uint64_t)m->now_ns + (m->reads < m->event ? 0 : HOUR);
}

static void test_jumps(void)
{
    for (unsigned event = 0; event < 40; event++) {
        for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++) {
            expect_speed(&(Machine){
                .speed = speeds[i], .read = read_back, .event = event});
            expect_speed(&(Machine){
                .speed = speeds[i], .read = read_ahead, .event = event});
        }
    }
}

/* Every reading is before the last. */
static uint64_t read_backwards(Machine *m)
{
    return 1000 * HOUR - (uint64_t)m->now_ns;
}

static uint64_t read_frozen(Machine *m G_GNUC_UNUSED)
{
    return 12345;
}

static void expect_no_answer(uint64_t (*clock)(Machine *m))
{
    g_autoptr(GError) err = NULL;
    Machine m = {.speed = 1e6, .read = clock};

    g_assert_cmpuint(measure(&m, &err), ==, 0);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_assert_cmpstr(err->message, ==,
                    "the clock does not move: the cost of key derivation "
                    "cannot be measured");
    g_assert_cmpuint(m.probes, <=, 32);
}

static void test_frozen(void)
{
    expect_no_answer(read_frozen);
    expect_no_answer(read_backwards);
}

/* A clock by which the probes take these times, the last one over and over. */
static uint64_t read_played(Machine *m)
{
    const size_t probe = MIN(m->reads / 2, m->n_lengths - 1);

    return m->reads % 2 ? m->shown + m->lengths[probe] * MS : m->shown;
}

/* The first reading of a fast machine is 0, and the second (B02). */
static void test_b02_sequence(void)
{
    static const uint64_t lengths[] = {0, 0, 0, 7, 70, 700};

    for (unsigned run = 0; run < 200; run++) {
        Machine m = {.speed = 1e6,
                     .read = read_played,
                     .lengths = lengths,
                     .n_lengths = G_N_ELEMENTS(lengths),
                     .shown = run * 977 * MS};
        g_autoptr(GError) err = NULL;
        const uint64_t rate = measure(&m, &err);

        g_assert_no_error(err);
        /* 10 times the cost after each but the last, which came near: 10^7
         * in 70 ms, then 1.25 samples' worth, 1.79 * 10^7 in 700 */
        g_assert_cmpuint(rate, >, 25000000);
        g_assert_cmpuint(rate, <, 26000000);
        g_assert_cmpuint(m.probes, ==, 8);
    }
}

/* A sample of exactly 500 ms is that and not the double (B44). */
static void test_b44_sample(void)
{
    static const uint64_t lengths[] = {500};
    Machine m = {
        .speed = 1e6, .read = read_played, .lengths = lengths, .n_lengths = 1};
    g_autoptr(GError) err = NULL;

    g_assert_cmpuint(measure(&m, &err), ==, 2000);
    g_assert_no_error(err);
    g_assert_cmpuint(m.total, ==, 3 * 1000);
}

static int work_failing(uint64_t cost, void *opaque, GError **errp)
{
    g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_IO, "no work today");
    return -1;
}

static void test_failing_work(void)
{
    const QCryptoRateProbe probe = {
        .work = work_failing, .first = 1, .max = 10, .sample_ns = MS};
    g_autoptr(GError) err = NULL;

    g_assert_cmpuint(qcrypto_rate(&probe, &err), ==, 0);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
}

/* ---- the real thing ---- */

/* Time runs 50 times as fast as it does, to have 50 runs in a second. */
static uint64_t read_hurried(void *opaque G_GNUC_UNUSED)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 50 * ((uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec);
}

static uint64_t count(QCryptoClock *clock, void *opaque, size_t nout)
{
    static const uint8_t key[] = "passphrase", salt[32] = "salt";
    g_autoptr(GError) err = NULL;
    const uint64_t rate = qcrypto_pbkdf2_count_iters_by(
        clock, opaque, SHA256, key, 10, salt, sizeof(salt), nout, &err);

    g_assert_no_error(err);
    g_assert_cmpuint(rate, >, 0);
    return rate;
}

static gint stop; /* atomic */

static gpointer keep_busy(gpointer opaque)
{
    uint64_t n = 1;

    while (!g_atomic_int_get(&stop)) {
        n = n * 6364136223846793005u + 1;
    }
    return GSIZE_TO_POINTER((gsize)n);
}

/* Late in the life of a process with threads that use the CPU (B02). */
static void test_b02_threads(void)
{
    GThread *thread = g_thread_new("busy", keep_busy, NULL);

    for (int run = 0; run < 50; run++) {
        count(read_hurried, NULL, 32);
    }
    g_atomic_int_set(&stop, 1);
    g_thread_join(thread);
}

/*
 * The rate is what a derivation takes, for the very length: the machine may
 * be busy, so the bounds are wide and three attempts are made.
 */
static void test_rate(void)
{
    static const size_t lens[] = {32, 64};
    static const uint8_t salt[32];
    uint8_t out[64];

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        double ratio = 0;

        for (int attempt = 0; attempt < 3 && (ratio < 0.5 || ratio > 2);
             attempt++) {
            g_autoptr(GError) err = NULL;
            const uint64_t rate = qcrypto_pbkdf2_count_iters(
                SHA256, salt, 10, salt, sizeof(salt), lens[i], &err);

            g_assert_no_error(err);
            const gint64 start = g_get_monotonic_time();
            qcrypto_pbkdf2(SHA256, salt, 10, salt, sizeof(salt),
                           MAX(rate / 10, 1), out, lens[i], &err);
            g_assert_no_error(err);
            ratio = (double)(g_get_monotonic_time() - start) / 100000;
            g_test_message("%zu bytes: %" G_GUINT64_FORMAT
                           " a second; a tenth of that takes %.3f of its time",
                           lens[i], rate, ratio);
        }
        g_assert_cmpfloat(ratio, >, 0.5);
        g_assert_cmpfloat(ratio, <, 2);
    }
}

static uint64_t stand_still(void *opaque G_GNUC_UNUSED)
{
    return 0;
}

/* Real work by a clock that stands still ends, in seconds. */
static void test_frozen_real(void)
{
    static const uint8_t salt[16];
    g_autoptr(GError) err = NULL;
    const gint64 start = g_get_monotonic_time();

    g_assert_cmpuint(qcrypto_pbkdf2_count_iters_by(stand_still, NULL, SHA256,
                                                   salt, 8, salt, sizeof(salt),
                                                   32, &err),
                     ==, 0);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_test_message("given up after %.1f s",
                   (double)(g_get_monotonic_time() - start) / 1e6);
}

static void test_count_errors(void)
{
    static const uint8_t salt[16];
    GError *err = NULL;

    g_assert_cmpuint(
        qcrypto_pbkdf2_count_iters(SHA256, salt, 8, salt, 16, 0, &err), ==, 0);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_assert_cmpstr(err->message, ==, "PBKDF2 with sha256 cannot give 0 bytes");
    g_clear_error(&err);
    g_assert_cmpuint(qcrypto_pbkdf2_count_iters(QCRYPTO_HASH_ALGO__MAX, salt, 8,
                                                salt, 16, 32, &err),
                     ==, 0);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_clear_error(&err);
    g_assert_cmpuint(
        qcrypto_pbkdf2_count_iters(SHA256, NULL, 8, salt, 16, 32, &err), ==, 0);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_assert_cmpstr(err->message, ==, "key is NULL");
    g_clear_error(&err);
}

/* ---- limits ---- */

static void refuse_iterations(uint64_t iterations)
{
    g_autofree char *text = g_strdup_printf(
        "PBKDF2 takes 1 to 4294967295 iterations, not %" G_GUINT64_FORMAT,
        iterations);
    const uint8_t salt[8] = {0};
    uint8_t out[4] = {1, 2, 3, 4}, before[4] = {1, 2, 3, 4};
    size_t n;
    QCryptoCandidate *const *all =
        qcrypto_select(QCRYPTO_KIND_PBKDF2, SHA256, -1, &n, NULL);

    for (size_t i = 0; i <= n; i++) {
        g_autoptr(GError) err = NULL;
        const int ret =
            i == n ? qcrypto_pbkdf2(SHA256, salt, 8, salt, 8, iterations, out,
                                    4, &err)
                   : qcrypto_pbkdf2_from(all[i]->provider->name, SHA256, salt,
                                         8, salt, 8, iterations, out, 4, &err);

        g_assert_cmpint(ret, ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, INVALID);
        g_assert_cmpstr(err->message, ==, text);
        g_assert_cmpmem(out, 4, before, 4);
    }
}

static void test_b44_refused(void)
{
    refuse_iterations(0);
    refuse_iterations(UINT64_C(1) << 32);
    refuse_iterations((UINT64_C(1) << 32) + 1);
    refuse_iterations(UINT64_MAX);
}

enum { FINISHED, UNSUPPORTED, FAILED };

/*
 * What becomes of this many iterations on a row in 0.2 s: an exit status of
 * the above, or -1 while it is still at work, as it should be.
 */
static int begin(const char *name, uint64_t iterations)
{
    static const uint8_t salt[16];
    uint8_t out[32];
    int status = -1;
    const pid_t child = fork();

    g_assert_cmpint(child, >=, 0);
    if (!child) {
        GError *err = NULL;

        alarm(10);
        if (qcrypto_pbkdf2_from(name, SHA256, salt, 8, salt, sizeof(salt),
                                iterations, out, sizeof(out), &err) == 0) {
            _exit(FINISHED);
        }
        _exit(g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED)
                  ? UNSUPPORTED
                  : FAILED);
    }
    for (int i = 0; i < 20; i++) {
        g_usleep(10000);
        if (waitpid(child, &status, WNOHANG) == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
        }
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static void test_b44_begun(void)
{
    static const uint64_t numbers[] = {UINT64_C(1) << 31, UINT32_MAX};
    size_t n;
    QCryptoCandidate *const *all =
        qcrypto_select(QCRYPTO_KIND_PBKDF2, SHA256, -1, &n, NULL);

    g_assert_cmpuint(n, >, 0);
    for (size_t i = 0; i < n; i++) {
        g_autofree char *name =
            g_strdup_printf("%s:%s", all[i]->provider->name, all[i]->row->impl);

        for (size_t k = 0; k < G_N_ELEMENTS(numbers); k++) {
            const int status = begin(name, numbers[k]);

            if (status != -1 && status != UNSUPPORTED) {
                g_test_message("%s: %" G_GUINT64_FORMAT " iterations: %s", name,
                               numbers[k],
                               status == FINISHED ? "finished at once"
                                                  : "failed");
                g_test_fail();
            }
        }
    }
}

/* A row that only notes how many iterations it was to do. */
static struct {
    const QCryptoRow *real;
    uint64_t iterations;
} noted;

static int note(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                const uint8_t *salt, size_t nsalt, uint64_t iterations,
                uint8_t *out, size_t nout, GError **errp)
{
    const QCryptoPbkdf2Ops *ops = noted.real->ops;

    noted.iterations = iterations;
    if (iterations > 1000) {
        memset(out, 0x5a, nout);
        return 0;
    }
    /* the self-test */
    return ops->derive(noted.real, key, nkey, salt, nsalt, iterations, out,
                       nout, errp);
}

static const QCryptoPbkdf2Ops note_ops = {.derive = note};
static const QCryptoRow note_row =
    QCRYPTO_HASH_ROW(PBKDF2, SHA256, "note", 0, 0, 0, note_ops, NULL);
static const QCryptoProvider note_provider = {
    .name = "note", .rows = &note_row, .nrows = 1};
static const QCryptoProviderEntry note_table[] = {
    {"note", &note_provider, false}};

/* The number that was asked for is the number that is done. */
static void test_b44_exact(void)
{
    static const uint64_t numbers[] = {
        1, 2, 1000, 1001, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX};
    const uint8_t salt[8] = {0};
    uint8_t out[32];

    noted.real =
        qcrypto_select_usable(QCRYPTO_KIND_PBKDF2, SHA256, -1, 0, NULL)->row;
    qcrypto_select_set_table(note_table, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autoptr(GError) err = NULL;

        qcrypto_pbkdf2(SHA256, salt, 8, salt, 8, numbers[i], out, sizeof(out),
                       &err);
        g_assert_no_error(err);
        g_assert_cmpuint(noted.iterations, ==, numbers[i]);
    }
    qcrypto_select_set_table(qcrypto_provider_table,
                             qcrypto_provider_table_len);
}

/* ---- empty things ---- */

static void test_empty(void)
{
    /* Python's hashlib.pbkdf2_hmac("sha256", P, S, 2, 40) */
    static const struct {
        const char *key, *salt, *out;
    } expected[] = {
        {"password", "",
         "8bc2f9167a81cdcfad1235cd9047f1136271c1f978fcfcb35e22dbeafa4634f6fd221"
         "4218ed63ebb"},
        {"", "salt",
         "62384466264daadc4144018c6bd864648272b34da8980d31521ffcce92ae003bbf34c"
         "c19ec05e240"},
        {"", "",
         "97398411d6aea43a77acef92226ab8278d4db0668bd1d7a76a725f7680ac45c504d71"
         "5e13d3c31a6"},
    };
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        const char *key = expected[i].key, *salt = expected[i].salt;
        uint8_t out[40];
        g_autoptr(GString) hex = g_string_new(NULL);

        qcrypto_pbkdf2(SHA256, *key ? (const uint8_t *)key : NULL, strlen(key),
                       *salt ? (const uint8_t *)salt : NULL, strlen(salt), 2,
                       out, sizeof(out), &err);
        g_assert_no_error(err);
        for (size_t k = 0; k < sizeof(out); k++) {
            g_string_append_printf(hex, "%02x", out[k]);
        }
        g_assert_cmpstr(hex->str, ==, expected[i].out);
    }
}

static void test_arguments(void)
{
    const uint8_t salt[8] = {0};
    uint8_t out[32];
    GError *err = NULL;

    g_assert_cmpint(qcrypto_pbkdf2(SHA256, salt, 8, NULL, 8, 1, out, 32, &err),
                    ==, -1);
    g_assert_cmpstr(err->message, ==, "salt is NULL");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_pbkdf2(SHA256, salt, 8, salt, 8, 1, NULL, 32, &err),
                    ==, -1);
    g_assert_cmpstr(err->message, ==, "out is NULL");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_pbkdf2(SHA256, salt, 8, salt, 8, 1, out, 0, &err),
                    ==, -1);
    g_assert_cmpstr(err->message, ==, "PBKDF2 with sha256 cannot give 0 bytes");
    g_clear_error(&err);
    g_assert_cmpint(
        qcrypto_pbkdf2_from(NULL, SHA256, salt, 8, salt, 8, 1, out, 32, &err),
        ==, -1);
    g_assert_cmpstr(err->message, ==, "provider is NULL");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_pbkdf2_from("nobody", SHA256, salt, 8, salt, 8, 1,
                                        out, 32, &err),
                    ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_clear_error(&err);
    g_assert_true(qcrypto_pbkdf2_supports(SHA256));
    g_assert_false(qcrypto_pbkdf2_supports(QCRYPTO_HASH_ALGO__MAX));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kdf/rate/exact", test_exact);
    g_test_add_func("/kdf/rate/coarse", test_coarse);
    g_test_add_func("/kdf/rate/lagging", test_lagging);
    g_test_add_func("/kdf/rate/jumps", test_jumps);
    g_test_add_func("/kdf/rate/frozen", test_frozen);
    g_test_add_func("/kdf/rate/failing-work", test_failing_work);
    g_test_add_func("/cases/B02/sequence", test_b02_sequence);
    g_test_add_func("/cases/B02/threads", test_b02_threads);
    g_test_add_func("/cases/B44/sample", test_b44_sample);
    g_test_add_func("/cases/B44/refused", test_b44_refused);
    g_test_add_func("/cases/B44/begun", test_b44_begun);
    g_test_add_func("/cases/B44/exact", test_b44_exact);
    g_test_add_func("/kdf/pbkdf2/rate", test_rate);
    g_test_add_func("/kdf/pbkdf2/frozen", test_frozen_real);
    g_test_add_func("/kdf/pbkdf2/count-errors", test_count_errors);
    g_test_add_func("/kdf/pbkdf2/empty", test_empty);
    g_test_add_func("/kdf/pbkdf2/arguments", test_arguments);
    return g_test_run();
}
