/*
 * The machine record, on machines that do not exist
 *
 * Folders with the files of /proc and /sys that the record is read from: a
 * laptop that saves power, a server that was prepared, and a machine that
 * tells nothing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <glib.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>

#include "tools/bench/machine.h"

typedef struct File {
    const char *path, *text;
} File;

#define CPU "/sys/devices/system/cpu/"
/* whatever CPUs the test may use, each of them has these */
#define EACH "*/"

static void write_file(const char *root, const char *path, const char *text)
{
    g_autofree char *name = g_strconcat(root, path, NULL);
    g_autofree char *dir = g_path_get_dirname(name);
    GError *error = NULL;

    g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
    g_file_set_contents(name, text, -1, &error);
    g_assert_no_error(error);
}

static void remove_tree(const char *path)
{
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *child = g_build_filename(path, name, NULL);

        remove_tree(child);
    }
    g_clear_pointer(&dir, g_dir_close);
    g_assert_cmpint(g_remove(path), ==, 0);
}

/* The record of a machine with these files; the list ends with NULL. */
static GVariant *record_of(const File *files)
{
    GError *error = NULL;
    g_autofree char *root = g_dir_make_tmp("qcrypto-machine-XXXXXX", &error);
    cpu_set_t cpus;
    GVariant *m;

    g_assert_no_error(error);
    g_assert_cmpint(sched_getaffinity(0, sizeof cpus, &cpus), ==, 0);
    for (; files->path; files++) {
        if (!g_str_has_prefix(files->path, EACH)) {
            write_file(root, files->path, files->text);
            continue;
        }
        for (size_t i = 0; i < CPU_SETSIZE; i++) {
            g_autofree char *path = g_strdup_printf(CPU "cpu%zu/cpufreq/%s", i,
                                                    files->path + strlen(EACH));

            if (CPU_ISSET(i, &cpus)) {
                write_file(root, path, files->text);
            }
        }
    }
    m = qcrypto_bench_machine(root, NULL);
    remove_tree(root);
    return m;
}

/* @pattern is among the lines of the text. */
static void assert_line(GVariant *m, const char *pattern, bool there)
{
    g_autofree char *text = qcrypto_bench_machine_text(m);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool found = false;

    for (char **l = lines; *l; l++) {
        found |= g_pattern_match_simple(pattern, *l);
    }
    if (found != there) {
        g_test_message("%s: %s", pattern, text);
    }
    g_assert_true(found == there);
}

static void test_laptop(void)
{
    static const File files[] = {
        {"/proc/cpuinfo",
         "processor\t: 0\nmodel name\t: A CPU @ 2.00GHz\n"
         "microcode\t: 0xf0\ncpu MHz\t\t: 800.120\n\nprocessor\t: 1\n"
         "model name\t: Another\n"},
        {"/proc/loadavg", "5000.25 3.00 1.00 2/300 4711\n"},
        {"/proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\n"},
        {CPU "smt/control", "on\n"},
        {CPU "intel_pstate/no_turbo", "0\n"},
        {CPU "vulnerabilities/spectre_v2", "Mitigation: IBRS\n"},
        {CPU "vulnerabilities/meltdown", "Not affected\n"},
        {"/sys/devices/system/node/node0/cpulist", "0-1\n"},
        {"/sys/devices/system/node/node2/cpulist", "2-3\n"},
        {"/sys/hypervisor/type", "xen\n"},
        {EACH "scaling_governor", "powersave\n"},
        {EACH "scaling_driver", "intel_pstate\n"},
        {EACH "scaling_min_freq", "400000\n"},
        {EACH "scaling_cur_freq", "1200000\n"},
        {EACH "scaling_max_freq", "4700000\n"},
        {NULL},
    };
    static const char *const lines[] = {
        "cpu: A CPU @ 2.00GHz",
        "microcode: 0xf0",
        "governor: powersave",
        "scaling_driver: intel_pstate",
        "turbo: yes",
        "smt: on",
        "frequency_min_hz: 400000000",
        "frequency_current_hz: 1200000000",
        "frequency_max_hz: 4700000000",
        "mitigations.meltdown: Not affected",
        "mitigations.spectre_v2: Mitigation: IBRS",
        "numa_nodes.0: 0-1",
        "numa_nodes.2: 2-3",
        "memory_bytes: 2097152",
        "hypervisor: xen",
        "load: 5000.25",
        "warnings: *governor is \"powersave\"*",
        "warnings: turbo is on*",
        "warnings: the machine is busy: load 5000.25*",
    };
    g_autoptr(GVariant) m = record_of(files);

    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        assert_line(m, lines[i], true);
    }
    assert_line(m, "warnings: a virtual machine*", false);
    g_assert_cmpstr(qcrypto_bench_machine_get(m, "governor"), ==, "powersave");
}

static void test_prepared(void)
{
    static const File files[] = {
        {"/proc/loadavg", "0.00 0.00 0.00 1/80 12\n"},
        {CPU "cpufreq/boost", "0\n"},
        {EACH "scaling_governor", "performance\n"},
        {EACH "scaling_driver", "acpi-cpufreq\n"},
        {NULL},
    };
    g_autoptr(GVariant) m = record_of(files);

    assert_line(m, "turbo: no", true);
    assert_line(m, "governor: performance", true);
    assert_line(m, "load: 0", true);
    assert_line(m, "warnings: *governor*", false);
    assert_line(m, "warnings: turbo*", false);
    assert_line(m, "warnings: *busy*", false);
}

/* Unknown is said and nothing is left out. */
static void test_silent(void)
{
    static const File files[] = {{NULL}};
    static const char *const names[] = {
        "microcode",
        "smt",
        "governor",
        "scaling_driver",
        "turbo",
        "frequency_min_hz",
        "frequency_max_hz",
        "frequency_current_hz",
        "memory_bytes",
        "load",
    };
    g_autoptr(GVariant) m = record_of(files);

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *line = g_strdup_printf("%s: unknown", names[i]);

        assert_line(m, line, true);
    }
    assert_line(m, "affinity: ?*", true);
    assert_line(m, "clock: CLOCK_MONOTONIC_RAW", true);
    assert_line(m, "compiler: ?*", true);
    assert_line(m, "flags: ?*", true);
    assert_line(m, "libraries.builtin: ?*", true);
    g_assert_cmpstr(qcrypto_bench_machine_get(m, "governor"), ==, "unknown");
    g_assert_cmpstr(qcrypto_bench_machine_get(m, "no-such-name"), ==,
                    "unknown");
}

/* Garbage in the files is no reason to fail, or to print garbage. */
static void test_garbage(void)
{
    static const File files[] = {
        {"/proc/cpuinfo", ":\n\n::model name\nmodel name\nmicrocode:\n"},
        {"/proc/meminfo", "MemTotal: many\n"},
        {CPU "vulnerabilities/odd", "\xff\xfe\n"},
        {CPU "smt/control", "\n"},
        {EACH "scaling_min_freq", "-5\n"},
        {EACH "scaling_max_freq", "99999999999999999999\n"},
        {NULL},
    };
    g_autoptr(GVariant) m = record_of(files);

    assert_line(m, "mitigations.odd*", false);
    assert_line(m, "smt: unknown", true);
    assert_line(m, "memory_bytes: unknown", true);
    assert_line(m, "frequency_min_hz: unknown", true);
    assert_line(m, "frequency_max_hz: unknown", true);
}

/* 1000 ticks of idling, then 600 of work and 400 of idling. */
static void test_busy(void)
{
    GError *error = NULL;
    g_autofree char *root = g_dir_make_tmp("qcrypto-busy-XXXXXX", &error);
    QCryptoBenchBusy none = qcrypto_bench_busy(root), before, after;

    g_assert_no_error(error);
    write_file(root, "/proc/stat", "cpu  100 0 50 1000 7 0 0 0 0 0\ncpu0 1\n");
    before = qcrypto_bench_busy(root);
    g_assert_cmpuint(before.total, ==, 1157);
    g_assert_cmpuint(before.busy, ==, 150);
    write_file(root, "/proc/stat",
               "cpu  30100 10000 10050 31000 9007 1000 4000 5000 900 9\n");
    after = qcrypto_bench_busy(root);
    g_assert_cmpfloat_with_epsilon(qcrypto_bench_others(&before, &after), 0.6,
                                   0.01);
    /* too short, or unknown */
    g_assert_cmpfloat(qcrypto_bench_others(&after, &after), ==, -1);
    g_assert_cmpfloat(qcrypto_bench_others(&none, &after), ==, -1);
    /* what this process did is not others' */
    after.own = before.own + 59850;
    g_assert_cmpfloat_with_epsilon(qcrypto_bench_others(&before, &after), 0,
                                   0.01);
    write_file(root, "/proc/stat", "intr 1 2 3\n");
    g_assert_cmpuint(qcrypto_bench_busy(root).total, ==, 0);
    remove_tree(root);
}

static void test_cpu_list(void)
{
    static const struct {
        const char *set, *list;
    } table[] = {
        {"", ""},
        {"0000", ""},
        {"1", "0"},
        {"1111", "0-3"},
        {"0101", "1,3"},
        {"11011", "0-1,3-4"},
        {"100000000001", "0,11"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        const size_t n = strlen(table[i].set);
        bool set[16] = {false};
        g_autofree char *list = NULL;

        for (size_t j = 0; j < n; j++) {
            set[j] = table[i].set[j] == '1';
        }
        list = qcrypto_bench_cpu_list(set, n);
        g_assert_cmpstr(list, ==, table[i].list);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/machine/laptop", test_laptop);
    g_test_add_func("/bench/machine/prepared", test_prepared);
    g_test_add_func("/bench/machine/silent", test_silent);
    g_test_add_func("/bench/machine/garbage", test_garbage);
    g_test_add_func("/bench/machine/busy", test_busy);
    g_test_add_func("/bench/machine/cpu-list", test_cpu_list);
    return g_test_run();
}
