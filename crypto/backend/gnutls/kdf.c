/*
 * GnuTLS: PBKDF2
 *
 * Lengths of keys and salts are unsigned int there; FIPS mode has minima of
 * its own for both and for the iterations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "crypto/backend/gnutls/gnutls.h"
#include "crypto/base/error.h"

static int derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                  const uint8_t *salt, size_t nsalt, uint64_t iterations,
                  uint8_t *out, size_t nout, GError **errp)
{
    const gnutls_mac_algorithm_t mac = *(const gnutls_mac_algorithm_t *)row->arg;
    int code;

    if (nkey > G_MAXUINT || nsalt > G_MAXUINT) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             "GnuTLS takes at most %u bytes of key and salt",
                             G_MAXUINT);
    }
    const gnutls_datum_t k = {(void *)(uintptr_t)key, (unsigned)nkey};
    const gnutls_datum_t s = {(void *)(uintptr_t)salt, (unsigned)nsalt};
    /* iterations fit: they are fewer than 2^32 */
    code = gnutls_pbkdf2(mac, &k, &s, (unsigned)iterations, out, nout);
    if (code == GNUTLS_E_MEMORY_ERROR) {
        return qcrypto_error_memory(errp, "GnuTLS's PBKDF2", 1, 0);
    }
    return code < 0 ? qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                                    "GnuTLS derives nothing from these "
                                    "parameters: %s",
                                    gnutls_strerror(code))
                    : 0;
}

const QCryptoPbkdf2Ops qcrypto_gnutls_pbkdf2 = {.derive = derive};
