/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_resources.c: see preempt_resources.h. */
#include "sched/preempt/preempt_resources.h"

void preempt_resources_init(struct preempt_resources *give, struct arena *arena,
                            const struct place_snapshot *place)
{
    static const struct rusage_supply nothing; /* an alternative may reserve nothing */
    *give = (struct preempt_resources){.reserve = place->supply != NULL ? place->supply
                                                                        : &nothing};
    size_t n_pools = (size_t)give->reserve->n_supplies;
    give->released = arena_alloc(arena, n_pools, sizeof(*give->released));
    give->left = arena_alloc(arena, n_pools, sizeof(*give->left));
    give->pieces =
        arena_alloc(arena, (size_t)place->n_hosts + 1, sizeof(*give->pieces));
}

void preempt_resources_begin(struct preempt_resources *give, const int64_t *left)
{
    for (int i = 0; i < give->reserve->n_supplies; i++) {
        give->left[i] = left[i] + give->released[i];
    }
}

void preempt_resources_set(struct preempt_resources *give,
                           const struct preempt_job *job, bool is_still)
{
    if (give->reserve->n_supplies > 0) {
        rusage_supply_take(give->released, job->releases, job->n_releases,
                           is_still ? -1 : 1);
        rusage_supply_take(give->left, job->releases, job->n_releases,
                           is_still ? -1 : 1);
    }
}

int64_t *preempt_resources_demand(const struct rusage_supply *reserve,
                                  struct arena *arena,
                                  const struct rusage_request *asks,
                                  const uint8_t *allowed, int n_hosts)
{
    size_t n_pools = reserve != NULL ? (size_t)reserve->n_supplies : 0;
    int64_t *wants = arena_alloc(arena, n_pools, sizeof(*wants));
    for (int i = 0; i < asks->n_items; i++) {
        const struct rusage_item *ask = &asks->items[i];
        for (int host = 0; host < n_hosts; host++) {
            int pool = reserve->resources[ask->resource].supply_of[host];
            if (allowed[host] && pool >= 0) {
                wants[pool] = ask->milli;
            }
        }
    }
    return wants;
}

bool preempt_resources_has(const struct preempt_job *job, const int64_t *wants)
{
    bool has_any = false;
    for (int i = 0; wants != NULL && i < job->n_releases; i++) {
        has_any = has_any ||
                  (job->releases[i].milli > 0 && wants[job->releases[i].supply] > 0);
    }
    return has_any;
}

bool preempt_resources_helps(const struct preempt_resources *give, const int64_t *wants,
                             int n_slots, const struct preempt_job *job)
{
    for (int i = 0; i < job->n_releases; i++) {
        const struct rusage_amount *part = &job->releases[i];
        int64_t before = give->left[part->supply] - part->milli;
        if (part->milli > 0 && before < wants[part->supply] * n_slots) {
            return true;
        }
    }
    return false;
}

bool preempt_resources_may_suffice(const struct preempt_resources *give,
                                   const struct rusage_request *asks,
                                   const uint8_t *allowed, int n_hosts)
{
    for (int i = 0; i < asks->n_items; i++) {
        const struct rusage_item *ask = &asks->items[i];
        const struct rusage_resource *kind = &give->reserve->resources[ask->resource];
        bool is_there = kind->is_preemptable;
        for (int host = 0; !is_there && host < n_hosts; host++) {
            int pool = kind->supply_of[host];
            is_there = allowed[host] && pool >= 0 && give->left[pool] >= ask->milli;
        }
        if (!is_there) {
            return false;
        }
    }
    return true;
}

static void list_pieces(struct preempt_resources *give, const struct host_slots *hosts,
                        const int *places, int n_pieces)
{
    for (int i = 0; i < n_pieces; i++) {
        give->pieces[i] = (struct rusage_piece){places[i], hosts[i].n_slots};
    }
}

int preempt_resources_room(struct preempt_resources *give,
                           const struct rusage_request *asks, int host,
                           const struct host_slots *hosts, const int *places,
                           int n_pieces)
{
    int lacking;
    list_pieces(give, hosts, places, n_pieces);
    return rusage_supply_max_slots(give->reserve, give->left, asks, host, give->pieces,
                                   n_pieces, &lacking);
}

void preempt_resources_claim(struct preempt_resources *give, struct arena *arena,
                             const struct rusage_request *asks,
                             const struct host_slots *hosts, const int *places,
                             int n_pieces, int64_t *left)
{
    size_t n_most = (size_t)asks->n_items * (size_t)n_pieces;
    struct rusage_amount *parts = arena_alloc(arena, n_most, sizeof(*parts));
    list_pieces(give, hosts, places, n_pieces);
    int n_parts =
        rusage_supply_amounts(give->reserve, asks, give->pieces, n_pieces, parts);
    for (int i = 0; i < n_parts; i++) {
        int supply = parts[i].supply;
        int64_t need = parts[i].milli;
        give->released[supply] -= need - rusage_supply_take_some(&left[supply], need);
        give->left[supply] -= need;
    }
}
