/*
 * nettle: ciphers
 *
 * nettle describes its ciphers as data (struct nettle_cipher), DES apart,
 * whose key functions also judge the key: its two descriptors are made here.
 * Many of the ciphers have one key schedule for both directions; it is made
 * and kept once.
 *
 * nettle checks lengths by assert, that is by abort: block multiples in ECB
 * and CBC, 16 bytes at least in XTS.  The front end has refused all of those.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/nettle/nettle.h"

#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/ctr.h>
#include <nettle/des.h>
#include <nettle/nettle-meta.h>
#include <nettle/xts.h>

#include "crypto/mode/context.h"
#include "crypto/mode/mode.h"

typedef struct NettleCipher {
    const struct nettle_cipher *meta;
    /* CBC encryption in one with the cipher: AES alone has it */
    void (*cbc_encrypt)(const void *key, uint8_t *iv, size_t length,
                        uint8_t *dst, const uint8_t *src);
} NettleCipher;

typedef struct NettleKey {
    const NettleCipher *cipher;
    const uint8_t *decrypt; /* in keys, which begins with the other */
    _Alignas(16) uint8_t keys[];
} NettleKey;

static bool one_schedule(const struct nettle_cipher *meta)
{
    return meta->set_encrypt_key == meta->set_decrypt_key;
}

static size_t schedule_size(const struct nettle_cipher *meta)
{
    return (meta->context_size + 15u) & ~(size_t)15;
}

static size_t block_ctx_size(const QCryptoBlockDesc *desc)
{
    const struct nettle_cipher *meta = ((const NettleCipher *)desc->arg)->meta;

    return sizeof(NettleKey) +
           schedule_size(meta) * (one_schedule(meta) ? 1 : 2);
}

static int block_init(void *ctx, const QCryptoBlockDesc *desc,
                      const uint8_t *key, size_t nkey G_GNUC_UNUSED,
                      GError **errp G_GNUC_UNUSED)
{
    NettleKey *k = ctx;
    const struct nettle_cipher *meta;

    k->cipher = desc->arg;
    meta = k->cipher->meta;
    k->decrypt = k->keys;
    meta->set_encrypt_key(k->keys, key);
    if (!one_schedule(meta)) {
        k->decrypt += schedule_size(meta);
        meta->set_decrypt_key(k->keys + schedule_size(meta), key);
    }
    return 0;
}

static void block_encrypt(const void *ctx, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    const NettleKey *k = ctx;

    k->cipher->meta->encrypt(k->keys, length, dst, src);
}

static void block_decrypt(const void *ctx, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    const NettleKey *k = ctx;

    k->cipher->meta->decrypt(k->decrypt, length, dst, src);
}

/* nettle's functions of one cipher, under the types of the tables */

#define AES_CBC(bits)                                                          \
    static void cbc_aes##bits(const void *key, uint8_t *iv, size_t length,     \
                              uint8_t *dst, const uint8_t *src)                \
    {                                                                          \
        cbc_aes##bits##_encrypt(key, iv, length, dst, src);                    \
    }

AES_CBC(128)
AES_CBC(192)
AES_CBC(256)

/* the verdict on weak keys does not keep the key from being set */
#define DES_CIPHER(des, DES)                                                   \
    static void des##_key(void *ctx, const uint8_t *key)                       \
    {                                                                          \
        (void)des##_set_key(ctx, key);                                         \
    }                                                                          \
    static void des##_enc(const void *ctx, size_t length, uint8_t *dst,        \
                          const uint8_t *src)                                  \
    {                                                                          \
        des##_encrypt(ctx, length, dst, src);                                  \
    }                                                                          \
    static void des##_dec(const void *ctx, size_t length, uint8_t *dst,        \
                          const uint8_t *src)                                  \
    {                                                                          \
        des##_decrypt(ctx, length, dst, src);                                  \
    }                                                                          \
    static const struct nettle_cipher meta_##des = {                           \
        .name = #des,                                                          \
        .context_size = sizeof(struct des##_ctx),                              \
        .block_size = DES##_BLOCK_SIZE,                                        \
        .key_size = DES##_KEY_SIZE,                                            \
        .set_encrypt_key = des##_key,                                          \
        .set_decrypt_key = des##_key,                                          \
        .encrypt = des##_enc,                                                  \
        .decrypt = des##_dec,                                                  \
    };

DES_CIPHER(des, DES)
DES_CIPHER(des3, DES3)

#define BLOCK(len, ...)                                                        \
    {                                                                          \
        .block_len = (len), .ctx_size = block_ctx_size, .init = block_init,    \
        .encrypt = block_encrypt, .decrypt = block_decrypt,                    \
        .arg = &(const NettleCipher){__VA_ARGS__},                             \
    }

const QCryptoBlockDesc qcrypto_nettle_blocks[QCRYPTO_CIPHER_ALGO__MAX] = {
    [QCRYPTO_CIPHER_ALGO_AES_128] = BLOCK(16, &nettle_aes128, cbc_aes128),
    [QCRYPTO_CIPHER_ALGO_AES_192] = BLOCK(16, &nettle_aes192, cbc_aes192),
    [QCRYPTO_CIPHER_ALGO_AES_256] = BLOCK(16, &nettle_aes256, cbc_aes256),
    [QCRYPTO_CIPHER_ALGO_DES] = BLOCK(8, &meta_des, NULL),
    [QCRYPTO_CIPHER_ALGO_3DES] = BLOCK(8, &meta_des3, NULL),
    [QCRYPTO_CIPHER_ALGO_CAST5_128] = BLOCK(8, &nettle_cast128, NULL),
    [QCRYPTO_CIPHER_ALGO_SERPENT_128] = BLOCK(16, &nettle_serpent128, NULL),
    [QCRYPTO_CIPHER_ALGO_SERPENT_192] = BLOCK(16, &nettle_serpent192, NULL),
    [QCRYPTO_CIPHER_ALGO_SERPENT_256] = BLOCK(16, &nettle_serpent256, NULL),
    [QCRYPTO_CIPHER_ALGO_TWOFISH_128] = BLOCK(16, &nettle_twofish128, NULL),
    [QCRYPTO_CIPHER_ALGO_TWOFISH_192] = BLOCK(16, &nettle_twofish192, NULL),
    [QCRYPTO_CIPHER_ALGO_TWOFISH_256] = BLOCK(16, &nettle_twofish256, NULL),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_128] = BLOCK(16, &nettle_camellia128, NULL),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_192] = BLOCK(16, &nettle_camellia192, NULL),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_256] = BLOCK(16, &nettle_camellia256, NULL),
};

/*
 * nettle's own modes, over the generic modes' contexts.  They leave iv and
 * counter as the contract wants them.
 */

static int cbc_encrypt_piece(const void *ctx, uint8_t *iv, const uint8_t *in,
                             uint8_t *out, size_t len,
                             GError **errp G_GNUC_UNUSED)
{
    const NettleKey *k = qcrypto_mode_key(ctx, 0);

    k->cipher->cbc_encrypt(k->keys, iv, len, out, in);
    return 0;
}

/* Many messages in step, which the generic mode knows, are faster. */
static int cbc_encrypt_units(const void *ctx, const uint8_t *ivs,
                             size_t unit_size, const uint8_t *in, uint8_t *out,
                             size_t n, GError **errp)
{
    return qcrypto_mode_cbc.units[0](ctx, ivs, unit_size, in, out, n, errp);
}

static int cbc_decrypt_piece(const void *ctx, uint8_t *iv, const uint8_t *in,
                             uint8_t *out, size_t len,
                             GError **errp G_GNUC_UNUSED)
{
    const NettleKey *k = qcrypto_mode_key(ctx, 0);
    const struct nettle_cipher *meta = k->cipher->meta;

    cbc_decrypt(k->decrypt, meta->decrypt, meta->block_size, iv, len, out, in);
    return 0;
}

static int ctr_piece(const void *ctx, uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len, GError **errp G_GNUC_UNUSED)
{
    const NettleKey *k = qcrypto_mode_key(ctx, 0);
    const struct nettle_cipher *meta = k->cipher->meta;

    ctr_crypt(k->keys, meta->encrypt, meta->block_size, iv, len, out, in);
    return 0;
}

static int xts_encrypt_unit(const void *ctx, uint8_t *iv, const uint8_t *in,
                            uint8_t *out, size_t len,
                            GError **errp G_GNUC_UNUSED)
{
    const NettleKey *k = qcrypto_mode_key(ctx, 0);
    const NettleKey *tweak = qcrypto_mode_key(ctx, 1);

    xts_encrypt_message(k->keys, tweak->keys, k->cipher->meta->encrypt, iv, len,
                        out, in);
    return 0;
}

static int xts_decrypt_unit(const void *ctx, uint8_t *iv, const uint8_t *in,
                            uint8_t *out, size_t len,
                            GError **errp G_GNUC_UNUSED)
{
    const NettleKey *k = qcrypto_mode_key(ctx, 0);
    const NettleKey *tweak = qcrypto_mode_key(ctx, 1);

    xts_decrypt_message(k->decrypt, tweak->keys, k->cipher->meta->decrypt,
                        k->cipher->meta->encrypt, iv, len, out, in);
    return 0;
}

const QCryptoCipherOps qcrypto_nettle_cbc = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_init,
    .crypt = {cbc_encrypt_piece, cbc_decrypt_piece},
    .units = {cbc_encrypt_units, NULL},
};

const QCryptoCipherOps qcrypto_nettle_ctr = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_init,
    .crypt = {ctr_piece, ctr_piece},
};

const QCryptoCipherOps qcrypto_nettle_xts = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_init,
    .crypt = {xts_encrypt_unit, xts_decrypt_unit},
};
