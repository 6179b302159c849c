/*
 * Changing LUKS2 metadata
 *
 * The JSON is what gets written, so it is what is changed: only the members
 * that a change is about are touched, and whatever else stands there (tokens,
 * flags, members of later versions) stays as it is.  The model is then read
 * from it anew, by the reader that checks the headers of others: metadata
 * that it would refuse is never written.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <jansson.h>
#include <string.h>

#include "crypto/block/luks-edit.h"

/* the longest number in text: 20 digits */
#define NUMBER_TEXT 24

/* The name of a member that goes by a number. */
static const char *number(char text[NUMBER_TEXT], uint64_t n)
{
    g_snprintf(text, NUMBER_TEXT, "%" G_GUINT64_FORMAT, n);
    return text;
}

/* Numbers of 64 bits are text in LUKS2. */
static json_t *number_text(uint64_t n)
{
    char text[NUMBER_TEXT];

    return json_string(number(text, n));
}

static json_t *base64(const uint8_t *bytes, size_t n)
{
    g_autofree char *text = g_base64_encode(bytes, n);

    return json_string(text);
}

/*
 * An edit that failed: the only cause left is memory, since jansson refuses
 * nothing of what it is given here.
 */
static int no_memory(GError **errp)
{
    return qcrypto_error_memory(errp, "a LUKS2 header", 1, 0);
}

/* ---- the model, read anew ---- */

static QCryptoLuks *fresh_from(const QCryptoLuks *luks, json_t *json,
                               GError **errp)
{
    QCryptoLuks *fresh = g_new0(QCryptoLuks, 1);

    fresh->version = 2;
    fresh->detached = luks->detached;
    fresh->header_size = luks->header_size;
    fresh->json_size = luks->header_size - QCRYPTO_LUKS2_BINARY;
    fresh->seqid = luks->seqid;
    memcpy(fresh->uuid, luks->uuid, sizeof(fresh->uuid));
    memcpy(fresh->label, luks->label, sizeof(fresh->label));
    memcpy(fresh->subsystem, luks->subsystem, sizeof(fresh->subsystem));
    memcpy(fresh->csum_alg, luks->csum_alg, sizeof(fresh->csum_alg));
    if (qcrypto_luks2_parse(fresh, json, errp) < 0) {
        qcrypto_luks_free(fresh);
        return NULL;
    }
    return fresh;
}

/* After a change in the JSON: everything else of *luks follows it. */
static int settle(QCryptoLuks *luks, GError **errp)
{
    QCryptoLuks *fresh = qcrypto_luks2_check_size(luks, errp) == 0
                             ? fresh_from(luks, luks->json, errp)
                             : NULL;

    if (!fresh) {
        return -1;
    }
    qcrypto_luks_clear(luks);
    *luks = *fresh;
    g_free(fresh);
    return 0;
}

static QCryptoLuks *copy(const QCryptoLuks *luks, GError **errp)
{
    json_t *json = json_deep_copy(luks->json);

    if (!json) {
        no_memory(errp);
        return NULL;
    }
    QCryptoLuks *c = fresh_from(luks, json, errp);
    json_decref(json);
    return c;
}

/* ---- from the model to JSON ---- */

static json_t *kdf_json(const QCryptoLuksKdf *kdf)
{
    return strcmp(kdf->type, "pbkdf2")
               ? json_pack("{s:s, s:I, s:I, s:I, s:o}", "type", kdf->type,
                           "time", (json_int_t)kdf->iterations, "memory",
                           (json_int_t)kdf->memory_kib, "cpus",
                           (json_int_t)kdf->lanes, "salt",
                           base64(kdf->salt, kdf->nsalt))
               : json_pack("{s:s, s:s, s:I, s:o}", "type", kdf->type, "hash",
                           kdf->hash, "iterations", (json_int_t)kdf->iterations,
                           "salt", base64(kdf->salt, kdf->nsalt));
}

static json_t *slot_json(const QCryptoLuksSlot *s)
{
    json_t *slot = json_pack(
        "{s:s, s:I, s:{s:s, s:I, s:s}, s:{s:s, s:o, s:o, s:s, s:I}, s:o}",
        "type", "luks2", "key_size", (json_int_t)s->key_len, "af", "type",
        "luks1", "stripes", (json_int_t)s->stripes, "hash", s->af_hash, "area",
        "type", "raw", "offset", number_text(s->area_offset), "size",
        number_text(s->area_size), "encryption", s->area_cipher, "key_size",
        (json_int_t)s->area_key_len, "kdf", kdf_json(&s->kdf));

    /* 1 is what a slot has that says nothing */
    if (slot && s->priority != 1) {
        json_object_set_new(slot, "priority", json_integer(s->priority));
    }
    return slot;
}

static json_t *segment_json(const QCryptoLuksSegment *s)
{
    json_t *segment =
        json_pack("{s:s, s:o, s:o}", "type", s->linear ? "linear" : "crypt",
                  "offset", number_text(s->offset), "size",
                  s->size ? number_text(s->size) : json_string("dynamic"));

    if (segment && !s->linear) {
        json_object_set_new(segment, "iv_tweak", number_text(s->iv_tweak));
        json_object_set_new(segment, "encryption", json_string(s->cipher));
        json_object_set_new(segment, "sector_size",
                            json_integer((json_int_t)s->sector_size));
    }
    return segment;
}

static json_t *digest_json(const QCryptoLuks *luks, const QCryptoLuksDigest *d)
{
    json_t *slots = json_array(), *segments = json_array();

    for (unsigned i = 0; i < QCRYPTO_LUKS2_SLOTS; i++) {
        if (d->slots >> i & 1) {
            json_array_append_new(slots, number_text(i));
        }
    }
    for (size_t i = 0; i < luks->nsegments; i++) {
        if (d->segments >> i & 1) {
            json_array_append_new(segments, number_text(luks->segments[i].id));
        }
    }
    return json_pack("{s:s, s:o, s:o, s:s, s:I, s:o, s:o}", "type", "pbkdf2",
                     "keyslots", slots, "segments", segments, "hash", d->hash,
                     "iterations", (json_int_t)d->iterations, "salt",
                     base64(d->salt, d->nsalt), "digest",
                     base64(d->digest, d->ndigest));
}

static json_t *flags_json(const char *const *flags)
{
    json_t *list = json_array();

    for (; flags && *flags; flags++) {
        json_array_append_new(list, json_string(*flags));
    }
    return list;
}

static int compose(QCryptoLuks *luks, GError **errp)
{
    json_t *slots = json_object(), *segments = json_object();
    json_t *digests = json_object();
    char name[NUMBER_TEXT];

    for (unsigned i = 0; i < QCRYPTO_LUKS2_SLOTS; i++) {
        if (luks->slots[i].active) {
            json_object_set_new(slots, number(name, i),
                                slot_json(&luks->slots[i]));
        }
    }
    for (size_t i = 0; i < luks->nsegments; i++) {
        json_object_set_new(segments, number(name, luks->segments[i].id),
                            segment_json(&luks->segments[i]));
    }
    for (unsigned i = 0; i < QCRYPTO_LUKS_DIGESTS; i++) {
        if (luks->digests[i].used) {
            json_object_set_new(digests, number(name, i),
                                digest_json(luks, &luks->digests[i]));
        }
    }
    json_t *json =
        json_pack("{s:o, s:{}, s:o, s:o, s:{s:o, s:o}}", "keyslots", slots,
                  "tokens", "segments", segments, "digests", digests, "config",
                  "json_size", number_text(luks->json_size), "keyslots_size",
                  number_text(luks->keyslots_size));
    if (!json) {
        return no_memory(errp);
    }
    if (luks->flags && *luks->flags) {
        json_object_set_new(json_object_get(json, "config"), "flags",
                            flags_json((const char *const *)luks->flags));
    }
    json_decref(luks->json);
    luks->json = json;
    return settle(luks, errp);
}

/* ---- changes ---- */

static json_t *slot_of(const QCryptoLuks *luks, unsigned n)
{
    char name[NUMBER_TEXT];

    return json_object_get(json_object_get(luks->json, "keyslots"),
                           number(name, n));
}

static bool place(const QCryptoLuks *luks, unsigned n G_GNUC_UNUSED,
                  QCryptoLuksSlot *slot)
{
    const uint64_t end = luks->keyslots_offset + luks->keyslots_size;
    uint64_t at = luks->keyslots_offset;
    bool moved;

    /* header offsets are multiples of 4096; moved on behind every area that
     * is in the way, until none is */
    slot->area_size = qcrypto_luks_round_up(
        qcrypto_luks_area_len(slot->key_len, slot->stripes),
        QCRYPTO_LUKS_ALIGN);
    do {
        moved = false;
        for (unsigned i = 0; i < luks->max_slots; i++) {
            const QCryptoLuksSlot *s = &luks->slots[i];

            if (s->area_size &&
                qcrypto_luks_overlap(s->area_offset, s->area_size, at,
                                     slot->area_size)) {
                at = qcrypto_luks_round_up(s->area_offset + s->area_size,
                                           QCRYPTO_LUKS_ALIGN);
                moved = true;
            }
        }
    } while (moved);
    slot->area_offset = at;
    return at <= end && slot->area_size <= end - at;
}

static int put_slot(QCryptoLuks *luks, unsigned n, const QCryptoLuksSlot *slot,
                    unsigned digest, GError **errp)
{
    json_t *old = slot_of(luks, n), *fresh = slot_json(slot);
    char name[NUMBER_TEXT];
    int ret;

    if (!fresh) {
        return no_memory(errp);
    }
    if (old) {
        json_object_del(old, "priority");
        ret = json_object_update(old, fresh);
        json_decref(fresh);
    } else {
        json_t *d = json_object_get(json_object_get(luks->json, "digests"),
                                    number(name, digest));

        ret = json_object_set_new(json_object_get(luks->json, "keyslots"),
                                  number(name, n), fresh);
        ret |= json_array_append_new(json_object_get(d, "keyslots"),
                                     number_text(n));
    }
    return ret ? no_memory(errp) : settle(luks, errp);
}

/* The array without that number. */
static void strike_out(json_t *array, const char *name)
{
    for (size_t i = json_array_size(array); i-- > 0;) {
        const char *text = json_string_value(json_array_get(array, i));

        if (text && !strcmp(text, name)) {
            json_array_remove(array, i);
        }
    }
}

static int drop_slot(QCryptoLuks *luks, unsigned n, GError **errp)
{
    json_t *digests = json_object_get(luks->json, "digests"), *entry;
    char name[NUMBER_TEXT];
    const char *id;
    void *next;

    json_object_del(json_object_get(luks->json, "keyslots"), number(name, n));
    json_object_foreach(json_object_get(luks->json, "tokens"), id, entry)
    {
        strike_out(json_object_get(entry, "keyslots"), name);
    }
    json_object_foreach_safe(digests, next, id, entry)
    {
        json_t *slots = json_object_get(entry, "keyslots");

        strike_out(slots, name);
        /* the digest of an unbound key goes with its last slot */
        if (!json_array_size(slots) &&
            !json_array_size(json_object_get(entry, "segments"))) {
            json_object_del(digests, id);
        }
    }
    return settle(luks, errp);
}

static int put_priority(QCryptoLuks *luks, unsigned n, int priority,
                        GError **errp)
{
    json_t *slot = slot_of(luks, n);

    json_object_del(slot, "priority");
    if (priority != 1 &&
        json_object_set_new(slot, "priority", json_integer(priority)) < 0) {
        return no_memory(errp);
    }
    return settle(luks, errp);
}

static int put_flags(QCryptoLuks *luks, const char *const *flags, GError **errp)
{
    json_t *config = json_object_get(luks->json, "config");

    json_object_del(config, "flags");
    if (flags && *flags &&
        json_object_set_new(config, "flags", flags_json(flags)) < 0) {
        return no_memory(errp);
    }
    return settle(luks, errp);
}

static size_t count_tokens(const QCryptoLuks *luks)
{
    return json_object_size(json_object_get(luks->json, "tokens"));
}

/* ---- the editor ---- */

const QCryptoLuksEditor qcrypto_luks2_editor = {
    .copy = copy,
    .compose = compose,
    .place = place,
    .put_slot = put_slot,
    .drop_slot = drop_slot,
    .put_priority = put_priority,
    .put_flags = put_flags,
    .count_tokens = count_tokens,
    .write = qcrypto_luks2_write,
    .replace = qcrypto_luks2_replace,
    .mend = qcrypto_luks2_repair,
};
