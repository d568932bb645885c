/* SPDX-License-Identifier: Apache-2.0 */
/* job_resize.c: JOB_RESIZE: other slots for running jobs, fewer, or no more. */
#include "site/api/site_api.h"

#include "site/api/job_answer.h"
#include "site/api/permission.h"
#include "site/pass/resize_requests.h"
#include "site/run/allocation.h"

struct call {
    struct site_api *api;
    const struct peer *from;
    const struct msg_job_resize *order;
    bool is_admin;
    struct effects *effects;
    struct job_answer answer;
};

/* The change that the request means for one job. */
struct change {
    struct allocation gone; /* empty: only the number that is asked for changes */
    int max_slots;
    const char *text;
};

/* ---------------------------------------------------------------- rights */

static int check_job(const struct call *call, const struct job *job, struct err *err)
{
    bool is_cancel = call->order->order == JOB_RESIZE_CANCEL;
    int code = job_answer_check(call->api, call->from, job, err);
    if (code != 0) {
        return code;
    }
    if (job->attempt == 0 || job->start_ms == 0) {
        return err_set(err, ERR_STATE,
                       "job has not started yet, only running jobs are resized");
    }
    if (job->is_killed || job_is_requeued(job)) {
        return err_set(err, ERR_STATE, "job is being terminated");
    }
    if (job->lease[0] != '\0') {
        return err_set(err, ERR_STATE,
                       "the job runs on borrowed hosts, where jobs cannot be resized");
    }
    if (job->terms->resizable == RESIZABLE_NO && !call->is_admin) {
        return err_set(err, ERR_STATE,
                       "job is not resizable, expected one of sub -ar, or of an "
                       "application profile with RESIZABLE_JOBS");
    }
    if (is_cancel) {
        return 0;
    }
    if (job->resize.event != RESIZE_NONE) {
        return err_set(err, ERR_STATE,
                       "a resize of the job is under way, try again when it is over");
    }
    return job->state == JOB_RUN && job->suspension.causes == 0
               ? 0
               : err_set(err, ERR_STATE,
                         "job does not run now, only running jobs are resized");
}

/* ---------------------------------------------------------------- what comes of it */

static int least_of(const struct call *call, const struct job *job)
{
    return call->is_admin ? 1 : job->spec->n_slots;
}

/* Whether the job may release these slots. */
static int check_gone(const struct call *call, const struct job *job,
                      const struct change *change, struct err *err)
{
    const struct allocation *gone = &change->gone;
    const char *first = job->hosts[0].host;
    int n_gone = msg_sum_slots(gone->hosts, gone->n_hosts);
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts), least = least_of(call, job);
    if (n_gone == 0) {
        return err_set(
            err, ERR_STATE, "no slots would be released, job has %s",
            allocation_text(&call->effects->arena, job->hosts, job->n_hosts));
    }
    if (n_slots - n_gone < least) {
        return err_set(err, ERR_BOUNDS,
                       "the job would have %d of %d slots left, expected at least %d",
                       n_slots - n_gone, n_slots, least);
    }
    if (allocation_slots_on(gone->hosts, gone->n_hosts, first) >=
        job->hosts[0].n_slots) {
        return err_set(err, ERR_STATE,
                       "the job's command runs on %s, where it must keep a slot",
                       first);
    }
    return 0;
}

static void describe_gone(const struct call *call, struct change *change)
{
    struct arena *arena = &call->effects->arena;
    change->text =
        arena_printf(arena, "is being resized: releases %s",
                     allocation_text(arena, change->gone.hosts, change->gone.n_hosts));
}

static int plan_size(const struct call *call, const struct job *job,
                     struct change *change, struct err *err)
{
    struct arena *arena = &call->effects->arena;
    int n_slots = msg_sum_slots(job->hosts, job->n_hosts);
    int wanted = call->order->n_slots, least = least_of(call, job);
    int own_most =
        job->terms->max_slots > 0 ? job->terms->max_slots : job->spec->n_slots;
    int most = call->is_admin ? SLOTS_MAX : own_most;
    if (wanted < least || wanted > most) {
        return err_set(err, ERR_BOUNDS, "%d slots: expected %d to %d", wanted, least,
                       most);
    }
    if (wanted >= n_slots) {
        change->max_slots = wanted > n_slots ? wanted : 0;
        change->text =
            wanted > n_slots
                ? arena_printf(arena, "requests %d more slots", wanted - n_slots)
                : arena_printf(arena, "has %d slots and requests no more", n_slots);
        return 0;
    }
    change->gone = allocation_tail(arena, job->hosts, job->n_hosts, n_slots - wanted);
    describe_gone(call, change);
    return check_gone(call, job, change, err);
}

/* Whether the job has slots on all named hosts. A request may name thousands of hosts,
 * so this is checked before they are summed by host, which takes quadratic time. */
static int check_named(const struct job *job, const struct msg_job_resize *order,
                       struct err *err)
{
    for (int i = 0; i < order->n_hosts; i++) {
        const struct host_slots *at = &order->hosts[i];
        if (allocation_slots_on(job->hosts, job->n_hosts, at->host) == 0) {
            return err_set(err, ERR_NOT_FOUND, "job has 0 slots on %s, not %d",
                           at->host, at->n_slots > 0 ? at->n_slots : 1);
        }
    }
    return 0;
}

/* The named hosts with their slots, of which the job has at least as many there; 0
 * means all of them. */
static int read_hosts(const struct call *call, const struct job *job,
                      struct allocation *named, struct err *err)
{
    const struct msg_job_resize *order = call->order;
    int code = check_named(job, order, err);
    if (code != 0) {
        return code;
    }
    *named =
        allocation_add(&call->effects->arena, NULL, 0, order->hosts, order->n_hosts);
    for (int i = 0; i < named->n_hosts; i++) {
        struct host_slots *at = &named->hosts[i];
        int n_there = allocation_slots_on(job->hosts, job->n_hosts, at->host);
        if (at->n_slots > n_there) {
            return err_set(err, ERR_BOUNDS, "job has %d slots on %s, not %d", n_there,
                           at->host, at->n_slots);
        }
        at->n_slots = at->n_slots > 0 ? at->n_slots : n_there;
    }
    return 0;
}

static int plan_release(const struct call *call, const struct job *job,
                        struct change *change, struct err *err)
{
    struct arena *arena = &call->effects->arena;
    struct allocation named;
    int code = read_hosts(call, job, &named, err);
    if (code != 0) {
        return code;
    }
    change->gone = call->order->order == JOB_RESIZE_RELEASE
                       ? named
                       : allocation_take(arena, job->hosts, job->n_hosts, named.hosts,
                                         named.n_hosts);
    int n_gone = msg_sum_slots(change->gone.hosts, change->gone.n_hosts);
    int pending = call->order->is_last ? 0 : job_asked_slots(job);
    change->max_slots =
        pending > 0 ? msg_sum_slots(job->hosts, job->n_hosts) - n_gone + pending : 0;
    describe_gone(call, change);
    return check_gone(call, job, change, err);
}

static int plan_cancel(const struct call *call, const struct job *job,
                       struct change *change, struct err *err)
{
    (void)call;
    change->text = "requests no more slots";
    return job_asked_slots(job) > 0
               ? 0
               : err_set(err, ERR_STATE, "job has no pending allocation request");
}

static int plan(const struct call *call, const struct job *job, struct change *change,
                struct err *err)
{
    *change = (struct change){.text = ""};
    switch (call->order->order) {
    case JOB_RESIZE_TO:
        return plan_size(call, job, change, err);
    case JOB_RESIZE_RELEASE:
    case JOB_RESIZE_KEEP:
        return plan_release(call, job, change, err);
    case JOB_RESIZE_CANCEL:
        break;
    }
    return plan_cancel(call, job, change, err);
}

/* ---------------------------------------------------------------- the answer */

/* True: the job is resized. */
static bool resize_job(struct call *call, struct job *job, const char **text,
                       struct err *err)
{
    struct change change;
    if (check_job(call, job, err) != 0 || plan(call, job, &change, err) != 0) {
        return false;
    }
    *text = change.text;
    if (change.gone.n_hosts > 0) {
        resize_requests_shrink(call->api->resize_requests, job, change.gone.hosts,
                               change.gone.n_hosts, change.max_slots, call->api->now_ms,
                               call->effects);
    } else {
        resize_requests_set_max(call->api->resize_requests, job, change.max_slots,
                                call->effects);
    }
    return true;
}

/* Resizes a job, or those elements of an array that can be resized. If none can, the
 * answer is the error of the last one. */
static void resize_named(struct call *call, const char *id)
{
    struct err err = {.code = ERR_NOT_FOUND, .text = "no matching job found"};
    const char *text = "";
    struct job_id wanted;
    int n_done = 0, first;
    if (job_id_read(&call->effects->arena, id, &wanted, NULL) != 0) {
        job_answer_add(&call->answer, id, err.code, err.text);
        return;
    }
    struct job_table *jobs = call->api->jobs;
    int end = job_answer_find_end(jobs, &wanted, &first);
    for (int i = first; i < end; i++) {
        struct job *job = job_table_at(jobs, i);
        if (job_id_has(&wanted, job->index)) {
            n_done += resize_job(call, job, &text, &err);
        }
    }
    job_answer_add(&call->answer, id, n_done > 0 ? 0 : err.code,
                   n_done > 0 ? text : err.text);
}

void job_resize_request(struct site_api *api, const struct peer *from,
                        const struct msg *msg, struct effects *effects)
{
    const struct msg_job_resize *order = &msg->job_resize;
    struct call call = {.api = api,
                        .from = from,
                        .order = order,
                        .is_admin = permission_is_admin(api->config, from),
                        .effects = effects,
                        .answer = job_answer_begin(&effects->arena)};
    resize_named(&call, order->job);
    job_answer_send(&call.answer, from, order->request, effects);
}
