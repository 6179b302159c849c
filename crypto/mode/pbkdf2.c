/*
 * PBKDF2 over any hash (RFC 8018, 5.2)
 *
 *     T_i = U_1 ^ U_2 ^ ... ^ U_c,  U_1 = PRF(P, S || INT(i)), U_j = PRF(P, U_j-1)
 *
 * The HMAC's two states are prepared once; an iteration is two compressions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/mode/hmac.h"
#include "crypto/mode/mode.h"

#define MAX_DIGEST 64

/* One block T_i of digest_len bytes. */
static int block(QCryptoGenericHmac *h, const uint8_t *salt, size_t nsalt,
                 uint32_t i, uint64_t iterations, uint8_t *t, GError **errp)
{
    const uint8_t index[4] = {(uint8_t)(i >> 24), (uint8_t)(i >> 16),
                              (uint8_t)(i >> 8), (uint8_t)i};
    const size_t n = h->digest_len;
    uint8_t u[MAX_DIGEST];
    int ret = -1;

    if ((nsalt && qcrypto_generic_hmac_update(h, salt, nsalt, errp) < 0) ||
        qcrypto_generic_hmac_update(h, index, sizeof(index), errp) < 0 ||
        qcrypto_generic_hmac_final(h, u, errp) < 0) {
        goto out;
    }
    memcpy(t, u, n);
    for (uint64_t c = 1; c < iterations; c++) {
        if (qcrypto_generic_hmac_update(h, u, n, errp) < 0 ||
            qcrypto_generic_hmac_final(h, u, errp) < 0) {
            goto out;
        }
        for (size_t j = 0; j < n; j++) {
            t[j] ^= u[j];
        }
    }
    ret = 0;
out:
    qcrypto_wipe(u, sizeof(u));
    return ret;
}

static int derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                  const uint8_t *salt, size_t nsalt, uint64_t iterations,
                  uint8_t *out, size_t nout, GError **errp)
{
    const size_t size = qcrypto_generic_hmac_size(row);
    QCryptoGenericHmac *h = qcrypto_alloc(size);
    /* a hash may fail half-way: out gets all or nothing */
    uint8_t *result = qcrypto_alloc(nout);
    uint8_t t[MAX_DIGEST];
    size_t done = 0;
    int ret = -1;

    if (!h || !result) {
        qcrypto_error_memory(errp, "PBKDF2", (size + nout) / 1024 + 1, 0);
        goto out;
    }
    if (qcrypto_generic_hmac_init(h, row, key, nkey, errp) < 0) {
        goto out;
    }
    /* nout <= (2^32 - 1) * digest_len: i does not wrap (checked above) */
    for (uint32_t i = 1; done < nout; i++) {
        const size_t n = MIN(nout - done, h->digest_len);

        if (block(h, salt, nsalt, i, iterations, t, errp) < 0) {
            break;
        }
        memcpy(result + done, t, n);
        done += n;
    }
    if (done == nout) {
        memcpy(out, result, nout);
        ret = 0;
    }
    qcrypto_wipe(t, sizeof(t));
    qcrypto_generic_hmac_fini(h);
out:
    qcrypto_wipe_free(result, nout);
    qcrypto_wipe_free(h, size);
    return ret;
}

const QCryptoPbkdf2Ops qcrypto_mode_pbkdf2 = {.derive = derive};
