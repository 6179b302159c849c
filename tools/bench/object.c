/*
 * Kind "object": what a cipher object costs beside the bytes it processes
 *
 *   new    a new object with its key schedule, and its end
 *   call   one call over 16 bytes on an object that is ready: the price of
 *          the front end and of the indirect call
 *
 * The row that an algorithm is served by is made by qcrypto_cipher_new, as
 * an application would; the others are asked for by name, which adds the
 * look-up of the name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "tools/bench/cipher.h"

#include "crypto/core/select.h"

enum { OP_NEW, OP_CALL };

#define CALL_BYTES 16

static int run_new(QCryptoBenchCipher *s, uint64_t calls, GError **errp)
{
    for (; calls; calls--) {
        QCryptoCipher *cipher = qcrypto_bench_cipher_new(s, errp);

        if (!cipher) {
            return -1;
        }
        qcrypto_cipher_free(s->cipher);
        s->cipher = cipher;
    }
    return 0;
}

static int run_new_peer(QCryptoBenchCipher *s, uint64_t calls, GError **errp)
{
    for (; calls; calls--) {
        void *ctx = s->peer->open(s->c->alg, s->c->mode, s->key, s->nkey, errp);

        if (!ctx) {
            return -1;
        }
        s->peer->close(s->ctx);
        s->ctx = ctx;
    }
    return 0;
}

static int run_call(QCryptoBenchCipher *s, uint64_t calls, GError **errp)
{
    for (; calls; calls--) {
        if (qcrypto_cipher_encrypt(s->cipher, s->in, s->out, CALL_BYTES, errp) <
            0) {
            return -1;
        }
    }
    return 0;
}

static int run_call_peer(QCryptoBenchCipher *s, uint64_t calls, GError **errp)
{
    for (; calls; calls--) {
        if (s->peer->piece(s->ctx, 0, s->in, s->out, CALL_BYTES, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int object_run(void *state, uint64_t calls, GError **errp)
{
    static int (*const runs[2][2])(QCryptoBenchCipher *, uint64_t,
                                   GError **) = {
        [OP_NEW] = {run_new, run_new_peer},
        [OP_CALL] = {run_call, run_call_peer},
    };
    QCryptoBenchCipher *s = state;

    return runs[s->c->op][s->peer != NULL](s, calls, errp);
}

/*
 * Objects are made to encrypt, whatever the operation's number, and both
 * operations are checked with a unit of 16 bytes.
 */
static void *object_setup(const QCryptoBenchCase *c, GError **errp)
{
    QCryptoBenchCase form = *c;
    QCryptoBenchCipher *s;

    form.op = 0;
    form.inputsize = CALL_BYTES;
    form.sectors = 1;
    s = qcrypto_bench_cipher_setup(&form, errp);
    if (s) {
        s->c = c;
    }
    return s;
}

static const QCryptoBenchOps object_ops = {
    .setup = object_setup,
    .identify = qcrypto_bench_cipher_identify,
    .verify = qcrypto_bench_cipher_verify,
    .run = object_run,
    .check = qcrypto_bench_cipher_check_again,
    .teardown = qcrypto_bench_cipher_teardown,
};

static int fit(QCryptoBenchCase *c, GError **errp)
{
    c->flags &= ~QCRYPTO_BENCH_BOUNDED;
    c->flags |= QCRYPTO_BENCH_LATENCY;
    c->keybits = qcrypto_alg(QCRYPTO_KIND_CIPHER, c->alg)->key_len * 8u;
    c->inputsize = c->op == OP_CALL ? CALL_BYTES : 0;
    c->sectors = 1;
    c->request_bytes = c->inputsize;
    return 0;
}

/* The row that serves the algorithm is reached without a name. */
static void unname_selected(QCryptoBenchCase *c)
{
    size_t n;
    QCryptoCandidate *const *list =
        qcrypto_select(QCRYPTO_KIND_CIPHER, c->alg, c->mode, &n, NULL);

    for (size_t i = 0; i < n; i++) {
        if (qcrypto_candidate_usable(list[i], NULL)) {
            if (c->row && !strcmp(list[i]->provider->name, c->provider) &&
                !strcmp(list[i]->row->impl, c->impl)) {
                g_clear_pointer(&c->row, g_free);
            }
            return;
        }
    }
}

static int object_plan(const QCryptoBenchKind *kind,
                       const QCryptoBenchRequest *request, GPtrArray *groups,
                       GError **errp)
{
    QCryptoBenchRequest mine = *request;
    const guint before = groups->len;

    /* one size for each operation, whatever is asked of others */
    mine.sizes = kind->sizes;
    mine.nsizes = kind->nsizes;
    mine.inplace[0] = true;
    mine.inplace[1] = false;
    if (qcrypto_bench_cipher_plan(kind, &mine, &object_ops, fit, groups, errp) <
        0) {
        return -1;
    }
    for (guint i = before; i < groups->len; i++) {
        GPtrArray *group = g_ptr_array_index(groups, i);

        for (guint j = group->len; j-- > 0;) {
            QCryptoBenchCase *c = g_ptr_array_index(group, j);

            if (c->flags & QCRYPTO_BENCH_BOUND) {
                g_ptr_array_remove_index(group, j);
            } else {
                unname_selected(c);
            }
        }
    }
    return 0;
}

static const char *const algorithms[] = {"aes-256-ecb", "aes-256-xts", NULL};

static const QCryptoBenchSize sizes[] = {{CALL_BYTES, 1}};

static const char *const alt_names[] = {"CRYPTO_OBJECT", NULL};

const QCryptoBenchKind qcrypto_bench_kind_object = {
    .name = "object",
    .alt_names = alt_names,
    .optypes = {"new", "call"},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .plan = object_plan,
};
