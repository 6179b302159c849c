/*
 * From a passphrase to the volume key, at a price that is known before
 *
 * Key slots say themselves how much work they want: a header can ask for
 * hours, or for all memory there is.  So each slot is priced first: memory
 * against what the process may have, time by a sample of a few milliseconds
 * of the same derivation on this machine.  Slots whose price is beyond doubt
 * are not sampled.
 *
 * Slots that can not be tried (too costly, a hash that is missing, an area
 * that can not be read) are passed over.  When no other one opens, it is
 * their error that counts: the passphrase may be the right one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/hash.h>
#include <qcrypto/kdf.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/block/luks.h"
#include "crypto/core/kdf.h"

#define U64 G_GUINT64_FORMAT

#define DEFAULT_LIMIT_MS 60000
/* of a measurement; three are taken */
#define SAMPLE_NS 2000000
/* no machine is slower than this, in block iterations and KiB a millisecond */
#define SLOWEST_PBKDF2 5
#define SLOWEST_ARGON2 10
/* memory and lanes of a sample of Argon2, beyond which time is in proportion */
#define SAMPLE_KIB   16384
#define SAMPLE_LANES 256
/* Argon2 takes 8 KiB a lane or more */
#define LANE_KIB 8

typedef struct Budget {
    uint64_t limit_ms;
    uint64_t memory_kib; /* 0: what there is */
    double spent_ms;     /* as predicted */
} Budget;

/* ---- features ---- */

static int lacking(GError **errp, const char *kind, const char *name)
{
    g_autofree char *what = g_strdup_printf("%s '%s'", kind, name);

    return qcrypto_error_unsupported(errp, what,
                                     "no backend of this build offers it");
}

static int need_hash(const char *name, bool (*supports)(QCryptoHashAlgo),
                     const char *kind, GError **errp)
{
    const int hash = qcrypto_luks_hash(name, errp);

    if (hash < 0) {
        return -1;
    }
    return supports((QCryptoHashAlgo)hash) ? 0 : lacking(errp, kind, name);
}

static int need_cipher(const char *text, size_t nkey, GError **errp)
{
    QCryptoCipherSpec spec;
    QCryptoCipherAlgo alg;

    if (qcrypto_luks_cipher(text, nkey, &spec, &alg, errp) < 0) {
        return -1;
    }
    return qcrypto_cipher_supports(alg, spec.mode)
               ? 0
               : lacking(errp, "cipher", text);
}

static int need_kdf(const QCryptoLuksKdf *kdf, GError **errp)
{
    const int argon2 = qcrypto_argon2_algo_from_name(kdf->type);

    if (argon2 >= 0) {
        return qcrypto_argon2_supports((QCryptoArgon2Algo)argon2)
                   ? 0
                   : lacking(errp, "key derivation", kdf->type);
    }
    if (strcmp(kdf->type, "pbkdf2")) {
        return lacking(errp, "key derivation", kdf->type);
    }
    return need_hash(kdf->hash, qcrypto_pbkdf2_supports, "PBKDF2 with", errp);
}

static int slot_features(const QCryptoLuks *luks, unsigned slot, GError **errp)
{
    const QCryptoLuksSlot *s = &luks->slots[slot];
    const QCryptoLuksDigest *d = qcrypto_luks_slot_digest(luks, slot);

    if (need_kdf(&s->kdf, errp) < 0 ||
        need_hash(s->af_hash, qcrypto_hash_supports, "hash", errp) < 0 ||
        need_cipher(s->area_cipher, s->area_key_len, errp) < 0) {
        return -1;
    }
    return d ? need_hash(d->hash, qcrypto_pbkdf2_supports, "PBKDF2 with", errp)
             : 0;
}

static int data_features(const QCryptoLuks *luks, GError **errp)
{
    for (size_t i = 0; i < luks->nsegments; i++) {
        const QCryptoLuksSegment *s = &luks->segments[i];

        if (!s->linear && !qcrypto_luks_cipher_is_null(s->cipher) &&
            luks->key_len && need_cipher(s->cipher, luks->key_len, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

const QCryptoLuksDigest *qcrypto_luks_volume_digest(const QCryptoLuks *luks)
{
    for (size_t i = 0; i < QCRYPTO_LUKS_DIGESTS; i++) {
        if (luks->digests[i].used && luks->digests[i].segments) {
            return &luks->digests[i];
        }
    }
    return NULL;
}

bool qcrypto_luks_opens_volume(const QCryptoLuks *luks, unsigned slot)
{
    const QCryptoLuksDigest *d = qcrypto_luks_volume_digest(luks);

    return luks->slots[slot].active && d && d->slots >> slot & 1;
}

int qcrypto_luks_check_features(const QCryptoLuks *luks, GError **errp)
{
    g_autoptr(GError) first = NULL;

    if (data_features(luks, errp) < 0) {
        return -1;
    }
    for (unsigned i = 0; i < luks->max_slots; i++) {
        if (!qcrypto_luks_opens_volume(luks, i)) {
            continue;
        }
        g_autoptr(GError) why = NULL;
        if (slot_features(luks, i, &why) == 0) {
            return 0;
        }
        if (!first) {
            g_prefix_error(&why, "key slot %u: ", i);
            first = g_steal_pointer(&why);
        }
    }
    if (first) {
        g_propagate_error(errp, g_steal_pointer(&first));
        return -1;
    }
    return 0;
}

/* ---- prices ---- */

typedef struct Pbkdf2Sample {
    QCryptoHashAlgo hash;
    uint8_t *out;
    size_t nout;
} Pbkdf2Sample;

static int pbkdf2_work(uint64_t cost, void *opaque, GError **errp)
{
    static const uint8_t any[32];
    const Pbkdf2Sample *s = opaque;

    return qcrypto_pbkdf2(s->hash, any, sizeof(any), any, sizeof(any), cost,
                          s->out, s->nout, errp);
}

typedef struct Argon2Sample {
    QCryptoArgon2Algo alg;
    uint32_t lanes, least_kib, most_kib;
} Argon2Sample;

/* As many lanes as a sample may have, each with the memory of the real ones. */
static Argon2Sample argon2_sample(QCryptoArgon2Algo alg,
                                  const QCryptoLuksKdf *kdf)
{
    const uint32_t lanes = MIN(kdf->lanes, SAMPLE_LANES);
    const uint64_t share = (uint64_t)kdf->memory_kib * lanes / kdf->lanes;

    return (Argon2Sample){
        .alg = alg,
        .lanes = lanes,
        .least_kib = LANE_KIB * lanes,
        .most_kib = (uint32_t)CLAMP(share, LANE_KIB * lanes, SAMPLE_KIB),
    };
}

/* amount: KiB times passes */
static int argon2_work(uint64_t amount, void *opaque, GError **errp)
{
    static const uint8_t any[32];
    const Argon2Sample *s = opaque;
    const uint64_t memory = CLAMP(amount, s->least_kib, s->most_kib);
    const QCryptoArgon2Cost cost = {
        .time = (uint32_t)CLAMP(amount / memory, 1, UINT32_MAX),
        .memory_kib = (uint32_t)memory,
        .lanes = s->lanes,
    };
    uint8_t out[32];

    return qcrypto_argon2(s->alg, any, sizeof(any), any, sizeof(any), &cost,
                          out, sizeof(out), errp);
}

/* How long work takes here, in milliseconds; 0: not worth measuring. */
static int predict(QCryptoCostFunc *func, void *opaque, uint64_t first,
                   uint64_t work, double *ms, GError **errp)
{
    const uint64_t rate = qcrypto_rate(
        &(QCryptoRateProbe){
            .work = func,
            .opaque = opaque,
            .first = MIN(first, work),
            .max = work,
            .sample_ns = SAMPLE_NS,
        },
        errp);

    *ms = rate ? (double)work * 1000 / (double)rate : 0;
    return rate ? 0 : -1;
}

/* "4294967295 iterations of PBKDF2 take about 1200 s here, the limit is 60 s" */
static int charge(Budget *b, double ms, const char *what, GError **errp)
{
    if (b->spent_ms + ms > (double)b->limit_ms) {
        return qcrypto_error(errp, QCRYPTO_ERROR_TOO_COSTLY,
                             "%s would take about %.1f s here%s, the limit is "
                             "%.1f s",
                             what, ms / 1000,
                             b->spent_ms > 0 ? " besides the slots before it"
                                             : "",
                             (double)b->limit_ms / 1000);
    }
    b->spent_ms += ms;
    return 0;
}

static int charge_pbkdf2(Budget *b, const char *name, uint64_t iterations,
                         size_t nout, GError **errp)
{
    const int hash = qcrypto_luks_hash(name, errp);
    uint8_t out[QCRYPTO_LUKS_KEY_MAX];
    double ms;

    if (hash < 0) {
        return -1;
    }
    const size_t len = qcrypto_hash_digest_len((QCryptoHashAlgo)hash);
    const uint64_t blocks = (nout - 1) / len + 1;
    /* iterations < 2^32, blocks at most 512 / 16 */
    if (iterations * blocks <= b->limit_ms * SLOWEST_PBKDF2) {
        return 0;
    }
    Pbkdf2Sample s = {(QCryptoHashAlgo)hash, out, nout};
    if (predict(pbkdf2_work, &s, MAX(1000 / blocks, 1), iterations, &ms, errp) <
        0) {
        return -1;
    }
    g_autofree char *what = g_strdup_printf(
        "PBKDF2 with %s and %" U64 " iterations", name, iterations);
    return charge(b, ms, what, errp);
}

static int charge_argon2(Budget *b, QCryptoArgon2Algo alg,
                         const QCryptoLuksKdf *kdf, GError **errp)
{
    const uint64_t available = qcrypto_memory_available_kib();
    /* both are below 2^32 */
    const uint64_t work = (uint64_t)kdf->memory_kib * kdf->iterations;
    double ms;

    if (b->memory_kib && kdf->memory_kib > b->memory_kib) {
        return qcrypto_error(errp, QCRYPTO_ERROR_TOO_COSTLY,
                             "%s needs %u KiB, the limit is %" U64 " KiB",
                             kdf->type, kdf->memory_kib, b->memory_kib);
    }
    if (kdf->memory_kib > available) {
        return qcrypto_error_memory(errp, kdf->type, kdf->memory_kib,
                                    available);
    }
    if (work <= b->limit_ms * SLOWEST_ARGON2) {
        return 0;
    }
    Argon2Sample s = argon2_sample(alg, kdf);
    if (predict(argon2_work, &s, MAX(1024, s.least_kib), work, &ms, errp) < 0) {
        return -1;
    }
    g_autofree char *what =
        g_strdup_printf("%s with %u KiB and %" U64 " passes", kdf->type,
                        kdf->memory_kib, kdf->iterations);
    return charge(b, ms, what, errp);
}

static int charge_digest(Budget *b, const QCryptoLuksDigest *d, GError **errp)
{
    if (charge_pbkdf2(b, d->hash, d->iterations, d->ndigest, errp) < 0) {
        g_prefix_error(errp, "the volume key's digest: ");
        return -1;
    }
    return 0;
}

static int charge_slot(Budget *b, const QCryptoLuks *luks, unsigned slot,
                       GError **errp)
{
    const QCryptoLuksSlot *s = &luks->slots[slot];
    const int argon2 = qcrypto_argon2_algo_from_name(s->kdf.type);
    const QCryptoLuksDigest *d = qcrypto_luks_slot_digest(luks, slot);
    const int ret =
        argon2 >= 0 ? charge_argon2(b, (QCryptoArgon2Algo)argon2, &s->kdf, errp)
                    : charge_pbkdf2(b, s->kdf.hash, s->kdf.iterations,
                                    s->area_key_len, errp);

    return ret == 0 && d ? charge_digest(b, d, errp) : ret;
}

/* ---- slots ---- */

static int try_slot(const QCryptoLuks *luks, QCryptoBlockIO *header,
                    unsigned slot, const QCryptoSecret *passphrase, Budget *b,
                    uint8_t *key, GError **errp)
{
    size_t npass;
    const uint8_t *pass = qcrypto_secret_get(passphrase, &npass);

    if (slot_features(luks, slot, errp) < 0 ||
        charge_slot(b, luks, slot, errp) < 0) {
        g_prefix_error(errp, "key slot %u: ", slot);
        return -1;
    }
    return qcrypto_luks_slot_unlock(luks, header, slot, pass, npass, key, errp);
}

int qcrypto_luks_opened_slots(const QCryptoLuks *luks, QCryptoBlockIO *header,
                              const QCryptoSecret *passphrase, uint32_t mask,
                              uint32_t *opened, GError **errp)
{
    Budget budget = {.limit_ms = DEFAULT_LIMIT_MS};
    uint8_t key[QCRYPTO_LUKS_KEY_MAX];

    *opened = 0;
    for (unsigned i = 0; i < luks->max_slots; i++) {
        g_autoptr(GError) why = NULL;

        if (!(mask >> i & 1)) {
            continue;
        }
        if (try_slot(luks, header, i, passphrase, &budget, key, &why) == 0) {
            qcrypto_wipe(key, sizeof(key));
            *opened |= UINT32_C(1) << i;
        } else if (!g_error_matches(why, QCRYPTO_ERROR,
                                    QCRYPTO_ERROR_WRONG_PASSPHRASE)) {
            g_propagate_error(errp, g_steal_pointer(&why));
            return -1;
        }
    }
    return *opened ? 0
                   : qcrypto_error(errp, QCRYPTO_ERROR_WRONG_PASSPHRASE,
                                   "the passphrase opens no such key slot");
}

static int one_slot(const QCryptoLuks *luks, QCryptoBlockIO *header,
                    const QCryptoBlockOpenOptions *o, Budget *b, uint8_t *key,
                    GError **errp)
{
    if (o->slot >= luks->max_slots || !luks->slots[o->slot].active) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "key slot %u is not active", o->slot);
    }
    if (!qcrypto_luks_opens_volume(luks, o->slot)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "key slot %u is unbound: its key is not that of "
                             "the volume",
                             o->slot);
    }
    return try_slot(luks, header, o->slot, o->passphrase, b, key, errp) < 0
               ? -1
               : (int)o->slot;
}

/* The number of the slot that opened, or -1. */
static int all_slots(const QCryptoLuks *luks, QCryptoBlockIO *header,
                     const QCryptoSecret *passphrase, Budget *b, uint8_t *key,
                     GError **errp)
{
    g_autoptr(GError) untried = NULL;
    unsigned tried = 0;

    for (int priority = 2; priority > 0; priority--) {
        for (unsigned i = 0; i < luks->max_slots; i++) {
            g_autoptr(GError) why = NULL;

            if (luks->slots[i].priority != priority ||
                !qcrypto_luks_opens_volume(luks, i)) {
                continue;
            }
            if (try_slot(luks, header, i, passphrase, b, key, &why) == 0) {
                return (int)i;
            }
            tried++;
            if (!untried && !g_error_matches(why, QCRYPTO_ERROR,
                                             QCRYPTO_ERROR_WRONG_PASSPHRASE)) {
                untried = g_steal_pointer(&why);
            }
        }
    }
    if (untried) {
        g_propagate_error(errp, g_steal_pointer(&untried));
        return -1;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_WRONG_PASSPHRASE,
                         tried ? "no key slot opens with this passphrase"
                               : "no key slot is active: no passphrase opens "
                                 "this volume");
}

static int given_key(const QCryptoLuks *luks, const QCryptoSecret *volume_key,
                     Budget *b, uint8_t *key, size_t *nkey, GError **errp)
{
    const QCryptoLuksDigest *d = qcrypto_luks_volume_digest(luks);
    g_autoptr(GError) why = NULL;
    size_t n;
    const uint8_t *bytes = qcrypto_secret_get(volume_key, &n);

    if (!d) {
        return QCRYPTO_LUKS_CORRUPT(errp, "no digest of the volume key");
    }
    if (!n || n > QCRYPTO_LUKS_KEY_MAX ||
        (luks->key_len && n != luks->key_len)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_WRONG_PASSPHRASE,
                             "the volume key given has %zu bytes, not %zu", n,
                             luks->key_len);
    }
    if (need_hash(d->hash, qcrypto_pbkdf2_supports, "PBKDF2 with", errp) < 0 ||
        charge_digest(b, d, errp) < 0) {
        return -1;
    }
    if (!qcrypto_luks_digest_matches(d, bytes, n, &why)) {
        if (why) {
            g_propagate_error(errp, g_steal_pointer(&why));
            return -1;
        }
        return qcrypto_error(errp, QCRYPTO_ERROR_WRONG_PASSPHRASE,
                             "the volume key given is not that of this volume");
    }
    memcpy(key, bytes, n);
    *nkey = n;
    return 0;
}

int qcrypto_luks_unlock(const QCryptoLuks *luks, QCryptoBlockIO *header,
                        const QCryptoBlockOpenOptions *o, uint8_t *key,
                        size_t *nkey, int *slot, GError **errp)
{
    Budget budget = {
        .limit_ms =
            o->max_unlock_time_ms ? o->max_unlock_time_ms : DEFAULT_LIMIT_MS,
        .memory_kib = o->max_unlock_memory_kib,
    };

    /* products with the limit stay below 2^64 */
    budget.limit_ms = MIN(budget.limit_ms, UINT32_MAX * UINT64_C(1000));
    *slot = -1;
    /* data that can not be read is not worth a derivation */
    if (data_features(luks, errp) < 0) {
        return -1;
    }
    if (o->volume_key) {
        return given_key(luks, o->volume_key, &budget, key, nkey, errp);
    }
    *slot = o->use_slot
                ? one_slot(luks, header, o, &budget, key, errp)
                : all_slots(luks, header, o->passphrase, &budget, key, errp);
    if (*slot < 0) {
        return -1;
    }
    *nkey = luks->slots[*slot].key_len;
    return 0;
}
