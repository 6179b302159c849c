/*
 * XOR, the templates of the builtin backend
 *
 *   template   file               register          a turn
 *   8regs      xor-8regs.c        64 bits           8
 *   32regs     xor-32regs.c       64 bits           32, in vectors of the compiler
 *   sse2       x86/xor-sse2.c     128 bits          4
 *   avx2       x86/xor-avx2.c     256 bits          4
 *   avx512     x86/xor-avx512.c   512 bits          2
 *   neon       arm/xor-neon.c     128 bits          4
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_XOR_H
#define QCRYPTO_BUILTIN_XOR_H

#include "crypto/base/rows.h"

extern const QCryptoXorOps qcrypto_xor_ops_8regs;
extern const QCryptoXorOps qcrypto_xor_ops_32regs;
extern const QCryptoXorOps qcrypto_xor_ops_sse2;
extern const QCryptoXorOps qcrypto_xor_ops_avx2;
extern const QCryptoXorOps qcrypto_xor_ops_avx512;
extern const QCryptoXorOps qcrypto_xor_ops_neon;

#endif
