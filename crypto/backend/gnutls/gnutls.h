/*
 * GnuTLS: what its files share
 *
 * GnuTLS has CBC and, for AES-128 and AES-256, XTS.  ECB is had from CBC, and
 * with it every generic mode.  A handle carries IVs, so a context keeps the
 * key and a pool of handles.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_GNUTLS_H
#define QCRYPTO_GNUTLS_H

#include "crypto/base/rows.h"

/* By QCryptoCipherAlgo; block_len is 0 where GnuTLS has no such cipher. */
extern const QCryptoBlockDesc qcrypto_gnutls_blocks[QCRYPTO_CIPHER_ALGO__MAX];

/* GnuTLS's own modes; row->arg is an entry of the table above */
extern const QCryptoCipherOps qcrypto_gnutls_cipher;

/* row->arg points to GnuTLS's number of the hash, or of its MAC */
extern const QCryptoHashOps qcrypto_gnutls_hash;
extern const QCryptoHmacOps qcrypto_gnutls_hmac;
extern const QCryptoPbkdf2Ops qcrypto_gnutls_pbkdf2;

/* ChaCha20 */
extern const QCryptoChaChaOps qcrypto_gnutls_chacha20;

/* The provider's answer for a row: can a handle be made? */
int qcrypto_gnutls_probe_cipher(const QCryptoRow *row, GError **errp);
int qcrypto_gnutls_probe_hash(const QCryptoRow *row, GError **errp);

#endif
