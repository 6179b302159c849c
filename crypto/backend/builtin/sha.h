/*
 * SHA-1 and SHA-2: what a kernel is
 *
 * A kernel is the compression function over whole blocks, and optionally the
 * inner loop of PBKDF2, where several messages of one block stand ready at
 * once.  Buffering, padding and output (sha.c) are the same for all.
 *
 *   file              compression functions           needs
 *   sha1-portable.c   SHA-1                           -
 *   sha2-portable.c   SHA-256, SHA-512                -
 *   x86/sha-ni.c      SHA-1, SHA-256                  SHA-NI
 *   x86/sha512-avx2.c SHA-512                         AVX2, BMI2
 *   arm/sha-armv8.c   SHA-1, SHA-256                  ARMv8's SHA instructions
 *
 * All of them run in constant time: additions, rotations and bit operations.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_SHA_H
#define QCRYPTO_BUILTIN_SHA_H

#include <stddef.h>
#include <stdint.h>

/* The chaining value, words as numbers of the host; SHA-1 has five. */
typedef union QCryptoSHAState {
    uint32_t w32[8];
    uint64_t w64[8];
} QCryptoSHAState;

/* The most messages that an iterate function takes at once. */
#define QCRYPTO_SHA_LANES 4

/*
 * The loop of PBKDF2: u = HMAC(u) and t ^= u, again and again, in several
 * independent lanes under one key.  The states are those after the key's
 * block went in.
 */
typedef struct QCryptoSHALoop {
    QCryptoSHAState inner, outer;
    /*
     * What follows u in the one block of a message, and 0 in the place of u:
     * the padding, whose length field counts the key's block too.
     */
    QCryptoSHAState pad[2];
    /* all bits set in the place of u, which is the digest, 0 behind it */
    QCryptoSHAState mask;
    QCryptoSHAState u[QCRYPTO_SHA_LANES];
    QCryptoSHAState t[QCRYPTO_SHA_LANES];
} QCryptoSHALoop;

typedef struct QCryptoSHAKernel {
    /* n blocks into the state; any address, n may be 0 */
    void (*blocks)(QCryptoSHAState *state, const uint8_t *data, size_t n);
    /* lanes: 1 to max_lanes; NULL: sha.c does it over blocks */
    void (*iterate)(QCryptoSHALoop *loop, size_t lanes, uint64_t times);
    size_t max_lanes;
} QCryptoSHAKernel;

extern const QCryptoSHAKernel qcrypto_sha1_portable;
extern const QCryptoSHAKernel qcrypto_sha256_portable;
extern const QCryptoSHAKernel qcrypto_sha512_portable;
extern const QCryptoSHAKernel qcrypto_sha1_ni;
extern const QCryptoSHAKernel qcrypto_sha256_ni;
extern const QCryptoSHAKernel qcrypto_sha512_avx2;
extern const QCryptoSHAKernel qcrypto_sha1_armv8;
extern const QCryptoSHAKernel qcrypto_sha256_armv8;

/* FIPS 180-4, 4.2.2 and 4.2.3; in sha2-portable.c, on 64-byte boundaries */
extern const uint32_t qcrypto_sha256_k[64];
extern const uint64_t qcrypto_sha512_k[80];

#endif
