/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c: see candidates.h. */
#include "sched/place/candidates.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sched/place/eligible.h"
#include "sched/place/place_affinity.h"

/* The table of views lives in the arena, too: nothing of it is freed. */
#define uthash_fatal(message) abort()
#define uthash_malloc(size) arena_alloc(state->arena, size, 1)
#define uthash_free(memory, size) (void)(memory)
#include <uthash.h>

/* What distinguishes candidates. */
struct view_key {
    int queue; /* of those that see the hosts alike, the one that stands for all */
    enum host_scope scope;
    const struct host_list *host_list;
    const struct place_filter *filter;
    const struct rusage_request *rusage; /* NULL: it reserves nothing */
    uint32_t is_exclusive, has_first;
};

struct candidates_entry {
    struct view_key key;
    struct candidates view;
    UT_hash_handle hh; /* by key */
};

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
    if (place_state_in_accept_interval(state, host, group->accept_ms) ||
        (n_free > 0 && group->units != NULL &&
         !place_state_unit_is_empty(state, group->units, host))) {
        return 0;
    }
    if (n_free == 0 || group->rusage == NULL) {
        return n_free;
    }
    int n_reserved = rusage_supply_max_slots_alone(
        state->snapshot->supply, state->supply_left, group->rusage, host, &lacking);
    if (group->rusage->affinity != NULL) {
        int n_bound = place_affinity_room(state, host, group->rusage->affinity);
        n_reserved = n_bound < n_reserved ? n_bound : n_reserved;
    }
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

/* The filter of the class for that alternative; NULL: any host. */
static const struct place_filter *filter_of(const struct place_class *class,
                                            const struct rusage_request *rusage)
{
    return rusage != NULL && rusage->filter != NULL ? rusage->filter : class->filter;
}

bool candidates_has_first(const struct place_snapshot *snapshot,
                          const struct place_class *class)
{
    return class->grow == NULL && /* it has its first host */
           ((class->host_list != NULL && class->host_list->has_first) ||
            queue_has_first(&snapshot->queues[class->queue]));
}

/* How slots have to lie, with the first hosts of the job's list, or else its queue's.
 */
static const struct place_span *span_with_first(const struct place_state *state,
                                                const struct place_class *class,
                                                const struct place_span *of_filter)
{
    const struct place_snapshot *snapshot = state->snapshot;
    const struct host_list *list = class->host_list;
    struct place_span *span = arena_alloc(state->arena, 1, sizeof(*span));
    bool *is_first =
        arena_alloc(state->arena, (size_t)snapshot->n_hosts + 1, sizeof(bool));
    bool is_own = list != NULL && list->has_first;
    if (of_filter != NULL) {
        *span = *of_filter;
    }
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const struct place_host *host = &snapshot->hosts[i];
        is_first[i] = is_own ? host_list_is_first(list, host->name, host->site)
                             : queue_is_first(&snapshot->queues[class->queue],
                                              host->name, host->site);
    }
    span->is_first = is_first;
    return span;
}

/* Hosts of a group come one after the other. */
static struct candidate_group *add_group(const struct place_state *state,
                                         struct candidates *view, int group)
{
    struct candidate_group *added = &view->groups[view->n_groups++];
    added->group = group;
    added->is_exclusive = view->is_exclusive;
    added->units = place_span_exclusive_units(view->span);
    added->rusage = view->rusage;
    added->is_in_heap = view->is_in_heap;
    added->accept_ms = state->snapshot->queues[view->queue].accept_interval_ms;
    added->heap = state->ranked;
    return added;
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
                                     const struct candidates *view,
                                     const struct eligible_host *at)
{
    const struct place_filter *filter = view->filter;
    bool has_rank = filter != NULL && filter->ranks != NULL;
    return (struct candidate){.host = at->host,
                              .preference = at->preference,
                              .rank = has_rank ? filter->ranks[at->host] : 0,
                              .used = state->used[at->host],
                              .max = at->max,
                              .is_borrowed = at->group != 0};
}

/* False: the requirements leave the host out, and it counts in the verdict. */
static bool meets_filter(const struct place_state *state, struct candidates *view,
                         int host)
{
    const struct place_filter *filter = view->filter;
    if (filter == NULL || filter->matches[host]) {
        return true;
    }
    bool is_spent = filter->reserved != NULL && filter->reserved->hosts[host];
    if (is_spent && state->is_estimate) {
        return true;
    }
    view->verdict.n_reserved += is_spent;
    view->verdict.n_unmet += !is_spent;
    return false;
}

static void add_host(const struct place_state *state, struct candidates *view,
                     struct candidate_group *group, const struct eligible_host *at)
{
    if (!at->is_open) {
        view->verdict.n_closed++;
        return;
    }
    if (view->allowed != NULL) {
        view->allowed[at->host] = at->load == NULL;
    }
    if (state->is_used_exclusively[at->host] || at->is_held) {
        view->verdict.n_exclusive++;
        return;
    }
    if (at->load != NULL) {
        add_load(&view->verdict, &state->snapshot->hosts[at->host], at->load);
        return;
    }
    if (state->used[at->host] < at->max &&
        candidates_free_slots(state, at->host, group) > 0) {
        group->heap[group->count++] = candidate_on(state, view, at);
        view->is_in_heap[at->host] = true;
    } /* else it is full; counted when someone asks why */
}

/* The hosts from `first` that are of the same group. Returns the next group's first. */
static int add_hosts(const struct place_state *state, struct candidates *view,
                     int first, int *members)
{
    const struct eligible *eligible = view->eligible;
    struct candidate_group *group = NULL;
    int i = first;
    for (; i < eligible->n_hosts &&
           eligible->hosts[i].group == eligible->hosts[first].group;
         i++) {
        const struct eligible_host *at = &eligible->hosts[i];
        if (!meets_filter(state, view, at->host)) {
            continue;
        }
        if (group == NULL) {
            group = add_group(state, view, at->group);
            group->members = members != NULL ? members : &eligible->indexes[first];
        }
        if (members != NULL) {
            members[group->n_members] = at->host;
        }
        group->n_members++;
        group->is_lease_unmade = at->is_lease_unmade;
        group->capacity += at->capacity;
        add_host(state, view, group, at);
    }
    if (group != NULL) {
        /* Hosts come back only where jobs preempt or reserve. */
        size_t n_most =
            (size_t)(view->allowed != NULL ? group->n_members : group->count);
        struct candidate *heap = arena_alloc(state->arena, n_most, sizeof(*heap));
        group->heap = memcpy(heap, group->heap, (size_t)group->count * sizeof(*heap));
    }
    return i;
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
    struct candidate_group *group = group_with(state, view, host);
    if (group != NULL && candidates_free_slots(state, host, group) > 0) {
        struct candidate candidate =
            candidate_on(state, view, eligible_host(view->eligible, host));
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

static void add_all_hosts(struct place_state *state, struct candidates *view)
{
    int n_hosts = view->eligible->n_hosts, next;
    /* Without a filter, all eligible hosts are members. */
    int *members = view->filter != NULL
                       ? arena_alloc(state->arena, (size_t)n_hosts, sizeof(int))
                       : NULL;
    for (int first = 0; first < n_hosts; first = next) {
        int n_groups = view->n_groups;
        next = add_hosts(state, view, first, members);
        if (members != NULL && view->n_groups > n_groups) {
            members += view->groups[n_groups].n_members;
        }
    }
}

static void order_groups(struct candidates *view)
{
    for (int i = 0; i < view->n_groups; i++) {
        struct candidate_group *group = &view->groups[i];
        for (int at = group->count / 2 - 1; at >= 0; at--) {
            sift_host(group, at);
        }
        view->capacity =
            group->capacity > view->capacity ? group->capacity : view->capacity;
    }
}

static void view_init(struct place_state *state, const struct place_class *class,
                      const struct view_key *key, struct candidates *view)
{
    int n_hosts = state->snapshot->n_hosts;
    const struct eligible_terms terms = {key->queue, key->scope, key->host_list};
    view->queue = class->queue;
    view->filter = key->filter;
    view->is_exclusive = class->is_exclusive;
    view->rusage = key->rusage;
    view->span = key->filter != NULL ? key->filter->span : NULL;
    if (key->has_first) {
        view->span = span_with_first(state, class, view->span);
    }
    view->eligible = eligible_find(state->eligible, state, &terms);
    view->failed_slots = INT_MAX;
    view->verdict.n_hosts = n_hosts;
    view->verdict.n_excluded = view->eligible->n_excluded;
    view->verdict.n_avoided = view->eligible->n_avoided;
    view->is_in_heap = arena_alloc(state->arena, (size_t)n_hosts + 1, sizeof(bool));
    view->groups =
        arena_alloc(state->arena, (size_t)state->n_groups, sizeof(*view->groups));
    if (state->snapshot->preempt != NULL || state->snapshot->reservations != NULL) {
        view->allowed = arena_alloc(state->arena, (size_t)n_hosts + 1, 1);
    }
    add_all_hosts(state, view);
    order_groups(view);
    view->hosts_verdict = view->verdict;
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
    const struct view_key key = {
        .queue = owner_of(state, class->queue),
        .scope = class->scope,
        .host_list = class->host_list,
        .filter = filter_of(class, rusage),
        .rusage = rusage,
        .is_exclusive = class->is_exclusive,
        .has_first = candidates_has_first(state->snapshot, class),
    };
    struct candidates_entry *entry = state->last_view;
    if (entry != NULL && memcmp(&entry->key, &key, sizeof(key)) == 0) {
        return &entry->view;
    }
    HASH_FIND(hh, state->views, &key, sizeof(key), entry);
    if (entry == NULL) {
        entry = arena_alloc(state->arena, 1, sizeof(*entry));
        entry->key = key;
        view_init(state, class, &key, &entry->view);
        HASH_ADD(hh, state->views, key, sizeof(key), entry);
    }
    state->last_view = entry;
    return &entry->view;
}

const int *candidates_eligible(struct place_state *state,
                               const struct place_class *class, int *n_hosts)
{
    const struct eligible_terms terms = {owner_of(state, class->queue), class->scope,
                                         class->host_list};
    const struct eligible *eligible = eligible_find(state->eligible, state, &terms);
    *n_hosts = eligible->n_hosts;
    return eligible->indexes;
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

/* When the next job of the class was submitted. */
static int64_t submitted_ms(const struct place_state *state,
                            const struct place_class *class)
{
    int entry = state->next_entry[class - state->snapshot->classes];
    return class->entries[entry < class->n_entries ? entry : 0]->submit_ms;
}

int candidates_alternatives(const struct place_state *state,
                            const struct place_class *class)
{
    int n_due = class->n_rusages;
    if (n_due == 0 || class->rusages[n_due - 1].delay_ms == 0) {
        return n_due > 0 ? n_due : 1;
    }
    int64_t waited_ms = state->snapshot->now_ms - submitted_ms(state, class);
    while (n_due > 1 && class->rusages[n_due - 1].delay_ms > waited_ms) {
        n_due--;
    }
    return n_due;
}

bool candidates_has_parts(const struct place_class *class)
{
    return class->n_rusages > 0 && class->rusages[0].is_part;
}

const struct place_span_units *
candidates_exclusive_units(const struct place_class *class)
{
    return class->filter != NULL ? place_span_exclusive_units(class->filter->span)
                                 : NULL;
}

bool candidates_has_affinity(const struct place_class *class)
{
    for (int i = 0; i < class->n_rusages; i++) {
        if (class->rusages[i].affinity != NULL) {
            return true;
        }
    }
    return false;
}

int64_t candidates_next_ms(const struct place_state *state,
                           const struct place_class *class)
{
    int n_due = candidates_alternatives(state, class);
    return n_due >= class->n_rusages
               ? INT64_MAX
               : submitted_ms(state, class) + class->rusages[n_due].delay_ms;
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

void candidates_forget(struct place_state *state)
{
    state->views = NULL;
    state->last_view = NULL;
    if (state->of_class != NULL) {
        memset(state->of_class, 0,
               (size_t)state->snapshot->n_classes * sizeof(struct candidates *));
    }
}

void candidates_forget_class(struct place_state *state, const struct place_class *class)
{
    state->views = NULL;
    state->last_view = NULL;
    if (state->of_class != NULL) {
        state->of_class[class - state->snapshot->classes] = NULL;
    }
}

void candidates_forget_reasons(struct place_state *state)
{
    for (struct candidates_entry *entry = state->views; entry != NULL;
         entry = entry->hh.next) {
        entry->view.explained_slots = 0;
    }
    for (int i = 0; state->of_class != NULL && i < state->snapshot->n_classes; i++) {
        for (struct candidates *view = state->of_class[i]; view != NULL;
             view = view->next) {
            view->explained_slots = 0;
        }
    }
}
