/*
 * What a disk, a partition or a file looks like (signature.h)
 *
 * Bytes at a place, from the formats' own descriptions.  One match says
 * enough for a message; nothing is opened on the strength of it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/signature.h"

#include <string.h>

#include "crypto/base/bytes.h"

#define LOOK_MAX 16

typedef struct Signature {
    uint64_t offset;
    uint8_t len;
    char bytes[LOOK_MAX + 1];
    const char *what;
} Signature;

/* The more particular ones first; a file system's before a boot sector's. */
static const Signature signatures[] = {
    {0, 4, "COWD", "a VMDK image (VMware)"},
    {0, 4, "KDMV", "a VMDK image (VMware)"},
    {0, 8, "vhdxfile", "a VHDX image (Hyper-V)"},
    {0, 8, "conectix", "a VHD image (Virtual PC)"},
    {0, 4, "QED\0", "a QED image"},
    {64, 4, "\x7f\x10\xda\xbe", "a VDI image (VirtualBox)"},
    {3, 8, "-FVE-FS-", "a BitLocker volume"},
    {3, 8, "NTFS    ", "an NTFS file system"},
    {3, 8, "EXFAT   ", "an exFAT file system"},
    {82, 8, "FAT32   ", "a FAT file system"},
    {54, 3, "FAT", "a FAT file system"},
    {1080, 2, "\x53\xef", "an ext2, ext3 or ext4 file system"},
    {0, 4, "XFSB", "an XFS file system"},
    {65600, 8, "_BHRfS_M", "a btrfs file system"},
    {1024, 4, "\x10\x20\xf5\xf2", "an F2FS file system"},
    {0, 4, "hsqs", "a squashfs file system"},
    {1024, 4, "\xe2\xe1\xf5\xe0", "an EROFS file system"},
    {32769, 5, "CD001", "an ISO 9660 file system"},
    {512, 8, "LABELONE", "an LVM physical volume"},
    {4086, 10, "SWAPSPACE2", "swap space"},
    {4096, 4, "\xfc\x4e\x2b\xa9", "a Linux RAID member"},
    {0, 4, "\xfc\x4e\x2b\xa9", "a Linux RAID member"},
    {0, 6,
     "\xfd"
     "7zXZ",
     "an xz file"},
    {0, 3, "\x1f\x8b\x08", "a gzip file"},
    {0, 4, "\x28\xb5\x2f\xfd", "a zstd file"},
};

static bool read_at(QCryptoBlockIO *io, uint64_t offset, void *buf, size_t len)
{
    uint64_t size;

    return io->get_size(NULL, &size, io->opaque, NULL) == 0 && offset <= size &&
           len <= size - offset &&
           io->read(NULL, offset, buf, len, io->opaque, NULL) == 0;
}

/* A qcow image tells how it is encrypted. */
static const char *find_qcow(QCryptoBlockIO *io)
{
    static const char *const v1[] = {
        "a qcow image (version 1)",
        "a qcow image (version 1) with the legacy AES encryption",
    };
    static const char *const v2[] = {
        "a qcow2 image",
        "a qcow2 image with the legacy AES encryption",
        "a qcow2 image with LUKS inside",
    };
    uint8_t head[40];

    if (!read_at(io, 0, head, sizeof(head)) || memcmp(head, "QFI\xfb", 4)) {
        return NULL;
    }
    if (qcrypto_get_be32(head + 4) == 1) {
        return v1[qcrypto_get_be32(head + 36) == 1];
    }
    const uint32_t method = qcrypto_get_be32(head + 32);
    return method < G_N_ELEMENTS(v2) ? v2[method]
                                     : "a qcow2 image with an encryption that "
                                       "is not known here";
}

bool qcrypto_signature_is_blank(QCryptoBlockIO *io)
{
    static const uint8_t zeros[65536];
    uint64_t size;

    if (io->get_size(NULL, &size, io->opaque, NULL) < 0) {
        return false;
    }
    g_autofree uint8_t *buf = g_malloc(sizeof(zeros));
    const uint64_t end = MIN(size, (uint64_t)1 << 20);

    for (uint64_t at = 0; at < end;) {
        const size_t n = (size_t)MIN(end - at, sizeof(zeros));

        if (!read_at(io, at, buf, n) || memcmp(buf, zeros, n)) {
            return false;
        }
        at += n;
    }
    return true;
}

const char *qcrypto_signature_find(QCryptoBlockIO *io)
{
    const char *what = find_qcow(io);

    for (size_t i = 0; !what && i < G_N_ELEMENTS(signatures); i++) {
        const Signature *s = &signatures[i];
        char bytes[LOOK_MAX];

        if (read_at(io, s->offset, bytes, s->len) &&
            !memcmp(bytes, s->bytes, s->len)) {
            what = s->what;
        }
    }
    if (!what && qcrypto_signature_is_blank(io)) {
        uint64_t size = 0;

        what = io->get_size(NULL, &size, io->opaque, NULL) == 0 && size == 0
                   ? "empty"
                   : "nothing but zeros, as far as was looked";
    }
    return what;
}

/*
 * The header extension "full disk encryption header" of qcow2 (version 3):
 * type, length, then offset and length of the header in the image.
 */
bool qcrypto_signature_qcow2_luks(QCryptoBlockIO *io, uint64_t *offset,
                                  uint64_t *size)
{
    uint8_t head[104];
    uint8_t ext[24];

    if (!read_at(io, 0, head, sizeof(head)) || memcmp(head, "QFI\xfb", 4) ||
        qcrypto_get_be32(head + 4) < 3 || qcrypto_get_be32(head + 32) != 2) {
        return false;
    }
    uint64_t at = qcrypto_get_be32(head + 100);
    /* each is of 8 bytes at least; the first cluster holds them all */
    for (unsigned n = 0; n < 256 && read_at(io, at, ext, sizeof(ext)); n++) {
        const uint32_t type = qcrypto_get_be32(ext);
        const uint32_t len = qcrypto_get_be32(ext + 4);

        if (type == 0x0537be77 && len == 16) {
            *offset = qcrypto_get_be64(ext + 8);
            *size = qcrypto_get_be64(ext + 16);
            return *size > 0 && *offset <= INT64_MAX && *size <= INT64_MAX;
        }
        if (type == 0) {
            return false;
        }
        at += 8 + (((uint64_t)len + 7) & ~(uint64_t)7);
    }
    return false;
}
