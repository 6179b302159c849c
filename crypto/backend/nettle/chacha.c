/*
 * nettle: ChaCha20
 *
 * nettle's context is the state itself, counter of 64 bits included.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <nettle/chacha.h>
#include <string.h>

#include "crypto/backend/chacha-parts.h"
#include "crypto/backend/nettle/nettle.h"
#include "crypto/base/secure.h"

static int xor_part(const void *none G_GNUC_UNUSED, const uint32_t state[16],
                    const uint8_t *in, uint8_t *out, size_t len,
                    GError **errp G_GNUC_UNUSED)
{
    struct chacha_ctx ctx;

    memcpy(ctx.state, state, sizeof(ctx.state));
    chacha_crypt(&ctx, len, out, in);
    qcrypto_wipe(&ctx, sizeof(ctx));
    return 0;
}

static int xor_stream(const void *none, const uint32_t state[16],
                      const uint8_t *in, uint8_t *out, size_t len,
                      GError **errp)
{
    return qcrypto_chacha_parts(xor_part, none, state, in, out, len, errp);
}

const QCryptoChaChaOps qcrypto_nettle_chacha20 = {.crypt = xor_stream};
