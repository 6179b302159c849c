/*
 * Writing LUKS2 headers
 *
 * A header has two copies, one behind the other, each a binary part of 4 KiB
 * and the JSON.  A checksum over both parts tells a torn copy from a whole
 * one, and of two whole ones the higher sequence number counts.  So they are
 * written one after the other with a flush between: at any moment one of them
 * is whole.
 *
 * That holds as long as both are whole and alike before a change begins,
 * which qcrypto_luks2_repair() sees to: it writes the bad one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <jansson.h>
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/secure.h"
#include "crypto/block/luks-edit.h"
#include "crypto/rng/kernel.h"

int qcrypto_luks2_check_size(const QCryptoLuks *luks, GError **errp)
{
    const size_t len = json_dumpb(luks->json, NULL, 0, JSON_COMPACT);

    if (!len) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the LUKS2 metadata cannot be put into JSON");
    }
    /* a zero stays behind it */
    return len < luks->json_size
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "the LUKS2 metadata takes %zu bytes, its area "
                               "has room for %" G_GUINT64_FORMAT,
                               len, luks->json_size - 1);
}

static int put_json(const QCryptoLuks *luks, uint8_t *area, GError **errp)
{
    if (qcrypto_luks2_check_size(luks, errp) < 0) {
        return -1;
    }
    json_dumpb(luks->json, (char *)area, luks->json_size, JSON_COMPACT);
    return 0;
}

/* Into a field that is zero and keeps a zero at its end: so has the model. */
static void put_text(uint8_t *field, size_t len, const char *text)
{
    memcpy(field, text, strnlen(text, len - 1));
}

/* One copy, header_size bytes. */
static int render(const QCryptoLuks *luks, bool secondary, uint8_t *out,
                  GError **errp)
{
    uint8_t sum[QCRYPTO_LUKS2_CSUM_LEN];

    memset(out, 0, luks->header_size);
    memcpy(out, secondary ? QCRYPTO_LUKS2_SECONDARY : QCRYPTO_LUKS_MAGIC,
           QCRYPTO_LUKS_MAGIC_LEN);
    out[QCRYPTO_LUKS2_AT_VERSION + 1] = 2;
    qcrypto_put_be64(out + QCRYPTO_LUKS2_AT_SIZE, luks->header_size);
    qcrypto_put_be64(out + QCRYPTO_LUKS2_AT_SEQID, luks->seqid);
    qcrypto_put_be64(out + QCRYPTO_LUKS2_AT_OFFSET,
                     secondary ? luks->header_size : 0);
    put_text(out + QCRYPTO_LUKS2_AT_LABEL, QCRYPTO_LUKS2_LABEL_LEN,
             luks->label);
    put_text(out + QCRYPTO_LUKS2_AT_CSUM_ALG, QCRYPTO_LUKS2_CSUM_ALG_LEN,
             luks->csum_alg);
    put_text(out + QCRYPTO_LUKS2_AT_UUID, QCRYPTO_LUKS2_UUID_LEN, luks->uuid);
    put_text(out + QCRYPTO_LUKS2_AT_SUBSYSTEM, QCRYPTO_LUKS2_LABEL_LEN,
             luks->subsystem);
    if (qcrypto_kernel_random(out + QCRYPTO_LUKS2_AT_SALT,
                              QCRYPTO_LUKS2_SALT_LEN, errp) < 0 ||
        put_json(luks, out + QCRYPTO_LUKS2_BINARY, errp) < 0 ||
        qcrypto_luks2_checksum(out, luks->header_size, luks->csum_alg, sum,
                               errp) < 0) {
        return -1;
    }
    memcpy(out + QCRYPTO_LUKS2_AT_CSUM, sum, sizeof(sum));
    return 0;
}

/* Renders, writes and flushes one. */
static int write_copy(const QCryptoLuks *luks, QCryptoBlockIO *io,
                      bool secondary, GError **errp)
{
    uint8_t *copy = qcrypto_alloc(luks->header_size);
    int ret = -1;

    if (!copy) {
        return qcrypto_error_memory(errp, "a LUKS2 header",
                                    luks->header_size / 1024, 0);
    }
    if (render(luks, secondary, copy, errp) == 0 &&
        qcrypto_luks_put(io, secondary ? luks->header_size : 0, copy,
                         luks->header_size, errp) == 0) {
        ret = qcrypto_luks_flush(io, errp);
    }
    qcrypto_wipe_free(copy, luks->header_size);
    return ret;
}

int qcrypto_luks2_write(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp)
{
    luks->seqid++;
    return write_copy(luks, io, false, errp) < 0
               ? -1
               : write_copy(luks, io, true, errp);
}

/*
 * Until the first bytes of the primary copy say that this is LUKS2 nobody
 * looks for the secondary one; from then on it counts, however much of the
 * primary one is there.
 */
int qcrypto_luks2_replace(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp)
{
    luks->seqid++;
    return write_copy(luks, io, true, errp) < 0
               ? -1
               : write_copy(luks, io, false, errp);
}
