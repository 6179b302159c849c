/*
 * AF_ALG: transforms, and what passes through operation sockets
 *
 * Nothing here waits in a system call: a send and a receive are tried first,
 * and only when the kernel says "not now" is the socket polled, for as long
 * as the time limit allows.  (Sockets of hashes cannot be polled at all, and
 * never say so.)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <linux/if_alg.h>
#include <string.h>
#include <unistd.h>

#include "crypto/backend/afalg/afalg.h"
#include "crypto/base/error.h"

#ifndef SOL_ALG
#define SOL_ALG 279
#endif

#define BACKEND "AF_ALG"

/* What the errors that tell something mean, and their names. */
static const struct {
    int errnum;
    const char *name;
    const char *text;
} meanings[] = {
    {EAFNOSUPPORT, "EAFNOSUPPORT", "AF_ALG is not supported by this kernel"},
    {EPERM, "EPERM", "a policy of this system forbids AF_ALG sockets"},
    {EACCES, "EACCES", "a policy of this system forbids AF_ALG sockets"},
    {ENOSYS, "ENOSYS", "there are no sockets of this sort here"},
    {EMFILE, "EMFILE", "too many open files"},
    {ENFILE, "ENFILE", "too many open files in this system"},
};

static int unavailable(GError **errp, const char *call, int errnum)
{
    for (size_t i = 0; i < G_N_ELEMENTS(meanings); i++) {
        if (meanings[i].errnum == errnum) {
            return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                                 "%s (%s)", meanings[i].text, meanings[i].name);
        }
    }
    return qcrypto_error_library(errp, BACKEND, call, g_strerror(errnum));
}

int qcrypto_afalg_failed(GError **errp, const char *call, int errnum)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, BACKEND ": %s: %s", call,
                         g_strerror(errnum));
}

/* ---- names ---- */

const char *qcrypto_afalg_type(QCryptoKind kind)
{
    return kind == QCRYPTO_KIND_CIPHER ? "skcipher"
           : kind == QCRYPTO_KIND_RNG  ? qcrypto_kind_name(kind)
                                       : "hash";
}

void qcrypto_afalg_name(const QCryptoRow *row, char buf[QCRYPTO_AFALG_NAME])
{
    const char *name = qcrypto_alg(row->kind, row->alg)->kernel;
    const char *template = row->kind == QCRYPTO_KIND_HMAC
                               ? qcrypto_kind_name(row->kind)
                               : qcrypto_mode_name(row->mode);

    if (row->arg) {
        g_strlcpy(buf, row->arg, QCRYPTO_AFALG_NAME);
    } else if (template) {
        g_snprintf(buf, QCRYPTO_AFALG_NAME, "%s(%s)", template, name);
    } else {
        g_strlcpy(buf, name, QCRYPTO_AFALG_NAME);
    }
}

/* ---- transforms ---- */

int qcrypto_afalg_socket(GError **errp)
{
    const int fd =
        qcrypto_afalg_sys->socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    return fd >= 0 ? fd : unavailable(errp, "socket", errno);
}

int qcrypto_afalg_open(const char *type, const char *name, GError **errp)
{
    const QCryptoAfalgSys *sys = qcrypto_afalg_sys;
    struct sockaddr_alg addr = {.salg_family = AF_ALG};
    const int fd = qcrypto_afalg_socket(errp);

    if (fd < 0) {
        return -1;
    }
    g_strlcpy((char *)addr.salg_type, type, sizeof(addr.salg_type));
    g_strlcpy((char *)addr.salg_name, name, sizeof(addr.salg_name));
    if (sys->bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0) {
        return fd;
    }
    const int errnum = errno;
    sys->close(fd);
    if (errnum == ENOENT) {
        return qcrypto_error_unsupported(errp, name,
                                         "this kernel has no %s of this name "
                                         "(ENOENT)",
                                         type);
    }
    return unavailable(errp, "bind", errnum);
}

int qcrypto_afalg_set_key(int tfm, const char *name, const uint8_t *key,
                          size_t nkey, GError **errp)
{
    if (qcrypto_afalg_sys->setsockopt(tfm, SOL_ALG, ALG_SET_KEY, key,
                                      (socklen_t)nkey) == 0) {
        return 0;
    }
    if (errno == EINVAL || errno == EKEYREJECTED) {
        return qcrypto_error_unsupported(
            errp, name, "the kernel refuses a key of these %zu bytes", nkey);
    }
    return unavailable(errp, "setting a key", errno);
}

int qcrypto_afalg_accept(int fd, GError **errp)
{
    const int op = qcrypto_afalg_sys->accept(fd, SOCK_CLOEXEC | SOCK_NONBLOCK);

    return op >= 0 ? op : unavailable(errp, "accept", errno);
}

void qcrypto_afalg_close(int fd)
{
    qcrypto_afalg_sys->close(fd);
}

/* ---- messages ---- */

/* What a call that gave errnum is to do: 0: try again; -1 and the error. */
static int again(int fd, short events, int errnum, const char *call,
                 GError **errp)
{
    const int timeout = qcrypto_afalg_sys->timeout_ms;
    struct pollfd p = {.fd = fd, .events = events};
    int n;

    if (errnum == EINTR) {
        return 0;
    }
    if (errnum != EAGAIN && errnum != EWOULDBLOCK) {
        return qcrypto_afalg_failed(errp, call, errnum);
    }
    do {
        n = qcrypto_afalg_sys->poll(&p, 1, timeout);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return qcrypto_afalg_failed(errp, "poll", errno);
    }
    return n > 0 ? 0
                 : qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 BACKEND ": %s: no answer in %d ms", call,
                                 timeout);
}

ssize_t qcrypto_afalg_send(int fd, const struct msghdr *msg, int flags,
                           GError **errp)
{
    for (;;) {
        const ssize_t n = qcrypto_afalg_sys->sendmsg(
            fd, msg, flags | MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n > 0) {
            return n;
        }
        if (n == 0) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 BACKEND ": send: nothing was taken");
        }
        if (again(fd, POLLOUT, errno, "send", errp) < 0) {
            return -1;
        }
    }
}

int qcrypto_afalg_receive(int fd, uint8_t *buf, size_t len, bool whole,
                          GError **errp)
{
    size_t got = 0;

    while (got < len) {
        struct iovec iov = {buf + got, len - got};
        struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
        const ssize_t n = qcrypto_afalg_sys->recvmsg(fd, &msg, MSG_DONTWAIT);

        if (n < 0) {
            if (again(fd, POLLIN, errno, "receive", errp) < 0) {
                return -1;
            }
            continue;
        }
        got += (size_t)n;
        if (n == 0 || got > len || (msg.msg_flags & MSG_TRUNC) ||
            (whole && got < len)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 BACKEND
                                 ": receive: %s than the %zu bytes there "
                                 "should be",
                                 got < len ? "less" : "more", len);
        }
    }
    return 0;
}
