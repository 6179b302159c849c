/*
 * Random bytes straight from the kernel: seeds, volume keys, salts
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_RNG_KERNEL_H
#define QCRYPTO_RNG_KERNEL_H

#include <qcrypto/error.h>

/*
 * n bytes of getrandom(2), any n.  Short reads go on, EINTR is tried again;
 * on a kernel without the call (ENOSYS) /dev/urandom is read once /dev/random
 * has shown that it is seeded.  On failure: QCRYPTO_ERROR_ENTROPY and a
 * buffer of zeros.  Any thread.
 */
int qcrypto_kernel_random(void *buf, size_t n, GError **errp);

#endif
