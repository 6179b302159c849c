/*
 * The g_test benchmarks: one path a case
 *
 *     /crypto/KIND/ALGORITHM/PROVIDER/IMPLEMENTATION/SIZE/OPERATION
 *
 * where ALGORITHM is two parts for ciphers ("aes-256/xts").  Every kind of the
 * measuring engine (tools/bench) gets its program from here; the checks before
 * and after are the engine's.  A row that cannot run here is skipped with its
 * reason; one that computes wrongly fails.
 *
 * -p takes a whole path or the beginning of some, and matching none is an
 * error.  By default a measurement takes a second (--time); with --fixed-mib
 * it does exactly that many MiB and reads no clock meanwhile, so that `perf
 * stat` counts the same work every time.  `-m quick` measures for two
 * milliseconds, to see that everything runs.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "benchmark.h"

#include <stdio.h>
#include <string.h>

#include "crypto/base/algs.h"
#include "tools/bench/kinds.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"

static QCryptoBenchPlan plan = {.seconds = 1, .warmup = 0.1, .repeat = 1};

static void measure(gconstpointer opaque)
{
    QCryptoBenchCase *c = (gpointer)opaque;
    QCryptoBenchResult r;

    if (c->unavailable) {
        g_test_skip(c->unavailable);
        return;
    }
    if (qcrypto_bench_group(&c, 1, &plan, &r)) {
        g_test_message("FAILED: %s", r.failed);
        g_test_fail();
    } else {
        g_autofree char *rate = qcrypto_bench_rate_text(r.bytes_per_sec.best);

        g_test_message("%s, %.6g requests/s: %" G_GUINT64_FORMAT
                       " bytes in %" G_GUINT64_FORMAT " requests in %.6f s",
                       rate, r.ops_per_sec.best, r.best.bytes, r.best.calls,
                       (double)r.best.ns / 1e9);
        if (r.counters.have[QCRYPTO_BENCH_USER_NS]) {
            g_test_message(
                "%.4g Gbit/s; user %.3f s, system %.3f s",
                r.bytes_per_sec.best * 8 / 1e9,
                (double)r.counters.value[QCRYPTO_BENCH_USER_NS] / 1e9,
                (double)r.counters.value[QCRYPTO_BENCH_SYSTEM_NS] / 1e9);
        }
        if (c->threadnum > 1) {
            g_test_message("a thread: %.6g to %.6g MiB/s",
                           r.best.thread_min / QCRYPTO_BENCH_MIB,
                           r.best.thread_max / QCRYPTO_BENCH_MIB);
        }
    }
    qcrypto_bench_result_clear(&r);
}

/*
 * "aes-256/xts", "sha256".  A bound is called by the mode it stands beside
 * and has one of its own.
 */
static char *algorithm_path(const QCryptoBenchCase *c)
{
    const char *mode = qcrypto_mode_name(c->mode);
    const char *dash = mode ? strrchr(c->algorithm, '-') : NULL;

    return dash ? g_strdup_printf("%.*s/%s", (int)(dash - c->algorithm),
                                  c->algorithm, mode)
                : g_strdup(c->algorithm);
}

/*
 * The path of a case.  One without an implementation is a provider or peer
 * that offers nothing at all and is still to be seen, once.
 */
static char *path_of(const QCryptoBenchCase *c)
{
    g_autofree char *size = qcrypto_bench_size_text(c);
    g_autofree char *algorithm = algorithm_path(c);
    g_autofree char *row = NULL;

    if (!c->impl) {
        return g_strdup_printf("/crypto/%s/absent/%s", c->algtype, c->provider);
    }
    /* a bound goes by another name in results than among the rows */
    row = c->row ? g_strdelimit(g_strdup(c->row), ":", '/')
                 : g_strdup_printf("%s/%s", c->provider, c->impl);
    return g_strdup_printf("/crypto/%s/%s/%s/%s/%s", c->algtype, algorithm, row,
                           size, c->optype);
}

/* A bound stands beside every group, but is one row, and only encrypts. */
static bool is_repeated(const QCryptoBenchCase *c)
{
    return c->flags & QCRYPTO_BENCH_BOUND &&
           (c->op || c->inputsize != 4096 || c->sectors > 1);
}

/* GLib's rule: @prefix is the path or some whole components of it. */
static bool begins_with(const char *path, const char *prefix)
{
    const size_t n = strlen(prefix);

    return !strncmp(path, prefix, n) && (!path[n] || path[n] == '/');
}

/* Returns how many of the paths begin with @prefix (NULL: all do). */
static size_t add_cases(const GPtrArray *groups, const char *prefix)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    size_t matches = 0;

    for (guint i = 0; i < groups->len; i++) {
        const GPtrArray *group = g_ptr_array_index(groups, i);

        for (guint j = 0; j < group->len; j++) {
            QCryptoBenchCase *c = g_ptr_array_index(group, j);
            char *path = path_of(c);

            if (is_repeated(c) || g_hash_table_contains(seen, path)) {
                g_free(path);
                continue;
            }
            g_test_add_data_func(path, c, measure);
            matches += !prefix || begins_with(path, prefix);
            g_hash_table_add(seen, path);
        }
    }
    return matches;
}

/* Takes "--name VALUE" or "--name=VALUE" out of argv; NULL without. */
static const char *take_option(int *argc, char **argv, const char *name)
{
    const size_t n = strlen(name);

    for (int i = 1; i < *argc; i++) {
        const char *value = NULL;
        int words = 0;

        if (!strcmp(argv[i], name) && i + 1 < *argc) {
            value = argv[i + 1];
            words = 2;
        } else if (!strncmp(argv[i], name, n) && argv[i][n] == '=') {
            value = argv[i] + n + 1;
            words = 1;
        }
        if (words) {
            memmove(&argv[i], &argv[i + words],
                    (size_t)(*argc - i - words + 1) * sizeof *argv);
            *argc -= words;
            return value;
        }
    }
    return NULL;
}

/* `-m quick` was said: GLib's own answer is yes when nothing was. */
static bool said_quick(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-m=quick") ||
            (!strcmp(argv[i], "-m") && i + 1 < argc &&
             !strcmp(argv[i + 1], "quick"))) {
            return true;
        }
    }
    return false;
}

/*
 * GLib's -p goes one level deep and its -r all the way down, which is what is
 * meant here.  Returns the path that was asked for, or NULL.
 */
static const char *deepen_path(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-p") && i + 1 < argc) {
            argv[i] = (char *)"-r";
            return argv[i + 1];
        }
        if (!strncmp(argv[i], "-p=", 3)) {
            argv[i] = g_strdup_printf("-r=%s", argv[i] + 3);
            return argv[i] + 3;
        }
    }
    return NULL;
}

static int parse(int *argc, char **argv, unsigned *threads, GError **errp)
{
    const char *seconds = take_option(argc, argv, "--time");
    const char *fixed = take_option(argc, argv, "--fixed-mib");
    const char *count = take_option(argc, argv, "--threads");
    uint64_t n = 1, mib = 0;

    if ((seconds && qcrypto_bench_parse_seconds(
                        "--time", seconds, QCRYPTO_BENCH_TIME_MIN,
                        QCRYPTO_BENCH_TIME_MAX, &plan.seconds, errp) < 0) ||
        (fixed && qcrypto_bench_parse_count("--fixed-mib", fixed, 1,
                                            QCRYPTO_BENCH_FIXED_MIB_MAX, &mib,
                                            errp) < 0) ||
        (count &&
         qcrypto_bench_parse_count("--threads", count, 1,
                                   QCRYPTO_BENCH_THREADS_MAX, &n, errp) < 0)) {
        return -1;
    }
    if (said_quick(*argc, argv)) {
        plan.seconds = MIN(plan.seconds, 0.002);
        plan.warmup = 0;
    }
    plan.warmup = MIN(plan.warmup, plan.seconds / 4);
    plan.fixed_bytes = mib * QCRYPTO_BENCH_MIB;
    plan.counters = !mib;
    *threads = (unsigned)n;
    return 0;
}

/*
 * What a path leaves of everything: of the rows that it rules out not even a
 * self-test is run, so that `perf stat` counts the one that is meant.
 */
static void narrow(QCryptoBenchRequest *request, const QCryptoBenchKind *kind,
                   char **parts)
{
    static char *algorithm[2], *mode[2], *impl[2];
    const guint n = g_strv_length(parts);
    /* "", "crypto", kind, algorithm, (mode,) provider, implementation */
    const bool moded = n > 4 && qcrypto_mode_from_name(parts[4]) >= 0;

    if (n <= 3 || g_strcmp0(parts[2], kind->name) != 0 ||
        !strcmp(parts[3], "absent") || !*parts[3]) {
        return;
    }
    algorithm[0] = parts[3];
    request->algorithms = algorithm;
    if (moded) {
        mode[0] = parts[4];
        request->modes = mode;
    }
    if (n > 5u + moded) {
        impl[0] = parts[5 + moded];
        request->impls = impl;
    }
}

int benchmark_main(int argc, char **argv, const char *name)
{
    char *everything[] = {(char *)"all", NULL};
    g_auto(GStrv) parts = NULL;
    unsigned threads;
    QCryptoBenchRequest request = {
        .algorithms = everything,
        .impls = everything,
        .ops = {true, true},
        .threads = &threads,
        .nthreads = 1,
        .inplace = {true, false},
        .peers = qcrypto_bench_peers,
    };
    const QCryptoBenchKind *kind = qcrypto_bench_kind(name);
    g_autoptr(GPtrArray) groups = qcrypto_bench_groups_new();
    const char *path = deepen_path(argc, argv);
    GError *error = NULL;

    if (parse(&argc, argv, &threads, &error) < 0) {
        fprintf(stderr, "%s: %s\n", argv[0], error->message);
        g_error_free(error);
        return 2;
    }
    g_test_init(&argc, &argv, NULL);
    parts = g_strsplit(path ? path : "", "/", -1);
    narrow(&request, kind, parts);
    if (kind->plan(kind, &request, groups, &error) < 0) {
        fprintf(stderr, "%s: %s\n", argv[0], error->message);
        g_error_free(error);
        return path ? 2 : 1;
    }
    if (!add_cases(groups, path)) {
        fprintf(stderr, "%s: no benchmark begins with '%s' (-l lists them)\n",
                argv[0], path);
        return 2;
    }
    return g_test_run();
}
