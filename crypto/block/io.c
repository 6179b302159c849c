/*
 * Where a volume lies: a file descriptor, or a part of another object
 *
 * Every access is checked against the bounds of the object before the kernel
 * sees it, so that a header's offset can not reach a neighbouring partition.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/block.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"

#define U64 G_GUINT64_FORMAT

typedef struct Fd {
    int fd;
    uint64_t offset;
    uint64_t size; /* 0: to the end */
    bool device;
} Fd;

/* "cannot read 512 bytes at 4096: Input/output error" */
static int io_error(GError **errp, const char *what, uint64_t len,
                    uint64_t offset, int error)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                         "cannot %s %" U64 " bytes at %" U64 ": %s", what, len,
                         offset, g_strerror(error));
}

static int past_end(GError **errp, const char *what, uint64_t len,
                    uint64_t offset, uint64_t size)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                         "cannot %s %" U64 " bytes at %" U64
                         ": the storage has %" U64 " bytes",
                         what, len, offset, size);
}

/* Within a range of size bytes (0: any that the kernel can name)? */
static int check_range(GError **errp, const char *what, uint64_t base,
                       uint64_t size, uint64_t offset, uint64_t len)
{
    const uint64_t room = size ? size : (uint64_t)INT64_MAX - base;

    return offset > room || len > room - offset
               ? past_end(errp, what, len, offset, room)
               : 0;
}

/* ---- a descriptor ---- */

static int fd_end(const Fd *f, uint64_t *end, GError **errp)
{
    struct stat st;

    if (f->device) {
        if (ioctl(f->fd, BLKGETSIZE64, end) == 0) {
            return 0;
        }
    } else if (fstat(f->fd, &st) == 0) {
        *end = (uint64_t)st.st_size;
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                         "cannot tell the size of the storage: %s",
                         g_strerror(errno));
}

static int fd_get_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                       void *opaque, GError **errp)
{
    const Fd *f = opaque;
    uint64_t end;

    if (fd_end(f, &end, errp) < 0) {
        return -1;
    }
    *size = end > f->offset ? end - f->offset : 0;
    if (f->size && f->size < *size) {
        *size = f->size;
    }
    return 0;
}

static int fd_read(QCryptoBlock *block, uint64_t offset, uint8_t *buf,
                   size_t buflen, void *opaque, GError **errp)
{
    const Fd *f = opaque;

    if (check_range(errp, "read", f->offset, f->size, offset, buflen) < 0) {
        return -1;
    }
    for (size_t done = 0; done < buflen;) {
        const ssize_t n = pread(f->fd, buf + done, buflen - done,
                                (off_t)(f->offset + offset + done));

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0) {
            uint64_t size;

            return fd_get_size(block, &size, opaque, errp) < 0
                       ? -1
                       : past_end(errp, "read", buflen, offset, size);
        } else if (errno != EINTR) {
            return io_error(errp, "read", buflen, offset, errno);
        }
    }
    return 0;
}

static int fd_write(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                    const uint8_t *buf, size_t buflen, void *opaque,
                    GError **errp)
{
    const Fd *f = opaque;

    if (check_range(errp, "write", f->offset, f->size, offset, buflen) < 0) {
        return -1;
    }
    for (size_t done = 0; done < buflen;) {
        const ssize_t n = pwrite(f->fd, buf + done, buflen - done,
                                 (off_t)(f->offset + offset + done));

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            return io_error(errp, "write", buflen, offset, n ? errno : ENOSPC);
        }
    }
    return 0;
}

static int fd_flush(QCryptoBlock *block G_GNUC_UNUSED, void *opaque,
                    GError **errp)
{
    const Fd *f = opaque;
    int ret;

    do {
        ret = fdatasync(f->fd);
    } while (ret < 0 && errno == EINTR);
    return ret < 0 ? qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                   "cannot flush the storage: %s",
                                   g_strerror(errno))
                   : 0;
}

static int fd_discard(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                      uint64_t len, void *opaque, GError **errp)
{
    const Fd *f = opaque;
    int ret;

    if (check_range(errp, "discard", f->offset, f->size, offset, len) < 0) {
        return -1;
    }
    if (!len) {
        return 0;
    }
    do {
        uint64_t range[2] = {f->offset + offset, len};

        ret = f->device
                  ? ioctl(f->fd, BLKDISCARD, range)
                  : fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              (off_t)range[0], (off_t)range[1]);
    } while (ret < 0 && errno == EINTR);
    /* a hint: storage that can not is as good */
    if (ret < 0 && errno != EOPNOTSUPP && errno != ENOSYS && errno != ENOTTY) {
        return io_error(errp, "discard", len, offset, errno);
    }
    return 0;
}

static int fd_init(QCryptoBlock *block G_GNUC_UNUSED, uint64_t size,
                   void *opaque, GError **errp)
{
    const Fd *f = opaque;
    uint64_t end;
    int ret;

    if (check_range(errp, "make room for", f->offset, f->size, 0, size) < 0 ||
        fd_end(f, &end, errp) < 0) {
        return -1;
    }
    if (end >= f->offset + size) {
        return 0; /* nothing behind the volume is cut off */
    }
    if (f->device) {
        return past_end(errp, "make room for", size, 0,
                        end > f->offset ? end - f->offset : 0);
    }
    do {
        ret = ftruncate(f->fd, (off_t)(f->offset + size));
    } while (ret < 0 && errno == EINTR);
    return ret < 0 ? io_error(errp, "make room for", size, 0, errno) : 0;
}

/*
 * Open file description locks: they belong to the opening of the file, not to
 * the process, so that two volumes of one process exclude each other too.
 */
static int fd_lock(QCryptoBlock *block G_GNUC_UNUSED, bool take, void *opaque,
                   GError **errp)
{
    const Fd *f = opaque;
    struct flock range = {
        .l_type = take ? F_WRLCK : F_UNLCK,
        .l_whence = SEEK_SET,
        .l_start = (off_t)f->offset,
        .l_len = (off_t)f->size, /* 0: to the end, wherever it is */
    };
    int ret;

    do {
        ret = fcntl(f->fd, F_OFD_SETLK, &range);
    } while (ret < 0 && errno == EINTR);
    if (ret == 0) {
        return 0;
    }
    if (errno == EAGAIN || errno == EACCES) {
        return qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                             "another program has locked the storage");
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "cannot lock the storage: %s",
                         g_strerror(errno));
}

QCryptoBlockIO *qcrypto_block_io_new_fd(int fd, uint64_t offset, uint64_t size,
                                        GError **errp)
{
    const int flags = fcntl(fd, F_GETFL);
    struct stat st;

    if (flags < 0 || fstat(fd, &st) < 0) {
        qcrypto_error(errp, QCRYPTO_ERROR_IO, "descriptor %d: %s", fd,
                      g_strerror(errno));
        return NULL;
    }
    if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "a volume lies in a regular file or a block device");
        return NULL;
    }
    const int mode = flags & O_ACCMODE;
    if (mode == O_WRONLY || (mode == O_RDWR && flags & O_APPEND)) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "descriptor %d was opened for %s", fd,
                      mode == O_WRONLY ? "writing alone" : "appending");
        return NULL;
    }
    if (offset > INT64_MAX || size > INT64_MAX - offset) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "no storage has %" U64 " bytes at %" U64, size, offset);
        return NULL;
    }
    Fd *f = g_new(Fd, 1);
    *f = (Fd){fd, offset, size, S_ISBLK(st.st_mode)};
    QCryptoBlockIO *io = g_new0(QCryptoBlockIO, 1);
    io->read = fd_read;
    io->get_size = fd_get_size;
    if (mode == O_RDWR) {
        io->write = fd_write;
        io->flush = fd_flush;
        io->discard = fd_discard;
        io->init = fd_init;
        io->lock = fd_lock;
    }
    io->destroy = g_free;
    io->opaque = f;
    return io;
}

/* ---- a part ---- */

typedef struct Slice {
    QCryptoBlockIO *io;
    uint64_t offset;
    uint64_t size; /* 0: to the end */
} Slice;

static int slice_get_size(QCryptoBlock *block, uint64_t *size, void *opaque,
                          GError **errp)
{
    const Slice *s = opaque;

    if (s->io->get_size(block, size, s->io->opaque, errp) < 0) {
        return -1;
    }
    *size = *size > s->offset ? *size - s->offset : 0;
    if (s->size && s->size < *size) {
        *size = s->size;
    }
    return 0;
}

static int slice_read(QCryptoBlock *block, uint64_t offset, uint8_t *buf,
                      size_t buflen, void *opaque, GError **errp)
{
    const Slice *s = opaque;

    if (check_range(errp, "read", s->offset, s->size, offset, buflen) < 0) {
        return -1;
    }
    return s->io->read(block, s->offset + offset, buf, buflen, s->io->opaque,
                       errp);
}

static int slice_write(QCryptoBlock *block, uint64_t offset, const uint8_t *buf,
                       size_t buflen, void *opaque, GError **errp)
{
    const Slice *s = opaque;

    if (check_range(errp, "write", s->offset, s->size, offset, buflen) < 0) {
        return -1;
    }
    return s->io->write(block, s->offset + offset, buf, buflen, s->io->opaque,
                        errp);
}

static int slice_flush(QCryptoBlock *block, void *opaque, GError **errp)
{
    const Slice *s = opaque;

    return s->io->flush(block, s->io->opaque, errp);
}

static int slice_discard(QCryptoBlock *block, uint64_t offset, uint64_t len,
                         void *opaque, GError **errp)
{
    const Slice *s = opaque;

    if (check_range(errp, "discard", s->offset, s->size, offset, len) < 0) {
        return -1;
    }
    return s->io->discard(block, s->offset + offset, len, s->io->opaque, errp);
}

static int slice_init(QCryptoBlock *block, uint64_t size, void *opaque,
                      GError **errp)
{
    const Slice *s = opaque;

    if (check_range(errp, "make room for", s->offset, s->size, 0, size) < 0) {
        return -1;
    }
    return s->io->init(block, s->offset + size, s->io->opaque, errp);
}

static int slice_lock(QCryptoBlock *block, bool take, void *opaque,
                      GError **errp)
{
    const Slice *s = opaque;

    return s->io->lock(block, take, s->io->opaque, errp);
}

QCryptoBlockIO *qcrypto_block_io_new_slice(QCryptoBlockIO *io, uint64_t offset,
                                           uint64_t size, GError **errp)
{
    if (!io) {
        qcrypto_error_null(errp, "io");
        return NULL;
    }
    if (offset > INT64_MAX || size > INT64_MAX - offset) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "no storage has %" U64 " bytes at %" U64, size, offset);
        return NULL;
    }
    Slice *s = g_new(Slice, 1);
    *s = (Slice){io, offset, size};
    QCryptoBlockIO *part = g_new(QCryptoBlockIO, 1);
    /* what the whole can not, a part can not either */
    *part = (QCryptoBlockIO){
        .read = slice_read,
        .get_size = slice_get_size,
        .write = io->write ? slice_write : NULL,
        .flush = io->flush ? slice_flush : NULL,
        .discard = io->discard ? slice_discard : NULL,
        .init = io->init ? slice_init : NULL,
        .lock = io->lock ? slice_lock : NULL,
        .destroy = g_free,
        .opaque = s,
    };
    return part;
}

void qcrypto_block_io_free(QCryptoBlockIO *io)
{
    if (io) {
        if (io->destroy) {
            io->destroy(io->opaque);
        }
        g_free(io);
    }
}
