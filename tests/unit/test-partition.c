/*
 * Partition tables: right ones, damaged ones and crafted ones
 *
 * Disks are made here, sector by sector, in memory: tables by sfdisk and
 * sgdisk are read in tests/interop/luks-partition.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "crypto/base/bytes.h"
#include "tools/partition.h"

#define SECTORS 4096

typedef struct Disk {
    uint8_t *bytes;
    size_t size;
    size_t ss; /* bytes of a sector */
    bool fails;
    QCryptoBlockIO io;
} Disk;

static int disk_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                     uint8_t *buf, size_t len, void *opaque, GError **errp)
{
    Disk *d = opaque;

    g_assert_cmpuint(offset, <=, d->size);
    g_assert_cmpuint(len, <=, d->size - offset);
    if (d->fails) {
        g_set_error(errp, QCRYPTO_ERROR, QCRYPTO_ERROR_IO, "medium error");
        return -1;
    }
    memcpy(buf, d->bytes + offset, len);
    return 0;
}

static int disk_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                     void *opaque, GError **errp G_GNUC_UNUSED)
{
    *size = ((Disk *)opaque)->size;
    return 0;
}

static Disk *disk_new(size_t ss)
{
    Disk *d = g_new0(Disk, 1);

    d->ss = ss;
    d->size = SECTORS * ss;
    d->bytes = g_malloc0(d->size);
    d->io =
        (QCryptoBlockIO){.read = disk_read, .get_size = disk_size, .opaque = d};
    return d;
}

static void disk_free(Disk *d)
{
    g_free(d->bytes);
    g_free(d);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Disk, disk_free)

static uint8_t *sector(Disk *d, uint64_t n)
{
    g_assert_cmpuint(n, <, SECTORS);
    return d->bytes + n * d->ss;
}

static void mbr(uint8_t *p, unsigned entry, uint8_t type, uint32_t start,
                uint32_t count)
{
    uint8_t *e = p + 446 + 16 * entry;

    e[4] = type;
    qcrypto_put_le32(e + 8, start);
    qcrypto_put_le32(e + 12, count);
    p[510] = 0x55;
    p[511] = 0xaa;
}

static uint32_t crc32(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < 8 * n; i++) {
        uint32_t in = (uint32_t)(p[i / 8] >> i % 8) & 1;

        crc = crc >> 1 ^ ((crc ^ in) & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

typedef struct Gpt {
    uint64_t lba, entries;
    uint32_t count, entry_size, header_size;
} Gpt;

static const Gpt first_gpt = {1, 2, 128, 128, 92};
#define LAST_GPT(ss)                                                           \
    (Gpt)                                                                      \
    {                                                                          \
        SECTORS - 1, SECTORS - 1 - 128 * 128 / (ss), 128, 128, 92              \
    }

/* checksums of what stands in the sectors */
static void gpt_seal(Disk *d, const Gpt *g)
{
    uint8_t *h = sector(d, g->lba);

    memcpy(h, "EFI PART", 8);
    qcrypto_put_le32(h + 8, 0x10000);
    qcrypto_put_le32(h + 12, g->header_size);
    qcrypto_put_le64(h + 24, g->lba);
    qcrypto_put_le64(h + 72, g->entries);
    qcrypto_put_le32(h + 80, g->count);
    qcrypto_put_le32(h + 84, g->entry_size);
    if (g->entries < SECTORS &&
        (uint64_t)g->count * g->entry_size <= (SECTORS - g->entries) * d->ss) {
        qcrypto_put_le32(h + 88, crc32(sector(d, g->entries),
                                       (size_t)g->count * g->entry_size));
    }
    qcrypto_put_le32(h + 16, 0);
    qcrypto_put_le32(h + 16, crc32(h, MIN(g->header_size, d->ss)));
}

static void gpt_entry(Disk *d, const Gpt *g, unsigned index, uint64_t first,
                      uint64_t last)
{
    uint8_t *e = sector(d, g->entries) + (size_t)index * g->entry_size;
    static const uint8_t type[16] = {0xcb, 0x7c, 0x7d, 0xca, 0xed, 0x63,
                                     0x53, 0x4c, 0x86, 0x1c, 0x17, 0x42,
                                     0x53, 0x60, 0x59, 0xcc};

    memcpy(e, type, 16);
    qcrypto_put_le64(e + 32, first);
    qcrypto_put_le64(e + 40, last);
    memcpy(e + 56, "d\0\xe9\0", 4); /* "dé" */
}

/* Two tables that say the same: partition 3 of sectors 100 to 299. */
static Disk *gpt_disk(size_t ss)
{
    Disk *d = disk_new(ss);
    const Gpt last = LAST_GPT(ss);

    mbr(sector(d, 0), 0, 0xee, 1, SECTORS - 1);
    gpt_entry(d, &first_gpt, 2, 100, 299);
    gpt_entry(d, &last, 2, 100, 299);
    gpt_seal(d, &first_gpt);
    gpt_seal(d, &last);
    return d;
}

static QCryptoPartitionTable *table_of(Disk *d)
{
    g_autoptr(GError) err = NULL;
    QCryptoPartitionTable *t = qcrypto_partition_table_read(&d->io, 0, &err);

    g_assert_no_error(err);
    g_assert_nonnull(t);
    return t;
}

static void refused(Disk *d, QCryptoErrorKind kind, const char *text)
{
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_partition_table_read(&d->io, 0, &err));
    g_assert_error(err, QCRYPTO_ERROR, (int)kind);
    if (!strstr(err->message, text)) {
        g_test_message("\"%s\" does not say \"%s\"", err->message, text);
        g_test_fail();
    }
}

static void is_partition(const QCryptoPartitionTable *t, unsigned number,
                         uint64_t offset, uint64_t size)
{
    g_autoptr(GError) err = NULL;
    const QCryptoPartition *p = qcrypto_partition_table_find(t, number, &err);

    g_assert_no_error(err);
    g_assert_cmpuint(p->number, ==, number);
    g_assert_cmpuint(p->offset, ==, offset);
    g_assert_cmpuint(p->size, ==, size);
}

static void no_partition(const QCryptoPartitionTable *t, unsigned number,
                         const char *text)
{
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_partition_table_find(t, number, &err));
    g_assert_nonnull(err);
    g_assert_nonnull(strstr(err->message, text));
}

static void test_gpt(gconstpointer arg)
{
    const size_t ss = GPOINTER_TO_SIZE(arg);
    g_autoptr(Disk) d = gpt_disk(ss);
    g_autoptr(QCryptoPartitionTable) t = table_of(d);

    g_assert_cmpstr(t->scheme, ==, "GPT");
    g_assert_cmpuint(t->sector_size, ==, ss);
    g_assert_cmpuint(t->npartitions, ==, 1);
    g_assert_null(t->problem);
    g_assert_cmpstr(t->partitions[0].type, ==,
                    "CA7D7CCB-63ED-4C53-861C-1742536059CC");
    g_assert_cmpstr(t->partitions[0].name, ==, "d\xc3\xa9");
    is_partition(t, 3, 100 * ss, 200 * ss);
    no_partition(t, 1, "no partition 1");
    no_partition(t, 4, "no partition 4");
}

/* Any damaged byte that a checksum covers: the backup is used. */
static void test_gpt_backup(gconstpointer arg)
{
    const size_t ss = GPOINTER_TO_SIZE(arg);

    for (size_t at = 0; at < 92 + 128 * 4; at++) {
        g_autoptr(Disk) d = gpt_disk(ss);
        uint8_t *p = at < 92 ? sector(d, 1) + at : sector(d, 2) + at - 92;

        *p ^= 0x10;
        g_autoptr(QCryptoPartitionTable) t = table_of(d);
        is_partition(t, 3, 100 * ss, 200 * ss);
        g_assert_nonnull(t->problem);
        g_assert_nonnull(strstr(t->problem, "backup"));
    }
    g_autoptr(Disk) d = gpt_disk(ss);
    sector(d, 1)[60] ^= 1;
    sector(d, SECTORS - 1)[60] ^= 1;
    refused(d, QCRYPTO_ERROR_CORRUPT_HEADER, "checksum of its header");
    memset(sector(d, 1), 0, ss);
    memset(sector(d, SECTORS - 1), 0, ss);
    refused(d, QCRYPTO_ERROR_CORRUPT_HEADER, "no header at byte");
}

/* Right checksums over numbers that cannot be. */
static void test_gpt_hostile(void)
{
    static const struct {
        Gpt gpt;
        const char *text;
    } bad[] = {
        {{1, 2, UINT32_MAX, 128, 92}, "entries of"},
        {{1, 2, 1 << 20, 1 << 20, 92}, "entries of"},
        {{1, 2, UINT32_MAX, 1u << 31, 92}, "entries of"},
        {{1, 2, 128, 0, 92}, "entries of"},
        {{1, 2, 128, 64, 92}, "entries of"},
        {{1, 2, 128, 129, 92}, "entries of"},
        {{1, SECTORS - 1, 128, 128, 92}, "past the end"},
        {{1, UINT64_MAX, 128, 128, 92}, "entries at sector"},
        {{1, INT64_MAX / 512, 128, 128, 92}, "past the end"},
        {{1, 2, 128, 128, 91}, "header of 91"},
        {{1, 2, 128, 128, 513}, "header of 513"},
        {{1, 2, 128, 128, UINT32_MAX}, "header of"},
    };
    static const struct {
        uint64_t first, last;
        const char *text;
    } entries[] = {
        {300, 299, "cannot be"},
        {UINT64_MAX, UINT64_MAX, "cannot be"},
        {0, UINT64_MAX, "cannot be"},
        {1, INT64_MAX / 512, "cannot be"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(Disk) d = gpt_disk(512);

        memset(sector(d, SECTORS - 1), 0, 512);
        gpt_seal(d, &bad[i].gpt);
        refused(d, QCRYPTO_ERROR_CORRUPT_HEADER, bad[i].text);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(entries); i++) {
        g_autoptr(Disk) d = gpt_disk(512);

        memset(sector(d, SECTORS - 1), 0, 512);
        gpt_entry(d, &first_gpt, 2, entries[i].first, entries[i].last);
        gpt_seal(d, &first_gpt);
        refused(d, QCRYPTO_ERROR_CORRUPT_HEADER, entries[i].text);
    }

    /* a partition past the end is there, but of no use; others are */
    g_autoptr(Disk) d = gpt_disk(512);
    gpt_entry(d, &first_gpt, 0, 400, SECTORS);
    gpt_seal(d, &first_gpt);
    g_autoptr(QCryptoPartitionTable) t = table_of(d);
    is_partition(t, 3, 100 * 512, 200 * 512);
    no_partition(t, 1, "the disk ends at");
}

static void test_mbr(void)
{
    g_autoptr(Disk) d = disk_new(512);

    mbr(sector(d, 0), 0, 0x83, 10, 20);
    mbr(sector(d, 0), 3, 0x0c, 40, SECTORS - 40);
    g_autoptr(QCryptoPartitionTable) t = table_of(d);
    g_assert_cmpstr(t->scheme, ==, "MBR");
    g_assert_cmpuint(t->npartitions, ==, 2);
    g_assert_cmpstr(t->partitions[1].type, ==, "0c");
    is_partition(t, 1, 10 * 512, 20 * 512);
    is_partition(t, 4, 40 * 512, (SECTORS - 40) * 512);
    no_partition(t, 2, "no partition 2");

    g_autoptr(QCryptoPartitionTable) big =
        qcrypto_partition_table_read(&d->io, 4096, NULL);
    g_assert_nonnull(big);
    is_partition(big, 1, 10 * 4096, 20 * 4096);
    no_partition(big, 4, "the disk ends at");

    mbr(sector(d, 0), 1, 0x83, UINT32_MAX, UINT32_MAX);
    g_autoptr(QCryptoPartitionTable) far = table_of(d);
    no_partition(far, 2, "the disk ends at");
}

static void test_mbr_logical(void)
{
    g_autoptr(Disk) d = disk_new(512);

    mbr(sector(d, 0), 0, 0x83, 10, 20);
    mbr(sector(d, 0), 1, 0x05, 1000, 3000);
    mbr(sector(d, 1000), 0, 0x83, 8, 100);
    mbr(sector(d, 1000), 1, 0x05, 200, 500);
    mbr(sector(d, 1200), 0, 0x82, 8, 50);
    mbr(sector(d, 1200), 1, 0x0f, 100, 50);
    mbr(sector(d, 1100), 1, 0x85, 300, 500); /* none here, and backwards */
    mbr(sector(d, 1300), 0, 0x83, 16, 60);

    g_autoptr(QCryptoPartitionTable) t = table_of(d);
    g_assert_null(t->problem);
    is_partition(t, 5, 1008 * 512, 100 * 512);
    is_partition(t, 6, 1208 * 512, 50 * 512);
    no_partition(t, 2, "extended");
    is_partition(t, 7, 1316 * 512, 60 * 512);
    no_partition(t, 8, "no partition 8");
}

static void test_mbr_hostile(void)
{
    g_autoptr(Disk) d = disk_new(512);

    /* round in circles */
    mbr(sector(d, 0), 0, 0x05, 1000, 3000);
    mbr(sector(d, 1000), 0, 0x83, 8, 10);
    mbr(sector(d, 1000), 1, 0x05, 0, 500);
    g_autoptr(QCryptoPartitionTable) loop = table_of(d);
    g_assert_nonnull(strstr(loop->problem, "links"));
    g_assert_cmpuint(loop->npartitions, <, 1000);
    is_partition(loop, 5, 1008 * 512, 10 * 512);

    /* to somewhere that is no record */
    mbr(sector(d, 1000), 1, 0x05, 100, 500);
    g_autoptr(QCryptoPartitionTable) lost = table_of(d);
    g_assert_nonnull(strstr(lost->problem, "no signature"));
    is_partition(lost, 5, 1008 * 512, 10 * 512);
    no_partition(lost, 6, "no signature");

    /* past the end, by more than 32 bits hold */
    mbr(sector(d, 1000), 1, 0x05, UINT32_MAX, 500);
    g_autoptr(QCryptoPartitionTable) past = table_of(d);
    g_assert_nonnull(strstr(past->problem, "past the end"));
}

static void test_none(void)
{
    g_autoptr(Disk) d = disk_new(512);

    refused(d, QCRYPTO_ERROR_UNSUPPORTED, "no partition table");
    sector(d, 0)[510] = 0x55; /* signed, but no entries */
    sector(d, 0)[511] = 0xaa;
    refused(d, QCRYPTO_ERROR_UNSUPPORTED, "no partition table");
    mbr(sector(d, 0), 0, 0x83, 10, 20);
    sector(d, 0)[446 + 16] = 0x12; /* code, not an entry's status */
    refused(d, QCRYPTO_ERROR_UNSUPPORTED, "no partition table");

    d->size = 511;
    refused(d, QCRYPTO_ERROR_UNSUPPORTED, "no partition table");
    d->size = 0;
    refused(d, QCRYPTO_ERROR_UNSUPPORTED, "no partition table");
    d->size = SECTORS * 512;
    d->fails = true;
    refused(d, QCRYPTO_ERROR_IO, "medium error");

    g_autoptr(GError) err = NULL;
    g_assert_null(qcrypto_partition_table_read(&d->io, 513, &err));
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
}

/* A disk cut short anywhere gives a table or an error, and reads inside. */
static void test_short_disks(void)
{
    for (size_t size = 0; size < 40 * 512; size += 37) {
        g_autoptr(Disk) d = gpt_disk(512);

        d->size = size;
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoPartitionTable) t =
            qcrypto_partition_table_read(&d->io, 0, &err);
        g_assert_true((t == NULL) == (err != NULL));
        if (t) {
            no_partition(t, 3, "the disk ends at");
        }
    }
}

/* Noise in every byte of the first sectors, checksums made right again. */
static void test_noise(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(6);
    unsigned tables = 0;

    for (int round = 0; round < 3000; round++) {
        g_autoptr(Disk) d = gpt_disk(round & 1 ? 512 : 4096);

        memset(sector(d, SECTORS - 1), 0, d->ss);
        for (int i = 0; i < 6; i++) {
            uint8_t *p = sector(d, (uint64_t)g_rand_int_range(rand, 0, 3));

            p[g_rand_int_range(rand, 0, 512)] ^=
                (uint8_t)(1 << g_rand_int_range(rand, 0, 8));
        }
        gpt_seal(d, &first_gpt);
        g_autoptr(QCryptoPartitionTable) t =
            qcrypto_partition_table_read(&d->io, 0, NULL);
        for (size_t i = 0; t && i < t->npartitions; i++) {
            const QCryptoPartition *p =
                qcrypto_partition_table_find(t, t->partitions[i].number, NULL);

            if (p) {
                g_assert_cmpuint(p->offset, <=, d->size);
                g_assert_cmpuint(p->size, <=, d->size - p->offset);
            }
            tables++;
        }
    }
    g_assert_cmpuint(tables, >, 1000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/partition/gpt/512", GSIZE_TO_POINTER(512), test_gpt);
    g_test_add_data_func("/partition/gpt/4096", GSIZE_TO_POINTER(4096),
                         test_gpt);
    g_test_add_data_func("/partition/gpt/backup/512", GSIZE_TO_POINTER(512),
                         test_gpt_backup);
    g_test_add_data_func("/partition/gpt/backup/4096", GSIZE_TO_POINTER(4096),
                         test_gpt_backup);
    g_test_add_func("/partition/gpt/hostile", test_gpt_hostile);
    g_test_add_func("/partition/mbr", test_mbr);
    g_test_add_func("/partition/mbr/logical", test_mbr_logical);
    g_test_add_func("/partition/mbr/hostile", test_mbr_hostile);
    g_test_add_func("/partition/none", test_none);
    g_test_add_func("/partition/short-disks", test_short_disks);
    g_test_add_func("/partition/noise", test_noise);
    return g_test_run();
}
