/*
 * The cipher front end: validate once, then call through the row
 *
 * Everything the contract of cipher.h says about lengths, IVs, message state
 * and overlap is decided here, so that it is the same on every backend and
 * no backend has to look again.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/cipher.h"

#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/plan.h"

/* IEEE 1619-2007, 5.1: at most 2^20 blocks a data unit */
#define XTS_UNIT_MIN 16
#define XTS_UNIT_MAX ((size_t)16 << 20)

struct QCryptoCipher {
    const QCryptoCipherOps *ops;
    const QCryptoCandidate *candidate;
    size_t size;   /* of the whole allocation */
    uint8_t block; /* bytes of a block */
    uint8_t niv;   /* bytes of an IV, 0 in ECB */
    uint8_t mode;
    uint8_t alg;
    bool have_iv;
    bool ended; /* CTR: the last call ended inside a block */
    /*
     * Another row under the same key that serves requests from larger_from
     * bytes on, where calibration found one to be worth its overhead; this
     * object keeps the state of the message.
     */
    size_t larger_from;
    QCryptoCipher *larger;
    uint8_t iv[16];
    /* the row's context */
    uint8_t ctx[] __attribute__((aligned(16)));
};

static const QCryptoAlg *cipher_alg(QCryptoCipherAlgo alg)
{
    return qcrypto_alg(QCRYPTO_KIND_CIPHER, (int)alg);
}

static size_t key_len(const QCryptoAlg *alg, QCryptoCipherMode mode)
{
    return alg->key_len * (mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
}

static const char *describe(char *buf, const QCryptoCipher *c)
{
    return qcrypto_describe(buf, QCRYPTO_KIND_CIPHER, c->alg, c->mode);
}

size_t qcrypto_cipher_get_block_len(QCryptoCipherAlgo alg)
{
    const QCryptoAlg *a = cipher_alg(alg);
    return a ? a->block_len : 0;
}

size_t qcrypto_cipher_get_key_len(QCryptoCipherAlgo alg)
{
    const QCryptoAlg *a = cipher_alg(alg);
    return a ? a->key_len : 0;
}

size_t qcrypto_cipher_get_iv_len(QCryptoCipherAlgo alg, QCryptoCipherMode mode)
{
    const QCryptoAlg *a = cipher_alg(alg);

    return a && mode != QCRYPTO_CIPHER_MODE_ECB && qcrypto_mode_name((int)mode)
               ? a->block_len
               : 0;
}

bool qcrypto_cipher_supports(QCryptoCipherAlgo alg, QCryptoCipherMode mode)
{
    return qcrypto_select_usable(QCRYPTO_KIND_CIPHER, (int)alg, (int)mode, 0,
                                 NULL) != NULL;
}

/* An object on this very row, or NULL with the error of its init. */
static QCryptoCipher *new_on(QCryptoCandidate *cand, const QCryptoAlg *alg,
                             const uint8_t *key, size_t nkey, GError **errp)
{
    const QCryptoRow *row = cand->row;
    const QCryptoCipherOps *ops = row->ops;
    const size_t size = sizeof(QCryptoCipher) + ops->ctx_size(row);
    QCryptoCipher *c = qcrypto_alloc_unset(size);

    if (!c) {
        qcrypto_error_memory(errp, "a cipher object", size / 1024 + 1, 0);
        return NULL;
    }
    memset(c, 0, ops->fills_ctx ? sizeof(*c) : size);
    c->ops = ops;
    c->candidate = cand;
    c->size = size;
    c->block = (uint8_t)alg->block_len;
    c->niv = row->mode == QCRYPTO_CIPHER_MODE_ECB ? 0 : (uint8_t)alg->block_len;
    c->mode = (uint8_t)row->mode;
    c->alg = (uint8_t)row->alg;
    if (G_UNLIKELY(ops->init(c->ctx, row, key, nkey, errp) < 0)) {
        qcrypto_wipe_free(c, size);
        return NULL;
    }
    return c;
}

/*
 * The rows of the plan's later steps behind the object of its first.  A step
 * whose row cannot serve this key is left out: what comes before it serves.
 */
static void add_larger(QCryptoCipher *c, const QCryptoPlan *plan,
                       const QCryptoAlg *alg, const uint8_t *key, size_t nkey)
{
    for (unsigned i = 1; i < plan->n; i++) {
        const QCryptoStep *step = &plan->steps[i];
        QCryptoCipher *next =
            qcrypto_candidate_usable(step->candidate, NULL)
                ? new_on(step->candidate, alg, key, nkey, NULL)
                : NULL;

        if (next) {
            c->larger_from = step->from;
            c->larger = next;
            c = next;
        }
    }
}

/* The object whose row serves requests of len bytes. */
static inline const QCryptoCipher *serving(const QCryptoCipher *c, size_t len)
{
    while (G_UNLIKELY(c->larger) && len >= c->larger_from) {
        c = c->larger;
    }
    return c;
}

/* The algorithm, or NULL with an error; checks what new() was given. */
static const QCryptoAlg *check_new(QCryptoCipherAlgo alg, QCryptoCipherMode mode,
                                   const uint8_t *key, size_t nkey,
                                   GError **errp)
{
    const QCryptoAlg *a = cipher_alg(alg);
    char what[64];

    if (G_UNLIKELY(!a || !qcrypto_mode_name((int)mode))) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT, "unknown cipher %s %d",
                      a ? "mode" : "algorithm", a ? (int)mode : (int)alg);
        return NULL;
    }
    if (G_UNLIKELY(mode == QCRYPTO_CIPHER_MODE_XTS && a->block_len != 16)) {
        qcrypto_describe(what, QCRYPTO_KIND_CIPHER, (int)alg, (int)mode);
        qcrypto_error_unsupported(errp, what,
                                  "XTS needs a cipher with blocks of 16 bytes");
        return NULL;
    }
    if (G_UNLIKELY(!key)) {
        qcrypto_error_null(errp, "key");
        return NULL;
    }
    if (G_UNLIKELY(nkey != key_len(a, mode))) {
        qcrypto_describe(what, QCRYPTO_KIND_CIPHER, (int)alg, (int)mode);
        qcrypto_error_key_len(errp, what, key_len(a, mode), nkey);
        return NULL;
    }
    return a;
}

QCryptoCipher *qcrypto_cipher_new(QCryptoCipherAlgo alg, QCryptoCipherMode mode,
                                  const uint8_t *key, size_t nkey, GError **errp)
{
    const QCryptoAlg *a = check_new(alg, mode, key, nkey, errp);
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *cand;

    if (!a) {
        return NULL;
    }
    const QCryptoPlan *plan =
        qcrypto_plan(QCRYPTO_KIND_CIPHER, (int)alg, (int)mode, 0);
    if (plan && qcrypto_candidate_usable(plan->steps[0].candidate, NULL)) {
        QCryptoCipher *c = new_on(plan->steps[0].candidate, a, key, nkey, NULL);

        if (c) {
            add_larger(c, plan, a, key, nkey);
            return c;
        }
    }
    /* a row may be narrower than its algorithm: then the next one serves */
    for (size_t i = 0; (cand = qcrypto_select_usable(
                            QCRYPTO_KIND_CIPHER, (int)alg, (int)mode, i, &i));
         i++) {
        g_clear_error(&last);
        QCryptoCipher *c = new_on(cand, a, key, nkey, &last);
        if (c) {
            return c;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_CIPHER, (int)alg, (int)mode, last, errp);
    return NULL;
}

QCryptoCipher *qcrypto_cipher_new_from(const char *provider,
                                       QCryptoCipherAlgo alg,
                                       QCryptoCipherMode mode,
                                       const uint8_t *key, size_t nkey,
                                       GError **errp)
{
    const QCryptoAlg *a = check_new(alg, mode, key, nkey, errp);

    if (!a) {
        return NULL;
    }
    QCryptoCandidate *cand = qcrypto_select_named(
        provider, QCRYPTO_KIND_CIPHER, (int)alg, (int)mode, errp);
    return cand ? new_on(cand, a, key, nkey, errp) : NULL;
}

void qcrypto_cipher_free(QCryptoCipher *c)
{
    while (c) {
        QCryptoCipher *larger = c->larger;

        if (c->ops->fini) {
            c->ops->fini(c->ctx);
        }
        qcrypto_wipe_free(c, c->size);
        c = larger;
    }
}

const char *qcrypto_cipher_get_provider(const QCryptoCipher *c)
{
    return c ? c->candidate->provider->name : NULL;
}

const char *qcrypto_cipher_get_impl(const QCryptoCipher *c)
{
    return c ? qcrypto_candidate_impl(c->candidate) : NULL;
}

QCryptoCipherAlgo qcrypto_cipher_get_algorithm(const QCryptoCipher *c)
{
    return (QCryptoCipherAlgo)c->alg;
}

QCryptoCipherMode qcrypto_cipher_get_mode(const QCryptoCipher *c)
{
    return (QCryptoCipherMode)c->mode;
}

size_t qcrypto_cipher_niv(const QCryptoCipher *c)
{
    return c->niv;
}

int qcrypto_cipher_setiv(QCryptoCipher *c, const uint8_t *iv, size_t niv,
                         GError **errp)
{
    char what[64];

    if (G_UNLIKELY(!c || (!iv && niv))) {
        return qcrypto_error_null(errp, c ? "iv" : "cipher");
    }
    if (G_UNLIKELY(niv != c->niv)) {
        return qcrypto_error_iv_len(errp, describe(what, c), c->niv, niv);
    }
    memcpy(c->iv, iv ? iv : c->iv, niv);
    c->have_iv = true;
    c->ended = false;
    return 0;
}

/* What a piece of message may not be: 0, or -1 and the error. */
static int check_len(const QCryptoCipher *c, size_t len, GError **errp)
{
    char what[64];

    if (c->mode == QCRYPTO_CIPHER_MODE_XTS) {
        if (G_UNLIKELY(len < XTS_UNIT_MIN || len > XTS_UNIT_MAX)) {
            return qcrypto_error_unit_len(errp, describe(what, c), XTS_UNIT_MIN,
                                          XTS_UNIT_MAX, len);
        }
    } else if (c->mode != QCRYPTO_CIPHER_MODE_CTR) {
        /* block lengths are powers of two */
        if (G_UNLIKELY(len & (c->block - 1u))) {
            return qcrypto_error_data_len(errp, describe(what, c), c->block, len);
        }
    }
    return 0;
}

static int check_buffers(const QCryptoCipher *c, const void *in, const void *out,
                         size_t len, GError **errp)
{
    char what[64];

    if (G_UNLIKELY((!in || !out) && len)) {
        return qcrypto_error_null(errp, in ? "out" : "in");
    }
    if (G_UNLIKELY(qcrypto_overlap(in, out, len))) {
        return qcrypto_error_overlap(errp, describe(what, c));
    }
    return 0;
}

static inline int run(QCryptoCipher *c, int decrypt, const void *in, void *out,
                        size_t len, GError **errp)
{
    char what[64];

    if (G_UNLIKELY(!c)) {
        return qcrypto_error_null(errp, "cipher");
    }
    if (check_len(c, len, errp) < 0 || check_buffers(c, in, out, len, errp) < 0) {
        return -1;
    }
    if (c->niv) {
        if (G_UNLIKELY(!c->have_iv)) {
            return qcrypto_error_no_iv(errp, describe(what, c));
        }
        if (c->mode == QCRYPTO_CIPHER_MODE_CTR) {
            if (G_UNLIKELY(c->ended && len)) {
                return qcrypto_error_message_ended(errp, describe(what, c));
            }
            c->ended |= (len & (c->block - 1u)) != 0;
        }
    }
    if (G_UNLIKELY(!len)) {
        return 0;
    }
    const QCryptoCipher *row = serving(c, len);
    return row->ops->crypt[decrypt](row->ctx, c->niv ? c->iv : NULL, in, out,
                                    len, errp);
}

int qcrypto_cipher_encrypt(QCryptoCipher *c, const void *in, void *out,
                           size_t len, GError **errp)
{
    return run(c, 0, in, out, len, errp);
}

int qcrypto_cipher_decrypt(QCryptoCipher *c, const void *in, void *out,
                           size_t len, GError **errp)
{
    return run(c, 1, in, out, len, errp);
}

/* For rows without a call of their own for runs of units. */
static int units_one_by_one(const QCryptoCipher *c, int decrypt,
                            const uint8_t *ivs, size_t unit_size,
                            const uint8_t *in, uint8_t *out, size_t n,
                            GError **errp)
{
    uint8_t iv[16];

    for (size_t i = 0; i < n; i++) {
        memcpy(iv, ivs ? ivs + i * c->niv : iv, c->niv);
        if (c->ops->crypt[decrypt](c->ctx, c->niv ? iv : NULL,
                                   in + i * unit_size, out + i * unit_size,
                                   unit_size, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* *len: of the whole run */
static inline int check_units(const QCryptoCipher *c, const uint8_t *ivs,
                              size_t unit_size, const void *in, const void *out,
                              size_t n, size_t *len, GError **errp)
{
    char what[64];

    if (G_UNLIKELY(!c || (!ivs && c->niv && n))) {
        return qcrypto_error_null(errp, c ? "ivs" : "cipher");
    }
    if (check_len(c, unit_size, errp) < 0) {
        return -1;
    }
    /* the whole run must be a range of memory */
    if (G_UNLIKELY(__builtin_mul_overflow(n, unit_size, len) ||
                   *len > PTRDIFF_MAX)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: %zu units of %zu bytes are too long",
                             describe(what, c), n, unit_size);
    }
    return check_buffers(c, in, out, *len, errp);
}

int qcrypto_cipher_check_units(const QCryptoCipher *c, const uint8_t *ivs,
                               size_t unit_size, const void *in, const void *out,
                               size_t n, GError **errp)
{
    size_t len = 0;

    return check_units(c, ivs, unit_size, in, out, n, &len, errp);
}

int qcrypto_cipher_units(const QCryptoCipher *c, int decrypt, const uint8_t *ivs,
                         size_t unit_size, const void *in, void *out, size_t n,
                         GError **errp)
{
    size_t len = 0;

    if (check_units(c, ivs, unit_size, in, out, n, &len, errp) < 0) {
        return -1;
    }
    if (!len) {
        return 0;
    }
    c = serving(c, len);
    if (!c->ops->units[decrypt]) {
        return units_one_by_one(c, decrypt, ivs, unit_size, in, out, n, errp);
    }
    return c->ops->units[decrypt](c->ctx, c->niv ? ivs : NULL, unit_size, in,
                                  out, n, errp);
}

const QCryptoCipherAsyncOps *qcrypto_cipher_async(const QCryptoCipher *c,
                                                  size_t len, const void **ctx)
{
    c = serving(c, len);
    *ctx = c->ctx;
    return c->ops->async;
}

/* ---- weak keys ---- */

/* 1 when a and b agree in the bits of mask, without a branch on them */
static unsigned same8(const uint8_t *a, const uint8_t *b, uint8_t mask)
{
    unsigned diff = 0;

    for (size_t i = 0; i < 8; i++) {
        diff |= (a[i] ^ b[i]) & mask;
    }
    return (diff - 1) >> 31;
}

/*
 * The 64 keys of DES with four subkeys or fewer (NIST SP 800-67r1, 3.4.2: weak,
 * semi-weak and possibly weak).  Parity bits apart, the first four bytes are
 * of {00, 1e, e0, fe} and their sum without carry is 0; the last four follow
 * them through {00, 0e, f0, fe}.
 */
static unsigned des_is_weak(const uint8_t *key)
{
    unsigned diff = 0, sum = 0;

    for (size_t i = 0; i < 4; i++) {
        const unsigned high = 0u - (key[i] >> 7), low = 0u - (key[i] >> 1 & 1u);
        const unsigned left = (high & 0xe0) | (low & 0x1e);
        const unsigned right = (high & 0xf0) | (low & 0x0e);

        diff |= ((key[i] ^ left) | (key[4 + i] ^ right)) & 0xfe;
        sum ^= left;
    }
    return ((diff | sum) - 1) >> 31;
}

bool qcrypto_cipher_key_is_weak(QCryptoCipherAlgo alg, QCryptoCipherMode mode,
                                const uint8_t *key, size_t nkey)
{
    const QCryptoAlg *a = cipher_alg(alg);
    unsigned weak = 0;

    if (!a || !key || nkey != key_len(a, mode)) {
        return false;
    }
    if (mode == QCRYPTO_CIPHER_MODE_XTS) {
        weak |= qcrypto_equal_ct(key, key + nkey / 2, nkey / 2);
    }
    if (alg == QCRYPTO_CIPHER_ALGO_DES || alg == QCRYPTO_CIPHER_ALGO_3DES) {
        for (size_t i = 0; i < nkey; i += 8) {
            weak |= des_is_weak(key + i);
        }
        /* K1 == K2 or K2 == K3 cancel to single DES */
        for (size_t i = 8; i < nkey; i += 8) {
            weak |= same8(key + i - 8, key + i, 0xfe);
        }
    }
    return weak != 0;
}
