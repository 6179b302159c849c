/*
 * What the readers of both LUKS versions share
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/block/luks.h"

#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/error.h"

#if QCRYPTO_HAVE_JANSSON
#include <jansson.h>
#endif

#define U64 G_GUINT64_FORMAT

void qcrypto_luks_clear(QCryptoLuks *luks)
{
    g_strfreev(luks->flags);
    g_strfreev(luks->requirements);
    g_free(luks->primary_problem);
    g_free(luks->secondary_problem);
    g_clear_error(&luks->problem);
#if QCRYPTO_HAVE_JANSSON
    json_decref(luks->json);
#endif
    *luks = (QCryptoLuks){0};
}

void qcrypto_luks_free(QCryptoLuks *luks)
{
    if (luks) {
        qcrypto_luks_clear(luks);
        g_free(luks);
    }
}

int qcrypto_luks_text(const uint8_t *field, size_t n, const char *name,
                      char *out, GError **errp)
{
    const size_t len = strnlen((const char *)field, n);

    if (len == n) {
        return QCRYPTO_LUKS_CORRUPT(
            errp, "%s does not end within its %zu bytes", name, n);
    }
    for (size_t i = 0; i < len; i++) {
        if (field[i] < 0x20 || field[i] == 0x7f) {
            return QCRYPTO_LUKS_CORRUPT(
                errp, "%s has a control character (0x%02x)", name, field[i]);
        }
    }
    if (!g_utf8_validate((const char *)field, (gssize)len, NULL)) {
        return QCRYPTO_LUKS_CORRUPT(errp, "%s is not UTF-8", name);
    }
    memcpy(out, field, len);
    memset(out + len, 0, n - len);
    return 0;
}

int qcrypto_luks_check_areas(const QCryptoLuks *luks, uint64_t low,
                             uint64_t high, GError **errp)
{
    for (unsigned i = 0; i < luks->max_slots; i++) {
        const QCryptoLuksSlot *a = &luks->slots[i];

        if (!a->area_size) {
            continue;
        }
        if (a->area_offset < low || a->area_offset > high ||
            a->area_size > high - a->area_offset) {
            return QCRYPTO_LUKS_CORRUPT(
                errp,
                "key slot %u: its area, %" U64 " bytes at %" U64
                ", is not within %" U64 " to %" U64,
                i, a->area_size, a->area_offset, low, high);
        }
        for (unsigned j = 0; j < i; j++) {
            const QCryptoLuksSlot *b = &luks->slots[j];

            if (b->area_size &&
                qcrypto_luks_overlap(a->area_offset, a->area_size,
                                     b->area_offset, b->area_size)) {
                return QCRYPTO_LUKS_CORRUPT(
                    errp,
                    "key slot %u: its area, %" U64 " bytes at %" U64
                    ", overlaps that of key slot %u at %" U64,
                    i, a->area_size, a->area_offset, j, b->area_offset);
            }
        }
    }
    return 0;
}

void qcrypto_luks_set_problem(QCryptoLuks *luks, QCryptoErrorKind kind,
                              const char *fmt, ...)
{
    va_list ap;

    if (!luks->problem) {
        va_start(ap, fmt);
        luks->problem = g_error_new_valist(QCRYPTO_ERROR, (int)kind, fmt, ap);
        va_end(ap);
    }
}
