/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare.h: user fairshare as configured: which queues order their users' jobs by
 * shares, and whose the shares are.
 *
 * A scope is what users have one priority in: a queue with FAIRSHARE, it and the queues
 * of its FAIRSHARE_QUEUES, or a host partition and the queues that use its hosts.
 *
 *     FAIRSHARE = USER_SHARES[[ana, 10] [lab, 6] [chem@, 2] [default, 4]]
 *
 * A name is a user, a group whose members share together, a group with @ behind it for
 * each of its members, `default` for each user that is not listed, or `others` for all
 * of those together. Members of a group stand in line as they come, unless its row of
 * section UserGroup has USER_SHARES.
 *
 * Ownership: in conf's arena. Errors: diagnostics. Source: seed 004; lsf.md 2.1, 4.1.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_FAIRSHARE_FAIRSHARE_H
#define SUBLET_SCHED_FAIRSHARE_FAIRSHARE_H

#include "base/conf.h"
#include "sched/fairshare/fairshare_usage.h"
#include "sched/queue/groups.h"
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
    const char *name; /* of the user or group; "default", "others" */
    int shares;
    struct name_set members; /* of a group; of default and others: all */
    const struct share_assignment *children; /* of a group with USER_SHARES */
    int n_children;
};

struct fairshare_scope {
    const char *name; /* of the queue with FAIRSHARE, or of the partition */
    bool is_partition;
    /* Queues come before users: with DISPATCH_ORDER=QUEUE, and in partitions. */
    bool is_by_queue;
    struct fairshare_factors factors;
    const struct share_assignment *lines; /* as listed */
    int n_lines;
};

struct fairshare {
    const struct fairshare_scope *scopes;
    int n_scopes;
    const int *scope_of; /* by queue; -1: none */
};

/* Sections Queue, UserGroup, HostPartition; factors also of section Parameters. The
 * queues are as queue_read gave them. `hosts` are the site's own. */
void fairshare_load(struct conf *conf, const struct groups *groups,
                    const struct queue_config *queues, int n_queues,
                    struct fairshare *config);

/* Where the user stands among those lines, as a path of at most SHARE_DEPTH_MAX indexes
 * from the top down; 0 indexes: nowhere. A user's own line comes before a group's, a
 * group's before `default`, that before `others`; of several groups the first. */
enum { SHARE_DEPTH_MAX = 16 };
int fairshare_path(const struct share_assignment *lines, int n_lines, const char *user,
                   int *path);
/* The same as a member of the group (`sub -G`): by the first line of the group that
 * leads to the user, however deep. `group` "": wherever he stands. */
int fairshare_path_in_group(const struct share_assignment *lines, int n_lines,
                            const char *user, const char *group, int *path);
/* True where jobs of the user have a share, as a member of the group. */
bool fairshare_has_share(const struct fairshare_scope *scope, const char *user,
                         const char *group);

#endif
