/*
 * AF_ALG: the system calls
 *
 * Linux AIO has no functions in the C library; libaio would be one more
 * dependency for four system calls.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "crypto/backend/afalg/afalg.h"

/* long enough for a machine that has stopped for other work */
#define TIMEOUT_MS 20000

/* glibc declares these with unions in the place of struct sockaddr * */
static int sys_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    return bind(fd, addr, len);
}

static int sys_accept(int fd, int flags)
{
    return accept4(fd, NULL, NULL, flags);
}

static int sys_io_setup(unsigned n, aio_context_t *aio)
{
    return (int)syscall(SYS_io_setup, n, aio);
}

static int sys_io_submit(aio_context_t aio, long n, struct iocb **iocbs)
{
    return (int)syscall(SYS_io_submit, aio, n, iocbs);
}

static int sys_io_getevents(aio_context_t aio, long min, long max,
                            struct io_event *events, struct timespec *timeout)
{
    return (int)syscall(SYS_io_getevents, aio, min, max, events, timeout);
}

static int sys_io_destroy(aio_context_t aio)
{
    return (int)syscall(SYS_io_destroy, aio);
}

const QCryptoAfalgSys qcrypto_afalg_kernel = {
    .socket = socket,
    .bind = sys_bind,
    .setsockopt = setsockopt,
    .getsockopt = getsockopt,
    .accept = sys_accept,
    .sendmsg = sendmsg,
    .recvmsg = recvmsg,
    .poll = poll,
    .close = close,
    .io_setup = sys_io_setup,
    .io_submit = sys_io_submit,
    .io_getevents = sys_io_getevents,
    .io_destroy = sys_io_destroy,
    .drivers = "/proc/crypto",
    .timeout_ms = TIMEOUT_MS,
};

const QCryptoAfalgSys *qcrypto_afalg_sys = &qcrypto_afalg_kernel;
