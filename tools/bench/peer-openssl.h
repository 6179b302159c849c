/*
 * OpenSSL's libcrypto as a peer
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_PEER_OPENSSL_H
#define QCRYPTO_TOOLS_BENCH_PEER_OPENSSL_H

#include "config-qcrypto.h"

#include "tools/bench/peer.h"

#if QCRYPTO_HAVE_OPENSSL
extern const QCryptoBenchPeer qcrypto_bench_openssl;

/* its parts, when it is built in */
extern const QCryptoBenchHashPeer qcrypto_bench_openssl_hash;
extern const QCryptoBenchHashPeer qcrypto_bench_openssl_hmac;
extern const QCryptoBenchKdfPeer qcrypto_bench_openssl_pbkdf2;

extern const QCryptoBenchRngPeer qcrypto_bench_openssl_rng;

/* The library context of ours, made when first asked for. */
struct ossl_lib_ctx_st *qcrypto_bench_openssl_lib(void);
/* OpenSSL's reason for the failure of a call; returns -1. */
int qcrypto_bench_openssl_error(GError **errp, const char *call);
#endif

#endif
