/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h: what the broker is made of, for the files that answer messages.
 *
 * Whoever needs only one part includes that part.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_PARTS_H
#define SUBLET_BROKER_PARTS_H

#include "broker/broker.h"
#include "broker/changes.h"
#include "broker/leases.h"
#include "broker/overrides.h"
#include "broker/pace.h"
#include "broker/pools.h"
#include "broker/sessions.h"
#include "broker/streams.h"

struct broker {
    struct sessions sessions;
    struct leases leases;
    struct overrides overrides;
    struct pools pools;
    struct changes changes;
    struct pace pace;
    struct streams streams; /* of all sites */
    uint64_t boot;          /* how often this broker's disk was started from */
    int64_t started_ms;
    int n_unconfirmed; /* leases of the disk that a site has yet to speak of */
};

#endif
