/*
 * A second, plain construction of the modes, to hold every row against
 *
 * The modes are written here from their documents, one block and one byte at
 * a time, over the ECB rows of the same algorithm; those stand on published
 * vectors.  Only encryption is modelled: that decryption undoes it is checked
 * on the rows.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_CONFORMANCE_MODEL_H
#define TESTS_CONFORMANCE_MODEL_H

#include "rows.h"

typedef struct Model Model;

/* key: row->nkey bytes */
Model *model_new(const CipherRow *row, const uint8_t *key);
void model_free(Model *m);

/* One whole message; in == out is not allowed. */
void model_encrypt(const Model *m, const uint8_t *iv, const uint8_t *in,
                   uint8_t *out, size_t len);

/*
 * The IV (niv bytes) that dm-crypt's rule gives to a sector number.
 * rule: "null", "plain", "plain64", "plain64be", "benbi" or "essiv:sha256".
 */
void model_iv(const char *rule, uint64_t number, QCryptoCipherAlgo alg,
              const uint8_t *key, size_t nkey, uint8_t *iv, size_t niv);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Model, model_free)

#endif
