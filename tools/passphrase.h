/*
 * Passphrases, from where people give them
 *
 * cryptsetup's rules, so that the same bytes open the same volume:
 *
 *   - without a key file, a line: from the terminal, without echo, when
 *     standard input is one; else from standard input, up to the newline,
 *     which does not count.  What follows is left for the next passphrase.
 *   - a key file's bytes as they are, newlines and all; "-" is standard input
 *     to its end.
 *
 * A descriptor is read to its end like a key file.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_PASSPHRASE_H
#define QCRYPTO_TOOLS_PASSPHRASE_H

#include <qcrypto/secret.h>

typedef struct QCryptoPassphrase {
    const char *file;      /* NULL: a descriptor, or a line */
    uint64_t offset, size; /* of the key file; size 0: to its end */
    bool use_fd;
    int fd;
    /* of a line: what for, "Passphrase for disk.img"; asked on a terminal */
    const char *prompt;
    bool confirm; /* on a terminal: twice the same */
    bool fresh;   /* for a new slot: may not be empty */
} QCryptoPassphrase;

QCryptoSecret *qcrypto_passphrase_get(const QCryptoPassphrase *p,
                                      GError **errp);

/* Is it going to be asked for on a terminal, where one may try again? */
bool qcrypto_passphrase_is_typed(const QCryptoPassphrase *p);

#endif
