/*
 * One-shot digests on a row of one's choice
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_HASH_H
#define QCRYPTO_CORE_HASH_H

#include <qcrypto/hash.h>

#include "crypto/base/rows.h"

/*
 * The message through the row, as qcrypto_hash_bytesv does it with the row
 * that is selected; for measuring rows against each other.
 */
int qcrypto_hash_on_row(const QCryptoRow *row, const struct iovec *iov,
                        size_t niov, uint8_t *digest, GError **errp);

#endif
