/*
 * Known answers for the self-tests (data)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_KAT_H
#define QCRYPTO_CORE_KAT_H

#include "crypto/base/algs.h"

typedef struct QCryptoKat {
    QCryptoKind kind;
    int alg;
    int mode;
    uint64_t fold; /* of the self-test's output, see selftest.c */
} QCryptoKat;

extern const QCryptoKat qcrypto_kat[];
extern const size_t qcrypto_kat_len;

/* The self-test's message of compression, compressed by another program. */
typedef struct QCryptoKatStream {
    int alg;
    const uint8_t *bytes;
    size_t n;
} QCryptoKatStream;

extern const QCryptoKatStream qcrypto_kat_streams[];
extern const size_t qcrypto_kat_streams_len;

/* the 64-bit fold (FNV-1a) */
uint64_t qcrypto_selftest_fold(const uint8_t *p, size_t n);

#endif
