/* SPDX-License-Identifier: Apache-2.0 */
/* place_state.c: see place_state.h. */
#include "sched/place/place_state.h"

#include <limits.h>
#include <string.h>

#include "sched/place/candidates.h"

int place_state_free_slots(const struct place_state *state, int host, bool is_exclusive)
{
    const struct place_host *at = &state->snapshot->hosts[host];
    int left = at->max - state->used[host];
    bool is_usable = at->is_open && !state->is_used_exclusively[host] && !at->is_held;
    if (is_exclusive && (state->used[host] > 0 || at->is_shared)) {
        return 0;
    }
    return is_usable && left > 0 ? left : 0;
}

bool place_state_unit_is_empty(const struct place_state *state,
                               const struct place_span_units *units, int host)
{
    int at = host;
    do {
        const struct place_host *place = &state->snapshot->hosts[at];
        if (state->used[at] > 0 || state->is_used_exclusively[at] || place->is_held ||
            place->is_shared || place->n_suspended > 0) {
            return false;
        }
        at = units->next_in_unit[at];
    } while (at != host && at >= 0);
    return at == host;
}

void place_state_close_unit(struct place_state *state,
                            const struct place_span_units *units, int host)
{
    int at = host;
    do {
        state->is_used_exclusively[at] = true;
        at = units->next_in_unit[at];
    } while (at != host && at >= 0);
}

bool place_state_in_accept_interval(const struct place_state *state, int host,
                                    int64_t accept_ms)
{
    int64_t at_ms = state->dispatched_ms[host];
    return accept_ms > 0 && at_ms > state->snapshot->now_ms - accept_ms &&
           at_ms <= state->snapshot->now_ms; /* not where the clock was set back */
}

const struct load_excess *place_state_load(const struct place_snapshot *snapshot,
                                           int queue, int host)
{
    const struct load_excess *loads =
        snapshot->load_excess != NULL ? snapshot->load_excess[queue] : NULL;
    return loads != NULL && loads[host].index != NULL ? &loads[host] : NULL;
}

bool place_state_is_full(struct place_state *state)
{
    const struct place_snapshot *snapshot = state->snapshot;
    while (state->n_full < snapshot->n_hosts &&
           place_state_free_slots(state, state->n_full, false) == 0) {
        state->n_full++; /* slots only get fewer in a pass */
    }
    return state->n_full == snapshot->n_hosts;
}

/* Hosts of one lease come one after the other. */
static int group_of(struct place_state *state, int host)
{
    const struct place_host *hosts = state->snapshot->hosts;
    if (hosts[host].lease[0] == '\0') {
        return 0;
    }
    if (host == 0 || strcmp(hosts[host - 1].lease, hosts[host].lease) != 0) {
        state->first_host[state->n_groups++] = host;
    }
    return state->n_groups - 1;
}

/* One walk over the hosts, of which there are thousands. */
static void set_hosts(struct place_state *state)
{
    const struct place_snapshot *snapshot = state->snapshot;
    state->n_groups = 1; /* the own hosts, even if there are none */
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const struct place_host *host = &snapshot->hosts[i];
        state->used[i] = host->used;
        state->suspended[i] = host->n_suspended;
        state->dispatched_ms[i] = host->dispatched_ms;
        state->is_used_exclusively[i] = host->is_used_exclusively;
        state->has_queue_hosts = state->has_queue_hosts || host->n_queues > 0;
        state->group_of[i] = group_of(state, i);
    }
}

bool place_state_takes_queue(const struct place_host *host, const char *queue)
{
    for (int i = 0; i < host->n_queues; i++) {
        if (strcmp(host->queues[i], queue) == 0) {
            return true;
        }
    }
    return host->n_queues == 0;
}

void place_state_init(struct place_state *state, struct arena *arena,
                      const struct place_snapshot *snapshot)
{
    size_t n_hosts = (size_t)snapshot->n_hosts;
    state->snapshot = snapshot;
    state->arena = arena;
    state->used = arena_alloc(arena, n_hosts, sizeof(int));
    state->suspended = arena_alloc(arena, n_hosts, sizeof(int));
    state->dispatched_ms = arena_alloc(arena, n_hosts, sizeof(*state->dispatched_ms));
    state->is_used_exclusively = arena_alloc(arena, n_hosts, sizeof(bool));
    state->group_of = arena_alloc(arena, n_hosts, sizeof(int));
    state->first_host = arena_alloc(arena, n_hosts + 1, sizeof(int));
    set_hosts(state);
    if (snapshot->supply != NULL) {
        state->supply_left =
            arena_copy(arena, snapshot->supply->left,
                       (size_t)snapshot->supply->n_supplies * sizeof(int64_t));
    }
    if (snapshot->affinity != NULL) {
        state->affinity = place_affinity_new(arena, snapshot);
    }
    state->same_as = arena_alloc(arena, (size_t)snapshot->n_queues, sizeof(int));
    state->ranked = arena_alloc(arena, n_hosts, sizeof(*state->ranked));
    if (snapshot->limits != NULL) {
        state->of_class = arena_alloc(arena, (size_t)snapshot->n_classes,
                                      sizeof(struct candidates *));
    }
}

void place_state_add_waiting(const struct place_state *state, int group,
                             int64_t n_slots, struct place_plan *plan)
{
    int *sum = group == 0 ? &plan->waiting_own
                          : &plan->waiting_lease[state->first_host[group]];
    *sum = n_slots > INT_MAX - *sum ? INT_MAX : *sum + (int)n_slots;
}
