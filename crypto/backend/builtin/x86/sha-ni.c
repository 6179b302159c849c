/*
 * SHA-1 and SHA-256 on the SHA instructions of x86
 *
 * One message is bound by the latency of the round instructions, which leave
 * the units idle most of the time.  Where there are several messages, as in
 * PBKDF2 for a long key, two or three lanes run through the same rounds side
 * by side; so everything below is written for so many lanes, a constant in
 * every use.
 *
 * The instructions want SHA-256's state as two vectors, (a b e f) and
 * (c d g h), a and c in the highest word, and SHA-1's as (a b c d), a in the
 * highest word, with e apart, in the highest word of another vector.  PBKDF2
 * stays in that form from one iteration to the next, but for the few shuffles
 * that make a digest into the words of a message.  Lanes live in registers
 * (wiping them would keep them in memory); what is spilled of them sha.c
 * clears.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <immintrin.h>

#include "crypto/backend/builtin/sha.h"
#include "crypto/base/secure.h"

#define INLINE static inline __attribute__((always_inline))

/* The most lanes that gain: more run out of registers. */
#define LANES 3

/* The statement for each lane, l being its number. */
#define EACH_LANE(lanes, ...)                                                  \
    do {                                                                       \
        {                                                                      \
            enum { l = 0 };                                                    \
            __VA_ARGS__                                                        \
        }                                                                      \
        if ((lanes) > 1) {                                                     \
            enum { l = 1 };                                                    \
            __VA_ARGS__                                                        \
        }                                                                      \
        if ((lanes) > 2) {                                                     \
            enum { l = 2 };                                                    \
            __VA_ARGS__                                                        \
        }                                                                      \
    } while (0)

INLINE __m128i load(const void *p)
{
    return _mm_loadu_si128(p);
}

INLINE void store(void *p, __m128i v)
{
    _mm_storeu_si128(p, v);
}

/* bytes of each word turned round: big-endian numbers */
INLINE __m128i bswap32(__m128i v)
{
    return _mm_shuffle_epi8(
        v, _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

/* ---- SHA-256 ---- */

typedef struct Lane256 {
    __m128i abef, cdgh;
    __m128i m[4]; /* the window of message words, four to a vector */
} Lane256;

INLINE void pack_256(Lane256 *s, __m128i abcd, __m128i efgh)
{
    const __m128i badc = _mm_shuffle_epi32(abcd, 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(efgh, 0x1b);

    s->abef = _mm_alignr_epi8(badc, hgfe, 8);
    s->cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
}

INLINE void unpack_256(const Lane256 *s, __m128i *abcd, __m128i *efgh)
{
    const __m128i abef = _mm_shuffle_epi32(s->abef, 0x1b);
    const __m128i ghcd = _mm_shuffle_epi32(s->cdgh, 0xb1);

    *abcd = _mm_blend_epi16(abef, ghcd, 0xf0);
    *efgh = _mm_alignr_epi8(ghcd, abef, 8);
}

/*
 * Four rounds, group i of sixteen; in the shadow of their latency, the words
 * of group i + 1 get their last sum and those of group i + 3 their first.
 */
#define GROUP_256(i)                                                           \
    EACH_LANE(lanes,                                                           \
        __m128i *m = s[l].m;                                                   \
        const __m128i wk =                                                     \
            _mm_add_epi32(m[(i) & 3], load(&qcrypto_sha256_k[4 * (i)]));       \
        s[l].cdgh = _mm_sha256rnds2_epu32(s[l].cdgh, s[l].abef, wk);           \
        if ((i) >= 3 && (i) < 15) {                                            \
            const __m128i w9 =                                                 \
                _mm_alignr_epi8(m[(i) & 3], m[((i) + 3) & 3], 4);              \
            m[((i) + 1) & 3] = _mm_sha256msg2_epu32(                           \
                _mm_add_epi32(m[((i) + 1) & 3], w9), m[(i) & 3]);              \
        }                                                                      \
        if ((i) >= 1 && (i) < 13) {                                            \
            m[((i) + 3) & 3] =                                                 \
                _mm_sha256msg1_epu32(m[((i) + 3) & 3], m[(i) & 3]);            \
        }                                                                      \
        s[l].abef = _mm_sha256rnds2_epu32(s[l].abef, s[l].cdgh,                \
                                          _mm_shuffle_epi32(wk, 0x0e));)

INLINE void rounds_256(Lane256 *s, size_t lanes)
{
    GROUP_256(0);
    GROUP_256(1);
    GROUP_256(2);
    GROUP_256(3);
    GROUP_256(4);
    GROUP_256(5);
    GROUP_256(6);
    GROUP_256(7);
    GROUP_256(8);
    GROUP_256(9);
    GROUP_256(10);
    GROUP_256(11);
    GROUP_256(12);
    GROUP_256(13);
    GROUP_256(14);
    GROUP_256(15);
}

static void blocks_256(QCryptoSHAState *state, const uint8_t *data, size_t n)
{
    __m128i abcd = load(state->w32), efgh = load(state->w32 + 4);
    Lane256 s[1];

    pack_256(s, abcd, efgh);
    for (; n; n--, data += 64) {
        const __m128i abef = s->abef, cdgh = s->cdgh;

        s->m[0] = bswap32(load(data));
        s->m[1] = bswap32(load(data + 16));
        s->m[2] = bswap32(load(data + 32));
        s->m[3] = bswap32(load(data + 48));
        rounds_256(s, 1);
        s->abef = _mm_add_epi32(s->abef, abef);
        s->cdgh = _mm_add_epi32(s->cdgh, cdgh);
    }
    unpack_256(s, &abcd, &efgh);
    store(state->w32, abcd);
    store(state->w32 + 4, efgh);
}

/* The digests in the lanes as messages, on from the state mid. */
INLINE void half_256(Lane256 *s, const Lane256 *mid, const QCryptoSHALoop *loop,
                     size_t lanes)
{
    EACH_LANE(lanes,
        __m128i abcd;
        __m128i efgh;
        unpack_256(&s[l], &abcd, &efgh);
        s[l].m[0] = abcd;
        /* SHA-224's digest ends before h */
        s[l].m[1] = _mm_or_si128(
            _mm_and_si128(efgh, load(loop->mask.w32 + 4)),
            load(loop->pad[0].w32 + 4));
        s[l].m[2] = load(loop->pad[1].w32);
        s[l].m[3] = load(loop->pad[1].w32 + 4);
        s[l].abef = mid->abef;
        s[l].cdgh = mid->cdgh;);
    rounds_256(s, lanes);
    EACH_LANE(lanes,
        s[l].abef = _mm_add_epi32(s[l].abef, mid->abef);
        s[l].cdgh = _mm_add_epi32(s[l].cdgh, mid->cdgh););
}

INLINE void loop_256(QCryptoSHALoop *loop, size_t lanes, uint64_t times)
{
    Lane256 inner, outer, s[LANES], t[LANES];

    pack_256(&inner, load(loop->inner.w32), load(loop->inner.w32 + 4));
    pack_256(&outer, load(loop->outer.w32), load(loop->outer.w32 + 4));
    EACH_LANE(lanes,
        pack_256(&s[l], load(loop->u[l].w32), load(loop->u[l].w32 + 4));
        pack_256(&t[l], load(loop->t[l].w32), load(loop->t[l].w32 + 4)););
    for (; times; times--) {
        half_256(s, &inner, loop, lanes);
        half_256(s, &outer, loop, lanes);
        EACH_LANE(lanes,
            t[l].abef = _mm_xor_si128(t[l].abef, s[l].abef);
            t[l].cdgh = _mm_xor_si128(t[l].cdgh, s[l].cdgh););
    }
    EACH_LANE(lanes,
        __m128i abcd;
        __m128i efgh;
        unpack_256(&s[l], &abcd, &efgh);
        store(loop->u[l].w32, abcd);
        store(loop->u[l].w32 + 4, efgh);
        unpack_256(&t[l], &abcd, &efgh);
        store(loop->t[l].w32, abcd);
        store(loop->t[l].w32 + 4, efgh););
    qcrypto_wipe(&inner, sizeof(inner));
    qcrypto_wipe(&outer, sizeof(outer));
}

static void iterate_256(QCryptoSHALoop *loop, size_t lanes, uint64_t times)
{
    if (lanes == 1) {
        loop_256(loop, 1, times);
    } else if (lanes == 2) {
        loop_256(loop, 2, times);
    } else {
        loop_256(loop, 3, times);
    }
}

const QCryptoSHAKernel qcrypto_sha256_ni = {
    .blocks = blocks_256,
    .iterate = iterate_256,
    .max_lanes = LANES,
};

/* ---- SHA-1 ---- */

typedef struct Lane1 {
    __m128i abcd;
    __m128i e[2]; /* in turns: this group's e, and the next one's */
    __m128i m[4];
} Lane1;

/* the words of a vector in the opposite order */
INLINE __m128i reverse(__m128i v)
{
    return _mm_shuffle_epi32(v, 0x1b);
}

/* and of big-endian words: all sixteen bytes */
INLINE __m128i reverse_bytes(__m128i v)
{
    return _mm_shuffle_epi8(
        v, _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f));
}

INLINE __m128i highest(uint32_t e)
{
    return _mm_set_epi32((int)e, 0, 0, 0);
}

/*
 * Four rounds, group i of twenty.  sha1nexte rotates what was a four rounds
 * ago into e and adds it to the words of the message.
 */
#define GROUP_1(i)                                                             \
    EACH_LANE(lanes,                                                           \
        __m128i *m = s[l].m;                                                   \
        __m128i *e = s[l].e;                                                   \
        e[(i) & 1] = (i) ? _mm_sha1nexte_epu32(e[(i) & 1], m[(i) & 3])         \
                         : _mm_add_epi32(e[0], m[0]);                          \
        e[((i) + 1) & 1] = s[l].abcd;                                          \
        if ((i) >= 3 && (i) < 19) {                                            \
            m[((i) + 1) & 3] =                                                 \
                _mm_sha1msg2_epu32(m[((i) + 1) & 3], m[(i) & 3]);              \
        }                                                                      \
        s[l].abcd = _mm_sha1rnds4_epu32(s[l].abcd, e[(i) & 1], (i) / 5);       \
        if ((i) >= 1 && (i) < 17) {                                            \
            m[((i) + 3) & 3] =                                                 \
                _mm_sha1msg1_epu32(m[((i) + 3) & 3], m[(i) & 3]);              \
        }                                                                      \
        if ((i) >= 2 && (i) < 18) {                                            \
            m[((i) + 2) & 3] = _mm_xor_si128(m[((i) + 2) & 3], m[(i) & 3]);    \
        })

INLINE void rounds_1(Lane1 *s, size_t lanes)
{
    GROUP_1(0);
    GROUP_1(1);
    GROUP_1(2);
    GROUP_1(3);
    GROUP_1(4);
    GROUP_1(5);
    GROUP_1(6);
    GROUP_1(7);
    GROUP_1(8);
    GROUP_1(9);
    GROUP_1(10);
    GROUP_1(11);
    GROUP_1(12);
    GROUP_1(13);
    GROUP_1(14);
    GROUP_1(15);
    GROUP_1(16);
    GROUP_1(17);
    GROUP_1(18);
    GROUP_1(19);
}

static void blocks_1(QCryptoSHAState *state, const uint8_t *data, size_t n)
{
    Lane1 s[1];

    s->abcd = reverse(load(state->w32));
    s->e[0] = highest(state->w32[4]);
    for (; n; n--, data += 64) {
        const __m128i abcd = s->abcd, e = s->e[0];

        s->m[0] = reverse_bytes(load(data));
        s->m[1] = reverse_bytes(load(data + 16));
        s->m[2] = reverse_bytes(load(data + 32));
        s->m[3] = reverse_bytes(load(data + 48));
        rounds_1(s, 1);
        s->e[0] = _mm_sha1nexte_epu32(s->e[0], e);
        s->abcd = _mm_add_epi32(s->abcd, abcd);
    }
    store(state->w32, reverse(s->abcd));
    state->w32[4] = (uint32_t)_mm_extract_epi32(s->e[0], 3);
}

INLINE void half_1(Lane1 *s, const Lane1 *mid, const __m128i pad[3],
                   size_t lanes)
{
    EACH_LANE(lanes,
        s[l].m[0] = s[l].abcd;
        /* e stands alone in its vector */
        s[l].m[1] = _mm_or_si128(s[l].e[0], pad[0]);
        s[l].m[2] = pad[1];
        s[l].m[3] = pad[2];
        s[l].abcd = mid->abcd;
        s[l].e[0] = mid->e[0];);
    rounds_1(s, lanes);
    EACH_LANE(lanes,
        s[l].e[0] = _mm_sha1nexte_epu32(s[l].e[0], mid->e[0]);
        s[l].abcd = _mm_add_epi32(s[l].abcd, mid->abcd););
}

INLINE void loop_1(QCryptoSHALoop *loop, size_t lanes, uint64_t times)
{
    const __m128i pad[3] = {reverse(load(loop->pad[0].w32 + 4)),
                            reverse(load(loop->pad[1].w32)),
                            reverse(load(loop->pad[1].w32 + 4))};
    Lane1 inner, outer, s[LANES], t[LANES];

    inner.abcd = reverse(load(loop->inner.w32));
    inner.e[0] = highest(loop->inner.w32[4]);
    outer.abcd = reverse(load(loop->outer.w32));
    outer.e[0] = highest(loop->outer.w32[4]);
    EACH_LANE(lanes,
        s[l].abcd = reverse(load(loop->u[l].w32));
        s[l].e[0] = highest(loop->u[l].w32[4]);
        t[l].abcd = reverse(load(loop->t[l].w32));
        t[l].e[0] = highest(loop->t[l].w32[4]););
    for (; times; times--) {
        half_1(s, &inner, pad, lanes);
        half_1(s, &outer, pad, lanes);
        EACH_LANE(lanes,
            t[l].abcd = _mm_xor_si128(t[l].abcd, s[l].abcd);
            t[l].e[0] = _mm_xor_si128(t[l].e[0], s[l].e[0]););
    }
    EACH_LANE(lanes,
        store(loop->u[l].w32, reverse(s[l].abcd));
        loop->u[l].w32[4] = (uint32_t)_mm_extract_epi32(s[l].e[0], 3);
        store(loop->t[l].w32, reverse(t[l].abcd));
        loop->t[l].w32[4] = (uint32_t)_mm_extract_epi32(t[l].e[0], 3););
    qcrypto_wipe(&inner, sizeof(inner));
    qcrypto_wipe(&outer, sizeof(outer));
}

static void iterate_1(QCryptoSHALoop *loop, size_t lanes, uint64_t times)
{
    if (lanes == 1) {
        loop_1(loop, 1, times);
    } else if (lanes == 2) {
        loop_1(loop, 2, times);
    } else {
        loop_1(loop, 3, times);
    }
}

const QCryptoSHAKernel qcrypto_sha1_ni = {
    .blocks = blocks_1,
    .iterate = iterate_1,
    .max_lanes = LANES,
};
