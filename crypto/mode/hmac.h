/*
 * The generic HMAC, the inside: PBKDF2 runs on its two prepared states
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_MODE_HMAC_H
#define QCRYPTO_MODE_HMAC_H

#include "crypto/base/rows.h"

/*
 * The states after the key's block went in are kept; a message works on a
 * copy of the inner one, its end on a copy of the outer one.  Three hash
 * contexts lie one after the other behind this head.
 */
typedef struct QCryptoGenericHmac {
    QCryptoRow hash; /* the hash's row, as its ops want to see it */
    const QCryptoHashOps *ops;
    size_t stride; /* bytes from one context to the next */
    size_t digest_len;
    bool started[3];
    uint8_t states[] __attribute__((aligned(16)));
} QCryptoGenericHmac;

size_t qcrypto_generic_hmac_size(const QCryptoRow *row);
int qcrypto_generic_hmac_init(void *ctx, const QCryptoRow *row,
                              const uint8_t *key, size_t nkey, GError **errp);
void qcrypto_generic_hmac_fini(void *ctx);
int qcrypto_generic_hmac_update(void *ctx, const uint8_t *data, size_t len,
                                GError **errp);
int qcrypto_generic_hmac_final(void *ctx, uint8_t *mac, GError **errp);

#endif
