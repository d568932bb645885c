/* SPDX-License-Identifier: Apache-2.0 */
/* leases.c: see leases.h. */
#include "broker/leases.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

void leases_init(struct leases *leases)
{
    memset(leases, 0, sizeof(*leases));
    alarms_init(&leases->alarms);
}

void leases_release(struct leases *leases)
{
    for (int i = 0; i < leases->count; i++) {
        lease_free(leases->items[i]);
    }
    free(leases->items);
    alarms_release(&leases->alarms);
}

/* How many ids are before `id`, or equal to it where `is_behind`. */
static int place_of(const struct leases *leases, const char *id, bool is_behind)
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

struct lease *leases_find(const struct leases *leases, const char *id)
{
    int place = place_of(leases, id, false);
    bool is_found =
        place < leases->count && strcmp(leases->items[place]->row.id, id) == 0;
    return is_found ? leases->items[place] : NULL;
}

int leases_find_after(const struct leases *leases, const char *id)
{
    return place_of(leases, id, true);
}

/* A provider's leases stand together: their ids begin with its name. */
bool leases_has_pair(const struct leases *leases, const struct member *provider,
                     const struct member *consumer)
{
    char start[NAME_SIZE + 1];
    size_t length = strlen(provider->name);
    memcpy(start, provider->name, length);
    memcpy(start + length, "/", 2);
    for (int i = place_of(leases, start, false);
         i < leases->count && leases->items[i]->provider == provider; i++) {
        const struct lease *lease = leases->items[i];
        if (lease->consumer == consumer && lease_is_open(lease)) {
            return true;
        }
    }
    return false;
}

static void take_out(struct leases *leases, int place)
{
    struct lease *lease = leases->items[place];
    alarms_set(&leases->alarms, &lease->alarm, INT64_MAX);
    lease_free(lease);
    leases->count--;
    memmove(&leases->items[place], &leases->items[place + 1],
            (size_t)(leases->count - place) * sizeof(*leases->items));
}

bool leases_make_room(struct leases *leases)
{
    for (int i = 0; leases->count >= LEASES_MAX && i < leases->count; i++) {
        if (!lease_is_open(leases->items[i])) {
            take_out(leases, i);
        }
    }
    return leases->count < LEASES_MAX;
}

void leases_add(struct leases *leases, struct lease *lease)
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
}

struct lease *leases_find_due(const struct leases *leases, int64_t now_ms)
{
    return (struct lease *)alarms_find_due(&leases->alarms, now_ms);
}
