/*
 * Constant time, under valgrind
 *
 *     ct-memcheck CASE
 *
 * Keys and data are marked as undefined memory; valgrind then reports every
 * branch and every address that depends on them.  Run by the script
 * `memcheck`, which knows what each case must end with:
 *
 *     IMPL           the builtin rows of this implementation: of a cipher the
 *                    key schedule, every mode, both directions, all the
 *                    lengths that take paths of their own, runs of sectors;
 *                    of a hash messages whole and in pieces, HMAC and PBKDF2
 *                    under keys shorter and longer than a block
 *     rows           lists the implementations that can run here
 *     helpers        comparison and weak-key checks
 *     leak-branch,   a deliberate leak of either kind, to prove that it
 *     leak-index     would be seen
 *
 * What was computed is checked as well: a row that did nothing leaks nothing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>
#include <qcrypto/hash.h>
#include <qcrypto/hmac.h>
#include <qcrypto/kdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "crypto/base/secure.h"
#include "crypto/core/select.h"

/* longer than any kernel's batch, and a multiple of a sector */
enum { MAX_LEN = 4 * 1024 };

static uint8_t secret_key[64];
static uint8_t plain[MAX_LEN];
static uint8_t text[MAX_LEN];
static uint8_t back[MAX_LEN];

static void fail(const char *what, const GError *err)
{
    fprintf(stderr, "ct-memcheck: %s%s%s\n", what, err ? ": " : "",
            err ? err->message : "");
    exit(3);
}

static void fill(uint8_t *p, size_t n, unsigned step)
{
    size_t i;

    for (i = 0; i < n; i++) {
        p[i] = step * i + 3;
    }
}

static void make_secret(void *p, size_t n)
{
    VALGRIND_MAKE_MEM_UNDEFINED(p, n);
}

static void make_public(void *p, size_t n)
{
    VALGRIND_MAKE_MEM_DEFINED(p, n);
}

/* The secret reached the output: every byte of it is undefined. */
static void check_tainted(const uint8_t *p, size_t n)
{
    uint8_t bits[MAX_LEN];
    size_t i;

    if (VALGRIND_GET_VBITS(p, bits, n) != 1) {
        fail("the state of memory can not be read", NULL);
    }
    for (i = 0; i < n; i++) {
        if (bits[i] == 0) {
            fail("output that does not depend on the secrets", NULL);
        }
    }
}

/* One message, in pieces where the mode allows it. */
static void run_message(QCryptoCipher *c, int mode, int dir, size_t len,
                        size_t piece, const uint8_t *in, uint8_t *out)
{
    uint8_t iv[16];
    GError *err = NULL;
    size_t done, n;

    fill(iv, sizeof(iv), 5);
    memset(iv + 8, 0xff, 8); /* the counter's carry */
    if (mode != QCRYPTO_CIPHER_MODE_ECB &&
        qcrypto_cipher_setiv(c, iv, sizeof(iv), &err) < 0) {
        fail("setiv", err);
    }
    for (done = 0; done < len; done += n) {
        n = MIN(len - done, piece);
        if ((dir ? qcrypto_cipher_decrypt : qcrypto_cipher_encrypt)(
                c, in + done, out + done, n, &err) < 0) {
            fail("crypt", err);
        }
    }
}

static void check_message(QCryptoCipher *c, int mode, size_t len, size_t piece)
{
    make_secret(plain, len);
    run_message(c, mode, 0, len, piece, plain, text);
    check_tainted(text, len);
    run_message(c, mode, 1, len, piece, text, back);
    check_tainted(back, len);
    /* in place */
    memcpy(text, back, len);
    run_message(c, mode, 0, len, piece, text, text);
    run_message(c, mode, 1, len, piece, text, text);
    make_public(plain, len);
    make_public(text, len);
    make_public(back, len);
    if (memcmp(plain, back, len) || memcmp(plain, text, len)) {
        fail("decryption does not give the data back", NULL);
    }
}

static void check_sectors(QCryptoCipher *c, size_t sector_size, size_t n)
{
    const size_t len = sector_size * n;
    GError *err = NULL;

    make_secret(plain, len);
    if (qcrypto_cipher_encrypt_sectors(c, NULL, 77, sector_size, plain, text, n,
                                       0, &err) < 0) {
        fail("encrypt_sectors", err);
    }
    check_tainted(text, len);
    if (qcrypto_cipher_decrypt_sectors(c, NULL, 77, sector_size, text, back, n,
                                       0, &err) < 0) {
        fail("decrypt_sectors", err);
    }
    make_public(plain, len);
    make_public(text, len);
    make_public(back, len);
    if (memcmp(plain, back, len)) {
        fail("decryption does not give the sectors back", NULL);
    }
}

static void check_row(const QCryptoRow *row, const char *name)
{
    static const size_t blocks[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,
                                    16, 17, 31, 33, 40, 64, 67, 131};
    const int mode = row->mode;
    const bool partial =
        mode == QCRYPTO_CIPHER_MODE_CTR || mode == QCRYPTO_CIPHER_MODE_XTS;
    const size_t nkey = qcrypto_cipher_get_key_len(row->alg) *
                        (mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    GError *err = NULL;
    QCryptoCipher *c;
    size_t i;

    /* the self-test first, with keys that are nobody's secret */
    c = qcrypto_cipher_new_from(name, row->alg, mode, secret_key, nkey, &err);
    if (!c) {
        fail(name, err);
    }
    qcrypto_cipher_free(c);

    make_secret(secret_key, nkey);
    c = qcrypto_cipher_new_from(name, row->alg, mode, secret_key, nkey, &err);
    if (!c) {
        fail(name, err);
    }
    if (strcmp(qcrypto_cipher_get_impl(c), row->impl)) {
        fail("another implementation ran", NULL);
    }
    for (i = 0; i < G_N_ELEMENTS(blocks); i++) {
        const size_t len = 16 * blocks[i];

        check_message(c, mode, len, len);
        if (mode == QCRYPTO_CIPHER_MODE_CBC ||
            mode == QCRYPTO_CIPHER_MODE_CTR) {
            check_message(c, mode, len, 48);
        }
        if (partial) {
            check_message(c, mode, len + 1, len + 1);
            check_message(c, mode, len + 15, len + 15);
        }
    }
    if (mode == QCRYPTO_CIPHER_MODE_CTR) {
        check_message(c, mode, 5, 5);
    }
    check_sectors(c, 512, 1);
    check_sectors(c, 512, 7);
    check_sectors(c, 512, 8);
    check_sectors(c, 1024, 3);
    check_sectors(c, 4096, 1);
    qcrypto_cipher_free(c);
    make_public(secret_key, sizeof(secret_key));
}

/* ---- hashes ---- */

static void check_hash(const QCryptoRow *row, const char *name)
{
    static const size_t lens[] = {1, 55, 56, 64, 111, 112, 128, 129, 1000};
    const size_t pieces[] = {7, 64, 1000};
    uint8_t digest[64];
    uint8_t *result = digest;
    size_t n = qcrypto_hash_digest_len(row->alg);
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(lens); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(pieces); j++) {
            QCryptoHash *h = qcrypto_hash_new_from(name, row->alg, &err);

            if (!h) {
                fail(name, err);
            }
            make_secret(plain, lens[i]);
            for (size_t at = 0; at < lens[i]; at += pieces[j]) {
                if (qcrypto_hash_update(h, plain + at,
                                        MIN(pieces[j], lens[i] - at), &err) < 0) {
                    fail("update", err);
                }
            }
            if (qcrypto_hash_finalize_bytes(h, &result, &n, &err) < 0) {
                fail("finalize", err);
            }
            check_tainted(digest, n);
            make_public(plain, lens[i]);
            qcrypto_hash_free(h);
        }
    }
}

/* keys of up to 200 bytes lie in plain */
static const size_t hash_keys[] = {20, 64, 129, 200};

static void check_hmac(const QCryptoRow *row, const char *name)
{
    uint8_t mac[64];
    uint8_t *result = mac;
    size_t n = qcrypto_hash_digest_len(row->alg);
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(hash_keys); i++) {
        /* the self-test first, with a key that is nobody's secret */
        qcrypto_hmac_free(qcrypto_hmac_new_from(name, row->alg, plain, 1, NULL));
        make_secret(plain, 200);
        QCryptoHmac *h =
            qcrypto_hmac_new_from(name, row->alg, plain, hash_keys[i], &err);
        if (!h) {
            fail(name, err);
        }
        for (size_t len = 0; len <= 200; len += 50) {
            if (qcrypto_hmac_bytes(h, plain, len, &result, &n, &err) < 0) {
                fail("hmac", err);
            }
            check_tainted(mac, n);
        }
        make_public(plain, 200);
        qcrypto_hmac_free(h);
    }
}

static void check_pbkdf2(const QCryptoRow *row, const char *name)
{
    uint8_t out[200];
    GError *err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(hash_keys); i++) {
        if (qcrypto_pbkdf2_from(name, row->alg, plain, 1, plain, 8, 1, out, 1,
                                &err) < 0) {
            fail(name, err);
        }
        make_secret(plain, 200);
        for (size_t n = 20; n <= sizeof(out); n += 45) {
            if (qcrypto_pbkdf2_from(name, row->alg, plain, hash_keys[i], text,
                                    16, 3, out, n, &err) < 0) {
                fail("pbkdf2", err);
            }
            check_tainted(out, n);
        }
        make_public(plain, 200);
    }
}

typedef void CheckFunc(const QCryptoRow *row, const char *name);

static CheckFunc *const checks[QCRYPTO_KIND__MAX] = {
    [QCRYPTO_KIND_CIPHER] = check_row,
    [QCRYPTO_KIND_HASH] = check_hash,
    [QCRYPTO_KIND_HMAC] = check_hmac,
    [QCRYPTO_KIND_PBKDF2] = check_pbkdf2,
};

/* The builtin rows of @impl (all: their names are printed) that run here. */
static int check_rows(const char *impl)
{
    QCryptoCandidate *const *all;
    GError *err = NULL;
    const char *last = "";
    size_t n, i;
    int rows = 0;

    all = qcrypto_candidates(&n, &err);
    if (!all) {
        fail("rows", err);
    }
    for (i = 0; i < n; i++) {
        const QCryptoRow *row = all[i]->row;
        g_autofree char *name = NULL;

        if (strcmp(all[i]->provider->name, "builtin") ||
            !checks[row->kind] || qcrypto_candidate_refused(all[i])) {
            continue;
        }
        if (!impl) {
            if (strcmp(row->impl, last)) {
                last = row->impl;
                puts(last);
            }
            continue;
        }
        if (strcmp(row->impl, impl)) {
            continue;
        }
        name = g_strdup_printf("builtin:%s", impl);
        checks[row->kind](row, name);
        rows++;
    }
    if (impl) {
        printf("%d rows of %s\n", rows, impl);
        return rows ? 0 : 77;
    }
    return 0;
}

static int check_helpers(void)
{
    uint8_t other[64];
    bool same, weak;
    size_t nkey;
    int alg;

    memcpy(other, secret_key, sizeof(other));
    make_secret(secret_key, sizeof(secret_key));
    make_secret(other, sizeof(other));
    same = qcrypto_equal_ct(secret_key, other, sizeof(other));
    make_public(&same, sizeof(same));
    if (!same) {
        fail("equal_ct", NULL);
    }
    for (alg = 0; alg < QCRYPTO_CIPHER_ALGO__MAX; alg++) {
        nkey = qcrypto_cipher_get_key_len(alg);
        weak = qcrypto_cipher_key_is_weak(alg, QCRYPTO_CIPHER_MODE_CBC,
                                          secret_key, nkey);
        make_public(&weak, sizeof(weak));
        if (weak) {
            fail("a key that is not weak", NULL);
        }
        weak = qcrypto_cipher_key_is_weak(alg, QCRYPTO_CIPHER_MODE_XTS,
                                          secret_key, 2 * nkey);
        make_public(&weak, sizeof(weak));
        if (weak) {
            fail("halves that are not equal", NULL);
        }
    }
    make_public(secret_key, sizeof(secret_key));
    puts("helpers");
    return 0;
}

static volatile int sink;

static int leak(bool index)
{
    static const uint8_t table[256] = {1, 2, 3};
    uint8_t c = secret_key[5] ^ plain[7];

    make_secret(&c, 1);
    if (index) {
        sink = table[c];
    } else if (c & 1) {
        sink = 1;
    }
    puts("leaked");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || !RUNNING_ON_VALGRIND) {
        fail("usage: valgrind ct-memcheck CASE", NULL);
    }
    fill(secret_key, sizeof(secret_key), 7);
    fill(plain, sizeof(plain), 11);
    if (!strcmp(argv[1], "rows")) {
        return check_rows(NULL);
    }
    if (!strcmp(argv[1], "helpers")) {
        return check_helpers();
    }
    if (!strcmp(argv[1], "leak-branch") || !strcmp(argv[1], "leak-index")) {
        return leak(!strcmp(argv[1], "leak-index"));
    }
    return check_rows(argv[1]);
}
