/*
 * The kinds of asynchronous requests on ciphers, hashes and HMACs
 *
 * Each checks what its caller gave before anything is queued, so that only
 * what goes wrong while the request is served comes to the callback.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/core/async.h"
#include "crypto/core/cipher.h"
#include "crypto/core/digest.h"
#include "crypto/core/hash.h"
#include "crypto/core/hmac.h"
#include "crypto/core/select.h"

/* ---- ciphers ---- */

typedef struct Units {
    const QCryptoCipher *cipher;
    const void *ctx; /* of the row that serves, where it has a queue */
    uint8_t *ivs;    /* n of them, or NULL: the one of iv */
    size_t unit_size;
    const void *in;
    void *out;
    size_t n;
    uint8_t iv[16];
    uint8_t decrypt;
} Units;

G_STATIC_ASSERT(sizeof(Units) <= QCRYPTO_ASYNC_ARGS);

static const uint8_t *ivs_of(const Units *u)
{
    return u->ivs ? u->ivs : u->iv;
}

static int units_run(void *args, GError **errp)
{
    const Units *u = args;

    return qcrypto_cipher_units(u->cipher, u->decrypt, ivs_of(u), u->unit_size,
                                u->in, u->out, u->n, errp);
}

static int units_start(const QCryptoCipherAsyncOps *ops, void *queue,
                       const void *args, void *tag, GError **errp)
{
    const Units *u = args;

    return ops->submit(queue, u->ctx, u->decrypt,
                       qcrypto_cipher_niv(u->cipher) ? ivs_of(u) : NULL,
                       u->unit_size, u->in, u->out, u->n, tag, errp);
}

static void units_fini(void *args)
{
    Units *u = args;

    g_free(u->ivs);
}

static const QCryptoAsyncKind units_kind = {
    .size = sizeof(Units),
    .run = units_run,
    .fini = units_fini,
};

static int units_add(QCryptoAsync *async, Units *u, QCryptoAsyncDone *done,
                     void *opaque, GError **errp)
{
    if (qcrypto_cipher_check_units(u->cipher, ivs_of(u), u->unit_size, u->in,
                                   u->out, u->n, errp) < 0) {
        units_fini(u);
        return -1;
    }
    const size_t len = u->unit_size * u->n;
    const QCryptoCipherAsyncOps *ops =
        qcrypto_cipher_async(u->cipher, len, &u->ctx);
    /* nothing to do is no request for a row */
    return ops && len
               ? qcrypto_async_add_native(async, ops, units_start, &units_kind,
                                          u, done, opaque, errp)
               : qcrypto_async_add(async, &units_kind, u, NULL, done, opaque,
                                   errp);
}

int qcrypto_async_units(QCryptoAsync *async, const QCryptoCipher *cipher,
                        int decrypt, uint8_t *ivs, size_t unit_size,
                        const void *in, void *out, size_t n,
                        QCryptoAsyncDone *done, void *opaque, GError **errp)
{
    Units u = {
        .cipher = cipher,
        .ivs = ivs,
        .unit_size = unit_size,
        .in = in,
        .out = out,
        .n = n,
        .decrypt = decrypt != 0,
    };

    return units_add(async, &u, done, opaque, errp);
}

static int message(QCryptoAsync *async, const QCryptoCipher *cipher,
                   int decrypt, const uint8_t *iv, size_t niv, const void *in,
                   void *out, size_t len, QCryptoAsyncDone *done, void *opaque,
                   GError **errp)
{
    Units u = {
        .cipher = cipher,
        .unit_size = len,
        .in = in,
        .out = out,
        .n = 1,
        .decrypt = decrypt != 0,
    };
    char what[64];

    if (!cipher || (!iv && niv)) {
        return qcrypto_error_null(errp, cipher ? "iv" : "cipher");
    }
    if (niv != qcrypto_cipher_niv(cipher)) {
        qcrypto_describe(what, QCRYPTO_KIND_CIPHER,
                         (int)qcrypto_cipher_get_algorithm(cipher),
                         (int)qcrypto_cipher_get_mode(cipher));
        return qcrypto_error_iv_len(errp, what, qcrypto_cipher_niv(cipher),
                                    niv);
    }
    memcpy(u.iv, iv ? iv : u.iv, niv);
    return units_add(async, &u, done, opaque, errp);
}

int qcrypto_async_encrypt(QCryptoAsync *async, const QCryptoCipher *cipher,
                          const uint8_t *iv, size_t niv, const void *in,
                          void *out, size_t len, QCryptoAsyncDone *done,
                          void *opaque, GError **errp)
{
    return message(async, cipher, 0, iv, niv, in, out, len, done, opaque, errp);
}

int qcrypto_async_decrypt(QCryptoAsync *async, const QCryptoCipher *cipher,
                          const uint8_t *iv, size_t niv, const void *in,
                          void *out, size_t len, QCryptoAsyncDone *done,
                          void *opaque, GError **errp)
{
    return message(async, cipher, 1, iv, niv, in, out, len, done, opaque, errp);
}

/* ---- digests ---- */

typedef struct Digest {
    const QCryptoRow *row; /* NULL: by the algorithm */
    QCryptoHmac *hmac;
    QCryptoHashAlgo alg;
    struct iovec message;
    uint8_t *digest;
    size_t ndigest;
} Digest;

G_STATIC_ASSERT(sizeof(Digest) <= QCRYPTO_ASYNC_ARGS);

static int hash_run(void *args, GError **errp)
{
    Digest *d = args;

    return d->row ? qcrypto_hash_on_row(d->row, &d->message, 1, d->digest, errp)
                  : qcrypto_hash_bytesv(d->alg, &d->message, 1, &d->digest,
                                        &d->ndigest, errp);
}

static int hmac_run(void *args, GError **errp)
{
    Digest *d = args;

    return qcrypto_hmac_bytesv(d->hmac, &d->message, 1, &d->digest, &d->ndigest,
                               errp);
}

static const QCryptoAsyncKind hash_kind = {
    .size = sizeof(Digest),
    .run = hash_run,
};

static const QCryptoAsyncKind hmac_kind = {
    .size = sizeof(Digest),
    .run = hmac_run,
};

static int digest_add(QCryptoAsync *async, const QCryptoAsyncKind *kind,
                      const QCryptoAlg *alg, const Digest *d,
                      QCryptoAsyncDone *done, void *opaque, GError **errp)
{
    if (!d->digest) {
        return qcrypto_error_null(errp, "digest");
    }
    if (qcrypto_check_digest_len(d->ndigest, alg->out_len, alg->name, errp) <
            0 ||
        qcrypto_check_iov(&d->message, 1, errp) < 0) {
        return -1;
    }
    return qcrypto_async_add(async, kind, d, d->hmac, done, opaque, errp);
}

int qcrypto_async_hash(QCryptoAsync *async, const char *provider,
                       QCryptoHashAlgo alg, const void *buf, size_t len,
                       uint8_t *digest, size_t ndigest, QCryptoAsyncDone *done,
                       void *opaque, GError **errp)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_HASH, (int)alg);
    Digest d = {
        .alg = alg,
        .message = {(void *)(uintptr_t)buf, len},
        .digest = digest,
        .ndigest = ndigest,
    };

    if (!a) {
        return qcrypto_error_unknown_id(errp, "hash", (int)alg);
    }
    if (provider) {
        QCryptoCandidate *c = qcrypto_select_named(provider, QCRYPTO_KIND_HASH,
                                                   (int)alg, -1, errp);
        if (!c) {
            return -1;
        }
        d.row = c->row;
    }
    return digest_add(async, &hash_kind, a, &d, done, opaque, errp);
}

int qcrypto_async_hmac(QCryptoAsync *async, QCryptoHmac *hmac, const void *buf,
                       size_t len, uint8_t *mac, size_t nmac,
                       QCryptoAsyncDone *done, void *opaque, GError **errp)
{
    const Digest d = {
        .hmac = hmac,
        .message = {(void *)(uintptr_t)buf, len},
        .digest = mac,
        .ndigest = nmac,
    };

    if (!hmac) {
        return qcrypto_error_null(errp, "hmac");
    }
    return digest_add(async, &hmac_kind, qcrypto_hmac_alg(hmac), &d, done,
                      opaque, errp);
}

/* ---- anything ---- */

typedef struct Call {
    QCryptoAsyncRun *run;
    void *arg;
} Call;

static int call_run(void *args, GError **errp)
{
    const Call *c = args;

    return c->run(c->arg, errp);
}

static const QCryptoAsyncKind call_kind = {
    .size = sizeof(Call),
    .run = call_run,
};

int qcrypto_async_submit(QCryptoAsync *async, QCryptoAsyncRun *run, void *arg,
                         const void *object, QCryptoAsyncDone *done,
                         void *opaque, GError **errp)
{
    const Call c = {run, arg};

    if (!run) {
        return qcrypto_error_null(errp, "run");
    }
    return qcrypto_async_add(async, &call_kind, &c, object, done, opaque, errp);
}
