/*
 * XTS as it was before and after one well-known speed-up (benchmark only)
 *
 * QEMU's generic XTS once held the tweak as an array of 16 bytes and went
 * over it with loops of 16 steps; then it took the tweak as two 64-bit words.
 * For 500 MiB the published instruction counts went from 29.8 G to 8.6 G,
 * the times from 3.70 s to 2.15 s.  Here are both forms, so that anyone can
 * repeat that (scripts/perf-stat-xts).  They differ in the work on the tweak
 * alone: each makes one indirect call for one block, both over the same
 * block function, and this file is compiled with -O3 for both.
 *
 * Neither is ever selected.  What serves requests is xts.c, which hands over
 * many blocks a call, and the fused kernels.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/mode/xts-experiment.h"

#include "crypto/base/secure.h"
#include "crypto/mode/xts-tweak.h"

/* Whole blocks of one unit; the tweak is left for the block after them. */
typedef void XTSForm(const void *key, qcrypto_xts_block_func *func,
                     uint8_t *tweak, size_t length, uint8_t *dst,
                     const uint8_t *src);

/* Before */

/*
 * Keeps a loop of 16 steps what it is: the experiment is about such loops.
 * Left alone, gcc 12 and clang 14 unroll it at -O3: 284 and 214 instructions
 * for a block instead of 441 and 400, and the form after then has 0.36 and
 * 0.32 of them.
 */
#define ONE_STEP(i) __asm__("" : "+r"(i))

static inline void bytewise_double(uint8_t *tweak)
{
    uint8_t carry = 0;
    size_t i;

    for (i = 0; i < XTS_BLOCK; i++) {
        uint8_t top;

        ONE_STEP(i);
        top = tweak[i] >> 7;
        tweak[i] = (uint8_t)(tweak[i] << 1 | carry);
        carry = top;
    }
    tweak[0] ^= (uint8_t)(-carry & 0x87);
}

static inline void bytewise_xor(uint8_t *dst, const uint8_t *src,
                                const uint8_t *tweak)
{
    size_t i;

    for (i = 0; i < XTS_BLOCK; i++) {
        ONE_STEP(i);
        dst[i] = src[i] ^ tweak[i];
    }
}

static void bytewise_blocks(const void *key, qcrypto_xts_block_func *func,
                            uint8_t *tweak, size_t length, uint8_t *dst,
                            const uint8_t *src)
{
    for (; length; length -= XTS_BLOCK) {
        bytewise_xor(dst, src, tweak);
        func(key, XTS_BLOCK, dst, dst);
        bytewise_xor(dst, dst, tweak);
        bytewise_double(tweak);
        dst += XTS_BLOCK;
        src += XTS_BLOCK;
    }
}

/* After */

static void uint128_blocks(const void *key, qcrypto_xts_block_func *func,
                           uint8_t *tweak, size_t length, uint8_t *dst,
                           const uint8_t *src)
{
    xts_uint128 t = xts_load(tweak);

    for (; length; length -= XTS_BLOCK) {
        xts_xor(dst, src, t);
        func(key, XTS_BLOCK, dst, dst);
        xts_xor(dst, dst, t);
        t = xts_double(t);
        dst += XTS_BLOCK;
        src += XTS_BLOCK;
    }
    xts_store(tweak, t);
}

/* What both share: the first tweak, and xts.c for a partial block. */

static inline int unit(const QCryptoModeCtx *c, XTSForm *form, bool decrypt,
                       const uint8_t *iv, const uint8_t *in, uint8_t *out,
                       size_t len)
{
    const void *key = qcrypto_mode_key(c, 0);
    qcrypto_xts_block_func *func =
        decrypt ? c->desc->decrypt : c->desc->encrypt;
    size_t rest = len % XTS_BLOCK ? len % XTS_BLOCK + XTS_BLOCK : 0;
    uint8_t tweak[XTS_BLOCK];

    c->desc->encrypt(qcrypto_mode_key(c, 1), XTS_BLOCK, tweak, iv);
    form(key, func, tweak, len - rest, out, in);
    if (rest) {
        xts_uint128 t = xts_load(tweak);

        (decrypt ? qcrypto_xts_decrypt : qcrypto_xts_encrypt)(
            key, func, &t, rest, out + len - rest, in + len - rest);
    }
    qcrypto_wipe(tweak, sizeof(tweak));
    return 0;
}

/* The cipher ops */

static int bytewise_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                            uint8_t *out, size_t len,
                            GError **errp G_GNUC_UNUSED)
{
    return unit(ctx, bytewise_blocks, false, iv, in, out, len);
}

static int bytewise_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                            uint8_t *out, size_t len,
                            GError **errp G_GNUC_UNUSED)
{
    return unit(ctx, bytewise_blocks, true, iv, in, out, len);
}

static int uint128_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                           uint8_t *out, size_t len,
                           GError **errp G_GNUC_UNUSED)
{
    return unit(ctx, uint128_blocks, false, iv, in, out, len);
}

static int uint128_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                           uint8_t *out, size_t len,
                           GError **errp G_GNUC_UNUSED)
{
    return unit(ctx, uint128_blocks, true, iv, in, out, len);
}

const QCryptoCipherOps qcrypto_mode_xts_bytewise = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_xts_init,
    .fini = qcrypto_mode_fini,
    .crypt = {bytewise_encrypt, bytewise_decrypt},
};

const QCryptoCipherOps qcrypto_mode_xts_uint128 = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_xts_init,
    .fini = qcrypto_mode_fini,
    .crypt = {uint128_encrypt, uint128_decrypt},
};
