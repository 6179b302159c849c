/*
 * Writing LUKS1 headers
 *
 * One header, of 592 bytes, and no copy: its write is the moment a change
 * takes effect.  The changes are cut so that a header torn at any byte still
 * has another slot that opens: only one slot's 48 bytes differ from what was
 * there before.
 *
 * Every slot has a place of its own, active or not; a slot does not move.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/block/luks-edit.h"
#include "crypto/block/luks1.h"
#include "crypto/block/luks2.h"

/* Text into a field that keeps a zero at its end. */
static int put_text(uint8_t *field, size_t room, const char *what,
                    const char *text, size_t len, GError **errp)
{
    if (len >= room) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a LUKS1 header has room for a %s of %zu "
                             "characters, not '%.*s'",
                             what, room - 1, (int)len, text);
    }
    memcpy(field, text, len);
    return 0;
}

static int put_number(uint8_t *field, const char *what, uint64_t value,
                      GError **errp)
{
    if (value > UINT32_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a LUKS1 header has room for %s up to 4294967295, "
                             "not %" G_GUINT64_FORMAT,
                             what, value);
    }
    qcrypto_put_be32(field, (uint32_t)value);
    return 0;
}

static int put_sectors(uint8_t *field, const char *what, uint64_t bytes,
                       GError **errp)
{
    if (bytes % QCRYPTO_LUKS1_SECTOR) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s of a LUKS1 header is a multiple of 512, not "
                             "%" G_GUINT64_FORMAT,
                             what, bytes);
    }
    return put_number(field, what, bytes / QCRYPTO_LUKS1_SECTOR, errp);
}

/* What LUKS1 keeps in fields of one length. */
static int check_len(GError **errp, const char *what, size_t want, size_t got)
{
    if (want == got) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "a LUKS1 header has %s of %zu bytes, not %zu", what,
                         want, got);
}

static int put_slot_fields(uint8_t *p, const QCryptoLuksSlot *s, GError **errp)
{
    qcrypto_put_be32(p, s->active ? QCRYPTO_LUKS1_SLOT_ACTIVE
                                  : QCRYPTO_LUKS1_SLOT_INACTIVE);
    if (s->active) {
        if (check_len(errp, "salts", QCRYPTO_LUKS1_SALT_LEN, s->kdf.nsalt) <
                0 ||
            put_number(p + QCRYPTO_LUKS1_AT_SLOT_ITERATIONS, "iterations",
                       s->kdf.iterations, errp) < 0) {
            return -1;
        }
        memcpy(p + QCRYPTO_LUKS1_AT_SLOT_SALT, s->kdf.salt,
               QCRYPTO_LUKS1_SALT_LEN);
    }
    qcrypto_put_be32(p + QCRYPTO_LUKS1_AT_SLOT_STRIPES, s->stripes);
    return put_sectors(p + QCRYPTO_LUKS1_AT_SLOT_AREA, "the key area's offset",
                       s->area_offset, errp);
}

static int render(const QCryptoLuks *luks, uint8_t out[QCRYPTO_LUKS1_HEADER],
                  GError **errp)
{
    const QCryptoLuksDigest *digest = &luks->digests[0];
    const char *cipher = luks->segments[0].cipher;
    const size_t name = strcspn(cipher, "-");
    const char *mode = cipher + name + (cipher[name] == '-');

    memset(out, 0, QCRYPTO_LUKS1_HEADER);
    memcpy(out, QCRYPTO_LUKS_MAGIC, QCRYPTO_LUKS_MAGIC_LEN);
    out[QCRYPTO_LUKS1_AT_VERSION + 1] = 1;
    if (put_text(out + QCRYPTO_LUKS1_AT_CIPHER, QCRYPTO_LUKS1_NAME_LEN,
                 "cipher", cipher, name, errp) < 0 ||
        put_text(out + QCRYPTO_LUKS1_AT_MODE, QCRYPTO_LUKS1_NAME_LEN,
                 "cipher mode", mode, strlen(mode), errp) < 0 ||
        put_text(out + QCRYPTO_LUKS1_AT_HASH, QCRYPTO_LUKS1_NAME_LEN, "hash",
                 luks->hash, strlen(luks->hash), errp) < 0 ||
        put_text(out + QCRYPTO_LUKS1_AT_UUID, QCRYPTO_LUKS1_UUID_LEN, "UUID",
                 luks->uuid, strlen(luks->uuid), errp) < 0 ||
        put_sectors(out + QCRYPTO_LUKS1_AT_PAYLOAD, "the payload offset",
                    luks->payload_offset, errp) < 0 ||
        put_number(out + QCRYPTO_LUKS1_AT_DIGEST_ITERATIONS, "iterations",
                   digest->iterations, errp) < 0 ||
        check_len(errp, "a digest", QCRYPTO_LUKS1_DIGEST_LEN, digest->ndigest) <
            0 ||
        check_len(errp, "salts", QCRYPTO_LUKS1_SALT_LEN, digest->nsalt) < 0) {
        return -1;
    }
    qcrypto_put_be32(out + QCRYPTO_LUKS1_AT_KEY_LEN, (uint32_t)luks->key_len);
    memcpy(out + QCRYPTO_LUKS1_AT_DIGEST, digest->digest,
           QCRYPTO_LUKS1_DIGEST_LEN);
    memcpy(out + QCRYPTO_LUKS1_AT_DIGEST_SALT, digest->salt,
           QCRYPTO_LUKS1_SALT_LEN);
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        if (put_slot_fields(out + QCRYPTO_LUKS1_AT_SLOTS +
                                i * QCRYPTO_LUKS1_SLOT_LEN,
                            &luks->slots[i], errp) < 0) {
            g_prefix_error(errp, "key slot %u: ", i);
            return -1;
        }
    }
    return 0;
}

int qcrypto_luks1_write(const QCryptoLuks *luks, QCryptoBlockIO *io,
                        GError **errp)
{
    uint8_t header[QCRYPTO_LUKS1_HEADER];

    if (render(luks, header, errp) < 0 ||
        qcrypto_luks_put(io, 0, header, sizeof(header), errp) < 0) {
        return -1;
    }
    return qcrypto_luks_flush(io, errp);
}

/* ---- the editor ---- */

static QCryptoLuks *copy(const QCryptoLuks *luks, GError **errp G_GNUC_UNUSED)
{
    QCryptoLuks *c = g_new(QCryptoLuks, 1);

    *c = *luks;
    /* LUKS1 has no lists; the rest tells how this one was read */
    c->flags = c->requirements = NULL;
    c->primary_problem = c->secondary_problem = NULL;
    c->problem = NULL;
    return c;
}

static int compose(QCryptoLuks *luks, GError **errp)
{
    uint8_t header[QCRYPTO_LUKS1_HEADER];

    return render(luks, header, errp);
}

static bool place(const QCryptoLuks *luks, unsigned n, QCryptoLuksSlot *slot)
{
    slot->area_offset = luks->slots[n].area_offset;
    slot->area_size = luks->slots[n].area_size;
    return !luks->slots[n].active;
}

static int put_slot(QCryptoLuks *luks, unsigned n, const QCryptoLuksSlot *slot,
                    unsigned digest, GError **errp G_GNUC_UNUSED)
{
    luks->slots[n] = *slot;
    luks->digests[digest].slots |= UINT32_C(1) << n;
    return 0;
}

static int drop_slot(QCryptoLuks *luks, unsigned n, GError **errp G_GNUC_UNUSED)
{
    luks->slots[n].active = false;
    luks->digests[0].slots &= ~(UINT32_C(1) << n);
    return 0;
}

static int write_header(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp)
{
    return qcrypto_luks1_write(luks, io, errp);
}

/*
 * A LUKS2 header begins with the same six bytes; the two of the version
 * decide.  While they are the old ones the rest is a damaged primary copy,
 * and the secondary one counts.
 */
static int replace(QCryptoLuks *luks, QCryptoBlockIO *io, GError **errp)
{
    uint8_t header[QCRYPTO_LUKS1_HEADER];

    if (render(luks, header, errp) < 0 ||
        qcrypto_luks_put(io, QCRYPTO_LUKS1_AT_CIPHER,
                         header + QCRYPTO_LUKS1_AT_CIPHER,
                         sizeof(header) - QCRYPTO_LUKS1_AT_CIPHER, errp) < 0 ||
        qcrypto_luks_flush(io, errp) < 0 ||
        qcrypto_luks_put(io, 0, header, sizeof(header), errp) < 0) {
        return -1;
    }
    return qcrypto_luks_flush(io, errp);
}

const QCryptoLuksEditor qcrypto_luks1_editor = {
    .copy = copy,
    .compose = compose,
    .place = place,
    .put_slot = put_slot,
    .drop_slot = drop_slot,
    .write = write_header,
    .replace = replace,
};
