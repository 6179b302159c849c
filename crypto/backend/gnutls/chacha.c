/*
 * GnuTLS: ChaCha20, with keys of 256 bits alone
 *
 * Of its two ciphers, the one with a 64-bit counter takes counter and nonce
 * together as an IV of 16 bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "crypto/backend/chacha-parts.h"
#include "crypto/backend/gnutls/gnutls.h"
#include "crypto/base/bytes.h"
#include "crypto/base/error.h"

typedef struct GnutlsChaCha {
    gnutls_cipher_hd_t handle;
} GnutlsChaCha;

static void fini(void *ctx)
{
    GnutlsChaCha *c = ctx;

    gnutls_cipher_deinit(c->handle);
}

static int init(void *ctx, const QCryptoRow *row G_GNUC_UNUSED,
                const uint8_t *key, size_t nkey, GError **errp)
{
    static uint8_t iv[16]; /* it wants one; replaced before use */
    GnutlsChaCha *c = ctx;
    const gnutls_datum_t k = {(unsigned char *)key, (unsigned)nkey};
    const gnutls_datum_t v = {iv, sizeof(iv)};

    if (nkey != 32) {
        return qcrypto_error_unsupported(errp,
                                         "chacha20 with a key of 128 bits",
                                         "GnuTLS has keys of 256 bits alone");
    }
    const int code =
        gnutls_cipher_init(&c->handle, GNUTLS_CIPHER_CHACHA20_64, &k, &v);
    return code < 0
               ? qcrypto_error_library(errp, "GnuTLS", "gnutls_cipher_init",
                                       gnutls_strerror(code))
               : 0;
}

static int xor_part(const void *ctx, const uint32_t state[16],
                    const uint8_t *in, uint8_t *out, size_t len, GError **errp)
{
    const GnutlsChaCha *c = ctx;
    uint8_t iv[16];

    qcrypto_put_le32s(iv, state + 12, 4);
    gnutls_cipher_set_iv(c->handle, iv, sizeof(iv));
    const int code = gnutls_cipher_encrypt2(c->handle, in, len, out, len);
    return code < 0
               ? qcrypto_error_library(errp, "GnuTLS", "gnutls_cipher_encrypt2",
                                       gnutls_strerror(code))
               : 0;
}

static int xor_stream(const void *ctx, const uint32_t state[16],
                      const uint8_t *in, uint8_t *out, size_t len,
                      GError **errp)
{
    return qcrypto_chacha_parts(xor_part, ctx, state, in, out, len, errp);
}

const QCryptoChaChaOps qcrypto_gnutls_chacha20 = {
    .ctx_size = sizeof(GnutlsChaCha),
    .init = init,
    .fini = fini,
    .crypt = xor_stream,
};
