/*
 * XOR of several sources, as RAID parity and stream layers need it
 *
 *     const void *srcs[3] = {a, b, c};
 *     qcrypto_xor(dst, srcs, 3, len);          dst = a ^ b ^ c
 *
 * Any number of sources from 1, any length, any alignment.  dst may be one of
 * the sources (also several times); a source that overlaps dst in part is
 * refused.  Sources may overlap one another.
 *
 * The work is done by a template: a family of routines for 2, 3, 4 and 5
 * sources (more go in passes).  Which template serves which number of
 * sources and which length is a preliminary choice until calibration has
 * measured them (calibrate.h), or what qcrypto_xor_force() or the
 * environment variable QCRYPTO_XOR says ("avx2"; `qcrypto bench --algtype
 * xor` lists the names).
 *
 * Lengths are bytes.  Threads: any; the choice is published atomically.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_XOR_H
#define QCRYPTO_XOR_H

#include <qcrypto/error.h>
#include <qcrypto/types.h>

G_BEGIN_DECLS

/*
 * 0, or -1 with nothing written: no sources, a NULL, a partial overlap, or no
 * template to be had (an unknown name in QCRYPTO_XOR).
 */
QCRYPTO_API int qcrypto_xor(void *dst, const void *const *srcs, size_t nsrcs,
                            size_t len);

/* The same through one template: "avx2", or "builtin:avx2". */
QCRYPTO_API int qcrypto_xor_from(const char *name, void *dst,
                                 const void *const *srcs, size_t nsrcs,
                                 size_t len, GError **errp);

/* What a call that returned -1 was refused for; -1 and the error, or 0. */
QCRYPTO_API int qcrypto_xor_check(const void *dst, const void *const *srcs,
                                  size_t nsrcs, size_t len, GError **errp);

/* One template for everything from now on; NULL: back to the choice. */
QCRYPTO_API int qcrypto_xor_force(const char *name, GError **errp);

/* The template in use for so many sources of so many bytes; NULL: none. */
QCRYPTO_API const char *qcrypto_xor_get_impl(size_t nsrcs, size_t len);

G_END_DECLS

#endif
