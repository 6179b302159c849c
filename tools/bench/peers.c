/*
 * The peer table
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config-qcrypto.h"

#include "tools/bench/peer-openssl.h"
#include "tools/bench/peer.h"

#if !QCRYPTO_HAVE_OPENSSL
static const QCryptoBenchPeer qcrypto_bench_openssl = {
    .name = "openssl",
    .missing = "not built in",
};
#endif

const QCryptoBenchPeer *const qcrypto_bench_peers[] = {
    &qcrypto_bench_openssl,
    NULL,
};
