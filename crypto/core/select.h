/*
 * Selection: from (kind, algorithm, mode) to the row that serves it
 *
 * One immutable selection is in force at a time, published by one atomic
 * pointer; a change of order builds another and swaps the pointer.  Earlier
 * selections stay allocated (a change is rare, a reader may still hold one).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_SELECT_H
#define QCRYPTO_CORE_SELECT_H

#include "crypto/base/rows.h"

struct QCryptoProviderEntry;

/* A row with what became of it in this process. */
typedef struct QCryptoCandidate QCryptoCandidate;
struct QCryptoCandidate {
    const QCryptoProvider *provider;
    const QCryptoRow *row;
    const char *refused; /* see qcrypto_candidate_refused */
    const char *impl;    /* see qcrypto_candidate_impl */
    int state;           /* self-test; atomic, private to select.c */
    char *failure;       /* text of a failed self-test */
};

/*
 * The candidates for one (kind, algorithm, mode), best first, *n of them;
 * rows that can not be selected are left out.  NULL with an error when
 * QCRYPTO_PROVIDER or QCRYPTO_CPU is wrong; *n == 0 with no error when nobody
 * offers it.
 */
QCryptoCandidate *const *qcrypto_select(QCryptoKind kind, int alg, int mode,
                                        size_t *n, GError **errp);

/*
 * True when the candidate may be used; runs its self-test the first time.
 * Otherwise *why, if not NULL, is the reason (owned by the callee).
 */
bool qcrypto_candidate_usable(QCryptoCandidate *c, const char **why);

/*
 * Why it can never run here, or NULL.  Rows of an opt-in provider are looked
 * at now, or when they are first used, and not before.
 */
const char *qcrypto_candidate_refused(QCryptoCandidate *c);

/* What a usable candidate is called: row->impl, or what the provider found. */
const char *qcrypto_candidate_impl(const QCryptoCandidate *c);

/*
 * The loop of a front end over its candidates: the first usable one at or
 * after index from, whose index goes to *at (may be NULL); NULL at the end.
 *
 *     for (i = 0; (c = qcrypto_select_usable(kind, alg, mode, i, &i)); i++)
 */
QCryptoCandidate *qcrypto_select_usable(QCryptoKind kind, int alg, int mode,
                                        size_t from, size_t *at);

/*
 * The error after that loop found nobody: that of the environment, that of
 * the last row tried, or "no usable implementation".  Returns -1.
 */
int qcrypto_select_failed(QCryptoKind kind, int alg, int mode,
                          const GError *last, GError **errp);

/*
 * The one candidate that "provider" or "provider:impl" names, checked and
 * self-tested; NULL with an error that says what is missing.  Without impl:
 * the provider's first selectable usable row (then, of its rows, those marked
 * avoid are not taken).
 */
QCryptoCandidate *qcrypto_select_named(const char *name, QCryptoKind kind,
                                       int alg, int mode, GError **errp);

/* Every candidate in the order of trial, for walks. */
QCryptoCandidate *const *qcrypto_candidates(size_t *n, GError **errp);

/*
 * For tests: another provider table, and the environment read again.  Only
 * while no other thread is in the library; objects made before keep working.
 */
void qcrypto_select_set_table(const struct QCryptoProviderEntry *table,
                              size_t n);

/* "aes-256-xts", "sha256": for error texts; buf of 64 bytes */
const char *qcrypto_describe(char *buf, QCryptoKind kind, int alg, int mode);

#endif
