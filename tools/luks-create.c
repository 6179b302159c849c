/*
 * qcrypto luks create: a volume, in a new file or over what is there
 *
 * A new file gets its name when the header is complete, so that a refusal or
 * a signal leaves nothing.  What is there already is looked at first: only
 * what is blank is overwritten without a word.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "tools/luks.h"
#include "tools/partition.h"
#include "tools/signature.h"

/* What would be lost, or NULL. */
static char *occupant(QCryptoBlockIO *io)
{
    uint8_t head[16];
    uint64_t size;

    if (io->get_size(NULL, &size, io->opaque, NULL) == 0 &&
        size >= sizeof(head) &&
        io->read(NULL, 0, head, sizeof(head), io->opaque, NULL) == 0 &&
        qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, head,
                                 sizeof(head))) {
        return g_strdup("a LUKS volume");
    }
    if (qcrypto_signature_is_blank(io)) {
        return NULL;
    }
    const char *known = qcrypto_signature_find(io);
    if (known) {
        return g_strdup(known);
    }
    g_autoptr(QCryptoPartitionTable) table =
        qcrypto_partition_table_read(io, 0, NULL);
    return table ? g_strdup_printf("a partition table (%s)", table->scheme)
                 : g_strdup("data");
}

/* Storage to write a volume or a header into, made when it is not there. */
static QCryptoStorage *storage_for(const LuksOptions *o,
                                   QCryptoStorageOptions *place, bool keep,
                                   QCryptoNewFile *made, GError **errp)
{
    struct stat st;

    place->writable = true;
    place->grows = true;
    if (qcrypto_storage_is_uri(place->file) || stat(place->file, &st) == 0 ||
        errno != ENOENT) {
        g_autoptr(QCryptoStorage) s = qcrypto_storage_open(place, errp);
        g_autofree char *what =
            s && !keep ? occupant(qcrypto_storage_io(s)) : NULL;
        g_autofree char *question = g_strdup_printf(
            "'%s' holds %s, which would be lost", place->file, what);

        if (!s || (what && qcrypto_luks_tool_confirm(o, question, errp) < 0)) {
            return NULL;
        }
        return g_steal_pointer(&s);
    }
    if (qcrypto_newfile_open_guarded(made, place->file, NULL, 0666, errp) < 0) {
        return NULL;
    }
    /* the storage closes its descriptor, and so does who made the file */
    int fd = dup(made->fd);
    if (fd < 0) {
        qcrypto_error(errp, QCRYPTO_ERROR_IO, "dup: %s", g_strerror(errno));
        return NULL;
    }
    return qcrypto_storage_open_fd(place, fd, errp);
}

static int format_of(const char *type, GError **errp)
{
    int format =
        type ? qcrypto_block_format_from_name(type) : QCRYPTO_BLOCK_FORMAT_LUKS;

    if (format != QCRYPTO_BLOCK_FORMAT_LUKS &&
        format != QCRYPTO_BLOCK_FORMAT_LUKS1 &&
        format != QCRYPTO_BLOCK_FORMAT_LUKS2) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--type is luks1 or luks2, not '%s'", type);
    }
    return format;
}

/* Numbers of 32 bits begin anew at 2 TiB: two sectors with one IV. */
static void warn_of_short_iv(const char *cipher, uint64_t size)
{
    QCryptoCipherSpec spec;

    if (cipher && qcrypto_cipher_spec_parse(cipher, &spec, NULL) == 0 &&
        spec.ivgen == QCRYPTO_IV_GEN_ALGO_PLAIN &&
        size > ((uint64_t)512 << 32)) {
        fprintf(stderr,
                "qcrypto luks: warning: the IVs of '%s' repeat after 2 TiB; "
                "plain64 does not\n",
                cipher);
    }
}

static int write_volume(const LuksOptions *o, const char *file,
                        uint64_t payload, LuksVolume *v, GError **errp)
{
    g_autoptr(QCryptoSecret) passphrase = NULL;
    g_autoptr(QCryptoSecret) volume_key = NULL;
    g_auto(GStrv) flags = o->persistent && *o->persistent
                              ? g_strsplit(o->persistent, ",", 0)
                              : NULL;
    QCryptoBlockCreateOptions how = {
        .cipher = o->cipher,
        .hash = o->hash,
        .sector_size = (size_t)o->sector_size.value,
        .size = payload,
        .payload_offset = o->payload_offset.value,
        .metadata_size = o->metadata_size.value,
        .keyslots_size = o->keyslots_size.value,
        .uuid = o->uuid,
        .label = o->label,
        .subsystem = o->subsystem,
        .flags = (const char *const *)flags,
        .header = v->header ? qcrypto_storage_io(v->header) : NULL,
        .provider = o->provider,
    };
    const int format = format_of(o->type, errp);

    if (format < 0 || qcrypto_luks_tool_key_size(o, &how.key_len, errp) < 0 ||
        qcrypto_luks_tool_slot_options(o, &how.slot, errp) < 0) {
        return -1;
    }
    how.format = (QCryptoBlockFormat)format;
    how.slot.use_slot = o->key_slot.given;
    how.slot.slot = (unsigned)o->key_slot.value;
    if (o->volume_key_file) {
        volume_key =
            qcrypto_secret_new_from_file(o->volume_key_file, 0, 0, errp);
        if (!volume_key) {
            return -1;
        }
        how.volume_key = volume_key;
    }
    passphrase = qcrypto_luks_tool_passphrase(o, &o->key, "Passphrase", file,
                                              true, errp);
    if (!passphrase) {
        return -1;
    }
    how.passphrase = passphrase;
    v->block = qcrypto_block_create(&how, qcrypto_storage_io(v->storage), errp);
    if (!v->block) {
        return -1;
    }
    warn_of_short_iv(o->cipher, qcrypto_block_get_payload_size(v->block));
    return 0;
}

/* A header over the beginning of its own payload would be lost to it. */
static int check_header_apart(const LuksOptions *o, const char *file,
                              GError **errp)
{
    g_autofree char *volume = g_canonicalize_filename(file, NULL);
    g_autofree char *header = g_canonicalize_filename(o->header, NULL);

    /* two that are not there yet are one by their names alone */
    return strcmp(volume, header)
               ? qcrypto_luks_tool_check_apart(o, file, o->header, errp)
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "'%s' is the volume: its header can not be "
                               "apart from it there",
                               o->header);
}

int qcrypto_luks_tool_create(const LuksOptions *o, const char *file,
                             uint64_t payload, LuksNewVolume *made,
                             GError **errp)
{
    QCryptoStorageOptions place = qcrypto_luks_tool_place(o, file);
    QCryptoStorageOptions apart = {.file = o->header};
    LuksVolume *v = &made->volume;

    *made = (LuksNewVolume){.file.fd = -1, .header.fd = -1};
    if (o->header && check_header_apart(o, file, errp) < 0) {
        return -1;
    }
    /* with its header elsewhere, a volume keeps the bytes it has */
    v->storage = storage_for(o, &place, o->header != NULL, &made->file, errp);
    if (!v->storage) {
        return -1;
    }
    if (made->file.temp && !payload) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--size is missing: '%s' is not there yet", file);
    }
    if (o->header) {
        v->header = storage_for(o, &apart, false, &made->header, errp);
        if (!v->header) {
            return -1;
        }
    }
    return write_volume(o, file, payload, v, errp);
}

int qcrypto_luks_tool_create_finish(LuksNewVolume *made, bool good,
                                    GError **errp)
{
    int ret = 0;

    qcrypto_luks_tool_close(&made->volume);
    if (made->header.temp) {
        ret = qcrypto_newfile_finish(&made->header, good, errp);
    }
    if (made->file.temp && qcrypto_newfile_finish(&made->file, good && ret == 0,
                                                  ret == 0 ? errp : NULL) < 0) {
        ret = -1;
    }
    return ret;
}

int qcrypto_luks_run_create(const LuksOptions *o, char **args, GError **errp)
{
    LuksNewVolume made;
    int ret = qcrypto_luks_tool_create(o, args[0], o->payload_size.value, &made,
                                       errp);

    return qcrypto_luks_tool_create_finish(&made, ret == 0,
                                           ret == 0 ? errp : NULL) < 0
               ? -1
               : ret;
}
