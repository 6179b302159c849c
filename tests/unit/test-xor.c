/*
 * XOR: every template, arity, length and alignment, aliases, bad input
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>
#include <qcrypto/xor.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SRCS 17
#define MAX_LEN 4200

static uint8_t *pool[MAX_SRCS];

static void fill(void)
{
    for (unsigned i = 0; i < MAX_SRCS; i++) {
        for (size_t j = 0; j < MAX_LEN + 64; j++) {
            pool[i][j] = (uint8_t)(j * (2 * i + 3) + (j >> 8) * 7 + i);
        }
    }
}

/* a byte at a time; srcs as they are before dst is written */
static void model(uint8_t *dst, const void *const *srcs, size_t n, size_t len)
{
    for (size_t j = 0; j < len; j++) {
        uint8_t b = 0;

        for (size_t i = 0; i < n; i++) {
            b ^= ((const uint8_t *)srcs[i])[j];
        }
        dst[j] = b;
    }
}

static void check(const char *impl, uint8_t *dst, const void *const *srcs,
                  size_t n, size_t len)
{
    g_autofree uint8_t *want = g_malloc(len + 1);
    g_autoptr(GError) err = NULL;

    model(want, srcs, n, len);
    if (impl) {
        g_assert_cmpint(qcrypto_xor_from(impl, dst, srcs, n, len, &err), ==, 0);
        g_assert_no_error(err);
    } else {
        g_assert_cmpint(qcrypto_xor(dst, srcs, n, len), ==, 0);
    }
    g_assert_cmpmem(dst, len, want, len);
}

/* every length, each buffer at an alignment of its own */
static void test_lengths(const void *impl)
{
    const void *srcs[MAX_SRCS];
    g_autofree uint8_t *dst = g_malloc(MAX_LEN + 64);

    fill();
    for (size_t n = 1; n <= 6; n++) {
        for (size_t len = 0; len <= 1100; len++) {
            for (size_t i = 0; i < n; i++) {
                srcs[i] = pool[i] + (len + 5 * i) % 33;
            }
            dst[len % 31 + len] = 0xa5;
            check(impl, dst + len % 31, srcs, n, len);
            g_assert_cmpuint(dst[len % 31 + len], ==, 0xa5);
        }
    }
    for (size_t n = 1; n <= MAX_SRCS; n++) {
        for (size_t i = 0; i < n; i++) {
            srcs[i] = pool[i] + i;
        }
        check(impl, dst, srcs, n, MAX_LEN);
    }
}

/* dst as any of the sources, once, twice, all of them */
static void test_alias(const void *impl)
{
    const void *srcs[MAX_SRCS];

    for (size_t n = 1; n <= MAX_SRCS; n++) {
        for (size_t k = 0; k < n; k++) {
            fill();
            for (size_t i = 0; i < n; i++) {
                srcs[i] = pool[i];
            }
            check(impl, pool[k], srcs, n, 777);

            fill();
            srcs[0] = pool[k];
            check(impl, pool[k], srcs, n, 777);
        }
        fill();
        for (size_t i = 0; i < n; i++) {
            srcs[i] = pool[0];
        }
        check(impl, pool[0], srcs, n, 100);
    }
}

/* ends and starts of buffers at pages that may not be touched */
static void test_guard(const void *impl)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *map[6];
    const void *srcs[5];

    for (int i = 0; i < 6; i++) {
        map[i] = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
        g_assert_true(map[i] != MAP_FAILED);
        g_assert_cmpint(
            mprotect(map[i] + page, 2 * page, PROT_READ | PROT_WRITE), ==, 0);
    }
    for (size_t n = 2; n <= 5; n++) {
        for (size_t len = 0; len <= 600; len++) {
            for (int end = 0; end < 2; end++) {
                const size_t at = end ? 3 * page - len : page;

                for (size_t i = 0; i < n; i++) {
                    srcs[i] = map[i + 1] + at;
                }
                check(impl, map[0] + at, srcs, n, len);
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        munmap(map[i], 4 * page);
    }
}

static void test_bad_input(void)
{
    uint8_t a[64] = {1}, b[64] = {2};
    const void *srcs[2] = {a, b};
    const void *part[2] = {a, b + 1};
    const void *null[2] = {a, NULL};
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_xor(b, srcs, 0, 8), ==, -1);
    g_assert_cmpint(qcrypto_xor_check(b, srcs, 0, 8, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_xor(b, part, 2, 8), ==, -1);
    g_assert_cmpint(qcrypto_xor_check(b, part, 2, 8, &err), ==, -1);
    g_assert_cmpstr(err->message, ==,
                    "xor: source 1 overlaps the destination in part");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_xor(b, null, 2, 8), ==, -1);
    g_assert_cmpint(qcrypto_xor(NULL, srcs, 2, 8), ==, -1);
    g_assert_cmpint(qcrypto_xor(b, NULL, 2, 8), ==, -1);
    g_assert_cmpuint(b[0], ==, 2);
    /* nothing to do is done */
    g_assert_cmpint(qcrypto_xor(NULL, null, 2, 0), ==, 0);

    g_assert_cmpint(qcrypto_xor_from("mmx", b, srcs, 2, 8, &err), ==, -1);
    g_assert_cmpstr(err->message, ==, "unknown xor template 'mmx'");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_xor_force("mmx", &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
}

static void test_force(void)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *before = g_strdup(qcrypto_xor_get_impl(3, 4096));

    g_assert_cmpint(qcrypto_xor_force("8regs", &err), ==, 0);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_xor_get_impl(2, 16), ==, "8regs");
    g_assert_cmpstr(qcrypto_xor_get_impl(9, 65536), ==, "8regs");
    g_assert_cmpint(qcrypto_xor_force(NULL, &err), ==, 0);
    g_assert_cmpstr(qcrypto_xor_get_impl(3, 4096), ==, before);
}

/*
 * The environment is read once, by the first call: these run before the other
 * tests, each in a child.
 */
static void in_child(const char *name, void (*check_it)(void))
{
    const pid_t pid = fork();
    int status;

    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        g_setenv("QCRYPTO_XOR", name, TRUE);
        check_it();
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void uses_32regs(void)
{
    const void *srcs[2] = {pool[0], pool[1]};
    uint8_t out[8];

    g_assert_cmpstr(qcrypto_xor_get_impl(2, 8), ==, "32regs");
    g_assert_cmpint(qcrypto_xor(out, srcs, 2, 8), ==, 0);
}

static void test_environment(void)
{
    in_child("32regs", uses_32regs);
}

static void refuses_everything(void)
{
    const void *srcs[2] = {pool[0], pool[1]};
    g_autoptr(GError) err = NULL;
    uint8_t out[8];

    g_assert_cmpint(qcrypto_xor(out, srcs, 2, 8), ==, -1);
    g_assert_cmpint(qcrypto_xor_check(out, srcs, 2, 8, &err), ==, -1);
    g_assert_cmpstr(err->message, ==,
                    "QCRYPTO_XOR: unknown xor template '32reg'");
    /* until the program says better */
    g_assert_cmpint(qcrypto_xor_force("8regs", NULL), ==, 0);
    g_assert_cmpint(qcrypto_xor(out, srcs, 2, 8), ==, 0);
}

static void test_bad_environment(void)
{
    in_child("32reg", refuses_everything);
}

static void skip(const void *why)
{
    g_test_skip(why);
}

int main(int argc, char **argv)
{
    size_t n;

    g_test_init(&argc, &argv, NULL);
    for (int i = 0; i < MAX_SRCS; i++) {
        pool[i] = g_malloc(MAX_LEN + 64);
    }
    fill();
    g_test_add_func("/xor/environment", test_environment);
    g_test_add_func("/xor/bad-environment", test_bad_environment);
    QCryptoRowInfo *rows = qcrypto_rows_list(&n, NULL);
    for (size_t i = 0; i < n; i++) {
        const struct {
            const char *name;
            GTestDataFunc func;
        } tests[] = {
            {"lengths", test_lengths}, {"alias", test_alias}, {"guard", test_guard}};

        for (size_t t = 0; strcmp(rows[i].kind, "xor") == 0 && t < 3; t++) {
            g_autofree char *path =
                g_strdup_printf("/xor/%s/%s", rows[i].impl, tests[t].name);

            if (rows[i].usable) {
                g_test_add_data_func(path, g_strdup(rows[i].impl), tests[t].func);
            } else {
                g_test_add_data_func(path, g_strdup(rows[i].reason), skip);
            }
        }
    }
    qcrypto_rows_free(rows, n);
    g_test_add_data_func("/xor/selected/lengths", NULL, test_lengths);
    g_test_add_data_func("/xor/selected/alias", NULL, test_alias);
    g_test_add_func("/xor/bad-input", test_bad_input);
    g_test_add_func("/xor/force", test_force);
    return g_test_run();
}
