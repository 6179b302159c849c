/*
 * The CPU's and the kernel's counters: see counters.h
 *
 * Each counter is a file descriptor of its own, since a group would refuse
 * all of them where the host lacks one, and would not follow the threads that
 * a sample starts (inherit).  Where the CPU has fewer registers than asked
 * for, the kernel takes turns; the values are scaled up by the share of time
 * that each was on.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/bench/counters.h"

#include <errno.h>
#include <glib.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first are perf's events, the last two getrusage's. */
enum { EVENTS = QCRYPTO_BENCH_USER_NS };

static const struct {
    uint32_t type;
    uint64_t config;
} events[EVENTS] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
};

const char *const qcrypto_bench_counter_names[QCRYPTO_BENCH_NCOUNTERS] = {
    "cycles",       "instructions",  "branches",    "branch_misses",
    "cache_misses", "task_clock_ns", "page_faults", "context_switches",
    "user_ns",      "system_ns",
};

/* Nanoseconds of all threads, in user space and in the kernel. */
static void get_times(uint64_t times[2])
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    times[0] = (uint64_t)u.ru_utime.tv_sec * 1000000000u +
               (uint64_t)u.ru_utime.tv_usec * 1000u;
    times[1] = (uint64_t)u.ru_stime.tv_sec * 1000000000u +
               (uint64_t)u.ru_stime.tv_usec * 1000u;
}

static int open_event(size_t i)
{
    struct perf_event_attr attr = {
        .type = events[i].type,
        .size = sizeof attr,
        .config = events[i].config,
        .disabled = 1,
        .inherit = 1,
        /* what an unprivileged user may count */
        .exclude_kernel = events[i].type == PERF_TYPE_HARDWARE,
        .exclude_hv = 1,
        .read_format =
            PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

/* Value, time enabled, time running. */
static bool read_event(int fd, uint64_t v[3])
{
    return read(fd, v, 3 * sizeof v[0]) == 3 * sizeof v[0];
}

void qcrypto_bench_counters_open(QCryptoBenchCounterSet *set)
{
    for (size_t i = 0; i < EVENTS; i++) {
        set->fd[i] = open_event(i);
    }
}

void qcrypto_bench_counters_start(QCryptoBenchCounterSet *set)
{
    uint64_t v[3];

    get_times(set->times);
    for (size_t i = 0; i < EVENTS; i++) {
        if (set->fd[i] >= 0) {
            set->base[i] = read_event(set->fd[i], v) ? v[0] : 0;
            ioctl(set->fd[i], PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

void qcrypto_bench_counters_stop(const QCryptoBenchCounterSet *set,
                                 uint64_t bytes, QCryptoBenchCounters *sums)
{
    uint64_t times[2];

    for (size_t i = 0; i < EVENTS; i++) {
        if (set->fd[i] >= 0) {
            ioctl(set->fd[i], PERF_EVENT_IOC_DISABLE, 0);
        }
    }
    get_times(times);
    sums->bytes += bytes;
    for (size_t i = 0; i < 2; i++) {
        sums->have[EVENTS + i] = true;
        sums->value[EVENTS + i] += times[i] - set->times[i];
    }
    for (size_t i = 0; i < EVENTS; i++) {
        /* the times grow over all starts and so give the mean share, which is
         * what scaling needs */
        uint64_t v[3];

        if (set->fd[i] < 0 || !read_event(set->fd[i], v)) {
            continue;
        }
        v[0] -= set->base[i];
        if (v[2] && v[2] < v[1]) {
            v[0] = (uint64_t)((double)v[0] * (double)v[1] / (double)v[2]);
        }
        sums->have[i] = v[2] != 0;
        sums->value[i] += v[0];
    }
}

void qcrypto_bench_counters_close(QCryptoBenchCounterSet *set)
{
    for (size_t i = 0; i < EVENTS; i++) {
        if (set->fd[i] >= 0) {
            close(set->fd[i]);
        }
    }
}

char *qcrypto_bench_counters_missing(void)
{
    g_autoptr(GString) names = g_string_new(NULL);
    int reason = 0;

    for (size_t i = 0; i < EVENTS; i++) {
        int fd = open_event(i);

        if (fd >= 0) {
            close(fd);
            continue;
        }
        reason = errno;
        g_string_append_printf(names, "%s%s", names->len ? ", " : "",
                               qcrypto_bench_counter_names[i]);
    }
    if (!names->len) {
        return NULL;
    }
    return g_strdup_printf("this host does not count %s (perf_event_open: %s)",
                           names->str, g_strerror(reason));
}
