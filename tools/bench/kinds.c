/*
 * The table of kinds, and what all of them do alike
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/kinds.h"

#include <string.h>

#include "crypto/core/select.h"
#include "tools/bench/chacha.h"
#include "tools/bench/cipher.h"
#include "tools/bench/compress.h"
#include "tools/bench/hash.h"
#include "tools/bench/kdf.h"
#include "tools/bench/null.h"
#include "tools/bench/rng.h"
#include "tools/bench/xor.h"

const QCryptoBenchKind *const qcrypto_bench_kinds[] = {
    &qcrypto_bench_kind_cipher,
    &qcrypto_bench_kind_object,
    &qcrypto_bench_kind_chacha,
    &qcrypto_bench_kind_hash,
    &qcrypto_bench_kind_hmac,
    &qcrypto_bench_kind_kdf,
    &qcrypto_bench_kind_rng,
    &qcrypto_bench_kind_xor,
    &qcrypto_bench_kind_compress,
    &qcrypto_bench_kind_null,
    NULL,
};

/* The same but for "CRYPTO_", which either may have. */
static bool same_name(const char *a, const char *b)
{
    static const char prefix[] = "CRYPTO_";
    const size_t n = strlen(prefix);

    a += g_ascii_strncasecmp(a, prefix, n) ? 0 : n;
    b += g_ascii_strncasecmp(b, prefix, n) ? 0 : n;
    return !g_ascii_strcasecmp(a, b);
}

const QCryptoBenchKind *qcrypto_bench_kind(const char *name)
{
    for (size_t i = 0; qcrypto_bench_kinds[i]; i++) {
        const QCryptoBenchKind *k = qcrypto_bench_kinds[i];

        if (same_name(name, k->name)) {
            return k;
        }
        for (size_t j = 0; k->alt_names[j]; j++) {
            if (same_name(name, k->alt_names[j])) {
                return k;
            }
        }
    }
    return NULL;
}

static void free_group(gpointer group)
{
    g_ptr_array_unref(group);
}

static void free_case(gpointer c)
{
    qcrypto_bench_case_free(c);
}

GPtrArray *qcrypto_bench_groups_new(void)
{
    return g_ptr_array_new_with_free_func(free_group);
}

int qcrypto_bench_alg(QCryptoKind kind, const char *name)
{
    const QCryptoAlg *alg = qcrypto_alg_from_name(kind, name);

    for (size_t i = 0; !alg; i++) {
        const QCryptoAlg *other = qcrypto_alg_at(i);

        if (!other) {
            return -1;
        }
        /* where sizes share one there, it is none of ours */
        if (other->kind == kind && other->kernel && !other->key_len &&
            !g_ascii_strcasecmp(name, other->kernel)) {
            alg = other;
        }
    }
    return alg->id;
}

bool qcrypto_bench_key_listed(const QCryptoBenchRequest *request, unsigned bits)
{
    for (size_t i = 0; i < request->nkeybits; i++) {
        if (request->keybits[i] == bits) {
            return true;
        }
    }
    return !request->nkeybits;
}

bool qcrypto_bench_listed(char *const *list, const char *name)
{
    if (!list) {
        return true;
    }
    for (size_t i = 0; list[i]; i++) {
        if (!g_ascii_strcasecmp(list[i], name)) {
            return true;
        }
    }
    return false;
}

/* ---- Candidates ---- */

static QCryptoBenchCase *new_case(const QCryptoBenchSource *source, int alg,
                                  int mode, const char *provider,
                                  const char *impl)
{
    QCryptoBenchCase *c = g_new0(QCryptoBenchCase, 1);
    char what[64];

    c->ops = source->ops;
    c->algtype = source->kind->name;
    c->alg = alg;
    c->mode = mode;
    c->algorithm = g_strdup(qcrypto_describe(what, source->rows, alg, mode));
    c->provider = g_strdup(provider);
    c->impl = g_strdup(impl);
    return c;
}

static bool add_case(GPtrArray *list, const QCryptoBenchSource *source,
                     QCryptoBenchCase *c, const QCryptoRowInfo *row)
{
    if (source->mark && !source->mark(c, row)) {
        qcrypto_bench_case_free(c);
        return false;
    }
    g_ptr_array_add(list, c);
    return true;
}

static bool add_row(GPtrArray *list, const QCryptoBenchSource *source,
                    const QCryptoRowInfo *r)
{
    QCryptoBenchCase *c =
        new_case(source, r->alg_id, r->mode_id, r->provider, r->impl);

    c->row = g_strdup_printf("%s:%s", r->provider, r->impl);
    c->unavailable = r->usable ? NULL : g_strdup(r->reason);
    return add_case(list, source, c, r);
}

/* Rows of one provider that the request asks for. */
static void add_provider(GPtrArray *list, const QCryptoBenchSource *source,
                         const QCryptoBenchRequest *req, int alg, int mode,
                         const QCryptoProviderInfo *p,
                         const QCryptoRowInfo *rows, size_t nrows)
{
    const bool all = req->impls && qcrypto_bench_listed(req->impls, "all");
    const QCryptoRowInfo *first = NULL;
    bool added = false;
    char what[64];

    for (size_t i = 0; i < nrows; i++) {
        const QCryptoRowInfo *r = &rows[i];

        if (r->kind_id != (int)source->rows || r->alg_id != alg ||
            r->mode_id != mode || strcmp(r->provider, p->name) != 0) {
            continue;
        }
        if (req->impls) {
            if (all || qcrypto_bench_listed(req->impls, r->impl)) {
                added |= add_row(list, source, r);
            }
        } else if (!r->avoid && !r->benchmark &&
                   (!first || (r->usable && !first->usable))) {
            first = r;
        }
    }
    if (first) {
        added |= add_row(list, source, first);
    }
    if (!added && (!p->available || (req->providers && !req->impls))) {
        QCryptoBenchCase *c = new_case(source, alg, mode, p->name, NULL);

        c->unavailable =
            p->available ? g_strdup_printf(
                               "does not offer %s",
                               qcrypto_describe(what, source->rows, alg, mode))
                         : g_strdup(p->reason);
        g_ptr_array_add(list, c);
    }
}

static void add_peers(GPtrArray *list, const QCryptoBenchSource *source,
                      const QCryptoBenchRequest *req, int alg, int mode)
{
    for (size_t i = 0; req->peers && req->peers[i]; i++) {
        const QCryptoBenchPeer *p = req->peers[i];
        const bool has = source->peer_has(p, alg, mode);
        QCryptoBenchCase *c;
        char what[64];

        if (!qcrypto_bench_listed(req->providers, p->name) ||
            (req->impls && !qcrypto_bench_listed(req->impls, "all") &&
             !qcrypto_bench_listed(req->impls, p->impl ? p->impl : "")) ||
            (!has && !p->missing && !req->providers)) {
            continue;
        }
        c = new_case(source, alg, mode, p->name, p->impl);
        c->flags = QCRYPTO_BENCH_PEER;
        c->peer = p;
        if (p->missing) {
            c->unavailable = g_strdup(p->missing);
        } else if (!has) {
            c->unavailable = g_strdup_printf(
                "has no %s", qcrypto_describe(what, source->rows, alg, mode));
        }
        add_case(list, source, c, NULL);
    }
}

/*
 * Some implementations are none of the rows until they are asked for by name
 * (the kernel's drivers).
 */
static void ask_by_name(const QCryptoBenchSource *source,
                        const QCryptoBenchRequest *req, int alg, int mode,
                        const QCryptoProviderInfo *p)
{
    for (char **impl = req->impls; impl && *impl && p->available; impl++) {
        g_autofree char *name = g_strdup_printf("%s:%s", p->name, *impl);

        qcrypto_select_named(name, source->rows, alg, mode, NULL);
    }
}

GPtrArray *qcrypto_bench_candidates(const QCryptoBenchSource *source,
                                    const QCryptoBenchRequest *request, int alg,
                                    int mode, GError **errp)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(free_case);
    size_t n, nrows;
    const QCryptoProviderInfo *providers = qcrypto_providers_list(&n);

    for (size_t i = 0; i < n; i++) {
        if (qcrypto_bench_listed(request->providers, providers[i].name)) {
            ask_by_name(source, request, alg, mode, &providers[i]);
        }
    }
    QCryptoRowInfo *rows = qcrypto_rows_list(&nrows, errp);
    if (!rows) {
        g_ptr_array_unref(list);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (qcrypto_bench_listed(request->providers, providers[i].name)) {
            add_provider(list, source, request, alg, mode, &providers[i], rows,
                         nrows);
        }
    }
    add_peers(list, source, request, alg, mode);
    qcrypto_rows_free(rows, nrows);
    return list;
}

/* ---- Groups ---- */

/* One group: the candidates, each with the particulars of @form. */
static int add_group(const QCryptoBenchCase *form, const GPtrArray *candidates,
                     GPtrArray *groups,
                     int (*fit)(QCryptoBenchCase *c, GError **errp),
                     GError **errp)
{
    g_autoptr(GPtrArray) group = g_ptr_array_new_with_free_func(free_case);

    for (size_t i = 0; i < candidates->len; i++) {
        QCryptoBenchCase *c =
            qcrypto_bench_case_dup(g_ptr_array_index(candidates, i));

        g_ptr_array_add(group, c);
        c->op = form->op;
        c->optype = form->optype;
        c->inputsize = form->inputsize;
        c->sectors = form->sectors;
        c->threadnum = form->threadnum;
        c->reqnum = form->reqnum;
        c->inplace = form->inplace;
        if (fit(c, errp) < 0) {
            return -1;
        }
    }
    if (group->len) {
        g_ptr_array_add(groups, g_steal_pointer(&group));
    }
    return 0;
}

/* The groups of one operation and size. */
static int add_groups(const QCryptoBenchCase *form,
                      const QCryptoBenchRequest *request,
                      const GPtrArray *candidates, GPtrArray *groups,
                      int (*fit)(QCryptoBenchCase *c, GError **errp),
                      GError **errp)
{
    static const unsigned one = 1;
    const unsigned *reqnums = request->reqnums ? request->reqnums : &one;
    const size_t nreqnums = request->reqnums ? request->nreqnums : 1;
    QCryptoBenchCase c = *form;

    for (size_t t = 0; t < request->nthreads; t++) {
        for (size_t r = 0; r < nreqnums; r++) {
            for (int inplace = 0; inplace < 2; inplace++) {
                c.threadnum = request->threads[t];
                c.reqnum = reqnums[r];
                c.inplace = inplace;
                if (request->inplace[inplace] &&
                    add_group(&c, candidates, groups, fit, errp) < 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

int qcrypto_bench_cross(const QCryptoBenchKind *kind,
                        const QCryptoBenchRequest *request,
                        const GPtrArray *candidates, GPtrArray *groups,
                        int (*fit)(QCryptoBenchCase *c, GError **errp),
                        GError **errp)
{
    const QCryptoBenchSize *sizes = request->sizes;
    size_t nsizes = request->nsizes;

    if (!sizes) {
        sizes = kind->sizes;
        nsizes = kind->nsizes;
    }
    for (int op = 0; op < 2; op++) {
        if (!kind->optypes[op] || !request->ops[op]) {
            continue;
        }
        for (size_t i = 0; i < nsizes; i++) {
            const QCryptoBenchCase form = {
                .op = op,
                .optype = kind->optypes[op],
                .inputsize = sizes[i].inputsize,
                .sectors = sizes[i].sectors,
            };

            if (add_groups(&form, request, candidates, groups, fit, errp) < 0) {
                return -1;
            }
        }
    }
    return 0;
}
