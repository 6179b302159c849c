/*
 * An NBD server's export as a QCryptoBlockIO (nbd.h)
 *
 * A request takes a connection out of a pool and puts it back: libnbd's
 * simple calls are used, one request at a time on each, and threads get as
 * many connections as the server allows.  A connection that broke is thrown
 * away, and the next request makes a new one.
 *
 * Servers may have a smallest and a largest block.  Requests are cut to the
 * largest; one that cuts a smallest block reads it whole and, for writing,
 * changes and writes it, one such write at a time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/nbd.h"

#include <inttypes.h>
#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/error.h"

#if QCRYPTO_HAVE_LIBNBD

#include <libnbd.h>

/* what every server takes, by the protocol's word */
#define DEFAULT_MAX ((uint64_t)32 << 20)
/* the largest "smallest block" of the protocol */
#define MIN_MAX 65536

typedef struct Nbd {
    char *uri;
    bool writable;
    uint64_t size;
    size_t min, max; /* bytes of a request */
    bool can_flush, can_trim;

    GMutex partial; /* held while a cut block is changed */
    GMutex lock;    /* guards what follows */
    GCond changed;
    GPtrArray *idle; /* of struct nbd_handle */
    unsigned open;   /* connections, idle or not */
    unsigned most;   /* of them */
} Nbd;

static int nbd_error(GError **errp, const Nbd *n)
{
    const char *text = nbd_get_error();

    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "'%s': %s", n->uri,
                         text ? text : "NBD failed");
}

static struct nbd_handle *connect_to(const Nbd *n, GError **errp)
{
    struct nbd_handle *h = nbd_create();

    /* a URI on the command line may name a file with keys of TLS */
    if (!h || nbd_set_uri_allow_local_file(h, true) < 0 ||
        nbd_connect_uri(h, n->uri) < 0) {
        nbd_error(errp, n);
        nbd_close(h);
        return NULL;
    }
    return h;
}

static struct nbd_handle *take(Nbd *n, GError **errp)
{
    struct nbd_handle *h = NULL;
    GError *error = NULL;

    g_mutex_lock(&n->lock);
    for (;;) {
        if (n->idle->len) {
            h = g_ptr_array_steal_index_fast(n->idle, n->idle->len - 1);
            break;
        }
        if (n->open < n->most) {
            n->open++;
            g_mutex_unlock(&n->lock);
            h = connect_to(n, &error);
            g_mutex_lock(&n->lock);
            if (h) {
                break;
            }
            n->open--;
            if (n->open == 0) {
                g_propagate_error(errp, error);
                break;
            }
            /* the server has enough of them: those there are will do */
            n->most = n->open;
            g_clear_error(&error);
            continue;
        }
        g_cond_wait(&n->changed, &n->lock);
    }
    g_mutex_unlock(&n->lock);
    return h;
}

static void put_back(Nbd *n, struct nbd_handle *h)
{
    const bool dead = nbd_aio_is_dead(h) != 0 || nbd_aio_is_closed(h) != 0;

    if (dead) {
        nbd_close(h);
    }
    g_mutex_lock(&n->lock);
    if (dead) {
        n->open--;
    } else {
        g_ptr_array_add(n->idle, h);
    }
    g_cond_signal(&n->changed);
    g_mutex_unlock(&n->lock);
}

static int check_range(const Nbd *n, const char *verb, uint64_t offset,
                       uint64_t len, GError **errp)
{
    if (offset > n->size || len > n->size - offset) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "cannot %s %" PRIu64 " bytes at %" PRIu64
                             ": '%s' has %" PRIu64 " bytes",
                             verb, len, offset, n->uri, n->size);
    }
    return 0;
}

/* One request of whole blocks, not more than the server takes. */
static int request(Nbd *n, bool write, uint64_t offset, uint8_t *buf,
                   size_t len, GError **errp)
{
    struct nbd_handle *h = take(n, errp);

    if (!h) {
        return -1;
    }
    int ret = write ? nbd_pwrite(h, buf, len, offset, 0)
                    : nbd_pread(h, buf, len, offset, 0);
    if (ret < 0) {
        nbd_error(errp, n);
    }
    put_back(n, h);
    return ret;
}

/* len bytes inside the block at start, skip bytes from its beginning on */
static int partial(Nbd *n, bool write, uint64_t start, size_t skip,
                   uint8_t *buf, size_t len, GError **errp)
{
    g_autofree uint8_t *block = g_malloc(n->min);
    int ret;

    if (write) {
        g_mutex_lock(&n->partial);
    }
    ret = request(n, false, start, block, n->min, errp);
    if (ret == 0 && write) {
        memcpy(block + skip, buf, len);
        ret = request(n, true, start, block, n->min, errp);
    } else if (ret == 0) {
        memcpy(buf, block + skip, len);
    }
    if (write) {
        g_mutex_unlock(&n->partial);
    }
    return ret;
}

static int transfer(Nbd *n, bool write, uint64_t offset, uint8_t *buf,
                    size_t len, GError **errp)
{
    if (check_range(n, write ? "write" : "read", offset, len, errp) < 0) {
        return -1;
    }
    while (len) {
        const size_t skip = (size_t)(offset % n->min);
        size_t part;
        int ret;

        if (skip || len < n->min) {
            part = MIN(len, n->min - skip);
            ret = partial(n, write, offset - skip, skip, buf, part, errp);
        } else {
            part = MIN(len - len % n->min, n->max);
            ret = request(n, write, offset, buf, part, errp);
        }
        if (ret < 0) {
            return -1;
        }
        offset += part;
        buf += part;
        len -= part;
    }
    return 0;
}

static int nbd_io_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                       uint8_t *buf, size_t buflen, void *opaque, GError **errp)
{
    return transfer(opaque, false, offset, buf, buflen, errp);
}

static int nbd_io_write(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                        const uint8_t *buf, size_t buflen, void *opaque,
                        GError **errp)
{
    /* only read from, when writing */
    return transfer(opaque, true, offset, (uint8_t *)(uintptr_t)buf, buflen,
                    errp);
}

static int nbd_io_flush(QCryptoBlock *block G_GNUC_UNUSED, void *opaque,
                        GError **errp)
{
    Nbd *n = opaque;
    struct nbd_handle *h = take(n, errp);

    if (!h) {
        return -1;
    }
    int ret = nbd_flush(h, 0);
    if (ret < 0) {
        nbd_error(errp, n);
    }
    put_back(n, h);
    return ret;
}

/* The whole blocks inside the range: a hint need not reach its edges. */
static int nbd_io_discard(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                          uint64_t len, void *opaque, GError **errp)
{
    Nbd *n = opaque;

    if (check_range(n, "discard", offset, len, errp) < 0) {
        return -1;
    }
    uint64_t end = offset + len;
    int ret = 0;

    offset += (n->min - offset % n->min) % n->min;
    end -= end % n->min;
    if (offset >= end) {
        return 0;
    }
    struct nbd_handle *h = take(n, errp);
    if (!h) {
        return -1;
    }
    while (offset < end && ret == 0) {
        /* a request has 32 bits of length */
        const uint64_t part = MIN(end - offset, (uint64_t)1 << 30);

        ret = nbd_trim(h, part, offset, 0);
        offset += part;
    }
    if (ret < 0) {
        nbd_error(errp, n);
    }
    put_back(n, h);
    return ret;
}

static int nbd_io_get_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                           void *opaque, GError **errp G_GNUC_UNUSED)
{
    *size = ((const Nbd *)opaque)->size;
    return 0;
}

/* An export has the size it has. */
static int nbd_io_init(QCryptoBlock *block G_GNUC_UNUSED, uint64_t size,
                       void *opaque, GError **errp)
{
    return check_range(opaque, "make room for", 0, size, errp);
}

static void nbd_io_destroy(void *opaque)
{
    Nbd *n = opaque;

    for (guint i = 0; i < n->idle->len; i++) {
        struct nbd_handle *h = g_ptr_array_index(n->idle, i);

        nbd_shutdown(h, 0); /* a server that is gone does not matter now */
        nbd_close(h);
    }
    g_ptr_array_free(n->idle, TRUE);
    g_mutex_clear(&n->partial);
    g_mutex_clear(&n->lock);
    g_cond_clear(&n->changed);
    g_free(n->uri);
    g_free(n);
}

/* What the server says of itself, before anything relies on it. */
static int ask_server(Nbd *n, struct nbd_handle *h, unsigned connections,
                      GError **errp)
{
    const int64_t size = nbd_get_size(h);
    const int64_t min = nbd_get_block_size(h, LIBNBD_SIZE_MINIMUM);
    const int64_t max = nbd_get_block_size(h, LIBNBD_SIZE_MAXIMUM);
    const int read_only = nbd_is_read_only(h);
    const int multi = nbd_can_multi_conn(h);
    const int flush = nbd_can_flush(h);
    const int trim = nbd_can_trim(h);

    if (size < 0 || min < 0 || max < 0 || read_only < 0 || multi < 0 ||
        flush < 0 || trim < 0) {
        return nbd_error(errp, n);
    }
    if (min > MIN_MAX || (min & (min - 1)) || (max && max < min)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "'%s': blocks of %" PRId64 " to %" PRId64
                             " bytes cannot be",
                             n->uri, min, max);
    }
    if (n->writable && read_only) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO, "'%s' is served read-only",
                             n->uri);
    }
    n->size = (uint64_t)size;
    n->min = min ? (size_t)min : 1;
    n->max = (size_t)MIN(max ? (uint64_t)max : DEFAULT_MAX, DEFAULT_MAX);
    n->max -= n->max % n->min;
    n->can_flush = flush > 0;
    n->can_trim = trim > 0;
    n->most = multi || !n->writable ? MAX(connections, 1) : 1;
    return 0;
}

QCryptoBlockIO *qcrypto_nbd_open(const char *uri, bool writable,
                                 unsigned connections, GError **errp)
{
    Nbd *n = g_new0(Nbd, 1);

    n->uri = g_strdup(uri);
    n->writable = writable;
    n->idle = g_ptr_array_new();
    g_mutex_init(&n->partial);
    g_mutex_init(&n->lock);
    g_cond_init(&n->changed);

    struct nbd_handle *h = connect_to(n, errp);
    if (h) {
        g_ptr_array_add(n->idle, h);
        n->open = 1;
    }
    if (!h || ask_server(n, h, connections, errp) < 0) {
        nbd_io_destroy(n);
        return NULL;
    }
    QCryptoBlockIO *io = g_new0(QCryptoBlockIO, 1);
    io->read = nbd_io_read;
    io->get_size = nbd_io_get_size;
    if (writable) {
        io->write = nbd_io_write;
        io->flush = n->can_flush ? nbd_io_flush : NULL;
        io->discard = n->can_trim ? nbd_io_discard : NULL;
        io->init = nbd_io_init;
    }
    io->destroy = nbd_io_destroy;
    io->opaque = n;
    return io;
}

#else

QCryptoBlockIO *qcrypto_nbd_open(const char *uri, bool writable G_GNUC_UNUSED,
                                 unsigned connections G_GNUC_UNUSED,
                                 GError **errp)
{
    qcrypto_error_unsupported(errp, uri, "this build has no libnbd");
    return NULL;
}

#endif
