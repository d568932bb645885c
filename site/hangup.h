/* SPDX-License-Identifier: Apache-2.0 */
/* hangup.h: interactive jobs end when their user's connection is lost for good.
 *
 * A job that has an attempt gets SIGHUP, as from a terminal that is hung up, and then
 * is killed in the usual way in case it ignores that signal. Layer: site. */
#ifndef SUBLET_SITE_HANGUP_H
#define SUBLET_SITE_HANGUP_H

#include "model/effect.h"
#include "site/job/lifecycle.h"
#include "site/terminals.h"

/* The client's connection has closed. */
void hangup_gone(struct terminals *terminals, struct job_table *jobs,
                 struct lifecycle *life, uint64_t link, int64_t now_ms,
                 struct effects *effects);
/* Users who have not come back within TERMINALS_PATIENCE_MS. */
void hangup_late(struct terminals *terminals, struct job_table *jobs,
                 struct lifecycle *life, int64_t now_ms, struct effects *effects);

#endif
