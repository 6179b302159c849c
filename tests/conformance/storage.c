/*
 * Storage in memory
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "storage.h"

#include <qcrypto/error.h>
#include <string.h>

typedef struct Write {
    size_t offset, len;
    uint8_t *data;
} Write;

static int broken(GError **errp, const char *what)
{
    g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_IO, "%s failed, as told",
                what);
    return -1;
}

/* No byte after the end, as a device has it */
static int check_range(const Storage *s, uint64_t offset, size_t len,
                       GError **errp)
{
    if (offset <= s->size && len <= s->size - offset) {
        return 0;
    }
    g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_IO,
                "%zu bytes at %" G_GUINT64_FORMAT " are not within %zu", len,
                offset, s->size);
    return -1;
}

static void forget_pending(Storage *s)
{
    for (guint i = 0; i < s->pending->len; i++) {
        g_free(g_array_index(s->pending, Write, i).data);
    }
    g_array_set_size(s->pending, 0);
}

/* The medium after power was lost. */
static void lose_power(Storage *s, const Write *last)
{
    for (guint i = 0; i < s->pending->len; i++) {
        const Write *w = &g_array_index(s->pending, Write, i);

        if (s->kept >> (i % 32) & 1) {
            memcpy(s->durable + w->offset, w->data, w->len);
        }
    }
    if (last) {
        memcpy(s->durable + last->offset, last->data, MIN(s->torn, last->len));
    }
    s->dead = true;
}

/* Counts a call; -1 when it is the one that fails. */
static int count(Storage *s, const Write *w, const char *what, GError **errp)
{
    if (s->dead) {
        return broken(errp, what);
    }
    s->calls++;
    if (!s->fail_at || s->calls != s->fail_at) {
        return 0;
    }
    s->broke_at = w ? w->offset : s->size;
    if (s->fault == STORAGE_LOSES_POWER) {
        lose_power(s, w);
    }
    return broken(errp, what);
}

static int do_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                   uint8_t *buf, size_t len, void *opaque, GError **errp)
{
    const Storage *s = opaque;

    if (s->dead) {
        return broken(errp, "a read");
    }
    if (check_range(s, offset, len, errp) < 0) {
        return -1;
    }
    memcpy(buf, s->bytes + offset, len);
    return 0;
}

static int do_write(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                    const uint8_t *buf, size_t len, void *opaque, GError **errp)
{
    Storage *s = opaque;
    Write w = {offset, len, NULL};

    if (check_range(s, offset, len, errp) < 0) {
        return -1;
    }
    w.data = g_memdup2(buf, len);
    if (count(s, &w, "a write", errp) < 0) {
        g_free(w.data);
        return -1;
    }
    memcpy(s->bytes + offset, buf, len);
    g_array_append_val(s->pending, w);
    return 0;
}

static int do_flush(QCryptoBlock *block G_GNUC_UNUSED, void *opaque,
                    GError **errp)
{
    Storage *s = opaque;

    if (count(s, NULL, "a flush", errp) < 0) {
        return -1;
    }
    for (guint i = 0; i < s->pending->len; i++) {
        const Write *w = &g_array_index(s->pending, Write, i);

        memcpy(s->durable + w->offset, w->data, w->len);
    }
    forget_pending(s);
    return 0;
}

static int do_get_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                       void *opaque, GError **errp G_GNUC_UNUSED)
{
    *size = ((const Storage *)opaque)->size;
    return 0;
}

static int do_init(QCryptoBlock *block G_GNUC_UNUSED, uint64_t size,
                   void *opaque, GError **errp)
{
    Storage *s = opaque;

    if (size > s->max_size) {
        g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_IO,
                    "no room for %" G_GUINT64_FORMAT " bytes", size);
        return -1;
    }
    if (size > s->size) {
        s->bytes = g_realloc(s->bytes, size);
        s->durable = g_realloc(s->durable, size);
        memset(s->bytes + s->size, 0, size - s->size);
        memset(s->durable + s->size, 0, size - s->size);
        s->size = size;
    }
    return 0;
}

static int do_lock(QCryptoBlock *block G_GNUC_UNUSED, bool take, void *opaque,
                   GError **errp)
{
    Storage *s = opaque;

    if (take && s->locked) {
        g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_BUSY, "locked");
        return -1;
    }
    g_assert_true(take || s->locked);
    s->locked = take;
    return 0;
}

static Storage *make(size_t size)
{
    Storage *s = g_new0(Storage, 1);

    s->bytes = g_malloc(MAX(size, 1));
    s->durable = g_malloc(MAX(size, 1));
    s->size = s->max_size = size;
    s->pending = g_array_new(false, false, sizeof(Write));
    s->io = (QCryptoBlockIO){
        .read = do_read,
        .get_size = do_get_size,
        .write = do_write,
        .flush = do_flush,
        .init = do_init,
        .lock = do_lock,
        .opaque = s,
    };
    return s;
}

Storage *storage_new(size_t size)
{
    Storage *s = make(size);
    uint8_t noise[4096];
    uint32_t x = 1;

    for (size_t i = 0; i < sizeof(noise); i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = (uint8_t)(x >> 24);
    }
    for (size_t i = 0; i < size; i += sizeof(noise)) {
        memcpy(s->bytes + i, noise, MIN(sizeof(noise), size - i));
    }
    memcpy(s->durable, s->bytes, size);
    return s;
}

Storage *storage_copy(const Storage *s)
{
    Storage *c = make(s->size);

    memcpy(c->bytes, s->bytes, s->size);
    memcpy(c->durable, s->bytes, s->size);
    c->max_size = s->max_size;
    return c;
}

void storage_break(Storage *s, unsigned n, StorageFault fault, size_t torn,
                   uint32_t kept)
{
    s->fail_at = s->calls + n;
    s->fault = fault;
    s->torn = torn;
    s->kept = kept;
}

void storage_restart(Storage *s)
{
    if (s->dead) {
        memcpy(s->bytes, s->durable, s->size);
    }
    forget_pending(s);
    s->dead = s->locked = false;
    s->fail_at = 0;
}

void storage_free(Storage *s)
{
    if (s) {
        forget_pending(s);
        g_array_unref(s->pending);
        g_free(s->bytes);
        g_free(s->durable);
        g_free(s);
    }
}
