/* SPDX-License-Identifier: Apache-2.0 */
/* hangup.c: interactive jobs whose user has gone. */
#include "site/api/site_api.h"

#include <signal.h>

#include "site/lifecycle/lifecycle.h"

static void hang_up(struct job_table *jobs, struct lifecycle *life, uint64_t key,
                    const char *why, int64_t now_ms, struct effects *effects)
{
    struct job *job = job_table_find(jobs, key);
    if (job == NULL || job_is_ended(job) || job->is_killed) {
        return;
    }
    if (job->attempt != 0) {
        control_job_apply(life, job, CONTROL_SIGNAL, SIGHUP, why, now_ms, effects);
    }
    control_job_apply(life, job, CONTROL_KILL, 0, why, now_ms, effects);
}

void hangup_gone(struct terminals *terminals, struct job_table *jobs,
                 struct lifecycle *life, uint64_t link, int64_t now_ms,
                 struct effects *effects)
{
    uint64_t key;
    while (terminals_take_gone(terminals, link, &key)) {
        hang_up(jobs, life, key, "the end of its user's connection", now_ms, effects);
    }
}

void hangup_late(struct terminals *terminals, struct job_table *jobs,
                 struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    uint64_t key;
    while (terminals_take_late(terminals, now_ms, &key)) {
        hang_up(jobs, life, key, "the loss of its user's connection", now_ms, effects);
    }
}
