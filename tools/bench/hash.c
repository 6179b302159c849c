/*
 * Kinds "hash" and "hmac": whole messages, one after the other
 *
 * A request of "hash" is one call of qcrypto_hash_bytes with the caller's
 * buffer, and of "hmac" one of qcrypto_hmac_bytes on an object that keeps its
 * key; so at small sizes the front end and, with libraries, their handles
 * count.  Rows that are not selected go through the same code but for the
 * selection.
 *
 * Every candidate must give, before and after, the digest that another
 * provider's row gives for the message in two pieces (where an algorithm has
 * one provider alone: the same row in pieces).  That the rows are right is
 * what their self-tests have shown.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/hash.h"

#include <qcrypto/hmac.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/digest.h"
#include "crypto/core/hash.h"
#include "crypto/core/select.h"
#include "tools/bench/flight.h"

/* of HMAC: longer ones would be hashed first */
#define MAX_KEYBITS 8192

/* What is particular about one of the kinds. */
typedef struct HashKind {
    QCryptoKind rows;
    unsigned keybits; /* unless others are asked for; 0: without a key */
    const QCryptoBenchHashPeer *(*peer)(const QCryptoBenchPeer *peer);
} HashKind;

typedef struct Hash {
    const QCryptoBenchCase *c;
    const HashKind *kind;
    int (*request)(struct Hash *s, GError **errp);
    QCryptoCandidate *candidate; /* the library's row, */
    QCryptoHmac *hmac;           /* and for HMAC the object, */
    const QCryptoBenchHashPeer *peer;
    void *ctx; /* or the peer's */
    size_t ndigest, nkey;
    uint8_t key[MAX_KEYBITS / 8];
    uint8_t digest[QCRYPTO_DIGEST_MAX];
    QCryptoBenchFlight *flight; /* NULL: one request after the other, */
    uint8_t (*digests)[QCRYPTO_DIGEST_MAX]; /* else of each slot */
    uint8_t want[QCRYPTO_DIGEST_MAX];
    uint8_t *data;
} Hash;

static const QCryptoBenchHashPeer *hash_peer(const QCryptoBenchPeer *peer)
{
    return peer->hash;
}

static const QCryptoBenchHashPeer *hmac_peer(const QCryptoBenchPeer *peer)
{
    return peer->hmac;
}

static const HashKind hash_kind = {QCRYPTO_KIND_HASH, 0, hash_peer};
static const HashKind hmac_kind = {QCRYPTO_KIND_HMAC, 256, hmac_peer};

/* ---- Requests ---- */

static int request_hash(Hash *s, GError **errp)
{
    uint8_t *result = s->digest;

    return qcrypto_hash_bytes((QCryptoHashAlgo)s->c->alg, s->data,
                              s->c->inputsize, &result, &s->ndigest, errp);
}

static int request_row(Hash *s, GError **errp)
{
    const struct iovec iov = {s->data, s->c->inputsize};

    return qcrypto_hash_on_row(s->candidate->row, &iov, 1, s->digest, errp);
}

static int request_hmac(Hash *s, GError **errp)
{
    uint8_t *result = s->digest;

    return qcrypto_hmac_bytes(s->hmac, s->data, s->c->inputsize, &result,
                              &s->ndigest, errp);
}

static int request_peer(Hash *s, GError **errp)
{
    return s->peer->digest(s->ctx, s->data, s->c->inputsize, s->digest, errp);
}

/* ---- The operations ---- */

static void teardown(void *state)
{
    Hash *s = state;

    if (s->ctx) {
        s->peer->close(s->ctx);
    }
    qcrypto_bench_flight_free(s->flight);
    g_free(s->digests);
    qcrypto_hmac_free(s->hmac);
    qcrypto_wipe_free(s->data, s->c->inputsize + 1);
    g_free(s);
}

/* The object or row of the case. */
static int open_case(Hash *s, GError **errp)
{
    const QCryptoHashAlgo alg = (QCryptoHashAlgo)s->c->alg;

    if (s->c->peer) {
        s->peer = s->kind->peer(s->c->peer);
        s->request = request_peer;
        s->ctx = s->peer->open(s->c->alg, s->key, s->nkey, errp);
        return s->ctx ? 0 : -1;
    }
    s->candidate = s->c->row ? qcrypto_select_named(s->c->row, s->kind->rows,
                                                    s->c->alg, -1, errp)
                             : qcrypto_select_usable(s->kind->rows, s->c->alg,
                                                     -1, 0, NULL);
    if (!s->candidate) {
        return s->c->row ? -1
                         : qcrypto_select_failed(s->kind->rows, s->c->alg, -1,
                                                 NULL, errp);
    }
    if (s->kind == &hash_kind) {
        s->request = s->c->row ? request_row : request_hash;
        return 0;
    }
    s->request = request_hmac;
    s->hmac = s->c->row
                  ? qcrypto_hmac_new_from(s->c->row, alg, s->key, s->nkey, errp)
                  : qcrypto_hmac_new(alg, s->key, s->nkey, errp);
    return s->hmac ? 0 : -1;
}

static int open_flight(Hash *s, GError **errp)
{
    if (s->c->reqnum > 1 && s->c->ops->submit) {
        s->digests = g_malloc0_n(s->c->reqnum, sizeof *s->digests);
        s->flight = qcrypto_bench_flight_new(s->c->reqnum, errp);
        return s->flight ? 0 : -1;
    }
    return 0;
}

static void *setup(const QCryptoBenchCase *c, const HashKind *kind,
                   GError **errp)
{
    Hash *s = g_new0(Hash, 1);

    s->c = c;
    s->kind = kind;
    s->nkey = c->keybits / 8;
    s->ndigest = qcrypto_hash_digest_len((QCryptoHashAlgo)c->alg);
    s->data = qcrypto_alloc(c->inputsize + 1);
    if (!s->data) {
        qcrypto_error_memory(errp, "the benchmark's buffer",
                             c->inputsize / 1024 + 1, 0);
    } else {
        for (size_t i = 0; i < c->inputsize; i++) {
            s->data[i] = (uint8_t)(i * 11 + (i >> 8) * 5 + 1);
        }
        for (size_t i = 0; i < sizeof(s->key); i++) {
            s->key[i] = (uint8_t)(i * 17 + 1);
        }
        if (open_case(s, errp) == 0 && open_flight(s, errp) == 0) {
            return s;
        }
    }
    teardown(s);
    return NULL;
}

static void *hash_setup(const QCryptoBenchCase *c, GError **errp)
{
    return setup(c, &hash_kind, errp);
}

static void *hmac_setup(const QCryptoBenchCase *c, GError **errp)
{
    return setup(c, &hmac_kind, errp);
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    const Hash *s = state;

    *provider = s->candidate ? s->candidate->provider->name : s->c->provider;
    *impl = s->candidate ? s->candidate->row->impl : s->c->peer->impl;
}

/* A row to be held against: another provider's where there is one. */
static QCryptoCandidate *witness(const Hash *s)
{
    QCryptoCandidate *c, *found = NULL;

    for (size_t i = 0;
         (c = qcrypto_select_usable(s->kind->rows, s->c->alg, -1, i, &i));
         i++) {
        found = c;
        if (strcmp(c->provider->name, s->c->provider) != 0) {
            break;
        }
    }
    return found;
}

static int witness_digest(Hash *s, GError **errp)
{
    const QCryptoHashAlgo alg = (QCryptoHashAlgo)s->c->alg;
    const size_t half = s->c->inputsize / 3;
    const struct iovec iov[2] = {{s->data, half},
                                 {s->data + half, s->c->inputsize - half}};
    QCryptoCandidate *c = witness(s);
    uint8_t *result = s->want;

    if (!c) {
        return qcrypto_select_failed(s->kind->rows, s->c->alg, -1, NULL, errp);
    }
    g_autofree char *name =
        g_strdup_printf("%s:%s", c->provider->name, c->row->impl);
    if (s->kind == &hash_kind) {
        g_autoptr(QCryptoHash) hash = qcrypto_hash_new_from(name, alg, errp);

        return hash && qcrypto_hash_updatev(hash, iov, 2, errp) == 0
                   ? qcrypto_hash_finalize_bytes(hash, &result, &s->ndigest,
                                                 errp)
                   : -1;
    }
    g_autoptr(QCryptoHmac) hmac =
        qcrypto_hmac_new_from(name, alg, s->key, s->nkey, errp);
    return hmac ? qcrypto_hmac_bytesv(hmac, iov, 2, &result, &s->ndigest, errp)
                : -1;
}

static int compare(const Hash *s, const uint8_t *digest, GError **errp)
{
    return memcmp(digest, s->want, s->ndigest)
               ? qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "wrong output")
               : 0;
}

static int check(void *state, GError **errp)
{
    const Hash *s = state;

    for (unsigned i = 0; s->flight && i < s->flight->used; i++) {
        if (compare(s, s->digests[i], errp) < 0) {
            return -1;
        }
    }
    return s->flight ? 0 : compare(s, s->digest, errp);
}

static int verify(void *state, GError **errp)
{
    Hash *s = state;

    if (witness_digest(s, errp) < 0 || s->request(s, errp) < 0 ||
        compare(s, s->digest, errp) < 0) {
        return -1;
    }
    memset(s->digest, 0, sizeof(s->digest));
    return 0;
}

static int run(void *state, uint64_t calls, GError **errp)
{
    Hash *s = state;

    for (; calls; calls--) {
        if (s->request(s, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int submit(void *state, GError **errp)
{
    Hash *s = state;
    const unsigned slot = qcrypto_bench_flight_take(s->flight);

    return qcrypto_async_hash(
        s->flight->engine, s->c->row, (QCryptoHashAlgo)s->c->alg, s->data,
        s->c->inputsize, s->digests[slot], s->ndigest,
        qcrypto_bench_flight_done, qcrypto_bench_flight_ticket(s->flight, slot),
        errp);
}

static int reap(void *state, GError **errp)
{
    const Hash *s = state;

    return qcrypto_bench_flight_reap(s->flight, errp);
}

/* of peers, which have one request at a time */
static const QCryptoBenchOps hash_peer_ops = {
    .setup = hash_setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .check = check,
    .teardown = teardown,
};

static const QCryptoBenchOps hash_ops = {
    .setup = hash_setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .submit = submit,
    .reap = reap,
    .check = check,
    .teardown = teardown,
};

/* Those on one object run one after the other: nothing to be in flight. */
static const QCryptoBenchOps hmac_ops = {
    .setup = hmac_setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .check = check,
    .teardown = teardown,
};

/* ---- From request to cases ---- */

static bool hash_peer_has(const QCryptoBenchPeer *peer, int alg,
                          int mode G_GNUC_UNUSED)
{
    return peer->hash && peer->hash->supports(alg);
}

static bool hmac_peer_has(const QCryptoBenchPeer *peer, int alg,
                          int mode G_GNUC_UNUSED)
{
    return peer->hmac && peer->hmac->supports(alg);
}

/* The row that serves the algorithm is reached as an application does it. */
static bool mark(QCryptoBenchCase *c, const QCryptoRowInfo *row)
{
    if (row && row->selected) {
        g_clear_pointer(&c->row, g_free);
    }
    if (!row && c->ops == &hash_ops) {
        c->ops = &hash_peer_ops;
    }
    return true;
}

static int fit(QCryptoBenchCase *c, GError **errp)
{
    if (c->sectors != 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: a message is one unit, not %zu", c->algtype,
                             c->sectors);
    }
    c->request_bytes = c->inputsize;
    return 0;
}

static int plan_hash(const QCryptoBenchSource *source, const HashKind *hash,
                     const QCryptoBenchRequest *request, int alg,
                     GPtrArray *groups, GError **errp)
{
    const unsigned *keybits =
        request->nkeybits ? request->keybits : &hash->keybits;
    const size_t n = request->nkeybits ? request->nkeybits : 1;
    g_autoptr(GPtrArray) list =
        qcrypto_bench_candidates(source, request, alg, -1, errp);

    for (size_t i = 0; list && i < n; i++) {
        if (keybits[i] && (keybits[i] % 8 || keybits[i] > MAX_KEYBITS)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "%s: a key has 8 to %d bits, in whole bytes, "
                                 "not %u",
                                 source->kind->name, MAX_KEYBITS, keybits[i]);
        }
        for (guint j = 0; j < list->len; j++) {
            QCryptoBenchCase *c = g_ptr_array_index(list, j);

            c->keybits = keybits[i];
        }
        if (qcrypto_bench_cross(source->kind, request, list, groups, fit,
                                errp) < 0) {
            return -1;
        }
    }
    return list ? 0 : -1;
}

static bool hash_knows(const char *name)
{
    return qcrypto_bench_alg(QCRYPTO_KIND_HASH, name) >= 0;
}

/* "hmac-sha256", "hmac(sha256)" or "sha256" to the last; g_free. */
static char *without_hmac(const char *name)
{
    const size_t n = strlen(name);

    if (!g_ascii_strncasecmp(name, "hmac-", 5)) {
        return g_strdup(name + 5);
    }
    return !g_ascii_strncasecmp(name, "hmac(", 5) && name[n - 1] == ')'
               ? g_strndup(name + 5, n - 6)
               : g_strdup(name);
}

static bool hmac_knows(const char *name)
{
    g_autofree char *hash = without_hmac(name);

    return strcmp(hash, name) != 0 && hash_knows(hash);
}

static int plan(const QCryptoBenchSource *source, const HashKind *hash,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    const char *const *names = request->algorithms
                                   ? (const char *const *)request->algorithms
                                   : source->kind->algorithms;
    QCryptoBenchRequest mine = *request;

    /* there is one buffer */
    mine.inplace[0] = true;
    mine.inplace[1] = false;
    for (; *names; names++) {
        const bool all = !g_ascii_strcasecmp(*names, "all");
        g_autofree char *name =
            hash->keybits ? without_hmac(*names) : g_strdup(*names);
        const int named = qcrypto_bench_alg(QCRYPTO_KIND_HASH, name);

        if (!all && named < 0) {
            return qcrypto_error_unknown(errp, "hash", *names);
        }
        for (int alg = all ? 0 : named;
             alg <= (all ? QCRYPTO_HASH_ALGO__MAX - 1 : named); alg++) {
            if (plan_hash(source, hash, &mine, alg, groups, errp) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int hash_plan(const QCryptoBenchKind *kind,
                     const QCryptoBenchRequest *request, GPtrArray *groups,
                     GError **errp)
{
    const QCryptoBenchSource source = {kind, &hash_ops, QCRYPTO_KIND_HASH,
                                       hash_peer_has, mark};

    if (request->nkeybits) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a hash has no key: --keysize goes with cipher, "
                             "object, chacha and hmac");
    }
    return plan(&source, &hash_kind, request, groups, errp);
}

static int hmac_plan(const QCryptoBenchKind *kind,
                     const QCryptoBenchRequest *request, GPtrArray *groups,
                     GError **errp)
{
    const QCryptoBenchSource source = {kind, &hmac_ops, QCRYPTO_KIND_HMAC,
                                       hmac_peer_has, mark};

    return plan(&source, &hmac_kind, request, groups, errp);
}

static const char *const algorithms[] = {"sha1", "sha256", "sha512", NULL};

static const QCryptoBenchSize sizes[] = {
    {16, 1}, {256, 1}, {1024, 1}, {4096, 1}, {65536, 1},
};

static const char *const hash_alt_names[] = {"CRYPTO_HASH", "CRYPTO_AHASH",
                                             "CRYPTO_SHASH", NULL};

const QCryptoBenchKind qcrypto_bench_kind_hash = {
    .name = "hash",
    .alt_names = hash_alt_names,
    .optypes = {"digest", NULL},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = hash_knows,
    .plan = hash_plan,
};

static const char *const hmac_alt_names[] = {"CRYPTO_HMAC", NULL};

const QCryptoBenchKind qcrypto_bench_kind_hmac = {
    .name = "hmac",
    .alt_names = hmac_alt_names,
    .optypes = {"mac", NULL},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = hmac_knows,
    .plan = hmac_plan,
};
