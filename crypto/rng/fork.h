/*
 * Pages that no copy of the process inherits
 *
 * The state of a generator lies in pages of its own.  Where the kernel can
 * (MADV_WIPEONFORK, Linux 4.14), it gives whoever copies the process zeros in
 * their place, whatever the way the copy is made and whichever thread makes
 * it.  An accepted advice is no proof: emulators accept any and do nothing.
 * So a kernel is believed only if it refuses an advice that does not exist.
 *
 * Otherwise the process id tells: it is asked for at each request, by a
 * system call since libraries have been known to cache it, and a handler of
 * fork(3) wipes the pages of every thread in the child at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_RNG_FORK_H
#define QCRYPTO_RNG_FORK_H

#include <qcrypto/random.h>

#include <sys/types.h>

typedef struct QCryptoRngPages QCryptoRngPages;
struct QCryptoRngPages {
    void *addr;
    size_t size;
    bool locked;
    QCryptoRngForkGuard guard;
    pid_t pid;                     /* GUARD_PID: whose they are */
    QCryptoRngPages *next, **link; /* GUARD_PID: all there are */
};

/* Zeroed pages, size bytes rounded up; *pages stays where it is until unmap. */
int qcrypto_rng_pages_map(QCryptoRngPages *pages, size_t size, GError **errp);

/* Wipes them and gives them back. */
void qcrypto_rng_pages_unmap(QCryptoRngPages *pages);

/* GUARD_PID: this is another process than the one they belong to. */
bool qcrypto_rng_pages_foreign(const QCryptoRngPages *pages);

/* Wiped, by whomever, they are this process's from now on. */
void qcrypto_rng_pages_adopt(QCryptoRngPages *pages);

#endif
