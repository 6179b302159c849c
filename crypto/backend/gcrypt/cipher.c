/*
 * libgcrypt: ciphers
 *
 * Two ways in:
 *
 *   native   a handle in the mode itself.  The handle would go on where its
 *            last call ended; here every piece brings its IV, and what the
 *            next one needs is worked out beside it.
 *   generic  runs of blocks for the generic modes.  libgcrypt 1.10 does ECB
 *            (and, AES apart, XTS) one block after the other, so runs go
 *            through CFB and CBC decryption, which are wide (chained.h).
 *
 * Handles are not shared between threads even for a moment: besides the IV,
 * a handle makes its decryption key when it first decrypts.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/gcrypt/gcrypt.h"

#include <gcrypt.h>

#include "crypto/backend/chained.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/base/pool.h"

#define LIBRARY "libgcrypt"

typedef struct GcryptMode {
    int mode;
    gcry_error_t (*set)(gcry_cipher_hd_t handle, const void *iv, size_t niv);
    /* iv for the next piece, after len bytes whose last ciphertext block (in
     * modes of whole blocks) is last; NULL: stays as it is */
    void (*next)(uint8_t *iv, size_t bl, const uint8_t *last, size_t len);
} GcryptMode;

typedef struct GcryptKey {
    QCryptoPool pool;
    const GcryptMode *mode; /* NULL: runs of blocks */
    int algo;
    uint32_t block_len;
    uint32_t nkey;
    uint8_t key[64];
} GcryptKey;

/* A handle of the pool that serves runs of blocks. */
typedef struct GcryptBlocks {
    gcry_cipher_hd_t cfb;
    gcry_cipher_hd_t cbc;
    uint32_t block_len;
    gcry_error_t failed; /* the first error since begin */
} GcryptBlocks;

static int library_error(GError **errp, const char *call, gcry_error_t e)
{
    return qcrypto_error_library(errp, LIBRARY, call, gcry_strerror(e));
}

static gcry_cipher_hd_t open_handle(const GcryptKey *k, int mode, GError **errp)
{
    gcry_cipher_hd_t handle;
    gcry_error_t e;

    e = gcry_cipher_open(&handle, k->algo, mode, 0);
    if (e) {
        library_error(errp, "gcry_cipher_open", e);
        return NULL;
    }
    e = gcry_cipher_ctl(handle, GCRYCTL_SET_ALLOW_WEAK_KEY, NULL, 1);
    if (e) {
        library_error(errp, "gcry_cipher_ctl", e);
        goto fail;
    }
    e = gcry_cipher_setkey(handle, k->key, k->nkey);
    /*
     * A weak DES key is set all the same, and called weak.  XTS in FIPS mode
     * says the same of equal halves, and means it.
     */
    if (gcry_err_code(e) == GPG_ERR_WEAK_KEY && mode == GCRY_CIPHER_MODE_XTS) {
        qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                      LIBRARY " in FIPS mode takes no XTS key of equal halves");
        goto fail;
    }
    if (e && gcry_err_code(e) != GPG_ERR_WEAK_KEY) {
        library_error(errp, "gcry_cipher_setkey", e);
        goto fail;
    }
    return handle;

fail:
    gcry_cipher_close(handle);
    return NULL;
}

/* pool.open and pool.close of the two ways */

static void *native_open(const void *owner, GError **errp)
{
    const GcryptKey *k = owner;

    return open_handle(k, k->mode->mode, errp);
}

static void native_close(void *handle)
{
    gcry_cipher_close(handle);
}

static void blocks_close(void *handle)
{
    GcryptBlocks *b = handle;

    gcry_cipher_close(b->cfb);
    gcry_cipher_close(b->cbc);
    qcrypto_wipe_free(b, sizeof(*b));
}

static void *blocks_open(const void *owner, GError **errp)
{
    const GcryptKey *k = owner;
    GcryptBlocks *b = qcrypto_alloc(sizeof(*b));

    if (!b) {
        qcrypto_error_memory(errp, "a cipher handle", 1, 0);
        return NULL;
    }
    b->block_len = k->block_len;
    b->cfb = open_handle(k, GCRY_CIPHER_MODE_CFB, errp);
    b->cbc = b->cfb ? open_handle(k, GCRY_CIPHER_MODE_CBC, errp) : NULL;
    if (!b->cbc) {
        blocks_close(b);
        return NULL;
    }
    return b;
}

/* The pool is the one part of a context that changes after init. */
static QCryptoPool *pool_of(const GcryptKey *k)
{
    return (QCryptoPool *)&k->pool;
}

static void key_fini(void *ctx)
{
    GcryptKey *k = ctx;

    qcrypto_pool_close(&k->pool);
}

static int key_init(GcryptKey *k, const QCryptoBlockDesc *desc,
                    const uint8_t *key, size_t nkey, GError **errp)
{
    void *handle;

    g_assert(nkey <= sizeof(k->key));
    k->algo = GPOINTER_TO_INT(desc->arg);
    k->block_len = (uint32_t)desc->block_len;
    k->nkey = (uint32_t)nkey;
    memcpy(k->key, key, nkey);

    /* the first handle here, so that a key it refuses shows here */
    handle = qcrypto_pool_take(&k->pool, k, errp);
    if (!handle) {
        return -1;
    }
    qcrypto_pool_put(&k->pool, handle);
    return 0;
}

/* Runs of blocks */

static size_t block_ctx_size(const QCryptoBlockDesc *desc G_GNUC_UNUSED)
{
    return sizeof(GcryptKey);
}

static int block_init(void *ctx, const QCryptoBlockDesc *desc,
                      const uint8_t *key, size_t nkey, GError **errp)
{
    GcryptKey *k = ctx;

    k->pool.open = blocks_open;
    k->pool.close = blocks_close;
    return key_init(k, desc, key, nkey, errp);
}

static void *block_begin(const void *ctx, GError **errp)
{
    return qcrypto_pool_take(pool_of(ctx), ctx, errp);
}

static int block_end(const void *ctx, void *run, GError **errp)
{
    GcryptBlocks *b = run;
    gcry_error_t failed = b->failed;

    b->failed = 0;
    qcrypto_pool_put(pool_of(ctx), b);
    return failed ? library_error(errp, "gcry_cipher_decrypt", failed) : 0;
}

static int chained(void *handle, uint8_t *dst, const uint8_t *src, size_t len)
{
    return (int)gcry_cipher_decrypt(handle, dst, len, src, len);
}

static void block_encrypt(const void *run, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    GcryptBlocks *b = (GcryptBlocks *)run;

    if (!b->failed) {
        b->failed = gcry_cipher_setiv(b->cfb, src, b->block_len);
    }
    if (!b->failed) {
        b->failed = (gcry_error_t)qcrypto_chained_encrypt(
            chained, b->cfb, b->block_len, length, dst, src);
    }
}

static void block_decrypt(const void *run, size_t length, uint8_t *dst,
                          const uint8_t *src)
{
    static const uint8_t zeros[QCRYPTO_MODE_BLOCK_MAX];
    GcryptBlocks *b = (GcryptBlocks *)run;

    if (!b->failed) {
        b->failed = gcry_cipher_setiv(b->cbc, zeros, b->block_len);
    }
    if (!b->failed) {
        b->failed = (gcry_error_t)qcrypto_chained_decrypt(
            chained, b->cbc, b->block_len, length, dst, src);
    }
}

#define BLOCK(len, algo)                                                       \
    {                                                                          \
        .block_len = (len), .ctx_size = block_ctx_size, .init = block_init,    \
        .fini = key_fini, .encrypt = block_encrypt, .decrypt = block_decrypt,  \
        .arg = GINT_TO_POINTER(algo), .begin = block_begin, .end = block_end,  \
    }

const QCryptoBlockDesc qcrypto_gcrypt_blocks[QCRYPTO_CIPHER_ALGO__MAX] = {
    [QCRYPTO_CIPHER_ALGO_AES_128] = BLOCK(16, GCRY_CIPHER_AES128),
    [QCRYPTO_CIPHER_ALGO_AES_192] = BLOCK(16, GCRY_CIPHER_AES192),
    [QCRYPTO_CIPHER_ALGO_AES_256] = BLOCK(16, GCRY_CIPHER_AES256),
    [QCRYPTO_CIPHER_ALGO_DES] = BLOCK(8, GCRY_CIPHER_DES),
    [QCRYPTO_CIPHER_ALGO_3DES] = BLOCK(8, GCRY_CIPHER_3DES),
    [QCRYPTO_CIPHER_ALGO_CAST5_128] = BLOCK(8, GCRY_CIPHER_CAST5),
    [QCRYPTO_CIPHER_ALGO_SERPENT_128] = BLOCK(16, GCRY_CIPHER_SERPENT128),
    [QCRYPTO_CIPHER_ALGO_SERPENT_192] = BLOCK(16, GCRY_CIPHER_SERPENT192),
    [QCRYPTO_CIPHER_ALGO_SERPENT_256] = BLOCK(16, GCRY_CIPHER_SERPENT256),
    [QCRYPTO_CIPHER_ALGO_TWOFISH_128] = BLOCK(16, GCRY_CIPHER_TWOFISH128),
    [QCRYPTO_CIPHER_ALGO_TWOFISH_256] = BLOCK(16, GCRY_CIPHER_TWOFISH),
    [QCRYPTO_CIPHER_ALGO_SM4] = BLOCK(16, GCRY_CIPHER_SM4),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_128] = BLOCK(16, GCRY_CIPHER_CAMELLIA128),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_192] = BLOCK(16, GCRY_CIPHER_CAMELLIA192),
    [QCRYPTO_CIPHER_ALGO_CAMELLIA_256] = BLOCK(16, GCRY_CIPHER_CAMELLIA256),
};

/* libgcrypt's own modes */

static void next_cbc(uint8_t *iv, size_t bl, const uint8_t *last,
                     size_t len G_GNUC_UNUSED)
{
    memcpy(iv, last, bl);
}

/* a big-endian number of bl bytes, and what it counts is public */
static void next_ctr(uint8_t *iv, size_t bl, const uint8_t *last G_GNUC_UNUSED,
                     size_t len)
{
    /* not (len + bl - 1) / bl, which could wrap */
    uint64_t carry = len / bl + (len % bl != 0);
    size_t i;

    for (i = bl; i-- && carry;) {
        /* carry < 2^61 before (len < 2^64, bl >= 8) and falls: no wrap */
        carry += iv[i];
        iv[i] = (uint8_t)carry;
        carry >>= 8;
    }
}

static const GcryptMode modes[QCRYPTO_CIPHER_MODE__MAX] = {
    [QCRYPTO_CIPHER_MODE_ECB] = {GCRY_CIPHER_MODE_ECB, NULL, NULL},
    [QCRYPTO_CIPHER_MODE_CBC] = {GCRY_CIPHER_MODE_CBC, gcry_cipher_setiv,
                                 next_cbc},
    [QCRYPTO_CIPHER_MODE_XTS] = {GCRY_CIPHER_MODE_XTS, gcry_cipher_setiv, NULL},
    [QCRYPTO_CIPHER_MODE_CTR] = {GCRY_CIPHER_MODE_CTR, gcry_cipher_setctr,
                                 next_ctr},
};

static size_t native_ctx_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return sizeof(GcryptKey);
}

static int native_init(void *ctx, const QCryptoRow *row, const uint8_t *key,
                       size_t nkey, GError **errp)
{
    GcryptKey *k = ctx;

    k->mode = &modes[row->mode];
    k->pool.open = native_open;
    k->pool.close = native_close;
    return key_init(k, row->arg, key, nkey, errp);
}

static int native_units(const GcryptKey *k, bool decrypt, const uint8_t *ivs,
                        size_t unit_size, const uint8_t *in, uint8_t *out,
                        size_t n, GError **errp)
{
    gcry_cipher_hd_t handle = qcrypto_pool_take(pool_of(k), k, errp);
    const char *call = NULL;
    gcry_error_t e = 0;

    if (!handle) {
        return -1;
    }
    for (; n && !e; n--) {
        if (k->mode->set) {
            call = "gcry_cipher_setiv";
            e = k->mode->set(handle, ivs, k->block_len);
            ivs += k->block_len;
        }
        if (!e) {
            call = decrypt ? "gcry_cipher_decrypt" : "gcry_cipher_encrypt";
            e = (decrypt ? gcry_cipher_decrypt : gcry_cipher_encrypt)(
                handle, out, unit_size, in, unit_size);
        }
        in += unit_size;
        out += unit_size;
    }
    qcrypto_pool_put(pool_of(k), handle);
    return e ? library_error(errp, call, e) : 0;
}

static int native_crypt(const GcryptKey *k, bool decrypt, uint8_t *iv,
                        const uint8_t *in, uint8_t *out, size_t len,
                        GError **errp)
{
    uint8_t last[QCRYPTO_MODE_BLOCK_MAX] = {0};
    size_t bl = k->block_len;

    if (!len) {
        return 0;
    }
    /* in place, the ciphertext is gone afterwards */
    if (decrypt && len >= bl) {
        memcpy(last, in + len - bl, bl);
    }
    if (native_units(k, decrypt, iv, len, in, out, 1, errp) < 0) {
        return -1;
    }
    if (!decrypt && len >= bl) {
        memcpy(last, out + len - bl, bl);
    }
    if (k->mode->next) {
        k->mode->next(iv, bl, last, len);
    }
    return 0;
}

static int native_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                          uint8_t *out, size_t len, GError **errp)
{
    return native_crypt(ctx, false, iv, in, out, len, errp);
}

static int native_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                          uint8_t *out, size_t len, GError **errp)
{
    return native_crypt(ctx, true, iv, in, out, len, errp);
}

static int native_encrypt_units(const void *ctx, const uint8_t *ivs,
                                size_t unit_size, const uint8_t *in,
                                uint8_t *out, size_t n, GError **errp)
{
    return native_units(ctx, false, ivs, unit_size, in, out, n, errp);
}

static int native_decrypt_units(const void *ctx, const uint8_t *ivs,
                                size_t unit_size, const uint8_t *in,
                                uint8_t *out, size_t n, GError **errp)
{
    return native_units(ctx, true, ivs, unit_size, in, out, n, errp);
}

const QCryptoCipherOps qcrypto_gcrypt_cipher = {
    .ctx_size = native_ctx_size,
    .init = native_init,
    .fini = key_fini,
    .crypt = {native_encrypt, native_decrypt},
    .units = {native_encrypt_units, native_decrypt_units},
};

/* Does libgcrypt use this CPU's AES instructions?  hwf.deny can forbid it. */
static bool has_aes_instructions(void)
{
    char *list = gcry_get_config(0, "hwflist");
    bool has =
        list && (strstr(list, ":intel-aesni:") || strstr(list, ":arm-aes:"));

    gcry_free(list);
    return has;
}

int qcrypto_gcrypt_probe_cipher(const QCryptoRow *row, GError **errp)
{
    const QCryptoBlockDesc *desc = row->arg;
    gcry_error_t e = gcry_cipher_test_algo(GPOINTER_TO_INT(desc->arg));

    if (e) {
        return library_error(errp, "gcry_cipher_test_algo", e);
    }
    if ((row->cpu & QCRYPTO_CPU_AES) && !has_aes_instructions()) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             LIBRARY " does not use the CPU's AES "
                                     "instructions here");
    }
    return 0;
}
