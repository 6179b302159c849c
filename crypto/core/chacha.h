/*
 * ChaCha for the layers above core: the kernel by itself
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_CHACHA_H
#define QCRYPTO_CORE_CHACHA_H

#include <qcrypto/chacha.h>

#include "crypto/base/rows.h"

/*
 * The best usable row that works from a state alone (keystream and
 * keystream_words are there, ctx_size is 0), whatever the order of providers:
 * a generator must not depend on an order meant for ciphers.  Found and
 * self-tested once; later calls cost a load.  NULL with an error for other
 * rounds than 8, 12 and 20, or when QCRYPTO_CPU is wrong.
 */
const QCryptoChaChaOps *qcrypto_chacha_kernel(unsigned rounds, GError **errp);

/*
 * The same from the row that needs no CPU feature, to check others against;
 * each call looks it up.
 */
const QCryptoChaChaOps *qcrypto_chacha_reference(unsigned rounds,
                                                 GError **errp);

/* The same from one row, "builtin:chacha-avx2"; for tests and benchmarks. */
const QCryptoChaChaOps *qcrypto_chacha_kernel_from(const char *provider,
                                                   unsigned rounds,
                                                   GError **errp);

/* 8, 12 or 20; 0 for a number that is no QCryptoChaChaAlgo */
unsigned qcrypto_chacha_rounds(QCryptoChaChaAlgo alg);

#endif
