/*
 * The functions that the disassembly test reads
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef CT_LEAKS_H
#define CT_LEAKS_H

#include <stddef.h>
#include <stdint.h>

typedef void ct_leaks_func(const uint8_t *key, uint8_t *dst, const uint8_t *src,
                           size_t len);

ct_leaks_func clean_doubling;
ct_leaks_func clean_lengths_on_stack;
ct_leaks_func clean_rounds;
ct_leaks_func clean_xor;
ct_leaks_func leak_branch_on_key;
ct_leaks_func leak_call_of_data;
ct_leaks_func leak_division;
ct_leaks_func leak_gather;
ct_leaks_func leak_loop_count;
ct_leaks_func leak_mask_register;
ct_leaks_func leak_table_of_data;
ct_leaks_func leak_through_array;
ct_leaks_func leak_through_call;
ct_leaks_func leak_through_stack;
ct_leaks_func leak_vector_index;
ct_leaks_func leak_vector_mask;
ct_leaks_func leak_vector_sum;
ct_leaks_func leak_vector_test;

void clean_ctr(const uint8_t *key, uint8_t *iv, uint8_t *dst, size_t len);

#endif
