/* SPDX-License-Identifier: Apache-2.0 */
/* view_select.c: which hosts a listing shows, and in which order. */
#include <stdlib.h>

#include "site/ledger/rusage_ledger.h"
#include "site/pass/resreq_match.h"
#include "site/view/view_rows.h"

struct item {
    int rank; /* in the order of the requirement string */
    int place;
};

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

/* `filter` NULL: all hosts. */
static void list_places(struct arena *arena, const struct place_filter *filter,
                        int n_hosts, int **places, int *n_places)
{
    size_t n_max = (size_t)n_hosts + 1;
    struct item *items = arena_alloc(arena, n_max, sizeof(*items));
    int n_items = 0;
    for (int i = 0; i < n_hosts; i++) {
        if (filter == NULL || filter->matches[i]) {
            bool has_order = filter != NULL && filter->ranks != NULL;
            items[n_items++] =
                (struct item){.rank = has_order ? filter->ranks[i] : 0, .place = i};
        }
    }
    qsort(items, (size_t)n_items, sizeof(*items), compare_items);
    *places = arena_alloc(arena, n_max, sizeof(**places));
    *n_places = n_items;
    for (int i = 0; i < n_items; i++) {
        (*places)[i] = items[i].place;
    }
}

int view_select_hosts(const struct site_view *view, struct arena *arena,
                      const struct msg_query *query, int **places, int *n_places,
                      struct err *err)
{
    int n_hosts, code = 0;
    const struct place_host *hosts = capacity_hosts(
        view->capacity, arena, view->event_ms + view->utc_offset_ms, &n_hosts);
    const struct place_filter *filter = NULL;
    if (query->res_req != NULL && query->res_req[0] != '\0') {
        struct rusage_pass *left = rusage_pass_new(view->rusage_sources, arena, hosts,
                                                   n_hosts, view->event_ms);
        struct resreq_match *match =
            resreq_match_new(view->resreq_cache, arena, hosts, n_hosts, left);
        code = resreq_match_select(
            match, query->kind == QUERY_LOAD ? RESREQ_MATCH_LOAD : RESREQ_MATCH_HOSTS,
            query->res_req, &filter, err);
    }
    if (code == 0) {
        list_places(arena, filter, n_hosts, places, n_places);
    }
    return code;
}
