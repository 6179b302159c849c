/*
 * Memory between two pages that cannot be touched
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "guard.h"

#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Guarded guarded_new(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (size + page - 1) / page * page;
    uint8_t *map = mmap(NULL, inner + 2 * page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    g_assert_true(map != MAP_FAILED);
    g_assert_cmpint(mprotect(map + page, inner, PROT_READ | PROT_WRITE), ==, 0);
    return (Guarded){map + page, map + page + inner};
}

void guarded_free(Guarded *g)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    munmap(g->start - page, (size_t)(g->end - g->start) + 2 * page);
    g->start = g->end = NULL;
}

static char under_way[160] = "nothing";

void guarded_under_way(const char *text)
{
    g_strlcpy(under_way, text, sizeof(under_way));
}

static void say_and_die(int sig)
{
    static const char head[] = "# fault in: ";
    ssize_t n = write(STDERR_FILENO, head, sizeof(head) - 1);

    n += write(STDERR_FILENO, under_way, strlen(under_way));
    n += write(STDERR_FILENO, "\n", 1);
    signal(sig, SIG_DFL);
    raise(n > 0 ? sig : SIGABRT);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

void guarded_report_faults(void)
{
    if (!SANITIZED) {
        signal(SIGSEGV, say_and_die);
        signal(SIGBUS, say_and_die);
    }
}
