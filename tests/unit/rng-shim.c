/*
 * System calls that fail on request: see rng-shim.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "rng-shim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

Shim qcrypto_test_shim;

void qcrypto_test_shim_reset(void)
{
    memset(&qcrypto_test_shim, 0, sizeof(qcrypto_test_shim));
}

static void __attribute__((constructor)) read_environment(void)
{
    static const char *const names[] = {
        [SHIM_RANDOM_SHORT] = "short",
        [SHIM_RANDOM_EINTR] = "eintr",
        [SHIM_RANDOM_ENOSYS] = "enosys",
        [SHIM_RANDOM_EIO] = "eio",
    };
    const char *text = getenv("RNG_SHIM");

    for (size_t i = 1; text && i < sizeof(names) / sizeof(*names); i++) {
        if (!strcmp(text, names[i])) {
            qcrypto_test_shim.random = (ShimRandom)i;
            return;
        }
    }
    if (text) {
        abort();
    }
}

static ssize_t fail(int error)
{
    errno = error;
    return -1;
}

ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
    Shim *s = &qcrypto_test_shim;

    s->calls++;
    if (s->random != SHIM_RANDOM_REAL && s->good) {
        s->good--;
    } else if (s->random == SHIM_RANDOM_SHORT && n > 1) {
        n = 1;
    } else if (s->random == SHIM_RANDOM_EINTR && s->interrupted < 3) {
        s->interrupted++;
        return fail(EINTR);
    } else if (s->random == SHIM_RANDOM_ENOSYS) {
        return fail(ENOSYS);
    } else if (s->random == SHIM_RANDOM_EIO) {
        return fail(EIO);
    } else if (s->random == SHIM_RANDOM_NOTHING) {
        return 0;
    }
    const ssize_t got = syscall(SYS_getrandom, buf, n, flags);
    if (s->seeding) {
        s->seeding();
    }
    return got;
}

int madvise(void *addr, size_t len, int advice)
{
    const Shim *s = &qcrypto_test_shim;

    if (s->advice == SHIM_ADVICE_ANY) {
        return 0;
    }
    if (s->advice == SHIM_ADVICE_NONE && advice == 18 /* MADV_WIPEONFORK */) {
        return (int)fail(EINVAL);
    }
    return (int)syscall(SYS_madvise, addr, len, advice);
}

int munmap(void *addr, size_t len)
{
    Shim *s = &qcrypto_test_shim;
    const uint8_t *p = addr;
    const uint8_t *watched = s->watched;

    if (watched && watched >= p && watched < p + len) {
        bool dirty = false;

        for (size_t i = 0; i < len; i++) {
            dirty |= p[i] != 0;
        }
        s->unmapped++;
        s->dirty += dirty;
    }
    return (int)syscall(SYS_munmap, addr, len);
}
