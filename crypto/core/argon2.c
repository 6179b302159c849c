/*
 * The Argon2 front end
 *
 * Parameters are held to the ranges of RFC 9106, 3.1, and the memory to what
 * is to be had, before any row sees them; a library that runs out of memory
 * all the same gives the same error.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/kdf.h"
#include "crypto/core/select.h"

#define MIN_SALT         8
#define MIN_OUT          4
#define MAX_LANES        0xffffff
#define MIN_KIB_PER_LANE 8

/* What calibration takes where it was not told. */
#define DEFAULT_PASSES  4
#define DEFAULT_LANES   4
#define DEFAULT_MAX_KIB (1024 * 1024)

typedef struct Request {
    const char *provider; /* NULL: selection */
    QCryptoArgon2Algo alg;
    const uint8_t *key;
    size_t nkey;
    const uint8_t *salt;
    size_t nsalt;
    size_t nout;
    const uint8_t *secret;
    size_t nsecret;
    const uint8_t *ad;
    size_t nad;
} Request;

bool qcrypto_argon2_supports(QCryptoArgon2Algo alg)
{
    return qcrypto_select_usable(QCRYPTO_KIND_ARGON2, (int)alg, -1, 0, NULL) !=
           NULL;
}

static const QCryptoAlg *find_alg(QCryptoArgon2Algo alg, GError **errp)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_ARGON2, (int)alg);

    if (!a) {
        qcrypto_error_unknown_id(errp, "Argon2 variant", (int)alg);
    }
    return a;
}

/* "argon2id takes 1 to 4294967295 passes, not 0" */
static int range(GError **errp, const QCryptoAlg *alg, const char *what,
                 uint64_t min, uint64_t max, uint64_t got)
{
    if (got >= min && got <= max) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "%s takes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                         " %s, not %" G_GUINT64_FORMAT,
                         alg->name, min, max, what, got);
}

static int check_cost(const QCryptoAlg *alg, const QCryptoArgon2Cost *cost,
                      GError **errp)
{
    if (range(errp, alg, "passes", 1, UINT32_MAX, cost->time) < 0 ||
        range(errp, alg, "lanes", 1, MAX_LANES, cost->lanes) < 0) {
        return -1;
    }
    return range(errp, alg, "KiB of memory (8 a lane)",
                 (uint64_t)cost->lanes * MIN_KIB_PER_LANE, UINT32_MAX,
                 cost->memory_kib);
}

static int check(const Request *r, const QCryptoAlg *alg,
                 const QCryptoArgon2Cost *cost, GError **errp)
{
    if ((!r->key && r->nkey) || !r->salt || !cost) {
        return qcrypto_error_null(errp, !cost      ? "cost"
                                        : !r->salt ? "salt"
                                                   : "key");
    }
    if ((!r->secret && r->nsecret) || (!r->ad && r->nad)) {
        return qcrypto_error_null(errp, r->secret || !r->nsecret ? "ad"
                                                                 : "secret");
    }
    if (range(errp, alg, "bytes of secret", 0, UINT32_MAX, r->nsecret) < 0 ||
        range(errp, alg, "bytes of associated data", 0, UINT32_MAX, r->nad) < 0) {
        return -1;
    }
    if (range(errp, alg, "bytes of passphrase", 0, UINT32_MAX, r->nkey) < 0 ||
        range(errp, alg, "bytes of salt", MIN_SALT, UINT32_MAX, r->nsalt) < 0 ||
        range(errp, alg, "bytes of output", MIN_OUT, UINT32_MAX, r->nout) < 0) {
        return -1;
    }
    return check_cost(alg, cost, errp);
}

/*
 * The error for want of memory; available is left out where it would not
 * explain anything.
 */
static int no_memory(const QCryptoAlg *alg, uint64_t need_kib,
                     uint64_t available_kib, GError **errp)
{
    return qcrypto_error_memory(errp, alg->name, need_kib,
                                available_kib < need_kib ? available_kib : 0);
}

static int derive_on(const QCryptoCandidate *c, const Request *r,
                     const QCryptoArgon2Cost *cost, uint8_t *out, GError **errp)
{
    /* libraries may not take NULL, even for no bytes */
    static const uint8_t none[1];
    const QCryptoArgon2Ops *ops = c->row->ops;

    if (r->nsecret || r->nad) {
        const QCryptoArgon2Extra extra = {r->secret ? r->secret : none,
                                          r->nsecret, r->ad ? r->ad : none,
                                          r->nad};

        if (!ops->derive_keyed) {
            return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                                 "%s takes no secret value", c->provider->name);
        }
        return ops->derive_keyed(c->row, r->key ? r->key : none, r->nkey,
                                 r->salt, r->nsalt, &extra, cost->time,
                                 cost->memory_kib, cost->lanes, out, r->nout,
                                 errp);
    }
    return ops->derive(c->row, r->key ? r->key : none, r->nkey, r->salt,
                       r->nsalt, cost->time, cost->memory_kib, cost->lanes, out,
                       r->nout, errp);
}

/* On the first row that can do it. */
static int derive_selected(const Request *r, const QCryptoArgon2Cost *cost,
                           uint8_t *out, GError **errp)
{
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *c;

    for (size_t i = 0; (c = qcrypto_select_usable(QCRYPTO_KIND_ARGON2,
                                                  (int)r->alg, -1, i, &i));
         i++) {
        g_clear_error(&last);
        if (derive_on(c, r, cost, out, &last) == 0) {
            return 0;
        }
        /* the next one would take as much */
        if (g_error_matches(last, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY)) {
            break;
        }
    }
    return qcrypto_select_failed(QCRYPTO_KIND_ARGON2, (int)r->alg, -1, last,
                                 errp);
}

static int derive_named(const Request *r, const QCryptoArgon2Cost *cost,
                        uint8_t *out, GError **errp)
{
    QCryptoCandidate *c = qcrypto_select_named(r->provider, QCRYPTO_KIND_ARGON2,
                                               (int)r->alg, -1, errp);

    return c ? derive_on(c, r, cost, out, errp) : -1;
}

static int derive(const Request *r, const QCryptoArgon2Cost *cost, uint8_t *out,
                  GError **errp)
{
    const QCryptoAlg *alg = find_alg(r->alg, errp);
    g_autoptr(GError) err = NULL;

    if (!alg || check(r, alg, cost, errp) < 0) {
        return -1;
    }
    if (!out) {
        return qcrypto_error_null(errp, "out");
    }
    const uint64_t available = qcrypto_memory_available_kib();
    if (available < cost->memory_kib) {
        return no_memory(alg, cost->memory_kib, available, errp);
    }
    /* a row that fails may have written already */
    uint8_t *tag = qcrypto_alloc(r->nout);
    if (!tag) {
        return no_memory(alg, r->nout / 1024 + 1, available, errp);
    }
    const int ret = r->provider ? derive_named(r, cost, tag, &err)
                                : derive_selected(r, cost, tag, &err);
    if (ret == 0) {
        memcpy(out, tag, r->nout);
    } else if (g_error_matches(err, QCRYPTO_ERROR,
                               QCRYPTO_ERROR_OUT_OF_MEMORY)) {
        no_memory(alg, cost->memory_kib, qcrypto_memory_available_kib(), errp);
    } else {
        g_propagate_error(errp, g_steal_pointer(&err));
    }
    qcrypto_wipe_free(tag, r->nout);
    return ret;
}

int qcrypto_argon2(QCryptoArgon2Algo alg, const uint8_t *key, size_t nkey,
                   const uint8_t *salt, size_t nsalt,
                   const QCryptoArgon2Cost *cost, uint8_t *out, size_t nout,
                   GError **errp)
{
    const Request r = {NULL, alg, key, nkey, salt, nsalt, nout, NULL, 0, NULL, 0};

    return derive(&r, cost, out, errp);
}

int qcrypto_argon2_from(const char *provider, QCryptoArgon2Algo alg,
                        const uint8_t *key, size_t nkey, const uint8_t *salt,
                        size_t nsalt, const QCryptoArgon2Cost *cost,
                        uint8_t *out, size_t nout, GError **errp)
{
    const Request r = {provider, alg,  key, nkey, salt, nsalt,
                       nout,     NULL, 0,   NULL, 0};

    if (!provider) {
        return qcrypto_error_null(errp, "provider");
    }
    return derive(&r, cost, out, errp);
}

int qcrypto_argon2_keyed(const char *provider, QCryptoArgon2Algo alg,
                         const uint8_t *key, size_t nkey, const uint8_t *salt,
                         size_t nsalt, const uint8_t *secret, size_t nsecret,
                         const uint8_t *ad, size_t nad,
                         const QCryptoArgon2Cost *cost, uint8_t *out,
                         size_t nout, GError **errp)
{
    const Request r = {provider, alg,    key,     nkey, salt, nsalt,
                       nout,     secret, nsecret, ad,   nad};

    return derive(&r, cost, out, errp);
}

/* ---- calibration ---- */

/*
 * Work is counted in KiB times passes, to which the time is nearly
 * proportional: nearly, since caches end somewhere, so that a sample is
 * followed by one run of the very cost, which corrects it.
 */
typedef struct Calibration {
    const QCryptoArgon2Probe *probe;
    uint32_t lanes;
    uint32_t min_time;
    uint64_t min_kib, max_kib;
} Calibration;

/* Memory first, passes once there is no more of it. */
static QCryptoArgon2Cost cost_of(const Calibration *c, uint64_t work)
{
    const uint64_t slices = (uint64_t)c->lanes * 4;
    uint64_t kib = CLAMP(work / c->min_time, c->min_kib, c->max_kib);
    /* to the nearest; work is at most max_kib * UINT32_MAX: no wrap */
    const uint64_t time = work / kib + (work % kib >= kib / 2);

    /* Argon2 itself rounds down to whole slices */
    return (QCryptoArgon2Cost){
        .time = (uint32_t)CLAMP(time, c->min_time, UINT32_MAX),
        .memory_kib = (uint32_t)(kib - kib % slices),
        .lanes = c->lanes,
    };
}

static int work(uint64_t amount, void *opaque, GError **errp)
{
    const Calibration *c = opaque;
    const QCryptoArgon2Cost cost = cost_of(c, amount);

    return c->probe->derive(&cost, c->probe->opaque, errp);
}

/* Fills in the lanes and the ranges of the others; checks what was given. */
static int set_ranges(Calibration *c, const QCryptoAlg *alg,
                      uint32_t max_memory_kib, const QCryptoArgon2Cost *cost,
                      GError **errp)
{
    const uint64_t cap = max_memory_kib ? max_memory_kib : DEFAULT_MAX_KIB;
    const uint64_t available = c->probe->available_kib;

    c->lanes =
        cost->lanes ? cost->lanes : MIN(g_get_num_processors(), DEFAULT_LANES);
    c->min_time = cost->time ? cost->time : DEFAULT_PASSES;
    c->min_kib = (uint64_t)c->lanes * MIN_KIB_PER_LANE;
    if (check_cost(alg,
                   &(QCryptoArgon2Cost){.time = c->min_time,
                                        .memory_kib = (uint32_t)cap,
                                        .lanes = c->lanes},
                   errp) < 0) {
        return -1;
    }
    if (available < c->min_kib) {
        return no_memory(alg, c->min_kib, available, errp);
    }
    /* the other half is for those who open the volume beside something else */
    c->max_kib = CLAMP(available / 2, c->min_kib, cap);
    return 0;
}

/* What the work should be, from what one run of it took. */
static uint64_t corrected(uint64_t amount, uint64_t target_ns, uint64_t ns,
                          uint64_t max)
{
    const double factor =
        ns ? CLAMP((double)target_ns / (double)ns, 0.25, 4) : 1;
    const double next = (double)amount * factor;

    return next >= (double)max ? max : (uint64_t)next;
}

int qcrypto_argon2_calibrate_probe(QCryptoArgon2Algo algorithm,
                                   unsigned target_ms, uint32_t max_memory_kib,
                                   const QCryptoArgon2Probe *probe,
                                   QCryptoArgon2Cost *cost, GError **errp)
{
    const QCryptoAlg *alg = find_alg(algorithm, errp);
    Calibration c = {.probe = probe};

    if (!alg) {
        return -1;
    }
    if (!cost) {
        return qcrypto_error_null(errp, "cost");
    }
    if (range(errp, alg, "ms to calibrate to", 1, UINT_MAX, target_ms) < 0 ||
        set_ranges(&c, alg, max_memory_kib, cost, errp) < 0) {
        return -1;
    }
    const uint64_t target_ns = (uint64_t)target_ms * 1000000;
    const uint64_t max = c.max_kib * UINT32_MAX;
    const QCryptoRateProbe rate = {
        .work = work,
        .opaque = &c,
        .clock = probe->clock,
        .clock_opaque = probe->clock_opaque,
        .first = c.min_kib * c.min_time,
        .max = max,
        .sample_ns = CLAMP(target_ns / 4, 2000000, 250000000),
    };
    const uint64_t per_s = qcrypto_rate(&rate, errp);
    if (!per_s) {
        return -1;
    }
    const double wanted = (double)per_s * target_ms / 1000;
    uint64_t amount = wanted >= (double)max ? max : (uint64_t)wanted;
    uint64_t ns;
    if (qcrypto_rate_once(&rate, amount, &ns, errp) < 0) {
        return -1;
    }
    *cost = cost_of(&c, corrected(amount, target_ns, ns, max));
    return 0;
}

typedef struct Measured {
    QCryptoArgon2Algo alg;
    uint8_t *out;
    size_t nout;
} Measured;

static int derive_measured(const QCryptoArgon2Cost *cost, void *opaque,
                           GError **errp)
{
    /* the time depends on neither */
    static const uint8_t key[16] = "a passphrase ...",
                         salt[16] = "and its salt ...";
    const Measured *m = opaque;

    return qcrypto_argon2(m->alg, key, sizeof(key), salt, sizeof(salt), cost,
                          m->out, m->nout, errp);
}

int qcrypto_argon2_calibrate(QCryptoArgon2Algo alg, unsigned target_ms,
                             uint32_t max_memory_kib, size_t nout,
                             QCryptoArgon2Cost *cost, GError **errp)
{
    const QCryptoAlg *a = find_alg(alg, errp);

    if (!a ||
        range(errp, a, "bytes of output", MIN_OUT, UINT32_MAX, nout) < 0) {
        return -1;
    }
    uint8_t *out = qcrypto_alloc(nout);
    if (!out) {
        return no_memory(a, nout / 1024 + 1, qcrypto_memory_available_kib(),
                         errp);
    }
    Measured m = {alg, out, nout};
    const int ret = qcrypto_argon2_calibrate_probe(
        alg, target_ms, max_memory_kib,
        &(QCryptoArgon2Probe){
            .derive = derive_measured,
            .opaque = &m,
            .available_kib = qcrypto_memory_available_kib(),
        },
        cost, errp);
    qcrypto_wipe_free(out, nout);
    return ret;
}
