/*
 * Kinds "hash" and "hmac": digests, measured
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_HASH_H
#define QCRYPTO_TOOLS_BENCH_HASH_H

#include "tools/bench/kinds.h"

extern const QCryptoBenchKind qcrypto_bench_kind_hash;
extern const QCryptoBenchKind qcrypto_bench_kind_hmac;

#endif
