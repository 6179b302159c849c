/*
 * libgcrypt: the provider
 *
 * Where there are two rows of one algorithm and mode, the first was the
 * faster of the two in libgcrypt 1.10 (see cipher.c): 1.7 times in ECB of
 * AES, 3 to 8 times in ECB and XTS of Serpent, Camellia and SM4.
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

#define ROW(a, m, name, cpu, how, mode_ops)                                    \
    QCRYPTO_CIPHER_ROW(a, m, name, cpu, how, mode_ops,                         \
                       &qcrypto_gcrypt_blocks[QCRYPTO_CIPHER_ALGO_##a])

#define NATIVE(a, m, on, cpu, how)                                             \
    ROW(a, m, "native" on, cpu, how, qcrypto_gcrypt_cipher)
#define GENERIC(a, m, on, cpu, how, mode_ops)                                  \
    ROW(a, m, "generic" on, cpu, how, mode_ops)

/* the modes in which libgcrypt is wide by itself, or cannot be */
#define CHAINED(a, on, cpu, how)                                               \
    NATIVE(a, CBC, on, cpu, how), NATIVE(a, CTR, on, cpu, how)

#define MODES(a, on, cpu, how)                                                 \
    GENERIC(a, ECB, on, cpu, how, qcrypto_mode_ecb),                           \
        NATIVE(a, ECB, on, cpu, how), CHAINED(a, on, cpu, how)

#define BLOCK_8(a) MODES(a, "", 0, QCRYPTO_ROW_LEAKY)

#define BLOCK_16(a, how)                                                       \
    MODES(a, "", 0, how), GENERIC(a, XTS, "", 0, how, qcrypto_mode_xts),       \
        NATIVE(a, XTS, "", 0, how)

#define AES_ON(a, on, cpu, how)                                                \
    MODES(a, on, cpu, how), NATIVE(a, XTS, on, cpu, how)

#define AES(a)                                                                 \
    AES_ON(a, "", QCRYPTO_CPU_AES, 0),                                         \
        AES_ON(a, "-anycpu", 0, QCRYPTO_ROW_LEAKY)

/*
 * place: the rank of the hash and its HMAC; kdf_place: that of its PBKDF2.
 * The generic PBKDF2 copies handles: it is for what the native one refuses.
 */
#define HASH(a, algo, how, place, kdf_place)                                   \
    QCRYPTO_HASH_ROW(HASH, a, "native", 0, how, place, qcrypto_gcrypt_hash,    \
                     &(const int){algo}),                                      \
        QCRYPTO_HASH_ROW(HMAC, a, "native", 0, how, place,                     \
                         qcrypto_gcrypt_hmac, &(const int){algo}),             \
        QCRYPTO_HASH_ROW(PBKDF2, a, "native", 0, how, kdf_place,               \
                         qcrypto_gcrypt_pbkdf2, &(const int){algo}),           \
        QCRYPTO_HASH_ROW(PBKDF2, a, "generic", 0, how, 6, qcrypto_mode_pbkdf2, \
                         QCRYPTO_HASH_DESC(qcrypto_gcrypt_hash,                \
                                           (&(const int){algo})))

static const QCryptoRow rows[] = {
    AES(AES_128),
    AES(AES_192),
    AES(AES_256),
    /* nothing of single DES is wide */
    NATIVE(DES, ECB, "", 0, QCRYPTO_ROW_LEAKY),
    CHAINED(DES, "", 0, QCRYPTO_ROW_LEAKY),
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
    QCRYPTO_CHACHA_ROW(CHACHA20, "native", 0, qcrypto_gcrypt_chacha20),
    QCRYPTO_ARGON2_ROW(ARGON2I, "threads", 2, qcrypto_gcrypt_argon2,
                       GINT_TO_POINTER(GCRY_KDF_ARGON2I)),
    QCRYPTO_ARGON2_ROW(ARGON2ID, "threads", 2, qcrypto_gcrypt_argon2,
                       GINT_TO_POINTER(GCRY_KDF_ARGON2ID)),
    /* nettle's MD5 takes less to start (1.6 times at 16 bytes), and so does
     * its PBKDF2 with the shorter hashes (1.1 to 1.7 times) */
    HASH(MD5, GCRY_MD_MD5, 0, 1, 1),
    HASH(SHA1, GCRY_MD_SHA1, 0, 0, 1),
    HASH(SHA224, GCRY_MD_SHA224, 0, 0, 1),
    HASH(SHA256, GCRY_MD_SHA256, 0, 0, 1),
    HASH(SHA384, GCRY_MD_SHA384, 0, 0, 0),
    HASH(SHA512, GCRY_MD_SHA512, 0, 0, 0),
    HASH(RIPEMD160, GCRY_MD_RMD160, 0, 0, 0),
    HASH(SM3, GCRY_MD_SM3, 0, 0, 0),
    HASH(SHA3_256, GCRY_MD_SHA3_256, 0, 0, 0),
    HASH(SHA3_512, GCRY_MD_SHA3_512, 0, 0, 0),
    HASH(BLAKE2B_512, GCRY_MD_BLAKE2B_512, 0, 0, 0),
    HASH(BLAKE2S_256, GCRY_MD_BLAKE2S_256, 0, 0, 0),
    /* looks up tables by the data */
    HASH(WHIRLPOOL, GCRY_MD_WHIRLPOOL, QCRYPTO_ROW_LEAKY, 0, 0),
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
            errp, "gcrypt",
            "libgcrypt is in FIPS mode and its self-tests "
            "have failed");
    }
    return 0;
}

/* kinds that are not here ask nothing: the self-test tells */
typedef int ProbeFunc(const QCryptoRow *row, GError **errp);

static ProbeFunc *const probes[QCRYPTO_KIND__MAX] = {
    [QCRYPTO_KIND_CIPHER] = qcrypto_gcrypt_probe_cipher,
    [QCRYPTO_KIND_HASH] = qcrypto_gcrypt_probe_hash,
    [QCRYPTO_KIND_HMAC] = qcrypto_gcrypt_probe_hash,
    [QCRYPTO_KIND_PBKDF2] = qcrypto_gcrypt_probe_hash,
};

static int probe_row(const QCryptoRow *row, GError **errp)
{
    return probes[row->kind] ? probes[row->kind](row, errp) : 0;
}

const QCryptoProvider qcrypto_provider_gcrypt = {
    .name = "gcrypt",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
    .probe = probe,
    .probe_row = probe_row,
};
