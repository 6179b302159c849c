/*
 * Changing a header: the frame of every change, and the small ones
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/random.h>
#include <string.h>

#include "config-qcrypto.h"

#include "crypto/block/luks-edit.h"

#define WIPE_CHUNK 65536

static const QCryptoLuksEditor *const editors[] = {
    [1] = &qcrypto_luks1_editor,
#if QCRYPTO_HAVE_JANSSON
    [2] = &qcrypto_luks2_editor,
#endif
};

const QCryptoLuksEditor *qcrypto_luks_editor(unsigned version, GError **errp)
{
    if (version >= G_N_ELEMENTS(editors)) {
        qcrypto_error_unsupported(errp, "LUKS2",
                                  "this build has no JSON library (jansson)");
        return NULL;
    }
    return editors[version];
}

/* ---- storage ---- */

int qcrypto_luks_wipe(QCryptoBlockIO *io, uint64_t offset, uint64_t len,
                      bool random, GError **errp)
{
    g_autofree uint8_t *chunk = g_malloc0(WIPE_CHUNK);

    while (len) {
        const size_t n = MIN(len, WIPE_CHUNK);

        if ((random && qcrypto_random_bytes(chunk, n, errp) < 0) ||
            qcrypto_luks_put(io, offset, chunk, n, errp) < 0) {
            return -1;
        }
        offset += n;
        len -= n;
    }
    return qcrypto_luks_flush(io, errp);
}

int qcrypto_luks_wipe_signatures(QCryptoBlockIO *io, uint64_t from, uint64_t to,
                                 GError **errp)
{
    static const uint8_t nothing[512];
    uint8_t magic[QCRYPTO_LUKS_MAGIC_LEN];
    uint64_t size;

    if (io->get_size(NULL, &size, io->opaque, errp) < 0) {
        return -1;
    }
    to = MIN(to, size);
    for (uint64_t at = QCRYPTO_LUKS2_MIN_SIZE; at <= QCRYPTO_LUKS2_MAX_SIZE;
         at *= 2) {
        if (at < from || to < sizeof(nothing) || at > to - sizeof(nothing)) {
            continue;
        }
        if (qcrypto_luks_get(io, at, magic, sizeof(magic), errp) < 0) {
            return -1;
        }
        if (!memcmp(magic, QCRYPTO_LUKS2_SECONDARY, sizeof(magic)) &&
            qcrypto_luks_put(io, at, nothing, sizeof(nothing), errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- the frame ---- */

/*
 * What was open is what lies there: a change may only follow on one that
 * leaves the volume the same.  A conversion does, and one of ours may have
 * broken off behind its last write.
 */
static int check_same(const QCryptoLuks *old, const QCryptoLuks *fresh,
                      GError **errp)
{
    if (fresh->problem) {
        g_propagate_error(errp, g_error_copy(fresh->problem));
        return -1;
    }
    if (old->payload_offset != fresh->payload_offset ||
        old->nsegments != fresh->nsegments ||
        strcmp(old->segments[0].cipher, fresh->segments[0].cipher)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                             "another program has replaced the header since "
                             "it was read: the volume has to be opened anew");
    }
    return 0;
}

static int reread(QCryptoBlock *block, GError **errp)
{
    QCryptoLuks *fresh =
        qcrypto_luks_read_any(block->header, block->header != block->io, errp);

    if (!fresh) {
        return -1;
    }
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(fresh->version, errp);
    if (!editor || check_same(block->luks, fresh, errp) < 0 ||
        (editor->mend && editor->mend(fresh, block->header, errp) < 0)) {
        qcrypto_luks_free(fresh);
        return -1;
    }
    qcrypto_luks_free(block->luks);
    block->luks = fresh;
    block->format = fresh->version == 1 ? QCRYPTO_BLOCK_FORMAT_LUKS1
                                        : QCRYPTO_BLOCK_FORMAT_LUKS2;
    return 0;
}

int qcrypto_luks_begin(QCryptoBlock *block, GError **errp)
{
    if (!block) {
        return qcrypto_error_null(errp, "block");
    }
    if (!block->luks) {
        return qcrypto_error_unsupported(
            errp, "changing the header", "a volume of format %s has none",
            qcrypto_block_format_name(block->format));
    }
    QCryptoBlockIO *io = block->header;

    if (!io->write) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the header was opened for reading alone");
    }
    if (io->lock && io->lock(NULL, true, io->opaque, errp) < 0) {
        return -1;
    }
    if (reread(block, errp) < 0) {
        qcrypto_luks_end(block);
        return -1;
    }
    return 0;
}

void qcrypto_luks_end(QCryptoBlock *block)
{
    QCryptoBlockIO *io = block->header;

    /* nothing is left to be done about a lock that is not given back */
    if (io->lock) {
        io->lock(NULL, false, io->opaque, NULL);
    }
}

int qcrypto_luks_commit(QCryptoBlock *block, QCryptoLuks *next, GError **errp)
{
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(next->version, errp);

    if (!editor || editor->write(next, block->header, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    qcrypto_luks_free(block->luks);
    block->luks = next;
    return 0;
}

/* ---- small changes ---- */

/* A change of a copy. */
typedef int Edit(const QCryptoLuksEditor *editor, QCryptoLuks *next,
                 const void *what, GError **errp);

static int edit_and_commit(QCryptoBlock *block, Edit *edit, const void *what,
                           GError **errp)
{
    const QCryptoLuksEditor *editor =
        qcrypto_luks_editor(block->luks->version, errp);
    QCryptoLuks *next = editor ? editor->copy(block->luks, errp) : NULL;

    if (!next) {
        return -1;
    }
    if (edit(editor, next, what, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return qcrypto_luks_commit(block, next, errp);
}

static int change(QCryptoBlock *block, Edit *edit, const void *what,
                  GError **errp)
{
    if (qcrypto_luks_begin(block, errp) < 0) {
        return -1;
    }
    const int ret = edit_and_commit(block, edit, what, errp);
    qcrypto_luks_end(block);
    return ret;
}

int qcrypto_luks1_has_no(GError **errp, const char *what)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED, "LUKS1 has no %s",
                         what);
}

static int need_luks2(const QCryptoLuks *luks, const char *what, GError **errp)
{
    return luks->version == 2 ? 0 : qcrypto_luks1_has_no(errp, what);
}

static int edit_uuid(const QCryptoLuksEditor *editor G_GNUC_UNUSED,
                     QCryptoLuks *next, const void *what,
                     GError **errp G_GNUC_UNUSED)
{
    g_autofree char *lower = g_ascii_strdown(what, -1);

    memset(next->uuid, 0, sizeof(next->uuid));
    g_strlcpy(next->uuid, lower, sizeof(next->uuid));
    return 0;
}

int qcrypto_luks_check_uuid(const char *uuid, GError **errp)
{
    return g_uuid_string_is_valid(uuid)
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "'%s' is no UUID "
                               "(xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx)",
                               uuid);
}

int qcrypto_block_set_uuid(QCryptoBlock *block, const char *uuid, GError **errp)
{
    if (!uuid) {
        return qcrypto_error_null(errp, "uuid");
    }
    if (qcrypto_luks_check_uuid(uuid, errp) < 0) {
        return -1;
    }
    return change(block, edit_uuid, uuid, errp);
}

int qcrypto_luks_put_label(char field[QCRYPTO_LUKS_LABEL + 1], const char *what,
                           const char *text, GError **errp)
{
    const size_t len = strlen(text);

    if (len >= QCRYPTO_LUKS_LABEL) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a LUKS2 %s has at most %d bytes, not %zu", what,
                             QCRYPTO_LUKS_LABEL - 1, len);
    }
    if (!g_utf8_validate(text, (gssize)len, NULL) ||
        strcspn(text, "\177") != len) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a LUKS2 %s is UTF-8 text", what);
    }
    for (size_t i = 0; i < len; i++) {
        if ((uint8_t)text[i] < 0x20) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "a LUKS2 %s has no control characters", what);
        }
    }
    memset(field, 0, QCRYPTO_LUKS_LABEL + 1);
    memcpy(field, text, len);
    return 0;
}

static int edit_labels(const QCryptoLuksEditor *editor G_GNUC_UNUSED,
                       QCryptoLuks *next, const void *what, GError **errp)
{
    const char *const *labels = what;

    if (need_luks2(next, "labels", errp) < 0 ||
        (labels[0] &&
         qcrypto_luks_put_label(next->label, "label", labels[0], errp) < 0)) {
        return -1;
    }
    return labels[1] ? qcrypto_luks_put_label(next->subsystem, "subsystem",
                                              labels[1], errp)
                     : 0;
}

int qcrypto_block_set_label(QCryptoBlock *block, const char *label,
                            const char *subsystem, GError **errp)
{
    const char *const labels[2] = {label, subsystem};

    return change(block, edit_labels, labels, errp);
}

/* the persistent flags that cryptsetup knows by these names */
static const char *const flag_names[] = {
    "allow-discards",
    "same-cpu-crypt",
    "submit-from-crypt-cpus",
    "no-journal",
    "no-read-workqueue",
    "no-write-workqueue",
    NULL,
};

int qcrypto_luks_check_flags(const char *const *flags, GError **errp)
{
    for (const char *const *f = flags; f && *f; f++) {
        if (!g_strv_contains(flag_names, *f)) {
            g_autofree char *known =
                g_strjoinv(", ", (char **)(uintptr_t)flag_names);

            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown flag '%s'; there are: %s", *f, known);
        }
        for (const char *const *other = flags; other < f; other++) {
            if (!strcmp(*other, *f)) {
                return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                     "flag '%s' is given twice", *f);
            }
        }
    }
    return 0;
}

static int edit_flags(const QCryptoLuksEditor *editor, QCryptoLuks *next,
                      const void *what, GError **errp)
{
    return need_luks2(next, "persistent flags", errp) < 0
               ? -1
               : editor->put_flags(next, what, errp);
}

int qcrypto_block_set_flags(QCryptoBlock *block, const char *const *flags,
                            GError **errp)
{
    if (qcrypto_luks_check_flags(flags, errp) < 0) {
        return -1;
    }
    return change(block, edit_flags, flags, errp);
}
