/*
 * HMAC: every row against vectors, against sums over key lengths, and the
 * contract of hmac.h
 *
 * The sums are of MACs under keys of every length from 0 to 300 bytes, which
 * passes the block of every hash, and of 20480, 20481 and 65536; they were
 * made by an implementation outside this library.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "digests.h"
#include "guard.h"
#include "rows.h"

#define LONGEST 65536

static const uint8_t *text(void)
{
    static uint8_t bytes[LONGEST];

    if (!bytes[1]) {
        fill_pattern(bytes, sizeof(bytes));
    }
    return bytes;
}

static void mac_pieces(QCryptoHmac *h, const DigestRow *row,
                       const GByteArray *msg, size_t piece, uint8_t *out)
{
    const size_t n = (msg->len + piece - 1) / piece;
    g_autofree struct iovec *iov = g_new0(struct iovec, n + 1);
    g_autoptr(GError) err = NULL;
    size_t len = row->ndigest;

    for (size_t i = 0; i < n; i++) {
        iov[i].iov_base = msg->data + i * piece;
        iov[i].iov_len = MIN(piece, msg->len - i * piece);
    }
    qcrypto_hmac_bytesv(h, iov, n, &out, &len, &err);
    g_assert_no_error(err);
}

/* Twice under one object: it goes back to the start by itself. */
static bool run_vector(const DigestRow *row, const DigestVector *v)
{
    g_autoptr(QCryptoHmac) h = digest_mac_open(row, v->key->data, v->key->len);
    uint8_t got[DIGEST_MAX];

    /* Wycheproof has tags that are cut */
    g_assert_cmpuint(v->out->len, <=, row->ndigest);
    g_assert_true(v->extra || v->out->len == row->ndigest);
    digest_mac(h, row, v->msg->data, v->msg->len, got);
    if (!digest_same(row, v->where, got, v->out->data, v->out->len)) {
        return false;
    }
    for (size_t piece = 1; piece < 200; piece += piece + 3) {
        g_autofree char *what =
            g_strdup_printf("%s, pieces of %zu", v->where, piece);

        mac_pieces(h, row, v->msg, piece, got);
        if (!digest_same(row, what, got, v->out->data, v->out->len)) {
            return false;
        }
    }
    return true;
}

static void test_vectors(const DigestRow *row)
{
    size_t n, own = 0, extra = 0;
    const DigestVector *v = digest_vectors(&n);

    for (size_t i = 0; i < n; i++) {
        if (v[i].alg != row->alg || strcmp(v[i].kind, "hmac")) {
            continue;
        }
        if (!run_vector(row, &v[i])) {
            return;
        }
        own += !v[i].extra;
        extra += v[i].extra;
    }
    g_assert_cmpuint(own, >, 0);
    g_test_message("%zu vectors of tests/data, %zu others", own, extra);
}

static void test_keys(const DigestRow *row)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    Guarded room = guarded_new(LONGEST);
    uint8_t mac[DIGEST_MAX], got[32];
    gsize n = sizeof(got);

    guarded_under_way(row->name);
    for (size_t i = 0; i <= 303; i++) {
        static const size_t longer[] = {20480, 20481, 65536};
        const size_t len = i <= 300 ? i : longer[i - 301];
        uint8_t *key = room.end - len;

        memcpy(key, text(), len);
        g_autoptr(QCryptoHmac) h = digest_mac_open(row, key, len);
        /* the key is the object's own now */
        memset(key, 0, len);
        digest_mac(h, row, text(), 100, mac);
        g_checksum_update(sum, mac, (gssize)row->ndigest);
    }
    guarded_free(&room);
    g_checksum_get_digest(sum, got, &n);
    g_checksum_free(sum);
    digest_same(row, "keys", got, digest_sum(row, "keys")->out->data, n);
}

/* Messages of every length on one object against objects of their own. */
static void test_lengths(const DigestRow *row)
{
    g_autoptr(QCryptoHmac) kept = digest_mac_open(row, text(), 32);

    for (size_t len = 0; len <= 600; len++) {
        g_autoptr(QCryptoHmac) once = digest_mac_open(row, text(), 32);
        g_autofree char *what = g_strdup_printf("message of %zu bytes", len);
        uint8_t a[DIGEST_MAX], b[DIGEST_MAX];

        digest_mac(kept, row, text() + len % 16, len, a);
        digest_mac(once, row, text() + len % 16, len, b);
        if (!digest_same(row, what, a, b, row->ndigest)) {
            return;
        }
    }
}

static void expect(GError **err, QCryptoErrorKind kind, const char *part)
{
    g_assert_error(*err, QCRYPTO_ERROR, (int)kind);
    if (!strstr((*err)->message, part)) {
        g_test_message("'%s' does not say '%s'", (*err)->message, part);
        g_test_fail();
    }
    g_clear_error(err);
}

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

/* Refused calls leave the object as it was, and nothing behind. */
static void test_misuse(const DigestRow *row)
{
    g_autoptr(QCryptoHmac) h = digest_mac_open(row, text(), 16);
    const struct iovec hole[] = {{(void *)(uintptr_t)"abc", 3}, {NULL, 1}};
    const struct iovec parts[] = {{NULL, 0}, {(void *)(uintptr_t)"a", 1},
                                  {(void *)(uintptr_t)"bc", 2}};
    g_autoptr(GError) err = NULL;
    g_autofree char *hex = NULL, *hexv = NULL;
    g_autofree uint8_t *made = NULL;
    uint8_t want[DIGEST_MAX], out[DIGEST_MAX + 1];
    uint8_t *result = out;
    size_t n;

    digest_mac(h, row, "abc", 3, want);
    memset(out, 0x5a, sizeof(out));
    n = row->ndigest;
    g_assert_cmpint(qcrypto_hmac_bytesv(h, hole, 2, &result, &n, &err), ==, -1);
    expect(&err, INVALID, "iov_base");
    g_assert_cmpint(qcrypto_hmac_bytes(h, NULL, 1, &result, &n, &err), ==, -1);
    expect(&err, INVALID, "NULL");
    n = row->ndigest - 1;
    g_assert_cmpint(qcrypto_hmac_bytes(h, "abc", 3, &result, &n, &err), ==, -1);
    expect(&err, INVALID, "bytes, not");
    g_assert_cmpint(qcrypto_hmac_bytes(NULL, "abc", 3, &result, &n, &err), ==,
                    -1);
    expect(&err, INVALID, "hmac");
    g_assert_cmpint(qcrypto_hmac_digest(h, "abc", 3, NULL, &err), ==, -1);
    expect(&err, INVALID, "digest");
    g_assert_cmpint(qcrypto_hmac_bytes(h, "abc", 3, &result, NULL, &err), ==, -1);
    expect(&err, INVALID, "resultlen");
    for (size_t i = 0; i < sizeof(out); i++) {
        g_assert_cmpuint(out[i], ==, 0x5a);
    }

    n = row->ndigest;
    qcrypto_hmac_bytesv(h, parts, 3, &result, &n, &err);
    g_assert_no_error(err);
    digest_same(row, "after refusals", out, want, n);
    g_assert_cmpuint(out[n], ==, 0x5a);
    n = 0;
    qcrypto_hmac_bytes(h, "abc", 3, &made, &n, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(made, n, want, row->ndigest);
    qcrypto_hmac_digest(h, "abc", 3, &hex, &err);
    g_assert_no_error(err);
    qcrypto_hmac_digestv(h, parts, 3, &hexv, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(hex, ==, hexv);
    g_assert_cmpuint(strlen(hex), ==, 2 * row->ndigest);
    for (size_t i = 0; i < row->ndigest; i++) {
        g_assert_cmpint(g_ascii_xdigit_value(hex[2 * i]), ==, want[i] >> 4);
        g_assert_cmpint(g_ascii_xdigit_value(hex[2 * i + 1]), ==, want[i] & 15);
    }
}

static void test_arguments(void)
{
    const QCryptoHashAlgo none = QCRYPTO_HASH_ALGO__MAX;
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_hmac_new(none, text(), 16, &err));
    expect(&err, INVALID, "hash");
    g_assert_null(qcrypto_hmac_new(QCRYPTO_HASH_ALGO_SHA1, NULL, 16, &err));
    expect(&err, INVALID, "key");
    g_assert_null(qcrypto_hmac_new_from("nobody", QCRYPTO_HASH_ALGO_SHA1, text(),
                                        16, &err));
    expect(&err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "nobody");
    g_assert_null(qcrypto_hmac_new_from("builtin", QCRYPTO_HASH_ALGO_WHIRLPOOL,
                                        text(), 16, &err));
    expect(&err, QCRYPTO_ERROR_UNSUPPORTED, "whirlpool");
    g_autoptr(QCryptoHmac) h =
        qcrypto_hmac_new(QCRYPTO_HASH_ALGO_SHA1, NULL, 0, &err);
    g_assert_no_error(err);
    g_autofree char *hex = NULL;
    qcrypto_hmac_digest(h, NULL, 0, &hex, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(hex, ==, "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d");
    qcrypto_hmac_free(NULL);
}

static void test_complete(void)
{
    digest_complete(QCRYPTO_KIND_HMAC, "hmac", qcrypto_hmac_supports);
}

static void test_extra(void)
{
    g_assert_cmpuint(digest_vectors_extra("hmac"), >, 0);
    g_test_message("%zu vectors from %s", digest_vectors_extra("hmac"),
                   g_getenv("QCRYPTO_EXTRA_VECTORS"));
}

int main(int argc, char **argv)
{
    const char *extra = g_getenv("QCRYPTO_EXTRA_VECTORS");

    g_test_init(&argc, &argv, NULL);
    guarded_report_faults();
    g_test_add_func("/hmac/complete", test_complete);
    g_test_add_func("/hmac/arguments", test_arguments);
    if (extra && *extra) {
        g_test_add_func("/hmac/extra-vectors", test_extra);
    }
    digest_rows_add("/hmac/vectors", QCRYPTO_KIND_HMAC, test_vectors);
    digest_rows_add("/hmac/keys", QCRYPTO_KIND_HMAC, test_keys);
    digest_rows_add("/hmac/lengths", QCRYPTO_KIND_HMAC, test_lengths);
    digest_rows_add("/hmac/misuse", QCRYPTO_KIND_HMAC, test_misuse);
    return g_test_run();
}
