/*
 * Storage in memory, for volumes in tests, that breaks when it is told to
 *
 * Writes and flushes are counted.  At the one whose number is fail_at the
 * fault happens; what a medium would have of the writes since the last flush
 * is then the test's choice.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TEST_STORAGE_H
#define TEST_STORAGE_H

#include <qcrypto/block.h>

typedef enum StorageFault {
    /* this one call fails and does nothing; the storage goes on */
    STORAGE_FAILS_ONCE,
    /*
     * power is lost: of this write the first `torn` bytes arrive, of those
     * since the last flush the ones whose bits are set in `kept`; every later
     * access fails until storage_restart()
     */
    STORAGE_LOSES_POWER,
} StorageFault;

typedef struct Storage {
    QCryptoBlockIO io;
    uint8_t *bytes, *durable; /* now; at the last flush */
    size_t size;
    GArray *pending;  /* of writes since then */
    unsigned calls;   /* writes and flushes so far */
    unsigned fail_at; /* 0: never */
    StorageFault fault;
    size_t torn;
    uint32_t kept;
    bool dead;
    uint64_t broke_at; /* offset of the write that failed; a flush: the size */
    bool locked;
    size_t max_size; /* init makes it as large at most */
} Storage;

/* size bytes of noise, which a volume must not take for anything */
Storage *storage_new(size_t size);
void storage_free(Storage *s);
/* The same bytes, whole and without a fault */
Storage *storage_copy(const Storage *s);
/* The n-th write or flush from now on will fail so. */
void storage_break(Storage *s, unsigned n, StorageFault fault, size_t torn,
                   uint32_t kept);
/* What the medium has is what there is; no more faults. */
void storage_restart(Storage *s);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Storage, storage_free)

#endif
