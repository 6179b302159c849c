/*
 * Rows: how a provider says what it can do
 *
 * A row is one implementation of one algorithm (and, for ciphers, one mode).
 * The core knows nothing else of a backend: supports() looks up the very row
 * that new() uses, tests walk all rows, the benchmark names them.
 *
 *   kind    row->ops points to       row->arg
 *   cipher  QCryptoCipherOps         the implementation's own: a kernel, a
 *                                    library's algorithm number, or, with the
 *                                    ops of crypto/mode, a QCryptoBlockDesc
 *   hash    QCryptoHashOps           the same
 *   hmac    QCryptoHmacOps           the same
 *   pbkdf2  QCryptoPbkdf2Ops         the same
 *   argon2  QCryptoArgon2Ops         the same
 *   xor     QCryptoXorOps            the same
 *   chacha  QCryptoChaChaOps         the implementation's own
 *   rng     QCryptoRngOps            the same
 *   comp    QCryptoCompOps           the same
 *
 * Everything here is const data; what changes at run time (self-test done,
 * measured speed) is kept by core beside the row, never in it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_ROWS_H
#define QCRYPTO_BASE_ROWS_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>
#include <qcrypto/xts.h>

#include "crypto/base/algs.h"

enum {
    /* used when named in full, never selected: policy (slows the CPU down,
     * or its tests have not yet run on such a CPU) */
    QCRYPTO_ROW_AVOID = 1 << 0,
    /* used when named in full, never selected: exists to be measured */
    QCRYPTO_ROW_BENCH = 1 << 1,
    /* time depends on keys or data (table look-ups): selected only after
     * every constant-time row, whatever the order of providers */
    QCRYPTO_ROW_LEAKY = 1 << 2,
};

typedef struct QCryptoRow {
    QCryptoKind kind;
    int alg;          /* number within the kind */
    int mode;         /* QCryptoCipherMode, or -1 */
    const char *impl; /* unique among the provider's rows of (kind, alg, mode) */
    uint32_t cpu;     /* QCRYPTO_CPU_*, all needed */
    uint32_t flags;   /* QCRYPTO_ROW_* */
    const void *ops;
    const void *arg;
    /*
     * In the written order of providers, rows of lower rank serve first,
     * whichever provider they belong to; that order decides among equals.
     * 0: nobody was measured faster.
     */
    uint8_t rank;
} QCryptoRow;

/* A row of a cipher, for the tables of the providers. */
#define QCRYPTO_CIPHER_ROW(a, m, name, needs, how, row_ops, row_arg)           \
    {                                                                          \
        .kind = QCRYPTO_KIND_CIPHER, .alg = QCRYPTO_CIPHER_ALGO_##a,           \
        .mode = QCRYPTO_CIPHER_MODE_##m, .impl = name, .cpu = (needs),         \
        .flags = (how), .ops = &(row_ops), .arg = (row_arg),                   \
    }

/* A row of ChaCha: CHACHA8, CHACHA12, CHACHA20. */
#define QCRYPTO_CHACHA_ROW(a, name, needs, row_ops)                            \
    {                                                                          \
        .kind = QCRYPTO_KIND_CHACHA, .alg = QCRYPTO_CHACHA_ALGO_##a,           \
        .mode = -1, .impl = name, .cpu = (needs), .ops = &(row_ops),           \
    }

/* A row of a kind (HASH, HMAC, PBKDF2) that goes by its hash. */
#define QCRYPTO_HASH_ROW(k, a, name, needs, how, place, row_ops, row_arg)      \
    {                                                                          \
        .kind = QCRYPTO_KIND_##k, .alg = QCRYPTO_HASH_ALGO_##a, .mode = -1,    \
        .impl = name, .cpu = (needs), .flags = (how), .ops = &(row_ops),       \
        .arg = (row_arg), .rank = (place),                                     \
    }

/* A row of Argon2: ARGON2I, ARGON2ID. */
#define QCRYPTO_ARGON2_ROW(a, name, place, row_ops, row_arg)                   \
    {                                                                          \
        .kind = QCRYPTO_KIND_ARGON2, .alg = QCRYPTO_ARGON2_ALGO_##a,           \
        .mode = -1, .impl = name, .ops = &(row_ops), .arg = (row_arg),         \
        .rank = (place),                                                       \
    }

/*
 * A row of compression.  Its time depends on the data, by what compression
 * is.
 */
#define QCRYPTO_COMP_ROW(a, name, row_ops, row_arg)                            \
    {                                                                          \
        .kind = QCRYPTO_KIND_COMP, .alg = QCRYPTO_COMP_ALGO_##a, .mode = -1,   \
        .impl = name, .flags = QCRYPTO_ROW_LEAKY, .ops = &(row_ops),           \
        .arg = (row_arg),                                                      \
    }

/*
 * Asynchronous service of cipher rows.  A queue belongs to one engine
 * (core/async.c), which calls it from one thread at a time; the rows that
 * have the same ops share it.
 */
typedef void QCryptoAsyncEnded(void *opaque, void *tag, GError *error);
typedef struct QCryptoCipherAsyncOps {
    /* for at most depth requests in flight; NULL and an error where there is
     * no such service */
    void *(*open)(unsigned depth, GError **errp);
    /* readable (poll(2)) when reap may have something to do */
    int (*fd)(const void *queue);
    /*
     * As units below; what the pointers point to stays there until the
     * request has ended.  QCRYPTO_ERROR_UNSUPPORTED: not this request; _BUSY:
     * not now; either goes to a thread that calls units.
     */
    int (*submit)(void *queue, const void *ctx, int decrypt, const uint8_t *ivs,
                  size_t unit_size, const uint8_t *in, uint8_t *out, size_t n,
                  void *tag, GError **errp);
    /* calls ended, which takes the error over, for each request that has
     * ended since; does not wait; how many */
    unsigned (*reap)(void *queue, QCryptoAsyncEnded *ended, void *opaque);
    /* nothing is in flight; or this is the child of a fork, where what was
     * in flight is the parent's */
    void (*close)(void *queue);
} QCryptoCipherAsyncOps;

/*
 * Ciphers.  The front end allocates ctx_size(row) bytes (16-byte aligned,
 * zeroed), calls init, and after fini wipes and frees them.  Lengths, IVs,
 * aliasing and message state were checked by then: crypt and units get only
 * what the contract of cipher.h allows, in == out included.
 *
 * ctx is const after init: any number of threads call crypt and units on one
 * ctx at once.  A backend whose handles carry state keeps a pool of handles
 * (base/pool.h).
 *
 * Index 0 of a pair encrypts, index 1 decrypts.
 */
typedef struct QCryptoCipherOps {
    size_t (*ctx_size)(const QCryptoRow *row);
    /* init writes all of the ctx that is ever read: it is not zeroed before
     * (a kilobyte of zeros is a fifth of the time an AES object takes) */
    bool fills_ctx;

    /*
     * nkey is right for (alg, mode).  QCRYPTO_ERROR_UNSUPPORTED means "not
     * with this key": the request falls to the next row.
     */
    int (*init)(void *ctx, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp);
    void (*fini)(void *ctx); /* NULL: wiping the ctx is enough */

    /*
     * One piece of a message.  iv: the block length in bytes, left as the
     * IV of the next piece (CBC: last ciphertext block; CTR: next counter,
     * one block used up by a last partial block; XTS: unchanged, len is one
     * data unit; ECB: NULL).
     */
    int (*crypt[2])(const void *ctx, uint8_t *iv, const uint8_t *in,
                    uint8_t *out, size_t len, GError **errp);

    /*
     * n messages of unit_size bytes one after the other, the IV of message i
     * at ivs + i * block length (ECB: ivs is NULL).  NULL: the front end
     * calls crypt once a unit.
     */
    int (*units[2])(const void *ctx, const uint8_t *ivs, size_t unit_size,
                    const uint8_t *in, uint8_t *out, size_t n, GError **errp);

    /* NULL: an engine's worker threads call units or crypt */
    const QCryptoCipherAsyncOps *async;
} QCryptoCipherOps;

/*
 * A block cipher as the generic modes (crypto/mode) see it: a key context
 * and calls over whole blocks, many at once.  encrypt and decrypt may be
 * called by many threads on one ctx.
 */
typedef struct QCryptoBlockDesc QCryptoBlockDesc;
struct QCryptoBlockDesc {
    size_t block_len; /* 8 or 16 */
    size_t (*ctx_size)(const QCryptoBlockDesc *desc);
    /* ctx: zeroed, 16-byte aligned; errors as in QCryptoCipherOps.init */
    int (*init)(void *ctx, const QCryptoBlockDesc *desc, const uint8_t *key,
                size_t nkey, GError **errp);
    void (*fini)(void *ctx); /* may be NULL */
    qcrypto_xts_block_func *encrypt;
    qcrypto_xts_block_func *decrypt;
    const void *arg; /* the backend's own */

    /*
     * For libraries whose handles carry state or whose calls can fail; both
     * or neither.  begin gives what encrypt and decrypt take in the place of
     * ctx while one crypt or units call lasts, or NULL and an error; end
     * takes it back and is -1 with an error when a call on it has failed.
     */
    void *(*begin)(const void *ctx, GError **errp);
    int (*end)(const void *ctx, void *run, GError **errp);
};

/*
 * Hashes.  Contexts as for ciphers: ctx_size(row) bytes, 16-byte aligned,
 * zeroed before init, wiped and freed by the front end after fini.
 */
typedef struct QCryptoHashOps {
    size_t (*ctx_size)(const QCryptoRow *row);
    /* ready for a message; also after final, for the next one */
    int (*init)(void *ctx, const QCryptoRow *row, GError **errp);
    void (*fini)(void *ctx); /* NULL: wiping the ctx is enough */
    int (*update)(void *ctx, const uint8_t *data, size_t len, GError **errp);
    /* writes the digest, on success alone; what the ctx holds is then
     * undefined until init */
    int (*final)(void *ctx, uint8_t *digest, GError **errp);
    /*
     * dst (zeroed, or an earlier context of the same row) becomes a copy of
     * src in the middle of its message; HMAC and PBKDF2 start from such
     * copies.  NULL: copying the bytes of the ctx is enough.
     */
    int (*copy)(void *dst, const void *src, GError **errp);
    /*
     * A whole message at once, without a context: short messages gain by it.
     * The digest is written on success alone.
     * NULL: init, update and final on a context of the front end's.
     */
    int (*digest)(const QCryptoRow *row, const uint8_t *data, size_t len,
                  uint8_t *digest, GError **errp);
} QCryptoHashOps;

/* A hash as the generic HMAC and PBKDF2 (crypto/mode) see it. */
typedef struct QCryptoHashDesc {
    const QCryptoHashOps *ops;
    const void *arg; /* what the hash's own row has there */
} QCryptoHashDesc;

#define QCRYPTO_HASH_DESC(hash_ops, hash_arg)                                  \
    (&(const QCryptoHashDesc){&(hash_ops), (hash_arg)})

/*
 * HMAC.  Libraries that have their own offer it; for the rest the generic
 * ops of crypto/mode run over a QCryptoHashDesc (the row's arg).
 */
typedef struct QCryptoHmacOps {
    size_t (*ctx_size)(const QCryptoRow *row);
    int (*init)(void *ctx, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp);
    void (*fini)(void *ctx);
    /* after a failure of update or final there comes fini, and nothing else */
    int (*update)(void *ctx, const uint8_t *data, size_t len, GError **errp);
    /* writes the MAC and goes back to the start of a message */
    int (*final)(void *ctx, uint8_t *mac, GError **errp);
} QCryptoHmacOps;

/*
 * PBKDF2 (RFC 8018, 5.2).  iterations is 1 to 2^32 - 1 and nout at least 1 by
 * then.  QCRYPTO_ERROR_UNSUPPORTED: not with these parameters (an empty
 * salt); the request falls to the next row.  out is written only on success.
 */
typedef struct QCryptoPbkdf2Ops {
    int (*derive)(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                  const uint8_t *salt, size_t nsalt, uint64_t iterations,
                  uint8_t *out, size_t nout, GError **errp);
} QCryptoPbkdf2Ops;

/*
 * ChaCha.  A state is the 16 words of RFC 8439, 2.3, as numbers of the host;
 * words 12 and 13 are one 64-bit counter (low word first) whatever the nonce
 * is: the front end never asks for blocks beyond the end of the counter, be
 * it of 32 or of 64 bits, so that no carry reaches a nonce.
 *
 * in == out is allowed, other overlaps never come.  Functions leave the
 * state as it is.  A ctx is used by one thread at a time.
 */
typedef struct QCryptoChaChaOps {
    /*
     * Bytes of context (16-byte aligned, zeroed, wiped after fini), for
     * libraries whose handles hold the key.  0: the state is all it takes,
     * init and fini are NULL, ctx is NULL.
     */
    size_t ctx_size;
    /* nkey is 16 or 32; errors as in QCryptoCipherOps.init */
    int (*init)(void *ctx, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp);
    void (*fini)(void *ctx); /* NULL: wiping the ctx is enough */

    /* len bytes xored with the keystream that starts with this state's block */
    int (*crypt)(const void *ctx, const uint32_t state[16], const uint8_t *in,
                 uint8_t *out, size_t len, GError **errp);

    /*
     * nblocks whole blocks of keystream, one block as quickly as can be.
     * Cannot fail.  NULL: not offered (libraries).
     */
    void (*keystream)(const uint32_t state[16], uint8_t *out, size_t nblocks);

    /*
     * The same numbers in an order that spares vector kernels a transposition
     * (10 to 20 percent of ChaCha8): ngroups groups of 16 blocks, where word
     * w of block b of a group stands at its byte 64 * w + 4 * b.  The same
     * bytes from every row.  For generators.
     */
    void (*keystream_words)(const uint32_t state[16], uint8_t *out,
                            size_t ngroups);
} QCryptoChaChaOps;

/*
 * Argon2 version 0x13 (RFC 9106).  Parameters are in the RFC's ranges and the
 * memory was found to be there.  QCRYPTO_ERROR_UNSUPPORTED: not with these
 * parameters (more than one lane); the request falls to the next row.
 */
typedef struct QCryptoArgon2Extra {
    const uint8_t *secret; /* K of RFC 9106; never NULL, for no bytes either */
    size_t nsecret;
    const uint8_t *ad; /* X */
    size_t nad;
} QCryptoArgon2Extra;

typedef struct QCryptoArgon2Ops {
    /* the same with a secret value and associated data; NULL: not offered */
    int (*derive_keyed)(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                        const uint8_t *salt, size_t nsalt,
                        const QCryptoArgon2Extra *extra, uint32_t time,
                        uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                        size_t nout, GError **errp);
    int (*derive)(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                  const uint8_t *salt, size_t nsalt, uint32_t time,
                  uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                  size_t nout, GError **errp);
} QCryptoArgon2Ops;

/*
 * XOR templates.  xor_n[n] takes n sources, 2 to 5: dst = srcs[0] ^ ... ^
 * srcs[n - 1], len bytes, any alignment; dst may be the same as any source
 * (each vector is read from all sources before it is written), overlaps in
 * part never come.
 */
#define QCRYPTO_XOR_ARITY 5
typedef void QCryptoXorFunc(uint8_t *dst, const void *const *srcs, size_t len);
typedef struct QCryptoXorOps {
    QCryptoXorFunc *xor_n[QCRYPTO_XOR_ARITY + 1];
} QCryptoXorOps;

/*
 * Compression of whole buffers.  Contexts as for hashes, one thread at a
 * time; in and out are never NULL and never overlap.  Rows write no error
 * texts of what came of the data: the front end has one for each status, and
 * clears the output of whoever failed.
 */
typedef enum QCryptoCompStatus {
    QCRYPTO_COMP_DONE,
    QCRYPTO_COMP_CORRUPT,   /* the data is damaged or cut short */
    QCRYPTO_COMP_NO_SPACE,  /* *outlen: what is needed, 0: unknown */
    QCRYPTO_COMP_NO_MEMORY, /* for the library's state */
    QCRYPTO_COMP_BROKEN,    /* the library failed where none of these is why */
} QCryptoCompStatus;

typedef struct QCryptoCompOps {
    size_t ctx_size;
    /* level is one of the algorithm's; QCRYPTO_ERROR_UNSUPPORTED: not with
     * this one, the request falls to the next row */
    int (*init)(void *ctx, const QCryptoRow *row, int level, GError **errp);
    void (*fini)(void *ctx);
    /* what compressing n bytes takes at most; 0: more than it can */
    size_t (*bound)(const QCryptoRow *row, size_t n);
    /* *outlen: room, then what of it was written */
    QCryptoCompStatus (*compress)(void *ctx, const uint8_t *in, size_t inlen,
                                  uint8_t *out, size_t *outlen);
    /* *inlen: what there is, then what of it was the stream.  Nothing that
     * the data says of its own size is believed: *outlen is the limit. */
    QCryptoCompStatus (*decompress)(void *ctx, const uint8_t *in, size_t *inlen,
                                    uint8_t *out, size_t *outlen);
} QCryptoCompOps;

/* A generator of the provider's own, which seeds itself. */
typedef struct QCryptoRngOps {
    size_t ctx_size; /* 16-byte aligned, zeroed, wiped after fini */
    int (*init)(void *ctx, const QCryptoRow *row, GError **errp);
    void (*fini)(void *ctx);
    int (*bytes)(void *ctx, uint8_t *out, size_t n, GError **errp);
} QCryptoRngOps;

typedef struct QCryptoProvider {
    const char *name;
    /* text of the library's version at run time */
    const char *(*version)(void);
    const QCryptoRow *rows;
    size_t nrows;
    /*
     * Called once before anything else of the provider; NULL: always usable.
     * -1 and an error: the whole provider is unavailable, for that reason.
     */
    int (*probe)(GError **errp);
    /* the same for one row (an algorithm switched off by the library) */
    int (*probe_row)(const QCryptoRow *row, GError **errp);
    /*
     * For providers that learn at run time what is behind a row (the kernel's
     * driver): its name, a string for the process's lifetime, or NULL for
     * row->impl.  Called when the row has passed its self-test.
     */
    const char *(*impl)(const QCryptoRow *row);
    /*
     * The row of an implementation that is none of rows and was asked for by
     * name, made for the process's lifetime; NULL: there is none, with or
     * without an error that says more.
     */
    const QCryptoRow *(*named)(QCryptoKind kind, int alg, int mode,
                               const char *impl, GError **errp);
} QCryptoProvider;

#endif
