/*
 * The walk over rows, shared by the tests
 *
 * A test that must hold for every row of every backend is written once, as a
 * function of a row, and registered with rows_add(); each row then is a test
 * case of its own, named AREA/PAIR/PROVIDER:IMPL.  Rows marked
 * "avoid" or "benchmark" are walked like the others.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_CONFORMANCE_ROWS_H
#define TESTS_CONFORMANCE_ROWS_H

#include <qcrypto/cipher.h>

#include "crypto/core/select.h"

typedef struct CipherRow {
    QCryptoCandidate *candidate;
    char *name;       /* "builtin:aes-ni" */
    char *pair;       /* "aes-256-xts" */
    QCryptoCipherAlgo alg;
    QCryptoCipherMode mode;
    size_t block_len;
    size_t nkey;      /* of the pair: both halves in XTS */
    size_t niv;
    /* lengths that may be asked for: multiples of step from min on */
    size_t min;
    size_t step;
    /* the longest call that is this cipher: the bound of the benchmark,
     * "raw", goes over the same 4096 bytes again and again beyond that */
    size_t most;
} CipherRow;

/* A row that stands for a pair alone: no candidate, no name. */
void cipher_row_init(CipherRow *row, QCryptoCipherAlgo alg,
                     QCryptoCipherMode mode);

/* Every cipher row of every provider in this build; made once. */
const CipherRow *cipher_rows(size_t *n);

typedef void CipherRowFunc(const CipherRow *row);

/* Sets of modes */
#define MODE_BIT(m) (1u << QCRYPTO_CIPHER_MODE_##m)
#define ALL_MODES (MODE_BIT(ECB) | MODE_BIT(CBC) | MODE_BIT(CTR) | MODE_BIT(XTS))

/*
 * A test case for every row of these modes.  A row whose CPU features are
 * absent is skipped, one that the library behind it refuses must be refused
 * by new_from() too, and one that fails its self-test fails here.
 */
void cipher_rows_add(const char *area, unsigned modes, CipherRowFunc *func);

/*
 * False for the rows to be left out: QCRYPTO_TEST_ROWS, when it is set, is a
 * pattern of those to be tested ("afalg:*").
 */
bool row_wanted(const char *name);

/* The provider is in the order in force: an opt-in one is not. */
bool row_in_order(const QCryptoCandidate *c);

/* False, and the case is done, when the row cannot run here (see above). */
bool cipher_row_runs(const CipherRow *row);

/* An object of exactly this row; a failure ends the test program. */
QCryptoCipher *cipher_row_open(const CipherRow *row, const uint8_t *key);

/* One message from its IV on; a failure ends the test program. */
void cipher_message(QCryptoCipher *c, bool decrypt, const uint8_t *iv,
                    size_t niv, const void *in, void *out, size_t len);

/* Byte i is the top byte of i * 0x9e3779b1 modulo 2^32. */
void fill_pattern(uint8_t *buf, size_t n);

/* n bytes that depend on seed, the same in every run. */
void fill_seeded(uint8_t *buf, size_t n, uint64_t seed);

/*
 * Key `number` (0 to 255) of the pattern that the keys of DES to be avoided
 * follow; true when it is one of them.  SP 800-67r1, 3.4.2: 4 weak, 12
 * semi-weak, 48 with four subkeys.  The first four bytes are of {01, 1f, e0,
 * fe}, numbered by two bits; where the four numbers add up to 0 without
 * carry, the key is one of the 64; the last four bytes follow the first.
 */
bool des_key_of_pattern(unsigned number, uint8_t *key);

/* Fails the case, naming row, what and the first byte that differs. */
bool same_bytes(const CipherRow *row, const char *what, const uint8_t *got,
                const uint8_t *want, size_t n);

#endif
