/*
 * HMAC over any hash (RFC 2104): H(K ^ opad, H(K ^ ipad, text))
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/mode/hmac.h"

#include <string.h>

#include "crypto/base/secure.h"
#include "crypto/mode/mode.h"

enum { INNER, OUTER, WORK };

/* the longest block: SHA3-224's rate is 144 bytes, SHA3-256's 136 */
#define MAX_BLOCK  144
#define MAX_DIGEST 64

static QCryptoRow hash_row(const QCryptoRow *row)
{
    const QCryptoHashDesc *desc = row->arg;

    return (QCryptoRow){.kind = QCRYPTO_KIND_HASH,
                        .alg = row->alg,
                        .mode = -1,
                        .impl = row->impl,
                        .ops = desc->ops,
                        .arg = desc->arg};
}

static size_t stride(const QCryptoHashOps *ops, const QCryptoRow *hash)
{
    return (ops->ctx_size(hash) + 15) & ~(size_t)15;
}

size_t qcrypto_generic_hmac_size(const QCryptoRow *row)
{
    const QCryptoHashDesc *desc = row->arg;
    const QCryptoRow hash = hash_row(row);

    return sizeof(QCryptoGenericHmac) + 3 * stride(desc->ops, &hash);
}

static void *state(QCryptoGenericHmac *h, int which)
{
    return h->states + (size_t)which * h->stride;
}

static int start(QCryptoGenericHmac *h, int which, GError **errp)
{
    if (h->ops->init(state(h, which), &h->hash, errp) < 0) {
        return -1;
    }
    h->started[which] = true;
    return 0;
}

static int copy(QCryptoGenericHmac *h, int from, GError **errp)
{
    if (h->ops->copy) {
        return h->ops->copy(state(h, WORK), state(h, from), errp);
    }
    memcpy(state(h, WORK), state(h, from), h->stride);
    return 0;
}

/* K ^ pad as the first block of a state */
static int absorb_pad(QCryptoGenericHmac *h, int which, const uint8_t *block,
                      size_t nblock, uint8_t pad, GError **errp)
{
    uint8_t padded[MAX_BLOCK];
    int ret = -1;

    for (size_t i = 0; i < nblock; i++) {
        padded[i] = block[i] ^ pad;
    }
    if (start(h, which, errp) == 0) {
        ret = h->ops->update(state(h, which), padded, nblock, errp);
    }
    qcrypto_wipe(padded, sizeof(padded));
    return ret;
}

int qcrypto_generic_hmac_init(void *ctx, const QCryptoRow *row,
                              const uint8_t *key, size_t nkey, GError **errp)
{
    const QCryptoAlg *alg = qcrypto_alg(QCRYPTO_KIND_HASH, row->alg);
    QCryptoGenericHmac *h = ctx;
    uint8_t block[MAX_BLOCK] = {0};
    int ret = -1;

    h->hash = hash_row(row);
    h->ops = h->hash.ops;
    h->stride = stride(h->ops, &h->hash);
    h->digest_len = alg->out_len;
    if (start(h, WORK, errp) < 0) {
        goto out;
    }
    if (nkey <= alg->block_len) {
        memcpy(block, key ? key : block, nkey);
    } else if (h->ops->update(state(h, WORK), key, nkey, errp) < 0 ||
               h->ops->final(state(h, WORK), block, errp) < 0) {
        goto out;
    }
    if (absorb_pad(h, INNER, block, alg->block_len, 0x36, errp) < 0 ||
        absorb_pad(h, OUTER, block, alg->block_len, 0x5c, errp) < 0) {
        goto out;
    }
    ret = copy(h, INNER, errp);
out:
    qcrypto_wipe(block, sizeof(block));
    if (ret < 0) {
        qcrypto_generic_hmac_fini(h);
    }
    return ret;
}

void qcrypto_generic_hmac_fini(void *ctx)
{
    QCryptoGenericHmac *h = ctx;

    for (int i = 0; i < 3 && h->ops->fini; i++) {
        if (h->started[i]) {
            h->ops->fini(state(h, i));
        }
    }
}

int qcrypto_generic_hmac_update(void *ctx, const uint8_t *data, size_t len,
                                GError **errp)
{
    QCryptoGenericHmac *h = ctx;

    return h->ops->update(state(h, WORK), data, len, errp);
}

int qcrypto_generic_hmac_final(void *ctx, uint8_t *mac, GError **errp)
{
    QCryptoGenericHmac *h = ctx;
    uint8_t inner[MAX_DIGEST];
    int ret = -1;

    if (h->ops->final(state(h, WORK), inner, errp) == 0 &&
        copy(h, OUTER, errp) == 0 &&
        h->ops->update(state(h, WORK), inner, h->digest_len, errp) == 0 &&
        h->ops->final(state(h, WORK), mac, errp) == 0) {
        ret = copy(h, INNER, errp);
    }
    qcrypto_wipe(inner, sizeof(inner));
    return ret;
}

const QCryptoHmacOps qcrypto_mode_hmac = {
    .ctx_size = qcrypto_generic_hmac_size,
    .init = qcrypto_generic_hmac_init,
    .fini = qcrypto_generic_hmac_fini,
    .update = qcrypto_generic_hmac_update,
    .final = qcrypto_generic_hmac_final,
};
