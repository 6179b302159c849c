/*
 * The block layer of a small emulator
 *
 * A disk is a chain of nodes: a filter works over the node below it and shows
 * the same two calls to the one above.  Here the chain is
 *
 *     guest's requests -> crypt (crypt.c) -> file (file.c)
 *     guest's requests -> luks (luks.c) -> file
 *
 * Requests are bytes at byte offsets, as a guest makes them; nothing has to
 * be aligned to anything.  Many I/O threads may be in one node at once.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef EMULATOR_BLOCK_H
#define EMULATOR_BLOCK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct BlockNode BlockNode;
struct BlockNode {
    uint64_t size; /* bytes */
    /* 0, or -1 with an error; the request lies inside the size */
    int (*read)(BlockNode *node, uint64_t offset, uint8_t *buf, size_t len,
                GError **errp);
    int (*write)(BlockNode *node, uint64_t offset, const uint8_t *buf,
                 size_t len, GError **errp);
    void (*close)(BlockNode *node);
};

/* A file as a disk; create: it must not exist, and gets size bytes. */
BlockNode *block_file_open(const char *path, GError **errp);
BlockNode *block_file_create(const char *path, uint64_t size, GError **errp);

/*
 * An encrypted disk over file, AES-256-XTS with plain64 IVs from sector 0 on
 * (dm-crypt's "plain" layout).  key: 64 bytes.  Takes over file, also when it
 * fails.
 */
BlockNode *block_crypt_open(BlockNode *file, const uint8_t *key, size_t nkey,
                            size_t sector_size, GError **errp);

/*
 * A LUKS volume in file, which says itself how it is encrypted.  Takes over
 * file, also when it fails.
 */
bool block_luks_probe(BlockNode *file);
BlockNode *block_luks_open(BlockNode *file, const uint8_t *passphrase,
                           size_t npassphrase, GError **errp);

/* Requests from outside: checked against the size, then passed on. */
int block_read(BlockNode *node, uint64_t offset, uint8_t *buf, size_t len,
               GError **errp);
int block_write(BlockNode *node, uint64_t offset, const uint8_t *buf,
                size_t len, GError **errp);
void block_close(BlockNode *node);

#endif
