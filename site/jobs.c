/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c: see jobs.h. The table is an array sorted by id; beside it stand the lines of
 * waiting jobs, and three sorted indexes: waiting jobs that are held until an instant,
 * the open attempts, the ended jobs. */
#include "site/jobs_parts.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"

/* ---------------------------------------------------------------- states */

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

bool jobs_is_array_ended(const struct job *job)
{
    return job->index != 0 && job->submission->n_unfinished == 0;
}

/* ---------------------------------------------------------------- indexes */

bool jobs_is_waiting(const struct job *job)
{
    return job->state == JOB_PEND && job->attempt == 0;
}

static bool should_be_open(const struct job *job)
{
    return job->attempt != 0 && !jobs_is_ended(job);
}

static void count_open(struct jobs *jobs, struct job *job, int sign)
{
    jobs_list_growing(jobs, job, sign);
    bool stands_still = job->state == JOB_SSUSP || job->state == JOB_USUSP;
    if (sign > 0) {
        job->is_counted_still =
            stands_still && job->halt.causes != 0 && job->halt.yields;
    }
    job->submission->n_open += sign;
    limits_count(jobs->limits, job->class, job->hosts, job->n_hosts,
                 job->is_counted_still, sign);
    if (sign > 0) {
        shares_enter(jobs->shares, job, jobs->now_ms);
        reserves_enter(jobs->reserves, job);
    } else {
        shares_leave(jobs->shares, job, jobs->now_ms);
        reserves_leave(jobs->reserves, job);
    }
}

/* Takes the job out of the indexes before its key or state changes ... */
void jobs_unindex(struct jobs *jobs, struct job *job)
{
    if (jobs_is_waiting(job)) {
        jobs_leave_line(jobs, job);
    }
    if (job->is_open) {
        count_open(jobs, job, -1);
        job_list_remove(&jobs->open, job, job_list_by_attempt);
    }
    job->is_open = false;
    jobs->n_by_state[job->state]--;
}

/* ... and puts it back where it belongs. */
void jobs_reindex(struct jobs *jobs, struct job *job)
{
    jobs->n_by_state[job->state]++;
    job->is_open = should_be_open(job);
    jobs_watch(jobs, job);
    depends_note(jobs->depends, jobs_key(job));
    if (jobs_is_waiting(job)) {
        jobs_wait_in_line(jobs, job);
    }
    if (job->is_open) {
        count_open(jobs, job, 1);
        job_list_insert(&jobs->open, job,
                        job_list_place(&jobs->open, job, job_list_by_attempt));
    }
}

/* ---------------------------------------------------------------- life of the table */

struct jobs *jobs_new(const struct queue_config *queues, int n_queues,
                      struct limits *limits, struct shares *shares,
                      struct reserves *reserves)
{
    struct jobs *jobs = mem_alloc(1, sizeof(*jobs));
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->limits = limits;
    jobs->shares = shares;
    jobs->reserves = reserves;
    jobs->lines = lines_new();
    jobs->depends = depends_new();
    arena_init(&jobs->scratch);
    return jobs;
}

void jobs_free_job(struct jobs *jobs, struct job *job)
{
    submission_leave(job->submission);
    limits_leave(jobs->limits, job->class);
    reserves_leave(jobs->reserves, job);
    keep_free(job->overload);
    keep_free(job->reserved);
    keep_free(job->avoided);
    keep_free(job->switched_queue);
    keep_free(job->lease);
    free(job->hosts);
    free((void *)job->resize.hosts);
    free(job->exit);
    keep_free(job->reason);
    free(job);
}

void jobs_free(struct jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    for (int i = 0; i < jobs->all.count; i++) {
        jobs_free_job(jobs, jobs->all.items[i]);
    }
    lines_free(jobs->lines);
    depends_free(jobs->depends);
    arena_release(&jobs->scratch);
    free(jobs->all.items);
    free(jobs->held.items);
    free(jobs->open.items);
    free(jobs->growing.items);
    free(jobs->ended.items);
    free(jobs);
}

void jobs_enter_queue(struct jobs *jobs, struct job *job, const char *name)
{
    const char *project = job->terms->project;
    job->queue = -1;
    for (int i = 0; i < jobs->n_queues; i++) {
        if (strcmp(jobs->queues[i].name, name) == 0) {
            job->queue = i;
        }
    }
    limits_leave(jobs->limits, job->class);
    job->class = limits_join(jobs->limits, job->spec->user, name,
                             project[0] != '\0' ? project : "default");
    job->seat =
        shares_seat(jobs->shares, job->queue, job->spec->user, job->terms->user_group);
}

void jobs_reload(struct jobs *jobs, const struct queue_config *queues, int n_queues,
                 struct limits *limits, struct shares *shares)
{
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        jobs_unindex(jobs, job);
        limits_leave(jobs->limits, job->class);
        job->class = NULL;
    }
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->limits = limits;
    jobs->shares = shares;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        jobs_enter_queue(jobs, job, jobs_queue_name(job));
        jobs_reindex(jobs, job);
    }
}

struct job *jobs_new_job(struct jobs *jobs, const struct row_job *row,
                         struct submission *submission, int index)
{
    struct job *job = mem_alloc(1, sizeof(*job));
    job->id = row->id;
    job->index = index;
    job->submit_ms = row->submit_ms;
    job->submission = submission;
    job->spec = submission->spec;
    submission->n_jobs++;
    submission->n_unfinished++;
    job->terms = &submission->terms;
    job->is_released = job->terms->depend_on[0] == '\0';
    jobs_enter_queue(jobs, job, row->spec.queue);
    job->state = JOB_PEND;
    job->lease = keep_text("");
    job->reason = keep_text("");
    return job;
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

void jobs_start(struct jobs *jobs, int64_t now_ms)
{
    jobs->now_ms = now_ms;
    jobs_remove_dropped(jobs);
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        jobs->n_by_state[job->state]++;
        job->is_open = should_be_open(job);
        jobs_watch(jobs, job);
        if (jobs_is_waiting(job)) {
            jobs_wait_in_line(jobs, job);
        }
        if (job->is_open) {
            count_open(jobs, job, 1);
            job_list_insert(&jobs->open, job, jobs->open.count);
        }
        if (jobs_is_ended(job)) {
            job->kept_ms = job->end_ms;
            job_list_insert(&jobs->ended, job, jobs->ended.count);
            job->submission->n_unfinished--;
        }
    }
    job_list_sort_by_attempt(&jobs->open);
    job_list_sort_by_end(&jobs->ended);
}

struct job *jobs_add_array(struct jobs *jobs, const struct row_job *row,
                           const int *indices, int n_indices)
{
    struct submission *submission = submission_new(row);
    int first = jobs->all.count;
    for (int i = 0; i < n_indices; i++) {
        struct job *job = jobs_new_job(jobs, row, submission, indices[i]);
        job_list_insert(&jobs->all, job, jobs->all.count);
        jobs_reindex(jobs, job);
    }
    return jobs->all.items[first];
}

struct job *jobs_add(struct jobs *jobs, const struct row_job *row)
{
    return jobs_add_array(jobs, row, (const int[]){0}, 1);
}

/* ---------------------------------------------------------------- looking */

uint64_t jobs_key(const struct job *job)
{
    return job_id_key(job->id, job->index);
}

struct job *jobs_find(const struct jobs *jobs, uint64_t key)
{
    uint64_t id = job_id_key_number(key);
    int index = job_id_key_index(key),
        place = job_list_place_by_id(&jobs->all, id, index);
    struct job *job = place < jobs->all.count ? jobs->all.items[place] : NULL;
    return job != NULL && job->id == id && job->index == index ? job : NULL;
}

int jobs_place_of(const struct jobs *jobs, uint64_t id)
{
    return job_list_place_by_id(&jobs->all, id, 0);
}

struct job *jobs_find_attempt(const struct jobs *jobs, uint64_t attempt)
{
    return job_list_find(&jobs->open, &(struct job){.attempt = attempt},
                         job_list_by_attempt);
}

int jobs_count(const struct jobs *jobs)
{
    return jobs->all.count;
}

struct job *jobs_at(const struct jobs *jobs, int index)
{
    return jobs->all.items[index];
}

int jobs_count_unfinished(const struct jobs *jobs)
{
    return jobs->all.count - jobs->ended.count;
}

int64_t jobs_waiting_slots(const struct jobs *jobs)
{
    return jobs->n_waiting_slots;
}

const struct lines *jobs_lines(const struct jobs *jobs)
{
    return jobs->lines;
}

void jobs_set_verdicts(struct jobs *jobs, const struct reason_verdict *verdicts)
{
    lines_set_verdicts(jobs->lines, verdicts);
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

int jobs_count_state(const struct jobs *jobs, enum job_state state)
{
    return jobs->n_by_state[state];
}

int jobs_count_open(const struct jobs *jobs)
{
    return jobs->open.count;
}

struct job *jobs_open_at(const struct jobs *jobs, int index)
{
    return jobs->open.items[index];
}

const char *jobs_queue_name(const struct job *job)
{
    return job->switched_queue != NULL ? job->switched_queue : job->spec->queue;
}

/* ---------------------------------------------------------------- turns */

void jobs_switch(struct jobs *jobs, struct job *job, int queue)
{
    jobs_unindex(jobs, job);
    keep_set_text(&job->switched_queue, jobs->queues[queue].name);
    jobs_enter_queue(jobs, job, jobs->queues[queue].name);
    jobs_reindex(jobs, job);
}

void jobs_reorder(struct jobs *jobs, struct job *job, bool to_top)
{
    jobs_unindex(jobs, job);
    job->turn.place = to_top ? --jobs->first_place : ++jobs->last_place;
    jobs_reindex(jobs, job);
}

bool jobs_move(struct jobs *jobs, struct job *job, enum job_state state)
{
    if (!moves[job->state][state]) {
        return false;
    }
    jobs_unindex(jobs, job);
    job->state = state;
    jobs_reindex(jobs, job);
    return true;
}

void jobs_begin(struct jobs *jobs, struct job *job, uint64_t attempt, const char *lease,
                uint64_t epoch, const struct place_start *start, const char *reserved)
{
    jobs_unindex(jobs, job);
    job->attempt = attempt;
    keep_set_text(&job->lease, lease);
    job->epoch = epoch;
    job->is_decided = lease[0] == '\0';
    job->is_taken = false;
    jobs_set_hosts(job, start->hosts, start->n_hosts);
    jobs_set_resize(job, &(struct job_resize){.max_slots = jobs_first_wish(job)});
    job->grow_ms = 0;
    job->backfill = start->backfill;
    jobs_set_reserved(job, reserved);
    jobs_set_overload(job, "");
    job->control = (struct run_control){0};
    job->halt = (struct job_halt){.n_preempted = job->halt.n_preempted};
    job->requeue_cause = REQUEUE_NONE;
    keep_set_text(&job->reason, "");
    jobs_reindex(jobs, job);
}

void jobs_requeue(struct jobs *jobs, struct job *job, enum requeue_cause cause,
                  const char *reason)
{
    bool is_stopped = (job->halt.causes & HALT_USER) != 0;
    int n_preempted = job->halt.n_preempted;
    jobs_unindex(jobs, job);
    job->state = is_stopped ? JOB_PSUSP : JOB_PEND;
    job->attempt = 0;
    keep_set_text(&job->lease, "");
    job->epoch = 0;
    job->is_decided = false;
    job->is_taken = false;
    jobs_set_hosts(job, NULL, 0);
    jobs_set_resize(job, &(struct job_resize){0});
    job->backfill = (struct place_backfill){0};
    jobs_set_reserved(job, "");
    jobs_set_overload(job, "");
    job->start_ms = 0;
    job->control = (struct run_control){0};
    job->halt = (struct job_halt){.n_preempted = n_preempted};
    job->requeue_cause = cause;
    job->written_attempt = 0;
    keep_set_text(&job->reason, reason);
    jobs_reindex(jobs, job);
}

void jobs_end(struct jobs *jobs, struct job *job, const struct run_exit *exit,
              bool is_done, const char *reason, int64_t end_ms)
{
    jobs_unindex(jobs, job);
    job->state = is_done ? JOB_DONE : JOB_EXIT;
    job->is_taken = false;
    jobs_set_exit(job, exit);
    if (job->start_ms == 0) {
        job->start_ms = exit->start_ms;
    }
    job->end_ms = end_ms;
    jobs_set_reserved(job, "");
    jobs_set_resize(job, &(struct job_resize){0});
    job->halt.causes = 0;
    if (job->halt.since_ms != 0 && end_ms > job->halt.since_ms) {
        job->halt.total_ms += end_ms - job->halt.since_ms;
    }
    job->halt.since_ms = 0;
    keep_set_text(&job->reason, reason);
    jobs_reindex(jobs, job);
    job->submission->n_unfinished--;
    job->kept_ms = end_ms;
    job_list_insert(&jobs->ended, job, jobs->ended.count);
}
