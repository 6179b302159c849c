/*
 * The asynchronous engine
 *
 * The bytes are those of the calls without an engine; every request ends
 * exactly once; the bounds of depth hold; and what overlaps is shown on a
 * device whose latency is known (latency.h), by counting and by lower bounds
 * of time alone, so that a busy machine cannot make a case fail.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <poll.h>
#include <qcrypto/qcrypto.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "latency.h"
#include "rows.h"

#include "crypto/base/error.h"

#define AES_128 QCRYPTO_CIPHER_ALGO_AES_128
#define AES_256 QCRYPTO_CIPHER_ALGO_AES_256
#define MODE(m) QCRYPTO_CIPHER_MODE_##m

enum { MANY = 32 };

static QCryptoAsync *engine(unsigned depth, unsigned threads)
{
    const QCryptoAsyncOptions options = {depth, threads};
    g_autoptr(GError) err = NULL;
    QCryptoAsync *a = qcrypto_async_new(&options, &err);

    g_assert_no_error(err);
    g_assert_nonnull(a);
    return a;
}

/* ---- what a request leaves behind ---- */

typedef struct Seen {
    int calls;
    GError *error; /* a copy */
    GThread *thread;
} Seen;

static void seen(const GError *error, void *opaque)
{
    Seen *s = opaque;

    s->calls++;
    s->error = error ? g_error_copy(error) : NULL;
    s->thread = g_thread_self();
}

static void assert_done(Seen *s)
{
    g_assert_no_error(s->error);
    g_assert_cmpint(s->calls, ==, 1);
    g_assert_true(s->thread == g_thread_self());
}

static void poll_all(QCryptoAsync *a, int want)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_async_poll(a, G_MAXUINT, -1, &err), ==, want);
    g_assert_no_error(err);
    g_assert_cmpuint(qcrypto_async_pending(a), ==, 0);
}

/* A job that ends when it is told to. */
typedef struct Held {
    GMutex lock;
    GCond cond;
    bool go;
    int running;
} Held;

static int held_run(void *arg, GError **errp)
{
    Held *h = arg;

    g_mutex_lock(&h->lock);
    h->running++;
    g_cond_broadcast(&h->cond);
    while (!h->go) {
        g_cond_wait(&h->cond, &h->lock);
    }
    h->running--;
    g_mutex_unlock(&h->lock);
    return 0;
}

static void held_go(Held *h)
{
    g_mutex_lock(&h->lock);
    h->go = true;
    g_cond_broadcast(&h->cond);
    g_mutex_unlock(&h->lock);
}

static void held_wait(Held *h, int n)
{
    g_mutex_lock(&h->lock);
    while (h->running < n) {
        g_cond_wait(&h->cond, &h->lock);
    }
    g_mutex_unlock(&h->lock);
}

static void submit(QCryptoAsync *a, QCryptoAsyncRun *run, void *arg,
                   const void *object, Seen *s)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_async_submit(a, run, arg, object, seen, s, &err),
                    ==, 0);
    g_assert_no_error(err);
}

/* ---- the engine itself ---- */

static void options(void)
{
    const QCryptoAsyncOptions deep = {QCRYPTO_ASYNC_DEPTH_MAX + 1, 0};
    const QCryptoAsyncOptions crowd = {0, 100000};
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_async_new(&deep, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_assert_nonnull(strstr(err->message, "65536"));
    g_clear_error(&err);
    g_assert_null(qcrypto_async_new(&crowd, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);

    g_autoptr(QCryptoAsync) a = qcrypto_async_new(NULL, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(qcrypto_async_depth(a), ==, QCRYPTO_ASYNC_DEPTH);
    g_assert_cmpuint(qcrypto_async_pending(a), ==, 0);
    /* nothing in flight is nothing to wait for */
    g_assert_cmpint(qcrypto_async_poll(a, 1, -1, &err), ==, 0);
    g_assert_no_error(err);
    qcrypto_async_free(NULL);
    g_assert_cmpint(qcrypto_async_poll(NULL, 0, 0, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
}

static void full(void)
{
    g_autoptr(QCryptoAsync) a = engine(3, 2);
    g_autoptr(GError) err = NULL;
    Held held = {.go = false};
    Seen s[4] = {{0}};

    for (int i = 0; i < 3; i++) {
        submit(a, held_run, &held, NULL, &s[i]);
    }
    g_assert_cmpint(
        qcrypto_async_submit(a, held_run, &held, NULL, seen, &s[3], &err), ==,
        -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BUSY);
    g_assert_nonnull(strstr(err->message, "3 requests"));
    g_clear_error(&err);
    g_assert_cmpuint(qcrypto_async_pending(a), ==, 3);

    /* two workers: two at a time, and the time is up for who waits */
    held_wait(&held, 2);
    g_assert_cmpint(qcrypto_async_poll(a, 0, 0, &err), ==, 0);
    const int64_t start = g_get_monotonic_time();
    g_assert_cmpint(qcrypto_async_poll(a, 1, 20, &err), ==, 0);
    g_assert_cmpint(g_get_monotonic_time() - start, >=, 20000);
    g_assert_no_error(err);

    held_go(&held);
    poll_all(a, 3);
    for (int i = 0; i < 3; i++) {
        assert_done(&s[i]);
    }
    g_assert_cmpint(s[3].calls, ==, 0);
    /* and there is room again */
    submit(a, held_run, &held, NULL, &s[3]);
    poll_all(a, 1);
    assert_done(&s[3]);
}

static int fails(void *arg, GError **errp)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_HEADER, "slot 3 is odd");
}

static int fails_silently(void *arg, GError **errp)
{
    return -1;
}

static void failures(void)
{
    g_autoptr(QCryptoAsync) a = engine(4, 1);
    g_autoptr(GError) err = NULL;
    Seen s[2] = {{0}};

    submit(a, fails, NULL, NULL, &s[0]);
    submit(a, fails_silently, NULL, NULL, &s[1]);
    poll_all(a, 2);
    g_assert_error(s[0].error, QCRYPTO_ERROR, QCRYPTO_ERROR_CORRUPT_HEADER);
    g_assert_cmpstr(s[0].error->message, ==, "slot 3 is odd");
    g_assert_error(s[1].error, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    for (int i = 0; i < 2; i++) {
        g_assert_cmpint(s[i].calls, ==, 1);
        g_error_free(s[i].error);
    }
    g_assert_cmpint(qcrypto_async_submit(a, NULL, NULL, NULL, seen, s, &err),
                    ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_async_submit(a, fails, NULL, NULL, NULL, s, &err),
                    ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_assert_cmpuint(qcrypto_async_pending(a), ==, 0);
}

/* A callback submits the next request, until enough were made. */
typedef struct Chain {
    QCryptoAsync *a;
    int left, calls;
} Chain;

static int nothing(void *arg, GError **errp)
{
    return 0;
}

static void chain_next(const GError *error, void *opaque)
{
    Chain *c = opaque;
    g_autoptr(GError) err = NULL;

    g_assert_no_error(error);
    c->calls++;
    if (c->left > 0) {
        c->left--;
        g_assert_cmpint(qcrypto_async_submit(c->a, nothing, NULL, NULL,
                                             chain_next, c, &err),
                        ==, 0);
        /* also from here: then the next callback runs inside this one */
        if (c->left % 7 == 0) {
            g_assert_cmpint(qcrypto_async_poll(c->a, 1, -1, &err), >=, 0);
        }
        g_assert_no_error(err);
    }
}

static void from_callbacks(void)
{
    g_autoptr(QCryptoAsync) a = engine(2, 1);
    Chain c = {a, 100, 0};

    chain_next(NULL, &c);
    chain_next(NULL, &c);
    g_assert_cmpint(qcrypto_async_poll(a, G_MAXUINT, -1, NULL), >=, 0);
    g_assert_cmpint(c.left, ==, 0);
    g_assert_cmpint(c.calls, ==, 102);
}

/* free() waits for everything and calls back */
static void free_drains(void)
{
    QCryptoAsync *a = engine(MANY, 2);
    Held held = {.go = false};
    Seen s[MANY] = {{0}};

    for (int i = 0; i < MANY; i++) {
        submit(a, held_run, &held, NULL, &s[i]);
    }
    held_wait(&held, 2);
    held_go(&held);
    qcrypto_async_free(a);
    for (int i = 0; i < MANY; i++) {
        assert_done(&s[i]);
    }
}

static void event_loop(void)
{
    g_autoptr(QCryptoAsync) a = engine(4, 1);
    g_autoptr(GError) err = NULL;
    Held held = {.go = false};
    Seen s[2] = {{0}};

    for (int round = 0; round < 3; round++) {
        struct pollfd p = {qcrypto_async_get_fd(a, &err), POLLIN, 0};

        g_assert_no_error(err);
        g_assert_cmpint(p.fd, >=, 0);
        held.go = false;
        memset(s, 0, sizeof(s));
        submit(a, held_run, &held, NULL, &s[0]);
        held_wait(&held, 1);
        g_assert_cmpint(poll(&p, 1, 0), ==, 0);
        held_go(&held);
        g_assert_cmpint(poll(&p, 1, -1), ==, 1);
        g_assert_cmpint(qcrypto_async_poll(a, 0, 0, &err), ==, 1);
        assert_done(&s[0]);
        /* silent again once everything is called back */
        g_assert_cmpint(qcrypto_async_poll(a, 0, 0, &err), ==, 0);
        g_assert_cmpint(poll(&p, 1, 0), ==, 0);
    }
}

/* Requests of one object run one after the other, in order. */
typedef struct Ordered {
    int inside; /* atomic */
    int next;
    bool wrong;
} Ordered;

typedef struct OrderedJob {
    Ordered *o;
    int number;
} OrderedJob;

static int ordered_run(void *arg, GError **errp)
{
    OrderedJob *j = arg;

    if (g_atomic_int_add(&j->o->inside, 1) != 0 || j->o->next != j->number) {
        j->o->wrong = true;
    }
    j->o->next++;
    g_thread_yield();
    g_atomic_int_add(&j->o->inside, -1);
    return 0;
}

static void one_object(void)
{
    g_autoptr(QCryptoAsync) a = engine(3 * MANY, 4);
    OrderedJob jobs[3][MANY];
    Ordered o[3] = {{0}};
    Seen s[3 * MANY] = {{0}};

    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < 3; k++) {
            jobs[k][i] = (OrderedJob){&o[k], i};
            submit(a, ordered_run, &jobs[k][i], &o[k], &s[3 * i + k]);
        }
    }
    poll_all(a, 3 * MANY);
    for (int k = 0; k < 3; k++) {
        g_assert_cmpint(o[k].next, ==, MANY);
        g_assert_false(o[k].wrong);
    }
}

/* An object that is at work keeps no other job waiting. */
static void passed_over(void)
{
    g_autoptr(QCryptoAsync) a = engine(4, 2);
    g_autoptr(GError) err = NULL;
    Held held = {.go = false};
    Seen s[3] = {{0}};

    submit(a, held_run, &held, &held, &s[0]);
    submit(a, held_run, &held, &held, &s[1]);
    submit(a, nothing, NULL, NULL, &s[2]);
    g_assert_cmpint(qcrypto_async_poll(a, 1, -1, &err), ==, 1);
    g_assert_no_error(err);
    assert_done(&s[2]);
    held_go(&held);
    poll_all(a, 2);
    assert_done(&s[1]);
}

static void child_of_fork(void)
{
    /* an emulator of processes dies of a thread in the child of a fork; meson
     * tells of one */
    const bool threads = !g_getenv("MESON_EXE_WRAPPER");
    QCryptoAsync *a = engine(4, 1);
    Held held = {.go = false};
    Seen s[2] = {{0}};

    submit(a, held_run, &held, NULL, &s[0]);
    held_wait(&held, 1);
    const pid_t pid = fork();
    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        GError *err = NULL;
        int bad = 0;

        bad |= qcrypto_async_submit(a, nothing, NULL, NULL, seen, &s[1],
                                    &err) != -1;
        bad |= !g_error_matches(err, QCRYPTO_ERROR,
                                QCRYPTO_ERROR_INVALID_ARGUMENT);
        bad |= qcrypto_async_poll(a, 1, -1, NULL) != -1;
        bad |= qcrypto_async_get_fd(a, NULL) != -1;
        bad |= qcrypto_async_pending(a) != 0;
        qcrypto_async_free(a);
        bad |= s[0].calls != 0;
        if (threads) {
            /* one of its own works */
            a = qcrypto_async_new(NULL, NULL);
            bad |= !a || qcrypto_async_submit(a, nothing, NULL, NULL, seen,
                                              &s[1], NULL) != 0;
            qcrypto_async_free(a);
            bad |= s[1].calls != 1;
        }
        _exit(bad);
    }
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_cmpint(status, ==, 0);
    held_go(&held);
    poll_all(a, 1);
    assert_done(&s[0]);
    qcrypto_async_free(a);
    if (!threads) {
        g_test_skip("no engine of the child's own: no threads in children "
                    "here (an emulator of processes)");
    }
}

/* ---- the requests ---- */

static QCryptoCipher *cipher(const char *from, QCryptoCipherAlgo alg,
                             QCryptoCipherMode mode)
{
    const size_t nkey = qcrypto_cipher_get_key_len(alg) *
                        (mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    g_autoptr(GError) err = NULL;
    uint8_t key[64];

    fill_seeded(key, sizeof(key), 7);
    QCryptoCipher *c =
        from ? qcrypto_cipher_new_from(from, alg, mode, key, nkey, &err)
             : qcrypto_cipher_new(alg, mode, key, nkey, &err);
    g_assert_no_error(err);
    return c;
}

/* Many messages of unlike length in flight on one object, some in place. */
static void messages_on(QCryptoAsync *a, QCryptoCipher *c,
                        QCryptoCipherMode mode)
{
    const size_t niv = mode == MODE(ECB) ? 0 : 16;
    const size_t most = 16 * MANY + 7;
    g_autofree uint8_t *in = g_malloc(MANY * most);
    g_autofree uint8_t *out = g_malloc(MANY * most);
    g_autofree uint8_t *want = g_malloc(MANY * most);
    uint8_t ivs[MANY][16];
    Seen s[MANY] = {{0}};

    for (int dec = 0; dec < 2; dec++) {
        fill_seeded(in, MANY * most, 3);
        for (int i = 0; i < MANY; i++) {
            g_autoptr(GError) err = NULL;
            const size_t len =
                16 * (size_t)(i + 1) +
                (mode == MODE(XTS) || mode == MODE(CTR) ? i % 8 : 0);
            uint8_t *from = in + most * i;
            uint8_t *to = i % 2 ? from : out + most * i;

            fill_seeded(ivs[i], 16, 100 + i);
            cipher_message(c, dec, ivs[i], niv, from, want + most * i, len);
            memset(&s[i], 0, sizeof(s[i]));
            g_assert_cmpint(
                (dec ? qcrypto_async_decrypt : qcrypto_async_encrypt)(
                    a, c, ivs[i], niv, from, to, len, seen, &s[i], &err),
                ==, 0);
            g_assert_no_error(err);
            /* it was copied */
            memset(ivs[i], 0xee, 16);
        }
        poll_all(a, MANY);
        for (int i = 0; i < MANY; i++) {
            const size_t len =
                16 * (size_t)(i + 1) +
                (mode == MODE(XTS) || mode == MODE(CTR) ? i % 8 : 0);

            assert_done(&s[i]);
            g_assert_cmpmem((i % 2 ? in : out) + most * i, len, want + most * i,
                            len);
        }
    }
}

static void messages(void)
{
    g_autoptr(QCryptoAsync) a = engine(MANY, 3);

    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        g_autoptr(QCryptoCipher) c = cipher(NULL, AES_256, mode);

        messages_on(a, c, mode);
    }
}

static void sectors_on(QCryptoAsync *a, QCryptoCipher *c,
                       const QCryptoIVGen *ivgen)
{
    enum { N = 200, SIZE = 1024 };
    g_autofree uint8_t *in = g_malloc(N * SIZE);
    g_autofree uint8_t *want = g_malloc(N * SIZE);
    g_autofree uint8_t *out = g_malloc(N * SIZE);

    fill_seeded(in, N * SIZE, 5);
    for (unsigned flags = 0; flags < 2; flags++) {
        g_autoptr(GError) err = NULL;
        Seen s[2] = {{0}};

        qcrypto_cipher_encrypt_sectors(c, ivgen, 77, SIZE, in, want, N, flags,
                                       &err);
        g_assert_no_error(err);
        qcrypto_async_encrypt_sectors(a, c, ivgen, 77, SIZE, in, out, N, flags,
                                      seen, &s[0], &err);
        g_assert_no_error(err);
        poll_all(a, 1);
        assert_done(&s[0]);
        g_assert_cmpmem(out, N * SIZE, want, N * SIZE);
        qcrypto_async_decrypt_sectors(a, c, ivgen, 77, SIZE, out, out, N, flags,
                                      seen, &s[1], &err);
        g_assert_no_error(err);
        poll_all(a, 1);
        assert_done(&s[1]);
        g_assert_cmpmem(out, N * SIZE, in, N * SIZE);
    }
}

static void sectors(void)
{
    g_autoptr(QCryptoAsync) a = engine(0, 0);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) xts = cipher(NULL, AES_256, MODE(XTS));
    g_autoptr(QCryptoCipher) cbc = cipher(NULL, AES_256, MODE(CBC));
    g_autoptr(QCryptoCipher) ecb = cipher(NULL, AES_256, MODE(ECB));
    uint8_t key[32] = {1};
    g_autoptr(QCryptoIVGen) essiv =
        qcrypto_ivgen_new(QCRYPTO_IV_GEN_ALGO_ESSIV, AES_256,
                          QCRYPTO_HASH_ALGO_SHA256, key, sizeof(key), &err);
    uint8_t byte;
    Seen s = {0};

    g_assert_no_error(err);
    sectors_on(a, xts, NULL);
    sectors_on(a, cbc, essiv);
    sectors_on(a, ecb, NULL);
    /* none at all is done at once, or soon */
    qcrypto_async_encrypt_sectors(a, xts, NULL, 0, 512, NULL, NULL, 0, 0, seen,
                                  &s, &err);
    g_assert_no_error(err);
    poll_all(a, 1);
    assert_done(&s);
    g_assert_cmpint(qcrypto_async_encrypt_sectors(a, xts, NULL, 0, 100, &byte,
                                                  &byte, 1, 0, seen, &s, &err),
                    ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
}

static void digests(void)
{
    const QCryptoHashAlgo alg = QCRYPTO_HASH_ALGO_SHA256;
    g_autoptr(QCryptoAsync) a = engine(3 * MANY, 3);
    g_autoptr(GError) err = NULL;
    uint8_t message[1000], key[100], got[3 * MANY][32];
    Seen s[3 * MANY] = {{0}};

    fill_seeded(message, sizeof(message), 1);
    fill_seeded(key, sizeof(key), 2);
    g_autoptr(QCryptoHmac) hmac = qcrypto_hmac_new(alg, key, sizeof(key), &err);
    g_autoptr(QCryptoHmac) again =
        qcrypto_hmac_new(alg, key, sizeof(key), &err);
    g_autoptr(QCryptoHash) any = qcrypto_hash_new(alg, &err);
    g_assert_no_error(err);
    const char *provider = qcrypto_hash_get_provider(any);

    for (int i = 0; i < MANY; i++) {
        const size_t len = (size_t)i * 31;

        qcrypto_async_hash(a, NULL, alg, message, len, got[3 * i], 32, seen,
                           &s[3 * i], &err);
        qcrypto_async_hash(a, provider, alg, message, len, got[3 * i + 1], 32,
                           seen, &s[3 * i + 1], &err);
        qcrypto_async_hmac(a, hmac, message, len, got[3 * i + 2], 32, seen,
                           &s[3 * i + 2], &err);
        g_assert_no_error(err);
    }
    poll_all(a, 3 * MANY);
    for (int i = 0; i < MANY; i++) {
        const size_t len = (size_t)i * 31;
        uint8_t want[32], *result = want;
        size_t n = sizeof(want);

        qcrypto_hash_bytes(alg, message, len, &result, &n, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(got[3 * i], 32, want, 32);
        g_assert_cmpmem(got[3 * i + 1], 32, want, 32);
        qcrypto_hmac_bytes(again, message, len, &result, &n, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(got[3 * i + 2], 32, want, 32);
    }
}

/* Wrong arguments: an error of the submit, and no callback. */
static void refused(void)
{
    g_autoptr(QCryptoAsync) a = engine(1, 1);
    g_autoptr(QCryptoCipher) cbc = cipher(NULL, AES_256, MODE(CBC));
    g_autoptr(QCryptoHmac) hmac =
        qcrypto_hmac_new(QCRYPTO_HASH_ALGO_SHA256, NULL, 0, NULL);
    uint8_t iv[16] = {0}, buf[64] = {0};
    Seen s = {0};

#define REFUSED(call, text)                                                    \
    do {                                                                       \
        g_autoptr(GError) err = NULL;                                          \
        g_assert_cmpint(call, ==, -1);                                         \
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);    \
        g_assert_nonnull(strstr(err->message, text));                          \
    } while (0)
#define CBC(...) qcrypto_async_encrypt(a, __VA_ARGS__, seen, &s, &err)

    REFUSED(CBC(NULL, iv, 16, buf, buf, 16), "cipher is NULL");
    REFUSED(CBC(cbc, NULL, 16, buf, buf, 16), "iv is NULL");
    REFUSED(CBC(cbc, iv, 8, buf, buf, 16), "IV of 16 bytes, not 8");
    REFUSED(CBC(cbc, iv, 16, buf, buf, 17), "multiple of 16");
    REFUSED(CBC(cbc, iv, 16, buf, buf + 1, 16), "overlap");
    REFUSED(CBC(cbc, iv, 16, NULL, buf, 16), "in is NULL");
    REFUSED(qcrypto_async_hash(a, NULL, 1000, buf, 1, buf, 32, seen, &s, &err),
            "unknown hash");
    REFUSED(qcrypto_async_hash(a, NULL, QCRYPTO_HASH_ALGO_SHA256, buf, 1, buf,
                               31, seen, &s, &err),
            "32 bytes, not 31");
    REFUSED(qcrypto_async_hash(a, NULL, QCRYPTO_HASH_ALGO_SHA256, NULL, 1, buf,
                               32, seen, &s, &err),
            "NULL");
    REFUSED(qcrypto_async_hmac(a, hmac, buf, 1, buf, 0, seen, &s, &err),
            "32 bytes, not 0");
    REFUSED(qcrypto_async_hmac(a, NULL, buf, 1, buf, 32, seen, &s, &err),
            "hmac is NULL");
    REFUSED(
        qcrypto_async_encrypt(NULL, cbc, iv, 16, buf, buf, 16, seen, &s, &err),
        "async is NULL");
#undef CBC
#undef REFUSED
    g_autoptr(GError) err = NULL;
    g_assert_cmpint(qcrypto_async_hash(a, "nobody", QCRYPTO_HASH_ALGO_SHA256,
                                       buf, 1, buf, 32, seen, &s, &err),
                    ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_assert_cmpuint(qcrypto_async_pending(a), ==, 0);
    g_assert_cmpint(s.calls, ==, 0);
}

/* ---- rows that are asynchronous themselves ---- */

static void device_bytes(void)
{
    latency_use();
    latency_device.latency_us = 0;
    latency_device.width = 64;
    g_autoptr(QCryptoAsync) a = engine(MANY, 1);
    g_autoptr(QCryptoCipher) cbc = cipher("latency:device", AES_128, MODE(CBC));
    g_autoptr(QCryptoCipher) ctr = cipher("latency:device", AES_128, MODE(CTR));

    messages_on(a, cbc, MODE(CBC));
    messages_on(a, ctr, MODE(CTR));
    g_assert_cmpuint(latency_device.taken, ==, 4 * MANY);
    sectors_on(a, cbc, NULL);
    g_assert_cmpuint(latency_device.taken, ==, 4 * MANY + 4);
    g_assert_cmpuint(latency_device.in_flight, ==, 0);
}

/* What it does not take goes to the workers, unless it is an error. */
static void device_refuses(void)
{
    static const int kinds[] = {QCRYPTO_ERROR_UNSUPPORTED, QCRYPTO_ERROR_BUSY};
    g_autoptr(GError) err = NULL;
    uint8_t iv[16] = {0}, buf[16] = {0};
    Seen s = {0};

    latency_use();
    latency_device.latency_us = 0;
    g_autoptr(QCryptoCipher) cbc = cipher("latency:device", AES_128, MODE(CBC));
    g_autoptr(QCryptoAsync) a = engine(MANY, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        latency_device.refuse_with = kinds[i];
        messages_on(a, cbc, MODE(CBC));
        g_assert_cmpuint(latency_device.taken, ==, 0);
    }
    latency_device.refuse_with = QCRYPTO_ERROR_IO;
    g_assert_cmpint(
        qcrypto_async_encrypt(a, cbc, iv, 16, buf, buf, 16, seen, &s, &err), ==,
        -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_assert_cmpuint(qcrypto_async_pending(a), ==, 0);
    g_clear_error(&err);

    latency_device.refuse_with = -1;
    latency_device.fails = true;
    qcrypto_async_encrypt(a, cbc, iv, 16, buf, buf, 16, seen, &s, &err);
    g_assert_no_error(err);
    poll_all(a, 1);
    g_assert_cmpint(s.calls, ==, 1);
    g_assert_error(s.error, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_clear_error(&s.error);

    latency_device.fails = false;
    latency_device.absent = true;
    g_autoptr(QCryptoAsync) b = engine(MANY, 1);
    messages_on(b, cbc, MODE(CBC));
    g_assert_cmpuint(latency_device.taken, ==, 1);
}

/* Microseconds for n requests with up to depth in flight. */
static int64_t time_of(const char *from, unsigned depth, unsigned threads,
                       int n)
{
    g_autoptr(QCryptoAsync) a = engine(depth, threads);
    g_autoptr(QCryptoCipher) c = cipher(from, AES_128, MODE(CBC));
    g_autoptr(GError) err = NULL;
    g_autofree uint8_t *bufs = g_malloc0((size_t)n * 16);
    g_autofree Seen *s = g_new0(Seen, n);
    const uint8_t iv[16] = {0};
    const int64_t start = g_get_monotonic_time();

    for (int i = 0; i < n; i++) {
        uint8_t *buf = bufs + 16 * i;

        while (qcrypto_async_encrypt(a, c, iv, 16, buf, buf, 16, seen, &s[i],
                                     &err) < 0) {
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BUSY);
            g_clear_error(&err);
            g_assert_cmpuint(qcrypto_async_pending(a), ==, depth);
            g_assert_cmpint(qcrypto_async_poll(a, 1, -1, &err), >=, 1);
        }
    }
    qcrypto_async_poll(a, G_MAXUINT, -1, &err);
    g_assert_no_error(err);
    for (int i = 0; i < n; i++) {
        assert_done(&s[i]);
        g_assert_cmpmem(bufs + 16 * i, 16, bufs, 16);
    }
    return g_get_monotonic_time() - start;
}

/* 48 latencies against 6: half of that gain is there on most days, so that a
 * machine at other work is given some more attempts to show it */
enum { REQUESTS = 48, LATENCY = 5000, WIDTH = 8, ATTEMPTS = 8 };

static void scales(const char *from, unsigned depth, unsigned threads,
                   unsigned width, int64_t *alone)
{
    const int64_t least = (int64_t)LATENCY * REQUESTS / MIN(depth, width);
    int64_t us = 0;

    for (int i = 0; i < ATTEMPTS; i++) {
        latency_reset();
        latency_device.latency_us = LATENCY;
        latency_device.width = WIDTH;
        us = time_of(from, depth, threads, REQUESTS);
        *alone = *alone ? *alone : us;
        g_test_message("%s, depth %2u, %u threads: %" G_GINT64_FORMAT
                       " us, %.1f times as fast as depth 1",
                       from, depth, threads, us, (double)*alone / (double)us);
        g_assert_cmpint(us, >=, least);
        if (MIN(depth, width) < WIDTH || us * 2 < *alone) {
            return;
        }
    }
    g_assert_cmpint(us * 2, <, *alone);
}

/*
 * Requests take as many latencies as there are, by min(depth, width), and not
 * less; depth is reached and never more.
 */
static void depth_scales(void)
{
    int64_t alone = 0;

    latency_use();
    for (unsigned depth = 1; depth <= 2 * WIDTH; depth *= 2) {
        scales("latency:device", depth, 1, WIDTH, &alone);
        g_assert_cmpuint(latency_device.taken, ==, REQUESTS);
        g_assert_cmpuint(latency_device.most, ==, depth);
    }
}

/* The same through workers: there the threads are the width. */
static void threads_scale(void)
{
    int64_t alone = 0;

    latency_use();
    for (unsigned threads = 1; threads <= WIDTH; threads *= 2) {
        scales("latency:sleeper", 2 * threads, threads, threads, &alone);
    }
}

/* ---- threads ---- */

enum { SUBMITTERS = 4, EACH = 300 };

typedef struct Submitter {
    QCryptoAsync *a;
    QCryptoCipher *c;
    GThread *thread;
    int *left; /* atomic: submitters at work */
    int number;
    Seen s[EACH];
    uint8_t buf[EACH][48];
} Submitter;

static gpointer submitter_main(gpointer opaque)
{
    Submitter *t = opaque;

    for (int i = 0; i < EACH; i++) {
        GError *err = NULL;
        uint8_t iv[16];

        fill_seeded(t->buf[i], 48, 1000u * t->number + i);
        fill_seeded(iv, 16, i);
        while (qcrypto_async_encrypt(t->a, t->c, iv, 16, t->buf[i], t->buf[i],
                                     48, seen, &t->s[i], &err) < 0) {
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BUSY);
            g_clear_error(&err);
            g_thread_yield();
        }
    }
    g_atomic_int_add(t->left, -1);
    return NULL;
}

/* Any thread may submit while one polls. */
static void submitters(const void *from)
{
    latency_use();
    latency_device.latency_us = 0;
    g_autoptr(QCryptoAsync) a = engine(16, 3);
    g_autoptr(QCryptoCipher) c = cipher(from, AES_128, MODE(CBC));
    g_autoptr(GError) err = NULL;
    Submitter *t = g_new0(Submitter, SUBMITTERS);
    int left = SUBMITTERS;

    for (int i = 0; i < SUBMITTERS; i++) {
        t[i].a = a;
        t[i].c = c;
        t[i].left = &left;
        t[i].number = i;
        t[i].thread = g_thread_new("submitter", submitter_main, &t[i]);
    }
    while (g_atomic_int_get(&left) > 0) {
        g_assert_cmpint(qcrypto_async_poll(a, 1, 5, &err), >=, 0);
        g_assert_no_error(err);
    }
    for (int i = 0; i < SUBMITTERS; i++) {
        g_thread_join(t[i].thread);
    }
    g_assert_cmpint(qcrypto_async_poll(a, G_MAXUINT, -1, &err), >=, 0);
    for (int i = 0; i < SUBMITTERS; i++) {
        for (int k = 0; k < EACH; k++) {
            uint8_t iv[16], plain[48];

            assert_done(&t[i].s[k]);
            fill_seeded(iv, 16, k);
            cipher_message(c, true, iv, 16, t[i].buf[k], t[i].buf[k], 48);
            fill_seeded(plain, 48, 1000u * i + k);
            g_assert_cmpmem(t[i].buf[k], 48, plain, 48);
        }
    }
    g_free(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/async/options", options);
    g_test_add_func("/async/threads/full", full);
    g_test_add_func("/async/threads/failures", failures);
    g_test_add_func("/async/threads/from-callbacks", from_callbacks);
    g_test_add_func("/async/threads/free-drains", free_drains);
    g_test_add_func("/async/threads/event-loop", event_loop);
    g_test_add_func("/async/threads/one-object", one_object);
    g_test_add_func("/async/threads/passed-over", passed_over);
    g_test_add_func("/async/child-of-fork", child_of_fork);
    g_test_add_func("/async/threads/messages", messages);
    g_test_add_func("/async/threads/sectors", sectors);
    g_test_add_func("/async/threads/digests", digests);
    g_test_add_func("/async/refused", refused);
    g_test_add_func("/async/threads/device-bytes", device_bytes);
    g_test_add_func("/async/threads/device-refuses", device_refuses);
    g_test_add_func("/async/device/depth-scales", depth_scales);
    g_test_add_func("/async/device/threads-scale", threads_scale);
    g_test_add_data_func("/async/threads/submitters-workers", "builtin",
                         submitters);
    g_test_add_data_func("/async/threads/submitters-device", "latency:device",
                         submitters);
    return g_test_run();
}
