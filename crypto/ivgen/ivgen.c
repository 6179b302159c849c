/*
 * IV generators
 *
 * Each is one function that fills an IV from a sector number; essiv then
 * encrypts it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/ivgen/ivgen.h"

#include <qcrypto/hash.h>
#include <string.h>

#include "crypto/base/algs.h"
#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "crypto/core/cipher.h"

struct QCryptoIVGen {
    QCryptoIVGenAlgo alg;
    QCryptoCipherAlgo cipher;
    QCryptoHashAlgo hash;
    unsigned shift; /* benbi: cipher blocks in 512 bytes, as a power of 2 */
    QCryptoCipher *essiv; /* ECB under the hash of the volume key, or NULL */
};

typedef uint64_t Pair __attribute__((vector_size(16)));

/*
 * 16 bytes in one store: a run of sectors spends its time here before the
 * cipher, which reads the IV back as a whole.
 */
static inline void put_le64(uint8_t *p, size_t n, uint64_t v)
{
    const Pair le = {GUINT64_TO_LE(v), 0};

    if (G_LIKELY(n == sizeof(le))) {
        memcpy(p, &le, sizeof(le));
    } else {
        memcpy(p, &le, n); /* n < 16 */
    }
}

/* right-aligned; the high bytes go when n < 8 */
static void put_be64(uint8_t *p, size_t n, uint64_t v)
{
    for (size_t i = 0; i < n; i++) {
        p[n - 1 - i] = i < 8 ? (uint8_t)(v >> 8 * i) : 0;
    }
}

typedef void FillFunc(const QCryptoIVGen *g, uint64_t sector, uint8_t *iv,
                      size_t niv);

static void plain(const QCryptoIVGen *g G_GNUC_UNUSED, uint64_t sector,
                  uint8_t *iv, size_t niv)
{
    put_le64(iv, niv, (uint32_t)sector);
}

static void plain64(const QCryptoIVGen *g G_GNUC_UNUSED, uint64_t sector,
                    uint8_t *iv, size_t niv)
{
    put_le64(iv, niv, sector);
}

static void plain64be(const QCryptoIVGen *g G_GNUC_UNUSED, uint64_t sector,
                      uint8_t *iv, size_t niv)
{
    put_be64(iv, niv, sector);
}

static void benbi(const QCryptoIVGen *g, uint64_t sector, uint8_t *iv, size_t niv)
{
    put_be64(iv, niv, (sector << g->shift) + 1);
}

static FillFunc *const fill[QCRYPTO_IV_GEN_ALGO__MAX] = {
    [QCRYPTO_IV_GEN_ALGO_PLAIN] = plain,
    [QCRYPTO_IV_GEN_ALGO_PLAIN64] = plain64,
    [QCRYPTO_IV_GEN_ALGO_ESSIV] = plain64,
    [QCRYPTO_IV_GEN_ALGO_PLAIN64BE] = plain64be,
    [QCRYPTO_IV_GEN_ALGO_BENBI] = benbi,
};

/* The member of the family whose key has nkey bytes; -1 and an error. */
static int member_for(const QCryptoAlg *cipher, const QCryptoAlg *hash,
                      GError **errp)
{
    g_autoptr(GString) keys = g_string_new(NULL);
    const QCryptoAlg *a;

    for (int i = 0; (a = qcrypto_alg(QCRYPTO_KIND_CIPHER, i)); i++) {
        if (strcmp(a->family, cipher->family)) {
            continue;
        }
        if (a->key_len == hash->out_len) {
            return a->id;
        }
        g_string_append_printf(keys, "%s%u", keys->len ? ", " : "", a->key_len);
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "essiv:%s gives %s a key of %u bytes; it takes %s",
                         hash->name, cipher->family, hash->out_len, keys->str);
}

/* E_s(n), s = H(K): the cipher that encrypts sector numbers */
static QCryptoCipher *essiv_cipher(const QCryptoAlg *cipher, QCryptoHashAlgo hash,
                                   const uint8_t *key, size_t nkey, GError **errp)
{
    const QCryptoAlg *h = qcrypto_alg(QCRYPTO_KIND_HASH, (int)hash);
    uint8_t salt[64];
    uint8_t *out = salt;
    size_t nout = h ? h->out_len : 0;
    QCryptoCipher *c = NULL;

    if (!h) {
        qcrypto_error_unknown_id(errp, "hash", (int)hash);
        return NULL;
    }
    if (!key) {
        qcrypto_error_null(errp, "key");
        return NULL;
    }
    if (!nkey) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "essiv needs the volume key, not 0 bytes of it");
        return NULL;
    }
    const int member = member_for(cipher, h, errp);
    if (member >= 0 &&
        qcrypto_hash_bytes(hash, key, nkey, &out, &nout, errp) == 0) {
        c = qcrypto_cipher_new((QCryptoCipherAlgo)member,
                               QCRYPTO_CIPHER_MODE_ECB, salt, nout, errp);
    }
    qcrypto_wipe(salt, sizeof(salt));
    return c;
}

QCryptoIVGen *qcrypto_ivgen_new(QCryptoIVGenAlgo alg, QCryptoCipherAlgo cipheralg,
                                QCryptoHashAlgo hash, const uint8_t *key,
                                size_t nkey, GError **errp)
{
    const QCryptoAlg *a = qcrypto_alg(QCRYPTO_KIND_IVGEN, (int)alg);
    const QCryptoAlg *c = qcrypto_alg(QCRYPTO_KIND_CIPHER, (int)cipheralg);

    if (!a || !c) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT, "unknown %s %d",
                      a ? "cipher" : "IV generator", a ? (int)cipheralg : (int)alg);
        return NULL;
    }
    QCryptoIVGen *g = qcrypto_alloc(sizeof(*g));
    if (!g) {
        qcrypto_error_memory(errp, "an IV generator", 1, 0);
        return NULL;
    }
    g->alg = alg;
    g->cipher = cipheralg;
    g->hash = hash;
    /* 512 bytes are 2^9; block lengths are 2^3 and 2^4 */
    g->shift = c->block_len == 8 ? 6 : 5;
    if (alg == QCRYPTO_IV_GEN_ALGO_ESSIV) {
        g->essiv = essiv_cipher(c, hash, key, nkey, errp);
        if (!g->essiv) {
            qcrypto_ivgen_free(g);
            return NULL;
        }
    }
    return g;
}

void qcrypto_ivgen_free(QCryptoIVGen *g)
{
    if (g) {
        qcrypto_cipher_free(g->essiv);
        qcrypto_wipe_free(g, sizeof(*g));
    }
}

int qcrypto_ivgen_run(const QCryptoIVGen *g, uint64_t first, uint64_t step,
                      size_t n, uint8_t *ivs, size_t niv, GError **errp)
{
    FillFunc *f = fill[g ? g->alg : QCRYPTO_IV_GEN_ALGO_PLAIN64];

    if (g && g->essiv) {
        const size_t block = qcrypto_cipher_get_block_len(g->cipher);

        if (niv != block) {
            return qcrypto_error_iv_len(errp, qcrypto_ivgen_algo_name(g->alg),
                                        block, niv);
        }
    }
    if (f == plain64 && niv == 16) {
        for (size_t i = 0; i < n; i++) {
            put_le64(ivs + 16 * i, 16, first + i * step);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            f(g, first + i * step, ivs + i * niv, niv);
        }
    }
    if (g && g->essiv) {
        return qcrypto_cipher_units(g->essiv, 0, NULL, niv, ivs, ivs, n, errp);
    }
    return 0;
}

int qcrypto_ivgen_calculate(const QCryptoIVGen *g, uint64_t sector, uint8_t *iv,
                            size_t niv, GError **errp)
{
    if (!g || !iv) {
        return qcrypto_error_null(errp, g ? "iv" : "ivgen");
    }
    if (niv < 1 || niv > 16) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "an IV has 1 to 16 bytes, not %zu", niv);
    }
    return qcrypto_ivgen_run(g, sector, 0, 1, iv, niv, errp);
}

QCryptoIVGenAlgo qcrypto_ivgen_get_algorithm(const QCryptoIVGen *g)
{
    return g->alg;
}

QCryptoCipherAlgo qcrypto_ivgen_get_cipher(const QCryptoIVGen *g)
{
    return g->cipher;
}

QCryptoHashAlgo qcrypto_ivgen_get_hash(const QCryptoIVGen *g)
{
    return g->hash;
}
