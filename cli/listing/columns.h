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
    const struct column *block;        /* NULL: -l shows the table too */
    const struct columns_below *below; /* of each block; NULL: none */
    const char *nothing; /* printed to standard error if there is no row */
};

/* A table below each block: the path to its rows in the row, and its title, printed
 * before the first value. The last entry has no columns. */
struct columns_below {
    const struct column *columns;
    const char *path, *heading;
};

extern const struct columns columns_jobs, columns_jobs_waiting, columns_hist,
    columns_hosts, columns_hosts_exported, columns_hosts_shared, columns_load,
    columns_queues, columns_users, columns_limits, columns_limits_configured,
    columns_job_groups, columns_runs, columns_exports, columns_leases,
    columns_lease_hosts, columns_lease_history, columns_sites, columns_brokers,
    columns_reclaim, columns_pools, columns_plan, columns_plan_why, columns_quota,
    columns_explain, columns_slurm_nodes, columns_slurm_settings;

/* The member at a path, or NULL. A key with dots (a host's name) may be the whole rest
 * of the path. */
json_t *columns_find(const json_t *row, const char *path);

#endif
