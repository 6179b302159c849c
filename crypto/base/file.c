/*
 * Writing a result to where the user said
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"

static int failed(const char *path, int err, GError **errp)
{
    return qcrypto_error_file(errp, "write", path, err);
}

int qcrypto_file_check_writable(const char *path, GError **errp)
{
    g_autofree char *folder = g_path_get_dirname(path);
    struct stat st;

    if (!*path) {
        return failed(path, ENOENT, errp);
    }
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            return failed(path, EISDIR, errp);
        }
        return access(path, W_OK) == 0 ? 0 : failed(path, errno, errp);
    }
    if (errno != ENOENT) {
        return failed(path, errno, errp);
    }
    return access(folder, W_OK | X_OK) == 0 ? 0 : failed(path, errno, errp);
}

/* To what is no regular file. */
static int write_through(const char *path, const char *text, size_t len,
                         GError **errp)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0) {
        return failed(path, errno, errp);
    }
    for (size_t done = 0; done < len;) {
        const ssize_t n = write(fd, text + done, len - done);

        if (n < 0 && errno != EINTR) {
            const int err = errno;

            close(fd);
            return failed(path, err, errp);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return close(fd) == 0 ? 0 : failed(path, errno, errp);
}

int qcrypto_file_write(const char *path, const char *text, size_t len,
                       GError **errp)
{
    g_autoptr(GError) err = NULL;
    struct stat st;

    if (qcrypto_file_check_writable(path, errp) < 0) {
        return -1;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return write_through(path, text, len, errp);
    }
    /* a link's target is what is replaced, not the link */
    char *target = realpath(path, NULL);
    const bool done = g_file_set_contents(target ? target : path, text,
                                          (gssize)len, &err);
    free(target);
    if (!done) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO, "cannot write '%s': %s",
                             path, err->message);
    }
    return 0;
}
