/*
 * Other generators as peers: the kernel's, libc's, and those of the libraries
 * that are backends otherwise
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/peer-rng.h"

#include <stdlib.h>

#include "crypto/base/error.h"
#include "crypto/rng/kernel.h"

#if QCRYPTO_HAVE_GCRYPT
#include <gcrypt.h>
#endif
#if QCRYPTO_HAVE_GNUTLS
#include <gnutls/crypto.h>
#endif

/* A peer that does nothing else. */
#define RNG_PEER(peer, library, interface, init_func, bytes_func)              \
    const QCryptoBenchPeer peer = {                                            \
        .name = library,                                                       \
        .rng = &(const QCryptoBenchRngPeer){                                   \
            .impl = interface, .init = (init_func), .bytes = (bytes_func)},    \
    }

RNG_PEER(qcrypto_bench_getrandom, "linux", "getrandom", NULL,
         qcrypto_kernel_random);

#if QCRYPTO_HAVE_ARC4RANDOM
static int arc4random_bytes(void *buf, size_t n, GError **errp G_GNUC_UNUSED)
{
    arc4random_buf(buf, n);
    return 0;
}

RNG_PEER(qcrypto_bench_arc4random, "libc", "arc4random_buf", NULL,
         arc4random_bytes);
#endif

#if QCRYPTO_HAVE_GCRYPT
/* The library may be in use already, and settled then. */
static int start_gcrypt(GError **errp)
{
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
        return 0;
    }
    if (!gcry_check_version(NULL)) {
        return qcrypto_error_library(errp, "libgcrypt", "gcry_check_version",
                                     "failed");
    }
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 0;
}

static int randomize(void *buf, size_t n, GError **errp G_GNUC_UNUSED)
{
    gcry_randomize(buf, n, GCRY_STRONG_RANDOM);
    return 0;
}

static int nonce(void *buf, size_t n, GError **errp G_GNUC_UNUSED)
{
    gcry_create_nonce(buf, n);
    return 0;
}

RNG_PEER(qcrypto_bench_gcry_randomize, "libgcrypt", "randomize", start_gcrypt,
         randomize);
RNG_PEER(qcrypto_bench_gcry_nonce, "libgcrypt", "create_nonce", start_gcrypt,
         nonce);
#endif

#if QCRYPTO_HAVE_GNUTLS
static int rnd(void *buf, size_t n, GError **errp)
{
    const int ret = gnutls_rnd(GNUTLS_RND_RANDOM, buf, n);

    return ret < 0 ? qcrypto_error_library(errp, "libgnutls", "gnutls_rnd",
                                           gnutls_strerror(ret))
                   : 0;
}

RNG_PEER(qcrypto_bench_gnutls_rnd, "libgnutls", "rnd", NULL, rnd);
#endif
