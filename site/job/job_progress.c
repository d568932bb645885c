/* SPDX-License-Identifier: Apache-2.0 */
/* job_progress.c: what becomes of the run of a job, on own hosts: see job_dispatch.h.
 */
#include "site/job/deferred_kill.h"
#include "site/job/job_dispatch.h"
#include "site/job/lifecycle_parts.h"

static void note_begun(struct lifecycle *life, struct job *job, enum job_state state,
                       int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    if (state != JOB_RUN) {
        state = job_suspended_state(job);
        pass_request_set(life->parts.pass_request); /* its slots may be others' now */
    }
    bool is_news = job_note_suspension(job, state, now_ms) || job->state != state ||
                   job->start_ms == 0 || !job->is_decided;
    if (!is_news || !job_table_set_state(life->parts.jobs, job, state)) {
        return;
    }
    if (job->start_ms == 0) {
        job->start_ms = start_ms != 0 ? start_ms : now_ms;
        if (job->ledger != NULL) {
            pass_request_set(
                life->parts.pass_request); /* durations of what it reserves begin */
        }
    }
    if (job->is_growing) {
        pass_request_set(life->parts.pass_request); /* who runs may have more */
    }
    shares_change(life->parts.shares, job, now_ms);
    job->is_decided = true;
    job_store(job, effects);
}

void job_progress_state(struct lifecycle *life, struct job *job, enum job_state state,
                        int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    note_begun(life, job, state, start_ms, now_ms, effects);
    if (state == JOB_RUN) {
        deferred_kill_resumed(life, job, now_ms, effects);
    }
}

/* On record, so that it is known for how long. */
void job_progress_unknown(struct lifecycle *life, struct job *job,
                          struct effects *effects)
{
    bool is_news = job->state != JOB_UNKWN;
    if (job_table_set_state(life->parts.jobs, job, JOB_UNKWN) && is_news) {
        job_store(job, effects);
    }
}

void job_progress_run(struct lifecycle *life, struct run *run, int64_t now_ms,
                      struct effects *effects)
{
    struct job *job = job_table_find_attempt(life->parts.jobs, run->id.attempt);
    if (run->record == RUN_RECORD_ENDED) {
        if (job != NULL) {
            job_end_run(life, job, &run->exit, now_ms, effects);
        }
        /* Output that went to no file stays at the host for peek, with the job. */
        bool is_kept = job != NULL && job_is_ended(job) &&
                       run->exit.out_bytes + run->exit.err_bytes > 0;
        if (!is_kept) {
            runs_forget(life->parts.runs, run, effects);
        }
        return;
    }
    if (job == NULL) {
        return;
    }
    job->is_taken = false; /* whatever has become of it has a row of its own */
    if (job->resize.event != RESIZE_NONE && run->resize_done >= job->resize.number) {
        life->parts.on_resized(life->parts.arg, job, run, now_ms, effects);
    }
    if (run->is_away) {
        job_progress_unknown(life, job, effects);
    } else if (run->phase == RUN_RUNNING) {
        job_progress_state(life, job, JOB_RUN, run->start_ms, now_ms, effects);
    } else if (run->phase == RUN_SUSPENDED) {
        job_progress_state(life, job, JOB_SSUSP, run->start_ms, now_ms, effects);
    }
}
