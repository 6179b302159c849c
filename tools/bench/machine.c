/*
 * The machine record: see machine.h
 *
 * Everything is read from /proc and /sys, where a virtual machine or a
 * container has only part of it, but for what only the CPU itself can tell:
 * the hypervisor's name and, by an estimate, the frequency.  The counters
 * that would know it (APERF and MPERF) are for the kernel alone.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/machine.h"

#include <qcrypto/provider.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "bench-commit.h"
#include "bench-flags.h"
#include "tools/bench/engine.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* A load above this share of the CPUs takes time from what is measured. */
#define BUSY 0.5

#define CPUS "/sys/devices/system/cpu"

typedef struct Reader {
    const char *root;
    bool usable[CPU_SETSIZE]; /* the CPUs that this process may use */
} Reader;

/* ---- Files ---- */

/* The text of a file without the white space around it; NULL: not there. */
G_GNUC_PRINTF(2, 3)
static char *read_text(const Reader *r, const char *fmt, ...)
{
    g_autofree char *name = NULL;
    g_autofree char *path = NULL;
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    name = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    path = g_strconcat(r->root, name, NULL);
    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return NULL;
    }
    g_strstrip(text);
    if (!*text || !g_utf8_validate(text, -1, NULL)) {
        g_clear_pointer(&text, g_free);
    }
    return text;
}

/* Behind the colon of the first line of /proc/cpuinfo that is called @key. */
static char *cpuinfo(const Reader *r, const char *key)
{
    g_autofree char *text = read_text(r, "/proc/cpuinfo");
    g_auto(GStrv) lines = text ? g_strsplit(text, "\n", -1) : NULL;

    for (char **l = lines; l && *l; l++) {
        char *colon = strchr(*l, ':');

        if (colon) {
            *colon = '\0';
            if (!strcmp(g_strchomp(*l), key)) {
                return g_strdup(g_strstrip(colon + 1));
            }
        }
    }
    return NULL;
}

/* What the usable CPUs have in a file of cpufreq: one text, or all of those
 * that differ. */
static char *of_cpus(const Reader *r, const char *file)
{
    g_autoptr(GPtrArray) seen = g_ptr_array_new_with_free_func(g_free);

    for (int i = 0; i < CPU_SETSIZE; i++) {
        char *text = r->usable[i]
                         ? read_text(r, CPUS "/cpu%d/cpufreq/%s", i, file)
                         : NULL;

        if (!text ||
            g_ptr_array_find_with_equal_func(seen, text, g_str_equal, NULL)) {
            g_free(text);
        } else {
            g_ptr_array_add(seen, text);
        }
    }
    if (!seen->len) {
        return NULL;
    }
    g_ptr_array_add(seen, NULL);
    return g_strjoinv(", ", (char **)seen->pdata);
}

/* The least or the greatest of the same in Hz, of files in kHz; 0: unknown */
static gint64 frequency(const Reader *r, const char *file, bool greatest)
{
    gint64 hz = 0;

    for (int i = 0; i < CPU_SETSIZE; i++) {
        g_autofree char *text =
            r->usable[i] ? read_text(r, CPUS "/cpu%d/cpufreq/%s", i, file)
                         : NULL;
        gint64 v = text ? g_ascii_strtoll(text, NULL, 10) : 0;

        if (v > 0 && v < G_MAXINT64 / 1000) {
            v *= 1000;
            hz = !hz ? v : greatest ? MAX(hz, v) : MIN(hz, v);
        }
    }
    return hz;
}

static gint64 frequency_now(const Reader *r)
{
    const gint64 hz = frequency(r, "scaling_cur_freq", true);
    g_autofree char *mhz = hz ? NULL : cpuinfo(r, "cpu MHz");

    return mhz ? (gint64)(g_ascii_strtod(mhz, NULL) * 1e6) : hz;
}

/* Turbo, by whichever driver says it: 1 on, 0 off, -1 unknown. */
static int turbo(const Reader *r)
{
    g_autofree char *off = read_text(r, CPUS "/intel_pstate/no_turbo");
    g_autofree char *boost = read_text(r, CPUS "/cpufreq/boost");
    g_autofree char *each = off || boost ? NULL : of_cpus(r, "boost");

    if (off) {
        return strcmp(off, "0") == 0;
    }
    if (boost) {
        return strcmp(boost, "0") != 0;
    }
    return each ? strcmp(each, "0") != 0 : -1;
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of a folder by their names, as a{ss}. */
static GVariant *folder(const Reader *r, const char *name)
{
    g_autofree char *path = g_strconcat(r->root, name, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    GVariantBuilder b;
    const char *file;

    while (dir && (file = g_dir_read_name(dir))) {
        g_ptr_array_add(names, g_strdup(file));
    }
    g_ptr_array_sort(names, compare_names);
    g_variant_builder_init(&b, G_VARIANT_TYPE("a{ss}"));
    for (guint i = 0; i < names->len; i++) {
        const char *key = g_ptr_array_index(names, i);
        g_autofree char *text = read_text(r, "%s/%s", name, key);

        if (text) {
            g_variant_builder_add(&b, "{ss}", key, text);
        }
    }
    return g_variant_builder_end(&b);
}

/* Node numbers with the CPUs of each, as a{ss}. */
static GVariant *numa_nodes(const Reader *r)
{
    enum { NODES = 1024 };
    GVariantBuilder b;

    g_variant_builder_init(&b, G_VARIANT_TYPE("a{ss}"));
    for (int i = 0; i < NODES; i++) {
        g_autofree char *cpus =
            read_text(r, "/sys/devices/system/node/node%d/cpulist", i);

        if (cpus) {
            g_autofree char *node = g_strdup_printf("%d", i);

            g_variant_builder_add(&b, "{ss}", node, cpus);
        }
    }
    return g_variant_builder_end(&b);
}

static gint64 memory_bytes(const Reader *r)
{
    g_autofree char *text = read_text(r, "/proc/meminfo");
    const char *total = text ? strstr(text, "MemTotal:") : NULL;

    return total ? g_ascii_strtoll(total + strlen("MemTotal:"), NULL, 10) * 1024
                 : 0;
}

/* Runnable processes, mean of the last minute; -1 unknown */
static double load(const Reader *r)
{
    g_autofree char *text = read_text(r, "/proc/loadavg");

    return text ? g_ascii_strtod(text, NULL) : -1;
}

QCryptoBenchBusy qcrypto_bench_busy(const char *root)
{
    /* user, nice, system, idle, I/O wait, interrupts (2), stolen; what guests
     * of this machine took is within user */
    enum { IDLE = 3, WAIT = 4, FIELDS = 8 };
    const Reader r = {.root = root};
    g_autofree char *text = read_text(&r, "/proc/stat");
    QCryptoBenchBusy b = {0};
    struct rusage u;
    char *p = text;

    if (!text || !g_str_has_prefix(text, "cpu ")) {
        return b;
    }
    p += strlen("cpu ");
    for (int i = 0; i < FIELDS; i++) {
        const uint64_t ticks = g_ascii_strtoull(p, &p, 10);

        b.total += ticks;
        b.busy += i == IDLE || i == WAIT ? 0 : ticks;
    }
    getrusage(RUSAGE_SELF, &u);
    b.own =
        (uint64_t)(((double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6) *
                   (double)sysconf(_SC_CLK_TCK));
    return b;
}

double qcrypto_bench_others(const QCryptoBenchBusy *before,
                            const QCryptoBenchBusy *after)
{
    enum { ENOUGH = 50 }; /* ticks, mostly of 10 ms */
    const double total = (double)after->total - (double)before->total;
    const double busy = (double)after->busy - (double)before->busy;
    const double own = (double)after->own - (double)before->own;

    return !before->total || total < ENOUGH ? -1
                                            : CLAMP((busy - own) / total, 0, 1);
}

/* ---- What only the CPU tells ---- */

static char *hypervisor(const Reader *r)
{
    char *type = read_text(r, "/sys/hypervisor/type");

#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d, name[4] = {0};

    if (!type && __get_cpuid(1, &a, &b, &c, &d)) {
        if (!(c & 1u << 31)) {
            return g_strdup("none");
        }
        __cpuid(0x40000000, a, name[0], name[1], name[2]);
        type = g_strdup((char *)name);
        for (char *p = type; *p; p++) {
            *p = g_ascii_isprint(*p) ? *p : ' ';
        }
        if (!*g_strstrip(type)) {
            g_free(type);
            type = g_strdup("unnamed");
        }
    }
#endif
    return type ? type
                : read_text(r, "/proc/device-tree/hypervisor/compatible");
}

/* ---- CPUs ---- */

static unsigned find_cpus(Reader *r)
{
    cpu_set_t set;
    unsigned n = 0;

    if (sched_getaffinity(0, sizeof set, &set) < 0) {
        CPU_ZERO(&set);
        CPU_SET(0, &set);
    }
    for (int i = 0; i < CPU_SETSIZE; i++) {
        r->usable[i] = CPU_ISSET(i, &set);
        n += r->usable[i];
    }
    return n;
}

char *qcrypto_bench_cpu_list(const bool *set, size_t n)
{
    GString *out = g_string_new(NULL);

    for (size_t i = 0; i < n; i++) {
        const size_t first = i;

        if (!set[i]) {
            continue;
        }
        while (i + 1 < n && set[i + 1]) {
            i++;
        }
        g_string_append_printf(out, "%s%zu", out->len ? "," : "", first);
        if (i > first) {
            g_string_append_printf(out, "-%zu", i);
        }
    }
    return g_string_free(out, FALSE);
}

/* ---- Libraries ---- */

static GVariant *libraries(const QCryptoBenchPeer *const *peers)
{
    size_t n;
    const QCryptoProviderInfo *list = qcrypto_providers_list(&n);
    GVariantBuilder b;

    g_variant_builder_init(&b, G_VARIANT_TYPE("a{ss}"));
    for (size_t i = 0; i < n; i++) {
        if (list[i].version) {
            g_variant_builder_add(&b, "{ss}", list[i].name, list[i].version);
        }
    }
    for (size_t i = 0; peers && peers[i]; i++) {
        if (peers[i]->version) {
            g_variant_builder_add(&b, "{ss}", peers[i]->name,
                                  peers[i]->version());
        }
    }
    return g_variant_builder_end(&b);
}

/* ---- The record ---- */

/* What the warnings are about. */
typedef struct Doubts {
    char *governor, *hypervisor;
    int turbo; /* as of turbo() */
    double load;
    unsigned cpus;
    bool optimized;
} Doubts;

static GVariant *warnings(const Doubts *d)
{
    GVariantBuilder b;

    g_variant_builder_init(&b, G_VARIANT_TYPE("as"));
    if (!d->optimized) {
        g_variant_builder_add(&b, "s",
                              "this tool was built without optimisation: small "
                              "sizes look slower than they are");
    }
    /* "userspace" stays where it was put */
    if (d->governor && strcmp(d->governor, "performance") != 0 &&
        strcmp(d->governor, "userspace") != 0) {
        g_autofree char *text = g_strdup_printf(
            "the CPU's frequency governor is \"%s\", not \"performance\"",
            d->governor);

        g_variant_builder_add(&b, "s", text);
    }
    if (d->turbo > 0) {
        g_variant_builder_add(&b, "s",
                              "turbo is on: the frequency depends on heat and "
                              "on what the other cores do");
    }
    if (!d->governor && d->hypervisor && strcmp(d->hypervisor, "none") != 0) {
        g_autofree char *text = g_strdup_printf(
            "a virtual machine (%s): frequency, turbo and neighbours are its "
            "host's and cannot be seen",
            d->hypervisor);

        g_variant_builder_add(&b, "s", text);
    }
    if (d->load > d->cpus * BUSY) {
        g_autofree char *text = g_strdup_printf(
            "the machine is busy: load %.2f on %u CPUs", d->load, d->cpus);

        g_variant_builder_add(&b, "s", text);
    }
    return g_variant_builder_end(&b);
}

static void add(GVariantBuilder *b, const char *name, GVariant *value)
{
    g_variant_builder_add(b, "{sv}", name, value);
}

/* Takes the text, which may be NULL. */
static void add_text(GVariantBuilder *b, const char *name, char *text)
{
    add(b, name, g_variant_new("ms", text));
    g_free(text);
}

/* 0 and less: unknown */
static void add_hz(GVariantBuilder *b, const char *name, double hz)
{
    add(b, name,
        hz > 0 ? g_variant_new("mx", TRUE, (gint64)hz)
               : g_variant_new("mx", FALSE, (gint64)0));
}

static char *date(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();

    return g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
}

static char *cpu_model(const Reader *r, const struct utsname *u)
{
    char *name = cpuinfo(r, "model name");

    return name ? name : g_strdup(u->machine);
}

static void add_cpu(GVariantBuilder *b, const Reader *r, const Doubts *d,
                    const struct utsname *u)
{
    add_text(b, "cpu", cpu_model(r, u));
    add_text(b, "microcode", cpuinfo(r, "microcode"));
    add(b, "cpus", g_variant_new_int64(d->cpus));
    add_text(b, "affinity", qcrypto_bench_cpu_list(r->usable, CPU_SETSIZE));
    add_text(b, "smt", read_text(r, CPUS "/smt/control"));
    add_text(b, "features", qcrypto_cpu_describe());
    add(b, "governor", g_variant_new("ms", d->governor));
    add_text(b, "scaling_driver", of_cpus(r, "scaling_driver"));
    add(b, "turbo", g_variant_new("mb", d->turbo >= 0, d->turbo > 0));
    add_hz(b, "frequency_min_hz", frequency(r, "scaling_min_freq", false));
    add_hz(b, "frequency_current_hz", frequency_now(r));
    add_hz(b, "frequency_max_hz", frequency(r, "scaling_max_freq", true));
    add_hz(b, "frequency_estimate_hz", qcrypto_bench_frequency_estimate());
    add(b, "mitigations", folder(r, CPUS "/vulnerabilities"));
    add(b, "numa_nodes", numa_nodes(r));
}

static void add_system(GVariantBuilder *b, const Reader *r, const Doubts *d,
                       const struct utsname *u)
{
    add_hz(b, "memory_bytes", (double)memory_bytes(r));
    add(b, "hypervisor", g_variant_new("ms", d->hypervisor));
    add_text(b, "kernel",
             g_strdup_printf("%s %s %s", u->sysname, u->release, u->machine));
    add(b, "load",
        d->load < 0 ? g_variant_new("md", FALSE, 0.0)
                    : g_variant_new("md", TRUE, d->load));
}

static void add_build(GVariantBuilder *b, const Doubts *d,
                      const QCryptoBenchPeer *const *peers)
{
    add(b, "qcrypto", g_variant_new_string(qcrypto_version()));
    add(b, "commit",
        g_variant_new("ms", *QCRYPTO_COMMIT ? QCRYPTO_COMMIT : NULL));
    add(b, "compiler", g_variant_new_string(COMPILER));
    add(b, "flags", g_variant_new_string(QCRYPTO_FLAGS));
    add(b, "optimized", g_variant_new_boolean(d->optimized));
    add(b, "libraries", libraries(peers));
}

static void add_clocks(GVariantBuilder *b)
{
    const double ticks = qcrypto_bench_tick_rate();

    add(b, "clock", g_variant_new_string("CLOCK_MONOTONIC_RAW"));
    add(b, "clock_cost_ns",
        g_variant_new_double(qcrypto_bench_clock_cost(qcrypto_bench_clock)));
    add(b, "cycles_source",
        g_variant_new("ms", qcrypto_bench_counts_cycles() ? "perf_event"
                            : ticks > 0                   ? "tsc"
                                                          : NULL));
    add_hz(b, "cycles_per_sec", ticks);
    add_text(b, "counters_missing", qcrypto_bench_counters_missing());
}

GVariant *qcrypto_bench_machine(const char *root,
                                const QCryptoBenchPeer *const *peers)
{
    Reader r = {.root = root};
    Doubts d = {.cpus = find_cpus(&r)};
    struct utsname u;
    GVariantBuilder b;

    uname(&u);
    d.governor = of_cpus(&r, "scaling_governor");
    d.hypervisor = hypervisor(&r);
    d.turbo = turbo(&r);
    d.load = load(&r);
#ifdef __OPTIMIZE__
    d.optimized = true;
#endif
    g_variant_builder_init(&b, G_VARIANT_TYPE_VARDICT);
    add_text(&b, "date", date());
    add_cpu(&b, &r, &d, &u);
    add_system(&b, &r, &d, &u);
    add_build(&b, &d, peers);
    add_clocks(&b);
    add(&b, "warnings", warnings(&d));
    g_free(d.governor);
    g_free(d.hypervisor);
    return g_variant_ref_sink(g_variant_builder_end(&b));
}

const char *qcrypto_bench_machine_get(GVariant *m, const char *name)
{
    const char *text = NULL;

    if (!g_variant_lookup(m, name, "&s", &text)) {
        g_variant_lookup(m, name, "m&s", &text);
    }
    return text ? text : "unknown";
}

const char **qcrypto_bench_machine_warnings(GVariant *m)
{
    const char **list = NULL;

    g_variant_lookup(m, "warnings", "^a&s", &list);
    return list;
}

/* ---- As text ---- */

static void write_value(GString *out, const char *name, GVariant *v)
{
    if (g_variant_is_of_type(v, G_VARIANT_TYPE("a{ss}"))) {
        GVariantIter iter;
        const char *key, *text;

        g_variant_iter_init(&iter, v);
        while (g_variant_iter_loop(&iter, "{&s&s}", &key, &text)) {
            g_string_append_printf(out, "%s.%s: %s\n", name, key, text);
        }
    } else if (g_variant_is_of_type(v, G_VARIANT_TYPE_STRING_ARRAY)) {
        GVariantIter iter;
        const char *text;

        g_variant_iter_init(&iter, v);
        while (g_variant_iter_loop(&iter, "&s", &text)) {
            g_string_append_printf(out, "%s: %s\n", name, text);
        }
    } else if (g_variant_is_of_type(v, G_VARIANT_TYPE_MAYBE)) {
        g_autoptr(GVariant) child = g_variant_get_maybe(v);

        if (child) {
            write_value(out, name, child);
        } else {
            g_string_append_printf(out, "%s: unknown\n", name);
        }
    } else if (g_variant_is_of_type(v, G_VARIANT_TYPE_STRING)) {
        g_string_append_printf(out, "%s: %s\n", name,
                               g_variant_get_string(v, NULL));
    } else if (g_variant_is_of_type(v, G_VARIANT_TYPE_BOOLEAN)) {
        g_string_append_printf(out, "%s: %s\n", name,
                               g_variant_get_boolean(v) ? "yes" : "no");
    } else if (g_variant_is_of_type(v, G_VARIANT_TYPE_INT64)) {
        g_string_append_printf(out, "%s: %" G_GINT64_FORMAT "\n", name,
                               g_variant_get_int64(v));
    } else {
        g_string_append_printf(out, "%s: %.6g\n", name,
                               g_variant_get_double(v));
    }
}

char *qcrypto_bench_machine_text(GVariant *m)
{
    GString *out = g_string_new(NULL);
    GVariantIter iter;
    const char *name;
    GVariant *value;

    g_variant_iter_init(&iter, m);
    while (g_variant_iter_loop(&iter, "{&sv}", &name, &value)) {
        write_value(out, name, value);
    }
    return g_string_free(out, FALSE);
}
