/*
 * nettle: the provider
 *
 * Where there are two rows of one algorithm and mode, the first was the
 * faster of the two in nettle 3.8: nettle's XTS calls the cipher for each
 * block, the generic one for many.
 *
 * AES stands in twice: on CPUs with AES instructions nettle uses those; the
 * "-anycpu" rows are for the others, where it uses tables.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <nettle/version.h>
#include <string.h>

#include "crypto/backend/nettle/nettle.h"
#include "crypto/base/cpu.h"
#include "crypto/base/error.h"
#include "crypto/mode/mode.h"

#define ROW(a, m, name, needs, how, mode_ops)                                \
    {                                                                        \
        .kind = QCRYPTO_KIND_CIPHER, .alg = QCRYPTO_CIPHER_ALGO_##a,         \
        .mode = QCRYPTO_CIPHER_MODE_##m, .impl = name, .cpu = (needs),       \
        .flags = (how), .ops = &(mode_ops),                                  \
        .arg = &qcrypto_nettle_blocks[QCRYPTO_CIPHER_ALGO_##a],              \
    }
#define BOTH(a, m, on, cpu, how, native, generic) ROW(a,m,"native" on, cpu,how,native), ROW(a,m,"generic" on,cpu,how,generic)
#define MODES(a, on, cpu, how)  \
   ROW(a, ECB, "generic" on, cpu, how, qcrypto_mode_ecb), \
   BOTH(a,CBC, on, cpu, how, qcrypto_nettle_cbc, qcrypto_mode_cbc), \
   BOTH(a,CTR, on, cpu, how, qcrypto_nettle_ctr, qcrypto_mode_ctr)
#define BLOCK_8(a, how) MODES(a, "", 0, how)
#define BLOCK_16_ON(a, on, cpu, how) MODES(a, on, cpu, how), BOTH(a,XTS, on, cpu, how, qcrypto_nettle_xts, qcrypto_mode_xts)
#define BLOCK_16(a, how) BLOCK_16_ON(a, "", 0, how)
#define AES(a)                                                               \
    BLOCK_16_ON(a, "", QCRYPTO_CPU_AES, 0),                                  \
    BLOCK_16_ON(a, "-anycpu", 0, QCRYPTO_ROW_LEAKY)

static const QCryptoRow rows[] = {
    AES(AES_128),
    AES(AES_192),
    AES(AES_256),
    BLOCK_8(DES, QCRYPTO_ROW_LEAKY),
    BLOCK_8(3DES, QCRYPTO_ROW_LEAKY),
    BLOCK_8(CAST5_128, QCRYPTO_ROW_LEAKY),
    /* bit-sliced: no tables */
    BLOCK_16(SERPENT_128, 0),
    BLOCK_16(SERPENT_192, 0),
    BLOCK_16(SERPENT_256, 0),
    BLOCK_16(TWOFISH_128, QCRYPTO_ROW_LEAKY),
    BLOCK_16(TWOFISH_192, QCRYPTO_ROW_LEAKY),
    BLOCK_16(TWOFISH_256, QCRYPTO_ROW_LEAKY),
    BLOCK_16(CAMELLIA_128, QCRYPTO_ROW_LEAKY),
    BLOCK_16(CAMELLIA_192, QCRYPTO_ROW_LEAKY),
    BLOCK_16(CAMELLIA_256, QCRYPTO_ROW_LEAKY),
};

static const char *version(void)
{
    static gsize done;
    static char text[32];

    /* the library tells no third number */
    if (g_once_init_enter(&done)) {
        g_snprintf(text, sizeof(text), "%d.%d", nettle_version_major(),
                   nettle_version_minor());
        g_once_init_leave(&done, 1);
    }
    return text;
}

/*
 * Nettle does not tell whether its AES uses the CPU's instructions.  It does
 * where the CPU has them, unless this variable of its own says otherwise.
 */
static int probe_row(const QCryptoRow *row, GError **errp)
{
    const char *override = g_getenv("NETTLE_FAT_OVERRIDE");

    if ((row->cpu & QCRYPTO_CPU_AES) && override && !strstr(override, "aes")) {
        return qcrypto_error_unsupported(
            errp, "AES by the CPU's instructions",
            "NETTLE_FAT_OVERRIDE=%s switches them off in nettle", override);
    }
    return 0;
}

const QCryptoProvider qcrypto_provider_nettle = {
    .name = "nettle",
    .version = version,
    .rows = rows,
    .nrows = G_N_ELEMENTS(rows),
    .probe_row = probe_row,
};
