/*
 * The LUKS1 header: 592 bytes, zeros behind them
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fuzz.h"

#include <string.h>

#include "crypto/block/luks.h"
#include "luks-images.h"

#define HEADER  592
#define STORAGE ((uint64_t)4 << 20)

unsigned fuzz_accepted;

/* Derives, decrypts and merges where that is cheap. */
static void try_slots(QCryptoBlock *b, QCryptoBlockIO *io)
{
    const QCryptoLuks *luks = b->luks;

    for (unsigned i = 0; i < luks->max_slots; i++) {
        const QCryptoLuksSlot *s = &luks->slots[i];
        uint8_t key[QCRYPTO_LUKS_KEY_MAX];

        if (s->active && s->kdf.iterations <= 1000 &&
            luks->digests[0].iterations <= 1000) {
            qcrypto_luks_slot_unlock(luks, io, i, (const uint8_t *)"x", 1, key,
                                     NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* const for the storage too: nothing here writes */
    g_autoptr(QCryptoBlockIO) io =
        luks_memory_io((uint8_t *)(uintptr_t)data, len, STORAGE);

    for (int detached = 0; detached < 2; detached++) {
        const QCryptoBlockOpenOptions o = {
            .format = QCRYPTO_BLOCK_FORMAT_LUKS1,
            .header = detached ? io : NULL,
        };
        g_autoptr(QCryptoBlock) b = qcrypto_block_open(
            &o, io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_INSPECT,
            NULL);
        g_autoptr(QCryptoBlockInfo) info =
            b ? qcrypto_block_get_info(b, NULL) : NULL;

        fuzz_accepted += info != NULL;
        /* merging 4000 stripes takes a hundred times as long as the rest */
        if (b && !detached && fuzz_accepted % 16 == 0) {
            try_slots(b, io);
        }
    }
    return 0;
}

void fuzz_seeds(FuzzAdd *add, void *opaque)
{
    size_t n;
    const LuksVolume *v = luks_volumes(&n);

    for (size_t i = 0; i < n; i++) {
        if (v[i].version == 1 && !v[i].header) {
            size_t len;
            g_autofree uint8_t *image = luks_load(&v[i], &len);
            const bool all = !strcmp(v[i].name, "v1-slots-0-2-7") ||
                             !strcmp(v[i].name, "l1-aes256-xts-essiv");

            if (len >= HEADER) {
                add(v[i].name, image, HEADER, all ? HEADER : 0, opaque);
            }
        }
    }
}
