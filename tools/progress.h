/*
 * A progress line on a terminal
 *
 *       encrypting  43% [########............]  110.1 of 256.0 MiB  1843 MiB/s  0:03 left
 *
 * Drawn on standard error when that is a terminal, at most ten times a second;
 * elsewhere all three calls do nothing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_PROGRESS_H
#define QCRYPTO_TOOLS_PROGRESS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct QCryptoProgress {
    const char *what; /* "encrypting" */
    uint64_t total;   /* bytes; 0: not known */
    int64_t started;  /* of g_get_monotonic_time */
    int64_t drawn;
    bool on;
} QCryptoProgress;

void qcrypto_progress_begin(QCryptoProgress *p, const char *what,
                            uint64_t total);
void qcrypto_progress_update(QCryptoProgress *p, uint64_t done);
/* Clears the line. */
void qcrypto_progress_end(QCryptoProgress *p);

#endif
