/*
 * Errors
 *
 * Calls that can fail take a last argument GError **errp.  They return 0 or
 * -1 (constructors: NULL) and set *errp, in this one domain, to a text that
 * names what is wrong and a kind a caller can act on.  Nothing is written to
 * an output buffer by a call that fails its checks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_ERROR_H
#define QCRYPTO_ERROR_H

#include <qcrypto/types.h>

G_BEGIN_DECLS

#define QCRYPTO_ERROR (qcrypto_error_quark())

typedef enum QCryptoErrorKind {
    /* a length, number, name or state the caller can put right */
    QCRYPTO_ERROR_INVALID_ARGUMENT,
    /* right in itself, but no row of this build and machine does it */
    QCRYPTO_ERROR_UNSUPPORTED,
    /* a backend asked for by name is not built in, not usable here, or
     * failed its self-test */
    QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
    QCRYPTO_ERROR_WEAK_KEY,
    QCRYPTO_ERROR_WRONG_PASSPHRASE,
    QCRYPTO_ERROR_CORRUPT_HEADER,
    QCRYPTO_ERROR_OUT_OF_MEMORY,
    /* a key derivation above the limits of time or memory */
    QCRYPTO_ERROR_TOO_COSTLY,
    QCRYPTO_ERROR_IO,
    /* no random numbers to be had */
    QCRYPTO_ERROR_ENTROPY,
    QCRYPTO_ERROR_BUSY,
    /* compressed data that is damaged, cut short, or goes on behind its end */
    QCRYPTO_ERROR_CORRUPT_DATA,
    /* the caller's output buffer is too small; nothing is wrong with the rest */
    QCRYPTO_ERROR_NO_SPACE,
} QCryptoErrorKind;

QCRYPTO_API GQuark qcrypto_error_quark(void);

G_END_DECLS

#endif
