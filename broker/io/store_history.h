/* SPDX-License-Identifier: Apache-2.0 */
/* store_history.h: what happened to contracts and sites: appended in order, read by the
 * page, as a lease's history or as events.
 *
 * Kept are the latest STORE_EVENTS_MAX rows, and at most FORGET_EVERY more: some 120
 * MiB.
 * Bounds: a page ends after PAGE_ROWS_MAX rows, or sooner where its JSON might not fit
 * a frame.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_HISTORY_H
#define SUBLET_BROKER_IO_STORE_HISTORY_H

#include "base/value.h"
#include "model/row.h"
#include "sys/db/db.h"

enum { STORE_EVENTS_MAX = 1000000 };

struct store_history {
    sqlite3_stmt *append, *forget, *events, *leases, *lease;
    sqlite3_stmt *last_events, *last_of_lease, *latest;
};

int store_history_append(struct store_history *history, struct db *db,
                         const struct row_history *row, struct err *err) MUST_CHECK;
/* The id of the latest row; 0: there was none. */
int store_history_last(struct store_history *history, struct db *db, int64_t *id,
                       struct err *err) MUST_CHECK;
/* See store_read_history. */
int store_history_page(struct store_history *history, struct db *db,
                       const struct msg_query *query, struct arena *arena,
                       struct value **value, const char **next,
                       struct err *err) MUST_CHECK;

#endif
