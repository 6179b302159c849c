/*
 * The metadata of LUKS2 (LUKS2 On-Disk Format Specification 1.1, chapter 3)
 *
 * JSON that somebody else may have written on purpose.  So, in this order:
 *
 *   - the text is looked over before a parser sees it: where it ends, how
 *     deep it goes and how many values it has, which bounds the memory that
 *     the tree can take;
 *   - every member that is read has its type and range checked, numbers in
 *     strings included; members nobody here knows are left alone;
 *   - offsets are compared with each other only after their sums were seen
 *     not to wrap; areas and segments do not overlap; references name what
 *     is there;
 *   - what is right and can not be opened (requirements, segments of other
 *     types, integrity) becomes the model's problem, so that it can still be
 *     shown.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <jansson.h>
#include <string.h>

#include "crypto/base/error.h"
#include "crypto/block/luks2.h"

#define U64 G_GUINT64_FORMAT

#define MAX_DEPTH         32
#define MAX_VALUES        20000
#define MAX_KEYSLOTS_SIZE ((uint64_t)128 << 20)
#define MAX_TOKENS        32
#define ALIGNMENT         4096
#define SECTOR            512u
#define MIN_DIGEST        16
#define MIN_ARGON2_SALT   8
#define MAX_LANES         0xffffff

#define CORRUPT QCRYPTO_LUKS_CORRUPT

/* ---- the text ---- */

/*
 * Counts what may become a value: each begins after one of these characters.
 * A text that is no JSON may be counted wrong and is refused by the parser.
 */
static int look_over(const char *text, size_t len, GError **errp)
{
    size_t values = 0, depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < len; i++) {
        const char c = text[i];

        if (in_string) {
            if (c == '\\') {
                i++;
            }
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
        values += c == '{' || c == '[' || c == ',' || c == ':';
        if (depth > MAX_DEPTH) {
            return CORRUPT(errp, "JSON: nested deeper than %d", MAX_DEPTH);
        }
        if (values > MAX_VALUES) {
            return CORRUPT(errp, "JSON: more than %d values", MAX_VALUES);
        }
    }
    return 0;
}

json_t *qcrypto_luks2_load(const char *area, size_t size, GError **errp)
{
    const size_t len = strnlen(area, size);
    json_error_t e;

    if (len == size) {
        CORRUPT(errp, "JSON: does not end within its %zu bytes", size);
        return NULL;
    }
    for (size_t i = len; i < size; i++) {
        if (area[i]) {
            CORRUPT(errp,
                    "JSON: bytes that are not zero behind its end, at %zu", i);
            return NULL;
        }
    }
    if (area[0] != '{') {
        CORRUPT(errp, "JSON: not an object");
        return NULL;
    }
    if (look_over(area, len, errp) < 0) {
        return NULL;
    }
    json_t *json = json_loadb(area, len, JSON_REJECT_DUPLICATES, &e);
    if (!json && json_error_code(&e) == json_error_out_of_memory) {
        qcrypto_error_memory(errp, "JSON", len / 1024 + 1, 0);
    } else if (!json) {
        /* the parser's text may quote the header: nothing that does not print */
        g_autofree char *safe = g_strescape(e.text, NULL);

        CORRUPT(errp, "JSON: %s (at byte %d)", safe, e.position);
    }
    return json;
}

/* ---- members ---- */

static const char *type_name(json_type type)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",  [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real",      [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };

    return names[type];
}

/* NULL and no error: not there and not required */
static json_t *find(const json_t *object, const char *where, const char *name,
                    json_type type, bool required, GError **errp)
{
    json_t *value = json_object_get(object, name);

    if (!value && required) {
        CORRUPT(errp, "%s: no member \"%s\"", where, name);
    } else if (value && json_typeof(value) != type) {
        CORRUPT(errp, "%s: \"%s\" is %s, not %s", where, name,
                type_name(json_typeof(value)), type_name(type));
        return NULL;
    }
    return value;
}

static json_t *get(const json_t *object, const char *where, const char *name,
                   json_type type, GError **errp)
{
    return find(object, where, name, type, true, errp);
}

/* A member that may be missing; false: it is there and wrong */
static bool find_optional(const json_t *object, const char *where,
                          const char *name, json_type type, json_t **value,
                          GError **errp)
{
    *value = find(object, where, name, type, false, errp);
    return *value || !json_object_get(object, name);
}

static int get_int(const json_t *object, const char *where, const char *name,
                   uint64_t min, uint64_t max, uint64_t *out, GError **errp)
{
    const json_t *value = get(object, where, name, JSON_INTEGER, errp);

    if (!value) {
        return -1;
    }
    const json_int_t n = json_integer_value(value);
    if (n < 0 || (uint64_t)n < min || (uint64_t)n > max) {
        return CORRUPT(errp,
                       "%s: \"%s\" is %" JSON_INTEGER_FORMAT ", not %" U64
                       " to %" U64,
                       where, name, n, min, max);
    }
    *out = (uint64_t)n;
    return 0;
}

/* 64-bit numbers stand in strings, decimal and nothing else. */
static int get_u64(const json_t *object, const char *where, const char *name,
                   uint64_t *out, GError **errp)
{
    const json_t *value = get(object, where, name, JSON_STRING, errp);
    guint64 n;

    if (!value) {
        return -1;
    }
    if (!g_ascii_string_to_unsigned(json_string_value(value), 10, 0, UINT64_MAX,
                                    &n, NULL)) {
        return CORRUPT(errp, "%s: \"%s\" is no decimal number of 64 bits",
                       where, name);
    }
    *out = n;
    return 0;
}

static int get_text(const json_t *object, const char *where, const char *name,
                    char *out, size_t room, GError **errp)
{
    const json_t *value = get(object, where, name, JSON_STRING, errp);

    if (!value) {
        return -1;
    }
    const size_t len = json_string_length(value);
    if (!len || len >= room) {
        return CORRUPT(errp, "%s: \"%s\" has %zu bytes, not 1 to %zu", where,
                       name, len, room - 1);
    }
    for (size_t i = 0; i < len; i++) {
        const char c = json_string_value(value)[i];

        if (!g_ascii_isprint(c)) {
            return CORRUPT(errp,
                           "%s: \"%s\" has a character that does not print",
                           where, name);
        }
    }
    memcpy(out, json_string_value(value), len + 1);
    return 0;
}

static int get_base64(const json_t *object, const char *where, const char *name,
                      size_t min, size_t max, uint8_t *out, size_t *nout,
                      GError **errp)
{
    const json_t *value = get(object, where, name, JSON_STRING, errp);
    g_autoptr(GError) why = NULL;

    if (!value) {
        return -1;
    }
    /* four characters hold three bytes: longer ones need no decoding */
    g_autoptr(QCryptoSecret) bytes = NULL;
    size_t n = json_string_length(value) / 4 * 3;
    if (n <= max + 3) {
        bytes = qcrypto_secret_new_from_base64(json_string_value(value), &why);
        if (!bytes &&
            g_error_matches(why, QCRYPTO_ERROR, QCRYPTO_ERROR_OUT_OF_MEMORY)) {
            g_propagate_error(errp, g_steal_pointer(&why));
            return -1;
        }
        if (!bytes) {
            return CORRUPT(errp, "%s: \"%s\": %s", where, name, why->message);
        }
        qcrypto_secret_get(bytes, &n);
    }
    if (n < min || n > max) {
        return CORRUPT(errp, "%s: \"%s\" has %zu bytes, not %zu to %zu", where,
                       name, n, min, max);
    }
    memcpy(out, qcrypto_secret_get(bytes, NULL), n);
    *nout = n;
    return 0;
}

/* A name that is a number below limit, in the one way of writing it. */
static int parse_id(const char *text, unsigned limit, unsigned *id)
{
    guint64 n;

    if (!g_ascii_string_to_unsigned(text, 10, 0, limit - 1, &n, NULL) ||
        (text[0] == '0' && text[1])) {
        return -1;
    }
    *id = (unsigned)n;
    return 0;
}

/* An array of numbers in strings, as a set; each must be in known. */
static int get_ids(const json_t *object, const char *where, const char *name,
                   uint64_t known, uint64_t *set, GError **errp)
{
    const json_t *array = get(object, where, name, JSON_ARRAY, errp);

    if (!array) {
        return -1;
    }
    *set = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);
        unsigned id;

        if (!json_is_string(value) ||
            parse_id(json_string_value(value), 64, &id) < 0 ||
            !(known >> id & 1)) {
            return CORRUPT(errp, "%s: \"%s\" names one that is not there",
                           where, name);
        }
        *set |= UINT64_C(1) << id;
    }
    return 0;
}

/* An array of strings; NULL for a member that is not there. */
static int get_texts(const json_t *object, const char *where, const char *name,
                     char ***out, GError **errp)
{
    json_t *array;

    if (!find_optional(object, where, name, JSON_ARRAY, &array, errp)) {
        return -1;
    }
    if (!array) {
        return 0;
    }
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *value = json_array_get(array, i);

        if (!json_is_string(value)) {
            return CORRUPT(errp, "%s: \"%s\" has %s, not a string", where, name,
                           type_name(json_typeof(value)));
        }
        g_ptr_array_add(texts, g_strdup(json_string_value(value)));
    }
    g_ptr_array_add(texts, NULL);
    *out = (char **)g_ptr_array_free(g_steal_pointer(&texts), FALSE);
    return 0;
}

/* ---- walks over numbered members ---- */

typedef struct Parse {
    QCryptoLuks *luks;
    uint64_t keyslots, segments; /* ids that are there */
    uint64_t backups;            /* segments that are not part of the volume */
} Parse;

typedef int ItemFunc(Parse *p, unsigned id, const json_t *item,
                     const char *where, GError **errp);

/* in the order of the numbers, whatever that of the text is */
static int for_each(Parse *p, const json_t *root, const char *name,
                    const char *one, unsigned limit, ItemFunc *func,
                    GError **errp)
{
    json_t *object = get(root, "JSON", name, JSON_OBJECT, errp);
    const char *key;
    json_t *value;

    if (!object) {
        return -1;
    }
    json_object_foreach(object, key, value)
    {
        unsigned id;

        if (parse_id(key, limit, &id) < 0) {
            return CORRUPT(errp,
                           "\"%s\" has a member that is not numbered 0 to %u",
                           name, limit - 1);
        }
    }
    for (unsigned id = 0; id < limit; id++) {
        char digits[12], where[32];

        g_snprintf(digits, sizeof(digits), "%u", id);
        g_snprintf(where, sizeof(where), "%s %u", one, id);
        value = json_object_get(object, digits);
        if (value && !json_is_object(value)) {
            return CORRUPT(errp, "%s is %s, not an object", where,
                           type_name(json_typeof(value)));
        }
        if (value && func(p, id, value, where, errp) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- key slots ---- */

static int parse_pbkdf2(QCryptoLuksKdf *kdf, const json_t *o, const char *where,
                        GError **errp)
{
    return get_text(o, where, "hash", kdf->hash, sizeof(kdf->hash), errp) < 0
               ? -1
               : get_int(o, where, "iterations", 1, UINT32_MAX,
                         &kdf->iterations, errp);
}

static int parse_argon2(QCryptoLuksKdf *kdf, const json_t *o, const char *where,
                        GError **errp)
{
    uint64_t memory, lanes;

    if (get_int(o, where, "time", 1, UINT32_MAX, &kdf->iterations, errp) < 0 ||
        get_int(o, where, "cpus", 1, MAX_LANES, &lanes, errp) < 0 ||
        get_int(o, where, "memory", 8 * lanes, UINT32_MAX, &memory, errp) < 0) {
        return -1;
    }
    kdf->memory_kib = (uint32_t)memory;
    kdf->lanes = (uint32_t)lanes;
    return 0;
}

/* The derivations by name; another one is kept by its name alone. */
static const struct {
    const char *type;
    int (*parse)(QCryptoLuksKdf *kdf, const json_t *o, const char *where,
                 GError **errp);
    size_t min_salt;
} kdfs[] = {
    {"pbkdf2", parse_pbkdf2, 1},
    {"argon2i", parse_argon2, MIN_ARGON2_SALT},
    {"argon2id", parse_argon2, MIN_ARGON2_SALT},
};

static int parse_kdf(QCryptoLuksKdf *kdf, const json_t *slot, const char *where,
                     GError **errp)
{
    const json_t *o = get(slot, where, "kdf", JSON_OBJECT, errp);

    if (!o ||
        get_text(o, where, "type", kdf->type, sizeof(kdf->type), errp) < 0) {
        return -1;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(kdfs); i++) {
        if (!strcmp(kdf->type, kdfs[i].type)) {
            return kdfs[i].parse(kdf, o, where, errp) < 0
                       ? -1
                       : get_base64(o, where, "salt", kdfs[i].min_salt,
                                    sizeof(kdf->salt), kdf->salt, &kdf->nsalt,
                                    errp);
        }
    }
    return 0;
}

static int parse_splitter(QCryptoLuksSlot *s, const json_t *slot,
                          const char *where, GError **errp)
{
    const json_t *o = get(slot, where, "af", JSON_OBJECT, errp);
    char type[QCRYPTO_LUKS_NAME_MAX];
    uint64_t stripes;

    if (!o || get_text(o, where, "type", type, sizeof(type), errp) < 0 ||
        get_text(o, where, "hash", s->af_hash, sizeof(s->af_hash), errp) < 0 ||
        get_int(o, where, "stripes", 0, INT64_MAX, &stripes, errp) < 0) {
        return -1;
    }
    if (strcmp(type, "luks1")) {
        return CORRUPT(errp, "%s: the splitter's type is '%s', not 'luks1'",
                       where, type);
    }
    if (stripes != QCRYPTO_LUKS_STRIPES) {
        return CORRUPT(errp, "%s: stripes %" U64 " != %d", where, stripes,
                       QCRYPTO_LUKS_STRIPES);
    }
    s->stripes = QCRYPTO_LUKS_STRIPES;
    return 0;
}

static int parse_area(QCryptoLuksSlot *s, const json_t *area, const char *type,
                      const char *where, GError **errp)
{
    uint64_t key_len;

    if (strcmp(type, "raw")) {
        return CORRUPT(errp, "%s: the area's type is '%s', not 'raw'", where,
                       type);
    }
    if (get_text(area, where, "encryption", s->area_cipher,
                 sizeof(s->area_cipher), errp) < 0 ||
        get_int(area, where, "key_size", 1, QCRYPTO_LUKS_KEY_MAX, &key_len,
                errp) < 0) {
        return -1;
    }
    s->area_key_len = (size_t)key_len;
    const size_t need = qcrypto_luks_area_len(s->key_len, s->stripes);
    if (s->area_size < need) {
        return CORRUPT(errp,
                       "%s: its area has %" U64 " bytes, a key of %zu bytes "
                       "needs %zu",
                       where, s->area_size, s->key_len, need);
    }
    return 0;
}

static int parse_keyslot(Parse *p, unsigned id, const json_t *item,
                         const char *where, GError **errp)
{
    QCryptoLuksSlot *s = &p->luks->slots[id];
    const json_t *area = get(item, where, "area", JSON_OBJECT, errp);
    char type[QCRYPTO_LUKS_NAME_MAX], area_type[QCRYPTO_LUKS_NAME_MAX];
    uint64_t key_len, priority = 1;

    if (!area || get_text(item, where, "type", type, sizeof(type), errp) < 0 ||
        get_int(item, where, "key_size", 1, QCRYPTO_LUKS_KEY_MAX, &key_len,
                errp) < 0 ||
        get_text(area, where, "type", area_type, sizeof(area_type), errp) < 0 ||
        get_u64(area, where, "offset", &s->area_offset, errp) < 0 ||
        get_u64(area, where, "size", &s->area_size, errp) < 0 ||
        (json_object_get(item, "priority") &&
         get_int(item, where, "priority", 0, 2, &priority, errp) < 0)) {
        return -1;
    }
    p->keyslots |= UINT64_C(1) << id;
    s->key_len = (size_t)key_len;
    s->priority = (int)priority;
    if (strcmp(type, "luks2")) {
        s->foreign = true;
        return 0;
    }
    s->active = true;
    return parse_kdf(&s->kdf, item, where, errp) < 0 ||
                   parse_splitter(s, item, where, errp) < 0
               ? -1
               : parse_area(s, area, area_type, where, errp);
}

/* ---- tokens: kept as they are, but their shape is checked ---- */

static int parse_token(Parse *p, unsigned id G_GNUC_UNUSED, const json_t *item,
                       const char *where, GError **errp)
{
    uint64_t slots;

    return get(item, where, "type", JSON_STRING, errp)
               ? get_ids(item, where, "keyslots", p->keyslots, &slots, errp)
               : -1;
}

/* ---- segments ---- */

static bool has_flag(char **flags, const char *prefix)
{
    for (char **f = flags; f && *f; f++) {
        if (g_str_has_prefix(*f, prefix)) {
            return true;
        }
    }
    return false;
}

static int parse_crypt(QCryptoLuks *luks, QCryptoLuksSegment *s,
                       const json_t *item, const char *where, GError **errp)
{
    json_t *integrity;
    uint64_t sector_size;

    if (get_text(item, where, "encryption", s->cipher, sizeof(s->cipher),
                 errp) < 0 ||
        get_u64(item, where, "iv_tweak", &s->iv_tweak, errp) < 0 ||
        get_int(item, where, "sector_size", SECTOR, 4096, &sector_size, errp) <
            0 ||
        !find_optional(item, where, "integrity", JSON_OBJECT, &integrity,
                       errp)) {
        return -1;
    }
    if (sector_size & (sector_size - 1)) {
        return CORRUPT(errp,
                       "%s: \"sector_size\" is %" U64
                       ", not 512, 1024, 2048 or "
                       "4096",
                       where, sector_size);
    }
    s->sector_size = (size_t)sector_size;
    if (integrity) {
        char type[QCRYPTO_LUKS_NAME_MAX];

        if (get_text(integrity, where, "type", type, sizeof(type), errp) < 0) {
            return -1;
        }
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                 "%s: integrity protection (%s) is not "
                                 "supported: it needs dm-integrity",
                                 where, type);
    }
    return 0;
}

/* offset and size, the sum of them included */
static int parse_range(QCryptoLuksSegment *s, const json_t *item,
                       const char *where, GError **errp)
{
    const json_t *size = get(item, where, "size", JSON_STRING, errp);

    if (!size || get_u64(item, where, "offset", &s->offset, errp) < 0) {
        return -1;
    }
    if (strcmp(json_string_value(size), "dynamic")) {
        if (get_u64(item, where, "size", &s->size, errp) < 0) {
            return -1;
        }
        if (!s->size || s->size % s->sector_size) {
            return CORRUPT(errp,
                           "%s: size %" U64
                           " is not a multiple of its sectors of "
                           "%zu bytes",
                           where, s->size, s->sector_size);
        }
    }
    if (s->offset % SECTOR || s->offset > INT64_MAX ||
        s->size > (uint64_t)INT64_MAX - s->offset) {
        return CORRUPT(errp, "%s: no storage has %" U64 " bytes at %" U64,
                       where, s->size, s->offset);
    }
    return 0;
}

static int parse_segment(Parse *p, unsigned id, const json_t *item,
                         const char *where, GError **errp)
{
    QCryptoLuks *luks = p->luks;
    QCryptoLuksSegment s = {.id = id, .sector_size = SECTOR};
    g_auto(GStrv) flags = NULL;
    char type[QCRYPTO_LUKS_NAME_MAX];

    if (get_text(item, where, "type", type, sizeof(type), errp) < 0 ||
        get_texts(item, where, "flags", &flags, errp) < 0) {
        return -1;
    }
    if (!strcmp(type, "linear")) {
        s.linear = true;
    } else if (strcmp(type, "crypt")) {
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                 "%s: segments of the type '%s' are not "
                                 "supported",
                                 where, type);
        s.linear = true;
    } else if (parse_crypt(luks, &s, item, where, errp) < 0) {
        return -1;
    }
    if (parse_range(&s, item, where, errp) < 0) {
        return -1;
    }
    p->segments |= UINT64_C(1) << id;
    if (has_flag(flags, "backup-")) {
        p->backups |= UINT64_C(1) << id;
        return 0;
    }
    if (has_flag(flags, "in-reencryption")) {
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                 "%s is being re-encrypted; cryptsetup must "
                                 "finish that",
                                 where);
    }
    if (id != luks->nsegments) {
        return CORRUPT(errp, "segment %zu is missing", luks->nsegments);
    }
    luks->segments[luks->nsegments++] = s;
    return 0;
}

/* where the key slots end, and the payload may begin */
static uint64_t header_end(const QCryptoLuks *luks)
{
    return luks->keyslots_offset + luks->keyslots_size;
}

static int check_segments(QCryptoLuks *luks, GError **errp)
{
    if (!luks->nsegments) {
        return CORRUPT(errp, "\"segments\" is empty");
    }
    /* an offset that only a detached header can have */
    const bool elsewhere = luks->segments[0].offset == 0;
    if (elsewhere && !luks->detached) {
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_CORRUPT_HEADER,
                                 "payload offset 0: this is a detached header, "
                                 "whose payload lies elsewhere");
    }
    for (size_t i = 0; i < luks->nsegments; i++) {
        const QCryptoLuksSegment *a = &luks->segments[i];

        if (!luks->detached && !elsewhere && a->offset < header_end(luks)) {
            return CORRUPT(errp,
                           "segment %u: offset %" U64
                           " lies before the end of the header, %" U64,
                           a->id, a->offset, header_end(luks));
        }
        if (!a->size && i + 1 < luks->nsegments) {
            return CORRUPT(
                errp, "segment %u: a dynamic size, and is not the last", a->id);
        }
        for (size_t j = 0; j < i; j++) {
            const QCryptoLuksSegment *b = &luks->segments[j];
            const uint64_t size = a->size ? a->size : INT64_MAX - a->offset;

            if (qcrypto_luks_overlap(a->offset, size, b->offset, b->size)) {
                return CORRUPT(errp, "segment %u overlaps segment %u", a->id,
                               b->id);
            }
        }
    }
    luks->payload_offset = luks->segments[0].offset;
    return 0;
}

/* ---- digests ---- */

static int parse_digest(Parse *p, unsigned id, const json_t *item,
                        const char *where, GError **errp)
{
    QCryptoLuksDigest *d = &p->luks->digests[id];
    char type[QCRYPTO_LUKS_NAME_MAX];
    uint64_t slots, segments;

    if (get_text(item, where, "type", type, sizeof(type), errp) < 0 ||
        get_ids(item, where, "keyslots", p->keyslots, &slots, errp) < 0 ||
        get_ids(item, where, "segments", p->segments, &segments, errp) < 0) {
        return -1;
    }
    /* segments have their number as index: backups are behind them all */
    d->segments = segments & ~p->backups;
    d->slots = (uint32_t)slots;
    if (strcmp(type, "pbkdf2")) {
        qcrypto_luks_set_problem(
            p->luks, QCRYPTO_ERROR_UNSUPPORTED,
            "%s: digests of the type '%s' are not supported", where, type);
        return 0;
    }
    d->used = true;
    return get_text(item, where, "hash", d->hash, sizeof(d->hash), errp) < 0 ||
                   get_int(item, where, "iterations", 1, UINT32_MAX,
                           &d->iterations, errp) < 0 ||
                   get_base64(item, where, "salt", 1, sizeof(d->salt), d->salt,
                              &d->nsalt, errp) < 0
               ? -1
               : get_base64(item, where, "digest", MIN_DIGEST,
                            sizeof(d->digest), d->digest, &d->ndigest, errp);
}

/* Every encrypted segment has a key that one digest recognises. */
static int check_digests(QCryptoLuks *luks, GError **errp)
{
    uint32_t slots = 0;
    const QCryptoLuksDigest *key = NULL;
    uint64_t seen = 0;

    for (unsigned i = 0; i < QCRYPTO_LUKS_DIGESTS; i++) {
        const QCryptoLuksDigest *d = &luks->digests[i];

        if (slots & d->slots) {
            return CORRUPT(errp, "digest %u: a key slot has two digests", i);
        }
        slots |= d->slots;
        seen |= d->segments;
        if (!d->segments) {
            continue;
        }
        if (key) {
            qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                     "segments under several volume keys are "
                                     "not supported");
            continue;
        }
        key = d;
    }
    bool encrypted = false;
    for (size_t i = 0; i < luks->nsegments; i++) {
        if (!luks->segments[i].linear) {
            encrypted = true;
            if (!(seen >> i & 1)) {
                return CORRUPT(errp, "segment %u: no digest for its key",
                               luks->segments[i].id);
            }
        }
    }
    if (!encrypted) {
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                 "volumes without an encrypted segment are not "
                                 "supported");
    }
    if (key) {
        g_strlcpy(luks->hash, key->hash, sizeof(luks->hash));
        for (unsigned i = 0; i < QCRYPTO_LUKS2_SLOTS && !luks->key_len; i++) {
            if (luks->slots[i].active && key->slots >> i & 1) {
                luks->key_len = luks->slots[i].key_len;
            }
        }
    }
    return 0;
}

/* ---- config ---- */

static int parse_requirements(QCryptoLuks *luks, const json_t *config,
                              GError **errp)
{
    json_t *o;

    if (!find_optional(config, "config", "requirements", JSON_OBJECT, &o,
                       errp)) {
        return -1;
    }
    if (!o) {
        return 0;
    }
    if (get_texts(o, "requirements", "mandatory", &luks->requirements, errp) <
        0) {
        return -1;
    }
    for (char **r = luks->requirements; r && *r; r++) {
        g_autofree char *name = g_strescape(*r, NULL);

        if (g_str_has_prefix(*r, "online-reencrypt") ||
            g_str_has_prefix(*r, "offline-reencrypt")) {
            qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                     "the volume is being re-encrypted "
                                     "(requirement '%s'); cryptsetup must "
                                     "finish that",
                                     name);
        } else {
            qcrypto_luks_set_problem(
                luks, QCRYPTO_ERROR_UNSUPPORTED,
                "the volume's requirement '%s' is not known "
                "here",
                name);
        }
    }
    return 0;
}

static int parse_config(QCryptoLuks *luks, const json_t *root, GError **errp)
{
    const json_t *config = get(root, "JSON", "config", JSON_OBJECT, errp);
    uint64_t json_size;

    if (!config ||
        get_u64(config, "config", "json_size", &json_size, errp) < 0 ||
        get_u64(config, "config", "keyslots_size", &luks->keyslots_size, errp) <
            0 ||
        get_texts(config, "config", "flags", &luks->flags, errp) < 0) {
        return -1;
    }
    if (json_size != luks->json_size) {
        return CORRUPT(errp, "config: json_size %" U64 " != %" U64, json_size,
                       luks->json_size);
    }
    if (luks->keyslots_size % ALIGNMENT ||
        luks->keyslots_size > MAX_KEYSLOTS_SIZE) {
        return CORRUPT(errp,
                       "config: keyslots_size %" U64 " is not a multiple of %d "
                       "up to %" U64,
                       luks->keyslots_size, ALIGNMENT, MAX_KEYSLOTS_SIZE);
    }
    luks->keyslots_offset = 2 * luks->header_size;
    return parse_requirements(luks, config, errp);
}

/* ---- all of it ---- */

static int parse_all(QCryptoLuks *luks, const json_t *root, GError **errp)
{
    Parse p = {.luks = luks};

    if (!json_is_object(root)) {
        return CORRUPT(errp, "JSON: not an object");
    }
    luks->max_slots = QCRYPTO_LUKS2_SLOTS;
    /* requirements first: they are the reason for much else */
    if (parse_config(luks, root, errp) < 0 ||
        for_each(&p, root, "keyslots", "key slot", QCRYPTO_LUKS2_SLOTS,
                 parse_keyslot, errp) < 0 ||
        for_each(&p, root, "tokens", "token", MAX_TOKENS, parse_token, errp) <
            0 ||
        for_each(&p, root, "segments", "segment", QCRYPTO_LUKS_SEGMENTS,
                 parse_segment, errp) < 0 ||
        for_each(&p, root, "digests", "digest", QCRYPTO_LUKS_DIGESTS,
                 parse_digest, errp) < 0) {
        return -1;
    }
    if (p.backups) {
        qcrypto_luks_set_problem(luks, QCRYPTO_ERROR_UNSUPPORTED,
                                 "the volume is being re-encrypted (backup "
                                 "segments); cryptsetup must finish that");
    }
    return qcrypto_luks_check_areas(luks, luks->keyslots_offset,
                                    header_end(luks), errp) < 0 ||
                   check_segments(luks, errp) < 0
               ? -1
               : check_digests(luks, errp);
}

int qcrypto_luks2_parse(QCryptoLuks *luks, json_t *json, GError **errp)
{
    QCryptoLuks *anew = g_new0(QCryptoLuks, 1);

    /* what the JSON does not say */
    anew->version = luks->version;
    anew->detached = luks->detached;
    memcpy(anew->uuid, luks->uuid, sizeof(anew->uuid));
    memcpy(anew->label, luks->label, sizeof(anew->label));
    memcpy(anew->subsystem, luks->subsystem, sizeof(anew->subsystem));
    memcpy(anew->csum_alg, luks->csum_alg, sizeof(anew->csum_alg));
    anew->header_size = luks->header_size;
    anew->json_size = luks->json_size;
    anew->seqid = luks->seqid;
    if (parse_all(anew, json, errp) < 0) {
        qcrypto_luks_free(anew);
        return -1;
    }
    anew->json = json_incref(json);
    anew->primary_problem = g_steal_pointer(&luks->primary_problem);
    anew->secondary_problem = g_steal_pointer(&luks->secondary_problem);

    qcrypto_luks_clear(luks);
    *luks = *anew;
    g_free(anew);
    return 0;
}
