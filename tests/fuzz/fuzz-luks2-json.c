/*
 * The metadata of LUKS2, as text
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fuzz.h"

#include <jansson.h>
#include <string.h>

#include "crypto/block/luks2.h"
#include "luks-images.h"

#define HEADER ((uint64_t)16 << 10)

unsigned fuzz_accepted;

static void parse(json_t *json, bool detached)
{
    QCryptoLuks *luks = g_new0(QCryptoLuks, 1);

    luks->version = 2;
    luks->detached = detached;
    luks->header_size = HEADER;
    luks->json_size = HEADER - QCRYPTO_LUKS2_BINARY;
    if (qcrypto_luks2_parse(luks, json, NULL) == 0) {
        fuzz_accepted++;
        qcrypto_luks_check_features(luks, NULL);
        /* once more over a model that has something to give up */
        qcrypto_luks2_parse(luks, json, NULL);
    }
    qcrypto_luks_free(luks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* a zero byte behind, as the area has */
    g_autofree char *area = g_malloc0(len + 1);

    memcpy(area, data, len);
    json_t *json = qcrypto_luks2_load(area, len + 1, NULL);
    if (json) {
        parse(json, false);
        parse(json, true);
        json_decref(json);
    }
    return 0;
}

void fuzz_seeds(FuzzAdd *add, void *opaque)
{
    size_t n;
    const LuksVolume *v = luks_volumes(&n);

    for (size_t i = 0; i < n; i++) {
        size_t len, header_len;
        g_autofree uint8_t *image = luks_load(&v[i], &len);
        g_autofree uint8_t *header = luks_load_header(&v[i], &header_len);
        const char *json =
            (const char *)(header ? header : image) + QCRYPTO_LUKS2_BINARY;

        if (v[i].version == 2 && len >= HEADER && *json == '{') {
            const bool all = !strcmp(v[i].name, "v2-multi-slots") ||
                             !strcmp(v[i].name, "v2-tokens") ||
                             !strcmp(v[i].name, "v2-reencrypt-crashed");
            const size_t text = strnlen(json, HEADER - QCRYPTO_LUKS2_BINARY);

            add(v[i].name, (const uint8_t *)json, text, all ? text : 0, opaque);
        }
    }
}
