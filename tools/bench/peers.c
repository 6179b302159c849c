/*
 * The peer table
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config-qcrypto.h"

#include "tools/bench/peer-openssl.h"
#include "tools/bench/peer-rng.h"
#include "tools/bench/peer-xor.h"
#include "tools/bench/peer.h"

#if !QCRYPTO_HAVE_OPENSSL
static const QCryptoBenchPeer qcrypto_bench_openssl = {
    .name = "openssl",
    .missing = "not built in",
};
#endif

const QCryptoBenchPeer *const qcrypto_bench_peers[] = {
    &qcrypto_bench_openssl,
    &qcrypto_bench_getrandom,
#if QCRYPTO_HAVE_ARC4RANDOM
    &qcrypto_bench_arc4random,
#endif
#if QCRYPTO_HAVE_GCRYPT
    &qcrypto_bench_gcry_randomize,
    &qcrypto_bench_gcry_nonce,
#endif
#if QCRYPTO_HAVE_GNUTLS
    &qcrypto_bench_gnutls_rnd,
#endif
    &qcrypto_bench_memcpy,
    &qcrypto_bench_loop,
#if defined(__x86_64__)
    &qcrypto_bench_loop_avx2,
#endif
#if QCRYPTO_HAVE_ISAL
    &qcrypto_bench_isal,
#endif
    NULL,
};
