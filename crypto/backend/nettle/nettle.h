/*
 * nettle: what its files share
 *
 * nettle is functions over const key contexts, many blocks to a call.  So
 * one block descriptor a cipher serves both nettle's own modes and the
 * generic ones, and every key context is the generic modes' (QCryptoModeCtx).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_NETTLE_H
#define QCRYPTO_NETTLE_H

#include "crypto/base/rows.h"

/* By QCryptoCipherAlgo; block_len is 0 where nettle has no such cipher. */
extern const QCryptoBlockDesc qcrypto_nettle_blocks[QCRYPTO_CIPHER_ALGO__MAX];

/* nettle's own modes, of AES; row->arg is an entry of the table above */
extern const QCryptoCipherOps qcrypto_nettle_cbc;
extern const QCryptoCipherOps qcrypto_nettle_ctr;
extern const QCryptoCipherOps qcrypto_nettle_xts;

/* row->arg is a struct nettle_hash */
extern const QCryptoHashOps qcrypto_nettle_hash;

/* ChaCha20 */
extern const QCryptoChaChaOps qcrypto_nettle_chacha20;

#endif
