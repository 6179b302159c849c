/*
 * libzstd: the provider
 *
 * One frame a call.  The library would decompress any number of frames in a
 * row, and those of its releases before the format was settled; here what is
 * behind the first frame is the caller's affair, and older formats are
 * refused.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <zstd.h>
#include <zstd_errors.h>

#include "crypto/base/bytes.h"
#include "crypto/base/rows.h"

/* RFC 8878, 3.1: a frame, and one that is there to be skipped (any of 16) */
#define MAGIC          0xfd2fb528u
#define MAGIC_SKIP     0x184d2a50u
#define MAGIC_SKIP_ANY 0xfffffff0u

typedef struct ZstdCtx {
    int level;
    ZSTD_CCtx *c; /* made when first used */
    ZSTD_DCtx *d;
} ZstdCtx;

static int init(void *ctx, const QCryptoRow *row G_GNUC_UNUSED, int level,
                GError **errp G_GNUC_UNUSED)
{
    ZstdCtx *x = ctx;

    x->level = level;
    return 0;
}

static void fini(void *ctx)
{
    ZstdCtx *x = ctx;

    ZSTD_freeCCtx(x->c);
    ZSTD_freeDCtx(x->d);
}

static size_t bound(const QCryptoRow *row G_GNUC_UNUSED, size_t n)
{
    const size_t most = ZSTD_compressBound(n);

    /* what is too long is an error code or has overflown */
    return !ZSTD_isError(most) && most > n ? most : 0;
}

/* Of a result that is an error. */
static QCryptoCompStatus status_of(size_t result, QCryptoCompStatus otherwise)
{
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(result);

    return code == ZSTD_error_dstSize_tooSmall    ? QCRYPTO_COMP_NO_SPACE
           : code == ZSTD_error_memory_allocation ? QCRYPTO_COMP_NO_MEMORY
                                                  : otherwise;
}

static QCryptoCompStatus compress(void *ctx, const uint8_t *in, size_t inlen,
                                  uint8_t *out, size_t *outlen)
{
    ZstdCtx *x = ctx;

    if (!x->c && !(x->c = ZSTD_createCCtx())) {
        return QCRYPTO_COMP_NO_MEMORY;
    }
    const size_t n = ZSTD_compressCCtx(x->c, out, *outlen, in, inlen, x->level);
    if (ZSTD_isError(n)) {
        return status_of(n, QCRYPTO_COMP_BROKEN);
    }
    *outlen = n;
    return QCRYPTO_COMP_DONE;
}

static bool is_frame(const uint8_t *in, size_t n)
{
    const uint32_t magic = n >= 4 ? qcrypto_get_le32(in) : 0;

    return magic == MAGIC || (magic & MAGIC_SKIP_ANY) == MAGIC_SKIP;
}

/* What the frame claims, if that is any news to the caller. */
static size_t claimed_size(const uint8_t *in, size_t n, size_t room)
{
    const unsigned long long size = ZSTD_getFrameContentSize(in, n);

    return size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR &&
                   size > room && size <= SIZE_MAX
               ? (size_t)size
               : 0;
}

static QCryptoCompStatus decompress(void *ctx, const uint8_t *in, size_t *inlen,
                                    uint8_t *out, size_t *outlen)
{
    ZstdCtx *x = ctx;

    if (!x->d && !(x->d = ZSTD_createDCtx())) {
        return QCRYPTO_COMP_NO_MEMORY;
    }
    if (!is_frame(in, *inlen)) {
        return QCRYPTO_COMP_CORRUPT;
    }
    /* walks from block to block, within *inlen */
    const size_t frame = ZSTD_findFrameCompressedSize(in, *inlen);
    if (ZSTD_isError(frame)) {
        return QCRYPTO_COMP_CORRUPT;
    }
    const size_t n = ZSTD_decompressDCtx(x->d, out, *outlen, in, frame);
    if (ZSTD_isError(n)) {
        const QCryptoCompStatus status = status_of(n, QCRYPTO_COMP_CORRUPT);

        *outlen = claimed_size(in, frame, *outlen);
        return status;
    }
    *inlen = frame;
    *outlen = n;
    return QCRYPTO_COMP_DONE;
}

static const QCryptoCompOps ops = {
    .ctx_size = sizeof(ZstdCtx),
    .init = init,
    .fini = fini,
    .bound = bound,
    .compress = compress,
    .decompress = decompress,
};

static const QCryptoRow rows[] = {
    QCRYPTO_COMP_ROW(ZSTD, "frame", ops, NULL),
};

const QCryptoProvider qcrypto_provider_zstd = {
    .name = "zstd",
    .version = ZSTD_versionString,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
