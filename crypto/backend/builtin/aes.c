/*
 * AES, from kernels to rows
 *
 * The row's arg is a kernel (aes.h); a context is the kernel and one key
 * object, or two in XTS.  The modes are the kernel's own: nothing here runs
 * per block.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/builtin/aes.h"

#include <string.h>

#include "crypto/backend/builtin/builtin.h"
#include "crypto/base/cpu.h"

typedef struct AESContext {
    const QCryptoAESKernel *kernel;
    const void *tweak_key; /* XTS: behind the data key */
    uint8_t key[] __attribute__((aligned(16)));
} AESContext;

static size_t aligned(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

static size_t one_key_size(const QCryptoRow *row)
{
    const QCryptoAESKernel *k = row->arg;
    return sizeof(AESContext) + aligned(k->key_size);
}

static size_t two_keys_size(const QCryptoRow *row)
{
    const QCryptoAESKernel *k = row->arg;
    return sizeof(AESContext) + aligned(k->key_size) + aligned(k->tweak_key_size);
}

static int one_key(void *ctx, const QCryptoRow *row, const uint8_t *key,
                   size_t nkey, GError **errp G_GNUC_UNUSED)
{
    AESContext *c = ctx;

    c->kernel = row->arg;
    c->kernel->set_key(c->key, key, nkey);
    return 0;
}

static int two_keys(void *ctx, const QCryptoRow *row, const uint8_t *key,
                    size_t nkey, GError **errp G_GNUC_UNUSED)
{
    AESContext *c = ctx;

    c->kernel = row->arg;
    uint8_t *tweak_key = c->key + aligned(c->kernel->key_size);
    c->tweak_key = tweak_key;
    c->kernel->set_key(c->key, key, nkey / 2);
    c->kernel->set_tweak_key(tweak_key, key + nkey / 2, nkey / 2);
    return 0;
}

/* The arguments of QCryptoCipherOps.crypt and .units */
#define CRYPT_ARGS                                                          \
    const void *ctx, uint8_t *iv G_GNUC_UNUSED, const uint8_t *in,          \
        uint8_t *out, size_t len, GError **errp G_GNUC_UNUSED
#define UNITS_ARGS                                                          \
    const void *ctx, const uint8_t *ivs G_GNUC_UNUSED, size_t unit_size,    \
        const uint8_t *in, uint8_t *out, size_t n, GError **errp G_GNUC_UNUSED

/* both directions of a mode: dir is the kernel's index */
#define BOTH_DIRECTIONS(X) X(encrypt, 0) X(decrypt, 1)

#define DEFINE(name, dir)                                                   \
    static int ecb_##name(CRYPT_ARGS)                                       \
    {                                                                       \
        const AESContext *c = ctx;                                          \
        c->kernel->ecb[dir](c->key, out, in, len);                          \
        return 0;                                                           \
    }                                                                       \
    static int ecb_units_##name(UNITS_ARGS)                                 \
    {                                                                       \
        const AESContext *c = ctx;                                          \
        c->kernel->ecb[dir](c->key, out, in, n * unit_size);                \
        return 0;                                                           \
    }                                                                       \
    static int cbc_##name(CRYPT_ARGS)                                       \
    {                                                                       \
        const AESContext *c = ctx;                                          \
        c->kernel->cbc[dir](c->key, iv, out, in, len);                      \
        return 0;                                                           \
    }                                                                       \
    static int cbc_units_##name(UNITS_ARGS)                                 \
    {                                                                       \
        const AESContext *c = ctx;                                          \
        c->kernel->cbc_units[dir](c->key, ivs, unit_size, out, in, n);      \
        return 0;                                                           \
    }                                                                       \
    static int xts_##name(CRYPT_ARGS)                                       \
    {                                                                       \
        const AESContext *c = ctx;                                          \
        c->kernel->xts[dir](c->key, c->tweak_key, iv, len, out, in, 1);     \
        return 0;                                                           \
    }                                                                       \
    static int xts_units_##name(UNITS_ARGS)                                 \
    {                                                                       \
        const AESContext *c = ctx;                                          \
        c->kernel->xts[dir](c->key, c->tweak_key, ivs, unit_size, out, in, n); \
        return 0;                                                           \
    }
BOTH_DIRECTIONS(DEFINE)

static int ctr_crypt(CRYPT_ARGS)
{
    const AESContext *c = ctx;

    c->kernel->ctr(c->key, iv, out, in, len);
    return 0;
}

const QCryptoCipherOps qcrypto_builtin_aes_ecb = {
    .ctx_size = one_key_size,
    .fills_ctx = true,
    .init = one_key,
    .crypt = {ecb_encrypt, ecb_decrypt},
    .units = {ecb_units_encrypt, ecb_units_decrypt},
};

const QCryptoCipherOps qcrypto_builtin_aes_cbc = {
    .ctx_size = one_key_size,
    .fills_ctx = true,
    .init = one_key,
    .crypt = {cbc_encrypt, cbc_decrypt},
    .units = {cbc_units_encrypt, cbc_units_decrypt},
};

const QCryptoCipherOps qcrypto_builtin_aes_ctr = {
    .ctx_size = one_key_size,
    .fills_ctx = true,
    .init = one_key,
    .crypt = {ctr_crypt, ctr_crypt},
};

const QCryptoCipherOps qcrypto_builtin_aes_xts = {
    .ctx_size = two_keys_size,
    .fills_ctx = true,
    .init = two_keys,
    .crypt = {xts_encrypt, xts_decrypt},
    .units = {xts_units_encrypt, xts_units_decrypt},
};

#if defined(__x86_64__)

/* ---- for the benchmark ---- */

/* widest first; qcrypto_aes_ni last: the row needs its features */
static const struct {
    const QCryptoAESKernel *kernel;
    uint32_t cpu;
} raw_kernels[] = {
    {&qcrypto_aes_vaes, QCRYPTO_CPU_AES_VAES},
    {&qcrypto_aes_ni, QCRYPTO_CPU_AES_NI},
};

static int raw_key(void *ctx, const QCryptoRow *row G_GNUC_UNUSED,
                   const uint8_t *key, size_t nkey, GError **errp G_GNUC_UNUSED)
{
    const uint32_t cpu = qcrypto_cpu_features();
    AESContext *c = ctx;
    size_t i = 0;

    while ((raw_kernels[i].cpu & cpu) != raw_kernels[i].cpu) {
        i++;
    }
    c->kernel = raw_kernels[i].kernel;
    c->kernel->set_key(c->key, key, nkey);
    return 0;
}

static size_t raw_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(AESContext) + sizeof(QCryptoAESKey);
}

static int raw_encrypt(CRYPT_ARGS)
{
    const AESContext *c = ctx;

    if (len <= 4096 || len % 4096) {
        c->kernel->ecb[0](c->key, out, in, len);
        return 0;
    }
    if (in != out) {
        memcpy(out, in, 4096);
    }
    c->kernel->raw(c->key, out, len);
    return 0;
}

const QCryptoCipherOps qcrypto_builtin_aes_raw = {
    .ctx_size = raw_size,
    .init = raw_key,
    .crypt = {raw_encrypt, ecb_decrypt},
};

/* AES-NI's blocks for the generic modes */

static size_t block_size(const QCryptoBlockDesc *desc G_GNUC_UNUSED)
{
    return sizeof(QCryptoAESKey);
}

static int block_key(void *ctx, const QCryptoBlockDesc *desc G_GNUC_UNUSED,
                     const uint8_t *key, size_t nkey,
                     GError **errp G_GNUC_UNUSED)
{
    qcrypto_aes_ni.set_key(ctx, key, nkey);
    return 0;
}

static void block_encrypt(const void *ctx, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    qcrypto_aes_ni.ecb[0](ctx, dst, src, length);
}

static void block_decrypt(const void *ctx, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    qcrypto_aes_ni.ecb[1](ctx, dst, src, length);
}

const QCryptoBlockDesc qcrypto_builtin_aes_block = {
    .block_len = 16,
    .ctx_size = block_size,
    .init = block_key,
    .encrypt = block_encrypt,
    .decrypt = block_decrypt,
};

#endif
