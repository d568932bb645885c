/* SPDX-License-Identifier: Apache-2.0 */
/* job_move.c: JOB_MOVE: requeue (brequeue), switch (bswitch), top and bottom (btop,
 * bbot).
 */
#include "site/api/site_api.h"

#include "site/api/job_answer.h"
#include "site/api/permission.h"
#include "site/config/site_config.h"
#include "site/job/history.h"
#include "site/lifecycle/lifecycle.h"

struct call {
    struct site_api *api;
    const struct peer *from;
    enum job_move move;
    int queue; /* of MOVE_SWITCH */
    bool is_held;
    struct effects *effects;
    struct job_answer answer;
    /* The elements of an array have one spec, whose requirements are checked once. */
    const struct job_spec *judged;
    struct err verdict;
};

/* ---------------------------------------------------------------- one job */

/* The same checks as at submission, including RESRSV_LIMIT of the queue. */
static int check_requirements(struct call *call, const struct job_spec *spec,
                              struct err *err)
{
    struct resreq_notes notes = {.arena = &call->effects->arena};
    struct resreq_error fault;
    if (call->judged != spec) {
        call->judged = spec;
        call->verdict = (struct err){.code = 0};
        if (resreq_cache_check(call->api->resreq_cache, call->queue, spec, 0, &notes,
                               &fault) != 0) {
            err_set(&call->verdict, ERR_PARSE, "%s %s", fault.text, fault.hint);
        }
    }
    *err = call->verdict;
    return err->code;
}

static int check_switch(struct call *call, const struct job *job, struct err *err)
{
    const struct queue_config *queue = &call->api->config->queues[call->queue];
    struct job_spec spec =
        *job->spec; /* a copy: what the rules add counts only at its start */
    struct job_terms terms = *job->terms;
    if (job->attempt != 0) {
        return err_set(err, ERR_STATE,
                       "job has started, only waiting jobs are switched");
    }
    if (job->spec->is_exclusive && !queue->is_exclusive) {
        return err_set(err, ERR_STATE, "Queue does not accept exclusive jobs");
    }
    int code = terminals_check_queue(queue, job->spec, err);
    if (code == 0) {
        code = fairshare_ledger_check(call->api->fairshare, call->queue,
                                      job->spec->user, job->terms->user_group, err);
    }
    code =
        code == 0 ? queue_rules_check_user(&queue->rules, job->spec->user, err) : code;
    struct job_rules_stack stack =
        site_config_rules_stack(call->api->config, call->queue, job->spec->app);
    code = code == 0 ? job_rules_check(&stack, &spec, &terms, err) : code;
    return code == 0 ? check_requirements(call, job->spec, err) : code;
}

/* Its run must be over for the host too, and its terminal is gone. */
static int check_rerun(struct call *call, const struct job *job, struct err *err)
{
    if (!permission_may_manage(call->api->config, call->from, job)) {
        return err_set(err, ERR_DENIED, "user permission denied, it is %s's",
                       job->spec->user);
    }
    if (!job_is_ended(job)) {
        return err_set(err, ERR_STATE, "job has not finished yet");
    }
    return job->spec->interaction == INTERACTION_NONE
               ? 0
               : err_set(err, ERR_STATE, "an interactive job is not requeued");
}

static int check(struct call *call, const struct job *job, struct err *err)
{
    if (call->move == MOVE_RERUN) {
        return check_rerun(call, job, err);
    }
    int code = job_answer_check(call->api, call->from, job, err);
    if (code != 0) {
        return code;
    }
    if (job->is_killed) {
        return err_set(err, ERR_STATE, "job is being terminated");
    }
    switch (call->move) {
    case MOVE_REQUEUE:
        return job->attempt != 0 ? 0
                                 : err_set(err, ERR_STATE, "job has not started yet");
    case MOVE_SWITCH:
        return check_switch(call, job, err);
    case MOVE_TOP:
    case MOVE_BOTTOM:
        return job->attempt == 0
                   ? 0
                   : err_set(err, ERR_STATE, "job has started, only waiting jobs move");
    case MOVE_RERUN:
        break;
    }
    return 0;
}

static void carry_out(struct call *call, struct job *job)
{
    struct site_api *api = call->api;
    switch (call->move) {
    case MOVE_REQUEUE:
        if (call->is_held) { /* a job that its user has stopped waits stopped */
            control_job_apply(api->life, job, CONTROL_SUSPEND, 0, call->from->name,
                              api->now_ms, call->effects);
        }
        control_job_requeue(api->life, job, call->from->name, api->now_ms,
                            call->effects);
        return;
    case MOVE_SWITCH:
        job_table_switch(api->jobs, job, call->queue);
        history_switched(api->history, job, call->effects);
        break;
    case MOVE_TOP:
    case MOVE_BOTTOM:
        job_table_reorder(api->jobs, job, call->move == MOVE_TOP);
        history_reordered(api->history, job, call->move == MOVE_TOP, call->effects);
        break;
    case MOVE_RERUN:
        job_table_rerun(
            api->jobs, job,
            arena_printf(&call->effects->arena, "requeued by %s", call->from->name));
        if (call->is_held) {
            job_table_set_state(api->jobs, job, JOB_PSUSP);
        }
        break;
    }
    job_store(job, call->effects);
    pass_request_set(api->pass_request);
}

static const char *done_text(const struct call *call)
{
    struct arena *arena = &call->effects->arena;
    switch (call->move) {
    case MOVE_REQUEUE:
    case MOVE_RERUN:
        return "is being requeued";
    case MOVE_SWITCH:
        return arena_printf(arena, "is switched to queue <%s>",
                            call->api->config->queues[call->queue].name);
    case MOVE_TOP:
        return "has been moved to position 1 from top";
    case MOVE_BOTTOM:
        break;
    }
    return "has been moved to position 1 from bottom";
}

/* ---------------------------------------------------------------- the answer */

/* Moves a job, or those elements of an array that can be moved. If none can, the answer
 * is the error of the last one. The last element goes to the top first, so that the
 * elements keep their order. */
static void move_named(struct call *call, const char *id)
{
    struct err err = {.code = ERR_NOT_FOUND,
                      .text = "no matching job found; see `sublet jobs -a -u all`"};
    struct job_table *jobs = call->api->jobs;
    struct job_id wanted;
    int n_moved = 0, first;
    if (job_id_read(&call->effects->arena, id, &wanted, NULL) != 0) {
        job_answer_add(&call->answer, id, err.code, err.text);
        return;
    }
    int end = job_answer_find_end(jobs, &wanted, &first);
    for (int i = 0; i < end - first; i++) {
        bool is_backwards = call->move == MOVE_TOP;
        struct job *job = job_table_at(jobs, is_backwards ? end - 1 - i : first + i);
        if (job_id_has(&wanted, job->index) && check(call, job, &err) == 0) {
            carry_out(call, job);
            n_moved++;
        }
    }
    job_answer_add(&call->answer, id, n_moved > 0 ? 0 : err.code,
                   n_moved > 0 ? done_text(call) : err.text);
}

void job_move_request(struct site_api *api, const struct peer *from,
                      const struct msg *msg, struct effects *effects)
{
    const struct msg_job_move *move = &msg->job_move;
    struct call call = {.api = api,
                        .from = from,
                        .move = move->move,
                        .is_held = move->is_held,
                        .effects = effects,
                        .answer = job_answer_begin(&effects->arena)};
    if (move->move == MOVE_SWITCH) {
        call.queue = queue_table_find(api->queues, move->queue);
        if (call.queue < 0) {
            effects_reply_error(effects, from, move->request, ERR_NOT_FOUND,
                                "%s: no such queue, see `sublet queues`", move->queue);
            return;
        }
        if (queue_table_is_closed(api->queues, call.queue)) {
            effects_reply_error(effects, from, move->request, ERR_STATE,
                                "%s: Queue is closed", move->queue);
            return;
        }
    }
    for (int i = 0; i < move->n_jobs; i++) {
        move_named(&call, move->jobs[i]);
    }
    job_answer_send(&call.answer, from, move->request, effects);
}
