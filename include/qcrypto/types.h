/*
 * The names of algorithms
 *
 * Every enumeration of the library stands here.  Members follow QEMU's
 * crypto API where QEMU has the algorithm; their numbers are ours and stay
 * as they are within one soversion (new members go to the end).  Names as
 * text, sizes and the spellings of LUKS and of the Linux kernel come from one
 * table, reached through the functions of cipher.h, hash.h and ivgen.h.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TYPES_H
#define QCRYPTO_TYPES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks what the shared library exports. */
#if defined(__GNUC__)
#define QCRYPTO_API __attribute__((visibility("default")))
#else
#define QCRYPTO_API
#endif

G_BEGIN_DECLS

/* Block ciphers; the number is the key length in bits. */
typedef enum QCryptoCipherAlgo {
    QCRYPTO_CIPHER_ALGO_AES_128,
    QCRYPTO_CIPHER_ALGO_AES_192,
    QCRYPTO_CIPHER_ALGO_AES_256,
    QCRYPTO_CIPHER_ALGO_DES,
    QCRYPTO_CIPHER_ALGO_3DES,
    QCRYPTO_CIPHER_ALGO_CAST5_128,
    QCRYPTO_CIPHER_ALGO_SERPENT_128,
    QCRYPTO_CIPHER_ALGO_SERPENT_192,
    QCRYPTO_CIPHER_ALGO_SERPENT_256,
    QCRYPTO_CIPHER_ALGO_TWOFISH_128,
    QCRYPTO_CIPHER_ALGO_TWOFISH_192,
    QCRYPTO_CIPHER_ALGO_TWOFISH_256,
    QCRYPTO_CIPHER_ALGO_SM4,
    QCRYPTO_CIPHER_ALGO_CAMELLIA_128,
    QCRYPTO_CIPHER_ALGO_CAMELLIA_192,
    QCRYPTO_CIPHER_ALGO_CAMELLIA_256,
    QCRYPTO_CIPHER_ALGO__MAX
} QCryptoCipherAlgo;

typedef enum QCryptoCipherMode {
    QCRYPTO_CIPHER_MODE_ECB,
    QCRYPTO_CIPHER_MODE_CBC,
    QCRYPTO_CIPHER_MODE_XTS,
    QCRYPTO_CIPHER_MODE_CTR,
    QCRYPTO_CIPHER_MODE__MAX
} QCryptoCipherMode;

typedef enum QCryptoHashAlgo {
    QCRYPTO_HASH_ALGO_MD5,
    QCRYPTO_HASH_ALGO_SHA1,
    QCRYPTO_HASH_ALGO_SHA224,
    QCRYPTO_HASH_ALGO_SHA256,
    QCRYPTO_HASH_ALGO_SHA384,
    QCRYPTO_HASH_ALGO_SHA512,
    QCRYPTO_HASH_ALGO_RIPEMD160,
    QCRYPTO_HASH_ALGO_SM3,
    QCRYPTO_HASH_ALGO_SHA3_256,
    QCRYPTO_HASH_ALGO_SHA3_512,
    QCRYPTO_HASH_ALGO_BLAKE2B_512,
    QCRYPTO_HASH_ALGO_BLAKE2S_256,
    QCRYPTO_HASH_ALGO_WHIRLPOOL,
    QCRYPTO_HASH_ALGO__MAX
} QCryptoHashAlgo;

/* ChaCha; the number is that of rounds. */
typedef enum QCryptoChaChaAlgo {
    QCRYPTO_CHACHA_ALGO_CHACHA8,
    QCRYPTO_CHACHA_ALGO_CHACHA12,
    QCRYPTO_CHACHA_ALGO_CHACHA20,
    QCRYPTO_CHACHA_ALGO__MAX
} QCryptoChaChaAlgo;

typedef enum QCryptoArgon2Algo {
    QCRYPTO_ARGON2_ALGO_ARGON2I,
    QCRYPTO_ARGON2_ALGO_ARGON2ID,
    QCRYPTO_ARGON2_ALGO__MAX
} QCryptoArgon2Algo;

/* Compressed formats; what each is exactly, comp.h says. */
typedef enum QCryptoCompAlgo {
    QCRYPTO_COMP_ALGO_ZLIB_DEFLATE, /* RFC 1950 */
    QCRYPTO_COMP_ALGO_DEFLATE,      /* RFC 1951, raw */
    QCRYPTO_COMP_ALGO_ZSTD,         /* RFC 8878, one frame */
    QCRYPTO_COMP_ALGO_LZ4,          /* one LZ4 block */
    QCRYPTO_COMP_ALGO__MAX
} QCryptoCompAlgo;

/* How a sector number becomes an IV (dm-crypt's names). */
typedef enum QCryptoIVGenAlgo {
    QCRYPTO_IV_GEN_ALGO_PLAIN,
    QCRYPTO_IV_GEN_ALGO_PLAIN64,
    QCRYPTO_IV_GEN_ALGO_ESSIV,
    QCRYPTO_IV_GEN_ALGO_PLAIN64BE,
    QCRYPTO_IV_GEN_ALGO_BENBI,
    QCRYPTO_IV_GEN_ALGO__MAX
} QCryptoIVGenAlgo;

G_END_DECLS

#endif
