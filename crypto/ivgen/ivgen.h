/*
 * IV generators, the inside
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_IVGEN_IVGEN_H
#define QCRYPTO_IVGEN_IVGEN_H

#include <qcrypto/ivgen.h>

/*
 * The IVs of sectors first, first + step, ... (modulo 2^64), n of them, niv
 * bytes each.  One call a batch, so that ESSIV encrypts it at once.
 */
int qcrypto_ivgen_run(const QCryptoIVGen *ivgen, uint64_t first, uint64_t step,
                      size_t n, uint8_t *ivs, size_t niv, GError **errp);

#endif
