/*
 * A file that gets its name when it is complete (newfile.h)
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crypto/base/error.h"

bool qcrypto_same_file(const struct stat *a, const struct stat *b)
{
    if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode)) {
        return a->st_rdev == b->st_rdev;
    }
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Names of files that a signal takes away; NULL: none. */
static const char *volatile guarded[2];
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction old_actions[G_N_ELEMENTS(signals)];

static void on_signal(int number)
{
    for (size_t i = 0; i < G_N_ELEMENTS(guarded); i++) {
        if (guarded[i]) {
            unlink(guarded[i]);
        }
    }
    /* SA_RESETHAND: this one ends the process, as it would have */
    raise(number);
}

static bool any_guarded(void)
{
    return guarded[0] || guarded[1];
}

static void begin_guard(const char *name)
{
    const struct sigaction remove = {.sa_handler = on_signal,
                                     .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; !any_guarded() && i < G_N_ELEMENTS(signals); i++) {
        sigaction(signals[i], NULL, &old_actions[i]);
        /* what the caller ignores (nohup) stays ignored */
        if (old_actions[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &remove, NULL);
        }
    }
    guarded[guarded[0] != NULL] = name;
}

static void end_guard(const char *name)
{
    const bool any = any_guarded();

    for (size_t i = 0; i < G_N_ELEMENTS(guarded); i++) {
        if (guarded[i] == name) {
            guarded[i] = NULL;
        }
    }
    for (size_t i = 0; any && !any_guarded() && i < G_N_ELEMENTS(signals);
         i++) {
        sigaction(signals[i], &old_actions[i], NULL);
    }
}

/* No signal comes between the file and its guard. */
int qcrypto_newfile_open_guarded(QCryptoNewFile *f, const char *name,
                                 const struct stat *old, mode_t mode,
                                 GError **errp)
{
    sigset_t held, before;
    int ret;

    sigemptyset(&held);
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
        sigaddset(&held, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before);
    ret = qcrypto_newfile_open(f, name, old, mode, errp);
    if (ret == 0) {
        begin_guard(f->temp);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ret;
}

int qcrypto_newfile_open(QCryptoNewFile *f, const char *name,
                         const struct stat *old, mode_t mode, GError **errp)
{
    *f = (QCryptoNewFile){.fd = -1};
    if (old) {
        if (access(name, W_OK) < 0) {
            return qcrypto_error_file(errp, "replace", name, errno);
        }
        f->target = realpath(name, NULL);
        f->mode = old->st_mode & 07777;
        f->uid = old->st_uid;
        f->gid = old->st_gid;
    } else {
        mode_t mask = umask(0);

        umask(mask);
        f->target = strdup(name);
        f->mode = mode & ~mask;
        f->uid = (uid_t)-1;
        f->gid = (gid_t)-1;
    }
    if (!f->target) {
        return qcrypto_error_file(errp, "resolve", name, errno);
    }

    g_autofree char *dir = g_path_get_dirname(f->target);
    g_autofree char *temp = g_build_filename(dir, ".qcrypto-XXXXXX", NULL);

    /* nobody else reads it until it is complete */
    f->fd = g_mkstemp_full(temp, O_RDWR | O_CLOEXEC, 0600);
    if (f->fd < 0) {
        int number = errno;

        free(f->target);
        f->target = NULL;
        return qcrypto_error_file(errp, "create a file in", dir, number);
    }
    f->temp = g_steal_pointer(&temp);
    return 0;
}

int qcrypto_newfile_finish(QCryptoNewFile *f, bool good, GError **errp)
{
    int ret = 0;

    if (f->fd >= 0) {
        if (good) {
            /* only root can give a file away; anybody else keeps it */
            if (fchown(f->fd, f->uid, f->gid) < 0 && errno != EPERM) {
                ret = qcrypto_error_file(errp, "set the owner of", f->temp,
                                         errno);
            } else if (fchmod(f->fd, f->mode) < 0) {
                ret =
                    qcrypto_error_file(errp, "set the mode of", f->temp, errno);
            }
        }
        /* quotas and network file systems may speak up as late as here */
        if (close(f->fd) < 0 && good && ret == 0) {
            ret = qcrypto_error_file(errp, "write", f->target, errno);
        }
        f->fd = -1;
    }
    if (f->temp) {
        if (good && ret == 0 && rename(f->temp, f->target) < 0) {
            ret = qcrypto_error_file(errp, "replace", f->target, errno);
        }
        if (!good || ret < 0) {
            unlink(f->temp);
        }
        end_guard(f->temp);
    }
    g_free(f->temp);
    free(f->target);
    f->temp = f->target = NULL;
    return ret;
}
