/*
 * The random number generator: what it gives out, what it keeps, how it fails
 *
 * Copies of the process are test-rng-copies.c's.  Here a generator's inside
 * is held against a second one, written from the description in rng.c over
 * the portable kernel, for all lengths around every boundary; its memory, and
 * all memory of the process, is searched for what should be gone; and the
 * kernel is made to fail (rng-shim.h).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/random.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"
#include "rng-shim.h"

#include "crypto/base/secure.h"
#include "crypto/core/chacha.h"
#include "crypto/rng/kernel.h"
#include "crypto/rng/rng.h"

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT
#define ENTROPY QCRYPTO_ERROR_ENTROPY

enum {
    GROUP = QCRYPTO_RNG_GROUP,
    POOL = QCRYPTO_RNG_POOL,
    SERVED = QCRYPTO_RNG_SERVED,
    STREAM = QCRYPTO_RNG_STREAM,
};

/* what the last call said */
static GError *err;

static QCryptoRng *new_rng(unsigned rounds)
{
    QCryptoRng *r = qcrypto_rng_new(rounds, &err);

    g_assert_no_error(err);
    g_assert_nonnull(r);
    return r;
}

static void draw(QCryptoRng *r, void *buf, size_t n)
{
    g_assert_cmpint(qcrypto_rng_bytes(r, buf, n, &err), ==, 0);
    g_assert_no_error(err);
}

static QCryptoRngStatus status_of(const QCryptoRng *r)
{
    QCryptoRngStatus s;

    qcrypto_rng_status(r, &s);
    return s;
}

static bool is_zero(const void *p, size_t n)
{
    const uint8_t *b = p;
    bool zero = true;

    for (size_t i = 0; i < n; i++) {
        zero &= b[i] == 0;
    }
    return zero;
}

static void expect_error(int ret, int kind, const char *text)
{
    g_assert_cmpint(ret, ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, kind);
    g_assert_cmpstr(err->message, ==, text);
    g_clear_error(&err);
}

/* Runs func in a child, whose environment and limits are its own. */
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

/* ---- what it gives out ---- */

/* The generator again, between two seeds. */
typedef struct Model {
    const QCryptoChaChaOps *ops;
    uint32_t state[16];
    uint8_t pool[POOL];
    size_t at; /* the next byte of the pool, POOL: none */
} Model;

static void model_like(Model *m, const QCryptoRng *r)
{
    m->ops = qcrypto_chacha_kernel_from("builtin:chacha-portable", r->rounds,
                                        &err);
    g_assert_no_error(err);
    memcpy(m->state, r->secret->state, sizeof(m->state));
    memcpy(m->pool, r->secret->pool, POOL);
    m->at = POOL - r->secret->left;
}

static void model_refill(Model *m)
{
    m->ops->keystream_words(m->state, m->pool, POOL / GROUP);
    memcpy(m->state + 4, m->pool, 32);
    m->at = 32;
}

static void model_bytes(Model *m, uint8_t *out, size_t n)
{
    while (n >= GROUP) {
        const size_t groups = MIN(n, STREAM) / GROUP;
        uint32_t state[16];

        if (POOL - m->at < 32) {
            model_refill(m);
        }
        memcpy(state, m->state, sizeof(state));
        memcpy(state + 4, m->pool + m->at, 32);
        m->at += 32;
        m->ops->keystream_words(state, out, groups);
        out += groups * GROUP;
        n -= groups * GROUP;
    }
    for (; n; n--) {
        if (m->at == POOL) {
            model_refill(m);
        }
        *out++ = m->pool[m->at++];
    }
}

/* So that no seed falls due in what follows. */
static void make_young(QCryptoRng *r)
{
    r->made = r->secret->left;
    r->seeded_at = qcrypto_rng_clock();
}

static void set_left(QCryptoRng *r, size_t left)
{
    uint8_t skipped[POOL];

    make_young(r);
    if (left) {
        /* a refill, and what is too much of it */
        draw(r, skipped, r->secret->left);
        draw(r, skipped, 1);
    }
    for (size_t n; (n = r->secret->left - left) != 0;) {
        n = MIN(n, 1000);
        draw(r, skipped, n);
    }
    g_assert_cmpuint(r->secret->left, ==, left);
    make_young(r);
}

static void check_request(QCryptoRng *r, size_t left, size_t n, Guarded *g,
                          uint8_t *want)
{
    Model m;
    uint8_t *out = g->end - n;

    set_left(r, left);
    model_like(&m, r);
    memset(g->start, 0xa5, (size_t)(g->end - g->start));
    model_bytes(&m, want, n);
    draw(r, out, n);
    if (memcmp(out, want, n) != 0) {
        g_error("%zu bytes with %zu left are not those of the model", n, left);
    }
    for (uint8_t *p = MAX(g->start, out - 64); p < out; p++) {
        g_assert_cmpuint(*p, ==, 0xa5);
    }
    /* what has left is gone, the key is the next one */
    g_assert_cmpuint(POOL - r->secret->left, ==, m.at);
    g_assert_true(is_zero(r->secret->pool, m.at));
    g_assert_cmpmem(r->secret->pool + m.at, POOL - m.at, m.pool + m.at,
                    POOL - m.at);
    g_assert_cmpmem(r->secret->state, 64, m.state, 64);
    g_assert_true(is_zero(r->secret->stream, sizeof(r->secret->stream)));
    if (n) {
        g_assert_cmpuint(status_of(r).bytes, ==, n);
    }
    g_assert_cmpuint(status_of(r).buffered, ==, POOL - m.at);
}

static void test_lengths(gconstpointer rounds)
{
    static const size_t lefts[] = {
        0,  1,   2,   7,   15,  16,   17,   31,        32,
        33, 63, 64, 65, 500, 991, 1023, 1024, SERVED - 1, SERVED - 16};
    static const size_t around[] = {GROUP,     SERVED,    POOL,
                                    3 * GROUP, 4 * GROUP, POOL + SERVED};
    QCryptoRng *r = new_rng(GPOINTER_TO_UINT(rounds));
    Guarded g = guarded_new(STREAM + 4096);
    g_autofree uint8_t *want = g_malloc(STREAM + 4096);
    size_t cases = 0;

    for (size_t i = 0; i < G_N_ELEMENTS(lefts); i++) {
        const size_t left = lefts[i];

        for (size_t n = 0; n <= 130; n++, cases++) {
            check_request(r, left, n, &g, want);
        }
        /* around what is left, and every boundary behind that */
        for (size_t j = 0; j < 2 * G_N_ELEMENTS(around); j++) {
            const size_t edge = around[j / 2] + (j % 2 ? left : 0);

            for (size_t n = edge - 34; n <= edge + 34; n++, cases++) {
                check_request(r, left, n, &g, want);
            }
        }
        for (size_t n = left > 40 ? left - 40 : 0; n <= left + 40;
             n++, cases++) {
            check_request(r, left, n, &g, want);
        }
    }
    for (size_t n = STREAM - 2; n <= STREAM + 2; n++, cases++) {
        check_request(r, 1900, n, &g, want);
    }
    g_test_message("%zu requests", cases);
    qcrypto_rng_free(r);
    guarded_free(&g);
}

/* Runs of requests, of all lengths in turn. */
static void test_sequence(void)
{
    QCryptoRng *r = new_rng(8);
    g_autofree uint8_t *out = g_malloc(3 * POOL);
    g_autofree uint8_t *want = g_malloc(3 * POOL);
    Model m;

    draw(r, out, 1);
    make_young(r);
    model_like(&m, r);
    for (size_t n = 1; n < 3 * POOL; n += n < 100 ? 1 : 37) {
        model_bytes(&m, want, n);
        draw(r, out, n);
        g_assert_cmpmem(out, n, want, n);
        make_young(r);
    }
    qcrypto_rng_free(r);
}

/* ---- what it keeps ---- */

/* The 16 bytes that are looked for, never as themselves in memory. */
typedef struct Needle {
    uint8_t masked[16];
} Needle;

#define MASK 0x5c

static Needle needle_of(const void *bytes)
{
    const volatile uint8_t *b = bytes;
    Needle n;

    for (size_t i = 0; i < 16; i++) {
        n.masked[i] = b[i] ^ MASK;
    }
    return n;
}

/* How often they are in memory that need not all be this program's own. */
static __attribute__((no_sanitize("address"))) size_t
count_in(const volatile uint8_t *p, size_t n, const Needle *needle)
{
    size_t found = 0;

    for (size_t i = 0; i + 16 <= n; i++) {
        size_t same = 0;

        while (same < 16 && (p[i + same] ^ MASK) == needle->masked[same]) {
            same++;
        }
        found += same == 16;
    }
    return found;
}

/* In all of the process that can be written to, but for the sanitizers'
 * mappings of terabytes. */
static size_t count_everywhere(const Needle *needle)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    size_t found = 0, mappings = 0;

    g_assert_nonnull(maps);
    while (fgets(line, sizeof(line), maps)) {
        unsigned long from, to;
        char mode[5];

        if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) == 3 &&
            !strncmp(mode, "rw", 2) && to - from <= 64 << 20) {
            mappings++;
            found += count_in((const uint8_t *)from, to - from, needle);
        }
    }
    fclose(maps);
    g_assert_cmpuint(mappings, >, 2);
    return found;
}

static void assert_gone(const QCryptoRng *r, const Needle *needle)
{
    g_assert_cmpuint(
        count_in((const uint8_t *)r->secret, r->pages.size, needle), ==, 0);
    g_assert_cmpuint(count_everywhere(needle), ==, 0);
}

static void test_output_gone(void)
{
    QCryptoRng *r = new_rng(8);
    static uint8_t buf[5000];
    static const size_t lengths[] = {16,  17,  32,   33,   64,  100,
                                     512, 992, 1024, 1500, 4096, 5000};

    draw(r, buf, 1); /* a pool, and every function bound */
    for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
        const size_t n = lengths[i];

        draw(r, buf, n);
        Needle first = needle_of(buf), last = needle_of(buf + n - 16);
        g_assert_cmpuint(count_everywhere(&first), ==, 1); /* it is found */
        qcrypto_wipe(buf, n);
        assert_gone(r, &first);
        assert_gone(r, &last);
    }
    qcrypto_rng_free(r);
}

static void test_keys_gone(void)
{
    QCryptoRng *r = new_rng(8);
    static uint8_t buf[4096];
    Needle keys[600];
    size_t n = 0;

    draw(r, buf, 1);
    /* more than a MiB: new seeds, too */
    for (size_t i = 0; i < 300; i++) {
        keys[n++] = needle_of(r->secret->state + 4);
        keys[n++] = needle_of(r->secret->state + 8);
        do {
            draw(r, buf, i % 3 ? 100 : sizeof(buf));
        } while (count_in((const uint8_t *)(r->secret->state + 4), 16,
                          &keys[n - 2]));
    }
    g_assert_cmpuint(status_of(r).reseeds, >=, 2);
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpuint(
            count_in((const uint8_t *)r->secret, r->pages.size, &keys[i]), ==,
            0);
    }
    for (size_t i = n - 6; i < n; i++) {
        g_assert_cmpuint(count_everywhere(&keys[i]), ==, 0);
    }
    /* the present one is found, so the search is one */
    keys[0] = needle_of(r->secret->state + 4);
    g_assert_cmpuint(count_everywhere(&keys[0]), ==, 1);
    qcrypto_rng_free(r);
}

/* The old buffer is dropped, the key is another. */
static void check_dropped(QCryptoRng *r, int (*change)(QCryptoRng *r))
{
    uint8_t old[SERVED], buf[SERVED], key[32];

    set_left(r, SERVED - 1);
    memcpy(old, r->secret->pool + POOL - (SERVED - 1), SERVED - 1);
    memcpy(key, r->secret->state + 4, 32);
    g_assert_cmpint(change(r), ==, 0);
    g_assert_cmpuint(status_of(r).buffered, ==, 0);
    g_assert_true(is_zero(r->secret->pool, POOL));
    g_assert_true(memcmp(key, r->secret->state + 4, 32) != 0);
    draw(r, buf, 1000);
    draw(r, buf + 1000, SERVED - 1000);
    /* wherever in the old buffer: 8 bytes in a row are no accident */
    for (size_t i = 0; i + 8 <= 64; i++) {
        g_assert_null(memmem(old, SERVED - 1, buf + i, 8));
    }
}

static int do_reseed(QCryptoRng *r)
{
    return qcrypto_rng_reseed(r, &err);
}

static int do_add(QCryptoRng *r)
{
    return qcrypto_rng_add_entropy(r, "some bytes", 10, &err);
}

static int do_add_long(QCryptoRng *r)
{
    uint8_t bytes[100] = {1};

    return qcrypto_rng_add_entropy(r, bytes, sizeof(bytes), &err);
}

static int do_add_nothing(QCryptoRng *r)
{
    return qcrypto_rng_add_entropy(r, NULL, 0, &err);
}

static void test_dropped(void)
{
    QCryptoRng *r = new_rng(8);
    const uint64_t before = status_of(r).reseeds;

    check_dropped(r, do_reseed);
    g_assert_cmpuint(status_of(r).reseeds, ==, before + 1);
    check_dropped(r, do_add);
    check_dropped(r, do_add_long);
    check_dropped(r, do_add_nothing);
    g_assert_cmpuint(status_of(r).reseeds, ==, before + 1);
    qcrypto_rng_free(r);
}

/* ---- snapshots ---- */

/* What a snapshot does: the state by value. */
static void copy_state(QCryptoRng *to, const QCryptoRng *from)
{
    memcpy(to->secret, from->secret, sizeof(*to->secret));
    to->made = from->made;
    to->seeded_at = from->seeded_at;
}

static void test_snapshot(void)
{
    QCryptoRng *a = new_rng(8), *b = new_rng(8);
    uint8_t x[32], y[32];

    draw(a, x, 1);
    copy_state(b, a);
    /* without a word from anybody: equal, as documented */
    draw(a, x, 32);
    draw(b, y, 32);
    g_assert_cmpmem(x, 32, y, 32);

    copy_state(b, a);
    g_assert_cmpint(qcrypto_rng_reseed(a, &err), ==, 0);
    g_assert_cmpint(qcrypto_rng_reseed(b, &err), ==, 0);
    draw(a, x, 32);
    draw(b, y, 32);
    g_assert_true(memcmp(x, y, 32) != 0);

    /* one seed of the kernel's for both, but something of their own */
    copy_state(b, a);
    g_assert_cmpint(qcrypto_rng_add_entropy(a, "a", 1, &err), ==, 0);
    g_assert_cmpint(qcrypto_rng_add_entropy(b, "b", 1, &err), ==, 0);
    draw(a, x, 32);
    draw(b, y, 32);
    g_assert_true(memcmp(x, y, 32) != 0);

    /* the length counts, zeros or not */
    copy_state(b, a);
    g_assert_cmpint(qcrypto_rng_add_entropy(a, "", 0, &err), ==, 0);
    g_assert_cmpint(qcrypto_rng_add_entropy(b, "", 1, &err), ==, 0);
    draw(a, x, 32);
    draw(b, y, 32);
    g_assert_true(memcmp(x, y, 32) != 0);

    copy_state(b, a);
    const uint64_t reseeds = status_of(a).reseeds;
    qcrypto_random_reseed_all();
    g_assert_false(status_of(a).seeded);
    g_assert_cmpuint(status_of(a).buffered, ==, 0);
    draw(a, x, 32);
    draw(b, y, 32);
    g_assert_true(memcmp(x, y, 32) != 0);
    g_assert_cmpuint(status_of(a).reseeds, ==, reseeds + 1);
    g_assert_true(status_of(a).seeded);

    /* the epoch may wrap; 0 and odd numbers are nobody's */
    qcrypto_rng_epoch = UINT32_MAX - 1;
    draw(a, x, 32);
    qcrypto_random_reseed_all();
    g_assert_cmpuint(qcrypto_rng_epoch, ==, 2);
    g_assert_false(status_of(a).seeded);
    draw(a, x, 32);
    g_assert_true(status_of(a).seeded);
    qcrypto_rng_free(a);
    qcrypto_rng_free(b);
}

static char *id_path;

static void write_id(const void *bytes, size_t n)
{
    g_autoptr(GError) e = NULL;

    g_file_set_contents(id_path, bytes, (gssize)n, &e);
    g_assert_no_error(e);
}

static void watch_file(void)
{
    uint8_t x[32], y[32];

    write_id("generation one\n", 15);
    g_setenv("QCRYPTO_RNG_GENERATION", id_path, TRUE);
    QCryptoRng *a = new_rng(8), *b = new_rng(8);
    g_assert_cmpstr(status_of(a).generation, ==, id_path);
    draw(a, x, 1);
    g_usleep(30000);
    draw(a, x, 1);
    g_assert_cmpuint(status_of(a).reseeds, ==, 1);
    copy_state(b, a);
    write_id("generation two\n", 15);
    g_usleep(30000);
    g_assert_false(status_of(a).seeded);
    draw(a, x, 32);
    draw(b, y, 32);
    g_assert_true(memcmp(x, y, 32) != 0);
    g_assert_cmpuint(status_of(a).reseeds, ==, 2);
    g_assert_cmpuint(status_of(b).reseeds, ==, 2);
    g_usleep(30000);
    draw(a, x, 32);
    g_assert_cmpuint(status_of(a).reseeds, ==, 2);
    /* one that vanishes is another, once */
    g_assert_cmpint(unlink(id_path), ==, 0);
    g_usleep(30000);
    draw(a, x, 32);
    g_usleep(30000);
    draw(a, x, 32);
    g_assert_cmpuint(status_of(a).reseeds, ==, 3);
    qcrypto_rng_free(a);
    qcrypto_rng_free(b);
}

/* A page as VMClock has it, little-endian, with and without its counter. */
static void watch_page_with(unsigned flags, size_t counter)
{
    uint8_t page[4096] = "VCLK";
    uint8_t x[32], y[32];

    page[4] = 112;
    page[8] = 1;
    page[25] = (uint8_t)(flags >> 8);
    write_id(page, sizeof(page));
    g_setenv("QCRYPTO_RNG_GENERATION", id_path, TRUE);
    QCryptoRng *a = new_rng(8), *b = new_rng(8);
    g_assert_cmpstr(status_of(a).generation, ==, id_path);
    FILE *f = fopen(id_path, "r+");
    g_assert_nonnull(f);
    draw(a, x, 1);
    for (unsigned i = 1; i < 5; i++) {
        copy_state(b, a);
        const uint64_t reseeds = status_of(a).reseeds;
        g_assert_true(status_of(a).seeded);
        draw(a, x, 32);
        draw(b, y, 32);
        g_assert_cmpmem(x, 32, y, 32);
        copy_state(b, a);
        g_assert_cmpint(fseek(f, (long)counter, SEEK_SET), ==, 0);
        fputc((int)i, f);
        fflush(f);
        /* at once: it costs no more than looking */
        g_assert_false(status_of(a).seeded);
        draw(a, x, 32);
        draw(b, y, 32);
        g_assert_true(memcmp(x, y, 32) != 0);
        g_assert_cmpuint(status_of(a).reseeds, ==, reseeds + 1);
    }
    fclose(f);
    qcrypto_rng_free(a);
    qcrypto_rng_free(b);
}

static void watch_page(void)
{
    watch_page_with(1 << 8, 104);
}

static void watch_old_page(void)
{
    watch_page_with(0, 16);
}

static void watch_nothing(void)
{
    uint8_t buf[40];

    g_setenv("QCRYPTO_RNG_GENERATION", "/nonexistent/id", TRUE);
    for (int i = 0; i < 2; i++) {
        memset(buf, 1, sizeof(buf));
        expect_error(qcrypto_random_bytes(buf, sizeof(buf), &err), INVALID,
                     "QCRYPTO_RNG_GENERATION: cannot read a generation id from "
                     "'/nonexistent/id'");
        g_assert_true(is_zero(buf, sizeof(buf)));
    }
}

/* First of all tests: the file is chosen at a process's first use. */
static void test_generation(void)
{
    g_autofree char *folder = g_dir_make_tmp("test-rng-XXXXXX", &err);

    g_assert_no_error(err);
    id_path = g_build_filename(folder, "id", NULL);
    in_child(watch_file);
    in_child(watch_page);
    in_child(watch_old_page);
    in_child(watch_nothing);
    unlink(id_path);
    rmdir(folder);
    g_clear_pointer(&id_path, g_free);
}

/* ---- seeds ---- */

/* A refill, or two. */
static void turn_over(QCryptoRng *r)
{
    uint8_t buf[900];

    for (size_t n = 0; n <= POOL; n += sizeof(buf)) {
        draw(r, buf, sizeof(buf));
    }
}

static void test_seeds(void)
{
    QCryptoRng *r = new_rng(8);
    static uint8_t buf[3 * STREAM];
    uint64_t given = 0;

    g_assert_true(status_of(r).seeded);
    g_assert_cmpuint(status_of(r).reseeds, ==, 1);
    g_assert_cmpuint(status_of(r).bytes, ==, 0);
    /* by bytes */
    while (status_of(r).reseeds == 1) {
        g_assert_cmpuint(status_of(r).bytes, ==, given);
        draw(r, buf, 777);
        given += 777;
        g_assert_cmpuint(given, <, QCRYPTO_RNG_SEED_BYTES + 2 * POOL);
    }
    g_assert_cmpuint(given, >=, QCRYPTO_RNG_SEED_BYTES);
    g_assert_cmpuint(status_of(r).bytes, <=, 777);
    draw(r, buf, sizeof(buf));
    g_assert_cmpuint(status_of(r).reseeds, >=, 4);
    /* by time, at the next refill */
    const uint64_t before = status_of(r).reseeds;
    make_young(r);
    turn_over(r);
    g_assert_cmpuint(status_of(r).reseeds, ==, before);
    r->seeded_at -= QCRYPTO_RNG_SEED_MS + 1;
    turn_over(r);
    g_assert_cmpuint(status_of(r).reseeds, ==, before + 1);
    /* a clock that was set back */
    r->seeded_at += 100000;
    turn_over(r);
    g_assert_cmpuint(status_of(r).reseeds, ==, before + 2);
    g_assert_null(status_of(r).last_error);
    qcrypto_rng_free(r);
}

static void test_rounds(void)
{
    static const unsigned known[] = {8, 12, 20};
    uint8_t buf[64];

    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        QCryptoRng *r = new_rng(known[i]);

        g_assert_cmpuint(status_of(r).rounds, ==, known[i]);
        draw(r, buf, sizeof(buf));
        qcrypto_rng_free(r);
    }
    g_assert_null(qcrypto_rng_new(9, &err));
    expect_error(-1, INVALID, "ChaCha has 8, 12 or 20 rounds, not 9");
    qcrypto_rng_free(NULL);
}

static void rounds_of_environment(void)
{
    static const char *const wrong[] = {"", "9", "0", "-8", "8 ", "0x8", "1e1"};
    uint8_t buf[64];

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_setenv("QCRYPTO_RNG_ROUNDS", wrong[i], TRUE);
        memset(buf, 1, sizeof(buf));
        g_assert_cmpint(qcrypto_random_bytes(buf, sizeof(buf), &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, INVALID);
        g_assert_true(g_str_has_prefix(err->message, "QCRYPTO_RNG_ROUNDS: "));
        g_clear_error(&err);
        g_assert_true(is_zero(buf, sizeof(buf)));
        g_assert_cmpint(qcrypto_random_init(&err), ==, -1);
        g_clear_error(&err);
    }
    g_setenv("QCRYPTO_RNG_ROUNDS", "12", TRUE);
    g_assert_cmpint(qcrypto_random_init(&err), ==, 0);
    g_assert_cmpuint(status_of(qcrypto_random_get_rng(&err)).rounds, ==, 12);
}

static void test_environment(void)
{
    in_child(rounds_of_environment);
}

static void test_arguments(void)
{
    QCryptoRng *r = new_rng(0);
    uint8_t buf[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    g_assert_cmpint(qcrypto_rng_bytes(r, NULL, 0, &err), ==, 0);
    g_assert_cmpint(qcrypto_random_bytes(NULL, 0, &err), ==, 0);
    expect_error(qcrypto_rng_bytes(r, NULL, 1, &err), INVALID, "buf is NULL");
    expect_error(qcrypto_random_bytes(NULL, 5000, &err), INVALID, "buf is NULL");
    expect_error(qcrypto_rng_bytes(NULL, buf, 8, &err), INVALID, "rng is NULL");
    g_assert_true(is_zero(buf, 8));
    expect_error(qcrypto_rng_reseed(NULL, &err), INVALID, "rng is NULL");
    expect_error(qcrypto_rng_add_entropy(NULL, "", 0, &err), INVALID,
                 "rng is NULL");
    expect_error(qcrypto_rng_add_entropy(r, NULL, 1, &err), INVALID,
                 "data is NULL");
    qcrypto_rng_free(r);
}

/* ---- a kernel that fails ---- */

static void expect_fresh(const uint8_t *buf)
{
    static uint8_t last[64];
    unsigned bits = 0;

    for (size_t i = 0; i < 64; i++) {
        bits += (unsigned)__builtin_popcount(buf[i]);
    }
    /* 256 in the mean; 11 deviations to either side */
    g_assert_cmpuint(bits, >, 128);
    g_assert_cmpuint(bits, <, 384);
    g_assert_true(memcmp(last, buf, 64) != 0);
    memcpy(last, buf, 64);
}

static void test_kernel(void)
{
    static const struct {
        ShimRandom how;
        unsigned calls;
    } works[] = {{SHIM_RANDOM_REAL, 1},
                 {SHIM_RANDOM_SHORT, 64},
                 {SHIM_RANDOM_EINTR, 4},
                 {SHIM_RANDOM_ENOSYS, 1}};
    uint8_t buf[64];

    for (size_t i = 0; i < G_N_ELEMENTS(works); i++) {
        qcrypto_test_shim_reset();
        qcrypto_test_shim.random = works[i].how;
        memset(buf, 0, sizeof(buf));
        g_assert_cmpint(qcrypto_kernel_random(buf, sizeof(buf), &err), ==, 0);
        g_assert_no_error(err);
        g_assert_cmpuint(qcrypto_test_shim.calls, ==, works[i].calls);
        expect_fresh(buf);
        /* and by way of a generator that has no seed yet */
        qcrypto_test_shim.interrupted = 0;
        QCryptoRng *r = new_rng(8);
        draw(r, buf, sizeof(buf));
        expect_fresh(buf);
        qcrypto_rng_free(r);
    }
    /* nothing asked for, nothing done */
    qcrypto_test_shim_reset();
    g_assert_cmpint(qcrypto_kernel_random(buf, 0, &err), ==, 0);
    g_assert_cmpuint(qcrypto_test_shim.calls, ==, 0);
}

#define EIO_TEXT                                                               \
    "no random numbers from the kernel: getrandom: Input/output error"

static void test_kernel_fails(void)
{
    uint8_t buf[64];

    qcrypto_test_shim_reset();
    for (unsigned i = SHIM_RANDOM_EIO; i <= SHIM_RANDOM_NOTHING; i++) {
        qcrypto_test_shim.random = (ShimRandom)i;
        memset(buf, 1, sizeof(buf));
        expect_error(qcrypto_kernel_random(buf, sizeof(buf), &err), ENTROPY,
                     EIO_TEXT);
        g_assert_true(is_zero(buf, sizeof(buf)));
        g_assert_null(qcrypto_rng_new(8, &err));
        expect_error(-1, ENTROPY, EIO_TEXT);
    }
    qcrypto_test_shim_reset();
}

static void expect_failure(QCryptoRng *r, uint8_t *buf, size_t n)
{
    memset(buf, 1, n);
    expect_error(qcrypto_rng_bytes(r, buf, n, &err), ENTROPY, EIO_TEXT);
    g_assert_true(is_zero(buf, n));
    g_assert_false(status_of(r).seeded);
    g_assert_cmpuint(status_of(r).bytes, ==, 0);
    g_assert_cmpuint(status_of(r).buffered, ==, 0);
    g_assert_cmpstr(status_of(r).last_error, ==, EIO_TEXT);
}

/* A seed that falls due and does not come. */
static void test_seed_fails(void)
{
    QCryptoRng *r = new_rng(8);
    static uint8_t buf[3 * STREAM];
    const uint64_t before = status_of(r).reseeds;

    draw(r, buf, 100);
    qcrypto_test_shim_reset();
    qcrypto_test_shim.random = SHIM_RANDOM_EIO;
    /* what is there is given out; no seed is due yet */
    draw(r, buf, 100);
    /* in the midst of a request, megabytes of which were written */
    qcrypto_test_shim.good = 1;
    expect_failure(r, buf, sizeof(buf));
    g_assert_cmpuint(status_of(r).reseeds, ==, before + 1);
    /* it stays so */
    expect_failure(r, buf, 1);
    expect_failure(r, buf, 5000);
    expect_error(qcrypto_rng_reseed(r, &err), ENTROPY, EIO_TEXT);
    expect_error(qcrypto_rng_add_entropy(r, "x", 1, &err), ENTROPY, EIO_TEXT);
    expect_failure(r, buf, 32);
    /* until the kernel works again; the error stays to be seen */
    qcrypto_test_shim_reset();
    draw(r, buf, 32);
    g_assert_true(status_of(r).seeded);
    g_assert_cmpuint(status_of(r).reseeds, ==, before + 2);
    g_assert_cmpuint(status_of(r).bytes, ==, 32);
    g_assert_cmpstr(status_of(r).last_error, ==, EIO_TEXT);

    qcrypto_test_shim.random = SHIM_RANDOM_EIO;
    qcrypto_random_reseed_all();
    expect_failure(r, buf, 32);
    qcrypto_test_shim_reset();
    draw(r, buf, 32);
    /* a failed reseed leaves nothing of the old buffer to serve */
    qcrypto_test_shim.random = SHIM_RANDOM_EIO;
    expect_error(qcrypto_rng_reseed(r, &err), ENTROPY, EIO_TEXT);
    g_assert_true(is_zero(r->secret->pool, POOL));
    expect_failure(r, buf, 8);
    qcrypto_test_shim_reset();
    qcrypto_rng_free(r);
}

/* ---- threads ---- */

typedef struct Thread {
    pthread_t id;
    uint8_t bytes[32];
    QCryptoRng *rng;
    const void *secret;
    uint64_t reseeds;
} Thread;

static pthread_barrier_t all_there;

static void *thread_draws(void *opaque)
{
    Thread *t = opaque;

    if (qcrypto_random_bytes(t->bytes, 32, NULL) == 0) {
        t->rng = qcrypto_random_get_rng(NULL);
        t->secret = t->rng->secret;
        /* not the caller's to free */
        qcrypto_rng_free(t->rng);
    }
    pthread_barrier_wait(&all_there);
    /* in between, the main thread wants all of them seeded again */
    pthread_barrier_wait(&all_there);
    uint8_t more[1];
    if (qcrypto_random_bytes(more, 1, NULL) == 0) {
        t->reseeds = status_of(t->rng).reseeds;
    }
    return NULL;
}

static void test_threads(void)
{
    enum { N = 8 };
    Thread t[N] = {{.rng = NULL}};

    g_assert_cmpint(qcrypto_random_init(&err), ==, 0);
    QCryptoRng *mine = qcrypto_random_get_rng(&err);
    g_assert_true(mine == qcrypto_random_get_rng(&err));
    g_assert_cmpint(pthread_barrier_init(&all_there, NULL, N + 1), ==, 0);
    for (size_t i = 0; i < N; i++) {
        g_assert_cmpint(pthread_create(&t[i].id, NULL, thread_draws, &t[i]), ==,
                        0);
    }
    pthread_barrier_wait(&all_there);
    for (size_t i = 0; i < N; i++) {
        g_assert_nonnull(t[i].rng);
        g_assert_true(t[i].rng != mine);
        for (size_t j = 0; j < i; j++) {
            g_assert_true(t[i].rng != t[j].rng);
            g_assert_true(memcmp(t[i].bytes, t[j].bytes, 32) != 0);
        }
    }
    qcrypto_test_shim_reset();
    qcrypto_test_shim.watched = t[0].secret;
    qcrypto_random_reseed_all();
    pthread_barrier_wait(&all_there);
    for (size_t i = 0; i < N; i++) {
        g_assert_cmpint(pthread_join(t[i].id, NULL), ==, 0);
        g_assert_cmpuint(t[i].reseeds, ==, 2);
    }
    /* wiped and given back with the thread */
    g_assert_cmpuint(qcrypto_test_shim.unmapped, ==, 1);
    g_assert_cmpuint(qcrypto_test_shim.dirty, ==, 0);
    qcrypto_test_shim_reset();
    pthread_barrier_destroy(&all_there);
}

static pthread_key_t late_key;
static uint8_t late[2][32];

/* A destructor of somebody else's that comes after ours. */
static void draw_late(void *value)
{
    uint8_t *to = value;

    g_assert_cmpint(qcrypto_random_bytes(to, 32, NULL), ==, 0);
    if (to == late[0]) {
        /* again, when ours has run once more, too */
        pthread_setspecific(late_key, late[1]);
    }
}

static void *late_thread(void *opaque)
{
    uint8_t byte;

    g_assert_cmpint(qcrypto_random_bytes(&byte, 1, NULL), ==, 0);
    pthread_setspecific(late_key, late[0]);
    return opaque;
}

static void test_late(void)
{
    pthread_t id;

    g_assert_cmpint(qcrypto_random_init(&err), ==, 0);
    g_assert_cmpint(pthread_key_create(&late_key, draw_late), ==, 0);
    g_assert_cmpint(pthread_create(&id, NULL, late_thread, NULL), ==, 0);
    g_assert_cmpint(pthread_join(id, NULL), ==, 0);
    g_assert_false(is_zero(late[0], 32));
    g_assert_false(is_zero(late[1], 32));
    g_assert_true(memcmp(late[0], late[1], 32) != 0);
    pthread_key_delete(late_key);
}

/* ---- its pages ---- */

static void test_free(void)
{
    QCryptoRng *r = new_rng(8);
    uint8_t buf[100];

    draw(r, buf, sizeof(buf));
    qcrypto_test_shim_reset();
    qcrypto_test_shim.watched = r->secret;
    qcrypto_rng_free(r);
    g_assert_cmpuint(qcrypto_test_shim.unmapped, ==, 1);
    g_assert_cmpuint(qcrypto_test_shim.dirty, ==, 0);
    qcrypto_test_shim_reset();
}

static void not_locked(void)
{
    const struct rlimit none = {0, 0};
    uint8_t buf[32];

    g_assert_cmpint(setrlimit(RLIMIT_MEMLOCK, &none), ==, 0);
    QCryptoRng *r = new_rng(8);
    /* root may lock whatever the limit says */
    g_assert_cmpint(status_of(r).locked, ==, r->pages.locked);
    if (geteuid() != 0) {
        g_assert_false(status_of(r).locked);
    }
    draw(r, buf, sizeof(buf));
    qcrypto_rng_free(r);
}

static void test_lock(void)
{
    QCryptoRng *r = new_rng(8);

    g_assert_cmpuint(r->pages.size % (size_t)sysconf(_SC_PAGESIZE), ==, 0);
    qcrypto_rng_free(r);
    in_child(not_locked);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    /* these two want a process that has not used the generator yet */
    g_test_add_func("/rng/generation", test_generation);
    g_test_add_func("/rng/environment", test_environment);
    g_test_add_data_func("/rng/lengths/8", GUINT_TO_POINTER(8), test_lengths);
    g_test_add_data_func("/rng/lengths/20", GUINT_TO_POINTER(20), test_lengths);
    g_test_add_func("/rng/sequence", test_sequence);
    g_test_add_func("/rng/gone/output", test_output_gone);
    g_test_add_func("/rng/gone/keys", test_keys_gone);
    g_test_add_func("/rng/dropped", test_dropped);
    g_test_add_func("/rng/snapshot", test_snapshot);
    g_test_add_func("/rng/seeds", test_seeds);
    g_test_add_func("/rng/rounds", test_rounds);
    g_test_add_func("/rng/arguments", test_arguments);
    g_test_add_func("/rng/kernel/works", test_kernel);
    g_test_add_func("/rng/kernel/fails", test_kernel_fails);
    g_test_add_func("/rng/kernel/fails-later", test_seed_fails);
    g_test_add_func("/rng/threads/own", test_threads);
    g_test_add_func("/rng/threads/late", test_late);
    g_test_add_func("/rng/pages/free", test_free);
    g_test_add_func("/rng/pages/lock", test_lock);
    return g_test_run();
}
