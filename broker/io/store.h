/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: the broker's SQLite file: contracts, overrides, counters, history.
 *
 * Rows as in model/row.h, tables as in schema/broker. The hub writes the store effects
 * of a batch between store_begin and store_commit; after an error of either the store
 * is dead, and the process with it.
 *
 * Ownership: rows are borrowed, both ways: the row of a load callback lives until it
 * returns.
 * Errors: ERR_IO with SQLite's words; from store_open also ERR_VERSION for a file that
 * a newer program has written, ERR_EXISTS if another process has it open.
 * Order: loading goes by row_kind, inside a kind by key.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_H
#define SUBLET_BROKER_IO_STORE_H

#include <sqlite3.h>

#include "base/err.h"
#include "base/value.h"
#include "broker/io/store_series.h"
#include "model/msg.h"
#include "model/row.h"

struct store;

int store_open(const char *path, struct store **store, struct err *err) MUST_CHECK;
void store_close(struct store *store); /* NULL is fine */

typedef void (*store_row_fn)(void *arg, const struct row *row);
/* Calls `fn` for every row except history. */
int store_load(struct store *store, store_row_fn fn, void *arg,
               struct err *err) MUST_CHECK;

int store_begin(struct store *store, struct err *err) MUST_CHECK;
int store_write(struct store *store, const struct row *row, struct err *err) MUST_CHECK;
int store_commit(struct store *store, struct err *err) MUST_CHECK;

/* What only the running broker knows, for readers of a snapshot: deletes the old rows,
 * then stores pages of the listings of leases and sites. In a transaction. */
int store_forget_present(struct store *store, struct err *err) MUST_CHECK;
int store_put_present(struct store *store, enum query_kind kind,
                      const struct value *page, struct err *err) MUST_CHECK;

/* For copies of the whole (sys/db_copy.h). */
sqlite3 *store_handle(struct store *store);

/* Checkpoints; call it now and then between transactions. */
void store_maintain(struct store *store);

/* Samples for charts (store_series.h); written in a transaction. */
int store_put_sample(struct store *store, enum store_series_kind kind, const char *name,
                     int64_t at_ms, const int64_t *numbers, struct err *err) MUST_CHECK;
int store_forget_samples(struct store *store, int64_t now_ms,
                         struct err *err) MUST_CHECK;
int store_read_series(struct store *store, const struct store_series_ask *ask,
                      struct arena *arena, struct value **value,
                      struct err *err) MUST_CHECK;

/* The id of the latest event; 0: there was none. */
int store_last_event(struct store *store, int64_t *id, struct err *err) MUST_CHECK;

/* One page of a lease's history (name "": of all), or of the events of leases and sites
 * (QUERY_EVENTS), oldest first, as the JSON of docs/design/interfaces.md "JSON",
 * "Scenarios", in the arena. `next` is the `after` of the next page, "" at the end.
 * ERR_PARSE if `after` is no number. */
int store_read_history(struct store *store, const struct msg_query *query,
                       struct arena *arena, struct value **value, const char **next,
                       struct err *err) MUST_CHECK;

#endif
