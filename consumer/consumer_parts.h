/* SPDX-License-Identifier: Apache-2.0 */
/* consumer_parts.h: the consumer's state, and how attempts are reported, for consumer.c
 * and attempt_report.c.
 *
 * Layer: consumer. */
#ifndef SUBLET_CONSUMER_CONSUMER_PARTS_H
#define SUBLET_CONSUMER_CONSUMER_PARTS_H

#include "consumer/attempt.h"
#include "consumer/consumer.h"
#include "consumer/contract.h"

struct consumer {
    struct contracts contracts;
    struct attempts attempts;
    int64_t patience;                  /* at least 1 */
    int64_t start_timeout_ms;          /* 0: none */
    uint64_t doubted_to;               /* attempts; 0: none */
    uint64_t orphans_from, orphans_to; /* attempts; to 0: none */
    int64_t orphans_ask_ms;            /* providers are asked then; INT64_MAX: never */
};

/* Receives reports. */
struct reporter {
    consumer_report_fn on_report;
    void *arg;
};

/* ---------------------------------------------------------------- orphan.c */

/* ATTEMPT_STATE. True: it is about an orphan, or about an attempt that a lost part of
 * the journal may have sent, which must not be acknowledged. */
bool orphan_take_state(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                       struct effects *effects);
/* A provider may be known now. */
void orphan_note_contract(struct consumer *consumer, int64_t now_ms);
void orphan_tick(struct consumer *consumer, int64_t now_ms, struct effects *effects);
int64_t orphan_wake_ms(const struct consumer *consumer);

/* ---------------------------------------------------------------- attempt_report.c */

/* Updates whether the attempt has yielded its slots: after its phase, its order, or the
 * number of orders that were carried out has changed. */
void attempt_report_update_yielded(struct consumer *consumer, struct attempt *attempt);
/* Why it is suspended is not on record: others may use its slots. */
void attempt_report_keep_suspended(struct consumer *consumer, struct attempt *attempt);
/* Counts the attempt's slots in its contract, if there is one: in use (+1), free (-1).
 */
void attempt_report_count_use(struct consumer *consumer, struct attempt *attempt,
                              int sign);

/* Reports the attempt's state. Returns the attempt; NULL: it was removed meanwhile. */
struct attempt *attempt_report_state(struct consumer *consumer,
                                     const struct reporter *reporter,
                                     const struct attempt *attempt,
                                     enum consumer_report_kind kind);
/* Reports the attempt's end, once, when its output is here. NULL is fine. */
void attempt_report_end(struct consumer *consumer, const struct reporter *reporter,
                        struct attempt *attempt);
/* ATTEMPT_STATE or OUTPUT came. */
void attempt_report_on_message(struct consumer *consumer,
                               const struct reporter *reporter, const struct msg *msg,
                               int64_t now_ms, struct effects *effects);

#endif
