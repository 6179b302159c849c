/*
 * qcrypto: the command
 *
 * A table of subcommands and nothing else: each of them lives in a file of
 * its own and parses its own arguments (commands.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"

typedef struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} Command;

static const Command commands[] = {
    {"bench", qcrypto_cmd_bench, "measure the providers against each other"},
    {"machine", qcrypto_cmd_machine, "what decides how fast this machine runs"},
    {"luks", qcrypto_cmd_luks,
     "LUKS volumes: make, open, change, encrypt and decrypt"},
    {"plain", qcrypto_cmd_plain,
     "encrypt or decrypt a disk image without a header (dm-crypt's plain)"},
    {"providers", qcrypto_cmd_providers,
     "what this build and this machine can do, and who does it"},
    {"random", qcrypto_cmd_random, "random bytes to the standard output"},
};

static void print_help(void)
{
    printf("Usage: qcrypto COMMAND [ARGUMENTS]\n\nCommands:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    printf("\n`qcrypto COMMAND --help` tells the arguments of a command.\n"
           "`qcrypto --version` prints the version.\n\n"
           "QCRYPTO_PROVIDER=gcrypt,nettle  use these providers, in this "
           "order, and no others\n"
           "QCRYPTO_CPU=-vaes               do without a feature of the CPU\n"
           "QCRYPTO_CALIBRATION=FILE        choose as was measured and kept "
           "there\n");
}

/* Output that could not be written is a failure, whatever the command said. */
static int finish(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "qcrypto: cannot write to the standard output\n");
        return status ? status : 1;
    }
    return status;
}

int qcrypto_cmd_fail(const char *command, GError *error)
{
    fprintf(stderr, "qcrypto %s: %s\n", command,
            error ? error->message : "failed, no reason given");
    g_clear_error(&error);
    return 1;
}

int qcrypto_cmd_misuse(const char *command, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_autofree char *text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    fprintf(stderr, "qcrypto %s: %s (see `qcrypto %s --help`)\n", command, text,
            command);
    return 2;
}

/*
 * With a standard stream closed, the next file opened would take its number,
 * and messages would go into a disk image.
 */
static bool open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* the wrong way round: whoever uses what is closed gets an error */
        const int flags = fd == STDIN_FILENO    ? O_WRONLY
                          : fd == STDOUT_FILENO ? O_RDONLY
                                                : O_RDWR;

        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags) != fd) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!open_standard_streams()) {
        return 1;
    }
    setlocale(LC_CTYPE, "");
    if (argc < 2) {
        fprintf(stderr, "qcrypto: a command is missing "
                        "(`qcrypto --help` lists them)\n");
        return 2;
    }
    const char *name = argv[1];

    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        print_help();
        return finish(0);
    }
    if (!strcmp(name, "--version")) {
        printf("qcrypto %s\n", qcrypto_version());
        return finish(0);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (!strcmp(name, commands[i].name)) {
            return finish(commands[i].run(argc - 1, argv + 1));
        }
    }
    fprintf(stderr, "qcrypto: unknown %s '%s' (`qcrypto --help` lists them)\n",
            name[0] == '-' ? "option" : "command", name);
    return 2;
}
