/*
 * The provider table: the one place that names backends
 *
 * The order is the default order of selection.  builtin comes first: its AES
 * is the fastest at every size on CPUs with AES instructions and the only
 * constant-time one on those without.  What it lacks falls to libgcrypt,
 * whose bulk Serpent, Twofish and Camellia lead; nettle has no fewer ciphers
 * but plainer code; GnuTLS offers the same nettle code through handles.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/providers.h"

#include "config-qcrypto.h"

extern const QCryptoProvider qcrypto_provider_builtin;
extern const QCryptoProvider qcrypto_provider_gcrypt;
extern const QCryptoProvider qcrypto_provider_nettle;
extern const QCryptoProvider qcrypto_provider_gnutls;

#if QCRYPTO_HAVE_GCRYPT
#define GCRYPT &qcrypto_provider_gcrypt
#else
#define GCRYPT NULL
#endif
#if QCRYPTO_HAVE_NETTLE
#define NETTLE &qcrypto_provider_nettle
#else
#define NETTLE NULL
#endif
#if QCRYPTO_HAVE_GNUTLS
#define GNUTLS &qcrypto_provider_gnutls
#else
#define GNUTLS NULL
#endif

const QCryptoProviderEntry qcrypto_provider_table[] = {
    {"builtin", &qcrypto_provider_builtin, false},
    {"gcrypt", GCRYPT, false},
    {"nettle", NETTLE, false},
    {"gnutls", GNUTLS, false},
};

const size_t qcrypto_provider_table_len = G_N_ELEMENTS(qcrypto_provider_table);
