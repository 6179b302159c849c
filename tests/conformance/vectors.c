/*
 * Test vectors: the reader, and the cipher vectors of all files
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "vectors.h"

#include <qcrypto/cipher.h>
#include <string.h>

#include "rows.h"

struct VectorFile {
    char *name;
    char **lines;
    size_t at; /* next line */
    GHashTable *fields;
    char *section;
    char *where;
};

VectorFile *vector_file_open(const char *path)
{
    g_autofree char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return NULL;
    }
    VectorFile *f = g_new0(VectorFile, 1);
    f->name = g_path_get_basename(path);
    f->lines = g_strsplit(text, "\n", -1);
    f->fields = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    f->section = g_strdup("");
    return f;
}

VectorFile *vector_file_open_data(const char *name)
{
    g_autofree char *path = g_build_filename(QCRYPTO_TEST_DATA, name, NULL);
    VectorFile *f = vector_file_open(path);

    if (!f) {
        g_error("cannot read %s", path);
    }
    return f;
}

void vector_file_close(VectorFile *f)
{
    if (f) {
        g_strfreev(f->lines);
        g_hash_table_destroy(f->fields);
        g_free(f->name);
        g_free(f->section);
        g_free(f->where);
        g_free(f);
    }
}

/* Without the white space, quotes and commas around it. */
static char *bare(const char *start, const char *end)
{
    static const char around[] = " \t\r\",";

    while (start < end && strchr(around, *start)) {
        start++;
    }
    while (end > start && strchr(around, end[-1])) {
        end--;
    }
    return g_strndup(start, (gsize)(end - start));
}

bool vector_file_next(VectorFile *f)
{
    const char *line;

    g_hash_table_remove_all(f->fields);
    while ((line = f->lines[f->at])) {
        f->at++;
        while (g_ascii_isspace(*line)) {
            line++;
        }
        if (*line == '\0' || *line == '}') {
            if (g_hash_table_size(f->fields)) {
                return true;
            }
            continue;
        }
        if (*line == '{') {
            g_hash_table_remove_all(f->fields);
            continue;
        }
        if (*line == '[') {
            const char *end = strchr(line, ']');

            g_free(f->section);
            f->section = end ? bare(line + 1, end) : g_strdup("");
            continue;
        }
        const char *sep = *line == '#' ? NULL : strpbrk(line, "=:");
        if (!sep) {
            continue;
        }
        if (!g_hash_table_size(f->fields)) {
            g_free(f->where);
            f->where = g_strdup_printf("%s:%zu", f->name, f->at);
        }
        char *name = bare(line, sep);
        for (char *p = name; *p; p++) {
            *p = g_ascii_tolower(*p);
        }
        g_hash_table_replace(f->fields, name, bare(sep + 1, line + strlen(line)));
    }
    return g_hash_table_size(f->fields) > 0;
}

const char *vector_text(const VectorFile *f, const char *name)
{
    return g_hash_table_lookup(f->fields, name);
}

GByteArray *vector_bytes(const VectorFile *f, const char *name)
{
    const char *text = vector_text(f, name);

    if (!text) {
        return NULL;
    }
    const size_t digits = strlen(text);
    /* room for one more: data is never NULL */
    GByteArray *bytes = g_byte_array_sized_new((guint)(digits / 2) + 1);
    g_assert_cmpuint(digits % 2, ==, 0);
    for (size_t i = 0; i < digits; i += 2) {
        const int hi = g_ascii_xdigit_value(text[i]);
        const int lo = g_ascii_xdigit_value(text[i + 1]);
        const uint8_t byte = (uint8_t)(hi << 4 | lo);

        if (hi < 0 || lo < 0) {
            g_error("%s: %s is not hex", f->where, name);
        }
        g_byte_array_append(bytes, &byte, 1);
    }
    return bytes;
}

uint64_t vector_number(const VectorFile *f, const char *name)
{
    const char *text = vector_text(f, name);
    guint64 value = 0;

    if (!text || !g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &value,
                                             NULL)) {
        g_error("%s: %s is not a number", f->where, name);
    }
    return value;
}

const char *vector_section(const VectorFile *f)
{
    return f->section;
}

const char *vector_where(const VectorFile *f)
{
    return f->where;
}

/* ---- cipher vectors ---- */

static GArray *vectors;
static size_t n_extra;

/*
 * "aes" and 16 bytes: aes-128; "sm4" and 16 bytes: sm4; -1 when no algorithm
 * takes a key of that length
 */
static int member(const char *family, size_t nkey)
{
    g_autofree char *name = g_strdup_printf("%s-%zu", family, nkey * 8);
    const int alg = qcrypto_cipher_algo_from_name(name);

    if (alg >= 0) {
        return alg;
    }
    const int only = qcrypto_cipher_algo_from_name(family);
    return only >= 0 && qcrypto_cipher_get_key_len((QCryptoCipherAlgo)only) == nkey
               ? only
               : -1;
}

static void add(const VectorFile *f, bool extra, int alg, int mode,
                GByteArray *key, GByteArray *iv, GByteArray *pt,
                GByteArray *ct, const char *ct_sha256)
{
    CipherVector v = {
        .where = g_strdup(vector_where(f)),
        .alg = alg, .mode = mode, .extra = extra,
        .key = key, .iv = iv, .pt = pt, .ct = ct,
        .ct_sha256 = g_strdup(ct_sha256),
    };

    g_assert_nonnull(key);
    g_assert_nonnull(pt);
    g_assert_true(ct || ct_sha256);
    g_assert_cmpint(alg, >=, 0);
    if (!iv) {
        v.iv = g_byte_array_sized_new(1);
    }
    g_array_append_val(vectors, v);
    n_extra += extra;
}

static void add_file(const char *name)
{
    VectorFile *f = vector_file_open_data(name);

    while (vector_file_next(f)) {
        const int alg = qcrypto_cipher_algo_from_name(vector_text(f, "alg"));
        const int mode = qcrypto_cipher_mode_from_name(vector_text(f, "mode"));
        GByteArray *pt = vector_bytes(f, "pt");

        g_assert_cmpint(alg, >=, 0);
        g_assert_cmpint(mode, >=, 0);
        if (!pt) {
            const size_t n = vector_number(f, "pt_len");

            pt = g_byte_array_new();
            g_byte_array_set_size(pt, (guint)n);
            fill_pattern(pt->data, n);
        }
        add(f, false, alg, mode, vector_bytes(f, "key"), vector_bytes(f, "iv"),
            pt, vector_bytes(f, "ct"), vector_text(f, "ct_sha256"));
    }
    vector_file_close(f);
}

/* NIST CAVP: ECB*.rsp, CBC*.rsp, XTSGen*.rsp, all AES */
static void add_nist(VectorFile *f, const char *mode_name)
{
    const int mode = qcrypto_cipher_mode_from_name(mode_name);
    const bool xts = mode == QCRYPTO_CIPHER_MODE_XTS;

    while (vector_file_next(f)) {
        /* units that are no whole number of bytes are nobody's here */
        if (!vector_text(f, "key") ||
            (xts && vector_number(f, "dataunitlen") % 8)) {
            continue;
        }
        GByteArray *key = vector_bytes(f, "key");
        add(f, true, member("aes", xts ? key->len / 2 : key->len), mode, key,
            vector_bytes(f, xts ? "i" : "iv"),
            vector_bytes(f, xts ? "pt" : "plaintext"),
            vector_bytes(f, xts ? "ct" : "ciphertext"), NULL);
    }
}

/* Botan: In and Out of whole blocks; key lengths we do not have are left out */
static void add_botan(VectorFile *f, const char *family)
{
    while (vector_file_next(f)) {
        const char *key = vector_text(f, "key");
        const int alg = key ? member(family, strlen(key) / 2) : -1;

        if (alg >= 0) {
            add(f, true, alg, QCRYPTO_CIPHER_MODE_ECB, vector_bytes(f, "key"),
                NULL, vector_bytes(f, "in"), vector_bytes(f, "out"), NULL);
        }
    }
}

/*
 * Wycheproof: short XTS IVs are the low bytes of the tweak; the padding of
 * CBC is the caller's business, so it is added here, and messages that are
 * wrong by their padding are left out.
 */
static void add_wycheproof(VectorFile *f, const char *family, const char *mode_name)
{
    const int mode = qcrypto_cipher_mode_from_name(mode_name);
    const bool xts = mode == QCRYPTO_CIPHER_MODE_XTS;

    while (vector_file_next(f)) {
        if (g_strcmp0(vector_text(f, "result"), "valid") || !vector_text(f, "key")) {
            continue;
        }
        GByteArray *key = vector_bytes(f, "key");
        GByteArray *iv = vector_bytes(f, "iv");
        GByteArray *pt = vector_bytes(f, "msg");
        const guint used = iv->len;

        g_byte_array_set_size(iv, 16);
        memset(iv->data + used, 0, 16 - used);
        for (guint pad = xts ? 0 : 16 - pt->len % 16, i = 0; i < pad; i++) {
            const uint8_t byte = (uint8_t)pad;

            g_byte_array_append(pt, &byte, 1);
        }
        add(f, true, member(family, xts ? key->len / 2 : key->len), mode, key,
            iv, pt, vector_bytes(f, "ct"), NULL);
    }
}

static void add_extra(const char *root)
{
    static const char *const botan[][2] = {
        {"serpent", "serpent"}, {"twofish", "twofish"}, {"cast128", "cast5"},
        {"sm4", "sm4"},         {"camellia", "camellia"},
    };
    static const char *const wycheproof[][3] = {
        {"aes_xts", "aes", "xts"},
        {"aes_cbc_pkcs5", "aes", "cbc"},
        {"camellia_cbc_pkcs5", "camellia", "cbc"},
    };
    VectorFile *f;

    g_autofree char *nist = g_build_filename(root, "nist", NULL);
    GDir *dir = g_dir_open(nist, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(nist, name, NULL);
        g_autofree char *mode_name = g_ascii_strdown(name, 3);

        if (g_str_has_suffix(name, ".rsp") &&
            qcrypto_cipher_mode_from_name(mode_name) >= 0 &&
            (f = vector_file_open(path))) {
            add_nist(f, mode_name);
            vector_file_close(f);
        }
    }
    if (dir) {
        g_dir_close(dir);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(botan); i++) {
        g_autofree char *path = g_strdup_printf("%s/botan/%s.vec", root, botan[i][0]);

        if ((f = vector_file_open(path))) {
            add_botan(f, botan[i][1]);
            vector_file_close(f);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(wycheproof); i++) {
        g_autofree char *path =
            g_strdup_printf("%s/wycheproof/%s_test.json", root, wycheproof[i][0]);

        if ((f = vector_file_open(path))) {
            add_wycheproof(f, wycheproof[i][1], wycheproof[i][2]);
            vector_file_close(f);
        }
    }
}

const CipherVector *cipher_vectors(size_t *n)
{
    static const char *const files[] = {
        "cipher-standards.vec", "sp800-38a.vec", "xts-ieee1619.vec",
        "xts-serpent-twofish.vec", "cipher-peers.vec",
    };

    if (!vectors) {
        const char *extra = g_getenv("QCRYPTO_EXTRA_VECTORS");

        vectors = g_array_new(FALSE, FALSE, sizeof(CipherVector));
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
            add_file(files[i]);
        }
        if (extra && *extra) {
            add_extra(extra);
        }
    }
    *n = vectors->len;
    return (const CipherVector *)(const void *)vectors->data;
}

size_t cipher_vectors_extra(void)
{
    size_t n;

    cipher_vectors(&n);
    return n_extra;
}
