/*
 * Test vectors: records of "name = value" lines
 *
 * Records are separated by empty lines, '#' opens a comment, "[TEXT]" a
 * section: the form of tests/data/ *.vec, of NIST's .rsp files and of Botan's
 * .vec files.  JSON that has one member a line ("name": "value",) and closes
 * every record with a brace, as Wycheproof's files do, reads the same way.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_CONFORMANCE_VECTORS_H
#define TESTS_CONFORMANCE_VECTORS_H

#include <glib.h>
#include <qcrypto/types.h>

typedef struct VectorFile VectorFile;

/* A file of tests/data must be there; a failure ends the test program. */
VectorFile *vector_file_open_data(const char *name);
/* NULL when there is none. */
VectorFile *vector_file_open(const char *path);
void vector_file_close(VectorFile *f);
/* Goes to the next record; false at the end. */
bool vector_file_next(VectorFile *f);

/* Fields of the record; names in lower case.  NULL when absent. */
const char *vector_text(const VectorFile *f, const char *name);
/* Hex digits; NULL when absent. */
GByteArray *vector_bytes(const VectorFile *f, const char *name);
uint64_t vector_number(const VectorFile *f, const char *name);
/* TEXT of the last [TEXT], or "" */
const char *vector_section(const VectorFile *f);
/* "FILE:LINE" of the record */
const char *vector_where(const VectorFile *f);

/* One known answer of a cipher. */
typedef struct CipherVector {
    char *where;
    int alg, mode;
    bool extra; /* from the folder of QCRYPTO_EXTRA_VECTORS */
    GByteArray *key, *iv, *pt;
    GByteArray *ct;  /* or, when NULL: */
    char *ct_sha256; /* in hex */
} CipherVector;

/*
 * Every cipher vector of tests/data and, when QCRYPTO_EXTRA_VECTORS names a
 * folder, of the files of other projects in it.
 */
const CipherVector *cipher_vectors(size_t *n);

/* How many of them came from that folder. */
size_t cipher_vectors_extra(void);

#endif
