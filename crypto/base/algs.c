/*
 * The algorithm table
 *
 * One line an algorithm.  Sizes are bytes.  The LUKS spelling of a cipher is
 * its family in the Linux crypto API; the key length picks the member.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/algs.h"

#include <qcrypto/cipher.h>
#include <qcrypto/comp.h>
#include <qcrypto/hash.h>
#include <qcrypto/ivgen.h>
#include <qcrypto/kdf.h>

#define CIPHER(id, name, family, key, block)                                   \
    {QCRYPTO_KIND_CIPHER, QCRYPTO_CIPHER_ALGO_##id, name, family, family, key, \
     block, 0}
#define HASH(id, name, kernel, block, out)                                \
    {QCRYPTO_KIND_HASH, QCRYPTO_HASH_ALGO_##id, name, name, kernel, 0, block, out}
/* key: the longest; the short one is half of it */
#define CHACHA(rounds)                                                       \
    {QCRYPTO_KIND_CHACHA, QCRYPTO_CHACHA_ALGO_CHACHA##rounds,                \
     "chacha" #rounds, "chacha" #rounds, "chacha" #rounds, 32, 64, 0}
#define ARGON2(id, name) \
    {QCRYPTO_KIND_ARGON2, QCRYPTO_ARGON2_ALGO_##id, name, name, name, 0, 0, 0}
/* Levels: zlib has 0 to 9, libdeflate up to 12; those of zstd below 1 and of
 * lz4 below 0 are its "fast" ones. */
#define COMP(id, name, min, max, usual, ends)                                 \
    {QCRYPTO_KIND_COMP, QCRYPTO_COMP_ALGO_##id, name, name, name, 0, 0, 0,    \
     min, max, usual, ends}
#define IVGEN(id, name) \
    {QCRYPTO_KIND_IVGEN, QCRYPTO_IV_GEN_ALGO_##id, name, name, name, 0, 0, 0}

static const QCryptoAlg algs[] = {
    /*     id            name           family      key block */
    CIPHER(AES_128,      "aes-128",      "aes",      16, 16),
    CIPHER(AES_192,      "aes-192",      "aes",      24, 16),
    CIPHER(AES_256,      "aes-256",      "aes",      32, 16),
    CIPHER(DES,          "des",          "des",       8,  8),
    CIPHER(3DES,         "3des",         "des3_ede", 24,  8),
    CIPHER(CAST5_128,    "cast5-128",    "cast5",    16,  8),
    CIPHER(SERPENT_128,  "serpent-128",  "serpent",  16, 16),
    CIPHER(SERPENT_192,  "serpent-192",  "serpent",  24, 16),
    CIPHER(SERPENT_256,  "serpent-256",  "serpent",  32, 16),
    CIPHER(TWOFISH_128,  "twofish-128",  "twofish",  16, 16),
    CIPHER(TWOFISH_192,  "twofish-192",  "twofish",  24, 16),
    CIPHER(TWOFISH_256,  "twofish-256",  "twofish",  32, 16),
    CIPHER(SM4,          "sm4",          "sm4",      16, 16),
    CIPHER(CAMELLIA_128, "camellia-128", "camellia", 16, 16),
    CIPHER(CAMELLIA_192, "camellia-192", "camellia", 24, 16),
    CIPHER(CAMELLIA_256, "camellia-256", "camellia", 32, 16),

    /*   id           name           kernel         block out */
    HASH(MD5,         "md5",         "md5",          64, 16),
    HASH(SHA1,        "sha1",        "sha1",         64, 20),
    HASH(SHA224,      "sha224",      "sha224",       64, 28),
    HASH(SHA256,      "sha256",      "sha256",       64, 32),
    HASH(SHA384,      "sha384",      "sha384",      128, 48),
    HASH(SHA512,      "sha512",      "sha512",      128, 64),
    HASH(RIPEMD160,   "ripemd160",   "rmd160",       64, 20),
    HASH(SM3,         "sm3",         "sm3",          64, 32),
    HASH(SHA3_256,    "sha3-256",    "sha3-256",    136, 32),
    HASH(SHA3_512,    "sha3-512",    "sha3-512",     72, 64),
    HASH(BLAKE2B_512, "blake2b-512", "blake2b-512", 128, 64),
    HASH(BLAKE2S_256, "blake2s-256", "blake2s-256",  64, 32),
    HASH(WHIRLPOOL,   "whirlpool",   "wp512",        64, 64),

    CHACHA(8),
    CHACHA(12),
    CHACHA(20),

    {QCRYPTO_KIND_XOR, 0, "xor", "xor", "xor", 0, 0, 0},
    {QCRYPTO_KIND_RNG, 0, "random", "random", "stdrng", 0, 0, 0},

    ARGON2(ARGON2I,  "argon2i"),
    ARGON2(ARGON2ID, "argon2id"),

    /*   id            name            levels         usual  ends */
    COMP(ZLIB_DEFLATE, "zlib-deflate",       0, 12,   6,     true),
    COMP(DEFLATE,      "deflate",            0, 12,   6,     true),
    COMP(ZSTD,         "zstd",         -131072, 22,   3,     true),
    COMP(LZ4,          "lz4",           -65536, 12,   0,     false),

    IVGEN(PLAIN,     "plain"),
    IVGEN(PLAIN64,   "plain64"),
    IVGEN(ESSIV,     "essiv"),
    IVGEN(PLAIN64BE, "plain64be"),
    IVGEN(BENBI,     "benbi"),
};

static const char *const kind_names[QCRYPTO_KIND__MAX] = {
    [QCRYPTO_KIND_CIPHER] = "cipher", [QCRYPTO_KIND_HASH] = "hash",
    [QCRYPTO_KIND_HMAC] = "hmac",     [QCRYPTO_KIND_PBKDF2] = "pbkdf2",
    [QCRYPTO_KIND_ARGON2] = "argon2", [QCRYPTO_KIND_CHACHA] = "chacha",
    [QCRYPTO_KIND_XOR] = "xor",       [QCRYPTO_KIND_COMP] = "compress",
    [QCRYPTO_KIND_RNG] = "rng",
    [QCRYPTO_KIND_IVGEN] = "ivgen",
};

static const char *const mode_names[QCRYPTO_CIPHER_MODE__MAX] = {
    [QCRYPTO_CIPHER_MODE_ECB] = "ecb",
    [QCRYPTO_CIPHER_MODE_CBC] = "cbc",
    [QCRYPTO_CIPHER_MODE_XTS] = "xts",
    [QCRYPTO_CIPHER_MODE_CTR] = "ctr",
};

/* HMAC and PBKDF2 are named by their hash. */
static QCryptoKind name_space(QCryptoKind kind)
{
    return kind == QCRYPTO_KIND_HMAC || kind == QCRYPTO_KIND_PBKDF2
               ? QCRYPTO_KIND_HASH
               : kind;
}

const QCryptoAlg *qcrypto_alg(QCryptoKind kind, int id)
{
    /* the first entry of each kind, found once by walking; -1 unknown yet */
    static int first[QCRYPTO_KIND__MAX]; /* index + 1; 0: not looked for */

    kind = name_space(kind);
    if ((unsigned)kind >= QCRYPTO_KIND__MAX || id < 0) {
        return NULL;
    }
    int start = g_atomic_int_get(&first[kind]);
    if (start == 0) {
        for (size_t i = 0; i < G_N_ELEMENTS(algs); i++) {
            if (algs[i].kind == kind) {
                start = (int)i + 1;
                break;
            }
        }
        if (start == 0) {
            return NULL;
        }
        g_atomic_int_set(&first[kind], start);
    }
    /* entries of a kind stand together in the order of their numbers */
    size_t i = (size_t)start - 1 + (size_t)id;
    return i < G_N_ELEMENTS(algs) && algs[i].kind == kind ? &algs[i] : NULL;
}

const QCryptoAlg *qcrypto_alg_at(size_t i)
{
    return i < G_N_ELEMENTS(algs) ? &algs[i] : NULL;
}

const QCryptoAlg *qcrypto_alg_from_name(QCryptoKind kind, const char *name)
{
    kind = name_space(kind);
    for (size_t i = 0; name && i < G_N_ELEMENTS(algs); i++) {
        if (algs[i].kind == kind && !g_ascii_strcasecmp(algs[i].name, name)) {
            return &algs[i];
        }
    }
    return NULL;
}

int qcrypto_alg_count(QCryptoKind kind)
{
    int n = 0;

    while (qcrypto_alg(kind, n)) {
        n++;
    }
    return n;
}

static int look_up(const char *const *names, int n, const char *name)
{
    for (int i = 0; name && i < n; i++) {
        if (!g_ascii_strcasecmp(names[i], name)) {
            return i;
        }
    }
    return -1;
}

const char *qcrypto_kind_name(QCryptoKind kind)
{
    return (unsigned)kind < QCRYPTO_KIND__MAX ? kind_names[kind] : NULL;
}

int qcrypto_kind_from_name(const char *name)
{
    return look_up(kind_names, QCRYPTO_KIND__MAX, name);
}

const char *qcrypto_mode_name(int mode)
{
    return (unsigned)mode < QCRYPTO_CIPHER_MODE__MAX ? mode_names[mode] : NULL;
}

int qcrypto_mode_from_name(const char *name)
{
    return look_up(mode_names, QCRYPTO_CIPHER_MODE__MAX, name);
}

/* The public names, for ciphers, modes and IV generators. */

static const char *alg_name(QCryptoKind kind, int id)
{
    const QCryptoAlg *alg = qcrypto_alg(kind, id);
    return alg ? alg->name : NULL;
}

static int alg_id(QCryptoKind kind, const char *name)
{
    const QCryptoAlg *alg = qcrypto_alg_from_name(kind, name);
    return alg ? alg->id : -1;
}

const char *qcrypto_cipher_algo_name(QCryptoCipherAlgo alg)
{
    return alg_name(QCRYPTO_KIND_CIPHER, (int)alg);
}

int qcrypto_cipher_algo_from_name(const char *name)
{
    return alg_id(QCRYPTO_KIND_CIPHER, name);
}

const char *qcrypto_cipher_mode_name(QCryptoCipherMode mode)
{
    return qcrypto_mode_name((int)mode);
}

int qcrypto_cipher_mode_from_name(const char *name)
{
    return qcrypto_mode_from_name(name);
}

const char *qcrypto_ivgen_algo_name(QCryptoIVGenAlgo alg)
{
    return alg_name(QCRYPTO_KIND_IVGEN, (int)alg);
}

int qcrypto_ivgen_algo_from_name(const char *name)
{
    return alg_id(QCRYPTO_KIND_IVGEN, name);
}

const char *qcrypto_hash_algo_name(QCryptoHashAlgo alg)
{
    return alg_name(QCRYPTO_KIND_HASH, (int)alg);
}

int qcrypto_hash_algo_from_name(const char *name)
{
    return alg_id(QCRYPTO_KIND_HASH, name);
}

const char *qcrypto_argon2_algo_name(QCryptoArgon2Algo alg)
{
    return alg_name(QCRYPTO_KIND_ARGON2, (int)alg);
}

int qcrypto_argon2_algo_from_name(const char *name)
{
    return alg_id(QCRYPTO_KIND_ARGON2, name);
}

const char *qcrypto_comp_algo_name(QCryptoCompAlgo alg)
{
    return alg_name(QCRYPTO_KIND_COMP, (int)alg);
}

int qcrypto_comp_algo_from_name(const char *name)
{
    return alg_id(QCRYPTO_KIND_COMP, name);
}
