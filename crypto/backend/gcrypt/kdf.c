/*
 * libgcrypt: PBKDF2
 *
 * libgcrypt 1.10 takes no empty salt, and in FIPS mode no short one and no
 * short key; such requests fall to another row.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gcrypt.h>

#include "crypto/backend/gcrypt/gcrypt.h"
#include "crypto/base/error.h"

static int derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                  const uint8_t *salt, size_t nsalt, uint64_t iterations,
                  uint8_t *out, size_t nout, GError **errp)
{
    /* iterations fit: they are fewer than 2^32 */
    const gcry_error_t e = gcry_kdf_derive(
        key, nkey, GCRY_KDF_PBKDF2, *(const int *)row->arg, salt, nsalt,
        (unsigned long)iterations, nout, out);

    if (gcry_err_code(e) == GPG_ERR_ENOMEM) {
        return qcrypto_error_memory(errp, "libgcrypt's PBKDF2",
                                    nkey / 1024 + 1, 0);
    }
    return e ? qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             "libgcrypt derives nothing from a salt of %zu "
                             "bytes and a key of %zu: %s",
                             nsalt, nkey, gcry_strerror(e))
             : 0;
}

const QCryptoPbkdf2Ops qcrypto_gcrypt_pbkdf2 = {.derive = derive};
