/*
 * The ground floor: the algorithm table, specifications, error texts,
 * memory for secrets, CPU names, the pool of handles
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>
#include <qcrypto/ivgen.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/base/algs.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/base/pool.h"
#include "crypto/base/secure.h"

/* The error has this kind and this very text; cleared. */
static void expect_error(GError **err, int kind, const char *text)
{
    g_assert_error(*err, QCRYPTO_ERROR, kind);
    g_assert_cmpstr((*err)->message, ==, text);
    g_clear_error(err);
}

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

/* ---- the algorithm table ---- */

static void test_algs_table(void)
{
    const QCryptoAlg *a, *b;
    size_t i, j;

    for (i = 0; (a = qcrypto_alg_at(i)); i++) {
        g_autofree char *upper = g_ascii_strup(a->name, -1);

        g_assert_true(a == qcrypto_alg(a->kind, a->id));
        g_assert_true(a == qcrypto_alg_from_name(a->kind, a->name));
        g_assert_true(a == qcrypto_alg_from_name(a->kind, upper));
        g_assert_nonnull(a->family);
        g_assert_nonnull(a->kernel);
        /* names are lower case: they are printed, typed and compared */
        for (j = 0; a->name[j]; j++) {
            g_assert_false(g_ascii_isupper(a->name[j]));
        }
        for (j = 0; j < i; j++) {
            b = qcrypto_alg_at(j);
            g_assert_true(a->kind != b->kind || strcmp(a->name, b->name));
        }
    }
    g_assert_null(qcrypto_alg_at(i + 1000));
    g_assert_cmpuint(i, >=,
                     QCRYPTO_CIPHER_ALGO__MAX + QCRYPTO_HASH_ALGO__MAX +
                         QCRYPTO_IV_GEN_ALGO__MAX);
}

/* The table has every number of the public enumerations, and no others. */
static void test_algs_complete(void)
{
    const struct {
        QCryptoKind kind;
        int count;
    } kinds[] = {
        {QCRYPTO_KIND_CIPHER, QCRYPTO_CIPHER_ALGO__MAX},
        {QCRYPTO_KIND_HASH, QCRYPTO_HASH_ALGO__MAX},
        {QCRYPTO_KIND_HMAC, QCRYPTO_HASH_ALGO__MAX},
        {QCRYPTO_KIND_PBKDF2, QCRYPTO_HASH_ALGO__MAX},
        {QCRYPTO_KIND_IVGEN, QCRYPTO_IV_GEN_ALGO__MAX},
    };
    size_t k;
    int id;

    for (k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_assert_cmpint(qcrypto_alg_count(kinds[k].kind), ==, kinds[k].count);
        for (id = 0; id < kinds[k].count; id++) {
            g_assert_cmpint(qcrypto_alg(kinds[k].kind, id)->id, ==, id);
        }
        g_assert_null(qcrypto_alg(kinds[k].kind, kinds[k].count));
        g_assert_null(qcrypto_alg(kinds[k].kind, -1));
        g_assert_null(qcrypto_alg(kinds[k].kind, G_MAXINT));
        g_assert_null(qcrypto_alg(kinds[k].kind, G_MININT));
        g_assert_null(qcrypto_alg_from_name(kinds[k].kind, "no-such"));
        g_assert_null(qcrypto_alg_from_name(kinds[k].kind, ""));
        g_assert_null(qcrypto_alg_from_name(kinds[k].kind, NULL));
    }
    g_assert_null(qcrypto_alg(QCRYPTO_KIND__MAX, 0));
    g_assert_null(qcrypto_alg((QCryptoKind)-1, 0));
}

/* Sizes, against the standards' and not against the table. */
static void test_algs_sizes(void)
{
    const struct {
        const char *name;
        unsigned key, block;
    } ciphers[] = {
        {"aes-128", 16, 16},      {"aes-192", 24, 16},
        {"aes-256", 32, 16},      {"des", 8, 8},
        {"3des", 24, 8},          {"cast5-128", 16, 8},
        {"serpent-128", 16, 16},  {"serpent-192", 24, 16},
        {"serpent-256", 32, 16},  {"twofish-128", 16, 16},
        {"twofish-192", 24, 16},  {"twofish-256", 32, 16},
        {"sm4", 16, 16},          {"camellia-128", 16, 16},
        {"camellia-192", 24, 16}, {"camellia-256", 32, 16},
    };
    const struct {
        const char *name;
        unsigned block, out;
    } hashes[] = {
        {"md5", 64, 16},          {"sha1", 64, 20},
        {"sha224", 64, 28},       {"sha256", 64, 32},
        {"sha384", 128, 48},      {"sha512", 128, 64},
        {"ripemd160", 64, 20},    {"sm3", 64, 32},
        {"sha3-256", 136, 32},    {"sha3-512", 72, 64},
        {"blake2b-512", 128, 64}, {"blake2s-256", 64, 32},
        {"whirlpool", 64, 64},
    };
    size_t i;

    g_assert_cmpuint(G_N_ELEMENTS(ciphers), ==, QCRYPTO_CIPHER_ALGO__MAX);
    for (i = 0; i < G_N_ELEMENTS(ciphers); i++) {
        int alg = qcrypto_cipher_algo_from_name(ciphers[i].name);

        g_assert_cmpint(alg, >=, 0);
        g_assert_cmpstr(qcrypto_cipher_algo_name(alg), ==, ciphers[i].name);
        g_assert_cmpuint(qcrypto_cipher_get_key_len(alg), ==, ciphers[i].key);
        g_assert_cmpuint(qcrypto_cipher_get_block_len(alg), ==,
                         ciphers[i].block);
        g_assert_cmpuint(
            qcrypto_cipher_get_iv_len(alg, QCRYPTO_CIPHER_MODE_CBC), ==,
            ciphers[i].block);
        g_assert_cmpuint(
            qcrypto_cipher_get_iv_len(alg, QCRYPTO_CIPHER_MODE_ECB), ==, 0);
    }
    g_assert_cmpuint(G_N_ELEMENTS(hashes), ==, QCRYPTO_HASH_ALGO__MAX);
    for (i = 0; i < G_N_ELEMENTS(hashes); i++) {
        const QCryptoAlg *h =
            qcrypto_alg_from_name(QCRYPTO_KIND_HASH, hashes[i].name);

        g_assert_nonnull(h);
        g_assert_cmpuint(h->block_len, ==, hashes[i].block);
        g_assert_cmpuint(h->out_len, ==, hashes[i].out);
    }
}

static void test_names(void)
{
    int i;

    for (i = 0; i < QCRYPTO_CIPHER_MODE__MAX; i++) {
        const char *name = qcrypto_cipher_mode_name(i);

        g_assert_nonnull(name);
        g_assert_cmpint(qcrypto_cipher_mode_from_name(name), ==, i);
        g_assert_cmpstr(qcrypto_mode_name(i), ==, name);
        g_assert_cmpint(qcrypto_mode_from_name(name), ==, i);
    }
    for (i = 0; i < QCRYPTO_IV_GEN_ALGO__MAX; i++) {
        g_assert_cmpint(
            qcrypto_ivgen_algo_from_name(qcrypto_ivgen_algo_name(i)), ==, i);
    }
    for (i = 0; i < QCRYPTO_KIND__MAX; i++) {
        g_assert_cmpint(qcrypto_kind_from_name(qcrypto_kind_name(i)), ==, i);
    }
    g_assert_cmpint(qcrypto_cipher_mode_from_name("CtR"), ==,
                    QCRYPTO_CIPHER_MODE_CTR);
    g_assert_cmpint(qcrypto_cipher_mode_from_name("gcm"), ==, -1);
    g_assert_cmpint(qcrypto_cipher_mode_from_name(NULL), ==, -1);
    g_assert_null(qcrypto_cipher_mode_name(QCRYPTO_CIPHER_MODE__MAX));
    g_assert_null(qcrypto_cipher_mode_name((QCryptoCipherMode)-1));
    g_assert_cmpint(qcrypto_cipher_algo_from_name("aes"), ==, -1);
    g_assert_null(qcrypto_cipher_algo_name(QCRYPTO_CIPHER_ALGO__MAX));
    g_assert_null(qcrypto_cipher_algo_name((QCryptoCipherAlgo)-1));
    g_assert_cmpint(qcrypto_ivgen_algo_from_name("null"), ==, -1);
    g_assert_null(qcrypto_ivgen_algo_name(QCRYPTO_IV_GEN_ALGO__MAX));
    g_assert_cmpint(qcrypto_kind_from_name("cyphers"), ==, -1);
    g_assert_null(qcrypto_kind_name(QCRYPTO_KIND__MAX));
}

/* ---- cipher specifications ---- */

static void test_spec_round_trip(void)
{
    const struct {
        const char *text;
        const char *family;
        int mode, ivgen, hash;
    } specs[] = {
        {"aes-xts-plain64", "aes", QCRYPTO_CIPHER_MODE_XTS,
         QCRYPTO_IV_GEN_ALGO_PLAIN64, -1},
        {"aes-cbc-essiv:sha256", "aes", QCRYPTO_CIPHER_MODE_CBC,
         QCRYPTO_IV_GEN_ALGO_ESSIV, QCRYPTO_HASH_ALGO_SHA256},
        {"aes-cbc-essiv:sha3-256", "aes", QCRYPTO_CIPHER_MODE_CBC,
         QCRYPTO_IV_GEN_ALGO_ESSIV, QCRYPTO_HASH_ALGO_SHA3_256},
        {"aes-ecb", "aes", QCRYPTO_CIPHER_MODE_ECB, -1, -1},
        {"serpent-cbc-plain", "serpent", QCRYPTO_CIPHER_MODE_CBC,
         QCRYPTO_IV_GEN_ALGO_PLAIN, -1},
        {"twofish-xts-plain64be", "twofish", QCRYPTO_CIPHER_MODE_XTS,
         QCRYPTO_IV_GEN_ALGO_PLAIN64BE, -1},
        {"des3_ede-cbc-benbi", "des3_ede", QCRYPTO_CIPHER_MODE_CBC,
         QCRYPTO_IV_GEN_ALGO_BENBI, -1},
        {"cast5-ctr-plain64", "cast5", QCRYPTO_CIPHER_MODE_CTR,
         QCRYPTO_IV_GEN_ALGO_PLAIN64, -1},
    };
    size_t i;

    for (i = 0; i < G_N_ELEMENTS(specs); i++) {
        g_autoptr(GError) err = NULL;
        g_autofree char *back = NULL;
        QCryptoCipherSpec s;

        g_assert_cmpint(qcrypto_cipher_spec_parse(specs[i].text, &s, &err), ==,
                        0);
        g_assert_no_error(err);
        g_assert_cmpstr(s.family, ==, specs[i].family);
        g_assert_cmpint(s.mode, ==, specs[i].mode);
        g_assert_cmpint(s.ivgen, ==, specs[i].ivgen);
        g_assert_cmpint(s.hash, ==, specs[i].hash);
        back = qcrypto_cipher_spec_to_string(&s);
        g_assert_cmpstr(back, ==, specs[i].text);
    }
}

/* Whatever is wrong is named; nothing is written. */
static void test_spec_errors(void)
{
    const struct {
        const char *text;
        const char *what;
    } specs[] = {
        {"", "the cipher is missing"},
        {"-xts-plain64", "the cipher is missing"},
        {"rot13-cbc-plain", "'rot13'"},
        {"AES-xts-plain64", "'AES'"},
        {"aes", "the mode is missing"},
        {"aes-", "the mode is missing"},
        {"aes-lrw-plain64", "'lrw'"},
        {"aes-cbc", "mode cbc needs an IV generator"},
        {"aes-cbc-", "mode cbc needs an IV generator"},
        {"aes-xts-plain32", "'plain32'"},
        {"aes-xts-plain64-", "'plain64-'"},
        {"aes-xts-plain64:sha256", "plain64 takes no hash ('sha256')"},
        {"aes-xts-plain64:", "plain64 takes no hash"},
        {"aes-cbc-essiv", "essiv needs a hash"},
        {"aes-cbc-essiv:", "essiv needs a hash"},
        {"aes-cbc-essiv:sha257", "'sha257'"},
        {"aes-cbc-essiv:sha256:sha256", "'sha256:sha256'"},
        {"aes-ecb-plain64", "ecb takes no IV generator ('plain64')"},
    };
    QCryptoCipherSpec s, before;
    size_t i;

    memset(&s, 0x5a, sizeof(s));
    before = s;
    for (i = 0; i < G_N_ELEMENTS(specs); i++) {
        g_autoptr(GError) err = NULL;
        g_autofree char *quoted = g_strdup_printf("'%s'", specs[i].text);

        g_assert_cmpint(qcrypto_cipher_spec_parse(specs[i].text, &s, &err), ==,
                        -1);
        g_assert_error(err, QCRYPTO_ERROR, INVALID);
        g_test_message("%s", err->message);
        g_assert_nonnull(strstr(err->message, specs[i].what));
        g_assert_nonnull(strstr(err->message, quoted));
        g_assert_cmpmem(&s, sizeof(s), &before, sizeof(before));
    }
    {
        g_autoptr(GError) err = NULL;

        g_assert_cmpint(qcrypto_cipher_spec_parse(NULL, &s, &err), ==, -1);
        expect_error(&err, INVALID, "text is NULL");
        g_assert_cmpint(qcrypto_cipher_spec_parse("aes-ecb", NULL, &err), ==,
                        -1);
        expect_error(&err, INVALID, "spec is NULL");
    }
}

static void test_spec_alg(void)
{
    g_autoptr(GError) err = NULL;
    QCryptoCipherSpec s;

    qcrypto_cipher_spec_parse("aes-xts-plain64", &s, &err);
    g_assert_cmpint(qcrypto_cipher_spec_get_alg(&s, 32, &err), ==,
                    QCRYPTO_CIPHER_ALGO_AES_128);
    g_assert_cmpint(qcrypto_cipher_spec_get_alg(&s, 48, &err), ==,
                    QCRYPTO_CIPHER_ALGO_AES_192);
    g_assert_cmpint(qcrypto_cipher_spec_get_alg(&s, 64, &err), ==,
                    QCRYPTO_CIPHER_ALGO_AES_256);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_cipher_spec_get_alg(&s, 16, &err), ==, -1);
    expect_error(&err, INVALID,
                 "aes in xts mode takes a key of 32, 48, 64 bytes, not 16");

    qcrypto_cipher_spec_parse("des3_ede-cbc-plain64", &s, &err);
    g_assert_cmpint(qcrypto_cipher_spec_get_alg(&s, 24, &err), ==,
                    QCRYPTO_CIPHER_ALGO_3DES);
    g_assert_cmpint(qcrypto_cipher_spec_get_alg(&s, 16, &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
}

/* ---- errors ---- */

static void test_error_texts(void)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_error_key_len(&err, "aes-256 in xts mode", 64, 32),
                    ==, -1);
    expect_error(&err, INVALID,
                 "aes-256 in xts mode takes a key of 64 bytes, not 32");
    g_assert_cmpint(qcrypto_error_iv_len(&err, "aes-256-xts", 16, 8), ==, -1);
    expect_error(&err, INVALID, "aes-256-xts takes an IV of 16 bytes, not 8");
    g_assert_cmpint(qcrypto_error_data_len(&err, "aes-256-cbc", 16, 17), ==,
                    -1);
    expect_error(&err, INVALID,
                 "aes-256-cbc works on a multiple of 16 bytes, not 17");
    g_assert_cmpint(
        qcrypto_error_unit_len(&err, "aes-256-xts", 16, 16777216, 15), ==, -1);
    expect_error(&err, INVALID,
                 "aes-256-xts data units have 16 to 16777216 bytes, not 15");
    g_assert_cmpint(qcrypto_error_no_iv(&err, "aes-256-cbc"), ==, -1);
    expect_error(&err, INVALID, "aes-256-cbc: no IV was set");
    g_assert_cmpint(qcrypto_error_message_ended(&err, "aes-256-ctr"), ==, -1);
    expect_error(&err, INVALID,
                 "aes-256-ctr: the message ended inside a "
                 "block; set a new IV");
    g_assert_cmpint(qcrypto_error_overlap(&err, "aes-256-cbc"), ==, -1);
    expect_error(&err, INVALID, "aes-256-cbc: input and output overlap");
    g_assert_cmpint(qcrypto_error_null(&err, "key"), ==, -1);
    expect_error(&err, INVALID, "key is NULL");
    g_assert_cmpint(qcrypto_error_unknown(&err, "cipher", "rot13"), ==, -1);
    expect_error(&err, INVALID, "unknown cipher 'rot13'");
    g_assert_cmpint(
        qcrypto_error_unsupported(&err, "des-xts", "%d-byte %s", 8, "blocks"),
        ==, -1);
    expect_error(&err, QCRYPTO_ERROR_UNSUPPORTED,
                 "des-xts is not supported: 8-byte blocks");
    g_assert_cmpint(qcrypto_error_unavailable(&err, "abc", "no %s", "luck"), ==,
                    -1);
    expect_error(&err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                 "backend abc is unavailable: no luck");
    g_assert_cmpint(qcrypto_error_memory(&err, "a key", 1048576, 2048), ==, -1);
    expect_error(&err, QCRYPTO_ERROR_OUT_OF_MEMORY,
                 "a key needs 1048576 KiB, 2048 KiB available");
    g_assert_cmpint(qcrypto_error_memory(&err, "a key", 7, 0), ==, -1);
    expect_error(&err, QCRYPTO_ERROR_OUT_OF_MEMORY, "a key needs 7 KiB");
    g_assert_cmpint(qcrypto_error_library(&err, "lib", "call", "text"), ==, -1);
    expect_error(&err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "lib: call: text");
    g_assert_cmpint(qcrypto_error(&err, QCRYPTO_ERROR_BUSY, "%d", 42), ==, -1);
    expect_error(&err, QCRYPTO_ERROR_BUSY, "42");
}

/* A caller that does not want to know. */
static void test_error_null(void)
{
    g_assert_cmpint(qcrypto_error_null(NULL, "key"), ==, -1);
    g_assert_cmpint(qcrypto_error_unsupported(NULL, "x", "y"), ==, -1);
    g_assert_cmpint(qcrypto_error(NULL, QCRYPTO_ERROR_IO, "x"), ==, -1);
}

/* ---- memory for secrets ---- */

static void test_wipe(void)
{
    uint8_t buf[67];
    size_t from, n, i;

    for (from = 0; from < 3; from++) {
        for (n = 0; n <= sizeof(buf) - from; n++) {
            memset(buf, 0xa5, sizeof(buf));
            qcrypto_wipe(buf + from, n);
            for (i = 0; i < sizeof(buf); i++) {
                g_assert_cmpuint(buf[i], ==,
                                 i >= from && i < from + n ? 0 : 0xa5);
            }
        }
    }
}

static void test_equal_ct(void)
{
    uint8_t a[33], b[33];
    size_t i;
    int bit;

    memset(a, 0x3c, sizeof(a));
    memcpy(b, a, sizeof(b));
    g_assert_true(qcrypto_equal_ct(a, b, 0));
    g_assert_true(qcrypto_equal_ct(a, b, sizeof(a)));
    for (i = 0; i < sizeof(a); i++) {
        for (bit = 0; bit < 8; bit++) {
            b[i] ^= 1 << bit;
            g_assert_false(qcrypto_equal_ct(a, b, sizeof(a)));
            g_assert_true(qcrypto_equal_ct(a, b, i));
            b[i] ^= 1 << bit;
        }
    }
}

static void test_alloc(void)
{
    size_t n, i;

    for (n = 0; n < 300; n += 7) {
        uint8_t *p = qcrypto_alloc(n);

        g_assert_nonnull(p);
        g_assert_cmpuint((uintptr_t)p % 16, ==, 0);
        for (i = 0; i < n; i++) {
            g_assert_cmpuint(p[i], ==, 0);
            p[i] = 0xff;
        }
        qcrypto_wipe_free(p, n);
    }
    qcrypto_wipe_free(NULL, 100);
}

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

/* A size that no machine has gives NULL, not an abort. */
static void test_alloc_too_much(void)
{
#ifdef SANITIZED
    g_test_message("sanitizers refuse such sizes by themselves");
#else
    volatile size_t huge = SIZE_MAX / 2;

    g_assert_null(qcrypto_alloc(huge));
#endif
}

/* ---- CPU names ---- */

static void test_cpu_names(void)
{
    g_autofree char *none = qcrypto_cpu_names(0, ",");
    g_autofree char *all = qcrypto_cpu_names(~0u, " ");
    g_auto(GStrv) names = g_strsplit(all, " ", -1);
    uint32_t seen = 0, bit;
    size_t i;

    g_assert_cmpstr(none, ==, "none");
    for (i = 0; names[i]; i++) {
        g_assert_cmpstr(names[i], !=, "");
    }
    for (bit = 1; bit; bit <<= 1) {
        g_autofree char *one = qcrypto_cpu_names(bit, ",");

        if (strcmp(one, "none")) {
            g_assert_true(g_strv_contains((const char *const *)names, one));
            seen |= bit;
        }
    }
    /* whatever the hardware has, has a name: it can be switched off */
    g_assert_cmpuint(qcrypto_cpu_hardware() & ~seen, ==, 0);
    g_assert_cmpuint(qcrypto_cpu_features() & ~qcrypto_cpu_hardware(), ==, 0);
    g_assert_null(qcrypto_cpu_error());
#if defined(__x86_64__)
    g_assert_cmpuint(qcrypto_cpu_hardware() & QCRYPTO_CPU_SSE2, !=, 0);
    {
        g_autofree char *two =
            qcrypto_cpu_names(QCRYPTO_CPU_AES | QCRYPTO_CPU_SSE2, "+");
        g_assert_cmpstr(two, ==, "sse2+aes");
    }
#elif defined(__aarch64__)
    g_assert_cmpuint(qcrypto_cpu_hardware() & QCRYPTO_CPU_NEON, !=, 0);
#endif
}

/* ---- the pool ---- */

typedef struct Owner {
    QCryptoPool pool;
    int opened, closed; /* atomic */
    int limit;          /* opens that succeed, unless 0 */
} Owner;

typedef struct Handle {
    Owner *owner;
    int busy; /* atomic: one user at a time */
} Handle;

static void *handle_open(const void *opaque, GError **errp)
{
    Owner *o = (Owner *)opaque;
    Handle *h;

    if (g_atomic_int_add(&o->opened, 1) >= o->limit && o->limit) {
        g_atomic_int_add(&o->opened, -1);
        qcrypto_error(errp, QCRYPTO_ERROR_BUSY, "no more handles");
        return NULL;
    }
    h = g_new0(Handle, 1);
    h->owner = o;
    return h;
}

static void handle_close(void *opaque)
{
    Handle *h = opaque;

    g_assert_cmpint(h->busy, ==, 0);
    g_atomic_int_inc(&h->owner->closed);
    g_free(h);
}

static void owner_init(Owner *o)
{
    memset(o, 0, sizeof(*o));
    o->pool.open = handle_open;
    o->pool.close = handle_close;
}

static void test_pool_reuse(void)
{
    g_autoptr(GError) err = NULL;
    void *a, *b;
    Owner o;

    owner_init(&o);
    qcrypto_pool_close(&o.pool); /* of an empty pool */
    a = qcrypto_pool_take(&o.pool, &o, &err);
    b = qcrypto_pool_take(&o.pool, &o, &err);
    g_assert_no_error(err);
    g_assert_true(a != b);
    qcrypto_pool_put(&o.pool, a);
    g_assert_true(qcrypto_pool_take(&o.pool, &o, &err) == a);
    qcrypto_pool_put(&o.pool, a);
    qcrypto_pool_put(&o.pool, b);
    g_assert_cmpint(o.opened, ==, 2);
    g_assert_cmpint(o.closed, ==, 0);
    qcrypto_pool_close(&o.pool);
    g_assert_cmpint(o.closed, ==, 2);
}

/* More handles out than the pool keeps: the rest is closed, none is lost. */
static void test_pool_overflow(void)
{
    enum { N = QCRYPTO_POOL_SLOTS + 5 };
    void *h[N];
    Owner o;
    int i;

    owner_init(&o);
    for (i = 0; i < N; i++) {
        h[i] = qcrypto_pool_take(&o.pool, &o, NULL);
        g_assert_nonnull(h[i]);
    }
    g_assert_cmpint(o.opened, ==, N);
    for (i = 0; i < N; i++) {
        qcrypto_pool_put(&o.pool, h[i]);
    }
    g_assert_cmpint(o.closed, ==, 5);
    qcrypto_pool_close(&o.pool);
    g_assert_cmpint(o.closed, ==, N);
}

static void test_pool_error(void)
{
    g_autoptr(GError) err = NULL;
    Owner o;
    void *a;

    owner_init(&o);
    o.limit = 1;
    a = qcrypto_pool_take(&o.pool, &o, &err);
    g_assert_nonnull(a);
    g_assert_null(qcrypto_pool_take(&o.pool, &o, &err));
    expect_error(&err, QCRYPTO_ERROR_BUSY, "no more handles");
    qcrypto_pool_put(&o.pool, a);
    g_assert_true(qcrypto_pool_take(&o.pool, &o, &err) == a);
    qcrypto_pool_put(&o.pool, a);
    qcrypto_pool_close(&o.pool);
    g_assert_cmpint(o.closed, ==, 1);
}

static gpointer pool_user(gpointer opaque)
{
    Owner *o = opaque;
    int i;

    for (i = 0; i < 20000; i++) {
        Handle *h = qcrypto_pool_take(&o->pool, o, NULL);

        /* nobody else has this one */
        g_assert_cmpint(g_atomic_int_add(&h->busy, 1), ==, 0);
        g_assert_cmpint(g_atomic_int_add(&h->busy, -1), ==, 1);
        qcrypto_pool_put(&o->pool, h);
    }
    return NULL;
}

static void test_pool_threads(void)
{
    GThread *threads[4];
    Owner o;
    size_t i;

    owner_init(&o);
    for (i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new("pool", pool_user, &o);
    }
    for (i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_thread_join(threads[i]);
    }
    qcrypto_pool_close(&o.pool);
    g_assert_cmpint(o.opened, ==, o.closed);
    /* slots outnumber the threads, so handles are kept, not remade */
    g_assert_cmpint(o.opened, <, 20000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/algs/table", test_algs_table);
    g_test_add_func("/base/algs/complete", test_algs_complete);
    g_test_add_func("/base/algs/sizes", test_algs_sizes);
    g_test_add_func("/base/algs/names", test_names);
    g_test_add_func("/base/spec/round-trip", test_spec_round_trip);
    g_test_add_func("/base/spec/errors", test_spec_errors);
    g_test_add_func("/base/spec/alg", test_spec_alg);
    g_test_add_func("/base/error/texts", test_error_texts);
    g_test_add_func("/base/error/null", test_error_null);
    g_test_add_func("/base/secure/wipe", test_wipe);
    g_test_add_func("/base/secure/equal", test_equal_ct);
    g_test_add_func("/base/secure/alloc", test_alloc);
    g_test_add_func("/base/secure/alloc-too-much", test_alloc_too_much);
    g_test_add_func("/base/cpu/names", test_cpu_names);
    g_test_add_func("/base/pool/reuse", test_pool_reuse);
    g_test_add_func("/base/pool/overflow", test_pool_overflow);
    g_test_add_func("/base/pool/error", test_pool_error);
    g_test_add_func("/base/pool/threads", test_pool_threads);
    return g_test_run();
}
