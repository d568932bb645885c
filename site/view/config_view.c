/* SPDX-License-Identifier: Apache-2.0 */
/* config_view.c: what the configuration says: `groups`, `apps` and `params`; the
 * limits, commands and exit codes of jobs, queues and hosts. */
#include <string.h>

#include "base/value.h"
#include "model/page.h"
#include "site/config/site_config.h"
#include "site/view/view_rows.h"

enum { MEMBERS_SHOWN = 2000 }; /* of a group: a row must fit a page */

/* ---------------------------------------------------------------- groups */

static void add_groups(struct page *page, const struct msg_query *query,
                       const char *kind, const struct name_group *groups, int n_groups,
                       uint64_t first)
{
    struct arena *arena = page->arena;
    for (int i = 0; i < n_groups && !page->is_full; i++) {
        const struct name_group *group = &groups[i];
        uint64_t number = first + (uint64_t)i;
        if (!page_is_named(group->name, query->name) || !page_wants(page, number)) {
            continue;
        }
        struct value *row = value_object(arena);
        value_add_text(arena, row, "group", group->name);
        value_add_text(arena, row, "kind", group->type != NULL ? "unit" : kind);
        if (group->type != NULL) {
            value_add_text(arena, row, "type", group->type);
        }
        value_add_bool(arena, row, "all", group->members.is_all);
        struct value *members = value_add(arena, row, "members", value_array(arena));
        if (group->members.is_all) {
            value_add_text(arena, members, NULL, "all");
        }
        for (int k = 0; k < group->members.n_names && k < MEMBERS_SHOWN; k++) {
            value_add_text(arena, members, NULL, group->members.names[k]);
        }
        page_add_number(page, number, row);
    }
}

void config_view_list_groups(struct site_view *view, struct page *page,
                             const struct msg_query *query)
{
    const struct groups *groups = &view->config->groups;
    add_groups(page, query, "user", groups->users, groups->n_users, 1);
    add_groups(page, query, "host", groups->hosts, groups->n_hosts,
               (uint64_t)groups->n_users + 1);
}

/* ---------------------------------------------------------------- profiles */

struct app_slots {
    int64_t pend, run, susp;
};

static struct app_slots count_slots(const struct site_view *view, const char *app)
{
    struct app_slots slots = {0};
    for (int i = 0; i < job_table_count(view->jobs); i++) {
        const struct job *job = job_table_at_const(view->jobs, i);
        if (job_is_ended(job) || strcmp(job->spec->app, app) != 0) {
            continue;
        }
        bool waits = job->state == JOB_PEND || job->state == JOB_PSUSP;
        bool is_suspended = job->state == JOB_USUSP || job->state == JOB_SSUSP;
        slots.pend += waits ? job->spec->n_slots : 0;
        slots.susp += is_suspended ? job_slots(job) : 0;
        slots.run += !waits && !is_suspended ? job_slots(job) : 0;
    }
    return slots;
}

void config_view_list_apps(struct site_view *view, struct page *page,
                           const struct msg_query *query)
{
    struct arena *arena = page->arena;
    for (int i = 0; i < view->config->n_applications && !page->is_full; i++) {
        const struct application *app = &view->config->applications[i];
        uint64_t number = (uint64_t)i + 1;
        if (!page_is_named(app->name, query->name) || !page_wants(page, number)) {
            continue;
        }
        struct app_slots slots = count_slots(view, app->name);
        struct value *row = value_object(arena);
        value_add_text(arena, row, "app", app->name);
        value_add_text(arena, row, "description",
                       app->description != NULL ? app->description : "");
        value_add_text(arena, row, "res_req", app->res_req);
        value_add_int(arena, row, "njobs", slots.pend + slots.run + slots.susp);
        value_add_int(arena, row, "pend", slots.pend);
        value_add_int(arena, row, "run", slots.run);
        value_add_int(arena, row, "susp", slots.susp);
        page_add_number(page, number, row);
    }
}

/* ---------------------------------------------------------------- parameters */

struct params {
    struct page *page;
    uint64_t number;
};

/* A row, to which its value is added. */
static struct value *make_row(struct params *params, const char *name, const char *what)
{
    struct value *row = value_object(params->page->arena);
    value_add_text(params->page->arena, row, "name", name);
    value_add_text(params->page->arena, row, "what", what);
    return row;
}

static void add_row(struct params *params, struct value *row)
{
    if (page_wants(params->page, ++params->number)) {
        page_add_number(params->page, params->number, row);
    }
}

static void add_text(struct params *params, const char *name, const char *what,
                     const char *text)
{
    struct value *row = make_row(params, name, what);
    value_add_text(params->page->arena, row, "value", text != NULL ? text : "");
    add_row(params, row);
}

static void add_number(struct params *params, const char *name, const char *what,
                       int64_t number)
{
    struct value *row = make_row(params, name, what);
    value_add_int(params->page->arena, row, "value", number);
    add_row(params, row);
}

void config_view_list_params(struct site_view *view, struct page *page,
                             const struct msg_query *query)
{
    enum { SECOND = 1000 };
    const struct site_config *config = view->config;
    struct params params = {page, 0};
    (void)query;
    add_text(&params, "SITE", "", config->name);
    add_text(&params, "DEFAULT_QUEUE", "Default Queues", config->default_queue);
    add_number(&params, "SBD_SLEEP_TIME", "Job Checking Interval, in seconds",
               config->load_interval_ms / SECOND);
    add_number(&params, "JOB_ACCEPT_INTERVAL", "Job Accepting Interval, in seconds",
               config->accept_ms / SECOND);
    add_text(&params, "DEFAULT_APPLICATION", "", config->default_application);
    add_number(&params, "CLEAN_PERIOD", "", config->clean_period_ms / SECOND);
    add_number(&params, "JOB_TERMINATE_INTERVAL", "", config->terminate_ms / SECOND);
    add_number(&params, "MAX_JOB_ARRAY_SIZE", "", config->max_array_size);
    add_number(&params, "MAX_USER_PRIORITY", "", config->max_user_priority);
    add_number(&params, "MAX_PEND_JOBS", "", config->pend.of_site);
    add_number(&params, "SUB_TRY_INTERVAL", "", config->retry_ms / SECOND);
    add_number(&params, "LSF_UNIT_FOR_LIMITS_KB", "", config->limit_unit_kib);
    add_text(&params, "PARALLEL_SCHED_BY_SLOT", "",
             config->is_sched_by_slot ? "Y" : "N");
    add_text(&params, "RESOURCE_RESERVE_PER_SLOT", "",
             config->is_reserved_per_slot ? "Y" : "N");
    add_text(&params, "LSF_STRICT_RESREQ", "", config->is_resreq_lenient ? "N" : "Y");
}

/* ---------------------------------------------------------------- limits */

static const char *limit_name(struct arena *arena, enum job_rlimit limit)
{
    const struct job_rlimit_kind *kind = &job_rlimit_kinds[limit];
    switch (kind->unit) {
    case JOB_RLIMIT_TIME:
        return arena_printf(arena, "%s_s", kind->name);
    case JOB_RLIMIT_SIZE_KIB:
        return arena_printf(arena, "%s_kib", kind->name);
    case JOB_RLIMIT_COUNT:
    case JOB_RLIMIT_NICENESS:
        break;
    }
    return kind->name;
}

/* Adds nothing if there is no limit. */
static void add_limit(struct arena *arena, struct value *object, enum job_rlimit limit,
                      int64_t value)
{
    const char *name = limit_name(arena, limit);
    if (value == JOB_RLIMIT_NONE) {
        return;
    }
    if (job_rlimit_kinds[limit].unit == JOB_RLIMIT_TIME) {
        value_add_duration(arena, object, name, value);
    } else {
        value_add_int(arena, object, name, value);
    }
}

/* An empty object is shown as null. */
static struct value *add_object(struct arena *arena, struct value *row, const char *key,
                                struct value *object)
{
    return object->count > 0 ? value_add(arena, row, key, object)
                             : value_add_null(arena, row, key);
}

/* The host of a limit, if it names one. */
static void add_host(struct arena *arena, struct value *object, const char *name,
                     const char *host)
{
    if (host[0] != '\0') {
        value_add_text(arena, object, name, host);
    }
}

static struct value *limits_value(struct arena *arena, const struct job_rlimits *limits,
                                  const struct run_limit *run)
{
    struct value *object = value_object(arena);
    if (run->ms > 0) {
        value_add_duration(arena, object, "run_s", run->ms);
        add_host(arena, object, "run_host", run->host);
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        add_limit(arena, object, (enum job_rlimit)i, limits->values[i]);
    }
    add_host(arena, object, "cpu_host", limits->cpu_host);
    return object;
}

/* ---------------------------------------------------------------- others */

static void add_commands(struct arena *arena, struct value *row, const char *key,
                         const char *const *commands, int n_commands)
{
    if (n_commands == 0) {
        value_add_null(arena, row, key);
        return;
    }
    struct value *list = value_add(arena, row, key, value_array(arena));
    for (int i = 0; i < n_commands; i++) {
        value_add_text(arena, list, NULL, commands[i]);
    }
}

/* "99 100-102", as in the configuration. */
static const char *codes_text(struct arena *arena, const int *codes, int n_codes)
{
    const char *text = "";
    for (int i = 0; i < n_codes; i++) {
        int first = codes[i];
        while (i + 1 < n_codes && codes[i + 1] == codes[i] + 1) {
            i++;
        }
        text =
            first == codes[i]
                ? arena_printf(arena, "%s%s%d", text, text[0] != '\0' ? " " : "", first)
                : arena_printf(arena, "%s%s%d-%d", text, text[0] != '\0' ? " " : "",
                               first, codes[i]);
    }
    return text[0] != '\0' ? text : NULL;
}

/* "99 EXCLUDE(20 30)". */
static const char *requeue_text(struct arena *arena, const struct job_rules *rules)
{
    int *plain = arena_alloc(arena, (size_t)rules->n_requeue_codes, sizeof(*plain)),
        n_plain = 0;
    for (int i = 0; i < rules->n_requeue_codes; i++) {
        if (!job_rules_exclude(rules, rules->requeue_codes[i])) {
            plain[n_plain++] = rules->requeue_codes[i];
        }
    }
    const char *text = codes_text(arena, plain, n_plain);
    const char *excluded =
        codes_text(arena, rules->exclude_codes, rules->n_exclude_codes);
    return excluded == NULL
               ? text
               : arena_printf(arena, "%s%sEXCLUDE(%s)", text != NULL ? text : "",
                              text != NULL ? " " : "", excluded);
}

static void add_nonempty(struct arena *arena, struct value *row, const char *key,
                         const char *text)
{
    value_add_text(arena, row, key,
                   text[0] != '\0' ? value_cut_text(arena, text, TEXT_MAX) : NULL);
}

static void add_controls(struct arena *arena, struct value *row,
                         const struct job_controls *controls)
{
    struct value *object = value_object(arena);
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        if (controls->actions[i] != NULL) {
            value_add_text(arena, object, job_control_name((enum job_control)i),
                           value_cut_text(arena, controls->actions[i], TEXT_MAX));
        }
    }
    add_object(arena, row, "job_controls", object);
}

static const char *text_or_none(const char *text)
{
    return text != NULL ? text : "";
}

/* ---------------------------------------------------------------- rows */

void config_view_add_job_rules(struct arena *arena, struct value *row,
                               const struct site_config *config, const struct job *job,
                               bool is_asked)
{
    struct job_spec spec = *job->spec;
    struct job_rlimits limits;
    struct run_limit run = {spec.run_limit_ms, job->terms->run_limit_host};
    struct job_rules_stack stack =
        site_config_rules_stack(config, job->queue, spec.app);
    job_rules_apply(arena, &stack, 0, &spec);
    value_add_nonempty(arena, row, "app", spec.app);
    if (job_rlimits_read(spec.limits, spec.n_limits, &limits, NULL) != 0) {
        limits = job_rlimits_none();
    }
    struct value *object = limits_value(arena, &limits, &run);
    if (job->run_limit_ms != 0) {
        value_add_duration(arena, object, "run_effective_s", job->run_limit_ms);
    }
    add_object(arena, row, "limits", object);
    if (is_asked) {
        add_commands(arena, row, "pre_exec", spec.pre_execs, spec.n_pre_execs);
        add_commands(arena, row, "post_exec", spec.post_execs, spec.n_post_execs);
    }
}

void config_view_add_queue_rules(struct arena *arena, struct value *row,
                                 const struct queue_rules *rules)
{
    const struct job_rules *job = &rules->job;
    add_nonempty(arena, row, "run_window", text_or_none(rules->run_windows.text));
    add_nonempty(arena, row, "dispatch_window",
                 text_or_none(rules->dispatch_windows.text));
    add_object(arena, row, "default_limits",
               limits_value(arena, &job->soft, &job->default_run_limit));
    add_object(arena, row, "limits", limits_value(arena, &job->hard, &job->run_limit));
    add_nonempty(arena, row, "pre_exec", job->pre_exec);
    add_nonempty(arena, row, "post_exec", job->post_exec);
    add_nonempty(arena, row, "job_starter", job->job_starter);
    add_controls(arena, row, &job->controls);
    value_add_text(arena, row, "requeue_exit_values", requeue_text(arena, job));
    value_add_text(arena, row, "success_exit_values",
                   codes_text(arena, job->success_codes, job->n_success_codes));
    value_add_bool(arena, row, "rerunnable", job->rerunnable == 1);
    value_add_known(arena, row, "max_job_requeue", job->max_requeues != JOB_RULES_UNSET,
                    job->max_requeues);
    value_add_known(arena, row, "max_preexec_retry",
                    job->max_pre_tries != JOB_RULES_UNSET, job->max_pre_tries);
}

/* ---------------------------------------------------------------- how many */

enum { MILLI = 1000 };

static void add_slots(struct arena *arena, struct value *row, const char *name,
                      const struct limit *limit)
{
    if (limit == NULL) {
        value_add_null(arena, row, name);
    } else if (limit->per_processor_milli >= 0) {
        value_add_real(arena, row, name, (double)limit->per_processor_milli / MILLI);
    } else {
        value_add_int(arena, row, name, limit->slots);
    }
}

/* "all", "ana bo", "all ~bo"; groups are shown as their members. */
static const char *users_text(struct arena *arena, const struct name_set *users)
{
    const char *text = users->is_all ? "all" : "";
    for (int i = 0; i < users->n_names && strlen(text) < TEXT_MAX; i++) {
        text = arena_printf(arena, "%s%s%s%s", text, text[0] != '\0' ? " " : "",
                            users->is_all ? "~" : "", users->names[i]);
    }
    return value_cut_text(arena, text, TEXT_MAX);
}

void config_view_add_queue_limits(struct arena *arena, struct value *row,
                                  const struct site_config *config,
                                  const struct queue_config *queue)
{
    static const struct {
        const char *name, *key;
    } limits[] = {{"max", "QJOB_LIMIT"},
                  {"jl_u", "UJOB_LIMIT"},
                  {"jl_p", "PJOB_LIMIT"},
                  {"jl_h", "HJOB_LIMIT"}};
    const struct job_rules *job = &queue->rules.job;
    struct value *slots = value_object(arena);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        add_slots(arena, row, limits[i].name,
                  limits_find(config->limits, config->n_limits, limits[i].key,
                              LIMIT_QUEUES, queue->name));
    }
    if (job->max_slots > 0) {
        value_add_int(arena, slots, "min", job->min_slots);
        value_add_int(arena, slots, "default", job->default_slots);
        value_add_int(arena, slots, "max", job->max_slots);
    }
    add_object(arena, row, "slots_per_job", slots);
    value_add_text(arena, row, "users", users_text(arena, &queue->rules.users));
}

void config_view_add_host_limit(struct arena *arena, struct value *row,
                                const struct site_config *config, const char *host)
{
    add_slots(arena, row, "jl_u",
              limits_find(config->limits, config->n_limits, "JL/U", LIMIT_HOSTS, host));
}
