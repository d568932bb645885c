/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: one pass over the lines of waiting jobs, which gives slots away as it goes.
 *
 * For each job, in the order of place_order.h: of the groups of hosts (place_view.h)
 * that have room for all of it the one with the best host, and there it takes slots
 * along the order of hosts.
 *
 *     queue HOSTS = s1+1 allremote; free: s1 1 of 2, n1@north 3 of 4, n2@north 4 of 4
 *     -n 1   s1, by its preference
 *     -n 1   s1 is full; used / max: n2@north 0, n1@north 1/4: n2@north
 *     -n 5   s1's group has 0 free, north's lease 6: n2@north 3, n1@north 2
 *
 * What keeps a pass cheap changes no result: slots only get fewer in it. A line whose
 * job finds no room is out, and a view that had no room for some slots has none for as
 * many or more. Once no host has a slot left nothing starts any more, so the lines that
 * are left are told why in whatever order they stand, and nobody sorts them. */
#include "sched/place.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/place_order.h"
#include "sched/place_take.h"
#include "sched/place_view.h"
#include "sched/preempt.h"
#include "sched/slot_reserve.h"

struct pass {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    struct limits_draft *draft; /* NULL: no limits */
    struct place_room room;
    struct place_order order;
    struct place_take take;
    int next_return;
    int64_t accept_ms; /* of the plan */
};

/* ---------------------------------------------------------------- one job */

/* Free slots of the group, as far as `enough`. */
static int free_in(const struct pass *pass, const struct place_group *group, int enough)
{
    int n_free = 0;
    for (int i = 0; i < group->count && n_free < enough; i++) {
        n_free += place_view_free_on(&pass->room, group->heap[i].host, group);
    }
    return n_free;
}

/* The group with the best host of those that have free slots for the whole job; those
 * in `tried` are out. */
static struct place_group *choose_group(struct pass *pass, struct place_view *view,
                                        int n_slots, const bool *tried)
{
    struct place_group *best = NULL;
    for (int i = 0; i < view->n_groups; i++) {
        struct place_group *group = &view->groups[i];
        const struct place_candidate *top =
            tried[i] ? NULL : place_view_top(&pass->room, group);
        if (top != NULL &&
            (best == NULL || place_view_is_better(top, &best->heap[0])) &&
            free_in(pass, group, n_slots) >= n_slots) {
            best = group;
        }
    }
    return best;
}

static int count_free(const struct pass *pass, const struct place_view *view)
{
    int n_free = 0;
    for (int i = 0; i < view->n_groups; i++) {
        const struct place_group *group = &view->groups[i];
        for (int k = 0; k < group->count; k++) {
            n_free += place_view_free_on(&pass->room, group->heap[k].host, group) > 0;
        }
    }
    return n_free;
}

/* Hosts that have too little to reserve, by the item that says so: those of the item
 * that most of them lack come first. */
struct lack {
    int n_hosts; /* in all */
    int n_full;  /* have enough, and no slot, are closed, or loaded: that would help */
    int item, n_of_item; /* -1: none */
};

static struct lack count_lack(const struct pass *pass, const struct place_view *view)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    struct lack lack = {.item = -1};
    int by_item[RESREQ_USAGE_ITEMS_MAX] = {0};
    for (int i = 0; view->asks != NULL && i < view->n_groups; i++) {
        const struct place_group *group = &view->groups[i];
        for (int k = 0; k < group->n_members; k++) {
            int host = group->members[k], item = -1;
            bool is_loaded = place_view_load(snapshot, view->queue, host) != NULL;
            bool is_usable = snapshot->hosts[host].is_open && !is_loaded &&
                             !pass->room.is_taken[host] &&
                             !snapshot->hosts[host].is_kept;
            int room = reserve_room_alone(snapshot->reserve, pass->room.left,
                                          view->asks, host, &item);
            if (room > 0) {
                lack.n_full +=
                    is_loaded ||
                    place_view_is_resting(&pass->room, host, group->accept_ms) ||
                    place_view_slots_on(&pass->room, host, view->is_exclusive) == 0;
                continue;
            }
            lack.n_hosts += is_usable;
            by_item[item] += is_usable;
        }
    }
    for (int i = 0; view->asks != NULL && i < view->asks->n_items; i++) {
        if (by_item[i] > lack.n_of_item) {
            lack.item = i;
            lack.n_of_item = by_item[i];
        }
    }
    return lack;
}

/* Hosts with room that were given a job too shortly before; notes when the first of
 * them takes one again. */
static int count_resting(struct pass *pass, const struct place_view *view)
{
    int64_t accept_ms = pass->snapshot->queues[view->queue].accept_ms;
    int n_resting = 0, lacking;
    for (int i = 0; accept_ms > 0 && i < view->n_groups; i++) {
        const struct place_group *group = &view->groups[i];
        for (int k = 0; k < group->n_members; k++) {
            int host = group->members[k];
            int64_t over_ms = pass->room.accepted_ms[host] + accept_ms;
            bool has_enough =
                view->asks == NULL ||
                reserve_room_alone(pass->snapshot->reserve, pass->room.left, view->asks,
                                   host, &lacking) > 0;
            if (has_enough && place_view_is_resting(&pass->room, host, accept_ms) &&
                place_view_load(pass->snapshot, view->queue, host) == NULL &&
                place_view_slots_on(&pass->room, host, view->is_exclusive) > 0) {
                n_resting++;
                pass->accept_ms = over_ms < pass->accept_ms ? over_ms : pass->accept_ms;
            }
        }
    }
    return n_resting;
}

/* What cannot be reserved: hosts lack it, or (`lacking`) a host that the job looked at
 * had too little for all of its slots. */
static void tell_lack(const struct pass *pass, struct place_view *view,
                      const struct lack *lack, int lacking)
{
    struct reason_verdict *stuck = &view->stuck;
    int item = lacking >= 0 ? lacking : lack->item;
    stuck->n_lacking = lack->n_hosts;
    stuck->n_full -= lack->n_hosts;
    if (item >= 0) {
        const struct reserve_ask *ask = &view->asks->items[item];
        stuck->resource = pass->snapshot->reserve->kinds[ask->kind].name;
        stuck->need_milli = ask->milli;
        stuck->is_per_slot = ask->scope == RESREQ_SCOPE_SLOT;
        stuck->n_of_resource = item == lack->item ? lack->n_of_item : 0;
    }
}

/* Why the view has no room for so many slots. */
static void tell_stuck(struct pass *pass, struct place_view *view, int n_slots,
                       const struct limit *limit)
{
    struct reason_verdict *stuck = &view->stuck;
    int n_asked = stuck->n_hosts - stuck->n_excluded;
    int n_allowed = n_asked - stuck->n_unmet - stuck->n_spent;
    int n_free = count_free(pass, view);
    struct lack lack = count_lack(pass, view);
    int lacking = view->asks != NULL ? pass->take.lacking : -1;
    view->told_slots = n_slots;
    stuck->n_resting = count_resting(pass, view);
    stuck->n_full = n_allowed - stuck->n_closed - stuck->n_exclusive - stuck->n_loaded -
                    stuck->n_resting - n_free;
    tell_lack(pass, view, &lack, lacking);
    stuck->n_limited = limit != NULL ? n_free : 0;
    stuck->limit = limit != NULL ? limit->name : NULL;
    if (n_allowed == 0 && stuck->n_spent > 0) {
        const struct place_spent *spent = view->filter->spent;
        stuck->reason = REASON_SPENT;
        stuck->resource = spent->resource;
        stuck->total_milli = spent->total_milli;
        stuck->reserved_milli = spent->reserved_milli;
    } else if (n_allowed == 0) {
        stuck->reason = n_asked > 0 ? REASON_UNMET : REASON_NO_HOST;
    } else if (stuck->n_closed == n_allowed) {
        stuck->reason = REASON_CLOSED;
    } else if (view->capacity < n_slots) {
        stuck->reason = REASON_TOO_LARGE;
    } else if (stuck->n_loaded > 0 && stuck->n_loaded + stuck->n_closed == n_allowed) {
        stuck->reason = REASON_LOAD;
    } else if (limit != NULL) {
        stuck->reason = REASON_HOST_LIMIT;
    } else if (lacking >= 0 || (lack.n_hosts > 0 && lack.n_full == 0)) {
        stuck->reason = REASON_RESERVE;
    } else if (stuck->n_resting > 0) {
        stuck->reason = REASON_ACCEPT;
    } else {
        stuck->reason = view->is_exclusive ? REASON_EXCLUSIVE : REASON_BUSY;
    }
}

/* Slots that are kept for one job, or lent, are free for this one. */
static bool is_opened(const struct pass *pass)
{
    const struct slot_reserve *kept = pass->snapshot->kept;
    return kept != NULL && slot_reserve_is_open(kept);
}

/* No room was found for as many, or fewer. */
static bool is_stuck(struct pass *pass, struct place_view *view, int n_slots)
{
    if (!is_opened(pass)) {
        return n_slots >= view->stuck_slots;
    }
    slot_reserve_show(pass->snapshot->kept, view);
    return slot_reserve_is_stuck(pass->snapshot->kept, view, n_slots);
}

static void set_stuck(struct pass *pass, struct place_view *view, int n_slots)
{
    if (is_opened(pass)) {
        slot_reserve_set_stuck(pass->snapshot->kept, view, n_slots);
        view->told_slots = 0; /* not for those who have less */
    } else if (n_slots < view->stuck_slots) {
        view->stuck_slots = n_slots;
    }
}

static bool fit(struct pass *pass, struct place_view *view,
                const struct place_want *want, struct place_start *start)
{
    int n_slots = want->min;
    const struct limit *limit = NULL;
    struct place_group *group = NULL;
    bool *tried = NULL;
    pass->take.lacking = -1;
    if (!is_stuck(pass, view, n_slots)) {
        tried = arena_alloc(pass->arena, (size_t)view->n_groups, sizeof(*tried));
        group = choose_group(pass, view, n_slots, tried);
        view->told_slots = 0;
    }
    while (group != NULL) {
        if (place_take(&pass->take, view, group, want, start, &limit)) {
            int first = pass->room.first_host[group->group];
            start->lease = group->group == 0 ? "" : pass->snapshot->hosts[first].lease;
            return true;
        }
        tried[group - view->groups] = true;
        group = choose_group(pass, view, n_slots, tried);
    }
    if (view->told_slots != n_slots) {
        tell_stuck(pass, view, n_slots, limit);
    }
    set_stuck(pass, view, n_slots);
    return false;
}

/* With the first of its alternatives for which there is enough; else the verdict says
 * what is against the first of all. */
static bool fit_any(struct pass *pass, const struct place_line *line,
                    const struct place_want *want, struct place_start *start,
                    struct reason_verdict *verdict)
{
    int n_tries = line->n_asks > 0 ? line->n_asks : 1;
    for (int i = 0; i < n_tries; i++) {
        const struct reserve_asks *asks = line->n_asks > 0 ? &line->asks[i] : NULL;
        struct place_view *view = place_view_of(&pass->room, line, asks);
        if (fit(pass, view, want, start)) {
            return true;
        }
        if (i == 0) {
            *verdict = view->stuck;
        }
    }
    return false;
}

/* What is against the line's next job, whatever hosts there are; REASON_STARTED:
 * nothing, and it may have up to `want->max` slots. */
static enum reason check_line(const struct pass *pass, int index,
                              struct place_want *want, const char **name)
{
    const struct place_line *line = &pass->snapshot->lines[index];
    const struct limit *limit = NULL;
    int room = INT_MAX;
    *want = (struct place_want){
        .min = line->n_slots,
        .max = line->max_slots > line->n_slots ? line->max_slots : line->n_slots,
        .is_balanced = pass->snapshot->queues[line->queue].is_balanced,
        .is_exclusive = line->is_exclusive,
    };
    if (line->veto != REASON_NEW) {
        return line->veto;
    }
    if (pass->order.next_turn[index] >= line->max_starts) {
        return REASON_ARRAY_LIMIT;
    }
    if (place_order_room(&pass->order, line->n_slots, &want->max, name) <
        line->n_slots) {
        return REASON_LIMIT;
    }
    if (line->class != NULL) {
        room = limits_room(pass->draft, line->class, &limit);
        want->max = room < want->max ? room : want->max;
    }
    if (room < line->n_slots) {
        *name = limit->name;
        return limits_most(line->class, &limit) < line->n_slots ? REASON_LIMIT_SMALL
                                                                : REASON_LIMIT;
    }
    return REASON_STARTED;
}

/* On slots that are kept for jobs which cannot start before it has ended. */
static bool backfill(struct pass *pass, const struct place_line *line,
                     const struct place_want *want, struct place_start *start)
{
    struct slot_reserve *kept = pass->snapshot->kept;
    struct reason_verdict verdict;
    if (kept == NULL || line->backfill_ms == 0 || line->is_exclusive) {
        return false;
    }
    int64_t end_ms = pass->snapshot->now_ms + line->backfill_ms;
    for (int i = -1; (i = slot_reserve_next(kept, i, end_ms)) >= 0;) {
        slot_reserve_open(kept, i);
        pass->take.is_backfill = true;
        bool fits = fit_any(pass, line, want, start, &verdict);
        pass->take.is_backfill = false;
        if (fits) {
            slot_reserve_lend(kept, pass->take.places, start->hosts, start->n_hosts,
                              &start->backfill.of, &start->backfill.until_ms);
            return true;
        }
        slot_reserve_close(kept);
    }
    return false;
}

static uint64_t next_job(const struct pass *pass, int index)
{
    return pass->snapshot->lines[index].turns[pass->order.next_turn[index]]->key;
}

/* The reservation of the line's next job; -1: it has none. */
static int own_of(const struct pass *pass, int index)
{
    const struct slot_reserve *kept = pass->snapshot->kept;
    return kept != NULL && !slot_reserve_is_idle(kept)
               ? slot_reserve_find(kept, next_job(pass, index))
               : -1;
}

/* What is kept for the line's next job is free for it, and what is kept for jobs behind
 * it, if it may reserve itself. False: nothing is. */
static bool open_turn(const struct pass *pass, int index, int own)
{
    struct slot_reserve *kept = pass->snapshot->kept;
    if (kept == NULL ||
        (own < 0 && (slot_reserve_is_idle(kept) ||
                     !slot_reserve_may(kept, index, next_job(pass, index))))) {
        return false;
    }
    slot_reserve_open_turn(kept, own);
    return true;
}

static bool fit_next(struct pass *pass, int index, const struct place_want *want,
                     struct place_start *start, struct reason_verdict *verdict)
{
    const struct place_line *line = &pass->snapshot->lines[index];
    if (!open_turn(pass, index, own_of(pass, index))) {
        return fit_any(pass, line, want, start, verdict);
    }
    if (fit_any(pass, line, want, start, verdict)) {
        slot_reserve_use(pass->snapshot->kept);
        return true;
    }
    slot_reserve_close(pass->snapshot->kept);
    return false;
}

/* True where the line's next job starts; else the verdict says why not. */
static bool start_next(struct pass *pass, int index, struct place_plan *plan)
{
    const struct place_line *line = &pass->snapshot->lines[index];
    struct place_start *start = &plan->starts[plan->n_starts];
    struct place_want want;
    const char *limit = NULL;
    enum reason reason = check_line(pass, index, &want, &limit);
    if (reason != REASON_STARTED) {
        plan->verdicts[index] = (struct reason_verdict){
            .reason = reason, .limit = limit, .n_hosts = pass->snapshot->n_hosts};
        return false;
    }
    start->backfill = (struct place_backfill){0};
    if (!fit_next(pass, index, &want, start, &plan->verdicts[index]) &&
        !backfill(pass, line, &want, start)) {
        return false;
    }
    start->job = next_job(pass, index);
    if (line->class != NULL) {
        limits_draft_count(pass->draft, line->class, start->hosts, start->n_hosts);
    }
    if (pass->snapshot->preempt != NULL) {
        preempt_started(pass->snapshot->preempt, line->class, start->hosts,
                        start->n_hosts);
    }
    plan->n_starts++;
    return true;
}

/* ---------------------------------------------------------------- who reserves */

/* Of the line's hosts the group where it reserves already, or has the most slots now,
 * among those that are large enough. Not of a lease that is still to be made: its one
 * slot is for who can start, and the rest comes after that. */
static struct place_group *group_to_keep(struct pass *pass, struct place_view *view,
                                         int n_slots, int group_before)
{
    struct place_group *best = NULL;
    int n_most = 0;
    for (int i = 0; i < view->n_groups; i++) {
        struct place_group *group = &view->groups[i];
        int n_free = free_in(pass, group, n_slots);
        if (group->capacity < n_slots || group->is_unmade ||
            (n_free == 0 && group_before < 0)) {
            continue;
        }
        if (group->group == group_before) {
            return group;
        }
        if (n_free > n_most) {
            best = group;
            n_most = n_free;
        }
    }
    return best;
}

/* What is free for the line's next job is kept for it, up to the fewest slots that it
 * asks for; what it has lent counts. False: that is nothing. */
static bool keep_slots(struct pass *pass, int index, int own)
{
    struct slot_reserve *kept = pass->snapshot->kept;
    const struct place_line *line = &pass->snapshot->lines[index];
    struct place_view *view =
        place_view_of(&pass->room, line, line->n_asks > 0 ? line->asks : NULL);
    struct place_start start = {.n_hosts = 0};
    const struct limit *limit;
    int before, n_wanted = line->n_slots - slot_reserve_lent(kept, &before);
    struct place_want want = {.min = 1,
                              .max = n_wanted,
                              .is_balanced =
                                  pass->snapshot->queues[line->queue].is_balanced};
    if (slot_reserve_is_open(kept)) {
        slot_reserve_show(kept, view);
    }
    struct place_group *group =
        n_wanted > 0 ? group_to_keep(pass, view, line->n_slots, before) : NULL;
    pass->take.is_kept = true;
    if (group != NULL && !place_take(&pass->take, view, group, &want, &start, &limit)) {
        start.n_hosts = 0;
    }
    pass->take.is_kept = false;
    if (start.n_hosts == 0 && own < 0) {
        return false;
    }
    slot_reserve_keep(kept, index, next_job(pass, index), pass->take.places,
                      start.hosts, start.n_hosts);
    if (line->class != NULL && start.n_hosts > 0) {
        limits_draft_count(pass->draft, line->class, start.hosts, start.n_hosts);
    }
    return true;
}

/* The line's next job does not start: others are preempted for it, or it reserves. */
static void wait_next(struct pass *pass, int index, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    struct slot_reserve *kept = snapshot->kept;
    struct reason_verdict *verdict = &plan->verdicts[index];
    int own = own_of(pass, index);
    if (own >= 0 && verdict->reason != REASON_BUSY) {
        slot_reserve_drop(kept, own); /* it waits for something else than slots */
        own = -1;
    }
    bool is_open = verdict->reason == REASON_BUSY && open_turn(pass, index, own);
    if (snapshot->preempt != NULL) {
        preempt_line(snapshot->preempt, index, pass->order.next_turn[index],
                     &pass->room, pass->draft, verdict);
    }
    if (verdict->reason == REASON_PREEMPTING && is_open) {
        slot_reserve_use(kept); /* room is made for it */
        return;
    }
    if (verdict->reason == REASON_BUSY && kept != NULL &&
        slot_reserve_may(kept, index, next_job(pass, index)) &&
        keep_slots(pass, index, own)) {
        return;
    }
    if (is_open) {
        slot_reserve_close(kept);
    }
    if (own >= 0) {
        slot_reserve_drop(kept, own);
    }
}

/* ---------------------------------------------------------------- who goes on */

/* A job that stands still comes before the waiting ones of its queue. */
static bool is_before(const struct pass *pass, const struct place_return *still,
                      int line)
{
    const struct queue_config *queues = pass->snapshot->queues;
    int queue = pass->snapshot->lines[line].queue;
    if (still->queue < 0) {
        return false; /* its queue is gone */
    }
    int own = queues[still->queue].priority, other = queues[queue].priority;
    return own != other ? own > other : still->queue <= queue;
}

static int size_of(const struct place_host *host)
{
    return host->max > host->n_stay ? host->max : host->n_stay;
}

/* Of its own host, closed or not: the job was here before. `n_slots`: of the job. */
static int left_on(const struct pass *pass, int host, int n_slots)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    int left = size_of(at) - pass->room.used[host];
    if (pass->room.is_taken[host]) {
        return 0;
    }
    if (at->is_unused && pass->room.used[host] == 0) {
        return n_slots; /* also where the host is too small for it now */
    }
    return left < 0 ? 0 : left < n_slots ? left : n_slots;
}

/* An exclusive one goes on where nobody runs, of whomever. */
static bool has_host(const struct pass *pass, int host)
{
    return pass->room.used[host] == 0 && !pass->snapshot->hosts[host].has_others;
}

static bool may_go_on(const struct pass *pass, const struct place_return *still)
{
    int n_processors = 0;
    for (int i = 0; i < still->n_hosts; i++) {
        int n_slots = still->hosts[i].n_slots;
        if (still->places[i] < 0 ||
            pass->snapshot->hosts[still->places[i]].is_unheard ||
            left_on(pass, still->places[i], n_slots) < n_slots ||
            (still->is_exclusive && !has_host(pass, still->places[i]))) {
            return false;
        }
        const struct place_host *host = &pass->snapshot->hosts[still->places[i]];
        n_processors = host->n_processors > 0    ? host->n_processors
                       : size_of(host) > n_slots ? size_of(host)
                                                 : n_slots;
    }
    if (!reserve_has(pass->room.left, still->parts, still->n_parts)) {
        return false;
    }
    return pass->draft == NULL || still->class == NULL ||
           limits_may_resume(pass->draft, still->class, still->hosts, still->n_hosts,
                             n_processors);
}

/* What is there of what it gave back. */
static void keep_parts(const struct pass *pass, const struct place_return *still)
{
    for (int i = 0; i < still->n_parts; i++) {
        int64_t *left = &pass->room.left[still->parts[i].pool];
        int64_t n = still->parts[i].milli;
        *left -= n < *left ? n : *left > 0 ? *left : 0;
    }
}

/* It goes on, or what is free of its slots, and of what it reserved, is kept for it. */
static void give_back(struct pass *pass, const struct place_return *still,
                      struct place_plan *plan)
{
    bool goes_on = may_go_on(pass, still);
    for (int i = 0; i < still->n_hosts; i++) {
        int host = still->places[i];
        if (host >= 0) {
            pass->room.used[host] += left_on(pass, host, still->hosts[i].n_slots);
            /* Nothing more begins there, so that it falls idle. */
            pass->room.is_taken[host] =
                pass->room.is_taken[host] ||
                (still->is_exclusive && !pass->snapshot->hosts[host].has_others);
        }
    }
    keep_parts(pass, still);
    if (!goes_on) {
        return;
    }
    plan->returns[plan->n_returns++] = still->job;
    if (pass->draft != NULL && still->class != NULL) {
        limits_draft_still(pass->draft, still->class, still->hosts, still->n_hosts,
                           false);
    }
}

/* Those whose turn is before the line's; -1: all that are left. */
static void give_back_before(struct pass *pass, int line, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    while (pass->next_return < snapshot->n_returns &&
           (line < 0 || is_before(pass, &snapshot->returns[pass->next_return], line))) {
        give_back(pass, &snapshot->returns[pass->next_return++], plan);
    }
}

/* ---------------------------------------------------------------- who waits */

static void add_capped(int *sum, int64_t more)
{
    *sum = more > INT_MAX - *sum ? INT_MAX : *sum + (int)more;
}

/* Jobs of a line stay, for want of slots: whose they would use. */
static void count_waiting(struct pass *pass, int index, struct place_plan *plan)
{
    const struct place_line *line = &pass->snapshot->lines[index];
    const struct place_view *view =
        place_view_of(&pass->room, line, line->n_asks > 0 ? line->asks : NULL);
    int64_t n_slots =
        (int64_t)(line->n_turns - pass->order.next_turn[index]) * line->n_slots;
    for (int i = 0; i < view->n_groups; i++) {
        int group = view->groups[i].group;
        if (group == 0) {
            add_capped(&plan->waiting_own, n_slots);
        } else {
            add_capped(&plan->waiting_lease[pass->room.first_host[group]], n_slots);
        }
    }
}

/* Slots would help, of whomever. */
static bool wants_slots(enum reason reason)
{
    return reason == REASON_BUSY || reason == REASON_TOO_LARGE ||
           reason == REASON_CLOSED || reason == REASON_HOST_LIMIT ||
           reason == REASON_EXCLUSIVE || reason == REASON_POOL_PART ||
           reason == REASON_NEW || reason == REASON_PREEMPTING ||
           reason == REASON_ACCEPT;
}

/* They would start if others had fewer slots. */
static bool waits_for_others(enum reason reason)
{
    return reason == REASON_BUSY || reason == REASON_EXCLUSIVE ||
           reason == REASON_POOL_PART || reason == REASON_NEW;
}

/* Lines that nobody looked at to the end: their queues have their part of a slot pool.
 */
static void tell_parked(const struct pass *pass, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    for (int i = 0; i < snapshot->n_lines; i++) {
        if (plan->verdicts[i].reason == REASON_NEW) {
            int pool = snapshot->pools->pool_of[snapshot->lines[i].queue];
            plan->verdicts[i] =
                (struct reason_verdict){.reason = REASON_POOL_PART,
                                        .limit = snapshot->pools->pools[pool].name,
                                        .n_hosts = snapshot->n_hosts};
        }
    }
}

/* ---------------------------------------------------------------- full hosts */

/* Nothing more starts, and what is left to say of a line does not depend on the lines
 * before it. With slot pools it does, as a queue hands on what it cannot use; who may
 * preempt, or use slots that are kept, needs no free one; and who goes on may take the
 * last room of a limit. */
static bool is_over(struct pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    return snapshot->preempt == NULL && pass->order.pools.n_pools == 0 &&
           (snapshot->kept == NULL || slot_reserve_is_idle(snapshot->kept)) &&
           pass->next_return == snapshot->n_returns && place_view_is_full(&pass->room);
}

static void tell_rest(struct pass *pass, struct place_plan *plan)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    place_view_forget_told(&pass->room);
    for (int i = 0; i < snapshot->n_lines; i++) {
        bool was_told = plan->verdicts[i].reason != REASON_NEW;
        bool starts = !was_told && start_next(pass, i, plan);
        assert(!starts);
    }
}

/* ---------------------------------------------------------------- the pass */

static void pass_init(struct pass *pass, struct arena *arena,
                      const struct place_snapshot *snapshot)
{
    memset(pass, 0, sizeof(*pass));
    pass->snapshot = snapshot;
    pass->arena = arena;
    pass->draft = snapshot->limits != NULL ? limits_draft_new(snapshot->limits) : NULL;
    place_view_init(&pass->room, arena, snapshot);
    place_order_init(&pass->order, arena, snapshot);
    place_take_init(&pass->take, &pass->room, pass->draft);
    if (snapshot->kept != NULL) {
        slot_reserve_begin(snapshot->kept, &pass->room);
    }
}

static void plan_init(struct arena *arena, const struct place_snapshot *snapshot,
                      struct place_plan *plan)
{
    int64_t n_turns = 0;
    for (int i = 0; i < snapshot->n_lines; i++) {
        n_turns += snapshot->lines[i].n_turns;
    }
    size_t most =
        (size_t)(n_turns < snapshot->max_starts ? n_turns : snapshot->max_starts);
    memset(plan, 0, sizeof(*plan));
    plan->starts = arena_alloc(arena, most, sizeof(*plan->starts));
    plan->returns =
        arena_alloc(arena, (size_t)snapshot->n_returns + 1, sizeof(*plan->returns));
    plan->verdicts =
        arena_alloc(arena, (size_t)snapshot->n_lines, sizeof(*plan->verdicts));
    plan->queue_waits =
        arena_alloc(arena, (size_t)snapshot->n_queues + 1, sizeof(*plan->queue_waits));
    plan->waiting_lease =
        arena_alloc(arena, (size_t)snapshot->n_hosts, sizeof(*plan->waiting_lease));
}

void place_plan(struct arena *arena, const struct place_snapshot *snapshot,
                struct place_plan *plan)
{
    struct pass pass;
    int line;
    pass_init(&pass, arena, snapshot);
    plan_init(arena, snapshot, plan);
    pass.accept_ms = INT64_MAX;
    while (plan->n_starts < snapshot->max_starts && !is_over(&pass) &&
           (line = place_order_top(&pass.order)) >= 0) {
        give_back_before(&pass, line, plan);
        if (start_next(&pass, line, plan)) {
            const struct place_start *start = &plan->starts[plan->n_starts - 1];
            bool is_through = place_order_advance(
                &pass.order, msg_sum_slots(start->hosts, start->n_hosts));
            plan->verdicts[line].reason = is_through ? REASON_STARTED : REASON_NEW;
        } else {
            wait_next(&pass, line, plan);
            place_order_drop(&pass.order);
        }
    }
    if (plan->n_starts < snapshot->max_starts && is_over(&pass)) {
        tell_rest(&pass, plan);
    } else {
        plan->is_cut = place_order_top(&pass.order) >= 0;
    }
    if (!plan->is_cut) {
        give_back_before(&pass, -1, plan);
        tell_parked(&pass, plan);
    }
    for (int i = 0; i < snapshot->n_lines; i++) {
        int queue = snapshot->lines[i].queue;
        if (pass.order.next_turn[i] == snapshot->lines[i].n_turns) {
            continue;
        }
        if (!plan->is_cut && wants_slots(plan->verdicts[i].reason)) {
            count_waiting(&pass, i, plan);
        }
        if (pass.order.pools.part_of[queue] >= 0 &&
            waits_for_others(plan->verdicts[i].reason)) {
            plan->queue_waits[queue] = true;
        }
    }
    plan->accept_ms = pass.accept_ms;
    limits_draft_free(pass.draft);
}
