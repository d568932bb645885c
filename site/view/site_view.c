/* SPDX-License-Identifier: Apache-2.0 */
/* site_view.c: which listing a query means. */
#include "site/view/site_view.h"

#include "model/page.h"
#include "site/view/view_rows.h"

typedef void list_fn(struct site_view *view, struct page *page,
                     const struct msg_query *query);

static const struct {
    const char *name; /* of its array of rows */
    list_fn *list;
} listings[QUERY_KINDS] = {
    [QUERY_JOBS] = {"jobs", job_view_list},
    [QUERY_HOSTS] = {"hosts", host_view_list},
    [QUERY_QUEUES] = {"queues", queue_view_list},
    [QUERY_EXPORTS] = {"exports", export_view_list},
    [QUERY_LOAD] = {"load", load_view_list},
    [QUERY_USERS] = {"users", share_view_list},
    [QUERY_LIMITS] = {"limits", limit_view_list},
    [QUERY_RUNS] = {"runs", orphan_view_list},
    [QUERY_GROUPS] = {"groups", config_view_list_groups},
    [QUERY_APPS] = {"apps", config_view_list_apps},
    [QUERY_PARAMS] = {"params", config_view_list_params},
    [QUERY_JOB_GROUPS] = {"jgroups", job_group_view_list},
};

struct value *site_view_list(struct site_view *view, struct arena *arena,
                             const struct msg_query *query, const char **next)
{
    struct page page;
    bool is_known =
        (unsigned)query->kind < QUERY_KINDS && listings[query->kind].list != NULL;
    page_init(&page, arena, is_known ? listings[query->kind].name : "rows", query);
    if (query->kind == QUERY_HOSTS && query->exported) {
        export_view_list_hosts(view, &page, query);
    } else if (query->kind == QUERY_HOSTS && query->shared) {
        rusage_view_list_shared(view, &page, query);
    } else if (is_known) {
        listings[query->kind].list(view, &page, query);
    }
    *next = page_next(&page);
    return page.root;
}

int site_view_check(struct site_view *view, struct arena *arena,
                    const struct msg_query *query, struct err *err)
{
    bool is_listing = query->kind == QUERY_LOAD || query->kind == QUERY_HOSTS;
    int *places, n_places;
    return is_listing ? load_view_select(view, arena, query, &places, &n_places, err)
                      : 0;
}
