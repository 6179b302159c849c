/*
 * qcrypto luks info: what a file or device is, and why it cannot be opened
 *
 * LUKS is looked for first, then what the first bytes say, then a partition
 * table, each of whose partitions is looked at the same way.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/error.h"
#include "tools/luks.h"
#include "tools/partition.h"
#include "tools/signature.h"

#if QCRYPTO_HAVE_JANSSON
#include <jansson.h>
#endif

/* A place, looked at. */
typedef struct Look {
    QCryptoBlockInfo *luks; /* NULL: none, or one that cannot be read */
    bool is_luks;
    char *problem;    /* why it cannot be opened */
    const char *what; /* not LUKS, in words; NULL: not known */
    QCryptoPartitionTable *table;
    /* LUKS inside a qcow2 image */
    struct Look *inside;
} Look;

static void look_free(Look *l)
{
    if (l) {
        qcrypto_block_info_free(l->luks);
        qcrypto_partition_table_free(l->table);
        look_free(l->inside);
        g_free(l->problem);
        g_free(l);
    }
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Look, look_free)

/* By the magic alone: of whatever version. */
static bool begins_luks(QCryptoBlockIO *io)
{
    static const uint8_t magic[] = {'L', 'U', 'K', 'S', 0xba, 0xbe};
    uint8_t head[sizeof(magic)];
    uint64_t size;

    return io->get_size(NULL, &size, io->opaque, NULL) == 0 &&
           size >= sizeof(head) &&
           io->read(NULL, 0, head, sizeof(head), io->opaque, NULL) == 0 &&
           !memcmp(head, magic, sizeof(magic));
}

/* False: no LUKS here, not even a damaged one. */
static bool look_for_luks(Look *l, QCryptoBlockIO *io, QCryptoBlockIO *header)
{
    const QCryptoBlockOpenOptions how = {.format = QCRYPTO_BLOCK_FORMAT_LUKS,
                                         .header = header};
    g_autoptr(GError) error = NULL;
    g_autoptr(QCryptoBlock) block = qcrypto_block_open(
        &how, io, QCRYPTO_BLOCK_OPEN_NO_UNLOCK | QCRYPTO_BLOCK_OPEN_INSPECT,
        &error);

    if (block) {
        l->luks = qcrypto_block_get_info(block, &error);
    }
    l->is_luks = block || begins_luks(header ? header : io);
    if (l->luks) {
        l->problem = g_strdup(l->luks->problem);
    } else if (l->is_luks) {
        l->problem = g_strdup(error ? error->message : "not readable");
    }
    return l->is_luks;
}

static Look *look_at(QCryptoBlockIO *io, QCryptoBlockIO *header)
{
    Look *l = g_new0(Look, 1);
    uint64_t offset, size;

    if (look_for_luks(l, io, header)) {
        return l;
    }
    l->what = qcrypto_signature_find(io);
    if (qcrypto_signature_qcow2_luks(io, &offset, &size)) {
        g_autoptr(QCryptoBlockIO) part =
            qcrypto_block_io_new_slice(io, offset, size, NULL);

        l->inside = g_new0(Look, 1);
        if (part) {
            look_for_luks(l->inside, io, part);
        }
    }
    if (!l->what) {
        g_autoptr(GError) error = NULL;

        l->table = qcrypto_partition_table_read(io, 0, &error);
        if (!l->table && g_error_matches(error, QCRYPTO_ERROR,
                                         QCRYPTO_ERROR_CORRUPT_HEADER)) {
            l->what = "a disk";
            l->problem = g_strdup(error->message);
        }
    }
    return l;
}

/* In a few words. */
static char *summary(const Look *l)
{
    if (l->luks) {
        return g_strdup_printf("a LUKS%u volume", l->luks->version);
    }
    if (l->is_luks) {
        return g_strdup("a LUKS volume");
    }
    if (l->table) {
        return g_strdup_printf("a disk with a partition table (%s)",
                               l->table->scheme);
    }
    return g_strdup(l->what ? l->what
                            : "nothing that is known here (volumes without a "
                              "header look like this)");
}

/* Why it cannot be opened; NULL: it can, given a key. */
static char *reason(const Look *l)
{
    if (l->problem) {
        return g_strdup(l->problem);
    }
    return l->is_luks ? NULL
           : l->table ? g_strdup("a volume may lie in a partition "
                                 "(--partition N)")
           : l->inside
               ? g_strdup("LUKS lies inside the image's own format, which QEMU "
                          "opens (qemu-img, qemu-nbd)")
               : g_strdup("there is no LUKS header");
}

static Look *look_into(QCryptoBlockIO *io, const QCryptoPartition *p)
{
    g_autoptr(QCryptoBlockIO) part =
        p->extended ? NULL
                    : qcrypto_block_io_new_slice(io, p->offset, p->size, NULL);

    return part ? look_at(part, NULL) : NULL;
}

/*
 * As text
 */

static void line(const char *indent, const char *name, const char *fmt, ...)
    G_GNUC_PRINTF(3, 4);

static void line(const char *indent, const char *name, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g_autofree char *text = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    /* labels come from the disk: no control characters on a terminal */
    for (char *p = text; *p; p++) {
        if (g_ascii_iscntrl(*p)) {
            *p = '?';
        }
    }
    printf("%s%-14s %s\n", indent, name, text);
}

static void text_list(const char *indent, const char *name, char **list)
{
    if (list && *list) {
        g_autofree char *text = g_strjoinv(", ", list);

        line(indent, name, "%s", text);
    }
}

static const char *const priorities[] = {"ignore", "normal", "prefer"};

static const char *priority_name(int priority)
{
    return priority >= 0 && priority < (int)G_N_ELEMENTS(priorities)
               ? priorities[priority]
               : "?";
}

static void text_slot(const char *indent, const QCryptoBlockSlotInfo *s)
{
    g_autofree char *name = g_strdup_printf("key slot %u", s->slot);
    g_autofree char *kdf =
        s->hash
            ? g_strdup_printf("%s-%s, %" PRIu64 " iterations", s->kdf, s->hash,
                              s->iterations)
            : g_strdup_printf("%s, %" PRIu64 " passes, %" PRIu32
                              " KiB, %" PRIu32 " lanes",
                              s->kdf, s->iterations, s->memory_kib, s->lanes);

    line(indent, name,
         "%s; %s, %zu-bit key, %" PRIu32 " stripes (%s), %" PRIu64
         " bytes at byte %" PRIu64 "%s%s%s",
         kdf, s->cipher, s->area_key_len * 8, s->stripes, s->af_hash,
         s->area_size, s->area_offset, s->priority == 1 ? "" : "; priority ",
         s->priority == 1 ? "" : priority_name(s->priority),
         s->unbound ? "; unbound: opens nothing here" : "");
}

static void text_segment(const char *indent, size_t i,
                         const QCryptoBlockSegmentInfo *s)
{
    g_autofree char *name = g_strdup_printf("segment %zu", i);
    g_autofree char *size = s->dynamic
                                ? g_strdup("to the end")
                                : g_strdup_printf("%" PRIu64 " bytes", s->size);

    line(indent, name,
         "%s%s%s, %s at byte %" PRIu64 ", sectors of %zu bytes"
         ", IV tweak %" PRIu64,
         s->type, s->cipher ? " " : "", s->cipher ? s->cipher : "", size,
         s->offset, s->sector_size, s->iv_tweak);
}

static void text_luks(const char *indent, const QCryptoBlockInfo *i)
{
    line(indent, "UUID", "%s", i->uuid ? i->uuid : "");
    if (i->label) {
        line(indent, "label", "%s", i->label);
    }
    if (i->subsystem) {
        line(indent, "subsystem", "%s", i->subsystem);
    }
    if (i->cipher) {
        line(indent, "cipher", "%s, %zu-bit key", i->cipher, i->key_len * 8);
    }
    line(indent, "sector size", "%zu bytes", i->sector_size);
    line(indent, "payload", "%" PRIu64 " bytes at byte %" PRIu64,
         i->payload_size, i->payload_offset);
    if (i->version == 2) {
        line(indent, "header",
             "two copies of %" PRIu64 " bytes, key slots %" PRIu64
             " bytes, sequence number %" PRIu64,
             i->header_size, i->keyslots_size, i->seqid);
    } else {
        line(indent, "header", "%" PRIu64 " bytes", i->header_size);
    }
    if (i->hash) {
        line(indent, "digest", "%s, %" PRIu64 " iterations", i->hash,
             i->digest_iterations);
    }
    text_list(indent, "flags", i->flags);
    text_list(indent, "requirements", i->requirements);
    for (size_t n = 0; n < i->nslots; n++) {
        text_slot(indent, &i->slots[n]);
    }
    if (i->nslots == 0) {
        line(indent, "key slots", "none: only the volume key opens it");
    }
    for (size_t n = 0; i->nsegments > 1 && n < i->nsegments; n++) {
        text_segment(indent, n, &i->segments[n]);
    }
    if (i->primary_problem) {
        line(indent, "first copy", "damaged: %s", i->primary_problem);
    }
    if (i->secondary_problem) {
        line(indent, "second copy", "damaged: %s", i->secondary_problem);
    }
}

static void text_partition(QCryptoBlockIO *io, const QCryptoPartition *p)
{
    g_autoptr(Look) l = look_into(io, p);
    g_autofree char *what = l ? summary(l) : NULL;
    g_autofree char *number = g_strdup_printf("partition %u", p->number);

    line("  ", number,
         "%" PRIu64 " bytes at byte %" PRIu64 ", type %s%s%s%s: %s%s%s%s%s",
         p->size, p->offset, p->type, p->name ? " \"" : "",
         p->name ? p->name : "", p->name ? "\"" : "",
         what ? what : "an extended partition, which holds others",
         l && l->luks && l->luks->uuid ? ", UUID " : "",
         l && l->luks && l->luks->uuid ? l->luks->uuid : "",
         l && l->problem ? "; cannot be opened: " : "",
         l && l->problem ? l->problem : "");
}

static void text_look(QCryptoBlockIO *io, const char *file, const Look *l)
{
    g_autofree char *what = summary(l);
    g_autofree char *why = reason(l);

    printf("%s: %s\n", file, what);
    if (l->luks) {
        text_luks("  ", l->luks);
    }
    if (l->inside && l->inside->luks) {
        text_luks("  ", l->inside->luks);
    }
    if (l->table) {
        if (l->table->problem) {
            line("  ", "table", "%s", l->table->problem);
        }
        line("  ", "sector size", "%zu bytes", l->table->sector_size);
        for (size_t i = 0; i < l->table->npartitions; i++) {
            text_partition(io, &l->table->partitions[i]);
        }
    }
    if (why) {
        line("  ", "not opened", "%s", why);
    }
}

/*
 * As JSON
 */

#if QCRYPTO_HAVE_JANSSON

/* What is no UTF-8 becomes so; NULL becomes null. */
static json_t *json_text(const char *text)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;

    return valid ? json_string(valid) : json_null();
}

static void set_text(json_t *o, const char *name, const char *text)
{
    json_object_set_new(o, name, json_text(text));
}

/* Sizes on a disk are below 2^63. */
static void set_number(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

static json_t *json_list(char **list)
{
    json_t *a = json_array();

    for (; list && *list; list++) {
        json_array_append_new(a, json_text(*list));
    }
    return a;
}

static json_t *json_slot(const QCryptoBlockSlotInfo *s)
{
    json_t *o = json_object();

    set_number(o, "slot", s->slot);
    json_object_set_new(o, "unbound", json_boolean(s->unbound));
    set_text(o, "priority", priority_name(s->priority));
    set_number(o, "key_bits", s->key_len * 8);
    set_text(o, "kdf", s->kdf);
    set_text(o, "hash", s->hash);
    set_number(o, "iterations", s->iterations);
    set_number(o, "memory_kib", s->memory_kib);
    set_number(o, "lanes", s->lanes);
    set_number(o, "stripes", s->stripes);
    set_text(o, "af_hash", s->af_hash);
    set_text(o, "cipher", s->cipher);
    set_number(o, "area_key_bits", s->area_key_len * 8);
    set_number(o, "area_offset", s->area_offset);
    set_number(o, "area_size", s->area_size);
    return o;
}

static json_t *json_segment(const QCryptoBlockSegmentInfo *s)
{
    json_t *o = json_object();

    set_text(o, "type", s->type);
    set_text(o, "cipher", s->cipher);
    set_number(o, "offset", s->offset);
    set_number(o, "size", s->size);
    json_object_set_new(o, "dynamic", json_boolean(s->dynamic));
    set_number(o, "iv_tweak", s->iv_tweak);
    set_number(o, "sector_size", s->sector_size);
    return o;
}

static json_t *json_luks(const QCryptoBlockInfo *i)
{
    json_t *o = json_object();
    json_t *slots = json_array();
    json_t *segments = json_array();

    set_number(o, "version", i->version);
    set_text(o, "uuid", i->uuid);
    set_text(o, "label", i->label);
    set_text(o, "subsystem", i->subsystem);
    set_text(o, "cipher", i->cipher);
    set_number(o, "key_bits", i->key_len * 8);
    set_text(o, "hash", i->hash);
    set_number(o, "sector_size", i->sector_size);
    set_number(o, "payload_offset", i->payload_offset);
    set_number(o, "payload_size", i->payload_size);
    set_number(o, "header_size", i->header_size);
    set_number(o, "keyslots_size", i->keyslots_size);
    set_number(o, "seqid", i->seqid);
    set_number(o, "digest_iterations", i->digest_iterations);
    set_number(o, "max_slots", i->max_slots);
    for (size_t n = 0; n < i->nslots; n++) {
        json_array_append_new(slots, json_slot(&i->slots[n]));
    }
    json_object_set_new(o, "slots", slots);
    for (size_t n = 0; n < i->nsegments; n++) {
        json_array_append_new(segments, json_segment(&i->segments[n]));
    }
    json_object_set_new(o, "segments", segments);
    json_object_set_new(o, "flags", json_list(i->flags));
    json_object_set_new(o, "requirements", json_list(i->requirements));
    set_text(o, "primary_problem", i->primary_problem);
    set_text(o, "secondary_problem", i->secondary_problem);
    /* as it stands in the header, tokens and all */
    json_object_set_new(o, "metadata",
                        i->json ? json_loads(i->json, 0, NULL) : json_null());
    return o;
}

static json_t *json_look(QCryptoBlockIO *io, const Look *l)
{
    json_t *o = json_object();
    g_autofree char *what = summary(l);
    g_autofree char *why = reason(l);
    const QCryptoBlockInfo *luks = l->luks     ? l->luks
                                   : l->inside ? l->inside->luks
                                               : NULL;

    set_text(o, "what", what);
    set_text(o, "problem", why);
    json_object_set_new(o, "luks", luks ? json_luks(luks) : json_null());
    if (l->table) {
        json_t *parts = json_array();

        set_text(o, "table", l->table->scheme);
        set_text(o, "table_problem", l->table->problem);
        set_number(o, "disk_sector_size", l->table->sector_size);
        for (size_t i = 0; i < l->table->npartitions; i++) {
            const QCryptoPartition *p = &l->table->partitions[i];
            g_autoptr(Look) inside = look_into(io, p);
            json_t *part = inside ? json_look(NULL, inside) : json_object();

            set_number(part, "number", p->number);
            set_number(part, "offset", p->offset);
            set_number(part, "size", p->size);
            set_text(part, "type", p->type);
            set_text(part, "name", p->name);
            json_array_append_new(parts, part);
        }
        json_object_set_new(o, "partitions", parts);
    }
    return o;
}

static int print_json(QCryptoBlockIO *io, const char *file, const Look *l,
                      GError **errp G_GNUC_UNUSED)
{
    json_t *o = json_look(io, l);

    set_text(o, "file", file);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    printf("\n");
    json_decref(o);
    return 0;
}

#else

static int print_json(QCryptoBlockIO *io G_GNUC_UNUSED,
                      const char *file G_GNUC_UNUSED,
                      const Look *l G_GNUC_UNUSED, GError **errp)
{
    return qcrypto_error_unsupported(errp, "--json",
                                     "this build has no jansson");
}

#endif

int qcrypto_luks_run_info(const LuksOptions *o, char **args, GError **errp)
{
    const QCryptoStorageOptions place = qcrypto_luks_tool_place(o, args[0]);
    g_autoptr(QCryptoStorage) storage = qcrypto_storage_open(&place, errp);
    g_autoptr(QCryptoStorage) header = NULL;

    if (!storage) {
        return -1;
    }
    if (o->header) {
        const QCryptoStorageOptions apart = {.file = o->header};

        header = qcrypto_storage_open(&apart, errp);
        if (!header) {
            return -1;
        }
    }
    QCryptoBlockIO *io = qcrypto_storage_io(storage);
    g_autoptr(Look) l = look_at(io, header ? qcrypto_storage_io(header) : NULL);

    if (o->json) {
        if (print_json(io, args[0], l, errp) < 0) {
            return -1;
        }
    } else {
        text_look(io, args[0], l);
    }
    return l->is_luks && !l->problem ? 0 : LUKS_NO_VOLUME;
}
