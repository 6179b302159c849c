/*
 * XTS over a caller's own cipher: the public xts.h
 *
 * Held against the vectors of IEEE 1619-2007 with AES, and against a form
 * written here step by step from the text of the standard.  Ciphers that are
 * no ciphers show what a real one hides: one that gives zeros makes the
 * result the tweaks themselves, one that counts shows what was called.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/xts.h>
#include <string.h>

#include "crypto/backend/builtin/aes.h"
#include "vectors.h"

#define BLOCK    16
#define LONGEST  600
#define UNIT_MAX ((size_t)BLOCK << 20)

static const QCryptoAESKernel *const kernel = &qcrypto_aes_portable;

static void aes_encrypt(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    kernel->ecb[0](ctx, dst, src, length);
}

static void aes_decrypt(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    kernel->ecb[1](ctx, dst, src, length);
}

static qcrypto_xts_block_func *const aes[2] = {aes_encrypt, aes_decrypt};

typedef int XTSCall(const void *datactx, qcrypto_xts_block_func *func,
                    xts_uint128 *tweak, size_t length, uint8_t *dst,
                    const uint8_t *src);

static XTSCall *const xts[2] = {qcrypto_xts_encrypt, qcrypto_xts_decrypt};

static void *aes_key(const uint8_t *key, size_t nkey)
{
    /* whole lines of 16 bytes, on such a boundary */
    void *k = NULL;

    if (posix_memalign(&k, 16, kernel->key_size)) {
        g_error("no memory");
    }
    kernel->set_key(k, key, nkey);
    return k;
}

/* Two AES-128 keys that serve most tests. */
typedef struct Keys {
    void *data, *tweak;
    uint8_t iv[BLOCK];
} Keys;

static void keys_setup(Keys *k, gconstpointer unused G_GNUC_UNUSED)
{
    uint8_t bytes[32];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(0x5a + 29 * i);
    }
    k->data = aes_key(bytes, 16);
    k->tweak = aes_key(bytes + 16, 16);
    /* high bits set: every doubling carries somewhere */
    memset(k->iv, 0xd3, sizeof(k->iv));
}

static void keys_teardown(Keys *k, gconstpointer unused G_GNUC_UNUSED)
{
    free(k->data);
    free(k->tweak);
}

/*
 * The standard, a byte at a time: 5.2 for the tweaks, 5.3.1 and 5.4.1 for a
 * block, 5.3.2 and 5.4.2 for a unit.
 */
static void ref_double(uint8_t *a)
{
    int carry = 0;

    for (int i = 0; i < BLOCK; i++) {
        int next = a[i] / 128;

        a[i] = (uint8_t)(2 * a[i] % 256 + carry);
        carry = next;
    }
    a[0] ^= carry ? 135 : 0;
}

static void ref_block(const Keys *k, int dir, size_t j, uint8_t *dst,
                      const uint8_t *src)
{
    uint8_t t[BLOCK], x[BLOCK];

    aes_encrypt(k->tweak, BLOCK, t, k->iv);
    for (size_t i = 0; i < j; i++) {
        ref_double(t);
    }
    for (int i = 0; i < BLOCK; i++) {
        x[i] = src[i] ^ t[i];
    }
    aes[dir](k->data, BLOCK, x, x);
    for (int i = 0; i < BLOCK; i++) {
        dst[i] = x[i] ^ t[i];
    }
}

static void ref_unit(const Keys *k, int dir, size_t length, uint8_t *dst,
                     const uint8_t *src)
{
    size_t m = length / BLOCK, b = length % BLOCK;
    uint8_t cc[BLOCK], pp[BLOCK];

    for (size_t j = 0; j < m - (b != 0); j++) {
        ref_block(k, dir, j, dst + BLOCK * j, src + BLOCK * j);
    }
    if (b) {
        size_t at = BLOCK * (m - 1);

        ref_block(k, dir, dir ? m : m - 1, cc, src + at);
        memcpy(pp, src + at + BLOCK, b);
        memcpy(pp + b, cc + b, BLOCK - b);
        ref_block(k, dir, dir ? m - 1 : m, dst + at, pp);
        memcpy(dst + at + BLOCK, cc, b);
    }
}

static void test_ieee1619(void)
{
    VectorFile *f = vector_file_open_data("xts-ieee1619.vec");
    unsigned count = 0;

    while (vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        g_autoptr(GByteArray) iv = vector_bytes(f, "iv");
        g_autoptr(GByteArray) pt = vector_bytes(f, "pt");
        g_autoptr(GByteArray) ct = vector_bytes(f, "ct");
        g_autofree uint8_t *out = g_malloc(pt->len);
        void *data = aes_key(key->data, key->len / 2);
        void *tweak = aes_key(key->data + key->len / 2, key->len / 2);
        xts_uint128 t;

        qcrypto_xts_start(tweak, aes_encrypt, iv->data, &t);
        g_assert_cmpint(
            qcrypto_xts_encrypt(data, aes_encrypt, &t, pt->len, out, pt->data),
            ==, 0);
        g_assert_cmpmem(out, pt->len, ct->data, ct->len);

        qcrypto_xts_start(tweak, aes_encrypt, iv->data, &t);
        g_assert_cmpint(
            qcrypto_xts_decrypt(data, aes_decrypt, &t, ct->len, out, out), ==,
            0);
        g_assert_cmpmem(out, ct->len, pt->data, pt->len);
        free(data);
        free(tweak);
        count++;
    }
    vector_file_close(f);
    g_assert_cmpuint(count, ==, 19);
}

/* Every length, both directions, apart and in place, at odd addresses. */
static void test_lengths(Keys *k, gconstpointer unused G_GNUC_UNUSED)
{
    uint8_t src[LONGEST], want[LONGEST];
    uint8_t room[LONGEST + 64], from[LONGEST + 64];

    for (size_t i = 0; i < LONGEST; i++) {
        src[i] = (uint8_t)(i * 11 + i / 256);
    }
    for (size_t len = BLOCK; len <= LONGEST; len++) {
        size_t a = 1 + len % 15, b = 1 + len / 3 % 15;

        for (int dir = 0; dir < 2; dir++) {
            xts_uint128 t;

            ref_unit(k, dir, len, want, src);

            memset(room, 0xee, sizeof(room));
            memcpy(from + b, src, len);
            qcrypto_xts_start(k->tweak, aes_encrypt, k->iv, &t);
            g_assert_cmpint(
                xts[dir](k->data, aes[dir], &t, len, room + a, from + b), ==,
                0);
            g_assert_cmpmem(room + a, len, want, len);
            g_assert_cmpmem(from + b, len, src, len);
            for (size_t i = 0; i < sizeof(room); i++) {
                if (i < a || i >= a + len) {
                    g_assert_cmphex(room[i], ==, 0xee);
                }
            }

            qcrypto_xts_start(k->tweak, aes_encrypt, k->iv, &t);
            g_assert_cmpint(
                xts[dir](k->data, aes[dir], &t, len, from + b, from + b), ==,
                0);
            g_assert_cmpmem(from + b, len, want, len);
        }
    }
}

/* A unit in two and in many pieces is the unit in one. */
static void test_pieces(Keys *k, gconstpointer unused G_GNUC_UNUSED)
{
    static const size_t lengths[] = {32, 48, 512, 1024, 1040, 2065, 4111};
    uint8_t src[4111], whole[4111], out[4111];

    for (size_t i = 0; i < sizeof(src); i++) {
        src[i] = (uint8_t)(i * 5 + 1);
    }
    for (size_t n = 0; n < G_N_ELEMENTS(lengths); n++) {
        for (int dir = 0; dir < 2; dir++) {
            size_t len = lengths[n];
            xts_uint128 start, end, t;

            qcrypto_xts_start(k->tweak, aes_encrypt, k->iv, &start);
            end = start;
            g_assert_cmpint(xts[dir](k->data, aes[dir], &end, len, whole, src),
                            ==, 0);

            for (size_t cut = 0; cut + BLOCK <= len; cut += BLOCK) {
                t = start;
                memset(out, 0, len);
                g_assert_cmpint(xts[dir](k->data, aes[dir], &t, cut, out, src),
                                ==, 0);
                g_assert_cmpint(xts[dir](k->data, aes[dir], &t, len - cut,
                                         out + cut, src + cut),
                                ==, 0);
                g_assert_cmpmem(out, len, whole, len);
                g_assert_cmphex(t.lo, ==, end.lo);
                g_assert_cmphex(t.hi, ==, end.hi);
            }

            /* a block at a time, the last piece with the partial block */
            t = start;
            memcpy(out, src, len);
            for (size_t at = 0; at < len;) {
                size_t part = len - at < 2 * BLOCK ? len - at : BLOCK;

                g_assert_cmpint(
                    xts[dir](k->data, aes[dir], &t, part, out + at, out + at),
                    ==, 0);
                at += part;
            }
            g_assert_cmpmem(out, len, whole, len);
        }
    }
}

/* Ciphers that are none */

static void zeros(const void *ctx G_GNUC_UNUSED, size_t length, uint8_t *dst,
                  const uint8_t *src G_GNUC_UNUSED)
{
    memset(dst, 0, length);
}

static void same(const void *ctx G_GNUC_UNUSED, size_t length, uint8_t *dst,
                 const uint8_t *src)
{
    memmove(dst, src, length);
}

typedef struct Calls {
    size_t calls, bytes, odd;
} Calls;

static void counted(const void *ctx, size_t length, uint8_t *dst,
                    const uint8_t *src)
{
    Calls *c = (Calls *)(uintptr_t)ctx;

    c->calls++;
    c->bytes += length;
    c->odd += length == 0 || length % BLOCK;
    memmove(dst, src, length);
}

/* Byte 0 of a tweak is its lowest, on any host. */
static void test_byte_order(void)
{
    uint8_t iv[BLOCK];
    xts_uint128 t;

    for (int i = 0; i < BLOCK; i++) {
        iv[i] = (uint8_t)i;
    }
    qcrypto_xts_start(NULL, same, iv, &t);
    g_assert_cmphex(t.lo, ==, 0x0706050403020100);
    g_assert_cmphex(t.hi, ==, 0x0f0e0d0c0b0a0908);
}

/* x^0 to x^200 from 1: shifts, the carry between the halves, the fold. */
static void test_powers(void)
{
    uint8_t iv[BLOCK] = {1};
    uint8_t out[201 * BLOCK], src[201 * BLOCK] = {0};
    uint8_t want[BLOCK] = {1};
    xts_uint128 t;

    qcrypto_xts_start(NULL, same, iv, &t);
    g_assert_cmpint(qcrypto_xts_encrypt(NULL, zeros, &t, sizeof(src), out, src),
                    ==, 0);
    for (size_t j = 0; j <= 200; j++) {
        g_assert_cmpmem(out + BLOCK * j, BLOCK, want, BLOCK);
        if (j < 128) {
            g_assert_cmphex(out[BLOCK * j + j / 8], ==, 1 << j % 8);
        }
        ref_double(want);
    }
    /* x^128 */
    g_assert_cmphex(out[BLOCK * 128], ==, 0x87);
    /* left for x^201 */
    for (int i = 0; i < 8; i++) {
        g_assert_cmphex(t.lo >> 8 * i & 0xff, ==, want[i]);
        g_assert_cmphex(t.hi >> 8 * i & 0xff, ==, want[8 + i]);
    }
}

static void test_refused(void)
{
    static const size_t wrong[] = {
        1, 2, 8, 14, 15, UNIT_MAX + 1, UNIT_MAX + BLOCK, SIZE_MAX};
    uint8_t src[BLOCK], dst[BLOCK], untouched[BLOCK];

    memset(src, 0x11, sizeof(src));
    memset(dst, 0x22, sizeof(dst));
    memset(untouched, 0x22, sizeof(untouched));
    for (int dir = 0; dir < 2; dir++) {
        Calls c = {0};
        xts_uint128 t = {.lo = 3, .hi = 4};

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
            g_assert_cmpint(xts[dir](&c, counted, &t, wrong[i], dst, src), ==,
                            -1);
        }
        /* nothing is no data, not a fault */
        g_assert_cmpint(xts[dir](&c, counted, &t, 0, dst, src), ==, 0);
        g_assert_cmpuint(c.calls, ==, 0);
        g_assert_cmphex(t.lo, ==, 3);
        g_assert_cmphex(t.hi, ==, 4);
        g_assert_cmpmem(dst, BLOCK, untouched, BLOCK);
    }
}

/* The longest unit, and that the cipher gets whole blocks, many a call. */
static void test_longest(void)
{
    g_autofree uint8_t *buf = g_malloc(UNIT_MAX);
    uint8_t iv[BLOCK] = {9};

    memset(buf, 0x77, UNIT_MAX);
    for (int dir = 0; dir < 2; dir++) {
        Calls c = {0};
        xts_uint128 t;

        qcrypto_xts_start(NULL, same, iv, &t);
        g_assert_cmpint(xts[dir](&c, counted, &t, UNIT_MAX, buf, buf), ==, 0);
        g_assert_cmpuint(c.bytes, ==, UNIT_MAX);
        g_assert_cmpuint(c.odd, ==, 0);
        g_assert_cmpuint(c.calls, <=, UNIT_MAX / BLOCK / 32);
    }
    /* the tweak went on and off again over a cipher that changes nothing */
    for (size_t i = 0; i < UNIT_MAX; i++) {
        if (buf[i] != 0x77) {
            g_error("byte %zu changed", i);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/xts/vectors/ieee1619", test_ieee1619);
    g_test_add("/xts/lengths/16-to-600", Keys, NULL, keys_setup, test_lengths,
               keys_teardown);
    g_test_add_func("/xts/lengths/refused", test_refused);
    g_test_add_func("/xts/lengths/longest", test_longest);
    g_test_add("/xts/pieces", Keys, NULL, keys_setup, test_pieces,
               keys_teardown);
    g_test_add_func("/xts/tweak/byte-order", test_byte_order);
    g_test_add_func("/xts/tweak/powers", test_powers);
    return g_test_run();
}
