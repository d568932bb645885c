/* SPDX-License-Identifier: Apache-2.0 */
/* config_view.c: `groups`, `apps` and `params`: what the configuration says, and the
 * jobs of application profiles. */
#include <string.h>

#include "base/value.h"
#include "model/page.h"
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
        value_add_text(arena, row, "kind", kind);
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
    add_number(&params, "LSF_UNIT_FOR_LIMITS_KB", "", config->limit_unit_kib);
    add_text(&params, "PARALLEL_SCHED_BY_SLOT", "",
             config->is_sched_by_slot ? "Y" : "N");
    add_text(&params, "RESOURCE_RESERVE_PER_SLOT", "",
             config->is_reserved_per_slot ? "Y" : "N");
    add_text(&params, "LSF_STRICT_RESREQ", "", config->is_resreq_lenient ? "N" : "Y");
}
