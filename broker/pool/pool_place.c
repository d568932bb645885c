/* SPDX-License-Identifier: Apache-2.0 */
/* pool_place.c: which hosts' idle slots a leaf is granted.
 *
 * Hosts of the leaf's own site come first. Then the pool's PLACEMENT decides:
 *
 *     stacked    a host is used up before the next, in the order of policies and hosts
 *     balanced   slot by slot, each time from the host with most idle slots
 *     exclusive  whole hosts without any granted slot, and not larger than what is
 *                still to be granted
 *
 * Units: slots. Ownership: the memory is the arena's; the idle slots of the snapshot's
 * hosts are reduced. Order: ties by policy, then host, as in the snapshot.
 * Source: docs/design/plans.md "Exclusive hosts", "Windows", "Decided".
 *
 * Hosts of one provider are consecutive in the snapshot, as ids of leases begin with
 * its name. Each such run, and the whole, has a heap (balanced) or an index before
 * which there are no idle slots (stacked, exclusive).
 *
 * Example: n1 and n2 of 4 slots each, both idle, 3 to be granted: stacked n1 3;
 * balanced n1 1, n2 1, n1 1; exclusive none. */
#include "broker/pool/pool_table.h"

#include <stdlib.h>
#include <string.h>

#include "broker/lease/lease.h"

struct run {
    const char *site; /* NULL: all of them */
    int first, count;
    int from;  /* no host before it has idle slots */
    int *heap; /* balanced: hosts, most idle slots first; may be outdated */
    int n_heap;
};

struct pool_place {
    struct pool_snapshot *snapshot;
    enum plan_placement placement;
    struct run *runs; /* [0] is all; then one for each provider */
    int n_runs;
    /* The pick that is being made: slots by host, and which hosts have some. */
    int *picked, *touched;
    int n_touched;
};

/* ---------------------------------------------------------------- heap */

static bool is_before(const struct pool_snapshot *snapshot, int a, int b)
{
    int idle_a = snapshot->hosts[a].n_idle, idle_b = snapshot->hosts[b].n_idle;
    return idle_a != idle_b ? idle_a > idle_b : a < b;
}

static void sink(const struct pool_snapshot *snapshot, struct run *run, int at)
{
    for (;;) {
        int first = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < run->n_heap &&
                is_before(snapshot, run->heap[child], run->heap[first])) {
                first = child;
            }
        }
        if (first == at) {
            return;
        }
        int host = run->heap[at];
        run->heap[at] = run->heap[first];
        run->heap[first] = host;
        at = first;
    }
}

static void make_heap(const struct pool_snapshot *snapshot, struct run *run,
                      struct arena *arena)
{
    run->heap = arena_alloc(arena, (size_t)run->count, sizeof(*run->heap));
    for (int i = 0; i < run->count; i++) {
        run->heap[run->n_heap++] = run->first + i;
    }
    for (int i = run->n_heap / 2 - 1; i >= 0; i--) {
        sink(snapshot, run, i);
    }
}

/* ---------------------------------------------------------------- runs */

static const char *site_of(const struct pool_snapshot *snapshot, int host)
{
    return snapshot->hosts[host].idle_lease->provider->name;
}

struct pool_place *pool_place_new(struct pool_snapshot *snapshot,
                                  enum plan_placement placement, struct arena *arena)
{
    struct pool_place *place = arena_alloc(arena, 1, sizeof(*place));
    size_t n_hosts = (size_t)snapshot->n_hosts;
    place->snapshot = snapshot;
    place->placement = placement;
    place->picked = arena_alloc(arena, n_hosts, sizeof(*place->picked));
    place->touched = arena_alloc(arena, n_hosts, sizeof(*place->touched));
    place->runs = arena_alloc(arena, n_hosts + 1, sizeof(*place->runs));
    place->runs[place->n_runs++] = (struct run){.count = snapshot->n_hosts};
    for (int i = 0; i < snapshot->n_hosts; i++) {
        struct run *run = &place->runs[place->n_runs - 1];
        if (run->site == NULL || strcmp(run->site, site_of(snapshot, i)) != 0) {
            place->runs[place->n_runs++] =
                (struct run){.site = site_of(snapshot, i), .first = i, .from = i};
            run++;
        }
        run->count++;
    }
    for (int i = 0; i < place->n_runs && placement == PLAN_BALANCED; i++) {
        make_heap(snapshot, &place->runs[i], arena);
    }
    return place;
}

/* ---------------------------------------------------------------- picks */

static void pick(struct pool_place *place, int host, int n_slots)
{
    if (place->picked[host] == 0) {
        place->touched[place->n_touched++] = host;
    }
    place->picked[host] += n_slots;
    place->snapshot->hosts[host].n_idle -= n_slots;
}

static int64_t pick_stacked(struct pool_place *place, struct run *run, int64_t n_slots)
{
    const struct pool_host *hosts = place->snapshot->hosts;
    while (n_slots > 0 && run->from < run->first + run->count) {
        int64_t n = plan_min(hosts[run->from].n_idle, n_slots);
        if (n <= 0) {
            run->from++;
            continue;
        }
        pick(place, run->from, (int)n);
        n_slots -= n;
    }
    return n_slots;
}

/* Its place in this heap is right; in others it is when they come to it. */
static int64_t pick_balanced(struct pool_place *place, struct run *run, int64_t n_slots)
{
    const struct pool_snapshot *snapshot = place->snapshot;
    while (n_slots > 0 && run->n_heap > 0) {
        int host = run->heap[0], idle = snapshot->hosts[host].n_idle;
        sink(snapshot, run, 0);
        if (run->heap[0] != host) {
            continue; /* another heap has taken of it */
        }
        if (idle <= 0) {
            break;
        }
        pick(place, host, 1);
        n_slots--;
        sink(snapshot, run, 0);
    }
    return n_slots;
}

static int64_t pick_whole(struct pool_place *place, const struct run *run,
                          int64_t n_slots)
{
    const struct pool_host *hosts = place->snapshot->hosts;
    for (int i = run->first; i < run->first + run->count && n_slots > 0; i++) {
        if (hosts[i].n_idle > 0 && hosts[i].n_idle == hosts[i].n_slots &&
            hosts[i].n_slots <= n_slots) {
            n_slots -= hosts[i].n_slots;
            pick(place, i, hosts[i].n_slots);
        }
    }
    return n_slots;
}

static int64_t pick_from(struct pool_place *place, struct run *run, int64_t n_slots)
{
    switch (place->placement) {
    case PLAN_STACKED:
        return pick_stacked(place, run, n_slots);
    case PLAN_BALANCED:
        return pick_balanced(place, run, n_slots);
    case PLAN_EXCLUSIVE:
        return pick_whole(place, run, n_slots);
    }
    return n_slots;
}

static int compare_hosts(const void *left, const void *right)
{
    const int *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int pool_place_pick(struct pool_place *place, const char *site, bool only_own,
                    int64_t n_slots, struct arena *arena, struct pool_pick **picks)
{
    int n_picks = 0;
    for (int i = 1; i < place->n_runs; i++) {
        if (strcmp(place->runs[i].site, site) == 0) {
            n_slots = pick_from(place, &place->runs[i], n_slots);
        }
    }
    pick_from(place, &place->runs[0], only_own ? 0 : n_slots);
    qsort(place->touched, (size_t)place->n_touched, sizeof(*place->touched),
          compare_hosts);
    *picks = arena_alloc(arena, (size_t)place->n_touched, sizeof(**picks));
    for (; n_picks < place->n_touched; n_picks++) {
        int host = place->touched[n_picks];
        (*picks)[n_picks] = (struct pool_pick){host, place->picked[host]};
        place->picked[host] = 0;
    }
    place->n_touched = 0;
    return n_picks;
}
