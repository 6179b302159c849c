/*
 * Kind "cipher": throughput of block ciphers in their modes
 *
 * A request is one message under a new IV, or with sectors > 1 one call of
 * the sector functions.  Before it is timed, every candidate passes
 *
 *   1. the known answer of its algorithm and mode (the one that rows are
 *      self-tested with);
 *   2. the very request that will be timed, both ways, against a model: the
 *      mode written down plainly here, one block at a time over ECB, so that
 *      no kernel that is measured has a part in it.
 *
 * Then the output buffer is cleared; after the timed work it must hold what
 * the model says.
 *
 * The bound, "raw", is the AES rounds and nothing else over 4 KiB that stay
 * in the first-level cache, always in requests of 64 KiB; it stands beside
 * every group of an algorithm that has one, whatever the mode and size.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/cipher.h"

#include <qcrypto/ivgen.h>
#include <qcrypto/provider.h>
#include <qcrypto/xts.h>
#include <string.h>

#include "crypto/base/algs.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/kat.h"
#include "crypto/core/select.h"
#include "crypto/core/selftest.h"

/* the implementation that only bounds others, and what it is called */
#define RAW         "raw"
#define RAW_BUFFER  4096
#define RAW_REQUEST 65536

#define XTS_UNIT_MIN 16
#define XTS_UNIT_MAX ((size_t)16 << 20)
#define SECTOR       512
/* the number of the first sector: its IV has a carry soon */
#define FIRST_SECTOR 0xfffffffd
/* in and out must not have the same low 12 bits in their addresses: loads
 * would wait for stores that only look as if they wrote the same place */
#define SKEW 2112

static int wrong(GError **errp, const char *what)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "%s", what);
}

/* ---- The model ---- */

typedef struct Model {
    QCryptoCipher *ecb[2]; /* the data key, the tweak key */
    size_t block;
} Model;

static void model_block(const void *ctx, size_t length, uint8_t *dst,
                        const uint8_t *src)
{
    QCryptoCipher *ecb = (void *)ctx;

    for (size_t i = 0; i < length; i += 16) {
        /* cannot fail: whole blocks, an object that is set up */
        qcrypto_cipher_encrypt(ecb, src + i, dst + i, 16, NULL);
    }
}

static int model_ecb(const Model *m, const uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len, GError **errp)
{
    for (size_t i = 0; i < len; i += m->block) {
        if (qcrypto_cipher_encrypt(m->ecb[0], in + i, out + i, m->block, errp) <
            0) {
            return -1;
        }
    }
    return 0;
}

static int model_cbc(const Model *m, const uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len, GError **errp)
{
    uint8_t x[16];

    for (size_t i = 0; i < len; i += m->block) {
        for (size_t j = 0; j < m->block; j++) {
            x[j] = in[i + j] ^ iv[j];
        }
        if (qcrypto_cipher_encrypt(m->ecb[0], x, out + i, m->block, errp) < 0) {
            return -1;
        }
        iv = out + i;
    }
    return 0;
}

static int model_ctr(const Model *m, const uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len, GError **errp)
{
    uint8_t counter[16], x[16];

    memcpy(counter, iv, m->block);
    for (size_t i = 0; i < len; i += m->block) {
        if (qcrypto_cipher_encrypt(m->ecb[0], counter, x, m->block, errp) < 0) {
            return -1;
        }
        for (size_t j = 0; j < MIN(m->block, len - i); j++) {
            out[i + j] = in[i + j] ^ x[j];
        }
        for (size_t j = m->block; j-- && !++counter[j];) {
        }
    }
    return 0;
}

static int model_xts(const Model *m, const uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len, GError **errp)
{
    xts_uint128 tweak;

    qcrypto_xts_start(m->ecb[1], model_block, iv, &tweak);
    if (qcrypto_xts_encrypt(m->ecb[0], model_block, &tweak, len, out, in) < 0) {
        return wrong(errp, "the model refuses the length of the data unit");
    }
    return 0;
}

typedef int ModelFunc(const Model *m, const uint8_t *iv, const uint8_t *in,
                      uint8_t *out, size_t len, GError **errp);

static ModelFunc *const models[QCRYPTO_CIPHER_MODE__MAX] = {
    [QCRYPTO_CIPHER_MODE_ECB] = model_ecb,
    [QCRYPTO_CIPHER_MODE_CBC] = model_cbc,
    [QCRYPTO_CIPHER_MODE_XTS] = model_xts,
    [QCRYPTO_CIPHER_MODE_CTR] = model_ctr,
};

static void model_close(Model *m)
{
    qcrypto_cipher_free(m->ecb[0]);
    qcrypto_cipher_free(m->ecb[1]);
}

static int model_open(Model *m, const QCryptoBenchCipher *s, GError **errp)
{
    const QCryptoCipherAlgo alg = (QCryptoCipherAlgo)s->c->alg;
    const size_t nkey = qcrypto_cipher_get_key_len(alg);

    m->block = qcrypto_cipher_get_block_len(alg);
    for (size_t i = 0; i < s->nkey / nkey; i++) {
        m->ecb[i] = qcrypto_cipher_new(alg, QCRYPTO_CIPHER_MODE_ECB,
                                       s->key + i * nkey, nkey, errp);
        if (!m->ecb[i]) {
            model_close(m);
            return -1;
        }
    }
    return 0;
}

/* Fills s->text with what the request must make of s->plain. */
static int model_request(const QCryptoBenchCipher *s, GError **errp)
{
    Model m = {.block = 0};
    ModelFunc *func = models[s->c->mode];
    int ret = 0;

    if (model_open(&m, s, errp) < 0) {
        return -1;
    }
    if (s->c->flags & QCRYPTO_BENCH_BOUND) {
        memcpy(s->text, s->plain, s->total);
        for (size_t i = 0; ret == 0 && i < s->total; i += RAW_BUFFER) {
            ret = func(&m, NULL, s->text, s->text, RAW_BUFFER, errp);
        }
    }
    for (size_t i = 0;
         ret == 0 && i < s->n && !(s->c->flags & QCRYPTO_BENCH_BOUND); i++) {
        ret = func(&m, s->ivs + i * s->niv, s->plain + i * s->unit,
                   s->text + i * s->unit, s->unit, errp);
    }
    model_close(&m);
    return ret;
}

/* ---- The requests ---- */

/* A unit of its own, under its own IV: not timed. */
static int one_unit(QCryptoBenchCipher *s, int decrypt, const uint8_t *iv,
                    const uint8_t *in, uint8_t *out, size_t len, GError **errp)
{
    if (s->peer) {
        return s->peer->units(s->ctx, decrypt, iv, s->niv, len, in, out, 1,
                              errp);
    }
    if (qcrypto_cipher_setiv(s->cipher, iv, s->niv, errp) < 0) {
        return -1;
    }
    return decrypt ? qcrypto_cipher_decrypt(s->cipher, in, out, len, errp)
                   : qcrypto_cipher_encrypt(s->cipher, in, out, len, errp);
}

/*
 * The two directions of each request as two functions, so that nothing is
 * decided within the loop.
 */
#define DEFINE_REQUESTS(name)                                                  \
    static int request_##name(QCryptoBenchCipher *s, uint64_t calls,           \
                              GError **errp)                                   \
    {                                                                          \
        QCryptoCipher *cipher = s->cipher;                                     \
                                                                               \
        for (; calls; calls--) {                                               \
            if (qcrypto_cipher_setiv(cipher, s->ivs, s->niv, errp) < 0 ||      \
                qcrypto_cipher_##name(cipher, s->in, s->out, s->total, errp) < \
                    0) {                                                       \
                return -1;                                                     \
            }                                                                  \
        }                                                                      \
        return 0;                                                              \
    }                                                                          \
                                                                               \
    static int request_##name##_sectors(QCryptoBenchCipher *s, uint64_t calls, \
                                        GError **errp)                         \
    {                                                                          \
        for (; calls; calls--) {                                               \
            if (qcrypto_cipher_##name##_sectors(s->cipher, NULL, FIRST_SECTOR, \
                                                s->unit, s->in, s->out, s->n,  \
                                                0, errp) < 0) {                \
                return -1;                                                     \
            }                                                                  \
        }                                                                      \
        return 0;                                                              \
    }

DEFINE_REQUESTS(encrypt)
DEFINE_REQUESTS(decrypt)

static int request_peer(QCryptoBenchCipher *s, uint64_t calls, GError **errp)
{
    for (; calls; calls--) {
        if (s->peer->units(s->ctx, s->decrypt, s->ivs, s->niv, s->unit, s->in,
                           s->out, s->n, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static void choose_request(QCryptoBenchCipher *s)
{
    if (s->peer) {
        s->request = request_peer;
    } else if (s->n > 1) {
        s->request =
            s->decrypt ? request_decrypt_sectors : request_encrypt_sectors;
    } else {
        s->request = s->decrypt ? request_decrypt : request_encrypt;
    }
}

/* Each request in flight has an output of its own; in place, an input too. */
static unsigned slots(const QCryptoBenchCipher *s)
{
    return s->flight ? s->c->reqnum : 1;
}

/* Reads and writes as the case wants it, from the start. */
static void load(QCryptoBenchCipher *s)
{
    const uint8_t *source = s->decrypt ? s->text : s->plain;
    const bool inplace = s->c->inplace || s->c->flags & QCRYPTO_BENCH_BOUND;

    for (unsigned i = 0; i < slots(s); i++) {
        if (inplace) {
            memcpy(s->out + i * s->room, source, s->total);
        } else {
            memset(s->out + i * s->room, 0, s->total);
        }
    }
    s->in = inplace ? s->out : source;
}

/* The output of so many slots is what the model says. */
static int compare(const QCryptoBenchCipher *s, unsigned n, GError **errp)
{
    const uint8_t *want = s->decrypt ? s->plain : s->text;
    /* raw goes over the same bytes again and again */
    const size_t len =
        s->c->flags & QCRYPTO_BENCH_BOUND ? RAW_BUFFER : s->total;

    for (unsigned i = 0; i < n; i++) {
        if (memcmp(s->out + i * s->room, want, len)) {
            return wrong(errp, "wrong output");
        }
    }
    return 0;
}

/* ---- Requests in flight ---- */

static int cipher_submit(void *state, GError **errp)
{
    static int (*const message[])(
        QCryptoAsync *, const QCryptoCipher *, const uint8_t *, size_t,
        const void *, void *, size_t, QCryptoAsyncDone *, void *,
        GError **) = {qcrypto_async_encrypt, qcrypto_async_decrypt};
    static int (*const sectors[])(QCryptoAsync *, const QCryptoCipher *,
                                  const QCryptoIVGen *, uint64_t, size_t,
                                  const void *, void *, size_t, unsigned,
                                  QCryptoAsyncDone *, void *, GError **) = {
        qcrypto_async_encrypt_sectors, qcrypto_async_decrypt_sectors};
    QCryptoBenchCipher *s = state;
    const unsigned slot = qcrypto_bench_flight_take(s->flight);
    QCryptoBenchTicket *ticket = qcrypto_bench_flight_ticket(s->flight, slot);
    uint8_t *out = s->out + slot * s->room;
    const uint8_t *in = s->in == s->out ? out : s->in;

    return s->n > 1
               ? sectors[s->decrypt](s->flight->engine, s->cipher, NULL,
                                     FIRST_SECTOR, s->unit, in, out, s->n, 0,
                                     qcrypto_bench_flight_done, ticket, errp)
               : message[s->decrypt](s->flight->engine, s->cipher, s->ivs,
                                     s->niv, in, out, s->total,
                                     qcrypto_bench_flight_done, ticket, errp);
}

static int cipher_reap(void *state, GError **errp)
{
    QCryptoBenchCipher *s = state;

    return qcrypto_bench_flight_reap(s->flight, errp);
}

/* Every slot once more, from the start. */
static int fly_again(QCryptoBenchCipher *s, GError **errp)
{
    unsigned left = slots(s);

    load(s);
    for (unsigned i = 0; i < slots(s); i++) {
        if (cipher_submit(s, errp) < 0) {
            return -1;
        }
    }
    while (left) {
        const int n = cipher_reap(s, errp);

        if (n < 0) {
            return -1;
        }
        left -= (unsigned)n;
    }
    return compare(s, slots(s), errp);
}

/* ---- The operations ---- */

QCryptoCipher *qcrypto_bench_cipher_new(const QCryptoBenchCipher *s,
                                        GError **errp)
{
    const QCryptoCipherAlgo alg = (QCryptoCipherAlgo)s->c->alg;
    const QCryptoCipherMode mode = (QCryptoCipherMode)s->c->mode;

    return s->c->row ? qcrypto_cipher_new_from(s->c->row, alg, mode, s->key,
                                               s->nkey, errp)
                     : qcrypto_cipher_new(alg, mode, s->key, s->nkey, errp);
}

static int make_ivs(QCryptoBenchCipher *s, GError **errp)
{
    g_autoptr(QCryptoIVGen) ivgen = NULL;
    uint64_t step = s->n > 1 ? s->unit / SECTOR : 1;

    if (!s->niv) {
        return 0;
    }
    ivgen = qcrypto_ivgen_new(QCRYPTO_IV_GEN_ALGO_PLAIN64,
                              (QCryptoCipherAlgo)s->c->alg,
                              QCRYPTO_HASH_ALGO_MD5, NULL, 0, errp);
    if (!ivgen) {
        return -1;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (qcrypto_ivgen_calculate(ivgen, FIRST_SECTOR + i * step,
                                    s->ivs + i * s->niv, s->niv, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Page-aligned buffers of one allocation, each with a skew of its own. */
static int make_buffers(QCryptoBenchCipher *s, GError **errp)
{
    const size_t room = ((s->total + 4095) & ~(size_t)4095) + 4096;

    s->room = room;
    s->size = (3 + slots(s)) * room + s->n * 16 + 4096;
    s->memory = qcrypto_alloc(s->size);
    if (!s->memory) {
        return qcrypto_error_memory(errp, "the benchmark's buffers",
                                    s->size / 1024, 0);
    }
    s->plain = (void *)(((uintptr_t)s->memory + 4095) & ~(uintptr_t)4095);
    s->text = s->plain + room;
    s->out = s->text + room + SKEW;
    s->ivs = s->out + slots(s) * room;
    for (size_t i = 0; i < s->total; i++) {
        s->plain[i] = (uint8_t)(i * 11 + (i >> 8) * 5 + 1);
    }
    return 0;
}

void *qcrypto_bench_cipher_setup(const QCryptoBenchCase *c, GError **errp)
{
    const QCryptoCipherAlgo alg = (QCryptoCipherAlgo)c->alg;
    QCryptoBenchCipher *s = g_new0(QCryptoBenchCipher, 1);
    uint8_t message[QCRYPTO_SELFTEST_MESSAGE], iv[16];

    s->c = c;
    s->n = c->sectors;
    s->unit = c->inputsize;
    if (c->flags & QCRYPTO_BENCH_BOUND) {
        s->n = 1;
        s->unit = RAW_REQUEST;
    }
    s->decrypt = c->op == 1 && !(c->flags & QCRYPTO_BENCH_BOUND);
    s->total = s->n * s->unit;
    s->niv = qcrypto_cipher_get_iv_len(alg, (QCryptoCipherMode)c->mode);
    s->nkey = qcrypto_cipher_get_key_len(alg) *
              (c->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1);
    qcrypto_selftest_message(c->mode, s->key, iv, message);
    if (c->reqnum > 1 && c->ops->submit) {
        s->flight = qcrypto_bench_flight_new(c->reqnum, errp);
        if (!s->flight) {
            qcrypto_bench_cipher_teardown(s);
            return NULL;
        }
    }
    if (make_buffers(s, errp) < 0 || make_ivs(s, errp) < 0) {
        qcrypto_bench_cipher_teardown(s);
        return NULL;
    }
    if (c->peer) {
        s->peer = c->peer->cipher;
        s->ctx = s->peer->open(c->alg, c->mode, s->key, s->nkey, errp);
    } else {
        s->cipher = qcrypto_bench_cipher_new(s, errp);
    }
    if (!s->ctx && !s->cipher) {
        qcrypto_bench_cipher_teardown(s);
        return NULL;
    }
    choose_request(s);
    return s;
}

void qcrypto_bench_cipher_teardown(void *state)
{
    QCryptoBenchCipher *s = state;

    qcrypto_bench_flight_free(s->flight);
    if (s->ctx) {
        s->peer->close(s->ctx);
    }
    qcrypto_cipher_free(s->cipher);
    qcrypto_wipe_free(s->memory, s->size);
    g_free(s);
}

void qcrypto_bench_cipher_identify(const void *state, const char **provider,
                                   const char **impl)
{
    const QCryptoBenchCipher *s = state;

    *provider = s->cipher && !(s->c->flags & QCRYPTO_BENCH_BOUND)
                    ? qcrypto_cipher_get_provider(s->cipher)
                    : s->c->provider;
    *impl = s->cipher ? qcrypto_cipher_get_impl(s->cipher) : s->c->peer->impl;
}

static int known_answer(QCryptoBenchCipher *s, GError **errp)
{
    uint8_t key[64], iv[16];
    uint8_t plain[QCRYPTO_SELFTEST_MESSAGE], text[QCRYPTO_SELFTEST_MESSAGE];
    size_t len = qcrypto_selftest_message(s->c->mode, key, iv, plain);
    uint64_t answer;

    if (!qcrypto_selftest_answer(QCRYPTO_KIND_CIPHER, s->c->alg, s->c->mode,
                                 &answer)) {
        return wrong(errp, "there is no known answer to check it with");
    }
    if (one_unit(s, 0, iv, plain, text, len, errp) < 0) {
        return -1;
    }
    return qcrypto_selftest_fold(text, len) == answer
               ? 0
               : wrong(errp, "known answer: wrong ciphertext");
}

/* The request in one direction, whatever the case's own is. */
static int try_direction(QCryptoBenchCipher *s, int decrypt, GError **errp)
{
    const int own = s->decrypt;
    int ret;

    s->decrypt = decrypt;
    choose_request(s);
    load(s);
    ret = s->request(s, 1, errp) < 0 || compare(s, 1, errp) < 0 ? -1 : 0;
    s->decrypt = own;
    choose_request(s);
    return ret;
}

int qcrypto_bench_cipher_verify(void *state, GError **errp)
{
    QCryptoBenchCipher *s = state;

    if (!(s->c->flags & QCRYPTO_BENCH_BOUND) && known_answer(s, errp) < 0) {
        return -1;
    }
    if (model_request(s, errp) < 0 || try_direction(s, 0, errp) < 0) {
        return -1;
    }
    if (!(s->c->flags & QCRYPTO_BENCH_BOUND) && try_direction(s, 1, errp) < 0) {
        return -1;
    }
    load(s);
    return 0;
}

static int cipher_run(void *state, uint64_t calls, GError **errp)
{
    QCryptoBenchCipher *s = state;

    return s->request(s, calls, errp);
}

int qcrypto_bench_cipher_check_again(void *state, GError **errp)
{
    QCryptoBenchCipher *s = state;

    load(s);
    return s->request(s, 1, errp) < 0 ? -1 : compare(s, 1, errp);
}

static int cipher_check(void *state, GError **errp)
{
    QCryptoBenchCipher *s = state;

    if (s->in != s->out) {
        /* the very bytes that the timed work left */
        return compare(s, s->flight ? s->flight->used : 1, errp);
    }
    return s->flight ? fly_again(s, errp)
                     : qcrypto_bench_cipher_check_again(state, errp);
}

#define OPS                                                                    \
    .setup = qcrypto_bench_cipher_setup,                                       \
    .identify = qcrypto_bench_cipher_identify,                                 \
    .verify = qcrypto_bench_cipher_verify, .run = cipher_run,                  \
    .check = cipher_check, .teardown = qcrypto_bench_cipher_teardown

static const QCryptoBenchOps cipher_ops = {
    OPS,
    .submit = cipher_submit,
    .reap = cipher_reap,
};

/* of peers and of the bound, which have one request at a time */
static const QCryptoBenchOps synchronous_ops = {OPS};

/* ---- From request to cases ---- */

static bool peer_has(const QCryptoBenchPeer *peer, int alg, int mode)
{
    return peer->cipher && peer->cipher->supports(alg, mode);
}

/* The bound stands beside the others; add_raw sees to that. */
static bool mark(QCryptoBenchCase *c, const QCryptoRowInfo *row)
{
    if (row && !strcmp(row->impl, RAW)) {
        return false;
    }
    if (!row && c->ops == &cipher_ops) {
        c->ops = &synchronous_ops;
    }
    if (c->mode == QCRYPTO_CIPHER_MODE_ECB && !(row && row->avoid)) {
        c->flags |= QCRYPTO_BENCH_BOUNDED;
    }
    return true;
}

typedef struct Planner {
    const QCryptoBenchRequest *req;
    QCryptoBenchSource source;
    int (*fit)(QCryptoBenchCase *c, GError **errp);
    GPtrArray *groups;
} Planner;

/* The bound: measured in ECB, shown beside every mode. */
static int add_raw(GPtrArray *list, const Planner *p, int alg, int mode,
                   GError **errp)
{
    const bool whole_cpu = qcrypto_cpu_features() == qcrypto_cpu_hardware();
    char *everything[] = {(char *)RAW, NULL};
    QCryptoBenchRequest req = {.impls = everything};
    QCryptoBenchSource source = p->source;
    char what[64];

    if (!qcrypto_bench_listed(p->req->providers, RAW) ||
        (p->req->impls && !qcrypto_bench_listed(p->req->impls, "all") &&
         !qcrypto_bench_listed(p->req->impls, RAW))) {
        return 0;
    }
    source.mark = NULL;
    g_autoptr(GPtrArray) raw = qcrypto_bench_candidates(
        &source, &req, alg, QCRYPTO_CIPHER_MODE_ECB, errp);
    if (!raw) {
        return -1;
    }
    for (guint i = 0; i < raw->len; i++) {
        QCryptoBenchCase *c = g_ptr_array_index(raw, i);

        if (!c->row) {
            continue;
        }
        /* with features taken away by QCRYPTO_CPU only those rows are
         * bounded that obey it, as other libraries do not */
        for (guint j = 0; j < list->len && !whole_cpu; j++) {
            QCryptoBenchCase *other = g_ptr_array_index(list, j);

            if (strcmp(other->provider, c->provider) != 0) {
                other->flags &= ~QCRYPTO_BENCH_BOUNDED;
            }
        }
        c = qcrypto_bench_case_dup(c);
        c->flags = QCRYPTO_BENCH_BOUND;
        c->ops = &synchronous_ops;
        g_free(c->provider);
        c->provider = g_strdup(RAW);
        g_free(c->algorithm);
        c->algorithm =
            g_strdup(qcrypto_describe(what, QCRYPTO_KIND_CIPHER, alg, mode));
        g_ptr_array_add(list, c);
        break;
    }
    return 0;
}

static int plan_one(Planner *p, int alg, int mode, GError **errp)
{
    g_autoptr(GPtrArray) list =
        qcrypto_bench_candidates(&p->source, p->req, alg, mode, errp);

    if (!list || add_raw(list, p, alg, mode, errp) < 0) {
        return -1;
    }
    return qcrypto_bench_cross(p->source.kind, p->req, list, p->groups, p->fit,
                               errp);
}

/* XTS wants blocks of 16 bytes. */
static bool can_be(int alg, int mode)
{
    return mode != QCRYPTO_CIPHER_MODE_XTS ||
           qcrypto_cipher_get_block_len((QCryptoCipherAlgo)alg) == 16;
}

/* What a name says; -1 or NULL: it leaves that open. */
typedef struct CipherName {
    int alg, mode;
    const char *family; /* "aes", as dm-crypt has it */
} CipherName;

/* "aes-256" or "aes" */
static bool parse_alg(const char *text, CipherName *name)
{
    const QCryptoAlg *a;

    name->alg = qcrypto_cipher_algo_from_name(text);
    name->family = NULL;
    for (size_t i = 0;
         name->alg < 0 && !name->family && (a = qcrypto_alg_at(i)); i++) {
        if (a->kind == QCRYPTO_KIND_CIPHER && a->family &&
            !g_ascii_strcasecmp(text, a->family)) {
            name->family = a->family;
        }
    }
    return name->alg >= 0 || name->family;
}

/* "aes-256-xts", "aes-256", "aes-xts", "aes", "xts(aes)", "all" */
static bool parse_name(const char *text, CipherName *name)
{
    const size_t n = strlen(text);
    const char *open = strchr(text, '(');
    const char *dash = strrchr(text, '-');
    g_autofree char *alg = NULL;
    g_autofree char *mode = NULL;

    name->mode = -1;
    if (!g_ascii_strcasecmp(text, "all")) {
        name->alg = -1;
        name->family = NULL;
        return true;
    }
    if (open && text[n - 1] == ')') {
        alg = g_strndup(open + 1, (gsize)(text + n - 2 - open));
        mode = g_strndup(text, (gsize)(open - text));
    } else if (parse_alg(text, name)) {
        return true;
    } else if (dash) {
        alg = g_strndup(text, (gsize)(dash - text));
        mode = g_strdup(dash + 1);
    }
    if (!alg) {
        return false;
    }
    name->mode = qcrypto_cipher_mode_from_name(mode);
    return name->mode >= 0 && parse_alg(alg, name);
}

static bool knows(const char *text)
{
    CipherName name;

    return parse_name(text, &name);
}

static bool is_meant(const CipherName *name, int alg)
{
    return name->family ? !strcmp(qcrypto_alg(QCRYPTO_KIND_CIPHER, alg)->family,
                                  name->family)
                        : name->alg < 0 || name->alg == alg;
}

/* Every mode of the request that the algorithm can have. */
static int plan_modes(Planner *p, const CipherName *name, int alg,
                      GError **errp)
{
    for (int mode = 0; mode < QCRYPTO_CIPHER_MODE__MAX; mode++) {
        if (can_be(alg, mode) &&
            (name->mode < 0
                 ? qcrypto_bench_listed(p->req->modes, qcrypto_mode_name(mode))
                 : mode == name->mode) &&
            plan_one(p, alg, mode, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

static int plan_name(Planner *p, const char *text, GError **errp)
{
    g_autoptr(GString) sizes = g_string_new(NULL);
    CipherName name;
    bool found = false;

    if (!parse_name(text, &name)) {
        return qcrypto_error_unknown(errp, "cipher", text);
    }
    for (int a = 0; a < QCRYPTO_CIPHER_ALGO__MAX; a++) {
        const unsigned bits = qcrypto_alg(QCRYPTO_KIND_CIPHER, a)->key_len * 8u;

        if (!is_meant(&name, a)) {
            continue;
        }
        if (name.mode >= 0 && !can_be(a, name.mode)) {
            return qcrypto_error_unsupported(
                errp, text, "XTS needs a cipher with blocks of 16 bytes");
        }
        g_string_append_printf(sizes, "%s%u", sizes->len ? ", " : "", bits);
        if (qcrypto_bench_key_listed(p->req, bits)) {
            found = true;
            if (plan_modes(p, &name, a, errp) < 0) {
                return -1;
            }
        }
    }
    return found ? 0
                 : qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "--keysize: %s has keys of %s bits, not %u",
                                 text, sizes->str, p->req->keybits[0]);
}

int qcrypto_bench_cipher_plan(const QCryptoBenchKind *kind,
                              const QCryptoBenchRequest *request,
                              const QCryptoBenchOps *ops,
                              int (*fit)(QCryptoBenchCase *c, GError **errp),
                              GPtrArray *groups, GError **errp)
{
    Planner p = {
        .req = request,
        .source = {kind, ops, QCRYPTO_KIND_CIPHER, peer_has, mark},
        .fit = fit,
        .groups = groups,
    };
    int ret = 0;

    for (size_t i = 0; request->modes && ret == 0 && request->modes[i]; i++) {
        if (qcrypto_cipher_mode_from_name(request->modes[i]) < 0) {
            ret = qcrypto_error_unknown(errp, "mode", request->modes[i]);
        }
    }
    if (request->algorithms) {
        for (size_t i = 0; ret == 0 && request->algorithms[i]; i++) {
            ret = plan_name(&p, request->algorithms[i], errp);
        }
    } else {
        for (size_t i = 0; ret == 0 && kind->algorithms[i]; i++) {
            ret = plan_name(&p, kind->algorithms[i], errp);
        }
    }
    return ret;
}

static int fit(QCryptoBenchCase *c, GError **errp)
{
    const size_t block =
        qcrypto_cipher_get_block_len((QCryptoCipherAlgo)c->alg);

    c->keybits = qcrypto_alg(QCRYPTO_KIND_CIPHER, c->alg)->key_len * 8u;
    if (c->flags & QCRYPTO_BENCH_BOUND) {
        c->request_bytes = RAW_REQUEST;
        return 0;
    }
    c->request_bytes = (uint64_t)c->inputsize * c->sectors;
    if (c->sectors > 1 && c->inputsize % SECTOR) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "sectors are multiples of %d bytes, not %zu",
                             SECTOR, c->inputsize);
    }
    if (c->mode == QCRYPTO_CIPHER_MODE_XTS) {
        if (c->inputsize < XTS_UNIT_MIN || c->inputsize > XTS_UNIT_MAX) {
            return qcrypto_error_unit_len(errp, c->algorithm, XTS_UNIT_MIN,
                                          XTS_UNIT_MAX, c->inputsize);
        }
    } else if (c->mode != QCRYPTO_CIPHER_MODE_CTR && c->inputsize % block) {
        return qcrypto_error_data_len(errp, c->algorithm, block, c->inputsize);
    }
    return 0;
}

static int cipher_plan(const QCryptoBenchKind *kind,
                       const QCryptoBenchRequest *request, GPtrArray *groups,
                       GError **errp)
{
    return qcrypto_bench_cipher_plan(kind, request, &cipher_ops, fit, groups,
                                     errp);
}

static const char *const algorithms[] = {
    "aes-256-xts", "aes-128-xts", "aes-256-cbc", "aes-256-ctr", NULL,
};

static const QCryptoBenchSize sizes[] = {
    {512, 1}, {4096, 1}, {16384, 1}, {65536, 1}, {512, 8},
};

static const char *const alt_names[] = {"CRYPTO_CIPHER", "CRYPTO_SKCIPHER",
                                        NULL};

const QCryptoBenchKind qcrypto_bench_kind_cipher = {
    .name = "cipher",
    .alt_names = alt_names,
    .own = RAW,
    .optypes = {"encrypt", "decrypt"},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = cipher_plan,
};
