/*
 * Runs of sectors
 *
 * IVs are made a batch at a time on the stack and go to the cipher with the
 * whole batch, so that a fused kernel sees one long run of data units.  An
 * asynchronous run has all its IVs made when it is submitted.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/async.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/core/async.h"
#include "crypto/core/cipher.h"
#include "crypto/ivgen/ivgen.h"

/* IVs of a batch: 2 KiB of stack, 64 KiB of 512-byte sectors */
#define BATCH 128

static int check(const QCryptoCipher *cipher, size_t sector_size, const void *in,
                 const void *out, size_t nsectors, unsigned flags, GError **errp)
{
    if (!cipher) {
        return qcrypto_error_null(errp, "cipher");
    }
    if (!sector_size || sector_size % 512) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "sector size %zu is not a multiple of 512 bytes",
                             sector_size);
    }
    if (flags & ~(unsigned)QCRYPTO_SECTOR_IV_LARGE_SECTORS) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "unknown sector flags 0x%x", flags);
    }
    size_t len;
    if (__builtin_mul_overflow(nsectors, sector_size, &len) ||
        len > PTRDIFF_MAX) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%zu sectors of %zu bytes are too long", nsectors,
                             sector_size);
    }
    /* over the whole run, before the first batch is written */
    if ((!in || !out) && len) {
        return qcrypto_error_null(errp, in ? "out" : "in");
    }
    if (qcrypto_overlap(in, out, len)) {
        return qcrypto_error_overlap(errp, "a run of sectors");
    }
    return 0;
}

/* From one sector's number to the next one's. */
static uint64_t iv_step(size_t sector_size, unsigned flags)
{
    return flags & QCRYPTO_SECTOR_IV_LARGE_SECTORS ? 1 : sector_size / 512;
}

/*
 * The IVs of n sectors.  benbi numbers blocks of the cipher; a block of the
 * kernel's CTR is one byte, and so dm-crypt counts bytes there.
 */
static int make_ivs(const QCryptoCipher *cipher, const QCryptoIVGen *ivgen,
                    uint64_t first, uint64_t step, size_t n, uint8_t *ivs,
                    size_t niv, GError **errp)
{
    unsigned shift = 0;

    if (qcrypto_cipher_get_mode(cipher) == QCRYPTO_CIPHER_MODE_CTR && ivgen &&
        qcrypto_ivgen_get_algorithm(ivgen) == QCRYPTO_IV_GEN_ALGO_BENBI) {
        shift = niv == 8 ? 3 : 4; /* an IV of CTR is a block */
    }
    return qcrypto_ivgen_run(ivgen, first << shift, step << shift, n, ivs, niv,
                             errp);
}

static int sectors(const QCryptoCipher *cipher, int decrypt,
                   const QCryptoIVGen *ivgen, uint64_t iv_sector,
                   size_t sector_size, const uint8_t *in, uint8_t *out,
                   size_t nsectors, unsigned flags, GError **errp)
{
    if (check(cipher, sector_size, in, out, nsectors, flags, errp) < 0) {
        return -1;
    }
    const size_t niv = qcrypto_cipher_niv(cipher);
    const uint64_t step = iv_step(sector_size, flags);
    uint8_t ivs[BATCH * 16];
    int ret = 0;

    for (size_t done = 0; done < nsectors && ret == 0;) {
        const size_t n = MIN(nsectors - done, BATCH);

        if (niv) {
            ret = make_ivs(cipher, ivgen, iv_sector + done * step, step, n, ivs,
                           niv, errp);
        }
        if (ret == 0) {
            ret = qcrypto_cipher_units(cipher, decrypt, niv ? ivs : NULL,
                                       sector_size, in + done * sector_size,
                                       out + done * sector_size, n, errp);
        }
        done += n;
    }
    return ret;
}

int qcrypto_cipher_encrypt_sectors(const QCryptoCipher *cipher,
                                   const QCryptoIVGen *ivgen, uint64_t iv_sector,
                                   size_t sector_size, const void *in, void *out,
                                   size_t nsectors, unsigned flags, GError **errp)
{
    return sectors(cipher, 0, ivgen, iv_sector, sector_size, in, out, nsectors,
                   flags, errp);
}

int qcrypto_cipher_decrypt_sectors(const QCryptoCipher *cipher,
                                   const QCryptoIVGen *ivgen, uint64_t iv_sector,
                                   size_t sector_size, const void *in, void *out,
                                   size_t nsectors, unsigned flags, GError **errp)
{
    return sectors(cipher, 1, ivgen, iv_sector, sector_size, in, out, nsectors,
                   flags, errp);
}

static int submit(QCryptoAsync *async, const QCryptoCipher *cipher, int decrypt,
                  const QCryptoIVGen *ivgen, uint64_t iv_sector,
                  size_t sector_size, const void *in, void *out, size_t nsectors,
                  unsigned flags, QCryptoAsyncDone *done, void *opaque,
                  GError **errp)
{
    if (check(cipher, sector_size, in, out, nsectors, flags, errp) < 0) {
        return -1;
    }
    const size_t niv = qcrypto_cipher_niv(cipher);
    uint8_t *ivs = NULL;

    if (niv) {
        /* a thirty-second of the data, which is in memory, at most */
        ivs = g_try_malloc_n(MAX(nsectors, 1), niv);
        if (!ivs) {
            return qcrypto_error_memory(errp, "the IVs of a run of sectors",
                                        nsectors * niv / 1024 + 1, 0);
        }
        if (make_ivs(cipher, ivgen, iv_sector, iv_step(sector_size, flags),
                     nsectors, ivs, niv, errp) < 0) {
            g_free(ivs);
            return -1;
        }
    }
    return qcrypto_async_units(async, cipher, decrypt, ivs, sector_size, in, out,
                               nsectors, done, opaque, errp);
}

int qcrypto_async_encrypt_sectors(QCryptoAsync *async,
                                  const QCryptoCipher *cipher,
                                  const QCryptoIVGen *ivgen, uint64_t iv_sector,
                                  size_t sector_size, const void *in, void *out,
                                  size_t nsectors, unsigned flags,
                                  QCryptoAsyncDone *done, void *opaque,
                                  GError **errp)
{
    return submit(async, cipher, 0, ivgen, iv_sector, sector_size, in, out,
                  nsectors, flags, done, opaque, errp);
}

int qcrypto_async_decrypt_sectors(QCryptoAsync *async,
                                  const QCryptoCipher *cipher,
                                  const QCryptoIVGen *ivgen, uint64_t iv_sector,
                                  size_t sector_size, const void *in, void *out,
                                  size_t nsectors, unsigned flags,
                                  QCryptoAsyncDone *done, void *opaque,
                                  GError **errp)
{
    return submit(async, cipher, 1, ivgen, iv_sector, sector_size, in, out,
                  nsectors, flags, done, opaque, errp);
}
