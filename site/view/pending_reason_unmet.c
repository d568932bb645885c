/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason_unmet.c: which parts of a pending job's requirement how many hosts do
 * not meet. */
#include "site/view/view_rows.h"

#include <string.h>

#include "site/ledger/rusage_ledger.h"
#include "site/pass/resreq_match.h"
#include "site/view/site_view.h"

struct matching {
    const struct site_view *view;
    struct arena *arena;
    const struct place_host *hosts;
    int n_hosts;
    struct resreq_match *match;
    const bool *is_allowed; /* by host */
    int n_allowed;
    bool names_type;
    struct value *list;
};

/* ---------------------------------------------------------------- hosts */

static void list_hosts(struct matching *matching, const struct job *job)
{
    const struct site_view *view = matching->view;
    const struct host_list *asked = host_list_cache_get(view->host_lists, job);
    const struct queue_config *queue = &view->config->queues[job->queue];
    matching->hosts =
        capacity_hosts(view->capacity, matching->arena,
                       view->event_ms + view->utc_offset_ms, &matching->n_hosts);
    bool *is_allowed =
        arena_alloc(matching->arena, (size_t)matching->n_hosts, sizeof(*is_allowed));
    for (int i = 0; i < matching->n_hosts; i++) {
        const struct place_host *host = &matching->hosts[i];
        int preference;
        is_allowed[i] = queue_allows(queue, host->name, host->site, &preference) &&
                        !host_list_avoids(asked, host->name) &&
                        (asked == NULL ||
                         host_list_allows(asked, host->name, host->site, &preference));
        matching->n_allowed += is_allowed[i];
    }
    matching->is_allowed = is_allowed;
    struct rusage_pass *left =
        rusage_pass_new(view->rusage_sources, matching->arena, matching->hosts,
                        matching->n_hosts, view->event_ms);
    matching->match = resreq_match_new(view->resreq_cache, matching->arena,
                                       matching->hosts, matching->n_hosts, left);
}

/* ---------------------------------------------------------------- parts */

/* Counts the hosts that do not match `select`, and shows them under `shown`. */
static void match_part(struct matching *matching, const char *select, const char *shown)
{
    const struct place_filter *filter = NULL;
    struct err err;
    int n_unmet = 0;
    if (resreq_match_select(matching->match, RESREQ_MATCH_HOSTS, select, &filter,
                            &err) != 0 ||
        filter == NULL) {
        return; /* invalid under this configuration, or all hosts match */
    }
    for (int i = 0; i < matching->n_hosts; i++) {
        n_unmet += matching->is_allowed[i] && !filter->matches[i];
    }
    if (n_unmet > 0) {
        struct value *item = value_add(matching->arena, matching->list, NULL,
                                       value_object(matching->arena));
        value_add_text(matching->arena, item, "part", shown);
        value_add_int(matching->arena, item, "hosts", n_unmet);
        value_add_int(matching->arena, item, "of", matching->n_allowed);
    }
}

static void take_part(struct matching *matching, const char *text, int length)
{
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length > 0) {
        /* type==any, so that the type of the local host is not required as well. */
        const char *select =
            arena_printf(matching->arena, "select[(%.*s) && type==any]", length, text);
        match_part(matching, select, arena_strn(matching->arena, text, (size_t)length));
    }
}

/* Splits a selection at the outermost &&; with an outermost || it is one part. */
static void take_selection(struct matching *matching, struct resreq_lex lex)
{
    struct resreq_lex scan = lex;
    int depth = 0, begin = lex.at;
    bool is_one = false;
    for (struct lex_token token = resreq_lex_next(&scan);
         token.kind != LEX_END && token.kind != LEX_BAD;
         token = resreq_lex_next(&scan)) {
        depth += (token.kind == LEX_OPEN) - (token.kind == LEX_CLOSE);
        is_one = is_one || (depth == 0 && token.kind == LEX_OR);
        matching->names_type =
            matching->names_type ||
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
            take_part(matching, lex.source + begin, token.place.at - begin);
            begin = scan.at;
        }
    }
    take_part(matching, lex.source + begin, lex.end - begin);
}

static void take_string(struct matching *matching, const char *string)
{
    struct resreq_notes notes = {.arena = matching->arena};
    struct resreq_error fault;
    struct resreq_parts parts;
    if (string == NULL || string[0] == '\0' ||
        resreq_section_split(string, true, &parts, &notes, &fault) != 0) {
        return;
    }
    for (int i = 0; i < parts.count; i++) {
        if (parts.parts[i].section == RESREQ_SELECT) {
            take_selection(matching, parts.parts[i].content);
        }
    }
}

struct value *pending_reason_unmet_list(const struct site_view *view,
                                        struct arena *arena, const struct job *job)
{
    if (job->state != JOB_PEND || job->pending_class == NULL || job->queue < 0 ||
        job_class_verdict(job->pending_class)->n_unmet == 0) {
        return NULL;
    }
    struct matching matching = {
        .view = view, .arena = arena, .list = value_array(arena)};
    const struct site_config *config = view->config;
    const struct application *app =
        application_find(config->applications, config->n_applications, job->spec->app);
    list_hosts(&matching, job);
    for (int i = 0; i < job->spec->n_res_reqs; i++) {
        take_string(&matching, job->spec->res_reqs[i]);
    }
    take_string(&matching, app != NULL ? app->res_req : NULL);
    take_string(&matching, config->queues[job->queue].res_req);
    if (!matching.names_type) {
        match_part(&matching, "select[type==local]", "type == local");
    }
    return matching.list->first != NULL ? matching.list : NULL;
}
