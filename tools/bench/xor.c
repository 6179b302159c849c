/*
 * Kind "xor": the XOR templates
 *
 *   xor    the sum of so many sources: "xor-2", "xor-3", ...
 *
 * inputsize is the bytes of one source.  Rates count the bytes of all sources,
 * since each is read once; memcpy, which stands beside as what moving one
 * source takes, counts that one.  --fixed-mib is for each source.
 *
 * Before its tables the kind says, in the manner of the Linux kernel, what
 * calibration measured and chose.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/xor.h"

#include <qcrypto/calibrate.h>
#include <qcrypto/xor.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/xor.h"
#include "tools/bench/options.h"

#define ALGORITHM   "xor-"
#define MAX_SOURCES 64
/* whose number the kernel's lines give */
#define SHOWN_SOURCES 2
#define SHOWN_SIZE    4096

typedef struct Xor {
    const QCryptoBenchCase *c;
    QCryptoCandidate *candidate; /* NULL: the peer's */
    size_t n, len;
    const void *srcs[MAX_SOURCES];
    uint8_t *dst;
    uint8_t *want;
    void *memory;
    size_t size;
} Xor;

static int run(void *state, uint64_t calls, GError **errp)
{
    Xor *s = state;

    for (; s->candidate && calls; calls--) {
        if (qcrypto_xor_by(s->candidate, s->dst, s->srcs, s->n, s->len) < 0) {
            return qcrypto_xor_check(s->dst, s->srcs, s->n, s->len, errp);
        }
    }
    for (; calls; calls--) {
        if (s->c->peer->xor->run(s->dst, s->srcs, s->n, s->len, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Any bytes, of each source others. */
static void fill(Xor *s)
{
    for (size_t i = 0; i < s->n; i++) {
        uint8_t *p = (uint8_t *)(uintptr_t)s->srcs[i];

        for (size_t j = 0; j < s->len; j++) {
            p[j] = (uint8_t)(j * (2 * i + 3) + (j >> 8) * 7 + i);
        }
    }
}

/* One request from fresh sources; in place there is a new one each time. */
static int verify(void *state, GError **errp)
{
    Xor *s = state;

    if (!s->c->inplace) {
        memset(s->dst, 0xa5, s->len);
    }
    fill(s);
    memcpy(s->want, s->srcs[0], s->len);
    for (size_t i = 1; i < s->n; i++) {
        const uint8_t *p = s->srcs[i];

        for (size_t j = 0; j < s->len; j++) {
            s->want[j] ^= p[j];
        }
    }
    if (run(s, 1, errp) < 0) {
        return -1;
    }
    return memcmp(s->dst, s->want, s->len)
               ? qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "other bytes than one by one")
               : 0;
}

static void teardown(void *state)
{
    Xor *s = state;

    qcrypto_wipe_free(s->memory, s->size);
    g_free(s);
}

/* Whole pages, as they come to RAID code, with one between them. */
static void *setup(const QCryptoBenchCase *c, GError **errp)
{
    const size_t room = ((c->inputsize + 4095) & ~(size_t)4095) + 4096;
    Xor *s = g_new0(Xor, 1);

    s->c = c;
    s->n = c->sources;
    s->len = c->inputsize;
    s->size = (s->n + 2) * room + 4096;
    s->memory = qcrypto_alloc(s->size);
    if (!s->memory) {
        qcrypto_error_memory(errp, "the benchmark's buffers", s->size / 1024,
                             0);
        teardown(s);
        return NULL;
    }
    s->want = (void *)(((uintptr_t)s->memory + 4095) & ~(uintptr_t)4095);
    s->dst = s->want + room;
    for (size_t i = 0; i < s->n; i++) {
        s->srcs[i] = i || !c->inplace ? s->dst + (i + 1) * room : s->dst;
    }
    if (!c->peer) {
        s->candidate = qcrypto_xor_candidate(c->row, errp);
        if (!s->candidate) {
            teardown(s);
            return NULL;
        }
    }
    return s;
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    const Xor *s = state;

    *provider = s->candidate ? s->candidate->provider->name : s->c->provider;
    *impl = s->candidate ? s->candidate->row->impl : s->c->impl;
}

static const QCryptoBenchOps ops = {
    .setup = setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .check = verify,
    .teardown = teardown,
};

/* ---- From request to cases ---- */

static bool peer_has(const QCryptoBenchPeer *peer, int alg G_GNUC_UNUSED,
                     int mode G_GNUC_UNUSED)
{
    return peer->xor &&(!peer->xor->usable || peer->xor->usable());
}

static int fit(QCryptoBenchCase *c, GError **errp)
{
    if (c->sectors != 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: a request is one unit, not %zu", c->algtype,
                             c->sectors);
    }
    c->request_bytes = (uint64_t)c->inputsize * c->sources;
    if (c->inplace && c->peer) {
        c->unavailable = g_strdup("takes no source for its destination");
    }
    return 0;
}

static int plan_one(const QCryptoBenchKind *kind,
                    const QCryptoBenchRequest *request, unsigned n,
                    GPtrArray *groups, GError **errp)
{
    const QCryptoBenchSource source = {kind, &ops, QCRYPTO_KIND_XOR, peer_has,
                                       NULL};
    g_autoptr(GPtrArray) list =
        qcrypto_bench_candidates(&source, request, 0, -1, errp);

    for (guint i = list ? list->len : 0; i-- > 0;) {
        QCryptoBenchCase *c = g_ptr_array_index(list, i);
        const QCryptoBenchXorPeer *peer = c->peer ? c->peer->xor : NULL;

        if (peer && peer->max_sources < n && peer->max_sources > 1) {
            g_ptr_array_remove_index(list, i);
            continue;
        }
        g_free(c->algorithm);
        c->algorithm = g_strdup_printf(ALGORITHM "%u", n);
        c->sources = peer ? MIN(n, peer->max_sources) : n;
    }
    return list ? qcrypto_bench_cross(kind, request, list, groups, fit, errp)
                : -1;
}

/* "xor-5" to 5; 0: no such name. */
static unsigned sources_of(const char *name)
{
    const size_t n = strlen(ALGORITHM);
    uint64_t value;

    return !g_ascii_strncasecmp(name, ALGORITHM, n) &&
                   qcrypto_bench_parse_count(name, name + n, 2, MAX_SOURCES,
                                             &value, NULL) == 0
               ? (unsigned)value
               : 0;
}

static bool knows(const char *name)
{
    return sources_of(name) > 0;
}

static int plan(const QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    static char *every[] = {(char *)"all", NULL};
    const char *const *names = request->algorithms
                                   ? (const char *const *)request->algorithms
                                   : kind->algorithms;
    QCryptoBenchRequest mine = *request;

    if (request->template && qcrypto_xor_force(request->template, errp) < 0) {
        return -1;
    }
    /* templates are what is compared, not providers */
    mine.impls = request->impls ? request->impls : every;
    for (; *names; names++) {
        const bool all = !g_ascii_strcasecmp(*names, "all");
        const unsigned n = sources_of(*names);

        if (!n && !all) {
            return qcrypto_error_unknown(errp, "number of sources", *names);
        }
        for (size_t i = 0; all && kind->algorithms[i]; i++) {
            if (plan_one(kind, &mine, sources_of(kind->algorithms[i]), groups,
                         errp) < 0) {
                return -1;
            }
        }
        if (!all && plan_one(kind, &mine, n, groups, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- In the kernel's manner ---- */

/* 10^6 bytes of all sources a second, or 0 */
static double megabytes(const QCryptoCalibration *c, const char *impl,
                        unsigned sources, size_t size)
{
    for (size_t i = 0; i < c->nresults; i++) {
        const QCryptoCalibrationResult *r = &c->results[i];

        if (!strcmp(r->kind, "xor") && !strcmp(r->impl, impl) &&
            r->arity == sources && r->size == size) {
            return r->mib_per_s * 0x1p20 / 1e6;
        }
    }
    return 0;
}

/* Templates x (sources, bytes), those in use marked. */
static void write_shapes(GString *out, const QCryptoCalibration *c,
                         const GPtrArray *names)
{
    static const size_t bytes[] = {4096, 65536};

    g_string_append(out, "\nMB/sec by sources x bytes of each; * in use\n");
    g_string_append_printf(out, "%16s ", "");
    for (unsigned n = 2; n <= QCRYPTO_XOR_ARITY; n++) {
        for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) {
            g_autofree char *head = g_strdup_printf("%ux%zu", n, bytes[i]);
            g_string_append_printf(out, "%8s ", head);
        }
    }
    for (guint k = 0; k < names->len; k++) {
        const char *name = g_ptr_array_index(names, k);

        g_string_append_printf(out, "\n%16s ", name);
        for (unsigned n = 2; n <= QCRYPTO_XOR_ARITY; n++) {
            for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) {
                g_string_append_printf(
                    out, "%8.0f%c", megabytes(c, name, n, bytes[i]),
                    g_strcmp0(qcrypto_xor_get_impl(n, bytes[i]), name) ? ' '
                                                                       : '*');
            }
        }
    }
    g_string_append(out, "\n\n");
}

static int preface(GString *out, GError **errp)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    static const uint8_t byte;
    const void *const source = &byte;

    /* QCRYPTO_XOR may name a template that there is not */
    if (qcrypto_xor_check(NULL, &source, 1, 0, errp) < 0 ||
        qcrypto_calibrate("xor", 0, NULL, NULL, errp) < 0) {
        return -1;
    }
    g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();
    const char *chosen = qcrypto_xor_get_impl(SHOWN_SOURCES, SHOWN_SIZE);

    g_string_append(out, "xor: measuring software checksum speed\n");
    for (size_t i = 0; i < c->nresults; i++) {
        const QCryptoCalibrationResult *r = &c->results[i];

        if (!strcmp(r->kind, "xor") && r->arity == SHOWN_SOURCES &&
            r->size == SHOWN_SIZE) {
            g_ptr_array_add(names, (void *)(uintptr_t)r->impl);
            g_string_append_printf(
                out, "%16s: %6.0f MB/sec\n", r->impl,
                megabytes(c, r->impl, SHOWN_SOURCES, SHOWN_SIZE));
        }
    }
    if (!names->len) {
        /* no clock to speak of, or nothing to choose from */
        g_string_append_printf(out,
                               "xor: nothing measured, using function: %s\n\n",
                               chosen ? chosen : "(none)");
        return 0;
    }
    g_string_append_printf(out, "xor: using function: %s (%.0f MB/sec)\n",
                           chosen,
                           megabytes(c, chosen, SHOWN_SOURCES, SHOWN_SIZE));
    write_shapes(out, c, names);
    return 0;
}

static const char *const algorithms[] = {"xor-2", "xor-3", "xor-4", "xor-5",
                                         NULL};

static const QCryptoBenchSize sizes[] = {{4096, 1}, {65536, 1}};

static const char *const alt_names[] = {"CRYPTO_XOR", NULL};

const QCryptoBenchKind qcrypto_bench_kind_xor = {
    .name = "xor",
    .alt_names = alt_names,
    .optypes = {"xor", NULL},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = plan,
    .preface = preface,
};
