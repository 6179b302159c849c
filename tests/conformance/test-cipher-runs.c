/*
 * Runs of units and of sectors, and memory that ends where the data ends
 *
 * A run of 1 to 40 units or sectors in one call must give what the model
 * gives for each by itself, whatever the number, size and IV; kernels work
 * such runs off in batches, and every batch has a first, a last and a lonely
 * member.  The same calls then run with every buffer against a page that
 * cannot be touched, on either side.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/core/cipher.h"
#include "guard.h"
#include "model.h"
#include "vectors.h"

#define MOST 40 /* units in a run */
#define CANARY 0x3c

typedef struct Texts {
    uint8_t key[64];
    uint8_t ivs[MOST * 16];
    uint8_t plain[MOST * 4097];
    uint8_t want[MOST * 4097];
    uint8_t got[MOST * 4097 + 16];
} Texts;

static Texts *texts(void)
{
    static Texts t;
    static bool made;

    if (!made) {
        made = true;
        fill_seeded(t.key, sizeof(t.key), 21);
        fill_seeded(t.ivs, sizeof(t.ivs), 22);
        fill_seeded(t.plain, sizeof(t.plain), 23);
    }
    return &t;
}

static bool check_run(const CipherRow *row, const char *what, const uint8_t *got,
                      const uint8_t *want, size_t len)
{
    for (size_t i = 0; i < 16; i++) {
        if (got[len + i] != CANARY) {
            g_test_message("%s %s: %s: wrote behind the output", row->pair,
                           row->name, what);
            g_test_fail();
            return false;
        }
    }
    return same_bytes(row, what, got, want, len);
}

/* ---- units ---- */

static bool units_of(const CipherRow *row, const QCryptoCipher *c, const Model *m,
                     size_t size)
{
    Texts *t = texts();
    const uint8_t *ivs = row->niv ? t->ivs : NULL;
    g_autoptr(GError) err = NULL;
    bool good = true;

    for (size_t i = 0; i < MOST; i++) {
        model_encrypt(m, t->ivs + i * row->niv, t->plain + i * size,
                      t->want + i * size, size);
    }
    for (size_t n = 1; good && n <= MOST; n++) {
        /* every number of short units, around the batches' ends of long ones */
        if (size > 130 && n > 5 && n % 8 > 1 && n % 8 < 7) {
            continue;
        }
        const size_t len = n * size;
        g_autofree char *what = g_strdup_printf("%zu units of %zu bytes", n, size);

        memset(t->got, 0, len);
        memset(t->got + len, CANARY, 16);
        qcrypto_cipher_units(c, 0, ivs, size, t->plain, t->got, n, &err);
        g_assert_no_error(err);
        good = check_run(row, what, t->got, t->want, len);
        /* and back, in place */
        qcrypto_cipher_units(c, 1, ivs, size, t->got, t->got, n, &err);
        g_assert_no_error(err);
        good = good && check_run(row, what, t->got, t->plain, len);
    }
    return good;
}

static void test_units(const CipherRow *row)
{
    static const size_t whole[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 33, 256};
    static const size_t odd[] = {1,   15,  17,  31,  33,  47,  63,  65,  100,
                                 127, 129, 255, 257, 511, 513, 520, 1000, 4095};
    QCryptoCipher *c = cipher_row_open(row, texts()->key);
    g_autoptr(Model) m = model_new(row, texts()->key);
    bool good = true;

    for (size_t i = 0; good && i < G_N_ELEMENTS(whole); i++) {
        good = units_of(row, c, m, whole[i] * row->block_len);
    }
    for (size_t i = 0; good && row->step == 1 && i < G_N_ELEMENTS(odd); i++) {
        if (odd[i] >= row->min) {
            good = units_of(row, c, m, odd[i]);
        }
    }
    qcrypto_cipher_free(c);
}

/* ---- sectors ---- */

static void sectors(const CipherRow *row, const QCryptoCipher *c, bool decrypt,
                    const QCryptoIVGen *gen, uint64_t start, size_t size,
                    const uint8_t *in, uint8_t *out, size_t n, unsigned flags)
{
    g_autoptr(GError) err = NULL;

    if (decrypt) {
        qcrypto_cipher_decrypt_sectors(c, gen, start, size, in, out, n, flags,
                                       &err);
    } else {
        qcrypto_cipher_encrypt_sectors(c, gen, start, size, in, out, n, flags,
                                       &err);
    }
    g_assert_no_error(err);
}

static bool sectors_from(const CipherRow *row, QCryptoCipher *c, const Model *m,
                         uint64_t start, size_t size, unsigned flags,
                         size_t from, size_t to)
{
    const uint64_t step = flags & QCRYPTO_SECTOR_IV_LARGE_SECTORS ? 1 : size / 512;
    Texts *t = texts();
    bool good = true;

    for (size_t i = 0; i < to; i++) {
        const size_t at = i * size;
        uint8_t iv[16];

        model_iv("plain64", start + i * step, row->alg, NULL, 0, iv, row->niv);
        model_encrypt(m, iv, t->plain + at, t->want + at, size);
        /* a call a sector gives the same */
        cipher_message(c, false, iv, row->niv, t->plain + at, t->got, size);
        good = good && same_bytes(row, "a sector by itself", t->got, t->want + at,
                                  size);
    }
    for (size_t n = from; good && n <= to; n++) {
        const size_t len = n * size;
        g_autofree char *what = g_strdup_printf(
            "%zu sectors of %zu bytes from %#" G_GINT64_MODIFIER "x, flags %u", n,
            size, start, flags);

        memset(t->got, 0, len);
        memset(t->got + len, CANARY, 16);
        sectors(row, c, false, NULL, start, size, t->plain, t->got, n, flags);
        good = check_run(row, what, t->got, t->want, len);
        sectors(row, c, true, NULL, start, size, t->got, t->got, n, flags);
        good = good && check_run(row, what, t->got, t->plain, len);
    }
    return good;
}

static void test_sectors(const CipherRow *row)
{
    /* carries into the next byte, the next half, and round to 0 (case B30) */
    static const uint64_t starts[] = {0xff, 0xffff, 0xffffffff, G_MAXUINT64};
    QCryptoCipher *c = cipher_row_open(row, texts()->key);
    g_autoptr(Model) m = model_new(row, texts()->key);
    const unsigned large = QCRYPTO_SECTOR_IV_LARGE_SECTORS;
    bool good = sectors_from(row, c, m, 7, 512, 0, 1, MOST) &&
                sectors_from(row, c, m, 8, 4096, 0, 1, MOST) &&
                sectors_from(row, c, m, 9, 4096, large, MOST, MOST) &&
                sectors_from(row, c, m, 10, 1536, 0, MOST, MOST);

    for (size_t i = 0; good && i < G_N_ELEMENTS(starts); i++) {
        good = sectors_from(row, c, m, starts[i], 512, 0, 2, 12) &&
               sectors_from(row, c, m, starts[i] - 11, 4096, 0, 2, 5) &&
               sectors_from(row, c, m, starts[i] - 1, 4096, large, 2, 5);
    }
    qcrypto_cipher_free(c);
}

/* ---- dm-crypt's rules ---- */

typedef struct Spec {
    QCryptoCipherAlgo alg;
    QCryptoCipherMode mode;
    char rule[32];
} Spec;

/* "aes-cbc-essiv:sha256" and the key's length */
static Spec parse_spec(const char *text, size_t nkey)
{
    g_auto(GStrv) part = g_strsplit(text, "-", 3);
    const int mode = qcrypto_cipher_mode_from_name(part[1]);
    const size_t bits = nkey * 8 / (mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    g_autofree char *name = g_strdup_printf("%s-%zu", part[0], bits);
    int alg = qcrypto_cipher_algo_from_name(name);
    Spec spec;

    if (alg < 0) {
        alg = qcrypto_cipher_algo_from_name(part[0]);
    }
    g_assert_cmpint(alg, >=, 0);
    g_assert_cmpint(mode, >=, 0);
    spec.alg = (QCryptoCipherAlgo)alg;
    spec.mode = (QCryptoCipherMode)mode;
    g_strlcpy(spec.rule, part[2] ? part[2] : "null", sizeof(spec.rule));
    return spec;
}

/* A run through IVs made here, and through the library's generator. */
static bool run_rule(const CipherRow *row, const Spec *spec, const char *where,
                     const GByteArray *key, uint64_t start, uint64_t step,
                     size_t size, const uint8_t *in, size_t n,
                     const char *sha256, const char *first32)
{
    const bool large = step == 1;
    const size_t len = n * size;
    QCryptoCipher *c = cipher_row_open(row, key->data);
    g_autofree uint8_t *ivs = g_malloc(n * 16);
    g_autofree uint8_t *out = g_malloc(len);
    g_autoptr(GError) err = NULL;
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        model_iv(spec->rule, start + i * step, row->alg, key->data, key->len,
                 ivs + i * row->niv, row->niv);
    }
    qcrypto_cipher_units(c, 0, row->niv ? ivs : NULL, size, in, out, n, &err);
    g_assert_no_error(err);
    for (int pass = 0; good && pass < 2; pass++) {
        g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, out, len);
        g_autoptr(GString) first = g_string_new(NULL);

        for (size_t i = 0; i < 32; i++) {
            g_string_append_printf(first, "%02x", out[i]);
        }
        good = !strcmp(sum, sha256) && !strcmp(first->str, first32);
        if (!good) {
            g_test_message("%s %s: %s, %s: begins %s, not %s", row->pair,
                           row->name, where, pass ? "by sectors" : "by units",
                           first->str, first32);
            g_test_fail();
        }
        /* "null" is no generator: it is there for other modes' sake */
        if (pass || !row->niv || g_str_equal(spec->rule, "null")) {
            break;
        }
        g_auto(GStrv) gen_name = g_strsplit(spec->rule, ":", 2);
        const int alg = qcrypto_ivgen_algo_from_name(gen_name[0]);
        g_assert_cmpint(alg, >=, 0);
        QCryptoIVGen *gen =
            qcrypto_ivgen_new((QCryptoIVGenAlgo)alg, row->alg,
                              QCRYPTO_HASH_ALGO_SHA256, key->data, key->len, &err);
        if (!gen && alg == QCRYPTO_IV_GEN_ALGO_ESSIV) {
            /* a build may have no hashes; the units above were right */
            g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
            break;
        }
        g_assert_no_error(err);
        memset(out, 0, len);
        sectors(row, c, false, gen, start, size, in, out, n,
                large ? QCRYPTO_SECTOR_IV_LARGE_SECTORS : 0);
        qcrypto_ivgen_free(gen);
    }
    qcrypto_cipher_free(c);
    return good;
}

static void test_rules(const CipherRow *row)
{
    static const uint8_t zeros[8192];
    VectorFile *plain = vector_file_open_data("luks-sector-plaintexts.vec");
    g_autoptr(GHashTable) plains = g_hash_table_new_full(
        g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_byte_array_unref);
    VectorFile *f;
    size_t n = 0;
    bool good = true;

    while (vector_file_next(plain)) {
        g_hash_table_insert(plains, g_strdup(vector_text(plain, "spec")),
                            vector_bytes(plain, "pt"));
    }
    vector_file_close(plain);

    f = vector_file_open_data("luks-iv-sectors.vec");
    while (good && vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        const Spec spec = parse_spec(vector_text(f, "spec"), key->len);
        const size_t size = vector_number(f, "sector_size");

        if (spec.alg == row->alg && spec.mode == row->mode) {
            good = run_rule(row, &spec, vector_where(f), key,
                            vector_number(f, "iv_offset") /
                                (vector_number(f, "iv_large_sectors") ? size / 512 : 1),
                            vector_number(f, "iv_large_sectors") ? 1 : size / 512,
                            size, zeros, sizeof(zeros) / size,
                            vector_text(f, "ct_sha256"), vector_text(f, "ct_first32"));
            n++;
        }
    }
    vector_file_close(f);

    f = vector_file_open_data("luks-sector.vec");
    while (good && vector_file_next(f)) {
        g_autoptr(GByteArray) key = vector_bytes(f, "key");
        const Spec spec = parse_spec(vector_text(f, "spec"), key->len);
        const GByteArray *pt = g_hash_table_lookup(plains, vector_text(f, "spec"));

        if (spec.alg == row->alg && spec.mode == row->mode) {
            good = run_rule(row, &spec, vector_where(f), key,
                            vector_number(f, "sector"), 1, pt->len, pt->data, 1,
                            vector_text(f, "ct_sha256"), vector_text(f, "ct_first32"));
            n++;
        }
    }
    vector_file_close(f);
    g_test_message("%zu vectors", n);
}

/* ---- guard pages ---- */

/* Places of a length in guarded memory: against its end, or its start. */
static uint8_t *place(const Guarded *g, size_t len, bool at_end)
{
    return at_end ? g->end - len : g->start;
}

static bool guarded_length(const CipherRow *row, QCryptoCipher *c, const Model *m,
                           Guarded *a, Guarded *b, const Guarded *iv_page,
                           size_t len)
{
    Texts *t = texts();
    uint8_t *iv = iv_page->end - row->niv;
    bool good = true;

    memcpy(iv, t->ivs, row->niv);
    model_encrypt(m, iv, t->plain, t->want, len);
    for (unsigned way = 0; good && way < 8; way++) {
        const bool decrypt = way & 4;
        uint8_t *in = place(a, len, way & 1);
        uint8_t *out = place(b, len, way & 2);
        const uint8_t *given = decrypt ? t->want : t->plain;
        const uint8_t *want = decrypt ? t->plain : t->want;
        g_autofree char *what = g_strdup_printf(
            "%s %s, length %zu, guard page %s the input and %s the output",
            row->pair, row->name, len, way & 1 ? "behind" : "before",
            way & 2 ? "behind" : "before");

        guarded_under_way(what);
        memcpy(in, given, len);
        cipher_message(c, decrypt, iv, row->niv, in, out, len);
        good = same_bytes(row, what, out, want, len);
        cipher_message(c, decrypt, iv, row->niv, in, in, len);
        good = good && same_bytes(row, what, in, want, len);
    }
    return good;
}

static bool guarded_run(const CipherRow *row, const QCryptoCipher *c,
                        const Model *m, Guarded *a, Guarded *b,
                        const Guarded *iv_page, size_t size, size_t n)
{
    Texts *t = texts();
    uint8_t *ivs = iv_page->end - n * row->niv;
    const size_t len = n * size;
    g_autoptr(GError) err = NULL;
    bool good = true;

    memcpy(ivs, t->ivs, n * row->niv);
    for (size_t i = 0; i < n; i++) {
        model_encrypt(m, t->ivs + i * row->niv, t->plain + i * size,
                      t->want + i * size, size);
    }
    for (unsigned way = 0; good && way < 4; way++) {
        uint8_t *in = place(a, len, way & 1);
        uint8_t *out = place(b, len, way & 2);
        g_autofree char *what = g_strdup_printf(
            "%s %s, %zu units of %zu bytes between guard pages", row->pair,
            row->name, n, size);

        guarded_under_way(what);
        memcpy(in, t->plain, len);
        qcrypto_cipher_units(c, 0, row->niv ? ivs : NULL, size, in, out, n, &err);
        g_assert_no_error(err);
        good = same_bytes(row, what, out, t->want, len);
        qcrypto_cipher_units(c, 1, row->niv ? ivs : NULL, size, out, in, n, &err);
        g_assert_no_error(err);
        good = good && same_bytes(row, what, in, t->plain, len);
    }
    return good;
}

static void test_guards(const CipherRow *row)
{
    static const size_t large[] = {1024, 4096, 65536};
    Guarded a = guarded_new(MOST * 4096);
    Guarded b = guarded_new(MOST * 4096);
    Guarded iv_page = guarded_new(4096);
    Guarded key_page = guarded_new(4096);
    uint8_t *key = key_page.end - row->nkey;
    bool good = true;

    memcpy(key, texts()->key, row->nkey);
    guarded_under_way("making a key");
    QCryptoCipher *c = cipher_row_open(row, key);
    g_autoptr(Model) m = model_new(row, key);

    for (size_t len = MAX(row->min, row->step); good && len <= 600;
         len += row->step) {
        good = guarded_length(row, c, m, &a, &b, &iv_page, len);
    }
    for (size_t i = 0;
         good && i < G_N_ELEMENTS(large) && large[i] + row->step <= row->most; i++) {
        good = guarded_length(row, c, m, &a, &b, &iv_page, large[i]) &&
               guarded_length(row, c, m, &a, &b, &iv_page,
                              large[i] + row->step);
    }
    for (size_t n = 1; good && n <= MOST; n++) {
        good = guarded_run(row, c, m, &a, &b, &iv_page, 512, n) &&
               guarded_run(row, c, m, &a, &b, &iv_page, 16 + row->step, n);
    }
    guarded_under_way("nothing");
    qcrypto_cipher_free(c);
    guarded_free(&a);
    guarded_free(&b);
    guarded_free(&iv_page);
    guarded_free(&key_page);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    guarded_report_faults();
    cipher_rows_add("/cipher/units", ALL_MODES, test_units);
    cipher_rows_add("/cipher/sectors", ALL_MODES, test_sectors);
    cipher_rows_add("/cipher/dm-crypt-rules", ALL_MODES, test_rules);
    cipher_rows_add("/cipher/guard-pages", ALL_MODES, test_guards);
    return g_test_run();
}
