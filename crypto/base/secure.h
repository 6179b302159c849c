/*
 * Memory that holds secrets: wiping, comparing
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_SECURE_H
#define QCRYPTO_BASE_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Overwrites n bytes with zeros.  The empty asm takes the pointer and says
 * that memory is read, so that no compiler drops the store as dead.
 */
static inline void qcrypto_wipe(void *p, size_t n)
{
    memset(p, 0, n);
    __asm__ __volatile__("" : : "r"(p) : "memory");
}

/* True when n bytes are the same; the time depends on n alone. */
bool qcrypto_equal_ct(const void *a, const void *b, size_t n);

/*
 * n zeroed bytes, 16-byte aligned, NULL when there is no memory (never an
 * abort: sizes may come from outside).
 */
void *qcrypto_alloc(size_t n);

/*
 * Zeroed pages, n bytes of them rounded up, that are kept out of core dumps;
 * *locked tells whether they are also kept from being swapped out, which
 * limits may forbid.  NULL when there is no memory.  To be given back, wiped,
 * with munmap(2).
 */
void *qcrypto_map_pages(size_t n, bool *locked);

/* The same for n > 0 whose content is yet to be written. */
void *qcrypto_alloc_unset(size_t n);

/* Wipes the n bytes and frees them; p may be NULL. */
void qcrypto_wipe_free(void *p, size_t n);

#endif
