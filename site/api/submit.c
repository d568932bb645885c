/* SPDX-License-Identifier: Apache-2.0 */
/* submit.c: SUBMIT: checks of a submission, and the job that it becomes. */
#include "site/api/site_api.h"

#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "model/job_id.h"
#include "model/record.h"
#include "sched/pending/pending.h"
#include "site/api/permission.h"
#include "site/config/site_config.h"
#include "site/job/job_group.h"

enum { NAMED_JOBS_MAX = 1000 }; /* jobs that one name in a dependency may stand for */

/* Its index; -1: there is none. */
static int find_queue(const struct site_api *api, const char *name)
{
    if (name[0] == '\0') {
        name = api->config->default_queue != NULL ? api->config->default_queue : "";
    }
    return queue_table_find(api->queues, name);
}

static int check_host(const struct site_api *api, const char *name, struct err *err)
{
    if (strchr(name, '@') == NULL) {
        return host_table_find(api->hosts, name) >= 0
                   ? 0
                   : err_set(err, ERR_NOT_FOUND, "%s: no such host, see `sublet hosts`",
                             name);
    }
    for (int i = 0; i < consumer_count_hosts(api->consumer); i++) {
        struct consumer_host host;
        consumer_host_at(api->consumer, i, &host);
        if (host.is_made && strcmp(host.name, name) == 0) {
            return 0;
        }
    }
    return err_set(
        err, ERR_NOT_FOUND,
        "%s: not borrowed now; a borrowed host can be named once its lease is "
        "made, see `sublet hosts`",
        name);
}

/* Input files are not copied to other sites. */
static int check_input(const struct site_api *api, const struct queue_config *queue,
                       const struct job_spec *spec, struct err *err)
{
    int preference;
    bool is_possible = !job_reads_file(spec);
    for (int i = 0; !is_possible && i < host_table_count(api->hosts); i++) {
        is_possible =
            queue_allows(queue, host_table_name(api->hosts, i), "", &preference);
    }
    return is_possible ? 0
                       : err_set(err, ERR_STATE,
                                 "-i %s: input files are read on the site's own hosts, "
                                 "and queue <%s> has none of them",
                                 spec->in_file, queue->name);
}

/* Hosts that -m names have to exist now. */
static int check_asked(const struct site_api *api, struct arena *arena,
                       const struct job_spec *spec, struct err *err)
{
    struct host_list asked = {.n_terms = 0};
    int code = 0;
    if (spec->n_hosts_asked > 0) {
        code = host_list_parse(arena, &api->config->groups, spec->hosts_asked,
                               spec->n_hosts_asked, &asked, err);
    }
    for (int i = 0; code == 0 && i < asked.n_terms; i++) {
        const struct queue_term *term = &asked.terms[i];
        if (term->kind == QUEUE_HOST || term->kind == QUEUE_HOST_AT) {
            code = check_host(api, term->name, err);
        }
    }
    return code;
}

static int check_user(const struct site_api *api, const struct peer *from,
                      struct err *err)
{
    int64_t daemon = api->config->daemon_uid;
    if (daemon == 0 || from->uid == daemon) {
        return 0;
    }
    return err_set(err, ERR_DENIED,
                   "user %s cannot run jobs here: the site runs as another user, and "
                   "only as root could it run jobs of others",
                   from->name);
}

/* Looks up the jobs that a dependency names, by job name or id. */
struct job_search {
    struct arena *arena;
    const struct site_api *api;
    const struct peer *from;
};

static bool is_searched(const struct job_search *search, const struct job *job,
                        const char *name, size_t length, bool is_prefix)
{
    const char *own = job->spec->name;
    size_t own_length = strcspn(own, job->index != 0 ? "[" : "");
    if (job->spec->uid != search->from->uid) {
        return false;
    }
    return is_prefix ? own_length >= length && strncmp(own, name, length) == 0
                     : own_length == length && strncmp(own, name, length) == 0;
}

static int search_jobs(void *arg, const char *name, const uint64_t **ids)
{
    const struct job_search *search = arg;
    const struct job_table *jobs = search->api->jobs;
    size_t length = strlen(name);
    bool is_prefix = length > 0 && name[length - 1] == '*';
    struct job_id id;
    uint64_t *found;
    int count = 0;
    if (job_id_read(search->arena, name, &id, NULL) == 0 && id.n_ranges == 0) {
        int place = job_table_index_of(jobs, id.number);
        bool is_known = place < job_table_count(jobs) &&
                        job_table_at_const(jobs, place)->id == id.number;
        found = arena_alloc(search->arena, 1, sizeof(*found));
        found[0] = id.number;
        *ids = found;
        return is_known;
    }
    found = arena_alloc(search->arena, NAMED_JOBS_MAX, sizeof(*found));
    for (int i = 0; i < job_table_count(jobs) && count < NAMED_JOBS_MAX; i++) {
        const struct job *job = job_table_at_const(jobs, i);
        bool is_new = count == 0 || found[count - 1] != job->id;
        if (is_new && is_searched(search, job, name, length - is_prefix, is_prefix)) {
            found[count++] = job->id;
        }
    }
    *ids = found;
    return count;
}

/* -t and -Q. */
static int check_ends(const struct site_api *api, struct arena *arena,
                      const struct job_spec *spec, struct job_terms *terms,
                      struct err *err)
{
    struct job_rules rules;
    terms->requeue_codes = terms->requeue_codes != NULL ? terms->requeue_codes : "";
    if (terms->terminate_ms != 0 &&
        terms->terminate_ms <= api->now_ms + spec->run_limit_ms) {
        return spec->run_limit_ms > 0
                   ? err_set(err, ERR_BOUNDS,
                             "-t: the termination time leaves no room for the run "
                             "limit of %lld minutes",
                             (long long)(spec->run_limit_ms / 60000))
                   : err_set(err, ERR_BOUNDS, "-t: the termination time has passed");
    }
    return job_rules_read_requeue(arena, terms->requeue_codes, &rules, err) == 0
               ? 0
               : err_set(err, ERR_PARSE, "-Q: %s", arena_str(arena, err->text));
}

static int check_terms(const struct site_api *api, const struct peer *from,
                       bool is_array, struct arena *arena, const struct job_spec *spec,
                       struct job_terms *terms, struct err *err)
{
    struct job_search search = {arena, api, from};
    int max_priority = api->config->max_user_priority;
    terms->depend = terms->depend != NULL ? terms->depend : "";
    terms->depend_on = "";
    if (terms->priority > max_priority) {
        return max_priority > 0
                   ? err_set(err, ERR_BOUNDS, "-sp %lld: expected 1 to %d",
                             (long long)terms->priority, max_priority)
                   : err_set(err, ERR_STATE,
                             "-sp: priorities of users are not enabled, expected "
                             "MAX_USER_PRIORITY in section Parameters");
    }
    if (terms->priority == 0) {
        terms->priority = (max_priority + 1) / 2;
    }
    if (check_ends(api, arena, spec, terms, err) != 0) {
        return err->code;
    }
    if (!is_array && strstr(terms->depend, "[*]") != NULL) {
        return err_set(
            err, ERR_PARSE,
            "Bad dependency condition: [*] is the element with the job's own "
            "index, and the job is no array, expected the array as a whole");
    }
    return terms->depend[0] == '\0' ? 0
                                    : depend_resolve(arena, terms->depend, search_jobs,
                                                     &search, &terms->depend_on, err);
}

/* Sizes without a unit are in the site's unit (LSF_UNIT_FOR_LIMITS). */
static int read_bare_limits(const struct site_api *api, uint64_t bare,
                            struct arena *arena, struct job_spec *spec, struct err *err)
{
    struct job_rlimits limits;
    int64_t unit_kib = api->config->limit_unit_kib;
    int code = job_rlimits_read(spec->limits, spec->n_limits, &limits, err);
    for (int i = 0; code == 0 && i < JOB_RLIMITS; i++) {
        bool is_bare = (bare >> i & 1) != 0 && limits.values[i] != JOB_RLIMIT_NONE;
        if (is_bare && job_rlimit_kinds[i].unit == JOB_RLIMIT_SIZE_KIB) {
            limits.values[i] = job_rlimit_scale(limits.values[i], unit_kib);
        }
    }
    if (code == 0) {
        spec->n_limits = job_rlimits_write(arena, &limits, &spec->limits);
    }
    return code;
}

static int check_application(const struct site_api *api, struct job_spec *spec,
                             struct err *err)
{
    const struct site_config *config = api->config;
    if (spec->app == NULL || spec->app[0] == '\0') {
        spec->app = config->default_application;
    }
    if (spec->app[0] != '\0' &&
        application_find(config->applications, config->n_applications, spec->app) ==
            NULL) {
        return err_set(err, ERR_NOT_FOUND, "%s: No such application profile",
                       spec->app);
    }
    return 0;
}

/* -ar, or RESIZABLE_JOBS of the application profile. */
static int check_resizable(const struct site_api *api, const struct job_spec *spec,
                           struct job_terms *terms, struct err *err)
{
    const struct site_config *config = api->config;
    const struct application *app =
        application_find(config->applications, config->n_applications, spec->app);
    terms->resize_notify = terms->resize_notify != NULL ? terms->resize_notify : "";
    if (terms->resizable != RESIZABLE_NO && app != NULL && app->forbids_resize) {
        return err_set(err, ERR_STATE,
                       "-ar: application profile <%s> does not allow resizable jobs "
                       "(RESIZABLE_JOBS = N)",
                       app->name);
    }
    if (app != NULL && app->resizable > terms->resizable) {
        terms->resizable = app->resizable;
    }
    if (terms->resize_notify[0] != '\0' && terms->resizable == RESIZABLE_NO) {
        return err_set(err, ERR_STATE,
                       "-rnc: the job is not resizable, expected -ar, or an "
                       "application profile with RESIZABLE_JOBS = Y or auto");
    }
    return 0;
}

int submit_check_rules(const struct site_api *api, int queue, uint64_t bare_limits,
                       struct arena *arena, struct job_spec *spec,
                       struct job_terms *terms, struct err *err)
{
    int code = check_application(api, spec, err);
    if (code == 0) {
        code = read_bare_limits(api, bare_limits, arena, spec, err);
    }
    if (code != 0) {
        return code;
    }
    struct job_rules rules;
    struct job_rules_stack stack =
        site_config_rules_stack(api->config, queue, spec->app);
    job_rules_merge(&stack, &rules);
    spec->is_rerunnable = spec->interaction == INTERACTION_NONE &&
                          (spec->is_rerunnable || rules.rerunnable == 1);
    return job_rules_check(&stack, spec, terms, err);
}

/* -G: the user group whose fairshare account is charged. */
static int check_group(const struct site_api *api, const char *user, const char *group,
                       struct err *err)
{
    if (group[0] == '\0') {
        return 0;
    }
    if (group[0] == '~') {
        return err_set(err, ERR_UNBUILT,
                       "-G %s: to leave groups out is not supported yet, expected one "
                       "group",
                       group);
    }
    const struct name_group *found = groups_find_users(&api->config->groups, group);
    if (found == NULL) {
        return err_set(err, ERR_NOT_FOUND,
                       "%s: No such user group, expected one of section UserGroup",
                       group);
    }
    return groups_has(&found->members, user)
               ? 0
               : err_set(err, ERR_DENIED,
                         "%s: User %s is not a member of the user group", group, user);
}

/* -g, else DEFAULT_JOBGROUP: %u is the user, %p the project. */
static int check_job_group(const struct site_api *api, struct arena *arena,
                           const char *user, struct job_terms *terms, struct err *err)
{
    const char *from = terms->job_group != NULL ? terms->job_group : "";
    const char *project = terms->project;
    from = from[0] != '\0' ? from : api->config->default_job_group;
    terms->job_group = "";
    while (*from != '\0') {
        size_t length = strcspn(from, "%");
        bool is_user = strncmp(from + length, "%u", 2) == 0;
        bool is_project = strncmp(from + length, "%p", 2) == 0;
        length += from[length] == '%' && !is_user && !is_project;
        terms->job_group =
            arena_printf(arena, "%s%.*s%s", terms->job_group, (int)length, from,
                         is_user      ? user
                         : is_project ? project
                                      : "");
        from += length + (is_user || is_project ? 2 : 0);
    }
    return terms->job_group[0] != '\0'
               ? job_group_check(job_table_groups(api->jobs), terms->job_group, err)
               : 0;
}

/* All checks of what is to run; adds to the spec what the queue and the application
 * profile say. */
static int check_spec(const struct site_api *api, const struct peer *from,
                      uint64_t bare_limits, struct arena *arena, struct job_spec *spec,
                      struct job_terms *terms, int *place, struct err *err)
{
    *place = find_queue(api, spec->queue);
    if (*place < 0) {
        return err_set(err, ERR_NOT_FOUND, "%s: no such queue, see `sublet queues`",
                       spec->queue[0] != '\0' ? spec->queue : "no default queue");
    }
    const struct queue_config *queue = &api->config->queues[*place];
    if (queue_table_is_closed(api->queues, *place)) {
        return err_set(err, ERR_STATE, "%s: Queue is closed", queue->name);
    }
    terms->user_group = terms->user_group != NULL ? terms->user_group : "";
    terms->description = terms->description != NULL ? terms->description : "";
    terms->project = terms->project != NULL && terms->project[0] != '\0'
                         ? terms->project
                         : api->config->default_project;
    if (check_group(api, from->name, terms->user_group, err) != 0 ||
        fairshare_ledger_check(api->fairshare, *place, from->name, terms->user_group,
                               err) != 0) {
        return err->code;
    }
    if (spec->n_slots < 1 || spec->n_slots > SLOTS_MAX) {
        return err_set(err, ERR_BOUNDS, "%d slots: expected 1 to %d", spec->n_slots,
                       SLOTS_MAX);
    }
    if (spec->command[0] == '\0') {
        return err_set(err, ERR_PARSE, "no command is given");
    }
    if (terms->max_slots != 0 && terms->max_slots < spec->n_slots) {
        return err_set(err, ERR_BOUNDS, "-n %d,%d: expected MIN,MAX", spec->n_slots,
                       terms->max_slots);
    }
    if (spec->is_exclusive && !queue->is_exclusive) {
        return err_set(err, ERR_STATE, "%s: Queue does not accept exclusive jobs",
                       queue->name);
    }
    if (check_user(api, from, err) != 0 ||
        terminals_check(api->terminals, queue, spec, err) != 0 ||
        check_input(api, queue, spec, err) != 0) {
        return err->code;
    }
    if (!terms->has_slots && spec->n_slots == 1) {
        /* Those of a compound requirement, or the queue's default. */
        spec->n_slots =
            spec->n_res_reqs == 1 ? resreq_count_slots(arena, spec->res_reqs[0]) : 0;
    }
    if (queue_rules_check_user(&queue->rules, from->name, err) != 0 ||
        submit_check_rules(api, *place, bare_limits, arena, spec, terms, err) != 0 ||
        check_resizable(api, spec, terms, err) != 0 ||
        check_job_group(api, arena, from->name, terms, err) != 0) {
        return err->code;
    }
    return check_asked(api, arena, spec, err);
}

int submit_check_orphan(const struct job_terms *terms, struct err *err)
{
    bool has_condition = terms->depend != NULL && terms->depend[0] != '\0';
    return !terms->ends_orphan || has_condition
               ? 0
               : err_set(err, ERR_PARSE,
                         "-ti: the job depends on no other, expected -w");
}

int submit_check(const struct site_api *api, const struct peer *owner,
                 uint64_t bare_limits, struct arena *arena, struct row_job *row,
                 int *queue, struct err *err)
{
    int code =
        check_spec(api, owner, bare_limits, arena, &row->spec, &row->terms, queue, err);
    if (code != 0) {
        return code;
    }
    row->spec.queue = api->config->queues[*queue].name;
    row->spec.user = owner->name;
    row->spec.uid = owner->uid;
    bool has_report = row->spec.report_ms != 0 && row->spec.out_file[0] != '\0' &&
                      row->spec.interaction == INTERACTION_NONE &&
                      api->config->writes_reports;
    row->spec.report_ms = has_report ? row->submit_ms : 0;
    return check_terms(api, owner, job_id_is_array_name(row->spec.name), arena,
                       &row->spec, &row->terms, err);
}

/* A requirement string is invalid: LSF's sentence, and the position for the command
 * line.
 */
static void refuse_requirements(const struct peer *from, uint64_t request, int code,
                                const struct job_spec *spec,
                                const struct resreq_error *fault,
                                struct effects *effects)
{
    struct value *value = value_object(&effects->arena);
    int string = -1;
    for (int i = 0; i < spec->n_res_reqs; i++) {
        string = spec->res_reqs[i] == fault->source ? i : string;
    }
    value_add_int(&effects->arena, value, "resreq", string); /* -1: that of the queue */
    value_add_int(&effects->arena, value, "at", fault->at);
    value_add_text(&effects->arena, value, "hint", fault->hint);
    effects_reply_refusal(
        effects, from, request, code,
        arena_printf(&effects->arena, "%s Job not submitted.", fault->text), value);
}

static void add_notes(struct arena *arena, struct value *value,
                      const struct resreq_notes *notes)
{
    if (notes->first == NULL) {
        return;
    }
    struct value *list = value_add(arena, value, "warnings", value_array(arena));
    for (const struct resreq_note *note = notes->first; note != NULL;
         note = note->next) {
        value_add_text(arena, list, NULL, note->text);
    }
}

static void store_number(const char *name, uint64_t value, struct effects *effects)
{
    effects_store(effects, &(struct row){.kind = ROW_COUNTER,
                                         .counter = {.name = name, .value = value}});
}

/* The indices of the elements of an array; 0 of a job that is no array. */
static int read_indices(const struct site_api *api, struct arena *arena,
                        const struct job_spec *spec, const int **indices,
                        int *n_indices, struct err *err)
{
    static const int plain[] = {0};
    *indices = plain;
    *n_indices = 1;
    if (job_id_is_array_name(spec->name)) {
        struct job_id list;
        int code = job_id_read_name(arena, spec->name, api->config->max_array_size,
                                    &list, err);
        if (code != 0) {
            err_prefix(err, "%s", spec->name);
            return code;
        }
        *n_indices = job_id_expand(arena, &list, indices);
    }
    return 0;
}

/* -H: the job, or each element of the array, waits for a user to resume it. */
static void hold(struct site_api *api, const struct job *first, int n_jobs,
                 struct effects *effects)
{
    int at = job_table_index_of(api->jobs, first->id);
    for (int i = at; i < at + n_jobs; i++) {
        struct job *job = job_table_at(api->jobs, i);
        job_table_set_state(api->jobs, job, JOB_PSUSP);
        job_store(job, effects);
    }
}

/* If pending jobs have to start first, the answer says when to try again. */
static void refuse(const struct site_api *api, const struct peer *from,
                   uint64_t request, const struct pending_full *full,
                   const struct err *err, struct effects *effects)
{
    struct value *value = NULL;
    if (full->key != NULL) {
        value = value_object(&effects->arena);
        value_add_duration(&effects->arena, value, "retry_s", api->config->retry_ms);
        value_add_text(&effects->arena, value, full->key, full->name);
    }
    effects_reply_refusal(
        effects, from, request, err->code,
        arena_printf(&effects->arena, "%s. Job not submitted.", err->text), value);
}

void submit_request(struct site_api *api, const struct peer *from,
                    const struct msg *msg, struct effects *effects)
{
    const struct msg_submit *submit = &msg->submit;
    struct arena *arena = &effects->arena;
    struct pending_full full = {NULL, NULL};
    struct err err;
    const int *indices;
    int queue, n_indices;
    struct row_job row = {.nonce = api->nonce,
                          .submit_ms = api->now_ms,
                          .spec = submit->spec,
                          .terms = submit->terms};
    if (submit_check(api, from, submit->bare_limits, arena, &row, &queue, &err) != 0 ||
        submit_check_orphan(&row.terms, &err) != 0 ||
        read_indices(api, arena, &row.spec, &indices, &n_indices, &err) != 0 ||
        submit_bounds_pending(api, from, n_indices, row.spec.n_slots, &full, &err) !=
            0 ||
        submit_bounds_size(api, from, &row, n_indices, &err) != 0) {
        refuse(api, from, submit->request, &full, &err, effects);
        return;
    }
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    int code = resreq_cache_check(api->resreq_cache, queue, &row.spec,
                                  row.terms.max_slots, &notes, &fault);
    if (code != 0) {
        refuse_requirements(from, submit->request, code, &row.spec, &fault, effects);
        return;
    }
    if (row.terms.resizable != RESIZABLE_NO &&
        resreq_cache_forbids_resize(api->resreq_cache, arena, queue, &row.spec)) {
        effects_reply_error(
            effects, from, submit->request, ERR_PARSE,
            "a resizable job may not have alternative or compound "
            "resource requirements or affinity, expected a simple one. Job not "
            "submitted.");
        return;
    }
    row.id = ++*api->last_job;
    row.spec.gid = from->gid;
    store_number("job", row.id, effects);
    job_group_obtain(job_table_groups(api->jobs), row.terms.job_group, from->name,
                     effects);
    const struct job *job = job_table_add_array(api->jobs, &row, indices, n_indices);
    bool is_array = job->index != 0;
    job_store_spec(job, effects);
    if (submit->is_held) {
        hold(api, job, n_indices, effects);
    } else if (!is_array) {
        job_store(job, effects);
    }
    terminals_add(api->terminals, job, from);
    pass_request_set(api->pass_request);

    struct value *value = value_object(arena);
    value_add_int(arena, value, "job", (int64_t)row.id);
    if (is_array) {
        value_add_int(arena, value, "elements", n_indices);
    }
    add_notes(arena, value, &notes);
    effects_reply(effects, from, submit->request,
                  arena_printf(arena, "Job <%llu> is submitted to queue <%s>.",
                               (unsigned long long)row.id, row.spec.queue),
                  value, "");
}
