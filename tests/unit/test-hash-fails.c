/*
 * Hashes, HMAC and PBKDF2 on a backend that fails in the middle
 *
 * The rows are of the test's own: they pass everything on to builtin's
 * portable SHA-256 until they are told to fail.  What must hold then: a
 * one-shot request is served by the next row, an object that lost a part of
 * its message gives no digest any more, and no output has been written.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/hash.h>
#include <qcrypto/hmac.h>
#include <qcrypto/kdf.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"
#include "crypto/mode/mode.h"

#define SHA256 QCRYPTO_HASH_ALGO_SHA256
#define NEVER  (-1)

/* calls of update that still work; NEVER: all */
static int working = NEVER;
static QCryptoErrorKind kind_of_failure;

static const QCryptoRow *real_row(void)
{
    const QCryptoProvider *p = qcrypto_provider_table[0].provider;

    for (size_t i = 0; i < p->nrows; i++) {
        const QCryptoRow *r = &p->rows[i];

        if (r->kind == QCRYPTO_KIND_HASH && r->alg == SHA256 && r->cpu == 0) {
            return r;
        }
    }
    g_assert_not_reached();
}

static const QCryptoHashOps *real_ops(void)
{
    return real_row()->ops;
}

static size_t ctx_size(const QCryptoRow *row)
{
    return real_ops()->ctx_size(real_row());
}

static int init(void *ctx, const QCryptoRow *row, GError **errp)
{
    return real_ops()->init(ctx, real_row(), errp);
}

static int update(void *ctx, const uint8_t *data, size_t len, GError **errp)
{
    if (working == 0) {
        return qcrypto_error(errp, kind_of_failure, "the cable was pulled");
    }
    working -= working != NEVER;
    return real_ops()->update(ctx, data, len, errp);
}

static int final(void *ctx, uint8_t *digest, GError **errp)
{
    return real_ops()->final(ctx, digest, errp);
}

static const QCryptoHashOps ops = {
    .ctx_size = ctx_size, .init = init, .update = update, .final = final};

static const QCryptoRow rows[] = {
    QCRYPTO_HASH_ROW(HASH, SHA256, "frail", 0, 0, 0, ops, NULL),
    QCRYPTO_HASH_ROW(HMAC, SHA256, "frail", 0, 0, 0, qcrypto_mode_hmac,
                     QCRYPTO_HASH_DESC(ops, NULL)),
    QCRYPTO_HASH_ROW(PBKDF2, SHA256, "frail", 0, 0, 0, qcrypto_mode_pbkdf2,
                     QCRYPTO_HASH_DESC(ops, NULL)),
};
static const QCryptoProvider frail = {
    .name = "frail", .rows = rows, .nrows = G_N_ELEMENTS(rows)};

/* The frail one first, alone or with builtin behind it. */
static void use_table(size_t n)
{
    static QCryptoProviderEntry table[2];

    working = NEVER;
    table[0] = (QCryptoProviderEntry){"frail", &frail, false};
    table[1] = qcrypto_provider_table[0];
    qcrypto_select_set_table(table, n);
    /* self-tests pass, and are over */
    g_assert_true(qcrypto_hash_supports(SHA256));
    g_assert_true(qcrypto_hmac_supports(SHA256));
    g_assert_true(qcrypto_pbkdf2_supports(SHA256));
}

static const char data[] = "0123456789abcdef0123456789abcdef0123456789abcdef";

static void expect_failure(GError **err)
{
    g_assert_error(*err, QCRYPTO_ERROR, (int)kind_of_failure);
    g_assert_nonnull(strstr((*err)->message, "the cable was pulled"));
    g_clear_error(err);
}

static void test_hash(void)
{
    g_autofree char *want = NULL;
    g_autoptr(GError) err = NULL;
    const struct iovec iov[2] = {{(void *)(uintptr_t)data, 20},
                                 {(void *)(uintptr_t)(data + 20), 28}};

    kind_of_failure = QCRYPTO_ERROR_BACKEND_UNAVAILABLE;
    use_table(2);
    qcrypto_hash_digest(SHA256, data, 48, &want, &err);
    g_assert_no_error(err);

    for (int n = 0; n < 2; n++) {
        g_autofree char *got = NULL;

        working = n;
        qcrypto_hash_digestv(SHA256, iov, 2, &got, &err);
        g_assert_no_error(err);
        g_assert_cmpstr(got, ==, want);
    }

    use_table(1);
    for (int n = 0; n < 2; n++) {
        uint8_t own[32];
        uint8_t *result = own;
        size_t len = sizeof(own);

        memset(own, 0x5a, sizeof(own));
        working = n;
        g_assert_cmpint(qcrypto_hash_bytesv(SHA256, iov, 2, &result, &len, &err),
                        ==, -1);
        expect_failure(&err);
        for (size_t i = 0; i < sizeof(own); i++) {
            g_assert_cmpuint(own[i], ==, 0x5a);
        }
        result = NULL;
        len = 0;
        working = n;
        g_assert_cmpint(qcrypto_hash_bytesv(SHA256, iov, 2, &result, &len, &err),
                        ==, -1);
        expect_failure(&err);
        g_assert_null(result);
        g_assert_cmpuint(len, ==, 0);
    }
}

static void test_hash_object(void)
{
    g_autoptr(GError) err = NULL;
    char *digest = NULL;

    kind_of_failure = QCRYPTO_ERROR_BACKEND_UNAVAILABLE;
    use_table(1);
    g_autoptr(QCryptoHash) h = qcrypto_hash_new(SHA256, &err);
    g_assert_no_error(err);
    qcrypto_hash_update(h, data, 20, &err);
    g_assert_no_error(err);
    working = 0;
    g_assert_cmpint(qcrypto_hash_update(h, data, 20, &err), ==, -1);
    expect_failure(&err);
    working = NEVER;
    g_assert_cmpint(qcrypto_hash_finalize_digest(h, &digest, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_assert_nonnull(strstr(err->message, "earlier"));
    g_assert_null(digest);
}

static void test_hmac(void)
{
    g_autoptr(GError) err = NULL;
    uint8_t mac[32];
    uint8_t *result = mac;
    size_t n = sizeof(mac);

    kind_of_failure = QCRYPTO_ERROR_BACKEND_UNAVAILABLE;
    use_table(2);
    /* of the key's two blocks, and of the message and the inner digest */
    for (int good = 0; good < 2; good++) {
        working = good;
        g_autoptr(QCryptoHmac) h =
            qcrypto_hmac_new(SHA256, (const uint8_t *)data, 16, &err);
        g_assert_no_error(err);
        g_assert_cmpstr(qcrypto_hmac_get_provider(h), ==, "builtin");
    }
    for (int good = 0; good < 2; good++) {
        working = NEVER;
        g_autoptr(QCryptoHmac) h =
            qcrypto_hmac_new(SHA256, (const uint8_t *)data, 16, &err);
        g_assert_no_error(err);
        g_assert_cmpstr(qcrypto_hmac_get_provider(h), ==, "frail");
        memset(mac, 0x5a, sizeof(mac));
        working = good;
        g_assert_cmpint(qcrypto_hmac_bytes(h, data, 20, &result, &n, &err), ==,
                        -1);
        expect_failure(&err);
        working = NEVER;
        g_assert_cmpint(qcrypto_hmac_bytes(h, data, 20, &result, &n, &err), ==,
                        -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
        g_clear_error(&err);
        for (size_t i = 0; i < sizeof(mac); i++) {
            g_assert_cmpuint(mac[i], ==, 0x5a);
        }
    }
}

static void test_pbkdf2(void)
{
    const uint8_t *bytes = (const uint8_t *)data;
    g_autoptr(GError) err = NULL;
    uint8_t want[80], out[80];

    kind_of_failure = QCRYPTO_ERROR_UNSUPPORTED;
    use_table(2);
    qcrypto_pbkdf2(SHA256, bytes, 10, bytes + 10, 10, 3, want, sizeof(want),
                   &err);
    g_assert_no_error(err);
    /* at every step: of the key, of the first block, of the last one */
    for (int good = 0; good < 20; good++) {
        memset(out, 0x5a, sizeof(out));
        working = good;
        g_assert_cmpint(qcrypto_pbkdf2_from("frail", SHA256, bytes, 10,
                                            bytes + 10, 10, 3, out, sizeof(out),
                                            &err), ==, -1);
        expect_failure(&err);
        for (size_t i = 0; i < sizeof(out); i++) {
            g_assert_cmpuint(out[i], ==, 0x5a);
        }
        working = good;
        qcrypto_pbkdf2(SHA256, bytes, 10, bytes + 10, 10, 3, out, sizeof(out),
                       &err);
        g_assert_no_error(err);
        g_assert_cmpmem(out, sizeof(out), want, sizeof(want));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unit/hash-fails/hash", test_hash);
    g_test_add_func("/unit/hash-fails/object", test_hash_object);
    g_test_add_func("/unit/hash-fails/hmac", test_hmac);
    g_test_add_func("/unit/hash-fails/pbkdf2", test_pbkdf2);
    return g_test_run();
}
