/*
 * The two copies of a LUKS2 header
 *
 * Each is a block of 4096 bytes with numbers in big-endian, then JSON up to
 * the copy's size.  The primary copy lies at 0, the secondary one behind it,
 * at a distance of one copy's size, which is one of nine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BLOCK_LUKS2_H
#define QCRYPTO_BLOCK_LUKS2_H

#include "crypto/block/luks.h"

#define QCRYPTO_LUKS2_BINARY   4096u
#define QCRYPTO_LUKS2_MIN_SIZE ((uint64_t)16 << 10)
#define QCRYPTO_LUKS2_MAX_SIZE ((uint64_t)4 << 20)

#define QCRYPTO_LUKS_MAGIC      "LUKS\xba\xbe"
#define QCRYPTO_LUKS2_SECONDARY "SKUL\xba\xbe"
#define QCRYPTO_LUKS_MAGIC_LEN  6

/* Where things stand in the binary block, and how long texts are */
enum {
    QCRYPTO_LUKS2_AT_VERSION = 6,
    QCRYPTO_LUKS2_AT_SIZE = 8,
    QCRYPTO_LUKS2_AT_SEQID = 16,
    QCRYPTO_LUKS2_AT_LABEL = 24,
    QCRYPTO_LUKS2_AT_CSUM_ALG = 72,
    QCRYPTO_LUKS2_AT_SALT = 104,
    QCRYPTO_LUKS2_AT_UUID = 168,
    QCRYPTO_LUKS2_AT_SUBSYSTEM = 208,
    QCRYPTO_LUKS2_AT_OFFSET = 256,
    QCRYPTO_LUKS2_AT_CSUM = 448,

    QCRYPTO_LUKS2_LABEL_LEN = 48,
    QCRYPTO_LUKS2_CSUM_ALG_LEN = 32,
    QCRYPTO_LUKS2_SALT_LEN = 64,
    QCRYPTO_LUKS2_UUID_LEN = 40,
    QCRYPTO_LUKS2_CSUM_LEN = 64,
};

/* 16 KiB, 32 KiB, ... 4 MiB */
static inline bool qcrypto_luks2_size_is_legal(uint64_t size)
{
    return size >= QCRYPTO_LUKS2_MIN_SIZE && size <= QCRYPTO_LUKS2_MAX_SIZE &&
           !(size & (size - 1));
}

/*
 * The checksum of a copy, binary block and JSON, as if its checksum field
 * were zero; sum has CSUM_LEN bytes, those behind the digest zero.  Leaves
 * the field zero.
 */
int qcrypto_luks2_checksum(uint8_t *copy, size_t size, const char *alg,
                           uint8_t *sum, GError **errp);

/* The JSON of a copy, text and zeros; its rules are _parse()'s. */
struct json_t *qcrypto_luks2_load(const char *area, size_t size, GError **errp);

/* Writes the copy that has a problem anew from the other one; flushes. */
int qcrypto_luks2_repair(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp);

#endif
