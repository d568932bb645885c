/* SPDX-License-Identifier: Apache-2.0 */
/* job_table.c: see job.h. The table is an array sorted by id. Its indexes follow each
 * change (job_index.c). */
#include "site/job/job_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/job_id.h"

/* ---------------------------------------------------------------- the table */

struct job_table *job_table_new(const struct queue_config *queues, int n_queues,
                                const struct job_raise *raise, struct limits *limits,
                                struct fairshare_ledger *fairshare,
                                struct rusage_ledger *rusage)
{
    struct job_table *jobs = mem_alloc(1, sizeof(*jobs));
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->raise = *raise;
    jobs->limits = limits;
    jobs->fairshare = fairshare;
    jobs->rusage = rusage;
    jobs->classes = job_class_set_new();
    jobs->dependents = dependents_new();
    jobs->groups = job_groups_new();
    arena_init(&jobs->scratch);
    return jobs;
}

static void free_job(struct job_table *jobs, struct job *job)
{
    submission_leave(job->submission);
    limits_leave(jobs->limits, job->limit_owner);
    rusage_ledger_remove(jobs->rusage, job);
    dup_free(job->overload);
    dup_free(job->reserved);
    dup_free(job->avoided);
    dup_free(job->switched_queue);
    dup_free(job->lease);
    free(job->hosts);
    free((void *)job->resize.hosts);
    free(job->exit);
    dup_free(job->reason);
    free(job);
}

void job_table_free(struct job_table *jobs)
{
    if (jobs == NULL) {
        return;
    }
    for (int i = 0; i < jobs->all.count; i++) {
        free_job(jobs, jobs->all.items[i]);
    }
    job_class_set_free(jobs->classes);
    dependents_free(jobs->dependents);
    job_groups_free(jobs->groups);
    arena_release(&jobs->scratch);
    job_index_release(jobs);
    free(jobs->all.items);
    free(jobs);
}

struct job_groups *job_table_groups(const struct job_table *jobs)
{
    return jobs->groups;
}

void job_table_enter_queue(struct job_table *jobs, struct job *job, const char *name)
{
    const char *project = job->terms->project;
    job->queue = -1;
    for (int i = 0; i < jobs->n_queues; i++) {
        if (strcmp(jobs->queues[i].name, name) == 0) {
            job->queue = i;
        }
    }
    limits_leave(jobs->limits, job->limit_owner);
    job->group =
        job_group_obtain(jobs->groups, job->terms->job_group, job->spec->user, NULL);
    job->limit_owner = limits_join_group(
        jobs->limits, job->spec->user, name, project[0] != '\0' ? project : "default",
        job->group != NULL ? &job->group->chain : NULL);
    job->fairshare = fairshare_ledger_seat(jobs->fairshare, job->queue, job->spec->user,
                                           job->terms->user_group);
}

void job_table_reload(struct job_table *jobs, const struct queue_config *queues,
                      int n_queues, const struct job_raise *raise,
                      struct limits *limits, struct fairshare_ledger *fairshare)
{
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        job_index_remove(jobs, job);
        limits_leave(jobs->limits, job->limit_owner);
        job->limit_owner = NULL;
    }
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->raise = *raise;
    jobs->limits = limits;
    jobs->fairshare = fairshare;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        job_table_enter_queue(jobs, job, job_queue_name(job));
        job_index_add(jobs, job);
    }
}

struct job *job_table_new_job(struct job_table *jobs, const struct row_job *row,
                              struct submission *submission, int index)
{
    struct job *job = mem_alloc(1, sizeof(*job));
    job->id = row->id;
    job->index = index;
    job->submit_ms = job->entry.submit_ms = row->submit_ms;
    job->submission = submission;
    job->spec = &submission->row->spec;
    submission_join(submission);
    job->terms = &submission->row->terms;
    job->is_released = job->terms->depend_on[0] == '\0';
    job_table_enter_queue(jobs, job, row->spec.queue);
    job->state = JOB_PEND;
    job->expire_ms = INT64_MAX;
    job->lease = dup_text("");
    job->reason = dup_text("");
    return job;
}

void job_table_remove_dropped(struct job_table *jobs)
{
    int kept = 0;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        if (!job->is_dropped) {
            jobs->all.items[kept++] = job;
            continue;
        }
        if (job->submission != NULL) {
            job->submission->n_unfinished--; /* just loaded: it had ended */
        }
        free_job(jobs, job);
    }
    jobs->all.count = kept;
}

static int64_t latest(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

enum { CLOCK_GAP_MS = 24 * 3600 * 1000 };

/* How far the clock is from the newest time on record: 0 within a day of it. */
static int64_t clock_gap_ms(const struct job_table *jobs, int64_t now_ms)
{
    int64_t newest_ms = 0;
    for (int i = 0; i < jobs->all.count; i++) {
        const struct job *job = jobs->all.items[i];
        newest_ms = latest(newest_ms, latest(job->start_ms, job->end_ms));
        newest_ms = latest(newest_ms, job->submit_ms);
    }
    int64_t gap_ms = newest_ms > 0 ? now_ms - newest_ms : 0;
    return gap_ms > CLOCK_GAP_MS || gap_ms < -CLOCK_GAP_MS ? gap_ms : 0;
}

int64_t job_table_start(struct job_table *jobs, int64_t now_ms)
{
    jobs->now_ms = now_ms;
    int64_t gap_ms = clock_gap_ms(jobs, now_ms);
    job_table_remove_dropped(jobs);
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        job_index_restore(jobs, job);
        if (job_is_ended(job)) {
            bool is_trusted = gap_ms == 0 && job->end_ms <= now_ms;
            job->clean_after_ms = is_trusted ? job->end_ms : now_ms;
            job_list_insert(&jobs->ended, job, jobs->ended.count);
            job->submission->n_unfinished--;
        }
    }
    job_list_sort_by_attempt(&jobs->open);
    job_list_sort_by_end(&jobs->ended);
    return gap_ms;
}

struct job *job_table_add_array(struct job_table *jobs, const struct row_job *row,
                                const int *indices, int n_indices)
{
    struct submission *submission =
        submission_new(row, job_index_bytes(jobs, &row->spec));
    int first = job_list_place_by_id(&jobs->all, row->id, indices[0]);
    for (int i = 0; i < n_indices; i++) {
        struct job *job = job_table_new_job(jobs, row, submission, indices[i]);
        job_list_insert(&jobs->all, job, first + i);
        job_index_add(jobs, job);
    }
    return jobs->all.items[first];
}

/* ---------------------------------------------------------------- lookup */

const struct job *job_table_find_const(const struct job_table *jobs, uint64_t key)
{
    uint64_t id = job_id_key_number(key);
    int index = job_id_key_index(key),
        place = job_list_place_by_id(&jobs->all, id, index);
    struct job *job = place < jobs->all.count ? jobs->all.items[place] : NULL;
    return job != NULL && job->id == id && job->index == index ? job : NULL;
}

struct job *job_table_find(struct job_table *jobs, uint64_t key)
{
    return (struct job *)job_table_find_const(jobs, key);
}

int job_table_index_of(const struct job_table *jobs, uint64_t id)
{
    return job_list_place_by_id(&jobs->all, id, 0);
}

const struct job *job_table_find_attempt_const(const struct job_table *jobs,
                                               uint64_t attempt)
{
    return job_list_find(&jobs->open, &(struct job){.attempt = attempt},
                         job_list_by_attempt);
}

struct job *job_table_find_attempt(struct job_table *jobs, uint64_t attempt)
{
    return (struct job *)job_table_find_attempt_const(jobs, attempt);
}

int job_table_count(const struct job_table *jobs)
{
    return jobs->all.count;
}

const struct job *job_table_at_const(const struct job_table *jobs, int index)
{
    return jobs->all.items[index];
}

struct job *job_table_at(struct job_table *jobs, int index)
{
    return (struct job *)job_table_at_const(jobs, index);
}

int job_table_count_unfinished(const struct job_table *jobs)
{
    return jobs->all.count - jobs->ended.count;
}

int64_t job_table_pending_slots(const struct job_table *jobs)
{
    return jobs->n_waiting_slots;
}

const struct job_class_set *job_table_classes(const struct job_table *jobs)
{
    return jobs->classes;
}

void job_table_set_verdicts(struct job_table *jobs,
                            const struct pending_verdict *verdicts)
{
    job_class_set_verdicts(jobs->classes, verdicts);
}

int job_table_count_state(const struct job_table *jobs, enum job_state state)
{
    return jobs->n_by_state[state];
}

int job_table_count_open(const struct job_table *jobs)
{
    return jobs->open.count;
}

const struct job *job_table_open_at_const(const struct job_table *jobs, int index)
{
    return jobs->open.items[index];
}

struct job *job_table_open_at(struct job_table *jobs, int index)
{
    return (struct job *)job_table_open_at_const(jobs, index);
}

int job_table_count_growing(const struct job_table *jobs)
{
    return jobs->growing.count;
}

struct job *job_table_growing_at(struct job_table *jobs, int index)
{
    return jobs->growing.items[index];
}

/* ---------------------------------------------------------------- changes */

void job_table_switch(struct job_table *jobs, struct job *job, int queue)
{
    job_index_remove(jobs, job);
    dup_set_text(&job->switched_queue, jobs->queues[queue].name);
    job_table_enter_queue(jobs, job, jobs->queues[queue].name);
    job_index_add(jobs, job);
}

/* In a submission of its own, which may be that of several elements. */
static void change_job(struct job_table *jobs, struct job *job,
                       struct submission *submission)
{
    job_index_remove(jobs, job);
    job_pending_unwatch(jobs, job);
    job->submission->n_unfinished--;
    submission_leave(job->submission);
    submission_join(submission);
    job->submission = submission;
    job->spec = &submission->row->spec;
    job->terms = &submission->row->terms;
    job->is_released = job->attempt != 0 || job->terms->depend_on[0] == '\0';
    job->is_never_satisfied = false;
    dup_free(job->switched_queue);
    job->switched_queue = NULL;
    job_table_enter_queue(jobs, job, job->spec->queue);
    job_index_add(jobs, job);
}

void job_table_modify(struct job_table *jobs, const struct row_job *row)
{
    struct submission *submission =
        submission_new(row, job_index_bytes(jobs, &row->spec));
    for (int i = job_table_index_of(jobs, row->id);
         i < jobs->all.count && jobs->all.items[i]->id == row->id; i++) {
        if (!job_is_ended(jobs->all.items[i])) {
            change_job(jobs, jobs->all.items[i], submission);
        }
    }
}

void job_table_reserve(struct job_table *jobs, struct job *job, const char *reserved)
{
    job_index_remove(jobs, job);
    job_set_reserved(job, reserved);
    job_index_add(jobs, job);
}

void job_table_reorder(struct job_table *jobs, struct job *job, bool to_top)
{
    job_index_remove(jobs, job);
    job->entry.position = to_top ? --jobs->first_place : ++jobs->last_place;
    job_index_add(jobs, job);
}

bool job_table_set_state(struct job_table *jobs, struct job *job, enum job_state state)
{
    if (!job_may_become(job->state, state)) {
        return false;
    }
    job_index_remove(jobs, job);
    job->state = state;
    job_index_add(jobs, job);
    return true;
}

void job_table_begin(struct job_table *jobs, struct job *job, uint64_t attempt,
                     const char *lease, uint64_t epoch, const struct place_start *start,
                     const char *reserved)
{
    job_index_remove(jobs, job);
    job->is_doubted = false;
    job->attempt = attempt;
    dup_set_text(&job->lease, lease);
    job->epoch = epoch;
    job->is_decided = lease[0] == '\0';
    job->is_taken = false;
    job_set_hosts(job, start->hosts, start->n_hosts);
    job_set_resize(job, &(struct job_resize){.max_slots = job_initial_max_slots(job)});
    job->grow_after_ms = 0;
    job->backfill = start->backfill;
    job->run_limit_ms = 0;
    job_set_reserved(job, reserved);
    job_set_overload(job, "");
    job->control = (struct run_control){0};
    job->use = (struct run_use){0};
    job->usage = (struct job_usage){0};
    job->suspension =
        (struct job_suspension){.n_preempted = job->suspension.n_preempted};
    job->requeue_cause = REQUEUE_NONE;
    dup_set_text(&job->reason, "");
    job_index_add(jobs, job);
}

void job_table_requeue(struct job_table *jobs, struct job *job,
                       enum requeue_cause cause, const char *reason)
{
    bool is_stopped = (job->suspension.causes & SUSPEND_USER) != 0;
    int n_preempted = job->suspension.n_preempted;
    job_index_remove(jobs, job);
    job->state = is_stopped ? JOB_PSUSP : JOB_PEND;
    job->attempt = 0;
    dup_set_text(&job->lease, "");
    job->epoch = 0;
    job->is_decided = false;
    job->is_taken = false;
    job_set_hosts(job, NULL, 0);
    job_set_resize(job, &(struct job_resize){0});
    job->backfill = (struct place_backfill){0};
    job->run_limit_ms = 0;
    job_set_reserved(job, "");
    job_set_overload(job, "");
    job->start_ms = 0;
    job->control = (struct run_control){0};
    job->suspension = (struct job_suspension){.n_preempted = n_preempted};
    job->requeue_cause = cause;
    job->written_attempt = 0;
    dup_set_text(&job->reason, reason);
    job_index_add(jobs, job);
}

void job_table_rerun(struct job_table *jobs, struct job *job, const char *reason)
{
    struct job_list *ended = &jobs->ended;
    int place = ended->count - 1;
    while (ended->items[place] != job) { /* by the end, which clocks may have moved */
        place--;
    }
    memmove(&ended->items[place], &ended->items[place + 1],
            (size_t)(ended->count - place - 1) * sizeof(*ended->items));
    ended->count--;
    job->submission->n_unfinished++;
    job_index_remove(jobs, job);
    free(job->exit);
    job->exit = NULL;
    job->is_killed = false;
    job->end_ms = 0;
    job->n_requeues = job->n_pre_fails = 0;
    job->suspension = (struct job_suspension){.causes = 0};
    job->is_released = job->terms->depend_on[0] == '\0';
    job->is_never_satisfied = false;
    job_index_add(jobs, job);
    job_table_requeue(jobs, job, REQUEUE_USER, reason);
}

void job_table_end(struct job_table *jobs, struct job *job, const struct run_exit *exit,
                   bool is_done, const char *reason, int64_t end_ms)
{
    job_index_remove(jobs, job);
    job->state = is_done ? JOB_DONE : JOB_EXIT;
    job->is_taken = false;
    job_set_exit(job, exit);
    if (job->start_ms == 0) {
        job->start_ms = exit->start_ms;
    }
    job->end_ms = end_ms;
    job_set_reserved(job, "");
    job_set_resize(job, &(struct job_resize){0});
    job->suspension.causes = 0;
    if (job->suspension.since_ms != 0 && end_ms > job->suspension.since_ms) {
        job->suspension.total_ms += end_ms - job->suspension.since_ms;
    }
    job->suspension.since_ms = 0;
    dup_set_text(&job->reason, reason);
    job_index_add(jobs, job);
    job->submission->n_unfinished--;
    job->clean_after_ms = end_ms;
    job_list_insert(&jobs->ended, job, jobs->ended.count);
}

void job_table_resize(struct job_table *jobs, struct job *job,
                      const struct host_slots *hosts, int n_hosts,
                      const struct job_resize *resize)
{
    job_index_remove(jobs, job);
    job_set_resize(job, resize); /* its names may be the old hosts' */
    job_set_hosts(job, hosts, n_hosts);
    job_index_add(jobs, job);
}

/* ---------------------------------------------------------------- time */

/* Evaluates again the dependency conditions that name a job that has changed. */
static bool judge_again(struct job_table *jobs)
{
    bool has_any = false;
    uint64_t key;
    if (!dependents_take(jobs->dependents, &key)) {
        return false;
    }
    job_pending_begin_judging(jobs);
    do {
        struct job *job = job_table_find(jobs, key);
        if (job != NULL && !job->is_released && job_is_pending(job)) {
            job_pending_leave(jobs, job);
            job_pending_enter(jobs, job);
            job_pending_set_expiry(jobs, job);
            has_any = has_any || job->is_released;
        }
    } while (dependents_take(jobs->dependents, &key));
    job_pending_end_judging(jobs);
    return has_any;
}

bool job_table_tick(struct job_table *jobs, int64_t now_ms)
{
    jobs->now_ms = now_ms;
    bool has_any = judge_again(jobs);
    while (jobs->held.count > 0 && jobs->held.items[0]->hold_ms <= now_ms) {
        struct job *job = jobs->held.items[0];
        job_index_remove(jobs, job);
        job_index_add(jobs, job);
        has_any = true;
    }
    return has_any;
}

int64_t job_table_wake_ms(const struct job_table *jobs)
{
    int64_t hold_ms = jobs->held.count > 0 ? jobs->held.items[0]->hold_ms : INT64_MAX;
    int64_t expire_ms =
        jobs->expiring.count > 0 ? jobs->expiring.items[0]->expire_ms : INT64_MAX;
    return hold_ms < expire_ms ? hold_ms : expire_ms;
}

struct job *job_table_first_expired(const struct job_table *jobs, int64_t now_ms)
{
    bool has_one =
        jobs->expiring.count > 0 && jobs->expiring.items[0]->expire_ms <= now_ms;
    return has_one ? jobs->expiring.items[0] : NULL;
}

void job_table_doubt(struct job_table *jobs, uint64_t last)
{
    if (jobs->doubted_to == last) {
        return;
    }
    jobs->doubted_to = last;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        bool is_doubted = job->id <= last && job->attempt == 0 && !job_is_ended(job) &&
                          !job->spec->is_rerunnable;
        if (job->is_doubted != is_doubted) {
            job_index_remove(jobs, job);
            job->is_doubted = is_doubted;
            job_index_add(jobs, job);
        }
    }
}

void job_table_retry_all(struct job_table *jobs)
{
    int at = 0;
    while (at < jobs->held.count) {
        struct job *job = jobs->held.items[at];
        if (job->hold == REASON_RETRY) {
            job_index_remove(jobs, job); /* the next one moves up */
            job->retry_after_ms = 0;
            job_index_add(jobs, job);
        } else {
            at++;
        }
    }
}

/* ---------------------------------------------------------------- by an id as users
 * write it */

const struct job *job_table_lookup_const(const struct job_table *jobs, const char *id)
{
    struct arena arena;
    struct job_id wanted;
    const struct job *job = NULL;
    arena_init(&arena);
    if (job_id_read(&arena, id, &wanted, NULL) == 0 && wanted.n_ranges <= 1) {
        const struct job_range *range = wanted.ranges;
        bool is_one = wanted.n_ranges == 0 || range->first == range->last;
        int index = wanted.n_ranges == 0 ? 0 : range->first;
        job = is_one ? job_table_find_const(jobs, job_id_key(wanted.number, index))
                     : NULL;
    }
    arena_release(&arena);
    return job;
}

struct job *job_table_lookup(struct job_table *jobs, const char *id)
{
    return (struct job *)job_table_lookup_const(jobs, id);
}

const struct job *job_table_lookup_array_const(const struct job_table *jobs,
                                               const char *id)
{
    struct arena arena;
    struct job_id wanted;
    const struct job *job = NULL;
    arena_init(&arena);
    if (job_id_read(&arena, id, &wanted, NULL) == 0 && wanted.n_ranges == 0) {
        int place = job_table_index_of(jobs, wanted.number);
        job = place < job_table_count(jobs) ? job_table_at_const(jobs, place) : NULL;
    }
    arena_release(&arena);
    return job != NULL && job->id == wanted.number && job->index != 0 ? job : NULL;
}

struct job *job_table_lookup_array(struct job_table *jobs, const char *id)
{
    return (struct job *)job_table_lookup_array_const(jobs, id);
}
