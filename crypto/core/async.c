/*
 * The asynchronous engine: see async.h
 *
 * A request is a slot out of `depth` of them.  It goes to a queue of its
 * cipher row's own (rows.h, QCryptoCipherAsyncOps), or to the list of jobs
 * that worker threads take from; either way it ends on the list `ended`, from
 * which poll takes one after the other and calls back.  A row that cannot
 * take a request now (its queue is full, the request is none for it) leaves
 * it to the workers.
 *
 * Who waits does so in epoll: on the engine's bell, an eventfd that is rung
 * when `ended` gets its first entry and somebody listens, and on the
 * descriptors of the rows' queues.  While requests end faster than they are
 * polled for, nobody rings and nobody waits.
 *
 * Two locks, never held over a callback or a request's work: `lock` for the
 * lists; `rows_lock` for the rows' queues, whose calls may take a while (a
 * system call that copies); lock may be taken inside rows_lock, not the other
 * way about.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/async.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

/* more of them would only be in each other's way */
#define THREADS_MAX 1024

/* sorts of asynchronous rows that an engine can have in use */
#define NATIVE_MAX 4

typedef struct Request Request;
struct Request {
    Request *next;
    const QCryptoAsyncKind *kind;
    const void *object;
    QCryptoAsyncDone *done;
    void *opaque;
    GError *error;
    uint8_t args[QCRYPTO_ASYNC_ARGS] __attribute__((aligned(16)));
};

/* first in, first out */
typedef struct List {
    Request *first;
    Request **end;
} List;

typedef struct Worker {
    QCryptoAsync *async;
    GThread *thread;
    const void *object; /* of the request it runs */
} Worker;

typedef struct Native {
    const QCryptoCipherAsyncOps *ops;
    void *queue; /* NULL: could not be opened, workers serve */
    unsigned in_flight;
} Native;

struct QCryptoAsync {
    unsigned depth;
    unsigned max_threads;
    pid_t pid;
    int epoll;
    int bell;

    GMutex lock;
    Request *slots;
    Request *unused;
    List jobs;
    List ended;
    unsigned pending; /* slots in use */
    unsigned waiting; /* jobs nobody has taken yet */
    bool waited_for;  /* poll sleeps: ring */
    bool watched;     /* an event loop has the descriptor: ring */
    bool rung;
    bool stop;
    GCond work;
    Worker *workers;
    unsigned nworkers;
    unsigned idle;

    GMutex rows_lock;
    Native natives[NATIVE_MAX];
    unsigned nnatives;
};

static void list_init(List *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void list_add(List *list, Request *r)
{
    r->next = NULL;
    *list->end = r;
    list->end = &r->next;
}

/* Takes out what *link points to. */
static Request *list_take(List *list, Request **link)
{
    Request *r = *link;

    *link = r->next;
    if (!*link) {
        list->end = link;
    }
    return r;
}

/* Called with the lock held. */
static void ring(QCryptoAsync *a)
{
    const uint64_t one = 1;

    if ((a->waited_for || a->watched) && !a->rung) {
        /* a counter far from its end: cannot block, cannot fail */
        a->rung = write(a->bell, &one, sizeof(one)) == sizeof(one);
    }
}

/* Called with the lock held. */
static void end_request(QCryptoAsync *a, Request *r)
{
    list_add(&a->ended, r);
    ring(a);
}

static void let_go(const QCryptoAsyncKind *kind, void *args)
{
    if (kind->fini) {
        kind->fini(args);
    }
}

/* ---- workers ---- */

/* Called with the lock held. */
static bool in_use(const QCryptoAsync *a, const void *object)
{
    for (unsigned i = 0; object && i < a->nworkers; i++) {
        if (a->workers[i].object == object) {
            return true;
        }
    }
    return false;
}

/*
 * The first job whose object nobody is at work on, or NULL; called with the
 * lock held.  Whoever ends a job looks here again, so that a job passed over
 * is not forgotten.
 */
static Request *take_job(QCryptoAsync *a)
{
    for (Request **link = &a->jobs.first; *link; link = &(*link)->next) {
        if (!in_use(a, (*link)->object)) {
            a->waiting--;
            return list_take(&a->jobs, link);
        }
    }
    return NULL;
}

static gpointer worker_main(gpointer opaque)
{
    Worker *w = opaque;
    QCryptoAsync *a = w->async;

    g_mutex_lock(&a->lock);
    for (;;) {
        Request *r = take_job(a);

        if (!r) {
            if (a->stop) {
                break;
            }
            a->idle++;
            g_cond_wait(&a->work, &a->lock);
            a->idle--;
            continue;
        }
        w->object = r->object;
        g_mutex_unlock(&a->lock);
        if (r->kind->run(r->args, &r->error) < 0 && !r->error) {
            qcrypto_error(&r->error, QCRYPTO_ERROR_IO,
                          "a request failed without a reason");
        }
        g_mutex_lock(&a->lock);
        w->object = NULL;
        end_request(a, r);
    }
    g_mutex_unlock(&a->lock);
    return NULL;
}

/*
 * Enough workers for the jobs that wait; called with the lock held.  -1: there
 * is none at all.
 */
static int staff(QCryptoAsync *a, GError **errp)
{
    GError *err = NULL;

    if (a->waiting > a->idle && a->nworkers < a->max_threads) {
        Worker *w = &a->workers[a->nworkers];

        *w = (Worker){.async = a};
        w->thread = g_thread_try_new("qcrypto-async", worker_main, w, &err);
        if (w->thread) {
            a->nworkers++;
        } else if (!a->nworkers) {
            qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                          "cannot start a worker thread: %s", err->message);
            g_error_free(err);
            return -1;
        }
        g_clear_error(&err);
    }
    g_cond_signal(&a->work);
    return 0;
}

/* ---- slots ---- */

static int check_owner(const QCryptoAsync *a, GError **errp)
{
    if (G_UNLIKELY(!a)) {
        return qcrypto_error_null(errp, "async");
    }
    if (G_UNLIKELY(a->pid != getpid())) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the asynchronous engine belongs to the process "
                             "that made it");
    }
    return 0;
}

/* NULL and the error: the engine is full, or none. */
static Request *take_slot(QCryptoAsync *a, QCryptoAsyncDone *done,
                          GError **errp)
{
    if (check_owner(a, errp) < 0) {
        return NULL;
    }
    if (!done) {
        qcrypto_error_null(errp, "done");
        return NULL;
    }
    g_mutex_lock(&a->lock);
    Request *r = a->unused;
    if (r) {
        a->unused = r->next;
        a->pending++;
    }
    g_mutex_unlock(&a->lock);
    if (!r) {
        qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                      "the asynchronous engine is full: %u requests in flight",
                      a->depth);
    }
    return r;
}

/* A slot with the request in it, or NULL and the error. */
static Request *take_request(QCryptoAsync *a, const QCryptoAsyncKind *kind,
                             const void *args, const void *object,
                             QCryptoAsyncDone *done, void *opaque,
                             GError **errp)
{
    Request *r = take_slot(a, done, errp);

    if (!r) {
        uint8_t copy[QCRYPTO_ASYNC_ARGS] __attribute__((aligned(16)));

        memcpy(copy, args, kind->size);
        let_go(kind, copy);
        return NULL;
    }
    r->kind = kind;
    r->object = object;
    r->done = done;
    r->opaque = opaque;
    r->error = NULL;
    memcpy(r->args, args, kind->size);
    return r;
}

/* The request is over; called with the lock held. */
static void give_slot(QCryptoAsync *a, Request *r)
{
    let_go(r->kind, r->args);
    qcrypto_wipe(r->args, r->kind->size);
    r->next = a->unused;
    a->unused = r;
    a->pending--;
}

static int add_job(QCryptoAsync *a, Request *r, GError **errp)
{
    g_mutex_lock(&a->lock);
    a->waiting++;
    const int ret = staff(a, errp);
    if (ret == 0) {
        list_add(&a->jobs, r);
    } else {
        a->waiting--;
        give_slot(a, r);
    }
    g_mutex_unlock(&a->lock);
    return ret;
}

int qcrypto_async_add(QCryptoAsync *a, const QCryptoAsyncKind *kind,
                      const void *args, const void *object,
                      QCryptoAsyncDone *done, void *opaque, GError **errp)
{
    Request *r = take_request(a, kind, args, object, done, opaque, errp);

    return r ? add_job(a, r, errp) : -1;
}

/* ---- queues of the rows' own ---- */

/* Called with rows_lock held; NULL: the workers serve. */
static Native *native_of(QCryptoAsync *a, const QCryptoCipherAsyncOps *ops)
{
    for (unsigned i = 0; i < a->nnatives; i++) {
        if (a->natives[i].ops == ops) {
            return &a->natives[i];
        }
    }
    if (a->nnatives == NATIVE_MAX) {
        return NULL;
    }
    Native *n = &a->natives[a->nnatives++];

    *n = (Native){.ops = ops, .queue = ops->open(a->depth, NULL)};
    if (n->queue) {
        struct epoll_event event = {.events = EPOLLIN};

        if (epoll_ctl(a->epoll, EPOLL_CTL_ADD, ops->fd(n->queue), &event) < 0) {
            ops->close(n->queue);
            n->queue = NULL;
        }
    }
    return n;
}

/* 0 when the row's queue has taken it; without an error the workers serve. */
static int start_native(QCryptoAsync *a, const QCryptoCipherAsyncOps *ops,
                        QCryptoAsyncStart *start, Request *r, GError **errp)
{
    g_autoptr(GError) err = NULL;
    int ret = -1;

    g_mutex_lock(&a->rows_lock);
    Native *n = native_of(a, ops);
    if (n && n->queue) {
        ret = start(ops, n->queue, r->args, r, &err);
        n->in_flight += ret == 0;
    }
    g_mutex_unlock(&a->rows_lock);
    if (err &&
        !g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED) &&
        !g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BUSY)) {
        g_propagate_error(errp, g_steal_pointer(&err));
    }
    return ret;
}

int qcrypto_async_add_native(QCryptoAsync *a, const QCryptoCipherAsyncOps *ops,
                             QCryptoAsyncStart *start,
                             const QCryptoAsyncKind *kind, const void *args,
                             QCryptoAsyncDone *done, void *opaque,
                             GError **errp)
{
    Request *r = take_request(a, kind, args, NULL, done, opaque, errp);
    GError *err = NULL;

    if (!r) {
        return -1;
    }
    if (start_native(a, ops, start, r, &err) == 0) {
        return 0;
    }
    if (!err) {
        return add_job(a, r, errp);
    }
    g_propagate_error(errp, err);
    g_mutex_lock(&a->lock);
    give_slot(a, r);
    g_mutex_unlock(&a->lock);
    return -1;
}

/* What a row's queue calls while it is asked to reap. */
static void native_ended(void *opaque, void *tag, GError *error)
{
    QCryptoAsync *a = opaque;
    Request *r = tag;

    r->error = error;
    g_mutex_lock(&a->lock);
    end_request(a, r);
    g_mutex_unlock(&a->lock);
}

static void reap_natives(QCryptoAsync *a)
{
    g_mutex_lock(&a->rows_lock);
    for (unsigned i = 0; i < a->nnatives; i++) {
        Native *n = &a->natives[i];

        if (n->in_flight) {
            n->in_flight -= n->ops->reap(n->queue, native_ended, a);
        }
    }
    g_mutex_unlock(&a->rows_lock);
}

/* ---- polling ---- */

/* Calls back one after the other until there is nothing more; the number. */
static unsigned call_back(QCryptoAsync *a)
{
    unsigned n = 0;

    g_mutex_lock(&a->lock);
    while (a->ended.first) {
        Request *r = list_take(&a->ended, &a->ended.first);
        QCryptoAsyncDone *done = r->done;
        void *opaque = r->opaque;
        GError *error = r->error;

        /* before it is called: it may want the slot for another request */
        give_slot(a, r);
        g_mutex_unlock(&a->lock);
        done(error, opaque);
        g_clear_error(&error);
        n++;
        g_mutex_lock(&a->lock);
    }
    g_mutex_unlock(&a->lock);
    return n;
}

/* Comes before a look at `ended`: what ends after that look rings again. */
static void silence(QCryptoAsync *a)
{
    uint64_t rings;

    g_mutex_lock(&a->lock);
    if (a->rung && read(a->bell, &rings, sizeof(rings)) == sizeof(rings)) {
        a->rung = false;
    }
    g_mutex_unlock(&a->lock);
}

/* Until something may have ended; false: the time is up. */
static bool wait_for_end(QCryptoAsync *a, int64_t until_us)
{
    struct epoll_event event;
    int timeout = -1;
    int n = 1;

    if (until_us >= 0) {
        const int64_t left = until_us - g_get_monotonic_time();

        if (left <= 0) {
            return false;
        }
        timeout = (int)MIN((left + 999) / 1000, G_MAXINT);
    }
    g_mutex_lock(&a->lock);
    a->waited_for = !a->ended.first;
    const bool wait = a->waited_for;
    g_mutex_unlock(&a->lock);
    if (wait) {
        n = epoll_wait(a->epoll, &event, 1, timeout);
        g_mutex_lock(&a->lock);
        a->waited_for = false;
        g_mutex_unlock(&a->lock);
    }
    /* a signal is no end: whoever asks looks again, and waits on */
    return n != 0;
}

int qcrypto_async_poll(QCryptoAsync *a, unsigned min, int timeout_ms,
                       GError **errp)
{
    const int64_t until =
        timeout_ms < 0 ? -1
                       : g_get_monotonic_time() + timeout_ms * (int64_t)1000;
    unsigned n = 0;

    if (check_owner(a, errp) < 0) {
        return -1;
    }
    do {
        silence(a);
        reap_natives(a);
        n += call_back(a);
    } while (n < min && qcrypto_async_pending(a) && wait_for_end(a, until));
    return (int)MIN(n, (unsigned)G_MAXINT);
}

unsigned qcrypto_async_pending(QCryptoAsync *a)
{
    if (!a || a->pid != getpid()) {
        return 0;
    }
    g_mutex_lock(&a->lock);
    const unsigned n = a->pending;
    g_mutex_unlock(&a->lock);
    return n;
}

unsigned qcrypto_async_depth(const QCryptoAsync *a)
{
    return a ? a->depth : 0;
}

int qcrypto_async_get_fd(QCryptoAsync *a, GError **errp)
{
    if (check_owner(a, errp) < 0) {
        return -1;
    }
    g_mutex_lock(&a->lock);
    a->watched = true;
    if (a->ended.first) {
        ring(a);
    }
    g_mutex_unlock(&a->lock);
    return a->epoll;
}

/* ---- making and freeing ---- */

static int check_options(const QCryptoAsyncOptions *o, GError **errp)
{
    if (o && o->depth > QCRYPTO_ASYNC_DEPTH_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the depth is 1 to %u, not %u",
                             QCRYPTO_ASYNC_DEPTH_MAX, o->depth);
    }
    if (o && o->threads > THREADS_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the worker threads are 1 to %u, not %u",
                             THREADS_MAX, o->threads);
    }
    return 0;
}

/* -1 and the error; what was opened is closed by the caller */
static int open_fds(QCryptoAsync *a, GError **errp)
{
    struct epoll_event event = {.events = EPOLLIN};

    a->epoll = epoll_create1(EPOLL_CLOEXEC);
    a->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (a->epoll < 0 || a->bell < 0 ||
        epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->bell, &event) < 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "cannot make an asynchronous engine: %s",
                             g_strerror(errno));
    }
    return 0;
}

static void free_memory(QCryptoAsync *a)
{
    for (unsigned i = 0; i < a->nnatives; i++) {
        if (a->natives[i].queue) {
            a->natives[i].ops->close(a->natives[i].queue);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        const int fd = i ? a->bell : a->epoll;

        if (fd >= 0) {
            close(fd);
        }
    }
    g_free(a->workers);
    qcrypto_wipe_free(a->slots, a->depth * sizeof(a->slots[0]));
    g_free(a);
}

QCryptoAsync *qcrypto_async_new(const QCryptoAsyncOptions *o, GError **errp)
{
    if (check_options(o, errp) < 0) {
        return NULL;
    }
    QCryptoAsync *a = g_new0(QCryptoAsync, 1);

    a->depth = o && o->depth ? o->depth : QCRYPTO_ASYNC_DEPTH;
    a->max_threads =
        o && o->threads ? o->threads : MIN(g_get_num_processors(), THREADS_MAX);
    a->max_threads = MIN(a->max_threads, a->depth);
    a->pid = getpid();
    a->slots = qcrypto_alloc(a->depth * sizeof(a->slots[0]));
    if (!a->slots) {
        qcrypto_error_memory(errp, "an asynchronous engine",
                             a->depth * sizeof(a->slots[0]) / 1024 + 1, 0);
        g_free(a);
        return NULL;
    }
    if (open_fds(a, errp) < 0) {
        free_memory(a);
        return NULL;
    }
    for (unsigned i = 0; i < a->depth; i++) {
        a->slots[i].next = i + 1 < a->depth ? &a->slots[i + 1] : NULL;
    }
    a->unused = a->slots;
    a->workers = g_new0(Worker, a->max_threads);
    list_init(&a->jobs);
    list_init(&a->ended);
    g_mutex_init(&a->lock);
    g_mutex_init(&a->rows_lock);
    g_cond_init(&a->work);
    return a;
}

void qcrypto_async_free(QCryptoAsync *a)
{
    if (!a) {
        return;
    }
    if (a->pid != getpid()) {
        /* no thread of the engine is here, and its locks may be held by one */
        free_memory(a);
        return;
    }
    qcrypto_async_poll(a, G_MAXUINT, -1, NULL);
    g_mutex_lock(&a->lock);
    a->stop = true;
    g_cond_broadcast(&a->work);
    g_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->nworkers; i++) {
        g_thread_join(a->workers[i].thread);
    }
    g_mutex_clear(&a->lock);
    g_mutex_clear(&a->rows_lock);
    g_cond_clear(&a->work);
    free_memory(a);
}
