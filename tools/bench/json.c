/*
 * Results as JSON: docs/bench-schema.json
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config-qcrypto.h"

#include "tools/bench/report.h"

#include "crypto/base/error.h"
#include "tools/bench/data.h"

#if QCRYPTO_HAVE_JANSSON

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *strings(char *const *list)
{
    json_t *a = json_array();

    for (size_t i = 0; list && list[i]; i++) {
        json_array_append_new(a, json_string(list[i]));
    }
    return a;
}

static json_t *value_json(GVariant *v)
{
    if (g_variant_is_of_type(v, G_VARIANT_TYPE("a{ss}"))) {
        json_t *o = json_object();
        GVariantIter iter;
        const char *key, *s;

        g_variant_iter_init(&iter, v);
        while (g_variant_iter_loop(&iter, "{&s&s}", &key, &s)) {
            json_object_set_new(o, key, json_string(s));
        }
        return o;
    }
    if (g_variant_is_of_type(v, G_VARIANT_TYPE_STRING_ARRAY)) {
        g_autofree const char **list = g_variant_get_strv(v, NULL);

        return strings((char *const *)list);
    }
    if (g_variant_is_of_type(v, G_VARIANT_TYPE_MAYBE)) {
        g_autoptr(GVariant) child = g_variant_get_maybe(v);

        return child ? value_json(child) : json_null();
    }
    if (g_variant_is_of_type(v, G_VARIANT_TYPE_STRING)) {
        return json_string(g_variant_get_string(v, NULL));
    }
    if (g_variant_is_of_type(v, G_VARIANT_TYPE_BOOLEAN)) {
        return json_boolean(g_variant_get_boolean(v));
    }
    return g_variant_is_of_type(v, G_VARIANT_TYPE_INT64)
               ? json_integer(g_variant_get_int64(v))
               : number(g_variant_get_double(v));
}

static json_t *machine_json(GVariant *m)
{
    json_t *o = json_object();
    GVariantIter iter;
    const char *name;
    GVariant *value;

    g_variant_iter_init(&iter, m);
    while (g_variant_iter_loop(&iter, "{&sv}", &name, &value)) {
        json_object_set_new(o, name, value_json(value));
    }
    return o;
}

/* A rate: bytes (per sample when @bytes) or requests a second. */
static json_t *rate_json(const QCryptoBenchResult *r,
                         const QCryptoBenchStats *stats, bool bytes)
{
    json_t *o, *samples;

    if (r->failed) {
        return json_null();
    }
    samples = json_array();
    for (unsigned i = 0; i < r->nsamples; i++) {
        const QCryptoBenchSample *s = &r->samples[i];

        json_array_append_new(
            samples,
            number(qcrypto_bench_rate(bytes ? s->bytes : s->calls, s->ns)));
    }
    o = json_object();
    json_object_set_new(o, "best", number(stats->best));
    json_object_set_new(o, "median", number(stats->median));
    json_object_set_new(o, "stddev", number(stats->stddev));
    json_object_set_new(o, "samples", samples);
    return o;
}

static json_t *counters_json(const QCryptoBenchResult *r)
{
    const QCryptoBenchCounters *c = &r->counters;
    json_t *o = json_object();
    bool any = false;

    for (size_t i = 0; i < QCRYPTO_BENCH_NCOUNTERS; i++) {
        json_object_set_new(o, qcrypto_bench_counter_names[i],
                            c->have[i] ? json_integer((json_int_t)c->value[i])
                                       : json_null());
        any |= c->have[i];
    }
    json_object_set_new(o, "calls", json_integer((json_int_t)c->calls));
    json_object_set_new(o, "bytes", json_integer((json_int_t)c->bytes));
    if (!any || r->failed) {
        json_decref(o);
        return json_null();
    }
    return o;
}

static json_t *threads_json(const QCryptoBenchResult *r)
{
    json_t *o = json_object();

    json_object_set_new(o, "min", number(r->best.thread_min));
    json_object_set_new(o, "max", number(r->best.thread_max));
    return o;
}

/* How it was measured. */
static void plan_json(json_t *o, const QCryptoBenchResult *r)
{
    const QCryptoBenchPlan *p = r->plan;
    g_autofree char *mask =
        g_strdup_printf("0x%" G_GINT64_MODIFIER "x", p->numamask);

    if (r->runset) {
        json_object_set_new(o, "runset", text(r->runset));
    }
    json_object_set_new(o, "disturbed", json_integer(r->disturbed));
    json_object_set_new(o, "in_flight", json_integer(r->in_flight));
    json_object_set_new(o, "numamask", text(mask));
    json_object_set_new(
        o, "loop", r->loop ? json_integer((json_int_t)r->loop) : json_null());
    json_object_set_new(o, "time",
                        p->fixed_bytes ? json_null() : number(p->seconds));
    json_object_set_new(o, "fixed_bytes",
                        p->fixed_bytes
                            ? json_integer((json_int_t)p->fixed_bytes)
                            : json_null());
}

static json_t *row_json(const QCryptoBenchResult *r)
{
    const QCryptoBenchCase *c = r->c;
    json_t *o = json_object();

    json_object_set_new(o, "algtype", text(c->algtype));
    json_object_set_new(o, "algorithm", text(c->algorithm));
    json_object_set_new(o, "optype", text(c->optype));
    json_object_set_new(o, "provider",
                        text(r->provider ? r->provider : c->provider));
    json_object_set_new(o, "impl", text(r->impl ? r->impl : c->impl));
    json_object_set_new(o, "inputsize", json_integer((json_int_t)c->inputsize));
    json_object_set_new(o, "sectors", json_integer((json_int_t)c->sectors));
    if (c->sources) {
        json_object_set_new(o, "sources", json_integer(c->sources));
    }
    json_object_set_new(o, "keysize",
                        c->keybits ? json_integer(c->keybits) : json_null());
    json_object_set_new(o, "threadnum", json_integer(c->threadnum));
    json_object_set_new(o, "reqnum", json_integer(MAX(c->reqnum, 1)));
    json_object_set_new(o, "inplace", json_boolean(c->inplace));
    if (c->data) {
        json_object_set_new(o, "data", json_string(c->data->text));
        json_object_set_new(o, "ratio",
                            r->failed ? json_null() : number(r->ratio));
    }
    plan_json(o, r);
    json_object_set_new(o, "bytes_per_sec",
                        rate_json(r, &r->bytes_per_sec, true));
    json_object_set_new(o, "ops_per_sec", rate_json(r, &r->ops_per_sec, false));
    json_object_set_new(o, "cycles_per_byte",
                        !r->failed && r->cycles_per_byte > 0
                            ? number(r->cycles_per_byte)
                            : json_null());
    json_object_set_new(o, "frequency_hz",
                        r->frequency > 0
                            ? json_integer((json_int_t)r->frequency)
                            : json_null());
    json_object_set_new(o, "counters", counters_json(r));
    if (r->doubt) {
        json_object_set_new(o, "doubt", text(r->doubt));
    }
    json_object_set_new(o, "verified", json_boolean(r->verified));
    if (r->failed) {
        json_object_set_new(o, "failed", text(r->failed));
    } else if (c->threadnum > 1) {
        json_object_set_new(o, "thread_bytes_per_sec", threads_json(r));
    }
    return o;
}

/* Takes @root. */
static char *dump(json_t *root, GError **errp)
{
    /* 15 digits: what a double holds for certain */
    char *dumped = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    char *ret = dumped ? g_strdup_printf("%s\n", dumped) : NULL;

    if (!dumped) {
        qcrypto_error(errp, QCRYPTO_ERROR_IO, "JSON: a name is no UTF-8 text");
    }
    free(dumped);
    json_decref(root);
    return ret;
}

char *qcrypto_bench_json(GVariant *machine, const QCryptoBenchResult *results,
                         size_t n, char *const *notes, GError **errp)
{
    json_t *root = json_object();
    json_t *rows = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(rows, row_json(&results[i]));
    }
    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "machine", machine_json(machine));
    json_object_set_new(root, "rows", rows);
    json_object_set_new(root, "notes", strings(notes));
    return dump(root, errp);
}

char *qcrypto_bench_machine_json(GVariant *machine, GError **errp)
{
    return dump(machine_json(machine), errp);
}

#else

static char *refuse(GError **errp)
{
    qcrypto_error_unsupported(errp, "--json",
                              "this build was made without jansson");
    return NULL;
}

char *qcrypto_bench_json(GVariant *machine, const QCryptoBenchResult *results,
                         size_t n, char *const *notes, GError **errp)
{
    return refuse(errp);
}

char *qcrypto_bench_machine_json(GVariant *machine, GError **errp)
{
    return refuse(errp);
}

#endif
