/*
 * Requests in flight: see flight.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/flight.h"

QCryptoBenchFlight *qcrypto_bench_flight_new(unsigned reqnum, GError **errp)
{
    const QCryptoAsyncOptions options = {.depth = reqnum};
    QCryptoAsync *engine = qcrypto_async_new(&options, errp);
    QCryptoBenchFlight *f;

    if (!engine) {
        return NULL;
    }
    f = g_new0(QCryptoBenchFlight, 1);
    f->engine = engine;
    f->tickets = g_new(QCryptoBenchTicket, reqnum);
    f->idle = g_new(unsigned, reqnum);
    f->nidle = reqnum;
    for (unsigned i = 0; i < reqnum; i++) {
        f->tickets[i] = (QCryptoBenchTicket){f, i};
        f->idle[i] = reqnum - 1 - i;
    }
    return f;
}

void qcrypto_bench_flight_free(QCryptoBenchFlight *f)
{
    if (f) {
        qcrypto_async_free(f->engine);
        g_clear_error(&f->error);
        g_free(f->tickets);
        g_free(f->idle);
        g_free(f);
    }
}

unsigned qcrypto_bench_flight_take(QCryptoBenchFlight *f)
{
    const unsigned slot = f->idle[--f->nidle];

    f->used = MAX(f->used, slot + 1);
    return slot;
}

QCryptoBenchTicket *qcrypto_bench_flight_ticket(QCryptoBenchFlight *f,
                                                unsigned slot)
{
    return &f->tickets[slot];
}

void qcrypto_bench_flight_done(const GError *error, void *opaque)
{
    const QCryptoBenchTicket *ticket = opaque;
    QCryptoBenchFlight *f = ticket->flight;

    if (error && !f->error) {
        f->error = g_error_copy(error);
    }
    f->idle[f->nidle++] = ticket->slot;
}

int qcrypto_bench_flight_reap(QCryptoBenchFlight *f, GError **errp)
{
    const int n = qcrypto_async_poll(f->engine, 1, -1, errp);

    if (n >= 0 && f->error) {
        g_propagate_error(errp, g_steal_pointer(&f->error));
        return -1;
    }
    return n;
}
