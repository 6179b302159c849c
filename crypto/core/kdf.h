/*
 * Measuring the cost of key derivation, with a clock that tests can replace
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_KDF_H
#define QCRYPTO_CORE_KDF_H

#include <qcrypto/kdf.h>

/* Nanoseconds of a clock that should not go back, but may. */
typedef uint64_t QCryptoClock(void *opaque);

/* Work of the given cost (iterations, passes): 0, or -1 and an error. */
typedef int QCryptoCostFunc(uint64_t cost, void *opaque, GError **errp);

typedef struct QCryptoRateProbe {
    QCryptoCostFunc *work;
    void *opaque;
    QCryptoClock *clock; /* NULL: the monotonic clock */
    void *clock_opaque;
    uint64_t first;     /* cost of the first probe */
    uint64_t max;       /* cost no probe exceeds */
    uint64_t sample_ns; /* a sample counts from this length on */
} QCryptoRateProbe;

/*
 * Cost a second; 0 and an error on failure.  Always ends: the cost of a
 * probe grows until a sample is long enough or the maximum is reached, and
 * neither the number of probes nor the time they take goes on for ever,
 * whatever the clock says.
 */
uint64_t qcrypto_rate(const QCryptoRateProbe *probe, GError **errp);

/* One probe: how long work of that cost takes, 0 when the clock went back. */
int qcrypto_rate_once(const QCryptoRateProbe *probe, uint64_t cost,
                      uint64_t *ns, GError **errp);

/* qcrypto_pbkdf2_count_iters by this clock. */
uint64_t qcrypto_pbkdf2_count_iters_by(QCryptoClock *clock, void *clock_opaque,
                                       QCryptoHashAlgo hash, const uint8_t *key,
                                       size_t nkey, const uint8_t *salt,
                                       size_t nsalt, size_t nout,
                                       GError **errp);

/* What the calibration of Argon2 measures, and how. */
typedef struct QCryptoArgon2Probe {
    int (*derive)(const QCryptoArgon2Cost *cost, void *opaque, GError **errp);
    void *opaque;
    QCryptoClock *clock; /* NULL: the monotonic clock */
    void *clock_opaque;
    uint64_t available_kib;
} QCryptoArgon2Probe;

/* qcrypto_argon2_calibrate by this probe. */
int qcrypto_argon2_calibrate_probe(QCryptoArgon2Algo alg, unsigned target_ms,
                                   uint32_t max_memory_kib,
                                   const QCryptoArgon2Probe *probe,
                                   QCryptoArgon2Cost *cost, GError **errp);

#endif
