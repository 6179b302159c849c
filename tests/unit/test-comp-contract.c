/*
 * Compression: what comp.h promises beside the data
 *
 * Names, levels, bounds, arguments that are refused, what is left in the
 * output, the choice of rows, and libraries that fail in the middle.  The data
 * itself is the conformance tests' affair.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/comp.h>
#include <qcrypto/provider.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"

#define ZLIB  QCRYPTO_COMP_ALGO_ZLIB_DEFLATE
#define USUAL QCRYPTO_COMP_LEVEL_DEFAULT

static const char text[] =
    "to be compressed, to be compressed, to be compressed, to be compressed, "
    "to be compressed, to be compressed, to be compressed, to be compressed";
#define NTEXT sizeof(text)

/* The case's one way out in a build without any of the libraries. */
static bool need(QCryptoCompAlgo alg)
{
    if (qcrypto_comp_supports(alg)) {
        return true;
    }
    g_test_skip("no library for it in this build");
    return false;
}

static bool is_all(const uint8_t *p, size_t n, uint8_t value)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != value) {
            return false;
        }
    }
    return true;
}

static void test_names(void)
{
    static const char *const names[] = {"zlib-deflate", "deflate", "zstd",
                                        "lz4"};

    G_STATIC_ASSERT(G_N_ELEMENTS(names) == QCRYPTO_COMP_ALGO__MAX);
    for (int i = 0; i < QCRYPTO_COMP_ALGO__MAX; i++) {
        g_assert_cmpstr(qcrypto_comp_algo_name(i), ==, names[i]);
        g_assert_cmpint(qcrypto_comp_algo_from_name(names[i]), ==, i);
    }
    g_assert_cmpint(qcrypto_comp_algo_from_name("ZSTD"), ==,
                    QCRYPTO_COMP_ALGO_ZSTD);
    g_assert_cmpint(qcrypto_comp_algo_from_name("gzip"), ==, -1);
    g_assert_cmpint(qcrypto_comp_algo_from_name(NULL), ==, -1);
    g_assert_null(qcrypto_comp_algo_name(QCRYPTO_COMP_ALGO__MAX));
    g_assert_null(qcrypto_comp_algo_name((QCryptoCompAlgo)-1));
}

static void test_levels(void)
{
    static const struct {
        int min, max, usual;
    } want[] = {{0, 12, 6}, {0, 12, 6}, {-131072, 22, 3}, {-65536, 12, 0}};
    int min = 7, max, usual;

    for (int i = 0; i < QCRYPTO_COMP_ALGO__MAX; i++) {
        g_assert_cmpint(qcrypto_comp_levels(i, &min, &max, &usual), ==, 0);
        g_assert_cmpint(min, ==, want[i].min);
        g_assert_cmpint(max, ==, want[i].max);
        g_assert_cmpint(usual, ==, want[i].usual);
        g_assert_cmpint(qcrypto_comp_levels(i, NULL, NULL, NULL), ==, 0);
        const int beyond[] = {min - 1, max + 1, INT_MIN + 1, INT_MAX};

        for (size_t k = 0; k < G_N_ELEMENTS(beyond); k++) {
            g_autoptr(GError) err = NULL;

            g_assert_null(qcrypto_comp_new(i, beyond[k], &err));
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
            g_assert_nonnull(strstr(err->message, "levels"));
        }
    }
    g_assert_cmpint(
        qcrypto_comp_levels(QCRYPTO_COMP_ALGO__MAX, &min, NULL, NULL), ==, -1);
}

/* The order decides; a level that a library lacks goes to the next. */
static void test_choice(void)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoComp) one = NULL;

    g_assert_null(qcrypto_comp_new(QCRYPTO_COMP_ALGO__MAX, USUAL, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);
    g_assert_null(qcrypto_comp_new_from("nosuch", ZLIB, USUAL, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_clear_error(&err);
    g_assert_null(qcrypto_comp_new_from("builtin", ZLIB, USUAL, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_clear_error(&err);
    g_assert_null(qcrypto_comp_new_from(NULL, ZLIB, USUAL, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);
    g_assert_null(qcrypto_comp_get_provider(NULL));
    g_assert_null(qcrypto_comp_get_impl(NULL));
    qcrypto_comp_free(NULL);

    g_autoptr(QCryptoComp) zlib = qcrypto_comp_new_from("zlib", ZLIB, 9, NULL);
    g_autoptr(QCryptoComp) other =
        qcrypto_comp_new_from("libdeflate", ZLIB, 12, NULL);
    if (!zlib || !other) {
        g_test_skip("not both libraries are in this build");
        return;
    }
    one = qcrypto_comp_new(ZLIB, USUAL, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_comp_get_provider(one), ==, "libdeflate");
    g_clear_pointer(&one, qcrypto_comp_free);

    g_assert_null(qcrypto_comp_new_from("zlib", ZLIB, 10, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_clear_error(&err);
    qcrypto_providers_set_order("zlib,...", &err);
    one = qcrypto_comp_new(ZLIB, 9, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_comp_get_provider(one), ==, "zlib");
    g_clear_pointer(&one, qcrypto_comp_free);
    one = qcrypto_comp_new(ZLIB, 10, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_comp_get_provider(one), ==, "libdeflate");
    qcrypto_providers_set_order("zlib", &err);
    g_assert_null(qcrypto_comp_new(ZLIB, 10, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(err->message, "levels 0 to 9"));
    g_clear_error(&err);
    /* nobody in the order has it */
    g_assert_false(qcrypto_comp_supports(QCRYPTO_COMP_ALGO_ZSTD));
    qcrypto_providers_set_order(NULL, &err);
    g_assert_no_error(err);
}

static void test_bound(void)
{
    g_assert_cmpuint(qcrypto_comp_bound(QCRYPTO_COMP_ALGO__MAX, 1), ==, 0);
    for (int i = 0; i < QCRYPTO_COMP_ALGO__MAX; i++) {
        if (!qcrypto_comp_supports(i)) {
            g_assert_cmpuint(qcrypto_comp_bound(i, 100), ==, 0);
            continue;
        }
        for (size_t n = 0, last = 0; n < 200000; n += 1 + n / 9) {
            const size_t bound = qcrypto_comp_bound(i, n);

            g_assert_cmpuint(bound, >, n);
            g_assert_cmpuint(bound, >=, last);
            last = bound;
        }
        /* no sum that went over the top */
        for (unsigned k = 0; k < 64; k++) {
            const size_t n = SIZE_MAX - k;

            g_assert_cmpuint(qcrypto_comp_bound(i, n), ==, 0);
        }
    }
    if (need(QCRYPTO_COMP_ALGO_LZ4)) {
        g_assert_cmpuint(qcrypto_comp_bound(QCRYPTO_COMP_ALGO_LZ4, 0x7e000000),
                         >, 0x7e000000);
        g_assert_cmpuint(qcrypto_comp_bound(QCRYPTO_COMP_ALGO_LZ4, 0x7e000001),
                         ==, 0);
    }
}

/* What is refused leaves the output as it was. */
static void test_arguments(void)
{
    g_autoptr(GError) err = NULL;
    uint8_t in[NTEXT], out[400];
    size_t len = sizeof(out), inlen = NTEXT;

    if (!need(ZLIB)) {
        return;
    }
    g_autoptr(QCryptoComp) comp = qcrypto_comp_new(ZLIB, USUAL, &err);
    g_assert_no_error(err);
    memset(out, 0x5a, sizeof(out));
    memcpy(in, text, NTEXT);

#define REFUSED(call, word)                                                    \
    do {                                                                       \
        g_assert_cmpint(call, ==, -1);                                         \
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);    \
        g_assert_nonnull(strstr(err->message, word));                          \
        g_assert_true(is_all(out, sizeof(out), 0x5a));                         \
        g_assert_cmpuint(len, ==, sizeof(out));                                \
        g_clear_error(&err);                                                   \
    } while (0)

    REFUSED(qcrypto_comp_compress(NULL, in, NTEXT, out, &len, &err), "comp");
    REFUSED(qcrypto_comp_compress(comp, NULL, NTEXT, out, &len, &err), "in");
    REFUSED(qcrypto_comp_compress(comp, in, NTEXT, NULL, &len, &err), "out");
    REFUSED(qcrypto_comp_compress(comp, in, NTEXT, out, NULL, &err), "outlen");
    REFUSED(qcrypto_comp_decompress(NULL, in, NTEXT, out, &len, &err), "comp");
    REFUSED(qcrypto_comp_decompress(comp, NULL, 1, out, &len, &err), "in");
    REFUSED(qcrypto_comp_decompress(comp, in, NTEXT, NULL, &len, &err), "out");
    REFUSED(qcrypto_comp_decompress(comp, in, NTEXT, out, NULL, &err),
            "outlen");
    REFUSED(qcrypto_comp_decompress_prefix(comp, in, NULL, out, &len, &err),
            "inlen");
    REFUSED(qcrypto_comp_decompress_prefix(NULL, in, &inlen, out, &len, &err),
            "comp");
    /* overlaps, at either end and within */
    REFUSED(qcrypto_comp_compress(comp, out, 100, out, &len, &err), "overlap");
    REFUSED(qcrypto_comp_compress(comp, out + 399, 1, out, &len, &err),
            "overlap");
    REFUSED(qcrypto_comp_compress(comp, out + 10, 50, out, &len, &err),
            "overlap");
    len = 100;
    g_assert_cmpint(
        qcrypto_comp_compress(comp, out, 101, out + 100, &len, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);
    /* side by side is none */
    g_assert_cmpint(
        qcrypto_comp_compress(comp, out, 100, out + 100, &len, &err), ==, 0);
    g_assert_no_error(err);
}

/* No bytes, no room, and NULL for either. */
static void test_nothing(void)
{
    for (int i = 0; i < QCRYPTO_COMP_ALGO__MAX; i++) {
        g_autoptr(GError) err = NULL;
        uint8_t packed[64];
        size_t n = sizeof(packed), none = 0;

        if (!need(i)) {
            continue;
        }
        g_autoptr(QCryptoComp) comp = qcrypto_comp_new(i, USUAL, &err);
        g_assert_cmpint(qcrypto_comp_compress(comp, NULL, 0, packed, &n, &err),
                        ==, 0);
        g_assert_no_error(err);
        g_assert_cmpuint(n, >, 0);
        g_assert_cmpint(
            qcrypto_comp_decompress(comp, packed, n, NULL, &none, &err), ==, 0);
        g_assert_no_error(err);
        g_assert_cmpuint(none, ==, 0);
        /* no stream is no bytes long */
        n = 64;
        g_assert_cmpint(
            qcrypto_comp_decompress(comp, NULL, 0, packed, &n, &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_CORRUPT_DATA);
        g_clear_error(&err);
        /* and none fits into nothing */
        g_assert_cmpint(
            qcrypto_comp_compress(comp, text, NTEXT, NULL, &none, &err), ==,
            -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_NO_SPACE);
    }
}

/* The text names what is needed, where that is known. */
static void test_space(void)
{
    for (int i = 0; i < QCRYPTO_COMP_ALGO__MAX; i++) {
        g_autoptr(GError) err = NULL;
        g_autofree char *up_to = NULL;
        uint8_t packed[400], out[NTEXT];
        size_t n = 20, len = 50;

        if (!need(i)) {
            continue;
        }
        g_assert_cmpint(qcrypto_comp_compress_bytes(i, USUAL, text, NTEXT,
                                                    packed, &n, &err),
                        ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_NO_SPACE);
        up_to = g_strdup_printf("20 bytes is too small (up to ");
        g_assert_nonnull(strstr(err->message, up_to));
        g_assert_cmpuint(n, ==, 20);
        g_assert_true(is_all(packed, 20, 0));
        g_clear_error(&err);

        n = sizeof(packed);
        g_assert_cmpint(qcrypto_comp_compress_bytes(i, USUAL, text, NTEXT,
                                                    packed, &n, &err),
                        ==, 0);
        g_assert_cmpuint(n, <, 60);
        memset(out, 0x5a, sizeof(out));
        g_assert_cmpint(
            qcrypto_comp_decompress_bytes(i, packed, n, out, &len, &err), ==,
            -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_NO_SPACE);
        g_assert_true(is_all(out, 50, 0));
        g_assert_true(is_all(out + 50, NTEXT - 50, 0x5a));
        if (i == QCRYPTO_COMP_ALGO_ZSTD || i == QCRYPTO_COMP_ALGO_LZ4) {
            g_autofree char *exact =
                g_strdup_printf("50 bytes is too small (%zu needed)", NTEXT);

            g_assert_nonnull(strstr(err->message, exact));
        }
        g_clear_error(&err);
        len = NTEXT;
        g_assert_cmpint(
            qcrypto_comp_decompress_bytes(i, packed, n, out, &len, &err), ==,
            0);
        g_assert_cmpmem(out, len, text, NTEXT);
    }
}

/* Streams one after the other, as an image format has them in its sectors. */
static void test_prefix(void)
{
    for (int i = 0; i < QCRYPTO_COMP_ALGO_LZ4; i++) {
        g_autoptr(GError) err = NULL;
        uint8_t packed[1000] = {0}, out[NTEXT];
        size_t at = 0, ends[4];

        if (!need(i)) {
            continue;
        }
        g_autoptr(QCryptoComp) comp = qcrypto_comp_new(i, USUAL, &err);
        for (size_t k = 0; k < 4; k++) {
            size_t n = sizeof(packed) - at;

            g_assert_cmpint(qcrypto_comp_compress(comp, text, NTEXT - k,
                                                  packed + at, &n, &err),
                            ==, 0);
            ends[k] = at += n;
        }
        at = 0;
        for (size_t k = 0; k < 4; k++) {
            size_t used = sizeof(packed) - at, len = NTEXT;

            g_assert_cmpint(qcrypto_comp_decompress_prefix(
                                comp, packed + at, &used, out, &len, &err),
                            ==, 0);
            g_assert_no_error(err);
            g_assert_cmpmem(out, len, text, NTEXT - k);
            g_assert_cmpuint(at += used, ==, ends[k]);
        }
        /* a failure leaves both lengths */
        size_t used = sizeof(packed) - at, len = NTEXT;
        g_assert_cmpint(qcrypto_comp_decompress_prefix(comp, packed + at + 1,
                                                       &used, out, &len, &err),
                        ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_CORRUPT_DATA);
        g_assert_cmpuint(used, ==, sizeof(packed) - at);
        g_assert_cmpuint(len, ==, NTEXT);
    }
}

/* ---- each thread with an object of its own, and without ---- */

static gpointer work(gpointer opaque)
{
    const int alg = GPOINTER_TO_INT(opaque);
    g_autoptr(QCryptoComp) comp = qcrypto_comp_new(alg, USUAL, NULL);
    uint8_t packed[400], out[NTEXT];

    for (int i = 0; i < 200; i++) {
        size_t n = sizeof(packed), len = sizeof(out);

        if (i % 10) {
            g_assert_cmpint(
                qcrypto_comp_compress(comp, text, NTEXT, packed, &n, NULL), ==,
                0);
            g_assert_cmpint(
                qcrypto_comp_decompress(comp, packed, n, out, &len, NULL), ==,
                0);
        } else {
            g_assert_cmpint(qcrypto_comp_compress_bytes(alg, USUAL, text, NTEXT,
                                                        packed, &n, NULL),
                            ==, 0);
            g_assert_cmpint(
                qcrypto_comp_decompress_bytes(alg, packed, n, out, &len, NULL),
                ==, 0);
        }
        g_assert_cmpmem(out, len, text, NTEXT);
    }
    return NULL;
}

static void test_threads(void)
{
    for (int alg = 0; alg < QCRYPTO_COMP_ALGO__MAX; alg++) {
        GThread *threads[4];

        if (!need(alg)) {
            continue;
        }
        for (int i = 0; i < 4; i++) {
            threads[i] = g_thread_new("work", work, GINT_TO_POINTER(alg));
        }
        for (int i = 0; i < 4; i++) {
            g_thread_join(threads[i]);
        }
    }
}

/* ---- a library that fails ---- */

static QCryptoCompOps real;
static QCryptoCompStatus verdict; /* DONE: that of the real one */

static QCryptoCompStatus frail_compress(void *ctx, const uint8_t *in,
                                        size_t inlen, uint8_t *out,
                                        size_t *outlen)
{
    const QCryptoCompStatus status = real.compress(ctx, in, inlen, out, outlen);

    return verdict == QCRYPTO_COMP_DONE ? status : verdict;
}

static QCryptoCompStatus frail_decompress(void *ctx, const uint8_t *in,
                                          size_t *inlen, uint8_t *out,
                                          size_t *outlen)
{
    const QCryptoCompStatus status =
        real.decompress(ctx, in, inlen, out, outlen);

    return verdict == QCRYPTO_COMP_DONE ? status : verdict;
}

static const QCryptoRow *any_row(void)
{
    size_t n;
    QCryptoCandidate *const *all = qcrypto_candidates(&n, NULL);

    for (size_t i = 0; i < n; i++) {
        if (all[i]->row->kind == QCRYPTO_KIND_COMP) {
            return all[i]->row;
        }
    }
    return NULL;
}

static void test_failures(void)
{
    static const struct {
        QCryptoCompStatus status;
        int kind;
        const char *word;
    } failures[] = {
        {QCRYPTO_COMP_NO_MEMORY, QCRYPTO_ERROR_OUT_OF_MEMORY, "memory"},
        {QCRYPTO_COMP_BROKEN, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "frail"},
        {QCRYPTO_COMP_CORRUPT, QCRYPTO_ERROR_CORRUPT_DATA, "damaged"},
        {QCRYPTO_COMP_NO_SPACE, QCRYPTO_ERROR_NO_SPACE, "too small"},
    };
    static QCryptoRow row;
    static QCryptoCompOps ops;
    static QCryptoProvider frail = {.name = "frail", .rows = &row, .nrows = 1};
    const QCryptoProviderEntry table[] = {{"frail", &frail, false}};
    const QCryptoRow *model = any_row();

    if (!model) {
        g_test_skip("no library for it in this build");
        return;
    }
    row = *model;
    real = ops = *(const QCryptoCompOps *)model->ops;
    ops.compress = frail_compress;
    ops.decompress = frail_decompress;
    row.ops = &ops;
    qcrypto_select_set_table(table, 1);

    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoComp) comp = qcrypto_comp_new(row.alg, USUAL, &err);
    g_assert_no_error(err);
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(failures); i++) {
        uint8_t out[400], packed[400];
        size_t len = sizeof(out), n = sizeof(packed);
        const bool unpack = i >= G_N_ELEMENTS(failures);
        const size_t k = i % G_N_ELEMENTS(failures);

        verdict = QCRYPTO_COMP_DONE;
        g_assert_cmpint(
            qcrypto_comp_compress(comp, text, NTEXT, packed, &n, &err), ==, 0);
        /* out is whole by then, and must not be seen */
        verdict = failures[k].status;
        g_assert_cmpint(
            unpack ? qcrypto_comp_decompress(comp, packed, n, out, &len, &err)
                   : qcrypto_comp_compress(comp, text, NTEXT, out, &len, &err),
            ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, failures[k].kind);
        g_assert_nonnull(strstr(err->message, failures[k].word));
        g_assert_true(is_all(out, sizeof(out), 0));
        g_assert_cmpuint(len, ==, sizeof(out));
        g_clear_error(&err);
    }
    g_clear_pointer(&comp, qcrypto_comp_free);

    /* one that fails from the start is not used at all */
    verdict = QCRYPTO_COMP_BROKEN;
    qcrypto_select_set_table(table, 1);
    g_assert_null(qcrypto_comp_new_from("frail", row.alg, USUAL, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_assert_nonnull(strstr(err->message, "self-test"));
    g_assert_false(qcrypto_comp_supports(row.alg));
    qcrypto_select_set_table(NULL, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/comp-contract/names", test_names);
    g_test_add_func("/comp-contract/levels", test_levels);
    g_test_add_func("/comp-contract/choice", test_choice);
    g_test_add_func("/comp-contract/bound", test_bound);
    g_test_add_func("/comp-contract/arguments", test_arguments);
    g_test_add_func("/comp-contract/nothing", test_nothing);
    g_test_add_func("/comp-contract/space", test_space);
    g_test_add_func("/comp-contract/prefix", test_prefix);
    g_test_add_func("/comp-contract/threads", test_threads);
    g_test_add_func("/comp-contract/failures", test_failures);
    return g_test_run();
}
