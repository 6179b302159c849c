/*
 * Threads on one open volume
 *
 * Eight threads write pieces that meet inside sectors, read them, and work on
 * buffers, all through one object; what comes of it is what one thread alone
 * gives.
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/threads/luks/xts-plain64",
                         "l1-aes256-xts-plain64-sha512", test_volume);
    g_test_add_data_func("/threads/luks/cbc-essiv",
                         "l1-aes256-cbc-essiv-sha256", test_volume);
    return g_test_run();
}
