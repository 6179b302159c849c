/*
 * The LUKS1 header (LUKS1 On-Disk Format Specification 1.2.3, section 2.2)
 *
 * 592 bytes, numbers big-endian, offsets in 512-byte sectors: at most 2^41
 * bytes, so that sums of them do not wrap 64 bits.  Everything is checked
 * before it is used, key areas of inactive slots included, since a later
 * change writes there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/block/luks.h"
#include "crypto/block/luks1.h"

#define U64 G_GUINT64_FORMAT

static int read_names(QCryptoLuks *luks, const uint8_t *h, char *cipher,
                      GError **errp)
{
    char name[QCRYPTO_LUKS1_NAME_LEN], mode[QCRYPTO_LUKS1_NAME_LEN];

    if (qcrypto_luks_text(h + QCRYPTO_LUKS1_AT_CIPHER, QCRYPTO_LUKS1_NAME_LEN,
                          "the cipher's name", name, errp) < 0 ||
        qcrypto_luks_text(h + QCRYPTO_LUKS1_AT_MODE, QCRYPTO_LUKS1_NAME_LEN,
                          "the cipher's mode", mode, errp) < 0 ||
        qcrypto_luks_text(h + QCRYPTO_LUKS1_AT_HASH, QCRYPTO_LUKS1_NAME_LEN,
                          "the hash's name", luks->hash, errp) < 0 ||
        qcrypto_luks_text(h + QCRYPTO_LUKS1_AT_UUID, QCRYPTO_LUKS1_UUID_LEN,
                          "the UUID", luks->uuid, errp) < 0) {
        return -1;
    }
    if (!*name || !*mode || !*luks->hash) {
        return QCRYPTO_LUKS_CORRUPT(errp, "the %s's %s is empty",
                                    *name && *mode ? "hash" : "cipher",
                                    *name && !*mode ? "mode" : "name");
    }
    /* two names of at most 31 bytes, a dash and the end: 64 bytes */
    g_snprintf(cipher, QCRYPTO_LUKS_NAME_MAX, "%s-%s", name, mode);
    return 0;
}

static int read_slot(QCryptoLuks *luks, unsigned i, const uint8_t *p,
                     const char *cipher, GError **errp)
{
    QCryptoLuksSlot *s = &luks->slots[i];
    const uint32_t state = qcrypto_get_be32(p);
    const uint32_t iterations =
        qcrypto_get_be32(p + QCRYPTO_LUKS1_AT_SLOT_ITERATIONS);
    const uint32_t stripes =
        qcrypto_get_be32(p + QCRYPTO_LUKS1_AT_SLOT_STRIPES);

    if (state != QCRYPTO_LUKS1_SLOT_ACTIVE &&
        state != QCRYPTO_LUKS1_SLOT_INACTIVE) {
        return QCRYPTO_LUKS_CORRUPT(errp,
                                    "key slot %u: state 0x%08x is neither "
                                    "active nor inactive",
                                    i, state);
    }
    if (stripes != QCRYPTO_LUKS_STRIPES) {
        return QCRYPTO_LUKS_CORRUPT(errp, "key slot %u: stripes %u != %d", i,
                                    stripes, QCRYPTO_LUKS_STRIPES);
    }
    s->active = state == QCRYPTO_LUKS1_SLOT_ACTIVE;
    if (s->active && !iterations) {
        return QCRYPTO_LUKS_CORRUPT(errp, "key slot %u: iterations 0", i);
    }
    s->priority = 1;
    s->key_len = luks->key_len;
    s->stripes = stripes;
    g_strlcpy(s->af_hash, luks->hash, sizeof(s->af_hash));
    g_strlcpy(s->kdf.type, "pbkdf2", sizeof(s->kdf.type));
    g_strlcpy(s->kdf.hash, luks->hash, sizeof(s->kdf.hash));
    s->kdf.iterations = iterations;
    memcpy(s->kdf.salt, p + QCRYPTO_LUKS1_AT_SLOT_SALT, QCRYPTO_LUKS1_SALT_LEN);
    s->kdf.nsalt = QCRYPTO_LUKS1_SALT_LEN;
    s->area_offset =
        (uint64_t)qcrypto_get_be32(p + QCRYPTO_LUKS1_AT_SLOT_AREA) *
        QCRYPTO_LUKS1_SECTOR;
    s->area_size = qcrypto_luks_area_len(s->key_len, s->stripes);
    g_strlcpy(s->area_cipher, cipher, sizeof(s->area_cipher));
    s->area_key_len = s->key_len;
    if (s->area_offset + s->area_size > luks->header_size) {
        luks->header_size = s->area_offset + s->area_size;
    }
    return 0;
}

static int read_digest(QCryptoLuks *luks, const uint8_t *h, GError **errp)
{
    QCryptoLuksDigest *d = &luks->digests[0];

    d->iterations = qcrypto_get_be32(h + QCRYPTO_LUKS1_AT_DIGEST_ITERATIONS);
    if (!d->iterations) {
        return QCRYPTO_LUKS_CORRUPT(errp, "iterations 0 of the key digest");
    }
    d->used = true;
    g_strlcpy(d->hash, luks->hash, sizeof(d->hash));
    memcpy(d->salt, h + QCRYPTO_LUKS1_AT_DIGEST_SALT, QCRYPTO_LUKS1_SALT_LEN);
    d->nsalt = QCRYPTO_LUKS1_SALT_LEN;
    memcpy(d->digest, h + QCRYPTO_LUKS1_AT_DIGEST, QCRYPTO_LUKS1_DIGEST_LEN);
    d->ndigest = QCRYPTO_LUKS1_DIGEST_LEN;
    d->segments = 1;
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        d->slots |= (uint32_t)luks->slots[i].active << i;
    }
    return 0;
}

/* Where payload and key areas lie, against each other and the storage. */
static int check_layout(QCryptoLuks *luks, uint64_t storage, GError **errp)
{
    /* what ends the room of key areas: the payload, when it is behind them */
    uint64_t end = storage;

    if (!luks->detached && luks->payload_offset) {
        if (luks->payload_offset < luks->header_size) {
            return QCRYPTO_LUKS_CORRUPT(
                errp,
                "payload offset %" U64 " lies before the end of the key slots, "
                "%" U64,
                luks->payload_offset, luks->header_size);
        }
        end = MIN(end, luks->payload_offset);
    }
    if (!luks->detached && !luks->payload_offset) {
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_CORRUPT_HEADER,
                                 "payload offset 0: this is a detached header, "
                                 "whose payload lies elsewhere");
    }
    return qcrypto_luks_check_areas(luks, 2 * QCRYPTO_LUKS1_SECTOR, end, errp);
}

static int read_header(QCryptoLuks *luks, const uint8_t *h, uint64_t storage,
                       GError **errp)
{
    char cipher[QCRYPTO_LUKS_NAME_MAX];

    if (read_names(luks, h, cipher, errp) < 0) {
        return -1;
    }
    luks->key_len = qcrypto_get_be32(h + QCRYPTO_LUKS1_AT_KEY_LEN);
    if (luks->key_len < 1 || luks->key_len > QCRYPTO_LUKS_KEY_MAX) {
        return QCRYPTO_LUKS_CORRUPT(errp, "key length %zu is not 1 to %d bytes",
                                    luks->key_len, QCRYPTO_LUKS_KEY_MAX);
    }
    luks->payload_offset =
        (uint64_t)qcrypto_get_be32(h + QCRYPTO_LUKS1_AT_PAYLOAD) *
        QCRYPTO_LUKS1_SECTOR;
    luks->max_slots = QCRYPTO_LUKS1_SLOTS;
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        if (read_slot(luks, i,
                      h + QCRYPTO_LUKS1_AT_SLOTS + i * QCRYPTO_LUKS1_SLOT_LEN,
                      cipher, errp) < 0) {
            return -1;
        }
    }
    luks->nsegments = 1;
    luks->segments[0].offset = luks->payload_offset;
    luks->segments[0].sector_size = QCRYPTO_LUKS1_SECTOR;
    g_strlcpy(luks->segments[0].cipher, cipher,
              sizeof(luks->segments[0].cipher));
    return read_digest(luks, h, errp) < 0 ? -1
                                          : check_layout(luks, storage, errp);
}

QCryptoLuks *qcrypto_luks1_read(QCryptoBlockIO *io, bool detached,
                                GError **errp)
{
    uint8_t h[QCRYPTO_LUKS1_HEADER];
    uint64_t storage;

    if (io->get_size(NULL, &storage, io->opaque, errp) < 0) {
        return NULL;
    }
    if (storage < QCRYPTO_LUKS1_HEADER) {
        QCRYPTO_LUKS_CORRUPT(
            errp, "LUKS1 header: the storage has %" U64 " bytes, a header %d",
            storage, QCRYPTO_LUKS1_HEADER);
        return NULL;
    }
    if (io->read(NULL, 0, h, sizeof(h), io->opaque, errp) < 0) {
        return NULL;
    }
    if (!qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS1, h, sizeof(h))) {
        QCRYPTO_LUKS_CORRUPT(errp, "LUKS1 header: it does not begin with the "
                                   "magic of one");
        return NULL;
    }
    QCryptoLuks *luks = g_new0(QCryptoLuks, 1);
    luks->version = 1;
    luks->detached = detached;
    if (read_header(luks, h, storage, errp) < 0) {
        g_prefix_error(errp, "LUKS1 header: ");
        qcrypto_luks_free(luks);
        return NULL;
    }
    return luks;
}
