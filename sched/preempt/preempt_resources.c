/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_resources.c: see preempt_resources.h. */
#include "sched/preempt/preempt_resources.h"

void preempt_resources_init(struct preempt_resources *resources, struct arena *arena,
                            const struct place_snapshot *place)
{
    static const struct rusage_supply nothing; /* an alternative may reserve nothing */
    *resources = (struct preempt_resources){
        .supply = place->supply != NULL ? place->supply : &nothing};
    size_t n_pools = (size_t)resources->supply->n_supplies;
    resources->released = arena_alloc(arena, n_pools, sizeof(*resources->released));
    resources->left = arena_alloc(arena, n_pools, sizeof(*resources->left));
    resources->pieces =
        arena_alloc(arena, (size_t)place->n_hosts + 1, sizeof(*resources->pieces));
}

void preempt_resources_begin(struct preempt_resources *resources, const int64_t *left)
{
    for (int i = 0; i < resources->supply->n_supplies; i++) {
        resources->left[i] = left[i] + resources->released[i];
    }
}

void preempt_resources_set(struct preempt_resources *resources,
                           const struct preempt_job *job, bool is_victim)
{
    if (resources->supply->n_supplies > 0) {
        rusage_supply_take(resources->released, job->releases, job->n_releases,
                           is_victim ? -1 : 1);
        rusage_supply_take(resources->left, job->releases, job->n_releases,
                           is_victim ? -1 : 1);
    }
}

int64_t *preempt_resources_demand(const struct rusage_supply *reserve,
                                  struct arena *arena,
                                  const struct rusage_request *rusage,
                                  const uint8_t *allowed, int n_hosts)
{
    size_t n_pools = reserve != NULL ? (size_t)reserve->n_supplies : 0;
    int64_t *demand = arena_alloc(arena, n_pools, sizeof(*demand));
    for (int i = 0; i < rusage->n_items; i++) {
        const struct rusage_item *ask = &rusage->items[i];
        for (int host = 0; host < n_hosts; host++) {
            int pool = reserve->resources[ask->resource].supply_of[host];
            if (allowed[host] && pool >= 0) {
                demand[pool] = ask->milli;
            }
        }
    }
    return demand;
}

bool preempt_resources_has(const struct preempt_job *job, const int64_t *demand)
{
    bool has_any = false;
    for (int i = 0; demand != NULL && i < job->n_releases; i++) {
        has_any = has_any ||
                  (job->releases[i].milli > 0 && demand[job->releases[i].supply] > 0);
    }
    return has_any;
}

bool preempt_resources_helps(const struct preempt_resources *resources,
                             const int64_t *demand, int n_slots,
                             const struct preempt_job *job)
{
    for (int i = 0; i < job->n_releases; i++) {
        const struct rusage_amount *part = &job->releases[i];
        int64_t before = resources->left[part->supply] - part->milli;
        if (part->milli > 0 && before < demand[part->supply] * n_slots) {
            return true;
        }
    }
    return false;
}

bool preempt_resources_may_suffice(const struct preempt_resources *resources,
                                   const struct rusage_request *rusage,
                                   const uint8_t *allowed, int n_hosts)
{
    for (int i = 0; i < rusage->n_items; i++) {
        const struct rusage_item *ask = &rusage->items[i];
        const struct rusage_resource *kind =
            &resources->supply->resources[ask->resource];
        bool is_there = kind->is_preemptable;
        for (int host = 0; !is_there && host < n_hosts; host++) {
            int pool = kind->supply_of[host];
            is_there =
                allowed[host] && pool >= 0 && resources->left[pool] >= ask->milli;
        }
        if (!is_there) {
            return false;
        }
    }
    return true;
}

static void list_pieces(struct preempt_resources *resources,
                        const struct host_slots *hosts, const int *places, int n_pieces)
{
    for (int i = 0; i < n_pieces; i++) {
        resources->pieces[i] = (struct rusage_piece){places[i], hosts[i].n_slots};
    }
}

int preempt_resources_max_slots(struct preempt_resources *resources,
                                const struct rusage_request *rusage, int host,
                                const struct host_slots *hosts, const int *places,
                                int n_pieces)
{
    int lacking;
    list_pieces(resources, hosts, places, n_pieces);
    return rusage_supply_max_slots(resources->supply, resources->left, rusage, host,
                                   resources->pieces, n_pieces, &lacking);
}

void preempt_resources_claim(struct preempt_resources *resources, struct arena *arena,
                             const struct place_part *part, int64_t *left)
{
    size_t n_most = (size_t)part->rusage->n_items * (size_t)part->n_pieces;
    struct rusage_amount *amounts = arena_alloc(arena, n_most, sizeof(*amounts));
    int n_amounts = rusage_supply_amounts(resources->supply, part->rusage, part->pieces,
                                          part->n_pieces, amounts);
    for (int i = 0; i < n_amounts; i++) {
        int supply = amounts[i].supply;
        int64_t need = amounts[i].milli;
        resources->released[supply] -=
            need - rusage_supply_take_some(&left[supply], need);
        resources->left[supply] -= need;
    }
}
