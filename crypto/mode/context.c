/*
 * The context of the generic modes
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/mode/context.h"

#include "crypto/base/error.h"

static size_t key_ctx_size(const QCryptoBlockDesc *desc)
{
    return (desc->ctx_size(desc) + 15) & ~(size_t)15;
}

static size_t row_keys(const QCryptoRow *row)
{
    return row->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1;
}

size_t qcrypto_mode_ctx_size(const QCryptoRow *row)
{
    return sizeof(QCryptoModeCtx) + row_keys(row) * key_ctx_size(row->arg);
}

void qcrypto_mode_fini(void *opaque)
{
    QCryptoModeCtx *c = opaque;
    size_t i;

    for (i = 0; c->desc->fini && i < c->nkeys; i++) {
        c->desc->fini(c->keys + i * c->key_size);
    }
    c->nkeys = 0;
}

int qcrypto_mode_init(void *opaque, const QCryptoRow *row, const uint8_t *key,
                      size_t nkey, GError **errp)
{
    QCryptoModeCtx *c = opaque;
    size_t n = row_keys(row);

    c->desc = row->arg;
    c->key_size = (uint32_t)key_ctx_size(c->desc);
    for (c->nkeys = 0; c->nkeys < n; c->nkeys++) {
        if (c->desc->init(c->keys + c->nkeys * c->key_size, c->desc,
                          key + c->nkeys * (nkey / n), nkey / n, errp) < 0) {
            /* the front end calls fini only after a success */
            qcrypto_mode_fini(c);
            return -1;
        }
    }
    return 0;
}

int qcrypto_mode_xts_init(void *opaque, const QCryptoRow *row,
                          const uint8_t *key, size_t nkey, GError **errp)
{
    const QCryptoBlockDesc *desc = row->arg;

    if (desc->block_len != 16) {
        const QCryptoAlg *alg = qcrypto_alg(row->kind, row->alg);

        return qcrypto_error_unsupported(
            errp, alg ? alg->name : "this cipher",
            "xts mode needs blocks of 16 bytes, not %zu", desc->block_len);
    }
    return qcrypto_mode_init(opaque, row, key, nkey, errp);
}

int qcrypto_mode_begin_keys(QCryptoModeRun *run, GError **errp)
{
    const QCryptoModeCtx *c = run->ctx;
    size_t i;

    run->key[0] = run->key[1] = NULL;
    for (i = 0; i < c->nkeys; i++) {
        run->key[i] = c->desc->begin(qcrypto_mode_key(c, i), errp);
        if (!run->key[i]) {
            qcrypto_mode_end_keys(run, NULL);
            return -1;
        }
    }
    return 0;
}

int qcrypto_mode_end_keys(QCryptoModeRun *run, GError **errp)
{
    const QCryptoModeCtx *c = run->ctx;
    int ret = 0;
    size_t i;

    for (i = 0; i < c->nkeys; i++) {
        /* one error at most goes out: the first */
        if (run->key[i] &&
            c->desc->end(qcrypto_mode_key(c, i), (void *)run->key[i],
                         ret ? NULL : errp) < 0) {
            ret = -1;
        }
    }
    return ret;
}
