/*
 * CTR over any block cipher (NIST SP 800-38A, 6.5)
 *
 * The counter is the whole block, a big-endian number that wraps at its own
 * length.  A batch of counters becomes a batch of key stream; encryption and
 * decryption are the same.  A last partial block uses up its whole counter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/secure.h"
#include "crypto/mode/context.h"
#include "crypto/mode/mode.h"

/* n counters from iv on into stream; iv is left as the next. */
static void ctr_counters(uint8_t *iv, size_t bl, uint8_t *stream, size_t n)
{
    /* the number's high half, 0 where the block has 8 bytes: there its
     * carry goes nowhere, as the wrapping wants */
    uint64_t hi = bl == 16 ? qcrypto_get_be64(iv) : 0;
    uint64_t lo = qcrypto_get_be64(iv + bl - 8);
    size_t i;

    for (i = 0; i < n; i++) {
        if (bl == 16) {
            qcrypto_put_be64(stream, hi);
        }
        qcrypto_put_be64(stream + bl - 8, lo);
        stream += bl;
        lo++;
        hi += lo == 0;
    }
    if (bl == 16) {
        qcrypto_put_be64(iv, hi);
    }
    qcrypto_put_be64(iv + bl - 8, lo);
}

static int ctr_crypt(const void *ctx, uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len, GError **errp)
{
    const QCryptoModeCtx *c = ctx;
    QCryptoModeRun run;
    size_t bl = c->desc->block_len;
    uint8_t stream[QCRYPTO_MODE_BATCH];
    size_t used = (MIN(len, sizeof(stream)) + bl - 1) / bl * bl;

    if (qcrypto_mode_begin(&run, c, errp) < 0) {
        return -1;
    }
    while (len) {
        size_t part = MIN(len, sizeof(stream));
        size_t blocks = (part + bl - 1) / bl;
        size_t words = part & ~(size_t)7;
        size_t i;

        ctr_counters(iv, bl, stream, blocks);
        c->desc->encrypt(run.key[0], blocks * bl, stream, stream);
        qcrypto_mode_xor(out, in, stream, words);
        for (i = words; i < part; i++) {
            out[i] = in[i] ^ stream[i];
        }
        in += part;
        out += part;
        len -= part;
    }
    qcrypto_wipe(stream, used);
    return qcrypto_mode_end(&run, errp);
}

const QCryptoCipherOps qcrypto_mode_ctr = {
    .ctx_size = qcrypto_mode_ctx_size,
    .init = qcrypto_mode_init,
    .fini = qcrypto_mode_fini,
    .crypt = {ctr_crypt, ctr_crypt},
};
