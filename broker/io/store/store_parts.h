/* SPDX-License-Identifier: Apache-2.0 */
/* store_parts.h: what the two stores have to do: SQLite (store_sqlite.c) and PostgreSQL
 * (store_postgres.c). The rules are in store.h. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_PARTS_H
#define SUBLET_BROKER_IO_STORE_STORE_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/value.h"
#include "broker/io/store/books.h"
#include "broker/io/store/store.h"
#include "broker/io/store/store_lead.h"
#include "model/row.h"
#include "sys/db/db.h"
#include "sys/pg/pg.h"

enum {
    STORE_TRIES = 5, /* of a batch whose connection is lost */
    STORE_EVENTS_MAX = 1000000,
    STORE_FORGET_EVERY = 256, /* events: then the oldest are deleted */
    STORE_THIN_MS =
        3600 * 1000,            /* that old part of a series is thinned with each put */
    STORE_FORGET_SERIES_MAX = 4 /* a series has some 2,000 samples */
};

/* Rows of history, by id. */
struct store_events {
    enum { STORE_EVENTS_ALL, STORE_EVENTS_LEASES, STORE_EVENTS_LEASE } of;
    const char *lease; /* of LEASE */
    int64_t after;
    int n_rows;
    bool is_last; /* the last n_rows, which are few; not with LEASES */
};
/* The row is in the arena that the reader was given. Returns whether to go on. */
typedef bool store_event_fn(void *arg, const struct row_history *row);

/* Samples of a series, the last one of each `bucket_ms`. */
struct store_samples {
    enum store_series_kind kind;
    int64_t series, from_ms, bucket_ms;
};
typedef void store_sample_fn(void *arg, int64_t at_ms, const int64_t *numbers);

/* A broker of the store. */
struct store_broker {
    const char *endpoint, *name; /* `name` of its machine */
    bool leads;
    int64_t term;
    int64_t lag_ms;   /* since it has last renewed its row */
    int64_t since_ms; /* that it leads; of a standby, that it runs */
};
typedef void store_broker_fn(void *arg, const struct store_broker *broker);

struct store_ops {
    void (*close)(struct store *store);
    struct db *(*db)(struct store *store); /* NULL: not a file */
    struct pg *(*pg)(struct store *store); /* of a server only */
    int (*begin)(struct store *store, struct err *err);
    int (*commit)(struct store *store, struct err *err);
    void (*maintain)(struct store *store);
    int (*write)(struct store *store, const struct row *row, struct err *err);
    int (*load)(struct store *store, store_row_fn *fn, void *arg, struct err *err);
    int (*last_event)(struct store *store, int64_t *id, struct err *err);
    int (*read_events)(struct store *store, const struct store_events *events,
                       struct arena *arena, store_event_fn *fn, void *arg,
                       struct err *err);
    int (*put_sample)(struct store *store, enum store_series_kind kind,
                      const char *name, int64_t at_ms, const int64_t *numbers,
                      struct err *err);
    int (*forget_series)(struct store *store, int64_t now_ms, struct err *err);
    /* -1: there is none of that name. `first_ms` is its first sample from then on. */
    int (*find_series)(struct store *store, const struct store_series_ask *ask,
                       int64_t *series, int64_t *first_ms, struct err *err);
    int (*try_lead)(struct store *store, struct arena *arena,
                    struct store_leader *leader, struct err *err);
    int (*renew_lead)(struct store *store, struct err *err);
    void (*leave_lead)(struct store *store, bool steps_down);
    int (*list_brokers)(struct store *store, store_broker_fn *fn, void *arg,
                        struct err *err);
    int (*read_samples)(struct store *store, const struct store_samples *samples,
                        store_sample_fn *fn, void *arg, struct err *err);
};

/* Each store begins with it. */
struct store {
    const struct store_ops *ops;
    store_dismissed_fn *dismissed; /* NULL: no one is told */
    void *dismissed_arg;
    struct books *books; /* NULL: none are kept */
    char *endpoint;      /* of this broker; NULL: not set */
    int64_t opened_ms;
};

int store_sqlite_open(const char *path, bool accepts_loss, struct store **store,
                      struct err *err) MUST_CHECK;
int store_postgres_open(const char *url, struct store **store,
                        struct err *err) MUST_CHECK;

/* The tables of rows: the same in both. */
void store_tables_describe(struct db_table_def tables[ROW_KINDS]);

/* How a kind is called in the table of series, and the columns that its samples have,
 * NULL at the end. */
struct store_series_def {
    const char *kind;
    const char *columns[STORE_SERIES_SITE_NUMBERS + 1];
};
/* How long samples of that kind stay. */
int64_t store_series_keep_ms(enum store_series_kind kind);
extern const struct store_series_def store_series_defs[STORE_SERIES_KINDS];
/* "own, used, lent". */
const char *store_series_join(struct arena *arena, enum store_series_kind kind);
int store_series_count(enum store_series_kind kind);

#endif
