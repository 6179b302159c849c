/*
 * Selection: from (kind, algorithm, mode) to the row that serves it
 *
 * Candidates are made once, from the provider table.  A selection is a list
 * of candidates for each slot (kind, algorithm, mode), best first:
 * constant-time rows, then the others; among them those of the providers that
 * were asked for, in that order, then those of the rest by rank and the
 * written order.  Rows that need absent CPU features, that only a name can
 * choose, or whose provider is unusable are left out.
 *
 * Providers outside the default order may be costly to look at (the kernel
 * loads modules for it), so theirs are candidates unseen: what becomes of them
 * is found out when somebody wants to know, and once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/select.h"

#include <qcrypto/calibrate.h>
#include <qcrypto/provider.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/core/plan.h"
#include "crypto/core/providers.h"
#include "crypto/core/selftest.h"

/* Modes are numbered from 0; kinds without modes use -1.  Slots shift by 1. */
#define MODES (QCRYPTO_CIPHER_MODE__MAX + 1)

typedef struct Slot {
    QCryptoCandidate **items;
    size_t n;
    const QCryptoPlan *plan; /* NULL: items[0] for every size */
} Slot;

typedef struct Selection {
    Slot *slots;
    QCryptoCandidate **all; /* every candidate, providers in this order */
    size_t n_all;
    char *order;   /* all names */
    char *request; /* as it was asked for, NULL: the written order */
    QCryptoPlan *plans;
    /* by number of sources, which no other kind has */
    const QCryptoPlan *xor_plans[QCRYPTO_XOR_ARITY + 1];
    unsigned generation;
} Selection;

/* a provider of the table with what became of it */
typedef struct Known {
    const QCryptoProviderEntry *entry;
    QCryptoCandidate *candidates;
    size_t n;
    GPtrArray *named; /* candidates made because they were asked for by name */
    bool probed;      /* opt-in: refused is known; under probe_lock */
    char *refused;    /* why the provider is unusable, or NULL */
} Known;

static struct {
    GMutex lock;
    const QCryptoProviderEntry *table;
    size_t table_len;
    Known *known;
    int slot_base[QCRYPTO_KIND__MAX];
    int n_algs[QCRYPTO_KIND__MAX];
    int n_slots;
    Selection *current; /* atomic */
    GError *error;      /* lasting: a bad variable of the environment */
    GPtrArray *retired; /* earlier selections: readers may hold them */
    QCryptoProviderInfo *list; /* made when first asked for */
} reg;

/* UNSEEN: c->refused is not known yet */
enum { UNTESTED, PASSED, FAILED, UNSEEN };

/* held while an opt-in provider or row is looked at, or a row is tested */
static GMutex probe_lock;

static char *missing_features(const QCryptoRow *row)
{
    const uint32_t lacking = row->cpu & ~qcrypto_cpu_features();
    const uint32_t absent = row->cpu & ~qcrypto_cpu_hardware();

    if (!lacking) {
        return NULL;
    }
    g_autofree char *names = qcrypto_cpu_names(absent ? absent : lacking, " ");
    return g_strdup_printf(absent ? "CPU lacks %s"
                                  : "%s switched off by QCRYPTO_CPU",
                           names);
}

static char *take_message(GError *err)
{
    char *text = g_strdup(err ? err->message : "unknown error");

    g_clear_error(&err);
    return text;
}

/* Looks at the provider; NULL: it is usable. */
static char *probe_provider(const QCryptoProvider *p)
{
    GError *err = NULL;

    if (!p) {
        return g_strdup("not built in");
    }
    return p->probe && p->probe(&err) < 0 ? take_message(err) : NULL;
}

/* Looks at the row of a provider that is usable, or refused for a reason. */
static void probe_candidate(QCryptoCandidate *c, char *refused)
{
    const QCryptoProvider *p = c->provider;
    GError *err = NULL;

    c->refused = missing_features(c->row);
    if (!c->refused) {
        c->refused = refused;
    }
    if (!c->refused && p->probe_row && p->probe_row(c->row, &err) < 0) {
        c->refused = take_message(err);
    }
}

static void make_candidates(Known *k)
{
    const QCryptoProvider *p = k->entry->provider;

    if (!k->entry->opt_in) {
        k->refused = probe_provider(p);
    }
    k->n = p ? p->nrows : 0;
    k->candidates = g_new0(QCryptoCandidate, k->n);
    for (size_t i = 0; i < k->n; i++) {
        QCryptoCandidate *c = &k->candidates[i];

        c->provider = p;
        c->row = &p->rows[i];
        c->state = k->entry->opt_in ? UNSEEN : UNTESTED;
        if (!k->entry->opt_in) {
            probe_candidate(c, k->refused);
        }
    }
}

/* Why the provider is unusable, or NULL; an opt-in one is looked at now. */
static const char *refusal(Known *k)
{
    if (!k->entry->opt_in) {
        return k->refused;
    }
    g_mutex_lock(&probe_lock);
    if (!k->probed) {
        k->refused = probe_provider(k->entry->provider);
        k->probed = true;
    }
    const char *refused = k->refused;
    g_mutex_unlock(&probe_lock);
    return refused;
}

/* Called with the lock held. */
static void make_known(void)
{
    if (reg.known) {
        return;
    }
    if (!reg.table) {
        reg.table = qcrypto_provider_table;
        reg.table_len = qcrypto_provider_table_len;
    }
    reg.n_slots = 0;
    for (int kind = 0; kind < QCRYPTO_KIND__MAX; kind++) {
        reg.slot_base[kind] = reg.n_slots;
        reg.n_algs[kind] = qcrypto_alg_count((QCryptoKind)kind);
        reg.n_slots += reg.n_algs[kind] * MODES;
    }
    Known *known = g_new0(Known, reg.table_len);
    for (size_t i = 0; i < reg.table_len; i++) {
        known[i].entry = &reg.table[i];
        make_candidates(&known[i]);
    }
    reg.known = known;
}

/* -1 when the numbers are none of the table's */
static int slot_of(QCryptoKind kind, int alg, int mode)
{
    if ((unsigned)kind >= QCRYPTO_KIND__MAX || mode < -1 ||
        mode >= QCRYPTO_CIPHER_MODE__MAX || alg < 0 ||
        alg >= reg.n_algs[kind]) {
        return -1;
    }
    return reg.slot_base[kind] + alg * MODES + mode + 1;
}

static Known *find_known(const char *name)
{
    for (size_t i = 0; i < reg.table_len; i++) {
        if (!g_ascii_strcasecmp(reg.known[i].entry->name, name)) {
            return &reg.known[i];
        }
    }
    return NULL;
}

static bool contains(const GPtrArray *a, const void *p)
{
    return g_ptr_array_find((GPtrArray *)a, p, NULL);
}

/*
 * Providers of @text in order, the first *named of them by name; NULL and an
 * error on an unknown name.
 */
static GPtrArray *parse_order(const char *text, const char *where, guint *named,
                              GError **errp)
{
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    g_auto(GStrv) words = g_strsplit(text ? text : "...", ",", -1);

    *named = 0;
    for (char **w = words; *w; w++) {
        const char *name = g_strstrip(*w);

        if (!strcmp(name, "...")) {
            if (w[1]) {
                qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                              "%s: \"...\" must come last", where);
                return NULL;
            }
            for (size_t i = 0; i < reg.table_len; i++) {
                if (!reg.known[i].entry->opt_in &&
                    !contains(order, &reg.known[i])) {
                    g_ptr_array_add(order, &reg.known[i]);
                }
            }
            continue;
        }
        Known *k = find_known(name);
        if (!k) {
            qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                          "%s: unknown provider '%s'", where, name);
            return NULL;
        }
        if (contains(order, k)) {
            qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                          "%s: provider '%s' is named twice", where, name);
            return NULL;
        }
        g_ptr_array_add(order, k);
        ++*named;
    }
    return g_steal_pointer(&order);
}

static bool selectable(const QCryptoCandidate *c)
{
    const bool seen = g_atomic_int_get(&c->state) != UNSEEN;

    return !(seen && c->refused) &&
           !(c->row->flags & (QCRYPTO_ROW_AVOID | QCRYPTO_ROW_BENCH));
}

static void slot_add(Slot *slot, QCryptoCandidate *c)
{
    slot->items = g_renew(QCryptoCandidate *, slot->items, slot->n + 1);
    slot->items[slot->n++] = c;
}

/* The provider's rows of this sort and (-1: any) rank, to their slots. */
static void add_rows(Selection *s, const Known *k, bool leaky, int rank)
{
    for (size_t i = 0; i < k->n; i++) {
        QCryptoCandidate *c = &k->candidates[i];
        const QCryptoRow *r = c->row;
        const int slot = slot_of(r->kind, r->alg, r->mode);

        if (slot >= 0 && selectable(c) &&
            !(r->flags & QCRYPTO_ROW_LEAKY) == !leaky &&
            (rank < 0 || rank == r->rank)) {
            slot_add(&s->slots[slot], c);
        }
    }
}

/* The first named of the providers were asked for, the others follow. */
static Selection *make_selection(const GPtrArray *order, guint named)
{
    Selection *s = g_new0(Selection, 1);
    GString *text = g_string_new(NULL);
    GPtrArray *all = g_ptr_array_new();
    int last_rank = 0;

    s->slots = g_new0(Slot, reg.n_slots);
    for (guint i = 0; i < order->len; i++) {
        Known *k = g_ptr_array_index(order, i);

        g_string_append_printf(text, "%s%s", i ? "," : "", k->entry->name);
        for (size_t j = 0; j < k->n; j++) {
            g_ptr_array_add(all, &k->candidates[j]);
            last_rank = MAX(last_rank, k->candidates[j].row->rank);
        }
    }
    /* constant-time rows of every provider first, then the others */
    for (int leaky = 0; leaky < 2; leaky++) {
        for (guint i = 0; i < named; i++) {
            add_rows(s, g_ptr_array_index(order, i), leaky, -1);
        }
        for (int rank = 0; rank <= last_rank; rank++) {
            for (guint i = named; i < order->len; i++) {
                add_rows(s, g_ptr_array_index(order, i), leaky, rank);
            }
        }
    }
    /* walks see the rows of providers outside the order too */
    for (size_t i = 0; i < reg.table_len; i++) {
        Known *k = &reg.known[i];

        for (size_t j = 0; j < k->n && !contains(order, k); j++) {
            g_ptr_array_add(all, &k->candidates[j]);
        }
    }
    s->n_all = all->len;
    s->all = (QCryptoCandidate **)g_ptr_array_free(all, FALSE);
    s->order = g_string_free(text, FALSE);
    return s;
}

/* Called with the lock held: puts s, which may be NULL, in force. */
static void retire(Selection *s)
{
    Selection *old = g_atomic_pointer_get(&reg.current);

    if (old) {
        if (!reg.retired) {
            reg.retired = g_ptr_array_new();
        }
        g_ptr_array_add(reg.retired, old);
    }
    g_atomic_pointer_set(&reg.current, s);
}

/* Called with the lock held. */
static Selection *replace(Selection *s)
{
    static unsigned generation;

    s->generation = ++generation;
    retire(s);
    return s;
}

/* Called with the lock held. */
static Selection *publish(const char *order, const char *where, GError **errp)
{
    guint named;
    g_autoptr(GPtrArray) list = parse_order(order, where, &named, errp);

    if (!list) {
        return NULL;
    }
    Selection *s = make_selection(list, named);
    s->request = g_strdup(order);
    return replace(s);
}

/* The order of the environment, or the written one. */
static Selection *publish_default(GError **errp)
{
    const char *env = getenv("QCRYPTO_PROVIDER");

    return publish(env && *env ? env : NULL, "QCRYPTO_PROVIDER", errp);
}

/*
 * QCRYPTO_CALIBRATION, after the first selection was published: without the
 * lock, since loading looks at it.  Threads that come meanwhile are served by
 * the written order.  A file that cannot be used ends in a lasting error.
 */
static Selection *load_calibration(GError **errp)
{
    const char *path = getenv("QCRYPTO_CALIBRATION");
    GError *err = NULL;

    if (!path || !*path || qcrypto_calibration_load(path, &err) == 0) {
        return g_atomic_pointer_get(&reg.current);
    }
    g_prefix_error(&err, "QCRYPTO_CALIBRATION: ");
    g_mutex_lock(&reg.lock);
    retire(NULL);
    reg.error = err;
    g_mutex_unlock(&reg.lock);
    if (errp) {
        *errp = g_error_copy(err);
    }
    return NULL;
}

static Selection *selection(GError **errp)
{
    Selection *s = g_atomic_pointer_get(&reg.current);
    bool first = false;

    if (G_LIKELY(s)) {
        return s;
    }
    g_mutex_lock(&reg.lock);
    s = g_atomic_pointer_get(&reg.current);
    if (!s && !reg.error) {
        make_known();
        if (qcrypto_cpu_error()) {
            reg.error = g_error_copy(qcrypto_cpu_error());
        } else {
            s = publish_default(&reg.error);
            first = s != NULL;
        }
    }
    if (!s && errp) {
        *errp = g_error_copy(reg.error);
    }
    g_mutex_unlock(&reg.lock);
    return first ? load_calibration(errp) : s;
}

void qcrypto_select_set_table(const QCryptoProviderEntry *table, size_t n)
{
    g_mutex_lock(&reg.lock);
    /* what existed stays allocated, and reachable: objects point to its rows */
    void *const past[] = {reg.known, reg.list, g_atomic_pointer_get(&reg.current)};
    if (!reg.retired) {
        reg.retired = g_ptr_array_new();
    }
    for (size_t i = 0; i < G_N_ELEMENTS(past); i++) {
        if (past[i]) {
            g_ptr_array_add(reg.retired, past[i]);
        }
    }
    reg.table = table;
    reg.table_len = n;
    reg.known = NULL;
    reg.list = NULL;
    g_clear_error(&reg.error);
    g_atomic_pointer_set(&reg.current, NULL);
    g_mutex_unlock(&reg.lock);
}

QCryptoCandidate *const *qcrypto_select(QCryptoKind kind, int alg, int mode,
                                        size_t *n, GError **errp)
{
    static QCryptoCandidate *const none[1] = {NULL};
    Selection *s = selection(errp);

    *n = 0;
    if (!s) {
        return NULL;
    }
    const int slot = slot_of(kind, alg, mode);
    if (slot < 0 || !s->slots[slot].n) {
        return none;
    }
    *n = s->slots[slot].n;
    return s->slots[slot].items;
}

/* The first use of a row; threads that come meanwhile wait. */
static void test_candidate(QCryptoCandidate *c)
{
    g_mutex_lock(&probe_lock);
    if (g_atomic_int_get(&c->state) == UNTESTED) {
        GError *err = NULL;

        if (qcrypto_selftest(c->row, &err) < 0) {
            c->failure = take_message(err);
            g_atomic_int_set(&c->state, FAILED);
        } else {
            if (c->provider->impl) {
                c->impl = c->provider->impl(c->row);
            }
            g_atomic_int_set(&c->state, PASSED);
        }
    }
    g_mutex_unlock(&probe_lock);
}

const char *qcrypto_candidate_refused(QCryptoCandidate *c)
{
    if (g_atomic_int_get(&c->state) == UNSEEN) {
        g_mutex_lock(&probe_lock);
        if (g_atomic_int_get(&c->state) == UNSEEN) {
            char *refused = probe_provider(c->provider);

            probe_candidate(c, refused);
            if (c->refused != refused) {
                g_free(refused);
            }
            g_atomic_int_set(&c->state, UNTESTED);
        }
        g_mutex_unlock(&probe_lock);
    }
    return c->refused;
}

const char *qcrypto_candidate_impl(const QCryptoCandidate *c)
{
    return c->impl ? c->impl : c->row->impl;
}

bool qcrypto_candidate_usable(QCryptoCandidate *c, const char **why)
{
    if (G_LIKELY(g_atomic_int_get(&c->state) == PASSED)) {
        return true;
    }
    const char *refused = qcrypto_candidate_refused(c);
    if (!refused && g_atomic_int_get(&c->state) == UNTESTED) {
        test_candidate(c);
    }
    if (why) {
        *why = refused ? refused : c->failure;
    }
    return !refused && g_atomic_int_get(&c->state) == PASSED;
}

const char *qcrypto_describe(char *buf, QCryptoKind kind, int alg, int mode)
{
    const QCryptoAlg *a = qcrypto_alg(kind, alg);

    if (!a) {
        g_snprintf(buf, 64, "%s algorithm %d", qcrypto_kind_name(kind), alg);
    } else if (mode == -1) {
        g_snprintf(buf, 64, "%s", a->name);
    } else if (!qcrypto_mode_name(mode)) {
        g_snprintf(buf, 64, "%s mode %d", a->name, mode);
    } else {
        g_snprintf(buf, 64, "%s-%s", a->name, qcrypto_mode_name(mode));
    }
    return buf;
}

/* A candidate that was made for this name, or is made now; or NULL. */
static QCryptoCandidate *made_for(Known *k, QCryptoKind kind, int alg, int mode,
                                  const char *impl, GError **errp)
{
    const QCryptoProvider *p = k->entry->provider;
    QCryptoCandidate *found = NULL;

    if (!impl || !p->named) {
        return NULL;
    }
    g_mutex_lock(&reg.lock);
    for (guint i = 0; k->named && i < k->named->len && !found; i++) {
        QCryptoCandidate *c = g_ptr_array_index(k->named, i);

        if (c->row->kind == kind && c->row->alg == alg && c->row->mode == mode &&
            !strcmp(c->row->impl, impl)) {
            found = c;
        }
    }
    const QCryptoRow *row =
        found ? NULL : p->named(kind, alg, mode, impl, errp);
    if (row) {
        found = g_new0(QCryptoCandidate, 1);
        found->provider = p;
        found->row = row;
        found->state = UNTESTED;
        if (!k->named) {
            k->named = g_ptr_array_new();
        }
        g_ptr_array_add(k->named, found);
    }
    g_mutex_unlock(&reg.lock);
    return found;
}

QCryptoCandidate *qcrypto_select_named(const char *name, QCryptoKind kind,
                                       int alg, int mode, GError **errp)
{
    char what[64];

    qcrypto_describe(what, kind, alg, mode);
    if (!name) {
        qcrypto_error_null(errp, "provider");
        return NULL;
    }
    if (!selection(errp)) {
        return NULL;
    }
    g_auto(GStrv) part = g_strsplit(name, ":", 2);
    const char *pname = part[0] ? part[0] : "";
    const char *impl = part[0] ? part[1] : NULL;
    Known *k = find_known(pname);
    if (!k) {
        qcrypto_error_unavailable(errp, pname, "there is no backend of this name");
        return NULL;
    }
    const char *refused = refusal(k);
    if (refused) {
        qcrypto_error_unavailable(errp, pname, "%s", refused);
        return NULL;
    }

    const char *why = NULL;
    for (size_t i = 0; i < k->n; i++) {
        QCryptoCandidate *c = &k->candidates[i];
        const QCryptoRow *r = c->row;

        if (r->kind != kind || r->alg != alg || r->mode != mode ||
            (impl ? strcmp(impl, r->impl) != 0
                  : (r->flags & (QCRYPTO_ROW_AVOID | QCRYPTO_ROW_BENCH)) != 0)) {
            continue;
        }
        if (qcrypto_candidate_usable(c, &why)) {
            return c;
        }
    }
    if (!why) {
        GError *err = NULL;
        QCryptoCandidate *c = made_for(k, kind, alg, mode, impl, &err);

        if (c && qcrypto_candidate_usable(c, &why)) {
            return c;
        }
        if (err) {
            g_propagate_error(errp, err);
            return NULL;
        }
    }
    if (why) {
        qcrypto_error_unavailable(errp, name, "%s: %s", what, why);
    } else if (impl) {
        qcrypto_error_unsupported(errp, what,
                                  "backend %s has no implementation '%s' of it",
                                  pname, impl);
    } else {
        qcrypto_error_unsupported(errp, what, "backend %s does not offer it",
                                  pname);
    }
    return NULL;
}

QCryptoCandidate *qcrypto_select_usable(QCryptoKind kind, int alg, int mode,
                                        size_t from, size_t *at)
{
    size_t n;
    QCryptoCandidate *const *list = qcrypto_select(kind, alg, mode, &n, NULL);

    for (size_t i = from; i < n; i++) {
        if (qcrypto_candidate_usable(list[i], NULL)) {
            if (at) {
                *at = i;
            }
            return list[i];
        }
    }
    return NULL;
}

int qcrypto_select_failed(QCryptoKind kind, int alg, int mode,
                          const GError *last, GError **errp)
{
    Selection *s = selection(errp);
    char what[64];

    if (!s) {
        return -1;
    }
    /* want of memory is not want of a row */
    if (last && !g_error_matches(last, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED)) {
        g_propagate_error(errp, g_error_copy(last));
        return -1;
    }
    qcrypto_describe(what, kind, alg, mode);
    if (last) {
        return qcrypto_error_unsupported(errp, what, "%s", last->message);
    }
    return qcrypto_error_unsupported(
        errp, what, "no usable implementation among providers %s", s->order);
}

QCryptoCandidate *const *qcrypto_candidates(size_t *n, GError **errp)
{
    Selection *s = selection(errp);

    *n = s ? s->n_all : 0;
    return s ? s->all : NULL;
}

/* ---- plans ---- */

const QCryptoPlan *qcrypto_plan(QCryptoKind kind, int alg, int mode,
                                unsigned arity)
{
    Selection *s = selection(NULL);

    if (!s || arity > QCRYPTO_XOR_ARITY) {
        return NULL;
    }
    if (arity) {
        return s->xor_plans[arity];
    }
    const int slot = slot_of(kind, alg, mode);
    return slot < 0 ? NULL : s->slots[slot].plan;
}

unsigned qcrypto_selection_generation(void)
{
    Selection *s = selection(NULL);

    return s ? s->generation : 0;
}

/* The plan's choice for the typical size leads its slot. */
static void apply_plan(Selection *s, const QCryptoPlan *plan)
{
    const int n = slot_of(plan->kind, plan->alg, plan->mode);
    Slot *slot = &s->slots[n];
    QCryptoCandidate *lead = qcrypto_plan_step(plan, plan->typical)->candidate;
    size_t at = 0;

    while (at < slot->n && slot->items[at] != lead) {
        at++;
    }
    if (at == slot->n) {
        return; /* no longer selectable */
    }
    memmove(slot->items + 1, slot->items, at * sizeof(slot->items[0]));
    slot->items[0] = lead;
    slot->plan = plan;
}

int qcrypto_plans_publish(const QCryptoPlan *plans, size_t n, GError **errp)
{
    if (!selection(errp)) {
        return -1;
    }
    g_mutex_lock(&reg.lock);
    const Selection *old = g_atomic_pointer_get(&reg.current);
    Selection *s = NULL;
    guint named;
    g_autoptr(GPtrArray) list =
        parse_order(old->request, "provider order", &named, errp);

    if (list) {
        s = make_selection(list, named);
        s->request = g_strdup(old->request);
        s->plans = g_new(QCryptoPlan, n);
        for (size_t i = 0; i < n; i++) {
            s->plans[i] = plans[i];
            if (plans[i].arity) {
                s->xor_plans[plans[i].arity] = &s->plans[i];
            } else {
                apply_plan(s, &s->plans[i]);
            }
        }
        replace(s);
    }
    g_mutex_unlock(&reg.lock);
    return s ? 0 : -1;
}

/* ---- public: provider.h ---- */

int qcrypto_providers_set_order(const char *order, GError **errp)
{
    if (!selection(errp)) {
        return -1;
    }
    g_mutex_lock(&reg.lock);
    Selection *s = order && *order ? publish(order, "provider order", errp)
                                   : publish_default(errp);
    g_mutex_unlock(&reg.lock);
    return s ? 0 : -1;
}

char *qcrypto_providers_get_order(GError **errp)
{
    Selection *s = selection(errp);

    return s ? g_strdup(s->order) : NULL;
}

const QCryptoProviderInfo *qcrypto_providers_list(size_t *n)
{
    if (!n) {
        return NULL;
    }
    selection(NULL);
    g_mutex_lock(&reg.lock);
    make_known();
    if (!reg.list) {
        reg.list = g_new0(QCryptoProviderInfo, reg.table_len);
        for (size_t i = 0; i < reg.table_len; i++) {
            Known *k = &reg.known[i];
            const QCryptoProvider *p = k->entry->provider;
            const char *refused = refusal(k);

            reg.list[i] = (QCryptoProviderInfo){
                .name = k->entry->name,
                .version = p && p->version ? p->version() : NULL,
                .compiled = p != NULL,
                .available = !refused,
                .reason = refused,
                .opt_in = k->entry->opt_in,
            };
        }
    }
    *n = reg.table_len;
    const QCryptoProviderInfo *list = reg.list;
    g_mutex_unlock(&reg.lock);
    return list;
}

static bool is_selected(QCryptoCandidate *c)
{
    size_t n;
    QCryptoCandidate *const *list = qcrypto_select(
        c->row->kind, c->row->alg, c->row->mode, &n, NULL);

    for (size_t i = 0; i < n; i++) {
        if (qcrypto_candidate_usable(list[i], NULL)) {
            return list[i] == c;
        }
    }
    return false;
}

/* The candidates of the order in force, and those made for a name. */
static GPtrArray *everyone(void)
{
    GPtrArray *all = g_ptr_array_new();

    g_mutex_lock(&reg.lock);
    const Selection *s = g_atomic_pointer_get(&reg.current);
    for (size_t i = 0; s && i < s->n_all; i++) {
        g_ptr_array_add(all, s->all[i]);
    }
    for (size_t i = 0; i < reg.table_len; i++) {
        const GPtrArray *named = reg.known[i].named;

        for (guint j = 0; named && j < named->len; j++) {
            g_ptr_array_add(all, g_ptr_array_index(named, j));
        }
    }
    g_mutex_unlock(&reg.lock);
    return all;
}

QCryptoRowInfo *qcrypto_rows_list(size_t *n, GError **errp)
{
    if (!n) {
        qcrypto_error_null(errp, "n");
        return NULL;
    }
    if (!selection(errp)) {
        return NULL;
    }
    g_autoptr(GPtrArray) all = everyone();
    *n = all->len;
    QCryptoRowInfo *list = g_new0(QCryptoRowInfo, *n ? *n : 1);
    for (size_t i = 0; i < *n; i++) {
        QCryptoCandidate *c = g_ptr_array_index(all, i);
        const QCryptoRow *r = c->row;
        const char *why = NULL;
        const bool usable = qcrypto_candidate_usable(c, &why);
        const QCryptoAlg *alg = qcrypto_alg(r->kind, r->alg);

        list[i] = (QCryptoRowInfo){
            .kind = qcrypto_kind_name(r->kind),
            .algorithm = alg ? alg->name : "?",
            .mode = qcrypto_mode_name(r->mode),
            .provider = c->provider->name,
            .impl = qcrypto_candidate_impl(c),
            .constant_time = !(r->flags & QCRYPTO_ROW_LEAKY),
            .avoid = r->flags & QCRYPTO_ROW_AVOID,
            .benchmark = r->flags & QCRYPTO_ROW_BENCH,
            .usable = usable,
            .selected = usable && is_selected(c),
            .reason = g_strdup(usable ? NULL : why),
            .kind_id = (int)r->kind,
            .alg_id = r->alg,
            .mode_id = r->mode,
        };
    }
    return list;
}

void qcrypto_rows_free(QCryptoRowInfo *rows, size_t n)
{
    for (size_t i = 0; rows && i < n; i++) {
        g_free(rows[i].reason);
    }
    g_free(rows);
}

char *qcrypto_cpu_describe(void)
{
    g_autofree char *now = qcrypto_cpu_names(qcrypto_cpu_features(), " ");
    const uint32_t off = qcrypto_cpu_hardware() & ~qcrypto_cpu_features();

    if (!off) {
        return g_steal_pointer(&now);
    }
    g_autofree char *names = qcrypto_cpu_names(off, " ");
    return g_strdup_printf("%s (off: %s)", now, names);
}
