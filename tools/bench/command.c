/*
 * qcrypto bench: every provider measured against the others
 *
 * Options become run sets (runset.h); the engine measures each group of their
 * cases with each of their plans; the reports print the results: one
 * configuration in the layout of the proposed kernel benchmark, several as
 * tables.  What cannot be measured here is noted with its reason and stops
 * nothing else; it is a failure only if it was asked for by name.
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
#include "tools/bench/report.h"
#include "tools/bench/runset.h"
#include "tools/commands.h"

#define NAME "bench"

typedef struct Options {
    QCryptoBenchOptions set;
    char *file;
    char *json; /* "-": standard output */
    gboolean list, benchfmt;
} Options;

static void options_clear(Options *o)
{
    qcrypto_bench_options_clear(&o->set);
    g_free(o->file);
    g_free(o->json);
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
        {"file", 'f', 0, G_OPTION_ARG_FILENAME, &o->file,
         "run sets: these options as keys, one [group] a run set", "RUNSET"},
        {"list", 'l', 0, G_OPTION_ARG_NONE, &o->list,
         "print what could be measured", NULL},
        {"json", 'j', G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
         (gpointer)json_option, "results as JSON, - or none: standard output",
         "FILE"},
        {"benchfmt", 0, 0, G_OPTION_ARG_NONE, &o->benchfmt,
         "results in Go's benchmark format, for benchstat", NULL},
        {NULL},
    };
    g_autofree GOptionEntry *set = qcrypto_bench_option_entries(&o->set);
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    GOptionGroup *group = g_option_group_new(NAME, "", "", o, NULL);

    g_option_group_add_entries(group, set);
    g_option_group_add_entries(group, entries);
    g_option_context_set_main_group(context, group);
    g_option_context_set_summary(
        context,
        "Measures every provider of an algorithm, interleaved, and "
        "checks what it computes.\nMiB are 2^20 bytes, GB 10^9.  "
        "Lists are separated by commas; 1k..64k is 1k, 2k, 4k and\nso on to "
        "64k, and 1..4+1 is 1, 2, 3, 4.");
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
    if (o->benchfmt && g_strcmp0(o->json, "-") == 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--benchfmt and --json - both write to the "
                             "standard output; --json FILE goes with it");
    }
    return 0;
}

typedef struct Job {
    GPtrArray *sets;
    GPtrArray *notes;
    GArray *results;
    const char *json;
    bool benchfmt;
    bool missing; /* something asked for by name */
    /* progress */
    bool progress;
    size_t done, total;
} Job;

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

/* Whether anything of the run set is done by whoever was to do the case. */
static bool is_measured(const QCryptoBenchRunSet *set,
                        const QCryptoBenchCase *c)
{
    for (guint i = 0; i < set->groups->len; i++) {
        const GPtrArray *group = g_ptr_array_index(set->groups, i);

        for (guint j = 0; j < group->len; j++) {
            const QCryptoBenchCase *other = g_ptr_array_index(group, j);

            if (!other->unavailable && !strcmp(c->provider, other->provider) &&
                (!c->impl || !g_strcmp0(c->impl, other->impl))) {
                return true;
            }
        }
    }
    return false;
}

/* Takes out of a group what cannot run here, with a note. */
static void note_unavailable(Job *job, const QCryptoBenchRunSet *set,
                             GPtrArray *group)
{
    for (guint i = group->len; i-- > 0;) {
        const QCryptoBenchCase *c = g_ptr_array_index(group, i);

        if (!c->unavailable) {
            continue;
        }
        job->missing |= set->by_name && !is_measured(set, c);
        g_autofree char *name = qcrypto_bench_name_text(c);
        note(job, "%s is not measured: %s", name, c->unavailable);
        g_ptr_array_remove_index(group, i);
    }
}

static void print_list(const Job *job)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (guint s = 0; s < job->sets->len; s++) {
        const QCryptoBenchRunSet *set = g_ptr_array_index(job->sets, s);

        for (guint i = 0; i < set->groups->len; i++) {
            const GPtrArray *group = g_ptr_array_index(set->groups, i);

            for (guint j = 0; j < group->len; j++) {
                const QCryptoBenchCase *c = g_ptr_array_index(group, j);
                g_autofree char *line = g_strdup_printf(
                    "%-8s %-18s %-10s %-14s %s", c->algtype, c->algorithm,
                    c->provider, c->impl ? c->impl : "-",
                    c->unavailable ? c->unavailable : "");

                g_strchomp(line);
                if (g_hash_table_add(seen, g_strdup(line))) {
                    printf("%s\n", line);
                }
            }
        }
    }
}

/* The results of one group and plan; returns how many FAILED. */
static size_t measure_group(Job *job, const QCryptoBenchRunSet *set,
                            GPtrArray *group, const QCryptoBenchPlan *plan)
{
    const guint first = job->results->len;
    size_t failures;

    g_array_set_size(job->results, first + group->len);
    failures = qcrypto_bench_group(
        (void *)group->pdata, group->len, plan,
        &g_array_index(job->results, QCryptoBenchResult, first));
    for (guint i = first; i < job->results->len; i++) {
        QCryptoBenchResult *r =
            &g_array_index(job->results, QCryptoBenchResult, i);
        const bool special =
            r->c->flags & (QCRYPTO_BENCH_PEER | QCRYPTO_BENCH_BOUND);

        r->runset = set->name;
        if (!r->failed && r->c->reqnum > 1 && !r->c->ops->submit) {
            note(job,
                 "%s is synchronous, one request at a time: --reqnum is "
                 "without effect on it",
                 special ? r->c->provider : r->c->algtype);
        }
    }
    return failures;
}

/* Others at work during the measurement: best samples may survive it, medians
 * do not. */
#define OTHERS_MAX 0.1

static void note_others(Job *job, const QCryptoBenchBusy *before)
{
    const QCryptoBenchBusy after = qcrypto_bench_busy("");
    const double others = qcrypto_bench_others(before, &after);

    if (others > OTHERS_MAX) {
        note(job,
             "the machine was busy: other work took %.0f%% of its CPUs' time "
             "during the measurement",
             others * 100);
    }
}

/* Returns how many rows FAILED. */
static size_t measure(Job *job)
{
    const QCryptoBenchBusy before = qcrypto_bench_busy("");
    size_t failures = 0;

    for (guint s = 0; s < job->sets->len; s++) {
        const QCryptoBenchRunSet *set = g_ptr_array_index(job->sets, s);

        for (guint i = 0; i < set->groups->len; i++) {
            note_unavailable(job, set, g_ptr_array_index(set->groups, i));
        }
        for (guint p = 0; p < set->plans->len; p++) {
            QCryptoBenchPlan *plan = g_ptr_array_index(set->plans, p);

            plan->progress = show_progress;
            plan->opaque = job;
            for (guint i = 0; i < set->groups->len; i++) {
                const GPtrArray *group = g_ptr_array_index(set->groups, i);

                job->total += group->len * plan->repeat;
            }
        }
    }
    for (guint s = 0; s < job->sets->len; s++) {
        const QCryptoBenchRunSet *set = g_ptr_array_index(job->sets, s);

        for (guint p = 0; p < set->plans->len; p++) {
            for (guint i = 0; i < set->groups->len; i++) {
                GPtrArray *group = g_ptr_array_index(set->groups, i);

                failures +=
                    group->len ? measure_group(job, set, group,
                                               g_ptr_array_index(set->plans, p))
                               : 0;
            }
        }
    }
    clear_progress(job);
    note_others(job, &before);
    qcrypto_bench_doubt((void *)job->results->data, job->results->len);
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

static void print_heading(GVariant *m)
{
    double cost = 0;

    g_variant_lookup(m, "clock_cost_ns", "d", &cost);
    printf("qcrypto %s on %s; %s\nCPU features: %s\n", qcrypto_version(),
           qcrypto_bench_machine_get(m, "cpu"),
           qcrypto_bench_machine_get(m, "kernel"),
           qcrypto_bench_machine_get(m, "features"));
    printf("clock: %s, %.0f ns a reading\n",
           qcrypto_bench_machine_get(m, "clock"), cost);
}

/* The results of each run set, as one configuration or as tables. */
static void print_results(const Job *job)
{
    const QCryptoBenchResult *all = (const void *)job->results->data;

    for (guint i = 0, n; i < job->results->len; i += n) {
        g_autofree char *text = NULL;

        for (n = 1;
             i + n < job->results->len && all[i + n].runset == all[i].runset;
             n++) {
        }
        if (all[i].runset) {
            printf("\n[%s]\n", all[i].runset);
        }
        text = qcrypto_bench_is_single(all + i, n)
                   ? qcrypto_bench_single(all + i, n)
                   : qcrypto_bench_tables(all + i, n);
        printf("\n%s", text);
    }
    fflush(stdout);
}

static void report_failures(const Job *job)
{
    for (guint i = 0; i < job->results->len; i++) {
        const QCryptoBenchResult *r =
            &g_array_index(job->results, QCryptoBenchResult, i);
        g_autofree char *size = qcrypto_bench_size_text(r->c);
        g_autofree char *name = qcrypto_bench_name_text(r->c);

        if (r->doubt) {
            fprintf(stderr, "warning: %s %s %s %s: %s\n", r->c->algorithm,
                    r->c->optype, size, name, r->doubt);
        }
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
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

    for (guint s = 0; s < job->sets->len; s++) {
        const QCryptoBenchRunSet *set = g_ptr_array_index(job->sets, s);

        for (guint i = 0; i < set->kinds->len && !set->fixed; i++) {
            const QCryptoBenchKind *kind = g_ptr_array_index(set->kinds, i);

            /* some measure too: not beside work that an outer tool counts */
            if (kind->preface && g_hash_table_add(seen, (gpointer)kind) &&
                kind->preface(text, errp) < 0) {
                return -1;
            }
        }
    }
    fputs(text->str, stdout);
    fflush(stdout);
    return 0;
}

static void print_benchfmt(const Job *job, GVariant *machine)
{
    g_autofree char *text = qcrypto_bench_benchfmt(
        machine, (const void *)job->results->data, job->results->len);

    fputs(text, stdout);
    fflush(stdout);
}

static int run(Job *job)
{
    const QCryptoBenchRunSet *first = g_ptr_array_index(job->sets, 0);
    g_autoptr(GVariant) machine =
        qcrypto_bench_machine("", first->request.peers);
    g_autofree const char **warnings = qcrypto_bench_machine_warnings(machine);
    const bool quiet = g_strcmp0(job->json, "-") == 0 || job->benchfmt;
    const char *counters = NULL;
    GError *error = NULL;

    if (!quiet && print_prefaces(job, &error) < 0) {
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
        print_heading(machine);
        print_results(job);
    }
    if (job->benchfmt) {
        print_benchfmt(job, machine);
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

static void free_set(gpointer set)
{
    qcrypto_bench_runset_free(set);
}

static void job_clear(Job *job)
{
    for (guint i = 0; i < job->results->len; i++) {
        qcrypto_bench_result_clear(
            &g_array_index(job->results, QCryptoBenchResult, i));
    }
    g_array_unref(job->results);
    g_ptr_array_unref(job->sets);
    g_ptr_array_unref(job->notes);
}

static int make_sets(Job *job, const Options *o,
                     const QCryptoBenchPeer *const *peers, GError **errp)
{
    QCryptoBenchRunSet *set;

    if (o->file) {
        return qcrypto_bench_runsets_load(o->file, &o->set, peers, o->list,
                                          job->sets, errp);
    }
    set = qcrypto_bench_runset_new(NULL, &o->set, peers, o->list, errp);
    if (set) {
        g_ptr_array_add(job->sets, set);
    }
    return set ? 0 : -1;
}

static int bench(char ***argv, const QCryptoBenchPeer *const *peers)
{
    Options o = {{NULL}};
    Job job = {
        .sets = g_ptr_array_new_with_free_func(free_set),
        .notes = g_ptr_array_new_with_free_func(g_free),
        .results = g_array_new(FALSE, TRUE, sizeof(QCryptoBenchResult)),
        .progress = isatty(STDERR_FILENO) == 1,
    };
    GError *error = NULL;
    int status;

    if (parse_options(&o, argv, &error) < 0 ||
        make_sets(&job, &o, peers, &error) < 0) {
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
        job.benchfmt = o.benchfmt;
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
