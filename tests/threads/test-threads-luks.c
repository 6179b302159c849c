/*
 * Threads on one open volume
 *
 * Eight threads write pieces that meet inside sectors, read them, and work on
 * buffers, all through one object; what comes of it is what one thread alone
 * gives.  Requests that meet inside a sector are made to meet there.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include <string.h>

#include "luks-images.h"

enum {
    THREADS = 8,
    PIECE = 9973,  /* a prime: borders lie everywhere in sectors */
    WRITE = 777,   /* of one call */
    BUFFER = 8192, /* whole sectors */
    ROUNDS = 4,
};

#define PAYLOAD ((size_t)THREADS * PIECE / 4096 * 4096 + 4096)

typedef struct Worker {
    GThread *thread;
    unsigned number;
    QCryptoBlock *block;
    const uint8_t *plain; /* the payload as it will be */
} Worker;

static void run_all(GThreadFunc func, QCryptoBlock *b, const uint8_t *plain)
{
    Worker workers[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (Worker){NULL, i, b, plain};
        workers[i].thread = g_thread_new("worker", func, &workers[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        g_thread_join(workers[i].thread);
    }
}

/* Its own piece, in writes that share sectors with the neighbours'. */
static gpointer write_piece(gpointer opaque)
{
    const Worker *w = opaque;
    const size_t start = (size_t)w->number * PIECE;

    for (size_t at = 0; at < PIECE; at += WRITE) {
        g_autoptr(GError) err = NULL;

        qcrypto_block_pwrite(w->block, start + at, w->plain + start + at,
                             MIN(WRITE, PIECE - at), &err);
        g_assert_no_error(err);
    }
    return NULL;
}

/* Everything, each thread from another place on. */
static gpointer read_all(gpointer opaque)
{
    const Worker *w = opaque;
    uint8_t piece[PIECE];

    for (unsigned i = 0; i < THREADS; i++) {
        const size_t start = (size_t)((w->number + i) % THREADS) * PIECE;
        g_autoptr(GError) err = NULL;

        qcrypto_block_pread(w->block, start, piece, PIECE, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(piece, PIECE, w->plain + start, PIECE);
    }
    return NULL;
}

/* Buffers at the same offsets in all threads, there and back */
static gpointer crypt_buffers(gpointer opaque)
{
    const Worker *w = opaque;
    uint8_t buf[BUFFER], first[BUFFER];

    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t offset = (size_t)i * 4096;
        g_autoptr(GError) err = NULL;

        qcrypto_block_encrypt_to(w->block, offset, w->plain, buf, BUFFER, &err);
        g_assert_no_error(err);
        memcpy(first, buf, BUFFER);
        qcrypto_block_decrypt(w->block, offset, buf, BUFFER, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(buf, BUFFER, w->plain, BUFFER);
        qcrypto_block_encrypt(w->block, offset, buf, BUFFER, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(buf, BUFFER, first, BUFFER);
    }
    return NULL;
}

static void test_volume(gconstpointer name)
{
    const LuksVolume *v = luks_volume(name);
    const size_t offset = (size_t)v->payload_offset;
    size_t len;
    g_autofree uint8_t *image = luks_load(v, &len);
    g_autofree uint8_t *disk = g_malloc0(offset + PAYLOAD);
    g_autofree uint8_t *plain = g_malloc0(PAYLOAD);
    g_autofree uint8_t *serial = g_malloc(PAYLOAD);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoSecret) secret = luks_secret(v->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {.passphrase = secret};

    memcpy(disk, image, offset);
    QCryptoBlockIO *io =
        luks_memory_io(disk, offset + PAYLOAD, offset + PAYLOAD);
    QCryptoBlock *b = qcrypto_block_open(&o, io, 0, &err);
    g_assert_no_error(err);
    qcrypto_block_pwrite(b, 0, plain, PAYLOAD, &err);
    g_assert_no_error(err);

    for (size_t i = 0; i < (size_t)THREADS * PIECE; i++) {
        plain[i] = (uint8_t)(i * 7 + (i >> 8));
    }
    qcrypto_block_encrypt_to(b, 0, plain, serial, PAYLOAD, &err);
    g_assert_no_error(err);
    run_all(write_piece, b, plain);
    g_assert_cmpmem(disk + offset, PAYLOAD, serial, PAYLOAD);
    run_all(read_all, b, plain);
    run_all(crypt_buffers, b, plain);
    qcrypto_block_free(b);
    qcrypto_block_io_free(io);
}

/*
 * A write of a part of a sector, and while it is under way another request in
 * that sector: storage that stands still half way gives it the time to do
 * harm, if it can.
 */

#define HARM_US (200 * 1000)

typedef struct Meeting {
    QCryptoBlockIO *disk;
    QCryptoBlock *block;
    GThread *other;
    gint done; /* the other one; atomic */
    gpointer (*func)(gpointer meeting);
    bool in_read;
    gint met; /* nobody else waits; atomic */
    uint8_t buf[4096];
    size_t offset, len;
} Meeting;

static void meet(Meeting *m)
{
    const gint64 end = g_get_monotonic_time() + HARM_US;

    if (m->func && g_atomic_int_compare_and_exchange(&m->met, 0, 1)) {
        m->other = g_thread_new("other", m->func, m);
        while (!g_atomic_int_get(&m->done) && g_get_monotonic_time() < end) {
            g_usleep(1000);
        }
    }
}

static int slow_read(QCryptoBlock *b, uint64_t offset, uint8_t *buf, size_t n,
                     void *opaque, GError **errp)
{
    Meeting *m = opaque;
    const int ret = m->disk->read(b, offset, buf, n, m->disk->opaque, errp);

    if (m->in_read) {
        meet(m);
    }
    return ret;
}

/* The second half of it is there some time after the first one. */
static int slow_write(QCryptoBlock *b, uint64_t offset, const uint8_t *buf,
                      size_t n, void *opaque, GError **errp)
{
    Meeting *m = opaque;

    if (m->in_read || !m->func || g_atomic_int_get(&m->met)) {
        return m->disk->write(b, offset, buf, n, m->disk->opaque, errp);
    }
    if (m->disk->write(b, offset, buf, n / 2, m->disk->opaque, errp) < 0) {
        return -1;
    }
    meet(m);
    return m->disk->write(b, offset + n / 2, buf + n / 2, n - n / 2,
                          m->disk->opaque, errp);
}

static int size_of(QCryptoBlock *b, uint64_t *size, void *opaque, GError **errp)
{
    const Meeting *m = opaque;

    return m->disk->get_size(b, size, m->disk->opaque, errp);
}

static gpointer write_other(gpointer opaque)
{
    Meeting *m = opaque;
    g_autoptr(GError) err = NULL;

    qcrypto_block_pwrite(m->block, m->offset, m->buf, m->len, &err);
    g_assert_no_error(err);
    g_atomic_int_set(&m->done, 1);
    return NULL;
}

static gpointer read_other(gpointer opaque)
{
    Meeting *m = opaque;
    g_autoptr(GError) err = NULL;

    qcrypto_block_pread(m->block, m->offset, m->buf, m->len, &err);
    g_assert_no_error(err);
    g_atomic_int_set(&m->done, 1);
    return NULL;
}

/* "one" into a sector of zeros, while func has its request */
static void change_part(Meeting *m, gpointer (*func)(gpointer), bool in_read,
                        uint8_t sector[512])
{
    static const uint8_t zeros[1024];
    g_autoptr(GError) err = NULL;

    m->func = NULL;
    qcrypto_block_pwrite(m->block, 0, zeros, sizeof(zeros), &err);
    g_assert_no_error(err);
    m->in_read = in_read;
    m->done = m->met = 0;
    m->func = func;
    qcrypto_block_pwrite(m->block, 100, (const uint8_t *)"one", 3, &err);
    g_assert_no_error(err);
    g_assert_nonnull(m->other);
    g_thread_join(g_steal_pointer(&m->other));
    qcrypto_block_pread(m->block, 0, sector, 512, &err);
    g_assert_no_error(err);
}

static void test_meeting(void)
{
    /* in CBC mode a changed byte changes what is behind it */
    const LuksVolume *v = luks_volume("l1-aes256-cbc-essiv-sha256");
    size_t len;
    g_autofree uint8_t *image = luks_load(v, &len);
    g_autoptr(QCryptoSecret) secret = luks_secret(v->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {.passphrase = secret};
    g_autoptr(GError) err = NULL;
    Meeting m = {.disk = luks_memory_io(image, len, len)};
    QCryptoBlockIO io = {
        .read = slow_read,
        .write = slow_write,
        .get_size = size_of,
        .opaque = &m,
    };
    uint8_t sector[512], want[512] = {0};

    m.block = qcrypto_block_open(&o, &io, 0, &err);
    g_assert_no_error(err);

    /* the rest of the sector reads as it is, at the half too */
    m.offset = 200;
    m.len = 200;
    memset(m.buf, 1, m.len);
    change_part(&m, read_other, false, sector);
    g_assert_cmpmem(m.buf, m.len, want, m.len);
    memcpy(want + 100, "one", 3);
    g_assert_cmpmem(sector, 512, want, 512);

    /* a part of its own is not lost */
    m.offset = 300;
    memset(m.buf, 2, m.len);
    change_part(&m, write_other, true, sector);
    memset(want + 300, 2, m.len);
    g_assert_cmpmem(sector, 512, want, 512);

    /* nor are whole sectors: they come after it */
    m.offset = 0;
    m.len = 1024;
    memset(m.buf, 3, m.len);
    memset(want, 3, sizeof(want));
    change_part(&m, write_other, true, sector);
    g_assert_cmpmem(sector, 512, want, 512);

    qcrypto_block_free(m.block);
    qcrypto_block_io_free(m.disk);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/threads/luks/xts-plain64",
                         "l1-aes256-xts-plain64-sha512", test_volume);
    g_test_add_data_func("/threads/luks/cbc-essiv",
                         "l1-aes256-cbc-essiv-sha256", test_volume);
    g_test_add_func("/threads/luks/meeting", test_meeting);
    return g_test_run();
}
