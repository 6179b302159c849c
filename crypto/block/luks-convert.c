/*
 * From one LUKS version to the other
 *
 * The payload stays where it is.  Key areas do not care at which offset they
 * lie, and both versions take any offset, so that a conversion is the write
 * of another header, once nothing is in its way:
 *
 *   - the two copies of a LUKS2 header take 32 KiB, and in a LUKS1 volume the
 *     first slot's key area lies there, from 4 KiB on;
 *   - inactive slots have places of their own in a LUKS1 header, which must
 *     fit between the areas of the active ones.
 *
 * What is in the way moves first, within the version that the volume has: it
 * is copied to a free place, the header is written with the slot there, and
 * then the old place is overwritten.  LUKS2 areas also move to where other
 * programs want them to be, as far as there is a free place to do it by:
 * cryptsetup converts only what lies so.
 *
 * A LUKS1 header has no copy.  A slot that moves to the place of an inactive
 * one exchanges places with it, in one write; both must be named in the same
 * sector of 512 bytes, which is written whole or not at all (the first has
 * slots 0 to 5).
 *
 * A write that breaks off at any byte leaves a volume that opens with every
 * passphrase it had:
 *
 *   LUKS1 to LUKS2   the secondary copy is written and flushed, then the
 *                    primary one.  Until the bytes of the version change this
 *                    is a LUKS1 volume; from then on a LUKS2 volume whose
 *                    primary copy is damaged, until it is whole.
 *   LUKS2 to LUKS1   all of the LUKS1 header but magic and version is
 *                    written and flushed: a damaged primary copy, the
 *                    secondary one counts.  Then the first bytes; then the
 *                    secondary copy is overwritten.
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

/* ---- key areas that move ---- */

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

/* Copied; then the header that names the new place; then the old one wiped.
 * next is used up. */
static int move_and_commit(QCryptoBlock *block, unsigned n, QCryptoLuks *next,
                           GError **errp)
{
    const QCryptoLuksSlot old = block->luks->slots[n];
    const uint64_t to = next->slots[n].area_offset;

    if (copy_area(block->header, old.area_offset, to, old.area_size, errp) <
        0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return qcrypto_luks_commit(block, next, errp) < 0
               ? -1
               : qcrypto_luks_wipe(block->header, old.area_offset,
                                   old.area_size, true, errp);
}

/* ---- LUKS2 areas, in order ---- */

/* To a place apart from every slot's, its own included. */
static int move_slot(QCryptoBlock *block, unsigned n, uint64_t to,
                     GError **errp)
{
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(2, errp);
    QCryptoLuks *next = editor ? editor->copy(block->luks, errp) : NULL;
    QCryptoLuksSlot slot = block->luks->slots[n];

    if (!next) {
        return -1;
    }
    slot.area_offset = to;
    if (editor->put_slot(next, n, &slot, 0, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return move_and_commit(block, n, next, errp);
}

static uint64_t stride(const QCryptoLuks *l)
{
    return qcrypto_luks_round_up(
        qcrypto_luks_area_len(l->key_len, QCRYPTO_LUKS_STRIPES),
        QCRYPTO_LUKS_ALIGN);
}

/* The active slot that lies lowest from `at` on; max_slots: none */
static unsigned lowest(const QCryptoLuks *l, uint64_t at)
{
    unsigned best = l->max_slots;

    for (unsigned i = 0; i < l->max_slots; i++) {
        const QCryptoLuksSlot *s = &l->slots[i];

        if (s->active && s->area_offset >= at &&
            (best == l->max_slots ||
             s->area_offset < l->slots[best].area_offset)) {
            best = i;
        }
    }
    return best;
}

static uint64_t areas_end(const QCryptoLuks *l)
{
    return l->keyslots_offset + l->keyslots_size;
}

/* To the first free place from there on; *moved tells whether there is one. */
static int move_aside(QCryptoBlock *block, unsigned n, uint64_t from,
                      bool *moved, GError **errp)
{
    const QCryptoLuks *l = block->luks;
    const uint64_t aside = find_place(l, active_slots(l), from, areas_end(l),
                                      l->slots[n].area_size);

    *moved = aside != 0;
    return aside ? move_slot(block, n, aside, errp) : 0;
}

/* To a place where nothing lies, unless it is slot n's own beginning. */
static int move_down(QCryptoBlock *block, unsigned n, uint64_t to, bool *moved,
                     GError **errp)
{
    const QCryptoLuksSlot *s = &block->luks->slots[n];
    const uint64_t behind = qcrypto_luks_round_up(s->area_offset + s->area_size,
                                                  QCRYPTO_LUKS_ALIGN);

    *moved = true;
    if (qcrypto_luks_overlap(to, s->area_size, s->area_offset, s->area_size) &&
        move_aside(block, n, behind, moved, errp) < 0) {
        return -1;
    }
    return *moved ? move_slot(block, n, to, errp) : 0;
}

/*
 * The areas one beside the other from there on, in the order that they have.
 * Stops where there is no room to move one: they may lie anywhere.
 */
static int tidy(QCryptoBlock *block, uint64_t to, GError **errp)
{
    bool moved = true;
    unsigned n;

    while (moved && (n = lowest(block->luks, 0)) < block->luks->max_slots &&
           block->luks->slots[n].area_offset < to) {
        if (move_aside(block, n, to, &moved, errp) < 0) {
            return -1;
        }
    }
    while (moved && (n = lowest(block->luks, to)) < block->luks->max_slots) {
        if (block->luks->slots[n].area_offset != to &&
            move_down(block, n, to, &moved, errp) < 0) {
            return -1;
        }
        to += qcrypto_luks_round_up(block->luks->slots[n].area_size,
                                    QCRYPTO_LUKS_ALIGN);
    }
    return 0;
}

/* ---- LUKS1 to LUKS2 ---- */

/* The 512-byte sector that names a slot's place */
static unsigned sector_of(unsigned slot)
{
    return (QCRYPTO_LUKS1_AT_SLOTS + slot * QCRYPTO_LUKS1_SLOT_LEN +
            QCRYPTO_LUKS1_AT_SLOT_AREA) /
           QCRYPTO_LUKS1_SECTOR;
}

/*
 * Slot n of a LUKS1 header to the place of another one, inactive, that takes
 * its own instead.  False when that can not be.
 */
static bool exchange(QCryptoLuks *l, unsigned n, unsigned other)
{
    QCryptoLuksSlot *a = &l->slots[n], *b = &l->slots[other];

    if (b->active || b->area_offset < LUKS2_COPIES ||
        sector_of(n) != sector_of(other)) {
        return false;
    }
    /* all areas of a LUKS1 volume have the same size */
    const uint64_t at = a->area_offset;
    a->area_offset = b->area_offset;
    b->area_offset = at;
    return true;
}

/* Slot n to where nothing is, not even an inactive slot. */
static bool move_to_unused(QCryptoLuks *l, unsigned n, uint64_t end)
{
    const uint64_t to = find_place(l, (UINT32_C(1) << QCRYPTO_LUKS1_SLOTS) - 1,
                                   LUKS2_COPIES, end, l->slots[n].area_size);

    if (to) {
        l->slots[n].area_offset = to;
        l->header_size = MAX(l->header_size, to + l->slots[n].area_size);
    }
    return to != 0;
}

/*
 * The active slot that lies where LUKS2 has its copies goes elsewhere in
 * *next, a copy of luks; max_slots: there is none; -1: there is no room.
 * LUKS1 areas are longer than what is in the way (32 KiB less 4): of usual
 * ones there is one.
 */
static int make_way(const QCryptoLuks *luks, QCryptoLuks *next, uint64_t end,
                    GError **errp)
{
    const unsigned n = lowest(luks, 0);
    bool done;

    if (n == luks->max_slots || luks->slots[n].area_offset >= LUKS2_COPIES) {
        return (int)luks->max_slots;
    }
    done = move_to_unused(next, n, end);
    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS && !done; i++) {
        done = exchange(next, n, i);
    }
    if (!done) {
        return obstacle(errp, 2,
                        "its header needs the first 32 KiB, where the key area "
                        "of slot %u lies, and there is no free place of %" U64
                        " bytes to move it to; removing one of the key slots "
                        "%s makes one",
                        n, luks->slots[n].area_size,
                        sector_of(n) == 0 ? "0 to 5" : "6 and 7");
    }
    return (int)n;
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

static int move_and_replace(QCryptoBlock *block, uint64_t end, GError **errp)
{
    const QCryptoLuksEditor *editor = qcrypto_luks_editor(2, errp);
    QCryptoLuks *way = qcrypto_luks1_editor.copy(block->luks, errp);
    const int n = make_way(block->luks, way, end, errp);
    /* all of it is tried before anything moves */
    QCryptoLuks *next = n < 0 ? NULL : as_luks2(way, end, errp);

    if (!next || n == QCRYPTO_LUKS1_SLOTS) {
        qcrypto_luks_free(way);
    }
    if (!next) {
        return -1;
    }
    if ((n < QCRYPTO_LUKS1_SLOTS &&
         move_and_commit(block, (unsigned)n, way, errp) < 0) ||
        editor->replace(next, block->header, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    qcrypto_luks_free(block->luks);
    block->luks = next;
    block->format = QCRYPTO_BLOCK_FORMAT_LUKS2;
    return tidy(block, next->keyslots_offset, errp);
}

static int to_luks2(QCryptoBlock *block, GError **errp)
{
    uint64_t end;

    if (!qcrypto_luks_editor(2, errp) || header_limit(block, &end, errp) < 0) {
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
    return move_and_replace(block, end, errp);
}

/* ---- LUKS2 to LUKS1 ---- */

static int check_slot(const QCryptoLuks *l, unsigned i, GError **errp)
{
    const QCryptoLuksSlot *s = &l->slots[i];
    const char *cipher = l->segments[0].cipher;
    const char *hash = qcrypto_luks_volume_digest(l)->hash;

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
    const QCryptoLuksDigest *d = qcrypto_luks_volume_digest(l);

    for (unsigned i = 0; i < QCRYPTO_LUKS_DIGESTS; i++) {
        if (l->digests[i].used && &l->digests[i] != d) {
            return obstacle(errp, 1,
                            "it has another digest (%u), of unbound "
                            "key slots",
                            i);
        }
    }
    /* of a longer digest the beginning is what a shorter one would be */
    if (!d || d->ndigest < QCRYPTO_LUKS1_DIGEST_LEN) {
        return obstacle(errp, 1, "its digest has fewer than %d bytes",
                        QCRYPTO_LUKS1_DIGEST_LEN);
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
    next->digests[0] = *qcrypto_luks_volume_digest(l);
    next->digests[0].ndigest = QCRYPTO_LUKS1_DIGEST_LEN;
    g_strlcpy(next->hash, next->digests[0].hash, sizeof(next->hash));
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
    /* to the places of LUKS1 slots, as far as LUKS2 gives them to areas */
    if (tidy(block,
             LUKS1_AREAS + qcrypto_luks_round_up(block->luks->keyslots_offset -
                                                     LUKS1_AREAS,
                                                 stride(block->luks)),
             errp) < 0) {
        return -1;
    }
    QCryptoLuks *next = as_luks1(block->luks, end, &why);
    if (!next) {
        if (why) {
            g_propagate_error(errp, g_steal_pointer(&why));
            return -1;
        }
        return obstacle(errp, 1,
                        "its key areas lie so that there is no room for "
                        "those of the inactive slots");
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
