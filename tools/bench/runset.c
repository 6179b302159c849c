/*
 * Run sets: see runset.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/runset.h"

#include <string.h>

#include "crypto/base/error.h"
#include "tools/bench/nodes.h"
#include "tools/bench/options.h"

/* Many short samples serve better than few long ones: shorter than what the
 * scheduler gives at once, most of them have had the CPU for themselves, and
 * then the median is right on a busy machine, too. */
#define DEFAULT_TIME   0.002
#define DEFAULT_REPEAT 51
/* More threads than CPUs take turns, so a sample has to last for many. */
#define CROWDED_TIME 0.1
#define QUICK_TIME   0.002
#define QUICK_REPEAT 3
/* Where they are longer (--time, or a long request) so much time is enough
 * for a case, with not less than so many samples; */
#define ENOUGH_TIME   0.25
#define ENOUGH_REPEAT 11
/* but more than this is taken by one sample alone. */
#define TOTAL_MAX  1.0
#define WARMUP_MAX 0.1

#define INPUT_MAX   ((uint64_t)1 << 30)
#define SECTORS_MAX ((uint64_t)1 << 20)
#define REPEAT_MAX  10000
#define LOOP_MAX    ((uint64_t)1 << 28)
#define REQNUM_MAX  65536
#define KEY_MAX     65536

/* ---- Options ---- */

#define TEXT(name) G_OPTION_ARG_STRING, offsetof(QCryptoBenchOptions, name)
#define FLAG(name) G_OPTION_ARG_NONE, offsetof(QCryptoBenchOptions, name)

static const struct {
    const char *name;
    char letter;
    GOptionArg arg;
    size_t offset;
    const char *what, *value;
} table[] = {
    {"algtype", 0, TEXT(algtype),
     "kinds, such as cipher, hash, compress, or CRYPTO_CIPHER; --list has them",
     "LIST"},
    {"algorithm", 'a', TEXT(algorithm),
     "aes-256-xts, aes-256 or aes for all of its modes or sizes, sha256, all",
     "LIST"},
    {"mode", 0, TEXT(mode), "modes of the ciphers named without one", "LIST"},
    {"keysize", 0, TEXT(keysize), "bits of the key (XTS: of one of its two)",
     "LIST"},
    {"optype", 0, TEXT(optype),
     "0: encrypt, compress, digest, new; 1: decrypt, decompress, call", "LIST"},
    {"provider", 'p', TEXT(provider),
     "these alone; also the peer openssl and the bound raw", "LIST"},
    {"impl", 0, TEXT(impl),
     "implementations instead of each provider's best, or all", "LIST"},
    {"driver", 0, TEXT(driver), "the same for the kernel's: xts-aes-aesni",
     "LIST"},
    {"xor", 0, TEXT(xor_impl),
     "the XOR template to use, instead of the fastest", "NAME"},
    {"data", 0, G_OPTION_ARG_FILENAME, offsetof(QCryptoBenchOptions, data),
     "what to compress, the first 16 MiB of it", "FILE"},
    {"compressibility", 0, TEXT(compressibility),
     "of data that is generated, 0 to 95 (default 50)", "PERCENT"},
    {"inputsize", 's', TEXT(inputsize),
     "bytes of a data unit: 512, 4k, 1MiB, 1k..64k; 8x512: a run of 8", "LIST"},
    {"sectors", 0, TEXT(sectors), "data units in one request", "LIST"},
    {"threadnum", 't', TEXT(threadnum),
     "threads, each with its own object and buffers: 1,2,4 or 1..4", "LIST"},
    {"reqnum", 0, TEXT(reqnum), "requests in flight, of each thread", "LIST"},
    {"numamask", 0, TEXT(numamask),
     "NUMA nodes that the threads are bound to (default 0x0: none)", "LIST"},
    {"inplace", 0, FLAG(inplace), "one buffer for input and output", NULL},
    {"outplace", 0, FLAG(outplace),
     "separate buffers (the default); both options: one after the other", NULL},
    {"time", 0, TEXT(time),
     "seconds of one sample (default 0.002, 0.1 with more threads than CPUs)",
     "LIST"},
    {"repeat", 0, TEXT(repeat),
     "samples (default 51, 11 where those take long, 1 of a second)", "N"},
    {"warmup", 0, TEXT(warmup),
     "before the samples (default: as --time, at most 0.1)", "SECONDS"},
    {"loop", 0, TEXT(loop),
     "requests between two clock reads (default: calibrated)", "LIST"},
    {"fixed-mib", 0, TEXT(fixed_mib),
     "a sample does exactly N MiB; one sample unless --repeat", "N"},
    {"quick", 'q', FLAG(quick), "short samples, few of them", NULL},
};

/* The options that are texts, and those that are flags. */
static char **text_of(const QCryptoBenchOptions *o, size_t i)
{
    return table[i].arg != G_OPTION_ARG_NONE
               ? (char **)((uintptr_t)o + table[i].offset)
               : NULL;
}

static gboolean *flag_of(const QCryptoBenchOptions *o, size_t i)
{
    return table[i].arg == G_OPTION_ARG_NONE
               ? (gboolean *)((uintptr_t)o + table[i].offset)
               : NULL;
}

GOptionEntry *qcrypto_bench_option_entries(QCryptoBenchOptions *o)
{
    GOptionEntry *entries = g_new0(GOptionEntry, G_N_ELEMENTS(table) + 1);

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        entries[i] = (GOptionEntry){
            .long_name = table[i].name,
            .short_name = table[i].letter,
            .arg = table[i].arg,
            .arg_data = (char *)o + table[i].offset,
            .description = table[i].what,
            .arg_description = table[i].value,
        };
    }
    return entries;
}

void qcrypto_bench_options_clear(QCryptoBenchOptions *o)
{
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        if (text_of(o, i)) {
            g_free(*text_of(o, i));
        }
    }
    memset(o, 0, sizeof *o);
}

/* ---- Lists of numbers ---- */

/* Every number that an option lists, in order, each once (uint64_t). */
static GArray *numbers(const char *name, const char *text,
                       QCryptoBenchParse *parse, uint64_t min, uint64_t max,
                       GError **errp)
{
    g_auto(GStrv) words = NULL;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    GArray *out = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    int ret = qcrypto_bench_split(name, text, &words, errp);

    for (char **w = words; ret == 0 && w && *w; w++) {
        ret = qcrypto_bench_parse_range(name, *w, parse, min, max, all, errp);
    }
    for (guint i = 0; i < all->len; i++) {
        const uint64_t v = g_array_index(all, uint64_t, i);
        bool known = false;

        for (guint j = 0; j < out->len; j++) {
            known |= g_array_index(out, uint64_t, j) == v;
        }
        if (!known) {
            g_array_append_val(out, v);
        }
    }
    if (ret < 0) {
        g_clear_pointer(&out, g_array_unref);
    }
    return out;
}

/* The same as unsigned, empty without a text. */
static int counts(const char *name, const char *text, uint64_t max, GArray *out,
                  GError **errp)
{
    g_autoptr(GArray) list = NULL;

    if (!text) {
        return 0;
    }
    list = numbers(name, text, qcrypto_bench_parse_count, 1, max, errp);
    for (guint i = 0; list && i < list->len; i++) {
        const unsigned n = (unsigned)g_array_index(list, uint64_t, i);

        g_array_append_val(out, n);
    }
    return list ? 0 : -1;
}

static int parse_mask(const char *name, const char *text, uint64_t min,
                      uint64_t max, uint64_t *value, GError **errp)
{
    return qcrypto_bench_parse_mask(name, text, value, errp);
}

/* ---- What is measured ---- */

/* One kind with the algorithms that are meant of it. */
typedef struct Part {
    const QCryptoBenchKind *kind;
    GPtrArray *algorithms; /* NULL-ended when it is complete; NULL: not named */
} Part;

static void free_part(gpointer opaque)
{
    Part *p = opaque;

    if (p->algorithms) {
        g_ptr_array_unref(p->algorithms);
    }
    g_free(p);
}

static Part *part_of(GPtrArray *parts, const QCryptoBenchKind *kind)
{
    Part *p;

    for (guint i = 0; i < parts->len; i++) {
        p = g_ptr_array_index(parts, i);
        if (p->kind == kind) {
            return p;
        }
    }
    p = g_new0(Part, 1);
    p->kind = kind;
    g_ptr_array_add(parts, p);
    return p;
}

static void add_algorithm(Part *p, char *name)
{
    if (!p->algorithms) {
        p->algorithms = g_ptr_array_new();
    }
    g_ptr_array_add(p->algorithms, name);
}

/* "cipher, object, ..." */
static char *kind_names(void)
{
    GString *out = g_string_new(NULL);

    for (size_t i = 0; qcrypto_bench_kinds[i]; i++) {
        g_string_append_printf(out, "%s%s", i ? ", " : "",
                               qcrypto_bench_kinds[i]->name);
    }
    return g_string_free(out, FALSE);
}

static int parts_by_algtype(GPtrArray *parts, const char *text, GError **errp)
{
    g_auto(GStrv) names = NULL;

    if (qcrypto_bench_split("--algtype", text, &names, errp) < 0) {
        return -1;
    }
    for (char **n = names; *n; n++) {
        const QCryptoBenchKind *kind = qcrypto_bench_kind(*n);

        if (!kind && g_ascii_strcasecmp(*n, "all") != 0) {
            g_autofree char *known = kind_names();

            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown algtype '%s'; there are %s", *n,
                                 known);
        }
        for (size_t i = 0; qcrypto_bench_kinds[i]; i++) {
            if (!kind || kind == qcrypto_bench_kinds[i]) {
                part_of(parts, qcrypto_bench_kinds[i]);
            }
        }
    }
    return 0;
}

/* An algorithm without an algtype belongs to whoever knows it. */
static int parts_by_algorithm(GPtrArray *parts, char **algorithms,
                              GError **errp)
{
    for (char **name = algorithms; *name; name++) {
        const QCryptoBenchKind *kind = NULL;

        for (size_t i = 0; qcrypto_bench_kinds[i] && !kind; i++) {
            const QCryptoBenchKind *k = qcrypto_bench_kinds[i];

            kind = k->knows && k->knows(*name) ? k : NULL;
        }
        if (!kind) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown algorithm '%s'; `qcrypto bench "
                                 "--list` names all of them",
                                 *name);
        }
        add_algorithm(part_of(parts, kind), *name);
    }
    return 0;
}

/* Options that are about one kind, and mean it when none is named. */
static const struct {
    const char *name;
    size_t offset;
    const char *kind, *also;
} special[] = {
    {"--mode", offsetof(QCryptoBenchOptions, mode), "cipher", "object"},
    {"--xor", offsetof(QCryptoBenchOptions, xor_impl), "xor", NULL},
    {"--data", offsetof(QCryptoBenchOptions, data), "compress", NULL},
    {"--compressibility", offsetof(QCryptoBenchOptions, compressibility),
     "compress", NULL},
};

/* Such an option beside other kinds alone is a slip. */
static int check_own(const GPtrArray *parts, const QCryptoBenchOptions *o,
                     GError **errp)
{
    for (size_t i = 0; i < G_N_ELEMENTS(special); i++) {
        bool there = !*(char **)((uintptr_t)o + special[i].offset);

        for (guint j = 0; j < parts->len && !there; j++) {
            const char *name =
                ((const Part *)g_ptr_array_index(parts, j))->kind->name;

            there = !strcmp(name, special[i].kind) ||
                    !g_strcmp0(name, special[i].also);
        }
        if (!there) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "%s goes with --algtype %s", special[i].name,
                                 special[i].kind);
        }
    }
    return 0;
}

static int choose_parts(GPtrArray *parts, const QCryptoBenchOptions *o,
                        char **algorithms, bool list, GError **errp)
{
    const bool all = list && !o->algorithm;
    const char *algtype = o->algtype ? o->algtype : all ? "all" : NULL;

    /* options of one kind */
    for (size_t i = 0; i < G_N_ELEMENTS(special) && !algtype && !algorithms;
         i++) {
        const char *value = *(char **)((uintptr_t)o + special[i].offset);

        algtype = value ? special[i].kind : NULL;
    }

    if (!algtype && algorithms) {
        return parts_by_algorithm(parts, algorithms, errp);
    }
    if (algtype) {
        if (parts_by_algtype(parts, algtype, errp) < 0) {
            return -1;
        }
    } else if (o->inputsize || o->sectors || o->optype || o->fixed_mib ||
               o->keysize) {
        /* the first kind is what those options are about */
        part_of(parts, qcrypto_bench_kinds[0]);
    } else {
        return parts_by_algtype(parts, "all", errp);
    }
    for (guint i = 0; i < parts->len; i++) {
        for (char **name = algorithms; name && *name; name++) {
            add_algorithm(g_ptr_array_index(parts, i), *name);
        }
    }
    return 0;
}

/* The number of an operation of the kind, by name or number; -1. */
static int op_of(const QCryptoBenchKind *kind, const char *name)
{
    for (int op = 0; op < 2 && kind->optypes[op]; op++) {
        if (!g_ascii_strcasecmp(name, kind->optypes[op]) ||
            (name[0] == '0' + op && !name[1])) {
            return op;
        }
    }
    return -1;
}

/* "0 encrypt, 1 decrypt of cipher; 0 digest of hash" */
static char *op_names(const GPtrArray *parts)
{
    GString *out = g_string_new(NULL);

    for (guint i = 0; i < parts->len; i++) {
        const Part *p = g_ptr_array_index(parts, i);

        g_string_append_printf(out, "%s%s has 0 %s", i ? "; " : "",
                               p->kind->name, p->kind->optypes[0]);
        if (p->kind->optypes[1]) {
            g_string_append_printf(out, ", 1 %s", p->kind->optypes[1]);
        }
    }
    return g_string_free(out, FALSE);
}

/* Every name must be an operation of one of the kinds. */
static int check_ops(const GPtrArray *parts, char **names, GError **errp)
{
    for (char **n = names; n && *n; n++) {
        bool known = false;

        for (guint i = 0; i < parts->len; i++) {
            const Part *p = g_ptr_array_index(parts, i);

            known |= op_of(p->kind, *n) >= 0;
        }
        if (!known) {
            g_autofree char *there = op_names(parts);

            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown optype '%s'; %s", *n, there);
        }
    }
    return 0;
}

static void choose_ops(QCryptoBenchRequest *r, const QCryptoBenchKind *kind,
                       char **names)
{
    r->ops[0] = r->ops[1] = !names;
    for (char **n = names; n && *n; n++) {
        const int op = op_of(kind, *n);

        if (op >= 0) {
            r->ops[op] = true;
        }
    }
}

/* "4096", "4k", "1k..64k", "8x512": appended as sizes */
static int parse_unit(const char *text, GArray *sizes, GError **errp)
{
    const char *x = strchr(text, 'x');
    g_autoptr(GArray) bytes = NULL;
    uint64_t n = 1;

    if (x) {
        g_autofree char *count = g_strndup(text, (gsize)(x - text));

        if (qcrypto_bench_parse_count("--inputsize", count, 1, SECTORS_MAX, &n,
                                      errp) < 0) {
            return -1;
        }
        text = x + 1;
    }
    bytes = numbers("--inputsize", text, qcrypto_bench_parse_size, 1, INPUT_MAX,
                    errp);
    for (guint i = 0; bytes && i < bytes->len; i++) {
        const QCryptoBenchSize size = {
            .inputsize = (size_t)g_array_index(bytes, uint64_t, i),
            .sectors = (size_t)n,
        };
        bool known = false;

        for (guint j = 0; j < sizes->len; j++) {
            const QCryptoBenchSize *s =
                &g_array_index(sizes, QCryptoBenchSize, j);

            known |=
                s->inputsize == size.inputsize && s->sectors == size.sectors;
        }
        if (!known) {
            g_array_append_val(sizes, size);
        }
    }
    return bytes ? 0 : -1;
}

/* Each unit in runs of so many. */
static int multiply(GArray *sizes, const char *sectors, GError **errp)
{
    g_autoptr(GArray) runs = numbers(
        "--sectors", sectors, qcrypto_bench_parse_count, 1, SECTORS_MAX, errp);
    const guint n = sizes->len;

    if (!runs) {
        return -1;
    }
    for (guint i = 0; i < n; i++) {
        const QCryptoBenchSize unit = g_array_index(sizes, QCryptoBenchSize, i);

        if (unit.sectors > 1) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "'%zux%zu' and --sectors both say how many",
                                 unit.sectors, unit.inputsize);
        }
        for (guint j = 0; j < runs->len; j++) {
            const QCryptoBenchSize size = {
                .inputsize = unit.inputsize,
                .sectors = (size_t)g_array_index(runs, uint64_t, j),
            };

            g_array_append_val(sizes, size);
        }
    }
    g_array_remove_range(sizes, 0, n);
    return 0;
}

static int choose_sizes(GArray *sizes, const QCryptoBenchOptions *o,
                        GError **errp)
{
    g_auto(GStrv) units = NULL;
    const char *text = o->inputsize || !o->sectors ? o->inputsize : "512";

    if (qcrypto_bench_split("--inputsize", text, &units, errp) < 0) {
        return -1;
    }
    for (char **u = units; u && *u; u++) {
        if (parse_unit(*u, sizes, errp) < 0) {
            return -1;
        }
    }
    return o->sectors ? multiply(sizes, o->sectors, errp) : 0;
}

/* Every provider that is named is a backend, a peer or some kind's own. */
static int check_providers(const QCryptoBenchRequest *r, GError **errp)
{
    size_t n;
    const QCryptoProviderInfo *list = qcrypto_providers_list(&n);

    for (char **p = r->providers; p && *p; p++) {
        bool known = false;

        for (size_t i = 0; qcrypto_bench_kinds[i]; i++) {
            const char *own = qcrypto_bench_kinds[i]->own;

            known |= own && !g_ascii_strcasecmp(*p, own);
        }
        for (size_t i = 0; i < n; i++) {
            known |= !g_ascii_strcasecmp(*p, list[i].name);
        }
        for (size_t i = 0; r->peers[i]; i++) {
            known |= !g_ascii_strcasecmp(*p, r->peers[i]->name);
        }
        if (!known) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown provider '%s'; `qcrypto providers` "
                                 "names them",
                                 *p);
        }
    }
    return 0;
}

/* Every implementation that is named is one that somebody has. */
static int check_impls(const QCryptoBenchRunSet *set, GError **errp)
{
    for (char **name = set->request.impls; name && *name; name++) {
        bool known = !g_ascii_strcasecmp(*name, "all");

        for (guint i = 0; i < set->groups->len && !known; i++) {
            const GPtrArray *group = g_ptr_array_index(set->groups, i);

            for (guint j = 0; j < group->len; j++) {
                const QCryptoBenchCase *c = g_ptr_array_index(group, j);

                known |= c->impl && !g_ascii_strcasecmp(*name, c->impl);
            }
        }
        if (!known) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown implementation '%s'; `qcrypto bench "
                                 "--list` names them",
                                 *name);
        }
    }
    return 0;
}

/* What the cases are held to together with the plans. */
static int check_case(const QCryptoBenchCase *c, const QCryptoBenchPlan *plan,
                      GError **errp)
{
    const uint64_t buffers = (uint64_t)c->threadnum * MAX(c->reqnum, 1);

    /* each request of each thread has its own buffers */
    if (c->request_bytes > INPUT_MAX / buffers) {
        return qcrypto_error(
            errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
            "%u threads with %u requests of %" G_GUINT64_FORMAT
            " bytes: at most %" G_GUINT64_FORMAT " bytes in all",
            c->threadnum, MAX(c->reqnum, 1), c->request_bytes, INPUT_MAX);
    }
    if (plan->fixed_bytes &&
        (!c->request_bytes ||
         qcrypto_bench_fixed(plan->fixed_bytes, c) % c->request_bytes)) {
        return qcrypto_error(
            errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
            "--fixed-mib: %" G_GUINT64_FORMAT " bytes are no whole "
            "number of requests of %" G_GUINT64_FORMAT " bytes (%s)",
            plan->fixed_bytes, c->request_bytes, c->algorithm);
    }
    return 0;
}

static int plan_groups(QCryptoBenchRunSet *set, const GPtrArray *parts,
                       char **ops, GError **errp)
{
    const QCryptoBenchPlan *plan = g_ptr_array_index(set->plans, 0);
    size_t cases = 0;

    for (guint i = 0; i < parts->len; i++) {
        Part *p = g_ptr_array_index(parts, i);
        QCryptoBenchRequest mine = set->request;

        if (p->algorithms) {
            g_ptr_array_add(p->algorithms, NULL);
            mine.algorithms = (char **)p->algorithms->pdata;
        }
        choose_ops(&mine, p->kind, ops);
        g_ptr_array_add(set->kinds, (gpointer)p->kind);
        if (p->kind->plan(p->kind, &mine, set->groups, errp) < 0) {
            return -1;
        }
    }
    for (guint i = 0; i < set->groups->len; i++) {
        const GPtrArray *group = g_ptr_array_index(set->groups, i);

        for (guint j = 0; j < group->len; j++) {
            if (check_case(g_ptr_array_index(group, j), plan, errp) < 0) {
                return -1;
            }
            cases++;
        }
    }
    if (check_impls(set, errp) < 0) {
        return -1;
    }
    return cases ? 0
                 : qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                                 "nobody does what is asked for");
}

static int check_options(const QCryptoBenchOptions *o, GError **errp)
{
    if (o->mode && !o->algorithm) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--mode goes with --algorithm");
    }
    if (o->fixed_mib && (o->time || o->loop || o->warmup)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--fixed-mib is measured without --time, "
                             "--warmup and --loop");
    }
    return 0;
}

static int make_request(QCryptoBenchRunSet *set, const QCryptoBenchOptions *o,
                        bool list, GError **errp)
{
    QCryptoBenchRequest *r = &set->request;
    g_autofree char *impls = o->impl && o->driver
                                 ? g_strjoin(",", o->impl, o->driver, NULL)
                                 : g_strdup(o->impl ? o->impl : o->driver);

    r->inplace[0] = !o->inplace || o->outplace;
    r->inplace[1] = o->inplace;
    r->template = o->xor_impl;
    r->data = o->data;
    r->compressibility = o->compressibility;
    if (qcrypto_bench_split("--algorithm", o->algorithm, &r->algorithms, errp) <
            0 ||
        qcrypto_bench_split("--mode", o->mode, &r->modes, errp) < 0 ||
        qcrypto_bench_split("--provider", o->provider, &r->providers, errp) <
            0 ||
        qcrypto_bench_split(o->impl ? "--impl" : "--driver", impls, &r->impls,
                            errp) < 0 ||
        choose_sizes(set->sizes, o, errp) < 0 ||
        counts("--threadnum", o->threadnum ? o->threadnum : "1",
               QCRYPTO_BENCH_THREADS_MAX, set->threads, errp) < 0 ||
        counts("--reqnum", o->reqnum, REQNUM_MAX, set->reqnums, errp) < 0 ||
        counts("--keysize", o->keysize, KEY_MAX, set->keybits, errp) < 0 ||
        check_providers(r, errp) < 0) {
        return -1;
    }
    /* "--impl all" asks for what there is, not for a name */
    set->by_name =
        r->providers || (r->impls && !qcrypto_bench_listed(r->impls, "all"));
    if (list) {
        r->algorithms =
            r->algorithms ? r->algorithms : g_strsplit("all", ",", 0);
        r->impls = r->impls ? r->impls : g_strsplit("all", ",", 0);
    }
    if (set->sizes->len) {
        r->sizes = (const void *)set->sizes->data;
        r->nsizes = set->sizes->len;
    }
    if (set->reqnums->len) {
        r->reqnums = (const void *)set->reqnums->data;
        r->nreqnums = set->reqnums->len;
    }
    r->keybits = (const void *)set->keybits->data;
    r->nkeybits = set->keybits->len;
    r->threads = (const void *)set->threads->data;
    r->nthreads = set->threads->len;
    return 0;
}

/* ---- How ---- */

static int basic_plan(QCryptoBenchPlan *plan, const QCryptoBenchOptions *o,
                      GError **errp)
{
    uint64_t repeat, mib = 0;

    *plan = (QCryptoBenchPlan){.counters = true};
    if ((o->repeat &&
         qcrypto_bench_parse_count("--repeat", o->repeat, 1, REPEAT_MAX,
                                   &repeat, errp) < 0) ||
        (o->fixed_mib && qcrypto_bench_parse_count(
                             "--fixed-mib", o->fixed_mib, 1,
                             QCRYPTO_BENCH_FIXED_MIB_MAX, &mib, errp) < 0) ||
        (o->warmup && qcrypto_bench_parse_seconds("--warmup", o->warmup, 0,
                                                  QCRYPTO_BENCH_TIME_MAX,
                                                  &plan->warmup, errp) < 0)) {
        return -1;
    }
    plan->repeat = o->repeat      ? (unsigned)repeat
                   : o->fixed_mib ? 1
                   : o->quick     ? QUICK_REPEAT
                                  : DEFAULT_REPEAT;
    plan->fixed_bytes = mib * QCRYPTO_BENCH_MIB;
    return 0;
}

/* One plan for each combination of what is left open. */
static void add_plans(QCryptoBenchRunSet *set, const QCryptoBenchOptions *o,
                      const QCryptoBenchPlan *basic, double seconds,
                      const GArray *loops, const GArray *masks)
{
    QCryptoBenchPlan plan = *basic;

    plan.seconds = seconds;
    if (!o->warmup) {
        plan.warmup = o->quick ? 0 : MIN(seconds, WARMUP_MAX);
    }
    plan.retake = !plan.fixed_bytes;
    if (!o->repeat && !plan.fixed_bytes) {
        plan.enough = ENOUGH_TIME;
        plan.least = MIN((unsigned)MAX(TOTAL_MAX / seconds, 1), ENOUGH_REPEAT);
    }
    for (guint l = 0; l < loops->len; l++) {
        plan.loop = g_array_index(loops, uint64_t, l);
        for (guint m = 0; m < masks->len; m++) {
            const GArray *cpus = g_ptr_array_index(set->cpus, m);

            plan.numamask = g_array_index(masks, uint64_t, m);
            plan.cpus = (const void *)cpus->data;
            plan.ncpus = cpus->len;
            g_ptr_array_add(set->plans, g_memdup2(&plan, sizeof plan));
        }
    }
}

static GArray *loops_of(const QCryptoBenchOptions *o, GError **errp)
{
    const uint64_t calibrated = 0;
    GArray *none;

    if (o->loop) {
        return numbers("--loop", o->loop, qcrypto_bench_parse_count, 1,
                       LOOP_MAX, errp);
    }
    none = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_array_append_val(none, calibrated);
    return none;
}

static bool is_crowded(const QCryptoBenchRunSet *set)
{
    bool crowded = false;

    for (guint i = 0; i < set->threads->len; i++) {
        crowded |=
            g_array_index(set->threads, unsigned, i) > g_get_num_processors();
    }
    return crowded;
}

static int make_plans(QCryptoBenchRunSet *set, const QCryptoBenchOptions *o,
                      GError **errp)
{
    const double usual = o->quick          ? QUICK_TIME
                         : is_crowded(set) ? CROWDED_TIME
                                           : DEFAULT_TIME;
    g_auto(GStrv) times = NULL;
    g_autoptr(GArray) loops = loops_of(o, errp);
    g_autoptr(GArray) masks =
        loops ? numbers("--numamask", o->numamask ? o->numamask : "0",
                        parse_mask, 0, UINT64_MAX, errp)
              : NULL;
    QCryptoBenchPlan basic;

    if (!masks || qcrypto_bench_split("--time", o->time, &times, errp) < 0 ||
        basic_plan(&basic, o, errp) < 0) {
        return -1;
    }
    set->fixed = basic.fixed_bytes > 0;
    for (guint i = 0; i < masks->len; i++) {
        GArray *cpus =
            qcrypto_bench_numa_cpus(g_array_index(masks, uint64_t, i), errp);

        if (!cpus) {
            return -1;
        }
        g_ptr_array_add(set->cpus, cpus);
    }
    if (!times) {
        add_plans(set, o, &basic, usual, loops, masks);
    }
    for (char **t = times; t && *t; t++) {
        double seconds;

        if (qcrypto_bench_parse_seconds("--time", *t, QCRYPTO_BENCH_TIME_MIN,
                                        QCRYPTO_BENCH_TIME_MAX, &seconds,
                                        errp) < 0) {
            return -1;
        }
        add_plans(set, o, &basic, seconds, loops, masks);
    }
    return 0;
}

/* ---- Run sets ---- */

static void free_cpus(gpointer cpus)
{
    g_array_unref(cpus);
}

QCryptoBenchRunSet *qcrypto_bench_runset_new(
    const char *name, const QCryptoBenchOptions *o,
    const QCryptoBenchPeer *const *peers, bool list, GError **errp)
{
    g_autoptr(QCryptoBenchRunSet) set = g_new0(QCryptoBenchRunSet, 1);
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(free_part);
    g_auto(GStrv) ops = NULL;

    set->name = g_strdup(name);
    set->groups = qcrypto_bench_groups_new();
    set->plans = g_ptr_array_new_with_free_func(g_free);
    set->kinds = g_ptr_array_new();
    set->cpus = g_ptr_array_new_with_free_func(free_cpus);
    set->sizes = g_array_new(FALSE, FALSE, sizeof(QCryptoBenchSize));
    set->threads = g_array_new(FALSE, FALSE, sizeof(unsigned));
    set->reqnums = g_array_new(FALSE, FALSE, sizeof(unsigned));
    set->keybits = g_array_new(FALSE, FALSE, sizeof(unsigned));
    set->request.peers = peers;
    if (check_options(o, errp) < 0 || make_request(set, o, list, errp) < 0 ||
        choose_parts(parts, o, set->request.algorithms, list, errp) < 0 ||
        check_own(parts, o, errp) < 0 ||
        qcrypto_bench_split("--optype", o->optype, &ops, errp) < 0 ||
        check_ops(parts, ops, errp) < 0 || make_plans(set, o, errp) < 0 ||
        plan_groups(set, parts, ops, errp) < 0) {
        return NULL;
    }
    /* in force, and the options' */
    set->request.template = set->request.data = NULL;
    set->request.compressibility = NULL;
    return g_steal_pointer(&set);
}

void qcrypto_bench_runset_free(QCryptoBenchRunSet *set)
{
    if (set) {
        g_free(set->name);
        g_ptr_array_unref(set->groups);
        g_ptr_array_unref(set->plans);
        g_ptr_array_unref(set->kinds);
        g_ptr_array_unref(set->cpus);
        g_array_unref(set->sizes);
        g_array_unref(set->threads);
        g_array_unref(set->reqnums);
        g_array_unref(set->keybits);
        g_strfreev(set->request.algorithms);
        g_strfreev(set->request.modes);
        g_strfreev(set->request.providers);
        g_strfreev(set->request.impls);
        g_free(set);
    }
}

/* ---- Files ---- */

/* The group's keys, where the command line says nothing. */
static int load_group(GKeyFile *file, const char *group,
                      const QCryptoBenchOptions *given, QCryptoBenchOptions *o,
                      GError **errp)
{
    g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, errp);

    for (char **key = keys; key && *key; key++) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(table) && strcmp(*key, table[i].name) != 0) {
            i++;
        }
        if (i == G_N_ELEMENTS(table)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "unknown key '%s'; keys are the command's "
                                 "options without their dashes",
                                 *key);
        }
        if (text_of(o, i) && !*text_of(given, i)) {
            *text_of(o, i) = g_key_file_get_string(file, group, *key, errp);
            if (!*text_of(o, i)) {
                return -1;
            }
        } else if (flag_of(o, i)) {
            GError *error = NULL;

            *flag_of(o, i) = g_key_file_get_boolean(file, group, *key, &error);
            if (error) {
                g_error_free(error);
                return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                     "%s is true or false", *key);
            }
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        if (text_of(o, i) && *text_of(given, i)) {
            *text_of(o, i) = g_strdup(*text_of(given, i));
        } else if (flag_of(o, i)) {
            *flag_of(o, i) |= *flag_of(given, i);
        }
    }
    return keys ? 0 : -1;
}

int qcrypto_bench_runsets_load(const char *path, const QCryptoBenchOptions *o,
                               const QCryptoBenchPeer *const *peers, bool list,
                               GPtrArray *sets, GError **errp)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_auto(GStrv) groups = NULL;
    GError *error = NULL;

    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error)) {
        qcrypto_error(errp,
                      error->domain == G_KEY_FILE_ERROR
                          ? QCRYPTO_ERROR_INVALID_ARGUMENT
                          : QCRYPTO_ERROR_IO,
                      "%s: %s", path, error->message);
        g_error_free(error);
        return -1;
    }
    groups = g_key_file_get_groups(file, NULL);
    if (!groups[0]) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: there is no [run set] in it", path);
    }
    for (char **g = groups; *g; g++) {
        QCryptoBenchOptions mine = {NULL};
        QCryptoBenchRunSet *set = NULL;

        if (load_group(file, *g, o, &mine, errp) == 0) {
            set = qcrypto_bench_runset_new(*g, &mine, peers, list, errp);
        }
        qcrypto_bench_options_clear(&mine);
        if (!set) {
            g_prefix_error(errp, "%s [%s]: ", path, *g);
            return -1;
        }
        g_ptr_array_add(sets, set);
    }
    return 0;
}
