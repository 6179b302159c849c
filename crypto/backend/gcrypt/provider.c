/*
 * libgcrypt: the provider
 *
 * Where there are two rows of one algorithm and mode, the first was the
 * faster of the two in libgcrypt 1.10 (see cipher.c).
 *
 * AES stands in twice: on CPUs with AES instructions libgcrypt uses those;
 * the "-anycpu" rows are for the others, where it may use tables.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gcrypt.h>

#include "crypto/backend/gcrypt/gcrypt.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/mode/mode.h"

#define ROW(a, m, name, needs, how, mode_ops)                                \
    {                                                                        \
        .kind = QCRYPTO_KIND_CIPHER, .alg = QCRYPTO_CIPHER_ALGO_##a,         \
        .mode = QCRYPTO_CIPHER_MODE_##m, .impl = name, .cpu = (needs),       \
        .flags = (how), .ops = &(mode_ops),                                  \
        .arg = &qcrypto_gcrypt_blocks[QCRYPTO_CIPHER_ALGO_##a],              \
    }

#define NATIVE(a, m, on, cpu, how) \
    ROW(a, m, "native" on, cpu, how, qcrypto_gcrypt_cipher)
#define GENERIC(a, m, on, cpu, how, mode_ops) \
    ROW(a, m, "generic" on, cpu, how, mode_ops)

/* every mode that works on blocks of 8 bytes too */
#define MODES(a, on, cpu, how)                                               \
    GENERIC(a, ECB, on, cpu, how, qcrypto_mode_ecb),                         \
    NATIVE(a, ECB, on, cpu, how), NATIVE(a, CBC, on, cpu, how),              \
    NATIVE(a, CTR, on, cpu, how)

#define BLOCK_8(a) MODES(a, "", 0, QCRYPTO_ROW_LEAKY)

#define BLOCK_16(a, how)                                                     \
    MODES(a, "", 0, how), GENERIC(a, XTS, "", 0, how, qcrypto_mode_xts),     \
    NATIVE(a, XTS, "", 0, how)

#define AES_ON(a, on, cpu, how)                                              \
    MODES(a, on, cpu, how), NATIVE(a, XTS, on, cpu, how)

#define AES(a)                                                               \
    AES_ON(a, "", QCRYPTO_CPU_AES, 0),                                       \
    AES_ON(a, "-anycpu", 0, QCRYPTO_ROW_LEAKY)

static const QCryptoRow rows[] = {
    AES(AES_128),
    AES(AES_192),
    AES(AES_256),
    BLOCK_8(DES),
    BLOCK_8(3DES),
    BLOCK_8(CAST5_128),
    /* bit-sliced: no tables */
    BLOCK_16(SERPENT_128, 0),
    BLOCK_16(SERPENT_192, 0),
    BLOCK_16(SERPENT_256, 0),
    BLOCK_16(TWOFISH_128, QCRYPTO_ROW_LEAKY),
    BLOCK_16(TWOFISH_256, QCRYPTO_ROW_LEAKY),
    BLOCK_16(SM4, QCRYPTO_ROW_LEAKY),
    BLOCK_16(CAMELLIA_128, QCRYPTO_ROW_LEAKY),
    BLOCK_16(CAMELLIA_192, QCRYPTO_ROW_LEAKY),
    BLOCK_16(CAMELLIA_256, QCRYPTO_ROW_LEAKY),
};

static const char *version(void)
{
    return gcry_check_version(NULL);
}

static int probe(GError **errp)
{
    /*
     * Set-up belongs to the application.  Where it did none, libgcrypt gets
     * no locked pool: handles of all ciphers live in ordinary memory anyway.
     */
    if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
        if (!gcry_check_version("1.10.0")) {
            return qcrypto_error_unavailable(
                errp, "gcrypt", "libgcrypt %s is older than 1.10.0",
                gcry_check_version(NULL));
        }
        gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
        gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    }
    if (gcry_fips_mode_active() && !gcry_control(GCRYCTL_OPERATIONAL_P, 0)) {
        return qcrypto_error_unavailable(
            errp, "gcrypt", "libgcrypt is in FIPS mode and its self-tests "
            "have failed");
    }
    return 0;
}

const QCryptoProvider qcrypto_provider_gcrypt = {
    .name = "gcrypt",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
    .probe = probe,
    .probe_row = qcrypto_gcrypt_probe_cipher,
};
