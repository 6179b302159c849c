/*
 * A cipher row that takes its time: see latency.h
 *
 * The bytes are made when a request is submitted; it ends when the timer
 * says so.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdbool.h>

#include "latency.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/core/providers.h"
#include "crypto/core/select.h"

#define WIDTH_MAX 64

LatencyDevice latency_device;

void latency_reset(void)
{
    latency_device = (LatencyDevice){
        .latency_us = 1000,
        .width = 4,
        .refuse_with = -1,
    };
}

/* ---- the row behind it ---- */

static const QCryptoRow *real_row(const QCryptoRow *row)
{
    const QCryptoProvider *p = qcrypto_provider_table[0].provider;

    for (size_t i = 0; i < p->nrows; i++) {
        const QCryptoRow *r = &p->rows[i];

        if (r->kind == row->kind && r->alg == row->alg &&
            r->mode == row->mode && r->cpu == 0 && r->flags == 0) {
            return r;
        }
    }
    g_assert_not_reached();
}

typedef struct Ctx {
    const QCryptoRow *row;
    const QCryptoCipherOps *ops;
    uint8_t ctx[] __attribute__((aligned(16)));
} Ctx;

static size_t ctx_size(const QCryptoRow *row)
{
    const QCryptoRow *real = real_row(row);
    const QCryptoCipherOps *ops = real->ops;

    return sizeof(Ctx) + ops->ctx_size(real);
}

static int init(void *opaque, const QCryptoRow *row, const uint8_t *key,
                size_t nkey, GError **errp)
{
    Ctx *c = opaque;

    c->row = real_row(row);
    c->ops = c->row->ops;
    return c->ops->init(c->ctx, c->row, key, nkey, errp);
}

static void fini(void *opaque)
{
    Ctx *c = opaque;

    if (c->ops->fini) {
        c->ops->fini(c->ctx);
    }
}

static int encrypt(const void *opaque, uint8_t *iv, const uint8_t *in,
                   uint8_t *out, size_t len, GError **errp)
{
    const Ctx *c = opaque;

    g_usleep(latency_device.latency_us);
    return c->ops->crypt[0](c->ctx, iv, in, out, len, errp);
}

static int decrypt(const void *opaque, uint8_t *iv, const uint8_t *in,
                   uint8_t *out, size_t len, GError **errp)
{
    const Ctx *c = opaque;

    g_usleep(latency_device.latency_us);
    return c->ops->crypt[1](c->ctx, iv, in, out, len, errp);
}

/* ---- the queue ---- */

typedef struct Slot {
    void *tag; /* NULL: unused */
    int64_t due;
} Slot;

typedef struct Queue {
    int timer;
    unsigned depth;
    int64_t free_at[WIDTH_MAX]; /* of each of the device's servers */
    Slot slots[];
} Queue;

static void arm(Queue *q)
{
    int64_t first = G_MAXINT64;

    for (unsigned i = 0; i < q->depth; i++) {
        if (q->slots[i].tag) {
            first = MIN(first, q->slots[i].due);
        }
    }
    const int64_t at = first == G_MAXINT64 ? 0 : MAX(first, 1);
    const struct itimerspec when = {
        .it_value = {.tv_sec = at / 1000000, .tv_nsec = at % 1000000 * 1000},
    };
    g_assert_cmpint(timerfd_settime(q->timer, TFD_TIMER_ABSTIME, &when, NULL),
                    ==, 0);
}

static void *queue_open(unsigned depth, GError **errp)
{
    if (latency_device.absent) {
        qcrypto_error_unsupported(errp, "a queue", "the device has none today");
        return NULL;
    }
    Queue *q = g_malloc0(sizeof(Queue) + depth * sizeof(Slot));

    q->depth = depth;
    /* GLib's monotonic clock */
    q->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    g_assert_cmpint(q->timer, >=, 0);
    return q;
}

static int queue_fd(const void *opaque)
{
    const Queue *q = opaque;

    return q->timer;
}

static int queue_submit(void *opaque, const void *ctx, int dec,
                        const uint8_t *ivs, size_t unit_size, const uint8_t *in,
                        uint8_t *out, size_t n, void *tag, GError **errp)
{
    Queue *q = opaque;
    const Ctx *c = ctx;
    const unsigned width = CLAMP(latency_device.width, 1, WIDTH_MAX);
    unsigned server = 0, i = 0;

    if (latency_device.refuse_with >= 0) {
        return qcrypto_error(errp, (QCryptoErrorKind)latency_device.refuse_with,
                             "the device does not take it");
    }
    while (q->slots[i].tag) {
        g_assert_cmpuint(++i, <, q->depth);
    }
    for (size_t u = 0; u < n; u++) {
        uint8_t iv[16];

        memcpy(iv, ivs + 16 * u, sizeof(iv));
        if (c->ops->crypt[dec](c->ctx, iv, in + u * unit_size,
                               out + u * unit_size, unit_size, errp) < 0) {
            return -1;
        }
    }
    for (unsigned s = 1; s < width; s++) {
        server = q->free_at[s] < q->free_at[server] ? s : server;
    }
    const int64_t start = MAX(g_get_monotonic_time(), q->free_at[server]);
    q->free_at[server] = start + latency_device.latency_us;
    q->slots[i] = (Slot){tag, q->free_at[server]};
    latency_device.taken++;
    latency_device.in_flight++;
    latency_device.most = MAX(latency_device.most, latency_device.in_flight);
    arm(q);
    return 0;
}

static unsigned queue_reap(void *opaque, QCryptoAsyncEnded *ended, void *arg)
{
    Queue *q = opaque;
    const int64_t now = g_get_monotonic_time();
    unsigned n = 0;

    for (unsigned i = 0; i < q->depth; i++) {
        Slot *s = &q->slots[i];

        if (s->tag && s->due <= now) {
            GError *err = NULL;

            if (latency_device.fails) {
                qcrypto_error(&err, QCRYPTO_ERROR_IO, "the device is on fire");
            }
            latency_device.in_flight--;
            ended(arg, s->tag, err);
            s->tag = NULL;
            n++;
        }
    }
    /* this also takes back that it is readable */
    arm(q);
    return n;
}

static void queue_close(void *opaque)
{
    Queue *q = opaque;

    close(q->timer);
    g_free(q);
}

static const QCryptoCipherAsyncOps queue_ops = {
    .open = queue_open,
    .fd = queue_fd,
    .submit = queue_submit,
    .reap = queue_reap,
    .close = queue_close,
};

/* ---- the provider ---- */

static const QCryptoCipherOps sleeper = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .crypt = {encrypt, decrypt},
};

static const QCryptoCipherOps device = {
    .ctx_size = ctx_size,
    .init = init,
    .fini = fini,
    .crypt = {encrypt, decrypt},
    .async = &queue_ops,
};

static const QCryptoRow rows[] = {
    QCRYPTO_CIPHER_ROW(AES_128, CBC, "device", 0, 0, device, NULL),
    QCRYPTO_CIPHER_ROW(AES_128, CTR, "device", 0, 0, device, NULL),
    QCRYPTO_CIPHER_ROW(AES_128, CBC, "sleeper", 0, 0, sleeper, NULL),
    QCRYPTO_CIPHER_ROW(AES_128, CTR, "sleeper", 0, 0, sleeper, NULL),
};

static const QCryptoProvider latency = {
    .name = "latency",
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};

void latency_use(void)
{
    static QCryptoProviderEntry table[2];

    table[0] = qcrypto_provider_table[0];
    table[1] = (QCryptoProviderEntry){"latency", &latency, true};
    latency_reset();
    qcrypto_select_set_table(table, G_N_ELEMENTS(table));
}
