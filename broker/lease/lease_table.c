/* SPDX-License-Identifier: Apache-2.0 */
/* lease_table.c: see lease.h. */
#include "broker/lease/lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/sorted.h"

void lease_table_init(struct lease_table *leases)
{
    memset(leases, 0, sizeof(*leases));
    timer_heap_init(&leases->timers);
}

void lease_table_release(struct lease_table *leases)
{
    for (int i = 0; i < leases->count; i++) {
        lease_free(leases->items[i]);
    }
    free(leases->items);
    timer_heap_release(&leases->timers);
}

static int compare(const void *id, const void *lease)
{
    return strcmp(id, ((const struct lease *)lease)->row.id);
}

static int place_of(const struct lease_table *leases, const char *id)
{
    return sorted_place(leases->items, leases->count, id, compare);
}

struct lease *lease_table_find(const struct lease_table *leases, const char *id)
{
    return sorted_find(leases->items, leases->count, id, compare);
}

int lease_table_find_after(const struct lease_table *leases, const char *id)
{
    int place = place_of(leases, id);
    return place + (place < leases->count && compare(id, leases->items[place]) == 0);
}

/* A provider's leases are consecutive, as their ids begin with its name. */
static int find_first(const struct lease_table *leases, const struct member *provider)
{
    char start[NAME_SIZE + 1];
    snprintf(start, sizeof(start), "%s/", provider->name);
    return place_of(leases, start);
}

bool lease_table_has_pair(const struct lease_table *leases,
                          const struct member *provider, const struct member *consumer)
{
    for (int i = find_first(leases, provider);
         i < leases->count && leases->items[i]->provider == provider; i++) {
        if (leases->items[i]->consumer == consumer) {
            return true;
        }
    }
    return false;
}

int lease_table_count_pair(const struct member *provider, const struct member *consumer)
{
    const struct lease *lease;
    int count = 0;
    DL_FOREACH2(provider->lent, lease, next_lent)
    {
        count += lease->consumer == consumer && lease->part == LEASE_WHOLE &&
                 lease_is_open(lease);
    }
    return count;
}

static void take_out(struct lease_table *leases, struct lease *lease)
{
    DL_DELETE2(lease->provider->lent, lease, prev_lent, next_lent);
    if (lease->consumer != lease->provider) {
        DL_DELETE2(lease->consumer->borrowed, lease, prev_borrowed, next_borrowed);
    }
    timer_heap_set(&leases->timers, &lease->timer, INT64_MAX);
    sorted_remove(leases->items, &leases->count, lease->row.id, compare);
    lease_free(lease);
}

/* An ended lease of the provider (NULL: of any), or NULL. A lease that is only drained
 * is the last choice, since it may be resumed. */
static struct lease *find_ended(const struct lease_table *leases,
                                const struct member *provider)
{
    struct lease *drained = NULL;
    for (int i = provider != NULL ? find_first(leases, provider) : 0;
         i < leases->count &&
         (provider == NULL || leases->items[i]->provider == provider);
         i++) {
        struct lease *lease = leases->items[i];
        if (!lease_is_open(lease) && !lease->row.is_drained) {
            return lease;
        }
        if (!lease_is_open(lease) && drained == NULL) {
            drained = lease;
        }
    }
    return drained;
}

static int count_of(const struct lease_table *leases, const struct member *provider)
{
    char behind[NAME_SIZE + 1];
    snprintf(behind, sizeof(behind), "%s%c", provider->name, '/' + 1);
    return place_of(leases, behind) - find_first(leases, provider);
}

bool lease_table_make_room(struct lease_table *leases, const struct member *provider)
{
    if (provider->n_leases >= LEASES_PER_PROVIDER_MAX) {
        return false;
    }
    if (count_of(leases, provider) >= LEASES_PER_PROVIDER_MAX) {
        take_out(leases, find_ended(leases, provider));
    }
    struct lease *ended = leases->count >= LEASES_MAX ? find_ended(leases, NULL) : NULL;
    if (ended != NULL) {
        take_out(leases, ended);
    }
    return leases->count < LEASES_MAX;
}

bool lease_table_make_host_room(struct lease_table *leases,
                                const struct member *provider, int n_hosts)
{
    struct lease *ended;
    while (provider->n_lease_hosts + n_hosts > LEASE_HOSTS_PER_PROVIDER_MAX &&
           (ended = find_ended(leases, provider)) != NULL) {
        take_out(leases, ended);
    }
    return provider->n_lease_hosts + n_hosts <= LEASE_HOSTS_PER_PROVIDER_MAX;
}

void lease_table_add(struct lease_table *leases, struct lease *lease)
{
    leases->items = sorted_add(leases->items, &leases->count, &leases->capacity,
                               lease->row.id, compare, lease);
    DL_APPEND2(lease->provider->lent, lease, prev_lent, next_lent);
    if (lease->consumer != lease->provider) { /* of a pool: it hangs once */
        DL_APPEND2(lease->consumer->borrowed, lease, prev_borrowed, next_borrowed);
    }
}

struct lease *lease_table_find_due(const struct lease_table *leases, int64_t now_ms)
{
    return (struct lease *)timer_heap_find_due(&leases->timers, now_ms);
}
