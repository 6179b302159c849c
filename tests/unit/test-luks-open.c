/*
 * Opening LUKS volumes: real ones, changed ones and broken ones
 *
 * The list is tests/data/luks/volumes.vec.  What a build lacks (a hash, a
 * cipher, Argon2, JSON) is no reason to skip: such a volume must be refused,
 * by the name of what is missing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config-qcrypto.h"
#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/block/luks2.h"
#include "luks-images.h"
#include "sanitized.h"

/* ---- what this build has ---- */

/* LUKS2 in a build without JSON: nothing further to be seen */
static bool lacks_luks2(const LuksVolume *v)
{
    return v->version == 2 && !QCRYPTO_HAVE_JANSSON;
}

static bool has_hash(const char *name)
{
    const int hash = qcrypto_hash_algo_from_name(name);

    return hash >= 0 && qcrypto_hash_supports((QCryptoHashAlgo)hash) &&
           qcrypto_pbkdf2_supports((QCryptoHashAlgo)hash);
}

static bool has_cipher(const char *text, size_t key_len)
{
    QCryptoCipherSpec spec;
    int alg;

    if (qcrypto_cipher_spec_parse(text, &spec, NULL) < 0 ||
        (alg = qcrypto_cipher_spec_get_alg(&spec, key_len, NULL)) < 0) {
        return false;
    }
    return qcrypto_cipher_supports((QCryptoCipherAlgo)alg, spec.mode);
}

static bool has_kdf(const char *name)
{
    const int alg = qcrypto_argon2_algo_from_name(name);

    return alg < 0 || qcrypto_argon2_supports((QCryptoArgon2Algo)alg);
}

/* What is missing to open the volume through the secret; NULL: nothing. */
static const char *missing(const LuksVolume *v, const LuksSecret *secret)
{
    if (lacks_luks2(v)) {
        return "jansson";
    }
    if (v->cipher && !qcrypto_luks_cipher_is_null(v->cipher) &&
        !has_cipher(v->cipher, v->key_len)) {
        return v->cipher;
    }
    if (!has_kdf(secret->kdf)) {
        return secret->kdf;
    }
    return has_hash(v->hash) ? NULL : v->hash;
}

/* ---- good volumes ---- */

static void check_info(const LuksVolume *v, LuksStore *s)
{
    const QCryptoBlockOpenOptions o = {.header = s->header};
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(
        &o, s->io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_INSPECT,
        &err);

    g_assert_no_error(err);
    g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(b, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(info->version, ==, v->version);
    g_assert_cmpint(info->format, ==,
                    v->version == 1 ? QCRYPTO_BLOCK_FORMAT_LUKS1
                                    : QCRYPTO_BLOCK_FORMAT_LUKS2);
    if (!strcmp(v->set, "image")) {
        g_assert_cmpstr(info->uuid, ==, v->uuid);
        g_assert_cmpstr(info->label, ==, v->label);
        g_assert_cmpuint(info->payload_offset, ==, v->payload_offset);
        g_assert_cmpuint(info->sector_size, ==, v->sector_size);
        g_assert_cmpstr(info->hash, ==, v->hash);
        if (!info->requirements) {
            g_assert_cmpstr(info->cipher, ==, v->cipher);
            g_assert_cmpuint(info->payload_size, ==, v->payload_length);
            g_assert_cmpuint(info->key_len, ==, v->key_len);
        }
    }
    g_assert_cmpint(info->json != NULL, ==, v->version == 2);
    g_assert_cmpuint(info->nslots, >, 0);
    for (size_t i = 0; i < info->nslots; i++) {
        g_assert_cmpuint(info->slots[i].stripes, ==, 4000);
        g_assert_cmpuint(info->slots[i].iterations, >, 0);
    }
}

static void assert_sha256(const uint8_t *bytes, size_t len,
                          const char *expected)
{
    g_autofree char *digest = NULL;
    g_autoptr(GError) err = NULL;

    qcrypto_hash_digest(QCRYPTO_HASH_ALGO_SHA256, bytes, len, &digest, &err);
    g_assert_no_error(err);
    g_assert_cmpstr(digest, ==, expected);
}

/* The payload, which has the right digest. */
static uint8_t *read_payload(const LuksVolume *v, QCryptoBlock *b)
{
    const size_t len = (size_t)qcrypto_block_get_payload_size(b);
    g_autoptr(GError) err = NULL;
    uint8_t *payload = g_malloc(len + 1);

    qcrypto_block_pread(b, 0, payload, len, &err);
    g_assert_no_error(err);
    assert_sha256(payload, len, v->payload_sha256);
    return payload;
}

/* Pieces that keep to no sector are pieces of the whole. */
static void check_pieces(QCryptoBlock *b, const uint8_t *payload)
{
    const size_t size = (size_t)qcrypto_block_get_payload_size(b);
    const size_t lens[] = {1, 511, 512, 513, 1000, 4095, 4097};
    g_autoptr(GError) err = NULL;
    uint8_t piece[4097];

    for (size_t at = 0, i = 0; at < size; at += 701, i++) {
        const size_t n = MIN(lens[i % G_N_ELEMENTS(lens)], size - at);

        qcrypto_block_pread(b, at, piece, n, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(piece, n, payload + at, n);
    }
}

/* Where a byte of the payload lies in the storage */
static size_t in_storage(const QCryptoBlock *b, size_t at)
{
    for (size_t i = 0; i < b->nruns; i++) {
        if (at - b->runs[i].start < b->runs[i].size) {
            return (size_t)(b->runs[i].offset + (at - b->runs[i].start));
        }
    }
    g_assert_not_reached();
}

/* Encrypting gives the bytes that the peer wrote. */
static void check_buffers(QCryptoBlock *b, const LuksStore *s,
                          const uint8_t *payload)
{
    const size_t size = (size_t)qcrypto_block_get_payload_size(b);
    const size_t sector = qcrypto_block_get_sector_size(b);
    g_autofree uint8_t *stored = g_malloc(size + 1);
    g_autofree uint8_t *buf = g_malloc(size + 1);
    g_autoptr(GError) err = NULL;

    for (size_t at = 0; at < size; at += 512) {
        memcpy(stored + at, s->bytes + in_storage(b, at), 512);
    }
    qcrypto_block_encrypt_to(b, 0, payload, buf, size, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(buf, size, stored, size);
    qcrypto_block_decrypt(b, 0, buf, size, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(buf, size, payload, size);
    for (size_t at = 0; at < size; at += sector) {
        memcpy(buf, stored + at, sector);
        qcrypto_block_decrypt(b, at, buf, sector, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(buf, sector, payload + at, sector);
        qcrypto_block_encrypt(b, at, buf, sector, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(buf, sector, stored + at, sector);
    }
}

/* Writes at odd places change what they say and nothing else. */
static void check_writes(QCryptoBlock *b, uint8_t *payload)
{
    const size_t size = (size_t)qcrypto_block_get_payload_size(b);
    const struct {
        size_t at, len;
    } writes[] = {{0, 1}, {100, 700}, {512, 512}, {1000, 3000}, {4095, 2}};
    g_autofree uint8_t *now = g_malloc(size + 1);
    g_autoptr(GError) err = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(writes); i++) {
        const size_t at = writes[i].at;
        const size_t n = at < size ? MIN(writes[i].len, size - at) : 0;

        for (size_t k = 0; k < n; k++) {
            payload[at + k] = (uint8_t)(17 * i + k);
        }
        qcrypto_block_pwrite(b, n ? at : 0, payload + (n ? at : 0), n, &err);
        g_assert_no_error(err);
        qcrypto_block_pread(b, 0, now, size, &err);
        g_assert_no_error(err);
        g_assert_cmpmem(now, size, payload, size);
    }
}

static void check_secret(const LuksVolume *v, const LuksSecret *secret,
                         LuksStore *s, bool data)
{
    g_autoptr(QCryptoSecret) passphrase = luks_secret(secret->bytes);
    g_autoptr(GError) err = NULL;
    QCryptoBlockOpenOptions o = {.passphrase = passphrase, .header = s->header};
    /* the one slot that is only opened when it is named */
    const bool ignored =
        secret->slot == 3 && !strcmp(v->name, "v2-multi-slots");
    const char *lack = missing(v, secret);

    if (ignored && !lack) {
        g_assert_null(qcrypto_block_open(&o, s->io, 0, &err));
        g_assert_cmpint(err->code, !=, QCRYPTO_ERROR_CORRUPT_HEADER);
        g_clear_error(&err);
    }
    o.use_slot = secret->slot >= 0;
    o.slot = o.use_slot ? (unsigned)secret->slot : 0;
    g_autoptr(QCryptoBlock) b =
        qcrypto_block_open(&o, s->io, QCRYPTO_BLOCK_OPEN_KEEP_KEY, &err);
    if (lacks_luks2(v) &&
        !qcrypto_block_has_format(
            QCRYPTO_BLOCK_FORMAT_LUKS2,
            (s->header_bytes ? s->header_bytes : s->bytes), 8)) {
        /* only its copy says that it is LUKS2 at all */
        assert_kind(err, CORRUPT_HEADER);
        return;
    }
    if (lack) {
        assert_kind(err, UNSUPPORTED);
        assert_mentions(err, lack);
        return;
    }
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_block_get_slot(b), ==, o.slot);
    size_t n;
    const uint8_t *key = qcrypto_secret_get(b->volume_key, &n);
    g_assert_cmpmem(key, n, v->volume_key->data, v->volume_key->len);

    g_autofree uint8_t *payload = read_payload(v, b);
    if (!data) {
        return;
    }
    check_pieces(b, payload);
    if (qcrypto_luks_cipher_is_null(b->luks->segments[0].cipher)) {
        qcrypto_block_pwrite(b, 0, payload, 512, &err);
        assert_kind(err, UNSUPPORTED);
        assert_mentions(err, "cipher_null");
        g_clear_error(&err);
        qcrypto_block_encrypt(b, 0, payload, 512, &err);
        assert_kind(err, UNSUPPORTED);
        return;
    }
    check_buffers(b, s, payload);
    check_writes(b, payload);
}

static void check_volume_key(const LuksVolume *v, LuksStore *s)
{
    g_autoptr(QCryptoSecret) key = luks_secret(v->volume_key);
    QCryptoBlockOpenOptions o = {.volume_key = key, .header = s->header};
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, s->io, 0, &err);

    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_block_get_slot(b), ==, -1);
    g_autofree uint8_t *payload = read_payload(v, b);
    g_assert_nonnull(payload);

    /* one bit away, and one byte short */
    g_autofree uint8_t *other =
        g_memdup2(v->volume_key->data, v->volume_key->len);
    other[0] ^= 1;
    for (guint less = 0; less < 2; less++) {
        g_autoptr(QCryptoSecret) wrong = qcrypto_secret_new_from_bytes(
            other, v->volume_key->len - less, &err);

        g_assert_no_error(err);
        o.volume_key = wrong;
        g_assert_null(qcrypto_block_open(&o, s->io, 0, &err));
        assert_kind(err, WRONG_PASSPHRASE);
        g_clear_error(&err);
    }
}

static void check_good(const LuksVolume *v)
{
    g_auto(LuksStore) s = luks_store_new(v);
    g_autoptr(GError) err = NULL;

    for (size_t i = 0; i < v->nsecrets; i++) {
        g_auto(LuksStore) own = luks_store_new(v);

        check_secret(v, &v->secrets[i], &own, i == 0);
    }
    if (lacks_luks2(v)) {
        return;
    }
    check_info(v, &s);
    if (!missing(v, &v->secrets[0])) {
        check_volume_key(v, &s);
        g_assert_null(luks_open_text(&s, "another passphrase", 0, &err));
        assert_kind(err, WRONG_PASSPHRASE);
    }
}

/* ---- broken volumes ---- */

/* An error's kind; 0: it opened, which no kind of these is */
static int open_kind(const LuksVolume *v, LuksStore *s, GError **errp)
{
    g_autoptr(QCryptoSecret) passphrase = luks_secret(v->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {
        .passphrase = passphrase,
        .header = s->header,
    };
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, s->io, 0, &err);
    const int kind = err ? err->code : 0;

    g_assert_true(!b == !!err);
    g_propagate_error(errp, g_steal_pointer(&err));
    return kind;
}

static uint64_t address_space_kib(void)
{
    g_autofree char *status = NULL;
    const char *line;

    g_assert_true(
        g_file_get_contents("/proc/self/status", &status, NULL, NULL));
    line = strstr(status, "VmSize:");
    g_assert_nonnull(line);
    return g_ascii_strtoull(line + 7, NULL, 10);
}

/* 64 MiB more than there is; false where the limit is not kept. */
static bool limit_memory(void)
{
    const rlim_t limit = (address_space_kib() + 65536) * 1024;
    const struct rlimit r = {limit, limit};

    if (sanitized || setrlimit(RLIMIT_AS, &r) < 0) {
        return false;
    }
    return mmap(NULL, 1 << 28, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
}

/* The same outcome with 64 MiB, and soon. */
static void check_frugal(const LuksVolume *v, int kind)
{
    g_auto(LuksStore) s = luks_store_new(v);
    const pid_t child = fork();
    int status;

    g_assert_cmpint(child, >=, 0);
    if (!child) {
        /* a second is what it should take, on a machine that is not busy */
        alarm(60);
        limit_memory();
        _exit(open_kind(v, &s, NULL));
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, kind);
}

static void check_bad(const LuksVolume *v)
{
    g_auto(LuksStore) s = luks_store_new(v);
    g_autoptr(GError) err = NULL;
    const int kind = open_kind(v, &s, &err);
    /* Argon2 is missing before its costs can be */
    const char *lack = missing(v, &v->secrets[0]);

    g_assert_nonnull(err);
    if (lack && v->expect != QCRYPTO_ERROR_CORRUPT_HEADER) {
        assert_kind(err, UNSUPPORTED);
    } else if (lacks_luks2(v)) {
        assert_kind(err, UNSUPPORTED);
        assert_mentions(err, lack);
    } else {
        g_assert_cmpint(kind, ==, v->expect);
        assert_mentions(err, v->mention);
    }
    check_frugal(v, kind);
}

/* A derivation that wants a gigabyte, where there is none (B05) */
static int open_gigabyte(LuksStore *s)
{
    g_autoptr(GError) err = NULL;

    luks2_replace(s->bytes, "\"memory\":32", "\"memory\":1048576");
    if (!limit_memory()) {
        return -1;
    }
    g_autoptr(QCryptoBlock) b =
        luks_open_text(s, "variant passphrase", 0, &err);
    return !b && strstr(err->message,
                        "key slot 0: argon2id needs 1048576 KiB, ")
               ? err->code
               : 0;
}

static void test_gigabyte(void)
{
    if (!QCRYPTO_HAVE_JANSSON || !has_kdf("argon2id")) {
        g_test_skip("this build has no LUKS2 with Argon2");
        return;
    }
    g_auto(LuksStore) s = luks_store_new(luks_volume("v2-base"));
    const pid_t child = fork();
    int status;

    g_assert_cmpint(child, >=, 0);
    if (!child) {
        alarm(60);
        _exit(open_gigabyte(&s) & 0xff);
    }
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0xff) {
        g_test_skip("RLIMIT_AS is not kept here (a sanitizer, an emulator)");
        return;
    }
    g_assert_cmpint(WEXITSTATUS(status), ==, QCRYPTO_ERROR_OUT_OF_MEMORY);
}

static void test_volume(gconstpointer opaque)
{
    const LuksVolume *v = opaque;

    if (v->expect < 0) {
        check_good(v);
    } else {
        check_bad(v);
    }
}

int main(int argc, char **argv)
{
    size_t n;
    const LuksVolume *v = luks_volumes(&n);

    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < n; i++) {
        g_autofree char *path =
            g_strdup_printf("/luks-open/%s/%s", v[i].set, v[i].name);

        g_test_add_data_func(path, &v[i], test_volume);
    }
    g_test_add_func("/luks-open/gigabyte", test_gigabyte);
    return g_test_run();
}
