/* SPDX-License-Identifier: Apache-2.0 */
/* history.c: see history.h. Each job has the state that was recorded last of it
 * (job->recorded); an event is recorded if its row differs from that.
 *
 * A provider may refuse a job again and again. So a dispatch to it is recorded when the
 * job is accepted, and a refusal once for each reason. */
#include "site/job/history.h"

#include <stdlib.h>

#include "model/job_id.h"

enum {
    TRIM_MS = 60000,      /* how often old events are deleted */
    COMMAND_BYTES = 1000, /* of a command, as in a listing */
};

struct history {
    struct job_table *jobs;
    int64_t period_ms;
    int64_t now_ms;     /* of the step */
    int64_t hold_ms;    /* nothing is removed before; 0: no such time */
    int64_t trimmed_ms; /* old events were last deleted */
};

struct history *history_new(struct job_table *jobs, int64_t period_ms)
{
    struct history *history = mem_alloc(1, sizeof(*history));
    history->jobs = jobs;
    history->period_ms = period_ms;
    return history;
}

void history_free(struct history *history)
{
    free(history);
}

void history_reload(struct history *history, int64_t period_ms)
{
    history->period_ms = period_ms;
}

void history_hold(struct history *history, int64_t until_ms)
{
    history->hold_ms = until_ms;
}

void history_set_time(struct history *history, int64_t now_ms)
{
    history->now_ms = now_ms;
}

static bool is_ended(enum job_state state)
{
    return state == JOB_DONE || state == JOB_EXIT;
}

static bool is_suspended(enum job_state state)
{
    return state == JOB_USUSP || state == JOB_SSUSP || state == JOB_PSUSP;
}

/* ---------------------------------------------------------------- recording */

static void record(const struct row_job_event *event, struct effects *effects)
{
    struct row row = {.kind = ROW_JOB_EVENT, .job_event = *event};
    struct row_job_event *recorded = &row.job_event;
    recorded->site = recorded->site != NULL ? recorded->site : "";
    recorded->lease = recorded->lease != NULL ? recorded->lease : "";
    recorded->reason = recorded->reason != NULL ? recorded->reason : "";
    effects_store(effects, &row);
}

static struct job_event_end end_of(const struct run_exit *exit)
{
    struct job_event_end end = {
        .is_given = true, .cpu_ms = exit->cpu_ms, .mem_kib = exit->mem_kib};
    end.has_code = row_exit_code(exit, &end.code);
    return end;
}

static void record_job(const struct history *history, const struct job *job,
                       enum job_event event, const char *reason,
                       struct effects *effects)
{
    record(&(struct row_job_event){.id = job->id,
                                   .index = job->index,
                                   .at_ms = history->now_ms,
                                   .event = event,
                                   .state = job->state,
                                   .reason = reason},
           effects);
}

void history_switched(const struct history *history, const struct job *job,
                      struct effects *effects)
{
    record_job(history, job, JOB_EVENT_SWITCH, job_queue_name(job), effects);
}

void history_reordered(const struct history *history, const struct job *job,
                       bool to_top, struct effects *effects)
{
    record_job(history, job, JOB_EVENT_MOVE, to_top ? "to the top" : "to the bottom",
               effects);
}

void history_modified(const struct history *history, const struct job *job,
                      struct effects *effects)
{
    record_job(history, job, JOB_EVENT_MODIFY, job_queue_name(job), effects);
}

void history_resized(const struct history *history, const struct job *job,
                     const char *what, struct effects *effects)
{
    record(&(struct row_job_event){.id = job->id,
                                   .index = job->index,
                                   .at_ms = history->now_ms,
                                   .event = JOB_EVENT_RESIZE,
                                   .state = job->state,
                                   .hosts = job->hosts,
                                   .n_hosts = job->n_hosts,
                                   .reason = what},
           effects);
}

/* ---------------------------------------------------------------- own jobs */

static void record_submission(const struct row_job *row, struct effects *effects)
{
    const char *project = row->terms.project;
    struct job_facts facts = {
        .is_given = true,
        .user = row->spec.user,
        .name = row->spec.name,
        .queue = row->spec.queue,
        .project = project != NULL && project[0] != '\0' ? project : "default",
        .command = value_cut_text(&effects->arena, row->spec.command, COMMAND_BYTES),
        .n_slots = row->spec.n_slots,
    };
    record(&(struct row_job_event){.id = row->id,
                                   .at_ms = row->submit_ms,
                                   .event = JOB_EVENT_SUBMIT,
                                   .state = JOB_PEND,
                                   .facts = facts},
           effects);
}

static const char *load_reason(struct arena *arena, const struct row_job_state *row)
{
    return row->overload[0] != '\0'
               ? arena_printf(arena, "its host is overloaded: %s", row->overload)
               : "its host is overloaded";
}

static const char *suspend_reason(struct arena *arena, const struct row_job_state *row)
{
    int causes = row->suspension.causes;
    if ((causes & SUSPEND_PREEMPT) != 0 && row->suspension.by != 0) {
        return arena_printf(arena, "preempted by job <%s>",
                            job_id_text(arena, job_id_key_number(row->suspension.by),
                                        job_id_key_index(row->suspension.by)));
    }
    return (causes & SUSPEND_PREEMPT) != 0 ? "waiting for its slots"
           : (causes & SUSPEND_WINDOW) != 0
               ? "the run window of its queue or host is closed"
           : (causes & SUSPEND_LOAD) != 0 ? load_reason(arena, row)
                                          : "by its user or an administrator";
}

/* The row as an event of its job, now. */
static struct row_job_event event_of(const struct history *history,
                                     const struct row_job_state *row,
                                     enum job_event event)
{
    return (struct row_job_event){.id = row->id,
                                  .index = row->index,
                                  .at_ms = history->now_ms,
                                  .event = event,
                                  .state = row->state,
                                  .lease = row->lease};
}

/* The job that reserves its slots, and the time that it has if that is cut short. */
static const char *backfill_text(const struct history *history, struct arena *arena,
                                 const struct row_job_state *row)
{
    const struct job *job =
        job_table_find(history->jobs, job_id_key(row->id, row->index));
    const char *text =
        arena_printf(arena, "backfill, on slots that job <%s> reserves",
                     job_id_text(arena, job_id_key_number(row->backfill_of),
                                 job_id_key_index(row->backfill_of)));
    return job != NULL && job_is_run_limit_cut(job, history->now_ms)
               ? arena_printf(
                     arena, "%s, for %lld s", text,
                     (long long)(job_run_limit_ms(job, history->now_ms) / 1000))
               : text;
}

static void record_dispatch(const struct history *history,
                            const struct row_job_state *row,
                            const struct job_recorded *recorded,
                            struct effects *effects)
{
    struct row_job_event event = event_of(history, row, JOB_EVENT_DISPATCH);
    event.state = JOB_PEND;
    event.at_ms = recorded->dispatch_ms != 0 ? recorded->dispatch_ms : history->now_ms;
    event.hosts = row->hosts;
    event.n_hosts = row->n_hosts;
    if (row->backfill_of != 0) {
        event.reason = backfill_text(history, &effects->arena, row);
    }
    record(&event, effects);
}

/* Records dispatch, acceptance by the provider, and start. */
static void record_attempt(const struct history *history,
                           const struct row_job_state *row,
                           struct job_recorded *recorded, struct effects *effects)
{
    struct row_job_event event = event_of(history, row, JOB_EVENT_ACCEPT);
    event.state = JOB_PEND;
    if (row->attempt != recorded->attempt) {
        *recorded = (struct job_recorded){.attempt = row->attempt,
                                          .dispatch_ms = history->now_ms,
                                          .refusal = recorded->refusal,
                                          .state = JOB_PEND};
    }
    if (row->is_decided && !recorded->is_accepted) {
        recorded->is_accepted = true;
        recorded->refusal = 0;
        record_dispatch(history, row, recorded, effects);
        if (row->lease[0] != '\0') {
            record(&event, effects);
        }
    }
    if (row->start_ms != 0 && !recorded->has_begun) {
        recorded->has_begun = true;
        recorded->state = JOB_RUN;
        event.event = JOB_EVENT_START;
        event.state = JOB_RUN;
        event.at_ms = row->start_ms;
        event.hosts = row->hosts; /* on the first one */
        event.n_hosts = row->n_hosts > 0;
        record(&event, effects);
    }
}

static uint32_t digest(const char *text)
{
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (; *text != '\0'; text++) {
        sum = (sum ^ (uint8_t)*text) * 16777619u;
    }
    return sum != 0 ? sum : 1;
}

/* The job is pending again: its attempt has ended, or was refused. */
static void record_requeue(const struct history *history,
                           const struct row_job_state *row,
                           struct job_recorded *recorded, struct effects *effects)
{
    struct row_job_event event = event_of(history, row, JOB_EVENT_REQUEUE);
    uint32_t refusal = recorded->is_accepted ? 0 : digest(row->reason);
    event.reason = row->reason;
    if (refusal == 0 || refusal != recorded->refusal) {
        record(&event, effects);
    }
    *recorded = (struct job_recorded){.state = row->state, .refusal = refusal};
}

/* Records the start too if that was not known before. The end of a lost run is unknown,
 * and a refused run has none. */
void history_run_end(const struct history *history, struct job *job,
                     const struct run_exit *exit, struct effects *effects)
{
    struct row_job_state row = {.id = job->id,
                                .index = job->index,
                                .state = JOB_PEND,
                                .attempt = job->attempt,
                                .lease = job->lease,
                                .is_decided = true,
                                .hosts = job->hosts,
                                .n_hosts = job->n_hosts};
    if (exit == NULL || exit->start_ms == 0 || exit->end_ms == 0 ||
        exit->end == RUN_END_LOST) {
        return;
    }
    row.start_ms = exit->start_ms;
    record_attempt(history, &row, &job->recorded, effects);
    struct row_job_event event = event_of(history, &row, JOB_EVENT_RUN_END);
    event.at_ms = exit->end_ms;
    event.end = end_of(exit);
    event.reason = exit->text;
    record(&event, effects);
}

static void record_suspension(const struct history *history,
                              const struct row_job_state *row,
                              const struct job_recorded *recorded,
                              struct effects *effects)
{
    struct row_job_event event = event_of(history, row, JOB_EVENT_RESUME);
    bool is_to_end = row->is_killed || row->requeue_cause != REQUEUE_NONE;
    if (is_ended(row->state) || row->state == recorded->state ||
        row->attempt != recorded->attempt) {
        return;
    }
    if (is_to_end && is_suspended(recorded->state) && row->state != JOB_UNKWN) {
        return; /* it does not resume, even if it is continued to handle a signal */
    }
    if (row->state == JOB_UNKWN) {
        event.event = JOB_EVENT_UNKNOWN;
        event.reason = row->lease[0] != '\0' ? "its provider is not connected"
                                             : "its host does not answer";
        record(&event, effects);
        return;
    }
    if (recorded->state == JOB_UNKWN) {
        event.event = JOB_EVENT_KNOWN;
        record(&event, effects);
    }
    if (is_suspended(row->state)) {
        event.event = JOB_EVENT_SUSPEND;
        event.reason = suspend_reason(&effects->arena, row);
        record(&event, effects);
    } else if (is_suspended(recorded->state)) {
        event.reason = row->overload;
        record(&event, effects);
    }
}

static void record_end(const struct history *history, const struct row_job_state *row,
                       const struct job_recorded *recorded, struct effects *effects)
{
    struct row_job_event event = event_of(history, row, JOB_EVENT_END);
    if (!is_ended(row->state) || is_ended(recorded->state)) {
        return;
    }
    event.at_ms = row->end_ms != 0 ? row->end_ms : history->now_ms;
    event.reason = row->reason;
    event.end = end_of(&row->exit);
    record(&event, effects);
}

static void record_state(struct history *history, const struct row_job_state *row,
                         struct effects *effects)
{
    struct job *job = job_table_find(history->jobs, job_id_key(row->id, row->index));
    if (job == NULL || row->is_dropped || row->is_gone) {
        return;
    }
    struct job_recorded *recorded = &job->recorded;
    if (row->attempt == 0 && recorded->attempt != 0 && !is_ended(row->state)) {
        record_requeue(history, row, recorded, effects);
        return;
    }
    if (row->attempt != 0) {
        record_attempt(history, row, recorded, effects);
    }
    if (row->is_killed && !recorded->is_killed && !is_ended(row->state)) {
        struct row_job_event event = event_of(history, row, JOB_EVENT_KILL);
        event.state = recorded->state;
        event.reason = row->reason;
        record(&event, effects);
    }
    record_suspension(history, row, recorded, effects);
    record_end(history, row, recorded, effects);
    recorded->state = row->state;
    recorded->is_killed = row->is_killed;
}

/* ---------------------------------------------------------------- consumers' jobs */

/* The id of a consumer's job ("12[3]"). False if its site uses another form of ids. */
static bool read_id(const struct run *run, struct arena *arena,
                    struct row_job_event *event)
{
    struct job_id id;
    if (job_id_read(arena, run->job, &id, NULL) != 0) {
        return false;
    }
    event->site = run->id.site;
    event->id = id.number;
    event->index = id.n_ranges > 0 ? id.ranges->first : 0;
    event->lease = run->lease;
    return true;
}

void history_consumer_run(const struct history *history, const struct run *run,
                          struct effects *effects)
{
    struct job_facts facts = {
        .is_given = true,
        .user = run->spec->user,
        .name = run->spec->name,
        .queue = run->spec->queue,
        .project = "",
        .command = value_cut_text(&effects->arena, run->spec->command, COMMAND_BYTES),
        .n_slots = run->spec->n_slots,
    };
    struct row_job_event event = {.at_ms = history->now_ms,
                                  .event = JOB_EVENT_ACCEPT,
                                  .state = JOB_PEND,
                                  .hosts = run->hosts,
                                  .n_hosts = run->n_hosts,
                                  .facts = facts};
    if (read_id(run, &effects->arena, &event)) {
        record(&event, effects);
    }
}

void history_consumer_run_end(const struct history *history, const struct run *run,
                              struct effects *effects)
{
    struct row_job_event event = {.event = JOB_EVENT_START,
                                  .state = JOB_RUN,
                                  .at_ms = run->exit.start_ms,
                                  .hosts = run->hosts,
                                  .n_hosts = run->n_hosts > 0};
    if (!read_id(run, &effects->arena, &event)) {
        return;
    }
    if (event.at_ms != 0) {
        record(&event, effects);
    }
    bool is_done = run->exit.end == RUN_END_EXITED && run->exit.code == 0;
    event.event = JOB_EVENT_END;
    event.state = is_done ? JOB_DONE : JOB_EXIT;
    event.at_ms = run->exit.end_ms != 0 ? run->exit.end_ms : history->now_ms;
    event.n_hosts = 0;
    event.end = end_of(&run->exit);
    event.reason = run->exit.text;
    record(&event, effects);
}

/* ---------------------------------------------------------------- a step */

static void trim(struct history *history, struct effects *effects)
{
    if (history->now_ms < history->hold_ms ||
        history->now_ms - history->trimmed_ms < TRIM_MS) {
        return;
    }
    int64_t before_ms = history->now_ms - history->period_ms;
    history->trimmed_ms = history->now_ms;
    record(&(struct row_job_event){.is_trim = true, .at_ms = before_ms}, effects);
}

void history_record(struct history *history, int from, struct effects *effects)
{
    int end = effects->count;
    for (int i = from; i < end; i++) {
        if (effects->items[i].kind != EFFECT_STORE) {
            continue;
        }
        struct row row =
            effects->items[i].row; /* effects that are added may move the array */
        /* A job that is modified is stored again. */
        if (row.kind == ROW_JOB && row.job.submit_ms == history->now_ms) {
            record_submission(&row.job, effects);
        } else if (row.kind == ROW_JOB_STATE) {
            record_state(history, &row.job_state, effects);
        }
    }
    if (effects->count > end) {
        trim(history, effects);
    }
}
