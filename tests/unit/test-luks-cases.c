/*
 * Opening LUKS volumes: one rule at a time
 *
 * What test-luks-open.c proves with whole volumes is taken apart here: each
 * field of a header that can be wrong, costs, damaged copies, storage that
 * fails, data that crosses borders, and threads.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config-qcrypto.h"
#include "crypto/base/bytes.h"
#include "crypto/base/error.h"
#include "crypto/block/luks2.h"
#include "luks-images.h"

/* A LUKS1 and a LUKS2 volume that every build with JSON opens */
#define LUKS1 "v1-base"
#define LUKS2 "l2-from-luks1"

static LuksStore store(const char *name)
{
    return luks_store_new(luks_volume(name));
}

static bool without_json(void)
{
    if (!QCRYPTO_HAVE_JANSSON) {
        g_test_skip("this build has no JSON library");
        return true;
    }
    return false;
}

static bool without_argon2(void)
{
    if (!qcrypto_argon2_supports(QCRYPTO_ARGON2_ALGO_ARGON2ID) ||
        !qcrypto_argon2_supports(QCRYPTO_ARGON2_ALGO_ARGON2I)) {
        g_test_skip("this build has no Argon2");
        return true;
    }
    return without_json();
}

/* Through the volume's first secret */
static QCryptoBlock *open_store(LuksStore *s, const char *name, unsigned flags,
                                GError **errp)
{
    g_autoptr(QCryptoSecret) secret =
        luks_secret(luks_volume(name)->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {
        .passphrase = secret,
        .header = s->header,
    };

    return qcrypto_block_open(&o, s->io, flags, errp);
}

/* Through its volume key: needs no key slot */
static QCryptoBlock *open_by_key(LuksStore *s, const char *name, GError **errp)
{
    g_autoptr(QCryptoSecret) key = luks_secret(luks_volume(name)->volume_key);
    const QCryptoBlockOpenOptions o = {.volume_key = key, .header = s->header};

    return qcrypto_block_open(&o, s->io, 0, errp);
}

static QCryptoBlock *inspect(LuksStore *s, GError **errp)
{
    const QCryptoBlockOpenOptions o = {.header = s->header};

    return qcrypto_block_open(
        &o, s->io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_INSPECT,
        errp);
}

/* ---- names and arguments ---- */

static void test_formats(void)
{
    static const char *const names[] = {"luks", "luks1", "luks2", "qcow"};
    static const uint8_t one[8] = "LUKS\xba\xbe\0\1",
                         two[8] = "LUKS\xba\xbe\0\2";
    static const uint8_t three[8] = "LUKS\xba\xbe\0\3";

    for (int i = 0; i < QCRYPTO_BLOCK_FORMAT__MAX; i++) {
        g_assert_cmpstr(qcrypto_block_format_name((QCryptoBlockFormat)i), ==,
                        names[i]);
        g_assert_cmpint(qcrypto_block_format_from_name(names[i]), ==, i);
    }
    g_assert_null(qcrypto_block_format_name(QCRYPTO_BLOCK_FORMAT__MAX));
    g_assert_cmpint(qcrypto_block_format_from_name("luks3"), ==, -1);
    g_assert_cmpint(qcrypto_block_format_from_name(NULL), ==, -1);

    g_assert_true(qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, one, 8));
    g_assert_true(qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, two, 8));
    g_assert_true(qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS1, one, 8));
    g_assert_true(qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS2, two, 8));
    g_assert_false(
        qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS1, two, 8));
    g_assert_false(
        qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS2, one, 8));
    g_assert_false(
        qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, three, 8));
    g_assert_false(qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, one, 7));
    g_assert_false(qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_QCOW, one, 8));
    g_assert_false(
        qcrypto_block_has_format(QCRYPTO_BLOCK_FORMAT_LUKS, NULL, 8));
}

static void assert_refused(const QCryptoBlockOpenOptions *o, QCryptoBlockIO *io,
                           unsigned flags, const char *mention)
{
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_block_open(o, io, flags, &err));
    assert_kind(err, INVALID_ARGUMENT);
    assert_mentions(err, mention);
}

static void test_options(void)
{
    g_auto(LuksStore) s = store(LUKS1);
    g_autoptr(QCryptoSecret) secret = luks_secret_text("x");
    QCryptoBlockOpenOptions o = {0};

    assert_refused(NULL, s.io, 0, "options is NULL");
    assert_refused(&o, s.io, 0, "one of them");
    o.passphrase = o.volume_key = secret;
    assert_refused(&o, s.io, 0, "one of them");
    o.volume_key = NULL;
    assert_refused(&o, NULL, 0, "io is NULL");
    assert_refused(&o, s.io, 1u << 9, "0x200");
    assert_refused(&o, s.io, QCRYPTO_BLOCK_OPEN_INSPECT, "inspected");
    o.format = QCRYPTO_BLOCK_FORMAT__MAX;
    assert_refused(&o, s.io, 0, "volume format");
    o.format = QCRYPTO_BLOCK_FORMAT_LUKS;
    o.use_slot = true;
    o.slot = 1;
    assert_refused(&o, s.io, 0, "key slot 1 is not active");
    o.slot = UINT_MAX;
    assert_refused(&o, s.io, 0, "key slot 4294967295 is not active");
}

/* The other version's header is none of this one. */
static void test_versions(void)
{
    g_auto(LuksStore) s = store(LUKS1);
    QCryptoBlockOpenOptions o = {.format = QCRYPTO_BLOCK_FORMAT_LUKS2};
    g_autoptr(GError) err = NULL;

    g_assert_null(
        qcrypto_block_open(&o, s.io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &err));
    g_assert_nonnull(err);
    g_clear_error(&err);
    g_auto(LuksStore) s2 = store(LUKS2);
    o.format = QCRYPTO_BLOCK_FORMAT_LUKS1;
    g_assert_null(
        qcrypto_block_open(&o, s2.io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &err));
    assert_kind(err, CORRUPT_HEADER);
}

/* ---- fields of the LUKS1 header ---- */

static const struct {
    const char *name;
    size_t at;
    uint32_t value;
    const char *mention;
} luks1_fields[] = {
    {"payload-in-slots", 104, 1, "payload offset 512"},
    {"key-long", 108, 513, "key length 513"},
    {"digest-iterations-0", 164, 0, "iterations 0 of the key digest"},
    {"slot-state", 208, 0x00ac71f4, "key slot 0: state 0x00ac71f4"},
    {"slot-iterations-0", 212, 0, "key slot 0: iterations 0"},
    {"slot-area-in-header", 248, 1, "key slot 0: its area, 64000 bytes at 512"},
    {"slot-area-beyond", 248, 0xffffffff, "payload offset"},
    {"slot-stripes-2", 252, 2, "key slot 0: stripes 2 != 4000"},
    {"slot-stripes-5", 252, 5, "key slot 0: stripes 5 != 4000"},
    {"inactive-slot-stripes", 208 + 7 * 48 + 44, 1, "key slot 7: stripes 1"},
    {"inactive-slot-overlap", 208 + 7 * 48 + 40, 9, "overlaps"},
    {"cipher-name-control", 8, 0x61650a73, "the cipher's name has a control"},
    {"cipher-name-empty", 8, 0, "the cipher's name is empty"},
    {"mode-empty", 40, 0, "the cipher's mode is empty"},
    {"hash-empty", 72, 0, "the hash's name is empty"},
    {"uuid-not-utf8", 168, 0xff414141, "the UUID is not UTF-8"},
};

static void test_luks1_fields(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(luks1_fields); i++) {
        g_auto(LuksStore) s = store(LUKS1);
        g_autoptr(GError) err = NULL;

        g_test_message("%s", luks1_fields[i].name);
        qcrypto_put_be32(s.bytes + luks1_fields[i].at, luks1_fields[i].value);
        g_assert_null(open_store(&s, LUKS1, 0, &err));
        assert_kind(err, CORRUPT_HEADER);
        assert_mentions(err, luks1_fields[i].mention);
        /* nor with INSPECT: nothing of it can be relied on */
        g_clear_error(&err);
        g_assert_null(inspect(&s, &err));
        assert_kind(err, CORRUPT_HEADER);
    }
}

static void test_luks1_unterminated(void)
{
    static const struct {
        size_t at, len;
        const char *mention;
    } texts[] = {{8, 32, "the cipher's name"},
                 {40, 32, "the cipher's mode"},
                 {72, 32, "the hash's name"},
                 {168, 40, "the UUID"}};

    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_auto(LuksStore) s = store(LUKS1);
        g_autoptr(GError) err = NULL;

        memset(s.bytes + texts[i].at, 'a', texts[i].len);
        g_assert_null(open_store(&s, LUKS1, 0, &err));
        assert_kind(err, CORRUPT_HEADER);
        assert_mentions(err, texts[i].mention);
        assert_mentions(err, "does not end");
    }
}

/* ---- fields of the LUKS2 metadata ---- */

#define AREA                                                                   \
    "\"area\":{\"type\":\"raw\",\"encryption\":\"aes-cbc-plain64\","           \
    "\"key_size\":16,\"offset\":\"32768\",\"size\":\"65536\"}"

static const struct {
    const char *from, *to, *mention;
} luks2_fields[] = {
    /* key slots */
    {AREA, "\"area\":\"raw\"", "\"area\" is a string, not an object"},
    {AREA, "\"aria\":{}", "no member \"area\""},
    {"\"offset\":\"32768\",\"size\":\"65536\"",
     "\"offset\":\"18446744073709547520\",\"size\":\"8192\"", "key slot 0"},
    {"\"offset\":\"32768\",\"size\":\"65536\"",
     "\"offset\":\"18446744073709547520\",\"size\":\"65536\"",
     "key slot 0: its area, 65536 bytes at 18446744073709547520"},
    {"\"offset\":\"32768\",\"size\":\"65536\"",
     "\"offset\":\"32768\",\"size\":\"18446744073709518848\"",
     "key slot 0: its area, 18446744073709518848 bytes"},
    {"\"size\":\"65536\"", "\"size\":\"63999\"", "needs 64000"},
    {"\"offset\":\"32768\"", "\"offset\":\"32767\"", "key slot 0: its area"},
    {"\"offset\":\"32768\"", "\"offset\":\"-1\"", "no decimal number"},
    {"\"offset\":\"32768\"", "\"offset\":\" 32768\"", "no decimal number"},
    {"\"offset\":\"32768\"", "\"offset\":\"0x8000\"", "no decimal number"},
    {"\"offset\":\"32768\"", "\"offset\":\"\"", "no decimal number"},
    {"\"key_size\":16,\"kdf\"", "\"key_size\":-16,\"kdf\"",
     "\"key_size\" is -16"},
    {"\"key_size\":16,\"kdf\"", "\"key_size\":16.0,\"kdf\"", "is a real"},
    {"\"key_size\":16,\"kdf\"", "\"key_size\":513,\"kdf\"",
     "\"key_size\" is 513"},
    {"\"key_size\":16,\"kdf\"", "\"key_size\":99999999999999999999,\"kdf\"",
     "JSON"},
    {"\"key_size\":16,\"offset\"", "\"key_size\":0,\"offset\"",
     "\"key_size\" is 0"},
    {"\"type\":\"raw\"", "\"type\":\"rare\"", "the area's type is 'rare'"},
    {"\"keyslots\":{\"0\":", "\"keyslots\":{\"32\":", "not numbered 0 to 31"},
    {"\"keyslots\":{\"0\":", "\"keyslots\":{\"00\":", "not numbered 0 to 31"},
    {"\"keyslots\":{\"0\":", "\"keyslots\":{\"x\":", "not numbered 0 to 31"},
    {"\"keyslots\":{", "\"keyslots\":{\"1\":7,", "key slot 1 is an integer"},
    {"\"keyslots\":{\"0\":", "\"keyslots\":{\"1\":",
     "names one that is not there"},
    {"\"stripes\":4000", "\"stripes\":4001", "stripes 4001 != 4000"},
    {"\"stripes\":4000", "\"stripes\":null", "\"stripes\" is null"},
    {"\"type\":\"luks1\"", "\"type\":\"luks9\"", "splitter's type"},
    {"\"hash\":\"sha256\",\"iterations\":1000", "\"hash\":\"sha256\"",
     "no member \"iterations\""},
    {"\"iterations\":1000,\"salt\"", "\"iterations\":0,\"salt\"",
     "\"iterations\" is 0"},
    {"\"iterations\":1000,\"salt\"", "\"iterations\":4294967296,\"salt\"",
     "\"iterations\" is 4294967296"},
    {"\"salt\":\"lTlwNb3b", "\"salt\":\"*TlwNb3b", "base64"},
    {"\"salt\":\"lTlwNb3b", "\"salt\":\"TlwNb3b", "base64"},
    {"\"salt\":\"lTlwNb3bv/nch2W14mb+XhNyRa8RUJXppJ7RAUu/aew=\"",
     "\"salt\":\"\"", "\"salt\" has 0 bytes"},
    {"\"key_size\":16,\"kdf\"", "\"key_size\":16,\"priority\":3,\"kdf\"",
     "\"priority\" is 3"},
    {"\"key_size\":16,\"kdf\"", "\"key_size\":16,\"priority\":\"1\",\"kdf\"",
     "\"priority\" is a string"},
    {"\"encryption\":\"aes-cbc-plain64\",\"key_size\"",
     "\"encryption\":\"\",\"key_size\"", "\"encryption\" has 0 bytes"},
    {"\"encryption\":\"aes-cbc-plain64\",\"key_size\"",
     "\"encryption\":\"a\\nb\",\"key_size\"", "does not print"},
    {"\"encryption\":\"aes-cbc-plain64\",\"key_size\"",
     "\"encryption\":\"a\\u0000b\",\"key_size\"", "JSON"},
    {"\"encryption\":\"aes-cbc-plain64\",\"key_size\"",
     "\"encryption\":\"0123456789012345678901234567890123456789012345678901234"
     "567890123\",\"key_size\"",
     "\"encryption\" has 64 bytes"},
    /* tokens */
    {"\"tokens\":{}", "\"tokens\":[]", "\"tokens\" is an array"},
    {"\"tokens\":{}",
     "\"tokens\":{\"0\":{\"type\":\"x\",\"keyslots\":[\"1\"]}}",
     "token 0: \"keyslots\" names one that is not there"},
    {"\"tokens\":{}", "\"tokens\":{\"0\":{\"type\":\"x\",\"keyslots\":[0]}}",
     "token 0"},
    {"\"tokens\":{}", "\"tokens\":{\"0\":{\"keyslots\":[]}}",
     "token 0: no member"},
    {"\"tokens\":{}", "\"tokens\":{\"32\":{}}", "not numbered 0 to 31"},
    /* segments */
    {"\"segments\":{\"0\":", "\"segments\":{\"1\":", "segment 0 is missing"},
    {"\"offset\":\"1048576\"", "\"offset\":\"1048577\"", "segment 0"},
    {"\"offset\":\"1048576\"", "\"offset\":\"1048064\"",
     "segment 0: offset 1048064 lies before the end of the header"},
    {"\"size\":\"dynamic\"", "\"size\":\"dynamics\"", "segment 0: \"size\""},
    {"\"size\":\"dynamic\"", "\"size\":\"0\"", "segment 0: size 0"},
    {"\"size\":\"dynamic\"", "\"size\":\"1000\"", "segment 0: size 1000"},
    {"\"size\":\"dynamic\"", "\"size\":\"18446744073709551104\"",
     "no storage has 18446744073709551104 bytes"},
    {"\"size\":\"dynamic\"", "\"size\":4096", "\"size\" is an integer"},
    {"\"iv_tweak\":\"0\"", "\"iv_tweak\":0", "\"iv_tweak\" is an integer"},
    {"\"sector_size\":512", "\"sector_size\":8192", "\"sector_size\" is 8192"},
    {"\"sector_size\":512", "\"sector_size\":1536", "\"sector_size\" is 1536"},
    {"\"sector_size\":512", "\"sector_size\":512,\"flags\":[1]",
     "\"flags\" has"},
    {"\"sector_size\":512", "\"sector_size\":512,\"integrity\":\"aead\"",
     "\"integrity\" is a string"},
    {"\"sector_size\":512}",
     "\"sector_size\":512},\"1\":{\"type\":\"linear\",\"offset\":\"1048576\","
     "\"size\":\"512\"}",
     "segment 0: a dynamic size, and is not the last"},
    {"\"size\":\"dynamic\",\"encryption\":\"aes-cbc-plain64\",\"sector_size\":"
     "512}",
     "\"size\":\"1024\",\"encryption\":\"aes-cbc-plain64\",\"sector_size\":512}"
     ","
     "\"1\":{\"type\":\"linear\",\"offset\":\"1049088\",\"size\":\"512\"}",
     "segment 1 overlaps segment 0"},
    /* digests */
    {"\"segments\":[\"0\"]", "\"segments\":[\"1\"]",
     "names one that is not there"},
    {"\"segments\":[\"0\"]", "\"segments\":[]", "segment 0: no digest"},
    {"\"segments\":[\"0\"]", "\"segments\":\"0\"", "\"segments\" is a string"},
    {"\"digest\":\"HqD7IvKeozdJAj9NVle4tBxWx18=\"",
     "\"digest\":\"HqD7IvKeozc=\"", "\"digest\" has 8 bytes"},
    {"\"iterations\":1000}}", "\"iterations\":0}}", "digest 0: \"iterations\""},
    /* config */
    {"\"json_size\":\"12288\"", "\"json_size\":\"12289\"", "json_size 12289"},
    {"\"keyslots_size\":\"1015808\"", "\"keyslots_size\":\"1015809\"",
     "keyslots_size"},
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"18446744073709547520\"", "keyslots_size"},
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"1015808\",\"flags\":{\"a\":1}",
     "\"flags\" is an object"},
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"1015808\",\"requirements\":[]",
     "\"requirements\" is an array"},
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"1015808\",\"requirements\":{\"mandatory\":[[]]}",
     "\"mandatory\" has an array"},
    /* the text */
    {"}}", "}}}", "JSON"},
    {"{\"keyslots\"", " {\"keyslots\"", "JSON: not an object"},
    {"{\"keyslots\"", "{\"config\":1,\"keyslots\"", "duplicate"},
};

static void test_luks2_fields(void)
{
    if (without_json()) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(luks2_fields); i++) {
        g_auto(LuksStore) s = store(LUKS2);
        g_autoptr(GError) err = NULL;

        g_test_message("%s", luks2_fields[i].to);
        luks2_replace(s.bytes, luks2_fields[i].from, luks2_fields[i].to);
        g_assert_null(inspect(&s, &err));
        assert_kind(err, CORRUPT_HEADER);
        assert_mentions(err, luks2_fields[i].mention);
    }
}

/* Headers that are in order and can not be opened; the info says why. */
static const struct {
    const char *from, *to, *mention;
} luks2_problems[] = {
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"1015808\",\"requirements\":{\"mandatory\":"
     "[\"online-reencrypt-v2\"]}",
     "re-encrypted (requirement 'online-reencrypt-v2')"},
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"1015808\",\"requirements\":{\"mandatory\":"
     "[\"offline-reencrypt\"]}",
     "re-encrypted (requirement 'offline-reencrypt')"},
    {"\"keyslots_size\":\"1015808\"",
     "\"keyslots_size\":\"1015808\",\"requirements\":{\"mandatory\":"
     "[\"new\\n\"]}",
     "requirement 'new\\n' is not known"},
    {"\"type\":\"crypt\"", "\"type\":\"hw-opal\"", "'hw-opal'"},
    {"\"sector_size\":512",
     "\"sector_size\":512,\"integrity\":{\"type\":\"hmac(sha256)\"}",
     "integrity protection (hmac(sha256))"},
    {"\"sector_size\":512",
     "\"sector_size\":512,\"flags\":[\"in-reencryption\"]",
     "segment 0 is being re-encrypted"},
    {"\"sector_size\":512}",
     "\"sector_size\":512},\"1\":{\"type\":\"linear\",\"offset\":\"0\","
     "\"size\":"
     "\"dynamic\",\"flags\":[\"backup-previous\"]}",
     "backup segments"},
    {"\"offset\":\"1048576\"", "\"offset\":\"0\"", "detached header"},
    {"\"0\":{\"type\":\"pbkdf2\",\"keyslots\"",
     "\"0\":{\"type\":\"hkdf\",\"keyslots\"", "'hkdf'"},
    {"\"type\":\"crypt\"", "\"type\":\"linear\"",
     "without an encrypted segment"},
    {"\"encryption\":\"aes-cbc-plain64\",\"sector_size\"",
     "\"encryption\":\"capi:xts(aes)-plain64\",\"sector_size\"",
     "capi:xts(aes)-plain64 is not supported"},
    {"\"encryption\":\"aes-cbc-plain64\",\"sector_size\"",
     "\"encryption\":\"aes-cbc-null\",\"sector_size\"",
     "unknown IV generator 'null'"},
    {"\"encryption\":\"aes-cbc-plain64\",\"sector_size\"",
     "\"encryption\":\"aes-cbc-essiv:sha512\",\"sector_size\"",
     "essiv:sha512 gives aes a key of 64 bytes"},
    {"\"encryption\":\"aes-cbc-plain64\",\"sector_size\"",
     "\"encryption\":\"aes-xts-plain64\",\"sector_size\"", "not 16"},
    {"\"encryption\":\"aes-cbc-plain64\",\"key_size\"",
     "\"encryption\":\"cipher_null-ecb\",\"key_size\"",
     "key slot 0: cipher_null-ecb is not supported"},
    {"\"type\":\"pbkdf2\",\"hash\":\"sha256\",\"iterations\"",
     "\"type\":\"pbkdf2\",\"hash\":\"sha9\",\"iterations\"", "hash 'sha9'"},
    {"\"af\":{\"type\":\"luks1\",\"hash\":\"sha256\"",
     "\"af\":{\"type\":\"luks1\",\"hash\":\"sha9\"", "hash 'sha9'"},
};

static void test_luks2_problems(void)
{
    if (without_json()) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(luks2_problems); i++) {
        g_auto(LuksStore) s = store(LUKS2);
        g_autoptr(GError) err = NULL;

        g_test_message("%s", luks2_problems[i].to);
        luks2_replace(s.bytes, luks2_problems[i].from, luks2_problems[i].to);
        g_assert_null(open_store(&s, LUKS2, 0, &err));
        assert_mentions(err, luks2_problems[i].mention);
        g_assert_cmpint(err->code, !=, QCRYPTO_ERROR_WRONG_PASSPHRASE);
        g_clear_error(&err);

        g_autoptr(QCryptoBlock) b = inspect(&s, &err);
        g_assert_no_error(err);
        g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(b, &err);
        g_assert_no_error(err);
        g_assert_nonnull(info->uuid);
        /* what only the key tells (essiv) is not known yet */
        if (!strstr(luks2_problems[i].to, "essiv")) {
            g_assert_nonnull(info->problem);
            g_assert_nonnull(strstr(info->problem, luks2_problems[i].mention));
        }
    }
}

/* What dm-crypt opens, this opens (B34). */
static void test_idle_parts(void)
{
    static const char *const specs[] = {"aes-cbc-plain64:sha256",
                                        "aes-cbc-plain64:"};

    if (without_json()) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
        g_auto(LuksStore) s = store(LUKS2);
        g_autoptr(GError) err = NULL;
        g_autofree char *to =
            g_strdup_printf("\"encryption\":\"%s\",\"sector_size\"", specs[i]);

        luks2_replace(s.bytes,
                      "\"encryption\":\"aes-cbc-plain64\",\"sector_size\"", to);
        g_autoptr(QCryptoBlock) b = open_store(&s, LUKS2, 0, &err);
        g_assert_no_error(err);
        g_assert_nonnull(b);
    }
}

/* JSON that would cost much to hold is refused before it is parsed. */
static void test_json_bombs(void)
{
    static const char *const units[] = {"[],", "{},", "0,", "\"\","};

    if (without_json()) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        const size_t size = QCRYPTO_LUKS2_MAX_SIZE - QCRYPTO_LUKS2_BINARY;
        g_autofree char *area = g_malloc0(size);
        g_autoptr(GError) err = NULL;
        size_t at = (size_t)g_snprintf(area, size, "{\"tokens\":[");

        while (at + 16 < size) {
            at += g_strlcpy(area + at, units[i], size - at);
        }
        g_strlcpy(area + at, "0]}", size - at);
        g_assert_null(qcrypto_luks2_load(area, size, &err));
        assert_kind(err, CORRUPT_HEADER);
        assert_mentions(err, "more than 20000 values");
    }
}

/* ---- damaged copies ---- */

static char *problem_of(LuksStore *s, bool secondary)
{
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = inspect(s, &err);

    g_assert_no_error(err);
    g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(b, &err);
    g_assert_no_error(err);
    g_assert_null(info->problem);
    return g_strdup(secondary ? info->secondary_problem
                              : info->primary_problem);
}

static void test_copies(void)
{
    static const struct {
        size_t at;
        uint64_t value;
        const char *mention;
    } damages[] = {
        {QCRYPTO_LUKS2_AT_SIZE, UINT64_C(1) << 40, "hdr_size 1099511627776"},
        {QCRYPTO_LUKS2_AT_SIZE, 16385, "hdr_size 16385"},
        {QCRYPTO_LUKS2_AT_SIZE, 0, "hdr_size 0"},
        {QCRYPTO_LUKS2_AT_SIZE, 4 << 20, "hdr_size 4194304"},
        {QCRYPTO_LUKS2_AT_OFFSET, 4096, "hdr_offset 4096"},
        {QCRYPTO_LUKS2_AT_SEQID, 77, "checksum"},
        {QCRYPTO_LUKS2_AT_CSUM, 77, "checksum"},
        {QCRYPTO_LUKS2_AT_CSUM_ALG, 0x6d64390000000000, "hash 'md9'"},
        {4096, 0, "checksum"},
        {0, 0, "no magic"},
    };

    if (without_json()) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(damages); i++) {
        g_auto(LuksStore) s = store(LUKS2);
        g_autoptr(GError) err = NULL;

        g_test_message("%s", damages[i].mention);
        qcrypto_put_be64(s.bytes + damages[i].at, damages[i].value);
        g_autofree char *primary = problem_of(&s, false);
        g_assert_nonnull(primary);
        g_assert_nonnull(strstr(primary, damages[i].mention));
        g_autoptr(QCryptoBlock) b = open_store(&s, LUKS2, 0, &err);
        g_assert_no_error(err);
        g_assert_nonnull(b);

        /* the other one too */
        qcrypto_put_be64(s.bytes + 16384 + damages[i].at, damages[i].value);
        g_assert_null(open_store(&s, LUKS2, 0, &err));
        g_assert_cmpint(err->code, ==,
                        strstr(damages[i].mention, "md9")
                            ? QCRYPTO_ERROR_UNSUPPORTED
                            : QCRYPTO_ERROR_CORRUPT_HEADER);
    }
}

static void test_newer_copy(void)
{
    if (without_json()) {
        return;
    }
    g_auto(LuksStore) s = store("v2-older-secondary");
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = inspect(&s, &err);
    g_assert_no_error(err);
    g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(b, &err);
    g_assert_cmpstr(info->label, ==, "newer");
    g_assert_null(info->primary_problem);
    g_assert_nonnull(strstr(info->secondary_problem, "it is older"));

    /* the same the other way round: the secondary one is the newer */
    uint8_t *seqid = s.bytes + 16384 + QCRYPTO_LUKS2_AT_SEQID;
    qcrypto_put_be64(seqid, info->seqid + 1);
    luks2_sum(s.bytes, 16384);
    g_autoptr(QCryptoBlock) b2 = inspect(&s, &err);
    g_assert_no_error(err);
    g_autoptr(QCryptoBlockInfo) info2 = qcrypto_block_get_info(b2, &err);
    g_assert_cmpstr(info2->label, ==, NULL);
    g_assert_cmpuint(info2->seqid, ==, info->seqid + 1);
    g_assert_nonnull(strstr(info2->primary_problem, "it is older"));
}

static void test_repair(void)
{
    static const char *const names[] = {
        "v2-primary-csum-bad", "v2-secondary-csum-bad",
        "v2-secondary-only",   "v2-primary-only",
        "v2-older-secondary",  "v2-metadata-64k-secondary-only"};

    if (without_json()) {
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_auto(LuksStore) s = store(names[i]);
        const QCryptoBlockOpenOptions o = {0};
        const unsigned flags =
            QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_REPAIR;
        g_autoptr(GError) err = NULL;

        /* not without being asked, and not on read-only storage */
        g_autofree uint8_t *before = g_malloc(s.len);
        memcpy(before, s.bytes, s.len);
        g_autoptr(QCryptoBlock) b = inspect(&s, &err);
        g_assert_no_error(err);
        g_assert_nonnull(b);
        QCryptoBlockWriteFunc *write = s.io->write;
        s.io->write = NULL;
        g_assert_null(qcrypto_block_open(&o, s.io, flags, &err));
        assert_kind(err, INVALID_ARGUMENT);
        g_clear_error(&err);
        g_assert_cmpmem(s.bytes, s.len, before, s.len);

        s.io->write = write;
        g_autoptr(QCryptoBlock) b2 = qcrypto_block_open(&o, s.io, flags, &err);
        g_assert_no_error(err);
        g_assert_nonnull(b2);
        g_autofree char *primary = problem_of(&s, false);
        g_autofree char *secondary = problem_of(&s, true);
        g_assert_null(primary);
        g_assert_null(secondary);
        /* a repaired header needs none */
        memcpy(before, s.bytes, s.len);
        g_autoptr(QCryptoBlock) b3 = qcrypto_block_open(&o, s.io, flags, &err);
        g_assert_no_error(err);
        g_assert_nonnull(b3);
        g_assert_cmpmem(s.bytes, s.len, before, s.len);
    }
}

/* ---- slots and costs ---- */

/* Slots that can not be tried do not hide others, nor a wrong passphrase. */
static void test_costly_slot(void)
{
    g_auto(LuksStore) s = store("v1-slots-0-2-7");
    g_autoptr(GError) err = NULL;

    qcrypto_put_be32(s.bytes + 212, 0xffffffff);
    g_autoptr(QCryptoBlock) b = luks_open_text(&s, "slot 2 secret", 0, &err);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_block_get_slot(b), ==, 2);
    g_autoptr(QCryptoBlock) b7 = luks_open_text(&s, "slot 7 secret", 0, &err);
    g_assert_no_error(err);
    g_assert_cmpint(qcrypto_block_get_slot(b7), ==, 7);
    g_assert_null(luks_open_text(&s, "nobody's secret", 0, &err));
    assert_kind(err, TOO_COSTLY);
    assert_mentions(err, "key slot 0: PBKDF2 with sha256");
    assert_mentions(err, "the limit is 60.0 s");
}

/* Prices add up: the limit is for all slots together. */
static void test_costs_together(void)
{
    g_auto(LuksStore) s = store("v1-slots-0-2-7");
    g_autoptr(QCryptoSecret) wrong = luks_secret_text("nobody's secret");
    QCryptoBlockOpenOptions o = {.passphrase = wrong, .max_unlock_time_ms = 1};
    g_autoptr(GError) err = NULL;

    /* 3 million at once in a millisecond: no machine does that */
    qcrypto_put_be32(s.bytes + 212, 3000000);
    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    assert_kind(err, TOO_COSTLY);
    assert_mentions(err, "3000000 iterations");
    g_clear_error(&err);

    /* a limit that leaves room */
    qcrypto_put_be32(s.bytes + 212, 1000);
    o.max_unlock_time_ms = 3600 * 1000;
    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    assert_kind(err, WRONG_PASSPHRASE);
    g_clear_error(&err);
    o.max_unlock_time_ms = UINT64_MAX;
    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    assert_kind(err, WRONG_PASSPHRASE);
}

static void test_memory_limit(void)
{
    if (without_argon2()) {
        return;
    }
    g_auto(LuksStore) s = store("v2-base");
    g_autoptr(QCryptoSecret) secret =
        luks_secret(luks_volume("v2-base")->secrets[0].bytes);
    QCryptoBlockOpenOptions o = {.passphrase = secret,
                                 .max_unlock_memory_kib = 31};
    g_autoptr(GError) err = NULL;

    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    assert_kind(err, TOO_COSTLY);
    assert_mentions(err, "key slot 0: argon2id needs 32 KiB, the limit is 31");
    g_clear_error(&err);
    o.max_unlock_memory_kib = 32;
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, s.io, 0, &err);
    g_assert_no_error(err);
    g_assert_nonnull(b);

    luks2_replace(s.bytes, "\"time\":4", "\"time\":4294967295");
    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    assert_kind(err, TOO_COSTLY);
    assert_mentions(err,
                    "key slot 0: argon2id with 32 KiB and 4294967295 passes");
}

/* However many lanes a header has, a sample of its costs is small. */
static void test_lanes(void)
{
    if (without_argon2()) {
        return;
    }
    g_auto(LuksStore) s = store("v2-base");
    g_autoptr(QCryptoSecret) secret =
        luks_secret(luks_volume("v2-base")->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {.passphrase = secret};
    g_autoptr(GError) err = NULL;
    struct rusage before, after;

    luks2_replace(s.bytes, "\"cpus\":1", "\"cpus\":40000");
    luks2_replace(s.bytes, "\"memory\":32", "\"memory\":320000");
    luks2_replace(s.bytes, "\"time\":4", "\"time\":4294967295");
    getrusage(RUSAGE_SELF, &before);
    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    getrusage(RUSAGE_SELF, &after);
    if (!g_error_matches(err, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY)) {
        assert_kind(err, TOO_COSTLY);
    }
    g_assert_cmpint(after.ru_maxrss - before.ru_maxrss, <, 100 * 1024);
}

/* Priorities decide who is tried, and in which order; 0: nobody unasked. */
static void test_priorities(void)
{
    if (without_argon2()) {
        return;
    }
    g_auto(LuksStore) s = store("v2-multi-slots");
    g_autoptr(GError) err = NULL;

    g_assert_null(luks_open_text(&s, "second secret", 0, &err));
    assert_kind(err, WRONG_PASSPHRASE);
    g_clear_error(&err);
    /* slot 5 is preferred: its feature that is missing is told first */
    luks2_replace(s.bytes, "\"hash\":\"sha512\",\"iterations\"",
                  "\"hash\":\"sha9\",\"iterations\"");
    luks2_replace(s.bytes, "\"type\":\"argon2id\"", "\"type\":\"argon9\"");
    g_assert_null(luks_open_text(&s, "nobody's secret", 0, &err));
    assert_kind(err, UNSUPPORTED);
    assert_mentions(err, "key slot 5: hash 'sha9'");
    g_clear_error(&err);
    g_autoptr(QCryptoSecret) secret = luks_secret_text("second secret");
    const QCryptoBlockOpenOptions o = {
        .passphrase = secret,
        .use_slot = true,
        .slot = 3,
    };
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, s.io, 0, &err);
    g_assert_no_error(err);
    g_assert_nonnull(b);
}

static void test_unbound(void)
{
    if (without_argon2()) {
        return;
    }
    g_auto(LuksStore) s = store("v2-unbound-slot");
    g_autoptr(QCryptoSecret) secret = luks_secret_text("unbound secret");
    QCryptoBlockOpenOptions o = {.passphrase = secret};
    g_autoptr(GError) err = NULL;
    uint8_t key[QCRYPTO_LUKS_KEY_MAX];

    g_assert_null(qcrypto_block_open(&o, s.io, 0, &err));
    assert_kind(err, WRONG_PASSPHRASE);
    g_clear_error(&err);
    o.use_slot = true;
    o.slot = 1;
    assert_refused(&o, s.io, 0, "key slot 1 is unbound");

    /* its key is there all the same */
    g_autoptr(QCryptoBlock) b = inspect(&s, &err);
    g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(b, &err);
    g_assert_cmpuint(info->nslots, ==, 2);
    g_assert_false(info->slots[0].unbound);
    g_assert_true(info->slots[1].unbound);
    g_assert_cmpuint(info->slots[1].key_len, ==, 32);
    qcrypto_luks_slot_unlock(b->luks, s.io, 1,
                             (const uint8_t *)"unbound secret", 14, key, &err);
    g_assert_no_error(err);
}

/* A slot of an unknown type is not tried, and its place is taken. */
static void test_foreign_slot(void)
{
    if (without_json()) {
        return;
    }
    g_auto(LuksStore) s = store(LUKS2);
    g_autoptr(GError) err = NULL;

    luks2_replace(s.bytes, "{\"keyslots\":{",
                  "{\"keyslots\":{\"4\":{\"type\":\"future\",\"key_size\":1,"
                  "\"area\":{\"type\":\"odd\",\"offset\":\"98304\",\"size\":"
                  "\"4096\"}},");
    g_autoptr(QCryptoBlock) b = open_store(&s, LUKS2, 0, &err);
    g_assert_no_error(err);
    g_assert_true(b->luks->slots[4].foreign);
    g_assert_false(b->luks->slots[4].active);
    g_assert_cmpuint(b->luks->slots[4].area_size, ==, 4096);
    /* over slot 0 */
    luks2_replace(s.bytes, "\"98304\"", "\"36864\"");
    g_assert_null(open_store(&s, LUKS2, 0, &err));
    assert_kind(err, CORRUPT_HEADER);
    assert_mentions(err, "key slot 4: its area, 4096 bytes at 36864, overlaps");
}

/* ---- storage ---- */

static void test_fd(void)
{
    static const uint8_t bytes[3000] = {1, 2, 3};
    const int fd = luks_temp_file(bytes, sizeof(bytes));
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlockIO) io = qcrypto_block_io_new_fd(fd, 1000, 0, &err);
    g_assert_no_error(err);
    uint8_t buf[3000];
    uint64_t size;
    struct stat st;

    io->get_size(NULL, &size, io->opaque, &err);
    g_assert_cmpuint(size, ==, 2000);
    g_assert_cmpint(io->read(NULL, 0, buf, 2000, io->opaque, &err), ==, 0);
    g_assert_cmpint(io->read(NULL, 1, buf, 2000, io->opaque, &err), ==, -1);
    assert_kind(err, IO);
    assert_mentions(err, "cannot read 2000 bytes at 1: the storage has 2000");
    g_clear_error(&err);
    g_assert_cmpint(io->read(NULL, UINT64_MAX, buf, 2000, io->opaque, &err), ==,
                    -1);
    assert_kind(err, IO);
    g_clear_error(&err);
    g_assert_cmpint(io->read(NULL, INT64_MAX - 1000, buf, 1, io->opaque, &err),
                    ==, -1);
    assert_kind(err, IO);
    g_clear_error(&err);

    /* a slice has borders on both sides */
    g_autoptr(QCryptoBlockIO) part =
        qcrypto_block_io_new_slice(io, 500, 600, &err);
    part->get_size(NULL, &size, part->opaque, &err);
    g_assert_cmpuint(size, ==, 600);
    memset(buf, 7, sizeof(buf));
    g_assert_cmpint(part->write(NULL, 0, buf, 600, part->opaque, &err), ==, 0);
    g_assert_cmpint(part->write(NULL, 0, buf, 601, part->opaque, &err), ==, -1);
    assert_kind(err, IO);
    g_clear_error(&err);
    g_assert_cmpint(pread(fd, buf, 3000, 0), ==, 3000);
    for (size_t i = 0; i < 3000; i++) {
        g_assert_cmpuint(buf[i], ==, i >= 1500 && i < 2100 ? 7 : bytes[i]);
    }
    /* a part of what is not there */
    g_autoptr(QCryptoBlockIO) beyond =
        qcrypto_block_io_new_slice(io, 5000, 0, &err);
    g_assert_cmpint(beyond->get_size(NULL, &size, beyond->opaque, &err), ==, 0);
    g_assert_cmpuint(size, ==, 0);
    g_assert_null(qcrypto_block_io_new_slice(io, INT64_MAX, 1, &err));
    assert_kind(err, INVALID_ARGUMENT);
    g_clear_error(&err);

    /* room is made, never taken away */
    g_assert_cmpint(part->init(NULL, 100, part->opaque, &err), ==, 0);
    g_assert_cmpint(fstat(fd, &st), ==, 0);
    g_assert_cmpint(st.st_size, ==, 3000);
    g_assert_cmpint(part->init(NULL, 601, part->opaque, &err), ==, -1);
    assert_kind(err, IO);
    g_clear_error(&err);
    g_assert_cmpint(io->init(NULL, 1 << 20, io->opaque, &err), ==, 0);
    g_assert_cmpint(fstat(fd, &st), ==, 0);
    g_assert_cmpint(st.st_size, ==, 1000 + (1 << 20));
    g_assert_cmpint(io->flush(NULL, io->opaque, &err), ==, 0);

    /* a hole where the storage can; nothing else changes anywhere */
    g_assert_cmpint(io->discard(NULL, 96, 4096, io->opaque, &err), ==, 0);
    g_assert_cmpint(io->discard(NULL, 0, 0, io->opaque, &err), ==, 0);
    g_assert_no_error(err);
    g_assert_cmpint(pread(fd, buf, 1000, 0), ==, 1000);
    g_assert_cmpmem(buf, 1000, bytes, 1000);
    close(fd);
}

static void test_fd_refused(void)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *path = NULL;
    const int rw = g_file_open_tmp("qcrypto-io-XXXXXX", &path, &err);
    const int wo = open(path, O_WRONLY | O_CLOEXEC);
    const int append = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    const int ro = open(path, O_RDONLY | O_CLOEXEC);
    int pipes[2];

    unlink(path);
    g_assert_cmpint(pipe(pipes), ==, 0);
    const struct {
        int fd;
        const char *mention;
    } refused[] = {{wo, "writing alone"},
                   {append, "appending"},
                   {pipes[0], "a regular file or a block device"}};
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_assert_null(qcrypto_block_io_new_fd(refused[i].fd, 0, 0, &err));
        assert_kind(err, INVALID_ARGUMENT);
        assert_mentions(err, refused[i].mention);
        g_clear_error(&err);
    }
    g_assert_null(qcrypto_block_io_new_fd(-1, 0, 0, &err));
    assert_kind(err, IO);
    g_clear_error(&err);
    g_assert_null(qcrypto_block_io_new_fd(rw, UINT64_MAX, 1, &err));
    assert_kind(err, INVALID_ARGUMENT);
    g_clear_error(&err);

    g_autoptr(QCryptoBlockIO) io = qcrypto_block_io_new_fd(ro, 0, 0, &err);
    g_assert_no_error(err);
    g_assert_null(io->write);
    g_assert_null(io->lock);
    const int fds[] = {rw, wo, append, ro, pipes[0], pipes[1]};
    for (size_t i = 0; i < G_N_ELEMENTS(fds); i++) {
        close(fds[i]);
    }
}

/* Two openings of one file exclude each other where they overlap. */
static void test_fd_lock(void)
{
    g_autoptr(GError) err = NULL;
    g_autofree char *path = NULL;
    const int first = g_file_open_tmp("qcrypto-io-XXXXXX", &path, &err);
    const int second = open(path, O_RDWR | O_CLOEXEC);

    unlink(path);
    g_autoptr(QCryptoBlockIO) a = qcrypto_block_io_new_fd(first, 0, 4096, &err);
    g_autoptr(QCryptoBlockIO) b =
        qcrypto_block_io_new_fd(second, 4000, 0, &err);
    g_autoptr(QCryptoBlockIO) c =
        qcrypto_block_io_new_fd(second, 4096, 0, &err);
    g_assert_no_error(err);
    g_assert_cmpint(a->lock(NULL, true, a->opaque, &err), ==, 0);
    g_assert_cmpint(b->lock(NULL, true, b->opaque, &err), ==, -1);
    assert_kind(err, BUSY);
    g_clear_error(&err);
    g_assert_cmpint(c->lock(NULL, true, c->opaque, &err), ==, 0);
    g_assert_cmpint(a->lock(NULL, false, a->opaque, &err), ==, 0);
    g_assert_cmpint(b->lock(NULL, true, b->opaque, &err), ==, 0);
    close(first);
    close(second);
}

/* A volume in the middle of a file, reached through a descriptor */
static void test_volume_in_file(void)
{
    const LuksVolume *v = luks_volume(LUKS1);
    size_t len;
    g_autofree uint8_t *image = luks_load(v, &len);
    g_autofree uint8_t *disk = g_malloc(len + 5000);
    uint8_t a[1000], c[1000];

    memset(disk, 0x55, len + 5000);
    memcpy(disk + 3000, image, len);
    const int fd = luks_temp_file(disk, len + 5000);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlockIO) io = qcrypto_block_io_new_fd(fd, 3000, len, &err);
    g_autoptr(QCryptoSecret) secret = luks_secret(v->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {.passphrase = secret};
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, io, 0, &err);
    g_assert_no_error(err);
    const uint64_t size = qcrypto_block_get_payload_size(b);
    g_assert_cmpuint(size, ==, len - qcrypto_block_get_payload_offset(b));
    memset(a, 3, sizeof(a));
    qcrypto_block_pwrite(b, size - 1000, a, 1000, &err);
    g_assert_no_error(err);
    qcrypto_block_pread(b, size - 1000, c, 1000, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(a, 1000, c, 1000);
    g_assert_cmpint(qcrypto_block_flush(b, &err), ==, 0);
    g_assert_cmpint(pread(fd, c, 1000, (off_t)(3000 + len)), ==, 1000);
    g_assert_cmpuint(c[0], ==, 0x55);
    g_assert_cmpuint(c[999], ==, 0x55);
    close(fd);
}

static bool broken; /* what the storage below is from now on */

static int failing_read(QCryptoBlock *block G_GNUC_UNUSED, uint64_t offset,
                        uint8_t *buf, size_t len, void *opaque, GError **errp)
{
    QCryptoBlockIO *whole = opaque;

    /* half of it is there already when it fails */
    whole->read(NULL, offset, buf, broken ? len / 2 : len, whole->opaque, NULL);
    return broken ? qcrypto_error(errp, QCRYPTO_ERROR_IO, "a broken disk") : 0;
}

static int whole_size(QCryptoBlock *block G_GNUC_UNUSED, uint64_t *size,
                      void *opaque, GError **errp)
{
    QCryptoBlockIO *whole = opaque;

    return whole->get_size(NULL, size, whole->opaque, errp);
}

static void test_failing_storage(void)
{
    g_auto(LuksStore) s = store(LUKS1);
    QCryptoBlockIO failing = {
        .read = failing_read,
        .get_size = whole_size,
        .opaque = s.io,
    };
    g_autoptr(QCryptoSecret) secret =
        luks_secret(luks_volume(LUKS1)->secrets[0].bytes);
    const QCryptoBlockOpenOptions o = {.passphrase = secret};
    g_autoptr(GError) err = NULL;
    uint8_t buf[3000], zeros[3000] = {0};

    broken = true;
    g_assert_null(qcrypto_block_open(&o, &failing, 0, &err));
    assert_kind(err, IO);
    assert_mentions(err, "a broken disk");
    g_clear_error(&err);
    broken = false;
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, &failing, 0, &err);
    g_assert_no_error(err);
    broken = true;
    memset(buf, 7, sizeof(buf));
    g_assert_cmpint(qcrypto_block_pread(b, 100, buf, sizeof(buf), &err), ==,
                    -1);
    assert_kind(err, IO);
    g_clear_error(&err);
    g_assert_cmpmem(buf, sizeof(buf), zeros, sizeof(zeros));
    broken = false;

    g_assert_cmpint(qcrypto_block_pwrite(b, 0, buf, 512, &err), ==, -1);
    assert_kind(err, INVALID_ARGUMENT);
    assert_mentions(err, "read-only");
    g_clear_error(&err);
    /* hints and flushes that nobody takes are no errors */
    g_assert_cmpint(qcrypto_block_discard(b, 0, 512, &err), ==, 0);
    g_assert_cmpint(qcrypto_block_flush(b, &err), ==, 0);
}

/* ---- data ---- */

static void test_alignment(void)
{
    static const char name[] = "l2-aes256-xts-s4096-argon2id-p4";

    if (without_json()) {
        return;
    }
    g_auto(LuksStore) s = store(name);
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b = open_by_key(&s, name, &err);
    g_assert_no_error(err);
    uint8_t buf[8192] = {0}, before[8192];
    const struct {
        uint64_t offset;
        size_t len;
    } wrong[] = {{512, 4096}, {0, 512}, {0, 4097}, {4095, 1}};

    memset(buf, 9, sizeof(buf));
    memcpy(before, buf, sizeof(buf));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_cmpint(
            qcrypto_block_encrypt(b, wrong[i].offset, buf, wrong[i].len, &err),
            ==, -1);
        assert_kind(err, INVALID_ARGUMENT);
        assert_mentions(err, "sectors of 4096 bytes");
        g_clear_error(&err);
        g_assert_cmpint(
            qcrypto_block_discard(b, wrong[i].offset, wrong[i].len, &err), ==,
            -1);
        assert_kind(err, INVALID_ARGUMENT);
        g_clear_error(&err);
    }
    g_assert_cmpmem(buf, sizeof(buf), before, sizeof(before));

    /* what lies behind the end, or wraps */
    const uint64_t size = qcrypto_block_get_payload_size(b);
    const struct {
        uint64_t offset;
        size_t len;
    } beyond[] = {{size, 4096}, {size - 4096, 8192}, {-UINT64_C(4096), 8192}};
    for (size_t i = 0; i < G_N_ELEMENTS(beyond); i++) {
        g_assert_cmpint(qcrypto_block_decrypt(b, beyond[i].offset, buf,
                                              beyond[i].len, &err),
                        ==, -1);
        assert_kind(err, INVALID_ARGUMENT);
        g_clear_error(&err);
        g_assert_cmpint(
            qcrypto_block_pwrite(b, beyond[i].offset, buf, beyond[i].len, &err),
            ==, -1);
        assert_kind(err, INVALID_ARGUMENT);
        g_clear_error(&err);
        g_assert_cmpint(
            qcrypto_block_pread(b, beyond[i].offset, buf, beyond[i].len, &err),
            ==, -1);
        g_clear_error(&err);
        g_assert_cmpuint(buf[0], ==, 0);
        memcpy(buf, before, sizeof(buf));
    }
    g_assert_cmpint(qcrypto_block_encrypt_to(b, 0, buf, buf + 16, 4096, &err),
                    ==, -1);
    assert_mentions(err, "overlap");
    g_clear_error(&err);
    /* nothing at all is fine, at the end too */
    g_assert_cmpint(qcrypto_block_encrypt(b, size, NULL, 0, &err), ==, 0);
    g_assert_cmpint(qcrypto_block_pread(b, size, NULL, 0, &err), ==, 0);
    g_assert_cmpint(qcrypto_block_pwrite(b, size, NULL, 0, &err), ==, 0);
    g_assert_no_error(err);
}

static void test_locked(void)
{
    g_auto(LuksStore) s = store(LUKS1);
    const QCryptoBlockOpenOptions o = {0};
    g_autoptr(GError) err = NULL;
    g_autoptr(QCryptoBlock) b =
        qcrypto_block_open(&o, s.io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK, &err);
    g_assert_no_error(err);
    uint8_t buf[512] = {0};

    g_assert_null(qcrypto_block_get_impl(b));
    g_assert_cmpint(qcrypto_block_get_slot(b), ==, -1);
    g_assert_cmpuint(qcrypto_block_get_payload_size(b), >, 0);
    g_assert_cmpint(qcrypto_block_encrypt(b, 0, buf, 512, &err), ==, -1);
    assert_kind(err, INVALID_ARGUMENT);
    assert_mentions(err, "not unlocked");
    g_clear_error(&err);
    g_assert_cmpint(qcrypto_block_pwrite(b, 0, buf, 512, &err), ==, -1);
    assert_kind(err, INVALID_ARGUMENT);
}

/* Requests of more than a chunk, at odd borders, equal those in memory. */
static void test_large(void)
{
    const size_t extra = 3 << 20;
    const LuksVolume *v = luks_volume(LUKS1);
    size_t len;
    g_autofree uint8_t *image = luks_load(v, &len);
    g_autofree uint8_t *disk = g_malloc0(len + extra);
    g_autofree uint8_t *plain = g_malloc(extra);
    g_autofree uint8_t *now = g_malloc(extra);
    g_autoptr(GError) err = NULL;

    memcpy(disk, image, len);
    LuksStore s = {.io = luks_memory_io(disk, len + extra, len + extra)};
    g_autoptr(QCryptoBlock) b = open_store(&s, LUKS1, 0, &err);
    g_assert_no_error(err);
    for (size_t i = 0; i < extra; i++) {
        plain[i] = (uint8_t)(i * 31 + (i >> 9));
    }
    g_autofree uint8_t *copy = g_malloc(extra);
    memcpy(copy, plain, extra);
    qcrypto_block_pwrite(b, 77, plain, extra - 1000, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(plain, extra, copy, extra);
    qcrypto_block_pread(b, 77, now, extra - 1000, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(now, extra - 1000, plain, extra - 1000);
    const uint64_t offset = qcrypto_block_get_payload_offset(b);
    qcrypto_block_decrypt_to(b, 512, disk + offset + 512, now, 2 << 20, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(now, 2 << 20, plain + 512 - 77, 2 << 20);
    qcrypto_block_io_free(s.io);
}

/* Encrypted and linear segments, in storage out of order */
static void test_segments(void)
{
    if (without_json()) {
        return;
    }
    g_auto(LuksStore) s = store(LUKS2);
    g_autoptr(GError) err = NULL;
    const size_t old = s.len;

    /* 1 MiB + 4096 of image, and 12 KiB more */
    s.bytes = g_realloc(s.bytes, old + 12288);
    for (size_t i = 0; i < 12288; i++) {
        s.bytes[old + i] = (uint8_t)(i >> 8);
    }
    qcrypto_block_io_free(s.io);
    s.len = old + 12288;
    s.io = luks_memory_io(s.bytes, s.len, s.len);
    luks2_replace(
        s.bytes,
        "\"size\":\"dynamic\",\"encryption\":\"aes-cbc-plain64\",\"sector_"
        "size\":512}",
        "\"size\":\"4096\",\"encryption\":\"aes-cbc-plain64\",\"sector_size\":"
        "512},"
        "\"1\":{\"type\":\"linear\",\"offset\":\"1060864\",\"size\":\"4096\"},"
        "\"2\":{\"type\":\"crypt\",\"offset\":\"1052672\",\"size\":\"8192\","
        "\"iv_tweak\":\"5\",\"encryption\":\"aes-cbc-essiv:sha256\","
        "\"sector_size\":4096}");
    /* a digest for the further one: another key would be needed */
    luks2_replace(s.bytes, "\"segments\":[\"0\"]",
                  "\"segments\":[\"0\",\"2\"]");
    g_autoptr(QCryptoBlock) b = open_store(&s, LUKS2, 0, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(qcrypto_block_get_payload_size(b), ==, 16384);
    g_assert_cmpuint(qcrypto_block_get_sector_size(b), ==, 4096);
    uint8_t plain[16384], now[16384], third[8192];
    memset(plain, 0x5a, sizeof(plain));

    /* over every border, in pieces of no sector */
    qcrypto_block_pwrite(b, 100, plain, 16000, &err);
    g_assert_no_error(err);
    qcrypto_block_pread(b, 100, now, 16000, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(now, 16000, plain, 16000);
    /* the linear one is as it is */
    g_assert_cmpmem(s.bytes + 1060864, 4096, plain, 4096);
    /* the last one by its own cipher, sectors and numbers */
    g_autoptr(QCryptoCipher) cipher =
        qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_128, QCRYPTO_CIPHER_MODE_CBC,
                           luks_volume(LUKS2)->volume_key->data, 16, &err);
    g_autoptr(QCryptoIVGen) ivgen =
        qcrypto_ivgen_new(QCRYPTO_IV_GEN_ALGO_ESSIV,
                          QCRYPTO_CIPHER_ALGO_AES_128, QCRYPTO_HASH_ALGO_SHA256,
                          luks_volume(LUKS2)->volume_key->data, 16, &err);
    g_assert_no_error(err);
    qcrypto_cipher_decrypt_sectors(cipher, ivgen, 5, 4096, s.bytes + 1052672,
                                   third, 2, 0, &err);
    g_assert_no_error(err);
    g_assert_cmpmem(third, 16100 - 8192, plain, 16100 - 8192);

    /* a border inside a sector of the next one: nobody could read it so */
    luks2_replace(s.bytes, "\"size\":\"4096\"},", "\"size\":\"2048\"},");
    g_assert_null(open_store(&s, LUKS2, 0, &err));
    assert_kind(err, UNSUPPORTED);
    assert_mentions(err, "segment 2 begins at 6144");
}

/* ---- qcow ---- */

static void test_qcow(void)
{
    static const char *const passphrases[] = {"", "short", "sixteen bytes of",
                                              "more than sixteen bytes"};
    uint8_t disk[4096];
    QCryptoBlockIO *io = luks_memory_io(disk, sizeof(disk), sizeof(disk));

    for (size_t i = 0; i < G_N_ELEMENTS(passphrases); i++) {
        g_autoptr(QCryptoSecret) secret = luks_secret_text(passphrases[i]);
        const QCryptoBlockOpenOptions o = {
            .format = QCRYPTO_BLOCK_FORMAT_QCOW,
            .passphrase = secret,
        };
        g_autoptr(GError) err = NULL;
        uint8_t key[16] = {0}, plain[4096], expected[4096];
        g_autoptr(QCryptoBlock) b = qcrypto_block_open(&o, io, 0, &err);
        g_assert_no_error(err);

        memcpy(key, passphrases[i], MIN(strlen(passphrases[i]), 16));
        g_autoptr(QCryptoCipher) cipher =
            qcrypto_cipher_new(QCRYPTO_CIPHER_ALGO_AES_128,
                               QCRYPTO_CIPHER_MODE_CBC, key, 16, &err);
        memset(plain, (int)i, sizeof(plain));
        qcrypto_cipher_encrypt_sectors(cipher, NULL, 0, 512, plain, expected, 8,
                                       0, &err);
        qcrypto_block_pwrite(b, 0, plain, sizeof(plain), &err);
        g_assert_no_error(err);
        g_assert_cmpmem(disk, sizeof(disk), expected, sizeof(expected));
        g_assert_cmpint(qcrypto_block_get_format(b), ==,
                        QCRYPTO_BLOCK_FORMAT_QCOW);
        g_assert_cmpuint(qcrypto_block_get_payload_size(b), ==, 4096);
        g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(b, &err);
        g_assert_cmpstr(info->cipher, ==, "aes-cbc-plain64");

        /* for buffers alone, as an emulator does it */
        g_autoptr(QCryptoBlock) buffers = qcrypto_block_open(&o, NULL, 0, &err);
        g_assert_no_error(err);
        qcrypto_block_decrypt(buffers, 0, expected, sizeof(expected), &err);
        g_assert_no_error(err);
        g_assert_cmpmem(plain, sizeof(plain), expected, sizeof(expected));
        g_assert_cmpint(qcrypto_block_pread(buffers, 0, plain, 512, &err), ==,
                        -1);
        assert_kind(err, INVALID_ARGUMENT);
    }
    qcrypto_block_io_free(io);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/luks-cases/formats", test_formats);
    g_test_add_func("/luks-cases/options", test_options);
    g_test_add_func("/luks-cases/versions", test_versions);
    g_test_add_func("/luks-cases/luks1/fields", test_luks1_fields);
    g_test_add_func("/luks-cases/luks1/unterminated", test_luks1_unterminated);
    g_test_add_func("/luks-cases/luks2/fields", test_luks2_fields);
    g_test_add_func("/luks-cases/luks2/problems", test_luks2_problems);
    g_test_add_func("/luks-cases/luks2/idle-parts", test_idle_parts);
    g_test_add_func("/luks-cases/luks2/json-bombs", test_json_bombs);
    g_test_add_func("/luks-cases/luks2/copies", test_copies);
    g_test_add_func("/luks-cases/luks2/newer-copy", test_newer_copy);
    g_test_add_func("/luks-cases/luks2/repair", test_repair);
    g_test_add_func("/luks-cases/slots/costly", test_costly_slot);
    g_test_add_func("/luks-cases/slots/costs-together", test_costs_together);
    g_test_add_func("/luks-cases/slots/memory-limit", test_memory_limit);
    g_test_add_func("/luks-cases/slots/lanes", test_lanes);
    g_test_add_func("/luks-cases/slots/priorities", test_priorities);
    g_test_add_func("/luks-cases/slots/unbound", test_unbound);
    g_test_add_func("/luks-cases/slots/foreign", test_foreign_slot);
    g_test_add_func("/luks-cases/storage/fd", test_fd);
    g_test_add_func("/luks-cases/storage/refused", test_fd_refused);
    g_test_add_func("/luks-cases/storage/lock", test_fd_lock);
    g_test_add_func("/luks-cases/storage/volume-in-file", test_volume_in_file);
    g_test_add_func("/luks-cases/storage/failing", test_failing_storage);
    g_test_add_func("/luks-cases/data/alignment", test_alignment);
    g_test_add_func("/luks-cases/data/locked", test_locked);
    g_test_add_func("/luks-cases/data/large", test_large);
    g_test_add_func("/luks-cases/data/segments", test_segments);
    g_test_add_func("/luks-cases/qcow", test_qcow);
    return g_test_run();
}
