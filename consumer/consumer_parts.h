/* SPDX-License-Identifier: Apache-2.0 */
/* consumer_parts.h: what the consumer's files share: its state, and how news is told.
 * Layer: consumer (base only). */
#ifndef SUBLET_CONSUMER_CONSUMER_PARTS_H
#define SUBLET_CONSUMER_CONSUMER_PARTS_H

#include "consumer/attempt.h"
#include "consumer/consumer.h"
#include "consumer/contract.h"

struct consumer {
    struct contracts contracts;
    struct attempts attempts;
    int64_t patience; /* from 1 */
};

/* Whom news goes to. */
struct reporter {
    consumer_report_fn on_report;
    void *arg;
};

bool consumer_is_decided(const struct attempt *attempt);
bool consumer_is_ended(const struct attempt *attempt);

/* The attempt's slots in its contract, where there is one: taken (+1), given back (-1).
 */
/* After its phase, its order, or how far orders were carried out has changed. */
void consumer_settle_still(struct consumer *consumer, struct attempt *attempt);
void consumer_count_use(struct consumer *consumer, const struct attempt *attempt,
                        int sign);

/* Returns the attempt as it is after the report; NULL: it is gone. */
struct attempt *consumer_report_state(struct consumer *consumer,
                                      const struct reporter *reporter,
                                      const struct attempt *attempt,
                                      enum consumer_report_kind news);
/* Its end, once, when its output is here. NULL is fine. */
void consumer_report_end(struct consumer *consumer, const struct reporter *reporter,
                         struct attempt *attempt);

#endif
