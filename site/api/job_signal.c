/* SPDX-License-Identifier: Apache-2.0 */
/* job_signal.c: JOB_CONTROL: kill, stop, resume and signals, as the command line gives
 * them; a sentence per job as LSF words it. */
#include "site/api/site_api.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "model/job_id.h"
#include "site/api/permission.h"
#include "site/job/job.h"
#include "site/job/lifecycle.h"

/* The most jobs that one "0" reaches, so that a step takes bounded time. */
enum { ALL_MAX = 10000 };

/* One request: what it does, and its answer so far. */
struct call {
    const struct site_api *api;
    const struct peer *from;
    enum control_action action;
    int signal;
    int64_t now_ms;
    struct effects *effects;
    struct value *jobs;
    char
        text[TEXT_MAX]; /* the sentences so far; after an error those of errors alone */
    int code;
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
    if (!permission_may_manage(call->api->config, call->from, job)) {
        return err_set(err, ERR_DENIED, "user permission denied, it is %s's",
                       job->spec->user);
    }
    if (job_is_ended(job)) {
        return err_set(err, ERR_STATE, "job has already finished");
    }
    if (action == CONTROL_KILL) {
        return 0;
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
        return err_set(err, ERR_BOUNDS, "%d is no signal", call->signal);
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

static void add_text(struct call *call, const char *text)
{
    size_t length = strlen(call->text);
    const char *between = length == 0 ? "" : "\n";
    snprintf(call->text + length, sizeof(call->text) - length, "%s%s", between, text);
}

/* Adds a sentence about one job; `code` 0: the action was taken. */
static void note(struct call *call, const char *id, int code, const char *text)
{
    struct arena *arena = &call->effects->arena;
    const char *sentence =
        arena_printf(arena, "Job <%s>%s %s", id, code == 0 ? "" : ":", text);
    if (call->jobs->count <
        JOBS_PER_COMMAND_MAX) { /* the answer has to fit one frame */
        struct value *row = value_add(arena, call->jobs, NULL, value_object(arena));
        value_add_text(arena, row, "job", id);
        value_add_text(arena, row, "text", sentence);
    }
    if (code != 0 && call->code == 0) {
        call->code = code;
        call->text[0] = '\0';
    }
    if (code != 0 || call->code == 0) {
        add_text(call, sentence);
    }
    call->n_done += code == 0;
}

static void carry_out(struct call *call, struct job *job, enum control_action action)
{
    if (action != CONTROL_SUSPEND || !is_stopped(job)) {
        control_job_apply(call->api->life, job, action, call->signal, call->from->name,
                          call->now_ms, call->effects);
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
    for (int i = job_table_index_of(call->api->jobs, wanted->number);
         i < job_table_count(call->api->jobs); i++) {
        struct job *job = job_table_at(call->api->jobs, i);
        if (job->id != wanted->number || call->n_done + n_done == ALL_MAX) {
            break;
        }
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

/* "0": all unfinished jobs of the caller that can take the action; jobs of other users
 * are left alone. */
static void order_all(struct call *call)
{
    for (int i = 0; i < job_table_count(call->api->jobs); i++) {
        if (call->n_done == ALL_MAX) {
            note(call, "0", ERR_FULL,
                 "too many jobs for one request; repeat it for the others");
            return;
        }
        struct job *job = job_table_at(call->api->jobs, i);
        enum control_action action =
            action_of(call->action, call->signal, job->attempt == 0);
        if (job->spec->uid == call->from->uid && !job_is_ended(job) &&
            check(call, job, action, NULL) == 0) {
            order_job(call, job);
        }
    }
    if (call->n_done == 0) {
        note(call, "0", ERR_NOT_FOUND, "no job of yours can take this");
    }
}

void job_signal_request(const struct site_api *api, const struct peer *from,
                        const struct msg_job_control *order, int64_t now_ms,
                        struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct value *value = value_object(arena);
    struct call call = {
        .api = api,
        .from = from,
        .action = order->action,
        .signal = order->signal,
        .now_ms = now_ms,
        .effects = effects,
        .jobs = value_array(arena),
    };
    for (int i = 0; i < order->n_jobs; i++) {
        const char *id = order->jobs[i];
        if (strcmp(id, "0") == 0) {
            order_all(&call);
        } else {
            order_named(&call, id);
        }
    }
    if (call.code != 0) {
        effects_reply_error(effects, from, order->request, call.code, "%s", call.text);
        return;
    }
    value_add(arena, value, "jobs", call.jobs);
    effects_reply(effects, from, order->request, call.text, value, "");
}
