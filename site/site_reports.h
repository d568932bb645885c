/* SPDX-License-Identifier: Apache-2.0 */
/* site_reports.h: news of the consumer's attempts, kept until consumer/ is done
 * speaking and then applied: what they lead to calls consumer/ again.
 *
 * Ownership: copies, in the arena. Layer: site. */
#ifndef SUBLET_SITE_SITE_REPORTS_H
#define SUBLET_SITE_SITE_REPORTS_H

#include "consumer/consumer.h"

struct site;

struct site_reports {
    struct arena *arena;
    struct consumer_report *items;
    int count, capacity;
};

void site_reports_init(struct site_reports *reports, struct arena *arena);
/* A consumer_report_fn; `arg` is the reports. */
void site_reports_collect(void *arg, const struct consumer_report *report);
void site_reports_apply(struct site *site, const struct site_reports *reports,
                        int64_t now_ms, struct effects *effects);

#endif
