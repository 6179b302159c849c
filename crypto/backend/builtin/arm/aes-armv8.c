/*
 * AES with the instructions of ARMv8
 *
 * AESE is AddRoundKey, ShiftRows and SubBytes in this order, AESMC is
 * MixColumns; cores fuse the two when one follows the other on the same
 * register.  So a round begins with its key rather than ends with it, and
 * the last key is left to an XOR.  AESD and AESIMC do the same for the
 * equivalent inverse cipher.
 *
 * A pair takes a few cycles and cores start one or two a cycle: eight
 * independent blocks fill them, and leave registers for the round key.
 *
 * Compiled with -march=armv8-a+crypto.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <arm_neon.h>

#include "crypto/backend/builtin/aes.h"
#include "crypto/base/secure.h"

#define AES_WIDTH 8
#define AES_INLINE __attribute__((always_inline))

/*
 * For each of the @n blocks, unrolled.  n is constant in every call, so that
 * b[] is registers; clang 14 leaves the array in memory when the loop itself
 * ends at n.
 */
#define AES_EACH_BLOCK(i, n) \
    _Pragma("GCC unroll 8") for (i = 0; i < AES_WIDTH; i++) \
        if (i < (n))

static inline AES_INLINE void
aes_rounds(const QCryptoAESKey *key, int dir, uint8_t *dst,
           const uint8_t *src, const uint8_t *pre, const uint8_t *post,
           size_t n)
{
    const uint8_t (*rk)[16] = dir ? key->dec : key->enc;
    unsigned last = key->rounds - 1;
    uint8x16_t b[AES_WIDTH], k;
    unsigned r;
    size_t i;

    AES_EACH_BLOCK(i, n) {
        b[i] = vld1q_u8(src + 16 * i);
        if (pre) {
            b[i] = veorq_u8(b[i], vld1q_u8(pre + 16 * i));
        }
    }
    for (r = 0; r < last; r++) {
        k = vld1q_u8(rk[r]);
        AES_EACH_BLOCK(i, n) {
            b[i] = dir ? vaesimcq_u8(vaesdq_u8(b[i], k))
                       : vaesmcq_u8(vaeseq_u8(b[i], k));
        }
    }
    k = vld1q_u8(rk[last]);
    AES_EACH_BLOCK(i, n) {
        b[i] = dir ? vaesdq_u8(b[i], k) : vaeseq_u8(b[i], k);
    }
    k = vld1q_u8(rk[last + 1]);
    AES_EACH_BLOCK(i, n) {
        b[i] = veorq_u8(b[i], k);
        if (post) {
            b[i] = veorq_u8(b[i], vld1q_u8(post + 16 * i));
        }
        vst1q_u8(dst + 16 * i, b[i]);
    }
}

/* Fewer blocks than eight are four, two and one, where @n has the bit. */
static inline AES_INLINE void
aes_blocks(const void *key, int dir, uint8_t *dst, const uint8_t *src,
           const uint8_t *pre, const uint8_t *post, size_t n)
{
    size_t done = 0;

    if (n == 8) {
        aes_rounds(key, dir, dst, src, pre, post, 8);
        return;
    }
    if (n & 4) {
        aes_rounds(key, dir, dst, src, pre, post, 4);
        done = 64;
    }
    if (n & 2) {
        aes_rounds(key, dir, dst + done, src + done, pre ? pre + done : NULL,
                   post ? post + done : NULL, 2);
        done += 32;
    }
    if (n & 1) {
        aes_rounds(key, dir, dst + done, src + done, pre ? pre + done : NULL,
                   post ? post + done : NULL, 1);
    }
}

/*
 * With a zero key AESE is ShiftRows and SubBytes, and ShiftRows moves
 * nothing while the four columns are equal.
 */
static uint32_t aes_sub_word(uint32_t w)
{
    uint8x16_t columns = vreinterpretq_u8_u32(vdupq_n_u32(w));

    columns = vaeseq_u8(columns, vdupq_n_u8(0));
    return vgetq_lane_u32(vreinterpretq_u32_u8(columns), 0);
}

#include "crypto/backend/builtin/aes-modes.h"

static void aes_set_key(void *opaque, const uint8_t *k, size_t nkey)
{
    QCryptoAESKey *key = opaque;
    unsigned rounds, r;

    rounds = key->rounds = aes_expand_key(key->enc, k, nkey);
    memcpy(key->dec[0], key->enc[rounds], 16);
    for (r = 1; r < rounds; r++) {
        vst1q_u8(key->dec[r], vaesimcq_u8(vld1q_u8(key->enc[rounds - r])));
    }
    memcpy(key->dec[rounds], key->enc[0], 16);
}

const QCryptoAESKernel qcrypto_aes_armv8 = {
    .name = "aes-armv8",
    .key_size = sizeof(QCryptoAESKey),
    .tweak_key_size = sizeof(QCryptoAESKey),
    .set_key = aes_set_key,
    .set_tweak_key = aes_set_key,
    AES_MODES,
};
