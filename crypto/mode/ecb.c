/*
 * ECB over any block cipher (NIST SP 800-38A, 6.1)
 *
 * The block function already is the mode; n messages are one run of blocks.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/mode/context.h"
#include "crypto/mode/mode.h"

static int ecb_encrypt(const void *ctx, uint8_t *iv G_GNUC_UNUSED,
                       const uint8_t *in, uint8_t *out, size_t len,
                       GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    QCryptoModeRun run;

    if (!len) {
        return 0;
    }
    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    c->desc->encrypt(run.key[0], len, out, in);
    return qcrypto_mode_end(&run, errp);
}

static int ecb_decrypt(const void *ctx, uint8_t *iv G_GNUC_UNUSED,
                       const uint8_t *in, uint8_t *out, size_t len,
                       GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    QCryptoModeRun run;

    if (!len) {
        return 0;
    }
    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    c->desc->decrypt(run.key[0], len, out, in);
    return qcrypto_mode_end(&run, errp);
}

static int ecb_encrypt_units(const void *ctx, const uint8_t *ivs G_GNUC_UNUSED,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    return ecb_encrypt(ctx, NULL, in, out, n * unit_size, errp);
}

static int ecb_decrypt_units(const void *ctx, const uint8_t *ivs G_GNUC_UNUSED,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    return ecb_decrypt(ctx, NULL, in, out, n * unit_size, errp);
}

const QCryptoCipherOps qcrypto_mode_ecb = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_init,
    .fini = qcrypto_mode_fini,
    .crypt = {ecb_encrypt, ecb_decrypt},
    .units = {ecb_encrypt_units, ecb_decrypt_units},
};
