/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_one.c: one job by itself, and its rows: see jobs.h. */
#include "site/jobs_parts.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"

enum { STATES = JOB_UNKWN + 1 };

/* From (row) to (column); a state that it has is always allowed. An open attempt's
 * first news may be its end, so PEND leads everywhere. */
/* clang-format off */
static const bool moves[STATES][STATES] = {
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

bool jobs_may_move(enum job_state from, enum job_state to)
{
    return moves[from][to];
}

const char *jobs_state_name(enum job_state state)
{
    static const char *const names[STATES] = {
        [JOB_PEND] = "PEND",   [JOB_PSUSP] = "PSUSP", [JOB_RUN] = "RUN",
        [JOB_USUSP] = "USUSP", [JOB_SSUSP] = "SSUSP", [JOB_DONE] = "DONE",
        [JOB_EXIT] = "EXIT",   [JOB_UNKWN] = "UNKWN",
    };
    return (unsigned)state < STATES ? names[state] : "?";
}

bool jobs_exit_code(const struct job *job, int *code)
{
    return job->exit != NULL && row_exit_code(job->exit, code);
}

bool jobs_reads_file(const struct job_spec *spec)
{
    return spec->in_file[0] != '\0' && strcmp(spec->in_file, "/dev/null") != 0;
}

int jobs_slots(const struct job *job)
{
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts);
    return n_slots > 0 ? n_slots : job->spec->n_slots;
}

bool jobs_is_ended(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_EXIT;
}

bool jobs_is_requeued(const struct job *job)
{
    return job->attempt != 0 && job->requeue_cause != REQUEUE_NONE;
}

bool jobs_is_halted(const struct job *job)
{
    return job->attempt != 0 && job->control.number != 0 &&
           job->control.action == CONTROL_SUSPEND;
}

bool jobs_is_end_deferred(const struct job *job)
{
    return job->attempt != 0 && (job->is_killed || jobs_is_requeued(job)) &&
           job->control.number != 0 && job->control.action != CONTROL_KILL;
}

enum job_state jobs_suspended_state(const struct job *job)
{
    return (job->halt.causes & HALT_USER) != 0 ? JOB_USUSP : JOB_SSUSP;
}

bool jobs_note_suspension(struct job *job, enum job_state state, int64_t now_ms)
{
    struct job_halt *halt = &job->halt;
    bool is_still = state != JOB_RUN;
    if (is_still == (halt->since_ms != 0)) {
        return false;
    }
    if (!is_still) {
        halt->total_ms += now_ms > halt->since_ms ? now_ms - halt->since_ms : 0;
        halt->resumed_ms = now_ms;
    }
    halt->since_ms = is_still ? now_ms : 0;
    return true;
}

int64_t jobs_ran_ms(const struct job *job, int64_t now_ms)
{
    const struct job_halt *halt = &job->halt;
    int64_t until_ms = jobs_is_ended(job)    ? job->end_ms
                       : halt->since_ms != 0 ? halt->since_ms
                                             : now_ms;
    int64_t ran_ms = until_ms - job->start_ms - halt->total_ms;
    return job->start_ms != 0 && ran_ms > 0 ? ran_ms : 0;
}

bool jobs_is_array_ended(const struct job *job)
{
    return job->index != 0 && job->submission->n_unfinished == 0;
}

bool jobs_is_waiting(const struct job *job)
{
    return job->state == JOB_PEND && job->attempt == 0;
}

uint64_t jobs_key(const struct job *job)
{
    return job_id_key(job->id, job->index);
}

struct job *jobs_of_turn(struct line_turn *turn)
{
    return (struct job *)(void *)((char *)turn - offsetof(struct job, turn));
}

int jobs_array_room(const struct job *job)
{
    if (job->index == 0) {
        return INT_MAX;
    }
    int max_open = job->submission->max_open, n_open = job->submission->n_open;
    return max_open == 0 ? INT_MAX : max_open > n_open ? max_open - n_open : 0;
}

const char *jobs_queue_name(const struct job *job)
{
    return job->switched_queue != NULL ? job->switched_queue : job->spec->queue;
}

void jobs_set_exit(struct job *job, const struct run_exit *exit)
{
    free(job->exit);
    job->exit = keep_exit(exit);
}

void jobs_set_hosts(struct job *job, const struct host_slots *hosts, int n_hosts)
{
    struct host_slots *kept = keep_hosts(hosts, n_hosts); /* they may be its own */
    free(job->hosts);
    job->hosts = kept;
    job->n_hosts = n_hosts;
}

void jobs_set_overload(struct job *job, const char *text)
{
    char *kept = text[0] != '\0' ? keep_text(text) : NULL; /* it may be its own */
    keep_free(job->overload);
    job->overload = kept;
}

void jobs_set_reserved(struct job *job, const char *reserved)
{
    keep_free(job->reserved);
    job->reserved = reserved[0] != '\0' ? keep_text(reserved) : NULL;
}

void jobs_set_avoided(struct job *job, const char *hosts)
{
    keep_free(job->avoided);
    job->avoided = hosts[0] != '\0' ? keep_text(hosts) : NULL;
}

/* Slots that it asks for until it has them, from its beginning on. */
int jobs_first_wish(const struct job *job)
{
    return job->terms->resizable == RESIZABLE_AUTO ? job->terms->max_slots : 0;
}

int jobs_asked_slots(const struct job *job)
{
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts);
    return job->resize.max_slots > n_slots ? job->resize.max_slots - n_slots : 0;
}

int jobs_wanted_slots(const struct job *job)
{
    bool may_have = job->state == JOB_RUN && job->halt.causes == 0 && !job->is_killed &&
                    !jobs_is_requeued(job) && job->resize.event == RESIZE_NONE;
    return may_have && job->is_growing ? jobs_asked_slots(job) : 0;
}

void jobs_set_resize(struct job *job, const struct job_resize *resize)
{
    struct host_slots *hosts = keep_hosts(resize->hosts, resize->n_hosts);
    free((void *)job->resize.hosts);
    job->resize = *resize;
    job->resize.hosts = hosts;
}

void jobs_store_spec(const struct job *job, struct effects *effects)
{
    struct row row = {.kind = ROW_JOB,
                      .job = {.id = job->id,
                              .submit_ms = job->submit_ms,
                              .is_array = job->index != 0}};
    struct row copy;
    row.job.spec = *job->spec;
    row.job.terms = *job->terms;
    row_copy(&effects->arena, &row, &copy);
    effects_store(effects, &copy);
}

void jobs_store(const struct job *job, struct effects *effects)
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
                .halt = job->halt,
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
                .place = job->turn.place,
                .overload = job->overload != NULL ? job->overload : "",
                .reserved = job->reserved != NULL ? job->reserved : "",
                .avoided = job->avoided != NULL ? job->avoided : "",
                .resize = job->resize,
                .backfill_of = job->backfill.of,
                .backfill_until_ms = job->backfill.until_ms,
                .is_released = job->is_released && job->terms->depend_on[0] != '\0',
            },
    };
    struct row copy;
    row_copy(&effects->arena, &row, &copy);
    effects_store(effects, &copy);
}
