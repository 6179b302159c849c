/*
 * Kind "kdf": key derivation
 *
 *   pbkdf2-HASH       a request is one iteration, and so many of them as the
 *                     engine asks for at once are one derivation; the size is
 *                     that of the key, since hashes make a long one in pieces
 *   argon2id, argon2i a request is one derivation with one lane, and with
 *   argon2id-4        "-N" at the end with N lanes, for which libraries may
 *                     use as many threads; "2x65536" is two passes over that
 *                     many bytes of memory
 *
 * Every candidate must derive what another provider's row derives (where an
 * algorithm has one provider alone: what it derives itself in the end).  That
 * rows are right is what their self-tests have shown.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/kdf.h"

#include <qcrypto/hash.h>
#include <qcrypto/kdf.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/select.h"

#define PREFIX "pbkdf2-"
/* iterations of the known answer */
#define CHECK_ITERATIONS 7
#define ARGON2_OUT       32
#define MAX_LANES        1024

typedef struct Kdf {
    const QCryptoBenchCase *c;
    QCryptoCandidate *candidate; /* NULL: the peer */
    uint8_t key[16];
    uint8_t salt[16];
    size_t nout;
    uint8_t *out;
    uint8_t *want;
} Kdf;

/* The two families of algorithms. */
typedef struct Family {
    QCryptoKind rows;
    /* with a cost of so many requests, by "provider:impl" or NULL: the peer */
    int (*derive)(const Kdf *s, const char *row, uint64_t calls, uint8_t *out,
                  GError **errp);
    uint64_t check_calls; /* the cost of the known answer */
} Family;

static int derive_pbkdf2(const Kdf *s, const char *row, uint64_t calls,
                         uint8_t *out, GError **errp)
{
    if (!row) {
        return s->c->peer->pbkdf2->derive(s->c->alg, s->key, sizeof(s->key),
                                          s->salt, sizeof(s->salt), calls, out,
                                          s->nout, errp);
    }
    return qcrypto_pbkdf2_from(row, (QCryptoHashAlgo)s->c->alg, s->key,
                               sizeof(s->key), s->salt, sizeof(s->salt), calls,
                               out, s->nout, errp);
}

static QCryptoArgon2Cost cost_of(const QCryptoBenchCase *c)
{
    return (QCryptoArgon2Cost){
        .time = (uint32_t)c->sectors,
        .memory_kib = (uint32_t)(c->inputsize / 1024),
        .lanes = (uint32_t)c->mode,
    };
}

static int derive_argon2(const Kdf *s, const char *row, uint64_t calls,
                         uint8_t *out, GError **errp)
{
    const QCryptoArgon2Cost cost = cost_of(s->c);

    for (; calls; calls--) {
        if (qcrypto_argon2_from(row, (QCryptoArgon2Algo)s->c->alg, s->key,
                                sizeof(s->key), s->salt, sizeof(s->salt), &cost,
                                out, s->nout, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static const Family pbkdf2 = {QCRYPTO_KIND_PBKDF2, derive_pbkdf2,
                              CHECK_ITERATIONS};
static const Family argon2 = {QCRYPTO_KIND_ARGON2, derive_argon2, 1};

/* A case of Argon2 has lanes. */
static const Family *family_of(const QCryptoBenchCase *c)
{
    return c->mode > 0 ? &argon2 : &pbkdf2;
}

/* ---- The operations ---- */

static void teardown(void *state)
{
    Kdf *s = state;

    qcrypto_wipe_free(s->out, s->nout);
    qcrypto_wipe_free(s->want, s->nout);
    g_free(s);
}

static void *setup(const QCryptoBenchCase *c, GError **errp)
{
    const Family *f = family_of(c);
    Kdf *s = g_new0(Kdf, 1);

    s->c = c;
    s->nout = f == &argon2 ? ARGON2_OUT : c->inputsize;
    for (size_t i = 0; i < sizeof(s->key); i++) {
        s->key[i] = (uint8_t)(i * 17 + 1);
        s->salt[i] = (uint8_t)(i * 29 + 11);
    }
    s->out = qcrypto_alloc(s->nout);
    s->want = qcrypto_alloc(s->nout);
    if (!s->out || !s->want) {
        qcrypto_error_memory(errp, "the benchmark's buffer", s->nout / 512 + 1,
                             0);
    } else if (c->peer || (s->candidate = qcrypto_select_named(
                               c->row, f->rows, c->alg, -1, errp))) {
        return s;
    }
    teardown(s);
    return NULL;
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    const Kdf *s = state;

    *provider = s->candidate ? s->candidate->provider->name : s->c->provider;
    *impl = s->candidate ? s->candidate->row->impl : s->c->peer->impl;
}

/*
 * What another provider's row derives; without one that can, the same row
 * has to stand for itself.
 */
static int derive_witness(const Kdf *s, const Family *f, GError **errp)
{
    QCryptoCandidate *c;

    for (size_t i = 0;
         (c = qcrypto_select_usable(f->rows, s->c->alg, -1, i, &i)); i++) {
        g_autofree char *name =
            g_strdup_printf("%s:%s", c->provider->name, c->row->impl);

        if (strcmp(c->provider->name, s->c->provider) != 0 &&
            f->derive(s, name, f->check_calls, s->want, NULL) == 0) {
            return 0;
        }
    }
    return f->derive(s, s->c->row, f->check_calls, s->want, errp);
}

static int check(void *state, GError **errp)
{
    Kdf *s = state;
    const Family *f = family_of(s->c);

    memset(s->out, 0, s->nout);
    if (f->derive(s, s->c->row, f->check_calls, s->out, errp) < 0) {
        return -1;
    }
    return memcmp(s->out, s->want, s->nout)
               ? qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "wrong output")
               : 0;
}

static int verify(void *state, GError **errp)
{
    Kdf *s = state;

    return derive_witness(s, family_of(s->c), errp) < 0 ? -1
                                                        : check(state, errp);
}

static int run(void *state, uint64_t calls, GError **errp)
{
    Kdf *s = state;

    /* a fixed amount may be more than one derivation may have */
    for (uint64_t n; calls; calls -= n) {
        n = MIN(calls, INT32_MAX);
        if (family_of(s->c)->derive(s, s->c->row, n, s->out, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static const QCryptoBenchOps kdf_ops = {
    .setup = setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .check = check,
    .teardown = teardown,
};

/* ---- From request to cases ---- */

static const QCryptoBenchMeasure iterations = {
    .unit = "thousand iterations a second, by bytes of key", .scale = 1e3};
static const QCryptoBenchMeasure derivations = {
    .unit = "ms, by passes x bytes of memory", .scale = 1e-3, .inverse = true};

static bool peer_has_pbkdf2(const QCryptoBenchPeer *peer, int alg,
                            int mode G_GNUC_UNUSED)
{
    return peer->pbkdf2 && peer->pbkdf2->supports(alg);
}

static bool peer_has_argon2(const QCryptoBenchPeer *peer G_GNUC_UNUSED,
                            int alg G_GNUC_UNUSED, int mode G_GNUC_UNUSED)
{
    return false;
}

static int fit(QCryptoBenchCase *c, GError **errp)
{
    c->request_bytes = (uint64_t)c->inputsize * c->sectors;
    if (c->sectors != 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: a key is one unit, not %zu", c->algorithm,
                             c->sectors);
    }
    return 0;
}

/*
 * Libraries differ in what they take: what a case's row refuses it refuses
 * with the least memory too, and then it is none to be measured.
 */
static int fit_argon2(QCryptoBenchCase *c, GError **errp)
{
    const uint8_t text[16] = {1};
    uint8_t out[ARGON2_OUT];
    QCryptoArgon2Cost cost = cost_of(c);
    g_autoptr(GError) err = NULL;

    c->request_bytes = (uint64_t)c->inputsize * c->sectors;
    if (c->sectors > UINT32_MAX || c->inputsize / 1024 > UINT32_MAX ||
        c->inputsize / 1024 < cost.lanes * 8 || c->inputsize % 1024) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: memory is 8 KiB or more a lane, in whole "
                             "KiB, not %zu bytes",
                             c->algorithm, c->inputsize);
    }
    if (c->unavailable) {
        return 0;
    }
    cost.memory_kib = cost.lanes * 8;
    if (qcrypto_argon2_from(c->row, (QCryptoArgon2Algo)c->alg, text,
                            sizeof(text), text, sizeof(text), &cost, out,
                            sizeof(out), &err) < 0) {
        c->unavailable = g_strdup(err->message);
    }
    return 0;
}

/* One algorithm; lanes 0: PBKDF2. */
static int plan_one(const QCryptoBenchKind *kind,
                    const QCryptoBenchRequest *request, int alg, unsigned lanes,
                    const char *name, GPtrArray *groups, GError **errp)
{
    static const QCryptoBenchSize memory[] = {{1 << 20, 4}, {64 << 20, 1}};
    const QCryptoBenchSource source = {
        .kind = kind,
        .ops = &kdf_ops,
        .rows = lanes ? QCRYPTO_KIND_ARGON2 : QCRYPTO_KIND_PBKDF2,
        .peer_has = lanes ? peer_has_argon2 : peer_has_pbkdf2,
    };
    QCryptoBenchRequest mine = *request;
    g_autoptr(GPtrArray) list =
        qcrypto_bench_candidates(&source, request, alg, -1, errp);

    if (!list) {
        return -1;
    }
    for (guint i = 0; i < list->len; i++) {
        QCryptoBenchCase *c = g_ptr_array_index(list, i);

        g_free(c->algorithm);
        c->algorithm = g_strdup(name);
        c->mode = lanes ? (int)lanes : -1;
        c->measure = lanes ? &derivations : &iterations;
    }
    /* there are no buffers */
    mine.inplace[0] = true;
    mine.inplace[1] = false;
    if (lanes && !mine.sizes) {
        mine.sizes = memory;
        mine.nsizes = G_N_ELEMENTS(memory);
    }
    return qcrypto_bench_cross(kind, &mine, list, groups,
                               lanes ? fit_argon2 : fit, errp);
}

/* "pbkdf2-sha256" (lanes 0), "argon2id", "argon2id-4"; alg -1: none of these */
static int alg_of(const char *name, uint64_t *lanes)
{
    const char *dash = strrchr(name, '-');
    int alg;

    *lanes = 0;
    if (!g_ascii_strncasecmp(name, PREFIX, strlen(PREFIX))) {
        return qcrypto_hash_algo_from_name(name + strlen(PREFIX));
    }
    g_autofree char *variant =
        g_strndup(name, dash ? (gsize)(dash - name) : strlen(name));

    *lanes = 1;
    alg = qcrypto_argon2_algo_from_name(variant);
    return !dash || g_ascii_string_to_unsigned(dash + 1, 10, 1, MAX_LANES,
                                               lanes, NULL)
               ? alg
               : -1;
}

static bool knows(const char *name)
{
    uint64_t lanes;

    return alg_of(name, &lanes) >= 0;
}

static int plan_name(const QCryptoBenchKind *kind,
                     const QCryptoBenchRequest *request, const char *name,
                     GPtrArray *groups, GError **errp)
{
    uint64_t lanes;
    const int alg = alg_of(name, &lanes);

    return alg < 0 ? qcrypto_error_unknown(errp, "key derivation", name)
                   : plan_one(kind, request, alg, (unsigned)lanes, name, groups,
                              errp);
}

static int plan_all(const QCryptoBenchKind *kind,
                    const QCryptoBenchRequest *request, GPtrArray *groups,
                    GError **errp)
{
    int ret = 0;

    for (int h = 0; ret == 0 && h < QCRYPTO_HASH_ALGO__MAX; h++) {
        g_autofree char *name = g_strconcat(
            PREFIX, qcrypto_hash_algo_name((QCryptoHashAlgo)h), NULL);

        ret = plan_one(kind, request, h, 0, name, groups, errp);
    }
    for (int a = 0; ret == 0 && a < QCRYPTO_ARGON2_ALGO__MAX; a++) {
        const char *one = qcrypto_argon2_algo_name((QCryptoArgon2Algo)a);
        g_autofree char *four = g_strconcat(one, "-4", NULL);

        ret = plan_one(kind, request, a, 1, one, groups, errp);
        if (ret == 0) {
            ret = plan_one(kind, request, a, 4, four, groups, errp);
        }
    }
    return ret;
}

static int plan(const QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    const char *const *names = request->algorithms
                                   ? (const char *const *)request->algorithms
                                   : kind->algorithms;
    int ret = 0;

    for (; ret == 0 && *names; names++) {
        ret = g_ascii_strcasecmp(*names, "all")
                  ? plan_name(kind, request, *names, groups, errp)
                  : plan_all(kind, request, groups, errp);
    }
    return ret;
}

static const char *const algorithms[] = {
    "pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512",
    "argon2id",    "argon2id-4",    NULL,
};

/* a key of AES-256, and the two of AES-256-XTS */
static const QCryptoBenchSize sizes[] = {{32, 1}, {64, 1}};

static const char *const alt_names[] = {"CRYPTO_KDF", NULL};

const QCryptoBenchKind qcrypto_bench_kind_kdf = {
    .name = "kdf",
    .alt_names = alt_names,
    .optypes = {"derive", NULL},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = plan,
};
