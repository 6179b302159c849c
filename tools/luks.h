/*
 * What the subcommands of `qcrypto luks` share
 *
 * One table (luks.c) holds the subcommands, another one the options, each
 * with the groups it belongs to: a subcommand names its groups and finds the
 * values here.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_LUKS_H
#define QCRYPTO_TOOLS_LUKS_H

#include <qcrypto/block.h>

#include "tools/newfile.h"
#include "tools/passphrase.h"
#include "tools/storage.h"

typedef struct LuksNumber {
    uint64_t value;
    bool given;
} LuksNumber;

/* Where a passphrase comes from. */
typedef struct LuksKeySource {
    char *file;
    LuksNumber offset, size, fd;
} LuksKeySource;

typedef struct LuksOptions {
    /* where the volume lies */
    LuksNumber offset, size, partition, disk_sector_size;
    char *header;
    /* opening */
    LuksKeySource key;
    char *volume_key_file;
    LuksNumber key_slot, tries, max_unlock_time, max_unlock_memory;
    char *provider;
    /* a new slot */
    LuksKeySource new_key;
    LuksNumber new_key_slot;
    char *pbkdf, *hash, *keyslot_cipher, *priority;
    LuksNumber iter_time, force_iterations, pbkdf_memory, pbkdf_parallel;
    LuksNumber keyslot_key_size;
    /* a new volume */
    char *type, *cipher, *label, *subsystem, *uuid, *persistent;
    LuksNumber key_size, sector_size, payload_size, payload_offset;
    LuksNumber metadata_size, keyslots_size;
    /* data */
    LuksNumber data_offset, data_length, threads, resume_at;
    /* */
    gboolean force, batch, json, dense;
} LuksOptions;

typedef struct LuksCommand LuksCommand;

/* args: the positional ones, NULL-terminated.  An exit status, or -1. */
typedef int LuksRun(const LuksOptions *o, char **args, GError **errp);

LuksRun qcrypto_luks_run_create, qcrypto_luks_run_encrypt,
    qcrypto_luks_run_decrypt, qcrypto_luks_run_read, qcrypto_luks_run_write,
    qcrypto_luks_run_info, qcrypto_luks_run_open_test, qcrypto_luks_run_add_key,
    qcrypto_luks_run_change_key, qcrypto_luks_run_convert_key,
    qcrypto_luks_run_remove_key, qcrypto_luks_run_kill_slot,
    qcrypto_luks_run_set_priority, qcrypto_luks_run_dump_volume_key,
    qcrypto_luks_run_backup_header, qcrypto_luks_run_restore_header,
    qcrypto_luks_run_convert, qcrypto_luks_run_config;

/* exit statuses, with cryptsetup's meanings */
enum {
    LUKS_WRONG_USE = 1,
    LUKS_WRONG_PASSPHRASE = 2,
    LUKS_NO_MEMORY = 3,
    LUKS_NO_VOLUME = 4,
    LUKS_EXISTS = 5,
};

/*
 * An open volume and where it lies.
 */
typedef struct LuksVolume {
    QCryptoStorage *storage;
    QCryptoStorage *header; /* NULL: not detached */
    QCryptoBlock *block;
} LuksVolume;

typedef enum LuksAccess {
    LUKS_READ,
    LUKS_CHANGE_HEADER,
    LUKS_WRITE_DATA,
} LuksAccess;

/* flags: QCryptoBlockOpenFlags; without NO_UNLOCK it asks for a passphrase. */
int qcrypto_luks_tool_open(const LuksOptions *o, const char *file,
                           LuksAccess access, unsigned flags, LuksVolume *v,
                           GError **errp);
/* In front of the error: which one could not be opened. */
void qcrypto_luks_tool_name_volume(const LuksOptions *o, const char *file,
                                   GError **errp);
void qcrypto_luks_tool_close(LuksVolume *v);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LuksVolume, qcrypto_luks_tool_close)

/* The place of the volume by the options. */
QCryptoStorageOptions qcrypto_luks_tool_place(const LuksOptions *o,
                                              const char *file);

/*
 * A passphrase; what: "Passphrase", "New passphrase".  fresh: for a slot that
 * is to be made, asked for twice and not empty.
 */
QCryptoSecret *qcrypto_luks_tool_passphrase(const LuksOptions *o,
                                            const LuksKeySource *source,
                                            const char *what, const char *file,
                                            bool fresh, GError **errp);

/* The new slot by the options, pointing into them. */
int qcrypto_luks_tool_slot_options(const LuksOptions *o,
                                   QCryptoBlockSlotOptions *slot,
                                   GError **errp);

/* Bits of --key-size in bytes; 0 when it was not given. */
int qcrypto_luks_tool_key_size(const LuksOptions *o, size_t *bytes,
                               GError **errp);

/* "prefer" as the library's number */
int qcrypto_luks_tool_priority(const char *text, int *priority, GError **errp);

/* "7" as a slot's number */
int qcrypto_luks_tool_slot_number(const char *text, unsigned *slot,
                                  GError **errp);

/*
 * 0 when --batch-mode or a "YES" on the terminal allows it; else an error
 * that says what there is.
 */
int qcrypto_luks_tool_confirm(const LuksOptions *o, const char *question,
                              GError **errp);

/*
 * What is to be written over, or made anew, must not be the volume or its
 * header.
 */
int qcrypto_luks_tool_check_apart(const LuksOptions *o, const char *file,
                                  const char *out, GError **errp);

/* A volume in the making (luks-create.c). */
typedef struct LuksNewVolume {
    LuksVolume volume;
    QCryptoNewFile file, header; /* temp NULL: it was there */
} LuksNewVolume;

/* payload: bytes; 0: what the place has */
int qcrypto_luks_tool_create(const LuksOptions *o, const char *file,
                             uint64_t payload, LuksNewVolume *made,
                             GError **errp);
/* Gives new files their names, or takes them away. */
int qcrypto_luks_tool_create_finish(LuksNewVolume *made, bool good,
                                    GError **errp);

#endif
