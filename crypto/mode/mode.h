/*
 * Generic modes over any block cipher
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

#endif
