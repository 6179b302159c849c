/*
 * libargon2: the provider
 *
 * Most of the time of a derivation in fresh memory can go into page faults,
 * so large memory is allocated here, in huge pages where the kernel has them
 * (64 MiB in one pass: up to 2 times as fast), and kept out of core dumps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <argon2.h>
#include <stdint.h>
#include <sys/mman.h>

#include "crypto/backend/lanes.h"
#include "crypto/base/error.h"
#include "crypto/base/rows.h"

#define LIBRARY "libargon2"

/*
 * Huge pages on x86-64 and AArch64 with pages of 4 KiB.  A number to align
 * to, not a promise: where they are of another size the memory is ordinary.
 */
#define HUGE_PAGE ((size_t)2 << 20)
/* malloc(3) has less than this at hand without page faults */
#define HUGE_FROM_KIB 8192

static size_t mapped_size(size_t n)
{
    /* n is at most 4 TiB, and less than 4 GiB on 32 bits: see allocate */
    return (n + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* libargon2 clears the memory before it gives it back. */
static int allocate(uint8_t **memory, size_t n)
{
    if (n > PTRDIFF_MAX - 2 * HUGE_PAGE) {
        return -1;
    }
    const size_t size = mapped_size(n);
    uint8_t *p = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return -1;
    }
    /* cut off what is before and behind the aligned part */
    const size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
    if (before) {
        munmap(p, before);
    }
    munmap(p + before + size, HUGE_PAGE - before);
    *memory = p + before;
    madvise(*memory, size, MADV_HUGEPAGE);
    madvise(*memory, size, MADV_DONTDUMP);
    return 0;
}

static void deallocate(uint8_t *memory, size_t n)
{
    munmap(memory, mapped_size(n));
}

static int argon2_derive_keyed(const QCryptoRow *row, const uint8_t *key,
                               size_t nkey, const uint8_t *salt, size_t nsalt,
                               const QCryptoArgon2Extra *extra, uint32_t time,
                               uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                               size_t nout, GError **errp)
{
    const bool large = memory_kib >= HUGE_FROM_KIB;
    /* lengths fit 32 bits: RFC 9106 says so, and the front end looked */
    argon2_context c = {
        .out = out,
        .outlen = (uint32_t)nout,
        .pwd = (uint8_t *)(uintptr_t)key,
        .pwdlen = (uint32_t)nkey,
        .salt = (uint8_t *)(uintptr_t)salt,
        .saltlen = (uint32_t)nsalt,
        .secret = (uint8_t *)(uintptr_t)extra->secret,
        .secretlen = (uint32_t)extra->nsecret,
        .ad = (uint8_t *)(uintptr_t)extra->ad,
        .adlen = (uint32_t)extra->nad,
        .t_cost = time,
        .m_cost = memory_kib,
        .lanes = lanes,
        .threads = qcrypto_lanes_threads(memory_kib, lanes),
        .version = ARGON2_VERSION_13,
        .allocate_cbk = large ? allocate : NULL,
        .free_cbk = large ? deallocate : NULL,
        .flags = ARGON2_DEFAULT_FLAGS,
    };
    const argon2_type type = (argon2_type)GPOINTER_TO_INT(row->arg);
    int e = argon2_ctx(&c, type);

    if (e == ARGON2_THREAD_FAIL && c.threads > 1) {
        /* the same result, one lane after the other */
        c.threads = 1;
        e = argon2_ctx(&c, type);
    }
    if (e == ARGON2_MEMORY_ALLOCATION_ERROR) {
        return qcrypto_error_memory(errp, LIBRARY, memory_kib, 0);
    }
    return e == ARGON2_OK ? 0
                          : qcrypto_error_library(errp, LIBRARY, "argon2_ctx",
                                                  argon2_error_message(e));
}

static int argon2_derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                         const uint8_t *salt, size_t nsalt, uint32_t time,
                         uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                         size_t nout, GError **errp)
{
    static const uint8_t nothing[1];
    const QCryptoArgon2Extra none = {nothing, 0, nothing, 0};

    return argon2_derive_keyed(row, key, nkey, salt, nsalt, &none, time,
                               memory_kib, lanes, out, nout, errp);
}

static const QCryptoArgon2Ops argon2_ops = {
    .derive = argon2_derive,
    .derive_keyed = argon2_derive_keyed,
};

static const QCryptoRow rows[] = {
    QCRYPTO_ARGON2_ROW(ARGON2I, "threads", 1, argon2_ops,
                       GINT_TO_POINTER(Argon2_i)),
    QCRYPTO_ARGON2_ROW(ARGON2ID, "threads", 1, argon2_ops,
                       GINT_TO_POINTER(Argon2_id)),
};

/* The library can not tell which release it is; the format's version can. */
static const char *version(void)
{
    return "Argon2 1.3";
}

const QCryptoProvider qcrypto_provider_argon2 = {
    .name = "argon2",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
};
