/*
 * LUKS volumes for tests: small and quick to open
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TEST_VOLUMES_H
#define TEST_VOLUMES_H

#include "storage.h"

/* Every format that this build creates: 1 or 2 of them */
extern const QCryptoBlockFormat volume_formats[];
extern const size_t volume_nformats;

#define FOR_EACH_FORMAT(f)                                                     \
    for (const QCryptoBlockFormat *f = volume_formats;                         \
         f < volume_formats + volume_nformats; f++)

/* a passphrase; never NULL */
QCryptoSecret *volume_secret(const char *text);

/* 1000 iterations of PBKDF2, nothing measured */
QCryptoBlockSlotOptions volume_quick_slot(void);

/*
 * A new volume with AES-128 and its key kept, whose header is as small as
 * can be and still be converted: LUKS2 too has room for 8 key areas.  Fails the test
 * when it can not be made.
 */
QCryptoBlock *volume_create(Storage *s, QCryptoBlockFormat format,
                            const char *passphrase);
/* Bytes of storage that this takes, payload included */
#define VOLUME_STORAGE ((size_t)640 * 1024)

/* opened with its key kept; NULL and an error */
QCryptoBlock *volume_open(Storage *s, const char *passphrase, GError **errp);
/* The slot that the passphrase opens; -1: none.  Other errors fail the test. */
int volume_opens(Storage *s, const char *passphrase);

#endif
