/* SPDX-License-Identifier: Apache-2.0 */
/* value_watch.h: which values of hosts have changed since an earlier pass, so that
 * requirements are evaluated again only where they read something new.
 *
 * Each pass is a generation. A column of the table of resources is compared with what
 * the last pass that read it saw, when the first class of a pass reads it. Nothing that
 * writes values has to report it. Changes are known by blocks of RESOURCE_BLOCK rows,
 * as programs are evaluated.
 *
 * Ownership: the watch keeps a copy of each column that was read: 9 bytes per host and
 * number. The table is borrowed for the pass. Layer: site. */
#ifndef SUBLET_SITE_PASS_VALUE_WATCH_H
#define SUBLET_SITE_PASS_VALUE_WATCH_H

#include "sched/resource/resource.h"

struct value_watch;
struct value_watch *value_watch_new(void);
void value_watch_free(struct value_watch *watch);

/* A pass over this table begins. */
void value_watch_begin(struct value_watch *watch, const struct resource_table *table);
uint64_t value_watch_generation(const struct value_watch *watch);

struct watched_column {
    uint64_t changed;       /* generation of its last change */
    const uint64_t *blocks; /* the same of each block */
};
/* The values that the table has of the resource. */
struct watched_column value_watch_column(struct value_watch *watch, int id);
/* The values with these numbers in place of the table's (resource_overrides); NULL:
 * the table's. */
struct watched_column value_watch_left(struct value_watch *watch, int id,
                                       const double *numbers);
/* When it last changed which resources are exclusive on which hosts. */
uint64_t value_watch_exclusive(const struct value_watch *watch);

#endif
