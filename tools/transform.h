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
 * Either side may be functions instead, over something that has offsets: a
 * volume, say.  A side that is written so is there already and is changed in
 * place.
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
#include <stdbool.h>
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

/* Transfers all len bytes, or fails; called like the function above. */
typedef int QCryptoTransformRead(void *opaque, uint64_t offset, uint8_t *buf,
                                 size_t len, GError **errp);
typedef int QCryptoTransformWrite(void *opaque, uint64_t offset,
                                  const uint8_t *buf, size_t len,
                                  GError **errp);

typedef struct QCryptoTransform {
    const char *in;
    const char *out;
    /* instead of the files of those names, which errors then still tell: the
     * input, of so many bytes, and the output, with room for so many */
    QCryptoTransformRead *read;
    uint64_t size;
    QCryptoTransformWrite *write;
    uint64_t room;
    bool passing;      /* ... which goes away again when the work fails */
    bool resumable;    /* the error may tell of --resume-at, which sets start */
    bool sparse;       /* blocks of zeros become holes of a new file */
    size_t unit;       /* the length must be a multiple; divides the chunk */
    uint64_t start;    /* in place alone: the bytes before are left alone */
    unsigned threads;  /* at most; afterwards, how many there were */
    const char *doing; /* "encrypting" */
    const char *done;  /* "encrypted" */
    QCryptoTransformFunc *func; /* NULL: the bytes stay as they are */
    void *opaque;

    /* filled in by _run */
    uint64_t bytes;
    double seconds;
} QCryptoTransform;

int qcrypto_transform_run(QCryptoTransform *t, GError **errp);

#endif
