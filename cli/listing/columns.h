/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h: the columns of each listing: a heading and a path into the JSON of
 * docs/design/interfaces.md "Command line".
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

/* A listing: `table` has the columns with one line per row, `block` the fields of a row
 * with -l. Both end with a NULL heading. */
struct columns {
    const struct column *table;
    const struct column *block;
    const char *nothing; /* printed to standard error if there is no row */
    const struct columns_below *below; /* of each block; NULL: none */
};

/* A table below each block: the path to its rows in the row, and its title, printed
 * before the first value. The last entry has no columns. */
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

/* The member at a path, or NULL. A key with dots (a host's name) may be the whole rest
 * of the path. */
json_t *columns_find(const json_t *row, const char *path);

#endif
