/*
 * NUMA nodes, as a mask of them says where threads run
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_NODES_H
#define QCRYPTO_TOOLS_BENCH_NODES_H

#include <glib.h>
#include <stdint.h>

/*
 * The CPUs (int) of the nodes whose bits are set that this process may use,
 * those of each node in turn, so that few threads too are spread over all
 * nodes.  Mask 0: none, which is no binding.  NULL and an error that names
 * the node that is not there or has no such CPU.
 */
GArray *qcrypto_bench_numa_cpus(uint64_t mask, GError **errp);

#endif
