/*
 * Compression of whole buffers: clusters, sectors, pages
 *
 *     QCryptoComp *comp = qcrypto_comp_new(QCRYPTO_COMP_ALGO_ZSTD,
 *                                          QCRYPTO_COMP_LEVEL_DEFAULT, &err);
 *     size_t n = sizeof(packed);                       room
 *     if (qcrypto_comp_compress(comp, cluster, 65536, packed, &n, &err) < 0) {
 *         NO_SPACE: it is kept as it is
 *     }
 *     size_t m = 65536;
 *     qcrypto_comp_decompress(comp, packed, n, cluster, &m, &err);
 *
 * Formats:
 *
 *   zlib-deflate   RFC 1950: raw deflate between a header and an Adler-32
 *   deflate        RFC 1951, raw, with a window of 32 KiB
 *   zstd           RFC 8878, one frame.  Frames that are made carry the size
 *                  of their content and no checksum; a checksum that is there
 *                  is checked.  No dictionaries.
 *   lz4            one block of the LZ4 block format, as in the Linux kernel
 *                  and in file systems; neither size nor checksum is in it
 *
 * Two libraries do not compress to the same bytes, and one library may
 * compress differently in its next release; any of them decompresses what
 * any other made.
 *
 * Sizes.  *outlen is in and out: the room at out, and what of it was used.
 * qcrypto_comp_bound() tells the room with which compression cannot fail; less
 * may be given, and asks whether the data is worth it.  When decompressing
 * *outlen is the limit, whatever the data says of its own size: nothing is
 * allocated by a field of the data.
 *
 * Errors that a caller can act on:
 *
 *   NO_SPACE       the room is too small; the text names what is needed where
 *                  that is known: the bound when compressing, the exact size
 *                  for lz4, the size that the frame claims for zstd, which is
 *                  its word alone
 *   CORRUPT_DATA   the data is damaged, cut short, empty, or another format's;
 *                  or bytes follow its end (qcrypto_comp_decompress_prefix()
 *                  allows those)
 *
 * Damaged data can also ask for more room than it ought to; that is NO_SPACE
 * until there is so much.  Only zlib-deflate, and zstd frames with a
 * checksum, detect every kind of accidental damage; in the others a changed
 * byte may pass for other content (liblz4 takes even a distance of 0, which its
 * format forbids: the content is then what the room held before).
 *
 * A call that fails leaves no part of a result behind: arguments that are
 * refused leave out as it was, and whatever fails later sets all of the room
 * at out to zero.  *outlen (and *inlen) are as they were.
 *
 * in and out may not overlap.  in may be NULL for no bytes, out for no room.
 *
 * Threads: an object is used by one thread at a time, the one-shot calls by
 * any.  The time taken depends on the data, and the size of what comes out
 * tells about it; state of the libraries that has seen it is freed and not
 * wiped.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_COMP_H
#define QCRYPTO_COMP_H

#include <limits.h>
#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

typedef struct QCryptoComp QCryptoComp;

/* The level that the format's own tools take when none is named. */
#define QCRYPTO_COMP_LEVEL_DEFAULT INT_MIN

/* "zlib-deflate", ...; NULL for a number that is no algorithm.  Look-up: -1. */
QCRYPTO_API const char *qcrypto_comp_algo_name(QCryptoCompAlgo alg);
QCRYPTO_API int qcrypto_comp_algo_from_name(const char *name);

/* True when _new() works at the default level. */
QCRYPTO_API bool qcrypto_comp_supports(QCryptoCompAlgo alg);

/*
 * The levels: the larger the number, the slower and smaller.  Any of the
 * pointers may be NULL; -1 for a number that is no algorithm.
 *
 *   zlib-deflate, deflate   0 (stored) to 12, default 6; above 9 only where
 *                           libdeflate is built in
 *   zstd                    -131072 to 22, default 3; 0 is the default too
 *   lz4                     from 3 to 12 as the command's (lz4hc in the
 *                           kernel); below that the fast method, where -n
 *                           accelerates by n + 1; default 0
 */
QCRYPTO_API int qcrypto_comp_levels(QCryptoCompAlgo alg, int *min, int *max,
                                    int *usual);

/*
 * Bytes that len compress to at most, whoever serves and at whatever level;
 * 0 when they are too many (lz4: above 2113929216) or nobody offers alg.
 */
QCRYPTO_API size_t qcrypto_comp_bound(QCryptoCompAlgo alg, size_t len);

/*
 * An object of one algorithm and level for both directions.  It keeps the
 * library's state from call to call, up to a megabyte at usual levels, made
 * with the first call of its direction.
 */
QCRYPTO_API QCryptoComp *qcrypto_comp_new(QCryptoCompAlgo alg, int level,
                                          GError **errp);
/* from one provider, or one implementation: "zlib", "zlib:stream" */
QCRYPTO_API QCryptoComp *qcrypto_comp_new_from(const char *provider,
                                               QCryptoCompAlgo alg, int level,
                                               GError **errp);
QCRYPTO_API const char *qcrypto_comp_get_provider(const QCryptoComp *comp);
QCRYPTO_API const char *qcrypto_comp_get_impl(const QCryptoComp *comp);

QCRYPTO_API int qcrypto_comp_compress(QCryptoComp *comp, const void *in,
                                      size_t inlen, void *out, size_t *outlen,
                                      GError **errp);
QCRYPTO_API int qcrypto_comp_decompress(QCryptoComp *comp, const void *in,
                                        size_t inlen, void *out, size_t *outlen,
                                        GError **errp);
/*
 * The same for data that other bytes may follow (an image format that rounds
 * up to sectors): *inlen becomes the length of what was decompressed.  lz4 is
 * UNSUPPORTED: a block does not say where it ends.
 */
QCRYPTO_API int qcrypto_comp_decompress_prefix(QCryptoComp *comp,
                                               const void *in, size_t *inlen,
                                               void *out, size_t *outlen,
                                               GError **errp);
/* NULL is allowed. */
QCRYPTO_API void qcrypto_comp_free(QCryptoComp *comp);

/* With an object of their own. */
QCRYPTO_API int qcrypto_comp_compress_bytes(QCryptoCompAlgo alg, int level,
                                            const void *in, size_t inlen,
                                            void *out, size_t *outlen,
                                            GError **errp);
QCRYPTO_API int qcrypto_comp_decompress_bytes(QCryptoCompAlgo alg,
                                              const void *in, size_t inlen,
                                              void *out, size_t *outlen,
                                              GError **errp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(QCryptoComp, qcrypto_comp_free)

G_END_DECLS

#endif
