/* SPDX-License-Identifier: Apache-2.0 */
/* export_shared.c: see export.h. Here: how many instances each site gets.
 * export_shared_read.c reads the sections.
 *
 * Example: lic is 4@[n1 n2] 6@[n3]; south borrows n1, east n2 and n3. NINSTANCES=10 by
 * ([south, 30] [east, 70]): south gets 3 of the first place; east 7: the one that is
 * left of the first and all six of the second. East sees 1 from n2, 6 from n3. */
#include "provider/export/export.h"

#include <string.h>

#include "base/webster.h"

/* A section with what is still there of its resource. */
struct giving {
    struct arena *arena;
    struct export_plan *plan;
    const struct export_shared *shared;
    int64_t *left; /* by place: instances that are not given yet */
    bool *is_seen; /* by consumer and place */
    bool is_cut;
};

/* The next lease of that site and of an earlier policy, from index *i on. */
static struct export_lease *next_lease(const struct giving *giving,
                                       const char *consumer, int *i)
{
    while (*i < giving->plan->n_leases) {
        struct export_lease *lease = &giving->plan->leases[(*i)++];
        if (lease->place <= giving->shared->n_before &&
            strcmp(lease->consumer, consumer) == 0) {
            return lease;
        }
    }
    return NULL;
}

static bool is_in(const struct export_shared *shared, const struct export_part *part,
                  int place)
{
    return shared->pools[part->index] == place + 1;
}

static int count_in(const struct export_shared *shared,
                    const struct export_lease *lease, int place)
{
    int n_hosts = 0;
    for (int i = 0; i < lease->n_hosts; i++) {
        n_hosts += is_in(shared, &lease->hosts[i], place);
    }
    return n_hosts;
}

static void list_seen(struct giving *giving)
{
    const struct export_shared *shared = giving->shared;
    int n_places = shared->n_places;
    giving->is_seen =
        arena_alloc(giving->arena, (size_t)shared->n_shares * (size_t)n_places,
                    sizeof(*giving->is_seen));
    for (int i = 0; i < shared->n_shares; i++) {
        int at = 0;
        for (const struct export_lease *lease;
             (lease = next_lease(giving, shared->consumers[i], &at)) != NULL;) {
            for (int k = 0; k < lease->n_hosts; k++) {
                int pool = shared->pools[lease->hosts[k].index];
                if (pool > 0) {
                    giving->is_seen[i * n_places + pool - 1] = true;
                }
            }
        }
    }
}

/* ------------------------------------------------------------ giving */

/* "n1 n2", or "" for all of them; NULL: too long. */
static const char *hosts_text(struct giving *giving, const struct export_lease *lease,
                              int place)
{
    size_t size = 1;
    if (count_in(giving->shared, lease, place) == lease->n_hosts) {
        return "";
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        size += strlen(lease->hosts[i].host) + 1;
    }
    char *text = arena_alloc(giving->arena, size, 1), *at = text;
    for (int i = 0; i < lease->n_hosts; i++) {
        if (is_in(giving->shared, &lease->hosts[i], place)) {
            size_t length = strlen(lease->hosts[i].host);
            *at = ' ';
            at += at > text;
            at = (char *)memcpy(at, lease->hosts[i].host, length) + length;
        }
    }
    *at = '\0';
    return at - text < RESOURCE_HOSTS_SIZE ? text : NULL;
}

static void add_resource(struct giving *giving, struct export_lease *lease,
                         const struct lease_resource *resource)
{
    size_t count = (size_t)lease->n_resources;
    if (resource->hosts == NULL || lease->n_resources == LEASE_RESOURCES_MAX) {
        giving->is_cut = true;
        return;
    }
    struct lease_resource *more = arena_alloc(giving->arena, count + 1, sizeof(*more));
    if (count > 0) {
        memcpy(more, lease->resources, count * sizeof(*more));
    }
    more[count] = *resource;
    lease->resources = more;
    lease->n_resources++;
}

/* Gives the site's leases that many instances of the place. */
static void give(struct giving *giving, const char *consumer, int place, int64_t n)
{
    const struct export_shared *shared = giving->shared;
    int at = 0;
    for (struct export_lease *lease;
         (lease = next_lease(giving, consumer, &at)) != NULL;) {
        if (count_in(shared, lease, place) > 0) {
            struct lease_resource resource = {
                .name = shared->name,
                .pool = place + 1,
                .n_instances = (int)n,
                .traits = shared->traits,
                .hosts = hosts_text(giving, lease, place),
            };
            add_resource(giving, lease, &resource);
        }
    }
}

/* ------------------------------------------------------------ sharing out */

/* Instances in places that any of the sites can use, at most NINSTANCES. */
static int64_t count_there(const struct giving *giving)
{
    const struct export_shared *shared = giving->shared;
    int64_t n_there = 0;
    for (int k = 0; k < shared->n_places; k++) {
        bool is_any = false;
        for (int i = 0; i < shared->n_shares; i++) {
            is_any = is_any || giving->is_seen[i * shared->n_places + k];
        }
        n_there += is_any ? giving->left[k] : 0;
    }
    return n_there < shared->n_instances ? n_there : shared->n_instances;
}

/* How many each site gets. A site that can use no place has no share. */
static const int64_t *divide(struct giving *giving)
{
    const struct export_shared *shared = giving->shared;
    size_t n_shares = (size_t)shared->n_shares;
    int64_t *weights = arena_alloc(giving->arena, n_shares, sizeof(*weights));
    int64_t *parts = arena_alloc(giving->arena, n_shares, sizeof(*parts));
    bool is_any = false;
    for (int i = 0; i < shared->n_shares; i++) {
        for (int k = 0; k < shared->n_places; k++) {
            if (giving->is_seen[i * shared->n_places + k]) {
                weights[i] = shared->shares[i];
                is_any = true;
            }
        }
    }
    if (is_any) {
        webster_share(count_there(giving), weights, shared->n_shares, parts);
    }
    return parts;
}

static void share_out(struct giving *giving)
{
    const struct export_shared *shared = giving->shared;
    list_seen(giving);
    const int64_t *parts = divide(giving);
    for (int i = 0; i < shared->n_shares; i++) {
        int64_t missing = parts[i];
        for (int k = 0; k < shared->n_places && missing > 0; k++) {
            int64_t n = missing < giving->left[k] ? missing : giving->left[k];
            if (giving->is_seen[i * shared->n_places + k] && n > 0) {
                give(giving, shared->consumers[i], k, n);
                giving->left[k] -= n;
                missing -= n;
            }
        }
    }
}

/* Sections of one resource have what is left of it in common. */
static int64_t *left_of(struct arena *arena, const struct export_plan *plan,
                        int64_t *const *lefts, int section)
{
    const struct export_shared *shared = &plan->shared[section];
    for (int i = 0; i < section; i++) {
        if (strcmp(plan->shared[i].name, shared->name) == 0) {
            return lefts[i];
        }
    }
    size_t size = (size_t)shared->n_places * sizeof(*shared->counts);
    return arena_copy(arena, shared->counts, size);
}

bool export_shared_give(struct arena *arena, struct export_plan *plan)
{
    int64_t **lefts = arena_alloc(arena, (size_t)plan->n_shared, sizeof(*lefts));
    bool is_whole = true;
    for (int i = 0; i < plan->n_leases; i++) {
        plan->leases[i].n_resources = 0;
    }
    for (int i = 0; i < plan->n_shared; i++) {
        lefts[i] = left_of(arena, plan, lefts, i);
        struct giving giving = {
            .arena = arena, .plan = plan, .shared = &plan->shared[i], .left = lefts[i]};
        share_out(&giving);
        is_whole = is_whole && !giving.is_cut;
    }
    return is_whole;
}
