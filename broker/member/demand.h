/* SPDX-License-Identifier: Apache-2.0 */
/* demand.h: what waits at a site, queue by queue, by its latest USAGE.
 *
 * Ownership: the member's, copied. Order: as told. Layer: broker (base only). */
#ifndef SUBLET_BROKER_MEMBER_DEMAND_H
#define SUBLET_BROKER_MEMBER_DEMAND_H

#include "broker/member/member.h"

void demand_take(struct member *member, const struct msg_usage *usage);
void demand_release(struct member *member);

/* Slots that wait in these queues; n_queues 0: in all. */
int64_t demand_waiting(const struct member *member, const char *const *queues,
                       int n_queues);

#endif
