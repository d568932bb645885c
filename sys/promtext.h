/* SPDX-License-Identifier: Apache-2.0 */
/* promtext.h: lines of metrics as Prometheus reads them (text format 0.0.4).
 * Layer: sys. */
#ifndef SUBLET_SYS_PROMTEXT_H
#define SUBLET_SYS_PROMTEXT_H

#include <stdio.h>

#include "sys/histogram.h"

extern const char promtext_type[]; /* Content-Type */

void promtext_head(FILE *to, const char *name, const char *type, const char *help);
/* NAME{LABEL="VALUE", the value escaped: the beginning of a line. */
void promtext_begin(FILE *to, const char *name, const char *label, const char *value);
void promtext_histogram(FILE *to, const char *name, const struct histogram *histogram);
/* Free and total bytes of the file system of `path`: NAME_free_bytes and
 * NAME_size_bytes with HELP and TYPE; nothing if they are unknown. */
void promtext_disk(FILE *to, const char *name, const char *path);

#endif
