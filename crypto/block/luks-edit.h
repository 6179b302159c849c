/*
 * Changing a header
 *
 * Both LUKS versions are changed by the same steps: take the sole right to
 * the header, read it anew (another program may have changed it, a write of
 * ours may have failed half way), make a copy, change the copy, write it, and
 * let it take the old one's place.  What a version does its own way stands
 * in its QCryptoLuksEditor.
 *
 * Key material is written and flushed before a header that names it, and a
 * header that no longer names it is written and flushed before it may be
 * overwritten by anything but the wiping of its own slot.  So whatever
 * breaks off leaves a header whose other slots open.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BLOCK_LUKS_EDIT_H
#define QCRYPTO_BLOCK_LUKS_EDIT_H

#include <qcrypto/hash.h>

#include "crypto/base/error.h"
#include "crypto/block/luks.h"
#include "crypto/block/luks1.h"
#include "crypto/block/luks2.h"

/* areas and payloads begin on a multiple of it */
#define QCRYPTO_LUKS_ALIGN 4096
/* of slots and digests of our own making */
#define QCRYPTO_LUKS_SALT          32
#define QCRYPTO_LUKS2_KEYSLOTS_MAX (UINT64_C(128) << 20)

/* of a new volume, where nobody asks for another one, and of LUKS2 copies */
#define QCRYPTO_LUKS_HASH (qcrypto_hash_algo_name(QCRYPTO_HASH_ALGO_SHA256))

typedef struct QCryptoLuksEditor {
    QCryptoLuks *(*copy)(const QCryptoLuks *luks, GError **errp);
    /* The header of a model that was put together by hand (creating,
     * converting): what this version keeps beside the model, and its checks */
    int (*compose)(QCryptoLuks *luks, GError **errp);
    /*
     * A place for the key area of slot n, apart from every active slot's:
     * area_offset and area_size, from the other members.  False: no room.
     */
    bool (*place)(const QCryptoLuks *luks, unsigned n, QCryptoLuksSlot *slot);
    /* Slot n becomes this one; a new one is recognised by that digest. */
    int (*put_slot)(QCryptoLuks *luks, unsigned n, const QCryptoLuksSlot *slot,
                    unsigned digest, GError **errp);
    int (*drop_slot)(QCryptoLuks *luks, unsigned n, GError **errp);
    /* what LUKS1 has none of is NULL there */
    int (*put_priority)(QCryptoLuks *luks, unsigned n, int priority,
                        GError **errp);
    int (*put_flags)(QCryptoLuks *luks, const char *const *flags,
                     GError **errp);
    size_t (*count_tokens)(const QCryptoLuks *luks);
    /* Over a header of the same version, which was whole. */
    int (*write)(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp);
    /* Over a header of the other version or none.  Until the very last byte
     * is there, whoever looks finds what was there before. */
    int (*replace)(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp);
    /* Copies that differ are made alike, the good one's content in both;
     * NULL: there is one copy. */
    int (*mend)(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp);
} QCryptoLuksEditor;

extern const QCryptoLuksEditor qcrypto_luks1_editor, qcrypto_luks2_editor;

/* UNSUPPORTED: this build has none (LUKS2 without JSON) */
const QCryptoLuksEditor *qcrypto_luks_editor(unsigned version, GError **errp);

/*
 * A change begins: the lock is taken, block->luks read anew and found to be
 * the same volume's and fit to be changed.  Every successful begin needs its
 * end.
 */
int qcrypto_luks_begin(QCryptoBlock *block, GError **errp);
void qcrypto_luks_end(QCryptoBlock *block);
/* Writes next, which takes the place of block->luks; next is used up. */
int qcrypto_luks_commit(QCryptoBlock *block, QCryptoLuks *next, GError **errp);

/* ---- what may stand in a header (luks-change.c) ---- */

/* "LUKS1 has no WHAT" */
int qcrypto_luks1_has_no(GError **errp, const char *what);

#define QCRYPTO_LUKS_LABEL 48 /* with the zero behind it */

int qcrypto_luks_check_uuid(const char *uuid, GError **errp);
int qcrypto_luks_check_flags(const char *const *flags, GError **errp);
/* what: "label" or "subsystem" */
int qcrypto_luks_put_label(char field[QCRYPTO_LUKS_LABEL + 1], const char *what,
                           const char *text, GError **errp);

/* LUKS2 (luks2-write.c): does the JSON fit its area? */
int qcrypto_luks2_check_size(const QCryptoLuks *luks, GError **errp);
int qcrypto_luks2_replace(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp);

/* ---- slots (luks-slots.c) ---- */

/*
 * The derivation that the options ask for, names and limits checked.  hash:
 * that of the header.  iterations stays 0 where they are to be measured,
 * which the second call does for a key of nout bytes.
 */
int qcrypto_luks_kdf_plan(unsigned version, const char *hash,
                          const QCryptoBlockKdfOptions *options,
                          QCryptoLuksKdf *kdf, GError **errp);
int qcrypto_luks_kdf_measure(QCryptoLuksKdf *kdf,
                             const QCryptoBlockKdfOptions *options, size_t nout,
                             GError **errp);
/* A hash for something new: known, offered, and long enough for LUKS. */
int qcrypto_luks_new_hash(const char *name, GError **errp);
/*
 * A cipher for something new, as it is to be spelt; NULL and an error that
 * names the part which is wrong.  *key_len 0 is replaced by the usual one.
 * Both objects were made with a random key, so they can be.  An implementation
 * whose time tells of the key is refused where there are others, unless
 * leak_ok.
 */
char *qcrypto_luks_new_cipher(const char *text, size_t *key_len,
                              const char *provider, bool leak_ok,
                              GError **errp);
/* The slot that the options ask for, but for its place, cost and salt. */
int qcrypto_luks_slot_plan(unsigned version, const char *hash,
                           const char *cipher, size_t key_len,
                           const QCryptoBlockSlotOptions *options, bool leak_ok,
                           QCryptoLuksSlot *slot, GError **errp);
/*
 * Key material in memory: fills slot->kdf.salt, derives, splits, encrypts, and
 * proves that it decrypts and merges to the key again.  *area, to be freed
 * with qcrypto_wipe_free, has *len bytes.
 */
int qcrypto_luks_slot_build(QCryptoLuksSlot *slot, const uint8_t *pass,
                            size_t npass, const uint8_t *key, uint8_t **area,
                            size_t *len, GError **errp);

/* ---- storage ---- */

static inline int qcrypto_luks_put(QCryptoBlockIO *io, uint64_t offset,
                                   const uint8_t *buf, size_t len,
                                   GError **errp)
{
    return io->write(NULL, offset, buf, len, io->opaque, errp);
}

static inline int qcrypto_luks_get(QCryptoBlockIO *io, uint64_t offset,
                                   uint8_t *buf, size_t len, GError **errp)
{
    return io->read(NULL, offset, buf, len, io->opaque, errp);
}

static inline int qcrypto_luks_flush(QCryptoBlockIO *io, GError **errp)
{
    return io->flush ? io->flush(NULL, io->opaque, errp) : 0;
}

static inline uint64_t qcrypto_luks_round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Overwrites a range, with random bytes or zeros, and flushes. */
int qcrypto_luks_wipe(QCryptoBlockIO *io, uint64_t offset, uint64_t len,
                      bool random, GError **errp);
/*
 * Whatever could be taken for a secondary LUKS2 header from..to (exclusive):
 * its signature is overwritten.  Does not flush.
 */
int qcrypto_luks_wipe_signatures(QCryptoBlockIO *io, uint64_t from, uint64_t to,
                                 GError **errp);

#endif
