/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h: writes down regularly what sites, leases, pools and nodes of plans look
 * like, for charts.
 *
 * A round has one instant, a multiple of the interval, and is written some rows at a
 * time between the loop's other work. The interval is the configured one, or as much
 * longer as what is sampled would not fit otherwise (store_series.h): above 1,333
 * of these at one minute. A site that is not here is not sampled, so that its line has
 * a gap; pools are as their latest cycle left them.
 *
 * A commit that fails ends the process, as any of the broker's does.
 * Ownership: broker and store are borrowed and outlive it. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_SAMPLER_H
#define SUBLET_BROKER_IO_SAMPLER_H

#include <czmq.h>

#include "broker/broker.h"
#include "broker/io/store.h"

struct sampler;
struct sampler *sampler_new(zloop_t *loop, const struct broker *broker,
                            struct store *store, int64_t interval_ms);
void sampler_free(struct sampler *sampler); /* NULL is fine */

#endif
