/*
 * Calibration: measure the rows that could serve, then choose by measurement
 *
 * Nothing is measured when the library is loaded: a preliminary choice, the
 * written order, serves at once.  qcrypto_calibrate() measures the candidates
 * of every shape of operation (algorithm, mode, size; for XOR the number of
 * sources) side by side on short fixed work, best of three attempts, and
 * publishes the result in one atomic step: new objects and calls use it,
 * objects that exist keep what they have.
 *
 * Results within the margin are a tie, and the written order decides, so
 * that a repetition gives the same choice.  For ciphers and hashes the
 * choice depends on the size of a request: a row with a high fixed cost
 * serves from the size on from which it is worth it.
 *
 * The clock may be coarse, lag or go back: speeds are always positive, every
 * wait is bounded, and where nothing could be measured the written order
 * stays.
 *
 * Rows that policy avoids, that exist for benchmarks alone, or whose time
 * depends on secrets where another row's does not, are no candidates.
 *
 * Threads: one calibration at a time (QCRYPTO_ERROR_BUSY otherwise); every
 * other call of the library may run meanwhile.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CALIBRATE_H
#define QCRYPTO_CALIBRATE_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

/* A difference of this much is none: percent. */
#define QCRYPTO_CALIBRATE_MARGIN 10

/* done and total count shapes; what: "aes-256-xts". */
typedef void QCryptoCalibrateProgress(const char *what, size_t done,
                                      size_t total, void *opaque);

/*
 * kinds: comma-separated ("xor", "cipher", "chacha", "hash", "hmac",
 * "pbkdf2"), NULL or "all"
 * for each.  budget_ms bounds the time of measuring (it is looked at between
 * two attempts, so the last one may end after it), 0: 100 ms for xor alone,
 * 2 s otherwise; shapes that no time is left for keep the written order, and
 * the report says so.
 */
QCRYPTO_API int qcrypto_calibrate(const char *kinds, unsigned budget_ms,
                                  QCryptoCalibrateProgress *progress,
                                  void *opaque, GError **errp);

/* Back to the written order. */
QCRYPTO_API void qcrypto_calibration_clear(void);

/* One measured row at one size of one shape. */
typedef struct QCryptoCalibrationResult {
    const char *kind;
    const char *algorithm;
    const char *mode;     /* NULL where the kind has none */
    unsigned arity;       /* XOR: number of sources, else 0 */
    size_t size;          /* bytes of a request (of a source) */
    const char *provider;
    const char *impl;
    double mib_per_s;     /* 2^20 bytes (of all sources) a second, > 0 */
    bool chosen;          /* serves requests of this size */
    bool written;         /* would serve them by the written order */
} QCryptoCalibrationResult;

/* One step of the choice: from so many bytes on, this row serves. */
typedef struct QCryptoCalibrationStep {
    const char *kind;
    const char *algorithm;
    const char *mode;
    unsigned arity;
    size_t from;
    const char *provider;
    const char *impl;
} QCryptoCalibrationStep;

typedef struct QCryptoCalibration {
    QCryptoCalibrationResult *results;
    size_t nresults;
    QCryptoCalibrationStep *steps;
    size_t nsteps;
    double seconds;     /* spent measuring */
    double clock_ns;    /* smallest step the clock was seen to make */
    size_t unmeasured;  /* shapes that keep the written order for want of
                           time or of a usable clock */
} QCryptoCalibration;

/* What is in force; NULL before any.  Free with the call below. */
QCRYPTO_API QCryptoCalibration *qcrypto_calibration_get(void);
QCRYPTO_API void qcrypto_calibration_free(QCryptoCalibration *c);

/*
 * To a key file and back.  A file of another version, CPU or feature set is
 * refused with what differs; nothing is changed then.  The library reads no
 * file by itself, but for the one that the environment variable
 * QCRYPTO_CALIBRATION names, at its first use.
 */
QCRYPTO_API int qcrypto_calibration_save(const char *path, GError **errp);
QCRYPTO_API int qcrypto_calibration_load(const char *path, GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoCalibration, qcrypto_calibration_free)

G_END_DECLS

#endif
