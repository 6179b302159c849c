/*
 * A cipher row that takes its time: a device with a fixed latency
 *
 * Every request takes latency_us from its start to its end, and the device
 * serves `width` of them at a time, the others wait.  So a queue of depth d
 * gives min(d, width) requests a latency and no more, whatever the machine:
 * what a measuring tool should find.
 *
 *   latency:device    asynchronous: an engine needs no threads for it
 *   latency:sleeper   a call sleeps for the latency, in the caller's thread
 *
 * Both give the bytes of the builtin row behind them (AES-128 in CBC and CTR).
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef TESTS_CONFORMANCE_LATENCY_H
#define TESTS_CONFORMANCE_LATENCY_H

#include <glib.h>

/* Set between requests, read after them. */
typedef struct LatencyDevice {
    unsigned latency_us;
    unsigned width;
    int refuse_with; /* error kind of submit, -1: it takes requests */
    bool fails;      /* requests end with an I/O error */
    bool absent;     /* there is no asynchronous service */
    unsigned in_flight;
    unsigned most; /* in flight at once */
    unsigned taken;
} LatencyDevice;

extern LatencyDevice latency_device;

/* The providers from now on: builtin, and latency by name alone. */
void latency_use(void);

/* As it was made: 1 ms, 4 wide; the counts 0. */
void latency_reset(void);

#endif
