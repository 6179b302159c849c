/*
 * The AF_ALG backend against a kernel that does what healthy ones never do
 *
 * Whatever the kernel does, at whichever call: the bytes are right, or there
 * is an error that says what went wrong; no descriptor is left over, and the
 * object goes on when the kernel has come to itself again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <qcrypto/qcrypto.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake-kernel.h"
#include "rows.h"

#include "crypto/base/cpu.h"
#include "crypto/core/cipher.h"
#include "crypto/core/providers.h"

#define AES_256 QCRYPTO_CIPHER_ALGO_AES_256
#define ECB     QCRYPTO_CIPHER_MODE_ECB
#define CBC     QCRYPTO_CIPHER_MODE_CBC
#define CTR     QCRYPTO_CIPHER_MODE_CTR
#define XTS     QCRYPTO_CIPHER_MODE_XTS
#define SHA256  QCRYPTO_HASH_ALGO_SHA256

/* how long this kernel's silence is borne */
#define TIMEOUT_MS 30

#define KEY_SEED 41

/* what a kernel lists, with what must not mislead */
static const char drivers_text[] = "name         : xts(aes)\n"
                                   "driver       : slow-xts\n"
                                   "priority     : 100\n"
                                   "internal     : no\n"
                                   "type         : skcipher\n"
                                   "\n"
                                   "name         : xts(aes)\n"
                                   "driver       : fast-xts\n"
                                   "priority     : 401\n"
                                   "internal     : no\n"
                                   "type         : skcipher\n"
                                   "\n"
                                   "name         : xts(aes)\n"
                                   "driver       : __hidden\n"
                                   "priority     : 900\n"
                                   "internal     : yes\n"
                                   "type         : skcipher\n"
                                   "\n"
                                   "name         : xts(aes)\n"
                                   "driver       : wrong-sort\n"
                                   "priority     : 900\n"
                                   "type         : aead\n"
                                   "\n"
                                   "nonsense\n: : :\n"
                                   "\n"
                                   "name         : cbc(aes)\n"
                                   "driver       : fast-cbc\n"
                                   "priority     : 5\n"
                                   "type         : lskcipher\n"
                                   "\n"
                                   "name         : sha256\n"
                                   "driver       : sha256-quick\n"
                                   "priority     : 5\n"
                                   "type         : shash";

static char *drivers_file;

/* A healthy kernel, and a library that has seen nothing of it yet. */
static void begin(void)
{
    fake_kernel_reset();
    qcrypto_afalg_sys = fake_kernel_sys(drivers_file, TIMEOUT_MS);
    qcrypto_select_set_table(qcrypto_provider_table,
                             qcrypto_provider_table_len);
    /* the kernel answers by builtin, also while a row of its own is tested, and
     * tests of rows do not nest */
    for (int alg = 0; alg <= AES_256; alg++) {
        for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
            g_assert_nonnull(qcrypto_select_named(
                "builtin", QCRYPTO_KIND_CIPHER, alg, mode, NULL));
        }
    }
    g_assert_nonnull(
        qcrypto_select_named("builtin", QCRYPTO_KIND_HASH, SHA256, -1, NULL));
    g_assert_nonnull(
        qcrypto_select_named("builtin", QCRYPTO_KIND_HMAC, SHA256, -1, NULL));
}

static QCryptoCipher *cipher(const char *from, QCryptoCipherMode mode)
{
    g_autoptr(GError) err = NULL;
    uint8_t key[64];

    fill_seeded(key, sizeof(key), KEY_SEED);
    QCryptoCipher *c = qcrypto_cipher_new_from(from, AES_256, mode, key,
                                               mode == XTS ? 64 : 32, &err);
    g_assert_no_error(err);
    return c;
}

/* One message: 0 and the right bytes, or -1 and an error. */
static int try_message(QCryptoCipher *c, bool decrypt, size_t len,
                       GError **errp)
{
    const QCryptoCipherMode mode = qcrypto_cipher_get_mode(c);
    g_autoptr(QCryptoCipher) builtin = cipher("builtin", mode);
    const size_t niv = mode == ECB ? 0 : 16;
    g_autofree uint8_t *in = g_malloc(len);
    g_autofree uint8_t *out = g_malloc(len);
    g_autofree uint8_t *want = g_malloc(len);
    uint8_t iv[16];

    memset(iv, 0xff, sizeof(iv));
    fill_seeded(in, len, len);
    cipher_message(builtin, decrypt, iv, niv, in, want, len);
    /* every other one in place */
    if (len / 16 % 2) {
        memcpy(out, in, len);
    }
    g_assert_cmpint(qcrypto_cipher_setiv(c, iv, niv, NULL), ==, 0);
    const int ret = (decrypt ? qcrypto_cipher_decrypt : qcrypto_cipher_encrypt)(
        c, len / 16 % 2 ? out : in, out, len, errp);
    if (ret == 0) {
        g_assert_cmpmem(out, len, want, len);
    }
    return ret;
}

static void message(QCryptoCipher *c, size_t len)
{
    for (int decrypt = 0; decrypt < 2; decrypt++) {
        g_autoptr(GError) err = NULL;

        g_assert_cmpint(try_message(c, decrypt, len, &err), ==, 0);
        g_assert_no_error(err);
    }
}

static void assert_says(GError **err, int kind, const char *text)
{
    g_assert_error(*err, QCRYPTO_ERROR, kind);
    if (!strstr((*err)->message, text)) {
        g_error("'%s' does not say '%s'", (*err)->message, text);
    }
    g_clear_error(err);
}

/* ---- a healthy kernel, with buffers of any size ---- */

static void healthy(void)
{
    static const int buffers[] = {0, 4608, 8192, 212992, 1 << 20};
    static const size_t lens[] = {16,    32,     4096,   4112,  8208,
                                  65536, 212992, 300000, 300016};

    for (size_t b = 0; b < G_N_ELEMENTS(buffers); b++) {
        for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
            begin();
            fake_kernel.sndbuf = fake_kernel.rcvbuf = buffers[b];
            g_autoptr(QCryptoCipher) c = cipher("afalg", mode);

            for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
                message(c, lens[i]);
                if (mode == CTR || mode == XTS) {
                    message(c, lens[i] + 1);
                    message(c, lens[i] + 15);
                }
            }
        }
    }
}

/* A unit that fits is one message; one that does not goes on by its tweak. */
static void xts_units(void)
{
    begin();
    g_autoptr(QCryptoCipher) c = cipher("afalg", XTS);
    g_autoptr(GError) err = NULL;

    fake_kernel_reset();
    message(c, 204801);
    g_assert_cmpuint(fake_kernel.xts_messages, ==, 2);
    g_assert_cmpuint(fake_kernel.ecb_messages, ==, 0);
    fake_kernel_reset();
    message(c, 3 * 208896 - 5);
    g_assert_cmpuint(fake_kernel.xts_messages, ==, 2 * 3);
    /* the tweak, and the IV of the second and the third piece */
    g_assert_cmpuint(fake_kernel.ecb_messages, ==, 2 * 3);
    /* stealing has a whole block before the part */
    message(c, 208896 + 3);
    message(c, 2 * 208896 + 15);

    fake_kernel.no_ecb = true;
    g_assert_cmpint(try_message(c, false, 300000, &err), ==, -1);
    assert_says(
        &err, QCRYPTO_ERROR_UNSUPPORTED,
        "xts(aes): a unit of 300000 bytes, above the 208896 of a message: "
        "ecb(aes)");
    message(c, 4096);
}

/* ---- what is not there ---- */

static void absent(void)
{
    static const struct {
        int errnum;
        const char *text;
    } ways[] = {
        {EAFNOSUPPORT, "not supported by this kernel (EAFNOSUPPORT)"},
        {EPERM, "policy of this system forbids AF_ALG sockets (EPERM)"},
        {EACCES, "policy of this system forbids AF_ALG sockets (EACCES)"},
        {EMFILE, "too many open files (EMFILE)"},
        {ENOBUFS, "AF_ALG: socket:"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autoptr(GError) err = NULL;
        uint8_t key[32] = {0};
        size_t n;

        begin();
        fake_kernel.fail_call = FAKE_SOCKET;
        fake_kernel.fail_at = 1;
        fake_kernel.fail_times = G_MAXINT / 2;
        fake_kernel.fail_errno = ways[i].errnum;
        g_assert_null(
            qcrypto_cipher_new_from("afalg", AES_256, CBC, key, 32, &err));
        assert_says(&err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, ways[i].text);

        const QCryptoProviderInfo *list = qcrypto_providers_list(&n);
        for (size_t k = 0; k < n; k++) {
            if (!strcmp(list[k].name, "afalg")) {
                g_assert_false(list[k].available);
                g_assert_true(list[k].opt_in);
                g_assert_nonnull(strstr(list[k].reason, ways[i].text));
            }
        }
        /* nobody else minds, the one who comes next included */
        qcrypto_providers_set_order("afalg,...", &err);
        g_assert_no_error(err);
        g_autoptr(QCryptoCipher) c =
            qcrypto_cipher_new(AES_256, CBC, key, 32, &err);
        g_assert_no_error(err);
        g_assert_cmpstr(qcrypto_cipher_get_provider(c), !=, "afalg");
        qcrypto_providers_set_order(NULL, NULL);
    }

    /* one algorithm alone */
    begin();
    g_autoptr(GError) err = NULL;
    uint8_t key[24] = {0};
    g_assert_null(qcrypto_cipher_new_from(
        "afalg", QCRYPTO_CIPHER_ALGO_SERPENT_192, CBC, key, 24, &err));
    assert_says(
        &err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
        "cbc(serpent) is not supported: this kernel has no skcipher of this "
        "name (ENOENT)");
}

/* Who does not name the provider asks the kernel for nothing. */
static void unasked(void)
{
    g_autoptr(GError) err = NULL;
    uint8_t key[32] = {0};

    begin();
    g_autoptr(QCryptoCipher) c =
        qcrypto_cipher_new(AES_256, CBC, key, 32, &err);
    g_assert_no_error(err);
    g_assert_nonnull(c);
    g_assert_true(qcrypto_hash_supports(SHA256));
    qcrypto_providers_set_order("builtin,...", &err);
    qcrypto_providers_set_order(NULL, &err);
    g_assert_no_error(err);
    g_assert_cmpint(fake_kernel.calls, ==, 0);
}

static void refused_key(void)
{
    g_autoptr(GError) err = NULL;
    uint8_t key[32] = {0};

    begin();
    qcrypto_cipher_free(cipher("afalg", CBC));
    const int open = fake_kernel.open;
    fake_kernel.fail_call = FAKE_SETSOCKOPT;
    fake_kernel.calls = 0;
    fake_kernel.fail_at = 1;
    fake_kernel.fail_errno = EINVAL;
    g_assert_null(
        qcrypto_cipher_new_from("afalg", AES_256, CBC, key, 32, &err));
    assert_says(&err, QCRYPTO_ERROR_UNSUPPORTED,
                "refuses a key of these 32 bytes");
    g_assert_cmpint(fake_kernel.open, ==, open);
    /* the next row serves */
    qcrypto_providers_set_order("afalg,...", &err);
    fake_kernel.calls = 0;
    g_autoptr(QCryptoCipher) c =
        qcrypto_cipher_new(AES_256, CBC, key, 32, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_cipher_get_provider(c), !=, "afalg");
    qcrypto_providers_set_order(NULL, NULL);
}

/* ---- an error at every call ---- */

/* Everything that a program does with the backend; 0, or -1 and an error. */
static int use_all(GError **errp)
{
    uint8_t key[64];
    g_autofree uint8_t *buf = g_malloc0(230000);
    uint8_t digest[32], *result = digest;
    size_t n = sizeof(digest);

    fill_seeded(key, sizeof(key), KEY_SEED);
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        g_autoptr(QCryptoCipher) c = qcrypto_cipher_new_from(
            "afalg", AES_256, mode, key, mode == XTS ? 64 : 32, errp);

        if (!c || try_message(c, true, 230000, errp) < 0) {
            return -1;
        }
    }
    g_autoptr(QCryptoHash) h = qcrypto_hash_new_from("afalg", SHA256, errp);
    if (!h || qcrypto_hash_update(h, buf, 230000, errp) < 0 ||
        qcrypto_hash_finalize_bytes(h, &result, &n, errp) < 0) {
        return -1;
    }
    g_autoptr(QCryptoHmac) m =
        qcrypto_hmac_new_from("afalg", SHA256, buf, 100, errp);
    if (!m || qcrypto_hmac_bytes(m, buf, 1000, &result, &n, errp) < 0) {
        return -1;
    }
    return 0;
}

static void errors(const void *opaque)
{
    const int errnum = GPOINTER_TO_INT(opaque);
    const bool harmless = errnum == EINTR || errnum == EAGAIN;
    g_autoptr(GError) err = NULL;

    begin();
    g_assert_cmpint(use_all(&err), ==, 0);
    g_assert_no_error(err);
    fake_kernel_reset();
    g_assert_cmpint(use_all(&err), ==, 0);
    const int calls = fake_kernel.calls;
    const int open = fake_kernel.open;

    g_assert_cmpint(calls, >, 40);
    for (int at = 1; at <= calls; at++) {
        fake_kernel_reset();
        fake_kernel.fail_at = at;
        fake_kernel.fail_errno = errnum;
        const int ret = use_all(&err);

        g_assert_cmpint(fake_kernel.calls, >=, at);
        g_assert_cmpint(ret, ==, err ? -1 : 0);
        g_clear_error(&err);
        g_assert_cmpint(fake_kernel.open, ==, open);
    }
    /* asked for only while a message passes, these never fail a request */
    for (int call = FAKE_SENDMSG; harmless && call <= FAKE_RECVMSG; call++) {
        for (int at = 1;; at++) {
            fake_kernel_reset();
            fake_kernel.fail_call = (FakeCall)call;
            fake_kernel.fail_at = at;
            fake_kernel.fail_times = 3;
            fake_kernel.fail_errno = errnum;
            g_assert_cmpint(use_all(&err), ==, 0);
            g_assert_no_error(err);
            if (fake_kernel.calls < at) {
                break;
            }
        }
    }
}

/* An object lives on after an error. */
static void recovers(void)
{
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        begin();
        g_autoptr(QCryptoCipher) c = cipher("afalg", mode);
        const int open = fake_kernel.open;

        for (int call = FAKE_SENDMSG; call <= FAKE_RECVMSG; call++) {
            g_autoptr(GError) err = NULL;

            fake_kernel_reset();
            fake_kernel.fail_call = (FakeCall)call;
            fake_kernel.fail_at = 2;
            fake_kernel.fail_errno = EIO;
            g_assert_cmpint(try_message(c, false, 500000, &err), ==, -1);
            assert_says(&err, QCRYPTO_ERROR_IO,
                        call == FAKE_SENDMSG ? "AF_ALG: send:"
                                             : "AF_ALG: receive:");
            fake_kernel_reset();
            message(c, 500000);
            g_assert_cmpint(fake_kernel.open, ==, open);
        }
    }
}

/* ---- short, long and no answers ---- */

static void short_sends(void)
{
    static const size_t taken[] = {1, 15, 16, 31, 32, 33, 4096, 4097, 100000};

    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        begin();
        g_autoptr(QCryptoCipher) c = cipher("afalg", mode);

        for (size_t i = 0; i < G_N_ELEMENTS(taken); i++) {
            for (int decrypt = 0; decrypt < 2; decrypt++) {
                g_autoptr(GError) err = NULL;

                fake_kernel_reset();
                fake_kernel.send_at_most = taken[i];
                const int ret = try_message(c, decrypt, 230000, &err);

                if (taken[i] < 32) {
                    g_assert_cmpint(ret, ==, -1);
                    assert_says(&err, QCRYPTO_ERROR_UNSUPPORTED,
                                "the kernel took");
                } else {
                    g_assert_no_error(err);
                    g_assert_cmpint(ret, ==, 0);
                }
                g_assert_cmpuint(fake_kernel.send_at_most, ==, 0);
            }
        }
    }
}

static void short_reads(void)
{
    static const size_t given[] = {1, 7, 16, 1000, 4095};

    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        begin();
        g_autoptr(QCryptoCipher) c = cipher("afalg", mode);

        for (size_t i = 0; i < G_N_ELEMENTS(given); i++) {
            g_autoptr(GError) err = NULL;

            fake_kernel_reset();
            fake_kernel.recv_at_most = given[i];
            if (mode == XTS) {
                /* the rest of a real one would have the unit's first tweak */
                g_assert_cmpint(try_message(c, false, 4096, &err), ==, -1);
                assert_says(&err, QCRYPTO_ERROR_IO, "less than the 4096 bytes");
            } else {
                message(c, 4096);
            }
        }
    }
}

static void silence(void)
{
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        g_autoptr(GError) err = NULL;

        begin();
        g_autoptr(QCryptoCipher) c = cipher("afalg", mode);
        fake_kernel.silent = true;
        g_assert_cmpint(try_message(c, false, 4096, &err), ==, -1);
        assert_says(&err, QCRYPTO_ERROR_IO, "receive: no answer in 30 ms");

        /* and one that has no room, ever */
        fake_kernel_reset();
        fake_kernel.silent = true;
        fake_kernel.fail_call = FAKE_RECVMSG;
        fake_kernel.fail_at = 1;
        fake_kernel.fail_times = G_MAXINT / 2;
        fake_kernel.fail_errno = EAGAIN;
        g_assert_cmpint(try_message(c, false, 4096, &err), ==, -1);
        assert_says(&err, QCRYPTO_ERROR_IO, "no answer");

        fake_kernel_reset();
        fake_kernel.hang_up = true;
        g_assert_cmpint(try_message(c, false, 4096, &err), ==, -1);
        assert_says(&err, QCRYPTO_ERROR_IO, "less than the 4096 bytes");

        fake_kernel_reset();
        fake_kernel.answer_less = 1;
        g_assert_cmpint(try_message(c, false, 4096, &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);

        fake_kernel_reset();
        message(c, 4096);
    }
}

static void wrong_digests(void)
{
    for (int mac = 0; mac < 2; mac++) {
        for (int what = 0; what < 4; what++) {
            g_autoptr(GError) err = NULL;
            uint8_t digest[32] = {7}, *result = digest;
            size_t n = sizeof(digest);
            int ret;

            begin();
            g_autoptr(QCryptoHash) h =
                qcrypto_hash_new_from("afalg", SHA256, &err);
            g_autoptr(QCryptoHmac) m =
                qcrypto_hmac_new_from("afalg", SHA256, digest, 32, &err);
            g_assert_no_error(err);
            fake_kernel.answer_more = what == 0 ? 5 : 0;
            fake_kernel.answer_less = what == 1 ? 5 : 0;
            fake_kernel.silent = what == 2;
            fake_kernel.hang_up = what == 3;
            if (mac) {
                ret = qcrypto_hmac_bytes(m, "abc", 3, &result, &n, &err);
            } else {
                qcrypto_hash_update(h, "abc", 3, NULL);
                ret = qcrypto_hash_finalize_bytes(h, &result, &n, &err);
            }
            g_assert_cmpint(ret, ==, -1);
            assert_says(&err, QCRYPTO_ERROR_IO, "AF_ALG: receive:");
            /* nothing was written */
            g_assert_cmpint(digest[0], ==, 7);
            g_assert_cmpint(digest[1], ==, 0);
        }
    }
}

/* ---- digests ---- */

/* Keys of every length come to the kernel as one block (it asserts that). */
static void hmac_keys(void)
{
    static const size_t lens[] = {0, 1, 63, 64, 65, 20481, 65536};
    g_autofree uint8_t *key = g_malloc(65536);

    fill_seeded(key, 65536, 1);
    begin();
    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoHmac) kernel =
            qcrypto_hmac_new_from("afalg", SHA256, key, lens[i], &err);
        g_autoptr(QCryptoHmac) builtin =
            qcrypto_hmac_new_from("builtin", SHA256, key, lens[i], &err);

        g_assert_no_error(err);
        for (int round = 0; round < 2; round++) {
            g_autofree char *got = NULL, *want = NULL;

            qcrypto_hmac_digest(kernel, key, 1000u * round, &got, &err);
            qcrypto_hmac_digest(builtin, key, 1000u * round, &want, &err);
            g_assert_no_error(err);
            g_assert_cmpstr(got, ==, want);
        }
    }
}

/* The child of a fork takes sockets of its own (the kernel asserts that). */
static void forked(void)
{
    begin();
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) c = cipher("afalg", CBC);
    g_autoptr(QCryptoHash) begun = qcrypto_hash_new_from("afalg", SHA256, &err);
    g_autoptr(QCryptoHash) fresh = qcrypto_hash_new_from("afalg", SHA256, &err);
    int status;

    qcrypto_hash_update(begun, "abc", 3, &err);
    g_assert_no_error(err);
    const pid_t pid = fork();
    if (pid == 0) {
        g_autofree char *hex = NULL;

        message(c, 4096);
        g_assert_cmpint(qcrypto_hash_update(begun, "def", 3, &err), ==, -1);
        assert_says(&err, QCRYPTO_ERROR_INVALID_ARGUMENT, "another process");
        g_assert_cmpint(qcrypto_hash_update(fresh, "abc", 3, &err), ==, 0);
        g_assert_cmpint(qcrypto_hash_finalize_digest(fresh, &hex, &err), ==, 0);
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    message(c, 4096);
}

/* ---- drivers ---- */

static void drivers(void)
{
    g_autoptr(GError) err = NULL;
    uint8_t key[64] = {0};

    begin();
    g_autoptr(QCryptoCipher) c = cipher("afalg", XTS);
    g_assert_cmpstr(qcrypto_cipher_get_impl(c), ==, "fast-xts");
    g_autoptr(QCryptoCipher) named = cipher("afalg:fast-xts", XTS);
    g_assert_cmpstr(qcrypto_cipher_get_impl(named), ==, "fast-xts");
    message(named, 1000);
    /* the list does not know it: what the row is called, which is another one
     * on a CPU without AES instructions */
    g_autoptr(QCryptoCipher) ctr = cipher("afalg", CTR);
    g_assert_cmpstr(qcrypto_cipher_get_impl(ctr), ==,
                    qcrypto_cpu_features() & QCRYPTO_CPU_AES ? "kernel"
                                                             : "kernel-anycpu");
    g_autoptr(QCryptoHash) h = qcrypto_hash_new_from("afalg", SHA256, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_hash_get_impl(h), ==, "sha256-quick");

    g_assert_null(
        qcrypto_cipher_new_from("afalg:fast-cbc", AES_256, XTS, key, 64, &err));
    assert_says(&err, QCRYPTO_ERROR_UNSUPPORTED,
                "the driver fast-cbc is one of cbc(aes)");
    g_assert_null(
        qcrypto_cipher_new_from("afalg:slow-xts", AES_256, XTS, key, 64, &err));
    assert_says(&err, QCRYPTO_ERROR_UNSUPPORTED, "slow-xts");
    g_assert_null(
        qcrypto_cipher_new_from("afalg:a-name-that-is-longer-than-sixty-three-"
                                "bytes-and-would-be-cut-off",
                                AES_256, XTS, key, 64, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_clear_error(&err);

    /* without the list the self-test tells: this one does CBC */
    qcrypto_afalg_sys = fake_kernel_sys("/nonexistent", TIMEOUT_MS);
    g_assert_null(
        qcrypto_cipher_new_from("afalg:fast-cbc", AES_256, CTR, key, 32, &err));
    assert_says(&err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "receive: Invalid");

    /* those that were asked for are rows from then on */
    size_t n, found = 0;
    QCryptoRowInfo *rows = qcrypto_rows_list(&n, &err);
    g_assert_no_error(err);
    for (size_t i = 0; i < n; i++) {
        found += !strcmp(rows[i].provider, "afalg") && rows[i].usable &&
                 rows[i].alg_id == AES_256 && !strcmp(rows[i].impl, "fast-xts");
    }
    qcrypto_rows_free(rows, n);
    /* the one in use, with and without AES instructions, and the named one */
    g_assert_cmpuint(found, >=, 2);
}

/* ---- many in flight ---- */

typedef struct Request {
    uint8_t *in, *out;
    size_t len;
    uint8_t iv[16];
    int calls;
    char *error;
} Request;

static void done(const GError *error, void *opaque)
{
    Request *r = opaque;

    r->calls++;
    r->error = error ? g_strdup(error->message) : NULL;
}

enum { REQUESTS = 24 };

/* REQUESTS of them at once; those without an error are right.  The errors. */
static int in_flight(QCryptoCipherMode mode, const char *text)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) kernel = cipher("afalg", mode);
    g_autoptr(QCryptoCipher) builtin = cipher("builtin", mode);
    QCryptoAsync *a = qcrypto_async_new(NULL, &err);
    const size_t niv = mode == ECB ? 0 : 16;
    Request r[REQUESTS] = {{0}};
    int failed = 0;

    g_assert_no_error(err);
    for (int i = 0; i < REQUESTS; i++) {
        /* some are several messages long */
        r[i].len = i % 8 == 7 ? 500000 - 500000 % 16 : 16 * (size_t)(i + 1);
        r[i].in = g_malloc(r[i].len);
        r[i].out = i % 2 ? r[i].in : g_malloc(r[i].len);
        fill_seeded(r[i].in, r[i].len, i);
        fill_seeded(r[i].iv, 16, 50 + i);
        g_assert_cmpint(qcrypto_async_encrypt(a, kernel, r[i].iv, niv, r[i].in,
                                              r[i].out, r[i].len, done, &r[i],
                                              &err),
                        ==, 0);
        g_assert_no_error(err);
    }
    g_assert_cmpint(qcrypto_async_poll(a, REQUESTS, -1, &err), ==, REQUESTS);
    g_assert_no_error(err);
    for (int i = 0; i < REQUESTS; i++) {
        g_autofree uint8_t *want = g_malloc(r[i].len);

        g_assert_cmpint(r[i].calls, ==, 1);
        fill_seeded(want, r[i].len, i);
        cipher_message(builtin, false, r[i].iv, niv, want, want, r[i].len);
        if (r[i].error) {
            failed++;
            g_assert_nonnull(text);
            g_assert_nonnull(strstr(r[i].error, text));
        } else {
            g_assert_cmpmem(r[i].out, r[i].len, want, r[i].len);
        }
        g_free(r[i].error);
        if (r[i].out != r[i].in) {
            g_free(r[i].out);
        }
        g_free(r[i].in);
    }
    qcrypto_async_free(a);
    return failed;
}

static void aio(void)
{
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        begin();
        /* XTS units that are longer than a message would go to the workers */
        fake_kernel.sndbuf = fake_kernel.rcvbuf =
            mode == XTS ? 1 << 20 : 212992;
        qcrypto_cipher_free(cipher("afalg", mode));
        const int open = fake_kernel.open;

        g_assert_cmpint(in_flight(mode, NULL), ==, 0);
        g_assert_cmpint(fake_kernel.aio_reads, >=, REQUESTS);

        fake_kernel_reset();
        fake_kernel.sndbuf = fake_kernel.rcvbuf = 1 << 20;
        fake_kernel.aio_slow = true;
        g_assert_cmpint(in_flight(mode, NULL), ==, 0);
        g_assert_cmpint(fake_kernel.aio_reads, >=, REQUESTS);

        /* answers in pieces: of XTS, an error */
        fake_kernel_reset();
        fake_kernel.sndbuf = fake_kernel.rcvbuf = 1 << 20;
        fake_kernel.aio_at_most = 96;
        g_assert_cmpint(in_flight(mode, "less than the"), ==,
                        mode == XTS ? REQUESTS - 6 : 0);

        fake_kernel_reset();
        fake_kernel.sndbuf = fake_kernel.rcvbuf = 1 << 20;
        fake_kernel.aio_error = EBADMSG;
        g_assert_cmpint(in_flight(mode, "receive"), ==, REQUESTS);
        g_assert_cmpint(fake_kernel.open, ==, open);
    }
}

/* No AIO, or no room: the workers serve, one at a time in this kernel. */
static void without_aio(void)
{
    static const FakeCall calls[] = {FAKE_IO_SETUP, FAKE_IO_SUBMIT};
    const QCryptoAsyncOptions options = {REQUESTS, 1};

    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        g_autoptr(GError) err = NULL;
        uint8_t buf[4096], want[4096], iv[16] = {9};
        Request r = {0};

        begin();
        g_autoptr(QCryptoCipher) kernel = cipher("afalg", CBC);
        g_autoptr(QCryptoCipher) builtin = cipher("builtin", CBC);
        fake_kernel.fail_call = calls[i];
        fake_kernel.fail_at = 1;
        fake_kernel.fail_times = G_MAXINT / 2;
        fake_kernel.fail_errno = EAGAIN;
        g_autoptr(QCryptoAsync) a = qcrypto_async_new(&options, &err);
        g_assert_no_error(err);
        fill_seeded(buf, sizeof(buf), 1);
        cipher_message(builtin, false, iv, 16, buf, want, sizeof(buf));
        qcrypto_async_encrypt(a, kernel, iv, 16, buf, buf, sizeof(buf), done,
                              &r, &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_async_poll(a, 1, -1, &err), ==, 1);
        g_assert_null(r.error);
        g_assert_cmpmem(buf, sizeof(buf), want, sizeof(want));
        g_assert_cmpint(fake_kernel.aio_reads, ==, 0);
    }
}

int main(int argc, char **argv)
{
    static const int errnos[] = {EIO,    ENOMEM, EINTR, EAGAIN,
                                 EINVAL, EPERM,  ENOENT};
    g_autoptr(GError) err = NULL;

    g_test_init(&argc, &argv, NULL);
    const int fd =
        g_file_open_tmp("qcrypto-drivers-XXXXXX", &drivers_file, &err);
    g_assert_no_error(err);
    close(fd);
    g_file_set_contents(drivers_file, drivers_text, -1, &err);
    g_assert_no_error(err);

    g_test_add_func("/afalg/fake/healthy", healthy);
    g_test_add_func("/afalg/fake/xts-units", xts_units);
    g_test_add_func("/afalg/fake/absent", absent);
    g_test_add_func("/afalg/fake/unasked", unasked);
    g_test_add_func("/afalg/fake/refused-key", refused_key);
    for (size_t i = 0; i < G_N_ELEMENTS(errnos); i++) {
        g_autofree char *path =
            g_strdup_printf("/afalg/fake/errors/%d", errnos[i]);

        g_test_add_data_func(path, GINT_TO_POINTER(errnos[i]), errors);
    }
    g_test_add_func("/afalg/fake/recovers", recovers);
    g_test_add_func("/afalg/fake/short-sends", short_sends);
    g_test_add_func("/afalg/fake/short-reads", short_reads);
    g_test_add_func("/afalg/fake/silence", silence);
    g_test_add_func("/afalg/fake/wrong-digests", wrong_digests);
    g_test_add_func("/afalg/fake/hmac-keys", hmac_keys);
    g_test_add_func("/afalg/fake/forked", forked);
    g_test_add_func("/afalg/fake/drivers", drivers);
    g_test_add_func("/afalg/fake/aio", aio);
    g_test_add_func("/afalg/fake/without-aio", without_aio);
    const int ret = g_test_run();
    g_unlink(drivers_file);
    g_free(drivers_file);
    return ret;
}
