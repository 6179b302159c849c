/*
 * Requests in flight: the library's asynchronous engine, for kinds
 *
 * One flight a thread.  A request takes a slot, which numbers its buffers,
 * and gives it back when it ends:
 *
 *     unsigned slot = qcrypto_bench_flight_take(f);
 *     qcrypto_async_...(f->engine, ..., qcrypto_bench_flight_done,
 *                       qcrypto_bench_flight_ticket(f, slot), errp)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_FLIGHT_H
#define QCRYPTO_TOOLS_BENCH_FLIGHT_H

#include <qcrypto/async.h>

typedef struct QCryptoBenchFlight QCryptoBenchFlight;

typedef struct QCryptoBenchTicket {
    QCryptoBenchFlight *flight;
    unsigned slot;
} QCryptoBenchTicket;

struct QCryptoBenchFlight {
    QCryptoAsync *engine;
    QCryptoBenchTicket *tickets; /* of the slots */
    unsigned *idle;              /* slots, the next one last */
    unsigned nidle;
    unsigned used; /* slots that ever were */
    GError *error; /* the first of a request */
};

/* With so many slots. */
QCryptoBenchFlight *qcrypto_bench_flight_new(unsigned reqnum, GError **errp);
/* Waits for what is in flight; NULL is allowed. */
void qcrypto_bench_flight_free(QCryptoBenchFlight *f);

/* A slot that is idle; there must be one. */
unsigned qcrypto_bench_flight_take(QCryptoBenchFlight *f);
QCryptoBenchTicket *qcrypto_bench_flight_ticket(QCryptoBenchFlight *f,
                                                unsigned slot);
/* The callback of every request; opaque is the ticket. */
void qcrypto_bench_flight_done(const GError *error, void *opaque);

/* QCryptoBenchOps.reap: waits until one has ended, or more. */
int qcrypto_bench_flight_reap(QCryptoBenchFlight *f, GError **errp);

#endif
