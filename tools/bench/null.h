/*
 * Kind "null": the measuring itself, measured
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_NULL_H
#define QCRYPTO_TOOLS_BENCH_NULL_H

#include "tools/bench/kinds.h"

extern const QCryptoBenchKind qcrypto_bench_kind_null;

#endif
