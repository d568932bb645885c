/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_answer.h: a page of a site's books of one lease, for its own command line or
 * for the lease's other site. Layer: site/io. */
#ifndef SUBLET_SITE_IO_LEDGER_ANSWER_H
#define SUBLET_SITE_IO_LEDGER_ANSWER_H

#include "model/effect.h"
#include "site/io/usage_store.h"

/* Carries out an EFFECT_HISTORY of a QUERY_LEDGER: a REPLY to a client, a LEDGER to the
 * broker for the site `host`. */
void ledger_answer(struct usage_store *store, const struct effect *ask, int64_t now_ms,
                   struct effects *more);

#endif
