/* SPDX-License-Identifier: Apache-2.0 */
/* preempt.c: who has to stand still, and for whom.
 *
 * For each job that found no room: the groups of hosts (own hosts, each lease) in the
 * order of their best victim; in a group victims are taken in order until slots and
 * limits suffice, and all of it is undone where they never do.
 *
 *     n1 4 slots, n2 4 slots, all in use by queue low: a 4 on n1; b 2, c 2 on n2
 *     -n 2 of queue high: n1 and n2 are as loaded, n1 stands first in the file: a, and
 *     2 of its 4 slots are left over, for the next in line, or for nobody: a waits
 *     MINI_JOB: the same, as a alone is needed. OPTIMAL_MINI_JOB: one job suffices, and
 *     the smallest of those that do is c or b: c, the younger
 *
 * An exclusive job wants hosts where nothing runs: who stands there is of no use until
 * the last one does, so that all are taken in order until it has enough, and then those
 * let go without whom it still has. An exclusive victim gives a host that was closed.
 *
 * The pass counts a victim's slots as used: they are until it stands still. What they
 * give and what claims will take of that stands in `delta`, so that the next one to
 * preempt sees what is left over. */
#include "sched/preempt.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/place_view.h"
#include "sched/preempt_give.h"
#include "sched/preempt_view.h"

/* One job's choice that is being made. */
struct choice {
    const struct place_line *line;
    const struct reserve_asks *asks; /* NULL: it reserves nothing */
    struct preempt_view *view;
    int group;
    int *order; /* indexes of jobs, as they are taken */
    int n_order;
    int *victims;
    int n_victims;
    bool takes_all; /* a limit is exceeded by far: one victim alone shows no effect */
};

struct preempt {
    const struct preempt_snapshot *snapshot;
    const struct place_snapshot *place;
    struct arena *arena;
    struct preempt_world world;
    struct limits_draft *draft;    /* as if all victims stood still; NULL: no limits */
    const struct place_room *room; /* of the pass */
    struct preempt_give give;
    int *delta;           /* by host: what victims give and claims will take of it */
    bool *taken;          /* by job */
    bool *opened;         /* by host: its exclusive job is a victim */
    bool is_exclusive;    /* the line that is looked at */
    int *order, *victims; /* scratch of a choice, by job */
    struct host_slots *hosts; /* scratch: where the job would be, ... */
    int *places;              /* ... the same as indexes */
    int n_hosts;
    /* By group, for the line that is looked at: free slots on the hosts of its view,
     * -1: not counted yet; and a host before which there are none. */
    int64_t *free_slots;
    int *first_host;
    struct preempt_plan plan;
};

static bool wants(const struct preempt *preempt, enum preempt_for reason)
{
    return (preempt->snapshot->rules->reasons & (int)reason) != 0;
}

/* ---------------------------------------------------------------- one victim */

static int free_on(const struct preempt *preempt, int host)
{
    const struct place_host *at = &preempt->place->hosts[host];
    int n_used = preempt->room->used[host] + preempt->delta[host];
    bool is_taken = preempt->room->is_taken[host] && !preempt->opened[host];
    if (is_taken || at->is_kept ||
        (preempt->is_exclusive && (n_used > 0 || at->is_shared))) {
        return 0;
    }
    return at->max > n_used ? at->max - n_used : 0;
}

/* An exclusive job on its own hosts that keeps them even if it stands still. */
static bool keeps_hosts(const struct preempt *preempt, const struct preempt_job *job)
{
    return job->is_exclusive && !preempt->snapshot->rules->has_exclusive;
}

static void note_free(struct preempt *preempt, const struct preempt_job *job, int more)
{
    int group = preempt->world.group_of[job->pieces[0].host];
    if (preempt->free_slots[group] >= 0) {
        preempt->free_slots[group] += more;
    }
    for (int i = 0; i < job->n_pieces; i++) {
        if (job->pieces[i].host < preempt->first_host[group]) {
            preempt->first_host[group] = job->pieces[i].host;
        }
    }
}

/* The victim stands still, or does not after all. Returns by how many slots there are
 * more for the view. */
static int set_still(struct preempt *preempt, const struct preempt_view *view,
                     int index, bool is_still)
{
    const struct preempt_job *job = &preempt->world.jobs[index];
    int n_before = 0, n_after = 0;
    for (int i = 0; i < job->n_pieces; i++) {
        int host = job->pieces[i].host;
        n_before += view->allowed[host] ? free_on(preempt, host) : 0;
        if (!keeps_hosts(preempt, job)) {
            preempt->delta[host] +=
                is_still ? -job->pieces[i].n_slots : job->pieces[i].n_slots;
            preempt->opened[host] =
                job->is_exclusive ? is_still : preempt->opened[host];
        }
        n_after += view->allowed[host] ? free_on(preempt, host) : 0;
    }
    if (preempt->draft != NULL && job->class != NULL) {
        limits_draft_still(preempt->draft, job->class, job->hosts, job->n_pieces,
                           is_still);
    }
    preempt_give_set(&preempt->give, job, is_still);
    preempt->taken[index] = is_still;
    note_free(preempt, job, n_after - n_before);
    return n_after - n_before;
}

/* ---------------------------------------------------------------- where it would be */

static int room_of(const struct preempt *preempt, const struct place_line *line)
{
    const struct limit *limit;
    return line->class != NULL && preempt->draft != NULL
               ? limits_room(preempt->draft, line->class, &limit)
               : INT_MAX;
}

static int room_on(const struct preempt *preempt, const struct place_line *line,
                   int host)
{
    const struct place_host *at = &preempt->place->hosts[host];
    const struct limit *limit;
    if (line->class == NULL || preempt->draft == NULL ||
        !limits_have_hosts(line->class)) {
        return INT_MAX;
    }
    return limits_room_on(preempt->draft, line->class, at->name,
                          at->n_processors > 0 ? at->n_processors : at->max,
                          preempt->hosts, preempt->n_hosts, &limit);
}

/* Slots there that may be reserved for, besides the job's pieces so far. */
static int reserved_on(struct preempt *preempt, const struct choice *choice, int host)
{
    return choice->asks == NULL
               ? INT_MAX
               : preempt_give_room(&preempt->give, choice->asks, host, preempt->hosts,
                                   preempt->places, preempt->n_hosts);
}

/* Puts the job on the group's hosts as things stand; false where it does not fit. */
static bool put(struct preempt *preempt, const struct choice *choice)
{
    int open = choice->line->n_slots;
    preempt->n_hosts = 0;
    if (room_of(preempt, choice->line) < open) {
        return false;
    }
    int first = preempt->place->n_hosts;
    bool is_limited = choice->asks != NULL || (choice->line->class != NULL &&
                                               limits_have_hosts(choice->line->class));
    for (int i = is_limited ? 0 : preempt->first_host[choice->group];
         i < preempt->place->n_hosts && open > 0; i++) {
        if (!choice->view->allowed[i] || preempt->world.group_of[i] != choice->group) {
            continue;
        }
        int n = free_on(preempt, i),
            room = n > 0 ? room_on(preempt, choice->line, i) : 0;
        n = n < room ? n : room;
        room = n > 0 ? reserved_on(preempt, choice, i) : 0;
        n = n < room ? n : room;
        n = n < open ? n : open;
        if (n > 0) {
            first = i < first ? i : first;
            preempt->places[preempt->n_hosts] = i;
            preempt->hosts[preempt->n_hosts++] =
                (struct host_slots){preempt->place->hosts[i].name, n};
            open -= n;
        }
    }
    if (open == 0) {
        preempt->first_host[choice->group] = first;
    }
    return open == 0;
}

/* ---------------------------------------------------------------- choosing */

static int64_t free_in(struct preempt *preempt, const struct choice *choice)
{
    int64_t n_free = 0;
    if (preempt->free_slots[choice->group] >= 0) {
        return preempt->free_slots[choice->group];
    }
    for (int i = 0; i < preempt->place->n_hosts; i++) {
        n_free +=
            choice->view->allowed[i] && preempt->world.group_of[i] == choice->group
                ? free_on(preempt, i)
                : 0;
    }
    preempt->free_slots[choice->group] = n_free;
    return n_free;
}

/* One that has been set still is a victim: slots, room under a limit or a resource was
 * lacking, and it gives of that. */
static bool helps(const struct preempt *preempt, const struct choice *choice, int index,
                  bool has_slots, int n_more, int room_before)
{
    int n_slots = choice->line->n_slots;
    bool gives = choice->asks != NULL &&
                 preempt_give_helps(&preempt->give, choice->view->wants, n_slots,
                                    &preempt->world.jobs[index]);
    if (choice->takes_all || gives) {
        return true;
    }
    if (!has_slots) {
        return n_more > 0;
    }
    if (room_before >= n_slots) {
        return choice->asks == NULL; /* a host's limit, or what it does not give */
    }
    return room_of(preempt, choice->line) > room_before;
}

static bool take_victims(struct preempt *preempt, struct choice *choice)
{
    int n_slots = choice->line->n_slots;
    int64_t n_free = free_in(preempt, choice);
    choice->n_victims = 0;
    for (int i = 0;; i++) {
        int room = room_of(preempt, choice->line);
        bool has_slots = n_free >= n_slots, has_room = room >= n_slots;
        if (has_slots && has_room && put(preempt, choice)) {
            return true;
        }
        if (i == choice->n_order) {
            return false;
        }
        int more = set_still(preempt, choice->view, choice->order[i], true);
        if (helps(preempt, choice, choice->order[i], has_slots, more, room)) {
            choice->victims[choice->n_victims++] = choice->order[i];
            n_free += more;
        } else {
            set_still(preempt, choice->view, choice->order[i], false);
        }
    }
}

static void undo(struct preempt *preempt, const struct choice *choice)
{
    for (int i = 0; i < choice->n_victims; i++) {
        set_still(preempt, choice->view, choice->victims[i], false);
    }
}

/* One of its hosts is the job's that preempts, as it was put last. */
static bool is_in_way(const struct preempt *preempt, const struct preempt_job *job)
{
    for (int i = 0; i < job->n_pieces; i++) {
        for (int k = 0; k < preempt->n_hosts; k++) {
            if (job->pieces[i].host == preempt->places[k]) {
                return true;
            }
        }
    }
    return false;
}

/* Of all that an exclusive job looked at, those on its hosts, where these are enough:
 * so that not each of thousands is tried. */
static void keep_near(struct preempt *preempt, struct choice *choice)
{
    int n_all = choice->n_victims, n_near = 0, n_far = n_all;
    int *sorted = mem_alloc((size_t)n_all + 1, sizeof(*sorted));
    for (int i = 0; i < n_all; i++) {
        int victim = choice->victims[i];
        bool is_near = is_in_way(preempt, &preempt->world.jobs[victim]);
        sorted[is_near ? n_near++ : --n_far] = victim; /* the others from behind */
    }
    for (int i = n_near; i < n_all; i++) {
        set_still(preempt, choice->view, sorted[i], false);
    }
    if (n_near > 0 && put(preempt, choice)) {
        memcpy(choice->victims, sorted, (size_t)n_near * sizeof(int));
        choice->n_victims = n_near;
    } else {
        for (int i = n_near; i < n_all; i++) {
            set_still(preempt, choice->view, sorted[i], true);
        }
        put(preempt, choice);
    }
    free(sorted);
}

/* Those that turned out not to be needed go on, but a parallel job's parallel victims
 * only where that is asked for. */
static void spare(struct preempt *preempt, struct choice *choice)
{
    bool is_mini = choice->takes_all || choice->asks != NULL ||
                   wants(preempt, PREEMPT_FOR_MINI_JOB) ||
                   wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB);
    for (int i = choice->n_victims - 1; i >= 0 && choice->n_victims > 1; i--) {
        int victim = choice->victims[i];
        bool is_parallel =
            choice->line->n_slots > 1 && preempt->world.jobs[victim].n_slots > 1;
        if (is_parallel && !is_mini) {
            continue;
        }
        set_still(preempt, choice->view, victim, false);
        if (put(preempt, choice)) {
            choice->n_victims--;
            memmove(&choice->victims[i], &choice->victims[i + 1],
                    (size_t)(choice->n_victims - i) * sizeof(int));
        } else {
            set_still(preempt, choice->view, victim, true);
        }
    }
}

/* Of as many victims, smaller ones: each, from the last, is changed for the one that
 * gives least and suffices. */
static void shrink(struct preempt *preempt, struct choice *choice)
{
    for (int i = choice->n_victims - 1; i >= 0; i--) {
        const struct preempt_view *view = choice->view;
        int gain = preempt_view_gain(&preempt->world, view,
                                     &preempt->world.jobs[choice->victims[i]]);
        set_still(preempt, view, choice->victims[i], false);
        /* `order` has the largest first: the last that fits is the smallest, and of
         * those as small the first is the one that comes first. */
        int best = choice->victims[i];
        for (int k = 0; k < choice->n_order; k++) {
            int other = choice->order[k];
            int of_other =
                preempt_view_gain(&preempt->world, view, &preempt->world.jobs[other]);
            if (preempt->taken[other] || of_other >= gain) {
                continue;
            }
            set_still(preempt, view, other, true);
            if (put(preempt, choice)) {
                best = other;
                gain = of_other;
            }
            set_still(preempt, view, other, false);
        }
        choice->victims[i] = best;
        set_still(preempt, view, best, true);
    }
}

struct sized {
    int job, gain, place;
};

static int compare_sizes(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    if (a->gain != b->gain) {
        return a->gain > b->gain ? -1 : 1;
    }
    return a->place - b->place;
}

/* The group's jobs that are left, as they are to be taken: all, or as many as would do
 * if only slots counted. */
static void set_order(struct preempt *preempt, struct choice *choice, bool is_all)
{
    const struct preempt_view *view = choice->view;
    int64_t n_slots = is_all ? INT64_MIN : free_in(preempt, choice);
    choice->n_order = 0;
    for (int i = view->first; i < view->n_victims && n_slots < choice->line->n_slots;
         i++) {
        int index = view->victims[i];
        int group = preempt->world.group_of[preempt->world.jobs[index].pieces[0].host];
        if (!preempt->taken[index] && group == choice->group) {
            choice->order[choice->n_order++] = index;
            n_slots +=
                preempt_view_gain(&preempt->world, view, &preempt->world.jobs[index]);
        }
    }
    if (!wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB) || preempt->is_exclusive) {
        return;
    }
    struct sized *sized = mem_alloc((size_t)choice->n_order + 1, sizeof(*sized));
    for (int i = 0; i < choice->n_order; i++) {
        const struct preempt_job *job = &preempt->world.jobs[choice->order[i]];
        sized[i] = (struct sized){choice->order[i],
                                  preempt_view_gain(&preempt->world, view, job), i};
    }
    qsort(sized, (size_t)choice->n_order, sizeof(*sized), compare_sizes);
    for (int i = 0; i < choice->n_order; i++) {
        choice->order[i] = sized[i].job;
    }
    free(sized);
}

static bool choose_in(struct preempt *preempt, struct choice *choice)
{
    /* As few as would do by their slots; all; and all whatever each does for limits. */
    enum { FEW, ALL, BLINDLY, ROUNDS };
    bool is_optimal =
             wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB) && !preempt->is_exclusive,
         is_enough = false;
    int first = preempt->is_exclusive ? BLINDLY : is_optimal ? ALL : FEW;
    for (int round = first; round < ROUNDS && !is_enough; round++) {
        set_order(preempt, choice, round > FEW);
        choice->takes_all = round == BLINDLY;
        is_enough = take_victims(preempt, choice);
        if (!is_enough) {
            undo(preempt, choice);
        }
    }
    if (!is_enough) {
        return false;
    }
    if (preempt->is_exclusive) {
        keep_near(preempt, choice);
    }
    spare(preempt, choice);
    if (is_optimal) {
        shrink(preempt, choice);
    }
    return choice->n_victims > 0 && put(preempt, choice);
}

/* ---------------------------------------------------------------- one job */

/* Slots of the host that nobody uses now are kept at once, the others as they come. */
static void keep_slots(struct preempt *preempt, int host, int n_slots, int *used)
{
    int left = preempt->place->hosts[host].max - used[host];
    int n_now = left < n_slots ? left : n_slots;
    n_now = n_now > 0 ? n_now : 0;
    used[host] += n_now;
    preempt->delta[host] += n_slots - n_now;
}

static void keep_claim(struct preempt *preempt, const struct choice *choice,
                       struct place_room *room, struct preempt_claim *claim)
{
    const struct place_line *line = choice->line;
    claim->hosts = arena_copy(preempt->arena, preempt->hosts,
                              (size_t)preempt->n_hosts * sizeof(*preempt->hosts));
    claim->n_hosts = preempt->n_hosts;
    claim->victims = arena_copy(preempt->arena, choice->victims,
                                (size_t)choice->n_victims * sizeof(int));
    claim->n_victims = choice->n_victims;
    claim->lease = "";
    for (int i = 0; i < preempt->n_hosts; i++) {
        keep_slots(preempt, preempt->places[i], preempt->hosts[i].n_slots, room->used);
        if (preempt->is_exclusive) {
            room->is_taken[preempt->places[i]] = true;
            preempt->opened[preempt->places[i]] = false;
        }
        claim->lease = preempt->place->hosts[preempt->places[i]].lease;
    }
    claim->asks = choice->asks;
    if (choice->asks != NULL) {
        preempt_give_keep(&preempt->give, preempt->arena, choice->asks, preempt->hosts,
                          preempt->places, preempt->n_hosts, room->left);
    }
    preempt->free_slots[choice->group] =
        preempt->is_exclusive ? -1 : preempt->free_slots[choice->group] - line->n_slots;
    if (line->class != NULL && preempt->draft != NULL) {
        limits_draft_count(preempt->draft, line->class, claim->hosts, claim->n_hosts);
    }
}

/* Slots that all victims that are left and free hosts come to: enough for the job? An
 * exclusive one has more of a host than they give; it stays at home. */
static bool may_suffice(struct preempt *preempt, const struct choice *choice)
{
    if (preempt->is_exclusive) {
        return choice->group == 0;
    }
    int64_t n_slots = free_in(preempt, choice);
    const struct preempt_view *view = choice->view;
    for (int i = view->first; i < view->n_victims && n_slots < choice->line->n_slots;
         i++) {
        int index = view->victims[i];
        const struct preempt_job *job = &preempt->world.jobs[index];
        if (!preempt->taken[index] &&
            preempt->world.group_of[job->pieces[0].host] == choice->group) {
            n_slots += preempt_view_gain(&preempt->world, view, job);
        }
    }
    return n_slots >= choice->line->n_slots;
}

/* What victims of others leave over is enough for it. */
static int find_left_over(struct preempt *preempt, struct choice *choice)
{
    choice->n_victims = 0;
    int n_groups = preempt->is_exclusive ? 1 : preempt->world.n_groups;
    for (int i = 0; preempt->plan.n_claims > 0 && i < n_groups; i++) {
        choice->group = i;
        if (free_in(preempt, choice) >= choice->line->n_slots && put(preempt, choice)) {
            return i;
        }
    }
    return -1;
}

/* The first group that will do, in the order of their best victims; under
 * OPTIMAL_MINI_JOB the first of those in which the fewest do. -1: none. */
static int choose_group(struct preempt *preempt, struct choice *choice)
{
    struct preempt_view *view = choice->view;
    bool *tried = mem_alloc((size_t)preempt->world.n_groups, sizeof(*tried));
    int best = -1, n_least = INT_MAX;
    while (view->first < view->n_victims &&
           preempt->taken[view->victims[view->first]]) {
        view->first++;
    }
    for (int i = view->first; i < view->n_victims; i++) {
        int index = view->victims[i];
        choice->group =
            preempt->world.group_of[preempt->world.jobs[index].pieces[0].host];
        if (preempt->taken[index] || tried[choice->group]) {
            continue;
        }
        tried[choice->group] = true;
        if (!may_suffice(preempt, choice) || !choose_in(preempt, choice)) {
            continue;
        }
        undo(preempt, choice);
        if (choice->n_victims < n_least) {
            n_least = choice->n_victims;
            best = choice->group;
        }
        if (!wants(preempt, PREEMPT_FOR_OPTIMAL_MINI_JOB) || n_least == 1) {
            break;
        }
    }
    free(tried);
    return best;
}

static bool choose(struct preempt *preempt, const struct place_line *line,
                   struct preempt_view *view, struct place_room *room,
                   struct preempt_claim *claim)
{
    struct choice choice = {.line = line,
                            .asks = view->asks,
                            .view = view,
                            .order = preempt->order,
                            .victims = preempt->victims};
    int group = find_left_over(preempt, &choice);
    if (group < 0 && (group = choose_group(preempt, &choice)) >= 0) {
        choice.group = group;
        choose_in(preempt, &choice); /* as before */
    }
    if (group >= 0) {
        keep_claim(preempt, &choice, room, claim);
    }
    return group >= 0;
}

/* ---------------------------------------------------------------- a line */

static bool wants_room(enum reason reason)
{
    return reason == REASON_BUSY || reason == REASON_HOST_LIMIT ||
           reason == REASON_LIMIT || reason == REASON_RESERVE ||
           reason == REASON_EXCLUSIVE;
}

/* PREEMPT_DELAY. */
static bool is_delayed(struct preempt *preempt, int queue, uint64_t job)
{
    const struct preempt_snapshot *snapshot = preempt->snapshot;
    const struct preempt_guards *guards = snapshot->guards != NULL
                                              ? snapshot->guards(snapshot->arg, job)
                                              : &snapshot->rules->queues[queue].guards;
    int64_t delay_ms = guards->delay_ms;
    if (delay_ms == 0) {
        return false;
    }
    int64_t until_ms = snapshot->submitted_ms(snapshot->arg, job) + delay_ms;
    if (until_ms <= snapshot->now_ms) {
        return false;
    }
    if (until_ms < preempt->plan.next_ms) {
        preempt->plan.next_ms = until_ms;
    }
    return true;
}

/* False: the others behind it need not be looked at. */
static bool preempt_for(struct preempt *preempt, int index, uint64_t job,
                        struct place_room *room, struct limits_draft *draft)
{
    const struct place_line *line = &preempt->place->lines[index];
    struct preempt_plan *plan = &preempt->plan;
    if (plan->n_claims == preempt->snapshot->max_jobs) {
        plan->is_cut = true;
        return false;
    }
    struct preempt_claim *claim = &plan->claims[plan->n_claims];
    if (!choose(preempt, line, preempt_view_of(&preempt->world, line), room, claim)) {
        return false;
    }
    claim->job = job;
    claim->line = index;
    plan->n_claims++;
    if (line->class != NULL && draft != NULL) {
        limits_draft_count(draft, line->class, claim->hosts, claim->n_hosts);
    }
    return true;
}

/* The running jobs are known now. */
static void begin_line(struct preempt *preempt, int line, const struct place_room *room)
{
    preempt->room = room;
    preempt->is_exclusive = preempt->place->lines[line].is_exclusive;
    preempt->plan.jobs = preempt->world.jobs;
    for (int i = 0; i < preempt->world.n_groups; i++) {
        preempt->free_slots[i] = -1;
        preempt->first_host[i] = 0;
    }
    size_t n_jobs = (size_t)preempt->world.n_jobs + 1;
    if (preempt->taken == NULL && preempt->world.jobs != NULL) {
        preempt->taken = arena_alloc(preempt->arena, n_jobs, sizeof(bool));
        preempt->order = arena_alloc(preempt->arena, n_jobs, sizeof(int));
        preempt->victims = arena_alloc(preempt->arena, n_jobs, sizeof(int));
    }
}

void preempt_line(struct preempt *preempt, int index, int first,
                  struct place_room *room, struct limits_draft *draft,
                  struct reason_verdict *verdict)
{
    const struct preempt_snapshot *snapshot = preempt->snapshot;
    const struct place_line *line = &preempt->place->lines[index];
    if (!wants_room(verdict->reason) ||
        (line->is_exclusive && !snapshot->rules->has_exclusive)) {
        return;
    }
    struct preempt_view *view = preempt_view_of(&preempt->world, line);
    int n_room = line->max_starts - first;
    bool may_more = preempt->world.n_jobs > 0 && view->n_victims > 0;
    begin_line(preempt, index, room);
    if (view->asks != NULL) {
        preempt_give_begin(&preempt->give, room->left);
        may_more = may_more && preempt_give_may(&preempt->give, view->asks,
                                                view->allowed, preempt->place->n_hosts);
    }
    verdict->preempt = view->why;
    if (view->next_ms < preempt->plan.next_ms) {
        preempt->plan.next_ms = view->next_ms;
    }
    for (int i = first; i < line->n_turns && n_room > 0; i++) {
        uint64_t job = line->turns[i]->key;
        bool has_claim = snapshot->has_claim(snapshot->arg, job);
        if (!has_claim && !may_more) {
            return;
        }
        if (!has_claim && is_delayed(preempt, line->queue, job)) {
            verdict->preempt.is_delayed = true;
            continue;
        }
        if (!has_claim && !preempt_for(preempt, index, job, room, draft)) {
            return;
        }
        n_room--;
        verdict->reason = i == first ? REASON_PREEMPTING : verdict->reason;
    }
}

/* ---------------------------------------------------------------- life */

struct preempt *preempt_new(struct arena *arena,
                            const struct preempt_snapshot *snapshot)
{
    const struct place_snapshot *place = snapshot->place;
    size_t n_hosts = (size_t)place->n_hosts + 1;
    struct preempt *preempt = arena_alloc(arena, 1, sizeof(*preempt));
    preempt->snapshot = snapshot;
    preempt->place = place;
    preempt->arena = arena;
    preempt->draft = place->limits != NULL ? limits_draft_new(place->limits) : NULL;
    preempt_view_init(&preempt->world, arena, snapshot);
    preempt_give_init(&preempt->give, arena, place);
    preempt->delta = arena_alloc(arena, n_hosts, sizeof(int));
    preempt->opened = arena_alloc(arena, n_hosts, sizeof(bool));
    preempt->hosts = arena_alloc(arena, n_hosts, sizeof(*preempt->hosts));
    preempt->places = arena_alloc(arena, n_hosts, sizeof(int));
    preempt->free_slots = arena_alloc(arena, (size_t)preempt->world.n_groups,
                                      sizeof(*preempt->free_slots));
    preempt->first_host =
        arena_alloc(arena, (size_t)preempt->world.n_groups, sizeof(int));
    preempt->plan.claims =
        arena_alloc(arena, (size_t)snapshot->max_jobs, sizeof(struct preempt_claim));
    preempt->plan.next_ms = INT64_MAX;
    return preempt;
}

void preempt_free(struct preempt *preempt)
{
    if (preempt != NULL) {
        limits_draft_free(preempt->draft);
    }
}

void preempt_started(struct preempt *preempt, const struct limits_class *class,
                     const struct host_slots *hosts, int n_hosts)
{
    if (preempt->draft != NULL && class != NULL) {
        limits_draft_count(preempt->draft, class, hosts, n_hosts);
    }
}

const struct preempt_plan *preempt_result(const struct preempt *preempt)
{
    return &preempt->plan;
}
