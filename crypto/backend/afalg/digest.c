/*
 * AF_ALG: hashes and HMACs
 *
 * The operation socket holds the message's state: data is sent with MSG_MORE,
 * and reading ends the message.  A copy of the state is an operation socket
 * accepted from the other one.
 *
 * The state is in the kernel, so that after a fork parent and child have one
 * between them.  The child gets an error for a message that was begun before,
 * and a socket of its own for a new one.
 *
 * The key of an HMAC is filled up with zeros to a block, which RFC 2104 does
 * with it anyway, or hashed first when it is longer: kernels refuse empty
 * keys and long ones for reasons of their own.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>
#include <unistd.h>

#include "crypto/backend/afalg/afalg.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"

/* sent at a time; the kernel takes it in pieces of its own */
#define PIECE ((size_t)256 << 10)

#define BLOCK_MAX 144

typedef struct Digest {
    size_t len; /* of the result */
    bool made;  /* the sockets are there */
    bool begun; /* the message has data */
    int tfm;
    int op;
    pid_t pid; /* whose the operation socket is */
} Digest;

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(Digest);
}

static void fini(void *ctx)
{
    Digest *d = ctx;

    if (d->made) {
        qcrypto_afalg_close(d->op);
        qcrypto_afalg_close(d->tfm);
        d->made = false;
    }
}

/* key: filled up to nkey bytes, or NULL for a hash */
static int make(Digest *d, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp)
{
    char name[QCRYPTO_AFALG_NAME];

    qcrypto_afalg_name(row, name);
    d->len = qcrypto_alg(row->kind, row->alg)->out_len;
    d->begun = false;
    d->pid = getpid();
    d->tfm = qcrypto_afalg_open(qcrypto_afalg_type(row->kind), name, errp);
    if (d->tfm < 0) {
        return -1;
    }
    if ((key && qcrypto_afalg_set_key(d->tfm, name, key, nkey, errp) < 0) ||
        (d->op = qcrypto_afalg_accept(d->tfm, errp)) < 0) {
        qcrypto_afalg_close(d->tfm);
        return -1;
    }
    d->made = true;
    return 0;
}

/* Before anything is asked of the operation socket. */
static int own(Digest *d, GError **errp)
{
    if (d->pid == getpid()) {
        return 0;
    }
    if (d->begun) {
        return qcrypto_error(
            errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
            "AF_ALG: the message was begun in another process");
    }
    const int op = qcrypto_afalg_accept(d->tfm, errp);
    if (op < 0) {
        return -1;
    }
    qcrypto_afalg_close(d->op);
    d->op = op;
    d->pid = getpid();
    return 0;
}

static int update(void *ctx, const uint8_t *data, size_t len, GError **errp)
{
    Digest *d = ctx;

    if (own(d, errp) < 0) {
        return -1;
    }
    d->begun |= len != 0;
    while (len) {
        struct iovec iov = {(void *)(uintptr_t)data, MIN(len, PIECE)};
        const struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
        const ssize_t n = qcrypto_afalg_send(d->op, &msg, MSG_MORE, errp);

        if (n < 0) {
            return -1;
        }
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Reading ends the message; the next data begin another one. */
static int final(void *ctx, uint8_t *result, GError **errp)
{
    uint8_t buf[64];
    Digest *d = ctx;

    if (own(d, errp) < 0) {
        return -1;
    }
    const int ret = qcrypto_afalg_receive(d->op, buf, d->len, true, errp);
    if (ret == 0) {
        d->begun = false;
        memcpy(result, buf, d->len);
    }
    qcrypto_wipe(buf, sizeof(buf));
    return ret;
}

/* ---- hashes ---- */

static int hash_init(void *ctx, const QCryptoRow *row, GError **errp)
{
    Digest *d = ctx;

    if (d->made && !d->begun) {
        return 0;
    }
    /* a message that was given up: its state goes with its socket */
    fini(d);
    return make(d, row, NULL, 0, errp);
}

static int hash_copy(void *dst, const void *src, GError **errp)
{
    Digest from = *(const Digest *)src;
    Digest *to = dst;

    if (from.pid != getpid()) {
        return qcrypto_error(
            errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
            "AF_ALG: the message was begun in another process");
    }
    /* after a fork the copy makes its socket anew, from a copy of an unused
     * one as well as from a transform */
    from.tfm = qcrypto_afalg_accept(from.tfm, errp);
    if (from.tfm < 0) {
        return -1;
    }
    from.op = qcrypto_afalg_accept(from.op, errp);
    if (from.op < 0) {
        qcrypto_afalg_close(from.tfm);
        return -1;
    }
    fini(to);
    *to = from;
    return 0;
}

const QCryptoHashOps qcrypto_afalg_hash = {
    .ctx_size = ctx_size,
    .init = hash_init,
    .fini = fini,
    .update = update,
    .final = final,
    .copy = hash_copy,
};

/* ---- HMACs ---- */

static int hash_of_key(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                       uint8_t *digest, GError **errp)
{
    const QCryptoRow hash = {
        .kind = QCRYPTO_KIND_HASH,
        .alg = row->alg,
        .mode = -1,
    };
    Digest d = {.made = false};
    int ret = make(&d, &hash, NULL, 0, errp);

    if (ret == 0) {
        ret = update(&d, key, nkey, errp);
        ret = ret == 0 ? final(&d, digest, errp) : ret;
        fini(&d);
    }
    return ret;
}

static int hmac_init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                     size_t nkey, GError **errp)
{
    const size_t bl = qcrypto_alg(row->kind, row->alg)->block_len;
    uint8_t block[BLOCK_MAX] = {0};
    int ret = 0;

    if (nkey > bl) {
        ret = hash_of_key(row, key, nkey, block, errp);
    } else {
        memcpy(block, key, nkey);
    }
    ret = ret == 0 ? make(ctx, row, block, bl, errp) : ret;
    qcrypto_wipe(block, sizeof(block));
    return ret;
}

const QCryptoHmacOps qcrypto_afalg_hmac = {
    .ctx_size = ctx_size,
    .init = hmac_init,
    .fini = fini,
    .update = update,
    .final = final,
};
