/* SPDX-License-Identifier: Apache-2.0 */
/* broker_parts.h: what the broker is made of, for the files that answer messages.
 *
 * Whoever needs only one part includes that part.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_BROKER_PARTS_H
#define SUBLET_BROKER_BROKER_PARTS_H

#include "broker/broker.h"
#include "broker/lease/handover_limiter.h"
#include "broker/lease/lease_table.h"
#include "broker/lease/reclaim_delay.h"
#include "broker/member/member.h"
#include "broker/member/streams.h"
#include "broker/pool/pool_table.h"
#include "broker/revision.h"

struct broker {
    struct members sessions;
    struct lease_table leases;
    struct reclaim_delays overrides;
    struct pool_table pools;
    struct revision changes;
    struct handover_limiter pace;
    struct streams streams; /* of all sites */
    uint64_t boot;          /* how often this broker's disk was started from */
    int64_t started_ms;
    int n_unconfirmed; /* leases of the disk that a site has yet to speak of */
};

#endif
