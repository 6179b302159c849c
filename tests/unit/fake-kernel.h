/*
 * A kernel with AF_ALG that does what it is told, wrong things too
 *
 * It stands in for the backend's system calls (sys.c).  Every descriptor is
 * one end of a real socketpair, so that reading, polling and closing are real;
 * what is sent is worked out with the builtin rows (AES in all modes, SHA-256
 * and its HMAC) and comes back through the other end.
 *
 * It holds the backend to the rules that real kernels have, and the test
 * program ends when one is broken: no key after accept, no message longer than
 * the buffers, none before the last one's answer was read, no operation socket
 * used by two processes.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_UNIT_FAKE_KERNEL_H
#define TESTS_UNIT_FAKE_KERNEL_H

#include "crypto/backend/afalg/afalg.h"

/* The calls that can fail. */
typedef enum FakeCall {
    FAKE_SOCKET,
    FAKE_BIND,
    FAKE_SETSOCKOPT,
    FAKE_GETSOCKOPT,
    FAKE_ACCEPT,
    FAKE_SENDMSG,
    FAKE_RECVMSG,
    FAKE_POLL,
    FAKE_IO_SETUP,
    FAKE_IO_SUBMIT,
    FAKE_IO_GETEVENTS,
    FAKE_ANY,
} FakeCall;

typedef struct FakeKernel {
    /* ---- what it is to do ---- */
    FakeCall fail_call; /* of these calls, */
    int fail_at;        /* the one of this number, from 1; 0: none */
    int fail_times;     /* and those after it, so many in all */
    int fail_errno;
    size_t send_at_most; /* taken of a message, 0: all of it; once */
    size_t recv_at_most; /* given in one read, 0: all there is */
    bool silent;         /* takes messages and never answers */
    size_t answer_less;  /* bytes that are missing at the end of an answer */
    size_t answer_more;  /* bytes too many */
    bool hang_up;        /* closes the socket in the place of an answer */
    int sndbuf, rcvbuf;
    bool no_ecb;   /* bind: there is no ecb(aes) */
    bool aio_slow; /* answers come with the second look for them, last first */
    size_t aio_at_most; /* bytes of an answer, 0: all */
    int aio_error;      /* errno of answers */

    /* ---- what has happened ---- */
    int calls; /* that can fail and are of fail_call */
    int open;  /* descriptors */
    int accepts, messages, aio_reads;
    size_t longest; /* message */
    size_t xts_messages, ecb_messages;
} FakeKernel;

extern FakeKernel fake_kernel;

/* Healthy, with the buffers of a real one; the counts but `open` are 0. */
void fake_kernel_reset(void);

/* The table of its calls; drivers is where its list of them is. */
const QCryptoAfalgSys *fake_kernel_sys(const char *drivers, int timeout_ms);

#endif
