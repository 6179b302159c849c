/*
 * OpenSSL's libcrypto as a peer, through EVP
 *
 * Contexts are keyed once and get a new IV for each unit, which is what
 * EVP_CipherInit_ex2 is for with neither cipher nor key.  Ciphers are fetched
 * once a process into a library context of our own, together with the
 * "legacy" provider that holds DES and CAST5, so that the application's
 * OpenSSL is left as it is.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/peer-openssl.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <qcrypto/cipher.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

typedef struct OpenSSLCipher {
    const EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *ctx[2]; /* decryption: made when first used */
    size_t nkey;
    uint8_t key[64];
} OpenSSLCipher;

int qcrypto_bench_openssl_error(GError **errp, const char *call)
{
    const unsigned long code = ERR_get_error();
    const char *text = ERR_reason_error_string(code);

    ERR_clear_error();
    return qcrypto_error_library(errp, "openssl", call, text ? text : "failed");
}

/* OpenSSL writes a cipher's name like ours, but for these. */
static const char *openssl_name(int alg)
{
    static const char *const names[QCRYPTO_CIPHER_ALGO__MAX] = {
        [QCRYPTO_CIPHER_ALGO_3DES] = "des-ede3",
        [QCRYPTO_CIPHER_ALGO_CAST5_128] = "cast5",
    };

    return names[alg] ? names[alg]
                      : qcrypto_cipher_algo_name((QCryptoCipherAlgo)alg);
}

OSSL_LIB_CTX *qcrypto_bench_openssl_lib(void)
{
    static gsize lib;

    if (g_once_init_enter(&lib)) {
        OSSL_LIB_CTX *new = OSSL_LIB_CTX_new();

        OSSL_PROVIDER_load(new, "default");
        OSSL_PROVIDER_load(new, "legacy");
        ERR_clear_error();
        g_once_init_leave(&lib, (gsize)(uintptr_t)new);
    }
    return (OSSL_LIB_CTX *)(uintptr_t)lib;
}

/* NULL when OpenSSL has no such cipher. */
static const EVP_CIPHER *fetch(int alg, int mode)
{
    static GMutex lock;
    static struct {
        bool known;
        EVP_CIPHER *cipher;
    } cache[QCRYPTO_CIPHER_ALGO__MAX][QCRYPTO_CIPHER_MODE__MAX];

    g_mutex_lock(&lock);
    if (!cache[alg][mode].known) {
        g_autofree char *name =
            g_strdup_printf("%s-%s", openssl_name(alg),
                            qcrypto_cipher_mode_name((QCryptoCipherMode)mode));

        cache[alg][mode].cipher =
            EVP_CIPHER_fetch(qcrypto_bench_openssl_lib(), name, NULL);
        cache[alg][mode].known = true;
        ERR_clear_error();
    }
    g_mutex_unlock(&lock);
    return cache[alg][mode].cipher;
}

/* ChaCha20 is all there is of the family. */
static const EVP_CIPHER *fetch_chacha(int alg)
{
    static gsize done;
    static EVP_CIPHER *chacha20;

    if (g_once_init_enter(&done)) {
        chacha20 =
            EVP_CIPHER_fetch(qcrypto_bench_openssl_lib(), "ChaCha20", NULL);
        ERR_clear_error();
        g_once_init_leave(&done, 1);
    }
    return alg == QCRYPTO_CHACHA_ALGO_CHACHA20 ? chacha20 : NULL;
}

static bool openssl_has_chacha(int alg, int mode G_GNUC_UNUSED)
{
    return fetch_chacha(alg) != NULL;
}

static bool openssl_supports(int alg, int mode)
{
    return fetch(alg, mode) != NULL;
}

static int open_direction(OpenSSLCipher *c, int decrypt, GError **errp)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

    if (!ctx ||
        !EVP_CipherInit_ex2(ctx, c->cipher, c->key, NULL, !decrypt, NULL) ||
        !EVP_CIPHER_CTX_set_padding(ctx, 0)) {
        EVP_CIPHER_CTX_free(ctx);
        return qcrypto_bench_openssl_error(errp, "EVP_CipherInit_ex2");
    }
    c->ctx[decrypt] = ctx;
    return 0;
}

static void openssl_close(void *opaque)
{
    OpenSSLCipher *c = opaque;

    EVP_CIPHER_CTX_free(c->ctx[0]);
    EVP_CIPHER_CTX_free(c->ctx[1]);
    qcrypto_wipe(c, sizeof *c);
    g_free(c);
}

static void *open_cipher(const EVP_CIPHER *cipher, const uint8_t *key,
                         size_t nkey, GError **errp)
{
    OpenSSLCipher *c;

    if (!cipher || (size_t)EVP_CIPHER_get_key_length(cipher) != nkey ||
        nkey > sizeof c->key) {
        qcrypto_error_library(errp, "openssl", "EVP_CIPHER_fetch",
                              "no such cipher");
        return NULL;
    }
    c = g_new0(OpenSSLCipher, 1);
    c->cipher = cipher;
    c->nkey = nkey;
    memcpy(c->key, key, nkey);
    if (open_direction(c, 0, errp) < 0) {
        openssl_close(c);
        return NULL;
    }
    return c;
}

static void *openssl_open(int alg, int mode, const uint8_t *key, size_t nkey,
                          GError **errp)
{
    return open_cipher(fetch(alg, mode), key, nkey, errp);
}

static void *openssl_open_chacha(int alg, int mode G_GNUC_UNUSED,
                                 const uint8_t *key, size_t nkey, GError **errp)
{
    return open_cipher(fetch_chacha(alg), key, nkey, errp);
}

static int openssl_piece(void *opaque, int decrypt, const uint8_t *in,
                         uint8_t *out, size_t len, GError **errp)
{
    OpenSSLCipher *c = opaque;
    int n;

    if (G_UNLIKELY(len > INT_MAX ||
                   !EVP_CipherUpdate(c->ctx[decrypt], out, &n, in, (int)len) ||
                   (size_t)n != len)) {
        return qcrypto_bench_openssl_error(errp, "EVP_CipherUpdate");
    }
    return 0;
}

static int openssl_units(void *opaque, int decrypt, const uint8_t *ivs,
                         size_t niv, size_t unit, const uint8_t *in,
                         uint8_t *out, size_t n, GError **errp)
{
    OpenSSLCipher *c = opaque;

    if (G_UNLIKELY(!c->ctx[decrypt]) && open_direction(c, decrypt, errp) < 0) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        if (niv && !EVP_CipherInit_ex2(c->ctx[decrypt], NULL, NULL,
                                       ivs + i * niv, -1, NULL)) {
            return qcrypto_bench_openssl_error(errp, "EVP_CipherInit_ex2");
        }
        if (openssl_piece(c, decrypt, in + i * unit, out + i * unit, unit,
                          errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static const char *openssl_version(void)
{
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const QCryptoBenchCipherPeer openssl_cipher = {
    .supports = openssl_supports,
    .open = openssl_open,
    .close = openssl_close,
    .units = openssl_units,
    .piece = openssl_piece,
};

static const QCryptoBenchCipherPeer openssl_chacha = {
    .supports = openssl_has_chacha,
    .open = openssl_open_chacha,
    .close = openssl_close,
    .units = openssl_units,
    .piece = openssl_piece,
};

const QCryptoBenchPeer qcrypto_bench_openssl = {
    .name = "openssl",
    .impl = "evp",
    .version = openssl_version,
    .cipher = &openssl_cipher,
    .chacha = &openssl_chacha,
    .hash = &qcrypto_bench_openssl_hash,
    .hmac = &qcrypto_bench_openssl_hmac,
    .pbkdf2 = &qcrypto_bench_openssl_pbkdf2,
    .rng = &qcrypto_bench_openssl_rng,
};
