/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.h: clients whose answer comes later: when a job ends, when a host or another
 * site has sent a piece of output, when the broker has replied.
 *
 * Bounded by WAITERS_MAX. Units: milliseconds. Order: as they came. Layer: site. */
#ifndef SUBLET_SITE_WAITERS_H
#define SUBLET_SITE_WAITERS_H

#include <stdbool.h>
#include <stdint.h>

enum waiter_kind {
    WAITER_JOB,    /* key: the job's; index 0 of an array: all of it */
    WAITER_OUTPUT, /* key: number of our request */
    WAITER_BROKER, /* likewise */
};

struct waiter {
    enum waiter_kind kind;
    uint64_t key;
    uint64_t link;       /* the client's connection ... */
    uint64_t request;    /* ... and its own number */
    uint64_t job;        /* OUTPUT: whose, by its key */
    int64_t deadline_ms; /* INT64_MAX: none */
};

struct waiters;
struct waiters *waiters_new(void);
void waiters_free(struct waiters *waiters);

/* False where there are too many. */
bool waiters_add(struct waiters *waiters, const struct waiter *waiter);
/* Takes out the first of that kind and key, or the first whose time is over; false
 * where there is none. */
bool waiters_take(struct waiters *waiters, enum waiter_kind kind, uint64_t key,
                  struct waiter *waiter);
bool waiters_take_late(struct waiters *waiters, int64_t now_ms, struct waiter *waiter);
void waiters_drop(struct waiters *waiters, uint64_t link);
/* The time of all of that kind is over: their answer will not come. */
void waiters_give_up(struct waiters *waiters, enum waiter_kind kind, int64_t now_ms);
int64_t waiters_wake_ms(const struct waiters *waiters);

/* A number for a request of ours: never below WAITERS_REQUEST_MIN, which others that
 * number requests on the same way (consumer/) stay under. */
#define WAITERS_REQUEST_MIN (UINT64_C(1) << 62)
uint64_t waiters_number(struct waiters *waiters);

#endif
