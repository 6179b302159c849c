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

#include "tools/bench/engine.h"

/* The first are perf's events, the others getrusage's, which counts the same
 * for every user. */
enum {
    EVENTS = QCRYPTO_BENCH_PAGE_FAULTS,
    USAGES = QCRYPTO_BENCH_NCOUNTERS - EVENTS
};

static const struct {
    uint32_t type;
    uint64_t config;
} events[EVENTS] = {
    [QCRYPTO_BENCH_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [QCRYPTO_BENCH_INSTRUCTIONS] = {PERF_TYPE_HARDWARE,
                                    PERF_COUNT_HW_INSTRUCTIONS},
    [QCRYPTO_BENCH_BRANCHES] = {PERF_TYPE_HARDWARE,
                                PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    [QCRYPTO_BENCH_BRANCH_MISSES] = {PERF_TYPE_HARDWARE,
                                     PERF_COUNT_HW_BRANCH_MISSES},
    [QCRYPTO_BENCH_CACHE_MISSES] = {PERF_TYPE_HARDWARE,
                                    PERF_COUNT_HW_CACHE_MISSES},
    [QCRYPTO_BENCH_TASK_CLOCK_NS] = {PERF_TYPE_SOFTWARE,
                                     PERF_COUNT_SW_TASK_CLOCK},
};

const char *const qcrypto_bench_counter_names[QCRYPTO_BENCH_NCOUNTERS] = {
    [QCRYPTO_BENCH_CYCLES] = "cycles",
    [QCRYPTO_BENCH_INSTRUCTIONS] = "instructions",
    [QCRYPTO_BENCH_BRANCHES] = "branches",
    [QCRYPTO_BENCH_BRANCH_MISSES] = "branch_misses",
    [QCRYPTO_BENCH_CACHE_MISSES] = "cache_misses",
    [QCRYPTO_BENCH_TASK_CLOCK_NS] = "task_clock_ns",
    [QCRYPTO_BENCH_PAGE_FAULTS] = "page_faults",
    [QCRYPTO_BENCH_CONTEXT_SWITCHES] = "context_switches",
    [QCRYPTO_BENCH_USER_NS] = "user_ns",
    [QCRYPTO_BENCH_SYSTEM_NS] = "system_ns",
};

static uint64_t ns_of(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

/* Of all threads, those that have ended included. */
static void get_usage(uint64_t usage[USAGES])
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    usage[QCRYPTO_BENCH_PAGE_FAULTS - EVENTS] =
        (uint64_t)u.ru_minflt + (uint64_t)u.ru_majflt;
    usage[QCRYPTO_BENCH_CONTEXT_SWITCHES - EVENTS] =
        (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw;
    usage[QCRYPTO_BENCH_USER_NS - EVENTS] = ns_of(&u.ru_utime);
    usage[QCRYPTO_BENCH_SYSTEM_NS - EVENTS] = ns_of(&u.ru_stime);
}

/* An unprivileged user may not count what the kernel does. */
static int open_event(size_t i, bool kernel)
{
    struct perf_event_attr attr = {
        .type = events[i].type,
        .size = sizeof attr,
        .config = events[i].config,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = !kernel,
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
    set->kernel = true;
    for (size_t i = 0; i < EVENTS; i++) {
        set->fd[i] = open_event(i, set->kernel);
        if (set->fd[i] < 0 && set->kernel) {
            set->fd[i] = open_event(i, false);
            /* whoever is refused one is refused all, beginning with cycles */
            set->kernel = set->fd[i] < 0;
        }
    }
}

void qcrypto_bench_counters_start(QCryptoBenchCounterSet *set)
{
    uint64_t v[3];

    get_usage(set->usage);
    for (size_t i = 0; i < EVENTS; i++) {
        if (set->fd[i] >= 0) {
            set->base[i] = read_event(set->fd[i], v) ? v[0] : 0;
            ioctl(set->fd[i], PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

void qcrypto_bench_counters_stop(const QCryptoBenchCounterSet *set,
                                 uint64_t bytes, uint64_t calls,
                                 QCryptoBenchCounters *sums)
{
    uint64_t usage[USAGES];

    for (size_t i = 0; i < EVENTS; i++) {
        if (set->fd[i] >= 0) {
            ioctl(set->fd[i], PERF_EVENT_IOC_DISABLE, 0);
        }
    }
    get_usage(usage);
    sums->bytes += bytes;
    sums->calls += calls;
    sums->kernel = set->kernel;
    for (size_t i = 0; i < USAGES; i++) {
        sums->have[EVENTS + i] = true;
        sums->value[EVENTS + i] += usage[i] - set->usage[i];
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

bool qcrypto_bench_counts_cycles(void)
{
    const int fd = open_event(QCRYPTO_BENCH_CYCLES, false);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

char *qcrypto_bench_counters_missing(void)
{
    g_autoptr(GString) names = g_string_new(NULL);
    int reason = 0;

    for (size_t i = 0; i < EVENTS; i++) {
        int fd = open_event(i, false);

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

/*
 * Additions of two registers, since some CPUs fold those of a constant.
 * Whoever interrupts makes a round longer, so the shortest one counts.
 */
#if defined(__x86_64__)
#define ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %1\n\t"
#endif

double qcrypto_bench_frequency_estimate(void)
{
#ifdef ADD
    enum { ROUNDS = 100, LOOPS = 200, UNROLLED = 100 };
    uint64_t best = UINT64_MAX, sum = 1, one = 1;

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t start = qcrypto_bench_clock();

        for (int i = 0; i < LOOPS; i++) {
#define TEN ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
            __asm__ volatile(TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
                             : "+r"(sum)
                             : "r"(one)
                             : "cc");
#undef TEN
        }
        best = MIN(best, qcrypto_bench_clock() - start);
    }
    return qcrypto_bench_rate((uint64_t)LOOPS * UNROLLED, best);
#else
    return 0;
#endif
}
