/*
 * Known-answer tests of rows, run once before a row is first used
 *
 * The message is long enough to pass through the widest kernels' main loop,
 * their shorter batches, single blocks and (CTR, XTS) a partial block; the IV
 * makes the low 32 bits of a counter overflow.  The answer is a 64-bit fold
 * (FNV-1a) of the ciphertext: it guards against miscompiled or misdispatched
 * code, not against an attacker.  The values were computed with two
 * independent libraries each that agreed (kat.c).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/selftest.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/kat.h"

/* 67 blocks of 16 bytes, and 5 bytes more where a mode takes them */
#define LEN_BLOCKS 1072
#define LEN_ODD QCRYPTO_SELFTEST_MESSAGE
/* runs of units: more than one batch of tweaks, an odd number */
#define N_UNITS 19

uint64_t qcrypto_selftest_fold(const uint8_t *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

bool qcrypto_selftest_answer(QCryptoKind kind, int alg, int mode,
                             uint64_t *answer)
{
    for (size_t i = 0; i < qcrypto_kat_len; i++) {
        const QCryptoKat *k = &qcrypto_kat[i];

        if (k->kind == kind && k->alg == alg && k->mode == mode) {
            *answer = k->fold;
            return true;
        }
    }
    return false;
}

static int differs(GError **errp, const char *what)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                         "self-test: %s", what);
}

static void pattern(uint8_t *p, size_t n, unsigned step, unsigned start)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(step * i + start);
    }
}

size_t qcrypto_selftest_message(int mode, uint8_t key[64], uint8_t iv[16],
                                uint8_t *plain)
{
    const size_t len = mode == QCRYPTO_CIPHER_MODE_ECB ||
                               mode == QCRYPTO_CIPHER_MODE_CBC
                           ? LEN_BLOCKS
                           : LEN_ODD;

    pattern(key, 64, 17, 1);
    pattern(plain, len, 7, 3);
    /* a counter of 8 or 16 bytes, either has its carry soon */
    memset(iv, 0xff, 16);
    iv[0] = 0x5a;
    iv[7] = iv[15] = 0xfd;
    return len;
}

typedef struct CipherTest {
    const QCryptoCipherOps *ops;
    const void *ctx;
    size_t block, niv;
    size_t len; /* of the whole message */
    uint8_t iv[16];
    uint8_t plain[LEN_ODD];
    uint8_t text[LEN_ODD];
    uint8_t back[LEN_ODD];
    uint8_t ivs[16 * N_UNITS];
} CipherTest;

/* CBC and CTR continue from call to call. */
static int cipher_pieces(CipherTest *t, bool chained, int dec, const uint8_t *in,
                         uint8_t *out, GError **errp)
{
    const size_t first = chained ? 33 * t->block : t->len;
    uint8_t iv[16];

    memcpy(iv, t->iv, sizeof(iv));
    uint8_t *ivp = t->niv ? iv : NULL;
    if (t->ops->crypt[dec](t->ctx, ivp, in, out, first, errp) < 0) {
        return -1;
    }
    if (first == t->len) {
        return 0;
    }
    return t->ops->crypt[dec](t->ctx, ivp, in + first, out + first,
                              t->len - first, errp);
}

/* A run of units is the same as its units one by one, in place too. */
static int cipher_units(CipherTest *t, int dec, GError **errp)
{
    const size_t unit = 3 * t->block;

    pattern(t->ivs, sizeof(t->ivs), 29, 11);
    for (size_t i = 0; i < N_UNITS; i++) {
        uint8_t iv[16];

        memcpy(iv, t->ivs + i * t->niv, t->niv);
        if (t->ops->crypt[dec](t->ctx, t->niv ? iv : NULL, t->plain + i * unit,
                               t->text + i * unit, unit, errp) < 0) {
            return -1;
        }
    }
    memcpy(t->back, t->plain, N_UNITS * unit);
    if (t->ops->units[dec](t->ctx, t->niv ? t->ivs : NULL, unit, t->back,
                           t->back, N_UNITS, errp) < 0) {
        return -1;
    }
    return memcmp(t->back, t->text, N_UNITS * unit)
               ? differs(errp, "a run of units differs from single units")
               : 0;
}

static int cipher_run(CipherTest *t, const QCryptoRow *row, uint64_t *fold,
                      GError **errp)
{
    const bool chained = row->mode == QCRYPTO_CIPHER_MODE_CBC ||
                         row->mode == QCRYPTO_CIPHER_MODE_CTR;

    if (cipher_pieces(t, chained, 0, t->plain, t->text, errp) < 0) {
        return -1;
    }
    *fold = qcrypto_selftest_fold(t->text, t->len);
    memcpy(t->back, t->text, t->len);
    if (cipher_pieces(t, chained, 1, t->back, t->back, errp) < 0) {
        return -1;
    }
    if (memcmp(t->back, t->plain, t->len)) {
        return differs(errp, "decryption does not give the plaintext back");
    }
    for (int dec = 0; dec < 2; dec++) {
        if (t->ops->units[dec] && cipher_units(t, dec, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int cipher_test(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    const QCryptoAlg *alg = qcrypto_alg(QCRYPTO_KIND_CIPHER, row->alg);
    const QCryptoCipherOps *ops = row->ops;
    const size_t nkey =
        alg->key_len * (row->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    const size_t nctx = ops->ctx_size(row);
    void *ctx = qcrypto_alloc(nctx);
    CipherTest *t = qcrypto_alloc(sizeof(*t));
    uint8_t key[64];
    int ret = -1;

    if (!ctx || !t) {
        qcrypto_error_memory(errp, "self-test", (nctx + sizeof(*t)) / 1024 + 1,
                             0);
        goto out;
    }
    t->len = qcrypto_selftest_message(row->mode, key, t->iv, t->plain);
    if (ops->init(ctx, row, key, nkey, errp) < 0) {
        goto out;
    }
    t->ops = ops;
    t->ctx = ctx;
    t->block = alg->block_len;
    t->niv = row->mode == QCRYPTO_CIPHER_MODE_ECB ? 0 : alg->block_len;
    ret = cipher_run(t, row, fold, errp);
    if (ops->fini) {
        ops->fini(ctx);
    }
out:
    qcrypto_wipe_free(t, sizeof(*t));
    qcrypto_wipe_free(ctx, nctx);
    return ret;
}

/*
 * Runs the row over its kind's message, checks what can be checked without
 * an answer (round trip, runs against single calls) and folds the output.
 */
typedef int TestFunc(const QCryptoRow *row, uint64_t *fold, GError **errp);

static TestFunc *const tests[QCRYPTO_KIND__MAX] = {
    [QCRYPTO_KIND_CIPHER] = cipher_test,
};

int qcrypto_selftest_compute(const QCryptoRow *row, uint64_t *fold, GError **errp)
{
    if ((unsigned)row->kind >= QCRYPTO_KIND__MAX || !tests[row->kind]) {
        return differs(errp, "rows of this kind have none");
    }
    return tests[row->kind](row, fold, errp);
}

int qcrypto_selftest(const QCryptoRow *row, GError **errp)
{
    uint64_t answer, fold;

    if (!qcrypto_selftest_answer(row->kind, row->alg, row->mode, &answer)) {
        return differs(errp, "no known answer to test against");
    }
    if (qcrypto_selftest_compute(row, &fold, errp) < 0) {
        return -1;
    }
    return fold == answer ? 0 : differs(errp, "wrong output");
}
