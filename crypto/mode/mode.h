/*
 * Generic modes over any block cipher, generic MAC and KDF over any hash
 *
 * Cipher ops that run ECB, CBC, CTR or XTS over a QCryptoBlockDesc (the row's
 * arg).  With them every backend that has a block cipher has every mode.
 * They hand the block cipher as many blocks at once as the mode allows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_MODE_MODE_H
#define QCRYPTO_MODE_MODE_H

#include "crypto/base/rows.h"

extern const QCryptoCipherOps qcrypto_mode_ecb;
extern const QCryptoCipherOps qcrypto_mode_cbc;
extern const QCryptoCipherOps qcrypto_mode_ctr;
extern const QCryptoCipherOps qcrypto_mode_xts;

/*
 * HMAC (RFC 2104) and PBKDF2 (RFC 8018, 5.2) over any hash: the row's arg is
 * a QCryptoHashDesc.
 */
extern const QCryptoHmacOps qcrypto_mode_hmac;
extern const QCryptoPbkdf2Ops qcrypto_mode_pbkdf2;

#endif
