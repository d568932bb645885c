/* SPDX-License-Identifier: Apache-2.0 */
/* overrides.c: see overrides.h. */
#include "broker/overrides.h"

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

void overrides_init(struct overrides *overrides)
{
    memset(overrides, 0, sizeof(*overrides));
}

void overrides_release(struct overrides *overrides)
{
    free(overrides->items);
    overrides_init(overrides);
}

bool overrides_is_delay(int64_t delay_ms)
{
    return delay_ms > 0 && delay_ms <= OVERRIDES_DELAY_MAX_MS;
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
static int place_of(const struct overrides *overrides, enum reclaim_scope scope,
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

static void insert(struct overrides *overrides, int place, enum reclaim_scope scope,
                   const char *name)
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

void overrides_set(struct overrides *overrides, enum reclaim_scope scope,
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

int64_t overrides_find(const struct overrides *overrides, enum reclaim_scope scope,
                       const char *name)
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
    return site_ms < OVERRIDES_DELAY_MAX_MS ? site_ms : OVERRIDES_DELAY_MAX_MS;
}

int64_t overrides_delay_ms(const struct overrides *overrides, const char *lease,
                           const char *provider, int64_t site_ms,
                           enum overrides_source *source)
{
    const struct {
        enum overrides_source source;
        int64_t delay_ms; /* -1: says nothing */
    } by_rank[] = {
        {OVERRIDES_LEASE,
         lease != NULL ? overrides_find(overrides, RECLAIM_LEASE, lease) : -1},
        {OVERRIDES_PROVIDER,
         provider != NULL ? overrides_find(overrides, RECLAIM_PROVIDER, provider) : -1},
        {OVERRIDES_ALL, overrides_find(overrides, RECLAIM_ALL, "")},
        {OVERRIDES_SITE, said_by_site(site_ms)},
        {OVERRIDES_DEFAULT, OVERRIDES_DEFAULT_MS},
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

const char *overrides_source_name(enum overrides_source source)
{
    static const char *const names[] = {
        [OVERRIDES_DEFAULT] = "default", [OVERRIDES_SITE] = "site",
        [OVERRIDES_ALL] = "all",         [OVERRIDES_PROVIDER] = "provider",
        [OVERRIDES_LEASE] = "lease",
    };
    return names[source];
}
