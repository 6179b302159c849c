/*
 * Compression: every row against every other
 *
 * What one row compressed each of the same format must decompress; no row may
 * touch a byte outside its buffers, believe what damaged data says, or leave
 * part of a result behind.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/comp.h>
#include <string.h>

#include "crypto/core/select.h"
#include "guard.h"
#include "rows.h"
#include "vectors.h"

#define MAX_LEN 70000

typedef struct CompRow {
    QCryptoCandidate *candidate;
    char *name; /* "zlib:stream" */
    QCryptoCompAlgo alg;
    const char *alg_name;
} CompRow;

static GArray *rows;

static void find_rows(void)
{
    g_autoptr(GError) err = NULL;
    size_t n;
    QCryptoCandidate *const *c = qcrypto_candidates(&n, &err);

    g_assert_no_error(err);
    rows = g_array_new(FALSE, FALSE, sizeof(CompRow));
    for (size_t i = 0; i < n; i++) {
        if (c[i]->row->kind == QCRYPTO_KIND_COMP) {
            const QCryptoCompAlgo alg = (QCryptoCompAlgo)c[i]->row->alg;
            const CompRow row = {
                .candidate = c[i],
                .name = g_strdup_printf("%s:%s", c[i]->provider->name,
                                        c[i]->row->impl),
                .alg = alg,
                .alg_name = qcrypto_comp_algo_name(alg),
            };
            g_array_append_val(rows, row);
        }
    }
}

static QCryptoComp *open_row(const CompRow *row, int level)
{
    g_autoptr(GError) err = NULL;
    QCryptoComp *comp = qcrypto_comp_new_from(row->name, row->alg, level, &err);

    g_assert_no_error(err);
    g_assert_nonnull(comp);
    g_assert_cmpstr(qcrypto_comp_get_provider(comp), ==,
                    row->candidate->provider->name);
    g_assert_cmpstr(qcrypto_comp_get_impl(comp), ==, row->candidate->row->impl);
    return comp;
}

/* ---- contents ---- */

enum { WORDS, NOISE, ZEROS, N_CONTENTS };

static void fill_content(int content, uint8_t *p, size_t n, uint64_t seed)
{
    static const char words[] = "sector cluster header volume key slot image ";

    memset(p, 0, n);
    if (content == ZEROS) {
        return;
    }
    fill_seeded(p, n, seed);
    for (size_t i = 0; content == WORDS && i < n;) {
        /* pieces of 3 to 10 letters, from anywhere */
        const size_t from = p[i] % (sizeof(words) - 11);
        const size_t len = MIN(3u + p[i] / 32, n - i);

        memcpy(p + i, words + from, len);
        i += len;
    }
}

/* ---- calls that check what every call must keep ---- */

static bool all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i]) {
            return false;
        }
    }
    return true;
}

typedef struct Outcome {
    bool done;
    int kind; /* of the error */
    size_t len;
} Outcome;

/* out has exactly this room, to the byte; checks what a failure leaves. */
static Outcome outcome(int ret, GError *err, const uint8_t *out, size_t room,
                       size_t len)
{
    Outcome o = {.done = ret == 0, .len = len};

    if (o.done) {
        g_assert_no_error(err);
        g_assert_cmpuint(len, <=, room);
        return o;
    }
    g_assert_nonnull(err);
    g_assert_true(err->domain == QCRYPTO_ERROR);
    o.kind = err->code;
    g_assert_true(o.kind == QCRYPTO_ERROR_CORRUPT_DATA ||
                  o.kind == QCRYPTO_ERROR_NO_SPACE);
    g_assert_cmpuint(len, ==, room);
    g_assert_true(all_zero(out, room));
    g_error_free(err);
    return o;
}

static Outcome compress(QCryptoComp *comp, const uint8_t *in, size_t n,
                        uint8_t *out, size_t room)
{
    GError *err = NULL;
    size_t len = room;

    memset(out, 0xa5, room);
    const int ret = qcrypto_comp_compress(comp, in, n, out, &len, &err);
    return outcome(ret, err, out, room, len);
}

static Outcome decompress(QCryptoComp *comp, const uint8_t *in, size_t n,
                          uint8_t *out, size_t room)
{
    GError *err = NULL;
    size_t len = room;

    memset(out, 0xa5, room);
    const int ret = qcrypto_comp_decompress(comp, in, n, out, &len, &err);
    return outcome(ret, err, out, room, len);
}

/* ---- round trips ---- */

typedef struct Pair {
    const CompRow *from, *to;
} Pair;

/* Buffers that end where a page begins that cannot be touched. */
typedef struct Room {
    Guarded plain, packed, back;
} Room;

static Room room_new(QCryptoCompAlgo alg)
{
    const size_t bound = qcrypto_comp_bound(alg, MAX_LEN);

    g_assert_cmpuint(bound, >, MAX_LEN);
    return (Room){guarded_new(MAX_LEN), guarded_new(bound),
                  guarded_new(MAX_LEN)};
}

static void room_free(Room *r)
{
    guarded_free(&r->plain);
    guarded_free(&r->packed);
    guarded_free(&r->back);
}

static void round_trip(QCryptoComp *from, QCryptoComp *to, QCryptoCompAlgo alg,
                       Room *r, int content, size_t len)
{
    const size_t bound = qcrypto_comp_bound(alg, len);
    uint8_t *plain = r->plain.end - len;
    uint8_t *packed = r->packed.end - bound;
    uint8_t *back = r->back.end - len;

    fill_content(content, plain, len, len);
    const Outcome c = compress(from, plain, len, packed, bound);
    g_assert_true(c.done);
    /* the other end of the output is as near when reading */
    memmove(r->packed.end - c.len, packed, c.len);
    packed = r->packed.end - c.len;
    const Outcome d = decompress(to, packed, c.len, back, len);
    if (!d.done || d.len != len || memcmp(back, plain, len)) {
        g_test_message("%zu bytes of content %d come back differently", len,
                       content);
        g_test_fail();
    }
    if (len) {
        const Outcome less = decompress(to, packed, c.len, back + 1, len - 1);

        g_assert_false(less.done);
        g_assert_cmpint(less.kind, ==, QCRYPTO_ERROR_NO_SPACE);
    }
    /* a byte less than it took: refused, or it can do with that */
    uint8_t *tight = r->packed.end - (c.len - 1);
    const Outcome t = compress(from, plain, len, tight, c.len - 1);
    if (t.done) {
        const Outcome again = decompress(to, tight, t.len, back, len);

        g_assert_true(again.done);
        g_assert_cmpmem(back, len, plain, len);
    } else {
        g_assert_cmpint(t.kind, ==, QCRYPTO_ERROR_NO_SPACE);
    }
}

static void test_round_trip(const void *opaque)
{
    static const size_t more[] = {4095,  4096,  32767, 32768, 32769,
                                  65535, 65536, 65537, 70000};
    const Pair *p = opaque;
    g_autoptr(QCryptoComp) from = open_row(p->from, QCRYPTO_COMP_LEVEL_DEFAULT);
    g_autoptr(QCryptoComp) to = open_row(p->to, QCRYPTO_COMP_LEVEL_DEFAULT);
    Room r = room_new(p->from->alg);

    for (int content = 0; content < N_CONTENTS; content++) {
        for (size_t len = 0; len < MAX_LEN; len += len < 300 ? 1 : len / 6) {
            round_trip(from, to, p->from->alg, &r, content, len);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(more); i++) {
            round_trip(from, to, p->from->alg, &r, content, more[i]);
        }
    }
    room_free(&r);
}

/* One object a level, every level that takes no hundreds of megabytes. */
static void test_levels(const void *opaque)
{
    static const size_t lens[] = {0, 1, 20, 1000, 5000, 70000};
    const Pair *p = opaque;
    g_autoptr(QCryptoComp) to = open_row(p->to, QCRYPTO_COMP_LEVEL_DEFAULT);
    Room r = room_new(p->from->alg);
    int min, max, served = 0;

    g_assert_cmpint(qcrypto_comp_levels(p->from->alg, &min, &max, NULL), ==, 0);
    for (int level = MAX(min, -3); level <= max; level++) {
        g_autoptr(GError) err = NULL;
        /* the lowest one once */
        QCryptoComp *from = qcrypto_comp_new_from(
            p->from->name, p->from->alg, level < -2 ? min : level, &err);

        if (!from) {
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
            continue;
        }
        for (int content = 0; content < N_CONTENTS; content++) {
            for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
                round_trip(from, to, p->from->alg, &r, content, lens[i]);
            }
        }
        qcrypto_comp_free(from);
        served++;
    }
    g_assert_cmpint(served, >=, 10);
    room_free(&r);
}

/* ---- damage ---- */

#define SMALL 220

static GByteArray *stream_of(const CompRow *row, int content, size_t len,
                             uint64_t seed)
{
    g_autoptr(QCryptoComp) comp = open_row(row, QCRYPTO_COMP_LEVEL_DEFAULT);
    const size_t bound = qcrypto_comp_bound(row->alg, len);
    g_autofree uint8_t *plain = g_malloc(len + 1);
    GByteArray *a = g_byte_array_new();

    g_byte_array_set_size(a, (guint)bound);
    fill_content(content, plain, len, seed);
    const Outcome o = compress(comp, plain, len, a->data, bound);
    g_assert_true(o.done);
    g_byte_array_set_size(a, (guint)o.len);
    return a;
}

/* Only blocks of lz4 may end early and be none the wiser. */
static void test_truncated(const void *opaque)
{
    const CompRow *row = opaque;
    g_autoptr(QCryptoComp) comp = open_row(row, QCRYPTO_COMP_LEVEL_DEFAULT);
    Guarded in = guarded_new(4096), out = guarded_new(8192);

    for (int content = 0; content < N_CONTENTS; content++) {
        g_autoptr(GByteArray) s = stream_of(row, content, SMALL, 1);

        for (size_t n = 0; n < s->len; n++) {
            uint8_t *p = in.end - n;

            memcpy(p, s->data, n);
            const Outcome exact =
                decompress(comp, p, n, out.end - SMALL, SMALL);
            const Outcome ample = decompress(comp, p, n, out.start, 8192);

            if (row->alg == QCRYPTO_COMP_ALGO_LZ4) {
                g_assert_true(!ample.done || ample.len < SMALL);
            } else {
                g_assert_false(exact.done);
                g_assert_false(ample.done);
                g_assert_cmpint(ample.kind, ==, QCRYPTO_ERROR_CORRUPT_DATA);
            }
        }
    }
    guarded_free(&in);
    guarded_free(&out);
}

/* Every bit turned: an error or other content, but of zlib-deflate, whose
 * checksum tells. */
static void test_flipped(const void *opaque)
{
    const CompRow *row = opaque;
    g_autoptr(QCryptoComp) comp = open_row(row, QCRYPTO_COMP_LEVEL_DEFAULT);
    Guarded in = guarded_new(4096), out = guarded_new(8192);
    size_t refused = 0;

    for (int content = 0; content < N_CONTENTS; content++) {
        g_autoptr(GByteArray) s = stream_of(row, content, SMALL, 2);
        uint8_t plain[SMALL];
        uint8_t *p = in.end - s->len;

        fill_content(content, plain, SMALL, 2);
        memcpy(p, s->data, s->len);
        for (size_t bit = 0; bit < 8 * s->len; bit++) {
            uint8_t *exact = out.end - SMALL;

            p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            Outcome o = decompress(comp, p, s->len, exact, SMALL);
            refused += !o.done;
            if (o.done && row->alg == QCRYPTO_COMP_ALGO_ZLIB_DEFLATE) {
                g_assert_cmpmem(exact, o.len, plain, SMALL);
            }
            decompress(comp, p, s->len, out.start, 8192);
            p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        /* and it was none of its own */
        const Outcome o = decompress(comp, p, s->len, out.start, 8192);
        g_assert_true(o.done);
        g_assert_cmpmem(out.start, o.len, plain, SMALL);
    }
    g_assert_cmpuint(refused, >, 0);
    guarded_free(&in);
    guarded_free(&out);
}

/* Bytes behind the end. */
static void test_trailing(const void *opaque)
{
    const CompRow *row = opaque;
    g_autoptr(QCryptoComp) comp = open_row(row, QCRYPTO_COMP_LEVEL_DEFAULT);
    uint8_t out[SMALL];

    for (int content = 0; content < N_CONTENTS; content++) {
        g_autoptr(GByteArray) s = stream_of(row, content, SMALL, 3);
        const size_t n = s->len;

        for (guint extra = 1; extra < 40; extra++) {
            g_autoptr(GError) err = NULL;
            size_t used = n + extra, len = SMALL;

            g_byte_array_set_size(s, (guint)n + extra);
            memset(s->data + n, (int)(extra * 37), extra);
            const Outcome o = decompress(comp, s->data, s->len, out, SMALL);
            g_assert_false(o.done);
            if (row->alg == QCRYPTO_COMP_ALGO_LZ4) {
                /* data that does not end may want anything */
                g_assert_cmpint(qcrypto_comp_decompress_prefix(
                                    comp, s->data, &used, out, &len, &err),
                                ==, -1);
                g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
                continue;
            }
            g_assert_cmpint(o.kind, ==, QCRYPTO_ERROR_CORRUPT_DATA);
            g_assert_cmpint(qcrypto_comp_decompress_prefix(comp, s->data, &used,
                                                           out, &len, &err),
                            ==, 0);
            g_assert_no_error(err);
            g_assert_cmpuint(used, ==, n);
            g_assert_cmpuint(len, ==, SMALL);
        }
    }
}

/* ---- anything at all ---- */

#define FUZZ_MAX 3000
#define STREAMS  60
#define VARIANTS 100

static uint32_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return (uint32_t)(*x >> 32);
}

/* A stream with bytes changed, cut out, put in, or the whole made up. */
static size_t mangle(uint8_t *p, size_t n, uint64_t *x)
{
    for (uint32_t times = 1 + next_random(x) % 6; times && n; times--) {
        const size_t at = next_random(x) % n;
        const size_t some = 1 + next_random(x) % 16;
        const size_t len = MIN(some, n - at);

        switch (next_random(x) % 5) {
        case 0:
            p[at] = (uint8_t)next_random(x);
            break;
        case 1:
            p[at] = next_random(x) % 2 ? 0xff : 0;
            break;
        case 2:
            memmove(p + at, p + at + len, n - at - len);
            n -= len;
            break;
        case 3:
            if (n + len <= FUZZ_MAX) {
                memmove(p + at + len, p + at, n - at);
                n += len;
            }
            break;
        default:
            if (next_random(x) % 8 == 0) {
                fill_seeded(p + at, n - at, *x);
            }
        }
    }
    return n;
}

/* All rows of the format get the same, and who accepts it says the same. */
static void test_fuzz(const void *opaque)
{
    const QCryptoCompAlgo alg = ((const CompRow *)opaque)->alg;
    g_autoptr(GPtrArray) comps =
        g_ptr_array_new_with_free_func((GDestroyNotify)qcrypto_comp_free);
    Guarded in = guarded_new(FUZZ_MAX), out = guarded_new(4096);
    g_autofree uint8_t *first = g_malloc(4096);
    g_autofree uint8_t *work = g_malloc(FUZZ_MAX);
    uint64_t x = 0x9e3779b97f4a7c15u + alg;
    size_t accepted = 0, disputed = 0;

    for (guint i = 0; i < rows->len; i++) {
        const CompRow *row = &g_array_index(rows, CompRow, i);

        if (row->alg == alg) {
            g_ptr_array_add(comps, open_row(row, QCRYPTO_COMP_LEVEL_DEFAULT));
        }
    }
    for (unsigned round = 0; round < STREAMS; round++) {
        g_autoptr(GByteArray) s =
            stream_of(opaque, (int)(round % N_CONTENTS),
                      next_random(&x) % (FUZZ_MAX / 2), x);

        for (unsigned i = 0; i < VARIANTS; i++) {
            memcpy(work, s->data, s->len);
            const size_t n = mangle(work, s->len, &x);
            const size_t room = next_random(&x) % 4097;
            uint8_t *p = in.end - n;
            size_t len = 0, yes = 0;

            memcpy(p, work, n);
            for (guint k = 0; k < comps->len; k++) {
                const Outcome o = decompress(g_ptr_array_index(comps, k), p, n,
                                             out.end - room, room);

                if (!o.done) {
                    continue;
                }
                if (yes++) {
                    g_assert_cmpmem(first, len, out.end - room, o.len);
                }
                len = o.len;
                memcpy(first, out.end - room, len);
            }
            accepted += yes != 0;
            disputed += yes && yes < comps->len;
        }
    }
    g_test_message("%s: %zu of %d accepted, %zu by some alone",
                   qcrypto_comp_algo_name(alg), accepted, STREAMS * VARIANTS,
                   disputed);
    g_assert_cmpuint(accepted, >, 0);
    g_assert_cmpuint(accepted, <, STREAMS * VARIANTS);
    guarded_free(&in);
    guarded_free(&out);
}

/* ---- what other programs made ---- */

static void test_peers(const void *opaque)
{
    const CompRow *row = opaque;
    g_autoptr(QCryptoComp) comp = open_row(row, QCRYPTO_COMP_LEVEL_DEFAULT);
    VectorFile *f = vector_file_open_data("comp-peers.vec");
    const size_t room = 100000;
    g_autofree uint8_t *out = g_malloc(room);
    size_t good = 0, bad = 0;

    while (vector_file_next(f)) {
        if (strcmp(vector_text(f, "algorithm"), row->alg_name) != 0) {
            continue;
        }
        g_autoptr(GByteArray) data = vector_bytes(f, "data");
        const char *expect = vector_text(f, "expect");
        const Outcome o = decompress(comp, data->data, data->len, out, room);

        if (expect) {
            const int kind = !strcmp(expect, "space")
                                 ? QCRYPTO_ERROR_NO_SPACE
                                 : QCRYPTO_ERROR_CORRUPT_DATA;

            if (o.done || o.kind != kind) {
                g_test_message("%s, %s: not refused, or as %d", vector_where(f),
                               vector_text(f, "made"), o.kind);
                g_test_fail();
            }
            bad++;
            continue;
        }
        g_autofree char *sum =
            g_compute_checksum_for_data(G_CHECKSUM_SHA256, out, o.len);
        if (!o.done || o.len != vector_number(f, "len") ||
            strcmp(sum, vector_text(f, "sha256")) != 0) {
            g_test_message("%s, %s: not what was compressed", vector_where(f),
                           vector_text(f, "made"));
            g_test_fail();
        }
        good++;
    }
    vector_file_close(f);
    g_assert_cmpuint(good, >=, 5);
    g_assert_cmpuint(bad, >=, 2);
}

/* ---- */

static void add_row(const char *what, const CompRow *row, GTestDataFunc func)
{
    g_autofree char *path =
        g_strdup_printf("/comp/%s/%s/%s", what, row->alg_name, row->name);

    g_test_add_data_func(path, row, func);
}

static void add_pair(const char *what, const Pair *pair, GTestDataFunc func)
{
    g_autofree char *path =
        g_strdup_printf("/comp/%s/%s/%s/%s", what, pair->from->alg_name,
                        pair->from->name, pair->to->name);

    g_test_add_data_func_full(path, g_memdup2(pair, sizeof(*pair)), func,
                              g_free);
}

/* Whatever was compiled in can be used. */
static void test_usable(void)
{
    for (guint i = 0; i < rows->len; i++) {
        const CompRow *row = &g_array_index(rows, CompRow, i);
        const char *why = NULL;

        g_assert_true(qcrypto_comp_supports(row->alg));
        if (!qcrypto_candidate_usable(row->candidate, &why)) {
            g_test_message("%s: %s", row->name, why);
            g_test_fail();
        }
    }
}

int main(int argc, char **argv)
{
    bool seen[QCRYPTO_COMP_ALGO__MAX] = {false};

    g_test_init(&argc, &argv, NULL);
    guarded_report_faults();
    find_rows();
    g_test_add_func("/comp/usable", test_usable);
    for (guint i = 0; i < rows->len; i++) {
        const CompRow *from = &g_array_index(rows, CompRow, i);

        for (guint j = 0; j < rows->len; j++) {
            const Pair pair = {from, &g_array_index(rows, CompRow, j)};

            if (pair.to->alg == from->alg) {
                add_pair("round-trip", &pair, test_round_trip);
                add_pair("levels", &pair, test_levels);
            }
        }
        add_row("truncated", from, test_truncated);
        add_row("flipped", from, test_flipped);
        add_row("trailing", from, test_trailing);
        add_row("peers", from, test_peers);
        if (!seen[from->alg]) {
            add_row("fuzz", from, test_fuzz);
            seen[from->alg] = true;
        }
    }
    return g_test_run();
}
