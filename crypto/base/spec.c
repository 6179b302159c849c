/*
 * Cipher specifications: cipher-mode[-ivgen[:hash]]
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/cipher.h>

#include <string.h>

#include "crypto/base/algs.h"
#include "crypto/base/error.h"

static int bad(GError **errp, const char *text, const char *fmt, ...)
    G_GNUC_PRINTF(3, 4);

/* "cipher specification 'TEXT': WHAT" */
static int bad(GError **errp, const char *text, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_autofree char *what = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "cipher specification '%s': %s", text, what);
}

/* The table's own (static) spelling of a family, or NULL. */
static const char *find_family(const char *name)
{
    const QCryptoAlg *alg;

    for (int i = 0; (alg = qcrypto_alg(QCRYPTO_KIND_CIPHER, i)); i++) {
        if (!strcmp(alg->family, name)) {
            return alg->family;
        }
    }
    return NULL;
}

int qcrypto_cipher_spec_parse(const char *text, QCryptoCipherSpec *spec,
                              GError **errp)
{
    if (!text || !spec) {
        return qcrypto_error_null(errp, text ? "spec" : "text");
    }
    /* at most three parts: what follows the second dash is the IV
     * generator's, hash names with a dash included ("essiv:sha3-256") */
    g_auto(GStrv) part = g_strsplit(text, "-", 3);
    QCryptoCipherSpec s = {.ivgen = -1, .hash = -1};

    if (!part[0] || !*part[0]) {
        return bad(errp, text, "the cipher is missing");
    }
    s.family = find_family(part[0]);
    if (!s.family) {
        return bad(errp, text, "unknown cipher '%s'", part[0]);
    }
    if (!part[1] || !*part[1]) {
        return bad(errp, text, "the mode is missing");
    }
    int mode = qcrypto_mode_from_name(part[1]);
    if (mode < 0) {
        return bad(errp, text, "unknown mode '%s'", part[1]);
    }
    s.mode = (QCryptoCipherMode)mode;

    if (mode == QCRYPTO_CIPHER_MODE_ECB) {
        if (part[2]) {
            return bad(errp, text, "mode ecb takes no IV generator ('%s')",
                       part[2]);
        }
        *spec = s;
        return 0;
    }
    if (!part[2] || !*part[2]) {
        return bad(errp, text, "mode %s needs an IV generator", part[1]);
    }

    g_auto(GStrv) iv = g_strsplit(part[2], ":", 2);
    const QCryptoAlg *gen = qcrypto_alg_from_name(QCRYPTO_KIND_IVGEN, iv[0]);
    if (!gen) {
        return bad(errp, text, "unknown IV generator '%s'", iv[0]);
    }
    s.ivgen = gen->id;
    if (gen->id == QCRYPTO_IV_GEN_ALGO_ESSIV) {
        if (!iv[1] || !*iv[1]) {
            return bad(errp, text, "essiv needs a hash (essiv:sha256)");
        }
        const QCryptoAlg *hash = qcrypto_alg_from_name(QCRYPTO_KIND_HASH, iv[1]);
        if (!hash) {
            return bad(errp, text, "unknown hash '%s'", iv[1]);
        }
        s.hash = hash->id;
    } else if (iv[1]) {
        return bad(errp, text, "IV generator %s takes no hash ('%s')", iv[0],
                   iv[1]);
    }
    *spec = s;
    return 0;
}

char *qcrypto_cipher_spec_to_string(const QCryptoCipherSpec *spec)
{
    if (!spec || !spec->family || !qcrypto_mode_name((int)spec->mode)) {
        return NULL;
    }
    GString *s = g_string_new(NULL);
    const QCryptoAlg *gen = qcrypto_alg(QCRYPTO_KIND_IVGEN, spec->ivgen);
    const QCryptoAlg *hash = qcrypto_alg(QCRYPTO_KIND_HASH, spec->hash);

    g_string_printf(s, "%s-%s", spec->family, qcrypto_mode_name((int)spec->mode));
    if (gen) {
        g_string_append_printf(s, "-%s", gen->name);
        if (hash) {
            g_string_append_printf(s, ":%s", hash->name);
        }
    }
    return g_string_free(s, FALSE);
}

int qcrypto_cipher_spec_get_alg(const QCryptoCipherSpec *spec, size_t nkey,
                                GError **errp)
{
    if (!spec || !spec->family) {
        return qcrypto_error_null(errp, spec ? "family" : "spec");
    }
    if (!qcrypto_mode_name((int)spec->mode)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "unknown cipher mode %d", (int)spec->mode);
    }
    const size_t keys = spec->mode == QCRYPTO_CIPHER_MODE_XTS ? 2 : 1;
    g_autoptr(GString) would = g_string_new(NULL);
    const QCryptoAlg *alg;

    for (int i = 0; (alg = qcrypto_alg(QCRYPTO_KIND_CIPHER, i)); i++) {
        if (strcmp(alg->family, spec->family)) {
            continue;
        }
        if (keys == 2 && alg->block_len != 16) {
            return qcrypto_error_unsupported(
                errp, alg->family, "XTS needs a cipher with blocks of 16 bytes");
        }
        if (alg->key_len * keys == nkey) {
            return alg->id;
        }
        g_string_append_printf(would, "%s%zu", would->len ? ", " : "",
                               alg->key_len * keys);
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "%s in %s mode takes a key of %s bytes, not %zu",
                         spec->family, qcrypto_mode_name((int)spec->mode),
                         would->str, nkey);
}
