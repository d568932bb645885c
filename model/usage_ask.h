/* SPDX-License-Identifier: Apache-2.0 */
/* usage_ask.h: what a query of the ledger asks for, as users write it.
 *
 * Dates are days or full hours of UTC: 2026-11-23, 2026-11-23T08:00, with or without Z.
 * Units: milliseconds since 1970 UTC. Errors: ERR_PARSE, which says what was expected.
 * Source: docs/usage.md. Layer: model. */
#ifndef SUBLET_MODEL_USAGE_ASK_H
#define SUBLET_MODEL_USAGE_ASK_H

#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

/* What sums may be by. */
enum usage_word {
    USAGE_WORD_LEASE,
    USAGE_WORD_SITE,
    USAGE_WORD_NODE,
    USAGE_WORD_USER,
    USAGE_WORD_QUEUE,
    USAGE_WORD_PROJECT,
    USAGE_WORD_ACCOUNT,
    USAGE_WORD_DAY,
    USAGE_WORD_HOUR,
    USAGE_WORD_LENT, /* also the provider's records of the consumer's side */
    USAGE_WORDS
};

int usage_ask_date(const char *text, int64_t *at_ms, struct err *err) MUST_CHECK;
/* "lease,day": the sum of 1 << enum usage_word; "" is 0. */
int usage_ask_by(const char *text, int *words, struct err *err) MUST_CHECK;
/* The period of a query: without one, the last 30 days until now. */
void usage_ask_period(const struct msg_query *query, int64_t now_ms, int64_t *from_ms,
                      int64_t *to_ms);

#endif
