/*
 * What a header says, without a key
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "config-qcrypto.h"
#include "crypto/base/error.h"
#include "crypto/block/luks.h"

#if QCRYPTO_HAVE_JANSSON
#include <jansson.h>
#endif

static char *text_or_null(const char *text)
{
    return *text ? g_strdup(text) : NULL;
}

static void describe_slots(const QCryptoLuks *luks, QCryptoBlockInfo *info)
{
    const QCryptoLuksDigest *volume = qcrypto_luks_volume_digest(luks);

    info->max_slots = luks->max_slots;
    info->slots = g_new0(QCryptoBlockSlotInfo, luks->max_slots);
    for (unsigned i = 0; i < luks->max_slots; i++) {
        const QCryptoLuksSlot *s = &luks->slots[i];

        if (!s->active) {
            continue;
        }
        info->slots[info->nslots++] = (QCryptoBlockSlotInfo){
            .slot = i,
            .unbound = !volume || !(volume->slots >> i & 1),
            .priority = s->priority,
            .key_len = s->key_len,
            .kdf = g_strdup(s->kdf.type),
            .hash = text_or_null(s->kdf.hash),
            .iterations = s->kdf.iterations,
            .memory_kib = s->kdf.memory_kib,
            .lanes = s->kdf.lanes,
            .stripes = s->stripes,
            .af_hash = g_strdup(s->af_hash),
            .cipher = g_strdup(s->area_cipher),
            .area_key_len = s->area_key_len,
            .area_offset = s->area_offset,
            .area_size = s->area_size,
        };
    }
}

static void describe_segments(const QCryptoLuks *luks, QCryptoBlockInfo *info)
{
    info->segments = g_new0(QCryptoBlockSegmentInfo, luks->nsegments);
    info->nsegments = luks->nsegments;
    for (size_t i = 0; i < luks->nsegments; i++) {
        const QCryptoLuksSegment *s = &luks->segments[i];

        info->segments[i] = (QCryptoBlockSegmentInfo){
            .type = g_strdup(s->linear ? "linear" : "crypt"),
            .cipher = s->linear ? NULL : g_strdup(s->cipher),
            .offset = s->offset,
            .size = s->size,
            .dynamic = !s->size,
            .iv_tweak = s->iv_tweak,
            .sector_size = s->sector_size,
        };
        if (!info->cipher && !s->linear) {
            info->cipher = g_strdup(s->cipher);
        }
    }
}

static char *json_text(const QCryptoLuks *luks)
{
#if QCRYPTO_HAVE_JANSSON
    if (luks->json) {
        char *text = json_dumps(luks->json, JSON_COMPACT);
        char *copy = g_strdup(text);

        free(text);
        return copy;
    }
#endif
    return NULL;
}

/* Why it can not be opened, the build's lacks included */
static char *find_problem(const QCryptoLuks *luks)
{
    g_autoptr(GError) why = NULL;

    if (luks->problem) {
        return g_strdup(luks->problem->message);
    }
    return qcrypto_luks_check_features(luks, &why) < 0 ? g_strdup(why->message)
                                                       : NULL;
}

static void describe_luks(const QCryptoLuks *luks, QCryptoBlockInfo *info)
{
    const QCryptoLuksDigest *volume = qcrypto_luks_volume_digest(luks);

    info->version = luks->version;
    info->uuid = text_or_null(luks->uuid);
    info->label = text_or_null(luks->label);
    info->subsystem = text_or_null(luks->subsystem);
    info->key_len = luks->key_len;
    info->hash = text_or_null(luks->hash);
    info->header_size = luks->header_size;
    info->keyslots_size = luks->keyslots_size;
    info->seqid = luks->seqid;
    info->digest_iterations = volume ? volume->iterations : 0;
    describe_slots(luks, info);
    describe_segments(luks, info);
    info->flags = g_strdupv(luks->flags);
    info->requirements = g_strdupv(luks->requirements);
    info->json = json_text(luks);
    info->primary_problem = g_strdup(luks->primary_problem);
    info->secondary_problem = g_strdup(luks->secondary_problem);
    info->problem = find_problem(luks);
}

QCryptoBlockInfo *qcrypto_block_get_info(const QCryptoBlock *block,
                                         GError **errp)
{
    if (!block) {
        qcrypto_error_null(errp, "block");
        return NULL;
    }
    QCryptoBlockInfo *info = g_new0(QCryptoBlockInfo, 1);
    info->format = block->format;
    info->sector_size = block->sector_size;
    info->payload_offset = block->payload_offset;
    info->payload_size = block->payload_size;
    if (block->luks) {
        describe_luks(block->luks, info);
    } else {
        info->cipher = g_strdup(QCRYPTO_QCOW_CIPHER);
        info->key_len = QCRYPTO_QCOW_KEY;
    }
    return info;
}

void qcrypto_block_info_free(QCryptoBlockInfo *info)
{
    if (!info) {
        return;
    }
    for (size_t i = 0; i < info->nslots; i++) {
        QCryptoBlockSlotInfo *s = &info->slots[i];

        g_free(s->kdf);
        g_free(s->hash);
        g_free(s->af_hash);
        g_free(s->cipher);
    }
    for (size_t i = 0; i < info->nsegments; i++) {
        g_free(info->segments[i].type);
        g_free(info->segments[i].cipher);
    }
    g_free(info->slots);
    g_free(info->segments);
    g_strfreev(info->flags);
    g_strfreev(info->requirements);
    char *const texts[] = {
        info->uuid,
        info->label,
        info->subsystem,
        info->cipher,
        info->hash,
        info->json,
        info->secondary_problem,
        info->primary_problem,
        info->problem,
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_free(texts[i]);
    }
    g_free(info);
}
