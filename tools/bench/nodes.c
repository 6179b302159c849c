/*
 * CPUs of NUMA nodes: see nodes.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config-qcrypto.h"

#include "tools/bench/nodes.h"

#include "crypto/base/error.h"

#if QCRYPTO_HAVE_NUMA

#include <numa.h>
#include <sched.h>
#include <stdbool.h>

#include "tools/bench/machine.h"

enum { NODES = 64 }; /* bits of a mask */

/* "0-1,4" */
static char *nodes_there(void)
{
    bool there[NODES];

    for (unsigned i = 0; i < NODES; i++) {
        there[i] = numa_bitmask_isbitset(numa_nodes_ptr, i);
    }
    return qcrypto_bench_cpu_list(there, NODES);
}

static int refuse(uint64_t mask, unsigned node, GError **errp)
{
    g_autofree char *nodes = nodes_there();

    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "--numamask 0x%" G_GINT64_MODIFIER
                         "x: there is no NUMA node %u here (nodes: %s)",
                         mask, node, nodes);
}

/* Appends to @out the CPUs of the node that @own has. */
static int add_node(GArray *out, uint64_t mask, unsigned node,
                    const cpu_set_t *own, GError **errp)
{
    struct bitmask *cpus = numa_allocate_cpumask();
    const guint before = out->len;

    if (numa_node_to_cpus((int)node, cpus) == 0) {
        for (int i = 0; i < CPU_SETSIZE && (unsigned)i < cpus->size; i++) {
            if (numa_bitmask_isbitset(cpus, (unsigned)i) &&
                CPU_ISSET((size_t)i, own)) {
                g_array_append_val(out, i);
            }
        }
    }
    numa_free_cpumask(cpus);
    return out->len > before
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                               "--numamask 0x%" G_GINT64_MODIFIER
                               "x: NUMA node %u has no CPU that this process "
                               "may use",
                               mask, node);
}

/* The lists one after the other, as one that takes from each in turn. */
static GArray *deal(GArray *const *lists)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(int));
    bool more = true;

    for (guint i = 0; more; i++) {
        more = false;
        for (unsigned node = 0; node < NODES; node++) {
            if (lists[node] && i < lists[node]->len) {
                g_array_append_val(out, g_array_index(lists[node], int, i));
                more = true;
            }
        }
    }
    return out;
}

GArray *qcrypto_bench_numa_cpus(uint64_t mask, GError **errp)
{
    GArray *lists[NODES] = {NULL}, *out = NULL;
    cpu_set_t own;
    int ret = 0;

    if (mask &&
        (numa_available() < 0 || sched_getaffinity(0, sizeof own, &own) < 0)) {
        qcrypto_error_unsupported(errp, "--numamask",
                                  "this kernel does not tell of NUMA nodes");
        return NULL;
    }
    for (unsigned node = 0; node < NODES && ret == 0; node++) {
        if (!(mask >> node & 1)) {
            continue;
        }
        lists[node] = g_array_new(FALSE, FALSE, sizeof(int));
        ret = numa_bitmask_isbitset(numa_nodes_ptr, node)
                  ? add_node(lists[node], mask, node, &own, errp)
                  : refuse(mask, node, errp);
    }
    if (ret == 0) {
        out = deal(lists);
    }
    for (unsigned node = 0; node < NODES; node++) {
        if (lists[node]) {
            g_array_unref(lists[node]);
        }
    }
    return out;
}

#else

GArray *qcrypto_bench_numa_cpus(uint64_t mask, GError **errp)
{
    if (mask) {
        qcrypto_error_unsupported(errp, "--numamask",
                                  "this build was made without libnuma");
        return NULL;
    }
    return g_array_new(FALSE, FALSE, sizeof(int));
}

#endif
