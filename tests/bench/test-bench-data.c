/*
 * The data that compressors are measured on
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib/gstdio.h>
#include <qcrypto/comp.h>
#include <string.h>

#include "tools/bench/data.h"

#define BLOCK 65536

/* Bytes saved of every hundred. */
static double saved(unsigned percent)
{
    const QCryptoCompAlgo alg = QCRYPTO_COMP_ALGO_ZLIB_DEFLATE;
    const size_t bound = qcrypto_comp_bound(alg, BLOCK), len = 16 * BLOCK;
    g_autofree uint8_t *data = g_malloc(len);
    g_autofree uint8_t *packed = g_malloc(bound);
    size_t sum = 0;

    qcrypto_bench_data_fill(data, len, percent);
    for (size_t at = 0; at < len; at += BLOCK) {
        g_autoptr(GError) err = NULL;
        size_t n = bound;

        qcrypto_comp_compress_bytes(alg, QCRYPTO_COMP_LEVEL_DEFAULT, data + at,
                                    BLOCK, packed, &n, &err);
        g_assert_no_error(err);
        sum += n;
    }
    return 100 - 100.0 * (double)sum / (double)len;
}

/* It is as compressible as it says. */
static void test_percent(void)
{
    if (!qcrypto_comp_supports(QCRYPTO_COMP_ALGO_ZLIB_DEFLATE)) {
        g_test_skip("no zlib-deflate in this build");
        return;
    }
    for (unsigned percent = 0; percent <= QCRYPTO_BENCH_PERCENT_MAX;
         percent += 5) {
        const double got = saved(percent);

        g_test_message("%u%%: %.1f%%", percent, got);
        g_assert_cmpfloat(got, >, percent - 2.0);
        g_assert_cmpfloat(got, <, percent + 2.0);
    }
}

/* The same bytes in every run and on every machine, however many. */
static void test_same(void)
{
    g_autofree uint8_t *data = g_malloc(BLOCK);
    g_autofree uint8_t *less = g_malloc(BLOCK);
    g_autofree char *sum = NULL;

    qcrypto_bench_data_fill(data, BLOCK, 50);
    sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, data, BLOCK);
    g_assert_cmpstr(
        sum, ==,
        "5ae6abbe1a1bb69254c2d32041e92084a95eba5af2af3ae0cfb5d56c94c005ad");
    for (size_t n = 0; n < 400; n++) {
        memset(less, 0xa5, BLOCK);
        qcrypto_bench_data_fill(less, n, 50);
        g_assert_cmpmem(less, n, data, n);
        g_assert_cmpuint(less[n], ==, 0xa5);
    }
}

static void test_asked(void)
{
    g_autoptr(GError) err = NULL;
    const QCryptoBenchData *d = qcrypto_bench_data(NULL, NULL, 1, &err);

    g_assert_no_error(err);
    g_assert_cmpuint(d->len, ==, QCRYPTO_BENCH_GENERATED);
    g_assert_cmpstr(d->text, ==, "generated, 50% compressible");
    g_assert_true(qcrypto_bench_data(NULL, "50", 1, &err) == d);
    g_assert_true(qcrypto_bench_data(NULL, "51", 1, &err) != d);
    d = qcrypto_bench_data(NULL, "7", QCRYPTO_BENCH_GENERATED + 5, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(d->len, ==, QCRYPTO_BENCH_GENERATED + 5);
    g_assert_cmpstr(d->text, ==, "generated, 7% compressible");
    for (size_t i = 0; i < 4; i++) {
        static const char *const wrong[] = {"96", "-1", "", "half"};

        g_assert_null(qcrypto_bench_data(NULL, wrong[i], 1, &err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
        g_clear_error(&err);
    }
    g_assert_null(qcrypto_bench_data("file", "50", 1, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
}

static void test_file(void)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *folder = g_dir_make_tmp("qcrypto-data-XXXXXX", &err);
    g_autofree char *path = g_build_filename(folder,
                                             "some\xff"
                                             "data",
                                             NULL);
    g_autofree char *big = g_malloc0(QCRYPTO_BENCH_FILE_MAX + 10);

    g_assert_no_error(err);
    g_assert_null(qcrypto_bench_data(path, NULL, 1, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_clear_error(&err);
    g_assert_null(qcrypto_bench_data(folder, NULL, 1, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_clear_error(&err);

    g_assert_true(g_file_set_contents(path, "0123456789", 10, NULL));
    const QCryptoBenchData *d = qcrypto_bench_data(path, NULL, 1, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(d->bytes, d->len, "0123456789", 10);
    g_assert_true(g_utf8_validate(d->text, -1, NULL));
    g_assert_true(qcrypto_bench_data(path, NULL, 1, &err) == d);
    g_remove(path);

    g_free(path);
    path = g_build_filename(folder, "big", NULL);
    g_assert_true(g_file_set_contents(
        path, big, (gssize)QCRYPTO_BENCH_FILE_MAX + 10, NULL));
    d = qcrypto_bench_data(path, NULL, 1, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(d->len, ==, QCRYPTO_BENCH_FILE_MAX);
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/data/percent", test_percent);
    g_test_add_func("/bench/data/same", test_same);
    g_test_add_func("/bench/data/asked", test_asked);
    g_test_add_func("/bench/data/file", test_file);
    return g_test_run();
}
