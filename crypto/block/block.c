/*
 * Opening volumes
 *
 * A format is an entry of the table of drivers: how its first bytes look and
 * how it is opened.  Both LUKS versions open alike, from the model on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/block/block.h"

#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/block/luks2.h"

#define U64 G_GUINT64_FORMAT

typedef struct Driver {
    const char *name;
    /* LUKS: versions in the header; 0, 0: no header to be known by */
    unsigned min_version, max_version;
    QCryptoLuks *(*read)(QCryptoBlockIO *io, bool detached, GError **errp);
} Driver;

#if !QCRYPTO_HAVE_JANSSON
QCryptoLuks *qcrypto_luks2_read(QCryptoBlockIO *io G_GNUC_UNUSED,
                                bool detached G_GNUC_UNUSED, GError **errp)
{
    qcrypto_error_unsupported(errp, "LUKS2",
                              "this build has no JSON library (jansson)");
    return NULL;
}

int qcrypto_luks2_repair(QCryptoLuks *luks G_GNUC_UNUSED,
                         QCryptoBlockIO *io G_GNUC_UNUSED,
                         GError **errp G_GNUC_UNUSED)
{
    return 0;
}
#endif

static const Driver drivers[QCRYPTO_BLOCK_FORMAT__MAX] = {
    [QCRYPTO_BLOCK_FORMAT_LUKS] = {"luks", 1, 2, qcrypto_luks_read_any},
    [QCRYPTO_BLOCK_FORMAT_LUKS1] = {"luks1", 1, 1, qcrypto_luks1_read},
    [QCRYPTO_BLOCK_FORMAT_LUKS2] = {"luks2", 2, 2, qcrypto_luks2_read},
    [QCRYPTO_BLOCK_FORMAT_QCOW] = {"qcow", 0, 0, NULL},
};

const char *qcrypto_block_format_name(QCryptoBlockFormat format)
{
    return (unsigned)format < G_N_ELEMENTS(drivers) ? drivers[format].name
                                                    : NULL;
}

int qcrypto_block_format_from_name(const char *name)
{
    for (size_t i = 0; name && i < G_N_ELEMENTS(drivers); i++) {
        if (!g_ascii_strcasecmp(name, drivers[i].name)) {
            return (int)i;
        }
    }
    return -1;
}

/* of the 8 bytes of a LUKS header */
static unsigned version_of(const uint8_t *start)
{
    return (unsigned)start[QCRYPTO_LUKS_MAGIC_LEN] << 8 |
           start[QCRYPTO_LUKS_MAGIC_LEN + 1];
}

bool qcrypto_block_has_format(QCryptoBlockFormat format, const uint8_t *buf,
                              size_t buflen)
{
    if ((unsigned)format >= G_N_ELEMENTS(drivers) || !buf ||
        buflen < QCRYPTO_LUKS_MAGIC_LEN + 2 ||
        memcmp(buf, QCRYPTO_LUKS_MAGIC, QCRYPTO_LUKS_MAGIC_LEN)) {
        return false;
    }
    const unsigned version = version_of(buf);
    return version && version >= drivers[format].min_version &&
           version <= drivers[format].max_version;
}

/*
 * Whichever version it is.  All that does not begin as LUKS1 may be LUKS2: a
 * damaged header still has its copy.
 */
QCryptoLuks *qcrypto_luks_read_any(QCryptoBlockIO *io, bool detached,
                                   GError **errp)
{
    g_autoptr(GError) why = NULL;
    uint8_t start[QCRYPTO_LUKS_MAGIC_LEN + 2] = {0};
    uint64_t size;

    if (io->get_size(NULL, &size, io->opaque, errp) < 0 ||
        (size >= sizeof(start) &&
         io->read(NULL, 0, start, sizeof(start), io->opaque, errp) < 0)) {
        return NULL;
    }
    if (qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS1, start,
                                 sizeof(start))) {
        return qcrypto_luks1_read(io, detached, errp);
    }
    QCryptoLuks *luks = qcrypto_luks2_read(io, detached, &why);
    if (luks) {
        return luks;
    }
    if (g_error_matches(why, QCRYPTO_ERROR, QCRYPTO_ERROR_IO)) {
        g_propagate_error(errp, g_steal_pointer(&why));
    } else if (memcmp(start, QCRYPTO_LUKS_MAGIC, QCRYPTO_LUKS_MAGIC_LEN)) {
        QCRYPTO_LUKS_CORRUPT(errp, "no LUKS header: neither its magic at the "
                                   "start nor a copy of one that is good");
    } else if (version_of(start) != 2) {
        qcrypto_error(errp,
                      version_of(start) ? QCRYPTO_ERROR_UNSUPPORTED
                                        : QCRYPTO_ERROR_CORRUPT_HEADER,
                      "LUKS version %u is not supported", version_of(start));
    } else {
        g_propagate_error(errp, g_steal_pointer(&why));
    }
    return NULL;
}

/* ---- layout and keys ---- */

/* Bytes of a segment in storage of that size */
static int segment_size(const QCryptoLuksSegment *s, uint64_t storage,
                        uint64_t *size, GError **errp)
{
    if (s->offset > storage || s->size > storage - s->offset) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "the storage ends too early: it has %" U64
                             " bytes, the payload %s at %" U64,
                             storage, s->offset > storage ? "begins" : "ends",
                             s->offset > storage ? s->offset
                                                 : s->offset + s->size);
    }
    const uint64_t all = s->size ? s->size : storage - s->offset;
    *size = all / s->sector_size * s->sector_size;
    return 0;
}

int qcrypto_block_set_layout(QCryptoBlock *b, GError **errp)
{
    uint64_t storage = INT64_MAX;

    if (b->io && b->io->get_size(b, &storage, b->io->opaque, errp) < 0) {
        return -1;
    }
    b->payload_size = 0;
    if (!b->luks) {
        b->payload_offset = 0;
        b->sector_size = QCRYPTO_QCOW_SECTOR;
        b->payload_size = storage / QCRYPTO_QCOW_SECTOR * QCRYPTO_QCOW_SECTOR;
        return 0;
    }
    b->payload_offset = b->luks->payload_offset;
    b->sector_size = 0;
    for (size_t i = 0; i < b->luks->nsegments; i++) {
        const QCryptoLuksSegment *s = &b->luks->segments[i];
        uint64_t size = 0;

        if (segment_size(s, storage, &size, errp) < 0) {
            return -1;
        }
        /* segments do not overlap: together they are no more than storage */
        b->payload_size += size;
        b->sector_size = MAX(b->sector_size, s->sector_size);
    }
    return 0;
}

/* Frees what only an unlocked volume has. */
static void lock_volume(QCryptoBlock *b)
{
    b->nruns = 0;
    g_clear_pointer(&b->runs, g_free);
    g_clear_pointer(&b->impl, g_free);
    g_clear_pointer(&b->ciphers, g_ptr_array_unref);
    g_clear_pointer(&b->ivgens, g_ptr_array_unref);
}

/* The objects for a specification; those of an earlier segment if it has it. */
static int run_cipher(QCryptoBlock *b, const char *text, const char **texts,
                      QCryptoBlockRun *run, const uint8_t *key, size_t nkey,
                      const char *provider, GError **errp)
{
    QCryptoCipher *cipher = NULL;
    QCryptoIVGen *ivgen = NULL;

    for (guint i = 0; i < b->ciphers->len; i++) {
        if (!strcmp(texts[i], text)) {
            run->cipher = g_ptr_array_index(b->ciphers, i);
            run->ivgen = g_ptr_array_index(b->ivgens, i);
            return 0;
        }
    }
    if (qcrypto_luks_cipher_new(text, key, nkey, provider, &cipher, &ivgen,
                                errp) < 0) {
        return -1;
    }
    texts[b->ciphers->len] = text;
    g_ptr_array_add(b->ciphers, cipher);
    g_ptr_array_add(b->ivgens, ivgen);
    run->cipher = cipher;
    run->ivgen = ivgen;
    if (!b->impl) {
        b->impl = g_strdup_printf("%s:%s", qcrypto_cipher_get_provider(cipher),
                                  qcrypto_cipher_get_impl(cipher));
    }
    return 0;
}

/* Run by run, with a border at least where a segment ends. */
static int make_runs(QCryptoBlock *b, const QCryptoLuksSegment *segments,
                     size_t n, const uint8_t *key, size_t nkey,
                     const char *provider, GError **errp)
{
    const char *texts[QCRYPTO_LUKS_SEGMENTS];
    uint64_t start = 0;

    for (size_t i = 0; i < n; i++) {
        const QCryptoLuksSegment *s = &segments[i];
        QCryptoBlockRun *run = &b->runs[i];

        *run = (QCryptoBlockRun){
            .start = start,
            /* the last one has what there is */
            .size = i + 1 < n ? s->size : b->payload_size - start,
            .offset = s->offset,
            .iv_sector = s->iv_tweak,
            .sector_size = s->sector_size,
            .no_write = !s->linear && qcrypto_luks_cipher_is_null(s->cipher),
        };
        if (start & (b->sector_size - 1)) {
            return qcrypto_error_unsupported(
                errp, "this volume",
                "segment %u begins at %" U64
                ", which is not a multiple of sectors of %zu bytes",
                s->id, start, b->sector_size);
        }
        if (!s->linear && !run->no_write &&
            run_cipher(b, s->cipher, texts, run, key, nkey, provider, errp) <
                0) {
            return -1;
        }
        start += run->size;
    }
    return 0;
}

static void free_ivgen(gpointer ivgen)
{
    qcrypto_ivgen_free(ivgen);
}

static void free_cipher(gpointer cipher)
{
    qcrypto_cipher_free(cipher);
}

int qcrypto_block_set_key(QCryptoBlock *b, const uint8_t *key, size_t nkey,
                          const char *provider, GError **errp)
{
    static const QCryptoLuksSegment qcow = {
        .cipher = QCRYPTO_QCOW_CIPHER,
        .sector_size = QCRYPTO_QCOW_SECTOR,
    };
    const QCryptoLuksSegment *segments = b->luks ? b->luks->segments : &qcow;
    const size_t n = b->luks ? b->luks->nsegments : 1;

    lock_volume(b);
    b->ciphers = g_ptr_array_new_with_free_func(free_cipher);
    b->ivgens = g_ptr_array_new_with_free_func(free_ivgen);
    b->runs = g_new0(QCryptoBlockRun, n);
    if (make_runs(b, segments, n, key, nkey, provider, errp) < 0) {
        lock_volume(b);
        return -1;
    }
    b->nruns = n;
    return 0;
}

/* ---- opening ---- */

QCryptoBlock *qcrypto_block_alloc(QCryptoBlockFormat format, QCryptoBlockIO *io,
                                  QCryptoBlockIO *header)
{
    QCryptoBlock *b = g_new0(QCryptoBlock, 1);

    b->format = format;
    b->io = io;
    b->header = header ? header : io;
    b->slot = -1;
    for (size_t i = 0; i < G_N_ELEMENTS(b->regions); i++) {
        g_rw_lock_init(&b->regions[i]);
    }
    return b;
}

void qcrypto_block_free(QCryptoBlock *b)
{
    if (b) {
        lock_volume(b);
        qcrypto_luks_free(b->luks);
        qcrypto_secret_free(b->volume_key);
        for (size_t i = 0; i < G_N_ELEMENTS(b->regions); i++) {
            g_rw_lock_clear(&b->regions[i]);
        }
        g_free(b);
    }
}

/* The key from the options; *nkey bytes of key (KEY_MAX). */
static int find_key(QCryptoBlock *b, const QCryptoBlockOpenOptions *o,
                    uint8_t *key, size_t *nkey, GError **errp)
{
    size_t n;

    if (b->luks) {
        return qcrypto_luks_unlock(b->luks, b->header, o, key, nkey, &b->slot,
                                   errp);
    }
    const uint8_t *bytes =
        qcrypto_secret_get(o->volume_key ? o->volume_key : o->passphrase, &n);
    if (o->volume_key && n != QCRYPTO_QCOW_KEY) {
        return qcrypto_error_key_len(errp, QCRYPTO_QCOW_CIPHER,
                                     QCRYPTO_QCOW_KEY, n);
    }
    memset(key, 0, QCRYPTO_QCOW_KEY);
    memcpy(key, bytes, MIN(n, QCRYPTO_QCOW_KEY));
    *nkey = QCRYPTO_QCOW_KEY;
    return 0;
}

static int unlock(QCryptoBlock *b, const QCryptoBlockOpenOptions *o,
                  unsigned flags, GError **errp)
{
    uint8_t key[QCRYPTO_LUKS_KEY_MAX];
    size_t nkey = 0;
    int ret = find_key(b, o, key, &nkey, errp);

    if (ret == 0) {
        ret = qcrypto_block_set_key(b, key, nkey, o->provider, errp);
    }
    if (ret == 0 && flags & QCRYPTO_BLOCK_OPEN_KEEP_KEY) {
        b->volume_key = qcrypto_secret_new_from_bytes(key, nkey, errp);
        ret = b->volume_key ? 0 : -1;
    }
    qcrypto_wipe(key, sizeof(key));
    return ret;
}

static int repair(QCryptoBlock *b, GError **errp)
{
    QCryptoBlockIO *io = b->header;
    int ret;

    if (b->format != QCRYPTO_BLOCK_FORMAT_LUKS2 ||
        (!b->luks->primary_problem && !b->luks->secondary_problem)) {
        return 0;
    }
    if (!io->write) {
        return qcrypto_error(
            errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
            "a damaged header can not be repaired on read-only "
            "storage");
    }
    if (io->lock && io->lock(b, true, io->opaque, errp) < 0) {
        return -1;
    }
    ret = qcrypto_luks2_repair(b->luks, io, errp);
    if (io->lock) {
        io->lock(b, false, io->opaque, NULL);
    }
    return ret;
}

/* The header, and whether it can be opened. */
static int read_luks(QCryptoBlock *b, const QCryptoBlockOpenOptions *o,
                     unsigned flags, GError **errp)
{
    b->luks = drivers[o->format].read(b->header, o->header != NULL, errp);
    if (!b->luks) {
        return -1;
    }
    b->format = b->luks->version == 1 ? QCRYPTO_BLOCK_FORMAT_LUKS1
                                      : QCRYPTO_BLOCK_FORMAT_LUKS2;
    if (b->luks->problem && !(flags & QCRYPTO_BLOCK_OPEN_INSPECT)) {
        if (errp) {
            *errp = g_error_copy(b->luks->problem);
        }
        return -1;
    }
    return flags & QCRYPTO_BLOCK_OPEN_REPAIR ? repair(b, errp) : 0;
}

/* The sizes; with INSPECT storage that is too short is a problem to tell. */
static int find_layout(QCryptoBlock *b, unsigned flags, GError **errp)
{
    g_autoptr(GError) why = NULL;

    if (qcrypto_block_set_layout(b, &why) == 0) {
        return 0;
    }
    if (b->luks && flags & QCRYPTO_BLOCK_OPEN_INSPECT) {
        b->payload_size = 0;
        qcrypto_luks_set_problem(b->luks, (QCryptoErrorKind)why->code, "%s",
                                 why->message);
        return 0;
    }
    g_propagate_error(errp, g_steal_pointer(&why));
    return -1;
}

static int check_options(const QCryptoBlockOpenOptions *o,
                         const QCryptoBlockIO *io, unsigned flags,
                         GError **errp)
{
    const unsigned known =
        QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_KEEP_KEY |
        QCRYPTO_BLOCK_OPEN_REPAIR | QCRYPTO_BLOCK_OPEN_INSPECT;
    const bool locked = flags & QCRYPTO_BLOCK_OPEN_NO_UNLOCK;

    if (!o) {
        return qcrypto_error_null(errp, "options");
    }
    if ((unsigned)o->format >= G_N_ELEMENTS(drivers)) {
        return qcrypto_error_unknown_id(errp, "volume format", (int)o->format);
    }
    if (!io && drivers[o->format].read) {
        return qcrypto_error_null(errp, "io");
    }
    if (flags & ~known) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "unknown flags 0x%x", flags & ~known);
    }
    if (!locked && !o->passphrase == !o->volume_key) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a volume is opened by a passphrase or by its "
                             "volume key, one of them");
    }
    if (!locked && flags & QCRYPTO_BLOCK_OPEN_INSPECT) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a header is inspected without unlocking it");
    }
    return 0;
}

QCryptoBlock *qcrypto_block_open(const QCryptoBlockOpenOptions *o,
                                 QCryptoBlockIO *io, unsigned flags,
                                 GError **errp)
{
    if (check_options(o, io, flags, errp) < 0) {
        return NULL;
    }
    QCryptoBlock *b = qcrypto_block_alloc(o->format, io, o->header);
    if ((drivers[o->format].read && read_luks(b, o, flags, errp) < 0) ||
        find_layout(b, flags, errp) < 0 ||
        (!(flags & QCRYPTO_BLOCK_OPEN_NO_UNLOCK) &&
         unlock(b, o, flags, errp) < 0)) {
        qcrypto_block_free(b);
        return NULL;
    }
    return b;
}

/* ---- what it is ---- */

uint64_t qcrypto_block_get_payload_offset(const QCryptoBlock *b)
{
    return b ? b->payload_offset : 0;
}

uint64_t qcrypto_block_get_payload_size(const QCryptoBlock *b)
{
    return b ? b->payload_size : 0;
}

size_t qcrypto_block_get_sector_size(const QCryptoBlock *b)
{
    return b ? b->sector_size : 0;
}

QCryptoBlockFormat qcrypto_block_get_format(const QCryptoBlock *b)
{
    return b->format;
}

int qcrypto_block_get_slot(const QCryptoBlock *b)
{
    return b ? b->slot : -1;
}

const char *qcrypto_block_get_impl(const QCryptoBlock *b)
{
    return b ? b->impl : NULL;
}
