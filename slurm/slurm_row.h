/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_row.h: lines of columns, which are the stable output of sinfo -O and squeue -O.
 *
 * A column is asked for with a width and a bar behind it ("NodeList:64|"), and its
 * value is found by its position, so that a value may contain blanks, bars and ends of
 * lines. Slurm cuts a value that does not fit. A value that fills its column may be
 * cut, and is refused unless the column says otherwise. A column of width 0 is as long
 * as its value, which is never cut, and ends at the first bar: it is for values that
 * no user writes.
 *
 * Units: bytes. Ownership: cells are in the arena. Source: Slurm's sinfo(1), option
 * --Format. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_ROW_H
#define SUBLET_SLURM_SLURM_ROW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

struct slurm_column {
    const char *field; /* as sinfo -O names it */
    int width;         /* of the longest value, and one more; 0: up to the bar */
    bool may_be_cut;   /* what fills it is read as it is */
};

/* The argument of -O. */
const char *slurm_row_format(struct arena *arena, const struct slurm_column *columns,
                             int n_columns);

/* The lines of the text: one more than it has ends of lines. Errors: ERR_BOUNDS for
 * more than `most`. */
int slurm_row_count(const char *text, int most, struct err *err) MUST_CHECK;

/* Reads the line at *text and moves *text behind it. `cells` gets a text for each
 * column, without the blanks that fill it; "" for "(null)" and "N/A". Errors: ERR_PARSE
 * if the line has other columns, or a value that may be cut; *text is unchanged then.
 */
int slurm_row_read(struct arena *arena, const char **text,
                   const struct slurm_column *columns, int n_columns,
                   const char **cells, struct err *err) MUST_CHECK;

#endif
