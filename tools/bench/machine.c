/*
 * The machine record: see machine.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/machine.h"

#include <qcrypto/provider.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define GOVERNOR "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"

/* The first line of @path that begins with @key, behind its colon. */
static char *line_of(const char *path, const char *key)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return NULL;
    }
    lines = g_strsplit(text, "\n", -1);
    for (char **l = lines; *l; l++) {
        const char *colon = strchr(*l, ':');

        if (g_str_has_prefix(*l, key) && colon) {
            return g_strstrip(g_strdup(colon + 1));
        }
    }
    return NULL;
}

static char *cpu_model(const struct utsname *u)
{
    char *name = line_of("/proc/cpuinfo", "model name");

    return name ? name : g_strdup(u->machine);
}

static unsigned cpus_usable(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (unsigned)CPU_COUNT(&set)
               : g_get_num_processors();
}

static void list_libraries(QCryptoBenchMachine *m,
                           const QCryptoBenchPeer *const *peers)
{
    size_t n;
    const QCryptoProviderInfo *list = qcrypto_providers_list(&n);
    GArray *out = g_array_new(FALSE, FALSE, sizeof(QCryptoBenchLibrary));

    for (size_t i = 0; i < n; i++) {
        if (list[i].version) {
            g_array_append_vals(
                out, &(QCryptoBenchLibrary){list[i].name, list[i].version}, 1);
        }
    }
    for (size_t i = 0; peers && peers[i]; i++) {
        if (peers[i]->version) {
            g_array_append_vals(
                out,
                &(QCryptoBenchLibrary){peers[i]->name, peers[i]->version()}, 1);
        }
    }
    m->nlibraries = out->len;
    m->libraries = (void *)g_array_free(out, FALSE);
}

static void add_warnings(QCryptoBenchMachine *m)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new();

    if (!m->optimized) {
        g_ptr_array_add(list, g_strdup("this tool was built without "
                                       "optimisation: small sizes look slower "
                                       "than they are"));
    }
    if (m->governor && strcmp(m->governor, "performance") != 0) {
        g_ptr_array_add(list, g_strdup_printf("the CPU's frequency governor is "
                                              "\"%s\", not \"performance\"",
                                              m->governor));
    }
    if (m->load > m->cpus * 0.5) {
        g_ptr_array_add(list, g_strdup_printf("the machine is busy: load %.2f "
                                              "on %u CPUs",
                                              m->load, m->cpus));
    }
    g_ptr_array_add(list, NULL);
    m->warnings = (char **)g_ptr_array_free(g_steal_pointer(&list), FALSE);
}

QCryptoBenchMachine *qcrypto_bench_machine_new(
    const QCryptoBenchPeer *const *peers)
{
    QCryptoBenchMachine *m = g_new0(QCryptoBenchMachine, 1);
    struct utsname u;

    uname(&u);
    m->cpu = cpu_model(&u);
    m->cpus = cpus_usable();
    m->features = qcrypto_cpu_describe();
    m->kernel = g_strdup_printf("%s %s %s", u.sysname, u.release, u.machine);
    m->compiler = COMPILER;
#ifdef __OPTIMIZE__
    m->optimized = true;
#endif
    list_libraries(m, peers);
    if (g_file_get_contents(GOVERNOR, &m->governor, NULL, NULL)) {
        g_strstrip(m->governor);
    }
    if (getloadavg(&m->load, 1) != 1) {
        m->load = -1;
    }
    m->clock_cost_ns = qcrypto_bench_clock_cost(qcrypto_bench_clock);
    m->tick_rate = qcrypto_bench_tick_rate();
    m->cycles = m->tick_rate > 0 ? "tsc" : NULL;
    m->counters = qcrypto_bench_counters_missing();
    add_warnings(m);
    return m;
}

void qcrypto_bench_machine_free(QCryptoBenchMachine *m)
{
    if (m) {
        g_free(m->cpu);
        g_free(m->features);
        g_free(m->kernel);
        g_free(m->libraries);
        g_free(m->governor);
        g_free(m->counters);
        g_strfreev(m->warnings);
        g_free(m);
    }
}
