/* SPDX-License-Identifier: Apache-2.0 */
/* place_span.c: see place_span.h. Chooses which hosts a job is laid out on together,
 * and which comes first. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sched/place/place_unit.h"

/* ---------------------------------------------------------------- groups of alike
 * hosts */

static int fill_anew(struct place_layout *layout)
{
    place_layout_empty(layout);
    layout->min = layout->request->min;
    layout->max = layout->request->max;
    if (layout->span->units != NULL) {
        place_unit_fill(layout);
    } else {
        place_layout_fill(layout);
    }
    return layout->n_slots;
}

/* Tries the groups of alike hosts one after the other, each with its hosts in order.
 * `first` is by group, `next` by place. */
static int fill_groups(struct place_layout *layout, const int *hosts,
                       const int *group_of, int n_groups)
{
    const struct place_span_request *request = layout->request;
    int *first = mem_alloc((size_t)n_groups + 1, sizeof(*first));
    int *next = mem_alloc((size_t)request->n_hosts + 1, sizeof(*next));
    int most = 0;
    for (int i = request->n_hosts - 1; i >= 0; i--) {
        int kind = group_of[hosts[i]];
        if (kind >= 0) {
            next[i] = first[kind];
            first[kind] = i + 1;
        }
    }
    for (int i = 0; i < request->n_hosts && most < request->min &&
                    (i == 0 || !layout->has_first_host);
         i++) {
        int kind = group_of[hosts[i]];
        if (kind < 0 || first[kind] != i + 1) {
            continue;
        }
        layout->n_hosts = 0;
        for (int at = i + 1; at > 0; at = next[at - 1]) {
            layout->hosts[layout->n_hosts++] = hosts[at - 1];
        }
        int n_slots = fill_anew(layout);
        most = n_slots > most ? n_slots : most;
    }
    free(first);
    free(next);
    return most;
}

/* The hosts are tried in that order. */
static int fill_order(struct place_layout *layout, const int *hosts)
{
    const struct place_span *span = layout->span;
    int n_hosts = layout->request->n_hosts, most = 0;
    if (span->n_same == 0) {
        memcpy(layout->hosts, hosts, (size_t)n_hosts * sizeof(*hosts));
        layout->n_hosts = n_hosts;
        most = fill_anew(layout);
    }
    for (int i = 0; i < span->n_same && most < layout->request->min; i++) {
        int n_slots = fill_groups(layout, hosts, span->same[i], span->n_same_groups[i]);
        most = n_slots > most ? n_slots : most;
    }
    return most;
}

/* ---------------------------------------------------------------- the first host */

/* Moves the piece on that host to the front. False: it has none. */
static bool put_first(struct place_span_request *request, int host)
{
    for (int i = 0; i < request->n_pieces; i++) {
        struct rusage_piece piece = request->pieces[i];
        if (piece.host == host) {
            memmove(&request->pieces[1], &request->pieces[0],
                    (size_t)i * sizeof(piece));
            request->pieces[0] = piece;
            return true;
        }
    }
    return false;
}

/* Tries the hosts that may be the first one, each before all others. */
static int fill_first(struct place_layout *layout)
{
    struct place_span_request *request = layout->request;
    size_t n_hosts = (size_t)request->n_hosts;
    int *hosts = mem_alloc(n_hosts + 1, sizeof(*hosts));
    int most = 0;
    layout->has_first_host = true;
    for (int i = 0; i < request->n_hosts && most < request->min; i++) {
        int host = request->hosts[i];
        if (!layout->span->is_first[host]) {
            continue;
        }
        hosts[0] = host;
        memcpy(&hosts[1], request->hosts, (size_t)i * sizeof(*hosts));
        memcpy(&hosts[i + 1], &request->hosts[i + 1],
               (n_hosts - (size_t)i - 1) * sizeof(*hosts));
        int n_slots = fill_order(layout, hosts);
        if (n_slots >= request->min && !put_first(request, host)) {
            n_slots = request->min - 1;
        }
        most = n_slots > most ? n_slots : most;
    }
    free(hosts);
    return most;
}

int place_span_fit(const struct place_span *span, struct place_span_request *request)
{
    size_t n_hosts = (size_t)request->n_hosts + 1;
    struct place_layout layout = {.span = span, .request = request};
    layout.hosts = mem_alloc(n_hosts, sizeof(*layout.hosts));
    layout.piece_of = mem_alloc(n_hosts, sizeof(*layout.piece_of));
    int most = span->is_first != NULL ? fill_first(&layout)
                                      : fill_order(&layout, request->hosts);
    request->n_pieces = most < request->min ? 0 : request->n_pieces;
    free(layout.hosts);
    free(layout.piece_of);
    return most;
}

const struct place_span_units *place_span_exclusive_units(const struct place_span *span)
{
    bool is_exclusive =
        span != NULL && span->units != NULL && span->units->next_in_unit != NULL;
    return is_exclusive ? span->units : NULL;
}
