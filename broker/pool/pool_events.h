/* SPDX-License-Identifier: Apache-2.0 */
/* pool_events.h: what is put on record about pools: quotas that change, recalls that
 * begin and are done.
 *
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_POOL_POOL_EVENTS_H
#define SUBLET_BROKER_POOL_POOL_EVENTS_H

#include "broker/pool/pool.h"
#include "model/effect.h"

struct lease;

void pool_events_recall(const struct lease *lease, int n_slots, int64_t deadline_ms,
                        enum pool_why why, int64_t now_ms, struct effects *effects);
void pool_events_recall_done(const struct lease *lease, int n_slots,
                             int64_t deadline_ms, int64_t now_ms,
                             struct effects *effects);
/* `why` is a sentence about the quota. */
void pool_events_quota(const char *pool, const char *node, int64_t quota,
                       int64_t demand, const char *why, int64_t now_ms,
                       struct effects *effects);

#endif
