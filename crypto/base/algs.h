/*
 * The algorithm table
 *
 * Names, sizes and spellings of every algorithm stand in algs.c and nowhere
 * else; everything that prints, parses or checks a length reads them here.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_ALGS_H
#define QCRYPTO_BASE_ALGS_H

#include <qcrypto/types.h>

/* What a row implements. */
typedef enum QCryptoKind {
    QCRYPTO_KIND_CIPHER,
    QCRYPTO_KIND_HASH,
    QCRYPTO_KIND_HMAC,   /* alg: the hash */
    QCRYPTO_KIND_PBKDF2, /* alg: the hash */
    QCRYPTO_KIND_ARGON2,
    QCRYPTO_KIND_CHACHA, /* alg: QCryptoChaChaAlgo */
    QCRYPTO_KIND_XOR,
    QCRYPTO_KIND_COMP,
    QCRYPTO_KIND_RNG, /* a library's or kernel's own generator */
    QCRYPTO_KIND_IVGEN, /* has no rows: names alone */
    QCRYPTO_KIND__MAX
} QCryptoKind;

typedef struct QCryptoAlg {
    QCryptoKind kind;
    int id;             /* the public enumeration's number */
    const char *name;   /* ours: "aes-256" */
    const char *family; /* cipher name in LUKS headers and dm-crypt: "aes" */
    const char *kernel; /* name in the Linux crypto API: "aes" */
    uint16_t key_len;   /* ciphers: bytes of one key */
    uint16_t block_len; /* ciphers and hashes: bytes of a block */
    uint16_t out_len;   /* hashes: bytes of a digest */
    /* compression: levels of all implementations together; one that is
     * narrower leaves a request to the next */
    int32_t level_min, level_max, level_default;
    bool ends; /* compression: the data itself tells where it ends */
} QCryptoAlg;

/* NULL when there is no such algorithm. */
const QCryptoAlg *qcrypto_alg(QCryptoKind kind, int id);

/* Entry i of all, for walks; NULL past the end. */
const QCryptoAlg *qcrypto_alg_at(size_t i);

/* By name, ASCII case ignored; NULL when unknown. */
const QCryptoAlg *qcrypto_alg_from_name(QCryptoKind kind, const char *name);

/* How many numbers the kind has (ids are 0 .. count - 1). */
int qcrypto_alg_count(QCryptoKind kind);

const char *qcrypto_kind_name(QCryptoKind kind);
int qcrypto_kind_from_name(const char *name);

/* Modes are few; -1 when unknown. */
const char *qcrypto_mode_name(int mode);
int qcrypto_mode_from_name(const char *name);

#endif
