/*
 * Random bytes straight from the kernel
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/rng/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

static int failed(void *buf, size_t n, const char *what, GError **errp)
{
    const int err = errno;

    qcrypto_wipe(buf, n);
    return qcrypto_error(errp, QCRYPTO_ERROR_ENTROPY,
                         "no random numbers from the kernel: %s: %s", what,
                         g_strerror(err));
}

static int open_retry(const char *path)
{
    int fd;

    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/*
 * /dev/urandom answers before it is seeded; /dev/random becomes readable
 * only then, which kernels without getrandom(2) show through poll(2).
 */
static int wait_seeded(void)
{
    struct pollfd p = {.fd = open_retry("/dev/random"), .events = POLLIN};
    int ret;

    if (p.fd < 0) {
        return -1;
    }
    do {
        ret = poll(&p, 1, -1);
    } while (ret < 0 && errno == EINTR);
    close(p.fd);
    return ret == 1 ? 0 : -1;
}

static int from_device(uint8_t *buf, size_t n, GError **errp)
{
    if (wait_seeded() < 0) {
        return failed(buf, n, "/dev/random", errp);
    }
    const int fd = open_retry("/dev/urandom");
    struct stat st;

    if (fd < 0) {
        return failed(buf, n, "/dev/urandom", errp);
    }
    /* a file that somebody put there is no source */
    if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode)) {
        close(fd);
        errno = ENODEV;
        return failed(buf, n, "/dev/urandom", errp);
    }
    for (size_t done = 0; done < n;) {
        const ssize_t got = read(fd, buf + done, n - done);

        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            errno = got == 0 ? EIO : errno;
            failed(buf, n, "/dev/urandom", errp);
            close(fd);
            return -1;
        }
    }
    close(fd);
    return 0;
}

int qcrypto_kernel_random(void *buf, size_t n, GError **errp)
{
    uint8_t *p = buf;

    for (size_t done = 0; done < n;) {
        const ssize_t got = getrandom(p + done, n - done, 0);

        if (got > 0) {
            done += (size_t)got;
        } else if (got < 0 && errno == ENOSYS) {
            return from_device(buf, n, errp);
        } else if (got == 0 || errno != EINTR) {
            errno = got == 0 ? EIO : errno;
            return failed(buf, n, "getrandom", errp);
        }
    }
    return 0;
}
