/* SPDX-License-Identifier: Apache-2.0 */
/* journal_shares.h: what users and queues have used, in the journal.
 *
 * Errors: as journal.h. Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_SHARES_H
#define SUBLET_SITE_IO_JOURNAL_SHARES_H

#include "site/io/journal.h"
#include "sys/db/db.h"

struct journal_shares {
    sqlite3_stmt *put, *cut, *all;
};

int journal_shares_put(struct journal_shares *shares, struct db *db,
                       const struct row_share *share, struct err *err) MUST_CHECK;
/* By scope, then account. */
int journal_shares_load(struct journal_shares *shares, struct db *db, journal_row_fn fn,
                        void *arg, struct err *err) MUST_CHECK;

#endif
