/*
 * AF_ALG: many requests in flight, by Linux AIO
 *
 * A request has an operation socket to itself, for the IV and the data that
 * were sent are the socket's until they are read; so any number of requests
 * run on one transform.  The message is sent, its answer is asked for with
 * io_submit(2), and the kernel rings an eventfd when it is there.  A request
 * of several messages (a run of sectors, a text longer than a message) sends
 * the next one when the last one is answered.
 *
 * Whether anything overlaps is the driver's doing: one that computes on the
 * CPU has done so when io_submit returns, one that hands work to an engine
 * (or to cryptd) returns at once.
 *
 * (io_uring would do the same with a system call less, but many systems forbid
 * it, and one way is enough to test.)  There is no time limit of the backend's
 * own here: who polls has one.
 *
 * What does not go this way is left to worker threads: XTS units longer than
 * a message, and everything when the kernel has no AIO or no room left.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "crypto/backend/afalg/afalg.h"
#include "crypto/base/error.h"

/* answers fetched at a time */
#define EVENTS 64

typedef struct Job Job;
struct Job {
    Job *next; /* of the unused ones */
    void *tag;
    QCryptoAfalgOp *op;
    QCryptoAfalgWalk walk;
    size_t got; /* of the piece */
    struct iocb iocb;
};

typedef struct Queue {
    aio_context_t aio;
    int bell;
    Job *unused;
    Job jobs[];
} Queue;

static void queue_close(void *opaque)
{
    Queue *q = opaque;

    /* in the child of a fork there is no such context, which does no harm */
    qcrypto_afalg_sys->io_destroy(q->aio);
    close(q->bell);
    g_free(q);
}

static void *queue_open(unsigned depth, GError **errp)
{
    Queue *q = g_malloc0(sizeof(Queue) + depth * sizeof(Job));

    if (qcrypto_afalg_sys->io_setup(depth, &q->aio) < 0) {
        qcrypto_error_unsupported(errp, "AF_ALG in flight", "io_setup failed");
        g_free(q);
        return NULL;
    }
    q->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->bell < 0) {
        qcrypto_error_unsupported(errp, "AF_ALG in flight", "eventfd failed");
        queue_close(q);
        return NULL;
    }
    for (unsigned i = 0; i < depth; i++) {
        q->jobs[i].next = q->unused;
        q->unused = &q->jobs[i];
    }
    return q;
}

static int queue_fd(const void *opaque)
{
    const Queue *q = opaque;

    return q->bell;
}

/* Asks for what is still to come of the piece; -1: the kernel does not. */
static int ask(Queue *q, Job *j)
{
    struct iocb *iocbs[1] = {&j->iocb};

    j->iocb = (struct iocb){
        .aio_data = (uintptr_t)j,
        .aio_lio_opcode = IOCB_CMD_PREAD,
        .aio_fildes = (uint32_t)j->op->fd,
        .aio_buf = (uintptr_t)(j->walk.out + j->got),
        .aio_nbytes = j->walk.len - j->got,
        .aio_flags = IOCB_FLAG_RESFD,
        .aio_resfd = (uint32_t)q->bell,
    };
    return qcrypto_afalg_sys->io_submit(q->aio, 1, iocbs) == 1 ? 0 : -1;
}

static int start_piece(Queue *q, Job *j, GError **errp)
{
    j->got = 0;
    if (qcrypto_afalg_walk_send(&j->walk, j->op, errp) < 0) {
        return -1;
    }
    return ask(q, j) == 0 ? 0
                          : qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                                          "AF_ALG: io_submit failed");
}

static int queue_submit(void *opaque, const void *ctx, int decrypt,
                        const uint8_t *ivs, size_t unit_size, const uint8_t *in,
                        uint8_t *out, size_t n, void *tag, GError **errp)
{
    const QCryptoAfalgCipher *c = ctx;
    Queue *q = opaque;
    Job *j = q->unused;

    if (!j) {
        return qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                             "AF_ALG: the queue is full");
    }
    j->op = qcrypto_afalg_op_take(c, errp);
    if (!j->op) {
        return -1;
    }
    if (c->row->mode == QCRYPTO_CIPHER_MODE_XTS && unit_size > j->op->most) {
        qcrypto_afalg_op_put(c, j->op);
        return qcrypto_error_unsupported(errp, "a unit longer than a message",
                                         "it takes several steps");
    }
    j->tag = tag;
    qcrypto_afalg_walk_start(&j->walk, c, decrypt, ivs, unit_size, in, out, n,
                             j->op->most);
    if (start_piece(q, j, errp) < 0) {
        qcrypto_afalg_op_discard(j->op);
        return -1;
    }
    q->unused = j->next;
    return 0;
}

/* The kernel has answered res; true: the request has ended, maybe by *errp. */
static bool answered(Queue *q, Job *j, int64_t res, GError **errp)
{
    const bool xts = j->walk.c->row->mode == QCRYPTO_CIPHER_MODE_XTS;

    if (res < 0) {
        qcrypto_afalg_failed(errp, "receive", (int)-res);
        return true;
    }
    j->got += (size_t)res;
    if (res == 0 || (xts && j->got < j->walk.len)) {
        qcrypto_error(
            errp, QCRYPTO_ERROR_IO,
            "AF_ALG: receive: less than the %zu bytes there should be",
            j->walk.len);
        return true;
    }
    if (j->got < j->walk.len) {
        if (ask(q, j) == 0) {
            return false;
        }
        if (qcrypto_afalg_receive(j->op->fd, j->walk.out + j->got,
                                  j->walk.len - j->got, xts, errp) < 0) {
            return true;
        }
    }
    return !qcrypto_afalg_walk_next(&j->walk) || start_piece(q, j, errp) < 0;
}

static void end(Queue *q, Job *j, GError *err)
{
    if (err) {
        qcrypto_afalg_op_discard(j->op);
    } else {
        qcrypto_afalg_op_put(j->walk.c, j->op);
    }
    memset(&j->walk, 0, sizeof(j->walk));
    j->next = q->unused;
    q->unused = j;
}

static unsigned queue_reap(void *opaque, QCryptoAsyncEnded *ended, void *arg)
{
    Queue *q = opaque;
    struct io_event events[EVENTS];
    struct timespec now = {.tv_sec = 0};
    uint64_t rings;
    unsigned count = 0;
    int n;

    /* silent first: what is answered from here on rings again */
    while (read(q->bell, &rings, sizeof(rings)) == sizeof(rings)) {
    }
    do {
        n = qcrypto_afalg_sys->io_getevents(q->aio, 0, EVENTS, events, &now);
        for (int i = 0; i < n; i++) {
            Job *j = (Job *)(uintptr_t)events[i].data;
            GError *err = NULL;

            if (answered(q, j, events[i].res, &err)) {
                void *tag = j->tag;

                end(q, j, err);
                ended(arg, tag, err);
                count++;
            }
        }
    } while (n == EVENTS);
    return count;
}

const QCryptoCipherAsyncOps qcrypto_afalg_aio = {
    .open = queue_open,
    .fd = queue_fd,
    .submit = queue_submit,
    .reap = queue_reap,
    .close = queue_close,
};
