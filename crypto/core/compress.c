/*
 * The compression front end
 *
 * Arguments are checked here, once; what becomes of the data is told by one
 * status, and worded here, so that the same damage reads the same whichever
 * library met it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/comp.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/select.h"

struct QCryptoComp {
    const QCryptoCompOps *ops;
    const QCryptoCandidate *candidate;
    const QCryptoAlg *alg;
    size_t size;
    uint8_t ctx[] __attribute__((aligned(16)));
};

/* What a call was given, checked. */
typedef struct Buffers {
    const uint8_t *in;
    uint8_t *out;
    size_t inlen, outlen;
} Buffers;

static const QCryptoAlg *comp_alg(QCryptoCompAlgo alg, GError **errp)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_COMP, (int)alg);

    if (!a) {
        qcrypto_error_unknown_id(errp, "compression", (int)alg);
    }
    return a;
}

bool qcrypto_comp_supports(QCryptoCompAlgo alg)
{
    return qcrypto_select_usable(QCRYPTO_KIND_COMP, (int)alg, -1, 0, NULL) !=
           NULL;
}

int qcrypto_comp_levels(QCryptoCompAlgo alg, int *min, int *max, int *usual)
{
    const QCryptoAlg *a = comp_alg(alg, NULL);

    if (!a) {
        return -1;
    }
    if (min) {
        *min = a->level_min;
    }
    if (max) {
        *max = a->level_max;
    }
    if (usual) {
        *usual = a->level_default;
    }
    return 0;
}

/* The largest of all rows: objects may come from any of them. */
size_t qcrypto_comp_bound(QCryptoCompAlgo alg, size_t len)
{
    size_t n, bound = 0;
    QCryptoCandidate *const *all = qcrypto_candidates(&n, NULL);

    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *row = all[i]->row;

        if (row->kind == QCRYPTO_KIND_COMP && row->alg == (int)alg) {
            const QCryptoCompOps *ops = row->ops;
            const size_t its = ops->bound(row, len);

            if (!its) {
                return 0;
            }
            bound = MAX(bound, its);
        }
    }
    return bound;
}

/* ---- objects ---- */

static int check_level(const QCryptoAlg *alg, int *level, GError **errp)
{
    if (*level == QCRYPTO_COMP_LEVEL_DEFAULT) {
        *level = alg->level_default;
    }
    if (*level < alg->level_min || *level > alg->level_max) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s has levels %d to %d, not %d", alg->name,
                             (int)alg->level_min, (int)alg->level_max, *level);
    }
    return 0;
}

static QCryptoComp *new_on(QCryptoCandidate *cand, const QCryptoAlg *alg,
                           int level, GError **errp)
{
    const QCryptoCompOps *ops = cand->row->ops;
    const size_t size = sizeof(QCryptoComp) + ops->ctx_size;
    QCryptoComp *comp = qcrypto_alloc(size);

    if (!comp) {
        qcrypto_error_memory(errp, "a compression object", size / 1024 + 1, 0);
        return NULL;
    }
    comp->ops = ops;
    comp->candidate = cand;
    comp->alg = alg;
    comp->size = size;
    if (ops->init(comp->ctx, cand->row, level, errp) < 0) {
        qcrypto_wipe_free(comp, size);
        return NULL;
    }
    return comp;
}

QCryptoComp *qcrypto_comp_new(QCryptoCompAlgo alg, int level, GError **errp)
{
    const QCryptoAlg *a = comp_alg(alg, errp);
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *c;

    if (!a || check_level(a, &level, errp) < 0) {
        return NULL;
    }
    for (size_t i = 0;
         (c = qcrypto_select_usable(QCRYPTO_KIND_COMP, a->id, -1, i, &i));
         i++) {
        g_clear_error(&last);
        QCryptoComp *comp = new_on(c, a, level, &last);
        if (comp) {
            return comp;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_COMP, a->id, -1, last, errp);
    return NULL;
}

QCryptoComp *qcrypto_comp_new_from(const char *provider, QCryptoCompAlgo alg,
                                   int level, GError **errp)
{
    const QCryptoAlg *a = comp_alg(alg, errp);

    if (!a || check_level(a, &level, errp) < 0) {
        return NULL;
    }
    QCryptoCandidate *c =
        qcrypto_select_named(provider, QCRYPTO_KIND_COMP, a->id, -1, errp);
    return c ? new_on(c, a, level, errp) : NULL;
}

void qcrypto_comp_free(QCryptoComp *comp)
{
    if (comp) {
        comp->ops->fini(comp->ctx);
        qcrypto_wipe_free(comp, comp->size);
    }
}

const char *qcrypto_comp_get_provider(const QCryptoComp *comp)
{
    return comp ? comp->candidate->provider->name : NULL;
}

const char *qcrypto_comp_get_impl(const QCryptoComp *comp)
{
    return comp ? comp->candidate->row->impl : NULL;
}

/* ---- calls ---- */

/* As base/bytes.h's, for two lengths. */
static bool overlap(const Buffers *b)
{
    const uintptr_t in = (uintptr_t)b->in;
    const uintptr_t out = (uintptr_t)b->out;

    if (!b->inlen || !b->outlen) {
        return false;
    }
    return in > out ? in - out < b->outlen : out - in < b->inlen;
}

static int check(const QCryptoComp *comp, const void *in, const size_t *inlen,
                 void *out, const size_t *outlen, Buffers *b, GError **errp)
{
    /* libraries may not take NULL, even for no bytes */
    static uint8_t nothing[1];

    if (!comp || !inlen || !outlen || (!in && *inlen) || (!out && *outlen)) {
        return qcrypto_error_null(errp, !comp             ? "comp"
                                        : !inlen          ? "inlen"
                                        : !outlen         ? "outlen"
                                        : (!in && *inlen) ? "in"
                                                          : "out");
    }
    b->in = in ? in : nothing;
    b->out = out ? out : nothing;
    b->inlen = *inlen;
    b->outlen = *outlen;
    return overlap(b) ? qcrypto_error_overlap(errp, comp->alg->name) : 0;
}

/* Wipes what there is of an output; need is of NO_SPACE. */
static int failed(const QCryptoComp *comp, QCryptoCompStatus status,
                  const Buffers *b, size_t need, bool at_most, GError **errp)
{
    const char *name = comp->alg->name;

    memset(b->out, 0, b->outlen);
    if (status == QCRYPTO_COMP_NO_SPACE) {
        return qcrypto_error_no_space(errp, name, b->outlen, need, at_most);
    }
    if (status == QCRYPTO_COMP_CORRUPT) {
        return qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_DATA,
                             "%s: the data is damaged or cut short", name);
    }
    if (status == QCRYPTO_COMP_NO_MEMORY) {
        return qcrypto_error(errp, QCRYPTO_ERROR_OUT_OF_MEMORY,
                             "%s: no memory for the state of %s", name,
                             comp->candidate->provider->name);
    }
    return qcrypto_error_library(errp, comp->candidate->provider->name, name,
                                 "failed for a reason of its own");
}

int qcrypto_comp_compress(QCryptoComp *comp, const void *in, size_t inlen,
                          void *out, size_t *outlen, GError **errp)
{
    Buffers b;

    if (check(comp, in, &inlen, out, outlen, &b, errp) < 0) {
        return -1;
    }
    const size_t bound = comp->ops->bound(comp->candidate->row, inlen);
    if (!bound) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s does not take %zu bytes at once",
                             comp->alg->name, inlen);
    }
    size_t n = b.outlen;
    const QCryptoCompStatus status =
        comp->ops->compress(comp->ctx, b.in, b.inlen, b.out, &n);
    if (status != QCRYPTO_COMP_DONE) {
        return failed(comp, status, &b, bound, true, errp);
    }
    *outlen = n;
    return 0;
}

/* *used: bytes of the stream */
static int decompress(QCryptoComp *comp, const Buffers *b, size_t *used,
                      size_t *outlen, GError **errp)
{
    size_t n = b->outlen;
    const QCryptoCompStatus status =
        comp->ops->decompress(comp->ctx, b->in, used, b->out, &n);

    if (status != QCRYPTO_COMP_DONE) {
        return failed(comp, status, b, n, false, errp);
    }
    *outlen = n;
    return 0;
}

int qcrypto_comp_decompress(QCryptoComp *comp, const void *in, size_t inlen,
                            void *out, size_t *outlen, GError **errp)
{
    size_t used = inlen, n;
    Buffers b;

    if (check(comp, in, &inlen, out, outlen, &b, errp) < 0 ||
        decompress(comp, &b, &used, &n, errp) < 0) {
        return -1;
    }
    if (used != inlen) {
        memset(b.out, 0, b.outlen);
        return qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_DATA,
                             "%s: %zu bytes follow the end of the data",
                             comp->alg->name, inlen - used);
    }
    *outlen = n;
    return 0;
}

int qcrypto_comp_decompress_prefix(QCryptoComp *comp, const void *in,
                                   size_t *inlen, void *out, size_t *outlen,
                                   GError **errp)
{
    Buffers b;

    if (check(comp, in, inlen, out, outlen, &b, errp) < 0) {
        return -1;
    }
    if (!comp->alg->ends) {
        return qcrypto_error_unsupported(errp, comp->alg->name,
                                         "its data does not say where it ends");
    }
    size_t used = b.inlen;
    if (decompress(comp, &b, &used, outlen, errp) < 0) {
        return -1;
    }
    *inlen = used;
    return 0;
}

/* ---- one-shot ---- */

int qcrypto_comp_compress_bytes(QCryptoCompAlgo alg, int level, const void *in,
                                size_t inlen, void *out, size_t *outlen,
                                GError **errp)
{
    g_autoptr(QCryptoComp) comp = qcrypto_comp_new(alg, level, errp);

    return comp ? qcrypto_comp_compress(comp, in, inlen, out, outlen, errp)
                : -1;
}

int qcrypto_comp_decompress_bytes(QCryptoCompAlgo alg, const void *in,
                                  size_t inlen, void *out, size_t *outlen,
                                  GError **errp)
{
    g_autoptr(QCryptoComp) comp =
        qcrypto_comp_new(alg, QCRYPTO_COMP_LEVEL_DEFAULT, errp);

    return comp ? qcrypto_comp_decompress(comp, in, inlen, out, outlen, errp)
                : -1;
}
