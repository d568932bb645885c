/* SPDX-License-Identifier: Apache-2.0 */
/* job.c: a single job, and its rows; see job.h. */
#include "site/job/job_parts.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"
#include "model/record.h"
#include "model/schema.h"

enum { STATES = JOB_UNKWN + 1 };

/* Transitions from (row) to (column). The first report on an attempt may be its end, so
 * PEND leads everywhere. */
/* clang-format off */
static const bool transitions[STATES][STATES] = {
    /*             PEND PSUSP RUN USUSP SSUSP DONE EXIT UNKWN */
    [JOB_PEND]  = {1,   1,    1,  1,    1,    1,   1,   1},
    [JOB_PSUSP] = {1,   1,    0,  0,    0,    0,   1,   0},
    [JOB_RUN]   = {1,   1,    1,  1,    1,    1,   1,   1},
    [JOB_USUSP] = {1,   1,    1,  1,    1,    1,   1,   1},
    [JOB_SSUSP] = {1,   1,    1,  1,    1,    1,   1,   1},
    [JOB_DONE]  = {0,   0,    0,  0,    0,    1,   0,   0},
    [JOB_EXIT]  = {0,   0,    0,  0,    0,    0,   1,   0},
    [JOB_UNKWN] = {1,   1,    1,  1,    1,    1,   1,   1},
};
/* clang-format on */

bool job_may_become(enum job_state from, enum job_state to)
{
    return transitions[from][to];
}

const char *job_state_name(enum job_state state)
{
    return (unsigned)state < STATES ? schema_row_job_state_words[state] : "?";
}

bool job_exit_code(const struct job *job, int *code)
{
    return job->exit != NULL && row_exit_code(job->exit, code);
}

enum run_post job_post(const struct job *job)
{
    if (!job_is_ended(job) || job->exit == NULL) {
        return RUN_POST_NONE;
    }
    bool is_lost = job->exit->end == RUN_END_LOST && job->start_ms != 0 &&
                   job->exit->post == RUN_POST_NONE;
    return is_lost ? RUN_POST_ERR : job->exit->post;
}

bool job_reads_file(const struct job_spec *spec)
{
    return spec->in_file[0] != '\0' && strcmp(spec->in_file, "/dev/null") != 0;
}

int job_slots(const struct job *job)
{
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts);
    return n_slots > 0 ? n_slots : job->spec->n_slots;
}

bool job_is_ended(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_EXIT;
}

bool job_is_requeued(const struct job *job)
{
    return job->attempt != 0 && job->requeue_cause != REQUEUE_NONE;
}

bool job_is_kill_deferred(const struct job *job)
{
    return job->attempt != 0 && (job->is_killed || job_is_requeued(job)) &&
           job->control.number != 0 && job->control.action != CONTROL_KILL;
}

enum job_state job_suspended_state(const struct job *job)
{
    return (job->suspension.causes & SUSPEND_USER) != 0 ? JOB_USUSP : JOB_SSUSP;
}

bool job_note_suspension(struct job *job, enum job_state state, int64_t now_ms)
{
    struct job_suspension *suspension = &job->suspension;
    bool is_suspended = state != JOB_RUN;
    if (is_suspended == (suspension->since_ms != 0)) {
        return false;
    }
    if (!is_suspended) {
        suspension->total_ms +=
            now_ms > suspension->since_ms ? now_ms - suspension->since_ms : 0;
        suspension->resumed_ms = now_ms;
    }
    suspension->since_ms = is_suspended ? now_ms : 0;
    return true;
}

int64_t job_ran_ms(const struct job *job, int64_t now_ms)
{
    const struct job_suspension *suspension = &job->suspension;
    int64_t until_ms = job_is_ended(job)           ? job->end_ms
                       : suspension->since_ms != 0 ? suspension->since_ms
                                                   : now_ms;
    int64_t ran_ms = until_ms - job->start_ms - suspension->total_ms;
    return job->start_ms != 0 && ran_ms > 0 ? ran_ms : 0;
}

bool job_is_array_ended(const struct job *job)
{
    return job->index != 0 && job->submission->n_unfinished == 0;
}

bool job_is_pending(const struct job *job)
{
    return job->state == JOB_PEND && job->attempt == 0;
}

uint64_t job_key(const struct job *job)
{
    return job_id_key(job->id, job->index);
}

const struct job *job_of_entry(const struct job_class_entry *entry)
{
    return (const struct job *)(const void *)((const char *)entry -
                                              offsetof(struct job, entry));
}

int job_array_room(const struct job *job)
{
    if (job->index == 0) {
        return INT_MAX;
    }
    int max_open = job->submission->max_open, n_open = job->submission->n_open;
    return max_open == 0 ? INT_MAX : max_open > n_open ? max_open - n_open : 0;
}

const char *job_queue_name(const struct job *job)
{
    return job->switched_queue != NULL ? job->switched_queue : job->spec->queue;
}

void job_set_exit(struct job *job, const struct run_exit *exit)
{
    free(job->exit);
    job->exit = record_dup(&schema_run_exit, exit);
}

void job_set_hosts(struct job *job, const struct host_slots *hosts, int n_hosts)
{
    struct host_slots *kept =
        record_dup_list(&schema_run_slots, hosts, n_hosts); /* they may be its own */
    free(job->hosts);
    job->hosts = kept;
    job->n_hosts = n_hosts;
}

void job_set_overload(struct job *job, const char *text)
{
    char *kept = text[0] != '\0' ? dup_text(text) : NULL; /* it may be its own */
    dup_free(job->overload);
    job->overload = kept;
}

void job_set_reserved(struct job *job, const char *reserved)
{
    dup_free(job->reserved);
    job->reserved = reserved[0] != '\0' ? dup_text(reserved) : NULL;
}

void job_set_avoided(struct job *job, const char *hosts)
{
    dup_free(job->avoided);
    job->avoided = hosts[0] != '\0' ? dup_text(hosts) : NULL;
}

int job_initial_max_slots(const struct job *job)
{
    return job->terms->resizable == RESIZABLE_AUTO ? job->terms->max_slots : 0;
}

int job_asked_slots(const struct job *job)
{
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts);
    return job->resize.max_slots > n_slots ? job->resize.max_slots - n_slots : 0;
}

int job_wanted_slots(const struct job *job)
{
    bool may_have = job->state == JOB_RUN && job->suspension.causes == 0 &&
                    !job->is_killed && !job_is_requeued(job) &&
                    job->resize.event == RESIZE_NONE;
    return may_have && job->is_growing ? job_asked_slots(job) : 0;
}

void job_set_resize(struct job *job, const struct job_resize *resize)
{
    struct host_slots *hosts =
        record_dup_list(&schema_run_slots, resize->hosts, resize->n_hosts);
    free((void *)job->resize.hosts);
    job->resize = *resize;
    job->resize.hosts = hosts;
}

void job_store_spec(const struct job *job, struct effects *effects)
{
    struct row row = {.kind = ROW_JOB, .job = *job->submission->row};
    row.job.is_array = job->index != 0;
    effects_store(effects, &row);
}

void job_store(const struct job *job, struct effects *effects)
{
    static const struct run_exit none = {.text = ""};
    struct row row = {
        .kind = ROW_JOB_STATE,
        .job_state =
            {
                .id = job->id,
                .index = job->index,
                .state = job->state,
                .attempt = job->attempt,
                .lease = job->lease,
                .epoch = job->epoch,
                .is_decided = job->is_decided,
                .is_taken = job->is_taken,
                .is_killed = job->is_killed,
                .requeue_cause = job->requeue_cause,
                .suspension = job->suspension,
                .use = job->use,
                .n_requeues = job->n_requeues,
                .n_pre_fails = job->n_pre_fails,
                .hosts = job->hosts,
                .n_hosts = job->n_hosts,
                .start_ms = job->start_ms,
                .end_ms = job->end_ms,
                .control = job->control,
                .exit = job->exit != NULL ? *job->exit : none,
                .reason = job->reason,
                .queue = job->switched_queue != NULL ? job->switched_queue : "",
                .place = job->entry.position,
                .overload = job->overload != NULL ? job->overload : "",
                .reserved = job->reserved != NULL ? job->reserved : "",
                .avoided = job->avoided != NULL ? job->avoided : "",
                .resize = job->resize,
                .backfill_of = job->backfill.lender,
                .backfill_until_ms = job->backfill.until_ms,
                .run_limit_ms = job->run_limit_ms,
                .is_released = job->is_released && job->terms->depend_on[0] != '\0',
            },
    };
    effects_store(effects, &row);
}

/* ---------------------------------------------------------------- run limit */

/* A run that begins only when its gap is over ends at once, and by a limit. */
enum { GAP_MIN_MS = 1000 };

int64_t job_own_run_limit_ms(const struct job *job)
{
    return job->run_limit_ms != 0 ? job->run_limit_ms : job->spec->run_limit_ms;
}

int64_t job_run_limit_ms(const struct job *job, int64_t now_ms)
{
    int64_t limit_ms = job_own_run_limit_ms(job);
    int64_t from_ms = job->start_ms != 0 ? job->start_ms : now_ms;
    int64_t gap_ms = job->backfill.until_ms - from_ms;
    if (job->backfill.lender == 0 || limit_ms <= gap_ms) {
        return limit_ms;
    }
    return gap_ms > GAP_MIN_MS ? gap_ms : GAP_MIN_MS;
}

bool job_is_in_gap(const struct job *job)
{
    return job->backfill.lender != 0 && job->suspension.causes == 0 &&
           job->suspension.resumed_ms < job->backfill.until_ms;
}

bool job_is_run_limit_cut(const struct job *job, int64_t now_ms)
{
    return job_run_limit_ms(job, now_ms) != job_own_run_limit_ms(job);
}

const char *job_output_directory(const struct job_spec *spec)
{
    static const char name[] = "LSB_OUTDIR=";
    for (int i = 0; i < spec->n_env; i++) {
        if (strncmp(spec->env[i], name, sizeof(name) - 1) == 0) {
            return spec->env[i] + sizeof(name) - 1;
        }
    }
    return NULL;
}
