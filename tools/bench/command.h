/*
 * `qcrypto bench` with the peers as a parameter, for tests
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_COMMAND_H
#define QCRYPTO_TOOLS_BENCH_COMMAND_H

#include "tools/bench/peer.h"

/* argv[0] is "bench"; returns the exit status. */
int qcrypto_bench_command(int argc, char **argv,
                          const QCryptoBenchPeer *const *peers);

#endif
