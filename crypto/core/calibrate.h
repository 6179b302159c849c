/*
 * Calibration, the inside: what is fixed work of each kind
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_CALIBRATE_H
#define QCRYPTO_CORE_CALIBRATE_H

#include <qcrypto/calibrate.h>

#include "crypto/core/measure.h"
#include "crypto/core/plan.h"

/* Room a piece of work may use: QCRYPTO_XOR_ARITY + 1 buffers of MAX_SIZE. */
#define QCRYPTO_CALIBRATE_MAX_SIZE 65536

/* A contestant's context: made by open, used by work, ended by close. */
typedef struct QCryptoWork {
    const QCryptoRow *row;
    void *ctx;
    size_t nctx;
    size_t size;
    unsigned arity;
    uint8_t *buf;
    bool failed; /* a call returned an error: not to be chosen */
} QCryptoWork;

typedef struct QCryptoCalibrator {
    QCryptoKind kind;
    /* rising; one plan step at most begins with each */
    const size_t *sizes;
    size_t nsizes;
    size_t typical;
    unsigned arity_min, arity_max; /* 0, 0: the kind has none */
    /*
     * All shapes of the kind rank alike: on a clock too coarse for the
     * budget the first shape's choice stands for all.
     */
    bool alike;
    int (*open)(QCryptoWork *w);
    void (*work)(void *w, unsigned reps);
    void (*close)(QCryptoWork *w);
} QCryptoCalibrator;

/* in order of calibration; NULL-ended */
extern const QCryptoCalibrator *const qcrypto_calibrators[];

#define SHAPE_SIZES 4
#define SHAPE_CANDIDATES 12

/* A shape of operation and what was measured. */
typedef struct Shape {
    const QCryptoCalibrator *cal;
    int alg;
    int mode;
    unsigned arity;
    QCryptoCandidate *candidates[SHAPE_CANDIDATES]; /* written order */
    size_t n;
    double ns[SHAPE_SIZES][SHAPE_CANDIDATES]; /* 0: not measured */
    bool measured;
} Shape;

typedef struct Calibration {
    Shape *shapes;
    QCryptoPlan *plans; /* one a shape; without steps: the written order */
    size_t n;
    double seconds;
    double clock_ns;
    unsigned generation;
} Calibration;

Calibration *qcrypto_calibration_alloc(size_t n);
void qcrypto_calibration_drop(Calibration *c);
/* of what is in force, or NULL */
Calibration *qcrypto_calibration_copy(void);
/* Takes c (NULL: the written order). */
int qcrypto_calibration_publish(Calibration *c, GError **errp);
/* Fills in the candidates of a shape's kind, algorithm and mode. */
void qcrypto_shape_candidates(Shape *s);

/* qcrypto_calibrate with the clock of a test. */
int qcrypto_calibrate_clock(const char *kinds, unsigned budget_ms,
                            QCryptoClock *clock, void *clock_opaque,
                            QCryptoCalibrateProgress *progress, void *opaque,
                            GError **errp);

#endif
