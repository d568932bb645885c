/* SPDX-License-Identifier: Apache-2.0 */
/* job_modify.c: JOB_MODIFY: a job gets other options (bmod): one that waits nearly
 * all of them, one that has started other limits and reservations. */
#include "site/api/site_api.h"

#include <string.h>

#include "model/job_id.h"
#include "model/job_rlimit.h"
#include "site/api/job_answer.h"
#include "site/api/permission.h"
#include "site/config/site_config.h"
#include "site/job/history.h"
#include "site/job/job_group.h"
#include "site/ledger/site_ledger.h"
#include "site/lifecycle/lifecycle.h"
#include "site/pass/capacity.h"

static bool has(const struct msg_job_modify *modify, enum job_field field)
{
    return (modify->fields >> field & 1) != 0;
}

/* ---------------------------------------------------------------- which job */

/* What a job that has started can take: its host is told of limits, and a limit cannot
 * be taken away there. What it reserves on borrowed hosts its provider has on record.
 */
static bool suits_started(const struct msg_job_modify *modify, const struct job *job)
{
    const uint64_t fields =
        UINT64_C(1) << JOB_FIELD_RUN_LIMIT | UINT64_C(1) << JOB_FIELD_RERUNNABLE |
        (job->lease[0] == '\0' ? UINT64_C(1) << JOB_FIELD_RES_REQS : 0);
    struct job_rlimits limits;
    const struct job_spec *to = &modify->to.spec;
    return (modify->fields & ~fields) == 0 &&
           (modify->limits & ~(UINT64_C(1) << JOB_RLIMIT_MEM)) == 0 &&
           (!has(modify, JOB_FIELD_RUN_LIMIT) || to->run_limit_ms > 0) &&
           (modify->limits == 0 ||
            (job_rlimits_read(to->limits, to->n_limits, &limits, NULL) == 0 &&
             limits.values[JOB_RLIMIT_MEM] != JOB_RLIMIT_NONE));
}

/* What the job's user runs, reads and writes. */
static bool changes_what_runs(const struct msg_job_modify *modify)
{
    static const enum job_field fields[] = {
        JOB_FIELD_COMMAND, JOB_FIELD_CWD, JOB_FIELD_IN,        JOB_FIELD_OUT,
        JOB_FIELD_ERR,     JOB_FIELD_ENV, JOB_FIELD_PRE_EXECS, JOB_FIELD_POST_EXECS};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (has(modify, fields[i])) {
            return true;
        }
    }
    return false;
}

static int check_job(const struct site_api *api, const struct peer *from,
                     const struct msg_job_modify *modify, const struct job *job,
                     struct err *err)
{
    int code = job_answer_check(api, from, job, err);
    if (code != 0) {
        return code;
    }
    if (from->uid != job->spec->uid && changes_what_runs(modify) &&
        !permission_is_admin(api->config, from)) {
        return err_set(err, ERR_DENIED,
                       "user permission denied: only %s or an administrator of the "
                       "site may change what the job runs, reads and writes",
                       job->spec->user);
    }
    if (job->is_killed || (job->attempt != 0 && job->control.number != 0 &&
                           job->control.action == CONTROL_KILL)) {
        return err_set(err, ERR_STATE, "job is being terminated");
    }
    if (job->attempt != 0 && !suits_started(modify, job)) {
        return err_set(err, ERR_STATE,
                       "%s has started%s: only its run limit (-W), its memory limit "
                       "(-M)%s and -r can be changed",
                       job->index != 0 ? "an element of the array" : "job",
                       job->lease[0] != '\0' ? " on borrowed hosts" : "",
                       job->lease[0] != '\0' ? "" : ", its requirements (-R)");
    }
    return job->spec->interaction == INTERACTION_NONE
               ? 0
               : err_set(err, ERR_STATE, "an interactive job is not modified");
}

/* The first job that is meant and has not ended; NULL, and an error, if it may not be
 * changed. All elements of an array have one spec. `*has_started`: one of them. */
static const struct job *find(const struct site_api *api, const struct peer *from,
                              const struct msg_job_modify *modify, struct arena *arena,
                              bool *has_started, struct err *err)
{
    const struct job_table *jobs = api->jobs;
    struct job_id wanted;
    int first, end;
    if (job_id_read(arena, modify->job, &wanted, NULL) != 0 ||
        (end = job_answer_find_end(jobs, &wanted, &first)) == first) {
        err_set(err, ERR_NOT_FOUND, "No matching job found");
        return NULL;
    }
    if (wanted.n_ranges > 0) {
        err_set(err, ERR_STATE,
                "an element is not modified alone, expected the whole array, <%llu>",
                (unsigned long long)wanted.number);
        return NULL;
    }
    while (first < end - 1 && job_is_ended(job_table_at_const(jobs, first))) {
        first++;
    }
    *has_started = false;
    for (int i = first; i < end; i++) {
        const struct job *job = job_table_at_const(jobs, i);
        if (i > first && job_is_ended(job)) {
            continue;
        }
        if (check_job(api, from, modify, job, err) != 0) {
            return NULL;
        }
        *has_started = *has_started || job->attempt != 0;
        if (strcmp(job_queue_name(job),
                   job_queue_name(job_table_at_const(jobs, first))) != 0) {
            err_set(err, ERR_STATE,
                    "its elements wait in several queues, switch them to one before");
            return NULL;
        }
    }
    return job_table_at_const(jobs, first);
}

/* ---------------------------------------------------------------- what it becomes */

/* The indices of an array stay; "%3" is another bound of running elements. */
static int change_name(const struct job *job, struct arena *arena, const char *name,
                       struct job_spec *spec, struct err *err)
{
    const char *own = job->spec->name;
    if (job->index == 0 && !job_id_is_array_name(name)) {
        spec->name = name[0] == '%' ? own : name;
        return 0;
    }
    if (job->index != 0 && name[0] == '%') {
        size_t length = (size_t)(strchr(own, ']') - own) + 1;
        spec->name = arena_printf(arena, "%.*s%s", (int)length, own, name);
        struct job_id list;
        return job_id_read_name(arena, spec->name, JOB_INDEX_MAX, &list, err);
    }
    return err_set(err, ERR_STATE,
                   "-J %s: the elements of a job do not change, expected %s", name,
                   job->index != 0 ? "\"%N\", the number that run at a time"
                                   : "a name without [...]");
}

static void change_spec(const struct msg_job_modify *modify, struct job_spec *spec)
{
    const struct job_spec *to = &modify->to.spec;
#define CHANGE(field, name) spec->name = has(modify, field) ? to->name : spec->name
    CHANGE(JOB_FIELD_QUEUE, queue);
    CHANGE(JOB_FIELD_COMMAND, command);
    CHANGE(JOB_FIELD_CWD, cwd);
    CHANGE(JOB_FIELD_IN, in_file);
    CHANGE(JOB_FIELD_OUT, out_file);
    CHANGE(JOB_FIELD_OUT, replaces_out);
    CHANGE(JOB_FIELD_OUT, report_ms);
    CHANGE(JOB_FIELD_ERR, err_file);
    CHANGE(JOB_FIELD_ERR, replaces_err);
    CHANGE(JOB_FIELD_ENV, env);
    CHANGE(JOB_FIELD_ENV, n_env);
    CHANGE(JOB_FIELD_SLOTS, n_slots);
    CHANGE(JOB_FIELD_HOSTS, hosts_asked);
    CHANGE(JOB_FIELD_HOSTS, n_hosts_asked);
    CHANGE(JOB_FIELD_RES_REQS, res_reqs);
    CHANGE(JOB_FIELD_RES_REQS, n_res_reqs);
    CHANGE(JOB_FIELD_RUN_LIMIT, run_limit_ms);
    CHANGE(JOB_FIELD_RERUNNABLE, is_rerunnable);
    CHANGE(JOB_FIELD_EXCLUSIVE, is_exclusive);
    CHANGE(JOB_FIELD_APP, app);
    CHANGE(JOB_FIELD_PRE_EXECS, pre_execs);
    CHANGE(JOB_FIELD_PRE_EXECS, n_pre_execs);
    CHANGE(JOB_FIELD_POST_EXECS, post_execs);
    CHANGE(JOB_FIELD_POST_EXECS, n_post_execs);
    CHANGE(JOB_FIELD_WARNING, controls);
    CHANGE(JOB_FIELD_WARNING, n_controls);
#undef CHANGE
}

/* The condition is resolved again only if it is another one: its jobs may be gone. */
static void change_terms(const struct msg_job_modify *modify, struct job_terms *terms)
{
    const struct job_terms *to = &modify->to.terms;
#define CHANGE(field, name) terms->name = has(modify, field) ? to->name : terms->name
    terms->depend = has(modify, JOB_FIELD_DEPEND) ? to->depend : "";
    CHANGE(JOB_FIELD_SLOTS, has_slots);
    CHANGE(JOB_FIELD_SLOTS, max_slots);
    CHANGE(JOB_FIELD_BEGIN, begin_ms);
    CHANGE(JOB_FIELD_PROJECT, project);
    CHANGE(JOB_FIELD_PRIORITY, priority);
    CHANGE(JOB_FIELD_RUN_LIMIT, run_limit_host);
    CHANGE(JOB_FIELD_GROUP, user_group);
    CHANGE(JOB_FIELD_DESCRIPTION, description);
    CHANGE(JOB_FIELD_JOB_GROUP, job_group);
    CHANGE(JOB_FIELD_TERMINATE, terminate_ms);
    CHANGE(JOB_FIELD_ORPHAN, ends_orphan);
    CHANGE(JOB_FIELD_REQUEUE, requeue_codes);
#undef CHANGE
}

static int change_limits(const struct msg_job_modify *modify, struct arena *arena,
                         struct job_spec *spec, struct err *err)
{
    struct job_rlimits limits, to;
    const struct job_spec *other = &modify->to.spec;
    int code = job_rlimits_read(spec->limits, spec->n_limits, &limits, err);
    if (code == 0) {
        code = job_rlimits_read(other->limits, other->n_limits, &to, err);
    }
    for (int i = 0; code == 0 && i < JOB_RLIMITS; i++) {
        if ((modify->limits >> i & 1) != 0) {
            limits.values[i] = to.values[i];
            limits.cpu_host = i == JOB_RLIMIT_CPU ? to.cpu_host : limits.cpu_host;
        }
    }
    if (code == 0) {
        spec->n_limits = job_rlimits_write(arena, &limits, &spec->limits);
    }
    return code;
}

/* The same checks as at submission. */
static int check_requirements(const struct site_api *api, struct arena *arena,
                              int queue, const struct row_job *row, struct err *err)
{
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    if (resreq_cache_check(api->resreq_cache, queue, &row->spec, row->terms.max_slots,
                           &notes, &fault) != 0) {
        return err_set(err, ERR_PARSE, "%s %s", fault.text, fault.hint);
    }
    bool has_alternatives =
        row->terms.resizable != RESIZABLE_NO &&
        resreq_cache_forbids_resize(api->resreq_cache, arena, queue, &row->spec);
    return has_alternatives
               ? err_set(err, ERR_PARSE,
                         "a resizable job may not have alternative or compound "
                         "resource requirements or affinity, expected a simple one")
               : 0;
}

/* MAX_PEND_SLOTS, if the elements that wait ask for more slots than they did. */
static int check_slots(const struct site_api *api, const struct peer *owner,
                       const struct row_job *row, struct err *err)
{
    int64_t n_more = 0;
    int end = job_table_count(api->jobs);
    for (int i = job_table_index_of(api->jobs, row->id); i < end; i++) {
        const struct job *job = job_table_at_const(api->jobs, i);
        if (job->id != row->id) {
            break;
        }
        if (job->state == JOB_PEND || job->state == JOB_PSUSP) {
            n_more += (int64_t)row->spec.n_slots - job->spec->n_slots;
        }
    }
    return n_more > 0 ? submit_bounds_slots(api, owner, n_more, err) : 0;
}

/* A job that has started: its queue may be closed by now, and its hosts gone. */
static int check_started(const struct site_api *api,
                         const struct msg_job_modify *modify, const struct job *job,
                         uint64_t bare_limits, struct arena *arena, struct row_job *row,
                         struct err *err)
{
    struct resreq_rusages unused;
    int code = submit_check_rules(api, job->queue, bare_limits, arena, &row->spec,
                                  &row->terms, err);
    if (code != 0 || !has(modify, JOB_FIELD_RES_REQS)) {
        return code;
    }
    if (job->queue < 0) {
        return err_set(err, ERR_STATE, "queue %s is not configured any more",
                       job_queue_name(job));
    }
    code = check_requirements(api, arena, job->queue, row, err);
    if (code == 0) {
        code = resreq_cache_rusage(api->resreq_cache, arena, job->queue, job->spec,
                                   &unused, err);
    }
    return code != 0 ? code
                     : resreq_cache_rusage(api->resreq_cache, arena, job->queue,
                                           &row->spec, &unused, err);
}

static int change(const struct site_api *api, const struct peer *from,
                  const struct msg_job_modify *modify, const struct job *job,
                  bool has_started, struct arena *arena, struct row_job *row,
                  struct err *err)
{
    const struct job_terms before = row->terms;
    struct peer owner = *from;
    int queue;
    owner.name = row->spec.user;
    owner.uid = row->spec.uid;
    row->spec.queue = job_queue_name(job);
    change_spec(modify, &row->spec);
    change_terms(modify, &row->terms);
    int code = has(modify, JOB_FIELD_NAME)
                   ? change_name(job, arena, modify->to.spec.name, &row->spec, err)
                   : 0;
    if (code == 0) {
        code = change_limits(modify, arena, &row->spec, err);
    }
    uint64_t bare_limits = modify->to.bare_limits & modify->limits;
    if (code == 0 && has_started) {
        row->terms.depend = before.depend;
        return check_started(api, modify, job, bare_limits, arena, row, err);
    }
    if (code == 0) {
        code = submit_check(api, &owner, bare_limits, arena, row, &queue, err);
    }
    if (code == 0) {
        code = check_slots(api, &owner, row, err);
    }
    if (code != 0) {
        return code;
    }
    if (!has(modify, JOB_FIELD_DEPEND)) {
        row->terms.depend = before.depend;
        row->terms.depend_on = before.depend_on;
    }
    if (submit_check_orphan(&row->terms, err) != 0) {
        return err->code;
    }
    return check_requirements(api, arena, queue, row, err);
}

/* ---------------------------------------------------------------- the request */

/* The new limits of a job that runs, as the rules of its queue have left them. */
static void tell_host(struct site_api *api, const struct msg_job_modify *modify,
                      struct job *job, struct effects *effects)
{
    struct job_rlimits limits = job_rlimits_none();
    bool has_limit = has(modify, JOB_FIELD_RUN_LIMIT) || modify->limits != 0;
    if (job->attempt == 0 || !has_limit ||
        job_rlimits_read(job->spec->limits, job->spec->n_limits, &limits, NULL) != 0) {
        return;
    }
    int64_t mem_kib = limits.values[JOB_RLIMIT_MEM];
    lifecycle_change_limits(api->life, job, has(modify, JOB_FIELD_RUN_LIMIT),
                            modify->limits != 0 && mem_kib != JOB_RLIMIT_NONE ? mem_kib
                                                                              : 0,
                            api->now_ms, effects);
}

/* What such a job reserves once it runs: in the scopes of the site, as at dispatch. */
static const char *reserved_text(const struct site_api *api, struct arena *arena,
                                 int queue, const struct job_spec *spec)
{
    struct resreq_rusages rusages;
    struct err err;
    int n_hosts;
    if (resreq_cache_rusage(api->resreq_cache, arena, queue, spec, &rusages, &err) !=
        0) {
        return "";
    }
    const struct place_host *hosts =
        capacity_hosts(api->capacity, arena, api->local_ms, &n_hosts);
    struct rusage_pass *pass =
        rusage_pass_new(api->rusage_sources, arena, hosts, n_hosts, api->now_ms);
    return rusage_pass_text(pass, arena, rusage_pass_requests(pass, &rusages));
}

void job_modify_request(struct site_api *api, const struct peer *from,
                        const struct msg *msg, struct effects *effects)
{
    const struct msg_job_modify *modify = &msg->job_modify;
    struct arena *arena = &effects->arena;
    struct err err;
    bool has_started;
    const struct job *job = find(api, from, modify, arena, &has_started, &err);
    struct row_job row;
    if (job != NULL) {
        row = *job->submission->row;
    }
    if (job == NULL ||
        change(api, from, modify, job, has_started, arena, &row, &err) != 0 ||
        submit_bounds_size(api, from, &row, 0, &err) != 0) {
        effects_reply_error(effects, from, modify->request, err.code,
                            "Job <%s>: %s. Job not modified.", modify->job, err.text);
        return;
    }
    job_group_obtain(job_table_groups(api->jobs), row.terms.job_group, row.spec.user,
                     effects);
    const char *reserved = has_started && has(modify, JOB_FIELD_RES_REQS)
                               ? reserved_text(api, arena, job->queue, &row.spec)
                               : NULL;
    job_table_modify(api->jobs, &row);
    int end = job_table_count(api->jobs), at = job_table_index_of(api->jobs, row.id);
    job_store_spec(job_table_at_const(api->jobs, at), effects);
    for (; at < end && job_table_at_const(api->jobs, at)->id == row.id; at++) {
        struct job *changed = job_table_at(api->jobs, at);
        if (job_is_ended(changed)) {
            continue;
        }
        if (reserved != NULL && changed->attempt != 0) {
            job_table_reserve(api->jobs, changed, reserved);
        }
        job_store(changed, effects);
        tell_host(api, modify, changed, effects);
        history_modified(api->history, changed, effects);
    }
    pass_request_set(api->pass_request);
    effects_reply(
        effects, from, modify->request,
        arena_printf(arena, "Parameters of job <%s> are being changed", modify->job),
        NULL, "");
}
