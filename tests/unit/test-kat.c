/*
 * The known answers of the self-tests, held against every row
 *
 * kat.c guards the library at run time; this test guards kat.c: each answer
 * must be what rows of different providers compute, and none may be missing.
 * With --print it writes the table instead, for a new algorithm: a value is
 * printed only when every row of every provider agrees on it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdio.h>
#include <string.h>

#include "crypto/core/kat.h"
#include "crypto/core/select.h"
#include "crypto/core/selftest.h"

/* What the rows of one slot compute; false when two of them differ. */
static bool agreed(QCryptoCandidate *const *all, size_t n, const QCryptoRow *slot,
                   uint64_t *fold, char *who, size_t nwho)
{
    const char *seen = NULL;
    bool have = false;

    who[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;
        g_autoptr(GError) err = NULL;
        uint64_t f;

        if (r->kind != slot->kind || r->alg != slot->alg ||
            r->mode != slot->mode || qcrypto_candidate_refused(all[i])) {
            continue;
        }
        if (qcrypto_selftest_compute(r, &f, &err) < 0) {
            g_test_message("%s:%s: %s", all[i]->provider->name, r->impl,
                           err->message);
            return false;
        }
        if (have && f != *fold) {
            g_test_message("%s:%s differs", all[i]->provider->name, r->impl);
            return false;
        }
        if (!seen || strcmp(seen, all[i]->provider->name)) {
            g_strlcat(who, " ", nwho);
            g_strlcat(who, all[i]->provider->name, nwho);
        }
        seen = all[i]->provider->name;
        *fold = f;
        have = true;
    }
    return have;
}

static bool first_of_slot(QCryptoCandidate *const *all, size_t i)
{
    const QCryptoRow *r = all[i]->row;

    for (size_t j = 0; j < i; j++) {
        const QCryptoRow *q = all[j]->row;

        if (q->kind == r->kind && q->alg == r->alg && q->mode == r->mode) {
            return false;
        }
    }
    return true;
}

/* All rows of this slot are refused. */
static bool nobody(QCryptoCandidate *const *all, size_t n, const QCryptoRow *slot)
{
    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;

        if (r->kind == slot->kind && r->alg == slot->alg &&
            r->mode == slot->mode && !qcrypto_candidate_refused(all[i])) {
            return false;
        }
    }
    return true;
}

static void test_kat(void)
{
    size_t n, slots = 0;
    g_autoptr(GError) err = NULL;
    QCryptoCandidate *const *all = qcrypto_candidates(&n, &err);

    g_assert_no_error(err);
    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;
        uint64_t fold = 0, answer;
        char what[64], who[128];

        if (!first_of_slot(all, i)) {
            continue;
        }
        qcrypto_describe(what, r->kind, r->alg, r->mode);
        if (nobody(all, n, r)) {
            g_test_message("%s: no row of it runs here", what);
            continue;
        }
        if (!qcrypto_selftest_answer(r->kind, r->alg, r->mode, &answer)) {
            g_test_message("%s: no known answer", what);
            g_test_fail();
            continue;
        }
        if (!agreed(all, n, r, &fold, who, sizeof(who)) || fold != answer) {
            g_test_message("%s: known answer %016" G_GINT64_MODIFIER
                           "x, rows (%s) give %016" G_GINT64_MODIFIER "x",
                           what, answer, who, fold);
            g_test_fail();
        }
        slots++;
    }
    g_assert_cmpuint(slots, >, 0);
}

static int print_table(void)
{
    size_t n;
    QCryptoCandidate *const *all = qcrypto_candidates(&n, NULL);

    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;
        uint64_t fold;
        char what[64], who[128];

        if (!first_of_slot(all, i) || nobody(all, n, r)) {
            continue;
        }
        qcrypto_describe(what, r->kind, r->alg, r->mode);
        if (!agreed(all, n, r, &fold, who, sizeof(who))) {
            fprintf(stderr, "%s: rows differ\n", what);
            return 1;
        }
        printf("    {%d, %d, %d, UINT64_C(0x%016" G_GINT64_MODIFIER
               "x)}, /* %s:%s */\n",
               (int)r->kind, r->alg, r->mode, fold, what, who);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--print")) {
        return print_table();
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unit/kat/rows-agree", test_kat);
    return g_test_run();
}
