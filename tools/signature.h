/*
 * What a disk, a partition or a file looks like
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_SIGNATURE_H
#define QCRYPTO_TOOLS_SIGNATURE_H

#include <qcrypto/block.h>

/*
 * In words: "an ext2, ext3 or ext4 file system", "a qcow2 image with LUKS
 * inside", "nothing but zeros"; NULL: nothing that is known.  LUKS and
 * partition tables are told by who reads them.
 */
const char *qcrypto_signature_find(QCryptoBlockIO *io);

/* The first MiB, or all there is, is zeros. */
bool qcrypto_signature_is_blank(QCryptoBlockIO *io);

/* The LUKS header inside a qcow2 image: its place; false: there is none. */
bool qcrypto_signature_qcow2_luks(QCryptoBlockIO *io, uint64_t *offset,
                                  uint64_t *size);

#endif
