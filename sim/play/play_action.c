/* SPDX-License-Identifier: Apache-2.0 */
/* play_action.c: a statement is a message of a user or an administrator, or a fault. */
#include "sim/play/play_action.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/play/play_config.h"
#include "site/config/resource_config.h"
#include "site/resource/host_resources.h"

/* A request that waits for its answer. */
struct question {
    struct play *play;
    const struct statement *statement;
};

static void take_answer(void *arg, const struct msg_reply *reply)
{
    struct question *question = arg;
    const struct statement *at = question->statement;
    struct play *play = question->play;
    const struct value *job = reply->value ? value_find(reply->value, "job") : NULL;

    if (reply->code) {
        play_state_remark(play, at->line, true, "%s: refused: %s", at->text,
                          reply->text);
    } else if (job) {
        play->job_ids[at - play->scenario->statements] = (uint64_t)job->number;
    }
}

/* Sends the message to the statement's daemon; false if it is down. */
static bool ask(struct play *play, const struct statement *at, const char *user,
                const struct msg *msg)
{
    struct question question = {.play = play, .statement = at};

    return world_client_ask(play->world, at->site, user, msg, take_answer, &question);
}

/* Sends an order of an administrator. */
static bool order(struct play *play, const struct statement *at, const struct msg *msg)
{
    return ask(play, at, at->site == SCENARIO_BROKER ? "admin" : "root", msg);
}

/* ---- jobs */

static struct msg submission(struct arena *arena, const char *name, const char *queue,
                             int n_slots, int64_t run_ms, int exit_code)
{
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};

    msg.submit.request = 1;
    msg.submit.spec = (struct job_spec){
        .name = name,
        .queue = queue,
        .command = exit_code ? arena_printf(arena, "run %" PRId64 " exit %d", run_ms,
                                            exit_code)
                             : arena_printf(arena, "run %" PRId64, run_ms),
        .user = "",
        .cwd = "/",
        .in_file = "",
        .out_file = "",
        .err_file = "",
        .n_slots = n_slots,
    };
    return msg;
}

/* "a", "a[1-9]", "a[1-9]%3" */
static const char *name_of(const struct statement_submit *submit, struct arena *arena)
{
    if (submit->count == 0) {
        return submit->name;
    }
    return submit->at_once > 0
               ? arena_printf(arena, "%s[1-%d]%%%d", submit->name, submit->count,
                              submit->at_once)
               : arena_printf(arena, "%s[1-%d]", submit->name, submit->count);
}

/* The notification command, in the syntax of executor.c. */
static const char *notification(const struct statement_submit *submit,
                                struct arena *arena)
{
    return submit->notify_ms < 0 ? ""
                                 : arena_printf(arena, "notify %" PRId64 " exit %d",
                                                submit->notify_ms, submit->notify_exit);
}

static bool submit(struct play *play, const struct play_action *action,
                   struct arena *arena)
{
    const struct statement *at = action->statement;
    const struct statement_submit *submit = &at->submit;
    bool has_slots = submit->n_slots > 0;
    struct msg msg =
        submission(arena, name_of(submit, arena), submit->queue,
                   has_slots ? submit->n_slots : 1, submit->run_ms, submit->exit_code);

    msg.submit.terms = (struct job_terms){
        .depend = submit->after ? submit->after : "",
        .depend_on = "",
        .begin_ms = submit->begin_ms > 0 ? PLAY_EPOCH_MS + submit->begin_ms : 0,
        .terminate_ms =
            submit->terminate_ms > 0 ? PLAY_EPOCH_MS + submit->terminate_ms : 0,
        .ends_orphan = submit->ends_orphan,
        .project = submit->project,
        .user_group = submit->group,
        .job_group = submit->job_group,
        .priority = submit->priority,
        .has_slots = has_slots,
        .max_slots = submit->max_slots,
        .resizable = submit->is_resizable ? RESIZABLE_AUTO : RESIZABLE_NO,
        .resize_notify = notification(submit, arena),
    };
    msg.submit.spec.run_limit_ms = submit->limit_ms;
    msg.submit.spec.is_rerunnable = submit->is_rerunnable;
    msg.submit.spec.is_exclusive = submit->is_exclusive;
    msg.submit.spec.interaction =
        submit->is_interactive ? INTERACTION_PIPES : INTERACTION_NONE;
    msg.submit.spec.app = submit->app;
    msg.submit.spec.hosts_asked = submit->hosts.words;
    msg.submit.spec.n_hosts_asked = submit->hosts.count;
    msg.submit.spec.res_reqs = &submit->res;
    msg.submit.spec.n_res_reqs = submit->res != NULL;
    return ask(play, at, submit->user, &msg);
}

/* "hpc2n:12" of hpc2n.swf, with the number in the trace. */
static const char *trace_name(struct arena *arena, const struct statement *at,
                              const struct swf_job *job)
{
    const char *path = at->workload.path, *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    return arena_printf(arena, "%.*s:%" PRId64, (int)strcspn(base, ".["), base,
                        job->number);
}

/* The queue of the statement; else that of the trace ("q1") if the site has it; else
 * the site's default. */
static const char *traced_queue(const struct play *play, const struct statement *at,
                                const struct swf_job *job)
{
    const struct site_config *config = &play->sites[at->site];

    for (int i = 0; !at->workload.queue[0] && i < config->n_queues; i++) {
        if (!strcmp(config->queues[i].name, job->queue)) {
            return job->queue;
        }
    }
    return at->workload.queue;
}

static bool submit_traced(struct play *play, const struct play_action *action,
                          struct arena *arena)
{
    const struct statement *at = action->statement;
    const struct swf_job *job = &at->workload.swf.jobs[action->swf_job];
    const char *user = at->workload.user[0] ? at->workload.user : job->user;
    struct msg msg =
        submission(arena, trace_name(arena, at, job), traced_queue(play, at, job),
                   job->n_slots, job->run_ms, 0);

    msg.submit.spec.run_limit_ms = job->limit_ms;
    return ask(play, at, user, &msg);
}

/* "2@n1", or "n1" for all slots of the job there. */
static const struct host_slots *read_slots(const struct conf_words *words,
                                           struct arena *arena)
{
    struct host_slots *hosts =
        arena_alloc(arena, (size_t)words->count + 1, sizeof *hosts);

    for (int i = 0; i < words->count; i++) {
        const char *at = strchr(words->words[i], '@');
        hosts[i].host = at ? at + 1 : words->words[i];
        if (at) {
            sscanf(words->words[i], "%d@", &hosts[i].n_slots);
        }
    }
    return hosts;
}

/* An order about a job. */
static bool order_job(struct play *play, const struct statement *at,
                      struct arena *arena)
{
    const struct statement_resize *resize = &at->resize;
    const char *id = play_state_job_id(play, at->site, at->name, arena);
    struct msg msg = {.site = ""};

    if (!id) {
        play_state_remark(play, at->line, true, "%s: refused: not submitted yet",
                          at->text);
        return true;
    }
    if (at->kind == STATEMENT_CONTROL) {
        msg.kind = MSG_JOB_CONTROL;
        msg.job_control = (struct msg_job_control){
            .request = 1, .action = at->action, .signal = 15, .jobs = &id, .n_jobs = 1};
    } else if (at->kind == STATEMENT_MOVE) {
        msg.kind = MSG_JOB_MOVE;
        msg.job_move = (struct msg_job_move){.request = 1,
                                             .move = at->move,
                                             .queue = at->queue,
                                             .jobs = &id,
                                             .n_jobs = 1};
    } else {
        msg.kind = MSG_JOB_RESIZE;
        msg.job_resize = (struct msg_job_resize){
            .request = 1,
            .order = resize->n_slots > 0       ? JOB_RESIZE_TO
                     : resize->hosts.count > 0 ? JOB_RESIZE_RELEASE
                                               : JOB_RESIZE_CANCEL,
            .n_slots = resize->n_slots,
            .hosts = read_slots(&resize->hosts, arena),
            .n_hosts = resize->hosts.count,
            .is_last = resize->is_cancel,
            .job = id};
    }
    return order(play, at, &msg);
}

/* ---- queues, hosts and leases */

static bool order_queue(struct play *play, const struct statement *at)
{
    struct msg msg = {
        .kind = MSG_QUEUE_CONTROL,
        .site = "",
        .queue_control = {.request = 1, .order = at->order, .queue = at->name}};

    return order(play, at, &msg);
}

static bool set_reclaim(struct play *play, const struct statement *at)
{
    struct msg msg = {
        .kind = MSG_SET_RECLAIM,
        .site = "",
        .set_reclaim = {
            .request = 1, .scope = at->scope, .name = at->name, .delay_ms = at->ms}};

    return order(play, at, &msg);
}

static bool order_host(struct play *play, const struct statement *at)
{
    struct msg msg = {
        .kind = MSG_HOST_CONTROL,
        .site = "",
        .host_control = {.request = 1, .host = at->name, .is_closed = at->is_on}};

    return order(play, at, &msg);
}

static bool order_job_group(struct play *play, const struct statement *at)
{
    struct msg msg = {.kind = MSG_JOB_GROUP,
                      .site = "",
                      .job_group = {.request = 1,
                                    .action = at->group_action,
                                    .path = at->name,
                                    .has_limit = true,
                                    .limit = at->number,
                                    .owner = ""}};

    return order(play, at, &msg);
}

static bool drain(struct play *play, const struct statement *at)
{
    bool is_lease = strchr(at->name, '/') != NULL;
    struct msg msg = {.kind = MSG_SET_DRAIN,
                      .site = "",
                      .set_drain = {.request = 1,
                                    .scope = is_lease ? DRAIN_LEASE : DRAIN_SITE,
                                    .name = at->name,
                                    .is_drained = at->is_on}};

    return order(play, at, &msg);
}

static bool rebalance(struct play *play, const struct statement *at)
{
    struct msg msg = {.kind = MSG_REBALANCE,
                      .site = "",
                      .rebalance = {.request = 1, .lease = at->name}};

    return order(play, at, &msg);
}

/* A note for each value that the site will not use. */
static void note_unused(struct play *play, const struct statement *at)
{
    struct resources *resources =
        resource_config_catalogue(&play->given[at->site]->resource_config);
    for (int i = 0; i < at->n_values; i++) {
        const char *name = at->values[i].name;
        const char *why = host_resources_sets(name) ? "the site sets it itself"
                          : resources_find(resources, name, strlen(name)) < 0
                              ? "the site does not define it"
                              : NULL;
        if (why != NULL) {
            play_state_remark(play, at->line, true, "%s: refused: %s: %s", at->text,
                              name, why);
        }
    }
    resources_free(resources);
}

/* Sets all values that the host reports. */
static void load(struct play *play, const struct statement *at)
{
    note_unused(play, at);
    if (!world_host_set_load(play->world, at->site, at->name, at->values,
                             at->n_values)) {
        play_state_remark(play, at->line, true, "%s: refused: no such host now",
                          at->text);
    }
}

/* ---- faults */

/* Sets the random faults from now on. */
static void set_faults(struct play *play, const struct statement *at)
{
    struct world_options *faults = &play->faults;

    switch ((int)at->kind) {
    case STATEMENT_LOSS:
        faults->loss_in_10000 = at->number;
        break;
    case STATEMENT_REPEAT:
        faults->repeat_in_10000 = at->number;
        break;
    case STATEMENT_DELAY:
        faults->delay_ms = at->ms;
        break;
    case STATEMENT_REORDER:
        faults->delay_max_ms = at->ms;
        break;
    case STATEMENT_CRASHES:
        faults->crash_in_10000 = at->number;
        faults->down_max_ms = at->ms;
        break;
    case STATEMENT_FAILURES:
        faults->host_fail_in_10000 = at->number;
        faults->host_down_max_ms = at->ms;
        break;
    case STATEMENT_BATCH:
        faults->batch_max = at->number;
        break;
    default:
        break;
    }
    world_fault_set_random(play->world, faults);
}

static void log_fault(struct play *play, const struct statement *at, const char *target)
{
    char kind[16];

    /* the verb */
    sscanf(at->text, "at %*s %15s", kind);
    event_log_fault(play->log, kind, target, world_now_ms(play->world));
}

/* Of a host. */
static void cause_host_fault(struct play *play, const struct statement *at)
{
    bool is_there =
        at->kind == STATEMENT_SLOW
            ? world_fault_slow_host(play->world, at->site, at->name, at->ms)
            : world_fault_fail_host(play->world, at->site, at->name, at->fault, at->ms);

    if (!is_there) {
        play_state_remark(play, at->line, true, "%s: refused: no such host now",
                          at->text);
    }
}

static void cause_fault(struct play *play, const struct statement *at)
{
    const char *target =
        at->site >= 0 ? play->scenario->sites[at->site].name : "broker";

    switch ((int)at->kind) {
    case STATEMENT_FAIL:
    case STATEMENT_SLOW:
        log_fault(play, at, target);
        cause_host_fault(play, at);
        break;
    case STATEMENT_PARTITION:
        log_fault(play, at, target);
        world_fault_partition(play->world, at->site, at->ms);
        break;
    case STATEMENT_CRASH:
        world_fault_crash(play->world, at->site, at->ms);
        break;
    case STATEMENT_SPLIT_BRAIN:
        log_fault(play, at, target);
        world_fault_split_brain(play->world, at->ms);
        break;
    case STATEMENT_RESTORE:
        log_fault(play, at, target);
        world_fault_restore(play->world, at->site, at->ms);
        break;
    case STATEMENT_BACKUP:
        world_fault_backup(play->world, at->site);
        break;
    default:
        log_fault(play, at, "network");
        set_faults(play, at);
        break;
    }
}

bool play_action_run(struct play *play, const struct play_action *action)
{
    const struct statement *at = action->statement;
    struct arena arena;
    bool is_done = true;

    arena_init(&arena);
    switch (at->kind) {
    case STATEMENT_SUBMIT:
        is_done = submit(play, action, &arena);
        break;
    case STATEMENT_WORKLOAD:
        is_done = submit_traced(play, action, &arena);
        break;
    case STATEMENT_CONTROL:
    case STATEMENT_MOVE:
    case STATEMENT_RESIZE:
        is_done = order_job(play, at, &arena);
        break;
    case STATEMENT_QUEUE:
        is_done = order_queue(play, at);
        break;
    case STATEMENT_RECLAIM:
        is_done = set_reclaim(play, at);
        break;
    case STATEMENT_HOST:
        is_done = order_host(play, at);
        break;
    case STATEMENT_JOB_GROUP:
        is_done = order_job_group(play, at);
        break;
    case STATEMENT_DRAIN:
        is_done = drain(play, at);
        break;
    case STATEMENT_REBALANCE:
        is_done = rebalance(play, at);
        break;
    case STATEMENT_RECOVER:
        world_fault_recover(play->world, at->site, at->is_on);
        break;
    case STATEMENT_LOAD:
        load(play, at);
        break;
    case STATEMENT_COMMAND:
        world_host_set_command(play->world, at->name, at->ms, at->number);
        break;
    case STATEMENT_SLOTS:
        is_done = play_config_resize_host(play, at);
        break;
    case STATEMENT_RELOAD:
        is_done = play_config_reload(play, at);
        break;
    case STATEMENT_BATCH:
        set_faults(play, at);
        break;
    case STATEMENT_HOUR:
        play_config_set_hour(play, at->ms);
        break;
    case STATEMENT_PARTITION:
    case STATEMENT_CRASH:
    case STATEMENT_LOSS:
    case STATEMENT_REPEAT:
    case STATEMENT_DELAY:
    case STATEMENT_REORDER:
    case STATEMENT_CRASHES:
    case STATEMENT_FAIL:
    case STATEMENT_FAILURES:
    case STATEMENT_SLOW:
    case STATEMENT_SPLIT_BRAIN:
    case STATEMENT_RESTORE:
    case STATEMENT_BACKUP:
        cause_fault(play, at);
        break;
    case STATEMENT_EXPECT:
        break;
    }
    arena_release(&arena);
    return is_done;
}
