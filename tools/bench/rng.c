/*
 * Kind "rng": random number generators
 *
 *   draw   a request is so many random bytes into the same buffer
 *
 * Ours runs on ChaCha with 8, 12 and 20 rounds, each thread with a generator
 * of its own ("chacha8", ...), and as the whole process has it ("default",
 * qcrypto_random_bytes).  All are one group: generators are compared by what
 * they are asked for, not by what they are made of.
 *
 * Generators of the providers' own (the kernel's through AF_ALG) are rows like
 * any others.
 *
 * Nobody knows the right bytes.  What can be said is that two requests give
 * different ones, that every byte is written and none beyond.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/rng.h"

#include <qcrypto/provider.h>
#include <qcrypto/random.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/chacha.h"
#include "crypto/core/select.h"

#define ALGORITHM "random"
#define OURS      "qcrypto"
#define DEFAULT   "default"
/* a byte that must stay as it is behind the buffer */
#define FENCE 0xa5
/* tries until each byte of the buffer has been seen to change; a byte stays
 * as it was once in 256 times */
#define TRIES 16

typedef struct Rng Rng;
struct Rng {
    const QCryptoBenchCase *c;
    QCryptoRng *rng; /* ours with a number of rounds */
    const QCryptoRngOps *ops; /* of a row, with its context */
    void *ctx;
    uint8_t *buf;
    size_t n;
    size_t size; /* of buf */
};

static int run_ours(void *state, uint64_t calls, GError **errp)
{
    Rng *s = state;

    for (; calls; calls--) {
        if (qcrypto_rng_bytes(s->rng, s->buf, s->n, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int run_default(void *state, uint64_t calls, GError **errp)
{
    Rng *s = state;

    for (; calls; calls--) {
        if (qcrypto_random_bytes(s->buf, s->n, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int run_peer(void *state, uint64_t calls, GError **errp)
{
    Rng *s = state;
    int (*const bytes)(void *, size_t, GError **) = s->c->peer->rng->bytes;

    for (; calls; calls--) {
        if (bytes(s->buf, s->n, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int run_row(void *state, uint64_t calls, GError **errp)
{
    Rng *s = state;

    for (; calls; calls--) {
        if (s->ops->bytes(s->ctx, s->buf, s->n, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* 0 with s->ctx made, or -1 and the error. */
static int open_row(Rng *s, GError **errp)
{
    const QCryptoCandidate *candidate =
        qcrypto_select_named(s->c->row, QCRYPTO_KIND_RNG, 0, -1, errp);

    if (!candidate) {
        return -1;
    }
    s->ops = candidate->row->ops;
    void *ctx = qcrypto_alloc(s->ops->ctx_size);
    if (!ctx) {
        return qcrypto_error_memory(errp, "a generator",
                                    s->ops->ctx_size / 1024 + 1, 0);
    }
    if (s->ops->init(ctx, candidate->row, errp) < 0) {
        qcrypto_wipe_free(ctx, s->ops->ctx_size);
        return -1;
    }
    s->ctx = ctx;
    return 0;
}

static int wrong(GError **errp, const char *what)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "%s", what);
}

static int verify(void *state, GError **errp)
{
    Rng *s = state;
    g_autofree uint8_t *last = g_malloc(s->n);
    g_autofree uint8_t *changed = g_malloc0(s->n);

    memset(s->buf, 0, s->n);
    s->buf[s->n] = FENCE;
    for (int i = 0; i < TRIES; i++) {
        memcpy(last, s->buf, s->n);
        if (s->c->ops->run(s, 1, errp) < 0) {
            return -1;
        }
        for (size_t j = 0; j < s->n; j++) {
            changed[j] |= last[j] ^ s->buf[j];
        }
        if (s->n >= 8 && !memcmp(last, s->buf, s->n)) {
            return wrong(errp, "the same bytes twice");
        }
    }
    if (memchr(changed, 0, s->n)) {
        return wrong(errp, "a byte that is never written");
    }
    return s->buf[s->n] == FENCE ? 0 : wrong(errp, "wrote too much");
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    const Rng *s = state;

    *provider = s->c->provider;
    *impl = s->c->impl;
}

static void teardown(void *state)
{
    Rng *s = state;

    qcrypto_rng_free(s->rng);
    if (s->ctx) {
        s->ops->fini(s->ctx);
        qcrypto_wipe_free(s->ctx, s->ops->ctx_size);
    }
    qcrypto_wipe_free(s->buf, s->size);
    g_free(s);
}

static void *setup(const QCryptoBenchCase *c, GError **errp)
{
    Rng *s = g_new0(Rng, 1);
    bool ok = true;

    s->c = c;
    s->n = c->inputsize;
    s->size = s->n + 1;
    s->buf = qcrypto_alloc(s->size);
    if (!s->buf) {
        qcrypto_error_memory(errp, "the benchmark's buffer", s->size / 1024, 0);
        ok = false;
    } else if (c->peer) {
        ok = !c->peer->rng->init || c->peer->rng->init(errp) == 0;
    } else if (c->row) {
        ok = open_row(s, errp) == 0;
    } else if (c->alg >= 0) {
        s->rng = qcrypto_rng_new(
            qcrypto_chacha_rounds((QCryptoChaChaAlgo)c->alg), errp);
        ok = s->rng != NULL;
    }
    if (!ok) {
        teardown(s);
        return NULL;
    }
    return s;
}

#define OPS(how)                                                               \
    {                                                                          \
        .setup = setup, .identify = identify, .verify = verify, .run = (how),  \
        .check = verify, .teardown = teardown,                                 \
    }

static const QCryptoBenchOps ours = OPS(run_ours);
static const QCryptoBenchOps process = OPS(run_default);
static const QCryptoBenchOps peers = OPS(run_peer);
static const QCryptoBenchOps rows = OPS(run_row);

/* ---- From request to cases ---- */

static const QCryptoBenchMeasure measure = {
    .unit = "million requests a second",
    .scale = 1e6,
};

static bool is_asked_for(const QCryptoBenchRequest *request,
                         const char *provider, const char *impl)
{
    return qcrypto_bench_listed(request->providers, provider) &&
           (!request->impls || qcrypto_bench_listed(request->impls, "all") ||
            qcrypto_bench_listed(request->impls, impl));
}

/* alg: a QCryptoChaChaAlgo, or -1.  NULL: not asked for. */
static QCryptoBenchCase *add_case(GPtrArray *list, const QCryptoBenchRequest *request,
                     const QCryptoBenchOps *ops, int alg, const char *provider,
                     const char *impl, const QCryptoBenchPeer *peer)
{
    if (!is_asked_for(request, provider, impl)) {
        return NULL;
    }
    QCryptoBenchCase *c = g_new0(QCryptoBenchCase, 1);
    c->ops = ops;
    c->algtype = qcrypto_bench_kind_rng.name;
    c->alg = alg;
    c->mode = -1;
    c->algorithm = g_strdup(ALGORITHM);
    c->provider = g_strdup(provider);
    c->impl = g_strdup(impl);
    c->peer = peer;
    c->flags = peer ? QCRYPTO_BENCH_PEER : 0;
    c->measure = &measure;
    g_ptr_array_add(list, c);
    return c;
}

static void free_case(gpointer c)
{
    qcrypto_bench_case_free(c);
}

static GPtrArray *candidates(const QCryptoBenchRequest *request)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(free_case);

    add_case(list, request, &process, -1, OURS, DEFAULT, NULL);
    for (int i = 0; i < QCRYPTO_CHACHA_ALGO__MAX; i++) {
        add_case(list, request, &ours, i, OURS,
                 qcrypto_alg(QCRYPTO_KIND_CHACHA, i)->name, NULL);
    }
    size_t nrows;
    QCryptoRowInfo *info = qcrypto_rows_list(&nrows, NULL);
    for (size_t i = 0; info && i < nrows; i++) {
        const QCryptoRowInfo *r = &info[i];
        QCryptoBenchCase *c =
            r->kind_id == QCRYPTO_KIND_RNG
                ? add_case(list, request, &rows, -1, r->provider, r->impl, NULL)
                : NULL;

        if (c) {
            c->row = g_strdup_printf("%s:%s", r->provider, r->impl);
            c->unavailable = r->usable ? NULL : g_strdup(r->reason);
        }
    }
    qcrypto_rows_free(info, nrows);
    for (size_t i = 0; request->peers && request->peers[i]; i++) {
        const QCryptoBenchPeer *p = request->peers[i];

        if (p->rng) {
            add_case(list, request, &peers, -1, p->name, p->rng->impl, p);
        }
    }
    return list;
}

static int fit(QCryptoBenchCase *c, GError **errp)
{
    if (c->sectors != 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: a request is one unit, not %zu", c->algtype,
                             c->sectors);
    }
    c->request_bytes = c->inputsize;
    return 0;
}

static bool knows(const char *name)
{
    return !g_ascii_strcasecmp(name, ALGORITHM);
}

static int plan(const QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    QCryptoBenchRequest mine = *request;

    for (char **name = request->algorithms; name && *name; name++) {
        if (g_ascii_strcasecmp(*name, "all") && !knows(*name)) {
            return qcrypto_error_unknown(errp, "generator", *name);
        }
    }
    /* there is one buffer */
    mine.inplace[0] = true;
    mine.inplace[1] = false;
    g_autoptr(GPtrArray) list = candidates(request);
    return qcrypto_bench_cross(kind, &mine, list, groups, fit, errp);
}

static const char *const algorithms[] = {ALGORITHM, NULL};

static const QCryptoBenchSize sizes[] = {
    {8, 1},   {16, 1},  {32, 1},   {64, 1},   {128, 1},
    {256, 1}, {512, 1}, {1024, 1}, {4096, 1}, {65536, 1},
};

static const char *const alt_names[] = {"CRYPTO_RNG", NULL};

const QCryptoBenchKind qcrypto_bench_kind_rng = {
    .name = "rng",
    .alt_names = alt_names,
    .own = OURS,
    .optypes = {"draw", NULL},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = plan,
};
