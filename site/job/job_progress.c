/* SPDX-License-Identifier: Apache-2.0 */
/* job_progress.c: the progress of runs, and of runs on own hosts in particular; see
 * lifecycle.h and lifecycle_parts.h. */
#include "site/job/deferred_kill.h"
#include "site/job/lifecycle_parts.h"

static void record_state(struct lifecycle *life, struct job *job, enum job_state state,
                         int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    if (state != JOB_RUN) {
        state = job_suspended_state(job);
        pass_request_set(life->parts.pass_request); /* its slots may be free now */
    }
    bool is_news = job_note_suspension(job, state, now_ms) || job->state != state ||
                   job->start_ms == 0 || !job->is_decided;
    if (!is_news || !job_table_set_state(life->parts.jobs, job, state)) {
        return;
    }
    if (job->start_ms == 0) {
        job->start_ms = start_ms != 0 ? start_ms : now_ms;
        if (job->ledger != NULL) {
            /* The durations of its reservations (rusage) begin now. */
            pass_request_set(life->parts.pass_request);
        }
    }
    if (job->is_growing) {
        pass_request_set(
            life->parts.pass_request); /* a running job may get more slots */
    }
    fairshare_ledger_update_job(life->parts.shares, job, now_ms);
    job->is_decided = true;
    job_store(job, effects);
}

void job_progress_state(struct lifecycle *life, struct job *job, enum job_state state,
                        int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    record_state(life, job, state, start_ms, now_ms, effects);
    if (state == JOB_RUN) {
        deferred_kill_resumed(life, job, now_ms, effects);
    }
}

/* Stored, so that the time since then is known. */
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
        /* The host keeps output that went to no file, so that peek can show it, until
         * the job is cleaned. */
        bool has_output = job != NULL && job_is_ended(job) &&
                          run->exit.out_bytes + run->exit.err_bytes > 0;
        if (!has_output) {
            runs_forget(life->parts.runs, run, effects);
        }
        return;
    }
    if (job == NULL) {
        return;
    }
    job->is_taken = false; /* the run has a row of its own now */
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
