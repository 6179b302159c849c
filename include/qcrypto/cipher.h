/*
 * Block ciphers in ECB, CBC, CTR and XTS
 *
 *     g_autoptr(QCryptoCipher) c =
 *         qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_256,
 *                            QCRYPTO_CIPHER_MODE_XTS, key, 64, &err);
 *     qcrypto_cipher_setiv(c, iv, 16, &err);
 *     qcrypto_cipher_encrypt(c, plain, cipher_text, 4096, &err);
 *
 * The contract is the same on every backend:
 *
 *   - setiv starts a message; CBC, CTR and XTS refuse data before it.
 *   - ECB and CBC take whole blocks.  CBC and CTR continue from call to
 *     call.  A CTR call that ends inside a block ends the message: another
 *     one before setiv is an error.
 *   - XTS (IEEE 1619-2007): one call is one data unit of 16 bytes to 2^20
 *     blocks (16 MiB); any length in between, with ciphertext stealing.  A
 *     further call without setiv is another data unit under the same IV.
 *   - in == out is allowed and gives the same bytes; any other overlap of
 *     the two is refused.
 *   - Weak keys (equal XTS halves, weak DES keys) are accepted, since
 *     published vectors and old volumes use them; _key_is_weak tells.
 *
 * Lengths are bytes.  Threads: one object is used by one thread at a time,
 * different objects are independent; the sector calls keep no state in the
 * object, so one object serves any number of threads through them.
 *
 * Errors: QCRYPTO_ERROR_INVALID_ARGUMENT for lengths and misuse,
 * _UNSUPPORTED for a pair no row offers, _BACKEND_UNAVAILABLE for a named
 * backend that is not there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CIPHER_H
#define QCRYPTO_CIPHER_H

#include <qcrypto/error.h>
#include <qcrypto/ivgen.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

typedef struct QCryptoCipher QCryptoCipher;

/* "aes-256", "3des", ...; NULL for a number that is no algorithm */
QCRYPTO_API const char *qcrypto_cipher_algo_name(QCryptoCipherAlgo alg);

/* "ecb", "cbc", "xts", "ctr"; NULL for a number that is no mode */
QCRYPTO_API const char *qcrypto_cipher_mode_name(QCryptoCipherMode mode);

/* Look-ups by those names, in any case of letters; -1 when unknown. */
QCRYPTO_API int qcrypto_cipher_algo_from_name(const char *name);
QCRYPTO_API int qcrypto_cipher_mode_from_name(const char *name);

/* True when _new() with keys of the right length works. */
QCRYPTO_API bool qcrypto_cipher_supports(QCryptoCipherAlgo alg,
                                         QCryptoCipherMode mode);

/* 16 or 8; 0 for a number that is no algorithm */
QCRYPTO_API size_t qcrypto_cipher_get_block_len(QCryptoCipherAlgo alg);

/* Bytes of one key; XTS takes two of them, one after the other. */
QCRYPTO_API size_t qcrypto_cipher_get_key_len(QCryptoCipherAlgo alg);

/* 0 in ECB, the block length otherwise */
QCRYPTO_API size_t qcrypto_cipher_get_iv_len(QCryptoCipherAlgo alg,
                                             QCryptoCipherMode mode);

/*
 * True for a key that its standard advises against: equal halves in XTS
 * (FIPS 140 IG A.9), the 64 keys of DES with four subkeys or fewer (NIST SP
 * 800-67r1, 3.4.2) and 3DES keys with such a part or with two equal
 * neighbours.  Takes the same time whatever the key.  False when nkey is not
 * the right length.
 */
QCRYPTO_API bool qcrypto_cipher_key_is_weak(QCryptoCipherAlgo alg,
                                            QCryptoCipherMode mode,
                                            const uint8_t *key, size_t nkey);

/*
 * The first row of the selection order that can serve this key.  nkey is
 * qcrypto_cipher_get_key_len(alg), twice that in XTS.  The key is copied.
 */
QCRYPTO_API QCryptoCipher *qcrypto_cipher_new(QCryptoCipherAlgo alg,
                                              QCryptoCipherMode mode,
                                              const uint8_t *key, size_t nkey,
                                              GError **errp);

/*
 * The same from one provider, "nettle", or from one implementation of it,
 * "builtin:aes-ni" (`qcrypto providers` lists them).  No other row is tried.
 */
QCRYPTO_API QCryptoCipher *qcrypto_cipher_new_from(const char *provider,
                                                   QCryptoCipherAlgo alg,
                                                   QCryptoCipherMode mode,
                                                   const uint8_t *key,
                                                   size_t nkey, GError **errp);

/* Wipes the object and frees it; NULL is allowed. */
QCRYPTO_API void qcrypto_cipher_free(QCryptoCipher *cipher);

/* The row that serves this object: "builtin", "aes-vaes". */
QCRYPTO_API const char *qcrypto_cipher_get_provider(const QCryptoCipher *cipher);
QCRYPTO_API const char *qcrypto_cipher_get_impl(const QCryptoCipher *cipher);

/* niv is qcrypto_cipher_get_iv_len(); in ECB it must be 0. */
QCRYPTO_API int qcrypto_cipher_setiv(QCryptoCipher *cipher, const uint8_t *iv,
                                     size_t niv, GError **errp);

QCRYPTO_API int qcrypto_cipher_encrypt(QCryptoCipher *cipher, const void *in,
                                       void *out, size_t len, GError **errp);
QCRYPTO_API int qcrypto_cipher_decrypt(QCryptoCipher *cipher, const void *in,
                                       void *out, size_t len, GError **errp);

/* Flags of the sector calls */
typedef enum QCryptoSectorFlags {
    /* sector i has the number iv_sector + i, whatever its size (dm-crypt's
     * iv_large_sectors) */
    QCRYPTO_SECTOR_IV_LARGE_SECTORS = 1 << 0,
} QCryptoSectorFlags;

/*
 * A run of nsectors sectors of sector_size bytes (a multiple of 512, at most
 * 2^20 blocks), each a message of its own whose IV is made by ivgen (NULL:
 * plain64) from its number.  iv_sector counts 512-byte units as dm-crypt
 * does: sector i has the number iv_sector + i * (sector_size / 512), modulo
 * 2^64, unless the flag above is set.  No state is kept in either object:
 * any number of threads may use both at once.
 */
QCRYPTO_API int qcrypto_cipher_encrypt_sectors(
    const QCryptoCipher *cipher, const QCryptoIVGen *ivgen, uint64_t iv_sector,
    size_t sector_size, const void *in, void *out, size_t nsectors,
    unsigned flags, GError **errp);
QCRYPTO_API int qcrypto_cipher_decrypt_sectors(
    const QCryptoCipher *cipher, const QCryptoIVGen *ivgen, uint64_t iv_sector,
    size_t sector_size, const void *in, void *out, size_t nsectors,
    unsigned flags, GError **errp);

/*
 * A cipher specification as LUKS and dm-crypt write it:
 * cipher-mode[-ivgen[:hash]], "aes-xts-plain64", "aes-cbc-essiv:sha256",
 * "aes-ecb".  The cipher is a family; the key length picks its member.
 */
typedef struct QCryptoCipherSpec {
    const char *family; /* "aes", "des3_ede", ...; static */
    QCryptoCipherMode mode;
    int ivgen; /* QCryptoIVGenAlgo, -1 where the mode takes no IV */
    int hash;  /* QCryptoHashAlgo, -1 without */
} QCryptoCipherSpec;

/* Names the part that is unknown, missing or one too many. */
QCRYPTO_API int qcrypto_cipher_spec_parse(const char *text,
                                          QCryptoCipherSpec *spec,
                                          GError **errp);

/* Back to text; to be freed with g_free.  NULL for what _parse never gives. */
QCRYPTO_API char *qcrypto_cipher_spec_to_string(const QCryptoCipherSpec *spec);

/*
 * The algorithm for a key of nkey bytes (XTS: both halves together), or -1
 * with an error that lists the lengths that would do.
 */
QCRYPTO_API int qcrypto_cipher_spec_get_alg(const QCryptoCipherSpec *spec,
                                            size_t nkey, GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoCipher, qcrypto_cipher_free)

G_END_DECLS

#endif
