/*
 * GnuTLS: the provider
 *
 * Its AES runs on the CPU's AES instructions where there are any; the
 * "-anycpu" rows are for CPUs without, where it may use tables.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <gnutls/gnutls.h>

#include "crypto/backend/gnutls/gnutls.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/mode/mode.h"

#define ROW(a, m, name, cpu, how, mode_ops)                                    \
    QCRYPTO_CIPHER_ROW(a, m, name, cpu, how, mode_ops,                         \
                       &qcrypto_gnutls_blocks[QCRYPTO_CIPHER_ALGO_##a])

#define NATIVE(a, m, on, cpu, how)                                             \
    ROW(a, m, "native" on, cpu, how, qcrypto_gnutls_cipher)
#define GENERIC(a, m, on, cpu, how, mode_ops)                                  \
    ROW(a, m, "generic" on, cpu, how, mode_ops)

#define MODES(a, on, cpu, how)                                                 \
    GENERIC(a, ECB, on, cpu, how, qcrypto_mode_ecb),                           \
        NATIVE(a, CBC, on, cpu, how),                                          \
        GENERIC(a, CTR, on, cpu, how, qcrypto_mode_ctr)

#define XTS_NATIVE(a, on, cpu, how) NATIVE(a, XTS, on, cpu, how)
#define XTS_GENERIC(a, on, cpu, how)                                           \
    GENERIC(a, XTS, on, cpu, how, qcrypto_mode_xts)

#define BLOCK_8(a) MODES(a, "", 0, QCRYPTO_ROW_LEAKY)

#define BLOCK_16(a)                                                            \
    MODES(a, "", 0, QCRYPTO_ROW_LEAKY), XTS_GENERIC(a, "", 0, QCRYPTO_ROW_LEAKY)

#define AES(a, xts)                                                            \
    MODES(a, "", QCRYPTO_CPU_AES, 0), xts(a, "", QCRYPTO_CPU_AES, 0),          \
        MODES(a, "-anycpu", 0, QCRYPTO_ROW_LEAKY),                             \
        xts(a, "-anycpu", 0, QCRYPTO_ROW_LEAKY)

#define HASH_ROW(k, a, name, place, row_ops, row_arg)                          \
    QCRYPTO_HASH_ROW(k, a, name, 0, 0, place, row_ops, row_arg)

#define HASH_ALONE(a, place)                                                   \
    HASH_ROW(HASH, a, "native", place, qcrypto_gnutls_hash,                    \
             &(const gnutls_digest_algorithm_t){GNUTLS_DIG_##a})

#define HASH(a, place)                                                         \
    HASH_ALONE(a, place),                                                      \
        HASH_ROW(HMAC, a, "native", place, qcrypto_gnutls_hmac,                \
                 &(const gnutls_mac_algorithm_t){GNUTLS_MAC_##a}),             \
        HASH_ROW(PBKDF2, a, "native", place, qcrypto_gnutls_pbkdf2,            \
                 &(const gnutls_mac_algorithm_t){GNUTLS_MAC_##a})

#define HASH_DESC(a)                                                           \
    QCRYPTO_HASH_DESC(qcrypto_gnutls_hash,                                     \
                      (&(const gnutls_digest_algorithm_t){GNUTLS_DIG_##a}))

/* there is no HMAC over these */
#define HASH_GENERIC(a)                                                        \
    HASH_ALONE(a, 0),                                                          \
        HASH_ROW(HMAC, a, "generic", 0, qcrypto_mode_hmac, HASH_DESC(a)),      \
        HASH_ROW(PBKDF2, a, "generic", 0, qcrypto_mode_pbkdf2, HASH_DESC(a))

static const QCryptoRow rows[] = {
    AES(AES_128, XTS_NATIVE),
    AES(AES_192, XTS_GENERIC),
    AES(AES_256, XTS_NATIVE),
    BLOCK_8(DES),
    BLOCK_8(3DES),
    BLOCK_16(CAMELLIA_128),
    BLOCK_16(CAMELLIA_192),
    BLOCK_16(CAMELLIA_256),
    QCRYPTO_CHACHA_ROW(CHACHA20, "native", 0, qcrypto_gnutls_chacha20),
    HASH(MD5, 0),
    HASH(SHA1, 0),
    HASH(SHA224, 0),
    HASH(SHA256, 0),
    /* the fastest from 4 KiB on, the slowest in short messages */
    HASH(SHA384, 2),
    HASH(SHA512, 2),
    HASH_GENERIC(SHA3_256),
    HASH_GENERIC(SHA3_512),
};

static const char *version(void)
{
    return gnutls_check_version(NULL);
}

static int probe(GError **errp)
{
    /* counted: the application may have its own */
    int code = gnutls_global_init();

    if (code < 0) {
        return qcrypto_error_unavailable(
            errp, "gnutls", "gnutls_global_init: %s", gnutls_strerror(code));
    }
    return 0;
}

/* kinds that are not here ask nothing: the self-test tells */
typedef int ProbeFunc(const QCryptoRow *row, GError **errp);

static ProbeFunc *const probes[QCRYPTO_KIND__MAX] = {
    [QCRYPTO_KIND_CIPHER] = qcrypto_gnutls_probe_cipher,
    [QCRYPTO_KIND_HASH] = qcrypto_gnutls_probe_hash,
};

static int probe_row(const QCryptoRow *row, GError **errp)
{
    return probes[row->kind] ? probes[row->kind](row, errp) : 0;
}

const QCryptoProvider qcrypto_provider_gnutls = {
    .name = "gnutls",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
    .probe = probe,
    .probe_row = probe_row,
};
