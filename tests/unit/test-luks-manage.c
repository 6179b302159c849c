/*
 * Changes of a LUKS header: slots, names, versions, backups
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/kdf.h>
#include <string.h>

#include "config-qcrypto.h"
#if QCRYPTO_HAVE_JANSSON
#include <jansson.h>

#include "crypto/block/luks.h"
#endif

#include "volumes.h"

#define INVALID     QCRYPTO_ERROR_INVALID_ARGUMENT
#define UNSUPPORTED QCRYPTO_ERROR_UNSUPPORTED
#define LUKS1       QCRYPTO_BLOCK_FORMAT_LUKS1
#define LUKS2       QCRYPTO_BLOCK_FORMAT_LUKS2

#define assert_refused(call, kind, part)                                       \
    do {                                                                       \
        g_autoptr(GError) refused_ = NULL;                                     \
        GError **errp = &refused_;                                             \
        g_assert_cmpint((call), ==, -1);                                       \
        g_assert_error(refused_, QCRYPTO_ERROR, (int)(kind));                  \
        g_test_message("%s", refused_->message);                               \
        g_assert_nonnull(strstr(refused_->message, (part)));                   \
    } while (0)

#define assert_works(call)                                                     \
    do {                                                                       \
        GError *err_ = NULL;                                                   \
        GError **errp = &err_;                                                 \
        const int ret_ = (call);                                               \
        g_assert_no_error(err_);                                               \
        g_assert_cmpint(ret_, ==, 0);                                          \
    } while (0)

static int add(QCryptoBlock *b, const char *passphrase, unsigned *slot,
               GError **errp)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(passphrase);
    const QCryptoBlockSlotOptions o = volume_quick_slot();

    return qcrypto_block_add_slot(b, pass, &o, slot, errp);
}

static int add_at(QCryptoBlock *b, const char *passphrase, unsigned slot,
                  GError **errp)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(passphrase);
    QCryptoBlockSlotOptions o = volume_quick_slot();
    unsigned got = 99;

    o.use_slot = true;
    o.slot = slot;
    const int ret = qcrypto_block_add_slot(b, pass, &o, &got, errp);
    g_assert_cmpuint(got, ==, ret == 0 ? slot : 99);
    return ret;
}

static int change(QCryptoBlock *b, unsigned slot, const char *passphrase,
                  GError **errp)
{
    g_autoptr(QCryptoSecret) pass = volume_secret(passphrase);
    const QCryptoBlockSlotOptions o = volume_quick_slot();
    unsigned got = 99;

    const int ret = qcrypto_block_change_slot(b, slot, pass, &o, &got, errp);
    g_assert_cmpuint(got, ==, ret == 0 ? slot : 99);
    return ret;
}

static QCryptoBlockInfo *info_of(const QCryptoBlock *b)
{
    QCryptoBlockInfo *info = qcrypto_block_get_info(b, NULL);

    g_assert_nonnull(info);
    return info;
}

/* Where the key area of an active slot lies */
static uint64_t area_of(const QCryptoBlock *b, unsigned slot, uint64_t *size)
{
    g_autoptr(QCryptoBlockInfo) info = info_of(b);

    for (size_t i = 0; i < info->nslots; i++) {
        if (info->slots[i].slot == slot) {
            *size = info->slots[i].area_size;
            return info->slots[i].area_offset;
        }
    }
    g_assert_not_reached();
}

/* No block of 512 bytes is what it was. */
static void assert_overwritten(const Storage *s, const Storage *before,
                               uint64_t offset, uint64_t size)
{
    for (uint64_t at = offset; at < offset + size; at += 512) {
        g_assert_cmpint(memcmp(s->bytes + at, before->bytes + at, 512), !=, 0);
    }
}

/* ---- slots ---- */

static void test_add(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "zero");
        unsigned slot = 99;

        assert_works(add(b, "one", &slot, errp));
        g_assert_cmpuint(slot, ==, 1);
        assert_works(add_at(b, "five", 5, errp));
        /* the first that is free */
        assert_works(add(b, "two", &slot, errp));
        g_assert_cmpuint(slot, ==, 2);
        g_assert_false(s->locked);

        g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
        g_assert_cmpint(volume_opens(s, "one"), ==, 1);
        g_assert_cmpint(volume_opens(s, "two"), ==, 2);
        g_assert_cmpint(volume_opens(s, "five"), ==, 5);
        g_assert_cmpint(volume_opens(s, "six"), ==, -1);

        /* never over an active one */
        g_autoptr(Storage) before = storage_copy(s);
        assert_refused(add_at(b, "x", 5, errp), INVALID, "slot 5 is in use");
        assert_refused(add_at(b, "x", *f == LUKS1 ? 8 : 32, errp), INVALID,
                       *f == LUKS1 ? "0 to 7" : "0 to 31");
        assert_refused(add_at(b, "x", -1u, errp), INVALID, "4294967295");
        g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);
    }
}

static void test_full(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "0");
        const unsigned n = 8;

        for (unsigned i = 1; i < n; i++) {
            const char text[2] = {(char)('0' + i), '\0'};

            assert_works(add(b, text, NULL, errp));
        }
        assert_refused(add(b, "more", NULL, errp), INVALID,
                       *f == LUKS1 ? "all 8 key slots" : "no room");
        for (unsigned i = 0; i < n; i++) {
            const char text[2] = {(char)('0' + i), '\0'};

            g_assert_cmpint(volume_opens(s, text), ==, (int)i);
        }
        /* without room the change is made in place */
        assert_works(change(b, 3, "drei", errp));
        g_assert_cmpint(volume_opens(s, "3"), ==, -1);
        g_assert_cmpint(volume_opens(s, "drei"), ==, 3);
        g_assert_cmpint(volume_opens(s, "5"), ==, 5);
        /* one goes, another one fits into its place */
        assert_works(qcrypto_block_remove_slot(b, 2, false, errp));
        assert_works(add(b, "two", NULL, errp));
        g_assert_cmpint(volume_opens(s, "two"), ==, 2);
    }
}

static void test_remove(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "zero");
        uint64_t offset, size;

        assert_refused(qcrypto_block_remove_slot(b, 0, false, errp), INVALID,
                       "no key slot would be left");
        assert_refused(qcrypto_block_remove_slot(b, 1, false, errp), INVALID,
                       "slot 1 is not active");
        assert_refused(qcrypto_block_remove_slot(b, -1u, true, errp), INVALID,
                       "4294967295");
        assert_works(add_at(b, "five", 5, errp));
        g_autoptr(Storage) before = storage_copy(s);
        offset = area_of(b, 0, &size);
        g_assert_cmpuint(size, >=, 64000);
        assert_works(qcrypto_block_remove_slot(b, 0, false, errp));
        assert_overwritten(s, before, offset, size);
        g_assert_cmpint(volume_opens(s, "zero"), ==, -1);
        g_assert_cmpint(volume_opens(s, "five"), ==, 5);
        assert_refused(qcrypto_block_remove_slot(b, 0, true, errp), INVALID,
                       "slot 0 is not active");

        /* by force, and without the key */
        g_autoptr(Storage) again = storage_copy(s);
        const QCryptoBlockOpenOptions how = {0};
        g_autoptr(QCryptoBlock) locked = qcrypto_block_open(
            &how, &s->io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK, NULL);
        offset = area_of(b, 5, &size);
        assert_refused(qcrypto_block_remove_slot(locked, 5, false, errp),
                       INVALID, "no key slot would be left");
        assert_works(qcrypto_block_remove_slot(locked, 5, true, errp));
        assert_overwritten(s, again, offset, size);
        g_assert_cmpint(volume_opens(s, "five"), ==, -1);
        /* whoever has it open can still save it */
        assert_works(add(b, "saved", NULL, errp));
        g_assert_cmpint(volume_opens(s, "saved"), ==, 0);
    }
}

static void test_change(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "zero");
        uint64_t offset, size;

        assert_works(add_at(b, "three", 3, errp));
        g_autoptr(Storage) before = storage_copy(s);
        offset = area_of(b, 3, &size);
        assert_works(change(b, 3, "drei", errp));
        g_assert_cmpint(volume_opens(s, "three"), ==, -1);
        g_assert_cmpint(volume_opens(s, "drei"), ==, 3);
        g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
        /* nothing is left of the old material, whichever way it went */
        assert_overwritten(s, before, offset, size);
        g_autoptr(QCryptoBlockInfo) info = info_of(b);
        g_assert_cmpuint(info->nslots, ==, 2);

        assert_refused(change(b, 4, "x", errp), INVALID,
                       "slot 4 is not active");
        /* the same passphrase with another cost */
        g_autoptr(QCryptoSecret) pass = volume_secret("drei");
        QCryptoBlockSlotOptions o = volume_quick_slot();
        o.kdf.iterations = 1234;
        assert_works(qcrypto_block_change_slot(b, 3, pass, &o, NULL, errp));
        g_assert_cmpint(volume_opens(s, "drei"), ==, 3);
        g_clear_pointer(&info, qcrypto_block_info_free);
        info = info_of(b);
        g_assert_cmpuint(info->slots[1].iterations, ==, 1234);
        o.use_slot = true;
        o.slot = 0;
        assert_refused(qcrypto_block_change_slot(b, 3, pass, &o, NULL, errp),
                       INVALID, "keeps its number");
        /* what is left open stays: pbkdf2, not what a new slot would have */
        g_autoptr(QCryptoSecret) third = volume_secret("tre");
        o = (QCryptoBlockSlotOptions){.kdf.iterations = 2000};
        assert_works(qcrypto_block_change_slot(b, 3, third, &o, NULL, errp));
        g_clear_pointer(&info, qcrypto_block_info_free);
        info = info_of(b);
        g_assert_cmpstr(info->slots[1].kdf, ==, "pbkdf2");
    }
}

static void test_need_the_key(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) made = volume_create(s, *f, "zero");
        g_assert_nonnull(made);
        g_autoptr(QCryptoSecret) pass = volume_secret("zero");
        const QCryptoBlockOpenOptions how = {.passphrase = pass};
        g_autoptr(QCryptoBlock) b = qcrypto_block_open(&how, &s->io, 0, NULL);
        g_autoptr(GError) err = NULL;

        assert_refused(add(b, "x", NULL, errp), INVALID, "keeping its key");
        assert_refused(change(b, 0, "x", errp), INVALID, "keeping its key");
        g_assert_null(qcrypto_block_get_volume_key(b, &err));
        g_assert_error(err, QCRYPTO_ERROR, INVALID);
        g_assert_false(s->locked);
        assert_refused(qcrypto_block_add_slot(b, NULL, NULL, NULL, errp),
                       INVALID, "passphrase");
        assert_refused(add(NULL, "x", NULL, errp), INVALID, "block");
    }
}

/* Another program's changes between opening and changing */
static void test_two_at_once(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) a = volume_create(s, *f, "zero");
        g_autoptr(GError) err = NULL;
        g_autoptr(QCryptoBlock) b = volume_open(s, "zero", &err);
        unsigned slot;

        g_assert_no_error(err);
        assert_works(add(a, "by a", &slot, errp));
        g_assert_cmpuint(slot, ==, 1);
        assert_works(add(b, "by b", &slot, errp));
        g_assert_cmpuint(slot, ==, 2);
        assert_works(qcrypto_block_remove_slot(a, 2, false, errp));
        assert_refused(change(b, 2, "x", errp), INVALID, "not active");
        g_assert_cmpint(volume_opens(s, "by a"), ==, 1);
        g_assert_cmpint(volume_opens(s, "by b"), ==, -1);

        s->locked = true;
        assert_refused(add(b, "x", NULL, errp), QCRYPTO_ERROR_BUSY, "locked");
        s->locked = false;
        /* a new volume lies there now */
        g_autoptr(QCryptoBlock) other = volume_create(s, *f, "other");
        assert_refused(add(b, "x", NULL, errp), QCRYPTO_ERROR_BUSY, "replaced");
        s->io.write = NULL;
        assert_refused(add(other, "x", NULL, errp), INVALID, "reading alone");
    }
}

static int amend(QCryptoBlock *b, QCryptoBlockSlotState state, int slot,
                 const char *old, const char *fresh, bool force, GError **errp)
{
    g_autoptr(QCryptoSecret) o = old ? volume_secret(old) : NULL;
    g_autoptr(QCryptoSecret) n = fresh ? volume_secret(fresh) : NULL;
    const QCryptoBlockAmendOptions options = {
        .state = state,
        .old_passphrase = o,
        .new_passphrase = n,
        .use_slot = slot >= 0,
        .slot = (unsigned)slot,
        .iter_time_ms = 1,
    };

    return qcrypto_block_amend_options(b, &options, force, errp);
}

static void test_amend(void)
{
    const QCryptoBlockSlotState on = QCRYPTO_BLOCK_SLOT_STATE_ACTIVE,
                                off = QCRYPTO_BLOCK_SLOT_STATE_INACTIVE;

    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "zero");

        if (*f == LUKS2 &&
            !qcrypto_argon2_supports(QCRYPTO_ARGON2_ALGO_ARGON2ID)) {
            continue;
        }
        assert_works(amend(b, on, -1, NULL, "one", false, errp));
        assert_works(amend(b, on, 4, NULL, "four", false, errp));
        g_assert_cmpint(volume_opens(s, "one"), ==, 1);
        g_assert_cmpint(volume_opens(s, "four"), ==, 4);
        assert_refused(amend(b, on, 4, NULL, "x", false, errp), INVALID,
                       "in use");
        assert_works(amend(b, on, 4, NULL, "vier", true, errp));
        g_assert_cmpint(volume_opens(s, "vier"), ==, 4);
        g_assert_cmpint(volume_opens(s, "four"), ==, -1);
        assert_refused(amend(b, on, -1, NULL, NULL, false, errp), INVALID,
                       "new_passphrase");

        assert_refused(amend(b, off, -1, NULL, NULL, false, errp), INVALID,
                       "slot or the old passphrase");
        assert_refused(amend(b, off, 1, NULL, "x", false, errp), INVALID,
                       "new passphrase");
        assert_refused(amend(b, off, 1, "zero", NULL, false, errp),
                       QCRYPTO_ERROR_WRONG_PASSPHRASE, "no such key slot");
        assert_refused(amend(b, off, 2, NULL, NULL, false, errp), INVALID,
                       "not active");
        assert_works(amend(b, off, 1, NULL, NULL, false, errp));
        /* every slot with this passphrase */
        assert_works(amend(b, on, -1, NULL, "vier", false, errp));
        assert_works(amend(b, off, -1, "vier", NULL, false, errp));
        g_assert_cmpint(volume_opens(s, "vier"), ==, -1);
        g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
        assert_refused(amend(b, off, -1, "zero", NULL, false, errp), INVALID,
                       "no key slot would be left");
        if (*f == LUKS1) {
            /* what trying a slot costs is bounded here too; its iterations */
            uint8_t was[4];

            memcpy(was, s->bytes + 212, sizeof(was));
            memset(s->bytes + 212, 0xff, sizeof(was));
            assert_refused(amend(b, off, -1, "zero", NULL, true, errp),
                           QCRYPTO_ERROR_TOO_COSTLY, "key slot 0");
            memcpy(s->bytes + 212, was, sizeof(was));
        }
        assert_works(amend(b, off, -1, "zero", NULL, true, errp));
        g_assert_cmpint(volume_opens(s, "zero"), ==, -1);
        assert_refused(
            amend(b, (QCryptoBlockSlotState)7, 1, NULL, NULL, false, errp),
            INVALID, "7");
    }
}

/* ---- names ---- */

static void test_uuid(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "zero");

        assert_works(qcrypto_block_set_uuid(
            b, "0F5A7B1C-0000-4000-8000-0123456789AB", errp));
        g_autoptr(QCryptoBlockInfo) info = info_of(b);
        g_assert_cmpstr(info->uuid, ==, "0f5a7b1c-0000-4000-8000-0123456789ab");
        g_autoptr(QCryptoBlock) again = volume_open(s, "zero", NULL);
        g_autoptr(QCryptoBlockInfo) read = info_of(again);
        g_assert_cmpstr(read->uuid, ==, "0f5a7b1c-0000-4000-8000-0123456789ab");
        assert_refused(qcrypto_block_set_uuid(b, "0f5a7b1c", errp), INVALID,
                       "0f5a7b1c");
        assert_refused(qcrypto_block_set_uuid(b, NULL, errp), INVALID, "uuid");
    }
}

static void test_luks1_has_no(void)
{
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS1, "zero");
    static const char *const flags[] = {"allow-discards", NULL};

    assert_refused(qcrypto_block_set_label(b, "x", NULL, errp), UNSUPPORTED,
                   "LUKS1 has no labels");
    assert_refused(qcrypto_block_set_flags(b, flags, errp), UNSUPPORTED,
                   "LUKS1 has no persistent flags");
    assert_refused(qcrypto_block_set_priority(b, 0, 2, errp), UNSUPPORTED,
                   "LUKS1 has no priorities");
    assert_refused(qcrypto_block_convert(b, LUKS1, errp), INVALID, "already");
    assert_refused(qcrypto_block_convert(b, QCRYPTO_BLOCK_FORMAT_QCOW, errp),
                   INVALID, "luks1 or luks2");
#if !QCRYPTO_HAVE_JANSSON
    assert_refused(qcrypto_block_convert(b, LUKS2, errp), UNSUPPORTED,
                   "jansson");
#endif
}

/* ---- backups ---- */

static void test_backup(void)
{
    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(Storage) backup = storage_new(0);
        g_autoptr(QCryptoBlock) b = volume_create(s, *f, "zero");
        g_autoptr(QCryptoSecret) pass = volume_secret("zero");
        g_autoptr(GError) err = NULL;

        assert_works(add(b, "one", NULL, errp));
        backup->max_size = VOLUME_STORAGE;
        assert_works(qcrypto_block_backup_header(&s->io, &backup->io, errp));
        g_assert_cmpuint(backup->size % 4096, ==, 0);
        g_assert_cmpuint(backup->size, <=, 32768 + 8 * 65536);
        g_autoptr(Storage) kept = storage_copy(backup);

        /* a detached header */
        const QCryptoBlockOpenOptions how = {.passphrase = pass,
                                             .header = &backup->io};
        g_autoptr(QCryptoBlock) by_backup =
            qcrypto_block_open(&how, &s->io, 0, &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_block_get_slot(by_backup), ==, 0);

        /* the volume loses a slot, then its whole header */
        assert_works(qcrypto_block_remove_slot(b, 1, false, errp));
        assert_works(change(b, 0, "null", errp));
        assert_works(
            qcrypto_block_restore_header(&s->io, &backup->io, false, errp));
        g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
        g_assert_cmpint(volume_opens(s, "one"), ==, 1);
        g_assert_cmpint(volume_opens(s, "null"), ==, -1);
        memset(s->bytes, 0xff, 128 * 1024);
        assert_works(
            qcrypto_block_restore_header(&s->io, &backup->io, false, errp));
        g_assert_cmpint(volume_opens(s, "one"), ==, 1);
        g_assert_cmpmem(backup->bytes, backup->size, kept->bytes, kept->size);

        /* over another volume only by force */
        g_autoptr(QCryptoBlock) other = volume_create(s, *f, "other");
        g_assert_nonnull(other);
        assert_refused(
            qcrypto_block_restore_header(&s->io, &backup->io, false, errp),
            INVALID, "UUID");
        g_assert_cmpint(volume_opens(s, "other"), ==, 0);
        assert_works(
            qcrypto_block_restore_header(&s->io, &backup->io, true, errp));
        g_assert_cmpint(volume_opens(s, "other"), ==, -1);
        g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
        g_assert_false(s->locked);

        /* what is no header is not taken for one */
        g_autoptr(Storage) before = storage_copy(s);
        memset(backup->bytes, 0, 40 * 1024);
        assert_refused(
            qcrypto_block_restore_header(&s->io, &backup->io, true, errp),
            QCRYPTO_ERROR_CORRUPT_HEADER, "the backup: ");
        kept->size -= 4096;
        assert_refused(
            qcrypto_block_restore_header(&s->io, &kept->io, true, errp),
            QCRYPTO_ERROR_CORRUPT_HEADER, "");
        kept->size += 4096;
        g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);
        g_autoptr(Storage) tiny = storage_new(4096);
        tiny->io.init = NULL;
        assert_refused(
            qcrypto_block_restore_header(&tiny->io, &kept->io, true, errp),
            INVALID, "bytes");
        assert_refused(qcrypto_block_backup_header(&s->io, &tiny->io, errp),
                       INVALID, "the backup has 4096");
        kept->io.write = NULL;
        assert_refused(qcrypto_block_backup_header(&s->io, &kept->io, errp),
                       INVALID, "reading alone");
        assert_refused(qcrypto_block_backup_header(NULL, &kept->io, errp),
                       INVALID, "volume is NULL");
    }
}

/* ---- LUKS2 alone ---- */

#if QCRYPTO_HAVE_JANSSON

/* The JSON of a volume, edited by hand. */
static void edit_json(Storage *s, const char *path, json_t *value)
{
    g_autoptr(GError) err = NULL;
    QCryptoLuks *luks = qcrypto_luks2_read(&s->io, false, &err);
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    json_t *at;

    g_assert_no_error(err);
    at = luks->json;
    for (char **n = names; n[1]; n++) {
        at = json_object_get(at, *n);
        g_assert_nonnull(at);
    }
    g_assert_cmpint(
        json_object_set_new(at, names[g_strv_length(names) - 1], value), ==, 0);
    qcrypto_luks2_write(luks, &s->io, &err);
    g_assert_no_error(err);
    qcrypto_luks_free(luks);
}

static json_t *json_of(const QCryptoBlock *b)
{
    g_autoptr(QCryptoBlockInfo) info = info_of(b);
    json_t *json = json_loads(info->json, 0, NULL);

    g_assert_nonnull(json);
    return json;
}

static void assert_json(const QCryptoBlock *b, const char *path,
                        const char *want)
{
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    json_t *json = json_of(b), *at = json;

    for (char **n = names; *n; n++) {
        at = json_object_get(at, *n);
    }
    char *got = json_dumps(at, JSON_COMPACT | JSON_ENCODE_ANY);
    g_assert_cmpstr(got, ==, want);
    free(got);
    json_decref(json);
}

/* Tokens, and what nobody here knows, stay; a removed slot leaves no trace. */
static void test_json_is_kept(void)
{
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");

    assert_works(add(b, "one", NULL, errp));
    assert_works(add(b, "two", NULL, errp));
    edit_json(s, "tokens/0",
              json_pack("{s:s, s:[s,s], s:s}", "type", "mine", "keyslots", "1",
                        "2", "secret", "a/b \" c"));
    edit_json(s, "tokens/7",
              json_pack("{s:s, s:[]}", "type", "other", "keyslots"));
    edit_json(s, "keyslots/1/note", json_string("of slot 1"));
    edit_json(s, "config/future", json_integer(INT64_C(1) << 40));

    assert_works(qcrypto_block_set_priority(b, 1, 2, errp));
    assert_json(b, "keyslots/1/note", "\"of slot 1\"");
    assert_works(change(b, 1, "eins", errp));
    assert_json(b, "keyslots/1/note", "\"of slot 1\"");
    assert_json(b, "keyslots/1/priority", "2");
    assert_json(b, "tokens/0/secret", "\"a/b \\\" c\"");
    assert_works(qcrypto_block_remove_slot(b, 1, false, errp));
    assert_json(b, "tokens/0/keyslots", "[\"2\"]");
    assert_json(b, "digests/0/keyslots", "[\"0\",\"2\"]");
    assert_json(b, "keyslots/1", NULL);
    assert_works(qcrypto_block_remove_slot(b, 2, false, errp));
    assert_json(b, "tokens/0/keyslots", "[]");
    assert_json(b, "tokens/7/type", "\"other\"");
    assert_json(b, "config/future", "1099511627776");
    g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
}

static void test_priority(void)
{
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "same");

    assert_works(add(b, "same", NULL, errp));
    g_assert_cmpint(volume_opens(s, "same"), ==, 0);
    assert_works(qcrypto_block_set_priority(b, 1, 2, errp));
    g_assert_cmpint(volume_opens(s, "same"), ==, 1);
    assert_works(qcrypto_block_set_priority(b, 1, 0, errp));
    g_assert_cmpint(volume_opens(s, "same"), ==, 0);
    assert_works(qcrypto_block_set_priority(b, 0, 0, errp));
    g_assert_cmpint(volume_opens(s, "same"), ==, -1);
    assert_works(qcrypto_block_set_priority(b, 0, 1, errp));
    assert_json(b, "keyslots/0/priority", NULL);
    assert_refused(qcrypto_block_set_priority(b, 0, 3, errp), INVALID,
                   "0 to 2");
    assert_refused(qcrypto_block_set_priority(b, 9, 1, errp), INVALID,
                   "not active");
}

static void test_labels_and_flags(void)
{
    static const char *const flags[] = {"no-journal", "allow-discards", NULL};
    static const char *const bad[] = {"no-journal", "turbo", NULL};
    static const char *const none[] = {NULL};
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");
    g_autoptr(QCryptoBlockInfo) info = NULL;

    assert_works(qcrypto_block_set_label(b, "one", "two", errp));
    assert_works(qcrypto_block_set_label(b, NULL, "", errp));
    assert_works(qcrypto_block_set_flags(b, flags, errp));
    assert_json(b, "config/flags", "[\"no-journal\",\"allow-discards\"]");
    assert_refused(qcrypto_block_set_flags(b, bad, errp), INVALID, "'turbo'");
    info = info_of(b);
    g_assert_cmpstr(info->label, ==, "one");
    g_assert_null(info->subsystem);
    assert_works(qcrypto_block_set_flags(b, none, errp));
    assert_json(b, "config/flags", NULL);
    assert_works(qcrypto_block_set_flags(b, NULL, errp));
}

/* A slot that is encrypted otherwise than the data, and unbound ones */
static void test_other_slots(void)
{
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");
    g_autoptr(QCryptoSecret) one = volume_secret("one");
    QCryptoBlockSlotOptions o = volume_quick_slot();

    o.cipher = "aes-xts-plain64";
    o.set_priority = true;
    o.priority = 2;
    assert_works(qcrypto_block_add_slot(b, one, &o, NULL, errp));
    g_assert_cmpint(volume_opens(s, "one"), ==, 1);
    assert_json(b, "keyslots/1/area/encryption", "\"aes-xts-plain64\"");
    assert_json(b, "keyslots/1/area/key_size", "64");
    assert_json(b, "keyslots/1/priority", "2");

    /* slot 1 gets a digest that belongs to no segment */
    edit_json(s, "digests/0/keyslots", json_pack("[s]", "0"));
    edit_json(
        s, "digests/1",
        json_pack("{s:s, s:[s], s:[], s:s, s:i, s:s, s:s}", "type", "pbkdf2",
                  "keyslots", "1", "segments", "hash", "sha256", "iterations",
                  1000, "salt", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                  "digest", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
    assert_refused(qcrypto_block_remove_slot(b, 0, false, errp), INVALID,
                   "no key slot would be left");
    assert_refused(change(b, 1, "x", errp), INVALID,
                   "does not hold the volume key");
    assert_works(qcrypto_block_remove_slot(b, 1, false, errp));
    assert_json(b, "digests/1", NULL);
    g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
}

static void test_metadata_full(void)
{
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");
    g_autofree char *much = g_strnfill(11450, 'x');

    edit_json(s, "tokens/0",
              json_pack("{s:s, s:[], s:s}", "type", "much", "keyslots", "text",
                        much));
    g_autoptr(Storage) before = storage_copy(s);
    assert_refused(add(b, "one", NULL, errp), INVALID, "has room for");
    /* seen before the key area was written */
    g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);
    g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
}

/* One copy is damaged: the next change makes both whole. */
static void test_damaged_copy(void)
{
    for (int which = 0; which < 2; which++) {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) made = volume_create(s, LUKS2, "zero");
        g_assert_nonnull(made);
        g_autoptr(GError) err = NULL;

        memset(s->bytes + (which ? 16384 : 0), 0, 16384);
        g_autoptr(QCryptoBlock) b = volume_open(s, "zero", &err);
        g_assert_no_error(err);
        assert_works(add(b, "one", NULL, errp));
        g_autoptr(QCryptoBlock) again = volume_open(s, "one", &err);
        g_assert_no_error(err);
        g_autoptr(QCryptoBlockInfo) info = info_of(again);
        g_assert_null(info->primary_problem);
        g_assert_null(info->secondary_problem);
        /* a backup of a volume with one copy */
        g_autoptr(Storage) backup = storage_new(VOLUME_STORAGE);
        memset(s->bytes + (which ? 16384 : 0), 0, 16384);
        assert_works(qcrypto_block_backup_header(&s->io, &backup->io, errp));
        memset(s->bytes, 0, 32768);
        assert_works(
            qcrypto_block_restore_header(&s->io, &backup->io, false, errp));
        g_assert_cmpint(volume_opens(s, "one"), ==, 1);
    }
}

/* ---- conversion ---- */

static void fill(QCryptoBlock *b, uint8_t value)
{
    uint8_t buf[4096];

    memset(buf, value, sizeof(buf));
    assert_works(qcrypto_block_pwrite(b, 8192, buf, sizeof(buf), errp));
}

static void assert_filled(QCryptoBlock *b, uint8_t value)
{
    uint8_t buf[4096];

    assert_works(qcrypto_block_pread(b, 8192, buf, sizeof(buf), errp));
    for (size_t i = 0; i < sizeof(buf); i++) {
        g_assert_cmpuint(buf[i], ==, value);
    }
}

static void test_convert(void)
{
    /* which of the slots are active, beside the one that is kept */
    static const unsigned keep[] = {0, 1, 7};

    for (size_t k = 0; k < G_N_ELEMENTS(keep); k++) {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, LUKS1, "first");
        g_autoptr(GError) err = NULL;

        if (keep[k]) {
            assert_works(add_at(b, "kept", keep[k], errp));
            assert_works(qcrypto_block_remove_slot(b, 0, false, errp));
        } else {
            assert_works(change(b, 0, "kept", errp));
        }
        assert_works(add_at(b, "three", 3, errp));
        fill(b, 0x42);
        assert_works(qcrypto_block_convert(b, LUKS2, errp));
        g_assert_cmpint(qcrypto_block_get_format(b), ==, LUKS2);
        assert_filled(b, 0x42);
        g_assert_cmpint(volume_opens(s, "kept"), ==, (int)keep[k]);
        g_assert_cmpint(volume_opens(s, "three"), ==, 3);
        /* as good as any other: slots come and go */
        assert_works(add(b, "more", NULL, errp));
        assert_works(qcrypto_block_remove_slot(b, 3, false, errp));
        g_autoptr(QCryptoBlock) two = volume_open(s, "more", &err);
        g_assert_no_error(err);
        assert_filled(two, 0x42);

        assert_works(qcrypto_block_convert(two, LUKS1, errp));
        g_assert_cmpint(qcrypto_block_get_format(two), ==, LUKS1);
        assert_filled(two, 0x42);
        g_assert_cmpint(volume_opens(s, "kept"), ==, (int)keep[k]);
        g_assert_cmpint(volume_opens(s, "three"), ==, -1);
        g_autoptr(QCryptoBlock) one = volume_open(s, "more", &err);
        g_assert_no_error(err);
        assert_filled(one, 0x42);
        /* nothing of LUKS2 is left to be found */
        g_assert_cmpint(memcmp(s->bytes + 16384, "SKUL", 4), !=, 0);
        /* every slot of the LUKS1 header has its place */
        for (unsigned i = 0; i < 6; i++) {
            g_autofree char *text = g_strdup_printf("again %u", i);

            assert_works(add(one, text, NULL, errp));
        }
        assert_refused(add(one, "x", NULL, errp), INVALID, "all 8");
        for (unsigned i = 0; i < 6; i++) {
            g_autofree char *text = g_strdup_printf("again %u", i);

            g_assert_cmpint(volume_opens(s, text), >=, 0);
        }
        g_assert_cmpint(volume_opens(s, "kept"), ==, (int)keep[k]);
        /* and with all of them in use there is no way back */
        g_autoptr(Storage) before = storage_copy(s);
        if (!one) {
            continue;
        }
        g_autoptr(QCryptoBlockInfo) info = info_of(one);
        bool in_the_way = false;
        for (size_t i = 0; i < info->nslots; i++) {
            in_the_way |= info->slots[i].area_offset < 32768;
        }
        g_assert_true(in_the_way);
        assert_refused(qcrypto_block_convert(one, LUKS2, errp), UNSUPPORTED,
                       "no free place");
        g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);
    }
}

/* Each obstacle by its name, and nothing written. */
static void test_convert_obstacles(void)
{
    static const struct {
        const char *path, *json, *part;
    } cases[] = {
        {"tokens/0", "{\"type\":\"t\",\"keyslots\":[]}", "1 tokens"},
        {"config/flags", "[\"allow-discards\"]", "allow-discards"},
        {"keyslots/0/priority", "0", "priority"},
        {"keyslots/0/af/hash", "\"sha1\"", "hash"},
        {"keyslots/0/kdf/hash", "\"sha1\"", "hash"},
        {"keyslots/0/area/encryption", "\"aes-cbc-plain64\"",
         "aes-cbc-plain64"},
        {"keyslots/0/kdf/salt", "\"AAAAAAAAAAAAAAAAAAAAAA==\"", "salt"},
        {"digests/0/salt", "\"AAAAAAAAAAAAAAAAAAAAAA==\"", "salt"},
        {"digests/0/digest", "\"AAAAAAAAAAAAAAAAAAAAAA==\"", "digest"},
        {"segments/0/sector_size", "1024", "1024"},
        {"segments/0/iv_tweak", "\"8\"", "iv_tweak"},
        {"segments/0/size", "\"4096\"", "segment ends"},
        {"keyslots/0/kdf",
         "{\"type\":\"argon2id\",\"time\":4,\"memory\":32,\"cpus\":1,"
         "\"salt\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"}",
         "argon2id"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
        g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");

        edit_json(s, cases[i].path,
                  json_loads(cases[i].json, JSON_DECODE_ANY, NULL));
        g_autoptr(Storage) before = storage_copy(s);
        assert_refused(qcrypto_block_convert(b, LUKS1, errp), UNSUPPORTED,
                       cases[i].part);
        g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);
    }
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");
    assert_works(add_at(b, "nine", 9, errp));
    assert_refused(qcrypto_block_convert(b, LUKS1, errp), UNSUPPORTED,
                   "key slot 9");
    assert_works(qcrypto_block_remove_slot(b, 9, false, errp));
    assert_works(qcrypto_block_set_label(b, "x", "", errp));
    assert_refused(qcrypto_block_convert(b, LUKS1, errp), UNSUPPORTED, "label");
    assert_works(qcrypto_block_set_label(b, "", NULL, errp));
    assert_works(qcrypto_block_convert(b, LUKS1, errp));
}

/* A re-encryption leaves the digest with another number than 0. */
static void test_convert_digest_1(void)
{
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, LUKS2, "zero");
    json_t *json = json_of(b);
    json_t *digest = json_object_get(json_object_get(json, "digests"), "0");

    edit_json(s, "digests", json_pack("{s:O}", "1", digest));
    json_decref(json);
    assert_works(add(b, "one", NULL, errp));
    assert_json(b, "digests/1/keyslots", "[\"0\",\"1\"]");
    assert_works(qcrypto_block_convert(b, LUKS1, errp));
    g_assert_cmpint(volume_opens(s, "zero"), ==, 0);
    g_assert_cmpint(volume_opens(s, "one"), ==, 1);
    assert_works(add(b, "two", NULL, errp));
    g_assert_cmpint(volume_opens(s, "two"), ==, 2);
}

/* A detached header has its own storage to move in. */
static void test_convert_detached(void)
{
    g_autoptr(Storage) header = storage_new(VOLUME_STORAGE);
    g_autoptr(Storage) s = storage_new(65536);
    g_autoptr(QCryptoSecret) pass = volume_secret("zero");
    g_autoptr(GError) err = NULL;
    const QCryptoBlockCreateOptions o = {
        .format = LUKS1,
        .passphrase = pass,
        .cipher = "aes-cbc-essiv:sha256",
        .key_len = 16,
        .header = &header->io,
        .slot = volume_quick_slot(),
    };
    g_autoptr(QCryptoBlock) b = qcrypto_block_create(&o, &s->io, &err);

    g_assert_no_error(err);
    fill(b, 0x11);
    assert_works(qcrypto_block_convert(b, LUKS2, errp));
    const QCryptoBlockOpenOptions how = {.passphrase = pass,
                                         .header = &header->io};
    g_autoptr(QCryptoBlock) again = qcrypto_block_open(&how, &s->io, 0, &err);
    g_assert_no_error(err);
    assert_filled(again, 0x11);
    assert_works(qcrypto_block_convert(again, LUKS1, errp));
    g_autoptr(QCryptoBlock) third = qcrypto_block_open(&how, &s->io, 0, &err);
    g_assert_no_error(err);
    assert_filled(third, 0x11);
}
#endif

/* ---- any order of changes, against a model ---- */

#define MAX_MODEL 32

static void check_model(Storage *s, char *const *model, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (model[i]) {
            g_assert_cmpint(volume_opens(s, model[i]), ==, (int)i);
        }
    }
    g_assert_cmpint(volume_opens(s, "never one"), ==, -1);
}

/* It works, unless it can not: see luks-convert.c about slots 0 to 5. */
static void convert_or_not(QCryptoBlock *b, char *const *model)
{
    unsigned low = 0;

    while (low < 6 && model[low]) {
        low++;
    }
    if (qcrypto_block_get_format(b) == LUKS2) {
        assert_works(qcrypto_block_convert(b, LUKS1, errp));
    } else if (low < 6) {
        assert_works(qcrypto_block_convert(b, LUKS2, errp));
    } else {
        assert_refused(qcrypto_block_convert(b, LUKS2, errp), UNSUPPORTED,
                       "slots 0 to 5");
    }
}

static void run_sequence(GRand *rand, unsigned steps)
{
    char *model[MAX_MODEL] = {g_strdup("start")};
    const QCryptoBlockFormat first =
        volume_formats[g_rand_int(rand) % volume_nformats];
    g_autoptr(Storage) s = storage_new(VOLUME_STORAGE);
    g_autoptr(QCryptoBlock) b = volume_create(s, first, "start");
    unsigned active = 1;

    for (unsigned i = 0; i < steps; i++) {
        const unsigned slot = (unsigned)g_rand_int_range(rand, 0, 8);
        g_autofree char *text = g_strdup_printf("step %u", i);

        switch (g_rand_int_range(rand, 0, 6)) {
        case 0:
        case 1:
            if (!model[slot] && active < 6) {
                assert_works(add_at(b, text, slot, errp));
                model[slot] = g_steal_pointer(&text);
                active++;
            } else if (model[slot]) {
                assert_refused(add_at(b, text, slot, errp), INVALID, "in use");
            }
            break;
        case 2:
            if (model[slot]) {
                assert_works(change(b, slot, text, errp));
                g_free(model[slot]);
                model[slot] = g_steal_pointer(&text);
            } else {
                assert_refused(change(b, slot, text, errp), INVALID,
                               "not active");
            }
            break;
        case 3:
            if (model[slot] && active > 1) {
                assert_works(qcrypto_block_remove_slot(b, slot, false, errp));
                g_assert_cmpint(volume_opens(s, model[slot]), ==, -1);
                g_clear_pointer(&model[slot], g_free);
                active--;
            }
            break;
        case 4:
            if (model[slot] && qcrypto_block_get_format(b) == LUKS2) {
                /* back to normal at once: LUKS1 has no other */
                assert_works(qcrypto_block_set_priority(b, slot, 2, errp));
                g_assert_cmpint(volume_opens(s, model[slot]), ==, (int)slot);
                assert_works(qcrypto_block_set_priority(b, slot, 1, errp));
            }
            break;
        default:
            if (volume_nformats == 2) {
                convert_or_not(b, model);
            }
        }
        check_model(s, model, 8);
        if (g_rand_boolean(rand)) {
            /* opened anew through any slot */
            for (unsigned j = 0; j < 8; j++) {
                if (model[j]) {
                    qcrypto_block_free(b);
                    b = volume_open(s, model[j], NULL);
                    g_assert_nonnull(b);
                    break;
                }
            }
        }
    }
    for (unsigned i = 0; i < MAX_MODEL; i++) {
        g_free(model[i]);
    }
}

static void test_sequences(void)
{
    const unsigned n = g_test_slow() ? 100 : 6;

    for (unsigned i = 0; i < n; i++) {
        const guint32 seed = (guint32)g_test_rand_int();
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);

        g_test_message("sequence of seed %u", seed);
        run_sequence(rand, 20);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/luks-manage/add", test_add);
    g_test_add_func("/luks-manage/full", test_full);
    g_test_add_func("/luks-manage/remove", test_remove);
    g_test_add_func("/luks-manage/change", test_change);
    g_test_add_func("/luks-manage/need-the-key", test_need_the_key);
    g_test_add_func("/luks-manage/two-at-once", test_two_at_once);
    g_test_add_func("/luks-manage/amend", test_amend);
    g_test_add_func("/luks-manage/uuid", test_uuid);
    g_test_add_func("/luks-manage/luks1-has-no", test_luks1_has_no);
    g_test_add_func("/luks-manage/backup", test_backup);
#if QCRYPTO_HAVE_JANSSON
    g_test_add_func("/luks-manage/json-is-kept", test_json_is_kept);
    g_test_add_func("/luks-manage/priority", test_priority);
    g_test_add_func("/luks-manage/labels-and-flags", test_labels_and_flags);
    g_test_add_func("/luks-manage/other-slots", test_other_slots);
    g_test_add_func("/luks-manage/metadata-full", test_metadata_full);
    g_test_add_func("/luks-manage/damaged-copy", test_damaged_copy);
    g_test_add_func("/luks-manage/convert", test_convert);
    g_test_add_func("/luks-manage/convert-obstacles", test_convert_obstacles);
    g_test_add_func("/luks-manage/convert-digest-1", test_convert_digest_1);
    g_test_add_func("/luks-manage/convert-detached", test_convert_detached);
#endif
    g_test_add_func("/luks-manage/sequences", test_sequences);
    return g_test_run();
}
