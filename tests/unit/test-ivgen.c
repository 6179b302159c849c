/*
 * IV generators, held against their definitions written down a second time
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>
#include <qcrypto/hash.h>
#include <qcrypto/ivgen.h>
#include <string.h>

#include "crypto/base/algs.h"
#include "crypto/ivgen/ivgen.h"
#include "rows.h"

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT
#define AES     QCRYPTO_CIPHER_ALGO_AES_256
#define SHA256  QCRYPTO_HASH_ALGO_SHA256
#define TWO_32  (UINT64_C(1) << 32)

static QCryptoIVGen *open_gen(QCryptoIVGenAlgo alg, QCryptoCipherAlgo cipher,
                              const uint8_t *key, size_t nkey)
{
    g_autoptr(GError) err = NULL;
    QCryptoIVGen *g = qcrypto_ivgen_new(alg, cipher, SHA256, key, nkey, &err);

    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_ivgen_get_algorithm(g), ==, alg);
    g_assert_cmpint(qcrypto_ivgen_get_cipher(g), ==, cipher);
    g_assert_cmpint(qcrypto_ivgen_get_hash(g), ==, SHA256);
    return g;
}

static void expect_iv(const QCryptoIVGen *g, uint64_t sector, const char *hex)
{
    const size_t n = strlen(hex) / 2;
    g_autoptr(GString) got = g_string_new(NULL);
    g_autoptr(GError) err = NULL;
    uint8_t iv[16 + 1];

    memset(iv, 0x77, sizeof(iv));
    g_assert_cmpint(qcrypto_ivgen_calculate(g, sector, iv, n, &err), ==, 0);
    g_assert_no_error(err);
    for (size_t i = 0; i < n; i++) {
        g_string_append_printf(got, "%02x", iv[i]);
    }
    g_assert_cmpstr(got->str, ==, hex);
    g_assert_cmpuint(iv[n], ==, 0x77);
}

typedef struct Expected {
    QCryptoIVGenAlgo alg;
    QCryptoCipherAlgo cipher;
    uint64_t sector;
    const char *iv;
} Expected;

/* plain wraps at 2^32 by definition, the others must not (B12). */
static void test_b12(void)
{
    const QCryptoCipherAlgo des3 = QCRYPTO_CIPHER_ALGO_3DES;
    const Expected expected[] = {
        {QCRYPTO_IV_GEN_ALGO_PLAIN, AES, 0, "00000000000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN, AES, 1, "01000000000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN, AES, TWO_32 - 1,
         "ffffffff000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN, AES, TWO_32,
         "00000000000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN, AES, 2 * TWO_32 + 7,
         "07000000000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN, AES, UINT64_MAX,
         "ffffffff000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN, des3, TWO_32 + 1, "0100000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64, AES, TWO_32 - 1,
         "ffffffff000000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64, AES, TWO_32,
         "00000000010000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64, AES, 2 * TWO_32 + 7,
         "07000000020000000000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64, AES, UINT64_MAX,
         "ffffffffffffffff0000000000000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64, des3, TWO_32, "0000000001000000"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64BE, AES, 1,
         "00000000000000000000000000000001"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64BE, AES, 2 * TWO_32 + 7,
         "00000000000000000000000200000007"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64BE, AES, UINT64_MAX,
         "0000000000000000ffffffffffffffff"},
        {QCRYPTO_IV_GEN_ALGO_PLAIN64BE, des3, TWO_32, "0000000100000000"},
        {QCRYPTO_IV_GEN_ALGO_BENBI, AES, 0, "00000000000000000000000000000001"},
        {QCRYPTO_IV_GEN_ALGO_BENBI, AES, 1, "00000000000000000000000000000021"},
        {QCRYPTO_IV_GEN_ALGO_BENBI, AES, TWO_32,
         "00000000000000000000002000000001"},
        /* blocks of 8 bytes: 64 of them in 512 */
        {QCRYPTO_IV_GEN_ALGO_BENBI, des3, 0, "0000000000000001"},
        {QCRYPTO_IV_GEN_ALGO_BENBI, des3, 1, "0000000000000041"},
        {QCRYPTO_IV_GEN_ALGO_BENBI, des3, TWO_32, "0000004000000001"},
        /* the number of the block wraps, as the kernel's does */
        {QCRYPTO_IV_GEN_ALGO_BENBI, AES, UINT64_MAX,
         "0000000000000000ffffffffffffffe1"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        const Expected *e = &expected[i];
        g_autoptr(QCryptoIVGen) g = open_gen(e->alg, e->cipher, NULL, 0);

        expect_iv(g, e->sector, e->iv);
    }
}

static void test_b12_essiv(void)
{
    uint8_t key[32];

    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)i;
    }
    g_autoptr(QCryptoIVGen) g =
        open_gen(QCRYPTO_IV_GEN_ALGO_ESSIV, AES, key, sizeof(key));
    memset(key, 0, sizeof(key)); /* the generator has what it needs */
    expect_iv(g, 0, "a73d5fb0e4041090ca6dc1b820cdaf51");
    expect_iv(g, 1, "59a0803f448bdf6d3d3de63feaccd58a");
    expect_iv(g, TWO_32, "b5c8f18211c5b554088a6a33ad5137c0");
}

/* The member of a family that takes keys of n bytes, or -1. */
static int member_with_key(const QCryptoAlg *cipher, size_t n)
{
    const QCryptoAlg *a;

    for (int i = 0; (a = qcrypto_alg(QCRYPTO_KIND_CIPHER, i)); i++) {
        if (!strcmp(a->family, cipher->family) && a->key_len == n) {
            return i;
        }
    }
    return -1;
}

/* E of the sector number, little-endian, under the hash of the key. */
static void essiv_by_hand(int member, QCryptoHashAlgo hash, const uint8_t *key,
                          size_t nkey, uint64_t sector, uint8_t *iv, size_t niv)
{
    g_autofree uint8_t *salt = NULL;
    size_t nsalt = 0;
    g_autoptr(GError) err = NULL;

    qcrypto_hash_bytes(hash, key, nkey, &salt, &nsalt, &err);
    g_assert_no_error(err);
    g_autoptr(QCryptoCipher) c = qcrypto_cipher_new(
        (QCryptoCipherAlgo)member, QCRYPTO_CIPHER_MODE_ECB, salt, nsalt, &err);
    g_assert_no_error(err);
    for (size_t i = 0; i < niv; i++) {
        iv[i] = i < 8 ? (uint8_t)(sector >> 8 * i) : 0;
    }
    qcrypto_cipher_encrypt(c, iv, iv, niv, &err);
    g_assert_no_error(err);
}

static void essiv_pair(const QCryptoAlg *cipher, const QCryptoAlg *hash)
{
    static const uint64_t sectors[] = {0, 1, TWO_32 - 1, TWO_32, UINT64_MAX};
    const int member = member_with_key(cipher, hash->out_len);
    uint8_t key[64];
    GError *err = NULL;

    fill_pattern(key, sizeof(key));
    QCryptoIVGen *g = qcrypto_ivgen_new(
        QCRYPTO_IV_GEN_ALGO_ESSIV, (QCryptoCipherAlgo)cipher->id,
        (QCryptoHashAlgo)hash->id, key, cipher->key_len, &err);
    if (member < 0) {
        g_autofree char *begin =
            g_strdup_printf("essiv:%s gives %s a key of %u bytes; it takes ",
                            hash->name, cipher->family, hash->out_len);

        g_assert_null(g);
        g_assert_error(err, QCRYPTO_ERROR, INVALID);
        g_assert_true(g_str_has_prefix(err->message, begin));
        g_error_free(err);
        return;
    }
    g_assert_no_error(err);
    for (size_t i = 0; i < G_N_ELEMENTS(sectors); i++) {
        uint8_t want[16], got[16];
        const size_t n = cipher->block_len;

        essiv_by_hand(member, (QCryptoHashAlgo)hash->id, key, cipher->key_len,
                      sectors[i], want, n);
        qcrypto_ivgen_calculate(g, sectors[i], got, n, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(got, n, want, n);
    }
    qcrypto_ivgen_free(g);
}

/* Every cipher with every hash: right where the sizes fit, else named. */
static void test_essiv_pairs(void)
{
    const QCryptoAlg *cipher, *hash;
    size_t fitting = 0, others = 0;

    for (int c = 0; (cipher = qcrypto_alg(QCRYPTO_KIND_CIPHER, c)); c++) {
        for (int h = 0; (hash = qcrypto_alg(QCRYPTO_KIND_HASH, h)); h++) {
            const int member = member_with_key(cipher, hash->out_len);

            if (member >= 0 &&
                (!qcrypto_hash_supports((QCryptoHashAlgo)h) ||
                 !qcrypto_cipher_supports((QCryptoCipherAlgo)member,
                                          QCRYPTO_CIPHER_MODE_ECB))) {
                continue;
            }
            essiv_pair(cipher, hash);
            *(member >= 0 ? &fitting : &others) += 1;
        }
    }
    g_test_message("%zu pairs fit, %zu do not", fitting, others);
    g_assert_cmpuint(fitting, >, 0);
    g_assert_cmpuint(others, >, 0);
}

/* A run of IVs is the same as one after the other, across the end of 2^64. */
static void test_runs(void)
{
    const uint8_t key[32] = {9};
    const uint64_t steps[] = {1, 8};

    for (int alg = 0; alg < QCRYPTO_IV_GEN_ALGO__MAX; alg++) {
        g_autoptr(QCryptoIVGen) g =
            open_gen((QCryptoIVGenAlgo)alg, AES, key, sizeof(key));

        for (size_t s = 0; s < G_N_ELEMENTS(steps); s++) {
            const uint64_t first = UINT64_MAX - 20;
            uint8_t ivs[40 * 16], iv[16];
            g_autoptr(GError) err = NULL;

            qcrypto_ivgen_run(g, first, steps[s], 40, ivs, 16, &err);
            g_assert_no_error(err);
            for (uint64_t i = 0; i < 40; i++) {
                qcrypto_ivgen_calculate(g, first + i * steps[s], iv, 16, &err);
                g_assert_no_error(err);
                g_assert_cmpmem(ivs + 16 * i, 16, iv, 16);
            }
        }
    }
}

/* In CTR dm-crypt counts bytes from 1: what its kernel does, see tests/vm. */
static void test_benbi_ctr(void)
{
    static const uint8_t zeros[2 * 512];
    const uint64_t sectors[] = {5, TWO_32, UINT64_C(1) << 60};
    uint8_t key[32], want[512], got[2 * 512];
    g_autoptr(GError) err = NULL;

    fill_pattern(key, sizeof(key));
    g_autoptr(QCryptoIVGen) g =
        open_gen(QCRYPTO_IV_GEN_ALGO_BENBI, AES, NULL, 0);
    g_autoptr(QCryptoCipher) c = qcrypto_cipher_new(
        AES, QCRYPTO_CIPHER_MODE_CTR, key, sizeof(key), &err);
    g_assert_no_error(err);
    for (size_t i = 0; i < G_N_ELEMENTS(sectors); i++) {
        /* the second of two sectors; the high bits go, modulo 2^64 */
        const uint64_t byte = GUINT64_TO_BE((sectors[i] + 1) * 512 + 1);
        uint8_t iv[16] = {0};

        memcpy(iv + 8, &byte, sizeof(byte));
        qcrypto_cipher_setiv(c, iv, sizeof(iv), &err);
        g_assert_no_error(err);
        qcrypto_cipher_encrypt(c, zeros, want, sizeof(want), &err);
        g_assert_no_error(err);
        qcrypto_cipher_encrypt_sectors(c, g, sectors[i], 512, zeros, got, 2, 0,
                                       &err);
        g_assert_no_error(err);
        g_assert_cmpmem(got + 512, 512, want, sizeof(want));
    }
}

static void test_lengths(void)
{
    g_autoptr(QCryptoIVGen) le =
        open_gen(QCRYPTO_IV_GEN_ALGO_PLAIN64, AES, NULL, 0);
    g_autoptr(QCryptoIVGen) be =
        open_gen(QCRYPTO_IV_GEN_ALGO_PLAIN64BE, AES, NULL, 0);

    expect_iv(le, 0x1122334455667788, "88");
    expect_iv(le, 0x1122334455667788, "8877665544");
    expect_iv(le, 0x1122334455667788, "887766554433221100");
    expect_iv(be, 0x1122334455667788, "88");
    expect_iv(be, 0x1122334455667788, "4455667788");
    expect_iv(be, 0x1122334455667788, "001122334455667788");
}

static void refused(const QCryptoIVGen *g, uint8_t *iv, size_t niv,
                    const char *text)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_ivgen_calculate(g, 1, iv, niv, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_assert_cmpstr(err->message, ==, text);
}

static void not_made(int alg, int cipher, int hash, const uint8_t *key,
                     size_t nkey, const char *text)
{
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_ivgen_new((QCryptoIVGenAlgo)alg,
                                    (QCryptoCipherAlgo)cipher,
                                    (QCryptoHashAlgo)hash, key, nkey, &err));
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_assert_cmpstr(err->message, ==, text);
}

static void test_errors(void)
{
    const uint8_t key[32] = {1};
    const int essiv = QCRYPTO_IV_GEN_ALGO_ESSIV;
    uint8_t iv[32] = {0};
    g_autoptr(QCryptoIVGen) plain =
        open_gen(QCRYPTO_IV_GEN_ALGO_PLAIN, AES, NULL, 0);
    g_autoptr(QCryptoIVGen) hashed =
        open_gen(QCRYPTO_IV_GEN_ALGO_ESSIV, AES, key, sizeof(key));

    refused(NULL, iv, 16, "ivgen is NULL");
    refused(plain, NULL, 16, "iv is NULL");
    refused(plain, iv, 0, "an IV has 1 to 16 bytes, not 0");
    refused(plain, iv, 17, "an IV has 1 to 16 bytes, not 17");
    refused(hashed, iv, 8, "essiv takes an IV of 16 bytes, not 8");
    not_made(QCRYPTO_IV_GEN_ALGO__MAX, AES, SHA256, key, 32,
             "unknown IV generator 5");
    not_made(QCRYPTO_IV_GEN_ALGO_PLAIN, -1, SHA256, key, 32,
             "unknown cipher -1");
    not_made(essiv, AES, QCRYPTO_HASH_ALGO__MAX, key, 32, "unknown hash 13");
    not_made(essiv, AES, SHA256, NULL, 32, "key is NULL");
    not_made(essiv, AES, SHA256, key, 0,
             "essiv needs the volume key, not 0 bytes of it");
    /* B34 */
    not_made(essiv, AES, QCRYPTO_HASH_ALGO_SHA512, key, 32,
             "essiv:sha512 gives aes a key of 64 bytes; it takes 16, 24, 32");
}

static void test_names(void)
{
    for (int alg = 0; alg < QCRYPTO_IV_GEN_ALGO__MAX; alg++) {
        g_assert_cmpint(qcrypto_ivgen_algo_from_name(
                            qcrypto_ivgen_algo_name((QCryptoIVGenAlgo)alg)),
                        ==, alg);
    }
    g_assert_null(qcrypto_ivgen_algo_name(QCRYPTO_IV_GEN_ALGO__MAX));
    g_assert_cmpint(qcrypto_ivgen_algo_from_name("plain32"), ==, -1);
    g_assert_cmpint(qcrypto_ivgen_algo_from_name(NULL), ==, -1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cases/B12", test_b12);
    g_test_add_func("/cases/B12/essiv", test_b12_essiv);
    g_test_add_func("/ivgen/essiv/pairs", test_essiv_pairs);
    g_test_add_func("/ivgen/runs", test_runs);
    g_test_add_func("/ivgen/benbi/ctr", test_benbi_ctr);
    g_test_add_func("/ivgen/lengths", test_lengths);
    g_test_add_func("/ivgen/errors", test_errors);
    g_test_add_func("/ivgen/names", test_names);
    return g_test_run();
}
