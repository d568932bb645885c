/* SPDX-License-Identifier: Apache-2.0 */
/* history.h: records the events of jobs for `hist`, which shows them long after the
 * jobs have been cleaned (HISTORY_PERIOD).
 *
 * Events are derived from the rows that a step stores: every change of a job's row is
 * an event. Of a consumer's job only its run on this site is recorded.
 *
 * Units: milliseconds, by this site's clock; starts and ends by the host's.
 * Layer: site. */
#ifndef SUBLET_SITE_JOB_HISTORY_H
#define SUBLET_SITE_JOB_HISTORY_H

#include "model/effect.h"
#include "site/job/job.h"
#include "site/run/run_table.h"

struct history;
/* Events are deleted `period_ms` after they were written. The jobs are borrowed. */
struct history *history_new(struct job_table *jobs, int64_t period_ms);
void history_free(struct history *history);
void history_reload(struct history *history, int64_t period_ms);

/* No event is removed before that instant. */
void history_hold(struct history *history, int64_t until_ms);
/* A step of the site begins. */
void history_set_time(struct history *history, int64_t now_ms);
/* Appends the events of the effects from `from` on. */
void history_record(struct history *history, int from, struct effects *effects);

/* Events that cannot be seen in a row. */
void history_switched(const struct history *history, const struct job *job,
                      struct effects *effects);
void history_reordered(const struct history *history, const struct job *job,
                       bool to_top, struct effects *effects);

/* Its options were changed while it waited. */
void history_modified(const struct history *history, const struct job *job,
                      struct effects *effects);

/* Its slots have changed, or its notification command has refused that. */
void history_resized(const struct history *history, const struct job *job,
                     const char *what, struct effects *effects);

/* It is requeued after a run that ended with `exit`; NULL: it had no run. */
void history_run_end(const struct history *history, struct job *job,
                     const struct run_exit *exit, struct effects *effects);

/* The run of a consumer was accepted, or has ended. */
void history_consumer_run(const struct history *history, const struct run *run,
                          struct effects *effects);
void history_consumer_run_end(const struct history *history, const struct run *run,
                              struct effects *effects);

#endif
