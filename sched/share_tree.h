/* SPDX-License-Identifier: Apache-2.0 */
/* share_tree.h: the accounts of one fairshare scope: users and groups as configured,
 * what each uses, and its dynamic priority.
 *
 *     root
 *     ├─ ana      10                a user that is listed
 *     ├─ lab       6                a group, whose members share by its USER_SHARES
 *     │  ├─ bo     2
 *     │  └─ cy     1
 *     ├─ chem      2                a group without: dan and eve stand in one line
 *     │  ├─ dan
 *     │  └─ eve
 *     └─ flo       4                of `default`, there since its first job
 *
 * An account is an index that never changes; 0 is the root. Each user has one, and one
 * more for each place where `sub -G` has put jobs of his that is another. What its jobs
 * use counts for it and for all above it. One without a share (its line is gone from
 * the configuration) stands below the root with 0 shares: after all others.
 *
 * Ownership: the scope is borrowed. Order: among siblings higher priority first, then
 * as they are listed, then by name. Units: as share_use.h. Source: lsf.md 4.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_SHARE_TREE_H
#define SUBLET_SCHED_SHARE_TREE_H

#include "sched/share_config.h"
#include "sched/share_use.h"

struct share_account {
    const char *name;
    const char *seat; /* a user's: "ana"; by -G: "lab/ana" */
    int parent;       /* -1: the root */
    int place;        /* of its line among those of its parent */
    int shares;       /* 0: a member that stands in its group's line, or has none */
    int stand; /* the account whose line its jobs stand in: itself, or its group */
    int rank;  /* among all accounts: of siblings with equal priorities the lower one is
                  first; from 1; 0: not ranked yet */
    bool is_user;
    struct share_use use;
};

struct share_tree;
struct share_tree *share_tree_new(const struct share_scope *scope);
void share_tree_free(struct share_tree *tree);
const struct share_scope *share_tree_scope(const struct share_tree *tree);

/* The user's account; it is made where there is none. `group`: of -G, "": none; where
 * that leads nowhere the user's own. */
int share_tree_join(struct share_tree *tree, const char *user, const char *group);
/* The same by what a seat was called. */
int share_tree_join_seat(struct share_tree *tree, const char *seat);
int share_tree_find(const struct share_tree *tree, const char *user); /* -1: none */
int share_tree_count(const struct share_tree *tree);
const struct share_account *share_tree_at(const struct share_tree *tree, int account);

/* Ranks all accounts anew once many have come: a pass with thousands of equal
 * priorities need not compare names. Those without a rank are compared by name. */
void share_tree_rank(struct share_tree *tree);

/* A job of the account has its slots (`sign` 1), or leaves (-1) as it came. */
void share_tree_count_job(struct share_tree *tree, int account,
                          const struct share_job *job, int sign, int64_t now_ms);
/* One has ended. `past_ms` is its run time, or what of it counts still. */
void share_tree_spend(struct share_tree *tree, int account, double cpu_ms,
                      double past_ms, int64_t now_ms);

/* With so many slots more than it has. */
double share_tree_priority(const struct share_tree *tree, int account,
                           int64_t n_more_slots, int64_t now_ms);
/* Jobs of the account, which has no slots, wait since then. */
bool share_tree_is_late(const struct share_tree *tree, int account, int64_t since_ms,
                        int64_t now_ms);
/* Below 0 where a comes before b: siblings with these priorities. */
int share_tree_compare(const struct share_tree *tree, int a, double a_priority, int b,
                       double b_priority);

#endif
