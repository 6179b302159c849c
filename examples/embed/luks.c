/*
 * The LUKS driver: a volume of LUKS1 or LUKS2 as a node
 *
 * The library reaches the node below through callbacks, so that headers and
 * data may lie in whatever the emulator has for storage.  After that it
 * reads, decrypts, encrypts and writes by itself, at any offset and length,
 * and for as many I/O threads as there are.  (A driver that schedules its own
 * requests takes qcrypto_block_encrypt() and _decrypt(), which work on its
 * buffers.)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include "block.h"

typedef struct LuksNode {
    BlockNode node;
    BlockNode *file;
    QCryptoBlockIO io;
    QCryptoBlock *volume;
} LuksNode;

static int io_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                   uint8_t *buf, size_t buflen, void *opaque, GError **errp)
{
    return block_read(opaque, offset, buf, buflen, errp);
}

static int io_write(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                    const uint8_t *buf, size_t buflen, void *opaque,
                    GError **errp)
{
    return block_write(opaque, offset, buf, buflen, errp);
}

static int io_get_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                       void *opaque, GError **errp G_GNUC_UNUSED)
{
    *size = ((BlockNode *)opaque)->size;
    return 0;
}

static int luks_read(BlockNode *node, uint64_t offset, uint8_t *buf, size_t len,
                     GError **errp)
{
    return qcrypto_block_pread(((LuksNode *)node)->volume, offset, buf, len,
                               errp);
}

static int luks_write(BlockNode *node, uint64_t offset, const uint8_t *buf,
                      size_t len, GError **errp)
{
    return qcrypto_block_pwrite(((LuksNode *)node)->volume, offset, buf, len,
                                errp);
}

static void luks_close(BlockNode *node)
{
    LuksNode *l = (LuksNode *)node;

    qcrypto_block_free(l->volume);
    block_close(l->file);
    g_free(l);
}

bool block_luks_probe(BlockNode *file)
{
    uint8_t head[8];

    return file->size >= sizeof(head) &&
           block_read(file, 0, head, sizeof(head), NULL) == 0 &&
           qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, head,
                                    sizeof(head));
}

BlockNode *block_luks_open(BlockNode *file, const uint8_t *passphrase,
                           size_t npassphrase, GError **errp)
{
    g_autoptr(QCryptoSecret) secret =
        qcrypto_secret_new_from_bytes(passphrase, npassphrase, errp);
    const QCryptoBlockOpenOptions how = {.format = QCRYPTO_BLOCK_FORMAT_LUKS,
                                         .passphrase = secret};
    LuksNode *l = g_new0(LuksNode, 1);

    l->file = file;
    l->io.read = io_read;
    l->io.write = io_write;
    l->io.get_size = io_get_size;
    l->io.opaque = file;
    l->node.read = luks_read;
    l->node.write = luks_write;
    l->node.close = luks_close;
    if (secret) {
        l->volume = qcrypto_block_open(&how, &l->io, 0, errp);
    }
    if (!l->volume) {
        luks_close(&l->node);
        return NULL;
    }
    l->node.size = qcrypto_block_get_payload_size(l->volume);
    return &l->node;
}
