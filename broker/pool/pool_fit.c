/* SPDX-License-Identifier: Apache-2.0 */
/* pool_fit.c: see pool_fit.h.
 *
 * Example: /a and /b own 5 of 10 slots each; /a has a job of 8, /b ten jobs of 1.
 *     quotas 5 and 5: /a cannot use its 5, so it wants 0
 *     quotas 0 and 10: /b can use its 10 */
#include "broker/pool/pool_fit.h"

#include <stddef.h>

/* Larger jobs first: that is what fills the room best. A row holds jobs of one size. */
int64_t pool_fit_usable(const struct member *site, const struct plan_node *leaf,
                        int64_t room)
{
    int64_t below = INT64_MAX, usable = 0;
    while (room > usable && below > 0) {
        const struct queue_demand *demands;
        int at = 0, n_demands;
        int64_t size = 0, n_slots = 0;
        while ((demands = member_demands(site, leaf->queues, leaf->n_queues, &at,
                                         &n_demands)) != NULL) {
            for (int i = 0; i < n_demands; i++) {
                int64_t of = plan_max(demands[i].job_size, 1);
                bool is_larger = of < below && of > size;
                n_slots = is_larger ? 0 : n_slots;
                size = is_larger ? of : size;
                n_slots += of == size ? demands[i].n_waiting : 0;
            }
        }
        if (size > 0) {
            usable += plan_min((room - usable) / size, n_slots / size) * size;
        }
        below = size;
    }
    return usable;
}

uint64_t pool_fit_needs(const struct member *site, const struct plan_node *leaf)
{
    const struct queue_demand *demands;
    uint64_t needs = 0;
    int at = 0, n_demands;
    while ((demands = member_demands(site, leaf->queues, leaf->n_queues, &at,
                                     &n_demands)) != NULL) {
        for (int i = 0; i < n_demands; i++) {
            needs += demands[i].needs;
        }
    }
    return needs;
}

/* What the leaf wants if it can use less than its quota; else its demand. */
static int64_t fitted(const struct members *members,
                      const struct pool_snapshot *snapshot,
                      const struct pool_cycle *cycle, int node)
{
    const struct plan_node *leaf = &snapshot->plan->nodes[node];
    int64_t demand = snapshot->uses[node].demand, quota = cycle->shares[node].quota;
    const struct member *site =
        plan_is_leaf(leaf) && leaf->site != NULL && quota < demand
            ? members_find(members, leaf->site)
            : NULL;
    if (site == NULL || !site->is_here) {
        return demand;
    }
    int64_t n_used = snapshot->activity[node].n_used;
    int64_t wanted = n_used + pool_fit_usable(site, leaf, quota - n_used);
    return wanted < quota ? wanted : demand;
}

void pool_fit_decide(const struct members *members, struct pool_snapshot *snapshot,
                     struct pool_cycle *cycle, struct arena *arena)
{
    int n_nodes = snapshot->plan->n_nodes, n_unfit;
    int *unfit = arena_alloc(arena, (size_t)n_nodes, sizeof(*unfit));
    do {
        pool_snapshot_decide(snapshot, cycle, arena);
        n_unfit = 0;
        for (int i = 0; i < n_nodes; i++) {
            if (fitted(members, snapshot, cycle, i) < snapshot->uses[i].demand) {
                unfit[n_unfit++] = i;
            }
        }
        for (int k = n_unfit / 2; k < n_unfit; k++) {
            struct plan_use *use = &snapshot->uses[unfit[k]];
            use->demand = fitted(members, snapshot, cycle, unfit[k]);
            use->is_fitted = true;
        }
    } while (n_unfit > 0);
}
