/* SPDX-License-Identifier: Apache-2.0 */
/* place_grow.c: a running job that gets more slots; see place.h.
 *
 *     -n 4,32, has 20: n1 12, n2 8; its request is for 1 to 12 more
 *     free: n2 4: it gets n2 4, has 24 then, and asks for 1 to 8
 *
 * Slots that suspended jobs need to go on count as used while it is placed.
 *
 * Its slots count for limits. While it is placed it does not count as a job, or a limit
 * of JOBS=1 would prevent it from growing. */
#include <string.h>

#include "sched/place/place_pass.h"
#include "sched/preempt/preempt.h"

static bool is_on(const struct place_grow *grow, int host)
{
    for (int i = 0; i < grow->n_hosts; i++) {
        if (grow->indexes[i] == host) {
            return true;
        }
    }
    return false;
}

/* The class with a filter of the pass's own, whose hosts the pass narrows. */
static uint8_t *own_filter(struct arena *arena, int n_hosts, struct place_class *class)
{
    struct place_filter *filter = arena_alloc(arena, 1, sizeof(*filter));
    uint8_t *mask = arena_alloc(arena, (size_t)n_hosts + 1, 1);
    if (class->filter != NULL) {
        *filter = *class->filter;
        memcpy(mask, filter->matches, (size_t)n_hosts);
    } else {
        memset(mask, 1, (size_t)n_hosts);
    }
    filter->matches = mask;
    class->filter = filter;
    return mask;
}

static bool has_suspended_slots(const struct place_snapshot *snapshot)
{
    bool has_any = false;
    for (int i = 0; i < snapshot->n_hosts && !has_any; i++) {
        has_any = snapshot->hosts[i].n_suspended > 0;
    }
    return has_any;
}

const struct place_snapshot *place_grow_init(struct place_pass *pass,
                                             const struct place_snapshot *snapshot)
{
    size_t n_classes = (size_t)snapshot->n_classes;
    bool has_any = false;
    for (int i = 0; i < snapshot->n_classes; i++) {
        const struct place_grow *grow = snapshot->classes[i].grow;
        has_any = has_any || grow != NULL;
        pass->has_exclusive_grow =
            pass->has_exclusive_grow || (grow != NULL && grow->is_exclusive);
    }
    if (!has_any || (!pass->has_exclusive_grow && !has_suspended_slots(snapshot))) {
        return snapshot;
    }
    pass->grow_kept =
        arena_alloc(pass->arena, (size_t)snapshot->n_hosts, sizeof(*pass->grow_kept));
    struct place_snapshot *own = arena_copy(pass->arena, snapshot, sizeof(*own));
    struct place_class *classes =
        arena_copy(pass->arena, snapshot->classes, n_classes * sizeof(*classes));
    pass->grow_hosts = arena_alloc(pass->arena, n_classes, sizeof(*pass->grow_hosts));
    for (int i = 0; i < snapshot->n_classes; i++) {
        if (classes[i].grow != NULL) {
            pass->grow_hosts[i] =
                own_filter(pass->arena, snapshot->n_hosts, &classes[i]);
        }
    }
    own->classes = classes;
    return own;
}

/* An exclusive job may have slots on its own hosts, and on hosts where nothing runs. */
static void open_hosts(struct place_pass *pass, const struct place_grow *grow,
                       uint8_t *mask)
{
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        const struct place_host *host = &pass->snapshot->hosts[i];
        if (is_on(grow, i)) {
            pass->state.is_used_exclusively[i] = false;
        } else if (pass->state.used[i] > 0 || host->is_shared) {
            mask[i] = 0;
        }
    }
}

static void close_host(struct place_pass *pass, int place)
{
    if (place >= 0) {
        pass->state.is_used_exclusively[place] = true;
    }
}

/* What suspended jobs need counts as used (sign 1), or no longer (-1). */
static void keep_for_suspended(struct place_pass *pass, int sign)
{
    for (int i = 0; pass->grow_kept != NULL && i < pass->snapshot->n_hosts; i++) {
        if (sign > 0) {
            int left = place_state_free_slots(&pass->state, i, false);
            int need = pass->state.suspended[i] > 0 ? pass->state.suspended[i] : 0;
            pass->grow_kept[i] = left < need ? left : need;
        }
        pass->state.used[i] += sign * pass->grow_kept[i];
    }
}

void place_grow_open(struct place_pass *pass, int index)
{
    const struct place_class *class = &pass->snapshot->classes[index];
    const struct place_grow *grow = class->grow;
    if (class->limit_class != NULL) {
        limits_tentative_job(pass->limits, pass->arena, class->limit_class, grow->hosts,
                             grow->n_hosts, -1);
    }
    if (grow->is_exclusive) {
        open_hosts(pass, grow, pass->grow_hosts[index]);
    }
    keep_for_suspended(pass, 1);
}

/* Counts it as a job again, with its new slots, for limits and for later preemptions.
 */
static void count_more(struct place_pass *pass, const struct place_class *class,
                       const struct place_start *more)
{
    const struct place_grow *grow = class->grow;
    limits_tentative_job(pass->limits, pass->arena, class->limit_class, grow->hosts,
                         grow->n_hosts, 1);
    if (more == NULL) {
        return;
    }
    limits_tentative_grow(pass->limits, pass->arena, class->limit_class, grow->hosts,
                          grow->n_hosts, more->hosts, more->n_hosts);
    if (pass->preempt != NULL) {
        preempt_count_growth(pass->preempt, class->limit_class, grow->hosts,
                             grow->n_hosts, more->hosts, more->n_hosts);
    }
}

void place_grow_close(struct place_pass *pass, const struct place_class *class,
                      const struct place_start *more, struct pending_verdict *verdict)
{
    const struct place_grow *grow = class->grow;
    for (int i = 0; pass->grow_kept != NULL && i < pass->snapshot->n_hosts; i++) {
        verdict->n_suspended += more == NULL ? pass->grow_kept[i] : 0;
    }
    keep_for_suspended(pass, -1);
    if (class->limit_class != NULL) {
        count_more(pass, class, more);
    }
    if (!grow->is_exclusive) {
        return;
    }
    for (int i = 0; i < grow->n_hosts; i++) {
        close_host(pass, grow->indexes[i]);
    }
    for (int i = 0; more != NULL && i < more->n_hosts; i++) {
        close_host(pass, pass->alloc.indexes[i]);
    }
    if (more == NULL &&
        (verdict->reason == REASON_UNMET || verdict->reason == REASON_BUSY)) {
        verdict->reason = REASON_EXCLUSIVE;
    }
}
