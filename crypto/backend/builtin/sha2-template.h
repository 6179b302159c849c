/*
 * The compression function of SHA-2 in plain C: a template over the word
 *
 * Before it is included: WORD, WORD_BITS, ROUNDS, K (the table), LOAD (a word
 * from big-endian bytes) and the amounts of the six rotations and shifts of
 * FIPS 180-4, 4.1.2 or 4.1.3, as X(n1, n2, n3): BIG_0 BIG_1 SMALL_0 SMALL_1
 * (the last number of the small ones is a shift).
 *
 * Sixteen rounds are unrolled, which is one turn of the window of message
 * words; the working variables change names, not places.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define ROR(x, n) ((x) >> (n) | (x) << (WORD_BITS - (n)))
#define ROTATED(x, l, m, n) (ROR(x, l) ^ ROR(x, m) ^ ROR(x, n))
#define SHIFTED(x, l, m, n) (ROR(x, l) ^ ROR(x, m) ^ (x) >> (n))
/* the amounts are one macro argument until here */
#define ROTATE(x, amounts) ROTATE_BY(x, amounts)
#define ROTATE_BY(x, ...) ROTATED(x, __VA_ARGS__)
#define SHIFT(x, amounts) SHIFT_BY(x, amounts)
#define SHIFT_BY(x, ...) SHIFTED(x, __VA_ARGS__)

#define LOADED(i) (w[i] = LOAD(p + (i) * sizeof(WORD)))
#define EXPANDED(i)                                                            \
    (w[i] += SHIFT(w[((i) + 14) & 15], SMALL_1) + w[((i) + 9) & 15] +          \
             SHIFT(w[((i) + 1) & 15], SMALL_0))

/* majority: ab of this round is bc of the next */
#define ROUND(a, b, c, d, e, f, g, h, word, i)                                 \
    do {                                                                       \
        h += ROTATE(e, BIG_1) + ((((f) ^ (g)) & (e)) ^ (g)) + k[i] + (word);   \
        d += h;                                                                \
        ab = (a) ^ (b);                                                        \
        h += ROTATE(a, BIG_0) + ((ab & bc) ^ (b));                             \
        bc = ab;                                                               \
    } while (0)

#define EIGHT(word, i)                                                         \
    do {                                                                       \
        ROUND(a, b, c, d, e, f, g, h, word((i)), (i));                         \
        ROUND(h, a, b, c, d, e, f, g, word((i) + 1), (i) + 1);                 \
        ROUND(g, h, a, b, c, d, e, f, word((i) + 2), (i) + 2);                 \
        ROUND(f, g, h, a, b, c, d, e, word((i) + 3), (i) + 3);                 \
        ROUND(e, f, g, h, a, b, c, d, word((i) + 4), (i) + 4);                 \
        ROUND(d, e, f, g, h, a, b, c, word((i) + 5), (i) + 5);                 \
        ROUND(c, d, e, f, g, h, a, b, word((i) + 6), (i) + 6);                 \
        ROUND(b, c, d, e, f, g, h, a, word((i) + 7), (i) + 7);                 \
    } while (0)

static void COMPRESS(WORD *state, const uint8_t *p, size_t n)
{
    WORD w[16];

    for (; n; n--, p += sizeof(w)) {
        WORD a = state[0], b = state[1], c = state[2], d = state[3];
        WORD e = state[4], f = state[5], g = state[6], h = state[7];
        const WORD *k = K;
        WORD ab, bc = b ^ c;

        EIGHT(LOADED, 0);
        EIGHT(LOADED, 8);
        for (k += 16; k < K + ROUNDS; k += 16) {
            EIGHT(EXPANDED, 0);
            EIGHT(EXPANDED, 8);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
    qcrypto_wipe(w, sizeof(w));
}

#undef WORD
#undef WORD_BITS
#undef ROUNDS
#undef K
#undef LOAD
#undef BIG_0
#undef BIG_1
#undef SMALL_0
#undef SMALL_1
#undef COMPRESS
#undef ROR
#undef ROTATED
#undef SHIFTED
#undef ROTATE
#undef ROTATE_BY
#undef SHIFT
#undef SHIFT_BY
#undef LOADED
#undef EXPANDED
#undef ROUND
#undef EIGHT
