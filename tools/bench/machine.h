/*
 * The machine that numbers were measured on
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_MACHINE_H
#define QCRYPTO_TOOLS_BENCH_MACHINE_H

#include "tools/bench/peer.h"

typedef struct QCryptoBenchLibrary {
    const char *name;
    const char *version;
} QCryptoBenchLibrary;

typedef struct QCryptoBenchMachine {
    char *cpu;      /* model name */
    unsigned cpus;  /* that this process may use */
    char *features; /* in force, as QCRYPTO_CPU left them */
    char *kernel;
    const char *compiler;
    bool optimized; /* this tool itself */
    QCryptoBenchLibrary *libraries;
    size_t nlibraries;
    char *governor; /* NULL: not to be read */
    double load;    /* runnable processes over the last minute, -1 unknown */
    double clock_cost_ns;
    const char *cycles; /* what cycles a byte are counted in: "tsc", or NULL */
    double tick_rate;   /* its ticks a second */
    char *counters;     /* which are missing and why, or NULL */
    char **warnings;    /* NULL-ended: why not to trust the numbers */
} QCryptoBenchMachine;

QCryptoBenchMachine *qcrypto_bench_machine_new(
    const QCryptoBenchPeer *const *peers);
void qcrypto_bench_machine_free(QCryptoBenchMachine *m);

#endif
