/* SPDX-License-Identifier: Apache-2.0 */
/* books.h: the broker's books: the slots that each side of a lease holds by its
 * contract, from the commit of a split to the commit of the next one, in the store.
 *
 * A split is written in the transaction of its contract, only when its sums differ from
 * the lease's last ones. A restart, a standby or a copy of the store continues with
 * what is written. Entries are kept for BOOKS_ENTRY_DAYS, then summed by hour
 * (usage/usage.h), all of it for BOOKS_DAYS. Beyond a size, the oldest hours become
 * days, then the oldest entries hours, and then the oldest days are deleted; each day
 * is logged. A step of this has a bounded number of leases.
 *
 * A clock that goes back by an hour or less books nothing until it is where it was. One
 * that goes back further was wrong before: what it booked of the lease in the time that
 * is still to come is undone.
 *
 * Units: milliseconds of the broker's clock, UTC. Errors: those of store.h. Ownership:
 * the store is borrowed and outlives the books. Source: docs/usage.md. Layer:
 * broker/io.
 */
#ifndef SUBLET_BROKER_IO_STORE_BOOKS_H
#define SUBLET_BROKER_IO_STORE_BOOKS_H

#include "broker/io/store/store.h"
#include "usage/usage.h"

enum { BOOKS_DAYS = 400, BOOKS_ENTRY_DAYS = 30 };

struct books;
/* Loads the last split of each lease. From now on store_commit_batch writes books. */
int books_new(struct store *store, int64_t n_bytes_max, struct books **books,
              struct err *err) MUST_CHECK;
void books_free(struct books *books); /* NULL is fine */
/* Those of the store; NULL: none are kept. */
struct books *books_of(const struct store *store);
void books_resize(struct books *books, int64_t n_bytes_max);

/* A transaction begins; what an earlier one did not commit is forgotten. */
void books_begin(struct books *books);
/* In it: a contract as it is written. */
int books_write(struct books *books, const struct row_lease *lease, int64_t now_ms,
                struct err *err) MUST_CHECK;
/* Before its commit, and after it. */
int books_end(struct books *books, struct err *err) MUST_CHECK;
void books_committed(struct books *books);

/* In transactions of its own, between others: sums and deletes what is due. Returns 1
 * if there is more to do at once. */
int books_trim(struct books *books, int64_t now_ms, struct err *err) MUST_CHECK;

/* What both sides of a lease hold from `from_ms` until `to_ms`, by hour, in held_ms; of
 * days that were merged, in their first hour. Sums begin in that time. */
int books_read(struct books *books, const char *lease, int64_t from_ms, int64_t to_ms,
               usage_row_fn fn, void *arg, struct err *err) MUST_CHECK;

/* A split, with when it begins; the first one may have begun before that time. */
struct books_change {
    int64_t at_ms;
    uint64_t epoch;
    int n_provider, n_consumer;
};
typedef void (*books_change_fn)(void *arg, const struct books_change *change);
int books_read_changes(struct books *books, const char *lease, int64_t from_ms,
                       int64_t to_ms, books_change_fn fn, void *arg,
                       struct err *err) MUST_CHECK;
/* When the lease's books begin, and its splits, before which there are sums only; 0: it
 * has none. */
int books_first(struct books *books, const char *lease, int64_t *first_ms,
                int64_t *first_split_ms, struct err *err) MUST_CHECK;

#endif
