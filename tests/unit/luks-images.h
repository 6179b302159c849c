/*
 * The volumes of tests/data/luks, unpacked, and storage in memory
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_UNIT_LUKS_IMAGES_H
#define TESTS_UNIT_LUKS_IMAGES_H

#include <qcrypto/block.h>
#include <string.h>

#define assert_kind(err, kind)                                                 \
    g_assert_error(err, QCRYPTO_ERROR, (int)QCRYPTO_ERROR_##kind)

#define assert_mentions(err, what)                                             \
    do {                                                                       \
        if (!strstr((err)->message, what)) {                                   \
            g_error("'%s' does not mention '%s'", (err)->message, what);       \
        }                                                                      \
    } while (0)

#define LUKS_SECRETS 3

typedef struct LuksSecret {
    GByteArray *bytes;
    int slot; /* -1: not said */
    char *kdf;
} LuksSecret;

/* A record of volumes.vec; NULLs and zeros where it says nothing. */
typedef struct LuksVolume {
    char *name;
    char *set; /* "image", "variant", "broken" */
    char *file, *header;
    char *packed, *header_packed;
    unsigned version;
    char *cipher, *area_cipher, *hash, *uuid, *label;
    size_t key_len, sector_size;
    uint64_t payload_offset, payload_length;
    LuksSecret secrets[LUKS_SECRETS];
    size_t nsecrets;
    GByteArray *volume_key;
    char *payload_sha256;
    int expect; /* QCryptoErrorKind; -1: opens */
    char *mention;
} LuksVolume;

/* All of them; they live as long as the process. */
const LuksVolume *luks_volumes(size_t *n);
/* By name; a name that is none ends the program. */
const LuksVolume *luks_volume(const char *name);

/*
 * The contents of the volume's file, and of its header's file when it has a
 * detached one (NULL otherwise), unpacked by xz and tar.  To be freed.
 */
uint8_t *luks_load(const LuksVolume *v, size_t *len);
uint8_t *luks_load_header(const LuksVolume *v, size_t *len);
/* A new temporary file with these bytes, open for reading and writing. */
int luks_temp_file(const uint8_t *bytes, size_t len);

/*
 * Storage of size bytes in memory: the first len of them are bytes, which
 * stay the caller's, the others read as zeros and are not to be written.
 */
QCryptoBlockIO *luks_memory_io(uint8_t *bytes, size_t len, uint64_t size);

/* A volume in memory, and its detached header if it has one. */
typedef struct LuksStore {
    uint8_t *bytes, *header_bytes;
    size_t len, header_len;
    QCryptoBlockIO *io, *header;
} LuksStore;

LuksStore luks_store_new(const LuksVolume *v);
void luks_store_clear(LuksStore *s);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LuksStore, luks_store_clear)

QCryptoSecret *luks_secret(const GByteArray *bytes);
QCryptoSecret *luks_secret_text(const char *text);
/* With text as the passphrase; flags and errors are the caller's. */
QCryptoBlock *luks_open_text(LuksStore *s, const char *text, unsigned flags,
                             GError **errp);

/*
 * In the JSON of both copies of a LUKS2 header: the text from, which must be
 * there, becomes the text to; checksums are made anew.
 */
void luks2_replace(uint8_t *image, const char *from, const char *to);
/* The checksum (SHA-256) of the copy at offset, after a change of it. */
void luks2_sum(uint8_t *image, size_t offset);

#endif
