/*
 * qcrypto bench: every provider measured against the others
 *
 * Options become a request (what) and a plan (how); kinds turn the request
 * into groups of cases; the engine measures them; the reports print them.
 * What cannot be measured here is noted with its reason and stops nothing
 * else; it is a failure only if it was asked for by name.
 *
 * Exit status: 0; 1 when a row FAILED or something named is missing; 2 when
 * the options make no sense.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/command.h"

#include <qcrypto/provider.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/file.h"
#include "tools/bench/kinds.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"
#include "tools/commands.h"

#define NAME "bench"

/* Best-of is what is compared, so many short samples serve better than few
 * long ones: one of them will have had the CPU for itself. */
#define DEFAULT_TIME   0.01
#define DEFAULT_REPEAT 11
#define QUICK_TIME     0.002
#define QUICK_REPEAT   3

#define INPUT_MAX   ((uint64_t)1 << 30)
#define SECTORS_MAX ((uint64_t)1 << 20)
#define REPEAT_MAX  10000
#define LOOP_MAX    ((uint64_t)1 << 28)

/* As given: text, NULL when not given. */
typedef struct Options {
    char *algtype, *algorithm, *mode, *provider, *impl, *optype;
    char *inputsize, *sectors, *threadnum, *xor;
    char *time, *repeat, *warmup, *loop, *fixed_mib;
    char *data, *compressibility;
    char *json; /* "-": standard output */
    gboolean inplace, quick, list;
} Options;

static void options_clear(Options *o)
{
    char *const texts[] = {
        o->algtype,   o->algorithm, o->mode,      o->provider,
        o->impl,      o->optype,    o->inputsize, o->sectors,
        o->threadnum, o->time,      o->repeat,    o->warmup,
        o->loop,      o->fixed_mib, o->json,      o->xor,
        o->data,      o->compressibility,
    };

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
}

/* --json alone writes to standard output. */
static gboolean json_option(const char *name, const char *value, gpointer data,
                            GError **errp)
{
    Options *o = data;

    g_free(o->json);
    o->json = g_strdup(value ? value : "-");
    return TRUE;
}

static int parse_options(Options *o, char ***argv, GError **errp)
{
    const GOptionEntry entries[] = {
        {"algtype", 0, 0, G_OPTION_ARG_STRING, &o->algtype,
         "cipher, object, chacha, hash, hmac, kdf, rng, xor, compress", "LIST"},
        {"algorithm", 'a', 0, G_OPTION_ARG_STRING, &o->algorithm,
         "aes-256-xts, or aes-256 for its modes, or all", "LIST"},
        {"mode", 0, 0, G_OPTION_ARG_STRING, &o->mode,
         "modes of the algorithms named without one", "LIST"},
        {"optype", 0, 0, G_OPTION_ARG_STRING, &o->optype,
         "encrypt or 0, decrypt or 1; new or 0, call or 1", "LIST"},
        {"provider", 'p', 0, G_OPTION_ARG_STRING, &o->provider,
         "these alone; also the peer openssl and the bound raw", "LIST"},
        {"impl", 0, 0, G_OPTION_ARG_STRING, &o->impl,
         "implementations instead of each provider's best, or all", "LIST"},
        {"xor", 0, 0, G_OPTION_ARG_STRING, &o->xor,
         "the XOR template to use, instead of the fastest", "NAME"},
        {"data", 0, 0, G_OPTION_ARG_FILENAME, &o->data,
         "what to compress, the first 16 MiB of it", "FILE"},
        {"compressibility", 0, 0, G_OPTION_ARG_STRING, &o->compressibility,
         "of data that is generated, 0 to 95 (default 50)", "PERCENT"},
        {"inputsize", 's', 0, G_OPTION_ARG_STRING, &o->inputsize,
         "bytes of a data unit: 512, 4k, 1m; 8x512: a run of 8", "LIST"},
        {"sectors", 0, 0, G_OPTION_ARG_STRING, &o->sectors,
         "data units in one request", "LIST"},
        {"threadnum", 't', 0, G_OPTION_ARG_STRING, &o->threadnum,
         "threads, each with its own object and buffers", "LIST"},
        {"inplace", 0, 0, G_OPTION_ARG_NONE, &o->inplace,
         "one buffer for input and output", NULL},
        {"time", 0, 0, G_OPTION_ARG_STRING, &o->time,
         "of one sample (default 0.01)", "SECONDS"},
        {"repeat", 0, 0, G_OPTION_ARG_STRING, &o->repeat,
         "samples (default 11)", "N"},
        {"warmup", 0, 0, G_OPTION_ARG_STRING, &o->warmup,
         "before the samples (default: as --time)", "SECONDS"},
        {"loop", 0, 0, G_OPTION_ARG_STRING, &o->loop,
         "requests between two clock reads (default: calibrated)", "N"},
        {"fixed-mib", 0, 0, G_OPTION_ARG_STRING, &o->fixed_mib,
         "a sample does exactly N MiB; one sample unless --repeat", "N"},
        {"quick", 'q', 0, G_OPTION_ARG_NONE, &o->quick,
         "short samples, few of them", NULL},
        {"list", 'l', 0, G_OPTION_ARG_NONE, &o->list,
         "print what could be measured", NULL},
        {"json", 'j', G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
         (gpointer)json_option, "results as JSON, - or none: standard output",
         "FILE"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    GOptionGroup *group = g_option_group_new(NAME, "", "", o, NULL);

    g_option_group_add_entries(group, entries);
    g_option_context_set_main_group(context, group);
    g_option_context_set_summary(
        context, "Measures every provider of an algorithm, interleaved, and "
                 "checks what it computes.\nMiB are 2^20 bytes, GB 10^9.  "
                 "Lists are separated by commas.");
    g_set_prgname("qcrypto " NAME);
    if (!g_option_context_parse_strv(context, argv, errp)) {
        return -1;
    }
    for (char **rest = *argv + 1; *rest; rest++) {
        /* "--json -": the parser takes the "-" for a word of its own */
        if (strcmp(*rest, "-") != 0 || g_strcmp0(o->json, "-") != 0) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unexpected argument '%s'", *rest);
        }
    }
    return 0;
}

/* ---- Options to request and plan ---- */

typedef struct Job {
    QCryptoBenchRequest request;
    QCryptoBenchPlan plan;
    GPtrArray *kinds;
    GArray *sizes, *threads;
    GPtrArray *groups;
    GPtrArray *notes;
    GArray *results;
    const char *json;
    bool list;
    bool missing; /* something asked for by name */
    /* progress */
    bool progress;
    size_t done, total;
} Job;

/* "a,b" to a list; NULL stays NULL.  An empty word is an error. */
static int split(const char *name, const char *text, char ***list,
                 GError **errp)
{
    *list = NULL;
    if (!text) {
        return 0;
    }
    *list = g_strsplit(text, ",", -1);
    for (char **w = *list; *w; w++) {
        if (!*g_strstrip(*w)) {
            break;
        }
        if (!w[1]) {
            return 0;
        }
    }
    g_clear_pointer(list, g_strfreev);
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "%s: an empty name in '%s'", name, text);
}

static int choose_kinds(Job *job, const Options *o, GError **errp)
{
    g_auto(GStrv) names = NULL;
    /* an option of the one kind */
    const char *text = o->algtype                      ? o->algtype
                       : o->xor                        ? "xor"
                       : o->data || o->compressibility ? "compress"
                                                       : NULL;

    if (split("--algtype", text, &names, errp) < 0) {
        return -1;
    }
    for (char **n = names; n && *n; n++) {
        const QCryptoBenchKind *kind = qcrypto_bench_kind(*n);

        if (!kind) {
            return qcrypto_error_unknown(errp, "algtype", *n);
        }
        g_ptr_array_add(job->kinds, (gpointer)kind);
    }
    for (size_t i = 0; !names && qcrypto_bench_kinds[i]; i++) {
        g_ptr_array_add(job->kinds, (gpointer)qcrypto_bench_kinds[i]);
        if (o->algorithm || o->inputsize || o->sectors || o->optype ||
            o->fixed_mib) {
            break; /* the first kind is what those options are about */
        }
    }
    return 0;
}

static int choose_ops(Job *job, const Options *o, GError **errp)
{
    g_auto(GStrv) names = NULL;

    if (split("--optype", o->optype, &names, errp) < 0) {
        return -1;
    }
    job->request.ops[0] = job->request.ops[1] = !names;
    for (char **n = names; n && *n; n++) {
        int op = !strcmp(*n, "0") ? 0 : !strcmp(*n, "1") ? 1 : -1;

        for (guint i = 0; i < job->kinds->len; i++) {
            const QCryptoBenchKind *kind = g_ptr_array_index(job->kinds, i);

            for (int k = 0; k < 2 && kind->optypes[k]; k++) {
                op = g_ascii_strcasecmp(*n, kind->optypes[k]) ? op : k;
            }
        }
        if (op < 0) {
            return qcrypto_error_unknown(errp, "optype", *n);
        }
        job->request.ops[op] = true;
    }
    return 0;
}

/* "4096", "4k", "8x512" */
static int parse_unit(const char *text, QCryptoBenchSize *size, GError **errp)
{
    const char *x = strchr(text, 'x');
    uint64_t n = 1, bytes;

    if (x) {
        g_autofree char *count = g_strndup(text, (gsize)(x - text));

        if (qcrypto_bench_parse_count("--inputsize", count, 1, SECTORS_MAX, &n,
                                      errp) < 0) {
            return -1;
        }
        text = x + 1;
    }
    if (qcrypto_bench_parse_size("--inputsize", text, 1, INPUT_MAX, &bytes,
                                 errp) < 0) {
        return -1;
    }
    size->inputsize = (size_t)bytes;
    size->sectors = (size_t)n;
    return 0;
}

static int choose_sizes(Job *job, const Options *o, GError **errp)
{
    g_auto(GStrv) units = NULL;
    g_auto(GStrv) runs = NULL;

    if (split("--inputsize", o->inputsize, &units, errp) < 0 ||
        split("--sectors", o->sectors, &runs, errp) < 0) {
        return -1;
    }
    if (!units && runs) {
        units = g_strsplit("512", ",", -1);
    }
    for (char **u = units; u && *u; u++) {
        QCryptoBenchSize size;

        if (parse_unit(*u, &size, errp) < 0) {
            return -1;
        }
        if (runs && size.sectors > 1) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "'%s' and --sectors both say how many", *u);
        }
        if (!runs) {
            g_array_append_val(job->sizes, size);
        }
        for (char **r = runs; r && *r; r++) {
            uint64_t n;

            if (qcrypto_bench_parse_count("--sectors", *r, 1, SECTORS_MAX, &n,
                                          errp) < 0) {
                return -1;
            }
            size.sectors = (size_t)n;
            g_array_append_val(job->sizes, size);
        }
    }
    if (job->sizes->len) {
        job->request.sizes = (const void *)job->sizes->data;
        job->request.nsizes = job->sizes->len;
    }
    return 0;
}

static int choose_threads(Job *job, const Options *o, GError **errp)
{
    g_auto(GStrv) counts = NULL;

    if (split("--threadnum", o->threadnum ? o->threadnum : "1", &counts, errp) <
        0) {
        return -1;
    }
    for (char **c = counts; *c; c++) {
        uint64_t n;
        unsigned threads;

        if (qcrypto_bench_parse_count("--threadnum", *c, 1,
                                      QCRYPTO_BENCH_THREADS_MAX, &n,
                                      errp) < 0) {
            return -1;
        }
        threads = (unsigned)n;
        g_array_append_val(job->threads, threads);
    }
    job->request.threads = (const void *)job->threads->data;
    job->request.nthreads = job->threads->len;
    return 0;
}

/* Every provider that is named is a backend, a peer or some kind's own. */
static int check_providers(const Job *job, GError **errp)
{
    size_t n;
    const QCryptoProviderInfo *list = qcrypto_providers_list(&n);

    for (char **p = job->request.providers; p && *p; p++) {
        bool known = false;

        for (size_t i = 0; qcrypto_bench_kinds[i]; i++) {
            const char *own = qcrypto_bench_kinds[i]->own;

            known |= own && !g_ascii_strcasecmp(*p, own);
        }
        for (size_t i = 0; i < n; i++) {
            known |= !g_ascii_strcasecmp(*p, list[i].name);
        }
        for (size_t i = 0; job->request.peers[i]; i++) {
            known |= !g_ascii_strcasecmp(*p, job->request.peers[i]->name);
        }
        if (!known) {
            return qcrypto_error_unknown(errp, "provider", *p);
        }
    }
    return 0;
}

static int make_request(Job *job, const Options *o, GError **errp)
{
    QCryptoBenchRequest *r = &job->request;

    r->inplace[o->inplace != 0] = true;
    r->template = o->xor ;
    r->data = o->data;
    r->compressibility = o->compressibility;
    if (split("--algorithm", o->algorithm, &r->algorithms, errp) < 0 ||
        split("--mode", o->mode, &r->modes, errp) < 0 ||
        split("--provider", o->provider, &r->providers, errp) < 0 ||
        split("--impl", o->impl, &r->impls, errp) < 0) {
        return -1;
    }
    if (o->xor &&o->algtype && g_ascii_strcasecmp(o->algtype, "xor") != 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--xor goes with --algtype xor");
    }
    if (o->mode && !o->algorithm) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--mode goes with --algorithm");
    }
    if (o->list) {
        r->algorithms =
            o->algorithm ? r->algorithms : g_strsplit("all", ",", 0);
        r->impls = o->impl ? r->impls : g_strsplit("all", ",", 0);
    }
    return choose_kinds(job, o, errp) < 0 || choose_ops(job, o, errp) < 0 ||
                   choose_sizes(job, o, errp) < 0 ||
                   choose_threads(job, o, errp) < 0 ||
                   check_providers(job, errp) < 0
               ? -1
               : 0;
}

static int make_plan(QCryptoBenchPlan *plan, const Options *o, GError **errp)
{
    uint64_t repeat = o->fixed_mib ? 1
                      : o->quick   ? QUICK_REPEAT
                                   : DEFAULT_REPEAT;
    uint64_t mib = 0;

    if (o->fixed_mib && (o->time || o->loop || o->warmup)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--fixed-mib is measured without --time, "
                             "--warmup and --loop");
    }
    plan->counters = true;
    plan->seconds = o->quick ? QUICK_TIME : DEFAULT_TIME;
    if ((o->time && qcrypto_bench_parse_seconds(
                        "--time", o->time, QCRYPTO_BENCH_TIME_MIN,
                        QCRYPTO_BENCH_TIME_MAX, &plan->seconds, errp) < 0) ||
        (o->repeat &&
         qcrypto_bench_parse_count("--repeat", o->repeat, 1, REPEAT_MAX,
                                   &repeat, errp) < 0) ||
        (o->loop && qcrypto_bench_parse_count("--loop", o->loop, 1, LOOP_MAX,
                                              &plan->loop, errp) < 0) ||
        (o->fixed_mib && qcrypto_bench_parse_count(
                             "--fixed-mib", o->fixed_mib, 1,
                             QCRYPTO_BENCH_FIXED_MIB_MAX, &mib, errp) < 0)) {
        return -1;
    }
    plan->warmup = o->quick ? 0 : MIN(plan->seconds, 0.1);
    if (o->warmup && qcrypto_bench_parse_seconds("--warmup", o->warmup, 0,
                                                 QCRYPTO_BENCH_TIME_MAX,
                                                 &plan->warmup, errp) < 0) {
        return -1;
    }
    plan->repeat = (unsigned)repeat;
    plan->fixed_bytes = mib * QCRYPTO_BENCH_MIB;
    return 0;
}

/* ---- The work ---- */

static void show_progress(const QCryptoBenchCase *c, void *opaque)
{
    Job *job = opaque;
    g_autofree char *size = qcrypto_bench_size_text(c);
    g_autofree char *name = qcrypto_bench_name_text(c);

    job->done++;
    if (job->progress) {
        fprintf(stderr, "\r\033[K%3zu%% %s %s %s %s",
                MIN(job->done * 100 / job->total, 100), c->algorithm, c->optype,
                size, name);
        fflush(stderr);
    }
}

static void clear_progress(const Job *job)
{
    if (job->progress) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

G_GNUC_PRINTF(2, 3)
static void note(Job *job, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    if (g_ptr_array_find_with_equal_func(job->notes, text, g_str_equal, NULL)) {
        g_free(text);
    } else {
        g_ptr_array_add(job->notes, text);
    }
}

/* Takes out of a group what cannot run here, with a note. */
static void note_unavailable(Job *job, GPtrArray *group)
{
    for (guint i = group->len; i-- > 0;) {
        const QCryptoBenchCase *c = g_ptr_array_index(group, i);

        if (!c->unavailable) {
            continue;
        }
        /* "--impl all" asks for what there is, not for a name */
        job->missing |= job->request.providers ||
                        (job->request.impls &&
                         !qcrypto_bench_listed(job->request.impls, "all"));
        g_autofree char *name = qcrypto_bench_name_text(c);
        note(job, "%s is not measured: %s", name, c->unavailable);
        g_ptr_array_remove_index(group, i);
    }
}

/* Every implementation that is named is one that somebody has. */
static int check_impls(const Job *job, GError **errp)
{
    for (char **name = job->request.impls; name && *name; name++) {
        bool known = !g_ascii_strcasecmp(*name, "all");

        for (guint i = 0; i < job->groups->len && !known; i++) {
            const GPtrArray *group = g_ptr_array_index(job->groups, i);

            for (guint j = 0; j < group->len; j++) {
                const QCryptoBenchCase *c = g_ptr_array_index(group, j);

                known |= c->impl && !g_ascii_strcasecmp(*name, c->impl);
            }
        }
        if (!known) {
            return qcrypto_error_unknown(errp, "implementation", *name);
        }
    }
    return 0;
}

static int plan_groups(Job *job, GError **errp)
{
    size_t cases = 0;

    for (guint i = 0; i < job->kinds->len; i++) {
        const QCryptoBenchKind *kind = g_ptr_array_index(job->kinds, i);

        if (kind->plan(kind, &job->request, job->groups, errp) < 0) {
            return -1;
        }
    }
    for (guint i = 0; i < job->groups->len; i++) {
        GPtrArray *group = g_ptr_array_index(job->groups, i);

        for (guint j = 0; j < group->len; j++) {
            const QCryptoBenchCase *c = g_ptr_array_index(group, j);

            /* each thread has its own buffers */
            if (c->request_bytes > INPUT_MAX / c->threadnum) {
                return qcrypto_error(
                    errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                    "%u threads with requests of %" G_GUINT64_FORMAT
                    " bytes: at most %" G_GUINT64_FORMAT " bytes in all",
                    c->threadnum, c->request_bytes, INPUT_MAX);
            }
            if (job->plan.fixed_bytes &&
                (!c->request_bytes ||
                 qcrypto_bench_fixed(job->plan.fixed_bytes, c) %
                     c->request_bytes)) {
                return qcrypto_error(
                    errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                    "--fixed-mib: %" G_GUINT64_FORMAT " bytes are no whole "
                    "number of requests of %" G_GUINT64_FORMAT " bytes (%s)",
                    job->plan.fixed_bytes, c->request_bytes, c->algorithm);
            }
            cases++;
        }
    }
    if (check_impls(job, errp) < 0) {
        return -1;
    }
    if (!cases) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             "nobody does what is asked for");
    }
    return 0;
}

static void print_list(const Job *job)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint i = 0; i < job->groups->len; i++) {
        const GPtrArray *group = g_ptr_array_index(job->groups, i);

        for (guint j = 0; j < group->len; j++) {
            const QCryptoBenchCase *c = g_ptr_array_index(group, j);
            char *line = g_strdup_printf("%-8s %-18s %-8s %-14s %s", c->algtype,
                                         c->algorithm, c->provider,
                                         c->impl ? c->impl : "-",
                                         c->unavailable ? c->unavailable : "");

            if (g_hash_table_add(seen, line)) {
                g_autofree char *text = g_strchomp(g_strdup(line));

                printf("%s\n", text);
            }
        }
    }
}

/* Returns how many rows FAILED. */
static size_t measure(Job *job)
{
    size_t failures = 0;

    for (guint i = 0; i < job->groups->len; i++) {
        GPtrArray *group = g_ptr_array_index(job->groups, i);

        note_unavailable(job, group);
        job->total += group->len * job->plan.repeat;
    }
    for (guint i = 0; i < job->groups->len; i++) {
        GPtrArray *group = g_ptr_array_index(job->groups, i);
        const guint first = job->results->len;

        if (!group->len) {
            continue;
        }
        g_array_set_size(job->results, first + group->len);
        failures += qcrypto_bench_group(
            (void *)group->pdata, group->len, &job->plan,
            &g_array_index(job->results, QCryptoBenchResult, first));
    }
    clear_progress(job);
    return failures;
}

static int write_json(const Job *job, GVariant *machine, GError **errp)
{
    g_autofree char *text = qcrypto_bench_json(
        machine, (const void *)job->results->data, job->results->len,
        (char *const *)job->notes->pdata, errp);

    if (!text) {
        return -1;
    }
    if (!strcmp(job->json, "-")) {
        fputs(text, stdout);
        return 0;
    }
    return qcrypto_file_write(job->json, text, strlen(text), errp);
}

static void print_heading(const Job *job, GVariant *m)
{
    printf("qcrypto %s on %s; %s\nCPU features: %s\n", qcrypto_version(),
           qcrypto_bench_machine_get(m, "cpu"),
           qcrypto_bench_machine_get(m, "kernel"),
           qcrypto_bench_machine_get(m, "features"));
    if (job->plan.fixed_bytes) {
        printf("each number: best of %u of %" G_GUINT64_FORMAT " MiB",
               job->plan.repeat, job->plan.fixed_bytes / QCRYPTO_BENCH_MIB);
    } else {
        printf("each number: best of %u samples of %g ms", job->plan.repeat,
               job->plan.seconds * 1000);
    }
    printf("; * the fastest backend; raw: AES rounds alone, the bound\n\n");
}

static void report_failures(const Job *job)
{
    for (guint i = 0; i < job->results->len; i++) {
        const QCryptoBenchResult *r =
            &g_array_index(job->results, QCryptoBenchResult, i);
        g_autofree char *size = qcrypto_bench_size_text(r->c);
        g_autofree char *name = qcrypto_bench_name_text(r->c);

        if (r->failed) {
            fprintf(stderr, "qcrypto %s: FAILED: %s %s %s %s: %s\n", NAME,
                    r->c->algorithm, r->c->optype, size, name, r->failed);
        }
    }
}

/* What kinds say before their tables. */
static int print_prefaces(const Job *job, GError **errp)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; i < job->kinds->len; i++) {
        const QCryptoBenchKind *kind = g_ptr_array_index(job->kinds, i);

        if (kind->preface && kind->preface(text, errp) < 0) {
            return -1;
        }
    }
    fputs(text->str, stdout);
    fflush(stdout);
    return 0;
}

static int run(Job *job)
{
    g_autoptr(GVariant) machine = qcrypto_bench_machine("", job->request.peers);
    g_autofree const char **warnings = qcrypto_bench_machine_warnings(machine);
    const char *counters = NULL;
    const bool quiet = g_strcmp0(job->json, "-") == 0;
    GError *error = NULL;

    /* which measure too: not beside work that an outer tool counts */
    if (!quiet && !job->plan.fixed_bytes && print_prefaces(job, &error) < 0) {
        return qcrypto_cmd_fail(NAME, error);
    }
    const size_t failures = measure(job);
    int status = failures || job->missing ? 1 : 0;

    if (g_variant_lookup(machine, "counters_missing", "m&s", &counters) &&
        counters) {
        note(job, "%s", counters);
    }
    g_ptr_array_add(job->notes, NULL);
    if (!quiet && job->results->len) {
        g_autofree char *tables = qcrypto_bench_tables(
            (const void *)job->results->data, job->results->len);

        print_heading(job, machine);
        fputs(tables, stdout);
        fflush(stdout);
    }
    for (const char **w = warnings; *w; w++) {
        fprintf(stderr, "warning: %s\n", *w);
    }
    for (guint i = 0; i + 1 < job->notes->len; i++) {
        fprintf(stderr, "note: %s\n", (char *)g_ptr_array_index(job->notes, i));
    }
    report_failures(job);
    if (!job->results->len) {
        status = qcrypto_cmd_fail(
            NAME, g_error_new(QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                              "nothing of what is asked for can run here"));
    }
    if (job->json && write_json(job, machine, &error) < 0) {
        status = qcrypto_cmd_fail(NAME, error);
    }
    return status;
}

static void job_clear(Job *job)
{
    for (guint i = 0; i < job->results->len; i++) {
        qcrypto_bench_result_clear(
            &g_array_index(job->results, QCryptoBenchResult, i));
    }
    g_array_unref(job->results);
    g_array_unref(job->sizes);
    g_array_unref(job->threads);
    g_ptr_array_unref(job->kinds);
    g_ptr_array_unref(job->groups);
    g_ptr_array_unref(job->notes);
    g_strfreev(job->request.algorithms);
    g_strfreev(job->request.modes);
    g_strfreev(job->request.providers);
    g_strfreev(job->request.impls);
}

static int bench(char ***argv, const QCryptoBenchPeer *const *peers)
{
    Options o = {NULL};
    Job job = {
        .kinds = g_ptr_array_new(),
        .sizes = g_array_new(FALSE, FALSE, sizeof(QCryptoBenchSize)),
        .threads = g_array_new(FALSE, FALSE, sizeof(unsigned)),
        .groups = qcrypto_bench_groups_new(),
        .notes = g_ptr_array_new_with_free_func(g_free),
        .results = g_array_new(FALSE, TRUE, sizeof(QCryptoBenchResult)),
        .progress = isatty(STDERR_FILENO) == 1,
    };
    GError *error = NULL;
    int status;

    job.request.peers = peers;
    job.plan.progress = show_progress;
    job.plan.opaque = &job;
    if (parse_options(&o, argv, &error) < 0 ||
        make_plan(&job.plan, &o, &error) < 0 ||
        make_request(&job, &o, &error) < 0 || plan_groups(&job, &error) < 0) {
        if (g_error_matches(error, QCRYPTO_ERROR,
                            QCRYPTO_ERROR_INVALID_ARGUMENT) ||
            error->domain == G_OPTION_ERROR) {
            status = qcrypto_cmd_misuse(NAME, "%s", error->message);
            g_error_free(error);
        } else {
            status = qcrypto_cmd_fail(NAME, error);
        }
    } else if (o.list) {
        print_list(&job);
        status = 0;
    } else if (o.json && strcmp(o.json, "-") != 0 &&
               qcrypto_file_check_writable(o.json, &error) < 0) {
        /* now, not after minutes of measuring */
        status = qcrypto_cmd_fail(NAME, error);
    } else {
        job.json = o.json;
        status = run(&job);
    }
    job_clear(&job);
    options_clear(&o);
    return status;
}

int qcrypto_bench_command(int argc, char **argv,
                          const QCryptoBenchPeer *const *peers)
{
    /* the parser takes words out of the list and frees them */
    char **words = g_new0(char *, (gsize)argc + 1);
    int status;

    for (int i = 0; i < argc; i++) {
        words[i] = g_strdup(argv[i]);
    }
    status = bench(&words, peers);
    g_strfreev(words);
    return status;
}

int qcrypto_cmd_bench(int argc, char **argv)
{
    return qcrypto_bench_command(argc, argv, qcrypto_bench_peers);
}
