/*
 * GLib: the provider
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/backend/glib/glib.h"
#include "crypto/mode/mode.h"

/* behind everybody else's */
#define RANK 9

#define TYPE(a) (&(const GChecksumType){G_CHECKSUM_##a})

#define GENERIC(k, a, mode_ops)                                                \
    QCRYPTO_HASH_ROW(k, a, "generic", 0, 0, RANK, mode_ops,                    \
                     QCRYPTO_HASH_DESC(qcrypto_glib_hash, TYPE(a)))

#define HASH(a)                                                                \
    QCRYPTO_HASH_ROW(HASH, a, "gchecksum", 0, 0, RANK, qcrypto_glib_hash,      \
                     TYPE(a)),                                                 \
        GENERIC(HMAC, a, qcrypto_mode_hmac),                                   \
        GENERIC(PBKDF2, a, qcrypto_mode_pbkdf2)

static const QCryptoRow rows[] = {
    HASH(MD5), HASH(SHA1), HASH(SHA256), HASH(SHA384), HASH(SHA512),
};

static const char *version(void)
{
    static gsize done;
    static char text[32];

    if (g_once_init_enter(&done)) {
        g_snprintf(text, sizeof(text), "%u.%u.%u", glib_major_version,
                   glib_minor_version, glib_micro_version);
        g_once_init_leave(&done, 1);
    }
    return text;
}

const QCryptoProvider qcrypto_provider_glib = {
    .name = "glib",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
