/*
 * GLib: hashes
 *
 * GChecksum in plain C, always there: MD5 for builds without any library, and
 * the others for comparison.  GLib does not wipe what it frees.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/glib/glib.h"

#include "crypto/base/error.h"

typedef struct GlibHash {
    GChecksum *sum;
    gsize digest_len;
} GlibHash;

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GlibHash);
}

static int init(void *ctx, const QCryptoRow *row, GError **errp)
{
    const GChecksumType type = *(const GChecksumType *)row->arg;
    GlibHash *h = ctx;

    if (h->sum) {
        g_checksum_reset(h->sum);
        return 0;
    }
    h->digest_len = (gsize)g_checksum_type_get_length(type);
    h->sum = g_checksum_new(type);
    return h->sum ? 0
                  : qcrypto_error_library(errp, "GLib", "g_checksum_new",
                                          "unknown type");
}

static void fini(void *ctx)
{
    GlibHash *h = ctx;

    g_checksum_free(h->sum);
}

static int update(void *ctx, const uint8_t *data, size_t len,
                  GError **errp G_GNUC_UNUSED)
{
    GlibHash *h = ctx;

    /* no object in memory is longer than G_MAXSSIZE */
    g_checksum_update(h->sum, data, (gssize)len);
    return 0;
}

static int final(void *ctx, uint8_t *digest, GError **errp G_GNUC_UNUSED)
{
    GlibHash *h = ctx;
    gsize n = h->digest_len;

    g_checksum_get_digest(h->sum, digest, &n);
    return 0;
}

static int copy(void *dst, const void *src, GError **errp G_GNUC_UNUSED)
{
    const GlibHash *from = src;
    GlibHash *to = dst;

    if (to->sum) {
        g_checksum_free(to->sum);
    }
    *to = *from;
    to->sum = g_checksum_copy(from->sum);
    return 0;
}

const QCryptoHashOps qcrypto_glib_hash = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .update = update,
    .final = final,
    .copy = copy,
};
