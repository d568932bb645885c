/* SPDX-License-Identifier: Apache-2.0 */
/* shares.h: what the users and queues of a site use and have used, where they have
 * shares: an account for each user of a fairshare queue, and slot time for each queue
 * of a slot pool (slot_use.h).
 *
 * Jobs of this site count, wherever they run; those that a lease brings do not: they
 * count at home.
 *
 * What fades is on record (ROW_SHARE): of an account when a job of it has ended, of a
 * pool when its queues' slots change; what runs is known from the jobs. So nothing
 * jumps with a restart. Rows are stored by shares_tick, in the transaction of the jobs'
 * own.
 *
 * Ownership: the configuration is borrowed. Units: milliseconds, slots. Layer: site. */
#ifndef SUBLET_SITE_SHARES_H
#define SUBLET_SITE_SHARES_H

#include "base/err.h"
#include "model/effect.h"
#include "sched/place/place.h"
#include "site/job/job.h"

struct site_config;
struct shares;
struct shares *shares_new(const struct site_config *config);
void shares_free(struct shares *shares);
/* Another configuration: what was used goes with the names of queues, pools and users;
 * the jobs do so by themselves. Then shares_settle. */
void shares_inherit(struct shares *shares, const struct shares *before, int64_t now_ms);
/* Queues had the slots all the time that their jobs have now. */
void shares_settle(struct shares *shares);

/* The journal's rows; shares_start once the jobs are counted. */
void shares_load(struct shares *shares, const struct row_share *row);
void shares_start(struct shares *shares, int64_t now_ms, struct effects *effects);
/* Stores what has changed. */
void shares_tick(struct shares *shares, int64_t now_ms, struct effects *effects);

/* Where a job of the user, of that group (-G; "": none), in that queue (by index; -1:
 * none) counts. */
struct job_seat shares_seat(struct shares *shares, int queue, const char *user,
                            const char *group);
/* The job has its slots now, or leaves with what it came with. */
void shares_enter(struct shares *shares, struct job *job, int64_t now_ms);
void shares_leave(struct shares *shares, struct job *job, int64_t now_ms);
/* One that has its slots has begun, stands still or goes on. */
void shares_change(struct shares *shares, struct job *job, int64_t now_ms);
/* Its run has taken so much processor time until now. */
void shares_use(struct shares *shares, struct job *job, int64_t cpu_ms, int64_t now_ms);
/* Its execution has come to this. Before the job leaves. */
void shares_spend(struct shares *shares, const struct job *job,
                  const struct run_exit *exit, int64_t now_ms);

/* A job of the user, of that group, comes to the queue: ERR_DENIED, with LSF's
 * sentence, where he has no share there. */
int shares_check(const struct shares *shares, int queue, const char *user,
                 const char *group, struct err *err) MUST_CHECK;
/* What a pass needs; arrays are in the arena. */
void shares_show(const struct shares *shares, struct arena *arena, int64_t now_ms,
                 struct place_snapshot *snapshot);
/* What the pass has found, by queue: whether jobs of it wait for slots. */
void shares_wait(struct shares *shares, const bool *waits);

/* To look things up: the tree of the queue's scope; NULL: it has none. */
const struct fairshare_tree *shares_tree(const struct shares *shares, int queue);
const struct fairshare_tree *shares_scope_tree(const struct shares *shares, int scope);
/* Of a queue of a slot pool; false: it is in none. */
bool shares_find_queue(const struct shares *shares, int queue, int64_t now_ms,
                       struct slot_member *member);

#endif
