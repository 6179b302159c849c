/*
 * libgcrypt: what its files share
 *
 * A libgcrypt handle is one algorithm in one mode with its key, IV and
 * position.  A context keeps the key and a pool of handles, so that any
 * number of threads can use it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_GCRYPT_H
#define QCRYPTO_GCRYPT_H

#include "crypto/base/rows.h"

/* By QCryptoCipherAlgo; block_len is 0 where libgcrypt has no such cipher. */
extern const QCryptoBlockDesc qcrypto_gcrypt_blocks[QCRYPTO_CIPHER_ALGO__MAX];

/* libgcrypt's own modes; row->arg is an entry of the table above */
extern const QCryptoCipherOps qcrypto_gcrypt_cipher;

/* The provider's answer for a row of the ciphers. */
int qcrypto_gcrypt_probe_cipher(const QCryptoRow *row, GError **errp);

#endif
