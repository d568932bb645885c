/* SPDX-License-Identifier: Apache-2.0 */
/* elim_line.h: what an elim says: a line of LSF's format.
 *
 *     3 licences 17 scratch 2048.5 os_version 4.2
 *
 * The number of pairs, then a name and a value each, blanks between. It is taken whole
 * or not at all: the count is right, every name is a resource's, none comes twice,
 * every value is printable. A value of `-` says that it is not known now.
 *
 * Ownership: the pairs point into the line, which is cut up.
 * Errors: ERR_PARSE, ERR_BOUNDS with what is wrong; then nothing of it counts.
 * Source: LSF's elim (docs/resources.md). Layer: host (base only). */
#ifndef SUBLET_HOST_LOAD_ELIM_LINE_H
#define SUBLET_HOST_LOAD_ELIM_LINE_H

#include <stddef.h>

#include "base/err.h"

enum {
    ELIM_PAIRS_MAX = 256,  /* as LSF's external indices */
    ELIM_LINE_MAX = 50000, /* as many pairs, each as long as it may be */
};

struct elim_pair {
    const char *name;
    const char *value; /* NULL: not known now */
};

/* `line` is `length` bytes without the newline, and a NUL behind them. `pairs` has room
 * for ELIM_PAIRS_MAX. */
int elim_line_parse(char *line, size_t length, struct elim_pair *pairs, int *n_pairs,
                    struct err *err) MUST_CHECK;

#endif
