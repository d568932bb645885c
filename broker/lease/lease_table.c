/* SPDX-License-Identifier: Apache-2.0 */
/* lease_table.c: see lease_table.h. */
#include "broker/lease/lease_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

enum { FIRST_CAPACITY = 64 };

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

/* How many ids are before `id`, or equal to it where `is_behind`. */
static int place_of(const struct lease_table *leases, const char *id, bool is_behind)
{
    int low = 0, high = leases->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(leases->items[middle]->row.id, id);
        if (order < 0 || (order == 0 && is_behind)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct lease *lease_table_find(const struct lease_table *leases, const char *id)
{
    int place = place_of(leases, id, false);
    bool is_found =
        place < leases->count && strcmp(leases->items[place]->row.id, id) == 0;
    return is_found ? leases->items[place] : NULL;
}

int lease_table_find_after(const struct lease_table *leases, const char *id)
{
    return place_of(leases, id, true);
}

/* A provider's leases stand together: their ids begin with its name. */
static int find_first(const struct lease_table *leases, const struct member *provider)
{
    char start[NAME_SIZE + 1];
    snprintf(start, sizeof(start), "%s/", provider->name);
    return place_of(leases, start, false);
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

static void take_out(struct lease_table *leases, int place)
{
    struct lease *lease = leases->items[place];
    DL_DELETE2(lease->provider->lent, lease, prev_lent, next_lent);
    if (lease->consumer != lease->provider) {
        DL_DELETE2(lease->consumer->borrowed, lease, prev_borrowed, next_borrowed);
    }
    timer_heap_set(&leases->timers, &lease->timer, INT64_MAX);
    lease_free(lease);
    leases->count--;
    memmove(&leases->items[place], &leases->items[place + 1],
            (size_t)(leases->count - place) * sizeof(*leases->items));
}

/* The place of an ended lease of the provider (NULL: of any), -1 where there is none.
 * What is only drained comes last: it may be resumed. */
static int find_ended(const struct lease_table *leases, const struct member *provider)
{
    int drained = -1;
    for (int i = provider != NULL ? find_first(leases, provider) : 0;
         i < leases->count &&
         (provider == NULL || leases->items[i]->provider == provider);
         i++) {
        if (lease_is_open(leases->items[i])) {
            continue;
        }
        if (!leases->items[i]->row.is_drained) {
            return i;
        }
        drained = drained < 0 ? i : drained;
    }
    return drained;
}

static int count_of(const struct lease_table *leases, const struct member *provider)
{
    char behind[NAME_SIZE + 1];
    snprintf(behind, sizeof(behind), "%s%c", provider->name, '/' + 1);
    return place_of(leases, behind, false) - find_first(leases, provider);
}

bool lease_table_make_room(struct lease_table *leases, const struct member *provider)
{
    if (provider->n_leases >= LEASES_PER_PROVIDER_MAX) {
        return false;
    }
    if (count_of(leases, provider) >= LEASES_PER_PROVIDER_MAX) {
        take_out(leases, find_ended(leases, provider));
    }
    int ended = leases->count >= LEASES_MAX ? find_ended(leases, NULL) : -1;
    if (ended >= 0) {
        take_out(leases, ended);
    }
    return leases->count < LEASES_MAX;
}

bool lease_table_make_host_room(struct lease_table *leases,
                                const struct member *provider, int n_hosts)
{
    int ended;
    while (provider->n_lease_hosts + n_hosts > LEASE_HOSTS_PER_PROVIDER_MAX &&
           (ended = find_ended(leases, provider)) >= 0) {
        take_out(leases, ended);
    }
    return provider->n_lease_hosts + n_hosts <= LEASE_HOSTS_PER_PROVIDER_MAX;
}

void lease_table_add(struct lease_table *leases, struct lease *lease)
{
    if (leases->count == leases->capacity) {
        leases->capacity =
            leases->capacity == 0 ? FIRST_CAPACITY : leases->capacity * 2;
        leases->items =
            mem_grow(leases->items, (size_t)leases->capacity, sizeof(*leases->items));
    }
    int place = place_of(leases, lease->row.id, false);
    memmove(&leases->items[place + 1], &leases->items[place],
            (size_t)(leases->count - place) * sizeof(*leases->items));
    leases->items[place] = lease;
    leases->count++;
    DL_APPEND2(lease->provider->lent, lease, prev_lent, next_lent);
    if (lease->consumer != lease->provider) { /* of a pool: it hangs once */
        DL_APPEND2(lease->consumer->borrowed, lease, prev_borrowed, next_borrowed);
    }
}

struct lease *lease_table_find_due(const struct lease_table *leases, int64_t now_ms)
{
    return (struct lease *)timer_heap_find_due(&leases->timers, now_ms);
}
