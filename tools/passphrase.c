/*
 * Passphrases, from where people give them (passphrase.h)
 *
 * What is typed or piped passes through one buffer of locked memory on its
 * way into a secret.  While a terminal does not echo, every signal that would
 * end or stop the process is caught, the terminal put right, and the signal
 * sent again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/passphrase.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

/* more than a terminal's line holds; a pipe may have more */
#define LINE_MAX_BYTES ((size_t)65536)

typedef struct Line {
    char *text; /* LINE_MAX_BYTES */
    size_t len;
} Line;

static int read_error(GError **errp, const char *what, int number)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "cannot read %s: %s", what,
                         g_strerror(number));
}

/*
 * Byte by byte: what follows the newline is not this passphrase's.  With a
 * mask, signals are let through while it waits and at no other time.  1: one
 * came; -1 with errno.
 */
static int read_line(int fd, Line *line, const sigset_t *mask, bool *over)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};

    line->len = 0;
    *over = false;
    for (;;) {
        if (line->len == LINE_MAX_BYTES) {
            errno = EMSGSIZE;
            return -1;
        }
        if (mask && ppoll(&in, 1, NULL, mask) < 0) {
            return errno == EINTR ? 1 : -1;
        }
        char *c = line->text + line->len;
        const ssize_t n = read(fd, c, 1);

        if (n < 0 && errno == EAGAIN) {
            poll(&in, 1, -1);
            continue;
        }
        if (n < 0) {
            return errno == EINTR ? 1 : -1;
        }
        *over = n == 0;
        if (n == 0 || *c == '\n') {
            return 0;
        }
        line->len++;
    }
}

/*
 * The terminal
 */

static const int signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                              SIGTSTP, SIGTTIN, SIGTTOU};
static volatile sig_atomic_t caught; /* the last one's number */

static void on_signal(int number)
{
    caught = number;
}

static void say(int fd, const char *text)
{
    /* a terminal that takes no prompt may still give a line */
    if (write(fd, text, strlen(text)) < 0) {
        return;
    }
}

/* 0 or -1 with errno; *signal: what came instead of a line */
static int read_hidden(const char *prompt, Line *line, bool *over,
                       int *signal_number)
{
    const int fd = STDIN_FILENO;
    /* where people see it, and not in a file of errors */
    const int out = isatty(STDERR_FILENO) == 1 ? STDERR_FILENO : fd;
    const struct sigaction catch = {.sa_handler = on_signal}; /* EINTR */
    struct sigaction old[G_N_ELEMENTS(signals)];
    struct termios before, quiet;
    sigset_t held, mask;
    int ret = -1, number = 0;

    /* not in somebody else's turn: stops, as reading would */
    if (tcgetpgrp(fd) >= 0 && tcgetpgrp(fd) != getpgrp()) {
        raise(SIGTTIN);
    }
    if (tcgetattr(fd, &before) < 0) {
        return -1;
    }
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    caught = 0;
    sigemptyset(&held);
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
        sigaddset(&held, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &held, &mask);
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
        sigaction(signals[i], &catch, &old[i]);
    }
    if (tcsetattr(fd, TCSAFLUSH, &quiet) == 0) {
        say(out, prompt);
        ret = read_line(fd, line, &mask, over);
        number = errno;
        say(out, "\n");
        tcsetattr(fd, TCSAFLUSH, &before);
    } else {
        number = errno;
    }
    /* one that came too late for the line is seen now */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
        sigaction(signals[i], &old[i], NULL);
    }
    *signal_number = caught;
    errno = number;
    return ret < 0 && !caught ? -1 : 0;
}

static int read_terminal(const char *prompt, Line *line, GError **errp)
{
    bool over = false;
    int ret;

    for (;;) {
        int number = 0;

        ret = read_hidden(prompt, line, &over, &number);
        if (ret < 0) {
            ret = read_error(errp, "the terminal", errno);
            break;
        }
        if (!number) {
            break;
        }
        qcrypto_wipe(line->text, line->len);
        raise(number); /* ends or stops, unless it is ignored */
        if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) {
            ret = qcrypto_error(errp, QCRYPTO_ERROR_IO, "cancelled (%s)",
                                strsignal(number));
            break;
        }
    }
    if (ret == 0 && over && !line->len) {
        ret = qcrypto_error(errp, QCRYPTO_ERROR_IO,
                            "no passphrase was given: the terminal said end "
                            "of file");
    }
    return ret;
}

/*
 * A line
 */

static int read_input(Line *line, GError **errp)
{
    bool over;
    int ret;

    do {
        ret = read_line(STDIN_FILENO, line, NULL, &over);
    } while (ret > 0);
    if (ret < 0) {
        return read_error(errp, "a passphrase from the standard input", errno);
    }
    if (over && !line->len) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "no passphrase: the standard input is at its end");
    }
    return 0;
}

static int read_typed(const QCryptoPassphrase *p, Line *line, Line *again,
                      GError **errp)
{
    g_autofree char *prompt =
        g_strdup_printf("%s: ", p->prompt ? p->prompt : "Passphrase");

    if (read_terminal(prompt, line, errp) < 0) {
        return -1;
    }
    if (!p->confirm) {
        return 0;
    }
    if (read_terminal("Once more: ", again, errp) < 0) {
        return -1;
    }
    if (again->len != line->len ||
        !qcrypto_equal_ct(again->text, line->text, line->len)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_WRONG_PASSPHRASE,
                             "the two passphrases differ");
    }
    return 0;
}

static QCryptoSecret *get_line(const QCryptoPassphrase *p, GError **errp)
{
    bool locked;
    char *pages = qcrypto_map_pages(2 * LINE_MAX_BYTES, &locked);
    Line line = {.text = pages};
    Line again = {.text = pages + LINE_MAX_BYTES};
    QCryptoSecret *secret = NULL;
    int ret;

    if (!pages) {
        qcrypto_error_memory(errp, "a passphrase", 2 * LINE_MAX_BYTES / 1024,
                             0);
        return NULL;
    }
    ret = qcrypto_passphrase_is_typed(p) ? read_typed(p, &line, &again, errp)
                                         : read_input(&line, errp);
    if (ret == 0) {
        secret = qcrypto_secret_new_from_bytes(line.text, line.len, errp);
    }
    qcrypto_wipe(pages, 2 * LINE_MAX_BYTES);
    munmap(pages, 2 * LINE_MAX_BYTES);
    return secret;
}

/*
 * A file, a descriptor
 */

/* Standard input has no offsets: what lies before is read and forgotten. */
static int skip_input(uint64_t n, GError **errp)
{
    while (n) {
        const size_t part = (size_t)MIN(n, QCRYPTO_SECRET_MAX);
        QCryptoSecret *skipped =
            qcrypto_secret_new_from_fd(STDIN_FILENO, part, errp);

        if (!skipped) {
            return -1;
        }
        qcrypto_secret_free(skipped);
        n -= part;
    }
    return 0;
}

static QCryptoSecret *get_fd(int fd, uint64_t size, GError **errp)
{
    QCryptoSecret *secret = qcrypto_secret_new_from_fd(fd, (size_t)size, errp);

    if (!secret) {
        g_prefix_error(errp, "key from descriptor %d: ", fd);
    }
    return secret;
}

static QCryptoSecret *get_bytes(const QCryptoPassphrase *p, GError **errp)
{
    if (p->size > QCRYPTO_SECRET_MAX) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "a key has at most %zu bytes, not %" PRIu64,
                      QCRYPTO_SECRET_MAX, p->size);
        return NULL;
    }
    if (p->use_fd) {
        return get_fd(p->fd, p->size, errp);
    }
    if (strcmp(p->file, "-")) {
        return qcrypto_secret_new_from_file(p->file, p->offset, (size_t)p->size,
                                            errp);
    }
    if (skip_input(p->offset, errp) < 0) {
        return NULL;
    }
    return get_fd(STDIN_FILENO, p->size, errp);
}

bool qcrypto_passphrase_is_typed(const QCryptoPassphrase *p)
{
    return !p->file && !p->use_fd && isatty(STDIN_FILENO) == 1;
}

QCryptoSecret *qcrypto_passphrase_get(const QCryptoPassphrase *p, GError **errp)
{
    QCryptoSecret *secret =
        p->file || p->use_fd ? get_bytes(p, errp) : get_line(p, errp);
    size_t len;

    if (secret && p->fresh && (qcrypto_secret_get(secret, &len), len == 0)) {
        qcrypto_secret_free(secret);
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "a new passphrase must not be empty");
        return NULL;
    }
    return secret;
}
