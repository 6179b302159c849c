/*
 * AF_ALG: random numbers
 *
 * The kernel's generator of this name is a DRBG (NIST SP 800-90A) of the
 * kernel's own choice.  The key of a transform is its seed; an empty one makes
 * it take a seed from the kernel, without which nothing can be read.  A read
 * gives 128 bytes at most, whatever is asked for.
 *
 * Parent and child of a fork may share the socket: no two reads give the
 * same bytes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/afalg/afalg.h"

typedef struct Rng {
    int op;
} Rng;

static int init(void *ctx, const QCryptoRow *row, GError **errp)
{
    char name[QCRYPTO_AFALG_NAME];
    Rng *r = ctx;

    qcrypto_afalg_name(row, name);
    const int tfm =
        qcrypto_afalg_open(qcrypto_afalg_type(row->kind), name, errp);
    if (tfm < 0) {
        return -1;
    }
    r->op = qcrypto_afalg_set_key(tfm, name, (const uint8_t *)"", 0, errp) == 0
                ? qcrypto_afalg_accept(tfm, errp)
                : -1;
    /* the operation socket keeps the transform */
    qcrypto_afalg_close(tfm);
    return r->op < 0 ? -1 : 0;
}

static void fini(void *ctx)
{
    Rng *r = ctx;

    qcrypto_afalg_close(r->op);
}

static int bytes(void *ctx, uint8_t *out, size_t n, GError **errp)
{
    Rng *r = ctx;

    return qcrypto_afalg_receive(r->op, out, n, false, errp);
}

const QCryptoRngOps qcrypto_afalg_rng = {
    .ctx_size = sizeof(Rng),
    .init = init,
    .fini = fini,
    .bytes = bytes,
};
