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

#include "base/err.h"
#include "base/resend.h"
#include "base/timer_heap.h"
#include "base/value.h"
#include "broker/lease/handover.h"
#include "broker/lease/lease_grant.h"
#include "broker/lease/lease_recalls.h"
#include "broker/lease/rebalance_clock.h"
#include "broker/member/member.h"
#include "broker/plan/plan.h"
#include "model/effect.h"
#include "model/msg.h"
#include "model/quota.h"

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
    bool ends_lost;            /* ON_LOST=kill */
    bool takes_interactive;    /* INTERACTIVE=Y */
    char *withheld;            /* why the provider lends no slot of it; "": it lends */
    int price;                 /* credits for a slot hour */
    int64_t n_hours, hours_ms; /* as in STATE */
    enum quota_level hours_level; /* that was last recorded; on disk (ROW_HOURS) */
    int plan_price; /* of a leaf: PRICE in the plan; -1: no cycle has set it yet */
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
    struct resend poll_state, push_drain, push_evict, push_grant, push_price;
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
/* Of which neither hosts nor resources have changed. */
void lease_store_judged(const struct lease *lease, struct effects *effects);
/* Its provider's journal had as many commits as are on record with the epoch. */
void lease_raise_mark(struct lease *lease);
/* Puts a recall of n_slots, or its end, into history; `why` is a sentence. */
void lease_record_recall(const struct lease *lease, enum history_event event,
                         const char *why, int n_slots, int64_t deadline_ms,
                         int64_t now_ms, struct effects *effects);

/* Puts an administrator's order into history; `why` says who gave it, and its result.
 */
void lease_record_order(const struct lease *lease, enum history_event event,
                        const char *why, int64_t now_ms, struct effects *effects);

/* What the consumer has to know of the lease has changed, or its session has: CONTRACT
 * is sent until it is acknowledged. */
void lease_notify_consumer(struct lease *lease, int64_t now_ms);

/* ---------------------------------------------------------------- lease_split.c */

/* The hosts of a lease, added up and compared: how many slots each side
 * holds, and how many it uses.
 *
 * On a host that is down, what a side uses is all that is available to it, so that
 * nothing is idle there, and a side never uses more than is available to it.
 *
 * Units: slots. Order: hosts are in their provider's order; two splits are compared
 * host by host. Source: docs/design/leases.md "Decided". */

struct lease_split_side {
    int available; /* held on hosts that are up, or used on others */
    int used;
    int idle; /* available - used */
};

struct lease_split {
    struct lease_split_side provider, consumer;
};

struct lease_split lease_split_sum(const struct host_split *hosts, int n_hosts);

/* Checks what a peer says: each slot of a host is held by one side, and neither side
 * uses more than it holds. ERR_BOUNDS names the host. */
int lease_split_check(const struct host_split *hosts, int n_hosts,
                      struct err *err) MUST_CHECK;

/* The same hosts. */
bool lease_split_has_same_hosts(const struct host_split *a, int n_a,
                                const struct host_split *b, int n_b);
/* The same hosts with the same slots, held by the same sides, and the same memory and
 * swap space. This is what an epoch fixes. */
bool lease_split_is_same(const struct host_split *a, int n_a,
                         const struct host_split *b, int n_b);
/* The same hosts are down; both lists name the same hosts. */
bool lease_split_is_same_down(const struct host_split *a, const struct host_split *b,
                              int n_hosts);

/* A side as object `key` of a row; `site`: its name, NULL: the name is left out. */
void lease_split_show_side(struct arena *arena, struct value *row, const char *key,
                           const char *site, const struct lease_split_side *side);

/* A copy in one block of memory, names included; free it with free(). NULL for none. */
struct host_split *lease_split_dup(const struct host_split *hosts, int n_hosts);

/* ---------------------------------------------------------------- lease_table.c */

/* All contracts of the federation, by id, with a timer for each.
 *
 * Ended contracts stay until the broker ends, or until their place is needed. The
 * contracts of one member are also linked together (member.lent, member.borrowed), so
 * that a member that comes or goes does not cost a walk over all contracts.
 *
 * Ownership: a lease lives as long as it is in the table. Order: by id. */

struct lease_table {
    struct lease **items;
    int count, capacity;
    struct timer_heap timers;
};

void lease_table_init(struct lease_table *leases);
void lease_table_release(struct lease_table *leases);

/* The lease, or NULL. */
struct lease *lease_table_find(const struct lease_table *leases, const char *id);
/* The index of the first lease after that id; "": 0. */
int lease_table_find_after(const struct lease_table *leases, const char *id);
/* True if they have a lease, or had one: reports about its last jobs may still be on
 * their way. */
bool lease_table_has_pair(const struct lease_table *leases,
                          const struct member *provider, const struct member *consumer);

/* Open leases of the two, without contracts of pools. */
int lease_table_count_pair(const struct member *provider,
                           const struct member *consumer);

/* Makes room for one more lease of that provider, by removing an ended lease if need
 * be. False if LEASES_MAX leases are open, or LEASES_PER_PROVIDER_MAX of the provider.
 */
bool lease_table_make_room(struct lease_table *leases, const struct member *provider);
/* Makes room for so many more hosts in its leases, likewise. */
bool lease_table_make_host_room(struct lease_table *leases,
                                const struct member *provider, int n_hosts);
/* Adds the lease, whose id is new; the table owns it. */
void lease_table_add(struct lease_table *leases, struct lease *lease);

/* The next lease that is due, or NULL: the caller sets its timer again. */
struct lease *lease_table_find_due(const struct lease_table *leases, int64_t now_ms);

/* ---------------------------------------------------------------- reclaim_delay.c */

/* The reclaim delay of each lease, and which setting decides it.
 *
 * An administrator's override for a lease goes before one for its provider, then one
 * for all, then the provider's configuration (from HELLO), then LSF's default.
 * Overrides are on disk.
 *
 * Units: milliseconds. Ownership: names are copied.
 * Source: docs/design/leases.md "Decided" `MC_RECLAIM_DELAY`. */

#define RECLAIM_DELAY_DEFAULT_MS ((int64_t)10 * 60 * 1000)

struct override;
struct conf_key;
struct reclaim_delays {
    const struct conf_key *bounds; /* of MC_RECLAIM_DELAY */
    struct override *table;        /* a hash table, by scope and name */
};

/* Where a delay in force comes from. */
enum reclaim_delay_source {
    RECLAIM_DELAY_FROM_DEFAULT,  /* nothing is set */
    RECLAIM_DELAY_FROM_SITE,     /* the provider, at HELLO */
    RECLAIM_DELAY_FROM_ALL,      /* an override for all */
    RECLAIM_DELAY_FROM_PROVIDER, /* an override for the provider */
    RECLAIM_DELAY_FROM_LEASE,    /* an override for the lease */
};

void reclaim_delay_init(struct reclaim_delays *overrides);
void reclaim_delay_release(struct reclaim_delays *overrides);

/* ERR_BOUNDS if a delay cannot be set. The bounds, and the words of the refusal, are
 * those of MC_RECLAIM_DELAY in a configuration. */
int reclaim_delay_check(int64_t delay_ms, struct err *err) MUST_CHECK;

/* Sets an override, -1 removes it. */
void reclaim_delay_set(struct reclaim_delays *overrides, enum reclaim_scope scope,
                       const char *name, int64_t delay_ms);
/* The override, -1 if there is none. */
int64_t reclaim_delay_find_override(const struct reclaim_delays *overrides,
                                    enum reclaim_scope scope, const char *name);

/* The delay in force. `lease` may be NULL (the delay for all leases of the provider),
 * and `provider` too (the delay for all). `site_ms` is the provider's configuration, 0:
 * not set. `source` may be NULL. */
int64_t reclaim_delay_get_ms(const struct reclaim_delays *overrides, const char *lease,
                             const char *provider, int64_t site_ms,
                             enum reclaim_delay_source *source);

/* "default", "site", "all", "provider", "lease". */
const char *reclaim_delay_source_name(enum reclaim_delay_source source);

#endif
