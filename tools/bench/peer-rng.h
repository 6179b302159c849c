/*
 * Other generators as peers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_PEER_RNG_H
#define QCRYPTO_TOOLS_BENCH_PEER_RNG_H

#include "config-qcrypto.h"

#include "tools/bench/peer.h"

extern const QCryptoBenchPeer qcrypto_bench_getrandom;
#if QCRYPTO_HAVE_ARC4RANDOM
extern const QCryptoBenchPeer qcrypto_bench_arc4random;
#endif
#if QCRYPTO_HAVE_GCRYPT
extern const QCryptoBenchPeer qcrypto_bench_gcry_randomize;
extern const QCryptoBenchPeer qcrypto_bench_gcry_nonce;
#endif
#if QCRYPTO_HAVE_GNUTLS
extern const QCryptoBenchPeer qcrypto_bench_gnutls_rnd;
#endif

#endif
