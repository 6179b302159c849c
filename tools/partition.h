/*
 * Partition tables, read only
 *
 * MBR, with the logical partitions inside an extended one, and GPT, by its
 * backup when the table at the start is damaged.  Nothing of a table is
 * believed: checksums, sizes and places are checked before they are used, and
 * a chain of extended partitions has an end.
 *
 * Numbers are those of Linux: 1 to 4 in an MBR and from 5 on for the logical
 * partitions, the entry's place in a GPT.
 *
 * Sources: UEFI specification 2.10, section 5 (GPT, protective MBR); for the
 * MBR and extended boot records, what fdisk and the Linux kernel do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_PARTITION_H
#define QCRYPTO_TOOLS_PARTITION_H

#include <qcrypto/block.h>

typedef struct QCryptoPartition {
    unsigned number;
    uint64_t offset, size; /* bytes; they may reach past the disk's end */
    bool extended;         /* MBR: only a container of logical ones */
    char type[37];         /* MBR: "83"; GPT: the GUID */
    char *name;            /* GPT, UTF-8; NULL: none */
} QCryptoPartition;

typedef struct QCryptoPartitionTable {
    const char *scheme; /* "MBR", "GPT" */
    size_t sector_size; /* the disk's: what its block addresses count */
    uint64_t disk_size;
    QCryptoPartition *partitions;
    size_t npartitions;
    /* what is wrong with the table although it could be read; NULL: nothing */
    char *problem;
} QCryptoPartitionTable;

/*
 * sector_size: the disk's logical sector, 512 or 4096; 0: what the GPT's
 * place says, 512 for an MBR.
 *
 * NULL with QCRYPTO_ERROR_UNSUPPORTED: there is no table;
 * QCRYPTO_ERROR_CORRUPT_HEADER: one that cannot be believed.
 */
QCryptoPartitionTable *qcrypto_partition_table_read(QCryptoBlockIO *io,
                                                    size_t sector_size,
                                                    GError **errp);

/*
 * The partition of that number, checked to be one that can hold data and to
 * lie on the disk.  It lives as long as the table.
 */
const QCryptoPartition *qcrypto_partition_table_find(
    const QCryptoPartitionTable *table, unsigned number, GError **errp);

/* NULL is allowed. */
void qcrypto_partition_table_free(QCryptoPartitionTable *table);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoPartitionTable,
                              qcrypto_partition_table_free)

#endif
