/*
 * Threads: what the headers promise, to be run under TSan too
 *
 * First uses race here on purpose (the registry, the self-tests), so each
 * case runs in a child whose library nobody has touched.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>
#include <qcrypto/comp.h>
#include <qcrypto/provider.h>
#include <qcrypto/random.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/core/select.h"

enum {
    THREADS = 8,
    SECTOR = 512,
    SECTORS = 67, /* a thread's run; no kernel's batch divides it */
    ROUNDS = 3,
};

#define LEN ((size_t)SECTOR * SECTORS)

static const uint8_t key[64] =
    "sixty-four bytes that are known to everybody, as a test's key is";

/* All threads wait for each other here. */
typedef struct Gate {
    GMutex lock;
    GCond cond;
    int waiting;
} Gate;

static void gate_pass(Gate *g)
{
    g_mutex_lock(&g->lock);
    if (++g->waiting == THREADS) {
        g_cond_broadcast(&g->cond);
    }
    while (g->waiting < THREADS) {
        g_cond_wait(&g->cond, &g->lock);
    }
    g_mutex_unlock(&g->lock);
}

typedef struct Worker {
    GThread *thread;
    Gate *gate;
    int number;
    QCryptoCipher *cipher;
    const QCryptoIVGen *ivgen;
    int *stop; /* atomic */
    char *served_by;
    uint8_t *result;
} Worker;

static void run_all(GThreadFunc f, Worker *workers)
{
    Gate gate = {.waiting = 0};
    int i;

    g_mutex_init(&gate.lock);
    g_cond_init(&gate.cond);
    for (i = 0; i < THREADS; i++) {
        workers[i].gate = &gate;
        workers[i].number = i;
        workers[i].thread = g_thread_new("worker", f, &workers[i]);
    }
    for (i = 0; i < THREADS; i++) {
        g_thread_join(workers[i].thread);
    }
    g_mutex_clear(&gate.lock);
    g_cond_clear(&gate.cond);
}

static void fill(uint8_t *p, size_t n, unsigned seed)
{
    size_t i;

    for (i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        p[i] = seed >> 16;
    }
}

static void encrypt(const QCryptoCipher *c, const QCryptoIVGen *ivgen,
                    int number, const uint8_t *in, uint8_t *out)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_cipher_encrypt_sectors(c, ivgen, 1000u * number,
                                                   SECTOR, in, out, SECTORS, 0,
                                                   &err),
                    ==, 0);
    g_assert_no_error(err);
}

/* ---- one object, many threads ---- */

/* Over and over, all at once; each round gives what one thread alone gave. */
static gpointer share_worker(gpointer opaque)
{
    Worker *w = opaque;
    g_autofree uint8_t *plain = g_malloc(LEN);
    g_autofree uint8_t *buf = g_malloc(LEN);
    g_autofree uint8_t *first = g_malloc(LEN);
    g_autoptr(GError) err = NULL;
    int i;

    fill(plain, LEN, w->number + 1);
    gate_pass(w->gate);
    for (i = 0; i < ROUNDS; i++) {
        encrypt(w->cipher, w->ivgen, w->number, plain, buf);
        if (i == 0) {
            memcpy(first, buf, LEN);
        }
        g_assert_cmpmem(buf, LEN, first, LEN);
        g_assert_cmpint(qcrypto_cipher_decrypt_sectors(
                            w->cipher, w->ivgen, 1000u * w->number, SECTOR, buf,
                            buf, SECTORS, 0, &err),
                        ==, 0);
        g_assert_no_error(err);
        g_assert_cmpmem(buf, LEN, plain, LEN);
    }
    w->result = g_steal_pointer(&first);
    return NULL;
}

static void share_row(const char *name, const QCryptoRow *row)
{
    const size_t nkey = qcrypto_cipher_get_key_len(row->alg) *
                        (row->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) c =
        qcrypto_cipher_new_from(name, row->alg, row->mode, key, nkey, &err);
    g_autoptr(QCryptoIVGen) ivgen = NULL;
    g_autofree uint8_t *plain = g_malloc(LEN);
    g_autofree uint8_t *want = g_malloc(LEN);
    Worker workers[THREADS] = {{.number = 0}};
    int i;

    g_assert_no_error(err);
    ivgen = qcrypto_ivgen_new(QCRYPTO_IV_GEN_ALGO_PLAIN64, row->alg, 0, NULL, 0,
                              &err);
    g_assert_no_error(err);
    for (i = 0; i < THREADS; i++) {
        workers[i].cipher = c;
        workers[i].ivgen = i % 2 ? ivgen : NULL;
    }
    run_all(share_worker, workers);
    for (i = 0; i < THREADS; i++) {
        g_autofree uint8_t *got = workers[i].result;

        fill(plain, LEN, i + 1);
        encrypt(c, NULL, i, plain, want);
        g_assert_cmpmem(got, LEN, want, LEN);
    }
}

/*
 * One row for each way through the code: of every provider and
 * implementation, every mode of one algorithm; and the ciphers with blocks of
 * 8 bytes.
 */
static void share(void)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GError) err = NULL;
    QCryptoCandidate *const *all;
    size_t n, i;

    all = qcrypto_candidates(&n, &err);
    g_assert_no_error(err);
    for (i = 0; i < n; i++) {
        const QCryptoRow *row = all[i]->row;
        g_autofree char *name = NULL;
        char *way;

        if (row->kind != QCRYPTO_KIND_CIPHER ||
            (row->flags & QCRYPTO_ROW_BENCH) ||
            !qcrypto_candidate_usable(all[i], NULL)) {
            continue;
        }
        name = g_strdup_printf("%s:%s", all[i]->provider->name, row->impl);
        way = g_strdup_printf("%s %d %zu", name, row->mode,
                              qcrypto_cipher_get_block_len(row->alg));
        if (g_hash_table_add(seen, way)) {
            share_row(name, row);
            g_test_message("%s: %s-%s", name,
                           qcrypto_cipher_algo_name(row->alg),
                           qcrypto_cipher_mode_name(row->mode));
        }
    }
    g_assert_cmpuint(g_hash_table_size(seen), >=, 4);
}

/* ---- the first use of everything, by all threads at once ---- */

static gpointer first_use_worker(gpointer opaque)
{
    Worker *w = opaque;
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) c = NULL;
    size_t n;

    gate_pass(w->gate);
    switch (w->number % 4) {
    case 0:
        g_assert_true(qcrypto_cipher_supports(QCRYPTO_CIPHER_ALGO_AES_256,
                                              QCRYPTO_CIPHER_MODE_XTS));
        break;
    case 1: {
        QCryptoRowInfo *rows = qcrypto_rows_list(&n, &err);

        g_assert_no_error(err);
        g_assert_cmpuint(n, >, 0);
        qcrypto_rows_free(rows, n);
        break;
    }
    case 2:
        g_assert_nonnull(qcrypto_providers_list(&n));
        break;
    default:
        break;
    }
    c = qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_256, QCRYPTO_CIPHER_MODE_XTS,
                           key, 64, &err);
    g_assert_no_error(err);
    w->served_by = g_strdup_printf("%s:%s", qcrypto_cipher_get_provider(c),
                                   qcrypto_cipher_get_impl(c));
    return NULL;
}

static void first_use(void)
{
    Worker workers[THREADS] = {{.number = 0}};
    int i;

    run_all(first_use_worker, workers);
    for (i = 0; i < THREADS; i++) {
        g_assert_cmpstr(workers[i].served_by, ==, workers[0].served_by);
    }
    for (i = 0; i < THREADS; i++) {
        g_free(workers[i].served_by);
    }
}

/* ---- the order changes while objects are made ---- */

static gpointer order_worker(gpointer opaque)
{
    Worker *w = opaque;
    uint8_t block[16] = {0}, want[16], got[16];
    g_autoptr(GError) err = NULL;
    bool have = false;
    int made = 0;

    gate_pass(w->gate);
    if (w->number == 0) {
        static const char *const orders[] = {"builtin", "builtin,...", NULL};
        size_t i;

        for (i = 0; i < 60; i++) {
            g_autofree char *order = NULL;

            g_assert_cmpint(qcrypto_providers_set_order(
                                orders[i % G_N_ELEMENTS(orders)], &err),
                            ==, 0);
            g_assert_no_error(err);
            order = qcrypto_providers_get_order(&err);
            g_assert_no_error(err);
            g_assert_true(g_str_has_prefix(order, "builtin"));
            g_usleep(200);
        }
        g_atomic_int_set(w->stop, 1);
        return NULL;
    }
    while (made < 20 || !g_atomic_int_get(w->stop)) {
        g_autoptr(QCryptoCipher) c =
            qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_128,
                               QCRYPTO_CIPHER_MODE_ECB, key, 16, &err);

        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_cipher_encrypt(c, block, got, 16, &err), ==, 0);
        if (!have) {
            memcpy(want, got, 16);
            have = true;
        }
        g_assert_cmpmem(want, 16, got, 16);
        made++;
    }
    return NULL;
}

static void order_changes(void)
{
    Worker workers[THREADS] = {{.number = 0}};
    int stop = 0, i;

    for (i = 0; i < THREADS; i++) {
        workers[i].stop = &stop;
    }
    run_all(order_worker, workers);
}

/* ---- different objects are independent ---- */

static gpointer own_object_worker(gpointer opaque)
{
    Worker *w = opaque;
    g_autofree uint8_t *plain = g_malloc(LEN);
    g_autofree uint8_t *text = g_malloc(LEN);
    int i;

    fill(plain, LEN, w->number + 1);
    gate_pass(w->gate);
    for (i = 0; i < 20; i++) {
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoCipher) c =
            qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_256,
                               QCRYPTO_CIPHER_MODE_CTR, key, 32, &err);

        g_assert_no_error(err);
        /* counter mode twice is the data again, in unlike pieces */
        g_assert_cmpint(qcrypto_cipher_setiv(c, key, 16, &err), ==, 0);
        g_assert_cmpint(qcrypto_cipher_encrypt(c, plain, text, LEN, &err), ==,
                        0);
        g_assert_cmpint(qcrypto_cipher_setiv(c, key, 16, &err), ==, 0);
        g_assert_cmpint(qcrypto_cipher_decrypt(c, text, text, 160, &err), ==,
                        0);
        g_assert_cmpint(
            qcrypto_cipher_decrypt(c, text + 160, text + 160, LEN - 160, &err),
            ==, 0);
        g_assert_no_error(err);
        g_assert_cmpmem(plain, LEN, text, LEN);
    }
    return NULL;
}

static void own_objects(void)
{
    Worker workers[THREADS] = {{.number = 0}};

    run_all(own_object_worker, workers);
}

/* ---- random numbers: all begin at once, and all are told to seed again ---- */

static void *random_worker(void *opaque)
{
    Worker *w = opaque;
    uint8_t buf[3000];

    gate_pass(w->gate);
    for (int i = 0; i < 2000; i++) {
        const size_t n = 1 + (size_t)(i * 37 + w->number) % sizeof(buf);

        g_assert_cmpint(qcrypto_random_bytes(buf, n, NULL), ==, 0);
        if (i % 100 == w->number) {
            qcrypto_random_reseed_all();
        }
    }
    w->result = g_memdup2(buf, 32);
    return NULL;
}

static void random_bytes(void)
{
    Worker workers[THREADS] = {{.number = 0}};

    run_all(random_worker, workers);
    for (int i = 0; i < THREADS; i++) {
        for (int j = 0; j < i; j++) {
            g_assert_true(memcmp(workers[i].result, workers[j].result, 32) != 0);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        g_free(workers[i].result);
    }
}

/* ---- compression: every format, objects of one's own, first uses ---- */

static gpointer compress_worker(gpointer opaque)
{
    Worker *w = opaque;
    g_autofree uint8_t *plain = g_malloc(LEN);
    g_autofree uint8_t *back = g_malloc(LEN);

    fill(plain, LEN / 2, (unsigned)w->number);
    memset(plain + LEN / 2, w->number, LEN - LEN / 2);
    gate_pass(w->gate);
    for (int alg = 0; alg < QCRYPTO_COMP_ALGO__MAX; alg++) {
        const size_t bound = qcrypto_comp_bound(alg, LEN);
        g_autofree uint8_t *packed = g_malloc(bound);

        for (int round = 0; round < ROUNDS && bound; round++) {
            g_autoptr(GError) err = NULL;
            size_t n = bound, len = LEN;

            qcrypto_comp_compress_bytes(alg, QCRYPTO_COMP_LEVEL_DEFAULT, plain,
                                        LEN, packed, &n, &err);
            g_assert_no_error(err);
            g_assert_cmpuint(n, <, LEN);
            qcrypto_comp_decompress_bytes(alg, packed, n, back, &len, &err);
            g_assert_no_error(err);
            g_assert_cmpmem(back, len, plain, LEN);
        }
    }
    return NULL;
}

static void compress(void)
{
    Worker workers[THREADS] = {{0}};

    run_all(compress_worker, workers);
}

/* ---- */

static const struct {
    const char *path;
    void (*run)(void);
} cases[] = {
    {"/threads/first-use", first_use},
    {"/threads/order-changes", order_changes},
    {"/threads/own-objects", own_objects},
    {"/threads/shared-object", share},
    {"/threads/random", random_bytes},
    {"/threads/compress", compress},
};

static void run_in_child(const void *data)
{
    void (*const *run)(void) = data;
    pid_t pid = fork();
    int status;

    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        (*run)();
        /* not _exit: TSan gives its verdict in its exit handler */
        exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        g_test_fail_printf("the case's process ended with status 0x%x", status);
    }
}

int main(int argc, char **argv)
{
    size_t i;

    g_test_init(&argc, &argv, NULL);
    for (i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_add_data_func(cases[i].path, &cases[i].run, run_in_child);
    }
    return g_test_run();
}
