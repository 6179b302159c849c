/*
 * The modes once more, plainly
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "model.h"

#include <string.h>

struct Model {
    QCryptoCipherMode mode;
    size_t block_len;
    QCryptoCipher *data;
    QCryptoCipher *tweak; /* XTS */
};

static QCryptoCipher *open_ecb(QCryptoCipherAlgo alg, const uint8_t *key)
{
    g_autoptr(GError) err = NULL;
    QCryptoCipher *c =
        qcrypto_cipher_new(alg, QCRYPTO_CIPHER_MODE_ECB, key,
                           qcrypto_cipher_get_key_len(alg), &err);

    g_assert_no_error(err);
    return c;
}

static void ecb(QCryptoCipher *c, const uint8_t *in, uint8_t *out, size_t len)
{
    g_autoptr(GError) err = NULL;

    qcrypto_cipher_encrypt(c, in, out, len, &err);
    g_assert_no_error(err);
}

Model *model_new(const CipherRow *row, const uint8_t *key)
{
    Model *m = g_new0(Model, 1);

    m->mode = row->mode;
    m->block_len = row->block_len;
    m->data = open_ecb(row->alg, key);
    if (row->mode == QCRYPTO_CIPHER_MODE_XTS) {
        m->tweak = open_ecb(row->alg, key + row->nkey / 2);
    }
    return m;
}

void model_free(Model *m)
{
    if (m) {
        qcrypto_cipher_free(m->data);
        qcrypto_cipher_free(m->tweak);
        g_free(m);
    }
}

static void xor_into(uint8_t *dst, const uint8_t *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dst[i] ^= src[i];
    }
}

/* SP 800-38A, 6.2 */
static void cbc(const Model *m, const uint8_t *iv, const uint8_t *in,
                uint8_t *out, size_t len)
{
    const size_t n = m->block_len;

    for (size_t i = 0; i < len; i += n) {
        memcpy(out + i, in + i, n);
        xor_into(out + i, i ? out + i - n : iv, n);
        ecb(m->data, out + i, out + i, n);
    }
}

/* SP 800-38A, 6.5, the whole block being the counter (B.1 with m = b) */
static void ctr(const Model *m, const uint8_t *iv, const uint8_t *in,
                uint8_t *out, size_t len)
{
    const size_t n = m->block_len;
    const size_t blocks = (len + n - 1) / n;
    g_autofree uint8_t *stream = g_malloc(blocks * n + 1);
    uint8_t counter[16];

    memcpy(counter, iv, n);
    for (size_t i = 0; i < blocks; i++) {
        memcpy(stream + i * n, counter, n);
        for (size_t j = n; j-- > 0 && ++counter[j] == 0;) {
        }
    }
    ecb(m->data, stream, stream, blocks * n);
    memcpy(out, in, len);
    xor_into(out, stream, len);
}

/* IEEE 1619-2007, 5.2: times x, byte 0 holding the lowest coefficients */
static void times_x(uint8_t *t)
{
    const unsigned out = t[15] >> 7;

    for (size_t i = 15; i > 0; i--) {
        t[i] = (uint8_t)(t[i] << 1 | t[i - 1] >> 7);
    }
    t[0] = (uint8_t)(t[0] << 1 ^ (out ? 0x87 : 0));
}

/* IEEE 1619-2007, 5.3.2; len >= 16 */
static void xts(const Model *m, const uint8_t *iv, const uint8_t *in,
                uint8_t *out, size_t len)
{
    const size_t whole = len & ~(size_t)15;
    g_autofree uint8_t *tweaks = g_malloc(whole + 16);

    ecb(m->tweak, iv, tweaks, 16);
    for (size_t i = 16; i <= whole; i += 16) {
        memcpy(tweaks + i, tweaks + i - 16, 16);
        times_x(tweaks + i);
    }
    memcpy(out, in, whole);
    xor_into(out, tweaks, whole);
    ecb(m->data, out, out, whole);
    xor_into(out, tweaks, whole);
    if (len > whole) {
        uint8_t last[16];

        memcpy(last, out + whole - 16, 16);
        memcpy(out + whole, last, len - whole);
        memcpy(last, in + whole, len - whole);
        xor_into(last, tweaks + whole, 16);
        ecb(m->data, last, last, 16);
        xor_into(last, tweaks + whole, 16);
        memcpy(out + whole - 16, last, 16);
    }
}

void model_encrypt(const Model *m, const uint8_t *iv, const uint8_t *in,
                   uint8_t *out, size_t len)
{
    switch (m->mode) {
    case QCRYPTO_CIPHER_MODE_ECB:
        ecb(m->data, in, out, len);
        break;
    case QCRYPTO_CIPHER_MODE_CBC:
        cbc(m, iv, in, out, len);
        break;
    case QCRYPTO_CIPHER_MODE_CTR:
        ctr(m, iv, in, out, len);
        break;
    case QCRYPTO_CIPHER_MODE_XTS:
        xts(m, iv, in, out, len);
        break;
    default:
        g_assert_not_reached();
    }
}

static void store_le(uint8_t *p, uint64_t x, size_t n)
{
    for (size_t i = 0; i < n && i < 8; i++) {
        p[i] = (uint8_t)(x >> (8 * i));
    }
}

void model_iv(const char *rule, uint64_t number, QCryptoCipherAlgo alg,
              const uint8_t *key, size_t nkey, uint8_t *iv, size_t niv)
{
    memset(iv, 0, niv);
    if (g_str_equal(rule, "null")) {
        return;
    }
    if (g_str_equal(rule, "plain")) {
        store_le(iv, (uint32_t)number, niv);
    } else if (g_str_equal(rule, "plain64")) {
        store_le(iv, number, niv);
    } else if (g_str_equal(rule, "plain64be") || g_str_equal(rule, "benbi")) {
        if (g_str_equal(rule, "benbi")) {
            /* blocks of a 512-byte sector, counted from 1 */
            number = number * (512 / qcrypto_cipher_get_block_len(alg)) + 1;
        }
        for (size_t i = 0; i < 8; i++) {
            iv[niv - 1 - i] = (uint8_t)(number >> (8 * i));
        }
    } else {
        /* essiv:sha256: the family's member whose key is a SHA-256 long */
        static const char *const family[] = {"aes", "serpent", "twofish",
                                             "camellia"};
        const char *name = qcrypto_cipher_algo_name(alg);
        g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
        QCryptoCipherAlgo inner = QCRYPTO_CIPHER_ALGO__MAX;
        uint8_t hash[32];
        gsize n = sizeof(hash);

        g_assert_cmpstr(rule, ==, "essiv:sha256");
        for (size_t i = 0; i < G_N_ELEMENTS(family); i++) {
            g_autofree char *big = g_strdup_printf("%s-256", family[i]);

            if (g_str_has_prefix(name, family[i])) {
                inner = (QCryptoCipherAlgo)qcrypto_cipher_algo_from_name(big);
            }
        }
        g_checksum_update(sum, key, (gssize)nkey);
        g_checksum_get_digest(sum, hash, &n);
        QCryptoCipher *c = open_ecb(inner, hash);
        store_le(iv, number, niv);
        ecb(c, iv, iv, niv);
        qcrypto_cipher_free(c);
    }
}
