/*
 * GLib's locks, explained to TSan
 *
 * The system's GLib is not built with TSan, and its locks are futexes of its
 * own, so TSan would take what they protect for races.  These functions stand
 * before GLib's in the test program: each calls the real one and tells TSan
 * what it orders.  Part of TSan builds alone.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <dlfcn.h>
#include <glib.h>
#include <sanitizer/tsan_interface.h>

/* GLib's own definition of the function that this is called from */
static void *real(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);

    if (!f) {
        __builtin_trap();
    }
    return f;
}

/* looked up once; every thread finds the same */
#define REAL(type, name)                                                       \
    static type *f;                                                            \
    type *name##_real = __atomic_load_n(&f, __ATOMIC_ACQUIRE);                 \
    if (!name##_real) {                                                        \
        name##_real = (type *)real(#name);                                     \
        __atomic_store_n(&f, name##_real, __ATOMIC_RELEASE);                   \
    }

typedef void mutex_func(GMutex *mutex);
typedef gboolean trylock_func(GMutex *mutex);
typedef void cond_wait_func(GCond *cond, GMutex *mutex);
typedef gboolean once_enter_func(volatile void *location);
typedef void once_leave_func(volatile void *location, gsize result);

void g_mutex_lock(GMutex *mutex)
{
    REAL(mutex_func, g_mutex_lock);
    g_mutex_lock_real(mutex);
    __tsan_acquire(mutex);
}

gboolean g_mutex_trylock(GMutex *mutex)
{
    REAL(trylock_func, g_mutex_trylock);
    gboolean locked = g_mutex_trylock_real(mutex);

    if (locked) {
        __tsan_acquire(mutex);
    }
    return locked;
}

void g_mutex_unlock(GMutex *mutex)
{
    REAL(mutex_func, g_mutex_unlock);
    __tsan_release(mutex);
    g_mutex_unlock_real(mutex);
}

void g_cond_wait(GCond *cond, GMutex *mutex)
{
    REAL(cond_wait_func, g_cond_wait);
    __tsan_release(mutex);
    g_cond_wait_real(cond, mutex);
    __tsan_acquire(mutex);
}

/* a macro of the same name reads the location first, with its own acquire */
gboolean(g_once_init_enter)(volatile void *location)
{
    REAL(once_enter_func, g_once_init_enter);
    gboolean first = g_once_init_enter_real(location);

    __tsan_acquire((void *)location);
    return first;
}

void(g_once_init_leave)(volatile void *location, gsize result)
{
    REAL(once_leave_func, g_once_init_leave);
    __tsan_release((void *)location);
    g_once_init_leave_real(location, result);
}
