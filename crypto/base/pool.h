/*
 * A pool of library handles
 *
 * Some libraries keep the IV inside the cipher handle, so a handle serves one
 * thread at a time; the contract wants one object to serve many.  A pool
 * keeps a few ready handles; a caller takes one, or makes one when all are
 * out, and puts it back.  Without contention that is two atomic operations.
 *
 * The pool knows nothing of handles but how to make and to close them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_POOL_H
#define QCRYPTO_BASE_POOL_H

#include <glib.h>

#define QCRYPTO_POOL_SLOTS 8

typedef struct QCryptoPool QCryptoPool;
struct QCryptoPool {
    void *slots[QCRYPTO_POOL_SLOTS];
    /* makes a handle from what owner keeps (key, algorithm) */
    void *(*open)(const void *owner, GError **errp);
    void (*close)(void *handle);
};

/* A handle, or NULL with the error of open. */
void *qcrypto_pool_take(QCryptoPool *pool, const void *owner, GError **errp);
void qcrypto_pool_put(QCryptoPool *pool, void *handle);
/* Closes what lies in the pool; no handle may be out. */
void qcrypto_pool_close(QCryptoPool *pool);

#endif
