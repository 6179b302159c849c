/*
 * A file that gets its name when it is complete
 *
 * It is made beside the name, for its owner alone, and takes the name at the
 * end: nobody ever finds a half of it there, and what had the name before
 * stays until then.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_NEWFILE_H
#define QCRYPTO_TOOLS_NEWFILE_H

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

/* One file by two names, or one device by two nodes? */
bool qcrypto_same_file(const struct stat *a, const struct stat *b);

typedef struct QCryptoNewFile {
    int fd;       /* for reading and writing */
    char *temp;   /* its name as yet */
    char *target; /* that to be, links resolved */
    mode_t mode;
    uid_t uid;
    gid_t gid;
} QCryptoNewFile;

/*
 * old: what stat(2) says of the file to be replaced, whose owner and mode the
 * new one gets; NULL: there is none, and it gets mode less the umask.
 */
int qcrypto_newfile_open(QCryptoNewFile *f, const char *name,
                         const struct stat *old, mode_t mode, GError **errp);

/*
 * The same for programs that catch no signals themselves: until _finish, one
 * that ends the process removes the file first.  For at most two files at a
 * time.
 */
int qcrypto_newfile_open_guarded(QCryptoNewFile *f, const char *name,
                                 const struct stat *old, mode_t mode,
                                 GError **errp);

/*
 * Gives the file its name, or takes it away (also when that fails), and
 * closes fd, where it is not -1.
 */
int qcrypto_newfile_finish(QCryptoNewFile *f, bool good, GError **errp);

#endif
