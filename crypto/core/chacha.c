/*
 * The ChaCha front end
 *
 * Rows see states and lengths; where a message begins, goes on inside a
 * block and ends is decided here.  Since no call is let through that would
 * need a block behind the last one, rows may count in 64 bits always: a
 * 32-bit counter never carries into the nonce that lies above it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/chacha.h"

#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/select.h"

#define BLOCK QCRYPTO_CHACHA_BLOCK_LEN

struct QCryptoChaCha {
    const QCryptoChaChaOps *ops;
    const QCryptoCandidate *candidate;
    size_t size;   /* of the whole allocation */
    uint64_t next; /* the block the message goes on with ... */
    uint64_t last; /* ... and the last one there is */
    uint8_t used;  /* bytes of block next that are gone */
    bool have_iv;
    bool ended; /* the last block is used up */
    uint32_t state[16];
    uint8_t partial[BLOCK]; /* keystream of block next, where used is not 0 */
    /* the row's context */
    uint8_t ctx[] __attribute__((aligned(16)));
};

static const unsigned rounds_of[QCRYPTO_CHACHA_ALGO__MAX] = {
    [QCRYPTO_CHACHA_ALGO_CHACHA8] = 8,
    [QCRYPTO_CHACHA_ALGO_CHACHA12] = 12,
    [QCRYPTO_CHACHA_ALGO_CHACHA20] = 20,
};

unsigned qcrypto_chacha_rounds(QCryptoChaChaAlgo alg)
{
    return (unsigned)alg < QCRYPTO_CHACHA_ALGO__MAX ? rounds_of[alg] : 0;
}

/* The QCryptoChaChaAlgo, or -1 and the error. */
static int alg_of(unsigned rounds, GError **errp)
{
    for (int i = 0; i < QCRYPTO_CHACHA_ALGO__MAX; i++) {
        if (rounds_of[i] == rounds) {
            return i;
        }
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "ChaCha has 8, 12 or 20 rounds, not %u", rounds);
}

/* ---- functions of a state ---- */

static bool is_kernel(const QCryptoRow *row)
{
    const QCryptoChaChaOps *ops = row->ops;

    return ops->keystream && ops->keystream_words;
}

/* The first usable kernel that needs no other CPU features than cpu. */
static const QCryptoChaChaOps *find(int alg, uint32_t cpu, GError **errp)
{
    size_t n;
    QCryptoCandidate *const *all = qcrypto_candidates(&n, errp);

    if (!all) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const QCryptoRow *r = all[i]->row;

        if (r->kind == QCRYPTO_KIND_CHACHA && r->alg == alg && is_kernel(r) &&
            !(r->flags & (QCRYPTO_ROW_AVOID | QCRYPTO_ROW_BENCH)) &&
            !(r->cpu & ~cpu) && qcrypto_candidate_usable(all[i], NULL)) {
            return r->ops;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_CHACHA, alg, -1, NULL, errp);
    return NULL;
}

const QCryptoChaChaOps *qcrypto_chacha_kernel(unsigned rounds, GError **errp)
{
    static const QCryptoChaChaOps *found[QCRYPTO_CHACHA_ALGO__MAX];
    const int alg = alg_of(rounds, errp);

    if (alg < 0) {
        return NULL;
    }
    const QCryptoChaChaOps *ops = g_atomic_pointer_get(&found[alg]);
    if (G_UNLIKELY(!ops)) {
        ops = find(alg, ~0u, errp);
        g_atomic_pointer_set(&found[alg], ops);
    }
    return ops;
}

const QCryptoChaChaOps *qcrypto_chacha_reference(unsigned rounds, GError **errp)
{
    const int alg = alg_of(rounds, errp);

    return alg < 0 ? NULL : find(alg, 0, errp);
}

const QCryptoChaChaOps *qcrypto_chacha_kernel_from(const char *provider,
                                                   unsigned rounds,
                                                   GError **errp)
{
    const int alg = alg_of(rounds, errp);

    if (alg < 0) {
        return NULL;
    }
    const QCryptoCandidate *c =
        qcrypto_select_named(provider, QCRYPTO_KIND_CHACHA, alg, -1, errp);
    if (c && !is_kernel(c->row)) {
        char what[64];

        qcrypto_error_unsupported(
            errp, qcrypto_describe(what, QCRYPTO_KIND_CHACHA, alg, -1),
            "%s does not work from a state", provider);
        return NULL;
    }
    return c ? c->row->ops : NULL;
}

/* The first twelve words: the constants that tell the key lengths apart
 * (RFC 8439, 2.3, and for 128 bits the same of "expand 16-byte k"), key. */
static void set_key(uint32_t state[16], const uint8_t *key, size_t nkey)
{
    static const uint8_t constants[2][16] = {
        {'e', 'x', 'p', 'a', 'n', 'd', ' ', '1', '6', '-', 'b', 'y', 't', 'e',
         ' ', 'k'},
        {'e', 'x', 'p', 'a', 'n', 'd', ' ', '3', '2', '-', 'b', 'y', 't', 'e',
         ' ', 'k'},
    };

    qcrypto_get_le32s(state, constants[nkey == 32], 4);
    qcrypto_get_le32s(state + 4, key, 4);
    /* a short key fills its place twice */
    qcrypto_get_le32s(state + 8, key + nkey - 16, 4);
}

/* The counter at 0, and the nonce; returns the last block's number. */
static uint64_t set_nonce(uint32_t state[16], const uint8_t *nonce,
                          size_t nnonce)
{
    state[12] = state[13] = 0;
    qcrypto_get_le32s(state + 16 - nnonce / 4, nonce, nnonce / 4);
    return nnonce == 12 ? UINT32_MAX : UINT64_MAX;
}

/* block <= last, the number set_nonce has given */
static void set_counter(uint32_t state[16], uint64_t block, uint64_t last)
{
    state[12] = (uint32_t)block;
    if (last > UINT32_MAX) {
        state[13] = (uint32_t)(block >> 32);
    }
}

static int check_key(const uint8_t *key, size_t nkey, GError **errp)
{
    if (!key) {
        return qcrypto_error_null(errp, "key");
    }
    if (nkey != 16 && nkey != 32) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "ChaCha takes a key of 16 or 32 bytes, not %zu",
                             nkey);
    }
    return 0;
}

static int check_nonce(const uint8_t *nonce, size_t nnonce, GError **errp)
{
    if (!nonce) {
        return qcrypto_error_null(errp, "nonce");
    }
    if (nnonce != 8 && nnonce != 12) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "ChaCha takes a nonce of 8 or 12 bytes, not %zu",
                             nnonce);
    }
    return 0;
}

static int check_block(uint64_t block, uint64_t last, GError **errp)
{
    if (block <= last) {
        return 0;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "ChaCha with a nonce of 12 bytes ends with block "
                         "%" G_GUINT64_FORMAT ", there is no block "
                         "%" G_GUINT64_FORMAT,
                         last, block);
}

int qcrypto_chacha_init(uint32_t state[16], const uint8_t *key, size_t nkey,
                        const uint8_t *nonce, size_t nnonce, uint64_t counter,
                        GError **errp)
{
    if (!state) {
        return qcrypto_error_null(errp, "state");
    }
    if (check_key(key, nkey, errp) < 0 ||
        check_nonce(nonce, nnonce, errp) < 0 ||
        check_block(counter, nnonce == 12 ? UINT32_MAX : UINT64_MAX, errp) <
            0) {
        return -1;
    }
    set_key(state, key, nkey);
    set_counter(state, counter, set_nonce(state, nonce, nnonce));
    return 0;
}

int qcrypto_chacha_block(const uint32_t state[16], uint8_t out[BLOCK],
                         unsigned rounds)
{
    const QCryptoChaChaOps *ops = qcrypto_chacha_kernel(rounds, NULL);

    if (G_UNLIKELY(!ops || !state || !out)) {
        return -1;
    }
    ops->keystream(state, out, 1);
    return 0;
}

int qcrypto_hchacha(const uint8_t key[32], const uint8_t nonce[16],
                    uint8_t out[32], unsigned rounds)
{
    uint32_t state[16];
    uint8_t block[BLOCK];

    if (!key || !nonce || !out) {
        return -1;
    }
    set_key(state, key, 32);
    qcrypto_get_le32s(state + 12, nonce, 4);
    const int ret = qcrypto_chacha_block(state, block, rounds);
    if (ret == 0) {
        /* a block is the permuted state and the state added up; what is
         * wanted are the outer rows of the permuted state alone */
        for (size_t i = 0; i < 4; i++) {
            qcrypto_put_le32(out + 4 * i,
                             qcrypto_get_le32(block + 4 * i) - state[i]);
            qcrypto_put_le32(out + 16 + 4 * i,
                             qcrypto_get_le32(block + 48 + 4 * i) -
                                 state[12 + i]);
        }
    }
    qcrypto_wipe(state, sizeof(state));
    qcrypto_wipe(block, sizeof(block));
    return ret;
}

/* ---- streams ---- */

bool qcrypto_chacha_supports(unsigned rounds)
{
    const int alg = alg_of(rounds, NULL);

    return alg >= 0 &&
           qcrypto_select_usable(QCRYPTO_KIND_CHACHA, alg, -1, 0, NULL);
}

/* An object on this very row, or NULL with the error of its init. */
static QCryptoChaCha *new_on(QCryptoCandidate *cand, const uint8_t *key,
                             size_t nkey, GError **errp)
{
    const QCryptoChaChaOps *ops = cand->row->ops;
    const size_t size = sizeof(QCryptoChaCha) + ops->ctx_size;
    QCryptoChaCha *c = qcrypto_alloc(size);

    if (!c) {
        qcrypto_error_memory(errp, "a ChaCha object", size / 1024 + 1, 0);
        return NULL;
    }
    c->ops = ops;
    c->candidate = cand;
    c->size = size;
    set_key(c->state, key, nkey);
    if (ops->init && ops->init(c->ctx, cand->row, key, nkey, errp) < 0) {
        qcrypto_wipe_free(c, size);
        return NULL;
    }
    return c;
}

QCryptoChaCha *qcrypto_chacha_new(unsigned rounds, const uint8_t *key,
                                  size_t nkey, GError **errp)
{
    const int alg = alg_of(rounds, errp);
    g_autoptr(GError) last = NULL;
    QCryptoCandidate *cand;

    if (alg < 0 || check_key(key, nkey, errp) < 0) {
        return NULL;
    }
    for (size_t i = 0;
         (cand = qcrypto_select_usable(QCRYPTO_KIND_CHACHA, alg, -1, i, &i));
         i++) {
        g_clear_error(&last);
        QCryptoChaCha *c = new_on(cand, key, nkey, &last);
        if (c) {
            return c;
        }
    }
    qcrypto_select_failed(QCRYPTO_KIND_CHACHA, alg, -1, last, errp);
    return NULL;
}

QCryptoChaCha *qcrypto_chacha_new_from(const char *provider, unsigned rounds,
                                       const uint8_t *key, size_t nkey,
                                       GError **errp)
{
    const int alg = alg_of(rounds, errp);

    if (alg < 0 || check_key(key, nkey, errp) < 0) {
        return NULL;
    }
    QCryptoCandidate *cand =
        qcrypto_select_named(provider, QCRYPTO_KIND_CHACHA, alg, -1, errp);
    return cand ? new_on(cand, key, nkey, errp) : NULL;
}

void qcrypto_chacha_free(QCryptoChaCha *c)
{
    if (c) {
        if (c->ops->fini) {
            c->ops->fini(c->ctx);
        }
        qcrypto_wipe_free(c, c->size);
    }
}

const char *qcrypto_chacha_get_provider(const QCryptoChaCha *c)
{
    return c ? c->candidate->provider->name : NULL;
}

const char *qcrypto_chacha_get_impl(const QCryptoChaCha *c)
{
    return c ? c->candidate->row->impl : NULL;
}

static const char *describe(char *buf, const QCryptoChaCha *c)
{
    return qcrypto_describe(buf, QCRYPTO_KIND_CHACHA, c->candidate->row->alg,
                            -1);
}

int qcrypto_chacha_setiv(QCryptoChaCha *c, const uint8_t *nonce, size_t nnonce,
                         GError **errp)
{
    if (!c) {
        return qcrypto_error_null(errp, "chacha");
    }
    if (check_nonce(nonce, nnonce, errp) < 0) {
        return -1;
    }
    c->last = set_nonce(c->state, nonce, nnonce);
    c->next = 0;
    c->used = 0;
    c->ended = false;
    c->have_iv = true;
    qcrypto_wipe(c->partial, sizeof(c->partial));
    return 0;
}

/*
 * len bytes from the start of a block on, which is there, as are those that
 * follow as far as len reaches; in NULL: the keystream itself.
 */
static int blocks(QCryptoChaCha *c, uint64_t block, const uint8_t *in,
                  uint8_t *out, size_t len, GError **errp)
{
    set_counter(c->state, block, c->last);
    if (!in && c->ops->keystream) {
        c->ops->keystream(c->state, out, len / BLOCK);
        return 0;
    }
    if (!in) {
        memset(out, 0, len);
    }
    return c->ops->crypt(c->ctx, c->state, in ? in : out, out, len, errp);
}

int qcrypto_chacha_seek(QCryptoChaCha *c, uint64_t block, unsigned offset,
                        GError **errp)
{
    char what[64];

    if (!c) {
        return qcrypto_error_null(errp, "chacha");
    }
    if (!c->have_iv) {
        return qcrypto_error_no_iv(errp, describe(what, c));
    }
    if (offset >= BLOCK) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s blocks have 64 bytes, there is no byte %u",
                             describe(what, c), offset);
    }
    if (check_block(block, c->last, errp) < 0) {
        return -1;
    }
    uint8_t partial[BLOCK] = {0};
    if (offset && blocks(c, block, NULL, partial, BLOCK, errp) < 0) {
        return -1;
    }
    memcpy(c->partial, partial, BLOCK);
    qcrypto_wipe(partial, sizeof(partial));
    c->next = block;
    c->used = (uint8_t)offset;
    c->ended = false;
    return 0;
}

static void xor_bytes(uint8_t *out, const uint8_t *in, const uint8_t *key,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = key[i] ^ (in ? in[i] : 0);
    }
}

/* What precedes any output: 0, or -1 and the error. */
static int check_run(const QCryptoChaCha *c, size_t len, GError **errp)
{
    char what[64];

    if (!c->have_iv) {
        return qcrypto_error_no_iv(errp, describe(what, c));
    }
    if (len) {
        /* blocks that are touched, next included; at most 2^58 + 2 */
        const uint64_t n =
            len / BLOCK + (c->used + len % BLOCK + BLOCK - 1) / BLOCK;

        if (c->ended || n - 1 > c->last - c->next) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "%s: %zu more bytes go beyond the last block "
                                 "of this nonce",
                                 describe(what, c), len);
        }
    }
    return 0;
}

/*
 * The message goes on for len bytes: the rest of a block, whole blocks, the
 * begin of a block.  What a library may refuse is done first.
 */
static int run(QCryptoChaCha *c, const uint8_t *in, uint8_t *out, size_t len,
               GError **errp)
{
    const size_t rest = c->used ? (size_t)BLOCK - c->used : 0;
    const size_t head = rest < len ? rest : len;
    const size_t tail = (len - head) % BLOCK;
    const size_t whole = len - head - tail;
    const uint64_t first = c->next + (c->used != 0);
    const uint64_t end = first + whole / BLOCK; /* the block of the tail */
    uint8_t partial[BLOCK];

    if (check_run(c, len, errp) < 0) {
        return -1;
    }
    if (tail && blocks(c, end, NULL, partial, BLOCK, errp) < 0) {
        return -1;
    }
    if (whole &&
        blocks(c, first, in ? in + head : NULL, out + head, whole, errp) < 0) {
        return -1;
    }
    xor_bytes(out, in, c->partial + c->used, head);
    if (head < rest) {
        c->used = (uint8_t)(c->used + head);
        return 0;
    }
    if (tail) {
        const size_t at = head + whole;

        xor_bytes(out + at, in ? in + at : NULL, partial, tail);
        memcpy(c->partial, partial, BLOCK);
        qcrypto_wipe(partial, sizeof(partial));
    } else {
        qcrypto_wipe(c->partial, BLOCK);
    }
    /* end wraps when the last block is used up; tail is 0 then */
    c->ended |= end != c->next && end - 1 == c->last;
    c->next = end;
    c->used = (uint8_t)tail;
    return 0;
}

int qcrypto_chacha_crypt(QCryptoChaCha *c, const void *in, void *out,
                         size_t len, GError **errp)
{
    char what[64];

    if (!c || ((!in || !out) && len)) {
        return qcrypto_error_null(errp, !c ? "chacha" : in ? "out" : "in");
    }
    if (qcrypto_overlap(in, out, len)) {
        return qcrypto_error_overlap(errp, describe(what, c));
    }
    /* no data is no keystream either */
    return len ? run(c, in, out, len, errp) : check_run(c, 0, errp);
}

int qcrypto_chacha_keystream(QCryptoChaCha *c, void *out, size_t len,
                             GError **errp)
{
    if (!c || (!out && len)) {
        return qcrypto_error_null(errp, c ? "out" : "chacha");
    }
    return len ? run(c, NULL, out, len, errp) : check_run(c, 0, errp);
}

int qcrypto_chacha_xor(unsigned rounds, const uint8_t *key, size_t nkey,
                       const uint8_t *nonce, size_t nnonce, uint64_t counter,
                       const void *in, void *out, size_t len, GError **errp)
{
    g_autoptr(QCryptoChaCha) c = qcrypto_chacha_new(rounds, key, nkey, errp);

    return c && qcrypto_chacha_setiv(c, nonce, nnonce, errp) == 0 &&
                   qcrypto_chacha_seek(c, counter, 0, errp) == 0
               ? qcrypto_chacha_crypt(c, in, out, len, errp)
               : -1;
}
