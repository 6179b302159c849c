/*
 * qcrypto luks: the commands on data
 *
 * Images go through transform.h, whose one side is a volume: the library
 * reads and decrypts, or encrypts and writes, and any number of threads may
 * do so at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "tools/luks.h"
#include "tools/transform.h"

#define MAX_THREADS 256

/* A part of a payload, as one side of the work. */
typedef struct Part {
    QCryptoBlock *block;
    uint64_t offset, size;
} Part;

static int read_part(void *opaque, uint64_t offset, uint8_t *buf, size_t len,
                     GError **errp)
{
    const Part *p = opaque;

    return qcrypto_block_pread(p->block, p->offset + offset, buf, len, errp);
}

static int write_part(void *opaque, uint64_t offset, const uint8_t *buf,
                      size_t len, GError **errp)
{
    const Part *p = opaque;

    return qcrypto_block_pwrite(p->block, p->offset + offset, buf, len, errp);
}

static int part_of(const LuksOptions *o, QCryptoBlock *block, Part *p,
                   GError **errp)
{
    const uint64_t size = qcrypto_block_get_payload_size(block);

    *p = (Part){.block = block, .offset = o->data_offset.value};
    if (p->offset > size ||
        (o->data_length.given && o->data_length.value > size - p->offset)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%" PRIu64 " bytes at %" PRIu64
                             " reach past the end of the payload at %" PRIu64,
                             o->data_length.value, p->offset, size);
    }
    p->size = o->data_length.given ? o->data_length.value : size - p->offset;
    return 0;
}

static void tell_rate(const LuksOptions *o, const QCryptoTransform *t,
                      const QCryptoBlock *block)
{
    if (!o->batch) {
        fprintf(stderr,
                "%s %" PRIu64 " bytes in %.3f s, %.1f MiB/s (%s, threads: "
                "%u)\n",
                t->done, t->bytes, t->seconds,
                t->seconds > 0 ? (double)t->bytes / t->seconds / (1024 * 1024)
                               : 0,
                qcrypto_block_get_impl(block), t->threads);
    }
}

static unsigned threads_of(const LuksOptions *o)
{
    return o->threads.given ? (unsigned)o->threads.value
                            : MIN(g_get_num_processors(), MAX_THREADS);
}

static int read_volume(const LuksOptions *o, const char *file, const char *out,
                       const char *doing, const char *done, bool sparse,
                       GError **errp)
{
    g_auto(LuksVolume) v = {0};
    Part part;

    if (qcrypto_luks_tool_check_apart(o, file, out, errp) < 0 ||
        qcrypto_luks_tool_open(o, file, LUKS_READ, 0, &v, errp) < 0 ||
        part_of(o, v.block, &part, errp) < 0) {
        return -1;
    }
    QCryptoTransform t = {
        .in = file,
        .out = out,
        .read = read_part,
        .size = part.size,
        .unit = 1,
        .sparse = sparse,
        .threads = threads_of(o),
        .doing = doing,
        .done = done,
        .opaque = &part,
    };
    if (qcrypto_transform_run(&t, errp) < 0) {
        return -1;
    }
    tell_rate(o, &t, v.block);
    return 0;
}

int qcrypto_luks_run_decrypt(const LuksOptions *o, char **args, GError **errp)
{
    return read_volume(o, args[0], args[1], "decrypting", "decrypted",
                       !o->dense, errp);
}

int qcrypto_luks_run_read(const LuksOptions *o, char **args, GError **errp)
{
    LuksOptions quiet = *o;

    quiet.batch = true; /* a rate is for whole volumes */
    return read_volume(&quiet, args[0], args[1] ? args[1] : "-", "reading",
                       "read", false, errp);
}

/* fresh: made for it; resumable: by a command that has --resume-at */
static int write_volume(const LuksOptions *o, const char *in, const char *file,
                        QCryptoBlock *block, bool fresh, bool resumable,
                        GError **errp)
{
    Part part;

    if (part_of(o, block, &part, errp) < 0) {
        return -1;
    }
    QCryptoTransform t = {
        .in = in,
        .out = file,
        .write = write_part,
        .room = part.size,
        .passing = fresh,
        .unit = 1,
        .start = o->resume_at.value,
        .resumable = resumable,
        .threads = threads_of(o),
        .doing = "encrypting",
        .done = "written",
        .opaque = &part,
    };
    if (qcrypto_transform_run(&t, errp) < 0) {
        return -1;
    }
    if (qcrypto_block_flush(block, errp) < 0) {
        return -1;
    }
    t.done = "encrypted";
    tell_rate(o, &t, block);
    return 0;
}

/* The data must not be what a passphrase is read from to its end. */
static int check_input(const LuksOptions *o, const char *in, GError **errp)
{
    if (!strcmp(in, "-") && o->key.file && !strcmp(o->key.file, "-")) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "passphrase and data both are the whole standard "
                             "input");
    }
    return 0;
}

static int write_existing(const LuksOptions *o, const char *in,
                          const char *file, bool resumable, GError **errp)
{
    g_auto(LuksVolume) v = {0};

    if (check_input(o, in, errp) < 0 ||
        qcrypto_luks_tool_open(o, file, LUKS_WRITE_DATA, 0, &v, errp) < 0) {
        return -1;
    }
    return write_volume(o, in, file, v.block, false, resumable, errp);
}

int qcrypto_luks_run_write(const LuksOptions *o, char **args, GError **errp)
{
    LuksOptions quiet = *o;

    quiet.batch = true;
    return write_existing(&quiet, args[1] ? args[1] : "-", args[0], false,
                          errp);
}

/* Bytes of a file or device; 0: a stream, which has no length to be known. */
static int input_size(const char *in, uint64_t *size, GError **errp)
{
    struct stat st;

    *size = 0;
    if (!strcmp(in, "-")) {
        return 0;
    }
    if (stat(in, &st) < 0) {
        return qcrypto_error_file(errp, "open", in, errno);
    }
    if (S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
    } else if (S_ISBLK(st.st_mode)) {
        const QCryptoStorageOptions place = {.file = in};
        g_autoptr(QCryptoStorage) s = qcrypto_storage_open(&place, errp);
        QCryptoBlockIO *io = s ? qcrypto_storage_io(s) : NULL;

        return io ? io->get_size(NULL, size, io->opaque, errp) : -1;
    }
    return 0;
}

static int write_new(const LuksOptions *o, const char *in, const char *file,
                     GError **errp)
{
    LuksNewVolume made;
    uint64_t size;

    if (o->resume_at.given) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "there is nothing to resume: no '%s'", file);
    }
    if (check_input(o, in, errp) < 0 || input_size(in, &size, errp) < 0) {
        return -1;
    }
    int ret = qcrypto_luks_tool_create(
        o, file, o->payload_size.given ? o->payload_size.value : size, &made,
        errp);
    if (ret == 0) {
        ret = write_volume(o, in, file, made.volume.block, true, false, errp);
    }
    return qcrypto_luks_tool_create_finish(&made, ret == 0,
                                           ret == 0 ? errp : NULL) < 0
               ? -1
               : ret;
}

/* A volume that is there has its own. */
static int check_no_choices(const LuksOptions *o, const char *file,
                            GError **errp)
{
    const bool chosen = o->type || o->cipher || o->label || o->subsystem ||
                        o->uuid || o->persistent || o->pbkdf || o->hash ||
                        o->keyslot_cipher || o->priority || o->key_size.given ||
                        o->sector_size.given || o->payload_size.given ||
                        o->payload_offset.given || o->metadata_size.given ||
                        o->keyslots_size.given || o->iter_time.given ||
                        o->force_iterations.given || o->pbkdf_memory.given ||
                        o->pbkdf_parallel.given || o->keyslot_key_size.given;

    return chosen ? qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                                  "'%s' is there already: options of a new "
                                  "volume do not apply",
                                  file)
                  : 0;
}

int qcrypto_luks_run_encrypt(const LuksOptions *o, char **args, GError **errp)
{
    struct stat st;

    if (!qcrypto_storage_is_uri(args[1]) && stat(args[1], &st) < 0 &&
        errno == ENOENT) {
        return write_new(o, args[0], args[1], errp);
    }
    return check_no_choices(o, args[1], errp) < 0
               ? -1
               : write_existing(o, args[0], args[1], true, errp);
}
