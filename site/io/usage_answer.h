/* SPDX-License-Identifier: Apache-2.0 */
/* usage_answer.h: `usage`: sums of the site's ledger, as a page of a listing.
 *
 * The rows of a page are numbered in the order of usage/usage.h; `after` is the number
 * of the last one. Source: docs/usage.md. Layer: site/io. */
#ifndef SUBLET_SITE_IO_USAGE_ANSWER_H
#define SUBLET_SITE_IO_USAGE_ANSWER_H

#include "model/effect.h"
#include "site/io/usage_store.h"

/* Carries out an EFFECT_HISTORY of a QUERY_USAGE: the REPLY is appended to `more`. */
void usage_answer(struct usage_store *store, const struct effect *ask, int64_t now_ms,
                  struct effects *more);

#endif
