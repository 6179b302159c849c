/*
 * XTS as it was before and after one well-known speed-up (benchmark only)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_MODE_XTS_EXPERIMENT_H
#define QCRYPTO_MODE_XTS_EXPERIMENT_H

#include "crypto/base/rows.h"

/* Tweaks as 16 bytes, worked on a byte at a time: the form before. */
extern const QCryptoCipherOps qcrypto_mode_xts_bytewise;

/* Tweaks as two 64-bit words: the form after. */
extern const QCryptoCipherOps qcrypto_mode_xts_uint128;

#endif
