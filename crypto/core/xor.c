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
#include <qcrypto/xor.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/core/plan.h"

/* forced by the API or QCRYPTO_XOR; atomic */
static QCryptoCandidate *forced;

/* QCRYPTO_XOR is read once, before the first use. */
static bool ready(GError **errp)
{
    static gsize once;
    static GError *error;

    if (g_once_init_enter(&once)) {
        const char *name = getenv("QCRYPTO_XOR");

        if (name && *name) {
            qcrypto_xor_force(name, &error);
        }
        g_once_init_leave(&once, 1);
    }
    if (G_UNLIKELY(error && !g_atomic_pointer_get(&forced))) {
        g_propagate_prefixed_error(errp, g_error_copy(error), "QCRYPTO_XOR: ");
        return false;
    }
    return true;
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

/* "avx2" or "provider:avx2" */
static QCryptoCandidate *named(const char *name, GError **errp)
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
    QCryptoCandidate *c = name ? named(name, errp) : NULL;

    if (name && !c) {
        return -1;
    }
    g_atomic_pointer_set(&forced, c);
    return 0;
}

const char *qcrypto_xor_get_impl(size_t nsrcs, size_t len)
{
    const unsigned arity = (unsigned)CLAMP(nsrcs, 2, QCRYPTO_XOR_ARITY);
    const QCryptoCandidate *c = ready(NULL) ? choose(arity, len) : NULL;

    return c ? c->row->impl : NULL;
}

int qcrypto_xor_check(const void *dst, const void *const *srcs, size_t nsrcs,
                      size_t len, GError **errp)
{
    if (!nsrcs) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "xor needs at least one source");
    }
    if (!srcs || (!dst && len)) {
        return qcrypto_error_null(errp, srcs ? "dst" : "srcs");
    }
    const uintptr_t d = (uintptr_t)dst;
    for (size_t i = 0; i < nsrcs; i++) {
        const uintptr_t s = (uintptr_t)srcs[i];

        if (!s && len) {
            return qcrypto_error_null(errp, "a source");
        }
        if (s != d && (s > d ? s - d : d - s) < len) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "xor: source %zu overlaps the destination in "
                                 "part",
                                 i);
        }
    }
    return ready(errp) ? 0 : -1;
}

static void run(QCryptoCandidate *fixed, uint8_t *dst, const uint8_t *const *srcs,
                unsigned n, size_t len)
{
    if (n == 1) {
        memmove(dst, srcs[0], len);
        return;
    }
    const QCryptoCandidate *c = fixed ? fixed : choose(n, len);
    const QCryptoXorOps *ops = c->row->ops;
    ops->xor_n[n](dst, srcs, len);
}

static void passes(QCryptoCandidate *fixed, uint8_t *dst,
                   const void *const *srcs, size_t nsrcs, size_t len)
{
    const uint8_t *group[QCRYPTO_XOR_ARITY];
    unsigned n = 0;
    bool self = false, written = false;

    for (size_t i = 0; i < nsrcs; i++) {
        self ^= srcs[i] == dst;
    }
    if (self) {
        group[n++] = dst;
    }
    for (size_t i = 0; i < nsrcs; i++) {
        if (srcs[i] == dst) {
            continue;
        }
        group[n++] = srcs[i];
        if (n == QCRYPTO_XOR_ARITY) {
            run(fixed, dst, group, n, len);
            written = true;
            group[0] = dst;
            n = 1;
        }
    }
    if (n > 1 || (n == 1 && !written)) {
        run(fixed, dst, group, n, len);
    } else if (!n) {
        memset(dst, 0, len); /* everything cancelled */
    }
}

int qcrypto_xor(void *dst, const void *const *srcs, size_t nsrcs, size_t len)
{
    if (G_UNLIKELY(qcrypto_xor_check(dst, srcs, nsrcs, len, NULL) < 0) ||
        (nsrcs > 1 && G_UNLIKELY(!choose(2, len)))) {
        return -1;
    }
    if (len) {
        passes(NULL, dst, srcs, nsrcs, len);
    }
    return 0;
}

int qcrypto_xor_from(const char *name, void *dst, const void *const *srcs,
                     size_t nsrcs, size_t len, GError **errp)
{
    if (!name) {
        return qcrypto_error_null(errp, "name");
    }
    if (qcrypto_xor_check(dst, srcs, nsrcs, len, errp) < 0) {
        return -1;
    }
    QCryptoCandidate *c = named(name, errp);
    if (!c) {
        return -1;
    }
    if (len) {
        passes(c, dst, srcs, nsrcs, len);
    }
    return 0;
}
