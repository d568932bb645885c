/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h: what each listing shows: one table of columns per listing, each a heading
 * and a path into the JSON of INTERFACES 3.
 *
 * Layer: cli. */
#ifndef SUBLET_CLI_LISTING_COLUMNS_H
#define SUBLET_CLI_LISTING_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/listing/format.h"

struct column {
    const char *heading;
    const char *path; /* keys joined by dots */
    bool is_right;    /* aligned to the right */
    format_fn format;
};

/* What a listing is: `table` a line a row, `block` what -l shows of each. Both end
 * with a NULL heading. */
struct columns {
    const struct column *table;
    const struct column *block;
    const char *nothing;               /* said on standard error when there is no row */
    const struct columns_below *below; /* of each block; NULL: none */
};

/* A table that stands below each block: rows of the row, and what is said above it,
 * before the block's first value. The last has no columns. */
struct columns_below {
    const struct column *columns;
    const char *path, *heading;
};

extern const struct columns columns_jobs;
extern const struct columns columns_jobs_waiting;
extern const struct columns columns_hist;
extern const struct columns columns_hosts;
extern const struct columns columns_hosts_exported;
extern const struct columns columns_hosts_shared;
extern const struct columns columns_load;
extern const struct columns columns_queues;
extern const struct columns columns_users;
extern const struct columns columns_limits;
extern const struct columns columns_limits_configured;
extern const struct columns columns_exports;
extern const struct columns columns_leases;
extern const struct columns columns_lease_hosts;
extern const struct columns columns_lease_history;
extern const struct columns columns_sites;
extern const struct columns columns_reclaim;
extern const struct columns columns_pools;
extern const struct columns columns_plan;
extern const struct columns columns_plan_why;
extern const struct columns columns_quota;
extern const struct columns columns_explain;

/* The member at a path, or NULL. A key that itself has dots (a host's name) may be
 * the whole rest of the path. */
json_t *columns_find(const json_t *row, const char *path);

#endif
