/*
 * libgcrypt: Argon2
 *
 * libgcrypt computes the lanes of a slice as jobs and leaves the threads to
 * its caller: jobs are collected, and when it waits for them, as many
 * threads as there are processors work through the list, the caller among
 * them.  A thread that cannot be had is done without.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gcrypt.h>

#include "crypto/backend/gcrypt/gcrypt.h"
#include "crypto/backend/lanes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"

#define LIBRARY     "libgcrypt"
#define MAX_THREADS 64

typedef struct GcryptJob {
    gcry_kdf_job_fn_t func;
    void *arg;
} GcryptJob;

typedef struct GcryptJobs {
    GcryptJob *job;
    size_t room;      /* the lanes */
    size_t n;         /* collected */
    size_t next;      /* atomic: the first that nobody has taken */
    unsigned threads; /* the caller's included */
} GcryptJobs;

static int dispatch(void *opaque, gcry_kdf_job_fn_t func, void *arg)
{
    GcryptJobs *jobs = opaque;

    if (jobs->n == jobs->room) {
        return -1;
    }
    jobs->job[jobs->n++] = (GcryptJob){func, arg};
    return 0;
}

static gpointer work(gpointer opaque)
{
    GcryptJobs *jobs = opaque;
    size_t i;

    while ((i = __atomic_fetch_add(&jobs->next, 1, __ATOMIC_RELAXED)) <
           jobs->n) {
        jobs->job[i].func(jobs->job[i].arg);
    }
    return NULL;
}

static int wait_all(void *opaque)
{
    GcryptJobs *jobs = opaque;
    GThread *thread[MAX_THREADS];
    unsigned n = 0;

    jobs->next = 0;
    while (n + 1 < jobs->threads && n + 1 < jobs->n &&
           (thread[n] = g_thread_try_new("argon2", work, jobs, NULL))) {
        n++;
    }
    work(jobs);
    while (n) {
        g_thread_join(thread[--n]);
    }
    jobs->n = 0;
    return 0;
}

static int failed(GError **errp, const char *call, gcry_error_t e,
                  uint32_t memory_kib)
{
    return gcry_err_code(e) == GPG_ERR_ENOMEM
               ? qcrypto_error_memory(errp, LIBRARY, memory_kib, 0)
               : qcrypto_error_library(errp, LIBRARY, call, gcry_strerror(e));
}

static int argon2_derive_keyed(const QCryptoRow *row, const uint8_t *key,
                               size_t nkey, const uint8_t *salt, size_t nsalt,
                               const QCryptoArgon2Extra *extra, uint32_t time,
                               uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                               size_t nout, GError **errp)
{
    const unsigned long param[] = {(unsigned long)nout, time, memory_kib,
                                   lanes};
    GcryptJobs jobs = {
        .room = lanes,
        .threads = MIN(qcrypto_lanes_threads(memory_kib, lanes), MAX_THREADS),
    };
    const gcry_kdf_thread_ops_t ops = {&jobs, dispatch, wait_all};
    gcry_kdf_hd_t handle;
    gcry_error_t e;

    if (!nkey) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             LIBRARY " takes no empty passphrase");
    }
    e = gcry_kdf_open(&handle, GCRY_KDF_ARGON2, GPOINTER_TO_INT(row->arg),
                      param, G_N_ELEMENTS(param), key, nkey, salt, nsalt,
                      extra->secret, extra->nsecret, extra->ad, extra->nad);
    if (e) {
        return failed(errp, "gcry_kdf_open", e, memory_kib);
    }
    /* at most 2^24 lanes of 16 bytes: no wrap */
    jobs.job = qcrypto_alloc(lanes * sizeof(*jobs.job));
    if (!jobs.job) {
        gcry_kdf_close(handle);
        return qcrypto_error_memory(errp, LIBRARY, memory_kib, 0);
    }
    e = gcry_kdf_compute(handle, jobs.threads > 1 ? &ops : NULL);
    if (!e) {
        e = gcry_kdf_final(handle, nout, out);
    }
    gcry_kdf_close(handle);
    qcrypto_wipe_free(jobs.job, lanes * sizeof(*jobs.job));
    return e ? failed(errp, "gcry_kdf_compute", e, memory_kib) : 0;
}

static int argon2_derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                         const uint8_t *salt, size_t nsalt, uint32_t time,
                         uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                         size_t nout, GError **errp)
{
    static const uint8_t nothing[1];
    const QCryptoArgon2Extra none = {nothing, 0, nothing, 0};

    return argon2_derive_keyed(row, key, nkey, salt, nsalt, &none, time,
                               memory_kib, lanes, out, nout, errp);
}

const QCryptoArgon2Ops qcrypto_gcrypt_argon2 = {
    .derive = argon2_derive,
    .derive_keyed = argon2_derive_keyed,
};
