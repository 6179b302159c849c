/*
 * Error texts
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/error.h"

#include <stdarg.h>

G_DEFINE_QUARK(qcrypto-error-quark, qcrypto_error)

static int set_va(GError **errp, QCryptoErrorKind kind, const char *fmt,
                  va_list ap) G_GNUC_PRINTF(3, 0);

static int set_va(GError **errp, QCryptoErrorKind kind, const char *fmt,
                  va_list ap)
{
    if (errp) {
        g_warn_if_fail(*errp == NULL);
        g_clear_error(errp);
        *errp = g_error_new_valist(QCRYPTO_ERROR, (int)kind, fmt, ap);
    }
    return -1;
}

int qcrypto_error(GError **errp, QCryptoErrorKind kind, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    set_va(errp, kind, fmt, ap);
    va_end(ap);
    return -1;
}

#define INVALID(errp, ...) \
    qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

int qcrypto_error_key_len(GError **errp, const char *what, size_t want,
                          size_t got)
{
    return INVALID(errp, "%s takes a key of %zu bytes, not %zu", what, want, got);
}

int qcrypto_error_iv_len(GError **errp, const char *what, size_t want, size_t got)
{
    return INVALID(errp, "%s takes an IV of %zu bytes, not %zu", what, want, got);
}

int qcrypto_error_data_len(GError **errp, const char *what, size_t multiple,
                           size_t got)
{
    return INVALID(errp, "%s works on a multiple of %zu bytes, not %zu", what,
                   multiple, got);
}

int qcrypto_error_unit_len(GError **errp, const char *what, size_t min,
                           size_t max, size_t got)
{
    return INVALID(errp, "%s data units have %zu to %zu bytes, not %zu", what,
                   min, max, got);
}

int qcrypto_error_no_iv(GError **errp, const char *what)
{
    return INVALID(errp, "%s: no IV was set", what);
}

int qcrypto_error_message_ended(GError **errp, const char *what)
{
    return INVALID(errp, "%s: the message ended inside a block; set a new IV",
                   what);
}

int qcrypto_error_overlap(GError **errp, const char *what)
{
    return INVALID(errp, "%s: input and output overlap", what);
}

int qcrypto_error_null(GError **errp, const char *name)
{
    return INVALID(errp, "%s is NULL", name);
}

int qcrypto_error_unknown(GError **errp, const char *thing, const char *name)
{
    return INVALID(errp, "unknown %s '%s'", thing, name ? name : "(null)");
}

int qcrypto_error_unknown_id(GError **errp, const char *thing, int id)
{
    return INVALID(errp, "unknown %s %d", thing, id);
}

int qcrypto_error_unsupported(GError **errp, const char *what, const char *why,
                              ...)
{
    va_list ap;

    va_start(ap, why);
    g_autofree char *text = g_strdup_vprintf(why, ap);
    va_end(ap);
    return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                         "%s is not supported: %s", what, text);
}

int qcrypto_error_unavailable(GError **errp, const char *name, const char *why,
                              ...)
{
    va_list ap;

    va_start(ap, why);
    g_autofree char *text = g_strdup_vprintf(why, ap);
    va_end(ap);
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE,
                         "backend %s is unavailable: %s", name, text);
}

int qcrypto_error_memory(GError **errp, const char *what, uint64_t need_kib,
                         uint64_t available_kib)
{
    if (available_kib == 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_OUT_OF_MEMORY,
                             "%s needs %" G_GUINT64_FORMAT " KiB", what,
                             need_kib);
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_OUT_OF_MEMORY,
                         "%s needs %" G_GUINT64_FORMAT " KiB, %" G_GUINT64_FORMAT
                         " KiB available",
                         what, need_kib, available_kib);
}

int qcrypto_error_no_space(GError **errp, const char *what, size_t have,
                           size_t need, bool at_most)
{
    if (need == 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_NO_SPACE,
                             "%s: an output of %zu bytes is too small", what,
                             have);
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_NO_SPACE,
                         "%s: an output of %zu bytes is too small (%s%zu needed)",
                         what, have, at_most ? "up to " : "", need);
}

int qcrypto_error_library(GError **errp, const char *library, const char *call,
                          const char *text)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_BACKEND_UNAVAILABLE, "%s: %s: %s",
                         library, call, text);
}

int qcrypto_error_file(GError **errp, const char *verb, const char *name,
                       int number)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_IO, "cannot %s '%s': %s", verb,
                         name, g_strerror(number));
}
