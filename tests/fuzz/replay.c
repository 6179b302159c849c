/*
 * Fuzz targets as tests: seeds and changes of them, the same each time
 *
 *     fuzz-luks1                      the test
 *     fuzz-luks1 --write-corpus DIR   the seeds, for libFuzzer
 *     fuzz-luks1 FILE...              inputs that were found
 *
 * The address space is limited to 64 MiB above what the seeds take: no input
 * makes the library ask for more.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fuzz.h"

#include <string.h>
#include <sys/resource.h>

#include "sanitized.h"

#define ROOM      ((rlim_t)64 << 20)
#define RANDOM    300 /* changed inputs a seed */
#define MAX_EDITS 4

typedef struct Seed {
    char *name;
    uint8_t *data;
    size_t len, positions;
} Seed;

static void keep(const char *name, const uint8_t *data, size_t len,
                 size_t positions, void *opaque)
{
    const Seed s = {g_strdup(name), g_malloc(len + 1), len, positions};

    memcpy(s.data, data, len);
    g_array_append_val((GArray *)opaque, s);
}

static void limit_memory(void)
{
    g_autofree char *status = NULL;
    struct rlimit r;

    if (sanitized ||
        !g_file_get_contents("/proc/self/status", &status, NULL, NULL)) {
        return;
    }
    const char *line = strstr(status, "VmSize:");
    g_assert_nonnull(line);
    r.rlim_cur = r.rlim_max =
        g_ascii_strtoull(line + 7, NULL, 10) * 1024 + ROOM;
    g_assert_cmpint(setrlimit(RLIMIT_AS, &r), ==, 0);
}

/* xorshift (Marsaglia 2003): the same on every machine */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A copy of exactly len bytes, so that a sanitizer sees the first beyond. */
static void try_input(const uint8_t *data, size_t len)
{
    uint8_t *own = g_malloc(MAX(len, 1));

    memcpy(own, data, len);
    LLVMFuzzerTestOneInput(own, len);
    g_free(own);
}

static void change_each_byte(const Seed *s)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff};

    for (size_t i = 0; i < s->positions; i++) {
        const uint8_t was = s->data[i];

        for (size_t f = 0; f < G_N_ELEMENTS(flips); f++) {
            s->data[i] = was ^ flips[f];
            try_input(s->data, s->len);
        }
        if (was) {
            s->data[i] = 0;
            try_input(s->data, s->len);
        }
        s->data[i] = was;
    }
}

/* Bytes changed, repeated, dropped; the end cut off */
static void change_at_random(const Seed *s, uint32_t *state)
{
    g_autofree uint8_t *input = g_malloc(s->len + 1);

    for (unsigned n = 0; n < RANDOM; n++) {
        const size_t span = s->positions ? s->positions : s->len;
        size_t len = s->len;

        memcpy(input, s->data, len);
        for (unsigned e = next_random(state) % MAX_EDITS + 1; e; e--) {
            const size_t from = next_random(state) % span;
            const size_t to = next_random(state) % span;
            const size_t piece = next_random(state) % 16 + 1;

            switch (next_random(state) % 4) {
            case 0:
                input[to] = (uint8_t)next_random(state);
                break;
            case 1:
                memmove(input + to, input + from,
                        MIN(piece, len - MIN(len, MAX(to, from))));
                break;
            case 2:
                if (from + piece < len) {
                    memmove(input + from, input + from + piece,
                            len - from - piece);
                }
                break;
            default:
                if (n % 16 == 0) {
                    len = MAX(from, 1);
                }
            }
        }
        try_input(input, len);
    }
}

static void test_seeds(gconstpointer opaque)
{
    const GArray *seeds = opaque;

    g_assert_cmpuint(seeds->len, >, 0);
    for (guint i = 0; i < seeds->len; i++) {
        const Seed *s = &g_array_index(seeds, Seed, i);

        try_input(s->data, s->len);
    }
    g_assert_cmpuint(fuzz_accepted, >, 0);
}

static void test_bytes(gconstpointer opaque)
{
    const GArray *seeds = opaque;
    size_t changed = 0;

    for (guint i = 0; i < seeds->len; i++) {
        change_each_byte(&g_array_index(seeds, Seed, i));
        changed += g_array_index(seeds, Seed, i).positions;
    }
    g_assert_cmpuint(changed, >, 500);
}

static void test_random(gconstpointer opaque)
{
    const GArray *seeds = opaque;
    uint32_t state = 0x2545f491;
    const unsigned before = fuzz_accepted;

    for (guint i = 0; i < seeds->len; i++) {
        change_at_random(&g_array_index(seeds, Seed, i), &state);
    }
    /* some changes are in places where nothing stands */
    g_assert_cmpuint(fuzz_accepted, >, before);
    g_assert_cmpuint(fuzz_accepted - before, <, RANDOM * seeds->len);
}

static int write_corpus(const GArray *seeds, const char *dir)
{
    for (guint i = 0; i < seeds->len; i++) {
        const Seed *s = &g_array_index(seeds, Seed, i);
        g_autofree char *path = g_build_filename(dir, s->name, NULL);
        g_autoptr(GError) err = NULL;

        if (!g_file_set_contents(path, (const char *)s->data, (gssize)s->len,
                                 &err)) {
            g_printerr("%s\n", err->message);
            return 1;
        }
    }
    return 0;
}

static int run_file(const char *path)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *data = NULL;
    gsize len;

    if (!g_file_get_contents(path, &data, &len, &err)) {
        g_printerr("%s\n", err->message);
        return 1;
    }
    try_input((const uint8_t *)data, len);
    return 0;
}

static void free_seed(gpointer opaque)
{
    Seed *s = opaque;

    g_free(s->name);
    g_free(s->data);
}

int main(int argc, char **argv)
{
    g_autoptr(GArray) seeds = g_array_new(FALSE, FALSE, sizeof(Seed));
    int ret = 0;

    if (argc > 1 && argv[1][0] != '-') {
        for (int i = 1; i < argc; i++) {
            ret |= run_file(argv[i]);
        }
        return ret;
    }
    g_array_set_clear_func(seeds, free_seed);
    fuzz_seeds(keep, seeds);
    if (argc == 3 && !strcmp(argv[1], "--write-corpus")) {
        return write_corpus(seeds, argv[2]);
    }
    g_test_init(&argc, &argv, NULL);
    limit_memory();
    g_test_add_data_func("/fuzz/seeds", seeds, test_seeds);
    g_test_add_data_func("/fuzz/bytes", seeds, test_bytes);
    g_test_add_data_func("/fuzz/random", seeds, test_random);
    return g_test_run();
}
