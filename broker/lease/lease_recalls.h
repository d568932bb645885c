/* SPDX-License-Identifier: Apache-2.0 */
/* lease_recalls.h: the slots that the contract of a plan's leaf has to give back.
 *
 * The recalls of a contract are a list of bounds. After its deadline a bound says how
 * many slots the contract holds at most; the bounds fall from one to the next. A bound
 * is removed when the contract holds no more than it allows.
 *
 * Units: slots; milliseconds of the broker's clock. Order: by deadline.
 * Source: docs/adr/0012; docs/design/plans.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_LEASE_RECALLS_H
#define SUBLET_BROKER_LEASE_LEASE_RECALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct lease;

struct lease_recalls_bound {
    int n_held;  /* the contract holds at most so many after the deadline */
    int n_slots; /* that this bound recalls */
    int64_t deadline_ms;
};

struct lease_recalls {
    struct lease_recalls_bound bounds[RECALLS_MAX];
    int n_bounds;
    bool is_whole;        /* hosts are recalled whole */
    char pool[NAME_SIZE]; /* named in history */
};

/* All slots of the contract, also on hosts that are down. */
int lease_recalls_count_held(const struct lease *lease);
/* Slots that are recalled and have not been given back. */
int lease_recalls_count(const struct lease *lease);
/* The same without idle slots of hosts that are down, which go back first and are of no
 * use to anybody now. */
int lease_recalls_count_usable(const struct lease *lease);
/* The idle slots of hosts that are down. */
int lease_recalls_count_idle_down(const struct lease *lease);
/* Of these, the slots without a deadline (RECALL_AT_END_MS): the last bound. */
int lease_recalls_count_waiting(const struct lease *lease, int64_t now_ms);

struct lease_recalls_order {
    const char *pool;
    int n_slots;
    bool is_whole;
    const char *why; /* for history */
    int64_t deadline_ms;
};

/* Recalls n_slots more, until the deadline, and records that in history. A recall
 * without a deadline has to be cancelled before one with a deadline is added. If the
 * list is full, nothing is recalled without a deadline. */
void lease_recalls_add(struct lease *lease, const struct lease_recalls_order *order,
                       int64_t now_ms, struct effects *effects);
/* Recalls n_slots less; the latest bounds are relaxed first. */
void lease_recalls_cancel(struct lease *lease, int n_slots);

/* Removes the bounds that the contract has come down to, each recorded in history. */
void lease_recalls_settle(struct lease *lease, int64_t now_ms, struct effects *effects);
/* Replaces the list by the one of a STATE; false if that is what the list was. */
bool lease_recalls_replace(struct lease *lease, const struct msg_state *state,
                           int64_t now_ms);

/* The list as messages carry it, in the arena. */
void lease_recalls_fill(const struct lease_recalls *recalls, int64_t now_ms,
                        struct arena *arena, const struct recall **list, int *n_list);

#endif
