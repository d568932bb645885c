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

#include "base/conf.h"
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

#endif
