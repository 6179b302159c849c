/*
 * Results in Go's benchmark format, which benchstat reads
 *
 *     goos: linux
 *     cpu: AMD EPYC
 *     BenchmarkCipher/alg=aes-256-xts/op=encrypt/.../size=4096-1  <tab>
 *         31416  301.2 ns/op  13598.71 MB/s
 *
 * One line a sample; the number behind the last dash is that of the threads,
 * and as in Go, ns/op is the time of all divided by the requests of all and
 * MB are 10^6 bytes.  benchstat does not put results side by side whose
 * configuration ("key: value") differs, so only what makes numbers
 * incomparable is written so; the rest of the machine's record, which differs
 * from run to run, stands in lines that it skips.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/report.h"

#include <string.h>

#if defined(__x86_64__)
#define GOARCH "amd64"
#elif defined(__aarch64__)
#define GOARCH "arm64"
#elif defined(__i386__)
#define GOARCH "386"
#elif defined(__s390x__)
#define GOARCH "s390x"
#else
#define GOARCH "unknown"
#endif

static const char *const configuration[] = {
    "cpu", "microcode", "governor", "scaling_driver", "turbo", "hypervisor",
};

static void write_machine(GString *out, GVariant *machine)
{
    g_autofree char *text = qcrypto_bench_machine_text(machine);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    g_string_append(out, "goos: linux\ngoarch: " GOARCH "\npkg: qcrypto\n");
    for (char **l = lines; **l; l++) {
        const size_t n = strcspn(*l, ":");
        bool decides = false;

        for (size_t i = 0; i < G_N_ELEMENTS(configuration); i++) {
            decides |= strlen(configuration[i]) == n &&
                       !strncmp(*l, configuration[i], n);
        }
        g_string_append_printf(out, "%s%s\n", decides ? "" : "# ", *l);
    }
    g_string_append(out, "\n");
}

/* "/key=value"; what would end a name is replaced. */
G_GNUC_PRINTF(3, 4)
static void add_part(GString *name, const char *key, const char *fmt, ...)
{
    g_autofree char *value = NULL;
    va_list ap;

    va_start(ap, fmt);
    value = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    g_strdelimit(value, " \t/", '_');
    g_string_append_printf(name, "/%s=%s", key, value);
}

static char *name_of(const QCryptoBenchResult *r)
{
    const QCryptoBenchCase *c = r->c;
    GString *name = g_string_new("Benchmark");

    g_string_append_printf(name, "%c%s", g_ascii_toupper(c->algtype[0]),
                           c->algtype + 1);
    if (r->runset) {
        add_part(name, "runset", "%s", r->runset);
    }
    add_part(name, "alg", "%s", c->algorithm);
    add_part(name, "op", "%s", c->optype);
    add_part(name, "provider", "%s", c->provider);
    if (c->impl) {
        add_part(name, "impl", "%s", c->impl);
    }
    if (c->keybits) {
        add_part(name, "key", "%u", c->keybits);
    }
    add_part(name, "size", "%zu", c->inputsize);
    if (c->sectors > 1) {
        add_part(name, "sectors", "%zu", c->sectors);
    }
    if (c->reqnum > 1) {
        add_part(name, "reqnum", "%u", c->reqnum);
    }
    if (c->inplace) {
        add_part(name, "inplace", "1");
    }
    if (r->plan->numamask) {
        add_part(name, "numamask", "0x%" G_GINT64_MODIFIER "x",
                 r->plan->numamask);
    }
    if (r->plan->loop) {
        add_part(name, "loop", "%" G_GUINT64_FORMAT, r->plan->loop);
    }
    g_string_append_printf(name, "-%u", c->threadnum);
    return g_string_free(name, FALSE);
}

/* A number with four digits or more, and no exponent. */
static void add_value(GString *out, double v, const char *unit)
{
    const int decimals = v >= 1000 ? 1 : v >= 10 ? 3 : v >= 0.1 ? 5 : 8;

    g_string_append_printf(out, "\t%.*f %s", decimals, v, unit);
}

char *qcrypto_bench_benchfmt(GVariant *machine,
                             const QCryptoBenchResult *results, size_t n)
{
    GString *out = g_string_new(NULL);

    write_machine(out, machine);
    for (size_t i = 0; i < n; i++) {
        const QCryptoBenchResult *r = &results[i];
        g_autofree char *name = name_of(r);

        if (r->failed) {
            g_string_append_printf(out, "--- FAIL: %s\n    %s\n", name,
                                   r->failed);
        }
        for (unsigned s = 0; s < r->nsamples && !r->failed; s++) {
            const QCryptoBenchSample *x = &r->samples[s];

            g_string_append_printf(out, "%s\t%" G_GUINT64_FORMAT, name,
                                   x->calls);
            add_value(out, (double)x->ns / (double)x->calls, "ns/op");
            if (x->bytes) {
                add_value(out, qcrypto_bench_rate(x->bytes, x->ns) / 1e6,
                          "MB/s");
            }
            g_string_append(out, "\n");
        }
    }
    return g_string_free(out, FALSE);
}
