/*
 * What the disassembly test must find, and what it must not mind
 *
 * Each leak_* breaks one rule of constant time, each clean_* does what
 * kernels may do.  Nothing here is ever run: the script `disasm --control`
 * reads the object.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdint.h>
#include <string.h>

#include "ct-leaks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* keeps compilers from turning a branch into arithmetic */
#define BARRIER(x) __asm__ volatile("" : "+r"(x))

static const uint8_t table[256] = {99, 124, 119, 123};

void leak_table_of_data(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                        size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        dst[i] = table[src[i] ^ key[i & 15]];
    }
}

void leak_branch_on_key(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                        size_t len)
{
    if (key[3] & 1) {
        memcpy(dst, src, len);
    }
}

/* the secret waits in a slot on the stack while other things happen */
void leak_through_stack(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                        size_t len)
{
    volatile uint64_t kept = key[0];
    size_t i;

    for (i = 0; i < len; i++) {
        dst[i] = src[i];
    }
    if (kept == 7) {
        dst[0] = 0;
    }
}

/* an array that was cleared, then filled somewhere */
void leak_through_array(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                        size_t len)
{
    uint8_t kept[64];

    memset(kept, 0, sizeof(kept));
    memcpy(kept + (len & 31), key, 16);
    __asm__ volatile("" : : "r"(kept) : "memory");
    if (kept[0]) {
        dst[0] = src[0];
    }
}

void leak_loop_count(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                     size_t len)
{
    size_t n = len + (key[0] & 3);

    for (; n; n--) {
        BARRIER(n);
        *dst++ = *src++;
    }
}

void leak_division(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                   size_t len)
{
    uint64_t k, d;

    memcpy(&k, key, 8);
    memcpy(&d, src, 8);
    k = k / (d | 1) + len;
    memcpy(dst, &k, 8);
}

static __attribute__((noinline)) uint64_t helper(uint64_t x, uint64_t y)
{
    BARRIER(x);
    return x * 5 + y;
}

/* across a call: what goes in secret comes out secret */
void leak_through_call(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                       size_t len)
{
    uint64_t k;

    memcpy(&k, key, 8);
    dst[0] = src[helper(k, len) & 15];
}

void leak_call_of_data(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                       size_t len)
{
    typedef void step(uint8_t * dst, const uint8_t *src, size_t len);
    step *f;

    memcpy(&f, key, sizeof(f));
    f(dst, src, len);
    dst[0] = 0;
}

#if defined(__x86_64__)
void leak_vector_mask(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                      size_t len)
{
    __m128i a = _mm_loadu_si128((const __m128i *)src);
    __m128i b = _mm_loadu_si128((const __m128i *)key);

    if (_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) != 0xffff) {
        memcpy(dst, src, len);
    }
}

__attribute__((target("sse4.1"))) void leak_vector_test(const uint8_t *key,
                                                        uint8_t *dst,
                                                        const uint8_t *src,
                                                        size_t len)
{
    __m128i a = _mm_loadu_si128((const __m128i *)src);
    __m128i b = _mm_loadu_si128((const __m128i *)key);

    if (_mm_testz_si128(a, b)) {
        memcpy(dst, src, len);
    }
}

void leak_vector_index(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                       size_t len)
{
    __m128i a = _mm_loadu_si128((const __m128i *)key);

    dst[len] = src[_mm_cvtsi128_si64(_mm_add_epi64(a, a)) & 63];
}

__attribute__((target("avx2"))) void leak_gather(const uint8_t *key,
                                                 uint8_t *dst,
                                                 const uint8_t *src, size_t len)
{
    __m128i at = _mm_loadu_si128((const __m128i *)(key + len));

    _mm_storeu_si128((__m128i *)dst,
                     _mm_i32gather_epi32((const int *)src, at, 4));
}

__attribute__((target("avx512f,avx512bw,avx512vl"))) void leak_mask_register(
    const uint8_t *key, uint8_t *dst, const uint8_t *src, size_t len)
{
    __m512i a = _mm512_loadu_si512(src);
    __m512i b = _mm512_loadu_si512(key);

    if (_mm512_cmpeq_epu64_mask(a, b)) {
        memcpy(dst, src, len);
    }
}
#elif defined(__aarch64__)
#include <arm_neon.h>

void leak_vector_index(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                       size_t len)
{
    uint8x16_t a = vaddq_u8(vld1q_u8(key), vld1q_u8(src));

    dst[len] = src[vgetq_lane_u8(a, 3)];
}

void leak_vector_sum(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                     size_t len)
{
    if (vaddlvq_u8(vld1q_u8(key))) {
        memcpy(dst, src, len);
    }
}
#endif

void clean_xor(const uint8_t *key, uint8_t *dst, const uint8_t *src, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        dst[i] = src[i] ^ key[i & 15];
    }
}

/* a number of rounds that the key object holds, behind its two schedules */
void clean_rounds(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                  size_t len)
{
    uint32_t rounds, r;

    memcpy(&rounds, key + 480, 4);
    for (r = 0; r < rounds; r++) {
        dst[r % (len | 1)] ^= src[r] + key[16 * r];
    }
}

/* the tweak's doubling: a mask by arithmetic, not by a decision */
void clean_doubling(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                    size_t len)
{
    uint64_t lo, hi;

    memcpy(&lo, key, 8);
    memcpy(&hi, key + 8, 8);
    for (; len >= 16; len -= 16) {
        uint64_t carry = (uint64_t)((int64_t)hi >> 63) & 0x87;

        hi = hi << 1 | lo >> 63;
        lo = lo << 1 ^ carry ^ *src++;
        memcpy(dst, &lo, 8);
        memcpy(dst + 8, &hi, 8);
        dst += 16;
    }
}

/* lengths may be kept on the stack, also beside secrets */
void clean_lengths_on_stack(const uint8_t *key, uint8_t *dst,
                            const uint8_t *src, size_t len)
{
    volatile uint64_t kept = len, secret = key[1];

    while (kept) {
        *dst++ = *src++ + (uint8_t)secret;
        kept--;
    }
}

/* a counter block is public: its carry may be a decision */
void clean_ctr(const uint8_t *key, uint8_t *iv, uint8_t *dst, size_t len)
{
    uint64_t lo, hi;

    memcpy(&lo, iv, 8);
    memcpy(&hi, iv + 8, 8);
    for (; len; len--) {
        lo++;
        BARRIER(lo);
        if (!lo) {
            hi++;
        }
        *dst++ ^= key[0];
    }
    memcpy(iv, &lo, 8);
    memcpy(iv + 8, &hi, 8);
}
