/*
 * qcrypto providers: what this build and this machine can do, and who does it
 *
 * The order in force, the CPU's features, every provider with its version or
 * the reason why it is not there; then a matrix of algorithms and modes with
 * the providers that serve them, the one in use first; then the reason for
 * every "no".  --all lists row by row, --json says everything to programs.
 *
 * --calibrate measures who serves best from which size on and keeps the
 * figures, which are shown from then on.  What is shown is what programs get
 * that load the file; by itself the library reads none.
 *
 * All of it is read from the library: nothing here knows the name of an
 * algorithm, a mode or a backend.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/algs.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/base/file.h"
#include "tools/bench/options.h"
#include "tools/calibration.h"
#include "tools/commands.h"

#if QCRYPTO_HAVE_JANSSON
#include <jansson.h>
#endif

#define COMMAND "providers"
#define COLUMNS 100

typedef struct View {
    char *order_text;
    char **order;
    const QCryptoProviderInfo *providers;
    size_t n_providers;
    QCryptoRowInfo *rows;
    size_t n_rows;
} View;

static void view_clear(View *v)
{
    g_free(v->order_text);
    g_strfreev(v->order);
    qcrypto_rows_free(v->rows, v->n_rows);
}

static int view_init(View *v, GError **errp)
{
    v->order_text = qcrypto_providers_get_order(errp);
    if (!v->order_text) {
        return -1;
    }
    v->order = g_strsplit(v->order_text, ",", -1);
    v->providers = qcrypto_providers_list(&v->n_providers);
    v->rows = qcrypto_rows_list(&v->n_rows, errp);
    return v->rows ? 0 : -1;
}

static bool in_order(const View *v, const char *provider)
{
    return g_strv_contains((const char *const *)v->order, provider);
}

/* Why a row serves nobody who does not name it; NULL when it does. */
static const char *row_reason(const View *v, const QCryptoRowInfo *row)
{
    if (!row->usable) {
        return row->reason;
    }
    if (row->benchmark) {
        return "exists to be measured, used when named in full";
    }
    if (row->avoid) {
        return "avoided by policy, used when named in full";
    }
    if (!in_order(v, row->provider)) {
        return "its provider is not in the order, used when named";
    }
    return NULL;
}

static bool is_row_of(const QCryptoRowInfo *row, int kind, int alg, int mode)
{
    return row->kind_id == kind && row->alg_id == alg && row->mode_id == mode;
}

static bool provider_has(const View *v, const char *provider, int kind, int alg,
                         int mode)
{
    for (size_t i = 0; i < v->n_rows; i++) {
        if (is_row_of(&v->rows[i], kind, alg, mode) &&
            !strcmp(v->rows[i].provider, provider)) {
            return true;
        }
    }
    return false;
}

/* A library for other things needs no reason for every algorithm of a kind. */
static bool provider_has_any(const View *v, const char *provider, int kind)
{
    for (size_t i = 0; i < v->n_rows; i++) {
        if (v->rows[i].kind_id == kind &&
            !strcmp(v->rows[i].provider, provider)) {
            return true;
        }
    }
    return false;
}

/*
 * A kind's modes, as a set of bits; kinds without modes have one whose
 * number is -1.  Bit i stands for mode i - 1.
 */
#define MODE_BIT(mode) (1u << ((mode) + 1))
#define N_MODE_BITS    (QCRYPTO_CIPHER_MODE__MAX + 1)

static unsigned kind_modes(const View *v, int kind)
{
    unsigned modes = 0;

    for (size_t i = 0; i < v->n_rows; i++) {
        if (v->rows[i].kind_id == kind) {
            modes |= v->rows[i].mode_id < 0
                         ? MODE_BIT(-1)
                         : (~0u << 1) & ((1u << N_MODE_BITS) - 1);
        }
    }
    return modes;
}

/* Why nobody could ever offer the pair; NULL when it makes sense. */
static const char *impossible(const QCryptoAlg *alg, int mode)
{
    return mode == QCRYPTO_CIPHER_MODE_XTS && alg->block_len != 16
               ? "xts is defined for blocks of 16 bytes"
               : NULL;
}

static unsigned possible_modes(const View *v, const QCryptoAlg *alg, int kind)
{
    unsigned modes = kind_modes(v, kind);

    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        if (impossible(alg, mode)) {
            modes &= ~MODE_BIT(mode);
        }
    }
    return modes;
}

/* "ecb cbc"; "" where the kind has no modes */
static char *mode_names(unsigned modes)
{
    GString *s = g_string_new(NULL);

    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        if (modes & MODE_BIT(mode)) {
            g_string_append_printf(s, "%s%s", s->len ? " " : "",
                                   qcrypto_mode_name(mode));
        }
    }
    return g_string_free(s, FALSE);
}

/* Prints head, then text from column indent on, wrapped under itself. */
static void print_item(const char *head, size_t indent, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    size_t column = strlen(head);

    printf("%s", head);
    if (*text && column >= indent) {
        printf("\n");
        column = 0;
    }
    for (char **w = words; *w; w++) {
        size_t len = strlen(*w);

        if (column > indent && column + 1 + len > COLUMNS) {
            printf("\n");
            column = 0;
        }
        if (column < indent) {
            printf("%*s", (int)(indent - column), "");
            column = indent;
        } else if (column > indent) {
            column += (size_t)printf(" ");
        }
        column += (size_t)printf("%s", *w);
    }
    printf("\n");
}

/* ---- the matrix ---- */

/* "builtin:aes-vaes gcrypt nettle": the row in use, then who else would do */
static char *served_by(const View *v, int kind, int alg, int mode)
{
    GString *s = g_string_new(NULL);
    g_autoptr(GPtrArray) seen = g_ptr_array_new();

    for (int chosen = 1; chosen >= 0; chosen--) {
        for (size_t i = 0; i < v->n_rows; i++) {
            const QCryptoRowInfo *row = &v->rows[i];

            if (!is_row_of(row, kind, alg, mode) || row_reason(v, row) ||
                row->selected != chosen ||
                g_ptr_array_find_with_equal_func(seen, row->provider,
                                                 g_str_equal, NULL)) {
                continue;
            }
            g_ptr_array_add(seen, (void *)row->provider);
            g_string_append_printf(s, "%s%s", s->len ? " " : "", row->provider);
            if (chosen) {
                g_string_append_printf(s, ":%s", row->impl);
            }
        }
    }
    return g_string_free(s, FALSE);
}

static void print_algorithm(const View *v, int kind, const QCryptoAlg *alg)
{
    unsigned left = possible_modes(v, alg, kind);
    const char *name = alg->name;

    /* modes that the same rows serve share a line */
    for (int mode = -1; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        if (!(left & MODE_BIT(mode))) {
            continue;
        }
        g_autofree char *who = served_by(v, kind, alg->id, mode);
        unsigned together = 0;

        for (int other = mode; other < QCRYPTO_CIPHER_MODE__MAX; other++) {
            g_autofree char *others = served_by(v, kind, alg->id, other);

            if (left & MODE_BIT(other) && !strcmp(who, others)) {
                together |= MODE_BIT(other);
            }
        }
        left &= ~together;

        g_autofree char *modes = mode_names(together);
        g_autofree char *head = g_strdup_printf("  %-13s %s", name, modes);
        print_item(head, 33, *who ? who : "-");
        name = "";
    }
}

/* ---- the reasons ---- */

/* All the pairs that one subject does not serve for one reason. */
typedef struct Refusal {
    int kind;
    char *subject;
    const char *reason;
    GArray *modes; /* of unsigned: mode bits by algorithm */
} Refusal;

static void refusal_free(void *opaque)
{
    Refusal *r = opaque;

    g_free(r->subject);
    g_array_free(r->modes, TRUE);
    g_free(r);
}

/* Takes the subject. */
static void refuse(GPtrArray *list, int kind, char *subject, const char *reason,
                   int alg, int mode)
{
    Refusal *r = NULL;

    for (guint i = 0; i < list->len && !r; i++) {
        Refusal *other = g_ptr_array_index(list, i);

        if (other->kind == kind && !strcmp(other->subject, subject) &&
            !strcmp(other->reason, reason)) {
            r = other;
        }
    }
    if (r) {
        g_free(subject);
    } else {
        r = g_new0(Refusal, 1);
        r->kind = kind;
        r->subject = subject;
        r->reason = reason;
        r->modes = g_array_new(FALSE, TRUE, sizeof(unsigned));
        g_array_set_size(r->modes, (guint)qcrypto_alg_count(kind));
        g_ptr_array_add(list, r);
    }
    g_array_index(r->modes, unsigned, alg) |= MODE_BIT(mode);
}

static GPtrArray *collect_refusals(const View *v)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(refusal_free);

    for (size_t i = 0; i < v->n_rows; i++) {
        const QCryptoRowInfo *row = &v->rows[i];
        const char *reason = row_reason(v, row);

        if (reason) {
            refuse(list, row->kind_id,
                   g_strdup_printf("%s:%s", row->provider, row->impl), reason,
                   row->alg_id, row->mode_id);
        }
    }
    for (int kind = 0; kind < QCRYPTO_KIND__MAX; kind++) {
        const unsigned modes = kind_modes(v, kind);
        const QCryptoAlg *alg;

        for (int id = 0; modes && (alg = qcrypto_alg(kind, id)); id++) {
            for (int mode = -1; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
                if (!(modes & MODE_BIT(mode))) {
                    continue;
                }
                const char *never = impossible(alg, mode);

                if (never) {
                    refuse(list, kind, g_strdup("(all)"), never, id, mode);
                }
                for (size_t i = 0; i < v->n_providers && !never; i++) {
                    const QCryptoProviderInfo *p = &v->providers[i];

                    if (p->available && provider_has_any(v, p->name, kind) &&
                        !provider_has(v, p->name, kind, id, mode)) {
                        refuse(list, kind, g_strdup(p->name),
                               "does not offer it", id, mode);
                    }
                }
            }
        }
    }
    return list;
}

/* "aes-128 aes-192 (ecb cbc), des": algorithms with the same modes together */
static char *pairs_text(const View *v, const Refusal *r)
{
    GString *s = g_string_new(NULL);
    const int n = qcrypto_alg_count(r->kind);

    for (int i = 0; i < n; i++) {
        const unsigned modes = g_array_index(r->modes, unsigned, i);
        bool first = modes != 0;

        for (int j = 0; j < i; j++) {
            first = first && g_array_index(r->modes, unsigned, j) != modes;
        }
        if (!first) {
            continue;
        }
        bool whole = true;

        g_string_append(s, s->len ? ", " : "");
        for (int j = i; j < n; j++) {
            const QCryptoAlg *alg = qcrypto_alg(r->kind, j);

            if (g_array_index(r->modes, unsigned, j) == modes) {
                g_string_append_printf(s, "%s%s", j > i ? " " : "", alg->name);
                whole = whole && modes == possible_modes(v, alg, r->kind);
            }
        }
        if (!whole) {
            g_autofree char *names = mode_names(modes);
            g_string_append_printf(s, " (%s)", names);
        }
    }
    return g_string_free(s, FALSE);
}

/* By subject: the reasons of one stand together. */
static int compare_refusals(const void *a, const void *b)
{
    const Refusal *x = *(Refusal *const *)a;
    const Refusal *y = *(Refusal *const *)b;

    return x->kind != y->kind ? x->kind - y->kind
                              : strcmp(x->subject, y->subject);
}

static void print_refusals(const View *v)
{
    g_autoptr(GPtrArray) list = collect_refusals(v);

    if (list->len == 0) {
        return;
    }
    g_ptr_array_sort(list, compare_refusals);
    printf("\nwhy not\n");
    for (guint i = 0; i < list->len; i++) {
        const Refusal *r = g_ptr_array_index(list, i);
        const Refusal *above = i ? g_ptr_array_index(list, i - 1) : NULL;
        g_autofree char *pairs = pairs_text(v, r);
        g_autofree char *text = g_strdup_printf("%s: %s", r->reason, pairs);
        g_autofree char *head = g_strdup_printf(
            "  %s",
            above && !strcmp(above->subject, r->subject) ? "" : r->subject);

        print_item(head, 28, text);
    }
}

/* ---- the pages ---- */

static void print_head(const View *v)
{
    const uint32_t now = qcrypto_cpu_features();
    const uint32_t off = qcrypto_cpu_hardware() & ~now;
    g_autofree char *features = qcrypto_cpu_names(now, " ");

    printf("qcrypto %s\n\n", qcrypto_version());
    printf("order       %s\n", v->order_text);
    print_item("CPU", 12, features);
    if (off) {
        g_autofree char *names = qcrypto_cpu_names(off, " ");
        print_item("CPU, off", 12, names);
    }
    printf("\n");
    for (size_t i = 0; i < v->n_providers; i++) {
        const QCryptoProviderInfo *p = &v->providers[i];
        g_autofree char *text =
            !p->compiled ? g_strdup("not built in")
            : !p->available
                ? g_strdup_printf("unavailable: %s", p->reason)
                : g_strdup_printf("%s%s", p->version ? p->version : "",
                                  in_order(v, p->name) ? ""
                                                       : " (not in the order)");

        print_item(p->name, 12, text);
    }
}

static void print_matrix(const View *v)
{
    for (int kind = 0; kind < QCRYPTO_KIND__MAX; kind++) {
        const QCryptoAlg *alg;

        if (!kind_modes(v, kind)) {
            continue;
        }
        printf("\n%-15s %-16s served by; the first is in use\n",
               qcrypto_kind_name((QCryptoKind)kind),
               kind_modes(v, kind) & MODE_BIT(-1) ? "" : "modes");
        for (int id = 0; (alg = qcrypto_alg((QCryptoKind)kind, id)); id++) {
            print_algorithm(v, kind, alg);
        }
    }
    print_refusals(v);
}

static void print_rows(const View *v)
{
    printf("\n%-8s %-13s %-4s %-26s %-8s %s\n", "kind", "algorithm", "mode",
           "provider:implementation", "state", "notes");
    for (size_t i = 0; i < v->n_rows; i++) {
        const QCryptoRowInfo *row = &v->rows[i];
        const char *reason = row_reason(v, row);
        g_autofree char *name =
            g_strdup_printf("%s:%s", row->provider, row->impl);
        g_autofree char *notes = g_strdup_printf(
            "%s%s%s", row->constant_time ? "" : "not constant-time",
            row->constant_time || !reason ? "" : "; ", reason ? reason : "");
        g_autofree char *head =
            g_strdup_printf("%-8s %-13s %-4s %-26s %s", row->kind,
                            row->algorithm, row->mode ? row->mode : "", name,
                            row->selected ? "in use"
                            : !reason     ? "ready"
                            : row->usable ? "by name"
                                          : "no");

        print_item(head, 64, notes);
    }
}

#if QCRYPTO_HAVE_JANSSON

static json_t *name_list(char *text, const char *sep)
{
    g_auto(GStrv) words = g_strsplit(text, sep, -1);
    json_t *list = json_array();

    for (char **w = words; *w; w++) {
        json_array_append_new(list, json_string(*w));
    }
    g_free(text);
    return list;
}

static json_t *feature_list(uint32_t mask)
{
    return mask ? name_list(qcrypto_cpu_names(mask, " "), " ") : json_array();
}

/* null without one */
static json_t *calibration_json(const QCryptoCalibration *c)
{
    if (!c) {
        return json_null();
    }
    json_t *results = json_array();
    json_t *steps = json_array();

    for (size_t i = 0; i < c->nresults; i++) {
        const QCryptoCalibrationResult *r = &c->results[i];

        json_array_append_new(
            results,
            json_pack("{s:s, s:s, s:s?, s:i, s:I, s:s, s:s, s:f, s:b, s:b}",
                      "kind", r->kind, "algorithm", r->algorithm, "mode",
                      r->mode, "sources", (int)r->arity, "size",
                      (json_int_t)r->size, "provider", r->provider, "impl",
                      r->impl, "mib_per_sec", r->mib_per_s, "chosen", r->chosen,
                      "written", r->written));
    }
    for (size_t i = 0; i < c->nsteps; i++) {
        const QCryptoCalibrationStep *s = &c->steps[i];

        json_array_append_new(
            steps, json_pack("{s:s, s:s, s:s?, s:i, s:I, s:s, s:s}", "kind",
                             s->kind, "algorithm", s->algorithm, "mode", s->mode,
                             "sources", (int)s->arity, "from",
                             (json_int_t)s->from, "provider", s->provider,
                             "impl", s->impl));
    }
    return json_pack("{s:i, s:o, s:o}", "margin_percent",
                     QCRYPTO_CALIBRATE_MARGIN, "results", results, "steps",
                     steps);
}

static int print_json(const View *v, const QCryptoCalibration *c, GError **errp)
{
    json_t *providers = json_array();
    json_t *rows = json_array();
    json_t *missing = json_array();
    g_autoptr(GPtrArray) refusals = collect_refusals(v);

    for (size_t i = 0; i < v->n_providers; i++) {
        const QCryptoProviderInfo *p = &v->providers[i];

        json_array_append_new(providers,
                              json_pack("{s:s, s:s?, s:b, s:b, s:s?}", "name",
                                        p->name, "version", p->version,
                                        "compiled", p->compiled, "available",
                                        p->available, "reason", p->reason));
    }
    for (size_t i = 0; i < v->n_rows; i++) {
        const QCryptoRowInfo *r = &v->rows[i];

        json_array_append_new(
            rows,
            json_pack("{s:s, s:s, s:s?, s:s, s:s, s:b, s:b, s:b, s:b, s:b, "
                      "s:s?}",
                      "kind", r->kind, "algorithm", r->algorithm, "mode",
                      r->mode, "provider", r->provider, "impl", r->impl,
                      "constant_time", r->constant_time, "avoid", r->avoid,
                      "benchmark", r->benchmark, "usable", r->usable,
                      "selected", r->selected, "reason", row_reason(v, r)));
    }
    for (guint i = 0; i < refusals->len; i++) {
        const Refusal *r = g_ptr_array_index(refusals, i);

        if (strchr(r->subject, ':')) {
            continue; /* a row, listed above */
        }
        for (int id = 0; id < qcrypto_alg_count((QCryptoKind)r->kind); id++) {
            for (int mode = -1; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
                if (g_array_index(r->modes, unsigned, id) & MODE_BIT(mode)) {
                    json_array_append_new(
                        missing,
                        json_pack("{s:s, s:s, s:s, s:s?, s:s}", "provider",
                                  r->subject, "kind",
                                  qcrypto_kind_name((QCryptoKind)r->kind),
                                  "algorithm",
                                  qcrypto_alg((QCryptoKind)r->kind, id)->name,
                                  "mode", qcrypto_mode_name(mode), "reason",
                                  r->reason));
                }
            }
        }
    }
    json_t *root = json_pack(
        "{s:i, s:s, s:o, s:{s:o, s:o}, s:o, s:o, s:o, s:o}", "schema", 1, "version",
        qcrypto_version(), "order", name_list(g_strdup(v->order_text), ","),
        "cpu", "in_force", feature_list(qcrypto_cpu_features()), "hardware",
        feature_list(qcrypto_cpu_hardware()), "providers", providers, "rows",
        rows, "missing", missing, "calibration", calibration_json(c));
    if (!root || json_dumpf(root, stdout, JSON_INDENT(1)) < 0) {
        json_decref(root);
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "cannot write the JSON text");
    }
    printf("\n");
    json_decref(root);
    return 0;
}

#else

static int print_json(const View *v G_GNUC_UNUSED,
                      const QCryptoCalibration *c G_GNUC_UNUSED, GError **errp)
{
    return qcrypto_error_unsupported(errp, "--json",
                                     "this build has no jansson");
}

#endif

/* ---- calibration ---- */

/* As given; NULL or FALSE: not. */
typedef struct Options {
    gboolean all, json, no_save;
    gboolean calibrate;
    char *kinds, *budget, *save, *load;
} Options;

static void options_clear(Options *o)
{
    g_free(o->kinds);
    g_free(o->budget);
    g_free(o->save);
    g_free(o->load);
}

/* --calibrate alone is of all kinds. */
static gboolean calibrate_option(const char *name G_GNUC_UNUSED,
                                 const char *value, gpointer data,
                                 GError **errp G_GNUC_UNUSED)
{
    Options *o = data;

    o->calibrate = TRUE;
    g_free(o->kinds);
    o->kinds = g_strdup(value);
    return TRUE;
}

/* What --calibrate does; its page and nothing else. */
static int calibrate(const Options *o, GError **errp)
{
    g_autofree char *kept = qcrypto_calibration_kept_path();
    const char *path = o->no_save ? NULL : o->save ? o->save : kept;
    uint64_t budget = 0;

    if (o->budget && qcrypto_bench_parse_count("--budget", o->budget, 1, 600000,
                                               &budget, errp) < 0) {
        return -1;
    }
    if (path == kept) {
        /* the cache's own folder; a folder that the user named must be there */
        g_autofree char *folder = g_path_get_dirname(path);

        if (g_mkdir_with_parents(folder, 0700) < 0) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 "cannot make the folder %s: %s", folder,
                                 g_strerror(errno));
        }
    }
    if (path && qcrypto_file_check_writable(path, errp) < 0) {
        return -1;
    }
    if (qcrypto_calibration_measure(o->kinds, (unsigned)budget, path, errp) < 0) {
        return -1;
    }
    g_autoptr(QCryptoCalibration) c = qcrypto_calibration_get();
    qcrypto_calibration_print(c);
    if (path) {
        printf("kept in %s\n", path);
    }
    return 0;
}

/*
 * What is in force, else what an earlier --calibrate kept, which is loaded
 * only now: the page above is about a library that was told nothing.  *about
 * is what to say of it, or why a kept one is not shown.
 */
static QCryptoCalibration *find_calibration(char **about)
{
    QCryptoCalibration *c = qcrypto_calibration_get();
    g_autofree char *path = qcrypto_calibration_kept_path();
    g_autoptr(GError) err = NULL;

    if (c) {
        *about = g_strdup("in force");
    } else if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        *about = NULL;
    } else if (qcrypto_calibration_load(path, &err) < 0) {
        *about = g_strdup_printf("not shown: %s", err->message);
    } else {
        c = qcrypto_calibration_get();
        *about = g_strdup_printf("in force with QCRYPTO_CALIBRATION=%s", path);
    }
    return c;
}

static int show_view(const Options *o, const View *v, GError **errp)
{
    g_autofree char *about = NULL;

    if (o->json) {
        g_autoptr(QCryptoCalibration) c = find_calibration(&about);

        return print_json(v, c, errp);
    }
    print_head(v);
    if (o->all) {
        print_rows(v);
    } else {
        print_matrix(v);
    }
    g_autoptr(QCryptoCalibration) c = find_calibration(&about);
    if (about) {
        printf("\n");
        print_item("calibration", 12, about);
    }
    if (c) {
        qcrypto_calibration_print(c);
    }
    return 0;
}

static int show(const Options *o, GError **errp)
{
    View v = {0};
    int ret = -1;

    if ((!o->load || qcrypto_calibration_load(o->load, errp) == 0) &&
        view_init(&v, errp) == 0) {
        ret = show_view(o, &v, errp);
    }
    view_clear(&v);
    return ret;
}

static const char *misuse(const Options *o)
{
    if (o->calibrate) {
        return o->load   ? "--calibrate and --load exclude each other"
               : o->all  ? "--calibrate has no --all"
               : o->json ? "--calibrate has no --json; the page after it has"
               : o->save && o->no_save
                   ? "--save and --no-save exclude each other"
                   : NULL;
    }
    return o->budget || o->save || o->no_save
               ? "--budget, --save and --no-save go with --calibrate"
               : NULL;
}

int qcrypto_cmd_providers(int argc, char **argv)
{
    Options o = {0};
    const GOptionEntry entries[] = {
        {"all", 'a', 0, G_OPTION_ARG_NONE, &o.all,
         "every implementation in a line of its own", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o.json, "the same for programs", NULL},
        {"calibrate", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
         (gpointer)calibrate_option,
         "measure who serves best, of all or of xor, cipher, chacha, hash, "
         "hmac, pbkdf2",
         "KINDS"},
        {"budget", 0, 0, G_OPTION_ARG_STRING, &o.budget,
         "of measuring (default 2000, xor alone 100)", "MS"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &o.save,
         "keep the figures there, not in the user's cache", "FILE"},
        {"no-save", 0, 0, G_OPTION_ARG_NONE, &o.no_save, "keep them nowhere",
         NULL},
        {"load", 0, 0, G_OPTION_ARG_FILENAME, &o.load,
         "what this page is when programs load that file", "FILE"},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    GOptionGroup *group = g_option_group_new(COMMAND, "", "", &o, NULL);
    GError *error = NULL;
    int status = 0;

    g_set_prgname("qcrypto providers");
    g_option_context_set_summary(
        context, "Prints what this build and this machine can do, who does "
                 "it, and the reason for\nevery \"no\".  Every implementation "
                 "is tested on known answers first.");
    g_option_group_add_entries(group, entries);
    g_option_context_set_main_group(context, group);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        status = qcrypto_cmd_misuse(COMMAND, "%s", error->message);
        g_error_free(error);
    } else if (argc > 1) {
        status = qcrypto_cmd_misuse(COMMAND, "takes no argument, but '%s'",
                                    argv[1]);
    } else if (misuse(&o)) {
        status = qcrypto_cmd_misuse(COMMAND, "%s", misuse(&o));
    } else if ((o.calibrate ? calibrate(&o, &error) : show(&o, &error)) < 0) {
        /* a wrong word among the options, or a file that is not what it says */
        if (o.calibrate && g_error_matches(error, QCRYPTO_ERROR,
                                           QCRYPTO_ERROR_INVALID_ARGUMENT)) {
            status = qcrypto_cmd_misuse(COMMAND, "%s", error->message);
            g_error_free(error);
        } else {
            status = qcrypto_cmd_fail(COMMAND, error);
        }
    }
    options_clear(&o);
    return status;
}
