/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_job.c: the life of each job in the journal of its site (5, 12). */
#include "sim/invariant/invariant_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/digits.h"
#include "model/job_id.h"

enum { RESTORED_BEGINS = 1000 };

static void format_number(char *key, const char *site, uint64_t id)
{
    char digits[DIGITS_SIZE];

    digits_write(digits, (int64_t)id);
    invariant_state_key(key, site, digits, NULL);
}

static void format_job(char *key, const char *site, uint64_t id, int index)
{
    char name[3 * DIGITS_SIZE];
    size_t length = digits_write(name, (int64_t)id);

    if (index) {
        name[length++] = '[';
        length += digits_write(name + length, index);
        memcpy(name + length, "]", 2);
    }
    invariant_state_key(key, site, name, NULL);
}

static struct seen_submission *find_submission(const struct invariants *invariants,
                                               const char *site, uint64_t id)
{
    char key[INVARIANTS_KEY_SIZE];

    format_number(key, site, id);
    return invariant_state_find(invariants->submissions, key);
}

static bool is_end(enum job_state state)
{
    return state == JOB_DONE || state == JOB_EXIT;
}

static int count_elements(const struct row_job *row)
{
    struct arena arena;
    struct job_id list;
    const int *indices;
    int n_elements = 1;

    arena_init(&arena);
    if (row->is_array &&
        !job_id_read_name(&arena, row->spec.name, JOB_INDEX_MAX, &list, NULL)) {
        n_elements = job_id_expand(&arena, &list, &indices);
    }
    arena_release(&arena);
    return n_elements;
}

static bool see_submission(struct invariants *invariants, const char *site,
                           const struct row_job *row, struct invariants_text *text)
{
    char key[INVARIANTS_KEY_SIZE];
    struct seen_submission *seen;

    format_number(key, site, row->id);
    if (invariant_state_find(invariants->submissions, key)) {
        return invariant_state_fail(text, "job %s was put on record twice", key);
    }
    seen = invariant_state_see(&invariants->submissions, key, sizeof *seen);
    seen->is_rerunnable = row->spec.is_rerunnable;
    seen->is_restored = invariant_state_site(invariants, site)->is_restoring;
    seen->run_limit_ms = row->spec.run_limit_ms;
    snprintf(seen->queue, sizeof seen->queue, "%s", row->spec.queue);
    snprintf(seen->name, sizeof seen->name, "%s", row->spec.name);
    invariant_span_read(&row->spec, seen);
    seen->n_elements = count_elements(row);
    invariant_state_site(invariants, site)->n_jobs += seen->n_elements;
    invariants->n_unended += seen->n_elements;
    return true;
}

/* Handles the deletion of a whole submission. */
static bool forget_submission(struct invariants *invariants, const char *site,
                              struct seen_submission *submission,
                              struct invariants_text *text)
{
    if (submission->n_ended < submission->n_elements) {
        return invariant_state_fail(
            text, "job %s was acknowledged and is gone: %d of %d had ended",
            submission->base.key, submission->n_ended, submission->n_elements);
    }
    invariant_state_site(invariants, site)->n_jobs -=
        submission->n_elements - submission->n_dropped;
    submission->n_dropped = submission->n_elements;
    return true;
}

static struct seen_job *see_job(struct invariants *invariants, const char *site,
                                const struct row_job_state *row,
                                struct seen_submission *submission)
{
    char key[INVARIANTS_KEY_SIZE];
    struct seen_job *seen;

    format_job(key, site, row->id, row->index);
    seen = invariant_state_see(&invariants->jobs, key, sizeof *seen);
    if (!seen->submission) {
        seen->submission = submission;
        seen->may_begin = submission->is_restored ? RESTORED_BEGINS : 1;
    }
    return seen;
}

/* False: a lost job had that id. */
static bool is_named(const struct seen_job *job, const char *name)
{
    return strncmp(job->submission->name, name, NAME_SIZE - 1) == 0;
}

static void forget(struct seen **table, const char *site)
{
    size_t length = strlen(site);
    struct seen *at, *next;

    HASH_ITER (hh, *table, at, next) {
        if (strncmp(at->key, site, length) == 0 && at->key[length] == ' ') {
            HASH_DEL(*table, at);
            free(at);
        }
    }
}

void invariant_job_restored(struct invariants *invariants, const char *site,
                            bool is_over)
{
    struct seen_site *seen = invariant_state_site(invariants, site);
    size_t length = strlen(site);

    seen->is_restoring = !is_over;
    seen->is_restored = invariants->has_restored = true;
    seen->has_begun = false;
    seen->restored_checks = seen->n_checks;
    if (is_over) {
        return;
    }
    for (const struct seen *at = invariants->submissions; at; at = at->hh.next) {
        const struct seen_submission *of = (const struct seen_submission *)at;

        if (strncmp(at->key, site, length) == 0 && at->key[length] == ' ') {
            invariants->n_unended -= of->n_elements - of->n_ended;
        }
    }
    seen->n_jobs = 0;
    forget(&invariants->jobs, site);
    forget(&invariants->submissions, site);
    for (struct seen *at = invariants->leases; at; at = at->hh.next) {
        if (strncmp(at->key, site, length) == 0 && at->key[length] == '/') {
            ((struct seen_lease *)at)->epoch = 0; /* it is their provider */
        }
    }
    invariant_host_restored(invariants, site);
}

void invariant_job_exited(struct invariants *invariants, const struct run_id *run,
                          int status)
{
    int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    char key[INVARIANTS_KEY_SIZE];
    struct seen_exits *seen;

    format_number(key, run->site, run->attempt);
    seen = invariant_state_see(&invariants->exits, key, sizeof *seen);
    seen->codes[code / 8] |= (uint8_t)(1U << code % 8);
}

/* A job that has begun ends with the exit code of one of its own processes. */
static bool check_exit(const struct invariants *invariants, const char *site,
                       const struct row_job_state *row, const char *job,
                       struct invariants_text *text)
{
    const struct run_exit *exit = &row->exit;
    int code = exit->code + (exit->end == RUN_END_SIGNALLED ? 128 : 0);
    bool is_of_process =
        exit->end == RUN_END_EXITED ||
        ((exit->end == RUN_END_SIGNALLED || exit->end == RUN_END_LIMIT) &&
         exit->start_ms != 0 && exit->text[0] == '\0');
    char key[INVARIANTS_KEY_SIZE];
    const struct seen_exits *seen;

    if (!is_of_process || code < 0 || code > 255) {
        return true;
    }
    format_number(key, site, row->attempt);
    seen = invariant_state_find(invariants->exits, key);
    return (seen && (seen->codes[code / 8] >> code % 8 & 1) != 0) ||
           invariant_state_fail(
               text, "job %s has exit code %d, which no process of it had", job, code);
}

static bool see_state(struct invariants *invariants, const char *site,
                      const struct row_job_state *row, struct invariants_text *text)
{
    struct seen_submission *submission = find_submission(invariants, site, row->id);
    struct seen_job *job;

    if (!submission) {
        return invariant_state_fail(
            text, "job %" PRIu64 " of %s has a state and no record", row->id, site);
    }
    if (row->is_gone) {
        return forget_submission(invariants, site, submission, text);
    }
    job = see_job(invariants, site, row, submission);
    if (job->is_ended && row->state != job->end_state) {
        return invariant_state_fail(text, "job %s ended and is now in state %d",
                                    job->base.key, (int)row->state);
    }
    if (is_end(row->state) && !job->is_ended) {
        if (!invariant_state_site(invariants, site)->is_restoring &&
            !check_exit(invariants, site, row, job->base.key, text)) {
            return false;
        }
        job->is_ended = true;
        job->end_state = row->state;
        submission->n_ended++;
        invariants->n_unended--;
    }
    if (!invariant_load_causes_changed(invariants, site, row, job, text)) {
        return false;
    }
    bool is_given_back = row->attempt == 0 && !job->is_ended;
    if (is_given_back && job->begun == job->may_begin &&
        row->requeue_cause != REQUEUE_NONE && row->requeue_cause != REQUEUE_LOST) {
        job->may_begin++;
    }
    if (row->is_dropped) {
        submission->n_dropped++;
        invariant_state_site(invariants, site)->n_jobs--;
        return job->is_ended ||
               invariant_state_fail(text, "job %s is dropped before its end",
                                    job->base.key);
    }
    return true;
}

/* The run time that a job needs: its run limit, or the minimum of its queue. */
static int64_t least_of(const struct site_config *config, const char *queue,
                        int64_t limit_ms)
{
    for (int i = 0; i < config->n_queues; i++) {
        int64_t slice_ms = config->queues[i].reservation.backfill_slice_ms;

        if (!strcmp(config->queues[i].name, queue) && slice_ms > 0 &&
            slice_ms < limit_ms) {
            return slice_ms;
        }
    }
    return limit_ms;
}

/* Checks a new attempt: its span, and reservations of its slots by other jobs. */
static bool judge_start(struct invariants *invariants, const struct site_config *config,
                        const struct row_job_state *row, int64_t now_ms,
                        struct invariants_text *text)
{
    const char *site = config->name;
    const struct seen_submission *of = find_submission(invariants, site, row->id);
    int64_t least_ms;
    struct seen_job *job;
    char key[INVARIANTS_KEY_SIZE];

    format_job(key, site, row->id, row->index);
    job = invariant_state_find(invariants->jobs, key);
    if (!job || job->attempt == row->attempt) {
        return true;
    }
    job->attempt = row->attempt;
    if (row->attempt != 0 && !invariant_span_check(of, key, row, text)) {
        return false;
    }
    if (row->backfill_of == 0) {
        return true;
    }
    if (!find_submission(invariants, site, job_id_key_number(row->backfill_of))) {
        return invariant_state_fail(text, "job %s uses slots that no job reserves",
                                    key);
    }
    least_ms = least_of(config, row->queue[0] ? row->queue : of->queue,
                        row->run_limit_ms ? row->run_limit_ms : of->run_limit_ms);
    return (least_ms > 0 && now_ms + least_ms <= row->backfill_until_ms) ||
           invariant_state_fail(text,
                                "job %s is lent slots until %" PRId64
                                " and may run until %" PRId64,
                                key, row->backfill_until_ms, now_ms + least_ms);
}

bool invariant_job_stored(struct invariants *invariants,
                          const struct site_config *config, const struct row *row,
                          int64_t now_ms, struct invariants_text *text)
{
    const char *site = config->name;

    if (row->kind == ROW_JOB) {
        return see_submission(invariants, site, &row->job, text);
    }
    return row->kind != ROW_JOB_STATE ||
           (see_state(invariants, site, &row->job_state, text) &&
            judge_start(invariants, config, &row->job_state, now_ms, text));
}

bool invariant_job_acknowledged(struct invariants *invariants, const char *site,
                                uint64_t job, struct invariants_text *text)
{
    return find_submission(invariants, site, job) ||
           invariant_state_fail(text,
                                "job %" PRIu64 " of %s was acknowledged before it was "
                                "on record",
                                job, site);
}

bool invariant_job_started(struct invariants *invariants, const char *site,
                           const char *job, const char *name,
                           struct invariants_text *text)
{
    char key[INVARIANTS_KEY_SIZE];
    struct seen_job *seen;

    invariant_state_key(key, site, job, NULL);
    seen = invariant_state_find(invariants->jobs, key);
    if (invariant_state_site(invariants, site)->is_restored &&
        (!seen || !is_named(seen, name))) {
        return true; /* the run of a job that was lost with the journal */
    }
    if (!seen) {
        return invariant_state_fail(text, "job %s started and is on no record", key);
    }
    seen->begun++;
    return seen->begun <= seen->may_begin || seen->submission->is_rerunnable ||
           invariant_state_fail(text, "job %s started %d times", key, seen->begun);
}

bool invariant_job_check(struct invariants *invariants,
                         const struct invariants_site *site,
                         struct invariants_text *text)
{
    const char *name = site->config->name;
    int n_jobs = site_count_jobs(site->site);
    int n_seen = invariant_state_site(invariants, name)->n_jobs;

    if (n_jobs != n_seen) {
        return invariant_state_fail(text, "%s knows %d jobs, its journal %d", name,
                                    n_jobs, n_seen);
    }
    for (int i = 0; i < n_jobs; i++) {
        char key[INVARIANTS_KEY_SIZE];
        struct seen_job *seen;
        struct site_job job;

        site_job_at(site->site, i, &job);
        format_job(key, name, job.id, job.index);
        seen = invariant_state_find(invariants->jobs, key);
        if (!seen && !find_submission(invariants, name, job.id)) {
            return invariant_state_fail(text, "job %s is on no record", key);
        }
        if (seen && seen->is_ended != is_end(job.state)) {
            return invariant_state_fail(text, "job %s is in state %d, and %s on record",
                                        key, (int)job.state,
                                        seen->is_ended ? "ended" : "not ended");
        }
    }
    return true;
}

const char *invariant_job_find_unended(const struct invariants *invariants)
{
    for (const struct seen *at = invariants->submissions; at; at = at->hh.next) {
        const struct seen_submission *seen = (const struct seen_submission *)at;

        if (seen->n_ended < seen->n_elements) {
            return at->key;
        }
    }
    return NULL;
}
