/*
 * Random bytes
 *
 *     qcrypto_random_bytes(key, sizeof(key), &err);
 *
 * gives each thread a generator of its own, without a lock and, most of the
 * time, without a system call.  Programs that want to hold a generator in
 * their hands make a QCryptoRng.
 *
 * How it works: fast key erasure (D. J. Bernstein, 2017) over ChaCha with 8,
 * 12 or 20 rounds.  A pool is filled from a key that came from getrandom(2);
 * its first bytes become the next key before anything else of it leaves, and
 * what leaves is zeroed at once.  Who reads the memory later learns nothing
 * of what was given out.  A new seed is taken after a MiB, and at the first
 * refill after a minute.
 *
 * Rounds: 8 unless the build says otherwise (-Drng_rounds=) or the
 * environment does (QCRYPTO_RNG_ROUNDS=20).  A wrong value there is an error
 * of every call.
 *
 * Errors: 0 is success, and every byte is random.  -1 is failure, with an
 * error (QCRYPTO_ERROR_ENTROPY when the kernel gives nothing), and the buffer
 * is zeroed from end to end.  There is nothing between.  Nobody ever falls
 * back to a weaker source.
 *
 * Copies of a process (fork, clone, in whichever thread): the copy seeds
 * itself before its first byte and finds nothing of the parent's secrets.
 * Where the kernel wipes the state's page in the copy (MADV_WIPEONFORK, when
 * it has shown that it knows the advice), that costs nothing; elsewhere each
 * request asks for the process id, see QCryptoRngForkGuard.  A child that
 * shares the memory instead of copying it (vfork) goes on in the same stream.
 *
 * Copies of a machine (a snapshot started twice): call
 * qcrypto_random_reseed_all() after such a start.  Where the machine has a
 * generation id that can be read, the same happens by itself.  docs/random.md
 * tells when, and what nobody can help against.
 *
 * Threads: functions without a QCryptoRng may be called by any thread at any
 * time, but not by a signal handler.  One QCryptoRng is used by one thread at
 * a time.  At the end of a thread its generator is wiped and unmapped.
 *
 * Volume keys and salts of this library do not come from here but straight
 * from the kernel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_RANDOM_H
#define QCRYPTO_RANDOM_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

/* A generator. */
typedef struct QCryptoRng QCryptoRng;

/* What keeps a copy of the process from giving out the same bytes. */
typedef enum QCryptoRngForkGuard {
    /* the kernel hands the copy a page of zeros */
    QCRYPTO_RNG_FORK_GUARD_WIPE,
    /*
     * Each request compares the process id, and fork(3) has a handler that
     * wipes.  Not seen: a copy made around libc, clone(2), that has the same
     * id in a PID namespace of its own.
     */
    QCRYPTO_RNG_FORK_GUARD_PID,
} QCryptoRngForkGuard;

typedef struct QCryptoRngStatus {
    /* the next request is served from a seed of this very process; false
     * also when it will have to ask the kernel first */
    bool seeded;
    unsigned rounds;
    uint64_t reseeds;  /* seeds taken from the kernel, the first one included */
    uint64_t bytes;    /* given out since the last of them */
    uint64_t buffered; /* ready to be given out */
    QCryptoRngForkGuard fork_guard;
    bool locked;            /* its memory is never swapped out */
    const char *generation; /* the generation id that is watched, or NULL */
    const char *last_error; /* the last failure's text, or NULL; this and the
                             * former live as long as the generator, or until
                             * its next failure */
} QCryptoRngStatus;

/*
 * Makes and seeds this thread's generator, so that a machine that has no
 * random numbers is found out at the start.  Never needed; may be called
 * again.
 */
QCRYPTO_API int qcrypto_random_init(GError **errp);

/* buflen random bytes. */
QCRYPTO_API int qcrypto_random_bytes(void *buf, size_t buflen, GError **errp);

/*
 * buflen bytes of a provider's own generator ("afalg": the kernel's, for
 * measuring it, or to be mixed in).  It is made anew for each call.  On
 * failure the buffer is wiped.
 */
QCRYPTO_API int qcrypto_random_bytes_from(const char *provider, void *buf,
                                          size_t buflen, GError **errp);

/*
 * Every generator of this process, whichever thread has it, drops its buffer
 * and takes a new seed before it gives out another byte.  May be called from
 * a signal handler.  To be called in a machine that was started from a
 * snapshot, or a process restored from a checkpoint.
 */
QCRYPTO_API void qcrypto_random_reseed_all(void);

/*
 * The generator of the calling thread, for reseed, add_entropy and status;
 * freeing it does nothing.  NULL and an error when it cannot be made.
 */
QCRYPTO_API QCryptoRng *qcrypto_random_get_rng(GError **errp);

/*
 * A generator of one's own, seeded.  rounds: 8, 12 or 20; 0 stands for what
 * the build or the environment says.
 */
QCRYPTO_API QCryptoRng *qcrypto_rng_new(unsigned rounds, GError **errp);

/* Wipes and frees it; NULL is allowed. */
QCRYPTO_API void qcrypto_rng_free(QCryptoRng *rng);

/* len random bytes. */
QCRYPTO_API int qcrypto_rng_bytes(QCryptoRng *rng, void *buf, size_t len,
                                  GError **errp);

/*
 * Drops the buffer and mixes a seed from the kernel into the key, now.  On
 * failure the buffer is gone all the same, and the next request tries again.
 */
QCRYPTO_API int qcrypto_rng_reseed(QCryptoRng *rng, GError **errp);

/*
 * Drops the buffer and mixes these bytes into the key.  They need be neither
 * random nor secret; what the kernel gave stays in.
 */
QCRYPTO_API int qcrypto_rng_add_entropy(QCryptoRng *rng, const void *data,
                                        size_t len, GError **errp);

/* How things stand, without changing them; rng may not be NULL. */
QCRYPTO_API void qcrypto_rng_status(const QCryptoRng *rng,
                                    QCryptoRngStatus *status);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoRng, qcrypto_rng_free)

G_END_DECLS

#endif
