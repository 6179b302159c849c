/*
 * A kernel with AF_ALG that does what it is told: see fake-kernel.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fake-kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_alg.h>
#include <qcrypto/qcrypto.h>
#include <string.h>
#include <unistd.h>

#define FDS      1024
#define PAGE     4096
#define SOL_ALG_ 279
#define EVENTS   256
#define AIO_ID   ((aio_context_t)77)

FakeKernel fake_kernel;

/* What a descriptor is. */
typedef struct Sock {
    bool used;
    int peer;
    pid_t pid; /* the operation socket's user */
    bool op;
    bool accepted; /* a transform that has operation sockets */
    char type[16], name[64];
    uint8_t key[160];
    size_t nkey;
    bool keyed;
    GByteArray *message; /* hashes: what was sent so far */
    GByteArray *answer;  /* what the peer has still to write */
    size_t unread;       /* of the answer, by the backend */
    bool refused;        /* the message was none of the cipher's */
} Sock;

static Sock socks[FDS];

void fake_kernel_reset(void)
{
    const int open = fake_kernel.open;

    fake_kernel = (FakeKernel){
        .fail_call = FAKE_ANY,
        .fail_times = 1,
        .sndbuf = 212992,
        .rcvbuf = 212992,
        .open = open,
    };
}

/* True when this call is to fail; errno is set. */
static bool fails(FakeCall call)
{
    FakeKernel *k = &fake_kernel;

    if (k->fail_call != FAKE_ANY && k->fail_call != call) {
        return false;
    }
    k->calls++;
    if (!k->fail_at || k->calls < k->fail_at ||
        k->calls >= k->fail_at + k->fail_times) {
        return false;
    }
    errno = k->fail_errno;
    return true;
}

static Sock *sock_of(int fd)
{
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(fd, <, FDS);
    g_assert_true(socks[fd].used);
    return &socks[fd];
}

static int new_sock(void)
{
    int pair[2];

    g_assert_cmpint(socketpair(AF_UNIX,
                               SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                               pair),
                    ==, 0);
    g_assert_cmpint(pair[0], <, FDS);
    socks[pair[0]] = (Sock){
        .used = true,
        .peer = pair[1],
        .pid = getpid(),
        .message = g_byte_array_new(),
        .answer = g_byte_array_new(),
    };
    fake_kernel.open++;
    return pair[0];
}

static int fake_socket(int domain, int type, int protocol)
{
    g_assert_cmpint(domain, ==, AF_ALG);
    return fails(FAKE_SOCKET) ? -1 : new_sock();
}

static int fake_close(int fd)
{
    Sock *s = sock_of(fd);

    close(s->peer);
    g_byte_array_unref(s->message);
    g_byte_array_unref(s->answer);
    s->used = false;
    fake_kernel.open--;
    return close(fd);
}

static int fake_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    static const char *const names[] = {"ecb(aes)", "cbc(aes)", "ctr(aes)",
                                        "xts(aes)", "sha256",   "hmac(sha256)",
                                        "fast-xts", "fast-cbc", NULL};
    const struct sockaddr_alg *a = (const void *)addr;
    const char *name = (const char *)a->salg_name;
    Sock *s = sock_of(fd);

    g_assert_cmpuint(len, ==, sizeof(*a));
    g_assert_cmpint(a->salg_family, ==, AF_ALG);
    if (fails(FAKE_BIND)) {
        return -1;
    }
    if (!g_strv_contains(names, name) ||
        (fake_kernel.no_ecb && !strcmp(name, "ecb(aes)"))) {
        errno = ENOENT;
        return -1;
    }
    g_strlcpy(s->type, (const char *)a->salg_type, sizeof(s->type));
    g_strlcpy(s->name,
              !strcmp(name, "fast-xts")   ? "xts(aes)"
              : !strcmp(name, "fast-cbc") ? "cbc(aes)"
                                          : name,
              sizeof(s->name));
    return 0;
}

static int fake_setsockopt(int fd, int level, int option, const void *value,
                           socklen_t len)
{
    Sock *s = sock_of(fd);

    if (fails(FAKE_SETSOCKOPT)) {
        return -1;
    }
    if (level == SOL_ALG_) {
        g_assert_cmpint(option, ==, ALG_SET_KEY);
        g_assert_false(s->accepted);
        g_assert_false(s->op);
        /* real ones take more of ciphers' keys, and refuse empty ones */
        g_assert_cmpuint(len, <=, 64);
        g_assert_cmpuint(len, >, 0);
        memcpy(s->key, value, len);
        s->nkey = len;
        s->keyed = true;
    }
    return 0;
}

static int fake_getsockopt(int fd, int level, int option, void *value,
                           socklen_t *len)
{
    sock_of(fd);
    g_assert_cmpint(level, ==, SOL_SOCKET);
    if (fails(FAKE_GETSOCKOPT)) {
        return -1;
    }
    const int size =
        option == SO_SNDBUF ? fake_kernel.sndbuf : fake_kernel.rcvbuf;
    memcpy(value, &size, sizeof(size));
    *len = sizeof(size);
    return 0;
}

static int fake_accept(int fd, int flags)
{
    if (fails(FAKE_ACCEPT)) {
        return -1;
    }
    const int new_fd = new_sock();
    Sock *from = sock_of(fd), *to = sock_of(new_fd);

    g_assert_true(from->keyed || !strcmp(from->name, "sha256"));
    from->accepted = true;
    to->op = true;
    g_strlcpy(to->type, from->type, sizeof(to->type));
    g_strlcpy(to->name, from->name, sizeof(to->name));
    memcpy(to->key, from->key, sizeof(to->key));
    to->nkey = from->nkey;
    to->keyed = from->keyed;
    if (from->op) {
        g_byte_array_append(to->message, from->message->data,
                            from->message->len);
    }
    fake_kernel.accepts++;
    return new_fd;
}

/* ---- answers ---- */

/* Writes what fits into the socket. */
static void pump(Sock *s)
{
    while (s->answer->len) {
        const ssize_t n = write(s->peer, s->answer->data, s->answer->len);

        if (n <= 0) {
            return;
        }
        g_byte_array_remove_range(s->answer, 0, (guint)n);
    }
}

static void answer(Sock *s, const uint8_t *data, size_t len)
{
    static const uint8_t more[64];
    const FakeKernel *k = &fake_kernel;

    if (k->silent) {
        return;
    }
    if (k->hang_up) {
        shutdown(s->peer, SHUT_WR);
        return;
    }
    g_byte_array_append(s->answer, data,
                        (guint)(len - MIN(k->answer_less, len)));
    g_byte_array_append(s->answer, more, (guint)k->answer_more);
    s->unread = len;
    pump(s);
}

static void cipher_answer(Sock *s, int decrypt, const uint8_t *iv, size_t niv,
                          const uint8_t *data, size_t len)
{
    g_autoptr(GError) err = NULL;
    g_auto(GStrv) part = g_strsplit_set(s->name, "()", 3);
    const int mode = qcrypto_cipher_mode_from_name(part[0]);
    const size_t nkey = mode == QCRYPTO_CIPHER_MODE_XTS ? s->nkey / 2 : s->nkey;
    g_autofree char *alg = g_strdup_printf("aes-%zu", nkey * 8);
    g_autoptr(QCryptoCipher) c = qcrypto_cipher_new_from(
        "builtin", (QCryptoCipherAlgo)qcrypto_cipher_algo_from_name(alg),
        (QCryptoCipherMode)mode, s->key, s->nkey, &err);
    g_autofree uint8_t *out = g_malloc(len);

    g_assert_no_error(err);
    g_assert_cmpuint(niv, ==, mode == QCRYPTO_CIPHER_MODE_ECB ? 0 : 16);
    qcrypto_cipher_setiv(c, iv, niv, &err);
    (decrypt ? qcrypto_cipher_decrypt : qcrypto_cipher_encrypt)(c, data, out,
                                                                len, &err);
    s->refused = err != NULL;
    fake_kernel.xts_messages += mode == QCRYPTO_CIPHER_MODE_XTS;
    fake_kernel.ecb_messages += mode == QCRYPTO_CIPHER_MODE_ECB;
    answer(s, out, len);
}

static void digest_answer(Sock *s)
{
    g_autoptr(GError) err = NULL;
    uint8_t digest[32], *result = digest;
    size_t n = sizeof(digest);

    if (s->keyed) {
        g_autoptr(QCryptoHmac) h = qcrypto_hmac_new_from(
            "builtin", QCRYPTO_HASH_ALGO_SHA256, s->key, s->nkey, &err);

        g_assert_no_error(err);
        qcrypto_hmac_bytes(h, s->message->data, s->message->len, &result, &n,
                           &err);
    } else {
        g_autoptr(QCryptoHash) h =
            qcrypto_hash_new_from("builtin", QCRYPTO_HASH_ALGO_SHA256, &err);

        g_assert_no_error(err);
        qcrypto_hash_update(h, s->message->data, s->message->len, &err);
        qcrypto_hash_finalize_bytes(h, &result, &n, &err);
    }
    g_assert_no_error(err);
    g_byte_array_set_size(s->message, 0);
    answer(s, digest, sizeof(digest));
}

static ssize_t fake_sendmsg(int fd, const struct msghdr *msg, int flags)
{
    FakeKernel *k = &fake_kernel;
    Sock *s = sock_of(fd);
    const uint8_t *data = msg->msg_iov[0].iov_base;
    const size_t len = msg->msg_iov[0].iov_len;
    size_t taken = len;
    const uint8_t *iv = NULL;
    uint32_t op = ALG_OP_ENCRYPT, niv = 0;

    g_assert_true(s->op);
    g_assert_cmpint(s->pid, ==, getpid());
    g_assert_true(flags & MSG_DONTWAIT);
    g_assert_cmpuint(msg->msg_iovlen, ==, 1);
    g_assert_cmpuint(s->unread, ==, 0);
    if (fails(FAKE_SENDMSG)) {
        return -1;
    }
    if (k->send_at_most && len > k->send_at_most) {
        taken = k->send_at_most;
        k->send_at_most = 0;
    }
    k->messages++;
    k->longest = MAX(k->longest, len);
    if (!strcmp(s->type, "hash")) {
        g_assert_true(flags & MSG_MORE);
        g_byte_array_append(s->message, data, (guint)taken);
        return (ssize_t)taken;
    }
    g_assert_cmpuint(len, <=, MAX(k->sndbuf / PAGE, 1) * PAGE);
    g_assert_cmpuint(len, <=, MAX(k->rcvbuf / PAGE - 1, 1) * PAGE);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
         c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)msg, c)) {
        g_assert_cmpint(c->cmsg_level, ==, SOL_ALG_);
        if (c->cmsg_type == ALG_SET_OP) {
            memcpy(&op, CMSG_DATA(c), sizeof(op));
        } else {
            g_assert_cmpint(c->cmsg_type, ==, ALG_SET_IV);
            memcpy(&niv, CMSG_DATA(c), sizeof(niv));
            iv = CMSG_DATA(c) + sizeof(niv);
        }
    }
    if (taken < len) {
        /* as a real one: the message ended here, and waits to be read */
        s->unread = taken;
        return (ssize_t)taken;
    }
    cipher_answer(s, op == ALG_OP_DECRYPT, iv, niv, data, len);
    return (ssize_t)len;
}

/* Up to len bytes that have come, or up to most; -1 with EAGAIN: none yet. */
static ssize_t take_answer(Sock *s, int fd, void *buf, size_t len, size_t most)
{
    const size_t wanted = most ? MIN(len, most) : len;
    size_t got = 0;

    if (!strcmp(s->type, "hash") && !s->unread) {
        digest_answer(s);
    }
    if (s->refused) {
        errno = EINVAL;
        return -1;
    }
    /* a socketpair holds less than an answer can have */
    while (got < wanted) {
        pump(s);
        const ssize_t n =
            recv(fd, (uint8_t *)buf + got, wanted - got, MSG_DONTWAIT);

        if (n <= 0) {
            return got ? (ssize_t)got : n;
        }
        got += (size_t)n;
        s->unread -= MIN(s->unread, (size_t)n);
    }
    return (ssize_t)got;
}

static ssize_t fake_recvmsg(int fd, struct msghdr *msg, int flags)
{
    Sock *s = sock_of(fd);

    g_assert_cmpint(s->pid, ==, getpid());
    g_assert_true(flags & MSG_DONTWAIT);
    if (fails(FAKE_RECVMSG)) {
        return -1;
    }
    const bool digest = !strcmp(s->type, "hash");
    const struct iovec *iov = msg->msg_iov;
    const ssize_t n = take_answer(s, fd, iov->iov_base, iov->iov_len,
                                  fake_kernel.recv_at_most);
    if (digest && n > 0 && fake_kernel.answer_more) {
        /* a stream does not say so, a hash's socket does */
        msg->msg_flags |= MSG_TRUNC;
    }
    return n;
}

static int fake_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpint(timeout_ms, >, 0);
    if (fails(FAKE_POLL)) {
        return -1;
    }
    Sock *s = sock_of(fds[0].fd);
    if (!strcmp(s->type, "hash") && !s->unread && !fake_kernel.silent) {
        /* works out the digest when it is asked for */
        fds[0].revents = fds[0].events;
        return 1;
    }
    pump(s);
    return poll(fds, n, timeout_ms);
}

/* ---- AIO ---- */

static struct {
    struct iocb asked[EVENTS];
    unsigned n;
    unsigned looks;
} aio;

static int fake_io_setup(unsigned n, aio_context_t *id)
{
    g_assert_cmpuint(*id, ==, 0);
    g_assert_cmpuint(n, >, 0);
    if (fails(FAKE_IO_SETUP)) {
        return -1;
    }
    aio.n = aio.looks = 0;
    *id = AIO_ID;
    return 0;
}

static void ring(int fd)
{
    const uint64_t one = 1;

    g_assert_cmpint(write(fd, &one, sizeof(one)), ==, sizeof(one));
}

static int fake_io_submit(aio_context_t id, long n, struct iocb **iocbs)
{
    g_assert_cmpuint(id, ==, AIO_ID);
    g_assert_cmpint(n, ==, 1);
    g_assert_cmpuint(aio.n, <, EVENTS);
    g_assert_cmpint(iocbs[0]->aio_lio_opcode, ==, IOCB_CMD_PREAD);
    g_assert_cmpint(iocbs[0]->aio_offset, ==, 0);
    g_assert_true(iocbs[0]->aio_flags & IOCB_FLAG_RESFD);
    if (fails(FAKE_IO_SUBMIT)) {
        return -1;
    }
    aio.asked[aio.n++] = *iocbs[0];
    fake_kernel.aio_reads++;
    ring((int)iocbs[0]->aio_resfd);
    return 1;
}

static int64_t aio_read(const struct iocb *cb)
{
    const int fd = (int)cb->aio_fildes;

    if (fake_kernel.aio_error) {
        return -fake_kernel.aio_error;
    }
    const ssize_t n =
        take_answer(sock_of(fd), fd, (void *)(uintptr_t)cb->aio_buf,
                    cb->aio_nbytes, fake_kernel.aio_at_most);
    return n < 0 ? -errno : n;
}

static int fake_io_getevents(aio_context_t id, long min, long max,
                             struct io_event *events, struct timespec *timeout)
{
    int n = 0;

    g_assert_cmpuint(id, ==, AIO_ID);
    g_assert_cmpint(min, ==, 0);
    if (fails(FAKE_IO_GETEVENTS)) {
        return -1;
    }
    if (fake_kernel.aio_slow && aio.n && aio.looks++ % 2 == 0) {
        ring((int)aio.asked[0].aio_resfd);
        return 0;
    }
    /* the last one asked for comes first */
    while (aio.n && n < max) {
        const struct iocb cb = aio.asked[--aio.n];

        events[n++] = (struct io_event){
            .data = cb.aio_data,
            .res = aio_read(&cb),
        };
    }
    return n;
}

static int fake_io_destroy(aio_context_t id)
{
    g_assert_cmpuint(id, ==, AIO_ID);
    return 0;
}

const QCryptoAfalgSys *fake_kernel_sys(const char *drivers, int timeout_ms)
{
    static QCryptoAfalgSys sys;

    sys = (QCryptoAfalgSys){
        .socket = fake_socket,
        .bind = fake_bind,
        .setsockopt = fake_setsockopt,
        .getsockopt = fake_getsockopt,
        .accept = fake_accept,
        .sendmsg = fake_sendmsg,
        .recvmsg = fake_recvmsg,
        .poll = fake_poll,
        .close = fake_close,
        .io_setup = fake_io_setup,
        .io_submit = fake_io_submit,
        .io_getevents = fake_io_getevents,
        .io_destroy = fake_io_destroy,
        .drivers = drivers,
        .timeout_ms = timeout_ms,
    };
    return &sys;
}
