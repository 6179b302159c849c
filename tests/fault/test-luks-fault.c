/*
 * Every write and every flush of every change of a LUKS header fails once
 *
 * A change is run on storage that breaks at its n-th write or flush, for
 * every n until the change goes through.  It breaks in these ways:
 *
 *   - the call fails, does nothing, and the program goes on: it tries again,
 *     and must end where it would have ended;
 *   - power is lost: the write arrives up to some byte, of those since the
 *     last flush any may be missing, and later ones may be there although
 *     earlier ones are not.
 *
 * After each the volume must open with every passphrase it had and was to
 * keep, and with the old one or the new one of what was being changed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/error.h>
#include <string.h>

#include "config-qcrypto.h"

#include "volumes.h"

#define LUKS1 QCRYPTO_BLOCK_FORMAT_LUKS1
#define LUKS2 QCRYPTO_BLOCK_FORMAT_LUKS2

/* passphrases of a list that ends with NULL */
#define LIST 9

typedef int Operation(QCryptoBlock *block, GError **errp);

typedef struct Case {
    const char *name;
    QCryptoBlockFormat format;
    /* of the slots from 0 on, "" for one that is inactive; before the change */
    const char *slots[LIST];
    Operation *run;
    /* these must open whatever happens */
    const char *always[LIST];
    /* of each of these pairs at least one */
    const char *either[2];
    /* and these must not open once it went through */
    const char *gone[LIST];
} Case;

static int add(QCryptoBlock *b, const char *text, int slot, GError **errp)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(text);
    QCryptoBlockSlotOptions o = volume_quick_slot();

    o.use_slot = slot >= 0;
    o.slot = (unsigned)slot;
    return qcrypto_block_add_slot(b, pass, &o, NULL, errp);
}

static int change(QCryptoBlock *b, unsigned slot, const char *text,
                  GError **errp)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(text);
    const QCryptoBlockSlotOptions o = volume_quick_slot();

    return qcrypto_block_change_slot(b, slot, pass, &o, NULL, errp);
}

static int add_new(QCryptoBlock *b, GError **errp)
{
    return add(b, "new", -1, errp);
}

static int change_0(QCryptoBlock *b, GError **errp)
{
    return change(b, 0, "new", errp);
}

static int remove_0(QCryptoBlock *b, GError **errp)
{
    return qcrypto_block_remove_slot(b, 0, false, errp);
}

static int set_uuid(QCryptoBlock *b, GError **errp)
{
    return qcrypto_block_set_uuid(b, "01234567-89ab-cdef-0123-456789abcdef",
                                  errp);
}

#if QCRYPTO_HAVE_JANSSON
static int set_label(QCryptoBlock *b, GError **errp)
{
    return qcrypto_block_set_label(b, "label", "subsystem", errp);
}

static int set_priority(QCryptoBlock *b, GError **errp)
{
    return qcrypto_block_set_priority(b, 0, 2, errp);
}

static int set_flags(QCryptoBlock *b, GError **errp)
{
    static const char *const flags[] = {"allow-discards", NULL};

    return qcrypto_block_set_flags(b, flags, errp);
}

static int to_luks1(QCryptoBlock *b, GError **errp)
{
    return qcrypto_block_get_format(b) == LUKS1
               ? 0
               : qcrypto_block_convert(b, LUKS1, errp);
}

static int to_luks2(QCryptoBlock *b, GError **errp)
{
    return qcrypto_block_get_format(b) == LUKS2
               ? 0
               : qcrypto_block_convert(b, LUKS2, errp);
}
#endif

static const Case cases[] = {
    {"luks1/add", LUKS1, {"old"}, add_new, {"old"}, .either = {"old", "new"}},
    {"luks1/change",
     LUKS1,
     {"old", "other"},
     change_0,
     {"other"},
     {"old", "new"},
     {"old"}},
    {"luks1/change-only",
     LUKS1,
     {"old"},
     change_0,
     {NULL},
     {"old", "new"},
     {"old"}},
    /* no slot is free: this one has its moment of weakness, others have not */
    {"luks1/change-full",
     LUKS1,
     {"old", "1", "2", "3", "4", "5", "6", "7"},
     change_0,
     {"1", "2", "3", "4", "5", "6", "7"},
     {"7", "new"},
     {"old"}},
    {"luks1/remove",
     LUKS1,
     {"old", "other"},
     remove_0,
     {"other"},
     {"old", "other"},
     {"old"}},
    {"luks1/uuid", LUKS1, {"old"}, set_uuid, {"old"}, {"old", "old"}},
#if QCRYPTO_HAVE_JANSSON
    {"luks2/add", LUKS2, {"old"}, add_new, {"old"}, {"old", "new"}},
    {"luks2/change",
     LUKS2,
     {"old", "other"},
     change_0,
     {"other"},
     {"old", "new"},
     {"old"}},
    {"luks2/change-only",
     LUKS2,
     {"old"},
     change_0,
     {NULL},
     {"old", "new"},
     {"old"}},
    {"luks2/change-full",
     LUKS2,
     {"old", "1", "2", "3", "4", "5", "6", "7"},
     change_0,
     {"1", "2", "3", "4", "5", "6", "7"},
     {"7", "new"},
     {"old"}},
    {"luks2/remove",
     LUKS2,
     {"old", "other"},
     remove_0,
     {"other"},
     {"old", "other"},
     {"old"}},
    {"luks2/uuid", LUKS2, {"old"}, set_uuid, {"old"}, {"old", "old"}},
    {"luks2/label", LUKS2, {"old"}, set_label, {"old"}, {"old", "old"}},
    {"luks2/priority",
     LUKS2,
     {"old", "other"},
     set_priority,
     {"old", "other"},
     {"old", "old"}},
    {"luks2/flags", LUKS2, {"old"}, set_flags, {"old"}, {"old", "old"}},
    {"luks1-to-luks2", LUKS1, {"old"}, to_luks2, {"old"}, {"old", "old"}},
    {"luks1-to-luks2/several",
     LUKS1,
     {"old", "", "two", "three", "", "", "", "7"},
     to_luks2,
     {"old", "two", "three", "7"},
     {"old", "old"}},
    {"luks1-to-luks2/nothing-moves",
     LUKS1,
     {"", "one"},
     to_luks2,
     {"one"},
     {"one", "one"}},
    {"luks2-to-luks1", LUKS2, {"old"}, to_luks1, {"old"}, {"old", "old"}},
    {"luks2-to-luks1/several",
     LUKS2,
     {"old", "one", "", "three"},
     to_luks1,
     {"old", "one", "three"},
     {"old", "old"}},
#endif
};

static Storage *prepare(const Case *c)
{
    Storage *s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, c->format, "start");
    g_autoptr(GError) err = NULL;

    for (int i = 1; i < LIST && c->slots[i]; i++) {
        if (*c->slots[i]) {
            add(b, c->slots[i], i, &err);
            g_assert_no_error(err);
        }
    }
    if (*c->slots[0]) {
        change(b, 0, c->slots[0], &err);
    } else {
        qcrypto_block_remove_slot(b, 0, false, &err);
    }
    g_assert_no_error(err);
    return s;
}

/* one of them that the volume has before the change */
static const char *first_passphrase(const Case *c)
{
    int i = 0;

    while (!*c->slots[i]) {
        i++;
    }
    return c->slots[i];
}

static void check_open(const Case *c, Storage *s, bool done)
{
    for (int i = 0; i < LIST && c->always[i]; i++) {
        if (volume_opens(s, c->always[i]) < 0) {
            g_error("%s: '%s' is lost", c->name, c->always[i]);
        }
    }
    if (volume_opens(s, c->either[0]) < 0 &&
        volume_opens(s, c->either[1]) < 0) {
        g_error("%s: both '%s' and '%s' are lost", c->name, c->either[0],
                c->either[1]);
    }
    if (!done) {
        return;
    }
    g_assert_cmpint(volume_opens(s, c->either[1]), >=, 0);
    for (int i = 0; i < LIST && c->gone[i]; i++) {
        g_assert_cmpint(volume_opens(s, c->gone[i]), ==, -1);
    }
}

/*
 * What the n-th call was; NOTHING: the change has fewer calls and went
 * through.
 */
typedef enum Broke { NOTHING, HEADER, OTHER } Broke;

/* where two LUKS2 copies of 16 KiB end */
#define HEADER_END 32768

static Broke loses_power_at(const Case *c, const Storage *before, unsigned n,
                            size_t torn, uint32_t kept)
{
    g_autoptr(Storage) s = storage_copy(before);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = volume_open(s, first_passphrase(c), &err);

    g_assert_no_error(err);
    storage_break(s, n, STORAGE_LOSES_POWER, torn, kept);
    if (c->run(b, &err) == 0) {
        g_assert_cmpuint(s->calls, <, s->fail_at);
        check_open(c, s, true);
        return NOTHING;
    }
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_clear_error(&err);
    const Broke broke = s->broke_at < HEADER_END ? HEADER : OTHER;
    storage_restart(s);
    check_open(c, s, false);
    return broke;
}

/* The call fails once; the same program tries again and gets there. */
static bool tries_again(const Case *c, const Storage *before, unsigned n)
{
    g_autoptr(Storage) s = storage_copy(before);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = volume_open(s, first_passphrase(c), &err);

    g_assert_no_error(err);
    storage_break(s, n, STORAGE_FAILS_ONCE, 0, 0);
    if (c->run(b, &err) == 0) {
        return true;
    }
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    g_clear_error(&err);
    check_open(c, s, false);
    if (c->run(b, &err) < 0) {
        /* it was done but for the last step, and says so */
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT);
    }
    check_open(c, s, true);
    return false;
}

static void test_fails_once(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(Storage) before = prepare(c);
    unsigned n = 1;

    while (!tries_again(c, before, n)) {
        n++;
        g_assert_cmpuint(n, <, 500);
    }
    g_test_message("%u writes and flushes", n - 1);
    g_assert_cmpuint(n, >, 2);
}

static void test_loses_power(gconstpointer data)
{
    /* before the version, behind it, in the first sector's slots, at its end,
     * in the last slots, in the JSON, and all of it */
    static const size_t torn[] = {0,   7,   8,    100,  230,     511,
                                  512, 560, 4096, 5000, SIZE_MAX};
    /* which of the writes since the last flush arrive */
    static const uint32_t kept[] = {0, 0x55555555, 0xaaaaaaaa, UINT32_MAX};
    const Case *c = data;
    g_autoptr(Storage) before = prepare(c);
    Broke broke = HEADER;

    for (unsigned n = 1; broke != NOTHING; n++) {
        /* where in a key area a write breaks off is all the same, and a flush
         * has no length: the ways that writes get lost are enough */
        for (size_t t = 0;
             t < (broke == OTHER ? G_N_ELEMENTS(kept) : G_N_ELEMENTS(torn));
             t++) {
            broke = loses_power_at(c, before, n, torn[t],
                                   kept[(n + t) % G_N_ELEMENTS(kept)]);
            if (broke == NOTHING) {
                break;
            }
        }
        g_assert_cmpuint(n, <, 500);
    }
}

/*
 * Power is lost in one change, and again in the next one: what the first left
 * behind must not make the second dangerous.
 */
static void test_loses_power_twice(gconstpointer data)
{
    const Case *c = data;
    g_autoptr(Storage) before = prepare(c);

    for (unsigned n = 1, m;; n++) {
        g_autoptr(Storage) half = storage_copy(before);
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoBlock) b =
            volume_open(half, first_passphrase(c), &err);

        g_assert_no_error(err);
        storage_break(half, n, STORAGE_LOSES_POWER, 300, UINT32_MAX);
        if (c->run(b, &err) == 0) {
            break;
        }
        storage_restart(half);
        /* whoever can open it changes it again */
        const char *opens = volume_opens(half, first_passphrase(c)) >= 0
                                ? first_passphrase(c)
                                : "new";
        if (volume_opens(half, opens) < 0) {
            opens = c->always[0];
        }
        /* every third place, each time others */
        for (m = 1 + n % 3;; m += 3) {
            g_autoptr(Storage) s = storage_copy(half);
            g_autoptr(GError) why = NULL;
            g_autoptr(QCryptoBlock) again = volume_open(s, opens, &why);

            g_assert_no_error(why);
            storage_break(s, m, STORAGE_LOSES_POWER, 20 * m, 0xaaaaaaaa);
            if (c->run(again, &why) == 0 || !s->dead) {
                break;
            }
            storage_restart(s);
            check_open(c, s, false);
            g_assert_cmpuint(m, <, 500);
        }
    }
}

/*
 * A restore that breaks off is done again, and the backup is as it was.
 */
static void test_restore(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) before = storage_new(VOLUME_STORAGE);
        g_autoptr(Storage) backup = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(before, *f, "old");
        g_autoptr(GError) err = NULL;
        bool done = false;

        qcrypto_block_backup_header(&before->io, &backup->io, &err);
        g_assert_no_error(err);
        g_autoptr(Storage) kept = storage_copy(backup);
        change_0(b, &err);
        g_assert_no_error(err);
        for (unsigned n = 1; !done; n++) {
            g_autoptr(Storage) s = storage_copy(before);

            storage_break(s, n, STORAGE_LOSES_POWER, 700 * n % 8192,
                          0x55555555u << n % 2);
            done = qcrypto_block_restore_header(&s->io, &backup->io, false,
                                                NULL) == 0;
            storage_restart(s);
            qcrypto_block_restore_header(&s->io, &backup->io, false, &err);
            g_assert_no_error(err);
            g_assert_cmpint(volume_opens(s, "old"), ==, 0);
            g_assert_cmpint(volume_opens(s, "new"), ==, -1);
            g_assert_cmpuint(n, <, 100);
        }
        g_assert_cmpmem(backup->bytes, backup->size, kept->bytes, kept->size);
    }
}

/* A backup that breaks off is no header, or the whole of it. */
static void test_backup(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoSecret) pass = volume_secret("old");
        bool done = false;

        qcrypto_block_free(volume_create(s, *f, "old"));
        for (unsigned n = 1; !done; n++) {
            g_autoptr(Storage) backup = storage_new(VOLUME_STORAGE);
            const QCryptoBlockOpenOptions how = {.passphrase = pass,
                                                 .header = &backup->io};
            g_autoptr(GError) err = NULL;

            storage_break(backup, n, STORAGE_LOSES_POWER, 700 * n % 8192,
                          0x55555555u << n % 2);
            done = qcrypto_block_backup_header(&s->io, &backup->io, NULL) == 0;
            storage_restart(backup);
            g_autoptr(QCryptoBlock) opened =
                qcrypto_block_open(&how, &s->io, 0, &err);
            if (!opened) {
                g_assert_false(done);
                g_assert_error(err, QCRYPTO_ERROR,
                               QCRYPTO_ERROR_CORRUPT_HEADER);
            }
            g_assert_cmpuint(n, <, 100);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Case *c = &cases[i];
        g_autofree char *once = g_strdup_printf("/fault/once/%s", c->name);
        g_autofree char *power = g_strdup_printf("/fault/power/%s", c->name);
        g_autofree char *twice = g_strdup_printf("/fault/twice/%s", c->name);

        g_test_add_data_func(once, c, test_fails_once);
        g_test_add_data_func(power, c, test_loses_power);
        g_test_add_data_func(twice, c, test_loses_power_twice);
    }
    g_test_add_func("/fault/restore", test_restore);
    g_test_add_func("/fault/backup", test_backup);
    return g_test_run();
}
