/* SPDX-License-Identifier: Apache-2.0 */
/* history_answer.h: `hist`: reads what the journal has on record of jobs, and answers.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_HISTORY_ANSWER_H
#define SUBLET_SITE_IO_HISTORY_ANSWER_H

#include "model/effect.h"
#include "site/io/journal.h"

/* EFFECT_HISTORY: the REPLY is appended to `effects`. */
void history_answer(struct journal *journal, const struct effect *ask, int64_t now_ms,
                    struct effects *effects);

#endif
