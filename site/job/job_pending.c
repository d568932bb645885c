/* SPDX-License-Identifier: Apache-2.0 */
/* job_pending.c: the class of a pending job, and why it is held before it may join one;
 * see job.h. */
#include "site/job/job_parts.h"

#include <stdlib.h>

#include "sched/pending/pending.h"
#include "site/job/queue_table.h"

/* The name of a class: everything in which equal jobs agree. */
static const char *class_name(struct job_table *jobs, const struct job *job)
{
    const struct job_spec *spec = job->spec;
    bool is_limited = job->submission->max_open > 0;
    arena_clear(&jobs->scratch);
    const char *name = arena_printf(
        &jobs->scratch, "%d|%s|%d-%d%s%s|%llu|%s", job->queue, spec->user,
        spec->n_slots, job->terms->max_slots, spec->is_exclusive ? "x" : "",
        job_reads_file(spec)                    ? "f"
        : spec->interaction != INTERACTION_NONE ? "i"
                                                : "",
        (unsigned long long)(is_limited ? job->id : 0), job->terms->project);
    if (spec->app[0] != '\0') {
        name = arena_printf(&jobs->scratch, "%s|-app%s", name, spec->app);
    }
    if (job->terms->user_group[0] != '\0') {
        name = arena_printf(&jobs->scratch, "%s|-G%s", name, job->terms->user_group);
    }
    if (job->group != NULL) {
        name = arena_printf(&jobs->scratch, "%s|-g%s", name, job->group->path);
    }
    bool has_deadline = queue_table_has_deadline(&jobs->queues[job->queue]);
    if (jobs->queues[job->queue].reservation.is_backfill || has_deadline) {
        name = arena_printf(&jobs->scratch, "%s|-W%lld/%s", name,
                            (long long)spec->run_limit_ms, job->terms->run_limit_host);
    }
    for (int i = 0; has_deadline && i < spec->n_limits; i++) {
        name = arena_printf(&jobs->scratch, "%s|-c%s", name, spec->limits[i]);
    }
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        name = arena_printf(&jobs->scratch, "%s|%s", name, spec->hosts_asked[i]);
    }
    if (job->avoided != NULL) {
        name = arena_printf(&jobs->scratch, "%s|~%s", name, job->avoided);
    }
    for (int i = 0; i < spec->n_res_reqs; i++) {
        name = arena_printf(&jobs->scratch, "%s|-R%s", name, spec->res_reqs[i]);
    }
    return name;
}

/* Why the job is held; REASON_NEW: it is not. */
static enum pending_reason hold_reason(const struct job_table *jobs,
                                       const struct job *job, int64_t *until_ms)
{
    *until_ms = INT64_MAX;
    if (job->queue < 0) {
        return REASON_QUEUE_GONE;
    }
    if (job->is_doubted) {
        return REASON_DOUBTED;
    }
    if (!job->is_released) {
        return job->is_never_satisfied ? REASON_DEPENDENCY_NEVER : REASON_DEPENDENCY;
    }
    if (job->terms->begin_ms > jobs->now_ms) {
        *until_ms = job->terms->begin_ms;
        return REASON_BEGIN_TIME;
    }
    int64_t due_ms = job->submit_ms + jobs->queues[job->queue].new_job_delay_ms;
    if (due_ms > jobs->now_ms) {
        *until_ms = due_ms;
        return REASON_NEW_JOB_DELAY;
    }
    if (job->retry_after_ms > jobs->now_ms) {
        *until_ms = job->retry_after_ms;
        return REASON_RETRY;
    }
    return REASON_NEW;
}

static void count_facts(const struct job *job, struct depend_counts *facts)
{
    int code = 0;
    facts->n_jobs++;
    facts->n_post_done += job_post(job) == RUN_POST_DONE;
    facts->n_post_err += job_post(job) == RUN_POST_ERR;
    if (job->state == JOB_EXIT) {
        job_exit_code(job, &code);
        bool is_first = facts->n_exit++ == 0;
        facts->n_never_started += job->start_ms == 0;
        facts->min_code = is_first || code < facts->min_code ? code : facts->min_code;
        facts->max_code = is_first || code > facts->max_code ? code : facts->max_code;
    } else if (job->state == JOB_DONE) {
        facts->n_done++;
    } else if (job->start_ms != 0) {
        facts->n_run++;
    } else {
        facts->n_pend++;
    }
}

/* Many conditions may name one array, whose elements are many, too. */
enum { ARRAYS = 256 };

struct array_facts {
    uint64_t id; /* 0: none */
    struct depend_counts facts;
};

void job_pending_begin_judging(struct job_table *jobs)
{
    jobs->array_facts = mem_alloc(ARRAYS, sizeof(*jobs->array_facts));
}

void job_pending_end_judging(struct job_table *jobs)
{
    free(jobs->array_facts);
    jobs->array_facts = NULL;
}

/* The facts for a condition on one job, or on all elements of an array. */
static void look(void *arg, uint64_t id, int index, struct depend_counts *facts)
{
    const struct job_table *jobs = arg;
    bool is_whole = index == DEPEND_ARRAY;
    struct array_facts *known =
        is_whole && jobs->array_facts != NULL ? &jobs->array_facts[id % ARRAYS] : NULL;
    if (known != NULL && known->id == id) {
        *facts = known->facts;
        return;
    }
    *facts = (struct depend_counts){0};
    for (int i = job_list_place_by_id(&jobs->all, id, is_whole ? 0 : index);
         i < jobs->all.count && jobs->all.items[i]->id == id &&
         (is_whole || jobs->all.items[i]->index == index);
         i++) {
        count_facts(jobs->all.items[i], facts);
    }
    if (known != NULL) {
        *known = (struct array_facts){id, *facts};
    }
}

static void judge(struct job_table *jobs, struct job *job)
{
    enum depend_verdict verdict =
        depend_evaluate(job->terms->depend_on, job->index, look, jobs);
    job->is_released = verdict == DEPEND_MET;
    job->is_never_satisfied = verdict == DEPEND_NEVER;
}

/* It is pending, or stopped while pending. */
static bool may_wait(const struct job *job)
{
    return job->attempt == 0 && !job_is_ended(job);
}

void job_pending_watch(struct job_table *jobs, struct job *job)
{
    bool is_watching = may_wait(job);
    if (job->is_watching == is_watching || job->terms->depend_on[0] == '\0') {
        return;
    }
    job->is_watching = is_watching;
    if (is_watching) {
        dependents_add(jobs->dependents, job_key(job), job->terms->depend_on);
    } else {
        dependents_remove(jobs->dependents, job_key(job), job->terms->depend_on);
    }
}

void job_pending_unwatch(struct job_table *jobs, struct job *job)
{
    if (job->is_watching) {
        job->is_watching = false;
        dependents_remove(jobs->dependents, job_key(job), job->terms->depend_on);
    }
}

/* A run that its termination time would end before its run limit is not begun. */
static int64_t expiry_of(const struct job *job)
{
    const struct job_terms *terms = job->terms;
    if (!may_wait(job)) {
        return INT64_MAX;
    }
    if (terms->ends_orphan && job->is_never_satisfied) {
        return 0;
    }
    return terms->terminate_ms != 0 ? terms->terminate_ms - job->spec->run_limit_ms
                                    : INT64_MAX;
}

void job_pending_clear_expiry(struct job_table *jobs, struct job *job)
{
    if (job->expire_ms != INT64_MAX) {
        job_list_remove(&jobs->expiring, job, job_list_by_expiry);
        job->expire_ms = INT64_MAX;
    }
}

void job_pending_set_expiry(struct job_table *jobs, struct job *job)
{
    job_pending_clear_expiry(jobs, job);
    job->expire_ms = expiry_of(job);
    if (job->expire_ms != INT64_MAX) {
        job_list_insert(&jobs->expiring, job,
                        job_list_place(&jobs->expiring, job, job_list_by_expiry));
    }
}

void job_pending_enter(struct job_table *jobs, struct job *job)
{
    jobs->n_waiting_slots += job->spec->n_slots;
    if (!job->is_released) {
        judge(jobs, job);
    }
    job->hold = hold_reason(jobs, job, &job->hold_ms);
    if (job->hold == REASON_NEW) {
        job->entry.key = job_key(job);
        job->entry.priority =
            job_class_priority(&jobs->raise, job->terms->priority, job->submit_ms);
        job->pending_class =
            job_class_add(jobs->classes, class_name(jobs, job), &job->entry);
        return;
    }
    jobs->n_by_hold[job->hold]++;
    if (job->hold_ms != INT64_MAX) {
        job_list_insert(&jobs->held, job,
                        job_list_place(&jobs->held, job, job_list_by_hold));
    }
}

void job_pending_leave(struct job_table *jobs, struct job *job)
{
    jobs->n_waiting_slots -= job->spec->n_slots;
    if (job->pending_class != NULL) {
        job_class_remove(jobs->classes, job->pending_class, &job->entry);
        job->pending_class = NULL;
        return;
    }
    jobs->n_by_hold[job->hold]--;
    if (job->hold_ms != INT64_MAX) {
        job_list_remove(&jobs->held, job, job_list_by_hold);
    }
}

void job_pending_count_reasons(const struct job_table *jobs, int64_t counts[REASONS])
{
    for (int i = 0; i < REASONS; i++) {
        counts[i] = jobs->n_by_hold[i];
    }
    for (int i = 0; i < job_class_set_count(jobs->classes); i++) {
        struct job_class *class = job_class_set_at(jobs->classes, i);
        int n_entries;
        job_class_entries(class, &n_entries);
        counts[job_class_verdict(class)->reason] += n_entries;
    }
}
