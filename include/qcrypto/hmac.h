/*
 * HMAC over every hash (RFC 2104, FIPS 198-1)
 *
 * A key has any length, 0 included; one longer than the hash's block is
 * hashed first.  An object keeps its key: each _bytes, _digest call is one
 * message from its start.  Results come as in hash.h.
 *
 * Lengths are bytes.  Threads: one object is used by one thread at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_HMAC_H
#define QCRYPTO_HMAC_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>
#include <sys/uio.h>

G_BEGIN_DECLS

typedef struct QCryptoHmac QCryptoHmac;

/* True when _new() works. */
QCRYPTO_API bool qcrypto_hmac_supports(QCryptoHashAlgo alg);

QCRYPTO_API QCryptoHmac *qcrypto_hmac_new(QCryptoHashAlgo alg,
                                          const uint8_t *key, size_t nkey,
                                          GError **errp);
/* from one provider, or one implementation: "nettle" */
QCRYPTO_API QCryptoHmac *qcrypto_hmac_new_from(const char *provider,
                                               QCryptoHashAlgo alg,
                                               const uint8_t *key, size_t nkey,
                                               GError **errp);
QCRYPTO_API const char *qcrypto_hmac_get_provider(const QCryptoHmac *hmac);
QCRYPTO_API const char *qcrypto_hmac_get_impl(const QCryptoHmac *hmac);
QCRYPTO_API int qcrypto_hmac_bytesv(QCryptoHmac *hmac, const struct iovec *iov,
                                    size_t niov, uint8_t **result,
                                    size_t *resultlen, GError **errp);
QCRYPTO_API int qcrypto_hmac_bytes(QCryptoHmac *hmac, const void *buf, size_t len,
                                   uint8_t **result, size_t *resultlen,
                                   GError **errp);
QCRYPTO_API int qcrypto_hmac_digestv(QCryptoHmac *hmac, const struct iovec *iov,
                                     size_t niov, char **digest, GError **errp);
QCRYPTO_API int qcrypto_hmac_digest(QCryptoHmac *hmac, const void *buf, size_t len,
                                    char **digest, GError **errp);
/* Wipes the object and frees it; NULL is allowed. */
QCRYPTO_API void qcrypto_hmac_free(QCryptoHmac *hmac);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoHmac, qcrypto_hmac_free)

G_END_DECLS

#endif
