/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: where the broker keeps contracts, overrides, counters and history: a SQLite
 * file, or a database of PostgreSQL.
 *
 * Rows as in model/row.h, tables as in schema/broker and schema/postgres. Rows are
 * written between store_begin and store_commit, which are one transaction. After an
 * error of a commit the store is dead.
 *
 * Ownership: rows are borrowed, both ways: the row of a load callback lives until it
 * returns.
 * Errors: ERR_IO with the words of SQLite or PostgreSQL; ERR_AWAY if the server cannot
 * be reached; from store_open also ERR_VERSION for what a newer program has written,
 * ERR_EXISTS if another process has the file open, ERR_DENIED for a server whose
 * settings would lose commits. PostgreSQL checks rows at the commit. Order: loading
 * goes by row_kind, inside a kind by key. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_H
#define SUBLET_BROKER_IO_STORE_STORE_H

#include "base/err.h"
#include "base/value.h"
#include "model/msg.h"
#include "model/row.h"
#include "sys/db/db.h"

struct store;

/* A path, or a URL "postgresql://..." (sys/pg/pg.h). `accepts_loss` is of files only.
 */
int store_open(const char *state, bool accepts_loss, struct store **store,
               struct err *err) MUST_CHECK;
void store_close(struct store *store); /* NULL is fine */

typedef void store_row_fn(void *arg, const struct row *row);
/* Calls `fn` for every row except history. */
int store_load(struct store *store, store_row_fn *fn, void *arg,
               struct err *err) MUST_CHECK;

int store_begin(struct store *store, struct err *err) MUST_CHECK;
int store_write(struct store *store, const struct row *row, struct err *err) MUST_CHECK;
int store_commit(struct store *store, struct err *err) MUST_CHECK;
/* Call regularly, between transactions. */
void store_maintain(struct store *store);

/* shell_machine.commit and .maintain, with a struct store. */
int store_commit_batch(void *store, const struct effects *batch,
                       struct err *err) MUST_CHECK;
void store_maintain_batch(void *store);

/* The file; NULL: it is not a file. */
struct db *store_db(struct store *store);

/* ----------------------------------------------------------- store_history.c */

/* The id of the latest event; 0: there was none. */
int store_history_last(struct store *store, int64_t *id, struct err *err) MUST_CHECK;
/* One page of a lease's history (name "": of all), or of the events of leases and sites
 * (QUERY_EVENTS), oldest first, as the JSON of docs/design/interfaces.md "JSON",
 * "Scenarios", in the arena. `next` is the `after` of the next page, "" at the end.
 * ERR_PARSE if `after` is no number. */
int store_history_read(struct store *store, const struct msg_query *query,
                       struct arena *arena, struct value **value, const char **next,
                       struct err *err) MUST_CHECK;

/* ----------------------------------------------------------- store_present.c */

/* What only the running broker knows, for readers of a snapshot, which is a file:
 * deletes the old rows, then stores pages of the listings of leases and sites. In a
 * transaction of a store that is a file. */
int store_present_clear(struct store *store, struct err *err) MUST_CHECK;
int store_present_put(struct store *store, enum query_kind kind,
                      const struct value *page, struct err *err) MUST_CHECK;

/* ------------------------------------------------------------ store_series.c */

/* Samples of sites, leases, pools and nodes of plans over time, for charts.
 *
 * Samples of leases and nodes are deleted after STORE_SERIES_FINE_MS. Of the others, of
 * which there are fewer, the first one of each STORE_SERIES_COARSE_MS stays until
 * STORE_SERIES_KEEP_MS. A series that is not sampled any more (an ended lease) is
 * deleted with its last sample. The sampler spaces samples so that at most
 * STORE_SERIES_ROWS_MAX are younger than STORE_SERIES_FINE_MS: some 80 MiB. Order: by
 * instant. */
enum {
    STORE_SERIES_FINE_MS = 25 * 3600 * 1000,
    STORE_SERIES_COARSE_MS = 600 * 1000,
    STORE_SERIES_KEEP_MS = (7 * 24 + 1) * 3600 * 1000,
    STORE_SERIES_ROWS_MAX = 2000000,
    STORE_SERIES_POINTS_MAX = 1500, /* of one answer: a minute each, for 25 hours */
};

enum store_series_kind {
    STORE_SERIES_ALL,
    STORE_SERIES_SITE,
    STORE_SERIES_LEASE,
    STORE_SERIES_POOL,
    STORE_SERIES_NODE, /* its name: POOL/NODE, "p/eng/sim" */
    STORE_SERIES_KINDS,
};

/* Of a site or all: own used lent borrowed idle pending lent_used. Of a lease: the
 * available and used of its provider, then of its consumer. Of a pool: slots idle alloc
 * recalled demand. Of a node: quota alloc recalled demand. STORE_SERIES_UNKNOWN: a
 * number that older samples do not have, null in answers. */
enum {
    STORE_SERIES_UNKNOWN = -1,
    STORE_SERIES_SITE_NUMBERS = 7,
    STORE_SERIES_LEASE_NUMBERS = 4,
    STORE_SERIES_POOL_NUMBERS = 5,
    STORE_SERIES_NODE_NUMBERS = 4,
};

/* In a transaction. */
int store_series_put(struct store *store, enum store_series_kind kind, const char *name,
                     int64_t at_ms, const int64_t *numbers, struct err *err) MUST_CHECK;
/* Deletes some of the series without samples of that time; call it again. */
int store_series_forget(struct store *store, int64_t now_ms,
                        struct err *err) MUST_CHECK;

struct store_series_ask {
    enum store_series_kind kind;
    const char *name;
    int64_t from_ms, to_ms;
};
/* {"schema_version":1,"series":[...]}: at most some STORE_SERIES_POINTS_MAX rows, each
 * the last sample of its part of the time. ERR_NOT_FOUND if nothing of that name was
 * sampled. */
int store_series_read(struct store *store, const struct store_series_ask *ask,
                      struct arena *arena, struct value **value,
                      struct err *err) MUST_CHECK;

#endif
