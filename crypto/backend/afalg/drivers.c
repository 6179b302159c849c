/*
 * AF_ALG: the kernel's drivers, by /proc/crypto
 *
 * The file has a paragraph for each implementation that is loaded: its
 * algorithm ("name"), its own name ("driver"), a priority.  Who asks for an
 * algorithm gets the loaded implementation of the highest priority, so what a
 * transform uses can be told once it exists.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "crypto/backend/afalg/afalg.h"

typedef struct Entry {
    const char *name, *driver, *type;
    long priority;
    bool internal;
} Entry;

/* The sorts of entries that serve a socket of this type. */
static bool serves(const Entry *e, const char *type)
{
    static const char *const sorts[][4] = {
        {"skcipher", "skcipher", "lskcipher", NULL},
        {"hash", "shash", "ahash", NULL},
        {"rng", "rng", NULL},
    };

    if (!e->name || !e->driver || !e->type || e->internal) {
        return false;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sorts); i++) {
        if (!strcmp(sorts[i][0], type)) {
            return g_strv_contains(&sorts[i][1], e->type);
        }
    }
    return false;
}

/* Fills in a paragraph, whose lines are "key : value"; it is written into. */
static void parse(char *paragraph, Entry *e)
{
    char *state;

    *e = (Entry){.name = NULL};
    for (char *line = strtok_r(paragraph, "\n", &state); line;
         line = strtok_r(NULL, "\n", &state)) {
        char *value = strchr(line, ':');

        if (!value) {
            continue;
        }
        *value++ = '\0';
        g_strstrip(line);
        g_strstrip(value);
        if (!strcmp(line, "name")) {
            e->name = value;
        } else if (!strcmp(line, "driver")) {
            e->driver = value;
        } else if (!strcmp(line, "type")) {
            e->type = value;
        } else if (!strcmp(line, "priority")) {
            e->priority = strtol(value, NULL, 10);
        } else if (!strcmp(line, "internal")) {
            e->internal = !strcmp(value, "yes");
        }
    }
}

/* Of the entries with this name, or this driver, the one that is preferred. */
static const char *look_up(const char *type, const char *name,
                           const char *driver)
{
    g_autofree char *text = NULL;
    const char *found = NULL;
    long best = 0;

    if (!g_file_get_contents(qcrypto_afalg_sys->drivers, &text, NULL, NULL)) {
        return NULL;
    }
    g_auto(GStrv) paragraphs = g_strsplit(text, "\n\n", -1);
    for (char **p = paragraphs; *p; p++) {
        Entry e;

        parse(*p, &e);
        if (serves(&e, type) && (!name || !strcmp(e.name, name)) &&
            (!driver || !strcmp(e.driver, driver)) &&
            (!found || e.priority > best)) {
            found = g_intern_string(name ? e.driver : e.name);
            best = e.priority;
        }
    }
    return found;
}

const char *qcrypto_afalg_driver(const char *type, const char *name)
{
    return look_up(type, name, NULL);
}

const char *qcrypto_afalg_algorithm(const char *type, const char *driver)
{
    return look_up(type, NULL, driver);
}
