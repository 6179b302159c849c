/*
 * An open volume, from the inside
 *
 * The data path is a list of runs that cover the payload without gaps; each
 * is encrypted by one cipher object (shared by the segments with the same
 * cipher) or not at all.  A request is cut at the borders of runs and goes
 * to the sector calls whole.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BLOCK_BLOCK_H
#define QCRYPTO_BLOCK_BLOCK_H

#include <qcrypto/block.h>
#include <qcrypto/cipher.h>
#include <qcrypto/ivgen.h>

/* of the legacy format of qcow, which has nowhere to say so */
#define QCRYPTO_QCOW_CIPHER "aes-cbc-plain64"
#define QCRYPTO_QCOW_KEY    16
#define QCRYPTO_QCOW_SECTOR 512

#define QCRYPTO_BLOCK_REGIONS 16

typedef struct QCryptoBlockRun {
    uint64_t start, size; /* in the payload */
    uint64_t offset;      /* in the storage */
    uint64_t iv_sector;   /* of its first byte, in 512-byte units */
    size_t sector_size;
    const QCryptoCipher *cipher; /* NULL: linear */
    const QCryptoIVGen *ivgen;   /* NULL: mode without IV */
    /* of a volume that says it is encrypted and is not ("cipher_null"): what
     * lies there can be read, but nothing is written in the clear */
    bool no_write;
} QCryptoBlockRun;

struct QCryptoBlock {
    QCryptoBlockFormat format; /* never plain _LUKS */
    QCryptoBlockIO *io;        /* payload */
    QCryptoBlockIO *header;    /* io, or the detached one */
    struct QCryptoLuks *luks;  /* NULL: qcow */
    QCryptoSecret *volume_key; /* kept only when asked for */
    int slot;
    char *impl; /* of the first run's cipher */
    /* payload */
    uint64_t payload_offset, payload_size;
    size_t sector_size; /* the largest of the runs' */
    QCryptoBlockRun *runs;
    size_t nruns;                /* 0: not unlocked */
    GPtrArray *ciphers, *ivgens; /* owned */
    /*
     * Of the payload, a MiB each, in turn.  Who changes a part of a sector has
     * the region for himself; who writes sectors, or reads a part of one,
     * shares it.
     */
    GRWLock regions[QCRYPTO_BLOCK_REGIONS];
};

/*
 * Ciphers and runs for a volume whose luks (or qcow) members are set, from
 * the volume key; shared by opening and creating.  Replaces earlier runs.
 */
int qcrypto_block_set_key(QCryptoBlock *block, const uint8_t *key, size_t nkey,
                          const char *provider, GError **errp);
/* payload size and offset from luks and the storage's size */
int qcrypto_block_set_layout(QCryptoBlock *block, GError **errp);
/* An empty one of that format; header NULL: io. */
QCryptoBlock *qcrypto_block_alloc(QCryptoBlockFormat format, QCryptoBlockIO *io,
                                  QCryptoBlockIO *header);

#endif
