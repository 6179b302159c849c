/*
 * A file as the lowest node, and the checks in front of every request
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"

typedef struct FileNode {
    BlockNode node;
    int fd;
} FileNode;

static int file_error(GError **errp, const char *what)
{
    int code = errno;

    g_set_error(errp, G_FILE_ERROR, g_file_error_from_errno(code), "%s: %s",
                what, g_strerror(code));
    return -1;
}

static int file_read(BlockNode *node, uint64_t offset, uint8_t *buf, size_t len,
                     GError **errp)
{
    FileNode *f = (FileNode *)node;

    while (len) {
        ssize_t n = pread(f->fd, buf, len, offset);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n ? errno : EIO; /* shorter than when it was opened */
            return file_error(errp, "read");
        }
        buf += n;
        offset += n;
        len -= n;
    }
    return 0;
}

static int file_write(BlockNode *node, uint64_t offset, const uint8_t *buf,
                      size_t len, GError **errp)
{
    FileNode *f = (FileNode *)node;

    while (len) {
        ssize_t n = pwrite(f->fd, buf, len, offset);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return file_error(errp, "write");
        }
        buf += n;
        offset += n;
        len -= n;
    }
    return 0;
}

static void file_close(BlockNode *node)
{
    FileNode *f = (FileNode *)node;

    close(f->fd);
    g_free(f);
}

static BlockNode *file_node(int fd, const char *path, GError **errp)
{
    struct stat st;
    FileNode *f;

    if (fd < 0 || fstat(fd, &st) < 0) {
        file_error(errp, path);
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    f = g_new0(FileNode, 1);
    f->fd = fd;
    f->node.size = st.st_size;
    f->node.read = file_read;
    f->node.write = file_write;
    f->node.close = file_close;
    return &f->node;
}

BlockNode *block_file_open(const char *path, GError **errp)
{
    return file_node(open(path, O_RDWR | O_CLOEXEC), path, errp);
}

BlockNode *block_file_create(const char *path, uint64_t size, GError **errp)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0 && ftruncate(fd, size) < 0) {
        file_error(errp, path);
        close(fd);
        return NULL;
    }
    return file_node(fd, path, errp);
}

static int check_request(BlockNode *node, uint64_t offset, size_t len,
                         GError **errp)
{
    /* written so that offset + len cannot wrap */
    if (offset > node->size || len > node->size - offset) {
        g_set_error(errp, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%zu bytes at %" PRIu64 " reach past the disk's end at "
                    "%" PRIu64,
                    len, offset, node->size);
        return -1;
    }
    return 0;
}

int block_read(BlockNode *node, uint64_t offset, uint8_t *buf, size_t len,
               GError **errp)
{
    return check_request(node, offset, len, errp) < 0
               ? -1
               : node->read(node, offset, buf, len, errp);
}

int block_write(BlockNode *node, uint64_t offset, const uint8_t *buf,
                size_t len, GError **errp)
{
    return check_request(node, offset, len, errp) < 0
               ? -1
               : node->write(node, offset, buf, len, errp);
}

void block_close(BlockNode *node)
{
    if (node) {
        node->close(node);
    }
}
