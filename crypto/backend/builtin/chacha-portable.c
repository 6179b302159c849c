/*
 * ChaCha in plain C: one block after the other
 *
 * The reference that the vector kernels are tested against, and what runs
 * where there is none of them; any endianness, any alignment.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/builtin/chacha.h"
#include "crypto/base/bytes.h"
#include "crypto/base/secure.h"

enum { BLOCK = 64 };

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t rotl(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

/* RFC 8439, 2.1 */
INLINE void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b, *d = rotl(*d ^ *a, 16);
    *c += *d, *b = rotl(*b ^ *c, 12);
    *a += *b, *d = rotl(*d ^ *a, 8);
    *c += *d, *b = rotl(*b ^ *c, 7);
}

/* The block of st; leaves st as that of the next one. */
INLINE void next_block(uint32_t x[16], uint32_t st[16], int rounds)
{
    memcpy(x, st, 16 * sizeof(*x));
    for (int i = 0; i < rounds; i += 2) {
        quarter(&x[0], &x[4], &x[8], &x[12]);
        quarter(&x[1], &x[5], &x[9], &x[13]);
        quarter(&x[2], &x[6], &x[10], &x[14]);
        quarter(&x[3], &x[7], &x[11], &x[15]);
        quarter(&x[0], &x[5], &x[10], &x[15]);
        quarter(&x[1], &x[6], &x[11], &x[12]);
        quarter(&x[2], &x[7], &x[8], &x[13]);
        quarter(&x[3], &x[4], &x[9], &x[14]);
    }
    for (int i = 0; i < 16; i++) {
        x[i] += st[i];
    }
    st[12]++;
    st[13] += st[12] == 0;
}

INLINE void run(const uint32_t start[16], const uint8_t *in, uint8_t *out,
                size_t len, int rounds)
{
    uint32_t st[16], x[16];
    uint8_t key[BLOCK];

    memcpy(st, start, sizeof(st));
    while (len) {
        const size_t n = len < BLOCK ? len : BLOCK;

        next_block(x, st, rounds);
        qcrypto_put_le32s(key, x, 16);
        for (size_t i = 0; i < n; i++) {
            out[i] = key[i] ^ (in ? in[i] : 0);
        }
        in = in ? in + n : NULL;
        out += n;
        len -= n;
    }
    qcrypto_wipe(key, sizeof(key));
    qcrypto_wipe(x, sizeof(x));
    qcrypto_wipe(st, sizeof(st));
}

INLINE void run_words(const uint32_t start[16], uint8_t *out, size_t ngroups,
                      int rounds)
{
    uint32_t st[16], x[16];

    memcpy(st, start, sizeof(st));
    for (; ngroups; ngroups--) {
        for (size_t b = 0; b < 16; b++) {
            next_block(x, st, rounds);
            for (size_t w = 0; w < 16; w++) {
                qcrypto_put_le32(out + BLOCK * w + 4 * b, x[w]);
            }
        }
        out += 16 * BLOCK;
    }
    qcrypto_wipe(x, sizeof(x));
    qcrypto_wipe(st, sizeof(st));
}

QCRYPTO_CHACHA_KERNEL(qcrypto_chacha_portable, run, run_words)
