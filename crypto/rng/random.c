/*
 * A generator for each thread
 *
 * The thread's pointer is what every small request begins with, so it has a
 * place at a fixed distance from the thread's own (initial-exec), which glibc
 * has room for even in libraries that are loaded later.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/random.h>

#include <pthread.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/rng/rng.h"

#ifdef __GLIBC__
#define MODEL __attribute__((tls_model("initial-exec")))
#else
#define MODEL
#endif

static __thread QCryptoRng *mine MODEL;

static pthread_key_t at_exit;
static int key_error; /* errno */

/* A later destructor that wants random bytes gets another generator. */
static void end_of_thread(void *opaque)
{
    QCryptoRng *r = opaque;

    mine = NULL;
    r->of_thread = false;
    qcrypto_rng_free(r);
}

static void make_key(void)
{
    key_error = pthread_key_create(&at_exit, end_of_thread);
}

static __attribute__((noinline)) QCryptoRng *make_mine(GError **errp)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    QCryptoRng *r = qcrypto_rng_new(0, errp);

    if (!r) {
        return NULL;
    }
    pthread_once(&once, make_key);
    const int error = key_error ? key_error : pthread_setspecific(at_exit, r);
    if (error) {
        qcrypto_rng_free(r);
        qcrypto_error(errp, QCRYPTO_ERROR_OUT_OF_MEMORY,
                      "no generator for this thread: %s", g_strerror(error));
        return NULL;
    }
    r->of_thread = true;
    mine = r;
    return r;
}

QCryptoRng *qcrypto_random_get_rng(GError **errp)
{
    return mine ? mine : make_mine(errp);
}

int qcrypto_random_init(GError **errp)
{
    return qcrypto_random_get_rng(errp) ? 0 : -1;
}

int qcrypto_random_bytes(void *buf, size_t buflen, GError **errp)
{
    QCryptoRng *r = mine;

    if (G_UNLIKELY(!r)) {
        r = make_mine(errp);
        if (!r) {
            if (buf) {
                qcrypto_wipe(buf, buflen);
            }
            return -1;
        }
    }
    return qcrypto_rng_fast(r, buf, buflen, errp);
}
