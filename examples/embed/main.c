/*
 * The emulator around the block layer, as small as can be: the guest is the
 * command line
 *
 *     emulator-block KEY-FILE IMAGE create SIZE
 *     emulator-block KEY-FILE IMAGE write OFFSET         < data
 *     emulator-block KEY-FILE IMAGE read OFFSET LENGTH   > data
 *
 * An image that begins with a LUKS header is opened as such, and KEY-FILE is
 * its passphrase.  Any other is in dm-crypt's "plain" layout with 512-byte
 * sectors, and KEY-FILE holds the 64 bytes of an AES-256-XTS key.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>
#include <stdio.h>
#include <string.h>

#include "block.h"

enum { REQUEST = 100000 }; /* a guest's requests are odd */

static int guest_write(BlockNode *disk, uint64_t offset, GError **errp)
{
    g_autofree uint8_t *buf = g_malloc(REQUEST);
    size_t n;

    while ((n = fread(buf, 1, REQUEST, stdin)) > 0) {
        if (block_write(disk, offset, buf, n, errp) < 0) {
            return -1;
        }
        offset += n;
    }
    return 0;
}

static int guest_read(BlockNode *disk, uint64_t offset, uint64_t len,
                      GError **errp)
{
    g_autofree uint8_t *buf = g_malloc(REQUEST);

    while (len) {
        size_t n = MIN(len, REQUEST);

        if (block_read(disk, offset, buf, n, errp) < 0) {
            return -1;
        }
        if (fwrite(buf, 1, n, stdout) != n) {
            g_set_error(errp, G_FILE_ERROR, G_FILE_ERROR_IO,
                        "standard output takes no more");
            return -1;
        }
        offset += n;
        len -= n;
    }
    return 0;
}

static int run(int argc, char **argv, GError **errp)
{
    const char *verb = argc > 3 ? argv[3] : "";
    bool create = strcmp(verb, "create") == 0;
    bool write = strcmp(verb, "write") == 0;
    bool read = strcmp(verb, "read") == 0;
    guint64 number[2] = {0, 0};
    g_autofree char *key = NULL;
    BlockNode *disk;
    gsize nkey;
    int ret = 0;
    int i;

    if (argc != 5 + read || !(create || write || read)) {
        g_set_error(errp, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                    "usage: KEY-FILE IMAGE create SIZE | write OFFSET | "
                    "read OFFSET LENGTH");
        return -1;
    }
    for (i = 4; i < argc; i++) {
        if (!g_ascii_string_to_unsigned(argv[i], 10, 0, G_MAXINT64,
                                        &number[i - 4], errp)) {
            return -1;
        }
    }
    if (!g_file_get_contents(argv[1], &key, &nkey, errp)) {
        return -1;
    }
    disk = create ? block_file_create(argv[2], number[0], errp)
                  : block_file_open(argv[2], errp);
    if (disk && block_luks_probe(disk)) {
        disk = block_luks_open(disk, (uint8_t *)key, nkey, errp);
    } else if (disk) {
        disk = block_crypt_open(disk, (uint8_t *)key, nkey, 512, errp);
    }
    explicit_bzero(key, nkey);
    if (!disk) {
        return -1;
    }
    if (write) {
        ret = guest_write(disk, number[0], errp);
    } else if (read) {
        ret = guest_read(disk, number[0], number[1], errp);
    }
    block_close(disk);
    return ret;
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;

    if (run(argc, argv, &error) < 0) {
        fprintf(stderr, "emulator-block: %s\n", error->message);
        return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
