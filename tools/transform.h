/*
 * A file run through a function, in chunks, by several threads
 *
 * What every command that turns one image into another needs once: whole
 * reads and writes, streams, in place, progress, cancelling, and no half
 * written file under the final name.
 *
 *   IN           OUT             how
 *   a file       a file          into a new file beside OUT, which takes
 *                                OUT's name when it is complete
 *   a file       the same file   in place, also through a link.  Not atomic:
 *                                a failure leaves a part done, and the error
 *                                says which
 *   a file       block device    at the same offsets; must be large enough
 *   "-", a pipe  any             in order, until the input ends
 *   any          "-", a pipe     in order
 *
 * Checks come before the first write: the length against the unit, room on
 * the disk (holes of a sparse file are data like any other), permissions.
 *
 * SIGINT, SIGTERM and SIGHUP stop the work at the next chunk: a new file is
 * removed again, in place the chunks in flight are finished, so that the part
 * done is the beginning of the file, whose length the error tells.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_TRANSFORM_H
#define QCRYPTO_TOOLS_TRANSFORM_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* bytes a worker takes at once; the last chunk of a file is shorter */
#define QCRYPTO_TRANSFORM_CHUNK ((size_t)1 << 20)

/*
 * Changes len bytes, those at offset of the file, in place.  Called by all
 * the threads at once, in any order.  0, or -1 and an error.
 */
typedef int QCryptoTransformFunc(void *opaque, uint64_t offset, uint8_t *buf,
                                 size_t len, GError **errp);

typedef struct QCryptoTransform {
    const char *in;
    const char *out;
    size_t unit;    /* the length must be a multiple; divides the chunk */
    uint64_t start; /* in place alone: the bytes before are left alone */
    unsigned threads;
    const char *doing; /* "encrypting" */
    const char *done;  /* "encrypted" */
    QCryptoTransformFunc *func;
    void *opaque;

    /* filled in by _run */
    uint64_t bytes;
    double seconds;
} QCryptoTransform;

int qcrypto_transform_run(QCryptoTransform *t, GError **errp);

#endif
