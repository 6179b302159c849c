/*
 * System calls that fail on request, for the tests of the generator
 *
 * Linked into a test program, or loaded before libc (LD_PRELOAD) into a
 * program under test, where the environment says what is to happen:
 *
 *     RNG_SHIM=short    getrandom gives one byte at a time
 *              eintr    is interrupted three times, then works
 *              enosys   does not exist
 *              eio      fails
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_UNIT_RNG_SHIM_H
#define TESTS_UNIT_RNG_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum ShimRandom {
    SHIM_RANDOM_REAL,
    SHIM_RANDOM_SHORT,
    SHIM_RANDOM_EINTR,
    SHIM_RANDOM_ENOSYS,
    SHIM_RANDOM_EIO,
    SHIM_RANDOM_NOTHING, /* 0 bytes */
} ShimRandom;

typedef enum ShimAdvice {
    SHIM_ADVICE_REAL,
    SHIM_ADVICE_ANY,  /* any advice is accepted and none followed */
    SHIM_ADVICE_NONE, /* MADV_WIPEONFORK is refused */
} ShimAdvice;

typedef struct Shim {
    ShimRandom random;
    unsigned good;        /* calls that still work before that */
    unsigned calls;       /* of getrandom, counted */
    unsigned interrupted; /* so far, for EINTR */
    void (*seeding)(void); /* called with the bytes on their way */
    ShimAdvice advice;
    const void *watched; /* an address within pages that will be unmapped */
    unsigned unmapped;   /* how often they were, */
    unsigned dirty;      /* and how often not as zeros */
} Shim;

extern Shim qcrypto_test_shim;

/* Forgets everything; the kernel is itself again. */
void qcrypto_test_shim_reset(void);

/* These exist in libc too, and must come before them. */
#define SHIM_SHOWN __attribute__((visibility("default")))
SHIM_SHOWN ssize_t getrandom(void *buf, size_t n, unsigned flags);
SHIM_SHOWN int madvise(void *addr, size_t len, int advice);
SHIM_SHOWN int munmap(void *addr, size_t len);

#endif
