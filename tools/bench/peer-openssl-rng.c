/*
 * OpenSSL's generator as a peer: RAND_bytes_ex
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <openssl/rand.h>

#include "tools/bench/peer-openssl.h"

static int rand_bytes(void *buf, size_t n, GError **errp)
{
    return RAND_bytes_ex(qcrypto_bench_openssl_lib(), buf, n, 0) == 1
               ? 0
               : qcrypto_bench_openssl_error(errp, "RAND_bytes_ex");
}

const QCryptoBenchRngPeer qcrypto_bench_openssl_rng = {
    .impl = "RAND_bytes",
    .bytes = rand_bytes,
};
