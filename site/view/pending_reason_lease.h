/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason_lease.h: why a waiting job does not run on a lease, lease by lease,
 * for `jobs -l`.
 *
 * Said at the moment of asking, by what the scheduler goes by; the first of several
 * reasons in the order in which they would have to be removed.
 * Source: issue 6, "Life of a contract". Layer: site. */
#ifndef SUBLET_SITE_VIEW_PENDING_REASON_LEASE_H
#define SUBLET_SITE_VIEW_PENDING_REASON_LEASE_H

#include "base/value.h"
#include "site/job/job.h"

struct site_view;
/* An array of {"lease","reason"}, of all leases that are known here and have not ended;
 * NULL where the job does not wait for slots, but for others, a time or its queue. */
struct value *pending_reason_lease_list(const struct site_view *view,
                                        struct arena *arena, const struct job *job);

#endif
