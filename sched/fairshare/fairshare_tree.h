/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_tree.h: the share tree of one fairshare scope: accounts of users and
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
 * Source: docs/design/scheduling.md "Fairshare". Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_TREE_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_TREE_H

#include "sched/fairshare/fairshare.h"
#include "sched/fairshare/fairshare_usage.h"

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

#endif
