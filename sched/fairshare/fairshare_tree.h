/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_tree.h: the accounts of one fairshare scope: users and groups as
 * configured, what each uses, and its dynamic priority.
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
 * as they are listed, then by name. Units: as fairshare_usage.h. Source: lsf.md 4.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_TREE_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_TREE_H

#include "sched/fairshare/fairshare.h"
#include "sched/fairshare/fairshare_usage.h"

struct fairshare_account {
    const char *name;
    const char *seat; /* a user's: "ana"; by -G: "lab/ana" */
    int parent;       /* -1: the root */
    int place;        /* of its line among those of its parent */
    int shares;       /* 0: a member that stands in its group's line, or has none */
    int stand; /* the account whose line its jobs stand in: itself, or its group */
    int rank;  /* among all accounts: of siblings with equal priorities the lower one is
                  first; from 1; 0: not ranked yet */
    bool is_user;
    struct fairshare_usage use;
};

struct fairshare_tree;
struct fairshare_tree *fairshare_tree_new(const struct fairshare_scope *scope);
void fairshare_tree_free(struct fairshare_tree *tree);
const struct fairshare_scope *fairshare_tree_scope(const struct fairshare_tree *tree);

/* The user's account; it is made where there is none. `group`: of -G, "": none; where
 * that leads nowhere the user's own. */
int fairshare_tree_join(struct fairshare_tree *tree, const char *user,
                        const char *group);
/* The same by what a seat was called. */
int fairshare_tree_join_path(struct fairshare_tree *tree, const char *seat);
int fairshare_tree_find(const struct fairshare_tree *tree,
                        const char *user); /* -1: none */
int fairshare_tree_count(const struct fairshare_tree *tree);
const struct fairshare_account *fairshare_tree_at(const struct fairshare_tree *tree,
                                                  int account);

/* Ranks all accounts anew once many have come: a pass with thousands of equal
 * priorities need not compare names. Those without a rank are compared by name. */
void fairshare_tree_rank(struct fairshare_tree *tree);

/* A job of the account has its slots (`sign` 1), or leaves (-1) as it came. */
void fairshare_tree_count_job(struct fairshare_tree *tree, int account,
                              const struct fairshare_job *job, int sign,
                              int64_t now_ms);
/* One has ended. `past_ms` is its run time, or what of it counts still. */
void fairshare_tree_add_finished(struct fairshare_tree *tree, int account,
                                 double cpu_ms, double past_ms, int64_t now_ms);

/* With so many slots more than it has. */
double fairshare_tree_priority(const struct fairshare_tree *tree, int account,
                               int64_t n_more_slots, int64_t now_ms);
/* Jobs of the account, which has no slots, wait since then. */
bool fairshare_tree_is_late(const struct fairshare_tree *tree, int account,
                            int64_t since_ms, int64_t now_ms);
/* Below 0 where a comes before b: siblings with these priorities. */
int fairshare_tree_compare(const struct fairshare_tree *tree, int a, double a_priority,
                           int b, double b_priority);

#endif
