/* SPDX-License-Identifier: Apache-2.0 */
/* history_answer.h: `hist`: reads what the journal has on record of jobs, and answers.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_HISTORY_ANSWER_H
#define SUBLET_SITE_IO_HISTORY_ANSWER_H

#include "model/effect.h"
#include "site/io/journal.h"

/* Carries out an EFFECT_HISTORY of a QUERY_HIST: the REPLY is appended to `more`. */
void history_answer(struct journal *journal, struct effect *ask, struct effects *more);

#endif
