/*
 * The start of a disk: partition tables, and what else it looks like
 *
 * Checksums would stop nearly every change of a GPT, so each input is also
 * read with its checksums made right.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "fuzz.h"

#include <string.h>

#include "crypto/base/bytes.h"
#include "luks-images.h"
#include "tools/partition.h"
#include "tools/signature.h"

#define STORAGE ((uint64_t)1 << 20)
#define SECTOR  512

unsigned fuzz_accepted;

static uint32_t crc32(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

/* Where header and entries lie in the input. */
static void seal(uint8_t *disk, size_t len)
{
    uint8_t *h = disk + SECTOR;

    if (len < 2 * SECTOR) {
        return;
    }
    const uint64_t at = qcrypto_get_le64(h + 72);
    const uint64_t size =
        (uint64_t)qcrypto_get_le32(h + 80) * qcrypto_get_le32(h + 84);
    if (at <= len / SECTOR && size <= len - at * SECTOR) {
        qcrypto_put_le32(h + 88, crc32(disk + at * SECTOR, (size_t)size));
    }
    qcrypto_put_le32(h + 16, 0);
    qcrypto_put_le32(h + 16, crc32(h, MIN(qcrypto_get_le32(h + 12), SECTOR)));
}

/* Is there a partition that can be used, or LUKS in qcow2? */
static bool look(const uint8_t *data, size_t len)
{
    bool found = false;
    g_autoptr(QCryptoBlockIO) io =
        luks_memory_io((uint8_t *)(uintptr_t)data, len, STORAGE);
    uint64_t offset, size;

    for (size_t sector = 0; sector <= 4096;
         sector = sector ? sector * 8 : 512) {
        g_autoptr(QCryptoPartitionTable) t =
            qcrypto_partition_table_read(io, sector, NULL);

        for (size_t i = 0; t && i < t->npartitions; i++) {
            const QCryptoPartition *p =
                qcrypto_partition_table_find(t, t->partitions[i].number, NULL);

            if (p) {
                g_assert_cmpuint(p->offset, <=, STORAGE);
                g_assert_cmpuint(p->size, <=, STORAGE - p->offset);
                found = true;
            }
        }
    }
    qcrypto_signature_find(io);
    if (qcrypto_signature_qcow2_luks(io, &offset, &size)) {
        g_assert_cmpuint(size, <=, INT64_MAX);
        found = true;
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    g_autofree uint8_t *sealed = g_malloc0(len + 1);
    bool found = look(data, len);

    memcpy(sealed, data, len);
    seal(sealed, len);
    found = look(sealed, len) || found;
    fuzz_accepted += found;
    return 0;
}

static void put_mbr(uint8_t *p, unsigned entry, uint8_t type, uint32_t start,
                    uint32_t count)
{
    p[446 + 16 * entry + 4] = type;
    qcrypto_put_le32(p + 446 + 16 * entry + 8, start);
    qcrypto_put_le32(p + 446 + 16 * entry + 12, count);
    p[510] = 0x55;
    p[511] = 0xaa;
}

void fuzz_seeds(FuzzAdd *add, void *opaque)
{
    uint8_t disk[8 * SECTOR] = {0};
    uint8_t *h = disk + SECTOR, *e = disk + 2 * SECTOR;

    put_mbr(disk, 0, 0x83, 8, 100);
    put_mbr(disk, 1, 0x05, 4, 1000);
    put_mbr(disk + 4 * SECTOR, 0, 0x83, 8, 100);
    put_mbr(disk + 4 * SECTOR, 1, 0x05, 2, 100);
    put_mbr(disk + 6 * SECTOR, 0, 0x83, 8, 100);
    add("mbr", disk, sizeof(disk), SECTOR, opaque);

    memset(disk, 0, sizeof(disk));
    put_mbr(disk, 0, 0xee, 1, 2047);
    memcpy(h, "EFI PART", 8);
    qcrypto_put_le32(h + 12, 92);
    qcrypto_put_le64(h + 24, 1);
    qcrypto_put_le64(h + 72, 2);
    qcrypto_put_le32(h + 80, 8);
    qcrypto_put_le32(h + 84, 128);
    memset(e, 0x11, 16);
    qcrypto_put_le64(e + 32, 100);
    qcrypto_put_le64(e + 40, 199);
    memcpy(e + 56, "n\0a\0m\0e\0", 8);
    seal(disk, sizeof(disk));
    add("gpt", disk, sizeof(disk), 2 * SECTOR + 128, opaque);

    memset(disk, 0, sizeof(disk));
    memcpy(disk, "QFI\xfb", 4);
    qcrypto_put_be32(disk + 4, 3);
    qcrypto_put_be32(disk + 32, 2);
    qcrypto_put_be32(disk + 100, 104);
    qcrypto_put_be32(disk + 104, 0x6803f857);
    qcrypto_put_be32(disk + 108, 9);
    qcrypto_put_be32(disk + 128, 0x0537be77);
    qcrypto_put_be32(disk + 132, 16);
    qcrypto_put_be64(disk + 136, 65536);
    qcrypto_put_be64(disk + 144, 65536);
    add("qcow2", disk, sizeof(disk), 160, opaque);
}
