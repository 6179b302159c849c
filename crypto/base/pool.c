/*
 * A pool of library handles
 *
 * A slot holds an idle handle or NULL, and nothing else is shared: whoever
 * swaps a handle out of its slot owns it.  There is no list to traverse and
 * no lock to hold, so a thread that is stopped, or a fork in the middle,
 * leaves a handle missing at worst.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/base/pool.h"

#include <stdbool.h>

void *qcrypto_pool_take(QCryptoPool *pool, const void *owner, GError **errp)
{
    size_t i;

    for (i = 0; i < QCRYPTO_POOL_SLOTS; i++) {
        void *handle;

        /* the plain look first: a swap takes the cache line from others */
        if (!__atomic_load_n(&pool->slots[i], __ATOMIC_RELAXED)) {
            continue;
        }
        /* acquire: what its last user wrote into it must be seen */
        handle = __atomic_exchange_n(&pool->slots[i], NULL, __ATOMIC_ACQUIRE);
        if (handle) {
            return handle;
        }
    }
    return pool->open(owner, errp);
}

void qcrypto_pool_put(QCryptoPool *pool, void *handle)
{
    size_t i;

    for (i = 0; i < QCRYPTO_POOL_SLOTS; i++) {
        void *empty = NULL;

        if (!__atomic_load_n(&pool->slots[i], __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&pool->slots[i], &empty, handle, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            return;
        }
    }
    pool->close(handle);
}

void qcrypto_pool_close(QCryptoPool *pool)
{
    size_t i;

    for (i = 0; i < QCRYPTO_POOL_SLOTS; i++) {
        void *handle =
            __atomic_exchange_n(&pool->slots[i], NULL, __ATOMIC_ACQUIRE);

        if (handle) {
            pool->close(handle);
        }
    }
}
