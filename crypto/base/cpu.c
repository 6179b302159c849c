/*
 * CPU features, by name
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/base/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* one name on two architectures */
#if defined(__aarch64__)
#define AES_NEEDS QCRYPTO_CPU_NEON
#else
#define AES_NEEDS QCRYPTO_CPU_SSE2
#endif

/*
 * needs: what must be there for the feature to be of use; a feature whose
 * needs are not met is off.  Needs stand above what needs them.  Every name is
 * known on every architecture: to switch off what is not there is no error.
 */
static const struct {
    const char *name;
    uint32_t bit;
    uint32_t needs;
} features[] = {
    {"sse2", QCRYPTO_CPU_SSE2, 0},
    {"ssse3", QCRYPTO_CPU_SSSE3, QCRYPTO_CPU_SSE2},
    {"sse41", QCRYPTO_CPU_SSE41, QCRYPTO_CPU_SSSE3},
    {"pclmul", QCRYPTO_CPU_PCLMUL, QCRYPTO_CPU_SSE2},
    {"neon", QCRYPTO_CPU_NEON, 0},
    {"aes", QCRYPTO_CPU_AES, AES_NEEDS},
    {"sha", QCRYPTO_CPU_SHANI, QCRYPTO_CPU_SSE41},
    {"avx", QCRYPTO_CPU_AVX, QCRYPTO_CPU_SSE41},
    {"avx2", QCRYPTO_CPU_AVX2, QCRYPTO_CPU_AVX},
    {"bmi2", QCRYPTO_CPU_BMI2, 0},
    {"vaes", QCRYPTO_CPU_VAES, QCRYPTO_CPU_AVX2 | QCRYPTO_CPU_AES},
    {"vpclmul", QCRYPTO_CPU_VPCLMUL, QCRYPTO_CPU_AVX2 | QCRYPTO_CPU_PCLMUL},
    {"avx512f", QCRYPTO_CPU_AVX512F, QCRYPTO_CPU_AVX2},
    {"avx512bw", QCRYPTO_CPU_AVX512BW, QCRYPTO_CPU_AVX512F},
    {"avx512vl", QCRYPTO_CPU_AVX512VL, QCRYPTO_CPU_AVX512F},
    {"avx512dq", QCRYPTO_CPU_AVX512DQ, QCRYPTO_CPU_AVX512F},
    {"pmull", QCRYPTO_CPU_PMULL, QCRYPTO_CPU_NEON},
    {"sha1", QCRYPTO_CPU_SHA1, QCRYPTO_CPU_NEON},
    {"sha2", QCRYPTO_CPU_SHA2, QCRYPTO_CPU_NEON},
};

#if defined(__x86_64__)

/* XCR0: which register files the kernel saves (Intel SDM vol. 1, 13.3) */
static uint64_t read_xcr0(void)
{
    uint32_t lo, hi;

    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static uint32_t detect(void)
{
    uint32_t a, b, c, d, f = 0;

    if (!__get_cpuid(1, &a, &b, &c, &d)) {
        return 0;
    }
    f |= d & 1u << 26 ? QCRYPTO_CPU_SSE2 : 0;
    f |= c & 1u << 9 ? QCRYPTO_CPU_SSSE3 : 0;
    f |= c & 1u << 19 ? QCRYPTO_CPU_SSE41 : 0;
    f |= c & 1u << 1 ? QCRYPTO_CPU_PCLMUL : 0;
    f |= c & 1u << 25 ? QCRYPTO_CPU_AES : 0;

    uint64_t xcr0 = c & 1u << 27 ? read_xcr0() : 0;
    bool ymm = (xcr0 & 0x06) == 0x06;
    bool zmm = (xcr0 & 0xe6) == 0xe6;
    f |= ymm && c & 1u << 28 ? QCRYPTO_CPU_AVX : 0;

    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        f |= b & 1u << 8 ? QCRYPTO_CPU_BMI2 : 0;
        f |= b & 1u << 29 ? QCRYPTO_CPU_SHANI : 0;
        if (ymm) {
            f |= b & 1u << 5 ? QCRYPTO_CPU_AVX2 : 0;
            f |= c & 1u << 9 ? QCRYPTO_CPU_VAES : 0;
            f |= c & 1u << 10 ? QCRYPTO_CPU_VPCLMUL : 0;
        }
        if (zmm) {
            f |= b & 1u << 16 ? QCRYPTO_CPU_AVX512F : 0;
            f |= b & 1u << 17 ? QCRYPTO_CPU_AVX512DQ : 0;
            f |= b & 1u << 30 ? QCRYPTO_CPU_AVX512BW : 0;
            f |= b & 1u << 31 ? QCRYPTO_CPU_AVX512VL : 0;
        }
    }
    return f;
}

#elif defined(__aarch64__)

/* Linux's HWCAP bits of AArch64 (asm/hwcap.h) */
static uint32_t detect(void)
{
    unsigned long cap = getauxval(AT_HWCAP);
    uint32_t f = 0;

    f |= cap & 1ul << 1 ? QCRYPTO_CPU_NEON : 0;
    f |= cap & 1ul << 3 ? QCRYPTO_CPU_AES : 0;
    f |= cap & 1ul << 4 ? QCRYPTO_CPU_PMULL : 0;
    f |= cap & 1ul << 5 ? QCRYPTO_CPU_SHA1 : 0;
    f |= cap & 1ul << 6 ? QCRYPTO_CPU_SHA2 : 0;
    return f;
}

#else

static uint32_t detect(void)
{
    return 0;
}

#endif

/* Drops every feature whose needs are not met. */
static uint32_t close_over(uint32_t f)
{
    for (size_t i = 0; i < G_N_ELEMENTS(features); i++) {
        if ((f & features[i].needs) != features[i].needs) {
            f &= ~features[i].bit;
        }
    }
    return f;
}

static struct {
    gsize ready;
    uint32_t hardware;
    uint32_t in_force;
    GError *error;
} cpu;

static uint32_t apply_switches(uint32_t f, const char *text, GError **errp)
{
    g_auto(GStrv) words = g_strsplit_set(text, ", ", -1);

    for (char **w = words; *w; w++) {
        size_t i = 0;

        if (!**w) {
            continue;
        }
        if (**w == '-') {
            while (i < G_N_ELEMENTS(features) &&
                   g_ascii_strcasecmp(features[i].name, *w + 1)) {
                i++;
            }
        }
        if (**w != '-' || i == G_N_ELEMENTS(features)) {
            g_autofree char *all = qcrypto_cpu_names(~0u, " ");
            qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                          "QCRYPTO_CPU: '%s' is not a '-' followed by one of %s",
                          *w, all);
            return f;
        }
        f &= ~features[i].bit;
    }
    return f;
}

static void cpu_init(void)
{
    if (g_once_init_enter(&cpu.ready)) {
        const char *text = getenv("QCRYPTO_CPU");

        cpu.hardware = close_over(detect());
        cpu.in_force = cpu.hardware;
        if (text) {
            cpu.in_force =
                close_over(apply_switches(cpu.hardware, text, &cpu.error));
        }
        g_once_init_leave(&cpu.ready, 1);
    }
}

uint32_t qcrypto_cpu_features(void)
{
    cpu_init();
    return cpu.in_force;
}

uint32_t qcrypto_cpu_hardware(void)
{
    cpu_init();
    return cpu.hardware;
}

const GError *qcrypto_cpu_error(void)
{
    cpu_init();
    return cpu.error;
}

char *qcrypto_cpu_names(uint32_t mask, const char *sep)
{
    GString *s = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(features); i++) {
        if (features[i].bit & mask) {
            g_string_append_printf(s, "%s%s", s->len ? sep : "",
                                   features[i].name);
        }
    }
    if (!s->len) {
        g_string_append(s, "none");
    }
    return g_string_free(s, FALSE);
}
