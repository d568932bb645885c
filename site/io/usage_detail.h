/* SPDX-License-Identifier: Apache-2.0 */
/* usage_detail.h: what is behind the hours of a site's ledger: the runs on each lease,
 * with when they began and ended and what they used, and the splits, with when they
 * began. Both are kept for USAGE_DETAIL_DAYS.
 *
 * Units: milliseconds of the wall clock. Ownership: the database is borrowed and
 * outlives it. Errors: those of sys/db/db.h. Source: docs/usage.md "Comparing the
 * books". Layer: site/io. */
#ifndef SUBLET_SITE_IO_USAGE_DETAIL_H
#define SUBLET_SITE_IO_USAGE_DETAIL_H

#include "sys/db/db.h"
#include "usage/usage.h"

enum { USAGE_DETAIL_DAYS = 31 };

struct usage_detail;
struct usage_detail *usage_detail_new(struct db *db);
void usage_detail_free(struct usage_detail *detail); /* NULL is fine */

/* Within a transaction: what has changed since both were cleared. */
int usage_detail_write(struct usage_detail *detail, struct usage *usage,
                       struct usage_jobs *jobs, struct err *err) MUST_CHECK;
/* Within a transaction: runs that ended before, and splits that began before. */
int usage_detail_trim(struct usage_detail *detail, int64_t before_ms,
                      struct err *err) MUST_CHECK;
/* The earliest of these instants; INT64_MAX: there are none. */
int usage_detail_oldest(struct usage_detail *detail, int64_t *oldest_ms,
                        struct err *err) MUST_CHECK;

/* Runs of the lease above that attempt that had begun before `to_ms` and not ended
 * before `from_ms`, by attempt, at most `limit`. */
int usage_detail_read_runs(struct usage_detail *detail, const char *lease,
                           uint64_t after, int64_t from_ms, int64_t to_ms, int limit,
                           usage_run_fn fn, void *arg, struct err *err) MUST_CHECK;
/* Splits of the lease in that time, and those that held when it began, by side and
 * time, at most `limit`. */
int usage_detail_read_splits(struct usage_detail *detail, const char *lease,
                             int64_t from_ms, int64_t to_ms, int limit,
                             usage_split_fn fn, void *arg, struct err *err) MUST_CHECK;

#endif
