/*
 * The anti-forensic split (LUKS1 On-Disk Format Specification 1.2.3, 2.4)
 *
 * Diffusion hashes a block piece by piece, each piece of one digest behind
 * its 32-bit big-endian number; the last piece may be shorter and takes the
 * start of its digest.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/afsplit.h>
#include <qcrypto/hash.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/rng/kernel.h"

#define MAX_DIGEST 64

static int diffuse(QCryptoHashAlgo hash, uint8_t *block, size_t blocklen,
                   GError **errp)
{
    const size_t n = qcrypto_hash_digest_len(hash);
    uint8_t digest[MAX_DIGEST];
    int ret = 0;

    /* blocklen was checked: the number fits 32 bits */
    for (size_t done = 0, i = 0; done < blocklen && ret == 0; done += n, i++) {
        const uint8_t index[4] = {(uint8_t)(i >> 24), (uint8_t)(i >> 16),
                                  (uint8_t)(i >> 8), (uint8_t)i};
        const size_t piece = MIN(n, blocklen - done);
        const struct iovec iov[2] = {
            {.iov_base = (void *)(uintptr_t)index, .iov_len = sizeof(index)},
            {.iov_base = block + done, .iov_len = piece},
        };
        uint8_t *out = digest;
        size_t nout = n;

        ret = qcrypto_hash_bytesv(hash, iov, 2, &out, &nout, errp);
        if (ret == 0) {
            memcpy(block + done, digest, piece);
        }
    }
    qcrypto_wipe(digest, sizeof(digest));
    return ret;
}

/* acc = diffuse(acc ^ block), for every stripe but the last */
static int fold(QCryptoHashAlgo hash, size_t blocklen, uint32_t stripes,
                const uint8_t *in, uint8_t *acc, GError **errp)
{
    memset(acc, 0, blocklen);
    for (uint32_t s = 0; s + 1 < stripes; s++) {
        for (size_t i = 0; i < blocklen; i++) {
            acc[i] ^= in[(size_t)s * blocklen + i];
        }
        if (diffuse(hash, acc, blocklen, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* block: the key, whole; material: what it is split into */
static int check(QCryptoHashAlgo hash, size_t blocklen, uint32_t stripes,
                 const void *block, const void *material, GError **errp)
{
    if (!qcrypto_hash_digest_len(hash)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "unknown hash %d", (int)hash);
    }
    if (!blocklen || !stripes || blocklen > UINT32_MAX ||
        blocklen > PTRDIFF_MAX / stripes) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "no anti-forensic split has %" G_GUINT32_FORMAT
                             " stripes of %zu bytes",
                             stripes, blocklen);
    }
    /* the one has blocklen bytes, the other as many more as there are
     * stripes: whichever begins first must end before the other begins */
    const uintptr_t key = (uintptr_t)block, all = (uintptr_t)material;
    if (key < all ? all - key < blocklen : key - all < blocklen * stripes) {
        return qcrypto_error_overlap(errp, "anti-forensic split");
    }
    return 0;
}

int qcrypto_afsplit_encode(QCryptoHashAlgo hash, size_t blocklen,
                           uint32_t stripes, const uint8_t *in, uint8_t *out,
                           GError **errp)
{
    if (!in || !out) {
        return qcrypto_error_null(errp, in ? "out" : "in");
    }
    if (check(hash, blocklen, stripes, in, out, errp) < 0) {
        return -1;
    }
    const size_t random = (size_t)(stripes - 1) * blocklen;
    uint8_t *last = out + random;

    if (qcrypto_kernel_random(out, random, errp) < 0 ||
        fold(hash, blocklen, stripes, out, last, errp) < 0) {
        qcrypto_wipe(out, random + blocklen);
        return -1;
    }
    for (size_t i = 0; i < blocklen; i++) {
        last[i] ^= in[i];
    }
    return 0;
}

int qcrypto_afsplit_decode(QCryptoHashAlgo hash, size_t blocklen,
                           uint32_t stripes, const uint8_t *in, uint8_t *out,
                           GError **errp)
{
    if (!in || !out) {
        return qcrypto_error_null(errp, in ? "out" : "in");
    }
    if (check(hash, blocklen, stripes, out, in, errp) < 0) {
        return -1;
    }
    if (fold(hash, blocklen, stripes, in, out, errp) < 0) {
        qcrypto_wipe(out, blocklen);
        return -1;
    }
    for (size_t i = 0; i < blocklen; i++) {
        out[i] ^= in[(size_t)(stripes - 1) * blocklen + i];
    }
    return 0;
}
