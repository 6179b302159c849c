/*
 * SHA-1 (FIPS 180-4, 6.1), in plain C
 *
 * Unrolled by macros over a window of sixteen message words; the five working
 * variables change their names from round to round instead of their places.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/builtin/sha.h"
#include "crypto/base/bytes.h"
#include "crypto/base/secure.h"

#define ROL(x, n) ((x) << (n) | (x) >> (32 - (n)))

#define CHOOSE(b, c, d) ((((c) ^ (d)) & (b)) ^ (d))
#define PARITY(b, c, d) ((b) ^ (c) ^ (d))
/* the two terms never have a bit in common: + is |, and adds in any order */
#define MAJORITY(b, c, d) (((b) & (c)) + (((b) ^ (c)) & (d)))

/* Word t of the message, made in the place of word t - 16. */
#define LOADED(t) (w[t] = qcrypto_get_be32(p + 4 * (t)))
#define EXPANDED(t)                                                            \
    (w[(t) & 15] = ROL(w[((t) + 13) & 15] ^ w[((t) + 8) & 15] ^                \
                           w[((t) + 2) & 15] ^ w[(t) & 15],                    \
                       1))

#define ROUND(a, b, c, d, e, f, k, word)                                       \
    do {                                                                       \
        e += ROL(a, 5) + f(b, c, d) + (k) + (word);                            \
        b = ROL(b, 30);                                                        \
    } while (0)

#define FIVE(f, k, word, t)                                                    \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, k, word((t)));                                 \
        ROUND(e, a, b, c, d, f, k, word((t) + 1));                             \
        ROUND(d, e, a, b, c, f, k, word((t) + 2));                             \
        ROUND(c, d, e, a, b, f, k, word((t) + 3));                             \
        ROUND(b, c, d, e, a, f, k, word((t) + 4));                             \
    } while (0)

#define TWENTY(f, k, t)                                                        \
    do {                                                                       \
        FIVE(f, k, EXPANDED, t);                                               \
        FIVE(f, k, EXPANDED, (t) + 5);                                         \
        FIVE(f, k, EXPANDED, (t) + 10);                                        \
        FIVE(f, k, EXPANDED, (t) + 15);                                        \
    } while (0)

static void blocks(QCryptoSHAState *state, const uint8_t *p, size_t n)
{
    uint32_t *h = state->w32;
    uint32_t w[16];

    for (; n; n--, p += 64) {
        uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

        FIVE(CHOOSE, 0x5a827999, LOADED, 0);
        FIVE(CHOOSE, 0x5a827999, LOADED, 5);
        FIVE(CHOOSE, 0x5a827999, LOADED, 10);
        ROUND(a, b, c, d, e, CHOOSE, 0x5a827999, LOADED(15));
        ROUND(e, a, b, c, d, CHOOSE, 0x5a827999, EXPANDED(16));
        ROUND(d, e, a, b, c, CHOOSE, 0x5a827999, EXPANDED(17));
        ROUND(c, d, e, a, b, CHOOSE, 0x5a827999, EXPANDED(18));
        ROUND(b, c, d, e, a, CHOOSE, 0x5a827999, EXPANDED(19));
        TWENTY(PARITY, 0x6ed9eba1, 20);
        TWENTY(MAJORITY, 0x8f1bbcdc, 40);
        TWENTY(PARITY, 0xca62c1d6, 60);

        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
    }
    qcrypto_wipe(w, sizeof(w));
}

const QCryptoSHAKernel qcrypto_sha1_portable = {
    .blocks = blocks,
    .max_lanes = 1,
};
