/*
 * The walk over rows
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "rows.h"

#include <qcrypto/provider.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/base/cpu.h"

void cipher_row_init(CipherRow *row, QCryptoCipherAlgo alg,
                     QCryptoCipherMode mode)
{
    const bool xts = mode == QCRYPTO_CIPHER_MODE_XTS;
    char what[64];

    memset(row, 0, sizeof(*row));
    row->pair = g_strdup(
        qcrypto_describe(what, QCRYPTO_KIND_CIPHER, (int)alg, (int)mode));
    row->alg = alg;
    row->mode = mode;
    row->block_len = qcrypto_cipher_get_block_len(alg);
    row->nkey = qcrypto_cipher_get_key_len(alg) * (xts ? 2 : 1);
    row->niv = qcrypto_cipher_get_iv_len(alg, mode);
    row->min = xts ? row->block_len : 0;
    row->step =
        xts || mode == QCRYPTO_CIPHER_MODE_CTR ? 1 : row->block_len;
    row->most = G_MAXSIZE;
}

const CipherRow *cipher_rows(size_t *n)
{
    static GArray *rows;

    if (!rows) {
        g_autoptr(GError) err = NULL;
        size_t ncandidates;
        QCryptoCandidate *const *c = qcrypto_candidates(&ncandidates, &err);

        g_assert_no_error(err);
        rows = g_array_new(FALSE, FALSE, sizeof(CipherRow));
        for (size_t i = 0; i < ncandidates; i++) {
            const QCryptoRow *r = c[i]->row;
            CipherRow row;

            if (r->kind != QCRYPTO_KIND_CIPHER) {
                continue;
            }
            cipher_row_init(&row, (QCryptoCipherAlgo)r->alg,
                            (QCryptoCipherMode)r->mode);
            row.candidate = c[i];
            if (r->flags & QCRYPTO_ROW_BENCH && g_str_equal(r->impl, "raw")) {
                row.most = 4096;
            }
            row.name = g_strdup_printf("%s:%s", c[i]->provider->name, r->impl);
            g_array_append_val(rows, row);
        }
    }
    *n = rows->len;
    return (const CipherRow *)(const void *)rows->data;
}

bool cipher_row_runs(const CipherRow *row)
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
        g_test_message("%s %s: self-test failed: %s", row->pair, row->name, why);
        g_test_fail();
        return false;
    }

    g_autoptr(GError) err = NULL;
    g_autofree uint8_t *key = g_malloc(row->nkey);
    fill_seeded(key, row->nkey, 1);
    g_assert_null(qcrypto_cipher_new_from(row->name, row->alg, row->mode, key,
                                          row->nkey, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_test_message("%s %s: not offered by the library: %s", row->pair,
                   row->name, c->refused);
    return false;
}

bool row_wanted(const char *name)
{
    const char *pattern = getenv("QCRYPTO_TEST_ROWS");

    return !pattern || !*pattern || g_pattern_match_simple(pattern, name);
}

bool row_in_order(const QCryptoCandidate *c)
{
    g_autofree char *order = qcrypto_providers_get_order(NULL);
    g_auto(GStrv) names = g_strsplit(order, ",", -1);

    return g_strv_contains((const char *const *)names, c->provider->name);
}

typedef struct RowCase {
    const CipherRow *row;
    CipherRowFunc *func;
} RowCase;

static void run_case(const void *opaque)
{
    const RowCase *rc = opaque;

    if (cipher_row_runs(rc->row)) {
        rc->func(rc->row);
    }
}

void cipher_rows_add(const char *area, unsigned modes, CipherRowFunc *func)
{
    size_t n;
    const CipherRow *rows = cipher_rows(&n);

    for (size_t i = 0; i < n; i++) {
        if (!(modes & 1u << rows[i].mode) || !row_wanted(rows[i].name)) {
            continue;
        }
        RowCase *rc = g_new(RowCase, 1);
        g_autofree char *path = g_strdup_printf(
            "%s/%s/%s", area, rows[i].pair, rows[i].name);

        *rc = (RowCase){&rows[i], func};
        g_test_add_data_func_full(path, rc, run_case, g_free);
    }
}

QCryptoCipher *cipher_row_open(const CipherRow *row, const uint8_t *key)
{
    g_autoptr(GError) err = NULL;
    QCryptoCipher *c = qcrypto_cipher_new_from(row->name, row->alg, row->mode,
                                               key, row->nkey, &err);

    g_assert_no_error(err);
    g_assert_nonnull(c);
    g_assert_cmpstr(qcrypto_cipher_get_provider(c), ==,
                    row->candidate->provider->name);
    g_assert_cmpstr(qcrypto_cipher_get_impl(c), ==,
                    qcrypto_candidate_impl(row->candidate));
    return c;
}

void cipher_message(QCryptoCipher *c, bool decrypt, const uint8_t *iv,
                    size_t niv, const void *in, void *out, size_t len)
{
    g_autoptr(GError) err = NULL;

    if (niv) {
        qcrypto_cipher_setiv(c, iv, niv, &err);
        g_assert_no_error(err);
    }
    if (decrypt) {
        qcrypto_cipher_decrypt(c, in, out, len, &err);
    } else {
        qcrypto_cipher_encrypt(c, in, out, len, &err);
    }
    g_assert_no_error(err);
}

void fill_pattern(uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf[i] = (uint8_t)(((uint32_t)i * 0x9e3779b1u) >> 24);
    }
}

void fill_seeded(uint8_t *buf, size_t n, uint64_t seed)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < n; i++) {
        /* xorshift64: never 0 from a state that is not 0 */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        buf[i] = (uint8_t)(x >> 32);
    }
}

bool same_bytes(const CipherRow *row, const char *what, const uint8_t *got,
                const uint8_t *want, size_t n)
{
    if (!memcmp(got, want, n)) {
        return true;
    }
    size_t i = 0;
    while (got[i] == want[i]) {
        i++;
    }
    g_test_message("%s %s: %s: byte %zu of %zu is %02x, not %02x", row->pair,
                   row->name, what, i, n, got[i], want[i]);
    g_test_fail();
    return false;
}

bool des_key_of_pattern(unsigned number, uint8_t *key)
{
    static const uint8_t left[4] = {0x01, 0x1f, 0xe0, 0xfe};
    static const uint8_t right[4] = {0x01, 0x0e, 0xf1, 0xfe};
    unsigned sum = 0;

    for (size_t i = 0; i < 4; i++) {
        const unsigned n = number >> (2 * i) & 3;

        key[i] = left[n];
        key[4 + i] = right[n];
        sum ^= n;
    }
    return sum == 0;
}
