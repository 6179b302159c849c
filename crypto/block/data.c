/*
 * The data of an open volume
 *
 * A request is checked whole, then cut at the borders of runs; nearly every
 * volume has one run, and then a request is one sector call.
 *
 * Reading sectors locks nothing.  A write of a part of a sector reads what it
 * keeps and puts it back, so nobody may write there in between; and who reads
 * a part of a sector must not find the others half written, although its
 * bytes do not change: their ciphertext does.  Both are kept away by locks of
 * regions.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/block/block.h"

#define U64 G_GUINT64_FORMAT

/* Bytes between storage and cipher at a time: they stay in the cache. */
#define CHUNK ((size_t)1024 << 10)
/* the largest sector */
#define MAX_SECTOR 4096

/* The run that holds the byte at offset, which lies in the payload. */
static const QCryptoBlockRun *run_at(const QCryptoBlock *b, uint64_t offset)
{
    const QCryptoBlockRun *run = b->runs;

    while (offset - run->start >= run->size) {
        run++;
    }
    return run;
}

/* Bytes of a request that lie in the run. */
static size_t within(const QCryptoBlockRun *run, uint64_t offset, size_t len)
{
    const uint64_t left = run->size - (offset - run->start);

    return left < len ? (size_t)left : len;
}

static bool is_whole(const QCryptoBlockRun *run, uint64_t offset, size_t n)
{
    /* sector sizes are powers of two */
    return !(((offset - run->start) | n) & (run->sector_size - 1));
}

/* A range in the payload of an unlocked volume */
static int check_range(const QCryptoBlock *b, const void *buf, uint64_t offset,
                       uint64_t len, GError **errp)
{
    if (!b || (!buf && len)) {
        return qcrypto_error_null(errp, b ? "buf" : "block");
    }
    if (!b->nruns) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the volume is not unlocked");
    }
    if (offset > b->payload_size || len > b->payload_size - offset) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%" U64 " bytes at %" U64 ": the volume has %" U64
                             " bytes",
                             len, offset, b->payload_size);
    }
    return 0;
}

/* ... that is made of whole sectors */
static int check_sectors(const QCryptoBlock *b, uint64_t offset, uint64_t len,
                         GError **errp)
{
    if ((offset | len) & (b->sector_size - 1)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%" U64 " bytes at %" U64
                             " are not whole sectors of "
                             "%zu bytes",
                             len, offset, b->sector_size);
    }
    return 0;
}

static int check_writable(const QCryptoBlock *b, uint64_t offset, size_t len,
                          GError **errp)
{
    while (len) {
        const QCryptoBlockRun *run = run_at(b, offset);
        const size_t n = within(run, offset, len);

        if (run->no_write) {
            return qcrypto_error_unsupported(
                errp, "writing to this volume",
                "its cipher is cipher_null, which does not encrypt");
        }
        offset += n;
        len -= n;
    }
    return 0;
}

/* n bytes of whole sectors of one run */
static int crypt_run(const QCryptoBlockRun *run, bool decrypt, uint64_t offset,
                     const uint8_t *in, uint8_t *out, size_t n, GError **errp)
{
    const uint64_t iv = run->iv_sector + (offset - run->start) / 512;

    if (!run->cipher) {
        if (in != out) {
            memcpy(out, in, n);
        }
        return 0;
    }
    return decrypt
               ? qcrypto_cipher_decrypt_sectors(run->cipher, run->ivgen, iv,
                                                run->sector_size, in, out,
                                                n / run->sector_size, 0, errp)
               : qcrypto_cipher_encrypt_sectors(run->cipher, run->ivgen, iv,
                                                run->sector_size, in, out,
                                                n / run->sector_size, 0, errp);
}

static int request(const QCryptoBlock *b, bool decrypt, uint64_t offset,
                   const uint8_t *in, uint8_t *out, size_t len, GError **errp)
{
    if (check_range(b, in && out ? in : NULL, offset, len, errp) < 0 ||
        check_sectors(b, offset, len, errp) < 0 ||
        (!decrypt && check_writable(b, offset, len, errp) < 0)) {
        return -1;
    }
    if (qcrypto_overlap(in, out, len)) {
        return qcrypto_error_overlap(errp, "a volume");
    }
    while (len) {
        const QCryptoBlockRun *run = run_at(b, offset);
        const size_t n = within(run, offset, len);

        if (crypt_run(run, decrypt, offset, in, out, n, errp) < 0) {
            return -1;
        }
        offset += n;
        in += n;
        out += n;
        len -= n;
    }
    return 0;
}

int qcrypto_block_encrypt(QCryptoBlock *b, uint64_t offset, uint8_t *buf,
                          size_t len, GError **errp)
{
    return request(b, false, offset, buf, buf, len, errp);
}

int qcrypto_block_decrypt(QCryptoBlock *b, uint64_t offset, uint8_t *buf,
                          size_t len, GError **errp)
{
    return request(b, true, offset, buf, buf, len, errp);
}

int qcrypto_block_encrypt_to(QCryptoBlock *b, uint64_t offset,
                             const uint8_t *in, uint8_t *out, size_t len,
                             GError **errp)
{
    return request(b, false, offset, in, out, len, errp);
}

int qcrypto_block_decrypt_to(QCryptoBlock *b, uint64_t offset,
                             const uint8_t *in, uint8_t *out, size_t len,
                             GError **errp)
{
    return request(b, true, offset, in, out, len, errp);
}

/* ---- through the storage ---- */

/* A qcow volume may be opened for buffers alone. */
static int check_storage(const QCryptoBlock *b, GError **errp)
{
    return b->io ? 0 : qcrypto_error_null(errp, "the volume's io");
}

static uint64_t in_storage(const QCryptoBlockRun *run, uint64_t offset)
{
    return run->offset + (offset - run->start);
}

/* Sectors are smaller than a region and do not lie across a border. */
static size_t region_of(uint64_t offset)
{
    return offset / CHUNK % QCRYPTO_BLOCK_REGIONS;
}

/* A piece is no longer than a region: it lies in two at most. */
static void share_regions(QCryptoBlock *b, uint64_t offset, size_t n)
{
    const size_t first = region_of(offset), last = region_of(offset + n - 1);

    /* everybody in this order */
    g_rw_lock_reader_lock(&b->regions[MIN(first, last)]);
    if (first != last) {
        g_rw_lock_reader_lock(&b->regions[MAX(first, last)]);
    }
}

static void unshare_regions(QCryptoBlock *b, uint64_t offset, size_t n)
{
    const size_t first = region_of(offset), last = region_of(offset + n - 1);

    g_rw_lock_reader_unlock(&b->regions[first]);
    if (first != last) {
        g_rw_lock_reader_unlock(&b->regions[last]);
    }
}

static int read_sectors(QCryptoBlock *b, const QCryptoBlockRun *run,
                        uint64_t offset, uint8_t *buf, size_t n, GError **errp)
{
    if (b->io->read(b, in_storage(run, offset), buf, n, b->io->opaque, errp) <
        0) {
        return -1;
    }
    return crypt_run(run, true, offset, buf, buf, n, errp);
}

/* bounce has n bytes, or is NULL for a run that is not encrypted */
static int write_sectors(QCryptoBlock *b, const QCryptoBlockRun *run,
                         uint64_t offset, const uint8_t *buf, uint8_t *bounce,
                         size_t n, GError **errp)
{
    if (run->cipher) {
        if (crypt_run(run, false, offset, buf, bounce, n, errp) < 0) {
            return -1;
        }
        buf = bounce;
    }
    return b->io->write(b, in_storage(run, offset), buf, n, b->io->opaque,
                        errp);
}

/*
 * The next piece of a request of len bytes: whole sectors of one run, as many
 * as fit a chunk, or (*before, *part) what the request has of one sector.
 */
static size_t next_piece(const QCryptoBlockRun *run, uint64_t offset,
                         size_t len, size_t *before)
{
    const size_t mask = run->sector_size - 1;
    size_t n = within(run, offset, len);

    *before = (size_t)(offset - run->start) & mask;
    if (*before) {
        return MIN(n, run->sector_size - *before);
    }
    n = MIN(n, CHUNK);
    return n > mask ? n & ~mask : n;
}

static int read_piece(QCryptoBlock *b, const QCryptoBlockRun *run,
                      uint64_t offset, uint8_t *buf, size_t n, size_t before,
                      GError **errp)
{
    uint8_t sector[MAX_SECTOR];
    int ret;

    if (is_whole(run, offset, n)) {
        return read_sectors(b, run, offset, buf, n, errp);
    }
    share_regions(b, offset, n);
    ret = read_sectors(b, run, offset - before, sector, run->sector_size, errp);
    unshare_regions(b, offset, n);
    if (ret == 0) {
        memcpy(buf, sector + before, n);
    }
    qcrypto_wipe(sector, sizeof(sector));
    return ret;
}

int qcrypto_block_pread(QCryptoBlock *b, uint64_t offset, uint8_t *buf,
                        size_t len, GError **errp)
{
    uint8_t *const start = buf;
    const size_t all = len;

    if (check_range(b, buf, offset, len, errp) < 0 ||
        check_storage(b, errp) < 0) {
        if (buf) {
            memset(buf, 0, len);
        }
        return -1;
    }
    while (len) {
        const QCryptoBlockRun *run = run_at(b, offset);
        size_t before;
        const size_t n = next_piece(run, offset, len, &before);

        if (read_piece(b, run, offset, buf, n, before, errp) < 0) {
            memset(start, 0, all);
            return -1;
        }
        offset += n;
        buf += n;
        len -= n;
    }
    return 0;
}

static int write_whole(QCryptoBlock *b, const QCryptoBlockRun *run,
                       uint64_t offset, const uint8_t *buf, uint8_t *bounce,
                       size_t n, GError **errp)
{
    share_regions(b, offset, n);
    const int ret = write_sectors(b, run, offset, buf, bounce, n, errp);
    unshare_regions(b, offset, n);
    return ret;
}

static int write_part(QCryptoBlock *b, const QCryptoBlockRun *run,
                      uint64_t offset, const uint8_t *buf, size_t n,
                      size_t before, GError **errp)
{
    uint8_t sector[MAX_SECTOR];
    GRWLock *region = &b->regions[region_of(offset)];
    int ret;

    g_rw_lock_writer_lock(region);
    ret = read_sectors(b, run, offset - before, sector, run->sector_size, errp);
    if (ret == 0) {
        memcpy(sector + before, buf, n);
        ret = write_sectors(b, run, offset - before, sector, sector,
                            run->sector_size, errp);
    }
    g_rw_lock_writer_unlock(region);
    qcrypto_wipe(sector, sizeof(sector));
    return ret;
}

int qcrypto_block_pwrite(QCryptoBlock *b, uint64_t offset, const uint8_t *buf,
                         size_t len, GError **errp)
{
    if (check_range(b, buf, offset, len, errp) < 0 ||
        check_storage(b, errp) < 0 ||
        check_writable(b, offset, len, errp) < 0) {
        return -1;
    }
    if (!b->io->write) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "the volume's storage is read-only");
    }
    const size_t room = MIN(len, CHUNK);
    uint8_t *bounce = qcrypto_alloc_unset(MAX(room, 1));
    int ret = bounce ? 0
                     : qcrypto_error_memory(errp, "a write to a volume",
                                            room / 1024 + 1, 0);
    while (ret == 0 && len) {
        const QCryptoBlockRun *run = run_at(b, offset);
        size_t before;
        const size_t n = next_piece(run, offset, len, &before);

        ret = is_whole(run, offset, n)
                  ? write_whole(b, run, offset, buf, bounce, n, errp)
                  : write_part(b, run, offset, buf, n, before, errp);
        offset += n;
        buf += n;
        len -= n;
    }
    /* ciphertext, but for a call that failed half way */
    if (ret < 0) {
        qcrypto_wipe_free(bounce, bounce ? room : 0);
    } else {
        free(bounce);
    }
    return ret;
}

int qcrypto_block_flush(QCryptoBlock *b, GError **errp)
{
    if (!b) {
        return qcrypto_error_null(errp, "block");
    }
    return b->io && b->io->flush ? b->io->flush(b, b->io->opaque, errp) : 0;
}

int qcrypto_block_discard(QCryptoBlock *b, uint64_t offset, uint64_t len,
                          GError **errp)
{
    if (check_range(b, b, offset, len, errp) < 0 ||
        check_sectors(b, offset, len, errp) < 0) {
        return -1;
    }
    if (!b->io || !b->io->discard) {
        return 0;
    }
    while (len) {
        const QCryptoBlockRun *run = run_at(b, offset);
        const uint64_t left = run->size - (offset - run->start);
        const uint64_t n = MIN(left, len);

        if (b->io->discard(b, in_storage(run, offset), n, b->io->opaque, errp) <
            0) {
            return -1;
        }
        offset += n;
        len -= n;
    }
    return 0;
}
