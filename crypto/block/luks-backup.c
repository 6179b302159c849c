/*
 * Headers, to another place and back
 *
 * A backup is the header with all key areas, byte for byte, as cryptsetup
 * writes it: the two programs restore each other's.  It opens like a detached
 * header, so whoever has it and a passphrase of then has the volume, whatever
 * became of its slots since.
 *
 * Both directions write the first block last.  A backup that broke off is no
 * header; a restore that broke off is to be done again, and until its last
 * step the header that was there before stays in force.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/secure.h"
#include "crypto/block/luks-edit.h"

#define U64 G_GUINT64_FORMAT

#define CHUNK ((uint64_t)1 << 20)
/* the block with magic and version */
#define FIRST QCRYPTO_LUKS_ALIGN

/* Bytes from the start that are header and key areas. */
static uint64_t extent(const QCryptoLuks *l)
{
    return l->version == 1 ? l->header_size
                           : l->keyslots_offset + l->keyslots_size;
}

static int copy_range(QCryptoBlockIO *from, QCryptoBlockIO *to, uint64_t at,
                      uint64_t end, GError **errp)
{
    uint8_t *chunk = qcrypto_alloc_unset(CHUNK);
    int ret =
        chunk ? 0 : qcrypto_error_memory(errp, "a header", CHUNK / 1024, 0);

    while (ret == 0 && at < end) {
        const size_t n = (size_t)MIN(CHUNK, end - at);

        ret = qcrypto_luks_get(from, at, chunk, n, errp);
        if (ret == 0) {
            ret = qcrypto_luks_put(to, at, chunk, n, errp);
        }
        at += n;
    }
    qcrypto_wipe_free(chunk, CHUNK);
    return ret < 0 ? ret : qcrypto_luks_flush(to, errp);
}

static int size_of(QCryptoBlockIO *io, uint64_t *size, GError **errp)
{
    return io->get_size(NULL, size, io->opaque, errp);
}

/* Room for `need` bytes, made where that can be. */
static int make_room(QCryptoBlockIO *io, uint64_t need, const char *what,
                     GError **errp)
{
    uint64_t have;

    if (size_of(io, &have, errp) < 0 ||
        (have < need && io->init &&
         (io->init(NULL, need, io->opaque, errp) < 0 ||
          size_of(io, &have, errp) < 0))) {
        return -1;
    }
    return have >= need ? 0
                        : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                        "the header takes %" U64
                                        " bytes, the %s has %" U64,
                                        need, what, have);
}

static int check_pair(QCryptoBlockIO *volume, QCryptoBlockIO *backup,
                      QCryptoBlockIO *written, GError **errp)
{
    if (!volume || !backup) {
        return qcrypto_error_null(errp, volume ? "backup" : "volume");
    }
    return written->write
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "the %s was opened for reading alone",
                               written == backup ? "backup" : "volume");
}

static int back_up(QCryptoBlockIO *volume, QCryptoBlockIO *backup,
                   const QCryptoLuks *l, GError **errp)
{
    const uint64_t end = extent(l);
    uint8_t first[FIRST];
    int ret = -1;

    if (make_room(backup, qcrypto_luks_round_up(end, QCRYPTO_LUKS_ALIGN),
                  "backup", errp) < 0 ||
        qcrypto_luks_get(volume, 0, first, sizeof(first), errp) < 0) {
        return -1;
    }
    /* LUKS1 leaves room before the first area: nothing of an earlier use of
     * the storage gets into the backup */
    if (l->version == 1) {
        uint64_t areas = FIRST;

        for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
            areas = MIN(areas, l->slots[i].area_offset);
        }
        memset(first + QCRYPTO_LUKS1_HEADER, 0, areas - QCRYPTO_LUKS1_HEADER);
    }
    if (copy_range(volume, backup, FIRST, end, errp) == 0 &&
        qcrypto_luks_put(backup, 0, first, sizeof(first), errp) == 0) {
        ret = qcrypto_luks_flush(backup, errp);
    }
    qcrypto_wipe(first, sizeof(first));
    return ret;
}

int qcrypto_block_backup_header(QCryptoBlockIO *volume, QCryptoBlockIO *backup,
                                GError **errp)
{
    if (check_pair(volume, backup, backup, errp) < 0) {
        return -1;
    }
    QCryptoLuks *l = qcrypto_luks_read_any(volume, true, errp);
    if (!l) {
        return -1;
    }
    const int ret = back_up(volume, backup, l, errp);
    qcrypto_luks_free(l);
    return ret;
}

/* What is not to be overwritten by mistake. */
static int check_over(QCryptoBlockIO *volume, const QCryptoLuks *l,
                      GError **errp)
{
    QCryptoLuks *old = qcrypto_luks_read_any(volume, true, NULL);
    int ret = 0;

    if (!old) {
        return 0;
    }
    if (strcmp(old->uuid, l->uuid)) {
        ret = qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                            "the backup belongs to another volume: it has the "
                            "UUID %s, the header there %s (force writes it all "
                            "the same)",
                            l->uuid, old->uuid);
    } else if (old->payload_offset != l->payload_offset ||
               (old->key_len && l->key_len && old->key_len != l->key_len)) {
        ret = qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                            "the backup has the payload at %" U64
                            " and a key of %zu bytes, the header there at "
                            "%" U64 " and %zu (force writes it all the same)",
                            l->payload_offset, l->key_len, old->payload_offset,
                            old->key_len);
    }
    qcrypto_luks_free(old);
    return ret;
}

static int restore(QCryptoBlockIO *volume, QCryptoBlockIO *backup,
                   const QCryptoLuks *l, GError **errp)
{
    const uint64_t end = extent(l);
    /* LUKS2: the secondary copy before the primary one's first block */
    const uint64_t copy = l->version == 2 ? l->header_size : FIRST;

    if (copy_range(backup, volume, l->version == 2 ? 2 * copy : FIRST, end,
                   errp) < 0 ||
        (l->version == 2 &&
         (copy_range(backup, volume, copy, 2 * copy, errp) < 0 ||
          copy_range(backup, volume, FIRST, copy, errp) < 0)) ||
        copy_range(backup, volume, 0, FIRST, errp) < 0) {
        return -1;
    }
    /* copies of a larger header that was there before */
    if (qcrypto_luks_wipe_signatures(volume, end, l->payload_offset, errp) <
        0) {
        return -1;
    }
    return qcrypto_luks_flush(volume, errp);
}

static int check_and_restore(QCryptoBlockIO *volume, QCryptoBlockIO *backup,
                             bool force, GError **errp)
{
    QCryptoLuks *l = qcrypto_luks_read_any(backup, true, errp);
    uint64_t have;
    int ret = -1;

    if (!l) {
        g_prefix_error(errp, "the backup: ");
        return -1;
    }
    /* a detached header's storage may be just as large; a payload that would
     * lie behind the end of everything is another volume's */
    if (size_of(backup, &have, errp) == 0) {
        if (have < extent(l)) {
            qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_HEADER,
                          "the backup ends after %" U64 " of %" U64 " bytes",
                          have, extent(l));
        } else if (make_room(volume, extent(l), "volume", errp) == 0 &&
                   (force || check_over(volume, l, errp) == 0)) {
            ret = restore(volume, backup, l, errp);
        }
    }
    qcrypto_luks_free(l);
    return ret;
}

int qcrypto_block_restore_header(QCryptoBlockIO *volume, QCryptoBlockIO *backup,
                                 bool force, GError **errp)
{
    if (check_pair(volume, backup, volume, errp) < 0 ||
        (volume->lock && volume->lock(NULL, true, volume->opaque, errp) < 0)) {
        return -1;
    }
    const int ret = check_and_restore(volume, backup, force, errp);
    if (volume->lock) {
        volume->lock(NULL, false, volume->opaque, NULL);
    }
    return ret;
}
