/*
 * Memory that holds secrets
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/secure.h"

#include <stdint.h>
#include <stdlib.h>

bool qcrypto_equal_ct(const void *a, const void *b, size_t n)
{
    const volatile uint8_t *x = a;
    const volatile uint8_t *y = b;
    uint8_t diff = 0;

    for (size_t i = 0; i < n; i++) {
        diff |= x[i] ^ y[i];
    }
    return diff == 0;
}

void *qcrypto_alloc(size_t n)
{
    size_t size = n ? n : 1;

    /* glibc and musl align to 2 * sizeof(size_t), on every architecture */
    if (2 * sizeof(size_t) >= 16) {
        return calloc(1, size);
    }
    void *p = NULL;
    if (posix_memalign(&p, 16, size) != 0) {
        return NULL;
    }
    return memset(p, 0, size);
}

void qcrypto_wipe_free(void *p, size_t n)
{
    if (p) {
        qcrypto_wipe(p, n);
        free(p);
    }
}
