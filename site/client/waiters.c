/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.c: see site_client.h. */
#include "site/client/site_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bounds.h"

struct waiters {
    struct waiter *items;
    int count, capacity;
    uint64_t last_number;
};

struct waiters *waiters_new(void)
{
    struct waiters *waiters = mem_alloc(1, sizeof(*waiters));
    waiters->last_number = WAITERS_REQUEST_MIN;
    return waiters;
}

void waiters_free(struct waiters *waiters)
{
    if (waiters != NULL) {
        free(waiters->items);
        free(waiters);
    }
}

bool waiters_add(struct waiters *waiters, const struct waiter *waiter)
{
    if (waiters->count == WAITERS_MAX) {
        return false;
    }
    if (waiters->count == waiters->capacity) {
        waiters->capacity = waiters->capacity == 0 ? 16 : waiters->capacity * 2;
        waiters->items = mem_grow(waiters->items, (size_t)waiters->capacity,
                                  sizeof(*waiters->items));
    }
    waiters->items[waiters->count++] = *waiter;
    return true;
}

static void remove_at(struct waiters *waiters, int index)
{
    waiters->count--;
    memmove(&waiters->items[index], &waiters->items[index + 1],
            (size_t)(waiters->count - index) * sizeof(*waiters->items));
}

bool waiters_take(struct waiters *waiters, enum waiter_kind kind, uint64_t key,
                  struct waiter *waiter)
{
    for (int i = 0; i < waiters->count; i++) {
        if (waiters->items[i].kind == kind && waiters->items[i].key == key) {
            *waiter = waiters->items[i];
            remove_at(waiters, i);
            return true;
        }
    }
    return false;
}

bool waiters_take_late(struct waiters *waiters, int64_t now_ms, struct waiter *waiter)
{
    for (int i = 0; i < waiters->count; i++) {
        if (waiters->items[i].deadline_ms <= now_ms) {
            *waiter = waiters->items[i];
            remove_at(waiters, i);
            return true;
        }
    }
    return false;
}

void waiters_remove_link(struct waiters *waiters, uint64_t link)
{
    int kept = 0;
    for (int i = 0; i < waiters->count; i++) {
        if (waiters->items[i].link != link) {
            waiters->items[kept++] = waiters->items[i];
        }
    }
    waiters->count = kept;
}

void waiters_expire(struct waiters *waiters, enum waiter_kind kind, int64_t now_ms)
{
    for (int i = 0; i < waiters->count; i++) {
        if (waiters->items[i].kind == kind) {
            waiters->items[i].deadline_ms = now_ms;
        }
    }
}

int64_t waiters_wake_ms(const struct waiters *waiters)
{
    int64_t wake_ms = INT64_MAX;
    for (int i = 0; i < waiters->count; i++) {
        if (waiters->items[i].deadline_ms < wake_ms) {
            wake_ms = waiters->items[i].deadline_ms;
        }
    }
    return wake_ms;
}

uint64_t waiters_next_request(struct waiters *waiters)
{
    return ++waiters->last_number;
}
