/* SPDX-License-Identifier: Apache-2.0 */
/* event_log_job.c: what became of a job, from its state on record before and now. */
#include <stdio.h>
#include <string.h>

#include "model/job_id.h"
#include "sim/play/event_log_parts.h"

struct submission_key {
    int64_t site;
    uint64_t id;
};

struct job_key {
    int64_t site;
    uint64_t key; /* model/job_id.h */
};

struct event_log_submission {
    struct submission_key key;
    char *name;
    int64_t submit_ms;
    UT_hash_handle hh;
};

struct event_log_job {
    struct job_key key;
    struct event_log_submission *submission;
    enum job_state state;
    uint64_t begun;    /* the attempt that a start was told of */
    int n_slots;       /* as it was last told of */
    bool is_preempted; /* as of the last record: it has given its slots away */
    bool is_killed, is_ended;
    UT_hash_handle hh;
};

void event_log_job_release(struct event_log *story)
{
    struct event_log_submission *submission, *next_submission;
    struct event_log_job *job, *next_job;

    HASH_ITER (hh, story->submissions, submission, next_submission) {
        HASH_DEL(story->submissions, submission);
        free(submission->name);
        free(submission);
    }
    HASH_ITER (hh, story->jobs, job, next_job) {
        HASH_DEL(story->jobs, job);
        free(job);
    }
}

static struct event_log_submission *find_submission(const struct event_log *story,
                                                    int site, uint64_t id)
{
    struct submission_key key = {site, id};
    struct event_log_submission *found;

    HASH_FIND(hh, story->submissions, &key, sizeof key, found);
    return found;
}

static struct event_log_job *see_job(struct event_log *story, int site,
                                     const struct row_job_state *row)
{
    struct job_key key = {site, job_id_key(row->id, row->index)};
    struct event_log_submission *submission = find_submission(story, site, row->id);
    struct event_log_job *job;

    HASH_FIND(hh, story->jobs, &key, sizeof key, job);
    if (!job && submission) {
        job = mem_alloc(1, sizeof *job);
        job->key = key;
        job->submission = submission;
        HASH_ADD(hh, story->jobs, key, sizeof key, job);
    }
    return job;
}

/* ---- events
 * ------------------------------------------------------------------------- */

/* By the name that the scenario knows it by, and the id that its site does. */
static void add_job(struct event_log *story, struct value *event, const char *name,
                    uint64_t id, int index)
{
    struct arena *arena = &story->scratch;

    value_add_text(arena, event, "job", job_id_element_name(arena, name, index));
    if (index) {
        value_add_text(arena, event, "job_id", job_id_text(arena, id, index));
    } else {
        value_add_int(arena, event, "job_id", (int64_t)id);
    }
}

static struct value *begin(struct event_log *story, const char *kind,
                           const struct event_log_job *job,
                           const struct row_job_state *row, int64_t now_ms)
{
    struct value *event = event_log_begin(story, kind, (int)job->key.site, now_ms);

    if (event) {
        add_job(story, event, job->submission->name, row->id, row->index);
    }
    return event;
}

static void tell_hosts(struct event_log *story, const char *kind,
                       const struct event_log_job *job, const struct row_job_state *row,
                       int64_t now_ms)
{
    struct arena *arena = &story->scratch;
    struct value *event = begin(story, kind, job, row, now_ms);

    if (!event) {
        return;
    }
    if (row->lease && row->lease[0]) {
        value_add_text(arena, event, "lease", row->lease);
    }
    struct value *hosts = value_add(arena, event, "hosts", value_object(arena));
    for (int i = 0; i < row->n_hosts; i++) {
        value_add_int(arena, hosts, row->hosts[i].host, row->hosts[i].n_slots);
    }
    event_log_emit(story, event);
}

static void tell_reason(struct event_log *story, const char *kind,
                        const struct event_log_job *job,
                        const struct row_job_state *row, const char *reason,
                        int64_t now_ms)
{
    struct value *event = begin(story, kind, job, row, now_ms);

    if (event) {
        value_add_text(&story->scratch, event, "reason", reason);
        event_log_emit(story, event);
    }
}

/* Why it stands still, and for whom. */
static void tell_halt(struct event_log *story, const struct event_log_job *job,
                      const struct row_job_state *row, const char *kind, int64_t now_ms)
{
    int causes = row->halt.causes;
    const char *reason = causes & HALT_USER      ? "user"
                         : causes & HALT_PREEMPT ? "preempt"
                         : causes & HALT_WINDOW  ? "window"
                         : causes & HALT_LOAD    ? "load"
                                                 : "user";
    struct value *event = begin(story, kind, job, row, now_ms);

    if (!event) {
        return;
    }
    value_add_text(&story->scratch, event, "reason", reason);
    if (causes & HALT_PREEMPT && row->halt.by) {
        const struct event_log_submission *by =
            find_submission(story, (int)job->key.site, job_id_key_number(row->halt.by));
        value_add_text(&story->scratch, event, "by",
                       job_id_element_name(&story->scratch, by ? by->name : "?",
                                           job_id_key_index(row->halt.by)));
    }
    event_log_emit(story, event);
}

static void tell_end(struct event_log *story, const struct event_log_job *job,
                     const struct row_job_state *row, int64_t now_ms)
{
    struct arena *arena = &story->scratch;
    struct value *event = begin(story, "job_end", job, row, now_ms);
    int code;

    if (!event) {
        return;
    }
    value_add_text(arena, event, "state", row->state == JOB_DONE ? "DONE" : "EXIT");
    if (row_exit_code(&row->exit, &code)) {
        value_add_int(arena, event, "exit_code", code);
    } else {
        value_add_null(arena, event, "exit_code");
    }
    event_log_emit(story, event);
}

/* ---- what is on record
 * -------------------------------------------------------------- */

static void tell_submitted(struct event_log *story, int site, const struct row_job *row,
                           int index, int64_t now_ms)
{
    struct arena *arena = &story->scratch;
    struct value *event = event_log_begin(story, "job_submit", site, now_ms);

    if (!event) {
        return;
    }
    add_job(story, event, row->spec.name, row->id, index);
    value_add_text(arena, event, "queue", row->spec.queue);
    value_add_text(arena, event, "user", row->spec.user);
    value_add_int(arena, event, "slots", row->spec.n_slots);
    event_log_emit(story, event);
}

void event_log_job_submitted(struct event_log *story, int site,
                             const struct row_job *row, int64_t now_ms)
{
    struct event_log_submission *submission = mem_alloc(1, sizeof *submission);
    size_t size = strlen(row->spec.name) + 1;
    struct arena arena;
    struct job_id list;
    const int *indices = (const int[]){0};
    int n_indices = 1;

    submission->key = (struct submission_key){site, row->id};
    submission->name = memcpy(mem_alloc(size, 1), row->spec.name, size);
    submission->submit_ms = row->submit_ms;
    HASH_ADD(hh, story->submissions, key, sizeof submission->key, submission);
    arena_init(&arena);
    if (row->is_array &&
        !job_id_read_name(&arena, row->spec.name, JOB_INDEX_MAX, &list, NULL)) {
        n_indices = job_id_expand(&arena, &list, &indices);
    }
    for (int i = 0; i < n_indices && story->setting.on_event; i++) {
        tell_submitted(story, site, row, indices[i], now_ms);
    }
    arena_release(&arena);
}

static bool is_suspended(enum job_state state)
{
    return state == JOB_USUSP || state == JOB_SSUSP || state == JOB_PSUSP;
}

static void end(struct event_log *story, struct event_log_job *job,
                const struct row_job_state *row, int64_t now_ms)
{
    if (row->start_ms && row->attempt && job->begun != row->attempt) {
        tell_hosts(story, "job_start", job, row, now_ms);
    }
    if (row->exit.end == RUN_END_LIMIT) {
        tell_reason(story, "job_kill", job, row, "limit", now_ms);
    }
    tell_end(story, job, row, now_ms);
    job->is_ended = true;
    if (row->start_ms) {
        summary_ended(story->summary, (int)job->key.site, row->state == JOB_DONE,
                      row->start_ms - job->submission->submit_ms,
                      row->end_ms - row->start_ms);
    }
}

static void go_on(struct event_log *story, struct event_log_job *job,
                  const struct row_job_state *row, int64_t now_ms)
{
    if (row->state == JOB_RUN && job->begun != row->attempt) {
        job->begun = row->attempt;
        tell_hosts(story, "job_start", job, row, now_ms);
    } else if (is_suspended(row->state) && !is_suspended(job->state)) {
        if (row->state != JOB_PSUSP && job->begun != row->attempt) {
            job->begun = row->attempt;
            tell_hosts(story, "job_start", job, row, now_ms);
        }
        tell_halt(story, job, row, "job_suspend", now_ms);
    } else if (is_suspended(job->state) && !is_suspended(row->state)) {
        tell_hosts(story, "job_resume", job, row, now_ms);
    }
    if (job->begun == row->attempt && row->resize.event == RESIZE_NONE) {
        int n_slots = msg_sum_slots(row->hosts, row->n_hosts);
        if (job->n_slots != n_slots && row->resize.number > 0) {
            tell_hosts(story, "job_resize", job, row, now_ms);
        }
        job->n_slots = n_slots;
    }
    if (row->attempt == 0 && job->begun != 0) {
        tell_reason(story, "job_requeue", job, row,
                    row_requeue_name(row->requeue_cause), now_ms);
        if (row->requeue_cause == REQUEUE_RECALL) {
            summary_recalled(story->summary, (int)job->key.site);
        }
        job->begun = 0;
    }
}

void event_log_job_changed(struct event_log *story, int site,
                           const struct row_job_state *row, int64_t now_ms)
{
    struct event_log_job *job = see_job(story, site, row);

    if (!job || job->is_ended || row->is_gone || row->state == JOB_UNKWN) {
        return; /* of what nobody knows nothing is told: it goes on, or ends */
    }
    if (row->halt.causes & HALT_PREEMPT && row->halt.by && !job->is_preempted) {
        summary_preempted(story->summary, (int)job->key.site);
    }
    if (row->is_killed && !job->is_killed) {
        job->is_killed = true;
        tell_halt(story, job, row, "job_kill", now_ms);
    }
    if (row->state == JOB_DONE || row->state == JOB_EXIT) {
        end(story, job, row, now_ms);
    } else {
        go_on(story, job, row, now_ms);
    }
    job->state = row->state;
    job->is_preempted = row->halt.causes & HALT_PREEMPT && row->halt.by;
}
