/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c: see candidates.h. */
#include "sched/place/candidates.h"

#include <limits.h>
#include <string.h>

/* ---------------------------------------------------------------- heaps of hosts */

/* True where a comes before b. Own and borrowed do not meet in one heap, but here. */
bool candidates_is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->preference != b->preference) {
        return a->preference > b->preference;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    if (a->is_borrowed != b->is_borrowed) {
        return b->is_borrowed;
    }
    int64_t a_load = (int64_t)a->used * b->max, b_load = (int64_t)b->used * a->max;
    if (a_load != b_load) {
        return a_load < b_load;
    }
    return a->host < b->host;
}

static void sift_host(struct candidate_group *group, int at)
{
    struct candidate moved = group->heap[at];
    for (int child; (child = 2 * at + 1) < group->count; at = child) {
        if (child + 1 < group->count &&
            candidates_is_better(&group->heap[child + 1], &group->heap[child])) {
            child++;
        }
        if (!candidates_is_better(&group->heap[child], &moved)) {
            break;
        }
        group->heap[at] = group->heap[child];
    }
    group->heap[at] = moved;
}

void candidates_push(struct candidate_group *group, const struct candidate *candidate)
{
    int at = group->count++;
    for (int parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!candidates_is_better(candidate, &group->heap[parent])) {
            break;
        }
        group->heap[at] = group->heap[parent];
    }
    group->heap[at] = *candidate;
    group->is_in_heap[candidate->host] = true;
}

void candidates_pop(struct candidate_group *group)
{
    group->is_in_heap[group->heap[0].host] = false;
    group->heap[0] = group->heap[--group->count];
    if (group->count > 0) {
        sift_host(group, 0);
    }
}

int candidates_free_slots(const struct place_state *state, int host,
                          const struct candidate_group *group)
{
    int n_free = place_state_free_slots(state, host, group->is_exclusive), lacking;
    if (place_state_in_accept_interval(state, host, group->accept_ms)) {
        return 0;
    }
    if (n_free == 0 || group->rusage == NULL) {
        return n_free;
    }
    int n_reserved = rusage_supply_max_slots_alone(
        state->snapshot->supply, state->supply_left, group->rusage, host, &lacking);
    return n_reserved < n_free ? n_reserved : n_free;
}

const struct candidate *candidates_top(const struct place_state *state,
                                       struct candidate_group *group)
{
    while (group->count > 0) {
        struct candidate *top = &group->heap[0];
        if (candidates_free_slots(state, top->host, group) == 0) {
            candidates_pop(group);
        } else if (top->used != state->used[top->host]) {
            top->used = state->used[top->host];
            sift_host(group, 0);
        } else {
            return top;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- views */

/* By its queue, and by what the job asks for. */
static bool is_allowed(const struct place_snapshot *snapshot, int queue,
                       const struct host_list *host_list, enum host_scope scope,
                       int index, int *preference)
{
    const struct place_host *host = &snapshot->hosts[index];
    int of_job;
    if (host->lease[0] != '\0' &&
        (scope == HOST_SCOPE_OWN ||
         (scope == HOST_SCOPE_INTERACTIVE && host->is_batch_only))) {
        return false;
    }
    if (!queue_allows(&snapshot->queues[queue], host->name, host->site, preference) ||
        !place_state_takes_queue(host, snapshot->queues[queue].name)) {
        return false;
    }
    if (host_list == NULL) {
        return true;
    }
    bool is_asked = host_list_allows(host_list, host->name, host->site, &of_job);
    *preference = host_list->has_preferences ? of_job : *preference;
    return is_asked;
}

/* The filter of the class for that alternative; NULL: any host. */
static const struct place_filter *filter_of(const struct place_class *class,
                                            const struct rusage_request *rusage)
{
    return rusage != NULL && rusage->filter != NULL ? rusage->filter : class->filter;
}

const struct place_span *candidates_span(const struct candidates *view)
{
    return view->filter != NULL ? view->filter->span : NULL;
}

static bool has_members(const struct place_state *state, const struct candidates *view)
{
    return view->rusage != NULL ||
           state->snapshot->queues[view->queue].accept_interval_ms > 0 ||
           candidates_span(view) != NULL;
}

/* The view's part in the host's group; hosts of a group come one after the other. */
static struct candidate_group *group_in(const struct place_state *state,
                                        struct candidates *view, int host, int n_left)
{
    int group = state->group_of[host];
    if (view->n_groups == 0 || view->groups[view->n_groups - 1].group != group) {
        struct candidate_group *added = &view->groups[view->n_groups++];
        added->group = group;
        added->is_exclusive = view->is_exclusive;
        added->rusage = view->rusage;
        added->is_in_heap = view->is_in_heap;
        added->accept_ms = state->snapshot->queues[view->queue].accept_interval_ms;
        added->heap = arena_alloc(state->arena, (size_t)n_left, sizeof(*added->heap));
        added->members = arena_alloc(
            state->arena, has_members(state, view) ? (size_t)n_left : 0, sizeof(int));
    }
    return &view->groups[view->n_groups - 1];
}

/* With several such hosts the verdict names the load of the first one. */
static void add_load(struct pending_verdict *verdict, const struct place_host *host,
                     const struct load_excess *load)
{
    if (verdict->n_loaded++ == 0) {
        verdict->load = *load;
        verdict->loaded_host = host->lease[0] == '\0' ? host->name : NULL;
    }
}

static struct candidate candidate_on(const struct place_state *state,
                                     const struct candidates *view, int host)
{
    const struct place_filter *filter = view->filter;
    bool has_rank = filter != NULL && filter->ranks != NULL;
    return (struct candidate){.host = host,
                              .rank = has_rank ? filter->ranks[host] : 0,
                              .used = state->used[host],
                              .max = state->snapshot->hosts[host].max,
                              .is_borrowed = state->group_of[host] != 0};
}

static void judge_host(const struct place_state *state, struct candidates *view,
                       int host, int n_left)
{
    const struct place_host *at = &state->snapshot->hosts[host];
    struct candidate candidate = candidate_on(state, view, host);
    if (!is_allowed(state->snapshot, view->queue, view->host_list, view->scope, host,
                    &candidate.preference)) {
        view->verdict.n_excluded++;
        return;
    }
    if (host_list_avoids(view->host_list, at->name)) {
        view->verdict.n_avoided++;
        return;
    }
    bool is_spent = view->filter != NULL && view->filter->reserved != NULL &&
                    view->filter->reserved->hosts[host];
    if (view->filter != NULL && !view->filter->matches[host] &&
        !(is_spent && state->is_estimate)) {
        view->verdict.n_reserved += is_spent;
        view->verdict.n_unmet += !is_spent;
        return;
    }
    struct candidate_group *group = group_in(state, view, host, n_left);
    group->is_lease_unmade = at->is_lease_unmade;
    group->capacity += at->n_lease_slots > at->max ? at->n_lease_slots : at->max;
    if (has_members(state, view)) {
        group->members[group->n_members++] = host;
    }
    if (!at->is_open) {
        view->verdict.n_closed++;
        return;
    }
    const struct load_excess *load =
        place_state_load(state->snapshot, view->queue, host);
    if (view->allowed != NULL) {
        view->allowed[host] = load == NULL;
    }
    if (state->is_used_exclusively[host] || at->is_held) {
        view->verdict.n_exclusive++;
        return;
    }
    if (load != NULL) {
        add_load(&view->verdict, at, load);
        return;
    }
    if (candidates_free_slots(state, host, group) > 0) {
        group->heap[group->count++] = candidate;
        group->is_in_heap[host] = true;
    } /* else it is full; counted when someone asks why */
}

static struct candidate_group *group_with(const struct place_state *state,
                                          struct candidates *view, int host)
{
    for (int i = 0; i < view->n_groups; i++) {
        if (view->groups[i].group == state->group_of[host]) {
            return &view->groups[i];
        }
    }
    return NULL;
}

void candidates_restore(const struct place_state *state, struct candidates *view,
                        int host)
{
    if (!view->allowed[host] || view->is_in_heap[host]) {
        return;
    }
    struct candidate candidate = candidate_on(state, view, host);
    struct candidate_group *group = group_with(state, view, host);
    if (group != NULL && candidates_free_slots(state, host, group) > 0 &&
        is_allowed(state->snapshot, view->queue, view->host_list, view->scope, host,
                   &candidate.preference)) {
        candidates_push(group, &candidate);
    }
}

void candidates_restore_supply(const struct place_state *state, struct candidates *view,
                               const int *supply_of, int supply)
{
    for (int i = 0; i < state->snapshot->n_hosts; i++) {
        if (supply_of[i] == supply) {
            candidates_restore(state, view, i);
        }
    }
}

static struct candidates *view_new(const struct place_state *state,
                                   const struct place_class *class,
                                   const struct rusage_request *rusage)
{
    int n_hosts = state->snapshot->n_hosts;
    struct candidates *view = arena_alloc(state->arena, 1, sizeof(*view));
    view->queue = class->queue;
    view->host_list = class->host_list;
    view->filter = filter_of(class, rusage);
    view->is_exclusive = class->is_exclusive;
    view->scope = class->scope;
    view->rusage = rusage;
    view->failed_slots = INT_MAX;
    view->verdict.n_hosts = n_hosts;
    view->is_in_heap = arena_alloc(state->arena, (size_t)n_hosts + 1, sizeof(bool));
    view->groups =
        arena_alloc(state->arena, (size_t)state->n_groups, sizeof(*view->groups));
    if (state->snapshot->preempt != NULL || state->snapshot->reservations != NULL) {
        view->allowed = arena_alloc(state->arena, (size_t)n_hosts + 1, 1);
    }
    for (int i = 0; i < n_hosts; i++) {
        judge_host(state, view, i, n_hosts - i);
    }
    for (int i = 0; i < view->n_groups; i++) {
        struct candidate_group *group = &view->groups[i];
        for (int at = group->count / 2 - 1; at >= 0; at--) {
            sift_host(group, at);
        }
        view->capacity =
            group->capacity > view->capacity ? group->capacity : view->capacity;
    }
    view->hosts_verdict = view->verdict;
    return view;
}

/* Also in which hosts are too loaded for their jobs. */
static bool is_alike(const struct place_snapshot *snapshot, int left, int right)
{
    const struct queue_config *a = &snapshot->queues[left];
    const struct queue_config *b = &snapshot->queues[right];
    return a->is_balanced == b->is_balanced && queue_same_terms(a, b) &&
           a->accept_interval_ms == b->accept_interval_ms &&
           (snapshot->load_excess == NULL ||
            snapshot->load_excess[left] == snapshot->load_excess[right]);
}

/* The queue that has the views of this one. */
static int owner_of(struct place_state *state, int queue)
{
    int owner = 0, n_queues = state->has_queue_hosts ? 0 : state->snapshot->n_queues;
    if (state->same_as[queue] != 0) {
        return state->same_as[queue] - 1;
    }
    while (owner < n_queues && (state->same_as[owner] != owner + 1 ||
                                !is_alike(state->snapshot, owner, queue))) {
        owner++;
    }
    owner = owner < n_queues ? owner : queue;
    state->same_as[queue] = owner + 1;
    return owner;
}

static struct candidates *common_view(struct place_state *state,
                                      const struct place_class *class,
                                      const struct rusage_request *rusage)
{
    struct candidates **views = &state->of_queue[owner_of(state, class->queue)];
    for (struct candidates *view = *views; view != NULL; view = view->next) {
        if (view->filter == filter_of(class, rusage) &&
            view->host_list == class->host_list &&
            view->is_exclusive == class->is_exclusive && view->scope == class->scope &&
            view->rusage == rusage) {
            return view;
        }
    }
    struct candidates *view = view_new(state, class, rusage);
    view->next = *views;
    *views = view;
    return view;
}

/* A limit on hosts may leave this class no room where other classes have some. So it
 * has a verdict of its own; the groups of hosts are shared. */
static struct candidates *own_view(struct place_state *state,
                                   const struct place_class *class,
                                   const struct rusage_request *rusage)
{
    struct candidates **views = &state->of_class[class - state->snapshot->classes];
    for (struct candidates *view = *views; view != NULL; view = view->next) {
        if (view->rusage == rusage) {
            return view;
        }
    }
    struct candidates *view =
        arena_copy(state->arena, common_view(state, class, rusage), sizeof(*view));
    view->limit_class = class->limit_class;
    view->verdict = view->hosts_verdict;
    view->failed_slots = INT_MAX;
    view->explained_slots = 0;
    view->next = *views;
    *views = view;
    return view;
}

int candidates_alternatives(const struct place_class *class)
{
    return class->n_rusages > 0 ? class->n_rusages : 1;
}

struct candidates *candidates_of(struct place_state *state,
                                 const struct place_class *class, int alternative)
{
    const struct rusage_request *rusage =
        class->n_rusages > 0 ? &class->rusages[alternative] : NULL;
    bool has_own =
        class->limit_class != NULL && limits_have_host_limits(class->limit_class);
    return has_own ? own_view(state, class, rusage) : common_view(state, class, rusage);
}

static void forget_reasons(struct candidates *view)
{
    for (; view != NULL; view = view->next) {
        view->explained_slots = 0;
    }
}

void candidates_forget_reasons(struct place_state *state)
{
    for (int i = 0; i < state->snapshot->n_queues; i++) {
        forget_reasons(state->of_queue[i]);
    }
    for (int i = 0; state->of_class != NULL && i < state->snapshot->n_classes; i++) {
        forget_reasons(state->of_class[i]);
    }
}
