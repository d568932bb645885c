/* SPDX-License-Identifier: Apache-2.0 */
/* site_view.c: which listing a query means. */
#include "site/view/site_view.h"

#include "model/page.h"
#include "site/view/view_rows.h"

struct value *site_view_list(const struct site_view *view, struct arena *arena,
                             const struct msg_query *query, const char **next)
{
    static const char *const names[QUERY_KINDS] = {
        [QUERY_JOBS] = "jobs",       [QUERY_HOSTS] = "hosts", [QUERY_QUEUES] = "queues",
        [QUERY_EXPORTS] = "exports", [QUERY_LOAD] = "load",   [QUERY_USERS] = "users",
        [QUERY_LIMITS] = "limits",
    };
    struct page page;
    const char *name = (unsigned)query->kind < QUERY_KINDS ? names[query->kind] : NULL;
    page_init(&page, arena, name != NULL ? name : "rows", query);
    if (query->kind == QUERY_JOBS) {
        job_view_list(view, &page, query);
    } else if (query->kind == QUERY_HOSTS && query->exported) {
        export_view_list_hosts(view, &page, query);
    } else if (query->kind == QUERY_HOSTS && query->shared) {
        rusage_view_list_shared(view, &page, query);
    } else if (query->kind == QUERY_HOSTS) {
        host_view_list(view, &page, query);
    } else if (query->kind == QUERY_QUEUES) {
        queue_view_list(view, &page, query);
    } else if (query->kind == QUERY_EXPORTS) {
        export_view_list(view, &page, query);
    } else if (query->kind == QUERY_LOAD) {
        load_view_list(view, &page, query);
    } else if (query->kind == QUERY_USERS) {
        share_view_list(view, &page, query);
    } else if (query->kind == QUERY_LIMITS) {
        limit_view_list(view, &page, query);
    }
    *next = page_next(&page);
    return page.root;
}

int site_view_check(const struct site_view *view, struct arena *arena,
                    const struct msg_query *query, struct err *err)
{
    bool is_listing = query->kind == QUERY_LOAD || query->kind == QUERY_HOSTS;
    int *places, n_places;
    return is_listing ? view_select_hosts(view, arena, query, &places, &n_places, err)
                      : 0;
}
