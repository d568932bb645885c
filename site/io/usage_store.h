/* SPDX-License-Identifier: Apache-2.0 */
/* usage_store.h: a site's ledger of slot time (usage/usage.h) in its journal.
 *
 * What is booked is written in the transaction of the rows that changed it, together
 * with the levels and until when they are booked: a restart, or a journal that was
 * restored, continues from there, and books no time twice. Rows are kept for
 * USAGE_STORE_DAYS. Beyond a size, hours become days, the oldest first, and then the
 * oldest days are deleted; each is logged. The current day stays in hours.
 *
 * Units: milliseconds of the wall clock. Ownership: the journal is borrowed and
 * outlives the store. Errors: those of sys/db/db.h. Source: docs/usage.md. Layer:
 * site/io. */
#ifndef SUBLET_SITE_IO_USAGE_STORE_H
#define SUBLET_SITE_IO_USAGE_STORE_H

#include "site/io/journal.h"
#include "usage/usage.h"

enum { USAGE_STORE_DAYS = 400 };

struct usage_store;
struct usage_store *usage_store_new(struct journal *journal, int64_t n_bytes_max);
void usage_store_free(struct usage_store *store); /* NULL is fine */
void usage_store_resize(struct usage_store *store, int64_t n_bytes_max);

/* A row of the journal, loaded or about to be stored. */
void usage_store_row(struct usage_store *store, const struct row *row, int64_t now_ms);
/* After all rows were loaded. */
int usage_store_start(struct usage_store *store, int64_t now_ms,
                      struct err *err) MUST_CHECK;
/* Levels that no row of the journal has: what this site holds as a consumer, and what
 * its own jobs use of what it lends. */
struct usage *usage_store_usage(struct usage_store *store);
/* The runs and splits behind the hours; they are written and deleted with them. */
struct usage_detail;
struct usage_detail *usage_store_detail(struct usage_store *store);

/* Within a transaction: writes what is booked. A transaction that was taken back may
 * be followed by another one. */
int usage_store_write(struct usage_store *store, struct err *err) MUST_CHECK;
/* The transaction was committed. */
void usage_store_committed(struct usage_store *store);
/* In a transaction of its own: what is booked, if anything has changed; about each
 * hour, what is too old or too much. */
int usage_store_maintain(struct usage_store *store, int64_t now_ms,
                         struct err *err) MUST_CHECK;

/* Rows that begin from `from_ms` on and before `to_ms`, with what is not written yet.
 */
int usage_store_read(struct usage_store *store, int64_t from_ms, int64_t to_ms,
                     usage_row_fn fn, void *arg, struct err *err) MUST_CHECK;
/* Those of one lease: a row is found by its hour. */
int usage_store_read_lease(struct usage_store *store, const char *lease,
                           int64_t from_ms, int64_t to_ms, usage_row_fn fn, void *arg,
                           struct err *err) MUST_CHECK;
/* The earliest hour of all; 0: there is none. */
int usage_store_first_ms(struct usage_store *store, int64_t *first_ms,
                         struct err *err) MUST_CHECK;
/* Sums by lease and side of what was booked since the start, until now. They never go
 * back: what is corrected downwards stands still until it is there again. */
void usage_store_each_total(struct usage_store *store, int64_t now_ms, usage_row_fn fn,
                            void *arg);
/* Before it, hours were merged into days. 0: none were. */
int usage_store_merged_ms(struct usage_store *store, int64_t *merged_ms,
                          struct err *err) MUST_CHECK;

#endif
