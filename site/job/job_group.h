/* SPDX-License-Identifier: Apache-2.0 */
/* job_group.h: job groups: a hierarchy of names ("/risk/portfolio1") in which users put
 * their jobs (sub -g), and limits on how many of a group's jobs are started.
 *
 * A group comes into being when it is added (bgadd) or when a job is submitted to it,
 * with all groups above it, and stays until it is deleted (bgdel). Its jobs are those
 * that were submitted to it and those of the groups below it. Its limit is a number of
 * started jobs (RUN, SSUSP, USUSP), whatever their slots. A limit may not exceed one of
 * a group above, nor be less than one of a group below; a group without a limit has
 * those above it.
 *
 * The owner of a group is the user that added it, or submitted the first job to it. The
 * owner, the owner of a group above it, and administrators change and delete it.
 *
 * Ownership: groups belong to their table; a pointer is valid until the group is
 * deleted, which no group with unfinished jobs is. A deleted group whose ended jobs are
 * still known is kept for them, and not shown, until they are cleaned. Order: by path,
 * byte by byte, so that a group comes before those below it. Errors: sentences for
 * users; nothing has changed then. Source: LSF's bgadd, bgmod, bgdel, bjgroup. Layer:
 * site. */
#ifndef SUBLET_SITE_JOB_JOB_GROUP_H
#define SUBLET_SITE_JOB_JOB_GROUP_H

#include "base/err.h"
#include "model/effect.h"
#include "model/row.h"
#include "sched/limit/limit.h"

enum { JOB_GROUPS_MAX = 10000 }; /* of a site: a listing shows all */

struct job_group {
    struct limit_group chain; /* its path, its limit, and those above it */
    struct limit limit;       /* jobs: -1: none */
    struct job_group *parent; /* NULL: at the top */
    char *path, *owner;
    bool is_gone;               /* deleted, or not yet loaded */
    int n_by_state[JOB_STATES]; /* its jobs until they are cleaned */
};

struct job_groups;
struct job_groups *job_groups_new(void);
void job_groups_free(struct job_groups *groups);
void job_group_load(struct job_groups *groups, const struct row_job_group *row);

int job_group_count(const struct job_groups *groups);
const struct job_group *job_group_at(const struct job_groups *groups, int index);
/* NULL: there is none, or it is deleted. */
struct job_group *job_group_find(struct job_groups *groups, const char *path);

/* True if `path` is the group, or one below it. With a "/" at its end the group stands
 * for itself alone. */
bool job_group_contains(const char *group, const char *path);

/* Checks a path, and that the group exists or that there is room for it and for the
 * groups above it. */
int job_group_check(const struct job_groups *groups, const char *path,
                    struct err *err) MUST_CHECK;
/* The group with that path, which has been checked. It is made, and stored, if it does
 * not exist, and so are those above it. NULL: the path is "". `effects` NULL: for a job
 * that is known already; a group that does not exist is made as a deleted one. */
struct job_group *job_group_obtain(struct job_groups *groups, const char *path,
                                   const char *owner, struct effects *effects);
/* A job in that state joins the group (`sign` 1), or leaves it (-1). */
void job_group_count_job(struct job_group *group, enum job_state state, int sign);

/* Orders of users. `limit` -1: none. ERR_NOT_FOUND, ERR_STATE, ERR_BOUNDS. */
int job_group_check_limit(const struct job_groups *groups, const char *path, int limit,
                          struct err *err) MUST_CHECK;
void job_group_set(struct job_group *group, int limit, const char *owner,
                   struct effects *effects);
/* The group and all below it: none has unfinished jobs. */
int job_group_check_delete(const struct job_groups *groups, const char *path,
                           struct err *err) MUST_CHECK;
/* Returns how many groups are deleted. */
int job_group_delete(struct job_groups *groups, const char *path,
                     struct effects *effects);

#endif
