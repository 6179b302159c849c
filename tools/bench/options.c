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
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/base/error.h"

/* More of them are a slip. */
#define MAX_VALUES 1024

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
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"", 0},     {"k", 10}, {"kib", 10}, {"m", 20},
                 {"mib", 20}, {"g", 30}, {"gib", 30}};
    const char *end;

    if (digits(text, &end, value)) {
        for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
            const unsigned shift = units[i].shift;

            /* max fits 64 bits shifted down, so this cannot overflow */
            if (!g_ascii_strcasecmp(end, units[i].suffix) &&
                *value <= max >> shift && *value << shift >= min) {
                *value <<= shift;
                return 0;
            }
        }
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "%s takes a number from %" G_GUINT64_FORMAT
                         " to %" G_GUINT64_FORMAT
                         " (k, m, g or KiB, MiB, GiB behind it), not '%s'",
                         name, min, max, text);
}

int qcrypto_bench_parse_range(const char *name, const char *text,
                              QCryptoBenchParse *parse, uint64_t min,
                              uint64_t max, GArray *out, GError **errp)
{
    const char *dots = strstr(text, "..");
    const char *plus = dots ? strchr(dots, '+') : NULL;
    g_autofree char *from =
        dots ? g_strndup(text, (gsize)(dots - text)) : g_strdup(text);
    g_autofree char *to = plus ? g_strndup(dots + 2, (gsize)(plus - dots - 2))
                               : g_strdup(dots ? dots + 2 : text);
    uint64_t first, last, step = 0;

    if (parse(name, from, min, max, &first, errp) < 0 ||
        parse(name, to, min, max, &last, errp) < 0 ||
        (plus && parse(name, plus + 1, 1, max, &step, errp) < 0)) {
        return -1;
    }
    if (last < first || (dots && !first && !step)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s: '%s' is no range; 1..8 is 1, 2, 4, 8, and "
                             "1..4+1 is 1, 2, 3, 4",
                             name, text);
    }
    for (uint64_t v = first; v < last; v = step ? v + step : v * 2) {
        if (out->len >= MAX_VALUES) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "%s: '%s' makes more than %d values", name,
                                 text, MAX_VALUES);
        }
        g_array_append_val(out, v);
    }
    g_array_append_val(out, last);
    return 0;
}

int qcrypto_bench_parse_mask(const char *name, const char *text,
                             uint64_t *value, GError **errp)
{
    const bool hex = !g_ascii_strncasecmp(text, "0x", 2);

    if (!g_ascii_string_to_unsigned(hex ? text + 2 : text, hex ? 16 : 10, 0,
                                    UINT64_MAX, value, NULL)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "%s takes a mask of NUMA nodes (0x1 the first "
                             "one, 0x3 two, 0x0 no binding), not '%s'",
                             name, text);
    }
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

int qcrypto_bench_split(const char *name, const char *text, char ***list,
                        GError **errp)
{
    *list = NULL;
    if (!text) {
        return 0;
    }
    *list = g_strsplit(text, ",", -1);
    for (char **w = *list; *w && *g_strstrip(*w); w++) {
        if (!w[1]) {
            return 0;
        }
    }
    g_clear_pointer(list, g_strfreev);
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "%s: an empty name in '%s'", name, text);
}
