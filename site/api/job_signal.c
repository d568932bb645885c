/* SPDX-License-Identifier: Apache-2.0 */
/* job_signal.c: JOB_CONTROL: kill, stop, resume and signals, as the command line gives
 * them; a sentence per job as LSF words it. */
#include "site/api/site_api.h"

#include <signal.h>
#include <string.h>

#include "site/api/job_answer.h"
#include "site/lifecycle/lifecycle.h"

/* The most elements that one request reaches, so that a step takes bounded time; and
 * the most jobs that one "0" does, which the command line repeats. */
enum { ALL_MAX = 10000, OWN_MAX = 2000 };

/* One request: what it does, and its answer so far. */
struct call {
    struct site_api *api;
    const struct peer *from;
    enum control_action action;
    int signal;
    const char *reason; /* "": none */
    struct effects *effects;
    struct job_answer answer;
    int n_done;
};

/* ---------------------------------------------------------------- one job */

static bool ends_programs(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT ||
           signal == SIGHUP || signal == SIGQUIT;
}

/* Some signals are the same as another action. */
static enum control_action action_of(enum control_action action, int signal,
                                     bool is_waiting)
{
    if (action != CONTROL_SIGNAL) {
        return action;
    }
    if (signal == SIGSTOP || signal == SIGTSTP) {
        return CONTROL_SUSPEND;
    }
    if (signal == SIGCONT) {
        return CONTROL_RESUME;
    }
    if (signal == SIGKILL || (is_waiting && ends_programs(signal))) {
        return CONTROL_KILL;
    }
    return CONTROL_SIGNAL;
}

/* A user has suspended it. */
static bool is_stopped(const struct job *job)
{
    return job->attempt == 0 ? job->state == JOB_PSUSP
                             : (job->suspension.causes & SUSPEND_USER) != 0;
}

/* 0: the job can take this action. */
static int check(const struct call *call, const struct job *job,
                 enum control_action action, struct err *err)
{
    int code = job_answer_check(call->api, call->from, job, err);
    if (code != 0 || action == CONTROL_KILL) {
        return code;
    }
    if (job->is_killed) {
        return err_set(err, ERR_STATE, "job is being terminated");
    }
    if (action == CONTROL_RESUME && !is_stopped(job)) {
        return job->attempt != 0 && job->suspension.causes != 0
                   ? err_set(
                         err, ERR_STATE,
                         "the job was suspended by the system, which also resumes it")
                   : err_set(err, ERR_STATE, "job is not suspended");
    }
    if (action == CONTROL_SIGNAL && job->attempt == 0) {
        return err_set(err, ERR_STATE, "job has no process yet to take a signal");
    }
    if (action == CONTROL_SIGNAL && call->signal < 1) {
        return err_set(err, ERR_BOUNDS, "%d is not a signal", call->signal);
    }
    if (action == CONTROL_SIGNAL && job->suspension.causes != 0) {
        return err_set(err, ERR_STATE,
                       "the job is suspended and accepts signals when it resumes; "
                       "`sublet kill` ends it");
    }
    return 0;
}

static const char *done_text(enum control_action action)
{
    switch (action) {
    case CONTROL_KILL:
        return "is being terminated";
    case CONTROL_SUSPEND:
        return "is being stopped";
    case CONTROL_RESUME:
        return "is being resumed";
    case CONTROL_SIGNAL:
        break;
    }
    return "is being signaled";
}

/* ---------------------------------------------------------------- the answer */

static void note(struct call *call, const char *id, int code, const char *text)
{
    job_answer_add(&call->answer, id, code, text);
    call->n_done += code == 0;
}

static void carry_out(struct call *call, struct job *job, enum control_action action)
{
    const char *by = call->from->name;
    if (call->reason[0] != '\0') {
        by = arena_printf(&call->effects->arena, "%s (%s)", by, call->reason);
    }
    if (action != CONTROL_SUSPEND || !is_stopped(job)) {
        control_job_apply(call->api->life, job, action, call->signal, by,
                          call->api->now_ms, call->effects);
    }
}

static void order_job(struct call *call, struct job *job)
{
    const char *id = job_id_text(&call->effects->arena, job->id, job->index);
    struct err err;
    enum control_action action =
        action_of(call->action, call->signal, job->attempt == 0);
    int code = check(call, job, action, &err);
    if (code != 0) {
        note(call, id, code, err.text);
        return;
    }
    carry_out(call, job, action);
    note(call, id, 0, done_text(action));
}

/* The elements of an array ("12", "12[1-5]") that can take the action; the others have
 * ended, or are in that state already. If none can, the answer is the error of the last
 * one. */
static void order_elements(struct call *call, const char *id,
                           const struct job_id *wanted)
{
    struct err err = {.code = ERR_NOT_FOUND,
                      .text = "no matching job found; see `sublet jobs -a -u all`"};
    enum control_action action = call->action;
    int n_done = 0;
    int first, end = job_answer_find_end(call->api->jobs, wanted, &first);
    for (int i = first; i < end && call->n_done + n_done < ALL_MAX; i++) {
        struct job *job = job_table_at(call->api->jobs, i);
        action = action_of(call->action, call->signal, job->attempt == 0);
        if (job_id_has(wanted, job->index) && check(call, job, action, &err) == 0) {
            carry_out(call, job, action);
            n_done++;
        }
    }
    if (n_done == 0) {
        note(call, id, err.code, err.text);
        return;
    }
    note(call, id, 0, done_text(action));
    call->n_done += n_done - 1;
    if (call->n_done == ALL_MAX) {
        note(call, id, ERR_FULL,
             "too many jobs for one request; repeat it for the others");
    }
}

static void order_named(struct call *call, const char *id)
{
    struct job *job = job_table_lookup(call->api->jobs, id);
    struct job_id wanted;
    if (job != NULL) {
        order_job(call, job);
    } else if (job_id_read(&call->effects->arena, id, &wanted, NULL) == 0) {
        order_elements(call, id, &wanted);
    } else {
        note(call, id, ERR_NOT_FOUND,
             "no matching job found; see `sublet jobs -a -u all`");
    }
}

/* The action would change nothing that an earlier one has not begun. */
static bool has_taken(const struct job *job, enum control_action action)
{
    return (action == CONTROL_KILL && job->is_killed) ||
           (action == CONTROL_SUSPEND && is_stopped(job));
}

/* False if there are more than one request may reach. */
static bool order_own(struct call *call, bool with_taken)
{
    for (int i = 0; i < job_table_count(call->api->jobs); i++) {
        if (call->n_done == OWN_MAX) {
            note(call, "0", ERR_FULL,
                 "too many jobs for one request; repeat it for the others");
            return false;
        }
        struct job *job = job_table_at(call->api->jobs, i);
        enum control_action action =
            action_of(call->action, call->signal, job->attempt == 0);
        if (job->spec->uid == call->from->uid && !job_is_ended(job) &&
            (with_taken || !has_taken(job, action)) &&
            check(call, job, action, NULL) == 0) {
            order_job(call, job);
        }
    }
    return true;
}

/* "0": all unfinished jobs of the caller that can take the action; jobs of other users
 * are left alone. Those that have taken it already come last, so that a repeated
 * request reaches the others. */
static void order_all(struct call *call)
{
    if (order_own(call, false) && call->n_done == 0) {
        (void)order_own(call, true);
    }
    if (call->n_done == 0) {
        note(call, "0", ERR_NOT_FOUND, "none of your jobs accepts this");
    }
}

void job_signal_request(struct site_api *api, const struct peer *from,
                        const struct msg *msg, struct effects *effects)
{
    const struct msg_job_control *order = &msg->job_control;
    struct call call = {
        .api = api,
        .from = from,
        .action = order->action,
        .reason = order->reason != NULL ? order->reason : "",
        .signal = order->signal,
        .effects = effects,
        .answer = job_answer_begin(&effects->arena),
    };
    for (int i = 0; i < order->n_jobs; i++) {
        const char *id = order->jobs[i];
        if (strcmp(id, "0") == 0) {
            order_all(&call);
        } else {
            order_named(&call, id);
        }
    }
    job_answer_send(&call.answer, from, order->request, effects);
}
