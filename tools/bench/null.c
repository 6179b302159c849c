/*
 * Kind "null": requests that do nothing, and so what measuring itself costs
 *
 * The loop is that of the other kinds: a call through a pointer that the
 * compiler does not see through, an answer that is looked at.  A request
 * "processes" 16 bytes, the smallest that anything is measured with; what it
 * takes is in every other number.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/null.h"

#include <string.h>

#include "crypto/base/error.h"

#define NAME "null"

typedef int Request(const uint8_t *in, uint8_t *out, size_t len, GError **errp);

typedef struct Null {
    Request *request;
    uint8_t in[16], out[16];
} Null;

static int nothing(const uint8_t *in, uint8_t *out, size_t len, GError **errp)
{
    return 0;
}

static void *setup(const QCryptoBenchCase *c, GError **errp)
{
    Null *s = g_new0(Null, 1);
    Request *volatile request = nothing;

    s->request = request;
    return s;
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    *provider = NAME;
    *impl = NAME;
}

static int run(void *state, uint64_t calls, GError **errp)
{
    Null *s = state;

    for (; calls; calls--) {
        if (s->request(s->in, s->out, sizeof s->in, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Nothing was done, and nothing was written. */
static int check(void *state, GError **errp)
{
    const Null *s = state;

    return memcmp(s->in, s->out, sizeof s->in)
               ? qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "wrong output")
               : 0;
}

static const QCryptoBenchOps ops = {
    .setup = setup,
    .identify = identify,
    .verify = check,
    .run = run,
    .check = check,
    .teardown = g_free,
};

static int fit(QCryptoBenchCase *c, GError **errp)
{
    c->request_bytes = c->inputsize;
    return 0;
}

static bool knows(const char *name)
{
    return !g_ascii_strcasecmp(name, NAME);
}

static int plan(const QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    static const QCryptoBenchMeasure measure = {"ns a request", 1e-9, true};
    const QCryptoBenchCase c = {
        .ops = &ops,
        .algtype = NAME,
        .algorithm = (char *)NAME,
        .provider = (char *)NAME,
        .impl = (char *)NAME,
        .alg = -1,
        .mode = -1,
        .measure = &measure,
    };
    QCryptoBenchRequest mine = *request;
    g_autoptr(GPtrArray) list = g_ptr_array_new();

    for (char **name = request->algorithms; name && *name; name++) {
        if (!knows(*name) && g_ascii_strcasecmp(*name, "all")) {
            return qcrypto_error_unknown(errp, "nothing", *name);
        }
    }
    if (qcrypto_bench_listed(request->providers, NAME)) {
        g_ptr_array_add(list, (gpointer)&c);
    }
    mine.sizes = kind->sizes;
    mine.nsizes = kind->nsizes;
    mine.inplace[0] = true;
    mine.inplace[1] = false;
    return qcrypto_bench_cross(kind, &mine, list, groups, fit, errp);
}

static const char *const algorithms[] = {NAME, NULL};
static const char *const alt_names[] = {"CRYPTO_NULL", NULL};
static const QCryptoBenchSize sizes[] = {{16, 1}};

const QCryptoBenchKind qcrypto_bench_kind_null = {
    .name = NAME,
    .alt_names = alt_names,
    .own = NAME,
    .optypes = {"nothing", NULL},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = plan,
};
