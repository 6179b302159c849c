/*
 * qcrypto machine: the record of this machine that results carry
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib.h>
#include <stdio.h>

#include "tools/bench/machine.h"
#include "tools/bench/report.h"
#include "tools/commands.h"

#define NAME "machine"

int qcrypto_cmd_machine(int argc, char **argv)
{
    gboolean json = FALSE;
    const GOptionEntry entries[] = {
        {"json", 'j', 0, G_OPTION_ARG_NONE, &json,
         "as one JSON object, the \"machine\" of bench --json", NULL},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GVariant) machine = NULL;
    g_autofree char *text = NULL;
    GError *error = NULL;

    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(
        context, "Prints what decides how fast this machine runs: its CPU and "
                 "frequency, its kernel,\nwhat was built how, and why not to "
                 "trust numbers measured now.");
    g_set_prgname("qcrypto " NAME);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        const int status = qcrypto_cmd_misuse(NAME, "%s", error->message);

        g_error_free(error);
        return status;
    }
    if (argc > 1) {
        return qcrypto_cmd_misuse(NAME, "unexpected argument '%s'", argv[1]);
    }
    machine = qcrypto_bench_machine("", qcrypto_bench_peers);
    text = json ? qcrypto_bench_machine_json(machine, &error)
                : qcrypto_bench_machine_text(machine);
    if (!text) {
        return qcrypto_cmd_fail(NAME, error);
    }
    fputs(text, stdout);
    return 0;
}
