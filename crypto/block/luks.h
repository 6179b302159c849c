/*
 * LUKS in memory
 *
 * Both formats are read into one model: slots that hold the volume key,
 * digests that recognise it, segments that it encrypts.  LUKS1 is the case
 * of 8 slots, one digest and one segment.  A LUKS2 model stands beside its
 * JSON, which is what gets written: a change is made in the JSON and the
 * model read from it anew, so that members nobody here knows (tokens, flags,
 * later additions) stay as they are.
 *
 * What stands in a model has been checked: offsets and sizes lie in the
 * header, areas do not overlap, numbers are in range.  Algorithms may still
 * be unknown here: they are kept as text and resolved when used, so that
 * information needs no backend.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BLOCK_LUKS_H
#define QCRYPTO_BLOCK_LUKS_H

#include <qcrypto/block.h>

#include "crypto/block/block.h"

#define QCRYPTO_LUKS1_SLOTS  8
#define QCRYPTO_LUKS2_SLOTS  32
#define QCRYPTO_LUKS_STRIPES 4000

/* The longest volume key, key area key, salt and digest taken here; the
 * formats have no own limit in LUKS2.  Tests hold them. */
#define QCRYPTO_LUKS_KEY_MAX    512
#define QCRYPTO_LUKS_SALT_MAX   512
#define QCRYPTO_LUKS_DIGEST_MAX 64
#define QCRYPTO_LUKS_NAME_MAX   64

typedef struct QCryptoLuksKdf {
    char type[QCRYPTO_LUKS_NAME_MAX]; /* "pbkdf2", "argon2i", "argon2id" */
    char hash[QCRYPTO_LUKS_NAME_MAX]; /* of pbkdf2 */
    uint64_t iterations;              /* argon2: passes */
    uint32_t memory_kib, lanes;
    uint8_t salt[QCRYPTO_LUKS_SALT_MAX];
    size_t nsalt;
} QCryptoLuksKdf;

typedef struct QCryptoLuksSlot {
    bool active;
    /* LUKS2: of a type that nobody here knows ("reencrypt").  Not active: it
     * opens nothing; its number and its area are taken all the same. */
    bool foreign;
    int priority; /* 0, 1, 2; LUKS1: 1 */
    size_t key_len;
    uint32_t stripes;
    char af_hash[QCRYPTO_LUKS_NAME_MAX];
    QCryptoLuksKdf kdf;
    uint64_t area_offset, area_size;         /* LUKS1: of inactive slots too */
    char area_cipher[QCRYPTO_LUKS_NAME_MAX]; /* "aes-xts-plain64" */
    size_t area_key_len;
} QCryptoLuksSlot;

typedef struct QCryptoLuksDigest {
    bool used;
    char hash[QCRYPTO_LUKS_NAME_MAX];
    uint64_t iterations;
    uint8_t salt[QCRYPTO_LUKS_SALT_MAX];
    size_t nsalt;
    uint8_t digest[QCRYPTO_LUKS_DIGEST_MAX];
    size_t ndigest;
    uint32_t slots;    /* bit mask of slot numbers */
    uint64_t segments; /* bit mask of indices into segments[] below */
} QCryptoLuksDigest;

#define QCRYPTO_LUKS_DIGESTS  32
#define QCRYPTO_LUKS_SEGMENTS 32

typedef struct QCryptoLuksSegment {
    unsigned id; /* its name in the JSON */
    bool linear;
    uint64_t offset, size; /* size 0: dynamic */
    uint64_t iv_tweak;
    char cipher[QCRYPTO_LUKS_NAME_MAX]; /* "aes-xts-plain64" */
    size_t sector_size;
} QCryptoLuksSegment;

typedef struct QCryptoLuks {
    unsigned version; /* 1, 2 */
    bool detached;    /* the payload lies in other storage */
    char uuid[41], label[49], subsystem[49];
    uint64_t header_size; /* LUKS1: to the end of the last key area */
    uint64_t payload_offset;
    /* LUKS1: as in the header; key_len also LUKS2: of the segments' key */
    char hash[QCRYPTO_LUKS_NAME_MAX];
    size_t key_len;     /* 0: LUKS2 without a slot does not say */
    unsigned max_slots; /* 8 or 32 */
    QCryptoLuksSlot slots[QCRYPTO_LUKS2_SLOTS];
    QCryptoLuksDigest digests[QCRYPTO_LUKS_DIGESTS];
    QCryptoLuksSegment segments[QCRYPTO_LUKS_SEGMENTS]; /* in volume order */
    size_t nsegments;
    /* LUKS2 */
    uint64_t keyslots_offset, keyslots_size, json_size;
    uint64_t seqid;
    char csum_alg[33];
    char **flags, **requirements;
    struct json_t *json; /* owned */
    char *primary_problem, *secondary_problem;
    /* why it cannot be opened (kind and text), NULL: it can */
    GError *problem;
} QCryptoLuks;

/*
 * Reads and checks a header.  A header that is right but cannot be opened
 * (unknown requirement, ...) sets ->problem and is returned.  NULL:
 * CORRUPT_HEADER, UNSUPPORTED (LUKS2 without JSON) or IO.  header_size_limit
 * of the storage is asked through io->get_size.  detached: the payload lies
 * elsewhere.
 */
QCryptoLuks *qcrypto_luks1_read(QCryptoBlockIO *io, bool detached,
                                GError **errp);
QCryptoLuks *qcrypto_luks2_read(QCryptoBlockIO *io, bool detached,
                                GError **errp);
/* Whichever version it is (block.c). */
QCryptoLuks *qcrypto_luks_read_any(QCryptoBlockIO *io, bool detached,
                                   GError **errp);
void qcrypto_luks_free(QCryptoLuks *luks);

/*
 * What both readers share (luks.c)
 */

/* Frees what a model owns and sets it to zeros. */
void qcrypto_luks_clear(QCryptoLuks *luks);

#define QCRYPTO_LUKS_CORRUPT(errp, ...)                                        \
    qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_HEADER, __VA_ARGS__)

/*
 * A text field of n bytes: ends with a zero byte, no control characters.  out
 * has n bytes.  name is for the error.
 */
int qcrypto_luks_text(const uint8_t *field, size_t n, const char *name,
                      char *out, GError **errp);
/* The key areas lie in [low, high) and do not overlap. */
int qcrypto_luks_check_areas(const QCryptoLuks *luks, uint64_t low,
                             uint64_t high, GError **errp);
/* The first reason why it can not be opened stays. */
void qcrypto_luks_set_problem(QCryptoLuks *luks, QCryptoErrorKind kind,
                              const char *fmt, ...) G_GNUC_PRINTF(3, 4);
/* Two ranges share bytes; neither wraps. */
static inline bool qcrypto_luks_overlap(uint64_t a, uint64_t na, uint64_t b,
                                        uint64_t nb)
{
    return a < b ? b - a < na : a - b < nb;
}

/*
 * LUKS2: the model from its JSON (takes a new reference), every rule of the
 * format checked.  Binary header fields (uuid, label, seqid...) are the
 * caller's to fill; header_size must be right, json_size is header_size less
 * 4096.
 */
int qcrypto_luks2_parse(QCryptoLuks *luks, struct json_t *json, GError **errp);

/*
 * What both directions share (keyslots.c)
 */

/*
 * Names of a header, resolved.  Unknown ones are UNSUPPORTED; so are the
 * ciphers "cipher_null" and "capi:...", by name.
 */
int qcrypto_luks_hash(const char *name, GError **errp);
int qcrypto_luks_cipher(const char *text, size_t nkey, QCryptoCipherSpec *spec,
                        QCryptoCipherAlgo *alg, GError **errp);
/* Both objects for a key; *ivgen is NULL for a mode without IV. */
int qcrypto_luks_cipher_new(const char *text, const uint8_t *key, size_t nkey,
                            const char *provider, QCryptoCipher **cipher,
                            QCryptoIVGen **ivgen, GError **errp);
/* Bytes of split key material, in whole sectors. */
size_t qcrypto_luks_area_len(size_t key_len, uint32_t stripes);
/* The digest that recognises the slot's key, or NULL. */
const QCryptoLuksDigest *qcrypto_luks_slot_digest(const QCryptoLuks *luks,
                                                  unsigned slot);

/* The slot's derivation into nout bytes. */
int qcrypto_luks_kdf(const QCryptoLuksKdf *kdf, const uint8_t *pass,
                     size_t npass, uint8_t *out, size_t nout, GError **errp);
/* A key area in place: len bytes, sectors of 512 numbered from 0. */
int qcrypto_luks_area_crypt(const char *cipher, const uint8_t *key, size_t nkey,
                            bool decrypt, uint8_t *buf, size_t len,
                            GError **errp);
/* The digest of a key; out has ndigest bytes. */
int qcrypto_luks_digest(const QCryptoLuksDigest *digest, const uint8_t *key,
                        size_t nkey, uint8_t *out, GError **errp);
/* True when key is what the digest recognises; false and *errp unset: not. */
bool qcrypto_luks_digest_matches(const QCryptoLuksDigest *digest,
                                 const uint8_t *key, size_t nkey,
                                 GError **errp);
/*
 * The volume key (key_len bytes to key) from one slot: derive, decrypt,
 * merge, compare with the digest.  WRONG_PASSPHRASE when it is another one's.
 */
int qcrypto_luks_slot_unlock(const QCryptoLuks *luks, QCryptoBlockIO *io,
                             unsigned slot, const uint8_t *pass, size_t npass,
                             uint8_t *key, GError **errp);
/*
 * From the options to the volume key (unlock.c): the slots by priority, or
 * the one that is asked for, or the volume key itself.  What a slot would
 * cost is predicted before it is spent.  key has KEY_MAX bytes.
 */
int qcrypto_luks_unlock(const QCryptoLuks *luks, QCryptoBlockIO *header,
                        const QCryptoBlockOpenOptions *options, uint8_t *key,
                        size_t *nkey, int *slot, GError **errp);
/*
 * The slots that a passphrase opens, of those in the mask, within the limits
 * of unlocking for all of them together; WRONG_PASSPHRASE: none.  What can
 * not be tried is an error, since it may be one of them.
 */
int qcrypto_luks_opened_slots(const QCryptoLuks *luks, QCryptoBlockIO *header,
                              const QCryptoSecret *passphrase, uint32_t mask,
                              uint32_t *opened, GError **errp);
/* UNSUPPORTED when this build lacks what all slots, or the data, need. */
int qcrypto_luks_check_features(const QCryptoLuks *luks, GError **errp);
/* The digest of the key that the segments are under, or NULL. */
const QCryptoLuksDigest *qcrypto_luks_volume_digest(const QCryptoLuks *luks);
/* Active, and of that key. */
bool qcrypto_luks_opens_volume(const QCryptoLuks *luks, unsigned slot);
/* "cipher_null-...": not encrypted */
bool qcrypto_luks_cipher_is_null(const char *text);
/*
 * The way there (luks-slots.c): fills slot->kdf.salt, derives, splits,
 * encrypts and writes the key area of a slot whose other members are set, and
 * flushes.  The header is not written.
 */
int qcrypto_luks_slot_store(QCryptoLuksSlot *slot, QCryptoBlockIO *io,
                            const uint8_t *pass, size_t npass,
                            const uint8_t *key, GError **errp);

/* Writers (luks1-write.c, luks2-write.c): crash-safe, flushes included. */
int qcrypto_luks1_write(const QCryptoLuks *luks, QCryptoBlockIO *io,
                        GError **errp);
/* seqid + 1 first; both copies, one after the other */
int qcrypto_luks2_write(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp);

#endif
