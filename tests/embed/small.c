/*
 * A program outside the tree, as small as can be: built by the test `embed`
 * with what pkg-config says of the installed library.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>
#include <stdio.h>

int main(void)
{
    /* FIPS 197, C.1 */
    const uint8_t key[16] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                             0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
    uint8_t block[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                         0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoCipher) c = qcrypto_cipher_new(
        QCRYPTO_CIPHER_ALGO_AES_128, QCRYPTO_CIPHER_MODE_ECB, key, 16, &err);
    size_t i;

    if (!c || qcrypto_cipher_encrypt(c, block, block, 16, &err) < 0) {
        fprintf(stderr, "%s\n", err->message);
        return 1;
    }
    printf("%s ", qcrypto_version());
    for (i = 0; i < sizeof(block); i++) {
        printf("%02x", block[i]);
    }
    printf("\n");
    return 0;
}
