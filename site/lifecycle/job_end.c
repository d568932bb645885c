/* SPDX-License-Identifier: Apache-2.0 */
/* job_end.c: what the end of an execution makes of its job: see lifecycle.h.
 *
 * Whether a lost execution is repeated: not if a user wants the job dead; yes if it
 * cannot have begun (neither we nor its host know of a start); else only if the job is
 * rerunnable.
 *
 * A job whose PRE_EXEC failed, or that exits with a code of REQUEUE_EXIT_VALUES, waits
 * again; after MAX_PREEXEC_RETRY and MAX_JOB_REQUEUE times it is held (PSUSP) until a
 * user resumes it, and the count begins anew. After a code in EXCLUDE(...) it avoids
 * the hosts that it had, until a user resumes or requeues it. */

#include <string.h>

#include "model/dup.h"
#include "site/client/site_client.h"
#include "site/config/site_config.h"
#include "site/lifecycle/lifecycle_parts.h"

/* What made PRE_EXEC fail seldom goes away at once. */
enum { PRE_EXEC_PAUSE_MS = 2000 };
/* Starts of a job that exits at once and is requeued for it lie so far apart. */
enum { REQUEUE_PAUSE_MS = 2000 };

/* Jobs that end in one step because their time is over. */
enum { DOOMED_AT_ONCE = 1000 };

/* The clocks of a site and its hosts may differ by so much. */
enum { CLOCKS_MS = 1000 };

/* ---------------------------------------------------------------- why */

/* As LSF has them in bjobs -l. */
static const char *const limit_texts[] = {
    [RUN_CAUSE_NONE] = "ended by a limit",
    [RUN_CAUSE_RUN_LIMIT] = "TERM_RUNLIMIT: job killed after reaching its run limit",
    [RUN_CAUSE_CPU_LIMIT] = "TERM_CPULIMIT: job killed after reaching its CPU limit",
    [RUN_CAUSE_MEM_LIMIT] = "TERM_MEMLIMIT: job killed after reaching its memory limit",
    [RUN_CAUSE_SWAP_LIMIT] = "TERM_SWAP: job killed after reaching its swap limit",
    [RUN_CAUSE_PROCESS_LIMIT] =
        "TERM_PROCESSLIMIT: job killed after reaching its process limit",
    [RUN_CAUSE_THREAD_LIMIT] =
        "TERM_THREADLIMIT: job killed after reaching its thread limit",
    [RUN_CAUSE_PRE_EXEC] = "ended by a limit",
    [RUN_CAUSE_NOT_BEGUN] = "ended by a limit",
};

static const char deadline_text[] = "TERM_DEADLINE: job killed after deadline expires";
static const char orphan_text[] =
    "TERM_ORPHAN_SYSTEM: the orphan job was automatically terminated";

/* The limit that ended it was its termination time. */
static bool is_at_deadline(const struct job *job, const struct run_exit *exit)
{
    int64_t deadline_ms = job->terms->terminate_ms;
    return exit->cause == RUN_CAUSE_RUN_LIMIT && deadline_ms != 0 &&
           exit->end_ms >= deadline_ms - CLOCKS_MS;
}

static const char *end_reason(struct effects *effects, const struct job *job,
                              const struct run_exit *exit)
{
    struct arena *arena = &effects->arena;
    bool is_done = exit->end == RUN_END_EXITED && exit->code == 0;
    /* What went wrong besides: output that has no room, processes that stay. */
    const char *joint = exit->text[0] != '\0' ? "; " : "";
    if (job->is_killed && !is_done) {
        return arena_str(arena, job->reason);
    }
    switch (exit->end) {
    case RUN_END_EXITED:
        return is_done ? arena_str(arena, exit->text)
                       : arena_printf(arena, "exited with code %d%s%s", exit->code,
                                      joint, exit->text);
    case RUN_END_SIGNALLED:
        return arena_printf(arena, "ended by signal %d%s%s", exit->code, joint,
                            exit->text);
    case RUN_END_FAILED:
        return arena_printf(arena, "could not be started: %s", exit->text);
    case RUN_END_LOST:
        return arena_printf(arena, "lost: %s", exit->text);
    case RUN_END_LIMIT:
        return arena_printf(arena, "%s%s%s",
                            is_at_deadline(job, exit) ? deadline_text
                                                      : limit_texts[exit->cause],
                            joint, exit->text);
    case RUN_END_NONE:
        break;
    }
    return "";
}

/* ---------------------------------------------------------------- ends */

static void end_job(struct lifecycle *life, struct job *job,
                    const struct run_exit *exit, int64_t now_ms,
                    struct effects *effects)
{
    struct job_rules rules;
    site_config_rules(life->parts.config, job->queue, job->spec->app, &rules);
    bool is_done = exit->end == RUN_END_EXITED && job_rules_succeed(&rules, exit->code);
    job_table_end(life->parts.jobs, job, exit, is_done, end_reason(effects, job, exit),
                  exit->end_ms != 0 ? exit->end_ms : now_ms);
    job_store(job, effects);
    wait_job_ended(life->parts.waiters, job, effects);
    pass_request_set(life->parts.pass_request);
}

void job_end_unstarted(struct lifecycle *life, struct job *job, int64_t now_ms,
                       struct effects *effects)
{
    static const struct run_exit none = {.text = ""};
    end_job(life, job, &none, now_ms, effects);
}

void job_end_expired(struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    struct job *job;
    for (int i = 0; i < DOOMED_AT_ONCE &&
                    (job = job_table_first_expired(life->parts.jobs, now_ms)) != NULL;
         i++) {
        bool is_orphan = job->terms->ends_orphan && job->is_never_satisfied;
        job->is_killed = true;
        dup_set_text(&job->reason, is_orphan ? orphan_text : deadline_text);
        job_end_unstarted(life, job, now_ms, effects);
    }
}

/* MAX_JOB_PREEMPT_RESET: how often it was preempted is forgotten where its run had
 * begun and a user wants it to wait again, or always, or never. */
static void forget_preemptions(const struct lifecycle *life, struct job *job,
                               enum requeue_cause cause)
{
    switch (life->parts.config->preempt.reset) {
    case PREEMPT_RESET_BY_USER:
        job->suspension.n_preempted =
            cause == REQUEUE_USER ? 0 : job->suspension.n_preempted;
        break;
    case PREEMPT_RESET_ALWAYS:
        job->suspension.n_preempted = 0;
        break;
    case PREEMPT_RESET_NEVER:
        break;
    }
}

/* `exit`: of its run; NULL: it had none. */
static void begin_requeue(struct lifecycle *life, struct job *job,
                          enum requeue_cause cause, const struct run_exit *exit,
                          const char *reason, struct effects *effects)
{
    history_run_end(life->parts.history, job, exit, effects);
    job->recall_ms = 0;
    forget_preemptions(life, job, cause);
    job_table_requeue(life->parts.jobs, job, cause, reason);
}

static void finish_requeue(struct lifecycle *life, struct job *job,
                           struct effects *effects)
{
    job_store(job, effects);
    terminals_tell_requeue(life->parts.terminals, job, effects);
    pass_request_set(life->parts.pass_request);
}

static void requeue(struct lifecycle *life, struct job *job, enum requeue_cause cause,
                    const struct run_exit *exit, const char *reason,
                    struct effects *effects)
{
    begin_requeue(life, job, cause, exit, reason, effects);
    finish_requeue(life, job, effects);
}

/* It waits again, but for somebody to resume it. */
static void hold(struct lifecycle *life, struct job *job, enum requeue_cause cause,
                 const struct run_exit *exit, const char *reason,
                 struct effects *effects)
{
    begin_requeue(life, job, cause, exit, reason, effects);
    job_table_set_state(life->parts.jobs, job, JOB_PSUSP);
    finish_requeue(life, job, effects);
}

void job_end_refused(struct lifecycle *life, struct job *job, const char *reason,
                     int64_t now_ms, struct effects *effects)
{
    if (job->is_killed) {
        job_end_unstarted(life, job, now_ms, effects);
    } else {
        requeue(life, job, REQUEUE_LOST, NULL, reason, effects);
    }
}

/* ---------------------------------------------------------------- again */

const char job_end_recalled[] = "requeued: its slots were recalled";

static void finish_pre_exec(struct lifecycle *life, struct job *job,
                            const struct run_exit *exit, int64_t now_ms,
                            struct effects *effects)
{
    struct job_rules rules;
    struct arena *arena = &effects->arena;
    const char *what = job->backfill.lender != 0
                           ? "its pre-execution command failed or took too long"
                           : "its pre-execution command failed";
    if (exit->code == MSG_PRE_ABORT) {
        end_job(life, job, exit, now_ms, effects);
        return;
    }
    site_config_rules(life->parts.config, job->queue, job->spec->app, &rules);
    job->n_pre_fails++;
    if (job->n_pre_fails >= job_rules_pre_tries(&rules)) {
        hold(life, job, REQUEUE_LOST, exit,
             arena_printf(
                 arena,
                 "held: %s %d times, most recently: %s; `sublet resume` tries again",
                 what, job->n_pre_fails, exit->text),
             effects);
    } else {
        job->retry_after_ms = now_ms + PRE_EXEC_PAUSE_MS;
        requeue(life, job, REQUEUE_LOST, exit,
                arena_printf(arena, "%s: %s", what, exit->text), effects);
    }
}

/* It does not run again where it ran. */
static void avoid_hosts(struct arena *arena, struct job *job)
{
    const char *text = job->avoided != NULL ? job->avoided : "";
    for (int i = 0; i < job->n_hosts; i++) {
        text = arena_printf(arena, "%s%s%s", text, text[0] != '\0' ? " " : "",
                            job->hosts[i].host);
    }
    job_set_avoided(job, arena_str(arena, text));
}

/* A gap of reserved slots ended it before its own run limit could. Commands before it
 * (PRE_EXEC) count as running here, and not for its limit. */
static bool is_interrupted(const struct job *job, const struct run_exit *exit,
                           int64_t now_ms)
{
    int64_t end_ms = exit->end_ms != 0 ? exit->end_ms : now_ms;
    bool was_suspended = job->suspension.causes != 0 || job->suspension.resumed_ms != 0;
    return exit->cause == RUN_CAUSE_RUN_LIMIT && job->backfill.lender != 0 &&
           (job_ran_ms(job, end_ms) < job_own_run_limit_ms(job) ||
            (!was_suspended && end_ms >= job->backfill.until_ms - CLOCKS_MS));
}

static bool asks_again(const struct job *job, const struct job_rules *rules,
                       const struct run_exit *exit, int64_t now_ms)
{
    return (exit->end == RUN_END_EXITED || is_interrupted(job, exit, now_ms)) &&
           job_rules_requeue(rules, exit->code);
}

/* By its exit code. False if that asks for nothing. */
static bool finish_by_code(struct lifecycle *life, struct job *job,
                           const struct run_exit *exit, int64_t now_ms,
                           struct effects *effects)
{
    struct job_rules rules;
    struct arena *arena = &effects->arena;
    struct job_rules_stack stack = lifecycle_rules_stack(life, job, arena);
    job_rules_merge(&stack, &rules);
    int code = exit->code;
    if (!asks_again(job, &rules, exit, now_ms)) {
        return false;
    }
    if (rules.max_requeues != JOB_RULES_UNSET &&
        job->n_requeues >= rules.max_requeues) {
        hold(life, job, REQUEUE_EXIT, exit,
             arena_printf(
                 arena,
                 "held: it exited with code %d and was requeued for its exit code %d "
                 "times (MAX_JOB_REQUEUE); `sublet resume` runs it again",
                 code, job->n_requeues),
             effects);
        return true;
    }
    bool is_excluded = job_rules_exclude(&rules, code);
    job->n_requeues++;
    int64_t run_ms = exit->end_ms - exit->start_ms;
    if (is_excluded) {
        avoid_hosts(arena, job); /* their number is limited */
    } else if (run_ms >= 0 && run_ms < REQUEUE_PAUSE_MS) {
        job->retry_after_ms = now_ms + REQUEUE_PAUSE_MS - run_ms;
    }
    requeue(life, job, REQUEUE_EXIT, exit,
            arena_printf(arena,
                         "requeued: it exited with code %d, which is one of "
                         "REQUEUE_EXIT_VALUES%s",
                         code,
                         is_excluded ? ", and does not run on these hosts again" : ""),
            effects);
    return true;
}

static bool is_repeated(const struct job *job, const struct run_exit *exit)
{
    bool may_have_begun = exit->start_ms != 0 || job->start_ms != 0;
    return exit->end == RUN_END_LOST && (!may_have_begun || job->spec->is_rerunnable);
}

void job_end_run(struct lifecycle *life, struct job *job, const struct run_exit *exit,
                 int64_t now_ms, struct effects *effects)
{
    fairshare_ledger_finish_run(life->parts.fairshare, job, exit, now_ms);
    if (job->is_killed) {
        end_job(life, job, exit, now_ms, effects);
        return;
    }
    if (exit->is_recalled) {
        requeue(life, job, REQUEUE_RECALL, exit, job_end_recalled, effects);
        return;
    }
    if (job_is_requeued(job)) {
        job->n_requeues = 0;
        job->n_pre_fails = 0;
        if (job->requeue_cause == REQUEUE_USER) {
            job_set_avoided(job, "");
        }
        requeue(life, job, job->requeue_cause, exit,
                arena_str(&effects->arena, job->reason), effects);
        return;
    }
    if (exit->cause == RUN_CAUSE_PRE_EXEC) {
        finish_pre_exec(life, job, exit, now_ms, effects);
        return;
    }
    job->n_pre_fails = exit->end == RUN_END_LOST ? job->n_pre_fails : 0;
    if (finish_by_code(life, job, exit, now_ms, effects)) {
        return;
    }
    if (is_repeated(job, exit)) {
        requeue(life, job, REQUEUE_LOST, exit,
                arena_printf(&effects->arena, "waits again: its run was lost: %s",
                             exit->text),
                effects);
    } else {
        end_job(life, job, exit, now_ms, effects);
    }
}

/* ---------------------------------------------------------------- cleaning */

/* Jobs dropped in one tick: a burst of ends an hour ago must not stop the site now. */
enum { CLEAN_MAX = 1000 };

struct clean_call {
    struct lifecycle *life;
    struct effects *effects;
};

static void clean_job(void *arg, struct job *job)
{
    const struct clean_call *call = arg;
    struct run *run = job->attempt != 0 ? lifecycle_run(call->life, job) : NULL;
    if (run != NULL) {
        runs_forget(call->life->parts.runs, run, call->effects);
    }
}

void job_end_clean(struct lifecycle *life, int64_t now_ms, struct effects *effects)
{
    struct clean_call call = {.life = life, .effects = effects};
    job_clean(life->parts.jobs, now_ms - life->parts.config->clean_period_ms, CLEAN_MAX,
              clean_job, &call, effects);
}
