/* SPDX-License-Identifier: Apache-2.0 */
/* timer_heap.c: see timer_heap.h. A binary heap; item i has its children at 2i and 2i
 * + 1. */
#include "base/timer_heap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FIRST_CAPACITY = 64 };

void timer_heap_init(struct timer_heap *heap)
{
    memset(heap, 0, sizeof(*heap));
}

void timer_heap_release(struct timer_heap *heap)
{
    free(heap->items);
    timer_heap_init(heap);
}

static bool is_before(const struct timer *a, const struct timer *b)
{
    if (a->at_ms != b->at_ms) {
        return a->at_ms < b->at_ms;
    }
    return strcmp(a->key, b->key) < 0;
}

static void put(struct timer_heap *heap, struct timer *timer, int place)
{
    heap->items[place] = timer;
    timer->place = place;
}

/* Moves the timer at `place` towards the root as far as needed. */
static void rise(struct timer_heap *heap, int place)
{
    struct timer *timer = heap->items[place];
    while (place > 1 && is_before(timer, heap->items[place / 2])) {
        put(heap, heap->items[place / 2], place);
        place /= 2;
    }
    put(heap, timer, place);
}

static void sink(struct timer_heap *heap, int place)
{
    struct timer *timer = heap->items[place];
    for (int child = place * 2; child <= heap->count; child = place * 2) {
        if (child < heap->count &&
            is_before(heap->items[child + 1], heap->items[child])) {
            child++;
        }
        if (!is_before(heap->items[child], timer)) {
            break;
        }
        put(heap, heap->items[child], place);
        place = child;
    }
    put(heap, timer, place);
}

static void take_off(struct timer_heap *heap, struct timer *timer)
{
    int place = timer->place;
    struct timer *last = heap->items[heap->count--];
    timer->place = 0;
    if (last != timer) {
        put(heap, last, place);
        rise(heap, place);
        sink(heap, last->place);
    }
}

static void add(struct timer_heap *heap, struct timer *timer)
{
    if (heap->count + 1 >= heap->capacity) {
        heap->capacity = heap->capacity == 0 ? FIRST_CAPACITY : heap->capacity * 2;
        heap->items =
            mem_grow(heap->items, (size_t)heap->capacity, sizeof(*heap->items));
    }
    put(heap, timer, ++heap->count);
    rise(heap, timer->place);
}

void timer_heap_set(struct timer_heap *heap, struct timer *timer, int64_t at_ms)
{
    if (timer->place != 0 && timer->at_ms == at_ms) {
        return;
    }
    if (timer->place != 0) {
        take_off(heap, timer);
    }
    timer->at_ms = at_ms;
    if (at_ms != INT64_MAX) {
        add(heap, timer);
    }
}

struct timer *timer_heap_find_due(const struct timer_heap *heap, int64_t now_ms)
{
    return timer_heap_wake_ms(heap) <= now_ms ? heap->items[1] : NULL;
}

int64_t timer_heap_wake_ms(const struct timer_heap *heap)
{
    return heap->count > 0 ? heap->items[1]->at_ms : INT64_MAX;
}
