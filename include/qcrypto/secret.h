/*
 * Secrets: passphrases and keys, from where people keep them
 *
 * The bytes lie in memory of their own that is locked (mlock) where the
 * limits allow it, kept out of core dumps (MADV_DONTDUMP) and wiped before it
 * is freed.  Nothing here prints a secret, and no error text contains one.
 *
 * Lengths are bytes, zero bytes and line ends included: a file is taken
 * exactly as it is.  Threads: a secret does not change after _new; any
 * thread may read it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_SECRET_H
#define QCRYPTO_SECRET_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

typedef struct QCryptoSecret QCryptoSecret;

/* The longest secret; a larger file is an error, not cut. */
#define QCRYPTO_SECRET_MAX ((size_t)8 << 20)

QCRYPTO_API QCryptoSecret *qcrypto_secret_new_from_bytes(const void *bytes,
                                                         size_t len,
                                                         GError **errp);
/* Base64 with or without line ends; any other character is an error. */
QCRYPTO_API QCryptoSecret *qcrypto_secret_new_from_base64(const char *base64,
                                                          GError **errp);
/*
 * len bytes of the file from offset on; len 0: to its end.  A file that ends
 * before offset + len is an error.
 */
QCRYPTO_API QCryptoSecret *qcrypto_secret_new_from_file(const char *path,
                                                        uint64_t offset,
                                                        size_t len,
                                                        GError **errp);
/* Reads the descriptor to its end (len 0) or len bytes; does not close it. */
QCRYPTO_API QCryptoSecret *qcrypto_secret_new_from_fd(int fd, size_t len,
                                                      GError **errp);
/*
 * A key of the kernel's keyrings, by its serial number or as "TYPE:DESC"
 * ("user:disk1", searched in the process's keyrings).
 * QCRYPTO_ERROR_UNSUPPORTED where the kernel or its policy has none.
 */
QCRYPTO_API QCryptoSecret *qcrypto_secret_new_from_keyring(const char *key,
                                                           GError **errp);

/* The bytes and, if len is not NULL, how many; live as long as the secret. */
QCRYPTO_API const uint8_t *qcrypto_secret_get(const QCryptoSecret *secret,
                                              size_t *len);

/* False where the memory could not be locked (RLIMIT_MEMLOCK). */
QCRYPTO_API bool qcrypto_secret_is_locked(const QCryptoSecret *secret);

/* Wipes and frees; NULL is allowed. */
QCRYPTO_API void qcrypto_secret_free(QCryptoSecret *secret);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoSecret, qcrypto_secret_free)

G_END_DECLS

#endif
