/*
 * The encrypting filter: what an emulator needs of qcrypto
 *
 * One cipher object serves every I/O thread, since the sector calls keep no
 * state in it.  A whole run of sectors goes through one call: the library
 * makes the IVs and keeps the CPU's AES units busy from sector to sector.
 *
 * Reads are decrypted where they arrive, in the guest's own buffer.  Writes
 * go through a bounce buffer, because the guest's memory must not change.
 * A request that cuts a sector reads, changes and writes the whole sector.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>
#include <string.h>

#include "block.h"

enum { BOUNCE = 64 * 1024 };

typedef struct CryptNode {
    BlockNode node;
    BlockNode *file;
    QCryptoCipher *cipher;
    size_t sector_size;
    /* two writes into different parts of one sector must not mix */
    GMutex partial_lock;
} CryptNode;

/* Whole sectors, decrypted in place. */
static int crypt_read_sectors(CryptNode *c, uint64_t offset, uint8_t *buf,
                              size_t len, GError **errp)
{
    if (c->file->read(c->file, offset, buf, len, errp) < 0) {
        return -1;
    }
    return qcrypto_cipher_decrypt_sectors(c->cipher, NULL, offset / 512,
                                          c->sector_size, buf, buf,
                                          len / c->sector_size, 0, errp);
}

/* Whole sectors, not more than the bounce buffer holds. */
static int crypt_write_sectors(CryptNode *c, uint64_t offset,
                               const uint8_t *buf, uint8_t *bounce, size_t len,
                               GError **errp)
{
    if (qcrypto_cipher_encrypt_sectors(c->cipher, NULL, offset / 512,
                                       c->sector_size, buf, bounce,
                                       len / c->sector_size, 0, errp) < 0) {
        return -1;
    }
    return c->file->write(c->file, offset, bounce, len, errp);
}

static int crypt_read(BlockNode *node, uint64_t offset, uint8_t *buf,
                      size_t len, GError **errp)
{
    CryptNode *c = (CryptNode *)node;
    g_autofree uint8_t *sector = NULL;

    while (len) {
        size_t skip = offset % c->sector_size;
        size_t n;

        if (skip == 0 && len >= c->sector_size) {
            n = len - len % c->sector_size;
            if (crypt_read_sectors(c, offset, buf, n, errp) < 0) {
                return -1;
            }
        } else {
            n = MIN(len, c->sector_size - skip);
            if (!sector) {
                sector = g_malloc(c->sector_size);
            }
            if (crypt_read_sectors(c, offset - skip, sector, c->sector_size,
                                   errp) < 0) {
                return -1;
            }
            memcpy(buf, sector + skip, n);
        }
        offset += n;
        buf += n;
        len -= n;
    }
    return 0;
}

/* n bytes inside one sector, skip bytes from its beginning */
static int crypt_write_partial(CryptNode *c, uint64_t start, size_t skip,
                               const uint8_t *buf, size_t n, uint8_t *bounce,
                               GError **errp)
{
    int ret;

    g_mutex_lock(&c->partial_lock);
    ret = crypt_read_sectors(c, start, bounce, c->sector_size, errp);
    if (ret == 0) {
        memcpy(bounce + skip, buf, n);
        ret =
            crypt_write_sectors(c, start, bounce, bounce, c->sector_size, errp);
    }
    g_mutex_unlock(&c->partial_lock);
    return ret;
}

static int crypt_write(BlockNode *node, uint64_t offset, const uint8_t *buf,
                       size_t len, GError **errp)
{
    CryptNode *c = (CryptNode *)node;
    g_autofree uint8_t *bounce = g_malloc(BOUNCE);

    while (len) {
        size_t skip = offset % c->sector_size;
        size_t n;
        int ret;

        if (skip == 0 && len >= c->sector_size) {
            n = MIN(len - len % c->sector_size, BOUNCE);
            ret = crypt_write_sectors(c, offset, buf, bounce, n, errp);
        } else {
            n = MIN(len, c->sector_size - skip);
            ret = crypt_write_partial(c, offset - skip, skip, buf, n, bounce,
                                      errp);
        }
        if (ret < 0) {
            return -1;
        }
        offset += n;
        buf += n;
        len -= n;
    }
    return 0;
}

static void crypt_close(BlockNode *node)
{
    CryptNode *c = (CryptNode *)node;

    qcrypto_cipher_free(c->cipher);
    block_close(c->file);
    g_mutex_clear(&c->partial_lock);
    g_free(c);
}

BlockNode *block_crypt_open(BlockNode *file, const uint8_t *key, size_t nkey,
                            size_t sector_size, GError **errp)
{
    CryptNode *c = g_new0(CryptNode, 1);

    g_mutex_init(&c->partial_lock);
    c->file = file;
    c->sector_size = sector_size;
    c->node.size = file->size;
    c->node.read = crypt_read;
    c->node.write = crypt_write;
    c->node.close = crypt_close;

    if ((sector_size != 512 && sector_size != 4096) ||
        file->size % sector_size) {
        g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT,
                    "sectors have 512 or 4096 bytes and fill the disk");
    } else {
        c->cipher =
            qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_256,
                               QCRYPTO_CIPHER_MODE_XTS, key, nkey, errp);
    }
    if (!c->cipher) {
        crypt_close(&c->node);
        return NULL;
    }
    return &c->node;
}
