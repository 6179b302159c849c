/*
 * Run sets: what is measured and how, from options or from a file
 *
 * Options are text, from the command line or from a group of a key file, and
 * become one run set each: groups of cases (what) and plans (how).  Every
 * group is measured with every plan.
 *
 *     # rfc.ini: one group a run set, the command's options as keys
 *     [block size]
 *     algorithm = zlib-deflate
 *     inputsize = 1k, 8k, 64k
 *     time = 1
 *
 *     [threads]
 *     algorithm = zlib-deflate
 *     threadnum = 1..8
 *     inplace = false
 *
 * What the command line says goes before what the file says, and holds for
 * all of its groups.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_RUNSET_H
#define QCRYPTO_TOOLS_BENCH_RUNSET_H

#include "tools/bench/kinds.h"

/* As given: text, NULL when not given. */
typedef struct QCryptoBenchOptions {
    char *algtype, *algorithm, *mode, *keysize, *provider, *impl, *driver;
    char *optype;
    char *inputsize, *sectors, *threadnum, *reqnum, *numamask, *xor_impl;
    char *data, *compressibility;
    char *time, *repeat, *warmup, *loop, *fixed_mib;
    gboolean inplace, outplace, quick;
} QCryptoBenchOptions;

typedef struct QCryptoBenchRunSet {
    char *name;                  /* of the file's group, or NULL */
    GPtrArray *groups;           /* GPtrArray of QCryptoBenchCase */
    GPtrArray *plans;            /* QCryptoBenchPlan */
    GPtrArray *kinds;            /* QCryptoBenchKind, those that it is about */
    bool fixed;                  /* --fixed-mib */
    bool by_name;                /* a provider or an implementation was named */
    QCryptoBenchRequest request; /* the memory of the lists in it is ours */
    GArray *sizes, *threads, *reqnums, *keybits;
    GPtrArray *cpus; /* of each mask, a GArray */
} QCryptoBenchRunSet;

/* The options as GLib parses them, filling @o; freed with g_free. */
GOptionEntry *qcrypto_bench_option_entries(QCryptoBenchOptions *o);
void qcrypto_bench_options_clear(QCryptoBenchOptions *o);

/*
 * The run set that the options describe; with @list everything that there is
 * of it.  Errors of kind INVALID_ARGUMENT are the user's; they name the value.
 */
QCryptoBenchRunSet *qcrypto_bench_runset_new(
    const char *name, const QCryptoBenchOptions *o,
    const QCryptoBenchPeer *const *peers, bool list, GError **errp);
void qcrypto_bench_runset_free(QCryptoBenchRunSet *set);

/* One run set of each group of the file, appended to @sets. */
int qcrypto_bench_runsets_load(const char *path, const QCryptoBenchOptions *o,
                               const QCryptoBenchPeer *const *peers, bool list,
                               GPtrArray *sets, GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoBenchRunSet, qcrypto_bench_runset_free)

#endif
