/*
 * The three forms of a result: raw bytes, hexadecimal, base64
 *
 * hash.c and hmac.c make digests into a buffer of their own; these hand it
 * over in the form that was asked for.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_DIGEST_H
#define QCRYPTO_CORE_DIGEST_H

#include <qcrypto/error.h>
#include <sys/uio.h>

#define QCRYPTO_DIGEST_MAX 64

/*
 * Where the n bytes go: the caller's buffer when *resultlen == n, one
 * allocated when it is 0; NULL and an error for any other *resultlen.
 */
uint8_t *qcrypto_digest_target(uint8_t **result, const size_t *resultlen,
                               size_t n, const char *what, GError **errp);
/* The end of it: publishes target, or on failure frees what was allocated. */
int qcrypto_digest_done(int ret, uint8_t *target, uint8_t **result,
                        size_t *resultlen, size_t n);

/* 0, or -1 and an error: not the n bytes that `what` gives */
int qcrypto_check_digest_len(size_t got, size_t n, const char *what,
                             GError **errp);

/* allocated: g_free */
char *qcrypto_digest_hex(const uint8_t *digest, size_t n);

/* 0, or -1 and an error: a NULL where there must be none */
int qcrypto_check_iov(const struct iovec *iov, size_t niov, GError **errp);

#endif
