/*
 * Options as numbers: see options.h
 *
 * Strict: no sign, no leading or trailing text, nothing that is not finite,
 * and an error that says what would do.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "crypto/base/error.h"

/* The digits at the start of text; *end is behind them.  false: none, or
 * more than 64 bits hold. */
static gboolean digits(const char *text, const char **end, uint64_t *value)
{
    char *stop;

    if (!g_ascii_isdigit(text[0])) {
        return FALSE;
    }
    errno = 0;
    *value = g_ascii_strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

static int bad_number(GError **errp, const char *name, const char *text,
                      uint64_t min, uint64_t max)
{
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "%s takes a number from %" G_GUINT64_FORMAT
                         " to %" G_GUINT64_FORMAT ", not '%s'",
                         name, min, max, text);
}

int qcrypto_bench_parse_count(const char *name, const char *text, uint64_t min,
                              uint64_t max, uint64_t *value, GError **errp)
{
    const char *end;

    if (!digits(text, &end, value) || *end || *value < min || *value > max) {
        return bad_number(errp, name, text, min, max);
    }
    return 0;
}

int qcrypto_bench_parse_size(const char *name, const char *text, uint64_t min,
                             uint64_t max, uint64_t *value, GError **errp)
{
    unsigned shift = 0;
    const char *end;

    if (!digits(text, &end, value)) {
        return bad_number(errp, name, text, min, max);
    }
    if (*end) {
        shift = g_ascii_tolower(*end) == 'k'   ? 10
                : g_ascii_tolower(*end) == 'm' ? 20
                : g_ascii_tolower(*end) == 'g' ? 30
                                               : 0;
        end++;
    }
    /* max fits 64 bits shifted down, so the comparison cannot overflow */
    if ((end[-1] > '9' && !shift) || *end || *value > max >> shift ||
        *value << shift < min) {
        return bad_number(errp, name, text, min, max);
    }
    *value <<= shift;
    return 0;
}

int qcrypto_bench_parse_seconds(const char *name, const char *text, double min,
                                double max, double *value, GError **errp)
{
    char *end;

    *value = g_ascii_strtod(text, &end);
    if (!(g_ascii_isdigit(text[0]) || text[0] == '.') || *end ||
        !isfinite(*value) || *value < min || *value > max) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s takes seconds from %g to %g, not '%s'", name,
                             min, max, text);
    }
    return 0;
}
