/* SPDX-License-Identifier: Apache-2.0 */
/* lease.h: one contract as the broker has it, and the table of its allowed moves.
 *
 *              REGISTER      MADE           FREEZE
 *     ended ------------> pending ----> active <====> inactive
 *       ^                    |             |  EPOCH,    |
 *       |   END (from all)   |  WITHDRAW   |  THAW      |
 *       +------------------  +---------> draining <-----+
 *
 * A new lease is "ended" until it is registered. Each move is stored as the whole
 * contract and as one row of history with its reason.
 *
 * Units: milliseconds, slots. Ownership: a lease owns the texts and hosts in its row.
 * Source: docs/design/interfaces.md "JSON" (lease state), docs/design/safety.md,
 * docs/design/leases.md "Decided". Layer: broker. */
#ifndef SUBLET_BROKER_LEASE_LEASE_H
#define SUBLET_BROKER_LEASE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/resend.h"
#include "base/timer_heap.h"
#include "broker/lease/handover.h"
#include "broker/lease/lease_grant.h"
#include "broker/lease/lease_recalls.h"
#include "broker/lease/rebalance_clock.h"
#include "broker/member/member.h"
#include "broker/plan/plan.h"
#include "model/effect.h"

/* The contract of a policy with one consumer; of a policy that exports to a pool, the
 * contract with the idle slots, or that of a leaf of the plan. */
enum lease_part { LEASE_WHOLE, LEASE_IDLE, LEASE_LEAF };

/* The CONTRACT that the consumer has to acknowledge (push/push.h). */
struct push_contract {
    struct resend resend;
    uint64_t revision; /* 0: never sent */
};

struct push_recall {
    struct resend resend;
    uint64_t number; /* of the latest RECALL */
};

struct lease {
    struct timer timer;   /* first, see timer_heap.h; the earliest of all below */
    struct row_lease row; /* as on disk, but for the counts of used slots and judged_ms,
                             which may be newer */
    char reason[REASON_SIZE];
    struct host_split *hosts;
    struct lease_resource *resources;
    char *texts;
    struct member *provider, *consumer; /* the same for the idle slots of a pool, and
                                           for the provider's own leaf */
    enum lease_part part;
    const char *node;  /* of a leaf: its path, within the id */
    bool is_unplanned; /* of a pool: the configuration has no such pool or leaf */
    struct lease *next_lent, *prev_lent;         /* of its provider (lease_table.c) */
    struct lease *next_borrowed, *prev_borrowed; /* of its consumer */

    /* From the provider's latest STATE; not on disk. */
    enum reclaim_policy reclaim_policy;
    int64_t min_hold_ms, lease_term_ms;
    bool ends_lost;         /* ON_LOST=kill */
    bool takes_interactive; /* INTERACTIVE=Y */
    uint64_t last_attempt;
    int provider_waiting;
    bool is_unconfirmed;    /* one of its sites has not confirmed it since the start */
    uint64_t ended_session; /* the provider's session in which the lease ended; 0:
                               before the start */
    bool is_forgotten;      /* ended because its provider has lost its ledger */
    int n_behind;           /* STATEs below our epoch since the last one that was not */
    uint64_t behind_epoch;  /* of these, the latest's; 0: none */
    bool is_recovering;     /* its provider is to continue above our epoch */

    /* From the consumer's USAGE with the number usage_number. */
    int consumer_waiting;
    bool is_unnamed; /* none of its queues may use the lease */
    uint64_t usage_number;

    struct rebalance_clock rebalance_clock;
    struct handover handover;
    struct lease_grant grant;
    struct lease_recalls recalls;

    /* What is sent until it is answered (push/push.h). */
    struct resend poll_state, push_drain, push_evict, push_grant;
    struct push_contract push_contract;
    struct push_recall push_recall;

    struct revision_stamp stamp;
};

enum lease_move {
    LEASE_REGISTER, /* the provider stated a lease that was not known */
    LEASE_MADE,     /* the consumer's first job was scheduled onto it */
    LEASE_FREEZE,   /* a hand-over begins */
    LEASE_EPOCH,    /* the provider stated a higher epoch */
    LEASE_THAW,     /* the hand-over ended under the old epoch */
    LEASE_WITHDRAW, /* the export is gone, or an administrator drains it */
    LEASE_RESTORE,  /* exported again before the last slot was given back ... */
    LEASE_REOPEN,   /* ... likewise, if the lease is not made */
    LEASE_END,      /* nothing is left of it at the provider */
    LEASE_MOVES
};

/* The parts of "PROVIDER/POLICY/CONSUMER"; false if the text has another form. In a
 * pool's lease the consumer is "pool:NAME" (the idle slots), or "SITE:/PATH" with the
 * path of a leaf of the plan. */
struct lease_id {
    enum lease_part part;
    char provider[NAME_SIZE], policy[NAME_SIZE], consumer[NAME_SIZE];
    char node[PLAN_PATH_SIZE]; /* of a leaf; else "" */
};
bool lease_parse_id(const char *text, struct lease_id *id);

/* A contract that is not registered yet. */
struct lease *lease_new(const struct lease_id *id, struct member *provider,
                        struct member *consumer);
/* A contract from disk. */
struct lease *lease_restore(const struct row_lease *row, struct member *provider,
                            struct member *consumer);
void lease_free(struct lease *lease);

/* Replaces split and counts, without effects. */
void lease_set_hosts(struct lease *lease, const struct host_split *hosts, int n_hosts);
/* Replaces shared resources. */
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
/* Stores a change that is no move. */
void lease_store(const struct lease *lease, struct effects *effects);
/* Puts a recall of n_slots, or its end, into history; `why` is a sentence. */
void lease_record_recall(const struct lease *lease, enum history_event event,
                         const char *why, int n_slots, int64_t deadline_ms,
                         int64_t now_ms, struct effects *effects);

/* What the consumer has to know of the lease has changed, or its session has: CONTRACT
 * is sent until it is acknowledged. */
void lease_notify_consumer(struct lease *lease, int64_t now_ms);

#endif
