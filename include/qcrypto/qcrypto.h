/*
 * qcrypto: everything
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_H
#define QCRYPTO_H

#include <qcrypto/chacha.h>
#include <qcrypto/afsplit.h>
#include <qcrypto/block.h>
#include <qcrypto/async.h>
#include <qcrypto/calibrate.h>
#include <qcrypto/cipher.h>
#include <qcrypto/comp.h>
#include <qcrypto/error.h>
#include <qcrypto/hash.h>
#include <qcrypto/hmac.h>
#include <qcrypto/ivgen.h>
#include <qcrypto/kdf.h>
#include <qcrypto/provider.h>
#include <qcrypto/random.h>
#include <qcrypto/secret.h>
#include <qcrypto/types.h>
#include <qcrypto/xor.h>
#include <qcrypto/xts.h>

#endif
