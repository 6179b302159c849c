/*
 * ChaCha of the builtin backend: kernels
 *
 * A kernel is the three QCryptoChaChaOps (rows.h) of 8, 12 and 20 rounds;
 * a row points into it.  The number of rounds is a constant of each function.
 *
 *   row              file                   needs          blocks in flight
 *   chacha-portable  chacha-portable.c      -              1
 *   chacha-ssse3     x86/chacha-ssse3.c     ssse3          4
 *   chacha-avx2      x86/chacha-avx2.c      avx2           8
 *   chacha-avx512    x86/chacha-avx512.c    avx512f,bw,vl  16
 *   chacha-neon      arm/chacha-neon.c      NEON           4
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_CHACHA_H
#define QCRYPTO_BUILTIN_CHACHA_H

#include "crypto/base/rows.h"

extern const QCryptoChaChaOps
    qcrypto_chacha_portable[QCRYPTO_CHACHA_ALGO__MAX];
extern const QCryptoChaChaOps qcrypto_chacha_ssse3[QCRYPTO_CHACHA_ALGO__MAX];
extern const QCryptoChaChaOps qcrypto_chacha_avx2[QCRYPTO_CHACHA_ALGO__MAX];
extern const QCryptoChaChaOps qcrypto_chacha_avx512[QCRYPTO_CHACHA_ALGO__MAX];
extern const QCryptoChaChaOps qcrypto_chacha_neon[QCRYPTO_CHACHA_ALGO__MAX];

/*
 * Defines a kernel from two inline functions over a constant number of
 * rounds: run(st, in, out, len, rounds), where in may be NULL for the
 * keystream itself, and run_words(st, out, ngroups, rounds).
 */
#define QCRYPTO_CHACHA_KERNEL(name, run, run_words)                          \
    QCRYPTO_CHACHA_ROUNDS(run, run_words, 8)                                 \
    QCRYPTO_CHACHA_ROUNDS(run, run_words, 12)                                \
    QCRYPTO_CHACHA_ROUNDS(run, run_words, 20)                                \
    const QCryptoChaChaOps name[QCRYPTO_CHACHA_ALGO__MAX] = {                \
        QCRYPTO_CHACHA_OPS(8),                                               \
        QCRYPTO_CHACHA_OPS(12),                                              \
        QCRYPTO_CHACHA_OPS(20),                                              \
    };

#define QCRYPTO_CHACHA_OPS(n)                                                \
    [QCRYPTO_CHACHA_ALGO_CHACHA##n] = {                                      \
        .crypt = crypt_##n,                                                  \
        .keystream = keystream_##n,                                          \
        .keystream_words = words_##n,                                        \
    }

/* one function for data and keystream: the difference is a branch a pass */
#define QCRYPTO_CHACHA_ROUNDS(run, run_words, n)                             \
    static void run_##n(const uint32_t st[16], const uint8_t *in,            \
                        uint8_t *out, size_t len)                            \
    {                                                                        \
        run(st, in, out, len, n);                                            \
    }                                                                        \
    static int crypt_##n(const void *ctx G_GNUC_UNUSED,                      \
                         const uint32_t st[16], const uint8_t *in,           \
                         uint8_t *out, size_t len,                           \
                         GError **errp G_GNUC_UNUSED)                        \
    {                                                                        \
        run_##n(st, in, out, len);                                           \
        return 0;                                                            \
    }                                                                        \
    static void keystream_##n(const uint32_t st[16], uint8_t *out,           \
                              size_t nblocks)                                \
    {                                                                        \
        run_##n(st, NULL, out, nblocks * 64);                                \
    }                                                                        \
    static void words_##n(const uint32_t st[16], uint8_t *out,               \
                          size_t ngroups)                                    \
    {                                                                        \
        run_words(st, out, ngroups, n);                                      \
    }

#endif
