/*
 * The kernel's rows, where there is a kernel that has them
 *
 * What conformance does not ask of every row: long messages and data units,
 * around the sizes at which the kernel's buffers end; keys and forks that
 * AF_ALG has rules of its own for; many requests in flight; drivers by name.
 * builtin is what all bytes are compared with.
 *
 * Runs on machines with AF_ALG, and in the guest of tests/vm, there with small
 * socket buffers too (where QCRYPTO_TEST_AFALG says that it must be there);
 * elsewhere each case is skipped with the reason.  A request that takes ten
 * seconds is one that will not end.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

#define AES_256 QCRYPTO_CIPHER_ALGO_AES_256
#define ECB     QCRYPTO_CIPHER_MODE_ECB
#define CBC     QCRYPTO_CIPHER_MODE_CBC
#define CTR     QCRYPTO_CIPHER_MODE_CTR
#define XTS     QCRYPTO_CIPHER_MODE_XTS
#define SHA256  QCRYPTO_HASH_ALGO_SHA256

#define PATIENCE 10

/* Why the kernel's rows cannot be tested, or NULL. */
static const char *missing(void)
{
    size_t n;
    const QCryptoProviderInfo *list = qcrypto_providers_list(&n);

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i].name, "afalg")) {
            return list[i].reason;
        }
    }
    return "no such provider";
}

static QCryptoCipher *cipher(const char *from, QCryptoCipherMode mode)
{
    g_autoptr(GError) err = NULL;
    uint8_t key[64];

    fill_seeded(key, sizeof(key), 31);
    QCryptoCipher *c = qcrypto_cipher_new_from(from, AES_256, mode, key,
                                               mode == XTS ? 64 : 32, &err);
    g_assert_no_error(err);
    return c;
}

/* ---- lengths ---- */

static void one_length(QCryptoCipherMode mode, size_t len)
{
    g_autoptr(QCryptoCipher) kernel = cipher("afalg", mode);
    g_autoptr(QCryptoCipher) builtin = cipher("builtin", mode);
    const size_t niv = mode == ECB ? 0 : 16;
    g_autofree uint8_t *in = g_malloc(len + 3);
    g_autofree uint8_t *out = g_malloc(len + 3);
    g_autofree uint8_t *want = g_malloc(len);
    uint8_t iv[16];

    /* a counter that wraps in the middle; addresses that are no multiples */
    memset(iv, 0xff, sizeof(iv));
    iv[15] = 0xf0;
    fill_seeded(in, len + 3, len);
    cipher_message(builtin, false, iv, niv, in + 1, want, len);
    alarm(PATIENCE);
    cipher_message(kernel, false, iv, niv, in + 1, out + 3, len);
    g_assert_cmpmem(out + 3, len, want, len);
    alarm(PATIENCE);
    cipher_message(kernel, true, iv, niv, out + 3, out + 3, len);
    g_assert_cmpmem(out + 3, len, in + 1, len);

    /* in two pieces, of which the second is the larger */
    const size_t first = len / 3 / 16 * 16;
    if (mode != XTS && first) {
        g_autoptr(GError) err = NULL;

        alarm(PATIENCE);
        if (niv) {
            qcrypto_cipher_setiv(kernel, iv, niv, &err);
        }
        qcrypto_cipher_encrypt(kernel, in + 1, out, first, &err);
        g_assert_no_error(err);
        qcrypto_cipher_encrypt(kernel, in + 1 + first, out + first, len - first,
                               &err);
        g_assert_no_error(err);
        g_assert_cmpmem(out, len, want, len);
    }
    alarm(0);
}

static void lengths(const void *opaque)
{
    static const size_t lens[] = {
        1,      15,     16,     17,     4080,   4095,    4096,
        4097,   4112,   61440,  65520,  65535,  65536,   65537,
        65552,  131072, 204800, 208880, 208896, 208912,  212976,
        212992, 213008, 262144, 421888, 425968, 425984,  426000,
        430080, 524288, 524304, 851968, 999999, 1048560, 1048576,
    };
    const QCryptoCipherMode mode = GPOINTER_TO_INT(opaque);

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        if (mode == CTR || (mode == XTS && lens[i] >= 16) ||
            lens[i] % 16 == 0) {
            one_length(mode, lens[i]);
        }
    }
}

/* Data units beyond what a message carries, whole and not. */
static void xts_units(void)
{
    static const size_t lens[] = {212976,  212977,  212991, 212992,
                                  425983,  425985,  425999, 851969,
                                  1048571, 1048576, 2097153};

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        one_length(XTS, lens[i]);
    }
}

/* Runs of units: a message each, or several each. */
static void runs(void)
{
    static const struct {
        size_t size, n;
    } shapes[] = {{512, 300}, {4096, 40}, {512 * 1024, 3}};

    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
        const size_t len = shapes[i].size * shapes[i].n;
        g_autofree uint8_t *in = g_malloc(len);
        g_autofree uint8_t *out = g_malloc(len);
        g_autofree uint8_t *want = g_malloc(len);

        fill_seeded(in, len, i);
        for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
            g_autoptr(QCryptoCipher) kernel = cipher("afalg", mode);
            g_autoptr(QCryptoCipher) builtin = cipher("builtin", mode);
            g_autoptr(GError) err = NULL;

            qcrypto_cipher_encrypt_sectors(builtin, NULL, 99, shapes[i].size,
                                           in, want, shapes[i].n, 0, &err);
            alarm(PATIENCE);
            qcrypto_cipher_encrypt_sectors(kernel, NULL, 99, shapes[i].size, in,
                                           out, shapes[i].n, 0, &err);
            g_assert_no_error(err);
            g_assert_cmpmem(out, len, want, len);
            alarm(PATIENCE);
            qcrypto_cipher_decrypt_sectors(kernel, NULL, 99, shapes[i].size,
                                           out, out, shapes[i].n, 0, &err);
            g_assert_no_error(err);
            g_assert_cmpmem(out, len, in, len);
            alarm(0);
        }
    }
}

/* ---- hashes and HMACs ---- */

static void hash_of(const char *from, const uint8_t *msg, size_t len,
                    size_t piece, uint8_t *out)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoHash) h = qcrypto_hash_new_from(from, SHA256, &err);
    size_t n = 32;

    g_assert_no_error(err);
    for (size_t at = 0; at < len; at += piece) {
        qcrypto_hash_update(h, msg + at, MIN(piece, len - at), &err);
        g_assert_no_error(err);
    }
    qcrypto_hash_finalize_bytes(h, &out, &n, &err);
    g_assert_no_error(err);
}

static void hashes(void)
{
    static const size_t lens[] = {0,      1,      63,     64,    65,
                                  4096,   65535,  65536,  65537, 262143,
                                  262144, 262145, 1048576};
    g_autofree uint8_t *msg = g_malloc(1048576);

    fill_seeded(msg, 1048576, 4);
    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        uint8_t want[32], got[32];

        hash_of("builtin", msg, lens[i], 1048576, want);
        alarm(PATIENCE);
        hash_of("afalg", msg, lens[i], 1048576, got);
        g_assert_cmpmem(got, 32, want, 32);
        alarm(PATIENCE);
        hash_of("afalg", msg, lens[i], 30000, got);
        g_assert_cmpmem(got, 32, want, 32);
        alarm(0);
    }
}

static void mac_of(QCryptoHmac *h, const void *msg, size_t len, uint8_t *out)
{
    g_autoptr(GError) err = NULL;
    size_t n = 32;

    qcrypto_hmac_bytes(h, msg, len, &out, &n, &err);
    g_assert_no_error(err);
}

/* The kernel refuses empty keys and, with ENOMEM, those above 20480 bytes. */
static void hmac_keys(void)
{
    static const size_t lens[] = {0,  1,   20,    63,    64,
                                  65, 128, 20480, 20481, 65536};
    g_autofree uint8_t *key = g_malloc(65536);
    uint8_t msg[1000];

    fill_seeded(key, 65536, 5);
    fill_seeded(msg, sizeof(msg), 6);
    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoHmac) kernel =
            qcrypto_hmac_new_from("afalg", SHA256, key, lens[i], &err);
        g_assert_no_error(err);
        g_autoptr(QCryptoHmac) any =
            qcrypto_hmac_new(SHA256, key, lens[i], &err);
        g_assert_no_error(err);
        g_assert_cmpstr(qcrypto_hmac_get_provider(any), !=, "afalg");

        for (size_t len = 0; len <= sizeof(msg); len += 250) {
            uint8_t want[32], got[32];

            mac_of(any, msg, len, want);
            alarm(PATIENCE);
            mac_of(kernel, msg, len, got);
            g_assert_cmpmem(got, 32, want, 32);
            alarm(0);
        }
    }
}

/* ---- random numbers ---- */

static void random_numbers(void)
{
    static const size_t lens[] = {0, 1, 127, 128, 129, 5000};
    uint8_t one[5001], two[5001];

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        g_autoptr(GError) err = NULL;
        const size_t n = lens[i];

        memset(one, 0, sizeof(one));
        memset(two, 0, sizeof(two));
        alarm(PATIENCE);
        qcrypto_random_bytes_from("afalg", one, n, &err);
        qcrypto_random_bytes_from("afalg", two, n, &err);
        g_assert_no_error(err);
        alarm(0);
        g_assert_cmpint(one[n], ==, 0);
        if (n >= 127) {
            g_assert_true(memcmp(one, two, n) != 0);
            /* the end of it was written, in one of two draws */
            g_assert_true(memcmp(one + n - 8, "\0\0\0\0\0\0\0", 8) != 0 ||
                          memcmp(two + n - 8, "\0\0\0\0\0\0\0", 8) != 0);
        }
    }
}

/* ---- forks ---- */

static void assert_child(pid_t pid)
{
    int status;

    g_assert_cmpint(pid, >, 0);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
}

/* Half a message, a fork, and both go on: the child gets an error. */
static void fork_in_hash(void)
{
    g_autoptr(GError) err = NULL;
    uint8_t msg[2000], want[32], got[32], *result = got;
    size_t n = sizeof(got);

    fill_seeded(msg, sizeof(msg), 8);
    hash_of("builtin", msg, sizeof(msg), 1000, want);
    g_autoptr(QCryptoHash) h = qcrypto_hash_new_from("afalg", SHA256, &err);
    g_autoptr(QCryptoHash) fresh = qcrypto_hash_new_from("afalg", SHA256, &err);
    g_assert_no_error(err);
    qcrypto_hash_update(h, msg, 1000, &err);
    g_assert_no_error(err);

    alarm(PATIENCE);
    const pid_t pid = fork();
    if (pid == 0) {
        GError *why = NULL;
        int bad = 0;

        bad |= qcrypto_hash_update(h, msg + 1000, 1000, &why) != -1;
        bad |= !why || !strstr(why->message, "another process");
        qcrypto_hash_free(h);
        /* an object without a message is as good as new */
        bad |= qcrypto_hash_update(fresh, msg, sizeof(msg), NULL) != 0;
        bad |= qcrypto_hash_finalize_bytes(fresh, &result, &n, NULL) != 0;
        bad |= memcmp(got, want, 32) != 0;
        _exit(bad);
    }
    assert_child(pid);
    qcrypto_hash_update(h, msg + 1000, 1000, &err);
    qcrypto_hash_finalize_bytes(h, &result, &n, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(got, 32, want, 32);
    /* and the one that the child used too */
    qcrypto_hash_update(fresh, msg, sizeof(msg), &err);
    qcrypto_hash_finalize_bytes(fresh, &result, &n, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(got, 32, want, 32);
    alarm(0);
}

static int work(QCryptoCipher *c, QCryptoHmac *h, const uint8_t *in,
                const uint8_t *want, const uint8_t *mac)
{
    uint8_t out[4096], got[32], *result = got, iv[16] = {1};
    size_t n = sizeof(got);

    for (int i = 0; i < 200; i++) {
        if (qcrypto_cipher_setiv(c, iv, 16, NULL) < 0 ||
            qcrypto_cipher_encrypt(c, in, out, sizeof(out), NULL) < 0 ||
            memcmp(out, want, sizeof(out)) != 0 ||
            qcrypto_hmac_bytes(h, in, sizeof(out), &result, &n, NULL) < 0 ||
            memcmp(got, mac, 32) != 0) {
            return 1;
        }
    }
    return 0;
}

/* Parent and child at work at once, on objects made before. */
static void fork_in_use(void)
{
    g_autoptr(QCryptoCipher) c = cipher("afalg", CBC);
    g_autoptr(QCryptoCipher) builtin = cipher("builtin", CBC);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoHmac) h =
        qcrypto_hmac_new_from("afalg", SHA256, (const uint8_t *)"key", 3, &err);
    uint8_t in[4096], want[4096], mac[32], iv[16] = {1};

    g_assert_no_error(err);
    fill_seeded(in, sizeof(in), 9);
    cipher_message(builtin, false, iv, 16, in, want, sizeof(in));
    cipher_message(c, false, iv, 16, in, want, sizeof(in));
    mac_of(h, in, sizeof(in), mac);
    alarm(3 * PATIENCE);
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(work(c, h, in, want, mac));
    }
    g_assert_cmpint(work(c, h, in, want, mac), ==, 0);
    assert_child(pid);
    alarm(0);
}

/* ---- many in flight ---- */

typedef struct Request {
    uint8_t *in, *out;
    size_t len;
    uint8_t iv[16];
    int calls;
} Request;

static void done(const GError *error, void *opaque)
{
    Request *r = opaque;

    g_assert_no_error(error);
    r->calls++;
}

static void in_flight(const void *opaque)
{
    enum { REQUESTS = 128 };
    static const size_t lens[] = {512, 16, 4096, 65536, 524288, 1008};
    const unsigned depth = GPOINTER_TO_UINT(opaque);
    const QCryptoAsyncOptions options = {depth, 2};

    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoCipher) kernel = cipher("afalg", mode);
        g_autoptr(QCryptoCipher) builtin = cipher("builtin", mode);
        g_autoptr(QCryptoAsync) a = qcrypto_async_new(&options, &err);
        g_autofree Request *r = g_new0(Request, REQUESTS);
        const size_t niv = mode == ECB ? 0 : 16;

        g_assert_no_error(err);
        alarm(3 * PATIENCE);
        for (int i = 0; i < REQUESTS; i++) {
            const bool dec = i % 2;

            r[i].len = lens[i % (i < 24 ? 6 : 3)];
            r[i].in = g_malloc(r[i].len);
            r[i].out = i % 3 ? g_malloc(r[i].len) : r[i].in;
            fill_seeded(r[i].in, r[i].len, i);
            fill_seeded(r[i].iv, 16, 1000 + i);
            while ((dec ? qcrypto_async_decrypt : qcrypto_async_encrypt)(
                       a, kernel, r[i].iv, niv, r[i].in, r[i].out, r[i].len,
                       done, &r[i], &err) < 0) {
                g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BUSY);
                g_clear_error(&err);
                g_assert_cmpuint(qcrypto_async_pending(a), ==, depth);
                g_assert_cmpint(qcrypto_async_poll(a, 1, -1, NULL), >=, 1);
            }
        }
        g_assert_cmpint(qcrypto_async_poll(a, REQUESTS, -1, &err), >=, 0);
        alarm(0);
        for (int i = 0; i < REQUESTS; i++) {
            g_autofree uint8_t *want = g_malloc(r[i].len);

            g_assert_cmpint(r[i].calls, ==, 1);
            fill_seeded(want, r[i].len, i);
            cipher_message(builtin, i % 2, r[i].iv, niv, want, want, r[i].len);
            g_assert_cmpmem(r[i].out, r[i].len, want, r[i].len);
            if (r[i].out != r[i].in) {
                g_free(r[i].out);
            }
            g_free(r[i].in);
        }
    }
}

static void sectors_in_flight(void)
{
    enum { RUNS = 8, N = 50 };
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) kernel = cipher("afalg", XTS);
    g_autoptr(QCryptoCipher) builtin = cipher("builtin", XTS);
    g_autoptr(QCryptoAsync) a = qcrypto_async_new(NULL, &err);
    g_autofree uint8_t *buf = g_malloc(RUNS * N * 512);
    g_autofree uint8_t *want = g_malloc(RUNS * N * 512);
    Request r[RUNS] = {{0}};

    g_assert_no_error(err);
    fill_seeded(buf, RUNS * N * 512, 1);
    qcrypto_cipher_encrypt_sectors(builtin, NULL, 0, 512, buf, want, RUNS * N,
                                   0, &err);
    alarm(PATIENCE);
    for (int i = 0; i < RUNS; i++) {
        uint8_t *run = buf + i * N * 512;

        qcrypto_async_encrypt_sectors(a, kernel, NULL, i * N, 512, run, run, N,
                                      0, done, &r[i], &err);
        g_assert_no_error(err);
    }
    g_assert_cmpint(qcrypto_async_poll(a, RUNS, -1, &err), ==, RUNS);
    g_assert_cmpmem(buf, RUNS * N * 512, want, RUNS * N * 512);
    alarm(0);
}

/* ---- drivers ---- */

static void drivers(void)
{
    g_autoptr(QCryptoCipher) any = cipher("afalg", XTS);
    g_autoptr(QCryptoCipher) cbc = cipher("afalg", CBC);
    g_autofree char *name =
        g_strconcat("afalg:", qcrypto_cipher_get_impl(any), NULL);
    g_autofree char *other =
        g_strconcat("afalg:", qcrypto_cipher_get_impl(cbc), NULL);
    g_autoptr(QCryptoCipher) same = cipher(name, XTS);
    g_autoptr(GError) err = NULL;
    uint8_t key[64] = {1}, in[512] = {2}, want[512], got[512], iv[16] = {3};

    g_test_message("xts(aes): %s, cbc(aes): %s", name, other);
    g_assert_cmpstr(qcrypto_cipher_get_provider(same), ==, "afalg");
    g_assert_cmpstr(qcrypto_cipher_get_impl(same), ==,
                    qcrypto_cipher_get_impl(any));
    cipher_message(any, false, iv, 16, in, want, sizeof(in));
    cipher_message(same, false, iv, 16, in, got, sizeof(in));
    g_assert_cmpmem(got, sizeof(got), want, sizeof(want));

    /* a driver of something else, and none */
    g_assert_null(qcrypto_cipher_new_from(other, AES_256, XTS, key, 64, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(err->message, "cbc(aes)"));
    g_clear_error(&err);
    g_assert_null(qcrypto_cipher_new_from("afalg:no-such-driver", AES_256, XTS,
                                          key, 64, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(err->message, "no-such-driver"));
}

/* In no order but one that names it. */
static void opt_in(void)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *order = qcrypto_providers_get_order(&err);
    uint8_t key[32] = {0};

    g_assert_no_error(err);
    g_assert_null(strstr(order, "afalg"));
    qcrypto_providers_set_order("afalg,...", &err);
    g_assert_no_error(err);
    g_autoptr(QCryptoCipher) c =
        qcrypto_cipher_new(AES_256, CBC, key, 32, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_cipher_get_provider(c), ==, "afalg");
    /* what it has not falls to the next */
    g_assert_true(qcrypto_pbkdf2_supports(SHA256));
    qcrypto_providers_set_order(NULL, &err);
    g_assert_no_error(err);
}

typedef struct Case {
    const char *path;
    void (*run)(void);
    void (*run_with)(const void *);
    const void *data;
} Case;

static const Case cases[] = {
    {"/afalg/lengths/ecb", NULL, lengths, GINT_TO_POINTER(ECB)},
    {"/afalg/lengths/cbc", NULL, lengths, GINT_TO_POINTER(CBC)},
    {"/afalg/lengths/ctr", NULL, lengths, GINT_TO_POINTER(CTR)},
    {"/afalg/lengths/xts", NULL, lengths, GINT_TO_POINTER(XTS)},
    {"/afalg/xts-units", xts_units, NULL, NULL},
    {"/afalg/runs", runs, NULL, NULL},
    {"/afalg/hashes", hashes, NULL, NULL},
    {"/afalg/hmac-keys", hmac_keys, NULL, NULL},
    {"/afalg/random", random_numbers, NULL, NULL},
    {"/afalg/fork/hash", fork_in_hash, NULL, NULL},
    {"/afalg/fork/in-use", fork_in_use, NULL, NULL},
    {"/afalg/in-flight/1", NULL, in_flight, GINT_TO_POINTER(1)},
    {"/afalg/in-flight/8", NULL, in_flight, GINT_TO_POINTER(8)},
    {"/afalg/in-flight/64", NULL, in_flight, GINT_TO_POINTER(64)},
    {"/afalg/in-flight/sectors", sectors_in_flight, NULL, NULL},
    {"/afalg/drivers", drivers, NULL, NULL},
    {"/afalg/opt-in", opt_in, NULL, NULL},
};

static void run_case(const void *opaque)
{
    const Case *c = opaque;
    const char *why = missing();

    if (why && getenv("QCRYPTO_TEST_AFALG")) {
        g_test_fail_printf("here it must be: %s", why);
    } else if (why) {
        g_test_skip(why);
    } else if (c->run) {
        c->run();
    } else {
        c->run_with(c->data);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_add_data_func(cases[i].path, &cases[i], run_case);
    }
    return g_test_run();
}
