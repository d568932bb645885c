/* SPDX-License-Identifier: Apache-2.0 */
/* usage_answer.h: `usage`: sums of the site's ledger, as a page of a listing.
 *
 * A ledger of 400 days is read in slices, between which the loop goes on: an answer
 * holds it up for about SLICE_MS at a time. Answers that take longer are given one
 * after another. The rows of a page are numbered in the order of usage/usage.h; `after`
 * is the number of the last one.
 *
 * Ownership: all is borrowed and outlives the answers. Errors, to the asker: ERR_PARSE;
 * ERR_FULL, if there are more than SUMS_MAX rows, or ASKED_MAX questions wait.
 * Source: docs/usage.md. Layer: site/io. */
#ifndef SUBLET_SITE_IO_USAGE_ANSWER_H
#define SUBLET_SITE_IO_USAGE_ANSWER_H

#include <czmq.h>

#include "model/effect.h"
#include "site/io/usage_store.h"
#include "sys/shell.h"

struct usage_answer;
struct usage_answer *usage_answer_new(zloop_t *loop, struct shell *shell,
                                      struct usage_store *store);
void usage_answer_free(struct usage_answer *answers); /* NULL is fine */

/* Carries out an EFFECT_HISTORY of a QUERY_USAGE: the REPLY is appended to `more`, or
 * sent later. */
void usage_answer_ask(struct usage_answer *answers, const struct effect *ask,
                      int64_t now_ms, struct effects *more);

#endif
