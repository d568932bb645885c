/* SPDX-License-Identifier: Apache-2.0 */
/* turns_run.c: what becomes of the run of a job, on own hosts: see turns.h. */
#include "site/endings.h"
#include "site/lifecycle_parts.h"
#include "site/turns.h"

static void note_begun(struct lifecycle *life, struct job *job, enum job_state state,
                       int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    if (state != JOB_RUN) {
        state = jobs_suspended_state(job);
        pass_request_set(life->parts.pass_request); /* its slots may be others' now */
    }
    bool is_news = jobs_note_suspension(job, state, now_ms) || job->state != state ||
                   job->start_ms == 0 || !job->is_decided;
    if (!is_news || !jobs_move(life->parts.jobs, job, state)) {
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
    jobs_store(job, effects);
}

void turns_begun(struct lifecycle *life, struct job *job, enum job_state state,
                 int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    note_begun(life, job, state, start_ms, now_ms, effects);
    if (state == JOB_RUN) {
        endings_begun(life, job, now_ms, effects);
    }
}

/* On record, so that it is known for how long. */
void turns_lose_sight(struct lifecycle *life, struct job *job, struct effects *effects)
{
    bool is_news = job->state != JOB_UNKWN;
    if (jobs_move(life->parts.jobs, job, JOB_UNKWN) && is_news) {
        jobs_store(job, effects);
    }
}

void turns_run_changed(struct lifecycle *life, struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    struct job *job = jobs_find_attempt(life->parts.jobs, run->id.attempt);
    if (run->record == RUN_RECORD_ENDED) {
        if (job != NULL) {
            turns_finish(life, job, &run->exit, now_ms, effects);
        }
        /* Output that went to no file stays at the host for peek, with the job. */
        bool is_kept = job != NULL && jobs_is_ended(job) &&
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
        turns_lose_sight(life, job, effects);
    } else if (run->phase == RUN_RUNNING) {
        turns_begun(life, job, JOB_RUN, run->start_ms, now_ms, effects);
    } else if (run->phase == RUN_SUSPENDED) {
        turns_begun(life, job, JOB_SSUSP, run->start_ms, now_ms, effects);
    }
}
