/*
 * The provider table: the one place that names backends
 *
 * The order is the default order of selection, by measurement.  builtin comes
 * first: its AES is the fastest at every size on CPUs with AES instructions
 * and the only constant-time one on those without.  What it lacks falls to
 * libgcrypt, whose bulk Serpent, Twofish, Camellia and 3DES run 1.3 to 9 times
 * as fast as nettle's; nettle alone has Twofish-192; GnuTLS's ciphers are
 * behind handles and serve for comparison.  GLib's hashes are slower than
 * anybody's.  libsodium and libargon2 have Argon2 alone.  The last four
 * compress; libdeflate does it 2 to 2.9 times as fast as zlib, and back 1.4 to
 * 1.7 times.  Where an algorithm deviates from this order, the rank of its rows
 * says so.
 *
 * The kernel's, afalg, is opt-in: the system calls and copies of a request
 * cost more than the ciphers of a library gain, and to look for a row there
 * may load kernel modules.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/providers.h"

#include "config-qcrypto.h"

extern const QCryptoProvider qcrypto_provider_builtin;
extern const QCryptoProvider qcrypto_provider_gcrypt;
extern const QCryptoProvider qcrypto_provider_nettle;
extern const QCryptoProvider qcrypto_provider_gnutls;
extern const QCryptoProvider qcrypto_provider_glib;
extern const QCryptoProvider qcrypto_provider_sodium;
extern const QCryptoProvider qcrypto_provider_argon2;
extern const QCryptoProvider qcrypto_provider_libdeflate;
extern const QCryptoProvider qcrypto_provider_zlib;
extern const QCryptoProvider qcrypto_provider_zstd;
extern const QCryptoProvider qcrypto_provider_lz4;
extern const QCryptoProvider qcrypto_provider_afalg;

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
#if QCRYPTO_HAVE_SODIUM
#define SODIUM &qcrypto_provider_sodium
#else
#define SODIUM NULL
#endif
#if QCRYPTO_HAVE_ARGON2
#define ARGON2 &qcrypto_provider_argon2
#else
#define ARGON2 NULL
#endif
#if QCRYPTO_HAVE_LIBDEFLATE
#define LIBDEFLATE &qcrypto_provider_libdeflate
#else
#define LIBDEFLATE NULL
#endif
#if QCRYPTO_HAVE_ZLIB
#define ZLIB &qcrypto_provider_zlib
#else
#define ZLIB NULL
#endif
#if QCRYPTO_HAVE_ZSTD
#define ZSTD &qcrypto_provider_zstd
#else
#define ZSTD NULL
#endif
#if QCRYPTO_HAVE_LZ4
#define LZ4 &qcrypto_provider_lz4
#else
#define LZ4 NULL
#endif
#if QCRYPTO_HAVE_AFALG
#define AFALG &qcrypto_provider_afalg
#else
#define AFALG NULL
#endif

const QCryptoProviderEntry qcrypto_provider_table[] = {
    {"builtin", &qcrypto_provider_builtin, false},
    {"gcrypt", GCRYPT, false},
    {"nettle", NETTLE, false},
    {"gnutls", GNUTLS, false},
    {"glib", &qcrypto_provider_glib, false},
    {"sodium", SODIUM, false},
    {"argon2", ARGON2, false},
    {"libdeflate", LIBDEFLATE, false},
    {"zlib", ZLIB, false},
    {"zstd", ZSTD, false},
    {"lz4", LZ4, false},
    {"afalg", AFALG, true},
};

const size_t qcrypto_provider_table_len = G_N_ELEMENTS(qcrypto_provider_table);
