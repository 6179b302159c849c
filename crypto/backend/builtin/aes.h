/*
 * AES, the kernels of the builtin backend
 *
 * A kernel is one implementation of AES for one kind of CPU: its key
 * schedule and its ways through ECB, CBC, CTR and XTS.  All of them are
 * constant-time: no look-up and no branch depends on key or data.
 *
 *   kernel         file                 needs                     blocks at once
 *   aes-portable   aes-portable.c       nothing (bit-sliced)      4
 *   aes-ni         x86/aes-ni.c         aes, sse4.1               8
 *   aes-vaes       x86/aes-vaes.c       vaes, avx2                16
 *   aes-vaes512    x86/aes-vaes512.c    vaes, avx512{f,bw,vl,dq}  see file
 *   aes-armv8      arm/aes-armv8.c      ARMv8 aes                 8
 *
 * The contract of every function below:
 *   - lengths, units and IVs were checked by the front end; the functions
 *     cannot fail and never allocate;
 *   - src == dst is allowed, other overlaps never come;
 *   - no pointer needs an alignment;
 *   - keys are const: any number of threads may use one key at once;
 *   - index 0 of a pair encrypts, index 1 decrypts.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_BUILTIN_AES_H
#define QCRYPTO_BUILTIN_AES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Key schedule of the kernels that run on AES instructions (FIPS 197, 5.2;
 * the decryption keys are those of the equivalent inverse cipher, 5.3.5, in
 * the order in which they are used).
 */
typedef struct QCryptoAESKey {
    uint8_t enc[15][16];
    unsigned rounds;  /* 10, 12 or 14 */
    unsigned unused[3];
    uint8_t dec[15][16]; /* a tweak key ends before it */
} QCryptoAESKey;

typedef struct QCryptoAESKernel {
    const char *name;
    /* size of the kernel's own key object; sizeof(QCryptoAESKey) for most */
    size_t key_size;
    /* of one made by set_tweak_key */
    size_t tweak_key_size;

    /* nkey is 16, 24 or 32; makes both directions */
    void (*set_key)(void *key, const uint8_t *k, size_t nkey);

    /* the same for a key that only encrypts, as that of XTS tweaks does; the
     * other direction may be left out */
    void (*set_tweak_key)(void *key, const uint8_t *k, size_t nkey);

    /* len is a multiple of 16, 0 allowed, here and below unless said */
    void (*ecb[2])(const void *key, uint8_t *dst, const uint8_t *src,
                   size_t len);

    /* iv: 16 bytes, left as the IV of the next call */
    void (*cbc[2])(const void *key, uint8_t *iv, uint8_t *dst,
                   const uint8_t *src, size_t len);

    /*
     * n independent messages of unit_size bytes one after the other, the IV
     * of message i at ivs + 16 * i (CBC encryption runs several in step)
     */
    void (*cbc_units[2])(const void *key, const uint8_t *ivs,
                         size_t unit_size, uint8_t *dst, const uint8_t *src,
                         size_t n);

    /*
     * iv: the counter block, a 128-bit big-endian number, left as the next
     * one (wraps at 2^128).  Any len; a last partial block uses up a whole
     * counter.
     */
    void (*ctr)(const void *key, uint8_t *iv, uint8_t *dst,
                const uint8_t *src, size_t len);

    /*
     * n data units of unit_size bytes (16 to 2^24, any length: ciphertext
     * stealing as in IEEE 1619-2007, 5.3) one after the other; ivs[16 * i]
     * is the yet unencrypted tweak of unit i.
     */
    void (*xts[2])(const void *key, const void *tweak_key, const uint8_t *ivs,
                   size_t unit_size, uint8_t *dst, const uint8_t *src,
                   size_t n);

    /*
     * For the benchmark's "raw" row alone, NULL where there is nothing to
     * bound: the kernel's widest run of independent vectors (load, AES
     * encryption rounds, store) over a buf of 4096 bytes again and again
     * until len bytes (a multiple of 4096) went through.
     */
    void (*raw)(const void *key, uint8_t *buf, size_t len);
} QCryptoAESKernel;

extern const QCryptoAESKernel qcrypto_aes_portable;
extern const QCryptoAESKernel qcrypto_aes_ni;
extern const QCryptoAESKernel qcrypto_aes_vaes;
extern const QCryptoAESKernel qcrypto_aes_vaes512;
extern const QCryptoAESKernel qcrypto_aes_armv8;

#endif
