/*
 * Key slots: filled, changed, emptied
 *
 * The order is always the same: key material to a place that no header names,
 * flushed; then the header that names it.  And the other way round: a slot's
 * key material is overwritten before the header drops the slot, so that
 * nobody is told that a slot is gone while its key can still be had.
 *
 * A passphrase is changed in one of three ways, the first that there is room
 * for:
 *
 *   - LUKS2 with a free place for a key area: the new material goes there,
 *     and one write of the header moves the slot's number to it;
 *   - LUKS1, where areas do not move, with a free slot: that slot opens with
 *     the new passphrase while the old slot is written anew, and is emptied
 *     afterwards;
 *   - in place, once the new material has been proved in memory.  While it is
 *     written this slot opens with neither passphrase; others do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/afsplit.h>
#include <qcrypto/hash.h>
#include <qcrypto/kdf.h>
#include <string.h>

#include "crypto/base/secure.h"
#include "crypto/block/luks-edit.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"
#include "crypto/rng/kernel.h"

#define U64 G_GUINT64_FORMAT

#define DEFAULT_MS 2000
/* What cryptsetup takes when it writes; it reads its JSON as 32-bit signed
 * numbers. */
#define MIN_ITERATIONS  1000
#define MIN_PASSES      4
#define MIN_KIB         32
#define MAX_KIB         (UINT32_C(4) << 20)
#define DEFAULT_MAX_KIB (UINT32_C(1) << 20)
#define MAX_LANES       4
/* cryptsetup opens nothing with a shorter hash */
#define MIN_HASH 20

/* ---- what may be asked for ---- */

/* "argon2id takes 4 to N passes, not 3" */
static int check_range(GError **errp, const char *who, const char *what,
                       uint64_t min, uint64_t max, uint64_t got)
{
    if (got >= min && got <= max) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "a LUKS key slot with %s has %" U64 " to %" U64
                         " %s, not %" U64,
                         who, min, max, what, got);
}

int qcrypto_luks_new_hash(const char *name, GError **errp)
{
    const int hash = qcrypto_hash_algo_from_name(name);

    if (hash < 0) {
        return qcrypto_error_unknown(errp, "hash", name);
    }
    if (qcrypto_hash_digest_len((QCryptoHashAlgo)hash) < MIN_HASH) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s is too short for a new volume: a hash of 20 "
                             "bytes or more is needed",
                             name);
    }
    if (!qcrypto_hash_supports((QCryptoHashAlgo)hash) ||
        !qcrypto_pbkdf2_supports((QCryptoHashAlgo)hash)) {
        return qcrypto_error_unsupported(errp, name,
                                         "no backend of this build offers it");
    }
    return hash;
}

static int plan_pbkdf2(unsigned version, const char *hash,
                       const QCryptoBlockKdfOptions *o, QCryptoLuksKdf *kdf,
                       GError **errp)
{
    const char *name = o->hash ? o->hash : hash;

    if (o->memory_kib || o->lanes) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "pbkdf2 takes no %s",
                             o->memory_kib ? "memory" : "lanes");
    }
    const int alg = qcrypto_luks_new_hash(name, errp);
    if (alg < 0) {
        return -1;
    }
    name = qcrypto_hash_algo_name((QCryptoHashAlgo)alg);
    if (version == 1 && g_ascii_strcasecmp(name, hash)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a LUKS1 volume has one hash, %s: a key slot can "
                             "not have %s",
                             hash, name);
    }
    if (o->iterations &&
        check_range(errp, "pbkdf2", "iterations", MIN_ITERATIONS,
                    version == 1 ? UINT32_MAX : INT32_MAX, o->iterations) < 0) {
        return -1;
    }
    g_strlcpy(kdf->hash, name, sizeof(kdf->hash));
    kdf->iterations = o->iterations;
    return 0;
}

static int plan_argon2(const char *type, const QCryptoBlockKdfOptions *o,
                       QCryptoLuksKdf *kdf, GError **errp)
{
    const int alg = qcrypto_argon2_algo_from_name(type);

    if (!qcrypto_argon2_supports((QCryptoArgon2Algo)alg)) {
        return qcrypto_error_unsupported(errp, type,
                                         "no backend of this build offers it");
    }
    if ((o->iterations && check_range(errp, type, "passes", MIN_PASSES,
                                      INT32_MAX, o->iterations) < 0) ||
        (o->memory_kib && check_range(errp, type, "KiB of memory", MIN_KIB,
                                      MAX_KIB, o->memory_kib) < 0) ||
        (o->lanes &&
         check_range(errp, type, "lanes", 1, MAX_LANES, o->lanes) < 0)) {
        return -1;
    }
    kdf->lanes = o->lanes ? o->lanes : MIN(g_get_num_processors(), MAX_LANES);
    kdf->iterations = o->iterations;
    if (o->iterations) {
        /* half, as calibration takes: others live beside who opens it */
        kdf->memory_kib =
            o->memory_kib ? o->memory_kib
                          : (uint32_t)CLAMP(qcrypto_memory_available_kib() / 2,
                                            MIN_KIB, DEFAULT_MAX_KIB);
    }
    return 0;
}

int qcrypto_luks_kdf_plan(unsigned version, const char *hash,
                          const QCryptoBlockKdfOptions *options,
                          QCryptoLuksKdf *kdf, GError **errp)
{
    const char *type = options->kdf   ? options->kdf
                       : version == 1 ? "pbkdf2"
                                      : "argon2id";

    memset(kdf, 0, sizeof(*kdf));
    g_strlcpy(kdf->type, type, sizeof(kdf->type));
    kdf->nsalt = QCRYPTO_LUKS_SALT;
    if (!strcmp(type, "pbkdf2")) {
        return plan_pbkdf2(version, hash, options, kdf, errp);
    }
    if (qcrypto_argon2_algo_from_name(type) < 0) {
        return qcrypto_error_unknown(errp, "key derivation", type);
    }
    if (version == 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "LUKS1 takes pbkdf2, not %s", type);
    }
    return plan_argon2(type, options, kdf, errp);
}

int qcrypto_luks_kdf_measure(QCryptoLuksKdf *kdf,
                             const QCryptoBlockKdfOptions *options, size_t nout,
                             GError **errp)
{
    static const uint8_t key[16] = "a passphrase ...",
                         salt[QCRYPTO_LUKS_SALT] = "and a salt";
    const uint64_t ms =
        options->iter_time_ms ? options->iter_time_ms : DEFAULT_MS;
    const int argon2 = qcrypto_argon2_algo_from_name(kdf->type);

    if (kdf->iterations) {
        return 0;
    }
    if (argon2 >= 0) {
        QCryptoArgon2Cost cost = {.lanes = kdf->lanes};

        if (qcrypto_argon2_calibrate((QCryptoArgon2Algo)argon2, (unsigned)ms,
                                     options->memory_kib, nout, &cost,
                                     errp) < 0) {
            return -1;
        }
        kdf->iterations = MIN(cost.time, INT32_MAX);
        kdf->memory_kib = MAX(cost.memory_kib, MIN_KIB);
        return 0;
    }
    const uint64_t per_s = qcrypto_pbkdf2_count_iters(
        (QCryptoHashAlgo)qcrypto_hash_algo_from_name(kdf->hash), key,
        sizeof(key), salt, sizeof(salt), nout, errp);
    if (!per_s) {
        return -1;
    }
    /* both factors fit 32 bits */
    kdf->iterations =
        CLAMP(MIN(per_s, UINT32_MAX) * ms / 1000, MIN_ITERATIONS, INT32_MAX);
    return 0;
}

/* ---- ciphers ---- */

/* The usual key length, or the longest there is below it. */
static size_t usual_key_len(const QCryptoCipherSpec *spec)
{
    static const size_t lengths[] = {32, 24, 16, 8};
    const size_t keys = spec->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1;

    for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
        if (qcrypto_cipher_spec_get_alg(spec, lengths[i] * keys, NULL) >= 0) {
            return lengths[i] * keys;
        }
    }
    return lengths[0] * keys;
}

/* Does anybody offer it in constant time, usable here or not? */
static bool safe_row_exists(QCryptoCipherAlgo alg, QCryptoCipherMode mode)
{
    for (size_t i = 0; i < qcrypto_provider_table_len; i++) {
        const QCryptoProvider *p = qcrypto_provider_table[i].provider;

        for (size_t j = 0; p && j < p->nrows; j++) {
            const QCryptoRow *r = &p->rows[j];

            if (r->kind == QCRYPTO_KIND_CIPHER && r->alg == (int)alg &&
                r->mode == (int)mode &&
                !(r->flags & (QCRYPTO_ROW_LEAKY | QCRYPTO_ROW_BENCH))) {
                return true;
            }
        }
    }
    return false;
}

/*
 * A volume is for secrets: its cipher's time must not tell of them, unless
 * the provider was named by someone who may know why.
 */
static int check_leak(const QCryptoCipher *cipher, QCryptoCipherAlgo alg,
                      QCryptoCipherMode mode, GError **errp)
{
    const char *provider = qcrypto_cipher_get_provider(cipher);
    g_autofree char *name =
        g_strconcat(provider, ":", qcrypto_cipher_get_impl(cipher), NULL);
    const QCryptoCandidate *c = qcrypto_select_named(name, QCRYPTO_KIND_CIPHER,
                                                     (int)alg, (int)mode, NULL);

    if (!c || !(c->row->flags & QCRYPTO_ROW_LEAKY) ||
        !safe_row_exists(alg, mode)) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                         "a new volume with %s from %s is not supported: its "
                         "time depends on the key (table look-ups); name the "
                         "provider for this volume to use it all the same",
                         qcrypto_cipher_algo_name(alg), provider);
}

/* Both objects with a random key: what fails is said before anything is
 * written. */
static int try_cipher(const char *text, size_t key_len, const char *provider,
                      bool leak_ok, GError **errp)
{
    g_autoptr(QCryptoCipher) cipher = NULL;
    g_autoptr(QCryptoIVGen) ivgen = NULL;
    uint8_t key[QCRYPTO_LUKS_KEY_MAX];
    QCryptoCipherSpec spec;
    QCryptoCipherAlgo alg;

    /* no known cipher has a longer key than KEY_MAX */
    if (qcrypto_luks_cipher(text, key_len, &spec, &alg, errp) < 0 ||
        qcrypto_kernel_random(key, key_len, errp) < 0 ||
        qcrypto_luks_cipher_new(text, key, key_len, provider, &cipher, &ivgen,
                                errp) < 0) {
        return -1;
    }
    return leak_ok ? 0 : check_leak(cipher, alg, spec.mode, errp);
}

char *qcrypto_luks_new_cipher(const char *text, size_t *key_len,
                              const char *provider, bool leak_ok, GError **errp)
{
    QCryptoCipherSpec spec;

    if (qcrypto_cipher_spec_parse(text, &spec, errp) < 0) {
        return NULL;
    }
    if (!*key_len) {
        *key_len = usual_key_len(&spec);
    }
    g_autofree char *name = qcrypto_cipher_spec_to_string(&spec);
    if (strlen(name) >= QCRYPTO_LUKS_NAME_MAX) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "cipher specification '%s' is too long", text);
        return NULL;
    }
    if (qcrypto_cipher_spec_get_alg(&spec, *key_len, errp) < 0 ||
        try_cipher(name, *key_len, provider, leak_ok, errp) < 0) {
        return NULL;
    }
    return g_steal_pointer(&name);
}

/* ---- filling ---- */

int qcrypto_luks_slot_plan(unsigned version, const char *hash,
                           const char *cipher, size_t key_len,
                           const QCryptoBlockSlotOptions *o, bool leak_ok,
                           QCryptoLuksSlot *slot, GError **errp)
{
    memset(slot, 0, sizeof(*slot));
    slot->active = true;
    slot->priority = o->set_priority ? o->priority : 1;
    slot->key_len = key_len;
    slot->stripes = QCRYPTO_LUKS_STRIPES;
    g_strlcpy(slot->af_hash, hash, sizeof(slot->af_hash));
    if (slot->priority < 0 || slot->priority > 2) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a key slot's priority is 0 to 2, not %d",
                             slot->priority);
    }
    if (version == 1 && (o->set_priority || o->cipher || o->key_len)) {
        return qcrypto_luks1_has_no(errp, o->set_priority
                                              ? "priorities of key slots"
                                              : "own ciphers of key slots");
    }
    slot->area_key_len = o->cipher || o->key_len ? o->key_len : key_len;
    /* the volume's own stays as it is spelt there */
    g_autofree char *name = NULL;
    if (o->cipher) {
        name = qcrypto_luks_new_cipher(o->cipher, &slot->area_key_len, NULL,
                                       leak_ok, errp);
    } else if (try_cipher(cipher, slot->area_key_len, NULL, leak_ok, errp) ==
               0) {
        name = g_strdup(cipher);
    }
    if (!name) {
        g_prefix_error(errp, "key slot: ");
        return -1;
    }
    g_strlcpy(slot->area_cipher, name, sizeof(slot->area_cipher));
    return qcrypto_luks_kdf_plan(version, hash, &o->kdf, &slot->kdf, errp);
}

/* What was encrypted, decrypted and merged again: is it the key? */
static int prove(const QCryptoLuksSlot *s, const uint8_t *area_key,
                 const uint8_t *area, size_t len, const uint8_t *key,
                 QCryptoHashAlgo hash, GError **errp)
{
    uint8_t *again = qcrypto_alloc_unset(len);
    uint8_t merged[QCRYPTO_LUKS_KEY_MAX];
    int ret = -1;

    if (!again) {
        return qcrypto_error_memory(errp, "a key area", len / 1024, 0);
    }
    memcpy(again, area, len);
    if (qcrypto_luks_area_crypt(s->area_cipher, area_key, s->area_key_len, true,
                                again, len, errp) == 0 &&
        qcrypto_afsplit_decode(hash, s->key_len, s->stripes, again, merged,
                               errp) == 0) {
        ret =
            qcrypto_equal_ct(merged, key, s->key_len)
                ? 0
                : qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                                "the new key slot does not give the key back; "
                                "nothing was written");
    }
    qcrypto_wipe(merged, sizeof(merged));
    qcrypto_wipe_free(again, len);
    return ret;
}

static int fill_area(QCryptoLuksSlot *s, const uint8_t *pass, size_t npass,
                     const uint8_t *key, uint8_t *area, size_t len,
                     GError **errp)
{
    uint8_t area_key[QCRYPTO_LUKS_KEY_MAX];
    const int hash = qcrypto_luks_hash(s->af_hash, errp);
    int ret = -1;

    if (hash < 0 ||
        qcrypto_kernel_random(s->kdf.salt, s->kdf.nsalt, errp) < 0) {
        return -1;
    }
    if (qcrypto_luks_kdf(&s->kdf, pass, npass, area_key, s->area_key_len,
                         errp) == 0 &&
        qcrypto_afsplit_encode((QCryptoHashAlgo)hash, s->key_len, s->stripes,
                               key, area, errp) == 0 &&
        qcrypto_luks_area_crypt(s->area_cipher, area_key, s->area_key_len,
                                false, area, len, errp) == 0) {
        ret = prove(s, area_key, area, len, key, (QCryptoHashAlgo)hash, errp);
    }
    qcrypto_wipe(area_key, sizeof(area_key));
    return ret;
}

int qcrypto_luks_slot_build(QCryptoLuksSlot *slot, const uint8_t *pass,
                            size_t npass, const uint8_t *key, uint8_t **area,
                            size_t *len, GError **errp)
{
    *len = qcrypto_luks_area_len(slot->key_len, slot->stripes);
    *area = qcrypto_alloc(*len);
    if (!*area) {
        return qcrypto_error_memory(errp, "a key area", *len / 1024, 0);
    }
    if (fill_area(slot, pass, npass, key, *area, *len, errp) < 0) {
        qcrypto_wipe_free(*area, *len);
        *area = NULL;
        return -1;
    }
    return 0;
}

static int put_area(QCryptoBlockIO *io, const QCryptoLuksSlot *slot,
                    const uint8_t *area, size_t len, GError **errp)
{
    return qcrypto_luks_put(io, slot->area_offset, area, len, errp) < 0
               ? -1
               : qcrypto_luks_flush(io, errp);
}

int qcrypto_luks_slot_store(QCryptoLuksSlot *slot, QCryptoBlockIO *io,
                            const uint8_t *pass, size_t npass,
                            const uint8_t *key, GError **errp)
{
    uint8_t *area;
    size_t len;

    if (qcrypto_luks_slot_build(slot, pass, npass, key, &area, &len, errp) <
        0) {
        return -1;
    }
    const int ret = put_area(io, slot, area, len, errp);
    qcrypto_wipe_free(area, len);
    return ret;
}

/* ---- changes of an open volume ---- */

/* A change of slots under way. */
typedef struct Change {
    QCryptoBlock *block;
    const QCryptoLuksEditor *editor;
    QCryptoBlockIO *io;
} Change;

static int begin(Change *c, QCryptoBlock *block, GError **errp)
{
    if (qcrypto_luks_begin(block, errp) < 0) {
        return -1;
    }
    *c = (Change){block, qcrypto_luks_editor(block->luks->version, NULL),
                  block->header};
    return 0;
}

static int finish(Change *c, int ret)
{
    qcrypto_luks_end(c->block);
    return ret;
}

static int commit_slot(Change *c, unsigned n, const QCryptoLuksSlot *slot,
                       unsigned digest, GError **errp)
{
    QCryptoLuks *next = c->editor->copy(c->block->luks, errp);

    if (!next) {
        return -1;
    }
    if (c->editor->put_slot(next, n, slot, digest, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return qcrypto_luks_commit(c->block, next, errp);
}

/* The same with nothing written: would the header hold it? */
static int try_slot(Change *c, unsigned n, const QCryptoLuksSlot *slot,
                    unsigned digest, GError **errp)
{
    QCryptoLuks *next = c->editor->copy(c->block->luks, errp);
    int ret = -1;

    if (next) {
        ret = c->editor->put_slot(next, n, slot, digest, errp);
        qcrypto_luks_free(next);
    }
    return ret;
}

static int drop(Change *c, unsigned n, GError **errp)
{
    const QCryptoLuksSlot *s = &c->block->luks->slots[n];

    if (qcrypto_luks_wipe(c->io, s->area_offset, s->area_size, true, errp) <
        0) {
        return -1;
    }
    QCryptoLuks *next = c->editor->copy(c->block->luks, errp);
    if (!next) {
        return -1;
    }
    if (c->editor->drop_slot(next, n, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return qcrypto_luks_commit(c->block, next, errp);
}

static bool is_free(const QCryptoLuks *luks, unsigned n)
{
    return !luks->slots[n].active && !luks->slots[n].foreign;
}

/* The first free slot, or max_slots. */
static unsigned first_free(const QCryptoLuks *luks)
{
    unsigned n = 0;

    while (n < luks->max_slots && !is_free(luks, n)) {
        n++;
    }
    return n;
}

static int check_slot_number(const QCryptoLuks *luks, unsigned slot,
                             GError **errp)
{
    if (slot < luks->max_slots) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "a LUKS%u volume has the key slots 0 to %u, not %u",
                         luks->version, luks->max_slots - 1, slot);
}

static int check_active(const QCryptoLuks *luks, unsigned slot, GError **errp)
{
    if (check_slot_number(luks, slot, errp) < 0) {
        return -1;
    }
    return luks->slots[slot].active
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "key slot %u is not active", slot);
}

/*
 * The volume key, and the digest that recognises it: what was kept may belong
 * to a header that has been replaced.  -1 with an error.
 */
static int find_key(const QCryptoBlock *block, const uint8_t **key,
                    size_t *nkey, GError **errp)
{
    const QCryptoLuksDigest *d = qcrypto_luks_volume_digest(block->luks);
    g_autoptr(GError) why = NULL;

    if (!block->volume_key) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the volume was opened without keeping its key");
    }
    *key = qcrypto_secret_get(block->volume_key, nkey);
    if (d && qcrypto_luks_digest_matches(d, *key, *nkey, &why)) {
        return (int)(d - block->luks->digests);
    }
    if (why) {
        g_propagate_error(errp, g_steal_pointer(&why));
        return -1;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_BUSY,
                         "another program has replaced the header since it "
                         "was read: its key is another one");
}

/* The cipher of the data, which is that of key areas too. */
static const char *data_cipher(const QCryptoLuks *luks)
{
    for (size_t i = 0; i < luks->nsegments; i++) {
        if (!luks->segments[i].linear) {
            return luks->segments[i].cipher;
        }
    }
    return "aes-xts-plain64";
}

/* ---- adding ---- */

static int choose_slot(const QCryptoLuks *luks,
                       const QCryptoBlockSlotOptions *o, unsigned *n,
                       GError **errp)
{
    *n = o->use_slot ? o->slot : first_free(luks);
    if (o->use_slot && check_slot_number(luks, *n, errp) < 0) {
        return -1;
    }
    if (*n == luks->max_slots) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "all %u key slots are in use", luks->max_slots);
    }
    return is_free(luks, *n)
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "key slot %u is in use; it has to be removed "
                               "before another one takes its place",
                               *n);
}

static int no_room(const QCryptoLuksSlot *s, GError **errp)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "the header has no room for another key area of "
                         "%" U64 " bytes",
                         s->area_size);
}

static int add(Change *c, const QCryptoSecret *passphrase,
               const QCryptoBlockSlotOptions *o, unsigned *slot_out,
               GError **errp)
{
    const QCryptoLuks *luks = c->block->luks;
    const uint8_t *key, *pass;
    size_t nkey, npass;
    QCryptoLuksSlot s;
    unsigned n;

    if (choose_slot(luks, o, &n, errp) < 0) {
        return -1;
    }
    const int digest = find_key(c->block, &key, &nkey, errp);
    if (digest < 0 || qcrypto_luks_slot_plan(
                          luks->version, luks->digests[digest].hash,
                          data_cipher(luks), nkey, o, true, &s, errp) < 0) {
        return -1;
    }
    if (!c->editor->place(luks, n, &s)) {
        return no_room(&s, errp);
    }
    pass = qcrypto_secret_get(passphrase, &npass);
    if (qcrypto_luks_kdf_measure(&s.kdf, &o->kdf, s.area_key_len, errp) < 0 ||
        try_slot(c, n, &s, (unsigned)digest, errp) < 0 ||
        qcrypto_luks_slot_store(&s, c->io, pass, npass, key, errp) < 0 ||
        commit_slot(c, n, &s, (unsigned)digest, errp) < 0) {
        return -1;
    }
    if (slot_out) {
        *slot_out = n;
    }
    return 0;
}

static const QCryptoBlockSlotOptions no_options;

int qcrypto_block_add_slot(QCryptoBlock *block, const QCryptoSecret *passphrase,
                           const QCryptoBlockSlotOptions *options,
                           unsigned *slot_out, GError **errp)
{
    Change c;

    if (!passphrase) {
        return qcrypto_error_null(errp, "passphrase");
    }
    if (begin(&c, block, errp) < 0) {
        return -1;
    }
    return finish(&c, add(&c, passphrase, options ? options : &no_options,
                          slot_out, errp));
}

/* ---- changing ---- */

/* New material that waits in memory. */
typedef struct Material {
    QCryptoLuksSlot slot;
    uint8_t *area;
    size_t len;
    unsigned digest;
} Material;

static int put_and_commit(Change *c, unsigned n, const Material *m,
                          GError **errp)
{
    return put_area(c->io, &m->slot, m->area, m->len, errp) < 0
               ? -1
               : commit_slot(c, n, &m->slot, m->digest, errp);
}

/* Slot n moves to a new place, and its old one is overwritten. */
static int change_by_moving(Change *c, unsigned n, const Material *m,
                            GError **errp)
{
    const QCryptoLuksSlot old = c->block->luks->slots[n];

    return put_and_commit(c, n, m, errp) < 0
               ? -1
               : qcrypto_luks_wipe(c->io, old.area_offset, old.area_size, true,
                                   errp);
}

/*
 * Another slot has the new passphrase while slot n is written anew.  Both get
 * the same material: a key area does not know where it lies.
 */
static int change_by_way_of(Change *c, unsigned other, unsigned n, Material *m,
                            GError **errp)
{
    const QCryptoLuksSlot old = c->block->luks->slots[n];

    if (put_and_commit(c, other, m, errp) < 0) {
        return -1;
    }
    m->slot.area_offset = old.area_offset;
    m->slot.area_size = old.area_size;
    return put_and_commit(c, n, m, errp) < 0 ? -1 : drop(c, other, errp);
}

static int change_in_place(Change *c, unsigned n, Material *m, GError **errp)
{
    const QCryptoLuksSlot *old = &c->block->luks->slots[n];

    if (old->area_size < m->len) {
        return no_room(&m->slot, errp);
    }
    m->slot.area_offset = old->area_offset;
    m->slot.area_size = old->area_size;
    return put_and_commit(c, n, m, errp);
}

static int change_material(Change *c, unsigned n, Material *m, GError **errp)
{
    const QCryptoLuks *luks = c->block->luks;
    const unsigned other = first_free(luks);

    if (c->editor->place(luks, n, &m->slot)) {
        return change_by_moving(c, n, m, errp);
    }
    if (other < luks->max_slots && c->editor->place(luks, other, &m->slot)) {
        return change_by_way_of(c, other, n, m, errp);
    }
    return change_in_place(c, n, m, errp);
}

/* What the options leave open stays as the slot has it. */
static QCryptoBlockSlotOptions options_of(const QCryptoLuksSlot *old,
                                          const QCryptoBlockSlotOptions *o)
{
    QCryptoBlockSlotOptions full = *o;

    if (!full.kdf.kdf) {
        full.kdf.kdf = old->kdf.type;
        if (!full.kdf.hash && *old->kdf.hash) {
            full.kdf.hash = old->kdf.hash;
        }
    }
    return full;
}

static int change(Change *c, unsigned n, const QCryptoSecret *passphrase,
                  const QCryptoBlockSlotOptions *options, GError **errp)
{
    const QCryptoLuks *luks = c->block->luks;
    const uint8_t *key, *pass;
    size_t nkey, npass;
    Material m;

    if (check_active(luks, n, errp) < 0) {
        return -1;
    }
    if (options->use_slot && options->slot != n) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a changed key slot keeps its number: %u, not %u",
                             n, options->slot);
    }
    if (!qcrypto_luks_opens_volume(luks, n)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "key slot %u does not hold the volume key", n);
    }
    const QCryptoBlockSlotOptions o = options_of(&luks->slots[n], options);
    const int digest = find_key(c->block, &key, &nkey, errp);
    if (digest < 0 ||
        qcrypto_luks_slot_plan(luks->version, luks->digests[digest].hash,
                               data_cipher(luks), nkey, &o, true, &m.slot,
                               errp) < 0) {
        return -1;
    }
    if (!o.set_priority) {
        m.slot.priority = luks->slots[n].priority;
    }
    m.digest = (unsigned)digest;
    pass = qcrypto_secret_get(passphrase, &npass);
    if (qcrypto_luks_kdf_measure(&m.slot.kdf, &o.kdf, m.slot.area_key_len,
                                 errp) < 0 ||
        qcrypto_luks_slot_build(&m.slot, pass, npass, key, &m.area, &m.len,
                                errp) < 0) {
        return -1;
    }
    const int ret = change_material(c, n, &m, errp);
    qcrypto_wipe_free(m.area, m.len);
    return ret;
}

int qcrypto_block_change_slot(QCryptoBlock *block, unsigned slot,
                              const QCryptoSecret *passphrase,
                              const QCryptoBlockSlotOptions *options,
                              unsigned *slot_out, GError **errp)
{
    Change c;

    if (!passphrase) {
        return qcrypto_error_null(errp, "passphrase");
    }
    if (begin(&c, block, errp) < 0) {
        return -1;
    }
    const int ret = finish(&c, change(&c, slot, passphrase,
                                      options ? options : &no_options, errp));
    if (ret == 0 && slot_out) {
        *slot_out = slot;
    }
    return ret;
}

/* ---- removing ---- */

/* Bit n: slot n opens the volume. */
static uint32_t openers(const QCryptoLuks *luks)
{
    uint32_t mask = 0;

    for (unsigned i = 0; i < luks->max_slots; i++) {
        mask |= (uint32_t)qcrypto_luks_opens_volume(luks, i) << i;
    }
    return mask;
}

static int check_not_last(const QCryptoLuks *luks, uint32_t going, bool force,
                          GError **errp)
{
    const uint32_t all = openers(luks);

    if (force || !(going & all) || (all & ~going)) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "no key slot would be left that opens the volume: "
                         "without one its data is lost (force does it)");
}

static int remove_slots(Change *c, uint32_t going, bool force, GError **errp)
{
    if (check_not_last(c->block->luks, going, force, errp) < 0) {
        return -1;
    }
    for (unsigned i = 0; i < c->block->luks->max_slots; i++) {
        if (going >> i & 1 && drop(c, i, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

int qcrypto_block_remove_slot(QCryptoBlock *block, unsigned slot, bool force,
                              GError **errp)
{
    Change c;

    if (begin(&c, block, errp) < 0) {
        return -1;
    }
    return finish(&c, check_active(block->luks, slot, errp) < 0
                          ? -1
                          : remove_slots(&c, UINT32_C(1) << slot, force, errp));
}

/* ---- priority ---- */

static int set_priority(Change *c, unsigned slot, int priority, GError **errp)
{
    if (check_active(c->block->luks, slot, errp) < 0) {
        return -1;
    }
    if (!c->editor->put_priority) {
        return qcrypto_luks1_has_no(errp, "priorities of key slots");
    }
    if (priority < 0 || priority > 2) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a key slot's priority is 0 to 2, not %d",
                             priority);
    }
    QCryptoLuks *next = c->editor->copy(c->block->luks, errp);
    if (!next) {
        return -1;
    }
    if (c->editor->put_priority(next, slot, priority, errp) < 0) {
        qcrypto_luks_free(next);
        return -1;
    }
    return qcrypto_luks_commit(c->block, next, errp);
}

int qcrypto_block_set_priority(QCryptoBlock *block, unsigned slot, int priority,
                               GError **errp)
{
    Change c;

    if (begin(&c, block, errp) < 0) {
        return -1;
    }
    return finish(&c, set_priority(&c, slot, priority, errp));
}

/* ---- QEMU's shape of the same ---- */

static int erase(Change *c, const QCryptoBlockAmendOptions *o, bool force,
                 GError **errp)
{
    const QCryptoLuks *luks = c->block->luks;
    uint32_t going = 0;

    if (o->new_passphrase) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a new passphrase is of no use to an erased key "
                             "slot");
    }
    if (!o->use_slot && !o->old_passphrase) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "to erase key slots a slot or the old passphrase "
                             "is needed");
    }
    if (o->use_slot) {
        if (check_active(luks, o->slot, errp) < 0) {
            return -1;
        }
        going = UINT32_C(1) << o->slot;
    }
    if (o->old_passphrase &&
        qcrypto_luks_opened_slots(luks, c->io, o->old_passphrase,
                                  o->use_slot ? going : openers(luks), &going,
                                  errp) < 0) {
        return -1;
    }
    return remove_slots(c, going, force, errp);
}

static int activate(Change *c, const QCryptoBlockAmendOptions *o, bool force,
                    GError **errp)
{
    const QCryptoBlockSlotOptions slot = {
        .kdf.iter_time_ms = o->iter_time_ms,
        .use_slot = o->use_slot,
        .slot = o->slot,
    };

    if (!o->new_passphrase) {
        return qcrypto_error_null(errp, "new_passphrase");
    }
    if (force && o->use_slot && o->slot < c->block->luks->max_slots &&
        c->block->luks->slots[o->slot].active) {
        return change(c, o->slot, o->new_passphrase, &slot, errp);
    }
    return add(c, o->new_passphrase, &slot, NULL, errp);
}

int qcrypto_block_amend_options(QCryptoBlock *block,
                                const QCryptoBlockAmendOptions *options,
                                bool force, GError **errp)
{
    Change c;

    if (!options) {
        return qcrypto_error_null(errp, "options");
    }
    if (begin(&c, block, errp) < 0) {
        return -1;
    }
    switch (options->state) {
    case QCRYPTO_BLOCK_SLOT_STATE_ACTIVE:
        return finish(&c, activate(&c, options, force, errp));
    case QCRYPTO_BLOCK_SLOT_STATE_INACTIVE:
        return finish(&c, erase(&c, options, force, errp));
    }
    return finish(&c, qcrypto_error_unknown_id(errp, "state of a key slot",
                                               (int)options->state));
}

/* ---- the key itself ---- */

QCryptoSecret *qcrypto_block_get_volume_key(const QCryptoBlock *block,
                                            GError **errp)
{
    size_t n;

    if (!block) {
        qcrypto_error_null(errp, "block");
        return NULL;
    }
    if (!block->volume_key) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "the volume was opened without keeping its key");
        return NULL;
    }
    const uint8_t *key = qcrypto_secret_get(block->volume_key, &n);
    return qcrypto_secret_new_from_bytes(key, n, errp);
}
