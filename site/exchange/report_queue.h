/* SPDX-License-Identifier: Apache-2.0 */
/* report_queue.h: news of the consumer's attempts, kept until consumer/ is done
 * speaking and then applied: what they lead to calls consumer/ again.
 *
 * Ownership: copies, in the arena. Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_REPORT_QUEUE_H
#define SUBLET_SITE_EXCHANGE_REPORT_QUEUE_H

#include "consumer/consumer.h"

struct site;

struct report_queue {
    struct arena *arena;
    struct consumer_report *items;
    int count, capacity;
};

void report_queue_init(struct report_queue *reports, struct arena *arena);
/* A consumer_report_fn; `arg` is the reports. */
void report_queue_collect(void *arg, const struct consumer_report *report);
void report_queue_apply(struct site *site, const struct report_queue *reports,
                        int64_t now_ms, struct effects *effects);

#endif
