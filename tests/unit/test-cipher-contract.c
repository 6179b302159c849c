/*
 * The cipher contract, on every row alike
 *
 * cipher.h says what a cipher does with wrong lengths, missing IVs, ended
 * messages, overlap and weak keys, and with what words it refuses.  Here every
 * row of every backend is asked; the words are typed in, so that no backend
 * can have words of its own.  Whatever is refused leaves the output alone and
 * the message where it was.
 *
 * Cases named /cases/B.. are faults that were reported in public against
 * other software; the right values stand beside them.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/core/cipher.h"
#include "crypto/core/providers.h"
#include "crypto/mode/mode.h"
#include "model.h"
#include "rows.h"

#define XTS QCRYPTO_CIPHER_MODE_XTS
#define CTR QCRYPTO_CIPHER_MODE_CTR
#define ECB QCRYPTO_CIPHER_MODE_ECB
#define CBC QCRYPTO_CIPHER_MODE_CBC
#define UNIT_MAX ((size_t)1 << 24)
#define MARK 0xc3

static const uint8_t *key_of(const CipherRow *row)
{
    static uint8_t key[65]; /* one longer than any key */

    fill_seeded(key, sizeof(key), 31 + (uint64_t)row->alg);
    return key;
}

static const uint8_t iv0[32] = {9, 8, 7, 6, 5, 4, 3, 2, 1};

static void refused(const CipherRow *row, bool failed, GError **err, int kind,
                    const char *fmt, ...) G_GNUC_PRINTF(5, 6);

/* The call failed with this kind and these very words. */
static void refused(const CipherRow *row, bool failed, GError **err, int kind,
                    const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_autofree char *want = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    if (!failed || !*err || (*err)->domain != QCRYPTO_ERROR ||
        (*err)->code != kind || strcmp((*err)->message, want)) {
        g_test_message("%s %s: %s (kind %d): \"%s\"; not kind %d: \"%s\"",
                       row && row->pair ? row->pair : "-",
                       row && row->name ? row->name : "-",
                       failed ? "refused" : "not refused", *err ? (*err)->code : -1,
                       *err ? (*err)->message : "no error", kind, want);
        g_test_fail();
    }
    g_clear_error(err);
}

#define INVALID QCRYPTO_ERROR_INVALID_ARGUMENT

static void done(const CipherRow *row, int ret, GError **err)
{
    if (ret != 0 || *err) {
        g_test_message("%s %s: refused: %s", row->pair, row->name,
                       *err ? (*err)->message : "no error");
        g_test_fail();
    }
    g_clear_error(err);
}

static int piece(QCryptoCipher *c, int decrypt, const void *in, void *out,
                 size_t len, GError **errp)
{
    return decrypt ? qcrypto_cipher_decrypt(c, in, out, len, errp)
                   : qcrypto_cipher_encrypt(c, in, out, len, errp);
}

static void untouched(const CipherRow *row, const uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (buf[i] != MARK) {
            g_test_message("%s %s: a refused call wrote byte %zu", row->pair,
                           row->name, i);
            g_test_fail();
            return;
        }
    }
}

/* ---- keys and IVs ---- */

static void test_keys(const CipherRow *row)
{
    const size_t wrong[] = {0, 1, row->nkey - 1, row->nkey + 1, row->nkey / 2,
                            row->nkey * 2, G_MAXSIZE};
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        QCryptoCipher *c = qcrypto_cipher_new_from(
            row->name, row->alg, row->mode, key_of(row), wrong[i], &err);

        refused(row, !c, &err, INVALID, "%s takes a key of %zu bytes, not %zu",
                row->pair, row->nkey, wrong[i]);
        g_assert_null(qcrypto_cipher_new_from(row->name, row->alg, row->mode,
                                              key_of(row), wrong[i], NULL));
    }
    refused(row, !qcrypto_cipher_new_from(row->name, row->alg, row->mode, NULL,
                                          row->nkey, &err),
            &err, INVALID, "key is NULL");

    /* the key is copied, and is not written to */
    g_autofree uint8_t *key = g_memdup2(key_of(row), row->nkey);
    uint8_t a[64] = {1}, b[64];
    QCryptoCipher *c = cipher_row_open(row, key);
    g_assert_cmpmem(key, row->nkey, key_of(row), row->nkey);
    memset(key, 0, row->nkey);
    cipher_message(c, false, iv0, row->niv, a, b, sizeof(a));
    qcrypto_cipher_free(c);
    c = cipher_row_open(row, key_of(row));
    cipher_message(c, true, iv0, row->niv, b, b, sizeof(a));
    same_bytes(row, "key copied", b, a, sizeof(a));
    qcrypto_cipher_free(c);
}

static void test_ivs(const CipherRow *row)
{
    const size_t wrong[] = {0, 1, 7, 8, 12, 15, 16, 17, 32, G_MAXSIZE};
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t in[64] = {0}, out[64], again[64];
    GError *err = NULL;

    memset(out, MARK, sizeof(out));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        if (wrong[i] != row->niv) {
            refused(row, qcrypto_cipher_setiv(c, iv0, wrong[i], &err) < 0, &err,
                    INVALID, "%s takes an IV of %zu bytes, not %zu", row->pair,
                    row->niv, wrong[i]);
            g_assert_cmpint(qcrypto_cipher_setiv(c, iv0, wrong[i], NULL), ==, -1);
        }
    }
    if (!row->niv) {
        done(row, qcrypto_cipher_setiv(c, NULL, 0, &err), &err);
        qcrypto_cipher_free(c);
        return;
    }
    refused(row, qcrypto_cipher_setiv(c, NULL, row->niv, &err) < 0, &err, INVALID,
            "iv is NULL");

    /* none of those was an IV */
    for (int decrypt = 0; decrypt < 2; decrypt++) {
        refused(row, piece(c, decrypt, in, out, 16, &err) < 0, &err, INVALID,
                "%s: no IV was set", row->pair);
        untouched(row, out, sizeof(out));
    }

    /* setiv starts over in the middle of a message, and its IV is copied */
    uint8_t iv[16];
    memcpy(iv, iv0, sizeof(iv));
    cipher_message(c, false, iv, row->niv, in, out, sizeof(in));
    done(row, qcrypto_cipher_setiv(c, iv, row->niv, &err), &err);
    memset(iv, 0xee, sizeof(iv));
    cipher_message(c, false, NULL, 0, in, again, sizeof(in));
    same_bytes(row, "message started over", again, out, sizeof(out));
    /* a wrong IV in between is no new start */
    if (row->mode != XTS) {
        cipher_message(c, false, iv0, row->niv, in, again, 32);
        g_assert_cmpint(qcrypto_cipher_setiv(c, iv0, row->niv + 1, NULL), ==, -1);
        cipher_message(c, false, NULL, 0, in + 32, again + 32, 32);
        same_bytes(row, "message not started over", again, out, sizeof(out));
    }
    qcrypto_cipher_free(c);
}

/* ---- lengths ---- */

static void test_lengths(const CipherRow *row)
{
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t in[96] = {1, 2, 3}, out[96], whole[96];
    GError *err = NULL;

    cipher_message(c, false, iv0, row->niv, in, whole, sizeof(in));
    cipher_message(c, false, iv0, row->niv, in, out, 32);
    memset(out + 32, MARK, sizeof(out) - 32);
    for (size_t len = 0; len <= 33; len++) {
        const bool good = len >= row->min && len % row->step == 0;

        for (int decrypt = 0; !good && decrypt < 2; decrypt++) {
            const bool failed = piece(c, decrypt, in + 32, out + 32, len, &err) < 0;

            if (row->mode == XTS) {
                refused(row, failed, &err, INVALID,
                        "%s data units have 16 to 16777216 bytes, not %zu",
                        row->pair, len);
            } else {
                refused(row, failed, &err, INVALID,
                        "%s works on a multiple of %zu bytes, not %zu", row->pair,
                        row->block_len, len);
            }
            g_assert_cmpint(piece(c, decrypt, in + 32, out + 32, len, NULL), ==, -1);
            untouched(row, out + 32, sizeof(out) - 32);
        }
    }
    if (row->mode != XTS) {
        /* nothing at all is a piece, with or without a place for it */
        done(row, piece(c, 0, in, out, 0, &err), &err);
        done(row, piece(c, 0, NULL, NULL, 0, &err), &err);
        /* the message is where it was */
        cipher_message(c, false, NULL, 0, in + 32, out + 32, 64);
        same_bytes(row, "message after refusals", out, whole, sizeof(whole));
    }
    qcrypto_cipher_free(c);
}

static void test_nulls(const CipherRow *row)
{
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t buf[1024];
    GError *err = NULL;

    memset(buf, MARK, sizeof(buf));
    done(row, qcrypto_cipher_setiv(c, iv0, row->niv, &err), &err);
    for (int decrypt = 0; decrypt < 2; decrypt++) {
        refused(row, piece(c, decrypt, NULL, buf, 16, &err) < 0, &err, INVALID,
                "in is NULL");
        refused(row, piece(c, decrypt, buf, NULL, 16, &err) < 0, &err, INVALID,
                "out is NULL");
        refused(row, qcrypto_cipher_units(c, decrypt, iv0, 16, NULL, buf, 1, &err) < 0,
                &err, INVALID, "in is NULL");
        if (row->niv) {
            refused(row,
                    qcrypto_cipher_units(c, decrypt, NULL, 16, buf, buf, 1, &err) < 0,
                    &err, INVALID, "ivs is NULL");
        }
    }
    refused(row,
            qcrypto_cipher_encrypt_sectors(c, NULL, 0, 512, NULL, buf, 1, 0, &err) < 0,
            &err, INVALID, "in is NULL");
    refused(row,
            qcrypto_cipher_decrypt_sectors(c, NULL, 0, 512, buf, NULL, 1, 0, &err) < 0,
            &err, INVALID, "out is NULL");
    untouched(row, buf, sizeof(buf));
    qcrypto_cipher_free(c);
}

/* ---- overlap ---- */

static void test_overlap(const CipherRow *row)
{
    static const int shifts[] = {-511, -256, -16, -1, 1, 15, 16, 17, 256, 511};
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t buf[3 * 512];
    GError *err = NULL;

    done(row, qcrypto_cipher_setiv(c, iv0, row->niv, &err), &err);
    memset(buf, MARK, sizeof(buf));
    for (size_t i = 0; i < G_N_ELEMENTS(shifts); i++) {
        const uint8_t *in = buf + 512;
        uint8_t *out = buf + 512 + shifts[i];

        for (int decrypt = 0; decrypt < 2; decrypt++) {
            refused(row, piece(c, decrypt, in, out, 512, &err) < 0, &err, INVALID,
                    "%s: input and output overlap", row->pair);
            refused(row,
                    qcrypto_cipher_units(c, decrypt, iv0, 32, in, out, 16, &err) < 0,
                    &err, INVALID, "%s: input and output overlap", row->pair);
        }
        refused(row,
                qcrypto_cipher_encrypt_sectors(c, NULL, 0, 512, in, out, 1, 0,
                                               &err) < 0,
                &err, INVALID, "a run of sectors: input and output overlap");
        untouched(row, buf, sizeof(buf));
    }
    /* neighbours do not overlap */
    done(row, piece(c, 0, buf, buf + 512, 512, &err), &err);
    done(row, piece(c, 0, buf + 1024, buf + 512, 512, &err), &err);
    qcrypto_cipher_free(c);
}

/* ---- messages that end, units that repeat ---- */

static void test_ctr_end(const CipherRow *row)
{
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t in[40] = {0}, out[40], first[5];
    GError *err = NULL;

    for (int decrypt = 0; decrypt < 2; decrypt++) {
        done(row, qcrypto_cipher_setiv(c, iv0, row->niv, &err), &err);
        done(row, piece(c, decrypt, in, first, 5, &err), &err);
        memset(out, MARK, sizeof(out));
        refused(row, piece(c, decrypt, in, out, 16, &err) < 0, &err, INVALID,
                "%s: the message ended inside a block; set a new IV", row->pair);
        refused(row, piece(c, !decrypt, in, out, 1, &err) < 0, &err, INVALID,
                "%s: the message ended inside a block; set a new IV", row->pair);
        untouched(row, out, sizeof(out));
        done(row, piece(c, decrypt, in, out, 0, &err), &err);
        cipher_message(c, decrypt, iv0, row->niv, in, out, sizeof(in));
        same_bytes(row, "a new message", out, first, sizeof(first));
    }
    qcrypto_cipher_free(c);
}

/* A further call without setiv is another unit under the same IV. */
static void test_xts_again(const CipherRow *row)
{
    static const size_t lens[] = {16, 31, 512, 513, 4096};
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t in[4096], out[4096], again[4096];

    fill_seeded(in, sizeof(in), 41);
    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        cipher_message(c, false, iv0, 16, in, out, lens[i]);
        for (int times = 0; times < 3; times++) {
            cipher_message(c, false, NULL, 0, in, again, lens[i]);
            same_bytes(row, "another unit", again, out, lens[i]);
            cipher_message(c, true, NULL, 0, out, again, lens[i]);
            same_bytes(row, "another unit back", again, in, lens[i]);
        }
    }
    qcrypto_cipher_free(c);
}

/* ---- sector and unit calls ---- */

static void test_sector_calls(const CipherRow *row)
{
    static const size_t wrong[] = {0, 1, 256, 511, 513, 768, 4097};
    QCryptoCipher *c = cipher_row_open(row, key_of(row));
    uint8_t in[1024] = {0}, out[1024], alone[1024];
    GError *err = NULL;

    memset(out, MARK, sizeof(out));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        refused(row,
                qcrypto_cipher_encrypt_sectors(c, NULL, 0, wrong[i], in, out, 1, 0,
                                               &err) < 0,
                &err, INVALID, "sector size %zu is not a multiple of 512 bytes",
                wrong[i]);
    }
    refused(row,
            qcrypto_cipher_decrypt_sectors(c, NULL, 0, 512, in, out, 1, 6, &err) < 0,
            &err, INVALID, "unknown sector flags 0x6");
    refused(row,
            qcrypto_cipher_encrypt_sectors(c, NULL, 0, 512, in, out,
                                           G_MAXSIZE / 512 + 2, 0, &err) < 0,
            &err, INVALID, "%zu sectors of 512 bytes are too long",
            (size_t)(G_MAXSIZE / 512 + 2));
    refused(row,
            qcrypto_cipher_units(c, 0, iv0, 512, in, out, G_MAXSIZE / 512 + 2,
                                 &err) < 0,
            &err, INVALID, "%s: %zu units of 512 bytes are too long", row->pair,
            (size_t)(G_MAXSIZE / 512 + 2));
    if (row->mode == XTS) {
        refused(row,
                qcrypto_cipher_units(c, 0, iv0, UNIT_MAX + 1, in, out, 1, &err) < 0,
                &err, INVALID,
                "%s data units have 16 to 16777216 bytes, not 16777217", row->pair);
    }
    untouched(row, out, sizeof(out));

    /* no sectors are a run; the message under way is not disturbed by runs */
    done(row, qcrypto_cipher_encrypt_sectors(c, NULL, 0, 512, NULL, NULL, 0, 0, &err),
         &err);
    if (row->mode != XTS) {
        cipher_message(c, false, iv0, row->niv, in, alone, sizeof(in));
        cipher_message(c, false, iv0, row->niv, in, out, 512);
        done(row,
             qcrypto_cipher_encrypt_sectors(c, NULL, 5, 512, in, out + 512, 1, 0,
                                            &err),
             &err);
        cipher_message(c, false, NULL, 0, in + 512, out + 512, 512);
        same_bytes(row, "a run in a message", out, alone, sizeof(out));
    }
    qcrypto_cipher_free(c);
}

static void test_no_cipher(void)
{
    uint8_t buf[512] = {0};
    GError *err = NULL;

    refused(NULL, qcrypto_cipher_setiv(NULL, buf, 16, &err) < 0, &err, INVALID,
            "cipher is NULL");
    refused(NULL, qcrypto_cipher_encrypt(NULL, buf, buf, 16, &err) < 0, &err,
            INVALID, "cipher is NULL");
    refused(NULL, qcrypto_cipher_decrypt(NULL, buf, buf, 16, &err) < 0, &err,
            INVALID, "cipher is NULL");
    refused(NULL,
            qcrypto_cipher_encrypt_sectors(NULL, NULL, 0, 512, buf, buf, 1, 0,
                                           &err) < 0,
            &err, INVALID, "cipher is NULL");
    refused(NULL,
            qcrypto_cipher_decrypt_sectors(NULL, NULL, 0, 512, buf, buf, 1, 0,
                                           &err) < 0,
            &err, INVALID, "cipher is NULL");
    refused(NULL, qcrypto_cipher_units(NULL, 0, buf, 16, buf, buf, 1, &err) < 0,
            &err, INVALID, "cipher is NULL");
    qcrypto_cipher_free(NULL);
}

/* ---- pairs and providers that are not there ---- */

static void test_pairs(void)
{
    static const uint8_t key[64] = {1};
    static const QCryptoCipherAlgo narrow[] = {QCRYPTO_CIPHER_ALGO_DES,
                                               QCRYPTO_CIPHER_ALGO_3DES,
                                               QCRYPTO_CIPHER_ALGO_CAST5_128};
    static const int no_alg[] = {-1, QCRYPTO_CIPHER_ALGO__MAX, 1000};
    static const int no_mode[] = {-1, QCRYPTO_CIPHER_MODE__MAX, 1000};
    size_t n;
    const QCryptoProviderInfo *p = qcrypto_providers_list(&n);
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(narrow); i++) {
        const size_t nkey = qcrypto_cipher_get_key_len(narrow[i]) * 2;
        const char *name = qcrypto_cipher_algo_name(narrow[i]);

        g_assert_false(qcrypto_cipher_supports(narrow[i], XTS));
        refused(NULL, !qcrypto_cipher_new(narrow[i], XTS, key, nkey, &err), &err,
                QCRYPTO_ERROR_UNSUPPORTED,
                "%s-xts is not supported: XTS needs a cipher with blocks of 16 bytes",
                name);
        for (size_t j = 0; j < n; j++) {
            refused(NULL,
                    !qcrypto_cipher_new_from(p[j].name, narrow[i], XTS, key, nkey,
                                             &err),
                    &err, QCRYPTO_ERROR_UNSUPPORTED,
                    "%s-xts is not supported: XTS needs a cipher with blocks of 16 "
                    "bytes", name);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(no_alg); i++) {
        const QCryptoCipherAlgo alg = (QCryptoCipherAlgo)no_alg[i];

        g_assert_false(qcrypto_cipher_supports(alg, CBC));
        g_assert_cmpuint(qcrypto_cipher_get_block_len(alg), ==, 0);
        g_assert_cmpuint(qcrypto_cipher_get_key_len(alg), ==, 0);
        g_assert_cmpuint(qcrypto_cipher_get_iv_len(alg, CBC), ==, 0);
        g_assert_null(qcrypto_cipher_algo_name(alg));
        g_assert_false(qcrypto_cipher_key_is_weak(alg, CBC, key, 16));
        refused(NULL, !qcrypto_cipher_new(alg, CBC, key, 16, &err), &err, INVALID,
                "unknown cipher algorithm %d", no_alg[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(no_mode); i++) {
        const QCryptoCipherMode mode = (QCryptoCipherMode)no_mode[i];

        g_assert_false(qcrypto_cipher_supports(QCRYPTO_CIPHER_ALGO_AES_128, mode));
        g_assert_cmpuint(qcrypto_cipher_get_iv_len(QCRYPTO_CIPHER_ALGO_AES_128, mode),
                         ==, 0);
        g_assert_null(qcrypto_cipher_mode_name(mode));
        refused(NULL,
                !qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_128, mode, key, 16, &err),
                &err, INVALID, "unknown cipher mode %d", no_mode[i]);
    }
}

static void test_providers(void)
{
    static const uint8_t key[64] = {1};
    const QCryptoCipherAlgo aes = QCRYPTO_CIPHER_ALGO_AES_128;
    size_t n;
    const QCryptoProviderInfo *p = qcrypto_providers_list(&n);
    GError *err = NULL;

    refused(NULL, !qcrypto_cipher_new_from("enigma", aes, CBC, key, 16, &err), &err,
            QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
            "backend enigma is unavailable: there is no backend of this name");
    refused(NULL, !qcrypto_cipher_new_from("", aes, CBC, key, 16, &err), &err,
            QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
            "backend  is unavailable: there is no backend of this name");
    refused(NULL, !qcrypto_cipher_new_from(NULL, aes, CBC, key, 16, &err), &err,
            INVALID, "provider is NULL");
    for (size_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("%s:warp", p[i].name);
        const bool failed = !qcrypto_cipher_new_from(name, aes, CBC, key, 16, &err);

        if (p[i].available) {
            refused(NULL, failed, &err, QCRYPTO_ERROR_UNSUPPORTED,
                    "aes-128-cbc is not supported: backend %s has no implementation "
                    "'warp' of it", p[i].name);
        } else {
            refused(NULL, failed, &err, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                    "backend %s is unavailable: %s", p[i].name, p[i].reason);
        }
    }
    refused(NULL,
            !qcrypto_cipher_new_from("builtin", QCRYPTO_CIPHER_ALGO_DES, CBC, key, 8,
                                     &err),
            &err, QCRYPTO_ERROR_UNSUPPORTED,
            "des-cbc is not supported: backend builtin does not offer it");
}

/* ---- lengths beyond 32 bits ---- */

/*
 * 4 GiB and 512 bytes of addresses over one window of memory, which divides
 * 4 GiB: a call whose length is cut to 32 bits leaves the wrong bytes in the
 * first 512, at next to no cost in memory.
 */
#define WINDOW ((size_t)1 << 24)
#define BEYOND (((uint64_t)1 << 32) + 512)

static uint8_t *map_windows(int fd)
{
    const size_t len = (size_t)BEYOND + WINDOW - 512;
    uint8_t *p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);

    g_assert_true(p != MAP_FAILED);
    for (size_t i = 0; i < len; i += WINDOW) {
        g_assert_true(mmap(p + i, WINDOW, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, 0) == p + i);
    }
    return p;
}

static void test_beyond_4_gib(void)
{
    CipherRow ctr, xts;
    const uint8_t *key;
    const size_t len = (size_t)BEYOND;
    g_autofree uint8_t *zero = g_malloc0(WINDOW);
    uint8_t want[512], iv[16] = {0};
    GError *err = NULL;

    if (sizeof(size_t) < 8) {
        g_test_message("addresses of this host have %zu bits", 8 * sizeof(size_t));
        return;
    }
    cipher_row_init(&ctr, QCRYPTO_CIPHER_ALGO_AES_128, CTR);
    cipher_row_init(&xts, QCRYPTO_CIPHER_ALGO_AES_128, XTS);
    key = key_of(&ctr);
    QCryptoCipher *c = qcrypto_cipher_new(ctr.alg, CTR, key, ctr.nkey, &err);
    g_assert_no_error(err);

    /* not on a machine where this takes longer than all the rest */
    gint64 best = G_MAXINT64;
    for (int attempt = 0; attempt < 5; attempt++) {
        const gint64 start = g_get_monotonic_time();

        cipher_message(c, false, iv, 16, zero, zero, WINDOW);
        best = MIN(best, g_get_monotonic_time() - start);
    }
    const double seconds = (double)best / 1e6 * (double)(BEYOND / WINDOW);
    if (seconds > 12) {
        g_test_message("not run: %s would take %.0f s for 4 GiB",
                       qcrypto_cipher_get_impl(c), seconds);
        qcrypto_cipher_free(c);
        g_free(ctr.pair);
        g_free(xts.pair);
        return;
    }

    const int in_fd = memfd_create("in", MFD_CLOEXEC);
    const int out_fd = memfd_create("out", MFD_CLOEXEC);
    g_assert_cmpint(ftruncate(in_fd, (off_t)WINDOW), ==, 0);
    g_assert_cmpint(ftruncate(out_fd, (off_t)WINDOW), ==, 0);
    uint8_t *in = map_windows(in_fd);
    uint8_t *out = map_windows(out_fd);

    cipher_message(c, false, iv, 16, in, out, len);
    /* the 512 bytes past 2^32 are blocks 2^28 and on */
    iv[12] = 0x10;
    memset(zero, 0, sizeof(want));
    cipher_message(c, false, iv, 16, zero, want, sizeof(want));
    same_bytes(&ctr, "behind 4 GiB", out, want, sizeof(want));
    qcrypto_cipher_free(c);

    c = qcrypto_cipher_new(xts.alg, XTS, key, xts.nkey, &err);
    g_assert_no_error(err);
    qcrypto_cipher_encrypt_sectors(c, NULL, 0, 512, in, out, len / 512, 0, &err);
    g_assert_no_error(err);
    memset(iv, 0, sizeof(iv));
    iv[2] = 0x80; /* sector 2^23 */
    cipher_message(c, false, iv, 16, zero, want, sizeof(want));
    same_bytes(&xts, "sectors behind 4 GiB", out, want, sizeof(want));
    qcrypto_cipher_free(c);

    munmap(in, len + WINDOW - 512);
    munmap(out, len + WINDOW - 512);
    close(in_fd);
    close(out_fd);
    g_free(ctr.pair);
    g_free(xts.pair);
}

/* ---- cipher specifications ---- */

static void test_spec_good(void)
{
    static const struct {
        const char *text, *family;
        QCryptoCipherMode mode;
        int ivgen, hash;
    } good[] = {
        {"aes-ecb", "aes", ECB, -1, -1},
        {"aes-xts-plain64", "aes", XTS, QCRYPTO_IV_GEN_ALGO_PLAIN64, -1},
        {"aes-cbc-plain", "aes", CBC, QCRYPTO_IV_GEN_ALGO_PLAIN, -1},
        {"aes-cbc-essiv:sha256", "aes", CBC, QCRYPTO_IV_GEN_ALGO_ESSIV,
         QCRYPTO_HASH_ALGO_SHA256},
        {"serpent-xts-plain64be", "serpent", XTS, QCRYPTO_IV_GEN_ALGO_PLAIN64BE, -1},
        {"cast5-cbc-benbi", "cast5", CBC, QCRYPTO_IV_GEN_ALGO_BENBI, -1},
        {"des3_ede-cbc-plain64", "des3_ede", CBC, QCRYPTO_IV_GEN_ALGO_PLAIN64, -1},
        {"camellia-ctr-plain64", "camellia", CTR, QCRYPTO_IV_GEN_ALGO_PLAIN64, -1},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        QCryptoCipherSpec spec;
        GError *err = NULL;

        g_assert_cmpint(qcrypto_cipher_spec_parse(good[i].text, &spec, &err), ==, 0);
        g_assert_no_error(err);
        g_assert_cmpstr(spec.family, ==, good[i].family);
        g_assert_cmpint(spec.mode, ==, good[i].mode);
        g_assert_cmpint(spec.ivgen, ==, good[i].ivgen);
        g_assert_cmpint(spec.hash, ==, good[i].hash);
        g_autofree char *text = qcrypto_cipher_spec_to_string(&spec);
        g_assert_cmpstr(text, ==, good[i].text);
    }
}

static void test_spec_bad(void)
{
    static const struct {
        const char *text, *what;
    } bad[] = {
        {"", "the cipher is missing"},
        {"-cbc-plain", "the cipher is missing"},
        {"aes", "the mode is missing"},
        {"aes-", "the mode is missing"},
        {"aes-256-xts", "unknown mode '256'"},
        {"rot13-cbc-plain", "unknown cipher 'rot13'"},
        {"aes-foo-plain", "unknown mode 'foo'"},
        {"aes-cbc", "mode cbc needs an IV generator"},
        {"aes-xts-", "mode xts needs an IV generator"},
        {"aes-cbc-random", "unknown IV generator 'random'"},
        {"aes-cbc-essiv", "essiv needs a hash (essiv:sha256)"},
        {"aes-cbc-essiv:", "essiv needs a hash (essiv:sha256)"},
        {"aes-cbc-essiv:crc32", "unknown hash 'crc32'"},
        {"aes-cbc-essiv:sha256:sha1", "unknown hash 'sha256:sha1'"},
        {"aes-xts-plain64:sha256", "IV generator plain64 takes no hash ('sha256')"},
        {"aes-ecb-plain64", "mode ecb takes no IV generator ('plain64')"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        QCryptoCipherSpec spec = {.ivgen = 77};
        GError *err = NULL;

        refused(NULL, qcrypto_cipher_spec_parse(bad[i].text, &spec, &err) < 0, &err,
                INVALID, "cipher specification '%s': %s", bad[i].text, bad[i].what);
        g_assert_cmpint(spec.ivgen, ==, 77);
        g_assert_cmpint(qcrypto_cipher_spec_parse(bad[i].text, &spec, NULL), ==, -1);
    }
}

static void test_spec_alg(void)
{
    static const struct {
        const char *text;
        size_t nkey;
        int alg;
    } good[] = {
        {"aes-xts-plain64", 32, QCRYPTO_CIPHER_ALGO_AES_128},
        {"aes-xts-plain64", 48, QCRYPTO_CIPHER_ALGO_AES_192},
        {"aes-xts-plain64", 64, QCRYPTO_CIPHER_ALGO_AES_256},
        {"aes-cbc-plain", 24, QCRYPTO_CIPHER_ALGO_AES_192},
        {"des-cbc-plain", 8, QCRYPTO_CIPHER_ALGO_DES},
        {"des3_ede-cbc-plain", 24, QCRYPTO_CIPHER_ALGO_3DES},
        {"sm4-xts-plain64", 32, QCRYPTO_CIPHER_ALGO_SM4},
        {"twofish-ecb", 32, QCRYPTO_CIPHER_ALGO_TWOFISH_256},
    };
    QCryptoCipherSpec spec;
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        g_assert_cmpint(qcrypto_cipher_spec_parse(good[i].text, &spec, &err), ==, 0);
        g_assert_cmpint(qcrypto_cipher_spec_get_alg(&spec, good[i].nkey, &err), ==,
                        good[i].alg);
        g_assert_no_error(err);
    }
    qcrypto_cipher_spec_parse("aes-xts-plain64", &spec, &err);
    refused(NULL, qcrypto_cipher_spec_get_alg(&spec, 16, &err) < 0, &err, INVALID,
            "aes in xts mode takes a key of 32, 48, 64 bytes, not 16");
    qcrypto_cipher_spec_parse("cast5-cbc-plain", &spec, &err);
    refused(NULL, qcrypto_cipher_spec_get_alg(&spec, 15, &err) < 0, &err, INVALID,
            "cast5 in cbc mode takes a key of 16 bytes, not 15");
}

/* ---- weak keys ---- */

static bool weak(QCryptoCipherAlgo alg, QCryptoCipherMode mode, const uint8_t *key)
{
    return qcrypto_cipher_key_is_weak(
        alg, mode, key, qcrypto_cipher_get_key_len(alg) * (mode == XTS ? 2 : 1));
}

static void test_weak_des(void)
{
    const QCryptoCipherAlgo des = QCRYPTO_CIPHER_ALGO_DES;
    unsigned found = 0;
    uint8_t key[8];

    for (unsigned number = 0; number < 256; number++) {
        const bool want = des_key_of_pattern(number, key);

        found += want;
        for (int parity = 0; parity < 2; parity++) {
            if (weak(des, CBC, key) != want) {
                g_test_message("%02x%02x%02x%02x%02x%02x%02x%02x: %s", key[0], key[1],
                               key[2], key[3], key[4], key[5], key[6], key[7],
                               want ? "is weak" : "is not weak");
                g_test_fail();
            }
            for (size_t i = 0; i < 8; i++) {
                key[i] ^= 1; /* parity bits are no part of the key */
            }
        }
        /* one other bit makes it a good key */
        key[number % 8] ^= 0x08;
        g_assert_false(weak(des, ECB, key));
    }
    g_assert_cmpuint(found, ==, 64);
}

static void test_weak_3des(void)
{
    const QCryptoCipherAlgo des3 = QCRYPTO_CIPHER_ALGO_3DES;
    uint8_t key[24], good[24];

    fill_seeded(good, sizeof(good), 51);
    g_assert_false(weak(des3, CBC, good));
    for (size_t part = 0; part < 3; part++) {
        memcpy(key, good, sizeof(key));
        g_assert_true(des_key_of_pattern(0xe4, key + part * 8)); /* 01 1f e0 fe */
        g_assert_true(weak(des3, CBC, key));
    }
    memcpy(key, good, sizeof(key));
    memcpy(key + 8, key, 8);
    g_assert_true(weak(des3, ECB, key));
    memcpy(key, good, sizeof(key));
    memcpy(key + 16, key + 8, 8);
    key[17] ^= 1; /* parity */
    g_assert_true(weak(des3, ECB, key));
    /* two-key 3DES is what it is */
    memcpy(key, good, sizeof(key));
    memcpy(key + 16, key, 8);
    g_assert_false(weak(des3, ECB, key));
}

static void test_weak_halves(void)
{
    uint8_t key[64];

    for (int alg = 0; alg < QCRYPTO_CIPHER_ALGO__MAX; alg++) {
        const QCryptoCipherAlgo a = (QCryptoCipherAlgo)alg;
        const size_t half = qcrypto_cipher_get_key_len(a);

        if (qcrypto_cipher_get_block_len(a) != 16) {
            continue;
        }
        fill_seeded(key, sizeof(key), 52);
        g_assert_false(weak(a, XTS, key));
        memcpy(key + half, key, half);
        g_assert_true(weak(a, XTS, key));
        for (size_t i = 0; i < 2 * half; i++) {
            key[i] ^= 0x80;
            g_assert_false(weak(a, XTS, key));
            key[i] ^= 0x80;
        }
        /* wrong lengths are not weak, they are wrong */
        g_assert_false(qcrypto_cipher_key_is_weak(a, XTS, key, half));
        g_assert_false(qcrypto_cipher_key_is_weak(a, XTS, key, 2 * half + 1));
        memset(key, 0, sizeof(key));
        g_assert_true(weak(a, XTS, key));
        /* without a second half there is nothing to be equal to */
        g_assert_false(weak(a, CBC, key));
        g_assert_false(qcrypto_cipher_key_is_weak(a, CBC, NULL, half));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    cipher_rows_add("/cipher/contract/keys", ALL_MODES, test_keys);
    cipher_rows_add("/cipher/contract/ivs", ALL_MODES, test_ivs);
    cipher_rows_add("/cipher/contract/lengths", ALL_MODES, test_lengths);
    cipher_rows_add("/cipher/contract/nulls", ALL_MODES, test_nulls);
    cipher_rows_add("/cipher/contract/overlap", ALL_MODES, test_overlap);
    cipher_rows_add("/cipher/contract/ctr-end", MODE_BIT(CTR), test_ctr_end);
    cipher_rows_add("/cipher/contract/xts-again", MODE_BIT(XTS), test_xts_again);
    cipher_rows_add("/cipher/contract/sector-calls", ALL_MODES, test_sector_calls);
    g_test_add_func("/cipher/contract/no-cipher", test_no_cipher);
    g_test_add_func("/cipher/contract/pairs", test_pairs);
    g_test_add_func("/cipher/contract/providers", test_providers);
    g_test_add_func("/cipher/contract/beyond-4-gib", test_beyond_4_gib);
    g_test_add_func("/cipher/spec/good", test_spec_good);
    g_test_add_func("/cipher/spec/bad", test_spec_bad);
    g_test_add_func("/cipher/spec/algorithm", test_spec_alg);
    g_test_add_func("/cipher/weak/des", test_weak_des);
    g_test_add_func("/cipher/weak/3des", test_weak_3des);
    g_test_add_func("/cipher/weak/halves", test_weak_halves);
    return g_test_run();
}
