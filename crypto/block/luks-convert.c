/*
 * From one LUKS version to the other
 *
 * The payload stays where it is, and so does key material wherever it can:
 * a key area does not care at which offset it lies, and both versions take
 * any offset.  So a conversion is the write of another header, with one
 * exception.  The two copies of a LUKS2 header take 32 KiB, and in a LUKS1
 * volume the first slot's key material lies there, from 4 KiB on.  If that
 * slot is active, it moves first, and as a LUKS1 volume: its material is
 * copied to a free place (an inactive slot's, or behind the last one), the
 * LUKS1 header is written with the slot at its new place, and only then is
 * the old one overwritten.
 *
 * A write that breaks off at any byte leaves a volume that opens with every
 * passphrase it had:
 *
 *   LUKS1 to LUKS2   the secondary copy is written and flushed, then the
 *                    primary one.  Until the bytes of the version change this
 *                    is a LUKS1 volume; from then on a LUKS2 volume whose
 *                    primary copy is damaged, until it is whole.
 *   LUKS2 to LUKS1   where key areas lie so that the inactive slots, which
 *                    have places of their own in LUKS1, do not fit between
 *                    them, they move: copied, then a LUKS2 header that has
 *                    the slot there, then the old place overwritten, one
 *                    after the other.  All of the LUKS1 header but magic and
 *                    version is written and flushed: a damaged primary copy,
 *                    the secondary one counts.  Then the first bytes; then
 *                    the secondary copy is overwritten.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/secure.h"
#include "crypto/block/luks-edit.h"

#define U64 G_GUINT64_FORMAT

/* where LUKS1 slots begin, as everybody makes them */
#define LUKS1_AREAS QCRYPTO_LUKS_ALIGN
/* what two LUKS2 copies of the least size take */
#define LUKS2_COPIES (2 * QCRYPTO_LUKS2_MIN_SIZE)

/* "this volume has no expression in LUKS1: WHY" */
static int obstacle(GError **errp, unsigned version, const char *fmt, ...)
    G_GNUC_PRINTF(3, 4);

static int obstacle(GError **errp, unsigned version, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_autofree char *why = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                         "the volume cannot be converted to LUKS%u: %s",
                         version, why);
}

/* Where the header may reach to: the payload, or the end of the storage. */
static int header_limit(const QCryptoBlock *block, uint64_t *end, GError **errp)
{
    QCryptoBlockIO *io = block->header;

    if (io->get_size(NULL, end, io->opaque, errp) < 0) {
        return -1;
    }
    if (block->header == block->io) {
        *end = MIN(*end, block->luks->payload_offset);
    }
    return 0;
}

/*
 * The first place from `from` on, a multiple of 4096, for an area of `size`
 * bytes that keeps clear of the slots in the mask; 0: there is none.
 */
static uint64_t find_place(const QCryptoLuks *luks, uint32_t slots,
                           uint64_t from, uint64_t end, uint64_t size)
{
    uint64_t at = from;
    bool moved;

    do {
        moved = false;
        for (unsigned i = 0; i < luks->max_slots; i++) {
            const QCryptoLuksSlot *s = &luks->slots[i];

            if (slots >> i & 1 &&
                qcrypto_luks_overlap(s->area_offset, s->area_size, at, size)) {
                at = qcrypto_luks_round_up(s->area_offset + s->area_size,
                                           QCRYPTO_LUKS_ALIGN);
                moved = true;
            }
        }
    } while (moved);
    return at <= end && size <= end - at ? at : 0;
}

static uint32_t active_slots(const QCryptoLuks *luks)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < luks->max_slots; i++) {
        mask |= (uint32_t)luks->slots[i].active << i;
    }
    return mask;
}

/*
 * Places for the inactive slots of a LUKS1 header, apart from the active ones
 * and from each other; header_size follows.  False: no room.
 */
static bool place_inactive(QCryptoLuks *luks, uint64_t end)
{
    const uint64_t len =
        qcrypto_luks_area_len(luks->key_len, QCRYPTO_LUKS_STRIPES);
    uint32_t placed = active_slots(luks);

    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        QCryptoLuksSlot *s = &luks->slots[i];

        if (!s->active) {
            s->stripes = QCRYPTO_LUKS_STRIPES;
            s->area_size = len;
            s->area_offset = find_place(luks, placed, LUKS1_AREAS, end, len);
            if (!s->area_offset) {
                return false;
            }
            placed |= UINT32_C(1) << i;
        }
        luks->header_size =
            MAX(luks->header_size, s->area_offset + s->area_size);
    }
    return true;
}

/* ---- LUKS1 to LUKS2 ---- */

static int copy_area(QCryptoBlockIO *io, uint64_t from, uint64_t to,
                     uint64_t len, GError **errp)
{
    uint8_t *area = qcrypto_alloc_unset(len);
    int ret = -1;

    if (!area) {
        return qcrypto_error_memory(errp, "a key area", len / 1024, 0);
    }
    if (qcrypto_luks_get(io, from, area, len, errp) == 0 &&
        qcrypto_luks_put(io, to, area, len, errp) == 0) {
        ret = qcrypto_luks_flush(io, errp);
    }
    qcrypto_wipe_free(area, len);
    return ret;
}

/*
 * The LUKS1 header in which nothing active lies where LUKS2 has its copies,
 * and all that has to be moved for it; NULL and an error when there is no
 * room.
 */
static QCryptoLuks *make_way(const QCryptoBlock *block, uint64_t end,
                             GError **errp)
{
    QCryptoLuks *next = qcrypto_luks1_editor.copy(block->luks, errp);

    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        QCryptoLuksSlot *s = &next->slots[i];

        if (!s->active || s->area_offset >= LUKS2_COPIES) {
            continue;
        }
        /* a free place, clear of the old ones too: they must live on for a
         * moment */
        s->area_offset = find_place(block->luks, active_slots(block->luks),
                                    LUKS2_COPIES, end, s->area_size);
        if (s->area_offset &&
            find_place(next, active_slots(next) & ~(UINT32_C(1) << i),
                       s->area_offset, end, s->area_size) == s->area_offset) {
            continue;
        }
        obstacle(
            errp, 2,
            "its header needs the first 32 KiB, where the key area of slot "
            "%u lies, and there is no free place of %" U64
            " bytes to move it to; removing a key slot makes one",
            i, s->area_size);
        qcrypto_luks_free(next);
        return NULL;
    }
    if (!place_inactive(next, end)) {
        obstacle(errp, 2, "there is no room to move a key area");
        qcrypto_luks_free(next);
        return NULL;
    }
    return next;
}

/* Areas that moved, and then the LUKS1 header that says so. */
static int move_away(QCryptoBlock *block, QCryptoLuks *next, GError **errp)
{
    bool moved = false;

    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        const QCryptoLuksSlot *old = &block->luks->slots[i];

        if (old->active && old->area_offset != next->slots[i].area_offset) {
            if (copy_area(block->header, old->area_offset,
                          next->slots[i].area_offset, old->area_size,
                          errp) < 0) {
                qcrypto_luks_free(next);
                return -1;
            }
            moved = true;
        }
    }
    if (!moved) {
        qcrypto_luks_free(next);
        return 0;
    }
    return qcrypto_luks_commit(block, next, errp);
}

/* Where the key area that had to move ended; 0: none. */
static uint64_t moved_end(const QCryptoLuks *old, const QCryptoLuks *next)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        const QCryptoLuksSlot *s = &old->slots[i];

        if (s->active && s->area_offset != next->slots[i].area_offset) {
            end = MAX(end, s->area_offset + s->area_size);
        }
    }
    return end;
}

/* The same volume in LUKS2, with its key areas where they are. */
static QCryptoLuks *as_luks2(const QCryptoLuks *luks, uint64_t end,
                             GError **errp)
{
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(2, errp);
    QCryptoLuks *l = editor ? qcrypto_luks1_editor.copy(luks, errp) : NULL;

    if (!l) {
        return NULL;
    }
    l->version = 2;
    l->max_slots = QCRYPTO_LUKS2_SLOTS;
    l->header_size = QCRYPTO_LUKS2_MIN_SIZE;
    l->json_size = l->header_size - QCRYPTO_LUKS2_BINARY;
    l->keyslots_offset = LUKS2_COPIES;
    l->keyslots_size =
        MIN((end - LUKS2_COPIES) / QCRYPTO_LUKS_ALIGN * QCRYPTO_LUKS_ALIGN,
            QCRYPTO_LUKS2_KEYSLOTS_MAX);
    g_strlcpy(l->csum_alg, QCRYPTO_LUKS_HASH, sizeof(l->csum_alg));
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        QCryptoLuksSlot *s = &l->slots[i];

        if (s->active) {
            s->area_size =
                qcrypto_luks_round_up(s->area_size, QCRYPTO_LUKS_ALIGN);
        } else {
            memset(s, 0, sizeof(*s));
        }
    }
    if (editor->compose(l, errp) < 0) {
        qcrypto_luks_free(l);
        return NULL;
    }
    return l;
}

static int to_luks2(QCryptoBlock *block, GError **errp)
{
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(2, errp);
    uint64_t end;

    if (!editor || header_limit(block, &end, errp) < 0) {
        return -1;
    }
    /* JSON has numbers of 31 bits, as cryptsetup reads it */
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        const QCryptoLuksSlot *s = &block->luks->slots[i];

        if (s->active && s->kdf.iterations > INT32_MAX) {
            return obstacle(errp, 2, "key slot %u has %" U64 " iterations", i,
                            s->kdf.iterations);
        }
        if (s->active && s->area_offset % QCRYPTO_LUKS_ALIGN) {
            return obstacle(errp, 2,
                            "the area of key slot %u begins at %" U64
                            ", no multiple of 4096",
                            i, s->area_offset);
        }
    }
    if (end < LUKS2_COPIES + QCRYPTO_LUKS_ALIGN) {
        return obstacle(errp, 2, "the payload begins at %" U64, end);
    }
    QCryptoLuks *way = make_way(block, end, errp);
    if (!way) {
        return -1;
    }
    /* all of it is tried before anything moves */
    QCryptoLuks *next = as_luks2(way, end, errp);
    if (!next) {
        qcrypto_luks_free(way);
        return -1;
    }
    const uint64_t wiped = moved_end(block->luks, way);
    if (move_away(block, way, errp) < 0 ||
        editor->replace(next, block->header, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    qcrypto_luks_free(block->luks);
    block->luks = next;
    block->format = QCRYPTO_BLOCK_FORMAT_LUKS2;
    /* what the copies have not overwritten */
    return wiped > LUKS2_COPIES
               ? qcrypto_luks_wipe(block->header, LUKS2_COPIES,
                                   wiped - LUKS2_COPIES, true, errp)
               : 0;
}

/* ---- LUKS2 to LUKS1 ---- */

static int check_slot(const QCryptoLuks *l, unsigned i, GError **errp)
{
    const QCryptoLuksSlot *s = &l->slots[i];
    const char *cipher = l->segments[0].cipher;
    const char *hash = l->digests[0].hash;

    if (i >= QCRYPTO_LUKS1_SLOTS) {
        return obstacle(errp, 1, "key slot %u is in use, LUKS1 has 0 to 7", i);
    }
    if (strcmp(s->kdf.type, "pbkdf2")) {
        return obstacle(errp, 1, "key slot %u has %s, LUKS1 pbkdf2 alone", i,
                        s->kdf.type);
    }
    if (g_ascii_strcasecmp(s->kdf.hash, hash) ||
        g_ascii_strcasecmp(s->af_hash, hash)) {
        return obstacle(errp, 1,
                        "key slot %u has the hash %s, the digest %s; LUKS1 has "
                        "one for both",
                        i, strcmp(s->kdf.hash, hash) ? s->kdf.hash : s->af_hash,
                        hash);
    }
    if (strcmp(s->area_cipher, cipher) || s->area_key_len != l->key_len) {
        return obstacle(errp, 1,
                        "key slot %u is encrypted with %s and %zu bytes, the "
                        "data with %s and %zu",
                        i, s->area_cipher, s->area_key_len, cipher, l->key_len);
    }
    if (s->stripes != QCRYPTO_LUKS_STRIPES) {
        return obstacle(errp, 1, "key slot %u has %u stripes, LUKS1 4000", i,
                        s->stripes);
    }
    if (s->kdf.nsalt != QCRYPTO_LUKS_SALT) {
        return obstacle(errp, 1,
                        "key slot %u has a salt of %zu bytes, LUKS1 of 32", i,
                        s->kdf.nsalt);
    }
    return 0;
}

static int check_digest(const QCryptoLuks *l, GError **errp)
{
    const QCryptoLuksDigest *d = &l->digests[0];

    for (unsigned i = 1; i < QCRYPTO_LUKS_DIGESTS; i++) {
        if (l->digests[i].used) {
            return obstacle(errp, 1,
                            "it has a second digest (of unbound key "
                            "slots)");
        }
    }
    /* of a longer digest the beginning is what a shorter one would be */
    if (!d->used || d->ndigest < QCRYPTO_LUKS1_DIGEST_LEN) {
        return obstacle(errp, 1, "its digest has fewer than 20 bytes");
    }
    if (d->nsalt != QCRYPTO_LUKS_SALT) {
        return obstacle(errp, 1,
                        "its digest has a salt of %zu bytes, LUKS1 of 32",
                        d->nsalt);
    }
    return 0;
}

static int check_segment(const QCryptoLuks *l, GError **errp)
{
    const QCryptoLuksSegment *s = &l->segments[0];

    if (l->nsegments != 1 || s->linear) {
        return obstacle(errp, 1,
                        "it has %zu segments, LUKS1 one that is "
                        "encrypted",
                        l->nsegments);
    }
    if (s->sector_size != 512) {
        return obstacle(errp, 1,
                        "its sectors have %zu bytes, those of LUKS1 512",
                        s->sector_size);
    }
    if (s->iv_tweak) {
        return obstacle(errp, 1, "its iv_tweak is %" U64 ", in LUKS1 0",
                        s->iv_tweak);
    }
    return s->size ? obstacle(errp, 1,
                              "its segment ends after %" U64
                              " bytes, that of LUKS1 where the storage does",
                              s->size)
                   : 0;
}

static int check_rest(const QCryptoLuks *l, GError **errp)
{
    const size_t tokens = qcrypto_luks_editor(2, NULL)->count_tokens(l);

    if (tokens) {
        return obstacle(errp, 1, "it has %zu tokens", tokens);
    }
    if (*l->label || *l->subsystem) {
        return obstacle(errp, 1, "it has a %s",
                        *l->label ? "label" : "subsystem");
    }
    if (l->flags && *l->flags) {
        return obstacle(errp, 1, "it has the persistent flag '%s'", *l->flags);
    }
    for (unsigned i = 0; i < l->max_slots; i++) {
        if (l->slots[i].foreign) {
            return obstacle(errp, 1, "key slot %u is of another type", i);
        }
        if (l->slots[i].active && l->slots[i].priority != 1) {
            return obstacle(errp, 1, "key slot %u has a priority of its own",
                            i);
        }
    }
    return 0;
}

static int check_luks2(const QCryptoLuks *l, GError **errp)
{
    if (check_rest(l, errp) < 0 || check_segment(l, errp) < 0 ||
        check_digest(l, errp) < 0) {
        return -1;
    }
    for (unsigned i = 0; i < l->max_slots; i++) {
        if (l->slots[i].active && check_slot(l, i, errp) < 0) {
            return -1;
        }
    }
    return l->key_len ? 0
                      : obstacle(errp, 1,
                                 "without a key slot it does not say how long "
                                 "its key is");
}

/*
 * The same volume in LUKS1, with its key areas where they are; NULL without
 * an error: they lie so that the inactive ones find no place.
 */
static QCryptoLuks *as_luks1(const QCryptoLuks *l, uint64_t end, GError **errp)
{
    QCryptoLuks *next = qcrypto_luks1_editor.copy(l, errp);

    if (!next) {
        return NULL;
    }
    next->version = 1;
    next->json = NULL; /* the other one's */
    next->max_slots = QCRYPTO_LUKS1_SLOTS;
    next->header_size = 0;
    next->digests[0].ndigest = QCRYPTO_LUKS1_DIGEST_LEN;
    g_strlcpy(next->hash, l->digests[0].hash, sizeof(next->hash));
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        if (next->slots[i].active) {
            next->slots[i].area_size =
                qcrypto_luks_area_len(l->key_len, QCRYPTO_LUKS_STRIPES);
        }
    }
    if (place_inactive(next, end) &&
        qcrypto_luks1_editor.compose(next, errp) == 0) {
        return next;
    }
    qcrypto_luks_free(next);
    return NULL;
}

/* A LUKS2 slot's material to a free place. */
static int move_slot(QCryptoBlock *block, unsigned n, uint64_t to,
                     GError **errp)
{
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(2, errp);
    QCryptoLuksSlot slot = block->luks->slots[n];
    const uint64_t from = slot.area_offset;

    if (copy_area(block->header, from, to, slot.area_size, errp) < 0) {
        return -1;
    }
    slot.area_offset = to;
    QCryptoLuks *next = editor->copy(block->luks, errp);
    if (!next) {
        return -1;
    }
    if (editor->put_slot(next, n, &slot, 0, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return qcrypto_luks_commit(block, next, errp) < 0
               ? -1
               : qcrypto_luks_wipe(block->header, from, slot.area_size, true,
                                   errp);
}

/* The active slot that lies highest below `limit`; max_slots: none. */
static unsigned highest_below(const QCryptoLuks *l, uint64_t limit)
{
    unsigned best = l->max_slots;

    for (unsigned i = 0; i < l->max_slots; i++) {
        if (l->slots[i].active && l->slots[i].area_offset < limit &&
            (best == l->max_slots ||
             l->slots[i].area_offset > l->slots[best].area_offset)) {
            best = i;
        }
    }
    return best;
}

/*
 * All key areas to the end of their room, one beside the other: what is free
 * before them is one piece then.
 */
static int pack(QCryptoBlock *block, GError **errp)
{
    const uint64_t end =
        block->luks->keyslots_offset + block->luks->keyslots_size;
    uint64_t limit = end / QCRYPTO_LUKS_ALIGN * QCRYPTO_LUKS_ALIGN;
    unsigned n;

    while ((n = highest_below(block->luks, limit)) < block->luks->max_slots) {
        const QCryptoLuksSlot *s = &block->luks->slots[n];
        const uint64_t size = s->area_size;
        const uint64_t to = limit - size;

        if (to != s->area_offset &&
            qcrypto_luks_overlap(to, size, s->area_offset, size)) {
            /* onto itself: by way of another place */
            const uint64_t aside =
                find_place(block->luks, active_slots(block->luks),
                           block->luks->keyslots_offset, end, size);

            if (!aside) {
                return obstacle(
                    errp, 1,
                    "its key areas lie so that there is no room for "
                    "those of inactive slots, nor to move them");
            }
            if (move_slot(block, n, aside, errp) < 0) {
                return -1;
            }
        }
        if (to != block->luks->slots[n].area_offset &&
            move_slot(block, n, to, errp) < 0) {
            return -1;
        }
        limit = to;
    }
    return 0;
}

static int to_luks1(QCryptoBlock *block, GError **errp)
{
    const uint64_t copies = 2 * block->luks->header_size;
    g_autoptr(GError) why = NULL;
    uint64_t end;

    if (check_luks2(block->luks, errp) < 0 ||
        header_limit(block, &end, errp) < 0) {
        return -1;
    }
    /* eight areas, whichever way they lie */
    const uint64_t need =
        LUKS1_AREAS +
        QCRYPTO_LUKS1_SLOTS *
            qcrypto_luks_round_up(qcrypto_luks_area_len(block->luks->key_len,
                                                        QCRYPTO_LUKS_STRIPES),
                                  QCRYPTO_LUKS_ALIGN);
    if (end < need) {
        return obstacle(errp, 1,
                        "a header with 8 key slots takes %" U64
                        " bytes, there are %" U64,
                        need, end);
    }
    QCryptoLuks *next = as_luks1(block->luks, end, &why);
    if (!next && !why) {
        if (pack(block, errp) < 0) {
            return -1;
        }
        next = as_luks1(block->luks, end, &why);
    }
    if (!next) {
        if (why) {
            g_propagate_error(errp, g_steal_pointer(&why));
            return -1;
        }
        return obstacle(errp, 1, "there is no room for 8 key areas");
    }
    if (qcrypto_luks1_editor.replace(next, block->header, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    qcrypto_luks_free(block->luks);
    block->luks = next;
    block->format = QCRYPTO_BLOCK_FORMAT_LUKS1;
    /* nothing of the old copies may be found again; no area lies there but
     * those of inactive slots */
    return qcrypto_luks_wipe(block->header, LUKS1_AREAS, copies - LUKS1_AREAS,
                             true, errp);
}

int qcrypto_block_convert(QCryptoBlock *block, QCryptoBlockFormat format,
                          GError **errp)
{
    if (format != QCRYPTO_BLOCK_FORMAT_LUKS1 &&
        format != QCRYPTO_BLOCK_FORMAT_LUKS2) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a volume is converted to luks1 or luks2");
    }
    if (qcrypto_luks_begin(block, errp) < 0) {
        return -1;
    }
    int ret;
    if (block->format == format) {
        ret = qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                            "the volume is %s already",
                            qcrypto_block_format_name(format));
    } else {
        ret = format == QCRYPTO_BLOCK_FORMAT_LUKS1 ? to_luks1(block, errp)
                                                   : to_luks2(block, errp);
    }
    qcrypto_luks_end(block);
    return ret;
}
