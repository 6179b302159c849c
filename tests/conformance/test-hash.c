/*
 * Hashes: every row against vectors, against sums over every length, and
 * the contract of hash.h
 *
 * The published vectors go through every row whole, in pieces, at every
 * address modulo 16 and against pages that cannot be touched.  The digests of
 * all lengths from 0 to 4096 are summed up and held against a sum that an
 * implementation outside this library made, so all rows agree with it and
 * with each other; the same again with every message cut in two.
 *
 * `-m thorough` hashes more than 4 GiB on every row; without it the fastest
 * does.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>
#include <sys/mman.h>

#include "crypto/core/hash.h"
#include "digests.h"
#include "guard.h"
#include "rows.h"

#define LONGEST 4096

static bool run_vector(const DigestRow *row, const DigestVector *v)
{
    g_autoptr(GByteArray) msg = digest_message(v);
    uint8_t got[DIGEST_MAX];
    g_autofree char *whole = g_strdup_printf("%s, whole", v->where);

    g_assert_cmpuint(v->out->len, ==, row->ndigest);
    digest_at_once(row, msg->data, msg->len, got);
    if (!digest_same(row, whole, got, v->out->data, row->ndigest)) {
        return false;
    }
    for (size_t piece = 1; piece <= 200 && msg->len <= 5000; piece += piece + 3) {
        g_autofree char *what =
            g_strdup_printf("%s, pieces of %zu", v->where, piece);

        digest_pieces(row, msg->data, msg->len, piece, got);
        if (!digest_same(row, what, got, v->out->data, row->ndigest)) {
            return false;
        }
    }
    for (size_t shift = 1; shift < 16 && !v->extra && msg->len <= 5000; shift++) {
        g_autofree uint8_t *moved = g_malloc(msg->len + shift);
        g_autofree char *what =
            g_strdup_printf("%s, %zu bytes off", v->where, shift);

        if (msg->len) {
            memcpy(moved + shift, msg->data, msg->len);
        }
        digest_at_once(row, moved + shift, msg->len, got);
        if (!digest_same(row, what, got, v->out->data, row->ndigest)) {
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
        if (v[i].alg != row->alg || strcmp(v[i].kind, "hash")) {
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

/* ---- lengths and cuts ---- */

static const uint8_t *text(void)
{
    static uint8_t bytes[LONGEST];

    if (!bytes[1]) {
        fill_pattern(bytes, sizeof(bytes));
    }
    return bytes;
}

static void check_sum(const DigestRow *row, const char *kind, GChecksum *sum)
{
    const DigestVector *want = digest_sum(row, kind);
    uint8_t got[32];
    gsize n = sizeof(got);

    g_checksum_get_digest(sum, got, &n);
    digest_same(row, kind, got, want->out->data, n);
    g_checksum_free(sum);
}

static void test_lengths(const DigestRow *row)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    Guarded room = guarded_new(LONGEST);
    uint8_t out[DIGEST_MAX];

    for (size_t len = 0; len <= LONGEST; len++) {
        /* at the end of what may be read, and every third at its start */
        uint8_t *data = len % 3 ? room.end - len : room.start;

        guarded_under_way(row->name);
        memcpy(data, text(), len);
        digest_at_once(row, data, len, out);
        g_checksum_update(sum, out, (gssize)row->ndigest);
    }
    guarded_free(&room);
    check_sum(row, "lengths", sum);
}

/* Two pieces, of which the first is now the shorter, now the longer. */
static void test_cuts(const DigestRow *row)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(GError) err = NULL;
    uint8_t out[DIGEST_MAX], whole[DIGEST_MAX], *result = out;
    size_t n = row->ndigest;

    for (size_t len = 0; len <= LONGEST; len++) {
        const size_t cut = len ? (len * 0x9e3779b1u >> 7) % (len + 1) : 0;
        const struct iovec iov[2] = {
            {(void *)(uintptr_t)text(), cut},
            {(void *)(uintptr_t)(text() + cut), len - cut},
        };

        qcrypto_hash_on_row(row->candidate->row, iov, 2, out, &err);
        g_assert_no_error(err);
        g_checksum_update(sum, out, (gssize)n);
    }
    check_sum(row, "lengths", sum);

    /* every cut of one message of some blocks */
    const size_t len = 3 * row->block_len + 5;
    digest_at_once(row, text(), len, whole);
    for (size_t cut = 0; cut <= len; cut++) {
        g_autoptr(QCryptoHash) h = digest_open(row);
        g_autofree char *what = g_strdup_printf("cut at %zu", cut);

        qcrypto_hash_update(h, text(), cut, &err);
        g_assert_no_error(err);
        qcrypto_hash_update(h, text() + cut, len - cut, &err);
        g_assert_no_error(err);
        qcrypto_hash_finalize_bytes(h, &result, &n, &err);
        g_assert_no_error(err);
        if (!digest_same(row, what, out, whole, n)) {
            return;
        }
    }
}

/*
 * Zero bytes in pieces of 1 and 7: each pair of backends that have the hash
 * gives the same.
 */
static void test_pairs(void)
{
    static const size_t lens[] = {0, 1, 55, 56, 64, 111, 112, 128, 4095};
    static const size_t pieces[] = {1, 7};
    static const uint8_t zeros[LONGEST];
    size_t n, pairs = 0;
    const DigestRow *rows = digest_rows(QCRYPTO_KIND_HASH, &n);

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            if (rows[i].alg != rows[j].alg ||
                !qcrypto_candidate_usable(rows[i].candidate, NULL) ||
                !qcrypto_candidate_usable(rows[j].candidate, NULL)) {
                continue;
            }
            for (size_t l = 0; l < G_N_ELEMENTS(lens); l++) {
                for (size_t p = 0; p < G_N_ELEMENTS(pieces); p++) {
                    uint8_t a[DIGEST_MAX], b[DIGEST_MAX];

                    digest_pieces(&rows[i], zeros, lens[l], pieces[p], a);
                    digest_pieces(&rows[j], zeros, lens[l], pieces[p], b);
                    digest_same(&rows[j], rows[i].name, b, a, rows[i].ndigest);
                }
            }
            pairs++;
        }
    }
    g_assert_cmpuint(pairs, >, 0);
    g_test_message("%zu pairs", pairs);
}

/* ---- more than 4 GiB ---- */

#define BIG (((size_t)1 << 32) + 3)

/* no memory: one page of zeros, many times over */
static void *zeros_new(size_t n)
{
    void *zeros = mmap(NULL, n, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    g_assert_true(zeros != MAP_FAILED);
    return zeros;
}

static void test_big(const DigestRow *row)
{
    uint8_t out[DIGEST_MAX];
    void *zeros = zeros_new(BIG);

    digest_at_once(row, zeros, BIG, out);
    munmap(zeros, BIG);
    digest_same(row, "2^32 + 3 bytes at once", out,
                digest_sum(row, "big")->out->data, row->ndigest);
}

/* The row that serves SHA-256, where that takes seconds, not minutes. */
static void test_big_fast(void)
{
    const size_t probe = BIG / 256;
    size_t n;
    const DigestRow *rows = digest_rows(QCRYPTO_KIND_HASH, &n);
    QCryptoCandidate *c = qcrypto_select_usable(
        QCRYPTO_KIND_HASH, QCRYPTO_HASH_ALGO_SHA256, -1, 0, NULL);

    for (size_t i = 0; i < n; i++) {
        if (rows[i].candidate == c) {
            uint8_t out[DIGEST_MAX];
            void *zeros = zeros_new(probe);

            g_test_timer_start();
            digest_at_once(&rows[i], zeros, probe, out);
            munmap(zeros, probe);
            if (g_test_timer_elapsed() * 256 > 30) {
                g_test_skip("this machine has no fast SHA-256");
            } else {
                test_big(&rows[i]);
            }
            return;
        }
    }
    g_assert_not_reached();
}

/* ---- the contract ---- */

#define SHA256 QCRYPTO_HASH_ALGO_SHA256
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ABC_BASE64 "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

static void test_forms(void)
{
    const struct iovec iov[] = {
        {NULL, 0}, {(void *)(uintptr_t)"a", 1}, {(void *)(uintptr_t)"", 0},
        {(void *)(uintptr_t)"bc", 2}, {NULL, 0},
    };
    g_autoptr(GError) err = NULL;
    g_autofree char *hex = NULL, *hexv = NULL, *base64 = NULL, *base64v = NULL;
    g_autofree uint8_t *made = NULL;
    uint8_t own[34];
    uint8_t *result = own + 1;
    size_t n = 0;

    qcrypto_hash_digest(SHA256, "abc", 3, &hex, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(hex, ==, ABC);
    qcrypto_hash_digestv(SHA256, iov, 5, &hexv, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(hexv, ==, ABC);
    qcrypto_hash_base64(SHA256, "abc", 3, &base64, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(base64, ==, ABC_BASE64);
    qcrypto_hash_base64v(SHA256, iov, 5, &base64v, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(base64v, ==, ABC_BASE64);

    /* allocated, then the caller's own */
    qcrypto_hash_bytesv(SHA256, iov, 5, &made, &n, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(n, ==, 32);
    memset(own, 0x5a, sizeof(own));
    qcrypto_hash_bytes(SHA256, "abc", 3, &result, &n, &err);
    g_assert_no_error(err);
    g_assert_true(result == own + 1);
    g_assert_cmpuint(n, ==, 32);
    g_assert_cmpmem(own + 1, 32, made, 32);
    g_assert_cmpuint(own[0], ==, 0x5a);
    g_assert_cmpuint(own[33], ==, 0x5a);

    /* no message at all */
    g_clear_pointer(&hex, g_free);
    qcrypto_hash_digestv(QCRYPTO_HASH_ALGO_MD5, NULL, 0, &hex, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(hex, ==, "d41d8cd98f00b204e9800998ecf8427e");
    g_clear_pointer(&hex, g_free);
    qcrypto_hash_digest(QCRYPTO_HASH_ALGO_MD5, NULL, 0, &hex, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(hex, ==, "d41d8cd98f00b204e9800998ecf8427e");
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

static void test_misuse(void)
{
    const struct iovec hole[] = {{NULL, 3}};
    const QCryptoHashAlgo none = QCRYPTO_HASH_ALGO__MAX;
    g_autoptr(GError) err = NULL;
    uint8_t own[33];
    uint8_t *result = own;
    char *digest = NULL;
    size_t n;

    memset(own, 0x5a, sizeof(own));
    for (n = 1; n <= 33; n++) {
        size_t wrong = n;

        if (n != 32) {
            g_assert_cmpint(qcrypto_hash_bytes(SHA256, "abc", 3, &result, &wrong,
                                               &err), ==, -1);
            expect(&err, INVALID, "32 bytes, not");
            g_assert_cmpuint(wrong, ==, n);
        }
    }
    n = 32;
    g_assert_cmpint(qcrypto_hash_bytesv(SHA256, hole, 1, &result, &n, &err), ==,
                    -1);
    expect(&err, INVALID, "iov_base");
    g_assert_cmpint(qcrypto_hash_bytesv(SHA256, NULL, 1, &result, &n, &err), ==,
                    -1);
    expect(&err, INVALID, "iov");
    g_assert_cmpint(qcrypto_hash_bytes(none, "abc", 3, &result, &n, &err), ==,
                    -1);
    expect(&err, INVALID, "hash");
    g_assert_cmpint(qcrypto_hash_bytes(SHA256, "abc", 3, NULL, &n, &err), ==, -1);
    expect(&err, INVALID, "result");
    g_assert_cmpint(qcrypto_hash_bytes(SHA256, "abc", 3, &result, NULL, &err), ==,
                    -1);
    expect(&err, INVALID, "resultlen");
    for (size_t i = 0; i < sizeof(own); i++) {
        g_assert_cmpuint(own[i], ==, 0x5a);
    }
    result = NULL;
    g_assert_cmpint(qcrypto_hash_bytes(SHA256, "abc", 3, &result, &n, &err), ==,
                    -1);
    expect(&err, INVALID, "result");
    n = 0;
    g_assert_cmpint(qcrypto_hash_bytesv(SHA256, hole, 1, &result, &n, &err), ==,
                    -1);
    expect(&err, INVALID, "iov_base");
    g_assert_null(result);
    g_assert_cmpuint(n, ==, 0);

    g_assert_cmpint(qcrypto_hash_digest(SHA256, "abc", 3, NULL, &err), ==, -1);
    expect(&err, INVALID, "digest");
    g_assert_cmpint(qcrypto_hash_base64(SHA256, "abc", 3, NULL, &err), ==, -1);
    expect(&err, INVALID, "base64");
    g_assert_cmpint(qcrypto_hash_digest(none, "abc", 3, &digest, &err), ==, -1);
    expect(&err, INVALID, "hash");
    g_assert_null(digest);

    g_assert_null(qcrypto_hash_new(none, &err));
    expect(&err, INVALID, "hash");
    g_assert_null(qcrypto_hash_new_from(NULL, SHA256, &err));
    expect(&err, INVALID, "provider");
    g_assert_null(qcrypto_hash_new_from("nobody", SHA256, &err));
    expect(&err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "nobody");
    g_assert_null(qcrypto_hash_new_from("builtin", QCRYPTO_HASH_ALGO_WHIRLPOOL,
                                        &err));
    expect(&err, QCRYPTO_ERROR_UNSUPPORTED, "whirlpool");
    qcrypto_hash_free(NULL);

    g_assert_null(qcrypto_hash_algo_name(none));
    g_assert_cmpuint(qcrypto_hash_digest_len(none), ==, 0);
    g_assert_cmpuint(qcrypto_hash_block_len(none), ==, 0);
    g_assert_cmpint(qcrypto_hash_algo_from_name("sha257"), ==, -1);
    g_assert_cmpint(qcrypto_hash_algo_from_name(NULL), ==, -1);
}

/* A message ends once, in every form, on every row. */
static void test_end(const DigestRow *row)
{
    g_autoptr(QCryptoHash) h = digest_open(row);
    g_autoptr(GError) err = NULL;
    uint8_t out[DIGEST_MAX + 1], want[DIGEST_MAX];
    uint8_t *result = out;
    char *form = NULL;
    size_t n = row->ndigest + 1;

    memset(out, 0x5a, sizeof(out));
    qcrypto_hash_update(h, "abc", 3, &err);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_hash_update(h, NULL, 1, &err), ==, -1);
    expect(&err, INVALID, "buf");
    g_assert_cmpint(qcrypto_hash_update(h, NULL, 0, &err), ==, 0);

    /* refused before anything has happened: the message goes on */
    g_assert_cmpint(qcrypto_hash_finalize_bytes(h, &result, &n, &err), ==, -1);
    expect(&err, INVALID, "bytes, not");
    g_assert_cmpint(qcrypto_hash_finalize_digest(h, NULL, &err), ==, -1);
    expect(&err, INVALID, "digest");
    g_assert_cmpint(qcrypto_hash_finalize_base64(h, NULL, &err), ==, -1);
    expect(&err, INVALID, "base64");
    g_assert_cmpuint(out[0], ==, 0x5a);
    qcrypto_hash_update(h, "def", 3, &err);
    g_assert_no_error(err);
    n = row->ndigest;
    qcrypto_hash_finalize_bytes(h, &result, &n, &err);
    g_assert_no_error(err);
    digest_at_once(row, "abcdef", 6, want);
    digest_same(row, "after refusals", out, want, n);
    g_assert_cmpuint(out[row->ndigest], ==, 0x5a);

    g_assert_cmpint(qcrypto_hash_update(h, "g", 1, &err), ==, -1);
    expect(&err, INVALID, "finalized");
    g_assert_cmpint(qcrypto_hash_updatev(h, NULL, 0, &err), ==, -1);
    expect(&err, INVALID, "finalized");
    g_assert_cmpint(qcrypto_hash_finalize_bytes(h, &result, &n, &err), ==, -1);
    expect(&err, INVALID, "finalized");
    g_assert_cmpint(qcrypto_hash_finalize_digest(h, &form, &err), ==, -1);
    expect(&err, INVALID, "finalized");
    g_assert_cmpint(qcrypto_hash_finalize_base64(h, &form, &err), ==, -1);
    expect(&err, INVALID, "finalized");
    g_assert_null(form);
    digest_same(row, "refused afterwards", out, want, n);
}

/* Two objects of one row at once know nothing of each other. */
static void test_two(const DigestRow *row)
{
    g_autoptr(QCryptoHash) a = digest_open(row);
    g_autoptr(QCryptoHash) b = digest_open(row);
    g_autoptr(GError) err = NULL;
    g_autofree char *one = NULL, *other = NULL, *want = NULL;
    uint8_t out[DIGEST_MAX];

    for (size_t i = 0; i < 300; i++) {
        qcrypto_hash_update(a, text() + i, 1, &err);
        g_assert_no_error(err);
        qcrypto_hash_update(b, text() + 3 * i, 3, &err);
        g_assert_no_error(err);
    }
    qcrypto_hash_finalize_digest(a, &one, &err);
    g_assert_no_error(err);
    qcrypto_hash_finalize_base64(b, &other, &err);
    g_assert_no_error(err);
    digest_at_once(row, text(), 900, out);
    want = g_base64_encode(out, row->ndigest);
    g_assert_cmpstr(other, ==, want);
    digest_at_once(row, text(), 300, out);
    for (size_t i = 0; i < row->ndigest; i++) {
        char two[3];

        g_snprintf(two, sizeof(two), "%02x", out[i]);
        g_assert_true(!strncmp(one + 2 * i, two, 2));
    }
    g_assert_cmpuint(strlen(one), ==, 2 * row->ndigest);
}

static void test_complete(void)
{
    digest_complete(QCRYPTO_KIND_HASH, "hash", qcrypto_hash_supports);
}

static void test_extra(void)
{
    g_assert_cmpuint(digest_vectors_extra("hash"), >, 0);
    g_test_message("%zu vectors from %s", digest_vectors_extra("hash"),
                   g_getenv("QCRYPTO_EXTRA_VECTORS"));
}

int main(int argc, char **argv)
{
    const char *extra = g_getenv("QCRYPTO_EXTRA_VECTORS");

    g_test_init(&argc, &argv, NULL);
    guarded_report_faults();
    g_test_add_func("/hash/complete", test_complete);
    g_test_add_func("/hash/forms", test_forms);
    g_test_add_func("/hash/misuse", test_misuse);
    g_test_add_func("/hash/pairs", test_pairs);
    if (extra && *extra) {
        g_test_add_func("/hash/extra-vectors", test_extra);
    }
    digest_rows_add("/hash/vectors", QCRYPTO_KIND_HASH, test_vectors);
    digest_rows_add("/hash/lengths", QCRYPTO_KIND_HASH, test_lengths);
    digest_rows_add("/hash/cuts", QCRYPTO_KIND_HASH, test_cuts);
    digest_rows_add("/hash/end", QCRYPTO_KIND_HASH, test_end);
    digest_rows_add("/hash/two", QCRYPTO_KIND_HASH, test_two);
    if (g_test_thorough()) {
        digest_rows_add("/hash/big", QCRYPTO_KIND_HASH, test_big);
    } else {
        g_test_add_func("/hash/big", test_big_fast);
    }
    return g_test_run();
}
