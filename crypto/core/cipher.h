/*
 * The cipher object, for the layers above core that run whole batches
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_CIPHER_H
#define QCRYPTO_CORE_CIPHER_H

#include <qcrypto/cipher.h>

#include "crypto/base/rows.h"

/*
 * n messages (XTS: data units) of unit_size bytes, the IV of message i at
 * ivs + i * IV length.  Checks lengths and overlap; keeps no state: threads
 * may share the object.  decrypt: 0 or 1.
 */
int qcrypto_cipher_units(const QCryptoCipher *cipher, int decrypt,
                         const uint8_t *ivs, size_t unit_size, const void *in,
                         void *out, size_t n, GError **errp);

/* What that call would refuse. */
int qcrypto_cipher_check_units(const QCryptoCipher *cipher, const uint8_t *ivs,
                               size_t unit_size, const void *in,
                               const void *out, size_t n, GError **errp);

/*
 * The asynchronous service of the row that serves requests of len bytes, and
 * that row's context; NULL where it has none.
 */
const QCryptoCipherAsyncOps *qcrypto_cipher_async(const QCryptoCipher *cipher,
                                                  size_t len, const void **ctx);

/* Bytes of an IV of this object, 0 in ECB. */
size_t qcrypto_cipher_niv(const QCryptoCipher *cipher);

QCryptoCipherAlgo qcrypto_cipher_get_algorithm(const QCryptoCipher *cipher);
QCryptoCipherMode qcrypto_cipher_get_mode(const QCryptoCipher *cipher);

#endif
