/*
 * The LUKS2 header and its copy (LUKS2 On-Disk Format Specification 1.1,
 * chapter 2)
 *
 * A copy counts as good when all of it is: magic, version, size, place,
 * checksum, and metadata that keeps the rules.  Of two good ones that with
 * the higher sequence number is taken, and the primary one when they are
 * equal.  Where the primary copy is damaged nobody knows its size: the
 * secondary one is then looked for at every place it may lie.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/block/luks2.h"

#include <jansson.h>
#include <qcrypto/hash.h>
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"

#define U64     G_GUINT64_FORMAT
#define CORRUPT QCRYPTO_LUKS_CORRUPT

int qcrypto_luks2_checksum(uint8_t *copy, size_t size, const char *alg,
                           uint8_t *sum, GError **errp)
{
    const int hash = qcrypto_luks_hash(alg, errp);
    size_t n = hash < 0 ? 0 : qcrypto_hash_digest_len((QCryptoHashAlgo)hash);

    if (hash < 0) {
        return -1;
    }
    memset(copy + QCRYPTO_LUKS2_AT_CSUM, 0, QCRYPTO_LUKS2_CSUM_LEN);
    memset(sum, 0, QCRYPTO_LUKS2_CSUM_LEN);
    return qcrypto_hash_bytes((QCryptoHashAlgo)hash, copy, size, &sum, &n,
                              errp);
}

static int check_checksum(uint8_t *copy, size_t size, const char *alg,
                          GError **errp)
{
    uint8_t stored[QCRYPTO_LUKS2_CSUM_LEN], sum[QCRYPTO_LUKS2_CSUM_LEN];

    memcpy(stored, copy + QCRYPTO_LUKS2_AT_CSUM, sizeof(stored));
    if (qcrypto_luks2_checksum(copy, size, alg, sum, errp) < 0) {
        return -1;
    }
    /* of the field no more than the hash gives is used */
    const size_t n = qcrypto_hash_digest_len(
        (QCryptoHashAlgo)qcrypto_hash_algo_from_name(alg));
    memcpy(copy + QCRYPTO_LUKS2_AT_CSUM, stored, sizeof(stored));
    return memcmp(stored, sum, n) ? CORRUPT(errp, "the checksum is wrong") : 0;
}

/* The binary block, but for the checksum */
static int read_binary(QCryptoLuks *luks, const uint8_t *h, uint64_t offset,
                       uint64_t storage, GError **errp)
{
    const char *magic = offset ? QCRYPTO_LUKS2_SECONDARY : QCRYPTO_LUKS_MAGIC;
    const unsigned version = (unsigned)h[QCRYPTO_LUKS2_AT_VERSION] << 8 |
                             h[QCRYPTO_LUKS2_AT_VERSION + 1];
    const uint64_t size = qcrypto_get_be64(h + QCRYPTO_LUKS2_AT_SIZE);
    const uint64_t place = qcrypto_get_be64(h + QCRYPTO_LUKS2_AT_OFFSET);

    if (memcmp(h, magic, QCRYPTO_LUKS_MAGIC_LEN)) {
        return CORRUPT(errp, "no magic");
    }
    if (version != 2) {
        return version > 2
                   ? qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                                   "LUKS version %u is not supported", version)
                   : CORRUPT(errp, "version %u", version);
    }
    if (!qcrypto_luks2_size_is_legal(size) || (offset && size != offset)) {
        return CORRUPT(errp,
                       "hdr_size %" U64 " at %" U64 " is none of the format",
                       size, offset);
    }
    if (place != offset) {
        return CORRUPT(errp, "hdr_offset %" U64 " != %" U64, place, offset);
    }
    if (offset > storage || size > storage - offset) {
        return CORRUPT(errp,
                       "hdr_size %" U64 " at %" U64 ": the storage has %" U64
                       " bytes",
                       size, offset, storage);
    }
    luks->version = 2;
    luks->header_size = size;
    luks->json_size = size - QCRYPTO_LUKS2_BINARY;
    luks->seqid = qcrypto_get_be64(h + QCRYPTO_LUKS2_AT_SEQID);
    return 0;
}

static int read_texts(QCryptoLuks *luks, const uint8_t *h, GError **errp)
{
    const struct {
        const char *name;
        size_t at, len;
        char *out;
    } texts[] = {
        {"the checksum's algorithm", QCRYPTO_LUKS2_AT_CSUM_ALG,
         QCRYPTO_LUKS2_CSUM_ALG_LEN, luks->csum_alg},
        {"the UUID", QCRYPTO_LUKS2_AT_UUID, QCRYPTO_LUKS2_UUID_LEN, luks->uuid},
        {"the label", QCRYPTO_LUKS2_AT_LABEL, QCRYPTO_LUKS2_LABEL_LEN,
         luks->label},
        {"the subsystem", QCRYPTO_LUKS2_AT_SUBSYSTEM, QCRYPTO_LUKS2_LABEL_LEN,
         luks->subsystem},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (qcrypto_luks_text(h + texts[i].at, texts[i].len, texts[i].name,
                              texts[i].out, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int read_metadata(QCryptoLuks *luks, uint8_t *copy, GError **errp)
{
    if (read_texts(luks, copy, errp) < 0 ||
        check_checksum(copy, luks->header_size, luks->csum_alg, errp) < 0) {
        return -1;
    }
    json_t *json = qcrypto_luks2_load((char *)copy + QCRYPTO_LUKS2_BINARY,
                                      luks->json_size, errp);
    if (!json) {
        return -1;
    }
    const int ret = qcrypto_luks2_parse(luks, json, errp);
    json_decref(json);
    return ret;
}

/* One copy, or NULL and why not. */
static QCryptoLuks *read_copy(QCryptoBlockIO *io, uint64_t storage,
                              uint64_t offset, bool detached, GError **errp)
{
    uint8_t binary[QCRYPTO_LUKS2_BINARY];

    if (offset > storage || storage - offset < sizeof(binary)) {
        CORRUPT(errp, "the storage has %" U64 " bytes", storage);
        return NULL;
    }
    if (io->read(NULL, offset, binary, sizeof(binary), io->opaque, errp) < 0) {
        return NULL;
    }
    QCryptoLuks *luks = g_new0(QCryptoLuks, 1);
    luks->detached = detached;
    uint8_t *copy = NULL;
    int ret = read_binary(luks, binary, offset, storage, errp);
    if (ret == 0) {
        /* at most 4 MiB: the size is one of nine */
        copy = qcrypto_alloc_unset(luks->header_size);
        ret = copy ? io->read(NULL, offset, copy, luks->header_size, io->opaque,
                              errp)
                   : qcrypto_error_memory(errp, "a LUKS2 header",
                                          luks->header_size / 1024, 0);
    }
    /* storage that changes under our hands does not get around the checks */
    if (ret == 0 && memcmp(copy, binary, sizeof(binary))) {
        ret = CORRUPT(errp, "it changed while it was read");
    }
    if (ret == 0) {
        ret = read_metadata(luks, copy, errp);
    }
    qcrypto_wipe_free(copy, luks->header_size);
    if (ret < 0) {
        qcrypto_luks_free(luks);
        return NULL;
    }
    return luks;
}

/* At every place where a secondary copy may lie. */
static QCryptoLuks *search(QCryptoBlockIO *io, uint64_t storage, bool detached,
                           GError **errp)
{
    g_autoptr(GError) best = NULL;

    for (uint64_t at = QCRYPTO_LUKS2_MIN_SIZE; at <= QCRYPTO_LUKS2_MAX_SIZE;
         at *= 2) {
        g_autoptr(GError) why = NULL;
        uint8_t magic[QCRYPTO_LUKS_MAGIC_LEN];

        if (at > storage || storage - at < QCRYPTO_LUKS2_BINARY) {
            break;
        }
        if (io->read(NULL, at, magic, sizeof(magic), io->opaque, &why) == 0 &&
            memcmp(magic, QCRYPTO_LUKS2_SECONDARY, sizeof(magic))) {
            continue;
        }
        QCryptoLuks *luks =
            why ? NULL : read_copy(io, storage, at, detached, &why);
        if (luks) {
            return luks;
        }
        if (!best) {
            best = g_steal_pointer(&why);
        }
    }
    if (best) {
        g_propagate_error(errp, g_steal_pointer(&best));
    } else {
        CORRUPT(errp, "there is none");
    }
    return NULL;
}

/* Which kind both errors together are: the first of the list that occurs. */
static QCryptoErrorKind kind_of(const GError *a, const GError *b)
{
    static const QCryptoErrorKind order[] = {
        QCRYPTO_ERROR_IO,
        QCRYPTO_ERROR_OUT_OF_MEMORY,
        QCRYPTO_ERROR_UNSUPPORTED,
    };

    for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
        if (g_error_matches(a, QCRYPTO_ERROR, (int)order[i]) ||
            g_error_matches(b, QCRYPTO_ERROR, (int)order[i])) {
            return order[i];
        }
    }
    return QCRYPTO_ERROR_CORRUPT_HEADER;
}

QCryptoLuks *qcrypto_luks2_read(QCryptoBlockIO *io, bool detached,
                                GError **errp)
{
    g_autoptr(GError) primary = NULL;
    g_autoptr(GError) secondary = NULL;
    uint64_t storage;

    if (io->get_size(NULL, &storage, io->opaque, errp) < 0) {
        return NULL;
    }
    QCryptoLuks *first = read_copy(io, storage, 0, detached, &primary);
    QCryptoLuks *second =
        first ? read_copy(io, storage, first->header_size, detached, &secondary)
              : search(io, storage, detached, &secondary);
    if (!first && !second) {
        const QCryptoErrorKind kind = kind_of(primary, secondary);

        if (!strcmp(primary->message, secondary->message)) {
            qcrypto_error(errp, kind, "LUKS2 header: %s (in both copies)",
                          primary->message);
        } else {
            qcrypto_error(errp, kind,
                          "LUKS2 header: both copies are damaged: primary: %s; "
                          "secondary: %s",
                          primary->message, secondary->message);
        }
        return NULL;
    }
    if (first && second && first->seqid != second->seqid) {
        const bool stale = first->seqid < second->seqid;

        CORRUPT(stale ? &primary : &secondary,
                "it is older: sequence number %" U64 " < %" U64,
                MIN(first->seqid, second->seqid),
                MAX(first->seqid, second->seqid));
    }
    QCryptoLuks *luks = primary ? second : first;
    qcrypto_luks_free(primary ? first : second);
    luks->primary_problem = primary ? g_strdup(primary->message) : NULL;
    luks->secondary_problem = secondary ? g_strdup(secondary->message) : NULL;
    return luks;
}

int qcrypto_luks2_repair(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp)
{
    const bool primary = luks->primary_problem != NULL;
    const size_t size = (size_t)luks->header_size;
    const uint64_t from = primary ? size : 0, to = primary ? 0 : size;
    uint8_t sum[QCRYPTO_LUKS2_CSUM_LEN];
    int ret;

    if (!luks->primary_problem && !luks->secondary_problem) {
        return 0;
    }
    uint8_t *copy = qcrypto_alloc_unset(size);
    if (!copy) {
        return qcrypto_error_memory(errp, "a LUKS2 header", size / 1024, 0);
    }
    ret = io->read(NULL, from, copy, size, io->opaque, errp);
    /* it was good a moment ago, and must be the same still */
    if (ret == 0 &&
        (qcrypto_get_be64(copy + QCRYPTO_LUKS2_AT_SEQID) != luks->seqid ||
         check_checksum(copy, size, luks->csum_alg, NULL) < 0)) {
        ret = qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                            "LUKS2 header: it changed while it was read");
    }
    if (ret == 0) {
        memcpy(copy, primary ? QCRYPTO_LUKS_MAGIC : QCRYPTO_LUKS2_SECONDARY,
               QCRYPTO_LUKS_MAGIC_LEN);
        qcrypto_put_be64(copy + QCRYPTO_LUKS2_AT_OFFSET, to);
        ret = qcrypto_luks2_checksum(copy, size, luks->csum_alg, sum, errp);
    }
    if (ret == 0) {
        memcpy(copy + QCRYPTO_LUKS2_AT_CSUM, sum, sizeof(sum));
        ret = io->write(NULL, to, copy, size, io->opaque, errp);
    }
    if (ret == 0 && io->flush) {
        ret = io->flush(NULL, io->opaque, errp);
    }
    if (ret == 0) {
        g_clear_pointer(primary ? &luks->primary_problem
                                : &luks->secondary_problem,
                        g_free);
    }
    qcrypto_wipe_free(copy, size);
    return ret;
}
