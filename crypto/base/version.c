/*
 * The library's version
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/provider.h>

#include "config-qcrypto.h"

const char *qcrypto_version(void)
{
    return QCRYPTO_VERSION;
}
