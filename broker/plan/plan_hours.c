/* SPDX-License-Identifier: Apache-2.0 */
/* plan_hours.c: see plan.h.
 *
 * Example: /eng has HOURS 100, /eng/a 90 and /eng/b none. /eng/a has used 60, /eng/b
 * 41: /eng has used 101, so that neither leaf borrows any more. /eng/a alone could use
 * 30 more. */
#include "broker/plan/plan.h"

static enum quota_level level_of(const struct plan *plan, int node, int64_t used_ms)
{
    return quota_level(&(struct quota){.n_hours = plan->nodes[node].hours,
                                       .used_ms = used_ms,
                                       .hour_ms = plan->settings.hour_ms});
}

struct plan_hours *plan_hours_all(const struct plan *plan, const int64_t *used_ms,
                                  struct arena *arena)
{
    struct plan_hours *hours =
        arena_alloc(arena, (size_t)plan->n_nodes, sizeof(*hours));
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        int parent = plan->nodes[i].parent;
        hours[i].used_ms += used_ms[i];
        hours[i].level = level_of(plan, i, hours[i].used_ms);
        if (parent != PLAN_NO_NODE) {
            hours[parent].used_ms += hours[i].used_ms;
        }
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct plan_node *node = &plan->nodes[i];
        if (hours[i].level == QUOTA_SPENT) {
            hours[i].spent_by = node->name;
        } else if (node->parent != PLAN_NO_NODE) {
            hours[i].spent_by = hours[node->parent].spent_by;
        }
    }
    return hours;
}

static int64_t next_of(const struct plan *plan, int node, enum quota_level level,
                       int64_t used_ms, int64_t n_used, int64_t now_ms)
{
    const struct quota expected = {.n_hours = plan->nodes[node].hours,
                                   .hour_ms = plan->settings.hour_ms,
                                   .month_ms = quota_month_ms(now_ms),
                                   .used_ms = used_ms,
                                   .booked_ms = now_ms,
                                   .n_used = (int)plan_min(n_used, INT32_MAX)};
    return quota_level(&expected) != level ? now_ms : quota_wake_ms(&expected);
}

int64_t plan_hours_next_ms(const struct plan *plan, const struct plan_hours *hours,
                           const struct plan_hours_use *uses, int64_t now_ms,
                           struct arena *arena)
{
    struct plan_hours_use *sums =
        arena_copy(arena, uses, (size_t)plan->n_nodes * sizeof(*uses));
    int64_t next_ms = INT64_MAX;
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        const struct plan_node *node = &plan->nodes[i];
        if (node->hours > 0) {
            next_ms = plan_min(next_ms, next_of(plan, i, hours[i].level,
                                                hours[i].used_ms + sums[i].more_ms,
                                                sums[i].n_used, now_ms));
        }
        if (node->parent != PLAN_NO_NODE) {
            sums[node->parent].more_ms += sums[i].more_ms;
            sums[node->parent].n_used += sums[i].n_used;
        }
    }
    return next_ms;
}

bool plan_hours_has_any(const struct plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan->nodes[i].hours > 0) {
            return true;
        }
    }
    return false;
}
