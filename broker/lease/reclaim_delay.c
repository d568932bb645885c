/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim_delay.c: see reclaim_delay.h. */
#include "broker/lease/reclaim_delay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_CAPACITY = 16 };

struct override {
    enum reclaim_scope scope;
    char name[LEASE_ID_SIZE];
    int64_t delay_ms;
};

void reclaim_delay_init(struct reclaim_delays *overrides)
{
    memset(overrides, 0, sizeof(*overrides));
}

void reclaim_delay_release(struct reclaim_delays *overrides)
{
    free(overrides->items);
    reclaim_delay_init(overrides);
}

bool reclaim_delay_is_valid(int64_t delay_ms)
{
    return delay_ms > 0 && delay_ms <= RECLAIM_DELAY_MAX_MS;
}

static int compare(const struct override *item, enum reclaim_scope scope,
                   const char *name)
{
    if (item->scope != scope) {
        return item->scope < scope ? -1 : 1;
    }
    return strcmp(item->name, name);
}

/* Where the override stands, or would be put. */
static int place_of(const struct reclaim_delays *overrides, enum reclaim_scope scope,
                    const char *name, bool *is_there)
{
    int low = 0, high = overrides->count;
    *is_there = false;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare(&overrides->items[middle], scope, name);
        if (order == 0) {
            *is_there = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert(struct reclaim_delays *overrides, int place,
                   enum reclaim_scope scope, const char *name)
{
    if (overrides->count == overrides->capacity) {
        overrides->capacity =
            overrides->capacity == 0 ? FIRST_CAPACITY : overrides->capacity * 2;
        overrides->items = mem_grow(overrides->items, (size_t)overrides->capacity,
                                    sizeof(*overrides->items));
    }
    struct override *item = &overrides->items[place];
    memmove(item + 1, item, (size_t)(overrides->count - place) * sizeof(*item));
    overrides->count++;
    item->scope = scope;
    snprintf(item->name, sizeof(item->name), "%s", name);
}

void reclaim_delay_set(struct reclaim_delays *overrides, enum reclaim_scope scope,
                       const char *name, int64_t delay_ms)
{
    bool is_there;
    int place = place_of(overrides, scope, name, &is_there);
    if (delay_ms >= 0) {
        if (!is_there) {
            insert(overrides, place, scope, name);
        }
        overrides->items[place].delay_ms = delay_ms;
    } else if (is_there) {
        struct override *item = &overrides->items[place];
        overrides->count--;
        memmove(item, item + 1, (size_t)(overrides->count - place) * sizeof(*item));
    }
}

int64_t reclaim_delay_find_override(const struct reclaim_delays *overrides,
                                    enum reclaim_scope scope, const char *name)
{
    bool is_there;
    int place = place_of(overrides, scope, name, &is_there);
    return is_there ? overrides->items[place].delay_ms : -1;
}

/* A site may be configured to wait for longer than an override could say. */
static int64_t said_by_site(int64_t site_ms)
{
    if (site_ms <= 0) {
        return -1;
    }
    return site_ms < RECLAIM_DELAY_MAX_MS ? site_ms : RECLAIM_DELAY_MAX_MS;
}

int64_t reclaim_delay_get_ms(const struct reclaim_delays *overrides, const char *lease,
                             const char *provider, int64_t site_ms,
                             enum reclaim_delay_source *source)
{
    const struct {
        enum reclaim_delay_source source;
        int64_t delay_ms; /* -1: says nothing */
    } by_rank[] = {
        {RECLAIM_DELAY_FROM_LEASE,
         lease != NULL ? reclaim_delay_find_override(overrides, RECLAIM_LEASE, lease)
                       : -1},
        {RECLAIM_DELAY_FROM_PROVIDER,
         provider != NULL
             ? reclaim_delay_find_override(overrides, RECLAIM_PROVIDER, provider)
             : -1},
        {RECLAIM_DELAY_FROM_ALL,
         reclaim_delay_find_override(overrides, RECLAIM_ALL, "")},
        {RECLAIM_DELAY_FROM_SITE, said_by_site(site_ms)},
        {RECLAIM_DELAY_FROM_DEFAULT, RECLAIM_DELAY_DEFAULT_MS},
    };
    size_t i = 0;
    while (by_rank[i].delay_ms < 0) {
        i++;
    }
    if (source != NULL) {
        *source = by_rank[i].source;
    }
    return by_rank[i].delay_ms;
}

const char *reclaim_delay_source_name(enum reclaim_delay_source source)
{
    static const char *const names[] = {
        [RECLAIM_DELAY_FROM_DEFAULT] = "default",
        [RECLAIM_DELAY_FROM_SITE] = "site",
        [RECLAIM_DELAY_FROM_ALL] = "all",
        [RECLAIM_DELAY_FROM_PROVIDER] = "provider",
        [RECLAIM_DELAY_FROM_LEASE] = "lease",
    };
    return names[source];
}
