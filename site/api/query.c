/* SPDX-License-Identifier: Apache-2.0 */
/* query.c: QUERY, answered here by a listing, by the journal, or by the broker. */
#include <string.h>

#include "base/err.h"
#include "base/value.h"
#include "model/job_id.h"
#include "site/api/site_api.h"

/* The number of rows of a listing. */
static int count_rows(const struct value *listing)
{
    for (const struct value *at = listing->first; at != NULL; at = at->next) {
        if (at->kind == VALUE_ARRAY) {
            return at->count;
        }
    }
    return 0;
}

/* The events of one job, or of a page of unfinished jobs; the daemon reads them from
 * the journal. */
static void query_history(const struct job_table *jobs, const struct peer *from,
                          const struct msg_query *query, struct effects *effects)
{
    enum { PAGE_MAX = 100 };
    struct arena *arena = &effects->arena;
    uint64_t *keys = arena_alloc(arena, PAGE_MAX, sizeof(*keys));
    struct effect *effect = effects_add(effects, EFFECT_HISTORY);
    struct job_id after;
    uint64_t after_key = 0;
    effect->history.to = *from;
    effect->history.to.name = arena_str(arena, from->name);
    effect->history.query = *query;
    effect->history.query.name = arena_str(arena, query->name);
    effect->history.query.user = arena_str(arena, query->user);
    effect->history.query.after = arena_str(arena, query->after);
    effect->history.keys = keys;
    if (query->name[0] != '\0' || query->with_ended) {
        return;
    }
    if (job_id_read(arena, query->after, &after, NULL) == 0) {
        after_key =
            job_id_key(after.number, after.n_ranges > 0 ? after.ranges->first : 0);
    }
    for (int i = 0; i < job_table_count(jobs); i++) {
        const struct job *job = job_table_at_const(jobs, i);
        if (job_is_ended(job) || job_key(job) <= after_key ||
            (query->user[0] != '\0' && strcmp(job->spec->user, query->user) != 0)) {
            continue;
        }
        if (effect->history.n_keys == PAGE_MAX) {
            effect->history.has_more = true;
            break;
        }
        keys[effect->history.n_keys++] = job_key(job);
    }
}

/* From the ledger, which the daemon has. */
static void query_usage(const struct peer *from, const struct msg_query *query,
                        struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct effect *effect = effects_add(effects, EFFECT_HISTORY);
    struct msg_query *asked = &effect->history.query;
    effect->history.to = *from;
    effect->history.to.name = arena_str(arena, from->name);
    *asked = *query;
    asked->name = arena_str(arena, query->name);
    asked->user = arena_str(arena, query->user);
    asked->queue = arena_str(arena, query->queue);
    asked->project = arena_str(arena, query->project);
    asked->by = arena_str(arena, query->by);
    asked->after = arena_str(arena, query->after);
}

static void query_overview(struct site_view *view, const struct peer *from,
                           const struct msg_query *query, struct effects *effects)
{
    struct value *value = overview_view_make(view, &effects->arena);
    if (value == NULL) {
        effects_reply_error(effects, from, query->request, ERR_DENIED,
                            "the site shows nothing of itself: OVERVIEW is none");
    } else {
        effects_reply(effects, from, query->request, "", value, "");
    }
}

void query_request(struct site_api *api, struct site_view *view,
                   const struct peer *from, const struct msg *msg,
                   struct effects *effects)
{
    static const struct {
        const char *thing, *listing;
    } things[QUERY_KINDS] = {
        [QUERY_JOBS] = {"Job", "jobs -a -u all"},
        [QUERY_HOSTS] = {"Host", "hosts"},
        [QUERY_QUEUES] = {"Queue", "queues"},
        [QUERY_EXPORTS] = {"Export policy", "exports"},
        [QUERY_LOAD] = {"Host", "load"},
        [QUERY_USERS] = {"User", "users"},
        [QUERY_LIMITS] = {"Limit", "limits -c"},
        [QUERY_RUNS] = {"Run", "runs --orphans"},
        [QUERY_GROUPS] = {"Group", "users"},
        [QUERY_APPS] = {"Application profile", "queues"},
        [QUERY_PARAMS] = {"Parameter", "help"},
        [QUERY_JOB_GROUPS] = {"Job group", "jgroups"},
    };
    const struct msg_query *query = &msg->query;
    const char *next = "";
    if (query->kind == QUERY_HIST) {
        query_history(api->jobs, from, query, effects);
        return;
    }
    if (query->kind == QUERY_USAGE) {
        query_usage(from, query, effects);
        return;
    }
    if (query->kind == QUERY_OVERVIEW) {
        query_overview(view, from, query, effects);
        return;
    }
    if (query->kind == QUERY_LEDGER) {
        ledger_request(api, from, msg, effects);
        return;
    }
    if ((unsigned)query->kind >= QUERY_KINDS || things[query->kind].thing == NULL) {
        forward_request(api, from, msg, effects);
        return;
    }
    struct err err;
    int code = site_view_check(view, &effects->arena, query, &err);
    if (code != 0) {
        effects_reply_error(effects, from, query->request, code, "%s", err.text);
        return;
    }
    struct value *value = site_view_list(view, &effects->arena, query, &next);
    if (query->name[0] != '\0' && query->after[0] == '\0' && count_rows(value) == 0) {
        effects_reply_error(effects, from, query->request, ERR_NOT_FOUND,
                            "%s <%s> is not found; see `sublet %s`",
                            things[query->kind].thing, query->name,
                            things[query->kind].listing);
        return;
    }
    effects_reply(effects, from, query->request, "", value, next);
}
