/*
 * The builtin backend: its rows, the best first
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>

#include "crypto/backend/builtin/aes.h"
#include "crypto/backend/builtin/builtin.h"
#include "crypto/backend/builtin/chacha.h"
#include "crypto/backend/builtin/sha.h"
#include "crypto/backend/builtin/xor.h"
#include "crypto/base/cpu.h"
#include "crypto/mode/mode.h"
#include "crypto/mode/xts-experiment.h"

#define CIPHER(alg, mode, impl, cpu, flags, ops, arg)                       \
    {QCRYPTO_KIND_CIPHER, QCRYPTO_CIPHER_ALGO_##alg,                        \
     QCRYPTO_CIPHER_MODE_##mode, impl, cpu, flags, &ops, arg}

/* one kernel, one key length: its four modes */
#define AES_MODES(alg, impl, cpu, flags, kernel)                               \
    CIPHER(alg, ECB, impl, cpu, flags, qcrypto_builtin_aes_ecb, &kernel),      \
        CIPHER(alg, CBC, impl, cpu, flags, qcrypto_builtin_aes_cbc, &kernel),  \
        CIPHER(alg, CTR, impl, cpu, flags, qcrypto_builtin_aes_ctr, &kernel),  \
        CIPHER(alg, XTS, impl, cpu, flags, qcrypto_builtin_aes_xts, &kernel)

#define AES(impl, cpu, flags, kernel)                     \
    AES_MODES(AES_128, impl, cpu, flags, kernel),         \
        AES_MODES(AES_192, impl, cpu, flags, kernel),     \
        AES_MODES(AES_256, impl, cpu, flags, kernel)

#define AES_BENCH(alg)                                                      \
    CIPHER(alg, ECB, "raw", QCRYPTO_CPU_AES_NI, QCRYPTO_ROW_BENCH,          \
           qcrypto_builtin_aes_raw, NULL),                                  \
        CIPHER(alg, XTS, "xts-bytewise", QCRYPTO_CPU_AES_NI,                \
               QCRYPTO_ROW_BENCH, qcrypto_mode_xts_bytewise,                \
               &qcrypto_builtin_aes_block),                                 \
        CIPHER(alg, XTS, "xts-uint128", QCRYPTO_CPU_AES_NI,                 \
               QCRYPTO_ROW_BENCH, qcrypto_mode_xts_uint128,                 \
               &qcrypto_builtin_aes_block)

#define CHACHA_ROW(alg, impl, cpu, kernel) \
    QCRYPTO_CHACHA_ROW(alg, impl, cpu, kernel[QCRYPTO_CHACHA_ALGO_##alg])

#define CHACHA(impl, cpu, kernel)                                              \
    CHACHA_ROW(CHACHA8, impl, cpu, kernel),                                    \
        CHACHA_ROW(CHACHA12, impl, cpu, kernel),                               \
        CHACHA_ROW(CHACHA20, impl, cpu, kernel)

/* place: the rank of the hash and its HMAC; kdf_place: that of its PBKDF2 */
#define SHA(a, impl, cpu, place, kdf_place, kernel)                            \
    QCRYPTO_HASH_ROW(HASH, a, impl, cpu, 0, place, qcrypto_builtin_sha_hash,   \
                     &kernel),                                                 \
        QCRYPTO_HASH_ROW(HMAC, a, impl, cpu, 0, place, qcrypto_mode_hmac,      \
                         QCRYPTO_HASH_DESC(qcrypto_builtin_sha_hash,           \
                                           &kernel)),                          \
        QCRYPTO_HASH_ROW(PBKDF2, a, impl, cpu, 0, kdf_place,                   \
                         qcrypto_builtin_sha_pbkdf2, &kernel)

#define SHA_NI(a, kernel) SHA(a, "sha-ni", QCRYPTO_CPU_SHA_NI, 0, 0, kernel)

/* 5 percent behind libgcrypt at 4 KiB and more; PBKDF2 leads */
#define SHA_AVX2(a, kernel) \
    SHA(a, "sha-avx2", QCRYPTO_CPU_SHA_AVX2, 1, 0, kernel)

/* plain C gives way to the libraries' assembly, not to GLib's plain C */
#define SHA_PORTABLE(a, kernel) SHA(a, "sha-portable", 0, 5, 5, kernel)

#define XOR(name, features, template)                                         \
    {                                                                         \
        .kind = QCRYPTO_KIND_XOR, .mode = -1, .impl = name, .cpu = features,  \
        .ops = &qcrypto_xor_ops_##template                                    \
    }

static const QCryptoRow rows[] = {
#if defined(__x86_64__)
    AES("aes-vaes", QCRYPTO_CPU_AES_VAES, 0, qcrypto_aes_vaes),
    /*
     * Proved on a CPU that has it (Zen 4), where it is no faster than the one
     * above in XTS and in some runs a tenth slower; CPUs that lower their
     * clock for 512-bit registers have not been seen.  Hence by name alone.
     */
    AES("aes-vaes512", QCRYPTO_CPU_AES_VAES512, QCRYPTO_ROW_AVOID,
        qcrypto_aes_vaes512),
    AES("aes-ni", QCRYPTO_CPU_AES_NI, 0, qcrypto_aes_ni),
#elif defined(__aarch64__)
    AES("aes-armv8", QCRYPTO_CPU_AES, 0, qcrypto_aes_armv8),
#endif
    AES("aes-portable", 0, 0, qcrypto_aes_portable),
#if defined(__x86_64__)
    XOR("avx2", QCRYPTO_CPU_AVX2, avx2),
    XOR("avx512", QCRYPTO_CPU_AVX512, avx512),
    XOR("sse2", QCRYPTO_CPU_SSE2, sse2),
#elif defined(__aarch64__)
    XOR("neon", QCRYPTO_CPU_NEON, neon),
#endif
    XOR("32regs", 0, 32regs),
    XOR("8regs", 0, 8regs),
#if defined(__x86_64__)
    CHACHA("chacha-avx512", QCRYPTO_CPU_AVX512, qcrypto_chacha_avx512),
    CHACHA("chacha-avx2", QCRYPTO_CPU_AVX2, qcrypto_chacha_avx2),
    CHACHA("chacha-ssse3", QCRYPTO_CPU_SSSE3, qcrypto_chacha_ssse3),
#elif defined(__aarch64__)
    CHACHA("chacha-neon", QCRYPTO_CPU_NEON, qcrypto_chacha_neon),
#endif
    CHACHA("chacha-portable", 0, qcrypto_chacha_portable),
#if defined(__x86_64__)
    SHA_NI(SHA1, qcrypto_sha1_ni),
    SHA_NI(SHA224, qcrypto_sha256_ni),
    SHA_NI(SHA256, qcrypto_sha256_ni),
    SHA_AVX2(SHA384, qcrypto_sha512_avx2),
    SHA_AVX2(SHA512, qcrypto_sha512_avx2),
#elif defined(__aarch64__)
    SHA(SHA1, "sha-armv8", QCRYPTO_CPU_SHA1, 0, 0, qcrypto_sha1_armv8),
    SHA(SHA224, "sha-armv8", QCRYPTO_CPU_SHA2, 0, 0, qcrypto_sha256_armv8),
    SHA(SHA256, "sha-armv8", QCRYPTO_CPU_SHA2, 0, 0, qcrypto_sha256_armv8),
#endif
    SHA_PORTABLE(SHA1, qcrypto_sha1_portable),
    SHA_PORTABLE(SHA224, qcrypto_sha256_portable),
    SHA_PORTABLE(SHA256, qcrypto_sha256_portable),
    SHA_PORTABLE(SHA384, qcrypto_sha512_portable),
    SHA_PORTABLE(SHA512, qcrypto_sha512_portable),
#if defined(__x86_64__)
    AES_BENCH(AES_128),
    AES_BENCH(AES_192),
    AES_BENCH(AES_256),
#endif
};

const QCryptoProvider qcrypto_provider_builtin = {
    .name = "builtin",
    .version = qcrypto_version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
