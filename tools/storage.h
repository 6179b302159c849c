/*
 * Where a volume lies, as people say it
 *
 *     disk.img                            a file
 *     /dev/sdb                            a block device
 *     nbd://host/export                   what an NBD server serves: nbd:,
 *     nbd+unix:///export?socket=PATH      nbds:, nbd+unix:, nbds+unix:,
 *     nbds://host/export                  nbd+vsock: and nbds+vsock:
 *
 * and of it all, a range of bytes, or one partition.  All of them become one
 * QCryptoBlockIO, which any number of threads may use at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_STORAGE_H
#define QCRYPTO_TOOLS_STORAGE_H

#include <qcrypto/block.h>

typedef struct QCryptoStorage QCryptoStorage;

typedef struct QCryptoStorageOptions {
    const char *file;
    /* bytes; size 0: to the end.  Not together with a partition. */
    uint64_t offset, size;
    unsigned partition; /* tools/partition.h; 0: none */
    /* of the disk with the partition table, see there; 0: found out */
    size_t disk_sector_size;
    bool writable;
    /* a file that may become longer: the range may reach past its end */
    bool grows;
    /* NBD: connections at most; 0: one */
    unsigned connections;
} QCryptoStorageOptions;

QCryptoStorage *qcrypto_storage_open(const QCryptoStorageOptions *options,
                                     GError **errp);
/* An open file or device, which becomes the storage's also on failure. */
QCryptoStorage *qcrypto_storage_open_fd(const QCryptoStorageOptions *options,
                                        int fd, GError **errp);
/* NULL is allowed. */
void qcrypto_storage_free(QCryptoStorage *storage);

/* Lives as long as the storage. */
QCryptoBlockIO *qcrypto_storage_io(const QCryptoStorage *storage);

/* Is this the URI of an NBD server rather than a file's name? */
bool qcrypto_storage_is_uri(const char *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoStorage, qcrypto_storage_free)

#endif
