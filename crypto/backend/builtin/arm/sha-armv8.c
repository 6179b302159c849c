/*
 * SHA-1 and SHA-256 with the instructions of ARMv8
 *
 * Four rounds to an instruction (SHA-256: to a pair of them), the state in
 * the order of the standard.  As on x86 a single message waits for its own
 * results most of the time, so PBKDF2 runs several lanes side by side where
 * there are several blocks of output; everything is written for so many
 * lanes, a constant in every use.
 *
 * Compiled with -march=armv8-a+crypto.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <arm_neon.h>

#include "crypto/backend/builtin/sha.h"
#include "crypto/base/secure.h"

#define INLINE static inline __attribute__((always_inline))

#define LANES 3

/* The statements for each lane, l being its number. */
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

INLINE uint32x4_t load_words(const uint8_t *p)
{
    /* bytes, so that any address and either byte order are right */
    const uint8x16_t v = vld1q_u8(p);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return vreinterpretq_u32_u8(vrev32q_u8(v));
#else
    return vreinterpretq_u32_u8(v);
#endif
}

/* ---- SHA-256 ---- */

typedef struct Lane256 {
    uint32x4_t abcd, efgh;
    uint32x4_t m[4]; /* the window of message words, four to a vector */
} Lane256;

/* Four rounds, group i of sixteen; its words become those of group i + 4. */
#define GROUP_256(i)                                                           \
    EACH_LANE(lanes,                                                           \
        uint32x4_t *m = s[l].m;                                                \
        const uint32x4_t abcd = s[l].abcd;                                     \
        const uint32x4_t wk =                                                  \
            vaddq_u32(m[(i) & 3], vld1q_u32(&qcrypto_sha256_k[4 * (i)]));      \
        s[l].abcd = vsha256hq_u32(abcd, s[l].efgh, wk);                        \
        s[l].efgh = vsha256h2q_u32(s[l].efgh, abcd, wk);                       \
        if ((i) < 12) {                                                        \
            m[(i) & 3] = vsha256su1q_u32(                                      \
                vsha256su0q_u32(m[(i) & 3], m[((i) + 1) & 3]),                 \
                m[((i) + 2) & 3], m[((i) + 3) & 3]);                           \
        })

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

INLINE Lane256 get_256(const QCryptoSHAState *state)
{
    return (Lane256){vld1q_u32(state->w32), vld1q_u32(state->w32 + 4), {{0}}};
}

INLINE void put_256(QCryptoSHAState *state, const Lane256 *s)
{
    vst1q_u32(state->w32, s->abcd);
    vst1q_u32(state->w32 + 4, s->efgh);
}

static void blocks_256(QCryptoSHAState *state, const uint8_t *data, size_t n)
{
    Lane256 s[1] = {get_256(state)};

    for (; n; n--, data += 64) {
        const uint32x4_t abcd = s->abcd, efgh = s->efgh;

        s->m[0] = load_words(data);
        s->m[1] = load_words(data + 16);
        s->m[2] = load_words(data + 32);
        s->m[3] = load_words(data + 48);
        rounds_256(s, 1);
        s->abcd = vaddq_u32(s->abcd, abcd);
        s->efgh = vaddq_u32(s->efgh, efgh);
    }
    put_256(state, s);
}

/* The digests in the lanes as messages, on from the state mid. */
INLINE void half_256(Lane256 *s, const Lane256 *mid, const QCryptoSHALoop *loop,
                     size_t lanes)
{
    EACH_LANE(lanes,
        s[l].m[0] = s[l].abcd;
        /* SHA-224's digest ends before h */
        s[l].m[1] = vorrq_u32(
            vandq_u32(s[l].efgh, vld1q_u32(loop->mask.w32 + 4)),
            vld1q_u32(loop->pad[0].w32 + 4));
        s[l].m[2] = vld1q_u32(loop->pad[1].w32);
        s[l].m[3] = vld1q_u32(loop->pad[1].w32 + 4);
        s[l].abcd = mid->abcd;
        s[l].efgh = mid->efgh;);
    rounds_256(s, lanes);
    EACH_LANE(lanes,
        s[l].abcd = vaddq_u32(s[l].abcd, mid->abcd);
        s[l].efgh = vaddq_u32(s[l].efgh, mid->efgh););
}

INLINE void loop_256(QCryptoSHALoop *loop, size_t lanes, uint64_t times)
{
    Lane256 inner = get_256(&loop->inner), outer = get_256(&loop->outer);
    Lane256 s[LANES], t[LANES];

    EACH_LANE(lanes,
        s[l] = get_256(&loop->u[l]);
        t[l] = get_256(&loop->t[l]););
    for (; times; times--) {
        half_256(s, &inner, loop, lanes);
        half_256(s, &outer, loop, lanes);
        EACH_LANE(lanes,
            t[l].abcd = veorq_u32(t[l].abcd, s[l].abcd);
            t[l].efgh = veorq_u32(t[l].efgh, s[l].efgh););
    }
    EACH_LANE(lanes,
        put_256(&loop->u[l], &s[l]);
        put_256(&loop->t[l], &t[l]););
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

const QCryptoSHAKernel qcrypto_sha256_armv8 = {
    .blocks = blocks_256,
    .iterate = iterate_256,
    .max_lanes = LANES,
};

/* ---- SHA-1 ---- */

typedef struct Lane1 {
    uint32x4_t abcd;
    uint32_t e;
    uint32x4_t m[4];
} Lane1;

#define K_1(i)                                                                 \
    vdupq_n_u32((i) < 5    ? 0x5a827999                                        \
                : (i) < 10 ? 0x6ed9eba1                                        \
                : (i) < 15 ? 0x8f1bbcdc                                        \
                           : 0xca62c1d6)

/* choose, parity, majority, parity */
#define FOUR_1(i, abcd, e, wk)                                                 \
    ((i) < 5                   ? vsha1cq_u32(abcd, e, wk)                      \
     : (i) >= 10 && (i) < 15 ? vsha1mq_u32(abcd, e, wk)                        \
                               : vsha1pq_u32(abcd, e, wk))

/* Four rounds, group i of twenty; its words become those of group i + 4. */
#define GROUP_1(i)                                                             \
    EACH_LANE(lanes,                                                           \
        uint32x4_t *m = s[l].m;                                                \
        const uint32x4_t wk = vaddq_u32(m[(i) & 3], K_1(i));                   \
        const uint32_t e = vsha1h_u32(vgetq_lane_u32(s[l].abcd, 0));           \
        s[l].abcd = FOUR_1(i, s[l].abcd, s[l].e, wk);                          \
        s[l].e = e;                                                            \
        if ((i) < 16) {                                                        \
            m[(i) & 3] = vsha1su1q_u32(                                        \
                vsha1su0q_u32(m[(i) & 3], m[((i) + 1) & 3], m[((i) + 2) & 3]), \
                m[((i) + 3) & 3]);                                             \
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

INLINE Lane1 get_1(const QCryptoSHAState *state)
{
    return (Lane1){vld1q_u32(state->w32), state->w32[4], {{0}}};
}

INLINE void put_1(QCryptoSHAState *state, const Lane1 *s)
{
    vst1q_u32(state->w32, s->abcd);
    state->w32[4] = s->e;
}

static void blocks_1(QCryptoSHAState *state, const uint8_t *data, size_t n)
{
    Lane1 s[1] = {get_1(state)};

    for (; n; n--, data += 64) {
        const uint32x4_t abcd = s->abcd;
        const uint32_t e = s->e;

        s->m[0] = load_words(data);
        s->m[1] = load_words(data + 16);
        s->m[2] = load_words(data + 32);
        s->m[3] = load_words(data + 48);
        rounds_1(s, 1);
        s->abcd = vaddq_u32(s->abcd, abcd);
        s->e += e;
    }
    put_1(state, s);
}

INLINE void half_1(Lane1 *s, const Lane1 *mid, const QCryptoSHALoop *loop,
                   size_t lanes)
{
    EACH_LANE(lanes,
        s[l].m[0] = s[l].abcd;
        s[l].m[1] =
            vsetq_lane_u32(s[l].e, vld1q_u32(loop->pad[0].w32 + 4), 0);
        s[l].m[2] = vld1q_u32(loop->pad[1].w32);
        s[l].m[3] = vld1q_u32(loop->pad[1].w32 + 4);
        s[l].abcd = mid->abcd;
        s[l].e = mid->e;);
    rounds_1(s, lanes);
    EACH_LANE(lanes,
        s[l].abcd = vaddq_u32(s[l].abcd, mid->abcd);
        s[l].e += mid->e;);
}

INLINE void loop_1(QCryptoSHALoop *loop, size_t lanes, uint64_t times)
{
    Lane1 inner = get_1(&loop->inner), outer = get_1(&loop->outer);
    Lane1 s[LANES], t[LANES];

    EACH_LANE(lanes,
        s[l] = get_1(&loop->u[l]);
        t[l] = get_1(&loop->t[l]););
    for (; times; times--) {
        half_1(s, &inner, loop, lanes);
        half_1(s, &outer, loop, lanes);
        EACH_LANE(lanes,
            t[l].abcd = veorq_u32(t[l].abcd, s[l].abcd);
            t[l].e ^= s[l].e;);
    }
    EACH_LANE(lanes,
        put_1(&loop->u[l], &s[l]);
        put_1(&loop->t[l], &t[l]););
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

const QCryptoSHAKernel qcrypto_sha1_armv8 = {
    .blocks = blocks_1,
    .iterate = iterate_1,
    .max_lanes = LANES,
};
