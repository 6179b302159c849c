/*
 * libgcrypt: hashes
 *
 * A context holds a handle, which lives in libgcrypt's own memory and is
 * wiped there when it is closed.  Messages that come whole need none.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gcrypt.h>
#include <string.h>

#include "crypto/backend/gcrypt/gcrypt.h"
#include "crypto/base/error.h"
#include "crypto/mode/mode.h"

#define LIBRARY "libgcrypt"

typedef struct GcryptHash {
    gcry_md_hd_t md;
    int algo;
    unsigned digest_len;
} GcryptHash;

static int library_error(GError **errp, const char *call, gcry_error_t e)
{
    return qcrypto_error_library(errp, LIBRARY, call, gcry_strerror(e));
}

int qcrypto_gcrypt_probe_hash(const QCryptoRow *row, GError **errp)
{
    const QCryptoHashDesc *desc = row->arg;
    const bool generic = row->ops == &qcrypto_mode_pbkdf2;
    const int *algo = generic ? desc->arg : row->arg;
    const gcry_error_t e = gcry_md_test_algo(*algo);

    return e ? qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED, LIBRARY ": %s",
                             gcry_strerror(e))
             : 0;
}

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GcryptHash);
}

static int init(void *ctx, const QCryptoRow *row, GError **errp)
{
    GcryptHash *h = ctx;

    if (h->md) {
        gcry_md_reset(h->md);
        return 0;
    }
    h->algo = *(const int *)row->arg;
    h->digest_len = gcry_md_get_algo_dlen(h->algo);
    const gcry_error_t e = gcry_md_open(&h->md, h->algo, 0);
    return e ? library_error(errp, "gcry_md_open", e) : 0;
}

static void fini(void *ctx)
{
    GcryptHash *h = ctx;

    gcry_md_close(h->md);
}

static int update(void *ctx, const uint8_t *data, size_t len,
                  GError **errp G_GNUC_UNUSED)
{
    GcryptHash *h = ctx;

    gcry_md_write(h->md, data, len);
    return 0;
}

static int final(void *ctx, uint8_t *digest, GError **errp)
{
    GcryptHash *h = ctx;
    const uint8_t *result = gcry_md_read(h->md, h->algo);

    if (!result) {
        return qcrypto_error_library(errp, LIBRARY, "gcry_md_read", "no digest");
    }
    memcpy(digest, result, h->digest_len);
    return 0;
}

static int copy(void *dst, const void *src, GError **errp)
{
    const GcryptHash *from = src;
    GcryptHash *to = dst;
    gcry_md_hd_t md;
    const gcry_error_t e = gcry_md_copy(&md, from->md);

    if (e) {
        return library_error(errp, "gcry_md_copy", e);
    }
    gcry_md_close(to->md);
    *to = *from;
    to->md = md;
    return 0;
}

static int whole(const QCryptoRow *row, const uint8_t *data, size_t len,
                 uint8_t *digest, GError **errp)
{
    const gcry_buffer_t buffer = {.data = (void *)(uintptr_t)data, .len = len};
    const gcry_error_t e =
        gcry_md_hash_buffers(*(const int *)row->arg, 0, digest, &buffer, 1);

    return e ? library_error(errp, "gcry_md_hash_buffers", e) : 0;
}

const QCryptoHashOps qcrypto_gcrypt_hash = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .update = update,
    .final = final,
    .copy = copy,
    .digest = whole,
};
