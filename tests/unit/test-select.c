/*
 * Selection: orders, switches, names, self-tests
 *
 * Most cases run over a provider table of the test's own, whose rows pass
 * everything on to a real row and misbehave in one way each (struct Quirk).
 * QCRYPTO_PROVIDER and QCRYPTO_CPU are read once a process, so every case
 * runs in a child of its own; the parent never enters the library.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>
#include <qcrypto/provider.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"

#define AES_128 QCRYPTO_CIPHER_ALGO_AES_128
#define AES_192 QCRYPTO_CIPHER_ALGO_AES_192
#define AES_256 QCRYPTO_CIPHER_ALGO_AES_256
#define ECB     QCRYPTO_CIPHER_MODE_ECB
#define CBC     QCRYPTO_CIPHER_MODE_CBC
#define CTR     QCRYPTO_CIPHER_MODE_CTR
#define XTS     QCRYPTO_CIPHER_MODE_XTS

static const uint8_t key[64] =
    "a key that no test compares with anything, 64 bytes in all.....";

/* ---- rows that stand in front of real ones ---- */

typedef struct Quirk {
    int fail_kind;  /* init fails with this kind, unless -1 ... */
    uint8_t narrow; /* ... for keys that begin with this byte, unless 0 */
    bool flip[2];   /* one bit of the output is wrong, encrypting, decrypting */
    bool flip_units;
} Quirk;

static const Quirk good = {.fail_kind = -1};
static const Quirk flip_enc = {.fail_kind = -1, .flip = {true, false}};
static const Quirk flip_dec = {.fail_kind = -1, .flip = {false, true}};
static const Quirk flip_units = {.fail_kind = -1, .flip_units = true};
static const Quirk dead = {.fail_kind = QCRYPTO_ERROR_BACKEND_UNAVAILABLE};
static const Quirk narrow = {.fail_kind = QCRYPTO_ERROR_UNSUPPORTED,
                             .narrow = 0xee};

typedef struct FakeCtx {
    const QCryptoRow *real;
    const Quirk *quirk;
    uint8_t ctx[] __attribute__((aligned(16)));
} FakeCtx;

/* The first row of the first provider that any CPU runs. */
static const QCryptoRow *real_row(const QCryptoRow *fake)
{
    const QCryptoProvider *p = qcrypto_provider_table[0].provider;
    size_t i;

    for (i = 0; i < p->nrows; i++) {
        const QCryptoRow *r = &p->rows[i];

        if (r->kind == fake->kind && r->alg == fake->alg &&
            r->mode == fake->mode && r->cpu == 0 && r->flags == 0) {
            return r;
        }
    }
    g_assert_not_reached();
}

static const QCryptoCipherOps *real_ops(const QCryptoRow *real)
{
    return real->ops;
}

static size_t fake_ctx_size(const QCryptoRow *row)
{
    const QCryptoRow *real = real_row(row);

    return sizeof(FakeCtx) + real_ops(real)->ctx_size(real);
}

static int fake_init(void *opaque, const QCryptoRow *row, const uint8_t *k,
                     size_t nkey, GError **errp)
{
    FakeCtx *f = opaque;

    f->real = real_row(row);
    f->quirk = row->arg;
    if (f->quirk->fail_kind >= 0 &&
        (!f->quirk->narrow || f->quirk->narrow == k[0])) {
        return qcrypto_error(errp, f->quirk->fail_kind, "refused by a quirk");
    }
    return real_ops(f->real)->init(f->ctx, f->real, k, nkey, errp);
}

static void fake_fini(void *opaque)
{
    FakeCtx *f = opaque;

    if (real_ops(f->real)->fini) {
        real_ops(f->real)->fini(f->ctx);
    }
}

static int fake_crypt(const FakeCtx *f, int dir, uint8_t *iv, const uint8_t *in,
                      uint8_t *out, size_t len, GError **errp)
{
    int ret = real_ops(f->real)->crypt[dir](f->ctx, iv, in, out, len, errp);

    out[len - 1] ^= f->quirk->flip[dir];
    return ret;
}

static int fake_encrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                        uint8_t *out, size_t len, GError **errp)
{
    return fake_crypt(ctx, 0, iv, in, out, len, errp);
}

static int fake_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                        uint8_t *out, size_t len, GError **errp)
{
    return fake_crypt(ctx, 1, iv, in, out, len, errp);
}

static int fake_units(const FakeCtx *f, int dir, const uint8_t *ivs,
                      size_t unit_size, const uint8_t *in, uint8_t *out,
                      size_t n, GError **errp)
{
    size_t i;

    for (i = 0; i < n; i++) {
        uint8_t iv[16];

        memcpy(iv, ivs + 16 * i, sizeof(iv));
        if (fake_crypt(f, dir, iv, in + i * unit_size, out + i * unit_size,
                       unit_size, errp) < 0) {
            return -1;
        }
    }
    out[n * unit_size - 1] ^= f->quirk->flip_units;
    return 0;
}

static int fake_units_encrypt(const void *ctx, const uint8_t *ivs,
                              size_t unit_size, const uint8_t *in, uint8_t *out,
                              size_t n, GError **errp)
{
    return fake_units(ctx, 0, ivs, unit_size, in, out, n, errp);
}

static int fake_units_decrypt(const void *ctx, const uint8_t *ivs,
                              size_t unit_size, const uint8_t *in, uint8_t *out,
                              size_t n, GError **errp)
{
    return fake_units(ctx, 1, ivs, unit_size, in, out, n, errp);
}

static const QCryptoCipherOps fake_ops = {
    .ctx_size = fake_ctx_size,
    .init = fake_init,
    .fini = fake_fini,
    .crypt = {fake_encrypt, fake_decrypt},
};

static const QCryptoCipherOps fake_ops_units = {
    .ctx_size = fake_ctx_size,
    .init = fake_init,
    .fini = fake_fini,
    .crypt = {fake_encrypt, fake_decrypt},
    .units = {fake_units_encrypt, fake_units_decrypt},
};

#define ROW(a, m, name, fl, q)                                                 \
    {                                                                          \
        .kind = QCRYPTO_KIND_CIPHER, .alg = (a), .mode = (m), .impl = (name),  \
        .flags = (fl), .ops = &fake_ops, .arg = &(q)                           \
    }

static const char *fake_version(void)
{
    return "7.8";
}

static int probe_fails(GError **errp)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                         "the machine room is locked");
}

static int probe_row_fails_for_192(const QCryptoRow *row, GError **errp)
{
    return row->alg == AES_192 ? qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                                               "192 bits are forbidden here")
                               : 0;
}

static const QCryptoRow alpha_rows[] = {
    ROW(AES_128, ECB, "swift", 0, good),
    ROW(AES_128, ECB, "steady", 0, good),
    ROW(AES_128, CBC, "broken", 0, flip_enc),
    ROW(AES_128, CTR, "table", QCRYPTO_ROW_LEAKY, good),
    ROW(AES_192, ECB, "swift", 0, good),
    ROW(AES_256, ECB, "narrow", 0, narrow),
    ROW(AES_256, CBC, "broken", 0, flip_dec),
    ROW(AES_256, CTR, "dead", 0, dead),
};

static const QCryptoRow beta_rows[] = {
    ROW(AES_128, ECB, "risky", QCRYPTO_ROW_AVOID, good),
    ROW(AES_128, ECB, "probe", QCRYPTO_ROW_BENCH, good),
    ROW(AES_128, ECB, "plain", 0, good),
    ROW(AES_128, CBC, "plain", 0, good),
    ROW(AES_128, CTR, "plain", 0, good),
    ROW(AES_192, ECB, "plain", 0, good),
    ROW(AES_256, ECB, "plain", 0, good),
    ROW(AES_256, CTR, "table", QCRYPTO_ROW_LEAKY, good),
    {.kind = QCRYPTO_KIND_CIPHER,
     .alg = AES_256,
     .mode = XTS,
     .impl = "bad-runs",
     .ops = &fake_ops_units,
     .arg = &flip_units},
    {.kind = QCRYPTO_KIND_CIPHER,
     .alg = AES_128,
     .mode = XTS,
     .impl = "good-runs",
     .ops = &fake_ops_units,
     .arg = &good},
};

static const QCryptoRow other_rows[] = {
    ROW(AES_128, ECB, "plain", 0, good),
};

static const QCryptoProvider alpha = {
    .name = "alpha",
    .version = fake_version,
    .rows = alpha_rows,
    .nrows = G_N_ELEMENTS(alpha_rows),
    .probe_row = probe_row_fails_for_192,
};
static const QCryptoProvider beta = {
    .name = "beta",
    .rows = beta_rows,
    .nrows = G_N_ELEMENTS(beta_rows),
};
static const QCryptoProvider locked = {
    .name = "locked",
    .rows = other_rows,
    .nrows = 1,
    .probe = probe_fails,
};
static const QCryptoProvider extra = {
    .name = "extra",
    .rows = other_rows,
    .nrows = 1,
};

static const QCryptoProviderEntry fake_table[] = {
    {"locked", &locked, false}, {"alpha", &alpha, false},
    {"beta", &beta, false},     {"extra", &extra, true},
    {"absent", NULL, false},
};

static void use_fake_table(void)
{
    qcrypto_select_set_table(fake_table, G_N_ELEMENTS(fake_table));
}

/* ---- helpers ---- */

/* What a new object is served by, "alpha:swift". */
static char *served_by(int alg, int mode)
{
    g_autoptr(GError) err = NULL;
    size_t nkey = qcrypto_cipher_get_key_len(alg) * (mode == XTS ? 2 : 1);
    g_autoptr(QCryptoCipher) c = qcrypto_cipher_new(alg, mode, key, nkey, &err);

    g_assert_no_error(err);
    g_assert_nonnull(c);
    g_assert_true(qcrypto_cipher_supports(alg, mode));
    return g_strdup_printf("%s:%s", qcrypto_cipher_get_provider(c),
                           qcrypto_cipher_get_impl(c));
}

static void assert_served_by(int alg, int mode, const char *want)
{
    g_autofree char *got = served_by(alg, mode);

    g_assert_cmpstr(got, ==, want);
}

/* new(), or new_from(@from), fails with this kind and a text that has @text. */
static void assert_refused(const char *from, int alg, int mode, int kind,
                           const char *text)
{
    g_autoptr(GError) err = NULL;
    size_t nkey = qcrypto_cipher_get_key_len(alg) * (mode == XTS ? 2 : 1);
    QCryptoCipher *c =
        from ? qcrypto_cipher_new_from(from, alg, mode, key, nkey, &err)
             : qcrypto_cipher_new(alg, mode, key, nkey, &err);

    g_assert_null(c);
    g_assert_error(err, QCRYPTO_ERROR, kind);
    if (!strstr(err->message, text)) {
        g_error("'%s' does not say '%s'", err->message, text);
    }
}

static void assert_from(const char *from, int alg, int mode, const char *impl)
{
    g_autoptr(GError) err = NULL;
    size_t nkey = qcrypto_cipher_get_key_len(alg) * (mode == XTS ? 2 : 1);
    g_autoptr(QCryptoCipher) c =
        qcrypto_cipher_new_from(from, alg, mode, key, nkey, &err);

    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_cipher_get_impl(c), ==, impl);
}

static void assert_order(const char *want)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *order = qcrypto_providers_get_order(&err);

    g_assert_no_error(err);
    g_assert_cmpstr(order, ==, want);
}

static void set_order(const char *order)
{
    g_autoptr(GError) err = NULL;

    g_assert_cmpint(qcrypto_providers_set_order(order, &err), ==, 0);
    g_assert_no_error(err);
}

/* ---- cases, each in a process of its own ---- */

static void order_written(void)
{
    use_fake_table();
    assert_order("locked,alpha,beta,absent");
    assert_served_by(AES_128, ECB, "alpha:swift");
    assert_served_by(AES_192, ECB, "beta:plain");
}

static void order_env(void)
{
    g_setenv("QCRYPTO_PROVIDER", "beta,alpha", TRUE);
    use_fake_table();
    assert_order("beta,alpha");
    assert_served_by(AES_128, ECB, "beta:plain");
    assert_served_by(AES_256, ECB, "beta:plain");
}

static void order_env_restricts(void)
{
    g_setenv("QCRYPTO_PROVIDER", "alpha", TRUE);
    use_fake_table();
    assert_order("alpha");
    assert_served_by(AES_128, ECB, "alpha:swift");
    g_assert_false(qcrypto_cipher_supports(AES_128, XTS));
    assert_refused(NULL, AES_128, XTS, QCRYPTO_ERROR_UNSUPPORTED,
                   "aes-128-xts");
    assert_refused(NULL, AES_128, XTS, QCRYPTO_ERROR_UNSUPPORTED, "alpha");
    /* a restriction of the order is none of objects that name a provider */
    assert_from("beta", AES_128, XTS, "good-runs");
}

static void order_env_opt_in(void)
{
    g_setenv("QCRYPTO_PROVIDER", "extra", TRUE);
    use_fake_table();
    assert_order("extra");
    assert_served_by(AES_128, ECB, "extra:plain");
}

static void order_env_rest(void)
{
    g_setenv("QCRYPTO_PROVIDER", "beta,...", TRUE);
    use_fake_table();
    assert_order("beta,locked,alpha,absent");
    assert_served_by(AES_128, ECB, "beta:plain");
}

static void order_env_case_and_blanks(void)
{
    g_setenv("QCRYPTO_PROVIDER", " Beta , ALPHA ", TRUE);
    use_fake_table();
    assert_order("beta,alpha");
}

static void order_env_empty(void)
{
    g_setenv("QCRYPTO_PROVIDER", "", TRUE);
    use_fake_table();
    assert_order("locked,alpha,beta,absent");
}

/* A wrong order is an error of every call that selects, the same each time. */
static void assert_bad_order(const char *order, const char *text)
{
    size_t n;
    int i;

    g_setenv("QCRYPTO_PROVIDER", order, TRUE);
    use_fake_table();
    for (i = 0; i < 2; i++) {
        g_autoptr(GError) err = NULL;

        assert_refused(NULL, AES_128, ECB, QCRYPTO_ERROR_INVALID_ARGUMENT,
                       text);
        assert_refused("beta", AES_128, ECB, QCRYPTO_ERROR_INVALID_ARGUMENT,
                       text);
        g_assert_false(qcrypto_cipher_supports(AES_128, ECB));
        g_assert_null(qcrypto_rows_list(&n, &err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
        g_clear_error(&err);
        g_assert_null(qcrypto_providers_get_order(&err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    }
}

static void order_env_unknown(void)
{
    assert_bad_order("beta,gama", "QCRYPTO_PROVIDER: unknown provider 'gama'");
    assert_bad_order("gama,...", "'gama'");
    assert_bad_order("beta,,alpha", "unknown provider ''");
    assert_bad_order("beta,...,alpha", "must come last");
    assert_bad_order("beta,alpha,beta", "named twice");
}

static void order_api(void)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) old = NULL;
    uint8_t block[16] = {0}, out[16];

    g_setenv("QCRYPTO_PROVIDER", "beta", TRUE);
    use_fake_table();
    old = qcrypto_cipher_new(AES_128, ECB, key, 16, &err);
    g_assert_no_error(err);

    set_order("alpha,beta");
    assert_order("alpha,beta");
    assert_served_by(AES_128, ECB, "alpha:swift");
    set_order("extra");
    assert_served_by(AES_128, ECB, "extra:plain");
    set_order("alpha,...");
    assert_order("alpha,locked,beta,absent");

    /* wrong: said so, and nothing changed */
    g_assert_cmpint(qcrypto_providers_set_order("gama", &err), ==, -1);
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    g_assert_nonnull(strstr(err->message, "'gama'"));
    g_clear_error(&err);
    assert_order("alpha,locked,beta,absent");

    /* back to the environment's */
    set_order(NULL);
    assert_order("beta");
    set_order("alpha");
    set_order("");
    assert_order("beta");

    /* an object keeps the row it has */
    g_assert_cmpstr(qcrypto_cipher_get_provider(old), ==, "beta");
    g_assert_cmpint(qcrypto_cipher_encrypt(old, block, out, 16, &err), ==, 0);
    g_assert_no_error(err);
}

static void names(void)
{
    use_fake_table();
    assert_from("beta", AES_128, ECB, "plain");
    assert_from("BETA", AES_128, ECB, "plain");
    assert_from("alpha:steady", AES_128, ECB, "steady");
    /* named in full, a row is used in spite of its policy */
    assert_from("beta:risky", AES_128, ECB, "risky");
    assert_from("beta:probe", AES_128, ECB, "probe");
    assert_from("alpha", AES_128, CTR, "table");
    assert_from("extra", AES_128, ECB, "plain");

    assert_refused("gama", AES_128, ECB, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "gama");
    assert_refused("absent", AES_128, ECB, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "not built in");
    assert_refused("locked", AES_128, ECB, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "the machine room is locked");
    assert_refused("alpha:quick", AES_128, ECB, QCRYPTO_ERROR_UNSUPPORTED,
                   "'quick'");
    assert_refused("alpha:", AES_128, ECB, QCRYPTO_ERROR_UNSUPPORTED, "alpha");
    assert_refused("alpha", AES_128, XTS, QCRYPTO_ERROR_UNSUPPORTED,
                   "aes-128-xts");
    assert_refused("alpha", AES_192, ECB, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "192 bits are forbidden here");
    assert_refused("", AES_128, ECB, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "no backend of this name");
}

static void leaky_last(void)
{
    use_fake_table();
    /* alpha stands first, but beta's row takes the same time for any key */
    assert_served_by(AES_128, CTR, "beta:plain");
    set_order("alpha");
    assert_served_by(AES_128, CTR, "alpha:table");
    /* the row before it fails its self-test: better a leaky row than none */
    set_order("alpha,beta");
    assert_served_by(AES_256, CTR, "beta:table");
}

#define RANKED(a, m, name, fl, r)                                              \
    {                                                                          \
        .kind = QCRYPTO_KIND_CIPHER, .alg = (a), .mode = (m), .impl = (name),  \
        .flags = (fl), .ops = &fake_ops, .arg = &good, .rank = (r)             \
    }

/* Rank decides before the written order, not before one that is asked for. */
static void rank(void)
{
    static const QCryptoRow one_rows[] = {
        RANKED(AES_128, ECB, "slow", 0, 2),
        RANKED(AES_128, CBC, "level", 0, 1),
        RANKED(AES_128, CTR, "slow", 0, 9),
    };
    static const QCryptoRow two_rows[] = {
        RANKED(AES_128, ECB, "fast", 0, 1),
        RANKED(AES_128, CBC, "level", 0, 1),
        RANKED(AES_128, CTR, "table", QCRYPTO_ROW_LEAKY, 0),
    };
    static const QCryptoProvider one = {
        .name = "one", .rows = one_rows, .nrows = G_N_ELEMENTS(one_rows)};
    static const QCryptoProvider two = {
        .name = "two", .rows = two_rows, .nrows = G_N_ELEMENTS(two_rows)};
    static const QCryptoProviderEntry table[] = {
        {"one", &one, false},
        {"two", &two, false},
        {"extra", &extra, true},
    };

    qcrypto_select_set_table(table, G_N_ELEMENTS(table));
    assert_served_by(AES_128, ECB, "two:fast");
    assert_served_by(AES_128, CBC, "one:level");
    /* constant time goes before speed */
    assert_served_by(AES_128, CTR, "one:slow");
    set_order("one,two");
    assert_served_by(AES_128, ECB, "one:slow");
    set_order("one,...");
    assert_served_by(AES_128, ECB, "one:slow");
    set_order("extra,...");
    assert_served_by(AES_128, ECB, "extra:plain");
    set_order("...");
    assert_served_by(AES_128, ECB, "two:fast");
}

static void selftest_disables(void)
{
    use_fake_table();
    /* wrong ciphertext: passed over, and its name says why */
    assert_served_by(AES_128, CBC, "beta:plain");
    assert_refused("alpha", AES_128, CBC, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "self-test");
    assert_refused("alpha:broken", AES_128, CBC,
                   QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "self-test");
    /* only decryption is wrong, and nobody else has it */
    g_assert_false(qcrypto_cipher_supports(AES_256, CBC));
    assert_refused(NULL, AES_256, CBC, QCRYPTO_ERROR_UNSUPPORTED,
                   "aes-256-cbc");
    assert_refused("alpha", AES_256, CBC, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "decryption");
    /* only runs of units are wrong */
    g_assert_false(qcrypto_cipher_supports(AES_256, XTS));
    assert_refused("beta", AES_256, XTS, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "run of units");
    assert_served_by(AES_128, XTS, "beta:good-runs");
    /* cannot even begin */
    assert_refused("alpha", AES_256, CTR, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                   "refused by a quirk");
}

static void falls_through(void)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) c = NULL;
    uint8_t k[32];

    use_fake_table();
    assert_served_by(AES_256, ECB, "alpha:narrow");
    memset(k, 0xee, sizeof(k));
    c = qcrypto_cipher_new(AES_256, ECB, k, 32, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_cipher_get_provider(c), ==, "beta");

    /* nobody left: the last reason is told */
    set_order("alpha");
    g_assert_null(qcrypto_cipher_new(AES_256, ECB, k, 32, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(err->message, "refused by a quirk"));
    g_clear_error(&err);

    /* named: no other row is tried */
    set_order(NULL);
    g_assert_null(qcrypto_cipher_new_from("alpha", AES_256, ECB, k, 32, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED);
}

static const QCryptoRowInfo *find_row(const QCryptoRowInfo *rows, size_t n,
                                      const char *provider, const char *impl,
                                      int alg, int mode)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (!strcmp(rows[i].provider, provider) &&
            !strcmp(rows[i].impl, impl) && rows[i].alg_id == alg &&
            rows[i].mode_id == mode) {
            return &rows[i];
        }
    }
    g_error("no row %s:%s", provider, impl);
}

static void rows_tell(void)
{
    g_autoptr(GError) err = NULL;
    const QCryptoProviderInfo *p;
    const QCryptoRowInfo *r;
    QCryptoRowInfo *rows;
    size_t n, i;

    use_fake_table();
    rows = qcrypto_rows_list(&n, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(n, ==,
                     G_N_ELEMENTS(alpha_rows) + G_N_ELEMENTS(beta_rows) + 2);
    for (i = 0; i < n; i++) {
        /* a "no" has a reason, a "yes" has none */
        g_assert_true(rows[i].usable == (rows[i].reason == NULL));
        g_assert_true(rows[i].usable || !rows[i].selected);
        g_assert_cmpstr(rows[i].kind, ==, "cipher");
    }
    r = find_row(rows, n, "alpha", "swift", AES_128, ECB);
    g_assert_true(r->usable && r->selected && r->constant_time);
    g_assert_cmpstr(r->algorithm, ==, "aes-128");
    g_assert_cmpstr(r->mode, ==, "ecb");
    r = find_row(rows, n, "beta", "risky", AES_128, ECB);
    g_assert_true(r->usable && r->avoid && !r->selected);
    r = find_row(rows, n, "beta", "probe", AES_128, ECB);
    g_assert_true(r->usable && r->benchmark && !r->selected);
    r = find_row(rows, n, "alpha", "table", AES_128, CTR);
    g_assert_true(r->usable && !r->constant_time && !r->selected);
    r = find_row(rows, n, "alpha", "broken", AES_128, CBC);
    g_assert_false(r->usable);
    g_assert_nonnull(strstr(r->reason, "self-test"));
    r = find_row(rows, n, "alpha", "swift", AES_192, ECB);
    g_assert_cmpstr(r->reason, ==, "192 bits are forbidden here");
    r = find_row(rows, n, "locked", "plain", AES_128, ECB);
    g_assert_cmpstr(r->reason, ==, "the machine room is locked");
    /* outside the order, but there for those who name it */
    r = find_row(rows, n, "extra", "plain", AES_128, ECB);
    g_assert_true(r->usable && !r->selected);
    qcrypto_rows_free(rows, n);

    p = qcrypto_providers_list(&n);
    g_assert_cmpuint(n, ==, G_N_ELEMENTS(fake_table));
    g_assert_cmpstr(p[0].name, ==, "locked");
    g_assert_true(p[0].compiled && !p[0].available);
    g_assert_cmpstr(p[0].reason, ==, "the machine room is locked");
    g_assert_true(p[1].available && !p[1].reason);
    g_assert_cmpstr(p[1].version, ==, "7.8");
    g_assert_false(p[4].compiled || p[4].available);
    g_assert_cmpstr(p[4].reason, ==, "not built in");
}

/* ---- the CPU's switches, on the real table ---- */

/* Every row needs only what is in force, or says what is not. */
static void check_cpu_rows(uint32_t gone)
{
    g_autoptr(GError) err = NULL;
    QCryptoCandidate *const *all;
    size_t n, i, off = 0;

    g_assert_cmpuint(qcrypto_cpu_features() & gone, ==, 0);
    all = qcrypto_candidates(&n, &err);
    g_assert_no_error(err);
    for (i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;
        const char *why = NULL;

        if ((r->cpu & gone & qcrypto_cpu_hardware()) == 0) {
            continue;
        }
        off++;
        g_assert_false(qcrypto_candidate_usable(all[i], &why));
        g_assert_nonnull(why);
        /* what the hardware lacks besides is the better reason */
        g_assert_nonnull(strstr(why, r->cpu & ~qcrypto_cpu_hardware()
                                         ? "CPU lacks"
                                         : "switched off by QCRYPTO_CPU"));
    }
    g_test_message("%zu rows switched off", off);
}

static void cpu_each(void)
{
    uint32_t bit;

    /* every feature in turn, and what is built on it */
    for (bit = 1; bit; bit <<= 1) {
        g_autofree char *name = qcrypto_cpu_names(bit, ",");
        pid_t pid;
        int status;

        if (!strcmp(name, "none")) {
            continue;
        }
        pid = fork();
        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) {
            g_autofree char *text = g_strdup_printf("-%s", name);

            g_setenv("QCRYPTO_CPU", text, TRUE);
            check_cpu_rows(bit);
            _exit(0);
        }
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status)) {
            g_error("QCRYPTO_CPU=-%s failed", name);
        }
    }
}

#if defined(__x86_64__)
static void cpu_implied(void)
{
    g_setenv("QCRYPTO_CPU", "-AVX2, -bmi2", TRUE);
    check_cpu_rows(QCRYPTO_CPU_AVX2 | QCRYPTO_CPU_BMI2 | QCRYPTO_CPU_VAES |
                   QCRYPTO_CPU_VPCLMUL | QCRYPTO_CPU_AVX512);
    /* what lies below stays */
    g_assert_cmpuint(qcrypto_cpu_hardware() & QCRYPTO_CPU_SSE2, !=, 0);
    g_assert_cmpuint(qcrypto_cpu_features() & QCRYPTO_CPU_SSE2, !=, 0);
    g_assert_cmpuint(qcrypto_cpu_features() & QCRYPTO_CPU_AES, ==,
                     qcrypto_cpu_hardware() & QCRYPTO_CPU_AES);
}

static void cpu_aes_takes_vaes(void)
{
    g_autofree char *who = NULL;

    g_setenv("QCRYPTO_CPU", "-aes", TRUE);
    check_cpu_rows(QCRYPTO_CPU_AES | QCRYPTO_CPU_VAES);
    who = served_by(AES_256, XTS);
    g_assert_cmpstr(who, ==, "builtin:aes-portable");
}
#endif

static void assert_bad_cpu(const char *text)
{
    pid_t pid = fork();
    int status;

    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        g_autofree char *quoted = g_strdup_printf("QCRYPTO_CPU: '%s'", text);

        g_setenv("QCRYPTO_CPU", text, TRUE);
        assert_refused(NULL, AES_128, ECB, QCRYPTO_ERROR_INVALID_ARGUMENT,
                       quoted);
        assert_refused("builtin", AES_128, ECB, QCRYPTO_ERROR_INVALID_ARGUMENT,
                       quoted);
        g_assert_false(qcrypto_cipher_supports(AES_128, ECB));
        _exit(0);
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void cpu_unknown(void)
{
    assert_bad_cpu("-aess");
    assert_bad_cpu("aes");
    assert_bad_cpu("+aes");
    assert_bad_cpu("-");
    assert_bad_cpu("-avx512");
}

/* ---- the real table ---- */

/* supports() is true exactly where new() works, and names agree. */
static void supports_is_new(void)
{
    int alg, mode, yes = 0;

    for (alg = -1; alg <= QCRYPTO_CIPHER_ALGO__MAX; alg++) {
        for (mode = -1; mode <= QCRYPTO_CIPHER_MODE__MAX; mode++) {
            g_autoptr(GError) err = NULL;
            size_t nkey =
                qcrypto_cipher_get_key_len(alg) * (mode == XTS ? 2 : 1);
            g_autoptr(QCryptoCipher) c =
                qcrypto_cipher_new(alg, mode, key, nkey, &err);
            bool known =
                qcrypto_cipher_algo_name(alg) && qcrypto_cipher_mode_name(mode);

            g_assert_true((c != NULL) == (err == NULL));
            g_assert_true((c != NULL) == qcrypto_cipher_supports(alg, mode));
            yes += c != NULL;
            if (c) {
                g_autofree char *full =
                    g_strdup_printf("%s:%s", qcrypto_cipher_get_provider(c),
                                    qcrypto_cipher_get_impl(c));
                g_assert_true(known);
                assert_from(full, alg, mode, qcrypto_cipher_get_impl(c));
            } else {
                g_assert_error(err, QCRYPTO_ERROR,
                               known ? QCRYPTO_ERROR_UNSUPPORTED
                                     : QCRYPTO_ERROR_INVALID_ARGUMENT);
            }
        }
    }
    g_assert_cmpint(yes, >=, 12); /* builtin AES alone has that many */
    g_test_message("%d pairs", yes);
}

/* No backend misbehaves on this machine: every row that can run passes. */
static void real_rows_pass(void)
{
    g_autoptr(GError) err = NULL;
    QCryptoCandidate *const *all;
    size_t n, i, ran = 0;

    all = qcrypto_candidates(&n, &err);
    g_assert_no_error(err);
    for (i = 0; i < n; i++) {
        const char *why = NULL;

        if (qcrypto_candidate_refused(all[i])) {
            continue;
        }
        if (!qcrypto_candidate_usable(all[i], &why)) {
            char what[64];

            g_error("%s:%s %s: %s", all[i]->provider->name, all[i]->row->impl,
                    qcrypto_describe(what, all[i]->row->kind, all[i]->row->alg,
                                     all[i]->row->mode),
                    why);
        }
        ran++;
    }
    g_assert_cmpuint(ran, >, 0);
    g_test_message("%zu of %zu rows run here", ran, n);
}

static const struct {
    const char *path;
    void (*run)(void);
} cases[] = {
    {"/select/order/written", order_written},
    {"/select/order/env", order_env},
    {"/select/order/env-restricts", order_env_restricts},
    {"/select/order/env-opt-in", order_env_opt_in},
    {"/select/order/env-rest", order_env_rest},
    {"/select/order/env-case-and-blanks", order_env_case_and_blanks},
    {"/select/order/env-empty", order_env_empty},
    {"/select/order/env-unknown", order_env_unknown},
    {"/select/order/api", order_api},
    {"/select/names", names},
    {"/select/leaky-last", leaky_last},
    {"/select/rank", rank},
    {"/select/selftest", selftest_disables},
    {"/select/falls-through", falls_through},
    {"/select/rows", rows_tell},
    {"/select/cpu/each", cpu_each},
#if defined(__x86_64__)
    {"/select/cpu/implied", cpu_implied},
    {"/select/cpu/aes-takes-vaes", cpu_aes_takes_vaes},
#endif
    {"/select/cpu/unknown", cpu_unknown},
    {"/select/real/supports-is-new", supports_is_new},
    {"/select/real/rows-pass", real_rows_pass},
};

static void run_in_child(const void *data)
{
    void (*const *run)(void) = data;
    pid_t pid = fork();
    int status;

    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        g_unsetenv("QCRYPTO_PROVIDER");
        g_unsetenv("QCRYPTO_CPU");
        (*run)();
        _exit(0);
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
