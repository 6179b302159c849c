/*
 * Kind "chacha": throughput of ChaCha with 8, 12 and 20 rounds
 *
 *   xor        a message xored with the keystream of a new nonce
 *   keystream  the same number of bytes of keystream, without an input
 *
 * A request is one message from block 0 on, or with sectors > 1 so many of
 * them, each with a nonce of its own.  What is measured must give the bytes
 * of the portable kernel, which has passed its self-test; peers have no
 * keystream call and are given zeros.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/chacha.h"

#include <qcrypto/chacha.h>
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/chacha.h"

enum { OP_XOR, OP_KEYSTREAM };

#define NKEY 32
/* of peers: the first block's number, 8 bytes, and the nonce */
#define NIV       16
#define NONCE(iv) ((iv) + 8)
/* addresses whose low 12 bits are not those of the input */
#define SKEW 2112

typedef struct ChaChaState ChaChaState;
struct ChaChaState {
    const QCryptoBenchCase *c;
    QCryptoChaCha *stream;
    const QCryptoBenchCipherPeer *peer; /* of the other two, one is NULL */
    void *ctx;
    size_t unit, n, total;
    uint8_t key[NKEY];
    uint8_t *ivs;   /* NIV bytes for each message */
    uint8_t *plain; /* the messages; zeros for keystream */
    uint8_t *want;  /* what the request must give */
    uint8_t *out;
    uint8_t *in; /* plain, or out */
    void *memory;
    size_t size;
};

static int request(ChaChaState *s, GError **errp)
{
    if (s->peer) {
        return s->peer->units(s->ctx, 0, s->ivs, NIV, s->unit, s->in, s->out,
                              s->n, errp);
    }
    for (size_t i = 0; i < s->n; i++) {
        uint8_t *out = s->out + i * s->unit;

        if (qcrypto_chacha_setiv(s->stream, NONCE(s->ivs + i * NIV), 8, errp) <
            0) {
            return -1;
        }
        if ((s->c->op == OP_XOR
                 ? qcrypto_chacha_crypt(s->stream, s->in + i * s->unit, out,
                                        s->unit, errp)
                 : qcrypto_chacha_keystream(s->stream, out, s->unit, errp)) <
            0) {
            return -1;
        }
    }
    return 0;
}

/* The request by the model, into want. */
static int model(ChaChaState *s, GError **errp)
{
    const QCryptoChaChaOps *plain = qcrypto_chacha_reference(
        qcrypto_chacha_rounds((QCryptoChaChaAlgo)s->c->alg), errp);
    uint32_t state[16];

    for (size_t i = 0; plain && i < s->n; i++) {
        if (qcrypto_chacha_init(state, s->key, NKEY, NONCE(s->ivs + i * NIV), 8,
                                0, errp) < 0 ||
            plain->crypt(NULL, state, s->plain + i * s->unit,
                         s->want + i * s->unit, s->unit, errp) < 0) {
            return -1;
        }
    }
    return plain ? 0 : -1;
}

/* One request from the input, and its output compared. */
static int check_again(void *state, GError **errp)
{
    ChaChaState *s = state;

    if (s->in == s->out) {
        memcpy(s->out, s->plain, s->total);
    } else {
        memset(s->out, 0x5a, s->total);
    }
    if (request(s, errp) < 0) {
        return -1;
    }
    return memcmp(s->out, s->want, s->total)
               ? qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "other bytes than the portable kernel's")
               : 0;
}

static int verify(void *state, GError **errp)
{
    return model(state, errp) < 0 ? -1 : check_again(state, errp);
}

static int run(void *state, uint64_t calls, GError **errp)
{
    for (; calls; calls--) {
        if (request(state, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static void teardown(void *state)
{
    ChaChaState *s = state;

    if (s->ctx) {
        s->peer->close(s->ctx);
    }
    qcrypto_chacha_free(s->stream);
    qcrypto_wipe_free(s->memory, s->size);
    g_free(s);
}

/* Page-aligned buffers of one allocation, each with a skew of its own. */
static int make_buffers(ChaChaState *s, GError **errp)
{
    const size_t room = ((s->total + 4095) & ~(size_t)4095) + 4096;

    s->size = 3 * room + s->n * NIV + 2 * 4096;
    s->memory = qcrypto_alloc(s->size);
    if (!s->memory) {
        return qcrypto_error_memory(errp, "the benchmark's buffers",
                                    s->size / 1024, 0);
    }
    s->plain = (void *)(((uintptr_t)s->memory + 4095) & ~(uintptr_t)4095);
    s->want = s->plain + room;
    s->out = s->want + room + SKEW;
    s->ivs = s->out + room;
    for (size_t i = 0; s->c->op == OP_XOR && i < s->total; i++) {
        s->plain[i] = (uint8_t)(i * 11 + (i >> 8) * 5 + 1);
    }
    for (size_t i = 0; i < s->n; i++) {
        qcrypto_put_le64(NONCE(s->ivs + i * NIV), i + 1);
    }
    /* keystream has no input to be in the place of */
    s->in = s->c->inplace && s->c->op == OP_XOR ? s->out : s->plain;
    return 0;
}

static void *setup(const QCryptoBenchCase *c, GError **errp)
{
    const unsigned rounds = qcrypto_chacha_rounds((QCryptoChaChaAlgo)c->alg);
    ChaChaState *s = g_new0(ChaChaState, 1);

    s->c = c;
    s->n = c->sectors;
    s->unit = c->inputsize;
    s->total = s->n * s->unit;
    for (size_t i = 0; i < NKEY; i++) {
        s->key[i] = (uint8_t)(17 * i + 1);
    }
    if (make_buffers(s, errp) < 0) {
        teardown(s);
        return NULL;
    }
    if (c->peer) {
        s->peer = c->peer->chacha;
        s->ctx = s->peer->open(c->alg, -1, s->key, NKEY, errp);
    } else {
        s->stream = qcrypto_chacha_new_from(c->row, rounds, s->key, NKEY, errp);
    }
    if (!s->ctx && !s->stream) {
        teardown(s);
        return NULL;
    }
    return s;
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    const ChaChaState *s = state;

    *provider =
        s->stream ? qcrypto_chacha_get_provider(s->stream) : s->c->provider;
    *impl = s->stream ? qcrypto_chacha_get_impl(s->stream) : s->c->peer->impl;
}

static const QCryptoBenchOps ops = {
    .setup = setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .check = check_again,
    .teardown = teardown,
};

/* ---- From request to cases ---- */

static bool peer_has(const QCryptoBenchPeer *peer, int alg, int mode)
{
    return peer->chacha && peer->chacha->supports(alg, mode);
}

static int fit(QCryptoBenchCase *c, GError **errp G_GNUC_UNUSED)
{
    c->request_bytes = (uint64_t)c->inputsize * c->sectors;
    c->keybits = NKEY * 8;
    return 0;
}

static int plan_one(const QCryptoBenchKind *kind,
                    const QCryptoBenchRequest *request, int alg,
                    GPtrArray *groups, GError **errp)
{
    const QCryptoBenchSource source = {kind, &ops, QCRYPTO_KIND_CHACHA,
                                       peer_has, NULL};
    g_autoptr(GPtrArray) list =
        qcrypto_bench_candidates(&source, request, alg, -1, errp);

    return list ? qcrypto_bench_cross(kind, request, list, groups, fit, errp)
                : -1;
}

static bool knows(const char *name)
{
    return qcrypto_bench_alg(QCRYPTO_KIND_CHACHA, name) >= 0;
}

static int plan(const QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    const char *const *names = request->algorithms
                                   ? (const char *const *)request->algorithms
                                   : kind->algorithms;

    for (; *names; names++) {
        const bool all = !g_ascii_strcasecmp(*names, "all");
        const int alg = qcrypto_bench_alg(QCRYPTO_KIND_CHACHA, *names);

        if (alg < 0 && !all) {
            return qcrypto_error_unknown(errp, "ChaCha", *names);
        }
        for (int i = 0; i < QCRYPTO_CHACHA_ALGO__MAX; i++) {
            if ((all || alg == i) &&
                qcrypto_bench_key_listed(request, NKEY * 8) &&
                plan_one(kind, request, i, groups, errp) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static const char *const algorithms[] = {"chacha8", "chacha12", "chacha20",
                                         NULL};

static const QCryptoBenchSize sizes[] = {
    {64, 1}, {256, 1}, {1024, 1}, {4096, 1}, {65536, 1},
};

static const char *const alt_names[] = {"CRYPTO_CHACHA", NULL};

const QCryptoBenchKind qcrypto_bench_kind_chacha = {
    .name = "chacha",
    .alt_names = alt_names,
    .optypes = {"xor", "keystream"},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = plan,
};
