/*
 * qcrypto plain: disk images in dm-crypt's plain layout
 *
 * No header: sector after sector is encrypted by itself, under an IV made
 * from its number.  What comes out is what the kernel's dm-crypt reads with
 * the table line
 *
 *     0 SIZE crypt CIPHER KEY SKIP DEVICE 0 [2 sector_size:N iv_large_sectors]
 *
 * The work on the file is transform.h's; here are the arguments, the key and
 * the numbering of the sectors.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <qcrypto/qcrypto.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "crypto/base/secure.h"
#include "tools/bench/options.h"
#include "tools/commands.h"
#include "tools/transform.h"

#define COMMAND     "plain"
#define MAX_THREADS 256
/* longer than any key, so that the error can tell a file's real length */
#define MAX_KEY_FILE 8192

typedef struct Plain {
    bool decrypt;
    QCryptoCipher *cipher;
    QCryptoIVGen *ivgen; /* NULL in modes without IV */
    uint64_t skip;       /* in 512-byte units */
    size_t sector_size;
    unsigned flags; /* QCryptoSectorFlags */
} Plain;

static int crypt_chunk(void *opaque, uint64_t offset, uint8_t *buf, size_t len,
                       GError **errp)
{
    const Plain *p = opaque;
    uint64_t number = p->skip + offset / 512;

    if (p->flags & QCRYPTO_SECTOR_IV_LARGE_SECTORS) {
        number /= p->sector_size / 512;
    }
    return (p->decrypt ? qcrypto_cipher_decrypt_sectors
                       : qcrypto_cipher_encrypt_sectors)(
        p->cipher, p->ivgen, number, p->sector_size, buf, buf,
        len / p->sector_size, p->flags, errp);
}

/* The whole file, at most MAX_KEY_FILE bytes. */
static int read_key(const char *name, uint8_t *key, size_t *nkey, GError **errp)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;

    if (fd < 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "cannot open key file '%s': %s", name,
                             g_strerror(errno));
    }
    *nkey = 0;
    do {
        n = read(fd, key + *nkey, MAX_KEY_FILE - *nkey);
        if (n > 0) {
            *nkey += (size_t)n;
        }
    } while ((n > 0 && *nkey < MAX_KEY_FILE) || (n < 0 && errno == EINTR));
    int number = errno;
    close(fd);
    if (n < 0) {
        return qcrypto_error(errp, QCRYPTO_ERROR_IO,
                             "cannot read key file '%s': %s", name,
                             g_strerror(number));
    }
    if (*nkey == MAX_KEY_FILE) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "key file '%s' has %d bytes or more", name,
                             MAX_KEY_FILE);
    }
    return 0;
}

/* Cipher and IV generator for the specification and the key file. */
static int open_cipher(Plain *p, const char *spec_text, const char *key_file,
                       const char *provider, GError **errp)
{
    uint8_t key[MAX_KEY_FILE];
    size_t nkey = 0;
    QCryptoCipherSpec spec;
    int alg = -1;

    if (qcrypto_cipher_spec_parse(spec_text, &spec, errp) < 0) {
        return -1;
    }
    if (read_key(key_file, key, &nkey, errp) < 0) {
        qcrypto_wipe(key, sizeof(key));
        return -1;
    }
    alg = qcrypto_cipher_spec_get_alg(&spec, nkey, errp);
    if (alg < 0) {
        g_prefix_error(errp, "key file '%s': ", key_file);
        /* the usual way to get one byte too many */
        if (errp && nkey > 0 && key[nkey - 1] == '\n' &&
            qcrypto_cipher_spec_get_alg(&spec, nkey - 1, NULL) >= 0) {
            g_autofree char *text = (*errp)->message;

            (*errp)->message =
                g_strdup_printf("%s; the last one is a newline", text);
        }
    } else {
        p->cipher = provider
                        ? qcrypto_cipher_new_from(provider, alg, spec.mode, key,
                                                  nkey, errp)
                        : qcrypto_cipher_new(alg, spec.mode, key, nkey, errp);
        if (p->cipher && spec.ivgen >= 0) {
            p->ivgen = qcrypto_ivgen_new(
                (QCryptoIVGenAlgo)spec.ivgen, (QCryptoCipherAlgo)alg,
                (QCryptoHashAlgo)spec.hash, key, nkey, errp);
        }
        if (qcrypto_cipher_key_is_weak(alg, spec.mode, key, nkey)) {
            fprintf(stderr, "qcrypto %s: warning: the key in '%s' is weak%s\n",
                    COMMAND, key_file,
                    spec.mode == QCRYPTO_CIPHER_MODE_XTS
                        ? " (its halves are the same)"
                        : "");
        }
    }
    qcrypto_wipe(key, sizeof(key));
    return p->cipher && (p->ivgen || spec.ivgen < 0) ? 0 : -1;
}

/*
 * dm-crypt takes sectors of 512 to 4096 bytes and first numbers that lie on
 * a sector; what it would refuse is refused here.
 */
static int check_sectors(uint64_t size, uint64_t skip, GError **errp)
{
    if (size < 512 || size > 4096 || (size & (size - 1))) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "sectors have 512, 1024, 2048 or 4096 bytes, "
                             "not %" PRIu64,
                             size);
    }
    if (skip % (size / 512)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "--skip-sectors %" PRIu64
                             " is not the beginning of a sector: those of "
                             "%" PRIu64 " bytes begin at multiples of %" PRIu64,
                             skip, size, size / 512);
    }
    return 0;
}

/* An option that was not given (text NULL) keeps its default. */
static int parse_number(const char *option, const char *text, uint64_t min,
                        uint64_t max, uint64_t *value, GError **errp)
{
    return text ? qcrypto_bench_parse_count(option, text, min, max, value, errp)
                : 0;
}

int qcrypto_cmd_plain(int argc, char **argv)
{
    g_autofree char *spec = NULL;
    g_autofree char *key_file = NULL;
    g_autofree char *provider = NULL;
    g_autofree char *sector_size = NULL;
    g_autofree char *skip = NULL;
    g_autofree char *resume = NULL;
    g_autofree char *threads = NULL;
    g_auto(GStrv) rest = NULL;
    gboolean large = FALSE;
    gboolean quiet = FALSE;
    const GOptionEntry entries[] = {
        {"cipher", 0, 0, G_OPTION_ARG_STRING, &spec,
         "aes-xts-plain64 (the default), aes-cbc-essiv:sha256, ...; the "
         "key's length picks the rest",
         "SPEC"},
        {"key-file", 0, 0, G_OPTION_ARG_FILENAME, &key_file,
         "the key, as it is, every byte of the file", "FILE"},
        {"sector-size", 0, 0, G_OPTION_ARG_STRING, &sector_size,
         "512 (the default), 1024, 2048 or 4096 bytes", "BYTES"},
        {"skip-sectors", 0, 0, G_OPTION_ARG_STRING, &skip,
         "the number of the first sector, in units of 512 bytes (0)", "N"},
        {"iv-large-sectors", 0, 0, G_OPTION_ARG_NONE, &large,
         "number the sectors by their own size", NULL},
        {"threads", 0, 0, G_OPTION_ARG_STRING, &threads,
         "default: one for each processor", "N"},
        {"provider", 0, 0, G_OPTION_ARG_STRING, &provider,
         "NAME or NAME:IMPLEMENTATION, see `qcrypto providers`", "NAME"},
        {"resume-at", 0, 0, G_OPTION_ARG_STRING, &resume,
         "go on with work in place that was stopped at this byte", "BYTE"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet,
         "do not print the rate at the end", NULL},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL,
         NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context =
        g_option_context_new("encrypt|decrypt IN OUT");
    GError *error = NULL;
    uint64_t bytes = 512;
    uint64_t nthreads = MIN(g_get_num_processors(), MAX_THREADS);
    uint64_t start = 0;
    Plain p = {0};
    int status = 1;

    g_set_prgname("qcrypto plain");
    g_option_context_set_summary(
        context,
        "Encrypts or decrypts a disk image without a header, as dm-crypt's "
        "plain mode\nlays it out.  IN and OUT may be files, block devices or "
        "\"-\"; when both are the\nsame file the work is done in place, which "
        "is not atomic.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        status = qcrypto_cmd_misuse(COMMAND, "%s", error->message);
        g_error_free(error);
        return status;
    }
    if (!rest || g_strv_length(rest) != 3 ||
        (strcmp(rest[0], "encrypt") && strcmp(rest[0], "decrypt"))) {
        return qcrypto_cmd_misuse(
            COMMAND, "takes `encrypt` or `decrypt`, an input and an output");
    }
    if (!key_file) {
        return qcrypto_cmd_misuse(COMMAND, "--key-file is missing");
    }
    p.decrypt = !strcmp(rest[0], "decrypt");
    p.flags = large ? QCRYPTO_SECTOR_IV_LARGE_SECTORS : 0;
    if (parse_number("--sector-size", sector_size, 0, 1 << 20, &bytes, &error) <
            0 ||
        parse_number("--skip-sectors", skip, 0, UINT64_MAX, &p.skip, &error) <
            0 ||
        parse_number("--resume-at", resume, 0, INT64_MAX, &start, &error) < 0 ||
        parse_number("--threads", threads, 1, MAX_THREADS, &nthreads, &error) <
            0 ||
        check_sectors(bytes, p.skip, &error) < 0) {
        status = qcrypto_cmd_misuse(COMMAND, "%s", error->message);
        g_error_free(error);
        return status;
    }
    p.sector_size = (size_t)bytes;
    if (open_cipher(&p, spec ? spec : "aes-xts-plain64", key_file, provider,
                    &error) == 0) {
        QCryptoTransform t = {
            .in = rest[1],
            .out = rest[2],
            .unit = p.sector_size,
            .start = start,
            .resumable = true,
            .threads = (unsigned)nthreads,
            .doing = p.decrypt ? "decrypting" : "encrypting",
            .done = p.decrypt ? "decrypted" : "encrypted",
            .func = crypt_chunk,
            .opaque = &p,
        };
        if (qcrypto_transform_run(&t, &error) == 0) {
            status = 0;
            if (!quiet) {
                fprintf(stderr,
                        "%s %" PRIu64 " bytes in %.3f s, %.1f MiB/s (%s:%s, "
                        "threads: %u)\n",
                        t.done, t.bytes, t.seconds,
                        t.seconds > 0
                            ? (double)t.bytes / t.seconds / (1024 * 1024)
                            : 0,
                        qcrypto_cipher_get_provider(p.cipher),
                        qcrypto_cipher_get_impl(p.cipher), t.threads);
            }
        }
    }
    if (status) {
        qcrypto_cmd_fail(COMMAND, error);
    }
    qcrypto_ivgen_free(p.ivgen);
    qcrypto_cipher_free(p.cipher);
    return status;
}
