/*
 * Memory between two pages that cannot be touched
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_CONFORMANCE_GUARD_H
#define TESTS_CONFORMANCE_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* Reading or writing start[-1] or end[0] is a fault. */
typedef struct Guarded {
    uint8_t *start;
    uint8_t *end;
} Guarded;

/* size is rounded up to whole pages */
Guarded guarded_new(size_t size);
void guarded_free(Guarded *g);

/*
 * From here on a fault says what was under way before the program dies (the
 * sanitizers say it themselves, better).
 */
void guarded_report_faults(void);
void guarded_under_way(const char *text);

#endif
