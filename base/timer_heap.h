/* SPDX-License-Identifier: Apache-2.0 */
/* timer_heap.h: a heap that finds which of many objects is due next.
 *
 * A tick must not walk a hundred thousand leases to find the three that are due. Each
 * lease and each member has one timer, set to the earliest instant at which something
 * about it may have to be done. A timer that is too early is harmless.
 *
 * Units: milliseconds. Ownership: a timer is the first field of its owner's struct, so
 * that the timer's address is the owner's. Order: by instant, then by key (id or name),
 * so that a run can be repeated. Layer: base. */
#ifndef SUBLET_BASE_TIMER_HEAP_H
#define SUBLET_BASE_TIMER_HEAP_H

#include <stdint.h>

struct timer {
    int64_t at_ms;
    int place; /* index in the heap, from 1; 0: not set */
    const char *key;
};

struct timer_heap {
    struct timer **items;
    int count, capacity;
};

void timer_heap_init(struct timer_heap *heap);
void timer_heap_release(struct timer_heap *heap);

/* Sets or moves a timer; INT64_MAX removes it. */
void timer_heap_set(struct timer_heap *heap, struct timer *timer, int64_t at_ms);

/* The earliest timer that is due, or NULL. The timer remains set. */
struct timer *timer_heap_find_due(const struct timer_heap *heap, int64_t now_ms);

/* The earliest instant; INT64_MAX if no timer is set. */
int64_t timer_heap_wake_ms(const struct timer_heap *heap);

#endif
