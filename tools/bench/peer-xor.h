/*
 * What XOR is measured beside: memcpy, the compiler's own loops, ISA-L
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_PEER_XOR_H
#define QCRYPTO_TOOLS_BENCH_PEER_XOR_H

#include "config-qcrypto.h"

#include "tools/bench/peer.h"

extern const QCryptoBenchPeer qcrypto_bench_memcpy;
extern const QCryptoBenchPeer qcrypto_bench_loop;
#if defined(__x86_64__)
extern const QCryptoBenchPeer qcrypto_bench_loop_avx2;
#endif
#if QCRYPTO_HAVE_ISAL
extern const QCryptoBenchPeer qcrypto_bench_isal;
#endif

#endif
