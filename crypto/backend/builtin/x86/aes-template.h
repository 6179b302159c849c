/*
 * The modes of AES on AES instructions: a template over the vector length
 *
 * A kernel file defines the vector type V of LANES blocks with its few
 * operations (v_load, v_xor, v_shl64, ...) and the texts of the pinned
 * assembly, then includes this file once and has the whole kernel.
 *
 * Everything comes down to one pass: up to eight vectors are read, whitened,
 * sent through the rounds side by side and written.  Eight hide the latency
 * of the AES units.  A pass is always inlined with its mode, direction,
 * round count and width constant, so that one text serves them all:
 *
 *     mode          input of the cipher    xored to its output
 *     ECB           data                   -
 *     CBC decrypt   data                   previous ciphertext
 *     CTR           counters               data
 *     XTS           data ^ tweaks          tweaks
 *
 * What is xored to the output goes into the last round key beforehand, off
 * the critical path.  The rest of a message shorter than eight vectors is
 * one pass as well, of one, two, four or eight vectors, those that would
 * reach beyond the end being moved back to end with it: they repeat blocks
 * that others do too, which is harmless since a pass reads all before it
 * writes any.  So nothing is ever read or written outside of the message.
 *
 * XTS needs a new tweak for every block, that is one doubling in GF(2^128).
 * Vector doublings would compete with the AES rounds for the vector units,
 * so the tweaks come from the integer units, which have nothing else to do:
 * a chain of doublings in two general registers, woven between the rounds of
 * a batch, fills a ring of three batches of tweaks in the L1 cache.  It runs
 * two batches ahead of its reader, since two 8-byte stores must have reached
 * the cache before a vector load finds them (such loads are not forwarded
 * from the stores).  Where the data units are whole batches, the chain goes
 * over from one unit to the next without stopping.  Only the first batch,
 * whose tweaks are waited for, is made by vector arithmetic.  After the last
 * tweak the chain goes on with zeros: the ring is erased as it was filled.
 *
 * The hot loop of XTS is assembly because compilers disagree on its order by
 * 20 percent; its text is the same for all vector lengths but for the few
 * ASM_ macros of the kernel file.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_X86_AES_TEMPLATE_H
#define QCRYPTO_BUILTIN_X86_AES_TEMPLATE_H

#include "aes-keys.h"

#include <string.h>

/*
 * Without the check for pointer overflow UBSan builds as fast as it should;
 * with it, clang needs minutes for a file.
 */
#define INLINE                                                              \
    static inline                                                           \
    __attribute__((always_inline, no_sanitize("pointer-overflow")))

enum {
    BLOCK = 16,
    VBYTES = LANES * BLOCK,
    WIDTH = 8,                          /* vectors in a full pass */
    BATCH_BLOCKS = WIDTH * LANES,
    BATCH = WIDTH * VBYTES,
    XTS_BLOCKS = XTS_WIDTH * LANES,     /* the same for whole passes of XTS */
    XTS_BATCH = XTS_WIDTH * VBYTES,
};

enum { ENC, DEC };
/* aligned: whole passes, the first counter a multiple of BATCH_BLOCKS */
enum { ECB, CBC_DEC, CTR, CTR_ALIGNED, XTS };

typedef uint8_t KeyBytes[BLOCK];

/* ---- the state of the modes ---- */

/* XTS: the tweak to come, as two little-endian halves */
typedef struct Tweak {
    uint64_t lo, hi;
} Tweak;

typedef struct Pass {
    V prev;             /* CBC: its last block precedes the pass */
    V ctr;              /* CTR: counters of the first vector, little-endian */
    const uint8_t *tw;  /* XTS: tweaks of the pass */
} Pass;

INLINE uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, 8);
    return v;
}

INLINE void store64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

/*
 * Clear len bytes of the stack, a multiple of VBYTES, without calling memset
 * (short calls would feel it).
 */
INLINE void wipe(uint8_t *p, size_t len)
{
    const V zero = v_zero();

    for (size_t i = 0; i < len; i += VBYTES) {
        v_store(p + i, zero);
        __asm__ volatile("" : : "r"(p) : "memory");
    }
}

/*
 * Store tweak number j of a batch, then double it.  cqto spreads the bit that
 * is shifted out over rdx; the low half takes its reduction by
 * x^128 + x^7 + x^2 + x + 1.
 */
#define ASM_STEP(j)                                                         \
    "cqto\n\t"                                                              \
    "movq %[lo], 16 * (" #j ")(%[ring])\n\t"                                \
    "andl $0x87, %%edx\n\t"                                                 \
    "addq %[lo], %[lo]\n\t"                                                 \
    "movq %[hi], 16 * (" #j ") + 8(%[ring])\n\t"                            \
    "adcq %[hi], %[hi]\n\t"                                                 \
    "xorq %%rdx, %[lo]\n\t"

#define ASM_CHAIN(t, mask)                                                  \
    [lo] "+r"((t)->lo), [hi] "+a"((t)->hi), "=&d"(mask)

/* t times x^k, 0 < k < 57 */
INLINE void tweak_jump(Tweak *t, const unsigned k)
{
    uint64_t c = t->hi >> (64 - k);

    t->hi = t->hi << k | t->lo >> (64 - k);
    t->lo = t->lo << k ^ c ^ c << 1 ^ c << 2 ^ c << 7;
}

/*
 * Vector i of the tweaks that begin with the one in all lanes of t: lane j
 * times x^(i * LANES + j)
 */
#define tweak_vector(t, i)                                                  \
    tweak_reduce(v_shl_lanes(t, i), v_shr_lanes(t, i))

INLINE V tweak_reduce(V shifted, V out)
{
    /* What leaves a half goes up, or is reduced: times 0x87 into the low. */
    V c = v_swap64(out);
    V r = v_low64(c);
    V r2 = v_add64(r, r);

    r2 = v_xor(r2, v_add64(r2, r2));
    return v_xor(v_xor(shifted, c), v_xor(r2, v_shl64(r, 7)));
}

/* ---- the pass ---- */

/*
 * A round key in all lanes of k.  It is read anew each time: compilers would
 * lift keys out of loops, only to leave copies of them on the stack.
 */
#define LOAD_KEY(to, from)                                                  \
    __asm__ volatile(ASM_LOAD_KEY("%[m]", "%[k]")                           \
                     : [k] ASM_OUT(to) : [m] "m"(from))
#define LOAD_KEY_128(to, from)                                              \
    __asm__ volatile(ASM_LOAD_KEY_128("%[m]", "%[k]")                       \
                     : [k] "=x"(to) : [m] "m"(from))

/*
 * FOR_W(M): M(0) to M(w - 1) for a constant w.  w is 0 for a single vector
 * that is not whole.
 */
#define FOR_W(M)                                                            \
    do {                                                                    \
        M(0)                                                                \
        if (w > 1) {                                                        \
            M(1)                                                            \
        }                                                                   \
        if (w > 2) {                                                        \
            M(2) M(3)                                                       \
        }                                                                   \
        if (w > 4) {                                                        \
            M(4) M(5) M(6) M(7)                                             \
        }                                                                   \
    } while (0)

/* All rounds but the last */
#define ROUNDS(M)                                                           \
    M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)                            \
    if (rounds > 10) {                                                      \
        M(10) M(11)                                                         \
    }                                                                       \
    if (rounds > 12) {                                                      \
        M(12) M(13)                                                         \
    }

/* Where vector i of a pass of w begins: none may reach beyond len */
INLINE size_t pass_at(const unsigned w, const size_t i, const size_t len)
{
    size_t at = i * VBYTES;

    if (w <= 1) {
        return 0;
    }
    return at > len - VBYTES ? len - VBYTES : at;
}

#define AT(i) pass_at(w, i, len)

/* One round of w vectors, in one piece for the same reason */
#define PINNED_1(AES) AES("%[t]", "%[x0]")
#define PINNED_2(AES) PINNED_1(AES) AES("%[t]", "%[x1]")
#define PINNED_4(AES) PINNED_2(AES) AES("%[t]", "%[x2]") AES("%[t]", "%[x3]")
#define PINNED_8(AES)                                                       \
    PINNED_4(AES) AES("%[t]", "%[x4]") AES("%[t]", "%[x5]")                 \
    AES("%[t]", "%[x6]") AES("%[t]", "%[x7]")

#define OPERANDS_1 [x0] ASM_V(x[0])
#define OPERANDS_2 OPERANDS_1, [x1] ASM_V(x[1])
#define OPERANDS_4 OPERANDS_2, [x2] ASM_V(x[2]), [x3] ASM_V(x[3])
#define OPERANDS_8                                                          \
    OPERANDS_4, [x4] ASM_V(x[4]), [x5] ASM_V(x[5]), [x6] ASM_V(x[6]),       \
    [x7] ASM_V(x[7])

#define PINNED_ROUND(AES, w)                                                \
    __asm__ volatile(ASM_LOAD_KEY("%[k]", "%[t]") PINNED_##w(AES)           \
                     : OPERANDS_##w, [t] ASM_T(t) : [k] "m"(key[r]))

INLINE void aes_round(const int dir, const unsigned w, V *x,
                      const KeyBytes *key, unsigned r)
{
    V t;

#define CASE(n)                                                             \
    if (w == n && dir == ENC) {                                             \
        PINNED_ROUND(ASM_AESENC, n);                                        \
    }                                                                       \
    if (w == n && dir == DEC) {                                             \
        PINNED_ROUND(ASM_AESDEC, n);                                        \
    }
    CASE(1) CASE(2) CASE(4) CASE(8)
#undef CASE
}

/* The same for one block */
INLINE __m128i aes_round_128(const int dir, __m128i x, const KeyBytes *key,
                             unsigned r)
{
    __m128i t;

#define ROUND_128(AES)                                                      \
    __asm__ volatile(ASM_LOAD_KEY_128("%[k]", "%[t]") AES("%[t]", "%[x]")   \
                     : [x] "+x"(x), [t] "=&x"(t) : [k] "m"(key[r]))
    if (dir == ENC) {
        ROUND_128(ASM_AESENC);
    } else {
        ROUND_128(ASM_AESDEC);
    }
#undef ROUND_128
    return x;
}

/* Tweaks stay in the ring, lest the compiler spills them elsewhere. */
#define XOR_TWEAK(x, at)                                                    \
    __asm__ volatile(ASM_XOR("%[m]", "%[v]")                                \
                     : [v] ASM_V(x)                                         \
                     : [m] "m"(*(const uint8_t (*)[VBYTES])(p->tw + (at))))

INLINE void aes_pass(const unsigned rounds, const int mode, const int dir,
                     const unsigned w, const KeyBytes *key, Pass *p,
                     uint8_t *dst, const uint8_t *src, const size_t len)
{
    V x[WIDTH], y[WIDTH], k;

    /* in */
    LOAD_KEY(k, key[0]);
    if (mode == CTR_ALIGNED) {
        /* no carry: the counters differ in the last byte alone */
        k = v_xor(k, v_bswap(p->ctr));
    }
#define M(i)                                                                \
    if (mode == CTR_ALIGNED) {                                              \
        x[i] = v_xor(k, v_last_byte((i) * LANES));                          \
    } else if (mode == CTR) {                                               \
        x[i] = v_xor(v_bswap(v_add64(p->ctr, v_count(AT(i) / BLOCK))), k);  \
    } else {                                                                \
        V d = w == 0 ? v_load_part(src, len) : v_load(src + AT(i));         \
                                                                            \
        if (mode == CBC_DEC) {                                              \
            if ((i) == 0) {                                                 \
                y[0] = v_shift_in(p->prev, d);                              \
            }                                                               \
            if ((i) + 1 == w) {                                             \
                p->prev = d;                                                \
            }                                                               \
        }                                                                   \
        x[i] = v_xor(d, k);                                                 \
        if (mode == XTS) {                                                  \
            XOR_TWEAK(x[i], AT(i));                                         \
        }                                                                   \
    }
    FOR_W(M);
#undef M

    /* the rounds */
#define ROUND(r) aes_round(dir, w == 0 ? 1 : w, x, key, r);
    ROUNDS(ROUND)
#undef ROUND

    /* out */
    LOAD_KEY(k, key[rounds]);
#define M(i)                                                                \
    if (mode == ECB) {                                                      \
        y[i] = k;                                                           \
    } else if (mode == CBC_DEC) {                                           \
        if ((i) > 0) {                                                      \
            y[i] = v_load(src + AT(i) - BLOCK);                             \
        }                                                                   \
        y[i] = v_xor(y[i], k);                                              \
    } else if (mode == CTR || mode == CTR_ALIGNED) {                        \
        y[i] = w == 0 ? v_load_part(src, len) : v_load(src + AT(i));        \
        y[i] = v_xor(y[i], k);                                              \
    } else {                                                                \
        y[i] = k;                                                           \
        XOR_TWEAK(y[i], AT(i));                                             \
    }                                                                       \
    x[i] = dir == ENC ? v_enclast(x[i], y[i]) : v_declast(x[i], y[i]);
    FOR_W(M);
#undef M
#define M(i)                                                                \
    if (w == 0) {                                                           \
        v_store_part(dst, x[i], len);                                       \
    } else {                                                                \
        v_store(dst + AT(i), x[i]);                                         \
    }
    FOR_W(M);
#undef M
}

/* The end of a message, 1 to BATCH_BLOCKS blocks: a single pass */
INLINE void aes_rest(const unsigned rounds, const int mode, const int dir,
                     const KeyBytes *key, Pass *p, uint8_t *dst,
                     const uint8_t *src, size_t len)
{
    if (LANES > 1 && len < VBYTES) {
        aes_pass(rounds, mode, dir, 0, key, p, dst, src, len);
    } else if (len <= VBYTES) {
        aes_pass(rounds, mode, dir, 1, key, p, dst, src, len);
    } else if (len <= 2 * VBYTES) {
        aes_pass(rounds, mode, dir, 2, key, p, dst, src, len);
    } else if (len <= 4 * VBYTES) {
        aes_pass(rounds, mode, dir, 4, key, p, dst, src, len);
    } else {
        aes_pass(rounds, mode, dir, 8, key, p, dst, src, len);
    }
}

/* Whole blocks in ECB, CBC decryption or CTR */
INLINE void aes_run(const unsigned rounds, const int mode, const int dir,
                    const KeyBytes *key, Pass *p, uint8_t *dst,
                    const uint8_t *src, size_t len)
{
    while (len >= BATCH) {
        aes_pass(rounds, mode, dir, WIDTH, key, p, dst, src, BATCH);
        if (mode == CTR || mode == CTR_ALIGNED) {
            p->ctr = v_add64(p->ctr, v_count(BATCH_BLOCKS));
        }
        dst += BATCH;
        src += BATCH;
        len -= BATCH;
    }
    if (len > 0) {
        aes_rest(rounds, mode == CTR_ALIGNED ? CTR : mode, dir, key, p, dst,
                 src, len);
    }
}

/* One block */
INLINE __m128i aes_block(const unsigned rounds, const int dir,
                         const KeyBytes *key, __m128i x)
{
    __m128i k;

    LOAD_KEY_128(k, key[0]);
    x = _mm_xor_si128(x, k);
#define M(r) x = aes_round_128(dir, x, key, r);
    ROUNDS(M)
#undef M
    LOAD_KEY_128(k, key[rounds]);
    return dir == ENC ? _mm_aesenclast_si128(x, k)
                      : _mm_aesdeclast_si128(x, k);
}

/* ---- ECB, CBC, CTR ---- */

INLINE void ecb(const unsigned rounds, const int dir, const QCryptoAESKey *key,
                uint8_t *dst, const uint8_t *src, size_t len)
{
    const KeyBytes *keys = dir == ENC ? key->enc : key->dec;
    Pass p;

    if (len == BLOCK) {
        store_block(dst, aes_block(rounds, dir, keys, load_block(src)));
        return;
    }
    aes_run(rounds, ECB, dir, keys, &p, dst, src, len);
}

INLINE void cbc_decrypt(const unsigned rounds, const QCryptoAESKey *key,
                        uint8_t *iv, uint8_t *dst, const uint8_t *src,
                        size_t len)
{
    Pass p;
    __m128i next;

    if (len == 0) {
        return;
    }
    next = load_block(src + len - BLOCK);   /* before dst, which may be src */
    p.prev = v_broadcast(iv);
    aes_run(rounds, CBC_DEC, DEC, key->dec, &p, dst, src, len);
    store_block(iv, next);
}

INLINE void cbc_encrypt(const unsigned rounds, const QCryptoAESKey *key,
                        uint8_t *iv, uint8_t *dst, const uint8_t *src,
                        size_t len)
{
    const __m128i first = load_block(key->enc[0]);
    const __m128i last = load_block(key->enc[rounds]);
    __m128i in, x;

    if (len == 0) {
        return;
    }
    /*
     * A chain of dependent rounds: its only length counts.  So the last
     * round of a block whitens the next one as well, by a key that is the
     * xor of both keys and the next data.
     */
    in = _mm_xor_si128(load_block(src), first);
    x = _mm_xor_si128(load_block(iv), in);
    for (;;) {
#define M(r) x = aes_round_128(ENC, x, key->enc, r);
        ROUNDS(M)
#undef M
        len -= BLOCK;
        if (len == 0) {
            break;
        }
        src += BLOCK;
        in = _mm_xor_si128(load_block(src), first);
        x = _mm_aesenclast_si128(x, _mm_xor_si128(in, last));
        store_block(dst, _mm_xor_si128(x, in));
        dst += BLOCK;
    }
    x = _mm_aesenclast_si128(x, last);
    store_block(dst, x);
    store_block(iv, x);
}

/* CBC encryption of n units in step, as many as w vectors have lanes or less */
INLINE void cbc_encrypt_streams(const unsigned rounds, const unsigned w,
                                const KeyBytes *key, const uint8_t *ivs,
                                size_t unit, uint8_t *dst, const uint8_t *src,
                                size_t n)
{
    size_t at[WIDTH * LANES];
    V x[WIDTH], k;

    /* lanes beyond the last unit repeat it */
    for (unsigned i = 0; i < w * LANES; i++) {
        at[i] = BLOCK * (i < n ? i : n - 1);
    }
#define M(i) x[i] = v_gather(ivs, at + (i) * LANES);
    FOR_W(M);
#undef M
    for (unsigned i = 0; i < w * LANES; i++) {
        at[i] = unit * (i < n ? i : n - 1);
    }
    for (; unit > 0; unit -= BLOCK) {
        LOAD_KEY(k, key[0]);
#define M(i) x[i] = v_xor(x[i], v_xor(v_gather(src, at + (i) * LANES), k));
        FOR_W(M);
#undef M
#define ROUND(r) aes_round(ENC, w, x, key, r);
        ROUNDS(ROUND)
#undef ROUND
        LOAD_KEY(k, key[rounds]);
#define M(i) x[i] = v_enclast(x[i], k);
        FOR_W(M);
#undef M
#define M(i) v_scatter(dst, at + (i) * LANES, x[i]);
        FOR_W(M);
#undef M
        dst += BLOCK;
        src += BLOCK;
    }
}

INLINE void cbc_encrypt_units(const unsigned rounds, const QCryptoAESKey *key,
                              const uint8_t *ivs, size_t unit, uint8_t *dst,
                              const uint8_t *src, size_t n)
{
    while (n > 0) {
        size_t m = n < BATCH_BLOCKS ? n : BATCH_BLOCKS;

        if (m > 4 * LANES) {
            cbc_encrypt_streams(rounds, 8, key->enc, ivs, unit, dst, src, m);
        } else if (m > 2 * LANES) {
            cbc_encrypt_streams(rounds, 4, key->enc, ivs, unit, dst, src, m);
        } else {
            cbc_encrypt_streams(rounds, 2, key->enc, ivs, unit, dst, src, m);
        }
        ivs += BLOCK * m;
        dst += unit * m;
        src += unit * m;
        n -= m;
    }
}

INLINE void cbc_decrypt_units(const unsigned rounds, const QCryptoAESKey *key,
                              const uint8_t *ivs, size_t unit, uint8_t *dst,
                              const uint8_t *src, size_t n)
{
    Pass p;

    for (size_t i = 0; i < n; i++) {
        p.prev = v_broadcast(ivs + BLOCK * i);
        aes_run(rounds, CBC_DEC, DEC, key->dec, &p, dst + i * unit,
                src + i * unit, unit);
    }
}

INLINE void ctr_crypt(const unsigned rounds, const QCryptoAESKey *key,
                      uint8_t *iv, uint8_t *dst, const uint8_t *src, size_t len)
{
    uint64_t hi = __builtin_bswap64(load64(iv));
    uint64_t lo = __builtin_bswap64(load64(iv + 8));
    size_t n = len / BLOCK;
    Pass p;

    while (n > 0) {
        /*
         * The counters of a run are made by 64-bit additions: stop where
         * the low half wraps, -lo blocks from here (2^64 if lo is 0).  The
         * counter is no secret, so its value may choose the way.
         */
        size_t m = lo != 0 && n > -lo ? -lo : n;
        size_t odd = -lo % BATCH_BLOCKS;

        p.ctr = v_counters(hi, lo);
        if (odd == 0) {
            aes_run(rounds, CTR_ALIGNED, ENC, key->enc, &p, dst, src,
                    m * BLOCK);
        } else if (m < 32 * BATCH_BLOCKS) {
            aes_run(rounds, CTR, ENC, key->enc, &p, dst, src, m * BLOCK);
        } else {
            /* long enough to gain from getting aligned */
            m = odd;
            aes_rest(rounds, CTR, ENC, key->enc, &p, dst, src, m * BLOCK);
        }
        dst += m * BLOCK;
        src += m * BLOCK;
        n -= m;
        lo += m;
        hi += lo == 0;
    }
    len %= BLOCK;
    if (len > 0) {
        __m128i x = aes_block(rounds, ENC, key->enc,
                              _mm_set_epi64x(__builtin_bswap64(lo),
                                             __builtin_bswap64(hi)));
        uint64_t ks = _mm_cvtsi128_si64(x);

        if (len >= 8) {
            store64(dst, load64(src) ^ ks);
            ks = _mm_extract_epi64(x, 1);
            dst += 8;
            src += 8;
            len -= 8;
        }
        for (size_t i = 0; i < len; i++, ks >>= 8) {
            dst[i] = src[i] ^ ks;
        }
        lo++;
        hi += lo == 0;
    }
    store64(iv, __builtin_bswap64(hi));
    store64(iv + 8, __builtin_bswap64(lo));
}

/* ---- XTS ---- */

/* A round of a batch, with room for tweak steps in its middle and its end */
#define ASM_ROUND(AES, r, MIDDLE, END)                                      \
    ASM_LOAD_KEY("16 * " #r "(%[key])", "%[k]")                             \
    AES("%[k]", "%[x0]") AES("%[k]", "%[x1]") AES("%[k]", "%[x2]")          \
    AES("%[k]", "%[x3]")                                                    \
    MIDDLE                                                                  \
    ASM_UPPER(AES("%[k]", "%[x4]") AES("%[k]", "%[x5]")                     \
              AES("%[k]", "%[x6]") AES("%[k]", "%[x7]"))                    \
    END

/*
 * All rounds but the last; S(0) to S(15) are the tweak steps.  The earlier
 * they are, the surer they are in the cache when they are wanted.
 */
#define ASM_ROUNDS_10(AES, S)                                               \
    ASM_ROUND(AES, 1, S(0), S(1)) ASM_ROUND(AES, 2, S(2), S(3))             \
    ASM_ROUND(AES, 3, S(4), S(5)) ASM_ROUND(AES, 4, S(6), S(7))             \
    ASM_ROUND(AES, 5, S(8), S(9)) ASM_ROUND(AES, 6, S(10), S(11))           \
    ASM_ROUND(AES, 7, S(12), S(13)) ASM_ROUND(AES, 8, S(14), S(15))         \
    ASM_ROUND(AES, 9, , )
#define ASM_ROUNDS_12(AES, S)                                               \
    ASM_ROUNDS_10(AES, S) ASM_ROUND(AES, 10, , ) ASM_ROUND(AES, 11, , )
#define ASM_ROUNDS_14(AES, S)                                               \
    ASM_ROUNDS_12(AES, S) ASM_ROUND(AES, 12, , ) ASM_ROUND(AES, 13, , )

#define ASM_EACH(M, ...)                                                    \
    M(0, "%[x0]", __VA_ARGS__) M(1, "%[x1]", __VA_ARGS__)                   \
    M(2, "%[x2]", __VA_ARGS__) M(3, "%[x3]", __VA_ARGS__)                   \
    ASM_UPPER(M(4, "%[x4]", __VA_ARGS__) M(5, "%[x5]", __VA_ARGS__)         \
              M(6, "%[x6]", __VA_ARGS__) M(7, "%[x7]", __VA_ARGS__))

#define ASM_XTS_BATCH(AES, LAST, r)                                         \
    __asm__ volatile(                                                       \
        ASM_LOAD_KEY("(%[key])", "%[k]")                                    \
        ASM_EACH(ASM_XTS_IN, )                                              \
        ASM_ROUNDS_##r(AES, ASM_BATCH_STEP)                                 \
        ASM_LOAD_KEY("16 * " #r "(%[key])", "%[k]")                         \
        ASM_EACH(ASM_XTS_OUT, LAST)                                         \
        : [x0] ASM_T(x0), [x1] ASM_T(x1), [x2] ASM_T(x2), [x3] ASM_T(x3),   \
          [x4] ASM_T(x4), [x5] ASM_T(x5), [x6] ASM_T(x6), [x7] ASM_T(x7),   \
          [k] ASM_T(k), [t] ASM_T(t), ASM_CHAIN(chain, mask)                \
        : [key] "r"(key), [tw] "r"(tw), [src] "r"(src), [dst] "r"(dst),     \
          [ring] "r"(ring)                                                  \
        : "cc", "memory")

/* A whole batch with the tweaks at tw; the chain's next ones go to ring. */
INLINE void xts_batch(const unsigned rounds, const int dir,
                      const KeyBytes *key, const uint8_t *tw, Tweak *chain,
                      uint8_t *ring, uint8_t *dst, const uint8_t *src)
{
    uint64_t mask;
    V x0, x1, x2, x3, x4, x5, x6, x7, k, t;

#define CASE(r)                                                             \
    if (rounds == r && dir == ENC) {                                        \
        ASM_XTS_BATCH(ASM_AESENC, ASM_AESENCLAST, r);                       \
    }                                                                       \
    if (rounds == r && dir == DEC) {                                        \
        ASM_XTS_BATCH(ASM_AESDEC, ASM_AESDECLAST, r);                       \
    }
    CASE(10) CASE(12) CASE(14)
#undef CASE
}

/* A batch of tweaks for ring by themselves */
INLINE void xts_fill(Tweak *chain, uint8_t *ring)
{
    uint64_t mask;

    for (unsigned j = 0; j < XTS_BLOCKS; j += 4, ring += 4 * BLOCK) {
        __asm__ volatile(
            ASM_STEP(0) ASM_STEP(1) ASM_STEP(2) ASM_STEP(3)
            : ASM_CHAIN(chain, mask)
            : [ring] "r"(ring)
            : "cc", "memory");
    }
}

/*
 * Ciphertext stealing: the last whole block and the len bytes after it, with
 * the two tweaks in the order of their use
 */
INLINE void xts_steal(const unsigned rounds, const int dir,
                      const KeyBytes *key, __m128i t0, __m128i t1,
                      uint8_t *dst, const uint8_t *src, size_t len)
{
    /* Shuffles by shift[16 + n] move n bytes down, by shift[16 - n] up. */
    static const uint8_t shift[48] = {
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
        0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    };
    __m128i down = load_block(shift + 32 - len);
    __m128i up = load_block(shift + len);
    __m128i x = load_block(src);
    /* The last 16 bytes of the unit: those after the block are its end. */
    __m128i y = load_block(src + len);

    x = _mm_xor_si128(aes_block(rounds, dir, key, _mm_xor_si128(x, t0)), t0);
    /* Its head is the end of the output, its tail completes the input. */
    y = _mm_blendv_epi8(_mm_shuffle_epi8(y, down), x, down);
    store_block(dst + len, _mm_shuffle_epi8(x, up));
    y = _mm_xor_si128(aes_block(rounds, dir, key, _mm_xor_si128(y, t1)), t1);
    store_block(dst, y);
}

/*
 * n units of one unit_size, which is a multiple of XTS_BATCH unless n is 1.
 * iv is the tweak of the first, still to be encrypted unless tweak_key is NULL;
 * those of the others are ready at tweaks.
 */
INLINE void xts_run(const unsigned rounds, const int dir, const KeyBytes *key,
                    const KeyBytes *tweak_key, const uint8_t *iv,
                    const uint8_t *tweaks, size_t unit_size, uint8_t *dst,
                    const uint8_t *src, size_t n)
{
    __m128i tweak = tweak_key ? aes_block(rounds, ENC, tweak_key,
                                          load_block(iv)) : load_block(iv);
    uint8_t ring[3][XTS_BATCH] __attribute__((aligned(64)));
    /* tweaks of the batch at hand and the next one; room for the one after */
    uint8_t *now = ring[0], *next = ring[1], *spare = ring[2], *done;
    size_t stolen = unit_size % BLOCK;
    size_t whole = unit_size / BLOCK - (stolen > 0);  /* not for stealing */
    size_t per_unit = whole / XTS_BLOCKS;
    size_t batches = per_unit * n;
    size_t rest = whole % XTS_BLOCKS;
    size_t last = rest + (stolen > 0 ? 2 : 0);  /* tweaks wanted at the end */
    /* batches of tweaks of this unit that are still to come, and this one */
    size_t left = per_unit + (last + XTS_BLOCKS - 1) / XTS_BLOCKS;
    size_t used = n > 1 || left > 3 ? 3 : left;
    int erases = batches > 2 && last == 0;
    size_t first;
    V all = v_all(tweak);
    Tweak chain = {
        .lo = _mm_cvtsi128_si64(tweak), .hi = _mm_extract_epi64(tweak, 1)
    };
    Pass p;

    if (unit_size == BLOCK) {
        tweak = _mm_xor_si128(tweak, aes_block(rounds, dir, key,
            _mm_xor_si128(tweak, load_block(src))));
        store_block(dst, tweak);
        return;
    }

    /* the first batch, or what is needed of it */
    first = batches > 0 ? XTS_BLOCKS : last;
#define M(i)                                                                \
    if ((i) < XTS_WIDTH && first > (i) * LANES) {                           \
        v_store(now + (i) * VBYTES, tweak_vector(all, i));                  \
    }
    M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#undef M
    tweak_jump(&chain, XTS_BLOCKS);

    /*
     * Let the chain go over to the next unit if this one has got its tweaks.
     * Behind the last it goes on with zeros, which erases the ring.
     */
#define TURN()                                                              \
    if (--left == 0) {                                                      \
        left = SIZE_MAX;                                                    \
        chain.lo = chain.hi = 0;                                            \
        if (--n > 0) {                                                      \
            left = per_unit;                                                \
            chain.lo = load64(tweaks);                                      \
            chain.hi = load64(tweaks + 8);                                  \
            tweaks += BLOCK;                                                \
        }                                                                   \
    }
#define ONE_BATCH(out)                                                      \
    TURN()                                                                  \
    xts_batch(rounds, dir, key, now, &chain, out, dst, src);                \
    done = now;                                                             \
    now = next;                                                             \
    next = spare;                                                           \
    spare = done;                                                           \
    dst += XTS_BATCH;                                                       \
    src += XTS_BATCH;                                                       \
    batches--;

    /* The first two batches make the very next tweaks, to start sooner ... */
    for (int i = 0; i < 2 && batches > 0; i++) {
        ONE_BATCH(next)
    }
    /* ... and the distance is taken when there is work in the queue. */
    if (batches > 0 || (n == 1 && left > 1)) {
        TURN()
        xts_fill(&chain, next);
    }
    while (batches > 0) {
        ONE_BATCH(spare)
    }
#undef ONE_BATCH
#undef TURN

    if (rest > 0) {
        p.tw = now;
        aes_rest(rounds, XTS, dir, key, &p, dst, src, rest * BLOCK);
    }
    if (stolen > 0) {
        /* rest is less than XTS_BLOCKS: only the second can be in next */
        __m128i t0 = load_block(now + rest * BLOCK);
        __m128i t1 = load_block(rest + 1 < XTS_BLOCKS
                                ? now + (rest + 1) * BLOCK : next);

        xts_steal(rounds, dir, key, dir == ENC ? t0 : t1,
                  dir == ENC ? t1 : t0, dst + rest * BLOCK,
                  src + rest * BLOCK, stolen);
    }
    if (erases) {
        wipe(spare, XTS_BATCH);     /* the last batch's, the only one left */
    } else {
        wipe(ring[0], used * XTS_BATCH);
    }
}

/*
 * The above for each round count and direction.  These are not inlined: the
 * hot loop needs nearly all registers.
 */
typedef void XTSRun(const KeyBytes *key, const KeyBytes *tweak_key,
                    const uint8_t *iv, const uint8_t *tweaks, size_t unit_size,
                    uint8_t *dst, const uint8_t *src, size_t n);

#define DEFINE_XTS_RUN(dir, r)                                              \
static __attribute__((noinline))                                            \
void xts_run_##dir##_##r(const KeyBytes *key, const KeyBytes *tweak_key,    \
                         const uint8_t *iv, const uint8_t *tweaks,          \
                         size_t unit_size, uint8_t *dst,                    \
                         const uint8_t *src, size_t n)                      \
{                                                                           \
    xts_run(r, dir, key, tweak_key, iv, tweaks, unit_size, dst, src, n);    \
}

DEFINE_XTS_RUN(ENC, 10)
DEFINE_XTS_RUN(ENC, 12)
DEFINE_XTS_RUN(ENC, 14)
DEFINE_XTS_RUN(DEC, 10)
DEFINE_XTS_RUN(DEC, 12)
DEFINE_XTS_RUN(DEC, 14)

INLINE void xts(const unsigned rounds, XTSRun *xts_run_of, const KeyBytes *key,
                const QCryptoAESKey *tweak_key, const uint8_t *ivs,
                size_t unit_size, uint8_t *dst, const uint8_t *src, size_t n)
{
    uint8_t tweaks[BATCH] __attribute__((aligned(64)));
    int many = n > 1;
    Pass p;

    while (n > 0) {
        size_t m = n < BATCH_BLOCKS ? n : BATCH_BLOCKS;
        /* units of whole batches make one pipeline, others one each */
        size_t run = unit_size % XTS_BATCH == 0 ? m : 1;

        /*
         * The first tweak is waited for, so it comes first; a single one
         * is encrypted by the run itself, which saves its way over memory.
         */
        if (m > 1) {
            store_block(tweaks, aes_block(rounds, ENC, tweak_key->enc,
                                          load_block(ivs)));
            aes_rest(rounds, ECB, ENC, tweak_key->enc, &p, tweaks + BLOCK,
                     ivs + BLOCK, (m - 1) * BLOCK);
        }
        for (size_t i = 0; i < m; i += run) {
            xts_run_of(key, m == 1 ? tweak_key->enc : NULL,
                       m == 1 ? ivs : tweaks + BLOCK * i,
                       tweaks + BLOCK * (i + 1), unit_size, dst, src, run);
            dst += unit_size * run;
            src += unit_size * run;
        }
        ivs += BLOCK * m;
        n -= m;
    }
    if (many) {
        wipe(tweaks, BATCH);
    }
}

/* ---- the bound ---- */

INLINE void raw(const unsigned rounds, const QCryptoAESKey *key, uint8_t *buf,
                size_t len)
{
    Pass p;

    while (len > 0) {
        for (size_t at = 0; at < 4096; at += BATCH) {
            aes_pass(rounds, ECB, ENC, WIDTH, key->enc, &p, buf + at, buf + at,
                     BATCH);
        }
        len -= 4096;
    }
}

/* ---- the kernel ---- */

/* Call one of the above with the round count of the key as a constant. */
#define BY_ROUNDS(opaque, CALL)                                             \
    const QCryptoAESKey *key = opaque;                                      \
                                                                            \
    if (key->rounds == 14) {                                                \
        CALL(14);                                                           \
    } else if (key->rounds == 10) {                                         \
        CALL(10);                                                           \
    } else {                                                                \
        CALL(12);                                                           \
    }

#define DIRECTIONS(M) M(encrypt, ENC) M(decrypt, DEC)

#define DEFINE(name, dir)                                                   \
static void aes_ecb_##name(const void *opaque, uint8_t *dst,                \
                           const uint8_t *src, size_t len)                  \
{                                                                           \
    BY_ROUNDS(opaque, CALL_ECB_##dir)                                       \
}                                                                           \
                                                                            \
static void aes_cbc_##name(const void *opaque, uint8_t *iv, uint8_t *dst,   \
                           const uint8_t *src, size_t len)                  \
{                                                                           \
    BY_ROUNDS(opaque, CALL_CBC_##dir)                                       \
}                                                                           \
                                                                            \
static void aes_cbc_units_##name(const void *opaque, const uint8_t *ivs,    \
                                 size_t unit_size, uint8_t *dst,            \
                                 const uint8_t *src, size_t n)              \
{                                                                           \
    BY_ROUNDS(opaque, CALL_CBC_UNITS_##dir)                                 \
}                                                                           \
                                                                            \
static void aes_xts_##name(const void *opaque, const void *tweak_key,       \
                           const uint8_t *ivs, size_t unit_size,            \
                           uint8_t *dst, const uint8_t *src, size_t n)      \
{                                                                           \
    BY_ROUNDS(opaque, CALL_XTS_##dir)                                       \
}

#define CALL_ECB_ENC(r) ecb(r, ENC, key, dst, src, len)
#define CALL_ECB_DEC(r) ecb(r, DEC, key, dst, src, len)
#define CALL_CBC_ENC(r) cbc_encrypt(r, key, iv, dst, src, len)
#define CALL_CBC_DEC(r) cbc_decrypt(r, key, iv, dst, src, len)
#define CALL_CBC_UNITS_ENC(r)                                               \
    cbc_encrypt_units(r, key, ivs, unit_size, dst, src, n)
#define CALL_CBC_UNITS_DEC(r)                                               \
    cbc_decrypt_units(r, key, ivs, unit_size, dst, src, n)
#define CALL_XTS_ENC(r)                                                     \
    xts(r, xts_run_ENC_##r, key->enc, tweak_key, ivs, unit_size, dst, src, n)
#define CALL_XTS_DEC(r)                                                     \
    xts(r, xts_run_DEC_##r, key->dec, tweak_key, ivs, unit_size, dst, src, n)
#define CALL_CTR(r) ctr_crypt(r, key, iv, dst, src, len)
#define CALL_RAW(r) raw(r, key, buf, len)

DIRECTIONS(DEFINE)

static void aes_ctr(const void *opaque, uint8_t *iv, uint8_t *dst,
                    const uint8_t *src, size_t len)
{
    BY_ROUNDS(opaque, CALL_CTR)
}

static void aes_raw(const void *opaque, uint8_t *buf, size_t len)
{
    BY_ROUNDS(opaque, CALL_RAW)
}

const QCryptoAESKernel KERNEL = {
    .name = KERNEL_NAME,
    .key_size = sizeof(QCryptoAESKey),
    .tweak_key_size = offsetof(QCryptoAESKey, dec),
    .set_key = aes_set_key,
    .set_tweak_key = aes_set_tweak_key,
    .ecb = { aes_ecb_encrypt, aes_ecb_decrypt },
    .cbc = { aes_cbc_encrypt, aes_cbc_decrypt },
    .cbc_units = { aes_cbc_units_encrypt, aes_cbc_units_decrypt },
    .ctr = aes_ctr,
    .xts = { aes_xts_encrypt, aes_xts_decrypt },
    .raw = aes_raw,
};

#endif
