/*
 * Calibration to a key file and back
 *
 *     [calibration]
 *     format=1
 *     library=0.1.0
 *     cpu=AMD EPYC
 *     features=sse2 ssse3 ...
 *     order=builtin,gcrypt
 *
 *     [cipher aes-256-xts]            or [xor xor 3]
 *     steps=0 builtin:aes-vaes;65536 gcrypt:native;
 *     512=builtin:aes-vaes 65.1;gcrypt:native 91.0;      ns a piece
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>
#include <string.h>

#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/base/file.h"
#include "crypto/core/calibrate.h"

#define HEAD "calibration"

/* The CPU's own name, for telling machines apart. */
static char *cpu_model(void)
{
    g_autofree char *text = NULL;

    if (g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL)) {
        const char *at = strstr(text, "model name");
        const char *colon = at ? strchr(at, ':') : NULL;

        if (colon) {
            return g_strstrip(g_strndup(colon + 1, strcspn(colon + 1, "\n")));
        }
    }
    return g_strdup("unknown");
}

/* What must be the same for numbers to mean anything: key, value pairs. */
typedef struct Identity {
    const char *key;
    char *value;
} Identity;

static void identity(Identity id[5])
{
    id[0] = (Identity){"format", g_strdup("1")};
    id[1] = (Identity){"library", g_strdup(qcrypto_version())};
    id[2] = (Identity){"cpu", cpu_model()};
    id[3] = (Identity){"features", qcrypto_cpu_names(qcrypto_cpu_features(), " ")};
    id[4] = (Identity){"order", qcrypto_providers_get_order(NULL)};
}

static void free_identity(Identity id[5])
{
    for (int i = 0; i < 5; i++) {
        g_free(id[i].value);
    }
}

static char *group_name(const Shape *s)
{
    char what[64];

    qcrypto_describe(what, s->cal->kind, s->alg, s->mode);
    return s->arity ? g_strdup_printf("%s %s %u", qcrypto_kind_name(s->cal->kind),
                                      what, s->arity)
                    : g_strdup_printf("%s %s", qcrypto_kind_name(s->cal->kind),
                                      what);
}

static void save_shape(GKeyFile *f, const Shape *s, const QCryptoPlan *p)
{
    g_autofree char *group = group_name(s);
    g_autoptr(GString) text = g_string_new(NULL);
    char number[G_ASCII_DTOSTR_BUF_SIZE];

    for (unsigned i = 0; i < p->n; i++) {
        const QCryptoCandidate *c = p->steps[i].candidate;

        g_string_append_printf(text, "%zu %s:%s;", p->steps[i].from,
                               c->provider->name, c->row->impl);
    }
    g_key_file_set_value(f, group, "steps", text->str);
    for (size_t at = 0; at < s->cal->nsizes; at++) {
        g_autofree char *key = g_strdup_printf("%zu", s->cal->sizes[at]);

        g_string_truncate(text, 0);
        for (size_t i = 0; i < s->n; i++) {
            g_string_append_printf(
                text, "%s:%s %s;", s->candidates[i]->provider->name,
                s->candidates[i]->row->impl,
                g_ascii_formatd(number, sizeof(number), "%.12g", s->ns[at][i]));
        }
        g_key_file_set_value(f, group, key, text->str);
    }
}

int qcrypto_calibration_save(const char *path, GError **errp)
{
    if (!path) {
        return qcrypto_error_null(errp, "path");
    }
    Calibration *c = qcrypto_calibration_copy();
    if (!c) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "there is no calibration to save");
    }
    g_autoptr(GKeyFile) f = g_key_file_new();
    Identity id[5];

    identity(id);
    for (int i = 0; i < 5; i++) {
        g_key_file_set_value(f, HEAD, id[i].key, id[i].value);
    }
    free_identity(id);
    for (size_t i = 0; i < c->n; i++) {
        save_shape(f, &c->shapes[i], &c->plans[i]);
    }
    qcrypto_calibration_drop(c);
    gsize len;
    g_autofree char *text = g_key_file_to_data(f, &len, NULL);
    return qcrypto_file_write(path, text, len, errp);
}

/* ---- back ---- */

static int bad(GError **errp, const char *path, const char *group,
               const char *what)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "calibration file %s: [%s]: %s", path, group, what);
}

/* Index of "provider:impl" among the shape's candidates, or n. */
static size_t find(const Shape *s, const char *name)
{
    size_t i = 0;

    for (; i < s->n; i++) {
        g_autofree char *full =
            g_strdup_printf("%s:%s", s->candidates[i]->provider->name,
                            s->candidates[i]->row->impl);

        if (!strcmp(full, name)) {
            break;
        }
    }
    return i;
}

/* "kind what[ arity]" to a shape with its candidates. */
static int parse_group(const char *path, const char *group, Shape *s,
                       GError **errp)
{
    g_auto(GStrv) word = g_strsplit(group, " ", 3);
    const int kind = word[0] ? qcrypto_kind_from_name(word[0]) : -1;
    char what[64];

    for (size_t i = 0; qcrypto_calibrators[i]; i++) {
        if ((int)qcrypto_calibrators[i]->kind == kind) {
            s->cal = qcrypto_calibrators[i];
        }
    }
    if (!s->cal || !word[1]) {
        return bad(errp, path, group, "no such kind of operation");
    }
    const bool modes = s->cal->kind == QCRYPTO_KIND_CIPHER;
    for (int alg = 0; qcrypto_alg(s->cal->kind, alg); alg++) {
        for (int m = modes ? 0 : -1; m < (modes ? QCRYPTO_CIPHER_MODE__MAX : 0);
             m++) {
            if (!strcmp(qcrypto_describe(what, s->cal->kind, alg, m), word[1])) {
                s->alg = alg;
                s->mode = m;
                s->n = 1;
            }
        }
    }
    if (!s->n) {
        return bad(errp, path, group, "no such algorithm");
    }
    s->n = 0;
    s->arity = word[2] ? (unsigned)g_ascii_strtoull(word[2], NULL, 10) : 0;
    if (s->arity < s->cal->arity_min || s->arity > s->cal->arity_max) {
        return bad(errp, path, group, "wrong number of sources");
    }
    qcrypto_shape_candidates(s);
    return 0;
}

/* A whole unsigned number followed by end, or false. */
static bool parse_size(const char *text, char end, size_t *value, const char **rest)
{
    char *stop = NULL;
    const guint64 v = g_ascii_strtoull(text, &stop, 10);

    *value = (size_t)v;
    *rest = stop + 1;
    return g_ascii_isdigit(*text) && *stop == end && v <= PTRDIFF_MAX;
}

static int parse_steps(const char *path, const char *group, const char *text,
                       const Shape *s, QCryptoPlan *p, GError **errp)
{
    g_auto(GStrv) steps = g_strsplit(text, ";", -1);

    for (char **w = steps; *w; w++) {
        const char *name;
        size_t from;

        if (!**w) {
            continue;
        }
        if (!parse_size(*w, ' ', &from, &name) || p->n == QCRYPTO_PLAN_STEPS ||
            (p->n ? from <= p->steps[p->n - 1].from : from != 0)) {
            return bad(errp, path, group, "steps are not \"SIZE ROW;...\", "
                                          "rising from 0");
        }
        const size_t i = find(s, name);
        if (i == s->n) {
            return bad(errp, path, group, "a step names a row that is not here");
        }
        p->steps[p->n++] =
            (QCryptoStep){.from = from, .candidate = s->candidates[i]};
    }
    return 0;
}

static int parse_times(const char *path, const char *group, const char *text,
                       Shape *s, size_t at, GError **errp)
{
    g_auto(GStrv) items = g_strsplit(text, ";", -1);

    for (char **w = items; *w; w++) {
        char *space = strchr(*w, ' ');

        if (!**w) {
            continue;
        }
        char *end = NULL;
        const double ns = space ? g_ascii_strtod(space + 1, &end) : -1;
        /* 0: not measured; nothing is done in a thousandth of a ns */
        if (!end || end == space + 1 || *end ||
            !(ns == 0 || (ns >= 1e-3 && ns < 1e15))) {
            return bad(errp, path, group, "times are not \"ROW NS;...\"");
        }
        *space = '\0';
        const size_t i = find(s, *w);
        if (i < s->n) {
            s->ns[at][i] = ns;
        }
    }
    return 0;
}

static int load_shape(const char *path, GKeyFile *f, const char *group,
                      Shape *s, QCryptoPlan *p, GError **errp)
{
    if (parse_group(path, group, s, errp) < 0) {
        return -1;
    }
    *p = (QCryptoPlan){.kind = s->cal->kind,
                       .alg = s->alg,
                       .mode = s->mode,
                       .arity = s->arity,
                       .typical = s->cal->typical};
    g_autofree char *steps = g_key_file_get_value(f, group, "steps", NULL);
    if (!steps) {
        return bad(errp, path, group, "no steps");
    }
    if (parse_steps(path, group, steps, s, p, errp) < 0) {
        return -1;
    }
    s->measured = p->n > 0;
    for (size_t at = 0; at < s->cal->nsizes; at++) {
        g_autofree char *key = g_strdup_printf("%zu", s->cal->sizes[at]);
        g_autofree char *times = g_key_file_get_value(f, group, key, NULL);

        if (times && parse_times(path, group, times, s, at, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int check_identity(const char *path, GKeyFile *f, GError **errp)
{
    Identity id[5];
    int ret = 0;

    identity(id);
    for (int i = 0; i < 5 && ret == 0; i++) {
        g_autofree char *value = g_key_file_get_value(f, HEAD, id[i].key, NULL);

        if (!value || !id[i].value || strcmp(value, id[i].value)) {
            ret = qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                "calibration file %s is of another %s: '%s', "
                                "here '%s'",
                                path, id[i].key, value ? value : "(none)",
                                id[i].value ? id[i].value : "(none)");
        }
    }
    free_identity(id);
    return ret;
}

int qcrypto_calibration_load(const char *path, GError **errp)
{
    g_autoptr(GKeyFile) f = g_key_file_new();
    g_autoptr(GError) err = NULL;

    if (!path) {
        return qcrypto_error_null(errp, "path");
    }
    if (!g_key_file_load_from_file(f, path, G_KEY_FILE_NONE, &err)) {
        g_autofree char *printable = g_strescape(err->message, NULL);

        return qcrypto_error(errp, QCRYPTO_ERROR_IO, "calibration file %s: %s",
                             path, printable);
    }
    if (check_identity(path, f, errp) < 0) {
        return -1;
    }
    gsize ngroups;
    g_auto(GStrv) groups = g_key_file_get_groups(f, &ngroups);
    Calibration *c = qcrypto_calibration_alloc(ngroups);

    c->n = 0;
    for (gsize i = 0; i < ngroups; i++) {
        if (!strcmp(groups[i], HEAD)) {
            continue;
        }
        if (load_shape(path, f, groups[i], &c->shapes[c->n], &c->plans[c->n],
                       errp) < 0) {
            qcrypto_calibration_drop(c);
            return -1;
        }
        c->n++;
    }
    return qcrypto_calibration_publish(c, errp);
}
