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

enum {
    PLAN_UNLIMITED = INT32_MAX,     /* no limit; a demand for whatever there is */
    PLAN_SLOTS_MAX = INT32_MAX - 1, /* slots of a pool */
    PLAN_PATH_SIZE = 128,           /* a node's path, with the NUL */
    PLAN_NO_NODE = -1,
};

enum plan_policy {
    PLAN_HYBRID,
    PLAN_OWNERSHIP,
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
    bool is_even;         /* EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS */
    bool keeps_scaled;    /* EGO_DISABLE_RECLAIM_HYBRID_OWN */
    bool rebalances;      /* a changed limit is enforced at once */
    bool may_overcommit;  /* the first level may own more than there is */
    int64_t slots;        /* configured; 0: what the first level owns */
    int64_t cycle_ms;     /* time between two cycles */
    int64_t max_recall;   /* slots recalled anew in a cycle; PLAN_UNLIMITED: all */
    int64_t min_hold_ms;  /* slots that moved stay at least so long */
    int64_t max_grace_ms; /* the longest grace that counts; -1: any */
    int64_t default_rank; /* EGO_CONSUMER_PRIORITY_DEFAULT */
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

#endif
