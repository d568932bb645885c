/* SPDX-License-Identifier: Apache-2.0 */
/* event_log.c: events from what daemons commit: of jobs, leases and pools; and the
 * level of each site. */
#include "sim/play/event_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/bounds.h"
#include "broker/view/broker_view.h"
#include "model/job_id.h"

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
    uint64_t begun;    /* the attempt whose start was logged */
    int n_slots;       /* in its last event */
    bool is_preempted; /* in the last record: its slots are released */
    bool is_killed, is_ended;
    UT_hash_handle hh;
};

struct event_log_lease {
    char lease[LEASE_ID_SIZE];
    int provider, consumer; /* sites; -1: not a site */
    int n_lent;
    UT_hash_handle hh;
};

struct event_log {
    struct event_log_options setting;
    struct summary *summary;
    struct summary_level *levels;
    struct event_log_lease *leases;
    struct event_log_submission *submissions;
    struct event_log_job *jobs;
    struct arena scratch; /* of the event in progress */
};

static void release_jobs(struct event_log *log)
{
    struct event_log_submission *submission, *next_submission;
    struct event_log_job *job, *next_job;

    HASH_ITER (hh, log->submissions, submission, next_submission) {
        HASH_DEL(log->submissions, submission);
        free(submission->name);
        free(submission);
    }
    HASH_ITER (hh, log->jobs, job, next_job) {
        HASH_DEL(log->jobs, job);
        free(job);
    }
}

struct event_log *event_log_new(const struct event_log_options *setting,
                                struct summary *summary)
{
    struct event_log *log = mem_alloc(1, sizeof *log);

    log->setting = *setting;
    log->summary = summary;
    log->levels = mem_alloc((size_t)setting->n_sites + 1, sizeof log->levels[0]);
    arena_init(&log->scratch);
    for (int i = 0; i < setting->n_sites; i++) {
        event_log_sized(log, i, setting->n_slots[i], setting->epoch_ms);
    }
    return log;
}

void event_log_free(struct event_log *log)
{
    struct event_log_lease *lease, *next;

    if (!log) {
        return;
    }
    HASH_ITER (hh, log->leases, lease, next) {
        HASH_DEL(log->leases, lease);
        free(lease);
    }
    release_jobs(log);
    arena_release(&log->scratch);
    free(log->levels);
    free(log);
}

/* A new event; NULL if there is no listener. */
static struct value *begin_event(struct event_log *log, const char *event, int site,
                                 int64_t now_ms)
{
    struct arena *arena = &log->scratch;

    if (!log->setting.on_event) {
        return NULL;
    }
    arena_clear(arena);
    struct value *object = value_object(arena);
    value_add_duration(arena, object, "t", now_ms - log->setting.epoch_ms);
    value_add_text(arena, object, "event", event);
    if (site >= 0) {
        value_add_text(arena, object, "site", log->setting.sites[site]);
    }
    return object;
}

static void emit(struct event_log *log, const struct value *event)
{
    log->setting.on_event(log->setting.arg, event);
}

/* ---- events of leases and pools */

static int find_site(const struct event_log *log, const char *name, size_t length)
{
    for (int i = 0; i < log->setting.n_sites; i++) {
        if (strlen(log->setting.sites[i]) == length &&
            !strncmp(log->setting.sites[i], name, length)) {
            return i;
        }
    }
    return -1;
}

/* Logs a row like `sublet events`. */
static void log_history(struct event_log *log, const struct row_history *row,
                        int64_t now_ms)
{
    struct value *event =
        row->event > HISTORY_HOURS /* an order of the scenario */
            ? NULL
            : begin_event(log, lease_event_name(row->event), -1, now_ms);

    if (event) {
        lease_event_add(&log->scratch, event, row, log->setting.epoch_ms);
        emit(log, event);
    }
}

void event_log_fault(struct event_log *log, const char *kind, const char *target,
                     int64_t now_ms)
{
    struct value *event = begin_event(log, "fault", -1, now_ms);

    if (event) {
        value_add_text(&log->scratch, event, "kind", kind);
        value_add_text(&log->scratch, event, "target", target);
        emit(log, event);
    }
}

/* ---- slots */

static void level_changed(struct event_log *log, int site, int64_t now_ms)
{
    const struct summary_level *level = &log->levels[site];

    summary_level(log->summary, site, level, now_ms - log->setting.epoch_ms);
    if (log->setting.on_level) {
        log->setting.on_level(log->setting.arg, site, level,
                              now_ms - log->setting.epoch_ms);
    }
}

void event_log_used(struct event_log *log, int site, int n_slots, int64_t now_ms)
{
    log->levels[site].n_used += n_slots;
    level_changed(log, site, now_ms);
}

void event_log_sized(struct event_log *log, int site, int n_slots, int64_t now_ms)
{
    log->levels[site].n_slots = n_slots;
    level_changed(log, site, now_ms);
}

static struct event_log_lease *see_lease(struct event_log *log,
                                         const struct row_book *row)
{
    struct event_log_lease *lease;

    HASH_FIND_STR(log->leases, row->lease, lease);
    if (!lease) {
        size_t length;
        const char *consumer = msg_lease_consumer(row->lease, &length);

        lease = mem_alloc(1, sizeof *lease);
        snprintf(lease->lease, sizeof lease->lease, "%s", row->lease);
        lease->provider = find_site(log, row->lease, strcspn(row->lease, "/"));
        lease->consumer = find_site(log, consumer, length);
        HASH_ADD_STR(log->leases, lease, lease);
    }
    return lease;
}

/* The provider's ledger determines the lent slots. */
static void update_lent(struct event_log *log, const struct row_book *row,
                        int64_t now_ms)
{
    struct event_log_lease *lease = see_lease(log, row);
    int n_lent = 0;

    for (int i = 0; i < row->n_hosts && !row->is_gone && !row->is_ended; i++) {
        n_lent += row->hosts[i].consumer;
    }
    if (n_lent == lease->n_lent) {
        return;
    }
    if (lease->provider >= 0) {
        log->levels[lease->provider].n_lent += n_lent - lease->n_lent;
        level_changed(log, lease->provider, now_ms);
    }
    if (lease->consumer >= 0) {
        log->levels[lease->consumer].n_borrowed += n_lent - lease->n_lent;
        level_changed(log, lease->consumer, now_ms);
    }
    lease->n_lent = n_lent;
}

/* ---- jobs */

static struct event_log_submission *find_submission(const struct event_log *log,
                                                    int site, uint64_t id)
{
    struct submission_key key = {site, id};
    struct event_log_submission *found;

    HASH_FIND(hh, log->submissions, &key, sizeof key, found);
    return found;
}

static struct event_log_job *see_job(struct event_log *log, int site,
                                     const struct row_job_state *row)
{
    struct job_key key = {site, job_id_key(row->id, row->index)};
    struct event_log_submission *submission = find_submission(log, site, row->id);
    struct event_log_job *job;

    HASH_FIND(hh, log->jobs, &key, sizeof key, job);
    if (!job && submission) {
        job = mem_alloc(1, sizeof *job);
        job->key = key;
        job->submission = submission;
        HASH_ADD(hh, log->jobs, key, sizeof key, job);
    }
    return job;
}

/* ---- events of jobs */

/* Adds the job's name in the scenario and its id at the site. */
static void add_job(struct event_log *log, struct value *event, const char *name,
                    uint64_t id, int index)
{
    struct arena *arena = &log->scratch;

    value_add_text(arena, event, "job", job_id_element_name(arena, name, index));
    if (index) {
        value_add_text(arena, event, "job_id", job_id_text(arena, id, index));
    } else {
        value_add_int(arena, event, "job_id", (int64_t)id);
    }
}

static struct value *begin(struct event_log *log, const char *kind,
                           const struct event_log_job *job,
                           const struct row_job_state *row, int64_t now_ms)
{
    struct value *event = begin_event(log, kind, (int)job->key.site, now_ms);

    if (event) {
        add_job(log, event, job->submission->name, row->id, row->index);
    }
    return event;
}

static void log_hosts(struct event_log *log, const char *kind,
                      const struct event_log_job *job, const struct row_job_state *row,
                      int64_t now_ms)
{
    struct arena *arena = &log->scratch;
    struct value *event = begin(log, kind, job, row, now_ms);

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
    emit(log, event);
}

static void log_reason(struct event_log *log, const char *kind,
                       const struct event_log_job *job, const struct row_job_state *row,
                       const char *reason, int64_t now_ms)
{
    struct value *event = begin(log, kind, job, row, now_ms);

    if (event) {
        value_add_text(&log->scratch, event, "reason", reason);
        emit(log, event);
    }
}

/* Logs the suspension causes and the preempting job. */
static void log_suspension(struct event_log *log, const struct event_log_job *job,
                           const struct row_job_state *row, const char *kind,
                           int64_t now_ms)
{
    int causes = row->suspension.causes;
    const char *reason = causes & SUSPEND_USER      ? "user"
                         : causes & SUSPEND_PREEMPT ? "preempt"
                         : causes & SUSPEND_WINDOW  ? "window"
                         : causes & SUSPEND_LOAD    ? "load"
                                                    : "user";
    struct value *event = begin(log, kind, job, row, now_ms);

    if (!event) {
        return;
    }
    value_add_text(&log->scratch, event, "reason", reason);
    if (causes & SUSPEND_PREEMPT && row->suspension.by) {
        const struct event_log_submission *by = find_submission(
            log, (int)job->key.site, job_id_key_number(row->suspension.by));
        value_add_text(&log->scratch, event, "by",
                       job_id_element_name(&log->scratch, by ? by->name : "?",
                                           job_id_key_index(row->suspension.by)));
    }
    emit(log, event);
}

static void log_end(struct event_log *log, const struct event_log_job *job,
                    const struct row_job_state *row, int64_t now_ms)
{
    struct arena *arena = &log->scratch;
    struct value *event = begin(log, "job_end", job, row, now_ms);
    int code = 0;

    if (!event) {
        return;
    }
    value_add_text(arena, event, "state", row->state == JOB_DONE ? "DONE" : "EXIT");
    bool has_code = row_exit_code(&row->exit, &code);
    value_add_known(arena, event, "exit_code", has_code, code);
    emit(log, event);
}

/* ---- records of jobs */

static void log_submitted(struct event_log *log, int site, const struct row_job *row,
                          int index, int64_t now_ms)
{
    struct arena *arena = &log->scratch;
    struct value *event = begin_event(log, "job_submit", site, now_ms);

    if (!event) {
        return;
    }
    add_job(log, event, row->spec.name, row->id, index);
    value_add_text(arena, event, "queue", row->spec.queue);
    value_add_text(arena, event, "user", row->spec.user);
    value_add_int(arena, event, "slots", row->spec.n_slots);
    emit(log, event);
}

static void take_submission(struct event_log *log, int site, const struct row_job *row,
                            int64_t now_ms)
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
    HASH_ADD(hh, log->submissions, key, sizeof submission->key, submission);
    arena_init(&arena);
    if (row->is_array &&
        !job_id_read_name(&arena, row->spec.name, JOB_INDEX_MAX, &list, NULL)) {
        n_indices = job_id_expand(&arena, &list, &indices);
    }
    for (int i = 0; i < n_indices && log->setting.on_event; i++) {
        log_submitted(log, site, row, indices[i], now_ms);
    }
    arena_release(&arena);
}

static bool is_suspended(enum job_state state)
{
    return state == JOB_USUSP || state == JOB_SSUSP || state == JOB_PSUSP;
}

static void end(struct event_log *log, struct event_log_job *job,
                const struct row_job_state *row, int64_t now_ms)
{
    if (row->start_ms && row->attempt && job->begun != row->attempt) {
        log_hosts(log, "job_start", job, row, now_ms);
    }
    if (row->exit.end == RUN_END_LIMIT) {
        log_reason(log, "job_kill", job, row, "limit", now_ms);
    }
    log_end(log, job, row, now_ms);
    job->is_ended = true;
    if (row->start_ms) {
        summary_ended(log->summary, (int)job->key.site, row->state == JOB_DONE,
                      row->start_ms - job->submission->submit_ms,
                      row->end_ms - row->start_ms);
    }
}

/* A suspended job that is killed or requeued does not resume. */
static bool is_to_end(const struct event_log_job *job, const struct row_job_state *row)
{
    return row->is_killed || row->requeue_cause != REQUEUE_NONE ||
           (row->attempt == 0 && job->state != JOB_PSUSP);
}

static void take_progress(struct event_log *log, struct event_log_job *job,
                          const struct row_job_state *row, int64_t now_ms)
{
    if (row->state == JOB_RUN && job->begun != row->attempt) {
        job->begun = row->attempt;
        log_hosts(log, "job_start", job, row, now_ms);
    } else if (is_suspended(row->state) && !is_suspended(job->state)) {
        if (row->state != JOB_PSUSP && job->begun != row->attempt) {
            job->begun = row->attempt;
            log_hosts(log, "job_start", job, row, now_ms);
        }
        log_suspension(log, job, row, "job_suspend", now_ms);
    } else if (is_suspended(job->state) && !is_suspended(row->state) &&
               !is_to_end(job, row)) {
        log_hosts(log, "job_resume", job, row, now_ms);
    }
    if (job->begun == row->attempt && row->resize.event == RESIZE_NONE) {
        int n_slots = msg_sum_slots(row->hosts, row->n_hosts);
        if (job->n_slots != n_slots && row->resize.number > 0) {
            log_hosts(log, "job_resize", job, row, now_ms);
        }
        job->n_slots = n_slots;
    }
    if (row->attempt == 0 && job->begun != 0) {
        log_reason(log, "job_requeue", job, row, row_requeue_name(row->requeue_cause),
                   now_ms);
        if (row->requeue_cause == REQUEUE_RECALL) {
            summary_recalled(log->summary, (int)job->key.site);
        }
        job->begun = 0;
    }
}

static void take_job_state(struct event_log *log, int site,
                           const struct row_job_state *row, int64_t now_ms)
{
    struct event_log_job *job = see_job(log, site, row);

    if (!job || job->is_ended || row->is_gone || row->state == JOB_UNKWN) {
        return; /* an unknown state is not logged */
    }
    if (row->suspension.causes & SUSPEND_PREEMPT && row->suspension.by &&
        !job->is_preempted) {
        summary_preempted(log->summary, (int)job->key.site);
    }
    if (row->is_killed && !job->is_killed) {
        job->is_killed = true;
        log_suspension(log, job, row, "job_kill", now_ms);
    }
    if (row->state == JOB_DONE || row->state == JOB_EXIT) {
        end(log, job, row, now_ms);
    } else {
        take_progress(log, job, row, now_ms);
    }
    job->state = row->state;
    job->is_preempted = row->suspension.causes & SUSPEND_PREEMPT && row->suspension.by;
}

void event_log_stored(struct event_log *log, int site, const struct row *row,
                      int64_t now_ms)
{
    switch ((int)row->kind) {
    case ROW_HISTORY:
        log_history(log, &row->history, now_ms);
        break;
    case ROW_BOOK:
        update_lent(log, &row->book, now_ms);
        break;
    case ROW_JOB:
        take_submission(log, site, &row->job, now_ms);
        break;
    case ROW_JOB_STATE:
        take_job_state(log, site, &row->job_state, now_ms);
        break;
    default:
        break;
    }
}
