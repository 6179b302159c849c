/*
 * How many threads the lanes of Argon2 are worth
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BACKEND_LANES_H
#define QCRYPTO_BACKEND_LANES_H

#include <glib.h>
#include <stdint.h>

/*
 * Lanes meet at the end of every slice, a quarter of a pass, and libraries
 * make their threads anew for each.  That takes some 20 microseconds a thread,
 * as long as about 50 blocks of 1 KiB: a thread with less work than a few
 * times that only costs.
 */
#define QCRYPTO_LANES_WORTH 256

static inline unsigned qcrypto_lanes_threads(uint32_t memory_kib,
                                             uint32_t lanes)
{
    return memory_kib / lanes / 4 < QCRYPTO_LANES_WORTH
               ? 1
               : MIN(lanes, g_get_num_processors());
}

#endif
