/*
 * What compressors are measured on
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_DATA_H
#define QCRYPTO_TOOLS_BENCH_DATA_H

#include <glib.h>
#include <stdint.h>

typedef struct QCryptoBenchData {
    char *text; /* what it is, for results */
    uint8_t *bytes;
    size_t len;
} QCryptoBenchData;

#define QCRYPTO_BENCH_PERCENT_MAX     95
#define QCRYPTO_BENCH_PERCENT_DEFAULT 50
/* generated, and read of a file, at most */
#define QCRYPTO_BENCH_GENERATED ((size_t)1 << 20)
#define QCRYPTO_BENCH_FILE_MAX  ((size_t)16 << 20)

/*
 * len bytes of which compressing saves about that many percent: those that
 * zlib-deflate saves at its default level in blocks of 64 KiB.  The same bytes
 * on every machine.
 */
void qcrypto_bench_data_fill(uint8_t *p, size_t len, unsigned percent);

/*
 * The bytes of the file, or (path is NULL) at least least generated ones of
 * that percentage (text; NULL: the default).  What was made is kept and given
 * again; NULL and an error.
 */
const QCryptoBenchData *qcrypto_bench_data(const char *path,
                                           const char *percent, size_t least,
                                           GError **errp);

#endif
