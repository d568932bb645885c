/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h: stores samples of sites, leases, pools and nodes of plans at regular
 * times, for charts.
 *
 * A round has one instant, a multiple of the interval, and is written some rows at a
 * time between the loop's other work. The interval is the configured one, or longer if
 * the samples would not fit otherwise (store.h): above 1,333 series at one
 * minute. A site that is not connected is not sampled, so that its chart has a gap.
 * Pools are sampled as their latest cycle left them.
 *
 * A commit that fails ends the process, as any of the broker's does.
 * Ownership: broker and store are borrowed and outlive it. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_SAMPLER_H
#define SUBLET_BROKER_IO_SAMPLER_H

#include <czmq.h>

#include "broker/broker.h"
#include "broker/io/store/store.h"

struct sampler;
struct sampler *sampler_new(zloop_t *loop, const struct broker *broker,
                            struct store *store, int64_t interval_ms);
void sampler_free(struct sampler *sampler); /* NULL is fine */

#endif
