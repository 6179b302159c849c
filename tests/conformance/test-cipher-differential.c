/*
 * Every cipher row against the model, over every length
 *
 * A row's answers for all lengths of 0 to 4096 bytes are folded into one
 * number, which must be that of the model (model.h); so all rows of a pair
 * agree with each other and with the documents.  When they do not, the first
 * length that differs is looked for and named.  In-place and decrypted bytes
 * are compared directly.  Addresses change with the length.
 *
 * Then what depends on the way of a message: pieces against the whole, and
 * counters that wrap at 2^32, 2^64 and 2^128.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "model.h"

#define LONGEST 4096
#define ROOM 64
#define CANARY 0x5a

/* Eight bytes at a step, the rest filled up; the length counts too. */
static uint64_t fold(uint64_t h, const uint8_t *p, size_t n)
{
    h ^= n;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t w = 0;

        memcpy(&w, p + i, MIN(8, n - i));
        h = (h ^ w) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

typedef struct Texts {
    uint8_t key[80]; /* a second key begins a byte later */
    uint8_t plain[LONGEST];
} Texts;

static const Texts *texts(void)
{
    static Texts t;
    static bool made;

    if (!made) {
        made = true;
        fill_seeded(t.key, sizeof(t.key), 11);
        fill_seeded(t.plain, sizeof(t.plain), 12);
    }
    return &t;
}

static void length_iv(uint8_t *iv, size_t len)
{
    fill_seeded(iv, 16, 1000 + len);
}

/* The model's number for a pair, worked out once. */
static uint64_t model_lengths(const CipherRow *row)
{
    static GHashTable *known;
    uint64_t *h;

    if (!known) {
        known = g_hash_table_new(g_str_hash, g_str_equal);
    }
    if ((h = g_hash_table_lookup(known, row->pair))) {
        return *h;
    }
    g_autoptr(Model) m = model_new(row, texts()->key);
    uint8_t iv[16], out[LONGEST];

    h = g_new0(uint64_t, 1);
    for (size_t len = row->min; len <= LONGEST; len += row->step) {
        length_iv(iv, len);
        model_encrypt(m, iv, texts()->plain, out, len);
        *h = fold(*h, out, len);
    }
    g_hash_table_insert(known, row->pair, h);
    return *h;
}

/* Names the first length at which row and model part. */
static void find_length(const CipherRow *row, QCryptoCipher *c)
{
    g_autoptr(Model) m = model_new(row, texts()->key);
    uint8_t iv[16], want[LONGEST], got[LONGEST];

    for (size_t len = row->min; len <= LONGEST; len += row->step) {
        g_autofree char *what = g_strdup_printf("length %zu", len);

        length_iv(iv, len);
        model_encrypt(m, iv, texts()->plain, want, len);
        cipher_message(c, false, iv, row->niv, texts()->plain, got, len);
        if (!same_bytes(row, what, got, want, len)) {
            return;
        }
    }
    g_test_message("%s %s: differs from the model, but not at every address",
                   row->pair, row->name);
    g_test_fail();
}

static bool canary_lives(const CipherRow *row, const uint8_t *end, size_t len)
{
    for (size_t i = 0; i < 16; i++) {
        if (end[i] != CANARY) {
            g_test_message("%s %s: length %zu: wrote %zu bytes behind the output",
                           row->pair, row->name, len, i + 1);
            g_test_fail();
            return false;
        }
    }
    return true;
}

static void test_lengths(const CipherRow *row)
{
    const uint8_t *plain = texts()->plain;
    QCryptoCipher *c = cipher_row_open(row, texts()->key);
    g_autofree uint8_t *a = g_malloc(LONGEST + ROOM);
    g_autofree uint8_t *b = g_malloc(LONGEST + ROOM);
    bool good = true;
    uint64_t h = 0;

    for (size_t len = row->min; good && len <= LONGEST; len += row->step) {
        const size_t turn = len / row->step;
        uint8_t *in = a + turn % 16;
        uint8_t *out = b + turn / 16 % 16;
        uint8_t iv[16];

        length_iv(iv, len);
        memcpy(in, plain, len);
        memset(in + len, CANARY, 16);
        memset(out + len, CANARY, 16);

        cipher_message(c, false, iv, row->niv, in, out, len);
        h = fold(h, out, len);

        cipher_message(c, false, iv, row->niv, in, in, len);
        good = !memcmp(in, out, len);
        cipher_message(c, true, iv, row->niv, in, in, len);
        good = good && !memcmp(in, plain, len);
        /* a stream is the same both ways: that was the first call again */
        if (row->mode != QCRYPTO_CIPHER_MODE_CTR) {
            memset(in, 0, len);
            cipher_message(c, true, iv, row->niv, out, in, len);
            good = good && !memcmp(in, plain, len);
        }
        if (!good) {
            g_test_message("%s %s: length %zu: in place, out of place and back "
                           "do not agree", row->pair, row->name, len);
            g_test_fail();
        }
        good = good && canary_lives(row, in + len, len) &&
               canary_lives(row, out + len, len);
    }
    if (good && h != model_lengths(row)) {
        find_length(row, c);
    }
    qcrypto_cipher_free(c);
}

/* ---- pieces ---- */

/* One message cut at the n places of cut (ascending) against the whole. */
static bool cut_message(const CipherRow *row, QCryptoCipher *c,
                        QCryptoCipher *other, bool decrypt, size_t len,
                        const size_t *cut, size_t n)
{
    const uint8_t *plain = texts()->plain;
    uint8_t iv[16], whole[LONGEST], got[LONGEST], scratch[64];
    size_t at = 0;

    length_iv(iv, len);
    cipher_message(c, decrypt, iv, row->niv, plain, whole, len);
    memcpy(got, plain, len);
    for (size_t i = 0; i <= n; i++) {
        const size_t to = i < n ? cut[i] : len;

        cipher_message(c, decrypt, iv, i ? 0 : row->niv, got + at, got + at,
                       to - at);
        /* what another object does meanwhile is nothing to this one */
        cipher_message(other, !decrypt, iv, row->niv, plain, scratch,
                       4 * row->block_len);
        at = to;
    }
    g_autofree char *what = g_strdup_printf(
        "%s in %zu pieces, the first of %zu bytes", decrypt ? "decrypt" : "encrypt",
        n + 1, cut[0]);
    return same_bytes(row, what, got, whole, len);
}

static void test_pieces(const CipherRow *row)
{
    const bool stream = row->mode == QCRYPTO_CIPHER_MODE_CTR;
    QCryptoCipher *c = cipher_row_open(row, texts()->key);
    QCryptoCipher *other = cipher_row_open(row, texts()->key + 1);
    bool good = true;

    for (int decrypt = 0; good && decrypt < 2; decrypt++) {
        size_t len = 40 * row->block_len + (stream ? 5 : 0);

        for (size_t i = 0; good && i <= 40; i++) {
            const size_t cut = i * row->block_len;

            good = cut_message(row, c, other, decrypt, len, &cut, 1);
        }
        for (size_t round = 0; good && round < 60; round++) {
            uint8_t random[8];
            size_t cut[8], blocks = 0;

            fill_seeded(random, sizeof(random), round);
            for (size_t i = 0; i < G_N_ELEMENTS(cut); i++) {
                blocks += random[i] % 32;
                cut[i] = blocks * row->block_len;
            }
            len = cut[7] + (stream ? random[0] % row->block_len : 0);
            good = cut_message(row, c, other, decrypt, len, cut, 8);
        }
    }
    qcrypto_cipher_free(other);
    qcrypto_cipher_free(c);
}

/* ---- counters ---- */

static void test_counter(const CipherRow *row)
{
    const size_t n = row->block_len;
    const size_t len = 70 * n + 5;
    QCryptoCipher *c = cipher_row_open(row, texts()->key);
    bool good = true;
    g_autoptr(Model) m = model_new(row, texts()->key);
    /* the counter's last 4, 8 and 16 bytes: a carry out of each */
    for (size_t wide = 4; good && wide <= n; wide *= 2) {
        for (unsigned before = 1; good && before <= 66; before++) {
            uint8_t iv[16], want[71 * 16], got[71 * 16];
            g_autofree char *what = g_strdup_printf(
                "counter %u blocks before 2^%zu", before, wide * 8);
            const size_t half = before % 69 * n;

            fill_seeded(iv, sizeof(iv), before);
            memset(iv + n - wide, 0xff, wide);
            iv[n - 1] = (uint8_t)(0u - before);
            model_encrypt(m, iv, texts()->plain, want, len);
            cipher_message(c, before % 2, iv, n, texts()->plain, got, len);
            good = same_bytes(row, what, got, want, len);
            /* the wrap between two calls: the IV is carried on right */
            cipher_message(c, false, iv, n, texts()->plain, got, half);
            cipher_message(c, false, iv, 0, texts()->plain + half, got + half,
                           len - half);
            good = good && same_bytes(row, what, got, want, len);
        }
    }
    qcrypto_cipher_free(c);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    cipher_rows_add("/cipher/lengths", ALL_MODES, test_lengths);
    /* in XTS a call is a unit: nothing continues but the IV */
    cipher_rows_add("/cipher/pieces", ALL_MODES & ~MODE_BIT(XTS), test_pieces);
    cipher_rows_add("/cipher/counter", MODE_BIT(CTR), test_counter);
    return g_test_run();
}
