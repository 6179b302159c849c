/*
 * The builtin backend, the inside
 *
 * Each algorithm hands provider.c its rows as one list.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_BUILTIN_H
#define QCRYPTO_BUILTIN_BUILTIN_H

#include "crypto/base/rows.h"

extern const QCryptoCipherOps qcrypto_builtin_aes_ecb;
extern const QCryptoCipherOps qcrypto_builtin_aes_cbc;
extern const QCryptoCipherOps qcrypto_builtin_aes_ctr;
extern const QCryptoCipherOps qcrypto_builtin_aes_xts;

/*
 * For the benchmark: ECB in the manner of QCryptoAESKernel.raw, by the widest
 * kernel in force.  A call of up to 4096 bytes is plain ECB; a longer one (a
 * multiple of 4096) runs its bytes through the first 4096 of out, to show
 * what the AES units could do at best.
 */
extern const QCryptoCipherOps qcrypto_builtin_aes_raw;

/* AES-NI's blocks for the generic modes, x86-64 only */
extern const QCryptoBlockDesc qcrypto_builtin_aes_block;

/* SHA-1 and SHA-2; row->arg is a QCryptoSHAKernel */
extern const QCryptoHashOps qcrypto_builtin_sha_hash;
extern const QCryptoPbkdf2Ops qcrypto_builtin_sha_pbkdf2;

#endif
