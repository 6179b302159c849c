/*
 * Initialisation vectors from sector numbers
 *
 *   plain      the low 32 bits of the number, little-endian, then zeros:
 *              repeats every 2 TiB of 512-byte sectors
 *   plain64    all 64 bits, little-endian, then zeros
 *   plain64be  zeros, then all 64 bits, big-endian
 *   benbi      zeros, then the number of the sector's first cipher block
 *              counted from 1, big-endian (dm-crypt's "benbi"); runs of
 *              sectors in CTR count bytes instead, as dm-crypt does
 *   essiv      plain64, encrypted under a hash of the volume key
 *
 * The number counts 512-byte units unless the volume says otherwise.
 * Threads: an object does not change after _new(); any number of threads may
 * use it at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_IVGEN_H
#define QCRYPTO_IVGEN_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

typedef struct QCryptoIVGen QCryptoIVGen;

/* "plain64", ...; NULL for a number that is none.  The look-up gives -1. */
QCRYPTO_API const char *qcrypto_ivgen_algo_name(QCryptoIVGenAlgo alg);
QCRYPTO_API int qcrypto_ivgen_algo_from_name(const char *name);

/*
 * cipheralg is the volume's cipher (its block length matters to benbi; essiv
 * encrypts with the family's member that the hash's length selects).  hash,
 * key and nkey are read by essiv alone.
 */
QCRYPTO_API QCryptoIVGen *qcrypto_ivgen_new(QCryptoIVGenAlgo alg,
                                            QCryptoCipherAlgo cipheralg,
                                            QCryptoHashAlgo hash,
                                            const uint8_t *key, size_t nkey,
                                            GError **errp);

/* Fills niv bytes (1 to 16; essiv: the cipher's block length). */
QCRYPTO_API int qcrypto_ivgen_calculate(const QCryptoIVGen *ivgen,
                                        uint64_t sector, uint8_t *iv,
                                        size_t niv, GError **errp);

QCRYPTO_API QCryptoIVGenAlgo
qcrypto_ivgen_get_algorithm(const QCryptoIVGen *ivgen);
QCRYPTO_API QCryptoCipherAlgo
qcrypto_ivgen_get_cipher(const QCryptoIVGen *ivgen);
QCRYPTO_API QCryptoHashAlgo qcrypto_ivgen_get_hash(const QCryptoIVGen *ivgen);

/* Wipes the object and frees it; NULL is allowed. */
QCRYPTO_API void qcrypto_ivgen_free(QCryptoIVGen *ivgen);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoIVGen, qcrypto_ivgen_free)

G_END_DECLS

#endif
