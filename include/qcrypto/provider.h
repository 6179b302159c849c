/*
 * Providers and rows: what this build and this machine can do, and who does it
 *
 * A provider (builtin, nettle, gcrypt, gnutls, ...) offers rows; a row is one
 * implementation of one algorithm (and mode).  Objects are served by the
 * first usable row in the order of the providers.  That order is
 *
 *   - written in the library, by measurement;
 *   - or named by QCRYPTO_PROVIDER, "gcrypt,nettle": those in that order and
 *     no others; with a trailing ",..." the rest of the written order follows;
 *   - or set by qcrypto_providers_set_order(), which overrules both;
 *   - within it, measurement may have chosen otherwise (calibrate.h);
 *   - or overruled for one object by the *_new_from() constructors.
 *
 * Some providers are opt-in: they serve where they are named, in an order or
 * by a constructor, and ",..." does not bring them in.
 *
 * A row is passed over when its CPU features are absent or switched off
 * (QCRYPTO_CPU=-vaes), when its self-test fails (it runs once, before first
 * use), or when its policy says "avoid"; a row named in full
 * ("builtin:aes-vaes512") is used in spite of "avoid".
 *
 * An unknown name in either variable, or a file in QCRYPTO_CALIBRATION that
 * cannot be used, is an error of every constructor.
 *
 * Threads: all functions may be called from any thread; objects that exist
 * keep the row they have.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_PROVIDER_H
#define QCRYPTO_PROVIDER_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

/* NULL or "" goes back to QCRYPTO_PROVIDER, or the written order. */
QCRYPTO_API int qcrypto_providers_set_order(const char *order, GError **errp);

/* The order in force, "builtin,gcrypt,nettle,gnutls"; free with g_free. */
QCRYPTO_API char *qcrypto_providers_get_order(GError **errp);

typedef struct QCryptoProviderInfo {
    const char *name;
    const char *version; /* of the library behind it */
    bool compiled;       /* false: known, but left out of this build */
    bool available;
    const char *reason; /* why not available, else NULL */
    bool opt_in;        /* in no order but one that names it */
} QCryptoProviderInfo;

/* All providers this library knows, n of them; lives as long as the process. */
QCRYPTO_API const QCryptoProviderInfo *qcrypto_providers_list(size_t *n);

typedef struct QCryptoRowInfo {
    const char *kind; /* "cipher", "hash", ... */
    const char *algorithm;
    const char *mode; /* NULL where the kind has none */
    const char *provider;
    const char *impl;
    bool constant_time;
    bool avoid;     /* chosen by name alone: policy */
    bool benchmark; /* chosen by name alone: exists to be measured; "raw", the
                       bound of AES, is no ECB above 4096 bytes */
    bool usable;    /* here and now, self-test included */
    bool selected;  /* serves new objects of this kind, algorithm and mode */
    char *reason;   /* why not usable, else NULL */
    int kind_id, alg_id, mode_id; /* numbers behind the names; mode -1 */
} QCryptoRowInfo;

/*
 * Every row of every compiled-in provider, self-tested: providers in their
 * order, a provider's rows the best first, then those that exist because
 * somebody asked for them by name (a driver of the kernel); n entries, to be freed with
 * qcrypto_rows_free.  Which row serves is in `selected`, not in the place.
 */
QCRYPTO_API QCryptoRowInfo *qcrypto_rows_list(size_t *n, GError **errp);
QCRYPTO_API void qcrypto_rows_free(QCryptoRowInfo *rows, size_t n);

/* Names of the CPU features in force and of the hardware's; g_free. */
QCRYPTO_API char *qcrypto_cpu_describe(void);

/* "0.1.0" */
QCRYPTO_API const char *qcrypto_version(void);

G_END_DECLS

#endif
