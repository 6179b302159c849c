/*
 * qcrypto luks: the commands on key slots
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "tools/luks.h"

int qcrypto_luks_run_open_test(const LuksOptions *o, char **args, GError **errp)
{
    g_auto(LuksVolume) v = {0};

    if (qcrypto_luks_tool_open(o, args[0], LUKS_READ, 0, &v, errp) < 0) {
        return -1;
    }
    const int slot = qcrypto_block_get_slot(v.block);

    if (slot < 0) {
        printf("the volume key is right\n");
    } else {
        printf("key slot %d\n", slot);
    }
    return 0;
}

/* --new-keyfile or the argument, of which one may be given. */
static int new_source(const LuksOptions *o, char *arg, LuksKeySource *source,
                      GError **errp)
{
    *source = o->new_key;
    if (arg && (source->file || source->fd.given)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' and --new-key... are two passphrases", arg);
    }
    if (arg) {
        source->file = arg;
    }
    return 0;
}

int qcrypto_luks_run_add_key(const LuksOptions *o, char **args, GError **errp)
{
    g_auto(LuksVolume) v = {0};
    g_autoptr(QCryptoSecret) passphrase = NULL;
    QCryptoBlockSlotOptions how;
    LuksKeySource source;

    if (new_source(o, args[1], &source, errp) < 0 ||
        qcrypto_luks_tool_slot_options(o, &how, errp) < 0 ||
        qcrypto_luks_tool_open(o, args[0], LUKS_CHANGE_HEADER,
                               QCRYPTO_BLOCK_OPEN_KEEP_KEY, &v, errp) < 0) {
        return -1;
    }
    how.use_slot = o->new_key_slot.given;
    how.slot = (unsigned)o->new_key_slot.value;
    passphrase = qcrypto_luks_tool_passphrase(o, &source, "New passphrase",
                                              args[0], true, errp);
    return passphrase
               ? qcrypto_block_add_slot(v.block, passphrase, &how, NULL, errp)
               : -1;
}

/* The slot that was opened, or the one that --key-slot names. */
static int opened_slot(const LuksOptions *o, const LuksVolume *v,
                       unsigned *slot, GError **errp)
{
    const int opened = qcrypto_block_get_slot(v->block);

    if (opened < 0 && !o->key_slot.given) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a volume key belongs to no slot: --key-slot is "
                             "missing");
    }
    *slot = opened < 0 ? (unsigned)o->key_slot.value : (unsigned)opened;
    return 0;
}

int qcrypto_luks_run_change_key(const LuksOptions *o, char **args,
                                GError **errp)
{
    g_auto(LuksVolume) v = {0};
    g_autoptr(QCryptoSecret) passphrase = NULL;
    QCryptoBlockSlotOptions how;
    LuksKeySource source;
    unsigned slot = 0;

    if (new_source(o, args[1], &source, errp) < 0 ||
        qcrypto_luks_tool_slot_options(o, &how, errp) < 0 ||
        qcrypto_luks_tool_open(o, args[0], LUKS_CHANGE_HEADER,
                               QCRYPTO_BLOCK_OPEN_KEEP_KEY, &v, errp) < 0 ||
        opened_slot(o, &v, &slot, errp) < 0) {
        return -1;
    }
    how.use_slot = o->new_key_slot.given;
    how.slot = (unsigned)o->new_key_slot.value;
    passphrase = qcrypto_luks_tool_passphrase(o, &source, "New passphrase",
                                              args[0], true, errp);
    return passphrase ? qcrypto_block_change_slot(v.block, slot, passphrase,
                                                  &how, NULL, errp)
                      : -1;
}

int qcrypto_luks_run_convert_key(const LuksOptions *o, char **args,
                                 GError **errp)
{
    g_auto(LuksVolume) v = {0};
    g_autoptr(QCryptoSecret) passphrase = NULL;
    QCryptoBlockSlotOptions how;

    if (o->volume_key_file) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "it takes the slot's passphrase, not the volume "
                             "key");
    }
    if (qcrypto_luks_tool_slot_options(o, &how, errp) < 0) {
        return -1;
    }
    /* opened with a passphrase that is kept: it is needed a second time */
    LuksOptions once = *o;
    QCryptoBlockOpenOptions again = {
        .use_slot = o->key_slot.given,
        .slot = (unsigned)o->key_slot.value,
        .max_unlock_time_ms = o->max_unlock_time.value * 1000,
        .max_unlock_memory_kib = o->max_unlock_memory.value,
    };
    if (qcrypto_luks_tool_open(&once, args[0], LUKS_CHANGE_HEADER,
                               QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &v, errp) < 0) {
        return -1;
    }
    passphrase = qcrypto_luks_tool_passphrase(o, &o->key, "Passphrase", args[0],
                                              false, errp);
    if (!passphrase) {
        return -1;
    }
    again.passphrase = passphrase;
    again.header = v.header ? qcrypto_storage_io(v.header) : NULL;
    qcrypto_block_free(v.block);
    v.block = qcrypto_block_open(&again, qcrypto_storage_io(v.storage),
                                 QCRYPTO_BLOCK_OPEN_KEEP_KEY, errp);
    if (!v.block) {
        qcrypto_luks_tool_name_volume(o, args[0], errp);
        return -1;
    }
    return qcrypto_block_change_slot(v.block,
                                     (unsigned)qcrypto_block_get_slot(v.block),
                                     passphrase, &how, NULL, errp);
}

int qcrypto_luks_run_remove_key(const LuksOptions *o, char **args,
                                GError **errp)
{
    g_auto(LuksVolume) v = {0};
    LuksOptions by_file = *o;
    unsigned slot = 0;

    if (args[1] && (o->key.file || o->key.fd.given)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "'%s' and --key-... are two passphrases", args[1]);
    }
    if (args[1]) {
        by_file.key.file = args[1];
    }
    if (qcrypto_luks_tool_open(&by_file, args[0], LUKS_CHANGE_HEADER, 0, &v,
                               errp) < 0 ||
        opened_slot(o, &v, &slot, errp) < 0) {
        return -1;
    }
    return qcrypto_block_remove_slot(v.block, slot, o->force, errp);
}

/*
 * As cryptsetup does: who gives a number has to know what opens another slot,
 * unless told not to ask.
 */
int qcrypto_luks_run_kill_slot(const LuksOptions *o, char **args, GError **errp)
{
    g_auto(LuksVolume) v = {0};
    unsigned slot = 0;

    if (qcrypto_luks_tool_slot_number(args[1], &slot, errp) < 0 ||
        qcrypto_luks_tool_open(
            o, args[0], LUKS_CHANGE_HEADER,
            o->batch || o->force ? QCRYPTO_BLOCK_OPEN_NO_UNLOCK : 0, &v,
            errp) < 0) {
        return -1;
    }
    if (qcrypto_block_get_slot(v.block) == (int)slot) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "that passphrase opens slot %u itself: give one "
                             "that remains (or use remove-key)",
                             slot);
    }
    return qcrypto_block_remove_slot(v.block, slot, o->force, errp);
}

int qcrypto_luks_run_set_priority(const LuksOptions *o, char **args,
                                  GError **errp)
{
    g_auto(LuksVolume) v = {0};
    unsigned slot = 0;
    int priority;

    if (qcrypto_luks_tool_slot_number(args[1], &slot, errp) < 0 ||
        qcrypto_luks_tool_priority(args[2], &priority, errp) < 0 ||
        qcrypto_luks_tool_open(o, args[0], LUKS_CHANGE_HEADER,
                               QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &v, errp) < 0) {
        return -1;
    }
    return qcrypto_block_set_priority(v.block, slot, priority, errp);
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
    while (n) {
        const ssize_t put = write(fd, p, n);

        if (put < 0 && errno != EINTR) {
            return -1;
        }
        if (put > 0) {
            p += put;
            n -= (size_t)put;
        }
    }
    return 0;
}

/* For its owner alone, and not over what is there. */
static int write_secret(const LuksOptions *o, const char *name,
                        const uint8_t *bytes, size_t n, GError **errp)
{
    QCryptoNewFile f;
    struct stat st;
    bool there = stat(name, &st) == 0;

    if (there && !o->force) {
        return qcrypto_error(errp, QCRYPTO_ERROR_BUSY, "'%s' is there already",
                             name);
    }
    if (qcrypto_newfile_open(&f, name, NULL, 0600, errp) < 0) {
        return -1;
    }
    bool good = write_all(f.fd, bytes, n) == 0;
    if (!good) {
        qcrypto_error_file(errp, "write", name, errno);
    }
    return qcrypto_newfile_finish(&f, good, good ? errp : NULL) < 0 || !good
               ? -1
               : 0;
}

int qcrypto_luks_run_dump_volume_key(const LuksOptions *o, char **args,
                                     GError **errp)
{
    g_auto(LuksVolume) v = {0};
    g_autoptr(QCryptoSecret) key = NULL;
    size_t n;

    if (isatty(STDOUT_FILENO) == 1 && !args[1] &&
        qcrypto_luks_tool_confirm(
            o, "the volume key opens the volume without a passphrase, for ever",
            errp) < 0) {
        return -1;
    }
    if ((args[1] &&
         qcrypto_luks_tool_check_apart(o, args[0], args[1], errp) < 0) ||
        qcrypto_luks_tool_open(o, args[0], LUKS_READ,
                               QCRYPTO_BLOCK_OPEN_KEEP_KEY, &v, errp) < 0) {
        return -1;
    }
    key = qcrypto_block_get_volume_key(v.block, errp);
    if (!key) {
        return -1;
    }
    const uint8_t *bytes = qcrypto_secret_get(key, &n);
    if (args[1]) {
        return write_secret(o, args[1], bytes, n, errp);
    }
    char *text = qcrypto_alloc(2 * n + 1);
    if (!text) {
        return qcrypto_error_memory(errp, "a key as text", 1, 0);
    }
    for (size_t i = 0; i < n; i++) {
        static const char digits[] = "0123456789abcdef";

        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * n] = '\n';
    /* past stdio, which keeps what went through its buffers */
    fflush(stdout);
    int ret = write_all(STDOUT_FILENO, (const uint8_t *)text, 2 * n + 1);
    qcrypto_wipe_free(text, 2 * n + 1);
    return ret < 0 ? qcrypto_error(errp, QCRYPTO_ERROR_IO,
                                   "cannot write to the standard output: %s",
                                   g_strerror(errno))
                   : 0;
}
