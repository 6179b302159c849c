/*
 * Calibrations as the command keeps and prints them
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_CALIBRATION_H
#define QCRYPTO_TOOLS_CALIBRATION_H

#include <qcrypto/calibrate.h>

/* Where one is kept from one command to the next; g_free. */
char *qcrypto_calibration_kept_path(void);

/* Measures, with progress on a terminal; keeps it in path unless NULL. */
int qcrypto_calibration_measure(const char *kinds, unsigned budget_ms,
                                const char *path, GError **errp);

/* Figures by shape and size, crossover sizes, what was overruled. */
void qcrypto_calibration_print(const QCryptoCalibration *c);

#endif
