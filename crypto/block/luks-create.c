/*
 * New volumes
 *
 * Everything is decided, checked and built before the storage is touched: the
 * options become a model (luks.h), the header and the first key slot are
 * written into memory, read back from there by the reader that opens volumes,
 * and only then copied to the storage.
 *
 * On the storage, what was there goes first, so that a creation which breaks
 * off leaves nothing that opens, neither the old volume nor half a new one:
 *
 *   1. the old header, and whatever could be taken for a secondary one;
 *   2. random bytes all over the room of key slots, so that nobody can tell
 *      used ones from unused ones, and the first slot's material in it;
 *      zeros in what is left of the header;
 *   3. the header.
 *
 * The payload is not written: it reads as noise until it is.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/hash.h>
#include <qcrypto/kdf.h>
#include <string.h>

#include "crypto/base/secure.h"
#include "crypto/block/luks-edit.h"
#include "crypto/rng/kernel.h"

#define U64 G_GUINT64_FORMAT

#define MIB ((uint64_t)1 << 20)
/* LUKS2: header and key slots, where the storage is not small */
#define USUAL_HEADER (16 * MIB)
#define SECTOR       512
#define MAX_SECTOR   4096
/* LUKS1: sectors in 32 bits; a volume's end stays below what files can be */
#define MAX_LUKS1_OFFSET ((uint64_t)UINT32_MAX * SECTOR)
#define MAX_END          ((uint64_t)INT64_MAX)

#define MIN_DIGEST_ITERATIONS 1000
/* the digest gets this part of a slot's time: 125 ms of 2 s */
#define DIGEST_SHARE 16
#define DEFAULT_MS   2000

/* A draw that gives a weak key is one in 2^128; a source that goes on giving
 * them is broken. */
#define MAX_DRAWS 8

#define INVALID(errp, ...)                                                     \
    qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* What is being made. */
typedef struct Plan {
    const QCryptoBlockCreateOptions *o;
    const QCryptoLuksEditor *editor;
    QCryptoBlockIO *io;     /* payload */
    QCryptoBlockIO *header; /* io, or the detached one's */
    QCryptoLuks *luks;
    char *cipher;
    uint8_t key[QCRYPTO_LUKS_KEY_MAX];
    size_t key_len; /* LUKS2 metadata without a slot does not say it */
    unsigned slot;
    uint64_t storage;     /* bytes it has */
    uint64_t header_end;  /* of all that belongs to the header */
    uint64_t payload_end; /* bytes the storage will need */
    /* the header in memory, up to the end of the first slot's area */
    uint8_t *image;
    uint64_t image_len;
} Plan;

static void plan_clear(Plan *p)
{
    qcrypto_wipe(p->key, sizeof(p->key));
    qcrypto_wipe_free(p->image, p->image_len);
    qcrypto_luks_free(p->luks);
    g_free(p->cipher);
}

static bool detached(const Plan *p)
{
    return p->header != p->io;
}

/* Does a member that LUKS1 has no place for stand in the options? */
static int check_luks1(const QCryptoBlockCreateOptions *o, GError **errp)
{
    const struct {
        bool given;
        const char *name;
    } members[] = {
        {o->sector_size && o->sector_size != SECTOR,
         "sectors but those of 512 bytes"},
        {o->metadata_size, "size of its metadata"},
        {o->keyslots_size, "size of its key slots' area"},
        {o->label && *o->label, "labels"},
        {o->subsystem && *o->subsystem, "subsystems"},
        {o->flags && *o->flags, "persistent flags"},
        {o->nsegments, "segments"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
        if (members[i].given) {
            return qcrypto_luks1_has_no(errp, members[i].name);
        }
    }
    return 0;
}

/* ---- names, key, slot ---- */

static int plan_names(Plan *p, GError **errp)
{
    const QCryptoBlockCreateOptions *o = p->o;
    QCryptoLuks *l = p->luks;
    g_autofree char *uuid =
        o->uuid ? g_ascii_strdown(o->uuid, -1) : g_uuid_string_random();

    if (qcrypto_luks_check_uuid(uuid, errp) < 0 ||
        qcrypto_luks_check_flags(o->flags, errp) < 0 ||
        (o->label &&
         qcrypto_luks_put_label(l->label, "label", o->label, errp) < 0) ||
        (o->subsystem && qcrypto_luks_put_label(l->subsystem, "subsystem",
                                                o->subsystem, errp) < 0)) {
        return -1;
    }
    g_strlcpy(l->uuid, uuid, sizeof(l->uuid));
    g_strlcpy(l->csum_alg, QCRYPTO_LUKS_HASH, sizeof(l->csum_alg));
    l->flags = g_strdupv((char **)(uintptr_t)o->flags);
    return 0;
}

/* The slot's hash is the header's where nothing else says so: LUKS1 has one. */
static int plan_hash(Plan *p, GError **errp)
{
    const QCryptoBlockCreateOptions *o = p->o;
    const char *name = o->hash ? o->hash
                       : p->luks->version == 1 && o->slot.kdf.hash
                           ? o->slot.kdf.hash
                           : QCRYPTO_LUKS_HASH;
    const int hash = qcrypto_luks_new_hash(name, errp);

    if (hash < 0) {
        return -1;
    }
    g_strlcpy(p->luks->hash, qcrypto_hash_algo_name((QCryptoHashAlgo)hash),
              sizeof(p->luks->hash));
    return 0;
}

static int plan_cipher(Plan *p, GError **errp)
{
    const QCryptoBlockCreateOptions *o = p->o;
    size_t given = 0;
    size_t *len = &p->luks->key_len;

    if (o->volume_key) {
        qcrypto_secret_get(o->volume_key, &given);
        if (!given || given > QCRYPTO_LUKS_KEY_MAX) {
            return INVALID(errp, "a volume key has 1 to %d bytes, not %zu",
                           QCRYPTO_LUKS_KEY_MAX, given);
        }
        if (o->key_len && o->key_len != given) {
            return qcrypto_error_key_len(errp, "the volume", o->key_len, given);
        }
    }
    *len = given ? given : o->key_len;
    p->cipher =
        qcrypto_luks_new_cipher(o->cipher ? o->cipher : "aes-xts-plain64", len,
                                o->provider, o->provider != NULL, errp);
    p->key_len = *len;
    return p->cipher ? 0 : -1;
}

/* A key of some crypt segment that its cipher's standard advises against */
static bool is_weak(const Plan *p)
{
    for (size_t i = 0; i < p->luks->nsegments; i++) {
        const QCryptoLuksSegment *s = &p->luks->segments[i];
        QCryptoCipherSpec spec;
        QCryptoCipherAlgo alg;

        if (!s->linear &&
            qcrypto_luks_cipher(s->cipher, p->luks->key_len, &spec, &alg,
                                NULL) == 0 &&
            qcrypto_cipher_key_is_weak(alg, spec.mode, p->key,
                                       p->luks->key_len)) {
            return true;
        }
    }
    return false;
}

static int plan_key(Plan *p, GError **errp)
{
    if (p->o->volume_key) {
        memcpy(p->key, qcrypto_secret_get(p->o->volume_key, NULL),
               p->luks->key_len);
        return is_weak(p) ? qcrypto_error(errp, QCRYPTO_ERROR_WEAK_KEY,
                                          "the given volume key is a weak one "
                                          "of %s",
                                          p->cipher)
                          : 0;
    }
    for (int i = 0; i < MAX_DRAWS; i++) {
        if (qcrypto_kernel_random(p->key, p->luks->key_len, errp) < 0) {
            return -1;
        }
        if (!is_weak(p)) {
            return 0;
        }
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_ENTROPY,
                         "%d random volume keys in a row were weak", MAX_DRAWS);
}

static int plan_slot(Plan *p, GError **errp)
{
    const QCryptoBlockSlotOptions *o = &p->o->slot;
    QCryptoLuks *l = p->luks;

    p->slot = o->use_slot ? o->slot : 0;
    if (p->slot >= l->max_slots) {
        return INVALID(errp,
                       "a LUKS%u volume has the key slots 0 to %u, not %u",
                       l->version, l->max_slots - 1, p->slot);
    }
    if (!p->o->passphrase) {
        return p->o->volume_key
                   ? 0
                   : INVALID(errp, "a new volume needs a passphrase; without "
                                   "one its volume key has to be given");
    }
    return qcrypto_luks_slot_plan(l->version, l->hash, p->cipher, l->key_len, o,
                                  p->o->provider != NULL, &l->slots[p->slot],
                                  errp);
}

/* ---- where things lie ---- */

static uint64_t area_size(const QCryptoLuksSlot *s)
{
    return qcrypto_luks_round_up(qcrypto_luks_area_len(s->key_len, s->stripes),
                                 QCRYPTO_LUKS_ALIGN);
}

static int plan_luks1_header(Plan *p, GError **errp G_GNUC_UNUSED)
{
    QCryptoLuks *l = p->luks;
    const uint64_t len =
        qcrypto_luks_area_len(l->key_len, QCRYPTO_LUKS_STRIPES);
    uint64_t at = QCRYPTO_LUKS_ALIGN;

    for (unsigned i = 0; i < QCRYPTO_LUKS1_SLOTS; i++) {
        l->slots[i].stripes = QCRYPTO_LUKS_STRIPES;
        l->slots[i].area_offset = at;
        l->slots[i].area_size = len;
        at += qcrypto_luks_round_up(len, QCRYPTO_LUKS_ALIGN);
    }
    l->header_size = at;
    p->header_end = at;
    return 0;
}

/* What LUKS2 has to have room for: two copies, and one key area. */
static uint64_t least_header(const Plan *p)
{
    const QCryptoLuksSlot *s = &p->luks->slots[p->slot];

    return 2 * p->luks->header_size +
           (s->active ? area_size(s) : QCRYPTO_LUKS_ALIGN);
}

/*
 * How much of the storage LUKS2 takes when nobody said: the usual, or in
 * small storage a share that leaves at least as much to the payload.
 */
static uint64_t usual_header(const Plan *p)
{
    const uint64_t least = least_header(p);
    uint64_t n = USUAL_HEADER;

    if (detached(p)) {
        uint64_t size = 0;

        if (!p->header->init &&
            p->header->get_size(NULL, &size, p->header->opaque, NULL) == 0) {
            n = MIN(n, size / QCRYPTO_LUKS_ALIGN * QCRYPTO_LUKS_ALIGN);
        }
    } else if (p->o->payload_offset) {
        n = p->o->payload_offset / QCRYPTO_LUKS_ALIGN * QCRYPTO_LUKS_ALIGN;
    } else if (!p->o->size && !p->o->nsegments) {
        while (n > p->storage / 2 && n > least) {
            n /= 2;
        }
    }
    return MAX(n, least);
}

static int plan_luks2_header(Plan *p, GError **errp)
{
    const QCryptoBlockCreateOptions *o = p->o;
    QCryptoLuks *l = p->luks;

    l->header_size =
        o->metadata_size ? o->metadata_size : QCRYPTO_LUKS2_MIN_SIZE;
    if (!qcrypto_luks2_size_is_legal(l->header_size)) {
        return INVALID(errp,
                       "a LUKS2 metadata size is 16 KiB, 32 KiB and so on "
                       "to 4 MiB, not %" U64 " bytes",
                       l->header_size);
    }
    l->json_size = l->header_size - QCRYPTO_LUKS2_BINARY;
    l->keyslots_offset = 2 * l->header_size;
    l->keyslots_size = o->keyslots_size
                           ? o->keyslots_size
                           : MIN(usual_header(p) - l->keyslots_offset,
                                 QCRYPTO_LUKS2_KEYSLOTS_MAX);
    if (l->keyslots_size % QCRYPTO_LUKS_ALIGN ||
        l->keyslots_size > QCRYPTO_LUKS2_KEYSLOTS_MAX) {
        return INVALID(errp,
                       "the area of LUKS2 key slots has a multiple of 4096 "
                       "bytes up to 128 MiB, not %" U64 " bytes",
                       l->keyslots_size);
    }
    p->header_end = l->keyslots_offset + l->keyslots_size;
    if (p->header_end < least_header(p)) {
        return INVALID(errp,
                       "the area of LUKS2 key slots takes at least %" U64
                       " bytes, not %" U64,
                       least_header(p) - l->keyslots_offset, l->keyslots_size);
    }
    QCryptoLuksSlot *s = &l->slots[p->slot];
    if (s->active) {
        s->area_offset = l->keyslots_offset;
        s->area_size = area_size(s);
    }
    return 0;
}

/* Where the payload begins. */
static int plan_payload(Plan *p, GError **errp)
{
    const uint64_t given = p->o->payload_offset;
    const uint64_t max = p->luks->version == 1 ? MAX_LUKS1_OFFSET : MAX_END;
    uint64_t at = given;

    if (!given && !detached(p)) {
        at = qcrypto_luks_round_up(p->header_end, MIB);
        /* small storage: no byte more than the header */
        if (!p->o->size && !p->o->nsegments && at >= p->storage) {
            at = p->header_end;
        }
    }
    if (at % SECTOR || at > max) {
        return INVALID(errp,
                       "a LUKS%u payload offset is a multiple of 512 up to "
                       "%" U64 ", not %" U64,
                       p->luks->version, max / SECTOR * SECTOR, at);
    }
    if (!detached(p) && at < p->header_end) {
        return INVALID(errp,
                       "the header takes %" U64 " bytes: the payload can "
                       "not begin at %" U64,
                       p->header_end, at);
    }
    p->luks->payload_offset = at;
    return 0;
}

static bool is_sector_size(size_t n)
{
    return n >= SECTOR && n <= MAX_SECTOR && !(n & (n - 1));
}

static int check_sector_size(size_t n, GError **errp)
{
    return is_sector_size(n) ? 0
                             : INVALID(errp,
                                       "a LUKS2 sector size is 512, 1024, "
                                       "2048 or 4096, not %zu",
                                       n);
}

/* A place or size in whole sectors. */
static int check_sectors(GError **errp, const char *what, uint64_t n,
                         size_t sector_size)
{
    return n % sector_size
               ? INVALID(errp,
                         "%s is a multiple of the sector size, %zu, not "
                         "%" U64,
                         what, sector_size, n)
               : 0;
}

/* One crypt segment: the payload's end and the sector size. */
static int plan_one_segment(Plan *p, GError **errp)
{
    const QCryptoBlockCreateOptions *o = p->o;
    QCryptoLuks *l = p->luks;
    QCryptoLuksSegment *s = &l->segments[0];
    uint64_t size = o->size;

    if (!size) {
        if (p->storage <= l->payload_offset) {
            return INVALID(errp,
                           "the storage has %" U64 " bytes: none is left "
                           "for data, which begin at %" U64,
                           p->storage, l->payload_offset);
        }
        size = p->storage - l->payload_offset;
    } else if (size > MAX_END - l->payload_offset) {
        return INVALID(errp, "no storage holds a payload of %" U64 " bytes",
                       size);
    }
    s->sector_size = o->sector_size;
    if (!s->sector_size) {
        s->sector_size = l->version == 2 && !(size % MAX_SECTOR) &&
                                 !(l->payload_offset % MAX_SECTOR)
                             ? MAX_SECTOR
                             : SECTOR;
    }
    if (check_sector_size(s->sector_size, errp) < 0 ||
        check_sectors(errp, "the payload's size", size, s->sector_size) < 0 ||
        check_sectors(errp, "the payload offset", l->payload_offset,
                      s->sector_size) < 0) {
        return -1;
    }
    s->offset = l->payload_offset;
    p->payload_end = l->payload_offset + size;
    g_strlcpy(s->cipher, p->cipher, sizeof(s->cipher));
    l->nsegments = 1;
    return 0;
}

/* Segment i from its options; *at is where the one before ended. */
static int plan_segment(Plan *p, size_t i, uint64_t *at, GError **errp)
{
    const QCryptoBlockSegmentOptions *o = &p->o->segments[i];
    QCryptoLuks *l = p->luks;
    QCryptoLuksSegment *s = &l->segments[i];
    size_t key_len = l->key_len;

    s->id = (unsigned)i;
    s->linear = o->linear;
    s->offset = o->offset ? o->offset : *at;
    s->size = o->size;
    s->iv_tweak = o->iv_tweak;
    s->sector_size = o->sector_size      ? o->sector_size
                     : p->o->sector_size ? p->o->sector_size
                                         : SECTOR;
    if (o->linear && (o->iv_tweak || o->cipher)) {
        return INVALID(errp, "a linear segment is not encrypted");
    }
    if (!s->size && i + 1 < p->o->nsegments) {
        return INVALID(errp, "only the last one reaches to the end of the "
                             "storage");
    }
    if (check_sector_size(s->sector_size, errp) < 0 ||
        check_sectors(errp, "its offset", s->offset, s->sector_size) < 0 ||
        check_sectors(errp, "its size", s->size, s->sector_size) < 0) {
        return -1;
    }
    if (s->offset < l->payload_offset || s->offset > MAX_END ||
        s->size > MAX_END - s->offset) {
        return INVALID(errp,
                       "%" U64 " bytes at %" U64 " do not lie behind the "
                       "payload offset, %" U64,
                       s->size, s->offset, l->payload_offset);
    }
    if (!s->linear) {
        g_autofree char *own =
            o->cipher
                ? qcrypto_luks_new_cipher(o->cipher, &key_len, p->o->provider,
                                          p->o->provider != NULL, errp)
                : g_strdup(p->cipher);

        if (!own) {
            return -1;
        }
        g_strlcpy(s->cipher, own, sizeof(s->cipher));
    }
    *at = s->offset + s->size;
    l->nsegments = i + 1;
    return 0;
}

/* What segments have to be in regard to each other. */
static int check_segments(const Plan *p, GError **errp)
{
    const QCryptoLuks *l = p->luks;
    bool crypt = false;

    for (size_t i = 0; i < l->nsegments; i++) {
        const QCryptoLuksSegment *a = &l->segments[i];

        crypt |= !a->linear;
        for (size_t j = 0; j < i; j++) {
            const QCryptoLuksSegment *b = &l->segments[j];

            /* the last one may reach to the end of the storage */
            if (a->size ? qcrypto_luks_overlap(a->offset, a->size, b->offset,
                                               b->size)
                        : a->offset < b->offset + b->size) {
                return INVALID(errp, "segments %zu and %zu overlap", j, i);
            }
        }
    }
    return crypt ? 0 : INVALID(errp, "no segment is encrypted");
}

/* The last segment's size, and with it the payload's. */
static int plan_end(Plan *p, GError **errp)
{
    QCryptoLuks *l = p->luks;
    QCryptoLuksSegment *last = &l->segments[l->nsegments - 1];
    uint64_t sized = 0, size = 0;

    for (size_t i = 0; i < l->nsegments; i++) {
        sized += l->segments[i].size;
        p->payload_end =
            MAX(p->payload_end, l->segments[i].offset + l->segments[i].size);
    }
    if (last->size) {
        return !p->o->size || p->o->size == sized
                   ? 0
                   : INVALID(errp,
                             "the segments have %" U64 " bytes, the payload "
                             "%" U64,
                             sized, p->o->size);
    }
    if (p->o->size) {
        size = p->o->size > sized ? p->o->size - sized : 0;
    } else if (p->storage > last->offset) {
        size = p->storage - last->offset;
    }
    if (!size || size > MAX_END - last->offset) {
        return INVALID(errp, "segment %zu: the storage has no room for it",
                       l->nsegments - 1);
    }
    p->payload_end = last->offset + size;
    return check_sectors(errp, "the last segment's size", size,
                         last->sector_size);
}

static int plan_segments(Plan *p, GError **errp)
{
    const QCryptoBlockCreateOptions *o = p->o;
    uint64_t at = p->luks->payload_offset;

    if (!o->nsegments) {
        return plan_one_segment(p, errp);
    }
    if (!o->segments || o->nsegments > QCRYPTO_LUKS_SEGMENTS) {
        return INVALID(errp, "a LUKS2 volume has 1 to %d segments, not %zu",
                       QCRYPTO_LUKS_SEGMENTS, o->nsegments);
    }
    for (size_t i = 0; i < o->nsegments; i++) {
        if (plan_segment(p, i, &at, errp) < 0) {
            g_prefix_error(errp, "segment %zu: ", i);
            return -1;
        }
    }
    return check_segments(p, errp) < 0 ? -1 : plan_end(p, errp);
}

/*
 * Can the storage be as large as it has to be?  A volume reaches to its end,
 * so larger storage is right only where LUKS2 can say how far it goes.
 */
static int check_room(Plan *p, GError **errp)
{
    QCryptoLuks *l = p->luks;
    QCryptoLuksSegment *last = &l->segments[l->nsegments - 1];
    uint64_t have;

    if (p->storage < p->payload_end && !p->io->init) {
        return INVALID(errp, "the storage has %" U64 " bytes, the volume %" U64,
                       p->storage, p->payload_end);
    }
    if (p->storage > p->payload_end && !last->size) {
        if (l->version == 1) {
            return INVALID(errp,
                           "a LUKS1 volume reaches to the end of its "
                           "storage: %" U64 " bytes, not %" U64,
                           p->storage - l->payload_offset,
                           p->payload_end - l->payload_offset);
        }
        last->size = p->payload_end - last->offset;
    }
    if (!detached(p)) {
        return 0;
    }
    if (p->header->get_size(NULL, &have, p->header->opaque, errp) < 0) {
        return -1;
    }
    return have >= p->header_end || p->header->init
               ? 0
               : INVALID(errp,
                         "the header takes %" U64 " bytes, its storage has "
                         "%" U64,
                         p->header_end, have);
}

/* ---- the digest, and what takes time ---- */

static uint64_t digest_iterations(const Plan *p, QCryptoHashAlgo hash,
                                  size_t ndigest, GError **errp)
{
    const QCryptoBlockKdfOptions *o = &p->o->slot.kdf;
    const QCryptoLuksSlot *s = &p->luks->slots[p->slot];
    const uint64_t ms = o->iter_time_ms ? o->iter_time_ms : DEFAULT_MS;
    uint64_t n;

    if (o->iterations || !s->active) {
        return MIN_DIGEST_ITERATIONS;
    }
    if (!strcmp(s->kdf.type, "pbkdf2")) {
        n = s->kdf.iterations / DIGEST_SHARE;
    } else {
        n = qcrypto_pbkdf2_count_iters(hash, p->key, p->luks->key_len, p->key,
                                       QCRYPTO_LUKS_SALT, ndigest, errp);
        if (!n) {
            return 0;
        }
        n = MIN(n, UINT32_MAX) * ms / 1000 / DIGEST_SHARE;
    }
    return CLAMP(n, MIN_DIGEST_ITERATIONS, INT32_MAX);
}

static int plan_digest(Plan *p, GError **errp)
{
    QCryptoLuks *l = p->luks;
    QCryptoLuksDigest *d = &l->digests[0];
    const QCryptoHashAlgo hash =
        (QCryptoHashAlgo)qcrypto_hash_algo_from_name(l->hash);

    d->used = true;
    g_strlcpy(d->hash, l->hash, sizeof(d->hash));
    d->ndigest = l->version == 1 ? QCRYPTO_LUKS1_DIGEST_LEN
                                 : qcrypto_hash_digest_len(hash);
    d->nsalt = QCRYPTO_LUKS_SALT;
    d->iterations = digest_iterations(p, hash, d->ndigest, errp);
    if (!d->iterations || qcrypto_kernel_random(d->salt, d->nsalt, errp) < 0) {
        return -1;
    }
    d->slots = (uint32_t)l->slots[p->slot].active << p->slot;
    for (size_t i = 0; i < l->nsegments; i++) {
        d->segments |= (uint64_t)!l->segments[i].linear << i;
    }
    return qcrypto_luks_digest(d, p->key, l->key_len, d->digest, errp);
}

/* ---- the header in memory ---- */

/* Both sizes as they will be. */
static int payload_get_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                            void *opaque, GError **errp G_GNUC_UNUSED)
{
    const Plan *p = opaque;

    *size = MAX(p->storage, p->payload_end);
    return 0;
}

static int image_get_size(QCryptoBlock *block, uint64_t *size, void *opaque,
                          GError **errp)
{
    const Plan *p = opaque;

    if (!detached(p)) {
        return payload_get_size(block, size, opaque, errp);
    }
    *size = p->header_end;
    return 0;
}

static int image_check(const Plan *p, uint64_t offset, size_t len,
                       GError **errp)
{
    return offset <= p->image_len && len <= p->image_len - offset
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_IO,
                               "%zu bytes at %" U64 " are not in the header",
                               len, offset);
}

static int image_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                      uint8_t *buf, size_t len, void *opaque, GError **errp)
{
    const Plan *p = opaque;

    if (image_check(p, offset, len, errp) < 0) {
        return -1;
    }
    memcpy(buf, p->image + offset, len);
    return 0;
}

static int image_write(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                       const uint8_t *buf, size_t len, void *opaque,
                       GError **errp)
{
    const Plan *p = opaque;

    if (image_check(p, offset, len, errp) < 0) {
        return -1;
    }
    memcpy(p->image + offset, buf, len);
    return 0;
}

static QCryptoBlock *open_by_key(const Plan *p, QCryptoBlockIO *io,
                                 QCryptoBlockIO *header, unsigned flags,
                                 GError **errp)
{
    g_autoptr(QCryptoSecret) key =
        qcrypto_secret_new_from_bytes(p->key, p->key_len, errp);
    const QCryptoBlockOpenOptions how = {
        .format = p->luks->version == 1 ? QCRYPTO_BLOCK_FORMAT_LUKS1
                                        : QCRYPTO_BLOCK_FORMAT_LUKS2,
        .volume_key = key,
        .header = header != io ? header : NULL,
        .provider = p->o->provider,
    };

    return key ? qcrypto_block_open(&how, io, flags, errp) : NULL;
}

/* What was built, opened as anybody's volume. */
static int prove(const Plan *p, QCryptoBlockIO *image, GError **errp)
{
    QCryptoBlockIO payload = *image;

    payload.get_size = payload_get_size;
    QCryptoBlock *block =
        open_by_key(p, detached(p) ? &payload : image, image, 0, errp);
    if (!block) {
        g_prefix_error(errp, "the new volume would not open; nothing was "
                             "written: ");
        return -1;
    }
    qcrypto_block_free(block);
    return 0;
}

static int build_image(Plan *p, GError **errp)
{
    QCryptoLuks *l = p->luks;
    QCryptoLuksSlot *s = &l->slots[p->slot];
    QCryptoBlockIO image = {
        .read = image_read,
        .write = image_write,
        .get_size = image_get_size,
        .opaque = p,
    };
    size_t npass;

    p->image_len = s->active         ? s->area_offset + s->area_size
                   : l->version == 1 ? QCRYPTO_LUKS_ALIGN
                                     : l->keyslots_offset;
    p->image = qcrypto_alloc(p->image_len);
    if (!p->image) {
        return qcrypto_error_memory(errp, "a LUKS header", p->image_len / 1024,
                                    0);
    }
    if (s->active) {
        const uint8_t *pass = qcrypto_secret_get(p->o->passphrase, &npass);

        /* the salt is made here, before the header is composed */
        if (qcrypto_luks_slot_store(s, &image, pass, npass, p->key, errp) < 0) {
            return -1;
        }
    }
    return p->editor->compose(l, errp) < 0 ||
                   p->editor->replace(l, &image, errp) < 0
               ? -1
               : prove(p, &image, errp);
}

/* ---- onto the storage ---- */

static int make_room(Plan *p, GError **errp)
{
    if (p->io->init &&
        p->io->init(NULL, p->payload_end, p->io->opaque, errp) < 0) {
        return -1;
    }
    return detached(p) && p->header->init
               ? p->header->init(NULL, p->header_end, p->header->opaque, errp)
               : 0;
}

static int wipe_old(Plan *p, GError **errp)
{
    /* the version's very first bytes, then every other signature: what lies
     * behind the header is lost with the old key anyway */
    if (qcrypto_luks_wipe(p->header, 0, QCRYPTO_LUKS_ALIGN, false, errp) < 0 ||
        qcrypto_luks_wipe_signatures(p->header, 0, UINT64_MAX, errp) < 0) {
        return -1;
    }
    return qcrypto_luks_flush(p->header, errp);
}

static int write_key_area(Plan *p, GError **errp)
{
    const QCryptoLuks *l = p->luks;
    const QCryptoLuksSlot *s = &l->slots[p->slot];
    const uint64_t from =
        l->version == 1 ? QCRYPTO_LUKS_ALIGN : l->keyslots_offset;

    if (qcrypto_luks_wipe(p->header, QCRYPTO_LUKS_ALIGN,
                          from - QCRYPTO_LUKS_ALIGN, false, errp) < 0 ||
        qcrypto_luks_wipe(p->header, from, p->header_end - from, true, errp) <
            0 ||
        (s->active &&
         qcrypto_luks_put(p->header, s->area_offset, p->image + s->area_offset,
                          s->area_size, errp) < 0)) {
        return -1;
    }
    return qcrypto_luks_flush(p->header, errp);
}

static int write_all(Plan *p, GError **errp)
{
    QCryptoBlockIO *io = p->header;
    int ret = -1;

    if (io->lock && io->lock(NULL, true, io->opaque, errp) < 0) {
        return -1;
    }
    if (make_room(p, errp) == 0 && wipe_old(p, errp) == 0 &&
        write_key_area(p, errp) == 0) {
        ret = p->editor->replace(p->luks, io, errp);
    }
    if (io->lock) {
        io->lock(NULL, false, io->opaque, NULL);
    }
    return ret;
}

/* ---- all of it ---- */

static int plan(Plan *p, GError **errp)
{
    QCryptoLuks *l = p->luks;
    QCryptoLuksSlot *s;

    if ((l->version == 1 && check_luks1(p->o, errp) < 0) ||
        p->io->get_size(NULL, &p->storage, p->io->opaque, errp) < 0 ||
        plan_names(p, errp) < 0 || plan_hash(p, errp) < 0 ||
        plan_cipher(p, errp) < 0 || plan_slot(p, errp) < 0 ||
        (l->version == 1 ? plan_luks1_header(p, errp)
                         : plan_luks2_header(p, errp)) < 0 ||
        plan_payload(p, errp) < 0 || plan_segments(p, errp) < 0 ||
        check_room(p, errp) < 0 || plan_key(p, errp) < 0) {
        return -1;
    }
    /* nothing is wrong with the options: now what takes time */
    s = &l->slots[p->slot];
    if (s->active && qcrypto_luks_kdf_measure(&s->kdf, &p->o->slot.kdf,
                                              s->area_key_len, errp) < 0) {
        return -1;
    }
    return plan_digest(p, errp) < 0 ? -1 : build_image(p, errp);
}

static QCryptoBlock *open_created(const Plan *p, GError **errp)
{
    QCryptoBlock *block =
        open_by_key(p, p->io, p->header, QCRYPTO_BLOCK_OPEN_KEEP_KEY, errp);

    if (block && p->luks->slots[p->slot].active) {
        block->slot = (int)p->slot;
    }
    return block;
}

static int version_of(QCryptoBlockFormat format, GError **errp)
{
    switch (format) {
    case QCRYPTO_BLOCK_FORMAT_LUKS1:
        return 1;
    case QCRYPTO_BLOCK_FORMAT_LUKS:
    case QCRYPTO_BLOCK_FORMAT_LUKS2:
        return 2;
    default:
        return qcrypto_error_unsupported(
            errp, "creating a volume", "format %s has no header to be written",
            qcrypto_block_format_name(format)
                ? qcrypto_block_format_name(format)
                : "of that number");
    }
}

QCryptoBlock *qcrypto_block_create(const QCryptoBlockCreateOptions *options,
                                   QCryptoBlockIO *io, GError **errp)
{
    if (!options || !io) {
        qcrypto_error_null(errp, options ? "io" : "options");
        return NULL;
    }
    const int version = version_of(options->format, errp);
    const QCryptoLuksEditor *editor =
        version < 0 ? NULL : qcrypto_luks_editor((unsigned)version, errp);
    if (!editor) {
        return NULL;
    }
    Plan p = {
        .o = options,
        .editor = editor,
        .io = io,
        .header = options->header ? options->header : io,
        .luks = g_new0(QCryptoLuks, 1),
    };
    QCryptoBlock *block = NULL;

    p.luks->version = (unsigned)version;
    p.luks->detached = detached(&p);
    p.luks->max_slots =
        version == 1 ? QCRYPTO_LUKS1_SLOTS : QCRYPTO_LUKS2_SLOTS;
    if (!p.header->write) {
        INVALID(errp, "the storage was opened for reading alone");
    } else if (plan(&p, errp) == 0 && write_all(&p, errp) == 0) {
        block = open_created(&p, errp);
    }
    plan_clear(&p);
    return block;
}
