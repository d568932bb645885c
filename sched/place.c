/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: one pass over the lines of waiting jobs, which gives slots away as it goes.
 *
 * Hosts stand in groups: the own hosts are one, those of each lease another. For each
 * job, in the order of place.h: of the groups that have room for all of it the one with
 * the best host, and there it takes slots along the order of hosts.
 *
 *     queue HOSTS = s1+1 allremote; s1 has 1 free of 2, n1@north 3 of 4, n2@north 4 of
 * 4 -n 1: s1 (preference 1)          -> s1 -n 1: s1 is full: used/max of n2@north is 0,
 * of n1@north 1/4   -> n2@north -n 5: s1's group has 0, north's lease 6: n2@north 3,
 * n1@north 2 (order kept)
 *
 * What keeps a pass cheap changes no result: slots only get fewer in it. The lines
 * stand in a heap by their next job; one whose job finds no room leaves it. What a
 * queue, an -m and requirements make of the hosts is a view, which all lines share that
 * have both: in it stand those hosts of each group that have slots left, in a heap by
 * the order of hosts. A host that others have used since it was put there only ever
 * belongs further down, so it is put right when it comes to the top. A view that had no
 * room for some slots has none for as many or more. */
#include "sched/place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A host as it stood when it was put in its place. */
struct candidate {
    int host;
    int preference;
    int place; /* by the order section of requirements; 0: it has none */
    int used;
};

/* The hosts of one group that a view has, those with free slots as a heap. */
struct view_group {
    int group;
    struct candidate *heap;
    int count;
    int64_t capacity; /* slots of all of them, free or not */
};

/* What one queue, one -m and the requirements make of all hosts. */
struct view {
    int queue;
    const char *const *hosts_asked;
    int n_hosts_asked;
    const struct place_filter *filter;
    const struct limits_class *class; /* of limits that look at hosts; else NULL */
    struct view_group *groups;
    int n_groups;
    int64_t capacity; /* of the largest group */
    int stuck_slots;  /* no room was found for so many; INT_MAX: none sought in vain */
    int told_slots;   /* for which the verdict says why; 0: none yet */
    struct reason_verdict stuck;
    struct view *next; /* of the same queue */
};

struct pass {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    struct limits_draft *draft; /* NULL: no limits */
    int *used;                  /* by host, as the pass goes on */
    int *group_of;              /* by host: 0 own, then one for each lease */
    int *first_host;            /* by group */
    int n_groups;
    struct view **views; /* by queue: a list */
    int *next_turn;      /* by line */
    int *heap;           /* lines that are not through */
    int n_heap;
    struct candidate *parked; /* scratch: hosts at their limit for one job */
    int n_parked;
};

/* ---------------------------------------------------------------- heaps */

static int compare_lines(const struct pass *pass, int a, int b)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    const struct place_line *left = &snapshot->lines[a], *right = &snapshot->lines[b];
    int left_priority = snapshot->queues[left->queue].priority;
    int right_priority = snapshot->queues[right->queue].priority;
    if (left_priority != right_priority) {
        return left_priority > right_priority ? -1 : 1;
    }
    if (left->queue != right->queue) {
        return left->queue < right->queue ? -1 : 1;
    }
    return line_compare(left->turns[pass->next_turn[a]],
                        right->turns[pass->next_turn[b]]);
}

static void sift_line(struct pass *pass, int at)
{
    int line = pass->heap[at];
    for (int child; (child = 2 * at + 1) < pass->n_heap; at = child) {
        if (child + 1 < pass->n_heap &&
            compare_lines(pass, pass->heap[child + 1], pass->heap[child]) < 0) {
            child++;
        }
        if (compare_lines(pass, line, pass->heap[child]) <= 0) {
            break;
        }
        pass->heap[at] = pass->heap[child];
    }
    pass->heap[at] = line;
}

/* True where a comes before b. Own and borrowed do not meet in one heap, but here. */
static bool is_better(const struct pass *pass, const struct candidate *a,
                      const struct candidate *b)
{
    const struct place_host *hosts = pass->snapshot->hosts;
    if (a->preference != b->preference) {
        return a->preference > b->preference;
    }
    if (a->place != b->place) {
        return a->place < b->place;
    }
    bool a_own = pass->group_of[a->host] == 0, b_own = pass->group_of[b->host] == 0;
    if (a_own != b_own) {
        return a_own;
    }
    int64_t a_load = (int64_t)a->used * hosts[b->host].max;
    int64_t b_load = (int64_t)b->used * hosts[a->host].max;
    if (a_load != b_load) {
        return a_load < b_load;
    }
    return a->host < b->host;
}

static void sift_host(const struct pass *pass, struct view_group *group, int at)
{
    struct candidate moved = group->heap[at];
    for (int child; (child = 2 * at + 1) < group->count; at = child) {
        if (child + 1 < group->count &&
            is_better(pass, &group->heap[child + 1], &group->heap[child])) {
            child++;
        }
        if (!is_better(pass, &group->heap[child], &moved)) {
            break;
        }
        group->heap[at] = group->heap[child];
    }
    group->heap[at] = moved;
}

static void push_host(const struct pass *pass, struct view_group *group,
                      const struct candidate *candidate)
{
    int at = group->count++;
    for (int parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!is_better(pass, candidate, &group->heap[parent])) {
            break;
        }
        group->heap[at] = group->heap[parent];
    }
    group->heap[at] = *candidate;
}

static void pop_host(const struct pass *pass, struct view_group *group)
{
    group->heap[0] = group->heap[--group->count];
    if (group->count > 0) {
        sift_host(pass, group, 0);
    }
}

static int free_on(const struct pass *pass, int host)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    int left = at->max - pass->used[host];
    return at->is_open && left > 0 ? left : 0;
}

/* The group's best host with a free slot, as things stand now; NULL: none. */
static const struct candidate *top_host(const struct pass *pass,
                                        struct view_group *group)
{
    while (group->count > 0) {
        struct candidate *top = &group->heap[0];
        if (free_on(pass, top->host) == 0) {
            pop_host(pass, group);
        } else if (top->used != pass->used[top->host]) {
            top->used = pass->used[top->host];
            sift_host(pass, group, 0);
        } else {
            return top;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- groups and views */

static void group_hosts(struct pass *pass)
{
    const struct place_snapshot *snapshot = pass->snapshot;
    size_t n_hosts = (size_t)snapshot->n_hosts;
    pass->group_of = arena_alloc(pass->arena, n_hosts, sizeof(int));
    pass->first_host = arena_alloc(pass->arena, n_hosts + 1, sizeof(int));
    pass->n_groups = 1; /* the own hosts, even if there are none */
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const char *lease = snapshot->hosts[i].lease;
        if (lease[0] == '\0') {
            continue;
        }
        /* Hosts of one lease stand together. */
        if (i == 0 || strcmp(snapshot->hosts[i - 1].lease, lease) != 0) {
            pass->first_host[pass->n_groups++] = i;
        }
        pass->group_of[i] = pass->n_groups - 1;
    }
}

static bool is_asked_for(const struct view *view, const char *host)
{
    for (int i = 0; i < view->n_hosts_asked; i++) {
        if (strcmp(view->hosts_asked[i], host) == 0) {
            return true;
        }
    }
    return view->n_hosts_asked == 0;
}

/* The view's part in the host's group; hosts of a group come one after the other. */
static struct view_group *group_in(const struct pass *pass, struct view *view, int host,
                                   int n_left)
{
    int group = pass->group_of[host];
    if (view->n_groups == 0 || view->groups[view->n_groups - 1].group != group) {
        struct view_group *added = &view->groups[view->n_groups++];
        added->group = group;
        added->heap = arena_alloc(pass->arena, (size_t)n_left, sizeof(*added->heap));
    }
    return &view->groups[view->n_groups - 1];
}

static void judge_host(const struct pass *pass, struct view *view, int host, int n_left)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    struct candidate candidate = {.host = host, .used = pass->used[host]};
    if (!queue_allows(&pass->snapshot->queues[view->queue], at->name, at->site,
                      &candidate.preference) ||
        !is_asked_for(view, at->name)) {
        view->stuck.n_excluded++;
        return;
    }
    if (view->filter != NULL && !view->filter->matches[host]) {
        view->stuck.n_unmet++;
        return;
    }
    if (view->filter != NULL && view->filter->places != NULL) {
        candidate.place = view->filter->places[host];
    }
    struct view_group *group = group_in(pass, view, host, n_left);
    group->capacity += at->max;
    if (!at->is_open) {
        view->stuck.n_closed++;
    } else if (free_on(pass, host) > 0) {
        group->heap[group->count++] = candidate;
    } /* else it is full; counted when someone asks why */
}

static struct view *view_new(const struct pass *pass, const struct place_line *line)
{
    int n_hosts = pass->snapshot->n_hosts;
    struct view *view = arena_alloc(pass->arena, 1, sizeof(*view));
    view->queue = line->queue;
    view->hosts_asked = line->hosts_asked;
    view->n_hosts_asked = line->n_hosts_asked;
    view->filter = line->filter;
    view->stuck_slots = INT_MAX;
    view->stuck.n_hosts = n_hosts;
    view->groups =
        arena_alloc(pass->arena, (size_t)pass->n_groups, sizeof(*view->groups));
    for (int i = 0; i < n_hosts; i++) {
        judge_host(pass, view, i, n_hosts - i);
    }
    for (int i = 0; i < view->n_groups; i++) {
        struct view_group *group = &view->groups[i];
        for (int at = group->count / 2 - 1; at >= 0; at--) {
            sift_host(pass, group, at);
        }
        view->capacity =
            group->capacity > view->capacity ? group->capacity : view->capacity;
    }
    return view;
}

static bool is_same_list(const struct view *view, const struct place_line *line)
{
    if (view->n_hosts_asked != line->n_hosts_asked) {
        return false;
    }
    for (int i = 0; view->hosts_asked != line->hosts_asked && i < view->n_hosts_asked;
         i++) {
        if (strcmp(view->hosts_asked[i], line->hosts_asked[i]) != 0) {
            return false;
        }
    }
    return true;
}

static struct view *view_of(struct pass *pass, const struct place_line *line)
{
    bool has_own = line->class != NULL && limits_have_hosts(line->class);
    const struct limits_class *class = has_own ? line->class : NULL;
    for (struct view *view = pass->views[line->queue]; view != NULL;
         view = view->next) {
        if (view->class == class && view->filter == line->filter &&
            is_same_list(view, line)) {
            return view;
        }
    }
    struct view *view = view_new(pass, line);
    view->class = class;
    view->next = pass->views[line->queue];
    pass->views[line->queue] = view;
    return view;
}

/* ---------------------------------------------------------------- one job */

/* Slots that the job may take on this host. */
static int room_on(const struct pass *pass, const struct view *view, int host,
                   const struct place_start *start, const struct limit **limit)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    int n_free = free_on(pass, host);
    if (view->class == NULL) {
        return n_free;
    }
    int n_processors = at->n_processors > 0 ? at->n_processors : at->max;
    int room = limits_room_on(pass->draft, view->class, at->name, n_processors,
                              start->hosts, start->n_hosts, limit);
    return room < n_free ? room : n_free;
}

/* Free slots of the group, as far as `enough`. */
static int free_in(const struct pass *pass, const struct view_group *group, int enough)
{
    int n_free = 0;
    for (int i = 0; i < group->count && n_free < enough; i++) {
        n_free += free_on(pass, group->heap[i].host);
    }
    return n_free;
}

/* Takes slots in one group, along its order. False where limits on hosts leave too
 * little; then nothing is taken. */
static bool take_in(struct pass *pass, struct view *view, struct view_group *group,
                    int n_slots, struct place_start *start, const struct limit **limit)
{
    int open = n_slots;
    const struct candidate *top;
    start->n_hosts = 0;
    start->hosts = arena_alloc(
        pass->arena, (size_t)(n_slots < group->count ? n_slots : group->count),
        sizeof(*start->hosts));
    pass->n_parked = 0;
    while (open > 0 && (top = top_host(pass, group)) != NULL) {
        struct candidate candidate = *top;
        const struct limit *by = NULL;
        int n_taken = room_on(pass, view, candidate.host, start, &by);
        *limit = by != NULL ? by : *limit;
        n_taken = n_taken < open ? n_taken : open;
        if (n_taken > 0) {
            start->hosts[start->n_hosts++] = (struct host_slots){
                .host = pass->snapshot->hosts[candidate.host].name, .n_slots = n_taken};
            pass->used[candidate.host] += n_taken;
            open -= n_taken;
        }
        if (open > 0) {
            pop_host(pass, group);
            candidate.used = n_taken > 0 ? n_taken : 0; /* to give back */
            pass->parked[pass->n_parked++] = candidate;
        }
    }
    for (int i = 0; i < pass->n_parked; i++) {
        struct candidate *parked = &pass->parked[i];
        if (open > 0) {
            pass->used[parked->host] -= parked->used;
        }
        parked->used = pass->used[parked->host];
        if (free_on(pass, parked->host) > 0) {
            push_host(pass, group, parked);
        }
    }
    return open == 0;
}

/* The group with the best host of those that have free slots for the whole job; those
 * in `tried` are out. */
static struct view_group *choose_group(struct pass *pass, struct view *view,
                                       int n_slots, const bool *tried)
{
    struct view_group *best = NULL;
    for (int i = 0; i < view->n_groups; i++) {
        struct view_group *group = &view->groups[i];
        const struct candidate *top = tried[i] ? NULL : top_host(pass, group);
        if (top != NULL && (best == NULL || is_better(pass, top, &best->heap[0])) &&
            free_in(pass, group, n_slots) >= n_slots) {
            best = group;
        }
    }
    return best;
}

static int count_free(const struct pass *pass, const struct view *view)
{
    int n_free = 0;
    for (int i = 0; i < view->n_groups; i++) {
        const struct view_group *group = &view->groups[i];
        for (int k = 0; k < group->count; k++) {
            n_free += free_on(pass, group->heap[k].host) > 0;
        }
    }
    return n_free;
}

/* Why the view has no room for so many slots. */
static void tell_stuck(const struct pass *pass, struct view *view, int n_slots,
                       const struct limit *limit)
{
    struct reason_verdict *stuck = &view->stuck;
    int n_asked = stuck->n_hosts - stuck->n_excluded;
    int n_allowed = n_asked - stuck->n_unmet;
    int n_free = count_free(pass, view);
    view->told_slots = n_slots;
    stuck->n_full = n_allowed - stuck->n_closed - n_free;
    stuck->n_limited = limit != NULL ? n_free : 0;
    stuck->limit = limit != NULL ? limit->name : NULL;
    if (n_allowed == 0) {
        stuck->reason = n_asked > 0 ? REASON_UNMET : REASON_NO_HOST;
    } else if (stuck->n_closed == n_allowed) {
        stuck->reason = REASON_CLOSED;
    } else if (view->capacity < n_slots) {
        stuck->reason = REASON_TOO_LARGE;
    } else {
        stuck->reason = limit != NULL ? REASON_HOST_LIMIT : REASON_BUSY;
    }
}

static bool fit(struct pass *pass, struct view *view, int n_slots,
                struct place_start *start)
{
    const struct limit *limit = NULL;
    struct view_group *group = NULL;
    bool *tried = NULL;
    if (n_slots < view->stuck_slots) {
        tried = arena_alloc(pass->arena, (size_t)view->n_groups, sizeof(*tried));
        group = choose_group(pass, view, n_slots, tried);
        view->told_slots = 0;
    }
    while (group != NULL) {
        if (take_in(pass, view, group, n_slots, start, &limit)) {
            int first = pass->first_host[group->group];
            start->lease = group->group == 0 ? "" : pass->snapshot->hosts[first].lease;
            return true;
        }
        tried[group - view->groups] = true;
        group = choose_group(pass, view, n_slots, tried);
    }
    if (view->told_slots != n_slots) {
        tell_stuck(pass, view, n_slots, limit);
    }
    view->stuck_slots = n_slots < view->stuck_slots ? n_slots : view->stuck_slots;
    return false;
}

/* What is against the line's next job, whatever hosts there are; REASON_STARTED:
 * nothing. */
static enum reason check_line(const struct pass *pass, int index, const char **name)
{
    const struct place_line *line = &pass->snapshot->lines[index];
    const struct limit *limit = NULL;
    if (line->veto != REASON_NEW) {
        return line->veto;
    }
    if (pass->next_turn[index] >= line->max_starts) {
        return REASON_ARRAY_LIMIT;
    }
    if (line->class != NULL &&
        limits_room(pass->draft, line->class, &limit) < line->n_slots) {
        *name = limit->name;
        return limits_most(line->class, &limit) < line->n_slots ? REASON_LIMIT_SMALL
                                                                : REASON_LIMIT;
    }
    return REASON_STARTED;
}

/* True where the line's next job starts; else the verdict says why not. */
static bool start_next(struct pass *pass, int index, struct place_plan *plan)
{
    const struct place_line *line = &pass->snapshot->lines[index];
    struct place_start *start = &plan->starts[plan->n_starts];
    const char *limit = NULL;
    enum reason reason = check_line(pass, index, &limit);
    if (reason != REASON_STARTED) {
        plan->verdicts[index] = (struct reason_verdict){
            .reason = reason, .limit = limit, .n_hosts = pass->snapshot->n_hosts};
        return false;
    }
    struct view *view = view_of(pass, line);
    if (!fit(pass, view, line->n_slots, start)) {
        plan->verdicts[index] = view->stuck;
        return false;
    }
    start->job = line->turns[pass->next_turn[index]]->key;
    if (line->class != NULL) {
        limits_draft_count(pass->draft, line->class, start->hosts, start->n_hosts);
    }
    plan->n_starts++;
    return true;
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
    const struct view *view = view_of(pass, line);
    int64_t n_slots = (int64_t)(line->n_turns - pass->next_turn[index]) * line->n_slots;
    for (int i = 0; i < view->n_groups; i++) {
        int group = view->groups[i].group;
        if (group == 0) {
            add_capped(&plan->waiting_own, n_slots);
        } else {
            add_capped(&plan->waiting_lease[pass->first_host[group]], n_slots);
        }
    }
}

/* Slots would help, of whomever. */
static bool wants_slots(enum reason reason)
{
    return reason == REASON_BUSY || reason == REASON_TOO_LARGE ||
           reason == REASON_CLOSED || reason == REASON_HOST_LIMIT ||
           reason == REASON_NEW;
}

/* ---------------------------------------------------------------- the pass */

static void pass_init(struct pass *pass, struct arena *arena,
                      const struct place_snapshot *snapshot)
{
    size_t n_hosts = (size_t)snapshot->n_hosts, n_lines = (size_t)snapshot->n_lines;
    memset(pass, 0, sizeof(*pass));
    pass->snapshot = snapshot;
    pass->arena = arena;
    pass->draft = snapshot->limits != NULL ? limits_draft_new(snapshot->limits) : NULL;
    pass->used = arena_alloc(arena, n_hosts, sizeof(int));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        pass->used[i] = snapshot->hosts[i].used;
    }
    group_hosts(pass);
    pass->views = arena_alloc(arena, (size_t)snapshot->n_queues, sizeof(struct view *));
    pass->parked = arena_alloc(arena, n_hosts, sizeof(*pass->parked));
    pass->next_turn = arena_alloc(arena, n_lines, sizeof(int));
    pass->heap = arena_alloc(arena, n_lines, sizeof(int));
    pass->n_heap = snapshot->n_lines;
    for (int i = 0; i < pass->n_heap; i++) {
        pass->heap[i] = i;
    }
    for (int at = pass->n_heap / 2 - 1; at >= 0; at--) {
        sift_line(pass, at);
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
    plan->verdicts =
        arena_alloc(arena, (size_t)snapshot->n_lines, sizeof(*plan->verdicts));
    plan->waiting_lease =
        arena_alloc(arena, (size_t)snapshot->n_hosts, sizeof(*plan->waiting_lease));
}

void place_plan(struct arena *arena, const struct place_snapshot *snapshot,
                struct place_plan *plan)
{
    struct pass pass;
    pass_init(&pass, arena, snapshot);
    plan_init(arena, snapshot, plan);
    while (pass.n_heap > 0 && plan->n_starts < snapshot->max_starts) {
        int line = pass.heap[0];
        bool is_through = true;
        if (start_next(&pass, line, plan)) {
            is_through = ++pass.next_turn[line] == snapshot->lines[line].n_turns;
            plan->verdicts[line].reason = is_through ? REASON_STARTED : REASON_NEW;
        }
        if (is_through) {
            pass.heap[0] = pass.heap[--pass.n_heap];
        }
        if (pass.n_heap > 0) {
            sift_line(&pass, 0);
        }
    }
    plan->is_cut = pass.n_heap > 0;
    for (int i = 0; i < snapshot->n_lines; i++) {
        if (pass.next_turn[i] < snapshot->lines[i].n_turns &&
            wants_slots(plan->verdicts[i].reason)) {
            count_waiting(&pass, i, plan);
        }
    }
    limits_draft_free(pass.draft);
}
