/*
 * Both copies of a LUKS2 header, with the checksums as they are and made anew
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fuzz.h"

#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/block/luks2.h"
#include "luks-images.h"

#define STORAGE ((uint64_t)32 << 20)

unsigned fuzz_accepted;

static void inspect(uint8_t *data, size_t len)
{
    g_autoptr(QCryptoBlockIO) io = luks_memory_io(data, len, STORAGE);
    const QCryptoBlockOpenOptions o = {0};
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(
        &o, io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_INSPECT,
        NULL);
    g_autoptr(QCryptoBlockInfo) info =
        b ? qcrypto_block_get_info(b, NULL) : NULL;

    fuzz_accepted += info != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    g_autofree uint8_t *own = g_malloc(len + 1);

    memcpy(own, data, len);
    inspect(own, len);
    if (len < QCRYPTO_LUKS2_BINARY) {
        return 0;
    }
    const uint64_t size = qcrypto_get_be64(own + QCRYPTO_LUKS2_AT_SIZE);
    if (qcrypto_luks2_size_is_legal(size) && len / 2 >= size) {
        luks2_sum(own, 0);
        if (qcrypto_get_be64(own + size + QCRYPTO_LUKS2_AT_SIZE) == size) {
            luks2_sum(own, size);
        }
        inspect(own, len);
    }
    return 0;
}

void fuzz_seeds(FuzzAdd *add, void *opaque)
{
    static const char *const names[] = {
        "v2-base",           "v2-primary-csum-bad", "v2-secondary-csum-bad",
        "v2-secondary-only", "v2-older-secondary",  "v2-metadata-64k",
        "v2-label-max",      "b2-hdr-size-mismatch"};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        size_t len;
        g_autofree uint8_t *image = luks_load(luks_volume(names[i]), &len);
        const size_t size = strstr(names[i], "64k") ? 65536 : 16384;

        g_assert_cmpuint(len, >=, 2 * size);
        /* all of the binary block that means something */
        add(names[i], image, 2 * size, i == 0 ? 512 : 0, opaque);
    }
}
