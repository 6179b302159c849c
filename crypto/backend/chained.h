/*
 * Runs of blocks through a library's chained modes
 *
 * The generic modes want a block cipher over many blocks at once.  Some
 * libraries have no such call, or run it block by block, while their CBC and
 * CFB decryption, whose blocks do not wait for one another, is wide:
 *
 *     CBC:  P[i] = D(C[i]) ^ C[i-1]     so   D(X[i]) = P[i] ^ X[i-1]
 *     CFB:  P[i] = E(C[i-1]) ^ C[i]     so   E(X[i]) = P[i+1] ^ X[i+1]
 *
 * Decryption is CBC decryption of the input, combined with the input one
 * block late; encryption is CFB decryption of the input that begins one block
 * late, its first block being the IV.
 *
 * The library's handle carries the chain from call to call.  in == out is
 * allowed: what is needed of the input once more stands in a copy.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BACKEND_CHAINED_H
#define QCRYPTO_BACKEND_CHAINED_H

#include "crypto/base/secure.h"
#include "crypto/mode/context.h"

/* decrypts len bytes, a multiple of the block; 0, or the library's error */
typedef int qcrypto_chained_func(void *handle, uint8_t *dst, const uint8_t *src,
                                 size_t len);

/*
 * ECB decryption through cbc, whose handle has an IV of zeros.  length is a
 * multiple of bl, not 0.  The library's error ends the run.
 */
static inline int qcrypto_chained_decrypt(qcrypto_chained_func *cbc,
                                          void *handle, size_t bl,
                                          size_t length, uint8_t *dst,
                                          const uint8_t *src)
{
    uint8_t late[QCRYPTO_MODE_BLOCK_MAX + QCRYPTO_MODE_BATCH] = {0};
    int failed = 0;

    while (length && !failed) {
        size_t part = MIN(length, QCRYPTO_MODE_BATCH);

        memcpy(late + bl, src, part);
        failed = cbc(handle, dst, src, part);
        qcrypto_mode_xor(dst, dst, late, part);
        memcpy(late, late + part, bl);
        dst += part;
        src += part;
        length -= part;
    }
    return failed;
}

/* ECB encryption through cfb, whose handle has src's first block for IV. */
static inline int qcrypto_chained_encrypt(qcrypto_chained_func *cfb,
                                          void *handle, size_t bl,
                                          size_t length, uint8_t *dst,
                                          const uint8_t *src)
{
    uint8_t early[QCRYPTO_MODE_BATCH];
    size_t used = MIN(length, sizeof(early));
    int failed = 0;

    while (length && !failed) {
        size_t part = MIN(length, sizeof(early));
        /* after the last block comes nothing: any value will do */
        size_t there = part < length ? part : part - bl;

        memcpy(early, src + bl, there);
        memset(early + there, 0, part - there);
        failed = cfb(handle, dst, early, part);
        qcrypto_mode_xor(dst, dst, early, part);
        dst += part;
        src += part;
        length -= part;
    }
    qcrypto_wipe(early, used);
    return failed;
}

#endif
