/*
 * ChaCha on vectors: a template over the vector length
 *
 * A kernel file defines LANES, the 32-bit words of a vector (4, 8 or 16), and
 * KERNEL, the name of its QCryptoChaChaOps[QCRYPTO_CHACHA_ALGO__MAX]; it
 * includes this file for the types, defines the operations declared below,
 * and includes it a second time for the rest.
 *
 * There are two ways to lay blocks into vectors:
 *
 *   wide   word i of LANES blocks is a vector, 16 vectors are LANES blocks:
 *          no shuffle in the rounds, a transposition at the end.  For bulk.
 *   quads  a row of the 4 x 4 state is four lanes of a vector, so that four
 *          vectors are LANES / 4 blocks; the diagonals are made by rotating
 *          the rows.  One quad is as quick as one block can be; two side by
 *          side take little longer.
 *
 * Either way a pass ends with the keystream as vectors in the order of
 * memory, and v_put() stores as much of them as is wanted.  Nothing is read
 * or written outside of the message.
 *
 * Where a vector unit has 16 registers (HAVE_V_PAIR), the state of a wide
 * pass fills them all.  Then quarter-rounds go in pairs, and of the third row
 * only the two words that a pair works on are in registers: two pairs in
 * succession use the same two, so that a double round moves four vectors out
 * and four in.  With 32 registers all four quarter-rounds go in step.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_CHACHA_TEMPLATE_H
#define QCRYPTO_BUILTIN_CHACHA_TEMPLATE_H

#include "crypto/backend/builtin/chacha.h"
#include "crypto/base/secure.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    BLOCK = 64,
    VBYTES = 4 * LANES,
    QUAD = 4 * VBYTES,  /* bytes of a quad */
    WIDE = 16 * VBYTES, /* bytes of a wide pass */
};

typedef uint32_t V __attribute__((vector_size(4 * LANES)));
/* the same bytes as 64-bit numbers, and at any address */
typedef uint64_t V64 __attribute__((vector_size(4 * LANES)));
typedef uint32_t VMem
    __attribute__((vector_size(4 * LANES), aligned(1), may_alias));

INLINE V v_load(const void *p)
{
    return *(const VMem *)p;
}

INLINE void v_store(void *p, V x)
{
    *(VMem *)p = x;
}

INLINE V v_splat(uint32_t x)
{
    return x - (V){0};
}

/* ---- what a kernel file defines ---- */

/* The word at p in all lanes; the 16 bytes at p in every four lanes. */
INLINE V v_word(const uint32_t *p);
INLINE V v_row(const void *p);

INLINE V v_rotl16(V x);
INLINE V v_rotl12(V x);
INLINE V v_rotl8(V x);
INLINE V v_rotl7(V x);

/* Lane i of each four becomes lane i + n modulo 4. */
INLINE V v_shuffle1(V x);
INLINE V v_shuffle2(V x);
INLINE V v_shuffle3(V x);

/* x[i] is word i of LANES blocks; becomes the blocks in memory order. */
INLINE void v_transpose(V x[16]);

/* x[i] is row i of LANES / 4 blocks; becomes the blocks in memory order. */
INLINE void v_quad(V x[4]);

/* n bytes of x, 0 < n < VBYTES, xored with those at in unless it is NULL */
INLINE void v_put_part(uint8_t *out, const uint8_t *in, V x, size_t n);

/*
 * If HAVE_V_PAIR: two quarter-rounds on 16 registers, side by side, as
 *     void v_pair(V *a, V *b, V *c, V *d, V *e, V *f, V *g, V *h)
 */

#else /* the second inclusion */

/* A part of a vector, where there are no masked moves. */
#ifndef HAVE_V_PUT_PART
INLINE void v_put_part(uint8_t *out, const uint8_t *in, V x, size_t n)
{
    uint8_t buf[VBYTES];

    v_store(buf, x);
    for (size_t i = 0; i < n; i++) {
        out[i] = buf[i] ^ (in ? in[i] : 0);
    }
    qcrypto_wipe(buf, sizeof(buf));
}
#endif

/* n whole vectors; in may be out */
INLINE void v_put_whole(uint8_t *out, const uint8_t *in, const V *x, size_t n)
{
    if (in) {
#pragma GCC unroll 16
        for (size_t i = 0; i < n; i++) {
            v_store(out + i * VBYTES, x[i] ^ v_load(in + i * VBYTES));
        }
    } else {
#pragma GCC unroll 16
        for (size_t i = 0; i < n; i++) {
            v_store(out + i * VBYTES, x[i]);
        }
    }
}

/* The first len bytes of n vectors; len <= n * VBYTES. */
INLINE void v_put(uint8_t *out, const uint8_t *in, const V *x, size_t n,
                  size_t len)
{
#pragma GCC unroll 16
    for (size_t i = 0; i < n; i++) {
        /* done <= len: the loop has not ended before */
        const size_t done = i * VBYTES;
        const uint8_t *from = in ? in + done : NULL;

        if (len - done < VBYTES) {
            if (len != done) {
                v_put_part(out + done, from, x[i], len - done);
            }
            return;
        }
        v_put_whole(out + done, from, x + i, 1);
    }
}

/* A quarter of a quarter-round (RFC 8439, 2.1): a += b, d = (d ^ a) <<< n. */
#define STEP(a, b, d, rotl)                                                    \
    do {                                                                       \
        (a) += (b);                                                            \
        (d) = rotl((d) ^ (a));                                                 \
    } while (0)

#ifdef HAVE_V_PAIR

/* What the compiler has to keep in memory, and nothing else there. */
#define IN_MEMORY(v) __asm__ volatile("" : "+m"(v))

INLINE void wide_rounds(V x[16], int rounds)
{
    V c = x[8], g = x[9];
    V parked[4];

    parked[2] = x[10];
    parked[3] = x[11];
    for (int i = 0; i < rounds; i += 2) {
        v_pair(&x[0], &x[4], &c, &x[12], &x[1], &x[5], &g, &x[13]);
        parked[0] = c;
        parked[1] = g;
        IN_MEMORY(parked);
        c = parked[2];
        g = parked[3];
        v_pair(&x[2], &x[6], &c, &x[14], &x[3], &x[7], &g, &x[15]);
        v_pair(&x[0], &x[5], &c, &x[15], &x[1], &x[6], &g, &x[12]);
        parked[2] = c;
        parked[3] = g;
        IN_MEMORY(parked);
        c = parked[0];
        g = parked[1];
        v_pair(&x[2], &x[7], &c, &x[13], &x[3], &x[4], &g, &x[14]);
    }
    x[8] = c;
    x[9] = g;
    x[10] = parked[2];
    x[11] = parked[3];
}

#else

/* The same step of four quarter-rounds, which begin in one row each. */
#define STEP_4(x, a0, a1, a2, a3, b0, b1, b2, b3, d0, d1, d2, d3, rotl)        \
    do {                                                                       \
        STEP(x[a0], x[b0], x[d0], rotl);                                       \
        STEP(x[a1], x[b1], x[d1], rotl);                                       \
        STEP(x[a2], x[b2], x[d2], rotl);                                       \
        STEP(x[a3], x[b3], x[d3], rotl);                                       \
    } while (0)

INLINE void wide_rounds(V x[16], int rounds)
{
    for (int i = 0; i < rounds; i += 2) {
        STEP_4(x, 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, v_rotl16);
        STEP_4(x, 8, 9, 10, 11, 12, 13, 14, 15, 4, 5, 6, 7, v_rotl12);
        STEP_4(x, 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, v_rotl8);
        STEP_4(x, 8, 9, 10, 11, 12, 13, 14, 15, 4, 5, 6, 7, v_rotl7);

        STEP_4(x, 0, 1, 2, 3, 5, 6, 7, 4, 15, 12, 13, 14, v_rotl16);
        STEP_4(x, 10, 11, 8, 9, 15, 12, 13, 14, 5, 6, 7, 4, v_rotl12);
        STEP_4(x, 0, 1, 2, 3, 5, 6, 7, 4, 15, 12, 13, 14, v_rotl8);
        STEP_4(x, 10, 11, 8, 9, 15, 12, 13, 14, 5, 6, 7, 4, v_rotl7);
    }
}

#endif

/* LANES blocks of keystream from the one numbered ctr on, word by word. */
INLINE void wide(V x[16], const uint32_t st[16], uint64_t ctr, int rounds)
{
    static const uint32_t iota[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                      8, 9, 10, 11, 12, 13, 14, 15};
    const V base = v_splat((uint32_t)ctr);
    const V lo = base + v_load(iota);
    /* a lane whose low word has wrapped: all ones, that is -1 */
    const V hi = v_splat((uint32_t)(ctr >> 32)) - (V)(lo < base);

#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
        x[i] = i == 12 ? lo : i == 13 ? hi : v_word(st + i);
    }
    wide_rounds(x, rounds);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
        x[i] += i == 12 ? lo : i == 13 ? hi : v_word(st + i);
    }
}

#define EACH_QUAD(q) _Pragma("GCC unroll 2") for (size_t q = 0; q < n; q++)

/* The keystream of n quads, n * LANES / 4 blocks; n is 1 or 2. */
INLINE void quads(V *x, size_t n, const uint32_t st[16], uint64_t ctr,
                  int rounds)
{
    /* added to the last row as 64-bit numbers: block i has the counter + i */
    static const uint64_t iota[8] = {0, 0, 1, 0, 2, 0, 3, 0};
    static const uint64_t next[8] = {LANES / 4, 0, LANES / 4, 0,
                                     LANES / 4, 0, LANES / 4, 0};
    const uint64_t last[2] = {ctr, st[14] | (uint64_t)st[15] << 32};
    const V a = v_row(st), b = v_row(st + 4), c = v_row(st + 8);
    V d[2];

    d[0] = (V)((V64)v_row(last) + (V64)v_load(iota));
    d[1] = (V)((V64)d[0] + (V64)v_load(next));
    EACH_QUAD(q)
    {
        x[4 * q] = a;
        x[4 * q + 1] = b;
        x[4 * q + 2] = c;
        x[4 * q + 3] = d[q];
    }

    for (int i = 0; i < rounds; i++) {
        EACH_QUAD(q) STEP(x[4 * q], x[4 * q + 1], x[4 * q + 3], v_rotl16);
        EACH_QUAD(q) STEP(x[4 * q + 2], x[4 * q + 3], x[4 * q + 1], v_rotl12);
        EACH_QUAD(q) STEP(x[4 * q], x[4 * q + 1], x[4 * q + 3], v_rotl8);
        EACH_QUAD(q) STEP(x[4 * q + 2], x[4 * q + 3], x[4 * q + 1], v_rotl7);
        /*
         * Columns become diagonals, and back.  The second row, whose value
         * comes last, stays where it is and the other three move: off the
         * critical path.
         */
        EACH_QUAD(q)
        {
            V *const y = x + 4 * q;

            y[0] = i % 2 ? v_shuffle1(y[0]) : v_shuffle3(y[0]);
            y[2] = i % 2 ? v_shuffle3(y[2]) : v_shuffle1(y[2]);
            y[3] = v_shuffle2(y[3]);
        }
    }
    EACH_QUAD(q)
    {
        x[4 * q] += a;
        x[4 * q + 1] += b;
        x[4 * q + 2] += c;
        x[4 * q + 3] += d[q];
        v_quad(x + 4 * q);
    }
}

INLINE uint64_t counter(const uint32_t st[16])
{
    return st[12] | (uint64_t)st[13] << 32;
}

/*
 * A pass, and what is wanted of it.  Arrays of vectors are local to each, or
 * compilers do not see that they need no memory.
 */

INLINE void pass_wide(const uint32_t st[16], uint64_t ctr, const uint8_t *in,
                      uint8_t *out, size_t len, int rounds)
{
    V x[16];

    wide(x, st, ctr, rounds);
    v_transpose(x);
    if (len >= WIDE) {
        v_put_whole(out, in, x, 16);
    } else {
        v_put(out, in, x, 16, len);
    }
}

INLINE void pass_quads(size_t n, const uint32_t st[16], uint64_t ctr,
                       const uint8_t *in, uint8_t *out, size_t len, int rounds)
{
    V x[8];

    quads(x, n, st, ctr, rounds);
    v_put(out, in, x, 4 * n, len);
}

INLINE void run(const uint32_t st[16], const uint8_t *in, uint8_t *out,
                size_t len, int rounds)
{
    uint64_t ctr = counter(st);

    for (; len >= WIDE; len -= WIDE) {
        pass_wide(st, ctr, in, out, WIDE, rounds);
        ctr += LANES;
        in = in ? in + WIDE : NULL;
        out += WIDE;
    }
    if (len > 2 * QUAD) {
        pass_wide(st, ctr, in, out, len, rounds);
    } else if (len > QUAD) {
        pass_quads(2, st, ctr, in, out, len, rounds);
    } else if (len) {
        pass_quads(1, st, ctr, in, out, len, rounds);
    }
}

INLINE void run_words(const uint32_t st[16], uint8_t *out, size_t ngroups,
                      int rounds)
{
    uint64_t ctr = counter(st);

    for (; ngroups; ngroups--) {
        for (size_t lane = 0; lane < 16; lane += LANES) {
            V x[16];

            wide(x, st, ctr, rounds);
#pragma GCC unroll 16
            for (size_t i = 0; i < 16; i++) {
                v_store(out + BLOCK * i + 4 * lane, x[i]);
            }
            ctr += LANES;
        }
        out += 16 * BLOCK;
    }
}

QCRYPTO_CHACHA_KERNEL(KERNEL, run, run_words)

#endif
