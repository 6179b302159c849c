/*
 * Every cipher row against published vectors and those of other libraries
 *
 * Each vector is run in both directions: whole, in place, at every address
 * from 1 to 15 bytes past an aligned one, and, where the mode continues from
 * call to call, in pieces.  A pair of algorithm and mode that any row offers
 * but no vector covers fails.
 *
 * With QCRYPTO_EXTRA_VECTORS=FOLDER the files of NIST (nist/), Botan (botan/)
 * and Wycheproof (wycheproof/) found there are run as well.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>
#include <string.h>

#include "rows.h"
#include "vectors.h"

#define ROOM 64 /* for offsets before and canaries behind */
#define CANARY 0xa5

static bool compare(const CipherRow *row, const CipherVector *v, bool decrypt,
                    const char *how, const uint8_t *got)
{
    g_autofree char *what =
        g_strdup_printf("%s, %s, %s", v->where, decrypt ? "decrypt" : "encrypt", how);

    if (decrypt || v->ct) {
        const GByteArray *want = decrypt ? v->pt : v->ct;

        return same_bytes(row, what, got, want->data, want->len);
    }
    g_autofree char *sum =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, got, v->pt->len);
    if (strcmp(sum, v->ct_sha256)) {
        g_test_message("%s %s: %s: SHA-256 is %s, not %s", row->pair, row->name,
                       what, sum, v->ct_sha256);
        g_test_fail();
        return false;
    }
    return true;
}

/* One call, with every buffer shift bytes past an address of its own. */
static bool run_shifted(const CipherRow *row, const CipherVector *v,
                        QCryptoCipher *c, bool decrypt, const GByteArray *in,
                        size_t shift, bool in_place)
{
    const size_t n = in->len;
    g_autofree uint8_t *a = g_malloc(n + ROOM);
    g_autofree uint8_t *b = g_malloc(n + ROOM);
    uint8_t iv[ROOM];
    uint8_t *src = a + shift;
    uint8_t *dst = in_place ? src : b + (shift * 7) % 16;
    g_autofree char *how = g_strdup_printf(
        "%s, %zu bytes off", in_place ? "in place" : "out of place", shift);

    memset(a, CANARY, n + ROOM);
    memset(b, CANARY, n + ROOM);
    memcpy(src, in->data, n);
    memcpy(iv + (shift * 3) % 16, v->iv->data, v->iv->len);
    cipher_message(c, decrypt, iv + (shift * 3) % 16, v->iv->len, src, dst, n);

    for (size_t i = 0; i < 16; i++) {
        if (dst[n + i] != CANARY) {
            g_test_message("%s %s: %s: wrote behind the output", row->pair,
                           row->name, how);
            g_test_fail();
            return false;
        }
    }
    if (!in_place && memcmp(src, in->data, n)) {
        g_test_message("%s %s: %s: changed the input", row->pair, row->name, how);
        g_test_fail();
        return false;
    }
    return compare(row, v, decrypt, how, dst);
}

/* Pieces of a few blocks; the last one may end inside a block (CTR). */
static bool run_pieces(const CipherRow *row, const CipherVector *v,
                       QCryptoCipher *c, bool decrypt, const GByteArray *in,
                       size_t blocks)
{
    g_autofree uint8_t *out = g_malloc(in->len + 1);
    g_autofree char *how = g_strdup_printf("pieces of %zu blocks", blocks);
    const size_t piece = blocks * row->block_len;

    for (size_t i = 0; i < in->len; i += piece) {
        cipher_message(c, decrypt, v->iv->data, i ? 0 : v->iv->len, in->data + i,
                       out + i, MIN(piece, in->len - i));
    }
    return compare(row, v, decrypt, how, out);
}

static bool run_vector(const CipherRow *row, const CipherVector *v)
{
    QCryptoCipher *c = cipher_row_open(row, v->key->data);
    g_autofree uint8_t *text = g_malloc(v->pt->len + 1);
    GByteArray made = {.data = text, .len = v->pt->len};
    bool good = true;

    cipher_message(c, false, v->iv->data, v->iv->len, v->pt->data, text,
                   v->pt->len);
    good = compare(row, v, false, "whole", text);

    for (int decrypt = 0; good && decrypt < 2; decrypt++) {
        const GByteArray *in = decrypt ? (v->ct ? v->ct : &made) : v->pt;
        /* other people's files are many and small: whole and in place */
        const size_t shifts = v->extra ? 1 : 16;

        for (size_t shift = 0; good && shift < shifts; shift++) {
            good = run_shifted(row, v, c, decrypt, in, shift, false) &&
                   run_shifted(row, v, c, decrypt, in, shift, true);
        }
        for (size_t blocks = 1;
             good && row->mode != QCRYPTO_CIPHER_MODE_XTS && blocks <= 9;
             blocks += 4) {
            good = run_pieces(row, v, c, decrypt, in, blocks);
        }
    }
    qcrypto_cipher_free(c);
    return good;
}

static void test_row(const CipherRow *row)
{
    size_t n, own = 0, extra = 0;
    const CipherVector *v = cipher_vectors(&n);

    for (size_t i = 0; i < n; i++) {
        if (v[i].alg != (int)row->alg || v[i].mode != (int)row->mode) {
            continue;
        }
        g_assert_cmpuint(v[i].key->len, ==, row->nkey);
        g_assert_cmpuint(v[i].iv->len, ==, row->niv);
        if (!run_vector(row, &v[i])) {
            return;
        }
        own += !v[i].extra;
        extra += v[i].extra;
    }
    if (!own) {
        g_test_message("%s %s: there is no vector in tests/data", row->pair,
                       row->name);
        g_test_fail();
    }
    g_test_message("%zu vectors of tests/data, %zu others", own, extra);
}

/*
 * supports() says what new() does; whatever is supported has a vector, and
 * whatever is in the list of rows is in this walk.
 */
static void test_complete(void)
{
    size_t nrows, nvectors, ninfo, seen = 0;
    g_autoptr(GError) err = NULL;
    const CipherRow *rows = cipher_rows(&nrows);
    const CipherVector *v = cipher_vectors(&nvectors);
    QCryptoRowInfo *info = qcrypto_rows_list(&ninfo, &err);

    g_assert_no_error(err);
    for (size_t i = 0; i < ninfo; i++) {
        seen += g_str_equal(info[i].kind, "cipher");
    }
    qcrypto_rows_free(info, ninfo);
    g_assert_cmpuint(seen, ==, nrows);
    g_assert_cmpuint(nrows, >, 0);

    for (int alg = 0; alg < QCRYPTO_CIPHER_ALGO__MAX; alg++) {
        for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
            CipherRow pair;
            bool offered = false, selectable = false, covered = false;
            uint8_t key[64];

            cipher_row_init(&pair, (QCryptoCipherAlgo)alg, (QCryptoCipherMode)mode);
            for (size_t i = 0; i < nrows; i++) {
                QCryptoCandidate *c = rows[i].candidate;

                if ((int)rows[i].alg == alg && (int)rows[i].mode == mode) {
                    offered = true;
                    selectable |=
                        !(c->row->flags & (QCRYPTO_ROW_AVOID | QCRYPTO_ROW_BENCH)) &&
                        row_in_order(c) &&
                        qcrypto_candidate_usable(c, NULL);
                }
            }
            for (size_t i = 0; i < nvectors && !covered; i++) {
                covered = !v[i].extra && v[i].alg == alg && v[i].mode == mode;
            }
            if (offered && !covered) {
                g_test_message("%s has rows but no vector", pair.pair);
                g_test_fail();
            }

            fill_seeded(key, sizeof(key), 3);
            QCryptoCipher *c = qcrypto_cipher_new(pair.alg, pair.mode, key,
                                                  pair.nkey, NULL);
            if (qcrypto_cipher_supports(pair.alg, pair.mode) != (c != NULL) ||
                selectable != (c != NULL)) {
                g_test_message("%s: supports() says %d, rows say %d, new() %d",
                               pair.pair,
                               qcrypto_cipher_supports(pair.alg, pair.mode),
                               selectable, c != NULL);
                g_test_fail();
            }
            qcrypto_cipher_free(c);
            g_free(pair.pair);
        }
    }
}

/*
 * Whatever backends are built in, AES is there in every mode: the library's
 * own portable rows need nothing.
 */
static void test_floor(void)
{
    for (int alg = QCRYPTO_CIPHER_ALGO_AES_128; alg <= QCRYPTO_CIPHER_ALGO_AES_256;
         alg++) {
        for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
            g_assert_true(qcrypto_cipher_supports((QCryptoCipherAlgo)alg,
                                                  (QCryptoCipherMode)mode));
        }
    }
}

static void test_extra(void)
{
    g_test_message("%zu vectors from %s", cipher_vectors_extra(),
                   g_getenv("QCRYPTO_EXTRA_VECTORS"));
    g_assert_cmpuint(cipher_vectors_extra(), >, 0);
}

int main(int argc, char **argv)
{
    const char *extra = g_getenv("QCRYPTO_EXTRA_VECTORS");

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cipher/complete", test_complete);
    g_test_add_func("/cipher/floor", test_floor);
    if (extra && *extra) {
        g_test_add_func("/cipher/extra-vectors", test_extra);
    }
    cipher_rows_add("/cipher/vectors", ALL_MODES, test_row);
    return g_test_run();
}
