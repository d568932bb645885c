/* SPDX-License-Identifier: Apache-2.0 */
/* timer_heap.c: see timer_heap.h. A binary heap; item i has its children at 2i and 2i
 * + 1. */
#include "base/timer_heap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_CAPACITY = 64 };

void timer_heap_init(struct timer_heap *alarms)
{
    memset(alarms, 0, sizeof(*alarms));
}

void timer_heap_release(struct timer_heap *alarms)
{
    free(alarms->items);
    timer_heap_init(alarms);
}

static bool is_before(const struct timer *a, const struct timer *b)
{
    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms;
    }
    return strcmp(a->key, b->key) < 0;
}

static void put(struct timer_heap *alarms, struct timer *alarm, int place)
{
    alarms->items[place] = alarm;
    alarm->place = place;
}

/* The alarm at `place` moves towards the root as far as it belongs. */
static void rise(struct timer_heap *alarms, int place)
{
    struct timer *alarm = alarms->items[place];
    while (place > 1 && is_before(alarm, alarms->items[place / 2])) {
        put(alarms, alarms->items[place / 2], place);
        place /= 2;
    }
    put(alarms, alarm, place);
}

static void sink(struct timer_heap *alarms, int place)
{
    struct timer *alarm = alarms->items[place];
    for (int child = place * 2; child <= alarms->count; child = place * 2) {
        if (child < alarms->count &&
            is_before(alarms->items[child + 1], alarms->items[child])) {
            child++;
        }
        if (!is_before(alarms->items[child], alarm)) {
            break;
        }
        put(alarms, alarms->items[child], place);
        place = child;
    }
    put(alarms, alarm, place);
}

static void take_off(struct timer_heap *alarms, struct timer *alarm)
{
    int place = alarm->place;
    struct timer *last = alarms->items[alarms->count--];
    alarm->place = 0;
    if (last != alarm) {
        put(alarms, last, place);
        rise(alarms, place);
        sink(alarms, last->place);
    }
}

static void add(struct timer_heap *alarms, struct timer *alarm)
{
    if (alarms->count + 1 >= alarms->capacity) {
        alarms->capacity =
            alarms->capacity == 0 ? FIRST_CAPACITY : alarms->capacity * 2;
        alarms->items =
            mem_grow(alarms->items, (size_t)alarms->capacity, sizeof(*alarms->items));
    }
    put(alarms, alarm, ++alarms->count);
    rise(alarms, alarm->place);
}

void timer_heap_set(struct timer_heap *alarms, struct timer *alarm, int64_t at_ms)
{
    if (alarm->place != 0 && alarm->at_ms == at_ms) {
        return;
    }
    if (alarm->place != 0) {
        take_off(alarms, alarm);
    }
    alarm->at_ms = at_ms;
    if (at_ms != INT64_MAX) {
        add(alarms, alarm);
    }
}

struct timer *timer_heap_find_due(const struct timer_heap *alarms, int64_t now_ms)
{
    return timer_heap_wake_ms(alarms) <= now_ms ? alarms->items[1] : NULL;
}

int64_t timer_heap_wake_ms(const struct timer_heap *alarms)
{
    return alarms->count > 0 ? alarms->items[1]->at_ms : INT64_MAX;
}
