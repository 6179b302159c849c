/*
 * The anti-forensic split
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/afsplit.h>
#include <qcrypto/hash.h>
#include <string.h>

#include "rows.h"
#include "vectors.h"

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

/* What known implementations split merges here, for every hash there is. */
static void test_vectors(void)
{
    VectorFile *f = vector_file_open_data("luks-af.vec");
    size_t done = 0;

    while (vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        g_autoptr(GByteArray) material = vector_bytes(f, "material");
        const int hash = qcrypto_hash_algo_from_name(vector_text(f, "hash"));
        const uint32_t stripes = (uint32_t)vector_number(f, "stripes");
        g_autofree uint8_t *out = g_malloc(key->len);
        g_autoptr(GError) err = NULL;

        g_assert_cmpint(hash, >=, 0);
        g_assert_cmpuint(material->len, ==, key->len * stripes);
        if (!qcrypto_hash_supports((QCryptoHashAlgo)hash)) {
            g_test_message("%s: no %s in this build", vector_where(f),
                           vector_text(f, "hash"));
            continue;
        }
        qcrypto_afsplit_decode((QCryptoHashAlgo)hash, key->len, stripes,
                               material->data, out, &err);
        g_assert_no_error(err);
        if (memcmp(out, key->data, key->len)) {
            g_test_message("%s: wrong key", vector_where(f));
            g_test_fail();
        }
        done++;
    }
    vector_file_close(f);
    /* SHA-1 and SHA-2 are always there */
    g_assert_cmpuint(done, >=, 3 + 5 * 6);
}

static bool all_zero(const uint8_t *p, size_t n)
{
    while (n && !p[n - 1]) {
        n--;
    }
    return !n;
}

static void round_trip(QCryptoHashAlgo hash, size_t blocklen, uint32_t stripes)
{
    const size_t len = blocklen * stripes;
    g_autofree uint8_t *key = g_malloc(blocklen);
    g_autofree uint8_t *back = g_malloc(blocklen);
    /* one byte more on either side, to see that they stay */
    g_autofree uint8_t *split = g_malloc(len + 2);
    g_autoptr(GError) err = NULL;

    fill_seeded(key, blocklen, blocklen * 31 + stripes);
    memset(split, 0, len + 2);
    split[0] = split[len + 1] = 0x5a;
    qcrypto_afsplit_encode(hash, blocklen, stripes, key, split + 1, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(split[0], ==, 0x5a);
    g_assert_cmpuint(split[len + 1], ==, 0x5a);
    for (uint32_t s = 0; blocklen >= 8 && s < stripes; s++) {
        g_assert_false(all_zero(split + 1 + s * blocklen, blocklen));
    }
    qcrypto_afsplit_decode(hash, blocklen, stripes, split + 1, back, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(back, blocklen, key, blocklen);

    if (stripes == 1) {
        g_assert_cmpmem(split + 1, blocklen, key, blocklen);
    } else if (blocklen >= 8) {
        /* one bit lost anywhere, the key is lost */
        for (uint32_t s = 0; s<stripes; s += stripes> 8 ? 997 : 1) {
            split[1 + s * blocklen + blocklen / 2] ^= 0x10;
            qcrypto_afsplit_decode(hash, blocklen, stripes, split + 1, back,
                                   &err);
            g_assert_no_error(err);
            g_assert_true(memcmp(back, key, blocklen) != 0);
            split[1 + s * blocklen + blocklen / 2] ^= 0x10;
        }
    }
}

static void test_round_trip(void)
{
    static const size_t lens[] = {1,  2,  7,  16, 19, 20, 21,  31,
                                  32, 33, 48, 63, 64, 65, 128, 1000};
    static const uint32_t stripes[] = {1, 2, 3, 4, 5, 9};
    size_t hashes = 0;

    for (int h = 0; h < QCRYPTO_HASH_ALGO__MAX; h++) {
        if (!qcrypto_hash_supports((QCryptoHashAlgo)h)) {
            continue;
        }
        hashes++;
        for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
            for (size_t j = 0; j < G_N_ELEMENTS(stripes); j++) {
                round_trip((QCryptoHashAlgo)h, lens[i], stripes[j]);
            }
        }
    }
    g_test_message("%zu hashes", hashes);
    g_assert_cmpuint(hashes, >=, 5);
    /* as LUKS has them */
    round_trip(QCRYPTO_HASH_ALGO_SHA1, 32, 4000);
    round_trip(QCRYPTO_HASH_ALGO_SHA256, 64, 4000);
}

static void test_random(void)
{
    uint8_t key[32] = {1}, a[4 * 32], b[4 * 32];
    g_autoptr(GError) err = NULL;

    qcrypto_afsplit_encode(QCRYPTO_HASH_ALGO_SHA256, 32, 4, key, a, &err);
    g_assert_no_error(err);
    qcrypto_afsplit_encode(QCRYPTO_HASH_ALGO_SHA256, 32, 4, key, b, &err);
    g_assert_no_error(err);
    for (size_t s = 0; s < 4; s++) {
        g_assert_true(memcmp(a + 32 * s, b + 32 * s, 32) != 0);
    }
}

/* Refused with this text, nothing written. */
static void refused(QCryptoHashAlgo hash, size_t blocklen, uint32_t stripes,
                    const uint8_t *in, uint8_t *out, const char *text)
{
    for (int decode = 0; decode < 2; decode++) {
        GError *err = NULL;
        const int ret = decode ? qcrypto_afsplit_decode(hash, blocklen, stripes,
                                                        in, out, &err)
                               : qcrypto_afsplit_encode(hash, blocklen, stripes,
                                                        in, out, &err);

        g_assert_cmpint(ret, ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, INVALID);
        g_assert_cmpstr(err->message, ==, text);
        g_error_free(err);
    }
}

static void test_errors(void)
{
    const QCryptoHashAlgo sha256 = QCRYPTO_HASH_ALGO_SHA256;
    uint8_t in[256], out[256], before[256];
    GError *err = NULL;

    fill_pattern(in, sizeof(in));
    memset(out, 0xa5, sizeof(out));
    memcpy(before, out, sizeof(out));
    refused(sha256, 32, 4, NULL, out, "in is NULL");
    refused(sha256, 32, 4, in, NULL, "out is NULL");
    refused(QCRYPTO_HASH_ALGO__MAX, 32, 4, in, out, "unknown hash 13");
    refused(sha256, 0, 4, in, out,
            "no anti-forensic split has 4 stripes of 0 bytes");
    refused(sha256, 32, 0, in, out,
            "no anti-forensic split has 0 stripes of 32 bytes");
    g_autofree char *huge = g_strdup_printf(
        "no anti-forensic split has 4294967295 stripes of %zu bytes", SIZE_MAX);
    refused(sha256, SIZE_MAX, UINT32_MAX, in, out, huge);
    refused(sha256, 32, 4, in, in + 16,
            "anti-forensic split: input and output overlap");
    refused(sha256, 32, 4, in, in,
            "anti-forensic split: input and output overlap");
    g_assert_cmpmem(out, sizeof(out), before, sizeof(before));

    /* side by side is not overlapping */
    g_assert_cmpint(qcrypto_afsplit_encode(sha256, 32, 4, in, in + 32, &err),
                    ==, 0);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_afsplit_decode(sha256, 32, 4, in + 32, in, &err),
                    ==, 0);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_afsplit_decode(sha256, 32, 4, in, in + 128, &err),
                    ==, 0);
    g_assert_no_error(err);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/afsplit/vectors", test_vectors);
    g_test_add_func("/afsplit/round-trip", test_round_trip);
    g_test_add_func("/afsplit/random", test_random);
    g_test_add_func("/afsplit/errors", test_errors);
    return g_test_run();
}
