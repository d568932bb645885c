/* SPDX-License-Identifier: Apache-2.0 */
/* promtext.h: lines of metrics as Prometheus reads them (text format 0.0.4).
 * Layer: sys. */
#ifndef SUBLET_SYS_PROMTEXT_H
#define SUBLET_SYS_PROMTEXT_H

#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "sys/histogram.h"

extern const char promtext_type[]; /* Content-Type */

void promtext_head(FILE *to, const char *name, const char *type, const char *help);
/* NAME{LABEL="VALUE", the value escaped: the beginning of a line. */
void promtext_begin(FILE *to, const char *name, const char *label, const char *value);
/* {LABEL="VALUE", the value escaped, in the arena: for one thing's lines of several
 * metrics. */
const char *promtext_label(struct arena *arena, const char *label, const char *value);
/* Lines that are written to a file together. Set `to`, and flush it before anything
 * else is written there. */
struct promtext_block {
    FILE *to;
    size_t length;
    char text[16384];
};
void promtext_flush(struct promtext_block *block);
/* A whole line with such a label. `more`: other labels, such as ,SIDE="x"; or "". */
void promtext_number(struct promtext_block *block, const char *name, const char *label,
                     const char *more, int64_t number);
/* Likewise; `at_ms` >= 0 is shown in seconds with three decimals. */
void promtext_instant(struct promtext_block *block, const char *name, const char *label,
                      int64_t at_ms);
void promtext_histogram(FILE *to, const char *name, const struct histogram *histogram);
/* Free and total bytes of the file system of `path`: NAME_free_bytes and
 * NAME_size_bytes with HELP and TYPE; nothing if they are unknown. */
void promtext_disk(FILE *to, const char *name, const char *path);

#endif
