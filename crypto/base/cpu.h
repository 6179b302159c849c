/*
 * CPU features, by name
 *
 * One word of bits says what this CPU and its kernel can run.  It is read
 * once; the environment variable QCRYPTO_CPU takes features away for tests
 * and experiments:
 *
 *     QCRYPTO_CPU=-vaes,-avx512f
 *
 * Taking a feature away also takes those that are built on it (without
 * "avx2" there is no "vaes").  A feature can never be added.  An unknown
 * name is an error, reported by every call that selects a row, so that a
 * misspelt switch never passes for a measurement.
 *
 * Rows name what they need with these bits (rows.h); no kernel looks at the
 * CPU by itself.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_CPU_H
#define QCRYPTO_BASE_CPU_H

#include <glib.h>
#include <stdint.h>

enum {
    /* x86-64 */
    QCRYPTO_CPU_SSE2 = 1 << 0,
    QCRYPTO_CPU_SSSE3 = 1 << 1,
    QCRYPTO_CPU_SSE41 = 1 << 2,
    QCRYPTO_CPU_PCLMUL = 1 << 3,
    QCRYPTO_CPU_AVX = 1 << 4,
    QCRYPTO_CPU_AVX2 = 1 << 5,
    QCRYPTO_CPU_BMI2 = 1 << 6,
    QCRYPTO_CPU_VAES = 1 << 7,
    QCRYPTO_CPU_VPCLMUL = 1 << 8,
    QCRYPTO_CPU_SHANI = 1 << 9,
    QCRYPTO_CPU_AVX512F = 1 << 10,
    QCRYPTO_CPU_AVX512BW = 1 << 11,
    QCRYPTO_CPU_AVX512VL = 1 << 12,
    QCRYPTO_CPU_AVX512DQ = 1 << 13,
    /* both */
    QCRYPTO_CPU_AES = 1 << 16,
    /* AArch64 */
    QCRYPTO_CPU_NEON = 1 << 20,
    QCRYPTO_CPU_PMULL = 1 << 21,
    QCRYPTO_CPU_SHA1 = 1 << 22,
    QCRYPTO_CPU_SHA2 = 1 << 23,

    /* what every AVX-512 kernel of ours needs */
    QCRYPTO_CPU_AVX512 = QCRYPTO_CPU_AVX512F | QCRYPTO_CPU_AVX512BW |
                         QCRYPTO_CPU_AVX512VL | QCRYPTO_CPU_AVX512DQ,

    /* what the kernels of AES need, by the compiler flags of their files */
    QCRYPTO_CPU_AES_NI = QCRYPTO_CPU_AES | QCRYPTO_CPU_SSE41,
    QCRYPTO_CPU_AES_VAES = QCRYPTO_CPU_AES_NI | QCRYPTO_CPU_AVX2 |
                           QCRYPTO_CPU_VAES | QCRYPTO_CPU_BMI2 |
                           QCRYPTO_CPU_PCLMUL,
    QCRYPTO_CPU_AES_VAES512 =
        QCRYPTO_CPU_AES_VAES | QCRYPTO_CPU_AVX512 | QCRYPTO_CPU_VPCLMUL,

    /* the same for SHA */
    QCRYPTO_CPU_SHA_NI = QCRYPTO_CPU_SHANI | QCRYPTO_CPU_SSE41,
    QCRYPTO_CPU_SHA_AVX2 = QCRYPTO_CPU_AVX2 | QCRYPTO_CPU_BMI2,
};

/* The features in force: the hardware's less what QCRYPTO_CPU took away. */
uint32_t qcrypto_cpu_features(void);

/* The hardware's own features, whatever QCRYPTO_CPU says. */
uint32_t qcrypto_cpu_hardware(void);

/* NULL, or the lasting error in QCRYPTO_CPU (owned by the callee). */
const GError *qcrypto_cpu_error(void);

/*
 * The names of the features in @mask, joined by @sep, to be freed with
 * g_free; "none" for 0.
 */
char *qcrypto_cpu_names(uint32_t mask, const char *sep);

#endif
