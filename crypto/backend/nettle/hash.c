/*
 * nettle: hashes
 *
 * nettle describes its hashes as data (struct nettle_hash).  A context is
 * that description and nettle's own context, plain memory: it may be copied,
 * and the generic HMAC and PBKDF2 over it are as fast as nettle's own, which
 * do the same.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <nettle/nettle-meta.h>

#include "crypto/backend/nettle/nettle.h"

typedef struct NettleHash {
    const struct nettle_hash *meta;
    _Alignas(16) uint8_t state[];
} NettleHash;

static size_t ctx_size(const QCryptoRow *row)
{
    const struct nettle_hash *meta = row->arg;

    return sizeof(NettleHash) + meta->context_size;
}

static int init(void *ctx, const QCryptoRow *row, GError **errp G_GNUC_UNUSED)
{
    NettleHash *h = ctx;

    h->meta = row->arg;
    h->meta->init(h->state);
    return 0;
}

static int update(void *ctx, const uint8_t *data, size_t len,
                  GError **errp G_GNUC_UNUSED)
{
    NettleHash *h = ctx;

    h->meta->update(h->state, len, data);
    return 0;
}

static int final(void *ctx, uint8_t *digest, GError **errp G_GNUC_UNUSED)
{
    NettleHash *h = ctx;

    h->meta->digest(h->state, h->meta->digest_size, digest);
    return 0;
}

const QCryptoHashOps qcrypto_nettle_hash = {
    .ctx_size = ctx_size,
    .init = init,
    .update = update,
    .final = final,
};
