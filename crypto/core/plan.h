/*
 * Plans: which row serves a shape of operation from which size on
 *
 * Without a plan the first usable row of the written order serves every
 * size.  Calibration makes plans; selection (select.c) carries them, so that
 * one atomic step publishes all of them together.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_PLAN_H
#define QCRYPTO_CORE_PLAN_H

#include "crypto/core/select.h"

#define QCRYPTO_PLAN_STEPS 5

typedef struct QCryptoStep {
    size_t from; /* bytes of a request; 0 for the first step */
    QCryptoCandidate *candidate;
} QCryptoStep;

typedef struct QCryptoPlan {
    QCryptoKind kind;
    int alg;
    int mode;
    unsigned arity; /* XOR: number of sources; else 0 */
    /* the size whose choice serves objects that do not know sizes */
    size_t typical;
    unsigned n;
    QCryptoStep steps[QCRYPTO_PLAN_STEPS]; /* from rises */
} QCryptoPlan;

/* The step of the plan for a request of len bytes. */
static inline const QCryptoStep *qcrypto_plan_step(const QCryptoPlan *plan,
                                                   size_t len)
{
    unsigned i = plan->n - 1;

    while (i > 0 && len < plan->steps[i].from) {
        i--;
    }
    return &plan->steps[i];
}

/* The plan in force for a shape, or NULL. */
const QCryptoPlan *qcrypto_plan(QCryptoKind kind, int alg, int mode,
                                unsigned arity);

/*
 * Publishes n plans (copied) in place of all earlier ones, under the order in
 * force; 0 of them: back to the written order.
 */
int qcrypto_plans_publish(const QCryptoPlan *plans, size_t n, GError **errp);

/* Rises with every publication, of orders and of plans. */
unsigned qcrypto_selection_generation(void);

#endif
