/*
 * GLib: what its files share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_GLIB_H
#define QCRYPTO_GLIB_H

#include "crypto/base/rows.h"

/* row->arg points to a GChecksumType */
extern const QCryptoHashOps qcrypto_glib_hash;

#endif
