/*
 * Memory that holds secrets
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/secure.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

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

void *qcrypto_alloc_unset(size_t n)
{
    /* glibc and musl align to 2 * sizeof(size_t), on every architecture */
    if (2 * sizeof(size_t) >= 16) {
        return malloc(n);
    }
    void *p = NULL;
    return posix_memalign(&p, 16, n) == 0 ? p : NULL;
}

void *qcrypto_alloc(size_t n)
{
    size_t size = n ? n : 1;
    void *p = qcrypto_alloc_unset(size);

    return p ? memset(p, 0, size) : NULL;
}

void *qcrypto_map_pages(size_t n, bool *locked)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);

    if (p == MAP_FAILED) {
        return NULL;
    }
    /* before the first byte is in it */
    *locked = mlock(p, n) == 0;
    madvise(p, n, MADV_DONTDUMP);
    return p;
}

void qcrypto_wipe_free(void *p, size_t n)
{
    if (p) {
        qcrypto_wipe(p, n);
        free(p);
    }
}
