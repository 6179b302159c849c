/*
 * libsodium: the provider
 *
 * Argon2 with one lane and a salt of 16 bytes, the only ones libsodium takes;
 * these it does with AVX2 or AVX-512 (1.5 times as fast as libargon2 on one
 * thread).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <sodium.h>

#include "crypto/base/error.h"
#include "crypto/base/rows.h"

#define LIBRARY "libsodium"

typedef struct SodiumVariant {
    int (*hash)(unsigned char *out, unsigned long long nout, const char *key,
                unsigned long long nkey, const unsigned char *salt,
                unsigned long long opslimit, size_t memlimit, int alg);
    int alg;
    uint32_t min_time;
} SodiumVariant;

static const SodiumVariant argon2i = {
    crypto_pwhash_argon2i,
    crypto_pwhash_argon2i_ALG_ARGON2I13,
    crypto_pwhash_argon2i_OPSLIMIT_MIN,
};

static const SodiumVariant argon2id = {
    crypto_pwhash_argon2id,
    crypto_pwhash_argon2id_ALG_ARGON2ID13,
    crypto_pwhash_argon2id_OPSLIMIT_MIN,
};

/* Why not with these parameters, or NULL.  Both variants share the sizes. */
static const char *refusal(const SodiumVariant *v, size_t nsalt, uint32_t time,
                           uint32_t memory_kib, uint32_t lanes, size_t nout)
{
    if (lanes != 1) {
        return LIBRARY " has one lane alone";
    }
    if (nsalt != crypto_pwhash_argon2id_SALTBYTES) {
        return LIBRARY " takes a salt of 16 bytes alone";
    }
    if (nout < crypto_pwhash_argon2id_BYTES_MIN) {
        return LIBRARY " gives 16 bytes or more";
    }
    if (time < v->min_time) {
        return LIBRARY " makes 3 passes or more";
    }
    if ((uint64_t)memory_kib * 1024 > crypto_pwhash_argon2id_MEMLIMIT_MAX) {
        return LIBRARY " takes less memory";
    }
    return NULL;
}

static int sodium_derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                         const uint8_t *salt, size_t nsalt, uint32_t time,
                         uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                         size_t nout, GError **errp)
{
    const SodiumVariant *v = row->arg;
    const char *why = refusal(v, nsalt, time, memory_kib, lanes, nout);

    if (why) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED, "%s", why);
    }
    /* every parameter is one it takes: what can fail is the allocation */
    return v->hash(out, nout, (const char *)key, nkey, salt, time,
                   (size_t)memory_kib * 1024, v->alg) == 0
               ? 0
               : qcrypto_error_memory(errp, LIBRARY, memory_kib, 0);
}

static const QCryptoArgon2Ops sodium_ops = {.derive = sodium_derive};

static const QCryptoRow rows[] = {
    QCRYPTO_ARGON2_ROW(ARGON2I, "one-lane", 0, sodium_ops, &argon2i),
    QCRYPTO_ARGON2_ROW(ARGON2ID, "one-lane", 0, sodium_ops, &argon2id),
};

static const char *version(void)
{
    return sodium_version_string();
}

static int probe(GError **errp)
{
    /* 1: somebody else was first, as good */
    return sodium_init() < 0
               ? qcrypto_error_unavailable(errp, "sodium", "sodium_init failed")
               : 0;
}

const QCryptoProvider qcrypto_provider_sodium = {
    .name = "sodium",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
    .probe = probe,
};
