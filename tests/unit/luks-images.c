/*
 * The volumes of tests/data/luks
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "luks-images.h"

#include <glib/gstdio.h>
#include <qcrypto/hash.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/block/luks2.h"
#include "vectors.h"

/* ---- the list ---- */

static const char *const kinds[] = {
    [QCRYPTO_ERROR_INVALID_ARGUMENT] = "invalid-argument",
    [QCRYPTO_ERROR_UNSUPPORTED] = "unsupported",
    [QCRYPTO_ERROR_WRONG_PASSPHRASE] = "wrong-passphrase",
    [QCRYPTO_ERROR_CORRUPT_HEADER] = "corrupt-header",
    [QCRYPTO_ERROR_OUT_OF_MEMORY] = "out-of-memory",
    [QCRYPTO_ERROR_TOO_COSTLY] = "too-costly",
    [QCRYPTO_ERROR_IO] = "io",
};

static int kind_from_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (!g_strcmp0(kinds[i], name)) {
            return (int)i;
        }
    }
    g_assert_cmpstr(name, ==, "open");
    return -1;
}

static char *copy_text(const VectorFile *f, const char *name)
{
    return g_strdup(vector_text(f, name));
}

static uint64_t number(const VectorFile *f, const char *name)
{
    return vector_text(f, name) ? vector_number(f, name) : 0;
}

static LuksVolume read_record(const VectorFile *f)
{
    LuksVolume v = {
        .name = copy_text(f, "name"),
        .set = copy_text(f, "set"),
        .file = copy_text(f, "file"),
        .header = copy_text(f, "header"),
        .packed = copy_text(f, "packed"),
        .header_packed = copy_text(f, "header_packed"),
        .version = (unsigned)vector_number(f, "version"),
        .cipher = copy_text(f, "cipher"),
        .area_cipher = copy_text(f, "area_cipher"),
        .hash = copy_text(f, "hash"),
        .uuid = copy_text(f, "uuid"),
        .label = copy_text(f, "label"),
        .key_len = (size_t)number(f, "key_len"),
        .sector_size = (size_t)number(f, "sector_size"),
        .payload_offset = number(f, "payload_offset"),
        .payload_length = number(f, "payload_length"),
        .volume_key = vector_bytes(f, "volume_key"),
        .payload_sha256 = copy_text(f, "payload_sha256"),
        .expect = kind_from_name(vector_text(f, "expect")),
        .mention = copy_text(f, "mention"),
    };

    for (unsigned i = 0; i < LUKS_SECRETS; i++) {
        g_autofree char *secret = g_strdup_printf("secret%u", i);
        g_autofree char *slot = g_strdup_printf("slot%u", i);
        g_autofree char *kdf = g_strdup_printf("kdf%u", i);

        if (vector_text(f, secret)) {
            v.secrets[v.nsecrets++] = (LuksSecret){
                .bytes = vector_bytes(f, secret),
                .slot = vector_text(f, slot) ? (int)vector_number(f, slot) : -1,
                .kdf = copy_text(f, kdf),
            };
        }
    }
    return v;
}

const LuksVolume *luks_volumes(size_t *n)
{
    static GArray *all;

    if (!all) {
        VectorFile *f = vector_file_open_data("luks/volumes.vec");

        all = g_array_new(FALSE, FALSE, sizeof(LuksVolume));
        while (vector_file_next(f)) {
            const LuksVolume v = read_record(f);

            g_array_append_val(all, v);
        }
        vector_file_close(f);
        g_assert_cmpuint(all->len, >, 100);
    }
    *n = all->len;
    return (const LuksVolume *)(void *)all->data;
}

const LuksVolume *luks_volume(const char *name)
{
    size_t n;
    const LuksVolume *v = luks_volumes(&n);

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(v[i].name, name)) {
            return &v[i];
        }
    }
    g_error("no volume '%s'", name);
}

/* ---- files ---- */

static void run(const char *const *argv)
{
    g_autoptr(GError) err = NULL;
    int status;

    if (!g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_SEARCH_PATH,
                      NULL, NULL, NULL, NULL, &status, &err)) {
        g_error("%s", err->message);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        g_error("%s failed", argv[0]);
    }
}

static void keep(GHashTable *kept, const char *dir, const char *name)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autoptr(GError) err = NULL;
    char *bytes;
    gsize len;

    g_file_get_contents(path, &bytes, &len, &err);
    g_assert_no_error(err);
    g_hash_table_insert(kept, g_strdup(name), g_bytes_new_take(bytes, len));
    g_unlink(path);
}

/* The files of an archive, or the one of a packed file, to kept. */
static void unpack(GHashTable *kept, const char *packed, const char *file)
{
    g_autofree char *path =
        g_build_filename(QCRYPTO_TEST_DATA, "luks", packed, NULL);
    g_autofree char *dir = g_dir_make_tmp("qcrypto-luks-XXXXXX", NULL);
    g_autofree char *out = g_build_filename(dir, file, NULL);
    const char *const xz[] = {"sh", "-c", "xz -dc <\"$0\" >\"$1\"",
                              path, out,  NULL};
    const char *const tar[] = {"tar", "-xJf", path, "-C", dir, NULL};

    run(g_strrstr(packed, ".tar.") ? tar : xz);
    GDir *d = g_dir_open(dir, 0, NULL);
    for (const char *name; d && (name = g_dir_read_name(d));) {
        keep(kept, dir, name);
    }
    g_dir_close(d);
    g_rmdir(dir);
}

static uint8_t *load(const char *packed, const char *file, size_t *len)
{
    static GHashTable *kept; /* file: GBytes */

    if (!kept) {
        kept = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                     (GDestroyNotify)g_bytes_unref);
    }
    if (!g_hash_table_contains(kept, file)) {
        unpack(kept, packed, file);
    }
    GBytes *bytes = g_hash_table_lookup(kept, file);
    g_assert_nonnull(bytes);
    const uint8_t *p = g_bytes_get_data(bytes, len);
    /* an empty file has an address too */
    uint8_t *copy = g_malloc(*len + 1);
    if (*len) {
        memcpy(copy, p, *len);
    }
    return copy;
}

uint8_t *luks_load(const LuksVolume *v, size_t *len)
{
    return load(v->packed, v->file, len);
}

uint8_t *luks_load_header(const LuksVolume *v, size_t *len)
{
    if (!v->header) {
        *len = 0;
        return NULL;
    }
    return load(v->header_packed ? v->header_packed : v->packed, v->header,
                len);
}

int luks_temp_file(const uint8_t *bytes, size_t len)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *path = NULL;
    const int fd = g_file_open_tmp("qcrypto-luks-XXXXXX", &path, &err);

    g_assert_no_error(err);
    g_unlink(path);
    for (size_t done = 0; done < len;) {
        const ssize_t n = write(fd, bytes + done, len - done);

        g_assert_cmpint(n, >, 0);
        done += (size_t)n;
    }
    return fd;
}

/* ---- storage in memory ---- */

typedef struct Memory {
    uint8_t *bytes;
    size_t len;
    uint64_t size;
} Memory;

static int memory_check(const Memory *m, uint64_t offset, size_t len,
                        GError **errp)
{
    return offset > m->size || len > m->size - offset
               ? qcrypto_error(errp, QCRYPTO_ERROR_IO, "past the end")
               : 0;
}

static int memory_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                       uint8_t *buf, size_t len, void *opaque, GError **errp)
{
    const Memory *m = opaque;

    if (memory_check(m, offset, len, errp) < 0) {
        return -1;
    }
    const size_t there =
        offset < m->len ? MIN(len, m->len - (size_t)offset) : 0;
    if (there) {
        memcpy(buf, m->bytes + offset, there);
    }
    memset(buf + there, 0, len - there);
    return 0;
}

static int memory_write(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                        const uint8_t *buf, size_t len, void *opaque,
                        GError **errp)
{
    const Memory *m = opaque;

    if (memory_check(m, offset, len, errp) < 0) {
        return -1;
    }
    g_assert_cmpuint(offset + len, <=, m->len);
    memcpy(m->bytes + offset, buf, len);
    return 0;
}

static int memory_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                       void *opaque, GError **errp G_GNUC_UNUSED)
{
    const Memory *m = opaque;

    *size = m->size;
    return 0;
}

QCryptoBlockIO *luks_memory_io(uint8_t *bytes, size_t len, uint64_t size)
{
    Memory *m = g_new(Memory, 1);
    QCryptoBlockIO *io = g_new0(QCryptoBlockIO, 1);

    *m = (Memory){bytes, len, size};
    io->read = memory_read;
    io->write = memory_write;
    io->get_size = memory_size;
    io->destroy = g_free;
    io->opaque = m;
    return io;
}

/* ---- volumes in memory ---- */

LuksStore luks_store_new(const LuksVolume *v)
{
    LuksStore s = {0};

    s.bytes = luks_load(v, &s.len);
    s.io = luks_memory_io(s.bytes, s.len, s.len);
    s.header_bytes = luks_load_header(v, &s.header_len);
    if (s.header_bytes) {
        s.header = luks_memory_io(s.header_bytes, s.header_len, s.header_len);
    }
    return s;
}

void luks_store_clear(LuksStore *s)
{
    qcrypto_block_io_free(s->io);
    qcrypto_block_io_free(s->header);
    g_free(s->bytes);
    g_free(s->header_bytes);
    *s = (LuksStore){0};
}

QCryptoSecret *luks_secret(const GByteArray *bytes)
{
    g_autoptr(GError) err = NULL;
    QCryptoSecret *s =
        qcrypto_secret_new_from_bytes(bytes->data, bytes->len, &err);

    g_assert_no_error(err);
    return s;
}

QCryptoSecret *luks_secret_text(const char *text)
{
    g_autoptr(GError) err = NULL;
    QCryptoSecret *s = qcrypto_secret_new_from_bytes(text, strlen(text), &err);

    g_assert_no_error(err);
    return s;
}

QCryptoBlock *luks_open_text(LuksStore *s, const char *text, unsigned flags,
                             GError **errp)
{
    g_autoptr(QCryptoSecret) passphrase = luks_secret_text(text);
    const QCryptoBlockOpenOptions o = {
        .passphrase = passphrase,
        .header = s->header,
    };

    return qcrypto_block_open(&o, s->io, flags, errp);
}

/* ---- changed headers ---- */

void luks2_sum(uint8_t *image, size_t offset)
{
    uint8_t *copy = image + offset;
    uint8_t *sum = copy + QCRYPTO_LUKS2_AT_CSUM;
    const uint64_t size = qcrypto_get_be64(copy + QCRYPTO_LUKS2_AT_SIZE);
    size_t n = 32;
    g_autoptr(GError) err = NULL;

    memset(sum, 0, QCRYPTO_LUKS2_CSUM_LEN);
    qcrypto_hash_bytes(QCRYPTO_HASH_ALGO_SHA256, copy, (size_t)size, &sum, &n,
                       &err);
    g_assert_no_error(err);
}

void luks2_replace(uint8_t *image, const char *from, const char *to)
{
    const size_t size = (size_t)qcrypto_get_be64(image + QCRYPTO_LUKS2_AT_SIZE);

    for (size_t at = 0; at <= size; at += size) {
        char *json = (char *)image + at + QCRYPTO_LUKS2_BINARY;
        const char *found = strstr(json, from);

        g_assert_nonnull(found);
        g_autofree char *before = g_strndup(json, (gsize)(found - json));
        g_autofree char *text =
            g_strconcat(before, to, found + strlen(from), NULL);
        g_assert_cmpuint(strlen(text), <, size - QCRYPTO_LUKS2_BINARY);
        memset(json, 0, size - QCRYPTO_LUKS2_BINARY);
        memcpy(json, text, strlen(text));
        luks2_sum(image, at);
    }
}
