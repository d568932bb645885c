/* SPDX-License-Identifier: Apache-2.0 */
/* broker_parts.h: the parts that the broker composes, for the files that answer
 * messages and for the listings. The parts themselves never include this header.
 *
 * Layer: broker. */
#ifndef SUBLET_BROKER_BROKER_PARTS_H
#define SUBLET_BROKER_BROKER_PARTS_H

#include "broker/broker.h"
#include "broker/lease/handover_limiter.h"
#include "broker/lease/lease_table.h"
#include "broker/lease/reclaim_delay.h"
#include "broker/member/member.h"
#include "broker/pool/pool_table.h"
#include "broker/revision.h"

struct broker {
    struct members members;
    struct lease_table leases;
    struct reclaim_delays reclaim_delays;
    struct pool_table pools;
    struct revision revision;
    struct handover_limiter handover_limiter;
    struct streams streams; /* of all sites */
    uint64_t boot;          /* number of starts from this disk */
    int64_t started_ms;
    int n_unconfirmed; /* leases from disk that a site has not confirmed yet */
};

#endif
