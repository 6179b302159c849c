/*
 * Random numbers straight from a provider's generator
 *
 * They serve to be measured and to be mixed in; what programs get their keys
 * from is crypto/rng, which no selection replaces.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/random.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/select.h"

int qcrypto_random_bytes_from(const char *provider, void *buf, size_t buflen,
                              GError **errp)
{
    if (!buf && buflen) {
        return qcrypto_error_null(errp, "buf");
    }
    QCryptoCandidate *c =
        qcrypto_select_named(provider, QCRYPTO_KIND_RNG, 0, -1, errp);
    if (!c) {
        return -1;
    }
    const QCryptoRngOps *ops = c->row->ops;
    void *ctx = qcrypto_alloc(ops->ctx_size);
    int ret = -1;

    if (!ctx) {
        return qcrypto_error_memory(errp, "a generator",
                                    ops->ctx_size / 1024 + 1, 0);
    }
    if (ops->init(ctx, c->row, errp) == 0) {
        ret = ops->bytes(ctx, buf, buflen, errp);
        ops->fini(ctx);
    }
    if (ret < 0 && buflen) {
        /* nobody is to take half of it for the whole */
        qcrypto_wipe(buf, buflen);
    }
    qcrypto_wipe_free(ctx, ops->ctx_size);
    return ret;
}
