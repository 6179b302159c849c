/*
 * nbdkit-qcrypto-plugin: LUKS volumes for whoever speaks NBD
 *
 *     nbdkit .../nbdkit-qcrypto-plugin.so disk.img passphrase=+FILE
 *
 * One open volume serves every connection and every thread: the library
 * keeps no state from request to request.  Reads are decrypted in nbdkit's
 * own buffer; requests may have any offset and length.
 *
 * The volume is opened before nbdkit goes into the background, so that a
 * wrong passphrase or a damaged header is said where it was started.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <qcrypto/qcrypto.h>

#include "crypto/base/secure.h"
#include "tools/storage.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

/* of zeros written at once */
#define ZEROS ((size_t)256 << 10)

static struct {
    /* parameters */
    char *file, *header, *key_file, *volume_key_file, *provider;
    QCryptoSecret *passphrase;
    int64_t offset, size, keyfile_offset, keyfile_size;
    unsigned partition, disk_sector_size, key_slot, max_time, max_memory;
    bool use_slot, trim;
    /* the volume */
    QCryptoStorage *storage, *header_storage;
    QCryptoBlock *block;
    bool writable;
} self;

/* nbdkit's answer to a failed call; takes the error. */
static int fail(GError *error)
{
    const int number =
        g_error_matches(error, QCRYPTO_ERROR, QCRYPTO_ERROR_INVALID_ARGUMENT)
            ? EINVAL
        : g_error_matches(error, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY)
            ? ENOMEM
        : g_error_matches(error, QCRYPTO_ERROR, QCRYPTO_ERROR_UNSUPPORTED)
            ? EOPNOTSUPP
            : EIO;

    nbdkit_error("%s", error->message);
    nbdkit_set_error(number);
    g_error_free(error);
    return -1;
}

/*
 * Parameters
 */

typedef int SetParameter(const char *key, const char *value, void *to);

static int set_text(const char *key, const char *value, void *to)
{
    char **text = to;

    free(*text);
    *text = strdup(value);
    return *text ? 0 : -1;
}

/* nbdkit changes its folder later. */
static int set_path(const char *key, const char *value, void *to)
{
    char **path = to;

    free(*path);
    *path = nbdkit_absolute_path(value);
    return *path ? 0 : -1;
}

static int set_file(const char *key, const char *value, void *to)
{
    return (qcrypto_storage_is_uri(value) ? set_text : set_path)(key, value,
                                                                 to);
}

/* nbdkit's ways: the word itself, +FILE, -FD, or - to be asked. */
static int set_passphrase(const char *key, const char *value, void *to)
{
    QCryptoSecret **secret = to;
    char *text = NULL;
    GError *error = NULL;

    if (nbdkit_read_password(value, &text) < 0) {
        return -1;
    }
    qcrypto_secret_free(*secret);
    *secret = qcrypto_secret_new_from_bytes(text, strlen(text), &error);
    qcrypto_wipe(text, strlen(text));
    free(text);
    return *secret ? 0 : fail(error);
}

static int set_size(const char *key, const char *value, void *to)
{
    int64_t *size = to;

    *size = nbdkit_parse_size(value);
    return *size < 0 ? -1 : 0;
}

static int set_number(const char *key, const char *value, void *to)
{
    return nbdkit_parse_unsigned(key, value, to);
}

static int set_slot(const char *key, const char *value, void *to)
{
    self.use_slot = true;
    return nbdkit_parse_unsigned(key, value, to);
}

static int set_bool(const char *key, const char *value, void *to)
{
    const int yes = nbdkit_parse_bool(value);

    *(bool *)to = yes > 0;
    return yes < 0 ? -1 : 0;
}

static const struct {
    const char *key;
    SetParameter *set;
    void *to;
} parameters[] = {
    {"file", set_file, &self.file},
    {"header", set_path, &self.header},
    {"passphrase", set_passphrase, &self.passphrase},
    {"key-file", set_path, &self.key_file},
    {"keyfile-offset", set_size, &self.keyfile_offset},
    {"keyfile-size", set_size, &self.keyfile_size},
    {"volume-key-file", set_path, &self.volume_key_file},
    {"keyslot", set_slot, &self.key_slot},
    {"partition", set_number, &self.partition},
    {"disk-sector-size", set_number, &self.disk_sector_size},
    {"offset", set_size, &self.offset},
    {"size", set_size, &self.size},
    {"max-unlock-time", set_number, &self.max_time},
    {"max-unlock-memory", set_number, &self.max_memory},
    {"provider", set_text, &self.provider},
    {"trim", set_bool, &self.trim},
};

static int plugin_config(const char *key, const char *value)
{
    for (size_t i = 0; i < G_N_ELEMENTS(parameters); i++) {
        if (!strcmp(key, parameters[i].key)) {
            return parameters[i].set(key, value, parameters[i].to);
        }
    }
    nbdkit_error("unknown parameter '%s'", key);
    return -1;
}

static int plugin_config_complete(void)
{
    const int keys = (self.passphrase != NULL) + (self.key_file != NULL) +
                     (self.volume_key_file != NULL);

    if (!self.file) {
        nbdkit_error("file=FILE (or an NBD URI) is missing");
        return -1;
    }
    if (keys != 1) {
        nbdkit_error("one of passphrase=, key-file= and volume-key-file= "
                     "opens a volume; there are %d",
                     keys);
        return -1;
    }
    return 0;
}

#define CONFIG_HELP                                                            \
    "[file=]FILE|URI       the disk, or what an NBD server serves "            \
    "(required)\n"                                                             \
    "passphrase=+FILE      its first line; also -FD, - (asked), or itself\n"   \
    "key-file=FILE         the passphrase is the file's bytes\n"               \
    "keyfile-offset=BYTES  ... from there on\n"                                \
    "keyfile-size=BYTES    ... so many\n"                                      \
    "volume-key-file=FILE  the volume key instead of a passphrase\n"           \
    "keyslot=N             this key slot alone\n"                              \
    "header=FILE           the header lies apart\n"                            \
    "partition=N           the volume is this partition (GPT, MBR)\n"          \
    "disk-sector-size=N    of a disk with an MBR: 512, 4096\n"                 \
    "offset=BYTES          the volume begins there in FILE\n"                  \
    "size=BYTES            ... and has so many bytes\n"                        \
    "max-unlock-time=S     refuse slots predicted to take longer (60)\n"       \
    "max-unlock-memory=KIB ... or more memory\n"                               \
    "provider=NAME         cipher by name (`qcrypto providers`)\n"             \
    "trim=true             pass trims on: tells the storage what is unused"

/*
 * The volume
 */

static QCryptoStorage *open_place(const QCryptoStorageOptions *place,
                                  bool *writable, GError **errp)
{
    QCryptoStorageOptions how = *place;
    QCryptoStorage *storage;

    how.writable = true;
    storage = qcrypto_storage_open(&how, NULL);
    *writable = storage != NULL;
    how.writable = false;
    return storage ? storage : qcrypto_storage_open(&how, errp);
}

static QCryptoSecret *read_key(GError **errp)
{
    return self.volume_key_file
               ? qcrypto_secret_new_from_file(self.volume_key_file, 0, 0, errp)
               : qcrypto_secret_new_from_file(self.key_file,
                                              (uint64_t)self.keyfile_offset,
                                              (size_t)self.keyfile_size, errp);
}

static int open_volume(GError **errp)
{
    const QCryptoStorageOptions place = {
        .file = self.file,
        .offset = (uint64_t)self.offset,
        .size = (uint64_t)self.size,
        .partition = self.partition,
        .disk_sector_size = self.disk_sector_size,
        .connections = 8, /* made when so many requests are under way */
    };
    QCryptoBlockOpenOptions how = {
        .format = QCRYPTO_BLOCK_FORMAT_LUKS,
        .use_slot = self.use_slot,
        .slot = self.key_slot,
        .max_unlock_time_ms = (uint64_t)self.max_time * 1000,
        .max_unlock_memory_kib = self.max_memory,
        .provider = self.provider,
    };
    g_autoptr(QCryptoSecret) key = NULL;

    self.storage = open_place(&place, &self.writable, errp);
    if (!self.storage) {
        return -1;
    }
    if (self.header) {
        const QCryptoStorageOptions apart = {.file = self.header};

        self.header_storage = qcrypto_storage_open(&apart, errp);
        if (!self.header_storage) {
            return -1;
        }
        how.header = qcrypto_storage_io(self.header_storage);
    }
    how.passphrase = self.passphrase;
    if (!self.passphrase) {
        key = read_key(errp);
        if (!key) {
            return -1;
        }
        *(self.volume_key_file ? &how.volume_key : &how.passphrase) = key;
    }
    self.block =
        qcrypto_block_open(&how, qcrypto_storage_io(self.storage), 0, errp);
    if (!self.block) {
        g_prefix_error(errp, "'%s': ", self.file);
        return -1;
    }
    qcrypto_secret_free(g_steal_pointer(&self.passphrase));
    nbdkit_debug("payload of %" PRIu64 " bytes, sectors of %zu, %s",
                 qcrypto_block_get_payload_size(self.block),
                 qcrypto_block_get_sector_size(self.block),
                 qcrypto_block_get_impl(self.block));
    return 0;
}

static int plugin_get_ready(void)
{
    GError *error = NULL;

    return open_volume(&error) < 0 ? fail(error) : 0;
}

static void plugin_unload(void)
{
    qcrypto_block_free(self.block);
    qcrypto_storage_free(self.header_storage);
    qcrypto_storage_free(self.storage);
    qcrypto_secret_free(self.passphrase);
    free(self.file);
    free(self.header);
    free(self.key_file);
    free(self.volume_key_file);
    free(self.provider);
}

/*
 * Connections, all of them the same
 */

static void *plugin_open(int readonly)
{
    return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t plugin_get_size(void *handle)
{
    return (int64_t)qcrypto_block_get_payload_size(self.block);
}

/* Requests may be of any size; whole sectors save reading what stays. */
static int plugin_block_size(void *handle, uint32_t *minimum,
                             uint32_t *preferred, uint32_t *maximum)
{
    *minimum = 1;
    *preferred = MAX((uint32_t)qcrypto_block_get_sector_size(self.block), 4096);
    *maximum = UINT32_MAX;
    return 0;
}

static int plugin_can_write(void *handle)
{
    return self.writable;
}

static int plugin_can_flush(void *handle)
{
    return self.writable;
}

static int plugin_can_trim(void *handle)
{
    return self.writable && self.trim;
}

static int plugin_can_zero(void *handle)
{
    return self.writable;
}

/* Zeros have to be encrypted like anything else. */
static int plugin_can_fast_zero(void *handle)
{
    return 0;
}

static int plugin_can_fua(void *handle)
{
    return self.writable ? NBDKIT_FUA_NATIVE : NBDKIT_FUA_NONE;
}

/* One storage under all of them: what one flushes is flushed for all. */
static int plugin_can_multi_conn(void *handle)
{
    return 1;
}

static int finish(int ret, uint32_t flags, GError *error)
{
    if (ret == 0 && flags & NBDKIT_FLAG_FUA) {
        ret = qcrypto_block_flush(self.block, &error);
    }
    return ret < 0 ? fail(error) : 0;
}

static int plugin_pread(void *handle, void *buf, uint32_t count,
                        uint64_t offset, uint32_t flags)
{
    GError *error = NULL;
    const int ret = qcrypto_block_pread(self.block, offset, buf, count, &error);

    return finish(ret, 0, error);
}

static int plugin_pwrite(void *handle, const void *buf, uint32_t count,
                         uint64_t offset, uint32_t flags)
{
    GError *error = NULL;
    const int ret =
        qcrypto_block_pwrite(self.block, offset, buf, count, &error);

    return finish(ret, flags, error);
}

static int plugin_zero(void *handle, uint32_t count, uint64_t offset,
                       uint32_t flags)
{
    static const uint8_t zeros[ZEROS];
    GError *error = NULL;
    int ret = 0;

    while (count && ret == 0) {
        const size_t n = MIN(count, ZEROS);

        ret = qcrypto_block_pwrite(self.block, offset, zeros, n, &error);
        offset += n;
        count -= (uint32_t)n;
    }
    return finish(ret, flags, error);
}

static int plugin_trim(void *handle, uint32_t count, uint64_t offset,
                       uint32_t flags)
{
    const uint64_t sector = qcrypto_block_get_sector_size(self.block);
    const uint64_t from = (offset + sector - 1) / sector * sector;
    const uint64_t to = (offset + count) / sector * sector;
    GError *error = NULL;
    int ret = 0;

    /* a hint may be for less than was asked */
    if (from < to) {
        ret = qcrypto_block_discard(self.block, from, to - from, &error);
    }
    return finish(ret, flags, error);
}

static int plugin_flush(void *handle, uint32_t flags)
{
    GError *error = NULL;
    const int ret = qcrypto_block_flush(self.block, &error);

    return finish(ret, 0, error);
}

static struct nbdkit_plugin plugin = {
    .name = "qcrypto",
    .longname = "LUKS volumes",
    .description = "Serves what is inside a LUKS1 or LUKS2 volume.",
    .unload = plugin_unload,
    .config = plugin_config,
    .config_complete = plugin_config_complete,
    .config_help = CONFIG_HELP,
    .magic_config_key = "file",
    .get_ready = plugin_get_ready,
    .open = plugin_open,
    .get_size = plugin_get_size,
    .block_size = plugin_block_size,
    .can_write = plugin_can_write,
    .can_flush = plugin_can_flush,
    .can_trim = plugin_can_trim,
    .can_zero = plugin_can_zero,
    .can_fast_zero = plugin_can_fast_zero,
    .can_fua = plugin_can_fua,
    .can_multi_conn = plugin_can_multi_conn,
    .pread = plugin_pread,
    .pwrite = plugin_pwrite,
    .zero = plugin_zero,
    .trim = plugin_trim,
    .flush = plugin_flush,
};

/* the macro below defines it */
struct nbdkit_plugin *plugin_init(void);

NBDKIT_REGISTER_PLUGIN(plugin)
