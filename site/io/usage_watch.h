/* SPDX-License-Identifier: Apache-2.0 */
/* usage_watch.h: the site's ledger while it runs: what no row of the journal says is
 * looked at each second, and what was booked then is written.
 *
 * What a site holds as a consumer are the slots of its contracts. A contract that it
 * held before a restart counts as held until the broker says otherwise, or has been
 * there for a minute without naming it. Layer: site/io. */
#ifndef SUBLET_SITE_IO_USAGE_WATCH_H
#define SUBLET_SITE_IO_USAGE_WATCH_H

#include <czmq.h>

#include "site/io/usage_store.h"
#include "site/site.h"

struct usage_watch;
/* All of it is borrowed and outlives the watch. A store that fails ends the process, as
 * a commit that fails. */
struct usage_watch *usage_watch_new(zloop_t *loop, struct site *site,
                                    struct usage_store *store);
/* Looks at what the site holds by its contracts, so that a job that starts is not
 * booked before the slots that it uses. */
void usage_watch_contracts(struct usage_watch *watch, int64_t now_ms);
void usage_watch_free(struct usage_watch *watch); /* NULL is fine */

#endif
