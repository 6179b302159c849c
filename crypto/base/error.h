/*
 * Error texts: one formatter per error
 *
 * Every text a user can meet is made here, so that the same mistake reads the
 * same whichever backend was to serve it.  All of them return -1, for
 * `return qcrypto_error_...(errp, ...)`.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BASE_ERROR_H
#define QCRYPTO_BASE_ERROR_H

#include <qcrypto/error.h>

#include "crypto/base/algs.h"

/* "aes-256-xts takes a key of 64 bytes, not 32" */
int qcrypto_error_key_len(GError **errp, const char *what, size_t want,
                          size_t got);

/* "aes-256-xts takes an IV of 16 bytes, not 8" */
int qcrypto_error_iv_len(GError **errp, const char *what, size_t want,
                         size_t got);

/* "aes-256-cbc works on a multiple of 16 bytes, not 17" */
int qcrypto_error_data_len(GError **errp, const char *what, size_t multiple,
                           size_t got);

/* "aes-256-xts data units have 16 to 16777216 bytes, not 15" */
int qcrypto_error_unit_len(GError **errp, const char *what, size_t min,
                           size_t max, size_t got);

/* "aes-256-cbc: no IV was set" */
int qcrypto_error_no_iv(GError **errp, const char *what);

/* "aes-256-ctr: the message ended inside a block; set a new IV" */
int qcrypto_error_message_ended(GError **errp, const char *what);

/* "aes-256-cbc: input and output overlap" */
int qcrypto_error_overlap(GError **errp, const char *what);

/* "NAME is NULL" */
int qcrypto_error_null(GError **errp, const char *name);

/* "unknown THING 'NAME'" */
int qcrypto_error_unknown(GError **errp, const char *thing, const char *name);

/* "unknown THING NUMBER", for enumerations */
int qcrypto_error_unknown_id(GError **errp, const char *thing, int id);

/* kind UNSUPPORTED: "WHAT is not supported: WHY" */
int qcrypto_error_unsupported(GError **errp, const char *what, const char *why,
                              ...) G_GNUC_PRINTF(3, 4);

/* kind BACKEND_UNAVAILABLE: "backend NAME is unavailable: WHY" */
int qcrypto_error_unavailable(GError **errp, const char *name, const char *why,
                              ...) G_GNUC_PRINTF(3, 4);

/* kind OUT_OF_MEMORY: "WHAT needs N KiB" (", M available" unless M is 0) */
int qcrypto_error_memory(GError **errp, const char *what, uint64_t need_kib,
                         uint64_t available_kib);

/* kind NO_SPACE: "WHAT: an output of N bytes is too small" (" (M needed)"
 * unless M is 0, "up to" before it when it may be less) */
int qcrypto_error_no_space(GError **errp, const char *what, size_t have,
                           size_t need, bool at_most);

/* a library call failed that cannot fail: kind BACKEND_UNAVAILABLE,
 * "LIBRARY: CALL: TEXT" */
int qcrypto_error_library(GError **errp, const char *library, const char *call,
                          const char *text);

/* kind IO: "cannot VERB 'NAME': TEXT", the text that of an errno */
int qcrypto_error_file(GError **errp, const char *verb, const char *name,
                       int number);

/* anything else */
int qcrypto_error(GError **errp, QCryptoErrorKind kind, const char *fmt, ...)
    G_GNUC_PRINTF(3, 4);

#endif
