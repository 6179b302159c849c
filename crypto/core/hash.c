/*
 * The hash front end
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/hash.h"

#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/digest.h"
#include "crypto/core/plan.h"

/* A one-shot digest of a context up to this size needs no allocation. */
#define STACK_CTX 512

struct QCryptoHash {
    const QCryptoHashOps *ops;
    const QCryptoCandidate *candidate;
    const QCryptoAlg *alg;
    size_t size;
    bool ended;
    bool failed; /* in the middle of the message */
    uint8_t ctx[] __attribute__((aligned(16)));
};

static const QCryptoAlg *hash_alg(QCryptoHashAlgo alg, GError **errp)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_HASH, (int)alg);

    if (G_UNLIKELY(!a)) {
        qcrypto_error_unknown_id(errp, "hash", (int)alg);
    }
    return a;
}

size_t qcrypto_hash_digest_len(QCryptoHashAlgo alg)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_HASH, (int)alg);
    return a ? a->out_len : 0;
}

size_t qcrypto_hash_block_len(QCryptoHashAlgo alg)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_HASH, (int)alg);
    return a ? a->block_len : 0;
}

bool qcrypto_hash_supports(QCryptoHashAlgo alg)
{
    return qcrypto_select_usable(QCRYPTO_KIND_HASH, (int)alg, -1, 0, NULL) != NULL;
}

static QCryptoHash *new_on(QCryptoCandidate *cand, const QCryptoAlg *alg,
                           GError **errp)
{
    const QCryptoHashOps *ops = cand->row->ops;
    const size_t size = sizeof(QCryptoHash) + ops->ctx_size(cand->row);
    QCryptoHash *h = qcrypto_alloc(size);

    if (!h) {
        qcrypto_error_memory(errp, "a hash object", size / 1024 + 1, 0);
        return NULL;
    }
    h->ops = ops;
    h->candidate = cand;
    h->alg = alg;
    h->size = size;
    if (ops->init(h->ctx, cand->row, errp) < 0) {
        qcrypto_wipe_free(h, size);
        return NULL;
    }
    return h;
}

QCryptoHash *qcrypto_hash_new(QCryptoHashAlgo alg, GError **errp)
{
    const QCryptoAlg *a = hash_alg(alg, errp);
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *c;

    if (!a) {
        return NULL;
    }
    for (size_t i = 0;
         (c = qcrypto_select_usable(QCRYPTO_KIND_HASH, (int)alg, -1, i, &i)); i++) {
        g_clear_error(&last);
        QCryptoHash *h = new_on(c, a, &last);
        if (h) {
            return h;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_HASH, (int)alg, -1, last, errp);
    return NULL;
}

QCryptoHash *qcrypto_hash_new_from(const char *provider, QCryptoHashAlgo alg,
                                   GError **errp)
{
    const QCryptoAlg *a = hash_alg(alg, errp);

    if (!a) {
        return NULL;
    }
    QCryptoCandidate *c = qcrypto_select_named(provider, QCRYPTO_KIND_HASH,
                                               (int)alg, -1, errp);
    return c ? new_on(c, a, errp) : NULL;
}

void qcrypto_hash_free(QCryptoHash *h)
{
    if (h) {
        if (h->ops->fini) {
            h->ops->fini(h->ctx);
        }
        qcrypto_wipe_free(h, h->size);
    }
}

const char *qcrypto_hash_get_provider(const QCryptoHash *h)
{
    return h ? h->candidate->provider->name : NULL;
}

const char *qcrypto_hash_get_impl(const QCryptoHash *h)
{
    return h ? qcrypto_candidate_impl(h->candidate) : NULL;
}

static int check_open(const QCryptoHash *h, GError **errp)
{
    if (G_UNLIKELY(!h)) {
        return qcrypto_error_null(errp, "hash");
    }
    if (G_UNLIKELY(h->ended || h->failed)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             h->failed ? "%s: an earlier part has failed"
                                       : "%s: the message was finalized",
                             h->alg->name);
    }
    return 0;
}

int qcrypto_hash_update(QCryptoHash *h, const void *buf, size_t len, GError **errp)
{
    if (check_open(h, errp) < 0) {
        return -1;
    }
    if (G_UNLIKELY(!buf && len)) {
        return qcrypto_error_null(errp, "buf");
    }
    if (len && h->ops->update(h->ctx, buf, len, errp) < 0) {
        h->failed = true;
        return -1;
    }
    return 0;
}

int qcrypto_hash_updatev(QCryptoHash *h, const struct iovec *iov, size_t niov,
                         GError **errp)
{
    if (check_open(h, errp) < 0 || qcrypto_check_iov(iov, niov, errp) < 0) {
        return -1;
    }
    for (size_t i = 0; i < niov; i++) {
        if (qcrypto_hash_update(h, iov[i].iov_base, iov[i].iov_len, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int finalize(QCryptoHash *h, uint8_t *digest, GError **errp)
{
    if (check_open(h, errp) < 0) {
        return -1;
    }
    h->ended = true;
    return h->ops->final(h->ctx, digest, errp);
}

int qcrypto_hash_finalize_bytes(QCryptoHash *h, uint8_t **result,
                                size_t *resultlen, GError **errp)
{
    if (check_open(h, errp) < 0) {
        return -1;
    }
    uint8_t digest[QCRYPTO_DIGEST_MAX];
    const size_t n = h->alg->out_len;
    uint8_t *target =
        qcrypto_digest_target(result, resultlen, n, h->alg->name, errp);
    if (!target) {
        return -1;
    }
    const int ret = finalize(h, digest, errp);
    if (ret == 0) {
        memcpy(target, digest, n);
    }
    qcrypto_wipe(digest, sizeof(digest));
    return qcrypto_digest_done(ret, target, result, resultlen, n);
}

int qcrypto_hash_finalize_digest(QCryptoHash *h, char **digest, GError **errp)
{
    uint8_t raw[QCRYPTO_DIGEST_MAX];

    if (!digest) {
        return qcrypto_error_null(errp, "digest");
    }
    const int ret = finalize(h, raw, errp);
    if (ret == 0) {
        *digest = qcrypto_digest_hex(raw, h->alg->out_len);
    }
    qcrypto_wipe(raw, sizeof(raw));
    return ret;
}

int qcrypto_hash_finalize_base64(QCryptoHash *h, char **base64, GError **errp)
{
    uint8_t raw[QCRYPTO_DIGEST_MAX];

    if (!base64) {
        return qcrypto_error_null(errp, "base64");
    }
    const int ret = finalize(h, raw, errp);
    if (ret == 0) {
        *base64 = g_base64_encode(raw, h->alg->out_len);
    }
    qcrypto_wipe(raw, sizeof(raw));
    return ret;
}

/* ---- one-shot ---- */

int qcrypto_hash_on_row(const QCryptoRow *row, const struct iovec *iov,
                        size_t niov, uint8_t *digest, GError **errp)
{
    /* libraries may not take NULL, even for no bytes */
    static const uint8_t nothing[1];
    const QCryptoHashOps *ops = row->ops;

    if (ops->digest && niov <= 1) {
        return niov && iov->iov_len
                   ? ops->digest(row, iov->iov_base, iov->iov_len, digest, errp)
                   : ops->digest(row, nothing, 0, digest, errp);
    }

    const size_t size = ops->ctx_size(row);
    uint8_t stack[STACK_CTX] __attribute__((aligned(16)));
    void *ctx = stack;
    int ret;

    if (G_LIKELY(size <= sizeof(stack))) {
        memset(stack, 0, size);
    } else if (!(ctx = qcrypto_alloc(size))) {
        return qcrypto_error_memory(errp, "a hash", size / 1024 + 1, 0);
    }
    ret = ops->init(ctx, row, errp);
    if (ret == 0) {
        for (size_t i = 0; i < niov && ret == 0; i++) {
            if (iov[i].iov_len) {
                ret = ops->update(ctx, iov[i].iov_base, iov[i].iov_len, errp);
            }
        }
        if (ret == 0) {
            ret = ops->final(ctx, digest, errp);
        }
        if (ops->fini) {
            ops->fini(ctx);
        }
    }
    if (ctx == stack) {
        qcrypto_wipe(stack, size);
    } else {
        qcrypto_wipe_free(ctx, size);
    }
    return ret;
}

/* The first row that can. */
static int digestv(const QCryptoAlg *alg, const struct iovec *iov, size_t niov,
                   uint8_t *digest, GError **errp)
{
    GError *last = NULL;
    QCryptoCandidate *c;

    if (qcrypto_check_iov(iov, niov, errp) < 0) {
        return -1;
    }
    /* calibration may know a better row for this length */
    const QCryptoPlan *plan = qcrypto_plan(QCRYPTO_KIND_HASH, alg->id, -1, 0);
    if (G_UNLIKELY(plan)) {
        size_t len = 0;

        for (size_t i = 0; i < niov; i++) {
            len += iov[i].iov_len;
        }
        c = qcrypto_plan_step(plan, len)->candidate;
        if (qcrypto_candidate_usable(c, NULL) &&
            qcrypto_hash_on_row(c->row, iov, niov, digest, NULL) == 0) {
            return 0;
        }
    }
    for (size_t i = 0;
         (c = qcrypto_select_usable(QCRYPTO_KIND_HASH, alg->id, -1, i, &i)); i++) {
        if (G_UNLIKELY(last)) {
            g_clear_error(&last);
        }
        if (qcrypto_hash_on_row(c->row, iov, niov, digest, &last) == 0) {
            return 0;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_HASH, alg->id, -1, last, errp);
    g_clear_error(&last);
    return -1;
}

int qcrypto_hash_bytesv(QCryptoHashAlgo alg, const struct iovec *iov, size_t niov,
                        uint8_t **result, size_t *resultlen, GError **errp)
{
    const QCryptoAlg *a = hash_alg(alg, errp);

    if (!a) {
        return -1;
    }
    uint8_t *target =
        qcrypto_digest_target(result, resultlen, a->out_len, a->name, errp);
    if (!target) {
        return -1;
    }
    /* rows write a digest when nothing can fail any more */
    const int ret = digestv(a, iov, niov, target, errp);
    return qcrypto_digest_done(ret, target, result, resultlen, a->out_len);
}

int qcrypto_hash_digestv(QCryptoHashAlgo alg, const struct iovec *iov,
                         size_t niov, char **digest, GError **errp)
{
    const QCryptoAlg *a = hash_alg(alg, errp);
    uint8_t raw[QCRYPTO_DIGEST_MAX];

    if (!a || !digest) {
        return a ? qcrypto_error_null(errp, "digest") : -1;
    }
    if (digestv(a, iov, niov, raw, errp) < 0) {
        return -1;
    }
    *digest = qcrypto_digest_hex(raw, a->out_len);
    return 0;
}

int qcrypto_hash_base64v(QCryptoHashAlgo alg, const struct iovec *iov,
                         size_t niov, char **base64, GError **errp)
{
    const QCryptoAlg *a = hash_alg(alg, errp);
    uint8_t raw[QCRYPTO_DIGEST_MAX];

    if (!a || !base64) {
        return a ? qcrypto_error_null(errp, "base64") : -1;
    }
    if (digestv(a, iov, niov, raw, errp) < 0) {
        return -1;
    }
    *base64 = g_base64_encode(raw, a->out_len);
    return 0;
}

static struct iovec one(const void *buf, size_t len)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)buf, .iov_len = len};
}

int qcrypto_hash_bytes(QCryptoHashAlgo alg, const void *buf, size_t len,
                       uint8_t **result, size_t *resultlen, GError **errp)
{
    const struct iovec iov = one(buf, len);
    return qcrypto_hash_bytesv(alg, &iov, 1, result, resultlen, errp);
}

int qcrypto_hash_digest(QCryptoHashAlgo alg, const void *buf, size_t len,
                        char **digest, GError **errp)
{
    const struct iovec iov = one(buf, len);
    return qcrypto_hash_digestv(alg, &iov, 1, digest, errp);
}

int qcrypto_hash_base64(QCryptoHashAlgo alg, const void *buf, size_t len,
                        char **base64, GError **errp)
{
    const struct iovec iov = one(buf, len);
    return qcrypto_hash_base64v(alg, &iov, 1, base64, errp);
}
