/*
 * qcrypto luks: LUKS volumes, made, opened and changed (luks.h)
 *
 * Two tables: the subcommands, each with its groups of options, and the
 * options, each with the groups it is in.  Help, parsing and the completion
 * of shells come from them.  Names and meanings are cryptsetup's wherever it
 * has the thing.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "tools/luks.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crypto/base/error.h"
#include "tools/bench/options.h"
#include "tools/commands.h"

#define TRIES 3

/* groups of options */
enum {
    PLACE = 1 << 0,
    OFFSET = 1 << 1, /* --offset is the place's */
    SIZE = 1 << 2,   /* --size is the place's */
    UNLOCK = 1 << 3,
    NEWKEY = 1 << 4,
    KDF = 1 << 5,
    AREA = 1 << 6, /* of a LUKS2 key slot */
    CREATE = 1 << 7,
    CREATEKEY = 1 << 8,
    CONFIG = 1 << 9,
    TYPE = 1 << 10,
    FORCE = 1 << 11,
    BATCH = 1 << 12,
    WORK = 1 << 13,
    RANGE = 1 << 14,
    LENGTH = 1 << 15,
    RESUME = 1 << 16,
    SPARSE = 1 << 17,
    JSON = 1 << 18,
    SLOT = 1 << 19,

    WHERE = PLACE | OFFSET | SIZE,
    OPEN = UNLOCK | SLOT,
};

struct LuksCommand {
    const char *name;
    LuksRun *run;
    const char *args;
    unsigned min_args, max_args;
    unsigned groups;
    const char *summary;
};

static const LuksCommand commands[] = {
    {"create", qcrypto_luks_run_create, "FILE", 1, 1,
     PLACE | OFFSET | CREATE | CREATEKEY | CONFIG | TYPE | KDF | AREA | FORCE |
         BATCH | SLOT,
     "make a volume, in a new file or over what is there"},
    {"info", qcrypto_luks_run_info, "FILE", 1, 1, WHERE | JSON,
     "what a file or device is, and why it cannot be opened"},
    {"open-test", qcrypto_luks_run_open_test, "VOLUME", 1, 1, WHERE | OPEN,
     "try a passphrase; tells the key slot"},
    {"add-key", qcrypto_luks_run_add_key, "VOLUME [NEW-KEY-FILE]", 1, 2,
     WHERE | OPEN | NEWKEY | KDF | AREA | BATCH, "a further passphrase"},
    {"change-key", qcrypto_luks_run_change_key, "VOLUME [NEW-KEY-FILE]", 1, 2,
     WHERE | OPEN | NEWKEY | KDF | AREA | BATCH,
     "another passphrase in a slot"},
    {"convert-key", qcrypto_luks_run_convert_key, "VOLUME", 1, 1,
     WHERE | OPEN | KDF | AREA, "the same passphrase at another cost"},
    {"remove-key", qcrypto_luks_run_remove_key, "VOLUME [KEY-FILE]", 1, 2,
     WHERE | OPEN | FORCE | BATCH, "the slot that a passphrase opens"},
    {"kill-slot", qcrypto_luks_run_kill_slot, "VOLUME SLOT", 2, 2,
     WHERE | UNLOCK | FORCE | BATCH, "a slot, by number"},
    {"set-priority", qcrypto_luks_run_set_priority,
     "VOLUME SLOT ignore|normal|prefer", 3, 3, WHERE,
     "which slot is tried first, or never (LUKS2)"},
    {"config", qcrypto_luks_run_config, "VOLUME", 1, 1, WHERE | CONFIG,
     "UUID, label, subsystem, persistent flags"},
    {"dump-volume-key", qcrypto_luks_run_dump_volume_key,
     "VOLUME [OUTPUT-FILE]", 1, 2, WHERE | OPEN | FORCE | BATCH,
     "the key itself, which opens the volume for ever"},
    {"backup-header", qcrypto_luks_run_backup_header, "VOLUME BACKUP-FILE", 2,
     2, WHERE | FORCE, "header and key slots into a file"},
    {"restore-header", qcrypto_luks_run_restore_header, "VOLUME BACKUP-FILE", 2,
     2, WHERE | FORCE | BATCH, "... and back"},
    {"convert", qcrypto_luks_run_convert, "VOLUME --type luks1|luks2", 1, 1,
     WHERE | TYPE | BATCH, "LUKS1 to LUKS2 and back"},
    {"encrypt", qcrypto_luks_run_encrypt, "IN VOLUME", 2, 2,
     PLACE | OFFSET | OPEN | CREATE | CONFIG | TYPE | KDF | AREA | BATCH |
         WORK | RESUME,
     "an image into a volume, which is made when there is none"},
    {"decrypt", qcrypto_luks_run_decrypt, "VOLUME OUT", 2, 2,
     WHERE | OPEN | WORK | SPARSE | BATCH, "a volume into an image"},
    {"read", qcrypto_luks_run_read, "VOLUME [OUT]", 1, 2,
     PLACE | OPEN | WORK | RANGE | LENGTH | BATCH, "a part of the payload"},
    {"write", qcrypto_luks_run_write, "VOLUME [IN]", 1, 2,
     PLACE | OPEN | WORK | RANGE | BATCH, "... and back"},
};

static LuksOptions opt;

typedef struct Option {
    const char *name;
    char letter;
    unsigned groups;
    enum { FLAG, TEXT, PATH, COUNT, BYTES } kind;
    void *value;
    uint64_t min, max; /* of numbers */
    const char *help, *arg;
} Option;

#define MAX_SIZE INT64_MAX

/* clang-format off */
static const Option options[] = {
    {"volume-offset", 0, PLACE, BYTES, &opt.offset, 0, MAX_SIZE,
     "the volume begins at this byte of the file", "BYTES"},
    {"offset", 0, OFFSET, BYTES, &opt.offset, 0, MAX_SIZE,
     "the same", "BYTES"},
    {"volume-size", 0, PLACE, BYTES, &opt.size, 1, MAX_SIZE,
     "... and has so many bytes, header included (up to the end)", "BYTES"},
    {"size", 0, SIZE, BYTES, &opt.size, 1, MAX_SIZE,
     "the same", "BYTES"},
    {"partition", 0, PLACE, COUNT, &opt.partition, 1, 1 << 20,
     "... or is this partition of the disk (GPT, MBR)", "N"},
    {"disk-sector-size", 0, PLACE, BYTES, &opt.disk_sector_size, 512, 4096,
     "of a disk with an MBR: 512, 4096", "BYTES"},
    {"header", 0, PLACE, PATH, &opt.header, 0, 0,
     "the header lies apart, in this file", "FILE"},

    {"key-file", 'd', UNLOCK | CREATEKEY, PATH, &opt.key.file, 0, 0,
     "the passphrase is this file's bytes (\"-\": of standard input)", "FILE"},
    {"keyfile-offset", 0, UNLOCK | CREATEKEY, BYTES, &opt.key.offset, 0, MAX_SIZE,
     "... from this byte on", "BYTES"},
    {"keyfile-size", 'l', UNLOCK | CREATEKEY, BYTES, &opt.key.size, 1, MAX_SIZE,
     "... so many", "BYTES"},
    {"key-fd", 0, UNLOCK | CREATEKEY, COUNT, &opt.key.fd, 0, INT32_MAX,
     "the passphrase is what this descriptor gives", "N"},
    {"volume-key-file", 0, UNLOCK | CREATEKEY, PATH, &opt.volume_key_file, 0, 0,
     "the volume key itself, instead of a passphrase", "FILE"},
    {"key-slot", 'S', SLOT, COUNT, &opt.key_slot, 0, 31,
     "this key slot alone", "N"},
    {"tries", 'T', UNLOCK, COUNT, &opt.tries, 1, 1000,
     "how often a passphrase may be typed (3)", "N"},
    {"max-unlock-time", 0, UNLOCK, COUNT, &opt.max_unlock_time, 1, 1 << 30,
     "refuse slots whose derivation is predicted to take longer (60)",
     "SECONDS"},
    {"max-unlock-memory", 0, UNLOCK, COUNT, &opt.max_unlock_memory, 1,
     UINT32_MAX, "... or more memory (what can be had)", "KiB"},
    {"provider", 0, UNLOCK | CREATE, TEXT, &opt.provider, 0, 0,
     "cipher by NAME or NAME:IMPLEMENTATION, see `qcrypto providers`", "NAME"},

    {"new-keyfile", 0, NEWKEY, PATH, &opt.new_key.file, 0, 0,
     "the new passphrase is this file's bytes", "FILE"},
    {"new-keyfile-offset", 0, NEWKEY, BYTES, &opt.new_key.offset, 0, MAX_SIZE,
     "... from this byte on", "BYTES"},
    {"new-keyfile-size", 0, NEWKEY, BYTES, &opt.new_key.size, 1, MAX_SIZE,
     "... so many", "BYTES"},
    {"new-key-fd", 0, NEWKEY, COUNT, &opt.new_key.fd, 0, INT32_MAX,
     "the new passphrase is what this descriptor gives", "N"},
    {"new-key-slot", 0, NEWKEY, COUNT, &opt.new_key_slot, 0, 31,
     "the slot to be filled (the first that is free)", "N"},

    {"type", 0, TYPE, TEXT, &opt.type, 0, 0,
     "luks1, luks2", "TYPE"},
    {"size", 0, CREATE, BYTES, &opt.payload_size, 512, MAX_SIZE,
     "of the payload, that is of the disk inside (what the place has room for)",
     "BYTES"},
    {"cipher", 'c', CREATE, TEXT, &opt.cipher, 0, 0,
     "aes-xts-plain64 (the default), serpent-cbc-essiv:sha256, ...", "SPEC"},
    {"key-size", 's', CREATE, COUNT, &opt.key_size, 8, 8 * 512,
     "of the volume key (512 in XTS, else 256)", "BITS"},
    {"sector-size", 0, CREATE, BYTES, &opt.sector_size, 512, 4096,
     "of encryption: 512 to 4096 (LUKS2: 4096 where the size allows)", "BYTES"},
    {"luks2-metadata-size", 0, CREATE, BYTES, &opt.metadata_size, 1, MAX_SIZE,
     "of one copy of the header (16k)", "BYTES"},
    {"luks2-keyslots-size", 0, CREATE, BYTES, &opt.keyslots_size, 1, MAX_SIZE,
     "of all the key slots (up to 16m)", "BYTES"},
    {"payload-offset", 0, CREATE, BYTES, &opt.payload_offset, 1, MAX_SIZE,
     "where the payload begins (behind the header)", "BYTES"},

    {"hash", 0, CREATE | KDF, TEXT, &opt.hash, 0, 0,
     "of PBKDF2, digest and splitter (sha256)", "HASH"},
    {"pbkdf", 0, KDF, TEXT, &opt.pbkdf, 0, 0,
     "argon2id (the default of LUKS2), argon2i, pbkdf2", "KDF"},
    {"iter-time", 'i', KDF, COUNT, &opt.iter_time, 1, 1 << 30,
     "unlocking is to take so long on this machine (2000)", "MS"},
    {"pbkdf-force-iterations", 0, KDF, COUNT, &opt.force_iterations, 1,
     UINT32_MAX, "this cost exactly, nothing measured", "N"},
    {"pbkdf-memory", 0, KDF, COUNT, &opt.pbkdf_memory, 32, UINT32_MAX,
     "Argon2: the most it may take (1048576)", "KiB"},
    {"pbkdf-parallel", 0, KDF, COUNT, &opt.pbkdf_parallel, 1, 4,
     "Argon2: lanes (processors, at most 4)", "N"},
    {"keyslot-cipher", 0, AREA, TEXT, &opt.keyslot_cipher, 0, 0,
     "LUKS2: of the key slot (the data's)", "SPEC"},
    {"keyslot-key-size", 0, AREA, COUNT, &opt.keyslot_key_size, 8, 8 * 512,
     "LUKS2: ... and its key", "BITS"},
    {"priority", 0, AREA, TEXT, &opt.priority, 0, 0,
     "LUKS2: ignore, normal, prefer", "PRIORITY"},

    {"uuid", 0, CONFIG, TEXT, &opt.uuid, 0, 0,
     "its number (random)", "UUID"},
    {"label", 0, CONFIG, TEXT, &opt.label, 0, 0,
     "LUKS2", "TEXT"},
    {"subsystem", 0, CONFIG, TEXT, &opt.subsystem, 0, 0,
     "LUKS2", "TEXT"},
    {"persistent", 0, CONFIG, TEXT, &opt.persistent, 0, 0,
     "LUKS2: flags for who activates it: allow-discards, same-cpu-crypt, ...; "
     "\"\" for none", "FLAG,..."},

    {"offset", 0, RANGE, BYTES, &opt.data_offset, 0, MAX_SIZE,
     "from this byte of the payload on (0)", "BYTES"},
    {"length", 0, LENGTH, BYTES, &opt.data_length, 0, MAX_SIZE,
     "so many bytes (up to the end)", "BYTES"},
    {"threads", 0, WORK, COUNT, &opt.threads, 1, 256,
     "default: one for each processor", "N"},
    {"resume-at", 0, RESUME, BYTES, &opt.resume_at, 0, MAX_SIZE,
     "go on with writing that was stopped at this byte", "BYTE"},
    {"dense", 0, SPARSE, FLAG, &opt.dense, 0, 0,
     "write zeros too, instead of holes", NULL},
    {"json", 0, JSON, FLAG, &opt.json, 0, 0,
     "as one JSON object", NULL},
    {"force", 0, FORCE, FLAG, &opt.force, 0, 0,
     "although it loses something", NULL},
    {"batch-mode", 'q', BATCH, FLAG, &opt.batch, 0, 0,
     "no questions, no rate at the end", NULL},
};
/* clang-format on */

/*
 * Parsing
 */

static const LuksCommand *find_command(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (!strcmp(name, commands[i].name)) {
            return &commands[i];
        }
    }
    return NULL;
}

static const Option *find_option(const LuksCommand *c, const char *dashed)
{
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        const Option *o = &options[i];

        if (o->groups & c->groups &&
            (dashed[1] == '-' ? !strcmp(dashed + 2, o->name)
                              : dashed[1] == o->letter)) {
            return o;
        }
    }
    return NULL;
}

static gboolean parse_number(const char *dashed, const char *text,
                             gpointer command, GError **errp)
{
    const Option *o = find_option(command, dashed);
    LuksNumber *n = o->value;

    n->given = true;
    return (o->kind == BYTES ? qcrypto_bench_parse_size
                             : qcrypto_bench_parse_count)(
               dashed, text, o->min, o->max, &n->value, errp) == 0;
}

static void add_option(GArray *entries, const Option *o)
{
    static const GOptionArg args[] = {
        [FLAG] = G_OPTION_ARG_NONE,      [TEXT] = G_OPTION_ARG_STRING,
        [PATH] = G_OPTION_ARG_FILENAME,  [COUNT] = G_OPTION_ARG_CALLBACK,
        [BYTES] = G_OPTION_ARG_CALLBACK,
    };
    const GOptionEntry entry = {
        .long_name = o->name,
        .short_name = o->letter,
        .arg = args[o->kind],
        .arg_data = args[o->kind] == G_OPTION_ARG_CALLBACK
                        ? (gpointer)(uintptr_t)parse_number
                        : o->value,
        .description = o->help,
        .arg_description = o->arg,
    };

    g_array_append_val(entries, entry);
}

static GOptionContext *context_of(const LuksCommand *c, char ***rest)
{
    g_autoptr(GArray) entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    const GOptionEntry positional = {.long_name = G_OPTION_REMAINING,
                                     .arg = G_OPTION_ARG_FILENAME_ARRAY,
                                     .arg_data = rest};
    g_autofree char *usage = g_strdup_printf("%s", c->args);
    GOptionContext *context = g_option_context_new(usage);
    GOptionGroup *group =
        g_option_group_new("", "", "", (gpointer)(uintptr_t)c, NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        if (options[i].groups & c->groups) {
            add_option(entries, &options[i]);
        }
    }
    g_array_append_val(entries, positional);
    g_option_group_add_entries(group, (GOptionEntry *)(void *)entries->data);
    g_option_context_set_main_group(context, group);
    g_option_context_set_summary(context, c->summary);
    return context;
}

/* cryptsetup's statuses, by the kind of error */
static int status_of(const GError *error)
{
    static const int statuses[] = {
        [QCRYPTO_ERROR_INVALID_ARGUMENT] = LUKS_WRONG_USE,
        [QCRYPTO_ERROR_UNSUPPORTED] = LUKS_WRONG_USE,
        [QCRYPTO_ERROR_BACKEND_UNAVAILABLE] = LUKS_WRONG_USE,
        [QCRYPTO_ERROR_WEAK_KEY] = LUKS_WRONG_USE,
        [QCRYPTO_ERROR_WRONG_PASSPHRASE] = LUKS_WRONG_PASSPHRASE,
        [QCRYPTO_ERROR_CORRUPT_HEADER] = LUKS_NO_VOLUME,
        [QCRYPTO_ERROR_OUT_OF_MEMORY] = LUKS_NO_MEMORY,
        [QCRYPTO_ERROR_TOO_COSTLY] = LUKS_NO_MEMORY,
        [QCRYPTO_ERROR_IO] = LUKS_NO_VOLUME,
        [QCRYPTO_ERROR_ENTROPY] = LUKS_WRONG_USE,
        [QCRYPTO_ERROR_BUSY] = LUKS_EXISTS,
    };

    return error && error->domain == QCRYPTO_ERROR &&
                   (size_t)error->code < G_N_ELEMENTS(statuses)
               ? statuses[error->code]
               : LUKS_WRONG_USE;
}

static int run_command(const LuksCommand *c, int argc, char **argv)
{
    g_autofree char *name = g_strdup_printf("luks %s", c->name);
    g_autofree char *prgname = g_strdup_printf("qcrypto %s", name);
    g_auto(GStrv) rest = NULL;
    g_autoptr(GOptionContext) context = context_of(c, &rest);
    GError *error = NULL;

    g_set_prgname(prgname);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        qcrypto_cmd_misuse(name, "%s", error->message);
        g_error_free(error);
        return LUKS_WRONG_USE;
    }
    const unsigned n = rest ? g_strv_length(rest) : 0;
    if (n < c->min_args || n > c->max_args) {
        qcrypto_cmd_misuse(name, "takes %s", c->args);
        return LUKS_WRONG_USE;
    }
    int status = c->run(&opt, rest, &error);
    if (status < 0) {
        status = status_of(error);
        qcrypto_cmd_fail(name, error);
    }
    return status;
}

static void print_help(void)
{
    printf("Usage: qcrypto luks COMMAND [ARGUMENTS]\n\nCommands:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        printf("  %-16s %s\n", commands[i].name, commands[i].summary);
    }
    printf("\nA VOLUME is a file, a block device or an NBD URI "
           "(nbd://host/export,\nnbd+unix:///export?socket=PATH).\n\n"
           "`qcrypto luks COMMAND --help` tells the arguments of a command.\n");
}

int qcrypto_cmd_luks(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;

    if (name && (!strcmp(name, "--help") || !strcmp(name, "-h"))) {
        print_help();
        return 0;
    }
    const LuksCommand *c = name ? find_command(name) : NULL;
    if (!c) {
        qcrypto_cmd_misuse(
            "luks", name ? "unknown command '%s'" : "a command is missing",
            name);
        return LUKS_WRONG_USE;
    }
    return run_command(c, argc - 1, argv + 1);
}

/*
 * What the subcommands share
 */

QCryptoStorageOptions qcrypto_luks_tool_place(const LuksOptions *o,
                                              const char *file)
{
    return (QCryptoStorageOptions){
        .file = file,
        .offset = o->offset.value,
        .size = o->size.value,
        .partition = (unsigned)o->partition.value,
        .disk_sector_size = (size_t)o->disk_sector_size.value,
        .connections = o->threads.given ? (unsigned)o->threads.value
                                        : g_get_num_processors(),
    };
}

static QCryptoPassphrase source_of(const LuksKeySource *s)
{
    return (QCryptoPassphrase){
        .file = s->file,
        .offset = s->offset.value,
        .size = s->size.value,
        .use_fd = s->fd.given,
        .fd = (int)s->fd.value,
    };
}

QCryptoSecret *qcrypto_luks_tool_passphrase(const LuksOptions *o,
                                            const LuksKeySource *source,
                                            const char *what, const char *file,
                                            bool fresh, GError **errp)
{
    g_autofree char *prompt = g_strdup_printf("%s for %s", what, file);
    QCryptoPassphrase p = source_of(source);

    if (p.use_fd && p.file) {
        qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                      "a key file and a descriptor are two passphrases");
        return NULL;
    }
    p.prompt = prompt;
    p.fresh = fresh;
    p.confirm = fresh && !o->batch;
    return qcrypto_passphrase_get(&p, errp);
}

static int open_storage(const LuksOptions *o, const char *file,
                        LuksAccess access, LuksVolume *v, GError **errp)
{
    QCryptoStorageOptions place = qcrypto_luks_tool_place(o, file);

    place.writable = access == LUKS_WRITE_DATA ||
                     (access == LUKS_CHANGE_HEADER && !o->header);
    v->storage = qcrypto_storage_open(&place, errp);
    if (v->storage && o->header) {
        const QCryptoStorageOptions apart = {
            .file = o->header, .writable = access == LUKS_CHANGE_HEADER};

        v->header = qcrypto_storage_open(&apart, errp);
    }
    return v->storage && (v->header || !o->header) ? 0 : -1;
}

void qcrypto_luks_tool_name_volume(const LuksOptions *o, const char *file,
                                   GError **errp)
{
    if (o->header) {
        g_prefix_error(errp, "'%s' with the header '%s': ", file, o->header);
    } else {
        g_prefix_error(errp, "'%s': ", file);
    }
}

static int unlock(const LuksOptions *o, const char *file,
                  QCryptoBlockOpenOptions *how, unsigned flags, LuksVolume *v,
                  GError **errp)
{
    const QCryptoPassphrase source = source_of(&o->key);
    g_autoptr(QCryptoSecret) volume_key = NULL;
    uint64_t tries = !qcrypto_passphrase_is_typed(&source) ? 1
                     : o->tries.given                      ? o->tries.value
                                                           : TRIES;

    if (o->volume_key_file && (o->key.file || o->key.fd.given)) {
        return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                             "a volume is opened by a passphrase or by its "
                             "volume key, one of them");
    }
    if (o->volume_key_file) {
        volume_key =
            qcrypto_secret_new_from_file(o->volume_key_file, 0, 0, errp);
        if (!volume_key) {
            return -1;
        }
        how->volume_key = volume_key;
        tries = 1;
    }
    while (!v->block) {
        g_autoptr(QCryptoSecret) passphrase = NULL;
        GError *error = NULL;

        if (!volume_key) {
            passphrase = qcrypto_luks_tool_passphrase(o, &o->key, "Passphrase",
                                                      file, false, errp);
            if (!passphrase) {
                return -1;
            }
            how->passphrase = passphrase;
        }
        v->block = qcrypto_block_open(how, qcrypto_storage_io(v->storage),
                                      flags, &error);
        if (error) {
            if (--tries == 0 ||
                !g_error_matches(error, QCRYPTO_ERROR,
                                 QCRYPTO_ERROR_WRONG_PASSPHRASE)) {
                g_propagate_error(errp, error);
                qcrypto_luks_tool_name_volume(o, file, errp);
                return -1;
            }
            fprintf(stderr, "%s\n", error->message);
            g_error_free(error);
        }
    }
    return 0;
}

int qcrypto_luks_tool_open(const LuksOptions *o, const char *file,
                           LuksAccess access, unsigned flags, LuksVolume *v,
                           GError **errp)
{
    *v = (LuksVolume){0};
    if (open_storage(o, file, access, v, errp) < 0) {
        return -1;
    }
    QCryptoBlockOpenOptions how = {
        .format = QCRYPTO_BLOCK_FORMAT_LUKS,
        .use_slot = o->key_slot.given,
        .slot = (unsigned)o->key_slot.value,
        .header = v->header ? qcrypto_storage_io(v->header) : NULL,
        .max_unlock_time_ms = o->max_unlock_time.value * 1000,
        .max_unlock_memory_kib = o->max_unlock_memory.value,
        .provider = o->provider,
    };
    /* nobody wants to type a passphrase for what cannot be opened */
    QCryptoBlock *block =
        qcrypto_block_open(&how, qcrypto_storage_io(v->storage),
                           flags | QCRYPTO_BLOCK_OPEN_NO_UNLOCK, errp);
    if (!block) {
        qcrypto_luks_tool_name_volume(o, file, errp);
        return -1;
    }
    if (flags & QCRYPTO_BLOCK_OPEN_NO_UNLOCK) {
        v->block = block;
        return 0;
    }
    qcrypto_block_free(block);
    return unlock(o, file, &how, flags, v, errp);
}

void qcrypto_luks_tool_close(LuksVolume *v)
{
    qcrypto_block_free(v->block);
    qcrypto_storage_free(v->header);
    qcrypto_storage_free(v->storage);
    *v = (LuksVolume){0};
}

static int bits_to_bytes(const char *option, const LuksNumber *bits,
                         size_t *bytes, GError **errp)
{
    if (bits->value % 8) {
        return qcrypto_error(
            errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
            "%s counts bits, in whole bytes: %" G_GUINT64_FORMAT
            " is no multiple of 8",
            option, bits->value);
    }
    *bytes = (size_t)bits->value / 8;
    return 0;
}

int qcrypto_luks_tool_key_size(const LuksOptions *o, size_t *bytes,
                               GError **errp)
{
    return bits_to_bytes("--key-size", &o->key_size, bytes, errp);
}

int qcrypto_luks_tool_priority(const char *text, int *priority, GError **errp)
{
    static const char *const names[] = {"ignore", "normal", "prefer"};

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (!strcmp(text, names[i])) {
            *priority = (int)i;
            return 0;
        }
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                         "a priority is ignore, normal or prefer, not '%s'",
                         text);
}

int qcrypto_luks_tool_slot_options(const LuksOptions *o,
                                   QCryptoBlockSlotOptions *slot, GError **errp)
{
    *slot = (QCryptoBlockSlotOptions){
        .kdf =
            {
                .kdf = o->pbkdf,
                .hash = o->hash,
                .iter_time_ms = (unsigned)o->iter_time.value,
                .iterations = o->force_iterations.value,
                .memory_kib = (uint32_t)o->pbkdf_memory.value,
                .lanes = (uint32_t)o->pbkdf_parallel.value,
            },
        .cipher = o->keyslot_cipher,
    };
    if (o->priority) {
        slot->set_priority = true;
        if (qcrypto_luks_tool_priority(o->priority, &slot->priority, errp) <
            0) {
            return -1;
        }
    }
    return bits_to_bytes("--keyslot-key-size", &o->keyslot_key_size,
                         &slot->key_len, errp);
}

int qcrypto_luks_tool_slot_number(const char *text, unsigned *slot,
                                  GError **errp)
{
    uint64_t number;

    if (qcrypto_bench_parse_count("SLOT", text, 0, 31, &number, errp) < 0) {
        return -1;
    }
    *slot = (unsigned)number;
    return 0;
}

int qcrypto_luks_tool_check_apart(const LuksOptions *o, const char *file,
                                  const char *out, GError **errp)
{
    const char *const sides[] = {file, o->header};
    struct stat st, side;

    for (size_t i = 0; i < G_N_ELEMENTS(sides); i++) {
        if (sides[i] && stat(out, &st) == 0 && stat(sides[i], &side) == 0 &&
            qcrypto_same_file(&st, &side)) {
            return qcrypto_error(errp, QCRYPTO_ERROR_INVALID_ARGUMENT,
                                 "'%s' is the volume%s itself", out,
                                 i == 0 ? "" : "'s header");
        }
    }
    return 0;
}

int qcrypto_luks_tool_confirm(const LuksOptions *o, const char *question,
                              GError **errp)
{
    char answer[8] = "";

    if (o->batch || o->force) {
        return 0;
    }
    if (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1) {
        fprintf(stderr, "%s\nType YES in capitals to go on: ", question);
        if (fgets(answer, sizeof(answer), stdin) && !strcmp(answer, "YES\n")) {
            return 0;
        }
    }
    return qcrypto_error(errp, QCRYPTO_ERROR_BUSY, "%s", question);
}
