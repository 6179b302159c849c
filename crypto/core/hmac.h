/*
 * The HMAC object, for requests on it
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_HMAC_H
#define QCRYPTO_CORE_HMAC_H

#include <qcrypto/hmac.h>

#include "crypto/base/algs.h"

/* Its hash. */
const QCryptoAlg *qcrypto_hmac_alg(const QCryptoHmac *hmac);

#endif
