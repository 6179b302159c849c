/*
 * Secrets
 *
 * A secret is a mapping of its own: this head, then the bytes.  Whole pages
 * can be locked, kept out of core dumps and given back to the kernel, and
 * mremap(2) makes one larger without leaving a copy behind.  Sources are read
 * straight into it; nothing goes through a buffer of stdio or GLib.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/secret.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

/* bytes of a first guess, where the length is not known */
#define FIRST_ROOM 4000

struct QCryptoSecret {
    size_t size; /* of the mapping */
    size_t len;
    bool locked;
    uint8_t bytes[] __attribute__((aligned(16)));
};

static size_t mapped_size(size_t room)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t need = sizeof(QCryptoSecret) + room;

    /* room is at most QCRYPTO_SECRET_MAX + 1: no wrap */
    return (need + page - 1) / page * page;
}

/* How many bytes it can hold. */
static size_t room_of(const QCryptoSecret *s)
{
    return s->size - sizeof(*s);
}

static int no_memory(GError **errp, size_t room)
{
    return qcrypto_error_memory(errp, "a secret", mapped_size(room) / 1024, 0);
}

static int too_long(GError **errp)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "a secret has at most %zu bytes", QCRYPTO_SECRET_MAX);
}

/* One of len 0 with this room. */
static QCryptoSecret *new_empty(size_t room, GError **errp)
{
    if (room > QCRYPTO_SECRET_MAX + 1) {
        too_long(errp);
        return NULL;
    }
    const size_t size = mapped_size(room);
    bool locked;
    QCryptoSecret *s = qcrypto_map_pages(size, &locked);
    if (!s) {
        no_memory(errp, room);
        return NULL;
    }
    s->size = size;
    s->locked = locked;
    return s;
}

void qcrypto_secret_free(QCryptoSecret *s)
{
    if (s) {
        const size_t size = s->size;

        qcrypto_wipe(s, size);
        munmap(s, size);
    }
}

/* Room for more; the secret may move.  On failure it is freed: NULL. */
static QCryptoSecret *grow(QCryptoSecret *s, size_t room, GError **errp)
{
    const size_t size = mapped_size(room);
    QCryptoSecret *larger = mremap(s, s->size, size, MREMAP_MAYMOVE);

    if (larger == MAP_FAILED && s->locked) {
        /* the limit of locked memory refuses it, maybe: go on without */
        munlock(s, s->size);
        s->locked = false;
        larger = mremap(s, s->size, size, MREMAP_MAYMOVE);
    }
    if (larger == MAP_FAILED) {
        qcrypto_secret_free(s);
        no_memory(errp, room);
        return NULL;
    }
    larger->size = size;
    return larger;
}

const uint8_t *qcrypto_secret_get(const QCryptoSecret *s, size_t *len)
{
    if (len) {
        *len = s ? s->len : 0;
    }
    return s ? s->bytes : NULL;
}

bool qcrypto_secret_is_locked(const QCryptoSecret *s)
{
    return s && s->locked;
}

QCryptoSecret *qcrypto_secret_new_from_bytes(const void *bytes, size_t len,
                                             GError **errp)
{
    if (!bytes && len) {
        qcrypto_error_null(errp, "bytes");
        return NULL;
    }
    if (len > QCRYPTO_SECRET_MAX) {
        too_long(errp);
        return NULL;
    }
    QCryptoSecret *s = new_empty(len, errp);
    if (s && len) {
        memcpy(s->bytes, bytes, len);
        s->len = len;
    }
    return s;
}

/* ---- base64 (RFC 4648, 4) ---- */

/* All ones when lo <= c <= hi, else 0; no branch, no look-up. */
static uint32_t between(uint32_t c, uint32_t lo, uint32_t hi)
{
    /* c, lo, hi < 2^8: a difference below 0 has its top bit set */
    return ~(uint32_t)((int32_t)((c - lo) | (hi - c)) >> 31);
}

/* The six bits of a character; all ones in *bad when it is none. */
static uint32_t six_bits(uint8_t c, uint32_t *bad)
{
    const uint32_t upper = between(c, 'A', 'Z'), lower = between(c, 'a', 'z');
    const uint32_t digit = between(c, '0', '9'), plus = between(c, '+', '+');
    const uint32_t slash = between(c, '/', '/');

    *bad |= ~(upper | lower | digit | plus | slash);
    return (upper & (c - 'A' + 0u)) | (lower & (c - 'a' + 26u)) |
           (digit & (c - '0' + 52u)) | (plus & 62u) | (slash & 63u);
}

/*
 * What is branched on is where lines end and where the padding begins, which
 * the length alone says nearly as well; never which digit stands somewhere.
 */
static int decode(QCryptoSecret *s, const char *text, size_t n, GError **errp)
{
    uint32_t bad = 0, bits = 0;
    size_t digits = 0, padding = 0, len = 0;

    for (size_t i = 0; i < n; i++) {
        const uint8_t c = (uint8_t)text[i];

        if (c == '\n' || (c == '\r' && text[i + 1] == '\n')) {
            continue;
        }
        if (c == '=') {
            padding++;
            continue;
        }
        bad |= padding ? ~0u : 0;
        bits = bits << 6 | six_bits(c, &bad);
        if (++digits % 4 == 0) {
            s->bytes[len++] = (uint8_t)(bits >> 16);
            s->bytes[len++] = (uint8_t)(bits >> 8);
            s->bytes[len++] = (uint8_t)bits;
        }
    }
    if (bad) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "base64: a character outside the alphabet, or "
                             "behind the padding");
    }
    /* 2 digits and "==", 3 digits and "=", or neither */
    const size_t last = digits % 4;
    if (last == 1 || padding != (4 - last) % 4) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "base64: the length is not a multiple of 4 "
                             "characters with '=' at the end");
    }
    /* digits that say more than whole bytes say it with zeros */
    if (last) {
        const unsigned unused = last == 2 ? 4 : 2;

        if (bits & ((1u << unused) - 1)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "base64: bits behind the last byte");
        }
        bits >>= unused;
        if (last == 3) {
            s->bytes[len++] = (uint8_t)(bits >> 8);
        }
        s->bytes[len++] = (uint8_t)bits;
    }
    s->len = len;
    return 0;
}

QCryptoSecret *qcrypto_secret_new_from_base64(const char *base64, GError **errp)
{
    if (!base64) {
        qcrypto_error_null(errp, "base64");
        return NULL;
    }
    const size_t n = strlen(base64);
    /* three bytes for every four characters; line ends leave room unused */
    QCryptoSecret *s = new_empty(n / 4 * 3 + 3, errp);
    if (s && decode(s, base64, n, errp) < 0) {
        qcrypto_secret_free(s);
        s = NULL;
    }
    return s;
}

/* ---- files ---- */

/* "cannot read 'disk.key': Permission denied"; name NULL: a descriptor */
static int io_error(GError **errp, const char *what, const char *name,
                    int error)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "cannot %s %s%s%s: %s", what,
                         name ? "'" : "the descriptor", name ? name : "",
                         name ? "'" : "", g_strerror(error));
}

/* read(2), again when a signal came in between */
static ssize_t read_some(int fd, uint8_t *p, size_t n)
{
    ssize_t got;

    do {
        got = read(fd, p, n);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Bytes from here to the end of a regular file; a guess for others. */
static size_t guess_room(int fd)
{
    const off_t here = lseek(fd, 0, SEEK_CUR);
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || here < 0 ||
        st.st_size <= here) {
        return FIRST_ROOM;
    }
    /* one more, so that the read that finds the end needs no larger room */
    return (size_t)MIN((uint64_t)(st.st_size - here), QCRYPTO_SECRET_MAX) + 1;
}

static QCryptoSecret *read_all(int fd, const char *name, GError **errp)
{
    QCryptoSecret *s = new_empty(guess_room(fd), errp);

    while (s) {
        const size_t room = room_of(s) - s->len;
        const ssize_t got = room ? read_some(fd, s->bytes + s->len, room) : 0;

        if (got < 0) {
            io_error(errp, "read", name, errno);
            break;
        }
        s->len += (size_t)got;
        if (s->len > QCRYPTO_SECRET_MAX) {
            too_long(errp);
            break;
        }
        if (room && !got) {
            return s;
        }
        if (!room) {
            s = grow(s, MIN(2 * s->len, QCRYPTO_SECRET_MAX + 1), errp);
        }
    }
    qcrypto_secret_free(s);
    return NULL;
}

static QCryptoSecret *read_len(int fd, const char *name, size_t len,
                               GError **errp)
{
    QCryptoSecret *s;

    if (len > QCRYPTO_SECRET_MAX) {
        too_long(errp);
        return NULL;
    }
    s = new_empty(len, errp);
    while (s && s->len < len) {
        const ssize_t got = read_some(fd, s->bytes + s->len, len - s->len);

        if (got > 0) {
            s->len += (size_t)got;
            continue;
        }
        if (got < 0) {
            io_error(errp, "read", name, errno);
        } else {
            qcrypto_error(errp, QCRYPTO_ERROR_IO,
                          "%s%s%s ends after %zu of %zu bytes",
                          name ? "'" : "the descriptor", name ? name : "",
                          name ? "'" : "", s->len, len);
        }
        qcrypto_secret_free(s);
        s = NULL;
    }
    return s;
}

QCryptoSecret *qcrypto_secret_new_from_fd(int fd, size_t len, GError **errp)
{
    return len ? read_len(fd, NULL, len, errp) : read_all(fd, NULL, errp);
}

/* Goes to the offset, which must not lie behind the end of the file. */
static int seek_to(int fd, const char *path, uint64_t offset, GError **errp)
{
    struct stat st;

    if (fstat(fd, &st) < 0) {
        return io_error(errp, "read", path, errno);
    }
    if (S_ISREG(st.st_mode) && offset > (uint64_t)st.st_size &&
        (st.st_size || offset > INT64_MAX)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "'%s' ends before offset %" G_GUINT64_FORMAT, path,
                             offset);
    }
    if (offset > INT64_MAX || lseek(fd, (off_t)offset, SEEK_SET) < 0) {
        return io_error(errp, "seek in", path,
                        offset > INT64_MAX ? EOVERFLOW : errno);
    }
    return 0;
}

QCryptoSecret *qcrypto_secret_new_from_file(const char *path, uint64_t offset,
                                            size_t len, GError **errp)
{
    QCryptoSecret *s = NULL;
    int fd;

    if (!path) {
        qcrypto_error_null(errp, "path");
        return NULL;
    }
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        io_error(errp, "open", path, errno);
        return NULL;
    }
    /* a pipe has no offset to go to, and none is needed for 0 */
    if (!offset || seek_to(fd, path, offset, errp) == 0) {
        s = len ? read_len(fd, path, len, errp) : read_all(fd, path, errp);
    }
    close(fd);
    return s;
}

/* ---- the kernel's keyrings ---- */

#if defined(SYS_keyctl) && defined(SYS_request_key)

/* keyctl(2) */
#define KEY_READ 11

/* What the numbers of errors mean for a key. */
static int key_error(GError **errp, const char *key, int error)
{
    if (error == ENOSYS || error == EPERM) {
        return qcrypto_error_unsupported(
            errp, "the kernel's keyring", "%s",
            error == ENOSYS ? "this kernel has none"
                            : "the system's policy forbids it");
    }
    if (error == EOPNOTSUPP) {
        return qcrypto_error_unsupported(errp, "reading the key",
                                         "'%s' is of a "
                                         "type that cannot be read",
                                         key);
    }
    if (error == ENOKEY || error == EKEYEXPIRED || error == EKEYREVOKED) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "keyring: key '%s': %s", key, g_strerror(error));
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "keyring: key '%s': %s", key,
                         g_strerror(error));
}

/* The serial number of "TYPE:DESC" or a number as text; -1 and an error. */
static long find_key(const char *key, GError **errp)
{
    const char *colon = strchr(key, ':');
    guint64 number;
    long id;

    if (!colon) {
        if (!g_ascii_string_to_unsigned(key, 10, 1, INT32_MAX, &number, NULL)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "keyring: '%s' is neither a serial number nor "
                                 "TYPE:DESCRIPTION",
                                 key);
        }
        return (long)number;
    }
    g_autofree char *type = g_strndup(key, (gsize)(colon - key));
    /* without a call-out: only what is there, nobody is asked to make it */
    id = syscall(SYS_request_key, type, colon + 1, NULL, 0);
    return id < 0 ? key_error(errp, key, errno) : id;
}

QCryptoSecret *qcrypto_secret_new_from_keyring(const char *key, GError **errp)
{
    QCryptoSecret *s;
    long id;

    if (!key) {
        qcrypto_error_null(errp, "key");
        return NULL;
    }
    id = find_key(key, errp);
    if (id < 0) {
        return NULL;
    }
    s = new_empty(FIRST_ROOM, errp);
    while (s) {
        /* the payload's length, whether it fitted or not */
        const long n =
            syscall(SYS_keyctl, KEY_READ, id, s->bytes, room_of(s), 0);

        if (n >= 0 && (size_t)n <= room_of(s)) {
            s->len = (size_t)n;
            return s;
        }
        if (n < 0) {
            key_error(errp, key, errno);
            break;
        }
        if ((size_t)n > QCRYPTO_SECRET_MAX) {
            too_long(errp);
            break;
        }
        s = grow(s, (size_t)n, errp);
    }
    qcrypto_secret_free(s);
    return NULL;
}

#else

QCryptoSecret *qcrypto_secret_new_from_keyring(const char *key G_GNUC_UNUSED,
                                               GError **errp)
{
    qcrypto_error_unsupported(errp, "the kernel's keyring",
                              "this system has none");
    return NULL;
}

#endif
