/*
 * XTS over any block cipher of 16-byte blocks (IEEE 1619-2007)
 *
 *     dst[j] = E(src[j] ^ t[j]) ^ t[j],    t[j] = E'(iv) * x^j
 *
 * A batch makes its tweaks first, as bytes in a buffer, then combines, calls
 * the block function once over the whole batch, and combines again; dst
 * serves as the place in between, so that source and destination need not be
 * apart.  The first tweaks of a run of units are encrypted together.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/secure.h"
#include "crypto/mode/context.h"
#include "crypto/mode/mode.h"
#include "crypto/mode/xts-tweak.h"

#define XTS_BATCH (QCRYPTO_MODE_BATCH / XTS_BLOCK)

/* IEEE 1619-2007, 5.1: at most 2^20 blocks */
#define XTS_UNIT_MAX ((size_t)XTS_BLOCK << 20)

/* The tweaks of a batch as bytes; part of it is used by shorter data. */
typedef struct XTSBatch {
    uint8_t tweaks[XTS_BATCH * XTS_BLOCK];
} XTSBatch;

static void xts_batch_wipe(XTSBatch *b, size_t length)
{
    qcrypto_wipe(b->tweaks, MIN(length, sizeof(b->tweaks)));
}

/* Whole blocks. */
static void xts_blocks(const void *key, qcrypto_xts_block_func *func,
                       xts_uint128 *tweak, XTSBatch *b, size_t length,
                       uint8_t *dst, const uint8_t *src)
{
    xts_uint128 t = *tweak;

    while (length) {
        size_t part = MIN(length, sizeof(b->tweaks));
        size_t off;

        for (off = 0; off < part; off += XTS_BLOCK) {
            xts_store(b->tweaks + off, t);
            t = xts_double(t);
        }
        qcrypto_mode_xor(dst, src, b->tweaks, part);
        func(key, part, dst, dst);
        qcrypto_mode_xor(dst, dst, b->tweaks, part);
        src += part;
        dst += part;
        length -= part;
    }
    *tweak = t;
}

/*
 * The last whole block and the tail (1 to 15 bytes) behind it, by ciphertext
 * stealing (5.3.2, 5.4.2).  The whole block is worked off first and gives its
 * own end to fill up the tail, whose block then takes the whole one's place.
 * Encryption spends the unit's last two tweaks in their order, decryption
 * undoes the later one first.
 */
static void xts_steal(const void *key, qcrypto_xts_block_func *func,
                      xts_uint128 *tweak, bool decrypt, size_t tail,
                      uint8_t *dst, const uint8_t *src)
{
    xts_uint128 t[2] = {*tweak, xts_double(*tweak)};
    uint8_t whole[XTS_BLOCK], filled[XTS_BLOCK];

    xts_xor(whole, src, t[decrypt]);
    func(key, XTS_BLOCK, whole, whole);
    xts_xor(whole, whole, t[decrypt]);

    memcpy(filled, src + XTS_BLOCK, tail);
    memcpy(filled + tail, whole + tail, XTS_BLOCK - tail);
    memcpy(dst + XTS_BLOCK, whole, tail);

    xts_xor(filled, filled, t[!decrypt]);
    func(key, XTS_BLOCK, filled, filled);
    xts_xor(dst, filled, t[!decrypt]);

    *tweak = xts_double(t[1]);
    qcrypto_wipe(t, sizeof(t));
    qcrypto_wipe(whole, sizeof(whole));
    qcrypto_wipe(filled, sizeof(filled));
}

/* length was checked; what lies in b afterwards is the caller's to wipe */
static void xts_unit(const void *key, qcrypto_xts_block_func *func,
                     xts_uint128 *tweak, XTSBatch *b, bool decrypt,
                     size_t length, uint8_t *dst, const uint8_t *src)
{
    size_t tail = length % XTS_BLOCK;
    /* a tail takes the last whole block along */
    size_t bulk = length - tail - (tail ? XTS_BLOCK : 0);

    xts_blocks(key, func, tweak, b, bulk, dst, src);
    if (tail) {
        xts_steal(key, func, tweak, decrypt, tail, dst + bulk, src + bulk);
    }
}

static int xts_public(const void *key, qcrypto_xts_block_func *func,
                      xts_uint128 *tweak, bool decrypt, size_t length,
                      uint8_t *dst, const uint8_t *src)
{
    XTSBatch b;

    if (length && (length < XTS_BLOCK || length > XTS_UNIT_MAX)) {
        return -1;
    }
    xts_unit(key, func, tweak, &b, decrypt, length, dst, src);
    xts_batch_wipe(&b, length);
    return 0;
}

void qcrypto_xts_start(const void *tweakctx, qcrypto_xts_block_func *encfunc,
                       const uint8_t *iv, xts_uint128 *tweak)
{
    uint8_t bytes[XTS_BLOCK];

    encfunc(tweakctx, XTS_BLOCK, bytes, iv);
    *tweak = xts_load(bytes);
    qcrypto_wipe(bytes, sizeof(bytes));
}

int qcrypto_xts_encrypt(const void *datactx, qcrypto_xts_block_func *encfunc,
                        xts_uint128 *tweak, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    return xts_public(datactx, encfunc, tweak, false, length, dst, src);
}

int qcrypto_xts_decrypt(const void *datactx, qcrypto_xts_block_func *decfunc,
                        xts_uint128 *tweak, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    return xts_public(datactx, decfunc, tweak, true, length, dst, src);
}

/* The cipher ops */

static int xts_units(const QCryptoModeCtx *c, bool decrypt, const uint8_t *ivs,
                     size_t unit_size, const uint8_t *in, uint8_t *out,
                     size_t n, GError **errp)
{
    qcrypto_xts_block_func *func =
        decrypt ? c->desc->decrypt : c->desc->encrypt;
    size_t units = n;
    QCryptoModeRun run;
    XTSBatch first, b;

    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    while (units) {
        size_t part = MIN(units, XTS_BATCH);
        size_t i;

        c->desc->encrypt(run.key[1], part * XTS_BLOCK, first.tweaks, ivs);
        for (i = 0; i < part; i++) {
            xts_uint128 t = xts_load(first.tweaks + i * XTS_BLOCK);

            xts_unit(run.key[0], func, &t, &b, decrypt, unit_size, out, in);
            in += unit_size;
            out += unit_size;
        }
        ivs += part * XTS_BLOCK;
        units -= part;
    }
    xts_batch_wipe(&first, MIN(n, XTS_BATCH) * XTS_BLOCK);
    xts_batch_wipe(&b, unit_size);
    return qcrypto_mode_end(&run, errp);
}

static int xts_encrypt_units(const void *ctx, const uint8_t *ivs,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    return xts_units(ctx, false, ivs, unit_size, in, out, n, errp);
}

static int xts_decrypt_units(const void *ctx, const uint8_t *ivs,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    return xts_units(ctx, true, ivs, unit_size, in, out, n, errp);
}

static int xts_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                       uint8_t *out, size_t len, GError **errp)
{
    return xts_units(ctx, false, iv, len, in, out, 1, errp);
}

static int xts_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                       uint8_t *out, size_t len, GError **errp)
{
    return xts_units(ctx, true, iv, len, in, out, 1, errp);
}

const QCryptoCipherOps qcrypto_mode_xts = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_xts_init,
    .fini = qcrypto_mode_fini,
    .crypt = {xts_encrypt, xts_decrypt},
    .units = {xts_encrypt_units, xts_decrypt_units},
};
