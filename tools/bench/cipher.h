/*
 * Kinds "cipher" and "object": block ciphers, measured
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_CIPHER_H
#define QCRYPTO_TOOLS_BENCH_CIPHER_H

#include <qcrypto/cipher.h>

#include "tools/bench/flight.h"
#include "tools/bench/kinds.h"

extern const QCryptoBenchKind qcrypto_bench_kind_cipher; /* cipher.c */
extern const QCryptoBenchKind qcrypto_bench_kind_object; /* object.c */

/*
 * One thread's state: an object and the buffers of one request.  A request
 * is n data units of unit bytes, from in to out; in place, both are the same.
 */
typedef struct QCryptoBenchCipher QCryptoBenchCipher;
struct QCryptoBenchCipher {
    const QCryptoBenchCase *c;
    /* the request, so many times */
    int (*request)(QCryptoBenchCipher *s, uint64_t calls, GError **errp);
    QCryptoCipher *cipher;              /* the library's, */
    const QCryptoBenchCipherPeer *peer; /* or this peer's */
    void *ctx;
    int decrypt;
    size_t unit, n, total;
    size_t niv, nkey;
    uint8_t key[64];
    uint8_t *ivs;      /* of the n units */
    uint8_t *plain;    /* what encryption reads, */
    uint8_t *text;     /* and what it must give, by the model */
    uint8_t *out;      /* with room for total bytes, as the others */
    const uint8_t *in; /* plain, text or out */
    uint8_t *memory;
    size_t size;
    QCryptoBenchFlight *flight; /* NULL: one request after the other */
    size_t room;                /* from one slot's out to the next one's */
};

/* QCryptoBenchOps of kind cipher, of which object uses all but run */
void *qcrypto_bench_cipher_setup(const QCryptoBenchCase *c, GError **errp);
void qcrypto_bench_cipher_identify(const void *state, const char **provider,
                                   const char **impl);
int qcrypto_bench_cipher_verify(void *state, GError **errp);
/* One request more, and its output compared. */
int qcrypto_bench_cipher_check_again(void *state, GError **errp);
void qcrypto_bench_cipher_teardown(void *state);

/* The library's object of a state's case, as its constructor gives it. */
QCryptoCipher *qcrypto_bench_cipher_new(const QCryptoBenchCipher *s,
                                        GError **errp);

/*
 * qcrypto_bench_cross over every algorithm of the request, each with its
 * candidates, which have these ops.
 */
int qcrypto_bench_cipher_plan(const QCryptoBenchKind *kind,
                              const QCryptoBenchRequest *request,
                              const QCryptoBenchOps *ops,
                              int (*fit)(QCryptoBenchCase *c, GError **errp),
                              GPtrArray *groups, GError **errp);

#endif
