/*
 * libgcrypt: ChaCha20
 *
 * An IV of 16 bytes is libgcrypt's way to set counter and nonce at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gcrypt.h>

#include "crypto/backend/gcrypt/gcrypt.h"
#include "crypto/base/bytes.h"
#include "crypto/base/error.h"

typedef struct GcryptChaCha {
    gcry_cipher_hd_t handle;
} GcryptChaCha;

static int failed(GError **errp, const char *call, gcry_error_t e)
{
    return qcrypto_error_library(errp, "libgcrypt", call, gcry_strerror(e));
}

static void fini(void *ctx)
{
    GcryptChaCha *c = ctx;

    gcry_cipher_close(c->handle);
}

static int init(void *ctx, const QCryptoRow *row G_GNUC_UNUSED,
                const uint8_t *key, size_t nkey, GError **errp)
{
    GcryptChaCha *c = ctx;
    gcry_error_t e = gcry_cipher_open(&c->handle, GCRY_CIPHER_CHACHA20,
                                      GCRY_CIPHER_MODE_STREAM, 0);

    if (e) {
        return failed(errp, "gcry_cipher_open", e);
    }
    e = gcry_cipher_setkey(c->handle, key, nkey);
    if (e) {
        fini(c);
        return failed(errp, "gcry_cipher_setkey", e);
    }
    return 0;
}

static int xor_stream(const void *ctx, const uint32_t state[16],
                      const uint8_t *in, uint8_t *out, size_t len,
                      GError **errp)
{
    const GcryptChaCha *c = ctx;
    gcry_error_t e;
    uint8_t iv[16];

    qcrypto_put_le32s(iv, state + 12, 4);
    e = gcry_cipher_setiv(c->handle, iv, sizeof(iv));
    if (e) {
        return failed(errp, "gcry_cipher_setiv", e);
    }
    e = gcry_cipher_encrypt(c->handle, out, len, in, len);
    return e ? failed(errp, "gcry_cipher_encrypt", e) : 0;
}

const QCryptoChaChaOps qcrypto_gcrypt_chacha20 = {
    .ctx_size = sizeof(GcryptChaCha),
    .init = init,
    .fini = fini,
    .crypt = xor_stream,
};
