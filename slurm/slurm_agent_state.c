/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_agent_state.c: what a run's files and Slurm's list of jobs say about it.
 *
 * WAITING with its directory and token; after RUN_GO submitted; RUNNING when its script
 * has taken the claim; ENDED when it has written its end. A run whose job slurmctld has
 * ended, or does not know, is given ABSENT_MS, so that a file system has time to show
 * the end that the script may have written. Then:
 *
 *   claim      job                verdict
 *   taken      cancelled          it was killed from outside
 *   taken      TIMEOUT            its own limit, or LOST: its reservation has ended
 *   taken      any other, none    LOST
 *   not taken  none               it is submitted again
 *   not taken  ended, 125 to 127  it could not begin
 *   not taken  ended otherwise    LOST before it began: it was refused, cancelled, or
 *                                 held for ever as its reservation has ended
 *
 * "None" is said only if no job has the run's comment and a user that may be the run's
 * account. */
#include "slurm/slurm_agent_parts.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum {
    LOOK_MS = 1000,   /* at the files of a run that runs */
    LOOKS_MAX = 256,  /* in one step */
    ABSENT_MS = 5000, /* of what a shared file system may show late */
    LIST_MS = 1000,   /* until the list is read for an effect ... */
    LISTS_MAX = 4,    /* ... doubled so often */
    LIST_SHARE = 5,   /* of a cycle, between two lists */
};

void slurm_agent_state_change(struct agent_run *run, const struct guard_record *record)
{
    exec_session_change(&run->node->session, &run->run, record);
}

/* The list is to be read before the next cycle, because something is awaited. */
static void list_again(struct slurm_agent *agent)
{
    int n_doubled = agent->n_lists < LISTS_MAX ? agent->n_lists : LISTS_MAX;
    int64_t at_ms = agent->now_ms + ((int64_t)LIST_MS << n_doubled);
    int64_t least_ms = agent->list_began_ms + agent->config.cycle_ms / LIST_SHARE;
    at_ms = at_ms > least_ms ? at_ms : least_ms;
    agent->list_ms = at_ms < agent->list_ms ? at_ms : agent->list_ms;
}

void slurm_agent_state_list_soon(struct slurm_agent *agent)
{
    agent->n_lists = 0;
    list_again(agent);
}

void slurm_agent_state_end(struct slurm_agent *agent, struct agent_run *run,
                           enum run_end how, int code, int64_t ended_ms,
                           const char *text)
{
    struct guard_record record = run->run.record;
    struct slurm_run_files files = {.is_claimed = false};
    struct run_id id = exec_session_id(&run->run);
    if (agent->io.look(agent->io.arg, &id, &files)) {
        record.out_bytes = (uint64_t)files.out_bytes;
        record.err_bytes = (uint64_t)files.err_bytes;
        record.cpu_ms = (uint64_t)files.end.cpu_ms;
        record.start_ms = (uint64_t)files.begun_ms;
    }
    record.phase = RUN_ENDED;
    record.end = how;
    record.code = (uint64_t)code;
    record.end_ms = (uint64_t)ended_ms;
    if (run->limit != RUN_CAUSE_NONE && how == RUN_END_SIGNALLED) {
        record.end = RUN_END_LIMIT;
        record.cause = run->limit;
        record.code = (uint64_t)(128 + code);
    }
    if (run->order.number > record.control_done) { /* nothing is left to be done */
        record.control_done = run->order.number;
    }
    guard_record_set_text(&record, text);
    slurm_agent_state_change(run, &record);
}

/* The run ended by itself, as it wrote down. */
static void end_by_itself(struct slurm_agent *agent, struct agent_run *run,
                          const struct slurm_run_files *files)
{
    int status = files->end.status;
    bool is_signal = status > 128 && status <= 128 + 64;
    if (files->end.is_pre_exec) {
        run->run.record.cause = RUN_CAUSE_PRE_EXEC;
        slurm_agent_state_end(agent, run, RUN_END_EXITED, status, files->end.ended_ms,
                              "a command before the job failed");
    } else {
        run->run.record.post =
            files->end.has_post_failed ? RUN_POST_ERR : RUN_POST_DONE;
        slurm_agent_state_end(
            agent, run, is_signal ? RUN_END_SIGNALLED : RUN_END_EXITED,
            is_signal ? status - 128 : status, files->end.ended_ms, "");
    }
}

static void begin(struct slurm_agent *agent, struct agent_run *run, int64_t begun_ms)
{
    struct guard_record record = run->run.record;
    (void)agent;
    record.phase = RUN_RUNNING;
    record.start_ms = (uint64_t)begun_ms;
    run->since_ms = begun_ms;
    slurm_agent_state_change(run, &record);
}

void slurm_agent_state_set_done(struct slurm_agent *agent, struct agent_run *run,
                                enum run_phase phase)
{
    int64_t now_ms = agent->now_ms;
    struct guard_record record = run->run.record;
    if (phase == RUN_SUSPENDED && record.phase == RUN_RUNNING) {
        run->ran_ms += now_ms - run->since_ms;
    } else if (phase == RUN_RUNNING && record.phase == RUN_SUSPENDED) {
        run->since_ms = now_ms;
    }
    struct run_id id = exec_session_id(&run->run);
    record.phase = phase;
    record.control_done = run->order.number;
    agent->io.keep_control(agent->io.arg, &id, record.control_done);
    slurm_agent_state_change(run, &record);
}

/* ---------------------------------------------------------------- the list */

bool slurm_agent_state_is_job(void *arg, int64_t job_id)
{
    const struct slurm_agent *agent = arg;
    for (int i = 0; i < agent->n_runs; i++) {
        if (agent->runs[i]->job_id == job_id) {
            return true;
        }
    }
    return false;
}

/* sbatch was told that no node can ever run it, as when the node had just left the
 * reservation: this record is all that slurmctld keeps. */
static bool is_refused(const struct slurm_job *job)
{
    return strcmp(job->state, "F") == 0 && strcmp(job->reason, "BadConstraints") == 0;
}

/* It has not begun, and never will: nobody may start or release its job now. */
static void end_unbegun(struct slurm_agent *agent, struct agent_run *run,
                        const char *text)
{
    struct run_id id = exec_session_id(&run->run);
    bool is_killed = slurm_agent_is_killed(run);
    if (agent->io.claim(agent->io.arg, &id)) {
        run->run.record.cause = is_killed ? RUN_CAUSE_NONE : RUN_CAUSE_NOT_BEGUN;
        slurm_agent_state_end(agent, run, is_killed ? RUN_END_SIGNALLED : RUN_END_LOST,
                              SIGKILL, agent->now_ms, is_killed ? "" : text);
    }
}

/* The script's own words, or the shell's, that it cannot begin. */
static bool is_without_spool(const struct slurm_job *job)
{
    int status = WIFEXITED(job->wait_status) ? WEXITSTATUS(job->wait_status) : 0;
    return strcmp(job->state, "F") == 0 && status >= 125 && status <= 127;
}

static void end_without_claim(struct slurm_agent *agent, struct agent_run *run,
                              const struct slurm_job *job)
{
    if (is_without_spool(job) && !slurm_agent_is_killed(run)) {
        slurm_agent_state_end(
            agent, run, RUN_END_FAILED, 0, job->end_s * 1000,
            "its script could not begin: do all nodes have SLURM_SPOOL?");
    } else {
        end_unbegun(agent, run,
                    strcmp(job->state, "RD") == 0 ? "its reservation in Slurm has ended"
                    : is_refused(job)             ? "its node in Slurm was not free"
                    : strcmp(job->state, "CA") == 0
                        ? "cancelled in Slurm before it began"
                        : "Slurm could not start it");
    }
}

static void end_by_slurm(struct slurm_agent *agent, struct agent_run *run,
                         const struct slurm_job *job)
{
    const char *code = job->state;
    int signal = WIFSIGNALED(job->wait_status) ? WTERMSIG(job->wait_status) : SIGTERM;
    int64_t ended_ms = job->end_s * 1000;
    int64_t ran_ms = (job->end_s - job->start_s) * 1000;
    bool is_at_limit =
        run->record.run_limit_ms > 0 && ran_ms >= run->record.run_limit_ms;
    bool is_killed = slurm_agent_is_killed(run);
    if (strcmp(code, "CA") == 0 || is_killed) {
        slurm_agent_state_end(agent, run, RUN_END_SIGNALLED, signal, ended_ms,
                              is_killed ? "" : "cancelled in Slurm");
    } else if (strcmp(code, "TO") == 0 && is_at_limit) {
        run->limit = RUN_CAUSE_RUN_LIMIT;
        slurm_agent_state_end(agent, run, RUN_END_SIGNALLED, signal, ended_ms, "");
    } else if (strcmp(code, "OOM") == 0) {
        run->limit = RUN_CAUSE_MEM_LIMIT;
        slurm_agent_state_end(agent, run, RUN_END_SIGNALLED, SIGKILL, ended_ms, "");
    } else {
        slurm_agent_state_end(agent, run, RUN_END_LOST, 0, ended_ms,
                              strcmp(code, "TO") == 0
                                  ? "its reservation in Slurm has ended"
                              : strcmp(code, "NF") == 0 ? "its node in Slurm has failed"
                              : strcmp(code, "PR") == 0 ? "preempted in Slurm"
                                                        : "Slurm has ended it");
    }
}

/* The list does not have its job, or has it as ended: true if that was so for long
 * enough. */
static bool is_absent(struct slurm_agent *agent, struct agent_run *run)
{
    if (run->absent_ms == 0) {
        run->absent_ms = agent->list_began_ms;
        list_again(agent);
        return false;
    }
    if (agent->list_began_ms - run->absent_ms < ABSENT_MS) {
        list_again(agent);
        return false;
    }
    return true;
}

static void judge_effect(struct slurm_agent *agent, struct agent_run *run,
                         const struct slurm_job *job)
{
    bool is_due = slurm_agent_has_order(run);
    enum run_phase phase =
        job->phase == SLURM_JOB_STOPPED ? RUN_SUSPENDED : RUN_RUNNING;
    bool is_seen = (run->order.action == CONTROL_SUSPEND && phase == RUN_SUSPENDED) ||
                   (run->order.action == CONTROL_RESUME && phase == RUN_RUNNING);
    if (is_due && run->is_ordered && is_seen) {
        slurm_agent_state_set_done(agent, run, phase);
    } else if (is_due || run->limit != RUN_CAUSE_NONE) {
        list_again(agent);
    }
}

/* A run that was found at the start, and whose state was not known yet. */
static void reveal(struct slurm_agent *agent, struct agent_run *run)
{
    struct guard_record waiting = run->run.record;
    (void)agent;
    waiting.phase = RUN_WAITING;
    slurm_agent_state_change(run, &waiting);
}

/* The run's job: the one that has the claim. Before there is one: the first that has
 * not ended, as slurmctld may know several after it has forgotten one; else the first.
 */
static const struct slurm_job *find_job(const struct slurm_agent *agent,
                                        const struct agent_run *run,
                                        const struct slurm_run_files *files,
                                        const struct slurm_jobs *jobs)
{
    struct run_id id = exec_session_id(&run->run);
    const char *account = slurm_agent_account_of(agent, run);
    const struct slurm_job *found = NULL;
    for (int i = 0; i < jobs->count; i++) {
        const struct slurm_job *job = &jobs->items[i];
        if (!slurm_job_is_run(job, agent->config.site, &id) ||
            strcmp(job->user, account) != 0) {
            continue;
        }
        if (files->begun_ms > 0 && job->id == files->job_id) {
            return job;
        }
        bool was_ended = found != NULL && found->phase == SLURM_JOB_ENDED;
        bool has_ended = job->phase == SLURM_JOB_ENDED;
        if (found == NULL || (was_ended && !has_ended) ||
            (was_ended == has_ended && job->id < found->id)) {
            found = job;
        }
    }
    return found;
}

/* A job with the run's comment is there, of a user whom the name service does not know
 * for a moment: squeue prints "nobody" or a number. */
static bool may_be_there(const struct slurm_agent *agent, const struct agent_run *run,
                         const struct slurm_jobs *jobs)
{
    struct run_id id = exec_session_id(&run->run);
    for (int i = 0; i < jobs->count; i++) {
        const struct slurm_job *job = &jobs->items[i];
        bool is_unknown = strcmp(job->user, "nobody") == 0 ||
                          strspn(job->user, "0123456789") == strlen(job->user);
        if (is_unknown && slurm_job_is_run(job, agent->config.site, &id)) {
            return true;
        }
    }
    return false;
}

/* Its job is in the list and has not ended. */
static void confirm(struct slurm_agent *agent, struct agent_run *run,
                    const struct slurm_job *job, const struct slurm_run_files *files)
{
    run->job_id = job->id;
    run->is_uncertain = false;
    run->absent_ms = 0;
    if (run->run.record.phase == RUN_UNKNOWN) {
        run->has_go = true;
        reveal(agent, run);
    }
    if (files->begun_ms > 0 && run->run.record.phase == RUN_WAITING) {
        begin(agent, run, files->begun_ms);
    }
    if (run->run.record.phase != RUN_WAITING) {
        judge_effect(agent, run, job);
    }
}

/* The list has said for long enough that its job has ended (NULL: that it is not
 * there). */
static void judge_absent(struct slurm_agent *agent, struct agent_run *run,
                         const struct slurm_job *job, bool is_claimed)
{
    if (job != NULL) {
        (is_claimed ? end_by_slurm : end_without_claim)(agent, run, job);
    } else if (is_claimed) {
        slurm_agent_state_end(agent, run, RUN_END_LOST, 0, agent->now_ms,
                              "slurmctld does not know it");
    } else {
        run->job_id = 0; /* it never began: it is submitted again */
        run->is_uncertain = false;
        run->absent_ms = 0;
        if (run->run.record.phase == RUN_UNKNOWN) {
            reveal(agent, run);
        }
    }
}

static void judge(struct slurm_agent *agent, struct agent_run *run,
                  const struct slurm_jobs *jobs)
{
    struct run_id id = exec_session_id(&run->run);
    struct slurm_run_files files = {.is_claimed = false};
    if (run->run.record.phase == RUN_ENDED) {
        return;
    }
    if (!agent->io.look(agent->io.arg, &id, &files)) {
        slurm_agent_state_end(agent, run, RUN_END_LOST, 0, agent->now_ms,
                              "its directory is gone");
        return;
    }
    if (files.has_ended) {
        end_by_itself(agent, run, &files);
        return;
    }
    const struct slurm_job *job = find_job(agent, run, &files, jobs);
    if (job != NULL && job->phase != SLURM_JOB_ENDED) {
        confirm(agent, run, job, &files);
        return;
    }
    if (job == NULL && may_be_there(agent, run, jobs)) {
        run->absent_ms = 0;
        return;
    }
    bool was_submitted = run->job_id != 0 || job != NULL || files.is_claimed;
    if (!was_submitted || is_absent(agent, run)) {
        judge_absent(agent, run, job, files.is_claimed);
    }
}

/* ---------------------------------------------------------------- jobs of nobody */

/* It waits, and its run has ended or is not known. Slurm holds a job for ever (RD)
 * whose reservation has ended. */
static bool is_left_over(const struct slurm_agent *agent, const struct slurm_job *job)
{
    bool may_begin = job->phase == SLURM_JOB_WAITING || strcmp(job->state, "RD") == 0;
    if (!may_begin || job->site == NULL || strcmp(job->site, agent->config.site) != 0) {
        return false;
    }
    for (int i = 0; i < agent->n_runs; i++) {
        if (agent->runs[i]->job_id == job->id &&
            agent->runs[i]->run.record.phase != RUN_ENDED) {
            return false;
        }
    }
    return true;
}

static bool is_intruder(struct slurm_agent *agent, struct arena *arena,
                        const struct slurm_job *job)
{
    bool is_active = job->phase == SLURM_JOB_WAITING ||
                     (slurm_job_has_nodes(job) && strcmp(job->state, "CG") != 0);
    return is_active &&
           slurm_use_is_ours(arena, job->reservation, agent->config.site) &&
           !slurm_agent_state_is_job(agent, job->id);
}

void slurm_agent_state_find_intruders(struct slurm_agent *agent, struct arena *arena)
{
    const struct slurm_jobs *jobs = &agent->known->jobs;
    agent->n_intruders = 0;
    agent->intruders = arena_alloc(arena, (size_t)jobs->count + 1, sizeof(int64_t));
    for (int i = 0; i < agent->n_runs; i++) {
        if (agent->runs[i]->is_uncertain) {
            return; /* any of the jobs may be its own */
        }
    }
    for (int i = 0; i < jobs->count; i++) {
        const struct slurm_job *job = &jobs->items[i];
        bool is_ours = is_left_over(agent, job);
        if (is_ours || is_intruder(agent, arena, job)) {
            slurm_agent_io_log(
                agent, is_ours ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
                "job %lld of Slurm in reservation \"%s\" %s: it is cancelled",
                (long long)job->id, job->reservation,
                is_ours ? "is of a run that has ended" : "is no leased job");
            agent->intruders[agent->n_intruders++] = job->id;
        }
    }
}

void slurm_agent_state_listed(struct slurm_agent *agent, const struct slurm_jobs *jobs)
{
    for (int i = 0; i < agent->n_runs; i++) {
        judge(agent, agent->runs[i], jobs);
    }
}

/* ---------------------------------------------------------------- time */

static void look(struct slurm_agent *agent, struct agent_run *run)
{
    struct run_id id = exec_session_id(&run->run);
    struct slurm_run_files files = {.is_claimed = false};
    run->look_ms = agent->now_ms + LOOK_MS;
    if (!agent->io.look(agent->io.arg, &id, &files)) {
        return; /* the list decides */
    }
    if (files.has_ended) {
        end_by_itself(agent, run, &files);
    } else if (files.begun_ms > 0 && run->run.record.phase == RUN_WAITING) {
        begin(agent, run, files.begun_ms);
    }
}

/* Its own run limit: it is ended like a killed one. */
static void watch_limit(struct slurm_agent *agent, struct agent_run *run)
{
    int64_t ran_ms = run->ran_ms + agent->now_ms - run->since_ms;
    if (run->record.run_limit_ms > 0 && run->limit == RUN_CAUSE_NONE &&
        run->run.record.phase == RUN_RUNNING && ran_ms >= run->record.run_limit_ms) {
        run->limit = RUN_CAUSE_RUN_LIMIT;
        run->order_ms = agent->now_ms;
    }
}

static bool is_watched(const struct agent_run *run)
{
    return run->has_go && run->run.record.phase != RUN_ENDED;
}

void slurm_agent_state_tick(struct slurm_agent *agent)
{
    int n_looks = 0;
    for (int i = 0; i < agent->n_runs && n_looks < LOOKS_MAX; i++) {
        struct agent_run *run = agent->runs[i];
        if (is_watched(run) && run->look_ms <= agent->now_ms) {
            look(agent, run);
            n_looks++;
        }
        watch_limit(agent, run);
    }
}

int64_t slurm_agent_state_wake_ms(const struct slurm_agent *agent)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < agent->n_runs; i++) {
        const struct agent_run *run = agent->runs[i];
        bool is_due = slurm_agent_has_order(run) || run->limit != RUN_CAUSE_NONE ||
                      (run->has_go && run->job_id == 0 && !run->is_uncertain);
        if (is_watched(run)) {
            wake_ms = run->look_ms < wake_ms ? run->look_ms : wake_ms;
        }
        if (is_due && run->run.record.phase != RUN_ENDED &&
            run->order_ms > agent->now_ms) {
            wake_ms = run->order_ms < wake_ms ? run->order_ms : wake_ms;
        }
    }
    return wake_ms;
}
