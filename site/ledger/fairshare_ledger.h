/* SPDX-License-Identifier: Apache-2.0 */
/* fairshare_ledger.h: what the users and queues of a site use and have used, where they
 * have shares: an account for each user of a fairshare queue, and slot time for each
 * queue of a slot pool (slot_pool_ledger.h).
 *
 * Jobs of this site count, wherever they run; those that a lease brings do not: they
 * count at home.
 *
 * What fades is on record (ROW_SHARE): of an account when a job of it has ended, of a
 * pool when its queues' slots change; what runs is known from the jobs. So nothing
 * jumps with a restart. Rows are stored by fairshare_ledger_tick, in the transaction of
 * the jobs' own.
 *
 * Ownership: the configuration is borrowed. Units: milliseconds, slots. Layer: site. */
#ifndef SUBLET_SITE_LEDGER_FAIRSHARE_LEDGER_H
#define SUBLET_SITE_LEDGER_FAIRSHARE_LEDGER_H

#include "base/err.h"
#include "model/effect.h"
#include "sched/place/place.h"
#include "site/job/job.h"

struct site_config;
struct fairshare_ledger;
struct fairshare_ledger *fairshare_ledger_new(const struct site_config *config);
void fairshare_ledger_free(struct fairshare_ledger *ledger);
/* Another configuration: what was used goes with the names of queues, pools and users;
 * the jobs do so by themselves. Then fairshare_ledger_settle. */
void fairshare_ledger_inherit(struct fairshare_ledger *ledger,
                              const struct fairshare_ledger *before, int64_t now_ms);
/* Queues had the slots all the time that their jobs have now. */
void fairshare_ledger_settle(struct fairshare_ledger *ledger);

/* The journal's rows; fairshare_ledger_start once the jobs are counted. */
void fairshare_ledger_load(struct fairshare_ledger *ledger,
                           const struct row_share *row);
void fairshare_ledger_start(struct fairshare_ledger *ledger, int64_t now_ms,
                            struct effects *effects);
/* Stores what has changed. */
void fairshare_ledger_tick(struct fairshare_ledger *ledger, int64_t now_ms,
                           struct effects *effects);

/* Where a job of the user, of that group (-G; "": none), in that queue (by index; -1:
 * none) counts. */
struct job_fairshare fairshare_ledger_seat(struct fairshare_ledger *ledger, int queue,
                                           const char *user, const char *group);
/* Adds a job that has its slots; removes it with what was added. */
void fairshare_ledger_add_job(struct fairshare_ledger *ledger, struct job *job,
                              int64_t now_ms);
void fairshare_ledger_remove_job(struct fairshare_ledger *ledger, struct job *job,
                                 int64_t now_ms);
/* A job with slots has started, was suspended or resumed. */
void fairshare_ledger_update_job(struct fairshare_ledger *ledger, struct job *job,
                                 int64_t now_ms);
/* The processor time of its run until now. */
void fairshare_ledger_set_cpu_used(struct fairshare_ledger *ledger, struct job *job,
                                   int64_t cpu_ms, int64_t now_ms);
/* Its execution has ended; before the job is removed. */
void fairshare_ledger_finish_run(struct fairshare_ledger *ledger, const struct job *job,
                                 const struct run_exit *exit, int64_t now_ms);

/* A job of the user, of that group, comes to the queue: ERR_DENIED, with LSF's
 * sentence, where he has no share there. */
int fairshare_ledger_check(const struct fairshare_ledger *ledger, int queue,
                           const char *user, const char *group,
                           struct err *err) MUST_CHECK;
/* Before a pass: ranks new accounts (fairshare.h). */
void fairshare_ledger_rank(struct fairshare_ledger *ledger);
/* What a pass needs; arrays are in the arena. */
void fairshare_ledger_snapshot(const struct fairshare_ledger *ledger,
                               struct arena *arena, int64_t now_ms,
                               struct place_snapshot *snapshot);
/* By queue: whether its jobs pend for slots. */
void fairshare_ledger_set_waiting(struct fairshare_ledger *ledger, const bool *waits);

/* To look things up: the tree of the queue's scope; NULL: it has none. */
const struct fairshare_tree *
fairshare_ledger_tree(const struct fairshare_ledger *ledger, int queue);
const struct fairshare_tree *
fairshare_ledger_scope_tree(const struct fairshare_ledger *ledger, int scope);
/* Of a queue of a slot pool; false: it is in none. */
bool fairshare_ledger_find_queue(const struct fairshare_ledger *ledger, int queue,
                                 int64_t now_ms, struct slot_member *member);

#endif
