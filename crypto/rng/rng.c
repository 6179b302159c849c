/*
 * The generator: fast key erasure over ChaCha
 *
 *   refill   2 KiB of keystream from the key; the first 32 bytes become the
 *            next key, and only then is anything of the rest given out
 *   serve    bytes leave the pool in order and are zeroed as they leave
 *   stream   of a request of 1 KiB or more, whole KiBs go from a key of
 *            their own, taken out of the pool, straight to the caller
 *   absorb   input is xored into the key and the result, which was never
 *            used as a key and is used once, makes the next key: without
 *            knowing the old key nobody can steer the new one, and a good
 *            input mends a key that leaked
 *
 * The keystream is taken in the order that the vector kernels make it in
 * (keystream_words); any order will do.
 *
 * A seed is asked for in one place, settle(), which every request passes
 * unless it goes the short way (rng.h), and again at each refill when the
 * seed has grown old.  What it wanted a seed for stays true until it has one,
 * so a failure is repeated by the next request, not forgotten.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config-qcrypto.h"

#include "crypto/rng/rng.h"

#include <stdlib.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/chacha.h"
#include "crypto/rng/kernel.h"

#define ENVIRONMENT "QCRYPTO_RNG_ROUNDS"

enum { GROUP = QCRYPTO_RNG_GROUP, POOL = QCRYPTO_RNG_POOL };

/* no counter of 32 bits would wrap, and ours have 64 */
G_STATIC_ASSERT(QCRYPTO_RNG_STREAM / QCRYPTO_CHACHA_BLOCK_LEN < 1 << 20);

uint32_t qcrypto_rng_epoch = 2;

static uint32_t current_epoch(void)
{
    return __atomic_load_n(&qcrypto_rng_epoch, __ATOMIC_RELAXED);
}

void qcrypto_random_reseed_all(void)
{
    uint32_t old = current_epoch(), new;

    do {
        new = old + 2 ? old + 2 : 2; /* 0 is that of wiped pages */
    } while (!__atomic_compare_exchange_n(&qcrypto_rng_epoch, &old, new, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* ---- keys and pools ---- */

static void drop(QCryptoRng *r)
{
    QCryptoRngSecret *s = r->secret;

    r->made -= s->left;
    qcrypto_wipe(s->pool + POOL - s->left, s->left);
    s->left = 0;
}

/* The key of a state becomes these bytes, which are wiped. */
static void set_key(uint32_t state[16], uint8_t *bytes)
{
    memcpy(state + 4, bytes, QCRYPTO_RNG_KEY);
    qcrypto_wipe(bytes, QCRYPTO_RNG_KEY);
}

static void refill(QCryptoRng *r)
{
    QCryptoRngSecret *s = r->secret;

    r->ops->keystream_words(s->state, s->pool, POOL / GROUP);
    set_key(s->state, s->pool);
    s->left = QCRYPTO_RNG_SERVED;
    r->made += QCRYPTO_RNG_SERVED;
}

/* The pool is empty and lends the room for a block. */
static void absorb(QCryptoRng *r, const uint8_t *data, size_t n)
{
    QCryptoRngSecret *s = r->secret;
    uint8_t *key = (uint8_t *)(s->state + 4);
    size_t done = 0;

    /* inputs of different lengths differ in the counter */
    s->state[12] = (uint32_t)n;
    s->state[13] = (uint32_t)((uint64_t)n >> 32);
    do {
        const size_t piece = MIN(n - done, QCRYPTO_RNG_KEY);

        for (size_t i = 0; i < piece; i++) {
            key[i] ^= data[done + i];
        }
        r->ops->keystream(s->state, s->pool, 1);
        set_key(s->state, s->pool);
        qcrypto_wipe(s->pool, QCRYPTO_CHACHA_BLOCK_LEN);
        done += piece;
    } while (done < n);
    s->state[12] = s->state[13] = 0;
}

/* ---- seeds ---- */

/* Not wiped: the first word of a state is a constant. */
static bool is_alive(const QCryptoRng *r)
{
    return *(const volatile uint32_t *)r->secret->state != 0;
}

static void begin(QCryptoRng *r)
{
    static const uint8_t zeros[QCRYPTO_RNG_KEY];

    qcrypto_rng_pages_adopt(&r->pages);
    qcrypto_chacha_init(r->secret->state, zeros, sizeof(zeros), zeros, 8, 0,
                        NULL);
}

static int mix_seed(QCryptoRng *r, GError **errp)
{
    uint8_t bytes[QCRYPTO_RNG_KEY];

    qcrypto_rng_generation_get(&r->generation);
    if (qcrypto_kernel_random(bytes, sizeof(bytes), errp) < 0) {
        return -1;
    }
    absorb(r, bytes, sizeof(bytes));
    qcrypto_wipe(bytes, sizeof(bytes));
    /* the kernel may not have noticed yet that its machine is a copy */
    if (r->generation.len) {
        absorb(r, r->generation.id, r->generation.len);
    }
    return 0;
}

static int seed(QCryptoRng *r, GError **errp)
{
    /* before the seed, so that what changes meanwhile is seen next time */
    const uint32_t epoch = current_epoch();
    const bool watchful = r->generation_path ||
                          r->pages.guard != QCRYPTO_RNG_FORK_GUARD_WIPE;

    drop(r);
    r->pending = true;
    do {
        if (!is_alive(r)) {
            begin(r);
        }
        if (mix_seed(r, errp) < 0) {
            return -1;
        }
        /* a signal handler that forks leaves the child in the midst of this,
         * with the parent's seed in hand: see serve_whole() */
    } while (!is_alive(r));
    r->seeded_at = qcrypto_rng_clock();
    r->made = 0;
    r->reseeds++;
    r->pending = false;
    r->secret->epoch = epoch | watchful;
    return 0;
}

/* There is a seed, of this epoch. */
static bool is_seeded(const QCryptoRng *r)
{
    return is_alive(r) && !r->pending &&
           (r->secret->epoch | 1) == (current_epoch() | 1);
}

/* Before a request is served. */
static int settle(QCryptoRng *r, GError **errp)
{
    if (qcrypto_rng_pages_foreign(&r->pages)) {
        qcrypto_wipe(r->secret, sizeof(*r->secret));
    }
    if (!is_seeded(r) || qcrypto_rng_generation_changed(&r->generation)) {
        return seed(r, errp);
    }
    return 0;
}

static bool is_old(const QCryptoRng *r)
{
    const int64_t age = qcrypto_rng_clock() - r->seeded_at;

    /* below 0: the clock is another machine's */
    return r->made >= QCRYPTO_RNG_SEED_BYTES || age < 0 ||
           age >= QCRYPTO_RNG_SEED_MS;
}

/* ---- requests ---- */

/* At least n bytes in the pool; n is at most QCRYPTO_RNG_SERVED. */
static int provide(QCryptoRng *r, size_t n, GError **errp)
{
    if (r->secret->left >= n) {
        return 0;
    }
    drop(r);
    if (is_old(r) && seed(r, errp) < 0) {
        return -1;
    }
    refill(r);
    return 0;
}

static int stream(QCryptoRng *r, uint8_t *out, size_t groups, GError **errp)
{
    QCryptoRngSecret *s = r->secret;
    uint8_t key[QCRYPTO_RNG_KEY];

    if (r->made >= QCRYPTO_RNG_SEED_BYTES) {
        drop(r);
    }
    if (provide(r, sizeof(key), errp) < 0) {
        return -1;
    }
    memcpy(s->stream, s->state, sizeof(s->stream));
    qcrypto_rng_take(s, key, sizeof(key));
    set_key(s->stream, key);
    r->ops->keystream_words(s->stream, out, groups);
    qcrypto_wipe(s->stream, sizeof(s->stream));
    r->made += groups * GROUP - sizeof(key);
    return 0;
}

static int serve(QCryptoRng *r, uint8_t *out, size_t n, GError **errp)
{
    if (settle(r, errp) < 0) {
        return -1;
    }
    while (n >= GROUP) {
        const size_t part = MIN(n, QCRYPTO_RNG_STREAM) / GROUP * GROUP;

        if (stream(r, out, part / GROUP, errp) < 0) {
            return -1;
        }
        out += part;
        n -= part;
    }
    while (n) {
        if (provide(r, 1, errp) < 0) {
            return -1;
        }
        const size_t part = MIN(n, r->secret->left);

        qcrypto_rng_take(r->secret, out, part);
        out += part;
        n -= part;
    }
    return 0;
}

/*
 * A signal handler may copy the process while a request is under way, and
 * return in the copy, to a pool that has become zeros.  The copy then serves
 * the whole request again.
 */
static int serve_whole(QCryptoRng *r, uint8_t *out, size_t n, GError **errp)
{
    int ret;

    do {
        ret = serve(r, out, n, errp);
    } while (ret == 0 && !is_alive(r));
    return ret;
}

/* Keeps the error for status, and passes it on. */
static int failed(QCryptoRng *r, GError *error, GError **errp)
{
    g_clear_error(&r->error);
    r->error = g_error_copy(error);
    g_propagate_error(errp, error);
    return -1;
}

int qcrypto_rng_serve(QCryptoRng *r, void *buf, size_t n, GError **errp)
{
    GError *error = NULL;

    if (n == 0) {
        return 0;
    }
    if (!buf) {
        return qcrypto_error_null(errp, "buf");
    }
    if (G_UNLIKELY(serve_whole(r, buf, n, &error) < 0)) {
        qcrypto_wipe(buf, n);
        return failed(r, error, errp);
    }
    return 0;
}

int qcrypto_rng_bytes(QCryptoRng *rng, void *buf, size_t len, GError **errp)
{
    if (G_UNLIKELY(!rng)) {
        if (buf) {
            qcrypto_wipe(buf, len);
        }
        return qcrypto_error_null(errp, "rng");
    }
    return qcrypto_rng_fast(rng, buf, len, errp);
}

int qcrypto_rng_reseed(QCryptoRng *rng, GError **errp)
{
    GError *error = NULL;

    if (!rng) {
        return qcrypto_error_null(errp, "rng");
    }
    rng->pending = true;
    return settle(rng, &error) < 0 ? failed(rng, error, errp) : 0;
}

int qcrypto_rng_add_entropy(QCryptoRng *rng, const void *data, size_t len,
                            GError **errp)
{
    GError *error = NULL;

    if (!rng) {
        return qcrypto_error_null(errp, "rng");
    }
    if (!data && len) {
        return qcrypto_error_null(errp, "data");
    }
    drop(rng);
    if (settle(rng, &error) < 0) {
        return failed(rng, error, errp);
    }
    absorb(rng, data, len);
    return 0;
}

void qcrypto_rng_status(const QCryptoRng *rng, QCryptoRngStatus *status)
{
    QCryptoRngGeneration generation = rng->generation;
    const bool own = is_seeded(rng) &&
                     !qcrypto_rng_pages_foreign(&rng->pages) &&
                     !qcrypto_rng_generation_changed(&generation);

    *status = (QCryptoRngStatus){
        .seeded = own,
        .rounds = rng->rounds,
        .reseeds = rng->reseeds,
        .bytes = own ? rng->made - rng->secret->left : 0,
        .buffered = own ? rng->secret->left : 0,
        .fork_guard = rng->pages.guard,
        .locked = own && rng->pages.locked,
        .generation = rng->generation_path,
        .last_error = rng->error ? rng->error->message : NULL,
    };
}

/* ---- making one ---- */

/* The kernel for these rounds; 0: what the environment says, or the build. */
static const QCryptoChaChaOps *find_kernel(unsigned *rounds, GError **errp)
{
    const char *text = *rounds ? NULL : getenv(ENVIRONMENT);
    guint64 number = *rounds ? *rounds : QCRYPTO_RNG_ROUNDS;

    if (text && !g_ascii_string_to_unsigned(text, 10, 0, 1000, &number, NULL)) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      ENVIRONMENT ": '%s' is no number of rounds", text);
        return NULL;
    }
    *rounds = (unsigned)number;
    const QCryptoChaChaOps *ops = qcrypto_chacha_kernel(*rounds, errp);
    if (!ops && text) {
        g_prefix_error(errp, ENVIRONMENT ": ");
    }
    return ops;
}

QCryptoRng *qcrypto_rng_new(unsigned rounds, GError **errp)
{
    const char *path;

    const QCryptoChaChaOps *ops = find_kernel(&rounds, errp);
    if (!ops || qcrypto_rng_generation_init(&path, errp) < 0) {
        return NULL;
    }
    QCryptoRng *r = qcrypto_alloc(sizeof(*r));
    if (!r) {
        qcrypto_error_memory(errp, "a random number generator", 1, 0);
        return NULL;
    }
    if (qcrypto_rng_pages_map(&r->pages, sizeof(*r->secret), errp) < 0) {
        free(r);
        return NULL;
    }
    r->secret = r->pages.addr;
    r->ops = ops;
    r->rounds = rounds;
    r->generation_path = path;
    if (seed(r, errp) < 0) {
        qcrypto_rng_free(r);
        return NULL;
    }
    return r;
}

void qcrypto_rng_free(QCryptoRng *rng)
{
    if (rng && !rng->of_thread) {
        qcrypto_rng_pages_unmap(&rng->pages);
        g_clear_error(&rng->error);
        free(rng);
    }
}
