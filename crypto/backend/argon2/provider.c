/*
 * libargon2: the provider
 *
 * Most of the time of a derivation in fresh memory can go into page faults,
 * so the memory is allocated here, in huge pages where the kernel has them
 * (64 MiB in one pass: up to 2 times as fast), and kept out of core dumps.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <argon2.h>
#include <stdint.h>
#include <sys/mman.h>

#include "crypto/base/error.h"
#include "crypto/base/rows.h"

#define LIBRARY "libargon2"

/*
 * Huge pages on x86-64 and AArch64 with pages of 4 KiB.  A number to align
 * to, not a promise; where they are larger there are none of them, no worse.
 */
#define HUGE_PAGE ((size_t)2 << 20)
/* what is shorter costs more to clear than its faults do */
#define HUGE_FROM ((size_t)8 << 20)

static size_t mapped_size(size_t n)
{
    /* n is at most 4 TiB: no wrap */
    return n < HUGE_FROM ? n : (n + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

/* libargon2 clears the memory before it gives it back. */
static int allocate(uint8_t **memory, size_t n)
{
    const size_t size = mapped_size(n);
    const size_t spare = n < HUGE_FROM ? 0 : HUGE_PAGE;
    uint8_t *p;

    if (size > PTRDIFF_MAX - spare) {
        return -1;
    }
    p = mmap(NULL, size + spare, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return -1;
    }
    if (spare) {
        /* cut off what is before and behind the aligned part */
        const size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);

        if (before) {
            munmap(p, before);
        }
        if (spare - before) {
            munmap(p + before + size, spare - before);
        }
        p += before;
        madvise(p, size, MADV_HUGEPAGE);
    }
    madvise(p, size, MADV_DONTDUMP);
    *memory = p;
    return 0;
}

static void deallocate(uint8_t *memory, size_t n)
{
    munmap(memory, mapped_size(n));
}

static int argon2_derive(const QCryptoRow *row, const uint8_t *key, size_t nkey,
                         const uint8_t *salt, size_t nsalt, uint32_t time,
                         uint32_t memory_kib, uint32_t lanes, uint8_t *out,
                         size_t nout, GError **errp)
{
    /* lengths fit 32 bits: RFC 9106 says so, and the front end looked */
    argon2_context c = {
        .out = out,
        .outlen = (uint32_t)nout,
        .pwd = (uint8_t *)(uintptr_t)key,
        .pwdlen = (uint32_t)nkey,
        .salt = (uint8_t *)(uintptr_t)salt,
        .saltlen = (uint32_t)nsalt,
        .t_cost = time,
        .m_cost = memory_kib,
        .lanes = lanes,
        .threads = MIN(lanes, g_get_num_processors()),
        .version = ARGON2_VERSION_13,
        .allocate_cbk = allocate,
        .free_cbk = deallocate,
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

static const QCryptoArgon2Ops argon2_ops = {.derive = argon2_derive};

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
