/*
 * Secrets: where they come from, and what happens to their memory
 *
 * munmap(2) is this file's own, so that memory can be looked at the moment it
 * goes back to the kernel.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/secret.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"
#include "sanitized.h"

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

/* what the last call said */
static GError *err;

/* ---- what is unmapped ---- */

static const void *watched; /* an address within what will be unmapped */
static int unmapped;        /* how often it was, */
static int not_wiped;       /* and how often with something in it */

int munmap(void *addr, size_t len)
{
    const uint8_t *p = addr;

    if (watched && (const uint8_t *)watched >= p &&
        (const uint8_t *)watched < p + len) {
        bool dirty = false;

        for (size_t i = 0; i < len; i++) {
            dirty |= p[i] != 0;
        }
        unmapped++;
        not_wiped += dirty;
    }
    return (int)syscall(SYS_munmap, addr, len);
}

/* Frees it, and asserts that nothing of it was left. */
static void free_watched(QCryptoSecret *s)
{
    watched = qcrypto_secret_get(s, NULL);
    unmapped = not_wiped = 0;
    qcrypto_secret_free(s);
    watched = NULL;
    g_assert_cmpint(unmapped, ==, 1);
    g_assert_cmpint(not_wiped, ==, 0);
}

/* These bytes and no others; freed. */
static void expect(QCryptoSecret *s, const void *bytes, size_t n)
{
    size_t len = 12345;

    g_assert_no_error(err);
    g_assert_nonnull(s);
    g_assert_nonnull(qcrypto_secret_get(s, &len));
    g_assert_cmpmem(qcrypto_secret_get(s, NULL), len, bytes, n);
    free_watched(s);
}

static void expect_error(QCryptoSecret *s, int kind, const char *text)
{
    g_assert_null(s);
    g_assert_error(err, QCRYPTO_ERROR, kind);
    g_assert_cmpstr(err->message, ==, text);
    g_clear_error(&err);
}

static void test_bytes(void)
{
    static const char bytes[] = "a secret\0with a zero\n";

    expect(qcrypto_secret_new_from_bytes(bytes, sizeof(bytes), &err), bytes,
           sizeof(bytes));
    expect(qcrypto_secret_new_from_bytes("", 0, &err), "", 0);
    expect(qcrypto_secret_new_from_bytes(NULL, 0, &err), "", 0);
    expect_error(qcrypto_secret_new_from_bytes(NULL, 1, &err), INVALID,
                 "bytes is NULL");
    expect_error(
        qcrypto_secret_new_from_bytes(bytes, QCRYPTO_SECRET_MAX + 1, &err),
        INVALID, "a secret has at most 8388608 bytes");
    expect_error(qcrypto_secret_new_from_bytes(bytes, SIZE_MAX, &err), INVALID,
                 "a secret has at most 8388608 bytes");
    qcrypto_secret_free(NULL);
    g_assert_null(qcrypto_secret_get(NULL, NULL));
}

/* ---- memory ---- */

/* The VmFlags of the mapping that p lies in. */
static char *vm_flags(const void *p)
{
    g_autofree char *smaps = NULL;
    bool here = false;

    g_assert_true(g_file_get_contents("/proc/self/smaps", &smaps, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(smaps, "\n", -1);
    for (char **l = lines; *l; l++) {
        unsigned long long from, to;

        if (sscanf(*l, "%llx-%llx ", &from, &to) == 2) {
            here = (uintptr_t)p >= from && (uintptr_t)p < to;
        } else if (here && g_str_has_prefix(*l, "VmFlags:")) {
            return g_strconcat(*l + strlen("VmFlags:"), " ", NULL);
        }
    }
    return NULL;
}

/* Whether the flags of memory show what madvise said: not in an emulator. */
static bool flags_are_shown(void)
{
    void *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert_true(page != MAP_FAILED);
    g_assert_cmpint(madvise(page, 65536, MADV_DONTDUMP), ==, 0);
    g_autofree char *flags = vm_flags(page);
    munmap(page, 65536);
    return flags && strstr(flags, " dd ");
}

/* Kept out of dumps; locked exactly when it says so. */
static void check_flags(const QCryptoSecret *s)
{
    g_autofree char *flags = vm_flags(qcrypto_secret_get(s, NULL));

    if (!flags_are_shown()) {
        g_test_message("the flags of memory are not shown here");
        return;
    }
    g_assert_nonnull(flags);
    g_assert_nonnull(strstr(flags, " dd "));
    if (!sanitized) {
        g_assert_cmpint(strstr(flags, " lo ") != NULL, ==,
                        qcrypto_secret_is_locked(s));
    }
}

static void test_memory(void)
{
    QCryptoSecret *s = qcrypto_secret_new_from_bytes("secret", 6, &err);

    g_assert_no_error(err);
    check_flags(s);
    free_watched(s);
}

/* Runs func in a child, whose limits and failures are its own. */
static void in_child(void (*func)(void))
{
    const pid_t child = fork();
    int status;

    g_assert_cmpint(child, >=, 0);
    if (!child) {
        func();
        _exit(0);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void set_limit(int resource, rlim_t bytes)
{
    const struct rlimit r = {bytes, bytes};

    g_assert_cmpint(setrlimit(resource, &r), ==, 0);
}

/* A pipe that somebody else fills with n bytes of the pattern. */
static int open_pipe(size_t n, pid_t *writer)
{
    int fds[2];

    g_assert_cmpint(pipe(fds), ==, 0);
    *writer = fork();
    g_assert_cmpint(*writer, >=, 0);
    if (!*writer) {
        uint8_t *bytes = malloc(n);

        close(fds[0]);
        fill_pattern(bytes, n);
        for (size_t done = 0; done < n;) {
            const ssize_t put = write(fds[1], bytes + done, n - done);

            if (put < 0) {
                _exit(1);
            }
            done += (size_t)put;
        }
        _exit(0);
    }
    close(fds[1]);
    return fds[0];
}

/* Twice the limit, growing on the way: goes on unlocked, as it says. */
static void beyond_the_limit(void)
{
    const size_t n = 300000;
    pid_t writer;
    size_t len;

    set_limit(RLIMIT_MEMLOCK, 128 * 1024);
    const int fd = open_pipe(n, &writer);
    QCryptoSecret *s = qcrypto_secret_new_from_fd(fd, 0, &err);
    g_assert_no_error(err);
    g_autofree uint8_t *want = g_malloc(n);
    fill_pattern(want, n);
    g_assert_cmpmem(qcrypto_secret_get(s, &len), n, want, n);
    g_assert_cmpuint(len, ==, n);
    check_flags(s);
    free_watched(s);
    waitpid(writer, NULL, 0);
}

static void without_locking(void)
{

    /* a process with CAP_IPC_LOCK is not held to it: either answer is right */
    set_limit(RLIMIT_MEMLOCK, 0);
    QCryptoSecret *s = qcrypto_secret_new_from_bytes("secret", 6, &err);
    check_flags(s);
    expect(s, "secret", 6);
}

static void test_limits(void)
{
    in_child(without_locking);
    in_child(beyond_the_limit);
}

/* ---- base64 ---- */

static void test_base64_lengths(void)
{
    uint8_t bytes[300];

    fill_pattern(bytes, sizeof(bytes));
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        g_autofree char *text = g_base64_encode(bytes, n);
        GString *lines = g_string_new("\n");

        expect(qcrypto_secret_new_from_base64(text, &err), bytes, n);
        /* lines of any length, ended either way */
        for (size_t i = 0; text[i]; i++) {
            g_string_append_c(lines, text[i]);
            if (i % 7 == 3) {
                g_string_append(lines, i % 2 ? "\n" : "\r\n");
            }
        }
        g_string_append(lines, "\n");
        expect(qcrypto_secret_new_from_base64(lines->str, &err), bytes, n);
        g_string_free(lines, TRUE);
    }
}

/* Every value of every character: the 64 digits and nothing else. */
static void test_base64_alphabet(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (unsigned c = 1; c < 256; c++) {
        const char text[5] = {'A', (char)c, 'A', 'A', 0};
        const char *at = strchr(digits, (int)c);

        if (at) {
            const unsigned v = (unsigned)(at - digits);
            const uint8_t want[3] = {(uint8_t)(v >> 4), (uint8_t)(v << 4), 0};

            expect(qcrypto_secret_new_from_base64(text, &err), want, 3);
        } else {
            g_assert_null(qcrypto_secret_new_from_base64(text, &err));
            g_assert_error(err, QCRYPTO_ERROR, INVALID);
            g_clear_error(&err);
        }
    }
}

static void test_base64_errors(void)
{
    static const char foreign[] =
        "base64: a character outside the alphabet, or "
        "behind the padding";
    static const char length[] = "base64: the length is not a multiple of 4 "
                                 "characters with '=' at the end";
    static const char bits[] = "base64: bits behind the last byte";

    expect_error(qcrypto_secret_new_from_base64(NULL, &err), INVALID,
                 "base64 is NULL");
    expect_error(qcrypto_secret_new_from_base64("QUJ D", &err), INVALID,
                 foreign);
    expect_error(qcrypto_secret_new_from_base64("QUJD\tQUJD", &err), INVALID,
                 foreign);
    expect_error(qcrypto_secret_new_from_base64("QUJD\rQUJD", &err), INVALID,
                 foreign);
    expect_error(qcrypto_secret_new_from_base64("QUJ-QUJ_", &err), INVALID,
                 foreign);
    expect_error(qcrypto_secret_new_from_base64("QQ==QUJD", &err), INVALID,
                 foreign);
    expect_error(qcrypto_secret_new_from_base64("Q", &err), INVALID, length);
    expect_error(qcrypto_secret_new_from_base64("QUJDR", &err), INVALID,
                 length);
    expect_error(qcrypto_secret_new_from_base64("QQ", &err), INVALID, length);
    expect_error(qcrypto_secret_new_from_base64("QQ=", &err), INVALID, length);
    expect_error(qcrypto_secret_new_from_base64("QUI", &err), INVALID, length);
    expect_error(qcrypto_secret_new_from_base64("QUI==", &err), INVALID,
                 length);
    expect_error(qcrypto_secret_new_from_base64("=", &err), INVALID, length);
    expect_error(qcrypto_secret_new_from_base64("====", &err), INVALID, length);
    expect_error(qcrypto_secret_new_from_base64("QUJD====", &err), INVALID,
                 length);
    expect_error(qcrypto_secret_new_from_base64("QR==", &err), INVALID, bits);
    expect_error(qcrypto_secret_new_from_base64("QUJ=", &err), INVALID, bits);
}

/* ---- files ---- */

static char *folder;

static char *new_file(const char *name, size_t n)
{
    char *path = g_build_filename(folder, name, NULL);
    g_autofree uint8_t *bytes = g_malloc(n + 1);

    fill_pattern(bytes, n);
    g_assert_true(g_file_set_contents(path, (char *)bytes, (gssize)n, NULL));
    return path;
}

static void expect_part(QCryptoSecret *s, size_t offset, size_t n)
{
    g_autofree uint8_t *bytes = g_malloc(offset + n + 1);

    fill_pattern(bytes, offset + n);
    expect(s, bytes + offset, n);
}

static void test_file(void)
{
    static const size_t lens[] = {0, 1, 2, 4000, 4064, 4065, 8192, 100000};

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        const size_t n = lens[i];
        g_autofree char *path = new_file("key", n);

        expect_part(qcrypto_secret_new_from_file(path, 0, 0, &err), 0, n);
        expect_part(qcrypto_secret_new_from_file(path, n, 0, &err), n, 0);
        if (n) {
            expect_part(qcrypto_secret_new_from_file(path, 0, n, &err), 0, n);
            expect_part(qcrypto_secret_new_from_file(path, n / 2, 0, &err),
                        n / 2, n - n / 2);
            expect_part(qcrypto_secret_new_from_file(path, n - 1, 1, &err),
                        n - 1, 1);
        }
    }
}

static void test_file_errors(void)
{
    g_autofree char *path = new_file("short", 100);
    g_autofree char *absent = g_build_filename(folder, "absent", NULL);
    g_autofree char *text = NULL;

    expect_error(qcrypto_secret_new_from_file(NULL, 0, 0, &err), INVALID,
                 "path is NULL");
    text =
        g_strdup_printf("cannot open '%s': No such file or directory", absent);
    expect_error(qcrypto_secret_new_from_file(absent, 0, 0, &err),
                 QCRYPTO_ERROR_IO, text);
    g_free(text);
    text = g_strdup_printf("cannot read '%s': Is a directory", folder);
    expect_error(qcrypto_secret_new_from_file(folder, 0, 0, &err),
                 QCRYPTO_ERROR_IO, text);
    g_free(text);
    text = g_strdup_printf("'%s' ends after 100 of 101 bytes", path);
    expect_error(qcrypto_secret_new_from_file(path, 0, 101, &err),
                 QCRYPTO_ERROR_IO, text);
    g_free(text);
    text = g_strdup_printf("'%s' ends after 1 of 2 bytes", path);
    expect_error(qcrypto_secret_new_from_file(path, 99, 2, &err),
                 QCRYPTO_ERROR_IO, text);
    g_free(text);
    text = g_strdup_printf("'%s' ends before offset 101", path);
    expect_error(qcrypto_secret_new_from_file(path, 101, 0, &err),
                 QCRYPTO_ERROR_IO, text);
    g_free(text);
    text =
        g_strdup_printf("'%s' ends before offset 18446744073709551615", path);
    expect_error(qcrypto_secret_new_from_file(path, UINT64_MAX, 0, &err),
                 QCRYPTO_ERROR_IO, text);
    expect_error(qcrypto_secret_new_from_file(path, 0, SIZE_MAX, &err), INVALID,
                 "a secret has at most 8388608 bytes");
}

/* The longest there may be, and a byte more; without an end. */
static void test_file_sizes(void)
{
    g_autofree char *path = new_file("long", QCRYPTO_SECRET_MAX);

    expect_part(qcrypto_secret_new_from_file(path, 0, 0, &err), 0,
                QCRYPTO_SECRET_MAX);
    expect_part(qcrypto_secret_new_from_file(path, 0, QCRYPTO_SECRET_MAX, &err),
                0, QCRYPTO_SECRET_MAX);
    g_free(path);
    path = new_file("long", QCRYPTO_SECRET_MAX + 1);
    expect_error(qcrypto_secret_new_from_file(path, 0, 0, &err), INVALID,
                 "a secret has at most 8388608 bytes");
    expect_part(qcrypto_secret_new_from_file(path, 1, 0, &err), 1,
                QCRYPTO_SECRET_MAX);
    expect_error(qcrypto_secret_new_from_file("/dev/zero", 0, 0, &err), INVALID,
                 "a secret has at most 8388608 bytes");
}

static void test_fd(void)
{
    static const size_t lens[] = {1, 4000, 4096, 65536, 200000};
    g_autofree char *path = new_file("fd", 1000);
    pid_t writer;
    int fd;

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        for (int all = 0; all < 2; all++) {
            fd = open_pipe(lens[i], &writer);
            expect_part(qcrypto_secret_new_from_fd(fd, all ? 0 : lens[i], &err),
                        0, lens[i]);
            /* it is still open */
            g_assert_cmpint(close(fd), ==, 0);
            waitpid(writer, NULL, 0);
        }
    }
    /* one line after the other from one descriptor */
    fd = open(path, O_RDONLY);
    expect_part(qcrypto_secret_new_from_fd(fd, 10, &err), 0, 10);
    expect_part(qcrypto_secret_new_from_fd(fd, 90, &err), 10, 90);
    expect_part(qcrypto_secret_new_from_fd(fd, 0, &err), 100, 900);
    expect_part(qcrypto_secret_new_from_fd(fd, 0, &err), 0, 0);
    expect_error(qcrypto_secret_new_from_fd(fd, 1, &err), QCRYPTO_ERROR_IO,
                 "the descriptor ends after 0 of 1 bytes");
    close(fd);
    expect_error(qcrypto_secret_new_from_fd(-1, 0, &err), QCRYPTO_ERROR_IO,
                 "cannot read the descriptor: Bad file descriptor");

    fd = open_pipe(8, &writer);
    g_autofree char *name = g_strdup_printf("/dev/fd/%d", fd);
    g_autofree char *text =
        g_strdup_printf("cannot seek in '%s': Illegal seek", name);
    expect_error(qcrypto_secret_new_from_file(name, 4, 0, &err),
                 QCRYPTO_ERROR_IO, text);
    close(fd);
    waitpid(writer, NULL, 0);
}

/* ---- the kernel's keyrings ---- */

#define PROCESS_KEYRING (-2)

static long add_key(const char *type, const char *desc, const void *payload,
                    size_t n)
{
    return syscall(SYS_add_key, type, desc, payload, n, PROCESS_KEYRING);
}

static void test_keyring(void)
{
    static uint8_t big[20000];
    const long id = add_key("user", "qcrypto-test:disk", "a key\0 of it", 12);

    if (id < 0) {
        g_autofree char *why =
            g_strdup_printf("add_key: %s", g_strerror(errno));

        g_test_skip(why);
        return;
    }
    g_autofree char *serial = g_strdup_printf("%ld", id);
    expect(qcrypto_secret_new_from_keyring(serial, &err), "a key\0 of it", 12);
    /* the description has a colon of its own */
    expect(qcrypto_secret_new_from_keyring("user:qcrypto-test:disk", &err),
           "a key\0 of it", 12);
    fill_pattern(big, sizeof(big));
    if (add_key("user", "qcrypto-test-big", big, sizeof(big)) > 0) {
        expect(qcrypto_secret_new_from_keyring("user:qcrypto-test-big", &err),
               big, sizeof(big));
    }
    expect_error(qcrypto_secret_new_from_keyring("user:qcrypto-absent", &err),
                 INVALID,
                 "keyring: key 'user:qcrypto-absent': Required key not "
                 "available");
    if (add_key("logon", "qcrypto:logon", "hidden", 6) > 0) {
        expect_error(
            qcrypto_secret_new_from_keyring("logon:qcrypto:logon", &err),
            QCRYPTO_ERROR_UNSUPPORTED,
            "reading the key is not supported: 'logon:qcrypto:logon' is of a "
            "type that cannot be read");
    }
}

static void test_keyring_errors(void)
{
    expect_error(qcrypto_secret_new_from_keyring(NULL, &err), INVALID,
                 "key is NULL");
    expect_error(qcrypto_secret_new_from_keyring("disk1", &err), INVALID,
                 "keyring: 'disk1' is neither a serial number nor "
                 "TYPE:DESCRIPTION");
    expect_error(qcrypto_secret_new_from_keyring("0", &err), INVALID,
                 "keyring: '0' is neither a serial number nor "
                 "TYPE:DESCRIPTION");
    expect_error(qcrypto_secret_new_from_keyring("2147483648", &err), INVALID,
                 "keyring: '2147483648' is neither a serial number nor "
                 "TYPE:DESCRIPTION");
    expect_error(qcrypto_secret_new_from_keyring("", &err), INVALID,
                 "keyring: '' is neither a serial number nor "
                 "TYPE:DESCRIPTION");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("qcrypto-secret-XXXXXX", NULL);
    g_assert_nonnull(folder);
    g_test_add_func("/secret/bytes", test_bytes);
    g_test_add_func("/secret/memory", test_memory);
    g_test_add_func("/secret/limits", test_limits);
    g_test_add_func("/secret/base64/lengths", test_base64_lengths);
    g_test_add_func("/secret/base64/alphabet", test_base64_alphabet);
    g_test_add_func("/secret/base64/errors", test_base64_errors);
    g_test_add_func("/secret/file", test_file);
    g_test_add_func("/secret/file/errors", test_file_errors);
    g_test_add_func("/secret/file/sizes", test_file_sizes);
    g_test_add_func("/secret/fd", test_fd);
    g_test_add_func("/secret/keyring", test_keyring);
    g_test_add_func("/secret/keyring/errors", test_keyring_errors);
    const int ret = g_test_run();
    static const char *const names[] = {"key", "short", "long", "fd"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);

        unlink(path);
    }
    rmdir(folder);
    g_free(folder);
    return ret;
}
