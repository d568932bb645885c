/* SPDX-License-Identifier: Apache-2.0 */
/* msg_lease.h: what a lease is, and the messages between sites and broker; their fields
 * are in model/schema_lease.c.
 *
 * Units, Ownership: as msg.h. Source: docs/design/safety.md (numbers in brackets below
 * are its steps). Layer: model. */
#ifndef SUBLET_MODEL_MSG_LEASE_H
#define SUBLET_MODEL_MSG_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/msg_job.h"

/* Memory or swap space of a host that a lease exports, in MB. From the beginning of the
 * contract to its end only the consumer may use it, whichever side holds the slots. If
 * it is not given, both sides compete for what is free. */
enum space_kind { SPACE_MEM, SPACE_SWP, SPACES };
struct space {
    bool is_given;
    int mib; /* not given: 0 */
};

/* One host of a lease: how many of its exported slots each side holds and uses. */
struct host_split {
    const char *host;
    int n_slots;                      /* exported by the lease on this host */
    int provider, consumer;           /* held; while frozen, the rest is in transit */
    int provider_used, consumer_used; /* running + suspended, at most held */
    bool is_down;                     /* unreachable, or closed by the provider */
    struct space spaces[SPACES];
};

/* How a site defines a shared resource. Both sites must define it alike. */
enum resource_trait {
    TRAIT_INCREASING = 1,
    TRAIT_CONSUMABLE = 2,
    TRAIT_RELEASED = 4,
    TRAIT_DYNAMIC = 8,
    TRAITS = 15,
};

/* Instances of a shared resource that a lease exports. Only the consumer may use them.
 * They are not per host: all leases of that consumer that name the same pool of the
 * provider (a position in its ResourceMap) share these instances. */
struct lease_resource {
    const char *name;
    int pool;
    int n_instances;
    int traits;        /* of enum resource_trait */
    const char *hosts; /* hosts of the lease that see it: names joined by blanks, in
                          the order of the lease; "": all of them */
};

/* LEASE_POOL: a policy that exports to a pool. One contract (PROVIDER/POLICY/pool:NAME)
 * has the idle slots of the pool. Each leaf of the plan that ever got slots has a
 * contract for them (PROVIDER/POLICY/SITE:NODE). */
enum lease_type { LEASE_EXCLUSIVE, LEASE_SHARED, LEASE_POOL };

enum lease_state {
    LEASE_PENDING,
    LEASE_ACTIVE,
    LEASE_INACTIVE,
    LEASE_DRAINING,
    LEASE_ENDED
};

enum reclaim_policy { RECLAIM_LSF, RECLAIM_DEMAND };

struct msg_hello {
    const char *name;
    int roles;   /* of enum role */
    int n_books; /* leases that it provides: as many STATEs follow WELCOME */
    int64_t reclaim_delay_ms; /* the provider's value; 0: not configured */
    uint64_t broker_commits;  /* the highest number that the site was told */
};

struct msg_welcome {
    bool is_accepted;
    uint64_t min_session; /* refused: repeat HELLO with a session above this */
    const char *text;     /* refused: why; by a standby: the leader's endpoint, or "" */
    bool is_standby;      /* refused by a broker that does not lead */
    int64_t lost_after_ms;
    struct journal_mark mark; /* broker: the last mark that it has of the site */
    uint64_t broker_commits;  /* of the broker's store */
    /* Site to host: it asks for RUN_FOUND of its own runs with these attempts, and of
     * those above the last one. `lists_runs` false: it does not. */
    bool lists_runs;
    uint64_t list_from, list_to;
    bool lists_all; /* the site's journal has lost commits: it wants RUN_FOUND of all
                       runs, also of leased ones */
};

struct lease_demand {
    const char *lease;
    uint64_t epoch;  /* that the consumer has */
    int n_used;      /* slots of its jobs there: sent, running, suspended */
    int n_waiting;   /* slots of its waiting jobs that may use this lease */
    bool is_unnamed; /* none of its queues may use a host of it; reported until the
                      contract is made */
};

/* Jobs that wait in a queue and may run on borrowed hosts. */
/* Slots that waiting jobs of one size could start with; a queue has a row for each
 * size.
 */
struct queue_demand {
    const char *queue;
    int n_waiting;  /* slots */
    int job_size;   /* the slots that one of the jobs needs at least; 0: not known */
    uint64_t needs; /* digest of what all jobs of the queue require */
};

/* Slots of the contract of a plan's leaf that jobs of queues of one priority use. */
struct priority_use {
    const char *lease;
    int priority, n_slots;
};

/* Jobs by state. Each element of an array counts; ended jobs count until they are
 * cleaned.
 */
struct msg_job_counts {
    int pend, psusp, run, ususp, ssusp, unkwn, done, exit;
};

/* Number of passes by duration: at most so many microseconds, and more than the field
 * before. */
struct msg_pass_times {
    uint64_t us100, us250, us1000, us2500, us10000, us50000, us250000, us1000000;
};

struct msg_usage {
    uint64_t seq;
    int n_own, n_own_used; /* slots of its own hosts (MXJ), used by its own jobs */
    int n_lent, n_borrowed;
    int n_idle;    /* slots on which it could start a job now */
    int n_waiting; /* slots of its waiting jobs */
    struct msg_job_counts jobs;
    uint64_t n_passes, passes_us; /* of its scheduler since it started */
    struct msg_pass_times pass_times;
    const struct lease_demand *demands; /* of the leases it is consumer of */
    int n_demands;
    struct journal_mark mark;
    struct journal_mark lost; /* how far its journal was behind other marks, until an
                                 administrator has accepted that */
    const struct queue_demand *queues; /* queues with waiting jobs */
    int n_queues;
    const struct priority_use *uses; /* by lease, then by priority */
    int n_uses;
};

struct msg_pong {
    uint64_t seq;
    uint64_t broker_commits; /* as in WELCOME */
};

/* Slots of a contract that are recalled: after the deadline the contract holds at most
 * `n_held`. Several recalls of one contract are ordered by deadline, with falling
 * `n_held`. */
struct recall {
    int n_held;
    int64_t left_ms; /* from the time of the message */
};

/* A recall without a deadline: a slot is given back when the job on it ends. It is a
 * time so long that no clock reaches it, and so the last recall of a contract. */
#define RECALL_AT_END_MS (INT64_C(1) << 51)
static inline bool recall_waits(int64_t left_ms)
{
    return left_ms > RECALL_AT_END_MS / 2;
}

/* What only the provider of a lease knows. epoch 0: the provider has no such lease. */
struct msg_state {
    const char *lease; /* id */
    uint64_t epoch;
    enum lease_type type;
    bool is_made;
    bool is_withdrawn; /* draining: no new job starts */
    bool is_ended;     /* withdrawn, and nothing of it runs any more */
    bool is_frozen;
    uint64_t freeze; /* the highest freeze number seen */
    uint64_t drain;  /* number of the latest DRAIN; 0: none ever */
    bool is_drained; /* content of that DRAIN: withdrawn, regardless of the policies */
    int provider_waiting; /* slots of the provider's waiting jobs that fit */
    enum reclaim_policy reclaim_policy;
    int64_t min_hold_ms, lease_term_ms;
    const struct host_split *hosts;
    int n_hosts;
    const struct lease_resource *resources;
    int n_resources;
    const char *reason;     /* of the last change by the provider itself */
    bool ends_lost;         /* ON_LOST=kill */
    bool takes_interactive; /* INTERACTIVE=Y */
    uint64_t last_attempt;  /* the highest attempt of its consumer that was decided */
    uint64_t recall;        /* number of the latest RECALL; 0: none ever ... */
    const struct recall
        *recalls; /* ... and the slots of it that are not returned yet */
    int n_recalls;
    const char *withheld;   /* why the provider lends no slot of it; NULL: it lends */
    uint64_t commits;       /* that its journal had with the epoch; 0: not known */
    int price;              /* credits for a slot hour; 0: none */
    int64_t n_hours;        /* slot hours a month that jobs may use; 0: no bound */
    int64_t hours_ms;       /* slot-milliseconds that they have used ... */
    int64_t hours_month_ms; /* ... in the month that began then, ... */
    int64_t hours_since_ms; /* ... by a count that began then; 0: nothing is counted. A
                             journal that was lost counts anew, from a later instant */
    int64_t split_ms; /* when the provider's journal got the epoch; 0: not known */
    uint64_t lost_from, lost_to; /* its journal has lost commits: of this lease those
                                    above lost_from, up to lost_to; 0: none */
};

struct msg_lease { /* STATE_ASK, LEASE_LOAD_ASK */
    const char *lease;
};

struct msg_lease_open {
    const char *lease;
    uint64_t above; /* the last epoch that the broker knows; 0: none */
    int price;      /* of the leaf: credits for a slot hour; 0: none */
};

struct msg_freeze {
    const char *lease;
    uint64_t base;
    uint64_t freeze;
};

struct msg_propose {
    const char *lease;
    uint64_t base;
    const struct host_split *hosts; /* host, n_slots, provider, consumer count */
    int n_hosts;
};

/* The number grows with each order about a lease. An order whose number is not above
 * the last one is answered and changes nothing. */
struct msg_drain {
    const char *lease;
    uint64_t number;
    bool is_drained;
    uint64_t raise_above; /* the provider has lost its ledger and raises its epoch above
                             this one; 0: it has not lost it */
};

/* All recalls of a contract. The number grows with each RECALL of the contract; one
 * that is not above the last changes nothing. Without `recalls` the earlier ones are
 * void.
 */
struct msg_recall {
    const char *lease;
    uint64_t number;
    bool is_whole; /* whole hosts are returned */
    const struct recall *recalls;
    int n_recalls;
};

/* Ends all runs of the lease's consumer up to this attempt. Attempts that the consumer
 * starts after its return have higher numbers. */
struct msg_evict {
    const char *lease;
    uint64_t attempt;
};

struct msg_contract {
    const char *lease;
    uint64_t revision; /* grows within a session; a lower one is outdated */
    uint64_t epoch;
    enum lease_type type;
    enum lease_state state;
    bool is_made;
    bool is_provider_here;  /* connected to the broker */
    bool takes_interactive; /* its provider runs interactive jobs */
    const struct host_split *hosts;
    int n_hosts;
    const char *const *queues;    /* of a leaf: only jobs of these queues may use it */
    int n_queues;                 /* 0: all */
    int64_t grace_ms;             /* of a leaf: how long a recalled slot may be used */
    const struct recall *recalls; /* recalled slots */
    bool is_whole;                /* ... in whole hosts */
    int n_recalls;
    const struct lease_resource *resources;
    int n_resources;
    const char *withheld;       /* as in STATE */
    int price;                  /* likewise ... */
    int64_t split_ms;           /* ... of the epoch */
    int64_t rebalance_in_ms;    /* until the rebalance rule is applied next ... */
    int64_t rebalance_every_ms; /* ... and between that and each further time; 0: it is
                                   not applied at regular instants */
};

struct msg_contract_ack {
    const char *lease;
    uint64_t revision;
};

/* An hour, or a day whose hours were merged, of one side in the books of a lease. */
enum { LEDGER_HOURS_MAX = 4096 };
struct ledger_hour {
    int64_t start_ms;
    bool is_provider; /* the side */
    bool is_lent;     /* the consumer's side in the records of the provider */
    int64_t held_ms, used_ms, idle_ms; /* slot-milliseconds */
    /* Of the broker's books: how often the split changed in that time (of sums whose
     * changes are not known any more, as if each minute), and the most slots that the
     * side held by these changes. */
    int n_changes, n_slots;
    int64_t n_moved; /* slots whose use has begun, and those whose use has ended */
};

/* What is behind the hours of a time: its runs, or its splits (usage/usage.h). */
enum ledger_detail { LEDGER_HOURS, LEDGER_RUNS, LEDGER_SPLITS };
enum { LEDGER_RUNS_MAX = 1000, LEDGER_SPLITS_MAX = 2000 };
struct ledger_run {
    uint64_t attempt;
    const char *job;
    bool is_lent;
    int64_t start_ms, end_ms; /* end 0: it has not ended */
    int64_t used_ms, at_ms;   /* slot-milliseconds until then ... */
    int n_slots;              /* ... and the slots in use since */
};
struct ledger_split {
    int64_t at_ms;
    uint64_t epoch;
    bool is_provider, is_lent; /* the side, as of an hour */
    int n_slots;
};

struct msg_ledger_ask { /* one site of a lease asks the other one */
    uint64_t request;
    const char *lease;
    int64_t from_ms, to_ms;
    enum ledger_detail detail;
    uint64_t after; /* of runs: those with a greater attempt */
};

struct msg_ledger { /* its books, from the start on and before the end */
    uint64_t request;
    const char *lease;
    const struct ledger_hour *hours;
    int n_hours;
    const struct ledger_run *runs;
    int n_runs;
    const struct ledger_split *splits;
    int n_splits;
    int64_t next_ms; /* where the next page begins; 0: this was the last */
    uint64_t
        next_run;     /* of runs: there are some above that attempt; 0: there are not */
    int64_t first_ms; /* the earliest hour of all its books; 0: they are empty */
    int64_t merged_ms; /* before it, hours may have become days; 0: none have */
};

/* The consumer in a lease id: the text behind the second '/', and before the ':' if the
 * lease is of a pool's leaf; "pool:NAME" for the idle slots of a pool. `length` is that
 * of the text. */
const char *msg_lease_consumer(const char *lease, size_t *length);
/* Words of the enums as people and JSON see them ("pending", "shared", "lsf"). */
const char *msg_lease_state_name(enum lease_state state);
const char *msg_lease_type_name(enum lease_type type);

#endif
