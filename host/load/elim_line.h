/* SPDX-License-Identifier: Apache-2.0 */
/* elim_line.h: parses a line of an elim, in LSF's format.
 *
 *     3 licences 17 scratch 2048.5 os_version 4.2
 *
 * The number of pairs, then a name and a value each, separated by blanks. A line is
 * accepted as a whole or not at all: the count must be right, every name a resource
 * name that occurs once, and every value printable. A value of `-` is not known at
 * present.
 *
 * Ownership: the pairs point into the line, which is modified.
 * Errors: ERR_PARSE, ERR_BOUNDS; no pair is valid then.
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
