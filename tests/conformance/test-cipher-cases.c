/*
 * Public cases: faults that were reported against other software
 *
 * Each test is named after its case; the right values stand beside it.  The
 * kind of fault is what is tested, on every row of every backend, not only
 * the one input of the report.
 *
 *   B03  a library call a block or a key set-up a sector
 *   B08  XTS in place, lengths that are not whole blocks
 *   B20  weak keys taken by one backend and refused by another
 *   B29  the limits of an XTS unit
 *   B30  sector numbers as tweaks: carries and byte order
 *   B31  odd addresses, and big-endian hosts (the same values on any host)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/core/providers.h"
#include "crypto/mode/mode.h"
#include "model.h"
#include "rows.h"

#define ECB QCRYPTO_CIPHER_MODE_ECB
#define XTS QCRYPTO_CIPHER_MODE_XTS
#define UNIT_MAX ((size_t)1 << 24)

static const uint8_t iv0[16] = {9, 8, 7, 6, 5, 4, 3, 2, 1};

static const uint8_t *key_of(const CipherRow *row)
{
    static uint8_t key[64];

    fill_seeded(key, sizeof(key), 31 + (uint64_t)row->alg);
    return key;
}

/* ---- B20: weak keys are taken, alike, by every row ---- */

static void b20(const CipherRow *row)
{
    uint8_t key[64], in[96], out[96], want[96];

    fill_seeded(in, sizeof(in), 61);
    for (int zero = 0; zero < 2; zero++) {
        fill_seeded(key, sizeof(key), 62);
        memcpy(key + row->nkey / 2, key, row->nkey / 2);
        if (zero) {
            memset(key, 0, sizeof(key));
        }
        QCryptoCipher *c = cipher_row_open(row, key);
        g_autoptr(Model) m = model_new(row, key);

        model_encrypt(m, iv0, in, want, sizeof(in));
        cipher_message(c, false, iv0, row->niv, in, out, sizeof(in));
        same_bytes(row, zero ? "zero key" : "equal halves", out, want, sizeof(in));
        cipher_message(c, true, iv0, row->niv, out, out, sizeof(in));
        same_bytes(row, "back", out, in, sizeof(in));
        qcrypto_cipher_free(c);
    }
    if (row->alg != QCRYPTO_CIPHER_ALGO_DES && row->alg != QCRYPTO_CIPHER_ALGO_3DES) {
        return;
    }
    for (unsigned number = 0; number < 256; number++) {
        CipherRow single;

        if (!des_key_of_pattern(number, key)) {
            continue;
        }
        /* three equal parts are DES */
        memcpy(key + 8, key, 8);
        memcpy(key + 16, key, 8);
        cipher_row_init(&single, QCRYPTO_CIPHER_ALGO_DES, row->mode);
        QCryptoCipher *c = cipher_row_open(row, key);
        g_autoptr(Model) m = model_new(&single, key);

        model_encrypt(m, iv0, in, want, sizeof(in));
        cipher_message(c, false, iv0, row->niv, in, out, sizeof(in));
        same_bytes(row, "weak DES key", out, want, sizeof(in));
        if (number == 0) {
            /* SP 800-67: a weak key undoes itself */
            CipherRow ecb;
            cipher_row_init(&ecb, QCRYPTO_CIPHER_ALGO_DES, ECB);
            g_autoptr(Model) twice = model_new(&ecb, key);
            model_encrypt(twice, NULL, in, out, sizeof(in));
            model_encrypt(twice, NULL, out, want, sizeof(in));
            same_bytes(row, "weak key, twice", want, in, sizeof(in));
            g_free(ecb.pair);
        }
        qcrypto_cipher_free(c);
        g_free(single.pair);
    }
}

/* ---- B08: XTS in place, lengths that are not whole blocks ---- */

static void b08(const CipherRow *row)
{
    static const struct {
        size_t len;
        const char *tail, *sha256;
    } right[] = {
        {16, "30639a42ffb50a67", "1d1052cb0b82c7dd"},
        {17, "1911fa4884f6b22d", "b5d5d4b1de305706"},
        {20, "4628830d2dbdc260", "0a313d95dc3a09a6"},
        {31, "db30639a42ffb50a", "0f2940fddddab1b9"},
        {32, "806e2198d6a90ecf", NULL},
        {33, "e4c4f77644330a80", "fc63e3e0ce67f0fb"},
        {512, "546193e2990ec74b", "b1c483beb69bd3ed"},
    };
    const uint8_t iv[16] = {5};
    uint8_t key[32], plain[512], out[512], in_place[512];
    QCryptoCipher *c;

    for (size_t i = 0; i < sizeof(plain); i++) {
        plain[i] = (uint8_t)i;
    }
    for (size_t i = 0; row->alg == QCRYPTO_CIPHER_ALGO_AES_128 &&
                       i < G_N_ELEMENTS(right); i++) {
        const size_t len = right[i].len;
        g_autoptr(GString) tail = g_string_new(NULL);

        memcpy(key, plain, sizeof(key));
        c = cipher_row_open(row, key);
        cipher_message(c, false, iv, 16, plain, out, len);
        for (size_t j = len - 8; j < len; j++) {
            g_string_append_printf(tail, "%02x", out[j]);
        }
        g_assert_cmpstr(tail->str, ==, right[i].tail);
        if (right[i].sha256) {
            g_autofree char *sum =
                g_compute_checksum_for_data(G_CHECKSUM_SHA256, out, len);

            sum[16] = '\0';
            g_assert_cmpstr(sum, ==, right[i].sha256);
        }
        qcrypto_cipher_free(c);
    }

    c = cipher_row_open(row, key_of(row));
    for (size_t len = 16; len <= 100; len++) {
        memcpy(in_place, plain, len);
        cipher_message(c, false, iv, 16, plain, out, len);
        cipher_message(c, false, iv, 16, in_place, in_place, len);
        same_bytes(row, "in place", in_place, out, len);
        cipher_message(c, true, iv, 16, in_place, in_place, len);
        same_bytes(row, "in place and back", in_place, plain, len);
        cipher_message(c, true, iv, 16, out, in_place, len);
        same_bytes(row, "back", in_place, plain, len);
    }
    qcrypto_cipher_free(c);
}

/* ---- B29: the limits of a unit, in a child that must not die ---- */

/* The exit status: 0, or which length went wrong. */
static int b29_child(const CipherRow *row)
{
    static const struct {
        size_t len;
        bool good;
    } limits[] = {{0, false}, {1, false}, {15, false}, {16, true},
                  {UNIT_MAX, true}, {UNIT_MAX + 1, false}};
    QCryptoCipher *c = qcrypto_cipher_new_from(row->name, row->alg, row->mode,
                                               key_of(row), row->nkey, NULL);
    uint8_t *buf = g_malloc0(UNIT_MAX + 1);

    if (!c || qcrypto_cipher_setiv(c, iv0, 16, NULL) < 0) {
        return 100;
    }
    for (int i = 0; i < (int)G_N_ELEMENTS(limits); i++) {
        for (int decrypt = 0; decrypt < 2; decrypt++) {
            GError *err = NULL;
            const int ret =
                decrypt ? qcrypto_cipher_decrypt(c, buf, buf, limits[i].len, &err)
                        : qcrypto_cipher_encrypt(c, buf, buf, limits[i].len, &err);

            if (ret != (limits[i].good ? 0 : -1) ||
                (err != NULL) == limits[i].good ||
                (err && !g_error_matches(err, QCRYPTO_ERROR,
                                         QCRYPTO_ERROR_INVALID_ARGUMENT))) {
                return i + 1;
            }
            g_clear_error(&err);
        }
    }
    /* the last two good calls undid each other */
    for (size_t i = 0; i <= UNIT_MAX; i++) {
        if (buf[i]) {
            return 101;
        }
    }
    qcrypto_cipher_free(c);
    g_free(buf);
    return 0;
}

static void b29(const CipherRow *row)
{
    int status;
    const pid_t pid = fork();

    g_assert_cmpint(pid, >=, 0);
    if (pid == 0) {
        _exit(b29_child(row));
    }
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        g_test_message("%s %s: %s %d", row->pair, row->name,
                       WIFEXITED(status) ? "status" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        g_test_fail();
    }
}

/* ---- B30: the number of a sector as a tweak ---- */

static void b30(const CipherRow *row)
{
    static const struct {
        uint64_t first;
        uint8_t iv[2][16];
    } right[] = {
        {0xff, {{0xff}, {0x00, 0x01}}},
        {0xffff, {{0xff, 0xff}, {0x00, 0x00, 0x01}}},
        {0xffffffff, {{0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0, 1}}},
        {G_MAXUINT64,
         {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0}}},
    };
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t in[1024], both[1024], one[1024];
    GError *err = NULL;

    fill_seeded(in, sizeof(in), 71);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        qcrypto_cipher_encrypt_sectors(c, NULL, right[i].first, 512, in, both, 2, 0,
                                       &err);
        g_assert_no_error(err);
        for (size_t j = 0; j < 2; j++) {
            qcrypto_cipher_encrypt_sectors(c, NULL, right[i].first + j, 512,
                                           in + 512 * j, one + 512 * j, 1, 0, &err);
            g_assert_no_error(err);
        }
        same_bytes(row, "two sectors in one call and in two", both, one, 1024);
        for (size_t j = 0; j < 2; j++) {
            cipher_message(c, false, right[i].iv[j], 16, in + 512 * j, one + 512 * j,
                           512);
        }
        same_bytes(row, "two sectors and their tweaks", both, one, 1024);
    }
    qcrypto_cipher_free(c);
}

/* ---- B31: odd addresses; the values are little-endian on any host ---- */

static void b31(const CipherRow *row)
{
    uint8_t key[65], iv[33] = {0}, a[600], b[600], plain[512], want[512];
    QCryptoCipher *c;

    for (size_t i = 0; i < sizeof(plain); i++) {
        plain[i] = (uint8_t)i;
    }
    /* the key at an odd address too */
    memcpy(key + 1, plain, sizeof(key) - 1);
    c = cipher_row_open(row, key + 1);
    g_autoptr(Model) m = model_new(row, key + 1);
    iv[0] = 5;
    model_encrypt(m, iv, plain, want, sizeof(plain));
    if (row->alg == QCRYPTO_CIPHER_ALGO_AES_128 && row->mode == XTS) {
        const uint8_t tail[8] = {0x54, 0x61, 0x93, 0xe2, 0x99, 0x0e, 0xc7, 0x4b};

        same_bytes(row, "the model", want + 504, tail, 8);
    }
    for (size_t in = 0; in < 16; in++) {
        for (size_t out = 0; out < 16; out++) {
            uint8_t *at = iv + (in ^ out);

            memset(iv, 0, sizeof(iv));
            *at = 5;
            memcpy(a + in, plain, sizeof(plain));
            cipher_message(c, false, at, row->niv, a + in, b + out, sizeof(plain));
            same_bytes(row, "odd addresses", b + out, want, sizeof(want));
            cipher_message(c, true, at, row->niv, b + out, a + in, sizeof(plain));
            same_bytes(row, "odd addresses, back", a + in, plain, sizeof(plain));
        }
    }
    qcrypto_cipher_free(c);
}

/* ---- B03: one call a request, one key set-up an object ---- */

static struct {
    unsigned init, crypt, units;
    const QCryptoRow *behind;
} calls;

static const QCryptoCipherOps *behind(void)
{
    return calls.behind->ops;
}

static size_t counted_size(const QCryptoRow *row G_GNUC_UNUSED)
{
    return behind()->ctx_size(calls.behind);
}

static int counted_init(void *ctx, const QCryptoRow *row G_GNUC_UNUSED,
                        const uint8_t *key, size_t nkey, GError **errp)
{
    calls.init++;
    return behind()->init(ctx, calls.behind, key, nkey, errp);
}

static int counted_crypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                         uint8_t *out, size_t len, GError **errp)
{
    calls.crypt++;
    return behind()->crypt[0](ctx, iv, in, out, len, errp);
}

static int counted_decrypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                           uint8_t *out, size_t len, GError **errp)
{
    calls.crypt++;
    return behind()->crypt[1](ctx, iv, in, out, len, errp);
}

static int counted_units(const void *ctx, const uint8_t *ivs, size_t unit_size,
                         const uint8_t *in, uint8_t *out, size_t n, GError **errp)
{
    calls.units++;
    return behind()->units[0](ctx, ivs, unit_size, in, out, n, errp);
}

static int counted_units_back(const void *ctx, const uint8_t *ivs, size_t unit_size,
                              const uint8_t *in, uint8_t *out, size_t n,
                              GError **errp)
{
    calls.units++;
    return behind()->units[1](ctx, ivs, unit_size, in, out, n, errp);
}

static const char *no_version(void)
{
    return "0";
}

/* A backend that counts, put before the front end in place of all others. */
static void test_b03_front(void)
{
    static const QCryptoCipherOps ops = {
        .ctx_size = counted_size,
        .init = counted_init,
        .crypt = {counted_crypt, counted_decrypt},
        .units = {counted_units, counted_units_back},
    };
    static const QCryptoRow row = {
        .kind = QCRYPTO_KIND_CIPHER, .alg = QCRYPTO_CIPHER_ALGO_AES_256,
        .mode = XTS, .impl = "counted", .ops = &ops,
    };
    static const QCryptoProvider provider = {
        .name = "counting", .version = no_version, .rows = &row, .nrows = 1,
    };
    static const QCryptoProviderEntry table[] = {{"counting", &provider, false}};
    static uint8_t buf[65536];
    const size_t nkey = 64;
    GError *err = NULL;
    size_t n;
    QCryptoCandidate *const *list =
        qcrypto_select(QCRYPTO_KIND_CIPHER, row.alg, XTS, &n, &err);

    g_assert_no_error(err);
    g_assert_cmpuint(n, >, 0);
    calls.behind = list[0]->row;
    g_assert_nonnull(((const QCryptoCipherOps *)calls.behind->ops)->units[0]);

    qcrypto_select_set_table(table, G_N_ELEMENTS(table));
    CipherRow one = {0};
    cipher_row_init(&one, QCRYPTO_CIPHER_ALGO_AES_256, XTS);
    QCryptoCipher *c = qcrypto_cipher_new(one.alg, XTS, key_of(&one), nkey, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(qcrypto_cipher_get_impl(c), ==, "counted");
    qcrypto_cipher_free(c); /* the self-test is over now */

    calls.init = calls.crypt = calls.units = 0;
    c = qcrypto_cipher_new(one.alg, XTS, key_of(&one), nkey, &err);
    g_assert_cmpuint(calls.init, ==, 1);
    cipher_message(c, false, iv0, 16, buf, buf, sizeof(buf));
    g_assert_cmpuint(calls.crypt, ==, 1);
    cipher_message(c, true, iv0, 16, buf, buf, 512);
    g_assert_cmpuint(calls.crypt, ==, 2);
    qcrypto_cipher_encrypt_sectors(c, NULL, 0, 512, buf, buf, 128, 0, &err);
    g_assert_no_error(err);
    qcrypto_cipher_decrypt_sectors(c, NULL, 0, 4096, buf, buf, 16, 0, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(calls.units, ==, 2);
    g_assert_cmpuint(calls.crypt, ==, 2);
    g_assert_cmpuint(calls.init, ==, 1);
    qcrypto_cipher_free(c);
    g_free(one.pair);

    qcrypto_select_set_table(qcrypto_provider_table, qcrypto_provider_table_len);
}

/* The generic mode over a block function that counts. */
static struct {
    unsigned init, calls;
    size_t bytes;
} blocks;

static size_t block_ctx(const QCryptoBlockDesc *desc G_GNUC_UNUSED)
{
    return 1;
}

static int block_init(void *ctx, const QCryptoBlockDesc *desc G_GNUC_UNUSED,
                      const uint8_t *key, size_t nkey,
                      GError **errp G_GNUC_UNUSED)
{
    blocks.init++;
    *(uint8_t *)ctx = (uint8_t)(key[0] ^ nkey);
    return 0;
}

static void block_run(const void *ctx, size_t length, uint8_t *dst,
                      const uint8_t *src)
{
    blocks.calls++;
    blocks.bytes += length;
    for (size_t i = 0; i < length; i++) {
        dst[i] = src[i] ^ *(const uint8_t *)ctx;
    }
}

static void test_b03_generic(void)
{
    static const QCryptoBlockDesc desc = {
        .block_len = 16, .ctx_size = block_ctx, .init = block_init,
        .encrypt = block_run, .decrypt = block_run,
    };
    static const QCryptoRow row = {
        .kind = QCRYPTO_KIND_CIPHER, .alg = QCRYPTO_CIPHER_ALGO_AES_256,
        .mode = XTS, .impl = "counted", .ops = &qcrypto_mode_xts, .arg = &desc,
    };
    static uint8_t buf[65536], ivs[128 * 16], key[64] = {3};
    const QCryptoCipherOps *ops = row.ops;
    void *ctx = g_aligned_alloc0(1, ops->ctx_size(&row), 16);
    uint8_t iv[16] = {0};
    GError *err = NULL;

    g_assert_cmpint(ops->init(ctx, &row, key, sizeof(key), &err), ==, 0);
    g_assert_no_error(err);
    g_assert_cmpuint(blocks.init, ==, 2); /* data and tweak key */

    g_assert_cmpint(ops->crypt[0](ctx, iv, buf, buf, sizeof(buf), &err), ==, 0);
    g_assert_cmpuint(blocks.bytes, ==, sizeof(buf) + 16);
    /* no call a block: at least 32 blocks in each */
    g_assert_cmpuint(blocks.calls, <=, sizeof(buf) / 16 / 32 + 1);

    blocks.calls = 0;
    blocks.bytes = 0;
    g_assert_cmpint(ops->units[1](ctx, ivs, 512, buf, buf, 128, &err), ==, 0);
    g_assert_cmpuint(blocks.bytes, ==, sizeof(buf) + sizeof(ivs));
    /* one call a sector, and the tweaks of many sectors in one more */
    g_assert_cmpuint(blocks.calls, <=, 128 + 128 / 16);
    g_assert_cmpuint(blocks.init, ==, 2);
    if (ops->fini) {
        ops->fini(ctx);
    }
    g_aligned_free(ctx);
}

/* Every row that is chosen for XTS takes a run of sectors in one call. */
static void b03_units(const CipherRow *row)
{
    const QCryptoCipherOps *ops = row->candidate->row->ops;

    if (row->candidate->row->flags & QCRYPTO_ROW_BENCH) {
        g_test_message("a row to be measured: slow ways are its purpose");
        return;
    }
    g_assert_nonnull(ops->units[0]);
    g_assert_nonnull(ops->units[1]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    cipher_rows_add("/cases/B08", MODE_BIT(XTS), b08);
    cipher_rows_add("/cases/B20", ALL_MODES, b20);
    cipher_rows_add("/cases/B29", MODE_BIT(XTS), b29);
    cipher_rows_add("/cases/B30", MODE_BIT(XTS), b30);
    cipher_rows_add("/cases/B31", ALL_MODES, b31);
    cipher_rows_add("/cases/B03/runs", MODE_BIT(XTS), b03_units);
    g_test_add_func("/cases/B03/generic-mode", test_b03_generic);
    g_test_add_func("/cases/B03/front-end", test_b03_front);
    return g_test_run();
}
