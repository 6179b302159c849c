/*
 * ChaCha by libraries that lose a carry
 *
 * nettle 3.8 on AArch64 does three blocks at once without the carry from the
 * low word of the counter to the high one, and GnuTLS runs on nettle.  So no
 * call goes beyond the block whose low word is 2^32 - 1: what follows is
 * another call.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BACKEND_CHACHA_PARTS_H
#define QCRYPTO_BACKEND_CHACHA_PARTS_H

#include <string.h>

#include "crypto/base/rows.h"
#include "crypto/base/secure.h"

/* As QCryptoChaChaOps.crypt. */
typedef int QCryptoChaChaPart(const void *ctx, const uint32_t state[16],
                              const uint8_t *in, uint8_t *out, size_t len,
                              GError **errp);

static inline int qcrypto_chacha_parts(QCryptoChaChaPart *part, const void *ctx,
                                       const uint32_t state[16],
                                       const uint8_t *in, uint8_t *out,
                                       size_t len, GError **errp)
{
    /* at most 2^38 bytes to the end of the low word */
    const uint64_t room = ((UINT64_C(1) << 32) - state[12]) * 64;

    if (len <= room) {
        return part(ctx, state, in, out, len, errp);
    }
    uint32_t next[16];
    int ret = part(ctx, state, in, out, (size_t)room, errp);

    memcpy(next, state, sizeof(next));
    next[12] = 0;
    next[13]++;
    /* a message of more than 2^38 bytes comes here again */
    if (ret == 0) {
        ret = qcrypto_chacha_parts(part, ctx, next, in + room, out + room,
                                   len - room, errp);
    }
    qcrypto_wipe(next, sizeof(next));
    return ret;
}

#endif
