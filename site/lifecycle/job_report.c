/* SPDX-License-Identifier: Apache-2.0 */
/* job_report.c: what is known of the runs of this site's jobs changes the jobs. A
 * report gives a complete state: if the job's record has that state already, nothing
 * changes.
 */
#include <string.h>

#include "base/resend.h"
#include "model/job_id.h"
#include "site/lifecycle/lifecycle_parts.h"
#include "site/run/outfile.h"

/* The clocks of two sites may differ by so much (docs/usage.md). */
enum { USE_CLOCKS_MS = 10000 };

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Since then its run may have started, by the clock of this site. */
static int64_t earliest_start(const struct job *job, int64_t now_ms)
{
    bool is_known =
        job->recorded.attempt == job->attempt && job->recorded.dispatch_ms != 0;
    int64_t from_ms = is_known ? job->recorded.dispatch_ms : job->submit_ms;
    return from_ms < now_ms ? from_ms : now_ms;
}

static int64_t bound_start(const struct job *job, int64_t start_ms, int64_t now_ms)
{
    return start_ms != 0 ? within(start_ms, earliest_start(job, now_ms), now_ms) : 0;
}

/* A provider or a host has another clock, and may lie: users pay for the time of their
 * runs with their shares, and ended jobs are cleaned by their age. Its times are moved
 * into the time since the dispatch; what fits into that keeps its length. */
static struct run_exit bound_exit(const struct job *job, const struct run_exit *said,
                                  int64_t now_ms)
{
    struct run_exit exit = *said;
    int64_t from_ms = earliest_start(job, now_ms);
    if (exit.end_ms == 0 || exit.start_ms == 0) {
        exit.start_ms = bound_start(job, exit.start_ms, now_ms);
        exit.end_ms = exit.end_ms != 0 ? within(exit.end_ms, from_ms, now_ms) : 0;
        return exit;
    }
    int64_t ran_ms = within(exit.end_ms - exit.start_ms, 0, now_ms - from_ms);
    bool is_within = exit.end_ms >= from_ms && exit.end_ms <= now_ms;
    exit.end_ms = is_within ? exit.end_ms : now_ms;
    exit.start_ms = within(exit.end_ms - ran_ms, from_ms, now_ms);
    return exit;
}

/* What its provider says that the run uses of the lease: within the time since the
 * dispatch, but for what clocks may differ by, and no more slots than it has. What is
 * late changes nothing. */
static void note_use(struct job *job, const struct run_use *said, int64_t now_ms)
{
    int64_t from_ms = earliest_start(job, now_ms) - USE_CLOCKS_MS;
    struct run_use *use = &job->use;
    if (said->at_ms == 0 || said->at_ms < use->at_ms) {
        return;
    }
    int64_t since_ms = use->at_ms != 0 ? use->at_ms : from_ms;
    int64_t at_ms = within(said->at_ms, from_ms, now_ms + USE_CLOCKS_MS);
    int n_most = msg_sum_slots(job->hosts, job->n_hosts);
    int64_t most_ms = at_ms > since_ms ? n_most * (at_ms - since_ms) : 0;
    use->used_ms += within(said->used_ms - use->used_ms, 0, most_ms);
    use->start_ms = within(said->start_ms, from_ms, at_ms);
    use->at_ms = at_ms;
    use->n_slots = (int)within(said->n_slots, 0, n_most);
}

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
        if (job->rusage != NULL) {
            /* The durations of its reservations (rusage) begin now. */
            pass_request_set(life->parts.pass_request);
        }
    }
    if (job->is_growing) {
        pass_request_set(
            life->parts.pass_request); /* a running job may get more slots */
    }
    fairshare_ledger_update_job(life->parts.fairshare, job, now_ms);
    job->is_decided = true;
    job_store(job, effects);
}

/* The run has started at `start_ms`, and is running (JOB_RUN) or suspended (any other
 * state). */
static void note_state(struct lifecycle *life, struct job *job, enum job_state state,
                       int64_t start_ms, int64_t now_ms, struct effects *effects)
{
    record_state(life, job, state, start_ms, now_ms, effects);
    if (state == JOB_RUN) {
        lifecycle_kill_resumed(life, job, now_ms, effects);
    }
}

/* Stored, so that the time since then is known. */
static void note_unknown(struct lifecycle *life, struct job *job,
                         struct effects *effects)
{
    bool is_news = job->state != JOB_UNKWN;
    if (job_table_set_state(life->parts.jobs, job, JOB_UNKWN) && is_news) {
        job_store(job, effects);
    }
}

static bool has_begun(enum run_phase phase)
{
    return phase == RUN_RUNNING || phase == RUN_SUSPENDED;
}

/* The run has grown, or was resized, and the journal has lost that. */
static void note_slots(struct lifecycle *life, struct job *job, const struct run *run,
                       struct effects *effects)
{
    uint64_t last = run->resize_done + 1; /* that one may be on its way to the guard */
    bool has_more = msg_sum_slots(run->hosts, run->n_hosts) >
                    msg_sum_slots(job->hosts, job->n_hosts);
    bool is_lost = run->resize_done > job->resize.number;
    struct job_resize none = {.number =
                                  (has_more || is_lost) && last > job->resize.number
                                      ? last
                                      : job->resize.number,
                              .max_slots = job->resize.max_slots};
    if (job->resize.event == RESIZE_NONE && (has_more || is_lost)) {
        job_table_resize(life->parts.jobs, job, run->hosts, run->n_hosts, &none);
        job_store(job, effects);
    }
}

void job_report_run(struct lifecycle *life, struct run *run, int64_t now_ms,
                    struct effects *effects)
{
    struct job *job = job_table_find_attempt(life->parts.jobs, run->id.attempt);
    if (run->record == RUN_RECORD_ENDED) {
        if (job != NULL) {
            struct run_exit exit = bound_exit(job, &run->exit, now_ms);
            job_end_run(life, job, &exit, now_ms, effects);
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
    note_slots(life, job, run, effects);
    if (job->resize.event != RESIZE_NONE && run->resize_done >= job->resize.number) {
        resize_requests_answered(life->parts.resize_requests, job, run, now_ms,
                                 effects);
    }
    if (!run->is_away && has_begun(run->phase)) {
        lost_order_note(life, job, run->control_done, run->phase == RUN_SUSPENDED,
                        now_ms, effects);
    }
    if (run->is_away) {
        note_unknown(life, job, effects);
    } else if (run->phase == RUN_RUNNING) {
        note_state(life, job, JOB_RUN, bound_start(job, run->start_ms, now_ms), now_ms,
                   effects);
    } else if (run->phase == RUN_SUSPENDED) {
        note_state(life, job, JOB_SSUSP, bound_start(job, run->start_ms, now_ms),
                   now_ms, effects);
    }
}

/* ---------------------------------------------------------------- borrowed hosts */

/* A refused job waits so long, unless a contract changes first: a provider that
 * refuses at once must not be asked at once again; and twice as long each time, as one
 * that refuses the job's user will do so again. */
static const struct resend_waits refused_pauses = {.first_ms = 1000, .last_ms = 16000};
/* One that wants a host of its own was most likely refused for what others run there,
 * which is not told here. */
static const struct resend_waits exclusive_pauses = {.first_ms = 15000,
                                                     .last_ms = 30000};

/* The provider has taken it: an order that waited for that goes out. */
static void take(struct lifecycle *life, struct job *job, int64_t now_ms,
                 struct effects *effects)
{
    if (job->is_decided) {
        return;
    }
    job->is_decided = true;
    job->n_refused = 0;
    job_store(job, effects);
    if (job->control.number != 0) {
        consumer_control(life->parts.consumer, job->attempt, &job->control, now_ms,
                         effects);
    }
}

static void give_back_refused(struct lifecycle *life, struct job *job,
                              const char *reason, int64_t now_ms,
                              struct effects *effects)
{
    struct resend_waits pauses =
        job->spec->is_exclusive ? exclusive_pauses : refused_pauses;
    job->retry_after_ms = now_ms + resend_wait_ms(pauses, ++job->n_refused);
    job_end_refused(life, job,
                    arena_printf(&effects->arena, "refused by %s: %s", job->lease,
                                 reason != NULL ? reason : ""),
                    now_ms, effects);
}

/* Never began, or its trace is gone: in both cases what we know of it decides. */
static void lose(struct lifecycle *life, struct job *job,
                 const struct consumer_report *report, int64_t now_ms,
                 struct effects *effects)
{
    const char *reason = report->reason;
    struct run_exit exit = {.end = RUN_END_LOST,
                            .start_ms = job->start_ms,
                            .text = "its provider has no record of it"};
    if (reason != NULL && reason[0] != '\0') {
        exit.text = reason;
    }
    if (report->may_have_begun && exit.start_ms == 0) {
        exit.start_ms = now_ms;
    }
    if (exit.start_ms == 0 && job->use.at_ms != 0) { /* it has used nothing */
        job->use.used_ms = job->use.n_slots = 0;
        job->use.at_ms = now_ms;
    }
    job_end_run(life, job, &exit, now_ms, effects);
}

static void write_piece(struct lifecycle *life, struct job *job,
                        const struct consumer_report *report, int64_t now_ms,
                        struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const char *path = outfile_path(arena, job, report->stream);
    if (path == NULL) {
        consumer_written(life->parts.consumer, job->attempt, false, now_ms, effects);
        return;
    }
    job->written_attempt = job->attempt;
    struct effect *effect = effects_add(effects, EFFECT_WRITE);
    effect->write.job = job_key(job);
    effect->write.uid = job->spec->uid;
    effect->write.gid = job->spec->gid;
    effect->write.path = path;
    effect->write.umask = job->spec->umask;
    effect->write.offset = report->offset;
    effect->write.replaces = report->stream == OUTPUT_OUT ? job->spec->replaces_out
                                                          : job->spec->replaces_err;
    effect->write.makes_directory = job_output_directory(job->spec) != NULL;
    effect->write.n_bytes = report->n_bytes;
    effect->write.bytes =
        arena_copy(arena, report->n_bytes > 0 ? report->bytes : (const uint8_t *)"",
                   (size_t)report->n_bytes);
}

void job_report_written(struct lifecycle *life, uint64_t key, int error, int64_t now_ms,
                        struct effects *effects)
{
    struct job *job = job_table_find(life->parts.jobs, key);
    if (job == NULL || job->written_attempt == 0 ||
        job->written_attempt != job->attempt || job_is_ended(job)) {
        return; /* of an execution that is no more */
    }
    job->written_attempt = 0;
    if (error != 0) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "output of job %s could not be written: error %d",
                    job_id_text(&effects->arena, job->id, job->index), error);
    }
    consumer_written(life->parts.consumer, job->attempt, error == 0, now_ms, effects);
}

void job_report_apply(struct lifecycle *life, const struct consumer_report *report,
                      int64_t now_ms, struct effects *effects)
{
    struct job *job = job_table_find_attempt(life->parts.jobs, report->attempt);
    struct run_exit exit;
    if (job != NULL) {
        note_use(job, &report->use, now_ms);
    }
    if (job == NULL) {
        if (report->kind == CONSUMER_ENDED) {
            consumer_acknowledge(life->parts.consumer, report->attempt, effects);
        }
        return;
    }
    switch (report->kind) {
    case CONSUMER_ADMITTED:
        take(life, job, now_ms, effects);
        break;
    case CONSUMER_REFUSED:
        give_back_refused(life, job, report->reason, now_ms, effects);
        break;
    case CONSUMER_LOST:
        lose(life, job, report, now_ms, effects);
        break;
    case CONSUMER_RUNNING:
    case CONSUMER_SUSPENDED:
        take(life, job, now_ms, effects);
        lost_order_note(life, job, report->control_done,
                        report->kind == CONSUMER_SUSPENDED, now_ms, effects);
        note_state(life, job, report->kind == CONSUMER_RUNNING ? JOB_RUN : JOB_SSUSP,
                   bound_start(job, report->start_ms, now_ms), now_ms, effects);
        break;
    case CONSUMER_CONTROLLED:
        break; /* what it led to is told by itself */
    case CONSUMER_OUTPUT:
        write_piece(life, job, report, now_ms, effects);
        break;
    case CONSUMER_ENDED:
        exit = bound_exit(job, &report->exit, now_ms);
        job_end_run(life, job, &exit, now_ms, effects);
        consumer_acknowledge(life->parts.consumer, report->attempt, effects);
        break;
    case CONSUMER_UNKNOWN:
        note_unknown(life, job, effects);
        break;
    }
}
