/*
 * Key slots: from a passphrase to the volume key
 *
 * A slot is a recipe in four steps: derive a key from the passphrase, decrypt
 * the slot's area with it, merge the anti-forensic stripes, compare with the
 * digest.  Both LUKS versions take the same steps; only where the parameters
 * stand differs, and the model (luks.h) has them in one place.
 *
 * Algorithms arrive as text.  A name that is unknown, or known and not
 * offered by any backend of this build, is UNSUPPORTED and never a wrong
 * passphrase: nothing was tried.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/block/luks.h"

#include <qcrypto/afsplit.h>
#include <qcrypto/hash.h>
#include <qcrypto/kdf.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"

#define AREA_SECTOR 512

int qcrypto_luks_hash(const char *name, GError **errp)
{
    const int alg = qcrypto_hash_algo_from_name(name);

    if (alg < 0) {
        g_autofree char *what = g_strdup_printf("hash '%s'", name);

        return qcrypto_error_unsupported(errp, what, "it is not known here");
    }
    return alg;
}

/*
 * What dm-crypt overlooks is overlooked here: an IV generator for ECB, and an
 * option of a generator that takes none ("xts-plain64:sha256").
 */
static char *without_idle_parts(const char *text)
{
    g_auto(GStrv) part = g_strsplit(text, "-", 3);

    if (g_strv_length(part) < 3) {
        return g_strdup(text);
    }
    if (!strcmp(part[1], qcrypto_cipher_mode_name(QCRYPTO_CIPHER_MODE_ECB))) {
        return g_strdup_printf("%s-%s", part[0], part[1]);
    }
    if (!g_str_has_prefix(part[2],
                          qcrypto_ivgen_algo_name(QCRYPTO_IV_GEN_ALGO_ESSIV))) {
        char *option = strchr(part[2], ':');

        if (option) {
            *option = '\0';
        }
    }
    return g_strjoinv("-", part);
}

/* The error of a specification that can not be used, under its own kind. */
static int no_such_cipher(const char *text, GError *why, GError **errp)
{
    g_autofree char *what = g_strdup_printf("cipher '%s'", text);
    const char *colon = strstr(why->message, "': ");

    return qcrypto_error_unsupported(
        errp, what, "%s",
        g_str_has_prefix(why->message, "cipher specification") && colon
            ? colon + 3
            : why->message);
}

bool qcrypto_luks_cipher_is_null(const char *text)
{
    return g_str_has_prefix(text, "cipher_null");
}

int qcrypto_luks_cipher(const char *text, size_t nkey, QCryptoCipherSpec *spec,
                        QCryptoCipherAlgo *alg, GError **errp)
{
    g_autofree char *plain = without_idle_parts(text);
    g_autoptr(GError) why = NULL;
    int found;

    if (g_str_has_prefix(text, "capi:")) {
        return qcrypto_error_unsupported(
            errp, text,
            "specifications of the kernel's crypto API are not read");
    }
    if (qcrypto_luks_cipher_is_null(text)) {
        return qcrypto_error_unsupported(errp, text, "it does not encrypt");
    }
    if (qcrypto_cipher_spec_parse(plain, spec, &why) < 0 ||
        (found = qcrypto_cipher_spec_get_alg(spec, nkey, &why)) < 0) {
        return no_such_cipher(text, why, errp);
    }
    *alg = (QCryptoCipherAlgo)found;
    return 0;
}

int qcrypto_luks_cipher_new(const char *text, const uint8_t *key, size_t nkey,
                            const char *provider, QCryptoCipher **cipher,
                            QCryptoIVGen **ivgen, GError **errp)
{
    g_autoptr(GError) why = NULL;
    g_autoptr(QCryptoIVGen) gen = NULL;
    QCryptoCipherSpec spec;
    QCryptoCipherAlgo alg;

    if (qcrypto_luks_cipher(text, nkey, &spec, &alg, errp) < 0) {
        return -1;
    }
    if (spec.ivgen >= 0) {
        gen = qcrypto_ivgen_new((QCryptoIVGenAlgo)spec.ivgen, alg,
                                (QCryptoHashAlgo)spec.hash, key, nkey, &why);
        if (!gen) {
            /* the specification asks for what can not be (essiv:sha512 with
             * AES): the caller's arguments are in order */
            if (g_error_matches(why, QCRYPTO_ERROR,
                                QCRYPTO_ERROR_INVALID_ARGUMENT)) {
                return no_such_cipher(text, why, errp);
            }
            g_propagate_error(errp, g_steal_pointer(&why));
            return -1;
        }
    }
    *cipher = provider ? qcrypto_cipher_new_from(provider, alg, spec.mode, key,
                                                 nkey, errp)
                       : qcrypto_cipher_new(alg, spec.mode, key, nkey, errp);
    if (!*cipher) {
        return -1;
    }
    *ivgen = g_steal_pointer(&gen);
    return 0;
}

int qcrypto_luks_kdf(const QCryptoLuksKdf *kdf, const uint8_t *pass,
                     size_t npass, uint8_t *out, size_t nout, GError **errp)
{
    const int argon2 = qcrypto_argon2_algo_from_name(kdf->type);

    if (argon2 >= 0) {
        const QCryptoArgon2Cost cost = {
            .time = (uint32_t)MIN(kdf->iterations, UINT32_MAX),
            .memory_kib = kdf->memory_kib,
            .lanes = kdf->lanes,
        };

        return qcrypto_argon2((QCryptoArgon2Algo)argon2, pass, npass, kdf->salt,
                              kdf->nsalt, &cost, out, nout, errp);
    }
    if (strcmp(kdf->type, "pbkdf2")) {
        g_autofree char *what =
            g_strdup_printf("key derivation '%s'", kdf->type);

        return qcrypto_error_unsupported(errp, what, "it is not known here");
    }
    const int hash = qcrypto_luks_hash(kdf->hash, errp);
    if (hash < 0) {
        return -1;
    }
    return qcrypto_pbkdf2((QCryptoHashAlgo)hash, pass, npass, kdf->salt,
                          kdf->nsalt, kdf->iterations, out, nout, errp);
}

int qcrypto_luks_area_crypt(const char *cipher, const uint8_t *key, size_t nkey,
                            bool decrypt, uint8_t *buf, size_t len,
                            GError **errp)
{
    g_autoptr(QCryptoCipher) c = NULL;
    g_autoptr(QCryptoIVGen) gen = NULL;

    if (len % AREA_SECTOR) {
        return qcrypto_error_data_len(errp, "a key area", AREA_SECTOR, len);
    }
    if (qcrypto_luks_cipher_new(cipher, key, nkey, NULL, &c, &gen, errp) < 0) {
        return -1;
    }
    return decrypt
               ? qcrypto_cipher_decrypt_sectors(c, gen, 0, AREA_SECTOR, buf,
                                                buf, len / AREA_SECTOR, 0, errp)
               : qcrypto_cipher_encrypt_sectors(c, gen, 0, AREA_SECTOR, buf,
                                                buf, len / AREA_SECTOR, 0,
                                                errp);
}

int qcrypto_luks_digest(const QCryptoLuksDigest *digest, const uint8_t *key,
                        size_t nkey, uint8_t *out, GError **errp)
{
    const int hash = qcrypto_luks_hash(digest->hash, errp);

    if (hash < 0) {
        return -1;
    }
    return qcrypto_pbkdf2((QCryptoHashAlgo)hash, key, nkey, digest->salt,
                          digest->nsalt, digest->iterations, out,
                          digest->ndigest, errp);
}

bool qcrypto_luks_digest_matches(const QCryptoLuksDigest *digest,
                                 const uint8_t *key, size_t nkey, GError **errp)
{
    uint8_t own[QCRYPTO_LUKS_DIGEST_MAX];
    bool same = false;

    if (qcrypto_luks_digest(digest, key, nkey, own, errp) == 0) {
        same = qcrypto_equal_ct(own, digest->digest, digest->ndigest);
    }
    qcrypto_wipe(own, sizeof(own));
    return same;
}

size_t qcrypto_luks_area_len(size_t key_len, uint32_t stripes)
{
    /* key_len is at most KEY_MAX: no wrap */
    const size_t len = key_len * stripes;

    return (len + AREA_SECTOR - 1) / AREA_SECTOR * AREA_SECTOR;
}

const QCryptoLuksDigest *qcrypto_luks_slot_digest(const QCryptoLuks *luks,
                                                  unsigned slot)
{
    for (size_t i = 0; i < QCRYPTO_LUKS_DIGESTS; i++) {
        if (luks->digests[i].used && luks->digests[i].slots >> slot & 1) {
            return &luks->digests[i];
        }
    }
    return NULL;
}

/* derive, read, decrypt, merge; area has len bytes */
static int recover_key(const QCryptoLuksSlot *s, QCryptoBlockIO *io,
                       const uint8_t *pass, size_t npass, uint8_t *area,
                       size_t len, uint8_t *key, GError **errp)
{
    uint8_t area_key[QCRYPTO_LUKS_KEY_MAX];
    /* what is missing is said before time is spent */
    const int af_hash = qcrypto_luks_hash(s->af_hash, errp);
    int ret = -1;

    if (af_hash < 0) {
        return -1;
    }
    if (io->read(NULL, s->area_offset, area, len, io->opaque, errp) == 0 &&
        qcrypto_luks_kdf(&s->kdf, pass, npass, area_key, s->area_key_len,
                         errp) == 0) {
        ret = qcrypto_luks_area_crypt(s->area_cipher, area_key, s->area_key_len,
                                      true, area, len, errp);
    }
    qcrypto_wipe(area_key, sizeof(area_key));
    return ret < 0
               ? ret
               : qcrypto_afsplit_decode((QCryptoHashAlgo)af_hash, s->key_len,
                                        s->stripes, area, key, errp);
}

/* The key that the slot holds, compared with what the digest recognises. */
static int check_key(const QCryptoLuks *luks, unsigned slot, const uint8_t *key,
                     GError **errp)
{
    const QCryptoLuksDigest *digest = qcrypto_luks_slot_digest(luks, slot);
    g_autoptr(GError) why = NULL;

    if (!digest) {
        return qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_HEADER,
                             "no digest recognises its key");
    }
    if (qcrypto_luks_digest_matches(digest, key, luks->slots[slot].key_len,
                                    &why)) {
        return 0;
    }
    if (why) {
        g_propagate_error(errp, g_steal_pointer(&why));
        return -1;
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_WRONG_PASSPHRASE,
                         "the passphrase does not open it");
}

int qcrypto_luks_slot_unlock(const QCryptoLuks *luks, QCryptoBlockIO *io,
                             unsigned slot, const uint8_t *pass, size_t npass,
                             uint8_t *key, GError **errp)
{
    if (slot >= luks->max_slots || !luks->slots[slot].active) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "key slot %u is not active", slot);
    }
    const QCryptoLuksSlot *s = &luks->slots[slot];
    const size_t len = qcrypto_luks_area_len(s->key_len, s->stripes);
    uint8_t *area = qcrypto_alloc_unset(len);
    int ret = area ? recover_key(s, io, pass, npass, area, len, key, errp)
                   : qcrypto_error_memory(errp, "a key area", len / 1024, 0);

    qcrypto_wipe_free(area, len);
    if (ret == 0) {
        ret = check_key(luks, slot, key, errp);
    }
    if (ret < 0) {
        qcrypto_wipe(key, s->key_len);
        g_prefix_error(errp, "key slot %u: ", slot);
    }
    return ret;
}
