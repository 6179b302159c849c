/*
 * A file run through a function, in chunks, by several threads (transform.h)
 *
 * The workers share one offset: who takes a chunk moves it on, so that what
 * was taken is always the beginning of the file.  A side that is a stream
 * is read under the lock, in the order of taking, and written by turns; a
 * side that has offsets is read and written without waiting for anybody.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/transform.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "tools/newfile.h"
#include "tools/progress.h"

/* the least that is left out of a sparse file */
#define HOLE ((size_t)4096)

typedef struct Job {
    QCryptoTransform *t;
    int in;
    int out;
    bool in_stream;
    bool out_stream;
    bool in_place;
    bool size_known;
    uint64_t size;           /* offset of the end, where it is known */
    QCryptoNewFile new_file; /* its temp is NULL: out is none */

    GMutex input; /* in_stream: held by who reads */
    GMutex lock;  /* guards what follows */
    GCond changed;
    uint64_t next;   /* where the next chunk begins that nobody has taken */
    uint64_t turn;   /* out_stream: the offset that is to be written next */
    uint64_t done;   /* bytes */
    uint64_t failed; /* the lowest chunk that failed, or UINT64_MAX */
    bool ended;      /* the last chunk is taken */
    GError *error;   /* the first one; no more chunks are taken */
    unsigned running;
} Job;

/*
 * Cancelling.  The handler may only set a flag and wake those who sleep in
 * poll; the event is never read, so it stays ready for all of them.
 */
static gint cancelled; /* the signal's number; atomic */
static int wake_fd = -1;

static int is_cancelled(void)
{
    return g_atomic_int_get(&cancelled);
}

static void on_signal(int number)
{
    const uint64_t one = 1;
    int saved = errno;

    g_atomic_int_set(&cancelled, number);
    if (write(wake_fd, &one, sizeof(one)) < 0) {
        /* the counter is full: everybody is awake anyway */
    }
    errno = saved;
}

/* ... and SIGXFSZ, which is ignored: EFBIG tells the same */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
static struct sigaction old_actions[G_N_ELEMENTS(signals)];

static int catch_signals(GError **errp)
{
    /* SA_RESETHAND: who asks a second time does not want to wait */
    const struct sigaction catch = {.sa_handler = on_signal,
                                    .sa_flags = (int)SA_RESETHAND};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    g_atomic_int_set(&cancelled, 0);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO, "eventfd: %s",
                             g_strerror(errno));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
        sigaction(signals[i], NULL, &old_actions[i]);
        /* what the caller ignores (nohup) stays ignored */
        if (old_actions[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], signals[i] == SIGXFSZ ? &ignore : &catch,
                      NULL);
        }
    }
    return 0;
}

static void release_signals(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
        sigaction(signals[i], &old_actions[i], NULL);
    }
    close(wake_fd);
    wake_fd = -1;
}

static int cancel_error(GError **errp)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "cancelled (%s)",
                         strsignal(is_cancelled()));
}

/* Waits until a stream can be used; -1 when cancelled. */
static int wait_stream(int fd, short events, GError **errp)
{
    struct pollfd fds[] = {{.fd = fd, .events = events},
                           {.fd = wake_fd, .events = POLLIN}};

    while (!is_cancelled()) {
        int n = poll(fds, G_N_ELEMENTS(fds), -1);

        if (n > 0 && !is_cancelled() && fds[0].revents) {
            return 0;
        }
        if (n < 0 && errno != EINTR) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO, "poll: %s",
                                 g_strerror(errno));
        }
    }
    return cancel_error(errp);
}

/* Reads len bytes, or up to the end; *got says how many. */
static int read_all(Job *job, uint64_t offset, uint8_t *buf, size_t len,
                    size_t *got, GError **errp)
{
    *got = 0;
    while (*got < len) {
        ssize_t n;

        if (job->in_stream) {
            if (wait_stream(job->in, POLLIN, errp) < 0) {
                return -1;
            }
            n = read(job->in, buf + *got, len - *got);
        } else {
            n = pread(job->in, buf + *got, len - *got, (off_t)(offset + *got));
        }
        if (n == 0) {
            break;
        }
        if (n > 0) {
            *got += (size_t)n;
        } else if (errno != EINTR && errno != EAGAIN) {
            return qcrypto_error_file(errp, "read", job->t->in, errno);
        }
    }
    return 0;
}

static int write_all(Job *job, uint64_t offset, const uint8_t *buf, size_t len,
                     GError **errp)
{
    size_t put = 0;

    while (put < len) {
        ssize_t n;

        if (job->out_stream) {
            if (wait_stream(job->out, POLLOUT, errp) < 0) {
                return -1;
            }
            /* a pipe that is ready takes PIPE_BUF bytes at least; more could
             * put the call to sleep where no cancelling reaches it */
            n = write(job->out, buf + put, MIN(len - put, 4096));
        } else {
            n = pwrite(job->out, buf + put, len - put, (off_t)(offset + put));
        }
        if (n >= 0) {
            put += (size_t)n;
        } else if (errno != EINTR && errno != EAGAIN) {
            return qcrypto_error_file(errp, "write", job->t->out, errno);
        }
    }
    return 0;
}

/*
 * The next chunk of a stream: reads it right away, one thread at a time, so
 * that the chunks come in order.  The other lock stays free, since who has a
 * chunk to write must not wait for somebody who waits for input.
 */
static int take_from_stream(Job *job, uint8_t *buf, uint64_t *offset,
                            size_t *len, GError **errp)
{
    G_GNUC_UNUSED g_autoptr(GMutexLocker) input =
        g_mutex_locker_new(&job->input);

    g_mutex_lock(&job->lock);
    bool over = job->ended || job->error;
    *offset = job->next;
    *len = 0;
    g_mutex_unlock(&job->lock);
    if (over) {
        return 0;
    }
    if (read_all(job, *offset, buf, QCRYPTO_TRANSFORM_CHUNK, len, errp) < 0) {
        return -1;
    }
    /* not taken yet: the place it would go to stays as it is */
    if (job->t->write && *len > job->t->room - *offset) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' has room for %" PRIu64
                             " bytes, and there are more",
                             job->t->out, job->t->room);
    }
    g_mutex_lock(&job->lock);
    job->next += *len;
    job->ended = *len < QCRYPTO_TRANSFORM_CHUNK;
    g_mutex_unlock(&job->lock);
    if (*len % job->t->unit) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' ends after %" PRIu64
                             " bytes, not a multiple of %zu",
                             job->t->in, *offset + *len, job->t->unit);
    }
    return 0;
}

/* *len is 0 when there is no more to do, or no reason to go on. */
static int take_chunk(Job *job, uint8_t *buf, uint64_t *offset, size_t *len,
                      GError **errp)
{
    *len = 0;
    if (is_cancelled()) {
        return 0;
    }
    if (job->in_stream) {
        return take_from_stream(job, buf, offset, len, errp);
    }
    g_mutex_lock(&job->lock);
    if (!job->error) {
        *offset = job->next;
        *len = (size_t)MIN(job->size - *offset, QCRYPTO_TRANSFORM_CHUNK);
        job->next += *len;
        job->ended = job->next == job->size;
    }
    g_mutex_unlock(&job->lock);
    return 0;
}

static int read_chunk(Job *job, uint64_t offset, uint8_t *buf, size_t len,
                      GError **errp)
{
    size_t got;

    if (job->in_stream) {
        return 0; /* came with taking it */
    }
    if (job->t->read) {
        return job->t->read(job->t->opaque, offset, buf, len, errp);
    }
    if (read_all(job, offset, buf, len, &got, errp) < 0) {
        return -1;
    }
    if (got < len) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "'%s' became shorter while it was read: %" PRIu64
                             " bytes, not %" PRIu64,
                             job->t->in, offset + got, job->size);
    }
    return 0;
}

static bool is_zero(const uint8_t *p, size_t n)
{
    return !p[0] && !memcmp(p, p + 1, n - 1);
}

/* Blocks of zeros are left out: the file has its length already. */
static int write_sparse(Job *job, uint64_t offset, const uint8_t *buf,
                        size_t len, GError **errp)
{
    size_t from = 0; /* of what is not written yet and no hole */

    for (size_t at = 0; at < len; at += HOLE) {
        const size_t n = MIN(len - at, HOLE);

        if (is_zero(buf + at, n)) {
            if (write_all(job, offset + from, buf + from, at - from, errp) <
                0) {
                return -1;
            }
            from = at + n;
        }
    }
    return write_all(job, offset + from, buf + from, len - from, errp);
}

static int write_chunk(Job *job, uint64_t offset, const uint8_t *buf,
                       size_t len, GError **errp)
{
    if (job->t->write) {
        return job->t->write(job->t->opaque, offset, buf, len, errp);
    }
    if (job->t->sparse && job->new_file.temp && job->size_known) {
        return write_sparse(job, offset, buf, len, errp);
    }
    if (job->out_stream) {
        g_mutex_lock(&job->lock);
        while (job->turn != offset && !job->error) {
            g_cond_wait(&job->changed, &job->lock);
        }
        bool lost = job->error != NULL;
        g_mutex_unlock(&job->lock);
        if (lost) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 "an earlier chunk failed");
        }
    }
    return write_all(job, offset, buf, len, errp);
}

static void *worker(void *opaque)
{
    Job *job = opaque;
    uint8_t *buf = qcrypto_alloc(QCRYPTO_TRANSFORM_CHUNK);
    uint64_t offset = UINT64_MAX;
    size_t len = 0;
    GError *error = NULL;

    if (!buf) {
        qcrypto_error_memory(&error, "a buffer", QCRYPTO_TRANSFORM_CHUNK / 1024,
                             0);
    }
    while (!error) {
        if (take_chunk(job, buf, &offset, &len, &error) < 0 || len == 0 ||
            read_chunk(job, offset, buf, len, &error) < 0 ||
            (job->t->func &&
             job->t->func(job->t->opaque, offset, buf, len, &error) < 0) ||
            write_chunk(job, offset, buf, len, &error) < 0) {
            break;
        }
        g_mutex_lock(&job->lock);
        job->done += len;
        job->turn += len;
        g_cond_broadcast(&job->changed);
        g_mutex_unlock(&job->lock);
    }
    qcrypto_wipe_free(buf, QCRYPTO_TRANSFORM_CHUNK);

    g_mutex_lock(&job->lock);
    if (error) {
        job->failed = MIN(job->failed, offset);
        if (job->error) {
            g_error_free(error);
        } else {
            job->error = error;
        }
    }
    job->running--;
    g_cond_broadcast(&job->changed);
    g_mutex_unlock(&job->lock);
    return NULL;
}

/* Length of a regular file or a block device. */
static int file_size(int fd, const struct stat *st, const char *name,
                     uint64_t *size, GError **errp)
{
    if (S_ISREG(st->st_mode)) {
        *size = (uint64_t)st->st_size;
        return 0;
    }
    if (ioctl(fd, BLKGETSIZE64, size) < 0) {
        return qcrypto_error_file(errp, "find out the size of", name, errno);
    }
    return 0;
}

static int open_input(Job *job, struct stat *st, GError **errp)
{
    const char *name = job->t->in;

    if (job->t->read) {
        job->size = job->t->size;
        job->size_known = true;
        return 0;
    }
    if (!strcmp(name, "-")) {
        job->in = STDIN_FILENO;
        job->in_stream = true;
        return 0;
    }
    job->in = open(name, O_RDONLY | O_CLOEXEC);
    if (job->in < 0 || fstat(job->in, st) < 0) {
        return qcrypto_error_file(errp, "open", name, errno);
    }
    if (S_ISDIR(st->st_mode)) {
        return qcrypto_error_file(errp, "read", name, EISDIR);
    }
    if (!S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode)) {
        job->in_stream = true;
        return 0;
    }
    if (file_size(job->in, st, name, &job->size, errp) < 0) {
        return -1;
    }
    job->size_known = true;
    if (job->size % job->t->unit) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' has %" PRIu64
                             " bytes, not a multiple of %zu",
                             name, job->size, job->t->unit);
    }
    return 0;
}

/*
 * Disk space for the whole length, now rather than half way.  File systems
 * that cannot say are taken at their word later, by write.
 */
static int reserve(Job *job, const char *name, GError **errp)
{
    if (!job->size_known || job->size == 0 ||
        fallocate(job->out, 0, 0, (off_t)job->size) == 0) {
        return 0;
    }
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "cannot reserve %" PRIu64 " bytes for '%s': %s",
                             job->size, name, g_strerror(errno));
    }
    return 0;
}

static int check_start(const Job *job, GError **errp)
{
    if (job->t->start > job->size || job->t->start % job->t->unit) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "cannot resume at byte %" PRIu64
                             ": '%s' has %" PRIu64 ", in sectors of %zu",
                             job->t->start, job->t->in, job->size,
                             job->t->unit);
    }
    return 0;
}

/* A place that is there already, of so many bytes. */
static int open_written(Job *job, GError **errp)
{
    job->in_place = true;
    if (job->size_known && job->size > job->t->room) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' has room for %" PRIu64
                             " bytes, not %" PRIu64,
                             job->t->out, job->t->room, job->size);
    }
    if (job->t->start && !job->size_known) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a stream cannot be resumed");
    }
    return check_start(job, errp);
}

static int open_in_place(Job *job, const struct stat *st, GError **errp)
{
    const char *name = job->t->out;
    /* a mounted file system's device says EBUSY */
    int flags = O_RDWR | O_CLOEXEC | (S_ISBLK(st->st_mode) ? O_EXCL : 0);

    job->in_place = true;
    job->out = open(name, flags);
    if (job->out < 0) {
        return qcrypto_error_file(errp, "open for writing", name, errno);
    }
    if (check_start(job, errp) < 0) {
        return -1;
    }
    return S_ISREG(st->st_mode) ? reserve(job, name, errp) : 0;
}

static int open_new_file(Job *job, const struct stat *st, GError **errp)
{
    const char *name = job->t->out;

    if (qcrypto_newfile_open(&job->new_file, name, st, 0666, errp) < 0) {
        return -1;
    }
    job->out = job->new_file.fd;
    if (!job->t->sparse || !job->size_known) {
        return reserve(job, name, errp);
    }
    if (ftruncate(job->out, (off_t)job->size) < 0) {
        return qcrypto_error_file(errp, "make room for", name, errno);
    }
    return 0;
}

static int open_device(Job *job, const struct stat *st, GError **errp)
{
    const char *name = job->t->out;
    uint64_t room;

    job->out_stream = !S_ISBLK(st->st_mode);
    job->out =
        open(name, O_WRONLY | O_CLOEXEC | (job->out_stream ? 0 : O_EXCL));
    if (job->out < 0) {
        return qcrypto_error_file(errp, "open for writing", name, errno);
    }
    if (job->out_stream || !job->size_known) {
        return 0;
    }
    if (file_size(job->out, st, name, &room, errp) < 0) {
        return -1;
    }
    if (room < job->size) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' has room for %" PRIu64
                             " bytes, not %" PRIu64,
                             name, room, job->size);
    }
    return 0;
}

static int open_output(Job *job, const struct stat *in, GError **errp)
{
    const char *name = job->t->out;
    struct stat st;

    if (job->t->write) {
        return open_written(job, errp);
    }
    if (!strcmp(name, "-")) {
        if (isatty(STDOUT_FILENO)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "the standard output is a terminal");
        }
        job->out = STDOUT_FILENO;
        job->out_stream = true;
    } else if (stat(name, &st) < 0) {
        if (errno != ENOENT) {
            return qcrypto_error_file(errp, "write", name, errno);
        }
        if (lstat(name, &st) == 0) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 "cannot write '%s': a link to nothing", name);
        }
        if (open_new_file(job, NULL, errp) < 0) {
            return -1;
        }
    } else if (S_ISDIR(st.st_mode)) {
        return qcrypto_error_file(errp, "write", name, EISDIR);
    } else if (job->in >= 0 && job->size_known && qcrypto_same_file(in, &st)) {
        return open_in_place(job, &st, errp);
    } else if (S_ISREG(st.st_mode)) {
        if (open_new_file(job, &st, errp) < 0) {
            return -1;
        }
    } else if (open_device(job, &st, errp) < 0) {
        return -1;
    }
    if (job->t->start) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "only work in place can be resumed, and '%s' is "
                             "not '%s'",
                             name, job->t->in);
    }
    return 0;
}

static void run_workers(Job *job)
{
    QCryptoTransform *t = job->t;
    g_autofree GThread **threads = g_new0(GThread *, t->threads);
    QCryptoProgress progress;
    unsigned made = 0;

    job->next = job->turn = t->start;
    job->failed = UINT64_MAX;
    job->running = t->threads;
    qcrypto_progress_begin(&progress, t->doing,
                           job->size_known ? job->size - t->start : 0);
    for (unsigned i = 0; i < t->threads; i++) {
        GError *error = NULL;

        threads[i] = g_thread_try_new("worker", worker, job, &error);
        made += threads[i] != NULL;
        if (!threads[i]) {
            g_mutex_lock(&job->lock);
            job->running--;
            if (i == 0) { /* fewer than asked for will do, none will not */
                job->error = g_steal_pointer(&error);
            }
            g_mutex_unlock(&job->lock);
            g_clear_error(&error);
        }
    }
    g_mutex_lock(&job->lock);
    while (job->running) {
        g_cond_wait_until(&job->changed, &job->lock,
                          g_get_monotonic_time() + G_USEC_PER_SEC / 10);
        qcrypto_progress_update(&progress, job->done);
    }
    g_mutex_unlock(&job->lock);
    for (unsigned i = 0; i < t->threads; i++) {
        if (threads[i]) {
            g_thread_join(threads[i]);
        }
    }
    qcrypto_progress_end(&progress);
    t->bytes = job->done;
    t->threads = made;
}

/* What a run in place that did not end has left behind, for its error. */
static void tell_state(Job *job)
{
    const QCryptoTransform *t = job->t;
    uint64_t whole = MIN(job->failed, job->next);
    g_autoptr(GString) s = g_string_new(job->error->message);

    if (job->next == t->start) {
        g_string_append_printf(s, "; '%s' is unchanged", t->out);
    } else {
        g_string_append_printf(s, "; '%s' is %s up to byte %" PRIu64, t->out,
                               t->done, whole);
        if (job->size_known) {
            g_string_append_printf(s, " of %" PRIu64, job->size);
        }
        if (whole < job->next) {
            g_string_append_printf(
                s, ", mixed up to byte %" PRIu64 " and unchanged from there",
                job->next);
        } else {
            g_string_append(s, " and unchanged from there");
            if (job->size_known && t->resumable) {
                g_string_append_printf(s, " (--resume-at %" PRIu64 ")", whole);
            }
        }
    }
    g_free(job->error->message);
    job->error->message = g_string_free(g_steal_pointer(&s), FALSE);
}

static int finish_output(Job *job, bool good, GError **errp)
{
    if (job->new_file.temp) {
        return qcrypto_newfile_finish(&job->new_file, good, errp);
    }
    if (job->out > STDERR_FILENO && close(job->out) < 0 && good) {
        return qcrypto_error_file(errp, "write", job->t->out, errno);
    }
    return 0;
}

int qcrypto_transform_run(QCryptoTransform *t, GError **errp)
{
    Job job = {.t = t, .in = -1, .out = -1};
    struct stat st = {0};
    int64_t started = g_get_monotonic_time();
    GError *error = NULL;
    int ret;

    g_mutex_init(&job.input);
    g_mutex_init(&job.lock);
    g_cond_init(&job.changed);
    ret = catch_signals(errp);
    if (ret == 0) {
        ret = open_input(&job, &st, &error);
        if (ret == 0) {
            ret = open_output(&job, &st, &error);
        }
        if (ret == 0) {
            run_workers(&job);
            if (is_cancelled() && !job.error && !job.ended) {
                cancel_error(&job.error);
            }
            if (job.error) {
                if (job.in_place && !t->passing) {
                    tell_state(&job);
                }
                error = g_steal_pointer(&job.error);
                ret = -1;
            }
        }
        if (finish_output(&job, ret == 0, ret == 0 ? &error : NULL) < 0) {
            ret = -1;
        }
        if (error) {
            g_propagate_error(errp, error);
        }
        if (job.in > STDERR_FILENO) {
            close(job.in);
        }
        release_signals();
    }
    g_mutex_clear(&job.input);
    g_mutex_clear(&job.lock);
    g_cond_clear(&job.changed);
    t->seconds = (double)(g_get_monotonic_time() - started) / G_USEC_PER_SEC;
    return ret;
}
