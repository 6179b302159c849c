/*
 * Keys from passphrases: PBKDF2 and Argon2
 *
 * Both pairs have the same form: a call that derives, and one that measures
 * how much cost this machine bears, for choosing the cost of a new volume.
 *
 *     uint64_t per_s = qcrypto_pbkdf2_count_iters(hash, key, nkey, salt, nsalt,
 *                                                 nout, &err);
 *     qcrypto_pbkdf2(hash, key, nkey, salt, nsalt, per_s * 2, out, nout, &err);
 *
 * Cost limits: PBKDF2 takes 1 to 2^32 - 1 iterations.  Argon2 memory is
 * compared with what the process may have (RLIMIT_AS, the control group,
 * free memory) before it is allocated: QCRYPTO_ERROR_OUT_OF_MEMORY with
 * "needs N KiB, M available".  A given cost is used exactly, never lowered.
 *
 * Keys and salts have any length, 0 included.  out is written only on
 * success.  Lengths are bytes, memory is KiB.  Threads: any.
 *
 * Sources: RFC 8018, 5.2 (PBKDF2); RFC 9106 (Argon2, version 0x13).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_KDF_H
#define QCRYPTO_KDF_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

/* True when some row derives with this hash. */
QCRYPTO_API bool qcrypto_pbkdf2_supports(QCryptoHashAlgo hash);

QCRYPTO_API int qcrypto_pbkdf2(QCryptoHashAlgo hash, const uint8_t *key,
                               size_t nkey, const uint8_t *salt, size_t nsalt,
                               uint64_t iterations, uint8_t *out, size_t nout,
                               GError **errp);
/* from one provider, or one implementation: "nettle", "builtin:sha-ni" */
QCRYPTO_API int qcrypto_pbkdf2_from(const char *provider, QCryptoHashAlgo hash,
                                    const uint8_t *key, size_t nkey,
                                    const uint8_t *salt, size_t nsalt,
                                    uint64_t iterations, uint8_t *out,
                                    size_t nout, GError **errp);

/*
 * Iterations a second for this very output length; 0 and an error on
 * failure.  Takes about half a second.
 */
QCRYPTO_API uint64_t qcrypto_pbkdf2_count_iters(QCryptoHashAlgo hash,
                                                const uint8_t *key, size_t nkey,
                                                const uint8_t *salt,
                                                size_t nsalt, size_t nout,
                                                GError **errp);

typedef struct QCryptoArgon2Cost {
    uint32_t time;       /* passes, at least 1 */
    uint32_t memory_kib; /* at least 8 a lane */
    uint32_t lanes;      /* degree of parallelism, 1 to 2^24 - 1 */
} QCryptoArgon2Cost;

QCRYPTO_API bool qcrypto_argon2_supports(QCryptoArgon2Algo alg);

/* "argon2id", ...; NULL for a number that is none.  Look-up: -1. */
QCRYPTO_API const char *qcrypto_argon2_algo_name(QCryptoArgon2Algo alg);
QCRYPTO_API int qcrypto_argon2_algo_from_name(const char *name);

/* The salt has at least 8 bytes, nout is 4 or more (RFC 9106, 3.1). */
QCRYPTO_API int qcrypto_argon2(QCryptoArgon2Algo alg, const uint8_t *key,
                               size_t nkey, const uint8_t *salt, size_t nsalt,
                               const QCryptoArgon2Cost *cost, uint8_t *out,
                               size_t nout, GError **errp);
QCRYPTO_API int qcrypto_argon2_from(const char *provider, QCryptoArgon2Algo alg,
                                    const uint8_t *key, size_t nkey,
                                    const uint8_t *salt, size_t nsalt,
                                    const QCryptoArgon2Cost *cost, uint8_t *out,
                                    size_t nout, GError **errp);

/*
 * The same with the secret value K and the associated data X of RFC 9106,
 * 3.1, either of any length, 0 included; provider may be NULL: selection.
 */
QCRYPTO_API int qcrypto_argon2_keyed(const char *provider, QCryptoArgon2Algo alg,
                                     const uint8_t *key, size_t nkey,
                                     const uint8_t *salt, size_t nsalt,
                                     const uint8_t *secret, size_t nsecret,
                                     const uint8_t *ad, size_t nad,
                                     const QCryptoArgon2Cost *cost, uint8_t *out,
                                     size_t nout, GError **errp);

/*
 * A cost that takes about target_ms here: as much memory as the cap allows
 * and no more than half of what is available, then passes; at least
 * cost->time passes (4 when 0) and cost->lanes lanes (the processors, at most
 * 4, when 0).  cost is in and out; max_memory_kib 0 means 1 GiB, the cap of
 * cryptsetup's defaults.
 */
QCRYPTO_API int qcrypto_argon2_calibrate(QCryptoArgon2Algo alg,
                                         unsigned target_ms,
                                         uint32_t max_memory_kib, size_t nout,
                                         QCryptoArgon2Cost *cost,
                                         GError **errp);

/* KiB this process could still allocate, as far as it can be known. */
QCRYPTO_API uint64_t qcrypto_memory_available_kib(void);

G_END_DECLS

#endif
