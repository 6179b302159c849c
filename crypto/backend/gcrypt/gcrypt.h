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

/* row->arg points to an int, libgcrypt's number of the hash */
extern const QCryptoHashOps qcrypto_gcrypt_hash;
extern const QCryptoHmacOps qcrypto_gcrypt_hmac;
extern const QCryptoPbkdf2Ops qcrypto_gcrypt_pbkdf2;

/* row->arg: GINT_TO_POINTER of the variant's number */
extern const QCryptoArgon2Ops qcrypto_gcrypt_argon2;

/* ChaCha20 */
extern const QCryptoChaChaOps qcrypto_gcrypt_chacha20;

/* The provider's answer for a row of the ciphers, and of the hashes. */
int qcrypto_gcrypt_probe_cipher(const QCryptoRow *row, GError **errp);
int qcrypto_gcrypt_probe_hash(const QCryptoRow *row, GError **errp);

#endif
