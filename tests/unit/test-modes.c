/*
 * The generic modes over a block cipher (crypto/mode)
 *
 * Each is held against the mode written here a block at a time, over two
 * ciphers: AES, and a toy of 8-byte blocks.  Messages go through whole, in
 * pieces, in place, at odd addresses and as runs of units.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/backend/builtin/aes.h"
#include "crypto/base/secure.h"
#include "crypto/mode/mode.h"
#include "crypto/mode/xts-experiment.h"

#define LONGEST   2200 /* past two batches of the modes */
#define MAX_UNITS 70

/* The ciphers */

static int live;         /* key contexts that are keyed */
static int fail_at = -1; /* refuse the key after so many */

static int key_taken(GError **errp)
{
    if (fail_at == live) {
        g_set_error_literal(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED,
                            "not this key");
        return -1;
    }
    live++;
    return 0;
}

static void key_dropped(void *ctx G_GNUC_UNUSED)
{
    live--;
}

static size_t aes_ctx_size(const QCryptoBlockDesc *desc)
{
    return ((const QCryptoAESKernel *)desc->arg)->key_size;
}

static int aes_init(void *ctx, const QCryptoBlockDesc *desc, const uint8_t *key,
                    size_t nkey, GError **errp)
{
    g_assert_cmpuint((uintptr_t)ctx % 16, ==, 0);
    g_assert_cmpuint(nkey, ==, 16);
    ((const QCryptoAESKernel *)desc->arg)->set_key(ctx, key, nkey);
    return key_taken(errp);
}

static void aes_encrypt(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    g_assert_cmpuint(length, >, 0);
    g_assert_cmpuint(length % 16, ==, 0);
    qcrypto_aes_portable.ecb[0](ctx, dst, src, length);
}

static void aes_decrypt(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    g_assert_cmpuint(length, >, 0);
    g_assert_cmpuint(length % 16, ==, 0);
    qcrypto_aes_portable.ecb[1](ctx, dst, src, length);
}

/* x -> (x ^ k) * an odd number, which has an inverse modulo 2^64 */
#define TOY 0x9e3779b97f4a7c15u

static size_t toy_ctx_size(const QCryptoBlockDesc *desc G_GNUC_UNUSED)
{
    return 9; /* no multiple of anything */
}

static int toy_init(void *ctx, const QCryptoBlockDesc *desc G_GNUC_UNUSED,
                    const uint8_t *key, size_t nkey G_GNUC_UNUSED,
                    GError **errp)
{
    memcpy(ctx, key, 8);
    return key_taken(errp);
}

static void toy_encrypt(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    uint64_t k, x;

    g_assert_cmpuint(length, >, 0);
    g_assert_cmpuint(length % 8, ==, 0);
    memcpy(&k, ctx, 8);
    for (size_t i = 0; i < length; i += 8) {
        memcpy(&x, src + i, 8);
        x = (x ^ k) * TOY;
        memcpy(dst + i, &x, 8);
    }
}

static void toy_decrypt(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    uint64_t k, x, inverse = TOY;

    g_assert_cmpuint(length, >, 0);
    g_assert_cmpuint(length % 8, ==, 0);
    for (int i = 0; i < 5; i++) { /* Newton: 3, 6, ... 96 bits are right */
        inverse *= 2 - TOY * inverse;
    }
    memcpy(&k, ctx, 8);
    for (size_t i = 0; i < length; i += 8) {
        memcpy(&x, src + i, 8);
        x = x * inverse ^ k;
        memcpy(dst + i, &x, 8);
    }
}

static const QCryptoBlockDesc descs[] = {
    {16, aes_ctx_size, aes_init, key_dropped, aes_encrypt, aes_decrypt,
     &qcrypto_aes_portable},
    {8, toy_ctx_size, toy_init, key_dropped, toy_encrypt, toy_decrypt, NULL},
};

/* The modes a block at a time, over the same block functions */

typedef struct Ref {
    const QCryptoBlockDesc *desc;
    const void *key, *tweak_key;
} Ref;

typedef void RefMode(const Ref *r, int dir, uint8_t *iv, size_t len,
                     uint8_t *dst, const uint8_t *src);

static void xor_bytes(uint8_t *dst, const uint8_t *a, const uint8_t *b,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dst[i] = a[i] ^ b[i];
    }
}

static void ref_ecb(const Ref *r, int dir, uint8_t *iv G_GNUC_UNUSED,
                    size_t len, uint8_t *dst, const uint8_t *src)
{
    size_t bl = r->desc->block_len;

    for (size_t at = 0; at < len; at += bl) {
        (dir ? r->desc->decrypt : r->desc->encrypt)(r->key, bl, dst + at,
                                                    src + at);
    }
}

static void ref_cbc(const Ref *r, int dir, uint8_t *iv, size_t len,
                    uint8_t *dst, const uint8_t *src)
{
    size_t bl = r->desc->block_len;
    uint8_t x[16];

    for (size_t at = 0; at < len; at += bl) {
        if (dir) {
            r->desc->decrypt(r->key, bl, x, src + at);
            xor_bytes(dst + at, x, iv, bl);
            memcpy(iv, src + at, bl);
        } else {
            xor_bytes(x, src + at, iv, bl);
            r->desc->encrypt(r->key, bl, dst + at, x);
            memcpy(iv, dst + at, bl);
        }
    }
}

static void ref_ctr(const Ref *r, int dir G_GNUC_UNUSED, uint8_t *iv,
                    size_t len, uint8_t *dst, const uint8_t *src)
{
    size_t bl = r->desc->block_len;
    uint8_t x[16];

    for (size_t at = 0; at < len; at += bl) {
        r->desc->encrypt(r->key, bl, x, iv);
        xor_bytes(dst + at, src + at, x, MIN(bl, len - at));
        for (size_t i = bl; i-- > 0 && ++iv[i] == 0;) {
        }
    }
}

static void ref_double(uint8_t *a)
{
    int carry = 0;

    for (int i = 0; i < 16; i++) {
        int next = a[i] / 128;

        a[i] = (uint8_t)(2 * a[i] % 256 + carry);
        carry = next;
    }
    a[0] ^= carry ? 135 : 0;
}

static void ref_xts_block(const Ref *r, int dir, const uint8_t *t, uint8_t *dst,
                          const uint8_t *src)
{
    uint8_t x[16];

    xor_bytes(x, src, t, 16);
    (dir ? r->desc->decrypt : r->desc->encrypt)(r->key, 16, x, x);
    xor_bytes(dst, x, t, 16);
}

static void ref_xts(const Ref *r, int dir, uint8_t *iv, size_t len,
                    uint8_t *dst, const uint8_t *src)
{
    size_t b = len % 16, at = 0;
    uint8_t t[2][16], x[16], y[16];

    r->desc->encrypt(r->tweak_key, 16, t[0], iv);
    for (; at + 16 + (b ? 16 : 0) <= len; at += 16) {
        ref_xts_block(r, dir, t[0], dst + at, src + at);
        ref_double(t[0]);
    }
    if (b) {
        memcpy(t[1], t[0], 16);
        ref_double(t[1]);
        ref_xts_block(r, dir, t[dir], x, src + at);
        memcpy(y, src + at + 16, b);
        memcpy(y + b, x + b, 16 - b);
        ref_xts_block(r, dir, t[!dir], dst + at, y);
        memcpy(dst + at + 16, x, b);
    }
}

/* What is tested: cases are data */

typedef struct Case {
    const char *path;
    const QCryptoCipherOps *ops;
    RefMode *ref;
    int mode;
    const QCryptoBlockDesc *desc;
    bool partial; /* takes partial blocks */
    bool chained; /* goes on from piece to piece */
} Case;

static const Case cases[] = {
    {"/modes/ecb/16", &qcrypto_mode_ecb, ref_ecb, QCRYPTO_CIPHER_MODE_ECB,
     &descs[0], false, true},
    {"/modes/ecb/8", &qcrypto_mode_ecb, ref_ecb, QCRYPTO_CIPHER_MODE_ECB,
     &descs[1], false, true},
    {"/modes/cbc/16", &qcrypto_mode_cbc, ref_cbc, QCRYPTO_CIPHER_MODE_CBC,
     &descs[0], false, true},
    {"/modes/cbc/8", &qcrypto_mode_cbc, ref_cbc, QCRYPTO_CIPHER_MODE_CBC,
     &descs[1], false, true},
    {"/modes/ctr/16", &qcrypto_mode_ctr, ref_ctr, QCRYPTO_CIPHER_MODE_CTR,
     &descs[0], true, true},
    {"/modes/ctr/8", &qcrypto_mode_ctr, ref_ctr, QCRYPTO_CIPHER_MODE_CTR,
     &descs[1], true, true},
    {"/modes/xts/batched", &qcrypto_mode_xts, ref_xts, QCRYPTO_CIPHER_MODE_XTS,
     &descs[0], true, false},
    {"/modes/xts/bytewise", &qcrypto_mode_xts_bytewise, ref_xts,
     QCRYPTO_CIPHER_MODE_XTS, &descs[0], true, false},
    {"/modes/xts/uint128", &qcrypto_mode_xts_uint128, ref_xts,
     QCRYPTO_CIPHER_MODE_XTS, &descs[0], true, false},
};

/* An algorithm's number that suits the row. */
static QCryptoRow case_row(const Case *c)
{
    return (QCryptoRow){
        .kind = QCRYPTO_KIND_CIPHER,
        .alg = c->desc->block_len == 16 ? QCRYPTO_CIPHER_ALGO_AES_128
                                        : QCRYPTO_CIPHER_ALGO_DES,
        .mode = c->mode,
        .ops = c->ops,
        .arg = c->desc,
    };
}

typedef struct Keyed {
    const Case *c;
    void *ctx;
    size_t size;
    Ref ref;
    void *ref_keys[2];
    uint8_t iv[16];
} Keyed;

static void keyed_open(Keyed *k, const Case *c)
{
    QCryptoRow row = case_row(c);
    size_t nkeys = c->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1;
    uint8_t key[32];

    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(77 * i + 5);
    }
    k->c = c;
    k->size = c->ops->ctx_size(&row);
    k->ctx = qcrypto_alloc(k->size);
    g_assert_nonnull(k->ctx);
    g_assert_cmpint(c->ops->init(k->ctx, &row, key, 16 * nkeys, NULL), ==, 0);
    g_assert_cmpint(live, ==, (int)nkeys);

    for (size_t i = 0; i < 2; i++) {
        k->ref_keys[i] = qcrypto_alloc(c->desc->ctx_size(c->desc));
        c->desc->init(k->ref_keys[i], c->desc, key + 16 * i, 16, NULL);
    }
    k->ref = (Ref){c->desc, k->ref_keys[0], k->ref_keys[1]};
    /* a counter that soon wraps, a tweak whose doubling folds */
    memset(k->iv, 0xff, sizeof(k->iv));
    k->iv[c->desc->block_len - 1] = 0xfb;
}

static void keyed_close(Keyed *k)
{
    size_t n = k->c->desc->ctx_size(k->c->desc);

    for (size_t i = 0; i < 2; i++) {
        k->c->desc->fini(k->ref_keys[i]);
        qcrypto_wipe_free(k->ref_keys[i], n);
    }
    k->c->ops->fini(k->ctx);
    qcrypto_wipe_free(k->ctx, k->size);
    g_assert_cmpint(live, ==, 0);
}

static void fill(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(i * 13 + i / 256 * 7);
    }
}

static size_t first_length(const Case *c)
{
    return c->mode == QCRYPTO_CIPHER_MODE_XTS ? 16 : 0;
}

/* Every short length and some long ones, apart and in place. */
static void test_lengths(gconstpointer data)
{
    const Case *c = data;
    size_t bl = c->desc->block_len;
    static uint8_t src[LONGEST], want[LONGEST];
    static uint8_t out[LONGEST + 32], from[LONGEST + 32];
    Keyed k;

    keyed_open(&k, c);
    fill(src, sizeof(src));
    for (size_t len = first_length(c); len <= LONGEST;
         len += c->partial ? (len < 300 ? 1 : 13) : bl) {
        size_t a = len / bl % 16, b = len % 13;

        for (int dir = 0; dir < 2; dir++) {
            uint8_t iv[16], want_iv[16];

            memcpy(want_iv, k.iv, 16);
            c->ref(&k.ref, dir, want_iv, len, want, src);

            memset(out, 0xee, sizeof(out));
            memcpy(from + b, src, len);
            memcpy(iv, k.iv, 16);
            g_assert_cmpint(
                c->ops->crypt[dir](k.ctx, iv, from + b, out + a, len, NULL), ==,
                0);
            g_assert_cmpmem(out + a, len, want, len);
            g_assert_cmpmem(from + b, len, src, len);
            g_assert_cmpmem(iv, 16, want_iv, 16);
            for (size_t i = 0; i < 16; i++) {
                g_assert_cmphex(out[a + len + i], ==, 0xee);
            }

            memcpy(iv, k.iv, 16);
            g_assert_cmpint(
                c->ops->crypt[dir](k.ctx, iv, from + b, from + b, len, NULL),
                ==, 0);
            g_assert_cmpmem(from + b, len, want, len);
            g_assert_cmpmem(iv, 16, want_iv, 16);
        }
    }
    keyed_close(&k);
}

/* Pieces of whole blocks, a last one of any length, are the whole. */
static void test_pieces(gconstpointer data)
{
    const Case *c = data;
    size_t bl = c->desc->block_len;
    size_t len = LONGEST - (c->partial ? 3 : LONGEST % bl);
    static uint8_t src[LONGEST], want[LONGEST], out[LONGEST];
    Keyed k;

    keyed_open(&k, c);
    fill(src, sizeof(src));
    for (int dir = 0; dir < 2; dir++) {
        uint8_t iv[16], want_iv[16];

        memcpy(want_iv, k.iv, 16);
        c->ref(&k.ref, dir, want_iv, len, want, src);
        for (size_t blocks = 1; blocks < 20; blocks++) {
            memcpy(iv, k.iv, 16);
            memcpy(out, src, len);
            for (size_t at = 0; at < len; at += blocks * bl) {
                g_assert_cmpint(
                    c->ops->crypt[dir](k.ctx, iv, out + at, out + at,
                                       MIN(len - at, blocks * bl), NULL),
                    ==, 0);
            }
            g_assert_cmpmem(out, len, want, len);
            g_assert_cmpmem(iv, 16, want_iv, 16);
        }
    }
    keyed_close(&k);
}

/* A run of units is each unit by itself. */
static void test_units(gconstpointer data)
{
    const Case *c = data;
    size_t bl = c->desc->block_len;
    static const size_t sizes[] = {16, 48, 512, 47, 1040};
    g_autofree uint8_t *src = g_malloc(MAX_UNITS * 1040);
    g_autofree uint8_t *want = g_malloc(MAX_UNITS * 1040);
    g_autofree uint8_t *out = g_malloc(MAX_UNITS * 1040);
    uint8_t ivs[MAX_UNITS * 16];
    Keyed k;

    keyed_open(&k, c);
    fill(src, MAX_UNITS * 1040);
    fill(ivs, sizeof(ivs));
    for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
        size_t size = sizes[s];

        if (!c->partial && size % bl) {
            continue;
        }
        for (int dir = 0; dir < 2; dir++) {
            for (size_t i = 0; i < MAX_UNITS; i++) {
                uint8_t iv[16] = {0};

                memcpy(iv, ivs + bl * i, bl);
                c->ref(&k.ref, dir, iv, size, want + size * i, src + size * i);
            }
            for (size_t n = 0; n <= MAX_UNITS; n += n < 20 ? 1 : 5) {
                memset(out, 0xee, MAX_UNITS * size);
                g_assert_cmpint(
                    c->ops->units[dir](k.ctx, ivs, size, src, out, n, NULL), ==,
                    0);
                g_assert_cmpmem(out, n * size, want, n * size);
                if (n < MAX_UNITS) {
                    g_assert_cmphex(out[n * size], ==, 0xee);
                }
                memcpy(out, src, n * size);
                g_assert_cmpint(
                    c->ops->units[dir](k.ctx, ivs, size, out, out, n, NULL), ==,
                    0);
                g_assert_cmpmem(out, n * size, want, n * size);
            }
        }
    }
    keyed_close(&k);
}

/* Whatever key is refused, none stays open and the reason is passed on. */
static void test_refused_key(gconstpointer data)
{
    const Case *c = data;
    QCryptoRow row = case_row(c);
    size_t nkeys = c->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1;
    size_t size = c->ops->ctx_size(&row);
    uint8_t key[32] = {1};

    for (fail_at = 0; fail_at < (int)nkeys; fail_at++) {
        g_autoptr(GError) err = NULL;
        void *ctx = qcrypto_alloc(size);

        g_assert_cmpint(c->ops->init(ctx, &row, key, 16 * nkeys, &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
        g_assert_cmpstr(err->message, ==, "not this key");
        g_assert_cmpint(live, ==, 0);
        qcrypto_wipe_free(ctx, size);
    }
    fail_at = -1;
}

/* XTS is defined for blocks of 16 bytes. */
static void test_xts_block(gconstpointer data)
{
    Case c = *(const Case *)data;
    QCryptoRow row;
    uint8_t key[32] = {1};
    g_autoptr(GError) err = NULL;
    size_t size;
    void *ctx;

    c.desc = &descs[1];
    row = case_row(&c);
    size = c.ops->ctx_size(&row);
    ctx = qcrypto_alloc(size);
    g_assert_cmpint(c.ops->init(ctx, &row, key, 32, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(err->message, "des"));
    g_assert_nonnull(strstr(err->message, "16"));
    g_assert_cmpint(live, ==, 0);
    qcrypto_wipe_free(ctx, size);
}

static void add(const Case *c, const char *what, GTestDataFunc func)
{
    g_autofree char *path = g_strdup_printf("%s/%s", c->path, what);

    g_test_add_data_func(path, c, func);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];

        add(c, "lengths", test_lengths);
        add(c, "refused-key", test_refused_key);
        if (c->chained) {
            add(c, "pieces", test_pieces);
        }
        if (c->ops->units[0]) {
            add(c, "units", test_units);
        }
        if (c->mode == QCRYPTO_CIPHER_MODE_XTS) {
            add(c, "block-of-8", test_xts_block);
        }
    }
    return g_test_run();
}
