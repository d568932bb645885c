/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: one pass over the waiting jobs, which gives slots away as it goes.
 *
 * Hosts stand in groups: the own hosts are one, those of each lease another. For each
 * job, in the order of place.h: the candidates are the hosts that its queue and its -m
 * allow; the best of them whose group has enough free slots names the group, and the
 * job takes slots along the order inside it.
 *
 *     queue HOSTS = s1+1 allremote; s1 has 1 free of 2, n1@north 3 of 4, n2@north 4 of
 * 4 -n 1: s1 (preference 1)          -> s1 -n 1: s1 is full: used/max of n2@north is 0,
 * of n1@north 1/4   -> n2@north -n 5: s1's group has 0, north's lease 6: n2@north 3,
 * n1@north 2 (order kept)
 *
 * A job that found no room stands for those that come after it in its queue with as
 * many slots or more, the same requirements and the same -m (none, or the one list that
 * the elements of an array share): slots only get fewer in a pass. That keeps a long
 * queue of waiting jobs cheap; it changes no result. */
#include "sched/place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A job that found no room, and why. */
struct stuck {
    int n_slots; /* 0: none yet */
    int most;    /* slots of the largest group that it might have used */
    const char *const *hosts_asked;
    const struct place_filter *filter;
    enum place_reason reason;
};

/* What one queue makes of all hosts; filled when its first job comes. */
struct queue_view {
    bool is_filled;
    bool *allows;     /* by host */
    int *preferences; /* by host */
    bool uses_own;
    int *groups; /* borrowed groups with a host that it allows */
    int n_groups;
    struct stuck plain, asked; /* the last without -m and requirements, with them */
};

struct pass {
    const struct place_snapshot *snapshot;
    struct arena *arena;
    int *used;       /* by host, as the pass goes on */
    int *group_of;   /* by host: 0 own, then one for each lease */
    int *first_host; /* by group */
    int n_groups;
    struct queue_view *views;
    bool *allows; /* by host, for the last job with -m or requirements: of this queue,
                     list and filter */
    const struct queue_view *allows_view;
    const char *const *allows_asked;
    const struct place_filter *allows_filter;
    int *free_slots; /* scratch, by group */
    int *capacity;   /* scratch, by group */
};

static int free_on(const struct pass *pass, int host)
{
    const struct place_host *at = &pass->snapshot->hosts[host];
    int left = at->max - pass->used[host];
    return at->is_open && left > 0 ? left : 0;
}

/* ---------------------------------------------------------------- order */

struct order_item {
    uint64_t id;
    int priority, queue, index;
};

static int order_compare(const void *left, const void *right)
{
    const struct order_item *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->queue != b->queue) {
        return a->queue < b->queue ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

static struct order_item *order_jobs(struct arena *arena,
                                     const struct place_snapshot *snapshot)
{
    size_t n_jobs = (size_t)snapshot->n_jobs;
    struct order_item *items = arena_alloc(arena, n_jobs, sizeof(*items));
    for (int i = 0; i < snapshot->n_jobs; i++) {
        const struct place_job *job = &snapshot->jobs[i];
        items[i] = (struct order_item){
            .id = job->id,
            .priority = snapshot->queues[job->queue].priority,
            .queue = job->queue,
            .index = i,
        };
    }
    /* A site shows its jobs in that order; a sort would cost more than the pass. */
    for (size_t i = 1; i < n_jobs; i++) {
        if (order_compare(&items[i - 1], &items[i]) > 0) {
            qsort(items, n_jobs, sizeof(*items), order_compare);
            break;
        }
    }
    return items;
}

/* ---------------------------------------------------------------- groups and queues */

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

static struct queue_view *view_of(struct pass *pass, int queue)
{
    struct queue_view *view = &pass->views[queue];
    if (view->is_filled) {
        return view;
    }
    const struct place_snapshot *snapshot = pass->snapshot;
    size_t n_hosts = (size_t)snapshot->n_hosts;
    view->is_filled = true;
    view->allows = arena_alloc(pass->arena, n_hosts, sizeof(bool));
    view->preferences = arena_alloc(pass->arena, n_hosts, sizeof(int));
    view->groups = arena_alloc(pass->arena, (size_t)pass->n_groups, sizeof(int));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const struct place_host *host = &snapshot->hosts[i];
        view->allows[i] = queue_allows(&snapshot->queues[queue], host->name, host->site,
                                       &view->preferences[i]);
        if (!view->allows[i]) {
            continue;
        }
        int group = pass->group_of[i];
        if (group == 0) {
            view->uses_own = true;
        } else if (view->n_groups == 0 || view->groups[view->n_groups - 1] != group) {
            view->groups[view->n_groups++] = group;
        }
    }
    return view;
}

/* ---------------------------------------------------------------- one job */

/* Neither -m nor requirements: the queue's hosts, whatever they are. */
static bool is_plain(const struct place_job *job)
{
    return job->n_hosts_asked == 0 && job->filter == NULL;
}

static bool is_asked(const struct place_job *job, const char *name)
{
    for (int k = 0; k < job->n_hosts_asked; k++) {
        if (strcmp(job->hosts_asked[k], name) == 0) {
            return true;
        }
    }
    return job->n_hosts_asked == 0;
}

/* The hosts that are open to a job: its queue's, narrowed by -m and requirements. */
static const bool *hosts_for(struct pass *pass, const struct queue_view *view,
                             const struct place_job *job)
{
    if (is_plain(job)) {
        return view->allows;
    }
    if (pass->allows_view == view && pass->allows_asked == job->hosts_asked &&
        pass->allows_filter == job->filter) {
        return pass->allows;
    }
    pass->allows_view = view;
    pass->allows_asked = job->hosts_asked;
    pass->allows_filter = job->filter;
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        pass->allows[i] = view->allows[i] &&
                          (job->filter == NULL || job->filter->matches[i]) &&
                          is_asked(job, pass->snapshot->hosts[i].name);
    }
    return pass->allows;
}

/* True where host a comes before host b. */
static bool is_better(const struct pass *pass, const int *preferences,
                      const struct place_filter *filter, int a, int b)
{
    const struct place_host *hosts = pass->snapshot->hosts;
    if (preferences[a] != preferences[b]) {
        return preferences[a] > preferences[b];
    }
    const int *places = filter != NULL ? filter->places : NULL;
    if (places != NULL && places[a] != places[b]) {
        return places[a] < places[b];
    }
    bool a_own = pass->group_of[a] == 0, b_own = pass->group_of[b] == 0;
    if (a_own != b_own) {
        return a_own;
    }
    int64_t a_load = (int64_t)pass->used[a] * hosts[b].max;
    int64_t b_load = (int64_t)pass->used[b] * hosts[a].max;
    if (a_load != b_load) {
        return a_load < b_load;
    }
    return a < b;
}

/* The best allowed host with a free slot in a group with room for the whole job
 * (`group` -1), or in that group; -1: none. */
static int best_host(const struct pass *pass, const struct queue_view *view,
                     const bool *allows, const struct place_filter *filter, int n_slots,
                     int group)
{
    int best = -1;
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        if (!allows[i] || free_on(pass, i) == 0) {
            continue;
        }
        int of = pass->group_of[i];
        if (group >= 0 ? of != group : pass->free_slots[of] < n_slots) {
            continue;
        }
        if (best < 0 || is_better(pass, view->preferences, filter, i, best)) {
            best = i;
        }
    }
    return best;
}

/* Why a job cannot start, or PLACE_STARTED where a group has room for it. Fills
 * free_slots. */
static enum place_reason judge(struct pass *pass, const bool *allows, int n_slots)
{
    bool any = false, any_open = false, any_fits = false, any_room = false;
    for (int group = 0; group < pass->n_groups; group++) {
        pass->free_slots[group] = pass->capacity[group] = 0;
    }
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        if (!allows[i]) {
            continue;
        }
        int group = pass->group_of[i];
        any = true;
        any_open = any_open || pass->snapshot->hosts[i].is_open;
        pass->capacity[group] += pass->snapshot->hosts[i].max;
        pass->free_slots[group] += free_on(pass, i);
        any_fits = any_fits || pass->capacity[group] >= n_slots;
        any_room = any_room || pass->free_slots[group] >= n_slots;
    }
    if (!any) {
        return PLACE_NO_HOST;
    }
    if (any_room) {
        return PLACE_STARTED;
    }
    if (!any_open) {
        return PLACE_CLOSED;
    }
    return any_fits ? PLACE_BUSY : PLACE_TOO_LARGE;
}

static void take_slots(struct pass *pass, const struct queue_view *view,
                       const bool *allows, const struct place_job *job,
                       struct place_start *start)
{
    int host = best_host(pass, view, allows, job->filter, job->n_slots, -1);
    int group = pass->group_of[host];
    int open = job->n_slots;
    int n_hosts = 0;
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        n_hosts += allows[i] && pass->group_of[i] == group && free_on(pass, i) > 0;
    }
    if (n_hosts > open) {
        n_hosts = open;
    }
    start->job = job->id;
    start->lease = pass->snapshot->hosts[host].lease;
    start->hosts = arena_alloc(pass->arena, (size_t)n_hosts, sizeof(*start->hosts));
    for (;;) {
        int n_taken = free_on(pass, host) < open ? free_on(pass, host) : open;
        start->hosts[start->n_hosts++] = (struct host_slots){
            .host = pass->snapshot->hosts[host].name, .n_slots = n_taken};
        pass->used[host] += n_taken;
        open -= n_taken;
        if (open == 0) {
            return;
        }
        /* This one is full now: the next best of its group. */
        host = best_host(pass, view, allows, job->filter, open, group);
    }
}

static void add_capped(int *sum, int more)
{
    *sum = *sum > INT_MAX - more ? INT_MAX : *sum + more;
}

/* A job stays: whom it would use. */
static void count_waiting(const struct pass *pass, const struct queue_view *view,
                          const struct place_job *job, const bool *allows,
                          struct place_plan *plan)
{
    if (is_plain(job)) {
        add_capped(&plan->waiting_own, view->uses_own ? job->n_slots : 0);
        for (int i = 0; i < view->n_groups; i++) {
            add_capped(&plan->waiting_lease[pass->first_host[view->groups[i]]],
                       job->n_slots);
        }
        return;
    }
    int last = -1;
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        int group = pass->group_of[i];
        if (allows[i] && group != last) {
            last = group;
            if (group == 0) {
                add_capped(&plan->waiting_own, job->n_slots);
            } else {
                add_capped(&plan->waiting_lease[pass->first_host[group]], job->n_slots);
            }
        }
    }
}

/* The list of -m, shared by an array's elements; NULL: none. */
static const char *const *list_of(const struct place_job *job)
{
    return job->n_hosts_asked > 0 ? job->hosts_asked : NULL;
}

/* A job that is no smaller, with the same hosts and requirements, stays as well: the
 * reason. STARTED: it must be looked at. Whether a job is too large does not change in
 * a pass. */
static enum place_reason follow(const struct stuck *stuck, const struct place_job *job)
{
    bool is_same = list_of(job) == stuck->hosts_asked && job->filter == stuck->filter;
    if (stuck->n_slots == 0 || job->n_slots < stuck->n_slots || !is_same) {
        return PLACE_STARTED;
    }
    return stuck->reason == PLACE_BUSY && job->n_slots > stuck->most ? PLACE_TOO_LARGE
                                                                     : stuck->reason;
}

static int most_of(const struct pass *pass)
{
    int most = 0;
    for (int i = 0; i < pass->n_groups; i++) {
        most = pass->capacity[i] > most ? pass->capacity[i] : most;
    }
    return most;
}

/* True where the job has hosts, but for its requirements. */
static bool is_unmet(const struct pass *pass, const struct queue_view *view,
                     const struct place_job *job)
{
    for (int i = 0; job->filter != NULL && i < pass->snapshot->n_hosts; i++) {
        if (view->allows[i] && is_asked(job, pass->snapshot->hosts[i].name)) {
            return true;
        }
    }
    return false;
}

static enum place_reason place_job(struct pass *pass, const struct place_job *job,
                                   struct place_plan *plan)
{
    struct queue_view *view = view_of(pass, job->queue);
    struct stuck *stuck = is_plain(job) ? &view->plain : &view->asked;
    const bool *allows = hosts_for(pass, view, job);
    enum place_reason reason = follow(stuck, job);
    if (reason != PLACE_STARTED) {
        count_waiting(pass, view, job, allows, plan);
        return reason;
    }
    reason = judge(pass, allows, job->n_slots);
    if (reason == PLACE_NO_HOST && is_unmet(pass, view, job)) {
        reason = PLACE_UNMET;
    }
    if (reason == PLACE_STARTED) {
        take_slots(pass, view, allows, job, &plan->starts[plan->n_starts++]);
        return reason;
    }
    *stuck = (struct stuck){.n_slots = job->n_slots,
                            .most = most_of(pass),
                            .hosts_asked = list_of(job),
                            .filter = job->filter,
                            .reason = reason};
    count_waiting(pass, view, job, allows, plan);
    return reason;
}

void place_plan(struct arena *arena, const struct place_snapshot *snapshot,
                struct place_plan *plan)
{
    size_t n_hosts = (size_t)snapshot->n_hosts, n_jobs = (size_t)snapshot->n_jobs;
    struct pass pass = {.snapshot = snapshot, .arena = arena};
    pass.used = arena_alloc(arena, n_hosts, sizeof(int));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        pass.used[i] = snapshot->hosts[i].used;
    }
    group_hosts(&pass);
    pass.views = arena_alloc(arena, (size_t)snapshot->n_queues, sizeof(*pass.views));
    pass.allows = arena_alloc(arena, n_hosts, sizeof(bool));
    pass.free_slots = arena_alloc(arena, (size_t)pass.n_groups, sizeof(int));
    pass.capacity = arena_alloc(arena, (size_t)pass.n_groups, sizeof(int));

    memset(plan, 0, sizeof(*plan));
    plan->used = pass.used;
    plan->starts = arena_alloc(arena, n_jobs, sizeof(*plan->starts));
    plan->reasons = arena_alloc(arena, n_jobs, sizeof(*plan->reasons));
    plan->waiting_lease = arena_alloc(arena, n_hosts, sizeof(int));
    const struct order_item *order = order_jobs(arena, snapshot);
    for (int i = 0; i < snapshot->n_jobs; i++) {
        int index = order[i].index;
        plan->reasons[index] = place_job(&pass, &snapshot->jobs[index], plan);
    }
}

const char *place_reason_text(enum place_reason reason)
{
    switch (reason) {
    case PLACE_STARTED:
        return "being started";
    case PLACE_NO_HOST:
        return "none of its hosts is known here";
    case PLACE_UNMET:
        return "no host meets its resource requirements";
    case PLACE_TOO_LARGE:
        return "it asks for more slots than its hosts have";
    case PLACE_CLOSED:
        return "its hosts are closed or away";
    case PLACE_BUSY:
        return "waiting for a free slot";
    }
    return "";
}
