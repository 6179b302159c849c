/*
 * AF_ALG: what its files share
 *
 * A transform (one algorithm with its key) is a socket that was bound; work
 * is done on operation sockets accepted from it.  A transform can be shared by
 * threads and, read-only as it is, with the child of a fork; an operation
 * socket has the state of one message and belongs to one thread of one
 * process at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_AFALG_H
#define QCRYPTO_AFALG_H

#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "crypto/base/pool.h"
#include "crypto/base/rows.h"

/* ---- sys.c: the kernel ---- */

/*
 * Every system call of the backend, with the results and errno of the C
 * library's functions, so that tests can stand in for a kernel that does what
 * a healthy one never does.
 */
typedef struct QCryptoAfalgSys {
    int (*socket)(int domain, int type, int protocol);
    int (*bind)(int fd, const struct sockaddr *addr, socklen_t len);
    int (*setsockopt)(int fd, int level, int option, const void *value,
                      socklen_t len);
    int (*getsockopt)(int fd, int level, int option, void *value,
                      socklen_t *len);
    int (*accept)(int fd, int flags);
    ssize_t (*sendmsg)(int fd, const struct msghdr *msg, int flags);
    ssize_t (*recvmsg)(int fd, struct msghdr *msg, int flags);
    int (*poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
    int (*close)(int fd);
    int (*io_setup)(unsigned n, aio_context_t *aio);
    int (*io_submit)(aio_context_t aio, long n, struct iocb **iocbs);
    int (*io_getevents)(aio_context_t aio, long min, long max,
                        struct io_event *events, struct timespec *timeout);
    int (*io_destroy)(aio_context_t aio);
    const char *drivers; /* the file that lists the kernel's algorithms */
    int timeout_ms;      /* without progress, the kernel is given up */
} QCryptoAfalgSys;

/* In force; for tests to be replaced while nobody is in the backend. */
extern const QCryptoAfalgSys *qcrypto_afalg_sys;
extern const QCryptoAfalgSys qcrypto_afalg_kernel;

/* ---- socket.c: transforms and messages ---- */

/* "xts(aes)", or the driver that the row asks for; NUL-terminated in buf */
#define QCRYPTO_AFALG_NAME 64
void qcrypto_afalg_name(const QCryptoRow *row, char buf[QCRYPTO_AFALG_NAME]);
/* "skcipher", "hash", "rng": the socket's type for the row's kind */
const char *qcrypto_afalg_type(QCryptoKind kind);

/* A socket that is nothing yet; -1 and an error: there is no AF_ALG for us. */
int qcrypto_afalg_socket(GError **errp);
/*
 * A transform; -1 and an error.  UNSUPPORTED: the kernel has no such
 * algorithm; _BACKEND_UNAVAILABLE: no AF_ALG, or none for us.
 */
int qcrypto_afalg_open(const char *type, const char *name, GError **errp);
/* Before any accept.  UNSUPPORTED: the kernel refuses this key. */
int qcrypto_afalg_set_key(int tfm, const char *name, const uint8_t *key,
                          size_t nkey, GError **errp);
/* An operation socket, of a transform or a copy of another one. */
int qcrypto_afalg_accept(int fd, GError **errp);
void qcrypto_afalg_close(int fd);

/* Kind I/O: "AF_ALG: CALL: text of errno". */
int qcrypto_afalg_failed(GError **errp, const char *call, int errnum);

/*
 * One send; waits, up to the time limit, until something was taken.  The
 * number of bytes taken, or -1.
 */
ssize_t qcrypto_afalg_send(int fd, const struct msghdr *msg, int flags,
                           GError **errp);
/*
 * Exactly len bytes.  whole: as one piece, since the kernel does not go on
 * where a shorter one ended.
 */
int qcrypto_afalg_receive(int fd, uint8_t *buf, size_t len, bool whole,
                          GError **errp);

/* ---- drivers.c: who does it in the kernel ---- */

/*
 * The driver that a transform of this name gets, the algorithm ("xts(aes)")
 * of a driver; for the process's lifetime, NULL when unknown.
 */
const char *qcrypto_afalg_driver(const char *type, const char *name);
const char *qcrypto_afalg_algorithm(const char *type, const char *driver);

/* ---- cipher.c ---- */

extern const QCryptoCipherOps qcrypto_afalg_cipher;

typedef struct QCryptoAfalgCipher {
    const QCryptoRow *row;
    size_t block;
    size_t niv;
    int tfm;
    QCryptoPool ops; /* of QCryptoAfalgOp */
    /* XTS: for units longer than a message; see cipher.c */
    size_t ntweak_key;
    uint8_t tweak_key[32];
    char name[QCRYPTO_AFALG_NAME];
} QCryptoAfalgCipher;

/* an operation socket of a cipher */
typedef struct QCryptoAfalgOp {
    int fd;
    pid_t pid;
    size_t most; /* bytes of a message: a multiple of any block */
} QCryptoAfalgOp;

QCryptoAfalgOp *qcrypto_afalg_op_take(const QCryptoAfalgCipher *c,
                                      GError **errp);
void qcrypto_afalg_op_put(const QCryptoAfalgCipher *c, QCryptoAfalgOp *op);
/* for one whose state is not known any more */
void qcrypto_afalg_op_discard(QCryptoAfalgOp *op);

/* Where a request is: units of an IV each, in pieces that are messages. */
typedef struct QCryptoAfalgWalk {
    const QCryptoAfalgCipher *c;
    int decrypt;
    const uint8_t *ivs; /* of the units to come */
    const uint8_t *in;
    uint8_t *out;
    size_t unit;
    size_t units; /* to be done, the present one included */
    size_t left;  /* bytes of the present one */
    size_t most;
    size_t len;       /* of the piece */
    uint8_t iv[16];   /* of the piece */
    uint8_t next[16]; /* CBC decryption: of the next one */
} QCryptoAfalgWalk;

/* No unit is empty. */
void qcrypto_afalg_walk_start(QCryptoAfalgWalk *w, const QCryptoAfalgCipher *c,
                              int decrypt, const uint8_t *ivs, size_t unit,
                              const uint8_t *in, uint8_t *out, size_t n,
                              size_t most);
/* Sends the piece; -1 and UNSUPPORTED when not all of it was taken. */
int qcrypto_afalg_walk_send(QCryptoAfalgWalk *w, const QCryptoAfalgOp *op,
                            GError **errp);
/* The piece is done: goes on to the next one.  False: that was all. */
bool qcrypto_afalg_walk_next(QCryptoAfalgWalk *w);

/* ---- aio.c ---- */

extern const QCryptoCipherAsyncOps qcrypto_afalg_aio;

/* ---- digest.c: hashes and HMACs ---- */

extern const QCryptoHashOps qcrypto_afalg_hash;
extern const QCryptoHmacOps qcrypto_afalg_hmac;

/* ---- rng.c ---- */

extern const QCryptoRngOps qcrypto_afalg_rng;

#endif
