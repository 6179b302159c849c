/*
 * The anti-forensic split of LUKS
 *
 * A key of blocklen bytes is spread over stripes blocks so that the loss of
 * any one of them loses the key: all but the last are random, the last is the
 * key XORed with a diffused fold of the others (LUKS1 On-Disk Format
 * Specification 1.2.3, section 2.4).
 *
 * Lengths are bytes; in and out must not overlap.  Threads: any.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_AFSPLIT_H
#define QCRYPTO_AFSPLIT_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

/*
 * in: blocklen bytes (at least 1); out: blocklen * stripes bytes (stripes at
 * least 1).  The random blocks come from the kernel.
 */
QCRYPTO_API int qcrypto_afsplit_encode(QCryptoHashAlgo hash, size_t blocklen,
                                       uint32_t stripes, const uint8_t *in,
                                       uint8_t *out, GError **errp);

/* The way back: in has blocklen * stripes bytes, out blocklen. */
QCRYPTO_API int qcrypto_afsplit_decode(QCryptoHashAlgo hash, size_t blocklen,
                                       uint32_t stripes, const uint8_t *in,
                                       uint8_t *out, GError **errp);

G_END_DECLS

#endif
