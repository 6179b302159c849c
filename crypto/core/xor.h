/*
 * The XOR front end, for the measuring engine
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_XOR_H
#define QCRYPTO_CORE_XOR_H

#include <qcrypto/xor.h>

#include "crypto/core/select.h"

/*
 * qcrypto_xor through this template; NULL: through the choice in force.
 * Of what is refused, the caller has qcrypto_xor_check().
 */
int qcrypto_xor_by(QCryptoCandidate *fixed, void *dst, const void *const *srcs,
                   size_t nsrcs, size_t len);

/* "avx2" or "provider:avx2"; NULL and an error. */
QCryptoCandidate *qcrypto_xor_candidate(const char *name, GError **errp);

#endif
