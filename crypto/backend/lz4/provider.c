/*
 * liblz4: the provider
 *
 * The block format (lz4_Block_format.md of the LZ4 project).  The library
 * says of data that it cannot decompress no more than that, so that afterwards
 * a walk along the lengths, which copies nothing, finds out whether the data
 * or the room for it is at fault.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <limits.h>
#include <lz4.h>
#include <lz4hc.h>

#include "crypto/base/rows.h"
#include "crypto/base/secure.h"

/* From here on the thorough method serves, as the lz4 command has it. */
#define LEVEL_HC 3

typedef struct Lz4Ctx {
    int level;
    size_t nstate;
    void *state; /* for compressing; made when first used */
} Lz4Ctx;

static int init(void *ctx, const QCryptoRow *row G_GNUC_UNUSED, int level,
                GError **errp G_GNUC_UNUSED)
{
    Lz4Ctx *x = ctx;

    x->level = level;
    x->nstate =
        (size_t)(level >= LEVEL_HC ? LZ4_sizeofStateHC() : LZ4_sizeofState());
    return 0;
}

static void fini(void *ctx)
{
    Lz4Ctx *x = ctx;

    qcrypto_wipe_free(x->state, x->nstate);
}

static size_t bound(const QCryptoRow *row G_GNUC_UNUSED, size_t n)
{
    return n <= LZ4_MAX_INPUT_SIZE ? (size_t)LZ4_compressBound((int)n) : 0;
}

static QCryptoCompStatus compress(void *ctx, const uint8_t *in, size_t inlen,
                                  uint8_t *out, size_t *outlen)
{
    Lz4Ctx *x = ctx;
    const char *src = (const char *)in;
    char *dst = (char *)out;
    /* inlen has a bound, and so is within LZ4_MAX_INPUT_SIZE */
    const int n = (int)inlen;
    const int room = (int)MIN(*outlen, INT_MAX);

    if (!x->state && !(x->state = qcrypto_alloc(x->nstate))) {
        return QCRYPTO_COMP_NO_MEMORY;
    }
    const int done =
        x->level >= LEVEL_HC
            ? LZ4_compress_HC_extStateHC(x->state, src, dst, n, room, x->level)
            : LZ4_compress_fast_extState(x->state, src, dst, n, room,
                                         x->level < 0 ? 1 - x->level : 1);
    if (done <= 0) {
        return QCRYPTO_COMP_NO_SPACE;
    }
    *outlen = (size_t)done;
    return QCRYPTO_COMP_DONE;
}

/* A length that begins in four bits and may go on in bytes; false: cut short. */
static bool read_length(const uint8_t *in, size_t n, size_t *at, uint64_t *len)
{
    uint8_t more = 255;

    /* each byte adds 255 at most, and there are less than 2^31 */
    for (bool on = *len == 15; on; on = more == 255) {
        if (*at == n) {
            return false;
        }
        more = in[(*at)++];
        *len += more;
    }
    return true;
}

/* What the block decompresses to; 0: it is no block. */
static uint64_t walk(const uint8_t *in, size_t n)
{
    uint64_t size = 0;
    size_t at = 0;

    while (at < n) {
        const uint8_t token = in[at++];
        uint64_t literals = token >> 4, match = token & 15;

        if (!read_length(in, n, &at, &literals) || literals > n - at) {
            return 0;
        }
        at += (size_t)literals;
        size += literals;
        if (at == n) {
            return size; /* a block ends in literals */
        }
        if (n - at < 2) {
            return 0;
        }
        const unsigned distance = in[at] | (unsigned)in[at + 1] << 8;
        at += 2;
        if (!distance || distance > size || !read_length(in, n, &at, &match)) {
            return 0;
        }
        size += match + 4;
    }
    return 0;
}

static QCryptoCompStatus decompress(void *ctx G_GNUC_UNUSED, const uint8_t *in,
                                    size_t *inlen, uint8_t *out, size_t *outlen)
{
    /* no block is longer: its content is within LZ4_MAX_INPUT_SIZE */
    const size_t room = MIN(*outlen, INT_MAX);

    if (*inlen > INT_MAX) {
        return QCRYPTO_COMP_CORRUPT;
    }
    const int done = LZ4_decompress_safe((const char *)in, (char *)out,
                                         (int)*inlen, (int)room);
    if (done >= 0) {
        *outlen = (size_t)done;
        return QCRYPTO_COMP_DONE;
    }
    const uint64_t size = walk(in, *inlen);
    if (size <= room || size > SIZE_MAX) {
        return QCRYPTO_COMP_CORRUPT;
    }
    *outlen = (size_t)size;
    return QCRYPTO_COMP_NO_SPACE;
}

static const QCryptoCompOps ops = {
    .ctx_size = sizeof(Lz4Ctx),
    .init = init,
    .fini = fini,
    .bound = bound,
    .compress = compress,
    .decompress = decompress,
};

static const QCryptoRow rows[] = {
    QCRYPTO_COMP_ROW(LZ4, "block", ops, NULL),
};

const QCryptoProvider qcrypto_provider_lz4 = {
    .name = "lz4",
    .version = LZ4_versionString,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
