/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: a sharing plan: the tree of nodes that share one pool, as configured.
 *
 * Nodes are in breadth-first order, and siblings are consecutive, in order of rank. So
 * a forward loop meets every parent before its children, and a backward loop every
 * child before its parent.
 *
 * Units: slots; milliseconds. All counts are whole and below 2^31.
 * Ownership: the arena's; names, sites and queues are borrowed.
 * Order: siblings by (rank, place in the file): one order for fractions, grants and
 * everything else that needs one.
 * Source: Symphony, "Hybrid policy"; docs/design/plans.md "Model".
 * Layer: broker. */
#ifndef SUBLET_BROKER_PLAN_PLAN_H
#define SUBLET_BROKER_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/conf/conf.h"
#include "broker/plan/plan_window.h"
#include "model/quota.h"

enum {
    PLAN_UNLIMITED = INT32_MAX,     /* no limit; a demand for whatever there is */
    PLAN_SLOTS_MAX = INT32_MAX - 1, /* slots of a pool */
    PLAN_PATH_SIZE = 128,           /* a node's path, with the NUL */
    PLAN_NO_NODE = -1,
    PLAN_INHERITED = -1,
};

enum plan_policy {
    PLAN_HYBRID,
    PLAN_OWNERSHIP,
    PLAN_SHARE, /* `own` is a ratio: it owns nothing, and has a part of what is left */
    PLAN_INHERITS, /* only into plan_build: the parent's; on the first level hybrid */
};

enum plan_placement {
    PLAN_STACKED,   /* a host is filled before the next */
    PLAN_BALANCED,  /* the host with most free slots first */
    PLAN_EXCLUSIVE, /* a host belongs to one node at a time */
};

/* Which nodes get the slots that rounding leaves. */
enum plan_round {
    PLAN_ROUND_RANK,
    PLAN_ROUND_LARGEST_REMAINDER,
    PLAN_ROUND_STICKY, /* those that have one already */
};

struct plan_node {
    const char *name; /* "/eng/sim" */
    int64_t own, reserve, limit, rank, grace_ms;
    int64_t hours; /* HOURS: borrowed slot hours a month of all below; 0: no bound */
    int64_t price; /* PRICE of a slot hour, in credits; PLAN_INHERITED: the parent's */
    enum plan_policy policy;
    const char *site; /* of a leaf; NULL: none yet */
    const char *const *queues;
    int n_queues; /* 0: all of the site's */

    int pos;    /* place among the nodes given to plan_build */
    int parent; /* index; PLAN_NO_NODE on the first level */
    int first_child, n_children;
};

struct plan_settings {
    enum plan_placement placement;
    enum plan_round round;
    bool is_even;        /* EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS */
    bool keeps_scaled;   /* EGO_DISABLE_RECLAIM_HYBRID_OWN */
    bool rebalances;     /* a changed limit is enforced at once */
    bool may_overcommit; /* the first level may own more than there is */
    int64_t slots;       /* configured; 0: what the first level owns */
    int64_t cycle_ms;    /* time between two cycles */
    int64_t max_recall;  /* slots recalled anew in a cycle; PLAN_UNLIMITED: all */
    bool keeps_idle;     /* SHARING=N: ownership nodes lend nothing to their siblings */
    int64_t lost_ms; /* slots of a lost provider count so long: PROVIDER_LOST_AFTER */
    int64_t min_hold_ms;  /* slots that moved stay at least so long */
    int64_t max_grace_ms; /* the longest grace that counts; -1: any */
    int64_t default_rank; /* EGO_CONSUMER_PRIORITY_DEFAULT */
    int64_t hour_ms;      /* as in struct quota */
};

struct plan {
    struct plan_settings settings;
    int64_t configured; /* slots that ownership is a part of */
    int64_t unit;       /* slots that go together: a host's, where hosts are exclusive
                           (plan_in_hosts), else 1 */
    struct plan_node *nodes;
    int n_nodes;
    int n_top;    /* the first level: nodes[0 .. n_top) */
    int *by_pos;  /* indices of the nodes, in the order given */
    int *by_name; /* and in the order of their paths */
};

/* Makes the tree of nodes, which are given in file order and have paths that
 * plan_check_names has accepted. A node without a parent is on the first level. */
void plan_build(struct plan *plan, const struct plan_settings *settings,
                const struct plan_node *nodes, int n_nodes, struct arena *arena);

/* The same plan counted in hosts of `host_slots` each (2 or more). Limits and reserves
 * are rounded down to whole hosts. Ownership is a weight and does not change. */
void plan_in_hosts(const struct plan *plan, int64_t host_slots, struct plan *in_hosts,
                   struct arena *arena);

/* Index of the node with that path, or PLAN_NO_NODE. */
int plan_find(const struct plan *plan, const char *name);

static inline bool plan_is_leaf(const struct plan_node *node)
{
    return node->n_children == 0;
}

static inline int64_t plan_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t plan_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The shorter of its grace and MAX_BORROWER_GRACE. */
int64_t plan_grace_ms(const struct plan *plan, int node);
/* Its price, or that of the nearest node above it that has one; 0: none has. */
int plan_price(const struct plan *plan, int node);

/* ---------------------------------------------------------------- plan_config.c */

/* The Pool, PlanNode and TimeWindow sections, judged and turned into
 * plans: one for each time window of each pool.
 *
 * A row without WINDOW is for every window, except those for which the node has another
 * row. EGO_... keys outside sections are the defaults of the same keys of a pool.
 *
 * Errors become diagnostics of `conf`; each violated rule of plan_check.h has file,
 * line and key. Ownership: all in conf's arena. */

struct plan_pool {
    const char *name;
    struct plan_window *windows;
    int n_windows;      /* 0: the plan is the same all day */
    struct plan *plans; /* of each window, or one */
};

struct plan_pools {
    struct plan_pool *pools; /* in file order */
    int n_pools;
};

/* True if there is any of these sections. Without errors the plans may be used. */
bool plan_config_read(struct conf *conf, struct plan_pools *pools);

/* NULL: there is none. */
const struct plan_pool *plan_config_find(const struct plan_pools *pools,
                                         const char *name);

/* ---------------------------------------------------------------- plan_quota.c */

/* What each node of a plan is entitled to right now: its quota.
 *
 * From the plan, the slots that exist and what the leaves want. Three passes: scaled
 * ownership downwards (plan_scale.c), claims upwards, shares downwards, level by level
 * (plan_level.c).
 *
 * Units: slots; in a plan counted in hosts (plan_in_hosts), hosts.
 * Ownership: results live in the arena given; arrays are in the order of plan->nodes.
 * Order: plan.h; equal entitlement goes to the earlier sibling.
 * Source: Symphony, "Hybrid policy"; docs/design/plans.md "Scaled ownership", "Claims",
 * "Quotas", "Fill". */

/* What a leaf wants and has. Those of parents are sums (plan_quota_sum). */
struct plan_use {
    int64_t demand;   /* running and waiting; PLAN_UNLIMITED: no bound */
    int64_t alloc;    /* slots it has, with recalled ones that are not back yet */
    int64_t recalled; /* of these: recalled in an earlier cycle */
    int64_t waiting;  /* of the recalled ones: without a deadline (pool_move) */
    int64_t young;    /* of these: moved to it less than MIN_HOLD ago */
    int64_t forced;   /* of these: to be given back in any case, because its policy has
                         changed (pool_switch.h); until then it gets no others */
    int64_t borrowed; /* of its slots: on hosts of other sites */
    const char *spent_by; /* the node whose HOURS are used up, itself or one above it:
                             it gets no more borrowed slots, and wants none; or NULL */
    bool is_fitted; /* its other jobs need more slots than its quota has room for */
    bool is_capped; /* its jobs beyond what it uses could not start (pool_unused.h) */
    bool is_switching; /* it has had forced slots since the last cycle, and gets no
                          others in this one */
};

/* Which rule set a quota. */
enum plan_rule {
    PLAN_RULE_NONE,      /* wants nothing */
    PLAN_RULE_DEMAND,    /* all that it wants */
    PLAN_RULE_LIMIT,     /* its limit, though it wants more */
    PLAN_RULE_RESERVE,   /* its reserve, though it wants less */
    PLAN_RULE_FLOOR,     /* its scaled ownership: the level of the others is lower */
    PLAN_RULE_LEVEL,     /* its part by ownership of what its siblings leave */
    PLAN_RULE_EVEN,      /* an equal part */
    PLAN_RULE_LAST,      /* owns nothing, and its siblings take all */
    PLAN_RULE_OWNERSHIP, /* ownership policy: what it owns */
    PLAN_RULE_BORROWED,  /* ownership policy: and idle slots of its siblings */
};

struct plan_quota {
    int64_t scaled; /* floor of the scaled ownership */
    int64_t res;    /* the part of it that is never lent */
    int64_t claim;  /* what the quota is at most */
    int64_t quota;
    enum plan_rule rule;
    bool is_odd;         /* with a slot that rounding left */
    int64_t rest, whole; /* before rounding it was quota - is_odd + rest / whole */
};

/* What leaves have, with the sums of their parents. Of `uses` only the leaves' count.
 */
struct plan_use *plan_quota_sum(const struct plan *plan, const struct plan_use *uses,
                                struct arena *arena);

/* `uses` as plan_quota_sum made them; slots 0 .. PLAN_SLOTS_MAX. */
struct plan_quota *plan_quota_all(const struct plan *plan, int64_t slots,
                                  const struct plan_use *uses, struct arena *arena);

/* ---------------------------------------------------------------- plan_hours.c */

/* HOURS: which nodes have used up the slot hours of a month.
 *
 * What a node has used is what all leaves below it have. A leaf is bounded by each node
 * from itself to the first level. Levels are those of model/quota.h.
 *
 * Units: slot-milliseconds. Source: docs/plans.md "Hours and prices";
 * docs/adr/0034. */

struct plan_hours {
    int64_t used_ms;        /* of a month */
    enum quota_level level; /* QUOTA_FREE without HOURS */
    const char *spent_by;   /* as in plan_use; the nearest such node */
};

/* `used_ms` is what each node has used itself: a leaf, or a node that was one. */
struct plan_hours *plan_hours_all(const struct plan *plan, const int64_t *used_ms,
                                  struct arena *arena);
/* What is expected of a node itself since its hours were told. */
struct plan_hours_use {
    int64_t more_ms; /* used since then */
    int64_t n_used;  /* slots, from now on */
};
/* When the level of a node changes by what is expected: now_ms if it has; INT64_MAX: no
 * node has HOURS. The end of the month is a change. */
int64_t plan_hours_next_ms(const struct plan *plan, const struct plan_hours *hours,
                           const struct plan_hours_use *uses, int64_t now_ms,
                           struct arena *arena);
/* Some node has HOURS. */
bool plan_hours_has_any(const struct plan *plan);

/* ---------------------------------------------------------------- plan_scale.c */

/* Hybrid nodes own a part of the configured slots, and scale with the pool. Nodes of
 * ownership policy own a fixed number; the hybrid ones scale with the rest of the pool.
 * If there are not enough slots, ownership subtrees get theirs in order of rank. */

/* How a pool is divided between the two policies. */
struct plan_scale_parts {
    int64_t owned_apart;       /* slots that ownership subtrees get */
    int64_t slots, configured; /* of the hybrid part */
};
struct plan_scale_parts plan_scale_parts(const struct plan *plan, int64_t slots);

/* Fills `scaled` of every node. */
void plan_scale(const struct plan *plan, int64_t slots, struct plan_quota *shares,
                struct arena *arena);

#endif
