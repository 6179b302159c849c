/*
 * Where a volume lies, as people say it (storage.h)
 *
 * A chain of at most two objects: the whole, and a slice of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "crypto/base/error.h"
#include "tools/nbd.h"
#include "tools/partition.h"

struct QCryptoStorage {
    int fd;
    QCryptoBlockIO *whole;
    QCryptoBlockIO *part; /* NULL: the whole */
};

bool qcrypto_storage_is_uri(const char *file)
{
    const char *p = file;

    if (!g_str_has_prefix(p, "nbd")) {
        return false;
    }
    p += strlen("nbd");
    p += *p == 's';
    if (*p == '+') {
        p++;
        while (g_ascii_isalnum(*p)) {
            p++;
        }
    }
    return g_str_has_prefix(p, "://");
}

/* The sector by which a partition table of this disk counts; 0: unknown. */
static size_t device_sector_size(int fd)
{
    int size;

    return fd >= 0 && ioctl(fd, BLKSSZGET, &size) == 0 && size > 0
               ? (size_t)size
               : 0;
}

static int cut_partition(QCryptoStorage *s, const QCryptoStorageOptions *o,
                         GError **errp)
{
    g_autoptr(QCryptoPartitionTable) table = qcrypto_partition_table_read(
        s->whole,
        o->disk_sector_size ? o->disk_sector_size : device_sector_size(s->fd),
        errp);
    const QCryptoPartition *p =
        table ? qcrypto_partition_table_find(table, o->partition, errp) : NULL;

    if (!p) {
        return -1;
    }
    s->part = qcrypto_block_io_new_slice(s->whole, p->offset, p->size, errp);
    return s->part ? 0 : -1;
}

static int cut_range(QCryptoStorage *s, const QCryptoStorageOptions *o,
                     GError **errp)
{
    uint64_t end;

    if (s->whole->get_size(NULL, &end, s->whole->opaque, errp) < 0) {
        return -1;
    }
    if (!o->grows &&
        (o->offset >= end || (o->size && o->size > end - o->offset))) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%" PRIu64 " bytes at %" PRIu64
                             " reach past the end at %" PRIu64,
                             MAX(o->size, 1), o->offset, end);
    }
    s->part = qcrypto_block_io_new_slice(s->whole, o->offset, o->size, errp);
    return s->part ? 0 : -1;
}

/* Takes the place the options tell out of the whole. */
static int cut(QCryptoStorage *s, const QCryptoStorageOptions *o, GError **errp)
{
    int ret = 0;

    if (o->partition && (o->offset || o->size)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a partition has its own offset and size");
    }
    if (o->partition) {
        ret = cut_partition(s, o, errp);
    } else if (o->offset || o->size) {
        ret = cut_range(s, o, errp);
    }
    if (ret < 0) {
        g_prefix_error(errp, "'%s': ", o->file);
    }
    return ret;
}

static QCryptoStorage *finish(QCryptoStorage *s, const QCryptoStorageOptions *o,
                              GError **errp)
{
    if (!s->whole || cut(s, o, errp) < 0) {
        qcrypto_storage_free(s);
        return NULL;
    }
    return s;
}

QCryptoStorage *qcrypto_storage_open_fd(const QCryptoStorageOptions *o, int fd,
                                        GError **errp)
{
    QCryptoStorage *s = g_new0(QCryptoStorage, 1);

    s->fd = fd;
    s->whole = qcrypto_block_io_new_fd(fd, 0, 0, errp);
    if (!s->whole) {
        g_prefix_error(errp, "'%s': ", o->file);
    }
    return finish(s, o, errp);
}

static int open_file(const QCryptoStorageOptions *o, GError **errp)
{
    struct stat st;
    int flags = (o->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;

    /* a mounted file system's device says EBUSY; asked before opening, as
     * O_EXCL without O_CREAT is defined for devices alone */
    if (o->writable && stat(o->file, &st) == 0 && S_ISBLK(st.st_mode)) {
        flags |= O_EXCL;
    }
    int fd = open(o->file, flags);
    if (fd < 0) {
        return qcrypto_error(
            errp, errno == EBUSY ? QCRYPTO_ERROR_BUSY : QCRYPTO_ERROR_IO,
            "cannot open '%s'%s: %s", o->file,
            o->writable ? " for writing" : "", g_strerror(errno));
    }
    return fd;
}

QCryptoStorage *qcrypto_storage_open(const QCryptoStorageOptions *o,
                                     GError **errp)
{
    if (!qcrypto_storage_is_uri(o->file)) {
        int fd = open_file(o, errp);

        return fd < 0 ? NULL : qcrypto_storage_open_fd(o, fd, errp);
    }
    QCryptoStorage *s = g_new0(QCryptoStorage, 1);

    s->fd = -1;
    s->whole = qcrypto_nbd_open(o->file, o->writable, o->connections, errp);
    return finish(s, o, errp);
}

void qcrypto_storage_free(QCryptoStorage *s)
{
    if (s) {
        qcrypto_block_io_free(s->part);
        qcrypto_block_io_free(s->whole);
        if (s->fd >= 0) {
            close(s->fd);
        }
        g_free(s);
    }
}

QCryptoBlockIO *qcrypto_storage_io(const QCryptoStorage *s)
{
    return s->part ? s->part : s->whole;
}
