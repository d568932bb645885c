/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h: one contract as the broker has it, and the table of its allowed moves.
 *
 *              REGISTER      MADE           FREEZE
 *     ended ------------> pending ----> active <====> inactive
 *       ^                    |             |  EPOCH,    |
 *       |   END (from all)   |  WITHDRAW   |  THAW      |
 *       +------------------  +---------> draining <-----+
 *
 * A lease that begins is "ended" until it is registered. Each move is stored as the
 * whole contract and as one row of history with its reason.
 *
 * Units: milliseconds, slots. Ownership: a lease owns the texts and hosts in its row.
 * Source: INTERFACES 3 (lease state), ARCHITECTURE 2 and 5.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_LEASE_LEASE_H
#define SUBLET_BROKER_LEASE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer_heap.h"
#include "broker/lease/handover.h"
#include "broker/lease/rebalance_clock.h"
#include "broker/member/member.h"
#include "broker/plan/plan.h"
#include "broker/push/poll_state.h"
#include "broker/push/push_contract.h"
#include "broker/push/push_drain.h"
#include "broker/push/push_evict.h"
#include "broker/push/push_grant.h"
#include "broker/push/push_recall.h"
#include "broker/revision.h"
#include "model/effect.h"

/* Of a policy that exports to a pool: what is idle in it, or what a leaf has. */
enum lease_part { LEASE_WHOLE, LEASE_IDLE, LEASE_LEAF };

struct lease {
    struct timer alarm;   /* first: timer_heap.h; the earliest of what follows */
    struct row_lease row; /* as it is on disk, but for counts of used slots and
                             judged_ms, which may be newer */
    char reason[REASON_SIZE];
    struct host_split *hosts;
    struct lease_resource *resources;
    char *texts;
    struct member *provider, *consumer; /* the same: what is idle in a pool, and the
                                           provider's own leaf */
    enum lease_part part;
    const char *node;  /* of a leaf: its path, within the id */
    bool is_unplanned; /* of a pool: the configuration has no such pool or leaf */
    struct push_grant granting;
    struct push_recall recalling;
    struct lease *next_lent, *prev_lent;         /* of its provider: lease_table.c */
    struct lease *next_borrowed, *prev_borrowed; /* of its consumer */

    /* What the provider's latest STATE said, and the disk does not keep. */
    enum reclaim_policy reclaim_policy;
    int64_t min_hold_ms, lease_term_ms;
    bool ends_lost;         /* ON_LOST=kill */
    bool takes_interactive; /* INTERACTIVE=Y */
    uint64_t last_attempt;
    int provider_waiting;
    bool is_unconfirmed;    /* since this broker's start, by one of its sites */
    uint64_t ended_session; /* of its provider, in which it ended; 0: before the start
                             */
    bool is_forgotten;      /* ended because its provider has lost its books */
    int n_behind;           /* STATEs below our epoch since the last that was not */
    uint64_t behind_epoch;  /* of these, the latest's; 0: none */
    bool is_recovering;     /* its provider is to go on above our epoch */

    /* What the consumer's USAGE said that was its n-th. */
    int consumer_waiting;
    bool is_unnamed; /* no queue of its may use the lease */
    uint64_t usage_number;

    struct asking asking;
    struct push_contract notice;
    struct push_drain draining;
    struct judging judging;
    struct push_evict evicting;
    struct handover handover;
    struct change change;
};

enum lease_move {
    LEASE_REGISTER, /* the provider stated a lease that was not known */
    LEASE_MADE,     /* the consumer's first job was scheduled onto it */
    LEASE_FREEZE,   /* a hand-over begins */
    LEASE_EPOCH,    /* the provider stated a higher epoch */
    LEASE_THAW,     /* the hand-over ended under the old epoch */
    LEASE_WITHDRAW, /* the export is gone, or an administrator drains it */
    LEASE_RESTORE,  /* the export is back before the last slot was home ... */
    LEASE_REOPEN,   /* ... likewise, of a lease that is not made */
    LEASE_END,      /* nothing is left of it at the provider */
    LEASE_MOVES
};

/* The parts of "PROVIDER/POLICY/CONSUMER"; false where it is not one. Of a pool's lease
 * the consumer is "pool:NAME" (what is idle in it), or a site, and behind a ':' the
 * leaf of the plan that it stands for. */
struct lease_id {
    enum lease_part part;
    char provider[NAME_SIZE], policy[NAME_SIZE], consumer[NAME_SIZE];
    char node[PLAN_PATH_SIZE]; /* of a leaf; else "" */
};
bool lease_parse_id(const char *text, struct lease_id *id);

/* A contract that is not registered yet. */
struct lease *lease_new(const struct lease_id *id, struct member *provider,
                        struct member *consumer);
/* One as the disk has it. */
struct lease *lease_load(const struct row_lease *row, struct member *provider,
                         struct member *consumer);
void lease_free(struct lease *lease);

/* Takes over split and counts; without effects. */
void lease_set_hosts(struct lease *lease, const struct host_split *hosts, int n_hosts);
/* Likewise shared resources. */
void lease_set_resources(struct lease *lease, const struct lease_resource *resources,
                         int n_resources);

/* Not ended. */
bool lease_is_open(const struct lease *lease);
/* Slots that the contract has, on hosts that are up. */
int lease_count_slots(const struct lease *lease);
/* One of its sites is away. */
bool lease_is_disconnected(const struct lease *lease);
/* Slots of the consumer's waiting jobs that may use it. */
int lease_consumer_waiting(const struct lease *lease);

bool lease_may_move(const struct lease *lease, enum lease_move move);
/* Makes the move, which must be allowed: state, reason and instant, one stored
 * contract, one row of history. The caller has changed epoch, split and flags before.
 */
void lease_move(struct lease *lease, enum lease_move move, const char *reason,
                int64_t now_ms, struct effects *effects);
/* What is on disk of it, where that changed and it makes no move. */
void lease_store(const struct lease *lease, struct effects *effects);

#endif
