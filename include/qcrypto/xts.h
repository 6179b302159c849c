/*
 * XTS over any block cipher of 16-byte blocks (IEEE 1619-2007)
 *
 * For callers that bring a cipher of their own; the ciphers of this library
 * are reached through cipher.h, which runs fused kernels where it has them.
 *
 *     xts_uint128 t;
 *     qcrypto_xts_start(tweak_key, my_encrypt, iv, &t);
 *     qcrypto_xts_encrypt(data_key, my_encrypt, &t, len, dst, src);
 *
 * A unit may be worked off in several calls, each but the last of whole
 * blocks: the tweak is left as the next block of the unit needs it.  A call
 * that ends in a partial block steals from the block before it, which must
 * lie in the same call (length >= 16), and ends the unit.  dst == src is
 * allowed, no other overlap.  Pointers need no alignment.
 *
 * Threads: no state but what the caller passes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_XTS_H
#define QCRYPTO_XTS_H

#include <qcrypto/types.h>

G_BEGIN_DECLS

/*
 * A tweak: the 128-bit number whose bit i is the coefficient of x^i.  The
 * halves are numbers of the host; only loading and storing knows that a
 * tweak's bytes are little-endian (5.2).
 */
typedef struct xts_uint128 {
    uint64_t lo;
    uint64_t hi;
} xts_uint128;

/* length: bytes, whole blocks; dst == src must be allowed */
typedef void qcrypto_xts_block_func(const void *ctx, size_t length,
                                    uint8_t *dst, const uint8_t *src);

/* iv: 16 bytes; encrypts it under the tweak key into *tweak */
QCRYPTO_API void qcrypto_xts_start(const void *tweakctx,
                                   qcrypto_xts_block_func *encfunc,
                                   const uint8_t *iv, xts_uint128 *tweak);

/* length: 0, or 16 to 2^24 bytes; -1 and nothing done for any other */
QCRYPTO_API int qcrypto_xts_encrypt(const void *datactx,
                                    qcrypto_xts_block_func *encfunc,
                                    xts_uint128 *tweak, size_t length,
                                    uint8_t *dst, const uint8_t *src);
QCRYPTO_API int qcrypto_xts_decrypt(const void *datactx,
                                    qcrypto_xts_block_func *decfunc,
                                    xts_uint128 *tweak, size_t length,
                                    uint8_t *dst, const uint8_t *src);

G_END_DECLS

#endif
