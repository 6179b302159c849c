/*
 * How much memory is to be had
 *
 * The least of
 *
 *   - the limits of the process: RLIMIT_AS less its size, RLIMIT_DATA less
 *     its data;
 *   - those of its control group and every group above it, less what each
 *     uses.  File pages count as free there: the kernel drops them before it
 *     kills, and a group that has read a large image would else seem full;
 *   - the machine: MemAvailable and free swap.
 *
 * What can not be read sets no limit: this guards against the OOM killer, it
 * is no promise.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "crypto/core/memory.h"

#include <qcrypto/kdf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define UNLIMITED UINT64_MAX

/* The contents of root + path, or NULL; g_free. */
static char *read_file(const char *root, const char *path)
{
    g_autofree char *full = g_strconcat(root, path, NULL);
    char *text = NULL;

    return g_file_get_contents(full, &text, NULL, NULL) ? text : NULL;
}

/* The number behind the line that begins with name, else fallback. */
static uint64_t field(const char *text, const char *name, uint64_t fallback)
{
    const size_t n = strlen(name);
    uint64_t value;

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, n)) {
            const char *digits = line + n + strspn(line + n, " \t");
            char *end;

            value = g_ascii_strtoull(digits, &end, 10);
            return end > digits ? value : fallback;
        }
    }
    return fallback;
}

/* a function, since MIN evaluates twice and these read files */
static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t less(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* Bytes below a limit of the process; used_kib is what counts against it. */
static uint64_t below_rlimit(int resource, uint64_t used_kib)
{
    struct rlimit r;

    if (getrlimit(resource, &r) < 0 || r.rlim_cur == RLIM_INFINITY) {
        return UNLIMITED;
    }
    return less(r.rlim_cur, used_kib * 1024);
}

static uint64_t process_available(const char *root)
{
    g_autofree char *status = read_file(root, "/proc/self/status");

    return smaller(below_rlimit(RLIMIT_AS, field(status, "VmSize:", 0)),
                   below_rlimit(RLIMIT_DATA, field(status, "VmData:", 0)));
}

static uint64_t machine_available(const char *root)
{
    g_autofree char *info = read_file(root, "/proc/meminfo");
    const uint64_t free_kib = field(info, "MemAvailable:", UNLIMITED);

    return free_kib == UNLIMITED
               ? UNLIMITED
               : (free_kib + field(info, "SwapFree:", 0)) * 1024;
}

/* ---- control groups ---- */

/* The two versions of the interface: names of files and of fields. */
typedef struct Version {
    const char *fstype;    /* as mounted */
    const char *option;    /* of that mount; NULL: any */
    const char *hierarchy; /* how /proc/self/cgroup marks its line */
    const char *limits[2]; /* the second may be NULL */
    const char *usage;
    const char *file_pages[2]; /* lines of memory.stat */
} Version;

static const Version versions[] = {
    {"cgroup2",
     NULL,
     "",
     {"memory.max", "memory.high"},
     "memory.current",
     {"inactive_file ", "active_file "}},
    {"cgroup",
     "memory",
     "memory",
     {"memory.limit_in_bytes", NULL},
     "memory.usage_in_bytes",
     {"total_inactive_file ", "total_active_file "}},
};

/* A file of a group; its first number, UNLIMITED without one ("max"). */
static uint64_t group_number(const char *root, const char *group,
                             const char *name)
{
    g_autofree char *path = g_strconcat(group, "/", name, NULL);
    g_autofree char *text = read_file(root, path);

    return field(text, "", UNLIMITED);
}

static uint64_t group_available(const char *root, const char *group,
                                const Version *v)
{
    uint64_t limit = UNLIMITED;

    for (size_t i = 0; i < G_N_ELEMENTS(v->limits) && v->limits[i]; i++) {
        limit = smaller(limit, group_number(root, group, v->limits[i]));
    }
    const uint64_t used = group_number(root, group, v->usage);
    if (limit == UNLIMITED || used == UNLIMITED) {
        return limit;
    }
    g_autofree char *path = g_strconcat(group, "/memory.stat", NULL);
    g_autofree char *stat = read_file(root, path);
    uint64_t pages = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(v->file_pages); i++) {
        pages += field(stat, v->file_pages[i], 0);
    }
    return less(limit, less(used, pages));
}

static bool listed(const char *list, const char *word)
{
    g_auto(GStrv) words = g_strsplit(list, ",", -1);

    return g_strv_contains((const char *const *)words, word);
}

/*
 * Where the hierarchy is mounted, and which of its groups is to be seen
 * there.  /proc/self/mountinfo: "ID PARENT DEV ROOT POINT OPTIONS [TAG...] -
 * TYPE SOURCE OPTIONS".
 */
static char *mount_point(const char *mountinfo, const Version *v, char **top)
{
    g_auto(GStrv) lines = g_strsplit(mountinfo, "\n", -1);

    for (char **l = lines; *l; l++) {
        const char *dash = strstr(*l, " - ");
        g_auto(GStrv) head = g_strsplit(*l, " ", 6);
        g_auto(GStrv) tail = g_strsplit(dash ? dash + 3 : "", " ", 3);

        if (g_strv_length(head) == 6 && g_strv_length(tail) == 3 &&
            !strcmp(tail[0], v->fstype) &&
            (!v->option || listed(tail[2], v->option))) {
            *top = g_strcompress(head[3]);
            return g_strcompress(head[4]);
        }
    }
    return NULL;
}

/* The process's group, from "NUMBER:CONTROLLERS:PATH" lines. */
static char *group_of(const char *cgroup, const Version *v)
{
    g_auto(GStrv) lines = g_strsplit(cgroup, "\n", -1);

    for (char **l = lines; *l; l++) {
        g_auto(GStrv) part = g_strsplit(*l, ":", 3);

        if (g_strv_length(part) == 3 &&
            (*v->hierarchy ? listed(part[1], v->hierarchy) : !*part[1])) {
            return g_strdup(part[2]);
        }
    }
    return NULL;
}

/*
 * The group's path below the mount.  A container may see its own group as the
 * top of the mount, or (in another namespace) not see it at all: then the top
 * is the nearest known.
 */
static const char *below(const char *group, const char *top)
{
    const size_t n = strcmp(top, "/") ? strlen(top) : 0;

    if (strncmp(group, top, n) || (group[n] && group[n] != '/') ||
        strstr(group, "/..")) {
        return "";
    }
    return group + n;
}

static uint64_t groups_available(const char *root, const char *mountinfo,
                                 const char *cgroup, const Version *v)
{
    g_autofree char *top = NULL;
    g_autofree char *mount = mount_point(mountinfo, v, &top);
    g_autofree char *group = mount ? group_of(cgroup, v) : NULL;
    uint64_t least = UNLIMITED;

    if (!group) {
        return UNLIMITED;
    }
    /* from the group itself up to the mount, a component less each time */
    g_autofree char *path = g_strconcat(mount, below(group, top), NULL);
    for (char *end = path + strlen(path); end;
         end = strrchr(path + strlen(mount), '/')) {
        *end = '\0';
        least = smaller(least, group_available(root, path, v));
    }
    return least;
}

uint64_t qcrypto_memory_available_below(const char *root)
{
    g_autofree char *mountinfo = read_file(root, "/proc/self/mountinfo");
    g_autofree char *cgroup = read_file(root, "/proc/self/cgroup");
    uint64_t least = smaller(process_available(root), machine_available(root));

    for (size_t i = 0; mountinfo && cgroup && i < G_N_ELEMENTS(versions); i++) {
        least = smaller(
            least, groups_available(root, mountinfo, cgroup, &versions[i]));
    }
    return least / 1024;
}

uint64_t qcrypto_memory_available_kib(void)
{
    return qcrypto_memory_available_below("");
}
