/*
 * libdeflate: the provider
 *
 * Deflate of whole buffers, which is all libdeflate does, and what makes it
 * faster than zlib.  It has levels above zlib's 9.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <libdeflate.h>

#include "crypto/base/rows.h"

/* The two formats; the library has a function of each for each. */
typedef struct Format {
    size_t (*compress)(struct libdeflate_compressor *c, const void *in,
                       size_t inlen, void *out, size_t room);
    size_t (*bound)(struct libdeflate_compressor *c, size_t inlen);
    enum libdeflate_result (*decompress)(struct libdeflate_decompressor *d,
                                         const void *in, size_t inlen,
                                         void *out, size_t room, size_t *used,
                                         size_t *written);
} Format;

static const Format zlib_deflate = {
    libdeflate_zlib_compress,
    libdeflate_zlib_compress_bound,
    libdeflate_zlib_decompress_ex,
};

static const Format deflate = {
    libdeflate_deflate_compress,
    libdeflate_deflate_compress_bound,
    libdeflate_deflate_decompress_ex,
};

typedef struct LibdeflateCtx {
    const Format *format;
    int level;
    struct libdeflate_compressor *c; /* made when first used */
    struct libdeflate_decompressor *d;
} LibdeflateCtx;

static int init(void *ctx, const QCryptoRow *row, int level,
                GError **errp G_GNUC_UNUSED)
{
    LibdeflateCtx *x = ctx;

    x->format = row->arg;
    x->level = level;
    return 0;
}

static void fini(void *ctx)
{
    LibdeflateCtx *x = ctx;

    libdeflate_free_compressor(x->c);
    libdeflate_free_decompressor(x->d);
}

static size_t bound(const QCryptoRow *row, size_t n)
{
    const Format *format = row->arg;
    /* NULL: of every level */
    const size_t most = format->bound(NULL, n);

    return most > n ? most : 0;
}

static QCryptoCompStatus compress(void *ctx, const uint8_t *in, size_t inlen,
                                  uint8_t *out, size_t *outlen)
{
    LibdeflateCtx *x = ctx;

    if (!x->c && !(x->c = libdeflate_alloc_compressor(x->level))) {
        return QCRYPTO_COMP_NO_MEMORY;
    }
    *outlen = x->format->compress(x->c, in, inlen, out, *outlen);
    return *outlen ? QCRYPTO_COMP_DONE : QCRYPTO_COMP_NO_SPACE;
}

static QCryptoCompStatus decompress(void *ctx, const uint8_t *in, size_t *inlen,
                                    uint8_t *out, size_t *outlen)
{
    LibdeflateCtx *x = ctx;
    size_t used = 0, written = 0;

    if (!x->d && !(x->d = libdeflate_alloc_decompressor())) {
        return QCRYPTO_COMP_NO_MEMORY;
    }
    const enum libdeflate_result result =
        x->format->decompress(x->d, in, *inlen, out, *outlen, &used, &written);
    *inlen = used;
    *outlen = written;
    return result == LIBDEFLATE_SUCCESS              ? QCRYPTO_COMP_DONE
           : result == LIBDEFLATE_INSUFFICIENT_SPACE ? QCRYPTO_COMP_NO_SPACE
                                                     : QCRYPTO_COMP_CORRUPT;
}

static const QCryptoCompOps ops = {
    .ctx_size = sizeof(LibdeflateCtx),
    .init = init,
    .fini = fini,
    .bound = bound,
    .compress = compress,
    .decompress = decompress,
};

static const QCryptoRow rows[] = {
    QCRYPTO_COMP_ROW(ZLIB_DEFLATE, "buffer", ops, &zlib_deflate),
    QCRYPTO_COMP_ROW(DEFLATE, "buffer", ops, &deflate),
};

/* The library can not tell which release it is; its header can. */
static const char *version(void)
{
    return LIBDEFLATE_VERSION_STRING;
}

const QCryptoProvider qcrypto_provider_libdeflate = {
    .name = "libdeflate",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
