/*
 * zlib: the provider
 *
 * zlib's streams, of which each call here is a whole one.  Its counts are
 * unsigned ints, so that longer buffers go in pieces; and it says of an output
 * that is full and an input that is used up the same whether more output was
 * to come or more input was missing, so that one spare byte has to find out.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <zlib.h>

#include "crypto/base/error.h"
#include "crypto/base/rows.h"

#define LEVEL_MAX 9

/* The window: log2 of its bytes, negative without zlib's header. */
static const int zlib_deflate = MAX_WBITS;
static const int raw_deflate = -MAX_WBITS;

typedef struct ZlibCtx {
    int window;
    int level;
    bool has_deflate, has_inflate; /* made when first used */
    z_stream deflate, inflate;
} ZlibCtx;

static int init(void *ctx, const QCryptoRow *row, int level, GError **errp)
{
    ZlibCtx *x = ctx;

    if (level > LEVEL_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             "zlib has levels 0 to %d", LEVEL_MAX);
    }
    x->window = *(const int *)row->arg;
    x->level = level;
    return 0;
}

static void fini(void *ctx)
{
    ZlibCtx *x = ctx;

    if (x->has_deflate) {
        deflateEnd(&x->deflate);
    }
    if (x->has_inflate) {
        inflateEnd(&x->inflate);
    }
}

static size_t bound(const QCryptoRow *row G_GNUC_UNUSED, size_t n)
{
    const uLong most = (uLong)n == n ? compressBound((uLong)n) : 0;

    return most > n ? most : 0;
}

/* A buffer of any length as zlib's pair of pointer and count sees it. */
static void top_up(uInt *avail, size_t *left)
{
    if (!*avail) {
        *avail = (uInt)MIN(*left, UINT_MAX);
        *left -= *avail;
    }
}

static QCryptoCompStatus compress_stream(z_stream *z, const uint8_t *in,
                                         size_t inlen, uint8_t *out,
                                         size_t *outlen)
{
    size_t in_left = inlen, out_left = *outlen;
    int ret;

    z->next_in = (Bytef *)(uintptr_t)in;
    z->next_out = out;
    z->avail_in = z->avail_out = 0;
    do {
        top_up(&z->avail_in, &in_left);
        top_up(&z->avail_out, &out_left);
        ret = deflate(z, in_left ? Z_NO_FLUSH : Z_FINISH);
    } while ((ret == Z_OK || ret == Z_BUF_ERROR) && (z->avail_out || out_left));
    *outlen -= out_left + z->avail_out;
    return ret == Z_STREAM_END                 ? QCRYPTO_COMP_DONE
           : ret == Z_OK || ret == Z_BUF_ERROR ? QCRYPTO_COMP_NO_SPACE
                                               : QCRYPTO_COMP_BROKEN;
}

static QCryptoCompStatus compress_all(void *ctx, const uint8_t *in,
                                      size_t inlen, uint8_t *out,
                                      size_t *outlen)
{
    ZlibCtx *x = ctx;

    if (!x->has_deflate) {
        if (deflateInit2(&x->deflate, x->level, Z_DEFLATED, x->window,
                         MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) != Z_OK) {
            return QCRYPTO_COMP_NO_MEMORY;
        }
        x->has_deflate = true;
    } else if (deflateReset(&x->deflate) != Z_OK) {
        return QCRYPTO_COMP_BROKEN;
    }
    return compress_stream(&x->deflate, in, inlen, out, outlen);
}

/* All room is used: is there more to come?  Else the input was cut short. */
static bool wants_more(z_stream *z)
{
    uint8_t spare;

    z->next_out = &spare;
    z->avail_out = 1;
    inflate(z, Z_FINISH);
    return !z->avail_out;
}

static QCryptoCompStatus decompress_stream(z_stream *z, const uint8_t *in,
                                           size_t *inlen, uint8_t *out,
                                           size_t *outlen)
{
    size_t in_left = *inlen, out_left = *outlen;
    int ret;

    z->next_in = (Bytef *)(uintptr_t)in;
    z->next_out = out;
    z->avail_in = z->avail_out = 0;
    do {
        top_up(&z->avail_in, &in_left);
        top_up(&z->avail_out, &out_left);
        ret = inflate(z, Z_FINISH);
        /* a call ends when one of the two is used up */
    } while ((ret == Z_OK || ret == Z_BUF_ERROR) &&
             ((!z->avail_in && in_left) || (!z->avail_out && out_left)));
    *inlen -= in_left + z->avail_in;
    *outlen -= out_left + z->avail_out;
    if (ret == Z_STREAM_END) {
        return QCRYPTO_COMP_DONE;
    }
    if (ret == Z_MEM_ERROR) {
        return QCRYPTO_COMP_NO_MEMORY;
    }
    if ((ret == Z_OK || ret == Z_BUF_ERROR) && !z->avail_out && wants_more(z)) {
        *outlen = 0;
        return QCRYPTO_COMP_NO_SPACE;
    }
    /* data errors, and a dictionary that nobody has */
    return QCRYPTO_COMP_CORRUPT;
}

static QCryptoCompStatus decompress_all(void *ctx, const uint8_t *in,
                                        size_t *inlen, uint8_t *out,
                                        size_t *outlen)
{
    ZlibCtx *x = ctx;

    if (!x->has_inflate) {
        if (inflateInit2(&x->inflate, x->window) != Z_OK) {
            return QCRYPTO_COMP_NO_MEMORY;
        }
        x->has_inflate = true;
    } else if (inflateReset(&x->inflate) != Z_OK) {
        return QCRYPTO_COMP_BROKEN;
    }
    return decompress_stream(&x->inflate, in, inlen, out, outlen);
}

static const QCryptoCompOps ops = {
    .ctx_size = sizeof(ZlibCtx),
    .init = init,
    .fini = fini,
    .bound = bound,
    .compress = compress_all,
    .decompress = decompress_all,
};

static const QCryptoRow rows[] = {
    QCRYPTO_COMP_ROW(ZLIB_DEFLATE, "stream", ops, &zlib_deflate),
    QCRYPTO_COMP_ROW(DEFLATE, "stream", ops, &raw_deflate),
};

const QCryptoProvider qcrypto_provider_zlib = {
    .name = "zlib",
    .version = zlibVersion,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
