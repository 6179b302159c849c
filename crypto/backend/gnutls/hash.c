/*
 * GnuTLS: hashes
 *
 * A context holds a handle, which lives in GnuTLS's own memory.  Messages
 * that come whole need none.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "crypto/backend/gnutls/gnutls.h"
#include "crypto/base/error.h"

#define LIBRARY "GnuTLS"

typedef struct GnutlsHash {
    gnutls_hash_hd_t handle;
} GnutlsHash;

static int library_error(GError **errp, const char *call, int code)
{
    return qcrypto_error_library(errp, LIBRARY, call, gnutls_strerror(code));
}

static gnutls_digest_algorithm_t algorithm(const QCryptoRow *row)
{
    return *(const gnutls_digest_algorithm_t *)row->arg;
}

int qcrypto_gnutls_probe_hash(const QCryptoRow *row, GError **errp)
{
    gnutls_hash_hd_t handle;
    const int code = gnutls_hash_init(&handle, algorithm(row));

    if (code < 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED, LIBRARY ": %s",
                             gnutls_strerror(code));
    }
    gnutls_hash_deinit(handle, NULL);
    return 0;
}

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GnutlsHash);
}

static void fini(void *ctx)
{
    GnutlsHash *h = ctx;

    if (h->handle) {
        gnutls_hash_deinit(h->handle, NULL);
        h->handle = NULL;
    }
}

static int init(void *ctx, const QCryptoRow *row, GError **errp)
{
    GnutlsHash *h = ctx;

    /* no call goes back to the start in the middle of a message */
    fini(h);
    const int code = gnutls_hash_init(&h->handle, algorithm(row));
    if (code < 0) {
        h->handle = NULL;
        return library_error(errp, "gnutls_hash_init", code);
    }
    return 0;
}

static int update(void *ctx, const uint8_t *data, size_t len, GError **errp)
{
    GnutlsHash *h = ctx;
    const int code = gnutls_hash(h->handle, data, len);

    return code < 0 ? library_error(errp, "gnutls_hash", code) : 0;
}

static int final(void *ctx, uint8_t *digest, GError **errp G_GNUC_UNUSED)
{
    GnutlsHash *h = ctx;

    gnutls_hash_output(h->handle, digest);
    return 0;
}

static int copy(void *dst, const void *src, GError **errp)
{
    const GnutlsHash *from = src;
    GnutlsHash *to = dst;

    fini(to);
    to->handle = gnutls_hash_copy(from->handle);
    return to->handle ? 0
                      : library_error(errp, "gnutls_hash_copy",
                                      GNUTLS_E_MEMORY_ERROR);
}

static int whole(const QCryptoRow *row, const uint8_t *data, size_t len,
                 uint8_t *digest, GError **errp)
{
    const int code = gnutls_hash_fast(algorithm(row), data, len, digest);

    return code < 0 ? library_error(errp, "gnutls_hash_fast", code) : 0;
}

const QCryptoHashOps qcrypto_gnutls_hash = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .update = update,
    .final = final,
    .copy = copy,
    .digest = whole,
};
