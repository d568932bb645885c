/* SPDX-License-Identifier: Apache-2.0 */
/* peek.h: JOB_PEEK: a piece of what a job has written.
 *
 * Output that a job sends to a file is read there: the answer is an error that names it
 * (for the error stream alone: nothing, and that is all). While a job runs on a
 * borrowed host its file is not here yet, so that it can be looked at. Output without a
 * file is asked of the host, here or by way of the provider; of a job that ended on a
 * borrowed host none is kept.
 *
 * Bounded in number and time. Layer: site. */
#ifndef SUBLET_SITE_PEEK_H
#define SUBLET_SITE_PEEK_H

#include "model/effect.h"

struct site;

void peek_request(struct site *site, const struct peer *from,
                  const struct msg_peek *peek, int64_t now_ms, struct effects *effects);
/* OUTPUT from a host or a provider, about a run of ours: true where a client asked. */
bool peek_output(struct site *site, const struct msg_output *output,
                 struct effects *effects);

#endif
