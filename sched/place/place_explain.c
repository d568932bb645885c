/* SPDX-License-Identifier: Apache-2.0 */
/* place_explain.c: why the span or same of a job cannot be met; see place.h. */
#include <stdlib.h>

#include "sched/place/place_pass.h"

/* Hosts as they are, or as they would be if nothing ran anywhere. */
struct span_context {
    const struct place_pass *pass;
    const struct candidate_group *group;
    bool is_empty;
};

/* A lease's host may be handed all slots of its contract. */
static int size_of(const struct place_host *host)
{
    return host->n_lease_slots > host->max ? host->n_lease_slots : host->max;
}

static int room_at(void *arg, int host, const struct rusage_piece *pieces, int n_pieces)
{
    const struct span_context *at = arg;
    (void)pieces;
    (void)n_pieces;
    return at->is_empty ? size_of(&at->pass->snapshot->hosts[host])
                        : candidates_free_slots(&at->pass->state, host, at->group);
}

/* The most slots of so many that could lie on hosts of one group. */
static int count_fitting(const struct place_pass *pass, const struct candidates *view,
                         int n_slots, bool is_empty)
{
    int most = 0;
    for (int i = 0; i < view->n_groups && most < n_slots; i++) {
        const struct candidate_group *group = &view->groups[i];
        struct span_context at = {pass, group, is_empty};
        size_t n_hosts = (size_t)group->n_members;
        struct place_span_request request = {
            .hosts = group->members,
            .n_hosts = group->n_members,
            .min = n_slots,
            .max = n_slots,
            .room = room_at,
            .arg = &at,
            .pieces = mem_alloc(n_hosts + 1, sizeof(*request.pieces)),
        };
        int n_fit = place_span_fit(candidates_span(view), &request);
        most = n_fit > most ? n_fit : most;
        free(request.pieces);
    }
    return most;
}

/* Free slots with which a host is of use by itself. */
static int least_on(const struct place_span *span, int host, int n_slots)
{
    switch (span->kind) {
    case PLACE_SPAN_HOST:
        return n_slots;
    case PLACE_SPAN_PTILE:
        return span->ptiles != NULL ? span->ptiles[host] : span->n_slots;
    case PLACE_SPAN_BLOCK:
        return span->n_slots;
    case PLACE_SPAN_NONE:
    case PLACE_SPAN_STRIPE:
        break;
    }
    return 1;
}

/* Of the hosts with free slots those with too few, and the one with the most. */
static void look_at_free(const struct place_pass *pass, const struct candidates *view,
                         int n_slots, struct pending_verdict *verdict)
{
    const struct place_span *span = candidates_span(view);
    const struct place_host *hosts = pass->snapshot->hosts;
    int most = 0;
    for (int i = 0; i < view->n_groups; i++) {
        const struct candidate_group *group = &view->groups[i];
        for (int k = 0; k < group->n_members; k++) {
            int host = group->members[k];
            int n_free = candidates_free_slots(&pass->state, host, group);
            int n = verdict->span.is_never ? size_of(&hosts[host]) : n_free;
            int least = least_on(span, host, n_slots);
            bool is_small = least > 0 && n_free < (least < n_slots ? least : n_slots);
            bool is_loaded =
                place_state_load(pass->snapshot, view->queue, host) != NULL;
            if (n_free > 0 && !is_loaded) {
                verdict->n_small += is_small;
                verdict->n_apart += !is_small && span->n_same > 0;
            }
            if (n > most) {
                most = n;
                /* Borrowed ones have names of the pass. */
                verdict->span.host =
                    hosts[host].lease[0] == '\0' ? hosts[host].name : NULL;
            }
        }
    }
    if (span->kind == PLACE_SPAN_HOST) {
        verdict->span.n_fit = most < verdict->span.n_fit ? verdict->span.n_fit : most;
    }
}

bool place_explain_span(const struct place_pass *pass, const struct candidates *view,
                        int n_slots, int n_free, struct pending_verdict *verdict)
{
    const struct place_span *span = candidates_span(view);
    if (span == NULL) {
        return false;
    }
    int n_fit = count_fitting(pass, view, n_slots, true);
    bool is_never = n_fit < n_slots;
    if (!is_never && n_free == 0) {
        return false; /* neither span nor same is the cause */
    }
    n_fit = is_never ? n_fit : count_fitting(pass, view, n_slots, false);
    verdict->span = (struct pending_reason_span){
        .kind = span->kind,
        .n_span = span->n_slots,
        .is_same = span->n_same > 0,
        .is_never = is_never,
        .n_wanted = n_slots,
        .n_fit = n_fit,
    };
    verdict->n_small = verdict->n_apart = 0;
    look_at_free(pass, view, n_slots, verdict);
    return true;
}
