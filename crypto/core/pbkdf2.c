/*
 * The PBKDF2 front end
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/kdf.h"
#include "crypto/core/select.h"

/* a millisecond or less: iterations, all blocks together */
#define FIRST_PROBE 1000
#define SAMPLE_NS   100000000

typedef struct Request {
    const char *provider; /* NULL: selection */
    QCryptoHashAlgo hash;
    const uint8_t *key;
    size_t nkey;
    const uint8_t *salt;
    size_t nsalt;
    uint8_t *out;
    size_t nout;
} Request;

bool qcrypto_pbkdf2_supports(QCryptoHashAlgo hash)
{
    return qcrypto_select_usable(QCRYPTO_KIND_PBKDF2, (int)hash, -1, 0, NULL) !=
           NULL;
}

static int check(const Request *r, uint64_t iterations, GError **errp)
{
    const QCryptoAlg *alg = qcrypto_alg(QCRYPTO_KIND_PBKDF2, (int)r->hash);

    if (!alg) {
        return qcrypto_error_unknown_id(errp, "hash", (int)r->hash);
    }
    if ((!r->key && r->nkey) || (!r->salt && r->nsalt) || !r->out) {
        return qcrypto_error_null(errp, !r->out              ? "out"
                                        : !r->key && r->nkey ? "key"
                                                             : "salt");
    }
    if (iterations < 1 || iterations > UINT32_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "PBKDF2 takes 1 to 4294967295 iterations, not "
                             "%" G_GUINT64_FORMAT,
                             iterations);
    }
    /* RFC 8018, 5.2: at most 2^32 - 1 blocks */
    if (!r->nout || (r->nout - 1) / alg->out_len >= UINT32_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "PBKDF2 with %s cannot give %zu bytes", alg->name,
                             r->nout);
    }
    return 0;
}

static int derive_on(const QCryptoCandidate *c, const Request *r,
                     uint64_t iterations, GError **errp)
{
    /* libraries may not take NULL, even for no bytes */
    static const uint8_t none[1];
    const QCryptoPbkdf2Ops *ops = c->row->ops;

    return ops->derive(c->row, r->key ? r->key : none, r->nkey,
                       r->salt ? r->salt : none, r->nsalt, iterations, r->out,
                       r->nout, errp);
}

static int derive(const Request *r, uint64_t iterations, GError **errp)
{
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *c;

    if (check(r, iterations, errp) < 0) {
        return -1;
    }
    if (r->provider) {
        c = qcrypto_select_named(r->provider, QCRYPTO_KIND_PBKDF2, (int)r->hash,
                                 -1, errp);
        return c ? derive_on(c, r, iterations, errp) : -1;
    }
    for (size_t i = 0; (c = qcrypto_select_usable(QCRYPTO_KIND_PBKDF2,
                                                  (int)r->hash, -1, i, &i));
         i++) {
        g_clear_error(&last);
        if (derive_on(c, r, iterations, &last) == 0) {
            return 0;
        }
    }
    return qcrypto_select_failed(QCRYPTO_KIND_PBKDF2, (int)r->hash, -1, last,
                                 errp);
}

int qcrypto_pbkdf2_from(const char *provider, QCryptoHashAlgo hash,
                        const uint8_t *key, size_t nkey, const uint8_t *salt,
                        size_t nsalt, uint64_t iterations, uint8_t *out,
                        size_t nout, GError **errp)
{
    const Request r = {provider, hash, key, nkey, salt, nsalt, out, nout};

    if (!provider) {
        return qcrypto_error_null(errp, "provider");
    }
    return derive(&r, iterations, errp);
}

int qcrypto_pbkdf2(QCryptoHashAlgo hash, const uint8_t *key, size_t nkey,
                   const uint8_t *salt, size_t nsalt, uint64_t iterations,
                   uint8_t *out, size_t nout, GError **errp)
{
    const Request r = {NULL, hash, key, nkey, salt, nsalt, out, nout};

    return derive(&r, iterations, errp);
}

static int work(uint64_t cost, void *opaque, GError **errp)
{
    return derive(opaque, cost, errp);
}

uint64_t qcrypto_pbkdf2_count_iters_by(QCryptoClock *clock, void *clock_opaque,
                                       QCryptoHashAlgo hash, const uint8_t *key,
                                       size_t nkey, const uint8_t *salt,
                                       size_t nsalt, size_t nout, GError **errp)
{
    uint8_t none[1];
    Request r = {NULL, hash, key, nkey, salt, nsalt, none, nout};

    if (check(&r, 1, errp) < 0) {
        return 0;
    }
    r.out = nout < PTRDIFF_MAX ? qcrypto_alloc(nout) : NULL;
    if (!r.out) {
        qcrypto_error_memory(errp, "PBKDF2", nout / 1024 + 1, 0);
        return 0;
    }
    const size_t blocks =
        (nout - 1) / qcrypto_alg(QCRYPTO_KIND_PBKDF2, (int)hash)->out_len + 1;
    const uint64_t rate = qcrypto_rate(
        &(QCryptoRateProbe){
            .work = work,
            .opaque = &r,
            .clock = clock,
            .clock_opaque = clock_opaque,
            .first = MAX(FIRST_PROBE / blocks, 1),
            .max = UINT32_MAX,
            .sample_ns = SAMPLE_NS,
        },
        errp);
    qcrypto_wipe_free(r.out, nout);
    return rate;
}

uint64_t qcrypto_pbkdf2_count_iters(QCryptoHashAlgo hash, const uint8_t *key,
                                    size_t nkey, const uint8_t *salt,
                                    size_t nsalt, size_t nout, GError **errp)
{
    return qcrypto_pbkdf2_count_iters_by(NULL, NULL, hash, key, nkey, salt,
                                         nsalt, nout, errp);
}
