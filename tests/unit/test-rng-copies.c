/*
 * The random number generator in copies of its process
 *
 * Copies made by fork(3), by clone(2) without libc knowing, in the thread
 * that drew before and in one that did not, from within a seeding, and ones
 * that share the memory (vfork); each where the kernel wipes the pages, where
 * it refuses to, and where it says that it does and does not (rng-shim.h).
 *
 * The thread that draws is made anew for each case: its generator's pages are
 * advised the way the case wants it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/random.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rng-shim.h"

#include "crypto/rng/rng.h"

enum { CHILDREN = 8, ROUNDS = 1000 };

static pid_t clone_raw(void)
{
#ifdef __s390x__
    return (pid_t)syscall(SYS_clone, 0, SIGCHLD, NULL, NULL, 0);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, NULL, NULL, 0);
#endif
}

static pid_t fork_libc(void)
{
    return fork();
}

typedef struct Draw {
    uint8_t bytes[32];
    uint8_t ok;       /* the call said so */
    uint8_t wiped;    /* nothing of the parent's was left before it */
    uint8_t truthful; /* the status spoke of no seed before, of one after */
} Draw;

typedef struct Case {
    const char *path;
    pid_t (*copy)(void);
    ShimAdvice advice;
    unsigned rounds;
    bool in_other; /* another thread makes the copies and draws in them */
    bool wipes;    /* nothing of the parent's secrets is in the copy */
    /* while the case runs: */
    QCryptoRng *rng, *object;
    Draw *draws; /* shared with the children; the parent's comes last */
} Case;

static bool is_zero(const void *p, size_t n)
{
    const uint8_t *b = p;
    bool zero = true;

    for (size_t i = 0; i < n; i++) {
        zero &= b[i] == 0;
    }
    return zero;
}

/* By trial, whatever madvise says: a page, a child, and what it sees. */
static bool kernel_wipes(void)
{
    uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int status;

    g_assert_true(p != MAP_FAILED);
    *p = 1;
    syscall(SYS_madvise, p, 4096, 18 /* MADV_WIPEONFORK */);
    const pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (!child) {
        _exit(*p);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    munmap(p, 4096);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In the child, which must not rely on much. */
static void draw_in_child(Case *c, Draw *d, size_t number)
{
    /* the thread's own, and one made by hand, in turn */
    QCryptoRng *r = c->in_other || number % 2 ? NULL : c->object;
    QCryptoRngStatus s = {.seeded = true};

    d->wiped = is_zero(c->rng->secret, sizeof(*c->rng->secret)) &&
               is_zero(c->object->secret, sizeof(*c->object->secret));
    if (!c->in_other) {
        qcrypto_rng_status(r ? r : c->rng, &s);
        d->truthful = !s.seeded && !s.bytes && !s.buffered;
    }
    d->ok = r ? qcrypto_rng_bytes(r, d->bytes, 32, NULL) == 0
              : qcrypto_random_bytes(d->bytes, 32, NULL) == 0;
    r = r ? r : qcrypto_random_get_rng(NULL);
    qcrypto_rng_status(r, &s);
    d->truthful = (c->in_other || d->truthful) && s.seeded && s.bytes == 32;
}

/* A byte is drawn, so that there is a buffer; the parent goes on at once. */
static void *copy_once(void *opaque)
{
    Case *c = opaque;
    pid_t children[CHILDREN];

    for (size_t i = 0; i < CHILDREN; i++) {
        children[i] = c->copy();
        if (children[i] == 0) {
            draw_in_child(c, &c->draws[i], i);
            _exit(0);
        }
        g_assert_cmpint(children[i], >, 0);
    }
    for (size_t i = 0; i < CHILDREN; i++) {
        int status;

        g_assert_cmpint(waitpid(children[i], &status, 0), ==, children[i]);
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    return NULL;
}

static void *run_rounds(void *opaque)
{
    Case *c = opaque;
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                              (GDestroyNotify)g_bytes_unref, NULL);
    const size_t size = (CHILDREN + 1) * sizeof(Draw);
    uint8_t byte;

    c->draws = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_assert_true(c->draws != MAP_FAILED);
    g_assert_cmpint(qcrypto_random_bytes(&byte, 1, NULL), ==, 0);
    c->rng = qcrypto_random_get_rng(NULL);
    c->object = qcrypto_rng_new(0, NULL);
    g_assert_nonnull(c->object);
    for (unsigned round = 0; round < c->rounds; round++) {
        memset(c->draws, 0, size);
        g_assert_cmpint(qcrypto_random_bytes(&byte, 1, NULL), ==, 0);
        g_assert_cmpint(qcrypto_rng_bytes(c->object, &byte, 1, NULL), ==, 0);
        if (c->in_other) {
            pthread_t other;

            g_assert_cmpint(pthread_create(&other, NULL, copy_once, c), ==, 0);
            g_assert_cmpint(pthread_join(other, NULL), ==, 0);
        } else {
            copy_once(c);
        }
        g_assert_cmpint(qcrypto_random_bytes(c->draws[CHILDREN].bytes, 32, NULL),
                        ==, 0);
        for (size_t i = 0; i <= CHILDREN; i++) {
            const Draw *d = &c->draws[i];

            if (i < CHILDREN) {
                g_assert_true(d->ok);
                g_assert_true(d->truthful);
                g_assert_true(d->wiped || !c->wipes);
            }
            g_assert_false(is_zero(d->bytes, 32));
            g_assert_true(g_hash_table_add(seen, g_bytes_new(d->bytes, 32)));
        }
    }
    g_assert_cmpuint(g_hash_table_size(seen), ==, (CHILDREN + 1) * c->rounds);
    qcrypto_rng_free(c->object);
    munmap(c->draws, size);
    return NULL;
}

static QCryptoRngForkGuard expected_guard(const Case *c)
{
    return c->advice == SHIM_ADVICE_REAL && kernel_wipes()
               ? QCRYPTO_RNG_FORK_GUARD_WIPE
               : QCRYPTO_RNG_FORK_GUARD_PID;
}

static void in_new_thread(void *(*func)(void *), void *opaque)
{
    pthread_t id;

    g_assert_cmpint(pthread_create(&id, NULL, func, opaque), ==, 0);
    g_assert_cmpint(pthread_join(id, NULL), ==, 0);
}

static void test_copies(gconstpointer opaque)
{
    Case c = *(const Case *)opaque;
    QCryptoRngStatus s;

    qcrypto_test_shim_reset();
    qcrypto_test_shim.advice = c.advice;
    QCryptoRng *r = qcrypto_rng_new(0, NULL);
    g_assert_nonnull(r);
    qcrypto_rng_status(r, &s);
    g_assert_cmpint(s.fork_guard, ==, expected_guard(&c));
    qcrypto_rng_free(r);
    if (!kernel_wipes()) {
        /* an emulator, which takes a hundred times as long for a copy */
        c.rounds = MAX(c.rounds / 10, 20);
    }
    g_test_message("%u rounds, guarded by %s", c.rounds,
                   s.fork_guard == QCRYPTO_RNG_FORK_GUARD_WIPE
                       ? "wiped pages"
                       : "the process id");
    /* where the kernel does it, it does it for every kind of copy */
    c.wipes |= s.fork_guard == QCRYPTO_RNG_FORK_GUARD_WIPE;
    in_new_thread(run_rounds, &c);
    qcrypto_test_shim_reset();
}

static const Case cases[] = {
    {"/rng/copies/fork", fork_libc, SHIM_ADVICE_REAL, ROUNDS, .wipes = true},
    {"/rng/copies/clone", clone_raw, SHIM_ADVICE_REAL, ROUNDS},
    {"/rng/copies/other-thread/fork", fork_libc, SHIM_ADVICE_REAL, 100,
     .in_other = true, .wipes = true},
    {"/rng/copies/other-thread/clone", clone_raw, SHIM_ADVICE_REAL, 100,
     .in_other = true},
    {"/rng/copies/any-advice/fork", fork_libc, SHIM_ADVICE_ANY, ROUNDS / 5,
     .wipes = true},
    {"/rng/copies/any-advice/clone", clone_raw, SHIM_ADVICE_ANY, ROUNDS / 5},
    {"/rng/copies/any-advice/other-thread/fork", fork_libc, SHIM_ADVICE_ANY,
     100, .in_other = true, .wipes = true},
    {"/rng/copies/any-advice/other-thread/clone", clone_raw, SHIM_ADVICE_ANY,
     100, .in_other = true},
    {"/rng/copies/no-advice/fork", fork_libc, SHIM_ADVICE_NONE, 100,
     .wipes = true},
    {"/rng/copies/no-advice/clone", clone_raw, SHIM_ADVICE_NONE, 100},
};

/* ---- generations of copies ---- */

/* A line of descent: each draws, then copies itself. */
static void *run_line(void *opaque)
{
    enum { DEPTH = 12 };
    Draw *draws = mmap(NULL, DEPTH * sizeof(Draw), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t first = getpid();
    pid_t child = 0;
    int status = 0;

    g_assert_true(draws != MAP_FAILED);
    for (size_t i = 0; i < DEPTH && child == 0; i++) {
        draws[i].ok = qcrypto_random_bytes(draws[i].bytes, 32, NULL) == 0;
        child = i + 1 < DEPTH ? (i % 2 ? clone_raw() : fork()) : -1;
    }
    if (child > 0) {
        waitpid(child, &status, 0);
    }
    if (syscall(SYS_getpid) != first) {
        _exit(status != 0);
    }
    g_assert_cmpint(status, ==, 0);
    for (size_t i = 0; i < DEPTH; i++) {
        g_assert_true(draws[i].ok);
        for (size_t j = 0; j < i; j++) {
            g_assert_true(memcmp(draws[i].bytes, draws[j].bytes, 32) != 0);
        }
    }
    munmap(draws, DEPTH * sizeof(Draw));
    return opaque;
}

static void test_line(gconstpointer advice)
{
    qcrypto_test_shim_reset();
    qcrypto_test_shim.advice = (ShimAdvice)GPOINTER_TO_INT(advice);
    in_new_thread(run_line, NULL);
    qcrypto_test_shim_reset();
}

/* ---- a child that shares the memory ---- */

static uint8_t shared[3][32];

static int draw_shared(void *opaque)
{
    Draw *d = opaque;

    d->ok = qcrypto_random_bytes(d->bytes, 32, NULL) == 0;
    _exit(0);
}

static void *run_shared(void *opaque)
{
    static uint8_t stack[256 * 1024] __attribute__((aligned(16)));
    /* mapped, for emulators that make a copy all the same */
    Draw *d = mmap(NULL, sizeof(Draw), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    g_assert_true(d != MAP_FAILED);
    g_assert_cmpint(qcrypto_random_bytes(shared[0], 32, NULL), ==, 0);
    /* as vfork(2) does it, but on a stack of the child's own */
    const pid_t child =
        clone(draw_shared, stack + sizeof(stack),
              CLONE_VM | CLONE_VFORK | SIGCHLD, d);
    g_assert_cmpint(child, >, 0);
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(d->ok);
    memcpy(shared[1], d->bytes, 32);
    munmap(d, sizeof(Draw));
    g_assert_cmpint(qcrypto_random_bytes(shared[2], 32, NULL), ==, 0);
    for (size_t i = 0; i < 3; i++) {
        g_assert_false(is_zero(shared[i], 32));
        g_assert_true(memcmp(shared[i], shared[(i + 1) % 3], 32) != 0);
    }
    return opaque;
}

static void test_shared(gconstpointer advice)
{
    qcrypto_test_shim_reset();
    qcrypto_test_shim.advice = (ShimAdvice)GPOINTER_TO_INT(advice);
    in_new_thread(run_shared, NULL);
    qcrypto_test_shim_reset();
}

/* ---- a copy made in the midst of things ---- */

static pid_t (*midway_copy)(void);
static pid_t midway_child;

/* A signal handler might: the seed's bytes are on their way, in both. */
static void copy_midway(void)
{
    qcrypto_test_shim.seeding = NULL;
    midway_child = midway_copy();
}

static void *run_midway(void *opaque)
{
    Draw *d = mmap(NULL, sizeof(Draw), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint8_t mine[32];
    int status;

    g_assert_true(d != MAP_FAILED);
    g_assert_cmpint(qcrypto_random_bytes(mine, 32, NULL), ==, 0);
    qcrypto_random_reseed_all();
    qcrypto_test_shim.seeding = copy_midway;
    const int ret = qcrypto_random_bytes(mine, 32, NULL);
    if (midway_child == 0) {
        d->ok = ret == 0;
        memcpy(d->bytes, mine, 32);
        _exit(0);
    }
    g_assert_cmpint(ret, ==, 0);
    g_assert_cmpint(midway_child, >, 0);
    g_assert_cmpint(waitpid(midway_child, &status, 0), ==, midway_child);
    g_assert_true(d->ok);
    g_assert_false(is_zero(d->bytes, 32));
    g_assert_true(memcmp(d->bytes, mine, 32) != 0);
    munmap(d, sizeof(Draw));
    return opaque;
}

static void test_midway(void)
{
    qcrypto_test_shim_reset();
    midway_copy = fork_libc;
    in_new_thread(run_midway, NULL);
    /* around libc only the kernel can help */
    if (kernel_wipes()) {
        midway_copy = clone_raw;
        in_new_thread(run_midway, NULL);
    }
    /* the handler of fork(3) does the same */
    qcrypto_test_shim.advice = SHIM_ADVICE_ANY;
    midway_copy = fork_libc;
    in_new_thread(run_midway, NULL);
    qcrypto_test_shim_reset();
}

/* ---- a child without random numbers ---- */

static void *run_poor_child(void *opaque)
{
    uint8_t buf[64];
    int status;

    g_assert_cmpint(qcrypto_random_bytes(buf, 1, NULL), ==, 0);
    const pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (!child) {
        GError *error = NULL;

        qcrypto_test_shim.random = SHIM_RANDOM_EIO;
        memset(buf, 1, sizeof(buf));
        _exit(!(qcrypto_random_bytes(buf, 32, &error) == -1 &&
                is_zero(buf, 32) && buf[32] == 1 &&
                g_error_matches(error, QCRYPTO_ERROR, QCRYPTO_ERROR_ENTROPY)));
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return opaque;
}

static void test_poor_child(gconstpointer advice)
{
    qcrypto_test_shim_reset();
    qcrypto_test_shim.advice = (ShimAdvice)GPOINTER_TO_INT(advice);
    in_new_thread(run_poor_child, NULL);
    qcrypto_test_shim_reset();
}

/* ---- many generators, few of them left ---- */

/* Pages of GUARD_PID are wiped wherever they stand in the list. */
static void test_list(void)
{
    enum { N = 5 };
    QCryptoRng *r[N];
    int status;

    qcrypto_test_shim_reset();
    qcrypto_test_shim.advice = SHIM_ADVICE_ANY;
    for (size_t i = 0; i < N; i++) {
        r[i] = qcrypto_rng_new(0, NULL);
        g_assert_nonnull(r[i]);
    }
    qcrypto_rng_free(r[4]); /* the head */
    qcrypto_rng_free(r[2]); /* in between */
    qcrypto_rng_free(r[0]); /* the tail */
    const pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (!child) {
        _exit(!(is_zero(r[1]->secret, sizeof(*r[1]->secret)) &&
                is_zero(r[3]->secret, sizeof(*r[3]->secret))));
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    g_assert_false(is_zero(r[1]->secret, sizeof(*r[1]->secret)));
    qcrypto_rng_free(r[1]);
    qcrypto_rng_free(r[3]);
    qcrypto_test_shim_reset();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_add_data_func(cases[i].path, &cases[i], test_copies);
    }
    g_test_add_data_func("/rng/copies/line", GINT_TO_POINTER(SHIM_ADVICE_REAL),
                         test_line);
    g_test_add_data_func("/rng/copies/any-advice/line",
                         GINT_TO_POINTER(SHIM_ADVICE_ANY), test_line);
    g_test_add_data_func("/rng/copies/shared",
                         GINT_TO_POINTER(SHIM_ADVICE_REAL), test_shared);
    g_test_add_data_func("/rng/copies/any-advice/shared",
                         GINT_TO_POINTER(SHIM_ADVICE_ANY), test_shared);
    g_test_add_func("/rng/copies/midway", test_midway);
    g_test_add_data_func("/rng/copies/failure",
                         GINT_TO_POINTER(SHIM_ADVICE_REAL), test_poor_child);
    g_test_add_data_func("/rng/copies/any-advice/failure",
                         GINT_TO_POINTER(SHIM_ADVICE_ANY), test_poor_child);
    g_test_add_func("/rng/copies/any-advice/list", test_list);
    return g_test_run();
}
