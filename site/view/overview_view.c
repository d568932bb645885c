/* SPDX-License-Identifier: Apache-2.0 */
/* overview_view.c: what a site tells the federation of itself. */
#include "site/view/site_view.h"

#include <string.h>

#include "model/job_id.h"

/* ---------------------------------------------------------------- listings */

static void copy_field(struct arena *arena, struct value *to, const struct value *field)
{
    if (field->kind == VALUE_TEXT) {
        value_add_text(arena, to, field->key, field->text);
    } else if (field->kind == VALUE_INT) {
        value_add_int(arena, to, field->key, field->number);
    } else {
        value_add_null(arena, to, field->key);
    }
}

/* The first rows of a listing with some of their fields, which end with NULL. */
static void add_listing(struct site_view *view, struct arena *arena, struct value *root,
                        enum query_kind kind, int limit, const char *key,
                        const char *const *fields)
{
    const struct msg_query query = {.kind = kind,
                                    .name = "",
                                    .user = "",
                                    .queue = "",
                                    .host = "",
                                    .res_req = "",
                                    .after = "",
                                    .limit = limit};
    const char *next;
    struct value *rows = value_add(arena, root, key, value_array(arena));
    const struct value *row =
        value_find(site_view_list(view, arena, &query, &next), key)->first;
    for (; row != NULL; row = row->next) {
        struct value *to = value_add(arena, rows, NULL, value_object(arena));
        for (const char *const *field = fields; *field != NULL; field++) {
            copy_field(arena, to, value_find(row, *field));
        }
    }
}

/* ---------------------------------------------------------------- pending jobs */

static void add_reasons(struct site_view *view, struct arena *arena, struct value *root)
{
    int64_t counts[REASONS];
    job_pending_count_reasons(view->jobs, counts);
    struct value *rows = value_add(arena, root, "pending", value_array(arena));
    for (int i = 0; i < REASONS; i++) {
        enum pending_reason reason = (enum pending_reason)i;
        if (counts[i] > 0 && reason != REASON_STARTED) {
            struct value *row = value_add(arena, rows, NULL, value_object(arena));
            value_add_text(arena, row, "pending", pending_reason_name(reason));
            value_add_text(arena, row, "reason", pending_reason_plain(arena, reason));
            value_add_int(arena, row, "jobs", counts[i]);
        }
    }
}

static void add_job(struct arena *arena, struct value *rows, const struct job *job)
{
    const struct pending_verdict held = {.reason = job->hold};
    const struct pending_verdict *verdict =
        job->pending_class != NULL ? job_class_verdict(job->pending_class) : &held;
    struct value *row = value_add(arena, rows, NULL, value_object(arena));
    value_add_text(arena, row, "id", job_id_text(arena, job->id, job->index));
    value_add_nonempty(arena, row, "name", job->spec->name);
    value_add_text(arena, row, "user", job->spec->user);
    value_add_text(arena, row, "queue", job_queue_name(job));
    value_add_int(arena, row, "slots", job->spec->n_slots);
    value_add_instant(arena, row, "submitted_at", job->submit_ms);
    value_add_text(arena, row, "pending", pending_reason_name(verdict->reason));
    value_add_text(arena, row, "reason", pending_reason_text(arena, verdict));
}

static void add_jobs(struct site_view *view, struct arena *arena, struct value *root)
{
    struct value *rows = value_add(arena, root, "jobs", value_array(arena));
    for (int i = 0; i < job_table_count(view->jobs) && rows->count < OVERVIEW_JOBS;
         i++) {
        const struct job *job = job_table_at_const(view->jobs, i);
        if (job->state == JOB_PEND && job->attempt == 0) {
            add_job(arena, rows, job);
        }
    }
}

struct value *overview_view_make(struct site_view *view, struct arena *arena)
{
    static const char *const host_fields[] = {
        "host", "status", "max", "run", "ssusp", "ususp", "rsv", "lease", "lent", NULL};
    static const char *const queue_fields[] = {"queue", "status", "priority", "pend",
                                               "run",   "susp",   NULL};
    if (view->config->overview == OVERVIEW_NONE) {
        return NULL;
    }
    struct value *root = value_object(arena);
    value_add_int(arena, root, "schema_version", PAGE_SCHEMA);
    value_add_text(arena, root, "site", view->config->name);
    value_add_int(arena, root, "n_hosts",
                  host_table_count(view->hosts) + consumer_count_hosts(view->consumer));
    add_listing(view, arena, root, QUERY_HOSTS, OVERVIEW_HOSTS, "hosts", host_fields);
    value_add_int(arena, root, "n_queues", view->config->n_queues);
    add_listing(view, arena, root, QUERY_QUEUES, OVERVIEW_QUEUES, "queues",
                queue_fields);
    add_reasons(view, arena, root);
    if (view->config->overview == OVERVIEW_NAMES) {
        add_jobs(view, arena, root);
    } else {
        value_add_null(arena, root, "jobs");
    }
    return root;
}
