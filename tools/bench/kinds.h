/*
 * Kinds: what can be measured, and how a request becomes cases
 *
 * A kind is one algtype.  It lives in a file of its own and has one entry in
 * the table of kinds.c; the engine, the command, the reports and the g_test
 * programs know no kind by name.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#ifndef QCRYPTO_TOOLS_BENCH_KINDS_H
#define QCRYPTO_TOOLS_BENCH_KINDS_H

#include <qcrypto/provider.h>

#include "crypto/base/algs.h"
#include "tools/bench/engine.h"
#include "tools/bench/peer.h"

/* One column: data units of so many bytes, so many in one request. */
typedef struct QCryptoBenchSize {
    size_t inputsize;
    size_t sectors;
} QCryptoBenchSize;

typedef struct QCryptoBenchRequest {
    /* NULL-ended lists of names; NULL: the kind's defaults */
    char **algorithms;
    char **modes;
    char **providers; /* NULL: all, the bound and the peers too */
    char **impls;     /* NULL: what each provider would use; "all": each */
    bool ops[2];      /* which optypes */
    const QCryptoBenchSize *sizes; /* NULL: the kind's */
    size_t nsizes;
    const unsigned *threads;
    size_t nthreads;
    const unsigned *reqnums; /* NULL: one */
    size_t nreqnums;
    const unsigned *keybits; /* NULL: all, or the kind's default */
    size_t nkeybits;
    bool inplace[2];      /* separate buffers, in place */
    const char *template; /* of XOR, to be used for everything, or NULL */
    /* of compression: a file, or how compressible what is generated is */
    const char *data, *compressibility;
    const QCryptoBenchPeer *const *peers; /* NULL-ended */
} QCryptoBenchRequest;

typedef struct QCryptoBenchKind {
    const char *name; /* algtype */
    /* as the proposed kernel benchmark spells it, and others; NULL-ended */
    const char *const *alt_names;
    const char *own; /* a provider that is neither backend nor peer, or NULL */
    const char *optypes[2];        /* the second may be NULL: there is one */
    const char *const *algorithms; /* measured when none is named */
    const QCryptoBenchSize *sizes; /* the same for sizes */
    size_t nsizes;
    /* The name is an algorithm of this kind, and means no other kind when it
     * stands alone.  NULL: the kind is always asked for by its own name. */
    bool (*knows)(const char *name);
    /*
     * Appends to @groups one GPtrArray of QCryptoBenchCase for each piece of
     * work.  An error names the part of the request that is wrong.
     */
    int (*plan)(const struct QCryptoBenchKind *kind,
                const QCryptoBenchRequest *request, GPtrArray *groups,
                GError **errp);
    /* Writes what is to be said before the tables; may be NULL. */
    int (*preface)(GString *out, GError **errp);
} QCryptoBenchKind;

/* NULL at the end */
extern const QCryptoBenchKind *const qcrypto_bench_kinds[];

/* By name or one of alt_names, with CRYPTO_ before it or not, ASCII case
 * ignored; NULL when unknown. */
const QCryptoBenchKind *qcrypto_bench_kind(const char *name);

/* An empty array of groups that frees what it holds. */
GPtrArray *qcrypto_bench_groups_new(void);

/* An algorithm by our name or the kernel's; -1. */
int qcrypto_bench_alg(QCryptoKind kind, const char *name);

/* Keys of so many bits are asked for. */
bool qcrypto_bench_key_listed(const QCryptoBenchRequest *request,
                              unsigned bits);

/* The list is NULL or has the name, ASCII case ignored. */
bool qcrypto_bench_listed(char *const *list, const char *name);

/*
 * For plan functions: a case for each row of (kind, alg, mode) and each peer
 * that the request asks for, without operation, size and threads; what is
 * not there is a case with the reason.
 */
typedef struct QCryptoBenchSource {
    const QCryptoBenchKind *kind;
    const QCryptoBenchOps *ops;
    QCryptoKind rows;
    /* whether the peer does it */
    bool (*peer_has)(const QCryptoBenchPeer *peer, int alg, int mode);
    /* adds to the case; row is NULL for a peer; may be NULL.  False: no such
     * case */
    bool (*mark)(QCryptoBenchCase *c, const QCryptoRowInfo *row);
} QCryptoBenchSource;

/* NULL and an error when rows cannot be listed. */
GPtrArray *qcrypto_bench_candidates(const QCryptoBenchSource *source,
                                    const QCryptoBenchRequest *request, int alg,
                                    int mode, GError **errp);

/*
 * For plan functions: makes the groups of one algorithm from its candidates
 * (cases without operation, size and threads), one for each combination of
 * what the request leaves open.  @fit may refuse a size or change the case.
 */
int qcrypto_bench_cross(const QCryptoBenchKind *kind,
                        const QCryptoBenchRequest *request,
                        const GPtrArray *candidates, GPtrArray *groups,
                        int (*fit)(QCryptoBenchCase *c, GError **errp),
                        GError **errp);

#endif
