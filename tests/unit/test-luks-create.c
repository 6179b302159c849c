/*
 * New LUKS volumes: what is made opens, what can not be made leaves no trace
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/block.h>
#include <qcrypto/cipher.h>
#include <qcrypto/hash.h>
#include <qcrypto/kdf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config-qcrypto.h"

#include "volumes.h"

#define KIB         1024u
#define MIB         (1024u * KIB)
#define INVALID     QCRYPTO_ERROR_INVALID_ARGUMENT
#define UNSUPPORTED QCRYPTO_ERROR_UNSUPPORTED

/* Small and quick: what every case starts from. */
static QCryptoBlockCreateOptions quick(QCryptoBlockFormat format,
                                       const QCryptoSecret *passphrase)
{
    return (QCryptoBlockCreateOptions){
        .format = format,
        .passphrase = passphrase,
        .slot.kdf = {.kdf = "pbkdf2", .iterations = 1000},
    };
}

static QCryptoBlock *open_volume(Storage *s, Storage *header,
                                 const QCryptoSecret *passphrase)
{
    const QCryptoBlockOpenOptions how = {
        .passphrase = passphrase,
        .header = header ? &header->io : NULL,
    };
    g_autoptr(GError) err = NULL;
    QCryptoBlock *block = qcrypto_block_open(&how, &s->io, 0, &err);

    g_assert_no_error(err);
    return block;
}

/* What is written through the new volume is read through the opened one. */
static void check_data(QCryptoBlock *made, Storage *s, Storage *header,
                       const QCryptoSecret *passphrase)
{
    g_autoptr(GError) err = NULL;
    uint8_t in[8192], out[8192];
    const uint64_t at = qcrypto_block_get_payload_size(made) - sizeof(in);

    memset(in, 0x5a, sizeof(in));
    qcrypto_block_pwrite(made, at, in, sizeof(in), &err);
    g_assert_no_error(err);
    g_autoptr(QCryptoBlock) again = open_volume(s, header, passphrase);
    g_assert_cmpint(qcrypto_block_get_slot(again), ==,
                    qcrypto_block_get_slot(made));
    g_assert_cmpuint(qcrypto_block_get_payload_size(again), ==,
                     qcrypto_block_get_payload_size(made));
    qcrypto_block_pread(again, at, out, sizeof(out), &err);
    g_assert_no_error(err);
    g_assert_cmpmem(in, sizeof(in), out, sizeof(out));
}

static void test_plain(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("open sesame");

    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(0);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = quick(*f, pass);

        s->max_size = 64 * MIB;
        o.size = 1 * MIB;
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
        g_assert_no_error(err);
        g_assert_cmpuint(qcrypto_block_get_payload_size(made), ==, 1 * MIB);
        g_assert_cmpuint(s->size, ==,
                         qcrypto_block_get_payload_offset(made) + 1 * MIB);
        g_assert_cmpuint(qcrypto_block_get_payload_offset(made), ==,
                         *f == QCRYPTO_BLOCK_FORMAT_LUKS1 ? 2 * MIB : 16 * MIB);
        g_assert_cmpuint(qcrypto_block_get_sector_size(made), ==,
                         *f == QCRYPTO_BLOCK_FORMAT_LUKS1 ? 512 : 4096);
        g_assert_cmpint(qcrypto_block_get_format(made), ==, *f);
        g_assert_cmpint(qcrypto_block_get_slot(made), ==, 0);
        g_assert_false(s->locked);
        check_data(made, s, NULL, pass);

        g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(made, &err);
        g_assert_no_error(err);
        g_assert_cmpstr(info->cipher, ==, "aes-xts-plain64");
        g_assert_cmpstr(info->hash, ==, "sha256");
        g_assert_cmpuint(info->key_len, ==, 64);
        g_assert_cmpuint(info->nslots, ==, 1);
        g_assert_cmpuint(info->slots[0].iterations, ==, 1000);
        g_assert_true(g_uuid_string_is_valid(info->uuid));
        g_assert_null(info->problem);
    }
}

/* The header is all there is to it: what is left of the storage is payload. */
static void test_fills_storage(void)
{
    static const struct {
        QCryptoBlockFormat format;
        size_t storage;
        uint64_t offset;
        size_t sector;
    } cases[] = {
        {QCRYPTO_BLOCK_FORMAT_LUKS1, 8 * MIB, 2 * MIB, 512},
        {QCRYPTO_BLOCK_FORMAT_LUKS1, 2 * MIB, 4096 + 8 * 258048, 512},
#if QCRYPTO_HAVE_JANSSON
        {QCRYPTO_BLOCK_FORMAT_LUKS2, 40 * MIB, 16 * MIB, 4096},
        {QCRYPTO_BLOCK_FORMAT_LUKS2, 20 * MIB, 8 * MIB, 4096},
        {QCRYPTO_BLOCK_FORMAT_LUKS2, 20 * MIB + 512, 8 * MIB, 512},
        {QCRYPTO_BLOCK_FORMAT_LUKS2, 1 * MIB, 512 * KIB, 4096},
        {QCRYPTO_BLOCK_FORMAT_LUKS2, 400 * KIB, 32 * KIB + 258048, 4096},
#endif
    };
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Storage) s = storage_new(cases[i].storage);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = quick(cases[i].format, pass);
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);

        g_assert_no_error(err);
        g_assert_cmpuint(qcrypto_block_get_payload_offset(made), ==,
                         cases[i].offset);
        g_assert_cmpuint(qcrypto_block_get_payload_size(made), ==,
                         cases[i].storage - cases[i].offset);
        g_assert_cmpuint(qcrypto_block_get_sector_size(made), ==,
                         cases[i].sector);
        check_data(made, s, NULL, pass);
    }
}

/*
 * Every cipher, mode and key length that this build has; with AES every IV
 * rule.
 */
static void test_ciphers(void)
{
    static const char *const ivs[] = {"plain", "plain64", "plain64be", "benbi",
                                      "essiv:sha256"};
    static const char *const modes[] = {"cbc", "xts", "ctr"};
    static const size_t lens[] = {8, 16, 24, 32, 48, 64};
    g_autoptr(QCryptoSecret) pass = volume_secret("x");
    unsigned made_of[QCRYPTO_BLOCK_FORMAT__MAX] = {0};

    for (int alg = 0; alg < QCRYPTO_CIPHER_ALGO__MAX; alg++) {
        g_auto(GStrv) name = g_strsplit(
            qcrypto_cipher_algo_name((QCryptoCipherAlgo)alg), "-", 2);

        for (size_t i = 0; i < G_N_ELEMENTS(modes) * G_N_ELEMENTS(ivs); i++) {
            if (i % G_N_ELEMENTS(ivs) != 1 && strcmp(name[0], "aes")) {
                continue;
            }
            g_autofree char *spec = g_strdup_printf(
                "%s-%s-%s",
                alg == QCRYPTO_CIPHER_ALGO_3DES ? "des3_ede" : name[0],
                modes[i / G_N_ELEMENTS(ivs)], ivs[i % G_N_ELEMENTS(ivs)]);

            for (size_t k = 0; k < G_N_ELEMENTS(lens); k++) {
                const QCryptoBlockFormat f =
                    volume_formats[(i + k) % volume_nformats];
                QCryptoBlockCreateOptions o = quick(f, pass);
                QCryptoCipherSpec parsed;
                g_autoptr(Storage) s = storage_new(3 * MIB);
                g_autoptr(GError) err = NULL;

                qcrypto_cipher_spec_parse(spec, &parsed, &err);
                g_assert_no_error(err);
                /* each algorithm by its own number, once */
                if (qcrypto_cipher_spec_get_alg(&parsed, lens[k], NULL) !=
                    alg) {
                    continue;
                }
                o.cipher = spec;
                o.key_len = lens[k];
                g_autoptr(QCryptoBlock) made =
                    qcrypto_block_create(&o, &s->io, &err);
                if (g_error_matches(err, QCRYPTO_ERROR, UNSUPPORTED)) {
                    continue;
                }
                g_assert_no_error(err);
                made_of[f]++;
                check_data(made, s, NULL, pass);
            }
        }
    }
    /* AES in three lengths, three modes and four rules is always there */
    FOR_EACH_FORMAT(f)
    {
        g_test_message("%s: %u", qcrypto_block_format_name(*f), made_of[*f]);
        g_assert_cmpuint(made_of[*f], >=, 3 * 3 * 4 / volume_nformats);
    }
}

static void test_usual_key_lengths(void)
{
    static const struct {
        const char *cipher;
        size_t len;
        QCryptoCipherAlgo alg;
        QCryptoCipherMode mode;
    } cases[] = {
        {"aes-xts-plain64", 64, QCRYPTO_CIPHER_ALGO_AES_256,
         QCRYPTO_CIPHER_MODE_XTS},
        {"aes-cbc-essiv:sha256", 32, QCRYPTO_CIPHER_ALGO_AES_256,
         QCRYPTO_CIPHER_MODE_CBC},
        {"aes-ecb", 32, QCRYPTO_CIPHER_ALGO_AES_256, QCRYPTO_CIPHER_MODE_ECB},
        {"sm4-xts-plain64", 32, QCRYPTO_CIPHER_ALGO_SM4,
         QCRYPTO_CIPHER_MODE_XTS},
        {"cast5-cbc-plain64", 16, QCRYPTO_CIPHER_ALGO_CAST5_128,
         QCRYPTO_CIPHER_MODE_CBC},
        {"des3_ede-cbc-plain64", 24, QCRYPTO_CIPHER_ALGO_3DES,
         QCRYPTO_CIPHER_MODE_CBC},
    };
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Storage) s = storage_new(3 * MIB);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = quick(QCRYPTO_BLOCK_FORMAT_LUKS1, pass);

        if (!qcrypto_cipher_supports(cases[i].alg, cases[i].mode)) {
            continue;
        }
        o.cipher = cases[i].cipher;
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
        g_assert_no_error(err);
        g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(made, &err);
        g_assert_cmpuint(info->key_len, ==, cases[i].len);
        check_data(made, s, NULL, pass);
    }
}

static void test_hashes(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    for (int h = 0; h < QCRYPTO_HASH_ALGO__MAX; h++) {
        if (!qcrypto_hash_supports((QCryptoHashAlgo)h) ||
            !qcrypto_pbkdf2_supports((QCryptoHashAlgo)h) ||
            h == QCRYPTO_HASH_ALGO_MD5) {
            continue;
        }
        FOR_EACH_FORMAT(f)
        {
            g_autoptr(Storage) s = storage_new(3 * MIB);
            g_autoptr(GError) err = NULL;
            QCryptoBlockCreateOptions o = quick(*f, pass);

            o.hash = qcrypto_hash_algo_name((QCryptoHashAlgo)h);
            g_autoptr(QCryptoBlock) made =
                qcrypto_block_create(&o, &s->io, &err);
            g_assert_no_error(err);
            g_autoptr(QCryptoBlockInfo) info =
                qcrypto_block_get_info(made, &err);
            g_assert_cmpstr(info->hash, ==, o.hash);
            g_assert_cmpstr(info->slots[0].hash, ==, o.hash);
            g_assert_cmpstr(info->slots[0].af_hash, ==, o.hash);
            check_data(made, s, NULL, pass);
        }
    }
}

static void test_detached(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(1 * MIB);
        g_autoptr(Storage) before = storage_copy(s);
        g_autoptr(Storage) header = storage_new(3 * MIB);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = quick(*f, pass);

        header->max_size = 16 * MIB;
        o.header = &header->io;
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
        g_assert_no_error(err);
        g_assert_cmpuint(qcrypto_block_get_payload_offset(made), ==, 0);
        g_assert_cmpuint(qcrypto_block_get_payload_size(made), ==, 1 * MIB);
        /* the data are not touched */
        g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);
        check_data(made, s, header, pass);
    }
}

/* Draws of 64 bytes that the kernel answers with zeros: a weak key for XTS */
static unsigned weak_draws;

/* comes before libc's */
__attribute__((visibility("default"))) ssize_t getrandom(void *buf, size_t n,
                                                         unsigned flags);

ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
    if (n == 64 && weak_draws) {
        weak_draws--;
        memset(buf, 0, n);
        return (ssize_t)n;
    }
    return syscall(SYS_getrandom, buf, n, flags);
}

static void test_weak_draws(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(3 * MIB);
        g_autoptr(GError) err = NULL;
        const QCryptoBlockCreateOptions o = quick(*f, pass);
        size_t n;

        /* some are for trying the ciphers, others for the key */
        weak_draws = 1000;
        g_assert_null(qcrypto_block_create(&o, &s->io, &err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_ENTROPY);
        g_clear_error(&err);
        g_assert_cmpuint(s->calls, ==, 0);
        g_assert_cmpuint(weak_draws, >, 900);

        weak_draws = 5;
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
        g_assert_no_error(err);
        g_assert_cmpuint(weak_draws, ==, 0);
        g_autoptr(QCryptoSecret) key = qcrypto_block_get_volume_key(made, &err);
        g_assert_no_error(err);
        const uint8_t *bytes = qcrypto_secret_get(key, &n);
        g_assert_false(qcrypto_cipher_key_is_weak(
            QCRYPTO_CIPHER_ALGO_AES_256, QCRYPTO_CIPHER_MODE_XTS, bytes, n));
    }
}

static void test_volume_key(void)
{
    static const uint8_t zeros[64];
    uint8_t bytes[64];
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)i;
    }
    g_autoptr(QCryptoSecret) key =
        qcrypto_secret_new_from_bytes(bytes, sizeof(bytes), NULL);
    g_autoptr(QCryptoSecret) weak =
        qcrypto_secret_new_from_bytes(zeros, sizeof(zeros), NULL);

    FOR_EACH_FORMAT(f)
    {
        g_autoptr(Storage) s = storage_new(3 * MIB);
        g_autoptr(Storage) before = storage_copy(s);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = quick(*f, pass);

        /* equal halves in XTS */
        o.volume_key = weak;
        g_assert_null(qcrypto_block_create(&o, &s->io, &err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_WEAK_KEY);
        g_clear_error(&err);
        g_assert_cmpmem(s->bytes, s->size, before->bytes, before->size);

        o.volume_key = key;
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
        g_assert_no_error(err);
        g_autoptr(QCryptoSecret) out = qcrypto_block_get_volume_key(made, &err);
        size_t n;
        const uint8_t *got = qcrypto_secret_get(out, &n);
        g_assert_cmpmem(got, n, bytes, sizeof(bytes));
        check_data(made, s, NULL, pass);

        /* no slot: the key alone opens it */
        o.passphrase = NULL;
        g_clear_pointer(&made, qcrypto_block_free);
        made = qcrypto_block_create(&o, &s->io, &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_block_get_slot(made), ==, -1);
        const QCryptoBlockOpenOptions by_pass = {.passphrase = pass};
        g_assert_null(qcrypto_block_open(&by_pass, &s->io, 0, &err));
        g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_WRONG_PASSPHRASE);
        g_clear_error(&err);
        const QCryptoBlockOpenOptions by_key = {.volume_key = key};
        g_autoptr(QCryptoBlock) again =
            qcrypto_block_open(&by_key, &s->io, 0, &err);
        g_assert_no_error(err);
        g_assert_cmpint(qcrypto_block_get_slot(again), ==, -1);
    }
}

#if QCRYPTO_HAVE_JANSSON
static void test_luks2_choices(void)
{
    static const char *const flags[] = {"allow-discards", "no-read-workqueue",
                                        NULL};
    g_autoptr(QCryptoSecret) pass = volume_secret("x");
    g_autoptr(Storage) s = storage_new(4 * MIB);
    g_autoptr(GError) err = NULL;
    QCryptoBlockCreateOptions o = quick(QCRYPTO_BLOCK_FORMAT_LUKS2, pass);

    o.metadata_size = 64 * KIB;
    o.keyslots_size = 512 * KIB;
    o.payload_offset = 1 * MIB;
    o.sector_size = 2048;
    o.uuid = "0F5A7B1C-0000-4000-8000-0123456789AB";
    o.label = "märz";
    o.subsystem = "tests";
    o.flags = flags;
    o.hash = "sha512";
    o.cipher = "aes-cbc-essiv:sha256";
    o.key_len = 16;
    o.slot.use_slot = true;
    o.slot.slot = 31;
    o.slot.cipher = "aes-xts-plain64";
    o.slot.set_priority = true;
    o.slot.priority = 2;
    g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
    g_assert_no_error(err);
    check_data(made, s, NULL, pass);

    g_autoptr(QCryptoBlockInfo) i = qcrypto_block_get_info(made, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(i->header_size, ==, 64 * KIB);
    g_assert_cmpuint(i->keyslots_size, ==, 512 * KIB);
    g_assert_cmpuint(i->payload_offset, ==, 1 * MIB);
    g_assert_cmpuint(i->sector_size, ==, 2048);
    g_assert_cmpstr(i->uuid, ==, "0f5a7b1c-0000-4000-8000-0123456789ab");
    g_assert_cmpstr(i->label, ==, "märz");
    g_assert_cmpstr(i->subsystem, ==, "tests");
    g_assert_cmpstr(i->flags[0], ==, "allow-discards");
    g_assert_cmpstr(i->flags[1], ==, "no-read-workqueue");
    g_assert_null(i->flags[2]);
    g_assert_cmpstr(i->cipher, ==, "aes-cbc-essiv:sha256");
    g_assert_cmpuint(i->nslots, ==, 1);
    g_assert_cmpuint(i->slots[0].slot, ==, 31);
    g_assert_cmpint(i->slots[0].priority, ==, 2);
    g_assert_cmpstr(i->slots[0].cipher, ==, "aes-xts-plain64");
    g_assert_cmpuint(i->slots[0].area_key_len, ==, 64);
    g_assert_cmpuint(i->slots[0].key_len, ==, 16);
    g_assert_null(i->primary_problem);
    g_assert_null(i->secondary_problem);
}

static void test_argon2(void)
{
    static const char *const kdfs[] = {"argon2i", "argon2id"};
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    for (size_t i = 0; i < G_N_ELEMENTS(kdfs); i++) {
        g_autoptr(Storage) s = storage_new(2 * MIB);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = quick(QCRYPTO_BLOCK_FORMAT_LUKS2, pass);

        o.slot.kdf = (QCryptoBlockKdfOptions){
            .kdf = kdfs[i], .iterations = 4, .memory_kib = 32, .lanes = 1};
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
        if (!qcrypto_argon2_supports(
                (QCryptoArgon2Algo)qcrypto_argon2_algo_from_name(kdfs[i]))) {
            g_assert_error(err, QCRYPTO_ERROR, UNSUPPORTED);
            continue;
        }
        g_assert_no_error(err);
        g_autoptr(QCryptoBlockInfo) info = qcrypto_block_get_info(made, &err);
        g_assert_cmpstr(info->slots[0].kdf, ==, kdfs[i]);
        g_assert_cmpuint(info->slots[0].iterations, ==, 4);
        g_assert_cmpuint(info->slots[0].memory_kib, ==, 32);
        g_assert_cmpuint(info->slots[0].lanes, ==, 1);
        check_data(made, s, NULL, pass);
    }
}

static void test_segments(void)
{
    static const QCryptoBlockSegmentOptions segments[] = {
        {.size = 64 * KIB, .sector_size = 4096},
        {.linear = true, .size = 64 * KIB},
        {.cipher = "aes-cbc-plain64",
         .size = 128 * KIB,
         .iv_tweak = 77,
         .offset = 2 * MIB},
        {.sector_size = 1024},
    };
    g_autoptr(QCryptoSecret) pass = volume_secret("x");
    g_autoptr(Storage) s = storage_new(4 * MIB);
    g_autoptr(GError) err = NULL;
    QCryptoBlockCreateOptions o = quick(QCRYPTO_BLOCK_FORMAT_LUKS2, pass);
    uint8_t in[64 * KIB];

    o.payload_offset = 1 * MIB;
    o.key_len = 32;
    o.segments = segments;
    o.nsegments = G_N_ELEMENTS(segments);
    g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
    g_assert_no_error(err);
    g_assert_cmpuint(qcrypto_block_get_payload_size(made), ==,
                     256 * KIB + 2 * MIB - 128 * KIB);
    check_data(made, s, NULL, pass);
    /* the linear one is as it was written, where it was said to be */
    memset(in, 0x77, sizeof(in));
    qcrypto_block_pwrite(made, 64 * KIB, in, sizeof(in), &err);
    g_assert_no_error(err);
    g_assert_cmpmem(s->bytes + 1 * MIB + 64 * KIB, sizeof(in), in, sizeof(in));
    qcrypto_block_pwrite(made, 0, in, sizeof(in), &err);
    g_assert_no_error(err);
    g_assert_cmpint(memcmp(s->bytes + 1 * MIB, in, sizeof(in)), !=, 0);
}
#else
static void test_no_luks2(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");
    g_autoptr(Storage) s = storage_new(2 * MIB);
    g_autoptr(GError) err = NULL;
    const QCryptoBlockCreateOptions o = quick(QCRYPTO_BLOCK_FORMAT_LUKS2, pass);

    g_assert_null(qcrypto_block_create(&o, &s->io, &err));
    g_assert_error(err, QCRYPTO_ERROR, UNSUPPORTED);
    g_assert_nonnull(strstr(err->message, "LUKS2"));
    g_assert_nonnull(strstr(err->message, "jansson"));
}
#endif

/* ---- what is refused ---- */

typedef struct Refusal {
    const char *name;
    QCryptoBlockFormat format;
    /* of the error: its kind and a part of its text */
    QCryptoErrorKind kind;
    const char *text;
    QCryptoBlockCreateOptions o;
} Refusal;

#define L1 QCRYPTO_BLOCK_FORMAT_LUKS1
#define L2 QCRYPTO_BLOCK_FORMAT_LUKS2

static const char *const no_such_flag[] = {"allow-discards", "fly", NULL};
static const char *const twice[] = {"no-journal", "no-journal", NULL};
static const char *const some_flag[] = {"no-journal", NULL};
static const QCryptoBlockSegmentOptions all_linear[] = {{.linear = true}};
static const QCryptoBlockSegmentOptions overlapping[] = {
    {.size = 64 * KIB}, {.offset = 1 * MIB + 32 * KIB, .size = 64 * KIB}};
static const QCryptoBlockSegmentOptions early_end[] = {{.size = 0},
                                                       {.size = 4096}};
static const QCryptoBlockSegmentOptions in_header[] = {{.offset = 4096}};
static const QCryptoBlockSegmentOptions odd_sector[] = {{.sector_size = 520}};
static const QCryptoBlockSegmentOptions other_key[] = {
    {.size = 4096}, {.cipher = "aes-cbc-plain64"}};
static const QCryptoBlockSegmentOptions misfit[] = {
    {.size = 1024, .sector_size = 512},
    {.offset = 17 * MIB, .size = 4096, .sector_size = 4096}};

static const Refusal refusals[] = {
    /* specifications: the part is named */
    {"no mode", L1, INVALID, "mode", {.cipher = "aes"}},
    {"no IV generator",
     L1,
     INVALID,
     "needs an IV generator",
     {.cipher = "aes-cbc"}},
    {"unknown cipher", L1, INVALID, "'rot13'", {.cipher = "rot13-cbc-plain"}},
    {"a hash too many",
     L1,
     INVALID,
     "'sha256'",
     {.cipher = "aes-xts-plain64:sha256"}},
    {"IV for ECB", L1, INVALID, "takes no IV", {.cipher = "aes-ecb-plain64"}},
    {"essiv:sha512 has no key length of AES",
     L1,
     UNSUPPORTED,
     "sha512",
     {.cipher = "aes-cbc-essiv:sha512"}},
    {"key length", L1, INVALID, "32, 48, 64", {.key_len = 40}},
    {"XTS on 8-byte blocks",
     L1,
     UNSUPPORTED,
     "16 bytes",
     {.cipher = "des3_ede-xts-plain64", .key_len = 48}},
    /* hashes and derivations */
    {"unknown hash", L1, INVALID, "'crc32'", {.hash = "crc32"}},
    {"md5", L1, INVALID, "too short", {.hash = "md5"}},
    {"argon2 in LUKS1", L1, INVALID, "pbkdf2", {.slot.kdf.kdf = "argon2id"}},
    {"unknown derivation", L1, INVALID, "'scrypt'", {.slot.kdf.kdf = "scrypt"}},
    {"few iterations", L1, INVALID, "1000", {.slot.kdf.iterations = 999}},
    {"many iterations",
     L1,
     INVALID,
     "4294967295",
     {.slot.kdf.iterations = UINT64_C(1) << 32}},
    {"memory for pbkdf2", L1, INVALID, "memory", {.slot.kdf.memory_kib = 64}},
    {"two hashes in LUKS1",
     L1,
     INVALID,
     "sha512",
     {.hash = "sha256", .slot.kdf.hash = "sha512"}},
    /* what LUKS1 has not */
    {"LUKS1 sector size", L1, UNSUPPORTED, "512 bytes", {.sector_size = 4096}},
    {"LUKS1 label", L1, UNSUPPORTED, "label", {.label = "x"}},
    {"LUKS1 subsystem", L1, UNSUPPORTED, "subsystem", {.subsystem = "x"}},
    {"LUKS1 flags", L1, UNSUPPORTED, "flags", {.flags = some_flag}},
    {"LUKS1 metadata", L1, UNSUPPORTED, "metadata", {.metadata_size = 16384}},
    {"LUKS1 key slots",
     L1,
     UNSUPPORTED,
     "key slots",
     {.keyslots_size = 262144}},
    {"LUKS1 segments",
     L1,
     UNSUPPORTED,
     "segments",
     {.segments = all_linear, .nsegments = 1}},
    {"LUKS1 priority",
     L1,
     UNSUPPORTED,
     "priorities",
     {.slot.set_priority = true}},
    {"LUKS1 area cipher",
     L1,
     UNSUPPORTED,
     "own ciphers",
     {.slot.cipher = "aes-xts-plain64"}},
    {"LUKS1 slot 8",
     L1,
     INVALID,
     "0 to 7",
     {.slot.use_slot = true, .slot.slot = 8}},
    {"LUKS1 slot -1",
     L1,
     INVALID,
     "0 to 7",
     {.slot.use_slot = true, .slot.slot = -1u}},
    /* sizes and places */
    {"odd size", L1, INVALID, "multiple", {.size = 1 * MIB + 100}},
    {"payload in the header",
     L1,
     INVALID,
     "begin at 1048576",
     {.payload_offset = 1 * MIB}},
    {"odd payload offset",
     L1,
     INVALID,
     "multiple of 512",
     {.payload_offset = 2 * MIB + 100}},
    {"too large", L1, INVALID, "storage", {.size = 64 * MIB}},
    {"larger than can be",
     L1,
     INVALID,
     "18446744073709551104",
     {.size = UINT64_MAX - 511}},
    {"no UUID", L1, INVALID, "'me'", {.uuid = "me"}},
    {"4096 on an odd size",
     L2,
     INVALID,
     "4096",
     {.size = 1 * MIB + 512, .sector_size = 4096}},
    {"sector size", L2, INVALID, "512, 1024", {.sector_size = 8192}},
    {"sector size, no power", L2, INVALID, "512, 1024", {.sector_size = 1536}},
    {"metadata", L2, INVALID, "16 KiB", {.metadata_size = 20000}},
    {"metadata too large", L2, INVALID, "16 KiB", {.metadata_size = 8 * MIB}},
    {"key slots odd", L2, INVALID, "4096", {.keyslots_size = 262144 + 512}},
    {"key slots too small",
     L2,
     INVALID,
     "at least 258048",
     {.keyslots_size = 131072}},
    {"key slots too large",
     L2,
     INVALID,
     "128 MiB",
     {.keyslots_size = 256 * MIB}},
    {"payload in the key slots",
     L2,
     INVALID,
     "begin at 262144",
     {.payload_offset = 262144}},
    {"label",
     L2,
     INVALID,
     "47 bytes",
     {.label = "an unreasonably long label that fills its field"
               " and more than that"}},
    {"label of 48 bytes",
     L2,
     INVALID,
     "47 bytes",
     {.label = "012345678901234567890123456789012345678901234567"}},
    {"label with a newline", L2, INVALID, "control", {.label = "a\nb"}},
    {"subsystem no text", L2, INVALID, "UTF-8", {.subsystem = "\xff\xfe"}},
    {"unknown flag", L2, INVALID, "'fly'", {.flags = no_such_flag}},
    {"flag twice", L2, INVALID, "twice", {.flags = twice}},
    {"slot 32",
     L2,
     INVALID,
     "0 to 31",
     {.slot.use_slot = true, .slot.slot = 32}},
    {"priority 3",
     L2,
     INVALID,
     "0 to 2",
     {.slot.set_priority = true, .slot.priority = 3}},
    {"area cipher", L2, INVALID, "key slot: ", {.slot.cipher = "aes-cbc"}},
    {"area key length",
     L2,
     INVALID,
     "32, 48, 64",
     {.slot.cipher = "aes-xts-plain64", .slot.key_len = 16}},
    {"more iterations than cryptsetup reads",
     L2,
     INVALID,
     "2147483647",
     {.slot.kdf.iterations = UINT64_C(1) << 31}},
    {"no crypt segment",
     L2,
     INVALID,
     "no segment is encrypted",
     {.segments = all_linear, .nsegments = 1}},
    {"overlap",
     L2,
     INVALID,
     "segments 0 and 1 overlap",
     {.payload_offset = 1 * MIB, .segments = overlapping, .nsegments = 2}},
    {"early end",
     L2,
     INVALID,
     "segment 0: only the last",
     {.segments = early_end, .nsegments = 2}},
    {"segment in the header",
     L2,
     INVALID,
     "segment 0: ",
     {.segments = in_header, .nsegments = 1}},
    {"segment's sectors",
     L2,
     INVALID,
     "520",
     {.segments = odd_sector, .nsegments = 1}},
    {"segment's key",
     L2,
     INVALID,
     "segment 1: ",
     {.segments = other_key, .nsegments = 2}},
    {"segments that do not fit together",
     L2,
     UNSUPPORTED,
     "nothing was written",
     {.segments = misfit, .nsegments = 2}},
};

static void test_refused(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");

    for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
        const Refusal *r = &refusals[i];
        g_autoptr(Storage) s = storage_new(20 * MIB);
        g_autoptr(Storage) old = storage_copy(s);
        g_autoptr(GError) err = NULL;
        QCryptoBlockCreateOptions o = r->o;

        if (r->format == L2 && !QCRYPTO_HAVE_JANSSON) {
            continue; /* refused for another reason */
        }
        s->io.init = NULL; /* as a device: as large as it is */
        o.format = r->format;
        o.passphrase = pass;
        if (!o.slot.kdf.kdf) {
            o.slot.kdf.kdf = "pbkdf2";
        }
        if (!o.slot.kdf.iterations) {
            o.slot.kdf.iterations = 1000;
        }
        g_test_message("%s", r->name);
        g_assert_null(qcrypto_block_create(&o, &s->io, &err));
        g_test_message("  %s", err->message);
        g_assert_error(err, QCRYPTO_ERROR, (int)r->kind);
        g_assert_nonnull(strstr(err->message, r->text));
        g_assert_cmpuint(s->calls, ==, 0);
        g_assert_cmpuint(s->size, ==, old->size);
    }
}

static void test_refused_otherwise(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");
    g_autoptr(Storage) s = storage_new(4 * MIB);
    g_autoptr(GError) err = NULL;
    QCryptoBlockCreateOptions o = quick(L1, pass);

    g_assert_null(qcrypto_block_create(NULL, &s->io, &err));
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_clear_error(&err);
    g_assert_null(qcrypto_block_create(&o, NULL, &err));
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_clear_error(&err);
    o.format = QCRYPTO_BLOCK_FORMAT_QCOW;
    g_assert_null(qcrypto_block_create(&o, &s->io, &err));
    g_assert_error(err, QCRYPTO_ERROR, UNSUPPORTED);
    g_clear_error(&err);
    /* neither passphrase nor key */
    o = quick(L1, NULL);
    g_assert_null(qcrypto_block_create(&o, &s->io, &err));
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_clear_error(&err);
    /* read-only */
    o = quick(L1, pass);
    s->io.write = NULL;
    g_assert_null(qcrypto_block_create(&o, &s->io, &err));
    g_assert_error(err, QCRYPTO_ERROR, INVALID);
    g_clear_error(&err);
    /* a provider that is not there */
    g_autoptr(Storage) t = storage_new(4 * MIB);
    o.provider = "none-such";
    g_assert_null(qcrypto_block_create(&o, &t->io, &err));
    g_assert_nonnull(err);
    g_assert_cmpuint(t->calls, ==, 0);
}

/*
 * A creation that breaks off anywhere: the old volume, or nothing, or the new
 * one.
 */
static void broken_at(QCryptoBlockFormat f, const Storage *old,
                      const QCryptoSecret *before, const QCryptoSecret *after,
                      unsigned n, uint32_t kept, bool *done)
{
    g_autoptr(Storage) s = storage_copy(old);
    g_autoptr(GError) err = NULL;
    const QCryptoBlockCreateOptions o = quick(f, after);
    const QCryptoBlockOpenOptions with_old = {.passphrase = before},
                                  with_new = {.passphrase = after};

    storage_break(s, n, STORAGE_LOSES_POWER, 100 * n % 5000, kept);
    g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
    *done = made != NULL;
    if (made) {
        return;
    }
    g_assert_error(err, QCRYPTO_ERROR, QCRYPTO_ERROR_IO);
    storage_restart(s);
    g_autoptr(QCryptoBlock) a = qcrypto_block_open(&with_old, &s->io, 0, NULL);
    g_autoptr(QCryptoBlock) b = qcrypto_block_open(&with_new, &s->io, 0, NULL);
    g_assert_false(a && b);
    /* the old one is gone from the second flush on, the new one not there
     * before the last writes */
    if (n > 4) {
        g_assert_null(a);
    } else {
        g_assert_null(b);
    }
}

static void test_breaks(void)
{
    g_autoptr(QCryptoSecret) before = volume_secret("before"),
                             after = volume_secret("after");

    FOR_EACH_FORMAT(was)
    {
        g_autoptr(Storage) old = storage_new(3 * MIB);
        const QCryptoBlockCreateOptions o = quick(*was, before);
        g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &old->io, NULL);

        g_assert_nonnull(made);
        FOR_EACH_FORMAT(f)
        {
            bool done = false;

            for (unsigned n = 1; !done; n++) {
                for (unsigned k = 0; k < 3 && !done; k++) {
                    broken_at(*f, old, before, after, n, 0x55555555u << k,
                              &done);
                }
                g_assert_cmpuint(n, <, 1000);
            }
        }
    }
}

/* Nothing of an earlier volume can be found: not even with its own tools. */
static void test_no_traces(void)
{
    g_autoptr(QCryptoSecret) pass = volume_secret("x");
    g_autoptr(Storage) s = storage_new(10 * MIB);
    g_autoptr(GError) err = NULL;

    for (size_t at = 16 * KIB; at <= 4 * MIB; at *= 2) {
        memcpy(s->bytes + at, "SKUL\xba\xbe", 6);
    }
    const QCryptoBlockCreateOptions o = quick(L1, pass);
    g_autoptr(QCryptoBlock) made = qcrypto_block_create(&o, &s->io, &err);
    g_assert_no_error(err);
    g_assert_nonnull(made);
    for (size_t at = 16 * KIB; at <= 4 * MIB; at *= 2) {
        g_assert_cmpint(memcmp(s->bytes + at, "SKUL\xba\xbe", 6), !=, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/luks-create/plain", test_plain);
    g_test_add_func("/luks-create/fills-storage", test_fills_storage);
    g_test_add_func("/luks-create/ciphers", test_ciphers);
    g_test_add_func("/luks-create/key-lengths", test_usual_key_lengths);
    g_test_add_func("/luks-create/hashes", test_hashes);
    g_test_add_func("/luks-create/detached", test_detached);
    g_test_add_func("/luks-create/volume-key", test_volume_key);
    g_test_add_func("/luks-create/weak-draws", test_weak_draws);
#if QCRYPTO_HAVE_JANSSON
    g_test_add_func("/luks-create/luks2-choices", test_luks2_choices);
    g_test_add_func("/luks-create/argon2", test_argon2);
    g_test_add_func("/luks-create/segments", test_segments);
#else
    g_test_add_func("/luks-create/no-luks2", test_no_luks2);
#endif
    g_test_add_func("/luks-create/refused", test_refused);
    g_test_add_func("/luks-create/refused-otherwise", test_refused_otherwise);
    g_test_add_func("/luks-create/breaks", test_breaks);
    g_test_add_func("/luks-create/no-traces", test_no_traces);
    return g_test_run();
}
