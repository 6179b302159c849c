/*
 * The machine's generation id: see generation.h
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/rng/generation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"

#define ENVIRONMENT "QCRYPTO_RNG_GENERATION"
#define INTERVAL_MS 10

/* struct vmclock_abi of <linux/vmclock-abi.h>, little-endian */
enum {
    VMCLOCK_MAGIC = 0x4b4c4356, /* "VCLK" */
    VMCLOCK_DISRUPTION = 16,    /* disruption_marker */
    VMCLOCK_FLAGS = 24,
    VMCLOCK_HAS_GENERATION = 1 << 8,
    VMCLOCK_GENERATION = 104, /* vm_generation_counter */
    VMCLOCK_SIZE = 112,
};

static struct {
    const char *path;
    const volatile uint64_t *mapped; /* NULL: to be read */
    GError *error;
} source;

int64_t qcrypto_rng_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A FIFO must not hold us up, nor a terminal become ours. */
static int open_source(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The first bytes of the file, 0 if it cannot be read. */
static size_t read_id(const char *path, uint8_t *id, size_t room)
{
    const int fd = open_source(path);
    size_t len = 0;
    ssize_t n;

    if (fd < 0) {
        return 0;
    }
    while ((n = read(fd, id + len, room - len)) > 0 ||
           (n < 0 && errno == EINTR)) {
        len += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return n < 0 ? 0 : len;
}

/* The counter in VMClock's page, or NULL if the file is no such thing. */
static const volatile uint64_t *map_vmclock(const char *path)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t head[VMCLOCK_SIZE];

    if (read_id(path, head, sizeof(head)) != sizeof(head) ||
        qcrypto_get_le32(head) != VMCLOCK_MAGIC) {
        return NULL;
    }
    const int fd = open_source(path);
    if (fd < 0) {
        return NULL;
    }
    uint8_t *p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED) {
        return NULL;
    }
    const bool counts = qcrypto_get_le64(head + VMCLOCK_FLAGS) &
                        VMCLOCK_HAS_GENERATION;
    return (const volatile uint64_t *)(const void *)(p + (counts ? VMCLOCK_GENERATION
                                                                 : VMCLOCK_DISRUPTION));
}

static bool try_source(const char *path)
{
    uint8_t id[1];

    source.mapped = map_vmclock(path);
    if (!source.mapped && read_id(path, id, sizeof(id)) == 0) {
        return false;
    }
    source.path = path;
    return true;
}

static void find_source(void)
{
    static const char *const usual[] = {
        "/dev/vmclock0",
        "/sys/firmware/qemu_fw_cfg/by_name/etc/vmgenid_guid/raw",
    };
    const char *named = secure_getenv(ENVIRONMENT);

    if (named) {
        named = g_strdup(named);
        if (!try_source(named)) {
            qcrypto_error(&source.error, QCRYPTO_ERROR_INVALID_ARGUMENT,
                          ENVIRONMENT ": cannot read a generation id from '%s'",
                          named);
        }
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(usual); i++) {
        if (try_source(usual[i])) {
            return;
        }
    }
}

int qcrypto_rng_generation_init(const char **path, GError **errp)
{
    static gsize once;

    if (g_once_init_enter(&once)) {
        find_source();
        g_once_init_leave(&once, 1);
    }
    if (source.error) {
        g_propagate_error(errp, g_error_copy(source.error));
        return -1;
    }
    *path = source.path;
    return 0;
}

void qcrypto_rng_generation_get(QCryptoRngGeneration *g)
{
    memset(g, 0, sizeof(*g));
    if (source.mapped) {
        const uint64_t id = *source.mapped;

        memcpy(g->id, &id, sizeof(id));
        g->len = sizeof(id);
    } else if (source.path) {
        g->read_at = qcrypto_rng_clock();
        g->len = read_id(source.path, g->id, sizeof(g->id));
    }
}

bool qcrypto_rng_generation_changed(QCryptoRngGeneration *g)
{
    QCryptoRngGeneration now;

    if (!source.path) {
        return false;
    }
    if (!source.mapped) {
        const int64_t ms = qcrypto_rng_clock();

        /* a clock that ran backwards says nothing of when that was */
        if (ms >= g->read_at && ms - g->read_at < INTERVAL_MS) {
            return false;
        }
        g->read_at = ms;
    }
    qcrypto_rng_generation_get(&now);
    return now.len != g->len || memcmp(now.id, g->id, g->len) != 0;
}
