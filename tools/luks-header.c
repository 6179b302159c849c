/*
 * qcrypto luks: the commands on headers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "tools/luks.h"

/* The file with the header: the volume's, unless it lies apart. */
static QCryptoStorage *open_header(const LuksOptions *o, const char *file,
                                   bool writable, GError **errp)
{
    QCryptoStorageOptions place = qcrypto_luks_tool_place(o, file);

    if (o->header) {
        place = (QCryptoStorageOptions){.file = o->header};
    }
    place.writable = writable;
    return qcrypto_storage_open(&place, errp);
}

int qcrypto_luks_run_backup_header(const LuksOptions *o, char **args,
                                   GError **errp)
{
    g_autoptr(QCryptoStorage) volume = open_header(o, args[0], false, errp);
    QCryptoNewFile f;
    struct stat st;

    if (!volume ||
        qcrypto_luks_tool_check_apart(o, args[0], args[1], errp) < 0) {
        return -1;
    }
    if (stat(args[1], &st) == 0 && !o->force) {
        return qcrypto_error(errp, QCRYPTO_ERROR_BUSY, "'%s' is there already",
                             args[1]);
    }
    if (qcrypto_newfile_open_guarded(&f, args[1], NULL, 0600, errp) < 0) {
        return -1;
    }

    g_autoptr(QCryptoBlockIO) io = qcrypto_block_io_new_fd(f.fd, 0, 0, errp);
    bool good = io && qcrypto_block_backup_header(qcrypto_storage_io(volume),
                                                  io, errp) == 0;
    return qcrypto_newfile_finish(&f, good, good ? errp : NULL) < 0 || !good
               ? -1
               : 0;
}

int qcrypto_luks_run_restore_header(const LuksOptions *o, char **args,
                                    GError **errp)
{
    g_autoptr(QCryptoStorage) volume = open_header(o, args[0], true, errp);
    const QCryptoStorageOptions from = {.file = args[1]};
    g_autoptr(QCryptoStorage) backup =
        volume ? qcrypto_storage_open(&from, errp) : NULL;

    if (!backup ||
        qcrypto_luks_tool_confirm(
            o, "the backup's key slots would replace those there are now",
            errp) < 0) {
        return -1;
    }
    return qcrypto_block_restore_header(
        qcrypto_storage_io(volume), qcrypto_storage_io(backup), o->force, errp);
}

int qcrypto_luks_run_convert(const LuksOptions *o, char **args, GError **errp)
{
    g_auto(LuksVolume) v = {0};
    const int format = o->type ? qcrypto_block_format_from_name(o->type) : -1;

    if (format != QCRYPTO_BLOCK_FORMAT_LUKS1 &&
        format != QCRYPTO_BLOCK_FORMAT_LUKS2) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--type luks1 or --type luks2 says into what");
    }
    if (qcrypto_luks_tool_open(o, args[0], LUKS_CHANGE_HEADER,
                               QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &v, errp) < 0) {
        return -1;
    }
    return qcrypto_block_convert(v.block, (QCryptoBlockFormat)format, errp);
}

int qcrypto_luks_run_config(const LuksOptions *o, char **args, GError **errp)
{
    g_auto(LuksVolume) v = {0};

    if (!o->uuid && !o->label && !o->subsystem && !o->persistent) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "nothing to change: --uuid, --label, --subsystem "
                             "or --persistent");
    }
    if (qcrypto_luks_tool_open(o, args[0], LUKS_CHANGE_HEADER,
                               QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &v, errp) < 0) {
        return -1;
    }
    if (o->uuid && qcrypto_block_set_uuid(v.block, o->uuid, errp) < 0) {
        return -1;
    }
    if ((o->label || o->subsystem) &&
        qcrypto_block_set_label(v.block, o->label, o->subsystem, errp) < 0) {
        return -1;
    }
    if (o->persistent) {
        g_auto(GStrv) flags = g_strsplit(o->persistent, ",", 0);

        return qcrypto_block_set_flags(v.block, (const char *const *)flags,
                                       errp);
    }
    return 0;
}
