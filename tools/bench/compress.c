/*
 * Kind "compress": compression and decompression
 *
 *   zlib-deflate    at the algorithm's default level
 *   zlib-deflate:9  at another one; "zstd:-5"
 *
 * inputsize is that of a block before compression, in both directions: rates
 * count those bytes.  Requests go through the blocks of the data one after the
 * other, so that no compressor knows its only block by heart; data is generated
 * or a file's (data.h).  An object serves all requests of a thread.
 *
 * Before it is timed every block is compressed by the case, and decompressed
 * again by it and by another provider's row where there is one.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/compress.h"

#include <qcrypto/comp.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/select.h"
#include "tools/bench/data.h"
#include "tools/bench/flight.h"

enum { OP_COMPRESS, OP_DECOMPRESS };

typedef struct Packed {
    size_t at; /* in packed */
    size_t len;
} Packed;

/* A request in flight: an object and an output of its own. */
typedef struct Slot {
    const struct Compress *s;
    QCryptoComp *comp;
    uint8_t *out;
    size_t len, block;
} Slot;

typedef struct Compress {
    const QCryptoBenchCase *c;
    QCryptoComp *comp;
    QCryptoComp *witness; /* NULL: none but the row itself */
    size_t unit;
    size_t n; /* blocks */
    size_t next;
    uint8_t *packed; /* every block, compressed */
    size_t npacked;
    Packed *blocks;
    uint8_t *out; /* of the request under way */
    size_t room;
    size_t len;                 /* of the last one */
    QCryptoBenchFlight *flight; /* NULL: one request after the other */
    Slot *slots;
} Compress;

/* "zstd:19" to number and level; -1: no such name. */
static int parse_name(const char *name, int *level)
{
    g_auto(GStrv) part = g_strsplit(name, ":", 2);
    gint64 value = QCRYPTO_COMP_LEVEL_DEFAULT;

    if (!part[0] ||
        (part[1] && !g_ascii_string_to_signed(part[1], 10, INT_MIN + 1, INT_MAX,
                                              &value, NULL))) {
        return -1;
    }
    *level = (int)value;
    return qcrypto_comp_algo_from_name(part[0]);
}

static const uint8_t *block(const Compress *s, size_t i)
{
    return s->c->data->bytes + i * s->unit;
}

/* ---- The operations ---- */

/* Block i to out, by comp. */
static int request(const Compress *s, QCryptoComp *comp, size_t i, uint8_t *out,
                   size_t *len, GError **errp)
{
    const Packed *p = &s->blocks[i];

    if (s->c->op == OP_DECOMPRESS) {
        *len = s->unit;
        return qcrypto_comp_decompress(comp, s->packed + p->at, p->len, out,
                                       len, errp);
    }
    *len = s->room;
    return qcrypto_comp_compress(comp, block(s, i), s->unit, out, len, errp);
}

static int run(void *state, uint64_t calls, GError **errp)
{
    Compress *s = state;

    for (; calls; calls--) {
        if (request(s, s->comp, s->next, s->out, &s->len, errp) < 0) {
            return -1;
        }
        s->next = s->next + 1 < s->n ? s->next + 1 : 0;
    }
    return 0;
}

static int run_slot(void *arg, GError **errp)
{
    Slot *slot = arg;

    return request(slot->s, slot->comp, slot->block, slot->out, &slot->len,
                   errp);
}

static int submit(void *state, GError **errp)
{
    Compress *s = state;
    const unsigned i = qcrypto_bench_flight_take(s->flight);

    s->slots[i].block = s->next;
    s->next = s->next + 1 < s->n ? s->next + 1 : 0;
    return qcrypto_async_submit(s->flight->engine, run_slot, &s->slots[i], NULL,
                                qcrypto_bench_flight_done,
                                qcrypto_bench_flight_ticket(s->flight, i),
                                errp);
}

static int reap(void *state, GError **errp)
{
    const Compress *s = state;

    return qcrypto_bench_flight_reap(s->flight, errp);
}

/* What comp makes of these bytes is block i. */
static int same_block(Compress *s, QCryptoComp *comp, size_t i,
                      const uint8_t *packed, size_t npacked, uint8_t *back,
                      GError **errp)
{
    size_t len = s->unit;

    memset(back, 0xa5, s->unit);
    if (qcrypto_comp_decompress(comp, packed, npacked, back, &len, errp) < 0) {
        return -1;
    }
    return len == s->unit && !memcmp(back, block(s, i), len)
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "%s decompresses to other bytes",
                               qcrypto_comp_get_provider(comp));
}

/* All blocks, compressed and back; leaves them packed for run_decompress. */
static int verify(void *state, GError **errp)
{
    Compress *s = state;
    g_autofree uint8_t *back = g_malloc(s->unit);

    s->npacked = 0;
    for (size_t i = 0; i < s->n; i++) {
        Packed *p = &s->blocks[i];
        size_t len = s->room;

        if (qcrypto_comp_compress(s->comp, block(s, i), s->unit, s->out, &len,
                                  errp) < 0) {
            return -1;
        }
        *p = (Packed){s->npacked, len};
        /* n times the bound, which is the room */
        memcpy(s->packed + p->at, s->out, len);
        s->npacked += len;
        if (same_block(s, s->comp, i, s->packed + p->at, len, back, errp) < 0 ||
            (s->witness && same_block(s, s->witness, i, s->packed + p->at, len,
                                      back, errp) < 0)) {
            return -1;
        }
    }
    s->next = 0;
    return 0;
}

/* What a request made of block i is right. */
static int check_output(Compress *s, size_t i, const uint8_t *out, size_t len,
                        GError **errp)
{
    g_autofree uint8_t *back = g_malloc(s->unit);

    if (s->c->op == OP_COMPRESS) {
        return same_block(s, s->comp, i, out, len, back, errp);
    }
    return len == s->unit && !memcmp(out, block(s, i), s->unit)
               ? 0
               : qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                               "wrong output");
}

/* The output of the last request, or of the last one in each slot. */
static int check(void *state, GError **errp)
{
    Compress *s = state;

    for (unsigned i = 0; s->flight && i < s->flight->used; i++) {
        const Slot *slot = &s->slots[i];

        if (check_output(s, slot->block, slot->out, slot->len, errp) < 0) {
            return -1;
        }
    }
    return s->flight ? 0
                     : check_output(s, (s->next ? s->next : s->n) - 1, s->out,
                                    s->len, errp);
}

static double ratio(const void *state)
{
    const Compress *s = state;

    return (double)(s->n * s->unit) / (double)s->npacked;
}

static void teardown(void *state)
{
    Compress *s = state;

    qcrypto_bench_flight_free(s->flight);
    for (unsigned i = 0; s->slots && i < s->c->reqnum; i++) {
        qcrypto_comp_free(s->slots[i].comp);
        free(s->slots[i].out);
    }
    g_free(s->slots);
    qcrypto_comp_free(s->comp);
    qcrypto_comp_free(s->witness);
    free(s->packed);
    free(s->out);
    g_free(s->blocks);
    g_free(s);
}

/* Another provider's object of the format, or NULL. */
static QCryptoComp *find_witness(const QCryptoBenchCase *c)
{
    QCryptoCandidate *other;

    for (size_t i = 0;
         (other = qcrypto_select_usable(QCRYPTO_KIND_COMP, c->alg, -1, i, &i));
         i++) {
        if (strcmp(other->provider->name, c->provider) != 0) {
            return qcrypto_comp_new_from(other->provider->name,
                                         (QCryptoCompAlgo)c->alg,
                                         QCRYPTO_COMP_LEVEL_DEFAULT, NULL);
        }
    }
    return NULL;
}

static int open_flight(Compress *s, int level, GError **errp)
{
    const size_t room = MAX(s->room, s->unit);

    if (s->c->reqnum <= 1) {
        return 0;
    }
    s->slots = g_new0(Slot, s->c->reqnum);
    for (unsigned i = 0; i < s->c->reqnum; i++) {
        Slot *slot = &s->slots[i];

        slot->s = s;
        slot->out = qcrypto_alloc(room);
        if (!slot->out) {
            return qcrypto_error_memory(errp, "the benchmark's buffers",
                                        s->c->reqnum * room / 1024 + 1, 0);
        }
        slot->comp = qcrypto_comp_new_from(
            s->c->row, (QCryptoCompAlgo)s->c->alg, level, errp);
        if (!slot->comp) {
            return -1;
        }
    }
    s->flight = qcrypto_bench_flight_new(s->c->reqnum, errp);
    return s->flight ? 0 : -1;
}

static void *setup(const QCryptoBenchCase *c, GError **errp)
{
    Compress *s = g_new0(Compress, 1);
    int level;

    parse_name(c->algorithm, &level);
    s->c = c;
    s->unit = c->inputsize;
    s->n = c->data->len / s->unit;
    s->room = qcrypto_comp_bound((QCryptoCompAlgo)c->alg, s->unit);
    s->out = qcrypto_alloc(MAX(s->room, s->unit));
    s->packed = qcrypto_alloc(s->n * s->room);
    s->blocks = g_new(Packed, s->n);
    s->comp =
        qcrypto_comp_new_from(c->row, (QCryptoCompAlgo)c->alg, level, errp);
    if (s->comp && (!s->out || !s->packed)) {
        qcrypto_error_memory(errp, "the benchmark's buffers",
                             (s->n + 1) * s->room / 1024 + 1, 0);
    } else if (s->comp && open_flight(s, level, errp) == 0) {
        s->witness = find_witness(c);
        return s;
    }
    teardown(s);
    return NULL;
}

static void identify(const void *state, const char **provider,
                     const char **impl)
{
    const Compress *s = state;

    *provider = qcrypto_comp_get_provider(s->comp);
    *impl = qcrypto_comp_get_impl(s->comp);
}

static const QCryptoBenchOps ops = {
    .setup = setup,
    .identify = identify,
    .verify = verify,
    .run = run,
    .submit = submit,
    .reap = reap,
    .check = check,
    .ratio = ratio,
    .teardown = teardown,
};

/* ---- From request to cases ---- */

static bool no_peer(const QCryptoBenchPeer *peer G_GNUC_UNUSED,
                    int alg G_GNUC_UNUSED, int mode G_GNUC_UNUSED)
{
    return false;
}

static int fit(QCryptoBenchCase *c, GError **errp)
{
    if (c->sectors != 1) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: a request is one unit, not %zu", c->algtype,
                             c->sectors);
    }
    if (c->inputsize > c->data->len) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: %zu bytes are more than there are (%s)",
                             c->algtype, c->inputsize, c->data->text);
    }
    c->request_bytes = c->inputsize;
    return 0;
}

/* The largest block decides how much is generated. */
static size_t largest(const QCryptoBenchKind *kind,
                      const QCryptoBenchRequest *request)
{
    const QCryptoBenchSize *sizes =
        request->sizes ? request->sizes : kind->sizes;
    const size_t n = request->sizes ? request->nsizes : kind->nsizes;
    size_t most = 0;

    for (size_t i = 0; i < n; i++) {
        most = MAX(most, sizes[i].inputsize);
    }
    return most;
}

static int plan_one(const QCryptoBenchKind *kind,
                    const QCryptoBenchRequest *request, const char *name,
                    const QCryptoBenchData *data, GPtrArray *groups,
                    GError **errp)
{
    const QCryptoBenchSource source = {kind, &ops, QCRYPTO_KIND_COMP, no_peer,
                                       NULL};
    int level;
    const int alg = parse_name(name, &level);

    if (alg < 0) {
        return qcrypto_error_unknown(errp, "compression", name);
    }
    g_autoptr(GPtrArray) list =
        qcrypto_bench_candidates(&source, request, alg, -1, errp);
    for (guint i = 0; list && i < list->len; i++) {
        QCryptoBenchCase *c = g_ptr_array_index(list, i);
        g_autoptr(GError) err = NULL;

        c->data = data;
        g_free(c->algorithm);
        c->algorithm = g_ascii_strdown(name, -1);
        if (c->unavailable) {
            continue;
        }
        QCryptoComp *comp =
            qcrypto_comp_new_from(c->row, (QCryptoCompAlgo)alg, level, &err);
        if (g_error_matches(err, QCRYPTO_ERROR,
                            QCRYPTO_ERROR_INVALID_ARGUMENT)) {
            g_propagate_error(errp, g_steal_pointer(&err));
            return -1; /* nobody's level */
        }
        c->unavailable = comp ? NULL : g_strdup(err->message);
        qcrypto_comp_free(comp);
    }
    return list ? qcrypto_bench_cross(kind, request, list, groups, fit, errp)
                : -1;
}

static bool knows(const char *name)
{
    int level;

    return parse_name(name, &level) >= 0;
}

static int plan(const QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp)
{
    const char *const *names = request->algorithms
                                   ? (const char *const *)request->algorithms
                                   : kind->algorithms;
    const QCryptoBenchData *data = qcrypto_bench_data(
        request->data, request->compressibility, largest(kind, request), errp);
    QCryptoBenchRequest mine = *request;

    if (!data) {
        return -1;
    }
    /* there is no other way */
    mine.inplace[0] = true;
    mine.inplace[1] = false;
    for (; *names; names++) {
        const bool all = !g_ascii_strcasecmp(*names, "all");

        for (int i = 0; i < (all ? QCRYPTO_COMP_ALGO__MAX : 1); i++) {
            const char *name = all ? qcrypto_comp_algo_name(i) : *names;

            if (plan_one(kind, &mine, name, data, groups, errp) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static const char *const algorithms[] = {"all", NULL};

static const QCryptoBenchSize sizes[] = {{1024, 1}, {8192, 1}, {65536, 1}};

static const char *const alt_names[] = {"CRYPTO_COMPRESS", "CRYPTO_COMP",
                                        "CRYPTO_ACOMP", "CRYPTO_SCOMP", NULL};

const QCryptoBenchKind qcrypto_bench_kind_compress = {
    .name = "compress",
    .alt_names = alt_names,
    .optypes = {"compress", "decompress"},
    .algorithms = algorithms,
    .sizes = sizes,
    .nsizes = G_N_ELEMENTS(sizes),
    .knows = knows,
    .plan = plan,
};
