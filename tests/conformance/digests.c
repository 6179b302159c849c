/*
 * The walk over the rows that go by a hash, and their vectors
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "digests.h"

#include <string.h>

#include "crypto/base/cpu.h"
#include "crypto/core/hash.h"
#include "rows.h"
#include "vectors.h"

const DigestRow *digest_rows(QCryptoKind kind, size_t *n)
{
    static GArray *rows[QCRYPTO_KIND__MAX];

    if (!rows[kind]) {
        g_autoptr(GError) err = NULL;
        size_t ncandidates;
        QCryptoCandidate *const *c = qcrypto_candidates(&ncandidates, &err);

        g_assert_no_error(err);
        rows[kind] = g_array_new(FALSE, FALSE, sizeof(DigestRow));
        for (size_t i = 0; i < ncandidates; i++) {
            const QCryptoRow *r = c[i]->row;
            const QCryptoHashAlgo alg = (QCryptoHashAlgo)r->alg;

            if (r->kind == kind) {
                const DigestRow row = {
                    .candidate = c[i],
                    .name = g_strdup_printf("%s:%s", c[i]->provider->name,
                                            r->impl),
                    .alg_name = qcrypto_hash_algo_name(alg),
                    .kind = kind,
                    .alg = alg,
                    .ndigest = qcrypto_hash_digest_len(alg),
                    .block_len = qcrypto_hash_block_len(alg),
                };
                g_array_append_val(rows[kind], row);
            }
        }
    }
    *n = rows[kind]->len;
    return (const DigestRow *)(const void *)rows[kind]->data;
}

/* False, and the case is done, when the row cannot run here. */
static bool row_runs(const DigestRow *row)
{
    QCryptoCandidate *c = row->candidate;
    const char *why = NULL;

    if (c->row->cpu & ~qcrypto_cpu_features()) {
        g_autofree char *text =
            g_strdup_printf("%s: %s", row->name, qcrypto_candidate_refused(c));

        g_test_skip(text);
        return false;
    }
    if (qcrypto_candidate_usable(c, &why)) {
        return true;
    }
    if (!c->refused) {
        g_test_message("%s %s: self-test failed: %s", row->alg_name, row->name,
                       why);
        g_test_fail();
        return false;
    }

    g_autoptr(GError) err = NULL;
    g_assert_null(qcrypto_select_named(row->name, row->kind, (int)row->alg, -1,
                                       &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_test_message("%s %s: not offered by the library: %s", row->alg_name,
                   row->name, c->refused);
    return false;
}

typedef struct RowCase {
    const DigestRow *row;
    DigestRowFunc *func;
} RowCase;

static void run_case(const void *opaque)
{
    const RowCase *rc = opaque;

    if (row_runs(rc->row)) {
        rc->func(rc->row);
    }
}

void digest_rows_add(const char *area, QCryptoKind kind, DigestRowFunc *func)
{
    size_t n;
    const DigestRow *rows = digest_rows(kind, &n);

    g_assert_cmpuint(n, >, 0);
    for (size_t i = 0; i < n; i++) {
        if (!row_wanted(rows[i].name)) {
            continue;
        }
        RowCase *rc = g_new(RowCase, 1);
        g_autofree char *path =
            g_strdup_printf("%s/%s/%s", area, rows[i].alg_name, rows[i].name);

        *rc = (RowCase){&rows[i], func};
        g_test_add_data_func_full(path, rc, run_case, g_free);
    }
}

void digest_complete(QCryptoKind kind, const char *kind_name,
                     bool (*supports)(QCryptoHashAlgo alg))
{
    static const QCryptoHashAlgo floor[] = {
        QCRYPTO_HASH_ALGO_MD5,    QCRYPTO_HASH_ALGO_SHA1,
        QCRYPTO_HASH_ALGO_SHA224, QCRYPTO_HASH_ALGO_SHA256,
        QCRYPTO_HASH_ALGO_SHA384, QCRYPTO_HASH_ALGO_SHA512,
    };
    size_t nrows, nvectors;
    const DigestRow *rows = digest_rows(kind, &nrows);
    const DigestVector *v = digest_vectors(&nvectors);

    for (int alg = 0; alg < QCRYPTO_HASH_ALGO__MAX; alg++) {
        bool offered = false, covered = false;

        for (size_t i = 0; i < nrows; i++) {
            const uint32_t flags = rows[i].candidate->row->flags;

            offered |= (int)rows[i].alg == alg &&
                       !(flags & (QCRYPTO_ROW_AVOID | QCRYPTO_ROW_BENCH)) &&
                       row_in_order(rows[i].candidate) &&
                       qcrypto_candidate_usable(rows[i].candidate, NULL);
        }
        for (size_t i = 0; i < nvectors; i++) {
            covered |= (int)v[i].alg == alg && !v[i].extra &&
                       !strcmp(v[i].kind, kind_name);
        }
        if (supports((QCryptoHashAlgo)alg) != offered || !covered) {
            g_test_message("%s with %s: rows say %d, supports() %d, vectors %d",
                           kind_name,
                           qcrypto_hash_algo_name((QCryptoHashAlgo)alg), offered,
                           supports((QCryptoHashAlgo)alg), covered);
            g_test_fail();
        }
    }
    g_assert_false(supports(QCRYPTO_HASH_ALGO__MAX));
    g_assert_false(supports((QCryptoHashAlgo)-1));
    for (size_t i = 0; i < G_N_ELEMENTS(floor); i++) {
        g_assert_true(supports(floor[i]));
    }
}

/* ---- vectors ---- */

static GArray *vectors;

static void add(const VectorFile *f, bool extra, const char *kind, int alg,
                GByteArray *key, GByteArray *salt, GByteArray *msg,
                GByteArray *out)
{
    const DigestVector v = {
        .where = g_strdup(vector_where(f)),
        .kind = g_strdup(kind),
        .alg = (QCryptoHashAlgo)alg,
        .extra = extra,
        .key = key,
        .salt = salt,
        .msg = msg,
        .repeat = vector_text(f, "repeat") ? vector_number(f, "repeat") : 1,
        .out = out,
    };

    g_assert_cmpint(alg, >=, 0);
    g_assert_nonnull(kind);
    g_assert_nonnull(out);
    g_assert_cmpuint(out->len, >, 0);
    g_array_append_val(vectors, v);
}

static DigestVector *last_added(void)
{
    return &g_array_index(vectors, DigestVector, vectors->len - 1);
}

static void add_file(const char *name)
{
    VectorFile *f = vector_file_open_data(name);

    while (vector_file_next(f)) {
        add(f, false, vector_text(f, "kind"),
            qcrypto_hash_algo_from_name(vector_text(f, "alg")),
            vector_bytes(f, "key"), vector_bytes(f, "salt"),
            vector_bytes(f, "msg"), vector_bytes(f, "out"));
        if (vector_text(f, "iterations")) {
            last_added()->iterations = vector_number(f, "iterations");
        }
    }
    vector_file_close(f);
}

/* NIST CAVP: Len counts bits, and an empty message is written as one byte */
static void add_nist(VectorFile *f, const char *hash)
{
    while (vector_file_next(f)) {
        if (!vector_text(f, "msg")) {
            continue;
        }
        GByteArray *msg = vector_bytes(f, "msg");

        g_byte_array_set_size(msg, (guint)(vector_number(f, "len") / 8));
        add(f, true, "hash", qcrypto_hash_algo_from_name(hash), NULL, NULL, msg,
            vector_bytes(f, "md"));
    }
}

static void add_botan(VectorFile *f, const char *hash)
{
    while (vector_file_next(f)) {
        if (vector_text(f, "in")) {
            add(f, true, "hash", qcrypto_hash_algo_from_name(hash), NULL, NULL,
                vector_bytes(f, "in"), vector_bytes(f, "out"));
        }
    }
}

/* Cut tags are beginnings of ours; wrong ones are not for us. */
static void add_wycheproof_hmac(VectorFile *f, const char *hash)
{
    while (vector_file_next(f)) {
        if (!g_strcmp0(vector_text(f, "result"), "valid") &&
            vector_text(f, "tag")) {
            add(f, true, "hmac", qcrypto_hash_algo_from_name(hash),
                vector_bytes(f, "key"), NULL, vector_bytes(f, "msg"),
                vector_bytes(f, "tag"));
        }
    }
}

static void add_wycheproof_pbkdf2(VectorFile *f, const char *hash)
{
    while (vector_file_next(f)) {
        if (!g_strcmp0(vector_text(f, "result"), "valid") &&
            vector_text(f, "dk")) {
            add(f, true, "pbkdf2", qcrypto_hash_algo_from_name(hash),
                vector_bytes(f, "password"), vector_bytes(f, "salt"), NULL,
                vector_bytes(f, "dk"));
            last_added()->iterations = vector_number(f, "iterationcount");
        }
    }
}

static void add_extra(const char *root)
{
    static const struct {
        const char *path; /* %s: the hash in the manner of the project */
        void (*read)(VectorFile *f, const char *hash);
        const char *hashes[6];
        bool upper;
    } files[] = {
        {"nist/%sShortMsg.rsp", add_nist,
         {"sha1", "sha224", "sha256", "sha384", "sha512"}, true},
        {"botan/%s.vec", add_botan, {"ripemd160", "whirlpool", "sm3"}, false},
        {"wycheproof/hmac_%s_test.json", add_wycheproof_hmac,
         {"sha1", "sha256", "sha384", "sha512", "sm3"}, false},
        {"wycheproof/pbkdf2_hmac%s_test.json", add_wycheproof_pbkdf2,
         {"sha1", "sha224", "sha256", "sha384", "sha512"}, false},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        for (size_t j = 0; files[i].hashes[j]; j++) {
            g_autofree char *name = files[i].upper
                                        ? g_ascii_strup(files[i].hashes[j], -1)
                                        : g_strdup(files[i].hashes[j]);
            g_auto(GStrv) parts = g_strsplit(files[i].path, "%s", 2);
            g_autofree char *path = g_strdup_printf("%s/%s%s%s", root, parts[0],
                                                    name, parts[1]);
            VectorFile *f = vector_file_open(path);

            if (f) {
                files[i].read(f, files[i].hashes[j]);
                vector_file_close(f);
            }
        }
    }
    /* the other lengths of this file are other hashes */
    g_autofree char *path = g_build_filename(root, "botan", "blake2s.vec", NULL);
    VectorFile *f = vector_file_open(path);
    while (f && vector_file_next(f)) {
        if (!strcmp(vector_section(f), "BLAKE2s(256)") && vector_text(f, "in")) {
            add(f, true, "hash", QCRYPTO_HASH_ALGO_BLAKE2S_256, NULL, NULL,
                vector_bytes(f, "in"), vector_bytes(f, "out"));
        }
    }
    vector_file_close(f);
}

const DigestVector *digest_vectors(size_t *n)
{
    static const char *const files[] = {"hash-standards.vec", "hash-peers.vec",
                                        "hmac-rfc.vec", "pbkdf2-rfc.vec"};

    if (!vectors) {
        const char *extra = g_getenv("QCRYPTO_EXTRA_VECTORS");

        vectors = g_array_new(FALSE, FALSE, sizeof(DigestVector));
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
            add_file(files[i]);
        }
        if (extra && *extra) {
            add_extra(extra);
        }
    }
    *n = vectors->len;
    return (const DigestVector *)(const void *)vectors->data;
}

size_t digest_vectors_extra(const char *kind)
{
    size_t n, found = 0;
    const DigestVector *v = digest_vectors(&n);

    for (size_t i = 0; i < n; i++) {
        found += v[i].extra && !strcmp(v[i].kind, kind);
    }
    return found;
}

const DigestVector *digest_sum(const DigestRow *row, const char *kind)
{
    size_t n;
    const DigestVector *v = digest_vectors(&n);

    for (size_t i = 0; i < n; i++) {
        if (v[i].alg == row->alg && !strcmp(v[i].kind, kind)) {
            return &v[i];
        }
    }
    g_error("no '%s' of %s in tests/data", kind, row->alg_name);
}

GByteArray *digest_message(const DigestVector *v)
{
    GByteArray *msg = g_byte_array_sized_new((guint)(v->msg->len * v->repeat));

    for (uint64_t i = 0; i < v->repeat; i++) {
        g_byte_array_append(msg, v->msg->data, v->msg->len);
    }
    return msg;
}

bool digest_same(const DigestRow *row, const char *what, const uint8_t *got,
                 const uint8_t *want, size_t n)
{
    if (!memcmp(got, want, n)) {
        return true;
    }
    size_t i = 0;
    while (got[i] == want[i]) {
        i++;
    }
    g_test_message("%s %s: %s: byte %zu of %zu is %02x, not %02x", row->alg_name,
                   row->name, what, i, n, got[i], want[i]);
    g_test_fail();
    return false;
}

/* ---- messages ---- */

QCryptoHash *digest_open(const DigestRow *row)
{
    g_autoptr(GError) err = NULL;
    QCryptoHash *h = qcrypto_hash_new_from(row->name, row->alg, &err);

    g_assert_no_error(err);
    g_assert_nonnull(h);
    g_assert_cmpstr(qcrypto_hash_get_provider(h), ==,
                    row->candidate->provider->name);
    g_assert_cmpstr(qcrypto_hash_get_impl(h), ==,
                    qcrypto_candidate_impl(row->candidate));
    return h;
}

void digest_at_once(const DigestRow *row, const void *data, size_t len,
                    uint8_t *out)
{
    const struct iovec iov = {(void *)(uintptr_t)data, len};
    g_autoptr(GError) err = NULL;

    qcrypto_hash_on_row(row->candidate->row, &iov, 1, out, &err);
    g_assert_no_error(err);
}

void digest_pieces(const DigestRow *row, const void *data, size_t len,
                   size_t piece, uint8_t *out)
{
    g_autoptr(QCryptoHash) h = digest_open(row);
    g_autoptr(GError) err = NULL;
    size_t n = row->ndigest;

    for (size_t at = 0; at < len; at += piece) {
        qcrypto_hash_update(h, (const uint8_t *)data + at, MIN(piece, len - at),
                            &err);
        g_assert_no_error(err);
    }
    qcrypto_hash_finalize_bytes(h, &out, &n, &err);
    g_assert_no_error(err);
}

QCryptoHmac *digest_mac_open(const DigestRow *row, const uint8_t *key,
                             size_t nkey)
{
    g_autoptr(GError) err = NULL;
    QCryptoHmac *h = qcrypto_hmac_new_from(row->name, row->alg, key, nkey, &err);

    g_assert_no_error(err);
    g_assert_nonnull(h);
    g_assert_cmpstr(qcrypto_hmac_get_provider(h), ==,
                    row->candidate->provider->name);
    g_assert_cmpstr(qcrypto_hmac_get_impl(h), ==,
                    qcrypto_candidate_impl(row->candidate));
    return h;
}

void digest_mac(QCryptoHmac *h, const DigestRow *row, const void *data,
                size_t len, uint8_t *out)
{
    g_autoptr(GError) err = NULL;
    size_t n = row->ndigest;

    qcrypto_hmac_bytes(h, data, len, &out, &n, &err);
    g_assert_no_error(err);
}
