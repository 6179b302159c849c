/*
 * qcrypto random: random bytes to the standard output
 *
 * The generator of <qcrypto/random.h>, as fast as the reader takes it.  A
 * reader that has had enough and closes its end of the pipe is what `head`
 * does, and no failure.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/random.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "tools/bench/options.h"
#include "tools/commands.h"

#define COMMAND "random"
/* what Linux lets anybody have as the size of a pipe is 1 MiB, and 64 KiB is
 * usual; beyond this nothing is gained */
#define CHUNK 65536
/* of bytes in a line of --hex */
#define HEX_LINE 32

/* 1: the reader is gone. */
static int write_all(const uint8_t *p, size_t n, GError **errp)
{
    while (n) {
        const ssize_t put = write(STDOUT_FILENO, p, n);

        if (put >= 0) {
            p += put;
            n -= (size_t)put;
        } else if (errno == EAGAIN) {
            struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

            poll(&out, 1, -1);
        } else if (errno == EPIPE) {
            return 1;
        } else if (errno != EINTR) {
            return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                 "cannot write to the standard output: %s",
                                 g_strerror(errno));
        }
    }
    return 0;
}

/* Lines of hexadecimal digits; to has room for 3 bytes for each of n. */
static size_t to_hex(char *to, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    const char *start = to;

    for (size_t i = 0; i < n; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
        if (i % HEX_LINE == HEX_LINE - 1 || i == n - 1) {
            *to++ = '\n';
        }
    }
    return (size_t)(to - start);
}

static int give(QCryptoRng *rng, uint64_t n, gboolean hex, GError **errp)
{
    /* static: not on a stack whose pages others get to see */
    static uint8_t bytes[CHUNK] __attribute__((aligned(64)));
    static char text[3 * CHUNK];
    int ret = 0;

    while (n && ret == 0) {
        /* a multiple of lines, but for the last */
        const size_t part = (size_t)MIN(n, CHUNK);

        ret = qcrypto_rng_bytes(rng, bytes, part, errp);
        if (ret == 0) {
            ret = hex ? write_all((const uint8_t *)text,
                                  to_hex(text, bytes, part), errp)
                      : write_all(bytes, part, errp);
        }
        n -= part;
    }
    qcrypto_wipe(bytes, sizeof(bytes));
    qcrypto_wipe(text, sizeof(text));
    return ret < 0 ? -1 : 0;
}

static int parse(int argc, char **argv, uint64_t *bytes, uint64_t *rounds,
                 gboolean *hex, GError **errp)
{
    g_autofree char *bytes_text = NULL;
    g_autofree char *rounds_text = NULL;
    const GOptionEntry entries[] = {
        {"bytes", 0, 0, G_OPTION_ARG_STRING, &bytes_text,
         "how many; K, M and G behind the number are 2^10, 2^20 and 2^30",
         "N[K|M|G]"},
        {"rounds", 0, 0, G_OPTION_ARG_STRING, &rounds_text,
         "of ChaCha: 8, 12 or 20 (QCRYPTO_RNG_ROUNDS, or as built)", "R"},
        {"hex", 0, 0, G_OPTION_ARG_NONE, hex,
         "as text, 32 bytes a line", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);

    g_set_prgname("qcrypto random");
    g_option_context_set_summary(
        context, "Writes random bytes to the standard output.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, errp)) {
        return -1;
    }
    if (argc > 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "takes options alone, not '%s'", argv[1]);
    }
    if (!bytes_text) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--bytes is missing");
    }
    if (rounds_text && (qcrypto_bench_parse_count("--rounds", rounds_text, 1,
                                                  99, rounds, errp) < 0)) {
        return -1;
    }
    return qcrypto_bench_parse_size("--bytes", bytes_text, 0, INT64_MAX, bytes,
                                    errp);
}

int qcrypto_cmd_random(int argc, char **argv)
{
    uint64_t bytes = 0, rounds = 0;
    gboolean hex = FALSE;
    GError *error = NULL;

    if (parse(argc, argv, &bytes, &rounds, &hex, &error) < 0) {
        const int status = qcrypto_cmd_misuse(COMMAND, "%s", error->message);

        g_error_free(error);
        return status;
    }
    signal(SIGPIPE, SIG_IGN);
    g_autoptr(QCryptoRng) rng = qcrypto_rng_new((unsigned)rounds, &error);
    if (!rng && rounds) {
        const int status = qcrypto_cmd_misuse(COMMAND, "%s", error->message);

        g_error_free(error);
        return status;
    }
    if (!rng || give(rng, bytes, hex, &error) < 0) {
        return qcrypto_cmd_fail(COMMAND, error);
    }
    return 0;
}
