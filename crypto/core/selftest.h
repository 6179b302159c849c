/*
 * Known-answer tests of rows
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_SELFTEST_H
#define QCRYPTO_CORE_SELFTEST_H

#include "crypto/base/rows.h"

/*
 * Runs the row over a fixed message and compares with a known answer: 0, or
 * -1 and an error that says what differs.  No state, any thread.
 */
int qcrypto_selftest(const QCryptoRow *row, GError **errp);

/*
 * The ciphers' message, for others that have no row and want to be held
 * against the same known answers: fills in the key (of which a cipher takes
 * as much as it needs), the IV and up to QCRYPTO_SELFTEST_MESSAGE bytes of
 * plaintext, and returns how many.
 */
#define QCRYPTO_SELFTEST_MESSAGE 1077
size_t qcrypto_selftest_message(int mode, uint8_t key[64], uint8_t iv[16],
                                uint8_t *plain);

/* The fold of the row's output, for tests that hold kat.c against rows. */
int qcrypto_selftest_compute(const QCryptoRow *row, uint64_t *fold,
                             GError **errp);

/*
 * The known answer of (kind, alg, mode), for tests that list what is
 * covered; false when there is none (then the self-test fails: no row is used
 * unproved).
 */
bool qcrypto_selftest_answer(QCryptoKind kind, int alg, int mode,
                             uint64_t *answer);

#endif
