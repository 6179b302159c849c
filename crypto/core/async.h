/*
 * Requests of an engine, for those who define a kind of them
 *
 * A kind is data: how large its arguments are, what runs them and what lets
 * go of them.  The public functions of include/qcrypto/async.h check their
 * arguments, fill in a kind's and hand them to qcrypto_async_add().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_ASYNC_H
#define QCRYPTO_CORE_ASYNC_H

#include <qcrypto/async.h>

#include "crypto/base/rows.h"

#define QCRYPTO_ASYNC_ARGS 128

typedef struct QCryptoAsyncKind {
    size_t size; /* of the arguments, at most QCRYPTO_ASYNC_ARGS */
    int (*run)(void *args, GError **errp); /* in a worker thread */
    void (*fini)(void *args);              /* NULL: nothing to let go of */
} QCryptoAsyncKind;

/*
 * Copies the arguments.  object: requests of the same one run one after the
 * other, NULL: any.  On failure the arguments were let go of as well.
 */
int qcrypto_async_add(QCryptoAsync *async, const QCryptoAsyncKind *kind,
                      const void *args, const void *object,
                      QCryptoAsyncDone *done, void *opaque, GError **errp);

/*
 * The same for a cipher row that is asynchronous itself: start hands the
 * arguments, which stay where they are until the request has ended, to the
 * row's queue.  QCRYPTO_ERROR_UNSUPPORTED and _BUSY of it mean that a worker
 * is to run the request instead.
 */
typedef int QCryptoAsyncStart(const QCryptoCipherAsyncOps *ops, void *queue,
                              const void *args, void *tag, GError **errp);
int qcrypto_async_add_native(QCryptoAsync *async,
                             const QCryptoCipherAsyncOps *ops,
                             QCryptoAsyncStart *start,
                             const QCryptoAsyncKind *kind, const void *args,
                             QCryptoAsyncDone *done, void *opaque,
                             GError **errp);

/*
 * n messages of unit_size bytes, as qcrypto_cipher_units() takes them; ivs is
 * from g_malloc, n IVs, NULL in ECB, and taken over, also on failure.
 */
int qcrypto_async_units(QCryptoAsync *async, const QCryptoCipher *cipher,
                        int decrypt, uint8_t *ivs, size_t unit_size,
                        const void *in, void *out, size_t n,
                        QCryptoAsyncDone *done, void *opaque, GError **errp);

#endif
