/*
 * Known answers for the self-tests
 *
 * Values were computed with every provider that has the algorithm and were
 * the same on all (SM4, BLAKE2 and Whirlpool: libgcrypt, Twofish-192: nettle
 * alone, which pass published vectors); tests/unit/test-kat.c holds them
 * against the rows of a build and prints this table for a new algorithm.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/kat.h"

#define CIPHER(alg, mode, fold)                        \
    {QCRYPTO_KIND_CIPHER, QCRYPTO_CIPHER_ALGO_##alg,   \
     QCRYPTO_CIPHER_MODE_##mode, UINT64_C(fold)}

#define ARGON2(alg, fold) \
    {QCRYPTO_KIND_ARGON2, QCRYPTO_ARGON2_ALGO_##alg, -1, UINT64_C(fold)}

#define CHACHA(alg, fold) \
    {QCRYPTO_KIND_CHACHA, QCRYPTO_CHACHA_ALGO_##alg, -1, UINT64_C(fold)}

/* a hash, HMAC and PBKDF2 with it */
#define HASH_KIND(kind, alg, fold) \
    {QCRYPTO_KIND_##kind, QCRYPTO_HASH_ALGO_##alg, -1, UINT64_C(fold)}
#define HASH(alg, hash, hmac, pbkdf2)                                  \
    HASH_KIND(HASH, alg, hash), HASH_KIND(HMAC, alg, hmac),            \
        HASH_KIND(PBKDF2, alg, pbkdf2)

const QCryptoKat qcrypto_kat[] = {
    CIPHER(AES_128, ECB, 0xfc204f5143296f99),
    CIPHER(AES_128, CBC, 0xf8a295eebe0b65f6),
    CIPHER(AES_128, CTR, 0x926e5b22bfec98f0),
    CIPHER(AES_128, XTS, 0x27de1ad812723ea8),
    CIPHER(AES_192, ECB, 0x166d2c37f8efdfb2),
    CIPHER(AES_192, CBC, 0x4c6518e117360003),
    CIPHER(AES_192, CTR, 0x6d663f49a124d677),
    CIPHER(AES_192, XTS, 0x1febbd8b60020df3),
    CIPHER(AES_256, ECB, 0x8efc4cf7e762344a),
    CIPHER(AES_256, CBC, 0x1d875b37d9340315),
    CIPHER(AES_256, CTR, 0xdc22174ed32cafa9),
    CIPHER(AES_256, XTS, 0x6fb0bc844f17cfac),
    CIPHER(DES, ECB, 0x357ec2ffaa853878),
    CIPHER(DES, CBC, 0x79d1cc7d08dbeeeb),
    CIPHER(DES, CTR, 0xd6e115996e18476b),
    CIPHER(3DES, ECB, 0xc19f48d2db4ba9d8),
    CIPHER(3DES, CBC, 0x75147b94045b78a6),
    CIPHER(3DES, CTR, 0x5fe3a19438355356),
    CIPHER(CAST5_128, ECB, 0xcbafb500213d7544),
    CIPHER(CAST5_128, CBC, 0x9c2d7f4a8e2aa5dc),
    CIPHER(CAST5_128, CTR, 0x286bcfd579c6566c),
    CIPHER(SERPENT_128, ECB, 0x34b0c9d165e0f450),
    CIPHER(SERPENT_128, CBC, 0xe3b48025da217018),
    CIPHER(SERPENT_128, CTR, 0x63277ea820840b3a),
    CIPHER(SERPENT_128, XTS, 0xb57c51bd917fc449),
    CIPHER(SERPENT_192, ECB, 0x63ca1a9dfe4f861b),
    CIPHER(SERPENT_192, CBC, 0x28404063468eccd8),
    CIPHER(SERPENT_192, CTR, 0xa3d2bbb1f47c91d3),
    CIPHER(SERPENT_192, XTS, 0x5f45e2c90092fde3),
    CIPHER(SERPENT_256, ECB, 0x2162257f264de588),
    CIPHER(SERPENT_256, CBC, 0x182ffeff51d67943),
    CIPHER(SERPENT_256, CTR, 0x66d7f11390148120),
    CIPHER(SERPENT_256, XTS, 0x0ba0dc3417c8bab7),
    CIPHER(TWOFISH_128, ECB, 0xfbadce52915d2258),
    CIPHER(TWOFISH_128, CBC, 0x10d822cc99f1df40),
    CIPHER(TWOFISH_128, CTR, 0x7922d2f54d6c67d3),
    CIPHER(TWOFISH_128, XTS, 0xb1d414b36baf95c0),
    CIPHER(TWOFISH_192, ECB, 0xffacf67d2612ef9a),
    CIPHER(TWOFISH_192, CBC, 0xf602ecb029e5f66f),
    CIPHER(TWOFISH_192, CTR, 0xbad254c158648655),
    CIPHER(TWOFISH_192, XTS, 0x04db85f459f5d366),
    CIPHER(TWOFISH_256, ECB, 0x037d3ea750b389bf),
    CIPHER(TWOFISH_256, CBC, 0x2bdf3ca8a8377bcb),
    CIPHER(TWOFISH_256, CTR, 0xce5631ed5f4a4059),
    CIPHER(TWOFISH_256, XTS, 0xe275eb829b95aee5),
    CIPHER(SM4, ECB, 0xd17f538729600037),
    CIPHER(SM4, CBC, 0xbc4e08cf47ed6a3a),
    CIPHER(SM4, CTR, 0x3af3cb38602b39b4),
    CIPHER(SM4, XTS, 0x5ae41af595d95f83),
    CIPHER(CAMELLIA_128, ECB, 0x1d65b925808a1a73),
    CIPHER(CAMELLIA_128, CBC, 0xcd2e21625f487393),
    CIPHER(CAMELLIA_128, CTR, 0xfacd7faab811700e),
    CIPHER(CAMELLIA_128, XTS, 0xbfba4135ef1100d6),
    CIPHER(CAMELLIA_192, ECB, 0x1e46fc342a68846e),
    CIPHER(CAMELLIA_192, CBC, 0x65970949690b87cf),
    CIPHER(CAMELLIA_192, CTR, 0x63a3fae37674f964),
    CIPHER(CAMELLIA_192, XTS, 0x86e59b3ca4b99b0d),
    CIPHER(CAMELLIA_256, ECB, 0x7f9dfc6520b83c40),
    CIPHER(CAMELLIA_256, CBC, 0x362d5eee81e32c4d),
    CIPHER(CAMELLIA_256, CTR, 0x0d5e507d6402607f),
    CIPHER(CAMELLIA_256, XTS, 0x48aa9da37dc6c8ad),

    CHACHA(CHACHA8, 0x047b4c5de3253833),
    CHACHA(CHACHA12, 0x1b88f81eb9cab03b),
    CHACHA(CHACHA20, 0xf3182575e482da2f),

    ARGON2(ARGON2I, 0x4eefec15ec001a14),
    ARGON2(ARGON2ID, 0xe2c0c61df2374fe7),

    HASH(MD5, 0x62a738e6a44c5ae5,
         0xb1e790dd0f6ddb0c, 0x694aff41c3243081),
    HASH(SHA1, 0x1de48a9a2966946b,
         0xf6ae35db778e0b88, 0x6f3b6e61600df8ff),
    HASH(SHA224, 0xcba4a4dc51ff6ca8,
         0x522de286f7405b59, 0xfd3ff083e878827f),
    HASH(SHA256, 0xda27280eb8090b73,
         0x514ca34e0bf0980a, 0x87b6d9f6565d3ee0),
    HASH(SHA384, 0x033b0d4a08758dc9,
         0x56d96b8ca9bcd9b7, 0x0d6a4ffc898d745b),
    HASH(SHA512, 0x308d5ca3140112ec,
         0x420441ce2172c23f, 0x3034f02b24b1158e),
    HASH(RIPEMD160, 0x6ab06dd6f33f25db,
         0x2f84651a94d34209, 0x0ec8df932e81fe00),
    HASH(SM3, 0xd9fe028709738ba2,
         0x6e7c2940bb5e6290, 0xd77b8d38a2398856),
    HASH(SHA3_256, 0x107a17e28a282e7c,
         0xeb898c11c6baf6f8, 0xf199e846e7cf880b),
    HASH(SHA3_512, 0xa6df785aab87f4ae,
         0xc81ca7eae00bc5da, 0xe7dd90db00b61683),
    HASH(BLAKE2B_512, 0x78e555f15a4cd472,
         0x2ec5a8993babd91f, 0x6763672e6fb6a5f4),
    HASH(BLAKE2S_256, 0xd3c052abbbb12d72,
         0x258541d6ca99af24, 0x38b6d499c3ac54d0),
    HASH(WHIRLPOOL, 0xdd2d6e73a8ae1fe3,
         0x198b82380606e861, 0xaa0bd33badc1288e),

    /* by a byte loop */
    {QCRYPTO_KIND_XOR, 0, -1, UINT64_C(0x6d4094b9acd0b6e4)},
};

const size_t qcrypto_kat_len = G_N_ELEMENTS(qcrypto_kat);
