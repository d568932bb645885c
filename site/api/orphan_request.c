/* SPDX-License-Identifier: Apache-2.0 */
/* orphan_request.c: ORPHAN: an administrator decides about runs that the journal does
 * not have: a job is made for the run, or the run is ended; and says that the loss is
 * known.
 *
 * If the journal has the run's job as one that waits, the run becomes that job's. Else
 * an adopted run is a job of its own, also if it was an element of an array. It keeps
 * the number that it had if no other job has it. What a job is not told to its host is
 * lost: its dependencies, its project, its user group. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "model/job_id.h"
#include "site/api/permission.h"
#include "site/api/site_api.h"
#include "site/lifecycle/lifecycle.h"

/* An orphan on an own host (`run`), or at a provider. */
struct orphan {
    struct run *run; /* NULL: at a provider */
    struct consumer_orphan leased;
    const char *where, *job; /* the host, or the provider; the id that it had */
    bool is_given_up;
};

static bool is_there(const char *where, const char *wanted)
{
    return wanted[0] == '\0' || strcmp(where, wanted) == 0;
}

static int find_orphan(const struct site_api *api, const struct msg_orphan *order,
                       struct orphan *orphan, struct err *err)
{
    struct run *run = run_table_find_own(runs_table(api->runs), order->attempt);
    bool is_own =
        run != NULL && run->is_orphan && is_there(run->hosts[0].host, order->host);
    bool is_leased = order->attempt > 0 &&
                     orphan_next(api->consumer, order->attempt - 1, &orphan->leased) &&
                     orphan->leased.start->run.attempt == order->attempt &&
                     is_there(orphan->leased.provider, order->host);
    unsigned long long attempt = order->attempt;
    if (!is_own && !is_leased) {
        return err_set(err, ERR_NOT_FOUND,
                       "run %llu: no such run without a job; see `sublet runs "
                       "--orphans`",
                       attempt);
    }
    if (is_own && is_leased) {
        return err_set(err, ERR_STATE,
                       "run %llu: there are two, expected %llu@%s or %llu@%s", attempt,
                       attempt, run->hosts[0].host, attempt, orphan->leased.provider);
    }
    orphan->run = is_own ? run : NULL;
    orphan->where = is_own ? run->hosts[0].host : orphan->leased.provider;
    orphan->job = is_own ? run->job : orphan->leased.start->job;
    orphan->is_given_up = is_own ? run->is_given_up : orphan->leased.is_given_up;
    return 0;
}

static int check_adoption(const struct site_api *api, const struct peer *from,
                          const struct msg_orphan *order, const struct orphan *orphan,
                          struct err *err)
{
    const struct job *other = job_table_find_attempt(api->jobs, order->attempt);
    unsigned long long attempt = order->attempt;
    if (orphan->is_given_up) {
        return err_set(err, ERR_STATE, "run %llu is being ended", attempt);
    }
    if (orphan->job[0] == '\0') {
        return err_set(err, ERR_STATE,
                       "run %llu: its sublet-host is of an earlier version and cannot "
                       "say what it runs; it can only be ended",
                       attempt);
    }
    if (other != NULL) {
        return err_set(err, ERR_STATE,
                       "run %llu: job <%s> has this number now; the run can only be "
                       "ended",
                       attempt, other->spec->name);
    }
    /* What a provider says is not proven, and output is written as that user. */
    if (orphan->run == NULL && orphan->leased.start->spec.uid == 0 && from->uid != 0) {
        return err_set(err, ERR_DENIED,
                       "run %llu: %s says that it is root's: only root may adopt it",
                       attempt, orphan->where);
    }
    return 0;
}

static void store_counter(const char *name, uint64_t value, struct effects *effects)
{
    effects_store(effects, &(struct row){.kind = ROW_COUNTER,
                                         .counter = {.name = name, .value = value}});
}

/* Its former number, or a new one. */
static uint64_t choose_id(const struct site_api *api, const char *former,
                          struct effects *effects)
{
    uint64_t id = strtoull(former, NULL, 10);
    int place = job_table_index_of(api->jobs, id);
    bool is_taken =
        place < job_table_count(api->jobs) && job_table_at(api->jobs, place)->id == id;
    if (id == 0 || id > *api->last_job || is_taken) {
        id = ++*api->last_job;
        store_counter("job", id, effects);
    }
    return id;
}

static struct host_slots *name_hosts(struct arena *arena, const struct orphan *orphan,
                                     int *n_hosts)
{
    bool is_own = orphan->run != NULL;
    const struct host_slots *from =
        is_own ? orphan->run->hosts : orphan->leased.start->hosts;
    *n_hosts = is_own ? orphan->run->n_hosts : orphan->leased.start->n_hosts;
    struct host_slots *hosts = arena_alloc(arena, (size_t)*n_hosts, sizeof(*hosts));
    for (int i = 0; i < *n_hosts; i++) {
        hosts[i].n_slots = from[i].n_slots;
        hosts[i].host = is_own ? arena_str(arena, from[i].host)
                               : arena_printf(arena, "%s@%s", from[i].host,
                                              orphan->leased.provider);
    }
    return hosts;
}

/* The job that the run was started for, if the journal still has it as one that has not
 * started; else NULL. The number alone may be that of another job. */
static struct job *find_waiting(const struct site_api *api, const char *id,
                                uint64_t nonce)
{
    struct job *job = id[0] != '\0' ? job_table_lookup(api->jobs, id) : NULL;
    bool is_it = job != NULL && job->submission->row->nonce == nonce &&
                 job->attempt == 0 && !job_is_ended(job);
    return is_it ? job : NULL;
}

static struct job *add_job(struct site_api *api, const struct orphan *orphan,
                           const struct run_id *id, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const struct run *run = orphan->run;
    struct row_job row = {
        .id = choose_id(api, orphan->job, effects),
        .nonce = id->nonce,
        .submit_ms = api->now_ms,
        .spec = run != NULL ? *run->spec : orphan->leased.start->spec,
        .terms = {.depend = "",
                  .depend_on = "",
                  .project = "",
                  .has_slots = true,
                  .user_group = "",
                  .resize_notify = ""},
    };
    row.spec.name = arena_strn(arena, row.spec.name, strcspn(row.spec.name, "["));
    struct job *job = job_table_add_array(api->jobs, &row, (const int[]){0}, 1);
    job_store_spec(job, effects);
    return job;
}

/* The job of the run, on record before anything is reported about it. */
static struct job *make_job(struct site_api *api, const struct orphan *orphan,
                            struct effects *effects)
{
    const struct run *run = orphan->run;
    const struct msg_start *start = orphan->leased.start;
    const struct run_id *id = run != NULL ? &run->id : &start->run;
    struct place_start place = {.lease = run != NULL ? "" : start->lease};
    place.hosts = name_hosts(&effects->arena, orphan, &place.n_hosts);
    struct job *job = find_waiting(api, orphan->job, id->nonce);
    if (job == NULL) {
        job = add_job(api, orphan, id, effects);
    }
    job_table_begin(api->jobs, job, id->attempt, place.lease,
                    run != NULL ? 0 : start->epoch, &place, "");
    job->is_decided = true;
    job->control.number = run != NULL ? run->control_done : orphan->leased.control_done;
    if ((run != NULL ? run->phase : orphan->leased.phase) == RUN_SUSPENDED) {
        /* By what is lost: it is resumed when it can have its slots. */
        job->control.action = CONTROL_SUSPEND;
        job->control.yields = true;
        job->suspension.causes = SUSPEND_PREEMPT;
        job->suspension.yields = true;
    }
    job_store(job, effects);
    return job;
}

static void adopt(struct site_api *api, const struct peer *from,
                  const struct msg_orphan *order, const struct orphan *orphan,
                  struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const char *where = arena_str(arena, orphan->where);
    const struct job *job = make_job(api, orphan, effects);
    struct value *value = value_object(arena);
    uint64_t id = job->id;
    if (orphan->run != NULL) {
        runs_orphan_adopt(api->runs, orphan->run, api->now_ms, effects);
    } else {
        orphan_adopt(api->consumer, order->attempt, api->now_ms);
    }
    value_add_int(arena, value, "job", (int64_t)id);
    effects_reply(effects, from, order->request,
                  arena_printf(arena, "Run %llu on %s is job <%llu> now.",
                               (unsigned long long)order->attempt, where,
                               (unsigned long long)id),
                  value, "");
}

static void end(struct site_api *api, const struct peer *from,
                const struct msg_orphan *order, const struct orphan *orphan,
                struct effects *effects)
{
    struct arena *arena = &effects->arena;
    const char *where = arena_str(arena, orphan->where);
    if (orphan->run != NULL) {
        runs_orphan_end(api->runs, orphan->run, effects);
    } else {
        orphan_end(api->consumer, order->attempt, api->now_ms, effects);
    }
    effects_reply(effects, from, order->request,
                  arena_printf(arena, "Run %llu on %s is being ended.",
                               (unsigned long long)order->attempt, where),
                  NULL, "");
}

/* A run whose job waits by the journal: the job would run twice. */
static int check_waiting(const struct site_api *api, struct err *err)
{
    static const char words[] = "run %llu on %s is that of job <%s>, which waits here: "
                                "adopt or end the run first";
    const struct run_table *table = runs_table(api->runs);
    struct consumer_orphan leased;
    uint64_t after = 0;
    for (int i = 0; i < run_table_count(table); i++) {
        const struct run *run = run_table_at(table, i);
        if (run != NULL && run->is_orphan &&
            find_waiting(api, run->job, run->id.nonce) != NULL) {
            return err_set(err, ERR_STATE, words, (unsigned long long)run->id.attempt,
                           run->hosts[0].host, run->job);
        }
    }
    while (orphan_next(api->consumer, after, &leased)) {
        after = leased.start->run.attempt;
        if (find_waiting(api, leased.start->job, leased.start->run.nonce) != NULL) {
            return err_set(err, ERR_STATE, words, (unsigned long long)after,
                           leased.provider, leased.start->job);
        }
    }
    return 0;
}

static void accept_loss(struct site_api *api, const struct peer *from,
                        const struct msg_orphan *order, struct effects *effects)
{
    struct err err;
    int code = check_waiting(api, &err);
    if (code != 0) {
        effects_reply_error(effects, from, order->request, code, "%s", err.text);
        return;
    }
    journal_loss_accept(api->loss, effects);
    pass_request_set(api->pass_request);
    effects_reply(effects, from, order->request,
                  "The loss of the journal is accepted: jobs that waited for this may "
                  "start, and runs that are found later are listed as before.",
                  NULL, "");
}

void orphan_request(struct site_api *api, const struct peer *from,
                    const struct msg *msg, struct effects *effects)
{
    const struct msg_orphan *order = &msg->orphan;
    struct orphan orphan;
    struct err err;
    int code = 0;
    if (!permission_is_admin(api->config, from)) {
        code = err_set(&err, ERR_DENIED,
                       "only an administrator of the site may decide about runs that "
                       "its journal does not have");
    } else if (order->order == ORPHAN_ACCEPT_LOSS) {
        accept_loss(api, from, order, effects);
        return;
    } else {
        code = find_orphan(api, order, &orphan, &err);
    }
    if (code == 0 && order->order == ORPHAN_ADOPT) {
        code = check_adoption(api, from, order, &orphan, &err);
    }
    if (code != 0) {
        effects_reply_error(effects, from, order->request, code, "%s", err.text);
        return;
    }
    pass_request_set(api->pass_request);
    (order->order == ORPHAN_ADOPT ? adopt : end)(api, from, order, &orphan, effects);
}
