/* SPDX-License-Identifier: Apache-2.0 */
/* timer_heap.h: who is to be looked at next, and when: a heap of instants.
 *
 * A tick must not walk a hundred thousand leases to find the three that are due. Each
 * lease and each member carries one alarm, set to the earliest instant at which
 * something about it may have to be done; looking too early is harmless.
 *
 * Units: milliseconds. Ownership: alarms live in their owners, which put them first in
 * their struct, so that an alarm found is its owner found.
 * Order: by instant, then by key (id or name), so that a run repeats itself.
 * Layer: broker (base only). */
#ifndef SUBLET_BASE_TIMER_HEAP_H
#define SUBLET_BASE_TIMER_HEAP_H

#include <stdint.h>

struct timer {
    int64_t at_ms;
    int place; /* in the heap, from 1; 0: not set */
    const char *key;
};

struct timer_heap {
    struct timer **items;
    int count, capacity;
};

void timer_heap_init(struct timer_heap *alarms);
void timer_heap_release(struct timer_heap *alarms);

/* Sets or moves an alarm; INT64_MAX takes it off. */
void timer_heap_set(struct timer_heap *alarms, struct timer *alarm, int64_t at_ms);

/* The earliest alarm that is due, left set; NULL where none is. */
struct timer *timer_heap_find_due(const struct timer_heap *alarms, int64_t now_ms);

/* The earliest instant, INT64_MAX where no alarm is set. */
int64_t timer_heap_wake_ms(const struct timer_heap *alarms);

#endif
