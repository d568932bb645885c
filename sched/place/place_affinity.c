/* SPDX-License-Identifier: Apache-2.0 */
/* place_affinity.c: see place_affinity.h. How many tasks of a request fit on a host is
 * computed once until the host is given to another job. */
#include "sched/place/place_affinity.h"

#include <stdlib.h>

/* Of one request, by host. */
struct rooms {
    const struct affinity_request *request;
    int *tasks;
    unsigned *as_of; /* the version of the host; 0: not known */
    struct rooms *next;
};

struct place_affinity {
    const struct affinity_use **use; /* by host, in the course of the pass */
    int *n_kept;                     /* by host: reservations that it is kept for */
    unsigned *versions;              /* by host, from 1 on */
    struct rooms *rooms;
};

const struct affinity_request *place_affinity_of(const struct rusage_request *rusage)
{
    return rusage != NULL ? rusage->affinity : NULL;
}

struct place_affinity *place_affinity_new(struct arena *arena,
                                          const struct place_snapshot *snapshot)
{
    size_t n_hosts = (size_t)snapshot->n_hosts;
    struct place_affinity *affinity = arena_alloc(arena, 1, sizeof(*affinity));
    affinity->use = arena_alloc(arena, n_hosts, sizeof(*affinity->use));
    affinity->versions = arena_alloc(arena, n_hosts, sizeof(*affinity->versions));
    affinity->n_kept = arena_alloc(arena, n_hosts, sizeof(*affinity->n_kept));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        affinity->use[i] = snapshot->affinity[i].use;
        affinity->versions[i] = 1;
    }
    return affinity;
}

static struct rooms *rooms_of(const struct place_state *state,
                              const struct affinity_request *request)
{
    struct place_affinity *affinity = state->affinity;
    size_t n_hosts = (size_t)state->snapshot->n_hosts;
    struct rooms *rooms = affinity->rooms;
    while (rooms != NULL && !affinity_is_same(rooms->request, request)) {
        rooms = rooms->next;
    }
    if (rooms == NULL) {
        rooms = arena_alloc(state->arena, 1, sizeof(*rooms));
        rooms->request = request;
        rooms->tasks = arena_alloc(state->arena, n_hosts, sizeof(*rooms->tasks));
        rooms->as_of = arena_alloc(state->arena, n_hosts, sizeof(*rooms->as_of));
        rooms->next = affinity->rooms;
        affinity->rooms = rooms;
    }
    return rooms;
}

int place_affinity_room(const struct place_state *state, int host,
                        const struct affinity_request *request)
{
    const struct cpu_topology *topology =
        state->affinity != NULL ? state->snapshot->affinity[host].topology : NULL;
    if (topology == NULL || state->affinity->n_kept[host] > 0) {
        return 0;
    }
    struct rooms *rooms = rooms_of(state, request);
    if (rooms->as_of[host] != state->affinity->versions[host]) {
        int n_most = state->snapshot->hosts[host].max;
        n_most = n_most < AFFINITY_TASKS_MAX ? n_most : AFFINITY_TASKS_MAX;
        rooms->as_of[host] = state->affinity->versions[host];
        rooms->tasks[host] =
            affinity_fit(topology, state->affinity->use[host], request, n_most, NULL);
    }
    return rooms->tasks[host];
}

/* The processors of the tasks on one host. False: there is no room. */
static bool bind_host(const struct place_state *state,
                      const struct affinity_request *request, int index,
                      const struct host_slots *slots, struct cpu_binding_host *bound)
{
    const struct cpu_topology *topology = state->snapshot->affinity[index].topology;
    size_t n_tasks = (size_t)slots->n_slots;
    bound->host = slots->host;
    bound->n_tasks = slots->n_slots;
    bound->tasks = arena_alloc(state->arena, n_tasks, sizeof(*bound->tasks));
    if (topology == NULL ||
        affinity_fit(topology, state->affinity->use[index], request, slots->n_slots,
                     bound->tasks) < slots->n_slots) {
        return false;
    }
    struct cpu_set units = {{0}};
    for (int i = 0; i < bound->n_tasks; i++) {
        cpu_set_join(&units, &bound->tasks[i]);
    }
    affinity_bound(topology, request, &units, &bound->cpus, &bound->nodes);
    return true;
}

static void take_on(const struct place_state *state,
                    const struct affinity_request *request, int index,
                    const struct cpu_binding_host *bound)
{
    struct affinity_use *use = arena_alloc(state->arena, 1, sizeof(*use));
    if (state->affinity->use[index] != NULL) {
        *use = *state->affinity->use[index];
    }
    for (int i = 0; i < bound->n_tasks; i++) {
        affinity_take(state->snapshot->affinity[index].topology, request,
                      &bound->tasks[i], use);
    }
    state->affinity->use[index] = use;
    state->affinity->versions[index]++;
}

bool place_affinity_take(const struct place_state *state,
                         const struct affinity_request *request,
                         struct place_start *start, const int *indexes)
{
    struct cpu_binding binding = {
        .unit = request->unit,
        .bind = request->bind,
        .exclusive = request->exclusive,
        .scopes = request->scopes,
        .memory = request->memory,
        .hosts =
            arena_alloc(state->arena, (size_t)start->n_hosts, sizeof(*binding.hosts)),
        .n_hosts = start->n_hosts,
    };
    for (int i = 0; i < start->n_hosts; i++) {
        if (state->affinity == NULL ||
            !bind_host(state, request, indexes[i], &start->hosts[i],
                       &binding.hosts[i])) {
            return false;
        }
    }
    start->binding = cpu_binding_format(state->arena, &binding);
    for (int i = 0; i < start->n_hosts && start->binding != NULL; i++) {
        take_on(state, request, indexes[i], &binding.hosts[i]);
    }
    return start->binding != NULL;
}

void place_affinity_keep(const struct place_state *state, int host, int sign)
{
    if (state->affinity != NULL) {
        state->affinity->n_kept[host] += sign;
    }
}

void place_affinity_assume(const struct place_state *then,
                           const struct place_state *now, int host, bool is_idle,
                           bool is_last)
{
    then->affinity->use[host] = is_idle ? NULL : now->affinity->use[host];
    then->affinity->n_kept[host] = is_last ? 0 : now->affinity->n_kept[host];
    then->affinity->versions[host]++;
}

void place_affinity_forget(const struct place_state *state)
{
    if (state->affinity != NULL) {
        state->affinity->rooms = NULL;
    }
}
