/*
 * AES for any CPU: bit-sliced, constant-time
 *
 * The state of four blocks is turned into eight words, one for each bit of
 * a byte: word b holds bit b of all 64 bytes.  SubBytes is then a circuit
 * of XOR and AND over the words, without a look-up in a table, and
 * ShiftRows and MixColumns are rotations.
 *
 * Bit 16 * row + 4 * column + block of a word belongs to that byte of that
 * block.  So a rotation of the word by 16 goes to the next row, and one of
 * all its 16-bit fields by 4 to the next column.
 *
 * ShiftRows is not carried out: in the state after k of them, row r of
 * column c is found at column c + k * r (mod 4).  The next row of the same
 * column is then always k columns further on, from row 3 to row 0 too, for
 * 4 * k is 0; so MixColumns alone has to know k (mod 4), its "phase", and
 * the round keys are laid out to match.  ("Fixslicing": A. Adomnicai and
 * T. Peyrin, IACR TCHES 2021/1.)
 *
 * The affine constant 0x63 of SubBytes is the same in all bytes, which
 * ShiftRows and MixColumns leave as they are, so it is part of the round
 * keys.  Decryption runs the rounds backwards with the very same keys.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/builtin/aes.h"
#include "crypto/base/secure.h"

#define AES_WIDTH 4
#define AES_INLINE __attribute__((always_inline))

typedef uint64_t word;

typedef struct AESSlicedKey {
    word rk[15][8];
    unsigned rounds;
} AESSlicedKey;

/*
 * SubBytes
 *
 * Inversion in GF(2^8) by way of GF(2^4) and GF(2^2), after J. Boyar and
 * R. Peralta, "A small depth-16 circuit for the AES S-box" (SEC 2012).  The
 * middle is non-linear and the same both ways: it takes 22 linear forms of
 * the input and gives 18 products.  The linear layers around it differ;
 * each was found by a search for short straight-line programs.  23 + 63 +
 * 30 gates encrypt, and as many decrypt.  0x63 is left to the round keys.
 */

/* nine pairs of factors and, where it is needed, s[i] = a[i] ^ b[i] */
typedef struct AESForms {
    word a[9], b[9], s[9];
} AESForms;

static inline AES_INLINE void invert(word m[18], const AESForms *f)
{
    word g[9];
    word p0, p3, p6, d, e, u, v, x, y, uv, xy, ux, uy, vx;
    unsigned i;

    /* what is to be inverted in GF(2^4): four bits u, v, x, y */
    p0 = f->a[0] & f->b[0];
    p3 = f->a[3] & f->b[3];
    p6 = f->a[6] & f->b[6];
    d = (f->a[7] & f->b[7]) ^ p6;
    e = (f->a[8] & f->b[8]) ^ p6;
    u = (f->a[1] & f->b[1]) ^ f->s[6] ^ p0 ^ d;
    v = (f->a[2] & f->b[2]) ^ f->s[8] ^ p0 ^ e;
    x = (f->a[4] & f->b[4]) ^ f->s[3] ^ p3 ^ d;
    y = (f->a[5] & f->b[5]) ^ f->s[5] ^ p3 ^ e;

    /* the inverse */
    uv = u ^ v;
    xy = x ^ y;
    ux = u & x;
    uy = u & y;
    vx = v & x;
    g[1] = (xy & vx) ^ xy ^ ux;
    g[2] = y ^ (xy & (v ^ ux));
    g[4] = (uv & uy) ^ uv ^ ux;
    g[5] = v ^ (uv & (y ^ ux));

    /* the sums of its bits that the products take */
    g[0] = g[1] ^ g[2];
    g[3] = g[4] ^ g[5];
    g[6] = g[2] ^ g[5];
    g[8] = g[1] ^ g[4];
    g[7] = g[6] ^ g[8];
#pragma GCC unroll 9
    for (i = 0; i < 9; i++) {
        m[i] = g[i] & f->b[i];
        m[9 + i] = g[i] & f->a[i];
    }
}

static inline AES_INLINE void forms_encrypt(AESForms *f, const word q[8])
{
    word t0, t1;

    f->a[6] = q[7] ^ q[4];
    f->a[8] = q[7] ^ q[2];
    f->a[3] = q[7] ^ q[1];
    f->a[7] = q[4] ^ q[2];
    f->a[0] = f->a[3] ^ f->a[7];
    t0 = q[3] ^ f->a[0];
    f->s[6] = q[6] ^ t0;
    f->b[0] = q[2] ^ t0;
    f->b[1] = q[0] ^ f->b[0];
    f->b[6] = f->a[6] ^ f->s[6];
    f->b[5] = q[0] ^ f->b[6];
    t1 = q[6] ^ q[5];
    f->b[4] = q[0] ^ t1;
    f->a[5] = q[7] ^ f->b[4];
    f->a[2] = q[4] ^ f->b[4];
    f->a[4] = q[1] ^ f->b[4];
    f->a[1] = f->a[8] ^ f->a[4];
    f->b[8] = f->b[0] ^ t1;
    f->s[8] = f->a[8] ^ f->b[8];
    f->b[3] = f->b[6] ^ t1;
    f->s[5] = q[7] ^ f->b[3];
    f->s[3] = q[1] ^ f->s[5];
    f->b[7] = f->b[0] ^ f->b[3];
    f->b[2] = q[0];
}

static inline AES_INLINE void output_encrypt(word q[8], const word m[18])
{
    word t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15,
         t16, t17, t18, t19, t20;

    t0 = m[15] ^ m[16];
    t1 = m[10] ^ t0;
    t2 = m[9] ^ t1;
    t3 = m[4] ^ t2;
    t4 = m[3] ^ t3;
    t5 = m[8] ^ m[12];
    t6 = m[0] ^ m[2];
    t7 = m[0] ^ m[1];
    q[4] = t4 ^ t7;
    t8 = m[6] ^ m[7];
    q[7] = t4 ^ t8;
    t9 = m[3] ^ t6;
    t10 = m[5] ^ t9;
    q[3] = q[4] ^ t10;
    t11 = m[13] ^ t0;
    t12 = m[7] ^ t5;
    t13 = m[4] ^ t12;
    t14 = t10 ^ t11;
    q[0] = m[12] ^ t14;
    t15 = t9 ^ t13;
    q[1] = t14 ^ t15;
    t16 = t2 ^ q[7];
    q[6] = q[4] ^ t16;
    t17 = m[14] ^ t15;
    t18 = m[11] ^ t17;
    q[2] = t1 ^ t18;
    t19 = m[17] ^ t16;
    t20 = m[15] ^ t17;
    q[5] = t19 ^ t20;
}

static inline AES_INLINE void forms_decrypt(AESForms *f, const word q[8])
{
    word t0;

    f->a[8] = q[7] ^ q[6];
    f->a[1] = q[7] ^ q[4];
    f->a[4] = q[6] ^ q[4];
    f->b[1] = q[7] ^ f->a[4];
    f->a[6] = q[4] ^ q[3];
    f->s[5] = q[5] ^ f->a[6];
    f->s[8] = q[3] ^ q[0];
    f->b[4] = q[4] ^ f->s[8];
    f->a[7] = q[3] ^ f->b[1];
    f->a[3] = q[1] ^ f->b[4];
    f->b[8] = f->a[8] ^ f->s[8];
    f->a[5] = f->a[4] ^ f->a[3];
    f->a[2] = f->a[6] ^ f->a[5];
    f->b[5] = q[5] ^ f->a[2];
    f->s[3] = q[1] ^ f->b[5];
    f->a[0] = f->a[1] ^ f->a[2];
    f->b[3] = f->b[4] ^ f->b[5];
    t0 = q[7] ^ q[2];
    f->b[2] = q[5] ^ t0;
    f->b[0] = f->b[1] ^ f->b[2];
    f->s[6] = f->a[5] ^ t0;
    f->b[6] = f->a[6] ^ f->s[6];
    f->b[7] = f->b[8] ^ f->b[6];
}

static inline AES_INLINE void output_decrypt(word q[8], const word m[18])
{
    word t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15,
         t16, t17, t18, t19, t20, t21;

    t0 = m[6] ^ m[15];
    t1 = m[12] ^ t0;
    t2 = m[13] ^ t1;
    t3 = m[16] ^ t2;
    t4 = m[8] ^ t3;
    t5 = m[3] ^ t4;
    q[7] = m[5] ^ t5;
    t6 = m[4] ^ t5;
    t7 = m[1] ^ t6;
    t8 = m[2] ^ m[10];
    t9 = m[0] ^ t4;
    q[4] = m[2] ^ t9;
    t10 = m[7] ^ t6;
    q[1] = m[8] ^ t10;
    t11 = q[7] ^ t9;
    q[2] = t7 ^ t11;
    t12 = m[11] ^ m[17];
    t13 = m[14] ^ t7;
    t14 = t8 ^ t13;
    t15 = m[9] ^ m[15];
    q[0] = t12 ^ t15;
    t16 = m[11] ^ t14;
    q[5] = m[13] ^ t16;
    t17 = m[6] ^ q[5];
    t18 = q[0] ^ t17;
    q[6] = t3 ^ t18;
    t19 = t8 ^ t11;
    t20 = m[16] ^ q[1];
    t21 = t12 ^ t20;
    q[3] = t19 ^ t21;
}

static inline AES_INLINE void sub_bytes(word q[8])
{
    AESForms f;
    word m[18];

    forms_encrypt(&f, q);
    invert(m, &f);
    output_encrypt(q, m);
}

static inline AES_INLINE void inv_sub_bytes(word q[8])
{
    AESForms f;
    word m[18];

    forms_decrypt(&f, q);
    invert(m, &f);
    output_decrypt(q, m);
}

/* MixColumns */

static inline AES_INLINE word rotate_right(word x, unsigned n)
{
    return x >> n | x << (64 - n);
}

/* For every byte the one that is @n columns further on in its row. */
static inline AES_INLINE word next_column(word x, unsigned n)
{
    switch (n % 4) {
    case 1:
        return (x >> 4 & 0x0fff0fff0fff0fff) | (x << 12 & 0xf000f000f000f000);
    case 2:
        return (x >> 8 & 0x00ff00ff00ff00ff) | (x << 8 & 0xff00ff00ff00ff00);
    case 3:
        return (x >> 12 & 0x000f000f000f000f) | (x << 4 & 0xfff0fff0fff0fff0);
    default:
        return x;
    }
}

/* The next row of the same column. */
static inline AES_INLINE word next_row(word x, unsigned phase)
{
    return next_column(rotate_right(x, 16), phase);
}

static inline AES_INLINE word row_after_next(word x, unsigned phase)
{
    return next_column(rotate_right(x, 32), 2 * phase);
}

/*
 * With a0 to a3 the rows from a byte's own on, it becomes
 * 2 * (a0 ^ a1) ^ a1 ^ (a2 ^ a3).
 */
static inline AES_INLINE void mix_columns(word q[8], unsigned phase)
{
    word a1, t[8];
    unsigned i;

#pragma GCC unroll 8
    for (i = 0; i < 8; i++) {
        a1 = next_row(q[i], phase);
        t[i] = q[i] ^ a1;
        q[i] = a1 ^ row_after_next(t[i], phase);
    }
    q[0] ^= t[7];
    q[1] ^= t[0] ^ t[7];
    q[2] ^= t[1];
    q[3] ^= t[2] ^ t[7];
    q[4] ^= t[3] ^ t[7];
    q[5] ^= t[4];
    q[6] ^= t[5];
    q[7] ^= t[6];
}

/* The inverse is a0 ^= 4 * (a0 ^ a2), then MixColumns. */
static inline AES_INLINE void inv_mix_columns(word q[8], unsigned phase)
{
    word t[8], t67;
    unsigned i;

#pragma GCC unroll 8
    for (i = 0; i < 8; i++) {
        t[i] = q[i] ^ row_after_next(q[i], phase);
    }
    t67 = t[6] ^ t[7];
    q[0] ^= t[6];
    q[1] ^= t67;
    q[2] ^= t[0] ^ t[7];
    q[3] ^= t[1] ^ t[6];
    q[4] ^= t[2] ^ t67;
    q[5] ^= t[3] ^ t[7];
    q[6] ^= t[4];
    q[7] ^= t[5];
    mix_columns(q, phase);
}

/* The rounds */

static inline AES_INLINE void add_round_key(word q[8], const word rk[8])
{
    unsigned i;

#pragma GCC unroll 8
    for (i = 0; i < 8; i++) {
        q[i] ^= rk[i];
    }
}

/*
 * All @rounds (10, 12 or 14) of ShiftRows end in phase 2 or 0.  From phase
 * 2 to 0 or back: rows 1 and 3 go two columns on.
 */
static inline AES_INLINE void settle(word q[8], unsigned rounds)
{
    unsigned i;

    if (rounds % 4 == 0) {
        return;
    }
#pragma GCC unroll 8
    for (i = 0; i < 8; i++) {
        word t = (q[i] ^ q[i] >> 8) & 0x00ff000000ff0000;

        q[i] ^= t ^ t << 8;
    }
}

static inline AES_INLINE void encrypt(const AESSlicedKey *key, word q[8])
{
    unsigned r;

    add_round_key(q, key->rk[0]);
    for (r = 1; r < key->rounds; r++) {
        sub_bytes(q);
        switch (r % 4) {
        case 0:
            mix_columns(q, 0);
            break;
        case 1:
            mix_columns(q, 1);
            break;
        case 2:
            mix_columns(q, 2);
            break;
        default:
            mix_columns(q, 3);
            break;
        }
        add_round_key(q, key->rk[r]);
    }
    sub_bytes(q);
    add_round_key(q, key->rk[r]);
    settle(q, r);
}

static inline AES_INLINE void decrypt(const AESSlicedKey *key, word q[8])
{
    unsigned r = key->rounds;

    settle(q, r);
    add_round_key(q, key->rk[r]);
    while (--r) {
        inv_sub_bytes(q);
        add_round_key(q, key->rk[r]);
        switch (r % 4) {
        case 0:
            inv_mix_columns(q, 0);
            break;
        case 1:
            inv_mix_columns(q, 1);
            break;
        case 2:
            inv_mix_columns(q, 2);
            break;
        default:
            inv_mix_columns(q, 3);
            break;
        }
    }
    inv_sub_bytes(q);
    add_round_key(q, key->rk[0]);
}

/* Slicing */

/*
 * A bit of q is numbered by its word and its place in it.  This exchanges
 * the bit of the word's number that is worth @distance with the bit of the
 * place's number that is worth @shift; @mask has the places where that is 0.
 */
static inline AES_INLINE void
exchange(word q[8], unsigned distance, unsigned shift, word mask)
{
    unsigned i;

#pragma GCC unroll 8
    for (i = 0; i < 8; i++) {
        if (!(i & distance)) {
            word t = (q[i] >> shift ^ q[i + distance]) & mask;

            q[i + distance] ^= t;
            q[i] ^= t << shift;
        }
    }
}

/*
 * In come columns 0 and 1 of block k in word k and columns 2 and 3 in word
 * 4 + k.  So the number of a bit is made, from the high end, of
 *
 *     word: c1 k1 k0   place: c0 r1 r0 b2 b1 b0     (column, block, row, bit)
 *
 * and six exchanges lead to
 *
 *     word: b2 b1 b0   place: r1 r0 c1 c0 k1 k0
 */
static inline AES_INLINE void slice(word q[8])
{
    exchange(q, 4, 8, 0x00ff00ff00ff00ff);
    exchange(q, 4, 16, 0x0000ffff0000ffff);
    exchange(q, 4, 32, 0x00000000ffffffff);
    exchange(q, 4, 4, 0x0f0f0f0f0f0f0f0f);
    exchange(q, 2, 2, 0x3333333333333333);
    exchange(q, 1, 1, 0x5555555555555555);
}

static inline AES_INLINE void unslice(word q[8])
{
    exchange(q, 1, 1, 0x5555555555555555);
    exchange(q, 2, 2, 0x3333333333333333);
    exchange(q, 4, 4, 0x0f0f0f0f0f0f0f0f);
    exchange(q, 4, 32, 0x00000000ffffffff);
    exchange(q, 4, 16, 0x0000ffff0000ffff);
    exchange(q, 4, 8, 0x00ff00ff00ff00ff);
}

/* Four bytes need no slicing: bit 0 of each byte of w >> b is its bit b. */
static uint32_t aes_sub_word(uint32_t w)
{
    uint32_t sub = 0x63636363;
    word q[8];
    unsigned b;

#pragma GCC unroll 8
    for (b = 0; b < 8; b++) {
        q[b] = w >> b;
    }
    sub_bytes(q);
#pragma GCC unroll 8
    for (b = 0; b < 8; b++) {
        sub ^= (uint32_t)(q[b] & 0x01010101) << b;
    }
    return sub;
}

static void aes_blocks(const void *key, int dir, uint8_t *dst,
                       const uint8_t *src, const uint8_t *pre,
                       const uint8_t *post, size_t n);

#include "crypto/backend/builtin/aes-modes.h"

static void aes_blocks(const void *key, int dir, uint8_t *dst,
                       const uint8_t *src, const uint8_t *pre,
                       const uint8_t *post, size_t n)
{
    word q[8] = { 0 };
    size_t i;

    for (i = 0; i < n; i++) {
        q[i] = aes_get_le64(src + 16 * i);
        q[4 + i] = aes_get_le64(src + 16 * i + 8);
        if (pre) {
            q[i] ^= aes_get_le64(pre + 16 * i);
            q[4 + i] ^= aes_get_le64(pre + 16 * i + 8);
        }
    }
    slice(q);
    if (dir) {
        decrypt(key, q);
    } else {
        encrypt(key, q);
    }
    unslice(q);
    for (i = 0; i < n; i++) {
        if (post) {
            q[i] ^= aes_get_le64(post + 16 * i);
            q[4 + i] ^= aes_get_le64(post + 16 * i + 8);
        }
        aes_put_le64(dst + 16 * i, q[i]);
        aes_put_le64(dst + 16 * i + 8, q[4 + i]);
    }
}

static void aes_set_key(void *opaque, const uint8_t *k, size_t nkey)
{
    AESSlicedKey *key = opaque;
    uint8_t plain[15][16], moved[4][16] = { 0 };
    word q[8];
    unsigned r, i, j, b;

    key->rounds = aes_expand_key(plain, k, nkey);

    /* four round keys are sliced at once, then each spread to all blocks */
    for (r = 0; r <= key->rounds; r += 4) {
        unsigned n = aes_min(4, key->rounds + 1 - r);

        for (j = 0; j < n; j++) {
            /* in phase r + j, row i % 4 lies that many times its number on */
            for (i = 0; i < 16; i++) {
                moved[j][(i + 4 * (r + j) * (i % 4)) % 16] = plain[r + j][i];
            }
        }
        for (j = 0; j < 4; j++) {
            q[j] = aes_get_le64(moved[j]);
            q[4 + j] = aes_get_le64(moved[j] + 8);
        }
        slice(q);
        for (j = 0; j < n; j++) {
            unsigned affine = r + j ? 0x63 : 0;

            for (b = 0; b < 8; b++) {
                word one_block = q[b] >> j & 0x1111111111111111;

                key->rk[r + j][b] = one_block * 15 ^ -(word)(affine >> b & 1);
            }
        }
    }
    qcrypto_wipe(plain, sizeof(plain));
    qcrypto_wipe(moved, sizeof(moved));
    qcrypto_wipe(q, sizeof(q));
}

const QCryptoAESKernel qcrypto_aes_portable = {
    .name = "aes-portable",
    .key_size = sizeof(AESSlicedKey),
    .tweak_key_size = sizeof(AESSlicedKey),
    .set_key = aes_set_key,
    .set_tweak_key = aes_set_key,
    AES_MODES,
};
