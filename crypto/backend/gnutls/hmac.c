/*
 * GnuTLS: HMAC
 *
 * GnuTLS has HMAC for the older hashes only; over SHA-3 runs the generic one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "crypto/backend/gnutls/gnutls.h"
#include "crypto/base/error.h"

typedef struct GnutlsHmac {
    gnutls_hmac_hd_t handle;
} GnutlsHmac;

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GnutlsHmac);
}

static int init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp)
{
    GnutlsHmac *h = ctx;
    const int code = gnutls_hmac_init(
        &h->handle, *(const gnutls_mac_algorithm_t *)row->arg, key, nkey);

    if (code == GNUTLS_E_MEMORY_ERROR) {
        return qcrypto_error_memory(errp, "GnuTLS's HMAC", 1, 0);
    }
    /* FIPS mode wants keys of 14 bytes */
    return code < 0 ? qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                                    "GnuTLS takes no key of %zu bytes: %s",
                                    nkey, gnutls_strerror(code))
                    : 0;
}

static void fini(void *ctx)
{
    GnutlsHmac *h = ctx;

    gnutls_hmac_deinit(h->handle, NULL);
}

static int update(void *ctx, const uint8_t *data, size_t len, GError **errp)
{
    GnutlsHmac *h = ctx;
    const int code = gnutls_hmac(h->handle, data, len);

    return code < 0 ? qcrypto_error_library(errp, "GnuTLS", "gnutls_hmac",
                                            gnutls_strerror(code))
                    : 0;
}

/* The call goes back to the state after the key by itself. */
static int final(void *ctx, uint8_t *mac, GError **errp G_GNUC_UNUSED)
{
    GnutlsHmac *h = ctx;

    gnutls_hmac_output(h->handle, mac);
    return 0;
}

const QCryptoHmacOps qcrypto_gnutls_hmac = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .update = update,
    .final = final,
};
