/*
 * AF_ALG: the provider
 *
 * The Linux kernel's own ciphers and hashes, through sockets: for engines
 * that only the kernel drives, and to measure its drivers.  It costs some
 * system calls and two copies a request, so it is never in the default order
 * (core/providers.c), and its rows are looked at when somebody asks for them:
 * a look may load kernel modules.
 *
 * Every algorithm has one row here, "kernel", whatever driver the kernel
 * takes for it; that driver is what the row says it is once it is known.  A
 * row for a driver of one's choice is made when it is asked for by name,
 * "afalg:xts-aes-aesni".
 *
 * Whether a kernel's AES looks things up in tables is a matter of its drivers:
 * on a CPU with AES instructions they use those.  Serpent is bit-sliced.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>
#include <sys/utsname.h>

#include "crypto/backend/afalg/afalg.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"

#define ROW(a, m, name, cpu, how)                                              \
    QCRYPTO_CIPHER_ROW(a, m, name, cpu, how, qcrypto_afalg_cipher, NULL)
#define BLOCK_8(a, name, cpu, how)                                             \
    ROW(a, ECB, name, cpu, how), ROW(a, CBC, name, cpu, how),                  \
        ROW(a, CTR, name, cpu, how)
#define BLOCK_16(a, name, cpu, how)                                            \
    BLOCK_8(a, name, cpu, how), ROW(a, XTS, name, cpu, how)
#define AES(a)                                                                 \
    BLOCK_16(a, "kernel", QCRYPTO_CPU_AES, 0),                                 \
        BLOCK_16(a, "kernel-anycpu", 0, QCRYPTO_ROW_LEAKY)
#define TABLES(a) BLOCK_16(a, "kernel", 0, QCRYPTO_ROW_LEAKY)
#define HASH(a)                                                                \
    QCRYPTO_HASH_ROW(HASH, a, "kernel", 0, 0, 0, qcrypto_afalg_hash, NULL),    \
        QCRYPTO_HASH_ROW(HMAC, a, "kernel", 0, 0, 0, qcrypto_afalg_hmac, NULL)

static const QCryptoRow rows[] = {
    AES(AES_128),
    AES(AES_192),
    AES(AES_256),
    BLOCK_8(DES, "kernel", 0, QCRYPTO_ROW_LEAKY),
    BLOCK_8(3DES, "kernel", 0, QCRYPTO_ROW_LEAKY),
    BLOCK_8(CAST5_128, "kernel", 0, QCRYPTO_ROW_LEAKY),
    BLOCK_16(SERPENT_128, "kernel", 0, 0),
    BLOCK_16(SERPENT_192, "kernel", 0, 0),
    BLOCK_16(SERPENT_256, "kernel", 0, 0),
    TABLES(TWOFISH_128),
    TABLES(TWOFISH_192),
    TABLES(TWOFISH_256),
    TABLES(SM4),
    TABLES(CAMELLIA_128),
    TABLES(CAMELLIA_192),
    TABLES(CAMELLIA_256),
    HASH(MD5),
    HASH(SHA1),
    HASH(SHA224),
    HASH(SHA256),
    HASH(SHA384),
    HASH(SHA512),
    HASH(RIPEMD160),
    HASH(SM3),
    HASH(SHA3_256),
    HASH(SHA3_512),
    HASH(BLAKE2B_512),
    HASH(BLAKE2S_256),
    HASH(WHIRLPOOL),
    {
        .kind = QCRYPTO_KIND_RNG,
        .mode = -1,
        .impl = "kernel",
        .ops = &qcrypto_afalg_rng,
    },
};

static const char *version(void)
{
    static gsize once;
    static struct utsname name;

    if (g_once_init_enter(&once)) {
        if (uname(&name) < 0) {
            name.release[0] = '\0';
        }
        g_once_init_leave(&once, 1);
    }
    return name.release;
}

static int probe(GError **errp)
{
    const int fd = qcrypto_afalg_socket(errp);

    if (fd < 0) {
        return -1;
    }
    qcrypto_afalg_close(fd);
    return 0;
}

static int probe_row(const QCryptoRow *row, GError **errp)
{
    char name[QCRYPTO_AFALG_NAME];

    qcrypto_afalg_name(row, name);
    const int fd =
        qcrypto_afalg_open(qcrypto_afalg_type(row->kind), name, errp);
    if (fd < 0) {
        return -1;
    }
    qcrypto_afalg_close(fd);
    return 0;
}

static const char *impl(const QCryptoRow *row)
{
    char name[QCRYPTO_AFALG_NAME];

    if (row->arg) {
        return row->impl;
    }
    qcrypto_afalg_name(row, name);
    return qcrypto_afalg_driver(qcrypto_afalg_type(row->kind), name);
}

static const QCryptoRow *generic_row(QCryptoKind kind, int alg, int mode)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        if (rows[i].kind == kind && rows[i].alg == alg &&
            rows[i].mode == mode) {
            return &rows[i];
        }
    }
    return NULL;
}

static const QCryptoRow *named(QCryptoKind kind, int alg, int mode,
                               const char *driver, GError **errp)
{
    const QCryptoRow *generic = generic_row(kind, alg, mode);
    char name[QCRYPTO_AFALG_NAME];

    /* the kernel's names are shorter; a longer one would be cut to another */
    if (!generic || strlen(driver) >= QCRYPTO_AFALG_NAME) {
        return NULL;
    }
    const char *type = qcrypto_afalg_type(kind);
    const int fd = qcrypto_afalg_open(type, driver, errp);
    if (fd < 0) {
        return NULL;
    }
    qcrypto_afalg_close(fd);
    /* where the kernel does not say, the self-test of the row will tell */
    const char *of = qcrypto_afalg_algorithm(type, driver);
    qcrypto_afalg_name(generic, name);
    if (of && strcmp(of, name) != 0) {
        qcrypto_error_unsupported(errp, name, "the driver %s is one of %s",
                                  driver, of);
        return NULL;
    }
    QCryptoRow *row = g_new(QCryptoRow, 1);
    *row = *generic;
    row->cpu = 0;
    row->impl = g_intern_string(driver);
    row->arg = row->impl;
    return row;
}

const QCryptoProvider qcrypto_provider_afalg = {
    .name = "afalg",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
    .probe = probe,
    .probe_row = probe_row,
    .impl = impl,
    .named = named,
};
