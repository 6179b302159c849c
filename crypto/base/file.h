/*
 * Writing a result to where the user said
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_FILE_H
#define QCRYPTO_BASE_FILE_H

#include <qcrypto/error.h>

/*
 * Before long work whose result goes to path: 0 when it looks as if it could
 * be written, else -1 and QCRYPTO_ERROR_IO.  Changes nothing.
 */
int qcrypto_file_check_writable(const char *path, GError **errp);

/*
 * The whole text to path.  A regular file, or a new one, is replaced in one
 * step; a symbolic link stays and its target is written; a pipe or a device
 * is written to, never replaced.
 */
int qcrypto_file_write(const char *path, const char *text, size_t len,
                       GError **errp);

#endif
