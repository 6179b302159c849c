/*
 * The builtin backend: its rows, the best first
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>

#include "crypto/backend/builtin/aes.h"
#include "crypto/backend/builtin/builtin.h"
#include "crypto/base/cpu.h"
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

static const QCryptoRow rows[] = {
#if defined(__x86_64__)
    AES("aes-vaes", QCRYPTO_CPU_AES_VAES, 0, qcrypto_aes_vaes),
    AES("aes-vaes512", QCRYPTO_CPU_AES_VAES512, QCRYPTO_ROW_AVOID,
        qcrypto_aes_vaes512),
    AES("aes-ni", QCRYPTO_CPU_AES_NI, 0, qcrypto_aes_ni),
#elif defined(__aarch64__)
    AES("aes-armv8", QCRYPTO_CPU_AES, 0, qcrypto_aes_armv8),
#endif
    AES("aes-portable", 0, 0, qcrypto_aes_portable),
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
