/* SPDX-License-Identifier: Apache-2.0 */
/* store_present.h: what of the listings is in no row, because only the running broker
 * knows it: status, the delay in force, a site's slots. Written for snapshots, from the
 * pages of the listings themselves, so that both say the same.
 *
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_PRESENT_H
#define SUBLET_BROKER_IO_STORE_PRESENT_H

#include "base/value.h"
#include "sys/db/db.h"

struct store_present {
    sqlite3_stmt *cut_leases, *put_lease, *cut_sites, *put_site;
};

int store_present_clear(struct store_present *present, struct db *db,
                        struct err *err) MUST_CHECK;
/* `page`: the object with the array "leases", or "sites". */
int store_present_leases(struct store_present *present, struct db *db,
                         const struct value *page, struct err *err) MUST_CHECK;
int store_present_sites(struct store_present *present, struct db *db,
                        const struct value *page, struct err *err) MUST_CHECK;

#endif
