/*
 * The three forms of a result
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/digest.h"

#include "crypto/base/error.h"

int qcrypto_check_digest_len(size_t got, size_t n, const char *what, GError **errp)
{
    return got == n ? 0
                    : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                    "%s gives a result of %zu bytes, not %zu",
                                    what, n, got);
}

uint8_t *qcrypto_digest_target(uint8_t **result, const size_t *resultlen,
                               size_t n, const char *what, GError **errp)
{
    if (!result || !resultlen) {
        qcrypto_error_null(errp, result ? "resultlen" : "result");
        return NULL;
    }
    if (*resultlen == 0) {
        return g_malloc(n);
    }
    if (qcrypto_check_digest_len(*resultlen, n, what, errp) < 0) {
        return NULL;
    }
    if (!*result) {
        qcrypto_error_null(errp, "*result");
    }
    return *result;
}

int qcrypto_digest_done(int ret, uint8_t *target, uint8_t **result,
                        size_t *resultlen, size_t n)
{
    if (*resultlen == 0) {
        if (ret < 0) {
            g_free(target);
            return ret;
        }
        *result = target;
        *resultlen = n;
    }
    return ret;
}

char *qcrypto_digest_hex(const uint8_t *digest, size_t n)
{
    char *hex = g_malloc(2 * n + 1);

    for (size_t i = 0; i < n; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[2 * n] = '\0';
    return hex;
}

int qcrypto_check_iov(const struct iovec *iov, size_t niov, GError **errp)
{
    if (!iov && niov) {
        return qcrypto_error_null(errp, "iov");
    }
    for (size_t i = 0; i < niov; i++) {
        if (!iov[i].iov_base && iov[i].iov_len) {
            return qcrypto_error_null(errp, "iov_base");
        }
    }
    return 0;
}
