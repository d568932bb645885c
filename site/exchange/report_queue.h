/* SPDX-License-Identifier: Apache-2.0 */
/* report_queue.h: reports of the consumer on its attempts. They are collected while
 * consumer/ is at work, and applied after it, since what they lead to calls consumer/
 * again.
 *
 * Ownership: copies, in the arena. Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_REPORT_QUEUE_H
#define SUBLET_SITE_EXCHANGE_REPORT_QUEUE_H

#include "consumer/consumer.h"
#include "site/job/lifecycle.h"
#include "site/pass/pass_request.h"

struct report_queue {
    struct arena *arena;
    struct consumer_report *items;
    int count, capacity;
};

void report_queue_init(struct report_queue *reports, struct arena *arena);
/* A consumer_report_fn; `arg` is the queue. */
void report_queue_collect(void *arg, const struct consumer_report *report);
void report_queue_apply(const struct report_queue *reports, struct lifecycle *life,
                        struct pass_request *pass_request, int64_t now_ms,
                        struct effects *effects);

#endif
