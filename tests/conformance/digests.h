/*
 * The walk over the rows that go by a hash, and their vectors
 *
 * As rows.h is for ciphers: what must hold for every row of a kind (hash,
 * HMAC, PBKDF2) is written once, as a function of a row, and registered with
 * digest_rows_add().
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_CONFORMANCE_DIGESTS_H
#define TESTS_CONFORMANCE_DIGESTS_H

#include <qcrypto/hash.h>
#include <qcrypto/hmac.h>

#include "crypto/core/select.h"

#define DIGEST_MAX 64

typedef struct DigestRow {
    QCryptoCandidate *candidate;
    char *name; /* "builtin:sha-ni" */
    const char *alg_name;
    QCryptoKind kind;
    QCryptoHashAlgo alg;
    size_t ndigest;
    size_t block_len;
} DigestRow;

typedef void DigestRowFunc(const DigestRow *row);

/* Every row of the kind of every provider in this build; made once. */
const DigestRow *digest_rows(QCryptoKind kind, size_t *n);

/*
 * A test case for every row of the kind, AREA/HASH/PROVIDER:IMPL.  A row
 * whose CPU features are absent is skipped; one that its library refuses must
 * be refused by name too; one that fails its self-test fails here.
 */
void digest_rows_add(const char *area, QCryptoKind kind, DigestRowFunc *func);

/*
 * In test area /AREA/complete: every hash that has rows of the kind is
 * supported and has a vector (kind_name, of tests/data); the library's own
 * floor, SHA-1, SHA-2 and MD5, is there whatever was built in.
 */
void digest_complete(QCryptoKind kind, const char *kind_name,
                     bool (*supports)(QCryptoHashAlgo alg));

/* A known answer: its kind is what tests/data says it is. */
typedef struct DigestVector {
    char *where;
    char *kind;
    QCryptoHashAlgo alg;
    bool extra; /* from the folder of QCRYPTO_EXTRA_VECTORS */
    GByteArray *key, *salt, *msg;
    uint64_t repeat, iterations;
    GByteArray *out;
} DigestVector;

/*
 * Vectors of tests/data, and when QCRYPTO_EXTRA_VECTORS names a folder, of
 * the files of other projects in it.
 */
const DigestVector *digest_vectors(size_t *n);
/* How many of them are of that folder, and of the kind. */
size_t digest_vectors_extra(const char *kind);

/* The one vector of tests/data of that kind ("lengths") for the row's hash. */
const DigestVector *digest_sum(const DigestRow *row, const char *kind);

/* The message of a vector, repeated as it says. */
GByteArray *digest_message(const DigestVector *v);

/* Fails the case, naming row and what, when the n bytes differ. */
bool digest_same(const DigestRow *row, const char *what, const uint8_t *got,
                 const uint8_t *want, size_t n);

/* ---- one message through one row; a failure ends the test program ---- */

QCryptoHash *digest_open(const DigestRow *row);
/* at once, without an object */
void digest_at_once(const DigestRow *row, const void *data, size_t len,
                    uint8_t *out);
/* through an object; pieces of so many bytes */
void digest_pieces(const DigestRow *row, const void *data, size_t len,
                   size_t piece, uint8_t *out);
QCryptoHmac *digest_mac_open(const DigestRow *row, const uint8_t *key,
                             size_t nkey);
void digest_mac(QCryptoHmac *h, const DigestRow *row, const void *data,
                size_t len, uint8_t *out);

#endif
