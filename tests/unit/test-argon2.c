/*
 * Argon2: known answers, rows against each other, memory, calibration
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib/gstdio.h>
#include <qcrypto/kdf.h>
#include <qcrypto/provider.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/core/kdf.h"
#include "crypto/core/memory.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"
#include "rows.h"
#include "sanitized.h"
#include "vectors.h"

#define MS      UINT64_C(1000000)
#define ID      QCRYPTO_ARGON2_ALGO_ARGON2ID
#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

static char *row_name(const QCryptoCandidate *c)
{
    return g_strdup_printf("%s:%s", c->provider->name, c->row->impl);
}

/* Skips, and says so, in a build without any library that has Argon2. */
static bool no_rows(void)
{
    if (qcrypto_argon2_supports(ID)) {
        return false;
    }
    g_test_skip("this build has no Argon2");
    return true;
}

/* ---- known answers ---- */

typedef struct Vector {
    char *where;
    QCryptoArgon2Algo alg;
    QCryptoArgon2Cost cost;
    GByteArray *key, *salt, *tag;
} Vector;

/*
 * The selected row and every row by name.  A row may refuse what its library
 * does not take; returns how many did not.
 */
static size_t try_vector(const Vector *v)
{
    g_autofree uint8_t *out = g_malloc(v->tag->len);
    size_t n, done = 0;
    QCryptoCandidate *const *rows =
        qcrypto_select(QCRYPTO_KIND_ARGON2, (int)v->alg, -1, &n, NULL);

    for (size_t i = 0; i <= n; i++) {
        g_autofree char *name = i < n ? row_name(rows[i]) : NULL;
        g_autoptr(GError) err = NULL;

        memset(out, 0, v->tag->len);
        if (name) {
            qcrypto_argon2_from(name, v->alg, v->key->data, v->key->len,
                                v->salt->data, v->salt->len, &v->cost, out,
                                v->tag->len, &err);
        } else {
            qcrypto_argon2(v->alg, v->key->data, v->key->len, v->salt->data,
                           v->salt->len, &v->cost, out, v->tag->len, &err);
        }
        if (name &&
            g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED)) {
            continue;
        }
        if (err || memcmp(out, v->tag->data, v->tag->len)) {
            g_test_message("%s, %s: %s", v->where, name ? name : "selected",
                           err ? err->message : "wrong tag");
            g_test_fail();
        }
        done++;
    }
    return done;
}

static void clear_vector(Vector *v)
{
    g_free(v->where);
    g_byte_array_unref(v->key);
    g_byte_array_unref(v->salt);
    g_byte_array_unref(v->tag);
}

static void test_vectors(void)
{
    VectorFile *f;
    size_t n = 0;

    if (no_rows()) {
        return;
    }
    f = vector_file_open_data("argon2.vec");
    while (vector_file_next(f)) {
        const int alg = qcrypto_argon2_algo_from_name(vector_text(f, "type"));
        Vector v = {
            .where = g_strdup(vector_where(f)),
            .alg = (QCryptoArgon2Algo)alg,
            .cost = {(uint32_t)vector_number(f, "time"),
                     (uint32_t)vector_number(f, "memory"),
                     (uint32_t)vector_number(f, "lanes")},
            .key = vector_bytes(f, "passphrase"),
            .salt = vector_bytes(f, "salt"),
            .tag = vector_bytes(f, "tag"),
        };

        g_assert_cmpint(alg, >=, 0);
        g_assert_cmpuint(try_vector(&v), >, 0);
        clear_vector(&v);
        n++;
    }
    vector_file_close(f);
    g_assert_cmpuint(n, ==, 6);
}

/* RFC 9106, 5.2 and 5.3: a secret value and associated data */
static void test_rfc9106(void)
{
    static const struct {
        QCryptoArgon2Algo alg;
        uint8_t tag[32];
    } v[] = {
        {QCRYPTO_ARGON2_ALGO_ARGON2I,
         {0xc8, 0x14, 0xd9, 0xd1, 0xdc, 0x7f, 0x37, 0xaa, 0x13, 0xf0, 0xd7,
          0x7f, 0x24, 0x94, 0xbd, 0xa1, 0xc8, 0xde, 0x6b, 0x01, 0x6d, 0xd3,
          0x88, 0xd2, 0x99, 0x52, 0xa4, 0xc4, 0x67, 0x2b, 0x6c, 0xe8}},
        {QCRYPTO_ARGON2_ALGO_ARGON2ID,
         {0x0d, 0x64, 0x0d, 0xf5, 0x8d, 0x78, 0x76, 0x6c, 0x08, 0xc0, 0x37,
          0xa3, 0x4a, 0x8b, 0x53, 0xc9, 0xd0, 0x1e, 0xf0, 0x45, 0x2d, 0x75,
          0xb6, 0x5e, 0xb5, 0x25, 0x20, 0xe9, 0x6b, 0x01, 0xe6, 0x59}},
    };
    static const char *const providers[] = {NULL, "argon2", "gcrypt", "sodium"};
    const QCryptoArgon2Cost cost = {.time = 3, .memory_kib = 32, .lanes = 4};
    uint8_t key[32], salt[16], secret[8], ad[12], out[32];
    unsigned right = 0;

    if (no_rows()) {
        return;
    }
    memset(key, 1, sizeof(key));
    memset(salt, 2, sizeof(salt));
    memset(secret, 3, sizeof(secret));
    memset(ad, 4, sizeof(ad));
    for (size_t i = 0; i < G_N_ELEMENTS(v) * G_N_ELEMENTS(providers); i++) {
        const size_t which = i % G_N_ELEMENTS(v);
        g_autoptr(GError) err = NULL;

        memset(out, 0xa5, sizeof(out));
        if (qcrypto_argon2_keyed(providers[i / G_N_ELEMENTS(v)], v[which].alg,
                                 key, sizeof(key), salt, sizeof(salt), secret,
                                 sizeof(secret), ad, sizeof(ad), &cost, out,
                                 sizeof(out), &err) == 0) {
            g_assert_cmpmem(out, sizeof(out), v[which].tag, sizeof(out));
            right++;
        } else {
            /* not built in, or a library without them; nothing is written */
            g_assert_true(g_error_matches(err, QCRYPTO_ERROR,
                                          QCRYPTO_ERROR_UNSUPPORTED) ||
                          g_error_matches(err, QCRYPTO_ERROR,
                                          QCRYPTO_ERROR_BACKEND_UNAVAILABLE));
            g_assert_cmpuint(out[0], ==, 0xa5);
        }
    }
    if (!right) {
        g_test_message("no provider of this build takes a secret value");
    }
}

/* Botan's file has the variant in its sections; some have secrets. */
static void test_vectors_extra(void)
{
    const char *folder = g_getenv("QCRYPTO_EXTRA_VECTORS");
    g_autofree char *path =
        g_build_filename(folder ? folder : "", "botan", "argon2.vec", NULL);
    VectorFile *f = folder ? vector_file_open(path) : NULL;
    size_t n = 0, done = 0;

    if (!f) {
        g_test_skip("QCRYPTO_EXTRA_VECTORS has no botan/argon2.vec");
        return;
    }
    if (no_rows()) {
        return;
    }
    while (vector_file_next(f)) {
        const int alg = qcrypto_argon2_algo_from_name(vector_section(f));

        if (alg < 0 || vector_text(f, "secret") || vector_text(f, "ad")) {
            continue;
        }
        Vector v = {
            .where = g_strdup(vector_where(f)),
            .alg = (QCryptoArgon2Algo)alg,
            .cost = {(uint32_t)vector_number(f, "t"),
                     (uint32_t)vector_number(f, "m"),
                     (uint32_t)vector_number(f, "p")},
            .key = vector_bytes(f, "passphrase"),
            .salt = vector_bytes(f, "salt"),
            .tag = vector_bytes(f, "output"),
        };
        done += try_vector(&v);
        clear_vector(&v);
        n++;
    }
    vector_file_close(f);
    g_test_message("%zu vectors, %zu answers", n, done);
    g_assert_cmpuint(n, >, 0);
    g_assert_cmpuint(done, >=, 2 * n);
}

/* ---- rows against each other ---- */

typedef struct Parameters {
    QCryptoArgon2Cost cost;
    size_t nkey, nsalt, nout;
} Parameters;

/* How many of the rows gave an answer, all of them the same. */
static size_t compare_rows(int alg, const Parameters *p, size_t *answers)
{
    static uint8_t key[300], salt[100];
    uint8_t first[200] = {0};
    size_t n, done = 0;
    QCryptoCandidate *const *rows =
        qcrypto_select(QCRYPTO_KIND_ARGON2, alg, -1, &n, NULL);

    fill_seeded(key, sizeof(key), 1);
    fill_seeded(salt, sizeof(salt), 2);
    for (size_t i = 0; i < n; i++) {
        g_autofree char *name = row_name(rows[i]);
        g_autoptr(GError) err = NULL;
        uint8_t out[200] = {0};

        if (qcrypto_argon2_from(name, (QCryptoArgon2Algo)alg, key, p->nkey,
                                salt, p->nsalt, &p->cost, out, p->nout,
                                &err) < 0) {
            static const uint8_t none[200];

            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
            g_assert_cmpmem(out, sizeof(out), none, sizeof(none));
            continue;
        }
        answers[i]++;
        if (!done++) {
            memcpy(first, out, sizeof(out));
        } else if (memcmp(first, out, sizeof(out))) {
            g_test_message("%s differs: %u passes, %u KiB, %u lanes, key %zu, "
                           "salt %zu, out %zu",
                           name, p->cost.time, p->cost.memory_kib,
                           p->cost.lanes, p->nkey, p->nsalt, p->nout);
            g_test_fail();
        }
    }
    return done;
}

static void test_rows_agree(void)
{
    static const QCryptoArgon2Cost costs[] = {
        {1, 8, 1},
        {1, 9, 1},
        {2, 13, 1},
        {3, 64, 1},
        {4, 100, 1},
        {1, 16, 2},
        {3, 31, 2},
        {2, 67, 3},
        {1, 1000, 4},
        {5, 56, 7},
        {3, 64, 1},
        {1, 2048, 16},
        /* threads, and memory that is mapped by itself */
        {1, 2500, 2},
        {2, 9000, 1},
        {2, 9001, 4},
        {1, 12345, 3},
    };
    static const size_t keys[] = {0, 1, 64, 300};
    static const size_t salts[] = {8, 16, 33, 100};
    static const size_t outs[] = {4, 16, 32, 63, 64, 65, 96, 97, 200};

    if (no_rows()) {
        return;
    }
    for (int alg = 0; alg < QCRYPTO_ARGON2_ALGO__MAX; alg++) {
        size_t answers[16] = {0}, n;
        QCryptoCandidate *const *rows =
            qcrypto_select(QCRYPTO_KIND_ARGON2, alg, -1, &n, NULL);

        g_assert_cmpuint(n, <=, G_N_ELEMENTS(answers));
        for (size_t c = 0; c < G_N_ELEMENTS(costs); c++) {
            const size_t step = costs[c].memory_kib > 2048 ? 4 : 1;

            for (size_t i = 0; i < G_N_ELEMENTS(outs); i += step) {
                const Parameters p = {costs[c],
                                      keys[(c + i) % G_N_ELEMENTS(keys)],
                                      salts[i % G_N_ELEMENTS(salts)], outs[i]};

                compare_rows(alg, &p, answers);
            }
        }
        for (size_t i = 0; i < n; i++) {
            g_autofree char *name = row_name(rows[i]);

            g_test_message("%s %s: %zu answers",
                           qcrypto_argon2_algo_name((QCryptoArgon2Algo)alg),
                           name, answers[i]);
            g_assert_cmpuint(answers[i], >, 0);
        }
    }
}

/* Somebody serves an empty passphrase, with any number of lanes. */
static void test_empty_passphrase(void)
{
    const uint8_t salt[32] = {7};
    uint8_t a[32], b[32];
    g_autoptr(GError) err = NULL;
    size_t n;
    QCryptoCandidate *const *rows =
        qcrypto_select(QCRYPTO_KIND_ARGON2, ID, -1, &n, NULL);
    bool able = false;

    /* libgcrypt alone refuses it */
    for (size_t i = 0; i < n; i++) {
        able |= !strcmp(rows[i]->provider->name, "argon2");
    }
    if (!able) {
        g_test_skip("no library of this build takes an empty passphrase");
        return;
    }
    for (uint32_t lanes = 1; lanes <= 4; lanes++) {
        const QCryptoArgon2Cost cost = {3, 64, lanes};

        qcrypto_argon2(ID, NULL, 0, salt, sizeof(salt), &cost, a, 32, &err);
        g_assert_no_error(err);
        qcrypto_argon2(ID, (const uint8_t *)"", 0, salt, sizeof(salt), &cost, b,
                       32, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(a, 32, b, 32);
    }
}

/* ---- parameters ---- */

static void refused(const uint8_t *key, size_t nkey, const uint8_t *salt,
                    size_t nsalt, QCryptoArgon2Cost cost, size_t nout,
                    const char *text)
{
    g_autoptr(GError) err = NULL;
    uint8_t out[8] = {0x5a};

    g_assert_cmpint(
        qcrypto_argon2(ID, key, nkey, salt, nsalt, &cost, out, nout, &err), ==,
        -1);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_assert_cmpstr(err->message, ==, text);
    g_assert_cmpuint(out[0], ==, 0x5a);
}

#define COST(t, m, p) ((QCryptoArgon2Cost){t, m, p})

static void test_ranges(void)
{
    const uint8_t s[16] = {0};
    uint8_t out[32];
    GError *err = NULL;

    refused(s, 8, s, 16, COST(0, 64, 1), 8,
            "argon2id takes 1 to 4294967295 passes, not 0");
    refused(s, 8, s, 16, COST(1, 64, 0), 8,
            "argon2id takes 1 to 16777215 lanes, not 0");
    refused(s, 8, s, 16, COST(1, 64, 1 << 24), 8,
            "argon2id takes 1 to 16777215 lanes, not 16777216");
    refused(s, 8, s, 16, COST(1, 7, 1), 8,
            "argon2id takes 8 to 4294967295 KiB of memory (8 a lane), not 7");
    refused(s, 8, s, 16, COST(1, 31, 4), 8,
            "argon2id takes 32 to 4294967295 KiB of memory (8 a lane), not 31");
    refused(s, 8, s, 7, COST(1, 64, 1), 8,
            "argon2id takes 8 to 4294967295 bytes of salt, not 7");
    refused(s, 8, s, 0, COST(1, 64, 1), 8,
            "argon2id takes 8 to 4294967295 bytes of salt, not 0");
    refused(s, 8, s, 16, COST(1, 64, 1), 3,
            "argon2id takes 4 to 4294967295 bytes of output, not 3");
    refused(s, 8, s, 16, COST(1, 64, 1), 0,
            "argon2id takes 4 to 4294967295 bytes of output, not 0");
    refused(NULL, 8, s, 16, COST(1, 64, 1), 8, "key is NULL");
    refused(s, 8, NULL, 16, COST(1, 64, 1), 8, "salt is NULL");
    if (sizeof(size_t) > 4) {
        refused(s, (size_t)UINT32_MAX + 1, s, 16, COST(1, 64, 1), 8,
                "argon2id takes 0 to 4294967295 bytes of passphrase, not "
                "4294967296");
    }

    g_assert_cmpint(qcrypto_argon2(ID, s, 8, s, 16, NULL, out, 32, &err), ==,
                    -1);
    g_assert_cmpstr(err->message, ==, "cost is NULL");
    g_clear_error(&err);
    g_assert_cmpint(
        qcrypto_argon2(ID, s, 8, s, 16, &COST(1, 64, 1), NULL, 32, &err), ==,
        -1);
    g_assert_cmpstr(err->message, ==, "out is NULL");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_argon2(QCRYPTO_ARGON2_ALGO__MAX, s, 8, s, 16,
                                   &COST(1, 64, 1), out, 32, &err),
                    ==, -1);
    g_assert_cmpstr(err->message, ==,
                    "unknown Argon2 variant 2");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_argon2_from(NULL, ID, s, 8, s, 16, &COST(1, 64, 1),
                                        out, 32, &err),
                    ==, -1);
    g_assert_cmpstr(err->message, ==, "provider is NULL");
    g_clear_error(&err);
}

static void test_names(void)
{
    g_assert_cmpstr(qcrypto_argon2_algo_name(ID), ==, "argon2id");
    g_assert_null(qcrypto_argon2_algo_name(QCRYPTO_ARGON2_ALGO__MAX));
    g_assert_cmpint(qcrypto_argon2_algo_from_name("ARGON2I"), ==,
                    QCRYPTO_ARGON2_ALGO_ARGON2I);
    g_assert_cmpint(qcrypto_argon2_algo_from_name("argon2d"), ==, -1);
    g_assert_false(qcrypto_argon2_supports(QCRYPTO_ARGON2_ALGO__MAX));
}

/* ---- memory ---- */

/* Runs func in a child, whose limits are its own; it returns 0 if all is well. */
static void in_child(int (*func)(void))
{
    const pid_t child = fork();
    int status;

    g_assert_cmpint(child, >=, 0);
    if (!child) {
        alarm(60);
        _exit(func());
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
}

/* What `ulimit -v 200000` does. */
static int limit_memory(void)
{
    const struct rlimit r = {200000 * 1024, 200000 * 1024};

    return setrlimit(RLIMIT_AS, &r);
}

/* An emulator of processes takes the limit and does not keep it. */
static int limit_holds(void)
{
    struct rlimit r;

    return limit_memory() < 0 || getrlimit(RLIMIT_AS, &r) < 0 ||
                   r.rlim_cur != 200000 * 1024 ||
                   mmap(NULL, 1 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0) != MAP_FAILED
               ? 1
               : 0;
}

static bool limits_hold(void)
{
    const pid_t child = fork();
    int status;

    g_assert_cmpint(child, >=, 0);
    if (!child) {
        _exit(limit_holds());
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

static const QCryptoArgon2Cost gigabyte = {1, 1024 * 1024, 1};

/* The text with both numbers, and that at once (B05). */
static int refused_beforehand(void)
{
    static const uint8_t salt[16];
    uint8_t out[32];
    GError *err = NULL;

    if (limit_memory() < 0) {
        return 1;
    }
    const gint64 start = g_get_monotonic_time();
    if (qcrypto_argon2(ID, salt, 8, salt, sizeof(salt), &gigabyte, out, 32,
                       &err) == 0) {
        return 2;
    }
    if (g_get_monotonic_time() - start > G_USEC_PER_SEC) {
        return 3;
    }
    if (!g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY)) {
        return 4;
    }
    unsigned long long available = 0;
    if (sscanf(err->message, "argon2id needs 1048576 KiB, %llu KiB available",
               &available) != 1) {
        return 5;
    }
    /* less than the limit: some of it is in use; but not all */
    return available > 10000 && available < 200000 ? 0 : 6;
}

/* The libraries themselves, which the check beforehand keeps from it. */
static int refused_by_libraries(void)
{
    static const uint8_t salt[16];
    uint8_t out[32];
    size_t n;
    QCryptoCandidate *const *rows =
        qcrypto_select(QCRYPTO_KIND_ARGON2, ID, -1, &n, NULL);

    if (limit_memory() < 0) {
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        const QCryptoArgon2Ops *ops = rows[i]->row->ops;
        g_autoptr(GError) err = NULL;

        if (ops->derive(rows[i]->row, salt, 8, salt, sizeof(salt),
                        gigabyte.time, gigabyte.memory_kib, gigabyte.lanes, out,
                        32, &err) == 0 ||
            !g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY)) {
            return 2 + (int)i;
        }
    }
    return 0;
}

static int calibrated_within_limits(void)
{
    QCryptoArgon2Cost cost = {0};
    GError *err = NULL;

    return limit_memory() < 0 ||
           qcrypto_argon2_calibrate(ID, 20, 0, 32, &cost, &err) < 0 ||
           cost.memory_kib > 100000;
}

static void test_b05(void)
{
    if (no_rows()) {
        return;
    }
    if (sanitized) {
        g_test_skip("a sanitizer cannot live under RLIMIT_AS");
        return;
    }
    if (!limits_hold()) {
        g_test_skip("RLIMIT_AS is not kept here (an emulator of processes)");
        return;
    }
    in_child(refused_beforehand);
    in_child(refused_by_libraries);
    in_child(calibrated_within_limits);
}

/* A row whose library runs out of memory all the same. */
static unsigned starved;
static const QCryptoRow *real_row;

static int starve(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                  const uint8_t *salt, size_t nsalt, uint32_t time,
                  uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                  size_t nout, GError **errp)
{
    const QCryptoArgon2Ops *ops = real_row->ops;

    if (time == 3) {
        /* the self-test */
        return ops->derive(real_row, key, nkey, salt, nsalt, time, memory_kib,
                           lanes, out, nout, errp);
    }
    starved++;
    memset(out, 0, nout);
    g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY, "malloc");
    return -1;
}

static const QCryptoArgon2Ops starve_ops = {.derive = starve};
static const QCryptoRow starve_rows[] = {
    QCRYPTO_ARGON2_ROW(ARGON2ID, "a", 0, starve_ops, NULL),
    QCRYPTO_ARGON2_ROW(ARGON2ID, "b", 0, starve_ops, NULL),
};
static const QCryptoProvider starve_provider = {
    .name = "starved", .rows = starve_rows, .nrows = 2};
static const QCryptoProviderEntry starve_table[] = {
    {"starved", &starve_provider, false}};

static void test_starved(void)
{
    const uint8_t salt[16] = {0};
    uint8_t out[4] = {1, 2, 3, 4}, before[4] = {1, 2, 3, 4};
    g_autoptr(GError) err = NULL;

    if (no_rows()) {
        return;
    }
    real_row = qcrypto_select_usable(QCRYPTO_KIND_ARGON2, ID, -1, 0, NULL)->row;
    qcrypto_select_set_table(starve_table, 1);
    g_assert_cmpint(qcrypto_argon2(ID, salt, 8, salt, 16, &COST(1, 64, 1), out,
                                   sizeof(out), &err),
                    ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY);
    g_assert_cmpstr(err->message, ==, "argon2id needs 64 KiB");
    g_assert_cmpmem(out, 4, before, 4);
    /* the second row was not tried: it would need as much */
    g_assert_cmpuint(starved, ==, 1);
    qcrypto_select_set_table(qcrypto_provider_table,
                             qcrypto_provider_table_len);
}

/* ---- what memory there is ---- */

static char *root;

static void put(const char *path, const char *text)
{
    g_autofree char *full = g_strconcat(root, path, NULL);
    g_autofree char *dir = g_path_get_dirname(full);

    g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
    g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static void remove_tree(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *full = g_build_filename(path, name, NULL);

        if (g_file_test(full, G_FILE_TEST_IS_DIR)) {
            remove_tree(full);
        } else {
            g_unlink(full);
        }
    }
    g_clear_pointer(&dir, g_dir_close);
    g_rmdir(path);
}

static void new_root(void)
{
    root = g_dir_make_tmp("qcrypto-memory-XXXXXX", NULL);
    g_assert_nonnull(root);
    put("/proc/meminfo", "MemTotal:       16000000 kB\n"
                         "MemFree:         1000000 kB\n"
                         "MemAvailable:    8000000 kB\n"
                         "SwapTotal:        500000 kB\n"
                         "SwapFree:         400000 kB\n");
    put("/proc/self/status", "Name:\ttest\nVmPeak:\t  300000 kB\n"
                             "VmSize:\t  200000 kB\nVmData:\t   50000 kB\n");
}

static void drop_root(void)
{
    remove_tree(root);
    g_clear_pointer(&root, g_free);
}

static void expect_kib(uint64_t kib)
{
    g_assert_cmpuint(qcrypto_memory_available_below(root), ==, kib);
}

static void test_memory_machine(void)
{
    new_root();
    expect_kib(8400000);
    put("/proc/meminfo", "MemTotal: 16000000 kB\n");
    /* an old kernel does not say: no limit, and so with nothing at all */
    expect_kib(UINT64_MAX / 1024);
    drop_root();
    root = g_strdup("/nonexistent");
    expect_kib(UINT64_MAX / 1024);
    g_clear_pointer(&root, g_free);
}

#define V2                                                                     \
    "22 1 0:21 / /proc rw - proc proc rw\n"                                    \
    "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw\n"

static void test_memory_v2(void)
{
    new_root();
    put("/proc/self/mountinfo", V2);
    put("/proc/self/cgroup", "0::/user.slice/user-1000.slice/vm.scope\n");
    expect_kib(8400000);
    put("/sys/fs/cgroup/user.slice/user-1000.slice/vm.scope/memory.max",
        "max\n");
    put("/sys/fs/cgroup/user.slice/user-1000.slice/vm.scope/memory.current",
        "1048576\n");
    expect_kib(8400000);
    /* a limit further up */
    put("/sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
    put("/sys/fs/cgroup/user.slice/memory.current", "536870912\n");
    expect_kib(524288);
    /* file pages can go */
    put("/sys/fs/cgroup/user.slice/memory.stat",
        "anon 1\nfile 402653184\ninactive_file 134217728\n"
        "active_file 268435456\nslab 7\n");
    expect_kib(524288 + 393216);
    /* the least of all: from which on the kernel slows it down */
    put("/sys/fs/cgroup/user.slice/user-1000.slice/vm.scope/memory.high",
        "2097152\n");
    expect_kib(1024);
    put("/sys/fs/cgroup/user.slice/user-1000.slice/vm.scope/memory.current",
        "99999999\n");
    expect_kib(0);
    drop_root();
}

/* In a container: its own group is all that is mounted. */
static void test_memory_namespaces(void)
{
    new_root();
    put("/proc/self/mountinfo", V2);
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "104857600\n");
    put("/sys/fs/cgroup/memory.current", "4096\n");
    expect_kib(102400 - 4);
    /* of a group outside the namespace, what is mounted is the nearest */
    put("/proc/self/cgroup", "0::/../other\n");
    expect_kib(102400 - 4);
    put("/proc/self/mountinfo", "30 1 0:26 /docker/0a1b /sys/fs/my\\040cgroup "
                                "rw - cgroup2 cgroup rw\n");
    put("/proc/self/cgroup", "0::/docker/0a1b/inner\n");
    put("/sys/fs/my cgroup/memory.max", "8388608\n");
    put("/sys/fs/my cgroup/memory.current", "0\n");
    expect_kib(8192);
    put("/sys/fs/my cgroup/inner/memory.max", "4194304\n");
    put("/sys/fs/my cgroup/inner/memory.current", "0\n");
    expect_kib(4096);
    put("/proc/self/cgroup", "0::/docker/0a1bcd\n");
    expect_kib(8192);
    drop_root();
}

static void test_memory_v1(void)
{
    new_root();
    put("/proc/self/mountinfo",
        "31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "32 1 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "33 1 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "5:cpu:/elsewhere\n4:memory:/jobs/a\n0::/jobs\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "123456\n");
    put("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes",
        "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/jobs/a/memory.usage_in_bytes", "4096\n");
    expect_kib(8400000);
    put("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "67108864\n");
    put("/sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "33554432\n");
    put("/sys/fs/cgroup/memory/jobs/memory.stat",
        "inactive_file 1\ntotal_inactive_file 8388608\n"
        "total_active_file 1048576\n");
    expect_kib(32768 + 9216);
    drop_root();
}

static int limits_of_process(void)
{
    const struct rlimit as = {1000000 * 1024, RLIM_INFINITY};
    const struct rlimit data = {100000 * 1024, RLIM_INFINITY};

    /* 200000 KiB of size and 50000 of data, says the file */
    if (setrlimit(RLIMIT_AS, &as) < 0 ||
        qcrypto_memory_available_below(root) != 800000) {
        return 1;
    }
    return setrlimit(RLIMIT_DATA, &data) < 0 ||
           qcrypto_memory_available_below(root) != 50000;
}

static void test_memory_limits(void)
{
    g_assert_cmpuint(qcrypto_memory_available_kib(), >, 1024);
    if (sanitized) {
        g_test_skip("a sanitizer cannot live under RLIMIT_AS");
        return;
    }
    if (!limits_hold()) {
        g_test_skip("RLIMIT_AS is not kept here (an emulator of processes)");
        return;
    }
    new_root();
    in_child(limits_of_process);
    drop_root();
}

/* ---- calibration ---- */

/* A simulated machine: 1 + 1/3 of the time a KiB where memory is large. */
typedef struct Machine {
    double kib_passes; /* a second */
    double now_ns;
    bool frozen;
    uint32_t most_kib;
    unsigned derived;
} Machine;

static double time_of(const Machine *m, const QCryptoArgon2Cost *c)
{
    const double slow = c->memory_kib > 16384 ? 4.0 / 3 : 1;

    return (double)c->memory_kib * c->time * slow / m->kib_passes;
}

static int derive_simulated(const QCryptoArgon2Cost *cost, void *opaque,
                            GError **errp)
{
    Machine *m = opaque;

    m->now_ns += time_of(m, cost) * 1e9;
    m->most_kib = MAX(m->most_kib, cost->memory_kib);
    m->derived++;
    g_assert_cmpuint(cost->memory_kib % (4 * cost->lanes), ==, 0);
    g_assert_cmpuint(cost->memory_kib, >=, 8 * cost->lanes);
    g_assert_cmpuint(cost->time, >=, 1);
    return 0;
}

static uint64_t simulated_clock(void *opaque)
{
    const Machine *m = opaque;

    return m->frozen ? 77 : (uint64_t)m->now_ns;
}

static int calibrate(Machine *m, unsigned ms, uint32_t cap, uint64_t available,
                     QCryptoArgon2Cost *cost, GError **errp)
{
    const QCryptoArgon2Probe probe = {
        .derive = derive_simulated,
        .opaque = m,
        .clock = simulated_clock,
        .clock_opaque = m,
        .available_kib = available,
    };

    return qcrypto_argon2_calibrate_probe(ID, ms, cap, &probe, cost, errp);
}

static void test_calibrate_simulated(void)
{
    static const double machines[] = {2e4, 3e5, 2e6, 2.5e7};
    static const unsigned targets[] = {10, 100, 1000, 2000, 5000};
    static const uint32_t caps[] = {32, 1000, 65536, 0};

    for (size_t i = 0; i < G_N_ELEMENTS(machines); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(targets); j++) {
            for (size_t k = 0; k < G_N_ELEMENTS(caps); k++) {
                const uint32_t cap = caps[k] ? caps[k] : 1024 * 1024;
                Machine m = {.kib_passes = machines[i]};
                QCryptoArgon2Cost cost = {.lanes = 4};
                g_autoptr(GError) err = NULL;

                calibrate(&m, targets[j], caps[k], 64 << 20, &cost, &err);
                g_assert_no_error(err);
                const double wanted = targets[j] / 1000.0;
                const double takes = time_of(&m, &cost);
                const bool least = cost.time == 4 && cost.memory_kib == 32;
                g_assert_cmpuint(cost.lanes, ==, 4);
                g_assert_cmpuint(cost.time, >=, 4);
                g_assert_cmpuint(cost.memory_kib, <=, cap);
                g_assert_cmpuint(m.most_kib, <=, cap);
                /* memory first, passes when there is no more of it */
                g_assert_true(cost.time == 4 || cost.memory_kib + 16 > cap);
                if ((takes < 0.75 * wanted && cap) ||
                    (takes > 1.25 * wanted && !least)) {
                    g_test_message("%g a second, %u ms, cap %u: %u passes of "
                                   "%u KiB take %.3f s",
                                   machines[i], targets[j], cap, cost.time,
                                   cost.memory_kib, takes);
                    g_test_fail();
                }
            }
        }
    }
}

static void test_calibrate_memory(void)
{
    Machine m = {.kib_passes = 1e6};
    QCryptoArgon2Cost cost = {.time = 1, .lanes = 2};
    GError *err = NULL;

    /* half of what is there, whatever the cap */
    calibrate(&m, 1000, 0, 20000, &cost, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(cost.memory_kib, ==, 10000);
    g_assert_cmpuint(m.most_kib, <=, 10000);
    g_assert_cmpuint(cost.lanes, ==, 2);
    /* the least there is */
    calibrate(&m, 1000, 0, 20, &cost, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(cost.memory_kib, ==, 16);

    cost = (QCryptoArgon2Cost){.lanes = 4};
    g_assert_cmpint(calibrate(&m, 1000, 0, 31, &cost, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY);
    g_assert_cmpstr(err->message, ==,
                    "argon2id needs 32 KiB, 31 KiB available");
    g_clear_error(&err);
    g_assert_cmpint(calibrate(&m, 1000, 31, 1 << 20, &cost, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_assert_cmpstr(err->message, ==,
                    "argon2id takes 32 to 4294967295 KiB of memory (8 a lane), "
                    "not 31");
    g_clear_error(&err);
}

static void test_calibrate_errors(void)
{
    Machine m = {.kib_passes = 1e6};
    QCryptoArgon2Cost cost = {0};
    GError *err = NULL;

    g_assert_cmpint(calibrate(&m, 0, 0, 1 << 20, &cost, &err), ==, -1);
    g_assert_cmpstr(err->message, ==,
                    "argon2id takes 1 to 4294967295 ms to calibrate to, not 0");
    g_clear_error(&err);
    g_assert_cmpint(calibrate(&m, 100, 0, 1 << 20, NULL, &err), ==, -1);
    g_assert_cmpstr(err->message, ==, "cost is NULL");
    g_clear_error(&err);
    m.frozen = true;
    g_assert_cmpint(calibrate(&m, 100, 0, 1 << 20, &cost, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_clear_error(&err);
    g_assert_cmpuint(m.derived, <=, 64);
    g_assert_cmpint(qcrypto_argon2_calibrate(ID, 100, 0, 3, &cost, &err), ==,
                    -1);
    g_assert_cmpstr(err->message, ==,
                    "argon2id takes 4 to 4294967295 bytes of output, not 3");
    g_clear_error(&err);
}

/* Volumes with an --iter-time of 10 ms, 50 times: none fails (B02). */
static void test_b02_short(void)
{
    if (no_rows()) {
        return;
    }
    for (int i = 0; i < 50; i++) {
        QCryptoArgon2Cost cost = {0};
        g_autoptr(GError) err = NULL;

        qcrypto_argon2_calibrate(ID, 10, 65536, 32, &cost, &err);
        g_assert_no_error(err);
        g_assert_cmpuint(cost.time, >=, 4);
        g_assert_cmpuint(cost.memory_kib, >=, 8 * cost.lanes);
        g_assert_cmpuint(cost.memory_kib, <=, 65536);
    }
}

/* The real thing; the machine may be busy, so the bounds are wide. */
static void test_calibrate(void)
{
    static const uint8_t salt[16];
    double ratio = 0;

    if (no_rows()) {
        return;
    }
    for (int attempt = 0; attempt < 3 && (ratio < 0.4 || ratio > 2.5);
         attempt++) {
        QCryptoArgon2Cost cost = {0};
        uint8_t out[32];
        g_autoptr(GError) err = NULL;

        qcrypto_argon2_calibrate(ID, 200, 32768, 32, &cost, &err);
        g_assert_no_error(err);
        const gint64 start = g_get_monotonic_time();
        qcrypto_argon2(ID, salt, 8, salt, sizeof(salt), &cost, out, 32, &err);
        g_assert_no_error(err);
        ratio = (double)(g_get_monotonic_time() - start) / 200000;
        g_test_message("%u passes of %u KiB in %u lanes: %.2f of 200 ms",
                       cost.time, cost.memory_kib, cost.lanes, ratio);
    }
    g_assert_cmpfloat(ratio, >, 0.4);
    g_assert_cmpfloat(ratio, <, 2.5);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/argon2/vectors", test_vectors);
    g_test_add_func("/argon2/vectors/rfc9106", test_rfc9106);
    if (g_getenv("QCRYPTO_EXTRA_VECTORS")) {
        g_test_add_func("/argon2/vectors/extra", test_vectors_extra);
    }
    g_test_add_func("/argon2/rows-agree", test_rows_agree);
    g_test_add_func("/argon2/empty-passphrase", test_empty_passphrase);
    g_test_add_func("/argon2/ranges", test_ranges);
    g_test_add_func("/argon2/names", test_names);
    g_test_add_func("/argon2/starved", test_starved);
    g_test_add_func("/cases/B05", test_b05);
    g_test_add_func("/cases/B02/short", test_b02_short);
    g_test_add_func("/memory/machine", test_memory_machine);
    g_test_add_func("/memory/cgroup-v2", test_memory_v2);
    g_test_add_func("/memory/cgroup-namespaces", test_memory_namespaces);
    g_test_add_func("/memory/cgroup-v1", test_memory_v1);
    g_test_add_func("/memory/limits", test_memory_limits);
    g_test_add_func("/argon2/calibrate", test_calibrate);
    g_test_add_func("/argon2/calibrate/simulated", test_calibrate_simulated);
    g_test_add_func("/argon2/calibrate/memory", test_calibrate_memory);
    g_test_add_func("/argon2/calibrate/errors", test_calibrate_errors);
    return g_test_run();
}
