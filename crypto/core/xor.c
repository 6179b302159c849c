/*
 * The XOR front end
 *
 * More than five sources go in passes: the first takes five, each further one
 * dst and four more.  dst may be a source: a pass writes dst, so copies of
 * dst among the sources must be read by the first one.  Two equal sources
 * cancel, so of the copies at most one is left, and it is put first.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/xor.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/core/plan.h"

/* forced by the API or QCRYPTO_XOR; atomic */
static QCryptoCandidate *forced;

/* QCRYPTO_XOR was read, once, and is no error; atomic */
static int settled;

/* Before the first use; -1 while what the variable says is an error. */
static int settle(GError **errp)
{
    static gsize once;
    static GError *error;

    if (g_once_init_enter(&once)) {
        const char *name = getenv("QCRYPTO_XOR");

        if (!name || !*name || qcrypto_xor_force(name, &error) == 0) {
            g_atomic_int_set(&settled, 1);
        }
        g_once_init_leave(&once, 1);
    }
    if (error && !g_atomic_pointer_get(&forced)) {
        g_propagate_prefixed_error(errp, g_error_copy(error), "QCRYPTO_XOR: ");
        return -1;
    }
    return 0;
}

static QCryptoCandidate *choose(unsigned arity, size_t len)
{
    QCryptoCandidate *c = g_atomic_pointer_get(&forced);

    if (c) {
        return c;
    }
    const QCryptoPlan *plan = qcrypto_plan(QCRYPTO_KIND_XOR, 0, -1, arity);
    if (plan) {
        return qcrypto_plan_step(plan, len)->candidate;
    }
    return qcrypto_select_usable(QCRYPTO_KIND_XOR, 0, -1, 0, NULL);
}

QCryptoCandidate *qcrypto_xor_candidate(const char *name, GError **errp)
{
    QCryptoCandidate *const *all;
    size_t n;

    if (strchr(name, ':')) {
        return qcrypto_select_named(name, QCRYPTO_KIND_XOR, 0, -1, errp);
    }
    all = qcrypto_candidates(&n, errp);
    if (!all) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;

        if (r->kind == QCRYPTO_KIND_XOR && !strcmp(r->impl, name)) {
            g_autofree char *full =
                g_strdup_printf("%s:%s", all[i]->provider->name, name);

            return qcrypto_select_named(full, QCRYPTO_KIND_XOR, 0, -1, errp);
        }
    }
    qcrypto_error_unknown(errp, "xor template", name);
    return NULL;
}

int qcrypto_xor_force(const char *name, GError **errp)
{
    QCryptoCandidate *c = name ? qcrypto_xor_candidate(name, errp) : NULL;

    if (name && !c) {
        return -1;
    }
    g_atomic_pointer_set(&forced, c);
    return 0;
}

const char *qcrypto_xor_get_impl(size_t nsrcs, size_t len)
{
    const unsigned arity = (unsigned)CLAMP(nsrcs, 2, QCRYPTO_XOR_ARITY);
    const QCryptoCandidate *c = settle(NULL) == 0 ? choose(arity, len) : NULL;

    return c ? c->row->impl : NULL;
}

/* Says what is wrong with the arguments, of which source i is the first. */
static G_GNUC_NO_INLINE int refuse(const void *dst, const void *const *srcs,
                                   size_t nsrcs, size_t i, GError **errp)
{
    if (!nsrcs) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "xor needs at least one source");
    }
    if (!srcs || !dst || !srcs[i]) {
        return qcrypto_error_null(errp, !srcs ? "srcs" : !dst ? "dst" : "a source");
    }
    return qcrypto_error(
        errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
        "xor: source %zu overlaps the destination in part", i);
}

/* 4 KiB take a template some 40 ns: errors are made elsewhere. */
static inline int check(const void *dst, const void *const *srcs, size_t nsrcs,
                        size_t len, GError **errp)
{
    if (G_UNLIKELY(!nsrcs || !srcs)) {
        return refuse(dst, srcs, nsrcs, 0, errp);
    }
    for (size_t i = 0; i < nsrcs && len; i++) {
        if (G_UNLIKELY(!dst || !srcs[i] ||
                       qcrypto_overlap(srcs[i], dst, len))) {
            return refuse(dst, srcs, nsrcs, i, errp);
        }
    }
    return G_LIKELY(g_atomic_int_get(&settled)) ? 0 : settle(errp);
}

int qcrypto_xor_check(const void *dst, const void *const *srcs, size_t nsrcs,
                      size_t len, GError **errp)
{
    if (check(dst, srcs, nsrcs, len, errp) < 0) {
        return -1;
    }
    return choose(2, len)
               ? 0
               : qcrypto_select_failed(QCRYPTO_KIND_XOR, 0, -1, NULL, errp);
}

/* One pass of up to QCRYPTO_XOR_ARITY sources; -1: no template to be had. */
static inline int run(QCryptoCandidate *fixed, uint8_t *dst, const void *const *srcs,
                      size_t n, size_t len)
{
    if (n == 1) {
        memmove(dst, srcs[0], len);
        return 0;
    }
    const QCryptoCandidate *c = fixed ? fixed : choose((unsigned)n, len);
    if (G_UNLIKELY(!c)) {
        return -1;
    }
    const QCryptoXorOps *ops = c->row->ops;
    ops->xor_n[n](dst, srcs, len);
    return 0;
}

/* len bytes from offset at on */
static int passes(QCryptoCandidate *fixed, void *dst, const void *const *srcs,
                  size_t nsrcs, size_t at, size_t len)
{
    uint8_t *out = (uint8_t *)dst + at;
    const void *group[QCRYPTO_XOR_ARITY];
    size_t n = 0;
    bool self = false, written = false;

    for (size_t i = 0; i < nsrcs; i++) {
        self ^= srcs[i] == dst;
    }
    if (self) {
        group[n++] = out;
    }
    for (size_t i = 0; i < nsrcs; i++) {
        if (srcs[i] == dst) {
            continue;
        }
        group[n++] = (const uint8_t *)srcs[i] + at;
        if (n == QCRYPTO_XOR_ARITY) {
            if (run(fixed, out, group, n, len) < 0) {
                return -1;
            }
            written = true;
            group[0] = out;
            n = 1;
        }
    }
    if (!n) {
        memset(out, 0, len); /* everything cancelled */
        return 0;
    }
    return n == 1 && written ? 0 : run(fixed, out, group, n, len);
}

/* A piece at a time, so that what a pass wrote is near in the next one. */
static G_GNUC_NO_INLINE int many(QCryptoCandidate *fixed, void *dst,
                                 const void *const *srcs, size_t nsrcs,
                                 size_t len)
{
    const size_t piece = 4096;

    for (size_t at = 0; at < len; at += piece) {
        if (passes(fixed, dst, srcs, nsrcs, at, MIN(piece, len - at)) < 0) {
            return -1;
        }
    }
    return 0;
}

int qcrypto_xor_by(QCryptoCandidate *fixed, void *dst, const void *const *srcs,
                   size_t nsrcs, size_t len)
{
    if (G_UNLIKELY(check(dst, srcs, nsrcs, len, NULL) < 0)) {
        return -1;
    }
    if (!len) {
        return 0;
    }
    /* a template reads all its sources before it writes: copies of dst do */
    return nsrcs <= QCRYPTO_XOR_ARITY ? run(fixed, dst, srcs, nsrcs, len)
                                      : many(fixed, dst, srcs, nsrcs, len);
}

int qcrypto_xor(void *dst, const void *const *srcs, size_t nsrcs, size_t len)
{
    return qcrypto_xor_by(NULL, dst, srcs, nsrcs, len);
}

int qcrypto_xor_from(const char *name, void *dst, const void *const *srcs,
                     size_t nsrcs, size_t len, GError **errp)
{
    if (!name) {
        return qcrypto_error_null(errp, "name");
    }
    if (check(dst, srcs, nsrcs, len, errp) < 0) {
        return -1;
    }
    QCryptoCandidate *c = qcrypto_xor_candidate(name, errp);
    return c ? qcrypto_xor_by(c, dst, srcs, nsrcs, len) : -1;
}
