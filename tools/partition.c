/*
 * Partition tables, read only (partition.h)
 *
 * Addresses come as numbers of sectors, of 32 bits in an MBR and of 64 in a
 * GPT.  They become bytes in one place, which refuses what 63 bits do not
 * hold, so that sums of an offset and a size never wrap.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/partition.h"

#include <inttypes.h>
#include <string.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"

#define SECTOR_MAX 4096

#define MBR_ENTRIES   446
#define MBR_ENTRY     16
#define MBR_SIGNATURE 510
#define MBR_GPT       0xee
/* a chain longer than this goes round in circles; Linux ends it earlier */
#define MBR_LOGICAL_MAX 256

#define GPT_HEADER_MIN 92
#define GPT_ENTRY_MIN  128
#define GPT_NAME_UNITS 36
/* 128 entries of 128 bytes are usual; this is 256 times as much */
#define GPT_ENTRIES_MAX ((uint64_t)4 << 20)

typedef struct Reader {
    QCryptoBlockIO *io;
    uint64_t size;
    size_t sector_size;
    QCryptoPartitionTable *table;
    GArray *partitions; /* of QCryptoPartition */
} Reader;

static int corrupt(GError **errp, const char *fmt, ...) G_GNUC_PRINTF(2, 3);

static int corrupt(GError **errp, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_autofree char *text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    return qcrypto_error(errp, QCRYPTO_ERROR_CORRUPT_HEADER, "%s", text);
}

static int read_at(Reader *r, uint64_t offset, void *buf, size_t len,
                   const char *what, GError **errp)
{
    if (offset > r->size || len > r->size - offset) {
        return corrupt(errp,
                       "%s at byte %" PRIu64 " lies past the end of the disk "
                       "at %" PRIu64,
                       what, offset, r->size);
    }
    return r->io->read(NULL, offset, buf, len, r->io->opaque, errp);
}

/* A number of sectors in bytes; false: more than 63 bits. */
static bool to_bytes(const Reader *r, uint64_t sectors, uint64_t *bytes)
{
    if (sectors > INT64_MAX / r->sector_size) {
        return false;
    }
    *bytes = sectors * r->sector_size;
    return true;
}

static QCryptoPartition *add(Reader *r, unsigned number, uint64_t offset,
                             uint64_t size)
{
    const QCryptoPartition p = {
        .number = number, .offset = offset, .size = size};

    g_array_append_val(r->partitions, p);
    return &g_array_index(r->partitions, QCryptoPartition,
                          r->partitions->len - 1);
}

/*
 * MBR
 */

typedef struct MbrEntry {
    uint8_t status, type;
    uint32_t start, sectors;
} MbrEntry;

static MbrEntry mbr_entry(const uint8_t *sector, unsigned i)
{
    const uint8_t *p = sector + MBR_ENTRIES + MBR_ENTRY * i;

    return (MbrEntry){
        .status = p[0],
        .type = p[4],
        .start = qcrypto_get_le32(p + 8),
        .sectors = qcrypto_get_le32(p + 12),
    };
}

static bool mbr_signed(const uint8_t *sector)
{
    return sector[MBR_SIGNATURE] == 0x55 && sector[MBR_SIGNATURE + 1] == 0xaa;
}

/* File systems sign their first sector the same way. */
static bool mbr_plausible(const uint8_t *sector)
{
    bool any = false;

    for (unsigned i = 0; i < 4; i++) {
        const MbrEntry e = mbr_entry(sector, i);

        if (e.status & 0x7f) {
            return false;
        }
        any = any || (e.sectors && e.start);
    }
    return any && mbr_signed(sector);
}

static bool mbr_is_extended(const MbrEntry *e)
{
    return e->sectors &&
           (e->type == 0x05 || e->type == 0x0f || e->type == 0x85);
}

static bool mbr_has_gpt(const uint8_t *sector)
{
    for (unsigned i = 0; i < 4; i++) {
        if (mbr_entry(sector, i).type == MBR_GPT) {
            return true;
        }
    }
    return false;
}

/* 33 bits of sectors at most, so bytes fit. */
static void mbr_add(Reader *r, unsigned number, uint64_t base,
                    const MbrEntry *e)
{
    QCryptoPartition *p = add(r, number, (base + e->start) * r->sector_size,
                              (uint64_t)e->sectors * r->sector_size);

    p->extended = mbr_is_extended(e);
    g_snprintf(p->type, sizeof(p->type), "%02x", e->type);
}

/*
 * The chain of boot records in an extended partition: each holds one logical
 * partition, placed from the record on, and a link, placed from the start of
 * the extended partition on.  What is found before a fault counts.
 */
static int mbr_read_chain(Reader *r, uint32_t base, unsigned *number,
                          GError **errp)
{
    uint8_t sector[512];
    uint64_t here = base; /* of 33 bits at most */

    for (unsigned n = 0; n < MBR_LOGICAL_MAX; n++) {
        const uint64_t at = here * r->sector_size;
        bool linked = false;

        if (read_at(r, at, sector, sizeof(sector), "an extended boot record",
                    errp) < 0) {
            return -1;
        }
        if (!mbr_signed(sector)) {
            return corrupt(errp,
                           "the extended boot record at byte %" PRIu64
                           " has no signature",
                           at);
        }
        const uint64_t record = here;
        for (unsigned i = 0; i < 2; i++) {
            const MbrEntry e = mbr_entry(sector, i);

            if (mbr_is_extended(&e)) {
                here = (uint64_t)base + e.start;
                linked = true;
            } else if (e.sectors) {
                mbr_add(r, (*number)++, record, &e);
            }
        }
        if (!linked) {
            return 0;
        }
    }
    return corrupt(errp,
                   "the chain of extended boot records has more than %d links",
                   MBR_LOGICAL_MAX);
}

static void mbr_read(Reader *r, const uint8_t *sector)
{
    unsigned logical = 5;

    for (unsigned i = 0; i < 4; i++) {
        const MbrEntry e = mbr_entry(sector, i);

        if (e.sectors && e.start) {
            mbr_add(r, i + 1, 0, &e);
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        const MbrEntry e = mbr_entry(sector, i);
        GError *error = NULL;

        if (mbr_is_extended(&e) && e.start &&
            mbr_read_chain(r, e.start, &logical, &error) < 0) {
            g_free(r->table->problem);
            r->table->problem = g_strdup(error->message);
            g_error_free(error);
        }
    }
}

/*
 * GPT
 */

/* CRC-32 of Ethernet and zlib; tables are small and read once */
static uint32_t crc32(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static void guid_text(char *to, size_t room, const uint8_t *p)
{
    /* three numbers in little-endian order, then bytes */
    g_snprintf(to, room,
               "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-"
               "%02X%02X%02X%02X%02X%02X",
               p[3], p[2], p[1], p[0], p[5], p[4], p[7], p[6], p[8], p[9],
               p[10], p[11], p[12], p[13], p[14], p[15]);
}

static char *gpt_name(const uint8_t *p)
{
    gunichar2 units[GPT_NAME_UNITS];
    glong n = 0;

    while (n < GPT_NAME_UNITS && (p[2 * n] || p[2 * n + 1])) {
        units[n] = (gunichar2)(p[2 * n] | p[2 * n + 1] << 8);
        n++;
    }
    /* NULL for halves of surrogates: no name */
    return n ? g_utf16_to_utf8(units, n, NULL, NULL, NULL) : NULL;
}

static int gpt_add_entry(Reader *r, unsigned number, const uint8_t *entry,
                         GError **errp)
{
    static const uint8_t unused[16];
    const uint64_t first = qcrypto_get_le64(entry + 32);
    const uint64_t last = qcrypto_get_le64(entry + 40);
    uint64_t from, to;

    if (!memcmp(entry, unused, sizeof(unused))) {
        return 0;
    }
    if (last < first || !to_bytes(r, first, &from) || last == UINT64_MAX ||
        !to_bytes(r, last + 1, &to)) {
        return corrupt(errp,
                       "partition %u from sector %" PRIu64 " to %" PRIu64
                       " cannot be",
                       number, first, last);
    }
    QCryptoPartition *p = add(r, number, from, to - from);

    guid_text(p->type, sizeof(p->type), entry);
    p->name = gpt_name(entry + 56);
    return 0;
}

static int gpt_read_entries(Reader *r, const uint8_t *header, GError **errp)
{
    const uint64_t lba = qcrypto_get_le64(header + 72);
    const uint32_t count = qcrypto_get_le32(header + 80);
    const uint32_t entry_size = qcrypto_get_le32(header + 84);
    uint64_t at;

    if (entry_size < GPT_ENTRY_MIN || (entry_size & (entry_size - 1)) ||
        (uint64_t)count * entry_size > GPT_ENTRIES_MAX) {
        return corrupt(errp,
                       "%" PRIu32 " entries of %" PRIu32 " bytes cannot be",
                       count, entry_size);
    }
    const size_t len = (size_t)count * entry_size;

    if (!to_bytes(r, lba, &at)) {
        return corrupt(errp, "entries at sector %" PRIu64 " cannot be", lba);
    }
    if (at > r->size || len > r->size - at) {
        return corrupt(errp,
                       "its entries at byte %" PRIu64
                       " reach past the end of the disk",
                       at);
    }
    /* bounded above: 4 MiB, and not more than the disk has */
    g_autofree uint8_t *entries = g_malloc(len + 1);

    if (len && read_at(r, at, entries, len, "its table of entries", errp) < 0) {
        return -1;
    }
    if (crc32(0, entries, len) != qcrypto_get_le32(header + 88)) {
        return corrupt(errp, "the checksum of its entries is wrong");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (gpt_add_entry(r, i + 1, entries + (size_t)i * entry_size, errp) <
            0) {
            return -1;
        }
    }
    return 0;
}

/* The table whose header lies in that sector. */
static int gpt_read(Reader *r, uint64_t lba, GError **errp)
{
    uint8_t header[SECTOR_MAX];
    uint8_t *const crc = header + 16;

    if (read_at(r, lba * r->sector_size, header, r->sector_size, "its header",
                errp) < 0) {
        return -1;
    }
    if (memcmp(header, "EFI PART", 8)) {
        return corrupt(errp, "there is no header at byte %" PRIu64,
                       lba * r->sector_size);
    }
    const uint32_t len = qcrypto_get_le32(header + 12);
    const uint32_t want = qcrypto_get_le32(crc);

    if (len < GPT_HEADER_MIN || len > r->sector_size) {
        return corrupt(errp, "a header of %" PRIu32 " bytes cannot be", len);
    }
    memset(crc, 0, 4);
    if (crc32(0, header, len) != want) {
        return corrupt(errp, "the checksum of its header is wrong");
    }
    if (qcrypto_get_le64(header + 24) != lba) {
        return corrupt(errp,
                       "its header is that of sector %" PRIu64 ", not %" PRIu64,
                       qcrypto_get_le64(header + 24), lba);
    }
    return gpt_read_entries(r, header, errp);
}

static void forget_partitions(GArray *partitions)
{
    for (guint i = 0; i < partitions->len; i++) {
        g_free(g_array_index(partitions, QCryptoPartition, i).name);
    }
    g_array_set_size(partitions, 0);
}

/* The table at the start, or else the one at the end. */
static int gpt_read_either(Reader *r, GError **errp)
{
    g_autoptr(GError) first = NULL;
    g_autoptr(GError) last = NULL;

    if (gpt_read(r, 1, &first) == 0) {
        return 0;
    }
    forget_partitions(r->partitions);
    if (r->size / r->sector_size > 2 &&
        gpt_read(r, r->size / r->sector_size - 1, &last) == 0) {
        r->table->problem =
            g_strdup_printf("the GPT at the start is damaged (%s); this is "
                            "the backup at the end",
                            first->message);
        return 0;
    }
    forget_partitions(r->partitions);
    return corrupt(errp, "damaged GPT: %s; its backup: %s", first->message,
                   last ? last->message : "no room for one");
}

static size_t gpt_sector_size(Reader *r)
{
    static const size_t sizes[] = {512, SECTOR_MAX};
    uint8_t magic[8];

    for (size_t from_end = 0; from_end < 2; from_end++) {
        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
            const uint64_t n = r->size / sizes[i];

            if (n >= 3 &&
                r->io->read(NULL, (from_end ? n - 1 : 1) * sizes[i], magic,
                            sizeof(magic), r->io->opaque, NULL) == 0 &&
                !memcmp(magic, "EFI PART", sizeof(magic))) {
                return sizes[i];
            }
        }
    }
    return sizes[0];
}

static int read_any(Reader *r, size_t sector_size, GError **errp)
{
    uint8_t sector[512];

    if (r->io->get_size(NULL, &r->size, r->io->opaque, errp) < 0) {
        return -1;
    }
    if (r->size < sizeof(sector)) {
        memset(sector, 0, sizeof(sector));
    } else if (read_at(r, 0, sector, sizeof(sector), "the first sector", errp) <
               0) {
        return -1;
    }
    if (!mbr_plausible(sector)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_UNSUPPORTED,
                             "there is no partition table (MBR or GPT)");
    }
    if (mbr_has_gpt(sector)) {
        r->table->scheme = "GPT";
        r->sector_size = sector_size ? sector_size : gpt_sector_size(r);
        return gpt_read_either(r, errp);
    }
    r->table->scheme = "MBR";
    r->sector_size = sector_size ? sector_size : sizeof(sector);
    mbr_read(r, sector);
    return 0;
}

QCryptoPartitionTable *qcrypto_partition_table_read(QCryptoBlockIO *io,
                                                    size_t sector_size,
                                                    GError **errp)
{
    g_autoptr(QCryptoPartitionTable) table = g_new0(QCryptoPartitionTable, 1);
    Reader r = {
        .io = io,
        .table = table,
        .partitions = g_array_new(FALSE, TRUE, sizeof(QCryptoPartition)),
    };
    int ret;

    if (sector_size && sector_size != 512 && sector_size != SECTOR_MAX) {
        ret = qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                            "the sectors of a disk have 512 or 4096 bytes, "
                            "not %zu",
                            sector_size);
    } else {
        ret = read_any(&r, sector_size, errp);
    }
    table->sector_size = r.sector_size;
    table->disk_size = r.size;
    table->npartitions = r.partitions->len;
    table->partitions =
        (QCryptoPartition *)(void *)g_array_free(r.partitions, FALSE);
    return ret < 0 ? NULL : g_steal_pointer(&table);
}

const QCryptoPartition *qcrypto_partition_table_find(
    const QCryptoPartitionTable *table, unsigned number, GError **errp)
{
    for (size_t i = 0; i < table->npartitions; i++) {
        const QCryptoPartition *p = &table->partitions[i];

        if (p->number != number) {
            continue;
        }
        if (p->extended) {
            qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                          "partition %u is the extended one, which holds "
                          "others (from 5 on) and no data",
                          number);
            return NULL;
        }
        /* both are below 2^63 */
        if (p->offset + p->size > table->disk_size) {
            corrupt(errp,
                    "partition %u reaches to byte %" PRIu64
                    ", the disk ends at %" PRIu64,
                    number, p->offset + p->size, table->disk_size);
            return NULL;
        }
        return p;
    }
    qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                  "there is no partition %u in the %s%s%s", number,
                  table->scheme, table->problem ? ": " : "",
                  table->problem ? table->problem : "");
    return NULL;
}

void qcrypto_partition_table_free(QCryptoPartitionTable *table)
{
    if (table) {
        for (size_t i = 0; i < table->npartitions; i++) {
            g_free(table->partitions[i].name);
        }
        g_free(table->partitions);
        g_free(table->problem);
        g_free(table);
    }
}
