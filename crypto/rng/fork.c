/*
 * Pages that no copy of the process inherits: see fork.h
 *
 * In a process id other than the pages' own, only the caller's pages are
 * wiped, at its next request (rng.c): the child of vfork(2) has another id
 * too, but shares its memory with threads that run on.  The handler of
 * fork(3) knows that the memory is a copy, and wipes them all.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/rng/fork.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
/* no kernel's: theirs are small, or 100 and some */
#define MADV_NONSENSE 0x6a5b4c3d

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static QCryptoRngPages *all; /* those of GUARD_PID */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    for (QCryptoRngPages *p = all; p; p = p->next) {
        qcrypto_wipe(p->addr, p->size);
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

static pid_t current_pid(void)
{
    return (pid_t)syscall(SYS_getpid);
}

static bool wiped_on_fork(void *addr, size_t size)
{
    return madvise(addr, size, MADV_WIPEONFORK) == 0 &&
           madvise(addr, size, MADV_NONSENSE) == -1 && errno == EINVAL;
}

int qcrypto_rng_pages_map(QCryptoRngPages *pages, size_t size, GError **errp)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *pages = (QCryptoRngPages){.size = (size + page - 1) / page * page};
    pages->addr = qcrypto_map_pages(pages->size, &pages->locked);
    if (!pages->addr) {
        return qcrypto_error_memory(errp, "a random number generator",
                                    pages->size / 1024, 0);
    }
    if (wiped_on_fork(pages->addr, pages->size)) {
        pages->guard = QCRYPTO_RNG_FORK_GUARD_WIPE;
        return 0;
    }
    pages->guard = QCRYPTO_RNG_FORK_GUARD_PID;
    pages->pid = current_pid();
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    pages->next = all;
    pages->link = &all;
    if (all) {
        all->link = &pages->next;
    }
    all = pages;
    pthread_mutex_unlock(&lock);
    return 0;
}

void qcrypto_rng_pages_unmap(QCryptoRngPages *pages)
{
    if (pages->link) {
        pthread_mutex_lock(&lock);
        *pages->link = pages->next;
        if (pages->next) {
            pages->next->link = pages->link;
        }
        pthread_mutex_unlock(&lock);
    }
    qcrypto_wipe(pages->addr, pages->size);
    munmap(pages->addr, pages->size);
}

bool qcrypto_rng_pages_foreign(const QCryptoRngPages *pages)
{
    return pages->guard == QCRYPTO_RNG_FORK_GUARD_PID &&
           pages->pid != current_pid();
}

void qcrypto_rng_pages_adopt(QCryptoRngPages *pages)
{
    /* a copy of the process inherits no lock */
    pages->locked = mlock(pages->addr, pages->size) == 0;
    if (pages->guard == QCRYPTO_RNG_FORK_GUARD_PID) {
        pages->pid = current_pid();
    }
}
