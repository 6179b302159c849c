/*
 * Fuzz targets: what each file gives
 *
 * LLVMFuzzerTestOneInput() is libFuzzer's entry.  The same targets run as
 * ordinary tests (replay.c): seeds, every byte of some of them changed, and a
 * number of random changes that are the same each time.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Calls add for each seed; positions: the bytes to be changed one by one. */
typedef void FuzzAdd(const char *name, const uint8_t *data, size_t len,
                     size_t positions, void *opaque);
void fuzz_seeds(FuzzAdd *add, void *opaque);

/* How many inputs were taken for a header, all checks passed */
extern unsigned fuzz_accepted;

#endif
