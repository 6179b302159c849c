/*
 * Peers: libraries that are measured beside the backends and never used
 *
 * A peer fills in what it can do of each kind.  It is measured through the
 * shortest way its own documentation knows: objects keyed once, a new IV for
 * each data unit, no allocation in the loop.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_PEER_H
#define QCRYPTO_TOOLS_BENCH_PEER_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/bench/engine.h"

/* alg and mode are QCryptoCipherAlgo and QCryptoCipherMode. */
typedef struct QCryptoBenchCipherPeer {
    bool (*supports)(int alg, int mode);
    /* An object, ready to encrypt. */
    void *(*open)(int alg, int mode, const uint8_t *key, size_t nkey,
                  GError **errp);
    void (*close)(void *ctx);
    /* n messages of unit bytes, the IV of message i at ivs + i * niv */
    int (*units)(void *ctx, int decrypt, const uint8_t *ivs, size_t niv,
                 size_t unit, const uint8_t *in, uint8_t *out, size_t n,
                 GError **errp);
    /* one piece more of the message that units began */
    int (*piece)(void *ctx, int decrypt, const uint8_t *in, uint8_t *out,
                 size_t len, GError **errp);
} QCryptoBenchCipherPeer;

/* alg is QCryptoHashAlgo. */
typedef struct QCryptoBenchHashPeer {
    bool (*supports)(int alg);
    /* An object for many messages. */
    void *(*open)(int alg, const uint8_t *key, size_t nkey, GError **errp);
    void (*close)(void *ctx);
    /* one whole message */
    int (*digest)(void *ctx, const uint8_t *data, size_t len, uint8_t *out,
                  GError **errp);
} QCryptoBenchHashPeer;

/* alg is QCryptoHashAlgo; iterations is less than 2^31. */
typedef struct QCryptoBenchKdfPeer {
    bool (*supports)(int alg);
    int (*derive)(int alg, const uint8_t *key, size_t nkey, const uint8_t *salt,
                  size_t nsalt, uint64_t iterations, uint8_t *out, size_t nout,
                  GError **errp);
} QCryptoBenchKdfPeer;

typedef struct QCryptoBenchRngPeer {
    const char *impl;            /* the interface */
    int (*init)(GError **errp);  /* before the first bytes; may be NULL */
    int (*bytes)(void *buf, size_t n, GError **errp);
} QCryptoBenchRngPeer;

/* dst is the sum of n sources of len bytes; all lie apart, on page starts. */
typedef struct QCryptoBenchXorPeer {
    size_t max_sources;   /* 1: it does the work of one, whatever n */
    bool (*usable)(void); /* on this CPU; NULL: on all */
    int (*run)(void *dst, const void *const *srcs, size_t n, size_t len,
               GError **errp);
} QCryptoBenchXorPeer;

struct QCryptoBenchPeer {
    const char *name;
    const char *impl;    /* the interface that is measured: "evp" */
    const char *missing; /* why it is not there, or NULL */
    const char *(*version)(void);
    const QCryptoBenchCipherPeer *cipher; /* NULL: does none */
    /*
     * ChaCha: alg is a QCryptoChaChaAlgo, mode -1, the IV 16 bytes: number of
     * the first block, little-endian, and nonce, 8 bytes each.
     */
    const QCryptoBenchCipherPeer *chacha;
    const QCryptoBenchHashPeer *hash, *hmac; /* the same */
    const QCryptoBenchKdfPeer *pbkdf2;
    const QCryptoBenchRngPeer *rng;
    const QCryptoBenchXorPeer *xor;
};

/* Those of this build, NULL at the end. */
extern const QCryptoBenchPeer *const qcrypto_bench_peers[];

#endif
