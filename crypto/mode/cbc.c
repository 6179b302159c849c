/*
 * CBC over any block cipher (NIST SP 800-38A, 6.2)
 *
 * Encryption is serial within a message: each block waits for the one before
 * it.  Only messages that do not depend on one another fill a block
 * function, so units go through it in step, one block of each at a time.
 * Decryption has every input at once and runs in batches.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/mode/context.h"
#include "crypto/mode/mode.h"

/*
 * Messages in step.  More would fill a wider cipher, but units of 4 KiB lie
 * at the same place of the cache's sets, which have 8 or 12 ways.
 */
#define CBC_STREAMS 8

static int cbc_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                       uint8_t *out, size_t len, GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    QCryptoModeRun run;
    size_t bl = c->desc->block_len;
    size_t off;

    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    /* iv is the chaining block: after the last one it is what the next
     * piece begins with */
    for (off = 0; off < len; off += bl) {
        qcrypto_mode_xor(iv, iv, in + off, bl);
        c->desc->encrypt(run.key[0], bl, iv, iv);
        memcpy(out + off, iv, bl);
    }
    return qcrypto_mode_end(&run, errp);
}

static int cbc_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                       uint8_t *out, size_t len, GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    QCryptoModeRun run;
    size_t bl = c->desc->block_len;
    uint8_t copy[QCRYPTO_MODE_BATCH];

    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    while (len) {
        size_t part = MIN(len, sizeof(copy));
        const uint8_t *text = in;
        uint8_t last[QCRYPTO_MODE_BLOCK_MAX];

        if (in == out) {
            /* each ciphertext block is needed once more, for the next */
            memcpy(copy, in, part);
            text = copy;
        }
        memcpy(last, in + part - bl, bl);
        c->desc->decrypt(run.key[0], part, out, in);
        qcrypto_mode_xor(out, out, iv, bl);
        qcrypto_mode_xor(out + bl, out + bl, text, part - bl);
        memcpy(iv, last, bl);
        in += part;
        out += part;
        len -= part;
    }
    return qcrypto_mode_end(&run, errp);
}

static int cbc_encrypt_units(const void *ctx, const uint8_t *ivs,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    QCryptoModeRun run;
    size_t bl = c->desc->block_len;
    uint8_t chain[CBC_STREAMS * QCRYPTO_MODE_BLOCK_MAX];

    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    while (n) {
        size_t streams = MIN(n, CBC_STREAMS);
        size_t off, i;

        memcpy(chain, ivs, streams * bl);
        for (off = 0; off < unit_size; off += bl) {
            for (i = 0; i < streams; i++) {
                qcrypto_mode_xor(chain + i * bl, chain + i * bl,
                                 in + i * unit_size + off, bl);
            }
            c->desc->encrypt(run.key[0], streams * bl, chain, chain);
            for (i = 0; i < streams; i++) {
                memcpy(out + i * unit_size + off, chain + i * bl, bl);
            }
        }
        ivs += streams * bl;
        in += streams * unit_size;
        out += streams * unit_size;
        n -= streams;
    }
    return qcrypto_mode_end(&run, errp);
}

/* A unit of a disk fills the block function by itself. */
static int cbc_decrypt_units(const void *ctx, const uint8_t *ivs,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    size_t bl = c->desc->block_len;
    size_t i;

    for (i = 0; i < n; i++) {
        uint8_t iv[QCRYPTO_MODE_BLOCK_MAX];

        memcpy(iv, ivs + i * bl, bl);
        if (cbc_decrypt(ctx, iv, in + i * unit_size, out + i * unit_size,
                        unit_size, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

const QCryptoCipherOps qcrypto_mode_cbc = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_init,
    .fini = qcrypto_mode_fini,
    .crypt = {cbc_encrypt, cbc_decrypt},
    .units = {cbc_encrypt_units, cbc_decrypt_units},
};
