/*
 * ChaCha with 8, 12 or 20 rounds: block function, stream, HChaCha
 *
 *     uint32_t state[16];
 *     qcrypto_chacha_init(state, key, 32, nonce, 12, 1, &err);
 *     qcrypto_chacha_block(state, block, 20);
 *
 *     g_autoptr(QCryptoChaCha) c = qcrypto_chacha_new(20, key, 32, &err);
 *     qcrypto_chacha_setiv(c, nonce, 12, &err);
 *     qcrypto_chacha_crypt(c, in, out, len, &err);
 *
 * The state is 16 numbers of the host: constants, key, counter and nonce
 * (RFC 8439, 2.3).  A nonce of 12 bytes goes with a counter of 32 bits in
 * word 12 (RFC 8439), one of 8 bytes with a counter of 64 bits in words 12
 * (low) and 13 (D. J. Bernstein's ChaCha).
 *
 * At the end of the counter: the block with the counter 2^32 - 1, or
 * 2^64 - 1, is the last one.  It works to its last byte; a call that needs
 * one more byte is refused, writes nothing and leaves the position as it was.
 * Counters never wrap and never run into the nonce.
 *
 * in == out is allowed, any other overlap is refused.  Lengths are bytes, no
 * pointer needs an alignment.  Errors: QCRYPTO_ERROR_INVALID_ARGUMENT for
 * lengths, rounds and misuse, _UNSUPPORTED when no row serves the key,
 * _BACKEND_UNAVAILABLE for a named backend that is not there.
 *
 * Threads: functions of a state have no state but that; one object is used by
 * one thread at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CHACHA_H
#define QCRYPTO_CHACHA_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

#define QCRYPTO_CHACHA_BLOCK_LEN 64

/*
 * Makes the state of one block.  nkey is 16 or 32, nnonce 8 or 12; with a
 * nonce of 12 bytes the counter is below 2^32.
 */
QCRYPTO_API int qcrypto_chacha_init(uint32_t state[16], const uint8_t *key,
                                    size_t nkey, const uint8_t *nonce,
                                    size_t nnonce, uint64_t counter,
                                    GError **errp);

/*
 * The block of this very state, and nothing else: the state is not changed,
 * counting is the caller's.  rounds is 8, 12 or 20; for any other number, or
 * when QCRYPTO_CPU is wrong, -1 and nothing written.  Runs on the fastest
 * builtin kernel that this CPU has, whatever the order of providers.
 */
QCRYPTO_API int qcrypto_chacha_block(const uint32_t state[16],
                                     uint8_t out[QCRYPTO_CHACHA_BLOCK_LEN],
                                     unsigned rounds);

/*
 * HChaCha (draft-irtf-cfrg-xchacha-03, 2.2): a key from a key and a nonce of
 * 16 bytes.  Returns as qcrypto_chacha_block does.  out may be key.
 */
QCRYPTO_API int qcrypto_hchacha(const uint8_t key[32], const uint8_t nonce[16],
                                uint8_t out[32], unsigned rounds);

/*
 * The whole of a message: len bytes from the start of block counter on are
 * xored with the keystream.
 */
QCRYPTO_API int qcrypto_chacha_xor(unsigned rounds, const uint8_t *key,
                                   size_t nkey, const uint8_t *nonce,
                                   size_t nnonce, uint64_t counter,
                                   const void *in, void *out, size_t len,
                                   GError **errp);

/* ---- a stream ---- */

typedef struct QCryptoChaCha QCryptoChaCha;

/* True when _new() with a key of 32 bytes works. */
QCRYPTO_API bool qcrypto_chacha_supports(unsigned rounds);

/*
 * The first row of the selection order that can serve this key of 16 or 32
 * bytes, which is copied.
 */
QCRYPTO_API QCryptoChaCha *qcrypto_chacha_new(unsigned rounds,
                                              const uint8_t *key, size_t nkey,
                                              GError **errp);

/*
 * The same from one provider, "nettle", or from one implementation of it,
 * "builtin:chacha-avx2" (`qcrypto providers` lists them).
 */
QCRYPTO_API QCryptoChaCha *qcrypto_chacha_new_from(const char *provider,
                                                   unsigned rounds,
                                                   const uint8_t *key,
                                                   size_t nkey, GError **errp);

/* Wipes the object and frees it; NULL is allowed. */
QCRYPTO_API void qcrypto_chacha_free(QCryptoChaCha *c);

/* The row that serves this object: "builtin", "chacha-avx2". */
QCRYPTO_API const char *qcrypto_chacha_get_provider(const QCryptoChaCha *c);
QCRYPTO_API const char *qcrypto_chacha_get_impl(const QCryptoChaCha *c);

/* Starts a message at block 0; nnonce is 8 or 12 and chooses the counter. */
QCRYPTO_API int qcrypto_chacha_setiv(QCryptoChaCha *c, const uint8_t *nonce,
                                     size_t nnonce, GError **errp);

/*
 * Goes to byte offset (0 to 63) of a block of the message; the start of the
 * block behind the last one is no place to go.
 */
QCRYPTO_API int qcrypto_chacha_seek(QCryptoChaCha *c, uint64_t block,
                                    unsigned offset, GError **errp);

/*
 * Xors len bytes with the keystream and goes on from there; calls may end
 * anywhere inside a block.
 */
QCRYPTO_API int qcrypto_chacha_crypt(QCryptoChaCha *c, const void *in,
                                     void *out, size_t len, GError **errp);

/* The same, but gives the keystream itself. */
QCRYPTO_API int qcrypto_chacha_keystream(QCryptoChaCha *c, void *out,
                                         size_t len, GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoChaCha, qcrypto_chacha_free)

G_END_DECLS

#endif
