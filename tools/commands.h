/*
 * The subcommands of the `qcrypto` command
 *
 * One table (tools/qcrypto.c) names them; each lives in a file of its own.
 * A subcommand gets the arguments from its own name on (argv[0] == "bench")
 * and returns the exit status: 0 done, 1 failed (one line on stderr,
 * "qcrypto bench: TEXT"), 2 used wrongly.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_COMMANDS_H
#define QCRYPTO_TOOLS_COMMANDS_H

#include <glib.h>

int qcrypto_cmd_bench(int argc, char **argv);
int qcrypto_cmd_machine(int argc, char **argv);
int qcrypto_cmd_luks(int argc, char **argv);
int qcrypto_cmd_plain(int argc, char **argv);
int qcrypto_cmd_providers(int argc, char **argv);
int qcrypto_cmd_random(int argc, char **argv);

/* "qcrypto COMMAND: TEXT" on stderr; takes the error; returns 1. */
int qcrypto_cmd_fail(const char *command, GError *error);

/* "qcrypto COMMAND: TEXT (see `qcrypto COMMAND --help`)"; returns 2. */
int qcrypto_cmd_misuse(const char *command, const char *fmt, ...)
    G_GNUC_PRINTF(2, 3);

#endif
