/*
 * Fixed work of each kind, for calibration
 *
 * Each piece is what a caller's request is to the row: ciphers encrypt and
 * decrypt one message, hashes digest one from its start, PBKDF2 runs 64
 * iterations.  Contexts and keys are made outside the time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/secure.h"
#include "crypto/core/calibrate.h"

/* Any key will do; that of XTS must not have equal halves. */
static const uint8_t key[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

static int open_ctx(QCryptoWork *w, size_t nctx)
{
    w->nctx = nctx;
    w->ctx = qcrypto_alloc(nctx);
    return w->ctx ? 0 : -1;
}

static void close_ctx(QCryptoWork *w, void (*fini)(void *ctx))
{
    if (w->ctx && fini) {
        fini(w->ctx);
    }
    qcrypto_wipe_free(w->ctx, w->nctx);
    w->ctx = NULL;
}

/* Drops a context whose init failed. */
static int opened(QCryptoWork *w, int ret)
{
    if (ret < 0) {
        close_ctx(w, NULL);
    }
    return ret;
}

/* ---- xor ---- */

static int xor_open(QCryptoWork *w)
{
    const QCryptoXorOps *ops = w->row->ops;
    return ops->xor_n[w->arity] ? 0 : -1;
}

static void xor_work(void *opaque, unsigned reps)
{
    QCryptoWork *w = opaque;
    const QCryptoXorOps *ops = w->row->ops;
    const void *srcs[QCRYPTO_XOR_ARITY];

    for (unsigned i = 0; i < w->arity; i++) {
        srcs[i] = w->buf + (i + 1) * QCRYPTO_CALIBRATE_MAX_SIZE;
    }
    for (unsigned i = 0; i < reps; i++) {
        ops->xor_n[w->arity](w->buf, srcs, w->size);
    }
}

static void xor_close(QCryptoWork *w G_GNUC_UNUSED)
{
}

/* ---- ciphers ---- */

static int cipher_open(QCryptoWork *w)
{
    const QCryptoCipherOps *ops = w->row->ops;
    const QCryptoAlg *alg = qcrypto_alg(w->row->kind, w->row->alg);
    const size_t nkey =
        alg->key_len * (w->row->mode == QCRYPTO_CIPHER_MODE_XTS ? 2u : 1u);

    if (open_ctx(w, ops->ctx_size(w->row)) < 0) {
        return -1;
    }
    return opened(w, ops->init(w->ctx, w->row, key, nkey, NULL));
}

static void cipher_work(void *opaque, unsigned reps)
{
    QCryptoWork *w = opaque;
    const QCryptoCipherOps *ops = w->row->ops;
    uint8_t iv[16] = {0};
    uint8_t *ivp = w->row->mode == QCRYPTO_CIPHER_MODE_ECB ? NULL : iv;

    for (unsigned i = 0; i < reps; i++) {
        for (int dec = 0; dec < 2; dec++) {
            w->failed |= ops->crypt[dec](w->ctx, ivp, w->buf, w->buf, w->size,
                                         NULL) < 0;
        }
    }
}

static void cipher_close(QCryptoWork *w)
{
    const QCryptoCipherOps *ops = w->row->ops;
    close_ctx(w, ops->fini);
}

/* ---- hashes ---- */

static int hash_open(QCryptoWork *w)
{
    const QCryptoHashOps *ops = w->row->ops;

    if (open_ctx(w, ops->ctx_size(w->row)) < 0) {
        return -1;
    }
    return opened(w, ops->init(w->ctx, w->row, NULL));
}

static void hash_work(void *opaque, unsigned reps)
{
    QCryptoWork *w = opaque;
    const QCryptoHashOps *ops = w->row->ops;
    uint8_t digest[64];

    for (unsigned i = 0; i < reps; i++) {
        w->failed |= ops->init(w->ctx, w->row, NULL) < 0 ||
                     ops->update(w->ctx, w->buf, w->size, NULL) < 0 ||
                     ops->final(w->ctx, digest, NULL) < 0;
    }
}

static void hash_close(QCryptoWork *w)
{
    const QCryptoHashOps *ops = w->row->ops;
    close_ctx(w, ops->fini);
}

/* ---- hmac ---- */

static int hmac_open(QCryptoWork *w)
{
    const QCryptoHmacOps *ops = w->row->ops;

    if (open_ctx(w, ops->ctx_size(w->row)) < 0) {
        return -1;
    }
    return opened(w, ops->init(w->ctx, w->row, key, 32, NULL));
}

static void hmac_work(void *opaque, unsigned reps)
{
    QCryptoWork *w = opaque;
    const QCryptoHmacOps *ops = w->row->ops;
    uint8_t mac[64];

    for (unsigned i = 0; i < reps; i++) {
        w->failed |= ops->update(w->ctx, w->buf, w->size, NULL) < 0 ||
                     ops->final(w->ctx, mac, NULL) < 0;
    }
}

static void hmac_close(QCryptoWork *w)
{
    const QCryptoHmacOps *ops = w->row->ops;
    close_ctx(w, ops->fini);
}

/* ---- pbkdf2: size is that of the output ---- */

static int pbkdf2_open(QCryptoWork *w G_GNUC_UNUSED)
{
    return 0;
}

static void pbkdf2_work(void *opaque, unsigned reps)
{
    QCryptoWork *w = opaque;
    const QCryptoPbkdf2Ops *ops = w->row->ops;

    for (unsigned i = 0; i < reps; i++) {
        w->failed |= ops->derive(w->row, key, 16, key, 32, 64, w->buf, w->size,
                                 NULL) < 0;
    }
}

static void pbkdf2_close(QCryptoWork *w G_GNUC_UNUSED)
{
}

/* ---- chacha ---- */

static int chacha_open(QCryptoWork *w)
{
    const QCryptoChaChaOps *ops = w->row->ops;

    if (!ops->ctx_size) {
        return 0;
    }
    if (open_ctx(w, ops->ctx_size) < 0) {
        return -1;
    }
    return opened(w, ops->init(w->ctx, w->row, key, 32, NULL));
}

static void chacha_work(void *opaque, unsigned reps)
{
    QCryptoWork *w = opaque;
    const QCryptoChaChaOps *ops = w->row->ops;
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

    for (unsigned i = 0; i < reps; i++) {
        w->failed |= ops->crypt(w->ctx, state, w->buf, w->buf, w->size, NULL) < 0;
    }
}

static void chacha_close(QCryptoWork *w)
{
    const QCryptoChaChaOps *ops = w->row->ops;
    close_ctx(w, ops->fini);
}

/* ---- the table ---- */

static const size_t xor_sizes[] = {4096, 65536};
static const size_t data_sizes[] = {64, 512, 4096, 65536};
static const size_t key_sizes[] = {32, 64};

#define CALIBRATOR(name, KIND, sizelist, typical_size, ...)                   \
    static const QCryptoCalibrator name##_calibrator = {                      \
        .kind = QCRYPTO_KIND_##KIND,                                          \
        .sizes = sizelist,                                                    \
        .nsizes = G_N_ELEMENTS(sizelist),                                     \
        .typical = typical_size,                                              \
        .open = name##_open,                                                  \
        .work = name##_work,                                                  \
        .close = name##_close,                                                \
        __VA_ARGS__                                                           \
    }

CALIBRATOR(xor, XOR, xor_sizes, 4096, .arity_min = 2,
           .arity_max = QCRYPTO_XOR_ARITY, .alike = true);
CALIBRATOR(cipher, CIPHER, data_sizes, 4096, .alike = false);
CALIBRATOR(hash, HASH, data_sizes, 4096, .alike = false);
CALIBRATOR(hmac, HMAC, data_sizes, 4096, .alike = false);
CALIBRATOR(pbkdf2, PBKDF2, key_sizes, 32, .alike = false);
CALIBRATOR(chacha, CHACHA, data_sizes, 4096, .alike = false);

const QCryptoCalibrator *const qcrypto_calibrators[] = {
    &xor_calibrator,  &cipher_calibrator, &chacha_calibrator,
    &hash_calibrator, &hmac_calibrator,   &pbkdf2_calibrator,
    NULL,
};
