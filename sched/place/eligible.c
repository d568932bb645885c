/* SPDX-License-Identifier: Apache-2.0 */
/* eligible.c: see eligible.h. */
#include "sched/place/eligible.h"

#include <stdlib.h>
#include <string.h>

#include "sched/place/place_state.h"

/* The table of entries lives in the arena, too: nothing of it is freed. */
#define uthash_fatal(message) abort()
#define uthash_malloc(size) arena_alloc(set->arena, size, 1)
#define uthash_free(memory, size) (void)(memory)
#include <uthash.h>

struct entry {
    struct eligible_terms terms;
    struct eligible eligible;
    UT_hash_handle hh;
};

/* The last host of that name; hosts of two leases may have the same name. */
struct named_host {
    int host;
    UT_hash_handle hh;
};

struct eligible_set {
    struct arena *arena;
    struct entry *by_terms;
    struct named_host *by_name; /* NULL: no list of names has been asked for */
    int *before;                /* by host: the one before of the same name; -1 */
};

struct eligible_set *eligible_set_new(struct arena *arena)
{
    struct eligible_set *set = arena_alloc(arena, 1, sizeof(*set));
    set->arena = arena;
    return set;
}

/* ---------------------------------------------------------------- lists of names */

static void index_names(struct eligible_set *set, const struct place_snapshot *snapshot)
{
    size_t n_hosts = (size_t)snapshot->n_hosts;
    struct named_host *all = arena_alloc(set->arena, n_hosts, sizeof(*all)), *named;
    set->before = arena_alloc(set->arena, n_hosts, sizeof(*set->before));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const char *name = snapshot->hosts[i].name;
        HASH_FIND_STR(set->by_name, name, named);
        set->before[i] = named != NULL ? named->host : -1;
        if (named == NULL) {
            named = &all[i];
            HASH_ADD_KEYPTR(hh, set->by_name, name, strlen(name), named);
        }
        named->host = i;
    }
}

/* By host: the list names it; `count` becomes how many. NULL: the list has more than
 * names of hosts. To be freed. */
static bool *list_named(struct eligible_set *set, const struct place_snapshot *snapshot,
                        const struct host_list *list, int *count)
{
    *count = snapshot->n_hosts;
    if (list == NULL || list->is_any || list->n_wide_terms > 0) {
        return NULL;
    }
    if (set->by_name == NULL) {
        index_names(set, snapshot);
    }
    bool *is_named = mem_alloc((size_t)snapshot->n_hosts + 1, sizeof(*is_named));
    *count = 0;
    for (int i = 0; i < list->n_terms; i++) {
        struct named_host *named;
        HASH_FIND_STR(set->by_name, list->terms[i].name, named);
        for (int host = named != NULL ? named->host : -1; host >= 0;
             host = set->before[host]) {
            *count += !is_named[host];
            is_named[host] = true;
        }
    }
    return is_named;
}

/* ---------------------------------------------------------------- eligible hosts */

/* By the queue, and by what the job asks for. */
static bool is_allowed(const struct place_snapshot *snapshot,
                       const struct eligible_terms *terms,
                       const struct place_host *host, int *preference)
{
    const struct queue_config *queue = &snapshot->queues[terms->queue];
    int of_job;
    if (host->lease[0] != '\0' &&
        (terms->scope == HOST_SCOPE_OWN ||
         (terms->scope == HOST_SCOPE_INTERACTIVE && host->is_batch_only))) {
        return false;
    }
    if (!queue_allows(queue, host->name, host->site, preference) ||
        (host->n_queues > 0 && !place_state_takes_queue(host, queue->name))) {
        return false;
    }
    if (terms->host_list == NULL) {
        return true;
    }
    bool is_asked = host_list_allows(terms->host_list, host->name, host->site, &of_job);
    *preference = terms->host_list->has_preferences ? of_job : *preference;
    return is_asked;
}

static struct eligible_host host_at(const struct place_state *state, int queue,
                                    int index, int preference)
{
    const struct place_host *host = &state->snapshot->hosts[index];
    return (struct eligible_host){
        .host = index,
        .group = state->group_of[index],
        .preference = preference,
        .max = host->max,
        .is_open = host->is_open,
        .is_held = host->is_held,
        .load = place_state_load(state->snapshot, queue, index),
        .is_lease_unmade = host->is_lease_unmade,
        .capacity = host->n_lease_slots > host->max ? host->n_lease_slots : host->max,
    };
}

static void list_hosts(struct eligible_set *set, const struct place_state *state,
                       const struct eligible_terms *terms, struct eligible *eligible)
{
    const struct place_snapshot *snapshot = state->snapshot;
    int n_most;
    bool *is_named = list_named(set, snapshot, terms->host_list, &n_most);
    struct eligible_host *hosts =
        arena_alloc(set->arena, (size_t)n_most, sizeof(*hosts));
    int *indexes = arena_alloc(set->arena, (size_t)n_most, sizeof(*indexes));
    eligible->hosts = hosts;
    eligible->indexes = indexes;
    for (int i = 0; i < snapshot->n_hosts; i++) {
        int preference;
        if ((is_named != NULL && !is_named[i]) ||
            !is_allowed(snapshot, terms, &snapshot->hosts[i], &preference)) {
            eligible->n_excluded++;
        } else if (terms->host_list != NULL &&
                   host_list_avoids(terms->host_list, snapshot->hosts[i].name)) {
            eligible->n_avoided++;
        } else {
            indexes[eligible->n_hosts] = i;
            hosts[eligible->n_hosts++] = host_at(state, terms->queue, i, preference);
        }
    }
    free(is_named);
}

const struct eligible *eligible_find(struct eligible_set *set,
                                     const struct place_state *state,
                                     const struct eligible_terms *terms)
{
    struct entry *entry;
    HASH_FIND(hh, set->by_terms, terms, sizeof(*terms), entry);
    if (entry == NULL) {
        entry = arena_alloc(set->arena, 1, sizeof(*entry));
        entry->terms = *terms;
        list_hosts(set, state, terms, &entry->eligible);
        HASH_ADD(hh, set->by_terms, terms, sizeof(*terms), entry);
    }
    return &entry->eligible;
}

const struct eligible_host *eligible_host(const struct eligible *eligible, int index)
{
    int first = 0, last = eligible->n_hosts - 1;
    while (first < last) {
        int middle = first + (last - first) / 2;
        if (eligible->hosts[middle].host < index) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return &eligible->hosts[first];
}
