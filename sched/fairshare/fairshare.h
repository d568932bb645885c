/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare.h: fairshare as configured: which queues and hosts are shared by users, and
 * how many shares each user has.
 *
 * A scope is what each user has one priority in: a queue with FAIRSHARE, such a queue
 * and the queues of its FAIRSHARE_QUEUES, or a host partition and the queues that use
 * its hosts.
 *
 *     FAIRSHARE = USER_SHARES[[ana, 10] [lab, 6] [chem@, 2] [default, 4]]
 *
 * A share assignment names a user, a group whose members share together, a group with @
 * for each of its members, `default` for each user that is not listed, or `others` for
 * all of these together. Jobs of a group's members are served in order of submission,
 * unless the row of the group in section UserGroup has USER_SHARES.
 *
 * Ownership: in conf's arena. Errors: diagnostics. Source: LSF, "Queue-based
 * fairshare"; docs/design/scheduling.md "Slot pools", "Fairshare". Layer: sched (base
 * only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/conf/conf.h"
#include "sched/fairshare/fairshare_usage.h"
#include "sched/queue/queue.h"

enum share_assignment_kind {
    SHARE_USER,
    SHARE_GROUP,   /* its members together */
    SHARE_EACH,    /* each of its members: "group@" */
    SHARE_DEFAULT, /* each user that is not listed */
    SHARE_OTHERS,  /* all users that are not listed, together */
};

struct share_assignment {
    enum share_assignment_kind kind;
    const char *name; /* name of the user or group; "default", "others" */
    int shares;
    struct name_set members; /* members of a group; of default and others: all */
    const struct share_assignment *children; /* of a group with USER_SHARES */
    int n_children;
};

struct fairshare_scope {
    const char *name; /* name of the queue with FAIRSHARE, or of the partition */
    bool is_partition;
    /* Queues are ordered before users: with DISPATCH_ORDER=QUEUE, and in partitions. */
    bool is_by_queue;
    struct fairshare_factors factors;
    const struct share_assignment *assignments; /* as listed */
    int n_assignments;
};

struct fairshare {
    const struct fairshare_scope *scopes;
    int n_scopes;
    const int *scope_of; /* by queue: index of its scope; -1: none */
};

/* Reads sections Queue, UserGroup, HostPartition; factors also from section Parameters.
 * The queues must be as queue_read returned them. `hosts` are the own hosts of the
 * site. */
void fairshare_load(struct conf *conf, const struct groups *groups,
                    const struct queue_config *queues, int n_queues,
                    struct fairshare *config);

/* The path of the user: at most SHARE_DEPTH_MAX indexes into the assignments, from the
 * top down. Returns its length; 0: the user has no share. An assignment of the user
 * comes before one of a group, that before `default`, that before `others`; of several
 * groups the first one counts. */
enum { SHARE_DEPTH_MAX = 16 };
int fairshare_path(const struct share_assignment *assignments, int n_assignments,
                   const char *user, int *path);
/* The same for a member of the group (`sub -G`): by the first assignment of the group
 * that leads to the user, at any depth. `group` "": any path. */
int fairshare_path_in_group(const struct share_assignment *assignments,
                            int n_assignments, const char *user, const char *group,
                            int *path);
/* True if jobs of the user have a share, as a member of the group. */
bool fairshare_has_share(const struct fairshare_scope *scope, const char *user,
                         const char *group);

/* ---------------------------------------------------------------- fairshare_tree.c */

/* The share tree of one fairshare scope: accounts of users and
 * groups, what each has used, and its dynamic priority.
 *
 *     root
 *     ├─ ana      10                a user with an assignment
 *     ├─ lab       6                a group, whose members share by its USER_SHARES
 *     │  ├─ bo     2
 *     │  └─ cy     1
 *     ├─ chem      2                a group without: dan and eve in order of submission
 *     │  ├─ dan
 *     │  └─ eve
 *     └─ flo       4                of `default`, created with the first job
 *
 * An account is an index that never changes; 0 is the root. Each user has one account,
 * and one more for each other place in the tree where `sub -G` has put jobs of that
 * user. What its jobs use counts for the account and for all above it. An account
 * without a share (its assignment was removed from the configuration) is below the root
 * with 0 shares, after all others.
 *
 * Ownership: the scope is borrowed. Order: among siblings higher priority first, then
 * the order of the assignments, then by name. Units: as fairshare_usage.h.
 * Source: docs/design/scheduling.md "Fairshare". */

struct fairshare_account {
    const char *name;
    const char *path;    /* of a user: "ana"; by -G: "lab/ana" */
    int parent;          /* -1: this is the root */
    int position;        /* of its assignment among those of its parent */
    int shares;          /* 0: a member of a group without USER_SHARES, or no share */
    int sharing_account; /* the account whose shares its jobs use: itself, or its group
                          */
    int rank; /* among all accounts: of siblings with equal priorities the lower rank is
                  first; from 1; 0: not ranked yet */
    bool is_user;
    struct fairshare_usage usage;
};

struct fairshare_tree;
struct fairshare_tree *fairshare_tree_new(const struct fairshare_scope *scope);
void fairshare_tree_free(struct fairshare_tree *tree);
const struct fairshare_scope *fairshare_tree_scope(const struct fairshare_tree *tree);

/* The account of the user, created if there is none. `group` is that of -G, "": none; a
 * group without a path to the user is ignored. */
int fairshare_tree_join(struct fairshare_tree *tree, const char *user,
                        const char *group);
/* The same by the path of an account. */
int fairshare_tree_join_path(struct fairshare_tree *tree, const char *path);
int fairshare_tree_count(const struct fairshare_tree *tree);
const struct fairshare_account *fairshare_tree_at(const struct fairshare_tree *tree,
                                                  int account);

/* Ranks all accounts again after many were added, so that a pass with thousands of
 * equal priorities need not compare names. Accounts without a rank are compared by
 * name. */
void fairshare_tree_rank(struct fairshare_tree *tree);

/* A job of the account has got its slots (`sign` 1), or is removed (-1) as it was
 * added. */
void fairshare_tree_count_job(struct fairshare_tree *tree, int account,
                              const struct fairshare_job *job, int sign,
                              int64_t now_ms);
/* A job has ended. `past_ms` is its run time, or the part of it that still counts. */
void fairshare_tree_add_finished(struct fairshare_tree *tree, int account,
                                 double cpu_ms, double past_ms, int64_t now_ms);

/* The priority with that number of additional slots. */
double fairshare_tree_priority(const struct fairshare_tree *tree, int account,
                               int64_t n_more_slots, int64_t now_ms);
/* True if jobs of the account, which has no slots, have been pending too long since
 * then. */
bool fairshare_tree_is_late(const struct fairshare_tree *tree, int account,
                            int64_t since_ms, int64_t now_ms);
/* Negative if a comes before b: siblings with these priorities. */
int fairshare_tree_compare(const struct fairshare_tree *tree, int a, double a_priority,
                           int b, double b_priority);

/* ---------------------------------------------------------------- slot_pool.c */

/* Queues that share slots by percentage (SLOT_POOL): how many slots each
 * of them gets, in which order, and what each has used.
 *
 * A pool is entitled to all slots of its hosts, up to MAX_SLOTS_IN_POOL. They are
 * distributed in rounds: each queue, in order, gets its percentage of the slots that
 * there were when the round began, rounded up, as long as slots are left and it can use
 * them. The next round distributes what the last one left. So the last queues get what
 * remains, and what one queue cannot use goes to the others.
 *
 * The first queue is the one that has used least for its share. Two things count as
 * used. One is slot time, of which an hour counts as a tenth after HIST_HOURS. The
 * other is the balance of the queue: the slot time above or below its part, by
 * SLOT_SHARE, of what all queues had that were pending together with it. The balance
 * does not decay while the queue has pending jobs. So over time each queue that always
 * has pending jobs gets its share of the total, however long its jobs are; a queue
 * without pending jobs neither gains nor loses. A queue that has used more for its
 * share than the pool as a whole is rounded down as long as the others can use what is
 * left, so that it does not get more than it deserves. At first, with nothing used, the
 * order is by priority, and all are rounded up.
 *
 * The balance is bounded by SLOT_POOL_MEMORY times HIST_HOURS of the slots that its
 * first round or its share gives the queue, whichever is more, and at least one slot.
 * So a job of days in a pool with short jobs does not exclude its queue for weeks, and
 * a queue that waits for an empty host does not accumulate credit for ever.
 *
 * MAX_SLOTS_IN_POOL and USE_PRIORITY_IN_POOL are those of the pool's first queue by
 * priority.
 *
 * Units: slots; percent; hours of one slot. Ownership: the caller's arrays;
 * slot_pool_config_read allocates in conf's arena. Errors: diagnostics.
 * Order: least used for its share first, then the order given, which is by priority.
 * Source: LSF, "Queue-based fairshare"; docs/design/scheduling.md "Slot pools",
 * "Decided". */

struct slot_pool {
    const char *name;
    const int *queues; /* indexes, by priority, then as in the file */
    int n_queues;
    int max_slots;        /* MAX_SLOTS_IN_POOL; INT_MAX: none */
    const char *max_name; /* its name in reasons */
    bool is_by_priority; /* USE_PRIORITY_IN_POOL: the second round is by job priority */
    double hist_hours;   /* 0: usage never decays */
};

/* The pools of a site. Queues are indexes into the site's list. */
struct slot_pools {
    const struct slot_pool *pools;
    int n_pools;
    const int *pool_of; /* by queue: index of its pool; -1: none */
    const int *shares;  /* by queue: SLOT_SHARE; 0: it has none */
};

/* One queue in a distribution of slots. */
struct slot_part {
    int share;    /* percent */
    bool is_over; /* it has used more for its share than the pool */
    int64_t want; /* slots that it can use, including those that it has */
    int given;    /* result */
};

/* Distributes `n_slots` to parts in order. `rounds` 1: one round only; 0: until no
 * slots are left or no queue can use them. Returns how many are left. */
int slot_pool_allocate(struct slot_part *parts, int n_parts, int n_slots, int rounds);

/* Sorts positions 0..n-1. `use[i]` is slot_pool_weight of the queue at i, in order of
 * priority; `share[i]` is its percentage. */
void slot_pool_sort(const double *use, const int *share, int n, int *order);
/* Marks by position the queues that have used more for their share than all together.
 */
void slot_pool_mark_over(const double *use, const int *share, int n, bool *is_over);

/* Decays used hours by `elapsed_ms`, during which the queue had that number of slots.
 */
double slot_pool_use(double use_hours, int n_slots, int64_t elapsed_ms,
                     double hist_hours);

enum { SLOT_POOL_MEMORY = 10 };

/* The state of a queue in a pool at a time. */
struct slot_member {
    int share;       /* percent */
    int n_slots;     /* of its jobs, from then on */
    bool is_waiting; /* from then on: it has jobs that only lack slots */
    double use_hours;
    double balance_hours; /* slot time above its part; negative: below */
};

/* Advances all queues of a pool by `elapsed_ms`. Splitting an interval gives the same
 * result, unless a bound is reached in between. */
void slot_pool_advance(struct slot_member *members, int n, int64_t elapsed_ms,
                       double hist_hours);
/* The value by which queues are sorted. */
double slot_pool_weight(const struct slot_member *member);

struct conf;
struct groups;
struct queue_config;
struct fairshare;
/* Reads the pools. The queues must be as queue_read returned them. */
void slot_pool_config_read(struct conf *conf, const struct groups *groups,
                           const struct queue_config *queues, int n_queues,
                           const struct fairshare *shares, struct slot_pools *pools);

#endif
