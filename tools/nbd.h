/*
 * An NBD server's export as a QCryptoBlockIO, through libnbd
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_NBD_H
#define QCRYPTO_TOOLS_NBD_H

#include <qcrypto/block.h>

/*
 * To be freed by qcrypto_block_io_free().  Up to that many connections are
 * made, as many as requests are under way at once, where the server says that
 * several see the same; one otherwise.  UNSUPPORTED in a build without libnbd.
 */
QCryptoBlockIO *qcrypto_nbd_open(const char *uri, bool writable,
                                 unsigned connections, GError **errp);

#endif
