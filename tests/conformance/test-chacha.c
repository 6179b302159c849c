/*
 * ChaCha: every row against vectors and against the portable kernel
 *
 * Published values for all rounds and key lengths; every length from 0 to
 * 4096 at odd addresses and against pages that cannot be touched; counters
 * that pass 2^32 inside, at the end of and between the blocks that a kernel
 * works on at once; the last block of both counters; streams in pieces.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/chacha.h>
#include <qcrypto/provider.h>
#include <string.h>

#include "crypto/base/cpu.h"
#include "crypto/core/chacha.h"
#include "crypto/core/select.h"
#include "guard.h"
#include "rows.h"
#include "vectors.h"

#define MOST   4096
#define CANARY 0x3c

static const unsigned all_rounds[] = {8, 12, 20};

typedef struct ChaChaRow {
    QCryptoCandidate *candidate;
    char *name; /* "builtin:chacha-avx2" */
    unsigned rounds;
    void (*test)(const struct ChaChaRow *row);
} ChaChaRow;

static const QCryptoChaChaOps *ops_of(const ChaChaRow *row)
{
    return row->candidate->row->ops;
}

/* False where only a library is behind the row, which wants a context. */
static bool has_kernel(const ChaChaRow *row)
{
    return ops_of(row)->keystream != NULL;
}

static bool same(const ChaChaRow *row, const char *what, const uint8_t *got,
                 const uint8_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (got[i] != want[i]) {
            g_test_message("%s, %u rounds: %s: byte %zu is %02x, not %02x",
                           row->name, row->rounds, what, i, got[i], want[i]);
            g_test_fail();
            return false;
        }
    }
    return true;
}

static QCryptoChaCha *open_stream(const ChaChaRow *row, const uint8_t *key,
                                  size_t nkey, const uint8_t *nonce,
                                  size_t nnonce, uint64_t block)
{
    g_autoptr(GError) err = NULL;
    QCryptoChaCha *c =
        qcrypto_chacha_new_from(row->name, row->rounds, key, nkey, &err);

    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_chacha_get_impl(c), ==, row->candidate->row->impl);
    g_assert_cmpstr(qcrypto_chacha_get_provider(c), ==,
                    row->candidate->provider->name);
    qcrypto_chacha_setiv(c, nonce, nnonce, &err);
    g_assert_no_error(err);
    qcrypto_chacha_seek(c, block, 0, &err);
    g_assert_no_error(err);
    return c;
}

/* The keystream by the portable kernel, block for block from explicit states. */
static void model(unsigned rounds, const uint8_t *key, const uint8_t *nonce,
                  size_t nnonce, uint64_t block, uint8_t *out, size_t len)
{
    g_autoptr(GError) err = NULL;
    const QCryptoChaChaOps *ops = qcrypto_chacha_reference(rounds, &err);
    uint32_t state[16];
    uint8_t bytes[64];

    g_assert_no_error(err);
    for (size_t done = 0; done < len; done += 64) {
        qcrypto_chacha_init(state, key, 32, nonce, nnonce, block + done / 64,
                            &err);
        g_assert_no_error(err);
        ops->keystream(state, bytes, 1);
        memcpy(out + done, bytes, MIN(64, len - done));
    }
}

/* ---- published values ---- */

/* The message by stream and, as far as it has whole blocks, by kernel. */
static void vector(const ChaChaRow *row, const char *where,
                   const GByteArray *key, const uint8_t *nonce, size_t nnonce,
                   uint64_t block, const GByteArray *want)
{
    g_autoptr(GError) err = NULL;
    g_autofree uint8_t *got = g_malloc0(want->len);
    uint32_t state[16];

    /* GnuTLS has no short keys, and says so */
    if (key->len == 16) {
        QCryptoChaCha *c = qcrypto_chacha_new_from(row->name, row->rounds,
                                                   key->data, key->len, &err);
        qcrypto_chacha_free(c);
        if (!c) {
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
            return;
        }
    }
    g_autoptr(QCryptoChaCha) c =
        open_stream(row, key->data, key->len, nonce, nnonce, block);
    qcrypto_chacha_keystream(c, got, want->len, &err);
    g_assert_no_error(err);
    same(row, where, got, want->data, want->len);

    memset(got, 0, want->len);
    qcrypto_chacha_seek(c, block, 0, &err);
    qcrypto_chacha_crypt(c, got, got, want->len, &err);
    g_assert_no_error(err);
    same(row, where, got, want->data, want->len);

    if (has_kernel(row)) {
        memset(got, 0, want->len);
        qcrypto_chacha_init(state, key->data, key->len, nonce, nnonce, block,
                            &err);
        g_assert_no_error(err);
        ops_of(row)->keystream(state, got, want->len / 64);
        same(row, where, got, want->data, want->len / 64 * 64);
    }
}

static void test_vectors(const ChaChaRow *row)
{
    VectorFile *f = vector_file_open_data("chacha.vec");
    unsigned n = 0;

    while (vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        g_autoptr(GByteArray) nonce = vector_bytes(f, "nonce");
        g_autoptr(GByteArray) want = vector_bytes(f, "keystream");

        if (want && vector_number(f, "rounds") == row->rounds) {
            vector(row, vector_where(f), key, nonce->data, nonce->len,
                   vector_number(f, "counter"), want);
            n++;
        }
    }
    vector_file_close(f);
    /* 16 of the draft and 5 at the boundary for each number of rounds */
    g_assert_cmpuint(n, >=, 21);
}

/* Botan's file, where QCRYPTO_EXTRA_VECTORS has it; NULL without. */
static VectorFile *open_extra(void)
{
    const char *root = g_getenv("QCRYPTO_EXTRA_VECTORS");
    g_autofree char *path =
        g_build_filename(root ? root : "", "botan", "chacha.vec", NULL);

    return root && *root ? vector_file_open(path) : NULL;
}

static void test_extra(const ChaChaRow *row)
{
    g_autofree char *section = g_strdup_printf("ChaCha(%u)", row->rounds);
    VectorFile *f = open_extra();
    static const uint8_t zeros[8];
    unsigned n = 0;

    while (vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        g_autoptr(GByteArray) nonce = vector_bytes(f, "nonce");
        g_autoptr(GByteArray) in = vector_bytes(f, "in");
        g_autoptr(GByteArray) out = vector_bytes(f, "out");
        g_autoptr(GError) err = NULL;
        g_autofree uint8_t *got = g_malloc(out ? out->len + 1 : 1);
        const uint8_t *iv = nonce ? nonce->data : zeros;
        size_t niv = nonce ? nonce->len : sizeof(zeros);

        if (strcmp(vector_section(f), section) || !key || !out) {
            continue;
        }
        for (guint i = 0; in && i < out->len; i++) {
            out->data[i] ^= in->data[i];
        }
        if (niv == 24) {
            /* XChaCha: a key of its own for the nonce's first 16 bytes */
            g_assert_cmpuint(key->len, ==, 32);
            g_assert_cmpint(
                qcrypto_hchacha(key->data, iv, key->data, row->rounds), ==, 0);
            iv += 16;
            niv = 8;
        }
        if (vector_text(f, "seek")) {
            /* a number of bytes */
            const uint64_t at = vector_number(f, "seek");
            g_autoptr(QCryptoChaCha) c =
                open_stream(row, key->data, key->len, iv, niv, 0);

            qcrypto_chacha_seek(c, at / 64, at % 64, &err);
            qcrypto_chacha_keystream(c, got, out->len, &err);
            g_assert_no_error(err);
            same(row, vector_where(f), got, out->data, out->len);
        } else {
            vector(row, vector_where(f), key, iv, niv, 0, out);
        }
        n++;
    }
    vector_file_close(f);
    g_assert_cmpuint(n, >, 0);
}

static void test_hchacha(void)
{
    VectorFile *f = vector_file_open_data("chacha.vec");
    unsigned n = 0;

    while (vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        g_autoptr(GByteArray) nonce = vector_bytes(f, "nonce");
        g_autoptr(GByteArray) want = vector_bytes(f, "out");
        uint8_t out[32];

        if (!want) {
            continue;
        }
        g_assert_cmpint(qcrypto_hchacha(key->data, nonce->data, out, 20), ==,
                        0);
        g_assert_cmpmem(out, 32, want->data, want->len);
        /* out may be key */
        g_assert_cmpint(qcrypto_hchacha(key->data, nonce->data, key->data, 20),
                        ==, 0);
        g_assert_cmpmem(key->data, 32, want->data, want->len);
        memset(out, CANARY, sizeof(out));
        g_assert_cmpint(qcrypto_hchacha(key->data, nonce->data, out, 10), ==,
                        -1);
        for (size_t i = 0; i < sizeof(out); i++) {
            g_assert_cmpuint(out[i], ==, CANARY);
        }
        n++;
    }
    vector_file_close(f);
    g_assert_cmpuint(n, >, 0);
}

/* ---- lengths and addresses ---- */

static void test_lengths(const ChaChaRow *row)
{
    static uint8_t plain[MOST + 16], want[MOST], buf[MOST + 64];
    g_autoptr(GError) err = NULL;
    uint8_t key[32], nonce[12];

    fill_seeded(key, sizeof(key), 1);
    fill_seeded(nonce, sizeof(nonce), 2);
    fill_seeded(plain, sizeof(plain), 3);
    model(row->rounds, key, nonce, sizeof(nonce), 7, want, MOST);
    g_autoptr(QCryptoChaCha) c =
        open_stream(row, key, sizeof(key), nonce, sizeof(nonce), 7);
    Guarded in = guarded_new(MOST);
    Guarded out = guarded_new(MOST);

    guarded_report_faults();
    for (size_t len = 0; len <= MOST; len++) {
        /* any pair of addresses comes around */
        uint8_t *const at = buf + len % 16;
        const uint8_t *const from = plain + len / 16 % 16;
        g_autofree char *what = g_strdup_printf("%zu bytes", len);

        memset(at, CANARY, len + 16);
        qcrypto_chacha_seek(c, 7, 0, &err);
        qcrypto_chacha_crypt(c, from, at, len, &err);
        g_assert_no_error(err);
        for (size_t i = 0; i < 16; i++) {
            g_assert_cmpuint(at[len + i], ==, CANARY);
        }
        for (size_t i = 0; i < len; i++) {
            at[i] ^= from[i];
        }
        if (!same(row, what, at, want, len)) {
            break;
        }
        /* in place, by the keystream call and by the pieces of two calls */
        qcrypto_chacha_seek(c, 7, 0, &err);
        qcrypto_chacha_crypt(c, at, at, len, &err);
        g_assert_no_error(err);
        for (size_t i = 0; i < len; i++) {
            g_assert_cmpuint(at[i], ==, 0);
        }
        qcrypto_chacha_seek(c, 7, 0, &err);
        qcrypto_chacha_keystream(c, at, len / 3, &err);
        qcrypto_chacha_keystream(c, at + len / 3, len - len / 3, &err);
        g_assert_no_error(err);
        if (!same(row, what, at, want, len)) {
            break;
        }
        /* against a page behind, and every few against one before */
        guarded_under_way(what);
        memcpy(in.end - len, from, len);
        qcrypto_chacha_seek(c, 7, 0, &err);
        qcrypto_chacha_crypt(c, in.end - len, out.end - len, len, &err);
        g_assert_no_error(err);
        if (len % 7 == 0) {
            memcpy(in.start, from, len);
            qcrypto_chacha_seek(c, 7, 0, &err);
            qcrypto_chacha_crypt(c, in.start, out.start, len, &err);
            g_assert_no_error(err);
        }
    }
    guarded_free(&in);
    guarded_free(&out);
}

/* Keystream in whole blocks, and in the order of words. */
static void test_kernel(const ChaChaRow *row)
{
    enum { BLOCKS = 16 * 5 };
    static uint8_t want[BLOCKS * 64], got[BLOCKS * 64 + 3];
    g_autoptr(GError) err = NULL;
    uint8_t key[32], nonce[8];
    uint32_t state[16], before[16];

    if (!has_kernel(row)) {
        g_assert_null(qcrypto_chacha_kernel_from(row->name, row->rounds, &err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
        return;
    }
    fill_seeded(key, sizeof(key), 4);
    fill_seeded(nonce, sizeof(nonce), 5);
    /* blocks 11 and on have the carry */
    model(row->rounds, key, nonce, sizeof(nonce), UINT64_C(0x7fffffff5), want,
          sizeof(want));
    qcrypto_chacha_init(state, key, 32, nonce, 8, UINT64_C(0x7fffffff5), &err);
    g_assert_no_error(err);
    memcpy(before, state, sizeof(state));
    for (size_t n = 0; n <= BLOCKS; n++) {
        memset(got, CANARY, sizeof(got));
        ops_of(row)->keystream(state, got + n % 3, n);
        g_assert_cmpmem(state, sizeof(state), before, sizeof(before));
        if (!same(row, "keystream", got + n % 3, want, 64 * n)) {
            return;
        }
        g_assert_true(n == BLOCKS || got[n % 3 + 64 * n] == CANARY);
    }
    for (size_t n = 0; n <= BLOCKS / 16; n++) {
        memset(got, CANARY, sizeof(got));
        ops_of(row)->keystream_words(state, got + n % 3, n);
        g_assert_cmpmem(state, sizeof(state), before, sizeof(before));
        for (size_t i = 0; i < 1024 * n; i++) {
            const size_t group = i / 1024, word = i / 64 % 16;
            const size_t block = i / 4 % 16, byte = i % 4;

            g_assert_cmpuint(got[n % 3 + i], ==,
                             want[1024 * group + 64 * block + 4 * word + byte]);
        }
        g_assert_true(n == BLOCKS / 16 || got[n % 3 + 1024 * n] == CANARY);
    }
}

/* ---- the counter ---- */

/* Any start within 20 blocks of 2^32, any number of blocks at once. */
static void test_carry(const ChaChaRow *row)
{
    enum { BLOCKS = 40 };
    static uint8_t want[BLOCKS * 64], got[BLOCKS * 64];
    g_autoptr(GError) err = NULL;
    uint8_t key[32], nonce[8];

    fill_seeded(key, sizeof(key), 6);
    fill_seeded(nonce, sizeof(nonce), 7);
    g_autoptr(QCryptoChaCha) c = open_stream(row, key, 32, nonce, 8, 0);
    for (uint64_t start = UINT32_MAX - 19; start <= UINT64_C(1) << 32;
         start++) {
        model(row->rounds, key, nonce, 8, start, want, sizeof(want));
        for (size_t n = 1; n <= BLOCKS; n++) {
            g_autofree char *what = g_strdup_printf(
                "%zu blocks from %" G_GINT64_MODIFIER "x on", n, start);

            qcrypto_chacha_seek(c, start, 0, &err);
            qcrypto_chacha_keystream(c, got, 64 * n - n % 5, &err);
            g_assert_no_error(err);
            if (!same(row, what, got, want, 64 * n - n % 5)) {
                return;
            }
        }
    }
}

/*
 * The last blocks of a counter: whole and in pieces they work, one byte more
 * is refused, writes nothing and changes nothing.
 */
static void last_blocks(const ChaChaRow *row, size_t nnonce, uint64_t last)
{
    enum { BLOCKS = 20 };
    static uint8_t want[BLOCKS * 64], got[BLOCKS * 64 + 1];
    static const uint8_t zeros[sizeof(got)];
    g_autoptr(GError) err = NULL;
    uint8_t key[32], nonce[12];

    fill_seeded(key, sizeof(key), 8);
    fill_seeded(nonce, sizeof(nonce), 9);
    model(row->rounds, key, nonce, nnonce, last - BLOCKS + 1, want,
          sizeof(want));
    g_autoptr(QCryptoChaCha) c = open_stream(row, key, 32, nonce, nnonce, 0);

    for (size_t n = 1; n <= BLOCKS; n++) {
        const uint8_t *const tail = want + 64 * (BLOCKS - n);
        const uint64_t start = last - n + 1;

        /* one more than there is */
        memset(got, CANARY, sizeof(got));
        qcrypto_chacha_seek(c, start, 0, &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_chacha_crypt(c, zeros, got, 64 * n + 1, &err),
                        ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
        g_clear_error(&err);
        g_assert_cmpint(qcrypto_chacha_crypt(c, zeros, got, 64 * n + 1, NULL),
                        ==, -1);
        for (size_t i = 0; i < sizeof(got); i++) {
            g_assert_cmpuint(got[i], ==, CANARY);
        }
        /* all there is, from the same place */
        qcrypto_chacha_crypt(c, zeros, got, 64 * n, &err);
        g_assert_no_error(err);
        same(row, "the last blocks", got, tail, 64 * n);
        /* and no more */
        for (size_t more = 1; more < 200; more += 66) {
            memset(got, CANARY, sizeof(got));
            g_assert_cmpint(qcrypto_chacha_keystream(c, got, more, &err), ==,
                            -1);
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
            g_clear_error(&err);
            g_assert_cmpuint(got[0], ==, CANARY);
        }
        g_assert_cmpint(qcrypto_chacha_keystream(c, got, 0, &err), ==, 0);

        /* the end inside the last block */
        qcrypto_chacha_seek(c, start, 0, &err);
        qcrypto_chacha_keystream(c, got, 64 * n - 3, &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_chacha_keystream(c, got, 4, NULL), ==, -1);
        qcrypto_chacha_keystream(c, got + 64 * n - 3, 3, &err);
        g_assert_no_error(err);
        same(row, "the last bytes", got, tail, 64 * n);
        g_assert_cmpint(qcrypto_chacha_keystream(c, got, 1, NULL), ==, -1);
        /* the way back is open */
        qcrypto_chacha_seek(c, last, 63, &err);
        qcrypto_chacha_keystream(c, got, 1, &err);
        g_assert_no_error(err);
        g_assert_cmpuint(got[0], ==, want[BLOCKS * 64 - 1]);
    }
    if (last < UINT64_MAX) {
        g_assert_cmpint(qcrypto_chacha_seek(c, last + 1, 0, &err), ==, -1);
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    }
}

static void test_last(const ChaChaRow *row)
{
    last_blocks(row, 12, UINT32_MAX);
    last_blocks(row, 8, UINT64_MAX);
}

/* ---- streams ---- */

static void test_pieces(const ChaChaRow *row)
{
    static uint8_t want[MOST], got[MOST];
    g_autoptr(GError) err = NULL;
    uint8_t key[32], nonce[12];
    g_autoptr(GRand) r = g_rand_new_with_seed(row->rounds);

    fill_seeded(key, sizeof(key), 10);
    fill_seeded(nonce, sizeof(nonce), 11);
    model(row->rounds, key, nonce, 12, 0, want, MOST);
    g_autoptr(QCryptoChaCha) c = open_stream(row, key, 32, nonce, 12, 0);
    for (unsigned round = 0; round < 400; round++) {
        /* from any place on, in pieces that are short, or anything */
        const int longest = round % 2 ? 70 : MOST;
        const size_t start = (size_t)g_rand_int_range(r, 0, MOST);
        size_t at = start;

        memset(got, 0, sizeof(got));
        qcrypto_chacha_seek(c, start / 64, start % 64, &err);
        while (at < MOST) {
            size_t n = (size_t)g_rand_int_range(r, 0, longest);

            n = MIN(n, MOST - at);
            qcrypto_chacha_crypt(c, got + at, got + at, n, &err);
            g_assert_no_error(err);
            at += n;
        }
        if (!same(row, "pieces", got + start, want + start, MOST - start)) {
            return;
        }
    }
}

/* ---- what is not a row's ---- */

/* The block function against the vectors, and its rules. */
static void test_block(void)
{
    VectorFile *f = vector_file_open_data("chacha.vec");
    g_autoptr(GError) err = NULL;
    uint32_t state[16], before[16];
    uint8_t out[64];
    unsigned n = 0;

    while (vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        g_autoptr(GByteArray) nonce = vector_bytes(f, "nonce");
        g_autoptr(GByteArray) want = vector_bytes(f, "keystream");

        if (!want) {
            continue;
        }
        qcrypto_chacha_init(state, key->data, key->len, nonce->data, nonce->len,
                            vector_number(f, "counter"), &err);
        g_assert_no_error(err);
        memcpy(before, state, sizeof(state));
        g_assert_cmpint(qcrypto_chacha_block(
                            state, out, (unsigned)vector_number(f, "rounds")),
                        ==, 0);
        g_assert_cmpmem(out, MIN(64, want->len), want->data,
                        MIN(64, want->len));
        g_assert_cmpmem(state, sizeof(state), before, sizeof(before));
        n++;
    }
    vector_file_close(f);
    g_assert_cmpuint(n, >, 60);

    memset(out, CANARY, sizeof(out));
    for (unsigned rounds = 0; rounds < 30; rounds++) {
        if (rounds != 8 && rounds != 12 && rounds != 20) {
            g_assert_cmpint(qcrypto_chacha_block(state, out, rounds), ==, -1);
            g_assert_false(qcrypto_chacha_supports(rounds));
        }
    }
    g_assert_cmpint(qcrypto_chacha_block(NULL, out, 8), ==, -1);
    for (size_t i = 0; i < sizeof(out); i++) {
        g_assert_cmpuint(out[i], ==, CANARY);
    }
}

/* The block function does not depend on the order of providers. */
static void test_order(void)
{
    g_autoptr(GError) err = NULL;
    static const uint8_t zeros[64];
    uint8_t a[64], b[64];
    uint32_t state[16];

    for (size_t i = 0; i < G_N_ELEMENTS(all_rounds); i++) {
        const unsigned rounds = all_rounds[i];

        qcrypto_chacha_init(state, zeros, 32, zeros, 12, 5, &err);
        g_assert_no_error(err);
        qcrypto_chacha_block(state, a, rounds);
        qcrypto_chacha_xor(rounds, zeros, 32, zeros, 12, 5, zeros, b, 64, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(a, 64, b, 64);

        qcrypto_providers_set_order("nettle", &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_chacha_block(state, b, rounds), ==, 0);
        g_assert_cmpmem(a, 64, b, 64);
        qcrypto_providers_set_order(NULL, &err);
        g_assert_no_error(err);
    }
}

#define REFUSED(call)                                                          \
    do {                                                                       \
        g_autoptr(GError) e = NULL;                                            \
        GError **errp = &e;                                                    \
        g_assert_true(call);                                                   \
        g_assert_error(e, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);      \
    } while (0)

static void test_refused(void)
{
    static const uint8_t key[33];
    uint32_t state[16];
    uint8_t buf[256];
    g_autoptr(GError) err = NULL;

    for (size_t n = 0; n < 34; n++) {
        if (n != 16 && n != 32) {
            REFUSED(!qcrypto_chacha_new(8, key, n, errp));
            REFUSED(!qcrypto_chacha_new_from("builtin", 8, key, n, errp));
            REFUSED(qcrypto_chacha_init(state, key, n, key, 8, 0, errp) < 0);
        }
    }
    REFUSED(!qcrypto_chacha_new(10, key, 32, errp));
    REFUSED(!qcrypto_chacha_new(0, key, 32, errp));
    REFUSED(!qcrypto_chacha_new(20, NULL, 32, errp));
    REFUSED(qcrypto_chacha_init(NULL, key, 32, key, 8, 0, errp) < 0);
    REFUSED(qcrypto_chacha_init(state, key, 32, NULL, 8, 0, errp) < 0);
    REFUSED(qcrypto_chacha_init(state, key, 32, key, 12, UINT64_C(1) << 32,
                                errp) < 0);
    REFUSED(qcrypto_chacha_xor(20, key, 32, key, 12, UINT64_C(1) << 32, buf,
                               buf, 1, errp) < 0);
    REFUSED(qcrypto_chacha_xor(20, key, 32, key, 12, UINT32_MAX, buf, buf, 65,
                               errp) < 0);

    g_autoptr(QCryptoChaCha) c = qcrypto_chacha_new(20, key, 32, &err);
    g_assert_no_error(err);
    /* no nonce yet */
    REFUSED(qcrypto_chacha_crypt(c, buf, buf, 1, errp) < 0);
    REFUSED(qcrypto_chacha_keystream(c, buf, 0, errp) < 0);
    REFUSED(qcrypto_chacha_seek(c, 0, 0, errp) < 0);
    for (size_t n = 0; n < 34; n++) {
        if (n != 8 && n != 12) {
            REFUSED(qcrypto_chacha_setiv(c, key, n, errp) < 0);
        }
    }
    REFUSED(qcrypto_chacha_setiv(c, NULL, 8, errp) < 0);
    qcrypto_chacha_setiv(c, key, 8, &err);
    g_assert_no_error(err);
    REFUSED(qcrypto_chacha_seek(c, 0, 64, errp) < 0);
    REFUSED(qcrypto_chacha_crypt(c, NULL, buf, 1, errp) < 0);
    REFUSED(qcrypto_chacha_crypt(c, buf, NULL, 1, errp) < 0);
    REFUSED(qcrypto_chacha_keystream(c, NULL, 1, errp) < 0);
    REFUSED(qcrypto_chacha_crypt(NULL, buf, buf, 1, errp) < 0);
    REFUSED(qcrypto_chacha_crypt(c, buf, buf + 1, 100, errp) < 0);
    REFUSED(qcrypto_chacha_crypt(c, buf + 99, buf, 100, errp) < 0);
    qcrypto_chacha_crypt(c, buf, buf + 100, 100, &err);
    g_assert_no_error(err);

    g_assert_null(qcrypto_chacha_new_from("nobody", 20, key, 32, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE);
    g_clear_error(&err);
    g_assert_null(qcrypto_chacha_new_from("builtin:none", 20, key, 32, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
}

/* ---- the walk ---- */

static void run_row(const void *opaque)
{
    const ChaChaRow *row = opaque;
    QCryptoCandidate *c = row->candidate;
    const char *why = NULL;

    if (c->row->cpu & ~qcrypto_cpu_features()) {
        g_test_skip(qcrypto_candidate_refused(c));
    } else if (qcrypto_candidate_usable(c, &why)) {
        row->test(row);
    } else {
        g_test_message("%s, %u rounds: %s", row->name, row->rounds, why);
        g_test_fail();
    }
}

static void add_rows(const char *area, void (*test)(const ChaChaRow *row))
{
    g_autoptr(GError) err = NULL;
    size_t n;
    QCryptoCandidate *const *all = qcrypto_candidates(&n, &err);

    g_assert_no_error(err);
    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;

        if (r->kind != QCRYPTO_KIND_CHACHA) {
            continue;
        }
        ChaChaRow *row = g_new0(ChaChaRow, 1);
        row->candidate = all[i];
        row->name = g_strdup_printf("%s:%s", all[i]->provider->name, r->impl);
        row->rounds = qcrypto_chacha_rounds((QCryptoChaChaAlgo)r->alg);
        row->test = test;
        g_autofree char *path =
            g_strdup_printf("/chacha/%s/%u/%s", area, row->rounds, row->name);
        g_test_add_data_func(path, row, run_row);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_rows("vectors", test_vectors);
    VectorFile *extra = open_extra();
    if (extra) {
        vector_file_close(extra);
        add_rows("extra-vectors", test_extra);
    }
    add_rows("lengths", test_lengths);
    add_rows("kernel", test_kernel);
    add_rows("carry", test_carry);
    add_rows("last-blocks", test_last);
    add_rows("pieces", test_pieces);
    g_test_add_func("/chacha/block", test_block);
    g_test_add_func("/chacha/order", test_order);
    g_test_add_func("/chacha/hchacha", test_hchacha);
    g_test_add_func("/chacha/refused", test_refused);
    return g_test_run();
}
