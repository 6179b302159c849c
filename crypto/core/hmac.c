/*
 * The HMAC front end
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/hmac.h"

#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/digest.h"
#include "crypto/core/select.h"

struct QCryptoHmac {
    const QCryptoHmacOps *ops;
    const QCryptoCandidate *candidate;
    const QCryptoAlg *alg;
    size_t size;
    bool failed; /* in the middle of a message */
    uint8_t ctx[] __attribute__((aligned(16)));
};

bool qcrypto_hmac_supports(QCryptoHashAlgo alg)
{
    return qcrypto_select_usable(QCRYPTO_KIND_HMAC, (int)alg, -1, 0, NULL) != NULL;
}

static const QCryptoAlg *check_new(QCryptoHashAlgo alg, const uint8_t *key,
                                   size_t nkey, GError **errp)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_HMAC, (int)alg);

    if (!a) {
        qcrypto_error_unknown_id(errp, "hash", (int)alg);
    } else if (!key && nkey) {
        qcrypto_error_null(errp, "key");
        a = NULL;
    }
    return a;
}

static QCryptoHmac *new_on(QCryptoCandidate *cand, const QCryptoAlg *alg,
                           const uint8_t *key, size_t nkey, GError **errp)
{
    /* libraries may not take NULL, even for no bytes */
    static const uint8_t no_key[1];
    const QCryptoHmacOps *ops = cand->row->ops;
    const size_t size = sizeof(QCryptoHmac) + ops->ctx_size(cand->row);
    QCryptoHmac *h = qcrypto_alloc(size);

    if (!h) {
        qcrypto_error_memory(errp, "an HMAC object", size / 1024 + 1, 0);
        return NULL;
    }
    h->ops = ops;
    h->candidate = cand;
    h->alg = alg;
    h->size = size;
    if (ops->init(h->ctx, cand->row, key ? key : no_key, nkey, errp) < 0) {
        qcrypto_wipe_free(h, size);
        return NULL;
    }
    return h;
}

QCryptoHmac *qcrypto_hmac_new(QCryptoHashAlgo alg, const uint8_t *key, size_t nkey,
                              GError **errp)
{
    const QCryptoAlg *a = check_new(alg, key, nkey, errp);
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *c;

    if (!a) {
        return NULL;
    }
    for (size_t i = 0;
         (c = qcrypto_select_usable(QCRYPTO_KIND_HMAC, (int)alg, -1, i, &i)); i++) {
        g_clear_error(&last);
        QCryptoHmac *h = new_on(c, a, key, nkey, &last);
        if (h) {
            return h;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_HMAC, (int)alg, -1, last, errp);
    return NULL;
}

QCryptoHmac *qcrypto_hmac_new_from(const char *provider, QCryptoHashAlgo alg,
                                   const uint8_t *key, size_t nkey, GError **errp)
{
    const QCryptoAlg *a = check_new(alg, key, nkey, errp);

    if (!a) {
        return NULL;
    }
    QCryptoCandidate *c = qcrypto_select_named(provider, QCRYPTO_KIND_HMAC,
                                               (int)alg, -1, errp);
    return c ? new_on(c, a, key, nkey, errp) : NULL;
}

void qcrypto_hmac_free(QCryptoHmac *h)
{
    if (h) {
        if (h->ops->fini) {
            h->ops->fini(h->ctx);
        }
        qcrypto_wipe_free(h, h->size);
    }
}

const char *qcrypto_hmac_get_provider(const QCryptoHmac *h)
{
    return h ? h->candidate->provider->name : NULL;
}

const char *qcrypto_hmac_get_impl(const QCryptoHmac *h)
{
    return h ? qcrypto_candidate_impl(h->candidate) : NULL;
}

const QCryptoAlg *qcrypto_hmac_alg(const QCryptoHmac *h)
{
    return h->alg;
}

static int mac_pieces(QCryptoHmac *h, const struct iovec *iov, size_t niov,
                      uint8_t *mac, GError **errp)
{
    for (size_t i = 0; i < niov; i++) {
        if (iov[i].iov_len &&
            h->ops->update(h->ctx, iov[i].iov_base, iov[i].iov_len, errp) < 0) {
            return -1;
        }
    }
    return h->ops->final(h->ctx, mac, errp);
}

static int macv(QCryptoHmac *h, const struct iovec *iov, size_t niov, uint8_t *mac,
                GError **errp)
{
    if (!h) {
        return qcrypto_error_null(errp, "hmac");
    }
    if (qcrypto_check_iov(iov, niov, errp) < 0) {
        return -1;
    }
    if (h->failed) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "HMAC with %s: an earlier message has failed",
                             h->alg->name);
    }
    const int ret = mac_pieces(h, iov, niov, mac, errp);
    h->failed = ret < 0;
    return ret;
}

int qcrypto_hmac_bytesv(QCryptoHmac *h, const struct iovec *iov, size_t niov,
                        uint8_t **result, size_t *resultlen, GError **errp)
{
    uint8_t mac[QCRYPTO_DIGEST_MAX];

    if (!h) {
        return qcrypto_error_null(errp, "hmac");
    }
    const size_t n = h->alg->out_len;
    uint8_t *target =
        qcrypto_digest_target(result, resultlen, n, h->alg->name, errp);
    if (!target) {
        return -1;
    }
    const int ret = macv(h, iov, niov, mac, errp);
    if (ret == 0) {
        memcpy(target, mac, n);
    }
    qcrypto_wipe(mac, sizeof(mac));
    return qcrypto_digest_done(ret, target, result, resultlen, n);
}

int qcrypto_hmac_bytes(QCryptoHmac *h, const void *buf, size_t len,
                       uint8_t **result, size_t *resultlen, GError **errp)
{
    const struct iovec iov = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};
    return qcrypto_hmac_bytesv(h, &iov, 1, result, resultlen, errp);
}

int qcrypto_hmac_digestv(QCryptoHmac *h, const struct iovec *iov, size_t niov,
                         char **digest, GError **errp)
{
    uint8_t mac[QCRYPTO_DIGEST_MAX];

    if (!digest) {
        return qcrypto_error_null(errp, "digest");
    }
    const int ret = macv(h, iov, niov, mac, errp);
    if (ret == 0) {
        *digest = qcrypto_digest_hex(mac, h->alg->out_len);
    }
    qcrypto_wipe(mac, sizeof(mac));
    return ret;
}

int qcrypto_hmac_digest(QCryptoHmac *h, const void *buf, size_t len, char **digest,
                        GError **errp)
{
    const struct iovec iov = {.iov_base = (void *)(uintptr_t)buf, .iov_len = len};
    return qcrypto_hmac_digestv(h, &iov, 1, digest, errp);
}
