/*
 * The provider table
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_CORE_PROVIDERS_H
#define QCRYPTO_CORE_PROVIDERS_H

#include "crypto/base/rows.h"

typedef struct QCryptoProviderEntry QCryptoProviderEntry;
struct QCryptoProviderEntry {
    const char *name;
    const QCryptoProvider *provider; /* NULL: left out of this build */
    bool opt_in;                     /* not in the default order */
};

/* In the written default order. */
extern const QCryptoProviderEntry qcrypto_provider_table[];
extern const size_t qcrypto_provider_table_len;

#endif
