/*
 * PBKDF2: every row against vectors and against a sum over output lengths
 *
 * The sum is of keys of 1 to 200 bytes, which is up to thirteen blocks of
 * output, so that kernels that make several at once show every combination;
 * it was made by an implementation outside this library.
 *
 * A row that is narrower than the algorithm says so by
 * QCRYPTO_ERROR_UNSUPPORTED; that request, made of nobody in particular, is
 * served all the same.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/kdf.h>
#include <string.h>

#include "digests.h"
#include "guard.h"
#include "rows.h"

#define LONGEST 200
#define CANARY 0x5a

static const uint8_t *text(void)
{
    static uint8_t bytes[1024];

    if (!bytes[1]) {
        fill_pattern(bytes, sizeof(bytes));
    }
    return bytes;
}

/*
 * By the row; where it refuses, by whoever serves, and *refused counts.  out
 * stands before a page that cannot be touched.
 */
static void derive(const DigestRow *row, const GByteArray *key,
                   const GByteArray *salt, uint64_t iterations, uint8_t *out,
                   size_t n, size_t *refused)
{
    g_autoptr(GError) err = NULL;

    memset(out, CANARY, n);
    if (qcrypto_pbkdf2_from(row->name, row->alg, key->data, key->len, salt->data,
                            salt->len, iterations, out, n, &err) == 0) {
        return;
    }
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpuint(out[i], ==, CANARY);
    }
    g_clear_error(&err);
    /* what libraries are known to refuse */
    g_assert_true(!key->len || !salt->len);
    qcrypto_pbkdf2(row->alg, key->data, key->len, salt->data, salt->len,
                   iterations, out, n, &err);
    g_assert_no_error(err);
    ++*refused;
}

static void test_vectors(const DigestRow *row)
{
    size_t n, own = 0, extra = 0, refused = 0;
    const DigestVector *v = digest_vectors(&n);
    Guarded room = guarded_new(4096);

    for (size_t i = 0; i < n; i++) {
        uint8_t *out = room.end - v[i].out->len;

        if (v[i].alg != row->alg || strcmp(v[i].kind, "pbkdf2") ||
            (v[i].iterations > 100000 && !g_test_thorough())) {
            continue;
        }
        guarded_under_way(row->name);
        derive(row, v[i].key, v[i].salt, v[i].iterations, out, v[i].out->len,
               &refused);
        if (!digest_same(row, v[i].where, out, v[i].out->data, v[i].out->len)) {
            break;
        }
        own += !v[i].extra;
        extra += v[i].extra;
    }
    guarded_free(&room);
    g_assert_cmpuint(own, >, 0);
    g_test_message("%zu vectors of tests/data, %zu others; %zu refused by the "
                   "library and served by another row", own, extra, refused);
}

static void test_outputs(const DigestRow *row)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    Guarded room = guarded_new(LONGEST);
    uint8_t got[32];
    gsize nsum = sizeof(got);
    size_t refused = 0;

    guarded_under_way(row->name);
    for (size_t n = 1; n <= LONGEST; n++) {
        const GByteArray key = {(guint8 *)text(), (guint)(n % 150)};
        const GByteArray salt = {(guint8 *)text(), (guint)(n % 40 + 1)};
        uint8_t *out = n % 3 ? room.end - n : room.start;

        derive(row, &key, &salt, n % 5 + 1, out, n, &refused);
        g_checksum_update(sum, out, (gssize)n);
    }
    guarded_free(&room);
    g_checksum_get_digest(sum, got, &nsum);
    g_checksum_free(sum);
    digest_same(row, "outputs", got, digest_sum(row, "outputs")->out->data, nsum);
}

/*
 * Numbers of iterations that no hash, no int and no unsigned int can hold are
 * refused before any row sees them.
 */
static void test_limits(const DigestRow *row)
{
    static const uint64_t wrong[] = {0, (uint64_t)1 << 32,
                                     ((uint64_t)1 << 32) + 1, UINT64_MAX};
    uint8_t out[8];

    memset(out, CANARY, sizeof(out));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) err = NULL;

        g_assert_cmpint(qcrypto_pbkdf2_from(row->name, row->alg, text(), 8,
                                            text(), 8, wrong[i], out,
                                            sizeof(out), &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
        g_assert_nonnull(strstr(err->message, "iterations"));
    }
    for (size_t i = 0; i < sizeof(out); i++) {
        g_assert_cmpuint(out[i], ==, CANARY);
    }
}

static void test_complete(void)
{
    digest_complete(QCRYPTO_KIND_PBKDF2, "pbkdf2", qcrypto_pbkdf2_supports);
}

static void test_extra(void)
{
    g_assert_cmpuint(digest_vectors_extra("pbkdf2"), >, 0);
    g_test_message("%zu vectors from %s", digest_vectors_extra("pbkdf2"),
                   g_getenv("QCRYPTO_EXTRA_VECTORS"));
}

int main(int argc, char **argv)
{
    const char *extra = g_getenv("QCRYPTO_EXTRA_VECTORS");

    g_test_init(&argc, &argv, NULL);
    guarded_report_faults();
    g_test_add_func("/pbkdf2/complete", test_complete);
    if (extra && *extra) {
        g_test_add_func("/pbkdf2/extra-vectors", test_extra);
    }
    digest_rows_add("/pbkdf2/vectors", QCRYPTO_KIND_PBKDF2, test_vectors);
    digest_rows_add("/pbkdf2/outputs", QCRYPTO_KIND_PBKDF2, test_outputs);
    digest_rows_add("/pbkdf2/limits", QCRYPTO_KIND_PBKDF2, test_limits);
    return g_test_run();
}
