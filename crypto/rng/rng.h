/*
 * A generator's inside, and the short way through it
 *
 * What is secret lies in pages that a copy of the process finds zeroed
 * (fork.h); what is not, in a block of its own that survives.  That gives
 * the fast path its single test: wiped pages have nothing left to serve, and
 * an epoch that is nobody's.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_RNG_RNG_H
#define QCRYPTO_RNG_RNG_H

#include <qcrypto/random.h>

#include <string.h>

#include "crypto/base/rows.h"
#include "crypto/rng/fork.h"
#include "crypto/rng/generation.h"

enum {
    /* the unit of keystream_words */
    QCRYPTO_RNG_GROUP = 1024,
    /* what a refill makes: the next key, and what can be given out */
    QCRYPTO_RNG_POOL = 2 * QCRYPTO_RNG_GROUP,
    QCRYPTO_RNG_KEY = 32,
    QCRYPTO_RNG_SERVED = QCRYPTO_RNG_POOL - QCRYPTO_RNG_KEY,
    /* requests of a group or more stream past the pool, so many bytes from
     * one key: 16384 blocks, of the 2^64 that a counter has */
    QCRYPTO_RNG_STREAM = 1024 * QCRYPTO_RNG_GROUP,
    /* a seed serves so many bytes, and a stream or a pool more, */
    QCRYPTO_RNG_SEED_BYTES = 1 << 20,
    /* and is renewed at the first refill after this time */
    QCRYPTO_RNG_SEED_MS = 60 * 1000,
};

/* All zeros: new, or wiped by a copy of the process. */
typedef struct QCryptoRngSecret {
    uint32_t left; /* bytes at the end of the pool; those before are zeros */
    /*
     * The qcrypto_rng_epoch of the seed, or 0.  Lowest bit set: every request
     * has something to look at before it is served.
     */
    uint32_t epoch;
    /* of the next refill: the key in words 4 to 11 was never used, counter
     * and nonce are 0 */
    uint32_t state[16];
    uint32_t stream[16]; /* the same for a stream; zeros between requests */
    uint8_t pool[QCRYPTO_RNG_POOL] __attribute__((aligned(64)));
} QCryptoRngSecret;

struct QCryptoRng {
    QCryptoRngSecret *secret; /* in pages */
    const QCryptoChaChaOps *ops;
    QCryptoRngPages pages;
    unsigned rounds;
    bool of_thread; /* qcrypto_random_get_rng's */
    bool pending;   /* a seed is needed whatever the rest says */
    /* of the present seed: */
    uint64_t made;     /* bytes to give out, less those dropped */
    int64_t seeded_at; /* qcrypto_rng_clock() */
    QCryptoRngGeneration generation;

    const char *generation_path;
    uint64_t reseeds;
    GError *error; /* the last failure */
};

/* Even, never 0; another one makes every generator seed itself. */
extern uint32_t qcrypto_rng_epoch;

typedef uint64_t QCryptoRngPair __attribute__((vector_size(16)));

/*
 * n bytes from one place to the other, zeros in their stead; sizeof(type) <=
 * n <= 2 * sizeof(type), which two words do that may overlap.  Through
 * registers: no copy is left behind on the stack.
 */
#define QCRYPTO_RNG_MOVE(type, to, from, n)                                    \
    do {                                                                       \
        const type zeros_ = {0};                                               \
        type first_, last_;                                                    \
        memcpy(&first_, (from), sizeof(type));                                 \
        memcpy(&last_, (from) + (n) - sizeof(type), sizeof(type));             \
        memcpy((to), &first_, sizeof(type));                                   \
        memcpy((to) + (n) - sizeof(type), &last_, sizeof(type));               \
        memcpy((from), &zeros_, sizeof(type));                                 \
        memcpy((from) + (n) - sizeof(type), &zeros_, sizeof(type));            \
    } while (0)

/* Gives out n bytes of the pool, which are there. */
static inline void qcrypto_rng_take(QCryptoRngSecret *s, uint8_t *out, size_t n)
{
    uint8_t *from = s->pool + QCRYPTO_RNG_POOL - s->left;

    /* at most QCRYPTO_RNG_SERVED */
    s->left -= (uint32_t)n;
    if (n > 32) {
        memcpy(out, from, n);
        memset(from, 0, n);
    } else if (n >= 16) {
        QCRYPTO_RNG_MOVE(QCryptoRngPair, out, from, n);
    } else if (n >= 8) {
        QCRYPTO_RNG_MOVE(uint64_t, out, from, n);
    } else if (n >= 4) {
        QCRYPTO_RNG_MOVE(uint32_t, out, from, n);
    } else if (n >= 2) {
        QCRYPTO_RNG_MOVE(uint16_t, out, from, n);
    } else if (n) {
        *out = *from;
        *from = 0;
    }
}

/* Everything else: other lengths, seeding, failures. */
int qcrypto_rng_serve(QCryptoRng *r, void *buf, size_t n, GError **errp);

static inline int qcrypto_rng_fast(QCryptoRng *r, void *buf, size_t n,
                                   GError **errp)
{
    QCryptoRngSecret *s = r->secret;

    if (G_LIKELY(n < QCRYPTO_RNG_GROUP && n <= s->left && buf &&
                 s->epoch ==
                     __atomic_load_n(&qcrypto_rng_epoch, __ATOMIC_RELAXED))) {
        qcrypto_rng_take(s, buf, n);
        /* wiped meanwhile, see serve_whole() in rng.c */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (G_LIKELY(s->epoch)) {
            return 0;
        }
    }
    return qcrypto_rng_serve(r, buf, n, errp);
}

#endif
