/*
 * libgcrypt: HMAC
 *
 * A keyed handle goes back to the state after its key by a copy within
 * itself; the generic HMAC would have to make new handles.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gcrypt.h>
#include <string.h>

#include "crypto/backend/gcrypt/gcrypt.h"
#include "crypto/base/error.h"

#define LIBRARY "libgcrypt"

typedef struct GcryptHmac {
    gcry_md_hd_t md;
    int algo;
    unsigned digest_len;
} GcryptHmac;

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GcryptHmac);
}

static int init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp)
{
    GcryptHmac *h = ctx;
    gcry_error_t e;

    h->algo = *(const int *)row->arg;
    h->digest_len = gcry_md_get_algo_dlen(h->algo);
    e = gcry_md_open(&h->md, h->algo, GCRY_MD_FLAG_HMAC);
    if (e) {
        return qcrypto_error_library(errp, LIBRARY, "gcry_md_open",
                                     gcry_strerror(e));
    }
    e = gcry_md_setkey(h->md, key, nkey);
    if (e) {
        gcry_md_close(h->md);
        /* FIPS mode wants keys of 14 bytes */
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             LIBRARY " takes no key of %zu bytes: %s", nkey,
                             gcry_strerror(e));
    }
    return 0;
}

static void fini(void *ctx)
{
    GcryptHmac *h = ctx;

    gcry_md_close(h->md);
}

static int update(void *ctx, const uint8_t *data, size_t len,
                  GError **errp G_GNUC_UNUSED)
{
    GcryptHmac *h = ctx;

    gcry_md_write(h->md, data, len);
    return 0;
}

static int final(void *ctx, uint8_t *mac, GError **errp)
{
    GcryptHmac *h = ctx;
    const uint8_t *result = gcry_md_read(h->md, h->algo);

    if (!result) {
        return qcrypto_error_library(errp, LIBRARY, "gcry_md_read", "no MAC");
    }
    memcpy(mac, result, h->digest_len);
    gcry_md_reset(h->md);
    return 0;
}

const QCryptoHmacOps qcrypto_gcrypt_hmac = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .update = update,
    .final = final,
};
