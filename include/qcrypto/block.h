/*
 * Encrypted volumes: LUKS1, LUKS2 and the legacy AES format of qcow
 *
 *     g_autoptr(QCryptoBlockIO) io = qcrypto_block_io_new_fd(fd, 0, 0, &err);
 *     QCryptoBlockOpenOptions how = {.passphrase = secret};
 *     g_autoptr(QCryptoBlock) volume = qcrypto_block_open(&how, io, 0, &err);
 *     qcrypto_block_pread(volume, 0, buf, 4096, &err);
 *
 * A volume is a header and a payload.  Header and payload are reached through
 * a QCryptoBlockIO: callbacks of the caller, or a file descriptor.  No device,
 * no root rights and no kernel support are needed.
 *
 *   - qcrypto_block_open() reads and checks the header and, unless
 *     QCRYPTO_BLOCK_OPEN_NO_UNLOCK is set, finds the volume key through the
 *     passphrase.  A header is hostile until checked: sizes, offsets, sums
 *     and JSON types are verified before use.  Derivation costs are predicted
 *     before they are spent.
 *   - qcrypto_block_encrypt() and _decrypt() work on buffers the caller reads
 *     and writes himself (the way emulators do it); _pread() and _pwrite()
 *     do both.
 *   - qcrypto_block_create() and the calls on key slots write headers.  A
 *     write that fails half way leaves a volume that still opens: LUKS2 has
 *     two copies of the header, written one after the other with a flush
 *     between; key material is written before a slot is made active, and
 *     overwritten before a slot is dropped.
 *
 * Units: every offset and length is in bytes; an offset into a volume counts
 * from the start of its payload.  Sector means the volume's encryption
 * sector (qcrypto_block_get_sector_size()), 512 to 4096 bytes; offsets and
 * lengths of data must be multiples of it.
 *
 * Errors, apart from what cipher.h, hash.h and kdf.h give:
 *   WRONG_PASSPHRASE  no active slot yields the volume key
 *   CORRUPT_HEADER    the header breaks its format; the text names field,
 *                     slot and value
 *   UNSUPPORTED       the header is right and asks for something that is not
 *                     built, not offered by any backend, or refused by name
 *                     (unknown requirements, unfinished re-encryption)
 *   TOO_COSTLY        unlocking would take more than max_unlock_time_ms or
 *                     max_unlock_memory_kib
 *   WEAK_KEY          a given volume key with equal XTS halves or a weak
 *                     (3)DES key, at creation; opening takes such volumes
 *   IO                a callback failed, or the volume ends too early
 *   BUSY              another process is changing the header (files only)
 *
 * Threads: _encrypt, _decrypt, _pread, _pwrite, _discard and the _get_ calls
 * may run in any number of threads on one volume, if its I/O callbacks may.
 * Calls that change the header are one at a time and alone.
 *
 * Sources: LUKS1 On-Disk Format Specification 1.2.3; LUKS2 On-Disk Format
 * Specification 1.1.x; for qcow, QEMU's docs/interop/qcow2.rst
 * ("crypt_method").
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BLOCK_H
#define QCRYPTO_BLOCK_H

#include <qcrypto/error.h>
#include <qcrypto/secret.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

typedef struct QCryptoBlock QCryptoBlock;

typedef enum QCryptoBlockFormat {
    /* opening: whatever LUKS version the header says; creating: LUKS2 */
    QCRYPTO_BLOCK_FORMAT_LUKS,
    QCRYPTO_BLOCK_FORMAT_LUKS1,
    QCRYPTO_BLOCK_FORMAT_LUKS2,
    /* AES-128-CBC, plain64 by 512-byte sector, the passphrase cut or padded
     * with zeros to 16 bytes as the key; no header.  Weak, for old images */
    QCRYPTO_BLOCK_FORMAT_QCOW,
    QCRYPTO_BLOCK_FORMAT__MAX
} QCryptoBlockFormat;

/* "luks", "luks1", "luks2", "qcow"; NULL for a number that is none */
QCRYPTO_API const char *qcrypto_block_format_name(QCryptoBlockFormat format);
QCRYPTO_API int qcrypto_block_format_from_name(const char *name);

/*
 * True when buf, the first bytes of a volume, begins a header of this
 * format.  8 bytes are enough; fewer give false, as does qcow, which has no
 * header.
 */
QCRYPTO_API bool qcrypto_block_has_format(QCryptoBlockFormat format,
                                          const uint8_t *buf, size_t buflen);

/*
 * Where a volume lies
 */

/*
 * The callbacks.  Each transfers all buflen bytes and returns 0, or sets
 * *errp and returns -1.  block may be NULL (while a volume is being opened).
 */
typedef int QCryptoBlockReadFunc(QCryptoBlock *block, uint64_t offset,
                                 uint8_t *buf, size_t buflen, void *opaque,
                                 GError **errp);
typedef int QCryptoBlockWriteFunc(QCryptoBlock *block, uint64_t offset,
                                  const uint8_t *buf, size_t buflen,
                                  void *opaque, GError **errp);
/* All that was written is on the medium when it returns. */
typedef int QCryptoBlockFlushFunc(QCryptoBlock *block, void *opaque,
                                  GError **errp);
/* The bytes may read as anything afterwards; a hint that may do nothing. */
typedef int QCryptoBlockDiscardFunc(QCryptoBlock *block, uint64_t offset,
                                    uint64_t len, void *opaque, GError **errp);
typedef int QCryptoBlockSizeFunc(QCryptoBlock *block, uint64_t *size,
                                 void *opaque, GError **errp);
/* Makes room for a new volume of size bytes, header included. */
typedef int QCryptoBlockInitFunc(QCryptoBlock *block, uint64_t size,
                                 void *opaque, GError **errp);
/* Takes (true) or gives back the sole right to change the header. */
typedef int QCryptoBlockLockFunc(QCryptoBlock *block, bool take, void *opaque,
                                 GError **errp);

typedef struct QCryptoBlockIO {
    QCryptoBlockReadFunc *read;
    QCryptoBlockSizeFunc *get_size;
    /* NULL: read-only */
    QCryptoBlockWriteFunc *write;
    /* the rest may be NULL; without flush an update is only as safe as the
     * order of writes */
    QCryptoBlockFlushFunc *flush;
    QCryptoBlockDiscardFunc *discard;
    QCryptoBlockInitFunc *init;
    QCryptoBlockLockFunc *lock;
    void (*destroy)(void *opaque);
    void *opaque;
} QCryptoBlockIO;

/*
 * size bytes (0: all from there on) of an open file or block device from
 * offset on.  The descriptor stays the caller's and must outlive the object.
 * Its access mode decides whether the object can write.
 */
QCRYPTO_API QCryptoBlockIO *qcrypto_block_io_new_fd(int fd, uint64_t offset,
                                                    uint64_t size,
                                                    GError **errp);

/* A part of another one, which must outlive it; size 0: to its end. */
QCRYPTO_API QCryptoBlockIO *qcrypto_block_io_new_slice(QCryptoBlockIO *io,
                                                       uint64_t offset,
                                                       uint64_t size,
                                                       GError **errp);

/* Calls destroy and frees what _new_ gave; NULL is allowed. */
QCRYPTO_API void qcrypto_block_io_free(QCryptoBlockIO *io);

/*
 * Opening
 */

typedef enum QCryptoBlockOpenFlags {
    /* the header only: for information and what needs no key */
    QCRYPTO_BLOCK_OPEN_NO_UNLOCK = 1 << 0,
    /* keep the volume key (locked memory), for adding slots */
    QCRYPTO_BLOCK_OPEN_KEEP_KEY = 1 << 1,
    /* a damaged copy of a LUKS2 header is written anew from the good one */
    QCRYPTO_BLOCK_OPEN_REPAIR = 1 << 2,
    /* also take a header that _get_info() can tell about although it cannot
     * be opened (with NO_UNLOCK): its reason is in the info's problem */
    QCRYPTO_BLOCK_OPEN_INSPECT = 1 << 3,
} QCryptoBlockOpenFlags;

typedef struct QCryptoBlockOpenOptions {
    QCryptoBlockFormat format;
    /* one of the two; both NULL only with QCRYPTO_BLOCK_OPEN_NO_UNLOCK */
    const QCryptoSecret *passphrase;
    const QCryptoSecret *volume_key;
    /* only this key slot, whatever its priority, when use_slot is set;
     * otherwise all active ones by falling priority, those of priority 0
     * never */
    bool use_slot;
    unsigned slot;
    /* detached header; NULL: at the start of the volume */
    QCryptoBlockIO *header;
    /* limits of unlocking, all slots to be tried together; 0: 60 s, and what
     * the process can allocate */
    uint64_t max_unlock_time_ms;
    uint64_t max_unlock_memory_kib;
    /* cipher backend by name, as qcrypto_cipher_new_from() takes it; NULL:
     * selection */
    const char *provider;
} QCryptoBlockOpenOptions;

/* io (and options->header) must outlive the volume. */
QCRYPTO_API QCryptoBlock *qcrypto_block_open(
    const QCryptoBlockOpenOptions *options, QCryptoBlockIO *io, unsigned flags,
    GError **errp);

/* Wipes keys and frees; NULL is allowed.  io is not freed. */
QCRYPTO_API void qcrypto_block_free(QCryptoBlock *block);

/*
 * Data.  offset and len: multiples of the sector size, within the payload;
 * else INVALID_ARGUMENT, naming that size, and nothing is done.
 */

/* In place, in buffers that the caller reads and writes. */
QCRYPTO_API int qcrypto_block_encrypt(QCryptoBlock *block, uint64_t offset,
                                      uint8_t *buf, size_t len, GError **errp);
QCRYPTO_API int qcrypto_block_decrypt(QCryptoBlock *block, uint64_t offset,
                                      uint8_t *buf, size_t len, GError **errp);

/* From in to out, equal or apart. */
QCRYPTO_API int qcrypto_block_encrypt_to(QCryptoBlock *block, uint64_t offset,
                                         const uint8_t *in, uint8_t *out,
                                         size_t len, GError **errp);
QCRYPTO_API int qcrypto_block_decrypt_to(QCryptoBlock *block, uint64_t offset,
                                         const uint8_t *in, uint8_t *out,
                                         size_t len, GError **errp);

/*
 * Read and decrypt; encrypt and write.  Any offset and length within the
 * payload: partial sectors are read, changed and written back, which other
 * requests do not notice: those for other bytes, and writes of whole sectors
 * for the same ones too.  A failed _pread leaves zeros in buf.
 */
QCRYPTO_API int qcrypto_block_pread(QCryptoBlock *block, uint64_t offset,
                                    uint8_t *buf, size_t len, GError **errp);
QCRYPTO_API int qcrypto_block_pwrite(QCryptoBlock *block, uint64_t offset,
                                     const uint8_t *buf, size_t len,
                                     GError **errp);
QCRYPTO_API int qcrypto_block_flush(QCryptoBlock *block, GError **errp);
/*
 * Tells the storage that the bytes (whole sectors) are not needed.  They read
 * as anything afterwards, not as zeros.
 */
QCRYPTO_API int qcrypto_block_discard(QCryptoBlock *block, uint64_t offset,
                                      uint64_t len, GError **errp);

/* Bytes from the start of the storage to the payload (0: detached header) */
QCRYPTO_API uint64_t
qcrypto_block_get_payload_offset(const QCryptoBlock *block);
/* Bytes of the payload; a dynamic one ends where the storage did at opening */
QCRYPTO_API uint64_t qcrypto_block_get_payload_size(const QCryptoBlock *block);
QCRYPTO_API size_t qcrypto_block_get_sector_size(const QCryptoBlock *block);
QCRYPTO_API QCryptoBlockFormat
qcrypto_block_get_format(const QCryptoBlock *block);
/* The slot that was unlocked; -1: by volume key, or not at all */
QCRYPTO_API int qcrypto_block_get_slot(const QCryptoBlock *block);
/* The cipher's row: "builtin:aes-vaes"; NULL when not unlocked */
QCRYPTO_API const char *qcrypto_block_get_impl(const QCryptoBlock *block);

/*
 * Information, no key needed.  Strings live as long as the info.
 */
typedef struct QCryptoBlockSlotInfo {
    unsigned slot;
    bool unbound; /* belongs to no segment: opens nothing here */
    int priority; /* 0 ignore, 1 normal, 2 prefer */
    size_t key_len;
    char *kdf;           /* "pbkdf2", "argon2i", "argon2id" */
    char *hash;          /* of pbkdf2; NULL otherwise */
    uint64_t iterations; /* argon2: passes */
    uint32_t memory_kib, lanes;
    uint32_t stripes;
    char *af_hash;
    char *cipher; /* of the key area */
    size_t area_key_len;
    uint64_t area_offset, area_size;
} QCryptoBlockSlotInfo;

typedef struct QCryptoBlockSegmentInfo {
    char *type;      /* "crypt", "linear" */
    char *cipher;    /* NULL: linear */
    uint64_t offset; /* in the storage */
    uint64_t size;   /* 0 and dynamic: to the end of the storage */
    bool dynamic;
    uint64_t iv_tweak; /* in 512-byte units */
    size_t sector_size;
} QCryptoBlockSegmentInfo;

typedef struct QCryptoBlockInfo {
    QCryptoBlockFormat format;
    unsigned version;
    char *uuid, *label, *subsystem; /* NULL: none */
    char *cipher;                   /* of the first crypt segment */
    size_t key_len;
    char *hash; /* LUKS1: the header's; LUKS2: of the volume key's digest */
    size_t sector_size;
    uint64_t payload_offset, payload_size;
    uint64_t header_size;   /* one copy */
    uint64_t keyslots_size; /* LUKS2 */
    uint64_t seqid;         /* LUKS2 */
    uint64_t digest_iterations;
    QCryptoBlockSlotInfo *slots;
    size_t nslots, max_slots;
    QCryptoBlockSegmentInfo *segments;
    size_t nsegments;
    char **flags;        /* LUKS2 persistent flags, NULL-terminated */
    char **requirements; /* LUKS2 mandatory requirements */
    char *json; /* LUKS2: the whole metadata, tokens included; NULL in LUKS1 */
    /* LUKS2: what is wrong with a copy; NULL: it is good */
    char *primary_problem, *secondary_problem;
    /* why it cannot be opened; NULL: it can, given a key */
    char *problem;
} QCryptoBlockInfo;

QCRYPTO_API QCryptoBlockInfo *qcrypto_block_get_info(const QCryptoBlock *block,
                                                     GError **errp);
QCRYPTO_API void qcrypto_block_info_free(QCryptoBlockInfo *info);

/*
 * Creating and changing
 */

/* Zeros and NULLs mean the defaults. */
typedef struct QCryptoBlockKdfOptions {
    const char *kdf;       /* argon2id (LUKS2), pbkdf2 (LUKS1) */
    const char *hash;      /* of pbkdf2: sha256 */
    unsigned iter_time_ms; /* unlocking time aimed at: 2000 */
    /* this cost exactly, nothing measured: iterations of pbkdf2 (1000 or
     * more), passes of argon2 (4 or more) */
    uint64_t iterations;
    uint32_t memory_kib; /* argon2: the most to be used (1 GiB) */
    uint32_t lanes;      /* argon2: processors, at most 4 */
} QCryptoBlockKdfOptions;

typedef struct QCryptoBlockSlotOptions {
    QCryptoBlockKdfOptions kdf;
    /* this slot, an inactive one, when use_slot is set; else the first */
    bool use_slot;
    unsigned slot;
    /* LUKS2: cipher and key length of the key area; the data's when it is
     * a cipher of its own, aes-xts-plain64 with 64 bytes else */
    const char *cipher;
    size_t key_len;
    /* LUKS2: 0 ignore, 1 normal, 2 prefer, when set_priority is set */
    bool set_priority;
    int priority;
} QCryptoBlockSlotOptions;

/* One segment of the payload, one after the other in the volume (LUKS2). */
typedef struct QCryptoBlockSegmentOptions {
    bool linear; /* not encrypted */
    /* in the storage; 0: where the one before ends, or the payload offset */
    uint64_t offset;
    uint64_t size; /* 0: to the end of the storage, the last one only */
    uint64_t iv_tweak;
    size_t sector_size; /* 0: that of the volume */
    const char *cipher; /* NULL: that of the volume */
} QCryptoBlockSegmentOptions;

typedef struct QCryptoBlockCreateOptions {
    QCryptoBlockFormat format;
    /* for the first slot; NULL (with volume_key): no slot at all */
    const QCryptoSecret *passphrase;
    const QCryptoSecret *volume_key; /* NULL: random */
    const char *cipher;              /* aes-xts-plain64 */
    size_t key_len; /* 64 in XTS, 32 otherwise, or what the cipher takes */
    /* LUKS1: of the header; LUKS2: of digest and splitter: sha256 */
    const char *hash;
    size_t sector_size; /* LUKS2: 4096 where the size allows, else 512 */
    /* payload bytes, a multiple of sector_size; 0: what the storage has left
     * after the header.  The storage is made as large through init. */
    uint64_t size;
    /* 0: after the header, on a MiB (in storage too small for that, right
     * after it) */
    uint64_t payload_offset;
    uint64_t metadata_size;  /* LUKS2, one copy with its JSON: 16 KiB */
    uint64_t keyslots_size;  /* LUKS2: up to 16 MiB */
    const char *uuid;        /* random */
    const char *label, *subsystem;
    const char *const *flags; /* NULL-terminated, "allow-discards", ... */
    const QCryptoBlockSegmentOptions *segments; /* NULL: one crypt segment */
    size_t nsegments;
    QCryptoBlockSlotOptions slot;
    QCryptoBlockIO *header; /* detached; NULL: at the start of the volume */
    const char *provider;
} QCryptoBlockCreateOptions;

/*
 * Writes a header (over whatever is there) and returns the volume opened,
 * with its key kept.  Everything is checked before the first write.
 */
QCRYPTO_API QCryptoBlock *qcrypto_block_create(
    const QCryptoBlockCreateOptions *options, QCryptoBlockIO *io,
    GError **errp);

/*
 * The calls below change the header of an open volume.  Those marked (key)
 * need one opened with QCRYPTO_BLOCK_OPEN_KEEP_KEY, the others do with
 * QCRYPTO_BLOCK_OPEN_NO_UNLOCK.  slot_out may be NULL.
 */

/* (key) A further passphrase; never over an active slot. */
QCRYPTO_API int qcrypto_block_add_slot(QCryptoBlock *block,
                                       const QCryptoSecret *passphrase,
                                       const QCryptoBlockSlotOptions *options,
                                       unsigned *slot_out, GError **errp);
/*
 * (key) Another passphrase (or, with the same one, other costs) for a slot,
 * which keeps its number and priority where the header has room for both
 * for a moment; otherwise the new one is verified in memory before the old
 * one is overwritten.  Where options do not name a derivation, that of the
 * slot and its hash stay.
 */
QCRYPTO_API int qcrypto_block_change_slot(
    QCryptoBlock *block, unsigned slot, const QCryptoSecret *passphrase,
    const QCryptoBlockSlotOptions *options, unsigned *slot_out, GError **errp);
/*
 * Overwrites the key area, then drops the slot.  The last one that opens the
 * volume only with force.
 */
QCRYPTO_API int qcrypto_block_remove_slot(QCryptoBlock *block, unsigned slot,
                                          bool force, GError **errp);
/* LUKS2: 0 ignore, 1 normal, 2 prefer */
QCRYPTO_API int qcrypto_block_set_priority(QCryptoBlock *block, unsigned slot,
                                           int priority, GError **errp);
QCRYPTO_API int qcrypto_block_set_uuid(QCryptoBlock *block, const char *uuid,
                                       GError **errp);
/* LUKS2; NULL leaves as it is, "" drops */
QCRYPTO_API int qcrypto_block_set_label(QCryptoBlock *block, const char *label,
                                        const char *subsystem, GError **errp);
/* LUKS2; replaces the persistent flags */
QCRYPTO_API int qcrypto_block_set_flags(QCryptoBlock *block,
                                        const char *const *flags,
                                        GError **errp);
/*
 * To the other LUKS version, where the header has an expression in it: LUKS1
 * has 8 PBKDF2 slots, 512-byte sectors, one crypt segment, and no tokens,
 * flags, labels or digests of another hash.  Each obstacle is named, and
 * nothing written then.  Key material is copied to free places where it has
 * to move: a LUKS1 volume with slot 0 active needs one of 1 to 5 free.
 */
QCRYPTO_API int qcrypto_block_convert(QCryptoBlock *block,
                                      QCryptoBlockFormat format, GError **errp);
/* (key) The volume key itself; to be freed. */
QCRYPTO_API QCryptoSecret *qcrypto_block_get_volume_key(
    const QCryptoBlock *block, GError **errp);

/*
 * The header with all its key material, to and from another place.  A
 * restore checks the backup before the first write; over a LUKS header with
 * another UUID or payload offset only with force.
 */
QCRYPTO_API int qcrypto_block_backup_header(QCryptoBlockIO *volume,
                                            QCryptoBlockIO *backup,
                                            GError **errp);
QCRYPTO_API int qcrypto_block_restore_header(QCryptoBlockIO *volume,
                                             QCryptoBlockIO *backup, bool force,
                                             GError **errp);

/*
 * QEMU's shape of slot management: ACTIVE adds new_passphrase (slot, or the
 * first free one), INACTIVE erases the given slot or every slot that
 * old_passphrase opens.  A volume loses its last slot only with force.
 */
typedef enum QCryptoBlockSlotState {
    QCRYPTO_BLOCK_SLOT_STATE_ACTIVE,
    QCRYPTO_BLOCK_SLOT_STATE_INACTIVE,
} QCryptoBlockSlotState;

typedef struct QCryptoBlockAmendOptions {
    QCryptoBlockSlotState state;
    const QCryptoSecret *new_passphrase;
    const QCryptoSecret *old_passphrase;
    bool use_slot;
    unsigned slot;
    unsigned iter_time_ms;
} QCryptoBlockAmendOptions;

/* (key) for ACTIVE */
QCRYPTO_API int qcrypto_block_amend_options(
    QCryptoBlock *block, const QCryptoBlockAmendOptions *options, bool force,
    GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoBlockIO, qcrypto_block_io_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoBlock, qcrypto_block_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoBlockInfo, qcrypto_block_info_free)

G_END_DECLS

#endif
