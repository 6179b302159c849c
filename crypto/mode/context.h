/*
 * What the generic modes share: their context, and xor
 *
 * The context of every generic mode is the block cipher's descriptor and one
 * key context of it, in XTS two (data key, then tweak key):
 *
 *     QCryptoModeCtx | key context 0 | key context 1
 *
 * each on a boundary of 16 bytes.  It is const once made; whatever a call
 * needs besides stands on that call's stack.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_MODE_CONTEXT_H
#define QCRYPTO_MODE_CONTEXT_H

#include "crypto/base/bytes.h"
#include "crypto/base/rows.h"

/* Bytes of the longest block of any cipher. */
#define QCRYPTO_MODE_BLOCK_MAX 16

/*
 * Bytes handed to a block function at once: enough blocks to fill the widest
 * pipeline and to make a library's cost of a call small, few enough to stay
 * in the nearest cache together with what they are combined with.
 */
#define QCRYPTO_MODE_BATCH 1024

typedef struct QCryptoModeCtx {
    const QCryptoBlockDesc *desc;
    uint32_t key_size; /* of one key context, a multiple of 16 */
    uint32_t nkeys;    /* key contexts that are in use */
    _Alignas(16) uint8_t keys[];
} QCryptoModeCtx;

/* QCryptoCipherOps.ctx_size, .init and .fini of every generic mode */
size_t qcrypto_mode_ctx_size(const QCryptoRow *row);
int qcrypto_mode_init(void *opaque, const QCryptoRow *row, const uint8_t *key,
                      size_t nkey, GError **errp);
void qcrypto_mode_fini(void *opaque);

/* .init of the forms of XTS: refuses a block that is not 16 bytes */
int qcrypto_mode_xts_init(void *opaque, const QCryptoRow *row,
                          const uint8_t *key, size_t nkey, GError **errp);

static inline const void *qcrypto_mode_key(const QCryptoModeCtx *c, size_t i)
{
    return c->keys + i * c->key_size;
}

/*
 * One call of a mode: what the block functions take in it, which is the key
 * contexts themselves, or what the cipher's begin made of them.
 */
typedef struct QCryptoModeRun {
    const QCryptoModeCtx *ctx;
    const void *key[2];
} QCryptoModeRun;

/* the part of begin and end for ciphers that have them */
int qcrypto_mode_begin_keys(QCryptoModeRun *run, GError **errp);
int qcrypto_mode_end_keys(QCryptoModeRun *run, GError **errp);

static inline int qcrypto_mode_begin(QCryptoModeRun *run,
                                     const QCryptoModeCtx *c, GError **errp)
{
    run->ctx = c;
    if (c->desc->begin) {
        return qcrypto_mode_begin_keys(run, errp);
    }
    run->key[0] = qcrypto_mode_key(c, 0);
    run->key[1] = qcrypto_mode_key(c, 1);
    return 0;
}

/* -1 when a block function has failed since begin */
static inline int qcrypto_mode_end(QCryptoModeRun *run, GError **errp)
{
    return run->ctx->desc->end ? qcrypto_mode_end_keys(run, errp) : 0;
}

/*
 * dst = a ^ b over len bytes, len a multiple of 8.  dst may be a or b.
 */
static inline void qcrypto_mode_xor(uint8_t *dst, const uint8_t *a,
                                    const uint8_t *b, size_t len)
{
    size_t i;

    for (i = 0; i < len; i += 8) {
        qcrypto_put_le64(dst + i,
                         qcrypto_get_le64(a + i) ^ qcrypto_get_le64(b + i));
    }
}

#endif
