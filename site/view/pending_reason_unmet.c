/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason_unmet.c: which parts of a pending job's requirement how many hosts do
 * not meet. */
#include "site/view/view_rows.h"

#include <string.h>

#include "sched/resreq/resreq.h"
#include "site/reserves.h"
#include "site/schedule.h"
#include "site/view/site_view.h"

struct judging {
    const struct site_view *view;
    struct arena *arena;
    const struct place_host *hosts;
    int n_hosts;
    const bool *is_allowed; /* by host */
    int n_allowed;
    bool names_type;
    struct value *list;
};

/* ---------------------------------------------------------------- hosts */

static void look_at_hosts(struct judging *judging, const struct job *job)
{
    const struct site_view *view = judging->view;
    const struct host_list *asked = asked_lists_of(view->asked_lists, job);
    const struct queue_config *queue = &view->config->queues[job->queue];
    judging->hosts =
        capacity_hosts(view->capacity, judging->arena,
                       view->event_ms + view->utc_offset_ms, &judging->n_hosts);
    bool *is_allowed =
        arena_alloc(judging->arena, (size_t)judging->n_hosts, sizeof(*is_allowed));
    for (int i = 0; i < judging->n_hosts; i++) {
        const struct place_host *host = &judging->hosts[i];
        int preference;
        is_allowed[i] = queue_allows(queue, host->name, host->site, &preference) &&
                        !host_list_avoids(asked, host->name) &&
                        (asked == NULL ||
                         host_list_allows(asked, host->name, host->site, &preference));
        judging->n_allowed += is_allowed[i];
    }
    judging->is_allowed = is_allowed;
    reserves_begin_look(view->site, judging->arena, judging->hosts, judging->n_hosts);
    needs_begin(view->needs, judging->arena, view->site, judging->hosts,
                judging->n_hosts);
}

/* ---------------------------------------------------------------- parts */

/* `select` is judged, `shown` is told. */
static void judge_part(struct judging *judging, const char *select, const char *shown)
{
    const struct place_filter *filter = NULL;
    struct err err;
    int n_unmet = 0;
    if (needs_select(judging->view->needs, NEEDS_HOSTS, select, &filter, &err) != 0 ||
        filter == NULL) {
        return; /* it was taken under another configuration, or all meet it */
    }
    for (int i = 0; i < judging->n_hosts; i++) {
        n_unmet += judging->is_allowed[i] && !filter->matches[i];
    }
    if (n_unmet > 0) {
        struct value *item = value_add(judging->arena, judging->list, NULL,
                                       value_object(judging->arena));
        value_add_text(judging->arena, item, "part", shown);
        value_add_int(judging->arena, item, "hosts", n_unmet);
        value_add_int(judging->arena, item, "of", judging->n_allowed);
    }
}

static void take_part(struct judging *judging, const char *text, int length)
{
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length > 0) {
        /* Beside a type that all have no other is asked for. */
        const char *select =
            arena_printf(judging->arena, "select[(%.*s) && type==any]", length, text);
        judge_part(judging, select, arena_strn(judging->arena, text, (size_t)length));
    }
}

/* What stands between the outermost &&; with an outermost || it is one part. */
static void take_selection(struct judging *judging, struct resreq_lex lex)
{
    struct resreq_lex scan = lex;
    int depth = 0, begin = lex.at;
    bool is_one = false;
    for (struct lex_token token = resreq_lex_next(&scan);
         token.kind != LEX_END && token.kind != LEX_BAD;
         token = resreq_lex_next(&scan)) {
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        is_one = is_one || (depth == 0 && token.kind == LEX_OR);
        judging->names_type =
            judging->names_type ||
            (token.kind == LEX_NAME && token.place.length == (int)strlen("type") &&
             strncmp(lex.source + token.place.at, "type", strlen("type")) == 0);
    }
    scan = lex;
    depth = 0;
    for (struct lex_token token = resreq_lex_next(&scan);
         !is_one && token.kind != LEX_END && token.kind != LEX_BAD;
         token = resreq_lex_next(&scan)) {
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        if (depth == 0 && token.kind == LEX_AND) {
            take_part(judging, lex.source + begin, token.place.at - begin);
            begin = scan.at;
        }
    }
    take_part(judging, lex.source + begin, lex.end - begin);
}

static void take_string(struct judging *judging, const char *string)
{
    struct resreq_notes notes = {.arena = judging->arena};
    struct resreq_error fault;
    struct resreq_parts parts;
    if (string == NULL || string[0] == '\0' ||
        resreq_section_split(string, true, &parts, &notes, &fault) != 0) {
        return;
    }
    for (int i = 0; i < parts.count; i++) {
        if (parts.parts[i].section == RESREQ_SELECT) {
            take_selection(judging, parts.parts[i].content);
        }
    }
}

struct value *pending_reason_unmet_list(const struct site_view *view,
                                        struct arena *arena, const struct job *job)
{
    if (job->state != JOB_PEND || job->line == NULL || job->queue < 0 ||
        job_class_verdict(job->line)->n_unmet == 0) {
        return NULL;
    }
    struct judging judging = {.view = view, .arena = arena, .list = value_array(arena)};
    const struct site_config *config = view->config;
    const struct application *app =
        application_find(config->applications, config->n_applications, job->spec->app);
    look_at_hosts(&judging, job);
    for (int i = 0; i < job->spec->n_res_reqs; i++) {
        take_string(&judging, job->spec->res_reqs[i]);
    }
    take_string(&judging, app != NULL ? app->res_req : NULL);
    take_string(&judging, config->queues[job->queue].res_req);
    if (!judging.names_type) {
        judge_part(&judging, "select[type==local]", "type == local");
    }
    return judging.list->first != NULL ? judging.list : NULL;
}
