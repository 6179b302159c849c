/*
 * Hashes: one-shot, scatter-gather and incremental
 *
 *     uint8_t *digest = NULL;
 *     size_t len = 0;
 *     qcrypto_hash_bytes(QCRYPTO_HASH_ALGO_SHA256, buf, n, &digest, &len, &err);
 *
 * Results come three ways:
 *
 *   _bytes   raw; *result and *resultlen are in and out: with *resultlen 0 a
 *            buffer is allocated (free with g_free) and both are set;
 *            otherwise *result is the caller's buffer and *resultlen must be
 *            exactly the digest length
 *   _digest  lower-case hexadecimal, allocated (g_free)
 *   _base64  base64 with padding, allocated (g_free)
 *
 * On failure nothing is allocated and the caller's buffer is untouched.
 *
 * Lengths are bytes; any size_t is right, above 4 GiB too.  Threads: one
 * object is used by one thread at a time; the one-shot calls by any.
 *
 * Sources: RFC 1321 (MD5), FIPS 180-4 (SHA-1, SHA-2), FIPS 202 (SHA-3),
 * RFC 7693 (BLAKE2), ISO/IEC 10118-3 (RIPEMD-160, Whirlpool), GB/T
 * 32905-2016 (SM3).  MD5 and SHA-1 are here for data that has them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_HASH_H
#define QCRYPTO_HASH_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>
#include <sys/uio.h>

G_BEGIN_DECLS

typedef struct QCryptoHash QCryptoHash;

/* "sha256", ...; NULL for a number that is no algorithm.  Look-up: -1. */
QCRYPTO_API const char *qcrypto_hash_algo_name(QCryptoHashAlgo alg);
QCRYPTO_API int qcrypto_hash_algo_from_name(const char *name);

/* True when _new() works. */
QCRYPTO_API bool qcrypto_hash_supports(QCryptoHashAlgo alg);

/* 0 for a number that is no algorithm */
QCRYPTO_API size_t qcrypto_hash_digest_len(QCryptoHashAlgo alg);
/* bytes of a block of the compression function: HMAC's block */
QCRYPTO_API size_t qcrypto_hash_block_len(QCryptoHashAlgo alg);

QCRYPTO_API int qcrypto_hash_bytesv(QCryptoHashAlgo alg, const struct iovec *iov,
                                    size_t niov, uint8_t **result,
                                    size_t *resultlen, GError **errp);
QCRYPTO_API int qcrypto_hash_bytes(QCryptoHashAlgo alg, const void *buf,
                                   size_t len, uint8_t **result,
                                   size_t *resultlen, GError **errp);
QCRYPTO_API int qcrypto_hash_digestv(QCryptoHashAlgo alg, const struct iovec *iov,
                                     size_t niov, char **digest, GError **errp);
QCRYPTO_API int qcrypto_hash_digest(QCryptoHashAlgo alg, const void *buf,
                                    size_t len, char **digest, GError **errp);
QCRYPTO_API int qcrypto_hash_base64v(QCryptoHashAlgo alg, const struct iovec *iov,
                                     size_t niov, char **base64, GError **errp);
QCRYPTO_API int qcrypto_hash_base64(QCryptoHashAlgo alg, const void *buf,
                                    size_t len, char **base64, GError **errp);

/*
 * Incremental.  A finalize ends the message; a further update or finalize is
 * an error.
 */
QCRYPTO_API QCryptoHash *qcrypto_hash_new(QCryptoHashAlgo alg, GError **errp);
/* from one provider, or one implementation: "nettle", "builtin:sha-ni" */
QCRYPTO_API QCryptoHash *qcrypto_hash_new_from(const char *provider,
                                               QCryptoHashAlgo alg,
                                               GError **errp);
QCRYPTO_API const char *qcrypto_hash_get_provider(const QCryptoHash *hash);
QCRYPTO_API const char *qcrypto_hash_get_impl(const QCryptoHash *hash);
QCRYPTO_API int qcrypto_hash_update(QCryptoHash *hash, const void *buf,
                                    size_t len, GError **errp);
QCRYPTO_API int qcrypto_hash_updatev(QCryptoHash *hash, const struct iovec *iov,
                                     size_t niov, GError **errp);
QCRYPTO_API int qcrypto_hash_finalize_bytes(QCryptoHash *hash, uint8_t **result,
                                            size_t *resultlen, GError **errp);
QCRYPTO_API int qcrypto_hash_finalize_digest(QCryptoHash *hash, char **digest,
                                             GError **errp);
QCRYPTO_API int qcrypto_hash_finalize_base64(QCryptoHash *hash, char **base64,
                                             GError **errp);
/* Wipes the object and frees it; NULL is allowed. */
QCRYPTO_API void qcrypto_hash_free(QCryptoHash *hash);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoHash, qcrypto_hash_free)

G_END_DECLS

#endif
