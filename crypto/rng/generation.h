/*
 * The machine's generation id: has this machine been started from a snapshot?
 *
 * Hypervisors give a machine an id that changes whenever it is started from
 * a saved state.  What user space can see of it, in the order of trial:
 *
 *   /dev/vmclock0  VMClock's page (Linux 6.13), mapped.  The field
 *                  vm_generation_counter, or disruption_marker in devices
 *                  that lack the former.  Looking costs a load, so every
 *                  request looks.
 *   fw_cfg         QEMU's copy of the VMGENID, as root.  Reading it leaves
 *                  the machine, so it is read every 10 ms at most.
 *
 * QCRYPTO_RNG_GENERATION=PATH names another file instead, which is mapped if
 * it is made like VMClock's page and otherwise read, its first 64 bytes.  A
 * file that cannot be read at the first use is an error of every call; one
 * that vanishes later is a change.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_RNG_GENERATION_H
#define QCRYPTO_RNG_GENERATION_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct QCryptoRngGeneration {
    uint8_t id[64];
    size_t len;
    int64_t read_at; /* milliseconds, of a coarse clock */
} QCryptoRngGeneration;

/* The file that is watched, NULL for none; -1 and the lasting error. */
int qcrypto_rng_generation_init(const char **path, GError **errp);

/* The id as it is now; only after init, as all of these. */
void qcrypto_rng_generation_get(QCryptoRngGeneration *g);

/* It is another one than that of *g, as far as one has looked. */
bool qcrypto_rng_generation_changed(QCryptoRngGeneration *g);

/* Milliseconds of CLOCK_MONOTONIC_COARSE: no system call, some nanoseconds. */
int64_t qcrypto_rng_clock(void);

#endif
