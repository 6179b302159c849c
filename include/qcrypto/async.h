/*
 * Asynchronous requests: many in flight, completed by callbacks
 *
 *     QCryptoAsync *engine = qcrypto_async_new(NULL, &err);
 *     qcrypto_async_encrypt(engine, cipher, iv, 16, in, out, 4096,
 *                           done, opaque, &err);
 *     qcrypto_async_poll(engine, 1, -1, &err);     calls done(NULL, opaque)
 *
 * An engine takes up to `depth` requests at once.  A cipher row that is
 * asynchronous itself (the kernel's, through AF_ALG) gets its requests
 * directly, without a thread; every other request is run by the engine's
 * worker threads.  The caller sees no difference but speed.
 *
 * The contract:
 *
 *   - A submit that returns 0 leads to exactly one call of its callback, with
 *     NULL or with the error; one that returns -1 leads to none.  Wrong
 *     arguments are an error of the submit, and so is a full engine:
 *     QCRYPTO_ERROR_BUSY, poll and try again.
 *   - Requests may end in any order.  The same bytes are written as by the
 *     call without an engine; after an error those of `out` are undefined.
 *   - Until the callback a request's buffers, its cipher, IV generator or
 *     HMAC object and its `arg` belong to the engine: not written, not freed.
 *     An IV is copied.
 *   - Any number of requests may be in flight on one cipher object: they are
 *     messages of their own, which neither use nor change what setiv set.
 *     Those on one HMAC object run one after the other, in order.
 *   - Callbacks run in the thread that polls, one at a time.  They may submit
 *     and poll, but not free the engine.  The error is the engine's: copy it
 *     to keep it.
 *   - There is no cancelling: what was submitted runs to its end.
 *     qcrypto_async_free() waits for everything in flight, callbacks
 *     included.
 *   - An engine belongs to its process.  In the child of a fork, submit and
 *     poll are errors and free only gives memory back: requests in flight are
 *     the parent's, and their callbacks run there alone.
 *
 * Lengths are bytes.  Threads: any may submit, at the same time; one at a
 * time polls, and frees when nobody else is in the engine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_ASYNC_H
#define QCRYPTO_ASYNC_H

#include <qcrypto/cipher.h>
#include <qcrypto/error.h>
#include <qcrypto/hash.h>
#include <qcrypto/hmac.h>
#include <qcrypto/ivgen.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

typedef struct QCryptoAsync QCryptoAsync;

/* error: NULL when the request is done */
typedef void QCryptoAsyncDone(const GError *error, void *opaque);

#define QCRYPTO_ASYNC_DEPTH     64
#define QCRYPTO_ASYNC_DEPTH_MAX 65536

typedef struct QCryptoAsyncOptions {
    unsigned depth;   /* requests at once; 0: QCRYPTO_ASYNC_DEPTH */
    unsigned threads; /* workers at most; 0: as many as there are processors.
                         They are started when they are first needed. */
} QCryptoAsyncOptions;

/* options: NULL for the default of each */
QCRYPTO_API QCryptoAsync *qcrypto_async_new(const QCryptoAsyncOptions *options,
                                            GError **errp);

/* Waits for what is in flight, calls back, and frees; NULL is allowed. */
QCRYPTO_API void qcrypto_async_free(QCryptoAsync *async);

/*
 * Calls back what has ended, and waits until that were min requests, or all
 * there are, or timeout_ms milliseconds have gone by (0: no waiting, -1: no
 * limit).  Returns how many callbacks were called, which may be more than
 * min, or -1 and an error.
 */
QCRYPTO_API int qcrypto_async_poll(QCryptoAsync *async, unsigned min,
                                   int timeout_ms, GError **errp);

/* Requests whose callback is yet to be called. */
QCRYPTO_API unsigned qcrypto_async_pending(QCryptoAsync *async);
QCRYPTO_API unsigned qcrypto_async_depth(const QCryptoAsync *async);

/*
 * For event loops: a descriptor that is readable while there is something to
 * call back; then qcrypto_async_poll(async, 0, 0, ...).  The engine's own: not
 * to be read or closed.  -1 and an error in a child of fork.
 */
QCRYPTO_API int qcrypto_async_get_fd(QCryptoAsync *async, GError **errp);

/*
 * One message, from its IV to its end (XTS: one data unit); lengths as in
 * cipher.h.  niv is qcrypto_cipher_get_iv_len(), 0 in ECB.
 */
QCRYPTO_API int qcrypto_async_encrypt(QCryptoAsync *async,
                                      const QCryptoCipher *cipher,
                                      const uint8_t *iv, size_t niv,
                                      const void *in, void *out, size_t len,
                                      QCryptoAsyncDone *done, void *opaque,
                                      GError **errp);
QCRYPTO_API int qcrypto_async_decrypt(QCryptoAsync *async,
                                      const QCryptoCipher *cipher,
                                      const uint8_t *iv, size_t niv,
                                      const void *in, void *out, size_t len,
                                      QCryptoAsyncDone *done, void *opaque,
                                      GError **errp);

/* A run of sectors as one request: qcrypto_cipher_encrypt_sectors(). */
QCRYPTO_API int qcrypto_async_encrypt_sectors(
    QCryptoAsync *async, const QCryptoCipher *cipher, const QCryptoIVGen *ivgen,
    uint64_t iv_sector, size_t sector_size, const void *in, void *out,
    size_t nsectors, unsigned flags, QCryptoAsyncDone *done, void *opaque,
    GError **errp);
QCRYPTO_API int qcrypto_async_decrypt_sectors(
    QCryptoAsync *async, const QCryptoCipher *cipher, const QCryptoIVGen *ivgen,
    uint64_t iv_sector, size_t sector_size, const void *in, void *out,
    size_t nsectors, unsigned flags, QCryptoAsyncDone *done, void *opaque,
    GError **errp);

/*
 * The digest of a message into ndigest bytes, which must be the digest
 * length.  provider as in qcrypto_hash_new_from(), or NULL: whoever serves.
 */
QCRYPTO_API int qcrypto_async_hash(QCryptoAsync *async, const char *provider,
                                   QCryptoHashAlgo alg, const void *buf,
                                   size_t len, uint8_t *digest, size_t ndigest,
                                   QCryptoAsyncDone *done, void *opaque,
                                   GError **errp);

/* The MAC of a message into nmac bytes, which must be the digest length. */
QCRYPTO_API int qcrypto_async_hmac(QCryptoAsync *async, QCryptoHmac *hmac,
                                   const void *buf, size_t len, uint8_t *mac,
                                   size_t nmac, QCryptoAsyncDone *done,
                                   void *opaque, GError **errp);

/*
 * Anything else: run(arg, errp), 0 or -1 and an error, in a worker thread.
 * Requests of the same `object` run one after the other in order; NULL: with
 * nobody's regard.
 */
typedef int QCryptoAsyncRun(void *arg, GError **errp);
QCRYPTO_API int qcrypto_async_submit(QCryptoAsync *async, QCryptoAsyncRun *run,
                                     void *arg, const void *object,
                                     QCryptoAsyncDone *done, void *opaque,
                                     GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoAsync, qcrypto_async_free)

G_END_DECLS

#endif
