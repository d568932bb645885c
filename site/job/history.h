/* SPDX-License-Identifier: Apache-2.0 */
/* history.h: what happens to jobs, put on record for `hist`, which tells it long after
 * the jobs themselves have been forgotten (HISTORY_PERIOD).
 *
 * What is told is read off the rows that a step stores: whatever changes a job's record
 * is an event, and nothing else is. A consumer's job is told by what its run came to
 * here; its own site knows the rest.
 *
 * Units: milliseconds; instants are this site's clock, but a start and an end are the
 * host's. Layer: site. */
#ifndef SUBLET_SITE_JOB_HISTORY_H
#define SUBLET_SITE_JOB_HISTORY_H

#include "model/effect.h"
#include "site/job/job.h"
#include "site/run/run_table.h"

struct history;
/* Events are deleted `period_ms` after they were written. The jobs are borrowed. */
struct history *history_new(const struct job_table *jobs, int64_t period_ms);
void history_free(struct history *history);
void history_reload(struct history *history, int64_t period_ms);

/* A step of the site begins. */
void history_step(struct history *history, int64_t now_ms);
/* The step's effects from `from` on: their events are appended. */
void history_record(struct history *history, int from, struct effects *effects);

/* What no row tells by itself. */
void history_switched(const struct history *history, const struct job *job,
                      struct effects *effects);
void history_reordered(const struct history *history, const struct job *job,
                       bool to_top, struct effects *effects);

/* Its slots have changed, or its command did not want them to. */
void history_resized(const struct history *history, const struct job *job,
                     const char *what, struct effects *effects);

/* It is to wait again, and its run ended so; NULL: it had none. */
void history_run_end(const struct history *history, struct job *job,
                     const struct run_exit *exit, struct effects *effects);

/* A consumer's run is taken, and has ended. */
void history_consumer_run(const struct history *history, const struct run *run,
                          struct effects *effects);
void history_consumer_run_end(const struct history *history, const struct run *run,
                              struct effects *effects);

#endif
