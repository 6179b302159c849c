/*
 * How much memory is to be had, with a file system that tests can replace
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_MEMORY_H
#define QCRYPTO_CORE_MEMORY_H

#include <stdint.h>

/*
 * What the files below root say ("" is the system itself): the limits of the
 * process (these are always its own) against the sizes of /proc/self/status,
 * its control groups of either version, and free memory.
 */
uint64_t qcrypto_memory_available_below(const char *root);

#endif
