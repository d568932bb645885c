/* SPDX-License-Identifier: Apache-2.0 */
/* push_recall.h: slots that a leaf gives back to its pool, the broker's half.
 *
 * What is recalled of a contract is a list of bounds: after its deadline each says how
 * many slots the contract holds at most; they fall from one to the next. A cycle adds
 * to the list, or takes from its end where the need is gone. Each change is a RECALL
 * with the next number to the provider, again until its STATE names it. The provider
 * carries it out (provider/recall.h), and its word counts: what STATE lists is what is
 * open, also for a broker that was restarted, which has nothing of this on disk. The
 * leaf's site hears of it with the contract.
 *
 *     number in STATE   below ours   it has not had the order: sent again
 *                       ours         its list is ours; what left it is home
 *                       above ours   this broker is new, or was restored: likewise
 *
 * Units: slots; milliseconds of the broker's clock. Order: a list stands in the order
 * of its deadlines. Source: docs/adr/0013, 0023. Layer: broker (base only). */
#ifndef SUBLET_BROKER_PUSH_PUSH_RECALL_H
#define SUBLET_BROKER_PUSH_PUSH_RECALL_H

#include <stdbool.h>
#include <stdint.h>

#include "broker/pool/pool.h"
#include "model/effect.h"

struct lease;

struct push_recall_cap {
    int n_held;
    int n_slots; /* that come back with it */
    int64_t deadline_ms;
};

struct push_recall {
    uint64_t number;
    bool is_open; /* STATE has not named the number yet */
    bool is_whole;
    int64_t next_ms, wait_ms;
    struct push_recall_cap caps[RECALLS_MAX];
    int n_caps;
    char pool[NAME_SIZE]; /* for events */
};

/* Slots that are to come back and have not. */
int push_recall_count(const struct lease *lease);

struct push_recall_order {
    const char *pool;
    int n_slots;
    bool is_whole; /* exclusive hosts come back whole */
    enum pool_why why;
    int64_t deadline_ms;
};

/* So many more, until the deadline; or so many less of those that are open, the latest
 * first. Then the provider is told. */
void push_recall_add(struct lease *lease, const struct push_recall_order *order,
                     int64_t now_ms, struct effects *effects);
void push_recall_cancel(struct lease *lease, int n_slots, int64_t now_ms);

/* What STATE says of it, whose split the lease has. */
void push_recall_on_state(struct lease *lease, const struct msg_state *state,
                          int64_t now_ms, struct effects *effects);
/* The provider may not know: it came. */
void push_recall_resume(struct lease *lease, int64_t now_ms);

/* The list as messages have it. */
void push_recall_fill(const struct lease *lease, int64_t now_ms, struct arena *arena,
                      const struct recall **recalls, int *n_recalls);

void push_recall_tick(struct lease *lease, int64_t now_ms, struct effects *effects);
int64_t push_recall_wake_ms(const struct lease *lease);

#endif
