/*
 * AF_ALG: ciphers
 *
 * A request is cut into messages that are complete in themselves: each has
 * its operation and its IV, is sent at once, and all of its answer is read
 * before the next one.  Nothing depends on what a kernel keeps from one
 * message to the next: the IV that goes on is made here (CBC: the last block
 * of ciphertext; CTR: the counter, as one number over the whole block).
 *
 * How long a message can be.  The kernel holds what was sent until it is
 * read, in the socket's send buffer counted in pages; a reader who does not
 * come while a sender waits for room is a deadlock, and a send that takes a
 * part ends the message there.  So a message is never longer than the buffer
 * that the socket really has, which may be as small as a page.  What is read
 * is bounded by the receive buffer, in whole pages of the reader's memory,
 * one of which is lost to alignment.  Larger buffers are asked for, and
 * whatever comes of that is used.
 *
 * XTS.  A data unit is one message and one read, for a kernel that reads in
 * pieces begins each of them at the unit's tweak.  A unit longer than a
 * message goes in pieces all the same, each with an IV of its own making: a
 * piece that begins at block j has the tweak T = E(iv) x^j, E being the cipher
 * under the tweak key, and the kernel encrypts the IV it is given, so the
 * piece's IV is D(T).  E and D come from an ecb(cipher) transform.
 *
 * Zero copy (vmsplice and splice into the socket) is not used: a pipe holds
 * 16 pages, so that each of them costs two more system calls and each
 * operation socket two more descriptors; pages given away must not change
 * before the answer has come, which in place they do; and newer kernels copy
 * after all.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <unistd.h>

#include "crypto/backend/afalg/afalg.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/mode/xts-tweak.h"

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

/* Asked for; the system's limits (net.core.wmem_max) may give less. */
#define BUFFER (1 << 20)

/* ---- operation sockets ---- */

/* The buffer that the socket has, after a larger one was asked for. */
static size_t buffer(int fd, int option)
{
    const QCryptoAfalgSys *sys = qcrypto_afalg_sys;
    int size = BUFFER;
    socklen_t len = sizeof(size);

    sys->setsockopt(fd, SOL_SOCKET, option, &size, sizeof(size));
    if (sys->getsockopt(fd, SOL_SOCKET, option, &size, &len) < 0 || size < 0) {
        return 0;
    }
    return (size_t)size;
}

static QCryptoAfalgOp *op_accept(int tfm, GError **errp)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int fd = qcrypto_afalg_accept(tfm, errp);

    if (fd < 0) {
        return NULL;
    }
    /* at least a page of either whatever the buffers are */
    const size_t send = buffer(fd, SO_SNDBUF) / page;
    const size_t receive = buffer(fd, SO_RCVBUF) / page;
    QCryptoAfalgOp *op = g_new(QCryptoAfalgOp, 1);

    op->fd = fd;
    op->pid = getpid();
    op->most = MIN(MAX(send, 1), MAX(receive, 2) - 1) * page;
    return op;
}

static void *op_open(const void *owner, GError **errp)
{
    const QCryptoAfalgCipher *c = owner;

    return op_accept(c->tfm, errp);
}

void qcrypto_afalg_op_discard(QCryptoAfalgOp *op)
{
    qcrypto_afalg_close(op->fd);
    g_free(op);
}

static void op_close(void *op)
{
    qcrypto_afalg_op_discard(op);
}

/* ctx is const to its callers; the pool changes under atomic operations */
static QCryptoPool *pool(const QCryptoAfalgCipher *c)
{
    return (QCryptoPool *)(uintptr_t)&c->ops;
}

QCryptoAfalgOp *qcrypto_afalg_op_take(const QCryptoAfalgCipher *c,
                                      GError **errp)
{
    for (;;) {
        QCryptoAfalgOp *op = qcrypto_pool_take(pool(c), c, errp);

        if (!op || op->pid == getpid()) {
            return op;
        }
        /* the parent of this process uses it */
        qcrypto_afalg_op_discard(op);
    }
}

void qcrypto_afalg_op_put(const QCryptoAfalgCipher *c, QCryptoAfalgOp *op)
{
    qcrypto_pool_put(pool(c), op);
}

/* ---- messages ---- */

typedef union Control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(uint32_t)) +
               CMSG_SPACE(sizeof(struct af_alg_iv) + 16)];
} Control;

static struct cmsghdr *add_control(struct msghdr *msg, struct cmsghdr *last,
                                   int type, size_t len)
{
    struct cmsghdr *c = last ? CMSG_NXTHDR(msg, last) : CMSG_FIRSTHDR(msg);

    c->cmsg_level = SOL_ALG;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(len);
    return c;
}

/*
 * Sends a message: decrypt, or encrypt, with niv bytes of IV.  UNSUPPORTED,
 * with the bytes that were taken in *taken, when that is less than all.
 */
static int send_message(int fd, int decrypt, const uint8_t *iv, size_t niv,
                        const uint8_t *in, size_t len, size_t *taken,
                        GError **errp)
{
    const uint32_t op = decrypt ? ALG_OP_DECRYPT : ALG_OP_ENCRYPT;
    const uint32_t ivlen = (uint32_t)niv;
    struct iovec iov = {(void *)(uintptr_t)in, len};
    Control control = {.bytes = {0}};
    struct msghdr msg = {
        .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE(sizeof(op)),
    };

    if (niv) {
        msg.msg_controllen += CMSG_SPACE(sizeof(struct af_alg_iv) + niv);
    }
    struct cmsghdr *c = add_control(&msg, NULL, ALG_SET_OP, sizeof(op));
    memcpy(CMSG_DATA(c), &op, sizeof(op));
    if (niv) {
        c = add_control(&msg, c, ALG_SET_IV, sizeof(struct af_alg_iv) + niv);
        memcpy(CMSG_DATA(c), &ivlen, sizeof(ivlen));
        memcpy(CMSG_DATA(c) + G_STRUCT_OFFSET(struct af_alg_iv, iv), iv, niv);
    }
    const ssize_t n = qcrypto_afalg_send(fd, &msg, 0, errp);
    if (n < 0) {
        return -1;
    }
    *taken = (size_t)n;
    return *taken == len
               ? 0
               : qcrypto_error_unsupported(
                     errp, "a message", "the kernel took %zu of its %zu bytes",
                     *taken, len);
}

/* ---- the walk ---- */

/* The counter is one number, most significant byte first, and may wrap. */
static void add_to_counter(uint8_t *counter, size_t size, size_t n)
{
    for (size_t i = size; i-- > 0 && n;) {
        n += counter[i];
        counter[i] = (uint8_t)n;
        n >>= 8;
    }
}

static void begin_piece(QCryptoAfalgWalk *w)
{
    const size_t bl = w->c->block;

    w->len = MIN(w->left, w->most);
    if (w->c->row->mode == QCRYPTO_CIPHER_MODE_XTS && w->left > w->len &&
        w->left - w->len < bl) {
        /* ciphertext stealing needs a whole block before the part */
        w->len -= bl;
    }
    if (w->c->row->mode == QCRYPTO_CIPHER_MODE_CBC && w->decrypt) {
        /* in place, it would be gone when it is needed */
        memcpy(w->next, w->in + w->len - bl, bl);
    }
}

static void begin_unit(QCryptoAfalgWalk *w)
{
    w->left = w->unit;
    if (w->c->niv) {
        memcpy(w->iv, w->ivs, w->c->niv);
        w->ivs += w->c->niv;
    }
    begin_piece(w);
}

void qcrypto_afalg_walk_start(QCryptoAfalgWalk *w, const QCryptoAfalgCipher *c,
                              int decrypt, const uint8_t *ivs, size_t unit,
                              const uint8_t *in, uint8_t *out, size_t n,
                              size_t most)
{
    *w = (QCryptoAfalgWalk){
        .c = c,
        .decrypt = decrypt,
        .ivs = ivs,
        .in = in,
        .out = out,
        .unit = unit,
        .units = n,
        .most = most,
    };
    if (!c->niv) {
        /* without IVs a run of units is one */
        w->unit *= n;
        w->units = 1;
    }
    begin_unit(w);
}

int qcrypto_afalg_walk_send(QCryptoAfalgWalk *w, const QCryptoAfalgOp *op,
                            GError **errp)
{
    size_t taken = 0;

    return send_message(op->fd, w->decrypt, w->iv, w->c->niv, w->in, w->len,
                        &taken, errp);
}

bool qcrypto_afalg_walk_next(QCryptoAfalgWalk *w)
{
    const size_t bl = w->c->block;

    if (w->c->row->mode == QCRYPTO_CIPHER_MODE_CBC) {
        memcpy(w->iv, w->decrypt ? w->next : w->out + w->len - bl, bl);
    } else if (w->c->row->mode == QCRYPTO_CIPHER_MODE_CTR) {
        add_to_counter(w->iv, bl, (w->len + bl - 1) / bl);
    }
    w->in += w->len;
    w->out += w->len;
    w->left -= w->len;
    if (w->left) {
        begin_piece(w);
        return true;
    }
    if (--w->units) {
        begin_unit(w);
        return true;
    }
    return false;
}

/* ---- XTS units longer than a message ---- */

/* The tweak key's own transform, and the tweak of the piece to come. */
typedef struct Tweak {
    int tfm;
    QCryptoAfalgOp *ecb;
    xts_uint128 t;
} Tweak;

static int tweak_block(const Tweak *k, int decrypt, const uint8_t *in,
                       uint8_t *out, GError **errp)
{
    size_t taken = 0;

    if (send_message(k->ecb->fd, decrypt, NULL, 0, in, XTS_BLOCK, &taken,
                     errp) < 0) {
        return -1;
    }
    return qcrypto_afalg_receive(k->ecb->fd, out, XTS_BLOCK, true, errp);
}

static void tweak_close(Tweak *k)
{
    if (k->ecb) {
        qcrypto_afalg_op_discard(k->ecb);
    }
    if (k->tfm >= 0) {
        qcrypto_afalg_close(k->tfm);
    }
    qcrypto_wipe(k, sizeof(*k));
    *k = (Tweak){.tfm = -1};
}

/* For the unit that begins now: T = E(iv). */
static int tweak_open(Tweak *k, const QCryptoAfalgWalk *w, GError **errp)
{
    const QCryptoAfalgCipher *c = w->c;
    const QCryptoRow row = {
        .kind = c->row->kind,
        .alg = c->row->alg,
        .mode = QCRYPTO_CIPHER_MODE_ECB,
    };
    char name[QCRYPTO_AFALG_NAME];
    uint8_t block[XTS_BLOCK];

    qcrypto_afalg_name(&row, name);
    k->tfm = qcrypto_afalg_open(qcrypto_afalg_type(row.kind), name, errp);
    if (k->tfm < 0 ||
        qcrypto_afalg_set_key(k->tfm, name, c->tweak_key, c->ntweak_key, errp) <
            0 ||
        !(k->ecb = op_accept(k->tfm, errp)) ||
        tweak_block(k, 0, w->iv, block, errp) < 0) {
        g_prefix_error(errp,
                       "%s: a unit of %zu bytes, above the %zu of a message: ",
                       c->name, w->unit, w->most);
        tweak_close(k);
        return -1;
    }
    k->t = xts_load(block);
    qcrypto_wipe(block, sizeof(block));
    return 0;
}

/* The IV of the piece that follows this one: D(T x^j). */
static int tweak_next(Tweak *k, QCryptoAfalgWalk *w, GError **errp)
{
    uint8_t block[XTS_BLOCK];

    /* whole blocks, since a piece follows: at most 2^20 */
    for (size_t i = 0; i < w->len / XTS_BLOCK; i++) {
        k->t = xts_double(k->t);
    }
    xts_store(block, k->t);
    const int ret = tweak_block(k, 1, block, w->iv, errp);
    qcrypto_wipe(block, sizeof(block));
    return ret;
}

/* ---- the row ---- */

static size_t ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(QCryptoAfalgCipher);
}

static void fini(void *ctx)
{
    QCryptoAfalgCipher *c = ctx;

    qcrypto_pool_close(&c->ops);
    qcrypto_afalg_close(c->tfm);
}

static int init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp)
{
    QCryptoAfalgCipher *c = ctx;

    c->row = row;
    c->block = qcrypto_alg(row->kind, row->alg)->block_len;
    c->niv = row->mode == QCRYPTO_CIPHER_MODE_ECB ? 0 : c->block;
    c->ops = (QCryptoPool){.open = op_open, .close = op_close};
    qcrypto_afalg_name(row, c->name);
    if (row->mode == QCRYPTO_CIPHER_MODE_XTS) {
        c->ntweak_key = nkey / 2;
        memcpy(c->tweak_key, key + nkey / 2, nkey / 2);
    }
    c->tfm = qcrypto_afalg_open(qcrypto_afalg_type(row->kind), c->name, errp);
    if (c->tfm < 0) {
        return -1;
    }
    if (qcrypto_afalg_set_key(c->tfm, c->name, key, nkey, errp) < 0) {
        qcrypto_afalg_close(c->tfm);
        return -1;
    }
    /* what cannot be accepted now is better known now */
    QCryptoAfalgOp *op = qcrypto_afalg_op_take(c, errp);
    if (!op) {
        fini(c);
        return -1;
    }
    qcrypto_afalg_op_put(c, op);
    return 0;
}

/*
 * The piece, on *op, which is replaced when less was taken than the socket
 * has room for: then the message is cut shorter and begins again.
 */
static int run_piece(QCryptoAfalgWalk *w, QCryptoAfalgOp **op, GError **errp)
{
    const bool whole = w->c->row->mode == QCRYPTO_CIPHER_MODE_XTS;

    for (;;) {
        g_autoptr(GError) err = NULL;
        size_t taken = 0;

        if (send_message((*op)->fd, w->decrypt, w->iv, w->c->niv, w->in, w->len,
                         &taken, &err) == 0) {
            return qcrypto_afalg_receive((*op)->fd, w->out, w->len, whole,
                                         errp);
        }
        const size_t most = taken / w->c->block * w->c->block;
        /* XTS: two blocks, so that one may be held back */
        if (!g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED) ||
            most < 2 * w->c->block) {
            g_propagate_error(errp, g_steal_pointer(&err));
            return -1;
        }
        qcrypto_afalg_op_discard(*op);
        *op = op_accept(w->c->tfm, errp);
        if (!*op) {
            return -1;
        }
        w->most = MIN((*op)->most, most);
        begin_piece(w);
    }
}

static int run_walk(QCryptoAfalgWalk *w, QCryptoAfalgOp **op, GError **errp)
{
    const bool xts = w->c->row->mode == QCRYPTO_CIPHER_MODE_XTS;
    Tweak tweak = {.tfm = -1};
    bool more;
    int ret = 0;

    do {
        const bool first = w->left == w->unit;

        ret = run_piece(w, op, errp);
        if (ret == 0 && xts && w->len < w->left) {
            /* made of the unit's IV, which the piece has left as it was */
            ret = first ? tweak_open(&tweak, w, errp) : 0;
            ret = ret == 0 ? tweak_next(&tweak, w, errp) : ret;
        } else if (ret == 0 && xts) {
            tweak_close(&tweak);
        }
        more = ret == 0 && qcrypto_afalg_walk_next(w);
    } while (more);
    tweak_close(&tweak);
    return ret;
}

/* iv_out: where the IV goes on, or NULL */
static int run(const QCryptoAfalgCipher *c, int decrypt, const uint8_t *ivs,
               size_t unit, const uint8_t *in, uint8_t *out, size_t n,
               uint8_t *iv_out, GError **errp)
{
    QCryptoAfalgOp *op = qcrypto_afalg_op_take(c, errp);
    QCryptoAfalgWalk w;

    if (!op) {
        return -1;
    }
    qcrypto_afalg_walk_start(&w, c, decrypt, ivs, unit, in, out, n, op->most);
    if (run_walk(&w, &op, errp) < 0) {
        if (op) {
            qcrypto_afalg_op_discard(op);
        }
        return -1;
    }
    if (iv_out && c->row->mode != QCRYPTO_CIPHER_MODE_XTS) {
        memcpy(iv_out, w.iv, c->niv);
    }
    qcrypto_afalg_op_put(c, op);
    return 0;
}

static int encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                   uint8_t *out, size_t len, GError **errp)
{
    return run(ctx, 0, iv, len, in, out, 1, iv, errp);
}

static int decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                   uint8_t *out, size_t len, GError **errp)
{
    return run(ctx, 1, iv, len, in, out, 1, iv, errp);
}

static int encrypt_units(const void *ctx, const uint8_t *ivs, size_t unit_size,
                         const uint8_t *in, uint8_t *out, size_t n,
                         GError **errp)
{
    return run(ctx, 0, ivs, unit_size, in, out, n, NULL, errp);
}

static int decrypt_units(const void *ctx, const uint8_t *ivs, size_t unit_size,
                         const uint8_t *in, uint8_t *out, size_t n,
                         GError **errp)
{
    return run(ctx, 1, ivs, unit_size, in, out, n, NULL, errp);
}

const QCryptoCipherOps qcrypto_afalg_cipher = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .crypt = {encrypt, decrypt},
    .units = {encrypt_units, decrypt_units},
    .async = &qcrypto_afalg_aio,
};
