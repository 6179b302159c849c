/*
 * LUKS volumes for tests
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "volumes.h"

#include <qcrypto/error.h>
#include <string.h>

#include "config-qcrypto.h"

const QCryptoBlockFormat volume_formats[] = {
    QCRYPTO_BLOCK_FORMAT_LUKS1,
#if QCRYPTO_HAVE_JANSSON
    QCRYPTO_BLOCK_FORMAT_LUKS2,
#endif
};
const size_t volume_nformats = G_N_ELEMENTS(volume_formats);

QCryptoSecret *volume_secret(const char *text)
{
    QCryptoSecret *s = qcrypto_secret_new_from_bytes(text, strlen(text), NULL);

    g_assert_nonnull(s);
    return s;
}

QCryptoBlockSlotOptions volume_quick_slot(void)
{
    return (QCryptoBlockSlotOptions){
        .kdf = {.kdf = "pbkdf2", .iterations = 1000}};
}

QCryptoBlock *volume_create(Storage *s, QCryptoBlockFormat format,
                            const char *passphrase)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(passphrase);
    g_autoptr(GError) err = NULL;
    const QCryptoBlockCreateOptions o = {
        .format = format,
        .passphrase = pass,
        .cipher = "aes-cbc-essiv:sha256",
        .key_len = 16,
        .sector_size = 512,
        /* 8 areas of 16 * 4000 bytes, rounded up to 4096 */
        .payload_offset = 32768 + 8 * 65536,
        .slot = volume_quick_slot(),
    };
    QCryptoBlock *block = qcrypto_block_create(&o, &s->io, &err);

    g_assert_no_error(err);
    return block;
}

QCryptoBlock *volume_open(Storage *s, const char *passphrase, GError **errp)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(passphrase);
    const QCryptoBlockOpenOptions how = {.passphrase = pass};

    return qcrypto_block_open(&how, &s->io, QCRYPTO_BLOCK_OPEN_KEEP_KEY, errp);
}

int volume_opens(Storage *s, const char *passphrase)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) block = volume_open(s, passphrase, &err);

    if (block) {
        return qcrypto_block_get_slot(block);
    }
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_WRONG_PASSPHRASE);
    return -1;
}
