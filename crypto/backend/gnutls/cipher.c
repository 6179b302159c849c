/*
 * GnuTLS: ciphers
 *
 * Two ways in:
 *
 *   native   CBC and XTS; every piece sets its IV, and the next one's is kept
 *            beside the handle.
 *   generic  runs of blocks through CBC, for the generic modes.  Decryption
 *            of a run is one call (chained.h).  For encryption there is no
 *            wide way: each block goes in combined with the ciphertext block
 *            before it, which CBC takes off again, so that at least the IV
 *            need not be set for every block.
 *
 * GnuTLS checks block multiples by assert in some of its ciphers; the front
 * end has refused such lengths.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/gnutls/gnutls.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "crypto/backend/chained.h"
#include "crypto/base/error.h"
#include "crypto/base/pool.h"

#define LIBRARY "GnuTLS"

typedef struct GnutlsCipher {
    gnutls_cipher_algorithm_t cbc;
    gnutls_cipher_algorithm_t xts; /* GNUTLS_CIPHER_UNKNOWN: has none */
} GnutlsCipher;

typedef struct GnutlsKey {
    QCryptoPool pool;
    gnutls_cipher_algorithm_t cipher;
    uint32_t block_len;
    bool chained; /* the IV moves on: CBC */
    uint32_t nkey;
    uint8_t key[64];
} GnutlsKey;

/* What lies in the pool. */
typedef struct GnutlsHandle {
    gnutls_cipher_hd_t handle;
    uint32_t block_len;
    int failed; /* a run of blocks: the first error since begin */
} GnutlsHandle;

static int library_error(GError **errp, const char *call, int code)
{
    return qcrypto_error_library(errp, LIBRARY, call, gnutls_strerror(code));
}

static void handle_close(void *opaque)
{
    GnutlsHandle *h = opaque;

    gnutls_cipher_deinit(h->handle);
    qcrypto_wipe_free(h, sizeof(*h));
}

static void *handle_open(const void *owner, GError **errp)
{
    const GnutlsKey *k = owner;
    const gnutls_datum_t key = {(unsigned char *)k->key, k->nkey};
    GnutlsHandle *h = qcrypto_alloc(sizeof(*h));
    int code;

    if (!h) {
        qcrypto_error_memory(errp, "a cipher handle", 1, 0);
        return NULL;
    }
    h->block_len = k->block_len;
    code = gnutls_cipher_init(&h->handle, k->cipher, &key, NULL);
    if (code < 0) {
        qcrypto_wipe_free(h, sizeof(*h));
        library_error(errp, "gnutls_cipher_init", code);
        return NULL;
    }
    return h;
}

/* The pool is the one part of a context that changes after init. */
static QCryptoPool *pool_of(const GnutlsKey *k)
{
    return (QCryptoPool *)&k->pool;
}

static void key_fini(void *ctx)
{
    GnutlsKey *k = ctx;

    qcrypto_pool_close(&k->pool);
}

static int key_init(GnutlsKey *k, gnutls_cipher_algorithm_t cipher,
                    size_t block_len, const uint8_t *key, size_t nkey,
                    GError **errp)
{
    void *handle;

    g_assert(nkey <= sizeof(k->key));
    k->pool.open = handle_open;
    k->pool.close = handle_close;
    k->cipher = cipher;
    k->block_len = (uint32_t)block_len;
    k->nkey = (uint32_t)nkey;
    memcpy(k->key, key, nkey);

    /* the first handle here, so that a key it refuses shows here */
    handle = qcrypto_pool_take(&k->pool, k, errp);
    if (!handle) {
        return -1;
    }
    qcrypto_pool_put(&k->pool, handle);
    return 0;
}

static void set_iv(GnutlsHandle *h, const uint8_t *iv)
{
    /* the pointer is not const by oversight: nothing is written there */
    gnutls_cipher_set_iv(h->handle, (void *)iv, h->block_len);
}

/* Runs of blocks */

static size_t block_ctx_size(const QCryptoBlockDesc *desc G_GNUC_UNUSED)
{
    return sizeof(GnutlsKey);
}

static int block_init(void *ctx, const QCryptoBlockDesc *desc,
                      const uint8_t *key, size_t nkey, GError **errp)
{
    const GnutlsCipher *cipher = desc->arg;

    return key_init(ctx, cipher->cbc, desc->block_len, key, nkey, errp);
}

static void *block_begin(const void *ctx, GError **errp)
{
    return qcrypto_pool_take(pool_of(ctx), ctx, errp);
}

static int block_end(const void *ctx, void *run, GError **errp)
{
    GnutlsHandle *h = run;
    int failed = h->failed;

    h->failed = 0;
    qcrypto_pool_put(pool_of(ctx), h);
    return failed ? library_error(errp, "CBC for a run of blocks", failed) : 0;
}

static const uint8_t zeros[QCRYPTO_MODE_BLOCK_MAX];

static void block_encrypt(const void *run, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    GnutlsHandle *h = (GnutlsHandle *)run;
    size_t bl = h->block_len;
    uint8_t chain[QCRYPTO_MODE_BLOCK_MAX] = {0};
    size_t off;

    set_iv(h, zeros);
    for (off = 0; off < length && !h->failed; off += bl) {
        qcrypto_mode_xor(chain, chain, src + off, bl);
        h->failed = gnutls_cipher_encrypt2(h->handle, chain, bl, chain, bl);
        memcpy(dst + off, chain, bl);
    }
    qcrypto_wipe(chain, sizeof(chain));
}

static int cbc_decrypt(void *handle, uint8_t *dst, const uint8_t *src,
                       size_t len)
{
    return gnutls_cipher_decrypt2(handle, src, len, dst, len);
}

static void block_decrypt(const void *run, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    GnutlsHandle *h = (GnutlsHandle *)run;

    if (!h->failed) {
        set_iv(h, zeros);
        h->failed = qcrypto_chained_decrypt(cbc_decrypt, h->handle,
                                            h->block_len, length, dst, src);
    }
}

#define BLOCK(len, ...)                                                        \
    {                                                                          \
        .block_len = (len), .ctx_size = block_ctx_size, .init = block_init,    \
        .fini = key_fini, .encrypt = block_encrypt, .decrypt = block_decrypt,  \
        .begin = block_begin, .end = block_end,                                \
        .arg = &(const GnutlsCipher){__VA_ARGS__},                             \
    }

const QCryptoBlockDesc qcrypto_gnutls_blocks[QCRYPTO_CIPHER_ALGO__MAX] = {
    [QCRYPTO_CIPHER_ALGO_AES_128] =
        BLOCK(16, GNUTLS_CIPHER_AES_128_CBC, GNUTLS_CIPHER_AES_128_XTS),
    [QCRYPTO_CIPHER_ALGO_AES_192] =
        BLOCK(16, GNUTLS_CIPHER_AES_192_CBC, GNUTLS_CIPHER_UNKNOWN),
    [QCRYPTO_CIPHER_ALGO_AES_256] =
        BLOCK(16, GNUTLS_CIPHER_AES_256_CBC, GNUTLS_CIPHER_AES_256_XTS),
    [QCRYPTO_CIPHER_ALGO_DES] =
        BLOCK(8, GNUTLS_CIPHER_DES_CBC, GNUTLS_CIPHER_UNKNOWN),
    [QCRYPTO_CIPHER_ALGO_3DES] =
        BLOCK(8, GNUTLS_CIPHER_3DES_CBC, GNUTLS_CIPHER_UNKNOWN),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_128] =
        BLOCK(16, GNUTLS_CIPHER_CAMELLIA_128_CBC, GNUTLS_CIPHER_UNKNOWN),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_192] =
        BLOCK(16, GNUTLS_CIPHER_CAMELLIA_192_CBC, GNUTLS_CIPHER_UNKNOWN),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_256] =
        BLOCK(16, GNUTLS_CIPHER_CAMELLIA_256_CBC, GNUTLS_CIPHER_UNKNOWN),
};

/* GnuTLS's own modes */

static size_t native_ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GnutlsKey);
}

static int native_init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                       size_t nkey, GError **errp)
{
    const QCryptoBlockDesc *desc = row->arg;
    const GnutlsCipher *cipher = desc->arg;
    GnutlsKey *k = ctx;

    k->chained = row->mode == QCRYPTO_CIPHER_MODE_CBC;
    if (!k->chained && gnutls_fips140_mode_enabled() &&
        qcrypto_equal_ct(key, key + nkey / 2, nkey / 2)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             LIBRARY
                             " in FIPS mode takes no XTS key of equal halves");
    }
    return key_init(k, k->chained ? cipher->cbc : cipher->xts, desc->block_len,
                    key, nkey, errp);
}

static int native_units(const GnutlsKey *k, bool decrypt, const uint8_t *ivs,
                        size_t unit_size, const uint8_t *in, uint8_t *out,
                        size_t n, GError **errp)
{
    GnutlsHandle *h = qcrypto_pool_take(pool_of(k), k, errp);
    int code = 0;

    if (!h) {
        return -1;
    }
    for (; n && code >= 0; n--) {
        set_iv(h, ivs);
        code = (decrypt ? gnutls_cipher_decrypt2 : gnutls_cipher_encrypt2)(
            h->handle, in, unit_size, out, unit_size);
        ivs += k->block_len;
        in += unit_size;
        out += unit_size;
    }
    qcrypto_pool_put(pool_of(k), h);
    return code < 0 ? library_error(errp,
                                    decrypt ? "gnutls_cipher_decrypt2"
                                            : "gnutls_cipher_encrypt2",
                                    code)
                    : 0;
}

static int native_crypt(const GnutlsKey *k, bool decrypt, uint8_t *iv,
                        const uint8_t *in, uint8_t *out, size_t len,
                        GError **errp)
{
    uint8_t last[QCRYPTO_MODE_BLOCK_MAX];
    size_t bl = k->block_len;

    if (!len) {
        return 0;
    }
    /* a block at least, in both modes; in place, it is gone afterwards */
    memcpy(last, in + len - bl, bl);
    if (native_units(k, decrypt, iv, len, in, out, 1, errp) < 0) {
        return -1;
    }
    if (k->chained) {
        memcpy(iv, decrypt ? last : out + len - bl, bl);
    }
    return 0;
}

static int native_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                          uint8_t *out, size_t len, GError **errp)
{
    return native_crypt(ctx, false, iv, in, out, len, errp);
}

static int native_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                          uint8_t *out, size_t len, GError **errp)
{
    return native_crypt(ctx, true, iv, in, out, len, errp);
}

static int native_encrypt_units(const void *ctx, const uint8_t *ivs,
                                size_t unit_size, const uint8_t *in,
                                uint8_t *out, size_t n, GError **errp)
{
    return native_units(ctx, false, ivs, unit_size, in, out, n, errp);
}

static int native_decrypt_units(const void *ctx, const uint8_t *ivs,
                                size_t unit_size, const uint8_t *in,
                                uint8_t *out, size_t n, GError **errp)
{
    return native_units(ctx, true, ivs, unit_size, in, out, n, errp);
}

const QCryptoCipherOps qcrypto_gnutls_cipher = {
    .ctx_size = native_ctx_size,
    .init = native_init,
    .fini = key_fini,
    .crypt = {native_encrypt, native_decrypt},
    .units = {native_encrypt_units, native_decrypt_units},
};

int qcrypto_gnutls_probe_cipher(const QCryptoRow *row, GError **errp)
{
    const QCryptoCipherOps *ops = row->ops;
    const QCryptoAlg *alg = qcrypto_alg(row->kind, row->alg);
    size_t nkey = alg->key_len;
    size_t size = ops->ctx_size(row);
    void *ctx = qcrypto_alloc(size);
    uint8_t key[64];
    int ret;
    size_t i;

    if (!ctx) {
        return qcrypto_error_memory(errp, "a cipher context", 1, 0);
    }
    /* some key that is not weak */
    for (i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(11 * i + 5);
    }
    if (row->mode == QCRYPTO_CIPHER_MODE_XTS) {
        nkey *= 2;
    }
    ret = ops->init(ctx, row, key, nkey, errp);
    if (ret == 0 && ops->fini) {
        ops->fini(ctx);
    }
    qcrypto_wipe_free(ctx, size);
    return ret;
}
