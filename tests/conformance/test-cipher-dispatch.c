/*
 * Which implementation runs
 *
 * The library reads its environment once, so every question is put to a
 * child of this process; the parent never calls into the library.
 *
 * A row's name alone proves nothing: on x86-64 a child's encryption is also
 * single-stepped, and the AES instructions that were met, by their width,
 * must be those of the kernel that the object names.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <glib.h>
#include <qcrypto/qcrypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/base/cpu.h"

#define AES256 QCRYPTO_CIPHER_ALGO_AES_256
#define XTS QCRYPTO_CIPHER_MODE_XTS

static const uint8_t *key64(void)
{
    static uint8_t key[64];

    for (size_t i = 0; i < sizeof(key); i++) {
        key[i] = (uint8_t)(i * 5 + 1);
    }
    return key;
}

typedef char *Question(const void *what);

/* Asks a child whose environment is changed; "NAME=VALUE", NULL at the end. */
static char *ask(const char *const *env, Question *question, const void *what)
{
    int fd[2];
    GString *answer = g_string_new(NULL);
    char buf[256];
    ssize_t n;
    int status;

    g_assert_cmpint(pipe(fd), ==, 0);
    const pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        close(fd[0]);
        unsetenv("QCRYPTO_CPU");
        unsetenv("QCRYPTO_PROVIDER");
        for (; env && *env; env++) {
            char *pair = g_strdup(*env);
            char *eq = strchr(pair, '=');

            *eq = '\0';
            setenv(pair, eq + 1, 1);
        }
        char *text = question(what);
        const size_t len = strlen(text);
        _exit(write(fd[1], text, len) == (ssize_t)len ? 0 : 1);
    }
    close(fd[1]);
    while ((n = read(fd[0], buf, sizeof(buf))) > 0) {
        g_string_append_len(answer, buf, n);
    }
    close(fd[0]);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    return g_string_free(answer, FALSE);
}

static char *hardware(const void *what G_GNUC_UNUSED)
{
    return qcrypto_cpu_names(qcrypto_cpu_hardware(), " ");
}

/* True when the CPU has every feature of the list. */
static bool have(const char *features)
{
    static char *names;

    if (!names) {
        char *list = ask(NULL, hardware, NULL);

        names = g_strdup_printf(" %s ", list);
        g_free(list);
    }
    g_auto(GStrv) want = g_strsplit(features, " ", -1);
    for (char **w = want; *w; w++) {
        g_autofree char *word = g_strdup_printf(" %s ", *w);

        if (**w && !strstr(names, word)) {
            return false;
        }
    }
    return true;
}

/* "provider:impl" that serves a pair, or "kind N: TEXT" of the error */
static char *serves(const void *what)
{
    const int *pair = what;
    GError *err = NULL;
    const size_t nkey = qcrypto_cipher_get_key_len((QCryptoCipherAlgo)pair[0]) *
                        (pair[1] == XTS ? 2 : 1);
    QCryptoCipher *c =
        qcrypto_cipher_new((QCryptoCipherAlgo)pair[0], (QCryptoCipherMode)pair[1],
                           key64(), nkey, &err);

    return c ? g_strdup_printf("%s:%s", qcrypto_cipher_get_provider(c),
                               qcrypto_cipher_get_impl(c))
             : g_strdup_printf("kind %d: %s", err->code, err->message);
}

/* ---- switches ---- */

typedef struct Switch {
    const char *env;
    const char *needs; /* features that make the answer hold */
    const char *want;
} Switch;

static const Switch switches[] = {
#if defined(__x86_64__)
    {"QCRYPTO_CPU=", "aes avx2 vaes", "builtin:aes-vaes"},
    {"QCRYPTO_CPU=-vaes", "aes sse41", "builtin:aes-ni"},
    {"QCRYPTO_CPU=-avx2", "aes sse41", "builtin:aes-ni"},
    {"QCRYPTO_CPU=-avx512f", "aes avx2 vaes", "builtin:aes-vaes"},
#elif defined(__aarch64__)
    {"QCRYPTO_CPU=", "aes", "builtin:aes-armv8"},
#endif
#if defined(__x86_64__) || defined(__aarch64__)
    {"QCRYPTO_CPU=-aes", "", "builtin:aes-portable"},
#else
    {"QCRYPTO_CPU=", "", "builtin:aes-portable"},
#endif
};

static void test_switch(const void *opaque)
{
    const Switch *s = opaque;
    const char *const env[] = {s->env, NULL};

    if (!have(s->needs)) {
        g_autofree char *text = g_strdup_printf("CPU lacks one of %s", s->needs);

        g_test_skip(text);
        return;
    }
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        const int pair[2] = {AES256, mode};
        g_autofree char *got = ask(env, serves, pair);

        g_assert_cmpstr(got, ==, s->want);
    }
}

static void test_unknown(void)
{
    static const char *const wrong[][2] = {
#if defined(__x86_64__)
        {"QCRYPTO_CPU=-vaes,-warp", "warp"},
#endif
        {"QCRYPTO_CPU=-warp", "warp"},
        {"QCRYPTO_PROVIDER=builtin,enigma", "enigma"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        const char *const env[] = {wrong[i][0], NULL};
        const int pair[2] = {AES256, XTS};
        g_autofree char *got = ask(env, serves, pair);

        if (!g_str_has_prefix(got, "kind 0: ") || !strstr(got, wrong[i][1])) {
            g_test_message("%s: %s", wrong[i][0], got);
            g_test_fail();
        }
    }
}

/* The providers that could serve aes-256-cbc if they were alone. */
static char *offering(const void *what G_GNUC_UNUSED)
{
    size_t n;
    QCryptoRowInfo *rows = qcrypto_rows_list(&n, NULL);
    GString *names = g_string_new(" ");

    for (size_t i = 0; i < n; i++) {
        g_autofree char *word = g_strdup_printf(" %s ", rows[i].provider);

        if (g_str_equal(rows[i].kind, "cipher") && rows[i].alg_id == AES256 &&
            rows[i].mode_id == QCRYPTO_CIPHER_MODE_CBC && rows[i].usable &&
            !rows[i].avoid && !rows[i].benchmark && !strstr(names->str, word)) {
            g_string_append_printf(names, "%s ", rows[i].provider);
        }
    }
    qcrypto_rows_free(rows, n);
    return g_string_free(names, FALSE);
}

/* QCRYPTO_PROVIDER moves the work to the provider it names. */
static void test_provider(void)
{
    g_autofree char *names = ask(NULL, offering, NULL);
    g_auto(GStrv) name = g_strsplit(g_strstrip(names), " ", -1);
    const int pair[2] = {AES256, QCRYPTO_CIPHER_MODE_CBC};

    g_assert_cmpuint(g_strv_length(name), >, 0);
    for (char **p = name; *p; p++) {
        g_autofree char *setting = g_strdup_printf("QCRYPTO_PROVIDER=%s", *p);
        g_autofree char *prefix = g_strdup_printf("%s:", *p);
        const char *const env[] = {setting, NULL};
        g_autofree char *got = ask(env, serves, pair);

        if (!g_str_has_prefix(got, prefix)) {
            g_test_message("%s: %s", setting, got);
            g_test_fail();
        }
    }
}

/* ---- case B20: a library that refuses weak keys ---- */

static char *weak_under_fips(const void *what G_GNUC_UNUSED)
{
    static const uint8_t equal_halves[64];
    GError *err = NULL;
    QCryptoCipher *c =
        qcrypto_cipher_new(AES256, XTS, equal_halves, sizeof(equal_halves), &err);

    return c ? g_strdup("served") : g_strdup_printf("refused: %s", err->message);
}

static void test_fips(void)
{
    const char *const alone[] = {"LIBGCRYPT_FORCE_FIPS_MODE=1",
                                 "QCRYPTO_PROVIDER=gcrypt", NULL};
    const char *const with_next[] = {"LIBGCRYPT_FORCE_FIPS_MODE=1",
                                     "QCRYPTO_PROVIDER=gcrypt,...", NULL};
    g_autofree char *names = ask(NULL, offering, NULL);

    if (!strstr(names, " gcrypt ")) {
        g_test_message("libgcrypt is not in this build: nothing to fall from");
        return;
    }
    g_autofree char *first = ask(alone, weak_under_fips, NULL);
    g_autofree char *second = ask(with_next, weak_under_fips, NULL);
    g_test_message("libgcrypt alone, in FIPS mode: %s", first);
    g_assert_cmpstr(second, ==, "served");
}

/* ---- the instructions that ran ---- */

#if defined(__x86_64__)

#include <sys/ptrace.h>
#include <sys/user.h>

typedef struct Traced {
    const char *row;
    const char *needs;
    bool narrow, wide, widest; /* 128, 256 and 512 bits: must be met */
} Traced;

static const Traced traced[] = {
    {"builtin:aes-portable", "", false, false, false},
    {"builtin:aes-ni", "aes sse41", true, false, false},
    {"builtin:aes-vaes", "aes avx2 vaes", false, true, false},
    {"builtin:aes-vaes512",
     "aes avx2 vaes avx512f avx512bw avx512vl avx512dq", false, false, true},
};

/* Width in bits of an AESENC, AESENCLAST, AESDEC or AESDECLAST; else 0. */
static unsigned aes_width(const uint8_t *p)
{
    /* VEX and EVEX with the opcode map 0F38 (Intel SDM vol. 2, 2.3 and 2.7) */
    if (p[0] == 0xc4 && (p[1] & 0x1f) == 2 && p[3] >= 0xdc && p[3] <= 0xdf) {
        return p[2] & 4 ? 256 : 128;
    }
    if (p[0] == 0x62 && (p[1] & 7) == 2 && p[4] >= 0xdc && p[4] <= 0xdf) {
        return 128u << (p[3] >> 5 & 3);
    }
    if (p[0] == 0x66) {
        p += (p[1] & 0xf0) == 0x40 ? 2 : 1; /* REX */
        return p[0] == 0x0f && p[1] == 0x38 && p[2] >= 0xdc && p[2] <= 0xdf
                   ? 128
                   : 0;
    }
    return 0;
}

/* Stops itself around one call of 512 bytes; what is between can be stepped. */
static void G_GNUC_NORETURN traced_child(const char *name, int mode)
{
    static uint8_t buf[512];
    GError *err = NULL;
    const uint8_t iv[16] = {1};
    QCryptoCipher *c = qcrypto_cipher_new_from(
        name, AES256, (QCryptoCipherMode)mode, key64(), mode == XTS ? 64 : 32, &err);

    if (!c || (mode != QCRYPTO_CIPHER_MODE_ECB &&
               qcrypto_cipher_setiv(c, iv, 16, &err) < 0)) {
        _exit(2);
    }
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
        _exit(3);
    }
    raise(SIGSTOP);
    /* decryption is what CBC does many blocks at once */
    const int ret = qcrypto_cipher_decrypt(c, buf, buf, sizeof(buf), &err);
    raise(SIGSTOP);
    _exit(ret < 0 ? 2 : 0);
}

/* Counts by width: [0] 128, [1] 256, [2] 512 bits.  -1: no tracing here. */
static int count_aes(const char *name, int mode, size_t count[3])
{
    const pid_t pid = fork();
    int status;

    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        unsetenv("QCRYPTO_CPU");
        unsetenv("QCRYPTO_PROVIDER");
        traced_child(name, mode);
    }
    memset(count, 0, 3 * sizeof(count[0]));
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status)) {
        g_assert_cmpint(WEXITSTATUS(status), ==, 3);
        return -1;
    }
    g_assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    for (;;) {
        struct user_regs_struct regs;
        uint8_t code[8];
        unsigned width;

        g_assert_cmpint(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), ==, 0);
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFSTOPPED(status));
        if (WSTOPSIG(status) == SIGSTOP) {
            break;
        }
        g_assert_cmpint(ptrace(PTRACE_GETREGS, pid, NULL, &regs), ==, 0);
        errno = 0;
        const long word = ptrace(PTRACE_PEEKTEXT, pid, regs.rip, NULL);
        memcpy(code, &word, sizeof(code));
        if (errno == 0 && (width = aes_width(code))) {
            count[width == 128 ? 0 : width == 256 ? 1 : 2]++;
        }
    }
    g_assert_cmpint(ptrace(PTRACE_CONT, pid, NULL, NULL), ==, 0);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    return 0;
}

static void test_instructions(const void *opaque)
{
    const Traced *t = opaque;

    if (!have(t->needs)) {
        g_autofree char *text =
            g_strdup_printf("%s: CPU lacks one of %s", t->row, t->needs);

        g_test_skip(text);
        return;
    }
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        size_t count[3];

        if (count_aes(t->row, mode, count) < 0) {
            g_test_message("ptrace is not allowed here: names alone were tested");
            return;
        }
        g_test_message("%s, 512 bytes of aes-256-%s: %zu AES instructions of 128 "
                       "bits, %zu of 256, %zu of 512", t->row,
                       qcrypto_cipher_mode_name((QCryptoCipherMode)mode), count[0],
                       count[1], count[2]);
        /* tails and tweaks may go a narrower way than the bulk */
        g_assert_true(!t->narrow || count[0]);
        g_assert_cmpint(count[1] > 0, ==, t->wide || (t->widest && count[1]));
        g_assert_cmpint(count[2] > 0, ==, t->widest);
        if (!t->narrow && !t->wide && !t->widest) {
            g_assert_cmpuint(count[0], ==, 0);
        }
    }
}

#endif

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(switches); i++) {
        g_autofree char *path =
            g_strdup_printf("/cipher/dispatch/switch/%s", switches[i].env);

        g_test_add_data_func(path, &switches[i], test_switch);
    }
    g_test_add_func("/cipher/dispatch/unknown-names", test_unknown);
    g_test_add_func("/cipher/dispatch/provider", test_provider);
    g_test_add_func("/cases/B20/fips", test_fips);
#if defined(__x86_64__)
    for (size_t i = 0; i < G_N_ELEMENTS(traced); i++) {
        g_autofree char *path =
            g_strdup_printf("/cipher/dispatch/instructions/%s", traced[i].row);

        g_test_add_data_func(path, &traced[i], test_instructions);
    }
#endif
    return g_test_run();
}
