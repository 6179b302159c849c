/*
 * What compressors are measured on: see data.h
 *
 * Generated data is in pieces of 16 to 111 bytes, either random ones, which
 * nobody compresses, or copies of what stands up to 1 KiB before, which come to
 * some 4 percent of their length with zlib-deflate.  Of each stretch such a
 * share is random that the percentage comes out: 96 - P of 96 parts.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/data.h"

#include <errno.h>
#include <stdio.h>

#include "crypto/base/error.h"
#include "tools/bench/options.h"

#define PIECE_MIN 16
#define PIECE_VAR 96
#define NEAR      1024
/* what of a copy remains, in percent, and the rest */
#define REST (100 - 4)

/* xorshift64: never 0 from a state that is not 0 */
static uint32_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return (uint32_t)(*x >> 32);
}

void qcrypto_bench_data_fill(uint8_t *p, size_t len, unsigned percent)
{
    uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t fresh = 0;

    for (size_t at = 0; at < len;) {
        const size_t want = PIECE_MIN + next_random(&x) % PIECE_VAR;
        const size_t n = MIN(want, len - at);

        /* fresh bytes while they are fewer than their share by half a piece;
         * percent is less than REST, so nothing is negative */
        if (at == 0 || REST * fresh + REST / 2 * want <
                           (uint64_t)(REST - percent) * (at + want)) {
            for (size_t i = 0; i < n; i++) {
                p[at + i] = (uint8_t)next_random(&x);
            }
            fresh += n;
        } else {
            const size_t back = 1 + next_random(&x) % MIN(at, NEAR);

            for (size_t i = 0; i < n; i++) {
                p[at + i] = p[at + i - back];
            }
        }
        at += n;
    }
}

static QCryptoBenchData *generate(unsigned percent, size_t len)
{
    QCryptoBenchData *d = g_new0(QCryptoBenchData, 1);

    d->text = g_strdup_printf("generated, %u%% compressible", percent);
    d->len = len;
    d->bytes = g_malloc(len);
    qcrypto_bench_data_fill(d->bytes, len, percent);
    return d;
}

static QCryptoBenchData *read_file(const char *path, GError **errp)
{
    QCryptoBenchData *d = g_new0(QCryptoBenchData, 1);
    FILE *f = fopen(path, "rb");

    if (f) {
        d->bytes = g_malloc(QCRYPTO_BENCH_FILE_MAX);
        d->len = fread(d->bytes, 1, QCRYPTO_BENCH_FILE_MAX, f);
    }
    if (!f || ferror(f)) {
        qcrypto_error(errp, QCRYPTO_ERROR_IO, "cannot read %s: %s", path,
                      g_strerror(errno));
        g_free(d->bytes);
        g_clear_pointer(&d, g_free);
    } else {
        g_autofree char *name = g_path_get_basename(path);

        /* results are UTF-8 text */
        g_autofree char *shown = g_filename_display_name(name);
        d->text = g_strdup_printf("%zu bytes of %s", d->len, shown);
        d->bytes = g_realloc(d->bytes, MAX(d->len, 1));
    }
    if (f) {
        fclose(f);
    }
    return d;
}

const QCryptoBenchData *qcrypto_bench_data(const char *path,
                                           const char *percent, size_t least,
                                           GError **errp)
{
    static GHashTable *made; /* by what was asked for; cases point to them */
    const size_t len = MAX(least, QCRYPTO_BENCH_GENERATED);
    uint64_t n = QCRYPTO_BENCH_PERCENT_DEFAULT;

    if (path && percent) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "--data and --compressibility exclude each other");
        return NULL;
    }
    if (percent &&
        qcrypto_bench_parse_count("--compressibility", percent, 0,
                                  QCRYPTO_BENCH_PERCENT_MAX, &n, errp) < 0) {
        return NULL;
    }
    if (!made) {
        made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    }
    g_autofree char *key = path ? g_strdup_printf("file %s", path)
                                : g_strdup_printf("%u %zu", (unsigned)n, len);
    QCryptoBenchData *d = g_hash_table_lookup(made, key);
    if (!d) {
        d = path ? read_file(path, errp) : generate((unsigned)n, len);
        if (d) {
            g_hash_table_insert(made, g_steal_pointer(&key), d);
        }
    }
    return d;
}
