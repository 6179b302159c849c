/*
 * OpenSSL's hashes, HMAC and PBKDF2 as a peer, through EVP
 *
 * Algorithms are fetched once a process; a context is used again for every
 * message, HMAC's without its key being set anew.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <qcrypto/hash.h>

#include "crypto/base/error.h"
#include "tools/bench/peer-openssl.h"
#include "tools/bench/peer.h"

/* OpenSSL writes a hash's name like ours, but for these. */
static const char *openssl_name(int alg)
{
    static const char *const names[QCRYPTO_HASH_ALGO__MAX] = {
        [QCRYPTO_HASH_ALGO_BLAKE2B_512] = "blake2b512",
        [QCRYPTO_HASH_ALGO_BLAKE2S_256] = "blake2s256",
    };

    return names[alg] ? names[alg]
                      : qcrypto_hash_algo_name((QCryptoHashAlgo)alg);
}

/* NULL when OpenSSL has no such hash. */
static const EVP_MD *fetch(int alg)
{
    static GMutex lock;
    static struct {
        bool known;
        EVP_MD *md;
    } cache[QCRYPTO_HASH_ALGO__MAX];

    g_mutex_lock(&lock);
    if (!cache[alg].known) {
        cache[alg].md = EVP_MD_fetch(qcrypto_bench_openssl_lib(),
                                     openssl_name(alg), NULL);
        cache[alg].known = true;
        ERR_clear_error();
    }
    g_mutex_unlock(&lock);
    return cache[alg].md;
}

static bool supports(int alg)
{
    return fetch(alg) != NULL;
}

typedef struct OpenSSLHash {
    const EVP_MD *md;
    EVP_MD_CTX *ctx;
} OpenSSLHash;

static void hash_close(void *opaque)
{
    OpenSSLHash *h = opaque;

    EVP_MD_CTX_free(h->ctx);
    g_free(h);
}

static void *hash_open(int alg, const uint8_t *key G_GNUC_UNUSED,
                       size_t nkey G_GNUC_UNUSED, GError **errp)
{
    OpenSSLHash *h = g_new0(OpenSSLHash, 1);

    h->md = fetch(alg);
    h->ctx = EVP_MD_CTX_new();
    if (!h->md || !h->ctx) {
        hash_close(h);
        qcrypto_bench_openssl_error(errp, "EVP_MD_fetch");
        return NULL;
    }
    return h;
}

static int hash_digest(void *opaque, const uint8_t *data, size_t len,
                       uint8_t *out, GError **errp)
{
    OpenSSLHash *h = opaque;

    if (!EVP_DigestInit_ex2(h->ctx, h->md, NULL) ||
        !EVP_DigestUpdate(h->ctx, data, len) ||
        !EVP_DigestFinal_ex(h->ctx, out, NULL)) {
        return qcrypto_bench_openssl_error(errp, "EVP_DigestInit_ex2");
    }
    return 0;
}

static void hmac_close(void *ctx)
{
    EVP_MAC_CTX_free(ctx);
}

static void *hmac_open(int alg, const uint8_t *key, size_t nkey, GError **errp)
{
    EVP_MAC *mac = EVP_MAC_fetch(qcrypto_bench_openssl_lib(), "HMAC", NULL);
    EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
    const OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)openssl_name(alg),
                               0),
        OSSL_PARAM_END,
    };

    EVP_MAC_free(mac);
    if (!ctx || !EVP_MAC_init(ctx, key, nkey, params)) {
        EVP_MAC_CTX_free(ctx);
        qcrypto_bench_openssl_error(errp, "EVP_MAC_init");
        return NULL;
    }
    return ctx;
}

static int hmac_digest(void *ctx, const uint8_t *data, size_t len, uint8_t *out,
                       GError **errp)
{
    size_t n;

    if (!EVP_MAC_init(ctx, NULL, 0, NULL) || !EVP_MAC_update(ctx, data, len) ||
        !EVP_MAC_final(ctx, out, &n, EVP_MAX_MD_SIZE)) {
        return qcrypto_bench_openssl_error(errp, "EVP_MAC_update");
    }
    return 0;
}

static int pbkdf2_derive(int alg, const uint8_t *key, size_t nkey,
                         const uint8_t *salt, size_t nsalt, uint64_t iterations,
                         uint8_t *out, size_t nout, GError **errp)
{
    int any = 1; /* no lower limits of salt and iterations */
    OSSL_PARAM params[] = {
        OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)openssl_name(alg),
                               0),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_PASSWORD, (uint8_t *)key, nkey),
        OSSL_PARAM_octet_string(OSSL_KDF_PARAM_SALT, (uint8_t *)salt, nsalt),
        OSSL_PARAM_uint64(OSSL_KDF_PARAM_ITER, &iterations),
        OSSL_PARAM_int(OSSL_KDF_PARAM_PKCS5, &any),
        OSSL_PARAM_END,
    };
    EVP_KDF *kdf = EVP_KDF_fetch(qcrypto_bench_openssl_lib(), "PBKDF2", NULL);
    EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    const bool done = ctx && EVP_KDF_derive(ctx, out, nout, params) == 1;

    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    return done ? 0 : qcrypto_bench_openssl_error(errp, "EVP_KDF_derive");
}

const QCryptoBenchHashPeer qcrypto_bench_openssl_hash = {
    .supports = supports,
    .open = hash_open,
    .close = hash_close,
    .digest = hash_digest,
};

const QCryptoBenchHashPeer qcrypto_bench_openssl_hmac = {
    .supports = supports,
    .open = hmac_open,
    .close = hmac_close,
    .digest = hmac_digest,
};

const QCryptoBenchKdfPeer qcrypto_bench_openssl_pbkdf2 = {
    .supports = supports,
    .derive = pbkdf2_derive,
};
